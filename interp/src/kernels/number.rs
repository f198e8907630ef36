//! Real and complex numbers in double precision, for algorithms that are the same for both.

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};

use crate::tensor::{Complex, DType, Data, Element, Tensor};

/// A number that kernels of linear algebra compute with.
pub(super) trait Number:
    Copy
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Mul<f64, Output = Self>
    + Div<Output = Self>
    + Sum
    + Element
{
    /// A real number.
    fn of(value: f64) -> Self;
    /// The real part.
    fn re(self) -> f64;
    /// The conjugate.
    fn conj(self) -> Self;
    /// The square of the absolute value.
    fn square(self) -> f64;
    /// What pivots are compared by: LAPACK takes the sum of the absolute values of both parts.
    fn size(self) -> f64;
    /// The number of the same direction and absolute value one; one of zero.
    fn direction(self) -> Self;
    /// The factors of a number: a real one, and one of absolute value one. The latter is one for real numbers.
    fn split(self) -> (f64, Self);
    /// The elements of a tensor.
    fn elements(x: &Tensor) -> Result<Vec<Self>, String>;
    /// A tensor of elements.
    fn tensor(shape: &[usize], values: Vec<Self>, dtype: DType) -> Result<Tensor, String> {
        Tensor::new(shape, values)?.cast(dtype)
    }
}

impl Number for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn re(self) -> f64 {
        self
    }

    fn conj(self) -> Self {
        self
    }

    fn square(self) -> f64 {
        self * self
    }

    fn size(self) -> f64 {
        self.abs()
    }

    fn direction(self) -> Self {
        if self < 0.0 { -1.0 } else { 1.0 }
    }

    fn split(self) -> (f64, Self) {
        (self, 1.0)
    }

    fn elements(x: &Tensor) -> Result<Vec<Self>, String> {
        Ok(x.to_f64())
    }
}

impl Sum for Complex<f64> {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Complex::default(), |sum, x| sum + x)
    }
}

impl Number for Complex<f64> {
    fn of(value: f64) -> Self {
        Complex::new(value, 0.0)
    }

    fn re(self) -> f64 {
        self.re
    }

    fn conj(self) -> Self {
        Complex::conj(self)
    }

    fn square(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }

    fn direction(self) -> Self {
        if self == Complex::default() {
            Self::of(1.0)
        } else {
            self.sign()
        }
    }

    fn split(self) -> (f64, Self) {
        (self.abs(), self.direction())
    }

    fn elements(x: &Tensor) -> Result<Vec<Self>, String> {
        match x.cast(DType::C128)?.data() {
            Data::C128(values) => Ok(values.to_vec()),
            _ => Err("expected complex numbers".to_owned()),
        }
    }
}

/// The sum of the squares of absolute values.
pub(super) fn square_sum<N: Number>(x: &[N]) -> f64 {
    x.iter().map(|x| x.square()).sum()
}

/// One of Jacobi's rotations: of two columns, of which the second is multiplied by a factor of absolute value one before.
pub(super) struct Rotation<N> {
    cosine: f64,
    tangent: f64,
    factor: N,
}

impl<N: Number> Rotation<N> {
    /// The rotation that takes what is beside the diagonal of `[[p, z], [conj(z), q]]` to zero; none if it is zero.
    pub(super) fn of(p: f64, q: f64, z: N) -> Option<Self> {
        if z == N::default() {
            return None;
        }
        let (size, direction) = z.split();
        let slope = (q - p) / (2.0 * size);
        let sign = if slope < 0.0 { -1.0 } else { 1.0 };
        let tangent = sign / (slope.abs() + slope.hypot(1.0));
        Some(Rotation {
            cosine: 1.0 / tangent.hypot(1.0),
            tangent,
            factor: direction.conj(),
        })
    }

    /// The elements of both columns in one row.
    pub(super) fn columns(&self, x: N, y: N) -> (N, N) {
        let y = y * self.factor;
        (
            (x - y * self.tangent) * self.cosine,
            (x * self.tangent + y) * self.cosine,
        )
    }
}
