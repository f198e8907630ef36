//! Numbers that a graph computes from shapes: sizes, bounds of slices, lengths of lists.
//!
//! They are known while the graph is read, where TensorFlow wants constants only as long as it builds the graph.

use std::rc::Rc;

use super::super::proto::Value;
use super::super::types::{self, INT32, Number};
use super::{Constant, Reader};

/// Longer vectors are not shapes.
const LONGEST: usize = 64;

/// The dimensions and the numbers of a result.
type Known = (Vec<i64>, Vec<i64>);

/// Computes what an integer node of known inputs gives.
pub(super) fn fold(r: &mut Reader<'_>, at: usize) {
    let found = match several(r, at) {
        Some(all) => all,
        None => vec![compute(r, at)],
    };
    let mut computed = Vec::new();
    for (index, known) in found.into_iter().enumerate() {
        let code = r.values[at].get(index).and_then(|&value| {
            let (_, elem) = r.dims(value).ok()?;
            types::code(r.ctx, elem).filter(|_| !r.ctx.is_float(elem))
        });
        let constant = |(dims, numbers): Known| {
            let numbers = numbers.into_iter().map(|n| Number::Int(n.into())).collect();
            Some(Rc::new((dims, numbers, code?)))
        };
        computed.push(known.filter(|(_, n)| n.len() <= LONGEST).and_then(constant));
    }
    r.computed[at] = computed;
}

/// The constant results of a node with several of them.
pub(super) fn several(r: &Reader<'_>, at: usize) -> Option<Vec<Option<Known>>> {
    let vector = |numbers: Vec<i64>| (vec![numbers.len() as i64], numbers);
    let all = 0..r.inputs[at].len();
    Some(match r.nodes[at].op.as_str() {
        "BroadcastGradientArgs" => {
            let axes = broadcast(&input(r, at, 0)?.1, &input(r, at, 1)?.1)?;
            axes.into_iter().map(|axes| Some(vector(axes))).collect()
        }
        // Where each part begins along the axis, which the first input names.
        "ConcatOffset" => {
            let axis = *input(r, at, 0)?.1.first()?;
            let mut starts = Vec::new();
            let mut next = 0i64;
            for index in all.skip(1) {
                let shape = input(r, at, index)?.1;
                let place = usize::try_from(axis.rem_euclid(shape.len().max(1) as i64)).ok()?;
                let mut start = vec![0; shape.len()];
                *start.get_mut(place)? = next;
                next = next.checked_add(*shape.get(place)?)?;
                starts.push(Some(vector(start)));
            }
            starts
        }
        "ShapeN" => all.map(|index| shape(r, at, index).map(vector)).collect(),
        _ => return None,
    })
}

