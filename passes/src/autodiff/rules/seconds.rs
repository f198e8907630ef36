//! Second derivatives of operations that PaddlePaddle differentiates once, by a gradient operation of its own.
//!
//! Gradient operations of pooling are linear in the cotangent of the pooled: their transpose pools again. That of `warpctc` multiplies
//! the cotangent of the loss with the slope that `warpctc` returned, so the slope is what has to be differentiated: it is computed
//! again, of operations with derivatives.

use pir_dialects::marks::{ABSENT_OPERANDS, ABSENT_RESULTS};
use pir_dialects::pd;
use pir_dialects::pd::Expr;
use pir_ir::ValueId;
use smallvec::SmallVec;

use super::foreign::{Given, theirs};
use super::formula::{Cx, Formula};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule(pd::RoiAlignGrad::NAME, |cx| averaged(cx, pd::RoiAlign::NAME)),
    rule(pd::PsroiPoolGrad::NAME, |cx| averaged(cx, pd::PsroiPool::NAME)),
    rule(pd::RoiPoolGrad::NAME, |cx| selected(cx, "arg_max")),
    rule(pd::FractionalMaxPool2dGrad::NAME, |cx| selected(cx, "mask")),
    rule(pd::FractionalMaxPool3dGrad::NAME, |cx| selected(cx, "mask")),
    rule(pd::Warpctc::NAME, theirs).of(ctc),
];

/// The operand that is called `name` in the definition, if it is given.
fn place(cx: &RuleCx<'_, '_>, name: &str) -> Option<usize> {
    let def = cx.ctx().op_def(cx.r.body.op_name(cx.op))?;
    Given::of(cx, def).operand(name)?.first().copied()
}

/// Averages depend on what they are of linearly: `pd.X` of the cotangent.
fn averaged(cx: &mut RuleCx<'_, '_>, name: &str) -> Result<(), String> {
    let (Some(grad), Some(target)) = (cx.grads.first().copied().flatten(), place(cx, "out_grad")) else {
        return Ok(());
    };
    let boxes = ["boxes", "boxes_num"].map(|name| place(cx, name));
    let operands: Vec<ValueId> = boxes.into_iter().flatten().map(|at| cx.operand(at)).collect();
    let ty = cx.operand_type(target);
    let attrs = ABSENT_OPERANDS.remove(cx.ctx(), cx.r.body.attrs(cx.op));
    let attrs = ABSENT_RESULTS.remove(cx.ctx(), attrs);
    let pooled = cx.r.op(name).operand(grad).operands(operands).attrs(attrs).result(ty);
    let pooled = pooled.value();
    cx.add(target, pooled)
}

/// Maxima stay where they were: the cotangent is read at these places of each channel, which are negative in empty parts.
fn selected(cx: &mut RuleCx<'_, '_>, places: &str) -> Result<(), String> {
    let at = |name: &str| place(cx, name).ok_or_else(|| format!("the operand `{name}` is missing"));
    let (x, places, target) = (at("x")?, at(places)?, at("out_grad")?);
    let counts = place(cx, "boxes_num");
    let shapes = [x, places].map(|index| cx.static_shape(index));
    let [Some(shape), Some(pooled)] = shapes else {
        return Err("it needs static shapes".to_owned());
    };
    let (&[images, channels, ref inner @ ..], &[rows, _, ref parts @ ..]) = (&shape[..], &pooled[..]) else {
        return Err("its operand must have at least two dimensions".to_owned());
    };
    let (size, count) = (inner.iter().product::<i64>(), parts.iter().product::<i64>());
    cx.formula(|op| {
        let mut planes = op.grad().reshape([images, channels, size]);
        if let Some(counts) = counts {
            planes = planes.gather(image_of(op.operand(counts), images, rows));
        } else if rows != images {
            // What `boxes_num` would determine is only in PaddlePaddle's tensor.
            op.scope().fail("it needs `boxes_num`");
        }
        let places = op.operand(places).reshape([rows, channels, count]);
        let none = places.less_than(places.zeros());
        let inside = none.select(places.zeros(), places);
        let found = planes.take_along_axis_with(inside, |o| o.axis(2));
        op.add_at(target, none.select(found.zeros(), found).reshape(&*pooled));
    })
}

