//! How many rows a lane needs: how often loops run.

use pir_ir::{Arith, BlockId, Body, Diagnostic, FlowKind, OpId, ValueDef, ValueId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::plan::Plan;
use crate::analysis::{Counter, chain};
use crate::autodiff::control_ops::ControlOps;

/// With more stacks than this, trip counts are not propagated between stacks.
const MAX_DEPTH: usize = 32;

/// An upper bound of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bound {
    pub(super) most: u64,
    /// Whether the option `bound` states so, and nothing else.
    pub(super) assumed: bool,
}

impl Bound {
    fn exactly(most: u64) -> Self {
        Bound { most, assumed: false }
    }

    fn and(self, other: Bound, f: impl Fn(u64, u64) -> u64) -> Self {
        Bound {
            most: f(self.most, other.most),
            assumed: self.assumed || other.assumed,
        }
    }

    fn plus(self, other: Bound) -> Self {
        self.and(other, u64::saturating_add)
    }

    fn times(self, other: Bound) -> Self {
        // A loop that never runs depends on nothing.
        match self.most {
            0 => self,
            _ => self.and(other, u64::saturating_mul),
        }
    }
}

/// Finds bounds.
pub(super) struct Bounds<'b> {
    pub(super) body: &'b Body,
    pub(super) names: &'b ControlOps<'b>,
    pub(super) plan: &'b Plan,
    /// The bound for loops whose trip count is unknown.
    pub(super) given: Option<u64>,
    /// How many values there are of all runs of an inner loop, if that is less than the product of the bounds.
    pub(super) total: Option<u64>,
    pub(super) loops: FxHashMap<OpId, Option<Bound>>,
    pub(super) depth: usize,
}

