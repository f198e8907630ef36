//! Converts tensors without dimensions to numbers: those of `pd`, which represent numbers there, and those of the
//! program, which cannot be distinguished from them. Arguments and results of functions, and operands of calls, keep
//! their types.

use pir_ir::{AttrData, Body, Context, OpId, Rewriter, Traits, Type, ValueId};

use super::{arith, fold, index_constant, number, tensor};

/// Gives tensors without dimensions the types of their elements.
pub(super) fn drop_dimensions(ctx: &Context, body: &mut Body) {
    let scalar = |body: &Body, value| match ctx.as_tensor(body.value_type(value)) {
        Some((&[], elem)) => Some(elem),
        _ => None,
    };
    let entry = body.entry_block(body.root());
    let (mut values, mut given, mut taken) = (Vec::new(), Vec::new(), Vec::new());
    for op in body.walk_all() {
        let view = body.view(ctx, op);
        let is_call = view.name() == "func.call";
        let results = body.results(op);
        match is_call {
            true => given.extend(results.filter(|&value| scalar(body, value).is_some())),
            false => values.extend(results),
        }
        if is_call || view.has(Traits::RETURN_LIKE) {
            let operands = body.operands(op).enumerate();
            let types =
                operands.filter_map(|(at, value)| scalar(body, value).map(|_| (op, at, body.value_type(value))));
            taken.extend(types);
        }
        let blocks = body.op_regions(op).iter().flat_map(|&r| body.region_blocks(r));
        values.extend(blocks.flat_map(|&block| body.block_args(block)));
    }
    let blocks = body.region_blocks(body.root()).to_vec();
    let others = blocks.iter().filter(|&&block| Some(block) != entry);
    values.extend(others.flat_map(|&block| body.block_args(block).to_vec()));
    let args = entry.map_or(Vec::new(), |entry| body.block_args(entry).to_vec());
    given.extend(args.into_iter().filter(|&value| scalar(body, value).is_some()));
    values.retain(|&value| scalar(body, value).is_some());
    for value in values {
        if let Some(elem) = scalar(body, value) {
            body.set_value_type(value, elem);
        }
    }
    let mut r = Rewriter::new(ctx, body);
    for value in given {
        let Some(elem) = scalar(r.body, value) else { continue };
        match (r.body.defining_op(value), entry) {
            (Some(op), _) => r.after(op),
            (None, Some(entry)) => r.at_start(entry),
            _ => continue,
        };
        let uses: Vec<_> = r.body.uses(value).collect();
        if uses.is_empty() {
            continue;
        }
        let number = r.op(tensor::Extract::NAME).operand(value).result(elem).value();
        for at in uses {
            r.body.set_operand(at.op, at.index, number);
        }
    }
    for op in r.body.walk_all().collect::<Vec<_>>() {
        convert(&mut r, op);
    }
    for (op, at, ty) in taken {
        let value = r.body.operand(op, at);
        if r.body.value_type(value) != ty {
            r.before(op);
            let made = r.op(tensor::FromElements::NAME).operand(value).result(ty).value();
            r.body.set_operand(op, at, made);
        }
    }
}

/// Rewrites an operation on tensors without dimensions that are numbers by now.
fn convert(r: &mut Rewriter<'_>, op: OpId) {
    let name = r.ctx.op_str(r.body.op_name(op));
    let operands = r.body.operands_vec(op);
    let (Some(result), Some(&first)) = (r.body.get_result(op, 0), operands.first()) else {
        if name == arith::Constant::NAME || name == tensor::Empty::NAME {
            constant(r, op);
        }
        return;
    };
    let ty = r.body.value_type(result);
    let is_number = |r: &Rewriter<'_>, value: ValueId| {
        let ty = r.body.value_type(value);
        r.ctx.as_tensor(ty).is_none()
    };
    r.before(op);
    let value = match name {
        tensor::Extract::NAME if is_number(r, first) => first,
        tensor::Insert::NAME if operands.get(1).is_some_and(|&v| is_number(r, v)) => first,
        tensor::FromElements::NAME | tensor::Splat::NAME if is_number(r, result) => first,
        tensor::Cast::NAME if is_number(r, result) && is_number(r, first) => first,
        // The only element.
        tensor::CollapseShape::NAME if is_number(r, result) => {
            let rank = r
                .ctx
                .as_tensor(r.body.value_type(first))
                .map_or(0, |(shape, _)| shape.len());
            let zero = index_constant(r, 0);
            let place = vec![zero; rank];
            r.op(tensor::Extract::NAME)
                .operand(first)
                .operands(place)
                .result(ty)
                .value()
        }
        tensor::ExpandShape::NAME if is_number(r, first) => {
            r.op(tensor::FromElements::NAME).operand(first).result(ty).value()
        }
        _ => return,
    };
    r.replace_op(op, &[value]);
}

/// A constant that was a tensor, or a tensor whose element is arbitrary.
fn constant(r: &mut Rewriter<'_>, op: OpId) {
    let result = r.body.result(op, 0);
    let ty = r.body.value_type(result);
    let attr = r.body.attr(r.ctx, op, "value");
    let value = match attr.map(|attr| r.ctx.attr_data(attr)) {
        None if r.ctx.as_tensor(ty).is_none() => number(r.ctx, 0.0, ty),
        Some(AttrData::Elements(elements)) if r.ctx.as_tensor(ty).is_none() && elements.len() == 1 => {
            let first = match r.ctx.is_float(ty) {
                true => elements
                    .floats()
                    .and_then(|mut list| list.next())
                    .map(|x| r.ctx.float_attr(x)),
                false if ty == Type::I1 => elements
                    .ints()
                    .and_then(|mut list| list.next())
                    .map(|x| r.ctx.bool_attr(x != 0)),
                false => elements
                    .ints()
                    .and_then(|mut list| list.next())
                    .map(|x| r.ctx.int_attr(x)),
            };
            first.and_then(|first| fold::typed(r.ctx, first, ty))
        }
        _ => None,
    };
    if let Some(value) = value {
        r.before(op);
        let made = r.op(arith::Constant::NAME).attr("value", value).result(ty).value();
        r.replace_op(op, &[made]);
    }
}
