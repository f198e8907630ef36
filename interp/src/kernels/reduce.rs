//! Reductions and their gradients.
//!
//! The reduced axes are moved to the end first, so that the elements of each result are contiguous; consecutive ones of
//! a sum stay where they are. Floats are accumulated pairwise in double precision, and rounded once.

use super::broadcast::{expand, transpose};
use super::single::{Direct, put};
use super::sums::{Middle, rows_of_singles, total};
use super::{IntList, Kernel, Prepare, Spec, axis, dims, one, take};
use crate::simd::{self, Task};
use crate::tensor::buffer::{filled, gathered};
use crate::tensor::{DType, Data, Element, Shape, Storage, Tensor, checked_count, of_rank, rank};
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Sum::NAME, |s| {
        let dtype = s.result_dtype(0)?;
        reduction(s, move |x, axes| sum(x.cast(dtype)?, axes))
    }),
    (pd::Mean::NAME, |s| {
        reduction(s, |x, axes| {
            if x.dtype().is_float() {
                let n: usize = axes.iter().map(|&a| x.shape()[a]).product();
                return sum_of_floats(&x, axes, n as f64);
            }
            let groups = Groups::new(&x, axes)?;
            if x.dtype() == DType::I1 {
                return groups.floats(|g| g.iter().sum::<f64>() / groups.size as f64);
            }
            if groups.size == 0 && groups.count != 0 {
                return Err("the mean of an empty set of integers is undefined".to_owned());
            }
            let n = i64::try_from(groups.size).unwrap_or(i64::MAX);
            groups.integers(|g| g.iter().fold(0i64, |sum, &v| sum.wrapping_add(v)).wrapping_div(n))
        })
    }),
    (pd::Prod::NAME, |s| {
        let dtype = s.result_dtype(0)?;
        reduction(s, move |x, axes| {
            let groups = Groups::new(&x.cast(dtype)?, axes)?;
            if dtype.is_float() {
                groups.floats(|g| g.iter().product())
            } else {
                groups.integers(|g| g.iter().fold(1i64, |all, &v| all.wrapping_mul(v)))
            }
        })
    }),
    (pd::Max::NAME, |s| extremum(s, 1.0, i64::max)),
    (pd::Min::NAME, |s| extremum(s, -1.0, i64::min)),
    (pd::Amax::NAME, |s| extremum(s, 1.0, i64::max)),
    (pd::Amin::NAME, |s| extremum(s, -1.0, i64::min)),
    (pd::Any::NAME, |s| truth(s, |v| v.contains(&true))),
    (pd::All::NAME, |s| truth(s, |v| !v.contains(&false))),
    (pd::ReduceAs::NAME, |s| {
        let dtype = s.result_dtype(0)?;
        reducing(s, move |x, target| reduce_as(&x.cast(dtype)?, target))
    }),
    (pd::MaxGrad::NAME, extremum_grad),
    (pd::MinGrad::NAME, extremum_grad),
    (pd::ProdGrad::NAME, prod_grad),
];

/// Reductions of a whole tensor in single precision.
pub(super) const WHOLE: &[(&str, Direct)] = &[
    (pd::Sum::NAME, |to, of| reduced(to, of, |v| total(v, 1.0))),
    (pd::Mean::NAME, |to, of| reduced(to, of, |v| total(v, v.len() as f64))),
    (pd::Max::NAME, |to, of| reduced(to, of, |v| most(v, 1.0))),
    (pd::Min::NAME, |to, of| reduced(to, of, |v| most(v, -1.0))),
    (pd::Amax::NAME, |to, of| reduced(to, of, |v| most(v, 1.0))),
    (pd::Amin::NAME, |to, of| reduced(to, of, |v| most(v, -1.0))),
];

fn reduced(to: &mut Tensor, of: &[&Tensor], f: impl Fn(&[f32]) -> f32) -> bool {
    match of.first().and_then(|x| x.view::<f32>()) {
        Some(values) if of.len() == 1 && !values.is_empty() => put(to, f(values)),
        _ => false,
    }
}

/// A reduction to a shape, which is that of the second operand or an attribute.
pub(super) fn reducing(
    s: &Spec<'_>,
    f: impl Fn(Tensor, &Shape) -> Result<Tensor, String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let shape = s.ints("shape").map(|shape| dims(&shape)).transpose()?;
    Ok(Box::new(move |inputs| {
        let target: Shape = match (inputs.get(1), &shape) {
            (Some(target), _) => target.shape().into(),
            (None, Some(shape)) => shape.clone(),
            (None, None) => return Err("it needs a target or a shape".to_owned()),
        };
        let [x] = take(inputs)?;
        one(f(x, &target)?)
    }))
}

