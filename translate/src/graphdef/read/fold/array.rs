//! Small tensors of known numbers, and what structural operations make of them.

use super::super::super::types::Number;

/// Larger tensors are not shapes, places or lengths.
pub(super) const LARGEST: usize = 1 << 12;

/// A tensor of known numbers.
#[derive(Clone, PartialEq, Debug)]
pub(in super::super) struct Array {
    pub(in super::super) dims: Vec<i64>,
    pub(in super::super) numbers: Vec<Number>,
}

impl Array {
    pub(in super::super) fn scalar(number: i64) -> Array {
        Array::of(Vec::new(), vec![number])
    }

    pub(in super::super) fn vector(numbers: Vec<i64>) -> Array {
        Array::of(vec![numbers.len() as i64], numbers)
    }

    pub(super) fn of(dims: Vec<i64>, numbers: Vec<i64>) -> Array {
        Array {
            dims,
            numbers: numbers.into_iter().map(|n| Number::Int(n.into())).collect(),
        }
    }

    /// The numbers, if all are integers of 64 bits.
    pub(in super::super) fn ints(&self) -> Option<Vec<i64>> {
        let int = |n: &Number| match n {
            Number::Int(value) => i64::try_from(*value).ok(),
            Number::Float(_) => None,
        };
        self.numbers.iter().map(int).collect()
    }

