//! Derivatives of calls: `@f.augmented` computes the results of `@f` and records, `@f.adjoint` reads the records.
//!
//! `@f.augmented` takes the arguments of `@f`, and returns its results and a stack, its *tape*, with everything that
//! the adjoint reads. `@f.adjoint` takes the tape and the cotangents of the float results of `@f`; it returns the
//! cotangents of the float arguments. All calls of `@f` that a derivative passes through share the two functions,
//! including recursive calls; nothing is inlined or computed twice. For a loop or a branch around a call, the handle of
//! the tape is an ordinary local and is recorded.
//!
//! The first step of `backward` makes `@f.augmented`, a copy of `@f` that returns an empty tape, and redirects the
//! calls. The second step differentiates it like any function with cotangents as arguments, and [splits](split) it in
//! two.
//!
//! `@f` and its callees must have no effects other than access to buffers. `@f.adjoint` takes the shadows of the
//! buffers that `@f` takes, after the cotangents ([`memory`](super::memory)). For the second step, these
//! functions and calls are marked.

mod recompute;
mod split;

use std::borrow::Cow;

use pir_dialects::cf;
use pir_dialects::func;
use pir_dialects::marks::{ADJOINT, ADJOINT_FUNCTION, ADJOINT_OF, AUGMENTED, PRIMAL};
use pir_ir::{
    Attr, AttrData, Body, Context, Mark, Module, OpId, Rewriter, Sym, Traits, Type, TypeData, ValueId, ValueMap,
};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::recompute::recompute;
use super::functions::{callee, is_adjoint, is_kept, is_mlir, plain_calls};
use super::memory::{changes_buffers, is_buffer};
use super::mlir::{has_derivative, mlir_functions};
use super::naming::free_name;
use super::targets::{self, UnitKind};
use crate::bodies::inner_bodies_mut;
use crate::cfg::lift_copy;

/// Copies the functions called by the differentiated code, and redirects the calls to the copies.
pub(super) fn copy_called(module: &mut Module) {
    let ctx = module.ctx.clone();
    let mut scopes: FxHashMap<Vec<OpId>, Vec<Option<OpId>>> = FxHashMap::default();
    for unit in targets::units(module) {
        match (unit.kind, unit.path.split_last()) {
            (UnitKind::Function, Some((&function, scope))) => {
                scopes.entry(scope.to_vec()).or_default().push(Some(function));
            }
            _ => scopes.entry(unit.path.clone()).or_default().push(None),
        }
    }
    let mut scopes: Vec<_> = scopes.into_iter().collect();
    scopes.sort();
    for (path, units) in scopes {
        if let Some(body) = targets::body_at(module, &path) {
            copy_in(&ctx, body, units);
        }
    }
}

/// The same in one symbol table; no symbol represents its own contents.
fn copy_in(ctx: &Context, scope: &mut Body, mut pending: Vec<Option<OpId>>) {
    let calls_some = |unit: &Option<OpId>| {
        let inner = unit.map_or(Some(&*scope), |op| scope.isolated(op));
        inner.is_some_and(|inner| plain_calls(ctx, inner).next().is_some())
    };
    if !pending.iter().any(calls_some) {
        return;
    }
    // Also the names of adjoints that are not there yet: `stack-locals` may have run before.
    let names = scope.walk_all().flat_map(|op| {
        let adjoint = ADJOINT_FUNCTION.symbol(ctx, scope.attrs(op));
        let own = scope.view(ctx, op).str("sym_name");
        own.into_iter().chain(adjoint.map(|name| ctx.str(name)))
    });
    let mut taken: FxHashSet<String> = names.map(str::to_owned).collect();
    let mut functions: FxHashMap<Sym, OpId> = FxHashMap::default();
    // A call that reads or changes something would do so once more, and find it changed.
    let quiet = quiet_functions(ctx, scope);
    for op in scope.walk_all() {
        let view = scope.view(ctx, op);
        // The shadow of a buffer that is returned would be one that the adjoint takes before it is made.
        let is_known = match view.ty("function_type").map(|ty| ctx.type_data(ty)) {
            Some(TypeData::Function { results, .. }) => !results.iter().any(|&ty| is_buffer(ctx, ty)),
            _ => false,
        };
        if is_known && view.has(Traits::FUNCTION) && has_derivative(view) && func::custom_vjp(view).is_none() {
            let name = view.str("sym_name").map(|name| ctx.sym(name));
            functions.extend(name.filter(|name| quiet.contains(name)).map(|name| (name, op)));
        }
    }
    let of_mlir = mlir_functions(ctx, scope);
    let mut made: FxHashMap<Sym, Option<Made>> = FxHashMap::default();
    while let Some(unit) = pending.pop() {
        let inner = unit.map_or(Some(&*scope), |op| scope.isolated(op));
        let calls: Vec<_> = inner.map_or_else(Vec::new, |inner| plain_calls(ctx, inner).collect());
        for (call, name) in calls {
            let Some(&function) = functions.get(&name) else {
                continue;
            };
            let made = made.entry(name).or_insert_with(|| {
                let (copy, made) = copy(ctx, scope, (function, of_mlir.contains(&function)), name, &mut taken)?;
                pending.push(Some(copy));
                Some(made)
            });
            let Some(made) = *made else { continue };
            let inner = match unit {
                Some(op) => scope.isolated_mut(op),
                None => Some(&mut *scope),
            };
            if let Some(inner) = inner {
                augment(ctx, inner, call, made);
            }
        }
    }
}

