//! Elements that change their places.

use super::{Call, Compose};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("full_batch_size_like", |op| {
        let (mut shape, like) = (op.ints("shape")?, op.shape("input")?);
        let place = |name: &str| Ok::<_, String>(usize::try_from(op.int(name)?).unwrap_or(usize::MAX));
        let (from, to) = (
            like.get(place("input_dim_idx")?),
            shape.get_mut(place("output_dim_idx")?),
        );
        let (Some(&from), Some(to)) = (from, to) else {
            return Err("there is no such dimension".to_owned());
        };
        *to = from;
        let ctx = op.scope.context();
        let elem = op.results.first().and_then(|&ty| ctx.as_tensor(ty));
        let (_, elem) = elem.ok_or("the element type of the result is unknown")?;
        Ok(vec![op.scope.full_of(ctx.tensor(&shape, elem), op.float("value")?)])
    }),
    ("broadcast_tensors", |op| {
        let inputs = op.all("input");
        let shapes: Option<Vec<Vec<i64>>> = inputs.iter().map(|x| x.static_shape()).collect();
        let Some(shapes) = shapes else {
            // A sum of zeros has the shape of all together, whatever it is.
            let zeros = inputs.iter().map(|x| x.zeros()).reduce(|a, b| a + b);
            let like = zeros.ok_or("`inputs` must not be empty")?;
            return Ok(inputs.into_iter().map(|x| x.expand_like(like)).collect());
        };
        let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
        let extent = |at: usize| {
            let own = shapes
                .iter()
                .filter_map(|s| (at + s.len()).checked_sub(rank).map(|own| s[own]));
            own.max_by_key(|&extent| if extent == 1 { -1 } else { extent })
                .unwrap_or(1)
        };
        let shape: Vec<i64> = (0..rank).map(extent).collect();
        Ok(inputs.into_iter().map(|x| x.expand(&*shape)).collect())
    }),
    ("pixel_shuffle", |op| {
        let ([n, c, h, w], r) = (op.images("x")?, op.int("upscale_factor")?);
        let split = op
            .x("x")?
            .reshape([n, c / (r * r).max(1), r, r, h, w])
            .transpose(&[0, 1, 4, 2, 5, 3]);
        Ok(vec![split.reshape([n, c / (r * r).max(1), h * r, w * r])])
    }),
    ("pixel_unshuffle", |op| {
        let ([n, c, h, w], r) = (op.images("x")?, op.int("downscale_factor")?.max(1));
        let split = op
            .x("x")?
            .reshape([n, c, h / r, r, w / r, r])
            .transpose(&[0, 1, 3, 5, 2, 4]);
        Ok(vec![split.reshape([n, c * r * r, h / r, w / r])])
    }),
    ("channel_shuffle", |op| {
        let ([n, c, h, w], groups) = (op.images("x")?, op.int("groups")?.max(1));
        let split = op
            .x("x")?
            .reshape([n, groups, c / groups, h, w])
            .transpose(&[0, 2, 1, 3, 4]);
        Ok(vec![split.reshape([n, c, h, w])])
    }),
    ("temporal_shift", |op| {
        let ([nt, c, h, w], segments) = (op.images("x")?, op.int("seg_num")?.max(1));
        let ratio = op.float("shift_ratio")?;
        if !(0.0..=0.5).contains(&ratio) {
            return Err("`shift_ratio` must be from 0 to 0.5".to_owned());
        }
        let [moved, both] = [c, 2 * c].map(|c| (c as f32 * ratio as f32) as i64);
        let x = op.x("x")?.reshape([nt / segments, segments, c, h, w]);
        // One part of the channels comes from the segment before, one from the next segment.
        let back = x
            .cut(2, 0, moved)
            .pad(&[0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
            .cut(1, 0, segments);
        let ahead = x
            .cut(2, moved, both)
            .pad(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            .cut(1, 1, segments + 1);
        let parts = [back, ahead, x.cut(2, both, c)];
        let whole = op.scope.concat_with(&parts, |o| o.axis(2));
        Ok(vec![whole.reshape([nt, c, h, w])])
    }),
    ("maxout", |op| {
        let (x, groups) = (op.x("x")?, op.int("groups")?.max(1));
        let (axis, mut shape) = (op.axis("axis", x)?, op.shape("x")?);
        shape[axis] /= groups;
        shape.insert(axis + 1, groups);
        let split = x.reshape(&*shape);
        // The first of equal elements gets the cotangent.
        let at = split.argmax_with(|o| o.axis(axis as i64 + 1).keepdims(true));
        let most = split.take_along_axis_with(at, |o| o.axis(axis as i64 + 1));
        shape.remove(axis + 1);
        Ok(vec![most.reshape(&*shape)])
    }),
    ("unfold", |op| {
        let windows = Windows::of(op, op.shape("x")?.get(2..4).unwrap_or_default())?;
        let ([n, c, ..], x) = (op.images("x")?, op.x("x")?);
        let [top, left, bottom, right] = windows.paddings;
        let flat = x
            .pad(&[0, 0, 0, 0, top, bottom, left, right])
            .reshape([n, c, windows.size()]);
        let picked = flat.index_select_with(op.scope.indices(&windows.places), |o| o.axis(2));
        Ok(vec![picked.reshape([
            n,
            c * windows.count,
            windows.places.len() as i64 / windows.count,
        ])])
    }),
    ("fold", |op| {
        let sizes = op.ints("output_sizes")?;
        let (windows, x) = (Windows::of(op, &sizes)?, op.x("x")?);
        let n = *op.shape("x")?.first().ok_or("`x` must have at least one dimension")?;
        let c = op.shape("x")?.get(1).copied().unwrap_or(1) / windows.count;
        let flat = x.reshape([n, c, windows.places.len() as i64]);
        let zeros = x.scope().full_of(
            op.scope.context().tensor(
                &[n, c, windows.size()],
                x.elem().ok_or("the element type of `x` is unknown")?,
            ),
            0.0,
        );
        let summed = zeros.index_add_with(op.scope.indices(&windows.places), flat, |o| o.axis(2));
        let [top, left, ..] = windows.paddings;
        let [height, width] = windows.padded;
        let whole = summed.reshape([n, c, height, width]);
        Ok(vec![whole.cut(2, top, top + sizes[0]).cut(3, left, left + sizes[1])])
    }),
    ("unpool", |op| {
        let ([n, c, h, w], x) = (op.images("x")?, op.x("x")?);
        let out = op.result_like(&[n, c, h, w])?;
        let [_, _, height, width] = out[..] else {
            return Err("the result must have four dimensions".to_owned());
        };
        let elem = x.elem().ok_or("the element type of `x` is unknown")?;
        let zeros = op
            .scope
            .full_of(op.scope.context().tensor(&[n * c, height * width], elem), 0.0);
        let indices = op.x("indices")?.reshape([n * c, h * w]);
        let placed = zeros.put_along_axis(indices, x.reshape([n * c, h * w]), 1);
        Ok(vec![placed.reshape(&*out)])
    }),
];

/// The windows of `unfold` and `fold` in an image with its border.
struct Windows {
    /// Above, left, below, right.
    paddings: [i64; 4],
    padded: [i64; 2],
    /// The number of elements in a window.
    count: i64,
    /// For each element of a window, its place in each window.
    places: Vec<i64>,
}

impl Windows {
    fn of(op: &Call<'_>, image: &[i64]) -> Result<Self, String> {
        let (kernel, strides, dilations) = (op.ints("kernel_sizes")?, op.ints("strides")?, op.ints("dilations")?);
        let paddings = match op.ints("paddings")?[..] {
            [top, left] => [top, left, top, left],
            [top, left, bottom, right] => [top, left, bottom, right],
            _ => return Err("`paddings` must be two or four numbers".to_owned()),
        };
        let [height, width] = pair(image)?;
        let ([kh, kw], [sh, sw], [dh, dw]) = (pair(&kernel)?, pair(&strides)?, pair(&dilations)?);
        if [kh, kw, sh, sw, dh, dw]
            .iter()
            .any(|&value| !(1..=1 << 8).contains(&value))
        {
            return Err("`kernel_sizes`, `strides` and `dilations` must be from 1 to 256".to_owned());
        }
        if [height, width]
            .iter()
            .chain(&paddings)
            .any(|extent| !(0..=1 << 20).contains(extent))
        {
            return Err("the image is too large".to_owned());
        }
        let padded = [height + paddings[0] + paddings[2], width + paddings[1] + paddings[3]];
        let steps = |size: i64, kernel: i64, dilation: i64, stride: i64| {
            (size - dilation * (kernel - 1) - 1) / stride.max(1) + 1
        };
        let (rows, columns) = (steps(padded[0], kh, dh, sh), steps(padded[1], kw, dw, sw));
        if [kh, kw, rows, columns].iter().product::<i64>() > 1 << 24 {
            return Err("the windows have too many elements".to_owned());
        }
        let mut places = Vec::new();
        for (i, j) in (0..kh).flat_map(|i| (0..kw).map(move |j| (i, j))) {
            for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
                places.push((y * sh + i * dh) * padded[1] + x * sw + j * dw);
            }
        }
        let count = kh * kw;
        match places.is_empty() {
            true => Err("no window fits in the image".to_owned()),
            false => Ok(Windows {
                paddings,
                padded,
                count,
                places,
            }),
        }
    }

    fn size(&self) -> i64 {
        self.padded[0] * self.padded[1]
    }
}

fn pair(list: &[i64]) -> Result<[i64; 2], String> {
    list.try_into()
        .map_err(|_| "sizes of images and windows must be two numbers".to_owned())
}
