//! Stacks that can be one become a buffer and a counter for each type of numbers, the tape ([`tape`](super::tape)).
//!
//! The function that others are not called by with a tape makes it and frees it; functions that give or take tapes get it as arguments. A
//! handle of a stack becomes how much there was on the tape when it was made, where that is asked for, and nothing elsewhere. The counter and
//! the first values are in the frame of the function, so that compilers keep the former in registers and small programs allocate nothing.

use pir_dialects::func;
use pir_dialects::marks::{ADJOINT, AUGMENTED};
use pir_dialects::mlir::{arith, memref, tensor};
use pir_ir::text::{ParseOptions, parse, print_type};
use pir_ir::{
    AttrData, BlockId, Body, Context, DYNAMIC, Diagnostic, OpId, Rewriter, Sym, Type, TypeData, ValueId, ValueMap,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::buffers::{Kinds, add_functions, parts};
use super::reservations::Reservations;
use super::tape::{self, Layout, Reason};
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::elements::{each_element, fold_elements, index};
use crate::autodiff::functions::functions;

const FUNCTIONS: &str = include_str!("tape.mlir");

/// The functions that create a tape in the frame of a function.
const FRAME: &str = include_str!("frame.mlir");

/// How many values there is room for in the frame of the function.
const ROOM: i64 = 256;

/// Lowers the stacks of the functions of a symbol table, as far as they can be on tapes; gives these functions.
pub(super) fn lower(ctx: &Context, scope: &mut Body) -> Result<FxHashSet<OpId>, Vec<Diagnostic>> {
    let names = ControlOps::new(ctx);
    erase_unused(ctx, &names, scope);
    let functions = functions(ctx, scope);
    let (layout, reasons) = tape::lay_out(ctx, &names, scope, &functions);
    if let Some(reason) = reasons.iter().find(|reason| layout.joined.contains(&reason.at.0)) {
        return Err(vec![refused(scope, reason)]);
    }
    let mut kinds = Kinds::default();
    let mut done: Vec<OpId> = layout.types.keys().copied().collect();
    done.sort_unstable();
    for &function in &done {
        let types = layout.types.get(&function).map_or(&[][..], |types| types);
        let numbers: Vec<usize> = types.iter().map(|&ty| kinds.of(ty)).collect();
        if let Some(mut inner) = scope.isolated_mut(function).map(std::mem::take) {
            let mut lowering = Lowering {
                ctx,
                names: &names,
                layout: &layout,
                function,
                tapes: Vec::new(),
                kinds: types.iter().copied().zip(numbers).collect(),
                notes: FxHashMap::default(),
                runs: FxHashMap::default(),
                rooms: Reservations::default(),
            };
            let is_inner = lowering.run(&mut inner);
            let taken = signature(&inner);
            scope.set_isolated(function, inner);
            if let (true, Some((inputs, results))) = (is_inner, taken) {
                func::set_type(ctx, scope, function, &inputs, &results);
                set_internal(ctx, scope, function);
            }
        }
    }
    if !kinds.0.is_empty() {
        add_functions(ctx, scope, &kinds, &FUNCTIONS.replace("$ROOM", &ROOM.to_string()))?;
    }
    Ok(done.into_iter().collect())
}

/// Lets LLVM know that only this module calls a function: then it passes no more of a tape than is read.
fn set_internal(ctx: &Context, scope: &mut Body, function: OpId) {
    if scope.view(ctx, function).str("sym_visibility") == Some("private") {
        let internal = ctx.attr(AttrData::Opaque("#llvm.linkage<internal>".into()));
        let attrs = ctx.dict_with(scope.attrs(function), "llvm.linkage", internal);
        scope.set_attrs(function, attrs);
    }
}

/// Erases private functions with stacks among their arguments without callers, as `inline` leaves them.
fn erase_unused(ctx: &Context, names: &ControlOps<'_>, scope: &mut Body) {
    loop {
        let mut called: FxHashSet<Sym> = FxHashSet::default();
        for body in std::iter::once(&*scope).chain(scope.walk_all().filter_map(|op| scope.isolated(op))) {
            let callees = body
                .walk_all()
                .filter_map(|op| func::callee(ctx, body, op)?.last().copied());
            called.extend(callees);
        }
        let is_unused = |&(name, op): &(Sym, OpId)| {
            let private = scope.view(ctx, op).str("sym_visibility") == Some("private");
            let takes = scope.isolated(op).is_some_and(|body| {
                let args = body.entry_block(body.root()).map(|entry| body.block_args(entry));
                args.is_some_and(|args| args.iter().any(|&v| names.is_stack(body, v)))
            });
            private && takes && !called.contains(&name)
        };
        let unused: Vec<OpId> = functions(ctx, scope)
            .into_iter()
            .filter(is_unused)
            .map(|(_, op)| op)
            .collect();
        if unused.is_empty() {
            return;
        }
        let mut r = Rewriter::new(ctx, scope);
        unused.into_iter().for_each(|op| r.erase_op(op));
    }
}

fn refused(scope: &Body, reason: &Reason) -> Diagnostic {
    let (function, op) = reason.at;
    let span = match scope.isolated(function).filter(|_| op != function) {
        Some(inner) => inner.op_span(op),
        None => scope.op_span(function),
    };
    let message = format!(
        "the stacks of functions that call each other cannot become one buffer: {}",
        reason.why
    );
    Diagnostic::error("stack-buffer", message)
        .label(span, "here")
        .help("run `lower-stacks` immediately after `backward`")
}

/// The operand and result types of a function.
fn signature(body: &Body) -> Option<(Vec<Type>, Vec<Type>)> {
    let block = body.single_block(body.root())?;
    let end = body.last_op(block)?;
    let inputs = body.block_args(block).iter().map(|&v| body.value_type(v)).collect();
    Some((inputs, body.operands(end).map(|v| body.value_type(v)).collect()))
}

/// The buffer and the counter of a type.
struct Tape {
    ty: Type,
    kind: usize,
    counter: ValueId,
    buffer: ValueId,
}

struct Lowering<'l> {
    ctx: &'l Context,
    names: &'l ControlOps<'l>,
    layout: &'l Layout,
    function: OpId,
    kinds: Vec<(Type, usize)>,
    tapes: Vec<Tape>,
    /// How much there was on the tape when a stack was made.
    notes: FxHashMap<ValueId, ValueId>,
    /// The places of consecutive pushes, or pops, by type.
    runs: FxHashMap<(bool, Type), Places>,
    rooms: Reservations,
}

