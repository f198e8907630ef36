//! Reductions, running sums, and their gradients.

use half::{bf16, f16};

use super::elementwise::{attr_dtype, strides};
use super::{IntList, Kernel, Prepare, Spec, around, axis, one, take};
use crate::tensor::{DType, Data, Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    ("pd.sum", |s| {
        let dtype = s.result_dtype(0)?;
        reduction(s, move |x, axes| {
            let x = if dtype == x.dtype() { x } else { x.cast(dtype) };
            fold(
                &x,
                axes,
                Fold {
                    float: pairwise_sum,
                    whole: |v| v.iter().fold(0, |a: i64, &b| a.wrapping_add(b)),
                },
            )
        })
    }),
    ("pd.mean", |s| {
        reduction(s, |x, axes| {
            let count: usize = axes.iter().map(|&a| x.shape()[a]).product();
            if !x.dtype().is_float() {
                return Err("a mean is of floats".to_owned());
            }
            let n = count as f64;
            map_f64(
                fold(
                    &x,
                    axes,
                    Fold {
                        float: pairwise_sum,
                        whole: |_| 0,
                    },
                )?,
                move |v| v / n,
            )
        })
    }),
    ("pd.prod", |s| {
        let dtype = s.result_dtype(0)?;
        reduction(s, move |x, axes| {
            let x = if dtype == x.dtype() { x } else { x.cast(dtype) };
            fold(
                &x,
                axes,
                Fold {
                    float: |v| v.iter().product(),
                    whole: |v| v.iter().fold(1, |a: i64, &b| a.wrapping_mul(b)),
                },
            )
        })
    }),
    ("pd.max", |s| extremum(s, |a, b| a > b || a.is_nan(), i64::max)),
    ("pd.min", |s| extremum(s, |a, b| a < b || a.is_nan(), i64::min)),
    ("pd.any", |s| truth(s, |v| v.contains(&true))),
    ("pd.all", |s| truth(s, |v| !v.contains(&false))),
    ("pd.argmax", |s| arg_extremum(s, |a, b| a > b)),
    ("pd.argmin", |s| arg_extremum(s, |a, b| a < b)),
    ("pd.cumsum", cumsum),
    ("pd.reduce_as", |s| {
        let shape = s.ints("shape");
        Ok(Box::new(move |inputs| {
            let target: Shape = match (inputs.get(1), &shape) {
                (Some(target), _) => target.shape().into(),
                (None, Some(shape)) => dims(shape)?,
                (None, None) => return Err("it needs a target or a shape".to_owned()),
            };
            let [x] = take(inputs)?;
            one(reduce_as(&x, &target)?)
        }))
    }),
    ("pd.max_grad", extremum_grad),
    ("pd.min_grad", extremum_grad),
    ("pd.prod_grad", prod_grad),
];

/// Dimensions from integers.
pub(super) fn dims(values: &[i64]) -> Result<Shape, String> {
    values
        .iter()
        .map(|&d| usize::try_from(d).map_err(|_| format!("a dimension cannot be {d}")))
        .collect()
}

/// Sums in halves: the error grows with the logarithm of the length.
fn pairwise_sum(values: &[f64]) -> f64 {
    if values.len() <= 64 {
        return values.iter().sum();
    }
    let (a, b) = values.split_at(values.len() / 2);
    pairwise_sum(a) + pairwise_sum(b)
}

struct Axes {
    axes: IntList,
    keepdim: bool,
}

impl Axes {
    fn of(s: &Spec<'_>) -> Axes {
        Axes {
            axes: s.ints_or_operand("axis"),
            keepdim: s.flag("keepdim", false) || s.flag("keepdims", false),
        }
    }

    fn get(&self, inputs: &[Tensor]) -> Result<Vec<usize>, String> {
        let rank = inputs.first().map_or(0, Tensor::rank);
        let mut axes: Vec<usize> = match self.axes.get(inputs)? {
            Some(list) if !list.is_empty() => list.into_iter().map(|a| axis(a, rank)).collect::<Result<_, _>>()?,
            _ => (0..rank).collect(),
        };
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }

