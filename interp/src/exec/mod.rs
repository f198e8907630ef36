//! The structured executor.
//!
//! A body is compiled once: operations become instructions, values become slots of an environment, and attributes are
//! part of prepared kernels. A block knows the operation around it, so that the machine needs no stack of regions: they may be nested as
//! deep as they like. The last use moves a value out of its slot, which lets kernels overwrite unshared buffers; a few small values stay
//! in their slots, and those of the next iteration are written over them.

pub(crate) mod apply;
pub(crate) mod buffers;
mod chain;
mod chains;
pub(crate) mod compile;
mod entry;
mod error;
mod flow;
mod fuse;
mod inputs;
mod last_uses;
mod late;
mod machine;
pub(crate) mod memory;
mod options;
mod profile;
pub(crate) mod program;
mod shortcuts;
pub(crate) mod slots;
mod stacks;
mod stats;
pub(crate) mod value;

use std::borrow::Cow;
use std::io::Write;
use std::time::{Duration, Instant};

use pir_dialects::mlir::{has_vectors, scf};
use pir_ir::{Module, OpView, expand_composites_but, has_composites};

use crate::kernels::Kernels;

pub(crate) use crate::kernels::count_flops;
pub(crate) use entry::{Entry, entry, functions, path_to_top, top_level};
pub use entry::{entry_name, function_names};
pub use error::ExecError;
pub use inputs::{InputSpec, inputs_of};
pub(crate) use inputs::{check_input, input_name, input_spec};
pub use late::{Lower, Lowering, is_late};
pub use options::{Options, Outcome};
pub use profile::{Profile, Row};
pub use stats::{LoopStats, Stats};
pub use value::Value;

/// The program with operations that have no kernel replaced by their compositions. Those that cannot be expanded while their shapes are
/// unknown stay.
///
/// # Errors
/// If a composition cannot be expanded.
pub fn runnable(module: &Module) -> Result<Cow<'_, Module>, ExecError> {
    expanded(module, &is_executed, &is_late)
}

/// Whether an operation is executed as it is, without an expansion.
fn is_executed(kernels: &Kernels, op: OpView<'_>) -> bool {
    // Loops in no order run as loops that count.
    kernels.has(op.name()) || op.name().starts_with("scf.") && !matches!(op.name(), scf::PARALLEL | scf::FORALL)
}

/// The same for all operations except those for which `keep` returns true; those for which `may_stay` does are left if they cannot be expanded.
pub(crate) fn expanded<'m>(
    module: &'m Module,
    keep: &dyn Fn(&Kernels, OpView<'_>) -> bool,
    may_stay: &dyn Fn(OpView<'_>) -> bool,
) -> Result<Cow<'m, Module>, ExecError> {
    if !module.ctx.has_composites() {
        return Ok(Cow::Borrowed(module));
    }
    // Vectors that are no tensors have no expansion; they may be in functions that are not run.
    let keep = |op: OpView<'_>| keep(Kernels::of(&module.ctx), op) || has_vectors(op);
    if !has_composites(module, &keep) {
        return Ok(Cow::Borrowed(module));
    }
    let mut expanded = module.clone();
    match expand_composites_but(&mut expanded, &keep, may_stay) {
        Ok(_) => Ok(Cow::Owned(expanded)),
        Err(errors) => {
            let first = errors.into_iter().next();
            Err(first.map_or_else(|| ExecError::new("an operation has no expansion"), ExecError::from))
        }
    }
}

/// Runs a program. The output of `pd.print` goes to `out`.
///
/// # Errors
/// The error, with its place.
pub fn run(module: &Module, options: &Options, out: &mut dyn Write) -> Result<Outcome, ExecError> {
    run_timed(module, options, out).map(|(outcome, _)| outcome)
}

/// The same, with the time from the beginning until the first operation is executed.
///
/// # Errors
/// As for [`run`].
pub fn run_timed(module: &Module, options: &Options, out: &mut dyn Write) -> Result<(Outcome, Duration), ExecError> {
    let start = Instant::now();
    let module = &*runnable(module)?;
    let entry = entry(module, options.function.as_deref())?;
    let mut compiled = machine::Compiled::new(&module.ctx, &entry, options)?;
    let machine = machine::Machine::new(&module.ctx, &entry, &mut compiled, options, out)?;
    let compiling = start.elapsed();
    Ok((machine.run()?, compiling))
}
