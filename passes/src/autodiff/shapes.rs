//! Values of which the derivative reads the shape alone.
//!
//! ```text
//! cf.push_back (%stack, %x)                    %x_shape = pd.shape (%x) {recorded = true}
//! …                                            cf.push_back (%stack, %x_shape)
//! %x = cf.pop_back (%stack)           ==>      …
//! %g = pd.expand_as (%s_grad, %x)              %x_shape = cf.pop_back (%stack)
//!                                              %0 = pd.full {shape = [], value = 0}
//!                                              %x_like = pd.expand (%0, %x_shape)
//!                                              %g = pd.expand_as (%s_grad, %x_like)
//! ```
//!
//! A static shape is not read at run time, so this concerns types with dynamic dimensions. The op table lists operands
//! of which only the shape is used (`no_need_buffer`, as in PaddlePaddle).

use pir_dialects::marks::RECORDED;
use pir_dialects::pd;
use pir_ir::{Body, Context, OpId, Rewriter, Type, Use};

use super::tapes::Tapes;

/// Records the shape of a value in place of the value, if nothing else of it is read.
pub(super) fn record(r: &mut Rewriter<'_>, tapes: &mut Tapes, (push, pop): (OpId, OpId)) {
    let ctx = r.ctx;
    let (value, popped) = (r.body.operand(push, 1), r.body.result(pop, 0));
    let ty = r.body.value_type(popped);
    let Some((dims, elem)) = ctx.as_tensor(ty) else { return };
    if ctx.is_static(ty) || !r.body.uses(popped).all(|u| is_shape_alone(ctx, r.body, u)) {
        return;
    }
    let readers: Vec<Use> = r.body.uses(popped).collect();
    let zero = [
        ("shape", ctx.ints_attr(&[])),
        ("value", ctx.float_attr(0.0)),
        ("dtype", ctx.type_attr(elem)),
    ];
    let shape_type = ctx.tensor(&[dims.len() as i64], Type::I64);

    r.before(push);
    let shape = r
        .op(pd::Shape::NAME)
        .operand(value)
        .attr(&RECORDED.name, ctx.bool_attr(true))
        .result(shape_type)
        .value();
    r.name_like(shape, value, "_shape");
    r.body.set_operand(push, 1, shape);
    r.body.set_value_type(popped, shape_type);

    r.after(pop);
    let mut full = r.op(pd::Full::NAME);
    for (name, attr) in zero {
        full = full.attr(name, attr);
    }
    let zero = full.result(ctx.tensor(&[], elem)).value();
    let like = r.op(pd::Expand::NAME).operand(zero).operand(popped).result(ty).value();
    r.name_like(like, value, "_like");
    r.name_like(popped, value, "_shape");
    for reader in readers {
        r.body.set_operand(reader.op, reader.index, like);
    }
    tapes.primal_at.remove(value);
    tapes.primal_at.insert(shape, popped);
}

/// Whether an operand is read for its shape alone.
fn is_shape_alone(ctx: &Context, body: &Body, at: Use) -> bool {
    let def = ctx.op_def(body.op_name(at.op));
    def.is_some_and(|def| {
        let spec = def.operands.get(at.index);
        spec.is_some_and(|spec| def.no_need_buffer.contains(&spec.name))
    })
}
