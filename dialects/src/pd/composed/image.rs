//! Images at other places: interpolation and sampling.

use super::{Call, Compose, Expr, fits_in_table};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("nearest_interp", |op| {
        op.channels_first("x", |op| interpolated(op, nearest))
    }),
    ("linear_interp", |op| {
        op.channels_first("x", |op| interpolated(op, linear))
    }),
    ("bilinear_interp", |op| {
        op.channels_first("x", |op| interpolated(op, linear))
    }),
    ("trilinear_interp", |op| {
        op.channels_first("x", |op| interpolated(op, linear))
    }),
    ("bicubic_interp", |op| {
        op.channels_first("x", |op| interpolated(op, cubic))
    }),
    ("interp_antialias", antialiased),
    ("affine_grid", affine_grid),
    ("grid_sample", grid_sample),
    ("deformable_conv", deformable_conv),
];

/// The weights of the elements that are summed along an axis: places, and their weights.
type Taps = Vec<(i64, f64)>;

/// The factor from a place in the result to one in the operand, and how places are counted.
struct Scale {
    ratio: f32,
    corners: bool,
    /// Places are the middles of elements.
    centred: bool,
    last: i64,
}

fn nearest(at: i64, scale: &Scale) -> Taps {
    let place = scale.ratio * at as f32 + if scale.corners { 0.5 } else { 0.0 };
    vec![((place as i64).min(scale.last), 1.0)]
}

fn linear(at: i64, scale: &Scale) -> Taps {
    let place = match scale.centred && !scale.corners {
        true => (scale.ratio * (at as f32 + 0.5) - 0.5).max(0.0),
        false => scale.ratio * at as f32,
    };
    let first = (place as i64).min(scale.last);
    let part = place - first as f32;
    // Weights are single numbers, of doubles too.
    vec![
        (first, f64::from(1.0 - part)),
        ((first + 1).min(scale.last), f64::from(part)),
    ]
}

/// Keys' kernel with the parameter -0.75.
fn cubic(at: i64, scale: &Scale) -> Taps {
    const A: f64 = -0.75;
    let place = match scale.corners {
        true => scale.ratio * at as f32,
        false => scale.ratio * (at as f32 + 0.5) - 0.5,
    };
    let (first, part) = (place.floor() as i64, f64::from(place - place.floor()));
    let near = |t: f64| ((A + 2.0) * t - (A + 3.0)) * t * t + 1.0;
    let far = |t: f64| ((A * t - 5.0 * A) * t + 8.0 * A) * t - 4.0 * A;
    let weights = [far(part + 1.0), near(part), near(1.0 - part), far(2.0 - part)];
    let places = (first - 1..).map(|place| place.clamp(0, scale.last));
    places.zip(weights).collect()
}

fn refuse_computed_size(op: &Call<'_>) -> Result<(), String> {
    let computed = ["out_size", "size_tensor", "scale_tensor"];
    match computed.iter().any(|name| !op.all(name).is_empty()) {
        true => Err("a computed output size is not supported".to_owned()),
        false => Ok(()),
    }
}

/// The factor of an axis; a single one is that of all.
fn given_scale(scales: &[f64], axis: usize) -> Option<f64> {
    let single = scales.first().filter(|_| scales.len() == 1);
    scales.get(axis - 2).or(single).copied()
}

/// Each axis of the images in turn: elements at some places, weighted.
fn interpolated<'c>(op: &Call<'c>, taps: fn(i64, &Scale) -> Taps) -> Result<Vec<Expr<'c>>, String> {
    refuse_computed_size(op)?;
    let (mut x, from) = (op.x("x")?, op.shape("x")?);
    let to = op.result_like(&from)?;
    let (corners, centred, scales) = (
        op.flag("align_corners")?,
        op.int("align_mode")? == 0,
        op.floats("scale")?,
    );
    for axis in 2..from.len().min(to.len()) {
        let (own, wanted) = (from[axis], to[axis]);
        fits_in_table(&[wanted])?;
        let given = given_scale(&scales, axis);
        let ratio = match (corners, given) {
            (true, _) if wanted > 1 => (own - 1) as f32 / (wanted - 1) as f32,
            (true, _) => 0.0,
            (false, Some(scale)) if scale > 0.0 => (1.0 / scale) as f32,
            (false, _) => own as f32 / wanted as f32,
        };
        let scale = Scale {
            ratio,
            corners,
            centred,
            last: own - 1,
        };
        let places: Vec<Taps> = (0..wanted).map(|at| taps(at, &scale)).collect();
        let count = places.first().map_or(0, Vec::len);
        let picked = (0..count).map(|tap| {
            let indices: Vec<i64> = places.iter().map(|taps| taps[tap].0).collect();
            let weights: Vec<f64> = places.iter().map(|taps| taps[tap].1).collect();
            let part = x.index_select_with(op.scope.indices(&indices), |o| o.axis(axis as i64));
            let mut shape = vec![1; from.len()];
            shape[axis] = wanted;
            if count == 1 {
                part
            } else {
                part * op.numbers(&weights, &shape, x)
            }
        });
        x = picked.reduce(|a, b| a + b).ok_or("the result must not be empty")?;
    }
    Ok(vec![x])
}

