//! Queries about functions and calls: their names, their marks, their dialects.

use pir_dialects::func;
use pir_dialects::marks::{ADJOINT, ADJOINT_FUNCTION, PRIMAL, STOPPED, VJP};
use pir_ir::{Body, Context, OpId, Sym, Traits, ValueId};
use rustc_hash::FxHashMap;

/// The function that a call names, if it is in the same symbol table.
pub(crate) fn callee(ctx: &Context, body: &Body, op: OpId) -> Option<Sym> {
    match func::callee(ctx, body, op)? {
        &[name] => Some(name),
        _ => None,
    }
}

/// The calls in a body that do not name a derivative.
pub(crate) fn plain_calls(ctx: &Context, body: &Body) -> impl Iterator<Item = (OpId, Sym)> {
    let calls = body.walk_all().filter(move |&op| {
        let attrs = body.attrs(op);
        [&VJP, &STOPPED, &ADJOINT]
            .iter()
            .all(|mark| mark.get(ctx, attrs).is_none())
    });
    calls.filter_map(move |op| Some((op, callee(ctx, body, op)?)))
}

/// The function whose adjoint a call is differentiated by.
pub(crate) fn adjoint_of_call(ctx: &Context, body: &Body, call: OpId) -> Option<Sym> {
    ADJOINT.symbol(ctx, body.attrs(call))
}

/// Whether a function is to be split into one that records and an adjoint.
pub(crate) fn is_adjoint(ctx: &Context, body: &Body, function: OpId) -> bool {
    ADJOINT_FUNCTION.get(ctx, body.attrs(function)).is_some()
}

/// Whether the copy of a function is differentiated, not it.
pub(crate) fn is_kept(ctx: &Context, body: &Body, function: OpId) -> bool {
    PRIMAL.get(ctx, body.attrs(function)).is_some()
}

/// Whether a body has operations of MLIR's dialects with a meaning here.
pub(crate) fn is_mlir(ctx: &Context, body: &Body) -> bool {
    // Of many operations there are few names.
    let mut others: Vec<bool> = Vec::new();
    let mut of_mlir = |op: OpId| {
        let name = body.op_name(op);
        if others.len() <= name.index() {
            others.resize(name.index() + 1, false);
        }
        !std::mem::replace(&mut others[name.index()], true)
            && ["affine.", "arith.", "linalg.", "math.", "memref.", "scf.", "tensor."]
                .iter()
                .any(|dialect| ctx.op_str(name).starts_with(dialect))
    };
    // One that only calls others has numbers where ours have tensors.
    let args = body.entry_block(body.root()).map(|block| body.block_args(block));
    let of_numbers = |&value: &ValueId| {
        let ty = body.value_type(value);
        ctx.is_float(ty) && ctx.elem_type(ty) == ty
    };
    args.is_some_and(|args| args.iter().any(of_numbers)) || body.walk_all().any(&mut of_mlir)
}

/// The functions of a symbol table by their names.
pub(crate) fn functions(ctx: &Context, scope: &Body) -> FxHashMap<Sym, OpId> {
    let ops = scope.walk_all().filter(|&op| scope.view(ctx, op).has(Traits::FUNCTION));
    ops.filter_map(|op| Some((ctx.sym(scope.view(ctx, op).str("sym_name")?), op)))
        .collect()
}
