//! Views of buffers in differentiated code: an element of a `memref.subview` or `memref.cast` is one of the buffer below.
//!
//! Which buffer a load or a store is of has to be certain ([`memory`](super::memory)). So an access of a view becomes one of what it is
//! a view of, at `offset + index · stride` in each dimension; a `memref.copy` from or to a view becomes loops over its elements, and its
//! extents are the sizes that it was made with. A view that is used in another way stays, and is refused if a derivative passes through it.

use pir_dialects::mlir::{Count, arith, ints, memref, sizes};
use pir_ir::{AttrData, Body, Context, DYNAMIC, OpId, Rewriter, Type, TypeData, ValueId};
use smallvec::SmallVec;

use super::elements::each_element;
use super::memory::is_buffer;

/// The part of a buffer that a view shows.
struct View {
    source: ValueId,
    /// For each dimension of the source its offset and its stride, and which dimension of the view it is; one that it is not has extent one.
    dims: Vec<(Count, Count, Option<usize>)>,
    /// The extents of the view.
    sizes: Vec<Count>,
}

/// Rewrites accesses through views of buffers of floats.
pub(super) fn fold(ctx: &Context, body: &mut Body) {
    let views: Vec<OpId> = body
        .walk_all()
        .filter(|&op| {
            let is_view = [memref::Subview::NAME, memref::Cast::NAME].contains(&ctx.op_str(body.op_name(op)));
            is_view && body.num_results(op) == 1 && is_buffer(ctx, body.value_type(body.result(op, 0)))
        })
        .collect();
    for &op in &views {
        let result = body.result(op, 0);
        let mut r = Rewriter::new(ctx, body);
        let users: Vec<OpId> = r.body.uses(result).map(|at| at.op).collect();
        for user in users {
            // One from a view to itself is visited twice.
            if r.body.is_alive(user) && ctx.op_str(r.body.op_name(user)) == memref::Copy::NAME {
                let span = r.body.op_span(user);
                r.before(user).set_span(span);
                copy(&mut r, user);
            }
        }
    }
    // A view of a view comes first, which is then one of what that shows.
    for op in views.into_iter().rev() {
        let Some(view) = view_of(ctx, body, op) else { continue };
        let result = body.result(op, 0);
        let mut r = Rewriter::new(ctx, body);
        let users: Vec<OpId> = r.body.uses(result).map(|at| at.op).collect();
        for user in users {
            if r.body.is_alive(user) {
                let span = r.body.op_span(user);
                r.before(user).set_span(span);
                rewrite(&mut r, user, result, &view);
            }
        }
        if r.body.uses(result).next().is_none() {
            r.erase_op(op);
        }
    }
}

fn shape_of(ctx: &Context, body: &Body, value: ValueId) -> Option<Vec<i64>> {
    match ctx.type_data(body.value_type(value)) {
        TypeData::MemRef { shape: Some(shape), .. } => Some(shape.to_vec()),
        _ => None,
    }
}

fn view_of(ctx: &Context, body: &Body, op: OpId) -> Option<View> {
    let source = body.get_operand(op, 0)?;
    let shape = shape_of(ctx, body, body.result(op, 0))?;
    if ctx.op_str(body.op_name(op)) == memref::Cast::NAME {
        // Which extents the source has is asked of it.
        let same = shape_of(ctx, body, source)?.len() == shape.len();
        let dims = (0..shape.len()).map(|at| (Count::Number(0), Count::Number(1), Some(at)));
        return same.then(|| View {
            source,
            dims: dims.collect(),
            sizes: Vec::new(),
        });
    }
    let mut operands = body.operands(op).skip(1);
    let mut counts =
        |name: &str| -> Option<Vec<Count>> { Count::list(ints(ctx, body.attr(ctx, op, name)?)?, &mut operands) };
    let (offsets, extents, strides) = (
        counts("static_offsets")?,
        counts("static_sizes")?,
        counts("static_strides")?,
    );
    let mut sizes = Vec::new();
    let mut dims = Vec::new();
    for ((&offset, &extent), &stride) in offsets.iter().zip(&extents).zip(&strides) {
        let shown = match (shape.get(sizes.len()), extent) {
            (Some(&shown), Count::Number(extent)) => shown == extent,
            (Some(&shown), Count::Value(_)) => shown == DYNAMIC,
            (None, _) => false,
        };
        if !shown && !matches!(extent, Count::Number(1)) {
            return None;
        }
        dims.push((offset, stride, shown.then_some(sizes.len())));
        if shown {
            sizes.push(extent);
        }
    }
    let fits = sizes.len() == shape.len() && shape_of(ctx, body, source)?.len() == dims.len();
    fits.then_some(View { source, dims, sizes })
}

