//! `inplace-accumulate`: sums that a loop carries around are kept in one place.
//!
//! ```text
//! %g = pd.full …                                        %g = pd.full …
//! %a, %sum = pd.while_grad (%x, %g) cond (%b, %c) {     %a = pd.while_grad (%x) cond (%b) {
//!   …                                                     …
//!   cf.cond_yield (%more, %b, %c)                         cf.cond_yield (%more, %b)
//! } body (%d, %e) {                              ==>    } body (%d) {
//!   %t = …                                                %t = …
//!   %next = pd.add (%e, %t)                               pd.inplace_add (%g, %t)
//!   cf.yield (…, %next)                                   cf.yield (…)
//! }                                                     }
//! pd.fetch (%sum)                                       pd.fetch (%g)
//! ```
//!
//! # Algorithm
//! An accumulator is a carried value whose uses form a single chain: it is forwarded by `cond`, something is added to
//! it, the sum is yielded, and the result continues in the same way. The chain may lead through nested loops, which
//! carry it too, and through branches, both of which must yield it at the same position. Then an incomplete sum cannot
//! be observed, so all values of the chain may share one tensor: the additions change it in place, and the slots are
//! removed. Outer loops are treated first, since a chain through inner ones starts there.
//!
//! # Conditions
//! * No value of the chain has other uses, including pushes on a stack.
//! * Addition must not change the type: the addend broadcasts to the accumulator.
//! * The tensor is that of the start value if the operation that defines it is in the same block, only computes it, and
//!   all its other uses come before the loop. Otherwise a copy is made before the loop (`pd.assign`).
//! * Functions of several blocks are left alone.

use pir_dialects::pd;
use pir_ir::{
    BlockId, Body, Context, DYNAMIC, Diagnostic, FlowEdit, FlowKind, FlowPoint, Module, OpId, Rewriter, Traits,
    ValueDef, ValueId,
};
use rustc_hash::FxHashSet;

use crate::analysis::has_unknown_effects;
use crate::bodies::for_each_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `inplace-accumulate`.
pub struct InplaceAccumulate;

impl Pass for InplaceAccumulate {
    fn name(&self) -> &'static str {
        "inplace-accumulate"
    }

    fn summary(&self) -> &'static str {
        "Accumulate the sums of loops in place"
    }

    fn description(&self) -> &'static str {
        "If a `pd.while` or `pd.while_grad` carries a sum only to add to it, the pass removes the carried value and \
         updates a value in front of the loop with `pd.inplace_add` instead. Sums whose intermediate values are visible \
         elsewhere are not changed, and an initial value with other uses is copied first. Run this pass at the end of a \
         pipeline: programs with in-place operations cannot be differentiated."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_body_mut(module, |ctx, body| {
            // An unknown operation might keep a reference to a value that is changed in place.
            Ok((!has_unknown_effects(ctx, body) && accumulate(ctx, body)).into())
        })
    }
}

/// A slot of a loop or a branch that a chain goes through.
struct Slot {
    /// A block of the operation; it is kept when the operation is recreated.
    block: BlockId,
    /// The operand and the argument of `cond`; none for a branch.
    carried: Option<usize>,
    /// The result; the argument of `body` for a loop.
    result: usize,
}

/// A chain that accumulates in one place.
#[derive(Default)]
struct Chain {
    /// Additions, and the index of the addend.
    additions: Vec<(OpId, usize)>,
    /// Inner ones before those around them.
    slots: Vec<Slot>,
    /// How many branches the search is in.
    branches: usize,
    /// Slots of loops that no chain goes through: nests need not be searched again for every loop around them.
    failed: FxHashSet<(BlockId, usize)>,
}

/// How deep a chain may go down into branches, and how far outside of a block uses of a value are looked at.
const MAX_DEPTH: usize = 64;

/// Uses of a start value that are looked at.
const MAX_USES: usize = 64;

/// The order of the operations in front of the current loop, as they were originally; new operations, except recreated
/// loops and branches, have no position.
struct Order(Vec<u32>);

