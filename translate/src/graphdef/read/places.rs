//! Nodes that scatter rows, reduce rows of one index, or pad with repeated elements.

use pir_dialects::pd;
use pir_ir::{DYNAMIC, Type, ValueId};

use super::reader::{Reader, Result};
use super::row::{Row, number_of};
use super::slices::{Bound, stretch};

pub(super) const TABLE: &[Row] = &[
    ("MirrorPad", "T Tpaddings", "mode", |r, at| {
        let x = r.operand(at, 0)?;
        let borders = Borders::new(r, at, x)?;
        let mut out = x;
        for (axis, (before, behind)) in borders.all() {
            let extent = r.dims(out)?.0[axis];
            let (near, far) = (borders.offset, extent - borders.offset);
            if before.max(behind) > far {
                return Err(format!(
                    "a mirrored border of {} exceeds the extent {extent}",
                    before.max(behind)
                ));
            }
            let front = part(r, at, out, axis, near, near + before, true)?;
            let back = part(r, at, out, axis, far - behind, far, true)?;
            let along = [("axis", r.ctx.int_attr(axis as i64))];
            let parts: Vec<ValueId> = [front, Some(out), back].into_iter().flatten().collect();
            out = r.helper(at, pd::Concat::NAME, &parts, &along)?;
        }
        r.op(at, pd::Assign::NAME, &[out], &[])
    }),
    // The elements of each row that are within its length, in reverse order.
    ("ReverseSequence", "T Tlen", "seq_dim batch_dim=0", |r, at| {
        let x = r.operand(at, 0)?;
        let (dims, _) = r.dims(x)?;
        let axis = |name: &str| {
            let axis = r.int(at, name).unwrap_or(0);
            let place = usize::try_from(axis).ok().filter(|&place| place < dims.len());
            place.ok_or_else(|| format!("its `{name}` is out of range"))
        };
        let (along, rows) = (axis("seq_dim")?, axis("batch_dim")?);
        if along == rows || dims.iter().any(|&extent| !(0..1 << 31).contains(&extent)) {
            return Err("its shape must be known, and its `seq_dim` and `batch_dim` must differ".to_owned());
        }
        let wide = |axis: usize| {
            let mut shape = vec![1; dims.len()];
            shape[axis] = dims[axis];
            shape
        };
        let operands = r.operands(at, 2)?;
        let values = r.express(at, &operands, |scope, x| {
            let count = dims[along] as f64;
            let steps = scope.arange_with(|o| o.start(0.0).end(count).step(1.0).dtype(Type::I64));
            let steps = steps.reshape(wide(along));
            let lengths = x[1].cast(Type::I64).reshape(wide(rows));
            let places = steps.less_than(lengths).select(lengths - 1.0 - steps, steps);
            Ok(vec![x[0].take_along_axis_with(places.expand(&dims[..]), |o| {
                o.axis(along as i64)
            })])
        })?;
        r.is_expressed(at, values, &operands);
        Ok(())
    }),
    // The elements that a border mirrors are added to.
    ("MirrorPadGrad", "T Tpaddings", "mode", |r, at| {
        let g = r.operand(at, 0)?;
        let borders = Borders::new(r, at, g)?;
        let mut out = g;
        for (axis, (before, behind)) in borders.all().rev() {
            let whole = r.dims(out)?.0[axis];
            let extent = whole - before - behind;
            let (near, far) = (borders.offset, extent - borders.offset);
            if before.max(behind) > far {
                return Err("its paddings do not match the rank of its input".to_owned());
            }
            let inner = part(r, at, out, axis, before, whole - behind, false)?;
            let front = part(r, at, out, axis, 0, before, true)?;
            let back = part(r, at, out, axis, whole - behind, whole, true)?;
            let rank = r.dims(out)?.0.len();
            let mut sum = inner.ok_or("its result is empty")?;
            for (piece, start, length) in [(front, near, before), (back, far - behind, behind)] {
                let Some(piece) = piece else { continue };
                let mut sizes = vec![0; 2 * rank];
                sizes[2 * axis] = start;
                sizes[2 * axis + 1] = extent - start - length;
                let attrs = [
                    ("paddings", r.ctx.ints_attr(&sizes)),
                    ("pad_value", r.ctx.float_attr(0.0)),
                ];
                let wide = r.helper(at, pd::Pad::NAME, &[piece], &attrs)?;
                sum = r.helper(at, pd::Add::NAME, &[sum, wide], &[])?;
            }
            out = sum;
        }
        r.op(at, pd::Assign::NAME, &[out], &[])
    }),
    ("SegmentMax", "T Tindices", "", |r, at| match r.known(at, 1) {
        None => pooled(r, at, "MAX"),
        Some(_) => extreme(r, at, pd::Max::NAME),
    }),
    ("SegmentMean", "T Tindices", "", |r, at| {
        if r.known(at, 1).is_none() {
            return pooled(r, at, "MEAN");
        }
        let count = sorted(r, at)?;
        let numbers = r.list(at, 1, "segment numbers")?;
        let mut rows = vec![0i64; usize::try_from(count).unwrap_or(0)];
        for &number in &numbers {
            if let Some(row) = usize::try_from(number).ok().and_then(|n| rows.get_mut(n)) {
                *row += 1;
            }
        }
        super::select::segment_sum(r, at, count)?;
        let [sum] = r.values[at][..] else {
            return Err("its sum is empty".to_owned());
        };
        let (dims, elem) = r.dims(sum)?;
        let rows: Box<[_]> = rows.iter().map(|&n| r.ctx.float_attr(n.max(1) as f64)).collect();
        let mut shape = vec![1; dims.len()];
        shape[0] = count;
        let attrs = [
            ("shape", r.ctx.ints_attr(&shape)),
            ("values", r.ctx.attr(pir_ir::AttrData::Array(rows))),
            ("dtype", r.ctx.type_attr(elem)),
        ];
        let rows = r.helper(at, pd::AssignValue::NAME, &[], &attrs)?;
        r.op(at, pd::Divide::NAME, &[sum, rows], &[])
    }),
    ("SegmentMin", "T Tindices", "", |r, at| match r.known(at, 1) {
        None => pooled(r, at, "MIN"),
        Some(_) => extreme(r, at, pd::Min::NAME),
    }),
    ("SegmentProd", "T Tindices", "", |r, at| extreme(r, at, pd::Prod::NAME)),
    ("SegmentSum", "T Tindices", "", |r, at| {
        if r.known(at, 1).is_none() {
            return pooled(r, at, "SUM");
        }
        let count = sorted(r, at)?;
        super::select::segment_sum(r, at, count)
    }),
    ("TensorScatterUpdate", "T Tindices T", "bad_indices_policy=", scatter),
    ("UnsortedSegmentMax", "T Tindices Tnumsegments", "", |r, at| {
        extreme(r, at, pd::Max::NAME)
    }),
    ("UnsortedSegmentMin", "T Tindices Tnumsegments", "", |r, at| {
        extreme(r, at, pd::Min::NAME)
    }),
    ("UnsortedSegmentProd", "T Tindices Tnumsegments", "", |r, at| {
        extreme(r, at, pd::Prod::NAME)
    }),
    ("UnsortedSegmentSum", "T Tindices Tnumsegments", "", |r, at| {
        let count = r.scalar(at, 2, "count")?;
        super::select::segment_sum(r, at, count)
    }),
];

