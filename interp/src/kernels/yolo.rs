//! The loss of a detector that predicts, at each cell and for each anchor, a box, whether there is one, and its class (J. Redmon and
//! A. Farhadi, 2018), with its derivative.

use pir_dialects::pd;
use smallvec::smallvec;

use super::boxes::{input, single};
use super::special::sigmoid;
use super::{Inputs, Kernel, Outputs, Prepare, Spec};
use crate::tensor::{DType, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[(pd::YoloLoss::NAME, loss), (pd::YoloLossGrad::NAME, gradient)];

/// Boxes without an extent fill up the list of an image.
const LEAST: f64 = 1e-6;

/// The attributes.
#[derive(Clone)]
struct Yolo {
    anchors: Vec<f64>,
    /// The anchors of this layer.
    own: Vec<usize>,
    classes: usize,
    /// Predicted boxes that overlap a given one by more than this do not count as empty.
    most: f64,
    stride: f64,
    scale: f64,
    /// What a class and what another one is to be.
    labels: [f64; 2],
}

impl Yolo {
    fn of(s: &Spec<'_>) -> Result<Self, String> {
        let whole = |name: &str| s.ints(name).unwrap_or_default();
        let anchors: Vec<f64> = whole("anchors").into_iter().map(|n| n as f64).collect();
        let own: Option<Vec<usize>> = whole("anchor_mask")
            .into_iter()
            .map(|at| usize::try_from(at).ok().filter(|at| 2 * at + 1 < anchors.len()))
            .collect();
        let own = own.ok_or("`anchor_mask` is out of range for `anchors`")?;
        let classes = usize::try_from(s.int("class_num", 1)).ok().filter(|&n| n > 0);
        let classes = classes.ok_or("`class_num` must be positive")?;
        let smooth = match s.flag("use_label_smooth", true) {
            true => (1.0 / classes as f64).min(1.0 / 40.0),
            false => 0.0,
        };
        Ok(Yolo {
            anchors,
            own,
            classes,
            most: single(s.float("ignore_thresh", 0.7)),
            stride: s.int("downsample_ratio", 32) as f64,
            scale: single(s.float("scale_x_y", 1.0)),
            labels: [1.0 - smooth, smooth],
        })
    }
}

/// The operands: numbers of the network, and the given boxes.
struct Given {
    yolo: Yolo,
    shape: [usize; 4],
    values: Vec<f64>,
    /// The number of boxes of each image.
    count: usize,
    boxes: Vec<f64>,
    labels: Vec<i64>,
    scores: Option<Vec<f64>>,
}

impl Given {
    fn of(yolo: Yolo, inputs: &Inputs, scores: Option<usize>) -> Result<Self, String> {
        let (x, boxes, labels) = (
            input(inputs, Some(0))?,
            input(inputs, Some(1))?,
            input(inputs, Some(2))?,
        );
        let (&[n, c, h, w], &[images, count, 4]) = (x.shape(), boxes.shape()) else {
            return Err("`x` must have four dimensions, and the boxes four numbers".to_owned());
        };
        let scores = scores
            .map(|at| input(inputs, Some(at)))
            .transpose()?
            .map(Tensor::to_f64);
        let fits = |len: usize| len == n * count;
        if images != n || !fits(labels.len()) || scores.as_ref().is_some_and(|scores| !fits(scores.len())) {
            return Err("`gt_label` and `gt_score` must have an element for each box".to_owned());
        }
        if c != yolo.own.len() * (5 + yolo.classes) {
            return Err("the number of channels does not match `anchor_mask` and `class_num`".to_owned());
        }
        Ok(Given {
            yolo,
            shape: [n, c, h, w],
            values: x.to_f64(),
            count,
            boxes: boxes.to_f64(),
            labels: labels.to_i64(),
            scores,
        })
    }

    /// Where a number is: of an image, an anchor, one of its channels, and a cell.
    fn at(&self, image: usize, anchor: usize, channel: usize, cell: usize) -> usize {
        let [_, c, h, w] = self.shape;
        (image * c + anchor * (5 + self.yolo.classes) + channel) * h * w + cell
    }

    /// A given box, unless it only fills up: centre and extent, relative to the image.
    fn given(&self, image: usize, t: usize) -> Option<[f64; 4]> {
        let begin = 4 * (image * self.count + t);
        let found = [0, 1, 2, 3].map(|k| self.boxes[begin + k]);
        (found[2] > LEAST && found[3] > LEAST).then_some(found)
    }

    /// The extent of an anchor relative to the image. As in PaddlePaddle, the height of the feature map determines the
    /// size of both sides.
    fn anchor(&self, anchor: usize) -> [f64; 2] {
        [0, 1].map(|axis| self.yolo.anchors[2 * anchor + axis] / (self.yolo.stride * self.shape[2] as f64))
    }

    /// What the network predicts.
    fn predicted(&self, image: usize, anchor: usize, cell: usize) -> [f64; 4] {
        let [_, _, h, w] = self.shape;
        let (scale, extent) = (self.yolo.scale, self.anchor(self.yolo.own[anchor]));
        let number = |channel: usize| self.values[self.at(image, anchor, channel, cell)];
        let centre = |axis: usize, place: usize, cells: usize| {
            (place as f64 + sigmoid(number(axis)) * scale - 0.5 * (scale - 1.0)) / cells as f64
        };
        let [width, height] = [0, 1].map(|axis| number(2 + axis).exp() * extent[axis]);
        [centre(0, cell % w, w), centre(1, cell / w, h), width, height]
    }

    /// The anchor of all whose extent is most like that of a box, if it is one of this layer: its place there.
    fn matching(&self, given: &[f64; 4]) -> Option<usize> {
        let mut best = (0, 0.0);
        for anchor in 0..self.yolo.anchors.len() / 2 {
            let [width, height] = self.anchor(anchor);
            let same = overlap(&[0.0, 0.0, width, height], &[0.0, 0.0, given[2], given[3]]);
            if same > best.1 {
                best = (anchor, same);
            }
        }
        self.yolo.own.iter().position(|&anchor| anchor == best.0)
    }

    fn score(&self, image: usize, t: usize) -> f64 {
        self.scores
            .as_ref()
            .map_or(1.0, |scores| scores[image * self.count + t])
    }

    /// Visits the terms of an image: the place of a number, what it is to be, a factor, and whether the term is a difference.
    fn terms(&self, image: usize, matches: &[i64], objects: &[f64], mut visit: impl FnMut(usize, f64, f64, bool)) {
        let [_, _, h, w] = self.shape;
        for (t, &found) in matches.iter().enumerate() {
            let (Some(given), Ok(anchor)) = (self.given(image, t), usize::try_from(found)) else {
                continue;
            };
            let Some(&kind) = self.yolo.own.get(anchor) else {
                continue;
            };
            let Some(cell) = self.cell(&given) else { continue };
            let (score, extent) = (self.score(image, t), self.anchor(kind));
            let factor = (2.0 - given[2] * given[3]) * score;
            let at = |channel: usize| self.at(image, anchor, channel, cell);
            visit(at(0), given[0] * w as f64 - (cell % w) as f64, factor, false);
            visit(at(1), given[1] * h as f64 - (cell / w) as f64, factor, false);
            visit(at(2), (given[2] / extent[0]).ln(), factor, true);
            visit(at(3), (given[3] / extent[1]).ln(), factor, true);
            let label = self.labels[image * self.count + t];
            for class in 0..self.yolo.classes {
                let other = usize::from(class as i64 != label);
                visit(at(5 + class), self.yolo.labels[other], score, false);
            }
        }
        for (at, &object) in objects.iter().enumerate() {
            let (anchor, cell) = (at / (h * w), at % (h * w));
            let place = self.at(image, anchor, 4, cell);
            if object > 1e-5 {
                visit(place, 1.0, object, false);
            } else if object > -0.5 {
                visit(place, 0.0, 1.0, false);
            }
        }
    }

    /// The cell in which the centre of a box is.
    fn cell(&self, given: &[f64; 4]) -> Option<usize> {
        let [_, _, h, w] = self.shape;
        let (column, row) = ((given[0] * w as f64) as usize, (given[1] * h as f64) as usize);
        (given[0] >= 0.0 && given[1] >= 0.0 && column < w && row < h).then_some(row * w + column)
    }
}

/// The part of the area of two boxes, of centres and extents, that is in both.
fn overlap(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let along = |axis: usize| {
        let ends = [a, b].map(|b| (b[axis] - b[2 + axis] / 2.0, b[axis] + b[2 + axis] / 2.0));
        ends[0].1.min(ends[1].1) - ends[0].0.max(ends[1].0)
    };
    let (width, height) = (along(0), along(1));
    let both = if width < 0.0 || height < 0.0 {
        0.0
    } else {
        width * height
    };
    both / (a[2] * a[3] + b[2] * b[3] - both)
}

/// The loss of each image, where boxes are to be predicted (a score), anything (-1) or none (0), and the anchor of each given box.
fn loss(s: &Spec<'_>) -> Result<Kernel, String> {
    let (spec, scores) = (Yolo::of(s)?, s.place(3));
    Ok(Box::new(move |inputs| {
        let dtype = input(&inputs, Some(0))?.dtype();
        let given = Given::of(spec.clone(), &inputs, scores)?;
        let [n, _, h, w] = given.shape;
        let anchors = given.yolo.own.len();
        let each = anchors * h * w;
        let (mut losses, mut objects, mut matches) = (vec![0.0; n], vec![0.0; n * each], vec![-1i64; n * given.count]);
        for image in 0..n {
            let own = &mut objects[image * each..(image + 1) * each];
            let boxes: Vec<[f64; 4]> = (0..given.count).filter_map(|t| given.given(image, t)).collect();
            for (at, object) in own.iter_mut().enumerate() {
                let predicted = given.predicted(image, at / (h * w), at % (h * w));
                let best = boxes.iter().map(|b| overlap(&predicted, b)).fold(0.0, f64::max);
                *object = if best > given.yolo.most { -1.0 } else { 0.0 };
            }
            let found = &mut matches[image * given.count..(image + 1) * given.count];
            for (t, found) in found.iter_mut().enumerate() {
                let Some(one) = given.given(image, t) else { continue };
                let Some(anchor) = given.matching(&one) else { continue };
                let cell = given.cell(&one).ok_or("the center of a box is outside the image")?;
                *found = anchor as i64;
                own[anchor * h * w + cell] = given.score(image, t);
            }
            given.terms(image, found, own, |at, wanted, factor, is_difference| {
                let x = given.values[at];
                losses[image] += factor
                    * match is_difference {
                        true => (x - wanted).abs(),
                        false => x.max(0.0) - x * wanted + (-x.abs()).exp().ln_1p(),
                    };
            });
        }
        Ok(smallvec![
            Tensor::new(&[n], losses)?.cast(dtype)?,
            Tensor::new(&[n, anchors, h, w], objects)?.cast(dtype)?,
            Tensor::new(&[n, given.count], matches)?.cast(DType::I32)?
        ])
    }))
}

/// The derivative by the numbers of the network; those by the given boxes are zero there.
fn gradient(s: &Spec<'_>) -> Result<Kernel, String> {
    let spec = Yolo::of(s)?;
    let [scores, objects, matches, cotangent] = [3, 4, 5, 6].map(|at| s.place(at));
    // The last declared results may be omitted.
    let declared = (0..4usize).filter(|&at| !s.is_absent(at));
    let results: Vec<usize> = declared.take(s.view.body.num_results(s.view.op)).collect();
    Ok(Box::new(move |inputs| {
        let given = Given::of(spec.clone(), &inputs, scores)?;
        let [n, _, h, w] = given.shape;
        let each = given.yolo.own.len() * h * w;
        let (objects, matches) = (input(&inputs, objects)?.to_f64(), input(&inputs, matches)?.to_i64());
        let cotangent = input(&inputs, cotangent)?.to_f64();
        if objects.len() != n * each || matches.len() != n * given.count || cotangent.len() != n {
            return Err("the shapes of `objectness_mask` and `gt_match_mask` do not match".to_owned());
        }
        let mut out = vec![0.0; given.values.len()];
        for image in 0..n {
            let found = &matches[image * given.count..(image + 1) * given.count];
            let own = &objects[image * each..(image + 1) * each];
            given.terms(image, found, own, |at, wanted, factor, is_difference| {
                let x = given.values[at];
                let slope = match is_difference {
                    true if x > wanted => 1.0,
                    true if x < wanted => -1.0,
                    true => 0.0,
                    false => sigmoid(x) - wanted,
                };
                out[at] += slope * factor * cotangent[image];
            });
        }
        let mut found = Outputs::new();
        for at in results.iter().copied() {
            let like = input(&inputs, if at == 3 { scores } else { Some(at) })?;
            let values = if at == 0 {
                std::mem::take(&mut out)
            } else {
                vec![0.0; like.len()]
            };
            found.push(Tensor::new(like.shape(), values)?.cast(like.dtype())?);
        }
        Ok(found)
    }))
}
