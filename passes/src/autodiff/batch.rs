//! `batch-weight-grads`: one product after a loop, in place of one in every iteration.
//!
//! The gradient of a weight that a loop multiplies by is a sum over the iterations of products, `XᵢᵀGᵢ`: for a single
//! example a matrix of rank one, as large as the weight, read and written in every iteration. But it is one product as
//! well, of all `X` on top of each other with all `G` on top of each other. So the loop pushes `X` and `G` on stacks in
//! place of multiplying, and after it the stacks are joined and multiplied once.
//!
//! Inner loops first: what one leaves after it, in the body of the outer loop, is again a product that is added to what
//! the outer loop carries.

use pir_dialects::{cf, pd};
use pir_ir::{
    Arith, Arithmetic, BlockId, Body, Context, DYNAMIC, Diagnostic, FlowEdit, FlowKind, Module, OpId, Rewriter, Type,
    ValueId,
};
use rustc_hash::FxHashMap;

use super::control_ops::ControlOps;
use crate::analysis::{Counter, Variables};
use crate::bodies::inner_bodies_mut;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// A product that is added to what a loop carries.
struct Term {
    product: OpId,
    sum: OpId,
    /// Which operand of the sum goes on.
    carried: usize,
    /// The dimension of each factor that is summed over, and the type of all factors joined along it.
    joined: [(usize, Type); 2],
}

/// A carried sum of a loop.
struct Slot {
    /// The result of the loop, and the argument of the body.
    result: usize,
    /// The operand of the loop, and the argument of the condition.
    operand: usize,
    arith: &'static dyn Arithmetic,
    terms: Vec<Term>,
}

/// Batches the products of a module. With `known_sizes`, only if the number and shapes of the factors, and thus the
/// sizes of the stacks, are known. Returns whether there were any.
pub fn batch_weight_grads(module: &mut Module, known_sizes: bool) -> bool {
    let ctx = module.ctx.clone();
    let mut changed = false;
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        // Factors are read again after the loop.
        changed |= body.analysis::<Variables>(&ctx).is_empty() && run(&ctx, body, known_sizes);
        pending.extend(inner_bodies_mut(&ctx, body));
    }
    changed
}

fn run(ctx: &Context, body: &mut Body, known_sizes: bool) -> bool {
    let names = ControlOps::new(ctx);
    let loops: Vec<OpId> = body
        .ops_with_regions_inside_out()
        .into_iter()
        .filter(|&op| names.kind(body, op) == Some(FlowKind::Loop))
        .collect();
    let mut r = Rewriter::new(ctx, body);
    let mut changed = false;
    for op in loops {
        let Some([cond, inner]) = blocks(&names, r.body, op) else {
            continue;
        };
        if known_sizes && !has_known_length(&names, r.body, op) {
            continue;
        }
        let is_static = |r: &Rewriter<'_>, slot: &Slot| {
            let mut factors = slot.terms.iter().flat_map(|term| r.body.operands(term.product));
            factors.all(|v| r.ctx.is_static(r.body.value_type(v)))
        };
        let slots: Vec<Slot> = (0..r.body.block_args(inner).len())
            .filter_map(|result| slot(&r, &names, op, [cond, inner], result))
            .filter(|slot| !known_sizes || is_static(&r, slot))
            .collect();
        changed |= !slots.is_empty();
        let mut joined = Joined::default();
        let mut unchanged = Vec::new();
        for slot in slots {
            let result = slot.result;
            if batch(&mut r, &names, op, inner, slot, &mut joined) {
                unchanged.push(result);
            }
        }
        if !unchanged.is_empty()
            && let Ok(mut edit) = FlowEdit::new(ctx, r.body, op)
        {
            for result in unchanged {
                edit.remove_carried(r.body, result);
            }
            edit.check(r.body).ok().map(|ready| ready.apply(&mut r, &[]));
        }
    }
    changed
}

fn blocks(names: &ControlOps, body: &Body, op: OpId) -> Option<[BlockId; 2]> {
    match names.form(body, op)?.blocks {
        [Some(cond), Some(inner)] => Some([cond, inner]),
        _ => None,
    }
}