impl Bounds<'_> {
    /// How many values are in a lane at most.
    ///
    /// # Errors
    /// When it is not known how often a loop runs.
    pub(super) fn lane(&mut self, lane: usize) -> Result<Bound, Diagnostic> {
        let plan = self.plan;
        let class = &plan.classes[plan.lanes[lane].class];
        if let Some(capacity) = class.capacity {
            let mut sites: FxHashMap<Option<BlockId>, u64> = FxHashMap::default();
            for &push in &self.plan.lanes[lane].pushes {
                *sites.entry(self.body.op_block(push)).or_default() += 1;
            }
            let most = sites.into_values().max().unwrap_or(0);
            return Ok(Bound::exactly(capacity.saturating_mul(most)));
        }
        match class.home {
            Some((home, _)) => {
                let bound = self.pushed(lane, home, true)?.unwrap_or(Bound::exactly(0));
                Ok(match self.total.filter(|_| bound.assumed && class.outer.is_some()) {
                    Some(total) => bound.and(Bound::exactly(total), u64::min),
                    None => bound,
                })
            }
            None => Ok(Bound::exactly(0)),
        }
    }

    /// The number of values pushed on a lane within a block each time it runs; `None` if a loop has no known trip
    /// count, and that is not an error.
    fn pushed(&mut self, lane: usize, home: BlockId, needed: bool) -> Result<Option<Bound>, Diagnostic> {
        let body = self.body;
        // By depth, the innermost first, what the regions of an operation push.
        let mut depth = BTreeSet::new();
        let mut amount: FxHashMap<OpId, Bound> = FxHashMap::default();
        let mut regions: FxHashMap<OpId, Vec<(usize, Bound)>> = FxHashMap::default();
        let home_depth = self.depth_of(home);
        let plan = self.plan;
        for &push in &plan.lanes[lane].pushes {
            if body.ancestor_in_block(push, home).is_some() {
                amount.insert(push, Bound::exactly(1));
                depth.insert((
                    Reverse(body.op_region(push).map_or(0, |region| body.region_depth(region))),
                    push,
                ));
            }
        }
        let mut total = Bound::exactly(0);
        while let Some((Reverse(level), op)) = depth.pop_first() {
            let bound = match amount.get(&op) {
                Some(&bound) => bound,
                None => {
                    let inside = regions.remove(&op).unwrap_or_default();
                    match self.inside(op, &inside, needed)? {
                        Some(bound) => bound,
                        None => return Ok(None),
                    }
                }
            };
            if level <= home_depth {
                total = total.plus(bound);
                continue;
            }
            let body = self.body;
            let (Some(parent), Some(region)) = (body.parent_op(op), body.op_region(op)) else {
                continue;
            };
            let at = body.region_index(region).unwrap_or(0);
            let inside = regions.entry(parent).or_default();
            match inside.iter_mut().find(|(region, _)| *region == at) {
                Some((_, sum)) => *sum = sum.plus(bound),
                None => inside.push((at, bound)),
            }
            let level = body.op_region(parent).map_or(0, |region| body.region_depth(region));
            depth.insert((Reverse(level), parent));
        }
        Ok(Some(total))
    }

    fn depth_of(&self, block: BlockId) -> usize {
        let region = self.body.block_region(block);
        region.map_or(0, |region| self.body.region_depth(region))
    }

    /// The number of pushes of an operation, given those of each run of its regions.
    fn inside(&mut self, op: OpId, regions: &[(usize, Bound)], needed: bool) -> Result<Option<Bound>, Diagnostic> {
        let form = self.names.form(self.body, op);
        match form.as_ref().map(|form| form.kind) {
            Some(FlowKind::Branch) => {
                let most = regions.iter().map(|&(_, bound)| bound);
                Ok(most.reduce(|a, b| a.and(b, u64::max)))
            }
            Some(FlowKind::Loop) => {
                let Some(trips) = self.trips(op) else {
                    return if needed { Err(self.unknown(op)) } else { Ok(None) };
                };
                let tests = form.map(|form| form.points[0]);
                let total = regions.iter().map(|&(at, bound)| match tests {
                    Some(pir_ir::FlowPoint::Region(test)) if test == at => bound.times(trips.plus(Bound::exactly(1))),
                    _ => bound.times(trips),
                });
                Ok(total.reduce(Bound::plus))
            }
            None => {
                let name = self.body.view(self.names.ctx, op).name().to_owned();
                let message =
                    format!("a stack cannot become a tensor: it is unknown how often `{name}` runs its regions");
                Err(Diagnostic::error("stack-regions", message)
                    .label(self.body.op_span(op), "uses a stack in its regions")
                    .help("use the stack outside of the operation, or in the regions of loops and branches"))
            }
        }
    }

    fn unknown(&self, op: OpId) -> Diagnostic {
        Diagnostic::error(
            "stack-bound",
            "the trip count of a loop is unknown, so the size of its records is unknown",
        )
        .label(self.body.op_span(op), "this loop")
        .help(
            "give a bound, as in `lower-stacks{bound=1024}`, or run `remat{slots=32,segment=128}` first, which needs \
             no bound",
        )
    }

    /// How often a loop runs.
    pub(super) fn trips(&mut self, op: OpId) -> Option<Bound> {
        if let Some(&known) = self.loops.get(&op) {
            return known;
        }
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let given = self.given.map(|most| Bound { most, assumed: true });
        let known = self.known_trips(op).or(given);
        self.depth -= 1;
        self.loops.insert(op, known);
        known
    }

    fn known_trips(&mut self, op: OpId) -> Option<Bound> {
        let (ctx, body) = (self.names.ctx, self.body);
        if let Some(counter) = Counter::of(ctx, body, op) {
            if let Some(trips) = counter.trips(ctx, body) {
                return Some(Bound::exactly(trips));
            }
            // One that counts up to a number that is not greater than another.
            let start = body.constant_int(ctx, counter.start).unwrap_or(-1);
            if counter.step > 0 && counter.relation == pir_ir::Relation::Less && start >= 0 && counter.is_bare() {
                return self.upper(counter.bound);
            }
            // One that counts down to a number.
            let down = counter.step < 0 && counter.relation == pir_ir::Relation::Greater;
            if let (true, Some(last)) = (down, body.constant_int(ctx, counter.bound)) {
                let start = self.upper(counter.start)?;
                let last = u64::try_from(last).ok()?;
                return Some(start.and(Bound::exactly(last), u64::saturating_sub));
            }
        }
        // One that runs until a stack is empty.
        let [test, repeated] = self.names.form(body, op)?.loop_blocks()?;
        let flag = body.get_operand(body.last_op(test)?, 0)?;
        let negation = body.defining_op(flag)?;
        let empty = body.defining_op(body.get_operand(negation, 0)?)?;
        let arith = ctx.arithmetic(body.value_type(flag))?;
        if !arith.is(body.view(ctx, negation), Arith::Not) || body.op_name(empty) != self.names.is_empty {
            return None;
        }
        let handle = body.operand(empty, 0);
        let class = *self.plan.class_of.get(&handle)?;
        let taken = body.block_ops(repeated);
        let taken = taken.filter(|&op| body.op_name(op) == self.names.pop && body.operand(op, 0) == handle);
        let lanes: Vec<usize> = taken.filter_map(|op| self.plan.lane_of.get(&op).copied()).collect();
        let mut best: Option<Bound> = None;
        for lane in lanes {
            let bound = self.on_one(class, lane);
            best = match (best, bound) {
                (Some(a), Some(b)) if a.most <= b.most => Some(a),
                (a, b) => b.or(a),
            };
        }
        best
    }

    /// How many values of a lane are on one stack of a class.
    fn on_one(&mut self, class: usize, lane: usize) -> Option<Bound> {
        if self.plan.classes[class].capacity.is_some() {
            return self.lane(lane).ok();
        }
        let mut most = Bound::exactly(0);
        for at in 0..self.plan.classes[class].creates.len() {
            let create = self.plan.classes[class].creates[at];
            let block = self.body.op_block(create)?;
            let bound = self.pushed(lane, block, false).ok()??;
            most = most.and(bound, u64::max);
        }
        // A bound that does not fit is not counted.
        most.assumed &= self.plan.commit(class).is_none();
        Some(most)
    }

    /// An upper bound of an integer.
    fn upper(&mut self, value: ValueId) -> Option<Bound> {
        let (ctx, body) = (self.names.ctx, self.body);
        if let Some(number) = body.constant_int(ctx, value) {
            return Some(Bound::exactly(u64::try_from(number.max(0)).ok()?));
        }
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = self.upper_of(value);
        self.depth -= 1;
        found
    }

    fn upper_of(&mut self, value: ValueId) -> Option<Bound> {
        let (ctx, body) = (self.names.ctx, self.body);
        let ValueDef::Result(op, at) = body.value_def(value) else {
            return None;
        };
        if let Some(&lane) = self.plan.lane_of.get(&op) {
            let mut most = Bound::exactly(0);
            let plan = self.plan;
            for &push in &plan.lanes[lane].pushes {
                let pushed = body.operand(push, 1);
                most = most.and(self.upper(pushed)?, u64::max);
            }
            return Some(most);
        }
        let arith = ctx.arithmetic(body.value_type(value))?;
        if arith.is(body.view(ctx, op), Arith::Minimum) {
            let (a, b) = (self.upper(body.operand(op, 0)), self.upper(body.operand(op, 1)));
            return match (a, b) {
                (Some(a), Some(b)) if a.most <= b.most => Some(a),
                (a, b) => b.or(a),
            };
        }
        let [test, repeated] = self.names.form(body, op)?.loop_blocks()?;
        // The operation that counts the iterations.
        let passes = self.names.form(body, op)?.passes[0];
        let forwarded = body.get_operand(body.last_op(test)?, passes + at as usize)?;
        let ValueDef::Arg(block, slot) = body.value_def(forwarded) else {
            return None;
        };
        let next = body.get_operand(body.last_op(repeated)?, slot as usize)?;
        let (origin, step) = chain(ctx, body, next)?;
        let arg = *body.block_args(repeated).get(at as usize)?;
        let start = body.get_operand(op, slot as usize)?;
        if block != test || origin != arg || step < 0 {
            return None;
        }
        let (trips, start) = (self.trips(op)?, self.upper(start)?);
        Some(Bound::exactly(step.unsigned_abs()).times(trips).plus(start))
    }
}
