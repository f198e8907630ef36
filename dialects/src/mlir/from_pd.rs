//! The way back from `pd`: loops and branches become those of `scf`, arithmetic of numbers that of `arith` and `math`.
//!
//! Tensors without dimensions become numbers. A stack that an init region creates is created in front of its operation,
//! which is equivalent, since the region runs once.

use pir_ir::{Attr, AttrData, Body, Context, Diagnostic, OpId, OpView, Rewriter, Type, TypeData, ValueId};

use super::rank_zero;
use super::types::{element, with_element};
use super::{arith, math, scf, tensor};
use crate::marks::BACKWARD;
use crate::{cf, pd};

/// Operations of two numbers, with those of floats and of integers that they become.
const BINARY: &[(&str, &str, &str)] = &[
    (pd::Add::NAME, arith::Addf::NAME, arith::Addi::NAME),
    (pd::Subtract::NAME, arith::Subf::NAME, arith::Subi::NAME),
    (pd::Multiply::NAME, arith::Mulf::NAME, arith::Muli::NAME),
    (pd::Divide::NAME, arith::Divf::NAME, ""),
    (pd::FloorDivide::NAME, "", arith::Floordivsi::NAME),
    (pd::Maximum::NAME, arith::Maximumf::NAME, arith::Maxsi::NAME),
    (pd::Minimum::NAME, arith::Minimumf::NAME, arith::Minsi::NAME),
    (pd::ElementwisePow::NAME, math::Powf::NAME, ""),
    (pd::Atan2::NAME, math::Atan2::NAME, ""),
    (pd::LogicalAnd::NAME, "", arith::Andi::NAME),
    (pd::LogicalOr::NAME, "", arith::Ori::NAME),
    (pd::LogicalXor::NAME, "", arith::Xori::NAME),
];

/// Relations, with the numbers that those of floats and of integers have.
const RELATIONS: &[(&str, i64, i64)] = &[
    (pd::Equal::NAME, 1, 0),
    (pd::NotEqual::NAME, 13, 1),
    (pd::LessThan::NAME, 4, 2),
    (pd::LessEqual::NAME, 5, 3),
    (pd::GreaterThan::NAME, 2, 4),
    (pd::GreaterEqual::NAME, 3, 5),
];

/// Functions of one number.
const UNARY: &[(&str, &str)] = &[
    (pd::Neg::NAME, arith::Negf::NAME),
    (pd::Abs::NAME, math::Absf::NAME),
    (pd::Ceil::NAME, math::Ceil::NAME),
    (pd::Cos::NAME, math::Cos::NAME),
    (pd::Cosh::NAME, math::Cosh::NAME),
    (pd::Erf::NAME, math::Erf::NAME),
    (pd::Exp::NAME, math::Exp::NAME),
    (pd::Expm1::NAME, math::Expm1::NAME),
    (pd::Floor::NAME, math::Floor::NAME),
    (pd::Log::NAME, math::Log::NAME),
    (pd::Log1p::NAME, math::Log1p::NAME),
    (pd::Rsqrt::NAME, math::Rsqrt::NAME),
    (pd::Sin::NAME, math::Sin::NAME),
    (pd::Sinh::NAME, math::Sinh::NAME),
    (pd::Sqrt::NAME, math::Sqrt::NAME),
    (pd::Tan::NAME, math::Tan::NAME),
    (pd::Tanh::NAME, math::Tanh::NAME),
    (pd::Trunc::NAME, math::Trunc::NAME),
];

/// Loops, branches and terminators, by their names in `scf`.
const CONTROL: &[(&str, &str)] = &[
    (pd::While::NAME, scf::WHILE),
    (pd::WhileGrad::NAME, scf::WHILE),
    (pd::If::NAME, scf::IF),
    (pd::IfGrad::NAME, scf::IF),
    (cf::YIELD, scf::YIELD),
    (cf::COND_YIELD, scf::CONDITION),
];

