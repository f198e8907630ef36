//! Passing a stack or a counter through a loop or a branch, and the reverse.
//!
//! Planning (`plan`, and functions that return an `Option`) finds out what prevents an edit before anything changes;
//! `apply` then performs the whole.

use pir_dialects::pd;
use pir_ir::{
    Arith, BlockId, Body, FlowEdit, FlowForm, NewLane, OpId, Ready, Relation, Rewriter, Signedness, Type, TypeData,
    Use, ValueDef, ValueId,
};

use super::control_ops::{ControlOps, Kit};
use crate::analysis::{chain, compared};

/// Removes the stack that the entry region of an operation makes, if its handle is not used. Gives the operation that
/// takes its place.
pub(crate) fn remove_stack(r: &mut Rewriter<'_>, names: &ControlOps, op: OpId) -> Option<OpId> {
    names.form(r.body, op)?.entry?;
    let mut edit = FlowEdit::new(names.ctx, r.body, op).ok()?;
    edit.remove_entry(r.body);
    Some(edit.check(r.body).ok()?.apply(r, &[]).op)
}

/// Makes a forwarded value a constant more than a count.
fn step(r: &mut Rewriter<'_>, names: &ControlOps, kit: Kit, at: Use, count: ValueId, by: f64) -> OpId {
    let next = kit.arith.offset(r.before(at.op), count, by);
    let value = r.body.result(next, 0);
    r.name(value, &names.spelled("trip_next"));
    r.body.set_operand(at.op, at.index, value);
    next
}

/// A tensor in another type of the same shape.
pub(crate) fn cast(r: &mut Rewriter<'_>, value: ValueId, ty: Type) -> ValueId {
    if r.body.value_type(value) == ty {
        return value;
    }
    let elem = r.ctx.type_attr(r.ctx.elem_type(ty));
    let cast = r.op(pd::Cast::NAME).operand(value).attr("dtype", elem);
    cast.result(ty).value()
}

/// How often the body of a loop runs, counted by the loop. `carried` specifies whether the count must be a result of
/// the loop; otherwise the number by which the program itself counts the iterations may be used.
pub(crate) enum Trips<'c> {
    Counted(Box<CountTrips<'c>>),
    Own(OpId, ValueId),
}

impl<'c> Trips<'c> {
    pub(crate) fn plan(r: &Rewriter<'_>, names: &ControlOps<'c>, op: OpId, carried: bool) -> Option<Self> {
        let own = own_counter(names, r.body, op, None).filter(|_| !carried);
        if let Some(ValueDef::Arg(_, at)) = own.map(|own| r.body.value_def(own)) {
            return Some(Trips::Own(op, r.body.result(op, at as usize)));
        }
        CountTrips::plan(r, names, op).map(|plan| Trips::Counted(Box::new(plan)))
    }

    /// Gives the operation that takes the place of the loop, and the count.
    pub(crate) fn apply(self, r: &mut Rewriter<'_>, names: &ControlOps) -> (OpId, ValueId) {
        match self {
            Trips::Counted(plan) => plan.apply(r, names),
            Trips::Own(op, own) => {
                r.after(op);
                let ty = names
                    .kit
                    .map_or(r.body.value_type(own), |kit| kit.arith.count_type(r.ctx));
                let trips = cast(r, own, ty);
                if trips != own {
                    r.name(trips, &names.spelled("trips"));
                }
                (op, trips)
            }
        }
    }
}

/// A loop that is to count how often its body runs.
pub(crate) struct CountTrips<'c> {
    op: OpId,
    kit: Kit,
    form: FlowForm,
    ready: Ready<'c>,
    trip: NewLane,
}

impl<'c> CountTrips<'c> {
    pub(crate) fn plan(r: &Rewriter<'_>, names: &ControlOps<'c>, op: OpId) -> Option<Self> {
        let form = names.form(r.body, op)?;
        form.loop_blocks()?;
        let mut edit = FlowEdit::new(names.ctx, r.body, op).ok()?;
        let kit = names.kit?;
        let trip = edit.carry(kit.arith.count_type(r.ctx));
        let ready = edit.check(r.body).ok()?;
        Some(CountTrips {
            op,
            kit,
            form,
            ready,
            trip,
        })
    }

