//! `unbatch-weight-grads`: the inverse of `batch-weight-grads`.
//!
//! A product of what is on two stacks is the sum of the products of what was pushed on them together, so the loop that
//! pushes can carry that sum instead:
//!
//! ```text
//! %s = cf.create_stack                               %out, %sum = pd.while (…, %start) … body (…, %c) {
//! %t = cf.create_stack                                 …
//! %out = pd.while (…) … body (…) {                     %p = pd.matmul (%x, %g)
//!   …                                                  %next = pd.add (%c, %p)
//!   cf.push_back (%s, %x)                   ==>        cf.yield (…, %next)
//!   cf.push_back (%t, %g)                            }
//!   cf.yield (…)
//! }
//! %xs = cf.join_stack (%s) {axis = 0}
//! %gs = cf.join_stack (%t) {axis = 0}
//! %p = pd.matmul (%xs, %gs)
//! %sum = pd.add (%start, %p)
//! ```
//!
//! This form can be differentiated again, and systems without joined stacks can run it: passes that need it run this
//! first. Outer loops first: what an inner loop leaves behind it may be pushed by the loop around it. Other passes may
//! have peeled or unrolled the loop, so that pushes are in several places, and in branches; in each block, the n-th push
//! on one stack belongs to the n-th on the other.

use pir_dialects::{cf, pd};
use pir_ir::{
    Arith, Arithmetic, AttrDict, BlockId, Body, Context, Diagnostic, FlowEdit, FlowKind, FlowPoint, Module, OpId,
    Rewriter, Type, ValueDef, ValueId,
};
use rustc_hash::FxHashMap;

use super::batch::summed_axes;
use super::control_ops::ControlOps;
use super::loop_editing::Carry;
use crate::bodies::inner_bodies_mut;
use crate::pass::{Changed, Pass, PassContext};

/// Whether the product of what is pushed in a block stays behind the loop.
type Keep<'k> = dyn Fn(&ControlOps, &Body, BlockId, [ValueId; 2]) -> bool + 'k;

/// How deep in loops and branches the pushes may be.
const MAX_DEPTH: usize = 64;

/// Undoes [`batch_weight_grads`](super::batch_weight_grads) for all products but those that push something for which `keep`
/// holds. Whether something changed.
pub(super) fn unbatch_unless(module: &mut Module, keep: &Keep<'_>) -> bool {
    let ctx = module.ctx.clone();
    let mut changed = false;
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        changed |= run(&ctx, body, keep);
        pending.extend(inner_bodies_mut(&ctx, body));
    }
    changed
}

/// The same for all products.
pub fn unbatch_weight_grads(module: &mut Module) -> bool {
    unbatch_unless(module, &|_, _, _, _| false)
}

fn run(ctx: &Context, body: &mut Body, keep: &Keep<'_>) -> bool {
    let join = ctx.op_name(cf::JOIN_STACK);
    if !body.walk_all().any(|op| body.op_name(op) == join) {
        return false;
    }
    let names = ControlOps::new(ctx);
    let product = ctx.op_name(pd::Matmul::NAME);
    let mut pending: Vec<OpId> = body.walk_all().filter(|&op| body.op_name(op) == product).collect();
    pending.reverse();
    let order = Order::new(&names, body);
    let mut r = Rewriter::new(ctx, body);
    let mut changed = false;
    while let Some(op) = pending.pop() {
        let batched = Batched::of(&r, &names, &order, op);
        if let Some(batched) = batched.filter(|b| !b.pushes().any(|(block, of)| keep(&names, r.body, block, of))) {
            // The factors of the new products may be joined themselves, by a loop inside.
            pending.extend(batched.undo(&mut r, &names, &order));
            changed = true;
        }
    }
    changed
}

/// The order of the operations as they were. Loops and branches are recreated when they forward more, but their blocks stay.
struct Order {
    ops: Vec<u32>,
    blocks: FxHashMap<BlockId, u32>,
}

