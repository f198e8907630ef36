//! Elementwise kernels of floats that run as vectors.

use super::broadcast::{TILE, through};
use super::math::{Math, TURNS, single};
use super::pieces::{self, Pieces};
use super::{Kernel, Outputs, Spec, one, take};
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::buffer::{Buffer, stale};
use crate::tensor::subnormal::Flush;
use crate::tensor::{DType, Data, Element, Part, Storage, Tensor};

/// The number of elements that a thread computes at once.
const PART: usize = 8 * TILE;

/// A function of one number, computed in double precision without branches.
pub(crate) trait Function: Copy + Sync {
    /// Its value.
    fn at<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, x: f64) -> f64;

    /// Whether it is computed so; else it is computed by [`Function::apart`].
    #[inline(always)]
    fn ordinary(self, _: f64) -> bool {
        true
    }

    /// Its value for a number that is not ordinary.
    fn apart(self, x: f64) -> f64 {
        x
    }

    /// Whether it has a form in single precision, for processors that fuse multiplication and addition.
    const SINGLE: bool = false;

    /// The function in single precision.
    #[inline(always)]
    fn single(self, x: f32) -> f32 {
        x
    }

    /// Whether that form has an accurate result.
    #[inline(always)]
    fn fits(self, _: f32) -> bool {
        true
    }

    /// A faster form in single precision, for processors that look up numbers in registers.
    const PIECES: Option<&'static Pieces> = None;
}

/// A [`Function`] from an expression with [`Math`]: `function!(|m, x| x * m.sigmoid(x))`; captured numbers come first,
/// `function!([slope] |m, x| m.exp(slope * x))`, and last its form in single precision, the numbers that it is for, and its
/// form on [`Pieces`].
macro_rules! function {
    ($([$($name:ident),*])? |$m:ident, $x:ident| $value:expr $(; |$y:ident| $single:expr, $fits:expr $(; $pieces:expr)?)?) => {{
        #[derive(Clone, Copy)]
        struct This {
            $($($name: f64,)*)?
        }
        impl $crate::kernels::vector::Function for This {
            #[inline(always)]
            #[allow(unused_variables, reason = "some functions use no elementary ones")]
            fn at<const FMA: bool, const WIDE: bool>(self, $m: $crate::kernels::math::Math<FMA, WIDE>, $x: f64) -> f64 {
                $($(let $name = self.$name;)*)?
                $value
            }
            $(
                const SINGLE: bool = true;

                #[inline(always)]
                fn single(self, $y: f32) -> f32 {
                    $single
                }

                #[inline(always)]
                #[allow(unused_variables, reason = "some forms are for all numbers")]
                fn fits(self, $y: f32) -> bool {
                    $fits
                }

                $(const PIECES: Option<&'static $crate::kernels::pieces::Pieces> = Some($pieces);)?
            )?
        }
        This { $($($name,)*)? }
    }};
}
pub(crate) use function;

/// A float that is computed as `f64`.
pub(crate) trait Lane: Part + Flush {
    /// Whether all digits of the result count.
    const WIDE: bool;

    /// Applies a function to each number.
    fn each(span: Span<'_, Self>, f: impl Function) {
        simd::run(Each(span, f));
    }

    /// The numbers, if they are in single precision.
    #[inline(always)]
    fn singles(_: &[Self]) -> Option<&[f32]> {
        None
    }

    /// The same for changing them.
    #[inline(always)]
    fn singles_mut(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }

    /// Whether a number fits the form of a function in single precision.
    #[inline(always)]
    fn fits(self, _: impl Function) -> bool {
        false
    }

    /// The value of that form.
    #[inline(always)]
    fn single(self, _: impl Function) -> Self {
        self
    }
}

impl Lane for f32 {
    const WIDE: bool = false;

    fn each(span: Span<'_, Self>, f: impl Function) {
        pieces::each(span, f);
    }

    #[inline(always)]
    fn singles(values: &[Self]) -> Option<&[f32]> {
        Some(values)
    }

    #[inline(always)]
    fn singles_mut(values: &mut [Self]) -> Option<&mut [f32]> {
        Some(values)
    }

    #[inline(always)]
    fn fits(self, f: impl Function) -> bool {
        f.fits(self)
    }

    #[inline(always)]
    fn single(self, f: impl Function) -> Self {
        f.single(self)
    }
}

impl Lane for f64 {
    const WIDE: bool = true;
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
pub(super) fn is_nan<T: PartialEq + Copy>(v: T) -> bool {
    v != v
}

/// Some elements of a tensor, the place for the results, and the bound of subnormal numbers, which become zeros.
pub(crate) struct Span<'v, T: Flush> {
    pub(crate) from: &'v [T],
    pub(crate) to: &'v mut [T],
    pub(crate) mask: T::Mask,
}

/// Applies a function to each number of a span.
pub(super) struct Each<'v, T: Flush, F>(pub(super) Span<'v, T>, pub(super) F);

