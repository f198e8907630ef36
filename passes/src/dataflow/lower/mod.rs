//! `lower-to-dataflow`: from operations with regions to one graph of nodes.
//!
//! ```text
//! %r = pd.while (%x) cond (%a) {          %e = df.enter (%x) {frame = "while_0"}
//!   %c = …                                %a = df.merge (%e, %next)
//!   cf.cond_yield (%c, %a)                %go = df.loop_cond (%c)
//! } body (%b) {                  ==>      %done, %b = df.switch (%a, %go)
//!   %n = …                                %next = df.next_iteration (%n)
//!   cf.yield (%n)                         %r = df.exit (%done)
//! }
//! ```
//!
//! # Algorithm
//! One walk in program order with an explicit worklist, since programs may be nested deeply. Each region becomes a
//! scope ([`scope`]). A value from outside of a scope enters at its first use, through one switch per enclosing branch
//! and one constant enter per enclosing loop. A node without operands, or whose operands are all available in every
//! iteration, gets a control edge from the pivot of its scope.
//!
//! Effects on the world, and pushes and pops ([`stacks`]), are ordered by control edges. After a branch, a merge
//! signals that its last effect has completed; a loop carries a token for that, for stacks its trip count. A loop that
//! runs while a stack is not empty counts down from the trip count of the loop that filled it.
//!
//! # Conditions
//! * Functions are inlined before, blocks lifted before.
//! * Nothing is fetched in a loop, and nothing changed in place.
//! * Stacks are used as `backward` does.

mod check;
mod loops;
mod scope;
mod stacks;

use pir_dialects::pd;
use pir_dialects::pd::{is_if, is_while};
use pir_dialects::{cf, df};
use pir_ir::{
    AttrDict, Body, Context, Diagnostic, Module, OpId, OpSpec, RegionId, Type, ValueId, ValueName, expand_composites_in,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::autodiff::unbatch_weight_grads;
use crate::bodies::atomically;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};
use scope::{Builder, Order, ROOT, Resource, ScopeId, WORLD};
use stacks::Plan;

/// The pass `lower-to-dataflow`.
pub struct LowerToDataflow;

impl Pass for LowerToDataflow {
    fn name(&self) -> &'static str {
        "lower-to-dataflow"
    }

    fn summary(&self) -> &'static str {
        "Lower a program to a dataflow graph"
    }

    fn description(&self) -> &'static str {
        "Converts the operations at top level to one `df.graph`. Each `pd.if` becomes switches and merges; each \
         `pd.while`, at any depth, becomes a frame with enters, merges, switches, next-iterations and exits. The stacks \
         of `backward` become stacks outside of all frames, whose pushes and pops are ordered by control edges. Run \
         `inline` first, and `lift-cfg` if functions have several blocks. `raise-from-dataflow` is the inverse."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "parallel-iterations",
            kind: OptionKind::Int(1, i64::MAX),
            default: Some("10"),
            help: "the maximum number of iterations of a loop that run concurrently",
        }];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        atomically(module, |module| lower(module, cx))
    }
}

fn lower(module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    // A stack of a graph is not joined.
    unbatch_weight_grads(module);
    let parallel = cx.options.int("parallel-iterations").unwrap_or(10);
    let Some(body) = program(&ctx, &mut module.body) else {
        return Ok(Changed::No);
    };
    // Loops and branches in what an operation computes become nodes as well.
    expand_composites_in(&ctx, body, &|op| {
        !op.semantics().is_some_and(|semantics| semantics.has_regions(op))
    })?;
    let ops = check::program(&ctx, body)?;
    if ops.is_empty() {
        return Ok(Changed::No);
    }
    let mut errors = Vec::new();
    let plan = stacks::plan(&ctx, body, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut builder = Builder::new(&ctx, body.num_value_slots(), plan.stacks);
    builder.parallel_iterations = Some(parallel).filter(|&n| n != df::PARALLEL_ITERATIONS);
    let mut lowering = Lowering {
        ctx: &ctx,
        src: body,
        plan,
        to: builder,
        branches: Vec::new(),
        loops: Vec::new(),
        loop_of: FxHashMap::default(),
    };
    lowering.run(&ops);
    cx.count("loops", lowering.loops.len());
    cx.count("branches", lowering.branches.len());
    let graph = lowering.to.body;
    replace(&ctx, body, &ops, graph);
    Ok(Changed::Yes)
}

/// The body that holds the operations at top level: a file that is one module is that module.
pub(super) fn program<'m>(ctx: &Context, top: &'m mut Body) -> Option<&'m mut Body> {
    let mut body = top;
    loop {
        // Several blocks are refused later, by name.
        let Some(block) = body.single_block(body.root()) else {
            return Some(body);
        };
        let (first, second) = {
            let mut ops = body.block_ops(block);
            (ops.next(), ops.next())
        };
        let inner = first.filter(|&only| second.is_none() && ctx.op_str(body.op_name(only)) == "builtin.module");
        match inner {
            Some(only) => body = body.isolated_mut(only)?,
            None => return Some(body),
        }
    }
}

