//! Nodes whose axes, shapes and indices are constant operands in TensorFlow and attributes here.

use pir_dialects::pd;
use pir_ir::{Type, ValueId};

use super::super::types::{self, Number};
use super::bounds::{self, Bounds, Entry};
use super::reader::{Reader, Result};
use super::row::Row;
use super::{constants, library, select, slices, spectrum};

pub(super) const TABLE: &[Row] = &[
    ("All", "bool Tidx", "keep_dims=false", |r, at| {
        reduce(r, at, pd::All::NAME)
    }),
    ("Any", "bool Tidx", "keep_dims=false", |r, at| {
        reduce(r, at, pd::Any::NAME)
    }),
    ("ArgMax", "T Tidx", "output_type=DT_INT64", |r, at| {
        arg(r, at, pd::Argmax::NAME)
    }),
    ("ArgMin", "T Tidx", "output_type=DT_INT64", |r, at| {
        arg(r, at, pd::Argmin::NAME)
    }),
    // The sums over axes of unknown extents read the shapes themselves.
    ("BroadcastGradientArgs", "T T -> r0 r1", "", |r, at| {
        match several(r, at) {
            Err(_) if r.errors.is_empty() => Ok(()),
            result => result,
        }
    }),
    ("BroadcastTo", "T Tidx", "", |r, at| {
        let x = r.operand(at, 0)?;
        with_shape(r, at, pd::Expand::NAME, x, 1)
    }),
    ("ConcatOffset", "i32 shape_type*", "", several),
    ("Fill", "index_type T", "", |r, at| {
        if let (Some(dims), Some((_, numbers, _))) = (r.known(at, 0), r.constant(at, 1))
            && let [value] = numbers[..]
        {
            let value_node = r.input(at, 1)?.node;
            let elem = types::elem(r.ctx, r.constants[value_node].as_ref().map_or(0, |c| c.2));
            let elem = elem.ok_or("its element type is not supported")?;
            r.tensor(&dims, elem)?;
            r.input(at, 0)?;
            let attrs = constants::full(r, &dims, value, elem);
            return r.op(at, pd::Full::NAME, &[], &attrs);
        }
        let value = r.operand(at, 1)?;
        with_shape(r, at, pd::Expand::NAME, value, 0)
    }),
    ("GatherV2", "Tparams Tindices Taxis", "batch_dims=0", select::gather),
    ("MatrixBandPart", "T Tindex Tindex", "", |r, at| {
        let (x, lower, upper) = (r.operand(at, 0)?, r.scalar(at, 1, "band")?, r.scalar(at, 2, "band")?);
        let mut x = x;
        if lower >= 0 {
            let attrs = [("diagonal", r.ctx.int_attr(lower.saturating_neg()))];
            if upper < 0 {
                return r.op(at, pd::Triu::NAME, &[x], &attrs);
            }
            x = r.helper(at, pd::Triu::NAME, &[x], &attrs)?;
        }
        match upper {
            0.. => r.op(at, pd::Tril::NAME, &[x], &[("diagonal", r.ctx.int_attr(upper))]),
            _ => r.op(at, pd::Assign::NAME, &[x], &[]),
        }
    }),
    ("Max", "T Tidx", "keep_dims=false", |r, at| reduce(r, at, pd::Max::NAME)),
    ("Mean", "T Tidx", "keep_dims=false", |r, at| {
        reduce(r, at, pd::Mean::NAME)
    }),
    ("Min", "T Tidx", "keep_dims=false", |r, at| reduce(r, at, pd::Min::NAME)),
    ("OneHot", "TI i32 T T", "axis=-1", select::one_hot),
    ("Pad", "T Tpaddings", "", |r, at| pad(r, at)),
    ("PadV2", "T Tpaddings T", "", |r, at| pad(r, at)),
    ("Prod", "T Tidx", "keep_dims=false", |r, at| {
        reduce(r, at, pd::Prod::NAME)
    }),
    ("Range", "Tidx Tidx Tidx", "", |r, at| {
        // A SavedModel omits what is usual.
        let elem = r.elem(at, "Tidx").unwrap_or(Type::I32);
        let number = |i| {
            let mut input = r.input(at, i)?;
            // Python's whole numbers become floats in nodes of their own.
            if r.ctx.is_float(elem) && r.nodes[input.node].op == "Cast" {
                input = *r.inputs[input.node].first().ok_or("it is empty")?;
            }
            let constant = r.computed(input).ok_or("its limits must be constants")?;
            constant.1.first().copied().ok_or_else(|| "it is empty".to_owned())
        };
        let attr = |n: Number| match n {
            Number::Int(value) => r.ctx.int_attr(value as i64),
            Number::Float(value) => r.ctx.float_attr(value),
        };
        let attrs = [
            ("start", attr(number(0)?)),
            ("end", attr(number(1)?)),
            ("step", attr(number(2)?)),
            ("dtype", r.ctx.type_attr(elem)),
        ];
        r.op(at, pd::Arange::NAME, &[], &attrs)
    }),
    ("Reshape", "T Tshape", "", select::reshape),
    ("Shape", "T", "out_type=DT_INT32", |r, at| {
        counted(r, at, pd::Shape::NAME)
    }),
    ("ShapeN", "T*", "out_type=DT_INT32", |r, at| {
        let elem = r.elem(at, "out_type").unwrap_or(Type::I32);
        let mut values = Vec::new();
        for index in 0..r.num_inputs(at) {
            let x = r.operand(at, index)?;
            let shape = r.helper(at, pd::Shape::NAME, &[x], &[])?;
            values.push(r.of_elem(at, shape, elem)?);
        }
        r.values[at] = values;
        Ok(())
    }),
    ("Size", "T", "out_type=DT_INT32", |r, at| {
        counted(r, at, pd::Numel::NAME)
    }),
    ("Split", "i32 T", "num_split", |r, at| {
        let (axis, x) = (r.scalar(at, 0, "axis")?, r.operand(at, 1)?);
        let count = results(r.int(at, "num_split"))?;
        let attrs = [("num", r.ctx.int_attr(count as i64)), ("axis", r.ctx.int_attr(axis))];
        r.op_of(at, pd::SplitWithNum::NAME, &[x], &attrs, count)
    }),
    ("SplitV", "T Tlen i32", "num_split", |r, at| {
        let (x, sizes, axis) = (r.operand(at, 0)?, r.list(at, 1, "sizes")?, r.scalar(at, 2, "axis")?);
        if r.int(at, "num_split")
            .is_some_and(|n| usize::try_from(n) != Ok(sizes.len()))
        {
            return Err("its sizes and its results differ in number".to_owned());
        }
        let attrs = [("sections", r.ctx.ints_attr(&sizes)), ("axis", r.ctx.int_attr(axis))];
        r.op_of(at, pd::Split::NAME, &[x], &attrs, sizes.len())
    }),
    ("Squeeze", "T", "squeeze_dims=[]", |r, at| {
        let x = r.operand(at, 0)?;
        let axes = match r.attr(at, "squeeze_dims").or_else(|| r.attr(at, "axis")) {
            Some(super::super::proto::Value::List(list)) => list.ints.clone(),
            _ => Vec::new(),
        };
        r.op(at, pd::Squeeze::NAME, &[x], &[("axis", r.ctx.ints_attr(&axes))])
    }),
    ("StridedSlice", "T Index Index Index", slices::MASKS, strided_slice),
    ("Sum", "T Tidx", "keep_dims=false", |r, at| {
        let x = r.operand(at, 0)?;
        match r.known(at, 1).is_none() && library::reduced_as(r, at, x)? {
            true => Ok(()),
            false => reduce(r, at, pd::Sum::NAME),
        }
    }),
    (
        "TopKV2",
        "T Tk -> values indices",
        "sorted=true index_type=DT_INT32",
        |r, at| {
            let (x, k) = (r.operand(at, 0)?, r.scalar(at, 1, "count")?);
            // The result is sorted either way.
            let _ = r.flag(at, "sorted");
            r.op_of(at, pd::Topk::NAME, &[x], &[("k", r.ctx.int_attr(k))], 2)?;
            let places = r.elem(at, "index_type").unwrap_or(Type::I32);
            if let Some(&found) = r.values[at].get(1) {
                r.values[at][1] = r.of_elem(at, found, places)?;
            }
            Ok(())
        },
    ),
    ("Unpack", "T", "num axis=0", |r, at| {
        let x = r.operand(at, 0)?;
        let (count, axis) = (results(r.int(at, "num"))?, r.int(at, "axis").unwrap_or(0));
        let attrs = [("axis", r.ctx.int_attr(axis)), ("num", r.ctx.int_attr(count as i64))];
        r.op_of(at, pd::Unstack::NAME, &[x], &attrs, count)
    }),
];