/// Applies a function to the numbers of a span; whether all of them fit it. A closure in its place might be left out of line, where it is
/// not compiled for the instruction set.
macro_rules! fill {
    ($span:ident, |$x:ident| $value:expr, $fits:expr) => {{
        let mut all = true;
        for (to, &$x) in $span.to.iter_mut().zip($span.from) {
            all &= $fits;
            *to = $value.flushed($span.mask);
        }
        all
    }};
}

impl<T: Lane, F: Function> Task for Each<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Each(span, f) = self;
        let has_single = F::SINGLE && FMA && !T::WIDE;
        // Most numbers fit, so that what is computed for all in one loop is rarely in vain.
        if match has_single {
            true => fill!(span, |x| single(f, x), x.fits(f) | is_nan(x)),
            false => fill!(span, |x| double::<T, F, FMA>(f, x), f.ordinary(x.wide())),
        } {
            return;
        }
        fill!(
            span,
            |x| match (has_single && (x.fits(f) | is_nan(x)), f.ordinary(x.wide())) {
                (true, _) => single(f, x),
                (_, true) => double::<T, F, FMA>(f, x),
                _ => T::narrow(f.apart(x.wide())),
            },
            true
        );
    }
}

/// The value in single precision. NaN keeps its sign and payload, so that results are bit-identical however operations are grouped.
#[inline(always)]
fn single<T: Lane>(f: impl Function, x: T) -> T {
    if is_nan(x) { x } else { x.single(f) }
}

/// The same in double precision, rounded.
#[inline(always)]
fn double<T: Lane, F: Function, const FMA: bool>(f: F, x: T) -> T {
    let wide = x.wide();
    let y = match T::WIDE {
        true => f.at(Math::<FMA, true>, wide),
        false => f.at(Math::<FMA, false>, wide),
    };
    if is_nan(x) { x } else { T::narrow(y) }
}

