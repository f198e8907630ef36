//! Folds of `arith`, `index` and `math`: values that are there already, and constants. What is computed of constants alone, the kernels
//! compute (`ConstantEvaluator`).

use pir_ir::{
    Attr, AttrData, Context, ContextBuilder, Counting, CountingFn, ElementsBuilder, ElementsForm, FoldFn, FoldResult,
    OpId, OpView, Relation, Rewriter, Type, TypeData, ValueId,
};
use smallvec::{SmallVec, smallvec};

use super::types::{element, int_width};
use super::{arith, index};

type Folded = Option<SmallVec<[FoldResult; 2]>>;

fn value(value: ValueId) -> Folded {
    Some(smallvec![FoldResult::Value(value)])
}

/// A number that a constant holds, in the form in which passes exchange constants.
fn constant(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let (ctx, attr) = (view.ctx, view.attr("value")?);
    let ty = element(ctx, view.result_type(0)?);
    let number = match ctx.attr_data(attr) {
        AttrData::Bool(_) => attr,
        AttrData::Int { value, .. } if int_width(ctx, ty).is_some_and(|width| width <= 64) => {
            let (width, value) = (int_width(ctx, ty)?, *value as i64);
            match ty {
                Type::I1 => ctx.bool_attr(value & 1 != 0),
                _ => ctx.int_attr(value << (64 - width) >> (64 - width)),
            }
        }
        AttrData::Float { bits, .. } => ctx.float_attr(f64::from_bits(*bits)),
        AttrData::Elements(elements) if elements.is_splat() || elements.len() == 1 => match ctx.type_data(ty) {
            TypeData::Float(_) => ctx.float_attr(elements.floats()?.next()?),
            _ if ty == Type::I1 => ctx.bool_attr(elements.ints()?.next()? != 0),
            _ => ctx.int_attr(elements.ints()?.next()?),
        },
        _ => return None,
    };
    Some(smallvec![FoldResult::Constant(number)])
}

/// The attribute of a constant of a type of numbers, or of a tensor or a vector of them.
pub(super) fn typed(ctx: &Context, number: Attr, ty: Type) -> Option<Attr> {
    let elem = element(ctx, ty);
    let int = |attr| match ctx.attr_data(attr) {
        AttrData::Int { value, .. } => Some(*value),
        AttrData::Bool(value) => Some(i128::from(*value)),
        _ => None,
    };
    if elem == ty {
        return Some(match ctx.type_data(ty) {
            _ if ty == Type::I1 => ctx.bool_attr(int(number)? != 0),
            TypeData::Integer { .. } if int_width(ctx, ty).is_none() => return None,
            TypeData::Integer { .. } | TypeData::Index => ctx.attr(AttrData::Int {
                value: int(number)?,
                ty,
            }),
            TypeData::Float(_) => {
                let bits = ctx.attr_f64(number)?.to_bits();
                ctx.attr(AttrData::Float { bits, ty })
            }
            _ => return None,
        });
    }
    if !ctx.as_elements(ty)?.0.iter().all(|&dim| dim >= 0) {
        return None;
    }
    let (bits, bytes) = match ctx.type_data(elem) {
        TypeData::Integer { width, .. } if *width <= 64 => (int(number)? as u64, width.div_ceil(8) as usize),
        TypeData::Index => (int(number)? as u64, 8),
        _ => match elem {
            Type::F64 => (ctx.attr_f64(number)?.to_bits(), 8),
            Type::F32 => (u64::from((ctx.attr_f64(number)? as f32).to_bits()), 4),
            _ => return None,
        },
    };
    let bits = if elem == Type::I1 { bits & 1 } else { bits };
    let mut builder = ElementsBuilder::new(bytes).ok()?;
    builder.push(bits, bytes).ok()?;
    let elements = builder.finish(ctx, ty, ElementsForm::Dense).ok()?;
    Some(ctx.attr(AttrData::Elements(elements)))
}

fn make_constant(r: &mut Rewriter<'_>, number: Attr, ty: Type) -> Option<OpId> {
    let attr = typed(r.ctx, number, ty)?;
    Some(r.op(arith::Constant::NAME).attr("value", attr).result(ty).build())
}

