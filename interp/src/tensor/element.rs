//! The element types in Rust, and their conversions.

use half::{bf16, f16};

use super::buffer::{Buffer, Local, Pool, Storage};
use super::{Complex, DType, Data};

/// An element type with its conversions.
pub trait Element: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// Its name.
    const DTYPE: DType;
    /// From a float: truncated towards zero for integers, nonzero for booleans.
    fn from_f64(value: f64) -> Self;
    /// From an integer.
    fn from_i64(value: i64) -> Self;
    /// As a float.
    fn to_f64(self) -> f64;
    /// As an integer; floats are truncated.
    fn to_i64(self) -> i64;
    /// The sum; of integers it wraps around.
    #[inline]
    fn plus(self, other: Self) -> Self {
        match Self::DTYPE.is_float() {
            true => Self::from_f64(self.to_f64() + other.to_f64()),
            false => Self::from_i64(self.to_i64().wrapping_add(other.to_i64())),
        }
    }
    /// The product; of integers it wraps around.
    #[inline]
    fn times(self, other: Self) -> Self {
        match Self::DTYPE.is_float() {
            true => Self::from_f64(self.to_f64() * other.to_f64()),
            false => Self::from_i64(self.to_i64().wrapping_mul(other.to_i64())),
        }
    }
    /// Wraps a buffer.
    fn wrap(values: Storage<Self>) -> Data;
    /// The buffer, if it has these elements.
    fn view(data: &Data) -> Option<&[Self]>;
    /// The buffer alone, if it has these elements; copied if it is shared.
    ///
    /// # Errors
    /// If there is not enough memory for a copy.
    fn take(data: Data) -> Result<Option<Storage<Self>>, String>;
    /// The buffer, shared or not, if it has these elements.
    fn shared(data: Data) -> Option<Buffer<Self>>;
    /// The buffer in its place, if it has these elements.
    fn place(data: &mut Data) -> Option<&mut Buffer<Self>>;
    /// The buffer for writing, if it has these elements and is unshared.
    fn unique(data: &mut Data) -> Option<&mut [Self]> {
        Self::place(data)?.get_mut()
    }
    /// Wraps a buffer that may be shared.
    fn wrap_shared(values: Buffer<Self>) -> Data;
    /// Accesses this thread's pool; `None` when the thread ends, or in a nested call.
    fn pooled<R>(f: impl FnOnce(&mut Pool<Self>) -> R) -> Option<R>;
}

macro_rules! element {
    ($ty:ty, $variant:ident, $from_f64:expr, $from_i64:expr, $to_f64:expr, $to_i64:expr $(, { $($own:item)* })?) => {
        impl Element for $ty {
            const DTYPE: DType = DType::$variant;
            $($($own)*)?

            #[inline]
            fn from_f64(value: f64) -> Self {
                $from_f64(value)
            }

            #[inline]
            fn from_i64(value: i64) -> Self {
                $from_i64(value)
            }

            #[inline]
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }

            #[inline]
            fn to_i64(self) -> i64 {
                $to_i64(self)
            }

            fn wrap(values: Storage<Self>) -> Data {
                Data::$variant(values.into())
            }

            fn view(data: &Data) -> Option<&[Self]> {
                match data {
                    Data::$variant(values) => Some(values),
                    _ => None,
                }
            }

            fn take(data: Data) -> Result<Option<Storage<Self>>, String> {
                match data {
                    Data::$variant(values) => values.into_storage().map(Some),
                    _ => Ok(None),
                }
            }

            fn shared(data: Data) -> Option<Buffer<Self>> {
                match data {
                    Data::$variant(values) => Some(values),
                    _ => None,
                }
            }

            fn place(data: &mut Data) -> Option<&mut Buffer<Self>> {
                match data {
                    Data::$variant(values) => Some(values),
                    _ => None,
                }
            }

            fn wrap_shared(values: Buffer<Self>) -> Data {
                Data::$variant(values)
            }

            #[inline]
            fn pooled<R>(f: impl FnOnce(&mut Pool<Self>) -> R) -> Option<R> {
                thread_local! {
                    static POOL: Local<$ty> = const { Local::new(Pool::new()) };
                }
                POOL.try_with(|pool| Some(f(&mut *pool.try_borrow_mut().ok()?)))
                    .ok()
                    .flatten()
            }
        }
    };
}

