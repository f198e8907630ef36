//! Loops over one or two tensors, with broadcasting.
//!
//! Dimensions that are contiguous in every operand are joined first, so that a few long rows remain; in a row an
//! operand either advances or is broadcast, and each of these cases has a loop.

use crate::tensor::Storage;
use smallvec::SmallVec;

use crate::parallel;
use crate::simd;
use crate::tensor::buffer::{Buffer, room, stale};
use crate::tensor::{DType, Data, Element, Shape, Tensor, checked_count};

pub(super) const MIXED: &str = "the operands have different element types";

/// The shape that two broadcast to.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Result<Shape, String> {
    let rank = a.len().max(b.len());
    let dim = |d: &[usize], at: usize| (at + d.len()).checked_sub(rank).map_or(1, |i| d[i]);
    (0..rank)
        .map(|at| match (dim(a, at), dim(b, at)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            (x, y) => Err(format!(
                "shapes {a:?} and {b:?} do not broadcast: {x} and {y} at dimension {at}"
            )),
        })
        .collect()
}

/// The strides of a contiguous tensor of a shape.
pub(crate) fn strides_of(shape: &[usize]) -> Shape {
    let mut out: Shape = shape.into();
    let mut step = 1usize;
    for (s, &d) in out.iter_mut().zip(shape).rev() {
        *s = step;
        step *= d;
    }
    out
}

/// The strides of a tensor along each dimension of `shape`; 0 where it is broadcast.
pub(super) fn strides(of: &[usize], shape: &[usize]) -> Shape {
    let mut out: Shape = std::iter::repeat_n(0, shape.len()).collect();
    let mut step = 1;
    for (i, &d) in of.iter().enumerate().rev() {
        let at = i + shape.len() - of.len();
        out[at] = if d == 1 { 0 } else { step };
        step *= d;
    }
    out
}

/// The rows of two tensors that are traversed together.
pub(super) struct Rows {
    /// The length of a row.
    pub(super) length: usize,
    /// The stride of each operand in a row.
    pub(super) steps: [usize; 2],
    shape: Shape,
    outer: [Shape; 2],
}

impl Rows {
    /// One row, along which both operands advance.
    fn one(length: usize) -> Rows {
        Rows {
            length,
            steps: [1, 1],
            shape: Shape::new(),
            outer: [Shape::new(), Shape::new()],
        }
    }

    /// Joins dimensions of `shape` that are contiguous in both operands.
    pub(super) fn new(shape: &[usize], a: &[usize], b: &[usize]) -> Rows {
        let mut joined = Shape::new();
        let (mut oa, mut ob) = (Shape::new(), Shape::new());
        for (at, &d) in shape.iter().enumerate() {
            let (sa, sb) = (a[at], b[at]);
            if d == 1 {
                continue;
            }
            match (joined.last_mut(), oa.last_mut(), ob.last_mut()) {
                (Some(last), Some(pa), Some(pb)) if *pa == sa * d && *pb == sb * d => {
                    *last *= d;
                    (*pa, *pb) = (sa, sb);
                }
                _ => {
                    joined.push(d);
                    oa.push(sa);
                    ob.push(sb);
                }
            }
        }
        let length = joined.pop().unwrap_or(1);
        let steps = [oa.pop().unwrap_or(0), ob.pop().unwrap_or(0)];
        Rows {
            length,
            steps,
            shape: joined,
            outer: [oa, ob],
        }
    }

    /// Removes the last of the outer dimensions: its extent, and the stride of the first operand.
    fn last_outer(&mut self) -> (usize, usize) {
        let [a, b] = &mut self.outer;
        b.pop();
        match (self.shape.pop(), a.pop()) {
            (Some(extent), Some(stride)) => (extent, stride),
            _ => (1, 0),
        }
    }

    /// Removes the first of the outer dimensions: its extent, and the stride of the first operand.
    fn first_outer(&mut self) -> (usize, usize) {
        let [a, b] = &mut self.outer;
        b.remove(0);
        (self.shape.remove(0), a.remove(0))
    }

