//! Linear algebra, sorting, random numbers, gated activation functions.

use pir_ir::{AttrData, DYNAMIC, InferArgs, Type};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

use super::{
    Dims, Shaped, Types, axes, axis, broadcast, count, dims_text, dtype, elements, flag, int, ints, is_operand, one,
    operand,
};

pub(in super::super) fn dot(args: InferArgs<'_>) -> Types {
    let (x, y) = (operand(&args, 0)?, operand(&args, 1)?);
    let mut dims = broadcast(&x.dims, &y.dims)?;
    dims.pop().ok_or("the operands must be vectors")?;
    one(args.ctx.tensor(&dims, x.elem))
}

/// The product of dimensions; dynamic if one of them is.
fn product_of(dims: &[i64]) -> Result<i64, String> {
    if dims.contains(&DYNAMIC) {
        return Ok(if dims.contains(&0) { 0 } else { DYNAMIC });
    }
    let product = dims.iter().try_fold(1i64, |product, &dim| product.checked_mul(dim));
    product.ok_or_else(|| "the result is too large".to_owned())
}

pub(in super::super) fn outer(args: InferArgs<'_>) -> Types {
    let (x, y) = (operand(&args, 0)?, operand(&args, 1)?);
    one(args.ctx.tensor(&[product_of(&x.dims)?, product_of(&y.dims)?], x.elem))
}

pub(in super::super) fn linear(args: InferArgs<'_>) -> Types {
    let (x, weight) = (operand(&args, 0)?, operand(&args, 1)?);
    let (Some((&k, rest)), &[rows, columns]) = (x.dims.split_last(), &weight.dims[..]) else {
        return Err("the weight must be a matrix, and the input must have at least one dimension".to_owned());
    };
    if k != rows && k != DYNAMIC && rows != DYNAMIC {
        return Err(format!("the input has {k} columns, but the weight has {rows} rows"));
    }
    let mut dims: Dims = rest.into();
    dims.push(columns);
    if args.operands.len() > 2 {
        let bias = operand(&args, 2)?;
        if bias.dims.len() > 1 || broadcast(&dims, &bias.dims)? != dims {
            return Err("the bias must have one element for each column of the weight".to_owned());
        }
    }
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn prelu(args: InferArgs<'_>) -> Types {
    let (x, alpha) = (operand(&args, 0)?, operand(&args, 1)?);
    let text = |name: &str, default: &'static str| match args.attr(name).map(|a| args.ctx.attr_data(a)) {
        Some(AttrData::Str(s)) => s.to_string(),
        _ => default.to_owned(),
    };
    let own: &[i64] = match (&*text("mode", "all"), x.dims.len()) {
        ("all", _) => &[],
        (_, 0 | 1) => return Err("the operand needs a batch dimension".to_owned()),
        ("channel", rank) if text("data_format", "NCHW") == "NHWC" => &x.dims[rank - 1..],
        ("channel", _) => &x.dims[1..2],
        ("element", _) => &x.dims[1..],
        (mode, _) => return Err(format!("`mode` must be `all`, `channel` or `element`, not `{mode}`")),
    };
    let (count, given) = (product_of(own)?, product_of(&alpha.dims)?);
    if count != given && count != DYNAMIC && given != DYNAMIC {
        return Err(format!("expected {count} slopes, found {given}"));
    }
    one(x.ty(args.ctx))
}

pub(in super::super) fn nll(args: InferArgs<'_>) -> Types {
    let (x, label) = (operand(&args, 0)?, operand(&args, 1)?);
    let (batch, rest) = match &x.dims[..] {
        [batch, _, rest @ ..] => (*batch, rest),
        _ => return Err("the input needs dimension 1 for the classes".to_owned()),
    };
    let mut dims: Dims = [batch].into_iter().collect();
    dims.extend(rest.iter().copied());
    let fits = label.dims.len() == dims.len()
        && label
            .dims
            .iter()
            .zip(&dims)
            .all(|(a, b)| a == b || *a == DYNAMIC || *b == DYNAMIC);
    if !fits {
        return Err(format!(
            "the label must have shape {}, not {}",
            dims_text(&dims),
            dims_text(&label.dims)
        ));
    }
    let whole = matches!(
        args.attr("reduction").map(|a| args.ctx.attr_data(a)),
        Some(AttrData::Str(s)) if &**s == "none"
    );
    let scalar = args.ctx.tensor(&[], x.elem);
    let out = if whole { args.ctx.tensor(&dims, x.elem) } else { scalar };
    Ok(smallvec![out, scalar])
}