/// The body of a function as a single block, if its blocks can be merged.
fn one_block<'b>(ctx: &Context, inner: &'b Body) -> Option<Cow<'b, Body>> {
    if inner.single_block(inner.root()).is_some() {
        return Some(Cow::Borrowed(inner));
    }
    let mut lifted = inner.clone();
    let is_lifted =
        inner.entry_block(inner.root()).is_some() && is_mlir(ctx, inner) && lift_copy(ctx, &mut lifted).is_ok();
    (is_lifted && lifted.single_block(lifted.root()).is_some()).then_some(Cow::Owned(lifted))
}

/// The functions that a call is differentiated by.
#[derive(Clone, Copy)]
struct Made {
    primal: Attr,
    augmented: Attr,
    adjoint: Attr,
}

/// Lets a call give a tape.
fn augment(ctx: &Context, body: &mut Body, call: OpId, made: Made) {
    let mut r = Rewriter::new(ctx, body);
    let results: Vec<ValueId> = r.body.results(call).collect();
    let mut types: Vec<Type> = results.iter().map(|&v| r.body.value_type(v)).collect();
    types.push(cf::stack_type(ctx));
    let operands = r.body.operands_vec(call);
    let new = r.recreate(call, &operands, &types);
    for (at, old) in results.into_iter().enumerate() {
        let result = r.body.result(new, at);
        r.replace_and_rename(old, result);
    }
    r.erase_op(call);
    let tape = r.body.result(new, types.len() - 1);
    r.name(tape, "tape");
    let attrs = ctx.dict_with(r.body.attrs(new), "callee", made.augmented);
    let attrs = AUGMENTED.set(ctx, attrs, made.primal);
    let attrs = ADJOINT.set(ctx, attrs, made.adjoint);
    r.body.set_attrs(new, attrs);
}

/// Restores the original callees of calls whose tape is unused.
pub(super) fn forget_unread(ctx: &Context, body: &mut Body) {
    let marked = |op: OpId| Some((op, AUGMENTED.get(ctx, body.attrs(op))?));
    for (op, primal) in body.walk_all().filter_map(marked).collect::<Vec<_>>() {
        let Some(tape) = body.results(op).next_back().filter(|&tape| !body.has_uses(tape)) else {
            continue;
        };
        let kept: Vec<usize> = (0..body.results(op).position(|v| v == tape).unwrap_or(0)).collect();
        let call = Rewriter::new(ctx, body).keep_results(op, &kept);
        let attrs = ctx.dict_with(body.attrs(call), "callee", primal);
        body.set_attrs(call, ADJOINT.remove(ctx, AUGMENTED.remove(ctx, attrs)));
    }
}