/// Applies a function to each number of a tensor, in place if the buffer is unshared. It is `dyn`, so that what surrounds
/// it is compiled once for an element type.
fn tiles<T: Element + Lane>(data: Data, f: &(dyn Fn(Span<'_, T>) + Sync)) -> Result<Data, String> {
    let apply = |from: &[T], to: &mut [T]| f(Span { from, to, mask: T::OFF });
    let mut values = T::shared(data).unwrap_or_else(|| Buffer::from(Storage::default()));
    let work = values.len();
    if let Some(own) = values.get_mut() {
        parallel::chunks(own, PART, work, |_, part| {
            let mut copy = [T::default(); TILE];
            for to in part.chunks_mut(TILE) {
                let from = &mut copy[..to.len()];
                from.copy_from_slice(to);
                apply(from, to);
            }
        });
        return Ok(T::wrap_shared(values));
    }
    let mut out = stale(work)?;
    parallel::chunks(&mut out, PART, work, |first, part| {
        for (to, from) in part.chunks_mut(TILE).zip(values[first..].chunks(TILE)) {
            apply(from, to);
        }
    });
    Ok(T::wrap(out))
}

/// Some elements of a tensor of floats.
pub(crate) enum Floats<'v> {
    F32(Span<'v, f32>),
    F64(Span<'v, f64>),
}

/// Computes a function of each element. It is `dyn`, so that what surrounds it is compiled once for all functions.
pub(crate) type Mapping = Box<dyn Fn(Floats<'_>) + Send + Sync>;

/// Prepares what an operation does with each element.
pub(crate) type PrepareMapping = fn(&Spec<'_>) -> Mapping;

/// Makes a mapping of a function.
pub(super) fn mapping(f: impl Function + Send + 'static) -> Mapping {
    Box::new(move |floats| match floats {
        Floats::F32(span) => f32::each(span, f),
        Floats::F64(span) => f64::each(span, f),
    })
}

/// Applies a function to each float, in place if the buffer is unshared.
pub(super) fn apply(x: Tensor, f: &Mapping) -> Result<Outputs, String> {
    let single = |data| tiles(data, &|span| f(Floats::F32(span)));
    let (shape, data) = x.into_parts();
    let data = match data {
        Data::F32(_) => single(data)?,
        Data::F64(_) => tiles(data, &|span| f(Floats::F64(span)))?,
        // Half precision is computed in single precision and rounded once.
        Data::F16(_) | Data::BF16(_) => through(DType::F32, data, single)?,
        _ => return Err("the operand must have a float element type".to_owned()),
    };
    one(Tensor::from_parts(shape, data))
}

/// The kernel of a function.
pub(super) fn kernel(f: Mapping) -> Kernel {
    Box::new(move |inputs| {
        let [x] = take(inputs)?;
        apply(x, &f)
    })
}

/// A power with a fixed exponent, in single precision.
#[derive(Clone, Copy)]
pub(super) struct Power(pub(super) f64);

impl Function for Power {
    #[inline(always)]
    fn at<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, x: f64) -> f64 {
        // The exponent multiplies the error of the logarithm.
        m.exp(self.0 * Math::<FMA, true>.ln(x))
    }

    #[inline(always)]
    fn ordinary(self, x: f64) -> bool {
        (x > 0.0) & (x < f64::INFINITY) & (self.0.abs() < 1e6)
    }

    fn apart(self, x: f64) -> f64 {
        x.powf(self.0)
    }
}

/// A function with the period `2π`, which has the same name in [`Math`], in [`single`] and as a method of `f64`.
macro_rules! periodic {
    ($name:ident, $function:ident) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl Function for $name {
            #[inline(always)]
            fn at<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, x: f64) -> f64 {
                m.$function(x)
            }

            #[inline(always)]
            fn ordinary(self, x: f64) -> bool {
                x.abs() <= TURNS
            }

            fn apart(self, x: f64) -> f64 {
                x.$function()
            }

            const SINGLE: bool = true;

            #[inline(always)]
            fn single(self, x: f32) -> f32 {
                single::$function(x)
            }

            #[inline(always)]
            fn fits(self, x: f32) -> bool {
                x.abs() <= single::TURNS
            }
        }
    };
}

periodic!(Sin, sin);
periodic!(Cos, cos);

#[cfg(test)]
mod tests {
    use super::super::special;
    use super::*;

    /// The distance of a result from the exact one, in units of the last place of `f32`.
    fn ulps(found: f32, exact: f64) -> f64 {
        if found.is_nan() && exact.is_nan() || found == exact as f32 && found.is_infinite() {
            return 0.0;
        }
        let exponent = exact.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor();
        (f64::from(found) - exact).abs() / (exponent - 23.0).exp2()
    }

    fn values<T: Lane, const N: usize>(from: [T; N], f: impl Function) -> [T; N] {
        let (mut found, mask) = (from, T::OFF);
        let (from, to) = (&from[..], &mut found[..]);
        T::each(Span { from, to, mask }, f);
        found
    }

    /// The largest error for every `step`-th `f32`, with and without fused multiplication and addition.
    fn worst(f: impl Function, exact: fn(f64) -> f64, step: usize) -> f64 {
        let mut worst = 0f64;
        for first in (0..=u32::MAX).step_by(step * 1024) {
            let values: Vec<f32> = (0..1024u32)
                .map_while(|at| first.checked_add(at * step as u32))
                .map(f32::from_bits)
                .collect();
            let mut found = values.clone();
            f32::each(
                Span {
                    from: &values,
                    to: &mut found,
                    mask: f32::OFF,
                },
                f,
            );
            for (&x, &y) in values.iter().zip(&found) {
                let x = f64::from(x);
                worst = worst.max(ulps(y, exact(x)));
                if f.ordinary(x) && !x.is_nan() {
                    worst = worst.max(ulps(f.at(Math::<false, false>, x) as f32, exact(x)));
                }
            }
        }
        worst
    }

    /// The largest error for `f64` from 2^-64 to 2^7, in its units of the last place.
    fn worst_wide(f: impl Function, exact: fn(f64) -> f64) -> f64 {
        let mut worst = 0f64;
        for at in 0..200_000u64 {
            let x = f64::from_bits((0x3bf0_0000_0000_0000 + at * 0x0000_00b0_1234_5678) | (at & 1) << 63);
            let (tile, wanted) = (values([x], f), exact(x));
            for found in [tile[0], f.at(Math::<false, true>, x)] {
                if wanted.is_finite() {
                    let unit = (wanted.abs().log2().floor() - 52.0).exp2();
                    worst = worst.max((found - wanted).abs() / unit);
                } else {
                    assert!(
                        found.is_nan() && wanted.is_nan() || found == wanted,
                        "{found} for {wanted} at {x}"
                    );
                }
            }
        }
        worst
    }

    /// A function without its form in single precision.
    #[derive(Clone, Copy)]
    struct Double<F>(F);

    impl<F: Function> Function for Double<F> {
        #[inline(always)]
        fn at<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, x: f64) -> f64 {
            self.0.at(m, x)
        }

        #[inline(always)]
        fn ordinary(self, x: f64) -> bool {
            self.0.ordinary(x)
        }

        fn apart(self, x: f64) -> f64 {
            self.0.apart(x)
        }
    }

    /// The functions in single precision.
    macro_rules! singles {
        ($($name:ident: |$m:ident, $x:ident| $value:expr; $single:expr, $fits:expr;)*) => {
            $(#[derive(Clone, Copy)]
            struct $name;

            impl Function for $name {
                #[inline(always)]
                fn at<const FMA: bool, const WIDE: bool>(self, $m: Math<FMA, WIDE>, $x: f64) -> f64 {
                    $value
                }

                const SINGLE: bool = true;

                #[inline(always)]
                fn single(self, x: f32) -> f32 {
                    ($single)(x)
                }

                #[inline(always)]
                fn fits(self, x: f32) -> bool {
                    ($fits)(x)
                }
            })*
        };
    }

    fn ordinary(x: f32) -> bool {
        x >= single::LEAST
    }

    /// Functions on pieces, where the processor has the instructions.
    fn on_pieces(step: usize) -> [(&'static str, f64); 2] {
        let tanh = function!(|m, x| m.tanh(x); |x| single::tanh(x), true; &pieces::TANH);
        let gelu = function!(|m, x| x * m.normal(x); |x| single::gelu(x), x >= single::LEAST_GELU; &pieces::GELU);
        [
            ("tanh", worst(tanh, f64::tanh, step)),
            ("gelu", worst(gelu, |x| x * normal(x), step * 7)),
        ]
    }

    singles! {
        SingleTanh: |m, x| m.tanh(x); single::tanh, |_| true;
        SingleSigmoid: |m, x| m.sigmoid(x); single::sigmoid, ordinary;
        SingleSilu: |m, x| x * m.sigmoid(x); single::silu, ordinary;
        SingleLn1p: |m, x| m.ln_1p(x); single::ln_1p, single::has_ln_1p;
        SingleSoftplus: |m, x| m.softplus(x); single::softplus, ordinary;
        SingleErf: |m, x| m.erf(x); single::erf, |_| true;
        SingleExp: |m, x| m.exp(x); |x| single::exp_of_normal(x, 0.0), |x: f32| x.abs() <= -single::LEAST;
        SingleLn: |m, x| m.ln(x); single::ln, single::has_ln;
        SingleGelu: |m, x| x * m.normal(x); single::gelu, |x| x >= single::LEAST_GELU;
    }

    fn normal(x: f64) -> f64 {
        0.5 * special::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
    }

    fn every(step: usize) {
        for (name, error) in [
            ("exp", worst(function!(|m, x| m.exp(x)), f64::exp, step)),
            ("exp_m1", worst(function!(|m, x| m.exp_m1(x)), f64::exp_m1, step)),
            ("ln", worst(function!(|m, x| m.ln(x)), f64::ln, step)),
            ("ln_1p", worst(function!(|m, x| m.ln_1p(x)), f64::ln_1p, step)),
            ("tanh", worst(function!(|m, x| m.tanh(x)), f64::tanh, step)),
            ("sigmoid", worst(function!(|m, x| m.sigmoid(x)), special::sigmoid, step)),
            ("sin", worst(Double(Sin), f64::sin, step)),
            ("cos", worst(Double(Cos), f64::cos, step)),
            ("power", worst(Power(0.75), |x| x.powf(0.75), step)),
            ("power", worst(Power(-3.0), |x| x.powf(-3.0), step)),
        ] {
            assert!(error <= 0.6, "{name}: {error}");
        }
        let silu = |x: f64| x * special::sigmoid(x);
        let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        for (name, error) in [
            ("tanh", worst(SingleTanh, f64::tanh, step)),
            ("sigmoid", worst(SingleSigmoid, special::sigmoid, step)),
            ("silu", worst(SingleSilu, silu, step)),
            ("ln_1p", worst(SingleLn1p, f64::ln_1p, step)),
            ("softplus", worst(SingleSoftplus, softplus, step)),
            ("erf", worst(SingleErf, special::erf, step * 7)),
            ("exp", worst(SingleExp, f64::exp, step)),
            ("ln", worst(SingleLn, f64::ln, step)),
            ("sin", worst(Sin, f64::sin, step)),
            ("cos", worst(Cos, f64::cos, step)),
            ("gelu", worst(SingleGelu, |x| x * normal(x), step * 7)),
        ] {
            println!("{name} in single precision: {error}");
            assert!(error <= 2.0, "{name} in single precision: {error}");
        }
        for (name, error) in on_pieces(step) {
            println!("{name} on pieces: {error}");
            assert!(error <= 2.0, "{name} on pieces: {error}");
        }
        // The exact values are slow to compute.
        for (name, error) in [
            ("erf", worst(function!(|m, x| m.erf(x)), special::erf, step * 7)),
            ("erfc", worst(function!(|m, x| m.erfc(x)), special::erfc, step * 7)),
            ("normal", worst(function!(|m, x| m.normal(x)), normal, step * 7)),
        ] {
            assert!(error <= 0.6, "{name}: {error}");
        }
    }

    #[test]
    fn f32_is_rounded_about_once() {
        every(65_521);
    }

    #[test]
    #[ignore = "takes minutes in release mode"]
    fn f32_is_rounded_about_once_everywhere() {
        every(1);
    }

    #[test]
    fn f64_is_off_by_a_few_units() {
        for (name, error) in [
            ("exp", worst_wide(function!(|m, x| m.exp(x)), f64::exp)),
            ("exp_m1", worst_wide(function!(|m, x| m.exp_m1(x)), f64::exp_m1)),
            ("ln", worst_wide(function!(|m, x| m.ln(x)), f64::ln)),
            ("ln_1p", worst_wide(function!(|m, x| m.ln_1p(x)), f64::ln_1p)),
            ("tanh", worst_wide(function!(|m, x| m.tanh(x)), f64::tanh)),
            ("sigmoid", worst_wide(function!(|m, x| m.sigmoid(x)), special::sigmoid)),
            ("sin", worst_wide(Sin, f64::sin)),
            ("cos", worst_wide(Cos, f64::cos)),
        ] {
            assert!(error <= 4.0, "{name}: {error}");
        }
    }

    #[test]
    fn limits_are_exact() {
        fn at(f: impl Function, x: f64) -> [f64; 2] {
            let ([wide], [single]) = (values([x], f), values([x as f32], f));
            [wide, single.into()]
        }
        #[track_caller]
        fn is(found: [f64; 2], wanted: f64) {
            let same = |y: f64| y.to_bits() == wanted.to_bits() || y.is_nan() && wanted.is_nan();
            assert!(found.into_iter().all(same), "{found:?} for {wanted}");
        }
        let exp = function!(|m, x| m.exp(x));
        let ln = function!(|m, x| m.ln(x));
        let (silu, sigmoid, tanh) = (SingleSilu, SingleSigmoid, SingleTanh);
        is(at(sigmoid, f64::INFINITY), 1.0);
        is(at(sigmoid, f64::NEG_INFINITY), 0.0);
        is(at(silu, f64::INFINITY), f64::INFINITY);
        for x in [0.0, -0.0] {
            is(at(tanh, x), x);
            is(at(silu, x), x);
            is(at(sigmoid, x), 0.5);
        }
        for f in [1.0, -1.0] {
            is(at(tanh, f * f64::INFINITY), f);
            is(at(SingleErf, f * f64::INFINITY), f);
        }
        for x in [0.0, -0.0] {
            is(at(SingleLn1p, x), x);
            is(at(SingleErf, x), x);
            is(at(SingleGelu, x), x);
        }
        is(at(SingleLn1p, -1.0), f64::NEG_INFINITY);
        is(at(SingleLn1p, -1.5), f64::NAN);
        is(at(SingleLn1p, f64::INFINITY), f64::INFINITY);
        is(at(SingleSoftplus, f64::INFINITY), f64::INFINITY);
        is(at(SingleSoftplus, f64::NEG_INFINITY), 0.0);
        is(at(SingleGelu, f64::INFINITY), f64::INFINITY);
        is(at(SingleGelu, f64::NEG_INFINITY), f64::NAN);
        is(at(exp, f64::INFINITY), f64::INFINITY);
        is(at(exp, f64::NEG_INFINITY), 0.0);
        is(at(exp, -0.0), 1.0);
        is(at(function!(|m, x| m.exp_m1(x)), f64::NEG_INFINITY), -1.0);
        is(at(ln, 0.0), f64::NEG_INFINITY);
        is(at(ln, -0.0), f64::NEG_INFINITY);
        is(at(ln, -1.0), f64::NAN);
        is(at(ln, f64::INFINITY), f64::INFINITY);
        is(at(function!(|m, x| m.ln_1p(x)), -1.0), f64::NEG_INFINITY);
        is(at(function!(|m, x| m.ln_1p(x)), f64::INFINITY), f64::INFINITY);
        is(at(function!(|m, x| m.softplus(x)), f64::NEG_INFINITY), 0.0);
        is(at(silu, f64::NEG_INFINITY), f64::NAN);
        is(at(function!(|m, x| x * m.normal(x)), f64::NEG_INFINITY), f64::NAN);
        for f in [1.0, -1.0] {
            is(at(function!(|m, x| m.tanh(x)), f * f64::INFINITY), f);
            is(at(function!(|m, x| m.erf(x)), f * f64::INFINITY), f);
            is(at(Sin, f * f64::INFINITY), f64::NAN);
            is(at(Cos, f * f64::INFINITY), f64::NAN);
        }
        for x in [0.0, -0.0] {
            is(at(function!(|m, x| m.tanh(x)), x), x);
            is(at(function!(|m, x| m.exp_m1(x)), x), x);
            is(at(function!(|m, x| m.ln_1p(x)), x), x);
            is(at(function!(|m, x| m.erf(x)), x), x);
            is(at(Sin, x), x);
        }
        // The smallest numbers.
        let small = f64::from_bits(1);
        let tile = values([small, -745.0, -700.5], function!(|m, x| m.tanh(x)));
        assert_eq!(tile[0], small);
        let tile = values([-745.0, -720.25, small], exp);
        assert_eq!(tile, [small, f64::exp(-720.25), 1.0]);
        let tile = values([small], ln);
        assert_eq!(tile[0], small.ln());
        for sign in [1.0, -1.0] {
            let nan = f64::NAN.copysign(sign);
            let tile = values([nan], function!(|m, x| m.sigmoid(x)));
            assert_eq!(tile[0].to_bits(), nan.to_bits());
        }
    }
}