/// The axes to reduce.
pub(super) struct Axes {
    pub(super) axes: IntList,
    keepdim: bool,
}

impl Axes {
    pub(super) fn of(s: &Spec<'_>) -> Axes {
        Axes {
            axes: s.ints_or_operand("axis"),
            keepdim: s.flag("keepdim", false) || s.flag("keepdims", false),
        }
    }

    pub(super) fn get(&self, inputs: &[Tensor]) -> Result<Shape, String> {
        let rank = inputs.first().map_or(0, Tensor::rank);
        let mut axes: Shape = match self.axes.get(inputs)? {
            Some(list) if !list.is_empty() => list.into_iter().map(|a| axis(a, rank)).collect::<Result<_, _>>()?,
            _ => (0..rank).collect(),
        };
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }

    /// The shape of the result.
    pub(super) fn shape(&self, of: &[usize], axes: &[usize]) -> Shape {
        of.iter()
            .enumerate()
            .filter_map(|(i, &d)| match (axes.contains(&i), self.keepdim) {
                (false, _) => Some(d),
                (true, true) => Some(1),
                (true, false) => None,
            })
            .collect()
    }
}

/// The elements of each result, contiguous.
pub(super) struct Groups {
    pub(super) x: Tensor,
    pub(super) size: usize,
    pub(super) count: usize,
}

impl Groups {
    pub(super) fn new(x: &Tensor, axes: &[usize]) -> Result<Groups, String> {
        let kept = (0..x.rank()).filter(|i| !axes.contains(i));
        let shape: Shape = kept.clone().map(|i| x.shape()[i]).collect();
        let order: Shape = kept.chain(axes.iter().copied()).collect();
        Ok(Groups {
            count: checked_count(&shape, x.dtype().size())?,
            size: axes.iter().map(|&a| x.shape()[a]).product(),
            x: transpose(x, &order)?,
        })
    }

    pub(super) fn each<T: Element, U: Element>(
        &self,
        values: &[T],
        mut f: impl FnMut(&[T]) -> U,
    ) -> Result<Data, String> {
        let group = |at| &values[at * self.size..][..self.size];
        Ok(U::wrap(gathered((0..self.count).map(|at| f(group(at))))?))
    }

    /// A number of each group, computed in double precision.
    fn floats(&self, f: impl Fn(&[f64]) -> f64) -> Result<Data, String> {
        self.each(&self.x.doubles()?, f)?.cast(self.x.dtype())
    }

    /// A number of each group, computed in `i64`.
    fn integers(&self, f: impl Fn(&[i64]) -> i64) -> Result<Data, String> {
        self.each(&self.x.wholes()?, f)?.cast(self.x.dtype())
    }
}

/// A reduction to one element per group.
pub(super) fn reduction(
    s: &Spec<'_>,
    f: impl Fn(Tensor, &[usize]) -> Result<Data, String> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    Ok(Box::new(move |inputs| {
        let over = axes.get(&inputs)?;
        let [x] = take(inputs)?;
        let shape = axes.shape(x.shape(), &over);
        one(Tensor::from_parts(shape, f(x, &over)?))
    }))
}

pub(super) fn sum(x: Tensor, axes: &[usize]) -> Result<Data, String> {
    if x.dtype().is_float() {
        return sum_of_floats(&x, axes, 1.0);
    }
    let groups = Groups::new(&x, axes)?;
    groups.integers(|g| g.iter().fold(0i64, |sum, &v| sum.wrapping_add(v)))
}