fn int(r: &mut Rewriter<'_>, name: &str, a: ValueId, b: ValueId) -> ValueId {
    r.op(name).operands([a, b]).result(Type::INDEX).value()
}

impl View {
    /// The place in the source.
    fn place(&self, r: &mut Rewriter<'_>, indices: &[ValueId]) -> Vec<ValueId> {
        let mut out = Vec::new();
        for &(offset, stride, shown) in &self.dims {
            let index = shown.and_then(|at| indices.get(at).copied());
            let Some(mut index) = index else {
                out.push(offset.value(r));
                continue;
            };
            if !matches!(stride, Count::Number(1)) {
                let stride = stride.value(r);
                index = int(r, arith::Muli::NAME, index, stride);
            }
            if !matches!(offset, Count::Number(0)) {
                let offset = offset.value(r);
                index = int(r, arith::Addi::NAME, index, offset);
            }
            out.push(index);
        }
        out
    }
}

/// Rewrites a use of the view, at the insertion point, in terms of the source.
fn rewrite(r: &mut Rewriter<'_>, user: OpId, shown: ValueId, view: &View) {
    let operands = r.body.operands_vec(user);
    match r.ctx.op_str(r.body.op_name(user)) {
        memref::Load::NAME => {
            let place = view.place(r, &operands[1..]);
            let ty = r.body.value_type(r.body.result(user, 0));
            let load = r.op(memref::Load::NAME).operand(view.source).operands(place);
            let load = load.result(ty).value();
            r.replace_op(user, &[load]);
        }
        memref::Store::NAME if operands.get(1) == Some(&shown) => {
            let place = view.place(r, &operands[2..]);
            r.op(memref::Store::NAME)
                .operands([operands[0], view.source])
                .operands(place)
                .build();
            r.erase_op(user);
        }
        memref::Dim::NAME => {
            let number = operands.get(1).and_then(|&at| r.body.constant(r.ctx, at));
            let number = number.and_then(|attr| match r.ctx.attr_data(attr) {
                AttrData::Int { value, .. } => usize::try_from(*value).ok(),
                _ => None,
            });
            if view.sizes.is_empty() {
                let ty = r.body.value_type(operands[1]);
                let dim = r.op(memref::Dim::NAME).operands([view.source, operands[1]]).result(ty);
                let dim = dim.value();
                r.replace_op(user, &[dim]);
            } else if let Some(&size) = number.and_then(|number| view.sizes.get(number)) {
                let size = size.value(r);
                r.replace_op(user, &[size]);
            }
        }
        // It is the buffer that is given back.
        memref::Dealloc::NAME if view.sizes.is_empty() => r.body.set_operand(user, 0, view.source),
        _ => {}
    }
}

/// A copy as loops, whose accesses are those of the view then.
fn copy(r: &mut Rewriter<'_>, op: OpId) {
    let (from, to) = (r.body.operand(op, 0), r.body.operand(op, 1));
    let shape = shape_of(r.ctx, r.body, from);
    let (Some(shape), TypeData::MemRef { elem, .. }) = (shape, r.ctx.type_data(r.body.value_type(from))) else {
        return;
    };
    let elem = *elem;
    let extents: SmallVec<[ValueId; 4]> = sizes(r, from).into();
    let made = each_element(r, &shape, &extents, |r, place| {
        let load = r.op(memref::Load::NAME).operand(from).operands(place.iter().copied());
        let load = load.result(elem).value();
        r.op(memref::Store::NAME)
            .operands([load, to])
            .operands(place.iter().copied())
            .build();
        Ok(())
    });
    if made.is_ok() {
        r.erase_op(op);
    }
}
