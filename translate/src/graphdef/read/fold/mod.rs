//! Numbers that a graph computes from shapes and constants: sizes, bounds of slices, lengths of lists and of rows, places.
//!
//! They are known while the graph is read, where TensorFlow wants constants only as long as it builds the graph.

mod arithmetic;
mod array;
mod slice;

use std::rc::Rc;

use array::LARGEST;
pub(super) use array::{Array, place_of};
use array::{aligned, broadcast_shape};

use super::super::proto::Value;
use super::super::types::{self, Number};
use super::reader::{Constant, Reader};

/// Computes what a node of known inputs gives.
pub(super) fn fold(r: &mut Reader<'_>, at: usize) {
    let found = match several(r, at) {
        Some(all) => all,
        None => vec![compute(r, at)],
    };
    let mut computed = Vec::new();
    for (index, known) in found.into_iter().enumerate() {
        let code = r.values[at].get(index).and_then(|&value| {
            let (dims, elem) = r.dims(value).ok()?;
            // What is computed has the shape that was inferred.
            let fits = |known: &Array| {
                let alike = |(a, b): (&i64, &i64)| a == b || *a < 0;
                dims.len() == known.dims.len() && dims.iter().zip(&known.dims).all(alike)
            };
            known.as_ref().is_some_and(fits).then_some(())?;
            types::code(r.ctx, elem)
        });
        let constant = |array: Array| Some(Rc::new((array.dims, array.numbers, code?)));
        computed.push(known.filter(|a| a.numbers.len() <= LARGEST).and_then(constant));
    }
    r.computed[at] = computed;
}

/// The constant results of a node with several of them.
pub(super) fn several(r: &Reader<'_>, at: usize) -> Option<Vec<Option<Array>>> {
    let all = 0..r.inputs[at].len();
    Some(match r.nodes[at].op.as_str() {
        "BroadcastGradientArgs" => {
            let axes = broadcast(&list(r, at, 0)?, &list(r, at, 1)?)?;
            axes.into_iter().map(|axes| Some(Array::vector(axes))).collect()
        }
        // Where each part begins along the axis, which the first input names.
        "ConcatOffset" => {
            let axis = *list(r, at, 0)?.first()?;
            let mut starts = Vec::new();
            let mut next = 0i64;
            for index in all.skip(1) {
                let shape = list(r, at, index)?;
                let place = usize::try_from(axis.rem_euclid(shape.len().max(1) as i64)).ok()?;
                let mut start = vec![0; shape.len()];
                *start.get_mut(place)? = next;
                next = next.checked_add(*shape.get(place)?)?;
                starts.push(Some(Array::vector(start)));
            }
            starts
        }
        "ShapeN" => all.map(|index| shape(r, at, index).map(Array::vector)).collect(),
        "Split" => {
            let (axis, whole) = (*list(r, at, 0)?.first()?, input(r, at, 1)?);
            let axis = whole.axis(axis)?;
            let parts = int_attr(r, at, "num_split");
            (parts <= LARGEST as i64).then_some(())?;
            let each = whole.dims[axis].checked_div(parts)?;
            (each * parts == whole.dims[axis]).then_some(())?;
            let part = |n: i64| whole.gathered(&Array::vector((n * each..(n + 1) * each).collect()), axis);
            (0..parts).map(part).collect()
        }
        "Unpack" => {
            let whole = input(r, at, 0)?;
            let axis = whole.axis(int_attr(r, at, "axis"))?;
            (whole.dims[axis] <= LARGEST as i64).then_some(())?;
            let part = |n: i64| whole.gathered(&Array::scalar(n), axis);
            (0..whole.dims[axis]).map(part).collect()
        }
        _ => return None,
    })
}

/// The axes over which the gradient of each of two operands is summed, of these shapes.
fn broadcast(a: &[i64], b: &[i64]) -> Option<[Vec<i64>; 2]> {
    let mut axes = [Vec::new(), Vec::new()];
    for (axis, extents) in aligned(a, b).enumerate() {
        for (axes, own) in axes.iter_mut().zip(extents) {
            if own == 1 {
                axes.push(axis as i64);
            }
        }
        (extents[0] == extents[1] || extents.contains(&1)).then_some(())?;
    }
    Some(axes)
}

/// The known shape of an input.
fn shape(r: &Reader<'_>, at: usize, index: usize) -> Option<Vec<i64>> {
    let from = *r.inputs[at].get(index)?;
    let value = match r.values[from.node].get(from.index) {
        Some(&value) => r.dims(value).ok()?.0,
        None => r.constants[from.node].as_ref()?.0.clone(),
    };
    value.iter().all(|&d| d >= 0).then_some(value)
}

