//! Maps each push and pop to one of Paddle's stacks.
//!
//! Paddle's executor takes one push and one pop of a tuple per stack, and only stacks at top level. So the pushes of
//! one block become one tuple on a separate stack, popped by the mirrored block of the derivative; a stack that is
//! created in each iteration of an outer loop becomes one stack at top level that all iterations share: the mirrored
//! iteration pops what an iteration has pushed. Such a stack is not empty when an inner loop has been undone, so the
//! inner loop of the derivative counts: the number of iterations is pushed in place of the stack's handle.
//!
//! The condition of a loop is written twice, before the loop and at the end of its body, but a push can be in one place
//! only. So the loop carries the values that its condition records, and the body pushes them at its start. The values
//! of the last condition, which no body follows, are results of the loop: the loop of the derivative uses them in place
//! of its first pop.

use pir_dialects::{cf, pd};
use rustc_hash::{FxHashMap, FxHashSet};

use pir_dialects::pd::{Handles, is_if, is_while, role};
use pir_ir::{BlockId, Body, Context, Diagnostic, OpId, Type, ValueId};

/// The exit condition of a loop of the derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    /// Paddle's stack of this number is empty.
    Empty(usize),
    /// The loop counter is zero.
    Counter(OpId),
}

/// An element of a tuple.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    Value(ValueId),
    /// The trip count of the loop that pushes to the stack of this handle.
    Count(ValueId),
    /// The last value recorded by the condition of a loop: the stack, the index in its tuple, and the type.
    Last(usize, usize, Type),
}

/// The mapping of the stack operations.
#[derive(Default, Debug)]
pub(super) struct StackPlan {
    /// How many stacks Paddle needs.
    pub(super) stacks: usize,
    /// The last push of a block: the stack of the tuple, and its values.
    pub(super) pushes: FxHashMap<OpId, (usize, Vec<Item>)>,
    /// The first pop of a block: the stack of the tuple, and its values.
    pub(super) pops: FxHashMap<OpId, (usize, Vec<Item>)>,
    /// The loops whose conditions record: the stacks, and the values.
    pub(super) recorded: FxHashMap<OpId, Vec<(usize, Vec<ValueId>)>>,
    /// The first pops of conditions: their loops.
    pub(super) replayed: FxHashMap<OpId, OpId>,
    /// The tests for emptiness.
    pub(super) exits: FxHashMap<OpId, Exit>,
    /// The loops that count their iterations, and the definitions of the stacks whose handles are replaced with the
    /// count.
    pub(super) counting: FxHashMap<OpId, Vec<OpId>>,
    /// The loops with a trip count: that of a handle.
    pub(super) counted: FxHashMap<OpId, ValueId>,
}

/// The pushes or the pops of one stack in one block.
#[derive(Debug)]
struct Group {
    site: OpId,
    block: BlockId,
    ops: Vec<OpId>,
    /// For pushes: whether they are popped.
    undone: bool,
}

struct StackPlanner<'m> {
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
    /// How many loop conditions are around a block.
    conditions: FxHashMap<BlockId, usize>,
    /// What was pushed, of what is popped.
    pushed: FxHashMap<ValueId, ValueId>,
}

/// Plans the stacks of a program. Reports what cannot be expressed.
pub(super) fn plan(ctx: &Context, body: &Body, top: BlockId, errors: &mut Vec<Diagnostic>) -> StackPlan {
    let mut planner = StackPlanner {
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
        conditions: FxHashMap::default(),
        pushed: FxHashMap::default(),
    };
    let mut tests = Vec::new();
    for op in body.walk_all() {
        match ctx.op_str(body.op_name(op)) {
            cf::PUSH_BACK => planner.push(op),
            cf::POP_BACK => planner.pop(op),
            cf::IS_EMPTY => tests.push((op, planner.popped_before(op))),
            cf::COPY_STACK => {
                let why = "it cannot copy stacks";
                planner.error(op, "`cf.copy_stack`", why).help = Some("push the values on two stacks".to_owned());
            }
            cf::JOIN_STACK => {
                let why = "it pops one tuple at a time from a stack";
                planner.error(op, "`cf.join_stack`", why).help =
                    Some("`unbatch-weight-grads` removes products of joined stacks".to_owned());
            }
            _ => {}
        }
    }
    planner.finish(tests)
}