/// Whether constants or the size of a stack determine the trip count of a loop, and so the size of the stacks that it pushes on. A loop
/// that is run again from snapshots has none.
pub(super) fn has_known_length(names: &ControlOps, body: &Body, op: OpId) -> bool {
    let Some([cond, _]) = blocks(names, body, op) else {
        return false;
    };
    let counter = Counter::of(names.ctx, body, op);
    if counter.is_some_and(|counter| counter.trips(names.ctx, body).is_some()) {
        return true;
    }
    let first_operand = |op: OpId| body.get_operand(op, 0).and_then(|value| body.defining_op(value));
    let negation = body.last_op(cond).and_then(first_operand);
    let test = negation.and_then(first_operand);
    test.is_some_and(|test| body.op_name(test) == names.is_empty)
}

/// A carried value that the condition forwards unchanged, and the body only adds products to.
fn slot(r: &Rewriter<'_>, names: &ControlOps, op: OpId, [cond, inner]: [BlockId; 2], result: usize) -> Option<Slot> {
    let body = &*r.body;
    let (cond_end, body_end) = (body.last_op(cond)?, body.last_op(inner)?);
    let passes = names.form(body, op)?.passes[0];
    let forwarded = body.get_operand(cond_end, result + passes)?;
    let operand = body.block_args(cond).iter().position(|&arg| arg == forwarded)?;
    let mut at = *body.block_args(inner).get(result)?;
    let ty = body.value_type(at);
    if names.is_stack(body, at) || !body.has_one_use(forwarded) || operand >= body.num_operands(op) {
        return None;
    }
    let arith = r.ctx.arithmetic(ty)?;
    let mut terms = Vec::new();
    loop {
        let user = body.only_use(at)?;
        if user.op == body_end {
            return (user.index == operand && !terms.is_empty()).then_some(Slot {
                result,
                operand,
                arith,
                terms,
            });
        }
        let is_sum = arith.is(r.view(user.op), Arith::Add) && body.op_block(user.op) == Some(inner);
        if !is_sum || body.value_type(body.result(user.op, 0)) != ty {
            return None;
        }
        let other = body.operand(user.op, 1 - user.index);
        if let Some(product) = body.defining_op(other).filter(|&p| is_worth_it(r, p, inner, ty)) {
            terms.push(Term {
                product,
                sum: user.op,
                carried: user.index,
                joined: joined(r, product)?,
            });
        }
        at = body.result(user.op, 0);
    }
}

/// The dimension of the operands of a product that is summed over.
pub(super) fn summed_axes(r: &Rewriter<'_>, product: OpId) -> [usize; 2] {
    let flag = |name: &str| r.view(product).bool(name).unwrap_or(false);
    [usize::from(!flag("transpose_x")), usize::from(flag("transpose_y"))]
}

/// For each factor of a product the dimension that is summed over, and the type of many of them joined along it.
fn joined(r: &Rewriter<'_>, product: OpId) -> Option<[(usize, Type); 2]> {
    let axes = summed_axes(r, product);
    let one = |at: usize| {
        let (shape, elem) = r.ctx.as_tensor(r.body.value_type(r.body.operand(product, at)))?;
        let mut shape = shape.to_vec();
        *shape.get_mut(axes[at])? = DYNAMIC;
        Some((axes[at], r.ctx.tensor(&shape, elem)))
    };
    Some([one(0)?, one(1)?])
}

/// Whether an operation is a product of matrices for this sum alone, and less is stacked than would be added.
fn is_worth_it(r: &Rewriter<'_>, op: OpId, inner: BlockId, ty: Type) -> bool {
    let body = &*r.body;
    if r.ctx.op_str(body.op_name(op)) != pd::Matmul::NAME
        || body.op_block(op) != Some(inner)
        || !body.has_one_use(body.result(op, 0))
        || body.value_type(body.result(op, 0)) != ty
    {
        return false;
    }
    let shape = |index: usize| {
        r.ctx
            .as_tensor(body.value_type(body.operand(op, index)))
            .map(|(shape, _)| shape)
    };
    let (Some(&[a, b]), Some(&[c, d])) = (shape(0), shape(1)) else {
        return false;
    };
    let [x, y] = summed_axes(r, op);
    let (rows, columns) = (if x == 0 { b } else { a }, if y == 0 { d } else { c });
    let summed = if x == 0 { a } else { b };
    let known = rows >= 0 && columns >= 0;
    known && (summed < 0 || summed.saturating_mul(rows + columns) < rows.saturating_mul(columns))
}