/// The numbers of a value on a tape: numbers of a type, and how many; `None` of tensors of an unknown shape.
pub(super) fn numbers(ctx: &Context, ty: Type) -> Option<(Type, usize)> {
    match ctx.as_tensor(ty) {
        None => Some((ty, 1)),
        Some((shape, elem)) => {
            let count = shape.iter().try_fold(1usize, |count, &extent| {
                count.checked_mul(usize::try_from(extent).ok()?)
            });
            Some((elem, count.filter(|&count| count <= MOST)?))
        }
    }
}

/// The most elements of a tensor on a tape.
const MOST: usize = 1 << 30;

/// The places on a tape of several values.
struct Places {
    values: ValueId,
    first: ValueId,
    next: usize,
    count: usize,
}

impl Lowering<'_> {
    /// Whether the function takes a tape from others.
    fn run(&mut self, body: &mut Body) -> bool {
        let Some(block) = body.single_block(body.root()) else {
            return false;
        };
        let Some(end) = body.last_op(block) else { return false };
        let is_stack = |body: &Body, value: &ValueId| self.names.is_stack(body, *value);
        let is_inner =
            body.block_args(block).iter().any(|v| is_stack(body, v)) || body.operands(end).any(|v| is_stack(body, &v));
        let ops: Vec<OpId> = body.walk_all().collect();
        let mut r = Rewriter::new(self.ctx, body);
        match is_inner {
            true => {
                for (ty, kind) in self.kinds.clone() {
                    let [counter, buffer] = parts(self.ctx, ty).map(|ty| r.body.add_block_arg(block, ty, None));
                    self.named(&mut r, ty, kind, counter, buffer);
                }
            }
            false => self.make(&mut r, block, end),
        }
        self.rooms = Reservations::new(self.names, r.body, &ops, &|op| self.moved(r.body, op));
        for &op in &ops {
            let span = r.body.op_span(op);
            r.before(op).set_span(span);
            self.reserve(&mut r, op);
            self.op(&mut r, op);
        }
        let kept: Vec<ValueId> = r
            .body
            .operands(end)
            .filter(|&v| !self.names.is_stack(r.body, v))
            .collect();
        r.body.set_operands(end, &kept);
        for &op in ops.iter().rev() {
            if r.body.is_alive(op) && r.body.results(op).any(|v| self.names.is_stack(r.body, v)) {
                r.erase_op(op);
            }
        }
        let stacks: Vec<bool> = r
            .body
            .block_args(block)
            .iter()
            .map(|&v| self.names.is_stack(r.body, v))
            .collect();
        body.retain_block_args(block, |at| !stacks[at]);
        is_inner
    }

    fn named(&mut self, r: &mut Rewriter<'_>, ty: Type, kind: usize, counter: ValueId, buffer: ValueId) {
        r.name(counter, "count");
        r.name(buffer, "tape");
        self.tapes.push(Tape {
            ty,
            kind,
            counter,
            buffer,
        });
    }

    /// Makes the tapes at the start of the function, and frees them at its end.
    fn make(&mut self, r: &mut Rewriter<'_>, block: BlockId, end: OpId) {
        r.at_start(block);
        for (ty, kind) in self.kinds.clone() {
            if let Some([counter, buffer]) = import_frame(r, ty) {
                self.named(r, ty, kind, counter, buffer);
            }
        }
        r.before(end);
        for tape in &self.tapes {
            let zero = index(r, 0);
            let ty = buffer_of(self.ctx, DYNAMIC, tape.ty);
            let values = r
                .op(memref::Load::NAME)
                .operands([tape.buffer, zero])
                .result(ty)
                .value();
            call(r, "free", tape.kind, &[values], &[]);
        }
    }

    fn tape(&self, ty: Type) -> Option<&Tape> {
        self.tapes.iter().find(|tape| tape.ty == ty)
    }

    fn op(&mut self, r: &mut Rewriter<'_>, op: OpId) {
        let (name, names) = (r.body.op_name(op), self.names);
        let here = (self.function, op);
        if name == names.create {
            let count = self.layout.based.get(&here).and_then(|&ty| self.count(r, ty));
            self.notes.extend(count.map(|count| (r.body.result(op, 0), count)));
        } else if name == names.push {
            let value = r.body.operand(op, 1);
            match names.is_stack(r.body, value) {
                false => self.push(r, op, value),
                true if self.layout.noted.contains(&here) => {
                    // The tape of a call is never tested for emptiness.
                    let note = self.notes.get(&value).copied();
                    let note = note.unwrap_or_else(|| index(r, 0));
                    self.push(r, op, note);
                }
                true => {}
            }
            r.erase_op(op);
        } else if name == names.pop {
            let value = r.body.result(op, 0);
            match names.is_stack(r.body, value) {
                false => {
                    if let Some(popped) = self.pop(r, op, r.body.value_type(value)) {
                        r.replace_and_rename(value, popped);
                    }
                    r.erase_op(op);
                }
                true if self.layout.noted.contains(&here) => {
                    let note = self.pop(r, op, Type::INDEX);
                    self.notes.extend(note.map(|note| (value, note)));
                }
                true => {}
            }
        } else if name == names.is_empty {
            self.is_empty(r, op);
        } else if func::callee(self.ctx, r.body, op).is_some() {
            self.call(r, op);
        }
    }

    /// Makes room for all that a loop pushes.
    fn reserve(&self, r: &mut Rewriter<'_>, op: OpId) {
        let Some(room) = self.rooms.of(op) else { return };
        let zero = index(r, 0);
        let int = |r: &mut Rewriter<'_>, name: &str, a, b| r.op(name).operands([a, b]).result(Type::INDEX).value();
        let distance = int(r, arith::Subi::NAME, room.bound, room.start);
        let mut runs = int(r, arith::Maxsi::NAME, distance, zero);
        if room.step > 1 {
            let (step, rest) = (index(r, room.step.into()), index(r, i128::from(room.step) - 1));
            let above = int(r, arith::Addi::NAME, runs, rest);
            runs = int(r, arith::Divui::NAME, above, step);
        }
        for &(ty, count) in &room.counts {
            let Some(tape) = self.tape(ty) else { continue };
            let count = index(r, count as i128);
            let more = int(r, arith::Muli::NAME, runs, count);
            call(r, "reserve", tape.kind, &[tape.counter, tape.buffer, more], &[]);
        }
    }

    /// How much there is on a tape.
    fn count(&self, r: &mut Rewriter<'_>, ty: Type) -> Option<ValueId> {
        let counter = self.tape(ty)?.counter;
        let zero = index(r, 0);
        Some(
            r.op(memref::Load::NAME)
                .operands([counter, zero])
                .result(Type::INDEX)
                .value(),
        )
    }

    /// The type of the numbers that an operation pushes or pops, and how many, if that leaves something on a tape.
    fn moved(&self, body: &Body, op: OpId) -> Option<(Type, usize)> {
        let (name, names) = (body.op_name(op), self.names);
        let value = match name == names.push {
            true => body.operand(op, 1),
            false => body.result(op, 0),
        };
        match names.is_stack(body, value) {
            false => numbers(self.ctx, body.value_type(value)),
            true => self
                .layout
                .noted
                .contains(&(self.function, op))
                .then_some((Type::INDEX, 1)),
        }
    }

    /// The values of a tape, and the place of the first number that an operation pushes or pops. What is pushed or popped right after it
    /// is reserved with it.
    fn place(&mut self, r: &mut Rewriter<'_>, op: OpId) -> Option<[ValueId; 2]> {
        let (ty, own) = self.moved(r.body, op)?;
        let name = r.body.op_name(op);
        let pushes = name == self.names.push;
        let key = (pushes, ty);
        if self.runs.get(&key).is_none_or(|run| run.next == run.count) {
            let run =
                std::iter::successors(Some(op), |&op| r.body.next_op(op)).take_while(|&op| r.body.op_name(op) == name);
            let moved = run.filter_map(|op| self.moved(r.body, op));
            let count: usize = moved.filter(|moved| moved.0 == ty).map(|moved| moved.1).sum();
            let tape = self.tape(ty)?;
            let (kind, counter, buffer) = (tape.kind, tape.counter, tape.buffer);
            let number = index(r, i128::try_from(count).ok()?);
            let types = [buffer_of(self.ctx, DYNAMIC, ty), Type::INDEX];
            let what = match pushes {
                true if self.rooms.has(op) => "put",
                true => "push",
                false => "pop",
            };
            let made = call(r, what, kind, &[counter, buffer, number], &types);
            let places = Places {
                values: r.body.result(made, 0),
                first: r.body.result(made, 1),
                next: 0,
                count,
            };
            self.runs.insert(key, places);
        }
        let run = self.runs.get_mut(&key)?;
        let at = if pushes { run.next } else { run.count - own - run.next };
        run.next += own;
        let (values, first) = (run.values, run.first);
        let offset = index(r, i128::try_from(at).ok()?);
        let place = r
            .op(arith::Addi::NAME)
            .operands([first, offset])
            .result(Type::INDEX)
            .value();
        Some([values, place])
    }

    fn push(&mut self, r: &mut Rewriter<'_>, op: OpId, value: ValueId) {
        let Some([values, first]) = self.place(r, op) else {
            return;
        };
        match self.ctx.as_tensor(r.body.value_type(value)) {
            None => {
                r.op(memref::Store::NAME).operands([value, values, first]).build();
            }
            Some((shape, elem)) => {
                let shape = shape.to_vec();
                // Nothing in it fails: the shape is known.
                let _ = each_element(r, &shape, &[], |r, place| {
                    let element = r
                        .op(tensor::Extract::NAME)
                        .operand(value)
                        .operands(place.iter().copied());
                    let element = element.result(elem).value();
                    let at = linear(r, &shape, place, first);
                    r.op(memref::Store::NAME).operands([element, values, at]).build();
                    Ok(())
                });
            }
        }
    }

    fn pop(&mut self, r: &mut Rewriter<'_>, op: OpId, ty: Type) -> Option<ValueId> {
        let [values, first] = self.place(r, op)?;
        let Some((shape, elem)) = self.ctx.as_tensor(ty) else {
            return Some(r.op(memref::Load::NAME).operands([values, first]).result(ty).value());
        };
        let shape = shape.to_vec();
        let empty = r.op(tensor::Empty::NAME).result(ty).value();
        let filled = fold_elements(r, &shape, &[], empty, |r, place, made| {
            let at = linear(r, &shape, place, first);
            let element = r.op(memref::Load::NAME).operands([values, at]).result(elem).value();
            let insert = r.op(tensor::Insert::NAME).operands([element, made]);
            Ok(insert.operands(place.iter().copied()).result(ty).value())
        });
        filled.ok()
    }

    /// Whether there is as much on the tape as when the stack was made.
    fn is_empty(&self, r: &mut Rewriter<'_>, op: OpId) {
        let (stack, old) = (r.body.operand(op, 0), r.body.result(op, 0));
        let Some((&note, witness)) = self
            .notes
            .get(&stack)
            .zip(self.layout.tested.get(&(self.function, op)).copied())
        else {
            return;
        };
        let Some(count) = self.count(r, witness) else { return };
        let equal = r.ctx.int_attr(0);
        let compared = r.op(arith::Cmpi::NAME).operands([count, note]).attr("predicate", equal);
        let empty = compared.result(Type::I1).value();
        r.replace_and_rename(old, empty);
        r.erase_op(op);
    }

    /// A call takes the tapes instead of a stack.
    fn call(&self, r: &mut Rewriter<'_>, op: OpId) {
        let is_stack = |r: &Rewriter<'_>, v: ValueId| self.names.is_stack(r.body, v);
        let (operands, results) = (r.body.operands_vec(op), r.body.results(op).collect::<Vec<_>>());
        if !operands.iter().chain(&results).any(|&v| is_stack(r, v)) {
            return;
        }
        let tapes = self.tapes.iter().flat_map(|tape| [tape.counter, tape.buffer]);
        let operands = operands.into_iter().filter(|&v| !is_stack(r, v)).chain(tapes);
        let operands: Vec<ValueId> = operands.collect();
        let kept: Vec<ValueId> = results.into_iter().filter(|&v| !is_stack(r, v)).collect();
        let types: Vec<Type> = kept.iter().map(|&v| r.body.value_type(v)).collect();
        let new = r.recreate(op, &operands, &types);
        let attrs = ADJOINT.remove(self.ctx, AUGMENTED.remove(self.ctx, r.body.attrs(new)));
        r.body.set_attrs(new, attrs);
        for (at, old) in kept.into_iter().enumerate() {
            let result = r.body.result(new, at);
            r.replace_and_rename(old, result);
        }
        // Uses of the tape are lowered later.
        if r.body.results(op).all(|v| !is_stack(r, v)) {
            r.erase_op(op);
        }
    }
}

