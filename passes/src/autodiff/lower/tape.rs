//! Which stacks of a module can become one: the *tape*.
//!
//! The output of `backward` reads its stacks in the reverse of the order in which all of them together were written,
//! across loops, branches and calls. Then one buffer for each type of numbers suffices for all stacks: a handle is
//! nothing, or, if its emptiness is tested, the former height of the tape.
//!
//! This is proven by running each function on a tape of [`Event`]s, one for each push, loop, branch or call that leaves
//! records. A pop must find a push of its own stack on top. A loop that pops must find a loop on top, and its regions
//! must undo those of that loop; it must end at the height at which that loop began. A branch that pops must find one
//! with the same condition, a call that takes a tape the call that returned it. Stacks of any other form get separate
//! buffers ([`buffers`](super::buffers)).

mod counters;
mod undo;
mod walked;

use std::rc::Rc;

use pir_dialects::func;
use pir_ir::{BlockId, Body, Context, FlowKind, OpId, Sym, Traits, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::on_tape::numbers;
use crate::autodiff::control_ops::ControlOps;
use walked::Walked;

/// A value or an operation of a function.
type Of<T> = (OpId, T);

/// An event that remains on the tape.
#[derive(Clone, Debug)]
enum Event {
    Number {
        on: usize,
        ty: Type,
        value: Of<ValueId>,
    },
    Handle {
        on: usize,
        item: usize,
        push: Of<OpId>,
    },
    Loop {
        op: Of<OpId>,
        parts: [Rc<Vec<Event>>; 2],
    },
    Branch {
        condition: Of<ValueId>,
        parts: [Rc<Vec<Event>>; 2],
    },
    Call {
        callee: OpId,
        tape: usize,
    },
}

/// A stack.
struct Stack {
    /// The operation that creates it, and the number of values on the tape of its block at that point.
    made: Option<(Of<OpId>, BlockId, usize)>,
    /// Its emptiness is tested: of values of the type.
    witness: Option<Type>,
}

/// The assignment of the stacks of functions to tapes.
#[derive(Default)]
pub(super) struct Layout {
    /// The operations that create stacks, with the type whose height on the tape is recorded there.
    pub(super) based: FxHashMap<Of<OpId>, Type>,
    /// The tests for emptiness.
    pub(super) tested: FxHashMap<Of<OpId>, Type>,
    /// The pushes and pops of their handles.
    pub(super) noted: FxHashSet<Of<OpId>>,
    /// The types on the tapes of each function, and of functions that share tapes.
    pub(super) types: FxHashMap<OpId, Vec<Type>>,
    pub(super) shared: Vec<Type>,
    /// The functions that take tapes from others, or call such.
    pub(super) joined: FxHashSet<OpId>,
}

/// The reason for a refusal, and its place.
pub(super) struct Reason {
    pub(super) at: Of<OpId>,
    pub(super) why: &'static str,
}

struct Run<'a> {
    ctx: &'a Context,
    names: &'a ControlOps<'a>,
    scope: &'a Body,
    functions: &'a FxHashMap<Sym, OpId>,
    stacks: Vec<Stack>,
    handles: FxHashMap<Of<ValueId>, usize>,
    /// The pushed value for each popped one.
    images: FxHashMap<Of<ValueId>, Of<ValueId>>,
    /// The records of functions that return a tape, with that tape.
    given: FxHashMap<OpId, (Rc<Vec<Event>>, usize)>,
    /// For each function that takes a tape the one that gives it.
    takes: FxHashMap<OpId, OpId>,
    pending: Vec<OpId>,
    /// The tests for emptiness.
    tests: Vec<(Of<OpId>, usize)>,
    /// Pops of handles.
    popped: Vec<(Of<OpId>, usize)>,
    pushed: Vec<(Of<OpId>, usize)>,
    /// For each push of a handle the pop that gets it.
    pairs: FxHashMap<Of<OpId>, Of<OpId>>,
}

