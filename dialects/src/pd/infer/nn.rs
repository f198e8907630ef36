//! Layers.

use pir_ir::{AttrData, DYNAMIC, InferArgs, Type, TypeData};
use smallvec::{SmallVec, smallvec};

use super::{Dims, Shaped, Types, axis, broadcast, dims_text, flag, int, ints, is_operand, one, operand};
use crate::window::{Attributes, Axis};

/// The text of an attribute.
fn text(args: &InferArgs<'_>, name: &str) -> Option<String> {
    match args.ctx.attr_data(args.attr(name)?) {
        AttrData::Str(text) => Some(text.to_string()),
        _ => None,
    }
}

fn window(args: &InferArgs<'_>) -> Attributes {
    Attributes::of(|name| ints(args, name), text(args, "padding_algorithm"))
}

/// Batch, channels, height and width of images.
fn images(args: &InferArgs<'_>, x: &Shaped) -> Result<([i64; 4], bool), String> {
    let last = text(args, "data_format").is_some_and(|f| f == "NHWC");
    match x.dims[..] {
        [n, c, h, w] if !last => Ok(([n, c, h, w], last)),
        [n, h, w, c] if last => Ok(([n, c, h, w], last)),
        _ => Err(format!(
            "expected an image of four dimensions, found {}",
            dims_text(&x.dims)
        )),
    }
}

fn as_images([n, c, h, w]: [i64; 4], last: bool) -> Dims {
    match last {
        true => smallvec![n, h, w, c],
        false => smallvec![n, c, h, w],
    }
}

/// A size for the windows on both axes; dynamic if the image or the window is.
fn sizes(
    attributes: &Attributes,
    size: [i64; 2],
    kernel: [i64; 2],
    f: impl Fn(usize, &Axis) -> Result<i64, String>,
) -> Result<[i64; 2], String> {
    let mut out = [DYNAMIC; 2];
    // A dynamic axis must not hide an error in the other.
    let axes = attributes.axes(size.map(|d| d.max(0)), kernel.map(|d| d.max(1)))?;
    for (i, axis) in axes.iter().enumerate() {
        if size[i] != DYNAMIC && kernel[i] != DYNAMIC {
            out[i] = f(i, axis)?;
        }
    }
    Ok(out)
}

fn filter(args: &InferArgs<'_>) -> Result<([i64; 4], i64), String> {
    let filter = operand(args, 1)?;
    let groups = int(args, "groups").unwrap_or(1);
    if groups < 1 {
        return Err(format!("`groups` cannot be {groups}"));
    }
    match filter.dims[..] {
        [m, c, h, w] => Ok(([m, c, h, w], groups)),
        _ => Err(format!(
            "expected a filter of four dimensions, found {}",
            dims_text(&filter.dims)
        )),
    }
}

pub(in super::super) fn conv(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let ([n, c, h, w], last) = images(&args, &x)?;
    let ([m, per_group, kh, kw], groups) = filter(&args)?;
    if c != DYNAMIC && per_group != DYNAMIC && per_group.checked_mul(groups) != Some(c) {
        return Err(format!(
            "{c} channels in {groups} groups do not match a filter of {per_group} channels"
        ));
    }
    if m != DYNAMIC && m % groups != 0 {
        return Err(format!("{m} filters cannot be divided into {groups} groups"));
    }
    let [oh, ow] = sizes(&window(&args), [h, w], [kh, kw], |_, axis| axis.windows(false))?;
    one(args.ctx.tensor(&as_images([n, m, oh, ow], last), x.elem))
}

/// Whether two extents may be the same.
fn agree(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

/// The same of all dimensions of two shapes.
fn all_agree(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| agree(a, b))
}

/// `[..., M, E]` of `[..., M, D]`, `[..., N, D]` and `[..., N, E]`, with a mask that broadcasts to `[..., M, N]`.
pub(in super::super) fn attention(args: InferArgs<'_>) -> Types {
    let dims = attention_dims(&args, 3)?;
    one(args.ctx.tensor(&dims, operand(&args, 0)?.elem))
}

/// The types of the queries, keys and values, which agree in all dimensions of the batch.
pub(in super::super) fn attention_grad(args: InferArgs<'_>) -> Types {
    let dims = attention_dims(&args, 4)?;
    if !all_agree(&operand(&args, 3)?.dims, &dims) {
        return Err(format!(
            "`out_grad` must have the shape of the result, {}",
            dims_text(&dims)
        ));
    }
    let batch = &dims[..dims.len() - 2];
    let mut types = SmallVec::new();
    for (at, name) in ["query", "key", "value"].into_iter().enumerate() {
        let of = operand(&args, at)?;
        if !all_agree(&of.dims[..of.dims.len() - 2], batch) {
            return Err(format!(
                "`{name}` must have the batch dimensions of the result, {}",
                dims_text(batch)
            ));
        }
        types.push(of.ty(args.ctx));
    }
    Ok(types)
}