/// The numbers of an input.
pub(super) fn input(r: &Reader<'_>, at: usize, index: usize) -> Option<Array> {
    let constant: &Constant = r.computed(*r.inputs[at].get(index)?)?;
    let (dims, numbers, _) = constant;
    let count = array::count(dims)?;
    let numbers = match numbers[..] {
        // One number for all elements.
        [one] => vec![one; count],
        _ if numbers.len() == count => numbers.clone(),
        // Its numbers are bytes.
        _ => return None,
    };
    Some(Array {
        dims: dims.clone(),
        numbers,
    })
}

/// The integers of an input.
fn list(r: &Reader<'_>, at: usize, index: usize) -> Option<Vec<i64>> {
    input(r, at, index)?.ints()
}

fn int_attr(r: &Reader<'_>, at: usize, name: &str) -> i64 {
    match r.nodes[at].attrs.get(name).and_then(|a| a.value.as_ref()) {
        Some(Value::Int(value)) => *value,
        _ => 0,
    }
}

fn bool_attr(r: &Reader<'_>, at: usize, name: &str) -> bool {
    let value = r.nodes[at].attrs.get(name).and_then(|a| a.value.as_ref());
    matches!(value, Some(Value::Bool(true)))
}

fn compute(r: &Reader<'_>, at: usize) -> Option<Array> {
    let first = || input(r, at, 0);
    let dims_of = || shape(r, at, 0);
    let one = |index| list(r, at, index)?.first().copied();
    let op = r.nodes[at].op.as_str();
    Some(match op {
        "Shape" => Array::vector(dims_of()?),
        "Size" => Array::scalar(dims_of()?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?),
        "Rank" => Array::scalar(dims_of()?.len() as i64),
        "TensorListElementShape" => Array::vector(shape(r, at, 0)?.get(1..)?.to_vec()),
        "TensorListLength" | "TensorArraySizeV3" => Array::scalar(list_length(r, at)?),
        "Identity" | "StopGradient" | "PreventGradient" | "Snapshot" | "EnsureShape" => first()?,
        "Cast" => arithmetic::cast(r, at)?,
        "Pack" => pack(r, at)?,
        "ConcatV2" => {
            let count = r.inputs[at].len().checked_sub(1)?;
            let parts: Vec<Array> = (0..count).map(|index| input(r, at, index)).collect::<Option<_>>()?;
            Array::joined(&parts, parts.first()?.axis(one(count)?)?)?
        }
        "ExpandDims" => {
            let (whole, axis) = (first()?, one(1)?);
            let axis = place_of(axis, whole.rank() + 1)?;
            let mut dims = whole.dims.clone();
            dims.insert(axis, 1);
            whole.reshaped(dims)?
        }
        "Squeeze" => squeezed(r, at)?,
        "Reshape" => first()?.reshaped(list(r, at, 1)?)?,
        "Range" => arithmetic::range(r, at)?,
        "StridedSlice" => slice::strided(r, at)?,
        "Slice" => slice::sized(r, at)?,
        "Transpose" => first()?.transposed(&list(r, at, 1)?)?,
        "ReverseV2" => {
            let (whole, axes) = (first()?, list(r, at, 1)?);
            let axes: Vec<usize> = axes.iter().map(|&a| whole.axis(a)).collect::<Option<_>>()?;
            Array::made(whole.dims.clone(), |place| {
                let turn = |(axis, &at): (usize, &i64)| match axes.contains(&axis) {
                    true => whole.dims[axis] - 1 - at,
                    false => at,
                };
                whole.get(&place.iter().enumerate().map(turn).collect::<Vec<_>>())
            })?
        }
        "Tile" => {
            let (whole, times) = (first()?, list(r, at, 1)?);
            (times.len() == whole.rank()).then_some(())?;
            let extents = whole.dims.iter().zip(&times).map(|(&d, &n)| d.checked_mul(n));
            Array::made(extents.collect::<Option<_>>()?, |place| {
                let own = place.iter().zip(&whole.dims).map(|(&at, &extent)| at % extent.max(1));
                whole.get(&own.collect::<Vec<_>>())
            })?
        }
        "GatherV2" if int_attr(r, at, "batch_dims") == 0 => {
            let whole = first()?;
            whole.gathered(&input(r, at, 1)?, whole.axis(one(2)?)?)?
        }
        "InvertPermutation" => {
            let order = list(r, at, 0)?;
            let mut places = vec![None; order.len()];
            for (place, &number) in (0i64..).zip(&order) {
                *places.get_mut(usize::try_from(number).ok()?)? = Some(place);
            }
            Array::vector(places.into_iter().collect::<Option<_>>()?)
        }
        "GatherNd" => gather_nd(&first()?, &input(r, at, 1)?)?,
        "Select" | "SelectV2" => {
            let (condition, yes, no) = (first()?, input(r, at, 1)?, input(r, at, 2)?);
            // A vector may choose rows, in the older one of the two.
            let alike = condition.dims == yes.dims || condition.rank() == 0 || op == "SelectV2";
            alike.then_some(())?;
            let dims = broadcast_shape(&broadcast_shape(&yes.dims, &no.dims)?, &condition.dims)?;
            Array::made(dims, |place| match condition.spread(place)?.f64() != 0.0 {
                true => yes.spread(place),
                false => no.spread(place),
            })?
        }
        "BroadcastTo" => first()?.broadcast(list(r, at, 1)?)?,
        "Fill" => input(r, at, 1)?.broadcast(list(r, at, 0)?)?,
        "OnesLike" | "ZerosLike" => {
            let floats = r.input_code(at, 0).is_some_and(arithmetic::is_float);
            let value = i8::from(op == "OnesLike");
            let number = match floats {
                true => Number::Float(value.into()),
                false => Number::Int(value.into()),
            };
            Array::made(dims_of()?, |_| Some(number))?
        }
        "Maximum" | "Minimum" if bounded(r, at, op).is_some() => Array::scalar(bounded(r, at, op)?),
        _ => arithmetic::compute(r, at, op)?,
    })
}

