//! Elements at computed positions: scatter, count and gather.

use pir_ir::Type;

use super::{Call, Compose, Expr, fits_in_table, is_small};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("index_put", index_put),
    ("multiplex", |op| {
        let (inputs, index) = (op.members("inputs"), op.x("index")?);
        let last = *inputs.last().ok_or("`inputs` must not be empty")?;
        let shape = last.static_shape().ok_or("the shapes of the operands must be static")?;
        let mut rows = vec![1; shape.len()];
        rows[0] = *shape.first().ok_or("the operands must have at least one dimension")?;
        let index = index.reshape(rows);
        let out = inputs.iter().enumerate().fold(last, |rest, (at, &x)| {
            let is_here = index.equal(index.filled(at as f64)).expand(&*shape);
            is_here.select(x, rest)
        });
        Ok(vec![out])
    }),
    ("crop", |op| {
        let (x, extents) = (op.x("x")?, op.shape("x")?);
        let (wanted, mut offsets) = (op.ints("shape")?, op.ints("offsets")?);
        offsets.resize(extents.len(), 0);
        if wanted.len() != extents.len() {
            return Err("`shape` must have a number for each dimension of `x`".to_owned());
        }
        let sizes = wanted.iter().zip(&extents).zip(&offsets);
        let ends: Vec<i64> = sizes
            .map(|((&size, &extent), &offset)| if size < 0 { extent } else { offset + size })
            .collect();
        let axes: Vec<i64> = (0..extents.len() as i64).collect();
        Ok(vec![x.slice(&axes, &*offsets, &*ends)])
    }),
    ("fill_diagonal", |op| {
        let (x, value) = (op.x("x")?, op.float("value")?);
        let (&[m, n], false) = (&*op.shape("x")?, op.flag("wrap")?) else {
            return Err("only matrices without `wrap` are supported".to_owned());
        };
        // Below the main diagonal, too, PaddlePaddle leaves the rows alone that it does not reach.
        let reached = m.min(n);
        let top = x.cut(0, 0, reached);
        let on = diagonal(op, top, &[reached, n], op.int("offset")?)?;
        let filled = on.select(top.filled(value), top);
        Ok(vec![match reached < m {
            true => op.scope.concat_with(&[filled, x.cut(0, reached, m)], |o| o.axis(0)),
            false => filled,
        }])
    }),
    ("fill_diagonal_tensor", |op| {
        let (x, y, offset) = (op.x("x")?, op.x("y")?, op.int("offset")?);
        let &[m, n] = &*op.shape("x")? else {
            return Err("`x` must be a matrix".to_owned());
        };
        let count = op.shape("y")?.iter().product::<i64>();
        if [op.int("dim1")?, op.int("dim2")?] != [0, 1] {
            return Err("`dim1` and `dim2` must be 0 and 1".to_owned());
        }
        // Along rows above the main diagonal, and along columns below it, the elements begin at the first.
        let (extent, line) = if offset < 0 { (n, [1, n]) } else { (m, [m, 1]) };
        let values = y
            .reshape([count])
            .pad(&[0, (extent - count).max(0)])
            .reshape(line)
            .expand([m, n]);
        Ok(vec![diagonal(op, x, &[m, n], offset)?.select(values, x)])
    }),
    ("bincount", |op| {
        let x = op.x("x")?;
        let ty = *op.results.first().ok_or("the result is missing")?;
        let elem = op.scope.context().elem_type(ty);
        let least = match op.some("minlength") {
            Some(least) => least.cast(Type::I64).reshape([1]),
            None => {
                let least = op.int("minlength")?;
                if op.shape("x")?.contains(&0) {
                    return Ok(vec![op.scope.full_with(&[least], 0.0, |o| o.dtype(elem))]);
                }
                op.scope.indices(&[least])
            }
        };
        let most = x.max().cast(Type::I64).reshape([1]) + 1.0;
        let zeros = op.scope.full_with(&[1], 0.0, |o| o.dtype(elem));
        let zeros = zeros.expand(most.maximum(least));
        let weights = op.some("weights").unwrap_or(x.ones()).to(Some(elem));
        Ok(vec![zeros.scatter_nd_add(x.reshape([-1, 1]), weights.reshape([-1]))])
    }),
    ("gather_tree", |op| {
        let (ids, parents, shape) = (op.x("ids")?, op.x("parents")?, op.shape("ids")?);
        let &[steps @ 1..=4096, batch, beams] = &*shape else {
            return Err("`ids` must have three dimensions and 1 to 4096 steps".to_owned());
        };

        let mut chosen = vec![step(ids, steps - 1, [batch, beams])];
        let mut parent = step(parents, steps - 1, [batch, beams]);
        for t in (0..steps - 1).rev() {
            let of = |x| step(x, t, [batch, beams]).take_along_axis_with(parent, |o| o.axis(1));
            let (id, next) = (of(ids), of(parents));
            chosen.push(id);
            parent = next;
        }
        chosen.reverse();
        Ok(vec![op.scope.stack(&chosen)])
    }),
    ("segment_pool", |op| {
        let (x, ids) = (op.x("x")?, op.x("segment_ids")?);
        let rows = ids.max().cast(Type::I64).reshape([1]) + 1.0;
        let rest = op.scope.indices(op.shape("x")?.get(1..).ok_or("`x` is a scalar")?);
        let shape = if x.rank() > 1 {
            op.scope.concat(&[rows, rest])
        } else {
            rows
        };
        let zeros = op.scope.full_of(scalar(op, x), 0.0).expand(shape);
        let (out, counts) = pooled(op, zeros, x, ids, &op.text("pooltype")?)?;
        Ok(op.wanted(&[("out", out), ("summed_ids", counts)]))
    }),
    ("send_u_recv", |op| {
        let messages = op.x("x")?.gather(op.x("src_index")?);
        received(op, messages)
    }),
    ("send_ue_recv", |op| {
        let messages = joined(op, op.x("x")?.gather(op.x("src_index")?), op.x("y")?)?;
        received(op, messages)
    }),
    ("send_uv", |op| {
        let (x, y) = (
            op.x("x")?.gather(op.x("src_index")?),
            op.x("y")?.gather(op.x("dst_index")?),
        );
        Ok(vec![joined(op, x, y)?])
    }),
    ("shard_index", |op| {
        let (x, shards) = (op.x("input")?, op.int("nshards")?.max(1));
        let size = (op.int("index_num")? + shards - 1) / shards;
        let size = x.filled(size.max(1) as f64);
        let is_own = x.floor_divide(size).equal(x.filled(op.int("shard_id")? as f64));
        let ignored = x.filled(op.int("ignore_value")? as f64);
        Ok(vec![is_own.select(x.remainder(size), ignored)])
    }),
    ("accuracy", |op| {
        let (indices, label) = (op.x("indices")?, op.x("label")?);
        let rows = *op
            .shape("indices")?
            .first()
            .ok_or("`indices` must have at least one dimension")?;
        let is_hit = indices
            .equal(label.cast_like(indices).reshape([rows, 1]))
            .any_with(|o| o.axis([1]));
        let correct = is_hit.cast(Type::I32).sum_with(|o| o.dtype(Type::I32));
        let part = correct.cast(Type::F32) * (1.0 / rows.max(1) as f64);
        let total = correct.filled(rows as f64);
        Ok(op.wanted(&[("accuracy", part), ("correct", correct), ("total", total)]))
    }),
    ("equal_all", |op| {
        let (x, y) = (op.x("x")?, op.x("y")?);
        Ok(vec![match op.shape("x")? == op.shape("y")? {
            true => x.equal(y).all(),
            false => op.scope.full_with(&[], 0.0, |o| o.dtype(Type::I1)),
        }])
    }),
    ("linspace", |op| {
        let (start, stop) = (op.x("start")?.reshape([1]), op.x("stop")?.reshape([1]));
        Ok(vec![spaced(op, start, stop, op.x("number")?)?])
    }),
    ("logspace", |op| {
        let (start, stop) = (op.x("start")?.reshape([1]), op.x("stop")?.reshape([1]));
        let powers = spaced(op, start, stop, op.x("num")?)?;
        Ok(vec![
            op.x("base")?.reshape([1]).cast_like(powers).elementwise_pow(powers),
        ])
    }),
    ("tril_indices", |op| {
        corner(op, "rows", "cols", |row, column, offset| column <= row + offset)
    }),
    ("triu_indices", |op| {
        corner(op, "row", "col", |row, column, offset| column >= row + offset)
    }),
];

