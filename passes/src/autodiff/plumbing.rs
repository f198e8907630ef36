//! Adding and removing what passes a stack or a counter through a loop or a branch.
//!
//! What may be in the way is found by planning (`plan` and the functions that give an `Option`), before anything changes;
//! `apply` does the whole then.

use pir_dialects::pd;
use pir_ir::{FlowEdit, FlowForm, NewLane, OpId, Ready, Rewriter, Type, Use, ValueDef, ValueId};

use super::structure::Names;

/// Removes the stack that the entry region of an operation makes, if its handle is not used. Gives the operation that
/// takes its place.
pub(crate) fn remove_stack(r: &mut Rewriter<'_>, names: &Names, op: OpId) -> Option<OpId> {
    names.form(r.body, op)?.entry?;
    let mut edit = FlowEdit::new(names.ctx, r.body, op).ok()?;
    edit.remove_entry(r.body);
    Some(edit.check(r.body).ok()?.apply(r, &[]).op)
}

/// The number type of trip counts.
pub(crate) fn count_type(r: &Rewriter<'_>) -> Type {
    r.ctx.tensor(&[], Type::I64)
}

pub(crate) fn count_constant(r: &mut Rewriter<'_>, value: i64, name: &str) -> ValueId {
    let ctx = r.ctx;
    let ty = count_type(r);
    let constant = r
        .op(pd::Full::NAME)
        .attr("shape", ctx.ints_attr(&[]))
        .attr("value", ctx.int_attr(value))
        .attr("dtype", ctx.type_attr(Type::I64))
        .result(ty)
        .value();
    r.name(constant, name);
    constant
}

/// What is handed on becomes a constant more than a count.
fn step(r: &mut Rewriter<'_>, names: &Names, at: Use, count: ValueId, by: f64) -> OpId {
    let (ctx, ty) = (r.ctx, count_type(r));
    let next = r.before(at.op).op(pd::Increment::NAME).operand(count);
    let next = next.attr("value", ctx.float_attr(by)).result(ty).build();
    let value = r.body.result(next, 0);
    r.name(value, &names.spelled("trip_next"));
    r.body.set_operand(at.op, at.index, value);
    next
}

/// A loop that is to count how often its body runs.
pub(crate) struct CountTrips<'c> {
    op: OpId,
    form: FlowForm,
    ready: Ready<'c>,
    trip: NewLane,
}

impl<'c> CountTrips<'c> {
    pub(crate) fn plan(r: &Rewriter<'_>, names: &Names<'c>, op: OpId) -> Option<Self> {
        let form = names.form(r.body, op)?;
        form.loop_blocks()?;
        let mut edit = FlowEdit::new(names.ctx, r.body, op).ok()?;
        let trip = edit.carry(count_type(r));
        let ready = edit.check(r.body).ok()?;
        Some(CountTrips { op, form, ready, trip })
    }

    /// Gives the operation that takes the place of the loop, and the count.
    pub(crate) fn apply(self, r: &mut Rewriter<'_>, names: &Names) -> (OpId, ValueId) {
        let zero = count_constant(r.before(self.op), 0, &names.spelled("no_trips"));
        let done = self.ready.apply(r, &[zero]);
        for arg in done.inputs(r.body, self.trip) {
            r.name(arg, &names.spelled("trip"));
        }
        let [_, body] = self.form.points;
        let (end, count) = (
            done.operand(r.body, body, self.trip),
            done.input(r.body, body, self.trip),
        );
        step(r, names, end, count, 1.0);
        let trips = done.result(r.body, self.trip);
        r.name(trips, &names.spelled("trips"));
        (done.op, trips)
    }
}

/// Removes a counter that [`CountTrips`] made, if the count is not used: the one that is the result `at`. Gives the
/// operation that takes its place.
pub(crate) fn uncount_trips(r: &mut Rewriter<'_>, names: &Names, op: OpId, at: usize) -> Option<OpId> {
    let form = names.form(r.body, op)?;
    let [cond, body] = form.loop_blocks()?;
    let (cond_end, body_end) = (r.body.last_op(cond)?, r.body.last_op(body)?);
    let constant = |value: ValueId, name: &str, expected: f64| {
        let op = r.body.defining_op(value)?;
        let view = r.view(op);
        (view.name() == name && view.f64("value") == Some(expected)).then_some(op)
    };
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
    let start = constant(zero, pd::Full::NAME, 0.0).filter(|_| r.body.value_type(zero) == count_type(r))?;
    let increment = constant(next, pd::Increment::NAME, 1.0).filter(|&op| r.body.operand(op, 0) == count)?;
    let mut edit = FlowEdit::new(names.ctx, r.body, op).ok()?;
    edit.remove_carried(r.body, at);
    edit.erase(increment);
    let new = edit.check(r.body).ok()?.apply(r, &[]).op;
    if !r.body.has_uses(zero) {
        r.erase_op(start);
    }
    Some(new)
}

/// A value that a loop was made to carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) in_cond: ValueId,
    pub(crate) in_body: ValueId,
    /// What becomes the next one; until that is set, it stays the same.
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
        names: &Names<'c>,
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

/// A dual that is to run as often as a count says, in place of as long as a stack is not empty.
pub(crate) struct CountDown<'c> {
    empty: OpId,
    negation: OpId,
    carry: Carry<'c>,
}

impl<'c> CountDown<'c> {
    /// The dual shall carry values of the types `more` as well.
    pub(crate) fn plan(r: &Rewriter<'_>, names: &Names<'c>, dual: OpId, empty: OpId, more: &[Type]) -> Option<Self> {
        let negation = negation_of(r, empty)?;
        let types = std::iter::once(count_type(r)).chain(more.iter().copied());
        let carry = Carry::plan(r, names, dual, types)?;
        Some(CountDown { empty, negation, carry })
    }

    /// What the count is when there is nothing left, before the dual.
    pub(crate) fn zero(&self, r: &mut Rewriter<'_>, names: &Names) -> ValueId {
        count_constant(r.before(self.carry.op), 0, &names.spelled("no_trips"))
    }

    /// Gives what takes one off in the body, the number of the iteration whose turn it is; and the other values. What they
    /// start from is `initial`, the count first.
    pub(crate) fn apply(
        self,
        r: &mut Rewriter<'_>,
        names: &Names,
        zero: ValueId,
        initial: &[ValueId],
    ) -> (OpId, Vec<Carried>) {
        let mut carried = self.carry.apply(r, initial);
        let trip = carried.remove(0);
        r.name(trip.in_cond, &names.spelled("trip"));
        r.name(trip.in_body, &names.spelled("trip"));
        let truth = r.ctx.tensor(&[], Type::I1);
        let compare = r.before(self.negation).op(pd::GreaterThan::NAME);
        let more = compare.operand(trip.in_cond).operand(zero).result(truth).value();
        let old = r.body.result(self.negation, 0);
        r.name(more, "more");
        r.replace_value(old, more);
        r.erase_op(self.negation);
        r.erase_op(self.empty);
        (step(r, names, trip.yielded, trip.in_body, -1.0), carried)
    }
}

/// The only use of `cf.is_empty`, when that is a negation.
fn negation_of(r: &Rewriter<'_>, empty: OpId) -> Option<OpId> {
    let result = r.body.result(empty, 0);
    let user = r.body.only_use(result)?;
    (r.ctx.op_str(r.body.op_name(user.op)) == pd::LogicalNot::NAME).then_some(user.op)
}