/// An integer that is in the order of integers of 64 bits where it does in its own: `ui64` has others.
#[inline]
pub(crate) fn rank<T: Element>(value: T) -> i64 {
    match T::DTYPE {
        DType::UI64 => value.to_i64() ^ i64::MIN,
        _ => value.to_i64(),
    }
}

/// The integer of a rank.
#[inline]
pub(crate) fn of_rank<T: Element>(rank: i64) -> T {
    match T::DTYPE {
        DType::UI64 => T::from_i64(rank ^ i64::MIN),
        _ => T::from_i64(rank),
    }
}

/// A float as a 64-bit integer, truncated. Values out of range and NaN become the smallest integer, as on the
/// processors that run PaddlePaddle, numpy and torch.
fn wide(v: f64) -> i64 {
    // Smaller values saturate to the smallest integer; 2^63 is the first that is too large.
    if v < 9_223_372_036_854_775_808.0 {
        v as i64
    } else {
        i64::MIN
    }
}

/// The same for 32 bits; shorter integers take the lower bits.
fn narrow(v: f64) -> i32 {
    let v = v.trunc();
    if v >= f64::from(i32::MIN) && v <= f64::from(i32::MAX) {
        v as i32
    } else {
        i32::MIN
    }
}

element!(
    bool,
    I1,
    |v: f64| v != 0.0,
    |v: i64| v != 0,
    |v: bool| f64::from(u8::from(v)),
    |v: bool| i64::from(v)
);
element!(i64, I64, wide, |v: i64| v, |v: i64| v as f64, |v: i64| v);
/// Integers of less than 64 bits, and the width that a float is truncated to first.
macro_rules! integers {
    ($($ty:ident $variant:ident $truncated:ident;)*) => {
        $(element!(
            $ty,
            $variant,
            |v: f64| $truncated(v) as $ty,
            |v: i64| v as $ty,
            |v: $ty| f64::from(v),
            |v: $ty| i64::from(v)
        );)*
    };
}

integers! {
    i8 I8 narrow;
    i16 I16 narrow;
    i32 I32 narrow;
    u8 UI8 narrow;
    u16 UI16 narrow;
    u32 UI32 wide;
}

// As an integer it wraps around: what depends on the order treats it apart.
element!(
    u64,
    UI64,
    |v: f64| if v < 0.0 { wide(v) as u64 } else { v as u64 },
    |v: i64| v as u64,
    |v: u64| v as f64,
    |v: u64| v as i64
);
element!(
    f16,
    F16,
    f16::from_f64,
    |v: i64| f16::from_f64(v as f64),
    |v: f16| v.to_f64(),
    |v: f16| wide(v.to_f64())
);
element!(
    bf16,
    BF16,
    bf16::from_f64,
    |v: i64| bf16::from_f64(v as f64),
    |v: bf16| v.to_f64(),
    |v: bf16| wide(v.to_f64())
);
element!(
    f32,
    F32,
    |v: f64| v as f32,
    |v: i64| v as f32,
    |v: f32| f64::from(v),
    |v: f32| wide(f64::from(v))
);
element!(f64, F64, |v: f64| v, |v: i64| v as f64, |v: f64| v, wide);
macro_rules! own_arithmetic {
    () => {
        fn plus(self, other: Self) -> Self {
            Self::narrow(self.wide() + other.wide())
        }

        fn times(self, other: Self) -> Self {
            Self::narrow(self.wide() * other.wide())
        }
    };
}

// The preparation of kernels refuses casts that would lose the imaginary part.
element!(
    Complex<f32>,
    C64,
    |v: f64| Complex::new(v as f32, 0.0),
    |v: i64| Complex::new(v as f32, 0.0),
    |v: Complex<f32>| f64::from(v.re),
    |v: Complex<f32>| wide(f64::from(v.re)),
    {
        own_arithmetic! {}
    }
);
element!(
    Complex<f64>,
    C128,
    |v: f64| Complex::new(v, 0.0),
    |v: i64| Complex::new(v as f64, 0.0),
    |v: Complex<f64>| v.re,
    |v: Complex<f64>| wide(v.re),
    {
        own_arithmetic! {}
    }
);