    pub(super) fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The elements that a function gives for each place of a new tensor.
    pub(super) fn made(dims: Vec<i64>, element: impl Fn(&[i64]) -> Option<Number>) -> Option<Array> {
        let count = count(&dims)?;
        let mut place = vec![0; dims.len()];
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(element(&place)?);
            for (at, extent) in place.iter_mut().zip(&dims).rev() {
                *at += 1;
                if *at < *extent {
                    break;
                }
                *at = 0;
            }
        }
        Some(Array { dims, numbers })
    }

    /// The element at a place, if it is inside.
    pub(super) fn get(&self, place: &[i64]) -> Option<Number> {
        let mut flat = 0;
        for (&at, &extent) in place.iter().zip(&self.dims) {
            (0 <= at && at < extent).then_some(())?;
            flat = flat * extent + at;
        }
        self.numbers.get(usize::try_from(flat).ok()?).copied()
    }

    /// The element that is at a place of what the tensor is spread to.
    pub(super) fn spread(&self, place: &[i64]) -> Option<Number> {
        let behind = place.get(place.len().checked_sub(self.rank())?..)?;
        let own = behind.iter().zip(&self.dims);
        let own: Vec<i64> = own.map(|(&at, &extent)| if extent == 1 { 0 } else { at }).collect();
        self.get(&own)
    }

    /// Spread to a shape.
    pub(super) fn broadcast(&self, dims: Vec<i64>) -> Option<Array> {
        let fits = broadcast_shape(&self.dims, &dims)? == dims;
        fits.then_some(())?;
        Array::made(dims, |place| self.spread(place))
    }

    /// The axis that a number names, which may count from the end.
    pub(in super::super) fn axis(&self, axis: i64) -> Option<usize> {
        place_of(axis, self.rank())
    }

    /// With other extents, of which one may be open.
    pub(super) fn reshaped(&self, mut shape: Vec<i64>) -> Option<Array> {
        let count = self.numbers.len() as i64;
        let mut others = shape.iter().filter(|&&d| d != -1);
        let others = others.try_fold(1i64, |n, &d| n.checked_mul(d))?;
        if let Some(open) = shape.iter_mut().find(|d| **d == -1) {
            *open = (others > 0 && count % others == 0).then(|| count / others)?;
        }
        let all = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
        let fits = all == count && shape.iter().all(|&d| d >= 0);
        fits.then(|| Array {
            dims: shape,
            numbers: self.numbers.clone(),
        })
    }

    /// Tensors one after another along an axis.
    pub(super) fn joined(parts: &[Array], axis: usize) -> Option<Array> {
        let first = parts.first()?;
        let mut dims = first.dims.clone();
        *dims.get_mut(axis)? = 0;
        for part in parts {
            let fits = |(at, (a, b)): (usize, (&i64, &i64))| at == axis || a == b;
            let alike = part.rank() == first.rank() && part.dims.iter().zip(&first.dims).enumerate().all(fits);
            alike.then_some(())?;
            dims[axis] = dims[axis].checked_add(part.dims[axis])?;
        }
        Array::made(dims, |place| {
            let mut place = place.to_vec();
            for part in parts {
                if place[axis] < part.dims[axis] {
                    return part.get(&place);
                }
                place[axis] -= part.dims[axis];
            }
            None
        })
    }

    /// With its axes in another order.
    pub(super) fn transposed(&self, order: &[i64]) -> Option<Array> {
        let order: Vec<usize> = order.iter().map(|&a| self.axis(a)).collect::<Option<_>>()?;
        let mut seen = vec![false; self.rank()];
        for &axis in &order {
            if std::mem::replace(seen.get_mut(axis)?, true) {
                return None;
            }
        }
        (order.len() == self.rank()).then_some(())?;
        let dims = order.iter().map(|&axis| self.dims[axis]).collect();
        Array::made(dims, |place| {
            let mut from = vec![0; place.len()];
            for (&axis, &at) in order.iter().zip(place) {
                from[axis] = at;
            }
            self.get(&from)
        })
    }

    /// The parts at indices of an axis; the axes of the indices take its place.
    pub(in super::super) fn gathered(&self, index: &Array, axis: usize) -> Option<Array> {
        let depth = index.rank();
        let (front, behind) = (self.dims.get(..axis)?, self.dims.get(axis + 1..)?);
        let dims = [front, &index.dims, behind].concat();
        let places = index.ints()?;
        let index = Array::of(index.dims.clone(), places);
        Array::made(dims, |place| {
            let Number::Int(row) = index.get(&place[axis..axis + depth])? else {
                return None;
            };
            let row = i64::try_from(row).ok()?;
            self.get(&[&place[..axis], &[row], &place[axis + depth..]].concat())
        })
    }

    /// The elements of axes combined to one, which stays as an axis of one element if wanted.
    pub(super) fn reduced(&self, axes: &[i64], keep: bool, all: impl Fn(&[Number]) -> Option<Number>) -> Option<Array> {
        let axes: Vec<usize> = axes.iter().map(|&a| self.axis(a)).collect::<Option<_>>()?;
        let kept: Vec<usize> = (0..self.rank()).filter(|axis| !axes.contains(axis)).collect();
        let inner: Vec<i64> = axes.iter().map(|&axis| self.dims[axis]).collect();
        let outer: Vec<i64> = kept.iter().map(|&axis| self.dims[axis]).collect();
        let made = Array::made(outer, |place| {
            let part = Array::made(inner.clone(), |inside| {
                let mut from = vec![0; self.rank()];
                kept.iter().zip(place).for_each(|(&axis, &at)| from[axis] = at);
                axes.iter().zip(inside).for_each(|(&axis, &at)| from[axis] = at);
                self.get(&from)
            });
            all(&part?.numbers)
        })?;
        match keep {
            false => Some(made),
            true => {
                let own = |axis| if axes.contains(&axis) { 1 } else { self.dims[axis] };
                made.reshaped((0..self.rank()).map(own).collect())
            }
        }
    }
}

/// The place that a number names in a list, which may count from the end.
pub(in super::super) fn place_of(number: i64, length: usize) -> Option<usize> {
    let number = if number < 0 { number + length as i64 } else { number };
    usize::try_from(number).ok().filter(|&at| at < length)
}

/// How many elements there are, if that is few enough.
pub(super) fn count(shape: &[i64]) -> Option<usize> {
    let count = shape
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
    count.filter(|&count| count <= LARGEST)
}

/// The extents of two shapes that are spread to one another, axis by axis.
pub(super) fn aligned(a: &[i64], b: &[i64]) -> impl Iterator<Item = [i64; 2]> {
    let rank = a.len().max(b.len());
    let padded = move |shape: &[i64]| [vec![1; rank - shape.len()], shape.to_vec()].concat();
    padded(a).into_iter().zip(padded(b)).map(|(a, b)| [a, b])
}

/// The shape of what two tensors are spread to.
pub(super) fn broadcast_shape(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let both = |extents: [i64; 2]| match extents {
        [x, y] if x == y || y == 1 => Some(x),
        [1, y] => Some(y),
        _ => None,
    };
    aligned(a, b).map(both).collect()
}
