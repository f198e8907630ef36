//! Forward-mode derivatives for comparison: they need no steps.

use std::collections::HashSet;

use pir_interp::{Tensor, inputs_of};
use pir_ir::Module;
use pir_passes::Pipeline;

use super::Check;
use crate::driver::{RunOptions, run_passes};

/// The program after the pass `jvp`, if it computes tangents for all inputs with gradients.
pub(super) struct Tangents {
    module: Module,
    /// The names of the directions, one per input with a gradient.
    names: Vec<String>,
    /// How many values the program itself fetches and returns.
    before: (usize, usize),
}

impl Tangents {
    /// `None` if forward mode lacks a rule: then only differences are compared.
    pub(super) fn new(check: &Check<'_>, module: &Module, active: usize, before: (usize, usize)) -> Option<Self> {
        let mut module = module.clone();
        let options = RunOptions {
            verify: Some(Default::default()),
            observers: Vec::new(),
        };
        run_passes(&mut module, &Pipeline::parse("jvp").ok()?, options).ok()?;
        let known: HashSet<&str> = check.inputs.iter().map(|input| input.name.as_str()).collect();
        let inputs = inputs_of(&module, check.function).ok()?;
        let names = inputs.into_iter().map(|input| input.name);
        let names: Vec<String> = names.filter(|name| !known.contains(name.as_str())).collect();
        (names.len() == active).then_some(Tangents { module, names, before })
    }

    /// The derivative of the sum of the float outputs along `directions`, one for each input with a gradient.
    pub(super) fn along(
        &self,
        check: &Check<'_>,
        values: &[Tensor],
        active: &[usize],
        directions: &[Tensor],
    ) -> Option<f64> {
        debug_assert_eq!(active.len(), directions.len());
        let directions = self.names.iter().cloned().zip(directions.iter().cloned());
        let outcome = check.execute(&self.module, values, directions.collect()).ok()?;
        let fetched = outcome.fetched.iter().skip(self.before.0).map(|(_, tensor)| tensor);
        let tangents = fetched.chain(outcome.results.iter().skip(self.before.1));
        let sum: f64 = tangents.flat_map(Tensor::to_f64).sum();
        sum.is_finite().then_some(sum)
    }
}
