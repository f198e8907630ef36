//! Which of Paddle's stacks each push and pop of ours goes to.
//!
//! Its executor takes one push and one pop of a tuple for each stack, and stacks at top level only. So the pushes of one
//! block become one tuple on a stack of its own, popped by the block of the derivative that mirrors it; a stack that
//! is made anew in each iteration of an outer loop becomes one stack at top level that all iterations share: what an
//! iteration has pushed, the mirrored one pops. Such a stack is not empty when an inner loop has been undone, so that
//! the inner loop of the derivative counts: what is pushed for the handle of the stack is the number of iterations.

use rustc_hash::{FxHashMap, FxHashSet};

use pir_dialects::pd::{Handles, is_while, role};
use pir_ir::{BlockId, Body, Context, Diagnostic, OpId, ValueId};

/// When a loop of the derivative has been run to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    /// Paddle's stack of this number is empty.
    Empty(usize),
    /// The counter of the loop is zero.
    Counter(OpId),
}

/// What becomes of the operations on stacks.
#[derive(Default, Debug)]
pub(super) struct Plan {
    /// How many stacks Paddle needs.
    pub(super) stacks: usize,
    /// The last push of a block: the stack of the tuple, and its values.
    pub(super) pushes: FxHashMap<OpId, (usize, Vec<ValueId>)>,
    /// The first pop of a block: the stack of the tuple, and its values.
    pub(super) pops: FxHashMap<OpId, (usize, Vec<ValueId>)>,
    /// The tests for emptiness.
    pub(super) exits: FxHashMap<OpId, Exit>,
    /// The loops that count their iterations, and the handle that stands for the count.
    pub(super) counting: FxHashSet<OpId>,
    /// The loops that run as often as a count says: that of a handle.
    pub(super) counted: FxHashMap<OpId, ValueId>,
}

/// The pushes or the pops of one stack of ours in one block.
#[derive(Debug)]
struct Group {
    site: OpId,
    block: BlockId,
    ops: Vec<OpId>,
}

struct Planner<'m> {
    ctx: &'m Context,
    body: &'m Body,
    top: BlockId,
    errors: &'m mut Vec<Diagnostic>,
    pushes: Vec<Group>,
    pops: Vec<Group>,
    push_at: FxHashMap<(OpId, BlockId), usize>,
    pop_at: FxHashMap<(OpId, BlockId), usize>,
    /// The pushes of each stack, by the role of their region.
    by_role: FxHashMap<(OpId, usize), usize>,
    /// The group of pushes that a group of pops undoes.
    partner: Vec<usize>,
    handles: Handles<'m>,
}

/// Plans the stacks of a program. What cannot be said goes to the errors.
pub(super) fn plan(ctx: &Context, body: &Body, top: BlockId, errors: &mut Vec<Diagnostic>) -> Plan {
    let mut planner = Planner {
        ctx,
        body,
        top,
        errors,
        pushes: Vec::new(),
        pops: Vec::new(),
        push_at: FxHashMap::default(),
        pop_at: FxHashMap::default(),
        by_role: FxHashMap::default(),
        partner: Vec::new(),
        handles: Handles::new(ctx, body),
    };
    let mut tests = Vec::new();
    for op in body.walk_all() {
        match ctx.op_str(body.op_name(op)) {
            "cf.push_back" => planner.push(op),
            "cf.pop_back" => planner.pop(op),
            "cf.is_empty" => tests.push(op),
            "cf.copy_stack" => planner.error(op, "a copy of a stack", "two loops cannot pop what one loop has pushed"),
            _ => {}
        }
    }
    planner.finish(tests)
}

