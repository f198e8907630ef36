//! Elementwise kernels of two or more tensors, with broadcasting.

use pir_dialects::pd;
use pir_dialects::stablehlo::chlo;

use super::broadcast::{MIXED, both_through, broadcast, expand, zip, zip_in_place};
use super::single::{Direct, compared, counted};
use super::special::{floor_divide, floor_divide32, polygamma, remainder, remainder32, whole_pow, zeta};
use super::{InPlace, Inputs, Kernel, Outputs, Prepare, one, take};
use crate::simd::{self, Task};
use crate::tensor::buffer::stale;
use crate::tensor::{DType, Data, Element, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Add::NAME, |_| {
        arithmetic(|a, b| a + b, |a, b| a + b, |a, b| Ok(a.wrapping_add(b)))
    }),
    (pd::InplaceAdd::NAME, |_| {
        arithmetic(|a, b| a + b, |a, b| a + b, |a, b| Ok(a.wrapping_add(b)))
    }),
    (pd::Subtract::NAME, |_| {
        arithmetic(|a, b| a - b, |a, b| a - b, |a, b| Ok(a.wrapping_sub(b)))
    }),
    (pd::Multiply::NAME, |_| {
        arithmetic(|a, b| a * b, |a, b| a * b, |a, b| Ok(a.wrapping_mul(b)))
    }),
    (pd::Divide::NAME, |_| {
        let whole = |a, b| divide(i64::wrapping_div, a, b);
        ordered(|a, b| a / b, |a, b| a / b, whole, u64::checked_div)
    }),
    (pd::Remainder::NAME, |_| {
        ordered(remainder32, remainder, whole_remainder, u64::checked_rem)
    }),
    (pd::FloorDivide::NAME, |_| {
        ordered(floor_divide32, floor_divide, whole_quotient, u64::checked_div)
    }),
    (pd::ElementwisePow::NAME, |_| {
        arithmetic(f32::powf, f64::powf, |a, b| Ok(whole_pow(a, b)))
    }),
    (chlo::Polygamma::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [n, x] = take(inputs)?;
            one(zip_floats(
                n,
                x,
                |n, x| polygamma(n.into(), x.into()) as f32,
                polygamma,
            )?)
        }))
    }),
    (chlo::Zeta::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, q] = take(inputs)?;
            one(zip_floats(x, q, |x, q| zeta(x.into(), q.into()) as f32, zeta)?)
        }))
    }),
    (pd::Atan2::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, y] = take(inputs)?;
            let whole = !x.dtype().is_float();
            let (x, y) = if whole {
                (x.cast(DType::F64)?, y.cast(DType::F64)?)
            } else {
                (x, y)
            };
            one(zip_floats(x, y, f32::atan2, f64::atan2)?)
        }))
    }),
    (pd::Maximum::NAME, |_| {
        ordered(
            |a, b| if a >= b || a.is_nan() { a } else { b },
            |a, b| if a >= b || a.is_nan() { a } else { b },
            |a, b| Ok(a.max(b)),
            |a, b| Some(a.max(b)),
        )
    }),
    (pd::Minimum::NAME, |_| {
        ordered(
            |a, b| if a <= b || a.is_nan() { a } else { b },
            |a, b| if a <= b || a.is_nan() { a } else { b },
            |a, b| Ok(a.min(b)),
            |a, b| Some(a.min(b)),
        )
    }),
    (pd::Fmax::NAME, |_| {
        // Spelled out: the library's functions may return either of two zeros.
        arithmetic(
            |a, b| if a >= b || b.is_nan() { a } else { b },
            |a, b| if a >= b || b.is_nan() { a } else { b },
            |a, b| Ok(a.max(b)),
        )
    }),
    (pd::Fmin::NAME, |_| {
        arithmetic(
            |a, b| if a <= b || b.is_nan() { a } else { b },
            |a, b| if a <= b || b.is_nan() { a } else { b },
            |a, b| Ok(a.min(b)),
        )
    }),
    (pd::BitwiseAnd::NAME, |_| whole(|a, b| Ok(a & b))),
    (pd::BitwiseOr::NAME, |_| whole(|a, b| Ok(a | b))),
    (pd::BitwiseXor::NAME, |_| whole(|a, b| Ok(a ^ b))),
    (pd::Where::NAME, |_| Ok(Box::new(select))),
    (pd::AddN::NAME, |_| Ok(Box::new(add_n))),
];

