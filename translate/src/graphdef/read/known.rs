//! Nodes whose results have shapes that depend on values, of values that are known: what is unique, and the places of sparse
//! and the rows of ragged tensors.

use std::collections::BTreeMap;
use std::rc::Rc;

use pir_dialects::pd;
use pir_ir::{Type, ValueId};

use super::super::types::{self, BOOL, INT32, INT64, Number};
use super::fold::{self, Array};
use super::reader::{Reader, Result};
use super::row::Row;

pub(super) const TABLE: &[Row] = &[
    (
        "RaggedGather",
        "Tsplits* Tvalues Tindices -> output_nested_splits output_dense_values",
        "PARAMS_RAGGED_RANK OUTPUT_RAGGED_RANK",
        ragged_gather,
    ),
    (
        "RaggedRange",
        "T T T -> rt_nested_splits rt_dense_values",
        "Tsplits=DT_INT64",
        ragged_range,
    ),
    (
        "SparseAdd",
        "i64 T i64 i64 T i64 Treal -> sum_indices sum_values sum_shape",
        "",
        sparse_add,
    ),
    (
        "SparseConcat",
        "i64* T* i64* -> output_indices output_values output_shape",
        "concat_dim N",
        sparse_concat,
    ),
    ("SparseDenseCwiseAdd", "i64 T i64 T", "", |r, at| by_places(r, at, '+')),
    ("SparseDenseCwiseDiv", "i64 T i64 T", "", |r, at| by_places(r, at, '/')),
    ("SparseDenseCwiseMul", "i64 T i64 T", "", |r, at| by_places(r, at, '*')),
    (
        "SparseFillEmptyRows",
        "i64 T i64 T -> output_indices output_values empty_row_indicator reverse_index_map",
        "",
        fill_rows,
    ),
    (
        "SparseReorder",
        "i64 T i64 -> output_indices output_values",
        "",
        |r, at| {
            let (places, _) = Places::in_shape(r, at, [0, 2])?;
            let mut order: Vec<usize> = (0..places.rows.len()).collect();
            order.sort_by_key(|&row| &places.rows[row]);
            let values = r.operand(at, 1)?;
            let sorted = places.picked(&order);
            let values = picked(r, at, values, &order)?;
            give(r, at, vec![sorted.part(), Part::Value(values)])
        },
    ),
    (
        "SparseReshape",
        "i64 i64 i64 -> output_indices output_shape",
        "",
        sparse_reshape,
    ),
    (
        "SparseSlice",
        "i64 T i64 i64 i64 -> output_indices output_values output_shape",
        "",
        |r, at| {
            let (places, shape) = Places::in_shape(r, at, [0, 2])?;
            let (start, size) = (r.list(at, 3, "start")?, r.list(at, 4, "size")?);
            if start.len() != shape.len() || size.len() != shape.len() {
                return Err("its start and its size must match its shape".to_owned());
            }
            if start.iter().chain(&size).any(|&n| n < 0) {
                return Err("its start and its size must not be negative".to_owned());
            }
            let extents = shape.iter().zip(start.iter().zip(&size));
            let extents: Vec<i64> = extents.map(|(&d, (&from, &n))| n.min(d - from).max(0)).collect();
            let inside = |row: &[i64]| {
                let mut all = row.iter().zip(start.iter().zip(&extents));
                all.all(|(&place, (&from, &extent))| place >= from && place - from < extent)
            };
            let kept: Vec<usize> = (0..places.rows.len())
                .filter(|&row| inside(&places.rows[row]))
                .collect();
            let mut part = places.picked(&kept);
            for row in &mut part.rows {
                row.iter_mut().zip(&start).for_each(|(place, from)| *place -= from);
            }
            let values = r.operand(at, 1)?;
            let values = picked(r, at, values, &kept)?;
            give(r, at, vec![part.part(), Part::Value(values), Part::list(extents)])
        },
    ),
    ("SparseSoftmax", "i64 T i64", "", softmax),
    ("Unique", "T -> y idx", "out_idx=DT_INT32", |r, at| {
        unique(r, at, false, false)
    }),
    ("UniqueV2", "T Taxis -> y idx", "out_idx=DT_INT32", |r, at| {
        unique(r, at, true, false)
    }),
    ("UniqueWithCounts", "T -> y idx count", "out_idx=DT_INT32", |r, at| {
        unique(r, at, false, true)
    }),
    (
        "UniqueWithCountsV2",
        "T Taxis -> y idx count",
        "out_idx=DT_INT32",
        |r, at| unique(r, at, true, true),
    ),
];

