//! Arithmetic of known numbers, in their own type.

use super::super::super::types::{BOOL, INT32, INT64, Number};
use super::super::reader::Reader;
use super::{Array, bool_attr, broadcast_shape, input, list};

/// Single and double precision.
const FLOAT: i32 = 1;
const DOUBLE: i32 = 2;

pub(super) fn is_float(code: i32) -> bool {
    matches!(code, FLOAT | DOUBLE)
}

/// A number as one of this type; none if it does not fit, since integers that overflow wrap.
fn fitted(number: Number, code: i32) -> Option<Number> {
    match (number, code) {
        (Number::Float(value), FLOAT) => Some(Number::Float(f64::from(value as f32))),
        (Number::Float(_), DOUBLE) => Some(number),
        (Number::Int(value), BOOL) => (0..=1).contains(&value).then_some(number),
        (Number::Int(value), INT32) => i32::try_from(value).ok().map(|_| number),
        (Number::Int(value), INT64) => i64::try_from(value).ok().map(|_| number),
        _ => None,
    }
}

/// The numbers in another type.
pub(super) fn cast(r: &Reader<'_>, at: usize) -> Option<Array> {
    let whole = input(r, at, 0)?;
    let code = match r.nodes[at].attrs.get("DstT").and_then(|a| a.value.as_ref()) {
        Some(super::super::super::proto::Value::Type(code)) => *code,
        _ => return None,
    };
    let number = |n: &Number| match (*n, code) {
        (Number::Int(value), FLOAT) => Some(Number::Float(f64::from(value as f32))),
        (Number::Int(value), DOUBLE) => Some(Number::Float(value as f64)),
        (value, BOOL) => Some(Number::Int((value.f64() != 0.0).into())),
        (Number::Float(value), INT32 | INT64) if value.is_finite() => fitted(Number::Int(value as i128), code),
        (value, _) => fitted(value, code),
    };
    Some(Array {
        numbers: whole.numbers.iter().map(number).collect::<Option<_>>()?,
        dims: whole.dims,
    })
}

/// Numbers from one to another.
pub(super) fn range(r: &Reader<'_>, at: usize) -> Option<Array> {
    let one = |index| input(r, at, index)?.numbers.first().copied();
    let (start, end, step) = (one(0)?, one(1)?, one(2)?);
    let code = r.input_code(at, 0)?;
    let all = [start, end, step];
    if let [Number::Int(start), Number::Int(end), Number::Int(step)] = all {
        let mut numbers = Vec::new();
        let mut next = start;
        while if step > 0 { next < end } else { next > end } {
            (step != 0 && numbers.len() <= super::LARGEST).then_some(())?;
            numbers.push(fitted(Number::Int(next), code)?);
            next = next.checked_add(step)?;
        }
        return Some(Array {
            dims: vec![numbers.len() as i64],
            numbers,
        });
    }
    let [start, end, step] = all.map(Number::f64);
    let count = ((end - start) / step).ceil();
    // Sums of other steps depend on the order of roundings.
    let exact = start.fract() == 0.0 && step.fract() == 0.0;
    (exact && step != 0.0 && count <= super::LARGEST as f64).then_some(())?;
    let number = |place: &[i64]| fitted(Number::Float(start + step * place[0] as f64), code);
    Array::made(vec![count.max(0.0) as i64], number)
}

pub(super) fn compute(r: &Reader<'_>, at: usize, op: &str) -> Option<Array> {
    let code = r.input_code(at, 0)?;
    if let Some(all) = fold_of(op) {
        let (whole, axes) = (input(r, at, 0)?, list(r, at, 1)?);
        let keep = bool_attr(r, at, "keep_dims");
        return whole.reduced(&axes, keep, |numbers| {
            let (first, rest) = numbers.split_first()?;
            rest.iter().try_fold(*first, |n, &next| fitted(all(n, next)?, code))
        });
    }
    match op {
        "Prod" | "Sum" | "All" | "Any" => {
            let (whole, axes) = (input(r, at, 0)?, list(r, at, 1)?);
            // What nothing at all gives.
            let start = Number::Int((op == "Prod" || op == "All").into());
            let exact = whole.numbers.iter().all(|n| matches!(n, Number::Int(_)));
            exact.then_some(())?;
            return whole.reduced(&axes, bool_attr(r, at, "keep_dims"), |numbers| {
                numbers.iter().try_fold(start, |n, &next| match (op, n, next) {
                    ("Prod" | "All", Number::Int(x), Number::Int(y)) => fitted(Number::Int(x.checked_mul(y)?), code),
                    ("Sum", Number::Int(x), Number::Int(y)) => fitted(Number::Int(x.checked_add(y)?), code),
                    (_, x, y) => Some(Number::Int((x.f64() != 0.0 || y.f64() != 0.0).into())),
                })
            });
        }
        "Cumsum" => return cumulated(r, at, code),
        _ => {}
    }
    if let Some(one) = function(op) {
        let whole = input(r, at, 0)?;
        let number = |n: &Number| fitted(one(*n)?, code);
        return Some(Array {
            numbers: whole.numbers.iter().map(number).collect::<Option<_>>()?,
            dims: whole.dims,
        });
    }
    let result = if is_test(op) { BOOL } else { code };
    let both = operation(op)?;
    let (a, b) = (input(r, at, 0)?, input(r, at, 1)?);
    let dims = broadcast_shape(&a.dims, &b.dims)?;
    Array::made(dims, |place| fitted(both(a.spread(place)?, b.spread(place)?)?, result))
}

