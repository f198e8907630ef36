//! `licm`: loop-invariant code motion.
//!
//! # Algorithm
//! One walk in program order. Every value has a *home*: the nesting depth of the region it is defined in. An operation
//! whose operands have homes of at most `t` can be moved to depth `t`, to just before the operation there that it is
//! nested in, if that repeats the region that is left last (`RegionFlow::is_repeated`) and the flow of control through
//! all operations on the way is known. What is moved takes its results along to the new home, so that what depends on them follows in the same walk, and an
//! operation goes all the way out at once, however many loops it is invariant in.
//!
//! An operation with regions is decided when the walk leaves it, after what can be moved out of it has been: it is
//! invariant where everything that it and its content capture from outside is. The homes of captures are kept in a
//! heap per open region; they are merged, the smaller into the larger, when a region is left, and those that were
//! inside are dropped. So the whole walk takes time `O(n log² n)`, independent of the depth of nesting.
//!
//! # Conditions
//! * Pure operations that are total (`Speculatability`) may be moved out of any loop, whether that runs or not, and with
//!   `branches` (the default) out of an `if` in a loop too. A loop in the loop is total if it counts to a constant in a
//!   few thousand iterations, and everything in it is.
//! * An operation that may fail or not end, or that reads, is only moved if it is certain to be run as soon as the loop
//!   is: its region runs at least once (the cond region of a while, or the body if the condition is known to hold at
//!   first), and nothing before it in the loop writes, or may not come to an end. What it reads must not be written
//!   anywhere in the loop.
//! * Nothing that writes or makes a resource is moved: no print, no stack operation.
//! * Nothing is moved out of a branch alone, without a loop around it.
//!
//! Differentiation sees what was moved out of a branch with a cotangent of zero when the branch is not taken, and zero
//! times an infinite derivative is NaN. So pipelines that differentiate use `branches=false` before they do.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use std::collections::BinaryHeap;

use pir_ir::{BlockId, Body, Context, Diagnostic, Module, OpId, Preserved, RegionId};
use rustc_hash::FxHashMap;

use crate::analysis::{
    Constants, EffectAnalysis, EffectSet, Variables, has_unknown_effects, is_symbol_or_terminator, regions_before,
};
use crate::bodies::for_each_different_body_mut;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The maximum number of loops out of which to move an operation that needs a check for each loop.
const MAX_STEPS: usize = 64;

/// The pass `licm`.
pub struct Licm;

impl Pass for Licm {
    fn name(&self) -> &'static str {
        "licm"
    }

    fn summary(&self) -> &'static str {
        "Hoist loop-invariant operations out of loops"
    }

    fn description(&self) -> &'static str {
        "Moves operations whose operands are defined outside a loop in front of the loop: out of the cond region, out \
         of the body, and out of `if`s in them. Whole `if`s and loops are moved too. An operation that may fail, may \
         not terminate, or reads memory is moved only if the loop is certain to execute it. Operations with effects are \
         never moved."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn is_pure(&self) -> bool {
        true
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "branches",
            kind: OptionKind::Bool,
            default: Some("true"),
            help: "also hoist operations out of branches whose condition varies between iterations",
        }];
        OPTIONS
    }

    // Operations are only moved.
    fn preserves(&self) -> Preserved {
        Preserved::none().and::<Variables>()
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let from_branches = cx.options.flag("branches");
        for_each_different_body_mut(module, |ctx, body| {
            let mut moved = 0;
            // There is nothing to move out of.
            if body.num_region_slots() == 1 {
                return Ok(Changed::No);
            }
            // First whole branches, then out of those that are not invariant.
            for branches in [false, true] {
                if branches <= from_branches {
                    let mut mover = Mover::new(ctx, body, branches);
                    mover.walk();
                    moved += mover.moved;
                    // Without branches there is nothing to do that was not tried.
                    if moved == 0 && !mover.branching {
                        break;
                    }
                }
            }
            cx.count("moved out of loops", moved);
            Ok((moved > 0).into())
        })
    }
}

enum Task {
    Enter(RegionId, u32),
    /// The operations of a block, whose region is at the depth.
    Block(BlockId, u32),
    /// An operation and those after it in its block.
    Ops(OpId, u32),
    Leave(OpId, u32),
}

/// The state of the region at a depth of the walk.
struct Level {
    /// The least depth that operations of this region can be moved to.
    floor: u32,
    /// The operation that the walk is at.
    op: Option<OpId>,
    region: Option<RegionId>,
    /// Nothing so far in the region that stays there writes or may not end.
    clean: bool,
    /// Homes, less deep than this, of values that are used in the operation whose regions are at this depth.
    captures: BinaryHeap<u32>,
}