fn step<'c>(x: Expr<'c>, t: i64, shape: [i64; 2]) -> Expr<'c> {
    x.cut(0, t, t + 1).reshape(shape)
}

/// The type of one element.
fn scalar(op: &Call<'_>, x: Expr<'_>) -> Type {
    let ctx = op.scope.context();
    ctx.tensor(&[], x.elem().unwrap_or(Type::F32))
}

/// `x` with numbers at index tuples, or added there; or with one number where a mask is true.
fn index_put<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (x, value, adds) = (op.x("x")?, op.x("value")?, op.flag("accumulate")?);
    let (indices, shape) = (op.members("indices"), op.shape("x")?);
    if let [mask] = indices[..]
        && mask.elem() == Some(Type::I1)
    {
        if op.shape("value")?.iter().product::<i64>() != 1 || mask.rank() > shape.len() {
            return Err("with a mask, `value` must be a single number".to_owned());
        }
        let mut wide = mask.static_shape().ok_or("the shape of the mask must be static")?;
        wide.resize(shape.len(), 1);
        let value = value.reshape([]).expand(&*shape);
        let put = if adds { x + value } else { value };
        return Ok(vec![mask.reshape(wide).expand(&*shape).select(put, x)]);
    }
    if indices.len() > shape.len() || indices.is_empty() || indices.iter().any(|i| i.elem() == Some(Type::I1)) {
        return Err("`indices` must be integer tensors, at most one for each dimension of `x`".to_owned());
    }
    let (lead, rest) = shape.split_at(indices.len());
    let mut flat: Option<Expr<'_>> = None;
    for (at, index) in indices.iter().enumerate() {
        let index = index.cast(Type::I64);
        let index = index.less_than(index.zeros()).select(index + lead[at] as f64, index);
        let stride: i64 = lead[at + 1..].iter().product();
        let own = index.affine(stride as f64, 0.0);
        flat = Some(flat.map_or(own, |sum| sum + own));
    }
    let flat = flat.ok_or("`indices` must not be empty")?;
    let places = flat.static_shape().ok_or("the shapes of the indices must be static")?;
    let count = places.iter().product();
    let tail: i64 = rest.iter().product();
    if !is_small(&[count, tail]) {
        return Err("the result is too large".to_owned());
    }
    let values = value.expand([&*places, rest].concat()).reshape([count, tail]);
    let (rows, flat) = (x.reshape([lead.iter().product(), tail]), flat.reshape([count]));
    let out = match adds {
        true => rows.scatter_nd_add(flat.reshape([count, 1]), values),
        false => rows.scatter(flat, values),
    };
    Ok(vec![out.reshape(shape)])
}