/// A result: a value, or integers that are known, with their shape and the code of their type.
pub(super) enum Part {
    Numbers(Vec<i64>, Vec<i64>, i32),
    Value(ValueId),
}

impl Part {
    pub(super) fn vector(numbers: Vec<i64>, code: i32) -> Part {
        Part::Numbers(vec![numbers.len() as i64], numbers, code)
    }

    /// A vector of 64-bit integers.
    fn list(numbers: Vec<i64>) -> Part {
        Part::vector(numbers, INT64)
    }
}

/// Makes these the results of a node.
pub(super) fn give(r: &mut Reader<'_>, at: usize, parts: Vec<Part>) -> Result<()> {
    let (mut values, mut computed) = (Vec::new(), Vec::new());
    for part in parts {
        let (dims, numbers, code) = match part {
            Part::Value(value) => {
                values.push(value);
                computed.push(None);
                continue;
            }
            Part::Numbers(dims, numbers, code) => (dims, numbers, code),
        };
        let elem = types::elem(r.ctx, code).ok_or("its type is not supported")?;
        r.tensor(&dims, elem)?;
        let attrs = [
            ("shape", r.ctx.ints_attr(&dims)),
            ("dtype", r.ctx.type_attr(elem)),
            ("values", r.ctx.ints_attr(&numbers)),
        ];
        values.push(r.helper(at, pd::AssignValue::NAME, &[], &attrs)?);
        let numbers: Vec<Number> = numbers.iter().map(|&n| Number::Int(n.into())).collect();
        computed.push(Some(Rc::new((dims, numbers, code))));
    }
    r.is_expressed(at, values, &[]);
    r.computed[at] = computed;
    Ok(())
}

/// No result has more rows than this; a ragged tensor, not more elements either.
const MOST: i64 = 1 << 16;

/// The numbers of an input.
fn known(r: &Reader<'_>, at: usize, index: usize, what: &str) -> Result<Array> {
    r.input(at, index)?;
    let known = fold::input(r, at, index);
    let known = known.filter(|known| known.ints().is_some() && known.dims.iter().all(|&extent| extent <= MOST));
    known.ok_or_else(|| {
        format!("its {what}, input {index}, must be constant integers: the shape of its result depends on them")
    })
}

/// The code of the type that an attribute names.
pub(super) fn code_of(r: &Reader<'_>, at: usize, name: &str, usual: i32) -> i32 {
    let elem = r.elem(at, name).ok();
    elem.and_then(|elem| types::code(r.ctx, elem)).unwrap_or(usual)
}

