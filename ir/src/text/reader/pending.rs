//! An operation that is being read.

use smallvec::SmallVec;

use crate::body::{Body, Successor};
use crate::context::Context;
use crate::declare::Traits;
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::{OpName, RegionId, Sym, ValueId};
use crate::names::Name;
use crate::ods::Slot;
use crate::registry::OpDef;
use crate::types::{Attr, AttrDict, Type};

/// The name of a result, or of several.
#[derive(Clone, Copy)]
pub(super) struct ResultName {
    pub(super) name: Name,
    /// How many values it denotes.
    pub(super) count: u32,
    /// Where its sigil is.
    pub(super) start: u32,
}

/// The types after the colon of an operation.
#[derive(Default)]
pub(super) struct Types {
    pub(super) operands: Option<SmallVec<[Type; 4]>>,
    pub(super) results: SmallVec<[Type; 4]>,
    pub(super) span: Span,
}

/// The state of parsing an assembly format.
#[derive(Default)]
pub(super) struct FormatState {
    /// The element that comes next.
    pub(super) at: usize,
    /// The names of values in the regions, in the order of the operands that they are bound to.
    pub(super) bound: Vec<(Name, u32)>,
    /// The operation that makes up a region which is not written.
    pub(super) applied: Option<(Box<str>, Span)>,
    pub(super) types: Option<Types>,
}

/// The state of parsing an operation in custom assembly.
#[derive(Default)]
pub(super) struct OdsState {
    /// The element that comes next.
    pub(super) at: usize,
    pub(super) operands: SmallVec<[(u16, ValueId, Span); 6]>,
    pub(super) types: SmallVec<[(u16, Type); 4]>,
    /// Slots whose types are written, be it that there are none.
    pub(super) written: u64,
    /// The types of all operands, and of all results, in one list.
    pub(super) all_operands: Option<Vec<Type>>,
    pub(super) all_results: Option<Vec<Type>>,
    /// The row's region for each region read.
    pub(super) regions: SmallVec<[u16; 2]>,
    /// The counts of elements of a list that a hook reads around its regions.
    pub(super) ints: Vec<i64>,
}

impl OdsState {
    /// Makes it ready for another operation.
    pub(super) fn clear(&mut self) {
        self.at = 0;
        self.operands.clear();
        self.types.clear();
        self.written = 0;
        self.all_operands = None;
        self.all_results = None;
        self.regions.clear();
        self.ints.clear();
    }

    /// Takes over what is read of an operation up to a region, but for the operands.
    pub(super) fn copy_from(&mut self, other: &OdsState) {
        self.at = other.at;
        self.types.extend_from_slice(&other.types);
        self.written = other.written;
        self.all_results.clone_from(&other.all_results);
        self.regions.extend_from_slice(&other.regions);
    }

    /// The types that were read of an operand or a result.
    pub(super) fn types(&self, slot: Slot) -> impl Iterator<Item = Type> {
        self.types
            .iter()
            .filter(move |ty| usize::from(ty.0) == slot)
            .map(|ty| ty.1)
    }
}

/// An operation that is being read. One that has been created is used again for its memory.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) names: Vec<ResultName>,
    /// How many results have names.
    pub(super) num_named: usize,
    pub(super) name: OpName,
    pub(super) span: Span,
    pub(super) comment: String,
    pub(super) generic: bool,
    pub(super) operands: Vec<ValueId>,
    /// The locations of operands in an assembly format.
    pub(super) operand_starts: SmallVec<[u32; 6]>,
    /// The types of the results.
    pub(super) results: Vec<Type>,
    pub(super) successors: SmallVec<[Successor; 2]>,
    pub(super) attrs: Vec<(Sym, Attr)>,
    /// The positions of attribute dictionaries.
    pub(super) dicts: SmallVec<[u32; 2]>,
    pub(super) regions: SmallVec<[RegionId; 3]>,
    pub(super) isolated: Option<Body>,
    /// Which of the declared regions comes next.
    pub(super) next_region: usize,
    /// The position of the arguments of the next region, in front of its brace.
    pub(super) header: Option<usize>,
    /// The arguments of a function, and where their sigils are.
    pub(super) function_args: Vec<(Name, Type, Option<Attr>, u32)>,
    /// The hash of its text, if that came before, and how many types and attributes were read in front of it.
    pub(super) keep: Option<(u64, usize)>,
    /// The state of parsing an assembly format.
    pub(super) format: Option<Box<FormatState>>,
    /// The state of parsing the custom assembly of an operation with a row.
    pub(super) ods: Option<Box<OdsState>>,
}

impl Pending {
    /// Makes it ready for another operation that [`Parser::operation`](super::parser::Parser::operation) reads to its end.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.names.clear();
        self.num_named = 0;
        self.operands.clear();
        self.results.clear();
        self.keep = None;
    }

    /// Makes it ready for any other operation, with the memory that it has.
    pub(super) fn clear(&mut self) {
        self.restart();
        self.comment.clear();
        self.operand_starts.clear();
        self.successors.clear();
        self.attrs.clear();
        self.dicts.clear();
        self.regions.clear();
        self.isolated = None;
        self.next_region = 0;
        self.header = None;
        self.function_args.clear();
        self.format = None;
        self.ods = None;
    }

    /// The operation as it is created, with these attributes.
    #[inline(always)]
    pub(super) fn spec(&self, attrs: AttrDict) -> OpSpec<'_> {
        OpSpec {
            name: self.name,
            operands: &self.operands,
            results: &self.results,
            attrs,
            regions: &self.regions,
            successors: &self.successors,
            span: self.span,
        }
    }

    pub(super) fn def<'c>(&self, ctx: &'c Context) -> Option<&'c OpDef> {
        ctx.op_def(self.name)
    }

    pub(super) fn has(&self, ctx: &Context, traits: Traits) -> bool {
        self.def(ctx).is_some_and(|d| d.has(traits))
    }

    /// Whether the terminator of the region that was read last forwards the results of the preceding operation.
    pub(super) fn forwards(&self, ctx: &Context) -> bool {
        let region = self.ods.as_ref().and_then(|state| state.regions.last());
        let row = ctx.ods(self.name).and_then(|ods| ods.row().ok());
        let region = row
            .zip(region)
            .and_then(|(row, &region)| row.regions.get(usize::from(region)));
        region.is_some_and(|region| region.forwards)
    }

    /// The implicit terminator of the region that was read last.
    pub(super) fn implicit_terminator<'c>(&self, ctx: &'c Context) -> Option<&'c str> {
        if let Some(state) = &self.ods {
            let region = usize::from(*state.regions.last()?);
            let row = ctx.ods(self.name)?.row().ok()?;
            return row.regions.get(region)?.terminator.as_deref();
        }
        self.def(ctx).and_then(|d| d.implicit_terminator)
    }
}
