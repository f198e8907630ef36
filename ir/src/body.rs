//! The body: the arenas of a region tree, and read access to it.
//!
//! A [`Body`] holds one root region and everything nested in it, except what is inside isolated operations, which
//! have a body of their own ([`Body::isolated`]). Operations of a block form a doubly linked list; operands are nodes
//! of the ordered use list of their value; the results of an operation are contiguous.

use std::num::NonZeroU32;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::context::{Context, OpName, Sym};
use crate::diagnostics::Span;
use crate::entity::{BlockId, OpId, RegionId, UseId, ValueId};
use crate::registry::{Effect, EffectKind, EffectTarget, InferArgs, OpDef, Speculatability, Traits};
use crate::types::{Attr, AttrDict, Type};

/// A stretch of an arena.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Slots {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Slots {
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
    pub(crate) operands: Slots,
    pub(crate) results: Slots,
    /// Index + 1 into `Body::extras`; 0 for an operation without regions, successors and body; [`DEAD`] for one that
    /// was erased.
    pub(crate) extra: u32,
    pub(crate) span: Span,
    /// Increases along the block; valid when the block says so.
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

    /// The index into `Body::extras`, if the operation has something there.
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
    /// How many operands become its arguments. They stand behind the operation's own, in order of successors.
    pub operands: u32,
}

#[derive(Default, Debug)]
pub(crate) struct Extra {
    pub(crate) regions: SmallVec<[RegionId; 3]>,
    pub(crate) successors: SmallVec<[Successor; 2]>,
    pub(crate) isolated: Option<Box<Body>>,
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

#[derive(Clone, Default, Debug)]
pub(crate) struct RegionData {
    pub(crate) parent: Option<OpId>,
    pub(crate) blocks: SmallVec<[BlockId; 1]>,
}

/// What defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueDef {
    /// The result of this index of an operation.
    Result(OpId, u32),
    /// The argument of this index of a block.
    Arg(BlockId, u32),
    /// Nothing yet: a forward reference while text is read, or a removed value.
    None,
}

/// What is known of a value, in as few bytes as possible: most of a program are operations and their results.
#[derive(Clone, Debug)]
pub(crate) struct ValueData {
    /// The operation or the block that defines it.
    owner: Option<NonZeroU32>,
    /// Twice its index there; plus one for the argument of a block.
    place: u32,
    pub(crate) ty: Type,
    /// The first of the list of uses; the one before it is the last.
    pub(crate) first_use: Option<UseId>,
    /// One more than twice the symbol; plus one for an element of a pack. 0 for a value without a name.
    name: u32,
}

impl ValueData {
    pub(crate) fn new(def: ValueDef, ty: Type, name: Option<ValueName>) -> Self {
        let mut data = ValueData {
            owner: None,
            place: 0,
            ty,
            first_use: None,
            name: 0,
        };
        data.set_def(def);
        data.set_name(name);
        data
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
            sym: Sym(name >> 1),
            pack: name & 1 != 0,
        })
    }

    /// # Panics
    /// When it is one of more than two thousand million symbols, which do not fit in memory.
    #[inline]
    pub(crate) fn set_name(&mut self, name: Option<ValueName>) {
        self.name = match name {
            Some(ValueName { sym, pack }) => {
                assert!(sym.0 < u32::MAX >> 1, "too many names");
                (sym.0 << 1 | u32::from(pack)) + 1
            }
            None => 0,
        };
    }
}

/// The name of a value in the text, without the `%`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ValueName {
    /// The name; shared by all values of a pack.
    pub sym: Sym,
    /// Whether the value belongs to a pack: `%r:2` defines `%r#0` and `%r#1`.
    pub pack: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct UseData {
    pub(crate) value: ValueId,
    pub(crate) owner: OpId,
    /// Before the first is the last.
    pub(crate) prev: UseId,
    pub(crate) next: Option<UseId>,
}

/// What stands in the text of a module beside its operations.
#[derive(Clone, Default, Debug)]
pub(crate) struct Frame {
    /// Definitions of aliases that text which is kept refers to.
    pub(crate) aliases: Vec<Box<str>>,
    /// The data of other tools, `{-# … #-}`.
    pub(crate) resources: Box<str>,
}

/// The arenas of one region tree.
#[derive(Debug)]
pub struct Body {
    pub(crate) ops: Vec<OpData>,
    pub(crate) values: Vec<ValueData>,
    pub(crate) uses: Vec<UseData>,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) regions: Vec<RegionData>,
    pub(crate) extras: Vec<Extra>,
    /// Comment lines (without the slashes) that stand before an operation.
    pub(crate) comments: FxHashMap<OpId, Box<str>>,
    /// Comment lines behind the last operation of a block.
    pub(crate) end_comments: FxHashMap<BlockId, Box<str>>,
    /// Locations that were written out: `loc("f.py":1:2)`.
    pub(crate) locs: FxHashMap<OpId, Attr>,
    /// Attributes of block arguments.
    pub(crate) arg_attrs: FxHashMap<ValueId, AttrDict>,
    /// Locations of block arguments.
    pub(crate) arg_locs: FxHashMap<ValueId, Attr>,
    /// What stands around the operations of a module.
    pub(crate) frame: Option<Box<Frame>>,
    pub(crate) root: RegionId,
}

