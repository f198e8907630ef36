//! Compares derivatives with central differences.
//!
//! The program is turned into `f64`. Its differentiated copy gives, for every input, the gradient of the sum of all
//! elements of all float outputs. The same sum is then computed for every element of every input a little above and
//! a little below its value.

use std::collections::HashSet;
use std::fmt::Write;

use pir_interp::{DType, InputSpec, Options, Outcome, Tensor};
use pir_ir::{Diagnostic, Module};
use pir_passes::Pipeline;

use super::promote::to_f64;
use crate::driver::{RunOptions, run_passes};

/// The cube root of the precision of an `f64`: where the errors of rounding and of the difference are equally small.
const STEP: f64 = 6e-6;

/// The comparison for one input.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// How many elements were compared.
    pub elements: usize,
    /// The largest difference.
    pub absolute: f64,
    /// The largest difference in relation to the gradient.
    pub relative: f64,
    /// The element with the largest error: its index, gradient and difference quotient.
    pub worst: Option<(usize, f64, f64)>,
    /// The shape, to tell the index.
    pub shape: Vec<usize>,
    /// Whether all errors are small enough.
    pub good: bool,
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
    /// After so many operations a run is given up.
    pub max_steps: Option<u64>,
    /// More bytes than this a run may not take.
    pub max_memory: Option<u64>,
}

impl Check<'_> {
    /// Compares the gradients of all inputs that have one, at the given values.
    ///
    /// # Errors
    /// The program cannot be differentiated or run.
    pub fn run(&self, values: &[Tensor]) -> Result<Vec<Row>, Vec<Diagnostic>> {
        let mut primal = self.module.clone();
        to_f64(&mut primal);
        let mut adjoint = primal.clone();
        let options = RunOptions {
            verify: Some(Default::default()),
            observers: Vec::new(),
        };
        run_passes(&mut adjoint, &Pipeline::parse("backward")?, options)?;

        let mut values: Vec<Tensor> = values.iter().map(promoted).collect();
        let forward = self.execute(&primal, &values)?;
        let gradients = Gradients::new(&forward, self.execute(&adjoint, &values)?);
        let constant = without_gradient(self.module);
        let mut rows = Vec::new();
        let mut arguments = 0;
        for at in 0..values.len() {
            let name = &self.inputs[at].name;
            if values[at].dtype() != DType::F64 || constant.contains(name.as_str()) {
                continue;
            }
            let gradient = match gradients.of(name, arguments) {
                Some(tensor) => tensor.to_f64(),
                // What is not there has to be zero.
                None => vec![0.0; values[at].len()],
            };
            arguments += 1;
            let mut row = Row::new(name, &values[at]);
            let original = values[at].clone();
            for index in 0..original.len() {
                let numbers = original.to_f64();
                let step = STEP * numbers[index].abs().max(1.0);
                let moved = |to: f64| {
                    let mut numbers = numbers.clone();
                    numbers[index] = to;
                    Tensor::new(original.shape(), numbers).map_err(|e| vec![Diagnostic::error("input-mismatch", e)])
                };
                let (above, below) = (numbers[index] + step, numbers[index] - step);
                values[at] = moved(above)?;
                let high = self.execute(&primal, &values)?;
                values[at] = moved(below)?;
                let low = self.execute(&primal, &values)?;
                let quotient = difference(&high, &low) / (above - below);
                row.compare(
                    index,
                    gradient.get(index).copied().unwrap_or(f64::NAN),
                    quotient,
                    self.tolerance,
                );
            }
            values[at] = original;
            rows.push(row);
        }
        Ok(rows)
    }

    fn execute(&self, module: &Module, values: &[Tensor]) -> Result<Outcome, Vec<Diagnostic>> {
        let names = self.inputs.iter().map(|input| input.name.clone());
        let options = Options {
            function: self.function.map(str::to_owned),
            inputs: names.zip(values.iter().cloned()).collect(),
            max_steps: self.max_steps,
            max_memory: self.max_memory,
            ..Options::default()
        };
        // What it prints would be printed twice for every element.
        pir_interp::run(module, &options, &mut std::io::sink()).map_err(|e| vec![e.into_diagnostic()])
    }
}

