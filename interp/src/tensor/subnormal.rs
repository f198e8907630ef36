//! Subnormal numbers, which most processors compute with a hundred times slower than with others.
//!
//! The processor's mode for treating them as zeros is not used: code of Rust that runs under another than the default
//! mode is undefined, and processors differ in which operands and results they replace.

use super::{Data, Tensor};
use crate::parallel;
use crate::simd::{self, Task};

/// The number of elements that are searched before they are changed: they are in the nearest cache then.
const TILE: usize = 1024;
/// The number of elements that a thread searches at once.
const PART: usize = 1 << 16;

/// A float whose subnormal numbers are replaced.
pub(crate) trait Flush: Copy {
    /// Whether it is neither zero nor as large as the smallest normal number.
    fn is_small(self) -> bool;
    /// Zero with the same sign.
    fn zero(self) -> Self;
    /// [`Self::zero`] of a small number where `mask` is [`Self::ON`]; the number itself where it is [`Self::OFF`].
    fn flushed(self, mask: Self::Mask) -> Self;
    /// The product of two numbers, [flushed](Self::flushed), and whether it was flushed though none of them is zero. Processors compute
    /// subnormal products a hundred times slower than others: where `mask` is [`Self::ON`], zero takes the place of a factor first if the
    /// product will be one. Only what is just below the smallest normal number may be computed, since it may be rounded to that.
    fn careful_product(self, other: Self, mask: Self::Mask) -> (Self, bool);
    /// The bits that stay of a number without exponent: zero has none but the sign, so that two instructions do.
    type Mask: Copy + Send + Sync;
    /// The bits of the exponent.
    const EXPONENT: Self::Mask;
    const ON: Self::Mask;
    const OFF: Self::Mask;
}

macro_rules! flush {
    ($float:ident, $bits:ident) => {
        impl Flush for $float {
            #[inline(always)]
            fn is_small(self) -> bool {
                // Without its sign and minus one, a subnormal number is less than the largest one; zero wraps around.
                (self.to_bits() << 1).wrapping_sub(1) < ($float::MIN_POSITIVE.to_bits() << 1) - 1
            }

            #[inline(always)]
            fn zero(self) -> Self {
                $float::from_bits(self.to_bits() & (-0.0 as $float).to_bits())
            }

            #[inline(always)]
            fn careful_product(self, other: Self, mask: $bits) -> (Self, bool) {
                // The smallest normal number becomes 1. An infinite factor or product is not small.
                let scaled = self * (1.0 / $float::MIN_POSITIVE) * other;
                let is_small = scaled.abs() < (1.0 as $float).next_down();
                let factor = self.to_bits() & if is_small { mask } else { Self::OFF };
                let product = ($float::from_bits(factor) * other).flushed(mask);
                (product, is_small & (scaled != 0.0))
            }

            type Mask = $bits;
            const EXPONENT: $bits = $float::INFINITY.to_bits();
            const ON: $bits = (-0.0 as $float).to_bits();
            const OFF: $bits = $bits::MAX;

            #[inline(always)]
            fn flushed(self, mask: $bits) -> Self {
                let bits = self.to_bits();
                if bits & Self::EXPONENT == 0 {
                    $float::from_bits(bits & mask)
                } else {
                    self
                }
            }
        }
    };
}

flush!(f32, u32);
flush!(f64, u64);

struct Find<'v, T>(&'v [T]);

impl<T: Flush> Task for Find<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> bool {
        let tiles = self.0.chunks(TILE);
        // There is no early exit within a tile, so that comparisons are vectorized.
        tiles
            .into_iter()
            .any(|tile| tile.iter().fold(false, |any, v| any | v.is_small()))
    }
}

struct Replace<'v, T>(&'v mut [T]);

impl<T: Flush> Task for Replace<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for v in self.0 {
            *v = if v.is_small() { v.zero() } else { *v };
        }
    }
}

/// Whether a number is subnormal.
fn is_any_small<T: Flush + Sync>(values: &[T]) -> bool {
    if !parallel::pays(values.len() / 8) {
        return simd::run(Find(values));
    }
    let parts = values.len().div_ceil(PART);
    let found = parallel::map(parts, values.len() / 8, |at| {
        simd::run(Find(&values[at * PART..values.len().min((at + 1) * PART)]))
    });
    found.contains(&true)
}

/// Replaces subnormal numbers by zeros of their signs.
pub(crate) fn flush<T: Flush + Sync>(values: &mut [T]) {
    if is_any_small(values) {
        simd::run(Replace(values));
    }
}