/// The image of each box: the first ones are in the first, and so on.
fn image_of<'c>(counts: Expr<'c>, images: i64, boxes: i64) -> Expr<'c> {
    let numbers = counts.scope().indices(&(0..boxes).collect::<Vec<_>>());
    let ends = counts.cast_like(numbers).cumsum_with(|o| o.axis(0));
    let table = [boxes, images];
    let ends = ends.reshape([1, images]).expand(table);
    let passed = numbers.reshape([boxes, 1]).expand(table).greater_equal(ends);
    passed.cast_like(numbers).sum_with(|o| o.axis([1]))
}

/// The logarithm of an impossible event, which can be added to others.
const NEVER: f64 = -1e30;

/// Sequences of states, blanks around and between the labels, that end before the others of their batch.
struct Paths<'c> {
    /// The classes of the states, of [batch, states].
    classes: Expr<'c>,
    /// What is added to enter a state from the one before the last: zero or [`NEVER`].
    skip: Expr<'c>,
    /// The same to end in it.
    end: Expr<'c>,
    /// The lengths in time.
    times: Expr<'c>,
    batch: i64,
    states: i64,
}

impl<'c> Paths<'c> {
    fn of(op: Cx<'c>, like: Expr<'c>, blank: i64) -> Result<Self, String> {
        let [labels, times, lengths] = [1, 2, 3].map(|index| op.operand(index));
        let &[batch, most @ 1..=i64::MAX] = labels.dims() else {
            return Err("there must be labels, whose number is known".to_owned());
        };
        let states = 2 * most + 1;
        let table = [batch, states];
        let scope = op.scope();
        let numbers = scope.indices(&(0..states).collect::<Vec<_>>());
        let [labels, times, lengths] = [labels, times, lengths].map(|x| x.cast_like(numbers));
        let numbers = numbers.reshape([1, states]).expand(table);
        let last = (lengths * 2.0).reshape([batch, 1]).expand(table);
        let labels = labels.reshape([batch, most, 1]);
        let blanks = labels.filled(blank as f64);
        let pairs = scope
            .concat_with(&[blanks, labels], |o| o.axis(2))
            .reshape([batch, 2 * most]);
        let all = pairs.pad_with(&[0, 0, 0, 1], |o| o.pad_value(blank as f64));
        // What labels are filled up with may be no class.
        let classes = numbers.less_than(last).select(all, all.filled(blank as f64));
        let allowed = |mask: Expr<'c>| {
            let zeros = mask.cast_like(like).zeros();
            mask.select(zeros, zeros.filled(NEVER))
        };
        let other = classes.cut(1, 2, states).not_equal(classes.cut(1, 0, states - 2));
        let before_last = last - numbers;
        let ends = before_last
            .greater_equal(numbers.zeros())
            .logical_and(before_last.less_than(numbers.filled(2.0)));
        Ok(Paths {
            classes,
            skip: allowed(other).pad_with(&[0, 0, 2, 0], |o| o.pad_value(NEVER)),
            end: allowed(ends),
            times: times.reshape([batch, 1]),
            batch,
            states,
        })
    }

    /// Where a sequence has not ended at a time.
    fn lasts(&self, time: i64) -> Expr<'c> {
        let table = [self.batch, self.states];
        self.times.greater_than(self.times.filled(time as f64)).expand(table)
    }

    /// What comes from the state `by` before.
    fn later(&self, x: Expr<'c>, by: i64) -> Expr<'c> {
        x.cut(1, 0, self.states - by)
            .pad_with(&[0, 0, by, 0], |o| o.pad_value(NEVER))
    }

    /// What comes from the state `by` after.
    fn earlier(&self, x: Expr<'c>, by: i64) -> Expr<'c> {
        x.cut(1, by, self.states)
            .pad_with(&[0, 0, 0, by], |o| o.pad_value(NEVER))
    }

    /// Logarithms of the probabilities to be in each state, over all that was before, at each time.
    fn before(&self, emitted: &[Expr<'c>]) -> Vec<Expr<'c>> {
        let mut all: Vec<Expr<'c>> = Vec::new();
        for (time, &emitted) in (0..).zip(emitted) {
            all.push(match all.last() {
                None => {
                    let first = emitted.cut(1, 0, 2);
                    first.pad_with(&[0, 0, 0, self.states - 2], |o| o.pad_value(NEVER))
                }
                Some(&last) => {
                    let sum = either([last, self.later(last, 1), self.later(last, 2) + self.skip]);
                    self.lasts(time).select(sum + emitted, last)
                }
            });
        }
        all
    }

    /// The same over all that follows.
    fn behind(&self, emitted: &[Expr<'c>]) -> Vec<Expr<'c>> {
        let mut all = vec![self.end];
        let mut last = self.end;
        for (time, &emitted) in emitted.iter().enumerate().skip(1).rev() {
            let next = last + emitted;
            let sum = either([next, self.earlier(next, 1), self.earlier(next + self.skip, 2)]);
            last = self.lasts(time as i64).select(sum, self.end);
            all.push(last);
        }
        all.reverse();
        all
    }
}

/// The logarithm of a sum of probabilities.
fn either<'c>(logarithms: [Expr<'c>; 3]) -> Expr<'c> {
    let all = logarithms[0].scope().stack_with(&logarithms, |o| o.axis(0));
    all.logsumexp_with(|o| o.axis(&[0]))
}

/// The losses of sequences and their slopes, by the sums over paths forward and backward (A. Graves et al., 2006).
fn ctc(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    if cx.num_operands() != 4 {
        return Err("it needs the lengths of logits and labels".to_owned());
    }
    let blank = cx.view().int("blank").unwrap_or(0);
    let formula = Formula::new(cx);
    let (op, logits) = (formula.cx(), formula.cx().operand(0));
    let &[time @ 1..=i64::MAX, _, classes] = logits.dims() else {
        return Err("it needs static shapes".to_owned());
    };
    let paths = Paths::of(op, logits, blank)?;
    let (batch, states) = (paths.batch, paths.states);
    let each = [time, batch, states];
    let index = paths.classes.reshape([1, batch, states]).expand(each);
    let lines = logits.log_softmax_with(|o| o.axis(-1));
    let emitted = lines.take_along_axis_with(index, |o| o.axis(2));
    let emitted: Vec<Expr<'_>> = (0..time)
        .map(|t| emitted.cut(0, t, t + 1).reshape([batch, states]))
        .collect();
    let (before, behind) = (paths.before(&emitted), paths.behind(&emitted));
    let last = *before.last().ok_or("there are no steps")?;
    let total = (last + paths.end).logsumexp_with(|o| o.axis(&[1]).keepdim(true));
    // Without a path there is no loss.
    let possible = total.above(NEVER / 2.0).logical_and(paths.times.above(0.0));
    let total = possible.select(total, total.zeros());
    let scope = op.scope();
    let sums: Vec<Expr<'_>> = before.iter().zip(&behind).map(|(&a, &b)| a + b).collect();
    let through = scope.stack_with(&sums, |o| o.axis(1)) - total.reshape([batch, 1, 1]);
    let through = through.exp().matmul(paths.classes.one_hot(classes).cast_like(logits));
    let slope = lines.exp() - through.transpose(&[1, 0, 2]);
    let number = scope.indices(&(0..time).collect::<Vec<_>>()).reshape([time, 1, 1]);
    let counted = paths.times.reshape([1, batch, 1]).expand([time, batch, 1]);
    let counted = counted.greater_than(number.expand([time, batch, 1]));
    let counted = counted.logical_and(possible.reshape([1, batch, 1]).expand([time, batch, 1]));
    let slope = counted.expand([time, batch, classes]).select(slope, slope.zeros());
    formula.results([-total, slope])
}
