//! Step 2, `build-backward`: the adjoint program.
//!
//! The adjoint of a block treats its operations from last to first. An ordinary operation adds to the cotangents of
//! its operands by its rule. A loop or a branch gets a dual at the same depth, whose regions pop what the regions of
//! the operation pushed, in reverse order, and then hold the adjoints of their blocks.
//!
//! **While.** Forward: `a0 = operands; (c, f_k) = cond(a_k); if c: a_{k+1} = body(f_k); results = f_n`. The dual is a
//! loop of its own: its operands are the cotangents of the results and the accumulators of the captured values; its
//! cond region (run n+1 times) is the adjoint of `cond`, its body region (run n times) that of `body`; its results
//! are the cotangents of the operands and the accumulators. Zero iterations need no special case. The loop goes on
//! while the stack is not empty. A block argument's cotangent *replaces* the carried one; only captures accumulate.
//!
//! **If.** The dual yields the accumulators of the captured values; a branch that does not use one passes it through.
//!
//! In a block, the cotangent of a value is the sum over its uses plus that of every slot that yields it: the terminator
//! is treated first, by entering the incoming cotangents for the values that it forwards.

mod buffers;
mod captures;
mod copies;
mod duals;
mod refusals;

use pir_dialects::cf;
use pir_ir::{BlockId, Diagnostic, FlowKind, OpId, OpSpec, Rewriter, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use self::captures::captures;
pub(crate) use self::refusals::check_rules;
use self::refusals::{no_rule, reached};
use super::activity::Activity;
use super::control_ops::{ControlOps, Tape, locals};
use super::cotangent::{Frame, is_list, zeros_like};
use super::dense::DenseMap;
use super::memory::Shadows;
use super::rules::{RuleCx, RuleTable};
use crate::made::Made;

/// Builds the adjoint of one body.
pub(crate) struct Adjoint<'x, 'a> {
    pub(crate) r: &'x mut Rewriter<'a>,
    rules: &'x RuleTable,
    activity: &'x Activity,
    names: ControlOps<'a>,
    /// The counterpart of a recorded local at the place where the adjoint is built.
    primal_at: DenseMap,
    /// The active values that are used in the regions of an operation but defined outside of them, in order of use.
    captures: FxHashMap<OpId, Vec<ValueId>>,
    /// The inputs of the derivative.
    inputs: &'x FxHashSet<ValueId>,
    /// The gradient stacks of stacks, where the adjoint is built.
    gradient_stacks: FxHashMap<ValueId, ValueId>,
    /// The buffers of the cotangents of the elements of buffers.
    pub(crate) shadows: Shadows,
}

type Failure = Box<Diagnostic>;

const NO_DUAL: &str = "its dialect declares no dual for it";

impl<'x, 'a> Adjoint<'x, 'a> {
    pub(crate) fn new(
        r: &'x mut Rewriter<'a>,
        rules: &'x RuleTable,
        activity: &'x Activity,
        inputs: &'x FxHashSet<ValueId>,
    ) -> Self {
        let names = ControlOps::new(r.ctx);
        let captures = captures(r.ctx, &names, r.body, activity);
        Adjoint {
            r,
            rules,
            activity,
            names,
            primal_at: DenseMap::default(),
            captures,
            inputs,
            gradient_stacks: FxHashMap::default(),
            shadows: Shadows::default(),
        }
    }

    /// The adjoint of a list of operations of `block`, at the insertion point.
    pub(crate) fn block(&mut self, block: BlockId, ops: &[OpId], frame: &mut Frame) -> Result<(), Failure> {
        for &stack in self.activity.stacks.fresh_in(block) {
            let stack_grad = self.r.op(cf::CREATE_STACK).result(self.names.stack).value();
            self.r.name_like(stack_grad, stack, "_grad");
            self.gradient_stacks.insert(stack, stack_grad);
        }
        self.make_shadows(ops)?;
        for &op in ops.iter().rev() {
            let results: SmallVec<[ValueId; 4]> = self.r.body.results(op).collect();
            let on_stack = self.activity.stacks.active_lane(op);
            let copied = self.activity.stacks.active_copy(op).flatten();
            let memory = &self.activity.memory;
            let access = memory.active_access(self.r.ctx, self.r.body, op);
            let made = memory.makes(self.r.ctx, self.r.body, op);
            let called = memory.active_call(self.r.ctx, self.r.body, op);
            let has_effect = on_stack.is_some() || copied.is_some() || access.is_some() || made.is_some() || called;
            let passed_through = has_effect || self.activity.stacks.pass_through(op) || memory.pass_through(op);
            if !passed_through && !results.iter().any(|&v| frame.has(v)) {
                continue;
            }
            // Inputs may be computed; their cotangents are complete here, and requested at the end.
            let inputs: SmallVec<[(ValueId, ValueId); 1]> = results
                .iter()
                .filter(|v| self.inputs.contains(v))
                .filter_map(|&v| Some((v, frame.get(v)?)))
                .collect();
            self.r.set_span(self.r.body.op_span(op));
            // The input determines the nesting: the stack grows on the heap when it has to.
            match self.names.kind(self.r.body, op) {
                _ if on_stack.is_some() => self.on_stack(op, frame)?,
                _ if copied.is_some() => self.on_copy(op, copied)?,
                _ if made.is_some() => self.on_alloc(op, made),
                _ if called => self.on_call(op, frame)?,
                _ if access.is_some() => self.on_buffer(op, access, frame)?,
                // Its results are differentiated, but do not depend on an input: nothing was recorded.
                Some(_) if !self.activity.passes_through(self.r.body, op) => {}
                Some(kind) => stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.structured(op, kind, frame))?,
                None => self.ordinary(op, frame)?,
            }
            for (value, grad) in inputs {
                frame.set(value, grad);
            }
        }
        Ok(())
    }

    /// The adjoint of a copy: the cotangents of what is popped from it belong to what lies on the original.
    fn on_copy(&mut self, op: OpId, ty: Option<Type>) -> Result<(), Failure> {
        let stacks = &self.activity.stacks;
        let of = |this: &Self, handle: ValueId| this.gradient_stacks.get(&stacks.root(handle)).copied();
        let (original, copy) = (self.r.body.operand(op, 0), self.r.body.result(op, 0));
        let (Some(into), Some(from), Some(ty)) = (of(self, original), of(self, copy), ty) else {
            let message = "the derivative cannot pass through this copy: the stack is used after it was recorded";
            return Err(Box::new(
                Diagnostic::error("stack-derivative", message).label(self.r.body.op_span(op), "differentiated here"),
            ));
        };
        copies::merge(self.r, &self.names, from, into, ty).map_err(|why| {
            let message = format!("the derivative cannot pass through this copy: {why}");
            Box::new(
                Diagnostic::error("stack-derivative", message).label(self.r.body.op_span(op), "differentiated here"),
            )
        })
    }

    /// The adjoint of a push or a pop.
    fn on_stack(&mut self, op: OpId, frame: &mut Frame) -> Result<(), Failure> {
        let stacks = &self.activity.stacks;
        let failed = |r: &Rewriter<'_>, why: &str| {
            let message = format!("the derivative cannot pass through this stack: {why}");
            Box::new(Diagnostic::error("stack-derivative", message).label(r.body.op_span(op), "differentiated here"))
        };
        let order = "it is used after it was recorded";
        let gradient_stack = |this: &Self, handle: ValueId| {
            let found = this.gradient_stacks.get(&stacks.root(handle)).copied();
            found.ok_or_else(|| failed(this.r, order))
        };
        let handle = gradient_stack(self, self.r.body.operand(op, 0))?;
        if self.r.body.op_name(op) == self.names.push {
            let value = self.r.body.operand(op, 1);
            if self.names.is_stack(self.r.body, value) {
                let stack_grad = self.r.op(cf::POP_BACK).operand(handle).result(self.names.stack).value();
                self.r.name_like(stack_grad, value, "_grad");
                self.gradient_stacks.insert(stacks.root(value), stack_grad);
                return Ok(());
            }
            let paired = stacks.active_lane(op).is_some_and(|lane| lane.paired);
            let like = self.primal_at.get_or_self(value);
            let ty = self.r.body.value_type(value);
            let grad = match paired {
                true => self.r.op(cf::POP_BACK).operand(handle).result(ty).value(),
                false => pop_if_any(self.r, &self.names, handle, like).map_err(|why| failed(self.r, &why))?,
            };
            self.r.name_like(grad, value, "_grad");
            return match self.activity.is_active(value) {
                true => frame.add(self.r, value, grad).map_err(|why| failed(self.r, &why)),
                false => Ok(()),
            };
        }
        let value = self.r.body.result(op, 0);
        let grad = match self.names.is_stack(self.r.body, value) {
            true => gradient_stack(self, value)?,
            false => self
                .take_or_zeros(frame, value)
                .map_err(|_| failed(self.r, "the shape of a value is unknown"))?,
        };
        self.r.op(cf::PUSH_BACK).operand(handle).operand(grad).build();
        Ok(())
    }

    fn ordinary(&mut self, op: OpId, frame: &mut Frame) -> Result<(), Failure> {
        if !self.activity.passes(self.r.ctx, self.r.body, op) {
            return Ok(());
        }
        let Some(rule) = self.rules.get(self.r.body, op) else {
            return Err(Box::new(no_rule(self.r.ctx, self.r.body, self.activity, op)));
        };
        let lists = self
            .r
            .body
            .results(op)
            .filter(|&v| is_list(self.r.ctx, self.r.body.value_type(v)));
        if lists.skip(1).any(|v| frame.has(v)) {
            let diagnostic = no_rule(self.r.ctx, self.r.body, self.activity, op);
            return Err(Box::new(
                diagnostic.note("it has several lists with a derivative as results"),
            ));
        }
        let (grads, list_grads) = frame.take_results(self.r, op);
        let (primal_at, activity) = (&self.primal_at, self.activity);
        let mut cx = RuleCx {
            rules: self.rules,
            r: self.r,
            frame,
            op,
            primal_at: &|v| primal_at.get_or_self(v),
            active: &|v| activity.is_active(v),
            grads,
            list_grads,
            settled: SmallVec::new(),
            is_total: false,
        };
        if cx.only_empty() {
            return Ok(());
        }
        cx.apply_or_twin(rule).map_err(|why| {
            let name = self.r.ctx.op_str(self.r.body.op_name(op));
            let message = format!("cannot differentiate `{name}`: {why}");
            let diagnostic = Diagnostic::error("no-derivative", message);
            let diagnostic = diagnostic
                .label(self.r.body.op_span(op), "differentiated here")
                .help("compute it with other operations, or in a function with a `custom_vjp`");
            Box::new(reached(self.r.ctx, self.r.body, self.activity, op, diagnostic))
        })
    }

    fn structured(&mut self, op: OpId, kind: FlowKind, frame: &mut Frame) -> Result<(), Failure> {
        let structure = self.names.form(self.r.body, op).ok_or_else(|| self.malformed(op))?;
        let [Some(first), Some(second)] = structure.blocks else {
            return Err(self.malformed(op));
        };
        let tape = Tape::newest(&self.names, self.r.body, op, &structure);
        // A branch may have no locals; a loop has its arguments.
        let has_locals = || {
            let mut blocks = [first, second].into_iter();
            kind == FlowKind::Loop || blocks.any(|b| locals(&self.names, self.r.body, b).next().is_some())
        };
        if tape.is_none() && has_locals() {
            let what = if kind == FlowKind::Loop { "loop" } else { "branch" };
            return Err(Box::new(
                Diagnostic::error(
                    "not-recorded",
                    format!("the local values of this {what} were not recorded"),
                )
                .label(self.r.body.op_span(op), "the derivative passes through here")
                .help("run `stack-locals` before `build-backward`, or `backward`, which is the whole pipeline"),
            ));
        }
        let captures = self.captures.get(&op).cloned().unwrap_or_default();
        match kind {
            FlowKind::Loop => self.loop_dual(op, [first, second], structure.passes, tape, &captures, frame),
            FlowKind::Branch => self.branch_dual(op, [first, second], tape, &captures, frame),
        }
        .map_err(|failure| match failure {
            Trouble::Reported(diagnostic) => diagnostic,
            Trouble::Emit(why) => Box::new(
                Diagnostic::error(
                    "no-derivative",
                    format!("cannot build the adjoint of this operation: {why}"),
                )
                .label(self.r.body.op_span(op), "the derivative passes through here"),
            ),
        })
    }

    fn malformed(&self, op: OpId) -> Failure {
        Box::new(
            Diagnostic::error(
                "not-differentiable",
                "the regions of this operation must have one block each",
            )
            .label(self.r.body.op_span(op), "the derivative passes through here"),
        )
    }

    /// Pops what a block pushed, last first, and makes the popped values represent the pushed ones.
    fn pop_locals(&mut self, tape: Option<&Tape>, which: usize) {
        let Some(tape) = tape else { return };
        let handle = self.primal_at.get_or_self(tape.handle);
        for &push in tape.pushes[which].iter().rev() {
            let value = self.r.body.operand(push, 1);
            let ty = self.r.body.value_type(value);
            let pop = self.r.create(OpSpec {
                operands: &[handle],
                results: &[ty],
                ..OpSpec::new(self.names.pop)
            });
            let popped = self.r.body.result(pop, 0);
            self.r.take_name(value, popped);
            self.primal_at.insert(value, popped);
        }
    }

    /// A region of a dual: an entry block with one argument for each value of `like`, named after it.
    fn dual_block(&mut self, like: &[ValueId]) -> BlockId {
        let region = self.r.body.create_region();
        let block = self.r.body.create_block(region);
        for &value in like {
            let arg = self.r.body.add_block_arg(block, self.r.body.value_type(value), None);
            self.r.name_like(arg, value, "_grad");
        }
        block
    }

    fn take_or_zeros(&mut self, frame: &mut Frame, value: ValueId) -> Result<ValueId, Trouble> {
        Ok(self.take_all(frame, [value])?[0])
    }

    /// The cotangents of values, for one place: those that are zero, and of one shape, share their zeros.
    fn take_all(
        &mut self,
        frame: &mut Frame,
        values: impl IntoIterator<Item = ValueId>,
    ) -> Result<Vec<ValueId>, Trouble> {
        let mut zeros: FxHashMap<Type, ValueId> = FxHashMap::default();
        let mut out = Vec::new();
        for value in values {
            let ty = self.r.body.value_type(value);
            if is_list(self.r.ctx, ty) {
                let like = self.primal_at.get_or_self(value);
                out.push(frame.take_whole(self.r, value, like)?);
                continue;
            }
            if let Some(grad) = frame.take(value) {
                out.push(grad);
                continue;
            }
            if let Some(&shared) = zeros.get(&ty) {
                self.r.name(shared, "zeros");
                out.push(shared);
                continue;
            }
            let like = self.primal_at.get_or_self(value);
            let fresh = zeros_like(self.r, like)?;
            self.r.name_like(fresh, value, "_grad");
            if self.r.ctx.is_static(ty) {
                zeros.insert(ty, fresh);
            }
            out.push(fresh);
        }
        Ok(out)
    }
}