/// Replaces operations with a graph.
fn replace(ctx: &Context, body: &mut Body, ops: &[OpId], graph: Body) {
    let Some(&last) = ops.last() else { return };
    let op = body.create_op(OpSpec {
        span: body.op_span(last),
        ..OpSpec::new(ctx.op_name(df::GRAPH))
    });
    body.insert_after(last, op);
    body.set_isolated(op, graph);
    // Users come after definitions.
    for &op in ops.iter().rev() {
        body.erase_op(op);
    }
}

/// The remaining work.
enum Task {
    /// An operation, and those after it.
    Op(Option<OpId>, ScopeId),
    /// The merges after two branches.
    Join(usize),
    /// The switches after the condition of a loop.
    Switch(usize),
    /// The back edges and exits of a loop.
    Close(usize),
}

/// A branch that is being lowered.
struct Branch {
    op: OpId,
    scope: ScopeId,
    choice: u32,
    resources: SmallVec<[Resource; 2]>,
}

/// The value that carries the order from iteration to iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Carrier {
    /// The slot of the condition that counts iterations.
    Count(usize),
    /// An additional slot with the number of remaining iterations.
    Left,
    /// An additional slot with a token.
    Token,
}

/// A loop that is being lowered.
struct Loop {
    op: OpId,
    scope: ScopeId,
    frame: u32,
    cond: ScopeId,
    body: ScopeId,
    resources: SmallVec<[Resource; 2]>,
    carrier: Option<Carrier>,
    /// The merges: of the slots of the condition, then of one that is not a slot of the program.
    merges: Vec<OpId>,
    /// The first results of the switches: of what the condition forwards, then of one that is not a slot of the program.
    done: Vec<ValueId>,
    /// The additional slot's value in the next iteration.
    next: Option<ValueId>,
    /// The index, among the forwarded values, of the one that carries the order.
    ordered: Option<usize>,
}

struct Lowering<'a> {
    ctx: &'a Context,
    src: &'a Body,
    plan: Plan,
    to: Builder<'a>,
    branches: Vec<Branch>,
    loops: Vec<Loop>,
    loop_of: FxHashMap<OpId, usize>,
}

