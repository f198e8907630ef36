//! Detection: pooling in boxes with its derivatives, conversions between boxes and network outputs, and suppression of
//! overlapping boxes. A box is two corners; the first has the smaller coordinates.

use pir_dialects::pd;
use pir_ir::AttrData;
use smallvec::smallvec;

use super::special::sigmoid;
use super::{Inputs, Kernel, Prepare, Spec, one};
use crate::tensor::{DType, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::RoiAlign::NAME, |s| pooled(s, align)),
    (pd::RoiAlignGrad::NAME, |s| unpooled(s, align)),
    (pd::RoiPool::NAME, roi_pool),
    (pd::RoiPoolGrad::NAME, roi_pool_grad),
    (pd::PsroiPool::NAME, |s| pooled(s, psroi)),
    (pd::PsroiPoolGrad::NAME, |s| unpooled(s, psroi)),
    (pd::Nms::NAME, nms),
    (pd::YoloBox::NAME, yolo_box),
    (pd::PriorBox::NAME, prior_box),
    (pd::BoxCoder::NAME, box_coder),
];

/// The numbers of an attribute.
fn floats(s: &Spec<'_>, name: &str) -> Vec<f64> {
    let ctx = s.view.ctx;
    match s.view.attr(name).map(|attr| ctx.attr_data(attr)) {
        Some(AttrData::Array(items)) => items
            .iter()
            .filter_map(|&item| ctx.attr_f64(item))
            .map(single)
            .collect(),
        Some(AttrData::Ints(values)) => values.iter().map(|&value| value as f64).collect(),
        _ => Vec::new(),
    }
}

/// How the elements of boxes are pooled.
#[derive(Clone, Copy)]
struct Pooling {
    rows: usize,
    columns: usize,
    scale: f64,
    /// Points in each direction, or as many as a part of a box has elements.
    points: i64,
    aligned: bool,
    channels: Option<usize>,
    /// Boxes of single precision are computed with in that: where they end is rounded to elements.
    is_single: bool,
}

impl Pooling {
    fn of(s: &Spec<'_>) -> Result<Self, String> {
        let size = |name| {
            usize::try_from(s.int(name, 1))
                .ok()
                .filter(|&size| size > 0 && size <= 1 << 16)
        };
        let (Some(rows), Some(columns)) = (size("pooled_height"), size("pooled_width")) else {
            return Err("`pooled_height` and `pooled_width` must be positive".to_owned());
        };
        Ok(Pooling {
            rows,
            columns,
            scale: single(s.float("spatial_scale", 1.0)),
            points: s.int("sampling_ratio", -1),
            aligned: s.flag("aligned", false),
            channels: s
                .view
                .attr("output_channels")
                .and_then(|_| usize::try_from(s.int("output_channels", 1)).ok()),
            is_single: s.result_dtype(0)? == DType::F32,
        })
    }

    /// A number of the type of the boxes.
    fn rounded(&self, value: f64) -> f64 {
        if self.is_single { single(value) } else { value }
    }
}

/// Rounded to single precision, as attributes are, and what is computed from them alone.
pub(super) fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

/// The boxes with the images that they are in.
struct Boxes {
    /// Images, channels, height and width.
    shape: [usize; 4],
    boxes: Vec<([f64; 4], usize)>,
}

impl Boxes {
    fn of(x: &Tensor, boxes: &Tensor, counts: Option<&Tensor>) -> Result<Self, String> {
        let (&[n, c, h, w], &[count, 4]) = (x.shape(), boxes.shape()) else {
            return Err("the images must have four dimensions, and the boxes four numbers".to_owned());
        };
        let counts = counts
            .ok_or("`boxes_num`, which assigns boxes to images, is missing")?
            .to_i64();
        let images = counts
            .iter()
            .enumerate()
            .flat_map(|(image, &count)| std::iter::repeat_n(image, usize::try_from(count).unwrap_or(0).min(1 << 24)));
        let images: Vec<usize> = images.collect();
        if images.len() != count || counts.len() != n {
            return Err(format!("`boxes_num` must be {n} numbers whose sum is {count}"));
        }
        let corners = boxes.to_f64();
        let corners = corners.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
        Ok(Boxes {
            shape: [n, c, h, w],
            boxes: corners.zip(images).collect(),
        })
    }
}