/// Where a matrix has a diagonal.
pub(super) fn diagonal<'c>(op: &Call<'c>, x: Expr<'c>, shape: &[i64], offset: i64) -> Result<Expr<'c>, String> {
    let (m, n) = (shape[0], shape[1]);
    fits_in_table(&[m, n])?;
    let numbers: Vec<f64> = (0..m * n).map(|at| f64::from(at % n - at / n == offset)).collect();
    Ok(op.numbers(&numbers, shape, x).above(0.0))
}

/// The rows of `zeros` with the values scattered to them added, and the number of values for each.
fn pooled<'c>(
    op: &Call<'c>,
    zeros: Expr<'c>,
    values: Expr<'c>,
    to: Expr<'c>,
    kind: &str,
) -> Result<(Expr<'c>, Expr<'c>), String> {
    let shape = values
        .static_shape()
        .filter(|shape| is_small(shape) && !shape.is_empty());
    let shape = shape.ok_or("the shape of the added values must be static")?;
    let n = shape[0];
    let index = to.reshape([n, 1]);
    let elem = values.elem().ok_or("the element type is unknown")?;
    let none = zeros.detach().reshape([0, -1]).sum_with(|o| o.axis([1]));
    let counts = none
        .zeros()
        .scatter_nd_add(index, op.scope.full_with(&[n], 1.0, |o| o.dtype(elem)));
    let line = |extent| [vec![extent], vec![1; shape.len() - 1]].concat();
    let extreme = |reduce: &str| {
        let places = to.reshape(line(n)).expand(&*shape);
        zeros.put_along_axis_with(places, values, 0, |o| o.reduce(reduce).include_self(false))
    };
    let out = match kind {
        "SUM" => zeros.scatter_nd_add(index, values),
        "MEAN" => zeros.scatter_nd_add(index, values) / counts.maximum(counts.ones()).reshape(line(-1)),
        "MAX" => extreme("amax"),
        "MIN" => extreme("amin"),
        other => return Err(format!("`{other}` is not known")),
    };
    Ok((out, counts))
}

