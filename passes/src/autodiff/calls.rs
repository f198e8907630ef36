//! Derivatives of calls: adjoint functions.
//!
//! `@f.adjoint` takes what `@f` takes, and the cotangents of the results of `@f` that are floats; it gives the cotangents of the arguments
//! that are. Where the derivative passes through a call of `@f`, it is called. All calls share it, those in itself too if `@f` is recursive,
//! and nothing is inlined.
//!
//! It begins as a copy of `@f` and is differentiated like any function whose cotangents are arguments. So it computes once more what `@f`
//! computes, and of a call nothing is recorded but its operands: in a chain of calls of depth n, what is innermost is computed n times.
//! So `@f`, and what it calls, must do nothing but compute.
//!
//! Marks say from the first step of `backward` to the second which functions these are, and which calls are differentiated by them.

use pir_dialects::func;
use pir_dialects::marks::{ADJOINT, ADJOINT_FUNCTION, ADJOINT_OF, BACKWARD, COTANGENTS, PRIMAL, STOPPED, VJP};
use pir_ir::{Attr, AttrData, Body, Context, Mark, Module, OpId, Rewriter, Sym, Traits, TypeData, ValueId, ValueMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::mlir::{has_derivative, is_kept, is_mlir};
use super::targets::{self, UnitKind, free_name};
use crate::bodies::inner_bodies_mut;

/// The function that a call names, if it is in the same symbol table.
fn callee(ctx: &Context, body: &Body, op: OpId) -> Option<Sym> {
    match func::callee(ctx, body, op)? {
        &[name] => Some(name),
        _ => None,
    }
}

/// The calls in a body that do not say how they are differentiated.
fn plain_calls(ctx: &Context, body: &Body) -> impl Iterator<Item = (OpId, Sym)> {
    let calls = body.walk_all().filter(move |&op| {
        let attrs = body.attrs(op);
        [&VJP, &STOPPED, &ADJOINT]
            .iter()
            .all(|mark| mark.get(ctx, attrs).is_none())
    });
    calls.filter_map(move |op| Some((op, callee(ctx, body, op)?)))
}

/// The function whose adjoint a call is differentiated by.
pub(super) fn adjoint_of_call(ctx: &Context, body: &Body, call: OpId) -> Option<Sym> {
    ADJOINT.symbol(ctx, body.attrs(call))
}

/// Whether a function is to become the adjoint of another one.
pub(super) fn is_adjoint(ctx: &Context, body: &Body, function: OpId) -> bool {
    ADJOINT_FUNCTION.get(ctx, body.attrs(function)).is_some()
}

/// Puts copies beside the functions that are called by what is differentiated, and marks the calls.
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

/// The same in one symbol table; nothing stands for what it holds itself.
fn copy_in(ctx: &Context, scope: &mut Body, mut pending: Vec<Option<OpId>>) {
    let calls_some = |unit: &Option<OpId>| {
        let inner = unit.map_or(Some(&*scope), |op| scope.isolated(op));
        inner.is_some_and(|inner| plain_calls(ctx, inner).next().is_some())
    };
    if !pending.iter().any(calls_some) {
        return;
    }
    let names = scope.walk_all().filter_map(|op| scope.view(ctx, op).str("sym_name"));
    let mut taken: FxHashSet<String> = names.map(str::to_owned).collect();
    let mut functions: FxHashMap<Sym, OpId> = FxHashMap::default();
    // What reads or changes something would do so once more, and find it changed.
    let quiet = quiet_functions(ctx, scope);
    for op in scope.walk_all() {
        let view = scope.view(ctx, op);
        let inner = scope.isolated(op).filter(|_| view.has(Traits::FUNCTION));
        let is_known = inner.is_some_and(|inner| inner.single_block(inner.root()).is_some());
        if is_known && has_derivative(view) && func::custom_vjp(view).is_none() {
            let name = view.str("sym_name").map(|name| ctx.sym(name));
            functions.extend(name.filter(|name| quiet.contains(name)).map(|name| (name, op)));
        }
    }
    let mut adjoints: FxHashMap<Sym, Attr> = FxHashMap::default();
    while let Some(unit) = pending.pop() {
        let inner = unit.map_or(Some(&*scope), |op| scope.isolated(op));
        let calls: Vec<_> = inner.map_or_else(Vec::new, |inner| plain_calls(ctx, inner).collect());
        for (call, name) in calls {
            let Some(&function) = functions.get(&name) else {
                continue;
            };
            let adjoint = *adjoints.entry(name).or_insert_with(|| {
                let (copy, symbol) = copy(ctx, scope, function, ctx.str(name), &mut taken);
                pending.push(Some(copy));
                symbol
            });
            let inner = match unit {
                Some(op) => scope.isolated_mut(op),
                None => Some(&mut *scope),
            };
            if let Some(inner) = inner {
                let attrs = ADJOINT.set(ctx, inner.attrs(call), adjoint);
                inner.set_attrs(call, attrs);
            }
        }
    }
}

fn copy(ctx: &Context, scope: &mut Body, function: OpId, name: &str, taken: &mut FxHashSet<String>) -> (OpId, Attr) {
    let adjoint = free_name(&format!("{name}.adjoint"), taken);
    let of_mlir = scope.isolated(function).is_some_and(|inner| is_mlir(ctx, inner));
    let mut r = Rewriter::new(ctx, scope);
    r.after(function);
    let copy = r.clone_op(function, &mut ValueMap::new());
    let mut attrs = ctx.dict_with(r.body.attrs(copy), "sym_name", ctx.str_attr(&adjoint));
    attrs = ctx.dict_with(attrs, "sym_visibility", ctx.str_attr("private"));
    attrs = ADJOINT_FUNCTION.set(ctx, attrs, ctx.attr(AttrData::Unit));
    if is_kept(ctx, r.body, function) {
        attrs = PRIMAL.remove(ctx, attrs);
    }
    if of_mlir {
        attrs = ADJOINT_OF.set(ctx, attrs, ctx.str_attr(name));
    }
    r.body.set_attrs(copy, attrs);
    (copy, ctx.attr(AttrData::Symbol([ctx.sym(&adjoint)].into())))
}

/// Makes the copies, which were differentiated, give the cotangents alone, and takes the marks away.
pub(super) fn finish(module: &mut Module) {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        take_away(&ctx, body, &ADJOINT);
        let adjoints: Vec<OpId> = body.walk_all().filter(|&op| is_adjoint(&ctx, body, op)).collect();
        let quiet = match adjoints.is_empty() {
            true => FxHashSet::default(),
            false => quiet_functions(&ctx, body),
        };
        for op in adjoints {
            keep_gradients(&ctx, body, op);
            if let Some(inner) = body.isolated_mut(op) {
                // It says where a gradient begins: nothing is left of the function without it.
                take_away(&ctx, inner, &BACKWARD);
                erase_unused(&ctx, inner, &quiet);
            }
        }
        pending.extend(inner_bodies_mut(&ctx, body));
    }
}

