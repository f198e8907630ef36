//! Operations of a body and their parts.

use smallvec::SmallVec;

use super::{Body, Extra, OpView, Successor};
use crate::context::Context;
use crate::diagnostics::Span;
use crate::entity::{BlockId, OpId, OpName, RegionId, ValueId};
use crate::types::{Attr, AttrDict};

impl Body {
    /// The name of an operation.
    #[inline]
    pub fn op_name(&self, op: OpId) -> OpName {
        crate::steps::count(1);
        self.ops[op.index()].name
    }

    /// Whether the operation was not erased.
    pub fn is_alive(&self, op: OpId) -> bool {
        self.ops[op.index()].is_alive()
    }

    /// An upper bound of the indices of operations, for dense side tables.
    pub fn num_op_slots(&self) -> usize {
        self.ops.len()
    }

    /// An upper bound of the indices of values, for dense side tables.
    pub fn num_value_slots(&self) -> usize {
        self.values.len()
    }

    /// An upper bound of the indices of regions, for dense side tables.
    pub fn num_region_slots(&self) -> usize {
        self.regions.len()
    }

    /// The number of operations, isolated bodies not included.
    pub fn num_ops(&self) -> usize {
        self.ops.iter().filter(|op| op.is_alive()).count()
    }

    /// Where in the source the operation was written; an empty span at 0 for one that a pass made.
    pub fn op_span(&self, op: OpId) -> Span {
        self.ops[op.index()].span
    }

    /// The block that the operation is in.
    #[inline]
    pub fn op_block(&self, op: OpId) -> Option<BlockId> {
        self.ops[op.index()].block
    }

    /// The operation before.
    #[inline]
    pub fn prev_op(&self, op: OpId) -> Option<OpId> {
        self.ops[op.index()].prev
    }

    /// The operation after.
    #[inline]
    pub fn next_op(&self, op: OpId) -> Option<OpId> {
        crate::steps::count(1);
        self.ops[op.index()].next
    }

    /// The region that the operation is in.
    pub fn op_region(&self, op: OpId) -> Option<RegionId> {
        self.op_block(op).and_then(|b| self.block_region(b))
    }