/// The different elements, or parts along an axis, in the order of their first occurrence; which one each is, and how often.
fn unique(r: &mut Reader<'_>, at: usize, has_axis: bool, counted: bool) -> Result<()> {
    let whole = known(r, at, 0, "values")?;
    let axis = match has_axis {
        true => r.list(at, 1, "axis")?.first().copied(),
        false => None,
    };
    let place = whole.axis(axis.unwrap_or(0)).ok_or("its axis is out of range")?;
    if axis.is_none() && whole.dims.len() != 1 {
        return Err("its values must be a vector".to_owned());
    }
    let (mut numbers, mut kept, mut which, mut counts) = (BTreeMap::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..whole.dims[place] {
        let part = whole.gathered(&Array::scalar(row), place).and_then(|part| part.ints());
        let part = part.ok_or("its values are malformed")?;
        let own = *numbers.entry(part).or_insert_with(|| {
            kept.push(row);
            counts.push(0);
            counts.len() - 1
        });
        which.push(own as i64);
        counts[own] += 1;
    }
    let kept = whole.gathered(&Array::vector(kept), place);
    let kept = kept.ok_or("its values are malformed")?;
    let (code, index) = (r.input_code(at, 0).unwrap_or(INT32), code_of(r, at, "out_idx", INT32));
    let values = kept.ints().unwrap_or_default();
    let mut parts = vec![Part::Numbers(kept.dims, values, code), Part::vector(which, index)];
    if counted {
        parts.push(Part::vector(counts, index));
    }
    give(r, at, parts)
}

// ----- ragged -----

fn ragged_range(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let mut bounds = Vec::new();
    for (index, what) in ["starts", "limits", "steps"].into_iter().enumerate() {
        let known = known(r, at, index, what)?;
        bounds.push((known.dims.is_empty(), known.ints().unwrap_or_default()));
    }
    let rows = bounds
        .iter()
        .find(|(single, _)| !single)
        .map_or(1, |(_, all)| all.len());
    let number = |bound: usize, row: usize| -> Result<i64> {
        let (single, all) = &bounds[bound];
        let number = all.get(if *single { 0 } else { row }).copied();
        number.ok_or_else(|| "its bounds differ in length".to_owned())
    };
    let (mut splits, mut numbers) = (vec![0], Vec::new());
    for row in 0..rows {
        let (start, end, step) = (number(0, row)?, number(1, row)?, number(2, row)?);
        let mut next = start;
        while step != 0 && if step > 0 { next < end } else { next > end } {
            if numbers.len() as i64 >= MOST {
                return Err("it has too many elements".to_owned());
            }
            numbers.push(next);
            next = next.saturating_add(step);
        }
        splits.push(numbers.len() as i64);
    }
    let (code, splits_code) = (r.input_code(at, 0).unwrap_or(INT32), code_of(r, at, "Tsplits", INT64));
    give(
        r,
        at,
        vec![Part::vector(splits, splits_code), Part::vector(numbers, code)],
    )
}

/// Rows of a ragged tensor.
fn ragged_gather(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let levels = r.num_inputs(at).saturating_sub(2);
    let _ = (r.int(at, "PARAMS_RAGGED_RANK"), r.int(at, "OUTPUT_RAGGED_RANK"));
    let code = r.input_code(at, 0).unwrap_or(INT64);
    let index = known(r, at, levels + 1, "indices")?;
    let mut rows = index.ints().unwrap_or_default();
    let mut results = Vec::new();
    // Dimensions of the indices after the first one have rows of one length.
    for axis in 1..index.dims.len() {
        let count = index.dims[..axis].iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        let count = count.filter(|&count| count <= MOST).ok_or("it has too many elements")?;
        let each = index.dims[axis];
        results.push((0..=count).map(|row| row * each).collect::<Vec<i64>>());
    }
    for level in 0..levels {
        let ends = r.list(at, level, "rows")?;
        if ends.first() != Some(&0) || !ends.is_sorted() {
            return Err(format!("its row splits, input {level}, must begin with 0 and ascend"));
        }
        let (mut splits, mut inner) = (vec![0], Vec::new());
        for &row in &rows {
            let pair = usize::try_from(row)
                .ok()
                .and_then(|row| Some((*ends.get(row)?, *ends.get(row + 1)?)));
            let (start, end) = pair.ok_or("an index is out of range")?;
            if end - start > MOST - inner.len() as i64 {
                return Err("it has too many elements".to_owned());
            }
            inner.extend(start..end);
            splits.push(inner.len() as i64);
        }
        results.push(splits);
        rows = inner;
    }
    let values = r.operand(at, levels)?;
    let extent = r.dims(values)?.0.first().copied().unwrap_or(0);
    if rows.iter().any(|&row| row < 0 || 0 <= extent && extent <= row) {
        return Err("its rows are not in its values".to_owned());
    }
    let rows: Vec<usize> = rows.iter().filter_map(|&row| usize::try_from(row).ok()).collect();
    let values = picked(r, at, values, &rows)?;
    let mut parts: Vec<Part> = results.into_iter().map(|splits| Part::vector(splits, code)).collect();
    parts.push(Part::Value(values));
    give(r, at, parts)
}

// ----- sparse -----

/// The places of a sparse tensor's values.
struct Places {
    rank: usize,
    rows: Vec<Vec<i64>>,
}

impl Places {
    fn of(r: &Reader<'_>, at: usize, index: usize) -> Result<Places> {
        let known = known(r, at, index, "places")?;
        let &[_, rank] = &known.dims[..] else {
            return Err("its places must be a matrix".to_owned());
        };
        let rank = usize::try_from(rank).unwrap_or(0);
        let numbers = known.ints().unwrap_or_default();
        let rows = match rank {
            0 => return Err("its places must have at least one number".to_owned()),
            _ => numbers.chunks_exact(rank).map(<[i64]>::to_vec).collect(),
        };
        Ok(Places { rank, rows })
    }

    /// The places in one input, and the shape in another one, which they are inside of.
    fn in_shape(r: &Reader<'_>, at: usize, [index, shape]: [usize; 2]) -> Result<(Places, Vec<i64>)> {
        let (places, shape) = (Places::of(r, at, index)?, r.list(at, shape, "shape")?);
        if shape.len() != places.rank {
            return Err(format!(
                "its places have {} numbers each, and its shape has {}",
                places.rank,
                shape.len()
            ));
        }
        let outside = |row: &&Vec<i64>| {
            !row.iter()
                .zip(&shape)
                .all(|(place, &extent)| (0..extent).contains(place))
        };
        match places.rows.iter().find(outside) {
            Some(row) => Err(format!("its place {row:?} is outside of its shape {shape:?}")),
            None => Ok((places, shape)),
        }
    }

    fn picked(&self, rows: &[usize]) -> Places {
        Places {
            rank: self.rank,
            rows: rows.iter().map(|&row| self.rows[row].clone()).collect(),
        }
    }

    fn part(&self) -> Part {
        Part::Numbers(
            vec![self.rows.len() as i64, self.rank as i64],
            self.rows.concat(),
            INT64,
        )
    }
}

/// Rows of values.
fn picked(r: &mut Reader<'_>, at: usize, values: ValueId, rows: &[usize]) -> Result<ValueId> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    let made = r.express(at, &[values], |scope, x| {
        Ok(vec![match rows.is_empty() {
            true => x[0].cut(0, 0, 0),
            false => x[0].index_select_with(scope.indices(&rows), |o| o.axis(0)),
        }])
    })?;
    Ok(made[0])
}