impl Order {
    fn new(body: &Body) -> Self {
        let mut places = vec![u32::MAX; body.num_op_slots()];
        for (place, op) in body.walk_all().enumerate() {
            places[op.index()] = place as u32;
        }
        Order(places)
    }

    fn is_before(&self, a: OpId, b: OpId) -> bool {
        let place = |op: OpId| self.0.get(op.index()).copied().unwrap_or(u32::MAX);
        place(a) < place(b)
    }

    fn replace(&mut self, old: OpId, new: OpId) {
        if new.index() >= self.0.len() {
            self.0.resize(new.index() + 1, u32::MAX);
        }
        self.0[new.index()] = self.0.get(old.index()).copied().unwrap_or(u32::MAX);
    }
}

/// The operation in `block` that `op` is, or is nested in; an error when the distance is too large.
fn ancestor(body: &Body, op: OpId, block: BlockId) -> Result<Option<OpId>, ()> {
    let mut at = op;
    for _ in 0..MAX_DEPTH {
        if body.op_block(at) == Some(block) {
            return Ok(Some(at));
        }
        match body.parent_op(at) {
            Some(parent) => at = parent,
            None => return Ok(None),
        }
    }
    Err(())
}

/// Where a loop or a branch hands values on.
struct Parts {
    init: Option<BlockId>,
    first: BlockId,
    second: BlockId,
    is_loop: bool,
    /// The first operand of the terminator of `first` that is forwarded.
    passes: usize,
}

fn parts(ctx: &Context, body: &Body, op: OpId) -> Option<Parts> {
    let form = body.flow_form(ctx, op)?;
    let [Some(first), Some(second)] = form.blocks else {
        return None;
    };
    let init = match form.entry {
        Some(entry) => Some(body.single_block(entry)?),
        None => None,
    };
    Some(Parts {
        init,
        first,
        second,
        is_loop: form.kind == FlowKind::Loop,
        passes: form.passes[0],
    })
}

fn accumulate(ctx: &Context, body: &mut Body) -> bool {
    if body.region_blocks(body.root()).len() > 1 {
        return false;
    }
    let mut changed = false;
    let mut chain = Chain::default();
    let mut order = Order::new(body);
    for op in body.walk_all().collect::<Vec<_>>() {
        // Operations are recreated with fewer results; their blocks stay.
        if !body.is_alive(op) {
            continue;
        }
        if !parts(ctx, body, op).is_some_and(|p| p.is_loop) {
            continue;
        }
        let mut dropped = Vec::new();
        for carried in (0..body.num_operands(op)).rev() {
            chain.additions.clear();
            chain.slots.clear();
            if let Some(result) = through_loop(ctx, body, op, carried, &mut chain)
                && !chain.additions.is_empty()
            {
                let place = rewrite(ctx, body, &order, op, (carried, result), &chain);
                dropped.extend(chain.slots.drain(..).map(|slot| (slot, place)));
            }
        }
        if !dropped.is_empty() {
            // Places move.
            let blocks: FxHashSet<BlockId> = dropped.iter().map(|(slot, _)| slot.block).collect();
            chain.failed.retain(|(block, _)| !blocks.contains(block));
            drop_slots(ctx, body, &mut order, dropped);
            changed = true;
        }
    }
    changed
}

/// Follows a chain through a loop; gives the result that it comes out at.
fn through_loop(ctx: &Context, body: &Body, op: OpId, carried: usize, chain: &mut Chain) -> Option<usize> {
    let parts = parts(ctx, body, op).filter(|p| p.is_loop)?;
    if chain.failed.contains(&(parts.first, carried)) {
        return None;
    }
    let result = through_regions(ctx, body, op, &parts, carried, chain);
    if result.is_none() {
        chain.failed.insert((parts.first, carried));
    }
    result
}

