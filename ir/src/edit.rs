//! Changes to a body, with use lists, parents and block lists kept right.
//!
//! These are the primitives; [`Rewriter`](crate::Rewriter) puts operations together from them.

use smallvec::SmallVec;

use crate::body::{
    ArenaRange, BlockData, Body, DEAD, Extra, OpData, RegionData, Successor, ValueData, ValueDef, ValueName,
};
use crate::diagnostics::Span;
use crate::entity::{BlockId, OpId, OpName, RegionId, Sym, ValueId};
use crate::types::{Attr, AttrDict, Type};

/// The parts of a new operation.
#[derive(Clone, Debug)]
pub struct OpSpec<'a> {
    /// Its name.
    pub name: OpName,
    /// Its operands, those passed to successors last.
    pub operands: &'a [ValueId],
    /// The types of its results.
    pub results: &'a [Type],
    /// Its attributes.
    pub attrs: AttrDict,
    /// Its regions, which belong to no operation yet.
    pub regions: &'a [RegionId],
    /// Its successors.
    pub successors: &'a [Successor],
    /// Its source location.
    pub span: Span,
}

impl<'a> OpSpec<'a> {
    /// An operation without anything.
    pub fn new(name: OpName) -> Self {
        Self {
            name,
            operands: &[],
            results: &[],
            attrs: AttrDict::EMPTY,
            regions: &[],
            successors: &[],
            span: Span::default(),
        }
    }
}

impl Body {
    // ----- creation -----

    /// A region without blocks that belongs to no operation yet.
    pub fn create_region(&mut self) -> RegionId {
        self.version += 1;
        self.regions.push(RegionData::default());
        RegionId::new(self.regions.len() - 1)
    }

    /// A block without operations at the end of a region.
    pub fn create_block(&mut self, region: RegionId) -> BlockId {
        let block = self.create_detached_block();
        self.append_block(region, block);
        block
    }

    /// A block that is in no region yet.
    pub fn create_detached_block(&mut self) -> BlockId {
        self.blocks.push(BlockData {
            region: None,
            args: SmallVec::new(),
            first: None,
            last: None,
            label: None,
            ordered: true,
        });
        BlockId::new(self.blocks.len() - 1)
    }

    /// Puts a block that is in no region at the end of one.
    pub fn append_block(&mut self, region: RegionId, block: BlockId) {
        self.version += 1;
        debug_assert!(self.blocks[block.index()].region.is_none());
        self.blocks[block.index()].region = Some(region);
        self.regions[region.index()].blocks.push(block);
    }

    /// Adds an argument to a block.
    pub fn add_block_arg(&mut self, block: BlockId, ty: Type, name: Option<ValueName>) -> ValueId {
        let index = self.blocks[block.index()].args.len() as u32;
        let value = self.create_value(ValueDef::Arg(block, index), ty, name);
        self.blocks[block.index()].args.push(value);
        value
    }

    /// Adds an argument to a block before the one at `index`.
    pub fn insert_block_arg(&mut self, block: BlockId, index: usize, ty: Type, name: Option<ValueName>) -> ValueId {
        let value = self.create_value(ValueDef::Arg(block, index as u32), ty, name);
        self.blocks[block.index()].args.insert(index, value);
        self.number_args(block, index);
        value
    }

    fn number_args(&mut self, block: BlockId, from: usize) {
        crate::steps::count(self.blocks[block.index()].args.len().saturating_sub(from));
        for at in from..self.blocks[block.index()].args.len() {
            let value = self.blocks[block.index()].args[at];
            self.values[value.index()].set_def(ValueDef::Arg(block, at as u32));
        }
    }

    /// Removes an argument that has no uses.
    pub fn erase_block_arg(&mut self, block: BlockId, index: usize) {
        self.version += 1;
        let arg = self.blocks[block.index()].args.remove(index);
        debug_assert!(!self.has_uses(arg), "erased block argument is still used");
        self.values[arg.index()].set_def(ValueDef::None);
        self.number_args(block, index);
    }