/// The elements of a channel that an element of the result is a sum of, with their weights.
type Terms = Vec<(usize, f64)>;
/// The terms of a row and a column of a pooled box.
type Pool = fn(&Pooling, [f64; 4], [usize; 2], [usize; 2]) -> Terms;

/// Means over points between elements (K. He et al., Mask R-CNN).
fn align(p: &Pooling, corners: [f64; 4], at: [usize; 2], extents: [usize; 2]) -> Terms {
    let offset = if p.aligned { 0.5 } else { 0.0 };
    let [left, top, right, bottom] = corners.map(|corner| corner * p.scale - offset);
    let size = |from: f64, to: f64| if p.aligned { to - from } else { (to - from).max(1.0) };
    let part = [size(top, bottom) / p.rows as f64, size(left, right) / p.columns as f64];
    let points = part.map(|part| if p.points > 0 { p.points } else { part.ceil() as i64 }.clamp(0, 1 << 12));
    let count = (points[0] * points[1]).max(1) as f64;
    let places = |axis: usize, from: f64| {
        let begin = from + at[axis] as f64 * part[axis];
        (0..points[axis]).map(move |k| begin + (k as f64 + 0.5) * part[axis] / points[axis] as f64)
    };
    let mut terms = Vec::new();
    for y in places(0, top) {
        for x in places(1, left) {
            let (Some(rows), Some(columns)) = (between(y, extents[0]), between(x, extents[1])) else {
                continue;
            };
            for (row, a) in rows {
                terms.extend(columns.map(|(column, b)| (row * extents[1] + column, a * b / count)));
            }
        }
    }
    terms
}

/// The two elements around a place and their weights; nothing outside.
fn between(place: f64, extent: usize) -> Option<[(usize, f64); 2]> {
    if !(place >= -1.0 && place <= extent as f64) || extent == 0 {
        return None;
    }
    let place = place.max(0.0);
    let low = place as usize;
    match low + 1 >= extent {
        true => Some([(extent - 1, 1.0), (extent - 1, 0.0)]),
        false => Some([(low, 1.0 - (place - low as f64)), (low + 1, place - low as f64)]),
    }
}

/// Means over parts of boxes, of a channel for each part.
fn psroi(p: &Pooling, corners: [f64; 4], at: [usize; 2], extents: [usize; 2]) -> Terms {
    let [left, top] = [corners[0], corners[1]].map(|corner| p.rounded(corner.round() * p.scale));
    let [right, bottom] = [corners[2], corners[3]].map(|corner| p.rounded((corner.round() + 1.0) * p.scale));
    let range = |begin: f64, end: f64, parts: usize, at: usize, extent: usize| {
        let size = p.rounded(p.rounded(end - begin).max(0.1) / parts as f64);
        let place = |k: usize| p.rounded(p.rounded(k as f64 * size) + begin);
        within(place(at).floor(), place(at + 1).ceil(), extent)
    };
    let rows = range(top, bottom, p.rows, at[0], extents[0]);
    let columns = range(left, right, p.columns, at[1], extents[1]);
    let share = 1.0 / (rows.len() * columns.len()).max(1) as f64;
    rows.flat_map(|row| columns.clone().map(move |column| (row * extents[1] + column, share)))
        .collect()
}

/// Places that there are.
fn within(from: f64, to: f64, extent: usize) -> std::ops::Range<usize> {
    let [from, to] = [from, to].map(|end| end.clamp(0.0, extent as f64) as usize);
    from..to.max(from)
}

/// How many channels the result has for images with `of` channels.
fn channels(p: &Pooling, of: usize) -> Result<usize, String> {
    match p.channels {
        Some(count) if count.checked_mul(p.rows * p.columns) != Some(of) => {
            Err(format!("{of} channels cannot be divided into {count} parts of a box"))
        }
        Some(count) => Ok(count),
        None => Ok(of),
    }
}

/// The channel of the images that an element of the result is of.
fn channel(p: &Pooling, own: usize, i: usize, j: usize) -> usize {
    match p.channels {
        Some(_) => (own * p.rows + i) * p.columns + j,
        None => own,
    }
}