fn keep_gradients(ctx: &Context, body: &mut Body, function: OpId) {
    let attrs = ADJOINT_FUNCTION.remove(ctx, body.attrs(function));
    let counts = super::signature::cotangents(ctx, body, function);
    body.set_attrs(function, COTANGENTS.remove(ctx, ctx.dict_without(attrs, "res_attrs")));
    let ty = body.view(ctx, function).ty("function_type").map(|ty| ctx.type_data(ty));
    let (Some(TypeData::Function { inputs, results }), Some((_, gradients))) = (ty, counts) else {
        return;
    };
    let kept = results.len().saturating_sub(gradients);
    let Some(inner) = body.isolated_mut(function) else {
        return;
    };
    let end = inner.single_block(inner.root()).and_then(|block| inner.last_op(block));
    if let Some(end) = end {
        let values: Vec<ValueId> = inner.operands(end).skip(kept).collect();
        inner.set_operands(end, &values);
    }
    func::set_type(ctx, body, function, inputs, &results[kept..]);
}

/// Takes a mark away from all operations that have it.
fn take_away(ctx: &Context, body: &mut Body, mark: &Mark) {
    let marked = |&op: &OpId| mark.get(ctx, body.attrs(op)).is_some();
    for op in body.walk_all().filter(marked).collect::<Vec<_>>() {
        let attrs = mark.remove(ctx, body.attrs(op));
        body.set_attrs(op, attrs);
    }
}

/// The functions of a symbol table that do nothing but compute, calls of one another included.
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
            callee.is_some() || inner.view(ctx, op).own_effects().is_empty()
        });
        if view.has(Traits::FUNCTION) && only_computes && inner.entry_block(inner.root()).is_some() {
            let name = ctx.sym(name);
            quiet.insert(name);
            for callee in called {
                callers.entry(callee).or_default().push(name);
            }
        }
    }
    // What calls another one does what that does.
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

/// Removes calls that only computed results of the function that the adjoint is a copy of.
fn erase_unused(ctx: &Context, body: &mut Body, quiet: &FxHashSet<Sym>) {
    let ops: Vec<OpId> = body.walk_all().collect();
    let mut r = Rewriter::new(ctx, body);
    for op in ops.into_iter().rev() {
        let is_quiet = callee(ctx, r.body, op).is_some_and(|name| quiet.contains(&name));
        if is_quiet && r.body.results(op).all(|result| !r.body.has_uses(result)) {
            r.erase_op(op);
        }
    }
}
