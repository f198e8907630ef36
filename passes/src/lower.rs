//! `lower-affine` and `convert-linalg-to-loops`: operations of `affine` and `linalg` in terms of those that they are made of.

use pir_ir::{Diagnostic, Module, OpView, expand_composites};

use crate::bodies::atomically;
use crate::pass::{Changed, Pass, PassContext};

fn lower(module: &mut Module, dialect: &str) -> Result<Changed, Vec<Diagnostic>> {
    let is_other = |op: OpView<'_>| op.name().split_once('.').is_none_or(|(prefix, _)| prefix != dialect);
    Ok(atomically(module, |module| expand_composites(module, &is_other))?.into())
}

/// The pass `lower-affine`.
pub struct LowerAffine;

impl Pass for LowerAffine {
    fn name(&self) -> &'static str {
        "lower-affine"
    }

    fn summary(&self) -> &'static str {
        "Rewrite operations of `affine` into those of `scf`, `arith` and `memref`"
    }

    fn description(&self) -> &'static str {
        "Loops, branches, loads and stores whose bounds, conditions and places are maps become those of `scf` and `memref` with the \
         arithmetic of the maps. `affine.parallel` becomes loops that count. `backward` and `pir-run` do the same on their own."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        lower(module, "affine")
    }
}

/// The pass `convert-linalg-to-loops`.
pub struct LinalgToLoops;

impl Pass for LinalgToLoops {
    fn name(&self) -> &'static str {
        "convert-linalg-to-loops"
    }

    fn summary(&self) -> &'static str {
        "Rewrite operations of `linalg` into loops over elements"
    }

    fn description(&self) -> &'static str {
        "`linalg.generic`, `map`, `reduce`, `transpose`, `broadcast` and named operations, like `matmul`, `fill`, convolutions and \
         pooling, become loops of `scf` that count over elements: they load and store those of buffers, and carry tensors along, which \
         mlir-opt's pass of this name does not take. `backward` and `pir-run` do the same on their own."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        lower(module, "linalg")
    }
}
