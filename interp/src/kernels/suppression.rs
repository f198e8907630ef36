//! Detections: the boxes with the largest scores, without those that overlap them, by class, and as proposals (S. Ren et
//! al., Faster R-CNN, 2015); scores that decay with overlaps (X. Wang et al., SOLOv2, 2020).

use std::ops::Range;

use pir_dialects::pd;

use super::boxes::{input, single};
use super::{Inputs, Kernel, Outputs, Prepare, Spec};
use crate::tensor::Tensor;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::MulticlassNms3::NAME, multiclass),
    (pd::MatrixNms::NAME, matrix),
    (pd::GenerateProposals::NAME, proposals),
    (pd::DistributeFpnProposals::NAME, levels),
];

/// The maximum number of levels of a pyramid.
const MOST_LEVELS: i64 = 64;

/// The part of the area of two boxes together that is in both. An `edge` of 1 counts the elements of the corners as inside.
fn overlap(a: &[f64], b: &[f64], edge: f64) -> f64 {
    let area = |b: &[f64]| match b[2] < b[0] || b[3] < b[1] {
        true => 0.0,
        false => (b[2] - b[0] + edge) * (b[3] - b[1] + edge),
    };
    if b[0] > a[2] || b[2] < a[0] || b[1] > a[3] || b[3] < a[1] {
        return 0.0;
    }
    let side = |k: usize| a[2 + k].min(b[2 + k]) - a[k].max(b[k]) + edge;
    let both = side(0) * side(1);
    both / (area(a) + area(b) - both)
}

/// The candidates by descending score, those with equal scores in their order.
fn sorted<T>(mut all: Vec<T>, score: impl Fn(&T) -> f64) -> Vec<T> {
    all.sort_by(|a, b| score(b).total_cmp(&score(a)));
    all
}

/// Keeps the first ones, or all if the limit does not hold.
fn truncate<T>(all: &mut Vec<T>, limit: i64, holds: bool) {
    if let (true, Ok(limit)) = (holds, usize::try_from(limit)) {
        all.truncate(limit);
    }
}

/// The candidates, of those by descending score, that none before them overlaps by more than a threshold, which shrinks by
/// the factor `eta` while it is above one half.
fn greedy(order: Vec<usize>, boxes: &[f64], mut threshold: f64, eta: f64, edge: f64) -> Vec<usize> {
    let own = |at: usize| &boxes[4 * at..4 * at + 4];
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        if kept
            .iter()
            .all(|&before| overlap(own(before), own(at), edge) <= threshold)
        {
            kept.push(at);
            if eta < 1.0 && threshold > 0.5 {
                threshold *= eta;
            }
        }
    }
    kept
}

/// Boxes with a score for each class: of images with equally many boxes, which all classes share, or with different
/// boxes for each class and as many as `rois_num` specifies.
struct Candidates {
    boxes: Vec<f64>,
    scores: Vec<f64>,
    classes: usize,
    images: Vec<Range<usize>>,
    by_class: bool,
}

impl Candidates {
    fn of(boxes: &Tensor, scores: &Tensor, counts: Option<&Tensor>) -> Result<Self, String> {
        let (classes, images, by_class) = match (boxes.shape(), scores.shape(), counts) {
            (&[n, m, 4], &[of, classes, each], None) if (n, m) == (of, each) => {
                (classes, (0..n).map(|at| at * m..(at + 1) * m).collect(), false)
            }
            (&[m, c, 4], &[of, classes], Some(counts)) if (m, c) == (of, classes) => {
                let mut images: Vec<Range<usize>> = Vec::new();
                for count in counts.to_i64() {
                    let begin = images.last().map_or(0, |image| image.end);
                    let end = usize::try_from(count).ok().and_then(|n| begin.checked_add(n));
                    images.push(begin..end.filter(|&end| end <= m).ok_or("`rois_num` counts other boxes")?);
                }
                (classes, images, true)
            }
            (boxes, scores, _) => return Err(format!("boxes {boxes:?} and scores {scores:?} do not fit")),
        };
        Ok(Candidates {
            boxes: boxes.to_f64(),
            scores: scores.to_f64(),
            classes,
            images,
            by_class,
        })
    }

    /// The place of a box in the list of all.
    fn row(&self, at: usize, class: usize) -> usize {
        if self.by_class { at * self.classes + class } else { at }
    }