    /// Removes the arguments of a block, which have no uses, but for those at the places that `keep` names: all at once,
    /// since each removal moves what comes after.
    pub fn retain_block_args(&mut self, block: BlockId, mut keep: impl FnMut(usize) -> bool) {
        self.version += 1;
        let old = std::mem::take(&mut self.blocks[block.index()].args);
        let mut kept = SmallVec::with_capacity(old.len());
        for (at, arg) in old.into_iter().enumerate() {
            if keep(at) {
                kept.push(arg);
            } else {
                debug_assert!(!self.has_uses(arg), "erased block argument is still used");
                self.values[arg.index()].set_def(ValueDef::None);
            }
        }
        self.blocks[block.index()].args = kept;
        self.number_args(block, 0);
    }

    /// An argument that is in no block yet; [`Body::set_block_args`] puts it there.
    pub(crate) fn create_block_arg(&mut self, block: BlockId, ty: Type) -> ValueId {
        self.create_value(ValueDef::Arg(block, 0), ty, None)
    }

    /// Gives a block these arguments. Those that it had and that are not among them have no uses.
    pub(crate) fn set_block_args(&mut self, block: BlockId, args: &[ValueId]) {
        self.version += 1;
        for old in std::mem::replace(&mut self.blocks[block.index()].args, args.into()) {
            debug_assert!(
                args.contains(&old) || !self.has_uses(old),
                "erased block argument is still used"
            );
            self.values[old.index()].set_def(ValueDef::None);
        }
        self.number_args(block, 0);
    }

    /// A value that is defined later: a forward reference.
    pub fn create_placeholder(&mut self, ty: Type) -> ValueId {
        self.create_value(ValueDef::None, ty, None)
    }

    fn create_value(&mut self, def: ValueDef, ty: Type, name: Option<ValueName>) -> ValueId {
        self.version += 1;
        self.values.push(ValueData::new(def, ty, name));
        ValueId::new(self.values.len() - 1)
    }

    /// A new operation that is in no block yet.
    pub fn create_op(&mut self, spec: OpSpec<'_>) -> OpId {
        self.version += 1;
        let op = OpId::new(self.ops.len());
        let extra = if spec.regions.is_empty() && spec.successors.is_empty() {
            0
        } else {
            for &region in spec.regions {
                self.regions[region.index()].parent = Some(op);
            }
            self.extras.push(Extra {
                regions: spec.regions.into(),
                successors: spec.successors.into(),
                isolated: None,
            });
            self.extras.len() as u32
        };
        let results = ArenaRange {
            start: self.values.len() as u32,
            len: spec.results.len() as u32,
        };
        for (index, &ty) in spec.results.iter().enumerate() {
            self.create_value(ValueDef::Result(op, index as u32), ty, None);
        }
        self.ops.push(OpData {
            name: spec.name,
            attrs: spec.attrs,
            block: None,
            prev: None,
            next: None,
            operands: ArenaRange::default(),
            results,
            extra,
            span: spec.span,
            order: 0,
        });
        self.append_operands(op, spec.operands);
        op
    }

    /// Gives an isolated operation its body.
    pub fn set_isolated(&mut self, op: OpId, body: Body) {
        self.set_boxed(op, Box::new(body));
    }

    /// The same with a body that has its place in memory already: it is large, and need not be moved.
    pub(crate) fn set_boxed(&mut self, op: OpId, body: Box<Body>) {
        self.extra_mut(op).isolated = Some(body);
    }

    /// Takes the body out of an isolated operation.
    pub fn take_isolated(&mut self, op: OpId) -> Option<Body> {
        self.take_boxed(op).map(|body| *body)
    }

    /// The same, in its place in memory.
    pub(crate) fn take_boxed(&mut self, op: OpId) -> Option<Box<Body>> {
        self.version += 1;
        let at = self.ops[op.index()].extra()?;
        self.extras[at].isolated.take()
    }

    fn extra_mut(&mut self, op: OpId) -> &mut Extra {
        self.version += 1;
        let index = match self.ops[op.index()].extra() {
            Some(index) => index,
            None => {
                self.extras.push(Extra::default());
                self.ops[op.index()].extra = self.extras.len() as u32;
                self.extras.len() - 1
            }
        };
        &mut self.extras[index]
    }

    // ----- place -----