/// The sums along axes, divided by a number.
pub(super) fn sum_of_floats(x: &Tensor, axes: &[usize], divisor: f64) -> Result<Data, String> {
    let extents = x.shape();
    // An axis of one element is its sum.
    let mut axes: Shape = axes.iter().copied().filter(|&axis| extents[axis] != 1).collect();
    axes.sort_unstable();
    // Axes with no other ones between them are added up where they are, the last ones first.
    let apart = |pair: &[usize]| extents[pair[0] + 1..pair[1]].iter().any(|&extent| extent != 1);
    let (before, together) = axes.split_at(axes.windows(2).rposition(apart).map_or(0, |at| at + 1));
    let shape = match together {
        [] => [x.len(), 1, 1],
        [first, .., last] | [first @ last] => {
            [&extents[..*first], &extents[*first..=*last], &extents[last + 1..]].map(|extents| extents.iter().product())
        }
    };
    checked_count(&[shape[0], shape[2]], x.dtype().size())?;
    fn sums<T: Element, U: Element>(values: &[T], shape: [usize; 3], divisor: f64) -> Result<Storage<U>, String> {
        Middle { values, shape, divisor }.sums_of(|v, _| v)
    }
    if !before.is_empty() {
        let sums = match x.data() {
            Data::F32(v) => sums(v, shape, 1.0)?,
            Data::F64(v) => sums(v, shape, 1.0)?,
            data => sums(&data.doubles()?, shape, 1.0)?,
        };
        let extent = |(axis, &extent)| if together.contains(&axis) { 1 } else { extent };
        let rest = Tensor::from_parts(extents.iter().enumerate().map(extent).collect(), f64::wrap(sums));
        return sum_of_floats(&rest, before, divisor)?.cast(x.dtype());
    }
    match x.data() {
        Data::F32(v) if shape[2] == 1 => Ok(f32::wrap(rows_of_singles(v, [shape[0], shape[1]], divisor)?)),
        Data::F32(values) => {
            let of = Middle { values, shape, divisor };
            Ok(f32::wrap(of.sums_of_singles()?))
        }
        Data::F64(v) => Ok(f64::wrap(sums(v, shape, divisor)?)),
        data => f64::wrap(sums(&data.doubles()?, shape, divisor)?).cast(x.dtype()),
    }
}

/// The largest of the numbers, each multiplied by a sign. `None` if that may not be the one that comparing them in order
/// gives: where there is NaN.
struct Most<'v> {
    values: &'v [f32],
    sign: f32,
}

impl Task for Most<'_> {
    type Output = Option<f32>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Option<f32> {
        const LANES: usize = 64;
        let mut most = [f32::NEG_INFINITY; LANES];
        let mut apart = [0u32; LANES];
        let (chunks, rest) = self.values.as_chunks::<LANES>();
        for chunk in chunks {
            for (at, &v) in chunk.iter().enumerate() {
                let v = v * self.sign;
                most[at] = if v > most[at] { v } else { most[at] };
                apart[at] |= u32::from(v.is_nan());
            }
        }
        // Halves are compared, since one number after the other would wait for each comparison.
        let mut width = LANES / 2;
        while width > 0 {
            for at in 0..width {
                let other = most[at + width];
                most[at] = if other > most[at] { other } else { most[at] };
            }
            width /= 2;
        }
        let all = most.into_iter().take(1).chain(rest.iter().map(|v| v * self.sign));
        let most = all.reduce(|a, b| if a > b || a.is_nan() { a } else { b })?;
        if most.is_nan() || apart.iter().any(|&n| n != 0) {
            return None;
        }
        match most == 0.0 {
            // The last one, whose sign may be another one than that of the first.
            true => self.values.iter().rev().copied().find(|&v| v == 0.0),
            false => Some(most * self.sign),
        }
    }
}

/// Whether the first number, multiplied by a sign, is larger.
fn wins(a: f64, b: f64, sign: f32) -> bool {
    a * f64::from(sign) > b * f64::from(sign) || a.is_nan()
}

fn best<T: Element>(values: &[T], better: impl Fn(T, T) -> T) -> T {
    values.iter().copied().reduce(better).unwrap_or_default()
}

/// The largest number, or with the sign -1 the smallest.
fn most(values: &[f32], sign: f32) -> f32 {
    let most = simd::run(Most { values, sign });
    most.unwrap_or_else(|| best(values, |a, b| if wins(a.into(), b.into(), sign) { a } else { b }))
}

/// The largest number of each group, or with the sign -1 the smallest.
fn extremum(
    s: &Spec<'_>,
    sign: f32,
    whole: impl Fn(i64, i64) -> i64 + Send + Sync + 'static,
) -> Result<Kernel, String> {
    reduction(s, move |x, over| {
        let groups = Groups::new(&x, over)?;
        if groups.size == 0 && groups.count != 0 {
            return Err("the extremum of an empty set is undefined".to_owned());
        }
        let float = |a, b| if wins(a, b, sign) { a } else { b };
        match groups.x.data() {
            Data::F32(v) => groups.each(v, |values| most(values, sign)),
            data if data.dtype().is_float() => groups.floats(|g| best(g, float)),
            Data::UI64(v) => groups.each(v, |g| best(g, |a, b| of_rank(whole(rank(a), rank(b))))),
            _ => groups.integers(|g| best(g, &whole)),
        }
    })
}

