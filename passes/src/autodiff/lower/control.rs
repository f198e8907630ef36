//! Loops and branches: what they take along, and where pushes of a branch go.

use pir_dialects::pd;
use pir_ir::{BlockId, Diagnostic, Edited, FlowEdit, FlowKind, FlowPoint, NewLane, OpId, Type, ValueId};

use super::emit::{flag_type, full, two};
use super::thread::{Pending, Var, Walk};

/// The values that a branch is to yield: its type, and the value of each region.
type Yielded = (Type, [ValueId; 2]);

/// An operation with regions that the walk is in.
pub(super) struct Open {
    op: OpId,
    /// The operation as it was called before anything was changed.
    key: OpId,
    blocks: [Option<BlockId>; 2],
    points: [FlowPoint; 2],
    /// The region that the walk is in.
    pub(super) at: usize,
    /// The variables that the operation writes, except those written later.
    vars: Vec<Var>,
    /// The lanes that are written after it.
    pub(super) behind: Vec<usize>,
    /// How a loop carries the variables.
    carried: Option<(Edited, Vec<NewLane>)>,
    /// The values of the variables in front of a branch, and at the ends of its regions.
    before: Vec<ValueId>,
    ends: [Vec<ValueId>; 2],
    /// The values that the regions of a branch push.
    pub(super) pending: [Vec<Pending>; 2],
    /// The operation after it.
    next: Option<OpId>,
}