impl StackPlanner<'_> {
    fn error(&mut self, op: OpId, what: &str, why: &str) -> &mut Diagnostic {
        let message = format!("{what} cannot be written for PaddlePaddle: {why}");
        let error = Diagnostic::error("paddle-stack", message).label(self.body.op_span(op), "here");
        self.errors.push(error);
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    /// The loop whose condition region contains a block.
    fn condition_of(&self, block: BlockId) -> Option<OpId> {
        let parent = self.body.block_parent(block)?;
        let looped = is_while(self.ctx.op_str(self.body.op_name(parent)));
        (looped && role(self.body, parent, block) == Some(0)).then_some(parent)
    }

    /// How many loop conditions are around a block: each is written twice.
    fn conditions(&mut self, block: BlockId) -> usize {
        let mut open = Vec::new();
        let mut at = Some(block);
        let mut count = 0;
        while let Some(block) = at {
            if let Some(&known) = self.conditions.get(&block) {
                count = known;
                break;
            }
            open.push(block);
            at = self.body.block_parent(block).and_then(|op| self.body.op_block(op));
        }
        for block in open.into_iter().rev() {
            count += usize::from(self.condition_of(block).is_some());
            self.conditions.insert(block, count);
        }
        count
    }

    /// How many values have been popped from the tested stack before a test, in its block.
    fn popped_before(&mut self, test: OpId) -> usize {
        let handle = self.body.operands(test).next();
        let site = handle.and_then(|stack| self.handles.made_by(stack));
        let group = site
            .zip(self.body.op_block(test))
            .and_then(|place| self.pop_at.get(&place));
        group.map_or(0, |&group| self.pops[group].ops.len())
    }

    fn place(&mut self, op: OpId) -> Option<(OpId, BlockId)> {
        let site = self
            .body
            .operands(op)
            .next()
            .and_then(|stack| self.handles.made_by(stack));
        let block = self.body.op_block(op);
        let (Some(site), Some(block)) = (site, block) else {
            self.error(op, "this", "its stack is only known at run time");
            return None;
        };
        // A loop carries the values of its condition, but not those of nested conditions.
        if self.conditions(block) > usize::from(self.condition_of(block).is_some()) {
            self.error(
                op,
                "a value that is recorded within the condition of a loop",
                "loops compute their conditions in two places, but a stack takes values from only one",
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
            undone: false,
        });
        let role = self
            .body
            .block_parent(block)
            .and_then(|p| role(self.body, p, block))
            .unwrap_or(0);
        if self.by_role.insert((site, role), group).is_some() {
            self.error(op, "this stack", "it is pushed in several places");
        }
    }

    fn pop(&mut self, op: OpId) {
        let Some((site, block)) = self.place(op) else { return };
        let group = match self.pop_at.get(&(site, block)) {
            Some(&group) => group,
            None => {
                let Some(partner) = self.mirrored(site, block) else {
                    self.error(op, "this", "there is no push in the region that it mirrors");
                    return;
                };
                if std::mem::replace(&mut self.pushes[partner].undone, true) {
                    self.error(op, "this stack", "it is popped in several places");
                    return;
                }
                self.pop_at.insert((site, block), self.pops.len());
                self.pops.push(Group {
                    site,
                    block,
                    ops: Vec::new(),
                    undone: false,
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
        let (value, result) = (self.body.get_operand(push, 1), self.body.get_result(op, 0));
        self.pushed.extend(result.zip(value));
    }

    /// The pushes to a stack that the pops of a block undo: those of the region in the same place; of a branch whose condition is the
    /// negation of that of the other one, of the opposite region.
    fn mirrored(&self, site: OpId, block: BlockId) -> Option<usize> {
        let parent = self.body.block_parent(block);
        let own = parent.and_then(|op| role(self.body, op, block)).unwrap_or(0);
        let is_turned = |pushes: &usize| {
            let pushing = self.body.block_parent(self.pushes[*pushes].block);
            let negated = [parent, pushing].map(|op| op.is_some_and(|op| self.is_negated(op)));
            negated[0] != negated[1]
        };
        let at = |role| self.by_role.get(&(site, role)).copied();
        let other = at(usize::from(own == 0)).filter(is_turned);
        at(own).filter(|pushes| !is_turned(pushes)).or(other)
    }

    /// Whether the condition of a branch is negated an odd number of times, before it was recorded or after.
    fn is_negated(&self, op: OpId) -> bool {
        let name = |op| self.ctx.op_str(self.body.op_name(op));
        let (mut value, mut negated) = (self.body.get_operand(op, 0).filter(|_| is_if(name(op))), false);
        while let Some(here) = value {
            let defined = self
                .body
                .defining_op(here)
                .filter(|&op| name(op) == pd::LogicalNot::NAME);
            negated ^= defined.is_some();
            value = match defined {
                Some(not) => self.body.get_operand(not, 0),
                None => self.pushed.get(&here).copied(),
            };
        }
        negated
    }

    fn finish(mut self, tests: Vec<(OpId, usize)>) -> StackPlan {
        let mut plan = StackPlan::default();
        // The stacks whose handles are replaced with trip counts.
        let mut counters: FxHashSet<OpId> = FxHashSet::default();
        for (test, popped) in tests {
            self.test(test, popped, &mut plan, &mut counters);
        }
        // The values recorded by conditions, by stack.
        let mut recorded: FxHashMap<OpId, Vec<(usize, Vec<ValueId>)>> = FxHashMap::default();
        for (group, &partner) in self.partner.iter().enumerate() {
            let pushed = &self.pushes[partner];
            if let Some(looped) = self.condition_of(pushed.block) {
                let values = pushed.ops.iter().filter_map(|&op| self.body.operands(op).nth(1));
                let values: Vec<ValueId> = values.filter(|&v| !self.handles.is_handle(v)).collect();
                recorded.entry(pushed.site).or_default().push((group, values.clone()));
                plan.recorded.entry(looped).or_default().push((group, values));
            }
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
            let body = self.body;
            let mut items = |value: ValueId| {
                if !self.handles.is_handle(value) {
                    return vec![Item::Value(value)];
                }
                let Some(site) = self.handles.made_by(value) else {
                    return Vec::new();
                };
                let mut items = Vec::new();
                items.extend(counters.contains(&site).then_some(Item::Count(value)));
                for (group, values) in recorded.get(&site).into_iter().flatten() {
                    let lasts = values.iter().enumerate();
                    items.extend(lasts.map(|(at, &v)| Item::Last(*group, at, body.value_type(v))));
                }
                items
            };
            let operands = pushed.ops.iter().filter_map(|&op| body.operands(op).nth(1));
            let values: Vec<Item> = operands.flat_map(&mut items).collect();
            let results = popped.ops.iter().rev().filter_map(|&op| body.results(op).next());
            let results: Vec<Item> = results.flat_map(&mut items).collect();
            if let Some(looped) = self.condition_of(popped.block) {
                plan.replayed.insert(first, looped);
            }
            plan.pops.insert(first, (group, results));
            // The loop itself pushes the values of its condition.
            if self.condition_of(pushed.block).is_none() {
                plan.pushes.insert(last, (group, values));
            }
        }
        plan.stacks = self.pops.len();
        plan
    }

    /// Translates a test for an empty stack.
    fn test(&mut self, op: OpId, popped: usize, plan: &mut StackPlan, counters: &mut FxHashSet<OpId>) {
        let body = self.body;
        let handle = body.operands(op).next();
        let (Some(handle), Some(site)) = (handle, handle.and_then(|v| self.handles.made_by(v))) else {
            self.error(op, "this", "its stack is only known at run time");
            return;
        };
        let parent = body.op_block(op).and_then(|b| body.block_parent(b));
        let looped = parent.filter(|&p| is_while(self.ctx.op_str(body.op_name(p))));
        let block = looped.and_then(|p| body.single_block(*body.op_regions(p).last()?));
        let in_body = block.and_then(|b| self.pop_at.get(&(site, b)).copied());
        let in_condition = body.op_block(op).and_then(|b| self.pop_at.get(&(site, b)).copied());
        // In Paddle, the first pop of a condition does not take anything off the stack, so it must precede the test.
        let group = match in_condition {
            Some(group) if self.pops[group].ops.len() == popped => in_body.or(Some(group)),
            Some(_) => None,
            None => in_body,
        };
        // Where the stack is created: at top level, or in the `init` region of a top-level operation.
        let home = body.op_block(site);
        let owner = body
            .parent_op(site)
            .filter(|&o| home.is_some_and(|home| role(body, o, home).is_none()));
        let at_top = body.op_block(owner.unwrap_or(site)) == Some(self.top);
        match (looped, group) {
            (Some(_), Some(group)) if at_top => {
                plan.exits.insert(op, Exit::Empty(group));
            }
            (Some(looped), Some(group)) => {
                let pushed = &self.pushes[self.partner[group]];
                // The loop runs once per created stack.
                let source = body.block_parent(pushed.block).filter(|&o| {
                    let once = owner == Some(o) || owner.is_none() && body.op_block(o) == home;
                    once && is_while(self.ctx.op_str(body.op_name(o)))
                });
                let Some(source) = source else {
                    self.error(op, "this", "the stack is not that of a loop");
                    return;
                };
                counters.insert(pushed.site);
                plan.counting.entry(source).or_default().push(site);
                plan.counted.insert(looped, handle);
                plan.exits.insert(op, Exit::Counter(looped));
            }
            _ => {
                self.error(
                    op,
                    "this",
                    "only a loop that pops from a stack can test whether it is empty",
                );
            }
        }
    }
}
