//! Windows that move over volumes, and transposes.

use pir_ir::Type;

use super::{Call, Compose, Expr, fits_in_table};
use crate::window::same;

pub(super) const OPS: &[(&str, Compose)] = &[
    ("max_pool3d_with_index", max_pool3d),
    ("unpool3d", unpool3d),
    ("conv3d", |op| op.channels_first("input", conv3d)),
    ("conv3d_transpose", conv3d_transpose),
    ("pool3d", |op| op.channels_first("x", pool3d)),
    ("depthwise_conv2d_transpose", |op| {
        let (x, filter) = (op.x("x")?, op.x("filter")?);
        let (strides, paddings, output, size) = (
            op.ints("strides")?,
            op.ints("paddings")?,
            op.ints("output_padding")?,
            op.ints("output_size")?,
        );
        let (algorithm, groups, dilations) = (op.text("padding_algorithm")?, op.int("groups")?, op.ints("dilations")?);
        let format = op.text("data_format")?;
        Ok(vec![x.conv2d_transpose_with(filter, |o| {
            let o = o
                .strides(&strides)
                .paddings(&paddings)
                .output_padding(&output)
                .output_size(&*size);
            o.padding_algorithm(&algorithm)
                .groups(groups)
                .dilations(&dilations)
                .data_format(&format)
        })])
    }),
];

fn volumes<const N: usize>(op: &Call<'_>, name: &str) -> Result<[i64; N], String> {
    // A transposed convolution calls its format NCHW even with a depth.
    if !matches!(&*op.text("data_format")?, "NCDHW" | "NCHW") {
        return Err("only the layout NCDHW is supported".to_owned());
    }
    let shape = op.shape(name)?;
    shape
        .try_into()
        .map_err(|_| format!("`{name}` must have {N} dimensions"))
}

fn three(op: &Call<'_>, name: &str) -> Result<[i64; 3], String> {
    op.ints(name)?
        .try_into()
        .map_err(|_| format!("`{name}` must be three numbers"))
}

/// Before and after each axis, of these extents.
fn borders(op: &Call<'_>, extents: [i64; 3], kernel: [i64; 3], strides: [i64; 3]) -> Result<[i64; 6], String> {
    match (&*op.text("padding_algorithm")?, &op.ints("paddings")?[..]) {
        ("VALID", _) => Ok([0; 6]),
        ("SAME", _) => {
            let axes: [_; 3] = std::array::from_fn(|axis| same(extents[axis], kernel[axis], strides[axis]));
            Ok(std::array::from_fn(|at| axes[at / 2][at % 2]))
        }
        (_, &[d, h, w]) => Ok([d, d, h, h, w, w]),
        (_, &[a, b, c, d, e, f]) => Ok([a, b, c, d, e, f]),
        _ => Err("`paddings` must be three or six numbers".to_owned()),
    }
}

/// A sum over the depth of the filter of convolutions of images.
fn conv3d<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let ([n, c, depth, height, width], [m, of, kd, kh, kw]) = (volumes(op, "input")?, volumes(op, "filter")?);
    let ([sd, sh, sw], groups) = (three(op, "strides")?, op.int("groups")?);
    let [dd, dh, dw] = match &*op.text("padding_algorithm")? {
        // As for images.
        "SAME" => [1; 3],
        _ => three(op, "dilations")?,
    };
    let borders = borders(op, [depth, height, width], [kd, kh, kw], [sd, sh, sw])?;
    let [front, back, top, bottom, left, right] = borders;
    let steps = (depth + front + back - dd * (kd - 1) - 1).div_euclid(sd.max(1)) + 1;
    if steps < 1 || sd < 1 || kd > 64 {
        return Err(
            "the depth of the filter must be at most 64, and that of the result match the strides and paddings"
                .to_owned(),
        );
    }
    let input = op.x("input")?.pad(&[0, 0, 0, 0, front, back, 0, 0, 0, 0]);
    let parts = (0..kd).map(|k| {
        let layers = input.strided_slice(&[2], [k * dd], [k * dd + (steps - 1) * sd + 1], [sd]);
        let images = layers
            .transpose(&[0, 2, 1, 3, 4])
            .reshape([n * steps, c, height, width]);
        let filter = op.scope.nothing();
        let filter = op
            .x("filter")
            .map_or(filter, |f| f.cut(2, k, k + 1).reshape([m, of, kh, kw]));
        images.conv2d_with(filter, |o| {
            let o = o.strides(&[sh, sw]).paddings(&[top, bottom, left, right]);
            o.dilations(&[dh, dw]).groups(groups)
        })
    });
    let sum = parts
        .reduce(|a, b| a + b)
        .ok_or("the depth of the filter must be positive")?;
    let [_, _, rows, columns] = sum.dims() else {
        return Ok(vec![sum]);
    };
    let whole = sum.reshape([n, steps, m, *rows, *columns]);
    Ok(vec![whole.transpose(&[0, 2, 1, 3, 4])])
}

