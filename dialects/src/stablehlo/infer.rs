//! Inference of the types of results, where operands and attributes determine them.

use pir_ir::text::print_type;
use pir_ir::{DYNAMIC, InferArgs, Type, TypeData};
use smallvec::{SmallVec, smallvec};

use super::attrs::{Attrs, List};

type Types = Result<SmallVec<[Type; 2]>, String>;

fn attrs<'a>(args: &InferArgs<'a>) -> Attrs<'a> {
    Attrs {
        ctx: args.ctx,
        dict: args.attrs,
    }
}

/// The dimensions and the element type of an operand.
fn tensor<'a>(args: &InferArgs<'a>, index: usize) -> Result<(&'a [i64], Type), String> {
    let ty = args.operand_type(index).ok_or("an operand is missing")?;
    let tensor = args.ctx.as_tensor(ty);
    tensor.ok_or_else(|| {
        format!(
            "operand #{index} must be a tensor, found `{}`",
            print_type(args.ctx, ty)
        )
    })
}

/// The dimensions that values of both shapes have, as far as one of them is static; `None` if they cannot be the same.
fn common(one: &[i64], other: &[i64]) -> Option<List> {
    let both = |(&a, &b): (&i64, &i64)| match (a, b) {
        (DYNAMIC, b) => Some(b),
        (a, b) => (b == DYNAMIC || a == b).then_some(a),
    };
    let dims: Option<List> = one.iter().zip(other).map(both).collect();
    dims.filter(|_| one.len() == other.len())
}

/// All operands have one type, which the result has; each may leave dimensions open.
pub(crate) fn same(args: InferArgs<'_>) -> Types {
    let mut ty = args.operand_type(0).ok_or("an operand is missing")?;
    tensor(&args, 0)?;
    for other in (1..args.operands.len()).filter_map(|index| args.operand_type(index)) {
        if other == ty {
            continue;
        }
        let both = args.ctx.as_tensor(ty).zip(args.ctx.as_tensor(other));
        let dims = both.and_then(|((a, elem), (b, of))| Some((common(a, b)?, elem)).filter(|_| elem == of));
        let (dims, elem) = dims.ok_or_else(|| {
            format!(
                "expected operands of one type, found `{}` and `{}`",
                print_type(args.ctx, ty),
                print_type(args.ctx, other)
            )
        })?;
        ty = args.ctx.tensor(&dims, elem);
    }
    Ok(smallvec![ty])
}

fn with_elem(args: &InferArgs<'_>, elem: Type) -> Types {
    let (dims, _) = tensor(args, 0)?;
    Ok(smallvec![args.ctx.tensor(dims, elem)])
}

/// The real type of complex numbers, or the type itself: that of their parts, and of their absolute values.
pub(crate) fn part(args: InferArgs<'_>) -> Types {
    let (_, elem) = tensor(&args, 0)?;
    match args.ctx.type_data(elem) {
        &TypeData::Complex(part) => with_elem(&args, part),
        _ => same(args),
    }
}

/// Complex numbers of a real and an imaginary part.
pub(crate) fn complex(args: InferArgs<'_>) -> Types {
    let (_, elem) = tensor(&args, 0)?;
    if !matches!(args.ctx.type_data(elem), TypeData::Float(_)) {
        return Err(format!(
            "the parts must be floats, found `{}`",
            print_type(args.ctx, elem)
        ));
    }
    same(args).and_then(|_| with_elem(&args, args.ctx.complex_type(elem)))
}

pub(crate) fn fft(args: InferArgs<'_>) -> Types {
    let (dims, elem) = tensor(&args, 0)?;
    let (out, elem) = super::fft::Fft::read(attrs(&args))?.result(args.ctx, dims, elem)?;
    Ok(smallvec![args.ctx.tensor(&out, elem)])
}

