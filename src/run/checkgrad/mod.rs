//! Compares derivatives with differences, and tells what is wrong from what cannot be told.
//!
//! The program is turned into `f64`. Its differentiated copy gives, for every input, the gradient of the sum of all
//! elements of all float outputs. The same sum is then differentiated numerically ([`estimate`]) in every element of
//! every input, or along random directions where there are many; runs that take other ways through the program than the
//! one in question do not count. A gradient is wrong when it is off by more than the numbers may be, in two series of
//! steps; when it is not, and they may be off by more than is asked for, nothing can be told. Forward mode is asked too.

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

/// Of inputs with more elements, not all are compared.
const MANY: usize = 2048;
/// Along so many random directions they are compared, and in so many elements.
const SAMPLES: usize = 24;
/// By how much gradients and tangents may differ, in relation to the terms of the sum.
const ROUNDING: f64 = 1e-9;

/// What a comparison says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The gradient is what the differences say.
    Ok,
    /// The differences do not say what it is.
    Inconclusive,
    /// It is not what they say.
    Wrong,
}

/// An element, or a direction, that was compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Worst {
    /// Which element; none for a direction.
    pub index: Option<usize>,
    /// What the gradient is.
    pub gradient: f64,
    /// What the differences say.
    pub estimate: Option<Estimate>,
    /// Why nothing can be told.
    pub reason: Option<String>,
}

/// The comparison for one input.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// How many elements it has.
    pub elements: usize,
    /// How many directions, and how many elements, were compared in place of all elements.
    pub directions: Option<(usize, usize)>,
    /// The largest difference.
    pub absolute: f64,
    /// The largest difference in relation to the gradient.
    pub relative: f64,
    /// The element with the largest error.
    pub worst: Option<Worst>,
    /// What there is to say besides.
    pub note: Option<String>,
    /// The shape, to tell the index.
    pub shape: Vec<usize>,
    /// The worst of the verdicts.
    pub verdict: Verdict,
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// The program.
    pub module: &'a Module,
    /// The function to run, if one was asked for.
    pub function: Option<&'a str>,
    /// The inputs.
    pub inputs: &'a [InputSpec],
    /// The largest relative error that is small enough.
    pub tolerance: f64,
    /// All elements are compared, however many there are.
    pub full: bool,
    /// The first that is wrong is enough: nothing behind it is compared.
    pub one: bool,
    /// After so many operations a run is given up.
    pub max_steps: Option<u64>,
}

impl Check<'_> {
    /// Compares the gradients of all inputs that have one, at the given values.
    ///
    /// # Errors
    /// The program cannot be differentiated or run.
    pub fn run(&self, values: &[Tensor]) -> Result<Vec<Row>, Vec<Diagnostic>> {
        let mut adjoint = self.in_f64();
        run_passes(
            &mut adjoint,
            &Pipeline::parse("inline{max-size=1000000},backward")?,
            verified(),
        )?;
        self.compare(&adjoint, values)
    }

    /// The program as it is compared.
    pub fn in_f64(&self) -> Module {
        let mut primal = self.module.clone();
        // The constants in what an operation computes are of the types that it was written for. What cannot be expanded is told
        // when it is differentiated.
        let _ = expand_composites(&mut primal, &|op| {
            let narrow = |ty| op.ctx.is_float(ty) && op.ctx.elem_type(ty) != Type::F64;
            let mut types = op.body.operands(op.op).map(|value| op.body.value_type(value));
            op.semantics().is_some_and(|semantics| semantics.has_vjp()) || !types.any(narrow)
        });
        to_f64(&mut primal);
        primal
    }

    /// Compares gradients that a program computes, which does what [`in_f64`](Self::in_f64) does and more.
    ///
    /// # Errors
    /// One of both cannot be run.
    pub fn compare(&self, adjoint: &Module, values: &[Tensor]) -> Result<Vec<Row>, Vec<Diagnostic>> {
        let primal = self.in_f64();
        let failed = |error: ExecError| vec![error.into_diagnostic()];
        // Once, not in each run.
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
        run_passes(&mut inlined, &Pipeline::parse("inline{max-size=1000000}")?, verified())?;
        let tangents = Tangents::new(self, &inlined, active.len(), before);
        let base = Base::new(forward);
        let detaches = has_detach(&inlined);
        let mut rows = Vec::new();
        progress::start("comparing with differences");
        for (argument, &at) in active.iter().enumerate() {
            let gradient = match gradients.of(&self.inputs[at].name, argument) {
                Some(tensor) => tensor.to_f64(),
                // What is not there has to be zero.
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
                // What is detached changes with the input all the same: differences see that, and the gradient must not.
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
        // What it prints would be printed for every step.
        pir_interp::run(module, &options, &mut std::io::sink()).map_err(|e| vec![e.into_diagnostic()])
    }
}

fn verified() -> RunOptions<'static> {
    RunOptions {
        verify: Some(Default::default()),
        observers: Vec::new(),
    }
}

