//! Gradients of programs from a trace.

use std::io::Write;

use pir_ir::{Module, OpView};

use super::custom::{Customs, no_marked_calls};
use super::run::Tracer;
use super::vjps::with_derivatives;
use super::{Engine, GradOptions, Tensor, has_rule};
use crate::exec::{ExecError, Options, entry, expanded, inputs_of};
use crate::kernels::Kernels;
use crate::tensor::Tensor as Dense;

/// A program that was run, with its history.
pub struct Trace {
    /// The engine that ran it.
    pub engine: Engine,
    /// The fetched values in order, by name.
    pub fetched: Vec<(String, Tensor)>,
    /// The results of the function.
    pub results: Vec<Tensor>,
    /// The float inputs without `stop_gradient`, in the order of the program.
    pub inputs: Vec<(String, Tensor)>,
}

/// The outputs and inputs to differentiate.
#[derive(Clone, Default, Debug)]
pub struct Targets {
    /// The names of fetched outputs; empty for all floats that are fetched or returned.
    pub of: Vec<String>,
    /// The names of inputs; empty for all.
    pub wrt: Vec<String>,
    /// A seed for each output, or one for all; empty for ones.
    pub seeds: Vec<f64>,
}

/// Runs a program and records it. The output of `pd.print` goes to `out`.
///
/// # Errors
/// As for [`run`](crate::run).
pub fn trace(module: &Module, options: &Options, out: &mut dyn Write) -> Result<Trace, ExecError> {
    let keep = |kernels: &Kernels, op: OpView<'_>| kernels.has(op.name()) && has_rule(op.name());
    // An operation with a derivative of its own may be part of the expansion of another.
    let has_own = |op: OpView<'_>| op.semantics().is_some_and(|semantics| semantics.has_vjp());
    let module = &*expanded(module, &|kernels, op| keep(kernels, op) || has_own(op), &|_| false)?;
    let module = &*with_derivatives(module, &|op| keep(Kernels::of(&module.ctx), op));
    let module = &*expanded(module, &keep, &|_| false)?;
    let engine = Engine::new(module.ctx.clone());
    let entry = entry(module, options.function.as_deref())?;
    no_marked_calls(module)?;
    let custom = Customs::of(module, options);
    let ran = Tracer::new(&engine, &entry, options, out, custom)?.run()?;
    let specs = inputs_of(module, options.function.as_deref())?;
    let inputs = specs.into_iter().filter_map(|spec| {
        let tensor = ran.inputs.get(&spec.name).filter(|t| !t.stop_gradient())?;
        Some((spec.name, tensor.clone()))
    });
    Ok(Trace {
        inputs: inputs.collect(),
        fetched: ran.fetched,
        results: ran.results,
        engine,
    })
}

impl Trace {
    /// The gradients of the sum of outputs, by the names of inputs. Without `create_graph` the history is consumed, so
    /// that gradients can be computed once.
    ///
    /// # Errors
    /// If there is no such output or input, or the engine cannot compute the gradient.
    pub fn gradients(&self, targets: &Targets, create_graph: bool) -> Result<Vec<(String, Tensor)>, String> {
        let outputs: Vec<Tensor> = if targets.of.is_empty() {
            let fetched = self.fetched.iter().map(|(_, tensor)| tensor);
            let floats = fetched.chain(&self.results).filter(|t| t.dtype().is_float());
            floats.cloned().collect()
        } else {
            let find = |name: &String| {
                let found = self.fetched.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone());
                found.ok_or_else(|| format!("nothing is fetched under the name `{name}`"))
            };
            targets.of.iter().map(find).collect::<Result<_, _>>()?
        };
        let inputs: Vec<(String, Tensor)> = if targets.wrt.is_empty() {
            self.inputs.clone()
        } else {
            let find = |name: &String| {
                let found = self.inputs.iter().find(|(n, _)| n == name).cloned();
                found.ok_or_else(|| format!("there is no float input called `{name}`"))
            };
            targets.wrt.iter().map(find).collect::<Result<_, _>>()?
        };
        if outputs.is_empty() || inputs.is_empty() {
            return Err("there is nothing to differentiate".to_owned());
        }
        let grads = self.of(&outputs, &inputs, &targets.seeds, create_graph)?;
        Ok(inputs.into_iter().map(|(name, _)| name).zip(grads).collect())
    }

    /// Gradients of all orders up to `order`. Those of order `k + 1` are gradients of the weighted sum of those of
    /// order `k`, with one weight per input; a single weight is used for all inputs, and no weight means ones.
    ///
    /// # Errors
    /// As for [`Trace::gradients`].
    pub fn orders(
        &self,
        targets: &Targets,
        weights: &[f64],
        order: usize,
    ) -> Result<Vec<Vec<(String, Dense)>>, String> {
        let mut current = self.gradients(targets, true)?;
        let mut all = Vec::new();
        for _ in 1..order {
            all.push(values(&current));
            let outputs: Vec<Tensor> = current.iter().map(|(_, tensor)| tensor.clone()).collect();
            let find = |name: &str| self.inputs.iter().find(|(n, _)| n == name).cloned();
            let inputs: Vec<(String, Tensor)> = current.iter().filter_map(|(name, _)| find(name)).collect();
            let grads = self.of(&outputs, &inputs, weights, true)?;
            current = inputs.into_iter().map(|(name, _)| name).zip(grads).collect();
        }
        all.push(values(&current));
        Ok(all)
    }

    /// Gradients with seeds; zeros if an output does not depend on an input.
    fn of(
        &self,
        outputs: &[Tensor],
        inputs: &[(String, Tensor)],
        seeds: &[f64],
        create_graph: bool,
    ) -> Result<Vec<Tensor>, String> {
        if seeds.len() > 1 && seeds.len() != outputs.len() {
            return Err(format!(
                "expected 1 seed, or 1 for each of the {1} outputs, found {0}",
                seeds.len(),
                outputs.len()
            ));
        }
        let seed = |(at, output): (usize, &Tensor)| {
            let number = seeds.get(at).or(seeds.first()).copied().unwrap_or(1.0);
            Ok(Some(Tensor::new(Dense::full(&output.shape(), output.dtype(), number)?)))
        };
        let seeds = outputs
            .iter()
            .enumerate()
            .map(seed)
            .collect::<Result<Vec<_>, String>>()?;
        let leaves: Vec<Tensor> = inputs.iter().map(|(_, tensor)| tensor.clone()).collect();
        let options = GradOptions {
            create_graph,
            allow_unused: true,
            ..GradOptions::default()
        };
        let found = self.engine.grad(outputs, &leaves, &seeds, options)?;
        let zeros = |leaf: &Tensor| Dense::full(&leaf.shape(), leaf.dtype(), 0.0).map(Tensor::new);
        let grads = found
            .into_iter()
            .zip(&leaves)
            .map(|(grad, leaf)| grad.map_or_else(|| zeros(leaf), Ok));
        grads.collect()
    }
}

fn values(grads: &[(String, Tensor)]) -> Vec<(String, Dense)> {
    grads.iter().map(|(name, grad)| (name.clone(), grad.data())).collect()
}