    /// Puts an operation that is in no block at the end of one.
    pub fn append_op(&mut self, block: BlockId, op: OpId) {
        self.version += 1;
        debug_assert!(self.ops[op.index()].block.is_none(), "{op} stands in a block already");
        let around = &mut self.blocks[block.index()];
        let last = around.last.replace(op);
        // Appending keeps a valid order valid: blocks are mostly built from front to back.
        let order = match last {
            Some(last) => {
                let last = &mut self.ops[last.index()];
                last.next = Some(op);
                last.order.saturating_add(1)
            }
            None => {
                around.first = Some(op);
                0
            }
        };
        around.ordered &= order != u32::MAX;
        let data = &mut self.ops[op.index()];
        (data.block, data.prev, data.next, data.order) = (Some(block), last, None, order);
    }

    /// Puts an operation that is in no block before another one.
    pub fn insert_before(&mut self, at: OpId, op: OpId) {
        if let Some(block) = self.op_block(at) {
            let prev = self.prev_op(at);
            self.link(block, op, prev, Some(at));
            self.blocks[block.index()].ordered = false;
        }
    }

    /// Puts an operation that is in no block after another one.
    pub fn insert_after(&mut self, at: OpId, op: OpId) {
        match (self.next_op(at), self.op_block(at)) {
            (Some(next), _) => self.insert_before(next, op),
            (None, Some(block)) => self.append_op(block, op),
            (None, None) => {}
        }
    }

    fn link(&mut self, block: BlockId, op: OpId, prev: Option<OpId>, next: Option<OpId>) {
        self.version += 1;
        debug_assert!(self.ops[op.index()].block.is_none(), "{op} stands in a block already");
        let data = &mut self.ops[op.index()];
        data.block = Some(block);
        data.prev = prev;
        data.next = next;
        match prev {
            Some(p) => self.ops[p.index()].next = Some(op),
            None => self.blocks[block.index()].first = Some(op),
        }
        match next {
            Some(n) => self.ops[n.index()].prev = Some(op),
            None => self.blocks[block.index()].last = Some(op),
        }
    }

    /// Takes an operation out of its block; it keeps its operands, results and regions.
    pub fn unlink_op(&mut self, op: OpId) {
        self.version += 1;
        let Some(block) = self.ops[op.index()].block.take() else {
            return;
        };
        let (prev, next) = (self.ops[op.index()].prev.take(), self.ops[op.index()].next.take());
        match prev {
            Some(p) => self.ops[p.index()].next = next,
            None => self.blocks[block.index()].first = next,
        }
        match next {
            Some(n) => self.ops[n.index()].prev = prev,
            None => self.blocks[block.index()].last = prev,
        }
    }

    /// Whether `a` precedes `b`, both in the same block.
    pub fn is_before_in_block(&mut self, a: OpId, b: OpId) -> bool {
        if let Some(block) = self.op_block(a) {
            self.renumber(block);
        }
        self.ops[a.index()].order < self.ops[b.index()].order
    }

    /// Makes the order numbers of a block valid; [`Body::order_in_block`] relies on it.
    pub fn renumber(&mut self, block: BlockId) {
        if self.blocks[block.index()].ordered {
            return;
        }
        let mut at = self.first_op(block);
        let mut order = 0;
        while let Some(op) = at {
            self.ops[op.index()].order = order;
            order += 1;
            at = self.next_op(op);
        }
        self.blocks[block.index()].ordered = true;
    }

    /// The place of an operation in its block as a number that grows along it, valid after [`Body::renumber`].
    pub fn order_in_block(&self, op: OpId) -> u32 {
        self.ops[op.index()].order
    }

    // ----- attributes, types, names -----

    /// Renames an operation.
    pub fn set_op_name(&mut self, op: OpId, name: OpName) {
        self.version += 1;
        self.ops[op.index()].name = name;
    }

    /// Replaces the attributes.
    pub fn set_attrs(&mut self, op: OpId, attrs: AttrDict) {
        self.version += 1;
        self.ops[op.index()].attrs = attrs;
    }

    /// Says where an operation was written.
    pub fn set_op_span(&mut self, op: OpId, span: Span) {
        self.ops[op.index()].span = span;
    }

    /// Replaces the successors. The operands passed to them must be in place.
    pub fn set_successors(&mut self, op: OpId, successors: &[Successor]) {
        self.extra_mut(op).successors = successors.into();
    }

    /// Changes the type of a value.
    pub fn set_value_type(&mut self, value: ValueId, ty: Type) {
        self.version += 1;
        self.values[value.index()].ty = ty;
    }

    /// Names a value.
    pub fn set_value_name(&mut self, value: ValueId, name: Option<ValueName>) {
        self.values[value.index()].set_name(name);
    }