/// A sum over the depth of the filter of transposed convolutions of images, each placed at its positions in the depth.
fn conv3d_transpose<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let ([n, _, depth, ..], [c, of, kd, kh, kw]) = (volumes::<5>(op, "x")?, volumes(op, "filter")?);
    let ([sd, sh, sw], [dd, dh, dw], groups) = (three(op, "strides")?, three(op, "dilations")?, op.int("groups")?);
    if op.text("padding_algorithm")? != "EXPLICIT" {
        return Err("only explicit `paddings` are supported".to_owned());
    }
    let [front, back, top, bottom, left, right] = borders(op, [0; 3], [0; 3], [1; 3])?;
    let &[_, m, deep, high, wide] = &op.result_like(&op.shape("x")?)?[..] else {
        return Err("the result must have five dimensions".to_owned());
    };
    let whole = (depth - 1) * sd + dd * (kd - 1) + 1;
    // The extent that `output_padding` or `output_size` adds at the end.
    let extra = deep - (whole - front - back);
    if sd < 1 || kd > 64 || m != of * groups || !(0..=back.max(sd)).contains(&extra) {
        return Err(
            "the depth of the filter must be at most 64, and that of the result match the strides and paddings"
                .to_owned(),
        );
    }
    let (x, filter) = (op.x("x")?, op.x("filter")?);
    let &[_, channels, _, rows, columns] = x.dims() else {
        return Err("`x` must have five dimensions".to_owned());
    };
    let images = x
        .transpose(&[0, 2, 1, 3, 4])
        .reshape([n * depth, channels, rows, columns]);
    let parts = (0..kd).map(|k| {
        let filter = filter.cut(2, k, k + 1).reshape([c, of, kh, kw]);
        let flat = images.conv2d_transpose_with(filter, |o| {
            let o = o.strides(&[sh, sw]).paddings(&[top, bottom, left, right]);
            o.dilations(&[dh, dw]).groups(groups).output_size([high, wide])
        });
        let layers = flat.reshape([n, depth, 1, m, high, wide]);
        let spread = layers.pad(&[0, 0, 0, 0, 0, sd - 1, 0, 0, 0, 0, 0, 0]);
        let spread = spread
            .reshape([n, depth * sd, m, high, wide])
            .cut(1, 0, (depth - 1) * sd + 1);
        spread.pad(&[0, 0, k * dd, dd * (kd - 1 - k) + extra.max(0), 0, 0, 0, 0, 0, 0])
    });
    let sum = parts
        .reduce(|a, b| a + b)
        .ok_or("the depth of the filter must be positive")?;
    Ok(vec![sum.cut(1, front, front + deep).transpose(&[0, 2, 1, 3, 4])])
}

/// Images first, then the depth.
fn pool3d<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let [n, c, depth, height, width] = volumes(op, "x")?;
    let (global, adaptive, kind) = (
        op.flag("global_pooling")?,
        op.flag("adaptive")?,
        op.text("pooling_type")?,
    );
    let [kd, kh, kw] = if global {
        [depth, height, width]
    } else {
        three(op, "kernel_size")?
    };
    let [sd, sh, sw] = if global { [1; 3] } else { three(op, "strides")? };
    let borders = match global {
        true => [0; 6],
        false => borders(op, [depth, height, width], [kd, kh, kw], [sd, sh, sw])?,
    };
    let [front, back, top, bottom, left, right] = borders;
    if adaptive && kind == "max" {
        return Err("adaptive maximum pooling of volumes is not supported".to_owned());
    }
    let (ceil, exclusive) = (op.flag("ceil_mode")?, op.flag("exclusive")?);
    let pool = |x: Expr<'c>, kernel: [i64; 2], strides: [i64; 2], paddings: [i64; 4]| {
        x.pool2d_with(kernel, |o| {
            let o = o
                .strides(&strides)
                .paddings(&paddings)
                .ceil_mode(ceil)
                .exclusive(exclusive);
            o.pooling_type(&kind).adaptive(adaptive)
        })
    };
    let images = op.x("x")?.reshape([n * c, depth, height, width]);
    let flat = pool(images, [kh, kw], [sh, sw], [top, bottom, left, right]);
    let &[_, _, rows, columns] = flat.dims() else {
        return Ok(vec![flat]);
    };
    let columns_of = flat.reshape([n * c, 1, depth, rows * columns]);
    let across = if adaptive { rows * columns } else { 1 };
    let whole = pool(columns_of, [kd, across], [sd, 1], [front, back, 0, 0]);
    let steps = whole.dims().get(2).copied().unwrap_or(0);
    Ok(vec![whole.reshape([n, c, steps, rows, columns])])
}

