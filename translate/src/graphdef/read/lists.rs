//! Lists of tensors: `TensorList…`.
//!
//! Here each is a tensor whose first dimension counts the elements, which can be carried by loops and differentiated. Where
//! the shape of the elements is not declared, it is that of the first element that is written: the graph is read again with
//! it (`Reader::learn`). Elements whose first dimension is not known, as lists have it, are stacked (`nested`). An optional tensor is that tensor; where there is none, zeros of its shape are.

use pir_dialects::pd;
use pir_ir::{DYNAMIC, Type, ValueId};

use super::super::proto::Value;
use super::super::types;
use super::nested;
use super::reader::{Reader, Result};
use super::row::{Row, number_of};
use super::scope::Handle;

pub(super) const TABLE: &[Row] = &[
    ("OptionalFromValue", "Toutput_types**", "", |r, at| {
        match r.num_inputs(at) {
            1 => {
                let x = r.operand(at, 0)?;
                r.op(at, pd::Assign::NAME, &[x], &[])
            }
            _ => Err("it holds several tensors".to_owned()),
        }
    }),
    (
        "OptionalGetValue",
        "variant",
        "output_types output_shapes=[]",
        |r, at| {
            let _ = (r.attr(at, "output_types"), r.attr(at, "output_shapes"));
            let x = r.operand(at, 0)?;
            r.op(at, pd::Assign::NAME, &[x], &[])
        },
    ),
    ("OptionalNone", "", "", |r, at| {
        // Any value of the type that there is on the other side of a branch.
        let key = r.place(at);
        let ty = r.learned.get(&key).copied();
        let (dims, elem) = ty.and_then(|ty| r.ctx.as_tensor(ty)).unwrap_or((&[], Type::F32));
        let dims = dims.to_vec();
        if dims.contains(&DYNAMIC) {
            return Err("the shape of the missing element is unknown".to_owned());
        }
        let attrs = [
            ("shape", r.ctx.ints_attr(&dims)),
            ("value", number_of(r.ctx, elem, 0.0)),
            ("dtype", r.ctx.type_attr(elem)),
        ];
        r.op(at, pd::Full::NAME, &[], &attrs)?;
        if let Some(&value) = r.values[at].first() {
            r.missing.insert(value, key);
        }
        Ok(())
    }),
    ("EmptyTensorList", "shape_type i32", "element_dtype", |r, at| {
        r.input(at, 1)?;
        let (dims, elem) = element(r, at)?;
        make(r, at, 0, dims, elem)?;
        grow(r, at)
    }),
    (
        "TensorListConcatV2",
        "variant shape_type leading_dims -> tensor lengths",
        "element_dtype",
        |r, at| {
            let _ = (r.attr(at, "element_dtype"), r.input(at, 1)?, r.input(at, 2)?);
            let list = r.operand(at, 0)?;
            joined(r, at, list)
        },
    ),
    ("TensorListElementShape", "variant", "shape_type", |r, at| {
        let list = r.operand(at, 0)?;
        let elem = r.elem(at, "shape_type")?;
        let (dims, _) = r.dims(list)?;
        let rest = dims.get(1..).unwrap_or_default();
        if rest.contains(&DYNAMIC) {
            return Err("the shape of its elements is unknown".to_owned());
        }
        let attrs = [("value", r.ctx.ints_attr(rest)), ("dtype", r.ctx.type_attr(elem))];
        r.op(at, pd::FullIntArray::NAME, &[], &attrs)
    }),
    ("TensorListFromTensor", "element_dtype shape_type", "", |r, at| {
        r.input(at, 1)?;
        let x = r.operand(at, 0)?;
        r.op(at, pd::Assign::NAME, &[x], &[])
    }),
    ("TensorListGather", "variant i32 i32", "element_dtype", |r, at| {
        let _ = (r.attr(at, "element_dtype"), r.input(at, 2)?);
        let (list, places) = (r.operand(at, 0)?, r.operand(at, 1)?);
        r.op(at, pd::Gather::NAME, &[list, places], &[("axis", r.ctx.int_attr(0))])
    }),
    ("TensorListGetItem", "variant i32 i32", "element_dtype", |r, at| {
        r.input(at, 2)?;
        r.attr(at, "element_dtype");
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
        let (dims, elem) = element(r, at)?;
        make(r, at, count, dims, elem)
    }),
    (
        "TensorListScatterIntoExistingList",
        "variant element_dtype i32",
        "",
        |r, at| {
            let (list, rows, places) = (r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 2)?);
            match learn_item(r, at, list, rows, 1)? {
                true => r.op(at, pd::Scatter::NAME, &[list, places, rows], &[])?,
                false => r.op(at, pd::Assign::NAME, &[rows], &[])?,
            }
            if let Some(&value) = r.values[at].first() {
                r.same_list(list, value);
            }
            Ok(())
        },
    ),
    (
        "TensorListSetItem",
        "variant i32 element_dtype",
        "resize_if_index_out_of_bounds=false",
        |r, at| {
            let (list, index, item) = (r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 2)?);
            let grows = r.flag(at, "resize_if_index_out_of_bounds");
            set(r, at, list, index, item, grows)
        },
    ),
    ("TensorListSplit", "element_dtype shape_type lengths", "", |r, at| {
        r.input(at, 1)?;
        let (x, lengths) = (r.operand(at, 0)?, r.list(at, 2, "lengths")?);
        let list = super::arrays::apart(r, at, x, &lengths)?;
        r.op(at, pd::Assign::NAME, &[list], &[])
    }),
    (
        "TensorListStack",
        "variant i32",
        "element_dtype num_elements=-1",
        |r, at| {
            r.input(at, 1)?;
            let _ = (r.attr(at, "element_dtype"), r.int(at, "num_elements"));
            let list = r.operand(at, 0)?;
            r.op(at, pd::Assign::NAME, &[list], &[])
        },
    ),
];

