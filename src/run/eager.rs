//! Gradients by the eager engine.

use std::collections::HashSet;
use std::io::Write;

use pir_interp::eager::{Targets, trace};
use pir_interp::{ExecError, Options, Tensor};
use pir_ir::{Diagnostic, Module};

/// Runs a program and differentiates the trace. Returns the outputs, then the gradients of their sum, named as by
/// `backward`.
pub(super) fn run(
    module: &Module,
    options: &Options,
    out: &mut dyn Write,
) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    let trace = trace(module, options, out).map_err(ExecError::into_diagnostic)?;
    let failed = |why: String| {
        Diagnostic::error(
            "no-gradient",
            format!("the eager engine cannot differentiate the program: {why}"),
        )
        .help("`pir-opt --pass=backward` names the operation without a derivative, and the path to it")
    };
    let grads = trace.gradients(&Targets::default(), false).map_err(failed)?;
    let mut all: Vec<(String, Tensor)> = trace.fetched.iter().map(|(name, t)| (name.clone(), t.data())).collect();
    all.extend(
        trace
            .results
            .iter()
            .enumerate()
            .map(|(at, t)| (format!("out:{at}"), t.data())),
    );
    let mut taken: HashSet<String> = all.iter().map(|(name, _)| name.clone()).collect();
    for (name, grad) in grads {
        let base = format!("{name}_grad");
        let numbered = (2..).map(|order| format!("{base}_{order}"));
        let name = std::iter::once(base.clone())
            .chain(numbered)
            .find(|n| !taken.contains(n));
        let name = name.unwrap_or(base);
        taken.insert(name.clone());
        all.push((name, grad.data()));
    }
    Ok(all)
}
