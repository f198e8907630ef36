//! Arithmetic, comparisons and logic.
//!
//! Integers are folded only if the result fits the type without wrapping; the rest is left to the kernels.

use std::cmp::Ordering;

use crate::pd;
use pir_ir::{Attr, OpId, OpView, Rewriter, Signedness, Type, TypeData, ValueId};

use super::{Folded, Number, constant, implied, number, value};

/// An operand as the result, if it has the result's type: it is not broadcast.
pub(crate) fn unchanged(view: OpView<'_>, index: usize) -> Option<ValueId> {
    view.operand(index)
        .filter(|_| view.operand_type(index) == view.result_type(0))
}

/// An integer of the element type of the result.
fn integer(view: OpView<'_>, result: Option<i128>) -> Folded {
    let result = result?;
    let elem = view.ctx.elem_type(view.result_type(0)?);
    let TypeData::Integer { width, sign } = *view.ctx.type_data(elem) else {
        return None;
    };
    let bits = width.min(64);
    let (min, max) = match sign {
        Signedness::Unsigned => (0, (1i128 << bits) - 1),
        _ => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    };
    if elem == Type::I1 || !(min..=max).contains(&result) {
        return None;
    }
    constant(Number::Int(result).attr(view.ctx)?)
}

/// The constants of both operands, if they are integers.
fn integers(view: OpView<'_>, constants: &[Option<Attr>]) -> Option<(i128, i128)> {
    match (number(view, constants, 0)?, number(view, constants, 1)?) {
        (Number::Int(x), Number::Int(y)) => Some((x, y)),
        _ => None,
    }
}

fn is_zero(number: Option<Number>, negative: bool) -> bool {
    match number {
        Some(Number::Int(0)) => true,
        Some(Number::Float(f)) => f == 0.0 && f.is_sign_negative() == negative,
        _ => false,
    }
}

fn is_one(number: Option<Number>) -> bool {
    matches!(number, Some(Number::Int(1))) || number == Some(Number::Float(1.0))
}

/// An integer zero of the result's element type.
fn integer_zero(view: OpView<'_>) -> Folded {
    integer(view, Some(0))
}

fn same_operands(view: OpView<'_>) -> bool {
    view.operand(0).is_some() && view.operand(0) == view.operand(1)
}

/// Most operations have no constant operands: those that need one look for that first.
fn has_none(constants: &[Option<Attr>]) -> bool {
    constants.iter().all(Option::is_none)
}

pub(crate) fn add(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    if has_none(constants) {
        return None;
    }
    // x + 0 turns -0 into +0; x + -0 is the identity.
    for (zero, other) in [(1, 0), (0, 1)] {
        if is_zero(number(view, constants, zero), true)
            && let Some(other) = unchanged(view, other)
        {
            return value(other);
        }
    }
    let (x, y) = integers(view, constants)?;
    integer(view, x.checked_add(y))
}

pub(crate) fn subtract(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    if is_zero(number(view, constants, 1), false)
        && let Some(x) = unchanged(view, 0)
    {
        return value(x);
    }
    if same_operands(view) {
        return integer_zero(view);
    }
    let (x, y) = integers(view, constants)?;
    integer(view, x.checked_sub(y))
}

pub(crate) fn multiply(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    if has_none(constants) {
        return None;
    }
    for (one, other) in [(1, 0), (0, 1)] {
        if is_one(number(view, constants, one))
            && let Some(other) = unchanged(view, other)
        {
            return value(other);
        }
        // Zero times infinity is NaN, but there are no infinite integers.
        if number(view, constants, one) == Some(Number::Int(0)) {
            return integer_zero(view);
        }
    }
    let (x, y) = integers(view, constants)?;
    integer(view, x.checked_mul(y))
}

pub(crate) fn divide(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    if is_one(number(view, constants, 1))
        && let Some(x) = unchanged(view, 0)
    {
        return value(x);
    }
    let (x, y) = integers(view, constants)?;
    integer(view, x.checked_div(y))
}

pub(super) fn floor_divide(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    // Floor division changes a float.
    let one = matches!(number(view, constants, 1), Some(Number::Int(1)));
    value(unchanged(view, 0).filter(|_| one)?)
}

