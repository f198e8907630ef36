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
use super::cotangent::zeros_of;
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
    let order = Order::new(&names, body);
    let mut r = Rewriter::new(ctx, body);
    let mut changed = false;
    while !pending.is_empty() {
        // Those behind one another are undone at once: each loop is recreated once for all of them.
        let mut by_block: FxHashMap<BlockId, usize> = FxHashMap::default();
        let mut groups: Vec<(BlockId, Vec<Batched>)> = Vec::new();
        for op in pending.drain(..) {
            let batched = Batched::of(&r, &names, &order, op);
            if let Some(batched) = batched.filter(|b| !b.pushes().any(|(block, of)| keep(&names, r.body, block, of))) {
                let at = *by_block.entry(batched.block).or_insert(groups.len());
                if at == groups.len() {
                    groups.push((batched.block, Vec::new()));
                }
                groups[at].1.push(batched);
            }
        }
        for (block, group) in groups {
            // The factors of the new products may be joined themselves, by a loop inside.
            pending.extend(undo(&mut r, &names, &order, block, group));
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

/// Something that adds to a sum: a product of what is pushed, behind an operation, or the operation with a block in which something does.
#[derive(Clone, Copy)]
enum Part {
    Pushed { factors: [ValueId; 2], behind: OpId },
    Inside(BlockId),
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
        let mut between = Vec::new();
        for ((at, ones), (other, others)) in ones.into_iter().zip(others) {
            (at == other && ones.len() == others.len()).then_some(())?;
            batched.enclose(names, order, body, at)?;
            let parts = batched.parts.entry(at).or_default();
            for (one, other) in ones.into_iter().zip(others) {
                let (place, behind) = one.max(other);
                let factors = [one, other].map(|(_, push)| body.operand(push, 1));
                parts.push((place, Part::Pushed { factors, behind }));
                between.push((at, one.min(other).0, place));
            }
        }
        batched
            .parts
            .values_mut()
            .for_each(|parts| parts.sort_unstable_by_key(|part| part.0));
        // What is pushed inside an operation between two pushes is on top of only one of them.
        let is_apart = |&(block, from, to): &(BlockId, u32, u32)| {
            let parts = batched.parts.get(&block).map_or(&[][..], Vec::as_slice);
            let parts = &parts[parts.partition_point(|part| part.0 <= from)..];
            let mut inside = parts.iter().take_while(|part| part.0 < to);
            !inside.any(|part| matches!(part.1, Part::Inside(_)))
        };
        between.iter().all(is_apart).then_some(())?;
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
            if at == self.block {
                return Some(());
            }
            let op = body.block_parent(at)?;
            let form = names.form(body, op)?;
            // Not the region that decides.
            let known = form.blocks.iter().all(Option::is_some)
                && (form.kind == FlowKind::Branch || form.blocks[1] == Some(at))
                && FlowEdit::new(names.ctx, body, op).is_ok();
            known.then_some(())?;
            let place = *order.blocks.get(&at)?;
            let inside = Part::Inside(at);
            at = body.op_block(op)?;
            let parts = self.parts.entry(at).or_default();
            let is_new = parts.iter().all(|part| part.0 != place);
            parts.extend(is_new.then_some((place, inside)));
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

    /// What the sum starts from, and what it replaces: the product, or an addition to it.
    fn ends(&self, r: &mut Rewriter<'_>, names: &ControlOps, order: &Order) -> Option<(ValueId, OpId)> {
        if let Some((add, start)) = self.start(r, names, order) {
            return Some((start, add));
        }
        let ty = r.body.value_type(r.body.result(self.product, 0));
        let first = match self.parts.get(&self.block)?.first()?.1 {
            Part::Pushed { behind, .. } => behind,
            Part::Inside(block) => r.body.block_parent(block)?,
        };
        r.before(first);
        Some((zeros_of(r, ty).ok()?, self.product))
    }

    /// Erases what is used no longer. A stack may be joined for another product.
    fn erase(self, r: &mut Rewriter<'_>, replaced: OpId) {
        if replaced != self.product {
            r.erase_op(replaced);
        }
        r.erase_op(self.product);
        for (join, stack) in self.joins.into_iter().zip(self.stacks) {
            if r.body.is_alive(join) && !r.body.has_uses(r.body.result(join, 0)) {
                let users: Vec<OpId> = r.body.uses(stack).map(|at| at.op).collect();
                users.into_iter().for_each(|op| r.erase_op(op));
                r.body.defining_op(stack).into_iter().for_each(|op| r.erase_op(op));
            }
        }
    }
}

/// Makes loops and branches forward the sums of the products of a block. Gives the new products.
fn undo(r: &mut Rewriter<'_>, names: &ControlOps, order: &Order, block: BlockId, group: Vec<Batched>) -> Vec<OpId> {
    let mut members = Vec::new();
    let mut values = Vec::new();
    let mut parts: FxHashMap<BlockId, Vec<(u32, usize, Part)>> = FxHashMap::default();
    for batched in group {
        let result = r.body.result(batched.product, 0);
        let ty = r.body.value_type(result);
        let Some(arith) = r.ctx.arithmetic(ty) else { continue };
        let Some((start, replaced)) = batched.ends(r, names, order) else {
            continue;
        };
        for (&block, own) in &batched.parts {
            let own = own.iter().map(|&(place, part)| (place, members.len(), part));
            parts.entry(block).or_default().extend(own);
        }
        values.push(start);
        let name = r.body.result(replaced, 0);
        let attrs = r.body.attrs(batched.product);
        members.push((
            batched,
            replaced,
            Like {
                attrs,
                arith,
                ty,
                result,
                name,
            },
        ));
    }
    parts
        .values_mut()
        .for_each(|parts| parts.sort_unstable_by_key(|part| (part.0, part.1)));
    let mut sums = Sums {
        names,
        parts: &parts,
        like: members.iter().map(|member| member.2).collect(),
        values,
        products: Vec::new(),
    };
    if sums.through(r, block).is_none() {
        return Vec::new();
    }
    let Sums { values, products, .. } = sums;
    for (&(_, replaced, _), &value) in members.iter().zip(&values) {
        r.take_name(r.body.result(replaced, 0), value);
        r.replace_value(r.body.result(replaced, 0), value);
    }
    members
        .into_iter()
        .for_each(|(batched, replaced, _)| batched.erase(r, replaced));
    products
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

/// What products and sums are like.
#[derive(Clone, Copy)]
struct Like {
    attrs: AttrDict,
    arith: &'static dyn Arithmetic,
    ty: Type,
    /// What a product and a sum are named like.
    result: ValueId,
    name: ValueId,
}

/// Sums on their way through loops and branches.
struct Sums<'a, 'c> {
    names: &'a ControlOps<'c>,
    /// By block: the place, the number of the sum, and what adds to it.
    parts: &'a FxHashMap<BlockId, Vec<(u32, usize, Part)>>,
    like: Vec<Like>,
    /// What they are so far.
    values: Vec<ValueId>,
    products: Vec<OpId>,
}

impl Sums<'_, '_> {
    /// Leads the sums through a block that they enter.
    fn through(&mut self, r: &mut Rewriter<'_>, block: BlockId) -> Option<()> {
        let parts = self.parts.get(&block).map_or(&[][..], Vec::as_slice);
        // Sums that go into the same operation stand next to each other.
        for parts in parts.chunk_by(|a, b| a.0 == b.0) {
            match parts.first()?.2 {
                Part::Inside(block) => {
                    let numbers: Vec<usize> = parts.iter().map(|part| part.1).collect();
                    let op = r.body.block_parent(block)?;
                    self.inside(r, op, &numbers)?;
                }
                Part::Pushed { .. } => parts.iter().for_each(|&(_, at, part)| self.add(r, at, part)),
            }
        }
        Some(())
    }

    fn add(&mut self, r: &mut Rewriter<'_>, at: usize, part: Part) {
        let Part::Pushed { factors, behind } = part else { return };
        let like = self.like[at];
        r.after(behind);
        let product = r.op(pd::Matmul::NAME).operands(factors).attrs(like.attrs);
        let product = product.result(like.ty).build();
        self.products.push(product);
        let product = r.body.result(product, 0);
        r.name_like(product, like.result, "");
        let sum = like.arith.emit(r, Arith::Add, &[self.values[at], product], like.ty);
        r.name_like(sum, like.name, "");
        self.values[at] = sum;
    }

    /// The same for the blocks of an operation, which some of the sums enter.
    fn inside(&mut self, r: &mut Rewriter<'_>, op: OpId, numbers: &[usize]) -> Option<()> {
        let form = self.names.form(r.body, op)?;
        let [Some(first), Some(second)] = form.blocks else {
            return None;
        };
        let before: Vec<ValueId> = numbers.iter().map(|&at| self.values[at]).collect();
        let types: Vec<Type> = numbers.iter().map(|&at| self.like[at].ty).collect();
        if form.kind == FlowKind::Loop {
            let carried = Carry::plan(r, self.names, op, types)?.apply(r, &before);
            for (&at, carried) in numbers.iter().zip(&carried) {
                for arg in [carried.in_cond, carried.in_body] {
                    r.name_like(arg, self.like[at].name, "");
                }
                self.values[at] = carried.in_body;
            }
            self.through(r, second)?;
            let op = r.body.block_parent(second)?;
            for (&at, carried) in numbers.iter().zip(&carried) {
                r.body
                    .set_operand(carried.yielded.op, carried.yielded.index, self.values[at]);
                self.values[at] = r.body.result(op, carried.result_at);
                r.name_like(self.values[at], self.like[at].name, "");
            }
            return Some(());
        }
        let mut ends = [Vec::new(), Vec::new()];
        for (block, ends) in [first, second].into_iter().zip(&mut ends) {
            for (&at, &value) in numbers.iter().zip(&before) {
                self.values[at] = value;
            }
            self.through(r, block)?;
            ends.extend(numbers.iter().map(|&at| self.values[at]));
        }
        let mut edit = FlowEdit::new(self.names.ctx, r.body, op).ok()?;
        let given = ends[0].iter().zip(&ends[1]);
        let lanes: Vec<_> = given
            .zip(types)
            .map(|((&a, &b), ty)| edit.add(FlowPoint::Parent, ty, &[(form.points[0], a), (form.points[1], b)]))
            .collect();
        let done = edit.check(r.body).ok()?.apply(r, &[]);
        for (&at, lane) in numbers.iter().zip(lanes) {
            self.values[at] = done.result(r.body, lane);
            r.name_like(self.values[at], self.like[at].name, "");
        }
        Some(())
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
