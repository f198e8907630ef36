//! Declarations in the definitions of operations, without code: traits, specifications of operands, attributes and regions, effects, ways
//! of control, and marks.

use std::borrow::Cow;
use std::ops::Range;

use bitflags::bitflags;
use smallvec::SmallVec;

use crate::entity::{OpName, ValueId};
use crate::types::Attr;

bitflags! {
    /// Properties of an operation that need no code.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Traits: u32 {
        /// Ends its block.
        const TERMINATOR = 1;
        /// Owns a [`Body`]: operations inside do not see outer values.
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
        /// The effects include those of the operations in the regions.
        const RECURSIVE_EFFECTS = 1 << 8;
        /// A missing terminator of a region is read as an empty `cf.yield`-like [`OpDef::implicit_terminator`].
        const IMPLICIT_TERMINATOR = 1 << 9;
        /// The order of operations in the regions has no meaning and values may be used before they are defined.
        const GRAPH_REGION = 1 << 10;
        /// Results are elementwise in the operands: cheap to compute again.
        const ELEMENTWISE = 1 << 11;
        /// Takes about as long as reading a number from memory: recomputing is cheaper than recording.
        const CHEAP = 1 << 22;
        /// Moves elements about, or makes them up, and computes nothing: as cheap to do again as what is elementwise.
        const MOVEMENT = 1 << 13;
        /// Terminators that leave the enclosing function or program.
        const RETURN_LIKE = 1 << 12;
        /// Returns its operand, with a more or less precise shape in its type.
        const RESTATES = 1 << 14;
        /// Gives the elements of a list.
        const SPLITS = 1 << 15;
        /// Gives a list of its operands.
        const COMBINES = 1 << 16;
        /// In the generic form, operands of successors are among its operands: `operandSegmentSizes` gives the number for each.
        const SEGMENTS = 1 << 21;
        /// Other attributes than the declared ones are kept where operations of unknown dialects are, as in MLIR.
        const OPEN_ATTRS = 1 << 20;
    }
}

/// A text in a definition. Most of it is in the program itself: a context, which every run of a tool makes, copies none.
pub type Text = Cow<'static, str>;

/// A list in a definition, likewise.
pub type List<T> = Cow<'static, [T]>;

/// How many values or regions an entry of a definition denotes.
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

/// Whether a region may be omitted in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// The operand must be present.
    Required,
    /// When it is omitted, the operation has a region without blocks in its place: `else`.
    MayBeEmpty,
    /// When it is omitted, the operation has one region less: `init`.
    MayBeAbsent,
    /// The last one, which may be repeated one or more times.
    Repeated,
}

/// A declared region.
#[derive(Clone, Debug)]
pub struct RegionSpec {
    /// The words that may be before the region in the text; the first is printed. Empty when none does.
    pub keywords: &'static [&'static str],
    /// Whether it may be omitted.
    pub presence: Presence,
    /// The first keyword may be omitted when reading.
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
    /// The memory that the operand of this index is a handle to.
    Operand(usize),
    /// The memory that the result of this index is a handle to.
    Result(usize),
    /// The world outside of the program: the terminal, the inputs, the fetched outputs.
    World,
    /// Buffers: any two of them may be names of the same elements.
    Memory,
}

impl EffectTarget {
    /// Whether others than the program may see it, or buffers that are not known.
    pub fn is_shared(self) -> bool {
        matches!(self, EffectTarget::World | EffectTarget::Memory)
    }
}

/// Reads and writes of all that others may see, too.
pub(crate) fn shared_effects() -> impl Iterator<Item = Effect> {
    let kinds = [EffectKind::Read, EffectKind::Write];
    let both = move |target| kinds.map(|kind| Effect { kind, target });
    [EffectTarget::World, EffectTarget::Memory].into_iter().flat_map(both)
}

/// One effect of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect {
    /// The kind of access.
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

/// The source or the target of control flow: the operation itself, or one of its regions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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
    /// The first argument or result that they become. Those before it the operation makes itself: an induction variable.
    pub at: usize,
}

impl FlowEdge {
    /// A way along which operands become the arguments of a region or the results from the first one on.
    pub fn new(from: FlowPoint, to: FlowPoint, operands: Range<usize>) -> Self {
        FlowEdge {
            from,
            to,
            operands,
            at: 0,
        }
    }

    /// The operand that becomes the argument or result at a place.
    pub fn operand_of(&self, input: usize) -> Option<usize> {
        let operand = input.checked_sub(self.at)? + self.operands.start;
        self.operands.contains(&operand).then_some(operand)
    }

    /// The place of the argument or result that an operand becomes.
    pub fn input_of(&self, operand: usize) -> Option<usize> {
        let contained = self.operands.contains(&operand);
        contained.then(|| operand - self.operands.start + self.at)
    }
}

/// A fact that follows from a truth value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Implied {
    /// The value of another truth value.
    Value(ValueId, bool),
    /// The result of the operation of this name on these operands, with the attributes and result types of the operation that implies it.
    Result(OpName, SmallVec<[ValueId; 2]>, bool),
}

/// Arithmetic of whole numbers that loops count with; of operations on one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// The value plus a constant. What does not fit the type wraps around.
    Offset(ValueId, i64),
    /// Whether one value is in a relation to another.
    Compare(ValueId, Relation, ValueId),
}

/// The relation of two integers.
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

/// The declaration of an operation's derivative. That there is none is declared as well: of an operation that states nothing, nothing is
/// assumed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Derivative {
    /// Nothing is declared. A result may depend on any operand in any way.
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
    /// The operation does not declare it.
    Undeclared,
    /// They are constant in it wherever they have a derivative.
    Constant,
    /// Differentiably.
    Differentiable,
}

/// The replacement of a folded result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldResult {
    /// An existing value.
    Value(ValueId),
    /// A constant, in the form in which dialects materialise constants ([`MaterializeFn`](crate::MaterializeFn)): a number or truth
    /// value, which all elements of the type of the result have, or a list of the elements, the last dimension
    /// running fastest.
    Constant(Attr),
}