/// The first maximum of each window, and its place in the volume.
fn max_pool3d<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let shape: [i64; 5] = op.shape("x")?.try_into().map_err(|_| "`x` must have five dimensions")?;
    let [n, c, extents @ ..] = shape;
    let result = op.result_like(&shape)?;
    let &[_, _, steps, rows, columns] = &result[..] else {
        return Err("the result must have five dimensions".to_owned());
    };
    let counts = [steps, rows, columns];
    let (adaptive, global) = (op.flag("adaptive")?, op.flag("global_pooling")?);
    let kernel = if global { extents } else { three(op, "kernel_size")? };
    let (strides, paddings) = match global {
        true => ([1; 3], [0; 3]),
        false => (three(op, "strides")?, three(op, "paddings")?),
    };
    fits_in_table(&counts)?;
    let axis = |axis: usize| -> Vec<std::ops::Range<i64>> {
        let (extent, count) = (extents[axis], counts[axis]);
        let window = |at: i64| match adaptive {
            true => at * extent / count..((at + 1) * extent + count - 1) / count,
            false => {
                let start = at * strides[axis] - paddings[axis];
                start.max(0)..(start + kernel[axis]).min(extent)
            }
        };
        (0..count).map(window).collect()
    };
    let ([deep, high, wide], whole) = ([axis(0), axis(1), axis(2)], extents.iter().product::<i64>());
    let longest =
        |windows: &[std::ops::Range<i64>]| windows.iter().map(|w| (w.end - w.start).max(0)).max().unwrap_or(0);
    let size = longest(&deep) * longest(&high) * longest(&wide);
    let count = counts.iter().product();
    fits_in_table(&[count, size])?;
    let mut places: Vec<Vec<i64>> = Vec::new();
    for d in &deep {
        for h in &high {
            for w in &wide {
                let rows = d.clone().flat_map(|d| h.clone().map(move |h| d * extents[1] + h));
                places.push(
                    rows.flat_map(|row| w.clone().map(move |w| row * extents[2] + w))
                        .collect(),
                );
            }
        }
    }
    if places.is_empty() || places.iter().any(Vec::is_empty) {
        return Err("a window is empty".to_owned());
    }
    // The first place of a shorter window is repeated, which changes neither its maximum nor the first place of that.
    let filled = places.iter().flat_map(|window| {
        let first = window.iter().take(1).cycle();
        window.iter().chain(first).take(size as usize).copied()
    });
    let table = op.scope.indices(&filled.collect::<Vec<i64>>());
    let x = op
        .x("x")?
        .reshape([n, c, whole])
        .index_select_with(table, |o| o.axis(2));
    let x = x.reshape([n, c, count, size]);
    let place = x.detach().argmax_with(|o| o.axis(3).keepdims(true));
    let out = x.take_along_axis_with(place, |o| o.axis(3)).reshape(&*result);
    let table = table.reshape([1, 1, count, size]).expand([n, c, count, size]);
    let mask = table.take_along_axis_with(place, |o| o.axis(3)).cast(Type::I32);
    Ok(op.wanted(&[("out", out), ("mask", mask.reshape(&*result))]))
}

/// Elements at their places in a volume of zeros.
fn unpool3d<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (x, shape) = (op.x("x")?, op.shape("x")?);
    let result = op.result_like(&shape)?;
    let (&[n, c, ref extents @ ..], &[_, _, ref wide @ ..]) = (&shape[..], &result[..]) else {
        return Err("`x` must have five dimensions".to_owned());
    };
    if op.text("data_format")? != "NCDHW" {
        return Err("only the layout NCDHW is supported".to_owned());
    }
    let elem = x.elem().ok_or("the element type of `x` is unknown")?;
    let flat = [n * c, extents.iter().product()];
    let zeros = op.scope.context().tensor(&[n * c, wide.iter().product()], elem);
    let zeros = op.scope.full_of(zeros, 0.0);
    let placed = zeros.put_along_axis(op.x("indices")?.reshape(flat), x.reshape(flat), 1);
    Ok(vec![placed.reshape(result)])
}