/// A comparison of floats and of integers: its kernel, and the same for one element.
macro_rules! comparison {
    ($op:ident, $floats:expr, $whole:expr) => {
        (
            pd::$op::NAME,
            |_| compare($floats, $whole),
            |to, of| compared(to, of, $floats, $whole),
        )
    };
}

pub(super) const COMPARISONS: &[(&str, Prepare, Direct)] = &[
    comparison!(Equal, |a, b| a == b, |a, b| a == b),
    comparison!(NotEqual, |a, b| a != b, |a, b| a != b),
    comparison!(LessThan, |a, b| a < b, |a, b| a < b),
    comparison!(LessEqual, |a, b| a <= b, |a, b| a <= b),
    comparison!(GreaterThan, |a, b| a > b, |a, b| a > b),
    comparison!(GreaterEqual, |a, b| a >= b, |a, b| a >= b),
    comparison!(LogicalAnd, |a, b| a != 0.0 && b != 0.0, |a, b| a != 0 && b != 0),
    comparison!(LogicalOr, |a, b| a != 0.0 || b != 0.0, |a, b| a != 0 || b != 0),
    comparison!(LogicalXor, |a, b| (a != 0.0) != (b != 0.0), |a, b| (a != 0) != (b != 0)),
];

/// Operations on integers that count iterations.
pub(super) const COUNTING: &[(&str, Direct)] = &[
    (pd::Add::NAME, |to, of| counted(to, of, |a, b| Some(a.wrapping_add(b)))),
    (pd::Subtract::NAME, |to, of| {
        counted(to, of, |a, b| Some(a.wrapping_sub(b)))
    }),
    (pd::Multiply::NAME, |to, of| {
        counted(to, of, |a, b| Some(a.wrapping_mul(b)))
    }),
    (pd::Remainder::NAME, |to, of| {
        counted(to, of, |a, b| whole_remainder(a, b).ok())
    }),
    (pd::FloorDivide::NAME, |to, of| {
        counted(to, of, |a, b| whole_quotient(a, b).ok())
    }),
    (pd::Maximum::NAME, |to, of| counted(to, of, |a, b| Some(a.max(b)))),
    (pd::Minimum::NAME, |to, of| counted(to, of, |a, b| Some(a.min(b)))),
];

/// The most frequent operations as in-place functions: for a small tensor they take less time than a call of the
/// kernel.
pub(super) const IN_PLACE: &[(&str, InPlace)] = &[
    (pd::Add::NAME, |x, y, _| {
        into(x, y, |a, b| a + b, |a, b| a + b, Some(i64::wrapping_add))
    }),
    (pd::Multiply::NAME, |x, y, _| {
        into(x, y, |a, b| a * b, |a, b| a * b, Some(i64::wrapping_mul))
    }),
    (pd::Subtract::NAME, |x, y, swapped| match swapped {
        false => into(x, y, |a, b| a - b, |a, b| a - b, Some(i64::wrapping_sub)),
        true => into(x, y, |a, b| b - a, |a, b| b - a, Some(|a, b| b.wrapping_sub(a))),
    }),
    (pd::Divide::NAME, |x, y, swapped| match swapped {
        false => into(x, y, |a, b| a / b, |a, b| a / b, None),
        true => into(x, y, |a, b| b / a, |a, b| b / a, None),
    }),
];

