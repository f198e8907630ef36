//! Facts about a program that follow from the shapes of its inputs: the integers that it computes shapes with, the types of results, and
//! which operation of static shape takes the place of one whose shape is computed.

use pir_ir::{
    Attr, AttrData, AttrDict, Context, DYNAMIC, FlowEdge, FlowPoint, Module, OpId, OpView, Rewriter, Type, TypeData,
    ValueId,
};
use smallvec::{SmallVec, smallvec};

use super::attrs::{Attrs, List};
use super::dims::{Dot, Gather, convolution_places, window_places};
use super::from_pd::{Num, array, dense, width};
use super::infer::are_dims;
use super::ops;

/// The elements of a small tensor of integers or truth values.
pub type Ints = SmallVec<[i64; 6]>;

/// Looks up a known value.
pub type Known<'k> = dyn Fn(ValueId) -> Option<Ints> + 'k;

/// Shapes have no more dimensions than that, and are computed with no larger tensors.
const MAX_INTS: i64 = 64;

fn attrs(op: OpView<'_>) -> Attrs<'_> {
    Attrs {
        ctx: op.ctx,
        dict: op.body.attrs(op.op),
    }
}

fn tensor(op: OpView<'_>, index: usize) -> Option<(&[i64], Type)> {
    op.ctx.as_tensor(op.operand_type(index)?)
}

/// The number of elements of a static type of integers or truth values, if that are few.
fn few(op: OpView<'_>, ty: Type) -> Option<(usize, u32)> {
    let (dims, elem) = op.ctx.as_tensor(ty)?;
    let &TypeData::Integer { width, .. } = op.ctx.type_data(elem) else {
        return None;
    };
    let count = dims.iter().try_fold(1i64, |n, &dim| match dim {
        DYNAMIC => None,
        dim => n.checked_mul(dim).filter(|&n| n <= MAX_INTS),
    })?;
    Some((count as usize, width))
}

/// The elements of the result of an operation that computes shapes.
pub fn integers(op: OpView<'_>, known: &Known<'_>) -> Option<Ints> {
    let (count, width) = few(op, op.result_type(0)?)?;
    let x = |index: usize| known(op.operand(index)?);
    let values: Ints = match op.name() {
        ops::Constant::NAME => super::attrs::integers(op.ctx, op.attr("value")?)?,
        ops::GetDimensionSize::NAME => {
            let at = usize::try_from(attrs(op).int("dimension").ok()?).ok()?;
            smallvec![tensor(op, 0)?.0.get(at).copied().filter(|&dim| dim != DYNAMIC)?]
        }
        ops::Reshape::NAME => x(0)?,
        ops::Convert::NAME => {
            few(op, op.operand_type(0)?)?;
            x(0)?
        }
        ops::BroadcastInDim::NAME if x(0)?.len() == 1 => SmallVec::from_elem(x(0)?[0], count),
        ops::Concatenate::NAME if attrs(op).int("dimension") == Ok(0) => {
            let parts = op.body.operands(op.op).map(known);
            parts.collect::<Option<Vec<Ints>>>()?.concat().into()
        }
        ops::Slice::NAME if tensor(op, 0)?.0.len() == 1 => {
            let one = |name| attrs(op).list(name).ok()?.first().copied();
            let stride = usize::try_from(one("strides")?).ok().filter(|&by| by > 0)?;
            let range = usize::try_from(one("start_indices")?).ok()?..usize::try_from(one("limit_indices")?).ok()?;
            x(0)?.get(range)?.iter().step_by(stride).copied().collect()
        }
        ops::Select::NAME => {
            let (which, yes, no) = (x(0)?, x(1)?, x(2)?);
            let which = which.iter().cycle().zip(yes.iter().zip(&no));
            which.map(|(&c, (&a, &b))| if c != 0 { a } else { b }).collect()
        }
        name => match op.body.num_operands(op.op) {
            1 => x(0)?.iter().map(|&a| unary(name, a)).collect::<Option<_>>()?,
            2 => {
                let direction = attrs(op).word("comparison_direction");
                let pairs = x(0)?.into_iter().zip(x(1)?);
                pairs
                    .map(|(a, b)| binary(name, direction, a, b))
                    .collect::<Option<_>>()?
            }
            _ => return None,
        },
    };
    let fits = |&n: &i64| width >= 64 || width == 1 && (-1..=1).contains(&n) || n.unsigned_abs() < 1 << (width - 1);
    // A truth value that is all ones is 1.
    let values: Ints = values.into_iter().map(|n| if width == 1 { n & 1 } else { n }).collect();
    (values.len() == count && values.iter().all(fits)).then_some(values)
}

fn unary(name: &str, a: i64) -> Option<i64> {
    match name {
        ops::Negate::NAME => a.checked_neg(),
        ops::Abs::NAME => a.checked_abs(),
        ops::Sign::NAME => Some(a.signum()),
        _ => None,
    }
}

fn binary(name: &str, direction: Option<&str>, a: i64, b: i64) -> Option<i64> {
    match name {
        ops::Add::NAME => a.checked_add(b),
        ops::Subtract::NAME => a.checked_sub(b),
        ops::Multiply::NAME => a.checked_mul(b),
        ops::Divide::NAME => a.checked_div(b),
        ops::Remainder::NAME => a.checked_rem(b),
        ops::Maximum::NAME => Some(a.max(b)),
        ops::Minimum::NAME => Some(a.min(b)),
        ops::And::NAME => Some(a & b),
        ops::Or::NAME => Some(a | b),
        ops::Compare::NAME => Some(i64::from(match direction? {
            "EQ" => a == b,
            "NE" => a != b,
            "LT" => a < b,
            "LE" => a <= b,
            "GT" => a > b,
            "GE" => a >= b,
            _ => return None,
        })),
        _ => None,
    }
}

/// The types of the results as operands, attributes and known integers give them, where no inference function does.
pub fn result_types(op: OpView<'_>, known: &Known<'_>) -> Option<SmallVec<[Type; 2]>> {
    let elem = op.ctx.elem_type(op.result_type(0)?);
    let x = |index: usize| known(op.operand(index)?);
    if let Some(first) = shape_operands(op) {
        let types = op.body.results(op.op).map(|result| op.body.value_type(result));
        let types = types
            .enumerate()
            .map(|(at, ty)| Some(op.ctx.tensor(&x(first + at)?, op.ctx.elem_type(ty))));
        return types.collect();
    }
    let shape: List = match op.name() {
        ops::DotGeneral::NAME => {
            let (lhs, rhs) = (tensor(op, 0)?.0, tensor(op, 1)?.0);
            Dot::read(attrs(op), lhs, rhs).ok()?.result(lhs, rhs)
        }
        ops::Reduce::NAME => {
            let (dims, reduced) = (tensor(op, 0)?.0, attrs(op).list("dimensions").ok()?);
            if !are_dims(&reduced, dims.len()) {
                return None;
            }
            (0..dims.len())
                .filter(|&at| !reduced.contains(&(at as i64)))
                .map(|at| dims[at])
                .collect()
        }
        ops::ReduceWindow::NAME => {
            let window = attrs(op).list("window_dimensions").ok()?;
            let dims = tensor(op, 0)?.0;
            if window.len() != dims.len() {
                return None;
            }
            window_places(attrs(op), dims, &window, ["base_dilations", "window_dilations"]).ok()?
        }
        ops::Convolution::NAME => convolved(attrs(op), tensor(op, 0)?.0, tensor(op, 1)?.0)?,
        ops::DynamicConv::NAME => {
            let padding = padding(op.ctx, &x(2)?)?;
            let padded = Attrs {
                ctx: op.ctx,
                dict: op.ctx.dict_with(op.body.attrs(op.op), "padding", padding),
            };
            convolved(padded, tensor(op, 0)?.0, tensor(op, 1)?.0)?
        }
        ops::Convert::NAME | ops::Scatter::NAME | ops::SelectAndScatter::NAME | ops::Map::NAME => {
            tensor(op, 0)?.0.into()
        }
        ops::TriangularSolve::NAME => tensor(op, 1)?.0.into(),
        ops::BitcastConvert::NAME => {
            let (from, of) = tensor(op, 0)?;
            let bits = |ty| width(op.ctx, ty);
            Some(from)
                .filter(|_| bits(of).is_some() && bits(of) == bits(elem))?
                .into()
        }
        ops::DynamicReshape::NAME | ops::DynamicBroadcastInDim::NAME => x(1)?,
        ops::DynamicIota::NAME => x(0)?,
        ops::DynamicPad::NAME => {
            let (dims, [low, high, inner]) = (tensor(op, 0)?.0, [x(2)?, x(3)?, x(4)?]);
            let sides = low.iter().zip(&high).zip(&inner).zip(dims);
            sides
                .map(|(((low, high), inner), &dim)| match dim {
                    DYNAMIC => Some(DYNAMIC),
                    dim => dim
                        .checked_add((dim - 1).max(0).checked_mul(*inner)?)?
                        .checked_add(*low)?
                        .checked_add(*high),
                })
                .collect::<Option<_>>()?
        }
        ops::RealDynamicSlice::NAME => match extents(op, known) {
            Some(extents) => extents,
            None => {
                let [start, limit, stride] = [x(1)?, x(2)?, x(3)?];
                let slices = start.iter().zip(&limit).zip(&stride);
                slices
                    .map(|((start, limit), &stride)| match stride {
                        ..=0 => None,
                        stride => Some(limit.checked_sub(*start)?.max(0).checked_add(stride - 1)? / stride),
                    })
                    .collect::<Option<_>>()?
            }
        },
        ops::CustomCall::NAME if is_window_call(op) => {
            let (dims, window) = (tensor(op, 0)?.0, Window::of(op, known)?);
            let with = |dict, &(name, value): &(&str, Attr)| op.ctx.dict_with(dict, name, value);
            let dict = window.attrs(op.ctx).iter().fold(AttrDict::EMPTY, with);
            let attrs = Attrs { ctx: op.ctx, dict };
            if window.lists[0].len() != dims.len() {
                return None;
            }
            window_places(attrs, dims, &window.lists[0], ["base_dilations", "window_dilations"]).ok()?
        }
        ops::DynamicGather::NAME => {
            let (dims, starts) = (tensor(op, 0)?.0, tensor(op, 1)?.0);
            let sized = Attrs {
                ctx: op.ctx,
                dict: op
                    .ctx
                    .dict_with(op.body.attrs(op.op), "slice_sizes", array(op.ctx, &x(2)?)),
            };
            Gather::read(sized, dims, starts).ok()?.result(starts)
        }
        _ => return None,
    };
    if shape.iter().any(|&dim| dim < 0 && dim != DYNAMIC) {
        return None;
    }
    let types = op.body.results(op.op).map(|result| op.body.value_type(result));
    Some(match op.body.num_results(op.op) {
        1 => smallvec![op.ctx.tensor(&shape, elem)],
        _ => types.map(|ty| op.ctx.tensor(&shape, op.ctx.elem_type(ty))).collect(),
    })
}

/// The extents of a slice that begins at places that are computed, and ends at these and its extents; without strides.
fn extents(op: OpView<'_>, known: &Known<'_>) -> Option<Ints> {
    let [start, limit] = [op.operand(1)?, op.operand(2)?];
    let sum = op.body.view(op.ctx, op.body.defining_op(limit)?);
    let other = match [sum.operand(0)?, sum.operand(1)?] {
        [first, other] if first == start => other,
        [other, second] if second == start => other,
        _ => return None,
    };
    let is_whole = sum.name() == ops::Add::NAME && known(op.operand(3)?)?.iter().all(|&by| by == 1);
    known(other).filter(|_| is_whole)
}

/// The first of the operands of a call that are the shapes of its results; all operands after it are.
fn shape_operands(op: OpView<'_>) -> Option<usize> {
    let places = attrs(op)
        .list(SHAPE_OPERANDS)
        .ok()
        .filter(|_| op.name() == ops::CustomCall::NAME)?;
    let first = op.body.num_operands(op.op).checked_sub(places.len())?;
    let are_last = places.iter().zip(first..).all(|(&place, at)| place == at as i64);
    (are_last && places.len() == op.body.num_results(op.op)).then_some(first)
}

const SHAPE_OPERANDS: &str = "indices_of_shape_operands";

/// Whether an operation is the call that JAX writes for a window whose extents are computed: the operands are those of `reduce_window`, and
/// then the lists that it has as attributes.
fn is_window_call(op: OpView<'_>) -> bool {
    op.name() == ops::CustomCall::NAME && op.str("call_target_name") == Some("stablehlo.dynamic_reduce_window")
}

/// The attributes of `reduce_window`, as such a call has them.
struct Window {
    /// The extents, strides, dilations of the operand and those of the window.
    lists: [Ints; 4],
    padding: Ints,
}

impl Window {
    fn of(op: OpView<'_>, known: &Known<'_>) -> Option<Self> {
        let first = op.body.num_operands(op.op).checked_sub(5)?;
        let list = |at: usize| known(op.operand(first + at)?);
        Some(Window {
            lists: [list(0)?, list(1)?, list(2)?, list(3)?],
            padding: list(4)?,
        })
    }

    fn attrs(&self, ctx: &Context) -> Vec<(&'static str, Attr)> {
        let names = [
            "window_dimensions",
            "window_strides",
            "base_dilations",
            "window_dilations",
        ];
        let lists = names
            .into_iter()
            .zip(&self.lists)
            .map(|(name, list)| (name, array(ctx, list)));
        let padding: Vec<Num> = self.padding.iter().copied().map(Num::Int).collect();
        let ty = ctx.tensor(&[self.lists[0].len() as i64, 2], Type::I64);
        lists
            .chain(dense(ctx, ty, &padding).map(|value| ("padding", value)))
            .collect()
    }
}

/// The attribute of these paddings, two for each dimension.
fn padding(ctx: &Context, list: &[i64]) -> Option<Attr> {
    let numbers: Vec<Num> = list.iter().copied().map(Num::Int).collect();
    dense(ctx, ctx.tensor(&[list.len() as i64 / 2, 2], Type::I64), &numbers)
}

pub(super) fn convolved(attrs: Attrs<'_>, lhs: &[i64], rhs: &[i64]) -> Option<List> {
    let [image, filter, result] = convolution_places(attrs).ok()?;
    if [image.len(), filter.len()] != [lhs.len(), rhs.len()]
        || image.len() != filter.len()
        || image.len() != result.len()
    {
        return None;
    }
    let at = |dims: &[i64], places: &[i64], which: usize| dims.get(usize::try_from(places[which]).ok()?).copied();
    let space =
        |dims: &[i64], places: &[i64]| -> Option<List> { (2..places.len()).map(|i| at(dims, places, i)).collect() };
    let (room, window) = (space(lhs, &image)?, space(rhs, &filter)?);
    let room = window_places(attrs, &room, &window, ["lhs_dilation", "rhs_dilation"]).ok()?;
    let groups = attrs.int("batch_group_count").ok().filter(|&groups| groups > 0)?;
    let batch = match at(lhs, &image, 0)? {
        DYNAMIC => DYNAMIC,
        batch => batch / groups,
    };
    let found: List = [batch, at(rhs, &filter, 0)?].into_iter().chain(room).collect();
    let mut shape: List = SmallVec::from_elem(0, found.len());
    for (&place, dim) in result.iter().zip(found) {
        *shape.get_mut(usize::try_from(place).ok()?)? = dim;
    }
    Some(shape)
}

/// Where values of loops and branches come from and go to. Those of other dialects have an interface for this.
pub fn edges(op: OpView<'_>) -> Option<Vec<FlowEdge>> {
    let (operands, results) = (op.body.num_operands(op.op), op.body.num_results(op.op));
    let (parent, region) = (FlowPoint::Parent, FlowPoint::Region);
    let edge = |from, to, count| FlowEdge::new(from, to, 0..count);
    match op.name() {
        ops::While::NAME => {
            let starts = [parent, region(1)].into_iter();
            Some(
                starts
                    .flat_map(|from| [region(0), region(1), parent].map(|to| edge(from, to, operands)))
                    .collect(),
            )
        }
        ops::If::NAME | ops::Case::NAME => {
            let branches = 0..op.body.op_regions(op.op).len();
            Some(branches.map(|at| edge(region(at), parent, results)).collect())
        }
        _ => op.body.flow_edges(op.ctx, op.op).map(|edges| edges.into_vec()),
    }
}

/// Whether the shape of the result is computed by the program.
pub fn is_dynamic(op: OpView<'_>) -> bool {
    use ops::*;
    matches!(
        op.name(),
        DynamicReshape::NAME
            | DynamicBroadcastInDim::NAME
            | DynamicIota::NAME
            | DynamicPad::NAME
            | DynamicGather::NAME
            | RealDynamicSlice::NAME
            | DynamicConv::NAME
            | GetDimensionSize::NAME
    ) || is_window_call(op)
        || shape_operands(op).is_some()
}

/// Whether a program computes shapes.
pub fn has_dynamic(module: &Module) -> bool {
    let mut found = false;
    module.for_each_body(|body| found |= body.walk_all().any(|op| is_dynamic(body.view(&module.ctx, op))));
    found
}

/// Puts an operation of static shape in the place of one of [`is_dynamic`], whose types are static and whose integers are known. `None`
/// if they are not.
pub fn make_static(r: &mut Rewriter<'_>, op: OpId, known: &Known<'_>) -> Option<()> {
    let ctx = r.ctx;
    let view = r.view(op);
    let (name, old) = (view.name(), attrs(view));
    let x = |index: usize| view.operand(index).and_then(known);
    let list = |values: Option<Ints>| values.map(|values| array(ctx, &values));
    let ty = view.result_type(0)?;
    let types = [Some(ty), view.operand_type(0)];
    let is_open = |ty: &Option<Type>| {
        ty.and_then(|ty| ctx.as_tensor(ty))
            .is_none_or(|(dims, _)| dims.contains(&DYNAMIC))
    };
    if types.iter().any(is_open) {
        return None;
    }
    if name == ops::RealDynamicSlice::NAME && x(1).is_none() {
        return slice_at(r, op, &extents(view, known)?);
    }
    if let Some(first) = shape_operands(view) {
        return call_of_static_shape(r, op, first);
    }
    if is_window_call(view) {
        return window(r, op, &Window::of(view, known)?.attrs(ctx));
    }
    let operands = |count: usize| view.body.operands(op).take(count).collect::<Vec<_>>();
    let (name, operands, new) = match name {
        ops::DynamicReshape::NAME => (ops::Reshape::NAME, operands(1), vec![]),
        ops::DynamicBroadcastInDim::NAME => {
            let map = ("broadcast_dimensions", old.get("broadcast_dimensions")?);
            (ops::BroadcastInDim::NAME, operands(1), vec![map])
        }
        ops::DynamicIota::NAME => {
            let at = ("iota_dimension", old.get("iota_dimension")?);
            (ops::Iota::NAME, vec![], vec![at])
        }
        ops::DynamicPad::NAME => {
            let names = ["edge_padding_low", "edge_padding_high", "interior_padding"];
            let lists = names
                .iter()
                .enumerate()
                .map(|(at, &name)| Some((name, list(x(at + 2))?)));
            (ops::Pad::NAME, operands(2), lists.collect::<Option<_>>()?)
        }
        ops::RealDynamicSlice::NAME => {
            let names = ["start_indices", "limit_indices", "strides"];
            let lists = names
                .iter()
                .enumerate()
                .map(|(at, &name)| Some((name, list(x(at + 1))?)));
            (ops::Slice::NAME, operands(1), lists.collect::<Option<_>>()?)
        }
        ops::DynamicGather::NAME => {
            let kept = ["dimension_numbers", "indices_are_sorted"];
            let kept = kept.iter().filter_map(|&name| Some((name, old.get(name)?)));
            let sizes = [("slice_sizes", list(x(2))?)];
            (ops::Gather::NAME, operands(2), kept.chain(sizes).collect())
        }
        ops::DynamicConv::NAME => {
            let padding = ("padding", padding(ctx, &x(2)?)?);
            let kept = ctx
                .dict_entries(old.dict)
                .iter()
                .map(|&(name, value)| (ctx.str(name), value));
            (ops::Convolution::NAME, operands(2), kept.chain([padding]).collect())
        }
        ops::GetDimensionSize::NAME => {
            let size: Vec<Num> = known(view.body.result(op, 0))?.into_iter().map(Num::Int).collect();
            let value = ("value", dense(ctx, ty, &size)?);
            (ops::Constant::NAME, vec![], vec![value])
        }
        _ => return None,
    };
    let span = r.body.op_span(op);
    r.before(op).set_span(span);
    let mut made = r.op(name).operands(operands);
    for (name, value) in new {
        made = made.attr(name, value);
    }
    let made = made.result(ty).build();
    let values: SmallVec<[ValueId; 1]> = r.body.results(made).collect();
    take_place(r, op, &values);
    Some(())
}

/// Replaces the results of an operation with values, which take their names.
fn take_place(r: &mut Rewriter<'_>, op: OpId, values: &[ValueId]) {
    let old: SmallVec<[ValueId; 2]> = r.body.results(op).collect();
    for (old, &new) in old.into_iter().zip(values) {
        r.take_name(old, new);
    }
    r.replace_op(op, values);
}

/// The call without the operands that are the shapes of its results.
fn call_of_static_shape(r: &mut Rewriter<'_>, op: OpId, first: usize) -> Option<()> {
    let ctx = r.ctx;
    let operands: Vec<ValueId> = r.body.operands(op).take(first).collect();
    let types: Vec<Type> = r.body.results(op).map(|value| r.body.value_type(value)).collect();
    if types
        .iter()
        .any(|&ty| ctx.as_tensor(ty).is_none_or(|(dims, _)| dims.contains(&DYNAMIC)))
    {
        return None;
    }
    let mut attrs = ctx.dict_without(r.body.attrs(op), SHAPE_OPERANDS);
    if let Some(AttrData::Array(layouts)) = ctx.dict_get(attrs, "operand_layouts").map(|attr| ctx.attr_data(attr)) {
        let layouts = layouts.iter().take(first).copied().collect();
        attrs = ctx.dict_with(attrs, "operand_layouts", ctx.attr(AttrData::Array(layouts)));
    }
    let new = r.recreate(op, &operands, &types);
    r.body.set_attrs(new, attrs);
    let values: SmallVec<[ValueId; 2]> = r.body.results(new).collect();
    take_place(r, op, &values);
    Some(())
}

/// A slice of static extents at places that are computed.
fn slice_at(r: &mut Rewriter<'_>, op: OpId, extents: &Ints) -> Option<()> {
    let ctx = r.ctx;
    let (operand, starts) = (r.body.operand(op, 0), r.body.operand(op, 1));
    let elem = ctx.elem_type(r.body.value_type(starts));
    let (one, scalar) = (ctx.tensor(&[1], elem), ctx.tensor(&[], elem));
    let ty = r.body.value_type(r.body.result(op, 0));
    let span = r.body.op_span(op);
    r.before(op).set_span(span);
    let mut operands = vec![operand];
    for at in 0..extents.len() as i64 {
        let bounds = [("start_indices", at), ("limit_indices", at + 1), ("strides", 1)];
        let mut start = r.op(ops::Slice::NAME).operand(starts);
        for (name, bound) in bounds {
            start = start.attr(name, array(ctx, &[bound]));
        }
        let start = start.result(one).value();
        operands.push(r.op(ops::Reshape::NAME).operand(start).result(scalar).value());
    }
    let made = r.op(ops::DynamicSlice::NAME).operands(operands);
    let made = made.attr("slice_sizes", array(ctx, extents)).result(ty).value();
    take_place(r, op, &[made]);
    Some(())
}

/// A reduction of windows by the function that a call names: its region calls that.
fn window(r: &mut Rewriter<'_>, op: OpId, attrs: &[(&'static str, Attr)]) -> Option<()> {
    let view = r.view(op);
    let AttrData::Array(callees) = view.ctx.attr_data(view.attr("called_computations")?) else {
        return None;
    };
    let &[callee] = &**callees else { return None };
    let operands: Vec<ValueId> = view.body.operands(op).collect();
    let operands = operands[..operands.len().checked_sub(5)?].to_vec();
    let types: Vec<Type> = view.body.results(op).map(|value| view.body.value_type(value)).collect();
    let elems: Vec<Type> = types
        .iter()
        .map(|&ty| view.ctx.tensor(&[], view.ctx.elem_type(ty)))
        .collect();
    let (point, span) = (r.point(), r.body.op_span(op));
    let region = r.body.create_region();
    let block = r.body.create_block(region);
    let inputs = elems.iter().chain(&elems);
    let args: Vec<ValueId> = inputs.map(|&ty| r.body.add_block_arg(block, ty, None)).collect();
    r.at_end(block).set_span(span);
    let call = r.op("func.call").attr("callee", callee).operands(args);
    let call = call.results(elems).build();
    let returned: Vec<ValueId> = r.body.results(call).collect();
    r.op(ops::Return::NAME).operands(returned).build();
    r.before(op).set_span(span);
    let mut made = r.op(ops::ReduceWindow::NAME).operands(operands).results(types);
    for &(name, value) in attrs {
        made = made.attr(name, value);
    }
    let made = made.region(region).build();
    let values: SmallVec<[ValueId; 2]> = r.body.results(made).collect();
    take_place(r, op, &values);
    r.set_point(point);
    Some(())
}

/// The message of a call of `@shape_assertion`, whose operand is the asserted boolean.
pub fn assertion(op: OpView<'_>) -> Option<&str> {
    let is_call = op.name() == ops::CustomCall::NAME && op.str("call_target_name") == Some("shape_assertion");
    is_call.then(|| match op.attr("error_message").map(|attr| op.ctx.attr_data(attr)) {
        Some(AttrData::Str(text)) => text,
        _ => "the shapes of the inputs are not those that the program was made for",
    })
}
