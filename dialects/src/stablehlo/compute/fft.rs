//! The derivative of Fourier transforms.

use pir_ir::{AttrData, Type};

use super::super::fft::{Fft, FftKind};
use super::super::from_pd::dialect;
use super::super::ops;
use super::shape::spread;
use super::{Cx, Results, conjugate, real};
use crate::pd::Expr;

/// The transpose of a Fourier transform.
pub(super) fn vjp<'c>(c: &Cx<'c>, _: &[Expr<'c>], given: &[Expr<'c>]) -> Results<'c> {
    let fft = Fft::read(c.attrs)?;
    let (&[g, ..], x, Some(&length)) = (given, c.x(0), fft.lengths.last()) else {
        return Err("a cotangent is missing".to_owned());
    };
    let transformed = |x: Expr<'c>, kind: &str, ty: Option<Type>| {
        let kind = dialect(c.ctx(), &format!("<fft_type {kind}>"));
        let attrs = [("fft_type", Some(kind)), ("fft_length", c.attrs.get("fft_length"))];
        let attrs: Vec<_> = attrs
            .into_iter()
            .filter_map(|(name, attr)| Some((name, attr?)))
            .collect();
        let made = x.id().map(|x| c.scope.build(ops::Fft::NAME, &[x], &attrs, ty));
        made.and_then(|made| made.first().copied()).unwrap_or(c.scope.nothing())
    };
    Ok(vec![match fft.kind {
        FftKind::Fft => transformed(g, "FFT", g.ty()),
        FftKind::Ifft => transformed(g, "IFFT", g.ty()),
        // The half of a transform of complex numbers.
        FftKind::Rfft => {
            let mut high = vec![0; g.rank()];
            if let (Some(last), Some(&size)) = (high.last_mut(), g.dims().last()) {
                *last = length as i64 - size;
            }
            let none = vec![0; g.rank()];
            let whole = spread(
                g,
                c.scope.full_of(c.ctx().tensor(&[], c.elem()), 0.0),
                &none,
                &high,
                &none,
            );
            real(transformed(whole, "FFT", whole.ty()))
        }
        // Mirrored elements count twice.
        FftKind::Irfft => {
            let out = transformed(g, "RFFT", x.ty());
            let count: usize = fft.lengths.iter().product();
            let size = length / 2 + 1;
            let weight = |at: usize| match at == 0 || 2 * at == length {
                true => 1.0 / count as f64,
                false => 2.0 / count as f64,
            };
            let weights = AttrData::Array((0..size).map(|at| c.ctx().float_attr(weight(at))).collect());
            let weights = c
                .scope
                .assign_value_with(&[size as i64], c.ctx().attr(weights), |o| o.dtype(c.elem()));
            conjugate(out * weights.to(x.elem()))
        }
    }])
}