fn sparse_reshape(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (places, shape) = Places::in_shape(r, at, [0, 1])?;
    let mut wanted = r.list(at, 2, "shape")?;
    let total = |shape: &[i64]| shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d).filter(|_| d >= 0));
    let all = total(&shape).ok_or("its shape is malformed")?;
    let others: Vec<i64> = wanted.iter().copied().filter(|&d| d != -1).collect();
    let others = total(&others).ok_or("its shape is malformed")?;
    if let Some(open) = wanted.iter_mut().find(|d| **d == -1) {
        *open = if others > 0 { all / others } else { 0 };
    }
    if total(&wanted) != Some(all) {
        return Err("its two shapes have different numbers of elements".to_owned());
    }
    let moved = |row: &Vec<i64>| {
        let mut flat = row.iter().zip(&shape).fold(0, |flat, (at, extent)| flat * extent + at);
        let mut own = vec![0; wanted.len()];
        for (place, extent) in own.iter_mut().zip(&wanted).rev() {
            *place = flat % (*extent).max(1);
            flat /= (*extent).max(1);
        }
        own
    };
    let moved = Places {
        rank: wanted.len(),
        rows: places.rows.iter().map(moved).collect(),
    };
    give(r, at, vec![moved.part(), Part::list(wanted)])
}

