//! Which variables there are, and what loops and branches write.

use pir_ir::{BlockId, Body, Diagnostic, FlowKind, OpId, ValueId};
use rustc_hash::FxHashSet;

use super::bounds::Bound;
use super::emit::count_type;
use super::plan::Held;
use super::thread::{Buffer, Store, Var, Walk, What};

/// The variables that an operation with regions writes.
#[derive(Default)]
pub(super) struct Written {
    pub(super) vars: Vec<Var>,
    seen: FxHashSet<Var>,
}

/// The ancestors of an operation, innermost first.
fn ancestors(body: &Body, op: OpId) -> impl Iterator<Item = OpId> + '_ {
    std::iter::successors(body.parent_op(op), |&op| body.parent_op(op))
}

impl Walk<'_, '_, '_> {
    fn var(&mut self) -> Var {
        self.env.push(None);
        self.env.len() - 1
    }

    /// The variables of all lanes.
    pub(super) fn make_stores(&mut self, rows: &[Bound]) -> Result<(), Vec<Diagnostic>> {
        self.over = self.var();
        self.lane_of_var.push(None);
        for (lane, bound) in self.plan.lanes.iter().zip(rows) {
            let count = self.var();
            let mut buffers = Vec::new();
            match lane.held {
                Held::Values(ty) => {
                    let var = self.var();
                    let what = What::Value;
                    buffers.push(Buffer { var, ty, what });
                }
                Held::Stacks(class) => {
                    let of = &self.plan.classes[class];
                    let ty = count_type(self.r.ctx);
                    let inner = of.lanes.clone();
                    let needs = [(of.tested, What::Base as fn(usize) -> What), (!of.exact, What::Top)];
                    for (_, what) in needs.into_iter().filter(|(needed, _)| *needed) {
                        for &lane in &inner {
                            let var = self.var();
                            let what = what(lane);
                            buffers.push(Buffer { var, ty, what });
                        }
                    }
                }
            }
            self.lane_of_var.resize(self.env.len(), Some(self.stores.len()));
            self.stores.push(Store {
                unread: buffers.is_empty(),
                buffers,
                count,
                rows: bound.most,
                limit: bound.assumed.then_some(bound.most),
            });
        }
        for (at, class) in self.plan.classes.iter().enumerate() {
            if class.tested {
                self.plan
                    .tested_lanes(self.r.body, at)
                    .into_iter()
                    .for_each(|lane| self.stores[lane].unread = false);
            }
        }
        let lanes = self.plan.lanes.iter().zip(&self.stores);
        let mut trusted = lanes.map(|(lane, store)| store.limit.is_none() || self.plan.commit(lane.class).is_some());
        self.may_overflow = !trusted.all(|trusted| trusted);
        self.make_room()
    }

    /// Rows for what branches write that does not count.
    fn make_room(&mut self) -> Result<(), Vec<Diagnostic>> {
        for (lane, store) in self.plan.lanes.iter().zip(&mut self.stores) {
            let class = &self.plan.classes[lane.class];
            let home = self.plan.home(lane.class);
            // A branch around the whole stack does not matter.
            let in_branch = |&push: &OpId| {
                let around = std::iter::once(push).chain(ancestors(self.r.body, push));
                let mut around = around.take_while(|&op| self.r.body.op_block(op) != home);
                around.any(|op| {
                    let parent = self.r.body.parent_op(op);
                    parent.is_some_and(|op| self.names.kind(self.r.body, op) == Some(FlowKind::Branch))
                })
            };
            let conditional = lane.pushes.iter().any(in_branch);
            // Values that do not count are written to the last row.
            let spare = match store.limit {
                Some(_) => u64::from(conditional || self.plan.commit(lane.class).is_some()),
                None if conditional && class.capacity.is_some() => lane.pushes.len() as u64,
                None => 0,
            };
            store.rows = store.rows.saturating_add(spare);
            store.rows = store.rows.max(1);
            if store.rows > i32::MAX as u64
                && let Some(&push) = lane.pushes.first()
            {
                let message = format!("a stack needs {} rows, more than an i32 counts", store.rows);
                let error = Diagnostic::error("stack-rows", message).label(self.r.body.op_span(push), "pushed here");
                return Err(vec![error.help(
                    "the bounds of nested loops multiply: limit the total, as in \
                     `lower-stacks{bound=1024,total=4096}`, or use `remat{slots}`",
                )]);
            }
        }
        Ok(())
    }

    /// The variables that an operation on a stack writes.
    fn written(&self, op: OpId) -> Vec<Var> {
        if self.r.body.op_name(op) == self.names.commit {
            let block = self
                .r
                .body
                .op_block(op)
                .filter(|block| !self.counted.contains_key(block));
            return block.map(|block| self.committed(block)).unwrap_or_default();
        }
        let Some(&lane) = self.plan.lane_of.get(&op) else {
            return Vec::new();
        };
        let store = &self.stores[lane];
        if store.unread {
            return Vec::new();
        }
        let mut vars = vec![store.count];
        if self.r.body.op_name(op) == self.names.push || self.starts_again(op, lane) {
            vars.extend(store.buffers.iter().map(|buffer| buffer.var));
        }
        vars
    }

    /// The counts of the values of an iteration that are kept or dropped together, where that is counted in this block.
    pub(super) fn committed(&self, block: BlockId) -> Vec<Var> {
        let lanes = self.plan.commits.get(&block).into_iter().flat_map(|(_, lanes)| lanes);
        let stores = lanes.map(|&lane| &self.stores[lane]);
        stores.filter(|store| !store.unread).map(|store| store.count).collect()
    }

    /// Whether something may be pushed on a stack after it was joined.
    pub(super) fn starts_again(&self, join: OpId, lane: usize) -> bool {
        let lane = &self.plan.lanes[lane];
        lane.joins.contains(&join) && self.r.body.op_block(join) != self.plan.home(lane.class)
    }

    /// Notes that what an operation is in, up to a block, writes a variable.
    fn note(&mut self, op: OpId, var: Var, home: Option<BlockId>) {
        let mut at = op;
        while let Some(parent) = self.r.body.parent_op(at).filter(|_| self.r.body.op_block(at) != home) {
            // Its ancestors were recorded then, too.
            if !self.noted.insert((parent, var, home)) {
                return;
            }
            let known = self.writes.entry(parent).or_default();
            if known.seen.insert(var) {
                known.vars.push(var);
            }
            at = parent;
        }
    }

    /// Finds what loops and branches write, and where lanes may turn out to be too small.
    pub(super) fn find_writes(&mut self) {
        let mut pops_in: FxHashSet<(OpId, usize)> = FxHashSet::default();
        let mut pushes_in: Vec<(OpId, usize)> = Vec::new();
        for &op in &self.plan.ops {
            let lane = self.plan.lane_of.get(&op).copied();
            let home = lane.and_then(|lane| self.plan.home(self.plan.lanes[lane].class));
            for var in self.written(op) {
                let writer = self.counting_loop(op, var).unwrap_or(op);
                self.note(writer, var, home);
            }
            let is_push = self.r.body.op_name(op) == self.names.push;
            if let (Some(lane), Some(home)) = (lane, home)
                && let Some(top) = self.r.body.ancestor_in_block(op, home)
            {
                match is_push {
                    true => pushes_in.push((top, lane)),
                    false => drop(pops_in.insert((top, lane))),
                }
            }
            let mut plain = is_push;
            for parent in ancestors(self.r.body, op) {
                let mut is_new = self.touched.insert(parent);
                plain &= self.names.kind(self.r.body, parent) == Some(FlowKind::Branch);
                if let Some(lane) = lane.filter(|_| !plain) {
                    is_new |= self.inside_only.insert((parent, lane));
                }
                // Its ancestors were visited then, too.
                if !is_new && (!plain || lane.is_none()) {
                    break;
                }
            }
        }
        // The use of a stack begins with its counts.
        for (&op, handles) in &self.spans.begins {
            for &handle in handles {
                for lane in self.activation(handle) {
                    self.note(op, self.stores[lane].count, self.home_of(handle));
                    // What a branch begins with ends with it.
                    let around: Vec<OpId> = ancestors(self.r.body, op).collect();
                    self.inside_only.extend(around.into_iter().map(|parent| (parent, lane)));
                }
            }
        }
        let mut checked: FxHashSet<(OpId, usize)> = FxHashSet::default();
        // If overflow is not checked, the check is omitted.
        for (op, lane) in pushes_in {
            let is_counted = self.plan.commit(self.plan.lanes[lane].class).is_some();
            let is_asked = self.stores[lane].limit.is_some() && !is_counted && !self.poisoned.is_empty();
            if is_asked && checked.insert((op, lane)) {
                self.plan_check(op, lane, pops_in.contains(&(op, lane)));
            }
        }
    }

    /// Plans to look whether a lane was too small: after an operation, or where that also takes values off, so that the
    /// count after it does not determine how many there were, after each push.
    fn plan_check(&mut self, op: OpId, lane: usize, is_mixed: bool) {
        let places: Vec<OpId> = match is_mixed {
            false => vec![op],
            true => self.plan.lanes[lane].pushes.clone(),
        };
        for place in places {
            let lanes = self.checks.entry(place).or_default();
            if lanes.contains(&lane) {
                continue;
            }
            lanes.push(lane);
            self.note(place, self.over, None);
            let around: Vec<OpId> = ancestors(self.r.body, place).collect();
            self.touched.extend(around.iter().copied());
            if is_mixed {
                self.inside_only.extend(around.into_iter().map(|parent| (parent, lane)));
            }
        }
    }

    fn home_of(&self, handle: ValueId) -> Option<BlockId> {
        self.plan.home(*self.plan.class_of.get(&handle)?)
    }

    /// The lanes whose counts are set when the use of a stack begins that was taken off another one.
    fn activation(&self, handle: ValueId) -> Vec<usize> {
        let class = self.plan.popped(self.r.body, handle).filter(|class| !class.exact);
        class.into_iter().flat_map(|class| &class.lanes).copied().collect()
    }
}
