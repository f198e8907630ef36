//! Best and total paths through sequences: decoding by A. Viterbi's method (1967), and the loss of transducers (A. Graves, 2012).

use pir_dialects::pd;
use smallvec::smallvec;

use super::ctc::log_sum;
use super::{Inputs, Kernel, Outputs, Prepare, Spec, take};
use crate::tensor::{Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[(pd::ViterbiDecode::NAME, viterbi), (pd::Warprnnt::NAME, transducer)];

/// Lengths that a tensor of a size has room for.
fn lengths(given: &Tensor, count: usize, least: usize, most: usize) -> Result<Vec<usize>, String> {
    let values: Option<Vec<usize>> = given
        .to_i64()
        .into_iter()
        .map(|n| usize::try_from(n).ok().filter(|n| (least..=most).contains(n)))
        .collect();
    values
        .filter(|values| values.len() == count)
        .ok_or_else(|| format!("the lengths must be {count} numbers from {least} to {most}"))
}

/// The scores of the best tag sequences, and the tags, padded with zeros.
fn viterbi(s: &Spec<'_>) -> Result<Kernel, String> {
    let bounded = s.flag("include_bos_eos_tag", true);
    Ok(Box::new(move |inputs| {
        let [potentials, transitions, ends] = take(inputs)?;
        let &[batch, time, tags] = potentials.shape() else {
            return Err("`potentials` must have three dimensions".to_owned());
        };
        if transitions.shape() != [tags, tags] || tags < if bounded { 2 } else { 1 } {
            return Err("`transition_params` must have a row and a column for each tag".to_owned());
        }
        let ends = lengths(&ends, batch, 1, time)?;
        let longest = ends.iter().copied().max().unwrap_or(0);
        let (values, moves) = (potentials.to_f64(), transitions.to_f64());
        let (mut scores, mut paths) = (Vec::with_capacity(batch), vec![0i64; batch * longest]);
        for (at, &end) in ends.iter().enumerate() {
            let line = |t: usize| &values[(at * time + t) * tags..][..tags];
            // The last tag is that of the begin, the one before it that of the end.
            let bound = |from_end: usize, tag: usize| {
                if bounded {
                    moves[(tags - from_end) * tags + tag]
                } else {
                    0.0
                }
            };
            let mut best: Vec<f64> = (0..tags).map(|tag| line(0)[tag] + bound(1, tag)).collect();
            let mut from: Vec<Vec<usize>> = Vec::with_capacity(end);
            for t in 1..end {
                let chosen = (0..tags).map(|to| largest((0..tags).map(|tag| best[tag] + moves[tag * tags + to])));
                let chosen: Vec<(usize, f64)> = chosen.collect();
                best = chosen.iter().zip(line(t)).map(|((_, sum), own)| sum + own).collect();
                from.push(chosen.into_iter().map(|(tag, _)| tag).collect());
            }
            let (mut tag, score) = largest((0..tags).map(|tag| best[tag] + bound(2, tag)));
            scores.push(score);
            for t in (0..end).rev() {
                paths[at * longest + t] = tag as i64;
                tag = t.checked_sub(1).map_or(tag, |before| from[before][tag]);
            }
        }
        Ok(smallvec![
            Tensor::new(&[batch], scores)?.cast(potentials.dtype())?,
            Tensor::new(&[batch, longest], paths)?
        ])
    }))
}

/// The first of the largest numbers, and where it is.
fn largest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.enumerate().fold(
        (0, f64::NEG_INFINITY),
        |best, (at, value)| if value > best.1 { (at, value) } else { best },
    )
}

/// What the loss of transducers depends on but for the tensors.
#[derive(Clone, Copy)]
struct Transducer {
    blank: usize,
    /// How much more labels are emitted early (J. Yu et al., 2021): it only changes the derivative.
    early: f64,
}

fn transducer(s: &Spec<'_>) -> Result<Kernel, String> {
    let blank = usize::try_from(s.int("blank", 0)).map_err(|_| "`blank` cannot be negative")?;
    let early = f64::from(s.float("fastemit_lambda", 0.0) as f32);
    let own = Transducer { blank, early };
    Ok(Box::new(move |inputs| losses(own, inputs)))
}

