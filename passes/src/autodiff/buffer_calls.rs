//! Calls that take or give buffers of floats: they are inlined in what is differentiated.
//!
//! An adjoint function would have to take the shadows of all buffers that the called function sees. So the copy that is differentiated gets
//! the body in the place of the call, and with it the calls in there; functions that call themselves stay, and are refused
//! ([`memory`](super::memory)).

use pir_dialects::marks::ADJOINT_OF;
use pir_ir::{Body, Context, Module, OpId, Sym};
use rustc_hash::{FxHashMap, FxHashSet};

use super::functions::{functions, plain_calls};

use super::memory::is_buffer;
use crate::cse::cse;
use crate::inline::{growth, inline_block, recursive_functions};

/// Inlines them in all copies at the outermost level.
pub(super) fn inline(module: &mut Module) {
    let ctx = module.ctx.clone();
    if !module.body.has_isolated() {
        return;
    }
    let copies = module.body.walk_all();
    let copies: Vec<OpId> = copies
        .filter(|&op| ADJOINT_OF.get(&ctx, module.body.attrs(op)).is_some())
        .collect();
    let takes_buffers = |&copy: &OpId| {
        let inner = module.body.isolated(copy);
        inner.is_some_and(|inner| with_buffers(&ctx, inner).next().is_some())
    };
    if !copies.iter().any(takes_buffers) {
        return;
    }
    let recursive: FxHashSet<OpId> = recursive_functions(module).into_iter().collect();
    let functions: FxHashMap<Sym, OpId> = functions(&ctx, &module.body)
        .into_iter()
        .filter(|(_, op)| !recursive.contains(op) && !copies.contains(op))
        .collect();
    let bodies = functions.values().filter_map(|&op| module.body.isolated(op));
    let mut room = growth(bodies.map(Body::num_ops).sum());
    for copy in copies {
        let before = room;
        let mut left: FxHashSet<Sym> = FxHashSet::default();
        // An inlined body may contain calls too.
        loop {
            let calls = module.body.isolated(copy).map(|inner| {
                let calls = with_buffers(&ctx, inner);
                let calls = calls.filter(|(_, name)| functions.contains_key(name) && !left.contains(name));
                calls.collect::<Vec<_>>()
            });
            let calls = calls.unwrap_or_default();
            if calls.is_empty() {
                break;
            }
            for (call, name) in calls {
                let Some(from) = module.body.take_isolated(functions[&name]) else {
                    left.insert(name);
                    continue;
                };
                let size = from.num_ops();
                let inlined = size <= room
                    && from.single_block(from.root()).is_some()
                    && module
                        .body
                        .isolated_mut(copy)
                        .is_some_and(|to| inline_block(&ctx, to, call, &from));
                module.body.set_isolated(functions[&name], from);
                match inlined {
                    true => room -= size,
                    false => drop(left.insert(name)),
                }
            }
        }
        // `dot(x, x)` loads each element twice, and would record both.
        if room < before
            && let Some(inner) = module.body.isolated_mut(copy)
        {
            cse(&ctx, inner);
        }
    }
}

/// The calls with a buffer of floats.
fn with_buffers(ctx: &Context, body: &Body) -> impl Iterator<Item = (OpId, Sym)> {
    plain_calls(ctx, body).filter(|&(call, _)| {
        let mut values = body.operands(call).chain(body.results(call));
        values.any(|value| is_buffer(ctx, body.value_type(value)))
    })
}