/// Where an element of a tensor is that begins at `first`.
fn linear(r: &mut Rewriter<'_>, shape: &[i64], place: &[ValueId], first: ValueId) -> ValueId {
    let emit = |r: &mut Rewriter<'_>, name: &str, a: ValueId, b: ValueId| {
        r.op(name).operands([a, b]).result(Type::INDEX).value()
    };
    let mut at: Option<ValueId> = None;
    for (&extent, &own) in shape.iter().zip(place) {
        at = Some(match at {
            None => own,
            Some(outer) => {
                let extent = index(r, extent.into());
                let rows = emit(r, arith::Muli::NAME, outer, extent);
                emit(r, arith::Addi::NAME, rows, own)
            }
        });
    }
    at.map_or(first, |at| emit(r, arith::Addi::NAME, first, at))
}

fn buffer_of(ctx: &Context, extent: i64, elem: Type) -> Type {
    ctx.intern_type(TypeData::MemRef {
        shape: Some([extent].into()),
        elem,
        layout: None,
        space: None,
    })
}

/// Puts what makes a tape at the insertion point; gives its counter and its buffer.
fn import_frame(r: &mut Rewriter<'_>, ty: Type) -> Option<[ValueId; 2]> {
    let shared = r.ctx.shared()?;
    let text = FRAME
        .replace("$T", &print_type(r.ctx, ty))
        .replace("$ROOM", &ROOM.to_string());
    let parsed = parse(&shared, text.as_bytes(), &ParseOptions::default());
    let function = parsed.module.body.block_ops(parsed.module.top()).next()?;
    let inner = parsed.module.body.isolated(function)?;
    let mut ops = inner.block_ops_vec(inner.single_block(inner.root())?);
    let end = ops.pop()?;
    let mut map = ValueMap::new();
    for op in ops {
        r.import_op(inner, op, &mut map);
    }
    let mut made = inner.operands(end).map(|value| map.get(value));
    Some([made.next()??, made.next()??])
}

fn call(r: &mut Rewriter<'_>, what: &str, kind: usize, operands: &[ValueId], results: &[Type]) -> OpId {
    let name = r.ctx.sym(&format!("pir_tape_{what}_{kind}"));
    let callee = r.ctx.attr(AttrData::Symbol([name].into()));
    r.op("func.call")
        .attr("callee", callee)
        .operands(operands.iter().copied())
        .results(results.iter().copied())
        .build()
}
