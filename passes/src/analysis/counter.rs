//! Loops that count: how often they run.

use pir_ir::{Body, Context, Counting, FlowPoint, OpId, Relation, Signedness, TypeData, ValueDef, ValueId};

/// How many constants are added to a counter in one iteration at most.
const MAX_CHAIN: usize = 16;
/// Loops of more iterations than this are not run where the program would not have run them.
const MAX_SPECULATED: u64 = 4096;

/// A value that a loop carries, changes by a constant in every iteration, and compares with a bound to know when to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    /// The region where it is decided whether to go on, and the one that runs then.
    pub(crate) regions: (usize, usize),
    /// The argument of the region where it is decided that counts.
    pub(crate) arg: ValueId,
    /// The counter at the start of the operation.
    pub(crate) start: ValueId,
    /// By how much it changes.
    pub(crate) step: i64,
    /// The increment of the counter before the comparison.
    offset: i64,
    /// Its relation to the bound while the loop continues.
    pub(crate) relation: Relation,
    /// The bound, which is defined outside of the loop.
    pub(crate) bound: ValueId,
}

fn counting(ctx: &Context, body: &Body, value: ValueId) -> Option<Counting> {
    let view = body.view(ctx, body.defining_op(value)?);
    view.def()?.counting?(view)
}

/// The numbers that a truth value compares.
pub(crate) fn compared(ctx: &Context, body: &Body, flag: ValueId) -> Option<(ValueId, Relation, ValueId)> {
    match counting(ctx, body, flag)? {
        Counting::Compare(x, relation, y) => Some((x, relation, y)),
        _ => None,
    }
}

/// The value that another one is a constant more than, as far as that can be followed.
pub(crate) fn chain(ctx: &Context, body: &Body, mut value: ValueId) -> Option<(ValueId, i64)> {
    let mut offset = 0i64;
    for _ in 0..MAX_CHAIN {
        let Some(Counting::Offset(from, by)) = counting(ctx, body, value) else {
            return Some((value, offset));
        };
        (value, offset) = (from, offset.checked_add(by)?);
    }
    None
}

/// Values of the type of a counter: the least and the greatest.
fn range(ctx: &Context, body: &Body, value: ValueId) -> Option<(i128, i128)> {
    match *ctx.type_data(ctx.elem_type(body.value_type(value))) {
        TypeData::Integer {
            sign: Signedness::Unsigned,
            ..
        } => None,
        TypeData::Integer { width, .. } if (8..=64).contains(&width) => {
            let half = 1i128 << (width - 1);
            Some((-half, half - 1))
        }
        _ => None,
    }
}