fn sparse_concat(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (count, axis) = (r.num_inputs(at) / 3, r.int(at, "concat_dim").unwrap_or(0));
    let _ = r.int(at, "N");
    let (mut rows, mut shape, mut values) = (Vec::new(), Vec::<i64>::new(), Vec::new());
    for part in 0..count {
        let (places, mut own) = Places::in_shape(r, at, [part, 2 * count + part])?;
        values.push(r.operand(at, count + part)?);
        let place = fold::place_of(axis, own.len()).ok_or("its axis is out of range")?;
        let before = shape.get(place).copied().unwrap_or(0);
        own[place] = own[place].checked_add(before).ok_or("its shapes are too large")?;
        // But for this axis, TensorFlow wants equal extents.
        let differs = |(axis, (a, b)): (usize, (&i64, &i64))| axis != place && a != b;
        if part > 0 && (shape.len() != own.len() || shape.iter().zip(&own).enumerate().any(differs)) {
            return Err("its operands have different shapes".to_owned());
        }
        for mut row in places.rows {
            row[place] += before;
            rows.push(row);
        }
        shape = own;
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| &rows[row]);
    let all = Places {
        rank: shape.len(),
        rows,
    };
    let whole = r.express(at, &values, |scope, x| Ok(vec![scope.concat_with(x, |o| o.axis(0))]))?;
    let values = picked(r, at, whole[0], &order)?;
    give(
        r,
        at,
        vec![all.picked(&order).part(), Part::Value(values), Part::list(shape)],
    )
}

/// A sum: the places of both, where those of both are one.
fn sparse_add(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let least = r
        .constant(at, 6)
        .and_then(|(_, numbers, _)| numbers.first().map(|n| n.f64()));
    if least != Some(0.0) {
        return Err("its threshold, input 6, must be 0: the number of its values would depend on them".to_owned());
    }
    let ((a, shape), (b, other)) = (Places::in_shape(r, at, [0, 2])?, Places::in_shape(r, at, [3, 5])?);
    if other != shape {
        return Err("its operands have different shapes".to_owned());
    }
    let mut sorted: BTreeMap<&Vec<i64>, usize> = BTreeMap::new();
    for row in a.rows.iter().chain(&b.rows) {
        sorted.insert(row, 0);
    }
    sorted.values_mut().enumerate().for_each(|(at, place)| *place = at);
    let to = |places: &Places| -> Vec<i64> { places.rows.iter().map(|row| sorted[row] as i64).collect() };
    let (first, second, count) = (to(&a), to(&b), sorted.len() as i64);
    let all = Places {
        rank: a.rank,
        rows: sorted.keys().map(|row| (*row).clone()).collect(),
    };
    let operands = [r.operand(at, 1)?, r.operand(at, 4)?];
    let elem = r.dims(operands[0])?.1;
    let values = r.express(at, &operands, |scope, x| {
        let mut sum = scope.full_with(&[count], 0.0, |o| o.dtype(elem));
        for (places, values) in [(&first, x[0]), (&second, x[1])] {
            if !places.is_empty() {
                sum = sum.scatter_nd_add(scope.indices(places).reshape([places.len() as i64, 1]), values);
            }
        }
        Ok(vec![sum])
    })?;
    give(r, at, vec![all.part(), Part::Value(values[0]), Part::list(shape)])
}