pub(crate) fn power(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    value(unchanged(view, 0).filter(|_| is_one(number(view, constants, 1)))?)
}

/// Turns the exponent of `pow` into an attribute.
pub(super) fn power_of(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let exponent = view
        .attr("y")
        .or_else(|| view.attr("factor"))
        .and_then(|a| Number::of(view.ctx, a));
    value(unchanged(view, 0).filter(|_| view.operand(1).is_none() && is_one(exponent))?)
}

pub(super) fn increment(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let by = view
        .attr("value")
        .map_or(Some(Number::Float(1.0)), |a| Number::of(view.ctx, a));
    let elem = view.ctx.elem_type(view.result_type(0)?);
    let by = by?.as_elem(view.ctx, elem);
    if is_zero(by, true) {
        return value(unchanged(view, 0)?);
    }
    match (number(view, constants, 0)?, by?) {
        (Number::Int(x), Number::Int(y)) => integer(view, x.checked_add(y)),
        _ => None,
    }
}

/// An operation of two equal operands that returns the operand: maximum, minimum, and, or.
pub(crate) fn same(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    value(unchanged(view, 0).filter(|_| view.operand(0) == view.operand(1))?)
}

fn compare(view: OpView<'_>, constants: &[Option<Attr>], holds: fn(Ordering) -> bool) -> Folded {
    // NaN is not equal to itself.
    if same_operands(view) && !view.ctx.is_continuous(view.operand_type(0)?) {
        return constant(view.ctx.bool_attr(holds(Ordering::Equal)));
    }
    let ordering = match (number(view, constants, 0)?, number(view, constants, 1)?) {
        (Number::Int(x), Number::Int(y)) => x.cmp(&y),
        (Number::Bool(x), Number::Bool(y)) => x.cmp(&y),
        // Types of less than 64 bits are rounded first, by the kernels.
        (Number::Float(x), Number::Float(y)) if view.ctx.elem_type(view.operand_type(0)?) == Type::F64 => {
            x.partial_cmp(&y)?
        }
        _ => return None,
    };
    constant(view.ctx.bool_attr(holds(ordering)))
}

pub(crate) fn equal(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    compare(view, constants, Ordering::is_eq)
}

pub(crate) fn not_equal(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    compare(view, constants, Ordering::is_ne)
}

pub(crate) fn less_than(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    compare(view, constants, Ordering::is_lt)
}

pub(crate) fn less_equal(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    compare(view, constants, Ordering::is_le)
}

pub(crate) fn greater_than(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    compare(view, constants, Ordering::is_gt)
}

pub(crate) fn greater_equal(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    compare(view, constants, Ordering::is_ge)
}

fn truth(view: OpView<'_>, constants: &[Option<Attr>], index: usize) -> Option<bool> {
    match number(view, constants, index)? {
        Number::Bool(value) => Some(value),
        _ => None,
    }
}

/// `op (x, neutral) = x` and `op (x, y)` for constants, for booleans only: other types are converted. If the operation
/// is idempotent, the other boolean is absorbing.
fn logic(
    view: OpView<'_>,
    constants: &[Option<Attr>],
    neutral: bool,
    idempotent: bool,
    op: fn(bool, bool) -> bool,
) -> Folded {
    let (x, y) = (truth(view, constants, 0), truth(view, constants, 1));
    if let (Some(x), Some(y)) = (x, y) {
        return constant(view.ctx.bool_attr(op(x, y)));
    }
    if idempotent && (x == Some(!neutral) || y == Some(!neutral)) {
        return constant(view.ctx.bool_attr(!neutral));
    }
    let kept = if y == Some(neutral) || (idempotent && view.operand(0) == view.operand(1)) {
        unchanged(view, 0)
    } else if x == Some(neutral) {
        unchanged(view, 1)
    } else {
        None
    };
    value(kept?)
}

pub(crate) fn and(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    logic(view, constants, true, true, |x, y| x & y)
}

pub(crate) fn or(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    logic(view, constants, false, true, |x, y| x | y)
}

