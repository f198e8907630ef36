//! Which values are needed.
//!
//! A value is live when a live operation reads it, or when it flows, by way of region or block arguments and results,
//! into a live value. The search starts from the operations that must stay and goes backward, so that values that
//! only feed each other, like a loop-carried counter that nothing reads, are not found and hence dead.
//!
//! The operand that control takes along from one place to several (`cond_yield` of a loop feeds an argument of the
//! body and a result) ties its targets together: they can only be removed at once. Therefore a live target makes its
//! siblings live.

use std::ops::Range;

use pir_ir::{Analysis, BlockId, Body, Context, FlowPoint, OpId, Traits, ValueDef, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::edges::{Predecessors, Ways, has_simple_regions, is_fixed_slot, note_successors, successor_start};
use super::effects::{EffectSet, Effects, effects_of, is_symbol_or_terminator};
use super::handles::{HandleClasses, read};

/// The roots of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Roots {
    /// All operations: only arguments and results that no operation reads are dead.
    AllOps,
    /// Operations with effects.
    Effects,
    /// Operations whose effects can be seen from outside of the program. Changes of what a handle refers to, like pushes
    /// on a stack, are live only if something live reads it.
    Observed,
}

/// The live operations and values of a body.
#[derive(PartialEq)]
pub struct Liveness {
    ops: Vec<bool>,
    values: Vec<bool>,
    /// How many operations and values are not live.
    num_dead: usize,
}

struct Search<'a> {
    ctx: &'a Context,
    body: &'a Body,
    live: Liveness,
    predecessors: Predecessors,
    /// For [`Roots::Observed`].
    handles: Option<HandleClasses>,
    pending_ops: Vec<OpId>,
    pending_values: Vec<ValueId>,
    /// The ways through the operation that was requested last: values of one operation come in a row.
    ways: Ways,
    ways_of: Option<OpId>,
    /// The ways through operations that were requested before, where there are many.
    many_ways: FxHashMap<OpId, Ways>,
    /// The block of the operation that was visited last.
    last_block: Option<BlockId>,
}

/// From [`Roots::Effects`].
impl Analysis for Liveness {
    fn compute(ctx: &Context, body: &Body) -> Self {
        Liveness::new(ctx, body, &body.analysis::<Effects>(ctx), Roots::Effects)
    }
}

impl Liveness {
    /// Searches a body.
    pub fn new(ctx: &Context, body: &Body, effects: &Effects, roots: Roots) -> Self {
        let mut search = Search {
            ctx,
            body,
            live: Liveness {
                ops: vec![false; body.num_op_slots()],
                values: vec![false; body.num_value_slots()],
                num_dead: body
                    .region_blocks(body.root())
                    .iter()
                    .map(|&b| body.block_args(b).len())
                    .sum(),
            },
            predecessors: Predecessors::default(),
            handles: (roots == Roots::Observed).then(|| HandleClasses::new(ctx, body)),
            pending_ops: Vec::with_capacity(16),
            pending_values: Vec::with_capacity(16),
            ways: Ways::default(),
            ways_of: None,
            many_ways: FxHashMap::default(),
            last_block: None,
        };
        // Arguments of the body itself belong to the signature of the operation that owns it.
        for &block in body.region_blocks(body.root()).iter().take(1) {
            body.block_args(block).iter().for_each(|&a| search.value(a));
        }
        for op in body.walk_all() {
            search.live.num_dead += 1 + body.num_results(op);
            let is_plain = body.is_plain(op);
            if !is_plain {
                for &region in body.op_regions(op) {
                    let blocks = body.region_blocks(region).iter();
                    search.live.num_dead += blocks.map(|&b| body.block_args(b).len()).sum::<usize>();
                }
                note_successors(body, op, &mut search.predecessors);
            }
            let view = body.view(ctx, op);
            let traits = view.def().map_or(Traits::empty(), |def| def.traits);
            let outermost = || body.parent_op(op).is_none();
            // A terminator is needed when what it ends is, unless it ends the body itself.
            let root = match traits.contains(Traits::TERMINATOR) {
                true => roots == Roots::AllOps || outermost(),
                false => match roots {
                    Roots::AllOps => true,
                    Roots::Effects => {
                        !effects.is_harmless(op) || traits.contains(Traits::SYMBOL) || body.isolated(op).is_some()
                    }
                    Roots::Observed => effects_of(view).intersects(EffectSet::SEEN) || is_symbol_or_terminator(view),
                },
            };
            if root {
                search.op(op);
            }
        }
        search.run();
        search.live
    }

    /// Whether everything is live.
    pub fn is_all_live(&self) -> bool {
        self.num_dead == 0
    }

    /// Whether the operation must stay.
    pub fn is_op_live(&self, op: OpId) -> bool {
        self.ops.get(op.index()).copied().unwrap_or(true)
    }

    /// Whether the value is needed.
    pub fn is_value_live(&self, value: ValueId) -> bool {
        self.values.get(value.index()).copied().unwrap_or(true)
    }
}

