//! Printing of regions and blocks.

use super::attr::push_int;
use super::printer::{Place, Printer, Task};
use crate::body::Body;
use crate::declare::{Presence, Traits};
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

impl<'a> Printer<'a, '_> {
    // ----- regions -----

    pub(super) fn region(&mut self, body: &'a Body, op: OpId, index: usize, generic: bool) {
        if let Some(inner) = body.isolated(op) {
            self.out.push_str(if generic { "{" } else { " {" });
            self.names.enter(inner);
            self.indent += 1;
            self.tasks.push(Task::EndRegion {
                body,
                op,
                index,
                generic,
            });
            self.enter_body(body, op);
            self.blocks(inner, inner.root(), generic || has_args(inner, inner.root()));
            return;
        }
        let Some(&region) = body.op_regions(op).get(index) else {
            return;
        };
        let spec = self.spec(body, op, index).filter(|_| !generic);
        if spec.is_some_and(|s| s.presence == Presence::MayBeEmpty) && body.region_blocks(region).is_empty() {
            self.tasks.push(Task::EndRegion {
                body,
                op,
                index,
                generic,
            });
            return;
        }
        let header = spec.is_some() && body.single_block(region).is_some();
        if let Some(keyword) = spec.and_then(|s| s.keywords.first()) {
            self.out.push(' ');
            self.out.push_str(keyword);
        }
        let mark = self.names.mark();
        if header
            && let Some(entry) = body.entry_block(region)
            && !body.block_args(entry).is_empty()
        {
            self.out.push_str(" (");
            self.args(body, entry);
            self.out.push(')');
        }
        self.out.push_str(if generic { "{" } else { " {" });
        self.indent += 1;
        self.tasks.push(Task::EndRegion {
            body,
            op,
            index,
            generic,
        });
        let with_label = !header && (generic || has_args(body, region) || body.region_blocks(region).len() > 1);
        self.blocks_from(body, region, with_label, mark);
    }

    pub(super) fn blocks(&mut self, body: &'a Body, region: RegionId, with_label: bool) {
        let mark = self.names.mark();
        self.blocks_from(body, region, with_label, mark);
    }

    pub(super) fn blocks_from(&mut self, body: &'a Body, region: RegionId, with_label: bool, mark: usize) {
        let blocks = body.region_blocks(region);
        if blocks.len() > 1 || self.looks_ahead(body, region) {
            // Values of one block are visible in others: all names of the region are given up front.
            for &block in blocks {
                for &arg in body.block_args(block) {
                    if !self.names.has(arg) {
                        self.names.arg(self.ctx, body, arg);
                    }
                }
                for op in body.block_ops(block) {
                    let results: SmallVec<[ValueId; 4]> = body.results(op).collect();
                    self.names.results(self.ctx, body, &results);
                }
            }
            let ctx = self.ctx;
            let labels = blocks.iter().filter_map(|&block| body.block_label(block));
            let mut taken: rustc_hash::FxHashSet<String> = labels.map(|label| ctx.str(label).to_owned()).collect();
            let mut used = rustc_hash::FxHashSet::default();
            for (at, &block) in blocks.iter().enumerate() {
                // Blocks that come from different regions may have one label.
                if body.block_label(block).is_some_and(|label| used.insert(label)) {
                    continue;
                }
                // A label that was written may be such a number.
                let mut number = at;
                while !taken.insert(format!("bb{number}")) {
                    number += blocks.len();
                }
                self.names.number_block(block, number);
            }
        }
        let Some(&entry) = blocks.first() else { return };
        if self.options.mlir && blocks.len() > 1 {
            self.names.add_edges(body, blocks);
        }
        // In the generic form braces with nothing between them are a region without blocks.
        let empty = self.options.generic && body.first_op(entry).is_none();
        let entry_needs_label =
            with_label && (empty || !body.block_args(entry).is_empty() || body.block_label(entry).is_some());
        if entry_needs_label || self.is_target(body, region, entry) {
            self.block_header(body, entry);
        }
        let place = Place {
            body,
            region,
            block: 0,
            mark,
        };
        self.tasks.push(Task::Block(place, body.first_op(entry)));
    }

    /// Whether an operation of a graph uses a value that is defined after it.
    fn looks_ahead(&mut self, body: &Body, region: RegionId) -> bool {
        let parent = match body.region_parent(region) {
            Some(op) => self.ctx.op_def(body.op_name(op)),
            // The body of an isolated operation: a module may be one.
            None => None,
        };
        if parent.is_some_and(|def| !def.has(Traits::GRAPH_REGION)) {
            return false;
        }
        let is_inner = body.region_parent(region).is_some();
        if !is_inner && !self.is_graph() {
            return false;
        }
        if is_inner {
            let blocks = body.region_blocks(region);
            return blocks.iter().any(|block| self.names.is_used_ahead(body, *block));
        }
        let Some(block) = body.single_block(region) else {
            return false;
        };
        let ordered = body.blocks[block.index()].ordered;
        let mut numbers = FxHashMap::default();
        if !ordered {
            numbers.extend(body.block_ops(block).enumerate().map(|(at, op)| (op, at as u32)));
        }
        body.block_ops(block).any(|op| {
            let number = |op: OpId| match ordered {
                true => body.ops[op.index()].order,
                false => numbers.get(&op).copied().unwrap_or(0),
            };
            let mut ahead = body.operands(op).filter_map(|v| body.defining_op(v));
            ahead.any(|def| body.op_block(def) == Some(block) && number(def) >= number(op))
        })
    }

    pub(super) fn is_target(&self, body: &Body, region: RegionId, block: BlockId) -> bool {
        body.region_blocks(region).len() > 1
            && body.region_blocks(region).iter().any(|&b| {
                body.last_op(b)
                    .is_some_and(|t| body.successors(t).iter().any(|s| s.block == block))
            })
    }

    pub(super) fn spec(&self, body: &Body, op: OpId, index: usize) -> Option<&'a crate::declare::RegionSpec> {
        let def = self.ctx.op_def(body.op_name(op))?;
        let missing = def.regions.len().checked_sub(body.op_regions(op).len())?;
        def.regions
            .iter()
            .scan(missing, |left, spec| {
                let absent = *left > 0 && spec.presence == Presence::MayBeAbsent;
                *left -= usize::from(absent);
                Some((spec, absent))
            })
            .filter(|(_, absent)| !absent)
            .map(|(spec, _)| spec)
            .nth(index)
    }

    pub(super) fn end_region(&mut self, body: &'a Body, op: OpId, index: usize, generic: bool) {
        let skipped = !generic
            && body.isolated(op).is_none()
            && body
                .op_regions(op)
                .get(index)
                .is_some_and(|&r| body.region_blocks(r).is_empty())
            && self
                .spec(body, op, index)
                .is_some_and(|s| s.presence == Presence::MayBeEmpty);
        if !skipped {
            self.indent -= 1;
            self.new_line();
            self.out.push('}');
        }
        if body.isolated(op).is_none() && index + 1 < body.op_regions(op).len() {
            if generic {
                self.out.push_str(", ");
            }
            self.tasks.push(Task::Region {
                body,
                op,
                index: index + 1,
                generic,
            });
            return;
        }
        if let Some((_, taken)) = self.deferred.pop_if(|(level, _)| *level == self.tasks.len()) {
            self.names.resume(taken);
        }
        if generic {
            self.out.push(')');
            self.generic_tail(body, op);
        } else {
            self.pretty_tail(body, op);
        }
    }

    pub(super) fn label(&mut self, body: &Body, block: BlockId) {
        self.out.push('^');
        match body.block_label(block).filter(|_| !self.names.is_numbered(block)) {
            Some(label) => self.out.push_str(self.ctx.str(label)),
            None => {
                // Numbered by position; explicit labels, which may have the same form, were assigned first.
                self.out.push_str("bb");
                let at = self.names.block_number(block);
                push_int(&mut self.out, at as i128);
            }
        }
    }

    pub(super) fn block_header(&mut self, body: &'a Body, block: BlockId) {
        // Blocks at top level are not indented, nor are their labels.
        let inside = self.indent;
        self.indent = inside.saturating_sub(1);
        self.new_line();
        self.indent = inside;
        self.label(body, block);
        if !body.block_args(block).is_empty() {
            self.out.push('(');
            self.args(body, block);
            self.out.push(')');
        }
        self.out.push(':');
        if self.options.mlir
            && body
                .block_region(block)
                .is_some_and(|region| body.region_blocks(region).len() > 1)
        {
            self.predecessors(body, block);
        }
    }

    /// `  // 2 preds: ^bb0, ^bb1`, as MLIR has it.
    fn predecessors(&mut self, body: &Body, block: BlockId) {
        let from = self.names.predecessors(block);
        match from.len() {
            0 => {
                let region = body.block_region(block);
                if region.and_then(|region| body.entry_block(region)) != Some(block) {
                    self.out.push_str("  // no predecessors");
                }
                return;
            }
            1 => self.out.push_str("  // pred: "),
            count => {
                self.out.push_str("  // ");
                push_int(&mut self.out, count as i128);
                self.out.push_str(" preds: ");
            }
        }
        for (at, &one) in from.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.label(body, one);
        }
    }

    pub(super) fn args(&mut self, body: &'a Body, block: BlockId) {
        for (at, &arg) in body.block_args(block).iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            if !self.names.has(arg) {
                self.names.arg(self.ctx, body, arg);
            }
            self.use_of(arg);
            self.out.push_str(": ");
            self.write_type(body.value_type(arg), self.options.generic);
            self.arg_location(body, arg);
        }
    }
}

pub(super) fn has_args(body: &Body, region: RegionId) -> bool {
    body.entry_block(region).is_some_and(|b| !body.block_args(b).is_empty())
}