/// The values of a sparse tensor with those of a dense one at their places.
fn by_places(r: &mut Reader<'_>, at: usize, sign: char) -> Result<()> {
    let shape = r.list(at, 2, "shape")?;
    let operands = [r.operand(at, 0)?, r.operand(at, 1)?, r.operand(at, 3)?];
    let values = r.express(at, &operands, |_, x| {
        let other = x[2].expand(&shape[..]).gather_nd(x[0]);
        Ok(vec![match sign {
            '+' => x[1] + other,
            '*' => x[1] * other,
            _ => x[1] / other,
        }])
    })?;
    r.is_expressed(at, values, &operands);
    Ok(())
}

fn fill_rows(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (places, shape) = Places::in_shape(r, at, [0, 2])?;
    let count = shape.first().copied().filter(|n| (0..MOST).contains(n));
    let count = count.ok_or("its number of rows is negative or too large")?;
    let own = places.rows.len();
    let mut by_row = vec![Vec::new(); count as usize];
    for (place, row) in places.rows.iter().enumerate() {
        by_row[row[0] as usize].push(place);
    }
    let (mut rows, mut order, mut from, mut empty) = (Vec::new(), Vec::new(), vec![0i64; own], Vec::new());
    for (number, given) in (0..).zip(&by_row) {
        empty.push(i64::from(given.is_empty()));
        for &place in given {
            from[place] = rows.len() as i64;
            rows.push(places.rows[place].clone());
            order.push(place);
        }
        if given.is_empty() {
            let mut row = vec![0; places.rank];
            row[0] = number;
            rows.push(row);
            // The value after all others is the default.
            order.push(own);
        }
    }
    let operands = [r.operand(at, 1)?, r.operand(at, 3)?];
    let whole = r.express(at, &operands, |scope, x| {
        Ok(vec![scope.concat_with(&[x[0], x[1].reshape([1])], |o| o.axis(0))])
    })?;
    let values = picked(r, at, whole[0], &order)?;
    let filled = Places {
        rank: places.rank,
        rows,
    };
    let empty = Part::Numbers(vec![count], empty, BOOL);
    give(r, at, vec![filled.part(), Part::Value(values), empty, Part::list(from)])
}

/// The softmax of the values of each row: those that differ in the last number of their place alone.
fn softmax(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (places, _) = Places::in_shape(r, at, [0, 2])?;
    let mut rows: BTreeMap<&[i64], Vec<i64>> = BTreeMap::new();
    for (at, row) in (0..).zip(&places.rows) {
        rows.entry(&row[..places.rank - 1]).or_default().push(at);
    }
    let (height, width) = (rows.len() as i64, rows.values().map(Vec::len).max().unwrap_or(0) as i64);
    let count = places.rows.len() as i64;
    let mut back = vec![0; places.rows.len()];
    let mut table = vec![count; (height * width) as usize];
    for (number, row) in (0..).zip(rows.values()) {
        for (column, &value) in (0..).zip(row) {
            let place = number * width + column;
            table[place as usize] = value;
            back[value as usize] = place;
        }
    }
    let x = r.operand(at, 1)?;
    if count == 0 {
        return r.op(at, pd::Assign::NAME, &[x], &[]);
    }
    let elem = r.dims(x)?.1;
    let values = r.express(at, &[x], |scope, x| {
        let least = scope.full_with(&[1], f64::NEG_INFINITY, |o| o.dtype(elem));
        let all = scope.concat_with(&[x[0], least], |o| o.axis(0));
        let table = all.index_select_with(scope.indices(&table).to(Some(Type::I64)), |o| o.axis(0));
        let parts = table.reshape([height, width]).softmax_with(|o| o.axis(1));
        Ok(vec![
            parts
                .reshape([height * width])
                .index_select_with(scope.indices(&back), |o| o.axis(0)),
        ])
    })?;
    r.is_expressed(at, values, &[x]);
    Ok(())
}