/// What is joined behind a loop.
#[derive(Default)]
struct Joined {
    /// By what the loop pushes, and the type of it all.
    values: FxHashMap<(ValueId, Type), ValueId>,
    /// The last operation behind the loop for products.
    last: Option<OpId>,
}

impl Joined {
    /// All values that a loop computes, joined along an axis behind it.
    fn of(
        &mut self,
        r: &mut Rewriter<'_>,
        names: &ControlOps,
        looped: OpId,
        value: ValueId,
        product: OpId,
        (axis, ty): (usize, Type),
    ) -> ValueId {
        if let Some(&joined) = self.values.get(&(value, ty)) {
            return joined;
        }
        let stack = r.before(looped).op(cf::CREATE_STACK).result(names.stack).value();
        r.name_like(stack, value, "_stack");
        r.before(product).op(cf::PUSH_BACK).operands([stack, value]).build();
        let axis = r.ctx.int_attr(axis as i64);
        r.after(self.last.unwrap_or(looped));
        let join = r.op(cf::JOIN_STACK).operand(stack).attr("axis", axis).result(ty);
        let joined = join.value();
        r.name_like(joined, value, "_all");
        self.last = r.body.defining_op(joined);
        self.values.insert((value, ty), joined);
        joined
    }
}

/// Multiplies behind a loop what it adds to a slot. Whether the loop adds nothing else, and need not carry it.
fn batch(r: &mut Rewriter<'_>, names: &ControlOps, op: OpId, inner: BlockId, slot: Slot, joined: &mut Joined) -> bool {
    let mut behind = Vec::new();
    for term in &slot.terms {
        let factors = [0, 1].map(|at| {
            let value = r.body.operand(term.product, at);
            joined.of(r, names, op, value, term.product, term.joined[at])
        });
        behind.push((factors, r.body.attrs(term.product)));
    }
    let mut name = None;
    for term in &slot.terms {
        let (sum, carried) = (r.body.result(term.sum, 0), r.body.operand(term.sum, term.carried));
        name = name.or(r.body.value_name(r.body.result(op, slot.result)));
        r.replace_value(sum, carried);
        r.erase_op(term.sum);
        r.erase_op(term.product);
    }
    let arg = r.body.block_args(inner)[slot.result];
    let yielded = r
        .body
        .last_op(inner)
        .and_then(|end| r.body.get_operand(end, slot.operand));
    let unchanged = yielded == Some(arg);
    let result = r.body.result(op, slot.result);
    let mut sum = if unchanged {
        r.body.operand(op, slot.operand)
    } else {
        result
    };
    let uses: Vec<_> = r.body.uses(result).collect();
    for (factors, attrs) in behind {
        r.after(joined.last.unwrap_or(op));
        let ty = r.body.value_type(sum);
        let product = r.op(pd::Matmul::NAME).operands(factors).attrs(attrs).result(ty).value();
        sum = slot.arith.emit(r, Arith::Add, &[sum, product], ty);
        joined.last = r.body.defining_op(sum);
    }
    r.body.set_value_name(sum, name);
    for at in uses {
        r.body.set_operand(at.op, at.index, sum);
    }
    unchanged
}

/// The pass `batch-weight-grads`.
pub struct BatchWeightGrads;

impl Pass for BatchWeightGrads {
    fn name(&self) -> &'static str {
        "batch-weight-grads"
    }

    fn summary(&self) -> &'static str {
        "Replace a product in every iteration with one product after the loop"
    }

    fn description(&self) -> &'static str {
        "Applies to the loops that `backward` makes. If each iteration adds a matrix product to a sum that the loop \
         carries, like the gradient of a weight, the pass pushes the factors on stacks instead. After the loop, the \
         stacks are concatenated and multiplied once. This needs memory for all factors, so it is done only if the \
         factors of one iteration are smaller than the sum. The summation order changes, so rounding may differ. \
         `unbatch-weight-grads` undoes it."
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[OptionSpec {
            name: "static",
            kind: OptionKind::Bool,
            default: Some("false"),
            help: "only batch factors of static shape in loops of known trip count, as `lower-stacks` requires",
        }]
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        Ok(batch_weight_grads(module, cx.options.flag("static")).into())
    }
}