/// Calls a function for each element of the result: where it is, where its channel begins, and its terms.
fn each(p: &Pooling, boxes: &Boxes, pool: Pool, mut f: impl FnMut(usize, usize, &Terms)) -> Result<[usize; 4], String> {
    let [_, c, h, w] = boxes.shape;
    let count = channels(p, c)?;
    let shape = [boxes.boxes.len(), count, p.rows, p.columns];
    checked_count(&shape, 8)?;
    for (at, &(corners, image)) in boxes.boxes.iter().enumerate() {
        for i in 0..p.rows {
            for j in 0..p.columns {
                let terms = pool(p, corners, [i, j], [h, w]);
                for own in 0..count {
                    let begin = (image * c + channel(p, own, i, j)) * h * w;
                    f(((at * count + own) * p.rows + i) * p.columns + j, begin, &terms);
                }
            }
        }
    }
    Ok(shape)
}

pub(super) fn input(inputs: &Inputs, place: Option<usize>) -> Result<&Tensor, String> {
    place
        .and_then(|at| inputs.get(at))
        .ok_or_else(|| "an operand is missing".to_owned())
}

fn pooled(s: &Spec<'_>, pool: Pool) -> Result<Kernel, String> {
    let (p, counts) = (Pooling::of(s)?, s.place(2));
    Ok(Box::new(move |inputs| {
        let x = input(&inputs, Some(0))?;
        let boxes = Boxes::of(x, input(&inputs, Some(1))?, counts.and_then(|at| inputs.get(at)))?;
        let values = x.to_f64();
        let mut out = Vec::new();
        let shape = each(&p, &boxes, pool, |at, begin, terms| {
            if out.len() <= at {
                out.resize(at + 1, 0.0);
            }
            out[at] = terms
                .iter()
                .map(|&(place, weight)| values[begin + place] * weight)
                .sum();
        })?;
        one(Tensor::new(&shape, out)?.cast(x.dtype())?)
    }))
}

fn unpooled(s: &Spec<'_>, pool: Pool) -> Result<Kernel, String> {
    let (p, counts, grad) = (Pooling::of(s)?, s.place(2), s.place(3));
    Ok(Box::new(move |inputs| {
        let x = input(&inputs, Some(0))?;
        let boxes = Boxes::of(x, input(&inputs, Some(1))?, counts.and_then(|at| inputs.get(at)))?;
        let slopes = input(&inputs, grad)?.to_f64();
        let mut out = vec![0.0; x.len()];
        each(&p, &boxes, pool, |at, begin, terms| {
            let slope = slopes.get(at).copied().unwrap_or(0.0);
            terms
                .iter()
                .for_each(|&(place, weight)| out[begin + place] += slope * weight);
        })?;
        one(Tensor::new(x.shape(), out)?.cast(x.dtype())?)
    }))
}

/// All elements of parts of boxes, whose corners are rounded to elements.
fn cells(p: &Pooling, corners: [f64; 4], at: [usize; 2], extents: [usize; 2]) -> Terms {
    let [left, top, right, bottom] = corners.map(|corner| p.rounded(corner * p.scale).round());
    // The size is of single precision for all boxes, and rounded to elements before the corner is added.
    let range = |begin: f64, end: f64, parts: usize, at: usize, extent: usize| {
        let size = single((end - begin + 1.0).max(1.0) / parts as f64);
        let (from, to) = (single(at as f64 * size).floor(), single((at + 1) as f64 * size).ceil());
        within(from + begin, to + begin, extent)
    };
    let rows = range(top, bottom, p.rows, at[0], extents[0]);
    let columns = range(left, right, p.columns, at[1], extents[1]);
    rows.flat_map(|row| columns.clone().map(move |column| (row * extents[1] + column, 1.0)))
        .collect()
}

/// The largest elements in parts of boxes, and their places.
fn roi_pool(s: &Spec<'_>) -> Result<Kernel, String> {
    let (p, counts) = (Pooling::of(s)?, s.place(2));
    let is_single = s.is_absent(1);
    Ok(Box::new(move |inputs| {
        let x = input(&inputs, Some(0))?;
        let boxes = Boxes::of(x, input(&inputs, Some(1))?, counts.and_then(|at| inputs.get(at)))?;
        let values = x.to_f64();
        let (mut out, mut places): (Vec<f64>, Vec<i64>) = (Vec::new(), Vec::new());
        let shape = each(&p, &boxes, cells, |at, begin, terms| {
            if out.len() <= at {
                out.resize(at + 1, 0.0);
                places.resize(at + 1, -1);
            }
            let mut best: Option<usize> = None;
            for &(place, _) in terms {
                if best.is_none_or(|best| values[begin + place] > values[begin + best]) {
                    best = Some(place);
                }
            }
            out[at] = best.map_or(0.0, |best| values[begin + best]);
            places[at] = best.map_or(-1, |best| best as i64);
        })?;
        let out = Tensor::new(&shape, out)?.cast(x.dtype())?;
        match is_single {
            true => one(out),
            false => Ok(smallvec![out, Tensor::new(&shape, places)?]),
        }
    }))
}

