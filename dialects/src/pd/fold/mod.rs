//! Folds and patterns of the operations of the tables.
//!
//! A fold returns an existing value or a constant; a pattern rewrites the operation or creates others. All of
//! them are exact: for floats, `x + 0` is not `x` (for x = -0 it differs), but `x - 0`, `x * 1` and `x / 1` are.
//! Constants are uniform tensors, or lists of integers.

pub(crate) mod arith;
mod constant;
pub(crate) mod counting;
mod dynamic;
mod implied;
mod shape;

use std::sync::{Arc, LazyLock};

use super::rows::ROWS;
use crate::pd;
use pir_ir::{
    Attr, AttrData, Context, ContextBuilder, CountingFn, FoldFn, FoldResult, ImpliesFn, OpDef, OpId, OpView, Rewriter,
    Type, ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

pub(crate) type Folded = Option<SmallVec<[FoldResult; 2]>>;

const FOLDS: &[(&str, FoldFn)] = &[
    (pd::Full::NAME, constant::full),
    (pd::Const::NAME, constant::full),
    (pd::Constant::NAME, constant::full),
    (pd::FullIntArray::NAME, constant::full_int_array),
    (pd::FullLike::NAME, constant::full_like),
    (pd::Shape::NAME, constant::shape),
    (pd::Shape64::NAME, constant::shape),
    (pd::Numel::NAME, constant::numel),
    (pd::Add::NAME, arith::add),
    (pd::Subtract::NAME, arith::subtract),
    (pd::Multiply::NAME, arith::multiply),
    (pd::Divide::NAME, arith::divide),
    (pd::FloorDivide::NAME, arith::floor_divide),
    (pd::ElementwisePow::NAME, arith::power),
    (pd::Pow::NAME, arith::power_of),
    (pd::Maximum::NAME, arith::same),
    (pd::Minimum::NAME, arith::same),
    (pd::BitwiseAnd::NAME, arith::same),
    (pd::BitwiseOr::NAME, arith::same),
    (pd::LogicalAnd::NAME, arith::and),
    (pd::LogicalOr::NAME, arith::or),
    (pd::LogicalXor::NAME, arith::xor),
    (pd::Equal::NAME, arith::equal),
    (pd::NotEqual::NAME, arith::not_equal),
    (pd::LessThan::NAME, arith::less_than),
    (pd::LessEqual::NAME, arith::less_equal),
    (pd::GreaterThan::NAME, arith::greater_than),
    (pd::GreaterEqual::NAME, arith::greater_equal),
    (pd::LogicalNot::NAME, arith::not),
    (pd::BitwiseNot::NAME, arith::twice),
    (pd::Neg::NAME, arith::twice),
    (pd::Where::NAME, arith::select),
    (pd::AddN::NAME, arith::add_n),
    (pd::Increment::NAME, arith::increment),
    (pd::Assign::NAME, shape::same_type),
    (pd::Cast::NAME, shape::cast),
    (pd::Reshape::NAME, shape::unchanged),
    (pd::Squeeze::NAME, shape::unchanged),
    (pd::Unsqueeze::NAME, shape::unchanged),
    (pd::Flatten::NAME, shape::unchanged),
    (pd::Expand::NAME, shape::unchanged),
    (pd::ExpandAs::NAME, shape::unchanged),
    (pd::ReduceAs::NAME, shape::reduce_as),
    (pd::Transpose::NAME, shape::transpose),
    (pd::Concat::NAME, shape::concat),
];

type PatternFn = fn(&mut Rewriter<'_>, OpId, &[Option<Attr>]) -> bool;

const PATTERNS: &[(&str, PatternFn)] = &[
    (pd::Const::NAME, constant::write_as_full),
    (pd::Constant::NAME, constant::write_as_full),
    (pd::Transpose::NAME, shape::transpose_of_transpose),
    (pd::Reshape::NAME, shape::reshape_of_reshape),
    (pd::Cast::NAME, shape::cast_of_cast),
    (pd::LogicalNot::NAME, arith::not_of_comparison),
    (pd::Where::NAME, arith::select_on_negation),
];

/// Operations with folds that hold for finite numbers only.
const FAST_FOLDS: &[&str] = &[
    pd::Add::NAME,
    pd::Subtract::NAME,
    pd::Multiply::NAME,
    pd::Divide::NAME,
    pd::LessThan::NAME,
    pd::LessEqual::NAME,
    pd::GreaterThan::NAME,
    pd::GreaterEqual::NAME,
    pd::Equal::NAME,
    pd::NotEqual::NAME,
];

const COUNTING: &[(&str, CountingFn)] = &[
    (pd::Add::NAME, counting::add),
    (pd::Subtract::NAME, counting::subtract),
    (pd::Increment::NAME, counting::increment),
    (pd::LessThan::NAME, counting::comparison),
    (pd::LessEqual::NAME, counting::comparison),
    (pd::GreaterThan::NAME, counting::comparison),
    (pd::GreaterEqual::NAME, counting::comparison),
    (pd::NotEqual::NAME, counting::comparison),
];

const IMPLICATIONS: &[(&str, ImpliesFn)] = &[
    (pd::LessThan::NAME, implied::comparison),
    (pd::LessEqual::NAME, implied::comparison),
    (pd::GreaterThan::NAME, implied::comparison),
    (pd::GreaterEqual::NAME, implied::comparison),
    (pd::Equal::NAME, implied::comparison),
    (pd::NotEqual::NAME, implied::comparison),
    (pd::LogicalNot::NAME, implied::not),
    (pd::LogicalAnd::NAME, implied::and),
    (pd::LogicalOr::NAME, implied::or),
];

/// The rules of an operation.
#[derive(Clone, Copy, Default)]
struct Rules {
    fold: Option<FoldFn>,
    fast_fold: Option<FoldFn>,
    counting: Option<CountingFn>,
    implies: Option<ImpliesFn>,
}

/// The rules of all operations, by name.
fn rules() -> FxHashMap<&'static str, Rules> {
    let mut rules: FxHashMap<&'static str, Rules> = FxHashMap::default();
    FOLDS
        .iter()
        .for_each(|&(name, fold)| rules.entry(name).or_default().fold = Some(fold));
    FAST_FOLDS
        .iter()
        .for_each(|name| rules.entry(name).or_default().fast_fold = Some(arith::fast));
    COUNTING
        .iter()
        .for_each(|&(name, counting)| rules.entry(name).or_default().counting = Some(counting));
    IMPLICATIONS
        .iter()
        .for_each(|&(name, implies)| rules.entry(name).or_default().implies = Some(implies));
    rules
}

/// Attaches folds to a definition.
pub(super) fn attach(def: &mut OpDef) {
    static RULES: LazyLock<FxHashMap<&'static str, Rules>> = LazyLock::new(rules);
    let rules = RULES.get(&*def.name).copied().unwrap_or_default();
    def.fold = rules.fold;
    def.fast_fold = rules.fast_fold;
    def.counting = rules.counting;
    def.implies = rules.implies;
}

/// Registers the patterns of the operations of the tables, and how constants are materialized.
pub(super) fn register(builder: &mut ContextBuilder) {
    for make in [constant::make_full, constant::make_int_array] {
        builder.register_constants("pd", make);
    }
    builder.register_patterns(|set| {
        // Attributes come first: an operand that replaces one has an unknown value.
        let dynamic = ROWS
            .all
            .iter()
            .filter(|row| dynamic::has_dynamic(row.operands, row.attrs));
        for row in dynamic {
            set.add(row.op, 1, Arc::new(dynamic::operands_to_attributes));
        }
        for &(name, pattern) in PATTERNS {
            set.add(name, 1, Arc::new(pattern));
        }
    });
}

/// The number of a uniform tensor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
    Bool(bool),
}

