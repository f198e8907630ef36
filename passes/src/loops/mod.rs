//! Passes that give loops another form: `rotate-while`, `unrotate-while`, `unroll` and `peel`.
//!
//! Their subject are loops of a region that tests and one that is repeated, without an entry region; `unroll{full=true}`
//! asks for nothing but the flow of control.

mod peel;
mod rotate;
mod unroll;

use pir_ir::{
    Arith, BlockId, Body, Context, Counting, FlowPoint, OpId, Relation, Restated, Rewriter, ValueId, ValueMap,
};
use smallvec::SmallVec;

use crate::analysis::{Counter, EffectAnalysis, EffectSet, has_unknown_effects};

pub use peel::Peel;
pub use rotate::{RotateWhile, UnrotateWhile};
pub use unroll::Unroll;

type Values = SmallVec<[ValueId; 6]>;

/// A loop of two regions. The first operand of the terminator of `cond` decides whether to go on.
#[derive(Clone, Copy)]
struct Loop {
    op: OpId,
    cond: BlockId,
    test: OpId,
    body: BlockId,
    end: OpId,
    /// The region that tests.
    tests: FlowPoint,
    /// The region that is repeated.
    repeats: FlowPoint,
}

impl Loop {
    fn of(ctx: &Context, body: &Body, op: OpId) -> Option<Loop> {
        let form = body.flow_form(ctx, op)?;
        let ([cond, repeated], [tests, repeats]) = (form.loop_blocks()?, form.points);
        let flow = body.region_flow(ctx, op)?;
        let this = Loop {
            op,
            cond,
            test: body.last_op(cond)?,
            body: repeated,
            end: body.last_op(repeated)?,
            tests,
            repeats,
        };
        let decides = flow.branch_condition(body.view(ctx, op), tests, repeats)?;
        let known = decides == (body.get_operand(this.test, 0)?, true);
        (known && form.entry.is_none() && form.passes == [1, 0]).then_some(this)
    }

    /// All such loops, inner ones first. None in a body with operations whose effects are not known: these are not
    /// repeated, and what they may change is not read earlier or later.
    fn all(ctx: &Context, body: &Body) -> Vec<Loop> {
        if has_unknown_effects(ctx, body) {
            return Vec::new();
        }
        let ops = body.post_order().into_iter();
        ops.filter_map(|op| Loop::of(ctx, body, op)).collect()
    }

    /// The condition and the values that are forwarded.
    fn tested(&self, body: &Body) -> Option<(ValueId, Values)> {
        let mut operands = body.operands(self.test);
        let flag = operands.next()?;
        Some((flag, operands.collect()))
    }

    fn yielded(&self, body: &Body) -> Values {
        body.operands_vec(self.end)
    }

    /// Whether the loop contains no loop, and its cond region no branch: copying it enlarges the program by at most a
    /// factor, however deep loops are nested.
    fn is_innermost(&self, ctx: &Context, body: &Body) -> bool {
        let repeats = |op: OpId| match body.region_flow(ctx, op) {
            Some(flow) => (0..body.op_regions(op).len()).any(|r| flow.is_repeated(body.view(ctx, op), r)),
            None => !body.op_regions(op).is_empty(),
        };
        let inside = |block| body.block_region(block).into_iter().flat_map(|r| body.walk(r));
        body.block_ops(self.cond).all(|op| body.op_regions(op).is_empty()) && !inside(self.body).any(repeats)
    }

    /// Whether a handle is carried: those have their places.
    fn carries_handles(&self, ctx: &Context, body: &Body) -> bool {
        let args = body.block_args(self.cond).iter().chain(body.block_args(self.body));
        args.copied().any(|v| ctx.is_of_dialect(body.value_type(v)))
    }

    /// Whether what decides whether to go on changes nothing, so that it may be done once more.
    fn tests_quietly(&self, body: &Body, facts: &EffectAnalysis) -> bool {
        let mut ops = body.block_ops(self.cond);
        ops.all(|op| !facts.touched(op).intersects(EffectSet::WRITES | EffectSet::ALLOC))
    }
}

/// Copies the operations of a block, except for its terminator, to the insertion point, with `values` in place of its
/// arguments. Returns the mapping of the block's values.
fn copy_block(rewriter: &mut Rewriter<'_>, restated: &mut Restated, block: BlockId, values: &[ValueId]) -> ValueMap {
    let mut map = ValueMap::new();
    let args: Values = rewriter.body.block_args(block).into();
    for (arg, &value) in args.into_iter().zip(values) {
        let ty = rewriter.body.value_type(arg);
        map.insert(arg, restated.state(rewriter, value, ty));
    }
    let mut ops = rewriter.body.block_ops_vec(block);
    ops.pop();
    for op in ops {
        rewriter.clone_op(op, &mut map);
    }
    map
}

fn mapped(map: &ValueMap, values: &[ValueId]) -> Values {
    values.iter().map(|&v| map.get_or_self(v)).collect()
}

/// The result of comparing a counter with its bound `steps` iterations later; also the number that is compared.
fn flag_later(
    rewriter: &mut Rewriter<'_>,
    constants: &crate::analysis::Constants<'_>,
    flag: ValueId,
    counter: &Counter,
    steps: i64,
) -> Option<(ValueId, ValueId)> {
    let test = rewriter.body.defining_op(flag)?;
    let view = rewriter.view(test);
    let Counting::Compare(x, _, _) = view.def()?.counting?(view)? else {
        return None;
    };
    let x_first = x != counter.bound;
    let counted = if x_first { x } else { rewriter.body.operand(test, 1) };
    let number_ty = rewriter.body.value_type(counted);
    let arithmetic = rewriter.ctx.arithmetic(number_ty)?;
    let by = rewriter.ctx.int_attr(counter.step.checked_mul(steps)?);
    let at = rewriter.body.op_block(test).and_then(|b| rewriter.body.last_op(b))?;
    let by = constants.materialize(rewriter.body, at, by, number_ty)?;
    rewriter.before(at);
    let later = arithmetic.emit(rewriter, Arith::Add, &[counted, by], number_ty);
    let operands = if x_first {
        [later, counter.bound]
    } else {
        [counter.bound, later]
    };
    let again = rewriter.clone_op(test, &mut ValueMap::new());
    rewriter.body.set_operands(again, &operands);
    let flag = rewriter.body.result(again, 0);
    rewriter.body.set_value_name(flag, None);
    Some((flag, later))
}

/// Whether a number that is compared grows from iteration to iteration.
fn grows(counter: &Counter) -> bool {
    matches!(counter.relation, Relation::Less | Relation::LessEqual)
}