    /// The boxes of an image whose score for a class is above the least, by descending score, and no more than `most`.
    fn best(&self, image: usize, class: usize, least: f64, most: i64) -> Vec<Found> {
        let range = self.images[image].clone();
        let (begin, count) = (range.start, range.len());
        let found = range.map(|at| Found {
            class,
            row: self.row(at, class),
            score: match self.by_class {
                true => self.scores[at * self.classes + class],
                false => self.scores[(image * self.classes + class) * count + at - begin],
            },
        });
        let mut best = sorted(found.filter(|one| one.score > least).collect(), |one| one.score);
        truncate(&mut best, most, most > -1);
        best
    }

    /// The results: class, score and corners of each detection, where its box is, and how many each image has.
    fn results(&self, found: &[Vec<Found>], like: &Tensor) -> Result<[Tensor; 3], String> {
        let all = || found.iter().flatten();
        let count = all().count();
        let line = |one: &Found| {
            let corners = self.boxes[4 * one.row..4 * one.row + 4].iter().copied();
            [one.class as f64, one.score].into_iter().chain(corners)
        };
        let rows: Vec<i64> = all().map(|one| one.row as i64).collect();
        Ok([
            Tensor::new(&[count, 6], all().flat_map(line).collect::<Vec<f64>>())?.cast(like.dtype())?,
            Tensor::new(&[count, 1], rows)?.cast(crate::tensor::DType::I32)?,
            counts(found.iter().map(Vec::len))?,
        ])
    }
}

/// A box that is detected as an object of a class.
struct Found {
    class: usize,
    row: usize,
    score: f64,
}

fn counts(each: impl Iterator<Item = usize>) -> Result<Tensor, String> {
    let each: Vec<i64> = each.map(|count| count as i64).collect();
    Tensor::new(&[each.len()], each)?.cast(crate::tensor::DType::I32)
}

/// The results that are not absent.
fn present(results: [Tensor; 3], absent: [bool; 3]) -> Outputs {
    let all = results.into_iter().zip(absent);
    all.filter(|(_, absent)| !absent).map(|(result, _)| result).collect()
}

/// A kernel that detects objects in each image, given the classes that are not the background.
fn detecting(
    s: &Spec<'_>,
    detect: impl Fn(&Candidates, usize, &[usize]) -> Vec<Found> + Send + Sync + 'static,
) -> Kernel {
    let (counts, background) = (s.place(2), s.int("background_label", 0));
    let absent = [0, 1, 2].map(|at| s.is_absent(at));
    Box::new(move |inputs: Inputs| {
        let boxes = input(&inputs, Some(0))?;
        let given = Candidates::of(boxes, input(&inputs, Some(1))?, counts.and_then(|at| inputs.get(at)))?;
        let classes: Vec<usize> = (0..given.classes).filter(|&c| c as i64 != background).collect();
        let images = 0..given.images.len();
        let found: Vec<Vec<Found>> = images.map(|image| detect(&given, image, &classes)).collect();
        Ok(present(given.results(&found, boxes)?, absent))
    })
}

/// Boxes without those that a box of the same class overlaps.
fn multiclass(s: &Spec<'_>) -> Result<Kernel, String> {
    let [least, threshold, eta] =
        [("score_threshold", 0.0), ("nms_threshold", 0.3), ("nms_eta", 1.0)].map(|(name, v)| single(s.float(name, v)));
    let (top, most) = (s.int("nms_top_k", -1), s.int("keep_top_k", -1));
    let edge = if s.flag("normalized", true) { 0.0 } else { 1.0 };
    Ok(detecting(s, move |given, image, classes| {
        let mut found: Vec<Found> = Vec::new();
        for &class in classes {
            let mut best = given.best(image, class, least, top);
            let order = best.iter().map(|one| one.row).collect();
            let kept = greedy(order, &given.boxes, threshold, eta, edge);
            best.retain(|one| kept.contains(&one.row));
            found.extend(best);
        }
        if most > -1 && usize::try_from(most).is_ok_and(|most| found.len() > most) {
            found = sorted(found, |one| one.score);
            truncate(&mut found, most, true);
        }
        // By class; where each class has boxes of its own, they stay in their order.
        found.sort_by_key(|one| (one.class, if given.by_class { one.row } else { 0 }));
        found
    }))
}