impl Number {
    /// The number of an attribute.
    pub(crate) fn of(ctx: &Context, attr: Attr) -> Option<Number> {
        match ctx.attr_data(attr) {
            AttrData::Int { value, .. } => Some(Number::Int(*value)),
            AttrData::Float { bits, .. } => Some(Number::Float(f64::from_bits(*bits))),
            AttrData::Bool(value) => Some(Number::Bool(*value)),
            _ => None,
        }
    }

    /// The number as an element of the type; `None` if it is out of range.
    pub(crate) fn as_elem(self, ctx: &Context, elem: Type) -> Option<Number> {
        let float = ctx.is_float(elem);
        Some(match self {
            // The folds of integers do not hold for these.
            _ if ctx.is_complex(elem) => return None,
            Number::Bool(value) if elem == Type::I1 => Number::Bool(value),
            Number::Bool(value) => Number::Int(i128::from(value)).as_elem(ctx, elem)?,
            Number::Int(value) if elem == Type::I1 => Number::Bool(value != 0),
            // A number that a float cannot represent exactly is left to the kernels.
            Number::Int(value) if float => Number::Float(value as f64).exactly(value)?,
            Number::Float(value) if float => Number::Float(value),
            Number::Float(value) if elem == Type::I1 => Number::Bool(value != 0.0),
            Number::Float(value) if value.fract() == 0.0 && value.abs() < 9.0e15 => Number::Int(value as i128),
            Number::Float(_) => return None,
            Number::Int(value) => Number::Int(value),
        })
    }

    fn exactly(self, value: i128) -> Option<Number> {
        matches!(self, Number::Float(f) if f as i128 == value && value.abs() < 1 << 53).then_some(self)
    }

    pub(crate) fn attr(self, ctx: &Context) -> Option<Attr> {
        Some(match self {
            Number::Int(value) => ctx.int_attr(i64::try_from(value).ok()?),
            Number::Float(value) => ctx.float_attr(value),
            Number::Bool(value) => ctx.bool_attr(value),
        })
    }

    /// The attribute of a number that was read from `given`, which in most cases is the same: interning one takes longer.
    fn attr_from(self, ctx: &Context, given: Attr) -> Option<Attr> {
        let is_given = match (self, ctx.attr_data(given)) {
            (Number::Int(number), &AttrData::Int { value, ty: Type::I64 }) => {
                number == value && i64::try_from(value).is_ok()
            }
            (Number::Float(number), &AttrData::Float { bits, ty: Type::F64 }) => number.to_bits() == bits,
            _ => false,
        };
        if is_given { Some(given) } else { self.attr(ctx) }
    }
}

/// The number of the uniform operand at `index`.
pub(crate) fn number(view: OpView<'_>, constants: &[Option<Attr>], index: usize) -> Option<Number> {
    let attr = constants.get(index).copied().flatten()?;
    let elem = view.ctx.elem_type(view.operand_type(index)?);
    match Number::of(view.ctx, attr) {
        Some(number) => number.as_elem(view.ctx, elem),
        // A list with one element.
        None => match view.ctx.attr_ints(attr) {
            Some(&[one]) => Number::Int(one.into()).as_elem(view.ctx, elem),
            _ => None,
        },
    }
}

pub(crate) fn value(value: ValueId) -> Folded {
    Some(smallvec![FoldResult::Value(value)])
}

pub(crate) fn constant(attr: Attr) -> Folded {
    Some(smallvec![FoldResult::Constant(attr)])
}
