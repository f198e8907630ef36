//! Operations that pick elements: each cotangent is added where the elements came from.

use pir_dialects::pd::{self, Expr, Ints, Operand, Source};
use pir_ir::Type;

use super::Rule;
use super::formula::{Cx, Op, derivative};
use super::reduce::{constant, normalise};

/// The shape of an operand for an operation that makes zeros of it: an attribute when it is known, else the operand.
macro_rules! shaped_like {
    ($options:expr, $x:expr) => {
        match $x.static_shape() {
            Some(shape) => $options.x_shape(&shape),
            None => $options.x($x),
        }
    };
}

pub(super) use shaped_like;

pub(super) const RULES: &[Rule] = &[
    derivative!(Slice, |op, g| (!slice_into(op, g)?).then(|| {
        // Computed bounds come after the sliced operand, whose shape may still be static.
        let is_computed = op.count() > 1;
        g.slice_grad_with(&op.axes().unwrap_or_default(), op.starts(), op.ends(), |o| {
            match op.x().static_shape() {
                Some(shape) if is_computed => o.like(op).x_shape(&shape).x(op.x()),
                _ => shaped_like!(o.like(op), op.x()),
            }
        })
    }))
    .complex(),
    derivative!(Gather, |op, g| {
        let axis = constant(op.axis())?;
        let back = || op.index().gather_grad_with(g, |o| shaped_like!(o.axis(axis), op.x()));
        (!add_rows(*op, pd::Gather::x, axis, op.index(), g)).then(back)
    })
    .complex(),
    derivative!(IndexSelect, |op, g| {
        let back = || {
            op.index()
                .index_select_grad_with(g, |o| shaped_like!(o.axis(op.axis()), op.x()))
        };
        (!add_rows(*op, pd::IndexSelect::x, op.axis(), op.index(), g)).then(back)
    })
    .complex(),
    derivative!(TakeAlongAxis, |op, g| {
        op.index()
            .take_along_axis_grad_with(g, |o| shaped_like!(o.axis(op.axis()), op.x()))
    })
    .complex(),
    derivative!(GatherNd, |op, g| match op.accumulator(pd::GatherNd::x) {
        Some(sum) => {
            op.accumulated(pd::GatherNd::x, sum.scatter_nd_add(op.index(), g));
            None
        }
        None => Some(op.index().gather_nd_grad_with(g, |o| shaped_like!(o, op.x()))),
    })
    .complex(),
];

/// Adds rows to the sum that has been found of the cotangents of an operand from outside of a loop, in place of a tensor of
/// zeros with these rows: what owns the sum needs the time of the rows only. Whether there is such a sum.
pub(super) fn add_rows<'c>(op: Cx<'c>, operand: Operand, axis: i64, index: Expr<'c>, rows: Expr<'c>) -> bool {
    let sum = op.accumulator(operand);
    let Some(sum) = sum.filter(|sum| index.rank() == 1 && index.ty().is_some() && rows.rank() == sum.rank()) else {
        return false;
    };
    op.accumulated(operand, sum.index_add_with(index, rows, |o| o.axis(axis)));
    true
}

/// The same for a slice along one axis, of a number of elements that is known.
fn slice_into<'c>(op: Op<'c, pd::Slice>, g: Expr<'c>) -> Result<bool, String> {
    let (Some(shape), Some(&[axis]), Some(_)) = (
        op.x().static_shape(),
        op.axes().as_deref(),
        op.accumulator(pd::Slice::x),
    ) else {
        return Ok(false);
    };
    let (axis, dropped) = (normalise(axis, shape.len())?, op.decrease_axis());
    let count = match dropped.is_empty() {
        true => op.out().dims().get(axis).copied().unwrap_or(-1),
        false => 1,
    };
    let n = shape[axis];
    let constants = |values: Vec<i64>| op.scope().full_int_array(&values);
    let is_covered = count >= 0 && n != 0 && dropped.len() <= 1;
    let index = match op.starts() {
        Ints::List(starts) if is_covered && starts.len() == 1 && op.count() == 1 => {
            let start = if starts[0] < 0 {
                (starts[0] + n).max(0)
            } else {
                starts[0].min(n)
            };
            constants((start..start + count).collect())
        }
        Ints::Value(_) if is_covered && op.is_vector_of_one(1) => {
            let (start, size) = (op.operand(1), constants(vec![n]));
            let first = match count {
                1 => start,
                _ => start + constants((0..count).collect()),
            };
            // A negative one counts from the end.
            first.remainder(size)
        }
        _ => return Ok(false),
    };
    let rows = match dropped.is_empty() {
        true => g,
        false => g.unsqueeze_with(|o| o.axis([axis as i64])),
    };
    Ok(add_rows(*op, pd::Slice::x, axis as i64, index, rows))
}

impl<'c> Cx<'c> {
    /// Whether an operand is a list of one integer of the type of indices.
    fn is_vector_of_one(self, index: usize) -> bool {
        let value = self.operand(index);
        value.dims() == [1] && value.elem() == Some(Type::I64)
    }
}