/// Finds the stacks that can be on tapes, and the reasons of the functions whose stacks cannot.
pub(super) fn lay_out(
    ctx: &Context,
    names: &ControlOps<'_>,
    scope: &Body,
    functions: &FxHashMap<Sym, OpId>,
) -> (Layout, Vec<Reason>) {
    let mut layout = Layout::default();
    let mut reasons = Vec::new();
    let mut ops: Vec<OpId> = functions.values().copied().collect();
    ops.sort_unstable();
    let walked = ops.iter().filter_map(|&op| Walked::new(names, scope, op));
    let (joined, alone): (Vec<_>, Vec<_>) = walked
        .filter(|walked| !walked.active.is_empty() || has_tape(names, walked))
        .partition(|walked| has_tape(names, walked) || calls_tapes(ctx, names, walked));
    for walked in &alone {
        let mut run = Run::new(ctx, names, scope, functions);
        match run.function(walked).and_then(|()| run.enter(&mut layout, &[walked])) {
            Ok(types) => drop(layout.types.insert(walked.function, types)),
            Err(reason) => reasons.push(reason),
        }
    }
    let mut run = Run::new(ctx, names, scope, functions);
    let refs: Vec<&Walked<'_>> = joined.iter().collect();
    layout.joined.extend(refs.iter().map(|walked| walked.function));
    match run.all(&refs).and_then(|()| run.enter(&mut layout, &refs)) {
        Ok(types) => {
            layout
                .types
                .extend(refs.iter().map(|walked| (walked.function, types.clone())));
            layout.shared = types;
        }
        Err(reason) => reasons.push(reason),
    }
    (layout, reasons)
}

/// For each push of a handle, the pop that gets it, in functions that return tapes or take them; `None` if the stacks
/// cannot become one tape.
pub(in crate::autodiff) fn pairs_of_handles(
    ctx: &Context,
    names: &ControlOps<'_>,
    scope: &Body,
    functions: &FxHashMap<Sym, OpId>,
) -> FxHashMap<Of<OpId>, Of<OpId>> {
    let mut ops: Vec<OpId> = functions.values().copied().collect();
    ops.sort_unstable();
    let walked = ops.iter().filter_map(|&op| Walked::new(names, scope, op));
    let walked: Vec<_> = walked
        .filter(|walked| has_tape(names, walked) || calls_tapes(ctx, names, walked))
        .collect();
    let mut run = Run::new(ctx, names, scope, functions);
    match run.all(&walked.iter().collect::<Vec<_>>()) {
        Ok(()) => run.pairs,
        Err(_) => FxHashMap::default(),
    }
}

/// Whether a function takes or gives stacks.
fn has_tape(names: &ControlOps<'_>, walked: &Walked<'_>) -> bool {
    takes_tape(names, walked) || gives_tape(names, walked)
}

fn takes_tape(names: &ControlOps<'_>, walked: &Walked<'_>) -> bool {
    let body = walked.body;
    let entry = body.entry_block(body.root());
    entry.is_some_and(|entry| body.block_args(entry).iter().any(|&v| names.is_stack(body, v)))
}

fn gives_tape(names: &ControlOps<'_>, walked: &Walked<'_>) -> bool {
    let body = walked.body;
    let end = body.single_block(body.root()).and_then(|block| body.last_op(block));
    end.is_some_and(|end| body.operands(end).any(|v| names.is_stack(body, v)))
}

fn calls_tapes(ctx: &Context, names: &ControlOps<'_>, walked: &Walked<'_>) -> bool {
    let body = walked.body;
    let stacks = |op: OpId| {
        body.operands(op)
            .chain(body.results(op))
            .any(|v| names.is_stack(body, v))
    };
    walked
        .active
        .iter()
        .any(|&op| func::callee(ctx, body, op).is_some() && stacks(op))
}

type Done<T = ()> = Result<T, Reason>;