fn truth(s: &Spec<'_>, f: impl Fn(&[bool]) -> bool + Send + Sync + 'static) -> Result<Kernel, String> {
    reduction(s, move |x, axes| {
        let groups = Groups::new(&x.cast(DType::I1)?, axes)?;
        groups.each(groups.x.view::<bool>().unwrap_or_default(), &f)
    })
}

/// Sums to a shape that broadcasts to that of the tensor.
pub(super) fn reduce_as(x: &Tensor, target: &[usize]) -> Result<Tensor, String> {
    if x.shape() == target {
        return Ok(x.clone());
    }
    let lead = x
        .rank()
        .checked_sub(target.len())
        .ok_or("the target has more dimensions than the operand")?;
    let mut axes: Shape = (0..lead).collect();
    for (i, &d) in target.iter().enumerate() {
        if d != x.shape()[lead + i] {
            if d != 1 {
                return Err(format!("shape {:?} cannot be broadcast from {target:?}", x.shape()));
            }
            axes.push(lead + i);
        }
    }
    Ok(Tensor::from_parts(target.into(), sum(x.clone(), &axes)?))
}

/// Broadcasts the result of a reduction back over the reduced axes.
fn spread(x: &Tensor, axes: &[usize], to: &[usize]) -> Result<Tensor, String> {
    let kept: Shape = to
        .iter()
        .enumerate()
        .map(|(i, &d)| if axes.contains(&i) { 1 } else { d })
        .collect();
    expand(&x.clone().reshaped(&kept)?, to)
}

fn extremum_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    Ok(Box::new(move |inputs| {
        let over = axes.get(&inputs)?;
        let [x, out, g] = take(inputs)?;
        let best = spread(&out, &over, x.shape())?.doubles()?;
        let chosen = |(a, b): (f64, &f64)| {
            if a == *b || (a.is_nan() && b.is_nan()) {
                1.0
            } else {
                0.0
            }
        };
        let chosen = gathered(x.doubles()?.iter().copied().zip(best.iter()).map(chosen))?;
        let chosen = Tensor::of(x.shape(), chosen)?;
        let ties = Tensor::from_parts(out.shape().into(), sum(chosen.clone(), &over)?);
        let ties = spread(&ties, &over, x.shape())?.doubles()?;
        let grads = spread(&g, &over, x.shape())?.doubles()?;
        let chosen = chosen.doubles()?;
        let all = chosen.iter().zip(grads.iter().zip(ties.iter()));
        let result = gathered(all.map(|(&c, (g, n))| if c == 0.0 { 0.0 } else { g / n }))?;
        one(Tensor::of(x.shape(), result)?.cast(x.dtype())?)
    }))
}

fn prod_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    Ok(Box::new(move |inputs| {
        let over = axes.get(&inputs)?;
        let [x, _, g] = take::<3>(inputs)?;
        let groups = Groups::new(&x, &over)?;
        let grads = g.own_doubles()?;
        if grads.len() != groups.count {
            return Err(format!(
                "the gradient has {} elements, not {}",
                grads.len(),
                groups.count
            ));
        }
        let values = groups.x.own_doubles()?;
        let mut result = filled(values.len(), 0.0)?;
        // Products of all elements but one, without division: correct for zeros.
        let size = groups.size.max(1);
        for ((group, values), grad) in result
            .chunks_exact_mut(size)
            .zip(values.chunks_exact(size))
            .zip(grads.iter().copied())
        {
            let mut before = 1.0;
            for (r, v) in group.iter_mut().zip(values) {
                *r = before;
                before *= v;
            }
            let mut behind = grad;
            for (r, v) in group.iter_mut().zip(values).rev() {
                *r *= behind;
                behind *= v;
            }
        }
        // Restores the order of the axes.
        let order: Shape = (0..x.rank())
            .filter(|i| !over.contains(i))
            .chain(over.iter().copied())
            .collect();
        let mut back: Shape = order.clone();
        for (at, &from) in order.iter().enumerate() {
            back[from] = at;
        }
        one(transpose(&Tensor::of(groups.x.shape(), result)?, &back)?.cast(x.dtype())?)
    }))
}