    /// The shape of the result.
    fn shape(&self, of: &[usize], axes: &[usize]) -> Shape {
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

/// A reduction that gives one element for each group.
fn reduction(
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

/// Calls `f` with the elements of each group, in order.
fn groups<T: Element>(values: &[T], shape: &[usize], axes: &[usize], mut f: impl FnMut(&[T])) {
    let kept: Vec<usize> = (0..shape.len()).filter(|i| !axes.contains(i)).collect();
    let count: usize = kept.iter().map(|&i| shape[i]).product();
    let size: usize = axes.iter().map(|&i| shape[i]).product();
    let full = strides_of(shape);
    // The groups lie behind each other when the last dimensions are reduced.
    if axes.iter().enumerate().all(|(at, &a)| a == kept.len() + at) {
        for group in 0..count {
            f(&values[group * size..(group + 1) * size]);
        }
        return;
    }
    let place = |mut n: usize, dims: &[usize]| {
        let mut at = 0;
        for &i in dims.iter().rev() {
            at += n % shape[i] * full[i];
            n /= shape[i];
        }
        at
    };
    let offsets: Vec<usize> = (0..size).map(|n| place(n, axes)).collect();
    let mut buffer = Vec::with_capacity(size);
    for group in 0..count {
        let base = place(group, &kept);
        buffer.clear();
        buffer.extend(offsets.iter().map(|&o| values[base + o]));
        f(&buffer);
    }
}

/// How far the place moves along each dimension.
pub(super) fn strides_of(shape: &[usize]) -> Shape {
    let mut out: Shape = shape.into();
    let mut step = 1;
    for (s, &d) in out.iter_mut().zip(shape).rev() {
        *s = step;
        step *= d;
    }
    out
}

struct Fold {
    float: fn(&[f64]) -> f64,
    whole: fn(&[i64]) -> i64,
}

fn fold(x: &Tensor, axes: &[usize], f: Fold) -> Result<Data, String> {
    let kept: Shape = (0..x.rank())
        .filter(|i| !axes.contains(i))
        .map(|i| x.shape()[i])
        .collect();
    checked_count(&kept, x.dtype().size())?;
    fn float<T: Element>(x: &Tensor, v: &[T], axes: &[usize], f: fn(&[f64]) -> f64) -> Data {
        // Floats are summed as doubles and rounded once.
        let wide: Vec<f64> = v.iter().map(|&x| x.to_f64()).collect();
        let mut out: Vec<T> = Vec::new();
        groups(&wide, x.shape(), axes, |g| out.push(T::from_f64(f(g))));
        T::wrap(out)
    }
    fn whole<T: Element>(x: &Tensor, v: &[T], axes: &[usize], f: fn(&[i64]) -> i64) -> Data {
        let wide: Vec<i64> = v.iter().map(|&x| x.to_i64()).collect();
        let mut out: Vec<T> = Vec::new();
        groups(&wide, x.shape(), axes, |g| out.push(T::from_i64(f(g))));
        T::wrap(out)
    }
    Ok(if x.dtype().is_float() {
        crate::each_type!(x.data(), v => float(x, v, axes, f.float))
    } else {
        crate::each_type!(x.data(), v => whole(x, v, axes, f.whole))
    })
}

fn map_f64(data: Data, f: impl Fn(f64) -> f64) -> Result<Data, String> {
    Ok(match data {
        Data::F32(v) => f32::wrap(v.iter().map(|&x| f(x.into()) as f32).collect()),
        Data::F64(v) => f64::wrap(v.iter().map(|&x| f(x)).collect()),
        Data::F16(v) => f16::wrap(v.iter().map(|&x| f16::from_f64(f(x.to_f64()))).collect()),
        Data::BF16(v) => bf16::wrap(v.iter().map(|&x| bf16::from_f64(f(x.to_f64()))).collect()),
        _ => return Err("the operand must hold floats".to_owned()),
    })
}

fn extremum(s: &Spec<'_>, wins: fn(f64, f64) -> bool, whole: fn(i64, i64) -> i64) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    Ok(Box::new(move |inputs| {
        let over = axes.get(&inputs)?;
        let [x] = take(inputs)?;
        let shape = axes.shape(x.shape(), &over);
        if over.iter().any(|&a| x.shape()[a] == 0) && !shape.contains(&0) {
            return Err("there is no extremum of nothing".to_owned());
        }
        fn float<T: Element>(x: &Tensor, v: &[T], over: &[usize], wins: fn(f64, f64) -> bool) -> Data {
            let mut out: Vec<T> = Vec::new();
            groups(v, x.shape(), over, |g| {
                out.push(
                    g.iter()
                        .copied()
                        .reduce(|a, b| if wins(a.to_f64(), b.to_f64()) { a } else { b })
                        .unwrap_or_default(),
                );
            });
            T::wrap(out)
        }
        fn int<T: Element>(x: &Tensor, v: &[T], over: &[usize], f: fn(i64, i64) -> i64) -> Data {
            let mut out: Vec<T> = Vec::new();
            groups(v, x.shape(), over, |g| {
                out.push(T::from_i64(g.iter().map(|&v| v.to_i64()).reduce(f).unwrap_or_default()))
            });
            T::wrap(out)
        }
        let data = if x.dtype().is_float() {
            crate::each_type!(x.data(), v => float(&x, v, &over, wins))
        } else {
            crate::each_type!(x.data(), v => int(&x, v, &over, whole))
        };
        one(Tensor::from_parts(shape, data))
    }))
}

