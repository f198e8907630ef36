//! Nodes that count, sort and divide elements: places in sorted lists, histograms, parts that a list of numbers names.

use std::rc::Rc;

use pir_dialects::pd::{self, Expr};
use pir_ir::{Type, ValueId};

use super::super::types::{INT32, INT64, Number};
use super::known::{Part, code_of, give};
use super::reader::{Reader, Result};
use super::row::Row;

pub(super) const TABLE: &[Row] = &[
    ("BroadcastArgs", "T T", "", |r, at| {
        let (Some(a), Some(b)) = (r.known(at, 0), r.known(at, 1)) else {
            return Err("its shapes must be constants".to_owned());
        };
        let rank = a.len().max(b.len());
        let extent = |shape: &[i64], axis: usize| match (axis + shape.len()).checked_sub(rank) {
            Some(place) => shape[place],
            None => 1,
        };
        let mut shape = Vec::new();
        for axis in 0..rank {
            shape.push(match (extent(&a, axis), extent(&b, axis)) {
                (1, other) | (other, 1) => other,
                (x, y) if x == y => x,
                (x, y) => return Err(format!("the extents {x} and {y} do not broadcast")),
            });
        }
        let elem = r.input_code(at, 0).unwrap_or(INT32);
        give(r, at, vec![Part::vector(shape, elem)])
    }),
    ("Bincount", "i32 i32 T", "", |r, at| bincount(r, at)),
    (
        "CumulativeLogsumexp",
        "T Tidx",
        "exclusive=false reverse=false",
        |r, at| {
            let (x, axis) = (r.operand(at, 0)?, r.scalar(at, 1, "axis")?);
            if r.flag(at, "exclusive") {
                return Err("`exclusive = true` is not supported".to_owned());
            }
            let attrs = [
                ("axis", r.ctx.int_attr(axis)),
                ("flatten", r.ctx.bool_attr(false)),
                ("exclusive", r.ctx.bool_attr(false)),
                ("reverse", r.ctx.bool_attr(r.flag(at, "reverse"))),
            ];
            r.op(at, pd::Logcumsumexp::NAME, &[x], &attrs)
        },
    ),
    ("DenseBincount", "Tidx Tidx T", "binary_output=false", |r, at| {
        bincount(r, at)
    }),
    ("DynamicPartition", "T i32", "num_partitions", |r, at| {
        let count = r.int(at, "num_partitions").unwrap_or(0);
        let (dims, numbers) = partitions(r, at)?;
        if let Some(wrong) = numbers.iter().find(|n| !(0..count).contains(*n)) {
            return Err(format!("partition {wrong} is out of range for {count} partitions"));
        }
        let places = |part| -> Vec<i64> {
            let all = (0..).zip(&numbers).filter(|(_, n)| **n == part);
            all.map(|(place, _)| place).collect()
        };
        let all: Vec<Vec<i64>> = (0..count).map(places).collect();
        // Numbers that are known stay known.
        let known = r.known(at, 0).filter(|known| known.len() == numbers.len());
        let x = r.operand(at, 0)?;
        let mut shape = vec![numbers.len() as i64];
        shape.extend(&r.dims(x)?.0[dims.len()..]);
        let values = r.express(at, &[x], |scope, x| {
            let flat = x[0].reshape(&*shape);
            let part = |places: &Vec<i64>| match places.is_empty() {
                true => flat.cut(0, 0, 0),
                false => flat.index_select_with(scope.indices(places), |o| o.axis(0)),
            };
            Ok(all.iter().map(part).collect())
        })?;
        r.values[at] = values;
        if let (Some(known), Some(code)) = (known, r.input_code(at, 0)) {
            let part = |places: &Vec<i64>| {
                let picked: Vec<Number> = places.iter().map(|&p| Number::Int(known[p as usize].into())).collect();
                Some(Rc::new((vec![picked.len() as i64], picked, code)))
            };
            r.computed[at] = all.iter().map(part).collect();
        }
        Ok(())
    }),
    ("DynamicStitch", "i32* T*", "N", |r, at| stitch(r, at)),
    ("ParallelDynamicStitch", "i32* T*", "N", |r, at| stitch(r, at)),
    ("HistogramFixedWidth", "T T i32", "dtype=DT_INT32", |r, at| {
        let bins = r.scalar(at, 2, "number of bins")?;
        let elem = r.elem(at, "dtype").unwrap_or(Type::I32);
        let (x, range) = (r.operand(at, 0)?, r.operand(at, 1)?);
        let count = elements(r, x)?;
        let values = r.express(at, &[x, range], |_, x| {
            let (low, high) = (x[1].cut(0, 0, 1), x[1].cut(0, 1, 2));
            let place = ((x[0].reshape([count]) - low) / (high - low)).affine(bins as f64, 0.0);
            let place = place.floor().clip(0.0, (bins - 1) as f64).cast(Type::I64);
            Ok(vec![counts(place, &[count], bins).cast(elem)])
        })?;
        r.is_expressed(at, values, &[]);
        Ok(())
    }),
    ("InTopKV2", "f32 T T", "", |r, at| {
        let k = r.scalar(at, 2, "number of classes")?;
        r.build(at, 2, |x| {
            let rows = x[1].dims().first().copied().unwrap_or(1);
            let own = x[0].take_along_axis_with(x[1].to(Some(Type::I64)).reshape([rows, 1]), |o| o.axis(1));
            let above = x[0].greater_than(own).cast(Type::I64).sum_with(|o| o.axis([1]));
            let is_number = own
                .reshape([rows])
                .abs()
                .less_than(own.reshape([rows]).filled(f64::INFINITY));
            Ok(vec![above.less_than(above.filled(k as f64)).logical_and(is_number)])
        })
    }),
    ("InvertPermutation", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let elem = r.dims(x)?.1;
        r.build(at, 1, |x| Ok(vec![x[0].argsort()[1].to(Some(elem))]))
    }),
    ("ListDiff", "T T -> out idx", "out_idx=DT_INT32", |r, at| {
        let (Some(all), Some(without)) = (r.known(at, 0), r.known(at, 1)) else {
            return Err("its inputs must be constants: the size of its result depends on their values".to_owned());
        };
        let code = r.input_code(at, 0).unwrap_or(INT32);
        let index = code_of(r, at, "out_idx", INT32);
        let rest = (0..).zip(&all).filter(|(_, n)| !without.contains(n));
        let (places, rest): (Vec<i64>, Vec<i64>) = rest.map(|(place, &n)| (place, n)).unzip();
        give(r, at, vec![Part::vector(rest, code), Part::vector(places, index)])
    }),
    ("LowerBound", "T T", "out_type=DT_INT32", |r, at| bound(r, at, false)),
    ("UpperBound", "T T", "out_type=DT_INT32", |r, at| bound(r, at, true)),
    ("Where", "T", "", |r, at| {
        let input = r.input(at, 0)?;
        let constant = r.computed(input).cloned();
        let constant =
            constant.ok_or("its condition must be a constant: the size of its result depends on its value")?;
        let (dims, numbers, _) = &*constant;
        let count = dims
            .iter()
            .try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
        let count = count.filter(|&n| n <= 1 << 16).ok_or("it is too large")?;
        if numbers.is_empty() && count > 0 {
            return Err("it is too large".to_owned());
        }
        let number = |place: usize| numbers[place.min(numbers.len() - 1)].f64();
        let mut places = Vec::new();
        for place in (0..count).filter(|&place| number(place) != 0.0) {
            let mut rest = place as i64;
            let mut index = vec![0; dims.len()];
            for (axis, &extent) in dims.iter().enumerate().rev() {
                index[axis] = rest % extent.max(1);
                rest /= extent.max(1);
            }
            places.extend(index);
        }
        let rank = dims.len() as i64;
        let found = places.len() as i64 / rank.max(1);
        give(r, at, vec![Part::Numbers(vec![found, rank], places, INT64)])
    }),
];

