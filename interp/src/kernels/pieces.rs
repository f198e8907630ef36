//! Functions by polynomials on pieces, in single precision, for processors that look up one of 32 numbers in two registers (AVX-512).
//!
//! There is no exponential and no division; each coefficient of the polynomial is a table of 32 numbers, so that it does not pay
//! without an instruction for such tables.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::LazyLock;

use super::special::erfc;
use super::vector::{Each, Function, Span};
use crate::simd;

/// The pieces: as many as numbers in two registers.
const PIECES: usize = 32;
/// The coefficients of a polynomial.
const TERMS: usize = 7;

/// Coefficients of the same power for all pieces; the highest power first.
type Terms = [[f32; PIECES]; TERMS];

/// How a function of `x` follows from the one on pieces, `p`, of the absolute value of `x`.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// `p` with the sign of `x`.
    Odd,
    /// `max(x, 0) - p`, for `x` not below a number.
    From(f32),
}

/// A function that is a polynomial on each of 31 pieces, and constant beyond them.
pub(crate) struct Pieces {
    /// The distance of their middles, the first of which is zero. It has so few digits that its multiples are exact.
    width: f32,
    form: Form,
    terms: LazyLock<Terms>,
}

/// `tanh`, which is one from nine on.
pub(super) static TANH: Pieces = Pieces {
    width: 19.0 / 64.0,
    form: Form::Odd,
    terms: LazyLock::new(|| terms(TANH.width, 1.0, f64::tanh)),
};

/// `x Φ(x)`, where `Φ` is the distribution function of the normal distribution. Beyond the pieces, `Φ(x)` is one.
pub(super) static GELU: Pieces = Pieces {
    width: 23.0 / 128.0,
    form: Form::From(-30.5 * 23.0 / 128.0),
    terms: LazyLock::new(|| terms(GELU.width, 0.0, |a| 0.5 * a * erfc(a * FRAC_1_SQRT_2))),
};

/// The polynomials that have the values of a function, which is zero at zero, at the zeros of a Chebyshev polynomial.
fn terms(width: f32, limit: f32, f: impl Fn(f64) -> f64) -> Terms {
    let mut all = [[0.0; PIECES]; TERMS];
    all[TERMS - 1][PIECES - 1] = limit;
    let width = f64::from(width);
    for piece in 0..PIECES - 1 {
        // On the first one, which has no numbers below its middle, it is a multiple of the number, and has as many digits.
        let first = piece == 0;
        let count = TERMS - usize::from(first);
        let nodes = (0..count).map(|at| {
            let zero = (PI * (at as f64 + 0.5) / count as f64).cos();
            0.5 * width * if first { 0.5 * (1.0 + zero) } else { zero }
        });
        let points = nodes.map(|d| (d, f(width * piece as f64 + d) / if first { d } else { 1.0 }));
        for (term, row) in interpolated(points)
            .into_iter()
            .zip(all.iter_mut().rev().skip(TERMS - count))
        {
            row[piece] = term as f32;
        }
    }
    all
}

/// The coefficients, lowest power first, of the polynomial through some points, by Newton's formula.
fn interpolated(points: impl Iterator<Item = (f64, f64)>) -> [f64; TERMS] {
    let (mut sum, mut product) = ([0.0; TERMS], [0.0; TERMS]);
    product[0] = 1.0;
    let at = |polynomial: &[f64; TERMS], x: f64| polynomial.iter().rev().fold(0.0, |value, term| value * x + term);
    for (x, y) in points {
        let factor = (y - at(&sum, x)) / at(&product, x);
        for (to, term) in sum.iter_mut().zip(product) {
            *to += factor * term;
        }
        let mut lower = 0.0;
        for term in &mut product {
            (lower, *term) = (*term, lower - x * *term);
        }
    }
    sum
}

