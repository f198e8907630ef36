//! The registry of dialects: definitions of operations, traits, and the interfaces that passes ask.
//!
//! A pass never matches on the name of an operation that is not its own subject. It asks whether the operation
//! reads or writes ([`OpDef::effects`]; an operation that declares none may do anything), whether it may run when the
//! program would not have run it ([`Speculatability`]), how control and values flow through its regions ([`RegionFlow`]),
//! and so on.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::assembly::Assembly;
use crate::body::{Body, OpView};
use crate::context::Context;
use crate::declare::{
    AttrSpec, Counting, Derivative, Effect, FlowEdge, FlowPoint, FoldResult, Implied, List, RegionSpec,
    Speculatability, Text, Traits, ValueSpec,
};
use crate::diagnostics::Diagnostic;
use crate::entity::{OpId, RegionId, ValueId};
use crate::rewriter::Rewriter;
use crate::semantics::Semantics;
use crate::type_def::TypeDef;
use crate::types::{Attr, AttrDict, Type};
/// How control and values flow through the regions of an operation.
pub trait RegionFlow: Sync + Send {
    /// All ways that control can take.
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]>;

    /// The ways that control can take from a point. To be overridden where there may be many regions: the time that this
    /// takes is to be that of its answer.
    fn edges_from(&self, op: OpView<'_>, from: FlowPoint) -> SmallVec<[FlowEdge; 6]> {
        let mut edges = self.edges(op);
        edges.retain(|edge| edge.from == from);
        edges
    }

    /// The ways that control can take to a point; see [`RegionFlow::edges_from`].
    fn edges_to(&self, op: OpView<'_>, to: FlowPoint) -> SmallVec<[FlowEdge; 6]> {
        let mut edges = self.edges(op);
        edges.retain(|edge| edge.to == to);
        edges
    }

    /// Whether the region of this index runs at least once each time that the operation does.
    fn runs_at_least_once(&self, op: OpView<'_>, region: usize) -> bool;

    /// Whether the region of this index may run more than once each time that the operation does.
    fn is_repeated(&self, op: OpView<'_>, region: usize) -> bool;

    /// Where control goes from a point, if constants determine it: the condition of a branch, or the flag with which the
    /// condition of a loop ends. `constant` gives the constant that a value is known to have there, in the form of
    /// [`FoldResult::Constant`]. Points with only one edge need no answer.
    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        let _ = (op, from, constant);
        None
    }

    /// A truth value that decides whether control goes this way, and what it is then: the condition of a branch, or the
    /// flag with which the condition of a loop ends. It is visible where control comes from.
    fn branch_condition(&self, op: OpView<'_>, from: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        let _ = (op, from, to);
        None
    }

    /// The number of the operation's own arguments or results at the end of those of a point: an entry region makes them, and they are
    /// known by their place. What is added is before them.
    fn own_inputs(&self, op: OpView<'_>, to: FlowPoint) -> usize {
        let _ = (op, to);
        0
    }

    /// Whether the number of operands that control takes along from a point is fixed.
    fn is_fixed(&self, op: OpView<'_>, from: FlowPoint) -> bool {
        let _ = (op, from);
        false
    }

    /// The terminator of an entry region: a region that runs once before the others, and forwards its arguments and a
    /// value that it creates. `None` if the operation cannot have one.
    fn entry_end(&self) -> Option<&'static str> {
        None
    }

    /// The operation of the same form that the adjoint of this one is made as.
    fn dual(&self) -> Option<&'static str> {
        None
    }
}

/// The input of type inference of results and region arguments; the operation need not exist yet.
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
    /// The type of the operand at `index`, if present.
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

