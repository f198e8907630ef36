//! Compares derivatives with finite differences, and separates wrong from undecidable results.
//!
//! The program is converted to `f64`. Its differentiated copy gives, for every input, the gradient of the sum of all
//! elements of all float outputs. The same sum is then differentiated numerically ([`estimate`]) in every element of
//! every input, or along random directions for large inputs; runs that take another path through the program do not
//! count. A gradient is wrong if its error exceeds the error bound in two series of steps; if it does not, but the
//! bound exceeds the tolerance, the comparison is inconclusive. Forward mode is compared too.

pub mod estimate;
mod forward;
mod judge;
mod table;
mod thunk;

use pir_dialects::pd;
use std::collections::HashSet;

use pir_interp::exec::Stats;
use pir_interp::{DType, ExecError, InputSpec, Options, Outcome, Tensor, runnable};
use pir_ir::{Diagnostic, Module, Type, expand_composites};
use pir_passes::Pipeline;

use super::promote::to_f64;
use crate::driver::{RunOptions, run_passes};
use crate::progress;
use estimate::{Change, Estimate, derivative};
use forward::Tangents;
use judge::{Judged, Sizes, judge};
pub use table::table;
pub use thunk::called;

/// Inputs with more elements are sampled.
const MANY: usize = 2048;
/// The number of random directions, and of elements, that are sampled.
const SAMPLES: usize = 24;
/// The relative difference allowed between gradients and tangents, with respect to the terms of the sum.
const ROUNDING: f64 = 1e-9;

/// The result of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The gradient agrees with the differences.
    Ok,
    /// The differences are not accurate enough.
    Inconclusive,
    /// The gradient disagrees with the differences.
    Wrong,
}

/// An element, or a direction, that was compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Worst {
    /// The element's index; `None` for a direction.
    pub index: Option<usize>,
    /// The gradient.
    pub gradient: f64,
    /// The estimate from differences.
    pub estimate: Option<Estimate>,
    /// Why the comparison is inconclusive.
    pub reason: Option<String>,
}

/// The comparison for one input.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The number of elements.
    pub elements: usize,
    /// The number of directions and elements that were sampled.
    pub directions: Option<(usize, usize)>,
    /// The largest absolute difference.
    pub absolute: f64,
    /// The largest relative difference.
    pub relative: f64,
    /// The element with the largest error.
    pub worst: Option<Worst>,
    /// An additional remark.
    pub note: Option<String>,
    /// The shape, for printing the index.
    pub shape: Vec<usize>,
    /// The worst of the verdicts.
    pub verdict: Verdict,
}

/// The parameters of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// The program.
    pub module: &'a Module,
    /// The function to run, if one is selected.
    pub function: Option<&'a str>,
    /// The inputs.
    pub inputs: &'a [InputSpec],
    /// The tolerance for relative errors.
    pub tolerance: f64,
    /// Compare all elements, even of large inputs.
    pub full: bool,
    /// Stop at the first wrong element.
    pub one: bool,
    /// The maximal number of operations per run.
    pub max_steps: Option<u64>,
}

