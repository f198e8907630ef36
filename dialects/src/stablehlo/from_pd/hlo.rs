//! Operations of StableHLO, emitted as expressions. What else a row computes with is written in operations of `pd`, which are converted in
//! turn.

use pir_ir::{Attr, AttrData, Context, ElementsBuilder, ElementsForm, RegionId, Rewriter, Type, TypeData};

use super::super::ops;
use super::Cx;
use crate::pd::{Building, Expr, ExprScope};

/// Builders of operations with regions, which [`ExprScope`] does not provide.
pub(super) trait Build {
    fn with(&self, f: &mut dyn FnMut(&mut Rewriter<'_>));
}

impl Build for Building<'_, '_> {
    fn with(&self, f: &mut dyn FnMut(&mut Rewriter<'_>)) {
        Building::with(self, |r| f(r));
    }
}

/// `array<i64: 1, 0>`
pub fn array(ctx: &Context, list: &[i64]) -> Attr {
    numbers(ctx, Type::I64, list.iter().map(|&n| n as u64), ElementsForm::Array)
}

/// `dense<[[0, 1]]> : tensor<1x2xi64>`, the padding of windows.
pub(super) fn pairs(ctx: &Context, list: &[(i64, i64)]) -> Attr {
    let ty = ctx.tensor(&[list.len() as i64, 2], Type::I64);
    let flat = list.iter().flat_map(|&(low, high)| [low as u64, high as u64]);
    numbers(ctx, ty, flat, ElementsForm::Dense)
}

/// `#stablehlo<comparison_direction LT>`
pub fn dialect(ctx: &Context, text: &str) -> Attr {
    ctx.attr(AttrData::Opaque(format!("#stablehlo{text}").into()))
}

/// A constant of the lowest bits of each number.
fn numbers(ctx: &Context, ty: Type, bits: impl Iterator<Item = u64>, form: ElementsForm) -> Attr {
    let elem = ctx.elem_type(ty);
    let part = ctx.complex_part(elem).unwrap_or(elem);
    let bits_of = |elem| {
        if elem == Type::INDEX {
            Some(64)
        } else {
            width(ctx, elem)
        }
    };
    let bytes = bits_of(part).map_or(1, |width| width.div_ceil(8));
    let made = ElementsBuilder::new(0).ok().and_then(|mut builder| {
        for bits in bits {
            builder.push(bits, bytes).ok()?;
        }
        builder.finish(ctx, ty, form).ok()
    });
    // Without memory there is nothing to do but omit the attribute: the verifier reports it.
    made.map_or_else(
        || ctx.attr(AttrData::Unit),
        |elements| ctx.attr(AttrData::Elements(elements)),
    )
}

/// The bits of a number.
pub(in super::super) fn width(ctx: &Context, elem: Type) -> Option<usize> {
    match *ctx.type_data(elem) {
        TypeData::Integer { width, .. } => Some(width as usize),
        TypeData::Float(kind) => Some(kind.bits() as usize),
        _ => None,
    }
}

/// A number of an element type as bits; integers saturate.
fn bits(ctx: &Context, elem: Type, number: Num) -> Option<u64> {
    match (ctx.type_data(elem), number) {
        (TypeData::Integer { width: 1, .. }, Num::Int(n)) => Some((n != 0).into()),
        (TypeData::Integer { width: 1, .. }, Num::Float(n)) => Some((n != 0.0).into()),
        (TypeData::Integer { .. }, Num::Int(n)) => Some(n as u64),
        (TypeData::Integer { .. }, Num::Float(n)) => Some(n as i64 as u64),
        (TypeData::Float(kind), Num::Int(n)) => kind.encode(n as f64),
        (TypeData::Float(kind), Num::Float(n)) => kind.encode(n),
        _ => None,
    }
}

/// A number of a constant.
#[derive(Clone, Copy)]
pub(in super::super) enum Num {
    Int(i64),
    Float(f64),
}

/// A scalar, repeated to a shape.
pub(super) fn filled<'c>(scope: ExprScope<'c>, dims: &[i64], elem: Type, number: Num) -> Expr<'c> {
    if dims.contains(&0) {
        return constant(scope, dims, elem, std::iter::empty());
    }
    spread(constant(scope, &[], elem, std::iter::once(number)), dims)
}

/// A constant of these elements.
pub(super) fn constant<'c>(
    scope: ExprScope<'c>,
    dims: &[i64],
    elem: Type,
    list: impl Iterator<Item = Num>,
) -> Expr<'c> {
    let ctx = scope.context();
    let ty = ctx.tensor(dims, elem);
    // The imaginary parts are zero.
    let zero = ctx.is_complex(elem).then_some(Num::Float(0.0));
    let part = ctx.complex_part(elem).unwrap_or(elem);
    let list = list.flat_map(|number| std::iter::once(number).chain(zero));
    let list: Option<Vec<u64>> = list.map(|number| bits(ctx, part, number)).collect();
    match list {
        Some(list) => {
            let value = numbers(ctx, ty, list.into_iter(), ElementsForm::Dense);
            emit(scope, ops::Constant::NAME, &[], &[("value", value)], ty)
        }
        None => scope.fail("constants of this element type are not supported"),
    }
}

