//! Entities, text format, verifier and registries of the pir-opt IR.
//!
//! # The IR in a page
//!
//! A [`Module`] is an ordered list of operations. An operation has operands, results, attributes, regions and
//! successors. A region is a list of blocks; a block has arguments and operations, the last of which may be a
//! terminator. Every value is defined once: by an operation or as a block argument. A value that is defined in a
//! region is not visible outside it, while regions see the values of the regions around them.
//!
//! An isolated operation, like a function, owns a [`Body`]: the arenas of its region tree, addressed by typed ids.
//! Bodies share a [`Context`], which interns types, attributes and names and knows the registered dialects.
//! This crate knows no dialect by name: an [`OpDef`] declares what it needs to know about an operation.

#![forbid(unsafe_code)]

mod analyses;
mod analysis_cache;
mod arithmetic;
mod assembly;
mod body;
pub mod budget;
mod by_value;
mod clone;
mod constants;
mod constraints;
mod context;
mod declare;
mod diagnostics;
mod dominance;
mod edit;
mod elements;
mod elements_builder;
mod entity;
mod expand;
mod float_kind;
mod flow;
mod flow_edit;
mod flow_form;
mod intern;
mod lists;
mod marks;
mod module;
mod names;
mod ods;
mod patterns;
mod plan;
mod recent;
mod registry;
mod restate;
mod rewriter;
mod semantics;
mod steps;
pub mod text;
mod threads;
mod type_def;
mod types;
mod uses;
pub mod verify;
mod walk;

pub use analyses::{Analysis, Preserved};
pub use arithmetic::{Arith, Arithmetic, Structured};
pub use assembly::{Assembly, AssemblyHook};
pub use body::{BlockOps, Body, OpView, Successor, Use, Uses, ValueDef, ValueName, operand_ranges};
pub use by_value::ByValue;
pub use constraints::{Constraints, verify_by_constraints};
pub use context::{Context, ContextBuilder, Definitions};
pub use declare::{
    Arity, AttrSpec, Counting, Dependence, Derivative, Effect, EffectKind, EffectTarget, FlowEdge, FlowPoint,
    FoldResult, Implied, List, Presence, RegionSpec, Relation, Speculatability, Text, Traits, ValueSpec,
};
pub use diagnostics::{Diagnostic, Edit, Label, Part, Severity, Span, nearest};
pub use dominance::{DominanceInfo, DominatorTree};
pub use edit::OpSpec;
pub use elements::{Element, ElementKind, Elements, ElementsForm};
pub use elements_builder::{ElementsBuilder, ElementsError};
pub use entity::{BlockId, OpId, OpName, RegionId, Sym, UseId, ValueId};
pub use expand::{expand_composites, expand_composites_but, expand_composites_in, has_composites};
pub use float_kind::FloatKind;
pub use flow_edit::{Detached, Edited, FlowEdit, NewLane, Ready, Refused};
pub use flow_form::{FlowForm, FlowKind};
pub use lists::Lists;
pub use marks::{Mark, MarkedOps};
pub use module::Module;
pub use names::Name;
pub use ods::{Ods, OdsHook, OdsRows, write_defaults};
pub use patterns::{Pattern, PatternSet, Patterns};
pub use registry::{
    ChooseFn, CountingFn, DialectDef, EffectsFn, FoldFn, ImpliesFn, InferArgs, InferFn, MaterializeFn, MemoryEffects,
    OpDef, RegionArgsFn, RegionFlow, SpeculateFn, VerifyFn,
};
pub use restate::Restated;
pub use rewriter::{InsertPoint, OpBuilder, Rewriter, ValueMap};
pub use semantics::{Semantics, VjpArgs, effects_by_semantics, infer_by_semantics, speculate_by_semantics};
pub use steps::steps;
pub use threads::pays_off_on_threads;
pub use type_def::{DialectType, TypeDef, TypeParamKind, TypeParamSpec, TypeVerifyFn};
pub use types::{Attr, AttrData, AttrDict, DYNAMIC, Signedness, Type, TypeData, TypeName, TypeParam};
pub use walk::PreOrder;
