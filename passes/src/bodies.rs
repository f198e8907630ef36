//! Running over the bodies of a module.

use pir_ir::{Body, Context, Diagnostic, Module, Traits, pays_off_on_threads};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::pass::Changed;

/// Analyses of a body with as few operations are not kept for the next pass: computing them again takes less time than the memory of
/// thousands of such bodies.
pub(crate) const FEW_OPS: usize = 64;

type Outcome = Result<Changed, Vec<Diagnostic>>;
type Each<'f> = &'f (dyn Fn(&Context, &mut Body) -> Outcome + Sync);

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
    each_body(module, &f, false)
}

/// The same for an `f` that does nothing but change bodies: if it leaves one as it is, it is not run on others that are the same. In
/// debug builds it is, to see whether it leaves them too.
///
/// # Errors
/// When `f` fails for a body.
pub(crate) fn for_each_different_body_mut(
    module: &mut Module,
    f: impl Fn(&Context, &mut Body) -> Result<Changed, Vec<Diagnostic>> + Sync,
) -> Result<Changed, Vec<Diagnostic>> {
    each_body(module, &f, true)
}

fn each_body(module: &mut Module, f: Each<'_>, different: bool) -> Result<Changed, Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut changed = Changed::No;
    let mut errors = Vec::new();
    let mut level: Vec<&mut Body> = vec![&mut module.body];
    while !level.is_empty() {
        let one = |body: &mut Body| {
            let result = f(&ctx, body);
            if body.num_op_slots() <= FEW_OPS {
                body.drop_analyses();
            }
            result
        };
        let results = match different {
            true => map_different_bodies(&mut level, &one),
            false => map_bodies(&mut level, one),
        };
        for result in results {
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

/// How many bodies are given to a thread at once at most: they are compared with each other.
const MAX_CHUNK: usize = 256;

/// The results of `f` for some bodies, in order. What is the same as one that `f` left as it is counts as left as well.
fn map_different_bodies(bodies: &mut [&mut Body], f: &(dyn Fn(&mut Body) -> Outcome + Sync)) -> Vec<Outcome> {
    let map = |bodies: &mut [&mut Body]| -> Vec<Outcome> {
        let mut left: FxHashMap<u64, usize> = FxHashMap::default();
        let each = (0..bodies.len()).map(|at| {
            let fingerprint = bodies[at].fingerprint();
            let other = fingerprint.and_then(|fingerprint| left.get(&fingerprint));
            let is_left = other.is_some_and(|&other| bodies[at].is_same_as(bodies[other]));
            if is_left && !cfg!(debug_assertions) {
                return Ok(Changed::No);
            }
            let outcome = f(bodies[at]);
            debug_assert!(
                !is_left || outcome == Ok(Changed::No),
                "a pass treats bodies that are the same differently"
            );
            if let (Some(fingerprint), Ok(Changed::No)) = (fingerprint, &outcome) {
                left.insert(fingerprint, at);
            }
            outcome
        });
        each.collect()
    };
    match pays_off_on_threads(bodies.iter().map(|body| body.num_op_slots())) {
        true => {
            let chunk = bodies.len() / (8 * rayon::current_num_threads());
            let chunks = bodies.par_chunks_mut(chunk.clamp(1, MAX_CHUNK));
            chunks.flat_map_iter(map).collect()
        }
        false => map(bodies),
    }
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

#[cfg(test)]
mod tests {
    use pir_ir::text;

    use crate::{PassManager, Pipeline};

    #[test]
    fn bodies_that_are_the_same_are_treated_alike() {
        let function = |name: &str, arg: &str, twice: bool| {
            let (again, last) = if twice {
                ("  %again = pd.add (%ARG, %ARG)\n", "%again")
            } else {
                ("", "%sum")
            };
            let again = again.replace("%ARG", arg);
            let ty = "tensor<2xf32>";
            format!(
                "func.func @{name}({arg}: {ty}) -> {ty} {{\n  %sum = pd.add ({arg}, {arg}) : {ty}\n{again}  \
                 %out = pd.multiply ({last}, {arg}) : {ty}\n  func.return (%out)\n}}\n"
            )
        };
        let program = |twice: bool| {
            let names = [
                ("f", "%x", false),
                ("g", "%y", false),
                ("h", "%x", twice),
                ("k", "%y", twice),
            ];
            names.map(|(name, arg, twice)| function(name, arg, twice)).concat()
        };
        let parsed = text::parse(&pir_dialects::context(), program(true).as_bytes(), &Default::default());
        assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
        let mut module = parsed.module;
        let pipeline = Pipeline::parse("cse,licm,canonicalize").unwrap();
        PassManager::new().run(&mut module, &pipeline).unwrap();
        assert_eq!(text::print(&module, &Default::default()), program(false));
    }
}
