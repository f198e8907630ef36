//! Linear algebra other than matrix products.

use crate::tensor::buffer::{filled, gathered, scratch};
use std::ops::Add;

use pir_dialects::einsum::EinsumEquation;
use pir_dialects::pd;
use rustc_hash::FxHashMap;

use super::activation::zip;
use super::binary::arithmetic;
use super::broadcast::{broadcast, expand, strides_of, transpose};
use super::matmul::matmul;
use super::{Kernel, Prepare, Spec, axis, one, take};
use crate::tensor::{Data, Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Bmm::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            if x.rank() != 3 || y.rank() != 3 {
                return Err("expected two batches of matrices".to_owned());
            }
            one(matmul(x, y, false, false)?)
        }))
    }),
    (pd::Outer::NAME, |_| {
        let times = arithmetic(|a, b| a * b, |a, b| a * b, |a, b| Ok(a.wrapping_mul(b)))?;
        Ok(Box::new(move |inputs| {
            let [x, y] = take(inputs)?;
            let (rows, columns) = (x.len(), y.len());
            times(
                [x.reshaped(&[rows, 1])?, y.reshaped(&[1, columns])?]
                    .into_iter()
                    .collect(),
            )
        }))
    }),
    (pd::Linear::NAME, |_| {
        let plus = arithmetic(|a, b| a + b, |a, b| a + b, |a, b| Ok(a.wrapping_add(b)))?;
        Ok(Box::new(move |inputs| {
            let mut inputs = inputs.into_iter();
            let (Some(x), Some(weight)) = (inputs.next(), inputs.next()) else {
                return Err("expected inputs and a weight".to_owned());
            };
            let product = matmul(x, weight, false, false)?;
            match inputs.next() {
                Some(bias) => plus([product, bias].into_iter().collect()),
                None => one(product),
            }
        }))
    }),
    (pd::Mv::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            if x.rank() != 2 || y.rank() != 1 {
                return Err("expected a matrix and a vector".to_owned());
            }
            one(matmul(x, y, false, false)?)
        }))
    }),
    (pd::Addmm::NAME, |s| {
        let (alpha, beta) = (s.float("alpha", 1.0), s.float("beta", 1.0));
        Ok(Box::new(move |inputs| {
            let [input, x, y] = take(inputs)?;
            let product = matmul(x, y, false, false)?;
            let input = expand(&input, product.shape())?;
            one(zip(&input, &product, |a, b| beta * a + alpha * b)?)
        }))
    }),
    (pd::Dot::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            let shape = broadcast(x.shape(), y.shape())?;
            let (&n, rest) = shape.split_last().ok_or("the operands must be vectors")?;
            let count = checked_count(rest, 8)?;
            if !x.dtype().is_float() {
                let (a, b) = (expand(&x, &shape)?.wholes()?, expand(&y, &shape)?.wholes()?);
                let row = |at: usize| at * n..(at + 1) * n;
                let sum = |at: usize| {
                    let pairs = a[row(at)].iter().zip(&b[row(at)]);
                    pairs.fold(0i64, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)))
                };
                return one(Tensor::of(rest, gathered((0..count).map(sum))?)?.cast(x.dtype())?);
            }
            let (a, b) = (expand(&x, &shape)?.doubles()?, expand(&y, &shape)?.doubles()?);
            let row = |at: usize| at * n..(at + 1) * n;
            let sum = |at: usize| -> f64 {
                a[row(at)]
                    .iter()
                    .zip(&b[row(at)])
                    .map(|(a, b)| a * b)
                    .fold(0.0, f64::add)
            };
            one(Tensor::of(rest, gathered((0..count).map(sum))?)?.cast(x.dtype())?)
        }))
    }),
    (pd::Kron::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            let rank = x.rank().max(y.rank());
            let wide = |s: &[usize]| -> Shape {
                std::iter::repeat_n(1, rank - s.len())
                    .chain(s.iter().copied())
                    .collect()
            };
            let (a, b) = (wide(x.shape()), wide(y.shape()));
            let left: Shape = a.iter().flat_map(|&d| [d, 1]).collect();
            let right: Shape = b.iter().flat_map(|&d| [1, d]).collect();
            let shape: Shape = a.iter().zip(&b).map(|(a, b)| a.saturating_mul(*b)).collect();
            checked_count(&shape, 8)?;
            one(zip(&x.reshaped(&left)?, &y.reshaped(&right)?, |a, b| a * b)?.reshaped(&shape)?)
        }))
    }),
    (pd::Trace::NAME, |s| {
        along_diagonal(s, |x| {
            let n = x.shape().last().copied().unwrap_or(0);
            let shape: Shape = x.shape()[..x.rank() - 1].into();
            let count = checked_count(&shape, 8)?;
            let values = x.doubles()?;
            let sums = gathered((0..count).map(|at| values[at * n..(at + 1) * n].iter().fold(0.0, f64::add)))?;
            Tensor::of(&shape, sums)?.cast(x.dtype())
        })
    }),
    (pd::Diagonal::NAME, |s| along_diagonal(s, Ok)),
    (pd::Diag::NAME, |s| {
        let (offset, padding) = (s.int("offset", 0), s.float("padding_value", 0.0));
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            if x.rank() == 2 {
                return one(diagonal(&x, offset, 0, 1)?);
            }
            let &[n] = x.shape() else {
                return Err("the operand must be a vector or a matrix".to_owned());
            };
            let size = n.saturating_add(offset.unsigned_abs() as usize);
            checked_count(&[size, size], 8)?;
            let mut values = filled(size * size, padding)?;
            let (row, column) = start(offset);
            for (at, v) in x.doubles()?.iter().copied().enumerate() {
                values[(row + at) * size + column + at] = v;
            }
            one(Tensor::of(&[size, size], values)?.cast(x.dtype())?)
        }))
    }),
    (pd::Einsum::NAME, einsum),
];