/// The borders of a tensor of known shape, and how many of its outermost elements are not mirrored.
struct Borders {
    sizes: Vec<i64>,
    offset: i64,
}

impl Borders {
    fn new(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<Self> {
        let (sizes, dims) = (r.list(at, 1, "sizes")?, r.dims(x)?.0);
        let offset = match r.text(at, "mode").as_deref() {
            Some("REFLECT") => 1,
            Some("SYMMETRIC") => 0,
            _ => return Err("its mode is not supported".to_owned()),
        };
        match sizes.len() == 2 * dims.len() && sizes.iter().chain(&dims).all(|n| (0..=1 << 31).contains(n)) {
            true => Ok(Self { sizes, offset }),
            false => Err("its shape must be known, and its paddings smaller than its extents".to_owned()),
        }
    }

    /// The axes that have any.
    fn all(&self) -> impl DoubleEndedIterator<Item = (usize, (i64, i64))> {
        let pairs = self.sizes.chunks(2).map(|pair| (pair[0], pair[1]));
        let all: Vec<_> = pairs.enumerate().filter(|(_, pair)| *pair != (0, 0)).collect();
        all.into_iter()
    }
}

/// A stretch of an axis, backwards if wanted; nothing if it is empty.
fn part(
    r: &mut Reader<'_>,
    at: usize,
    x: ValueId,
    axis: usize,
    start: i64,
    end: i64,
    flipped: bool,
) -> Result<Option<ValueId>> {
    if start >= end {
        return Ok(None);
    }
    let axes = ("axes", r.ctx.ints_attr(&[axis as i64]));
    let attrs = [
        axes,
        ("starts", r.ctx.ints_attr(&[start])),
        ("ends", r.ctx.ints_attr(&[end])),
    ];
    let x = r.helper(at, pd::Slice::NAME, &[x], &attrs)?;
    match flipped {
        true => {
            let attrs = [("axis", r.ctx.ints_attr(&[axis as i64]))];
            r.helper(at, pd::Flip::NAME, &[x], &attrs).map(Some)
        }
        false => Ok(Some(x)),
    }
}

/// Segments with computed numbers: at most as many as rows; the last number determines how many are kept.
fn pooled(r: &mut Reader<'_>, at: usize, kind: &str) -> Result<()> {
    /// So many elements may the masked rows have.
    const MOST: i64 = 1 << 26;
    let operands = r.operands(at, 2)?;
    let (dims, elem) = r.dims(operands[0])?;
    let Some((&rows, rest)) = dims.split_first() else {
        return Err("its data must have at least one dimension".to_owned());
    };
    let elements = dims.iter().try_fold(rows, |n, &d| n.checked_mul(d));
    if dims.contains(&DYNAMIC) || rows < 1 || !r.ctx.is_float(elem) {
        return Err("its data must be floats of known shape".to_owned());
    }
    if !matches!(kind, "SUM" | "MEAN") && elements.is_none_or(|n| n > MOST) {
        return Err("its data is too large".to_owned());
    }
    let made = r.express(at, &operands, |scope, x| {
        let ids = x[1].to(Some(Type::I64));
        let behind = vec![1; rest.len()];
        let zeros = |shape: &[i64]| scope.full_with(shape, 0.0, |o| o.dtype(elem));
        let index = ids.reshape([rows, 1]);
        let ones = scope.full_with(&[rows], 1.0, |o| o.dtype(elem));
        let counts = zeros(&[rows])
            .scatter_nd_add(index, ones)
            .reshape([&[rows], &behind[..]].concat());
        let sums = || zeros(&dims).scatter_nd_add(index, x[0]);
        let extreme = |sign: f64| {
            let numbers = scope.arange_with(|o| o.start(0).end(rows).step(1).dtype(Type::I64));
            let own = numbers.reshape([rows, 1]).equal(ids.reshape([1, rows]));
            let whole = [&[rows, rows], rest].concat();
            let own = own.reshape([&[rows, rows], &behind[..]].concat()).expand(&whole[..]);
            let all = x[0].reshape([&[1, rows], rest].concat()).expand(&whole[..]);
            let picked = own.select(all, all.filled(-sign * f64::from(f32::MAX)));
            let best = match sign > 0.0 {
                true => picked.max_with(|o| o.axis([1])),
                false => picked.min_with(|o| o.axis([1])),
            };
            counts.expand(&dims[..]).above(0.0).select(best, best.zeros())
        };
        let all = match kind {
            "SUM" => sums(),
            "MEAN" => sums() / counts.maximum(counts.ones()),
            "MAX" => extreme(1.0),
            _ => extreme(-1.0),
        };
        Ok(vec![all, ids.cut(0, rows - 1, rows).reshape([]) + 1.0])
    })?;
    let part = stretch(r, at, made[0], 0, Bound::Known(0), Bound::Computed(made[1]))?;
    r.op(at, pd::Assign::NAME, &[part], &[])
}

/// How many segments there are, whose numbers ascend: each has a row.
fn sorted(r: &mut Reader<'_>, at: usize) -> Result<i64> {
    let numbers = r.list(at, 1, "segment numbers")?;
    let ascends = numbers.windows(2).all(|pair| pair[0] <= pair[1]);
    match (numbers.first(), numbers.last()) {
        (Some(&first), Some(&last)) if ascends && first >= 0 => Ok(last + 1),
        _ => Err("its segment numbers are not ascending".to_owned()),
    }
}

/// The greatest, the least or the product of the rows of each segment: a mask for each of them.
fn extreme(r: &mut Reader<'_>, at: usize, reduce: &'static str) -> Result<()> {
    /// So many elements may the masked rows have.
    const MOST: i64 = 1 << 26;
    let (data, mut index) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let is_sorted = r.num_inputs(at) == 2;
    let count = match is_sorted {
        true => sorted(r, at)?,
        false => r.scalar(at, 2, "count")?,
    };
    let (dims, elem) = r.dims(data)?;
    let rows = r.dims(index)?.0;
    if rows.len() != 1 || dims.first() != rows.first() || dims.contains(&DYNAMIC) {
        return Err("its segment numbers must be constant, one for each row".to_owned());
    }
    let elements = dims.iter().try_fold(count.max(1), |n, &d| n.checked_mul(d.max(1)));
    if count < 0 || elements.is_none_or(|n| n > MOST) {
        return Err(format!("{count} segments are too many for rows of this size"));
    }
    if is_sorted {
        let numbers = r.list(at, 1, "segment numbers")?;
        if !numbers.windows(2).all(|pair| pair[1] - pair[0] <= 1) || numbers.first() != Some(&0) {
            return Err("a segment without rows is not supported".to_owned());
        }
    }
    let filler = match reduce {
        pd::Prod::NAME => 1.0,
        _ => {
            let most = if elem == Type::F32 {
                f64::from(f32::MAX)
            } else {
                f64::MAX
            };
            if !matches!(elem, Type::F32 | Type::F64) {
                return Err("its elements must be f32 or f64".to_owned());
            }
            if reduce == pd::Max::NAME { -most } else { most }
        }
    };
    index = r.of_elem(at, index, Type::I64)?;
    let numbers = [
        ("start", r.ctx.int_attr(0)),
        ("end", r.ctx.int_attr(count)),
        ("step", r.ctx.int_attr(1)),
        ("dtype", r.ctx.type_attr(Type::I64)),
    ];
    let numbers = r.helper(at, pd::Arange::NAME, &[], &numbers)?;
    let behind = [("axis", r.ctx.ints_attr(&[1]))];
    let numbers = r.helper(at, pd::Unsqueeze::NAME, &[numbers], &behind)?;
    let mut mask = r.helper(at, pd::Equal::NAME, &[numbers, index], &[])?;
    let rest: Vec<i64> = (2..=dims.len() as i64).collect();
    if !rest.is_empty() {
        mask = r.helper(at, pd::Unsqueeze::NAME, &[mask], &[("axis", r.ctx.ints_attr(&rest))])?;
    }
    let front = [("axis", r.ctx.ints_attr(&[0]))];
    let data = r.helper(at, pd::Unsqueeze::NAME, &[data], &front)?;
    let filler = [
        ("shape", r.ctx.ints_attr(&[])),
        ("value", number_of(r.ctx, elem, filler)),
        ("dtype", r.ctx.type_attr(elem)),
    ];
    let filler = r.helper(at, pd::Full::NAME, &[], &filler)?;
    let masked = r.helper(at, pd::Where::NAME, &[mask, data, filler], &[])?;
    let attrs = [("axis", r.ctx.ints_attr(&[1])), ("keepdim", r.ctx.bool_attr(false))];
    r.op(at, reduce, &[masked], &attrs)
}

/// `TensorScatterUpdate`: the index tuples become numbers of rows.
fn scatter(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let operands = r.operands(at, 3)?;
    scatter_at(r, at, operands[0], operands[1], operands[2])
}

/// The same for given operands.
pub(super) fn scatter_at(
    r: &mut Reader<'_>,
    at: usize,
    x: ValueId,
    mut index: ValueId,
    mut updates: ValueId,
) -> Result<()> {
    let ((dims, _), (places, elem)) = (r.dims(x)?, r.dims(index)?);
    let Some((&depth, lead)) = places.split_last() else {
        return Err("its indices must have at least one dimension".to_owned());
    };
    let depth = usize::try_from(depth).map_err(|_| "the length of its index tuples is unknown")?;
    if depth == 0 || depth > dims.len() || dims.contains(&DYNAMIC) || lead.contains(&DYNAMIC) {
        return Err("its shapes must be known, and its index tuples match them".to_owned());
    }
    let rest = &dims[depth..];
    let count: i64 = lead.iter().product();
    let rows = dims[..depth]
        .iter()
        .try_fold(1i64, |n, &d| n.checked_mul(d))
        .ok_or("it is too large")?;
    let reshape = |r: &mut Reader<'_>, x, shape: &[i64]| {
        let attrs = [("shape", r.ctx.ints_attr(shape))];
        r.helper(at, pd::Reshape::NAME, &[x], &attrs)
    };
    if depth > 1 {
        let mut strides = vec![1i64; depth];
        for axis in (0..depth - 1).rev() {
            strides[axis] = strides[axis + 1].saturating_mul(dims[axis + 1]);
        }
        let strides = r.vector(at, &strides, elem)?;
        let scaled = r.helper(at, pd::Multiply::NAME, &[index, strides], &[])?;
        let attrs = [
            ("axis", r.ctx.ints_attr(&[-1])),
            ("keepdim", r.ctx.bool_attr(false)),
            ("dtype", r.ctx.type_attr(elem)),
        ];
        let number = r.helper(at, pd::Sum::NAME, &[scaled], &attrs)?;
        // The number of a row does not determine whether the index is within its axis: an index out of range is refused
        // at run time.
        let mut list = |values: &[i64]| r.vector(at, values, elem);
        let (zeros, ends, none) = (list(&vec![0; depth])?, list(&dims[..depth])?, list(&[rows])?);
        let above = r.helper(at, pd::GreaterEqual::NAME, &[index, zeros], &[])?;
        let below = r.helper(at, pd::LessThan::NAME, &[index, ends], &[])?;
        let both = r.helper(at, pd::LogicalAnd::NAME, &[above, below], &[])?;
        let last = [("axis", r.ctx.ints_attr(&[-1])), ("keepdim", r.ctx.bool_attr(false))];
        let inside = r.helper(at, pd::All::NAME, &[both], &last)?;
        index = r.helper(at, pd::Where::NAME, &[inside, number, none], &[])?;
    }
    let index = reshape(r, index, &[count])?;
    updates = reshape(r, updates, &[&[count], rest].concat())?;
    let flat = reshape(r, x, &[&[rows], rest].concat())?;
    let attrs = [("overwrite", r.ctx.bool_attr(true))];
    let put = r.helper(at, pd::Scatter::NAME, &[flat, index, updates], &attrs)?;
    r.op(at, pd::Reshape::NAME, &[put], &[("shape", r.ctx.ints_attr(&dims))])
}