fn roi_pool_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let (counts, places, grad) = (s.place(2), s.place(3), s.place(4));
    Ok(Box::new(move |inputs| {
        let x = input(&inputs, Some(0))?;
        let boxes = Boxes::of(x, input(&inputs, Some(1))?, counts.and_then(|at| inputs.get(at)))?;
        let (places, slopes) = (input(&inputs, places)?.to_i64(), input(&inputs, grad)?.to_f64());
        let [_, c, h, w] = boxes.shape;
        let each = places.len() / (boxes.boxes.len() * c).max(1);
        let mut out = vec![0.0; x.len()];
        for (at, (&place, slope)) in places.iter().zip(slopes).enumerate() {
            let Some(&(_, image)) = boxes.boxes.get(at / (c * each).max(1)) else {
                continue;
            };
            let begin = (image * c + at / each % c) * h * w;
            if let Some(place) = usize::try_from(place).ok().filter(|&place| place < h * w) {
                out[begin + place] += slope;
            }
        }
        one(Tensor::new(x.shape(), out)?.cast(x.dtype())?)
    }))
}

/// The part of the area of two boxes together that is in both.
fn overlap(a: &[f64], b: &[f64]) -> f64 {
    let area = |b: &[f64]| (b[2] - b[0]) * (b[3] - b[1]);
    let width = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let height = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let both = width * height;
    both / (area(a) + area(b) - both)
}

/// The boxes that no kept box before them overlaps.
fn nms(s: &Spec<'_>) -> Result<Kernel, String> {
    let most = f64::from(s.float("threshold", 1.0) as f32);
    Ok(Box::new(move |inputs| {
        let x = input(&inputs, Some(0))?;
        if x.rank() != 2 || x.shape()[1] != 4 {
            return Err("the boxes must have four numbers".to_owned());
        }
        let boxes = x.to_f64();
        let own = |at: usize| &boxes[4 * at..4 * at + 4];
        let mut kept: Vec<usize> = Vec::new();
        for at in 0..x.shape()[0] {
            // Boxes without an area overlap by a number that is none, and so by no more than the threshold.
            if !kept.iter().any(|&before| overlap(own(before), own(at)) > most) {
                kept.push(at);
            }
        }
        let count = kept.len();
        one(Tensor::new(&[count], kept.into_iter().map(|at| at as i64).collect())?)
    }))
}

