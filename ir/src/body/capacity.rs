//! Memory for a body whose size is not known yet.

use super::{BlockData, Body, Extra, OpData, RegionData, ValueData};
use crate::entity::ValueId;

/// Memory in which a body is read before it is known how large it becomes. Small bodies are copied out of it when they
/// have been read, so that the next one is read in the same memory and nothing grows bit by bit; a large one keeps it.
/// CapacityHint that is not used is never touched.
#[derive(Default)]
pub(crate) struct CapacityHint {
    ops: Vec<OpData>,
    values: Vec<ValueData>,
    operands: Vec<ValueId>,
    blocks: Vec<BlockData>,
    regions: Vec<RegionData>,
    extras: Vec<Extra>,
}

/// Larger contents are not copied unless the capacity is more than twice as large.
const LARGE: usize = 1 << 16;

/// Allocates the memory that the content of `all` needs, and returns its former memory to `rest` unless it keeps that.
fn settle<T>(all: &mut Vec<T>, rest: &mut Vec<T>) {
    if size_of_val(&**all) >= LARGE && all.len() > all.capacity() / 2 {
        all.shrink_to_fit();
        return;
    }
    let mut exact = Vec::with_capacity(all.len());
    exact.append(all);
    let before = std::mem::replace(all, exact);
    if before.capacity() > rest.capacity() {
        *rest = before;
    }
}

impl CapacityHint {
    /// Reserves capacity for this many operations, and for the usual number of values and operands.
    pub(crate) fn for_ops(&mut self, ops: usize) {
        self.ops.reserve_exact(ops);
        self.values.reserve_exact(ops);
        self.operands.reserve_exact(2 * ops);
    }

    /// Whether there is none for operations.
    pub(crate) fn is_used_up(&self) -> bool {
        self.ops.capacity() == 0
    }

    /// Takes the memory for operations from a body in which none is yet.
    pub(crate) fn take_from(&mut self, body: &mut Body) {
        if body.ops.is_empty() && body.values.is_empty() && body.operands.is_empty() {
            std::mem::swap(&mut self.ops, &mut body.ops);
            std::mem::swap(&mut self.values, &mut body.values);
            std::mem::swap(&mut self.operands, &mut body.operands);
        }
    }
}

impl Body {
    /// Reserves memory for this many more operations, and for the usual number of values and operands: what grows bit by bit is moved
    /// each time it doubles. Memory that is not used is never touched.
    pub fn reserve_ops(&mut self, ops: usize) {
        self.ops.reserve(ops);
        self.values.reserve(ops);
        self.operands.reserve(2 * ops);
        if let Some(uses) = self.use_lists.get_mut() {
            uses.reserve(ops, 2 * ops);
        }
    }

    /// A body whose root region has no blocks, in the memory that is given, which is empty.
    pub(crate) fn in_room(room: CapacityHint) -> Self {
        let mut body = Body::without_root();
        (body.ops, body.values, body.operands) = (room.ops, room.values, room.operands);
        (body.blocks, body.regions, body.extras) = (room.blocks, room.regions, room.extras);
        body.root = body.create_region();
        body
    }

    /// Allocates the memory that the body needs, and returns its former memory to `room`, except for large parts.
    pub(crate) fn settle(&mut self, room: &mut CapacityHint) {
        settle(&mut self.ops, &mut room.ops);
        settle(&mut self.values, &mut room.values);
        settle(&mut self.operands, &mut room.operands);
        settle(&mut self.blocks, &mut room.blocks);
        settle(&mut self.regions, &mut room.regions);
        settle(&mut self.extras, &mut room.extras);
    }
}