/// The loss of each sequence, and its derivative by the logarithms of probabilities, which are of [batch, time, labels + 1,
/// classes], and are not normalized here.
fn losses(own: Transducer, inputs: Inputs) -> Result<Outputs, String> {
    let [logs, labels, times, counts] = take(inputs)?;
    let (&[batch, time, places, classes], &[many, most]) = (logs.shape(), labels.shape()) else {
        return Err("`input` must have four dimensions, and `label` two".to_owned());
    };
    if many != batch || most + 1 != places || own.blank >= classes {
        return Err("the shapes of `input` and `label` do not match".to_owned());
    }
    let (times, counts) = (lengths(&times, batch, 1, time)?, lengths(&counts, batch, 0, most)?);
    let (values, all) = (logs.to_f64(), labels.to_i64());
    let mut slopes = vec![0.0; checked_count(&[values.len()], 8)?];
    let mut losses = Vec::with_capacity(batch);
    for at in 0..batch {
        let label = |&n: &i64| usize::try_from(n).ok().filter(|&n| n < classes && n != own.blank);
        let line: Option<Vec<usize>> = all[at * most..][..counts[at]].iter().map(label).collect();
        let line = line.ok_or("a label is `blank`, or out of range")?;
        let part = at * time * places * classes..(at + 1) * time * places * classes;
        losses.push(own.sequence(
            &values[part.clone()],
            &line,
            (times[at], places, classes),
            &mut slopes[part],
        ));
    }
    let dtype = logs.dtype();
    Ok(smallvec![
        Tensor::new(&[batch], losses)?.cast(dtype)?,
        Tensor::new(logs.shape(), slopes)?.cast(dtype)?
    ])
}

impl Transducer {
    /// The loss of one sequence. Paths go from the first place to the last one: a blank is a step in time, a label one in labels.
    fn sequence(
        self,
        logs: &[f64],
        labels: &[usize],
        (time, places, classes): (usize, usize, usize),
        slopes: &mut [f64],
    ) -> f64 {
        const NEVER: f64 = f64::NEG_INFINITY;
        let ends = labels.len() + 1;
        let begin = |t: usize, u: usize| (t * places + u) * classes;
        let own = |t: usize, u: usize| &logs[begin(t, u)..begin(t, u) + classes];
        let blank = |t: usize, u: usize| own(t, u)[self.blank];
        let emits = |t: usize, u: usize| labels.get(u).map_or(NEVER, |&label| own(t, u)[label]);
        // There is nothing from outside of the lattice.
        let rest = |behind: &[f64], t: usize, u: usize| match t < time && u < ends {
            true => behind[t * ends + u],
            false => NEVER,
        };
        let (mut before, mut behind) = (vec![NEVER; time * ends], vec![NEVER; time * ends]);
        for at in 0..time * ends {
            let (t, u) = (at / ends, at % ends);
            let waits = if t > 0 {
                before[at - ends] + blank(t - 1, u)
            } else {
                NEVER
            };
            let said = if u > 0 { before[at - 1] + emits(t, u - 1) } else { NEVER };
            before[at] = if at == 0 {
                0.0
            } else {
                log_sum([waits, said].into_iter())
            };
        }
        for at in (0..time * ends).rev() {
            let (t, u) = (at / ends, at % ends);
            let last = at + 1 == time * ends;
            let waits = blank(t, u) + if last { 0.0 } else { rest(&behind, t + 1, u) };
            behind[at] = log_sum([waits, emits(t, u) + rest(&behind, t, u + 1)].into_iter());
        }
        let total = behind[0];
        for (at, reached) in before.iter().enumerate() {
            let (t, u) = (at / ends, at % ends);
            // How probable the place is on a path, and the steps from it; labels count more if they are to be emitted early.
            let waits = blank(t, u)
                + if at + 1 == time * ends {
                    0.0
                } else {
                    rest(&behind, t + 1, u)
                };
            let waits = (reached + waits - total).exp();
            let said = (reached + emits(t, u) + rest(&behind, t, u + 1) - total).exp() * (1.0 + self.early);
            let slope = &mut slopes[begin(t, u)..begin(t, u) + classes];
            slope[self.blank] = -waits;
            if let Some(&label) = labels.get(u) {
                slope[label] = -said;
            }
        }
        -total
    }
}