/// How many elements a tensor has.
fn elements(r: &Reader<'_>, x: ValueId) -> Result<i64> {
    let (dims, _) = r.dims(x)?;
    let count = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    let count = count.filter(|_| dims.iter().all(|&d| d >= 0));
    count.ok_or_else(|| "its shape is unknown".to_owned())
}

/// A one-hot dimension of `count` after the last axis.
fn which<'c>(index: Expr<'c>, dims: &[i64], count: i64) -> Expr<'c> {
    let classes = index
        .scope()
        .arange_with(|o| o.start(0).end(count).step(1).dtype(Type::I64));
    index.reshape([dims, &[1]].concat()).equal(classes)
}

/// How often each of `count` numbers is in the last axis.
fn counts<'c>(index: Expr<'c>, dims: &[i64], count: i64) -> Expr<'c> {
    let axis = dims.len() as i64 - 1;
    which(index, dims, count).cast(Type::I64).sum_with(|o| o.axis([axis]))
}

fn bincount(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (x, size, weights) = (r.operand(at, 0)?, r.scalar(at, 1, "size")?, r.operand(at, 2)?);
    let binary = r.flag(at, "binary_output");
    let (dims, _) = r.dims(x)?;
    let (given, elem) = r.dims(weights)?;
    if !(0..=1 << 24).contains(&size) || dims.iter().any(|&d| d < 0) || dims.is_empty() {
        return Err("its size and its shape must be known".to_owned());
    }
    let is_weighted = !given.contains(&0);
    if is_weighted && binary {
        return Err("weights cannot be combined with `binary_output`".to_owned());
    }
    let values = r.express(at, &[x, weights], |_, x| {
        let is = which(x[0].to(Some(Type::I64)), &dims, size);
        let axis = dims.len() as i64 - 1;
        Ok(vec![match (is_weighted, binary) {
            (true, _) => {
                let weights = x[1].reshape([&dims[..], &[1]].concat());
                let all = is.select(weights, weights.zeros());
                // Sums of narrow integers are wide.
                all.sum_with(|o| o.axis([axis])).to(Some(elem))
            }
            (false, true) => is.any_with(|o| o.axis([axis])).cast(elem),
            (false, false) => is.cast(elem).sum_with(|o| o.axis([axis])).to(Some(elem)),
        }])
    })?;
    r.is_expressed(at, values, &[]);
    Ok(())
}

