//! Names of values while text is read: which are visible, which were, and which are used before their definition.

use rustc_hash::FxHashMap;

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
    pub(super) span: Span,
}

/// The names of one region.
#[derive(Default, Debug)]
pub(super) struct Region {
    /// What the names of this region hid or added.
    undo: Vec<(Sym, Option<Binding>)>,
    /// Values used before their definition.
    pub(super) forward: Vec<(Sym, u32, ValueId, Span)>,
    /// Labels of blocks, and whether the block was defined.
    pub(super) blocks: FxHashMap<Sym, (BlockId, bool, Span)>,
    /// The types of what branches pass to blocks that were not defined yet.
    pub(super) passed: FxHashMap<BlockId, Vec<Type>>,
}

/// The names of one isolated body.
#[derive(Default, Debug)]
pub(super) struct Scope {
    visible: FxHashMap<Sym, Binding>,
    pub(super) regions: Vec<Region>,
    /// Names of regions that have ended, for messages.
    ended: FxHashMap<Sym, Span>,
}

impl Scope {
    pub(super) fn enter(&mut self) {
        self.regions.push(Region::default());
    }

    /// Leaves a region. Gives it back, with what it used without a definition.
    pub(super) fn leave(&mut self) -> Region {
        let mut region = self.regions.pop().unwrap_or_default();
        for (sym, old) in region.undo.drain(..).rev() {
            let ended = match old {
                Some(old) => self.visible.insert(sym, old),
                None => self.visible.remove(&sym),
            };
            if let Some(binding) = ended {
                self.ended.insert(sym, binding.span);
            }
        }
        region
    }

    pub(super) fn get(&self, sym: Sym) -> Option<Binding> {
        self.visible.get(&sym).copied()
    }

    /// Where a name that is not visible any more was defined.
    pub(super) fn ended(&self, sym: Sym) -> Option<Span> {
        self.ended.get(&sym).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = Sym> + '_ {
        self.visible.keys().copied()
    }

    /// Defines a name. Gives the older definition if the name is visible already; that stays.
    pub(super) fn define(&mut self, sym: Sym, binding: Binding) -> Result<(), Binding> {
        if let Some(&old) = self.visible.get(&sym) {
            return Err(old);
        }
        let old = self.visible.insert(sym, binding);
        if let Some(region) = self.regions.last_mut() {
            region.undo.push((sym, old));
        }
        Ok(())
    }
}