    /// The operation that the operation is nested in, within this body.
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.op_region(op).and_then(|r| self.region_parent(r))
    }

    /// How many operands there are, those passed to successors included.
    #[inline]
    pub fn num_operands(&self, op: OpId) -> usize {
        self.ops[op.index()].operands.len as usize
    }

    /// The operands, those passed to successors included.
    #[inline]
    pub fn operands(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + DoubleEndedIterator + Clone + '_ {
        self.operands[self.ops[op.index()].operands.range()].iter().copied()
    }

    /// The operand at `index`.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn operand(&self, op: OpId, index: usize) -> ValueId {
        self.operands[self.ops[op.index()].operands.range()][index]
    }

    /// The operand at `index`, if present, in constant time.
    #[inline]
    pub fn get_operand(&self, op: OpId, index: usize) -> Option<ValueId> {
        self.operands[self.ops[op.index()].operands.range()].get(index).copied()
    }

    /// The operands as a vector, for when the body is changed meanwhile.
    pub fn operands_vec(&self, op: OpId) -> SmallVec<[ValueId; 6]> {
        self.operands(op).collect()
    }

    /// How many results there are.
    #[inline]
    pub fn num_results(&self, op: OpId) -> usize {
        self.ops[op.index()].results.len as usize
    }

    /// The results. The iterator does not borrow the body.
    #[inline]
    pub fn results(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + DoubleEndedIterator + Clone + use<> {
        self.ops[op.index()].results.range().map(ValueId::new)
    }

    /// The result at `index`.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn result(&self, op: OpId, index: usize) -> ValueId {
        let range = self.ops[op.index()].results.range();
        assert!(index < range.len(), "{op} has {} results, not {index}", range.len());
        ValueId::new(range.start + index)
    }

    /// The result at `index`, if present.
    #[inline]
    pub fn get_result(&self, op: OpId, index: usize) -> Option<ValueId> {
        (index < self.num_results(op)).then(|| self.result(op, index))
    }

    /// The attributes.
    #[inline]
    pub fn attrs(&self, op: OpId) -> AttrDict {
        self.ops[op.index()].attrs
    }

    /// The attribute called `name`.
    pub fn attr(&self, ctx: &Context, op: OpId, name: &str) -> Option<Attr> {
        ctx.dict_get(self.attrs(op), name)
    }

    #[inline]
    pub(crate) fn extra(&self, op: OpId) -> Option<&Extra> {
        self.ops[op.index()].extra().map(|at| &self.extras[at])
    }

    /// Whether the operation has no regions, no successors and no body of its own, as most have.
    #[inline]
    pub fn is_plain(&self, op: OpId) -> bool {
        self.ops[op.index()].extra().is_none()
    }

    /// The regions of the operation within this body; none for an isolated one.
    #[inline]
    pub fn op_regions(&self, op: OpId) -> &[RegionId] {
        self.extra(op).map_or(&[], |e| &e.regions)
    }

    /// The successor blocks.
    #[inline]
    pub fn successors(&self, op: OpId) -> &[Successor] {
        self.extra(op).map_or(&[], |e| &e.successors)
    }

    /// Whether some operation of the body, or one that is in no block, has successors. Quicker than to look at them all.
    pub fn may_have_successors(&self) -> bool {
        self.extras.iter().any(|e| !e.successors.is_empty())
    }

    /// How many operands are the operation's own and not passed to successors.
    pub fn num_own_operands(&self, op: OpId) -> usize {
        let passed: u32 = self.successors(op).iter().map(|s| s.operands).sum();
        self.num_operands(op) - passed as usize
    }

    /// The operands passed to the successor at `index`.
    pub fn successor_operands(&self, op: OpId, index: usize) -> impl ExactSizeIterator<Item = ValueId> + '_ {
        let before: u32 = self.successors(op)[..index].iter().map(|s| s.operands).sum();
        let count = self.successors(op)[index].operands as usize;
        self.operands(op)
            .skip(self.num_own_operands(op) + before as usize)
            .take(count)
    }

    /// The body of an isolated operation.
    pub fn isolated(&self, op: OpId) -> Option<&Body> {
        self.extra(op).and_then(|e| e.isolated.as_deref())
    }

    /// The body of an isolated operation.
    pub fn isolated_mut(&mut self, op: OpId) -> Option<&mut Body> {
        let at = self.ops[op.index()].extra()?;
        self.extras[at].isolated.as_deref_mut()
    }

    /// The bodies of all isolated operations directly in this body.
    pub fn isolated_bodies(&self) -> impl Iterator<Item = &Body> {
        self.extras.iter().filter_map(|e| e.isolated.as_deref())
    }

    /// Whether operations directly in this body are isolated, as functions are. Quicker than to look at them all.
    pub fn has_isolated(&self) -> bool {
        self.isolated_bodies().next().is_some()
    }

    /// The isolated operations directly in this body with their names and bodies, for work in parallel.
    pub fn isolated_ops_mut(&mut self) -> impl Iterator<Item = (OpId, OpName, &mut Body)> {
        let mut owners = Vec::new();
        if self.extras.iter().any(|e| e.isolated.is_some()) {
            owners.resize(self.extras.len(), None);
            for (index, op) in self.ops.iter().enumerate() {
                if let Some(owner) = op.extra().and_then(|at| owners.get_mut(at)) {
                    *owner = Some((OpId::new(index), op.name));
                }
            }
        }
        let bodies = self.extras.iter_mut().map(|e| e.isolated.as_deref_mut());
        owners
            .into_iter()
            .zip(bodies)
            .filter_map(|(owner, body)| owner.zip(body).map(|((op, name), body)| (op, name, body)))
    }

    /// Comment lines that are before the operation, each with its slashes, joined by line breaks.
    pub fn comment(&self, op: OpId) -> Option<&str> {
        self.comments.get(&op).map(|c| &**c)
    }

    /// The location that was written for the operation.
    pub fn loc(&self, op: OpId) -> Option<Attr> {
        self.locs.get(&op).copied()
    }

    /// A view of the operation for queries.
    pub fn view<'a>(&'a self, ctx: &'a Context, op: OpId) -> OpView<'a> {
        OpView { ctx, body: self, op }
    }
}
