//! Renumbering of a body from which much was erased.

use std::sync::OnceLock;

use super::{ArenaRange, BlockData, Body, Extra, OpData, RegionData, ValueData, ValueDef};
use crate::analysis_cache::Analyses;
use crate::entity::{BlockId, OpId, RegionId, ValueId};

/// Stands for what is not in the program any more.
const GONE: u32 = u32::MAX;

/// The numbers that are given.
struct Numbers {
    ops: Vec<u32>,
    values: Vec<u32>,
    blocks: Vec<u32>,
    regions: Vec<u32>,
    /// The old ids in the new order.
    old_ops: Vec<OpId>,
    old_values: Vec<ValueId>,
    old_blocks: Vec<BlockId>,
    old_regions: Vec<RegionId>,
}

impl Numbers {
    fn new(body: &Body) -> Self {
        let mut all = Numbers {
            ops: vec![GONE; body.ops.len()],
            values: vec![GONE; body.values.len()],
            blocks: vec![GONE; body.blocks.len()],
            regions: vec![GONE; body.regions.len()],
            old_ops: Vec::new(),
            old_values: Vec::new(),
            old_blocks: Vec::new(),
            old_regions: Vec::new(),
        };
        all.region(body, body.root);
        for op in body.walk_all() {
            all.ops[op.index()] = all.old_ops.len() as u32;
            all.old_ops.push(op);
            body.results(op).for_each(|result| all.value(result));
            for &region in body.op_regions(op) {
                all.region(body, region);
            }
        }
        all
    }

    fn region(&mut self, body: &Body, region: RegionId) {
        self.regions[region.index()] = self.old_regions.len() as u32;
        self.old_regions.push(region);
        for &block in body.region_blocks(region) {
            self.blocks[block.index()] = self.old_blocks.len() as u32;
            self.old_blocks.push(block);
            body.block_args(block).iter().for_each(|&arg| self.value(arg));
        }
    }

    fn value(&mut self, value: ValueId) {
        self.values[value.index()] = self.old_values.len() as u32;
        self.old_values.push(value);
    }

    fn op(&self, op: OpId) -> Option<OpId> {
        Some(self.ops[op.index()])
            .filter(|&at| at != GONE)
            .map(|at| OpId::new(at as usize))
    }

    fn value_of(&self, value: ValueId) -> Option<ValueId> {
        let at = Some(self.values[value.index()]).filter(|&at| at != GONE);
        at.map(|at| ValueId::new(at as usize))
    }

    fn block(&self, block: BlockId) -> Option<BlockId> {
        let at = Some(self.blocks[block.index()]).filter(|&at| at != GONE);
        at.map(|at| BlockId::new(at as usize))
    }

    fn region_of(&self, region: RegionId) -> Option<RegionId> {
        let at = Some(self.regions[region.index()]).filter(|&at| at != GONE);
        at.map(|at| RegionId::new(at as usize))
    }
}

/// The arenas of a body but for what its operations own.
struct Arenas {
    ops: Vec<OpData>,
    values: Vec<ValueData>,
    operands: Vec<ValueId>,
    blocks: Vec<BlockData>,
    regions: Vec<RegionData>,
    /// For each operation with an entry among the extras its old one.
    extras: Vec<usize>,
}

impl Body {
    /// Drops what was erased, and numbers the rest in the order of the program, as the reader of its text does. What is done
    /// with a body takes memory and time for all that ever was in it: this is for one of which little is left.
    ///
    /// Ids from before mean nothing after it. The program stays the same. Nothing happens if an operation refers to something
    /// that is not in the body. Returns whether it was done.
    pub fn compact(&mut self) -> bool {
        let numbers = Numbers::new(self);
        let Some(new) = self.renumbered(&numbers) else {
            return false;
        };
        let mut extras = Vec::with_capacity(new.extras.len());
        for &at in &new.extras {
            let Extra {
                regions,
                mut successors,
                isolated,
            } = std::mem::take(&mut self.extras[at]);
            let regions = regions
                .into_iter()
                .filter_map(|region| numbers.region_of(region))
                .collect();
            for successor in &mut successors {
                if let Some(block) = numbers.block(successor.block) {
                    successor.block = block;
                }
            }
            extras.push(Extra {
                regions,
                successors,
                isolated,
            });
        }
        self.extras = extras;
        (self.ops, self.values, self.operands) = (new.ops, new.values, new.operands);
        (self.blocks, self.regions) = (new.blocks, new.regions);
        self.root = RegionId::new(0);
        self.comments.rename(|op| numbers.op(op));
        self.locs.rename(|op| numbers.op(op));
        self.end_comments.rename(|block| numbers.block(block));
        self.arg_locs.rename(|arg| numbers.value_of(arg));
        self.use_lists = OnceLock::new();
        self.analyses = Analyses::default();
        self.version += 1;
        true
    }