/// Each axis of the images in turn: means of the elements that a place of the result covers, weighted by the distance from
/// its middle. The kernel of Keys has the parameter -0.5 here.
fn antialiased<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    refuse_computed_size(op)?;
    let (mut x, from) = (op.x("x")?, op.images("x")?);
    let to = op.result_like(&from)?;
    let (corners, scales) = (op.flag("align_corners")?, op.floats("scale")?);
    let (reach, kernel): (f64, fn(f64) -> f64) = match &*op.text("interp_method")? {
        "bilinear" => (1.0, |t| (1.0 - t.abs()).max(0.0)),
        "bicubic" => (2.0, |t| match t.abs() {
            t if t < 1.0 => ((1.5 * t) - 2.5) * t * t + 1.0,
            t if t < 2.0 => ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0,
            _ => 0.0,
        }),
        other => {
            return Err(format!(
                "`interp_method` must be `bilinear` or `bicubic`, not `{other}`"
            ));
        }
    };
    for axis in [3, 2] {
        let (own, wanted) = (from[axis], to.get(axis).copied().unwrap_or(0));
        let given = given_scale(&scales, axis);
        let ratio = match (corners, given) {
            (true, _) if wanted > 1 => (own - 1) as f64 / (wanted - 1) as f64,
            (true, _) => 0.0,
            (false, Some(scale)) if scale > 0.0 => 1.0 / scale,
            (false, _) => own as f64 / wanted as f64,
        };
        fits_in_table(&[wanted, own])?;
        let wide = ratio.max(1.0);
        let mut weights = Vec::new();
        for at in 0..wanted {
            let middle = ratio * (at as f64 + 0.5);
            let first = ((middle - reach * wide + 0.5) as i64).max(0);
            let end = ((middle + reach * wide + 0.5) as i64).min(own);
            let line: Vec<f64> = (0..own)
                .map(|place| match (first..end).contains(&place) {
                    true => kernel((place as f64 - middle + 0.5) / wide),
                    false => 0.0,
                })
                .collect();
            let sum: f64 = line.iter().sum();
            weights.extend(line.iter().map(|weight| if sum == 0.0 { 0.0 } else { weight / sum }));
        }
        let table = op.numbers(&weights, &[wanted, own], x);
        x = match axis {
            3 => x.matmul(table.transpose(&[1, 0])),
            _ => table.matmul(x),
        };
    }
    Ok(vec![x])
}

fn affine_grid<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let [n, _, height, width] = op.ints("output_shape")?[..] else {
        return Err("`output_shape` must be four numbers".to_owned());
    };
    fits_in_table(&[height, width, 3])?;
    let corners = op.flag("align_corners")?;
    let at = |k: i64, of: i64| match corners {
        true => 2.0 * k as f64 / (of - 1).max(1) as f64 - 1.0,
        false => (2 * k + 1) as f64 / of as f64 - 1.0,
    };
    let rows = (0..height).flat_map(|y| (0..width).map(move |x| (y, x)));
    let places: Vec<f64> = rows.flat_map(|(y, x)| [at(x, width), at(y, height), 1.0]).collect();
    let theta = op.x("input")?.transpose(&[0, 2, 1]);
    let places = op
        .numbers(&places, &[1, height * width, 3], theta)
        .expand([n, height * width, 3]);
    Ok(vec![places.matmul(theta).reshape([n, height, width, 2])])
}

fn grid_sample<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let ([n, c, height, width], x, grid) = (op.images("x")?, op.x("x")?, op.x("grid")?);
    let [_, rows, columns, 2] = op.shape("grid")?[..] else {
        return Err("`grid` must have shape N×H×W×2".to_owned());
    };
    let (mode, border, corners) = (op.text("mode")?, op.text("padding_mode")?, op.flag("align_corners")?);
    let points = rows * columns;
    let flat = x.reshape([n, c, height * width]);
    let place = |axis: i64, extent: i64| {
        let own = grid.cut(3, axis, axis + 1).reshape([n, 1, points]);
        let (last, extent) = ((extent - 1) as f64, extent as f64);
        let at = if corners {
            (own + 1.0) * (last / 2.0)
        } else {
            ((own + 1.0) * extent - 1.0) * 0.5
        };
        match &*border {
            "border" => at.clip(0.0, last),
            "reflection" => reflected(at, last, extent, corners).clip(0.0, last),
            _ => at,
        }
    };
    let (at_x, at_y) = (place(0, width), place(1, height));
    let image = Image {
        flat,
        extents: [n, c, height, width],
        points,
    };
    let sampled = match &*mode {
        "nearest" => image.element(at_x.round(), at_y.round()),
        "bilinear" => image.between(at_x, at_y),
        other => return Err(format!("`mode` must be `bilinear` or `nearest`, not `{other}`")),
    };
    Ok(vec![sampled.reshape([n, c, rows, columns])])
}