/// Truth values of floats.
pub(crate) fn predicate(args: InferArgs<'_>) -> Types {
    let (_, elem) = tensor(&args, 0)?;
    if !args.ctx.is_float(elem) {
        return Err(format!("expected floats, found `{}`", print_type(args.ctx, elem)));
    }
    with_elem(&args, Type::I1)
}

pub(crate) fn compare(args: InferArgs<'_>) -> Types {
    let direction = attrs(&args).word("comparison_direction");
    if !matches!(direction, Some("EQ" | "NE" | "GE" | "GT" | "LE" | "LT")) {
        return Err(
            "`comparison_direction` must be `#stablehlo<comparison_direction …>` with EQ, NE, GE, GT, LE or LT".into(),
        );
    }
    let ty = same(args)?[0];
    let (dims, _) = args.ctx.as_tensor(ty).ok_or("the operands must be tensors")?;
    Ok(smallvec![args.ctx.tensor(dims, Type::I1)])
}

pub(crate) fn select(args: InferArgs<'_>) -> Types {
    let (pred, elem) = tensor(&args, 0)?;
    let (dims, _) = tensor(&args, 1)?;
    if elem != Type::I1 {
        return Err(format!(
            "the predicate must hold `i1`, found `{}`",
            print_type(args.ctx, elem)
        ));
    }
    if !pred.is_empty() && common(pred, dims).is_none() {
        return Err("the predicate must have the shape of the other operands, or none".into());
    }
    let rest = InferArgs {
        operands: &args.operands[1..],
        ..args
    };
    same(rest)
}

pub(crate) fn clamp(args: InferArgs<'_>) -> Types {
    let (dims, elem) = tensor(&args, 1)?;
    for (index, name) in [(0, "min"), (2, "max")] {
        let (bound, of) = tensor(&args, index)?;
        if of != elem || !bound.is_empty() && common(bound, dims).is_none() {
            return Err(format!(
                "`{name}` must have the type of the operand, or be a scalar of its elements"
            ));
        }
    }
    Ok(args.operand_type(1).into_iter().collect())
}

/// A constant has the type of its value.
pub(crate) fn constant(args: InferArgs<'_>) -> Types {
    let value = attrs(&args)
        .get("value")
        .and_then(|value| args.ctx.attr_elements(value));
    let value = value.ok_or("`value` must be a constant: `dense<1.0> : tensor<f32>`")?;
    Ok(smallvec![value.ty()])
}

pub(crate) fn transpose(args: InferArgs<'_>) -> Types {
    let (dims, elem) = tensor(&args, 0)?;
    let permutation = attrs(&args).list("permutation")?;
    if permutation.len() != dims.len() || !are_dims(&permutation, dims.len()) {
        return Err(format!(
            "`permutation` must name each of the {} dimensions once",
            dims.len()
        ));
    }
    let out: List = permutation.iter().map(|&at| dims[at as usize]).collect();
    Ok(smallvec![args.ctx.tensor(&out, elem)])
}

/// Distinct dimensions of a tensor.
pub(super) fn are_dims(list: &[i64], rank: usize) -> bool {
    let mut sorted: List = list.iter().copied().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1]) && sorted.iter().all(|at| (0..rank as i64).contains(at))
}

pub(crate) fn reverse(args: InferArgs<'_>) -> Types {
    let (dims, _) = tensor(&args, 0)?;
    if !are_dims(&attrs(&args).list("dimensions")?, dims.len()) {
        return Err(format!(
            "`dimensions` must be distinct dimensions of a tensor of rank {}",
            dims.len()
        ));
    }
    same(args)
}

pub(crate) fn slice(args: InferArgs<'_>) -> Types {
    let (dims, elem) = tensor(&args, 0)?;
    let list = |name| attrs(&args).list_of(name, dims.len());
    let (starts, limits, strides) = (list("start_indices")?, list("limit_indices")?, list("strides")?);
    let mut out = List::new();
    for (at, &dim) in dims.iter().enumerate() {
        let (start, limit, stride) = (starts[at], limits[at], strides[at]);
        if start < 0 || limit < start || dim != DYNAMIC && limit > dim || stride < 1 {
            let size = if dim == DYNAMIC {
                "a dynamic extent".to_owned()
            } else {
                format!("extent {dim}")
            };
            return Err(format!(
                "the slice `{start}:{limit}:{stride}` is out of range for dimension {at}, which has {size}"
            ));
        }
        let size = limit - start;
        out.push(size / stride + i64::from(size % stride != 0));
    }
    Ok(smallvec![args.ctx.tensor(&out, elem)])
}