fn make_index_constant(r: &mut Rewriter<'_>, number: Attr, ty: Type) -> Option<OpId> {
    let attr = (ty == Type::INDEX).then(|| typed(r.ctx, number, ty))??;
    Some(r.op(index::Constant::NAME).attr("value", attr).result(ty).build())
}

/// How constants are materialized; most dialects have none of their own.
pub(super) fn register_constants(builder: &mut ContextBuilder) {
    builder.register_constants("index", make_index_constant);
    for dialect in ["arith", "math", "index", "memref", "tensor", "scf"] {
        builder.register_constants(dialect, make_constant);
    }
}

/// Facts about two operands.
struct Pair {
    x: ValueId,
    y: ValueId,
    a: Option<i64>,
    b: Option<i64>,
}

fn pair(view: OpView<'_>, constants: &[Option<Attr>]) -> Option<Pair> {
    let known = |at: usize| constants.get(at).copied().flatten().and_then(|attr| int(view, attr));
    Some(Pair {
        x: view.operand(0)?,
        y: view.operand(1)?,
        a: known(0),
        b: known(1),
    })
}

/// An integer, of truth values with a sign as well: true is -1.
fn int(view: OpView<'_>, attr: Attr) -> Option<i64> {
    match *view.ctx.attr_data(attr) {
        AttrData::Bool(value) => Some(-i64::from(value)),
        AttrData::Int { value, .. } => i64::try_from(value).ok(),
        _ => None,
    }
}

/// A constant of the type of the result.
fn number(view: OpView<'_>, value: i64) -> Folded {
    let elem = element(view.ctx, view.result_type(0)?);
    Some(smallvec![FoldResult::Constant(match elem {
        Type::I1 => view.ctx.bool_attr(value & 1 != 0),
        _ => view.ctx.int_attr(value),
    })])
}

macro_rules! fold {
    ($($function:ident |$view:ident, $p:ident| $body:expr;)*) => { $(
        fn $function($view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
            let $p = pair($view, constants)?;
            $body
        }
    )* };
}

fold! {
    add |view, p| match (p.a, p.b) {
        (_, Some(0)) => value(p.x),
        (Some(0), _) => value(p.y),
        _ => undone(view, &p),
    };
    subtract |view, p| match p.b {
        Some(0) => value(p.x),
        _ if p.x == p.y => number(view, 0),
        _ => redone(view, &p),
    };
    multiply |view, p| match (p.a, p.b) {
        (Some(0), _) | (_, Some(0)) => number(view, 0),
        (_, Some(1)) if !is_bool(view) => value(p.x),
        (Some(1), _) if !is_bool(view) => value(p.y),
        _ => None,
    };
    divide |view, p| match p.b {
        Some(1) if !is_bool(view) => value(p.x),
        _ => None,
    };
    remainder |view, p| match p.b {
        Some(1) if !is_bool(view) => number(view, 0),
        _ => None,
    };
    and |view, p| match (p.a, p.b) {
        (Some(0), _) | (_, Some(0)) => number(view, 0),
        (_, Some(-1)) => value(p.x),
        (Some(-1), _) => value(p.y),
        _ if p.x == p.y => value(p.x),
        _ => None,
    };
    or |view, p| match (p.a, p.b) {
        (Some(-1), _) | (_, Some(-1)) => number(view, -1),
        (_, Some(0)) => value(p.x),
        (Some(0), _) => value(p.y),
        _ if p.x == p.y => value(p.x),
        _ => None,
    };
    xor |view, p| match (p.a, p.b) {
        (_, Some(0)) => value(p.x),
        (Some(0), _) => value(p.y),
        _ if p.x == p.y => number(view, 0),
        // The same again takes it back.
        _ => inner(view, p.x, arith::Xori::NAME).and_then(|[a, b]| match (b == p.y, a == p.y) {
            (true, _) => value(a),
            (_, true) => value(b),
            _ => same_constant(view, b, p.y).then(|| value(a))?,
        }),
    };
    shift |_view, p| match p.b {
        Some(0) => value(p.x),
        _ => None,
    };
    least_or_greatest |_view, p| (p.x == p.y).then(|| value(p.x))?;
    compare_same |view, p| {
        let holds = matches!(view.int("predicate")?, 0 | 3 | 5 | 7 | 9);
        (p.x == p.y).then(|| number(view, -i64::from(holds)))?
    };
}

