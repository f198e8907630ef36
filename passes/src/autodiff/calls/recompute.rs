//! Tapes are taken back: adjoint functions compute once more what they read.

use pir_ir::{Diagnostic, Module};

/// TODO
pub(crate) fn recompute(_module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    Ok(())
}