/// Boxes and scores of classes at each cell and for each anchor.
fn yolo_box(s: &Spec<'_>) -> Result<Kernel, String> {
    let anchors = s.ints("anchors").unwrap_or_default();
    let classes = usize::try_from(s.int("class_num", 1)).map_err(|_| "`class_num` cannot be negative")?;
    let (least, stride) = (
        single(s.float("conf_thresh", 0.01)),
        s.int("downsample_ratio", 32) as f64,
    );
    let (clips, scale) = (s.flag("clip_bbox", true), single(s.float("scale_x_y", 1.0)));
    let (aware, factor) = (s.flag("iou_aware", false), single(s.float("iou_aware_factor", 0.5)));
    let is_single = s.is_absent(1);
    Ok(Box::new(move |inputs| {
        let (x, sizes) = (input(&inputs, Some(0))?, input(&inputs, Some(1))?);
        let count = anchors.len() / 2;
        let each = 5 + classes;
        let &[n, c, h, w] = x.shape() else {
            return Err("`x` must have four dimensions".to_owned());
        };
        if c != count * (each + usize::from(aware)) || sizes.len() != 2 * n {
            return Err("the number of channels does not match `anchors` and `class_num`".to_owned());
        }
        let (values, sizes) = (x.to_f64(), sizes.to_f64());
        let all = count * h * w;
        let (mut boxes, mut scores) = (vec![0.0; n * all * 4], vec![0.0; n * all * classes]);
        for (i, size) in sizes.chunks_exact(2).enumerate() {
            for at in 0..all {
                let (anchor, y, x) = (at / (h * w), at / w % h, at % w);
                let number = |channel: usize| values[((i * c + channel) * h + y) * w + x];
                let begin = if aware { count } else { 0 } + anchor * each;
                let mut sure = sigmoid(number(begin + 4));
                if aware {
                    sure = sure.powf(1.0 - factor) * sigmoid(number(anchor)).powf(factor);
                }
                if sure < least {
                    continue;
                }
                // Along x and y: the extent of the cells and the image, and the place of the centre.
                let along = |axis: usize, cells: usize, cell: usize, image: f64| {
                    let place = cell as f64 + sigmoid(number(begin + axis)) * scale - 0.5 * (scale - 1.0);
                    let centre = place * image / cells as f64;
                    let size = number(begin + 2 + axis).exp() * anchors[2 * anchor + axis] as f64 * image;
                    let half = size / (stride * cells as f64) / 2.0;
                    match clips {
                        true => [(centre - half).max(0.0), (centre + half).min(image - 1.0)],
                        false => [centre - half, centre + half],
                    }
                };
                let ([left, right], [top, bottom]) = (along(0, w, x, size[1]), along(1, h, y, size[0]));
                let own = (i * all + at) * 4;
                boxes[own..own + 4].copy_from_slice(&[left, top, right, bottom]);
                for class in 0..classes {
                    scores[(i * all + at) * classes + class] = sure * sigmoid(number(begin + 5 + class));
                }
            }
        }
        let boxes = Tensor::new(&[n, all, 4], boxes)?.cast(x.dtype())?;
        match is_single {
            true => one(boxes),
            false => Ok(smallvec![
                boxes,
                Tensor::new(&[n, all, classes], scores)?.cast(x.dtype())?
            ]),
        }
    }))
}

/// Boxes of some sizes and shapes at each cell, in parts of the image.
fn prior_box(s: &Spec<'_>) -> Result<Kernel, String> {
    let [least, most, given, variances] =
        ["min_sizes", "max_sizes", "aspect_ratios", "variances"].map(|name| floats(s, name));
    let (clips, least_first) = (s.flag("clip", true), s.flag("min_max_aspect_ratios_order", false));
    let (steps, offset) = (
        [s.float("step_w", 0.0), s.float("step_h", 0.0)],
        single(s.float("offset", 0.5)),
    );
    if !most.is_empty() && most.len() != least.len() {
        return Err("`max_sizes` must be empty or as long as `min_sizes`".to_owned());
    }
    let mut ratios = vec![1.0];
    for ratio in given {
        if ratios.iter().all(|known: &f64| (ratio - known).abs() >= 1e-6) {
            ratios.push(ratio);
            if s.flag("flip", true) {
                ratios.push(single(1.0 / ratio));
            }
        }
    }
    // Halves of widths and heights.
    let mut halves: Vec<[f64; 2]> = Vec::new();
    for (at, &least) in least.iter().enumerate() {
        let of = |ratio: &f64| {
            let root = single(ratio.sqrt());
            [single(least * root) / 2.0, single(least / root) / 2.0]
        };
        let square = most.get(at).map(|most| [single(single(least * most).sqrt()) / 2.0; 2]);
        if least_first {
            halves.push([least / 2.0; 2]);
            halves.extend(square);
            halves.extend(ratios.iter().filter(|&ratio| (ratio - 1.0).abs() >= 1e-6).map(of));
        } else {
            halves.extend(ratios.iter().map(of));
            halves.extend(square);
        }
    }
    Ok(Box::new(move |inputs| {
        let (x, image) = (input(&inputs, Some(0))?, input(&inputs, Some(1))?);
        let (&[_, _, h, w], &[_, _, tall, wide]) = (x.shape(), image.shape()) else {
            return Err("the operands must have four dimensions".to_owned());
        };
        let shape = [h, w, halves.len(), 4];
        let count = checked_count(&shape, 8)?;
        let (tall, wide) = (tall as f64, wide as f64);
        let step = |at: usize, image: f64, cells: usize| {
            if steps[at] == 0.0 {
                image / cells as f64
            } else {
                steps[at]
            }
        };
        let (across, down) = (step(0, wide, w), step(1, tall, h));
        let mut out = Vec::with_capacity(count);
        for at in 0..h * w {
            let (x, y) = (((at % w) as f64 + offset) * across, ((at / w) as f64 + offset) * down);
            for [a, b] in &halves {
                let own = [(x - a) / wide, (y - b) / tall, (x + a) / wide, (y + b) / tall];
                out.extend(own.map(|corner| if clips { corner.clamp(0.0, 1.0) } else { corner }));
            }
        }
        let spread = variances
            .iter()
            .copied()
            .cycle()
            .take(if variances.len() == 4 { count } else { 0 });
        let spread: Vec<f64> = spread.collect();
        if spread.len() != count {
            return Err("`variances` must be four numbers".to_owned());
        }
        Ok(smallvec![
            Tensor::new(&shape, out)?.cast(x.dtype())?,
            Tensor::new(&shape, spread)?.cast(x.dtype())?
        ])
    }))
}

