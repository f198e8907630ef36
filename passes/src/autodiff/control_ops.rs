//! Stacks, as autodiff sees them: its own subject, so the names are here. Loops and branches it knows by their form.

use pir_dialects::cf;
use pir_ir::{
    Arith, Arithmetic, BlockId, Body, Context, FlowForm, FlowKind, OpId, OpName, Rewriter, Structured, Type, TypeData,
    ValueDef, ValueId,
};

/// The parts of loops that count.
#[derive(Clone, Copy)]
pub(crate) struct Kit {
    pub(crate) arith: &'static dyn Arithmetic,
    pub(crate) flow: Structured,
}

impl Kit {
    /// A number to count with.
    pub(crate) fn count(&self, r: &mut Rewriter<'_>, number: i64, name: &str) -> ValueId {
        let count = self.arith.count(r, number);
        r.name(count, name);
        count
    }

    /// A number that is computed of two.
    pub(crate) fn int(&self, r: &mut Rewriter<'_>, what: Arith, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.arith.count_type(r.ctx);
        self.arith.emit(r, what, &[a, b], ty)
    }

    /// Whether two numbers are in a relation.
    pub(crate) fn compare(&self, r: &mut Rewriter<'_>, what: Arith, a: ValueId, b: ValueId) -> ValueId {
        let ty = r.ctx.tensor(&[], Type::I1);
        self.arith.emit(r, what, &[a, b], ty)
    }
}

/// The operations that autodiff treats itself.
#[derive(Clone, Copy)]
pub(crate) struct ControlOps<'c> {
    pub(crate) ctx: &'c Context,
    /// The operations for counting, if a dialect has them.
    pub(crate) kit: Option<Kit>,
    pub(crate) create: OpName,
    pub(crate) push: OpName,
    pub(crate) pop: OpName,
    pub(crate) is_empty: OpName,
    pub(crate) copy: OpName,
    pub(crate) commit: OpName,
    pub(crate) stack: Type,
    /// The number at the end of inserted names: nothing, or a number that keeps them off the program's own.
    suffix: u32,
}

impl<'c> ControlOps<'c> {
    pub(crate) fn new(ctx: &'c Context) -> Self {
        let arith = ctx.arithmetic(ctx.tensor(&[], Type::I64));
        ControlOps {
            ctx,
            kit: arith.zip(ctx.structured()).map(|(arith, flow)| Kit { arith, flow }),
            create: ctx.op_name(cf::CREATE_STACK),
            push: ctx.op_name(cf::PUSH_BACK),
            pop: ctx.op_name(cf::POP_BACK),
            is_empty: ctx.op_name(cf::IS_EMPTY),
            copy: ctx.op_name(cf::COPY_STACK),
            commit: ctx.op_name(cf::COMMIT),
            stack: cf::stack_type(ctx),
            suffix: 0,
        }
    }

    /// The same for a pass that inserts values called one of `bases` between those of a program, whose names it must
    /// not take: of two equal ones the printer changes the later one, and that might be the program's own.
    pub(crate) fn avoiding(ctx: &'c Context, body: &Body, bases: &[&str]) -> Self {
        let mut this = ControlOps::new(ctx);
        let mut highest = None;
        let first = |text: &str| text.as_bytes().first().copied().unwrap_or_default();
        let mut begins = [false; 256];
        bases.iter().for_each(|base| begins[usize::from(first(base))] = true);
        for value in (0..body.num_value_slots()).map(ValueId::new) {
            if body.value_def(value) == ValueDef::None {
                continue;
            }
            let Some(name) = body.value_name(value) else { continue };
            // A base has no digits: it can only begin what comes before a number.
            let (word, number) = ctx.name_parts(name.name);
            if !begins[usize::from(first(word))] || !bases.iter().any(|base| word.starts_with(base)) {
                continue;
            }
            let text = number.map_or_else(|| word.to_owned(), |number| format!("{word}{number}"));
            for rest in bases.iter().filter_map(|base| text.strip_prefix(base)) {
                // The printer adds `_1`, a number of ours is right after.
                let number = rest.split('_').next().unwrap_or(rest);
                let number = if number.is_empty() {
                    Ok(0)
                } else {
                    number.parse::<u32>()
                };
                if let Ok(number) = number {
                    highest = highest.max(Some(number));
                }
            }
        }
        this.suffix = highest.map_or(0, |n| n.saturating_add(1).max(2));
        this
    }

    /// The name for an inserted value.
    pub(crate) fn spelled(&self, base: &str) -> String {
        match self.suffix {
            0 => base.to_owned(),
            number => format!("{base}{number}"),
        }
    }