/// Applies a function to each number, by pieces if it has some and the processor is one of those.
pub(super) fn each<F: Function>(span: Span<'_, f32>, f: F) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(pieces), Some(simd)) = (F::PIECES, *wide::V4) {
        return simd.vectorize(wide::Wide { simd, pieces, span, f });
    }
    simd::run(Each(span, f));
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::sync::LazyLock;

    use pulp::{NullaryFnOnce, Simd, cast, f32x16, x86, x86::V4 as Instructions};

    use super::{Form, PIECES, Pieces, TERMS};
    use crate::kernels::math::single::ROUND;
    use crate::kernels::vector::{Each, Function, Span};
    use crate::simd::Task;
    use crate::tensor::subnormal::Flush;

    /// The instructions, on a processor that has them.
    pub(super) static V4: LazyLock<Option<Instructions>> = LazyLock::new(x86::V4::try_new);

    const LANES: usize = 16;

    pub(super) struct Wide<'v, F> {
        pub(super) simd: Instructions,
        pub(super) pieces: &'static Pieces,
        pub(super) span: Span<'v, f32>,
        pub(super) f: F,
    }

    impl<F: Function> NullaryFnOnce for Wide<'_, F> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let Wide { simd, pieces, span, f } = self;
            let mut tables = [[simd.splat_f32s(0.0); 2]; TERMS];
            for (table, row) in tables.iter_mut().zip(&*pieces.terms) {
                *table = cast::<[f32; PIECES], _>(*row);
            }
            let at = At {
                simd,
                tables,
                width: pieces.width,
                form: pieces.form,
                mask: span.mask,
            };
            let ((from, from_rest), (to, to_rest)) = (span.from.as_chunks(), span.to.as_chunks_mut());
            for (from, to) in from.iter().zip(to) {
                at.put(from, to, f);
            }
            if !from_rest.is_empty() {
                let (mut from, mut to) = ([0.0; LANES], [0.0; LANES]);
                from[..from_rest.len()].copy_from_slice(from_rest);
                at.put(&from, &mut to, f);
                to_rest.copy_from_slice(&to[..from_rest.len()]);
            }
        }
    }

    /// A function at sixteen numbers.
    #[derive(Clone, Copy)]
    struct At {
        simd: Instructions,
        tables: [[f32x16; 2]; TERMS],
        width: f32,
        form: Form,
        /// The bits that stay of a subnormal number.
        mask: u32,
    }

    impl At {
        #[inline(always)]
        fn put<F: Function>(self, from: &[f32; LANES], to: &mut [f32; LANES], f: F) {
            let simd = self.simd;
            let x: f32x16 = cast(*from);
            let y = self.flushed(self.value(x));
            *to = cast(y);
            if let Form::From(least) = self.form {
                let below = simd.less_than_f32s(x, simd.splat_f32s(least));
                if below.0 != 0 {
                    let (to_all, mask) = (&mut [0.0; LANES], self.mask);
                    let span = Span { from, to: to_all, mask };
                    Each(span, f).run::<true>();
                    *to = cast(simd.select_f32s(below, cast(*to_all), y));
                }
            }
        }

        /// The function where it is one on pieces.
        #[inline(always)]
        fn value(self, x: f32x16) -> f32x16 {
            let simd = self.simd;
            // The second operand is what NaN stays as.
            let a = simd.min_f32s(simd.splat_f32s((PIECES - 1) as f32 * self.width), simd.abs_f32s(x));
            let rounded = simd.mul_add_f32s(a, simd.splat_f32s(1.0 / self.width), simd.splat_f32s(ROUND));
            let d = simd.mul_add_f32s(
                simd.sub_f32s(rounded, simd.splat_f32s(ROUND)),
                simd.splat_f32s(-self.width),
                a,
            );
            let mut p = simd.splat_f32s(0.0);
            // By loops: closures, and what takes them, might be left out of line, where they are not compiled for the instruction set.
            for [low, high] in self.tables {
                // Of an index, the five low bits count.
                let term = simd
                    .avx512f
                    ._mm512_permutex2var_ps(cast(low), cast(rounded), cast(high));
                p = simd.mul_add_f32s(p, d, cast(term));
            }
            match self.form {
                Form::Odd => simd.or_f32s(p, simd.and_f32s(x, simd.splat_f32s(-0.0))),
                Form::From(_) => simd.sub_f32s(simd.max_f32s(simd.splat_f32s(0.0), x), p),
            }
        }

        /// As [`flushed`](crate::tensor::subnormal::Flush::flushed).
        #[inline(always)]
        fn flushed(self, y: f32x16) -> f32x16 {
            let simd = self.simd;
            let exponent = simd.and_u32s(simd.transmute_u32s_f32s(y), simd.splat_u32s(<f32 as Flush>::EXPONENT));
            let small = simd.equal_u32s(exponent, simd.splat_u32s(0));
            simd.select_f32s(small, simd.and_f32s(y, simd.splat_f32s(f32::from_bits(self.mask))), y)
        }
    }
}
