//! Lists and arrays of tensors: `TensorList…`, `TensorArray…V3`.
//!
//! Here each is a tensor whose first dimension counts the elements, which can be carried by loops and differentiated. Where
//! the shape of the elements is not declared, it is that of the first element that is written: the graph is read again with
//! it (`Reader::learn`). Of a `TensorArray` the flow is the tensor, the handle only tells which one it is.

use pir_dialects::pd;
use pir_ir::{DYNAMIC, Type, ValueId};

use super::super::proto::Value;
use super::super::types;
use super::ops::{Row, number_of};
use super::scope::Handle;
use super::{Reader, Result};

pub(super) const TABLE: &[Row] = &[
    ("EmptyTensorList", "shape_type i32", "element_dtype", |r, at| {
        r.input(at, 1)?;
        let elem = r.elem(at, "element_dtype")?;
        let dims = r.known(at, 0);
        make(r, at, 0, dims, elem)?;
        // It grows.
        if let Some(&value) = r.values[at].first() {
            let (dims, elem) = r.dims(value)?;
            let dims: Vec<i64> = std::iter::once(DYNAMIC).chain(dims.into_iter().skip(1)).collect();
            let ty = r.ctx.tensor(&dims, elem);
            r.body.set_value_type(value, ty);
        }
        Ok(())
    }),
    ("TensorListFromTensor", "element_dtype shape_type", "", |r, at| {
        r.input(at, 1)?;
        let x = r.operand(at, 0)?;
        r.op(at, pd::Assign::NAME, &[x], &[])
    }),
    ("TensorListGetItem", "variant i32 i32", "element_dtype", |r, at| {
        r.input(at, 2)?;
        let _ = r.elem(at, "element_dtype")?;
        let (list, index) = (r.operand(at, 0)?, r.operand(at, 1)?);
        get(r, at, list, index)
    }),
    ("TensorListLength", "variant", "", |r, at| {
        let list = r.operand(at, 0)?;
        length(r, at, list)
    }),
    (
        "TensorListPopBack",
        "variant i32 -> output_handle tensor",
        "element_dtype",
        pop,
    ),
    ("TensorListPushBack", "variant element_dtype", "", push),
    ("TensorListReserve", "shape_type i32", "element_dtype", |r, at| {
        let count = r.scalar(at, 1, "length")?;
        let elem = r.elem(at, "element_dtype")?;
        let dims = r.known(at, 0);
        make(r, at, count, dims, elem)
    }),
    (
        "TensorListSetItem",
        "variant i32 element_dtype",
        "resize_if_index_out_of_bounds=false",
        |r, at| {
            let (list, index, item) = (r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 2)?);
            set(r, at, list, index, item)
        },
    ),
    (
        "TensorListStack",
        "variant i32",
        "element_dtype num_elements=-1",
        |r, at| {
            r.input(at, 1)?;
            let _ = (r.elem(at, "element_dtype")?, r.int(at, "num_elements"));
            let list = r.operand(at, 0)?;
            r.op(at, pd::Assign::NAME, &[list], &[])
        },
    ),
    (
        "TensorArrayV3",
        "i32 -> handle flow",
        "dtype element_shape=? dynamic_size=false clear_after_read=true identical_element_shapes=false tensor_array_name=",
        |r, at| {
            let (elem, count) = (r.elem(at, "dtype")?, r.scalar(at, 0, "size")?);
            // What may be read twice, and how it may grow, matters to TensorFlow's memory only.
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
            r.handles[at] = vec![Some(Handle::Array(r.place(at)))];
            let flow = r.values[at].clone();
            r.values[at].extend(flow);
            Ok(())
        },
    ),
    (
        "TensorArrayGatherV3",
        "handle i32 flow",
        "dtype element_shape=?",
        |r, at| {
            let _ = (r.attr(at, "element_shape"), r.elem(at, "dtype")?, r.input(at, 0)?);
            let flow = r.operand(at, 2)?;
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
    ("TensorArrayReadV3", "handle i32 flow", "dtype", |r, at| {
        let _ = (r.elem(at, "dtype")?, r.input(at, 0)?);
        let (index, flow) = (r.operand(at, 1)?, r.operand(at, 2)?);
        get(r, at, flow, index)
    }),
    ("TensorArrayScatterV3", "handle i32 T flow", "", |r, at| {
        r.input(at, 0)?;
        let (value, flow) = (r.operand(at, 2)?, r.operand(at, 3)?);
        let count = r.dims(value)?.0.first().copied();
        let places = r.list(at, 1, "indices")?;
        if Some(places.len() as i64) != count || !places.iter().copied().eq(0..places.len() as i64) {
            return Err("only all elements in order are scattered here".to_owned());
        }
        learn_item(r, at, flow, value, 1)?;
        r.op(at, pd::Assign::NAME, &[value], &[])
    }),
    ("TensorArraySizeV3", "handle flow", "", |r, at| {
        r.input(at, 0)?;
        let flow = r.operand(at, 1)?;
        length(r, at, flow)
    }),
    ("TensorArrayWriteV3", "handle i32 T flow", "", |r, at| {
        r.input(at, 0)?;
        let (index, value, flow) = (r.operand(at, 1)?, r.operand(at, 2)?, r.operand(at, 3)?);
        set(r, at, flow, index, value)
    }),
];

/// A list of `count` elements that are zero, of a shape that is declared or learned.
fn make(r: &mut Reader<'_>, at: usize, count: i64, dims: Option<Vec<i64>>, elem: Type) -> Result<()> {
    let key = r.place(at);
    let declared = dims.filter(|dims| dims.iter().all(|&d| d >= 0));
    let shape = match (&declared, r.learned.get(&key)) {
        (Some(dims), _) => dims.clone(),
        (None, Some(&ty)) => r.ctx.as_tensor(ty).map(|(dims, _)| dims.to_vec()).unwrap_or_default(),
        (None, None) => Vec::new(),
    };
    if shape.contains(&DYNAMIC) {
        return Err("the shape of its elements is not known before they are written".to_owned());
    }
    let shape = [&[count][..], &shape].concat();
    r.tensor(&shape, elem)?;
    let attrs = [
        ("shape", r.ctx.ints_attr(&shape)),
        ("value", number_of(r.ctx, elem, 0.0)),
        ("dtype", r.ctx.type_attr(elem)),
    ];
    r.op(at, pd::Full::NAME, &[], &attrs)?;
    if let (None, Some(&value)) = (declared, r.values[at].first()) {
        r.lists.insert(value, key);
    }
    Ok(())
}

/// The list that a value is, if the shape of its elements is not declared.
fn list_of(r: &Reader<'_>, at: usize, list: ValueId) -> Option<String> {
    let handle = match r.inputs[at].first() {
        Some(&input) => r.handle(input),
        None => None,
    };
    match handle {
        Some(Handle::Array(key)) => Some(key),
        _ => r.lists.get(&list).cloned(),
    }
}

/// Notes the shape of an element, which has `skip` dimensions more than that.
fn learn_item(r: &mut Reader<'_>, at: usize, list: ValueId, item: ValueId, skip: usize) -> Result<bool> {
    let (have, (item, elem)) = (r.dims(list)?.0, r.dims(item)?);
    let item = item.get(skip..).unwrap_or_default();
    let held = have.get(1..).unwrap_or_default();
    let fits = held.len() == item.len()
        && held
            .iter()
            .zip(item)
            .all(|(a, b)| a == b || *a == DYNAMIC || *b == DYNAMIC);
    if fits {
        return Ok(true);
    }
    match list_of(r, at, list) {
        Some(key) => {
            let (now, before) = (r.ctx.tensor(item, elem), r.ctx.tensor(held, elem));
            r.learn(&key, now, before);
            Ok(false)
        }
        None => Err("its element has another shape than the list says".to_owned()),
    }
}

/// The element at a place.
fn get(r: &mut Reader<'_>, at: usize, list: ValueId, index: ValueId) -> Result<()> {
    let first = [("axis", r.ctx.ints_attr(&[0]))];
    let index = r.helper(at, pd::Unsqueeze::NAME, &[index], &first)?;
    let row = r.helper(at, pd::Gather::NAME, &[list, index], &[("axis", r.ctx.int_attr(0))])?;
    r.op(at, pd::Squeeze::NAME, &[row], &first)
}

/// The list with another element at a place.
fn set(r: &mut Reader<'_>, at: usize, list: ValueId, index: ValueId, item: ValueId) -> Result<()> {
    let fits = learn_item(r, at, list, item, 0)?;
    let first = [("axis", r.ctx.ints_attr(&[0]))];
    let row = r.helper(at, pd::Unsqueeze::NAME, &[item], &first)?;
    if !fits {
        // It is read again; until then any value of the right shape will do.
        r.op(at, pd::Assign::NAME, &[row], &[])?;
    } else {
        let (dims, _) = r.dims(list)?;
        let (&count, rest) = dims.split_first().ok_or("it is no list")?;
        let (_, kind) = r.dims(index)?;
        let range = [
            ("start", r.ctx.int_attr(0)),
            ("end", r.ctx.int_attr(count)),
            ("step", r.ctx.int_attr(1)),
            ("dtype", r.ctx.type_attr(kind)),
        ];
        if count == DYNAMIC {
            return Err("the length of the list is not known".to_owned());
        }
        let places = r.helper(at, pd::Arange::NAME, &[], &range)?;
        let here = r.helper(at, pd::Equal::NAME, &[places, index], &[])?;
        let shape: Vec<i64> = std::iter::once(count).chain(rest.iter().map(|_| 1)).collect();
        let here = match rest.is_empty() {
            true => here,
            false => r.helper(at, pd::Reshape::NAME, &[here], &[("shape", r.ctx.ints_attr(&shape))])?,
        };
        r.op(at, pd::Where::NAME, &[here, row, list], &[])?;
    }
    if let Some(&value) = r.values[at].first() {
        r.same_list(list, value);
    }
    Ok(())
}

/// The number of elements.
fn length(r: &mut Reader<'_>, at: usize, list: ValueId) -> Result<()> {
    let (dims, _) = r.dims(list)?;
    let &count = dims.first().ok_or("it is no list")?;
    if count >= 0 {
        let attrs = super::constants::full(r, &[], types::Number::Int(count.into()), Type::I32);
        return r.op(at, pd::Full::NAME, &[], &attrs);
    }
    let shape = r.helper(at, pd::Shape::NAME, &[list], &[])?;
    let bounds = stretch(r, 0, 1, &[0]);
    let count = r.helper(at, pd::Slice::NAME, &[shape], &bounds)?;
    r.op(at, pd::Cast::NAME, &[count], &[("dtype", r.ctx.type_attr(Type::I32))])
}

/// The attributes of a slice of the first dimension.
fn stretch(r: &Reader<'_>, start: i64, end: i64, dropped: &[i64]) -> Vec<(&'static str, pir_ir::Attr)> {
    vec![
        ("axes", r.ctx.ints_attr(&[0])),
        ("starts", r.ctx.ints_attr(&[start])),
        ("ends", r.ctx.ints_attr(&[end])),
        ("decrease_axis", r.ctx.ints_attr(dropped)),
    ]
}

fn push(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (list, item) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let fits = learn_item(r, at, list, item, 0)?;
    let first = [("axis", r.ctx.ints_attr(&[0]))];
    let row = r.helper(at, pd::Unsqueeze::NAME, &[item], &first)?;
    match fits {
        true => r.op(at, pd::Concat::NAME, &[list, row], &[("axis", r.ctx.int_attr(0))])?,
        false => r.op(at, pd::Assign::NAME, &[row], &[])?,
    }
    if let Some(&value) = r.values[at].first() {
        r.same_list(list, value);
    }
    Ok(())
}

fn pop(r: &mut Reader<'_>, at: usize) -> Result<()> {
    r.input(at, 1)?;
    let _ = r.elem(at, "element_dtype")?;
    let list = r.operand(at, 0)?;
    let bounds = stretch(r, -1, i64::from(i32::MAX), &[0]);
    let last = r.helper(at, pd::Slice::NAME, &[list], &bounds)?;
    let bounds = stretch(r, 0, -1, &[]);
    r.op(at, pd::Slice::NAME, &[list], &bounds)?;
    if let Some(&value) = r.values[at].first() {
        r.same_list(list, value);
    }
    r.values[at].push(last);
    Ok(())
}
