//! Sparse and ragged tensors: values with their places, or with the rows that they are divided into.

use pir_dialects::pd::Expr;
use pir_ir::{Type, ValueId};

use super::super::proto::Value;
use super::reader::{Reader, Result};
use super::row::Row;

pub(super) const TABLE: &[Row] = &[
    (
        "RaggedTensorToTensor",
        "Tshape T T Tindex*",
        "num_row_partition_tensors row_partition_types",
        ragged,
    ),
    ("SparseReduceSum", "i64 T i64 i32", "keep_dims=false", |r, at| {
        let (shape, axes, keep) = (r.list(at, 2, "shape")?, r.list(at, 3, "axes")?, r.flag(at, "keep_dims"));
        let operands = [r.operand(at, 0)?, r.operand(at, 1)?];
        let values = r.express(at, &operands, |_, x| {
            let dense = dense(x[0], x[1], &shape)?;
            Ok(vec![match axes[..] {
                [] => dense,
                _ => dense.sum_with(|o| o.axis(&axes[..]).keepdim(keep)),
            }])
        })?;
        r.is_expressed(at, values, &operands);
        Ok(())
    }),
    (
        "SparseSegmentMean",
        "T Tidx Tsegmentids",
        "sparse_gradient=false",
        |r, at| segments(r, at, |count| 1.0 / count),
    ),
    (
        "SparseSegmentSqrtN",
        "T Tidx Tsegmentids",
        "sparse_gradient=false",
        |r, at| segments(r, at, |count| 1.0 / count.sqrt()),
    ),
    (
        "SparseSegmentSum",
        "T Tidx Tsegmentids",
        "sparse_gradient=false",
        |r, at| segments(r, at, |_| 1.0),
    ),
    ("SparseTensorDenseAdd", "Tindices T Tindices T", "", |r, at| {
        // The shape is that of the other operand.
        r.input(at, 2)?;
        let operands = [r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 3)?];
        let values = r.express(at, &operands, |_, x| Ok(vec![x[2].scatter_nd_add(x[0], x[1])]))?;
        r.is_expressed(at, values, &operands);
        Ok(())
    }),
    (
        "SparseTensorDenseMatMul",
        "Tindices T i64 T",
        "adjoint_a=false adjoint_b=false",
        product,
    ),
    (
        "SparseToDense",
        "Tindices Tindices T T",
        "validate_indices=true",
        to_dense,
    ),
];

/// The dense tensor of a sparse one.
fn dense<'c>(places: Expr<'c>, values: Expr<'c>, shape: &[i64]) -> Result<Expr<'c>> {
    let elem = values.elem().ok_or("its element type is unknown")?;
    let zeros = values.scope().full_with(shape, 0.0, |o| o.dtype(elem));
    Ok(zeros.scatter_nd_add(places, values))
}

/// Sums of the rows at indices, of segments of known numbers, each by a factor for the number of its rows.
fn segments(r: &mut Reader<'_>, at: usize, factor: fn(f64) -> f64) -> Result<()> {
    r.flag(at, "sparse_gradient");
    let ids = r.list(at, 2, "segment numbers")?;
    let ascends = ids.windows(2).all(|pair| pair[0] <= pair[1]);
    let (Some(&first), Some(&last), true) = (ids.first(), ids.last(), ascends) else {
        return Err("its segment numbers are not ascending".to_owned());
    };
    if first < 0 || last > 1 << 20 {
        return Err("its segment numbers are out of range".to_owned());
    }
    let mut counts = vec![0.0; last as usize + 1];
    for &id in &ids {
        counts[id as usize] += 1.0;
    }
    let factors: Vec<f64> = ids.iter().map(|&id| factor(counts[id as usize])).collect();
    let operands = [r.operand(at, 0)?, r.operand(at, 1)?];
    let (dims, elem) = r.dims(operands[0])?;
    if dims.is_empty() || dims.contains(&-1) || !r.ctx.is_float(elem) {
        return Err("its data must be floats of known shape".to_owned());
    }
    let weights: Box<[_]> = factors.iter().map(|&w| r.ctx.float_attr(w)).collect();
    let mut line = vec![1; dims.len()];
    line[0] = ids.len() as i64;
    let attrs = [
        ("shape", r.ctx.ints_attr(&line)),
        ("values", r.ctx.attr(pir_ir::AttrData::Array(weights))),
        ("dtype", r.ctx.type_attr(elem)),
    ];
    let weights = r.helper(at, pir_dialects::pd::AssignValue::NAME, &[], &attrs)?;
    let values = r.express(at, &[operands[0], operands[1], weights], |scope, x| {
        let rows = x[0].gather_with(x[1], |o| o.axis(0)) * x[2];
        let zeros = scope.full_with(&[&[last + 1], &dims[1..]].concat(), 0.0, |o| o.dtype(elem));
        let places = scope.indices(&ids).reshape([ids.len() as i64, 1]);
        Ok(vec![zeros.scatter_nd_add(places, rows)])
    })?;
    r.is_expressed(at, values, &operands);
    Ok(())
}

