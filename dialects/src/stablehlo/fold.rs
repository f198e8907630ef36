//! Folds and patterns. All are exact, with XLA's semantics: `x + 0` is not `x` for x = -0, and what wraps around or divides by zero is left
//! to the kernels.

use std::sync::Arc;

use pir_ir::{Attr, AttrData, ContextBuilder, FoldFn, OpId, OpView, Rewriter, Signedness, Type, TypeData, ValueId};

use super::attrs::{Attrs, List};
use super::from_pd::{Num, array, dense};
use super::ops;
use crate::pd::fold::{Folded, Number, arith, constant, number, value};

const FOLDS: &[(&str, FoldFn)] = &[
    (ops::Constant::NAME, own),
    (ops::Add::NAME, |v, c| {
        if is_truth(v) { arith::or(v, c) } else { arith::add(v, c) }
    }),
    (ops::Subtract::NAME, arith::subtract),
    (ops::Multiply::NAME, |v, c| {
        if is_truth(v) {
            arith::and(v, c)
        } else {
            arith::multiply(v, c)
        }
    }),
    (ops::Divide::NAME, arith::divide),
    (ops::Power::NAME, arith::power),
    (ops::Maximum::NAME, |v, c| {
        if is_truth(v) {
            arith::or(v, c)
        } else {
            arith::same(v, c)
        }
    }),
    (ops::Minimum::NAME, |v, c| {
        if is_truth(v) {
            arith::and(v, c)
        } else {
            arith::same(v, c)
        }
    }),
    (ops::And::NAME, |v, c| {
        if is_truth(v) {
            arith::and(v, c)
        } else {
            arith::same(v, c)
        }
    }),
    (ops::Or::NAME, |v, c| {
        if is_truth(v) {
            arith::or(v, c)
        } else {
            arith::same(v, c)
        }
    }),
    (ops::Xor::NAME, arith::xor),
    (ops::Not::NAME, arith::not),
    (ops::Negate::NAME, arith::twice),
    (ops::Compare::NAME, compare),
    (ops::Select::NAME, arith::select),
    (ops::Clamp::NAME, clamp),
    (ops::Convert::NAME, convert),
    (ops::Reshape::NAME, |v, c| same_type(v).or_else(|| same_number(v, c))),
    (ops::BroadcastInDim::NAME, |v, c| {
        in_order(v, "broadcast_dimensions").or_else(|| same_number(v, c))
    }),
    (ops::Transpose::NAME, |v, c| {
        in_order(v, "permutation").or_else(|| same_number(v, c))
    }),
    (ops::Reverse::NAME, |v, c| {
        same_number(v, c).or_else(|| value(v.operand(0).filter(|_| reverses_nothing(v))?))
    }),
    // A slice of all elements.
    (ops::Slice::NAME, |v, c| same_type(v).or_else(|| same_number(v, c))),
    (ops::DynamicSlice::NAME, |v, c| {
        same_type(v).or_else(|| same_number(v, c))
    }),
    (ops::DynamicUpdateSlice::NAME, |v, _| {
        value(v.operand(1).filter(|_| v.operand_type(1) == v.result_type(0))?)
    }),
    (ops::Pad::NAME, pad),
    (ops::Concatenate::NAME, concatenate),
    (ops::Iota::NAME, iota),
];