/// The shape of the result of attention, whose mask is this operand.
fn attention_dims(args: &InferArgs<'_>, mask: usize) -> Result<Dims, String> {
    let (query, key, value) = (operand(args, 0)?, operand(args, 1)?, operand(args, 2)?);
    let matrices = |of: &Shaped, name: &str| match of.dims.split_last_chunk::<2>() {
        Some((batch, &matrix)) => Ok((Dims::from(batch), matrix)),
        None => Err(format!("`{name}` must have at least two dimensions")),
    };
    let (of_query, [m, d]) = matrices(&query, "query")?;
    let (of_key, [n, keys]) = matrices(&key, "key")?;
    let (of_value, [rows, e]) = matrices(&value, "value")?;
    if !agree(d, keys) {
        return Err(format!(
            "a row of `query` has {d} elements, but one of `key` has {keys}"
        ));
    }
    if !agree(n, rows) {
        return Err(format!("`key` has {n} rows, but `value` has {rows}"));
    }
    let mut dims = broadcast(&broadcast(&of_query, &of_key)?, &of_value)?;
    dims.extend([m, n]);
    if args.operands.len() > mask && broadcast(&dims, &operand(args, mask)?.dims)? != dims {
        return Err("the mask must broadcast to the weights".to_owned());
    }
    dims.pop();
    dims.push(e);
    Ok(dims)
}

pub(in super::super) fn conv_transpose(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let ([n, m, h, w], last) = images(&args, &x)?;
    let ([filters, per_group, kh, kw], groups) = filter(&args)?;
    if m != DYNAMIC && filters != DYNAMIC && m != filters {
        return Err(format!("{m} channels do not match {filters} filters"));
    }
    let c = if per_group == DYNAMIC {
        DYNAMIC
    } else {
        per_group.saturating_mul(groups)
    };
    let [oh, ow] = match ints(&args, "output_size").as_deref() {
        Some(&[h, w]) => [h, w],
        Some(&[both]) => [both, both],
        _ if is_operand(&args, "output_size") && args.operands.len() > 2 => [DYNAMIC; 2],
        _ => {
            let more = ints(&args, "output_padding").unwrap_or_default();
            sizes(&window(&args), [h, w], [kh, kw], |i, axis| {
                axis.transposed(more.get(i).or(more.first()).copied().unwrap_or(0))
            })?
        }
    };
    one(args.ctx.tensor(&as_images([n, c, oh, ow], last), x.elem))
}

/// The gradients of the first two operands.
pub(in super::super) fn binary_grad(args: InferArgs<'_>) -> Types {
    operand(&args, 0)?;
    operand(&args, 1)?;
    Ok(args.operands.iter().take(2).map(|&v| args.body.value_type(v)).collect())
}

fn pooled(args: &InferArgs<'_>) -> Result<Shaped, String> {
    let x = operand(args, 0)?;
    let ([n, c, h, w], last) = images(args, &x)?;
    let kernel = match ints(args, "kernel_size").as_deref() {
        Some(&[h, w]) => [h, w],
        Some(&[both]) => [both, both],
        Some(list) => return Err(format!("`kernel_size` must be two numbers, not {}", dims_text(list))),
        None => [DYNAMIC; 2],
    };
    let [oh, ow] = if flag(args, "global_pooling") {
        [1, 1]
    } else if flag(args, "adaptive") {
        kernel
    } else {
        let ceil = flag(args, "ceil_mode");
        sizes(&window(args), [h, w], kernel, |_, axis| axis.windows(ceil))?
    };
    let dims = as_images([n, c, oh, ow], last);
    Ok(Shaped { dims, ..x })
}

pub(in super::super) fn pool(args: InferArgs<'_>) -> Types {
    one(pooled(&args)?.ty(args.ctx))
}

pub(in super::super) fn pool_with_index(args: InferArgs<'_>) -> Types {
    let out = pooled(&args)?;
    let mask = args.ctx.tensor(&out.dims, Type::I32);
    Ok(smallvec![out.ty(args.ctx), mask])
}

/// The shape of the operand, with a valid axis.
pub(in super::super) fn along_axis(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    axis(int(&args, "axis").unwrap_or(-1), x.dims.len().max(1))?;
    one(args.operand_type(0).unwrap_or(Type::NONE))
}

/// The type of means and variances, which are not of low precision.
fn statistics(elem: Type) -> Type {
    match elem {
        Type::F16 | Type::BF16 => Type::F32,
        other => other,
    }
}

pub(in super::super) fn layer_norm(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let begin = axis(int(&args, "begin_norm_axis").unwrap_or(1), x.dims.len())?;
    let rows = args.ctx.tensor(&x.dims[..begin], statistics(x.elem));
    Ok(smallvec![x.ty(args.ctx), rows, rows])
}

/// The number of channels of images.
fn channels(args: &InferArgs<'_>, x: &Shaped) -> Result<i64, String> {
    let last = text(args, "data_format").is_some_and(|f| f == "NHWC");
    match (x.dims.len(), last) {
        (0 | 1, _) => Err("the operand needs a batch and channels".to_owned()),
        (_, false) => Ok(x.dims[1]),
        (n, true) => Ok(x.dims[n - 1]),
    }
}

