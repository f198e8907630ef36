//! The body: the arenas of a region tree, and read access to it.
//!
//! A [`Body`] holds one root region and everything nested in it, except what is inside isolated operations, which
//! have a body of their own ([`Body::isolated`]). Operations of a block form a doubly linked list; operands are in
//! one list, as nodes of the ordered use lists of their values; the results of an operation are contiguous.

mod blocks;
mod capacity;
mod data;
mod operands;
mod ops;
mod same;
mod side_table;
mod values;
mod view;

use std::sync::OnceLock;

use crate::analysis_cache::Analyses;
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::types::Attr;
use crate::uses::UseLists;

pub use blocks::BlockOps;
pub(crate) use capacity::CapacityHint;
pub(crate) use data::{ArenaRange, BlockData, DEAD, Extra, ModuleTrivia, OpData, RegionData, ValueData};
pub use data::{Successor, ValueDef, ValueName};
use side_table::SideTable;
pub use values::{Use, Uses};
pub use view::{OpView, operand_ranges};

/// The arenas of one region tree.
#[derive(Debug)]
pub struct Body {
    pub(crate) ops: Vec<OpData>,
    pub(crate) values: Vec<ValueData>,
    /// The operands of all operations.
    pub(crate) operands: Vec<ValueId>,
    pub(crate) use_lists: OnceLock<Box<UseLists>>,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) regions: Vec<RegionData>,
    pub(crate) extras: Vec<Extra>,
    /// Comment lines (without the slashes) that are before an operation.
    pub(crate) comments: SideTable<OpId, Box<str>>,
    /// Comment lines after the last operation of a block.
    pub(crate) end_comments: SideTable<BlockId, Box<str>>,
    /// Locations that were written out: `loc("f.py":1:2)`.
    pub(crate) locs: SideTable<OpId, Attr>,
    /// Locations of block arguments.
    pub(crate) arg_locs: SideTable<ValueId, Attr>,
    /// The text around the operations of a module.
    pub(crate) frame: Option<Box<ModuleTrivia>>,
    pub(crate) root: RegionId,
    /// Counts the changes.
    pub(crate) version: u64,
    pub(crate) analyses: Analyses,
}

impl Clone for Body {
    /// Bodies nest as deeply as the input nests: they are copied one by one, not by recursion.
    fn clone(&self) -> Self {
        // Every body, outer ones first, with its place: the number of the body around it and an index into its extras.
        let mut all: Vec<(&Body, usize, usize)> = vec![(self, 0, 0)];
        let mut at = 0;
        while let Some(&(body, ..)) = all.get(at) {
            let inner = body.extras.iter().enumerate();
            all.extend(inner.filter_map(|(index, e)| Some((e.isolated.as_deref()?, at, index))));
            at += 1;
        }
        let mut copies: Vec<Body> = all.iter().map(|(body, ..)| body.copy_alone()).collect();
        for &(_, outer, index) in all.iter().skip(1).rev() {
            // Bodies later in the list are already in place.
            if let Some(copy) = copies.pop() {
                copies[outer].extras[index].isolated = Some(Box::new(copy));
            }
        }
        copies.pop().unwrap_or_default()
    }
}

/// Lists of fewer entries than this are moved quickly.
const MANY: usize = 1024;

/// A copy of a list that has room for some more: what is copied is mostly changed, and the first new entry would move all of
/// a list without. Room that nothing uses is never touched.
fn with_room<T: Clone>(list: &[T]) -> Vec<T> {
    let room = if list.len() < MANY { 0 } else { list.len() / 2 };
    let mut copy = Vec::with_capacity(list.len() + room);
    copy.extend_from_slice(list);
    copy
}

impl Body {
    /// A copy without the bodies of isolated operations.
    fn copy_alone(&self) -> Body {
        let extra = |e: &Extra| Extra {
            regions: e.regions.clone(),
            successors: e.successors.clone(),
            isolated: None,
        };
        Body {
            ops: with_room(&self.ops),
            values: with_room(&self.values),
            operands: with_room(&self.operands),
            use_lists: self.use_lists.clone(),
            blocks: self.blocks.clone(),
            regions: self.regions.clone(),
            extras: self.extras.iter().map(extra).collect(),
            comments: self.comments.clone(),
            end_comments: self.end_comments.clone(),
            locs: self.locs.clone(),
            arg_locs: self.arg_locs.clone(),
            frame: self.frame.clone(),
            root: self.root,
            version: 0,
            analyses: Analyses::default(),
        }
    }

    /// A body whose root region has no blocks.
    pub fn new() -> Self {
        let mut body = Self::without_root();
        body.root = body.create_region();
        body
    }

    /// A body without the region that everything is to be in.
    fn without_root() -> Self {
        Body {
            ops: Vec::new(),
            values: Vec::new(),
            operands: Vec::new(),
            use_lists: OnceLock::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            extras: Vec::new(),
            comments: SideTable::default(),
            end_comments: SideTable::default(),
            locs: SideTable::default(),
            arg_locs: SideTable::default(),
            frame: None,
            root: RegionId::new(0),
            version: 0,
            analyses: Analyses::default(),
        }
    }

    /// The region that everything else is nested in.
    pub fn root(&self) -> RegionId {
        self.root
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::new()
    }
}
