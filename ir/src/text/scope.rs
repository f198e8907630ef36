//! Names of values while text is read: which are visible, which were, and which are used before their definition.
//!
//! Symbols are dense numbers, so that what a name stands for is a place in a table. The table is shared by all bodies:
//! an entry says which body it belongs to.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::context::Sym;
use crate::diagnostics::Span;
use crate::entity::{BlockId, ValueId};
use crate::types::Type;

/// A visible name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    /// The value, or the first of a pack.
    pub(super) first: ValueId,
    /// How many values the name stands for.
    pub(super) count: u32,
    /// Where its sigil is.
    pub(super) start: u32,
}

/// What a symbol stands for, or stood for.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The number of the body; 0 for none.
    body: u32,
    /// How many values; 0 when the region has ended.
    count: u32,
    first: ValueId,
    start: u32,
}

/// Uses of a name before its definition: which element of a pack, what stands there meanwhile, and where.
pub(super) type Forward = FxHashMap<Sym, SmallVec<[(u32, ValueId, Span); 1]>>;

/// The names of one region.
#[derive(Default, Debug)]
pub(super) struct Region {
    /// What this region defined.
    defined: Vec<Sym>,
    /// What its names hid: names of bodies around this one.
    hidden: Vec<(Sym, Slot)>,
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

/// How many slots are made at a time.
const CHUNK: usize = 1 << 12;

/// A slot for each symbol, in pieces that stay where they are when there are more. A piece with no name of an open body
/// may have been taken away: most names of a function occur nowhere else.
#[derive(Default, Debug)]
struct Slots {
    chunks: Vec<Box<[Slot]>>,
}

impl Slots {
    #[inline]
    fn get(&self, sym: Sym) -> Option<&Slot> {
        let chunk = self.chunks.get(sym.index() / CHUNK)?;
        chunk.get(sym.index() % CHUNK)
    }

    /// The slot of a symbol, made if there is none. `open` tells which bodies are being read.
    #[inline]
    fn slot(&mut self, sym: Sym, open: &[bool]) -> &mut Slot {
        let (chunk, at) = (sym.index() / CHUNK, sym.index() % CHUNK);
        if self.chunks.get(chunk).is_none_or(|c| c.is_empty()) {
            self.make(chunk, open);
        }
        &mut self.chunks[chunk][at]
    }

    #[cold]
    fn make(&mut self, chunk: usize, open: &[bool]) {
        let none = Slot {
            body: 0,
            count: 0,
            first: ValueId::new(0),
            start: 0,
        };
        // The names of the body that is being read are likely to be in the last piece.
        let old = self.chunks.len().checked_sub(2).and_then(|at| self.chunks.get_mut(at));
        let mut memory = match old {
            Some(old) if old.iter().all(|slot| !open[slot.body as usize]) => std::mem::take(old),
            _ => Box::default(),
        };
        match memory.is_empty() {
            true => memory = vec![none; CHUNK].into(),
            false => memory.fill(none),
        }
        if self.chunks.len() <= chunk {
            self.chunks.resize_with(chunk + 1, Box::default);
        }
        self.chunks[chunk] = memory;
    }

    /// The symbols with a slot, and their slots.
    fn iter(&self) -> impl Iterator<Item = (Sym, &Slot)> {
        let chunks = self.chunks.iter().enumerate();
        chunks.flat_map(|(chunk, slots)| (chunk * CHUNK..).map(|at| Sym(at as u32)).zip(slots.iter()))
    }
}

/// The names of the bodies that are being read.
#[derive(Default, Debug)]
pub(super) struct Scopes {
    slots: Slots,
    bodies: Vec<Body>,
    /// The number of the innermost body; 0 for none.
    number: u32,
    /// For each number of a body whether it is being read.
    open: Vec<bool>,
    /// Regions that were left, for the memory that they have.
    spare: Vec<Region>,
}

/// How many names a region may have had that is kept for its memory.
const MAX_SPARE: usize = 1024;

impl Scopes {
    /// Enters a body of its own, in which nothing is visible.
    pub(super) fn enter_body(&mut self) {
        if self.open.is_empty() {
            self.open.push(false);
        }
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

    /// Takes back a region that [`Scopes::leave`] gave, emptied of what was used without a definition.
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
        for sym in region.defined.drain(..) {
            self.slots.slot(sym, &self.open).count = 0;
        }
        for (sym, old) in region.hidden.drain(..) {
            *self.slots.slot(sym, &self.open) = old;
        }
        region
    }

    /// The innermost region.
    pub(super) fn region(&mut self) -> Option<&mut Region> {
        self.bodies.last_mut().and_then(|b| b.regions.last_mut())
    }

    #[inline]
    fn slot(&self, sym: Sym) -> Option<&Slot> {
        self.slots.get(sym).filter(|s| s.body == self.number)
    }

    #[inline]
    pub(super) fn get(&self, sym: Sym) -> Option<Binding> {
        self.slot(sym).filter(|s| s.count > 0).map(|s| Binding {
            first: s.first,
            count: s.count,
            start: s.start,
        })
    }

    /// Where a name that is not visible any more was defined.
    pub(super) fn ended(&self, sym: Sym) -> Option<u32> {
        self.slot(sym).filter(|s| s.count == 0).map(|s| s.start)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = Sym> + '_ {
        let number = self.number;
        let visible = move |slot: &Slot| slot.body == number && slot.count > 0;
        self.slots.iter().filter(move |(_, s)| visible(s)).map(|(sym, _)| sym)
    }

    /// Defines a name. Gives the older definition if the name is visible already; that stays.
    pub(super) fn define(&mut self, sym: Sym, binding: Binding) -> Result<(), Binding> {
        let Some(body) = self.bodies.last_mut() else {
            return Ok(());
        };
        let slot = self.slots.slot(sym, &self.open);
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
                region.hidden.push((sym, *slot));
            } else if !is_root {
                // With the root region ends the body, and with it all that is in it.
                region.defined.push(sym);
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
