//! Copies of operations, within a body and from one body to another.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::body::Body;
use crate::edit::OpSpec;
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::rewriter::{InsertPoint, Rewriter, ValueMap};
use crate::types::Type;

/// The state of one copy operation.
struct Copies<'s> {
    /// The body that is copied from, if it is another one.
    from: Option<&'s Body>,
    blocks: FxHashMap<BlockId, BlockId>,
    all: SmallVec<[OpId; 4]>,
    /// Operands of copies whose values have not been copied yet, only between bodies: the values are others there.
    open: Vec<(OpId, usize, ValueId)>,
}

impl Rewriter<'_> {
    /// Clones an operation, with everything inside it, to the insertion point. Operands are looked up in `map`
    /// (values that are not in it stay), and the clones of results and block arguments are entered into it.
    pub fn clone_op(&mut self, op: OpId, map: &mut ValueMap) -> OpId {
        self.copy_op(None, op, map)
    }

    /// Copies an operation of another body, with everything inside it, to the insertion point. Operands are looked up in
    /// `map`, which must know everything that the operation takes from outside.
    pub fn import_op(&mut self, from: &Body, op: OpId, map: &mut ValueMap) -> OpId {
        self.copy_op(Some(from), op, map)
    }

    /// Gives a copy of an operation of another body the comments and the written locations of that operation and of everything inside it.
    pub fn import_notes(&mut self, from: &Body, op: OpId, copy: OpId) {
        let inside = |body: &Body, op: OpId| -> Vec<OpId> {
            let regions = body.op_regions(op).iter();
            std::iter::once(op)
                .chain(regions.flat_map(|&region| body.walk(region)))
                .collect()
        };
        let blocks = |body: &Body, op: OpId| -> SmallVec<[BlockId; 2]> {
            let regions = body.op_regions(op).iter();
            regions
                .flat_map(|&region| body.region_blocks(region))
                .copied()
                .collect()
        };
        // A copy has the order of what it is a copy of.
        for (old, new) in inside(from, op).into_iter().zip(inside(self.body, copy)) {
            if let Some(comment) = from.comment(old) {
                self.body.set_comment(new, comment);
            }
            if let Some(loc) = from.loc(old) {
                self.body.set_loc(new, loc);
            }
            for (old, new) in blocks(from, old).into_iter().zip(blocks(self.body, new)) {
                if let Some(comment) = from.end_comment(old) {
                    self.body.set_end_comment(new, comment);
                }
            }
        }
    }

    fn copy_op(&mut self, from: Option<&Body>, op: OpId, map: &mut ValueMap) -> OpId {
        let mut copies = Copies {
            from,
            blocks: FxHashMap::default(),
            all: SmallVec::new(),
            open: Vec::new(),
        };
        let (new, regions) = self.copy_shallow(&mut copies, op, map);
        self.insert(new);
        self.copy_regions(&mut copies, regions, map);
        self.close(copies, map);
        new
    }

    /// Copies the operations of blocks of another body, with everything inside them, to the places given for the blocks.
    /// Operands are looked up in `map`, which must know the arguments of these blocks and everything that is not
    /// defined in them. `blocks` maps the blocks that are successors. Gives the copies of the operations of
    /// each block.
    pub fn import_blocks(
        &mut self,
        from: &Body,
        places: &[(BlockId, InsertPoint)],
        blocks: FxHashMap<BlockId, BlockId>,
        map: &mut ValueMap,
    ) -> Vec<Vec<OpId>> {
        let mut copies = Copies {
            from: Some(from),
            blocks,
            all: SmallVec::new(),
            open: Vec::new(),
        };
        let point = self.point();
        let mut regions = Vec::new();
        let mut made = Vec::new();
        for &(block, place) in places {
            self.set_point(place);
            let mut ops = Vec::new();
            for op in from.block_ops(block) {
                let (new, inner) = self.copy_shallow(&mut copies, op, map);
                self.insert(new);
                ops.push(new);
                regions.extend(inner.into_iter().rev());
            }
            made.push(ops);
        }
        regions.reverse();
        self.copy_regions(&mut copies, regions, map);
        self.close(copies, map);
        self.set_point(point);
        made
    }

    /// Copies the contents of regions; the last pair comes first. Nesting may be deep, so the list is explicit.
    fn copy_regions(&mut self, copies: &mut Copies<'_>, mut pending: Vec<(RegionId, RegionId)>, map: &mut ValueMap) {
        while let Some((from, to)) = pending.pop() {
            for block in self.source(copies).region_blocks(from).to_vec() {
                let copy = self.body.create_block(to);
                copies.blocks.insert(block, copy);
                let label = self.source(copies).block_label(block);
                self.body.set_block_label(copy, label);
                for arg in self.source(copies).block_args(block).to_vec() {
                    let source = self.source(copies);
                    let (ty, name) = (source.value_type(arg), source.value_name(arg));
                    let loc = source.arg_loc(arg);
                    let new_arg = self.body.add_block_arg(copy, ty, name);
                    if let Some(loc) = loc {
                        self.body.set_arg_loc(new_arg, loc);
                    }
                    map.insert(arg, new_arg);
                }
            }
            for block in self.source(copies).region_blocks(from).to_vec() {
                for inner in self.source(copies).block_ops_vec(block) {
                    let (copy, regions) = self.copy_shallow(copies, inner, map);
                    self.body.append_op(copies.blocks[&block], copy);
                    pending.extend(regions);
                }
            }
        }
    }

    /// Completes the copies: operands that were used before their definitions were copied (between blocks, in graph regions), and
    /// successors.
    fn close(&mut self, copies: Copies<'_>, map: &ValueMap) {
        for (op, index, value) in copies.open {
            if let Some(new) = map.get(value) {
                self.body.set_operand(op, index, new);
            }
        }
        for op in copies.all {
            if copies.from.is_none() {
                for (index, value) in self.body.operands_vec(op).into_iter().enumerate() {
                    if let Some(new) = map.get(value) {
                        self.body.set_operand(op, index, new);
                    }
                }
            }
            if !self.body.successors(op).is_empty() {
                let mut successors: SmallVec<[_; 2]> = self.body.successors(op).into();
                for s in &mut successors {
                    s.block = copies.blocks.get(&s.block).copied().unwrap_or(s.block);
                }
                self.body.set_successors(op, &successors);
            }
        }
    }

    fn source<'r>(&'r self, copies: &Copies<'r>) -> &'r Body {
        copies.from.unwrap_or(self.body)
    }

    /// Copies an operation with empty regions; returns these after the regions that they copy, in reverse order.
    fn copy_shallow(
        &mut self,
        copies: &mut Copies<'_>,
        op: OpId,
        map: &mut ValueMap,
    ) -> (OpId, Vec<(RegionId, RegionId)>) {
        let source = self.source(copies);
        let types: SmallVec<[Type; 4]> = source.results(op).map(|v| source.value_type(v)).collect();
        let successors: SmallVec<[_; 2]> = source.successors(op).into();
        let (name, attrs, span) = (source.op_name(op), source.attrs(op), source.op_span(op));
        let old: SmallVec<[ValueId; 6]> = source.operands(op).collect();
        let old_regions: SmallVec<[RegionId; 3]> = source.op_regions(op).into();
        let isolated = source.isolated(op).cloned();
        let names: SmallVec<[_; 4]> = source.results(op).map(|v| (v, source.value_name(v))).collect();
        let mut open: SmallVec<[(usize, ValueId); 2]> = SmallVec::new();
        let mut operands: SmallVec<[ValueId; 6]> = SmallVec::new();
        for (index, &value) in old.iter().enumerate() {
            operands.push(match (map.get(value), copies.from) {
                (Some(new), _) => new,
                (None, None) => value,
                (None, Some(from)) => {
                    open.push((index, value));
                    self.body.create_placeholder(from.value_type(value))
                }
            });
        }
        let regions: SmallVec<[RegionId; 3]> = old_regions.iter().map(|_| self.body.create_region()).collect();
        let new = self.body.create_op(OpSpec {
            name,
            operands: &operands,
            results: &types,
            attrs,
            regions: &regions,
            successors: &successors,
            span,
        });
        if let Some(body) = isolated {
            self.body.set_isolated(new, body);
        }
        for ((from, name), to) in names.into_iter().zip(self.body.results(new)) {
            self.body.set_value_name(to, name);
            map.insert(from, to);
        }
        copies.all.push(new);
        copies
            .open
            .extend(open.into_iter().map(|(index, value)| (new, index, value)));
        (new, old_regions.into_iter().zip(regions).rev().collect())
    }
}