impl Lowering<'_> {
    fn run(&mut self, ops: &[OpId]) {
        for stack in 0..self.plan.stacks {
            let handle = self.to.stack(stack);
            let pushed = self.plan.pushes.get(stack).copied().flatten();
            let pushed = pushed.and_then(|op| self.src.operands(op).nth(1));
            if let Some(name) = pushed.and_then(|v| self.src.value_name(v)) {
                let name = format!("{}_stack", self.ctx.name_text(name.name));
                self.to.name(handle, &name);
            }
        }
        for &op in ops {
            let mut tasks = Vec::new();
            self.op(op, ROOT, &mut tasks);
            while let Some(task) = tasks.pop() {
                match task {
                    Task::Op(None, _) => {}
                    Task::Op(Some(op), scope) => {
                        tasks.push(Task::Op(self.src.next_op(op), scope));
                        self.op(op, scope, &mut tasks);
                    }
                    Task::Join(at) => self.join(at),
                    Task::Switch(at) => self.switch(at),
                    Task::Close(at) => self.close(at),
                }
            }
        }
    }

    fn first(&self, region: RegionId) -> Option<OpId> {
        self.src.entry_block(region).and_then(|b| self.src.first_op(b))
    }

    fn terminator(&self, region: RegionId) -> Vec<ValueId> {
        let end = self.src.entry_block(region).and_then(|b| self.src.last_op(b));
        end.map(|op| self.src.operands(op).collect()).unwrap_or_default()
    }

    /// The type that a value has in the graph: a handle is a number, a truth value a tensor.
    fn ty(&self, ty: Type) -> Type {
        if ty == Type::I1 {
            self.ctx.tensor(&[], Type::I1)
        } else if cf::is_stack(self.ctx, ty) {
            self.ctx.tensor(&[], Type::I64)
        } else {
            ty
        }
    }

    fn resolve(&mut self, value: ValueId, scope: ScopeId) -> ValueId {
        self.to.resolve(value.index(), scope)
    }

    /// Says what a value of the program is in the graph.
    fn define(&mut self, value: ValueId, scope: ScopeId, as_value: ValueId) {
        self.to.define(value.index(), scope, as_value);
        // A handle is a number from here on, and has the name of that.
        let is_handle = cf::is_stack(self.ctx, self.src.value_type(value));
        if let Some(name) = self.src.value_name(value).filter(|_| !is_handle) {
            // A value alone does not stay in a pack.
            let name = ValueName { pack: false, ..name };
            self.to.body.set_value_name(as_value, Some(name));
        }
    }

    fn resources(&self, op: OpId) -> SmallVec<[Resource; 2]> {
        let class = self.plan.class.get(&op).copied();
        let world = self.plan.worldly.contains(&op).then_some(WORLD);
        class.into_iter().chain(world).collect()
    }

    fn op(&mut self, op: OpId, scope: ScopeId, tasks: &mut Vec<Task>) {
        self.to.span = self.src.op_span(op);
        match self.ctx.op_str(self.src.op_name(op)) {
            cf::YIELD | cf::COND_YIELD => {}
            name if is_if(name) => self.branch(op, scope, tasks),
            name if is_while(name) => self.enter(op, scope, tasks),
            cf::CREATE_STACK => {}
            cf::PUSH_BACK => self.push(op, scope),
            cf::POP_BACK => self.pop(op, scope),
            cf::IS_EMPTY => self.is_empty(op, scope),
            _ => self.ordinary(op, scope),
        }
    }

    fn ordinary(&mut self, op: OpId, scope: ScopeId) {
        let src = self.src;
        let view = src.view(self.ctx, op);
        if view.name() == pd::LogicalNot::NAME
            && let Some(test) = view.operand(0).and_then(|v| src.defining_op(v))
            && self.plan.tests.contains(&test)
        {
            return self.compare(op, test, pd::GreaterThan::NAME, scope);
        }
        // Inputs are fed outside of all loops.
        let fed = src.num_operands(op) == 0 && check::is_input(view);
        let scope = if fed { ROOT } else { scope };
        let operands: SmallVec<[ValueId; 4]> = src.operands(op).map(|v| self.resolve(v, scope)).collect();
        let results: SmallVec<[Type; 2]> = src.results(op).map(|v| self.ty(src.value_type(v))).collect();
        let after = if stacks::is_worldly(self.ctx, src, op) {
            self.to.pending(scope, WORLD)
        } else {
            smallvec![]
        };
        let name = view.name();
        let new = self
            .to
            .node_after(scope, name, &operands, &results, src.attrs(op), &after);
        self.copy_notes(op, new);
        for (old, new) in src.results(op).zip(self.to.body.results(new)) {
            self.to.define(old.index(), scope, new);
            self.to.body.set_value_name(new, src.value_name(old));
        }
        if stacks::is_worldly(self.ctx, src, op)
            && let Some(result) = self.to.body.results(new).next()
        {
            self.to.advance(scope, WORLD, result);
        }
    }

    /// Copies the attributes without semantics.
    fn copy_notes(&mut self, op: OpId, new: OpId) {
        if let Some(comment) = self.src.comment(op) {
            self.to.body.set_comment(new, comment);
        }
        if let Some(loc) = self.src.loc(op) {
            self.to.body.set_loc(new, loc);
        }
    }

    // ----- stacks -----

    fn push(&mut self, op: OpId, scope: ScopeId) {
        let (Some(&stack), Some(value)) = (self.plan.stack_of.get(&op), self.src.operands(op).nth(1)) else {
            return;
        };
        let value = self.resolve(value, scope);
        let ty = self.to.body.value_type(value);
        self.access(op, scope, df::STACK_PUSH, stack, Some(value), ty);
    }

    fn pop(&mut self, op: OpId, scope: ScopeId) {
        let (Some(&stack), Some(result)) = (self.plan.stack_of.get(&op), self.src.results(op).next()) else {
            return;
        };
        let ty = self.ty(self.src.value_type(result));
        let popped = self.access(op, scope, df::STACK_POP, stack, None, ty);
        self.define(result, scope, popped);
    }

    /// Creates a push or a pop, which waits for the previous access. Stacks that are used once in each iteration need not
    /// wait for each other there.
    fn access(
        &mut self,
        op: OpId,
        scope: ScopeId,
        name: &str,
        stack: usize,
        value: Option<ValueId>,
        ty: Type,
    ) -> ValueId {
        let key = self.to.stack_key(stack);
        let handle = self.to.resolve(key, scope);
        let owner = self.src.parent_op(op).unwrap_or(op);
        let class = self.plan.class.get(&owner).copied();
        let busy = self.plan.busy.contains(&stack);
        let after = match class {
            Some(class) if busy => self.to.pending(scope, class),
            Some(class) => self.to.base(scope, class),
            None => SmallVec::new(),
        };
        let operands: SmallVec<[ValueId; 2]> = std::iter::once(handle).chain(value).collect();
        let node = self
            .to
            .node_after(scope, name, &operands, &[ty], AttrDict::EMPTY, &after);
        self.copy_notes(op, node);
        let result = self.to.body.result(node, 0);
        match class {
            Some(class) if busy => self.to.advance(scope, class, result),
            Some(class) => self.to.note(scope, class, result),
            None => {}
        }
        result
    }

    fn is_empty(&mut self, op: OpId, scope: ScopeId) {
        // If only the negation is used, the comparison is negated instead.
        let negated = |user: OpId| self.ctx.op_str(self.src.op_name(user)) == pd::LogicalNot::NAME;
        let asked = self.src.results(op).next();
        if asked.is_some_and(|v| self.src.uses(v).any(|u| !negated(u.op))) {
            self.compare(op, op, pd::Equal::NAME, scope);
        }
    }

    /// Compares the number of iterations that are left with zero.
    fn compare(&mut self, op: OpId, test: OpId, name: &str, scope: ScopeId) {
        let Some(result) = self.src.results(op).next() else {
            return;
        };
        let owner = self.src.parent_op(test).and_then(|o| self.loop_of.get(&o)).copied();
        let left = owner.and_then(|at| self.loops.get(at)).and_then(|l| l.merges.last());
        let Some(left) = left.map(|&merge| self.to.body.result(merge, 0)) else {
            return;
        };
        let zero = self.to.number(scope, 0);
        let ty = self.ctx.tensor(&[], Type::I1);
        let node = self.to.node(scope, name, &[left, zero], &[ty], AttrDict::EMPTY);
        self.copy_notes(op, node);
        let value = self.to.body.result(node, 0);
        self.define(result, scope, value);
    }

    // ----- branches -----

    fn branch(&mut self, op: OpId, scope: ScopeId, tasks: &mut Vec<Task>) {
        let (Some(condition), &[.., then, otherwise]) = (self.src.operands(op).next(), self.src.op_regions(op)) else {
            return;
        };
        let condition = self.resolve(condition, scope);
        let choice = self.to.choose(scope, condition);
        if let Some(pred) = self.to.body.defining_op(self.to.choices[choice as usize].pred) {
            self.copy_notes(op, pred);
        }
        let [no, yes] = self.to.choices[choice as usize].scopes;
        let resources = self.resources(op);
        for &resource in &resources {
            let mut before = self.to.pending(scope, resource);
            if before.len() > 1 {
                // Everything inside waits for all of it: one edge each.
                let ty = df::control_type(self.ctx);
                let all = self
                    .to
                    .node_after(scope, df::NO_OP, &[], &[ty], AttrDict::EMPTY, &before);
                before = smallvec![self.to.body.result(all, 0)];
            }
            for side in [no, yes] {
                self.to.start(side, resource, Order::after(before.iter().copied()));
            }
        }
        tasks.push(Task::Join(self.branches.len()));
        tasks.push(Task::Op(self.first(otherwise), no));
        tasks.push(Task::Op(self.first(then), yes));
        self.branches.push(Branch {
            op,
            scope,
            choice,
            resources,
        });
    }

    fn join(&mut self, at: usize) {
        let Branch { op, scope, choice, .. } = self.branches[at];
        self.to.span = self.src.op_span(op);
        let &[.., then, otherwise] = self.src.op_regions(op) else {
            return;
        };
        let [no, yes] = self.to.choices[choice as usize].scopes;
        let (if_true, if_false) = (self.terminator(then), self.terminator(otherwise));
        for (at, result) in self.src.results(op).enumerate() {
            if cf::is_stack(self.ctx, self.src.value_type(result)) {
                continue;
            }
            let (Some(&a), Some(&b)) = (if_false.get(at), if_true.get(at)) else {
                continue;
            };
            let inputs = [self.resolve(a, no), self.resolve(b, yes)];
            let ty = self.ty(self.src.value_type(result));
            let merged = self.merge(&inputs, ty);
            self.define(result, scope, merged);
        }
        for resource in self.branches[at].resources.clone() {
            // One of them is alive, once the last operation on that side is over, or what came before if there is none.
            let sides = self.to.sides(choice);
            let ends = [(no, sides[0]), (yes, sides[1])].map(|(side, value)| {
                let after = self.to.pending(side, resource);
                match after.is_empty() {
                    true => value,
                    false => self.to.pass(side, df::IDENTITY, value, &after),
                }
            });
            let ty = self.to.body.value_type(ends[0]);
            let merged = self.merge(&ends, ty);
            self.to.name(merged, "joined");
            self.to.advance(scope, resource, merged);
        }
    }

    fn merge(&mut self, inputs: &[ValueId], ty: Type) -> ValueId {
        let index = self.ctx.tensor(&[], Type::I32);
        let op = self.to.raw(df::MERGE, inputs, &[ty, index], AttrDict::EMPTY);
        self.to.body.result(op, 0)
    }
}