impl Check<'_> {
    /// Compares the gradients of all inputs that have one, at the given values.
    ///
    /// # Errors
    /// If the program cannot be differentiated or run.
    pub fn run(&self, values: &[Tensor]) -> Result<Vec<Row>, Vec<Diagnostic>> {
        let mut adjoint = self.in_f64();
        run_passes(
            &mut adjoint,
            &Pipeline::parse("inline{always=true},backward")?,
            verified(),
        )?;
        self.compare(&adjoint, values)
    }

    /// The program to compare, in `f64`.
    pub fn in_f64(&self) -> Module {
        let mut primal = self.module.clone();
        // The constants in compositions have the types that they were written for, so compositions are expanded first.
        // Errors in that are reported by differentiation.
        let _ = expand_composites(&mut primal, &|op| {
            let narrow = |ty| op.ctx.is_float(ty) && op.ctx.elem_type(ty) != Type::F64;
            let mut types = op.body.operands(op.op).map(|value| op.body.value_type(value));
            op.semantics().is_some_and(|semantics| semantics.has_vjp()) || !types.any(narrow)
        });
        to_f64(&mut primal);
        primal
    }

    /// Compares the gradients computed by a program that extends [`in_f64`](Self::in_f64).
    ///
    /// # Errors
    /// If one of the two cannot be run.
    pub fn compare(&self, adjoint: &Module, values: &[Tensor]) -> Result<Vec<Row>, Vec<Diagnostic>> {
        let primal = self.in_f64();
        let failed = |error: ExecError| vec![error.into_diagnostic()];
        // Prepared once, not for each run.
        let primal = runnable(&primal).map_err(failed)?.into_owned();
        let adjoint = &*runnable(adjoint).map_err(failed)?;
        let values = values.iter().map(promoted).collect::<Result<Vec<Tensor>, _>>()?;
        let forward = self.execute(&primal, &values, Vec::new())?;
        let gradients = Gradients::new(&forward, self.execute(adjoint, &values, Vec::new())?);
        let constant = without_gradient(self.module);
        let is_active =
            |at: &usize| values[*at].dtype() == DType::F64 && !constant.contains(self.inputs[*at].name.as_str());
        let active: Vec<usize> = (0..values.len()).filter(is_active).collect();
        let before = (forward.fetched.len(), forward.results.len());
        let mut inlined = primal.clone();
        run_passes(&mut inlined, &Pipeline::parse("inline{always=true}")?, verified())?;
        let tangents = Tangents::new(self, &inlined, active.len(), before);
        let base = Base::new(forward);
        let detaches = has_detach(&inlined);
        let mut rows = Vec::new();
        progress::start("comparing with differences");
        for (argument, &at) in active.iter().enumerate() {
            let gradient = match gradients.of(&self.inputs[at].name, argument) {
                Some(tensor) => tensor.to_f64(),
                // A missing gradient means zero.
                None => vec![0.0; values[at].len()],
            };
            let input = Input {
                check: self,
                primal: &primal,
                base: &base,
                values: &values,
                at,
                original: values[at].to_f64(),
                gradient,
            };
            let mut row = input.row();
            if detaches && row.verdict == Verdict::Wrong {
                // Detached values still change with the input: differences include that, the gradient must not.
                row.verdict = Verdict::Inconclusive;
                row.note = Some("differences do not know of `pd.detach`".to_owned());
            }
            if let Some(tangents) = &tangents {
                input.compare_tangents(&mut row, tangents, &active)?;
            }
            let over = self.one && row.verdict == Verdict::Wrong;
            rows.push(row);
            if over {
                break;
            }
        }
        progress::finish();
        Ok(rows)
    }

    fn execute(
        &self,
        module: &Module,
        values: &[Tensor],
        more: Vec<(String, Tensor)>,
    ) -> Result<Outcome, Vec<Diagnostic>> {
        let names = self.inputs.iter().map(|input| input.name.clone());
        let options = Options {
            function: self.function.map(str::to_owned),
            inputs: names.zip(values.iter().cloned()).chain(more).collect(),
            max_steps: self.max_steps,
            ..Options::default()
        };
        // The output of `pd.print` is discarded, since the program runs once per step.
        pir_interp::run(module, &options, &mut std::io::sink()).map_err(|e| vec![e.into_diagnostic()])
    }
}

fn verified() -> RunOptions<'static> {
    RunOptions {
        verify: Some(Default::default()),
        observers: Vec::new(),
    }
}

/// The reference run.
struct Base {
    outputs: Vec<f64>,
    /// The sum of the absolute values of the outputs.
    size: f64,
    flow: Stats,
}

impl Base {
    fn new(outcome: Outcome) -> Self {
        let outputs = float_outputs(&outcome);
        Base {
            size: outputs.iter().map(|v| v.abs()).filter(|v| v.is_finite()).sum(),
            outputs,
            flow: outcome.stats,
        }
    }

    /// The change of the sum of the outputs in another run; `None` if that run took another path. Computed element by
    /// element, since the sums may be much larger.
    fn change(&self, outcome: &Outcome) -> Option<Change> {
        let same_way = |(a, b): (&pir_interp::exec::LoopStats, &pir_interp::exec::LoopStats)| {
            (a.entered, a.iterations, &a.trip_counts) == (b.entered, b.iterations, &b.trip_counts)
        };
        let outputs = float_outputs(outcome);
        if outcome.stats.executions != self.flow.executions
            || !outcome.stats.loops.iter().zip(&self.flow.loops).all(same_way)
            || outputs.len() != self.outputs.len()
        {
            return None;
        }
        let mut change = Change { value: 0.0, noise: 0.0 };
        for (&new, &old) in outputs.iter().zip(&self.outputs) {
            // Also infinities, which are used in masks.
            if new != old {
                change.value += new - old;
                change.noise += f64::EPSILON * new.abs().max(old.abs());
            }
        }
        change.value.is_finite().then_some(change)
    }
}

fn float_outputs(outcome: &Outcome) -> Vec<f64> {
    let fetched = outcome.fetched.iter().map(|(_, tensor)| tensor);
    let all = fetched.chain(&outcome.results);
    all.filter(|tensor| tensor.dtype().is_float())
        .flat_map(Tensor::to_f64)
        .collect()
}

