//! Arrays of TensorFlow 1, `TensorArray…V3`, and their gradients.
//!
//! The flow is the tensor of the elements, and the handle only identifies the array. TensorFlow's own gradients write to an
//! array of the same length, where elements are added, and sum the flows: so a flow that was written by a gradient has the
//! slopes, and zeros elsewhere.

use pir_dialects::{df, pd};
use pir_ir::{Type, ValueId};
use rustc_hash::FxHashSet;

use super::super::proto::Value;
use super::lists::{get, grow, joined, learn_item, length, make, set};
use super::reader::{Input, Reader, Result};
use super::row::Row;
use super::scope::{FORWARDS, Handle};
use super::select;

pub(super) const TABLE: &[Row] = &[
    (
        "TensorArrayV3",
        "i32 -> handle flow",
        "dtype element_shape=? dynamic_size=false clear_after_read=true identical_element_shapes=false tensor_array_name=",
        |r, at| {
            let (elem, count) = (r.elem(at, "dtype")?, r.scalar(at, 0, "size")?);
            // Whether an array may be read twice matters only for TensorFlow's memory.
            let _ = (
                r.flag(at, "clear_after_read"),
                r.flag(at, "identical_element_shapes"),
                r.text(at, "tensor_array_name"),
            );
            let dims = match r.attr(at, "element_shape") {
                Some(Value::Shape(shape)) => shape.known(),
                _ => None,
            };
            make(r, at, count, dims, elem)?;
            if r.flag(at, "dynamic_size") {
                grow(r, at)?;
            }
            r.handles[at] = vec![Some(Handle::Array(r.place(at)))];
            let flow = r.values[at].clone();
            r.values[at].extend(flow);
            Ok(())
        },
    ),
    (
        "TensorArrayConcatV3",
        "handle flow -> value lengths",
        "dtype element_shape_except0=?",
        |r, at| {
            let _ = (r.attr(at, "element_shape_except0"), r.elem(at, "dtype")?);
            let flow = read_flow(r, at, 1)?;
            joined(r, at, flow)
        },
    ),
    (
        "TensorArrayGatherV3",
        "handle i32 flow",
        "dtype element_shape=?",
        |r, at| {
            let _ = (r.attr(at, "element_shape"), r.elem(at, "dtype")?);
            let flow = read_flow(r, at, 2)?;
            let (dims, _) = r.dims(flow)?;
            if let Some(places) = r.known(at, 1)
                && places.iter().copied().eq(0..dims.first().copied().unwrap_or(0))
            {
                return r.op(at, pd::Assign::NAME, &[flow], &[]);
            }
            let places = r.operand(at, 1)?;
            r.op(at, pd::Gather::NAME, &[flow, places], &[("axis", r.ctx.int_attr(0))])
        },
    ),
    (
        "TensorArrayGradV3",
        "handle flow -> grad_handle flow_out",
        "source",
        |r, at| {
            let input = r.input(at, 0)?;
            let Some(Handle::Array(key)) = r.handle(input) else {
                return Err("it is unknown to which array this gradient belongs".to_owned());
            };
            let _ = r.text(at, "source");
            let flow = r.operand(at, 1)?;
            // A separate node, as the target of the control edges.
            let same = if r.plain { pd::Assign::NAME } else { df::IDENTITY };
            r.op(at, same, &[flow], &[])?;
            r.handles[at] = vec![Some(Handle::Slopes(key))];
            let same = r.values[at].clone();
            for &value in &same {
                r.same_list(flow, value);
            }
            r.values[at].extend(same);
            Ok(())
        },
    ),
    ("TensorArrayReadV3", "handle i32 flow", "dtype", |r, at| {
        let _ = r.elem(at, "dtype")?;
        let (index, flow) = (r.operand(at, 1)?, read_flow(r, at, 2)?);
        get(r, at, flow, index)
    }),
    ("TensorArrayScatterV3", "handle i32 T flow", "", |r, at| {
        let (value, flow) = (r.operand(at, 2)?, r.operand(at, 3)?);
        let places = r.list(at, 1, "indices")?;
        scatter(r, at, flow, value, &places)
    }),
    ("TensorArraySizeV3", "handle flow", "", |r, at| {
        r.input(at, 0)?;
        let flow = r.operand(at, 1)?;
        length(r, at, flow)
    }),
    ("TensorArraySplitV3", "handle T lengths flow", "", |r, at| {
        let (value, flow) = (r.operand(at, 1)?, r.operand(at, 3)?);
        let lengths = r.list(at, 2, "lengths")?;
        let value = apart(r, at, value, &lengths)?;
        let places: Vec<i64> = (0..lengths.len() as i64).collect();
        scatter(r, at, flow, value, &places)
    }),
    ("TensorArrayWriteV3", "handle i32 T flow", "", |r, at| {
        let (index, value, flow) = (r.operand(at, 1)?, r.operand(at, 2)?, r.operand(at, 3)?);
        let (base, more) = written(r, at, flow)?;
        set(r, at, base, index, value, false)?;
        add(r, at, more)
    }),
];