    pub(crate) fn kind(&self, body: &Body, op: OpId) -> Option<FlowKind> {
        body.flow_kind(self.ctx, op)
    }

    /// The parts of a loop or a branch.
    pub(crate) fn form(&self, body: &Body, op: OpId) -> Option<FlowForm> {
        body.flow_form(self.ctx, op)
    }

    /// The operation that the adjoint of a loop or a branch is made as.
    pub(crate) fn dual(&self, body: &Body, op: OpId) -> Option<&'static str> {
        body.region_flow(self.ctx, op)?.dual()
    }

    /// Whether a loop or a branch is the adjoint of one.
    pub(crate) fn is_dual(&self, body: &Body, op: OpId) -> bool {
        self.dual(body, op) == Some(self.ctx.op_str(body.op_name(op)))
    }

    /// Whether an operation forwards values to regions, or out of a region of its kind.
    pub(crate) fn hands_on(&self, body: &Body, op: OpId) -> bool {
        let ends = body.next_op(op).is_none() && body.parent_op(op).is_some_and(|p| self.kind(body, p).is_some());
        ends || self.kind(body, op).is_some()
    }

    pub(crate) fn is_stack(&self, body: &Body, value: ValueId) -> bool {
        body.value_type(value) == self.stack
    }
}

/// The stack that one step of differentiation records the locals of an operation on.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    /// The handle where the operation is.
    pub(crate) handle: ValueId,
    /// The pushes of each block, in order.
    pub(crate) pushes: [Vec<OpId>; 2],
}

/// The handle that the last push before the terminator of a block uses.
fn newest_handle(names: &ControlOps, body: &Body, block: BlockId) -> Option<ValueId> {
    let last = body.prev_op(body.last_op(block)?)?;
    (body.op_name(last) == names.push).then(|| body.operand(last, 0))
}

/// The run of pushes on `handle` that ends before the terminator.
fn trailing_pushes(names: &ControlOps, body: &Body, block: BlockId, handle: ValueId) -> Vec<OpId> {
    let mut out = Vec::new();
    let mut at = body.last_op(block).and_then(|t| body.prev_op(t));
    while let Some(op) = at {
        if body.op_name(op) != names.push || body.operand(op, 0) != handle {
            break;
        }
        out.push(op);
        at = body.prev_op(op);
    }
    out.reverse();
    out
}

/// The handle inside a block that represents the operation's own stack, or an outer one for itself.
fn handle_outside(body: &Body, op: OpId, inside: ValueId) -> Option<ValueId> {
    match body.value_def(inside) {
        ValueDef::Arg(block, _) if body.block_parent(block) == Some(op) => body.results(op).next_back(),
        _ => Some(inside),
    }
}

impl Tape {
    /// The newest tape of an operation: `stack-locals` puts its pushes last, right before the terminators.
    ///
    /// `None` if no block ends in pushes: it was not recorded, or has no locals.
    pub(crate) fn newest(names: &ControlOps, body: &Body, op: OpId, structure: &FlowForm) -> Option<Tape> {
        // Where there is nothing to record, pushes at the end are the program's own.
        let has_locals = |b: &BlockId| locals(names, body, *b).next().is_some();
        let inside = structure
            .blocks
            .map(|b| b.filter(has_locals).and_then(|b| newest_handle(names, body, b)));
        let handle = handle_outside(body, op, inside.iter().flatten().next().copied()?)?;
        // A stack that is popped already belongs to the program, or to another derivative.
        if body.uses(handle).any(|u| body.op_name(u.op) == names.pop) {
            return None;
        }
        let mut pushes = [Vec::new(), Vec::new()];
        for (at, block) in structure.blocks.iter().enumerate() {
            if let (Some(block), Some(inner)) = (block, inside[at])
                && handle_outside(body, op, inner) == Some(handle)
            {
                pushes[at] = trailing_pushes(names, body, *block, inner);
            }
        }
        Some(Tape { handle, pushes })
    }
}

/// The values that a block defines, in order of definition: arguments, then results. Handles that it receives as
/// arguments are omitted: they represent stacks that are recorded, or visible, outside; and buffers, since a derivative reads what was
/// loaded of them.
pub(crate) fn locals<'b>(names: &ControlOps<'b>, body: &'b Body, block: BlockId) -> impl Iterator<Item = ValueId> + 'b {
    let names = *names;
    let args = body.block_args(block).iter().copied();
    let args = args.filter(move |&arg| !names.is_stack(body, arg));
    let all = args.chain(body.block_ops(block).flat_map(|op| body.results(op)));
    all.filter(move |&value| !matches!(names.ctx.type_data(body.value_type(value)), TypeData::MemRef { .. }))
}