/// An input with its gradient.
struct Input<'a> {
    check: &'a Check<'a>,
    primal: &'a Module,
    base: &'a Base,
    values: &'a [Tensor],
    at: usize,
    original: Vec<f64>,
    gradient: Vec<f64>,
}

/// The largest power of two up to a number: adding it rounds least.
fn power_below(value: f64) -> f64 {
    let power = value.log2().floor();
    if power.is_finite() { power.exp2() } else { 1.0 }
}

impl Input<'_> {
    fn row(&self) -> Row {
        let name = &self.check.inputs[self.at].name;
        let mut row = Row::new(name, &self.values[self.at]);
        let count = self.original.len();
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15 ^ count as u64);
        let (directions, elements): (usize, Vec<usize>) = if count <= MANY || self.check.full {
            (0, (0..count).collect())
        } else {
            let elements: Vec<usize> = (0..SAMPLES).map(|_| numbers.next() as usize % count).collect();
            row.directions = Some((SAMPLES, SAMPLES));
            (SAMPLES, elements)
        };
        let all = directions + elements.len();
        for done in 0..directions {
            progress::count(done, all, || {
                format!("`{name}`, direction {} of {directions}", done + 1)
            });
            let direction = self.direction(&mut numbers);
            row.take(None, self.along(&direction));
        }
        for (done, &index) in elements.iter().enumerate() {
            progress::count(directions + done, all, || {
                format!("`{name}`, {done} of {} elements", elements.len())
            });
            row.take(Some(index), self.along(&[(index, 1.0)]));
            if self.check.one && row.verdict == Verdict::Wrong {
                break;
            }
        }
        row
    }

    /// A random direction, scaled with the values: signed powers of two.
    fn direction(&self, numbers: &mut Numbers) -> Vec<(usize, f64)> {
        let largest = self
            .original
            .iter()
            .map(|v| v.abs())
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        let least = if largest == 0.0 { 1.0 } else { 1e-3 * largest };
        let part = |(index, value): (usize, &f64)| {
            let bits = numbers.next();
            let size = power_below(value.abs().max(least)) * [0.5, 1.0][(bits >> 1 & 1) as usize];
            (index, if bits & 1 == 0 { size } else { -size })
        };
        self.original.iter().enumerate().map(part).collect()
    }

    fn moved(&self, direction: &[(usize, f64)], by: f64) -> Option<Change> {
        let mut numbers = self.original.clone();
        for &(index, part) in direction {
            numbers[index] += by * part;
        }
        let mut values = self.values.to_vec();
        values[self.at] = Tensor::new(self.values[self.at].shape(), numbers).ok()?;
        // Where the program fails, the function is undefined.
        let outcome = self.check.execute(self.primal, &values, Vec::new()).ok()?;
        self.base.change(&outcome)
    }

    /// Compares the derivative along a direction.
    fn along(&self, direction: &[(usize, f64)]) -> Judged {
        let part = |&(index, v): &(usize, f64)| self.gradient.get(index).map_or(f64::NAN, |g| g * v);
        let gradient: f64 = direction.iter().map(part).sum();
        let terms: f64 = direction.iter().map(|d| part(d).abs()).sum();
        // The ratio of the step to the value.
        let ratio = |&(index, v): &(usize, f64)| self.original[index].abs() / v.abs();
        let scale = direction.iter().map(ratio).fold(0.0, f64::max);
        let first = power_below(0.02 * scale.max(1.0));
        let least = direction.iter().map(ratio).fold(f64::INFINITY, f64::min) * 1e-15;
        let tolerance = self.check.tolerance;
        let rounding = 1e-13 * terms;
        // Cancelling terms were rounded before: estimate their magnitude from the other elements.
        let others = match direction {
            [_] => self.largest() * scale.min(1e150),
            _ => terms,
        };
        let noise = f64::EPSILON * if others.is_finite() { others } else { 0.0 };
        let parts = direction.iter().map(|&(index, _)| self.original[index].abs());
        let inside = parts.fold(self.base.size, f64::max);
        let sizes = Sizes {
            // Below this, differences consist of rounding errors.
            floor: (self.base.size / scale.max(1.0)).max(self.largest()),
            base: self.base.size / scale.max(1.0),
            rounding,
            inside,
        };
        let estimated = |first: f64, inside: f64, noise: f64| {
            derivative(
                |by| {
                    let mut change = self.moved(direction, by)?;
                    change.noise = change.noise.max(noise);
                    Some(change)
                },
                first,
                least,
                inside,
                |estimate| judge::agrees(gradient, estimate, tolerance, rounding),
            )
        };
        let found = estimated(first, inside, noise);
        let judged = judge(gradient, &found, tolerance, sizes);
        if judged.verdict == Verdict::Ok {
            return judged;
        }
        // Near a pole, or the edge of a domain, all these steps may be too large for a small value: then steps
        // proportional to the value decide, if they agree exactly.
        if let &[(index, _)] = direction
            && self.original[index] != 0.0
            && self.original[index].abs() < 1e-3
        {
            let size = self.original[index].abs();
            let by_itself = size * gradient.abs();
            let close = estimated(
                power_below(0.02 * size),
                by_itself.max(size),
                f64::EPSILON * by_itself.min(1e300),
            );
            if close
                .central
                .is_some_and(|e| judge::agrees(gradient, e, tolerance, 0.0))
            {
                return judge(gradient, &close, tolerance, sizes);
            }
        }
        if judged.verdict != Verdict::Wrong {
            return judged;
        }
        // A wrong result must be confirmed with other steps.
        let again = judge(gradient, &estimated(first * 0.6875, inside, noise), tolerance, sizes);
        judged.confirmed(again, inside)
    }

    /// The largest absolute value in the gradient.
    fn largest(&self) -> f64 {
        let sizes = self.gradient.iter().map(|g| g.abs());
        sizes.filter(|g| g.is_finite()).fold(0.0, f64::max)
    }

    /// Compares with the forward-mode derivative along a direction in this input.
    fn compare_tangents(&self, row: &mut Row, tangents: &Tangents, active: &[usize]) -> Result<(), Vec<Diagnostic>> {
        let mut numbers = Numbers(0xD1B5_4A32_D192_ED03 ^ self.at as u64);
        let mut directions = Vec::with_capacity(active.len());
        let (mut sum, mut terms) = (0.0, 0.0);
        for &at in active {
            let mut direction = vec![0.0; self.values[at].len()];
            if at == self.at {
                for (index, v) in self.direction(&mut numbers) {
                    direction[index] = v;
                    let part = self.gradient.get(index).map_or(f64::NAN, |g| g * v);
                    sum += part;
                    terms += part.abs();
                }
            }
            let tensor = Tensor::new(self.values[at].shape(), direction);
            directions.push(tensor.map_err(|e| vec![Diagnostic::error("input-mismatch", e)])?);
        }
        let Some(tangent) = tangents.along(self.check, self.values, active, &directions) else {
            return Ok(());
        };
        if (tangent - sum).abs() <= ROUNDING * terms.max(tangent.abs()) + f64::EPSILON * self.base.size {
            return Ok(());
        }
        if sum.is_finite() {
            row.note = Some(format!(
                "along a direction, forward mode gives {tangent:?}, `backward` {sum:?}"
            ));
            // One of two exact derivatives is wrong, unless there is no derivative.
            let kink = row.worst.as_ref().is_some_and(|worst| worst.reason.is_some());
            if !(row.verdict == Verdict::Inconclusive && kink) {
                row.verdict = Verdict::Wrong;
            }
        }
        Ok(())
    }
}

