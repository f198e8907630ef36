//! Operations of PaddlePaddle's that no composition makes.

use std::cmp::Ordering;

use pir_dialects::pd;

use super::broadcast::{broadcast, expand};
use super::special::lgamma;
use super::{Kernel, Outputs, Prepare, Spec, attr_dtype, axis, one, take};
use crate::tensor::{DType, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Unique::NAME, |s| slices(s, ["indices", "index", "counts"], true)),
    (pd::UniqueConsecutive::NAME, |s| {
        slices(s, ["", "index", "counts"], false)
    }),
    (pd::Gammaincc::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [a, x] = take(inputs)?;
            let (dtype, shape) = (a.dtype(), broadcast(a.shape(), x.shape())?);
            let [a, x] = [a, x].map(|t| expand(&t, &shape).map(|t| t.to_f64()));
            let values = a?.into_iter().zip(x?).map(|(a, x)| upper_gamma(a, x));
            one(Tensor::new(&shape, values.collect())?.cast(dtype)?)
        }))
    }),
    (pd::Rrelu::NAME, |s| {
        if !s.flag("is_test", false) {
            return Err("`is_test` must be true: random numbers are not drawn".to_owned());
        }
        let slope = f64::from((s.float("lower", 0.125) as f32 + s.float("upper", 1.0 / 3.0) as f32) / 2.0);
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            let values = x.to_f64();
            let slopes: Vec<f64> = values.iter().map(|&x| if x < 0.0 { slope } else { 1.0 }).collect();
            let out = values.iter().zip(&slopes).map(|(x, slope)| x * slope).collect();
            let out = Tensor::new(x.shape(), out)?.cast(x.dtype())?;
            Ok([out, Tensor::new(x.shape(), slopes)?.cast(x.dtype())?]
                .into_iter()
                .collect())
        }))
    }),
];

/// The regularized upper incomplete gamma function: a series where the lower one is small, a continued fraction elsewhere.
fn upper_gamma(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 {
        return f64::NAN;
    }
    if a == 0.0 || x == 0.0 {
        return if a > 0.0 { 1.0 } else { 0.0 };
    }
    if x.is_infinite() || a.is_infinite() {
        return if x.is_infinite() { 0.0 } else { 1.0 };
    }
    let front = (a * x.ln() - x - lgamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - sum * front;
    }
    // By Lentz's method.
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / tiny, 1.0 / b);
    let mut h = d;
    for k in 1..10_000 {
        let an = -f64::from(k) * (f64::from(k) - a);
        b += 2.0;
        let safe = |v: f64| if v.abs() < tiny { tiny } else { v };
        d = 1.0 / safe(an * d + b);
        c = safe(b + an / c);
        h *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    h * front
}

/// Removes duplicates of slices along an axis, or of elements: all duplicates, in sorted order, or only consecutive
/// ones. `names` are those of the results after the first.
fn slices(s: &Spec<'_>, names: [&'static str; 3], in_order: bool) -> Result<Kernel, String> {
    let along = s.ints("axis").and_then(|axes| axes.first().copied());
    let whole = attr_dtype(s, "dtype")
        .filter(|&dtype| dtype == DType::I32)
        .unwrap_or(DType::I64);
    // Their places among the results that are declared.
    let mut at = 0;
    let wanted = names.map(|name| {
        at += usize::from(!name.is_empty());
        !name.is_empty() && !s.is_absent(at)
    });
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let x = match along {
            Some(_) => x,
            None => {
                let count = x.len();
                Tensor::from_parts([count].into_iter().collect(), x.into_parts().1)
            }
        };
        let at = axis(along.unwrap_or(0), x.rank())?;
        let (outer, n, inner) = super::around(x.shape(), at);
        let values = x.to_f64();
        let slice = |k: usize| {
            let values = &values;
            (0..outer).flat_map(move |o| (0..inner).map(move |i| values[(o * n + k) * inner + i]))
        };
        let ordered = |a: usize, b: usize| {
            let pairs = slice(a).zip(slice(b));
            let mut unequal = pairs.map(|(a, b)| a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())));
            unequal.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut order: Vec<usize> = (0..n).collect();
        if in_order {
            order.sort_by(|&a, &b| ordered(a, b));
        }
        let (mut first, mut inverse, mut counts): (Vec<usize>, Vec<i64>, Vec<i64>) =
            (Vec::new(), vec![0; n], Vec::new());
        for (k, &slice) in order.iter().enumerate() {
            if k == 0 || ordered(order[k - 1], slice).is_ne() {
                first.push(slice);
                counts.push(0);
            }
            inverse[slice] = first.len() as i64 - 1;
            if let Some(count) = counts.last_mut() {
                *count += 1;
            }
        }
        let mut out = Outputs::new();
        out.push(super::scatter::selected(&x, at, &first)?);
        let lists = [first.into_iter().map(|k| k as i64).collect(), inverse, counts];
        for (list, wanted) in lists.into_iter().zip(wanted) {
            if wanted {
                out.push(Tensor::new(&[list.len()], list)?.cast(whole)?);
            }
        }
        Ok(out)
    }))
}

#[cfg(test)]
mod tests {
    use super::upper_gamma;

    #[test]
    fn upper_incomplete_gamma_function() {
        // Γ(1, x)/Γ(1) = e⁻ˣ, Γ(2, x)/Γ(2) = (1 + x) e⁻ˣ, on both sides of where the formula changes.
        for x in [0.1f64, 1.0, 2.5, 4.0, 30.0] {
            assert!((upper_gamma(1.0, x) - (-x).exp()).abs() < 1e-14, "{x}");
            assert!((upper_gamma(2.0, x) - (1.0 + x) * (-x).exp()).abs() < 1e-14, "{x}");
        }
        assert_eq!([upper_gamma(1.0, 0.0), upper_gamma(2.0, f64::INFINITY)], [1.0, 0.0]);
        assert!(upper_gamma(-1.0, 1.0).is_nan());
    }
}