/// Sums of the elements up to each one.
fn cumulated(r: &Reader<'_>, at: usize, code: i32) -> Option<Array> {
    let (whole, axis) = (input(r, at, 0)?, *list(r, at, 1)?.first()?);
    let axis = whole.axis(axis)?;
    let (exclusive, reverse) = (bool_attr(r, at, "exclusive"), bool_attr(r, at, "reverse"));
    whole.ints()?;
    Array::made(whole.dims.clone(), |place| {
        let own = place[axis];
        let inside = match (reverse, exclusive) {
            (false, false) => 0..own + 1,
            (false, true) => 0..own,
            (true, false) => own..whole.dims[axis],
            (true, true) => own + 1..whole.dims[axis],
        };
        let mut sum = 0i128;
        for other in inside {
            let mut place = place.to_vec();
            place[axis] = other;
            if let Number::Int(value) = whole.get(&place)? {
                sum += value;
            }
        }
        fitted(Number::Int(sum), code)
    })
}

type One = fn(Number) -> Option<Number>;
type Two = fn(Number, Number) -> Option<Number>;

/// The combination of two elements that a reduction without a neutral element makes.
fn fold_of(op: &str) -> Option<Two> {
    match op {
        "Max" => operation("Maximum"),
        "Min" => operation("Minimum"),
        _ => None,
    }
}

/// An operation of one operand.
fn function(op: &str) -> Option<One> {
    Some(match op {
        "Neg" => |n| match n {
            Number::Int(value) => Some(Number::Int(value.checked_neg()?)),
            Number::Float(value) => Some(Number::Float(-value)),
        },
        "Abs" => |n| match n {
            Number::Int(value) => Some(Number::Int(value.checked_abs()?)),
            Number::Float(value) => Some(Number::Float(value.abs())),
        },
        "LogicalNot" => |n| Some(Number::Int((n.f64() == 0.0).into())),
        "Floor" => |n| float(n).map(|x| Number::Float(x.floor())),
        "Ceil" => |n| float(n).map(|x| Number::Float(x.ceil())),
        _ => return None,
    })
}

fn float(number: Number) -> Option<f64> {
    match number {
        Number::Float(value) => Some(value),
        Number::Int(_) => None,
    }
}

/// Whether the result is a truth value: a comparison of the operands.
fn is_test(op: &str) -> bool {
    matches!(
        op,
        "Equal" | "NotEqual" | "Greater" | "GreaterEqual" | "Less" | "LessEqual"
    )
}

/// Computes with two integers or two floats; those of a float are rounded to its precision afterwards.
fn apply(x: Number, y: Number, ints: fn(i128, i128) -> Option<i128>, floats: fn(f64, f64) -> f64) -> Option<Number> {
    match (x, y) {
        (Number::Int(x), Number::Int(y)) => ints(x, y).map(Number::Int),
        (Number::Float(x), Number::Float(y)) => Some(Number::Float(floats(x, y))),
        _ => None,
    }
}

/// Compares two integers or two floats.
fn test(x: Number, y: Number, ints: fn(&i128, &i128) -> bool, floats: fn(&f64, &f64) -> bool) -> Option<Number> {
    match (x, y) {
        (Number::Int(x), Number::Int(y)) => Some(Number::Int(ints(&x, &y).into())),
        (Number::Float(x), Number::Float(y)) => Some(Number::Int(floats(&x, &y).into())),
        _ => None,
    }
}

/// An operation of two operands.
fn operation(op: &str) -> Option<Two> {
    Some(match op {
        "Add" | "AddV2" => |x, y| apply(x, y, i128::checked_add, |x, y| x + y),
        "Sub" => |x, y| apply(x, y, i128::checked_sub, |x, y| x - y),
        "Mul" => |x, y| apply(x, y, i128::checked_mul, |x, y| x * y),
        "RealDiv" => |x, y| Some(Number::Float(float(x)? / float(y)?)),
        "Equal" => |x, y| test(x, y, i128::eq, f64::eq),
        "NotEqual" => |x, y| test(x, y, i128::ne, f64::ne),
        "Greater" => |x, y| test(x, y, i128::gt, f64::gt),
        "GreaterEqual" => |x, y| test(x, y, i128::ge, f64::ge),
        "Less" => |x, y| test(x, y, i128::lt, f64::lt),
        "LessEqual" => |x, y| test(x, y, i128::le, f64::le),
        "LogicalAnd" => |x, y| Some(Number::Int((x.f64() != 0.0 && y.f64() != 0.0).into())),
        "LogicalOr" => |x, y| Some(Number::Int((x.f64() != 0.0 || y.f64() != 0.0).into())),
        "Minimum" => |x, y| extreme(x, y, std::cmp::Ordering::Less),
        "Maximum" => |x, y| extreme(x, y, std::cmp::Ordering::Greater),
        // The others have no overflow but that of a negative divisor.
        "FloorDiv" => |x, y| match (x, y) {
            (Number::Int(x), Number::Int(y)) if y > 0 => Some(Number::Int(x.div_euclid(y))),
            _ => None,
        },
        "FloorMod" => |x, y| match (x, y) {
            (Number::Int(x), Number::Int(y)) if y > 0 => Some(Number::Int(x.rem_euclid(y))),
            _ => None,
        },
        _ => return None,
    })
}

/// The number that is on the wanted side of the other one; none of what is not a number.
fn extreme(x: Number, y: Number, wanted: std::cmp::Ordering) -> Option<Number> {
    let order = match (x, y) {
        (Number::Int(x), Number::Int(y)) => x.cmp(&y),
        (Number::Float(x), Number::Float(y)) => x.partial_cmp(&y)?,
        _ => return None,
    };
    Some(if order == wanted { x } else { y })
}