/// Converts the operations of `pd` in the body of a function.
///
/// # Errors
/// Those that have no counterpart.
pub fn convert(ctx: &Context, body: &mut Body) -> Result<(), Vec<Diagnostic>> {
    rank_zero::drop_dimensions(ctx, body);
    let mut r = Rewriter::new(ctx, body);
    let mut errors = Vec::new();
    for op in r.body.walk_all().collect::<Vec<_>>() {
        if !r.body.is_alive(op) {
            continue;
        }
        let name = ctx.op_str(r.body.op_name(op));
        let span = r.body.op_span(op);
        r.before(op).set_span(span);
        // The mark for `strip-backward` is meaningless on the operations created here.
        let attrs = BACKWARD.remove(ctx, r.body.attrs(op));
        r.body.set_attrs(op, attrs);
        if let Some(&(_, twin)) = CONTROL.iter().find(|entry| entry.0 == name) {
            let op = hoist_stack(&mut r, op);
            let twin = ctx.op_name(twin);
            r.body.set_op_name(op, twin);
            continue;
        }
        if !name.starts_with("pd.") {
            continue;
        }
        match number(&mut r, op) {
            Ok(value) => {
                let old = r.body.result(op, 0);
                r.take_name(old, value);
                r.replace_op(op, &[value]);
            }
            Err(why) => {
                let message = format!("`{name}` has no counterpart in MLIR's dialects: {why}");
                errors.push(
                    Diagnostic::error("no-mlir", message)
                        .label(span, "this operation")
                        .help(
                            "use `custom_vjp` to name a function that computes the derivative with MLIR's operations",
                        ),
                );
            }
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// Makes the stack of an init region in front of the operation.
fn hoist_stack(r: &mut Rewriter<'_>, op: OpId) -> OpId {
    let regions = r.body.op_regions(op).to_vec();
    let &[init, first, second] = &regions[..] else {
        return op;
    };
    let create = r.body.single_block(init).and_then(|block| r.body.first_op(block));
    let Some(create) = create.filter(|&create| r.ctx.op_str(r.body.op_name(create)) == cf::CREATE_STACK) else {
        return op;
    };
    let stack = r.body.result(create, 0);
    r.before(op);
    r.move_here(create);
    // Users of the stack in that region would still count.
    r.body.clear_region(init);
    for region in [first, second] {
        let Some(block) = r.body.entry_block(region) else {
            continue;
        };
        if let Some(&arg) = r.body.block_args(block).last() {
            r.body.replace_all_uses(arg, stack);
            let last = r.body.block_args(block).len() - 1;
            r.body.erase_block_arg(block, last);
        }
        if let Some(end) = r.body.last_op(block) {
            let last = r.body.num_operands(end) - 1;
            r.body.erase_operand(end, last);
        }
    }
    let results: Vec<ValueId> = r.body.results(op).collect();
    if let Some((&last, kept)) = results.split_last() {
        r.body.replace_all_uses(last, stack);
        let kept: Vec<usize> = (0..kept.len()).collect();
        let all = r.body.take_regions(op);
        for &region in &all[1..] {
            let at = r.body.op_regions(op).len();
            r.body.insert_region(op, at, region);
        }
        r.before(op);
        return r.keep_results(op, &kept);
    }
    op
}

/// A constant of a type of numbers, or of tensors of a known shape.
fn constant(r: &mut Rewriter<'_>, ty: Type, value: f64) -> Result<ValueId, String> {
    let ctx = r.ctx;
    let attr = match ctx.type_data(ty) {
        TypeData::Tensor { .. } => {
            super::number(ctx, value, ty).ok_or("only constants of static shape are supported")?
        }
        _ if ty == Type::I1 => ctx.bool_attr(value != 0.0),
        TypeData::Float(_) => ctx.attr(AttrData::Float {
            bits: value.to_bits(),
            ty,
        }),
        TypeData::Integer { .. } | TypeData::Index => ctx.attr(AttrData::Int {
            value: value as i128,
            ty,
        }),
        _ => return Err("only numbers are supported".to_owned()),
    };
    Ok(made_constant(r, attr, ty))
}

fn made_constant(r: &mut Rewriter<'_>, attr: Attr, ty: Type) -> ValueId {
    r.op(arith::Constant::NAME).attr("value", attr).result(ty).value()
}

fn emit(r: &mut Rewriter<'_>, name: &str, operands: &[ValueId], ty: Type) -> ValueId {
    r.op(name).operands(operands.iter().copied()).result(ty).value()
}

fn given(view: OpView<'_>, name: &str, default: f64) -> f64 {
    view.f64(name).unwrap_or(default)
}

/// Emits the number that an operation computes.
fn number(r: &mut Rewriter<'_>, op: OpId) -> Result<ValueId, String> {
    let view = r.view(op);
    let (name, operands) = (view.name(), r.body.operands_vec(op));
    let ty = view.result_type(0).filter(|_| r.body.num_results(op) == 1);
    let ty = ty.ok_or("it does not have one result")?;
    // Tensors are computed with element by element.
    let shape = |ty: Type| r.ctx.as_tensor(ty).map(|(shape, _)| shape);
    let chosen = usize::from(name == pd::Where::NAME);
    let types = operands.iter().skip(chosen).map(|&v| r.body.value_type(v));
    if types.into_iter().any(|other| shape(other) != shape(ty)) {
        return Err("its operands have different shapes".to_owned());
    }
    let float = operands
        .first()
        .map_or(r.ctx.is_float(ty), |&v| r.ctx.is_float(r.body.value_type(v)));
    if let (Some(&(_, of_floats, of_ints)), [_, _]) = (BINARY.iter().find(|entry| entry.0 == name), &operands[..]) {
        let twin = if float { of_floats } else { of_ints };
        return match twin {
            "" => Err("not for these types".to_owned()),
            _ => Ok(emit(r, twin, &operands, ty)),
        };
    }
    if let (Some(&(_, of_floats, of_ints)), [_, _]) = (RELATIONS.iter().find(|entry| entry.0 == name), &operands[..]) {
        let (twin, number) = match float {
            true => (arith::Cmpf::NAME, of_floats),
            false => (arith::Cmpi::NAME, of_ints),
        };
        let predicate = r.ctx.int_attr(number);
        let truth = with_element(r.ctx, r.body.value_type(operands[0]), Type::I1);
        let compared = r.op(twin).operands(operands).attr("predicate", predicate);
        return Ok(compared.result(truth).value());
    }
    if let (Some(&(_, twin)), [_], true) = (UNARY.iter().find(|entry| entry.0 == name), &operands[..], float) {
        return Ok(emit(r, twin, &operands, ty));
    }
    match (name, &operands[..]) {
        (pd::Full::NAME, []) => {
            let value = given(view, "value", 0.0);
            constant(r, ty, value)
        }
        (pd::FullLike::NAME, &[like]) => {
            let value = given(view, "value", 0.0);
            match r.ctx.is_static(ty) {
                true => constant(r, ty, value),
                false => splat_like(r, like, value),
            }
        }
        (pd::Assign::NAME, &[x]) => Ok(x),
        (pd::Scale::NAME, &[x]) => scale(r, op, x, ty),
        (pd::Increment::NAME, &[x]) => {
            let by = given(view, "value", 1.0);
            let by = constant(r, ty, by)?;
            Ok(emit(
                r,
                if float { arith::Addf::NAME } else { arith::Addi::NAME },
                &[x, by],
                ty,
            ))
        }
        (pd::Square::NAME, &[x]) => Ok(emit(r, arith::Mulf::NAME, &[x, x], ty)),
        (pd::Reciprocal::NAME, &[x]) => {
            let one = constant(r, ty, 1.0)?;
            Ok(emit(r, arith::Divf::NAME, &[one, x], ty))
        }
        (pd::Where::NAME, [_, _, _]) => Ok(emit(r, arith::Select::NAME, &operands, ty)),
        (pd::LogicalNot::NAME, &[x]) => {
            let all = constant(r, ty, 1.0)?;
            Ok(emit(r, arith::Xori::NAME, &[x, all], ty))
        }
        (pd::Cast::NAME, &[x]) => cast(r, x, ty),
        _ => Err("there is no rule for it".to_owned()),
    }
}

/// A multiple and a sum, without what changes nothing.
fn scale(r: &mut Rewriter<'_>, op: OpId, x: ValueId, ty: Type) -> Result<ValueId, String> {
    let view = r.view(op);
    let (factor, bias) = (given(view, "scale", 1.0), given(view, "bias", 0.0));
    let after = view.bool("bias_after_scale").unwrap_or(true);
    let float = r.ctx.is_float(ty);
    let (add, multiply) = match float {
        true => (arith::Addf::NAME, arith::Mulf::NAME),
        false => (arith::Addi::NAME, arith::Muli::NAME),
    };
    let times = |r: &mut Rewriter<'_>, x| match factor {
        1.0 => Ok(x),
        -1.0 if float => Ok(emit(r, arith::Negf::NAME, &[x], ty)),
        _ => constant(r, ty, factor).map(|factor| emit(r, multiply, &[x, factor], ty)),
    };
    let plus = |r: &mut Rewriter<'_>, x| match bias {
        0.0 => Ok(x),
        _ => constant(r, ty, bias).map(|bias| emit(r, add, &[x, bias], ty)),
    };
    match after {
        true => times(r, x).and_then(|x| plus(r, x)),
        false => plus(r, x).and_then(|x| times(r, x)),
    }
}

/// A tensor of numbers, of the shape of another one.
fn splat_like(r: &mut Rewriter<'_>, like: ValueId, value: f64) -> Result<ValueId, String> {
    let ty = r.body.value_type(like);
    r.ctx.as_tensor(ty).ok_or("the rank is unknown")?;
    let value = constant(r, element(r.ctx, ty), value)?;
    let sizes = super::sizes(r, like);
    let splat = r.op(tensor::Splat::NAME).operand(value).operands(sizes);
    Ok(splat.result(ty).value())
}

fn cast(r: &mut Rewriter<'_>, x: ValueId, to: Type) -> Result<ValueId, String> {
    let (from, whole) = (element(r.ctx, r.body.value_type(x)), to);
    let to = element(r.ctx, to);
    let bits = |ty: Type| ty.float_kind(r.ctx).map(|kind| kind.bits());
    let name = match (bits(from), bits(to)) {
        _ if from == to => return Ok(x),
        (Some(a), Some(b)) if a < b => arith::Extf::NAME,
        (Some(a), Some(b)) if a > b => arith::Truncf::NAME,
        (None, Some(_)) if from == Type::I1 => arith::Uitofp::NAME,
        (None, Some(_)) if from != Type::INDEX => arith::Sitofp::NAME,
        (Some(_), None) if to != Type::INDEX && to != Type::I1 => arith::Fptosi::NAME,
        _ => return Err("there is no such conversion".to_owned()),
    };
    Ok(emit(r, name, &[x], whole))
}
