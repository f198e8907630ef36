//! `stacks-to-memref`: stacks become buffers that grow.
//!
//! A stack is, for each type of values that are pushed on it, a buffer and a counter. Pops are in the reverse order of pushes, so those of
//! one type are as well. Of a stack that is pushed on another one, its buffers and counters are pushed. What makes, fills and frees
//! buffers are functions of the module, one of each for each type, which compilers inline.
//!
//! Where all stacks are read in the reverse order in which all were written, one buffer does for all ([`on_tape`]). Others have their own,
//! as here. Such a buffer is freed at the end of the block that its stack is made in, or popped in; one that is pushed goes on to live there.

use pir_dialects::cf;
use pir_dialects::mlir::{arith, memref};
use pir_ir::text::{ParseOptions, parse, print_type};
use pir_ir::{
    AttrData, Body, Context, DYNAMIC, Diagnostic, Module, OpId, Rewriter, Traits, Type, TypeData, ValueId, ValueMap,
};
use rustc_hash::FxHashMap;

use super::on_tape;
use crate::autodiff::calls::recompute;
use crate::bodies::{atomically, inner_bodies_mut};
use crate::options::Options;
use crate::pass::{Changed, Pass, PassContext};

/// The pass `stacks-to-memref`.
pub struct StacksToMemref;

impl Pass for StacksToMemref {
    fn name(&self) -> &'static str {
        "stacks-to-memref"
    }

    fn summary(&self) -> &'static str {
        "Lower the stacks of functions to growing buffers"
    }

    fn description(&self) -> &'static str {
        "The same as `lower-stacks{to=memref}`. A stack becomes one buffer and one counter for each type of its values; \
         the pass adds functions to the module that allocate, grow and free them. A stack may hold numbers and other \
         stacks. The result of `backward` on a function of MLIR's dialects can then be compiled with `mlir-opt`, \
         `mlir-translate` and `clang`."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        atomically(module, |module| match atomically(module, lower_all) {
            // Adjoint functions that take no stacks can do with what they have.
            Err(first) => match recompute(module) {
                Ok(true) => lower_all(module),
                _ => Err(first),
            },
            done => done,
        })
    }
}

fn lower_all(module: &mut Module) -> Result<Changed, Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut changed = Changed::No;
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        let mut kinds = Kinds::default();
        let on_tapes = on_tape::lower(&ctx, body)?;
        for function in body.walk_all().collect::<Vec<_>>() {
            if body.view(&ctx, function).has(Traits::FUNCTION)
                && !on_tapes.contains(&function)
                && let Some(inner) = body.isolated_mut(function)
            {
                lower(&ctx, inner, &mut kinds)?;
            }
        }
        if !kinds.0.is_empty() {
            add_functions(&ctx, body, &kinds, FUNCTIONS)?;
        }
        if !kinds.0.is_empty() || !on_tapes.is_empty() {
            changed = Changed::Yes;
        }
        pending.extend(inner_bodies_mut(&ctx, body));
    }
    Ok(changed)
}

/// Whether `lower-stacks` is asked for buffers.
pub(super) fn are_wanted(options: &Options) -> bool {
    options.text("to").as_deref() == Some("memref")
}

/// The types that there are buffers for, with the numbers of their functions.
#[derive(Default)]
pub(super) struct Kinds(pub(super) Vec<Type>);

impl Kinds {
    pub(super) fn of(&mut self, ty: Type) -> usize {
        let at = self.0.iter().position(|&other| other == ty);
        at.unwrap_or_else(|| {
            self.0.push(ty);
            self.0.len() - 1
        })
    }
}

/// The contents of the stacks that may be the same one.
#[derive(Clone, Default)]
struct Contents {
    numbers: Vec<Type>,
    /// A stack that may be on them.
    stack: Option<ValueId>,
}

/// Stacks by what may be on them.
struct Classes {
    parent: FxHashMap<ValueId, ValueId>,
    contents: FxHashMap<ValueId, Contents>,
}

impl Classes {
    fn root(&self, mut stack: ValueId) -> ValueId {
        while let Some(&next) = self.parent.get(&stack) {
            stack = next;
        }
        stack
    }