fn list_length(r: &Reader<'_>, at: usize) -> Option<i64> {
    let from = *r.inputs[at].last()?;
    let (dims, _) = r.dims(*r.values[from.node].get(from.index)?).ok()?;
    dims.first().copied().filter(|&d| d >= 0)
}

fn pack(r: &Reader<'_>, at: usize) -> Option<Array> {
    let parts: Vec<Array> = (0..r.inputs[at].len())
        .map(|index| input(r, at, index))
        .collect::<Option<_>>()?;
    let axis = place_of(int_attr(r, at, "axis"), parts.first()?.rank() + 1)?;
    let widened = |part: &Array| {
        let mut dims = part.dims.clone();
        dims.insert(axis, 1);
        part.reshaped(dims)
    };
    let same = parts.iter().all(|part| part.dims == parts[0].dims);
    same.then_some(())?;
    Array::joined(&parts.iter().map(widened).collect::<Option<Vec<_>>>()?, axis)
}

/// Without axes of one element: those that are named, or all.
fn squeezed(r: &Reader<'_>, at: usize) -> Option<Array> {
    let whole = input(r, at, 0)?;
    let attrs = &r.nodes[at].attrs;
    let named = attrs.get("squeeze_dims").or_else(|| attrs.get("axis"));
    let named = match named.and_then(|a| a.value.as_ref()) {
        Some(Value::List(list)) => list.ints.clone(),
        _ => Vec::new(),
    };
    let named: Vec<usize> = named.iter().map(|&a| whole.axis(a)).collect::<Option<_>>()?;
    let keeps = |axis: &usize| whole.dims[*axis] != 1 || !(named.is_empty() || named.contains(axis));
    let dims = (0..whole.rank()).filter(keeps).map(|axis| whole.dims[axis]).collect();
    whole.reshaped(dims)
}

/// The parts at index tuples.
fn gather_nd(whole: &Array, index: &Array) -> Option<Array> {
    let (&depth, lead) = index.dims.split_last()?;
    let rest = whole.dims.get(usize::try_from(depth).ok()?..)?;
    let places = index.ints()?;
    Array::made([lead, rest].concat(), |place| {
        let row = place[..lead.len()]
            .iter()
            .zip(lead)
            .fold(0, |n, (at, extent)| n * extent + at);
        let start = usize::try_from(row * depth).ok()?;
        let tuple = places.get(start..start + usize::try_from(depth).ok()?)?;
        whole.get(&[tuple, &place[lead.len()..]].concat())
    })
}

/// A number that is kept between two bounds of which the later one leaves no choice: at least 6, and then at most 6.
fn bounded(r: &Reader<'_>, at: usize, op: &str) -> Option<i64> {
    let other = if op == "Minimum" { "Maximum" } else { "Minimum" };
    let scalar = |at: usize, index: usize| {
        let known = input(r, at, index)?;
        known.dims.is_empty().then_some(())?;
        known.ints()?.first().copied()
    };
    let by = |own: usize| {
        let bound = scalar(at, own)?;
        let from = *r.inputs[at].get(1 - own)?;
        (r.nodes[from.node].op == other).then_some(())?;
        let inner = scalar(from.node, 0).or_else(|| scalar(from.node, 1))?;
        let fixed = if op == "Minimum" {
            inner >= bound
        } else {
            inner <= bound
        };
        fixed.then_some(bound)
    };
    by(0).or_else(|| by(1))
}