/// Boxes whose scores decay by how much boxes of the same class with larger scores overlap them.
fn matrix(s: &Spec<'_>) -> Result<Kernel, String> {
    let [least, after, sigma] = [
        ("score_threshold", 0.0),
        ("post_threshold", 0.0),
        ("gaussian_sigma", 2.0),
    ]
    .map(|(name, value)| single(s.float(name, value)));
    let (top, most, is_gaussian) = (
        s.int("nms_top_k", -1),
        s.int("keep_top_k", -1),
        s.flag("use_gaussian", false),
    );
    let edge = if s.flag("normalized", true) { 0.0 } else { 1.0 };
    Ok(detecting(s, move |given, image, classes| {
        let own = |one: &Found| &given.boxes[4 * one.row..4 * one.row + 4];
        let mut found: Vec<Found> = Vec::new();
        for &class in classes {
            let best = given.best(image, class, least, top);
            // How much each is itself overlapped at most.
            let mut largest: Vec<f64> = Vec::new();
            for (at, one) in best.iter().enumerate() {
                let overlaps = best[..at].iter().map(|before| overlap(own(one), own(before), edge));
                let overlaps: Vec<f64> = overlaps.collect();
                let factor = overlaps.iter().zip(&largest).map(|(size, most)| match is_gaussian {
                    true => ((most * most - size * size) * sigma).exp(),
                    false => (1.0 - size) / (1.0 - most),
                });
                let score = one.score * factor.fold(1.0, f64::min);
                largest.push(overlaps.into_iter().fold(0.0, f64::max));
                found.extend((score > after).then_some(Found { score, ..*one }));
            }
        }
        found = sorted(found, |one| one.score);
        truncate(&mut found, most, most > -1);
        found
    }))
}

/// What is proposed as a box: one of the anchors, moved and scaled.
struct Proposing {
    before: i64,
    after: i64,
    threshold: f64,
    eta: f64,
    least: f64,
    edge: f64,
}

/// The largest factor by which an anchor is scaled.
const MOST_SCALED: f64 = 1000.0 / 16.0;

impl Proposing {
    /// The box that four numbers make of an anchor, inside the image.
    fn moved(&self, anchor: &[f64], by: [f64; 4], size: [f64; 2]) -> [f64; 4] {
        let mut out = [0.0; 4];
        for (k, extent) in [(0, size[1]), (1, size[0])] {
            let wide = anchor[2 + k] - anchor[k] + self.edge;
            let centre = anchor[k] + wide / 2.0 + by[k] * wide;
            let half = by[2 + k].min(MOST_SCALED.ln()).exp() * wide / 2.0;
            let inside = |place: f64| place.min(extent - self.edge).max(0.0);
            (out[k], out[2 + k]) = (inside(centre - half), inside(centre + half - self.edge));
        }
        out
    }

    /// Whether a box is large enough, and its centre in the image if corners count as inside.
    fn is_large(&self, corners: &[f64], size: [f64; 2]) -> bool {
        [(0, size[1]), (1, size[0])].into_iter().all(|(k, extent)| {
            let wide = corners[2 + k] - corners[k] + self.edge;
            wide >= self.least.max(1.0) && (self.edge == 0.0 || corners[k] + wide / 2.0 <= extent)
        })
    }

    /// The boxes of an image with their scores.
    fn of_image(&self, scores: Vec<f64>, moved: impl Fn(usize) -> [f64; 4], size: [f64; 2]) -> (Vec<f64>, Vec<f64>) {
        let mut order = sorted((0..scores.len()).collect(), |&at| scores[at]);
        truncate(&mut order, self.before, self.before > 0);
        let (mut boxes, mut own): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for at in order {
            let corners = moved(at);
            if self.is_large(&corners, size) {
                boxes.extend(corners);
                own.push(scores[at]);
            }
        }
        if own.is_empty() {
            return (vec![0.0; 4], vec![0.0]);
        }
        if self.threshold > 0.0 {
            let mut kept = greedy((0..own.len()).collect(), &boxes, self.threshold, self.eta, self.edge);
            truncate(&mut kept, self.after, self.after > 0);
            boxes = kept.iter().flat_map(|&at| boxes[4 * at..4 * at + 4].to_vec()).collect();
            own = kept.into_iter().map(|at| own[at]).collect();
        }
        (boxes, own)
    }
}