fn flushed<T: super::Element + Flush>(tensor: &mut Tensor) -> Result<(), String> {
    match tensor.view::<T>() {
        Some(values) if is_any_small(values) => {}
        _ => return Ok(()),
    }
    if tensor.unique::<T>().is_none()
        && let Some(values) = tensor.view::<T>()
    {
        let own = super::buffer::gathered(values.iter().copied())?;
        tensor.data = T::wrap(own);
    }
    if let Some(values) = tensor.unique::<T>() {
        simd::run(Replace(values));
    }
    Ok(())
}

impl Tensor {
    /// Replaces subnormal numbers of `f32` and `f64` by zeros of their signs. Shared elements are copied first.
    ///
    /// # Errors
    /// If there is not enough memory for a copy.
    pub fn flush_subnormals(&mut self) -> Result<(), String> {
        match &self.data {
            Data::F32(_) => flushed::<f32>(self),
            Data::F64(_) => flushed::<f64>(self),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of numbers of all sizes, many of them near the smallest normal number.
    #[test]
    fn products_are_the_same() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            f32::MIN_POSITIVE,
            -f32::MIN_POSITIVE,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
            1e-45,
            -3e-41,
        ];
        let mut seed = 7u32;
        let mut next = |limit: u32| {
            seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (seed >> 7) % limit
        };
        let mut lost = 0;
        for at in 0..200_000 {
            let mut number = |exponent: u32| f32::from_bits(next(2) << 31 | exponent << 23 | next(1 << 23));
            let exponent = at % 140;
            let (a, b) = match at % 3 {
                0 => (number(exponent), numbers[at as usize % numbers.len()]),
                // The sum of the exponents is about that of the smallest normal number and one.
                _ => (number(exponent), number((125 + at % 5).saturating_sub(exponent))),
            };
            for mask in [f32::ON, f32::OFF] {
                let ((product, is_lost), same) = (a.careful_product(b, mask), (a * b).flushed(mask));
                assert_eq!(product.to_bits(), same.to_bits(), "{a:e} {b:e}");
                lost += usize::from(is_lost && mask == f32::ON && a * b != 0.0 && same == 0.0);
            }
            let (a, b) = (
                f64::from_bits(u64::from(exponent * 7) << 52 | 5),
                f64::from_bits(u64::from(1023 - (exponent * 7).min(1023)) << 52),
            );
            assert_eq!(
                a.careful_product(b, f64::ON).0.to_bits(),
                (a * b).flushed(f64::ON).to_bits(),
                "{a:e} {b:e}"
            );
        }
        assert!(lost > 10_000, "{lost}");
        assert!(
            !0f32.careful_product(1e-38, f32::ON).1
                && !1f32.careful_product(1.0, f32::ON).1
                && 1e-20f32.careful_product(1e-25, f32::ON).1
        );
    }

    #[test]
    fn only_subnormal_numbers_change() {
        let tiny = [1e-40f32, -1e-45, f32::MIN_POSITIVE.next_down()];
        let others = [
            0.0,
            -0.0,
            f32::MIN_POSITIVE,
            -f32::MIN_POSITIVE,
            1.0,
            f32::INFINITY,
            f32::NAN,
        ];
        for length in [1, 7, 64, 3000] {
            let values: Vec<f32> = (0..length).map(|at| others[at % others.len()]).collect();
            let mut same = Tensor::new(&[length], values.clone()).unwrap();
            let address = same.view::<f32>().unwrap().as_ptr();
            same.flush_subnormals().unwrap();
            assert_eq!(same.view::<f32>().unwrap().as_ptr(), address);
            assert!(same.same_bits(&Tensor::new(&[length], values.clone()).unwrap()));
            for (at, small) in (0..length).zip(tiny.into_iter().cycle()) {
                let (mut with, mut without) = (values.clone(), values.clone());
                with[at] = small;
                without[at] = 0f32.copysign(small);
                let kept = Tensor::new(&[length], with.clone()).unwrap();
                let mut flushed = kept.clone();
                flushed.flush_subnormals().unwrap();
                assert!(flushed.same_bits(&Tensor::new(&[length], without).unwrap()), "{at}");
                assert!(kept.same_bits(&Tensor::new(&[length], with).unwrap()), "{at}");
            }
        }
        let mut wide = Tensor::new(&[3], vec![-5e-324, f64::MIN_POSITIVE, 1e-310]).unwrap();
        wide.flush_subnormals().unwrap();
        assert!(wide.same_bits(&Tensor::new(&[3], vec![-0.0, f64::MIN_POSITIVE, 0.0]).unwrap()));
    }
}