fn copy(
    ctx: &Context,
    scope: &mut Body,
    (function, of_mlir): (OpId, bool),
    name: Sym,
    taken: &mut FxHashSet<String>,
) -> Option<(OpId, Made)> {
    let lifted = match one_block(ctx, scope.isolated(function)?)? {
        Cow::Owned(lifted) => Some(lifted),
        Cow::Borrowed(_) => None,
    };
    let base = ctx.str(name);
    let [augmented, adjoint] = ["augmented", "adjoint"].map(|part| free_name(&format!("{base}.{part}"), taken));
    let symbol = |name: &str| ctx.attr(AttrData::Symbol([ctx.sym(name)].into()));
    let mut r = Rewriter::new(ctx, scope);
    r.after(function);
    let copy = r.clone_op(function, &mut ValueMap::new());
    let mut attrs = ctx.dict_with(r.body.attrs(copy), "sym_name", ctx.str_attr(&augmented));
    attrs = ctx.dict_with(attrs, "sym_visibility", ctx.str_attr("private"));
    attrs = ADJOINT_FUNCTION.set(ctx, attrs, symbol(&adjoint));
    if is_kept(ctx, r.body, function) {
        attrs = PRIMAL.remove(ctx, attrs);
    }
    if of_mlir {
        attrs = ADJOINT_OF.set(ctx, attrs, ctx.str_attr(base));
    }
    r.body.set_attrs(copy, attrs);
    if let Some(lifted) = lifted {
        r.body.set_isolated(copy, lifted);
    }
    add_tape(ctx, r.body, copy);
    let made = Made {
        primal: symbol(base),
        augmented: symbol(&augmented),
        adjoint: symbol(&adjoint),
    };
    Some((copy, made))
}

/// Lets a function give an empty stack.
fn add_tape(ctx: &Context, scope: &mut Body, function: OpId) {
    let ty = scope
        .view(ctx, function)
        .ty("function_type")
        .map(|ty| ctx.type_data(ty));
    let Some(TypeData::Function { inputs, results }) = ty else {
        return;
    };
    let end = |inner: &Body| inner.last_op(inner.single_block(inner.root())?);
    if let Some(inner) = scope.isolated_mut(function)
        && let Some(end) = end(inner)
    {
        let mut r = Rewriter::new(ctx, inner);
        let tape = r.before(end).op(cf::CREATE_STACK).result(cf::stack_type(ctx)).value();
        r.name(tape, "tape");
        let at = r.body.num_operands(end);
        r.body.insert_operands(end, at, &[tape]);
    }
    let results = [results, &[cf::stack_type(ctx)][..]].concat();
    func::set_type(ctx, scope, function, inputs, &results);
}

/// Splits the copies, which were differentiated, and takes the marks away.
pub(super) fn finish(module: &mut Module) {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        if !body.has_isolated() {
            continue;
        }
        let copies: Vec<OpId> = body.walk_all().filter(|&op| is_adjoint(&ctx, body, op)).collect();
        for op in copies {
            split::split(&ctx, body, op);
        }
        pending.extend(inner_bodies_mut(&ctx, body));
    }
}

/// Takes a mark away from all operations that have it.
fn take_away(ctx: &Context, body: &mut Body, mark: &Mark) {
    let marked = |&op: &OpId| mark.get(ctx, body.attrs(op)).is_some();
    for op in body.walk_all().filter(marked).collect::<Vec<_>>() {
        let attrs = mark.remove(ctx, body.attrs(op));
        body.set_attrs(op, attrs);
    }
}

/// The functions of a symbol table that do nothing but compute and access buffers, calls of one another included.
fn quiet_functions(ctx: &Context, scope: &Body) -> FxHashSet<Sym> {
    let mut quiet: FxHashSet<Sym> = FxHashSet::default();
    let mut callers: FxHashMap<Sym, Vec<Sym>> = FxHashMap::default();
    for op in scope.walk_all() {
        let view = scope.view(ctx, op);
        let (Some(name), Some(inner)) = (view.str("sym_name"), scope.isolated(op)) else {
            continue;
        };
        let mut called = Vec::new();
        let only_computes = inner.walk_all().all(|op| {
            let callee = callee(ctx, inner, op);
            called.extend(callee);
            callee.is_some() || inner.view(ctx, op).own_effects().is_empty() || changes_buffers(ctx, inner, op)
        });
        if view.has(Traits::FUNCTION) && only_computes && inner.entry_block(inner.root()).is_some() {
            let name = ctx.sym(name);
            quiet.insert(name);
            for callee in called {
                callers.entry(callee).or_default().push(name);
            }
        }
    }
    // A function has the effects of the functions that it calls.
    let mut loud: Vec<Sym> = callers.keys().copied().filter(|name| !quiet.contains(name)).collect();
    while let Some(name) = loud.pop() {
        for caller in callers.remove(&name).unwrap_or_default() {
            if quiet.remove(&caller) {
                loud.push(caller);
            }
        }
    }
    quiet
}