/// The boxes that are likely to contain objects.
fn proposals(s: &Spec<'_>) -> Result<Kernel, String> {
    let rule = Proposing {
        before: s.int("pre_nms_top_n", -1),
        after: s.int("post_nms_top_n", -1),
        threshold: single(s.float("nms_thresh", 0.5)),
        eta: single(s.float("eta", 1.0)),
        least: single(s.float("min_size", 0.1)),
        edge: if s.flag("pixel_offset", true) { 1.0 } else { 0.0 },
    };
    let absent = [0, 1, 2].map(|at| s.is_absent(at));
    Ok(Box::new(move |inputs| {
        let tensor = |at| input(&inputs, Some(at));
        let (scores, deltas) = (tensor(0)?, tensor(1)?);
        let &[n, a, h, w] = scores.shape() else {
            return Err("`scores` must have four dimensions".to_owned());
        };
        let each = a * h * w;
        let [sizes, anchors, spreads] = [tensor(2)?, tensor(3)?, tensor(4)?].map(Tensor::to_f64);
        if deltas.len() != 4 * n * each
            || sizes.len() != 2 * n
            || anchors.len() != 4 * each
            || spreads.len() != 4 * each
        {
            return Err("the shapes of the operands do not fit".to_owned());
        }
        let (values, moves) = (scores.to_f64(), deltas.to_f64());
        let (mut boxes, mut likely, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for (image, size) in sizes.chunks_exact(2).map(|size| [size[0], size[1]]).enumerate() {
            // Anchors come last in the order of candidates.
            let place = |at: usize, channels: usize, k: usize| {
                let channel = at % a * (channels / a) + k;
                (image * channels + channel) * h * w + at / a
            };
            let own = (0..each).map(|at| values[place(at, a, 0)]).collect();
            let moved = |at: usize| {
                let by = [0, 1, 2, 3].map(|k| spreads[4 * at + k] * moves[place(at, 4 * a, k)]);
                rule.moved(&anchors[4 * at..4 * at + 4], by, size)
            };
            let (corners, own) = rule.of_image(own, moved, size);
            lengths.push(own.len());
            boxes.extend(corners);
            likely.extend(own);
        }
        let count = likely.len();
        let results = [
            Tensor::new(&[count, 4], boxes)?.cast(scores.dtype())?,
            Tensor::new(&[count, 1], likely)?.cast(scores.dtype())?,
            counts(lengths.into_iter())?,
        ];
        Ok(present(results, absent))
    }))
}

/// Boxes by the level of a pyramid that fits their size (T.-Y. Lin et al., Feature Pyramid Networks, 2017): those of each level, image
/// by image; how many each image has there; and where each box is in all levels together.
fn levels(s: &Spec<'_>) -> Result<Kernel, String> {
    let (low, high, base) = (s.int("min_level", 0), s.int("max_level", 0), s.int("refer_level", 0));
    let (scale, edge) = (
        s.int("refer_scale", 1) as f64,
        if s.flag("pixel_offset", false) { 1.0 } else { 0.0 },
    );
    let count = high.checked_sub(low).filter(|count| (0..MOST_LEVELS).contains(count));
    let (count, lengths) = (
        count.ok_or("the levels must be in order, and few")? as usize + 1,
        s.place(1),
    );
    Ok(Box::new(move |inputs| {
        let rois = input(&inputs, Some(0))?;
        let &[rows, 4] = rois.shape() else {
            return Err(format!("boxes must have the shape [n, 4], not {:?}", rois.shape()));
        };
        let images: Vec<i64> = match lengths {
            Some(at) => input(&inputs, Some(at))?.to_i64(),
            None => vec![rows as i64],
        };
        let sizes: Option<Vec<usize>> = images.iter().map(|&length| usize::try_from(length).ok()).collect();
        let sizes =
            sizes.filter(|sizes| sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)) == Some(rows));
        let sizes = sizes.ok_or("the numbers of boxes must add up to the boxes")?;
        let values = rois.to_f64();
        let level_of = |corners: &[f64]| {
            let [width, height] = [corners[2] - corners[0], corners[3] - corners[1]];
            let area = if width < 0.0 || height < 0.0 {
                0.0
            } else {
                (width + edge) * (height + edge)
            };
            let level = (area.sqrt() / scale + 1e-6).log2().floor() as i64;
            (level.saturating_add(base).clamp(low, high) - low) as usize
        };
        let mut boxes = vec![Vec::new(); count];
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut numbers = vec![Vec::new(); count];
        let mut row = 0;
        for size in sizes {
            let before: Vec<usize> = rows_of.iter().map(Vec::len).collect();
            for corners in values[4 * row..4 * (row + size)].chunks(4) {
                let level = level_of(corners);
                boxes[level].extend_from_slice(corners);
                rows_of[level].push(row);
                row += 1;
            }
            for (level, before) in before.into_iter().enumerate() {
                numbers[level].push(rows_of[level].len() - before);
            }
        }
        let mut places = vec![0usize; rows];
        for (place, row) in rows_of.iter().flatten().enumerate() {
            places[*row] = place;
        }
        let mut out = Outputs::new();
        for values in boxes {
            out.push(Tensor::new(&[values.len() / 4, 4], values)?.cast(rois.dtype())?);
        }
        for numbers in numbers {
            out.push(counts(numbers.into_iter())?);
        }
        out.push(counts(places.into_iter())?.reshaped(&[rows, 1])?);
        Ok(out)
    }))
}