/// Pops a cotangent like `like`, if the popped value has one.
fn pop_if_any(r: &mut Rewriter<'_>, names: &ControlOps, stack: ValueId, like: ValueId) -> Result<ValueId, String> {
    let flow = names.kit.ok_or("the dialect has no branch to test this with")?.flow;
    let ty = r.body.value_type(like);
    let empty = r.op(cf::IS_EMPTY).operand(stack).infer()?;
    let empty = r.body.result(empty, 0);
    r.name(empty, "none");
    let mut made = Made::new(r, flow);
    for none in [true, false] {
        made.region(r, &[]);
        let value = match none {
            true => zeros_like(r, like)?,
            false => r.op(cf::POP_BACK).operand(stack).result(ty).value(),
        };
        made.yields(r, [value]);
    }
    let op = made.branch(r, empty, &[ty]);
    Ok(r.body.result(op, 0))
}

/// Why a dual could not be built.
enum Trouble {
    Reported(Failure),
    Emit(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Trouble::Emit(why)
    }
}

impl From<&str> for Trouble {
    fn from(why: &str) -> Self {
        Trouble::Emit(why.to_owned())
    }
}

impl From<Failure> for Trouble {
    fn from(diagnostic: Failure) -> Self {
        Trouble::Reported(diagnostic)
    }
}
