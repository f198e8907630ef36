//! Folds and simplifications of the operations of the tables.
//!
//! A fold gives a value that is there already, or a constant; a simplification changes the operation or makes others.
//! All of them hold bit for bit: for floats, `x + 0` is not `x` (that is wrong for x = -0), but `x - 0`, `x * 1` and
//! `x / 1` are. Constants are numbers that all elements have, or lists of integers.

mod arith;
mod constant;
mod counting;
mod dynamic;
mod implied;
mod shape;

use pir_ir::{
    Attr, AttrData, Context, CountingFn, FoldFn, FoldResult, ImpliesFn, MaterializeFn, OpDef, OpView, SimplifyFn, Type,
    ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

type Folded = Option<SmallVec<[FoldResult; 2]>>;

const FOLDS: &[(&str, FoldFn)] = &[
    ("pd.full", constant::full),
    ("pd.const", constant::full),
    ("pd.constant", constant::full),
    ("pd.full_int_array", constant::full_int_array),
    ("pd.full_like", constant::full_like),
    ("pd.shape", constant::shape),
    ("pd.shape64", constant::shape),
    ("pd.numel", constant::numel),
    ("pd.add", arith::add),
    ("pd.subtract", arith::subtract),
    ("pd.multiply", arith::multiply),
    ("pd.divide", arith::divide),
    ("pd.floor_divide", arith::floor_divide),
    ("pd.elementwise_pow", arith::power),
    ("pd.pow", arith::power_of),
    ("pd.maximum", arith::same),
    ("pd.minimum", arith::same),
    ("pd.bitwise_and", arith::same),
    ("pd.bitwise_or", arith::same),
    ("pd.logical_and", arith::and),
    ("pd.logical_or", arith::or),
    ("pd.logical_xor", arith::xor),
    ("pd.equal", arith::equal),
    ("pd.not_equal", arith::not_equal),
    ("pd.less_than", arith::less_than),
    ("pd.less_equal", arith::less_equal),
    ("pd.greater_than", arith::greater_than),
    ("pd.greater_equal", arith::greater_equal),
    ("pd.logical_not", arith::not),
    ("pd.bitwise_not", arith::twice),
    ("pd.neg", arith::twice),
    ("pd.where", arith::select),
    ("pd.add_n", arith::add_n),
    ("pd.increment", arith::increment),
    ("pd.assign", shape::same_type),
    ("pd.cast", shape::cast),
    ("pd.reshape", shape::unchanged),
    ("pd.squeeze", shape::unchanged),
    ("pd.unsqueeze", shape::unchanged),
    ("pd.flatten", shape::unchanged),
    ("pd.expand", shape::unchanged),
    ("pd.expand_as", shape::unchanged),
    ("pd.reduce_as", shape::reduce_as),
    ("pd.transpose", shape::transpose),
    ("pd.concat", shape::concat),
];

const SIMPLIFICATIONS: &[(&str, SimplifyFn)] = &[
    ("pd.const", constant::write_as_full),
    ("pd.constant", constant::write_as_full),
    ("pd.transpose", shape::transpose_of_transpose),
    ("pd.reshape", shape::reshape_of_reshape),
    ("pd.cast", shape::cast_of_cast),
    ("pd.logical_not", arith::not_of_comparison),
    ("pd.where", arith::select_on_negation),
];

/// Operations with rules that hold for ordinary numbers only.
const FAST_FOLDS: &[&str] = &[
    "pd.add",
    "pd.subtract",
    "pd.multiply",
    "pd.divide",
    "pd.less_than",
    "pd.less_equal",
    "pd.greater_than",
    "pd.greater_equal",
    "pd.equal",
    "pd.not_equal",
];

const COUNTING: &[(&str, CountingFn)] = &[
    ("pd.add", counting::add),
    ("pd.subtract", counting::subtract),
    ("pd.increment", counting::increment),
    ("pd.less_than", counting::comparison),
    ("pd.less_equal", counting::comparison),
    ("pd.greater_than", counting::comparison),
    ("pd.greater_equal", counting::comparison),
    ("pd.not_equal", counting::comparison),
];

const IMPLICATIONS: &[(&str, ImpliesFn)] = &[
    ("pd.less_than", implied::comparison),
    ("pd.less_equal", implied::comparison),
    ("pd.greater_than", implied::comparison),
    ("pd.greater_equal", implied::comparison),
    ("pd.equal", implied::comparison),
    ("pd.not_equal", implied::comparison),
    ("pd.logical_not", implied::not),
    ("pd.logical_and", implied::and),
    ("pd.logical_or", implied::or),
];

/// What the tables above say of one operation.
#[derive(Clone, Copy, Default)]
struct Rules {
    fold: Option<FoldFn>,
    fast_fold: Option<FoldFn>,
    counting: Option<CountingFn>,
    implies: Option<ImpliesFn>,
    simplify: Option<SimplifyFn>,
    materialize: Option<MaterializeFn>,
}

/// The folds and simplifications of all operations, by name.
pub(super) struct Folds(FxHashMap<&'static str, Rules>);

impl Folds {
    /// What the tables say.
    pub(super) fn new() -> Self {
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
        SIMPLIFICATIONS
            .iter()
            .for_each(|&(name, simplify)| rules.entry(name).or_default().simplify = Some(simplify));
        rules.entry("pd.full").or_default().materialize = Some(constant::make_full);
        rules.entry("pd.full_int_array").or_default().materialize = Some(constant::make_int_array);
        Folds(rules)
    }

    /// Gives a definition its folds and simplifications.
    pub(super) fn attach(&self, def: &mut OpDef) {
        let rules = self.0.get(&*def.name).copied().unwrap_or_default();
        def.fold = rules.fold;
        def.fast_fold = rules.fast_fold;
        def.counting = rules.counting;
        def.implies = rules.implies;
        def.simplify = rules.simplify;
        def.materialize = rules.materialize;
        // Nothing has both arguments of its own to make attributes of and another simplification, but for `reshape`,
        // whose own begins with that.
        if def.simplify.is_none() && dynamic::has_dynamic(def) {
            def.simplify = Some(dynamic::operands_to_attributes);
        }
    }
}

/// A number that all elements of a tensor have.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Int(i128),
    Float(f64),
    Bool(bool),
}

impl Number {
    /// The number that an attribute holds.
    fn of(ctx: &Context, attr: Attr) -> Option<Number> {
        match ctx.attr_data(attr) {
            AttrData::Int { value, .. } => Some(Number::Int(*value)),
            AttrData::Float { bits, .. } => Some(Number::Float(f64::from_bits(*bits))),
            AttrData::Bool(value) => Some(Number::Bool(*value)),
            _ => None,
        }
    }

    /// The number as an element of the type; `None` if it is none.
    fn as_elem(self, ctx: &Context, elem: Type) -> Option<Number> {
        let float = ctx.is_float(elem);
        Some(match self {
            Number::Bool(value) if elem == Type::I1 => Number::Bool(value),
            Number::Bool(value) => Number::Int(i128::from(value)).as_elem(ctx, elem)?,
            Number::Int(value) if elem == Type::I1 => Number::Bool(value != 0),
            // A number that a float cannot hold is the kernels' business.
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

    fn attr(self, ctx: &Context) -> Option<Attr> {
        Some(match self {
            Number::Int(value) => ctx.int_attr(i64::try_from(value).ok()?),
            Number::Float(value) => ctx.float_attr(value),
            Number::Bool(value) => ctx.bool_attr(value),
        })
    }
}

/// The number that all elements of the operand at `index` have.
fn number(view: OpView<'_>, constants: &[Option<Attr>], index: usize) -> Option<Number> {
    let attr = constants.get(index).copied().flatten()?;
    let elem = view.ctx.elem_type(view.operand_type(index)?);
    match Number::of(view.ctx, attr) {
        Some(number) => number.as_elem(view.ctx, elem),
        // A list of one.
        None => match view.ctx.attr_ints(attr) {
            Some(&[one]) => Number::Int(one.into()).as_elem(view.ctx, elem),
            _ => None,
        },
    }
}

fn value(value: ValueId) -> Folded {
    Some(smallvec![FoldResult::Value(value)])
}

fn constant(attr: Attr) -> Folded {
    Some(smallvec![FoldResult::Constant(attr)])
}
