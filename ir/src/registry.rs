//! What the IR knows of dialects: definitions of operations, traits, and the interfaces that passes ask.
//!
//! A pass never matches on the name of an operation that is not its own subject. It asks whether the operation
//! reads or writes ([`OpDef::effects`]; an operation that does not say may do anything), whether it may run when the program would not have run it
//! ([`Speculatability`]), how control and values flow through its regions ([`RegionFlow`]), and so on.

use std::borrow::Cow;
use std::ops::Range;

use bitflags::bitflags;
use smallvec::SmallVec;

use crate::body::{Body, OpView};
use crate::context::{Context, OpName};
use crate::diagnostics::Diagnostic;
use crate::entity::{OpId, RegionId, ValueId};
use crate::rewriter::Rewriter;
use crate::types::{Attr, AttrDict, Type};

bitflags! {
    /// Properties of an operation that need no code.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Traits: u32 {
        /// Ends its block.
        const TERMINATOR = 1;
        /// Owns a [`Body`] of its own: nothing inside sees values of the outside.
        const ISOLATED = 1 << 1;
        /// The order of the (two) operands does not matter.
        const COMMUTATIVE = 1 << 2;
        /// Has a symbol name in its attribute `sym_name`.
        const SYMBOL = 1 << 3;
        /// Symbols inside are unique and looked up here.
        const SYMBOL_TABLE = 1 << 4;
        /// Written with a function signature; `function_type` holds its type.
        const FUNCTION = 1 << 5;
        /// Results depend on attributes alone and the operation is free of effects: `pd.full`.
        const CONSTANT = 1 << 6;
        /// The blocks of the regions need no terminator.
        const NO_TERMINATOR = 1 << 7;
        /// Effects are those of the operations in the regions, beside the declared ones.
        const RECURSIVE_EFFECTS = 1 << 8;
        /// A missing terminator of a region is read as an empty `cf.yield`-like [`OpDef::implicit_terminator`].
        const IMPLICIT_TERMINATOR = 1 << 9;
        /// The order of operations in the regions has no meaning and values may be used before they are defined.
        const GRAPH_REGION = 1 << 10;
        /// Results are elementwise in the operands: cheap to compute again.
        const ELEMENTWISE = 1 << 11;
        /// Moves elements about, or makes them up, and computes nothing: as cheap to do again as what is elementwise.
        const MOVEMENT = 1 << 13;
        /// Terminators that leave the enclosing function or program.
        const RETURN_LIKE = 1 << 12;
        /// Gives its operand, under a type that may say more or less of its shape.
        const RESTATES = 1 << 14;
        /// Gives the elements of a list.
        const SPLITS = 1 << 15;
        /// Gives a list of its operands.
        const COMBINES = 1 << 16;
        /// Other attributes than the declared ones are kept where operations of unknown dialects are, as in MLIR.
        const OPEN_ATTRS = 1 << 20;
    }
}

/// What definitions say. Most of it stands in the program itself: a context, which every run of a tool makes, copies none.
pub type Text = Cow<'static, str>;
/// What definitions list, likewise.
pub type List<T> = Cow<'static, [T]>;

/// How many values or regions an entry of a definition stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Variadic,
}

/// A declared operand or result.
#[derive(Clone, Debug)]
pub struct ValueSpec {
    /// The name in the op table.
    pub name: Text,
    /// How many values.
    pub arity: Arity,
    /// The type in the op table's words: `Tensor`, `Tensor[]`, `stack`, …, for messages and for the reference.
    pub ty: Text,
}

/// A declared attribute.
#[derive(Clone, Debug)]
pub struct AttrSpec {
    /// The name.
    pub name: Text,
    /// The type in the op table's words: `int`, `int[]`, `bool`, `DataType`, …
    pub ty: Text,
    /// The default in the op table's words; without one the attribute is required.
    pub default: Option<Text>,
}

/// Whether a region may be left out of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// It must be there.
    Required,
    /// When it is left out, the operation has a region without blocks in its place: `else`.
    MayBeEmpty,
    /// When it is left out, the operation has one region less: `init`.
    MayBeAbsent,
}

/// A declared region.
#[derive(Clone, Debug)]
pub struct RegionSpec {
    /// The words that may stand before the region in the text; the first is printed. Empty when none does.
    pub keywords: &'static [&'static str],
    /// Whether it may be left out.
    pub presence: Presence,
    /// The first keyword may be left out when reading.
    pub bare: bool,
}