/// The same numbers as `f64`, if they are floats.
fn promoted(tensor: &Tensor) -> Tensor {
    if tensor.dtype().is_float() {
        tensor.cast(DType::F64)
    } else {
        tensor.clone()
    }
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

/// By how much the sum of the float outputs differs. Element by element, since the sums may be much larger.
fn difference(high: &Outcome, low: &Outcome) -> f64 {
    let floats = |outcome: &Outcome| -> Vec<f64> {
        let fetched = outcome.fetched.iter().map(|(_, tensor)| tensor);
        let floats = fetched
            .chain(&outcome.results)
            .filter(|tensor| tensor.dtype().is_float());
        floats.flat_map(Tensor::to_f64).collect()
    };
    floats(high).iter().zip(floats(low)).map(|(h, l)| h - l).sum()
}

impl Row {
    fn new(name: &str, value: &Tensor) -> Self {
        Row {
            name: name.to_owned(),
            elements: value.len(),
            absolute: 0.0,
            relative: 0.0,
            worst: None,
            shape: value.shape().to_vec(),
            good: true,
        }
    }

    fn compare(&mut self, index: usize, gradient: f64, quotient: f64, tolerance: f64) {
        let absolute = (gradient - quotient).abs();
        let size = gradient.abs().max(quotient.abs());
        // Of tiny gradients the error counts as it is.
        let relative = if absolute == 0.0 { 0.0 } else { absolute / size.max(1.0) };
        self.good &= relative <= tolerance;
        let worse = |new: f64, old: f64| new > old || new.is_nan() && !old.is_nan();
        if self.worst.is_none() || worse(relative, self.relative) {
            self.worst = Some((index, gradient, quotient));
        }
        for (old, new) in [(&mut self.absolute, absolute), (&mut self.relative, relative)] {
            if worse(new, *old) {
                *old = new;
            }
        }
    }

    fn worst_text(&self) -> String {
        let Some((index, gradient, quotient)) = self.worst else {
            return "-".to_owned();
        };
        let mut rest = index;
        let mut place: Vec<String> = Vec::with_capacity(self.shape.len());
        for &extent in self.shape.iter().rev() {
            place.push((rest % extent.max(1)).to_string());
            rest /= extent.max(1);
        }
        place.reverse();
        format!("[{}]: {gradient:?}, differences say {quotient:?}", place.join(", "))
    }
}

/// The comparison as a table.
pub fn table(rows: &[Row]) -> String {
    let mut cells = vec![
        [
            "input",
            "elements",
            "max abs error",
            "max rel error",
            "",
            "worst element",
        ]
        .map(str::to_owned),
    ];
    for row in rows {
        cells.push([
            row.name.clone(),
            row.elements.to_string(),
            format!("{:.2e}", row.absolute),
            format!("{:.2e}", row.relative),
            if row.good { "ok" } else { "WRONG" }.to_owned(),
            row.worst_text(),
        ]);
    }
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut out = String::new();
    for row in &cells {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = match column {
                1..=3 => write!(line, "{cell:>width$}  ", width = widths[column]),
                _ => write!(line, "{cell:<width$}  ", width = widths[column]),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row::new("x", &Tensor::full(&[2, 3], DType::F64, 0.0).unwrap())
    }

    #[test]
    fn errors_are_found() {
        let mut right = row();
        right.compare(0, 1.0, 1.0 + 1e-9, 1e-6);
        right.compare(1, 1e6, 1e6 + 1e-3, 1e-6);
        right.compare(2, 0.0, 1e-8, 1e-6);
        assert!(right.good);
        assert_eq!(right.worst.map(|w| w.0), Some(2));
        let mut wrong = row();
        wrong.compare(4, 1.0, 1.1, 1e-6);
        wrong.compare(5, 1.0, 1.0, 1e-6);
        assert!(!wrong.good);
        let mut nan = row();
        nan.compare(3, f64::NAN, 1.0, 1e-6);
        nan.compare(4, 2.0, 1.0, 1e-6);
        assert!(!nan.good && nan.relative.is_nan());
        assert_eq!(
            table(&[right, wrong, nan]),
            "\
input  elements  max abs error  max rel error         worst element
x             6        1.00e-3        1.00e-8  ok     [0, 2]: 0.0, differences say 1e-8
x             6        1.00e-1        9.09e-2  WRONG  [1, 1]: 1.0, differences say 1.1
x             6            NaN            NaN  WRONG  [1, 0]: NaN, differences say 1.0
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
