//! Which stack of the graph each push and pop goes to.
//!
//! The values that one operation pushes are popped by one operation of the derivative: such a pair gets a stack, which
//! exists from the start and is shared by all iterations of all enclosing loops. That is correct since the derivative
//! reverses the order. A handle to a stack then only represents the trip count of the loop that fills it: the dual of
//! the loop, which runs while the stack is not empty, counts down from it, and it is pushed in place of a handle.
//!
//! # Algorithm
//! A handle is followed to the loop or branch whose `init` region made it: through what regions yield, and from pops to
//! the pushes that they undo. The pushes on a stack in one block are undone by the pops of the block of the derivative
//! that faces it (in the region of the same role), in reverse order. This is how `backward` writes them, and all that
//! can be lowered.
//!
//! A stack that is made at top level, as graphs of TensorFlow with gradients have them, is one stack of the graph. What
//! uses it keeps the order of the program.

use pir_dialects::cf;
use pir_dialects::pd::{Handles, is_while, role};
use pir_ir::{BlockId, Body, Context, Diagnostic, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::scope::Resource;

/// The replacement of the operations on stacks.
#[derive(Default, Debug)]
pub(super) struct Plan {
    /// How many stacks the graph needs.
    pub(super) stacks: usize,
    /// The first pushes on each of them.
    pub(super) pushes: Vec<Option<OpId>>,
    /// The stack of each push and pop; those that are not in here do nothing.
    pub(super) stack_of: FxHashMap<OpId, usize>,
    /// The stacks that are used more than once in one block.
    pub(super) busy: FxHashSet<usize>,
    /// The tests for emptiness that loops end by.
    pub(super) tests: FxHashSet<OpId>,
    /// The handle that determines how often a loop runs.
    pub(super) counted: FxHashMap<OpId, ValueId>,
    /// The operations with regions that push or pop inside, and pushes and pops at top level, with the class of the stacks.
    pub(super) class: FxHashMap<OpId, Resource>,
    /// The operations with regions that have effects on the world inside.
    pub(super) worldly: FxHashSet<OpId>,
}

/// The pushes or the pops of one stack of the program in one block.
type Group = Vec<OpId>;

struct Planner<'m> {
    ctx: &'m Context,
    body: &'m Body,
    errors: &'m mut Vec<Diagnostic>,
    pushes: Vec<Group>,
    pops: Vec<Group>,
    push_at: FxHashMap<(OpId, BlockId), usize>,
    pop_at: FxHashMap<(OpId, BlockId), usize>,
    /// The pushes of each stack, by the role of their region.
    by_role: FxHashMap<(OpId, usize), usize>,
    /// The group of pushes that a group of pops undoes, and the pushes that are undone.
    partner: Vec<usize>,
    undone: FxHashSet<usize>,
    /// The stacks that are made at top level, and what pushes on them and pops from them.
    outer: FxHashMap<OpId, usize>,
    outer_uses: Vec<(OpId, usize)>,
    handles: Handles<'m>,
}

/// Plans the stacks of a program. What cannot be lowered is reported in `errors`.
pub(super) fn plan(ctx: &Context, body: &Body, errors: &mut Vec<Diagnostic>) -> Plan {
    let mut planner = Planner {
        ctx,
        body,
        errors,
        pushes: Vec::new(),
        pops: Vec::new(),
        push_at: FxHashMap::default(),
        pop_at: FxHashMap::default(),
        by_role: FxHashMap::default(),
        partner: Vec::new(),
        undone: FxHashSet::default(),
        outer: FxHashMap::default(),
        outer_uses: Vec::new(),
        handles: Handles::new(ctx, body),
    };
    let mut tests = Vec::new();
    for op in body.walk_all() {
        match ctx.op_str(body.op_name(op)) {
            cf::PUSH_BACK | cf::POP_BACK if planner.uses_outer(op) => {}
            cf::PUSH_BACK => planner.push(op),
            cf::POP_BACK => planner.pop(op),
            cf::IS_EMPTY => {
                let place = planner.place(op);
                let popped = place.is_some_and(|place| planner.pop_at.contains_key(&place));
                tests.extend(place.map(|(site, block)| Test {
                    op,
                    site,
                    block,
                    popped,
                }));
            }
            name @ (cf::COPY_STACK | cf::JOIN_STACK) => {
                let what = format!("`{name}`");
                planner.error(op, &what, "a stack of a graph holds one recorded value per iteration");
            }
            _ => {}
        }
    }
    planner.finish(tests)
}