/// A deterministic pseudo-random generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}

/// Converts a float tensor to `f64`.
fn promoted(tensor: &Tensor) -> Result<Tensor, Vec<Diagnostic>> {
    match tensor.dtype().is_float() {
        true => tensor
            .cast(DType::F64)
            .map_err(|e| vec![Diagnostic::error("memory", e)]),
        false => Ok(tensor.clone()),
    }
}

/// Whether the program contains `pd.detach`.
fn has_detach(module: &Module) -> bool {
    let mut pending = vec![&module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all() {
            if module.ctx.op_str(body.op_name(op)) == pd::Detach::NAME {
                return true;
            }
            pending.extend(body.isolated(op));
        }
    }
    false
}

/// The names of inputs with `stop_gradient`.
fn without_gradient(module: &Module) -> HashSet<&str> {
    let mut names = HashSet::new();
    let mut pending = vec![&module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all() {
            let view = body.view(&module.ctx, op);
            if view.bool("stop_gradient") == Some(true)
                && let Some(name) = view.str("name")
            {
                names.insert(name);
            }
            pending.extend(body.isolated(op));
        }
    }
    names
}

/// The additional outputs of the differentiated program.
struct Gradients {
    fetched: Vec<(String, Tensor)>,
    results: Vec<Tensor>,
}

impl Gradients {
    fn new(forward: &Outcome, mut both: Outcome) -> Self {
        let split = |length: usize, all: usize| length.min(all);
        Gradients {
            fetched: both.fetched.split_off(split(forward.fetched.len(), both.fetched.len())),
            results: both.results.split_off(split(forward.results.len(), both.results.len())),
        }
    }