/// The extents of two shapes that are spread to one another, axis by axis.
fn aligned(a: &[i64], b: &[i64]) -> impl Iterator<Item = [i64; 2]> {
    let rank = a.len().max(b.len());
    let padded = move |shape: &[i64]| [vec![1; rank - shape.len()], shape.to_vec()].concat();
    padded(a).into_iter().zip(padded(b)).map(|(a, b)| [a, b])
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

/// The dimensions and the numbers of an input.
fn input(r: &Reader<'_>, at: usize, index: usize) -> Option<Known> {
    let constant: &Constant = r.computed(*r.inputs[at].get(index)?)?;
    let numbers = super::whole_numbers(constant)?;
    (numbers.len() <= LONGEST).then(|| (constant.0.clone(), numbers))
}

fn int_attr(r: &Reader<'_>, at: usize, name: &str) -> i64 {
    match r.nodes[at].attrs.get(name).and_then(|a| a.value.as_ref()) {
        Some(Value::Int(value)) => *value,
        _ => 0,
    }
}

fn compute(r: &Reader<'_>, at: usize) -> Option<Known> {
    let first = || input(r, at, 0);
    let dims_of = || shape(r, at, 0);
    let op = r.nodes[at].op.as_str();
    Some(match op {
        "Shape" => {
            let dims = dims_of()?;
            (vec![dims.len() as i64], dims)
        }
        "Size" => (
            Vec::new(),
            vec![dims_of()?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?],
        ),
        "Rank" => (Vec::new(), vec![dims_of()?.len() as i64]),
        "TensorListElementShape" => {
            let dims: Vec<i64> = shape(r, at, 0)?.get(1..)?.to_vec();
            (vec![dims.len() as i64], dims)
        }
        "TensorListLength" | "TensorArraySizeV3" => (Vec::new(), vec![list_length(r, at)?]),
        "Identity" | "StopGradient" | "Cast" => first()?,
        "Pack" => pack(r, at)?,
        "ConcatV2" => joined(r, at)?,
        "ExpandDims" => {
            let ((mut dims, numbers), axis) = (first()?, *input(r, at, 1)?.1.first()?);
            let axis = if axis < 0 { axis + dims.len() as i64 + 1 } else { axis };
            let axis = usize::try_from(axis).ok().filter(|&axis| axis <= dims.len())?;
            dims.insert(axis, 1);
            (dims, numbers)
        }
        "Squeeze" => (Vec::new(), first().filter(|(_, n)| n.len() == 1)?.1),
        "Reshape" => {
            let (numbers, mut shape) = (first()?.1, input(r, at, 1)?.1);
            let mut others = shape.iter().filter(|&&d| d != -1);
            let others = others.try_fold(1i64, |n, &d| n.checked_mul(d))?;
            let count = numbers.len() as i64;
            if let Some(open) = shape.iter_mut().find(|d| **d == -1) {
                *open = (others > 0 && count % others == 0).then(|| count / others)?;
            }
            let all = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
            (all == count && shape.iter().all(|&d| d >= 0)).then_some((shape, numbers))?
        }
        "Range" => {
            let one = |index| input(r, at, index)?.1.first().copied();
            range(one(0)?, one(1)?, one(2)?)?
        }
        "StridedSlice" => slice(r, at)?,
        "GatherV2" => {
            let (_, numbers) = first().filter(|(dims, _)| dims.len() == 1)?;
            let (dims, places) = input(r, at, 1)?;
            let pick = |&p: &i64| numbers.get(usize::try_from(p).ok()?).copied();
            (dims, places.iter().map(pick).collect::<Option<_>>()?)
        }
        "Prod" => reduced(r, at, |numbers| numbers.iter().try_fold(1i64, |n, &d| n.checked_mul(d)))?,
        "Sum" => reduced(r, at, |numbers| numbers.iter().try_fold(0i64, |n, &d| n.checked_add(d)))?,
        "Max" => reduced(r, at, |numbers| numbers.iter().copied().max())?,
        "Min" => reduced(r, at, |numbers| numbers.iter().copied().min())?,
        "Neg" => {
            let (dims, numbers) = first()?;
            (dims, numbers.into_iter().map(i64::checked_neg).collect::<Option<_>>()?)
        }
        "Select" | "SelectV2" => {
            let (condition, yes, no) = (first()?, input(r, at, 1)?, input(r, at, 2)?);
            match condition.1[..] {
                // One condition chooses between tensors of one shape.
                [condition] if yes.0 == no.0 => [no, yes].into_iter().nth(usize::from(condition != 0))?,
                _ => return None,
            }
        }
        "BroadcastTo" => {
            let (numbers, shape) = (first()?.1, input(r, at, 1)?.1);
            match (&numbers[..], &shape[..]) {
                (&[value], _) => filled(shape, value)?,
                (_, &[extent]) if extent == numbers.len() as i64 => (shape, numbers),
                _ => return None,
            }
        }
        "Fill" => {
            let (shape, value) = (first()?.1, *input(r, at, 1)?.1.first()?);
            filled(shape, value)?
        }
        "OnesLike" => filled(dims_of()?, 1)?,
        "ZerosLike" => filled(dims_of()?, 0)?,
        "LogicalNot" => {
            let (dims, numbers) = first()?;
            (dims, numbers.into_iter().map(|n| i64::from(n == 0)).collect())
        }
        "Maximum" | "Minimum" if bounded(r, at, op).is_some() => (Vec::new(), vec![bounded(r, at, op)?]),
        _ if TWO.contains(&op) => arithmetic(r, at, op)?,
        _ => return None,
    })
}

/// All elements of a vector as one number, or a scalar.
fn reduced(r: &Reader<'_>, at: usize, all: impl Fn(&[i64]) -> Option<i64>) -> Option<Known> {
    let (dims, numbers) = input(r, at, 0)?;
    let axes = input(r, at, 1)?.1;
    if dims.is_empty() || (dims.len() == 1 && axes.is_empty()) {
        return Some((dims, numbers));
    }
    let number = all(&numbers).filter(|_| dims.len() == 1)?;
    // Numbers that do not fit into 32 bits wrap.
    let fits = r.input_code(at, 0) != Some(INT32) || i32::try_from(number).is_ok();
    let dims = if r.flag(at, "keep_dims") { vec![1] } else { Vec::new() };
    fits.then(|| (dims, vec![number]))
}

fn filled(shape: Vec<i64>, value: i64) -> Option<Known> {
    let count = count(&shape)?;
    Some((shape, vec![value; count]))
}

/// How many elements there are, if that is few enough.
fn count(shape: &[i64]) -> Option<usize> {
    let count = shape
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
    count.filter(|&count| count <= LONGEST)
}

fn list_length(r: &Reader<'_>, at: usize) -> Option<i64> {
    let from = *r.inputs[at].last()?;
    let (dims, _) = r.dims(*r.values[from.node].get(from.index)?).ok()?;
    dims.first().copied().filter(|&d| d >= 0)
}

fn pack(r: &Reader<'_>, at: usize) -> Option<(Vec<i64>, Vec<i64>)> {
    let count = r.inputs[at].len();
    let inner = input(r, at, 0)?.0;
    let mut all = Vec::new();
    for index in 0..count {
        let (dims, numbers) = input(r, at, index)?;
        // Vectors become the rows of a matrix.
        (dims == inner && (dims.is_empty() || int_attr(r, at, "axis") == 0)).then_some(())?;
        all.extend(numbers);
    }
    let mut dims = vec![count as i64];
    dims.extend(inner);
    Some((dims, all))
}

/// Tensors one after another along their first axis.
fn joined(r: &Reader<'_>, at: usize) -> Option<Known> {
    let count = r.inputs[at].len().checked_sub(1)?;
    let axis = *input(r, at, count)?.1.first()?;
    let (mut rows, mut all) = (0, Vec::new());
    let mut dims = input(r, at, 0)?.0;
    (axis == 0 || axis == -(dims.len() as i64)).then_some(())?;
    for index in 0..count {
        let (own, numbers) = input(r, at, index)?;
        (own.get(1..) == dims.get(1..)).then_some(())?;
        rows += own.first()?;
        all.extend(numbers);
    }
    *dims.first_mut()? = rows;
    Some((dims, all))
}

fn range(start: i64, end: i64, step: i64) -> Option<(Vec<i64>, Vec<i64>)> {
    let mut numbers = Vec::new();
    let mut next = start;
    while if step > 0 { next < end } else { next > end } {
        (step != 0 && numbers.len() <= LONGEST).then_some(())?;
        numbers.push(next);
        next = next.checked_add(step)?;
    }
    Some((vec![numbers.len() as i64], numbers))
}

/// A slice of a vector.
fn slice(r: &Reader<'_>, at: usize) -> Option<(Vec<i64>, Vec<i64>)> {
    let (_, numbers) = input(r, at, 0).filter(|(dims, _)| dims.len() == 1)?;
    let one = |index| match input(r, at, index)?.1[..] {
        [value] => Some(value),
        _ => None,
    };
    let (begin, end, stride) = (one(1)?, one(2)?, one(3)?);
    let mask = |name| int_attr(r, at, name) & 1 == 1;
    if mask("new_axis_mask") || mask("ellipsis_mask") || stride <= 0 {
        return None;
    }
    let count = numbers.len() as i64;
    let place = |value: i64| (if value < 0 { value + count } else { value }).clamp(0, count);
    let start = if mask("begin_mask") { 0 } else { place(begin) };
    if mask("shrink_axis_mask") {
        return Some((Vec::new(), vec![*numbers.get(usize::try_from(start).ok()?)?]));
    }
    let end = if mask("end_mask") { count } else { place(end) };
    let picked: Vec<i64> = (start..end)
        .step_by(usize::try_from(stride).ok()?)
        .filter_map(|i| numbers.get(i as usize).copied())
        .collect();
    Some((vec![picked.len() as i64], picked))
}

/// Operations of two operands.
const TWO: &[&str] = &[
    "Add",
    "AddV2",
    "Equal",
    "FloorDiv",
    "FloorMod",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "LogicalAnd",
    "LogicalOr",
    "Maximum",
    "Minimum",
    "Mul",
    "NotEqual",
    "Sub",
];

/// A number clamped between bounds that determine it: at least 6, and then at most 6.
fn bounded(r: &Reader<'_>, at: usize, op: &str) -> Option<i64> {
    let other = if op == "Minimum" { "Maximum" } else { "Minimum" };
    let scalar = |at: usize, index: usize| match input(r, at, index)? {
        (dims, numbers) if dims.is_empty() => numbers.first().copied(),
        _ => None,
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

/// The shape of what two tensors are spread to.
fn broadcast_shape(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let both = |extents: [i64; 2]| match extents {
        [x, y] if x == y || y == 1 => Some(x),
        [1, y] => Some(y),
        _ => None,
    };
    aligned(a, b).map(both).collect()
}

/// Where the element is in a tensor of these dimensions that is the one at `index` of what the tensor is spread to.
fn place_in(own: &[i64], dims: &[i64], index: usize) -> usize {
    let (mut rest, mut place, mut step) = (index, 0, 1);
    for (back, &extent) in dims.iter().rev().enumerate() {
        let at = rest % extent.max(1) as usize;
        rest /= extent.max(1) as usize;
        if let Some(&extent) = own.iter().rev().nth(back) {
            place += if extent == 1 { 0 } else { at * step };
            step *= extent.max(0) as usize;
        }
    }
    place
}

fn arithmetic(r: &Reader<'_>, at: usize, op: &str) -> Option<(Vec<i64>, Vec<i64>)> {
    let ((ad, a), (bd, b)) = (input(r, at, 0)?, input(r, at, 1)?);
    let dims = broadcast_shape(&ad, &bd)?;
    let count = count(&dims)?;
    let apply = |i: usize| {
        let (x, y) = (*a.get(place_in(&ad, &dims, i))?, *b.get(place_in(&bd, &dims, i))?);
        match op {
            "Add" | "AddV2" => x.checked_add(y),
            "Sub" => x.checked_sub(y),
            "Mul" => x.checked_mul(y),
            "Equal" => Some((x == y).into()),
            "NotEqual" => Some((x != y).into()),
            "Greater" => Some((x > y).into()),
            "GreaterEqual" => Some((x >= y).into()),
            "Less" => Some((x < y).into()),
            "LessEqual" => Some((x <= y).into()),
            "LogicalAnd" | "Minimum" => Some(x.min(y)),
            "LogicalOr" | "Maximum" => Some(x.max(y)),
            // The others have no overflow but that of a negative divisor.
            "FloorDiv" if y > 0 => Some(x.div_euclid(y)),
            "FloorMod" if y > 0 => Some(x.rem_euclid(y)),
            _ => None,
        }
    };
    let numbers: Vec<i64> = (0..count).map(apply).collect::<Option<_>>()?;
    // Numbers that do not fit into 32 bits wrap.
    let narrow = r.input_code(at, 0) == Some(INT32);
    let fits = |&n: &i64| !narrow || i32::try_from(n).is_ok();
    numbers.iter().all(fits).then_some((dims, numbers))
}