impl Walk<'_, '_, '_> {
    /// Enters an operation that has to do with stacks inside. Gives the first operation there.
    pub(super) fn enter(&mut self, op: OpId, next: Option<OpId>) -> Result<Option<OpId>, Vec<Diagnostic>> {
        let Some(form) = self.names.form(self.r.body, op).filter(|form| form.entry.is_none()) else {
            let message = format!("stacks in `{}` cannot become tensors", self.r.view(op).name());
            let error = Diagnostic::error("stack-regions", message).label(self.r.body.op_span(op), "in this");
            return Err(vec![error.help(
                "`lift-cfg` and `stablehlo-to-pd-control` convert control flow to supported loops and branches",
            )]);
        };
        let written = self.writes.remove(&op).unwrap_or_default().vars;
        let is_branch = form.kind == FlowKind::Branch;
        let is_behind = |var: &Var| {
            let lane = self.lane_of_var[*var].filter(|_| is_branch);
            lane.is_some_and(|lane| !self.inside_only.contains(&(op, lane)))
        };
        let lanes = written.iter().filter(|var| is_behind(var)).filter_map(|&var| {
            let lane = self.lane_of_var[var]?;
            (self.stores[lane].count == var).then_some(lane)
        });
        let mut behind: Vec<usize> = lanes.collect();
        behind.sort_unstable();
        let vars: Vec<Var> = written.into_iter().filter(|var| !is_behind(var)).collect();
        let before: Vec<ValueId> = vars.iter().map(|&var| self.get(var)).collect();
        let mut open = Open {
            op,
            key: op,
            blocks: form.blocks,
            points: form.points,
            at: 0,
            vars,
            behind,
            carried: None,
            before,
            ends: [Vec::new(), Vec::new()],
            pending: [Vec::new(), Vec::new()],
            next,
        };
        if !is_branch {
            self.carry(&mut open)?;
        }
        let first = self.enter_region(&open);
        self.open.push(open);
        Ok(first)
    }

    /// Makes a loop carry the variables that it writes.
    fn carry(&mut self, open: &mut Open) -> Result<(), Vec<Diagnostic>> {
        let refused = |this: &Self, why: pir_ir::Refused| vec![why.diagnostic(this.r.body)];
        let mut edit = FlowEdit::new(self.names.ctx, self.r.body, open.op).map_err(|e| refused(self, e))?;
        let types: Vec<Type> = open.before.iter().map(|&v| self.r.body.value_type(v)).collect();
        let lanes: Vec<NewLane> = types.into_iter().map(|ty| edit.carry(ty)).collect();
        let ready = edit.check(self.r.body).map_err(|e| refused(self, e))?;
        let done = ready.apply(self.r, &open.before);
        for (&lane, (&var, &like)) in lanes.iter().zip(open.vars.iter().zip(&open.before)) {
            for arg in done.inputs(self.r.body, lane) {
                self.name(arg, var, like);
            }
            let result = done.result(self.r.body, lane);
            self.name(result, var, like);
        }
        open.op = done.op;
        open.carried = Some((done, lanes));
        Ok(())
    }

    /// Names what a variable becomes.
    fn name(&mut self, value: ValueId, var: Var, like: ValueId) {
        match self.lane_of_var[var].is_some_and(|lane| self.stores[lane].count == var) {
            true => self.r.name(value, &self.names.spelled("size")),
            false => self.r.name_like(value, like, ""),
        }
    }

    /// Sets the variables as they are when a region begins. Gives its first operation.
    fn enter_region(&mut self, open: &Open) -> Option<OpId> {
        for (at, &var) in open.vars.iter().enumerate() {
            let value = match &open.carried {
                Some((done, lanes)) => done.input(self.r.body, open.points[open.at], lanes[at]),
                None => open.before[at],
            };
            self.env[var] = Some(value);
        }
        let block = open.blocks[open.at]?;
        self.begin_iteration(block);
        if let Some(&(commit, _)) = self.plan.commits.get(&block) {
            let counts = self.committed(block).into_iter();
            let before = counts.map(|count| (count, self.get(count))).collect();
            self.before.insert(commit, before);
        }
        self.r.body.first_op(block)
    }

    /// Goes on at the end of a region: with the next one, or after the operation. Nothing at the end of the program.
    pub(super) fn leave_region(&mut self) -> Result<Option<Option<OpId>>, Vec<Diagnostic>> {
        let Some(mut open) = self.open.pop() else {
            return Ok(None);
        };
        let values: Vec<ValueId> = open.vars.iter().map(|&var| self.get(var)).collect();
        if let Some((done, lanes)) = &open.carried {
            for (&lane, &value) in lanes.iter().zip(&values) {
                let at = done.operand(self.r.body, open.points[open.at], lane);
                self.r.body.set_operand(at.op, at.index, value);
            }
        }
        open.ends[open.at] = values;
        if open.at == 0 {
            open.at = 1;
            let first = self.enter_region(&open);
            self.open.push(open);
            return Ok(Some(first));
        }
        let (key, next) = (open.key, open.next);
        self.close(open)?;
        self.behind(key, next);
        Ok(Some(next))
    }

    /// Sets the variables as they are after an operation.
    fn close(&mut self, mut open: Open) -> Result<(), Vec<Diagnostic>> {
        if let Some((done, lanes)) = &open.carried {
            for (&var, &lane) in open.vars.iter().zip(lanes) {
                self.env[var] = Some(done.result(self.r.body, lane));
            }
            if let Some(block) = open.blocks[1] {
                self.end_iterations(open.op, block);
            }
        } else {
            self.yield_all(&mut open)?;
        }
        Ok(())
    }

    /// Makes a branch yield what its regions write and push.
    fn yield_all(&mut self, open: &mut Open) -> Result<(), Vec<Diagnostic>> {
        let mut given: Vec<Yielded> = Vec::new();
        for at in 0..open.vars.len() {
            let pair = [open.ends[0][at], open.ends[1][at]];
            given.push((self.r.body.value_type(pair[0]), pair));
        }
        let [first, second] = std::mem::take(&mut open.pending);
        let slots = pair_up(&open.behind, first, second);
        // For each push after: the lanes of its values, and how it is known whether it counts.
        let mut pushes = Vec::new();
        // The flags of pushes that one of the regions always does.
        let mut known = [None; 2];
        for slot in slots {
            let start = given.len();
            let (lane, like) = slot
                .iter()
                .flatten()
                .map(|p| (p.lane, p.like))
                .next()
                .unwrap_or((0, self.zero));
            for at in 0..self.stores[lane].buffers.len() {
                let ty = self.stores[lane].buffers[at].ty;
                let pair = [0, 1].map(|side| match &slot[side] {
                    Some(push) => push.values[at],
                    None => self.at_end(open, side, ty, 0.0),
                });
                given.push((ty, pair));
            }
            let flag = self.flag(open, &slot, &mut given, &mut known);
            pushes.push((lane, like, start, flag));
        }
        if given.is_empty() {
            return Ok(());
        }
        let refused = |this: &Self, why: pir_ir::Refused| vec![why.diagnostic(this.r.body)];
        let mut edit = FlowEdit::new(self.names.ctx, self.r.body, open.op).map_err(|e| refused(self, e))?;
        let [a, b] = open.points;
        let lanes: Vec<NewLane> = given
            .iter()
            .map(|(ty, pair)| edit.add(FlowPoint::Parent, *ty, &[(a, pair[0]), (b, pair[1])]))
            .collect();
        let ready = edit.check(self.r.body).map_err(|e| refused(self, e))?;
        let done = ready.apply(self.r, &[]);
        open.op = done.op;
        let results: Vec<ValueId> = lanes.iter().map(|&lane| done.result(self.r.body, lane)).collect();
        for (at, &var) in open.vars.iter().enumerate() {
            self.name(results[at], var, open.before[at]);
            self.env[var] = Some(results[at]);
        }
        self.r.after(done.op);
        for (lane, like, start, flag) in pushes {
            let count = self.stores[lane].buffers.len();
            let values = results[start..start + count].to_vec();
            for &value in &values {
                self.r.name_like(value, like, "");
            }
            let counts = flag.map(|at| results[at]);
            self.store(Pending {
                lane,
                values,
                counts,
                like,
            });
        }
        Ok(())
    }

    /// Where in `given` is what indicates whether a push of one of the regions counts, if that is not certain.
    fn flag(
        &mut self,
        open: &Open,
        slot: &[Option<Pending>; 2],
        given: &mut Vec<Yielded>,
        known: &mut [Option<usize>; 2],
    ) -> Option<usize> {
        let always = |side: &Option<Pending>| side.as_ref().is_some_and(|push| push.counts.is_none());
        let same = match [always(&slot[0]), always(&slot[1])] {
            [true, true] => return None,
            [true, false] if slot[1].is_none() => Some(0),
            [false, true] if slot[0].is_none() => Some(1),
            _ => None,
        };
        if let Some(at) = same.and_then(|side| known[side]) {
            return Some(at);
        }
        let flag = flag_type(self.r.ctx);
        let pair = [0, 1].map(|side| match &slot[side] {
            Some(push) => push.counts.unwrap_or_else(|| self.at_end(open, side, flag, 1.0)),
            None => self.at_end(open, side, flag, 0.0),
        });
        given.push((flag, pair));
        if let Some(side) = same {
            known[side] = Some(given.len() - 1);
        }
        Some(given.len() - 1)
    }

    /// A constant at the end of a region.
    fn at_end(&mut self, open: &Open, side: usize, ty: Type, value: f64) -> ValueId {
        if let Some(end) = open.blocks[side].and_then(|block| self.r.body.last_op(block)) {
            self.r.before(end);
        }
        full(self.r, ty, value)
    }

    /// Looks whether a lane is too small.
    pub(super) fn check(&mut self, lane: usize) {
        let Some(limit) = self.stores[lane].limit else { return };
        let ty = self.r.body.value_type(self.zero);
        let limit = full(self.r, ty, limit as f64);
        let flag = flag_type(self.r.ctx);
        let more = two(
            self.r,
            pd::GreaterThan::NAME,
            self.get(self.stores[lane].count),
            limit,
            flag,
        );
        let over = match self.env[self.over] {
            None => more,
            Some(before) => two(self.r, pd::LogicalOr::NAME, before, more, flag),
        };
        self.r.name(over, &self.names.spelled("overflow"));
        self.env[self.over] = Some(over);
    }
}

/// The pushes of two regions side by side, lane by lane.
fn pair_up(lanes: &[usize], first: Vec<Pending>, second: Vec<Pending>) -> Vec<[Option<Pending>; 2]> {
    let mut sides = [first, second].map(|all| {
        let mut of_lane: Vec<std::collections::VecDeque<Pending>> = lanes.iter().map(|_| Default::default()).collect();
        for push in all {
            if let Ok(at) = lanes.binary_search(&push.lane) {
                of_lane[at].push_back(push);
            }
        }
        of_lane
    });
    let mut slots = Vec::new();
    for at in 0..lanes.len() {
        let [a, b] = &mut sides;
        while !a[at].is_empty() || !b[at].is_empty() {
            slots.push([a[at].pop_front(), b[at].pop_front()]);
        }
    }
    slots
}