pub(crate) fn pad(args: InferArgs<'_>) -> Types {
    let ((dims, elem), (value, of)) = (tensor(&args, 0)?, tensor(&args, 1)?);
    if !value.is_empty() || of != elem {
        return Err("the padding value must be a scalar of the operand's elements".into());
    }
    let list = |name| attrs(&args).list_of(name, dims.len());
    let (low, high, interior) = (
        list("edge_padding_low")?,
        list("edge_padding_high")?,
        list("interior_padding")?,
    );
    let mut out = List::new();
    for (at, &dim) in dims.iter().enumerate() {
        let size = || {
            let between = (dim - 1).max(0).checked_mul(interior[at])?;
            dim.checked_add(between)?.checked_add(low[at])?.checked_add(high[at])
        };
        let size = if dim == DYNAMIC { Some(DYNAMIC) } else { size() };
        match size.filter(|&size| interior[at] >= 0 && (size >= 0 || dim == DYNAMIC)) {
            Some(size) => out.push(size),
            None => {
                return Err(format!(
                    "the padding of dimension {at} gives a negative extent: {low:?}, {high:?}, {interior:?}"
                ));
            }
        }
    }
    Ok(smallvec![args.ctx.tensor(&out, elem)])
}

pub(crate) fn concatenate(args: InferArgs<'_>) -> Types {
    let (first, elem) = tensor(&args, 0)?;
    let at = attrs(&args).int("dimension")?;
    let at = usize::try_from(at).ok().filter(|&at| at < first.len());
    let at = at.ok_or_else(|| format!("`dimension` must be one of {}", first.len()))?;
    let mut out: List = first.iter().copied().collect();
    for index in 1..args.operands.len() {
        let (dims, of) = tensor(&args, index)?;
        let size = match (out[at], dims.get(at).copied().unwrap_or(DYNAMIC)) {
            (DYNAMIC, _) | (_, DYNAMIC) => Some(DYNAMIC),
            (one, other) => one.checked_add(other),
        };
        let mut rest: List = dims.iter().copied().collect();
        rest.get_mut(at).into_iter().for_each(|dim| *dim = out[at]);
        match (common(&out, &rest), size) {
            (Some(dims), Some(size)) if of == elem => {
                out = dims;
                out[at] = size;
            }
            _ => {
                return Err(format!(
                    "operand #{index} differs from the first in more than dimension {at}"
                ));
            }
        }
    }
    Ok(smallvec![args.ctx.tensor(&out, elem)])
}

/// Indices are scalars of integers, one for each dimension.
fn indices(args: &InferArgs<'_>, first: usize, rank: usize) -> Result<(), String> {
    let given = args.operands.len().saturating_sub(first);
    if given != rank {
        return Err(format!("expected {rank} start indices, found {given}"));
    }
    for index in first..args.operands.len() {
        let (dims, elem) = tensor(args, index)?;
        if !dims.is_empty() || elem == Type::I1 || !matches!(args.ctx.type_data(elem), TypeData::Integer { .. }) {
            return Err(format!("start index #{} must be a scalar integer", index - first));
        }
        if elem != tensor(args, first)?.1 {
            return Err("start indices must have one type".into());
        }
    }
    Ok(())
}

fn fits(window: &[i64], dims: &[i64]) -> bool {
    window.len() == dims.len()
        && window
            .iter()
            .zip(dims)
            .all(|(&w, &d)| w == DYNAMIC || w >= 0 && (d == DYNAMIC || w <= d))
}