/// The row and column at which a diagonal starts.
fn start(offset: i64) -> (usize, usize) {
    let away = offset.unsigned_abs() as usize;
    if offset < 0 { (away, 0) } else { (0, away) }
}

/// A diagonal of each matrix, as the last dimension.
fn diagonal(x: &Tensor, offset: i64, first: i64, second: i64) -> Result<Tensor, String> {
    let (first, second) = (axis(first, x.rank())?, axis(second, x.rank())?);
    if first == second {
        return Err("the two axes of a diagonal must differ".to_owned());
    }
    let rest = (0..x.rank()).filter(|&a| a != first && a != second);
    let order: Shape = rest.clone().chain([first, second]).collect();
    let (rows, columns) = (x.shape()[first], x.shape()[second]);
    let (row, column) = start(offset);
    let length = rows.saturating_sub(row).min(columns.saturating_sub(column));
    let mut shape: Shape = rest.map(|a| x.shape()[a]).collect();
    let outer = checked_count(&shape, 8)?;
    shape.push(length);
    let moved = transpose(x, &order)?;
    fn pick<T: Element>(v: &[T], places: impl Iterator<Item = usize>) -> Result<Data, String> {
        Ok(T::wrap(gathered(places.map(|p| v[p]))?))
    }
    let places = || {
        (0..outer).flat_map(move |o| (0..length).map(move |k| o * rows * columns + (row + k) * columns + column + k))
    };
    let data = crate::each_type!(moved.data(), v => pick(v, places()))?;
    Ok(Tensor::from_parts(shape, data))
}

fn along_diagonal(
    s: &Spec<'_>,
    f: impl Fn(Tensor) -> Result<Tensor, String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let (offset, first, second) = (s.int("offset", 0), s.int("axis1", 0), s.int("axis2", 1));
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        one(f(diagonal(&x, offset, first, second)?)?)
    }))
}

/// Sums of products: a nested loop over all indices, those of the result first.
pub(super) fn einsum(s: &Spec<'_>) -> Result<Kernel, String> {
    let equation = s.text("equation", "").to_owned();
    Ok(Box::new(move |inputs| {
        let letters = EinsumEquation::parse(&equation, inputs.iter().map(Tensor::rank))?;
        if inputs.len() != letters.inputs.len() {
            return Err(format!(
                "the equation has {} operands, found {}",
                letters.inputs.len(),
                inputs.len()
            ));
        }
        let mut sizes: FxHashMap<char, usize> = FxHashMap::default();
        for (own, x) in letters.inputs.iter().zip(&inputs) {
            if own.len() != x.rank() {
                return Err(format!(
                    "expected as many letters as dimensions, found {} for shape {:?}",
                    own.len(),
                    x.shape()
                ));
            }
            for (&letter, &d) in own.iter().zip(x.shape()) {
                if *sizes.entry(letter).or_insert(d) != d {
                    return Err(format!("`{letter}` names dimensions of different extents"));
                }
            }
        }
        let summed = letters.summed();
        let size = |l: &char| sizes.get(l).copied().unwrap_or(1);
        let shape: Shape = letters.output.iter().map(size).collect();
        let count = checked_count(&shape, 8)?;
        let inner: Shape = summed.iter().map(size).collect();
        let terms: usize = inner.iter().product();
        let walks = |over: &[char]| -> Vec<Shape> {
            let of = |(own, x): (&Vec<char>, &Tensor)| {
                let full = strides_of(x.shape());
                // A letter that names several dimensions goes along their diagonal.
                let step = |l: &char| {
                    own.iter()
                        .zip(&full)
                        .filter(|(o, _)| *o == l)
                        .map(|(_, step)| step)
                        .sum()
                };
                over.iter().map(step).collect()
            };
            letters.inputs.iter().zip(&inputs).map(of).collect()
        };
        let (outer_steps, inner_steps) = (walks(&letters.output), walks(&summed));
        let (outer_full, inner_full) = (strides_of(&shape), strides_of(&inner));
        let values = inputs.iter().map(Tensor::doubles).collect::<Result<Vec<_>, _>>()?;
        let _scratch = scratch::<usize>(terms.saturating_mul(inputs.len()))?;
        let place = |n: usize, dims: &[usize], full: &[usize], steps: &[usize]| -> usize {
            (0..dims.len()).map(|i| n / full[i] % dims[i] * steps[i]).sum()
        };
        let offsets: Vec<Vec<usize>> = inner_steps
            .iter()
            .map(|steps| (0..terms).map(|n| place(n, &inner, &inner_full, steps)).collect())
            .collect();
        let element = |n: usize| -> f64 {
            let starts: Vec<usize> = outer_steps.iter().map(|s| place(n, &shape, &outer_full, s)).collect();
            let term = |k: usize| -> f64 {
                let factors = values.iter().zip(&starts).zip(&offsets);
                factors.map(|((v, start), offset)| v[start + offset[k]]).product()
            };
            (0..terms).map(term).fold(0.0, f64::add)
        };
        let dtype = inputs.first().ok_or("an operand is missing")?.dtype();
        one(Tensor::of(&shape, gathered((0..count).map(element))?)?.cast(dtype)?)
    }))
}