/// `dense<…>` of these elements, or of one that all are.
pub(in super::super) fn dense(ctx: &Context, ty: Type, list: &[Num]) -> Option<Attr> {
    let elem = ctx.elem_type(ty);
    let list: Option<Vec<u64>> = list.iter().map(|&number| bits(ctx, elem, number)).collect();
    Some(numbers(ctx, ty, list?.into_iter(), ElementsForm::Dense))
}

/// How LAPACK has tensors in memory, the dimension whose elements are neighbours first: matrices, which have as many dimensions as
/// `rank` gives, by columns.
pub fn layouts(ctx: &Context, rank: usize, types: &[Type]) -> Option<Attr> {
    let layout = |&ty: &Type| {
        let own = ctx.as_tensor(ty)?.0.len();
        let mut order: Vec<i64> = (0..own as i64).rev().collect();
        if own == rank && rank >= 2 {
            order.swap(0, 1);
        }
        let order: Vec<u64> = order.into_iter().map(|dim| dim as u64).collect();
        let ty = ctx.tensor(&[own as i64], Type::INDEX);
        Some(numbers(ctx, ty, order.into_iter(), ElementsForm::Dense))
    };
    let all: Option<Vec<Attr>> = types.iter().map(layout).collect();
    Some(ctx.attr(AttrData::Array(all?.into())))
}

/// Emits an operation with one result.
pub(super) fn emit<'c>(
    scope: ExprScope<'c>,
    name: &str,
    operands: &[Expr<'c>],
    attrs: &[(&str, Attr)],
    ty: Type,
) -> Expr<'c> {
    let values: Option<Vec<_>> = operands.iter().map(|x| x.id()).collect();
    let results = values.map(|values| scope.build(name, &values, attrs, Some(ty)));
    results
        .and_then(|results| results.first().copied())
        .unwrap_or(scope.nothing())
}

/// The type of a tensor of the elements of an expression.
fn shaped(x: Expr<'_>, dims: &[i64]) -> Type {
    x.scope().context().tensor(dims, x.elem().unwrap_or(Type::NONE))
}

/// An operation whose result has the type of the operand.
pub(super) fn unary<'c>(name: &str, x: Expr<'c>) -> Expr<'c> {
    emit(x.scope(), name, &[x], &[], shaped(x, x.dims()))
}

/// An operation of two tensors, which are broadcast to a shape.
pub(super) fn binary<'c>(name: &str, x: Expr<'c>, y: Expr<'c>, dims: &[i64]) -> Expr<'c> {
    let (x, y) = (spread(x, dims), spread(y, dims));
    emit(x.scope(), name, &[x, y], &[], shaped(x, dims))
}