/// Vectors that follow from the shapes of other tensors.
fn several(r: &mut Reader<'_>, at: usize) -> Result<()> {
    for index in 0..r.num_inputs(at) {
        r.input(at, index)?;
    }
    let known = super::fold::several(r, at).and_then(|all| all.into_iter().collect::<Option<Vec<_>>>());
    let known = known.ok_or("the shapes that it reads must be static")?;
    let elem = match r.input_code(at, r.num_inputs(at) - 1) {
        Some(types::INT64) => Type::I64,
        _ => Type::I32,
    };
    let mut values = Vec::new();
    for known in known {
        let numbers = known.ints().ok_or("the shapes that it reads must be static")?;
        values.push(r.vector(at, &numbers, elem)?);
    }
    r.values[at] = values;
    Ok(())
}

/// The number of results that an attribute declares, bounded so that a file cannot exhaust the memory.
fn results(count: Option<i64>) -> Result<usize> {
    const MOST: usize = 1 << 16;
    let count = count.and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= MOST);
    count.ok_or_else(|| "the number of its results is missing".to_owned())
}

/// An operation whose shape is an attribute, or an operand if it is dynamic.
pub(super) fn with_shape(r: &mut Reader<'_>, at: usize, name: &str, x: ValueId, shape: usize) -> Result<()> {
    if let Some(dims) = r.known(at, shape) {
        return r.op(at, name, &[x], &[("shape", r.ctx.ints_attr(&dims))]);
    }
    let shape = r.operand(at, shape)?;
    r.op(at, name, &[x, shape], &[])
}