impl Planner<'_> {
    fn error(&mut self, op: OpId, what: &str, why: &str) {
        let message = format!("{what} cannot be written for PaddlePaddle: {why}");
        self.errors
            .push(Diagnostic::error("paddle-stack", message).label(self.body.op_span(op), "here"));
    }

    fn place(&mut self, op: OpId) -> Option<(OpId, BlockId)> {
        let site = self
            .body
            .operands(op)
            .next()
            .and_then(|stack| self.handles.made_by(stack));
        let block = self.body.op_block(op);
        let (Some(site), Some(block)) = (site, block) else {
            self.error(
                op,
                "this",
                "which stack it works on is not known before the program runs",
            );
            return None;
        };
        let parent = self.body.block_parent(block);
        if parent
            .is_some_and(|p| is_while(self.ctx.op_str(self.body.op_name(p))) && role(self.body, p, block) == Some(0))
        {
            self.error(
                op,
                "a value that the condition of a loop records",
                "its loops compute their conditions in two places, and a stack takes values from one",
            );
            return None;
        }
        Some((site, block))
    }

    fn push(&mut self, op: OpId) {
        let Some((site, block)) = self.place(op) else { return };
        if let Some(&group) = self.push_at.get(&(site, block)) {
            self.pushes[group].ops.push(op);
            return;
        }
        let group = self.pushes.len();
        self.push_at.insert((site, block), group);
        self.pushes.push(Group {
            site,
            block,
            ops: vec![op],
        });
        let role = self
            .body
            .block_parent(block)
            .and_then(|p| role(self.body, p, block))
            .unwrap_or(0);
        if self.by_role.insert((site, role), group).is_some() {
            self.error(op, "this stack", "it is filled in several places");
        }
    }

    fn pop(&mut self, op: OpId) {
        let Some((site, block)) = self.place(op) else { return };
        let group = match self.pop_at.get(&(site, block)) {
            Some(&group) => group,
            None => {
                let role = self
                    .body
                    .block_parent(block)
                    .and_then(|p| role(self.body, p, block))
                    .unwrap_or(0);
                let Some(&partner) = self.by_role.get(&(site, role)) else {
                    self.error(op, "this", "nothing is pushed in the region that it mirrors");
                    return;
                };
                if self.partner.contains(&partner) {
                    self.error(op, "this stack", "it is emptied in several places");
                    return;
                }
                self.pop_at.insert((site, block), self.pops.len());
                self.pops.push(Group {
                    site,
                    block,
                    ops: Vec::new(),
                });
                self.partner.push(partner);
                self.pops.len() - 1
            }
        };
        let pushed = &self.pushes[self.partner[group]].ops;
        let at = self.pops[group].ops.len();
        let Some(&push) = pushed.len().checked_sub(at + 1).and_then(|i| pushed.get(i)) else {
            self.error(op, "this", "the region that it mirrors pushes fewer values");
            return;
        };
        self.pops[group].ops.push(op);
        self.handles.undo(push, op);
    }

    fn finish(mut self, tests: Vec<OpId>) -> Plan {
        let mut plan = Plan::default();
        // By which stacks a handle is more than a name.
        let mut counters: FxHashSet<OpId> = FxHashSet::default();
        for test in tests {
            self.test(test, &mut plan, &mut counters);
        }
        for group in 0..self.pops.len() {
            let pushed = &self.pushes[self.partner[group]];
            let popped = &self.pops[group];
            let (Some(&last), Some(&first)) = (pushed.ops.last(), popped.ops.first()) else {
                continue;
            };
            if pushed.ops.len() != popped.ops.len() {
                self.error(first, "this", "the region that it mirrors pushes more values");
                continue;
            }
            let mut counted = |value: &ValueId| {
                !self.handles.is_handle(*value)
                    || self
                        .handles
                        .made_by(*value)
                        .is_some_and(|site| counters.contains(&site))
            };
            let values: Vec<ValueId> = pushed
                .ops
                .iter()
                .filter_map(|&op| self.body.operands(op).nth(1))
                .filter(&mut counted)
                .collect();
            let results: Vec<ValueId> = popped
                .ops
                .iter()
                .rev()
                .filter_map(|&op| self.body.results(op).next())
                .filter(counted)
                .collect();
            plan.pushes.insert(last, (group, values));
            plan.pops.insert(first, (group, results));
        }
        plan.stacks = self.pops.len();
        plan
    }

    /// How the test whether a stack is empty is said.
    fn test(&mut self, op: OpId, plan: &mut Plan, counters: &mut FxHashSet<OpId>) {
        let body = self.body;
        let handle = body.operands(op).next();
        let (Some(handle), Some(site)) = (handle, handle.and_then(|v| self.handles.made_by(v))) else {
            self.error(
                op,
                "this",
                "which stack it looks at is not known before the program runs",
            );
            return;
        };
        let parent = body.op_block(op).and_then(|b| body.block_parent(b));
        let looped = parent.filter(|&p| is_while(self.ctx.op_str(body.op_name(p))));
        let block = looped.and_then(|p| body.single_block(*body.op_regions(p).last()?));
        let group = block.and_then(|b| self.pop_at.get(&(site, b)).copied());
        let owner = self.body.parent_op(site);
        // Where the stack is made: at top level itself, or in the first region of an operation there.
        let at_top = body.op_block(owner.unwrap_or(site)) == Some(self.top);
        match (looped, group) {
            (Some(_), Some(group)) if at_top => {
                plan.exits.insert(op, Exit::Empty(group));
            }
            (Some(looped), Some(group)) => {
                let pushed = &self.pushes[self.partner[group]];
                let source = owner.filter(|&o| {
                    is_while(self.ctx.op_str(body.op_name(o))) && body.block_parent(pushed.block) == Some(o)
                });
                let Some(source) = source else {
                    return self.error(op, "this", "the stack is not that of a loop");
                };
                counters.insert(pushed.site);
                plan.counting.insert(source);
                plan.counted.insert(looped, handle);
                plan.exits.insert(op, Exit::Counter(looped));
            }
            _ => self.error(
                op,
                "this",
                "only a loop that pops from a stack can ask whether it is empty",
            ),
        }
    }
}