impl Planner<'_> {
    fn error(&mut self, op: OpId, what: &str, why: &str) {
        let message = format!("{what} cannot be lowered to dataflow: {why}");
        self.errors.push(
            Diagnostic::error("dataflow-stack", message)
                .label(self.body.op_span(op), "here")
                .help(
                    "stacks can be lowered in the form that `backward` creates: each push has one pop in the mirrored region",
                ),
        );
    }

    /// Notes a push or a pop of a stack that is made at top level; returns whether it is one.
    fn uses_outer(&mut self, op: OpId) -> bool {
        let made_by = (self.body.operands(op).next()).and_then(|stack| self.handles.made_by(stack));
        let Some(made_by) = made_by.filter(|&made_by| self.body.parent_op(made_by).is_none()) else {
            return false;
        };
        let values = self.body.operands(op).skip(1).chain(self.body.results(op));
        if { values }.any(|value| self.handles.is_handle(value)) {
            let name = self.ctx.op_str(self.body.op_name(op));
            self.error(
                op,
                &format!("this `{name}`"),
                "a stack created at top level cannot hold handles of other stacks",
            );
            return true;
        }
        let number = self.outer.len();
        let stack = *self.outer.entry(made_by).or_insert(number);
        self.outer_uses.push((op, stack));
        true
    }

    /// The operation whose `init` region makes the stack that a value is a handle of.
    fn site(&mut self, value: ValueId) -> Option<OpId> {
        let made_by = self.handles.made_by(value)?;
        let (parent, block) = (self.body.parent_op(made_by)?, self.body.op_block(made_by)?);
        // In the body of a loop it would be another one in every iteration.
        match self.body.op_regions(parent) {
            &[init, _, _] if self.body.block_region(block) == Some(init) => Some(parent),
            _ => None,
        }
    }

    fn place(&mut self, op: OpId) -> Option<(OpId, BlockId)> {
        let site = self.body.operands(op).next().and_then(|stack| self.site(stack));
        let block = self.body.op_block(op);
        let (Some(site), Some(block)) = (site, block) else {
            let name = self.ctx.op_str(self.body.op_name(op));
            let what = format!("this `{name}`");
            self.error(
                op,
                &what,
                "its stack is not created in the `init` region of a loop or branch",
            );
            return None;
        };
        Some((site, block))
    }

    fn push(&mut self, op: OpId) {
        let Some((site, block)) = self.place(op) else { return };
        if let Some(&group) = self.push_at.get(&(site, block)) {
            self.pushes[group].push(op);
            return;
        }
        let group = self.pushes.len();
        self.push_at.insert((site, block), group);
        self.pushes.push(vec![op]);
        let parent = self.body.block_parent(block);
        let Some(role) = parent.filter(|&p| p == site).and_then(|p| role(self.body, p, block)) else {
            self.error(
                op,
                "this `cf.push_back`",
                "it is not in a region of the operation that created the stack",
            );
            return;
        };
        self.by_role.insert((site, role), group);
    }

    fn pop(&mut self, op: OpId) {
        let Some((site, block)) = self.place(op) else { return };
        let group = match self.pop_at.get(&(site, block)) {
            Some(&group) => group,
            None => {
                let parent = self.body.block_parent(block);
                let role = parent.and_then(|p| role(self.body, p, block));
                let Some(&partner) = role.and_then(|role| self.by_role.get(&(site, role))) else {
                    self.error(
                        op,
                        "this `cf.pop_back`",
                        "there is no push in the region that it mirrors",
                    );
                    return;
                };
                if !self.undone.insert(partner) {
                    self.error(op, "this `cf.pop_back`", "its stack is popped in several places");
                    return;
                }
                self.pop_at.insert((site, block), self.pops.len());
                self.pops.push(Vec::new());
                self.partner.push(partner);
                self.pops.len() - 1
            }
        };
        let pushed = &self.pushes[self.partner[group]];
        let at = self.pops[group].len();
        let Some(&push) = pushed.len().checked_sub(at + 1).and_then(|i| pushed.get(i)) else {
            self.error(
                op,
                "this `cf.pop_back`",
                "the region that it mirrors pushes fewer values",
            );
            return;
        };
        self.pops[group].push(op);
        self.handles.undo(push, op);
    }

    fn finish(mut self, tests: Vec<Test>) -> Plan {
        let mut plan = Plan {
            stacks: self.outer.len(),
            pushes: vec![None; self.outer.len()],
            ..Plan::default()
        };
        let mut used: FxHashSet<(usize, Option<BlockId>)> = FxHashSet::default();
        for &(op, stack) in &self.outer_uses {
            plan.stack_of.insert(op, stack);
            if self.ctx.op_str(self.body.op_name(op)) == cf::PUSH_BACK {
                plan.pushes[stack].get_or_insert(op);
            }
            if !used.insert((stack, self.body.op_block(op))) {
                plan.busy.insert(stack);
            }
        }
        // The stacks by which handles are more than names: those that loops are counted by.
        let mut counters: FxHashSet<OpId> = FxHashSet::default();
        for test in tests {
            self.test(&test, &mut plan, &mut counters);
        }
        for group in 0..self.pops.len() {
            let pushed = &self.pushes[self.partner[group]];
            let popped = &self.pops[group];
            let Some(&first) = popped.first() else { continue };
            if pushed.len() != popped.len() {
                self.error(
                    first,
                    "this `cf.pop_back`",
                    "the region that it mirrors pushes more values",
                );
                continue;
            }
            let pairs: Vec<(OpId, OpId)> = pushed.iter().copied().zip(popped.iter().rev().copied()).collect();
            for (push, pop) in pairs {
                let value = self.body.operands(push).nth(1);
                let names_only = value
                    .filter(|&v| self.handles.is_handle(v))
                    .is_some_and(|v| self.site(v).is_none_or(|site| !counters.contains(&site)));
                if !names_only {
                    plan.stack_of.insert(push, plan.stacks);
                    plan.stack_of.insert(pop, plan.stacks);
                    plan.pushes.push(Some(push));
                    plan.stacks += 1;
                }
            }
        }
        plan.classify(self.ctx, self.body);
        plan
    }

    /// The loop that ends when a stack is empty.
    fn test(&mut self, test: &Test, plan: &mut Plan, counters: &mut FxHashSet<OpId>) {
        let body = self.body;
        let &Test {
            op,
            site,
            block,
            popped,
        } = test;
        let (Some(handle), Some(parent)) = (body.operands(op).next(), body.block_parent(block)) else {
            return self.error(
                op,
                "this `cf.is_empty`",
                "only a loop can test whether a stack is empty",
            );
        };
        let name = |op: OpId| self.ctx.op_str(body.op_name(op));
        let undone = body
            .op_regions(parent)
            .last()
            .and_then(|&r| body.single_block(r))
            .and_then(|b| self.pop_at.get(&(site, b)));
        let asked = is_while(name(parent)) && role(body, parent, block) == Some(0) && is_while(name(site));
        // The body, or the test before it, pops the values that one iteration of the loop has pushed: then nothing is left just when no
        // iteration is.
        let counts = popped || undone.is_some() && !self.pop_at.contains_key(&(site, block));
        if !asked || !counts || plan.counted.insert(parent, handle).is_some_and(|other| other != handle) {
            return self.error(
                op,
                "this `cf.is_empty`",
                "only the condition of a loop that pops the values of another loop can test this, for one stack",
            );
        }
        counters.insert(site);
        plan.tests.insert(op);
    }
}

