//! Running over the bodies of a module.

use pir_ir::{Body, Context, Diagnostic, Module};

use crate::pass::Changed;

/// Runs `f` on every body of the module: its own and those of isolated operations at any depth, outer ones first.
///
/// Bodies share nothing but the context, so `f` must not depend on the order: it is shared between threads when they
/// are worked on in parallel. All bodies are tried; the errors of all come back together.
///
/// # Errors
/// When `f` fails for a body.
pub fn for_each_body_mut(
    module: &mut Module,
    f: impl Fn(&Context, &mut Body) -> Result<Changed, Vec<Diagnostic>> + Sync,
) -> Result<Changed, Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut changed = Changed::No;
    let mut errors = Vec::new();
    let mut pending: Vec<&mut Body> = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        match f(&ctx, body) {
            Ok(c) => changed |= c,
            Err(e) => errors.extend(e),
        }
        let first = pending.len();
        pending.extend(body.isolated_bodies_mut());
        pending[first..].reverse();
    }
    if errors.is_empty() { Ok(changed) } else { Err(errors) }
}