fn into(
    x: &mut Tensor,
    y: &Tensor,
    f: impl Fn(f32, f32) -> f32,
    d: impl Fn(f64, f64) -> f64,
    i: Option<fn(i64, i64) -> i64>,
) -> bool {
    fn each<T: Element>(x: &mut Tensor, y: &[T], f: impl Fn(T, T) -> T) -> bool {
        let Some(x) = x.unique::<T>() else { return false };
        x.iter_mut().zip(y).for_each(|(x, &y)| *x = f(*x, y));
        true
    }
    if x.shape() != y.shape() {
        return false;
    }
    match (y.data(), i) {
        (Data::F32(y), _) => each(x, y, f),
        (Data::F64(y), _) => each(x, y, d),
        (Data::I64(y), Some(i)) => each(x, y, i),
        (Data::I32(y), Some(i)) => each(x, y, |a: i32, b: i32| i(a.into(), b.into()) as i32),
        _ => false,
    }
}

const BY_ZERO: &str = "an integer is divided by zero";

/// Integer division: the smallest integer divided by -1 wraps, like all arithmetic.
fn divide(f: fn(i64, i64) -> i64, a: i64, b: i64) -> Result<i64, &'static str> {
    if b == 0 { Err(BY_ZERO) } else { Ok(f(a, b)) }
}

/// The remainder with the sign of the divisor.
fn whole_remainder(a: i64, b: i64) -> Result<i64, &'static str> {
    let r = divide(i64::wrapping_rem, a, b)?;
    Ok(if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
}

/// The quotient, rounded down.
fn whole_quotient(a: i64, b: i64) -> Result<i64, &'static str> {
    let q = divide(i64::wrapping_div, a, b)?;
    let inexact = a.wrapping_rem(b) != 0;
    Ok(if inexact && (a < 0) != (b < 0) { q - 1 } else { q })
}

/// Combines floats of one type; half precision is computed in single precision and rounded once.
pub(super) fn zip_floats(
    x: Tensor,
    y: Tensor,
    f: impl Fn(f32, f32) -> f32,
    d: impl Fn(f64, f64) -> f64,
) -> Result<Tensor, String> {
    match x.data() {
        Data::F32(_) => zip_in_place(x, y, f),
        Data::F64(_) => zip_in_place(x, y, d),
        Data::F16(_) | Data::BF16(_) => both_through(DType::F32, x, y, |x, y| zip_in_place(x, y, f)),
        _ => Err("the operands must have a float element type".to_owned()),
    }
}

fn zip_whole(x: Tensor, y: Tensor, i: impl Fn(i64, i64) -> Result<i64, &'static str>) -> Result<Tensor, String> {
    // The error of an element is reported at the end: the loops have no early exits.
    let failure = std::cell::Cell::new(None);
    let i = |a: i64, b: i64| {
        i(a, b).unwrap_or_else(|why| {
            failure.set(Some(why));
            0
        })
    };
    let out = match x.data() {
        Data::I64(_) => zip_in_place(x, y, i)?,
        Data::I32(_) => zip_in_place(x, y, |a: i32, b: i32| i(a.into(), b.into()) as i32)?,
        Data::UI32(_) => zip_in_place(x, y, |a: u32, b: u32| i(a.into(), b.into()) as u32)?,
        Data::I1(_) => zip_in_place(x, y, |a: bool, b: bool| i(a.into(), b.into()) != 0)?,
        _ if x.dtype().is_integer() => both_through(DType::I64, x, y, |x, y| zip_in_place(x, y, i))?,
        _ => return Err("the operands must have an integer element type".to_owned()),
    };
    failure.get().map_or(Ok(out), |why| Err(why.to_owned()))
}

/// The same of integers whose order matters: those of `ui64` are not in `i64`.
fn ordered(
    f: impl Fn(f32, f32) -> f32 + Send + Sync + 'static,
    d: impl Fn(f64, f64) -> f64 + Send + Sync + 'static,
    i: impl Fn(i64, i64) -> Result<i64, &'static str> + Send + Sync + 'static,
    u: fn(u64, u64) -> Option<u64>,
) -> Result<Kernel, String> {
    let others = arithmetic(f, d, i)?;
    Ok(Box::new(move |inputs| {
        if inputs.first().is_none_or(|x| x.dtype() != DType::UI64) {
            return others(inputs);
        }
        let [x, y] = take(inputs)?;
        let u = |a: i64, b: i64| u(a as u64, b as u64).map(|v| v as i64).ok_or(BY_ZERO);
        one(zip_whole(x, y, u)?)
    }))
}