/// A kind of memory effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffectKind {
    /// Makes a new resource.
    Alloc,
    /// Reads a resource.
    Read,
    /// Changes a resource.
    Write,
}

/// The resource of an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffectTarget {
    /// What the operand of this index is a handle to.
    Operand(usize),
    /// What the result of this index is a handle to.
    Result(usize),
    /// The world outside of the program: the terminal, the inputs, the fetched outputs.
    World,
}

/// One effect of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect {
    /// What is done.
    pub kind: EffectKind,
    /// To what.
    pub target: EffectTarget,
}

/// Whether an operation may be executed where the program would not have executed it.
///
/// This is apart from effects: an integer division has none, but must not be hoisted out of a loop that may run
/// zero times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speculatability {
    /// Never: it may fail, not end, or has effects.
    Never,
    /// Always: total and free of effects.
    Always,
    /// If everything in its regions is.
    Recursive,
}

/// Where control comes from or goes to: the operation itself, or one of its regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowPoint {
    /// The operation: its operands when control comes from it, its results when control goes to it.
    Parent,
    /// A region: the operands of its terminator, or the arguments of its entry block.
    Region(usize),
}

/// A way that control can take between an operation and its regions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowEdge {
    /// Where from.
    pub from: FlowPoint,
    /// Where to.
    pub to: FlowPoint,
    /// Which operands (of the operation, or of the terminator of the region `from`) become, in order, the
    /// arguments of the region `to` or the results.
    pub operands: Range<usize>,
}

/// How control and values flow through the regions of an operation.
pub trait RegionFlow: Sync + Send {
    /// All ways that control can take.
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]>;

    /// Whether the region of this index runs at least once each time that the operation does.
    fn runs_at_least_once(&self, op: OpView<'_>, region: usize) -> bool;

    /// Whether the region of this index may run more than once each time that the operation does.
    fn is_repeated(&self, op: OpView<'_>, region: usize) -> bool;

    /// Where control goes from a point, if constants tell: the condition of a branch, or the flag with which the
    /// condition of a loop ends. `constant` gives the constant that a value is known to have there, in the form of
    /// [`FoldResult::Constant`]. Points with only one edge need no answer.
    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        let _ = (op, from, constant);
        None
    }

    /// A truth value that decides whether control goes this way, and what it is then: the condition of a branch, or the
    /// flag with which the condition of a loop ends. It is visible where control comes from.
    fn decides(&self, op: OpView<'_>, from: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        let _ = (op, from, to);
        None
    }
}

/// Something that is known since a truth value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Implied {
    /// What another truth value is.
    Value(ValueId, bool),
    /// What the operation of this name, with these operands, and with the attributes and result types of the one that
    /// this follows from, gives.
    Result(OpName, SmallVec<[ValueId; 2]>, bool),
}

/// What the inference of result types or region argument types can look at; the operation need not exist yet.
#[derive(Clone, Copy)]
pub struct InferArgs<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The body that the operands and the regions are in.
    pub body: &'a Body,
    /// The definition of the operation.
    pub def: &'a OpDef,
    /// The operands.
    pub operands: &'a [ValueId],
    /// The attributes.
    pub attrs: AttrDict,
    /// The regions, as far as they have been read.
    pub regions: &'a [RegionId],
}

impl<'a> InferArgs<'a> {
    /// The type of the operand at `index`, if there is one.
    pub fn operand_type(&self, index: usize) -> Option<Type> {
        self.operands.get(index).map(|&v| self.body.value_type(v))
    }

    /// The attribute called `name`.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        self.ctx.dict_get(self.attrs, name)
    }
}