    fn unite(&mut self, a: ValueId, b: ValueId) {
        let mut pending = vec![(a, b)];
        while let Some((a, b)) = pending.pop() {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                continue;
            }
            self.parent.insert(b, a);
            let from = self.contents.remove(&b).unwrap_or_default();
            let into = self.contents.entry(a).or_default();
            for ty in from.numbers {
                if !into.numbers.contains(&ty) {
                    into.numbers.push(ty);
                }
            }
            match (into.stack, from.stack) {
                (Some(x), Some(y)) => pending.push((x, y)),
                (None, some) => into.stack = some,
                (Some(_), None) => {}
            }
        }
    }

    fn holds(&mut self, stack: ValueId, value: ValueId, ty: Type, is_stack: bool) {
        let root = self.root(stack);
        let contents = self.contents.entry(root).or_default();
        match (is_stack, contents.stack) {
            (true, Some(other)) => self.unite(other, value),
            (true, None) => contents.stack = Some(value),
            (false, _) if !contents.numbers.contains(&ty) => contents.numbers.push(ty),
            (false, _) => {}
        }
    }

    /// The types of the values that are pushed instead of the contents of a stack.
    fn stored(&self, ctx: &Context, stack: ValueId) -> Result<Vec<Type>, String> {
        // From the outermost to the innermost, which hold numbers only.
        let mut chain = Vec::new();
        let mut at = Some(self.root(stack));
        while let Some(root) = at {
            if chain.contains(&root) {
                return Err("a stack may contain itself".to_owned());
            }
            chain.push(root);
            at = self
                .contents
                .get(&root)
                .and_then(|c| c.stack)
                .map(|stack| self.root(stack));
        }
        let mut inner: Vec<Type> = Vec::new();
        for root in chain.into_iter().rev() {
            let mut stored = self.contents.get(&root).map(|c| c.numbers.clone()).unwrap_or_default();
            for ty in inner {
                for part in parts(ctx, ty) {
                    if !stored.contains(&part) {
                        stored.push(part);
                    }
                }
            }
            inner = stored;
        }
        Ok(inner)
    }
}

/// The types of the counter and the buffer of values of a type: `memref<1xindex>` and `memref<1xmemref<?xT>>`.
pub(super) fn parts(ctx: &Context, ty: Type) -> [Type; 2] {
    let buffer = |extent: i64, elem: Type| {
        ctx.intern_type(TypeData::MemRef {
            shape: Some([extent].into()),
            elem,
            layout: None,
            space: None,
        })
    };
    [buffer(1, Type::INDEX), buffer(1, buffer(DYNAMIC, ty))]
}

/// Counters and buffers of a stack, with the numbers of their functions.
type Parts = Vec<(usize, [ValueId; 2])>;

fn lower(ctx: &Context, body: &mut Body, kinds: &mut Kinds) -> Result<(), Vec<Diagnostic>> {
    let stack_type = cf::stack_type(ctx);
    let ops: Vec<OpId> = body.walk_all().collect();
    let mut classes = Classes {
        parent: FxHashMap::default(),
        contents: FxHashMap::default(),
    };
    for &op in &ops {
        let name = ctx.op_str(body.op_name(op));
        let touches = body
            .operands(op)
            .chain(body.results(op))
            .any(|v| body.value_type(v) == stack_type);
        let value = match name {
            cf::PUSH_BACK => body.operand(op, 1),
            cf::POP_BACK => body.result(op, 0),
            cf::CREATE_STACK | cf::IS_EMPTY => continue,
            _ if touches => return Err(refused(body, op, "a stack is used by an unknown operation")),
            _ => continue,
        };
        let ty = body.value_type(value);
        if ctx.as_tensor(ty).is_some() {
            return Err(refused(
                body,
                op,
                "tensors can only be recorded if all stacks share one buffer and their shapes are static",
            ));
        }
        classes.holds(body.operand(op, 0), value, ty, ty == stack_type);
    }
    let mut r = Rewriter::new(ctx, body);
    let mut parts_of: FxHashMap<ValueId, Parts> = FxHashMap::default();
    for &op in &ops {
        let lowering = Lowering {
            classes: &classes,
            kinds: &mut *kinds,
            parts_of: &mut parts_of,
        };
        let span = r.body.op_span(op);
        r.before(op).set_span(span);
        if let Err(why) = lowering.op(&mut r, op, stack_type) {
            return Err(refused(r.body, op, &why));
        }
    }
    // Operations that created stacks, once these have no uses.
    for op in ops.into_iter().rev() {
        if r.body.is_alive(op) && r.body.results(op).any(|v| r.body.value_type(v) == stack_type) {
            r.erase_op(op);
        }
    }
    Ok(())
}