pub(in super::super) fn group_norm(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let groups = int(&args, "groups").unwrap_or(-1);
    let channels = channels(&args, &x)?;
    if groups < 1 || (channels != DYNAMIC && channels % groups != 0) {
        return Err(format!("{channels} channels cannot be divided into {groups} groups"));
    }
    let rows = args.ctx.tensor(&[x.dims[0], groups], statistics(x.elem));
    Ok(smallvec![x.ty(args.ctx), rows, rows])
}

pub(in super::super) fn instance_norm(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let &[n, c, ..] = &x.dims[..] else {
        return Err("the operand needs a batch and channels".to_owned());
    };
    let rows = match (n, c) {
        (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
        _ => n.saturating_mul(c),
    };
    let rows = args.ctx.tensor(&[rows], statistics(x.elem));
    Ok(smallvec![x.ty(args.ctx), rows, rows])
}

pub(in super::super) fn batch_norm(args: InferArgs<'_>) -> Types {
    let (x, mean, variance) = (operand(&args, 0)?, operand(&args, 1)?, operand(&args, 2)?);
    if x.dims.len() < 2 {
        return Err("the operand needs a batch and channels".to_owned());
    }
    let (mean, variance) = (mean.ty(args.ctx), variance.ty(args.ctx));
    let reserve = args.ctx.tensor(&[0], x.elem);
    Ok(smallvec![x.ty(args.ctx), mean, variance, mean, variance, reserve])
}

pub(in super::super) fn channel_norm_grad(args: InferArgs<'_>) -> Types {
    let (x, mean, factor, g) = (
        operand(&args, 0)?,
        operand(&args, 1)?,
        operand(&args, 2)?,
        operand(&args, 3)?,
    );
    let channels = channels(&args, &x)?;
    if !all_agree(&g.dims, &x.dims) {
        return Err("`out_grad` must have the shape of `x`".to_owned());
    }
    let per_channel = |of: &Shaped| matches!(of.dims[..], [n] if agree(n, channels));
    let scale = (args.operands.len() > 4).then(|| operand(&args, 4)).transpose()?;
    for (name, of) in [
        ("mean", Some(&mean)),
        ("factor", Some(&factor)),
        ("scale", scale.as_ref()),
    ] {
        if of.is_some_and(|of| !per_channel(of)) {
            return Err(format!(
                "`{name}` must have one element for each of {channels} channels"
            ));
        }
    }
    let of_channels = args.ctx.tensor(&[channels], x.elem);
    Ok(smallvec![x.ty(args.ctx), of_channels, of_channels])
}

pub(in super::super) fn dropout(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let mask = Shaped {
        elem: Type::UI8,
        ..x.clone()
    };
    Ok(smallvec![x.ty(args.ctx), mask.ty(args.ctx)])
}

pub(in super::super) fn cross_entropy(args: InferArgs<'_>) -> Types {
    let (x, label) = (operand(&args, 0)?, operand(&args, 1)?);
    let at = axis(int(&args, "axis").unwrap_or(-1), x.dims.len())?;
    let mut dims = x.dims.clone();
    dims[at] = 1;
    let soft = flag(&args, "soft_label");
    if soft && label.elem != x.elem {
        return Err("a soft label must have the element type of the input".to_owned());
    }
    if !soft && args.ctx.is_float(label.elem) {
        return Err("a hard label must have an integer element type".to_owned());
    }
    let loss = args.ctx.tensor(&dims, x.elem);
    Ok(smallvec![x.ty(args.ctx), loss])
}

/// The types of a list.
fn list(args: &InferArgs<'_>, index: usize) -> Option<Vec<Type>> {
    match args.ctx.type_data(args.operand_type(index)?) {
        TypeData::List(items) => Some(items.to_vec()),
        _ => None,
    }
}

pub(in super::super) fn rnn(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let [t, n, _] = x.dims[..] else {
        return Err(format!(
            "expected a sequence of three dimensions, found {}",
            dims_text(&x.dims)
        ));
    };
    let (Some(state), Some(_)) = (list(&args, 1), list(&args, 2)) else {
        return Err("the states and the weights must be lists, created by `builtin.combine`".to_owned());
    };
    let directions = if flag(&args, "is_bidirec") { 2 } else { 1 };
    let hidden = int(&args, "hidden_size").unwrap_or(100);
    let out = args.ctx.tensor(&[t, n, hidden.saturating_mul(directions)], x.elem);
    let nothing = args.ctx.tensor(&[0], x.elem);
    let state = args.ctx.intern_type(TypeData::List(state.into()));
    Ok(smallvec![out, nothing, state, nothing])
}

pub(in super::super) fn coalesce(args: InferArgs<'_>) -> Types {
    let types: SmallVec<[Type; 4]> = super::elements(&args);
    let first = types.first().ok_or("it needs at least one tensor")?;
    let elem = args.ctx.elem_type(*first);
    let list = args.ctx.intern_type(TypeData::List(types.to_vec().into()));
    Ok(smallvec![list, args.ctx.tensor(&[DYNAMIC], elem)])
}