impl Level {
    /// Enters the home of a value that is used. Only the largest ones are asked for, and how often they are entered makes no difference.
    #[inline]
    fn capture(&mut self, home: u32) {
        if self.captures.peek() != Some(&home) {
            self.captures.push(home);
        }
    }
}

struct Mover<'a> {
    ctx: &'a Context,
    constants: Constants<'a>,
    branches: bool,
    /// Whether a region was entered that is not repeated, as those of an `if` are.
    branching: bool,
    /// The depths of repeated regions around where the walk is.
    loops: Vec<u32>,
    body: &'a mut Body,
    facts: Arc<EffectAnalysis>,
    /// Operations of unknown effect may change what is a constant when it is created.
    constants_change: bool,
    home: Vec<u32>,
    levels: Vec<Level>,
    /// Whether the region is certain to run, with nothing before it in its operation that writes.
    certain: FxHashMap<RegionId, bool>,
    moved: usize,
}

impl<'a> Mover<'a> {
    fn new(ctx: &'a Context, body: &'a mut Body, branches: bool) -> Self {
        let mut home = vec![0; body.num_value_slots()];
        let mut pending = vec![(body.root(), 0u32)];
        while let Some((region, depth)) = pending.pop() {
            for &block in body.region_blocks(region) {
                for &arg in body.block_args(block) {
                    home[arg.index()] = depth;
                }
                for op in body.block_ops(block) {
                    for result in body.results(op) {
                        home[result.index()] = depth;
                    }
                    pending.extend(body.op_regions(op).iter().map(|&r| (r, depth + 1)));
                }
            }
        }
        Self {
            facts: body.analysis::<EffectAnalysis>(ctx),
            constants_change: has_unknown_effects(ctx, body),
            ctx,
            constants: Constants::new(ctx, None, false),
            branches,
            branching: false,
            loops: Vec::new(),
            body,
            home,
            levels: Vec::new(),
            certain: FxHashMap::default(),
            moved: 0,
        }
    }