impl Search<'_> {
    fn op(&mut self, op: OpId) {
        if !std::mem::replace(&mut self.live.ops[op.index()], true) {
            self.live.num_dead = self.live.num_dead.saturating_sub(1);
            self.pending_ops.push(op);
        }
    }

    fn value(&mut self, value: ValueId) {
        if !self.mark(value) {
            return;
        }
        // For values that control does not bind, only the defining operation and its writers matter.
        match self.body.defining_op(value) {
            Some(op) if self.handles.is_none() && self.body.region_flow(self.ctx, op).is_none() => self.op(op),
            _ => self.pending_values.push(value),
        }
    }

    /// Gives whether the value was not live.
    fn mark(&mut self, value: ValueId) -> bool {
        let is_new = !std::mem::replace(&mut self.live.values[value.index()], true);
        if is_new {
            self.live.num_dead = self.live.num_dead.saturating_sub(1);
        }
        is_new
    }

    /// The paths through an operation with region flow, to be returned after use.
    fn take_ways(&mut self, op: OpId) -> Ways {
        if self.ways_of != Some(op) {
            if let Some(before) = self.ways_of.replace(op).filter(|_| self.ways.are_many()) {
                self.many_ways.insert(before, std::mem::take(&mut self.ways));
            }
            match self.many_ways.remove(&op) {
                Some(ways) => self.ways = ways,
                None => self.ways.set(self.ctx, self.body, op),
            }
        }
        std::mem::take(&mut self.ways)
    }

    fn run(&mut self) {
        loop {
            if let Some(op) = self.pending_ops.pop() {
                self.visit_op(op);
            } else if let Some(value) = self.pending_values.pop() {
                self.visit_value(value);
            } else {
                return;
            }
        }
    }

    fn visit_op(&mut self, op: OpId) {
        let body = self.body;
        if let Some(block) = body.op_block(op).filter(|&b| self.last_block != Some(b)) {
            self.last_block = Some(block);
            body.block_parent(block).into_iter().for_each(|parent| self.op(parent));
        }
        // Nothing but operands and results, as most operations.
        if self.handles.is_none() && body.is_plain(op) && body.next_op(op).is_some() {
            body.operands(op).for_each(|value| self.value(value));
            for result in body.results(op) {
                self.mark(result);
            }
            return;
        }
        let own = body.num_own_operands(op);
        let has_flow = body.region_flow(self.ctx, op).is_some();
        // Only the end of a block hands something on to the operation that it is in.
        let may_hand_on = has_flow || body.next_op(op).is_none();
        let around = may_hand_on.then(|| body.flow_of_operands(self.ctx, op)).flatten();
        match around {
            None => body.operands(op).take(own).for_each(|value| self.value(value)),
            Some((around, from)) => {
                let ways = self.take_ways(around);
                // A forwarded value is needed if its targets are.
                let handed_on: SmallVec<[Range<usize>; 4]> = ways
                    .from(from)
                    .map(|e| {
                        let start = e.operands.start;
                        let inputs = body.num_flow_inputs(around, e.to).saturating_sub(e.at);
                        start..e.operands.end.min(start + inputs)
                    })
                    .collect();
                self.ways = ways;
                for (index, value) in body.operands(op).take(own).enumerate() {
                    if !handed_on.iter().any(|range| range.contains(&index)) {
                        self.value(value);
                    }
                }
            }
        }
        if let Some(handles) = &mut self.handles {
            let mut writers = Vec::new();
            for handle in read(self.ctx, body, op) {
                writers.append(&mut handles.take_writers(handle));
            }
            writers.into_iter().for_each(|op| self.op(op));
        }
        // If the region runs, control reaches the ends of its blocks.
        for &region in body.op_regions(op) {
            for &block in body.region_blocks(region) {
                let end = body
                    .last_op(block)
                    .filter(|&last| body.view(self.ctx, last).has(Traits::TERMINATOR));
                end.into_iter().for_each(|end| self.op(end));
            }
            // Arguments of regions about which nothing is known are bound by the operation itself.
            if !has_flow && let Some(entry) = body.entry_block(region) {
                body.block_args(entry).iter().for_each(|&a| self.value(a));
            }
        }
        if !has_flow {
            body.results(op).for_each(|r| self.value(r));
            return;
        }
        let all_fixed = !has_simple_regions(body, op);
        let all_ways = self.take_ways(op);
        let points = (0..body.op_regions(op).len()).map(FlowPoint::Region);
        for point in std::iter::once(FlowPoint::Parent).chain(points) {
            // An argument to which nothing is bound is made by the operation itself.
            let own = all_ways.to(point).map(|e| e.at).min().unwrap_or(0);
            for (index, slot) in body.flow_inputs(op, point).into_iter().enumerate() {
                if all_fixed || index < own || is_fixed_slot(self.ctx, body, slot) {
                    self.value(slot);
                }
            }
        }
        self.ways = all_ways;
    }

    fn visit_value(&mut self, value: ValueId) {
        let body = self.body;
        // The operations that change it in place.
        let writers = self
            .handles
            .as_mut()
            .map(|h| h.take_direct_writers(self.ctx, body, value));
        writers.into_iter().flatten().for_each(|op| self.op(op));
        match body.value_def(value) {
            ValueDef::Result(op, _) => self.op(op),
            ValueDef::Arg(block, index) => {
                body.block_parent(block).into_iter().for_each(|op| self.op(op));
                for at in 0..self.predecessors.get(&block).map_or(0, Vec::len) {
                    let (op, successor) = self.predecessors[&block][at];
                    let at = successor_start(body, op, successor) + index as usize;
                    if at < body.num_operands(op) {
                        self.value(body.operand(op, at));
                    }
                }
            }
            ValueDef::None => {}
        }
        let Some((op, to, index)) = body.flow_place(value) else {
            return;
        };
        let ways = self.take_ways(op);
        for edge in ways.to(to) {
            let Some(source) = body.edge_source(op, edge, index) else {
                continue;
            };
            self.value(body.operand(source.op, source.index));
            for other in ways.from(edge.from) {
                let input = other.input_of(source.index);
                let target = input.and_then(|input| body.flow_input(op, other.to, input));
                target.into_iter().for_each(|target| self.value(target));
            }
        }
        self.ways = ways;
    }
}