/// A comparison of two tensors, which are broadcast to a shape.
pub(super) fn compare<'c>(direction: &str, x: Expr<'c>, y: Expr<'c>, dims: &[i64]) -> Expr<'c> {
    let (x, y, ctx) = (spread(x, dims), spread(y, dims), x.scope().context());
    let kind = match x.elem().map(|elem| ctx.type_data(elem)) {
        Some(TypeData::Float(_) | TypeData::Complex(_)) => "FLOAT",
        Some(TypeData::Integer { width: 1, .. }) => "UNSIGNED",
        Some(TypeData::Integer { sign, .. }) if *sign == pir_ir::Signedness::Unsigned => "UNSIGNED",
        _ => "SIGNED",
    };
    let attrs = [
        ("compare_type", dialect(ctx, &format!("<comparison_type {kind}>"))),
        (
            "comparison_direction",
            dialect(ctx, &format!("<comparison_direction {direction}>")),
        ),
    ];
    emit(
        x.scope(),
        ops::Compare::NAME,
        &[x, y],
        &attrs,
        ctx.tensor(dims, Type::I1),
    )
}

/// Broadcasts by the rules of `pd`: dimensions are aligned at the end.
pub(super) fn spread<'c>(x: Expr<'c>, dims: &[i64]) -> Expr<'c> {
    let Some(lead) = dims.len().checked_sub(x.rank()) else {
        return x.scope().fail("an operand has more dimensions than the result");
    };
    let map: Vec<i64> = (lead..dims.len()).map(|at| at as i64).collect();
    spread_along(x, &map, dims)
}

/// Broadcasts with the places of the operand's dimensions.
pub(super) fn spread_along<'c>(x: Expr<'c>, map: &[i64], dims: &[i64]) -> Expr<'c> {
    if x.dims() == dims && map.iter().enumerate().all(|(at, &to)| at as i64 == to) {
        return x;
    }
    let map = array(x.scope().context(), map);
    let attrs = [("broadcast_dimensions", map)];
    emit(x.scope(), ops::BroadcastInDim::NAME, &[x], &attrs, shaped(x, dims))
}

pub(super) fn reshaped<'c>(x: Expr<'c>, dims: &[i64]) -> Expr<'c> {
    match x.dims() == dims {
        true => x,
        false => emit(x.scope(), ops::Reshape::NAME, &[x], &[], shaped(x, dims)),
    }
}

pub(super) fn converted<'c>(x: Expr<'c>, elem: Type) -> Expr<'c> {
    let ctx = x.scope().context();
    let part = x.elem().and_then(|elem| ctx.complex_part(elem));
    if let Some(part) = part.filter(|_| !ctx.is_complex(elem)) {
        let real = emit(x.scope(), ops::Real::NAME, &[x], &[], ctx.tensor(x.dims(), part));
        return converted(real, elem);
    }
    match x.elem() == Some(elem) {
        true => x,
        false => {
            let ty = x.scope().context().tensor(x.dims(), elem);
            emit(x.scope(), ops::Convert::NAME, &[x], &[], ty)
        }
    }
}

pub(super) fn transposed<'c>(x: Expr<'c>, order: &[i64]) -> Expr<'c> {
    if order.len() != x.rank() || order.is_sorted() {
        return x;
    }
    let dims: Vec<i64> = order.iter().map(|&at| x.dims()[at as usize]).collect();
    let attrs = [("permutation", array(x.scope().context(), order))];
    emit(x.scope(), ops::Transpose::NAME, &[x], &attrs, shaped(x, &dims))
}

pub(super) fn reversed<'c>(x: Expr<'c>, axes: &[i64]) -> Expr<'c> {
    if axes.is_empty() {
        return x;
    }
    let attrs = [("dimensions", array(x.scope().context(), axes))];
    emit(x.scope(), ops::Reverse::NAME, &[x], &attrs, shaped(x, x.dims()))
}

/// `starts[i] + k * strides[i]`, as far as it is below `ends[i]`, along each dimension.
pub(super) fn sliced<'c>(x: Expr<'c>, starts: &[i64], ends: &[i64], strides: &[i64]) -> Expr<'c> {
    let ctx = x.scope().context();
    let dims: Vec<i64> = (0..x.rank())
        .map(|at| (ends[at] - starts[at] + strides[at] - 1) / strides[at])
        .collect();
    if dims == x.dims() {
        return x;
    }
    let attrs = [
        ("limit_indices", array(ctx, ends)),
        ("start_indices", array(ctx, starts)),
        ("strides", array(ctx, strides)),
    ];
    emit(x.scope(), ops::Slice::NAME, &[x], &attrs, shaped(x, &dims))
}