/// The types of the arguments of the entry block of the region of the given index, if they are known.
pub type RegionArgsFn = fn(InferArgs<'_>, usize) -> Option<SmallVec<[Type; 4]>>;

/// Reports errors of an operation. Types, counts and attributes of the definition were checked before.
pub type VerifyFn = fn(OpView<'_>, &mut Vec<Diagnostic>);

/// Folds an operation, given the constant values of its operands.
pub type FoldFn = fn(OpView<'_>, &[Option<Attr>]) -> Option<SmallVec<[FoldResult; 2]>>;

/// Makes the operation that has the given constant as its only result, of the given type; nothing if the operation
/// cannot hold it. The constant is in the form of [`FoldResult::Constant`].
pub type MaterializeFn = fn(&mut Rewriter<'_>, Attr, Type) -> Option<OpId>;

/// The effects of one operation.
pub type EffectsFn = fn(OpView<'_>) -> SmallVec<[Effect; 2]>;

/// The declared memory effects of an operation. The absence of effects must be declared: [`MemoryEffects::None`].
#[derive(Clone, Copy, Debug, Default)]
pub enum MemoryEffects {
    /// Nothing, as of an operation that is not registered: it may read and write whatever its operands and their aliases
    /// hold, and the world.
    #[default]
    Undeclared,
    /// None: the operation depends on nothing but its operands and attributes, and gives nothing but its results.
    None,
    /// These.
    Declared(EffectsFn),
    /// The effects of the function that it calls: it reads and writes the world, and where the context has operations whose effects are not
    /// declared, one of them may be in the function.
    OfCallee,
}

/// Whether one operation may be speculated.
pub type SpeculateFn = fn(OpView<'_>) -> Speculatability;

/// The facts that follow if the only result of an operation, a truth value, is true or false: a comparison decides about others of the same
/// operands.
pub type ImpliesFn = fn(OpView<'_>, bool) -> Vec<Implied>;

/// The successor that a terminator selects, if constants determine it. `constant` gives the constant that a value is known to have, in the
/// form of [`FoldResult::Constant`].
pub type ChooseFn = fn(OpView<'_>, &dyn Fn(ValueId) -> Option<Attr>) -> Option<usize>;

/// The role of an operation in counting.
pub type CountingFn = fn(OpView<'_>) -> Option<Counting>;

/// A dialect.
#[derive(Clone, Debug)]
pub struct DialectDef {
    /// Its name, the part of an operation name before the dot.
    pub name: Text,
    /// One line.
    pub summary: Text,
    /// Its types.
    pub types: Vec<TypeDef>,
    /// Whether it may have other types, which are kept as text. Without this they are refused.
    pub other_types: bool,
}

impl DialectDef {
    /// A dialect without types.
    pub fn new(name: impl Into<Text>, summary: impl Into<Text>) -> Self {
        DialectDef {
            name: name.into(),
            summary: summary.into(),
            types: Vec::new(),
            other_types: false,
        }
    }
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
    /// A program with the operation, for the reference; empty if there is none.
    pub example: Text,
    /// Properties without code.
    pub traits: Traits,
    /// The declared operands; at most one is not [`Arity::One`](crate::Arity::One), or all after it are optional.
    pub operands: List<ValueSpec>,
    /// The declared attributes. There may be others only if their names have a dot, or they are marks ([`Mark`](crate::Mark)).
    pub attrs: List<AttrSpec>,
    /// The declared results.
    pub results: List<ValueSpec>,
    /// The declared regions.
    pub regions: Vec<RegionSpec>,
    /// How many successor blocks it has, or [`OpDef::ANY_SUCCESSORS`].
    pub successors: usize,
    /// The terminator that a region may omit.
    pub implicit_terminator: Option<&'static str>,
    /// Result types from operands, attributes and regions.
    pub infer: Option<InferFn>,
    /// Region argument types from operands and earlier regions.
    pub region_args: Option<RegionArgsFn>,
    /// Rules beyond the declaration.
    pub verify: Option<VerifyFn>,
    /// Whether those rules are about nothing but the attributes, the types of operands and results, and what is in the regions:
    /// then operations without regions that are alike in these are all right if one of them is.
    pub verifies_types: bool,
    /// Folding. A constant ([`Traits::CONSTANT`]) folds to its own value.
    pub fold: Option<FoldFn>,
    /// Folding that need not keep NaNs, infinities and the signs of zeros, for those who ask for it; tried after
    /// [`OpDef::fold`].
    pub fast_fold: Option<FoldFn>,
    /// Its role in counting.
    pub counting: Option<CountingFn>,
    /// The facts that follow from its result.
    pub implies: Option<ImpliesFn>,
    /// For a terminator with several successors: where control goes.
    pub choose: Option<ChooseFn>,
    /// Memory effects. As long as they are not declared, everything is expected of the operation.
    pub effects: MemoryEffects,
    /// Speculation.
    pub speculatable: SpeculateFn,
    /// Control flow through regions.
    pub flow: Option<&'static dyn RegionFlow>,
    /// The declaration of its derivative.
    pub derivative: Derivative,
    /// The name of the gradient operation, if the dialect has a twin for this one.
    pub backward: Option<Text>,
    /// Operands whose shape alone is read.
    pub no_need_buffer: List<Text>,
    /// Its semantics and derivative, if they are defined by programs.
    pub semantics: Option<Arc<dyn Semantics>>,
    /// Its custom assembly in MLIR, which is accepted beside the form here.
    pub assembly: Option<Assembly>,
    /// The dialect whose name MLIR omits in front of operations directly in its regions.
    pub default_dialect: &'static str,
}

impl OpDef {
    /// So many successors as there are; at least one.
    pub const ANY_SUCCESSORS: usize = usize::MAX;

    /// A definition without operands, results and attributes, whose effects are not declared.
    pub fn new(name: impl Into<Text>, summary: impl Into<Text>) -> Self {
        OpDef {
            name: name.into(),
            summary: summary.into(),
            description: Text::default(),
            example: Text::default(),
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
            verifies_types: false,
            fold: None,
            fast_fold: None,
            implies: None,
            choose: None,
            counting: None,
            effects: MemoryEffects::Undeclared,
            speculatable: |_| Speculatability::Always,
            flow: None,
            derivative: Derivative::Undeclared,
            backward: None,
            no_need_buffer: List::default(),
            semantics: None,
            assembly: None,
            default_dialect: "",
        }
    }

    /// The same with effects that are these.
    #[must_use]
    pub fn with_effects(mut self, effects: MemoryEffects) -> Self {
        self.effects = effects;
        self
    }

    /// Whether other operations can take its place.
    pub fn is_composite(&self) -> bool {
        self.semantics
            .as_ref()
            .is_some_and(|semantics| semantics.has_expansion())
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
