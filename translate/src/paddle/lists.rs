//! Replaces lists of values with the values.
//!
//! In Paddle's programs an operation has a fixed number of operands and results: `concat` takes a list made by
//! `builtin.combine`, and `builtin.split` unpacks the result of `split`. Here, operations take and give the values
//! themselves.

use smallvec::SmallVec;

use pir_ir::{Arity, Body, Context, OpDef, OpId, Rewriter, Type, TypeData, ValueId};

use super::constants::remove_unused;

/// Expands lists that are operands or results of variadic operations.
pub(crate) fn spread(ctx: &Context, body: &mut Body) {
    let mut freed = Vec::new();
    for op in body.walk_all().collect::<Vec<_>>() {
        if ctx.op_str(body.op_name(op)) == "builtin.combine" {
            freed.push(op);
        }
        let Some(def) = ctx.op_def(body.op_name(op)).filter(|def| def.name.starts_with("pd.")) else {
            continue;
        };
        spread_operands(ctx, body, op, def, &mut freed);
        spread_results(ctx, body, op, def, &mut freed);
    }
    remove_unused(body, freed, |_, _| false);
}

fn is_list(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::List(_))
}

fn spread_operands(ctx: &Context, body: &mut Body, op: OpId, def: &OpDef, freed: &mut Vec<OpId>) {
    // With operands after the list, its length would be ambiguous.
    let operands = body.operands_vec(op);
    let (Some(spec), &[list]) = (def.operands.first(), &operands[..]) else {
        return;
    };
    if spec.arity != Arity::Variadic || !is_list(ctx, body.value_type(list)) {
        return;
    }
    if let Some(combine) = body
        .defining_op(list)
        .filter(|&c| ctx.op_str(body.op_name(c)) == "builtin.combine")
    {
        let values = body.operands_vec(combine);
        body.set_operands(op, &values);
        freed.push(combine);
    }
}

fn spread_results(ctx: &Context, body: &mut Body, op: OpId, def: &OpDef, freed: &mut Vec<OpId>) {
    let results: SmallVec<[ValueId; 2]> = body.results(op).collect();
    let (Some(spec), &[list]) = (def.results.first(), &results[..]) else {
        return;
    };
    let ty = body.value_type(list);
    let TypeData::List(types) = ctx.type_data(ty) else {
        return;
    };
    if spec.arity != Arity::Variadic || def.results.len() != 1 {
        return;
    }
    let operands = body.operands_vec(op);
    let mut rewriter = Rewriter::new(ctx, body);
    let new = rewriter.recreate(op, &operands, types);
    let values: SmallVec<[ValueId; 4]> = rewriter.body.results(new).collect();
    let users: Vec<OpId> = rewriter.body.uses(list).map(|u| u.op).collect();
    for user in users {
        let body = &*rewriter.body;
        if ctx.op_str(body.op_name(user)) == "builtin.split" && body.num_results(user) == values.len() {
            rewriter.replace_op(user, &values);
        }
    }
    rewriter.after(new);
    let combined = rewriter.op("builtin.combine").operands(values).result(ty).build();
    let whole: SmallVec<[ValueId; 1]> = body.results(combined).collect();
    Rewriter::new(ctx, body).replace_op(op, &whole);
    freed.push(combined);
}