impl Counter {
    /// How a loop counts.
    pub(crate) fn of(ctx: &Context, body: &Body, op: OpId) -> Option<Counter> {
        let flow = body.region_flow(ctx, op)?;
        let view = body.view(ctx, op);
        let edges = flow.edges(view);
        // A region that leads out or to another one, which leads back.
        let out = edges.iter().find(|e| e.to == FlowPoint::Parent)?;
        let FlowPoint::Region(deciding) = out.from else {
            return None;
        };
        let mut others = edges.iter().filter(|e| e.from == out.from && e.to != FlowPoint::Parent);
        let (Some(on), None) = (others.next(), others.next()) else {
            return None;
        };
        let FlowPoint::Region(repeated) = on.to else {
            return None;
        };
        let back = edges.iter().find(|e| e.from == on.to && e.to == out.from)?;
        if edges.iter().any(|e| e.from == on.to && e != back) {
            return None;
        }
        let (flag, true) = flow.branch_condition(view, on.from, on.to)? else {
            return None;
        };
        let block = body.single_block(*body.op_regions(op).get(deciding)?)?;
        let Counting::Compare(x, relation, y) = counting(ctx, body, flag)? else {
            return None;
        };
        let is_outside = |v| body.value_block(v).is_some_and(|b| b != block);
        let (x, relation, bound) = match (is_outside(x), is_outside(y)) {
            (false, true) => (x, relation, y),
            (true, false) => (y, relation.mirrored(), x),
            _ => return None,
        };
        let (arg, offset) = chain(ctx, body, x)?;
        let ValueDef::Arg(at, index) = body.value_def(arg) else {
            return None;
        };
        if at != block || body.value_block(flag) != Some(block) {
            return None;
        }
        // Back from what the repeated region yields to its argument, and from what that comes from to the counter.
        let end = body.flow_source_op(op, on.to)?;
        let next = body.get_operand(end, back.operand_of(index as usize)?)?;
        let (inner, step) = chain(ctx, body, next)?;
        let repeated_block = body.single_block(*body.op_regions(op).get(repeated)?)?;
        let ValueDef::Arg(at, inner_index) = body.value_def(inner) else {
            return None;
        };
        let test = body.flow_source_op(op, on.from)?;
        let forwarded = body.get_operand(test, on.operand_of(inner_index as usize)?)?;
        let (origin, more) = chain(ctx, body, forwarded)?;
        if at != repeated_block || origin != arg {
            return None;
        }
        let mut sources = body.flow_sources(ctx, arg)?.into_iter().filter(|s| s.op != end);
        let (Some(source), None) = (sources.next(), sources.next()) else {
            return None;
        };
        let mut start = body.operand(source.op, source.index);
        if source.op != op {
            // By way of a region that comes first.
            let sources = body.flow_sources(ctx, start)?;
            let [source] = sources[..] else { return None };
            if source.op != op {
                return None;
            }
            start = body.operand(source.op, source.index);
        }
        Some(Counter {
            regions: (deciding, repeated),
            arg,
            start,
            step: step.checked_add(more)?,
            offset,
            relation,
            bound,
        })
    }

    /// Whether the counter itself is compared.
    pub(crate) fn is_bare(&self) -> bool {
        self.offset == 0
    }

    /// How often the loop runs, if that is a constant and nothing overflows.
    pub(crate) fn trips(&self, ctx: &Context, body: &Body) -> Option<u64> {
        let start = body.constant_int(ctx, self.start)?;
        let bound = body.constant_int(ctx, self.bound)?;
        let (least, greatest) = range(ctx, body, self.arg)?;
        let (offset, step) = (i128::from(self.offset), i128::from(self.step));
        let first = start + offset;
        // The distance to go, and how far each iteration goes.
        let (distance, stride) = match self.relation {
            Relation::Less => (bound - first, step),
            Relation::LessEqual => (bound - first + 1, step),
            Relation::Greater => (first - bound, -step),
            Relation::GreaterEqual => (first - bound + 1, -step),
            Relation::NotEqual if step != 0 && (bound - first) % step == 0 => {
                ((bound - first) * step.signum(), step.abs())
            }
            Relation::NotEqual => return None,
        };
        let trips = match (distance, stride) {
            (..=0, _) if self.relation != Relation::NotEqual || distance == 0 => 0,
            (1.., 1..) => (distance + stride - 1) / stride,
            _ => return None,
        };
        let last = start + trips * step;
        let fits = |v: i128| (least..=greatest).contains(&v);
        (fits(first) && fits(last) && fits(last + offset)).then_some(())?;
        u64::try_from(trips).ok()
    }

    /// The final value of a value of the region that decides whether to continue, if it is the counter plus a constant.
    pub(crate) fn at_end(&self, ctx: &Context, body: &Body, value: ValueId) -> Option<i64> {
        let (origin, offset) = chain(ctx, body, value)?;
        if origin != self.arg {
            return None;
        }
        let trips = i128::from(self.trips(ctx, body)?);
        let (least, greatest) = range(ctx, body, self.arg)?;
        let end = body.constant_int(ctx, self.start)? + trips * i128::from(self.step) + i128::from(offset);
        i64::try_from(end).ok().filter(|_| (least..=greatest).contains(&end))
    }
}

/// Whether a loop is certain to end soon.
pub(crate) fn ends_soon(ctx: &Context, body: &Body, op: OpId) -> bool {
    let trips = Counter::of(ctx, body, op).and_then(|c| c.trips(ctx, body));
    trips.is_some_and(|n| n <= MAX_SPECULATED)
}