fn through_regions(
    ctx: &Context,
    body: &Body,
    op: OpId,
    parts: &Parts,
    carried: usize,
    chain: &mut Chain,
) -> Option<usize> {
    if let Some(init) = parts.init {
        let (&arg, end) = (body.block_args(init).get(carried)?, body.last_op(init)?);
        let once = body.has_one_use(arg) && body.get_operand(end, carried) == Some(arg);
        if !once {
            return None;
        }
    }
    let &arg = body.block_args(parts.first).get(carried)?;
    // After the condition come the results.
    let result = follow(ctx, body, arg, parts.first, chain)?.checked_sub(parts.passes)?;
    let &inner = body.block_args(parts.second).get(result)?;
    // One place has one type.
    let ty = body.value_type(arg);
    let types = [body.get_operand(op, carried)?, inner];
    if result >= body.num_results(op)
        || types
            .into_iter()
            .chain([body.result(op, result)])
            .any(|v| body.value_type(v) != ty)
    {
        return None;
    }
    let arg = inner;
    if follow(ctx, body, arg, parts.second, chain)? != carried || result >= body.num_results(op) {
        return None;
    }
    chain.slots.push(Slot {
        block: parts.first,
        carried: Some(carried),
        result,
    });
    Some(result)
}

/// Follows a chain through both branches; gives the result that it comes out at.
fn through_branches(ctx: &Context, body: &Body, op: OpId, value: ValueId, chain: &mut Chain) -> Option<usize> {
    let parts = parts(ctx, body, op).filter(|p| !p.is_loop && chain.branches < MAX_DEPTH)?;
    chain.branches += 1;
    let ends = follow(ctx, body, value, parts.first, chain).zip(follow(ctx, body, value, parts.second, chain));
    chain.branches -= 1;
    let (result, other) = ends?;
    if other != result
        || result >= body.num_results(op)
        || body.value_type(body.result(op, result)) != body.value_type(value)
    {
        return None;
    }
    chain.slots.push(Slot {
        block: parts.first,
        carried: None,
        result,
    });
    Some(result)
}

/// Follows a value to the terminator of a block; gives the operand that it is there.
fn follow(ctx: &Context, body: &Body, mut value: ValueId, block: BlockId, chain: &mut Chain) -> Option<usize> {
    loop {
        // For outer values, the uses in this block matter.
        let mut first = None;
        let mut count = 0;
        for at in body.uses(value) {
            let Some(user) = ancestor(body, at.op, block).ok()? else {
                continue;
            };
            let (_, before) = *first.get_or_insert((at, user));
            count += 1;
            if user != before || count > MAX_DEPTH {
                return None;
            }
        }
        let (first, user) = first?;
        if user != first.op {
            // Used in the regions of one operation, in each branch once: each is followed by itself.
            let at = stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                through_branches(ctx, body, user, value, chain)
            })?;
            value = body.result(user, at);
            continue;
        }
        if count > 1 {
            return None;
        }
        if body.next_op(user).is_none() {
            return Some(first.index);
        }
        if ctx.op_str(body.op_name(user)) == pd::Add::NAME {
            let sum = body.result(user, 0);
            let added = 1 - first.index.min(1);
            if body.value_type(sum) != body.value_type(value) || !adds_alike(ctx, body, user, first.index, added) {
                return None;
            }
            chain.additions.push((user, added));
            value = sum;
        } else {
            let at = stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                through_loop(ctx, body, user, first.index, chain)
            })?;
            value = body.result(user, at);
        }
    }
}

/// Whether an addition is one that `pd.inplace_add` does too.
fn adds_alike(ctx: &Context, body: &Body, op: OpId, to: usize, added: usize) -> bool {
    let ty = |at| body.value_type(body.operand(op, at));
    let rank = |at| ctx.as_tensor(ty(at)).map_or(0, |(shape, _)| shape.len());
    // A value that is changed in place does not grow: where an extent is not known, the sum might be larger.
    let grows = ctx.as_tensor(ty(to)).is_some_and(|(to, _)| {
        let added = ctx.as_tensor(ty(added)).map_or(&[][..], |(shape, _)| shape);
        to.iter()
            .rev()
            .zip(added.iter().rev())
            .any(|(&to, &added)| to == DYNAMIC && added != 1)
    });
    if grows {
        return false;
    }
    // An axis aligns operands of different ranks.
    let plain = body.view(ctx, op).int("axis").is_none_or(|axis| axis == -1);
    ctx.elem_type(ty(to)) == ctx.elem_type(ty(added)) && rank(added) <= rank(to) && (plain || rank(added) == rank(to))
}