/// A tensor whose first dimension is cut in pieces of one length each.
pub(super) fn apart(r: &mut Reader<'_>, at: usize, value: ValueId, lengths: &[i64]) -> Result<ValueId> {
    let (dims, _) = r.dims(value)?;
    let each = lengths.first().copied().unwrap_or(0);
    if lengths.iter().any(|&n| n != each) {
        return Err(format!(
            "its elements have different shapes: their lengths are {lengths:?}"
        ));
    }
    let count = lengths.len() as i64;
    let rest = dims.get(1..).ok_or("it has no first dimension")?;
    if each < 1 || dims[0] >= 0 && count.checked_mul(each) != Some(dims[0]) {
        return Err("the lengths of its parts do not add up to its first dimension".to_owned());
    }
    let shape = [&[count, each][..], rest].concat();
    r.helper(at, pd::Reshape::NAME, &[value], &[("shape", r.ctx.ints_attr(&shape))])
}

/// All elements at once, at these places.
fn scatter(r: &mut Reader<'_>, at: usize, flow: ValueId, value: ValueId, places: &[i64]) -> Result<()> {
    let (dims, elem) = r.dims(value)?;
    let (length, _) = r.dims(flow)?;
    if dims.first() != Some(&(places.len() as i64)) {
        return Err("its indices and its elements differ in number".to_owned());
    }
    if !learn_item(r, at, flow, value, 1)? {
        return r.op(at, pd::Assign::NAME, &[value], &[]);
    }
    let Some(&count) = length.first() else {
        return Err("its flow does not belong to an array".to_owned());
    };
    let (base, more) = written(r, at, flow)?;
    let all = places.iter().copied().eq(0..places.len() as i64);
    if all && (dims.first() == Some(&count) || more.is_none() && base == flow) {
        r.op(at, pd::Assign::NAME, &[value], &[])?;
        return add(r, at, more);
    }
    // The array is zero before it is written.
    let shape = [&[count][..], &dims[1..]].concat();
    if shape.iter().any(|&d| d < 0) || !r.ctx.is_float(elem) || places.iter().any(|p| !(0..count).contains(p)) {
        return Err("only scattering all elements in order is supported".to_owned());
    }
    let index = r.vector(at, places, Type::I64)?;
    let attrs = [("axis", r.ctx.int_attr(0)), ("x_shape", r.ctx.ints_attr(&shape))];
    let rows = r.helper(at, pd::GatherGrad::NAME, &[index, value], &attrs)?;
    r.op(at, pd::Add::NAME, &[base, rows], &[])?;
    add(r, at, more)
}

/// The flow that something is read from. That of a gradient has what was added.
fn read_flow(r: &mut Reader<'_>, at: usize, index: usize) -> Result<ValueId> {
    let (handle, flow) = (r.input(at, 0)?, r.input(at, index)?);
    if matches!(r.handle(handle), Some(Handle::Slopes(_))) && is_forward(r, flow) {
        return Err("its flow does not determine what was added to the gradient".to_owned());
    }
    r.operand(at, index)
}

/// The list that an element is written to, and the addend of the result: to the gradient of an array, everything is added.
fn written(r: &mut Reader<'_>, at: usize, flow: ValueId) -> Result<(ValueId, Option<ValueId>)> {
    let handle = r.input(at, 0)?;
    if !matches!(r.handle(handle), Some(Handle::Slopes(_))) {
        return Ok((flow, None));
    }
    let input = r.input(at, r.num_inputs(at) - 1)?;
    let more = match (is_forward(r, input), is_slope(r, input)) {
        (true, _) => None,
        (false, true) => Some(flow),
        (false, false) => return Err("the contents of its flow are unknown".to_owned()),
    };
    let zeros = select::like(r, at, flow, 0.0)?;
    r.same_list(flow, zeros);
    Ok((zeros, more))
}

/// Adds what was there before to the result of a node.
fn add(r: &mut Reader<'_>, at: usize, more: Option<ValueId>) -> Result<()> {
    match (more, r.values[at].first()) {
        (Some(before), Some(&own)) => r.op(at, pd::Add::NAME, &[before, own], &[]),
        _ => Ok(()),
    }
}

/// Whether a flow is that of an array, and not of a gradient.
fn is_forward(r: &Reader<'_>, input: Input) -> bool {
    leads_to(
        r,
        input,
        &["TensorArrayV3"],
        |handle| matches!(handle, Handle::Array(_)),
        &[],
    )
}

/// Whether a flow has what was added to the gradient of an array.
pub(super) fn is_slope(r: &Reader<'_>, input: Input) -> bool {
    leads_to(
        r,
        input,
        &[],
        |handle| matches!(handle, Handle::Slopes(_)),
        &["Add", "AddN", "AddV2"],
    )
}

/// Whether a flow comes from one of these nodes, or from what writes to an array of such a handle; `joins` have several inputs.
fn leads_to(r: &Reader<'_>, input: Input, makers: &[&str], is: impl Fn(&Handle) -> bool, joins: &[&str]) -> bool {
    let (mut pending, mut seen) = (vec![input.node], FxHashSet::default());
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        let (op, inputs) = (r.nodes[node].op.as_str(), &r.inputs[node]);
        match op {
            _ if makers.contains(&op) => return true,
            "TensorArrayWriteV3" | "TensorArrayScatterV3" | "TensorArraySplitV3" => {
                let handle = inputs.first().and_then(|&handle| r.handle(handle));
                let found = handle.is_some_and(|handle| is(&handle));
                if found {
                    return true;
                }
            }
            _ if joins.contains(&op) => pending.extend(inputs.iter().map(|i| i.node)),
            _ if FORWARDS.contains(&super::row::plain_name(op)) => pending.extend(inputs.first().map(|i| i.node)),
            _ => {}
        }
    }
    false
}