impl Clone for Body {
    /// Bodies nest as deeply as the input says: they are copied one by one, not by recursion.
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
            // What stands behind a body in the list was put in its place already.
            if let Some(copy) = copies.pop() {
                copies[outer].extras[index].isolated = Some(Box::new(copy));
            }
        }
        copies.pop().unwrap_or_default()
    }
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
            ops: self.ops.clone(),
            values: self.values.clone(),
            uses: self.uses.clone(),
            blocks: self.blocks.clone(),
            regions: self.regions.clone(),
            extras: self.extras.iter().map(extra).collect(),
            comments: self.comments.clone(),
            end_comments: self.end_comments.clone(),
            locs: self.locs.clone(),
            arg_attrs: self.arg_attrs.clone(),
            arg_locs: self.arg_locs.clone(),
            frame: self.frame.clone(),
            root: self.root,
        }
    }

    /// A body whose root region has no blocks.
    pub fn new() -> Self {
        let mut body = Body {
            ops: Vec::new(),
            values: Vec::new(),
            uses: Vec::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            extras: Vec::new(),
            comments: FxHashMap::default(),
            end_comments: FxHashMap::default(),
            locs: FxHashMap::default(),
            arg_attrs: FxHashMap::default(),
            arg_locs: FxHashMap::default(),
            frame: None,
            root: RegionId::new(0),
        };
        body.root = body.create_region();
        body
    }

    /// Makes room for so many operations, values and operands, as an estimate of what will come.
    pub(crate) fn reserve(&mut self, [ops, values, uses]: [usize; 3]) {
        self.ops.reserve_exact(ops);
        self.values.reserve_exact(values);
        self.uses.reserve_exact(uses);
    }

    /// How many operations, values and operands there are.
    pub(crate) fn sizes(&self) -> [usize; 3] {
        [self.ops.len(), self.values.len(), self.uses.len()]
    }

    /// Gives back room that was made and not used.
    pub(crate) fn shrink(&mut self) {
        self.ops.shrink_to_fit();
        self.values.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.regions.shrink_to_fit();
        self.extras.shrink_to_fit();
    }

    /// The region that everything else is nested in.
    pub fn root(&self) -> RegionId {
        self.root
    }

    // ----- operations -----

    /// The name of an operation.
    #[inline]
    pub fn op_name(&self, op: OpId) -> OpName {
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

    /// How many operations there are, those in isolated bodies not counted.
    pub fn num_ops(&self) -> usize {
        self.ops.iter().filter(|op| op.is_alive()).count()
    }

    /// Where in the source the operation was written; an empty span at 0 for one that a pass made.
    pub fn op_span(&self, op: OpId) -> Span {
        self.ops[op.index()].span
    }

    /// The block that the operation stands in.
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
        self.ops[op.index()].next
    }

    /// The region that the operation stands in.
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
        self.uses[self.ops[op.index()].operands.range()].iter().map(|u| u.value)
    }

    /// The operand at `index`.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn operand(&self, op: OpId, index: usize) -> ValueId {
        self.uses[self.ops[op.index()].operands.range()][index].value
    }

    /// The operand at `index`, if there is one; those before it are not gone through.
    #[inline]
    pub fn get_operand(&self, op: OpId, index: usize) -> Option<ValueId> {
        let operands = &self.uses[self.ops[op.index()].operands.range()];
        operands.get(index).map(|u| u.value)
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

    /// The result at `index`, if there is one.
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
    pub(crate) fn isolated_bodies(&self) -> impl Iterator<Item = &Body> {
        self.extras.iter().filter_map(|e| e.isolated.as_deref())
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

    /// Comment lines that stand before the operation, each with its slashes, joined by line breaks.
    pub fn comment(&self, op: OpId) -> Option<&str> {
        self.comments.get(&op).map(|c| &**c)
    }

    /// Comment lines behind the last operation of the block.
    pub fn end_comment(&self, block: BlockId) -> Option<&str> {
        self.end_comments.get(&block).map(|c| &**c)
    }

    /// The location that was written for the operation.
    pub fn loc(&self, op: OpId) -> Option<Attr> {
        self.locs.get(&op).copied()
    }

    /// The location of a block argument that was written out.
    pub fn arg_loc(&self, arg: ValueId) -> Option<Attr> {
        self.arg_locs.get(&arg).copied()
    }

    /// The attributes of a block argument.
    pub fn arg_attrs(&self, arg: ValueId) -> AttrDict {
        self.arg_attrs.get(&arg).copied().unwrap_or(AttrDict::EMPTY)
    }

    // ----- blocks and regions -----

    /// The arguments of a block.
    #[inline]
    pub fn block_args(&self, block: BlockId) -> &[ValueId] {
        &self.blocks[block.index()].args
    }

    /// The region that a block stands in.
    #[inline]
    pub fn block_region(&self, block: BlockId) -> Option<RegionId> {
        self.blocks[block.index()].region
    }

    /// The label of a block in the text, without the `^`.
    pub fn block_label(&self, block: BlockId) -> Option<Sym> {
        self.blocks[block.index()].label
    }

    /// The operation that a block is nested in, within this body.
    pub fn block_parent(&self, block: BlockId) -> Option<OpId> {
        self.block_region(block).and_then(|r| self.region_parent(r))
    }

    /// The first operation of a block.
    #[inline]
    pub fn first_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block.index()].first
    }

    /// The last operation of a block, whether it is a terminator or not.
    #[inline]
    pub fn last_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block.index()].last
    }

    /// The operations of a block, in order.
    pub fn block_ops(&self, block: BlockId) -> BlockOps<'_> {
        BlockOps {
            body: self,
            next: self.first_op(block),
        }
    }

    /// The operations of a block as a vector, for when the body is changed meanwhile.
    pub fn block_ops_vec(&self, block: BlockId) -> Vec<OpId> {
        self.block_ops(block).collect()
    }

    /// The blocks of a region, the entry block first.
    #[inline]
    pub fn region_blocks(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region.index()].blocks
    }

    /// The entry block of a region.
    #[inline]
    pub fn entry_block(&self, region: RegionId) -> Option<BlockId> {
        self.region_blocks(region).first().copied()
    }

    /// The operation that a region belongs to; `None` for the root.
    #[inline]
    pub fn region_parent(&self, region: RegionId) -> Option<OpId> {
        self.regions[region.index()].parent
    }

    /// The only block of a region that has exactly one.
    pub fn single_block(&self, region: RegionId) -> Option<BlockId> {
        match self.region_blocks(region) {
            &[block] => Some(block),
            _ => None,
        }
    }

    /// Whether `inner` is `outer` or nested in it.
    pub fn region_contains(&self, outer: RegionId, inner: RegionId) -> bool {
        let mut at = Some(inner);
        while let Some(region) = at {
            if region == outer {
                return true;
            }
            at = self.region_parent(region).and_then(|op| self.op_region(op));
        }
        false
    }

    // ----- values -----

    /// What defines a value.
    #[inline]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.values[value.index()].def()
    }

    /// The operation that a value is a result of.
    #[inline]
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => Some(op),
            _ => None,
        }
    }

    /// The block that a value is defined in, as an argument or as a result.
    pub fn value_block(&self, value: ValueId) -> Option<BlockId> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => self.op_block(op),
            ValueDef::Arg(block, _) => Some(block),
            ValueDef::None => None,
        }
    }

    /// The region that a value is defined in.
    pub fn value_region(&self, value: ValueId) -> Option<RegionId> {
        self.value_block(value).and_then(|b| self.block_region(b))
    }

    /// The type of a value.
    #[inline]
    pub fn value_type(&self, value: ValueId) -> Type {
        self.values[value.index()].ty
    }

    /// The name of a value in the text.
    pub fn value_name(&self, value: ValueId) -> Option<ValueName> {
        self.values[value.index()].name()
    }

    /// The uses of a value, in the order in which they were made.
    pub fn uses(&self, value: ValueId) -> Uses<'_> {
        Uses {
            body: self,
            next: self.values[value.index()].first_use,
        }
    }

    /// Whether a value is used at all.
    #[inline]
    pub fn has_uses(&self, value: ValueId) -> bool {
        self.values[value.index()].first_use.is_some()
    }

    /// Whether a value is used exactly once.
    pub fn has_one_use(&self, value: ValueId) -> bool {
        self.values[value.index()]
            .first_use
            .is_some_and(|u| self.uses[u.index()].next.is_none())
    }

    /// The use of a value that is used exactly once.
    pub fn only_use(&self, value: ValueId) -> Option<Use> {
        self.uses(value).next().filter(|_| self.has_one_use(value))
    }

    /// Whether any result of the operation is used.
    pub fn op_has_uses(&self, op: OpId) -> bool {
        self.results(op).any(|r| self.has_uses(r))
    }

    /// The operation together with what is needed to ask about it.
    pub fn view<'a>(&'a self, ctx: &'a Context, op: OpId) -> OpView<'a> {
        OpView { ctx, body: self, op }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::new()
    }
}