impl Order {
    fn new(names: &ControlOps, body: &Body) -> Self {
        let mut order = Order {
            ops: vec![u32::MAX; body.num_op_slots()],
            blocks: FxHashMap::default(),
        };
        for (place, op) in (0..).zip(body.walk_all()) {
            order.ops[op.index()] = place;
            let form = names.form(body, op);
            let blocks = form.iter().flat_map(|form| form.present());
            order.blocks.extend(blocks.map(|block| (block, place)));
        }
        order
    }

    /// The place of an operation; nothing for a new one.
    fn place(&self, names: &ControlOps, body: &Body, op: OpId) -> Option<u32> {
        let of_blocks = || {
            let block = names.form(body, op)?.present().next()?;
            self.blocks.get(&block).copied()
        };
        let place = self.ops.get(op.index()).copied();
        place.or_else(of_blocks).filter(|&place| place != u32::MAX)
    }
}

/// Something that adds to the sum: a product of what is pushed behind an operation, or an operation with regions inside.
#[derive(Clone, Copy)]
enum Part {
    Pushed { factors: [ValueId; 2], behind: OpId },
    Inside(OpId),
}

/// A product of two joined stacks.
struct Batched {
    product: OpId,
    joins: [OpId; 2],
    stacks: [ValueId; 2],
    block: BlockId,
    /// The parts of each block, by their places.
    parts: FxHashMap<BlockId, Vec<(u32, Part)>>,
}

/// All of what is pushed on a stack: the blocks, and the pushes in each.
type Pushes = Vec<(BlockId, Vec<(u32, OpId)>)>;

impl Batched {
    fn of(r: &Rewriter<'_>, names: &ControlOps, order: &Order, product: OpId) -> Option<Self> {
        let body = &*r.body;
        let block = body.op_block(product)?;
        let axes = summed_axes(r, product);
        let factor = |at: usize| {
            let join = body.defining_op(body.get_operand(product, at)?)?;
            let is_join = r.ctx.op_str(body.op_name(join)) == cf::JOIN_STACK && body.op_block(join) == Some(block);
            let axis = r.view(join).int("axis").unwrap_or(0);
            (is_join && usize::try_from(axis) == Ok(axes[at])).then_some(())?;
            let stack = body.operand(join, 0);
            let create = body.defining_op(stack)?;
            (body.op_name(create) == names.create && body.op_block(create) == Some(block)).then_some(())?;
            Some((join, stack, pushes(body, names, order, join, stack)?))
        };
        let [(a, first, ones), (b, second, others)] = [factor(0)?, factor(1)?];
        let mut batched = Batched {
            product,
            joins: [a, b],
            stacks: [first, second],
            block,
            parts: FxHashMap::default(),
        };
        (ones.len() == others.len()).then_some(())?;
        for ((at, ones), (other, others)) in ones.into_iter().zip(others) {
            (at == other && ones.len() == others.len()).then_some(())?;
            batched.enclose(names, order, body, at)?;
            let parts = batched.parts.entry(at).or_default();
            for (one, other) in ones.into_iter().zip(others) {
                let (place, behind) = one.max(other);
                let factors = [one, other].map(|(_, push)| body.operand(push, 1));
                parts.push((place, Part::Pushed { factors, behind }));
            }
        }
        batched
            .parts
            .values_mut()
            .for_each(|parts| parts.sort_unstable_by_key(|part| part.0));
        // Nothing is pushed behind the joins.
        let last = batched.parts.get(&block)?.last()?.0;
        let joined = [a, b].map(|join| order.place(names, body, join));
        joined
            .iter()
            .all(|place| place.is_some_and(|place| last < place))
            .then_some(batched)
    }

    /// Adds the operations around a block.
    fn enclose(&mut self, names: &ControlOps, order: &Order, body: &Body, mut at: BlockId) -> Option<()> {
        for _ in 0..MAX_DEPTH {
            if at == self.block || self.parts.contains_key(&at) {
                return Some(());
            }
            self.parts.entry(at).or_default();
            let op = body.block_parent(at)?;
            let form = names.form(body, op)?;
            // Not the region that decides.
            let known = form.blocks.iter().all(Option::is_some)
                && (form.kind == FlowKind::Branch || form.blocks[1] == Some(at))
                && FlowEdit::new(names.ctx, body, op).is_ok();
            known.then_some(())?;
            at = body.op_block(op)?;
            let (place, parts) = (order.place(names, body, op)?, self.parts.entry(at).or_default());
            let is_new = parts.iter().all(|part| part.0 != place);
            parts.extend(is_new.then_some((place, Part::Inside(op))));
            if !is_new {
                return Some(());
            }
        }
        None
    }