    fn walk(&mut self) {
        let mut tasks = vec![Task::Enter(self.body.root(), 0)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Enter(region, depth) => {
                    self.enter(region, depth);
                    let blocks = self.body.region_blocks(region).iter().rev();
                    tasks.extend(blocks.map(|&block| Task::Block(block, depth)));
                }
                Task::Block(block, depth) => {
                    let level = &mut self.levels[depth as usize];
                    let entry = level.region.and_then(|region| self.body.entry_block(region));
                    // It is uncertain whether a second block runs.
                    level.clean &= entry == Some(block);
                    tasks.extend(self.body.first_op(block).map(|op| Task::Ops(op, depth)));
                }
                Task::Ops(first, depth) => self.visit(first, depth, &mut tasks),
                Task::Leave(op, depth) => self.leave(op, depth),
            }
        }
    }

    /// Visits an operation and those after it, up to the first one with regions, whose regions come before the rest.
    fn visit(&mut self, first: OpId, depth: u32, tasks: &mut Vec<Task>) {
        let mut at = Some(first);
        while let Some(op) = at {
            // It may be somewhere else afterwards.
            at = self.body.next_op(op);
            self.levels[depth as usize].op = Some(op);
            let regions = self.body.op_regions(op);
            if regions.is_empty() {
                if !self.stays(op, depth) {
                    self.leave(op, depth);
                }
                continue;
            }
            tasks.extend(at.take().map(|next| Task::Ops(next, depth)));
            tasks.push(Task::Leave(op, depth));
            tasks.extend(regions.iter().rev().map(|&region| Task::Enter(region, depth + 1)));
        }
    }

    fn enter(&mut self, region: RegionId, depth: u32) {
        let at = depth as usize;
        if at == self.levels.len() {
            self.levels.push(Level {
                floor: 0,
                op: None,
                region: None,
                clean: true,
                captures: BinaryHeap::new(),
            });
        }
        let flow = self.body.region_parent(region).and_then(|op| {
            let flow = self.body.region_flow(self.ctx, op)?;
            Some(flow.is_repeated(self.body.view(self.ctx, op), self.body.region_index(region)?))
        });
        self.branching |= flow == Some(false);
        while self.loops.last().is_some_and(|&outer| outer >= depth) {
            self.loops.pop();
        }
        let floor = match flow {
            Some(true) => {
                self.loops.push(depth);
                self.levels[at - 1].floor
            }
            Some(false) if self.branches => self.levels[at - 1].floor,
            _ => depth,
        };
        let level = &mut self.levels[at];
        // Captures stay: the regions of one operation share them.
        level.floor = floor;
        level.region = Some(region);
        level.op = None;
        level.clean = true;
    }

    /// Whether an operation without regions stays where it is because of an operand, as most do: then nothing else has to be asked.
    fn stays(&mut self, op: OpId, depth: u32) -> bool {
        let level = &mut self.levels[depth as usize];
        let homes = self.body.operands(op).map(|value| self.home[value.index()]);
        if homes.clone().fold(level.floor, u32::max) < depth {
            return false;
        }
        level.clean = level.clean && !self.facts.touched(op).intersects(EffectSet::WRITES);
        homes.filter(|&home| home < depth).for_each(|home| level.capture(home));
        true
    }

    /// Decides whether and where an operation moves, when everything in it has been decided.
    fn leave(&mut self, op: OpId, depth: u32) {
        let mut captures = match self.levels.get_mut(depth as usize + 1) {
            Some(level) if !self.body.op_regions(op).is_empty() => std::mem::take(&mut level.captures),
            _ => BinaryHeap::new(),
        };
        while captures.peek().is_some_and(|&home| home > depth) {
            captures.pop();
        }
        let operands = self.body.operands(op).map(|v| self.home[v.index()]).max().unwrap_or(0);
        let least = captures.peek().copied().unwrap_or(0).max(operands);
        let target = self.target(op, depth, least.max(self.levels[depth as usize].floor));
        if target < depth {
            if let Some(at) = self.levels[target as usize].op {
                self.body.unlink_op(op);
                self.body.insert_before(at, op);
                self.moved += 1;
            }
            for result in self.body.results(op) {
                self.home[result.index()] = target;
            }
        } else {
            // What is in nothing does not have to be clean.
            let stays_quiet = depth == 0
                || !self.facts.touched(op).intersects(EffectSet::WRITES)
                    && (self.facts.is_speculatable(op) || self.body.op_regions(op).is_empty());
            self.levels[depth as usize].clean &= stays_quiet;
        }
        // The captures of the operation become captures of its new surroundings.
        let level = &mut self.levels[target as usize];
        for operand in self.body.operands(op) {
            let home = self.home[operand.index()];
            if home < target {
                level.capture(home);
            }
        }
        if target > 0 && !captures.is_empty() {
            level.captures.append(&mut captures);
        }
    }

    /// The depth to move the operation to: between `least`, which its operands and the regions around it allow, and
    /// `depth`, where it is.
    fn target(&mut self, op: OpId, depth: u32, least: u32) -> u32 {
        let touched = self.facts.touched(op);
        if least >= depth
            || touched.intersects(EffectSet::WRITES | EffectSet::ALLOC)
            || is_symbol_or_terminator(self.body.view(self.ctx, op))
            || !self.body.successors(op).is_empty()
        {
            return depth;
        }
        if self.facts.is_speculatable(op) {
            // Out of the outermost loop that is deep enough.
            let outermost = self.loops.partition_point(|&inner| inner <= least);
            let found = self.loops.get(outermost).filter(|&&inner| inner <= depth);
            return found.map_or(depth, |&inner| inner - 1);
        }
        let (mut at, mut found) = (depth, depth);
        for _ in 0..MAX_STEPS {
            if at == least || !self.is_certain(touched, at) {
                break;
            }
            // Out of a region that runs once it makes no sense.
            if self.loops.binary_search(&at).is_ok() {
                found = at - 1;
            }
            at -= 1;
        }
        found
    }

    /// Whether an operation in the region at this depth, or nested in it, is executed whenever the operation that owns
    /// the region is, before any observable difference.
    fn is_certain(&mut self, touched: EffectSet, depth: u32) -> bool {
        let level = &self.levels[depth as usize];
        let (Some(region), Some(owner)) = (level.region, self.levels[depth as usize - 1].op) else {
            return false;
        };
        if !level.clean || self.facts.touched(owner).conflicts_with(touched) {
            return false;
        }
        if let Some(&certain) = self.certain.get(&region) {
            return certain;
        }
        let certain = self.is_certainly_entered(owner, region);
        self.certain.insert(region, certain);
        certain
    }

    /// Whether the operation enters the region as soon as it runs, coming through nothing that writes or may not end.
    fn is_certainly_entered(&self, owner: OpId, region: RegionId) -> bool {
        if self.constants_change {
            return false;
        }
        let Some(before) = regions_before(&self.constants, self.body, owner, region) else {
            return false;
        };
        before.iter().all(|&r| {
            let mut ops = self.body.region_blocks(r).iter().flat_map(|&b| self.body.block_ops(b));
            ops.all(|op| {
                !self.facts.touched(op).intersects(EffectSet::WRITES)
                    && (self.facts.is_speculatable(op) || self.body.op_regions(op).is_empty())
            })
        })
    }
}