/// Rows of the dense matrix, weighted by the values, and added at the rows of the sparse one.
fn product(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (shape, turned, adjoint) = (
        r.list(at, 2, "shape")?,
        r.flag(at, "adjoint_a"),
        r.flag(at, "adjoint_b"),
    );
    let &[rows, columns] = &shape[..] else {
        return Err("the sparse operand must be a matrix".to_owned());
    };
    let operands = [r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 3)?];
    let (dims, elem) = r.dims(operands[1])?;
    let &[count] = &dims[..] else {
        return Err("its values must be a vector".to_owned());
    };
    if count < 0 || rows < 0 || columns < 0 || r.ctx.is_complex(elem) {
        return Err("its shape must be known, and its elements real".to_owned());
    }
    let (rows, own, other) = if turned { (columns, 1, 0) } else { (rows, 0, 1) };
    let values = r.express(at, &operands, |scope, x| {
        let whole = if adjoint { x[2].transpose(&[1, 0]) } else { x[2] };
        let &[_, width] = whole.dims() else {
            return Err("the dense operand must be a matrix".to_owned());
        };
        let place = |axis: i64| x[0].cut(1, axis, axis + 1);
        let read = whole.gather_with(place(other).reshape([count]), |o| o.axis(0));
        let zeros = scope.full_with(&[rows, width], 0.0, |o| o.dtype(elem));
        Ok(vec![zeros.scatter_nd_add(place(own), read * x[1].reshape([count, 1]))])
    })?;
    r.is_expressed(at, values, &operands);
    Ok(())
}

fn to_dense(r: &mut Reader<'_>, at: usize) -> Result<()> {
    r.flag(at, "validate_indices");
    let shape = r.list(at, 1, "shape")?;
    let operands = [r.operand(at, 0)?, r.operand(at, 2)?, r.operand(at, 3)?];
    let (places, (given, _)) = (r.dims(operands[0])?.0, r.dims(operands[1])?);
    let (count, depth) = match places[..] {
        [] => (1, 1),
        [count] => (count, 1),
        [count, depth] => (count, depth),
        _ => return Err("its indices must be a matrix".to_owned()),
    };
    if count < 0 || depth != shape.len() as i64 || shape.iter().any(|&d| d < 0) {
        return Err("its indices must be known and match its shape".to_owned());
    }
    let made = r.express(at, &operands, |_, x| {
        let index = x[0].reshape([count, depth]);
        let values = match given[..] {
            [] => x[1].reshape([1]).expand([count]),
            _ => x[1],
        };
        let whole = x[2].reshape(vec![1; shape.len()]).expand(&shape[..]);
        Ok(vec![whole, index, values])
    })?;
    match made[..] {
        [whole, index, values] => super::places::scatter_at(r, at, whole, index, values),
        _ => Err("an expression has no value".to_owned()),
    }
}

/// How a level of a ragged tensor divides its values into rows.
fn rows_of(kind: &str, partition: &[i64], known_rows: Option<i64>) -> Result<(i64, Vec<i64>)> {
    match kind {
        "ROW_SPLITS" => {
            let mut owners = Vec::new();
            for (row, pair) in (0..).zip(partition.windows(2)) {
                if pair[1] < pair[0] || pair[1] > 1 << 24 {
                    return Err("its row partition must be ascending and at most as long as its values".to_owned());
                }
                owners.extend((pair[0]..pair[1]).map(|_| row));
            }
            Ok((partition.len() as i64 - 1, owners))
        }
        "VALUE_ROWIDS" => {
            let rows = known_rows.ok_or("the number of its rows is unknown")?;
            Ok((rows, partition.to_vec()))
        }
        other => Err(format!("the row partition type `{other}` is not supported")),
    }
}