    /// What is pushed together, and in which blocks.
    fn pushes(&self) -> impl Iterator<Item = (BlockId, [ValueId; 2])> + '_ {
        self.parts.iter().flat_map(|(&block, parts)| {
            parts.iter().filter_map(move |&(_, part)| match part {
                Part::Pushed { factors, .. } => Some((block, factors)),
                Part::Inside(_) => None,
            })
        })
    }

    /// The sum that the product is added to, if it can start from there: the addition, and the other operand.
    fn start(&self, r: &Rewriter<'_>, names: &ControlOps, order: &Order) -> Option<(OpId, ValueId)> {
        let body = &*r.body;
        let result = body.result(self.product, 0);
        let ty = body.value_type(result);
        let user = body.only_use(result)?;
        let arith = r.ctx.arithmetic(ty)?;
        let other = body.get_operand(user.op, 1 - user.index.min(1))?;
        let fits = arith.is(r.view(user.op), Arith::Add)
            && body.op_block(user.op) == Some(self.block)
            && body.value_type(other) == ty
            && body.value_type(body.result(user.op, 0)) == ty;
        let is_in_front = match body.value_def(other) {
            ValueDef::Result(op, _) if body.op_block(op) == Some(self.block) => {
                order.place(names, body, op)? < self.parts.get(&self.block)?.first()?.0
            }
            // Of a block around it.
            _ => true,
        };
        (fits && is_in_front).then_some((user.op, other))
    }

    /// Makes loops and branches forward the sum. Gives the new products.
    fn undo(self, r: &mut Rewriter<'_>, names: &ControlOps, order: &Order) -> Vec<OpId> {
        let result = r.body.result(self.product, 0);
        let ty = r.body.value_type(result);
        let (Some(arith), Some((shape, elem))) = (r.ctx.arithmetic(ty), r.ctx.as_tensor(ty)) else {
            return Vec::new();
        };
        let start = self.start(r, names, order);
        let value = match start {
            Some((_, start)) => start,
            None if !r.ctx.is_static(ty) => return Vec::new(),
            None => {
                let first = self.parts.get(&self.block).and_then(|parts| parts.first());
                let Some(&(_, Part::Inside(op) | Part::Pushed { behind: op, .. })) = first else {
                    return Vec::new();
                };
                r.before(op);
                match pd::full_with(r, shape, 0, |o| o.dtype(elem)) {
                    Ok(zeros) => zeros,
                    Err(_) => return Vec::new(),
                }
            }
        };
        let replaced = start.map_or(self.product, |(add, _)| add);
        let mut sum = Sum {
            names,
            parts: &self.parts,
            attrs: r.body.attrs(self.product),
            arith,
            ty,
            result,
            name: r.body.result(replaced, 0),
            products: Vec::new(),
        };
        let Some(value) = sum.through(r, self.block, value) else {
            return Vec::new();
        };
        let products = sum.products;
        r.take_name(r.body.result(replaced, 0), value);
        r.replace_value(r.body.result(replaced, 0), value);
        if replaced != self.product {
            r.erase_op(replaced);
        }
        r.erase_op(self.product);
        for (join, stack) in self.joins.into_iter().zip(self.stacks) {
            // Another product may use it.
            if r.body.is_alive(join) && !r.body.has_uses(r.body.result(join, 0)) {
                let users: Vec<OpId> = r.body.uses(stack).map(|at| at.op).collect();
                users.into_iter().for_each(|op| r.erase_op(op));
                r.body.defining_op(stack).into_iter().for_each(|op| r.erase_op(op));
            }
        }
        products
    }
}