/// Whether the value that a loop starts from may be changed itself.
fn may_change(ctx: &Context, body: &Body, order: &Order, start: ValueId, op: OpId) -> bool {
    let ValueDef::Result(made_by, _) = body.value_def(start) else {
        return false;
    };
    let view = body.view(ctx, made_by);
    let (Some(block), true) = (body.op_block(op), body.op_block(made_by) == body.op_block(op)) else {
        return false;
    };
    let computes =
        view.own_effects().is_empty() && body.op_regions(made_by).is_empty() && !view.has(Traits::TERMINATOR);
    let before = |user: OpId| {
        let user = ancestor(body, user, block).ok().flatten();
        user.is_some_and(|user| order.is_before(user, op))
    };
    computes
        && view.def().is_some()
        && (body.has_one_use(start)
            || (body.uses(start).nth(MAX_USES).is_none()
                && body.uses(start).filter(|u| u.op == op).count() == 1
                && body.uses(start).all(|u| u.op == op || before(u.op))))
}

/// Adds in place what is added along a chain. Gives the value that the slots of the chain stand for, which remain to be dropped.
fn rewrite(ctx: &Context, body: &mut Body, order: &Order, op: OpId, at: (usize, usize), chain: &Chain) -> ValueId {
    let (carried, result) = at;
    let start = body.operand(op, carried);
    let own = may_change(ctx, body, order, start, op);
    let mut r = Rewriter::new(ctx, body);
    let place = if own {
        start
    } else {
        let ty = r.body.value_type(start);
        let copy = r.before(op).op(pd::Assign::NAME).operand(start).result(ty).value();
        r.take_name(start, copy);
        copy
    };
    for &(addition, added) in &chain.additions {
        let value = r.body.operand(addition, added);
        let new = r
            .before(addition)
            .op(pd::InplaceAdd::NAME)
            .operand(place)
            .operand(value)
            .build();
        if let Some(comment) = r.body.comment(addition).map(str::to_owned) {
            r.body.set_comment(new, &comment);
        }
        r.replace_op(addition, &[place]);
    }
    let outcome = r.body.result(op, result);
    r.body.replace_all_uses(outcome, place);
    // Another sum that starts from the same value does not see this one as its user.
    r.body.set_operand(op, carried, place);
    place
}

/// Removes slots; what each was bound to is in a place. Operations are recreated once for all of their slots, inner ones first.
fn drop_slots(ctx: &Context, body: &mut Body, order: &mut Order, mut slots: Vec<(Slot, ValueId)>) {
    let mut r = Rewriter::new(ctx, body);
    let place = |r: &Rewriter<'_>, slot: &Slot| {
        let op = r.body.block_parent(slot.block)?;
        order.0.get(op.index()).copied()
    };
    slots.sort_by_cached_key(|(slot, _)| std::cmp::Reverse((place(&r, slot), slot.block)));
    for slots in slots.chunk_by(|a, b| a.0.block == b.0.block) {
        let Some(op) = slots.first().and_then(|(slot, _)| r.body.block_parent(slot.block)) else {
            continue;
        };
        let (Some(form), Ok(mut edit)) = (r.body.flow_form(r.ctx, op), FlowEdit::new(r.ctx, r.body, op)) else {
            continue;
        };
        for (slot, place) in slots {
            edit.replace(r.body, FlowPoint::Parent, slot.result, *place);
            if let Some(carried) = slot.carried {
                edit.replace(r.body, form.points[0], carried, *place);
                if let Some(entry) = form.entry.and_then(|entry| r.body.region_index(entry)) {
                    edit.replace(r.body, FlowPoint::Region(entry), carried, *place);
                }
            }
        }
        if let Ok(ready) = edit.check(r.body) {
            let new = ready.apply(&mut r, &[]).op;
            order.replace(op, new);
        }
    }
}
