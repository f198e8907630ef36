//! Elementwise kernels of floats that run as vectors.

use super::broadcast::{TILE, through};
use super::math::{Math, TURNS};
use super::{Kernel, Outputs, Spec, one, take};
use crate::parallel;
use crate::simd::{self, Task};
use crate::tensor::buffer::{Buffer, room, stale};
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
}

/// A [`Function`] from an expression with [`Math`]: `function!(|m, x| x * m.sigmoid(x))`; captured numbers come first,
/// `function!([slope] |m, x| m.exp(slope * x))`, and last its form in single precision and the numbers that it is for.
macro_rules! function {
    ($([$($name:ident),*])? |$m:ident, $x:ident| $value:expr $(; |$y:ident| $single:expr, $fits:expr)?) => {{
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
            )?
        }
        This { $($($name,)*)? }
    }};
}
pub(crate) use function;

/// A float that is computed as `f64`.
pub(crate) trait Lane: Part {
    /// Whether all digits of the result count.
    const WIDE: bool;

    /// The numbers, if they are in single precision.
    #[inline(always)]
    fn singles(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }

    /// Applies the form of a function in single precision; false if there is none for this type.
    #[inline(always)]
    fn single<const FMA: bool, F: Function>(_: &mut [Self], _: F) -> bool {
        false
    }
}

impl Lane for f32 {
    const WIDE: bool = false;

    #[inline(always)]
    fn singles(values: &mut [Self]) -> Option<&mut [f32]> {
        Some(values)
    }

    #[inline(always)]
    fn single<const FMA: bool, F: Function>(values: &mut [Self], f: F) -> bool {
        if !F::SINGLE || !FMA {
            return false;
        }
        let one = |x: f32| if x.is_nan() { x } else { f.single(x) };
        if values.iter().fold(true, |all, &x| all & (f.fits(x) | x.is_nan())) {
            for v in values {
                *v = one(*v);
            }
        } else {
            for v in values {
                *v = match f.fits(*v) | v.is_nan() {
                    true => one(*v),
                    false => value::<f32, F, FMA>(f, v.wide()) as f32,
                };
            }
        }
        true
    }
}

impl Lane for f64 {
    const WIDE: bool = true;
}

struct Each<'v, T, F>(&'v mut [T], F);

impl<T: Lane, F: Function> Task for Each<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Each(values, f) = self;
        if T::single::<FMA, F>(values, f) {
            return;
        }
        if values.iter().fold(true, |all, &v| all & f.ordinary(v.wide())) {
            for v in values {
                *v = T::narrow(value::<T, F, FMA>(f, v.wide()));
            }
        } else {
            for v in values {
                let x = v.wide();
                *v = T::narrow(if f.ordinary(x) {
                    value::<T, F, FMA>(f, x)
                } else {
                    f.apart(x)
                });
            }
        }
    }
}

#[inline(always)]
fn value<T: Lane, F: Function, const FMA: bool>(f: F, x: f64) -> f64 {
    let y = match T::WIDE {
        true => f.at(Math::<FMA, true>, x),
        false => f.at(Math::<FMA, false>, x),
    };
    // NaN keeps its sign and payload, so that results are bit-identical however operations are grouped.
    if x.is_nan() { x } else { y }
}

/// Applies a function to each number, in place.
pub(crate) fn each<T: Lane>(values: &mut [T], f: impl Function) {
    simd::run(Each(values, f));
}

/// Changes the elements tile by tile, in place if the buffer is unshared. The function is `dyn`, so that what surrounds
/// it is compiled once for an element type.
fn tiles<T: Element>(data: Data, f: &(dyn Fn(&mut [T]) + Sync)) -> Result<Data, String> {
    let mut values = T::shared(data).unwrap_or_else(|| Buffer::from(Storage::default()));
    let work = values.len();
    if let Some(own) = values.get_mut() {
        parallel::chunks(own, PART, work, |_, part| part.chunks_mut(TILE).for_each(f));
        return Ok(T::wrap_shared(values));
    }
    if parallel::pays(work) {
        let mut out = stale(work)?;
        parallel::chunks(&mut out, PART, work, |first, part| {
            for (tile, from) in part.chunks_mut(TILE).zip(values[first..].chunks(TILE)) {
                tile.copy_from_slice(&from[..tile.len()]);
                f(tile);
            }
        });
        return Ok(T::wrap(out));
    }
    let mut out = room(values.len())?;
    for tile in values.chunks(TILE) {
        let start = out.len();
        out.extend_from_slice(tile);
        f(&mut out[start..]);
    }
    Ok(T::wrap(out))
}