    /// The offsets of each row in both operands.
    pub(super) fn offsets(&self) -> Offsets<'_> {
        let empty = self.length == 0 || self.shape.contains(&0);
        Offsets {
            rows: self,
            index: std::iter::repeat_n(0, self.shape.len()).collect(),
            next: (!empty).then_some((0, 0)),
        }
    }

    /// The elements of each operand in the row at these offsets: one where it is broadcast.
    fn row<'v, T, U>(&self, (a, b): (usize, usize), x: &'v [T], y: &'v [U]) -> (&'v [T], &'v [U]) {
        let end = |from, step| from + if step == 0 { 1 } else { self.length };
        (&x[a..end(a, self.steps[0])], &y[b..end(b, self.steps[1])])
    }
}

/// The offsets of [`Rows`]. It is an iterator, and not a function with a closure, so that it is compiled once.
pub(super) struct Offsets<'r> {
    rows: &'r Rows,
    index: Shape,
    next: Option<(usize, usize)>,
}

impl Iterator for Offsets<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let found = self.next?;
        let Rows { shape, outer, .. } = self.rows;
        let (mut a, mut b) = found;
        self.next = None;
        for at in (0..shape.len()).rev() {
            self.index[at] += 1;
            a += outer[0][at];
            b += outer[1][at];
            if self.index[at] < shape[at] {
                self.next = Some((a, b));
                break;
            }
            a -= outer[0][at] * shape[at];
            b -= outer[1][at] * shape[at];
            self.index[at] = 0;
        }
        Some(found)
    }
}

/// The shape of the result of two operands, its number of elements, of `size` bytes each, and its rows.
fn pairs(x: &Tensor, y: &Tensor, size: usize) -> Result<(Shape, usize, Rows), String> {
    if x.shape() == y.shape() {
        return Ok((Shape::from_slice(x.shape()), x.len(), Rows::one(x.len())));
    }
    let shape = broadcast(x.shape(), y.shape())?;
    let count = checked_count(&shape, size)?;
    let rows = Rows::new(&shape, &strides(x.shape(), &shape), &strides(y.shape(), &shape));
    Ok((shape, count, rows))
}

/// The elements of `v` in the order of `shape` with these strides.
pub(super) fn walk<T: Element>(v: &[T], shape: &[usize], steps: &[usize], count: usize) -> Result<Data, String> {
    let mut out = stale::<T>(count)?;
    let mut rows = Rows::new(shape, steps, steps);
    let work = count / 4;
    // Behind the first dimension there are some rows left for each thread.
    let (parts, stride) = match parallel::pays(work) && rows.shape.len() > 1 {
        true => rows.first_outer(),
        false => (1, 0),
    };
    // The last outer dimension has a separate loop, which is faster than one over offsets.
    let across = rows.last_outer();
    let size = count / parts.max(1);
    parallel::chunks(&mut out, size, work, |start, to| {
        let v = &v[start / size * stride..];
        simd::run(Walk {
            to,
            v,
            rows: &rows,
            across,
        });
    });
    Ok(T::wrap(out))
}

/// The length from which on a call that copies a row takes little of the time.
const LONG: usize = 128;

/// Copies the elements of some rows in their order.
struct Walk<'v, T> {
    to: &'v mut [T],
    v: &'v [T],
    rows: &'v Rows,
    /// The last outer dimension: its extent and its step.
    across: (usize, usize),
}

impl<T: Element> simd::Task for Walk<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Walk { to, v, rows, across } = self;
        let ((m, across), n, step) = (across, rows.length, rows.steps[0]);
        for ((first, _), to) in rows.offsets().zip(to.chunks_exact_mut((m * n).max(1))) {
            let v = &v[first..];
            if across == 1 && step > 1 && m >= SQUARE && n >= SQUARE {
                transpose_matrix(to, v, n, step);
                continue;
            }
            for (at, to) in to.chunks_exact_mut(n).enumerate() {
                let from = &v[at * across..];
                match step {
                    1 if n <= LONG => copy_short(to, &from[..n]),
                    1 => to.copy_from_slice(&from[..n]),
                    0 => to.fill(from[0]),
                    _ => to
                        .iter_mut()
                        .zip(from.iter().step_by(step))
                        .for_each(|(to, &v)| *to = v),
                }
            }
        }
    }
}

/// Copies a row in pieces of a fixed size, without a call.
#[inline(always)]
fn copy_short<T: Copy>(to: &mut [T], from: &[T]) {
    const PIECE: usize = 8;
    let (pieces, rest) = to.as_chunks_mut::<PIECE>();
    let (others, other) = from.as_chunks::<PIECE>();
    for (to, from) in pieces.iter_mut().zip(others) {
        *to = *from;
    }
    for (to, from) in rest.iter_mut().zip(other) {
        *to = *from;
    }
}