fn reduce(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    let axes = r.list(at, 1, "axes")?;
    let (dims, elem) = r.dims(x)?;
    let rank = dims.len() as i64;
    if let Some(axis) = axes.iter().find(|a| !(-rank..rank).contains(*a)) {
        return Err(format!("its axis {axis} is out of range for its input of rank {rank}"));
    }
    if axes.is_empty() {
        let _ = r.flag(at, "keep_dims");
        return r.op(at, pd::Assign::NAME, &[x], &[]);
    }
    let float = r.ctx.is_float(elem);
    if name == pd::Mean::NAME && !float {
        return select::whole_mean(r, at, x, &axes);
    }
    let keep = r.ctx.bool_attr(r.flag(at, "keep_dims"));
    let mut attrs = vec![("axis", r.ctx.ints_attr(&axes)), ("keepdim", keep)];
    // `pd.sum` and `pd.prod` accumulate small integers in 64 bits by default; TensorFlow keeps the type.
    if name == pd::Sum::NAME && !float {
        attrs.push(("dtype", r.ctx.type_attr(elem)));
    }
    if name == pd::Prod::NAME && !float && elem != Type::I64 {
        let wide = r.helper(at, name, &[x], &attrs)?;
        return r.op(at, pd::Cast::NAME, &[wide], &[("dtype", r.ctx.type_attr(elem))]);
    }
    r.op(at, name, &[x], &attrs)
}

fn arg(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let (x, axis) = (r.operand(at, 0)?, r.scalar(at, 1, "axis")?);
    let elem = r.elem(at, "output_type").unwrap_or(Type::I64);
    let attrs = [("axis", r.ctx.int_attr(axis)), ("dtype", r.ctx.type_attr(elem))];
    r.op(at, name, &[x], &attrs)
}