pub(super) fn arithmetic(
    f: impl Fn(f32, f32) -> f32 + Send + Sync + 'static,
    d: impl Fn(f64, f64) -> f64 + Send + Sync + 'static,
    i: impl Fn(i64, i64) -> Result<i64, &'static str> + Send + Sync + 'static,
) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        one(if x.dtype().is_float() {
            zip_floats(x, y, &f, &d)?
        } else {
            zip_whole(x, y, &i)?
        })
    }))
}

fn whole(i: impl Fn(i64, i64) -> Result<i64, &'static str> + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        one(zip_whole(x, y, &i)?)
    }))
}

/// Integers are compared by their ranks: those of `ui64` are not in `i64`.
fn compare(
    d: impl Fn(f64, f64) -> bool + Send + Sync + 'static,
    i: impl Fn(i64, i64) -> bool + Send + Sync + 'static,
) -> Result<Kernel, String> {
    let ranked = |x: &Tensor| Ok::<_, String>(Tensor::from_parts(x.shape().into(), i64::wrap_shared(x.ranks()?)));
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        let out = match x.data() {
            Data::F64(_) => zip(&x, &y, &d)?,
            Data::F32(_) => zip(&x, &y, |a: f32, b: f32| d(a.into(), b.into()))?,
            Data::I64(_) => zip(&x, &y, &i)?,
            Data::I32(_) => zip(&x, &y, |a: i32, b: i32| i(a.into(), b.into()))?,
            Data::I1(_) => zip(&x, &y, |a: bool, b: bool| i(a.into(), b.into()))?,
            Data::C64(_) | Data::C128(_) => return Err("complex numbers have no order".to_owned()),
            _ if x.dtype() != y.dtype() => return Err(MIXED.to_owned()),
            Data::F16(_) | Data::BF16(_) => zip(&x.cast(DType::F64)?, &y.cast(DType::F64)?, &d)?,
            _ => zip(&ranked(&x)?, &ranked(&y)?, &i)?,
        };
        one(out)
    }))
}

/// Of two elements, the first where the condition holds.
struct Pick<'v, T> {
    c: &'v [bool],
    x: &'v [T],
    y: &'v [T],
    to: &'v mut [T],
}

impl<T: Element> Task for Pick<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let pairs = self.c.iter().zip(self.x.iter().zip(self.y));
        for (to, (&c, (&x, &y))) in self.to.iter_mut().zip(pairs) {
            *to = if c { x } else { y };
        }
    }
}

/// The elements of `x` where the condition holds, and of `y` where it does not; all have the same number of elements.
///
/// # Errors
/// If there is no memory for them.
pub(super) fn picked<T: Element>(c: &[bool], x: &[T], y: &[T]) -> Result<Data, String> {
    let mut out = stale(x.len())?;
    let to = &mut out[..];
    simd::run(Pick { c, x, y, to });
    Ok(T::wrap(out))
}

fn select(inputs: Inputs) -> Result<Outputs, String> {
    let [c, x, y] = take(inputs)?;
    let shape = broadcast(c.shape(), &broadcast(x.shape(), y.shape())?)?;
    let (c, x, y) = (expand(&c, &shape)?, expand(&x, &shape)?, expand(&y, &shape)?);
    let c = c.view::<bool>().ok_or("the condition must have element type `i1`")?;
    let data = crate::each_type!(x.data(), v => picked(c, v, y.view().ok_or(MIXED)?))?;
    one(Tensor::from_parts(shape, data))
}

fn add_n(inputs: Inputs) -> Result<Outputs, String> {
    let mut inputs = inputs.into_iter();
    let mut sum = inputs.next().ok_or("at least one operand is needed")?;
    for x in inputs {
        sum = match sum.dtype().is_float() {
            true => zip_floats(sum, x, |a, b| a + b, |a, b| a + b)?,
            false => zip_whole(sum, x, |a, b| Ok(a.wrapping_add(b)))?,
        };
    }
    one(sum)
}