fn refused(body: &Body, op: OpId, why: &str) -> Vec<Diagnostic> {
    let message = format!("a stack cannot become a buffer: {why}");
    let error = Diagnostic::error("stack-buffer", message).label(body.op_span(op), "here");
    vec![error.help("use stacks with `cf.push_back`, `cf.pop_back` and `cf.is_empty`, as `backward` does")]
}

struct Lowering<'l> {
    classes: &'l Classes,
    kinds: &'l mut Kinds,
    parts_of: &'l mut FxHashMap<ValueId, Parts>,
}

fn call(r: &mut Rewriter<'_>, what: &str, kind: usize, operands: &[ValueId], results: &[Type]) -> OpId {
    let name = r.ctx.sym(&format!("pir_stack_{what}_{kind}"));
    let callee = r.ctx.attr(AttrData::Symbol([name].into()));
    r.op("func.call")
        .attr("callee", callee)
        .operands(operands.iter().copied())
        .results(results.iter().copied())
        .build()
}

impl Lowering<'_> {
    fn op(mut self, r: &mut Rewriter<'_>, op: OpId, stack_type: Type) -> Result<(), String> {
        match r.ctx.op_str(r.body.op_name(op)) {
            cf::CREATE_STACK => {
                let stack = r.body.result(op, 0);
                let mut made = Parts::new();
                for ty in self.classes.stored(r.ctx, stack)? {
                    let kind = self.kinds.of(ty);
                    let new = call(r, "new", kind, &[], &parts(r.ctx, ty));
                    made.push((kind, [r.body.result(new, 0), r.body.result(new, 1)]));
                }
                self.owned(r, stack, made);
            }
            cf::PUSH_BACK => {
                let (stack, value) = (r.body.operand(op, 0), r.body.operand(op, 1));
                match r.body.value_type(value) == stack_type {
                    false => self.push(r, stack, value)?,
                    true => {
                        for (_, values) in self.known(value)? {
                            for value in values {
                                self.push(r, stack, value)?;
                            }
                        }
                    }
                }
            }
            cf::POP_BACK => {
                let (stack, value) = (r.body.operand(op, 0), r.body.result(op, 0));
                let ty = r.body.value_type(value);
                if ty == stack_type {
                    let mut made = Parts::new();
                    for ty in self.classes.stored(r.ctx, value)?.into_iter().rev() {
                        let kind = self.kinds.of(ty);
                        let [counter, buffer] = parts(r.ctx, ty);
                        let buffer = self.pop(r, stack, buffer)?;
                        let counter = self.pop(r, stack, counter)?;
                        made.push((kind, [counter, buffer]));
                    }
                    made.reverse();
                    self.owned(r, value, made);
                } else {
                    let popped = self.pop(r, stack, ty)?;
                    r.take_name(value, popped);
                    r.body.replace_all_uses(value, popped);
                }
            }
            cf::IS_EMPTY => {
                let empty = self.is_empty(r, op)?;
                let old = r.body.result(op, 0);
                r.take_name(old, empty);
                r.body.replace_all_uses(old, empty);
            }
            _ => return Ok(()),
        }
        // Uses of stacks are lowered later.
        if r.body.results(op).all(|v| r.body.value_type(v) != stack_type) {
            r.erase_op(op);
        }
        Ok(())
    }

    /// Notes the parts of a stack, and frees them at the end of the block unless it is pushed.
    fn owned(&mut self, r: &mut Rewriter<'_>, stack: ValueId, parts: Parts) {
        let pushed = r
            .body
            .uses(stack)
            .any(|at| at.index == 1 && r.ctx.op_str(r.body.op_name(at.op)) == cf::PUSH_BACK);
        let end = r.body.value_block(stack).and_then(|block| r.body.last_op(block));
        if let (false, Some(end)) = (pushed, end) {
            let here = r.point();
            r.before(end);
            for (kind, values) in &parts {
                call(r, "free", *kind, values, &[]);
            }
            r.set_point(here);
        }
        self.parts_of.insert(stack, parts);
    }

    fn known(&self, stack: ValueId) -> Result<Parts, String> {
        let parts = self.parts_of.get(&stack).cloned();
        parts.ok_or_else(|| "it is unknown where it was created".to_owned())
    }

    fn part(&mut self, stack: ValueId, ty: Type) -> Result<(usize, [ValueId; 2]), String> {
        let kind = self.kinds.of(ty);
        let part = self.known(stack)?.into_iter().find(|part| part.0 == kind);
        part.ok_or_else(|| "its values are unknown".to_owned())
    }

    fn push(&mut self, r: &mut Rewriter<'_>, stack: ValueId, value: ValueId) -> Result<(), String> {
        let (kind, [counter, buffer]) = self.part(stack, r.body.value_type(value))?;
        call(r, "push", kind, &[counter, buffer, value], &[]);
        Ok(())
    }

    fn pop(&mut self, r: &mut Rewriter<'_>, stack: ValueId, ty: Type) -> Result<ValueId, String> {
        let (kind, [counter, buffer]) = self.part(stack, ty)?;
        let popped = call(r, "pop", kind, &[counter, buffer], &[ty]);
        Ok(r.body.result(popped, 0))
    }

    /// Whether all counters are zero.
    fn is_empty(&self, r: &mut Rewriter<'_>, op: OpId) -> Result<ValueId, String> {
        let ctx = r.ctx;
        let zero = ctx.attr(AttrData::Int {
            value: 0,
            ty: Type::INDEX,
        });
        let zero = r
            .op(arith::Constant::NAME)
            .attr("value", zero)
            .result(Type::INDEX)
            .value();
        let mut all = None;
        for (_, [counter, _]) in self.known(r.body.operand(op, 0))? {
            let count = r
                .op(memref::Load::NAME)
                .operands([counter, zero])
                .result(Type::INDEX)
                .value();
            let equal = ctx.int_attr(0);
            let compared = r.op(arith::Cmpi::NAME).operands([count, zero]).attr("predicate", equal);
            let none = compared.result(Type::I1).value();
            all = Some(match all {
                None => none,
                Some(others) => r
                    .op(arith::Andi::NAME)
                    .operands([others, none])
                    .result(Type::I1)
                    .value(),
            });
        }
        Ok(all.unwrap_or_else(|| {
            let truth = ctx.bool_attr(true);
            r.op(arith::Constant::NAME)
                .attr("value", truth)
                .result(Type::I1)
                .value()
        }))
    }
}

/// The functions for values of the type `T`, which consist of `K` numbers.
const FUNCTIONS: &str = include_str!("buffers.mlir");

/// Adds the functions of `text` for each type.
pub(super) fn add_functions(ctx: &Context, body: &mut Body, kinds: &Kinds, text: &str) -> Result<(), Vec<Diagnostic>> {
    let (Some(shared), Some(block)) = (ctx.shared(), body.single_block(body.root())) else {
        return Err(vec![Diagnostic::error(
            "stack-buffer",
            "functions cannot be added here",
        )]);
    };
    for (kind, &ty) in kinds.0.iter().enumerate() {
        let text = text
            .replace("$T", &print_type(ctx, ty))
            .replace("$K", &kind.to_string());
        let parsed = parse(&shared, text.as_bytes(), &ParseOptions::default());
        if !parsed.diagnostics.is_empty() {
            return Err(parsed.diagnostics);
        }
        let mut r = Rewriter::new(ctx, body);
        r.at_end(block);
        for op in parsed.module.body.block_ops_vec(parsed.module.top()) {
            r.import_op(&parsed.module.body, op, &mut ValueMap::new());
        }
    }
    Ok(())
}