fn is_bool(view: OpView<'_>) -> bool {
    view.result_type(0).is_some_and(|ty| element(view.ctx, ty) == Type::I1)
}

/// The operands of the operation that gives a value, if that is called so.
fn inner(view: OpView<'_>, of: ValueId, name: &str) -> Option<[ValueId; 2]> {
    let maker = view.body.view(view.ctx, view.body.defining_op(of)?);
    (maker.name() == name).then_some([maker.operand(0)?, maker.operand(1)?])
}

fn same_constant(view: OpView<'_>, a: ValueId, b: ValueId) -> bool {
    let known = |value| view.body.constant(view.ctx, value);
    known(a).is_some() && known(a) == known(b) && view.body.value_type(a) == view.body.value_type(b)
}

/// (x - y) + y, y + (x - y)
fn undone(view: OpView<'_>, p: &Pair) -> Folded {
    let minus = |difference, y| inner(view, difference, arith::Subi::NAME).filter(|&[_, subtracted]| subtracted == y);
    minus(p.x, p.y).or_else(|| minus(p.y, p.x)).and_then(|[x, _]| value(x))
}

/// (x + y) - y, (x + y) - x
fn redone(view: OpView<'_>, p: &Pair) -> Folded {
    let [a, b] = inner(view, p.x, arith::Addi::NAME)?;
    match (b == p.y, a == p.y) {
        (true, _) => value(a),
        (_, true) => value(b),
        _ => None,
    }
}

/// The floating-point number that an operand is.
fn float(view: OpView<'_>, constants: &[Option<Attr>], at: usize) -> Option<f64> {
    view.ctx.attr_f64(constants.get(at).copied().flatten()?)
}

/// The number that leaves others unchanged, bit by bit, in a sum, difference, product or quotient: NaNs are not distinguished.
fn float_neutral(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let is = |at: usize, number: f64| float(view, constants, at).is_some_and(|v| v.to_bits() == number.to_bits());
    let (neutral, commutes) = match view.name() {
        arith::Addf::NAME => (-0.0, true),
        arith::Subf::NAME => (0.0, false),
        arith::Mulf::NAME => (1.0, true),
        _ => (1.0, false),
    };
    if is(1, neutral) {
        return value(view.operand(0)?);
    }
    (commutes && is(0, neutral)).then(|| value(view.operand(1)?))?
}

fn negate(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let inner = view.body.view(view.ctx, view.body.defining_op(view.operand(0)?)?);
    (inner.name() == arith::Negf::NAME).then(|| value(inner.operand(0)?))?
}

fn select(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let (condition, yes, no) = (view.operand(0)?, view.operand(1)?, view.operand(2)?);
    if yes == no {
        return value(yes);
    }
    if let Some(truth) = constants
        .first()
        .copied()
        .flatten()
        .and_then(|attr| view.ctx.attr_bool(attr))
    {
        return value(if truth { yes } else { no });
    }
    let known = |at: usize| {
        constants
            .get(at)
            .copied()
            .flatten()
            .and_then(|attr| view.ctx.attr_bool(attr))
    };
    let same = view.result_type(0) == Some(view.body.value_type(condition)) && is_bool(view);
    (same && known(1) == Some(true) && known(2) == Some(false)).then(|| value(condition))?
}