    /// Gives the operation that takes the place of the loop, and the count.
    pub(crate) fn apply(self, r: &mut Rewriter<'_>, names: &ControlOps) -> (OpId, ValueId) {
        let zero = self.kit.count(r.before(self.op), 0, &names.spelled("no_trips"));
        let done = self.ready.apply(r, &[zero]);
        for arg in done.inputs(r.body, self.trip) {
            r.name(arg, &names.spelled("trip"));
        }
        let [_, body] = self.form.points;
        let (end, count) = (
            done.operand(r.body, body, self.trip),
            done.input(r.body, body, self.trip),
        );
        step(r, names, self.kit, end, count, 1.0);
        let trips = done.result(r.body, self.trip);
        r.name(trips, &names.spelled("trips"));
        (done.op, trips)
    }
}

/// Removes a counter that [`CountTrips`] made, if the count is not used: the one that is the result `at`. Gives the
/// operation that takes its place.
pub(crate) fn uncount_trips(r: &mut Rewriter<'_>, names: &ControlOps, op: OpId, at: usize) -> Option<OpId> {
    let form = names.form(r.body, op)?;
    let [cond, body] = form.loop_blocks()?;
    let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
    let kit = names.kit?;
    // The count goes straight through the condition, and one is added to it in the body.
    let through = r.body.get_operand(cond_end, form.passes[0] + at)?;
    let ValueDef::Arg(_, slot) = r.body.value_def(through) else {
        return None;
    };
    let (zero, count) = (
        r.body.get_operand(op, slot as usize)?,
        *r.body.block_args(body).get(at)?,
    );
    let next = r.body.get_operand(body_end, slot as usize)?;
    let (start, increment) = (r.body.defining_op(zero)?, r.body.defining_op(next)?);
    let counts = r.body.value_type(zero) == kit.arith.count_type(r.ctx)
        && r.body.constant_int(r.ctx, zero) == Some(0)
        && kit.arith.offset_of(r.view(increment)) == Some(1.0)
        && r.body.operand(increment, 0) == count;
    counts.then_some(())?;
    let mut edit = FlowEdit::new(names.ctx, r.body, op).ok()?;
    edit.remove_carried(r.body, at);
    edit.erase(increment);
    let new = edit.check(r.body).ok()?.apply(r, &[]).op;
    if !r.body.has_uses(zero) {
        r.erase_op(start);
    }
    Some(new)
}

/// An argument of the repeated region of a loop.
pub(crate) struct InLoop {
    pub(crate) start: ValueId,
    /// The argument of the region that decides, which is forwarded as it is.
    pub(crate) tested: ValueId,
    /// Its value in the next iteration.
    pub(crate) next: ValueId,
}

/// Where a loop takes an argument of the region that is repeated from.
pub(crate) fn place_in_loop(names: &ControlOps<'_>, body: &Body, op: OpId, arg: ValueId) -> Option<InLoop> {
    let form = names.form(body, op)?;
    let [cond, repeated] = form.loop_blocks()?;
    let slot_of = |value: ValueId, block: BlockId| match body.value_def(value) {
        ValueDef::Arg(of, at) if of == block => Some(at as usize),
        _ => None,
    };
    let at = slot_of(arg, repeated)?;
    let tested = body.get_operand(body.last_op(cond)?, form.passes[0] + at)?;
    let slot = slot_of(tested, cond)?;
    Some(InLoop {
        start: body.get_operand(op, slot)?,
        tested,
        next: body.get_operand(body.last_op(repeated)?, form.passes[1] + slot)?,
    })
}

/// The argument in which a loop itself numbers its iterations from zero: an integer that is less than something in each
/// of them, so that adding one does not overflow. Not `other`.
pub(crate) fn own_counter(names: &ControlOps<'_>, body: &Body, op: OpId, other: Option<ValueId>) -> Option<ValueId> {
    let [cond, repeated] = names.form(body, op)?.loop_blocks()?;
    // The conditions of which all must hold.
    let mut holds = vec![body.get_operand(body.last_op(cond)?, 0)?];
    let mut next = 0;
    while let Some(&flag) = holds.get(next).filter(|_| next < MAX_CONDITIONS) {
        next += 1;
        if let Some(op) = body.defining_op(flag)
            && let Some(arithmetic) = names.ctx.arithmetic(body.value_type(flag))
            && arithmetic.is(body.view(names.ctx, op), Arith::And)
        {
            holds.extend(body.operands(op));
        }
    }
    let is_less = |value: ValueId| {
        holds.iter().any(|&flag| match compared(names.ctx, body, flag) {
            Some((x, Relation::Less, _)) => x == value,
            Some((_, Relation::Greater, y)) => y == value,
            _ => false,
        })
    };
    let is_signed = |value: ValueId| match *names.ctx.type_data(names.ctx.elem_type(body.value_type(value))) {
        TypeData::Integer { width, sign } => width >= 32 && sign != Signedness::Unsigned,
        _ => false,
    };
    let scalar = |value: ValueId| {
        let shape = names.ctx.as_tensor(body.value_type(value));
        shape.is_some_and(|(shape, _)| shape.is_empty())
    };
    let mut args = body.block_args(repeated).iter().copied();
    args.find(|&arg| {
        Some(arg) != other
            && is_signed(arg)
            && scalar(arg)
            && place_in_loop(names, body, op, arg).is_some_and(|place| {
                body.constant_int(names.ctx, place.start) == Some(0)
                    && chain(names.ctx, body, place.next) == Some((arg, 1))
                    && is_less(place.tested)
            })
    })
}

