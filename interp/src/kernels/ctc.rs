//! Connectionist temporal classification: minus the logarithm of the probability of all paths that become the labels when repetitions
//! and blanks are omitted (A. Graves et al., 2006), and its derivative.

use pir_dialects::pd;
use smallvec::smallvec;

use super::{Kernel, Prepare, Spec, take};
use crate::tensor::Tensor;

pub(super) const KERNELS: &[(&str, Prepare)] = &[(pd::Warpctc::NAME, warpctc)];

const LENGTHS: &str = "`pd.warpctc` without the lengths of logits and labels is not supported";

/// The loss of each sequence, and its derivative by the logits, which are of [time, batch, classes].
fn warpctc(s: &Spec<'_>) -> Result<Kernel, String> {
    let blank = usize::try_from(s.int("blank", 0)).map_err(|_| "`blank` cannot be negative")?;
    if s.place(2).is_none() || s.place(3).is_none() {
        return Err(LENGTHS.to_owned());
    }
    Ok(Box::new(move |inputs| {
        let [logits, labels, times, lengths] = take(inputs)?;
        let (&[time, batch, classes], &[_, most]) = (logits.shape(), labels.shape()) else {
            return Err(LENGTHS.to_owned());
        };
        let (values, all, times, lengths) = (logits.to_f64(), labels.to_i64(), times.to_i64(), lengths.to_i64());
        if blank >= classes || all.len() != batch * most || times.len() != batch || lengths.len() != batch {
            return Err("the shapes of logits, labels and lengths do not match".to_owned());
        }
        let (mut losses, mut slopes) = (vec![0.0; batch], vec![0.0; values.len()]);
        for at in 0..batch {
            let within = |n: i64, most: usize| usize::try_from(n).ok().filter(|&n| n <= most);
            let (Some(steps), Some(length)) = (within(times[at], time), within(lengths[at], most)) else {
                return Err("a length must be from 0 to the extent of the tensor".to_owned());
            };
            let own = &all[at * most..at * most + length];
            let label = |&n: &i64| usize::try_from(n).ok().filter(|&n| n < classes && n != blank);
            let own: Option<Vec<usize>> = own.iter().map(label).collect();
            let own = own.ok_or("a label is `blank`, or out of range")?;
            let line = |t: usize| (t * batch + at) * classes;
            let lines: Vec<Vec<f64>> = (0..steps)
                .map(|t| log_softmax(&values[line(t)..line(t) + classes]))
                .collect();
            let (loss, slope) = sequence(&lines, &own, blank);
            losses[at] = loss;
            for (t, slope) in slope.iter().enumerate() {
                slopes[line(t)..line(t) + classes].copy_from_slice(slope);
            }
        }
        Ok(smallvec![
            Tensor::new(&[batch, 1], losses)?.cast(logits.dtype())?,
            Tensor::new(logits.shape(), slopes)?.cast(logits.dtype())?
        ])
    }))
}

fn log_softmax(line: &[f64]) -> Vec<f64> {
    let largest = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = line.iter().map(|x| (x - largest).exp()).sum::<f64>().ln() + largest;
    line.iter().map(|x| x - sum).collect()
}

/// The logarithm of a sum of exponentials.
pub(super) fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    match largest == f64::NEG_INFINITY {
        true => largest,
        false => terms.map(|x| (x - largest).exp()).sum::<f64>().ln() + largest,
    }
}