fn truth(s: &Spec<'_>, f: fn(&[bool]) -> bool) -> Result<Kernel, String> {
    reduction(s, move |x, axes| {
        let x = x.cast(DType::I1);
        let mut out: Vec<bool> = Vec::new();
        groups(x.view::<bool>().unwrap_or_default(), x.shape(), axes, |g| {
            out.push(f(g))
        });
        Ok(bool::wrap(out))
    })
}

fn arg_extremum(s: &Spec<'_>, wins: fn(f64, f64) -> bool) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    let flatten = s.flag("flatten", false) || matches!(axes.axes, IntList::Missing);
    let dtype = attr_dtype(s, "dtype").unwrap_or(DType::I64);
    Ok(Box::new(move |inputs| {
        let over = if flatten {
            (0..inputs.first().map_or(0, Tensor::rank)).collect()
        } else {
            axes.get(&inputs)?
        };
        let [x] = take(inputs)?;
        let shape = axes.shape(x.shape(), &over);
        if over.iter().any(|&a| x.shape()[a] == 0) {
            return Err("there is no extremum of nothing".to_owned());
        }
        let values = x.to_f64();
        let mut out: Vec<i64> = Vec::new();
        groups(&values, x.shape(), &over, |g| {
            let mut best = 0;
            for (i, &v) in g.iter().enumerate() {
                // The first of equals; a NaN is beyond everything.
                if wins(v, g[best]) || (v.is_nan() && !g[best].is_nan()) {
                    best = i;
                }
            }
            out.push(best as i64);
        });
        one(Tensor::from_parts(shape, i64::wrap(out)).cast(dtype))
    }))
}