/// How many conditions of a loop are looked at.
const MAX_CONDITIONS: usize = 16;

/// A value that a loop was made to carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) in_cond: ValueId,
    pub(crate) in_body: ValueId,
    /// The operand that becomes its next value; until it is set, the value stays the same.
    pub(crate) yielded: Use,
    /// The result of the loop that it ends in.
    pub(crate) result_at: usize,
}

/// A loop that is to carry more values.
pub(crate) struct Carry<'c> {
    op: OpId,
    form: FlowForm,
    ready: Ready<'c>,
    lanes: Vec<NewLane>,
}

impl<'c> Carry<'c> {
    pub(crate) fn plan(
        r: &Rewriter<'_>,
        names: &ControlOps<'c>,
        op: OpId,
        types: impl IntoIterator<Item = Type>,
    ) -> Option<Self> {
        let form = names.form(r.body, op)?;
        form.loop_blocks()?;
        let mut edit = FlowEdit::new(names.ctx, r.body, op).ok()?;
        let lanes = types.into_iter().map(|ty| edit.carry(ty)).collect();
        let ready = edit.check(r.body).ok()?;
        Some(Carry { op, form, ready, lanes })
    }

    pub(crate) fn apply(self, r: &mut Rewriter<'_>, initial: &[ValueId]) -> Vec<Carried> {
        let done = self.ready.apply(r, initial);
        let [cond, body] = self.form.points;
        let carried = |&lane: &NewLane| Carried {
            in_cond: done.input(r.body, cond, lane),
            in_body: done.input(r.body, body, lane),
            yielded: done.operand(r.body, body, lane),
            result_at: done.result_at(lane),
        };
        self.lanes.iter().map(carried).collect()
    }
}

/// A dual whose trip count is a counter, instead of the size of a stack.
pub(crate) struct CountDown<'c> {
    kit: Kit,
    empty: OpId,
    negation: OpId,
    carry: Carry<'c>,
}

impl<'c> CountDown<'c> {
    /// The dual shall carry values of the types `more` as well.
    pub(crate) fn plan(
        r: &Rewriter<'_>,
        names: &ControlOps<'c>,
        dual: OpId,
        empty: OpId,
        more: &[Type],
    ) -> Option<Self> {
        let kit = names.kit?;
        // It is only asked whether there is more.
        let negation = r.body.only_use(r.body.result(empty, 0))?.op;
        kit.arith.is(r.view(negation), Arith::Not).then_some(())?;
        let types = std::iter::once(kit.arith.count_type(r.ctx)).chain(more.iter().copied());
        let carry = Carry::plan(r, names, dual, types)?;
        Some(CountDown {
            kit,
            empty,
            negation,
            carry,
        })
    }

    /// The count when nothing is left, before the dual.
    pub(crate) fn zero(&self, r: &mut Rewriter<'_>, names: &ControlOps) -> ValueId {
        self.kit.count(r.before(self.carry.op), 0, &names.spelled("no_trips"))
    }

    /// Gives what takes one off in the body, the number of the iteration whose turn it is; and the other values. What they
    /// start from is `initial`, the count first.
    pub(crate) fn apply(
        self,
        r: &mut Rewriter<'_>,
        names: &ControlOps,
        zero: ValueId,
        initial: &[ValueId],
    ) -> (OpId, Vec<Carried>) {
        let mut carried = self.carry.apply(r, initial);
        let trip = carried.remove(0);
        r.name(trip.in_cond, &names.spelled("trip"));
        r.name(trip.in_body, &names.spelled("trip"));
        let more = (self.kit).compare(r.before(self.negation), Arith::Greater, trip.in_cond, zero);
        let old = r.body.result(self.negation, 0);
        r.name(more, "more");
        r.replace_value(old, more);
        r.erase_op(self.negation);
        r.erase_op(self.empty);
        (step(r, names, self.kit, trip.yielded, trip.in_body, -1.0), carried)
    }
}
