//! Compares derivatives with finite differences, and separates wrong from undecidable results.
//!
//! The program is converted to `f64`. Its differentiated copy gives, for every input, the gradient of the sum of all
//! elements of all float outputs. The same sum is then differentiated numerically ([`estimate`]) in every element of
//! every input, or along random directions for large inputs; runs that take another path through the program do not
//! count. A gradient is wrong if its error exceeds the error bound in two series of steps; if it does not, but the
//! bound exceeds the tolerance, the comparison is inconclusive. Forward mode is compared too.

pub mod estimate;
mod forward;
mod input;
mod judge;
mod numbers;
mod table;
mod thunk;

use pir_dialects::pd;
use std::collections::HashSet;

use pir_interp::exec::Stats;
use pir_interp::{DType, ExecError, InputSpec, Options, Outcome, Tensor, entry_name, function_names, runnable};
use pir_ir::{Diagnostic, Module, Type, expand_composites};
use pir_passes::Pipeline;

use super::promote::to_f64;
use crate::driver::{RunOptions, run_passes};
use crate::progress;
use estimate::{Change, Estimate};
use forward::Tangents;
use input::Input;
use judge::Judged;
pub use table::table;
pub use thunk::called;

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
        super::lower_gradients(&mut adjoint)?;
        self.compare(&adjoint, values)
    }

    /// The program to compare, in `f64`.
    pub fn in_f64(&self) -> Module {
        let mut primal = self.module.clone();
        // The constants in compositions have the types that they were written for, so compositions are expanded first.
        // Errors in that are reported by differentiation.
        let _ = expand_composites(&mut primal, &|op| {
            let wide = [Type::F64, op.ctx.complex_type(Type::F64)];
            let narrow = |ty| op.ctx.is_continuous(ty) && !wide.contains(&op.ctx.elem_type(ty));
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
        let copy = self.derived(&primal, adjoint);
        let both = Check {
            function: copy.as_deref().or(self.function),
            ..*self
        };
        let gradients = Gradients::new(&forward, both.execute(adjoint, &values, Vec::new())?);
        let constant = without_gradient(self.module);
        let is_active = |at: &usize| {
            let has_gradient = match values[*at].dtype() {
                DType::F64 => true,
                // Only functions have gradients in complex numbers.
                DType::C128 => !gradients.results.is_empty(),
                _ => false,
            };
            has_gradient && !constant.contains(self.inputs[*at].name.as_str())
        };
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
                Some(tensor) => numbers::of_gradient(tensor),
                // A missing gradient means zero.
                None => vec![0.0; numbers::of(&values[at]).len()],
            };
            let input = Input {
                check: self,
                primal: &primal,
                base: &base,
                values: &values,
                at,
                original: numbers::of(&values[at]),
                gradient,
            };
            let mut row = input.row();
            if detaches && row.verdict == Verdict::Wrong {
                // Detached values still change with the input: differences include that, the gradient must not.
                row.verdict = Verdict::Inconclusive;
                row.note = Some("differences ignore `pd.detach`".to_owned());
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

    /// The function with the gradients, if it is appended after the checked one, which does not change.
    fn derived(&self, primal: &Module, adjoint: &Module) -> Option<String> {
        let name = entry_name(primal, self.function)?;
        let before = function_names(primal);
        let mut after = function_names(adjoint).into_iter().skip_while(|other| *other != name);
        after
            .nth(1)
            .filter(|other| other.starts_with(&format!("{name}_grad")) && !before.contains(other))
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
    // For complex numbers, the real part is summed.
    all.filter(|tensor| tensor.dtype().is_float() || tensor.dtype().is_complex())
        .flat_map(Tensor::to_f64)
        .collect()
}

/// Converts a float tensor to `f64`.
fn promoted(tensor: &Tensor) -> Result<Tensor, Vec<Diagnostic>> {
    let wide = match tensor.dtype() {
        dtype if dtype.is_float() => DType::F64,
        dtype if dtype.is_complex() => DType::C128,
        _ => return Ok(tensor.clone()),
    };
    tensor.cast(wide).map_err(|e| vec![Diagnostic::error("memory", e)])
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
            elements: numbers::shape(value).iter().product(),
            directions: None,
            absolute: 0.0,
            relative: 0.0,
            worst: None,
            note: None,
            shape: numbers::shape(value),
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