/// Images as rows of elements, from which elements of each channel are read.
struct Image<'c> {
    flat: Expr<'c>,
    extents: [i64; 4],
    points: i64,
}

impl<'c> Image<'c> {
    /// The elements at whole places, zeros outside of the image.
    fn element(&self, px: Expr<'c>, py: Expr<'c>) -> Expr<'c> {
        let ([n, c, height, width], points) = (self.extents, self.points);
        let inside = |p: Expr<'c>, extent: i64| {
            p.greater_equal(p.zeros())
                .logical_and(p.less_equal(p.filled((extent - 1) as f64)))
        };
        let valid = inside(px, width).logical_and(inside(py, height)).expand([n, c, points]);
        let whole = |p: Expr<'c>, extent: i64| p.clip(0.0, (extent - 1) as f64).cast(pir_ir::Type::I64);
        let index = (whole(py, height) * width as f64 + whole(px, width)).expand([n, c, points]);
        let picked = self.flat.take_along_axis_with(index, |o| o.axis(2));
        valid.select(picked, picked.zeros())
    }

    /// The elements between places.
    fn between(&self, px: Expr<'c>, py: Expr<'c>) -> Expr<'c> {
        let (left, top) = (px.floor(), py.floor());
        let (part_x, part_y) = (px - left, py - top);
        let row = |y: Expr<'c>| self.element(left, y) * (1.0 - part_x) + self.element(left + 1.0, y) * part_x;
        row(top) * (1.0 - part_y) + row(top + 1.0) * part_y
    }
}

/// A convolution whose elements are read at places that are moved, and weighted.
fn deformable_conv<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let ([n, c, height, width], [m, of, kh, kw]) = (op.images("x")?, four(op, "filter")?);
    let [_, _, rows, columns] = four(op, "offset")?;
    let two = |name: &str| <[i64; 2]>::try_from(op.ints(name)?).map_err(|_| format!("`{name}` must be two numbers"));
    let (strides, paddings, dilations) = (two("strides")?, two("paddings")?, two("dilations")?);
    let (parts, groups) = (op.int("deformable_groups")?, op.int("groups")?);
    let (taps, points) = (kh * kw, rows * columns);
    if parts < 1 || groups < 1 || c % parts != 0 || of * groups != c || m % groups != 0 {
        return Err("the channels of the image and the filter must match `groups` and `deformable_groups`".to_owned());
    }
    fits_in_table(&[taps, points])?;
    let each = |f: &dyn Fn(i64, i64) -> f64| -> Vec<f64> {
        (0..taps)
            .flat_map(|tap| (0..points).map(move |point| (tap, point)))
            .map(|(tap, point)| f(tap, point))
            .collect()
    };
    // Places as they would be without offsets.
    let base_y = each(&|tap, point| (point / columns * strides[0] - paddings[0] + tap / kw * dilations[0]) as f64);
    let base_x = each(&|tap, point| (point % columns * strides[1] - paddings[1] + tap % kw * dilations[1]) as f64);
    let offset = op.x("offset")?.reshape([n * parts, taps, 2, points]);
    let moved = |base: &[f64], axis: i64| {
        let base = op.numbers(base, &[1, taps, points], offset);
        let off = offset.cut(2, axis, axis + 1).reshape([n * parts, taps, points]);
        (off + base).reshape([n * parts, 1, taps * points])
    };
    let image = Image {
        flat: op.x("x")?.reshape([n * parts, c / parts, height * width]),
        extents: [n * parts, c / parts, height, width],
        points: taps * points,
    };
    let read = image.between(moved(&base_x, 1), moved(&base_y, 0));
    let read = match op.some("mask") {
        Some(mask) => read * mask.reshape([n * parts, 1, taps * points]),
        None => read,
    };
    let lines = read.reshape([n, groups, of * taps, points]);
    let filter = op.x("filter")?.reshape([1, groups, m / groups, of * taps]);
    let filter = filter.expand([n, groups, m / groups, of * taps]);
    Ok(vec![filter.matmul(lines).reshape([n, m, rows, columns])])
}

fn four(op: &Call<'_>, name: &str) -> Result<[i64; 4], String> {
    op.shape(name)?
        .try_into()
        .map_err(|_| format!("`{name}` must have four dimensions"))
}

/// A place outside of the image, reflected at its borders as often as it takes.
fn reflected<'c>(at: Expr<'c>, last: f64, extent: f64, corners: bool) -> Expr<'c> {
    let (range, offset) = if corners {
        (2.0 * last, 0.0)
    } else {
        (2.0 * extent, 0.5)
    };
    if range <= 0.0 {
        return at.zeros();
    }
    let from = (at + offset).abs();
    let rest = from - (from * (1.0 / range)).floor() * range;
    rest.minimum(range - rest) - offset
}