    /// Labels a block.
    pub fn set_block_label(&mut self, block: BlockId, label: Option<Sym>) {
        self.blocks[block.index()].label = label;
    }

    /// Puts comment lines before an operation.
    pub fn set_comment(&mut self, op: OpId, text: &str) {
        self.comments.insert(op, text.into());
    }

    /// Puts comment lines after the last operation of a block.
    pub fn set_end_comment(&mut self, block: BlockId, text: &str) {
        self.end_comments.insert(block, text.into());
    }

    /// Gives an operation a written location.
    pub fn set_loc(&mut self, op: OpId, loc: Attr) {
        self.locs.insert(op, loc);
    }

    /// Sets the location of a block argument.
    pub fn set_arg_loc(&mut self, arg: ValueId, loc: Attr) {
        self.arg_locs.insert(arg, loc);
    }

    // ----- regions -----

    /// Gives an operation one more region, which belongs to none yet, before its region at `index`.
    pub fn insert_region(&mut self, op: OpId, index: usize, region: RegionId) {
        self.version += 1;
        self.regions[region.index()].parent = Some(op);
        self.extra_mut(op).regions.insert(index, region);
    }

    /// Takes the regions away from an operation.
    pub fn take_regions(&mut self, op: OpId) -> SmallVec<[RegionId; 3]> {
        self.version += 1;
        let regions = match self.ops[op.index()].extra() {
            None => SmallVec::new(),
            Some(at) => std::mem::take(&mut self.extras[at].regions),
        };
        for &region in &regions {
            self.regions[region.index()].parent = None;
        }
        regions
    }

    /// Takes a block out of its region.
    pub fn unlink_block(&mut self, block: BlockId) {
        self.version += 1;
        if let Some(region) = self.blocks[block.index()].region.take() {
            self.regions[region.index()].blocks.retain(|b| *b != block);
        }
    }

    /// Gives a region these blocks in this order. Those that it had and that are not among them are in no region then.
    pub fn set_region_blocks(&mut self, region: RegionId, blocks: Vec<BlockId>) {
        self.version += 1;
        for &block in &std::mem::take(&mut self.regions[region.index()].blocks) {
            self.blocks[block.index()].region = None;
        }
        for &block in &blocks {
            self.blocks[block.index()].region = Some(region);
        }
        self.regions[region.index()].blocks = blocks.into();
    }

    // ----- removal -----

    /// Removes an operation with everything inside it. Its results must not be used any more, except by operations
    /// that are removed with it.
    pub fn erase_op(&mut self, op: OpId) {
        self.unlink_op(op);
        // Most operations have nothing inside.
        if self.extra(op).is_none() {
            self.kill(op);
            return;
        }
        let mut pending = vec![op];
        while let Some(op) = pending.pop() {
            for region in self.op_regions(op).iter().copied().collect::<SmallVec<[RegionId; 3]>>() {
                for at in 0..self.regions[region.index()].blocks.len() {
                    let block = self.regions[region.index()].blocks[at];
                    let mut next = self.first_op(block);
                    while let Some(inner) = next {
                        pending.push(inner);
                        next = self.next_op(inner);
                    }
                    for arg in self.blocks[block.index()].args.clone() {
                        self.values[arg.index()].set_def(ValueDef::None);
                    }
                }
            }
            self.kill(op);
        }
    }

    /// Removes all operations of a region that no operation has.
    pub fn clear_region(&mut self, region: RegionId) {
        for at in 0..self.regions[region.index()].blocks.len() {
            let block = self.regions[region.index()].blocks[at];
            while let Some(last) = self.last_op(block) {
                self.erase_op(last);
            }
        }
    }

    fn kill(&mut self, op: OpId) {
        self.version += 1;
        self.unlink_operands(op);
        if let Some(at) = self.ops[op.index()].extra() {
            self.extras[at] = Extra::default();
        }
        let data = &mut self.ops[op.index()];
        data.operands.len = 0;
        data.extra = DEAD;
        data.block = None;
        let results = data.results.range();
        for index in results {
            self.values[index].set_def(ValueDef::None);
        }
        if !self.comments.is_empty() {
            self.comments.remove(&op);
        }
        if !self.locs.is_empty() {
            self.locs.remove(&op);
        }
    }
}