/// The rows and columns of a matrix that are transposed together, so that what is read and written stays in the nearest
/// cache.
const SQUARE: usize = 16;

/// Writes rows of `n` elements, the columns of a matrix whose rows are `step` apart.
#[inline(always)]
fn transpose_matrix<T: Element>(to: &mut [T], v: &[T], n: usize, step: usize) {
    for (top, rows) in to.chunks_mut(SQUARE * n).enumerate() {
        let top = top * SQUARE;
        for left in (0..n).step_by(SQUARE) {
            let columns = SQUARE.min(n - left);
            for (at, row) in rows.chunks_exact_mut(n).enumerate() {
                let from = v[left * step + top + at..].iter().step_by(step);
                row[left..left + columns]
                    .iter_mut()
                    .zip(from)
                    .for_each(|(to, &v)| *to = v);
            }
        }
    }
}

/// Appends the results for a row of each tensor; a broadcast row is one element.
type Append<'f, T, U> = &'f dyn Fn(&mut Vec<U>, &[T], &[T]);

/// Combines two tensors of one element type row by row. The function is `dyn`, so that what surrounds it is compiled once
/// for two element types.
fn by_rows<T: Element, U: Element>(x: &Tensor, y: &Tensor, append: Append<'_, T, U>) -> Result<Tensor, String> {
    let (Some(a), Some(b)) = (x.view::<T>(), y.view::<T>()) else {
        return Err(MIXED.to_owned());
    };
    let (shape, count, rows) = pairs(x, y, U::DTYPE.size())?;
    let mut out = room::<U>(count)?;
    for offsets in rows.offsets() {
        let (a, b) = rows.row(offsets, a, b);
        append(&mut out, a, b);
    }
    Ok(Tensor::from_parts(shape, U::wrap(out)))
}

/// Combines two tensors of one element type.
pub(super) fn zip<T: Element, U: Element>(x: &Tensor, y: &Tensor, f: impl Fn(T, T) -> U) -> Result<Tensor, String> {
    by_rows::<T, U>(x, y, &|out, a, b| match (a, b) {
        (a, &[q]) => out.extend(a.iter().map(|&p| f(p, q))),
        (&[p], b) => out.extend(b.iter().map(|&q| f(p, q))),
        (a, b) => out.extend(a.iter().zip(b).map(|(&p, &q)| f(p, q))),
    })
}

/// Updates elements in place with those of another tensor, or with its only element; the flag is true if that is the
/// left operand.
type Change<'f, T> = &'f dyn Fn(&mut [T], &[T], bool);

/// The number of elements that are copied and then changed: they are in the nearest cache meanwhile.
pub(super) const TILE: usize = 2048;

fn changed<T: Element>(x: Tensor, y: Tensor, f: Change<'_, T>) -> Result<Tensor, String> {
    let same = x.shape() == y.shape();
    // A one-element tensor of no higher rank does not change the shape of the other.
    let fits = |big: &Tensor, one: &[T]| same || one.len() == 1 && big.rank() > 0;
    let (mut x, mut y) = (x, y);
    if y.rank() <= x.rank()
        && let Some(b) = y.view::<T>()
        && fits(&x, b)
        && let Some(a) = x.unique::<T>()
    {
        f(a, b, false);
        return Ok(x);
    }
    if x.rank() <= y.rank()
        && let Some(a) = x.view::<T>()
        && fits(&y, a)
        && let Some(b) = y.unique::<T>()
    {
        f(b, a, true);
        return Ok(y);
    }
    by_rows::<T, T>(&x, &y, &|out, a, b| {
        let (long, other, is_left) = if a.len() == 1 { (b, a, true) } else { (a, b, false) };
        for (at, tile) in long.chunks(TILE).enumerate() {
            let start = out.len();
            out.extend_from_slice(tile);
            let other = match other.len() {
                1 => other,
                _ => &other[at * TILE..][..tile.len()],
            };
            f(&mut out[start..], other, is_left);
        }
    })
}