pub(crate) fn xor(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    logic(view, constants, false, false, |x, y| x ^ y)
}

/// An involution applied twice: negation. The inner operation must have an operand of the same type.
pub(crate) fn twice(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let before = view.body.defining_op(view.operand(0)?)?;
    if view.body.op_name(before) != view.body.op_name(view.op) || view.body.num_operands(before) != 1 {
        return None;
    }
    let original = view.body.operand(before, 0);
    value(Some(original).filter(|&v| Some(view.body.value_type(v)) == view.result_type(0))?)
}

pub(crate) fn not(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    match truth(view, constants, 0) {
        Some(x) => constant(view.ctx.bool_attr(!x)),
        None => twice(view, constants),
    }
}

pub(crate) fn select(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    if view.operand(1) == view.operand(2) {
        return value(unchanged(view, 1)?);
    }
    // True where the condition is, and false elsewhere.
    if truth(view, constants, 1) == Some(true) && truth(view, constants, 2) == Some(false) {
        return value(unchanged(view, 0)?);
    }
    value(unchanged(view, if truth(view, constants, 0)? { 1 } else { 2 })?)
}

/// Folds that hold for finite numbers: `x + 0 = x`, `x * 0 = 0`, `x - x = 0`, `x / x = 1`, `x = x`.
pub(super) fn fast(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let zero = |index| matches!(number(view, constants, index), Some(Number::Float(0.0)));
    let float = |number: f64| constant(Number::Float(number).attr(view.ctx)?);
    match view.name() {
        pd::Add::NAME if zero(1) => value(unchanged(view, 0)?),
        pd::Add::NAME if zero(0) => value(unchanged(view, 1)?),
        pd::Subtract::NAME if zero(1) => value(unchanged(view, 0)?),
        pd::Multiply::NAME if zero(0) || zero(1) => float(0.0),
        pd::Divide::NAME if zero(0) => float(0.0),
        pd::Subtract::NAME if same_operands(view) => float(0.0),
        pd::Divide::NAME if same_operands(view) && view.ctx.is_float(view.result_type(0)?) => float(1.0),
        name if same_operands(view) => constant(view.ctx.bool_attr(implied::of_equals(name)?)),
        _ => None,
    }
}

/// The negation of a comparison of totally ordered values is the opposite comparison, if that has no other use.
pub(super) fn not_of_comparison(rewriter: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let view = rewriter.view(op);
    let (Some(x), Some(ty)) = (view.operand(0), view.result_type(0)) else {
        return false;
    };
    let inner = view.body.defining_op(x).filter(|_| view.body.has_one_use(x));
    let Some(inner) = inner.map(|inner| view.body.view(view.ctx, inner)) else {
        return false;
    };
    let Some(opposite) = implied::opposite(inner.name()) else {
        return false;
    };
    let ordered = inner.operand_type(0).is_some_and(|t| !view.ctx.is_continuous(t));
    if !ordered || inner.result_type(0) != Some(ty) {
        return false;
    }
    let operands = view.body.operands_vec(inner.op);
    let new = rewriter.op(opposite).operands(operands).result(ty).value();
    rewriter.replace_op(op, &[new]);
    true
}

/// A selection on a negated condition exchanges its operands.
pub(super) fn select_on_negation(rewriter: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let view = rewriter.view(op);
    let (Some(condition), Some(x), Some(y)) = (view.operand(0), view.operand(1), view.operand(2)) else {
        return false;
    };
    let not = view
        .body
        .defining_op(condition)
        .map(|not| view.body.view(view.ctx, not));
    let original = not
        .filter(|n| n.name() == pd::LogicalNot::NAME)
        .and_then(|n| n.operand(0));
    let truth = |&v: &ValueId| view.body.value_type(v) == view.body.value_type(condition);
    let Some(original) = original.filter(truth) else {
        return false;
    };
    rewriter.body.set_operands(op, &[original, y, x]);
    true
}

/// The sum of one.
pub(super) fn add_n(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    value(unchanged(view, 0).filter(|_| view.body.num_operands(view.op) == 1)?)
}