/// The loss of a sequence of log-probabilities, and its derivative with respect to the logits; zeros if there is no
/// path, as in PaddlePaddle.
fn sequence(lines: &[Vec<f64>], labels: &[usize], blank: usize) -> (f64, Vec<Vec<f64>>) {
    const NEVER: f64 = f64::NEG_INFINITY;
    // Blanks around and between the labels.
    let states: Vec<usize> = (0..2 * labels.len() + 1)
        .map(|s| if s % 2 == 0 { blank } else { labels[s / 2] })
        .collect();
    let count = states.len();
    let skips = |s: usize| s >= 2 && s < count && s % 2 == 1 && states[s] != states[s - 2];
    let (mut before, mut behind) = (
        vec![vec![NEVER; count]; lines.len()],
        vec![vec![NEVER; count]; lines.len()],
    );
    for t in 0..lines.len() {
        for s in 0..count {
            let sum = match t {
                0 => {
                    if s < 2 {
                        0.0
                    } else {
                        NEVER
                    }
                }
                _ => {
                    let last = &before[t - 1];
                    let one = if s >= 1 { last[s - 1] } else { NEVER };
                    log_sum([last[s], one, if skips(s) { last[s - 2] } else { NEVER }].into_iter())
                }
            };
            before[t][s] = sum + lines[t][states[s]];
        }
    }
    for t in (0..lines.len()).rev() {
        for s in 0..count {
            behind[t][s] = match lines.get(t + 1) {
                None => {
                    if s + 2 >= count {
                        0.0
                    } else {
                        NEVER
                    }
                }
                Some(next) => {
                    let from = |s: usize| behind[t + 1].get(s).map_or(NEVER, |sum| sum + next[states[s]]);
                    log_sum([from(s), from(s + 1), if skips(s + 2) { from(s + 2) } else { NEVER }].into_iter())
                }
            };
        }
    }
    let total = before
        .last()
        .map_or(NEVER, |last| log_sum(last[count.saturating_sub(2)..].iter().copied()));
    if total == NEVER {
        return (0.0, lines.iter().map(|line| vec![0.0; line.len()]).collect());
    }
    let slope = |(t, line): (usize, &Vec<f64>)| {
        let mut slope: Vec<f64> = line.iter().map(|x| x.exp()).collect();
        for (s, &class) in states.iter().enumerate() {
            slope[class] -= (before[t][s] + behind[t][s] - total).exp();
        }
        slope
    };
    (-total, lines.iter().enumerate().map(slope).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path without repetitions, and then without blanks.
    fn collapsed(path: &[usize], blank: usize) -> Vec<usize> {
        let first = |at: usize| at == 0 || path[at - 1] != path[at];
        let kept = (0..path.len()).filter(|&at| path[at] != blank && first(at));
        kept.map(|at| path[at]).collect()
    }

    #[test]
    fn losses_are_those_of_all_paths() {
        let classes = 3usize;
        for (steps, blank, labels) in [
            (4u32, 0, vec![1, 2]),
            (3, 0, vec![2, 2]),
            (5, 2, vec![0, 1, 0]),
            (2, 1, vec![]),
        ] {
            let lines: Vec<Vec<f64>> = (0..steps)
                .map(|t| log_softmax(&[0, 1, 2].map(|c| f64::from(3 * t + c).sin())))
                .collect();
            let mut sum = 0.0;
            let mut through = vec![vec![0.0; classes]; lines.len()];
            for number in 0..classes.pow(steps) {
                let path: Vec<usize> = (0..steps).map(|t| number / classes.pow(t) % classes).collect();
                if collapsed(&path, blank) != labels {
                    continue;
                }
                let probability: f64 = path.iter().zip(&lines).map(|(&c, line)| line[c].exp()).product();
                sum += probability;
                path.iter()
                    .zip(&mut through)
                    .for_each(|(&c, all)| all[c] += probability);
            }
            let (loss, slopes) = sequence(&lines, &labels, blank);
            assert!((loss + sum.ln()).abs() < 1e-12, "{labels:?}: {loss}");
            for ((slope, through), line) in slopes.iter().zip(&through).zip(&lines) {
                for c in 0..classes {
                    let wanted = line[c].exp() - through[c] / sum;
                    assert!((slope[c] - wanted).abs() < 1e-12, "{labels:?}: {} {wanted}", slope[c]);
                }
            }
        }
        // Two equal labels need a blank between them.
        let lines = vec![log_softmax(&[0.0; 3]); 2];
        assert_eq!(sequence(&lines, &[1, 1], 0), (0.0, vec![vec![0.0; 3]; 2]));
    }
}