/// Makes the length of a new list one that is not known.
pub(super) fn grow(r: &mut Reader<'_>, at: usize) -> Result<()> {
    if let Some(&value) = r.values[at].first() {
        let (dims, elem) = r.dims(value)?;
        let dims: Vec<i64> = std::iter::once(DYNAMIC).chain(dims.into_iter().skip(1)).collect();
        let ty = r.ctx.tensor(&dims, elem);
        r.body.set_value_type(value, ty);
    }
    Ok(())
}

/// The declared shape of the elements of a new list, and their type; those of optional tensors or of lists are learned.
fn element(r: &Reader<'_>, at: usize) -> Result<(Option<Vec<i64>>, Type)> {
    let dims = r.known(at, 0);
    match r.attr(at, "element_dtype") {
        Some(Value::Type(types::VARIANT)) => {
            let learned = r.learned.get(&r.place(at)).map(|&ty| r.ctx.elem_type(ty));
            Ok((None, learned.unwrap_or(Type::F32)))
        }
        _ => Ok((dims, r.elem(at, "element_dtype")?)),
    }
}

/// A list of `count` elements that are zero, of a shape that is declared or learned.
pub(super) fn make(r: &mut Reader<'_>, at: usize, count: i64, dims: Option<Vec<i64>>, elem: Type) -> Result<()> {
    let key = r.place(at);
    let declared = dims.filter(|dims| dims.iter().all(|&d| d >= 0));
    let shape = match (&declared, r.learned.get(&key)) {
        (Some(dims), _) => dims.clone(),
        (None, Some(&ty)) => r.ctx.as_tensor(ty).map(|(dims, _)| dims.to_vec()).unwrap_or_default(),
        (None, None) => Vec::new(),
    };
    let shape = match nested::rows(&shape) {
        // The lists in it are separate rows.
        Some(rows) if count == 0 => rows.to_vec(),
        _ => shape,
    };
    if shape.contains(&DYNAMIC) {
        return Err("the shape of its elements is unknown before they are written".to_owned());
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
pub(super) fn list_of(r: &Reader<'_>, at: usize, list: ValueId) -> Option<String> {
    let handle = match r.inputs[at].first() {
        Some(&input) => r.handle(input),
        None => None,
    };
    match handle {
        Some(Handle::Array(key) | Handle::Slopes(key)) => Some(key),
        _ => r.lists.get(&list).cloned(),
    }
}

/// Notes the shape of an element, which has `skip` dimensions more than that.
pub(super) fn learn_item(r: &mut Reader<'_>, at: usize, list: ValueId, item: ValueId, skip: usize) -> Result<bool> {
    let ((have, kind), (item, elem)) = (r.dims(list)?, r.dims(item)?);
    let item = item.get(skip..).unwrap_or_default();
    let held = have.get(1..).unwrap_or_default();
    let fits = kind == elem
        && held.len() == item.len()
        && held
            .iter()
            .zip(item)
            .all(|(a, b)| a == b || *a == DYNAMIC || *b == DYNAMIC);
    if fits {
        return Ok(true);
    }
    match list_of(r, at, list) {
        Some(key) => {
            let (now, before) = (r.ctx.tensor(item, elem), r.ctx.tensor(held, kind));
            r.learn(&key, now, before);
            Ok(false)
        }
        None => Err("its element has another shape than the list declares".to_owned()),
    }
}

/// The elements, concatenated, and their lengths if these are known.
pub(super) fn joined(r: &mut Reader<'_>, at: usize, list: ValueId) -> Result<()> {
    let (dims, _) = r.dims(list)?;
    let &[count, each, ref rest @ ..] = &dims[..] else {
        return Err("its elements have no first dimension".to_owned());
    };
    let known = count >= 0 && each >= 0;
    let total = match known {
        true => count.checked_mul(each).ok_or("its extents are too large")?,
        false => -1,
    };
    let shape = [&[total][..], rest].concat();
    r.op(at, pd::Reshape::NAME, &[list], &[("shape", r.ctx.ints_attr(&shape))])?;
    if known {
        let lengths = [
            ("shape", r.ctx.ints_attr(&[count])),
            ("value", r.ctx.int_attr(each)),
            ("dtype", r.ctx.type_attr(Type::I64)),
        ];
        let lengths = r.helper(at, pd::Full::NAME, &[], &lengths)?;
        r.values[at].push(lengths);
    }
    Ok(())
}

/// The element at a place.
pub(super) fn get(r: &mut Reader<'_>, at: usize, list: ValueId, index: ValueId) -> Result<()> {
    let first = [("axis", r.ctx.ints_attr(&[0]))];
    let index = r.helper(at, pd::Unsqueeze::NAME, &[index], &first)?;
    let row = r.helper(at, pd::Gather::NAME, &[list, index], &[("axis", r.ctx.int_attr(0))])?;
    r.op(at, pd::Squeeze::NAME, &[row], &first)
}

/// The list with another element at a place.
pub(super) fn set(
    r: &mut Reader<'_>,
    at: usize,
    list: ValueId,
    index: ValueId,
    item: ValueId,
    grows: bool,
) -> Result<()> {
    let fits = learn_item(r, at, list, item, 0)?;
    let first = [("axis", r.ctx.ints_attr(&[0]))];
    let row = r.helper(at, pd::Unsqueeze::NAME, &[item], &first)?;
    if !fits {
        // The body is read again; until then any value of the right shape will do.
        r.op(at, pd::Assign::NAME, &[row], &[])?;
    } else if grows || r.dims(list)?.0.first() == Some(&DYNAMIC) {
        set_growing(r, at, list, index, row)?;
    } else {
        let (dims, _) = r.dims(list)?;
        let (&count, rest) = dims.split_first().ok_or("its input is not a list")?;
        let (_, kind) = r.dims(index)?;
        let range = [
            ("start", r.ctx.int_attr(0)),
            ("end", r.ctx.int_attr(count)),
            ("step", r.ctx.int_attr(1)),
            ("dtype", r.ctx.type_attr(kind)),
        ];
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

/// The same for a list that grows if the index is after its end: the elements before it, zeros up to the place, the element, and what
/// is after it.
fn set_growing(r: &mut Reader<'_>, at: usize, list: ValueId, index: ValueId, row: ValueId) -> Result<()> {
    let (dims, elem) = r.dims(list)?;
    let rest = dims.get(1..).unwrap_or_default();
    if rest.contains(&DYNAMIC) {
        return Err("the shape of its elements is unknown".to_owned());
    }
    let wide = ("dtype", r.ctx.type_attr(Type::I64));
    let vector = |r: &mut Reader<'_>, numbers: &[i64]| r.vector(at, numbers, Type::I64);
    let first = [("axis", r.ctx.ints_attr(&[0]))];
    let index = r.helper(at, pd::Cast::NAME, &[index], &[wide])?;
    let place = r.helper(at, pd::Unsqueeze::NAME, &[index], &first)?;
    let (zero, one, most) = (vector(r, &[0])?, vector(r, &[1])?, vector(r, &[i64::from(i32::MAX)])?);
    let next = r.helper(at, pd::Add::NAME, &[place, one], &[])?;
    let bounds = [("axes", r.ctx.ints_attr(&[0])), ("decrease_axis", r.ctx.ints_attr(&[]))];
    let front = r.helper(at, pd::Slice::NAME, &[list, zero, place], &bounds)?;
    let behind = r.helper(at, pd::Slice::NAME, &[list, next, most], &bounds)?;
    let shape = r.helper(at, pd::Shape::NAME, &[list], &[])?;
    let count = r.helper(at, pd::Slice::NAME, &[shape], &stretch(r, 0, 1, &[]))?;
    let gap = r.helper(at, pd::Subtract::NAME, &[place, count], &[])?;
    let mut gap = r.helper(at, pd::Maximum::NAME, &[gap, zero], &[])?;
    if !rest.is_empty() {
        let rest = vector(r, rest)?;
        gap = r.helper(at, pd::Concat::NAME, &[gap, rest], &[("axis", r.ctx.int_attr(0))])?;
    }
    let nothing = [
        ("shape", r.ctx.ints_attr(&[])),
        ("value", number_of(r.ctx, elem, 0.0)),
        ("dtype", r.ctx.type_attr(elem)),
    ];
    let nothing = r.helper(at, pd::Full::NAME, &[], &nothing)?;
    let gap = r.helper(at, pd::Expand::NAME, &[nothing, gap], &[])?;
    r.op(
        at,
        pd::Concat::NAME,
        &[front, gap, row, behind],
        &[("axis", r.ctx.int_attr(0))],
    )
}

/// The number of elements.
pub(super) fn length(r: &mut Reader<'_>, at: usize, list: ValueId) -> Result<()> {
    let (dims, _) = r.dims(list)?;
    let &count = dims.first().ok_or("its input is not a list")?;
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
    if nested::push(r, at, list, item)? {
        return Ok(());
    }
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
    r.attr(at, "element_dtype");
    let list = r.operand(at, 0)?;
    if nested::pop(r, at, list)? {
        return Ok(());
    }
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