/// The operations of a block.
#[derive(Clone)]
pub struct BlockOps<'a> {
    body: &'a Body,
    next: Option<OpId>,
}

impl Iterator for BlockOps<'_> {
    type Item = OpId;

    #[inline]
    fn next(&mut self) -> Option<OpId> {
        let op = self.next?;
        self.next = self.body.next_op(op);
        Some(op)
    }
}

/// One operand that uses a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The operation.
    pub op: OpId,
    /// Which of its operands.
    pub index: usize,
}

/// The uses of a value.
#[derive(Clone)]
pub struct Uses<'a> {
    body: &'a Body,
    next: Option<UseId>,
}

impl Iterator for Uses<'_> {
    type Item = Use;

    #[inline]
    fn next(&mut self) -> Option<Use> {
        let id = self.next?;
        let data = &self.body.uses[id.index()];
        self.next = data.next;
        let first = self.body.ops[data.owner.index()].operands.start as usize;
        Some(Use {
            op: data.owner,
            index: id.index() - first,
        })
    }
}

/// An operation with its body and context: what verifiers, folds and interfaces look at.
#[derive(Clone, Copy)]
pub struct OpView<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The body.
    pub body: &'a Body,
    /// The operation.
    pub op: OpId,
}

impl<'a> OpView<'a> {
    /// `dialect.op`.
    pub fn name(&self) -> &'a str {
        self.ctx.op_str(self.body.op_name(self.op))
    }

    /// The definition, if the operation is registered.
    pub fn def(&self) -> Option<&'a OpDef> {
        self.ctx.op_def(self.body.op_name(self.op))
    }

    /// Whether the operation is registered and has the traits.
    pub fn has(&self, traits: Traits) -> bool {
        self.def().is_some_and(|d| d.has(traits))
    }

    /// The operand at `index`, if there is one.
    pub fn operand(&self, index: usize) -> Option<ValueId> {
        self.body.get_operand(self.op, index)
    }

    /// The type of the operand at `index`, if there is one.
    pub fn operand_type(&self, index: usize) -> Option<Type> {
        self.operand(index).map(|v| self.body.value_type(v))
    }

    /// The type of the result at `index`, if there is one.
    pub fn result_type(&self, index: usize) -> Option<Type> {
        self.body.get_result(self.op, index).map(|v| self.body.value_type(v))
    }

    /// The attribute called `name`.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        self.body.attr(self.ctx, self.op, name)
    }

    /// The integer attribute called `name`.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.attr(name).and_then(|a| self.ctx.attr_int(a))
    }

    /// The numeric attribute called `name`.
    pub fn f64(&self, name: &str) -> Option<f64> {
        self.attr(name).and_then(|a| self.ctx.attr_f64(a))
    }

    /// The truth value called `name`.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.attr(name).and_then(|a| self.ctx.attr_bool(a))
    }

    /// The list of integers called `name`.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attr(name).and_then(|a| self.ctx.attr_ints(a))
    }

    /// The string called `name`.
    pub fn str(&self, name: &str) -> Option<&'a str> {
        self.attr(name).and_then(|a| self.ctx.attr_str(a))
    }

    /// The type called `name`.
    pub fn ty(&self, name: &str) -> Option<Type> {
        self.attr(name).and_then(|a| self.ctx.attr_type(a))
    }

    /// The operation's own effects; everything for one that is not registered. Those of nested operations are not
    /// included: see [`Traits::RECURSIVE_EFFECTS`].
    pub fn own_effects(&self) -> SmallVec<[Effect; 2]> {
        match self.def() {
            Some(def) => (def.effects)(*self),
            None => [EffectKind::Read, EffectKind::Write]
                .into_iter()
                .map(|kind| Effect {
                    kind,
                    target: EffectTarget::World,
                })
                .collect(),
        }
    }

    /// Whether the operation may run when the program would not have run it, regions not looked into.
    pub fn speculatability(&self) -> Speculatability {
        self.def()
            .map_or(Speculatability::Never, |def| (def.speculatable)(*self))
    }

    /// The arguments for the inference functions of the definition.
    pub fn with_infer_args<R>(&self, f: impl FnOnce(InferArgs<'_>) -> R) -> Option<R> {
        let def = self.def()?;
        let count = self.body.num_operands(self.op);
        let mut few = [ValueId::new(0); 4];
        let many: Vec<ValueId>;
        let operands = match few.get_mut(..count) {
            Some(few) => {
                few.iter_mut()
                    .zip(self.body.operands(self.op))
                    .for_each(|(slot, operand)| *slot = operand);
                &*few
            }
            None => {
                many = self.body.operands(self.op).collect();
                &many
            }
        };
        Some(f(InferArgs {
            ctx: self.ctx,
            body: self.body,
            def,
            operands,
            attrs: self.body.attrs(self.op),
            regions: self.body.op_regions(self.op),
        }))
    }
}