    /// The arenas with other numbers; `None` if something refers to what has none.
    fn renumbered(&self, numbers: &Numbers) -> Option<Arenas> {
        crate::steps::count(numbers.old_ops.len() + numbers.old_values.len());
        let mut new = Arenas {
            ops: Vec::with_capacity(numbers.old_ops.len()),
            values: Vec::with_capacity(numbers.old_values.len()),
            operands: Vec::new(),
            blocks: Vec::with_capacity(numbers.old_blocks.len()),
            regions: Vec::with_capacity(numbers.old_regions.len()),
            extras: Vec::new(),
        };
        for &old in &numbers.old_ops {
            let data = &self.ops[old.index()];
            let operands = ArenaRange {
                start: new.operands.len() as u32,
                len: data.operands.len,
            };
            for value in self.operands(old) {
                new.operands.push(numbers.value_of(value)?);
            }
            let first = self.results(old).next().and_then(|first| numbers.value_of(first));
            let results = ArenaRange {
                start: first.map_or(0, |first| first.index() as u32),
                len: data.results.len,
            };
            let mut extra = data.extra;
            if let Some(at) = data.extra() {
                let successors = &self.extras[at].successors;
                if successors.iter().any(|s| numbers.block(s.block).is_none()) {
                    return None;
                }
                new.extras.push(at);
                extra = new.extras.len() as u32;
            }
            let linked = |op: Option<OpId>| op.and_then(|op| numbers.op(op));
            new.ops.push(OpData {
                block: Some(numbers.block(data.block?)?),
                prev: linked(data.prev),
                next: linked(data.next),
                operands,
                results,
                extra,
                ..data.clone()
            });
        }
        for &old in &numbers.old_values {
            let mut data = self.values[old.index()].clone();
            data.set_def(match data.def() {
                ValueDef::Result(op, index) => ValueDef::Result(numbers.op(op)?, index),
                ValueDef::Arg(block, index) => ValueDef::Arg(numbers.block(block)?, index),
                ValueDef::None => return None,
            });
            new.values.push(data);
        }
        for &old in &numbers.old_blocks {
            let data = &self.blocks[old.index()];
            let linked = |op: Option<OpId>| op.and_then(|op| numbers.op(op));
            new.blocks.push(BlockData {
                region: data.region.and_then(|region| numbers.region_of(region)),
                args: data.args.iter().filter_map(|&arg| numbers.value_of(arg)).collect(),
                first: linked(data.first),
                last: linked(data.last),
                label: data.label,
                ordered: data.ordered,
            });
        }
        for &old in &numbers.old_regions {
            let data = &self.regions[old.index()];
            new.regions.push(RegionData {
                parent: data.parent.and_then(|op| numbers.op(op)),
                blocks: data.blocks.iter().filter_map(|&block| numbers.block(block)).collect(),
            });
        }
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ContextBuilder;
    use crate::edit::OpSpec;
    use crate::types::Type;

    /// Operations `t.a`, `t.b` and `t.c`, each of the result of the one before, the second of which is in a region.
    #[test]
    fn what_was_erased_is_dropped() {
        let ctx = ContextBuilder::new().build();
        let mut body = Body::new();
        let block = body.create_block(body.root());
        let spec = |name| OpSpec::new(ctx.op_name(name));
        let make = |body: &mut Body, block, name, operands: &[ValueId], regions: &[RegionId]| {
            let op = body.create_op(OpSpec {
                operands,
                regions,
                results: &[Type::I1],
                ..spec(name)
            });
            body.append_op(block, op);
            (op, body.result(op, 0))
        };
        let (unused, _) = make(&mut body, block, "t.unused", &[], &[]);
        let (_, a) = make(&mut body, block, "t.a", &[], &[]);
        let region = body.create_region();
        let inner = body.create_block(region);
        let arg = body.add_block_arg(inner, Type::I1, None);
        make(&mut body, inner, "t.b", &[arg, a], &[]);
        let (_, c) = make(&mut body, block, "t.c", &[a], &[region]);
        make(&mut body, block, "t.d", &[c, a], &[]);
        body.erase_op(unused);
        let shape = |body: &Body| -> Vec<(String, Vec<usize>)> {
            let ops = body.walk_all();
            ops.map(|op| {
                let types = body.operands(op).map(|v| usize::from(body.defining_op(v).is_some()));
                (ctx.op_str(body.op_name(op)).to_owned(), types.collect())
            })
            .collect()
        };
        let before = shape(&body);
        assert!(body.compact());
        assert_eq!(shape(&body), before);
        assert_eq!((body.num_op_slots(), body.num_value_slots()), (4, 5));
        let first = body.first_op(body.region_blocks(body.root())[0]).unwrap();
        assert_eq!(body.uses(body.result(first, 0)).count(), 3);
        assert!(body.compact());
        assert_eq!(shape(&body), before);
    }

    #[test]
    fn references_to_what_is_gone_keep_it_as_it_is() {
        let ctx = ContextBuilder::new().build();
        let mut body = Body::new();
        let block = body.create_block(body.root());
        let detached = body.create_op(OpSpec {
            results: &[Type::I1],
            ..OpSpec::new(ctx.op_name("t.a"))
        });
        let value = body.result(detached, 0);
        let op = body.create_op(OpSpec {
            operands: &[value],
            ..OpSpec::new(ctx.op_name("t.b"))
        });
        body.append_op(block, op);
        assert!(!body.compact());
        assert_eq!(body.operand(op, 0), value);
    }
}