pub(crate) fn dynamic_slice(args: InferArgs<'_>) -> Types {
    let (dims, elem) = tensor(&args, 0)?;
    indices(&args, 1, dims.len())?;
    let sizes = attrs(&args).list_of("slice_sizes", dims.len())?;
    if !fits(&sizes, dims) || sizes.contains(&DYNAMIC) {
        return Err("`slice_sizes` must not exceed the operand".into());
    }
    Ok(smallvec![args.ctx.tensor(&sizes, elem)])
}

pub(crate) fn dynamic_update_slice(args: InferArgs<'_>) -> Types {
    let ((dims, elem), (window, of)) = (tensor(&args, 0)?, tensor(&args, 1)?);
    indices(&args, 2, dims.len())?;
    if of != elem || !fits(window, dims) {
        return Err("the update must have the operand's elements and rank, and not exceed it".into());
    }
    Ok(args.operand_type(0).into_iter().collect())
}

pub(crate) fn gather(args: InferArgs<'_>) -> Types {
    let ((dims, elem), (starts, of)) = (tensor(&args, 0)?, tensor(&args, 1)?);
    if !matches!(args.ctx.type_data(of), TypeData::Integer { .. }) || of == Type::I1 {
        return Err(format!(
            "indices must be integers, found `{}`",
            print_type(args.ctx, of)
        ));
    }
    let numbers = super::dims::Gather::read(attrs(&args), dims, starts)?;
    if !fits(&numbers.slice_sizes, dims) || numbers.slice_sizes.contains(&DYNAMIC) {
        return Err("`slice_sizes` must not exceed the operand".into());
    }
    Ok(smallvec![args.ctx.tensor(&numbers.result(starts), elem)])
}

/// The results have the types of the operands.
pub(crate) fn all(args: InferArgs<'_>) -> Types {
    Ok((0..args.operands.len())
        .filter_map(|index| args.operand_type(index))
        .collect())
}

/// The greatest elements of the last dimension, and 32-bit indices.
pub(crate) fn top_k(args: InferArgs<'_>) -> Types {
    let (dims, elem) = tensor(&args, 0)?;
    let k = attrs(&args).int("k")?;
    let mut out: List = dims.iter().copied().collect();
    match out.last_mut() {
        Some(last) if k >= 0 && (*last == DYNAMIC || k <= *last) => *last = k,
        _ => return Err(format!("`k` is {k}, which exceeds the extent of the last dimension")),
    }
    Ok(smallvec![args.ctx.tensor(&out, elem), args.ctx.tensor(&out, Type::I32)])
}

/// The types of the per-feature vectors, which must match the first operand.
fn features<'a>(args: &InferArgs<'a>, vectors: std::ops::Range<usize>) -> Result<(Type, Type), String> {
    let (dims, elem) = tensor(args, 0)?;
    let at = attrs(args).int("feature_index")?;
    let count = usize::try_from(at).ok().and_then(|at| dims.get(at));
    let count =
        *count.ok_or_else(|| format!("`feature_index` is {at}, but the operand has {} dimensions", dims.len()))?;
    for index in vectors {
        match tensor(args, index)? {
            (&[size], of) if of == elem && (size == count || [size, count].contains(&DYNAMIC)) => {}
            _ => {
                return Err(format!(
                    "operand #{index} must be a vector of a number for each feature"
                ));
            }
        }
    }
    Ok((args.ctx.tensor(dims, elem), args.ctx.tensor(&[count], elem)))
}

pub(crate) fn batch_norm(args: InferArgs<'_>) -> Types {
    Ok(smallvec![features(&args, 1..5)?.0])
}

/// The normalized operand or its cotangent, and two vectors.
pub(crate) fn batch_norm_training(args: InferArgs<'_>) -> Types {
    let (normalized, vector) = match args.operands.len() {
        5 => features(&args, 1..4)?,
        _ => features(&args, 1..3)?,
    };
    Ok(smallvec![normalized, vector, vector])
}