/// How many numbers of each sorted row are below those of another row, or as large.
fn bound(r: &mut Reader<'_>, at: usize, with_equal: bool) -> Result<()> {
    let elem = r.elem(at, "out_type").unwrap_or(Type::I32);
    r.build(at, 2, |x| {
        let (&[rows, length], &[_, count]) = (x[0].dims(), x[1].dims()) else {
            return Err("its inputs must be matrices".to_owned());
        };
        let (sorted, wanted) = (x[0].reshape([rows, 1, length]), x[1].reshape([rows, count, 1]));
        let below = match with_equal {
            true => sorted.less_equal(wanted),
            false => sorted.less_than(wanted),
        };
        Ok(vec![below.cast(Type::I64).sum_with(|o| o.axis([2])).cast(elem)])
    })
}

/// The shape and the numbers of what names the part of each row.
fn partitions(r: &Reader<'_>, at: usize) -> Result<(Vec<i64>, Vec<i64>)> {
    let input = r.input(at, 1)?;
    let constant = r.computed(input);
    let numbers = r.known(at, 1);
    match (constant, numbers) {
        (Some(constant), Some(numbers)) => Ok((constant.0.clone(), numbers)),
        _ => Err("its partitions must be constants: the sizes of its results depend on their values".to_owned()),
    }
}

/// `DynamicStitch`: rows at known positions; the last one wins if several have the same position.
fn stitch(r: &mut Reader<'_>, at: usize) -> Result<()> {
    /// More rows are a mistake.
    const MOST: i64 = 1 << 16;
    let parts = r.num_inputs(at) / 2;
    let _ = r.int(at, "N");
    let mut from: Vec<Option<i64>> = Vec::new();
    let (mut rows, mut next) = (Vec::new(), 0);
    let mut rest: Option<Vec<i64>> = None;
    let mut known: Option<Vec<i64>> = Some(Vec::new());
    for part in 0..parts {
        let places = r.list(at, part, "places")?;
        let input = r.input(at, part)?;
        let depth = r.computed(input).map_or(0, |constant| constant.0.len());
        known = match (known, r.known(at, parts + part)) {
            (Some(mut all), Some(numbers)) if numbers.len() == places.len() => {
                all.extend(numbers);
                Some(all)
            }
            _ => None,
        };
        let x = r.operand(at, parts + part)?;
        let (dims, _) = r.dims(x)?;
        let behind = dims.get(depth..).ok_or("its indices and data do not match")?.to_vec();
        if rest.get_or_insert_with(|| behind.clone()) != &behind || behind.iter().any(|&d| d < 0) {
            return Err("its rows have different shapes".to_owned());
        }
        for place in places {
            let place = usize::try_from(place).ok().filter(|&p| (p as i64) < MOST);
            let place = place.ok_or("an index is out of range")?;
            if from.len() <= place {
                from.resize(place + 1, None);
            }
            from[place] = Some(next);
            next += 1;
        }
        rows.push(x);
    }
    let rest = rest.unwrap_or_default();
    let order: Option<Vec<i64>> = from.iter().copied().collect();
    let order = order.ok_or("an index of its result is missing")?;
    let shape = [&[-1], &rest[..]].concat();
    let values = r.express(at, &rows, |scope, x| {
        let flat: Vec<Expr<'_>> = x.iter().map(|x| x.reshape(&*shape)).collect();
        let all = scope.concat_with(&flat, |o| o.axis(0));
        Ok(vec![all.index_select_with(scope.indices(&order), |o| o.axis(0))])
    })?;
    if let (Some(known), Some(code), true) = (known, r.input_code(at, parts), rest.is_empty()) {
        let numbers: Vec<Number> = order.iter().map(|&p| Number::Int(known[p as usize].into())).collect();
        r.computed[at] = vec![Some(Rc::new((vec![numbers.len() as i64], numbers, code)))];
    }
    r.is_expressed(at, values, &[]);
    Ok(())
}