/// The elements `start..end` along one dimension.
pub(super) fn cut<'c>(x: Expr<'c>, axis: usize, start: i64, end: i64) -> Expr<'c> {
    let mut starts = vec![0; x.rank()];
    let mut ends = x.dims().to_vec();
    match ends.get_mut(axis) {
        Some(last) => (starts[axis], *last) = (start, end),
        None => return x.scope().fail("there is no such dimension"),
    }
    sliced(x, &starts, &ends, &vec![1; x.rank()])
}

pub(super) fn joined<'c>(scope: ExprScope<'c>, parts: &[Expr<'c>], axis: usize) -> Expr<'c> {
    let &[first, ..] = parts else {
        return scope.fail("there are no operands to concatenate");
    };
    let mut dims = first.dims().to_vec();
    match (dims.get_mut(axis), parts) {
        (_, [one]) => return *one,
        (Some(dim), _) => {
            *dim = parts
                .iter()
                .map(|part| part.dims().get(axis).copied().unwrap_or(0))
                .sum()
        }
        (None, _) => return scope.fail("there is no such dimension"),
    }
    let attrs = [("dimension", scope.context().int_attr(axis as i64))];
    emit(scope, ops::Concatenate::NAME, parts, &attrs, shaped(first, &dims))
}

/// Puts a value around and between elements: for each dimension how many before, after and between.
pub(super) fn padded<'c>(x: Expr<'c>, value: Expr<'c>, widths: &[(i64, i64, i64)]) -> Expr<'c> {
    let ctx = x.scope().context();
    let dims: Vec<i64> = (x.dims().iter().zip(widths))
        .map(|(&dim, &(low, high, inner))| low + high + dim + (dim - 1).max(0) * inner)
        .collect();
    if widths.iter().all(|&widths| widths == (0, 0, 0)) {
        return x;
    }
    let list = |f: fn(&(i64, i64, i64)) -> i64| array(ctx, &widths.iter().map(f).collect::<Vec<_>>());
    let attrs = [
        ("edge_padding_high", list(|w| w.1)),
        ("edge_padding_low", list(|w| w.0)),
        ("interior_padding", list(|w| w.2)),
    ];
    emit(x.scope(), ops::Pad::NAME, &[x, value], &attrs, shaped(x, &dims))
}

/// Numbers from zero along a dimension.
pub(super) fn iota<'c>(scope: ExprScope<'c>, dims: &[i64], axis: usize, elem: Type) -> Expr<'c> {
    let ctx = scope.context();
    let attrs = [("iota_dimension", ctx.int_attr(axis as i64))];
    emit(scope, ops::Iota::NAME, &[], &attrs, ctx.tensor(dims, elem))
}

/// A vector of one element in place of a scalar.
pub(super) fn vector(x: Expr<'_>) -> Expr<'_> {
    if x.rank() == 0 { reshaped(x, &[1]) } else { x }
}

/// Windows that slide over a tensor: for each dimension their size, the distance between them, and the padding.
pub(super) struct Frame {
    pub(super) sizes: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) padding: Vec<(i64, i64)>,
}

impl Frame {
    /// All elements up to each along a dimension.
    pub(super) fn up_to(dims: &[i64], axis: usize) -> Self {
        let mut sizes = vec![1; dims.len()];
        sizes[axis] = dims[axis];
        let mut padding = vec![(0, 0); dims.len()];
        padding[axis].0 = dims[axis] - 1;
        let strides = vec![1; dims.len()];
        Frame {
            sizes,
            strides,
            padding,
        }
    }
}

