//! `lower-affine` and `convert-linalg-to-loops`: express operations of `affine` and `linalg` by their compositions.

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
        "Lower `affine` to `scf`, `arith` and `memref`"
    }

    fn description(&self) -> &'static str {
        "Replaces loops, branches, loads and stores whose bounds, conditions and indices are affine maps with those of \
         `scf` and `memref`, and the maps with arithmetic. `affine.parallel` becomes sequential loops. `backward` and \
         `pir-run` apply this lowering automatically."
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
        "Lower `linalg` to loops over elements"
    }

    fn description(&self) -> &'static str {
        "Replaces `linalg.generic`, `map`, `reduce`, `transpose`, `broadcast`, and named operations such as `matmul`, \
         `fill`, convolutions and pooling with `scf` loops over elements. On buffers, the loops load and store \
         elements. On tensors, they carry the tensor as an iteration argument; the pass of the same name in mlir-opt \
         does not accept tensors. `backward` and `pir-run` apply this lowering automatically."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        lower(module, "linalg")
    }
}