fn pad(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (x, sizes) = (r.operand(at, 0)?, r.list(at, 1, "sizes")?);
    let value = match r.num_inputs(at) {
        2 => Some(0.0),
        _ => r.constant(at, 2).and_then(|(_, n, _)| n.first().map(|n| n.f64())),
    };
    let Some(value) = value.filter(|_| !r.ctx.is_complex(r.body.value_type(x))) else {
        return spectrum::pad(r, at, x, &sizes);
    };
    let attrs = [
        ("paddings", r.ctx.ints_attr(&sizes)),
        ("pad_value", r.ctx.float_attr(value)),
    ];
    r.op(at, pd::Pad::NAME, &[x], &attrs)
}

/// A number of elements, which is an `i64` here.
fn counted(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    match r.elem(at, "out_type").unwrap_or(Type::I32) {
        Type::I64 => r.op(at, name, &[x], &[]),
        elem => {
            let count = r.helper(at, name, &[x], &[])?;
            r.op(at, pd::Cast::NAME, &[count], &[("dtype", r.ctx.type_attr(elem))])
        }
    }
}

fn strided_slice(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let rank = r.dims(x)?.0.len();
    if r.known(at, 1).is_none() || r.known(at, 2).is_none() {
        return match moving(r, at, rank) {
            Some(cut) => moving_slice(r, at, x, cut),
            None => slices::read_computed(r, at, x),
        };
    }
    if slices::is_general(r, at) {
        return slices::read(r, at, x);
    }
    let bounds = Bounds::new(r, at, 1, rank)?;
    if bounds.axes.is_empty() {
        return r.op(at, pd::Assign::NAME, &[x], &[]);
    }
    if bounds.strides.iter().all(|&s| s == 1) {
        let attrs = bounds.attrs(r);
        return r.op(at, pd::Slice::NAME, &[x], &attrs);
    }
    if !bounds.shrink.is_empty() {
        return Err("strides together with `shrink_axis_mask` are not supported".to_owned());
    }
    let mut attrs = bounds.attrs(r);
    attrs.pop();
    attrs.push(("strides", r.ctx.ints_attr(&bounds.strides)));
    r.op(at, pd::StridedSlice::NAME, &[x], &attrs)
}

/// The axes that have bounds, and the number of entries, of a slice whose bounds are those of adjacent axes, computed together.
fn moving(r: &Reader<'_>, at: usize, rank: usize) -> Option<(Vec<i64>, usize)> {
    let strides = r.known(at, 3)?;
    let mut cut = Vec::new();
    for entry in bounds::entries(r, at, [strides.len(); 3], rank).ok()? {
        let Entry::Axis(axis) = entry else { return None };
        (axis.axis == axis.entry && !axis.single).then_some(())?;
        match axis.open {
            [true, true] => {}
            [false, false] => cut.push(axis.axis as i64),
            _ => return None,
        }
    }
    let first = *cut.first()?;
    let adjacent = cut.iter().zip(first..).all(|(&axis, next)| axis == next);
    (adjacent && strides.iter().all(|&s| s == 1)).then_some((cut, strides.len()))
}

/// A slice with computed bounds, for adjacent axes, with this number of entries.
fn moving_slice(r: &mut Reader<'_>, at: usize, x: ValueId, (cut, entries): (Vec<i64>, usize)) -> Result<()> {
    let first = cut.first().copied().unwrap_or(0);
    let mut operands = vec![x];
    for index in 1..3 {
        let bound = r.operand(at, index)?;
        let mut bound = r.of_elem(at, bound, Type::I64)?;
        if cut.len() < entries {
            let attrs = [
                ("axes", r.ctx.ints_attr(&[0])),
                ("starts", r.ctx.ints_attr(&[first])),
                ("ends", r.ctx.ints_attr(&[first + cut.len() as i64])),
            ];
            bound = r.helper(at, pd::Slice::NAME, &[bound], &attrs)?;
        }
        operands.push(bound);
    }
    let attrs = [("axes", r.ctx.ints_attr(&cut)), ("decrease_axis", r.ctx.ints_attr(&[]))];
    r.op(at, pd::Slice::NAME, &operands, &attrs)
}