/// The pushes on a stack that is joined once, and not used otherwise.
fn pushes(body: &Body, names: &ControlOps, order: &Order, join: OpId, stack: ValueId) -> Option<Pushes> {
    let mut all: Pushes = Vec::new();
    let mut found = Vec::new();
    for at in body.uses(stack).filter(|at| at.op != join) {
        let is_push = body.op_name(at.op) == names.push && at.index == 0;
        found.push((order.place(names, body, at.op).filter(|_| is_push)?, at.op));
    }
    found.sort_unstable();
    let mut places: FxHashMap<BlockId, usize> = FxHashMap::default();
    for (place, push) in found {
        let block = body.op_block(push)?;
        let at = *places.entry(block).or_insert(all.len());
        if at == all.len() {
            all.push((block, Vec::new()));
        }
        all[at].1.push((place, push));
    }
    Some(all)
}

/// A sum on its way through loops and branches.
struct Sum<'a, 'c> {
    names: &'a ControlOps<'c>,
    parts: &'a FxHashMap<BlockId, Vec<(u32, Part)>>,
    attrs: AttrDict,
    arith: &'static dyn Arithmetic,
    ty: Type,
    /// What products and sums are named like.
    result: ValueId,
    name: ValueId,
    products: Vec<OpId>,
}

impl Sum<'_, '_> {
    /// What it is at the end of a block that it enters as `value`.
    fn through(&mut self, r: &mut Rewriter<'_>, block: BlockId, mut value: ValueId) -> Option<ValueId> {
        let parts = self.parts;
        for &(_, part) in parts.get(&block).into_iter().flatten() {
            value = match part {
                Part::Pushed { factors, behind } => self.add(r, factors, behind, value),
                Part::Inside(op) => self.inside(r, op, value)?,
            };
            r.name_like(value, self.name, "");
        }
        Some(value)
    }

    fn add(&mut self, r: &mut Rewriter<'_>, factors: [ValueId; 2], behind: OpId, value: ValueId) -> ValueId {
        r.after(behind);
        let product = r.op(pd::Matmul::NAME).operands(factors).attrs(self.attrs);
        let product = product.result(self.ty).build();
        self.products.push(product);
        let product = r.body.result(product, 0);
        r.name_like(product, self.result, "");
        self.arith.emit(r, Arith::Add, &[value, product], self.ty)
    }

    fn inside(&mut self, r: &mut Rewriter<'_>, op: OpId, value: ValueId) -> Option<ValueId> {
        let form = self.names.form(r.body, op)?;
        let [Some(first), Some(second)] = form.blocks else {
            return None;
        };
        if form.kind == FlowKind::Loop {
            let carried = Carry::plan(r, self.names, op, [self.ty])?.apply(r, &[value]).pop()?;
            for arg in [carried.in_cond, carried.in_body] {
                r.name_like(arg, self.name, "");
            }
            let next = self.through(r, second, carried.in_body)?;
            r.body.set_operand(carried.yielded.op, carried.yielded.index, next);
            return Some(r.body.result(r.body.block_parent(second)?, carried.result_at));
        }
        let ends = [self.through(r, first, value)?, self.through(r, second, value)?];
        let mut edit = FlowEdit::new(self.names.ctx, r.body, op).ok()?;
        let given = [(form.points[0], ends[0]), (form.points[1], ends[1])];
        let lane = edit.add(FlowPoint::Parent, self.ty, &given);
        let done = edit.check(r.body).ok()?.apply(r, &[]);
        Some(done.result(r.body, lane))
    }
}

/// The pass `unbatch-weight-grads`.
pub struct UnbatchWeightGrads;

impl Pass for UnbatchWeightGrads {
    fn name(&self) -> &'static str {
        "unbatch-weight-grads"
    }

    fn summary(&self) -> &'static str {
        "Multiply in every iteration again, in place of one product after the loop"
    }

    fn description(&self) -> &'static str {
        "The inverse of `batch-weight-grads`: if two stacks are only joined to be multiplied, the loop that pushes on \
         them multiplies in each iteration, and carries the sum. `backward`, `jvp` and `lower-to-dataflow`, which know no \
         joined stacks, and writing a program for PaddlePaddle do this first; `lower-stacks` does so where it does not know \
         the size of the stacks. The summation order changes, so rounding may differ."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        Ok(unbatch_weight_grads(module).into())
    }
}