/// Combines in place if a buffer is unshared and has the shape of the result.
pub(super) fn zip_in_place<T: Element>(x: Tensor, y: Tensor, f: impl Fn(T, T) -> T) -> Result<Tensor, String> {
    changed::<T>(x, y, &|values, others, is_left| match (others, is_left) {
        (&[q], false) => values.iter_mut().for_each(|p| *p = f(*p, q)),
        (&[p], true) => values.iter_mut().for_each(|q| *q = f(p, *q)),
        (others, false) => values.iter_mut().zip(others).for_each(|(p, &q)| *p = f(*p, q)),
        (others, true) => values.iter_mut().zip(others).for_each(|(q, &p)| *q = f(p, *q)),
    })
}

/// Computes in another type, which holds all values of that of the elements: so few types need loops of their own.
pub(super) fn through(wide: DType, data: Data, f: impl FnOnce(Data) -> Result<Data, String>) -> Result<Data, String> {
    let dtype = data.dtype();
    f(data.cast(wide)?)?.cast(dtype)
}

/// Computes in single or double precision.
///
/// # Errors
/// For elements that are not floats.
pub(super) fn in_floats(data: Data, f: impl FnOnce(Data) -> Result<Data, String>) -> Result<Data, String> {
    match data.dtype() {
        DType::F32 | DType::F64 => f(data),
        DType::F16 | DType::BF16 => through(DType::F32, data, f),
        _ => Err("the operand must have a float element type".to_owned()),
    }
}

/// The same for two tensors of any type.
pub(super) fn both_through(
    wide: DType,
    x: Tensor,
    y: Tensor,
    f: impl FnOnce(Tensor, Tensor) -> Result<Tensor, String>,
) -> Result<Tensor, String> {
    let dtype = x.dtype();
    if y.dtype() != dtype {
        return Err(MIXED.to_owned());
    }
    f(x.cast(wide)?, y.cast(wide)?)?.cast(dtype)
}

/// Applies a function, in place if the buffer is unshared.
pub(super) fn map<T: Element>(data: Data, f: impl Fn(T) -> T) -> Result<Data, String> {
    let mut values = unshared::<T>(data)?;
    if let Some(own) = values.get_mut() {
        own.iter_mut().for_each(|v| *v = f(*v));
    }
    Ok(T::wrap_shared(values))
}

/// The elements alone; copied if they are shared.
fn unshared<T: Element>(data: Data) -> Result<Buffer<T>, String> {
    let values = T::shared(data).unwrap_or_else(|| Buffer::from(Storage::default()));
    Ok(match values.is_unique() {
        true => values,
        false => values.into_storage()?.into(),
    })
}

/// Broadcasts a tensor to a shape.
pub(super) fn expand(x: &Tensor, shape: &[usize]) -> Result<Tensor, String> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    let count = checked_count(shape, x.dtype().size())?;
    if broadcast(x.shape(), shape)?[..] != *shape {
        return Err(format!("shape {:?} does not broadcast to {shape:?}", x.shape()));
    }
    let steps = strides(x.shape(), shape);
    let data = crate::each_type!(x.data(), v => walk(v, shape, &steps, count))?;
    Ok(Tensor::from_parts(shape.into(), data))
}

