//! Complex numbers, and functions of them.
//!
//! Functions are computed in double precision, and rounded once. Where one is infinite, or has a branch cut, it is XLA's.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number of a real and an imaginary part. The order, which sorting needs, is that of the parts, as in numpy.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T> Complex<T> {
    /// A number of its parts.
    pub const fn new(re: T, im: T) -> Self {
        Complex { re, im }
    }
}

/// A type of the parts: a float that functions are computed of in double precision.
pub trait Part: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// As a double.
    fn wide(self) -> f64;
    /// Rounded.
    fn narrow(value: f64) -> Self;
}

impl Part for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value as f32
    }
}

impl Part for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value
    }
}

impl<T: Part> Complex<T> {
    /// With doubles for parts.
    pub fn wide(self) -> Complex<f64> {
        Complex::new(self.re.wide(), self.im.wide())
    }

    /// Rounded.
    pub fn narrow(value: Complex<f64>) -> Self {
        Complex::new(T::narrow(value.re), T::narrow(value.im))
    }

    /// The bits of the parts as doubles, which differ where those of the parts do.
    pub(crate) fn bits(self) -> [u64; 2] {
        [self.re, self.im].map(|part| part.wide().to_bits())
    }
}

type C = Complex<f64>;

/// The number one.
pub(crate) const ONE: C = C::new(1.0, 0.0);

impl Add for C {
    type Output = C;

    fn add(self, other: C) -> C {
        C::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for C {
    type Output = C;

    fn sub(self, other: C) -> C {
        C::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for C {
    type Output = C;

    fn mul(self, other: C) -> C {
        C::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

impl Mul<f64> for C {
    type Output = C;

    fn mul(self, by: f64) -> C {
        C::new(self.re * by, self.im * by)
    }
}

impl Div for C {
    type Output = C;

    /// Smith's algorithm: the squares of the divisor's parts may overflow.
    fn div(self, by: C) -> C {
        if by.re == 0.0 && by.im == 0.0 {
            return C::new(self.re / by.re.abs(), self.im / by.re.abs());
        }
        if by.re.is_infinite() || by.im.is_infinite() {
            let small = |v: f64| {
                if v.is_infinite() {
                    1f64.copysign(v)
                } else {
                    0f64.copysign(v)
                }
            };
            let zero = self * C::new(small(by.re), -small(by.im)) * 0.0;
            return if self.is_finite() {
                zero
            } else {
                C::new(f64::NAN, f64::NAN)
            };
        }
        if by.re.abs() >= by.im.abs() {
            let ratio = by.im / by.re;
            let scale = by.re + by.im * ratio;
            return C::new((self.re + self.im * ratio) / scale, (self.im - self.re * ratio) / scale);
        }
        let ratio = by.re / by.im;
        let scale = by.re * ratio + by.im;
        C::new((self.re * ratio + self.im) / scale, (self.im * ratio - self.re) / scale)
    }
}

impl Neg for C {
    type Output = C;

    fn neg(self) -> C {
        C::new(-self.re, -self.im)
    }
}

impl C {
    /// Whether both parts are finite.
    pub fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    /// The absolute value.
    pub fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// The conjugate.
    pub fn conj(self) -> C {
        C::new(self.re, -self.im)
    }

    /// The number of the same direction and size 1; zero of zero.
    pub(crate) fn sign(self) -> C {
        match self.abs() {
            0.0 => C::default(),
            size => C::new(self.re / size, self.im / size),
        }
    }

    pub(crate) fn exp(self) -> C {
        if self.im == 0.0 {
            return C::new(self.re.exp(), self.im);
        }
        // Where the size overflows, the parts may not.
        let half = (0.5 * self.re).exp();
        let (sin, cos) = self.im.sin_cos();
        if self.re == f64::NEG_INFINITY {
            return C::default();
        }
        C::new(half * cos * half, half * sin * half)
    }

    pub(crate) fn exp_m1(self) -> C {
        let (sin, cos) = self.im.sin_cos();
        let half = (0.5 * self.im).sin();
        if self.im == 0.0 {
            return C::new(self.re.exp_m1(), self.im);
        }
        C::new(self.re.exp_m1() * cos - 2.0 * half * half, self.re.exp() * sin)
    }

    pub(crate) fn ln(self) -> C {
        // Near the circle of size 1 the logarithm of the size cancels.
        let (large, small) = match self.re.abs() >= self.im.abs() {
            true => (self.re.abs(), self.im.abs()),
            false => (self.im.abs(), self.re.abs()),
        };
        let size = match (0.5..=2.0).contains(&large) {
            true => 0.5 * ((large - 1.0) * (large + 1.0) + small * small).ln_1p(),
            false => self.abs().ln(),
        };
        C::new(size, self.im.atan2(self.re))
    }

    pub(crate) fn ln_1p(self) -> C {
        let size = match self.abs() < 0.5 {
            true => 0.5 * (self.re * (2.0 + self.re) + self.im * self.im).ln_1p(),
            false => (self + ONE).ln().re,
        };
        C::new(size, self.im.atan2(self.re + 1.0))
    }

    pub(crate) fn sqrt(self) -> C {
        if self.re == 0.0 && self.im == 0.0 {
            return C::new(0.0, self.im);
        }
        if self.im.is_infinite() {
            return C::new(f64::INFINITY, self.im);
        }
        // Scaled: the size of a large number overflows.
        let scale = if self.abs() > 1e300 { 0.25 } else { 1.0 };
        let (z, back) = (self * scale, if scale == 1.0 { 1.0 } else { 2.0 });
        let root = (0.5 * (z.re.abs() + z.abs())).sqrt();
        let other = z.im.abs() / (2.0 * root);
        match self.re >= 0.0 {
            true => C::new(back * root, (back * other).copysign(self.im)),
            false => C::new(back * other, (back * root).copysign(self.im)),
        }
    }

    pub(crate) fn recip(self) -> C {
        ONE / self
    }

    pub(crate) fn sin(self) -> C {
        let (sin, cos) = self.re.sin_cos();
        C::new(sin * self.im.cosh(), cos * self.im.sinh())
    }

    pub(crate) fn cos(self) -> C {
        let (sin, cos) = self.re.sin_cos();
        C::new(cos * self.im.cosh(), -(sin * self.im.sinh()))
    }

    pub(crate) fn sinh(self) -> C {
        let turned = C::new(-self.im, self.re).sin();
        C::new(turned.im, -turned.re)
    }

    pub(crate) fn cosh(self) -> C {
        C::new(-self.im, self.re).cos()
    }

    pub(crate) fn tanh(self) -> C {
        // The quotient of two functions that overflow.
        if self.re.abs() > 20.0 {
            let decay = 4.0 * (-2.0 * self.re.abs()).exp();
            let (sin, cos) = self.im.sin_cos();
            return C::new(1f64.copysign(self.re), sin * cos * decay);
        }
        let tan = self.im.tan();
        let (sinh, cosh) = (self.re.sinh(), self.re.cosh());
        let square = 1.0 + tan * tan;
        let scale = 1.0 + square * sinh * sinh;
        C::new(square * cosh * sinh / scale, tan / scale)
    }

    pub(crate) fn tan(self) -> C {
        let turned = C::new(-self.im, self.re).tanh();
        C::new(turned.im, -turned.re)
    }

    pub(crate) fn logistic(self) -> C {
        (ONE + (-self).exp()).recip()
    }

    pub(crate) fn powc(self, by: C) -> C {
        if by == C::default() {
            return ONE;
        }
        if self == C::default() {
            return C::default();
        }
        (by * self.ln()).exp()
    }
}