impl<'c> Cx<'c> {
    /// A region of one block.
    pub(super) fn region(&self, types: &[Type], f: impl FnOnce(&[Expr<'c>]) -> Vec<Expr<'c>>) -> Option<RegionId> {
        let (mut made, mut args, mut before) = (None, Vec::new(), None);
        self.build.with(&mut |r| {
            let region = r.body.create_region();
            let block = r.body.create_block(region);
            args = types.iter().map(|&ty| r.body.add_block_arg(block, ty, None)).collect();
            before = Some(r.point());
            r.at_end(block);
            made = Some(region);
        });
        let args: Vec<Expr<'c>> = args.into_iter().map(|value| self.scope.expr(value)).collect();
        let values: Option<Vec<_>> = f(&args).into_iter().map(Expr::id).collect();
        self.build.with(&mut |r| {
            r.op(ops::Return::NAME)
                .operands(values.iter().flatten().copied())
                .build();
            if let Some(before) = before {
                r.set_point(before);
            }
        });
        made
    }

    /// Emits an operation with regions.
    pub(super) fn with_regions(
        &self,
        name: &str,
        operands: &[Expr<'c>],
        attrs: &[(&str, Attr)],
        regions: &[Option<RegionId>],
        types: &[Type],
    ) -> Vec<Expr<'c>> {
        let values: Option<Vec<_>> = operands.iter().map(|x| x.id()).collect();
        let Some(values) = values else { return Vec::new() };
        let mut results = Vec::new();
        self.build.with(&mut |r| {
            let mut op = r
                .op(name)
                .operands(values.iter().copied())
                .results(types.iter().copied());
            for &(name, attr) in attrs {
                op = op.attr(name, attr);
            }
            for &region in regions.iter().flatten() {
                op = op.region(region);
            }
            let op = op.build();
            results = r.body.results(op).collect();
        });
        results.into_iter().map(|value| self.scope.expr(value)).collect()
    }

    /// The result of an operation with a region.
    pub(super) fn with_region(
        &self,
        name: &str,
        operands: &[Expr<'c>],
        attrs: &[(&str, Attr)],
        region: Option<RegionId>,
        ty: Type,
    ) -> Expr<'c> {
        let results = self.with_regions(name, operands, attrs, &[region], &[ty]);
        results.first().copied().unwrap_or(self.scope.nothing())
    }

    /// Combines the elements of windows; the operands are tensors and what each starts from.
    pub(super) fn reduce_windows(
        &self,
        operands: &[Expr<'c>],
        frame: &Frame,
        region: Option<RegionId>,
        types: &[Type],
    ) -> Vec<Expr<'c>> {
        let ctx = self.ctx();
        let ones = array(ctx, &vec![1; frame.sizes.len()]);
        let attrs = [
            ("base_dilations", ones),
            ("padding", pairs(ctx, &frame.padding)),
            ("window_dilations", ones),
            ("window_dimensions", array(ctx, &frame.sizes)),
            ("window_strides", array(ctx, &frame.strides)),
        ];
        self.with_regions(ops::ReduceWindow::NAME, operands, &attrs, &[region], types)
    }

    /// Combines the elements of windows by an operation.
    pub(super) fn fold_windows(&self, name: &str, x: Expr<'c>, init: Num, frame: &Frame, dims: &[i64]) -> Expr<'c> {
        let elem = x.elem().unwrap_or(Type::NONE);
        let init = filled(self.scope, &[], elem, init);
        let region = self.combiner(name, elem);
        let results = self.reduce_windows(&[x, init], frame, region, &[shaped(x, dims)]);
        results.first().copied().unwrap_or(self.scope.nothing())
    }

    /// The elements of a scalar type, combined by an operation.
    pub(super) fn combiner(&self, name: &str, elem: Type) -> Option<RegionId> {
        let scalar = self.ctx().tensor(&[], elem);
        self.region(&[scalar, scalar], |args| match args {
            &[x, y] => vec![binary(name, x, y, &[])],
            _ => Vec::new(),
        })
    }

    /// Combines the elements along some dimensions, which go.
    pub(super) fn reduce(&self, name: &str, x: Expr<'c>, init: Num, axes: &[i64]) -> Expr<'c> {
        let elem = x.elem().unwrap_or(Type::NONE);
        if axes.is_empty() {
            return x;
        }
        let kept = (0..x.rank()).filter(|&at| !axes.contains(&(at as i64)));
        let dims: Vec<i64> = kept.map(|at| x.dims()[at]).collect();
        let init = filled(self.scope, &[], elem, init);
        let region = self.combiner(name, elem);
        let attrs = [("dimensions", array(self.ctx(), axes))];
        self.with_region(ops::Reduce::NAME, &[x, init], &attrs, region, shaped(x, &dims))
    }
}