type PatternFn = fn(&mut Rewriter<'_>, OpId, &[Option<Attr>]) -> bool;

const PATTERNS: &[(&str, PatternFn)] = &[
    (ops::Reshape::NAME, reshape_of_reshape),
    (ops::Transpose::NAME, |r, op, _| composed(r, op, "permutation")),
    (ops::BroadcastInDim::NAME, |r, op, _| {
        composed(r, op, "broadcast_dimensions")
    }),
    (ops::Slice::NAME, slice_of_slice),
    (ops::DynamicSlice::NAME, slice_at_constants),
];

/// The fold of an operation.
pub(super) fn find(name: &str) -> Option<FoldFn> {
    FOLDS.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
}

/// Registers the patterns, and how constants are materialized.
pub(super) fn register_patterns(builder: &mut ContextBuilder) {
    for dialect in ["stablehlo", "chlo"] {
        builder.register_constants(dialect, make_constant);
    }
    for &(name, pattern) in PATTERNS {
        builder.register_pattern(name, 1, Arc::new(pattern));
    }
}

fn attrs(view: OpView<'_>) -> Attrs<'_> {
    Attrs {
        ctx: view.ctx,
        dict: view.body.attrs(view.op),
    }
}

fn dims(view: OpView<'_>, ty: Option<Type>) -> Option<&[i64]> {
    view.ctx.as_tensor(ty?).map(|tensor| tensor.0)
}

fn is_truth(view: OpView<'_>) -> bool {
    view.operand_type(0)
        .is_some_and(|ty| view.ctx.elem_type(ty) == Type::I1)
}

/// The number that all elements of a constant are, or a list of integers.
fn own(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let elements = view.ctx.attr_elements(view.attr("value")?)?;
    let elem = view.ctx.elem_type(elements.ty());
    if elements.is_complex() || elements.is_empty() {
        return None;
    }
    if !elements.is_splat() {
        let is_list = elem == Type::I64
            && view
                .ctx
                .as_tensor(elements.ty())
                .is_some_and(|(dims, _)| dims.len() == 1);
        let list: Vec<i64> = elements.ints().filter(|_| is_list)?.collect();
        return constant(view.ctx.ints_attr(&list));
    }
    let number = match view.ctx.type_data(elem) {
        _ if elem == Type::I1 => Number::Bool(elements.bools()?.next()?),
        TypeData::Float(_) => Number::Float(elements.floats()?.next()?),
        _ => Number::Int(elements.ints()?.next()?.into()),
    };
    constant(number.attr(view.ctx)?)
}

fn make_constant(r: &mut Rewriter<'_>, value: Attr, ty: Type) -> Option<OpId> {
    let (ctx, elem) = (r.ctx, r.ctx.elem_type(ty));
    let (dims, _) = ctx.as_tensor(ty).filter(|_| ctx.is_static(ty))?;
    let list: Vec<Num> = match ctx.attr_data(value) {
        AttrData::Ints(list) if dims == [list.len() as i64] && elem == Type::I64 => {
            list.iter().map(|&n| Num::Int(n)).collect()
        }
        _ => vec![match Number::of(ctx, value)?.as_elem(ctx, elem)? {
            Number::Int(n) => Num::Int(i64::try_from(n).ok()?),
            Number::Float(n) => Num::Float(n),
            Number::Bool(truth) => Num::Int(truth.into()),
        }],
    };
    let is_empty = dims.contains(&0);
    let value = dense(ctx, ty, if is_empty { &[] } else { &list })?;
    Some(r.op(ops::Constant::NAME).attr("value", value).result(ty).build())
}

/// The operand, if it has the type of the result.
fn same_type(view: OpView<'_>) -> Folded {
    value(arith::unchanged(view, 0)?)
}

/// The elements of a constant of one number, whatever their order.
fn same_number(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let is_static = view.result_type(0).is_some_and(|ty| view.ctx.is_static(ty));
    constant(number(view, constants, 0).filter(|_| is_static)?.attr(view.ctx)?)
}

/// The operand, if its dimensions stay where they are.
fn in_order(view: OpView<'_>, list: &str) -> Folded {
    let list = attrs(view).list(list).ok()?;
    let is_identity = list.iter().enumerate().all(|(at, &of)| at as i64 == of);
    same_type(view).filter(|_| is_identity)
}

/// Whether all dimensions that are reversed have one element.
fn reverses_nothing(view: OpView<'_>) -> bool {
    let (Some(dims), Ok(list)) = (dims(view, view.operand_type(0)), attrs(view).list("dimensions")) else {
        return false;
    };
    list.iter()
        .all(|&at| usize::try_from(at).is_ok_and(|at| dims.get(at) == Some(&1)))
}

fn compare(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let is_float = view.ctx.is_float(view.ctx.elem_type(view.operand_type(0)?));
    // In the total order zeros differ, and NaN is equal to itself.
    if is_float && attrs(view).word("compare_type") == Some("TOTALORDER") {
        return None;
    }
    let fold = match attrs(view).word("comparison_direction")? {
        "EQ" => arith::equal,
        "NE" => arith::not_equal,
        "LT" => arith::less_than,
        "LE" => arith::less_equal,
        "GT" => arith::greater_than,
        "GE" => arith::greater_equal,
        _ => return None,
    };
    fold(view, constants)
}

/// A number between bounds. NaN, and bounds in the wrong order, are left to the kernel.
fn clamp(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let of = |index| number(view, constants, index);
    let within = match (of(0)?, of(1)?, of(2)?) {
        (Number::Int(low), Number::Int(x), Number::Int(high)) if low <= high => Number::Int(x.clamp(low, high)),
        // The kernel determines which of two zeros with different signs is taken.
        (Number::Float(low), Number::Float(x), Number::Float(high)) if low <= x && x <= high && x != 0.0 => {
            Number::Float(x)
        }
        (Number::Float(low), Number::Float(x), Number::Float(high)) if x < low && low <= high => Number::Float(low),
        (Number::Float(low), Number::Float(x), Number::Float(high)) if low <= high && high < x => Number::Float(high),
        _ => return None,
    };
    constant(within.attr(view.ctx)?)
}

/// Folds a conversion if the type represents the value exactly.
fn convert(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    if let Some(same) = same_type(view) {
        return Some(same);
    }
    let elem = view.ctx.elem_type(view.result_type(0)?);
    let number = number(view, constants, 0)?;
    let fits = match (view.ctx.type_data(elem), number) {
        _ if elem == Type::I1 => !matches!(number, Number::Float(n) if n.is_nan()),
        (&TypeData::Integer { width, sign }, _) => {
            let (low, high) = match sign {
                Signedness::Unsigned => (0, (1i128 << width.min(64)) - 1),
                _ => (
                    -(1i128 << (width.clamp(1, 64) - 1)),
                    (1i128 << (width.clamp(1, 64) - 1)) - 1,
                ),
            };
            let whole = match number {
                Number::Int(n) => n,
                Number::Bool(truth) => truth.into(),
                Number::Float(n) if n.fract() == 0.0 && n.abs() < 9.0e15 => n as i128,
                Number::Float(_) => return None,
            };
            (low..=high).contains(&whole)
        }
        (TypeData::Float(_), Number::Float(_)) => elem == Type::F64,
        // Whole numbers of 24 bits are in both.
        (TypeData::Float(_), Number::Int(n)) => matches!(elem, Type::F32 | Type::F64) && n.abs() < 1 << 24,
        (TypeData::Float(_), Number::Bool(_)) => true,
        _ => false,
    };
    constant(number.as_elem(view.ctx, elem).filter(|_| fits)?.attr(view.ctx)?)
}

fn pad(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let list = |name| attrs(view).list(name).ok();
    let none = |name| list(name).is_some_and(|list| list.iter().all(|&n| n == 0));
    if none("edge_padding_low") && none("edge_padding_high") && none("interior_padding") {
        return same_type(view);
    }
    // Both by their bits: zeros of two signs differ.
    let (inside, around) = (
        number(view, constants, 0)?.attr(view.ctx)?,
        number(view, constants, 1)?.attr(view.ctx)?,
    );
    constant(Some(inside).filter(|_| inside == around)?)
}

fn concatenate(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let count = view.body.num_operands(view.op);
    if count == 1 {
        return same_type(view);
    }
    let of = |index: usize| number(view, constants, index)?.attr(view.ctx);
    let first = of(0)?;
    constant(Some(first).filter(|_| (1..count).all(|index| of(index) == Some(first)))?)
}

/// Numbers along a dimension of one element are zero.
fn iota(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let ty = view.result_type(0)?;
    let at = usize::try_from(attrs(view).int("iota_dimension").ok()?).ok()?;
    let is_single = dims(view, Some(ty))?.get(at) == Some(&1);
    let zero = Number::Int(0).as_elem(view.ctx, view.ctx.elem_type(ty));
    constant(zero.filter(|_| is_single)?.attr(view.ctx)?)
}

/// The same operation that an operand comes from.
fn before<'a>(view: OpView<'a>) -> Option<OpView<'a>> {
    let inner = view.body.view(view.ctx, view.body.defining_op(view.operand(0)?)?);
    (inner.name() == view.name()).then_some(inner)
}