/// Permutes the dimensions.
pub(super) fn transpose(x: &Tensor, perm: &[usize]) -> Result<Tensor, String> {
    let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, x.rank());
    let new = |&p: &usize| !std::mem::replace(&mut seen[p], true);
    if perm.len() != x.rank() || perm.iter().any(|&p| p >= x.rank()) || !perm.iter().all(new) {
        return Err(format!("{perm:?} is not a permutation of {} axes", x.rank()));
    }
    let old = strides_of(x.shape());
    let shape: Shape = perm.iter().map(|&p| x.shape()[p]).collect();
    if perm.is_sorted() {
        return Ok(x.clone());
    }
    let steps: Shape = perm.iter().map(|&p| old[p]).collect();
    let data = crate::each_type!(x.data(), v => walk(v, &shape, &steps, v.len()))?;
    Ok(Tensor::from_parts(shape, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(x: &Tensor, y: &Tensor) -> Tensor {
        zip(x, y, |a: f64, b: f64| 10.0 * a + b).unwrap()
    }

    fn counting(shape: &[usize]) -> Tensor {
        let n: usize = shape.iter().product();
        Tensor::new(shape, (0..n).map(|v| v as f64).collect()).unwrap()
    }

    /// A reference implementation, index by index.
    fn slowly(x: &Tensor, y: &Tensor) -> (Shape, Vec<f64>) {
        let shape = broadcast(x.shape(), y.shape()).unwrap();
        let full = strides_of(&shape);
        let place = |t: &Tensor, n: usize| -> usize {
            let own = strides_of(t.shape());
            let lead = shape.len() - t.rank();
            (0..t.rank())
                .map(|i| {
                    if t.shape()[i] == 1 {
                        0
                    } else {
                        n / full[lead + i] % shape[lead + i] * own[i]
                    }
                })
                .sum()
        };
        let count: usize = shape.iter().product();
        let (a, b) = (x.to_f64(), y.to_f64());
        let values = (0..count).map(|n| 10.0 * a[place(x, n)] + b[place(y, n)]).collect();
        (shape, values)
    }

    #[test]
    fn every_pattern_of_broadcasting() {
        let mut tried = 0;
        let shapes: Vec<Vec<usize>> = (0..81)
            .map(|n| [n, n / 3, n / 9, n / 27].iter().map(|d| [1, 2, 3][d % 3]).collect())
            .chain([vec![], vec![3], vec![1], vec![2, 3], vec![0, 3], vec![2, 0], vec![1, 1]])
            .collect();
        for a in &shapes {
            for b in &shapes {
                if broadcast(a, b).is_err() {
                    continue;
                }
                let (x, y) = (counting(a), counting(b));
                let (shape, values) = slowly(&x, &y);
                let z = sum(&x, &y);
                assert_eq!((z.shape(), z.to_f64()), (&shape[..], values.clone()), "{a:?} {b:?}");
                let again = zip_in_place(counting(a), counting(b), |a: f64, b: f64| 10.0 * a + b).unwrap();
                assert_eq!((again.shape(), again.to_f64()), (&shape[..], values), "{a:?} {b:?}");
                tried += 1;
            }
        }
        assert!(tried > 2000);
    }

    #[test]
    fn shared_buffers_stay() {
        let x = counting(&[4]);
        let kept = x.clone();
        let y = zip_in_place(x, kept.clone(), |a: f64, b: f64| a + b).unwrap();
        assert_eq!(kept.to_f64(), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(y.to_f64(), [0.0, 2.0, 4.0, 6.0]);
        // This buffer is unshared, so it is reused.
        let before = y.view::<f64>().unwrap().as_ptr();
        let z = zip_in_place(Tensor::scalar(1.0), y, |a: f64, b: f64| a - b).unwrap();
        assert_eq!(z.view::<f64>().unwrap().as_ptr(), before);
        assert_eq!(z.to_f64(), [1.0, -1.0, -3.0, -5.0]);
    }

    #[test]
    fn shapes_that_do_not_fit() {
        let error = zip(&counting(&[2, 1]), &counting(&[3, 2]), |a: f64, _: f64| a).unwrap_err();
        assert_eq!(
            error,
            "shapes [2, 1] and [3, 2] do not broadcast: 2 and 3 at dimension 0"
        );
        assert!(expand(&counting(&[2, 3]), &[1, 3]).is_err());
        assert!(zip(&counting(&[2]), &Tensor::scalar(1f32), |a: f64, _: f64| a).is_err());
        assert!(transpose(&counting(&[2, 3]), &[0, 0]).is_err());
    }

    /// Short rows, more than are written at once, of a small tensor and of a large one.
    #[test]
    fn short_rows_change_places() {
        for [a, b, c, d] in [[2, 300, 3, 5], [3, 1500, 2, 20], [1, 70, 2000, 1]] {
            let x = counting(&[a, b, c, d]).cast(DType::F32).unwrap();
            let y = transpose(&x, &[0, 2, 1, 3]).unwrap();
            assert_eq!(y.shape(), [a, c, b, d]);
            let place = |at: usize| {
                let (rest, l) = (at / d, at % d);
                let (i, j, k) = (rest / (b * c), rest / b % c, rest % b);
                ((i * b + k) * c + j) * d + l
            };
            let expected: Vec<f64> = (0..a * b * c * d).map(|at| place(at) as f64).collect();
            assert_eq!(y.to_f64(), expected, "{:?}", x.shape());
        }
    }
}