/// Some elements of a tensor.
pub(crate) enum Span<'v> {
    F32(&'v mut [f32]),
    F64(&'v mut [f64]),
}

/// Changes each element. It is `dyn`, so that what surrounds it is compiled once for all functions.
pub(crate) type Mapping = Box<dyn Fn(Span<'_>) + Send + Sync>;

/// Prepares what an operation does with each element.
pub(crate) type PrepareMapping = fn(&Spec<'_>) -> Mapping;

/// Makes a mapping of a function.
pub(super) fn mapping(f: impl Function + Send + 'static) -> Mapping {
    Box::new(move |span| match span {
        Span::F32(values) => each(values, f),
        Span::F64(values) => each(values, f),
    })
}

/// Applies a function to each float, in place if the buffer is unshared.
pub(super) fn apply(x: Tensor, f: &Mapping) -> Result<Outputs, String> {
    let single = |data| tiles::<f32>(data, &|tile| f(Span::F32(tile)));
    let (shape, data) = x.into_parts();
    let data = match data {
        Data::F32(_) => single(data)?,
        Data::F64(_) => tiles::<f64>(data, &|tile| f(Span::F64(tile)))?,
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

#[derive(Clone, Copy)]
pub(crate) struct Sin;

impl Function for Sin {
    #[inline(always)]
    fn at<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, x: f64) -> f64 {
        m.sin(x)
    }

    #[inline(always)]
    fn ordinary(self, x: f64) -> bool {
        x.abs() <= TURNS
    }

    fn apart(self, x: f64) -> f64 {
        x.sin()
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Cos;

impl Function for Cos {
    #[inline(always)]
    fn at<const FMA: bool, const WIDE: bool>(self, m: Math<FMA, WIDE>, x: f64) -> f64 {
        m.cos(x)
    }

    #[inline(always)]
    fn ordinary(self, x: f64) -> bool {
        x.abs() <= TURNS
    }

    fn apart(self, x: f64) -> f64 {
        x.cos()
    }
}

#[cfg(test)]
mod tests {
    use super::super::math::single;
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

    /// The largest error for every `step`-th `f32`, with and without fused multiplication and addition.
    fn worst(f: impl Function, exact: fn(f64) -> f64, step: usize) -> f64 {
        let mut worst = 0f64;
        for first in (0..=u32::MAX).step_by(step * 1024) {
            let values: Vec<f32> = (0..1024u32)
                .map_while(|at| first.checked_add(at * step as u32))
                .map(f32::from_bits)
                .collect();
            let mut found = values.clone();
            each(&mut found, f);
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
            let (mut tile, wanted) = ([x], exact(x));
            each(&mut tile, f);
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
                    $single(x)
                }

                #[inline(always)]
                fn fits(self, x: f32) -> bool {
                    $fits(x)
                }
            })*
        };
    }

    fn ordinary(x: f32) -> bool {
        x >= single::LEAST
    }

    singles! {
        SingleTanh: |m, x| m.tanh(x); single::tanh, |_| true;
        SingleSigmoid: |m, x| m.sigmoid(x); single::sigmoid, ordinary;
        SingleSilu: |m, x| x * m.sigmoid(x); single::silu, ordinary;
        SingleLn1p: |m, x| m.ln_1p(x); single::ln_1p, single::has_ln_1p;
        SingleSoftplus: |m, x| m.softplus(x); single::softplus, ordinary;
        SingleErf: |m, x| m.erf(x); single::erf, |_| true;
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
            ("sin", worst(Sin, f64::sin, step)),
            ("cos", worst(Cos, f64::cos, step)),
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
            ("gelu", worst(SingleGelu, |x| x * normal(x), step * 7)),
        ] {
            println!("{name} in single precision: {error}");
            assert!(error <= 2.0, "{name} in single precision: {error}");
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
            let (mut wide, mut single) = ([x], [x as f32]);
            each(&mut wide, f);
            each(&mut single, f);
            [wide[0], single[0].into()]
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
        let mut tile = [small, -745.0, -700.5];
        each(&mut tile, function!(|m, x| m.tanh(x)));
        assert_eq!(tile[0], small);
        let mut tile = [-745.0, -720.25, small];
        each(&mut tile, exp);
        assert_eq!(tile, [small, f64::exp(-720.25), 1.0]);
        let mut tile = [small];
        each(&mut tile, ln);
        assert_eq!(tile[0], small.ln());
        for sign in [1.0, -1.0] {
            let nan = f64::NAN.copysign(sign);
            let mut tile = [nan];
            each(&mut tile, function!(|m, x| m.sigmoid(x)));
            assert_eq!(tile[0].to_bits(), nan.to_bits());
        }
    }
}
