//! Running over the bodies of a module.

use pir_ir::{Body, Context, Diagnostic, Module, Traits, pays_off_on_threads};
use rayon::prelude::*;

use crate::pass::Changed;

/// Analyses of a body with as few operations are not kept for the next pass: computing them again takes less time than the memory of
/// thousands of such bodies.
pub(crate) const FEW_OPS: usize = 64;

type Each<'f> = &'f (dyn Fn(&Context, &mut Body) -> Result<Changed, Vec<Diagnostic>> + Sync);

/// Runs `f` on every body of the module: its own and those of isolated operations at any depth, outer ones first.
/// Graphs are skipped: their operations are not ordered.
///
/// Bodies share nothing but the context, so `f` must not depend on the order: bodies at the same depth are shared out
/// among the threads of the pool that this is called in. All bodies are tried; the errors of all come back together.
///
/// # Errors
/// When `f` fails for a body.
pub fn for_each_body_mut(
    module: &mut Module,
    f: impl Fn(&Context, &mut Body) -> Result<Changed, Vec<Diagnostic>> + Sync,
) -> Result<Changed, Vec<Diagnostic>> {
    each_body(module, &f)
}

fn each_body(module: &mut Module, f: Each<'_>) -> Result<Changed, Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut changed = Changed::No;
    let mut errors = Vec::new();
    let mut level: Vec<&mut Body> = vec![&mut module.body];
    while !level.is_empty() {
        for result in map_bodies(&mut level, |body| {
            let result = f(&ctx, body);
            if body.num_op_slots() <= FEW_OPS {
                body.drop_analyses();
            }
            result
        }) {
            match result {
                Ok(c) => changed |= c,
                Err(e) => errors.extend(e),
            }
        }
        level = level
            .into_iter()
            .flat_map(|body| inner_bodies_mut(&ctx, body))
            .collect();
    }
    if errors.is_empty() { Ok(changed) } else { Err(errors) }
}

/// The versions of all bodies: another list if one has changed.
pub(crate) fn versions(module: &Module) -> Vec<u64> {
    let mut all = Vec::new();
    module.for_each_body(|body| all.push(body.version()));
    all
}

/// Runs what may fail after it has changed something: if it does, the module is as it was before.
///
/// # Errors
/// Those of `f`.
pub(crate) fn atomically<T, E>(module: &mut Module, f: impl FnOnce(&mut Module) -> Result<T, E>) -> Result<T, E> {
    let before = module.clone();
    f(module).inspect_err(|_| *module = before)
}

/// The bodies of the isolated operations directly in a body, but for those of graphs.
pub(crate) fn inner_bodies_mut<'b>(ctx: &'b Context, body: &'b mut Body) -> impl Iterator<Item = &'b mut Body> {
    let graph = |name| ctx.op_def(name).is_some_and(|def| def.has(Traits::GRAPH_REGION));
    body.isolated_ops_mut()
        .filter_map(move |(_, name, body)| (!graph(name)).then_some(body))
}

/// The results of `f` for some bodies, in order, on several threads if that pays off. It is compiled once for each
/// result type, not for each function.
pub(crate) fn map_bodies<R: Send>(bodies: &mut [&mut Body], f: impl Fn(&mut Body) -> R + Sync) -> Vec<R> {
    fn map<R: Send>(bodies: &mut [&mut Body], f: &(dyn Fn(&mut Body) -> R + Sync)) -> Vec<R> {
        match pays_off_on_threads(bodies.iter().map(|body| body.num_op_slots())) {
            true => bodies.par_iter_mut().map(|body| f(body)).collect(),
            false => bodies.iter_mut().map(|body| f(body)).collect(),
        }
    }
    map(bodies, &f)
}