/// A conversion there and back again.
fn back_again(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let inner = view.body.view(view.ctx, view.body.defining_op(view.operand(0)?)?);
    let widening = matches!(
        (inner.name(), view.name()),
        (arith::Extsi::NAME | arith::Extui::NAME, arith::Trunci::NAME)
            | (arith::Extf::NAME, arith::Truncf::NAME)
            | (arith::Bitcast::NAME, arith::Bitcast::NAME)
    );
    let from_index = matches!(
        (inner.name(), view.name()),
        (arith::IndexCast::NAME, arith::IndexCast::NAME) | (arith::IndexCastui::NAME, arith::IndexCastui::NAME)
    ) && inner.operand_type(0) != Some(Type::INDEX);
    let same = inner.operand_type(0) == view.result_type(0);
    // A number with more bits than `index` is truncated by it.
    let fits = |ty| int_width(view.ctx, element(view.ctx, ty)).is_some_and(|width| width <= 64);
    (same && (widening || from_index && inner.operand_type(0).is_some_and(fits))).then(|| value(inner.operand(0)?))?
}

pub(super) fn fold(name: &str) -> Option<FoldFn> {
    Some(match name {
        arith::Constant::NAME | index::Constant::NAME | index::BoolConstant::NAME => constant,
        arith::Addi::NAME | index::Add::NAME => add,
        arith::Subi::NAME | index::Sub::NAME => subtract,
        arith::Muli::NAME | index::Mul::NAME => multiply,
        arith::Divsi::NAME | arith::Divui::NAME | arith::Ceildivsi::NAME | arith::Ceildivui::NAME => divide,
        arith::Floordivsi::NAME | index::Divs::NAME | index::Divu::NAME => divide,
        arith::Remsi::NAME | arith::Remui::NAME | index::Rems::NAME | index::Remu::NAME => remainder,
        arith::Andi::NAME | index::And::NAME => and,
        arith::Ori::NAME | index::Or::NAME => or,
        arith::Xori::NAME | index::Xor::NAME => xor,
        arith::Shli::NAME | arith::Shrsi::NAME | arith::Shrui::NAME => shift,
        arith::Maxsi::NAME | arith::Maxui::NAME | arith::Minsi::NAME | arith::Minui::NAME => least_or_greatest,
        arith::Maximumf::NAME | arith::Minimumf::NAME | arith::Maxnumf::NAME | arith::Minnumf::NAME => {
            least_or_greatest
        }
        arith::Cmpi::NAME => compare_same,
        arith::Addf::NAME | arith::Subf::NAME | arith::Mulf::NAME | arith::Divf::NAME => float_neutral,
        arith::Negf::NAME => negate,
        arith::Select::NAME => select,
        arith::Trunci::NAME | arith::Truncf::NAME | arith::Bitcast::NAME => back_again,
        arith::IndexCast::NAME | arith::IndexCastui::NAME => back_again,
        _ => return None,
    })
}

/// Whether a value is a single integer that can be counted with.
fn counts(view: OpView<'_>, value: ValueId) -> bool {
    int_width(view.ctx, view.body.value_type(value)).is_some_and(|width| (8..=64).contains(&width))
}

fn offset(view: OpView<'_>, of: usize, by: usize, sign: i64) -> Option<Counting> {
    let (x, y) = (view.operand(of)?, view.operand(by)?);
    let by = i64::try_from(view.body.constant_int(view.ctx, y)?)
        .ok()?
        .checked_mul(sign)?;
    counts(view, x).then_some(Counting::Offset(x, by))
}

/// How operations count, for the trip counts of loops.
pub(super) fn counting(name: &str) -> Option<CountingFn> {
    match name {
        arith::Addi::NAME | index::Add::NAME => Some(|view| offset(view, 0, 1, 1).or_else(|| offset(view, 1, 0, 1))),
        arith::Subi::NAME | index::Sub::NAME => Some(|view| offset(view, 0, 1, -1)),
        arith::Cmpi::NAME => Some(|view| {
            let relation = match view.int("predicate")? {
                1 => Relation::NotEqual,
                2 => Relation::Less,
                3 => Relation::LessEqual,
                4 => Relation::Greater,
                5 => Relation::GreaterEqual,
                _ => return None,
            };
            let (x, y) = (view.operand(0)?, view.operand(1)?);
            (counts(view, x) && counts(view, y)).then_some(Counting::Compare(x, relation, y))
        }),
        _ => None,
    }
}
