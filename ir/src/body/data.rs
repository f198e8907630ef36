//! The entities in the arenas of a body.

use std::num::NonZeroU32;

use smallvec::SmallVec;

use super::Body;
use crate::diagnostics::Span;
use crate::entity::{BlockId, OpId, OpName, RegionId, Sym, ValueId};
use crate::names::Name;
use crate::types::{AttrDict, Type};

/// A stretch of an arena.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct ArenaRange {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl ArenaRange {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

#[derive(Clone, Debug)]
pub(crate) struct OpData {
    pub(crate) name: OpName,
    pub(crate) attrs: AttrDict,
    pub(crate) block: Option<BlockId>,
    pub(crate) prev: Option<OpId>,
    pub(crate) next: Option<OpId>,
    pub(crate) operands: ArenaRange,
    pub(crate) results: ArenaRange,
    /// Index + 1 into `Body::extras`; 0 for an operation without regions, successors and body; [`DEAD`] for one that
    /// was erased.
    pub(crate) extra: u32,
    pub(crate) span: Span,
    /// Increases along the block; valid when the block states so.
    pub(crate) order: u32,
}

/// In the place of an index into `Body::extras`: the operation was erased.
pub(crate) const DEAD: u32 = u32::MAX;

impl OpData {
    /// Whether the operation was not erased.
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        self.extra != DEAD
    }

    /// Whether all is the same but for the place in the source, and for what follows from the rest.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let of = |op: &Self| {
            (
                op.name,
                op.attrs,
                op.block,
                op.prev,
                op.next,
                op.operands,
                op.results,
                op.extra,
            )
        };
        of(self) == of(other)
    }

    /// The index into `Body::extras`, if the operation has an entry there.
    #[inline]
    pub(crate) fn extra(&self) -> Option<usize> {
        match self.extra {
            0 | DEAD => None,
            index => Some(index as usize - 1),
        }
    }
}

/// A successor block of a terminator and the operands passed to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Successor {
    /// The block.
    pub block: BlockId,
    /// How many operands become its arguments. They come after the operation's own, in order of successors.
    pub operands: u32,
}

#[derive(Default, Debug)]
pub(crate) struct Extra {
    pub(crate) regions: SmallVec<[RegionId; 3]>,
    pub(crate) successors: SmallVec<[Successor; 2]>,
    pub(crate) isolated: Option<Box<Body>>,
}

impl Extra {
    /// Whether all is the same but for a body.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.regions == other.regions && self.successors == other.successors
    }
}

#[derive(Clone, Debug)]
pub(crate) struct BlockData {
    pub(crate) region: Option<RegionId>,
    pub(crate) args: SmallVec<[ValueId; 4]>,
    pub(crate) first: Option<OpId>,
    pub(crate) last: Option<OpId>,
    pub(crate) label: Option<Sym>,
    pub(crate) ordered: bool,
}

impl BlockData {
    /// Whether all is the same but for what follows from the rest.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let of = |block: &Self| (block.region, block.first, block.last, block.label);
        of(self) == of(other) && self.args == other.args
    }
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct RegionData {
    pub(crate) parent: Option<OpId>,
    pub(crate) blocks: SmallVec<[BlockId; 1]>,
}

/// The definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueDef {
    /// The result of this index of an operation.
    Result(OpId, u32),
    /// The argument of this index of a block.
    Arg(BlockId, u32),
    /// Nothing yet: a forward reference while text is read, or a removed value.
    None,
}

/// The data of a value, in as few bytes as possible: most of a program are operations and their results.
#[derive(Clone, Debug)]
pub(crate) struct ValueData {
    /// The operation or the block that defines it.
    owner: Option<NonZeroU32>,
    /// Twice its index there; plus one for the argument of a block.
    place: u32,
    pub(crate) ty: Type,
    /// One more than twice the name; plus one for an element of a pack. 0 for a value without a name.
    name: u32,
}

impl ValueData {
    pub(crate) fn new(def: ValueDef, ty: Type, name: Option<ValueName>) -> Self {
        let mut data = ValueData {
            owner: None,
            place: 0,
            ty,
            name: 0,
        };
        data.set_def(def);
        data.set_name(name);
        data
    }

    /// Whether all is the same but for the name.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        (self.owner, self.place, self.ty) == (other.owner, other.place, other.ty)
    }

    #[inline]
    pub(crate) fn def(&self) -> ValueDef {
        match self.owner {
            None => ValueDef::None,
            Some(raw) if self.place & 1 == 0 => ValueDef::Result(OpId::from_raw(raw), self.place >> 1),
            Some(raw) => ValueDef::Arg(BlockId::from_raw(raw), self.place >> 1),
        }
    }

    /// # Panics
    /// When it is one of more than two thousand million results or arguments, whose types do not fit in memory.
    #[inline]
    pub(crate) fn set_def(&mut self, def: ValueDef) {
        let (owner, index, is_arg) = match def {
            ValueDef::Result(op, index) => (Some(op.raw()), index, 0),
            ValueDef::Arg(block, index) => (Some(block.raw()), index, 1),
            ValueDef::None => (None, 0, 0),
        };
        assert!(index < 1 << 31, "too many results or arguments");
        (self.owner, self.place) = (owner, index << 1 | is_arg);
    }

    #[inline]
    pub(crate) fn name(&self) -> Option<ValueName> {
        let name = self.name.checked_sub(1)?;
        Some(ValueName {
            name: Name::from_raw(name >> 1),
            pack: name & 1 != 0,
        })
    }

    #[inline]
    pub(crate) fn set_name(&mut self, name: Option<ValueName>) {
        self.name = match name {
            Some(ValueName { name, pack }) => (name.raw() << 1 | u32::from(pack)) + 1,
            None => 0,
        };
    }
}

/// The name of a value in the text, without the `%`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ValueName {
    /// The name; shared by all values of a pack.
    pub name: Name,
    /// Whether the value belongs to a pack: `%r:2` defines `%r#0` and `%r#1`.
    pub pack: bool,
}

/// The text of a module beside its operations.
#[derive(Clone, Default, Debug)]
pub(crate) struct ModuleTrivia {
    /// Definitions of aliases that text which is kept refers to.
    pub(crate) aliases: Vec<Box<str>>,
    /// Aliases defined after their first use.
    pub(crate) late_aliases: Vec<Box<str>>,
    /// The data of other tools, `{-# … #-}`.
    pub(crate) resources: Box<str>,
}