/// The first of two reshapes is redundant.
fn reshape_of_reshape(r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let inner = before(r.view(op)).and_then(|inner| inner.operand(0));
    let is_static = |x| r.ctx.is_static(r.body.value_type(x));
    let Some(x) = inner.filter(|&x| is_static(x)) else {
        return false;
    };
    r.body.set_operand(op, 0, x);
    true
}

/// Composes two operations that permute or insert dimensions.
fn composed(r: &mut Rewriter<'_>, op: OpId, name: &str) -> bool {
    let view = r.view(op);
    let Some((inner, x)) = before(view).and_then(|inner| Some((inner, inner.operand(0)?))) else {
        return false;
    };
    let (Ok(outer), Ok(inner)) = (attrs(view).list(name), attrs(inner).list(name)) else {
        return false;
    };
    // A permutation lists where each dimension comes from, a broadcast where it goes.
    let (of, by) = if name == "permutation" {
        (&inner, &outer)
    } else {
        (&outer, &inner)
    };
    let both: Option<List> = by
        .iter()
        .map(|&at| of.get(usize::try_from(at).ok()?).copied())
        .collect();
    let Some(both) = both else { return false };
    let all = r.ctx.dict_with(r.body.attrs(op), name, array(r.ctx, &both));
    r.body.set_attrs(op, all);
    r.body.set_operand(op, 0, x);
    true
}