/// Messages at the nodes that they go to.
fn received<'c>(op: &Call<'c>, messages: Expr<'c>) -> Result<Vec<Expr<'c>>, String> {
    let mut shape = messages
        .static_shape()
        .ok_or("the shape of the messages must be static")?;
    let size = op.ints("out_size")?.first().copied().unwrap_or(0);
    shape[0] = if size > 0 { size } else { op.shape("x")?[0] };
    let elem = messages.elem().ok_or("the element type is unknown")?;
    let zeros = op.scope.full_of(op.scope.context().tensor(&shape, elem), 0.0);
    let (out, counts) = pooled(op, zeros, messages, op.x("dst_index")?, &op.text("reduce_op")?)?;
    Ok(op.wanted(&[("out", out), ("dst_count", counts.cast(Type::I32))]))
}

fn joined<'c>(op: &Call<'c>, x: Expr<'c>, y: Expr<'c>) -> Result<Expr<'c>, String> {
    match op.text("message_op")?.as_str() {
        "ADD" => Ok(x + y),
        "MUL" => Ok(x * y),
        other => Err(format!("`{other}` is not known")),
    }
}

/// Numbers from one to another, both included, from both sides to the middle, as PaddlePaddle's kernel makes them.
fn spaced<'c>(op: &Call<'c>, start: Expr<'c>, stop: Expr<'c>, count: Expr<'c>) -> Result<Expr<'c>, String> {
    let ctx = op.scope.context();
    let elem = op
        .dtype()
        .filter(|&elem| ctx.is_float(elem))
        .ok_or("`dtype` must be a float type")?;
    let (start, stop) = (start.to(Some(elem)), stop.to(Some(elem)));
    let count = count.reshape([]).cast(Type::I64);
    let at = op
        .scope
        .arange_with(|o| o.start(0.0).end(count).step(1.0).dtype(Type::I64));
    let steps = (count - 1.0).maximum(count.ones());
    let step = (stop - start) / steps.cast(elem).reshape([1]);
    let back = (count - 1.0).reshape([1]) - at;
    let is_front = at.less_than(count.floor_divide(count.filled(2.0)).reshape([1]));
    let is_front = is_front.logical_or(count.equal(count.ones()).reshape([1]));
    let (front, behind) = (start + step * at.cast(elem), stop - step * back.cast(elem));
    Ok(is_front.select(front, behind))
}

/// The places of the elements of a matrix on one side of a diagonal, rows and columns.
fn corner<'c>(
    op: &Call<'c>,
    rows: &str,
    columns: &str,
    is_inside: fn(i64, i64, i64) -> bool,
) -> Result<Vec<Expr<'c>>, String> {
    let (rows, columns, offset) = (op.int(rows)?, op.int(columns)?, op.int("offset")?);
    let ty = *op.results.first().ok_or("the result is missing")?;
    if rows < 0 || columns < 0 || rows * columns > 1 << 24 {
        return Err("the result is too large".to_owned());
    }
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let (at, across): (Vec<i64>, Vec<i64>) = all.filter(|&(row, column)| is_inside(row, column, offset)).unzip();
    let count = at.len() as i64;
    let places = op.scope.indices(&[at, across].concat()).reshape([2, count]);
    Ok(vec![places.to(Some(op.scope.context().elem_type(ty)))])
}
