//! Products of matrices whose elements are all close to the smallest numbers, like gradients that decay over a long loop.
//!
//! Their terms would be subnormal, for each of which some processors take more than a hundred cycles. Multiplied by a
//! power of two, which is exact, they are not; the result is divided by it.

use crate::simd;
use crate::tensor::Element;

/// Numbers that can be scaled.
pub(super) trait Scale: Element {
    /// If all numbers are close to the smallest ones, and not all are zero, a power of two that the largest may be
    /// multiplied by, and its inverse.
    fn scale(values: &[Self]) -> Option<[Self; 2]>;
    /// Whether none is infinite or NaN.
    fn are_finite(values: &[Self]) -> bool;
}

macro_rules! scale {
    ($float:ident, $bits:ident, $largest:ident, $bound:expr) => {
        struct $largest<'v>(&'v [$float]);

        impl simd::Task for $largest<'_> {
            type Output = $bits;

            /// The bits of the largest absolute value.
            #[inline(always)]
            fn run<const FMA: bool>(self) -> $bits {
                let mut largest = 0;
                for value in self.0 {
                    largest = largest.max(value.to_bits() << 1);
                }
                largest >> 1
            }
        }

        impl Scale for $float {
            fn scale(values: &[$float]) -> Option<[$float; 2]> {
                let largest = $float::from_bits(simd::run($largest(values)));
                // NaN is not less.
                let bound = $float::from_bits($bound);
                (largest > 0.0 && largest < bound).then_some([1.0 / bound, bound])
            }

            fn are_finite(values: &[$float]) -> bool {
                values.iter().all(|value| value.is_finite())
            }
        }
    };
}

// 2⁻⁶⁴ and 2⁻⁵¹²: the largest number stays below one.
scale!(f32, u32, LargestF32, (127 - 64) << 23);
scale!(f64, u64, LargestF64, (1023 - 512) << 52);

#[cfg(test)]
mod tests {
    use super::super::gemm::{Product, Real};
    use super::*;

    #[test]
    fn only_tiny_numbers_are_scaled() {
        assert_eq!(f32::scale(&[0.0, -0.0]), None);
        assert_eq!(f32::scale(&[]), None);
        assert_eq!(f32::scale(&[1e-30, 1e-19]), None);
        assert_eq!(f32::scale(&[1e-30, f32::NAN]), None);
        assert_eq!(f32::scale(&[1e-30, f32::NEG_INFINITY]), None);
        assert_eq!(f32::scale(&[1e-30, -1e-25, 0.0]), Some([64f32.exp2(), (-64f32).exp2()]));
        assert_eq!(f64::scale(&[1e-154]), None);
        assert_eq!(f64::scale(&[-1e-200, 5e-324]), Some([512f64.exp2(), (-512f64).exp2()]));
    }

    #[test]
    fn products_of_tiny_numbers_are_exact() {
        let mut seed = 7u32;
        let mut number = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let sizes = [(1, 70), (2, 70), (33, 70), (40, 70), (70, 1)];
        for ((m, n), ty) in sizes.into_iter().flat_map(|size| [(size, false), (size, true)]) {
            let k = 100;
            let p = Product { m, k, n, tx: false, ty };
            let x: Vec<f32> = (0..m * k).map(|_| number()).collect();
            let y: Vec<f32> = (0..k * n).map(|_| number()).collect();
            let mut plain = vec![0.0; m * n];
            f32::gemm(p, &x, &y, &mut plain).unwrap();
            for exponent in [-70f32, -100.0] {
                let tiny: Vec<f32> = x.iter().map(|x| x * exponent.exp2()).collect();
                let mut z = vec![0.0; m * n];
                f32::gemm(p, &tiny, &y, &mut z).unwrap();
                let back: Vec<f32> = z.iter().map(|z| z / exponent.exp2()).collect();
                assert_eq!(back, plain, "{p:?} {exponent}");
            }
            // Terms that would be too large if scaled.
            let y = vec![2f32.powi(127); k * n];
            let mut z = vec![0.0; m * n];
            f32::gemm(p, &vec![2f32.powi(-100); m * k], &y, &mut z).unwrap();
            assert!(z.iter().all(|&z| z == k as f32 * 2f32.powi(27)), "{p:?}");
        }
    }
}