/// The result types of an operation, or why there are none. Of an operation without regions they depend on nothing but
/// the definition, the types of the operands and the attributes: the verifier does not ask twice.
pub type InferFn = fn(InferArgs<'_>) -> Result<SmallVec<[Type; 2]>, String>;
/// The types of the arguments of the entry block of the region of the given index, if they can be told.
pub type RegionArgsFn = fn(InferArgs<'_>, usize) -> Option<SmallVec<[Type; 4]>>;
/// Reports what is wrong with an operation. Types, counts and attributes of the definition were checked before.
pub type VerifyFn = fn(OpView<'_>, &mut Vec<Diagnostic>);
/// What an operation folds to, given the constant values of its operands.
pub type FoldFn = fn(OpView<'_>, &[Option<Attr>]) -> Option<SmallVec<[FoldResult; 2]>>;
/// Makes the operation that has the given constant as its only result, of the given type; nothing if the operation
/// cannot hold it. The constant is in the form of [`FoldResult::Constant`].
pub type MaterializeFn = fn(&mut Rewriter<'_>, Attr, Type) -> Option<OpId>;
/// Simplifies an operation: changes it, or replaces all its results and erases it, and says whether it did. It is given
/// the constant values of the operands; the rewriter inserts before the operation. Each step must bring the program
/// nearer to a simplest form, since it is repeated until nothing changes.
pub type SimplifyFn = fn(&mut Rewriter<'_>, OpId, &[Option<Attr>]) -> bool;
/// The effects of one operation.
pub type EffectsFn = fn(OpView<'_>) -> SmallVec<[Effect; 2]>;

/// What a definition says of the effects of its operation. That there are none has to be said: [`MemoryEffects::NONE`].
#[derive(Clone, Copy)]
pub enum MemoryEffects {
    /// Nothing, as of an operation that is not registered: it may read and write whatever its operands and their aliases
    /// hold, and the world.
    Undeclared,
    /// These.
    Declared(EffectsFn),
    /// Those of a function that it calls: it reads and writes the world, and where the context has operations whose
    /// effects are not declared, one of them may be in the function.
    OfCallee,
}

impl MemoryEffects {
    /// The operation depends on nothing but its operands and attributes, and gives nothing but its results.
    pub const NONE: MemoryEffects = MemoryEffects::Declared(|_| SmallVec::new());
}
/// Whether one operation may be speculated.
pub type SpeculateFn = fn(OpView<'_>) -> Speculatability;

/// What follows from the only result of an operation being one truth value, and that one true or false: a comparison
/// decides about others of the same operands.
pub type ImpliesFn = fn(OpView<'_>, bool) -> Vec<Implied>;

/// Which of the successors of a terminator control goes to, if constants tell. `constant` gives the constant that a
/// value is known to have, in the form of [`FoldResult::Constant`].
pub type ChooseFn = fn(OpView<'_>, &dyn Fn(ValueId) -> Option<Attr>) -> Option<usize>;

/// Arithmetic of whole numbers that loops count with; of operations on one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// The value plus a constant. What does not fit the type wraps around.
    Offset(ValueId, i64),
    /// Whether one value stands in a relation to another.
    Compare(ValueId, Relation, ValueId),
}

/// How whole numbers stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// The first is less.
    Less,
    /// The first is less, or they are equal.
    LessEqual,
    /// The first is greater.
    Greater,
    /// The first is greater, or they are equal.
    GreaterEqual,
    /// They differ.
    NotEqual,
}

impl Relation {
    /// The relation with the two numbers in the other order.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Relation::Less => Relation::Greater,
            Relation::LessEqual => Relation::GreaterEqual,
            Relation::Greater => Relation::Less,
            Relation::GreaterEqual => Relation::LessEqual,
            Relation::NotEqual => Relation::NotEqual,
        }
    }
}

/// What an operation declares of its derivative. That there is none is declared as well: of an operation that says nothing,
/// nothing is assumed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Derivative {
    /// Nothing is said. A result may depend on any operand in any way.
    #[default]
    Undeclared,
    /// The results are constant wherever they have a derivative: comparisons, indices, roundings.
    None,
    /// The results depend differentiably on the operands of these names, and are constant in the others wherever they
    /// have a derivative. Results of integers or truth values are constant in operands that are neither.
    Operands(List<Text>),
}

/// How the results of an operation depend on one of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dependence {
    /// The operation does not say.
    Undeclared,
    /// They are constant in it wherever they have a derivative.
    Constant,
    /// Differentiably.
    Differentiable,
}

/// What an operation has to do with counting.
pub type CountingFn = fn(OpView<'_>) -> Option<Counting>;

/// What a folded result becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldResult {
    /// A value that is there already.
    Value(ValueId),
    /// A constant, in the form in which dialects materialise constants ([`OpDef::materialize`]): a number or truth
    /// value, which all elements of the type of the result have, or a list of the elements, the last dimension
    /// running fastest.
    Constant(Attr),
}

/// A dialect.
#[derive(Clone, Debug)]
pub struct DialectDef {
    /// Its name, the part of an operation name before the dot.
    pub name: Text,
    /// One line.
    pub summary: Text,
    /// The types that are written without a parameter list: `stack` for `cf.stack`.
    pub types: Vec<Text>,
}

/// The definition of an operation: everything the IR knows of it.
#[derive(Clone)]
pub struct OpDef {
    /// `dialect.op`.
    pub name: Text,
    /// One line.
    pub summary: Text,
    /// A paragraph, for the reference.
    pub description: Text,
    /// Properties without code.
    pub traits: Traits,
    /// The declared operands; at most one is not [`Arity::One`], or all after it are optional.
    pub operands: List<ValueSpec>,
    /// The declared attributes. There may be others only if their names have a dot, or they are marks ([`Mark`](crate::Mark)).
    pub attrs: List<AttrSpec>,
    /// The declared results.
    pub results: List<ValueSpec>,
    /// The declared regions.
    pub regions: Vec<RegionSpec>,
    /// How many successor blocks it has.
    pub successors: usize,
    /// The terminator that a region may leave out.
    pub implicit_terminator: Option<&'static str>,
    /// Result types from operands, attributes and regions.
    pub infer: Option<InferFn>,
    /// Region argument types from operands and earlier regions.
    pub region_args: Option<RegionArgsFn>,
    /// Rules beyond the declaration.
    pub verify: Option<VerifyFn>,
    /// Folding. A constant ([`Traits::CONSTANT`]) folds to its own value.
    pub fold: Option<FoldFn>,
    /// Folding that need not keep NaNs, infinities and the signs of zeros, for those who ask for it; tried after
    /// [`OpDef::fold`].
    pub fast_fold: Option<FoldFn>,
    /// What it has to do with counting.
    pub counting: Option<CountingFn>,
    /// What follows from its result.
    pub implies: Option<ImpliesFn>,
    /// For a terminator with several successors: where control goes.
    pub choose: Option<ChooseFn>,
    /// For a constant: how it is made from its value.
    pub materialize: Option<MaterializeFn>,
    /// Simplifications that folding cannot express because they change or make operations.
    pub simplify: Option<SimplifyFn>,
    /// Memory effects. As long as they are not declared, everything is expected of the operation.
    pub effects: MemoryEffects,
    /// Speculation.
    pub speculatable: SpeculateFn,
    /// Control flow through regions.
    pub flow: Option<&'static dyn RegionFlow>,
    /// What it declares of its derivative.
    pub derivative: Derivative,
    /// The name of the gradient operation, if the dialect has a twin for this one.
    pub backward: Option<Text>,
    /// Operands whose shape alone is read.
    pub no_need_buffer: List<Text>,
}

impl OpDef {
    /// A definition without operands, results and attributes, whose effects are not declared.
    pub fn new(name: impl Into<Text>, summary: impl Into<Text>) -> Self {
        OpDef {
            name: name.into(),
            summary: summary.into(),
            description: Text::default(),
            traits: Traits::empty(),
            operands: List::default(),
            attrs: List::default(),
            results: List::default(),
            regions: Vec::new(),
            successors: 0,
            implicit_terminator: None,
            infer: None,
            region_args: None,
            verify: None,
            fold: None,
            fast_fold: None,
            implies: None,
            choose: None,
            counting: None,
            materialize: None,
            simplify: None,
            effects: MemoryEffects::Undeclared,
            speculatable: |_| Speculatability::Always,
            flow: None,
            derivative: Derivative::Undeclared,
            backward: None,
            no_need_buffer: List::default(),
        }
    }

    /// The same with effects that are these.
    #[must_use]
    pub fn with_effects(mut self, effects: MemoryEffects) -> Self {
        self.effects = effects;
        self
    }

    /// Whether the operation has the traits.
    #[inline]
    pub fn has(&self, traits: Traits) -> bool {
        self.traits.contains(traits)
    }
}

impl std::fmt::Debug for OpDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpDef")
            .field("name", &self.name)
            .field("traits", &self.traits)
            .finish_non_exhaustive()
    }
}