/// The run that others are compared with.
struct Base {
    outputs: Vec<f64>,
    /// What the outputs add up to without their signs.
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

    /// By how much the sum of the outputs of another run differs; nothing if that run took another way. Element by
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
            // Infinities too, which masks are made of.
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

/// An input whose gradient is compared.
struct Input<'a> {
    check: &'a Check<'a>,
    primal: &'a Module,
    base: &'a Base,
    values: &'a [Tensor],
    at: usize,
    original: Vec<f64>,
    gradient: Vec<f64>,
}

/// The largest power of two that is not above a number: adding it rounds least.
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

    /// A random direction, in relation to the values: powers of two, with signs.
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
        // Where the program fails, it is not defined.
        let outcome = self.check.execute(self.primal, &values, Vec::new()).ok()?;
        self.base.change(&outcome)
    }

    /// Compares the derivative along a direction.
    fn along(&self, direction: &[(usize, f64)]) -> Judged {
        let part = |&(index, v): &(usize, f64)| self.gradient.get(index).map_or(f64::NAN, |g| g * v);
        let gradient: f64 = direction.iter().map(part).sum();
        let terms: f64 = direction.iter().map(|d| part(d).abs()).sum();
        // The size of the step in relation to the values.
        let ratio = |&(index, v): &(usize, f64)| self.original[index].abs() / v.abs();
        let scale = direction.iter().map(ratio).fold(0.0, f64::max);
        let first = power_below(0.02 * scale.max(1.0));
        let least = direction.iter().map(ratio).fold(f64::INFINITY, f64::min) * 1e-15;
        let tolerance = self.check.tolerance;
        let rounding = 1e-13 * terms;
        // Where terms cancel, they were rounded before: about as large as what the other elements do.
        let others = match direction {
            [_] => self.largest() * scale.min(1e150),
            _ => terms,
        };
        let noise = f64::EPSILON * if others.is_finite() { others } else { 0.0 };
        let parts = direction.iter().map(|&(index, _)| self.original[index].abs());
        let inside = parts.fold(self.base.size, f64::max);
        let sizes = Sizes {
            // Below this, differences are nothing but rounding.
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
        // Near a pole, or the edge of a domain, all these steps may be too large for a small value: those in proportion to
        // it tell then, if they agree exactly.
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
        // What is called wrong has to be so with other steps as well.
        let again = judge(gradient, &estimated(first * 0.6875, inside, noise), tolerance, sizes);
        judged.confirmed(again, inside)
    }

    /// The largest part of the gradient.
    fn largest(&self) -> f64 {
        let sizes = self.gradient.iter().map(|g| g.abs());
        sizes.filter(|g| g.is_finite()).fold(0.0, f64::max)
    }

    /// Compares with what forward mode says along a direction in this input.
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
                "along a direction, forward mode says {tangent:?}, `backward` {sum:?}"
            ));
            // One of two derivatives that are exact is wrong, unless there is none.
            let kink = row.worst.as_ref().is_some_and(|worst| worst.reason.is_some());
            if !(row.verdict == Verdict::Inconclusive && kink) {
                row.verdict = Verdict::Wrong;
            }
        }
        Ok(())
    }
}

/// Pseudo-random bits, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}

/// The same numbers as `f64`, if they are floats.
fn promoted(tensor: &Tensor) -> Result<Tensor, Vec<Diagnostic>> {
    match tensor.dtype().is_float() {
        true => tensor
            .cast(DType::F64)
            .map_err(|e| vec![Diagnostic::error("memory", e)]),
        false => Ok(tensor.clone()),
    }
}

/// Whether a value is detached somewhere.
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

/// The names of inputs that say that they have no gradient.
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

/// What the differentiated program gives beyond the program itself.
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

    /// The gradient of an input. It is fetched as `NAME_grad`, with a number behind it where that name was taken;
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

    /// Takes in what was found of an element or a direction.
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
x             6        1.00e-8        5.00e-9  ok            [0, 2]: 2.0, differences say 2.00000001 ± 1e-12
x             6         3.00e0        7.50e-1  WRONG         [1, 1]: 1.0, differences say 1.5 ± 1e-12
x             6         8.00e0         1.00e0  inconclusive  [0, 0]: 0.0, differences say 0.5 ± 1e-12; a kink
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