/// The place of each value in the dense tensor, and the extents that the rows need.
fn spread(levels: &[(i64, Vec<i64>)]) -> Result<(Vec<Vec<i64>>, Vec<i64>)> {
    let first = levels.first().map_or(0, |level| level.0);
    let mut extents = vec![first];
    let mut places: Vec<Vec<i64>> = (0..first).map(|row| vec![row]).collect();
    for (_, owners) in levels {
        let mut lengths = vec![0; places.len()];
        let mut next = Vec::new();
        for &owner in owners {
            let owner = usize::try_from(owner).ok().filter(|&owner| owner < places.len());
            let owner = owner.ok_or("a value does not belong to a row")?;
            next.push([&places[owner][..], &[lengths[owner]]].concat());
            lengths[owner] += 1;
        }
        extents.push(lengths.into_iter().max().unwrap_or(0));
        places = next;
    }
    Ok((places, extents))
}

/// The values of a ragged tensor at their places, and a default elsewhere.
fn ragged(r: &mut Reader<'_>, at: usize) -> Result<()> {
    /// More elements are not written as a table.
    const MOST: i64 = 1 << 22;
    r.int(at, "num_row_partition_tensors");
    let kinds: Vec<String> = match r.attr(at, "row_partition_types") {
        Some(Value::List(list)) => list
            .bytes
            .iter()
            .map(|b| String::from_utf8_lossy(b).into_owned())
            .collect(),
        _ => return Err("its row partition types are missing".to_owned()),
    };
    let wanted = r.list(at, 0, "shape")?;
    let (mut levels, mut rows) = (Vec::new(), None);
    for (index, kind) in kinds.iter().enumerate() {
        let partition = r.list(at, 3 + index, "rows")?;
        match (kind.as_str(), &partition[..]) {
            ("FIRST_DIM_SIZE", &[count]) => rows = Some(count),
            (kind, partition) => {
                // Below the first level, there are as many rows as values of the level above.
                let above = levels.last().map(|(_, owners): &(i64, Vec<i64>)| owners.len() as i64);
                levels.push(rows_of(kind, partition, above.or(rows))?);
            }
        }
    }
    let (places, mut extents) = spread(&levels)?;
    let (x, default) = (r.operand(at, 1)?, r.operand(at, 2)?);
    let dims = r.dims(x)?.0;
    let rest = dims.get(1..).unwrap_or_default().to_vec();
    if dims.first() != Some(&(places.len() as i64)) || rest.iter().any(|&d| d < 0) {
        return Err("its values must have a known shape and match the row partition".to_owned());
    }
    if !wanted.is_empty() && wanted != [-1] && wanted.len() != extents.len() + rest.len() {
        return Err("its shape does not match the row partition".to_owned());
    }
    if wanted.len() == extents.len() + rest.len() {
        for (extent, &wanted) in extents.iter_mut().zip(&wanted).filter(|(_, wanted)| **wanted >= 0) {
            *extent = wanted;
        }
    }
    let total = extents
        .iter()
        .try_fold(1i64, |n, &d| n.checked_mul(d).filter(|&n| n <= MOST));
    let total = total.ok_or("it is too large")?;
    // The row after all values is the default.
    let mut table = vec![places.len() as i64; usize::try_from(total).unwrap_or(0)];
    for (value, place) in places.iter().enumerate() {
        let inside = place.iter().zip(&extents).all(|(at, extent)| at < extent);
        let flat = place
            .iter()
            .zip(&extents)
            .fold(0, |flat, (at, extent)| flat * extent + at);
        if let (true, Some(slot)) = (inside, usize::try_from(flat).ok().and_then(|at| table.get_mut(at))) {
            *slot = value as i64;
        }
    }
    let operands: [ValueId; 2] = [x, default];
    let values = r.express(at, &operands, |scope, x| {
        let row = [&[1][..], &rest].concat();
        let all = scope.concat_with(&[x[0], x[1].expand(&rest[..]).reshape(row)], |o| o.axis(0));
        let index = scope.indices(&table).to(Some(Type::I64));
        let flat = all.index_select_with(index, |o| o.axis(0));
        Ok(vec![flat.reshape([&extents[..], &rest].concat())])
    })?;
    r.is_expressed(at, values, &operands);
    Ok(())
}