fn cumsum(s: &Spec<'_>) -> Result<Kernel, String> {
    let (flatten, exclusive, reverse) = (
        s.flag("flatten", false),
        s.flag("exclusive", false),
        s.flag("reverse", false),
    );
    let at = s.ints_or_operand("axis");
    Ok(Box::new(move |inputs| {
        let at = at.get(&inputs)?.and_then(|v| v.first().copied()).unwrap_or(-1);
        let [mut x] = take(inputs)?;
        if flatten {
            let n = x.len();
            x = x.reshaped(&[n])?;
        }
        if x.rank() == 0 {
            return one(x);
        }
        let (outer, n, inner) = around(x.shape(), axis(at, x.rank())?);
        fn run<T: Element>(v: &[T], (outer, n, inner): (usize, usize, usize), exclusive: bool, reverse: bool) -> Data {
            let mut out = v.to_vec();
            let float = T::DTYPE.is_float();
            for o in 0..outer {
                for i in 0..inner {
                    let (mut sum, mut whole) = (0.0, 0i64);
                    for k in 0..n {
                        let k = if reverse { n - 1 - k } else { k };
                        let at = (o * n + k) * inner + i;
                        let before = if float { T::from_f64(sum) } else { T::from_i64(whole) };
                        sum += v[at].to_f64();
                        whole = whole.wrapping_add(v[at].to_i64());
                        let after = if float { T::from_f64(sum) } else { T::from_i64(whole) };
                        out[at] = if exclusive { before } else { after };
                    }
                }
            }
            T::wrap(out)
        }
        let data = crate::each_type!(x.data(), v => run(v, (outer, n, inner), exclusive, reverse));
        one(Tensor::from_parts(x.shape().into(), data))
    }))
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
    let mut axes: Vec<usize> = (0..lead).collect();
    for (i, &d) in target.iter().enumerate() {
        if d != x.shape()[lead + i] {
            if d != 1 {
                return Err(format!("shape {:?} is not broadcast from {target:?}", x.shape()));
            }
            axes.push(lead + i);
        }
    }
    let f = Fold {
        float: pairwise_sum,
        whole: |v| v.iter().fold(0, |a: i64, &b| a.wrapping_add(b)),
    };
    Ok(Tensor::from_parts(target.into(), fold(x, &axes, f)?))
}

/// For each element of `x`, the place of its group in the result of a reduction.
fn group_of(x: &[usize], axes: &[usize]) -> Vec<usize> {
    let kept: Shape = x
        .iter()
        .enumerate()
        .map(|(i, &d)| if axes.contains(&i) { 1 } else { d })
        .collect();
    let s = strides(&kept, x);
    let count: usize = x.iter().product();
    let full = strides_of(x);
    (0..count)
        .map(|n| (0..x.len()).map(|i| n / full[i] % x[i] * s[i]).sum())
        .collect()
}

fn extremum_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    Ok(Box::new(move |inputs| {
        let over = axes.get(&inputs)?;
        let [x, out, g] = take(inputs)?;
        let (values, best, grads) = (x.to_f64(), out.to_f64(), g.to_f64());
        let group = group_of(x.shape(), &over);
        let is_best = |n: usize| values[n] == best[group[n]] || (values[n].is_nan() && best[group[n]].is_nan());
        let mut ties = vec![0.0; best.len()];
        for n in 0..values.len() {
            if is_best(n) {
                ties[group[n]] += 1.0;
            }
        }
        let result = (0..values.len())
            .map(|n| {
                if is_best(n) {
                    grads[group[n]] / ties[group[n]]
                } else {
                    0.0
                }
            })
            .collect();
        one(Tensor::from_parts(x.shape().into(), f64::wrap(result)).cast(x.dtype()))
    }))
}

fn prod_grad(s: &Spec<'_>) -> Result<Kernel, String> {
    let axes = Axes::of(s);
    Ok(Box::new(move |inputs| {
        let over = axes.get(&inputs)?;
        let [x, _, g] = take::<3>(inputs)?;
        let (values, grads) = (x.to_f64(), g.to_f64());
        let group = group_of(x.shape(), &over);
        let count = group.iter().max().map_or(0, |m| m + 1);
        // Products of everything but one element, without dividing: zeros are right as well.
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (n, &at) in group.iter().enumerate() {
            members[at].push(n);
        }
        let mut result = vec![0.0; values.len()];
        for (at, list) in members.iter().enumerate() {
            let mut before = 1.0;
            for &n in list {
                result[n] = before;
                before *= values[n];
            }
            let mut behind = grads[at];
            for &n in list.iter().rev() {
                result[n] *= behind;
                behind *= values[n];
            }
        }
        one(Tensor::from_parts(x.shape().into(), f64::wrap(result)).cast(x.dtype()))
    }))
}
