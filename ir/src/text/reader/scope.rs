//! Names of values while text is read: which are visible, which were, and which are used before their definition.
//!
//! The table of what names denote is shared by all bodies: an entry names its body. Most names of a
//! function occur nowhere else, so that the entries of bodies that were read are taken for others.

use std::num::NonZeroU32;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::diagnostics::Span;
use crate::entity::{BlockId, Sym, ValueId};
use crate::names::Name;
use crate::text::name_table::NameTable;
use crate::types::Type;

/// A visible name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    /// The value, or the first of a pack.
    pub(super) first: ValueId,
    /// How many values the name denotes.
    pub(super) count: u32,
    /// Where its sigil is.
    pub(super) start: u32,
}

/// The meaning of a name, at present or before.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The number of the body; 0 for none.
    body: u32,
    /// How many values; 0 when the region has ended.
    count: u32,
    first: ValueId,
    start: u32,
}

impl Slot {
    const NONE: Slot = Slot {
        body: 0,
        count: 0,
        first: ValueId::from_raw(NonZeroU32::MIN),
        start: 0,
    };
}

/// Uses of a name before its definition: which element of a pack, what is there meanwhile, and where.
pub(super) type Forward = FxHashMap<Name, SmallVec<[(u32, ValueId, Span); 1]>>;

/// The names of one region.
#[derive(Default, Debug)]
pub(super) struct Region {
    /// The names defined by this region.
    defined: Vec<Name>,
    /// The outer meanings that its names shadow: names of bodies around this one.
    hidden: Vec<(Name, Slot)>,
    /// Values used before their definition.
    pub(super) forward: Forward,
    /// Labels of blocks, and whether the block was defined.
    pub(super) blocks: FxHashMap<Sym, (BlockId, bool, Span)>,
    /// The types of what branches pass to blocks that were not defined yet.
    pub(super) passed: FxHashMap<BlockId, Vec<Type>>,
}

/// The open regions of one body.
#[derive(Debug)]
struct Body {
    number: u32,
    regions: Vec<Region>,
}

/// The names of the bodies that are being read.
#[derive(Debug)]
pub(super) struct Scopes {
    slots: NameTable<Slot>,
    bodies: Vec<Body>,
    /// The number of the innermost body; 0 for none.
    number: u32,
    /// For each number of a body whether it is being read.
    open: Vec<bool>,
    /// Regions that were left, for the memory that they have.
    spare: Vec<Region>,
}

/// About how many bytes of a text define a name, at least.
const MIN_DEFINITION: usize = 16;

/// How many names a region may have had that is kept for its memory.
const MAX_SPARE: usize = 1024;

impl Scopes {
    /// For a text of this length.
    pub(super) fn new(source: usize) -> Self {
        Scopes {
            slots: NameTable::new(Slot::NONE, source / MIN_DEFINITION),
            bodies: Vec::new(),
            number: 0,
            open: vec![false],
            spare: Vec::new(),
        }
    }

    /// Enters an isolated body, in which nothing is visible.
    pub(super) fn enter_body(&mut self) {
        let number = self.open.len() as u32;
        self.open.push(true);
        self.number = number;
        self.bodies.push(Body {
            number,
            regions: Vec::new(),
        });
    }

    /// Leaves a body whose regions have ended.
    pub(super) fn leave_body(&mut self) {
        if let Some(body) = self.bodies.pop() {
            self.open[body.number as usize] = false;
            self.number = self.bodies.last().map_or(0, |b| b.number);
        }
    }

    pub(super) fn enter(&mut self) {
        if let Some(body) = self.bodies.last_mut() {
            body.regions.push(self.spare.pop().unwrap_or_default());
        }
    }

    /// Reuses the memory of a region that [`Scopes::leave`] returned.
    pub(super) fn recycle(&mut self, mut region: Region) {
        if region.defined.capacity() <= MAX_SPARE && region.blocks.capacity() <= MAX_SPARE && self.spare.len() < 16 {
            region.forward.clear();
            region.blocks.clear();
            region.passed.clear();
            self.spare.push(region);
        }
    }

    /// Leaves a region. Gives it back, with what it used without a definition.
    pub(super) fn leave(&mut self) -> Region {
        let Some(mut region) = self.bodies.last_mut().and_then(|b| b.regions.pop()) else {
            return Region::default();
        };
        let is_spare = |slot: &Slot| !self.open[slot.body as usize];
        for name in region.defined.drain(..) {
            self.slots.slot(name, is_spare).count = 0;
        }
        for (name, old) in region.hidden.drain(..) {
            *self.slots.slot(name, is_spare) = old;
        }
        region
    }

    /// The innermost region.
    pub(super) fn region(&mut self) -> Option<&mut Region> {
        self.bodies.last_mut().and_then(|b| b.regions.last_mut())
    }

    #[inline]
    fn slot(&self, name: Name) -> Option<Slot> {
        Some(self.slots.get(name)).filter(|s| s.body == self.number && s.body != 0)
    }

    #[inline]
    pub(super) fn get(&self, name: Name) -> Option<Binding> {
        self.slot(name).filter(|s| s.count > 0).map(|s| Binding {
            first: s.first,
            count: s.count,
            start: s.start,
        })
    }

    /// Where a name that is not visible any more was defined.
    pub(super) fn ended(&self, name: Name) -> Option<u32> {
        self.slot(name).filter(|s| s.count == 0).map(|s| s.start)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = Name> + '_ {
        let number = self.number;
        let visible = move |slot: &Slot| slot.body == number && slot.count > 0;
        self.slots.iter().filter(move |(_, s)| visible(s)).map(|(name, _)| name)
    }

    /// Defines a name. Gives the older definition if the name is visible already; that stays.
    pub(super) fn define(&mut self, name: Name, binding: Binding) -> Result<(), Binding> {
        let Some(body) = self.bodies.last_mut() else {
            return Ok(());
        };
        let slot = self.slots.slot(name, |slot| !self.open[slot.body as usize]);
        if slot.body == body.number && slot.count > 0 {
            return Err(Binding {
                first: slot.first,
                count: slot.count,
                start: slot.start,
            });
        }
        let is_root = body.regions.len() == 1;
        if let Some(region) = body.regions.last_mut() {
            if slot.count > 0 && self.open[slot.body as usize] {
                region.hidden.push((name, *slot));
            } else if !is_root {
                // With the root region ends the body, and with it all that is in it.
                region.defined.push(name);
            }
        }
        *slot = Slot {
            body: body.number,
            count: binding.count,
            first: binding.first,
            start: binding.start,
        };
        Ok(())
    }
}