/// A question whether a stack is empty.
struct Test {
    op: OpId,
    site: OpId,
    block: BlockId,
    /// Whether something was popped in front of it.
    popped: bool,
}

impl Plan {
    /// Finds which stacks need an order among each other: those that are used in one operation at top level. All stacks
    /// of a class then share what hands the order on from iteration to iteration.
    fn classify(&mut self, ctx: &Context, body: &Body) {
        let tops: Vec<OpId> = (body.entry_block(body.root()).into_iter())
            .flat_map(|b| body.block_ops(b))
            .filter(|&op| !body.op_regions(op).is_empty())
            .collect();
        // Classes of stacks first, then those of top-level operations.
        let mut parent: Vec<usize> = (0..self.stacks + tops.len()).collect();
        let find = |parent: &mut Vec<usize>, mut at: usize| {
            while parent[at] != at {
                parent[at] = parent[parent[at]];
                at = parent[at];
            }
            at
        };
        let mut inside = Vec::new();
        for (at, &top) in tops.iter().enumerate() {
            let ops = body.op_regions(top).iter().flat_map(|&r| body.walk(r));
            for op in ops.chain([top]) {
                if let Some(&stack) = self.stack_of.get(&op) {
                    let (a, b) = (find(&mut parent, stack), find(&mut parent, self.stacks + at));
                    parent[a] = b;
                    inside.push((op, at));
                }
                if self.counted.contains_key(&op) {
                    inside.push((op, at));
                }
                if is_worldly(ctx, body, op) {
                    let mut up = body.parent_op(op);
                    while let Some(outer) = up.filter(|&o| self.worldly.insert(o)) {
                        up = body.parent_op(outer);
                    }
                }
            }
        }
        for op in body
            .entry_block(body.root())
            .into_iter()
            .flat_map(|b| body.block_ops(b))
        {
            if let Some(&stack) = self.stack_of.get(&op) {
                let class = find(&mut parent, stack) as Resource;
                self.class.insert(op, class);
            }
        }
        for (op, at) in inside {
            let class = find(&mut parent, self.stacks + at) as Resource;
            let mut up = Some(op).filter(|o| self.counted.contains_key(o)).or(body.parent_op(op));
            while let Some(outer) = up.filter(|o| !self.class.contains_key(o)) {
                self.class.insert(outer, class);
                up = body.parent_op(outer);
            }
        }
    }
}

/// Whether an operation has an effect on the world that must happen in program order. A fetch has a name, but no result
/// that could be waited for.
pub(super) fn is_worldly(ctx: &Context, body: &Body, op: OpId) -> bool {
    let view = body.view(ctx, op);
    body.op_regions(op).is_empty()
        && body.num_results(op) > 0
        && view
            .own_effects()
            .iter()
            .any(|e| e.kind == pir_ir::EffectKind::Write && e.target.is_shared())
}