pub(in super::super) fn addmm(args: InferArgs<'_>) -> Types {
    let (input, x, y) = (operand(&args, 0)?, operand(&args, 1)?, operand(&args, 2)?);
    let (&[m, k], &[k2, n]) = (&x.dims[..], &y.dims[..]) else {
        return Err("the operands must be matrices".to_owned());
    };
    if k != k2 && k != DYNAMIC && k2 != DYNAMIC {
        return Err(format!("the inner dimensions {k} and {k2} differ"));
    }
    let dims = broadcast(&input.dims, &[m, n])?;
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn kron(args: InferArgs<'_>) -> Types {
    let (x, y) = (operand(&args, 0)?, operand(&args, 1)?);
    let rank = x.dims.len().max(y.dims.len());
    let dim = |d: &[i64], at: usize| (at + d.len()).checked_sub(rank).map_or(1, |i| d[i]);
    let dims: Dims = (0..rank)
        .map(|at| match (dim(&x.dims, at), dim(&y.dims, at)) {
            (DYNAMIC, _) | (_, DYNAMIC) => Ok(DYNAMIC),
            (a, b) => a.checked_mul(b).ok_or_else(|| "the result is too large".to_owned()),
        })
        .collect::<Result<_, String>>()?;
    one(args.ctx.tensor(&dims, x.elem))
}

/// The dimensions without those of the diagonal, and its length.
fn along_diagonal(args: &InferArgs<'_>) -> Result<(Shaped, i64), String> {
    let x = operand(args, 0)?;
    let rank = x.dims.len();
    let first = axis(int(args, "axis1").unwrap_or(0), rank)?;
    let second = axis(int(args, "axis2").unwrap_or(1), rank)?;
    if first == second {
        return Err("the two axes of a diagonal must differ".to_owned());
    }
    let offset = int(args, "offset").unwrap_or(0);
    let length = match (x.dims[first], x.dims[second]) {
        (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
        (rows, columns) => {
            let (rows, columns) = (
                rows.saturating_add(offset.min(0)),
                columns.saturating_sub(offset.max(0)),
            );
            rows.min(columns).max(0)
        }
    };
    let rest = (0..rank).filter(|&a| a != first && a != second);
    let dims = rest.map(|a| x.dims[a]).collect();
    Ok((Shaped { dims, ..x }, length))
}

pub(in super::super) fn trace(args: InferArgs<'_>) -> Types {
    let (x, _) = along_diagonal(&args)?;
    one(args.ctx.tensor(&x.dims, x.elem))
}

pub(in super::super) fn diagonal(args: InferArgs<'_>) -> Types {
    let (mut x, length) = along_diagonal(&args)?;
    x.dims.push(length);
    one(args.ctx.tensor(&x.dims, x.elem))
}

pub(in super::super) fn diag(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let offset = int(&args, "offset").unwrap_or(0);
    match x.dims[..] {
        [n] => {
            let size = match n {
                DYNAMIC => DYNAMIC,
                n => n.saturating_add(offset.saturating_abs()),
            };
            one(args.ctx.tensor(&[size, size], x.elem))
        }
        [_, _] => {
            let (_, length) = along_diagonal(&args)?;
            one(args.ctx.tensor(&[length], x.elem))
        }
        _ => Err("the operand must be a vector or a matrix".to_owned()),
    }
}

fn without(x: &Shaped, axes: &[usize], keepdim: bool) -> Dims {
    let kept = x.dims.iter().enumerate().filter_map(|(i, &d)| match axes.contains(&i) {
        false => Some(d),
        true => keepdim.then_some(1),
    });
    kept.collect()
}

pub(in super::super) fn p_norm(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let keepdim = flag(&args, "keepdim");
    let axes: Vec<usize> = match flag(&args, "asvector") || x.dims.is_empty() {
        true => (0..x.dims.len()).collect(),
        false => vec![axis(int(&args, "axis").unwrap_or(-1), x.dims.len())?],
    };
    one(args.ctx.tensor(&without(&x, &axes, keepdim), x.elem))
}

/// A reduction whose flags are called `keep_dim` or `keepdim` and `reduce_all`.
fn reduced(args: &InferArgs<'_>, keepdim: &str, default: &[i64]) -> Types {
    let x = operand(args, 0)?;
    if is_operand(args, "axis") && args.operands.len() > 1 {
        return Err("the axes are not constant".to_owned());
    }
    let named = ints(args, "axis").unwrap_or_else(|| default.to_vec());
    let axes: Vec<usize> = match named.is_empty() || flag(args, "reduce_all") {
        true => (0..x.dims.len()).collect(),
        false => axes("axis", &named, x.dims.len())?,
    };
    one(args.ctx.tensor(&without(&x, &axes, flag(args, keepdim)), x.elem))
}

pub(in super::super) fn frobenius_norm(args: InferArgs<'_>) -> Types {
    reduced(&args, "keep_dim", &[])
}

pub(in super::super) fn logsumexp(args: InferArgs<'_>) -> Types {
    reduced(&args, "keepdim", &[0])
}

pub(in super::super) fn one_element(args: InferArgs<'_>) -> Types {
    one(args.ctx.tensor(&[1], operand(&args, 0)?.elem))
}

pub(in super::super) fn all(args: InferArgs<'_>) -> Types {
    one(args.ctx.tensor(&[], operand(&args, 0)?.elem))
}

pub(in super::super) fn cumprod(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    axis(int(&args, "dim").unwrap_or(0), x.dims.len().max(1))?;
    one(x.ty(args.ctx))
}

pub(in super::super) fn einsum(args: InferArgs<'_>) -> Types {
    let equation = match args.attr("equation").map(|a| args.ctx.attr_data(a)) {
        Some(AttrData::Str(text)) => text.to_string(),
        _ => return Err("it needs an `equation`".to_owned()),
    };
    let types = elements(&args);
    let ranks = types
        .iter()
        .map(|&ty| Shaped::of(args.ctx, ty).map_or(0, |x| x.dims.len()));
    let letters = crate::einsum::EinsumEquation::parse(&equation, ranks)?;
    if types.len() != letters.inputs.len() {
        return Err(format!(
            "`{equation}` has {} operands, found {}",
            letters.inputs.len(),
            types.len()
        ));
    }
    let mut sizes: FxHashMap<char, i64> = FxHashMap::default();
    let mut elem = Type::NONE;
    for (own, &ty) in letters.inputs.iter().zip(&types) {
        let x = Shaped::of(args.ctx, ty).ok_or("the operands must be tensors")?;
        elem = x.elem;
        if x.dims.len() != own.len() {
            return Err(format!(
                "`{}` does not name the dimensions of {}",
                own.iter().collect::<String>(),
                dims_text(&x.dims)
            ));
        }
        for (&letter, &d) in own.iter().zip(&x.dims) {
            let old = sizes.entry(letter).or_insert(d);
            *old = match (*old, d) {
                (DYNAMIC, d) | (d, DYNAMIC) => d,
                (a, b) if a == b => a,
                (a, b) => return Err(format!("`{letter}` names dimensions of extent {a} and {b}")),
            };
        }
    }
    let dims: Dims = letters
        .output
        .iter()
        .map(|l| sizes.get(l).copied().unwrap_or(DYNAMIC))
        .collect();
    one(args.ctx.tensor(&dims, elem))
}

pub(in super::super) fn topk(args: InferArgs<'_>) -> Types {
    let mut x = operand(&args, 0)?;
    let at = axis(int(&args, "axis").unwrap_or(-1), x.dims.len().max(1))?;
    let k = match is_operand(&args, "k") {
        true => DYNAMIC,
        false => int(&args, "k").unwrap_or(1),
    };
    if x.dims.is_empty() && k <= 1 {
        // A scalar is treated as a vector of one element.
        return Ok(smallvec![x.ty(args.ctx), args.ctx.tensor(&[], Type::I64)]);
    }
    let Some(&there) = x.dims.get(at) else {
        return Err(format!("cannot select {k} elements of 1"));
    };
    if k > there && there != DYNAMIC {
        return Err(format!("cannot select {k} elements of {there}"));
    }
    x.dims[at] = k.max(DYNAMIC);
    let (values, places) = (x.ty(args.ctx), args.ctx.tensor(&x.dims, Type::I64));
    Ok(smallvec![values, places])
}

pub(in super::super) fn argsort(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    axis(int(&args, "axis").unwrap_or(-1), x.dims.len().max(1))?;
    let places = Shaped {
        elem: Type::I64,
        ..x.clone()
    };
    Ok(smallvec![x.ty(args.ctx), places.ty(args.ctx)])
}

pub(in super::super) fn kthvalue(args: InferArgs<'_>) -> Types {
    let mut x = operand(&args, 0)?;
    let at = axis(int(&args, "axis").unwrap_or(-1), x.dims.len().max(1))?;
    let (k, n) = (int(&args, "k").unwrap_or(1), x.dims.get(at).copied().unwrap_or(1));
    if k < 1 || k > n && n != DYNAMIC {
        return Err(format!("there is no element {k} in {n} elements"));
    }
    if at < x.dims.len() {
        match flag(&args, "keepdim") {
            true => x.dims[at] = 1,
            false => drop(x.dims.remove(at)),
        }
    }
    let (values, places) = (args.ctx.tensor(&x.dims, x.elem), args.ctx.tensor(&x.dims, Type::I64));
    Ok(smallvec![values, places])
}

pub(in super::super) fn cummax(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    axis(int(&args, "axis").unwrap_or(-1), x.dims.len().max(1))?;
    let places = Shaped {
        elem: dtype(&args).unwrap_or(Type::I64),
        ..x.clone()
    };
    Ok(smallvec![x.ty(args.ctx), places.ty(args.ctx)])
}

pub(in super::super) fn random(args: InferArgs<'_>) -> Types {
    shaped(&args, Type::F32)
}

pub(in super::super) fn randint(args: InferArgs<'_>) -> Types {
    shaped(&args, Type::I64)
}

/// The shape is an attribute or an operand.
fn shaped(args: &InferArgs<'_>, default: Type) -> Types {
    let elem = dtype(args).unwrap_or(default);
    match ints(args, "shape") {
        Some(shape) => match shape.iter().find(|&&d| d < 0) {
            Some(d) => Err(format!("a dimension cannot be {d}")),
            None => one(args.ctx.tensor(&shape, elem)),
        },
        None => {
            let rank = operand(args, 0).ok().and_then(|s| count(&s.dims));
            let rank = rank.filter(|&n| (0..64).contains(&n)).ok_or("it needs a `shape`")?;
            one(args.ctx.tensor(&vec![DYNAMIC; rank as usize], elem))
        }
    }
}

pub(in super::super) fn randperm(args: InferArgs<'_>) -> Types {
    let n = int(&args, "n").filter(|&n| n >= 0).ok_or("`n` cannot be negative")?;
    one(args.ctx.tensor(&[n], dtype(&args).unwrap_or(Type::I64)))
}

pub(in super::super) fn eye(args: InferArgs<'_>) -> Types {
    let rows = int(&args, "num_rows").unwrap_or(DYNAMIC);
    let columns = match int(&args, "num_columns").unwrap_or(DYNAMIC) {
        -1 => rows,
        n => n,
    };
    let dims = [rows.max(DYNAMIC), columns.max(DYNAMIC)];
    one(args.ctx.tensor(&dims, dtype(&args).unwrap_or(Type::F32)))
}

pub(in super::super) fn swiglu(args: InferArgs<'_>) -> Types {
    let mut x = operand(&args, 0)?;
    if args.operands.len() > 1 {
        return one(x.ty(args.ctx));
    }
    let last = x.dims.last_mut().ok_or("the operand needs at least one dimension")?;
    if *last != DYNAMIC {
        if *last % 2 != 0 {
            return Err(format!("{last} elements cannot be halved"));
        }
        *last /= 2;
    }
    one(args.ctx.tensor(&x.dims, x.elem))
}

pub(in super::super) fn huber(args: InferArgs<'_>) -> Types {
    let (x, label) = (operand(&args, 0)?, operand(&args, 1)?);
    let dims = broadcast(&x.dims, &label.dims)?;
    let ty = args.ctx.tensor(&dims, x.elem);
    Ok(smallvec![ty, ty])
}

pub(in super::super) fn kldiv(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let whole = matches!(
        args.attr("reduction").map(|a| args.ctx.attr_data(a)),
        Some(AttrData::Str(s)) if &**s == "none"
    );
    if whole {
        return one(x.ty(args.ctx));
    }
    one(args.ctx.tensor(&[], x.elem))
}

pub(in super::super) fn embedding(args: InferArgs<'_>) -> Types {
    let (x, weight) = (operand(&args, 0)?, operand(&args, 1)?);
    let &[_, width] = &weight.dims[..] else {
        return Err("the weight must be a matrix".to_owned());
    };
    if args.ctx.is_float(x.elem) {
        return Err("the rows to take must be given by integers".to_owned());
    }
    let mut dims = x.dims.clone();
    dims.push(width);
    one(args.ctx.tensor(&dims, weight.elem))
}

/// The type of the first operand, which must not be a scalar.
pub(in super::super) fn scatter(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    if let Some(at) = int(&args, "axis") {
        axis(at, x.dims.len())?;
    }
    if x.dims.is_empty() {
        return Err("the operand needs at least one dimension".to_owned());
    }
    one(x.ty(args.ctx))
}

pub(in super::super) fn masked_select(args: InferArgs<'_>) -> Types {
    let (x, mask) = (operand(&args, 0)?, operand(&args, 1)?);
    broadcast(&x.dims, &mask.dims)?;
    one(args.ctx.tensor(&[DYNAMIC], x.elem))
}

pub(in super::super) fn masked_fill(args: InferArgs<'_>) -> Types {
    let (x, mask) = (operand(&args, 0)?, operand(&args, 1)?);
    let dims = broadcast(&x.dims, &mask.dims)?;
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn nonzero(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    one(args.ctx.tensor(&[DYNAMIC, x.dims.len() as i64], Type::I64))
}

pub(in super::super) fn strided_slice(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let axes = ints(&args, "axes").ok_or("it needs `axes`")?;
    let lists = ["starts", "ends", "strides"].map(|name| ints(&args, name));
    let mut dims = x.dims.clone();
    for (i, &a) in axes.iter().enumerate() {
        let at = axis(a, dims.len())?;
        let number = |list: &Option<Vec<i64>>| list.as_ref().map(|l| l.get(i).copied());
        dims[at] = match [0, 1, 2].map(|l| number(&lists[l])) {
            [Some(Some(start)), Some(Some(end)), Some(Some(stride))] if x.dims[at] != DYNAMIC => {
                crate::window::stretch(x.dims[at], start, end, stride)?.1
            }
            [Some(None), ..] | [_, Some(None), _] | [_, _, Some(None)] => {
                return Err("`axes`, `starts`, `ends` and `strides` differ in length".to_owned());
            }
            _ => DYNAMIC,
        };
    }
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn repeat_interleave(args: InferArgs<'_>) -> Types {
    let mut x = operand(&args, 0)?;
    let at = axis(int(&args, "axis").unwrap_or(0), x.dims.len())?;
    let repeats = int(&args, "repeats")
        .filter(|&r| r >= 0)
        .ok_or("`repeats` cannot be negative")?;
    if x.dims[at] != DYNAMIC {
        x.dims[at] = x.dims[at].checked_mul(repeats).ok_or("the result is too large")?;
    }
    one(x.ty(args.ctx))
}

pub(in super::super) fn unbind(args: InferArgs<'_>) -> Types {
    super::unstack(args)
}

pub(in super::super) fn meshgrid(args: InferArgs<'_>) -> Types {
    let types = elements(&args);
    let mut dims = Dims::new();
    let mut elem = Type::NONE;
    for &ty in &types {
        let x = Shaped::of(args.ctx, ty).ok_or("the operands must be tensors")?;
        elem = x.elem;
        dims.push(match x.dims[..] {
            [] => 1,
            [n] => n,
            _ => return Err("the operands must be vectors".to_owned()),
        });
    }
    let ty = args.ctx.tensor(&dims, elem);
    Ok(types.iter().map(|_| ty).collect())
}

pub(in super::super) fn pad3d(args: InferArgs<'_>) -> Types {
    let mut x = operand(&args, 0)?;
    let last = matches!(
        args.attr("data_format").map(|a| args.ctx.attr_data(a)),
        Some(AttrData::Str(s)) if &**s == "NDHWC"
    );
    if x.dims.len() != 5 {
        return Err(format!("expected five dimensions, found {}", dims_text(&x.dims)));
    }
    let first = if last { 1 } else { 2 };
    match ints(&args, "paddings") {
        None => (first..first + 3).for_each(|at| x.dims[at] = DYNAMIC),
        Some(list) if list.len() == 6 => {
            for (at, pair) in (first..first + 3).rev().zip(list.chunks(2)) {
                if x.dims[at] != DYNAMIC {
                    let size = x.dims[at].saturating_add(pair[0]).saturating_add(pair[1]);
                    if size < 0 {
                        return Err("the result would have a negative size".to_owned());
                    }
                    x.dims[at] = size;
                }
            }
        }
        Some(list) => return Err(format!("`paddings` needs six numbers, not {}", list.len())),
    }
    one(x.ty(args.ctx))
}