/// Boxes relative to others, or from numbers that are.
fn box_coder(s: &Spec<'_>) -> Result<Kernel, String> {
    let (variances, given, target) = (s.place(1), floats(s, "variance"), s.place(2));
    let edge = if s.flag("box_normalized", true) { 0.0 } else { 1.0 };
    let by_rows = s.int("axis", 0) == 1;
    let encodes = match s.text("code_type", "encode_center_size") {
        "encode_center_size" => true,
        "decode_center_size" => false,
        other => {
            return Err(format!(
                "`code_type` must be `encode_center_size` or `decode_center_size`, not `{other}`"
            ));
        }
    };
    Ok(Box::new(move |inputs| {
        let (prior, target) = (input(&inputs, Some(0))?, input(&inputs, target)?);
        let (Some(4), Some(4)) = (prior.shape().last().copied(), target.shape().last().copied()) else {
            return Err("the boxes must have four numbers".to_owned());
        };
        let many = prior.shape()[0];
        let rows = target.shape()[0];
        let columns = if encodes {
            many
        } else {
            target.shape().get(1).copied().unwrap_or(0)
        };
        let needed = if encodes || !by_rows { columns } else { rows };
        let wide = variances.and_then(|at| inputs.get(at)).map(Tensor::to_f64);
        if needed != many
            || target.rank() != if encodes { 2 } else { 3 }
            || wide.as_ref().is_some_and(|v| v.len() != 4 * many)
        {
            return Err("the shapes of the boxes do not fit".to_owned());
        }
        let (priors, targets) = (prior.to_f64(), target.to_f64());
        let centred = |b: &[f64]| {
            let size = [b[2] - b[0] + edge, b[3] - b[1] + edge];
            ([b[0] + size[0] / 2.0, b[1] + size[1] / 2.0], size)
        };
        let mut out = Vec::with_capacity(checked_count(&[rows, columns, 4], 8)?);
        for at in 0..rows * columns {
            let (row, column) = (at / columns, at % columns);
            let own = if !encodes && by_rows { row } else { column };
            let (place, size) = centred(&priors[4 * own..4 * own + 4]);
            let factor = |k: usize| match &wide {
                Some(wide) => wide[4 * own + k],
                None => given.get(k).copied().unwrap_or(1.0),
            };
            let made = if encodes {
                let b = &targets[4 * row..4 * row + 4];
                let (_, extent) = centred(b);
                let middle = [(b[0] + b[2]) / 2.0, (b[1] + b[3]) / 2.0];
                let off = [0, 1].map(|k| (middle[k] - place[k]) / size[k]);
                let ratio = [0, 1].map(|k| (extent[k] / size[k]).abs().ln());
                let all = [off[0], off[1], ratio[0], ratio[1]];
                [0, 1, 2, 3].map(|k| all[k] / factor(k))
            } else {
                let t = &targets[4 * at..4 * at + 4];
                let middle = [0, 1].map(|k| factor(k) * t[k] * size[k] + place[k]);
                let half = [0, 1].map(|k| (factor(2 + k) * t[2 + k]).exp() * size[k] / 2.0);
                [
                    middle[0] - half[0],
                    middle[1] - half[1],
                    middle[0] + half[0] - edge,
                    middle[1] + half[1] - edge,
                ]
            };
            out.extend(made);
        }
        one(Tensor::new(&[rows, columns, 4], out)?.cast(target.dtype())?)
    }))
}