/// A slice of a slice is one of what that is taken from.
fn slice_of_slice(r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let view = r.view(op);
    let found = || -> Option<([Vec<i64>; 3], ValueId)> {
        let inner = before(view)?;
        let x = inner.operand(0)?;
        // Limits of nothing could be in front of where it begins.
        let rank = dims(view, view.result_type(0)).filter(|dims| !dims.contains(&0))?.len();
        let list = |view: OpView<'_>, name| attrs(view).list_of(name, rank).ok();
        let (from, steps) = (list(inner, "start_indices")?, list(inner, "strides")?);
        let through = |places: List| -> Option<Vec<i64>> {
            let along = places.iter().zip(from.iter().zip(&*steps));
            along
                .map(|(place, (from, step))| place.checked_mul(*step)?.checked_add(*from))
                .collect()
        };
        // The last element is in the slice, the one after it need not be in the operand.
        let last: List = list(view, "limit_indices")?.iter().map(|limit| limit - 1).collect();
        let limits = through(last)?.iter().map(|last| last + 1).collect();
        let strides = list(view, "strides")?;
        let strides = strides
            .iter()
            .zip(&*steps)
            .map(|(a, b)| a.checked_mul(*b))
            .collect::<Option<_>>()?;
        Some(([through(list(view, "start_indices")?)?, limits, strides], x))
    };
    let Some((lists, x)) = found() else { return false };
    let ctx = r.ctx;
    let names = ["start_indices", "limit_indices", "strides"];
    let all = names.iter().zip(&lists);
    let all = all.fold(r.body.attrs(op), |dict, (name, list)| {
        ctx.dict_with(dict, name, array(ctx, list))
    });
    r.body.set_attrs(op, all);
    r.body.set_operand(op, 0, x);
    true
}

/// A window at constants is a slice: the place is moved inside first.
fn slice_at_constants(r: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]) -> bool {
    let view = r.view(op);
    let found = || -> Option<(Vec<i64>, Vec<i64>)> {
        let dims = dims(view, view.operand_type(0))
            .filter(|_| view.operand_type(0).is_some_and(|ty| view.ctx.is_static(ty)))?;
        let sizes = attrs(view).list_of("slice_sizes", dims.len()).ok()?;
        let start = |at: usize| match number(view, constants, 1 + at)? {
            Number::Int(n) => Some(n.clamp(0, (dims[at] - sizes[at]).max(0).into()) as i64),
            _ => None,
        };
        let starts: Vec<i64> = (0..dims.len()).map(start).collect::<Option<_>>()?;
        let limits = starts.iter().zip(&sizes).map(|(start, size)| start + size).collect();
        Some((starts, limits))
    };
    let (Some((starts, limits)), Some(x), Some(ty)) = (found(), view.operand(0), view.result_type(0)) else {
        return false;
    };
    let ctx = r.ctx;
    let slice = r
        .op(ops::Slice::NAME)
        .operand(x)
        .attr("start_indices", array(ctx, &starts));
    let slice = slice.attr("limit_indices", array(ctx, &limits));
    let new = slice
        .attr("strides", array(ctx, &vec![1; starts.len()]))
        .result(ty)
        .value();
    let old = r.body.result(op, 0);
    r.take_name(old, new);
    r.replace_op(op, &[new]);
    true
}
