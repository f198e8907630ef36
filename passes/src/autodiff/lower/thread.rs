//! Buffers and counters, carried to where they are read and written.
//!
//! They are variables: the walk goes through the program in the order in which it runs, and knows for each variable the
//! value that it has. A loop that writes one carries it; a branch yields it. What is only read is captured. So the loop
//! of a derivative carries counters alone.
//!
//! No buffer passes through a branch, which would copy it: what a branch pushes is yielded, and written after it, where
//! zeros represent what the other one would have pushed; the counter indicates whether the row counts. That is so unless a
//! loop in the branch pushes.

use pir_dialects::pd;
use pir_ir::{BlockId, Diagnostic, OpId, Rewriter, Type, Use, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::Bound;
use super::control::Open;
use super::counted::Counted;
use super::emit::{count_type, flag_type, full, read, reshape, rows_of, two, write};
use super::handles::refused;
use super::plan::Plan;
use super::spans::Spans;
use super::writes::Written;
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::loop_editing::cast;

/// A variable: its place in the environment.
pub(super) type Var = usize;

/// The storage of a lane.
pub(super) struct Store {
    /// The buffers that each value is written to: itself, or the bases and counts of a stack.
    pub(super) buffers: Vec<Buffer>,
    pub(super) count: Var,
    /// The number of rows.
    pub(super) rows: u64,
    /// The limit on the number of values, if it can be exceeded.
    pub(super) limit: Option<u64>,
    /// Whether nothing looks at it.
    pub(super) unread: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Buffer {
    pub(super) var: Var,
    /// The type of one row.
    pub(super) ty: Type,
    pub(super) what: What,
}

/// The content of a row.
#[derive(Clone, Copy)]
pub(super) enum What {
    Value,
    /// Where a stack begins in a lane of its class.
    Base(usize),
    /// Its end.
    Top(usize),
}

/// A push that waits for the end of its branch.
pub(super) struct Pending {
    pub(super) lane: usize,
    pub(super) values: Vec<ValueId>,
    /// Whether it counts, if that is not certain.
    pub(super) counts: Option<ValueId>,
    pub(super) like: ValueId,
}

/// The state of the walk.
pub(super) struct Walk<'w, 'a, 'c> {
    pub(super) r: &'w mut Rewriter<'a>,
    pub(super) names: &'w ControlOps<'c>,
    pub(super) plan: &'w Plan,
    pub(super) spans: &'w Spans,
    pub(super) stores: Vec<Store>,
    pub(super) env: Vec<Option<ValueId>>,
    /// The variables that an operation with regions writes, and that live outside.
    pub(super) writes: FxHashMap<OpId, Written>,
    pub(super) noted: FxHashSet<(OpId, Var, Option<BlockId>)>,
    /// The lane that a variable belongs to.
    pub(super) lane_of_var: Vec<Option<usize>>,
    /// The classes that are made by an operation, for themselves and those on them.
    homes: FxHashMap<OpId, Vec<usize>>,
    /// The operations with regions that have stacks inside.
    pub(super) touched: FxHashSet<OpId>,
    /// Branches that push on a lane in another way than one that can be done after them.
    pub(super) inside_only: FxHashSet<(OpId, usize)>,
    /// The lanes to check for overflow after an operation.
    pub(super) checks: FxHashMap<OpId, Vec<usize>>,
    /// The variable that states that a lane was too small.
    pub(super) over: Var,
    bases: FxHashMap<(ValueId, usize), ValueId>,
    tops: FxHashMap<(ValueId, usize), ValueId>,
    pub(super) open: Vec<Open>,
    /// For what counts whole iterations: the counts of its lanes before the iteration.
    pub(super) before: FxHashMap<OpId, Vec<(Var, ValueId)>>,
    /// Loops whose counts follow from the iteration, by the repeated block.
    pub(super) counted: FxHashMap<BlockId, Counted>,
    pub(super) poisoned: FxHashMap<OpId, Vec<Use>>,
    /// Operations whose results others have taken the place of.
    replaced: Vec<OpId>,
    pub(super) zero: ValueId,
    one: ValueId,
    /// Whether a lane may have been too small, and what is read from it is wrong.
    pub(super) may_overflow: bool,
}

/// Carries the lanes of a plan through a body, and removes the stacks.
///
/// # Errors
/// When control cannot take them along.
pub(super) fn run(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    plan: &Plan,
    spans: &Spans,
    rows: &[Bound],
    poisoned: Vec<Use>,
) -> Result<(), Vec<Diagnostic>> {
    let blocks = r.body.region_blocks(r.body.root()).to_vec();
    let Some(&top) = blocks.first() else { return Ok(()) };
    // In front of what uses stacks first, if that is certain to come before all others.
    let first = plan.ops.first().and_then(|&op| r.body.ancestor_in_block(op, top));
    match first.filter(|_| blocks.len() == 1) {
        Some(first) => r.before(first),
        None => r.at_start(top),
    };
    let ty = count_type(r.ctx);
    let (zero, one) = (full(r, ty, 0.0), full(r, ty, 1.0));
    let mut walk = Walk {
        r,
        names,
        plan,
        spans,
        stores: Vec::new(),
        env: Vec::new(),
        writes: FxHashMap::default(),
        noted: FxHashSet::default(),
        lane_of_var: Vec::new(),
        homes: FxHashMap::default(),
        touched: FxHashSet::default(),
        inside_only: FxHashSet::default(),
        checks: FxHashMap::default(),
        over: 0,
        bases: FxHashMap::default(),
        tops: FxHashMap::default(),
        open: Vec::new(),
        before: FxHashMap::default(),
        counted: FxHashMap::default(),
        poisoned: FxHashMap::default(),
        replaced: Vec::new(),
        zero,
        one,
        may_overflow: false,
    };
    for at in poisoned {
        walk.poisoned.entry(at.op).or_default().push(at);
    }
    for (at, class) in plan.classes.iter().enumerate() {
        if let Some((_, create)) = class.home {
            walk.homes.entry(create).or_default().push(at);
        }
    }
    walk.make_stores(rows)?;
    walk.find_counted();
    walk.find_writes();
    if walk.writes.values().any(|written| written.vars.contains(&walk.over)) {
        let flag = flag_type(walk.r.ctx);
        walk.env[walk.over] = Some(full(walk.r, flag, 0.0));
    }
    for block in blocks {
        walk.run(block)?;
    }
    walk.remove_stacks()?;
    for value in [zero, one] {
        if !walk.r.body.has_uses(value)
            && let Some(op) = walk.r.body.defining_op(value)
        {
            walk.r.erase_op(op);
        }
    }
    Ok(())
}

impl Walk<'_, '_, '_> {
    /// Removes what nothing uses any more.
    ///
    /// # Errors
    /// If something uses a stack still.
    fn remove_stacks(&mut self) -> Result<(), Vec<Diagnostic>> {
        for op in std::mem::take(&mut self.replaced) {
            self.r.erase_op(op);
        }
        for &op in self.plan.ops.iter().rev() {
            if !self.r.body.is_alive(op) {
                continue;
            }
            if self.r.body.op_has_uses(op) {
                let stack = self.r.body.result(op, 0);
                return Err(vec![refused(
                    self.r,
                    stack,
                    "something reads it in a way that is not known",
                )]);
            }
            self.r.erase_op(op);
        }
        Ok(())
    }

    pub(super) fn get(&self, var: Var) -> ValueId {
        self.env[var].unwrap_or(self.zero)
    }

    /// Goes through a block, and everything in it that has to do with stacks.
    fn run(&mut self, block: BlockId) -> Result<(), Vec<Diagnostic>> {
        let mut cursor = self.r.body.first_op(block);
        loop {
            let Some(op) = cursor else {
                match self.leave_region()? {
                    Some(next) => cursor = next,
                    None => return Ok(()),
                }
                continue;
            };
            cursor = self.r.body.next_op(op);
            for handle in self.spans.begins.get(&op).into_iter().flatten() {
                self.begin(op, *handle);
            }
            self.poison(op);
            if self.touched.contains(&op) {
                cursor = self.enter(op, cursor)?;
                continue;
            }
            self.lower(op);
            self.behind(op, cursor);
        }
    }

    /// Inserts the code between an operation and the next one.
    pub(super) fn behind(&mut self, op: OpId, next: Option<OpId>) {
        if let Some(next) = next {
            self.r.before(next);
        }
        for &handle in self.spans.ends.get(&op).into_iter().flatten() {
            self.end(handle);
        }
        let lanes = self.checks.remove(&op).unwrap_or_default();
        if next.is_some() {
            lanes.into_iter().for_each(|lane| self.check(lane));
        }
    }

    /// Begins to use a stack that is recorded on another one, or was.
    fn begin(&mut self, op: OpId, handle: ValueId) {
        let class = &self.plan.classes[self.plan.class_of[&handle]];
        if class.outer.is_none() {
            return;
        }
        let popped = self.plan.popped(self.r.body, handle).is_some();
        self.r.before(op);
        for &lane in &class.lanes {
            if !popped {
                let held = self.held(lane);
                self.bases.insert((handle, lane), held);
            } else if !class.exact
                && let Some(&top) = self.tops.get(&(handle, lane))
            {
                self.env[self.stores[lane].count] = Some(top);
            }
        }
    }

    /// A stack that is recorded is complete.
    fn end(&mut self, handle: ValueId) {
        let class = &self.plan.classes[self.plan.class_of[&handle]];
        for &lane in &class.lanes {
            let held = self.held(lane);
            self.tops.insert((handle, lane), held);
        }
    }

    /// How many values a lane holds, including those that branches around this place push after them.
    fn held(&mut self, lane: usize) -> ValueId {
        let waiting = self.open.iter().flat_map(|open| &open.pending[open.at]);
        let waiting = waiting.filter(|push| push.lane == lane).map(|push| push.counts);
        let waiting: Vec<Option<ValueId>> = waiting.collect();
        let ty = count_type(self.r.ctx);
        let count = self.get(self.stores[lane].count);
        waiting.into_iter().fold(count, |count, flag| {
            let step = self.step(flag);
            two(self.r, pd::Add::NAME, count, step, ty)
        })
    }

    /// By how much a push increases the count.
    fn step(&mut self, counts: Option<ValueId>) -> ValueId {
        let Some(flag) = counts else { return self.one };
        cast(self.r, flag, count_type(self.r.ctx))
    }

    fn lower(&mut self, op: OpId) {
        let name = self.r.body.op_name(op);
        if name == self.names.create {
            self.create(op);
        } else if name == self.names.is_empty && self.r.body.op_has_uses(op) {
            self.is_empty(op);
        } else if name == self.names.commit {
            self.commit(op);
        } else if let Some(&lane) = self.plan.lane_of.get(&op) {
            if self.stores[lane].unread {
                return;
            }
            self.r.before(op);
            match () {
                () if name == self.names.push => self.push(op, lane),
                () if name == self.names.pop => self.pop(op, lane),
                () => self.join(op, lane),
            }
        }
    }

    /// Makes the buffers of a stack, and of those that will be recorded on it.
    fn create(&mut self, op: OpId) {
        self.r.before(op);
        for at in self.homes.remove(&op).unwrap_or_default() {
            for lane in self.plan.classes[at].lanes.clone() {
                let store = &self.stores[lane];
                let (rows, count, buffers) = (store.rows, store.count, store.buffers.clone());
                self.env[count] = Some(self.zero);
                for buffer in buffers {
                    let ty = match rows {
                        1 => buffer.ty,
                        _ => rows_of(self.r.ctx, buffer.ty, rows),
                    };
                    let value = full(self.r, ty, 0.0);
                    self.r.name(value, &self.names.spelled("rows"));
                    self.env[buffer.var] = Some(value);
                }
            }
        }
    }

    fn is_empty(&mut self, op: OpId) {
        let handle = self.r.body.operand(op, 0);
        let class = self.plan.class_of[&handle];
        let lanes = self.plan.tested_lanes(self.r.body, class);
        let flag = flag_type(self.r.ctx);
        self.r.before(op);
        let result = self.r.body.result(op, 0);
        // Most often it is asked whether there is more.
        let negation = self.r.body.only_use(result).map(|at| at.op).filter(|&user| {
            let arith = self.r.ctx.arithmetic(self.r.body.value_type(result));
            arith.is_some_and(|a| a.is(self.r.view(user), pir_ir::Arith::Not))
        });
        let (compare, both) = match negation {
            Some(_) => (pd::GreaterThan::NAME, pd::LogicalOr::NAME),
            None => (pd::LessEqual::NAME, pd::LogicalAnd::NAME),
        };
        let mut all = None;
        for lane in lanes {
            let base = self.base(handle, lane);
            let one = two(self.r, compare, self.get(self.stores[lane].count), base, flag);
            all = Some(match all {
                None => one,
                Some(before) => two(self.r, both, before, one, flag),
            });
        }
        let value = all.unwrap_or_else(|| full(self.r, flag, if negation.is_some() { 0.0 } else { 1.0 }));
        let old = match negation {
            Some(negation) => self.r.body.result(negation, 0),
            None => result,
        };
        self.r.take_name(old, value);
        self.r.replace_value(old, value);
        // It may be the next operation of the walk.
        self.replaced.extend(negation);
    }

    /// Counts an iteration if everything that it pushed is held; otherwise that is dropped, and that of all later ones.
    fn commit(&mut self, op: OpId) {
        let operands: Vec<ValueId> = self.r.body.operands(op).collect();
        let &[_, kept, trip] = operands.as_slice() else { return };
        let block = self.r.body.op_block(op);
        if block.is_some_and(|block| self.counted.contains_key(&block)) {
            self.r.replace_value(self.r.body.result(op, 0), kept);
            self.r.erase_op(op);
            return;
        }
        let (count, flag) = (count_type(self.r.ctx), flag_type(self.r.ctx));
        self.r.before(op);
        let mut fits = two(self.r, pd::Equal::NAME, kept, trip, flag);
        let lanes = self.r.body.op_block(op).and_then(|block| self.plan.commits.get(&block));
        for &lane in lanes.into_iter().flat_map(|(_, lanes)| lanes) {
            let Some(limit) = self.stores[lane].limit.filter(|_| !self.stores[lane].unread) else {
                continue;
            };
            let limit = full(self.r, count, limit as f64);
            let one = two(
                self.r,
                pd::LessEqual::NAME,
                self.get(self.stores[lane].count),
                limit,
                flag,
            );
            fits = two(self.r, pd::LogicalAnd::NAME, fits, one, flag);
        }
        self.r.name(fits, "fits");
        for (var, before) in self.before.remove(&op).unwrap_or_default() {
            let now = self.get(var);
            if now != before {
                let kept = self
                    .r
                    .op(pd::Where::NAME)
                    .operands([fits, now, before])
                    .result(count)
                    .value();
                self.r.name(kept, &self.names.spelled("size"));
                self.env[var] = Some(kept);
            }
        }
        let ty = self.r.body.value_type(kept);
        let one = cast(self.r, fits, ty);
        let next = two(self.r, pd::Add::NAME, kept, one, ty);
        let old = self.r.body.result(op, 0);
        self.r.take_name(old, next);
        self.r.replace_value(old, next);
        self.r.erase_op(op);
    }

    fn base(&self, handle: ValueId, lane: usize) -> ValueId {
        self.bases.get(&(handle, lane)).copied().unwrap_or(self.zero)
    }

    /// The rows that a push writes.
    fn rows_for(&mut self, op: OpId, lane: usize) -> Vec<ValueId> {
        let value = self.r.body.operand(op, 1);
        let buffers = self.stores[lane].buffers.clone();
        let known = |this: &Self, what: What| match what {
            What::Value => (Some(value), 0),
            What::Base(inner) => (this.bases.get(&(value, inner)).copied(), inner),
            What::Top(inner) => (this.tops.get(&(value, inner)).copied(), inner),
        };
        let row = |buffer: Buffer| match known(self, buffer.what) {
            (Some(row), _) => row,
            // A stack that was never used is empty, wherever it is.
            (None, inner) => self.held(inner),
        };
        buffers.into_iter().map(row).collect()
    }

    fn push(&mut self, op: OpId, lane: usize) {
        let values = self.rows_for(op, lane);
        self.store(Pending {
            lane,
            values,
            counts: None,
            like: self.r.body.operand(op, 1),
        });
        self.r.erase_op(op);
    }

    /// Writes rows, at the insertion point or after the branch.
    pub(super) fn store(&mut self, push: Pending) {
        let waits = self
            .open
            .last()
            .is_some_and(|open| open.behind.binary_search(&push.lane).is_ok());
        if waits && let Some(open) = self.open.last_mut() {
            open.pending[open.at].push(push);
            return;
        }
        let (count, rows) = (self.stores[push.lane].count, self.stores[push.lane].rows);
        let at = self.get(count);
        for (buffer, value) in self.stores[push.lane].buffers.clone().into_iter().zip(push.values) {
            let written = match rows {
                1 => value,
                _ => {
                    let old = self.get(buffer.var);
                    let row = self.row_to_write(push.lane, at);
                    let new = write(self.r, old, value, row, self.zero);
                    self.r.name_like(new, push.like, "_rows");
                    new
                }
            };
            self.env[buffer.var] = Some(written);
        }
        let ty = count_type(self.r.ctx);
        let step = self.step(push.counts);
        let next = two(self.r, pd::Add::NAME, at, step, ty);
        self.r.name(next, &self.names.spelled("size"));
        self.env[count] = Some(next);
    }

    /// Where a value is written: in the last row if there are too many.
    fn row_to_write(&mut self, lane: usize, at: ValueId) -> ValueId {
        match self.stores[lane].limit {
            Some(_) => self.clamp(pd::Minimum::NAME, at, self.stores[lane].rows - 1),
            None => at,
        }
    }

    /// The row to read. If a stack overflowed, the recorded trip counts do not belong to this run.
    fn row_to_read(&mut self, lane: usize, at: ValueId) -> ValueId {
        if self.stores[lane].rows == 1 || !self.may_overflow {
            return at;
        }
        let at = self.clamp(pd::Minimum::NAME, at, self.stores[lane].rows - 1);
        self.clamp(pd::Maximum::NAME, at, 0)
    }

    fn clamp(&mut self, name: &str, at: ValueId, end: u64) -> ValueId {
        let ty = count_type(self.r.ctx);
        let end = full(self.r, ty, end as f64);
        two(self.r, name, at, end, ty)
    }

    fn pop(&mut self, op: OpId, lane: usize) {
        let (count, rows) = (self.stores[lane].count, self.stores[lane].rows);
        let ty = count_type(self.r.ctx);
        let at = two(self.r, pd::Subtract::NAME, self.get(count), self.one, ty);
        self.r.name(at, &self.names.spelled("size"));
        self.env[count] = Some(at);
        let popped = self.r.body.result(op, 0);
        let row = self.row_to_read(lane, at);
        for buffer in self.stores[lane].buffers.clone() {
            let whole = self.get(buffer.var);
            let value = match rows {
                1 => whole,
                _ => read(self.r, whole, buffer.ty, row, self.zero),
            };
            match buffer.what {
                What::Value => {
                    if rows > 1 {
                        self.r.take_name(popped, value);
                    }
                    self.r.replace_value(popped, value);
                }
                What::Base(inner) => drop(self.bases.insert((popped, inner), value)),
                What::Top(inner) => drop(self.tops.insert((popped, inner), value)),
            }
        }
    }

    /// All rows in one: those that are not used are zeros.
    fn join(&mut self, op: OpId, lane: usize) {
        let Some(&buffer) = self.stores[lane].buffers.first() else {
            return;
        };
        let axis = usize::try_from(self.r.view(op).int("axis").unwrap_or(0)).unwrap_or(0);
        let (ctx, rows) = (self.r.ctx, self.stores[lane].rows);
        let (shape, elem) = ctx.as_tensor(buffer.ty).unwrap_or((&[], Type::F32));
        let mut whole = self.get(buffer.var);
        if rows > 1 {
            // The rows are in front of their axis.
            let mut order: Vec<i64> = (1..=shape.len() as i64).collect();
            order.insert(axis, 0);
            let mut dims: Vec<i64> = shape.to_vec();
            dims.insert(axis, rows as i64);
            if axis > 0 {
                let perm = ctx.ints_attr(&order);
                let transposed = self.r.op(pd::Transpose::NAME).operand(whole).attr("perm", perm);
                whole = transposed.result(ctx.tensor(&dims, elem)).value();
            }
            let mut joined = shape.to_vec();
            joined[axis] = joined[axis].saturating_mul(rows as i64);
            whole = reshape(self.r, whole, ctx.tensor(&joined, elem));
        }
        self.env[self.stores[lane].count] = Some(self.zero);
        if self.starts_again(op, lane) {
            let ty = self.r.body.value_type(self.get(buffer.var));
            self.env[buffer.var] = Some(full(self.r, ty, 0.0));
        }
        let old = self.r.body.result(op, 0);
        if rows > 1 {
            self.r.take_name(old, whole);
        }
        self.r.replace_value(old, whole);
    }
}