impl<'a> Run<'a> {
    fn new(ctx: &'a Context, names: &'a ControlOps<'a>, scope: &'a Body, functions: &'a FxHashMap<Sym, OpId>) -> Self {
        Run {
            ctx,
            names,
            scope,
            functions,
            stacks: Vec::new(),
            handles: FxHashMap::default(),
            images: FxHashMap::default(),
            given: FxHashMap::default(),
            takes: FxHashMap::default(),
            pending: Vec::new(),
            tests: Vec::new(),
            popped: Vec::new(),
            pushed: Vec::new(),
            pairs: FxHashMap::default(),
        }
    }

    /// Runs functions that have tapes in common: first those that do not take one.
    fn all(&mut self, all: &[&Walked<'_>]) -> Done {
        let (take, others): (Vec<&Walked<'_>>, Vec<_>) = all.iter().partition(|walked| takes_tape(self.names, walked));
        for walked in others {
            self.function(walked)?;
        }
        while let Some(function) = self.pending.pop() {
            let walked = take.iter().find(|walked| walked.function == function);
            let Some(walked) = walked else {
                return Err(Reason {
                    at: (function, function),
                    why: "a function that takes a stack has no body",
                });
            };
            self.adjoint(walked)?;
        }
        match take.iter().find(|walked| !self.takes.contains_key(&walked.function)) {
            // A function without callers may be called from outside.
            Some(walked) => Err(Reason {
                at: (walked.function, walked.function),
                why: "a function takes a stack, but has no calls",
            }),
            None => Ok(()),
        }
    }

    fn function(&mut self, walked: &Walked<'_>) -> Done {
        let Some(block) = walked.body.single_block(walked.body.root()) else {
            return Err(self.reason(walked, walked.function, "the function has several blocks"));
        };
        let mut tape = Vec::new();
        self.block(walked, block, &mut tape)?;
        if let Some(&stack) = walked.body.last_op(block).and_then(|end| self.returned(walked, end)) {
            self.given.insert(walked.function, (Rc::new(tape), stack));
        }
        Ok(())
    }

    /// A function that takes a tape has to undo what the one that gave it did.
    fn adjoint(&mut self, walked: &Walked<'_>) -> Done {
        let body = walked.body;
        let giver = self
            .takes
            .get(&walked.function)
            .and_then(|giver| self.given.get(giver))
            .cloned();
        let (Some(block), Some((events, stack))) = (body.single_block(body.root()), giver) else {
            return Err(self.reason(
                walked,
                walked.function,
                "the contents of the stack that it takes are unknown",
            ));
        };
        let stacks = body.block_args(block).iter().filter(|&&v| self.names.is_stack(body, v));
        for &arg in stacks {
            self.handles.insert(walked.of(arg), stack);
        }
        let mut tape = events.to_vec();
        self.block(walked, block, &mut tape)?;
        match tape.is_empty() && !gives_tape(self.names, walked) {
            true => Ok(()),
            false => Err(self.reason(
                walked,
                walked.function,
                "it leaves something on the stack that it takes",
            )),
        }
    }

    fn reason(&self, walked: &Walked<'_>, op: OpId, why: &'static str) -> Reason {
        Reason { at: walked.of(op), why }
    }

    fn returned(&self, walked: &Walked<'_>, end: OpId) -> Option<&usize> {
        let mut stacks = walked
            .body
            .operands(end)
            .filter(|&v| self.names.is_stack(walked.body, v));
        self.handles.get(&walked.of(stacks.next()?))
    }

    fn stack(&self, walked: &Walked<'_>, op: OpId, handle: ValueId) -> Done<usize> {
        let known = self.handles.get(&walked.of(handle)).copied();
        known.ok_or_else(|| self.reason(walked, op, "it is unknown which stack this is"))
    }

    fn block(&mut self, walked: &Walked<'_>, block: BlockId, tape: &mut Vec<Event>) -> Done {
        for op in walked.body.block_ops(block) {
            if walked.active.contains(&op) {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.op(walked, op, block, tape))?;
            }
        }
        Ok(())
    }

    fn op(&mut self, walked: &Walked<'_>, op: OpId, block: BlockId, tape: &mut Vec<Event>) -> Done {
        let (body, names) = (walked.body, self.names);
        let name = body.op_name(op);
        if name == names.create {
            self.stacks.push(Stack {
                made: Some((walked.of(op), block, tape.len())),
                witness: None,
            });
            self.handles
                .insert(walked.of(body.result(op, 0)), self.stacks.len() - 1);
            return Ok(());
        }
        if name == names.push {
            return self.push(walked, op, tape);
        }
        if name == names.pop {
            return self.pop(walked, op, tape);
        }
        if name == names.is_empty {
            // Its operand is checked with the loop that it ends.
            return match tape.is_empty() {
                true => Ok(()),
                false => Err(self.reason(walked, op, "it tests whether a stack is empty that may not be empty")),
            };
        }
        if let Some(path) = func::callee(self.ctx, body, op) {
            return self.call(walked, op, path, tape);
        }
        if let Some(kind) = names.kind(body, op) {
            let blocks = names.form(body, op).map(|form| form.blocks);
            let hands_on = body
                .operands(op)
                .chain(body.results(op))
                .any(|v| names.is_stack(body, v));
            return match blocks.filter(|_| !hands_on) {
                Some(blocks) if walked.reads_outside(names, op) => self.undo(walked, op, kind, blocks, tape),
                Some(blocks) => self.record(walked, op, kind, blocks, tape),
                None => Err(self.reason(walked, op, "control flow forwards stacks")),
            };
        }
        let returns = body.view(self.ctx, op).has(Traits::RETURN_LIKE);
        let stacks = || body.operands(op).filter(|&v| names.is_stack(body, v)).count();
        match returns && stacks() == 1 && body.op_block(op) == body.single_block(body.root()) {
            true => Ok(()),
            false => Err(self.reason(walked, op, "a stack is used by an unknown operation")),
        }
    }

    fn push(&mut self, walked: &Walked<'_>, op: OpId, tape: &mut Vec<Event>) -> Done {
        let (stack, value) = (walked.body.operand(op, 0), walked.body.operand(op, 1));
        let on = self.stack(walked, op, stack)?;
        if self.names.is_stack(walked.body, value) {
            let item = self.stack(walked, op, value)?;
            self.pushed.push((walked.of(op), item));
            let push = walked.of(op);
            tape.push(Event::Handle { on, item, push });
        } else {
            tape.push(Event::Number {
                on,
                ty: walked.body.value_type(value),
                value: self.primal_at(walked.of(value)),
            });
        }
        Ok(())
    }

    fn pop(&mut self, walked: &Walked<'_>, op: OpId, tape: &mut Vec<Event>) -> Done {
        let (stack, value) = (walked.body.operand(op, 0), walked.body.result(op, 0));
        let from = self.stack(walked, op, stack)?;
        let found = walked.body.value_type(value);
        match tape.pop() {
            Some(Event::Number { on, ty, value: pushed }) if on == from && ty == found => {
                self.images.insert(walked.of(value), pushed);
                Ok(())
            }
            Some(Event::Handle { on, item, push }) if on == from && found == self.names.stack => {
                self.pairs.insert(push, walked.of(op));
                self.handles.insert(walked.of(value), item);
                self.popped.push((walked.of(op), item));
                Ok(())
            }
            _ => Err(self.reason(
                walked,
                op,
                "stacks are not read in the reverse order in which they were written",
            )),
        }
    }

    fn call(&mut self, walked: &Walked<'_>, op: OpId, path: &[Sym], tape: &mut Vec<Event>) -> Done {
        let body = walked.body;
        let stacks = |values: &mut dyn Iterator<Item = ValueId>| -> Vec<ValueId> {
            values.filter(|&v| self.names.is_stack(body, v)).collect()
        };
        let (taken, given) = (stacks(&mut body.operands(op)), stacks(&mut body.results(op)));
        let callee = match path {
            [name] => self.functions.get(name).copied(),
            _ => None,
        };
        let unknown = "the effect of the callee on stacks is unknown";
        match (&taken[..], &given[..], callee) {
            ([], &[handle], Some(callee)) => {
                self.stacks.push(Stack {
                    made: None,
                    witness: None,
                });
                let stack = self.stacks.len() - 1;
                self.handles.insert(walked.of(handle), stack);
                tape.push(Event::Call { callee, tape: stack });
                Ok(())
            }
            (&[handle], [], Some(callee)) => {
                let stack = self.stack(walked, op, handle)?;
                match tape.pop() {
                    Some(Event::Call { callee: giver, tape }) if tape == stack => {
                        match self.takes.insert(callee, giver) {
                            None => {
                                self.pending.push(callee);
                                Ok(())
                            }
                            Some(other) if other == giver => Ok(()),
                            Some(_) => Err(self.reason(walked, op, unknown)),
                        }
                    }
                    _ => Err(self.reason(
                        walked,
                        op,
                        "calls do not take stacks in the reverse order in which other calls returned them",
                    )),
                }
            }
            _ => Err(self.reason(walked, op, unknown)),
        }
    }

    /// A loop or a branch that leaves records.
    fn record(
        &mut self,
        walked: &Walked<'_>,
        op: OpId,
        kind: FlowKind,
        blocks: [Option<BlockId>; 2],
        tape: &mut Vec<Event>,
    ) -> Done {
        let mut parts = [Vec::new(), Vec::new()];
        for (part, block) in parts.iter_mut().zip(blocks) {
            if let Some(block) = block {
                self.block(walked, block, part)?;
            }
        }
        if parts.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let parts = parts.map(Rc::new);
        tape.push(match kind {
            FlowKind::Loop => Event::Loop {
                op: walked.of(op),
                parts,
            },
            FlowKind::Branch => Event::Branch {
                condition: self.primal_at(walked.of(walked.body.operand(op, 0))),
                parts,
            },
        });
        Ok(())
    }

    /// Enters what was found; gives the types on the tapes.
    fn enter(&self, layout: &mut Layout, all: &[&Walked<'_>]) -> Done<Vec<Type>> {
        let mut types = Vec::new();
        for walked in all {
            for op in walked
                .body
                .walk_all()
                .filter(|&op| walked.body.op_name(op) == self.names.push)
            {
                let ty = walked.body.value_type(walked.body.operand(op, 1));
                let Some((ty, _)) = numbers(self.ctx, ty) else {
                    return Err(self.reason(walked, op, "the shape of a recorded tensor is dynamic"));
                };
                if ty != self.names.stack && !types.contains(&ty) {
                    types.push(ty);
                }
            }
        }
        for stack in &self.stacks {
            if let (Some((create, ..)), Some(witness)) = (stack.made, stack.witness) {
                layout.based.insert(create, witness);
            }
        }
        let tests = self
            .tests
            .iter()
            .filter_map(|&(op, stack)| Some((op, self.stacks[stack].witness?)));
        layout.tested.extend(tests);
        for walked in all {
            let mut asks = walked
                .active
                .iter()
                .filter(|&&op| walked.body.op_name(op) == self.names.is_empty);
            if let Some(&op) = asks.find(|&&op| !layout.tested.contains_key(&walked.of(op))) {
                return Err(self.reason(
                    walked,
                    op,
                    "it tests whether a stack is empty outside of a loop condition",
                ));
            }
        }
        let handles = self.pushed.iter().chain(&self.popped);
        for (op, _) in handles.filter(|(_, item)| self.stacks[*item].witness.is_some()) {
            layout.noted.insert(*op);
            if !types.contains(&Type::INDEX) {
                types.push(Type::INDEX);
            }
        }
        Ok(types)
    }
}