    /// The gradient of an input. It is fetched as `NAME_grad`, with a number as suffix if that name was taken;
    /// functions return one for each float argument, in order.
    fn of(&self, name: &str, argument: usize) -> Option<&Tensor> {
        let is_it = |fetched: &str| {
            let rest = fetched.strip_prefix(name).and_then(|rest| rest.strip_prefix("_grad"));
            match rest {
                Some("") => true,
                Some(rest) => rest
                    .strip_prefix('_')
                    .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())),
                None => false,
            }
        };
        let fetched = self.fetched.iter().find(|(fetched, _)| is_it(fetched));
        fetched.map(|(_, tensor)| tensor).or_else(|| self.results.get(argument))
    }
}

impl Row {
    fn new(name: &str, value: &Tensor) -> Self {
        Row {
            name: name.to_owned(),
            elements: value.len(),
            directions: None,
            absolute: 0.0,
            relative: 0.0,
            worst: None,
            note: None,
            shape: value.shape().to_vec(),
            verdict: Verdict::Ok,
        }
    }

    /// Records the result for an element or a direction.
    fn take(&mut self, index: Option<usize>, judged: Judged) {
        let worse = |new: f64, old: f64| new > old || new.is_nan() && !old.is_nan();
        let worst = (judged.verdict, worse(judged.relative, self.relative));
        if self.worst.is_none() || worst.0 > self.verdict || worst.0 == self.verdict && worst.1 {
            self.worst = Some(Worst {
                index,
                gradient: judged.gradient,
                estimate: judged.estimate,
                reason: judged.reason,
            });
        }
        self.verdict = self.verdict.max(judged.verdict);
        for (old, new) in [
            (&mut self.absolute, judged.absolute),
            (&mut self.relative, judged.relative),
        ] {
            if worse(new, *old) {
                *old = new;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(all: &[(usize, Judged)]) -> Row {
        let mut row = Row::new("x", &Tensor::full(&[2, 3], DType::F64, 0.0).unwrap());
        for (index, judged) in all {
            row.take(Some(*index), judged.clone());
        }
        row
    }

    fn judged(gradient: f64, value: f64, verdict: Verdict) -> Judged {
        let absolute = (gradient - value).abs();
        Judged {
            verdict,
            gradient,
            estimate: Some(Estimate {
                value,
                error: 1e-12,
                step: 1.0,
            }),
            absolute,
            relative: absolute / value.abs(),
            reason: (verdict == Verdict::Inconclusive).then(|| "a kink".to_owned()),
        }
    }

    #[test]
    fn tables() {
        let right = row(&[
            (0, judged(1.0, 1.0, Verdict::Ok)),
            (2, judged(2.0, 2.00000001, Verdict::Ok)),
        ]);
        let off = judged(1.0, 1.5, Verdict::Wrong);
        let wrong = row(&[
            (3, judged(1.0, 4.0, Verdict::Inconclusive)),
            (4, off),
            (5, judged(1.0, 1.0, Verdict::Ok)),
        ]);
        let mut kink = row(&[
            (0, judged(0.0, 0.5, Verdict::Inconclusive)),
            (4, judged(1.0, 9.0, Verdict::Ok)),
        ]);
        kink.directions = Some((24, 24));
        assert_eq!(
            table(&[right, wrong, kink]),
            "\
input  elements  max abs error  max rel error                worst element
x             6        1.00e-8        5.00e-9  ok            [0, 2]: 2.0, differences give 2.00000001 ± 1e-12
x             6         3.00e0        7.50e-1  WRONG         [1, 1]: 1.0, differences give 1.5 ± 1e-12
x             6         8.00e0         1.00e0  inconclusive  [0, 0]: 0.0, differences give 0.5 ± 1e-12; a kink
`x` was compared along 24 random directions and in 24 of its 6 elements; `--check-grad=full` compares all
"
        );
    }

    #[test]
    fn gradients_are_found_by_name_or_position() {
        let gradients = Gradients {
            fetched: ["xy_grad", "x_grad_2", "y_grad"]
                .map(|name| (name.to_owned(), Tensor::scalar(name.len() as f64)))
                .into(),
            results: vec![Tensor::scalar(0.5)],
        };
        let found = |name| gradients.of(name, 0).map(|t| t.to_f64()[0]);
        assert_eq!(found("x"), Some(8.0));
        assert_eq!(found("y"), Some(6.0));
        assert_eq!(found("z"), Some(0.5));
        assert!(gradients.of("z", 1).is_none());
    }
}
