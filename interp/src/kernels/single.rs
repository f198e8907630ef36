//! Operations with one element as their result, which is written over that of the last run, or into a new tensor if that is shared:
//! conditions and counters of loops, and what a whole tensor is reduced to. A kernel would take several times as long.

use pir_ir::{OpView, Type};

use super::steps::{self, Number, Step};
use super::{Kernels, dims, dtype_of, known_count};
use crate::tensor::{DType, Data, Element, Shape, Tensor};

/// Writes the result for some operands into a tensor of one element; false if that is not possible, and nothing has been
/// changed. A subnormal result stays what it is.
pub(super) type Direct = fn(&mut Tensor, &[&Tensor]) -> bool;

/// An operation that computes one element.
pub(crate) struct Single {
    how: How,
    /// Those of its result. In a box: instructions are small.
    kind: Box<(Shape, DType)>,
}

enum How {
    Direct(Direct),
    /// On floats of one element each.
    Step(Step),
}

impl Single {
    /// Of an operation whose operands and results have known shapes, if its result has one element.
    pub(super) fn of(kernels: &Kernels, view: OpView<'_>, direct: Option<Direct>) -> Option<Single> {
        let OpView { ctx, body, op } = view;
        let count = |value| {
            let ty = body.value_type(value);
            match ctx.as_tensor(ty) {
                Some((shape, _)) => known_count(shape),
                None => (ctx.as_shaped(ty).is_none() && dtype_of(ctx, ty).is_some()).then_some(1),
            }
        };
        let result = body.results(op).next()?;
        let known = body.operands(op).all(|value| count(value).is_some());
        if body.results(op).len() != 1 || count(result) != Some(1) || !known {
            return None;
        }
        let elem = ctx.elem_type(body.value_type(result));
        let floats = elem == Type::F32 || elem == Type::F64;
        let step = kernels
            .step(view)
            .filter(|step| floats && step.operands() == body.num_operands(op));
        let shape = match ctx.as_tensor(body.value_type(result)) {
            Some((shape, _)) => dims(shape).ok()?,
            None => Shape::new(),
        };
        Some(Single {
            how: step.map(How::Step).or(direct.map(How::Direct))?,
            kind: Box::new((shape, dtype_of(ctx, body.value_type(result))?)),
        })
    }

    /// A tensor for the result.
    pub(crate) fn place(&self) -> Option<Tensor> {
        let (shape, dtype) = &*self.kind;
        Tensor::full(shape, *dtype, 0.0).ok()
    }

    /// Computes the result into the tensor `to`; false if that is not possible, and nothing has been changed.
    pub(crate) fn run(&self, to: &mut Tensor, of: &[&Tensor], flush: bool) -> bool {
        let done = match (&self.how, to.data()) {
            (How::Direct(direct), _) => direct(to, of),
            (How::Step(step), Data::F32(_)) => stepped::<f32>(step, to, of),
            (How::Step(step), Data::F64(_)) => stepped::<f64>(step, to, of),
            _ => false,
        };
        // In place, so there is no error.
        done && (!flush || to.flush_subnormals().is_ok())
    }
}

fn stepped<T: Number>(step: &Step, to: &mut Tensor, of: &[&Tensor]) -> bool {
    let (Some(first), Some(last)) = (of.first(), of.last()) else {
        return false;
    };
    match (to.unique::<T>(), first.view::<T>(), last.view::<T>()) {
        (Some(to @ [_]), Some(first @ [_]), Some(last @ [_])) => {
            steps::compute(step, to, [first, last], T::OFF);
            true
        }
        _ => false,
    }
}

/// The element of a tensor that has only one.
fn only<T: Element>(tensor: &Tensor) -> Option<T> {
    match tensor.view::<T>() {
        Some(&[one]) => Some(one),
        _ => None,
    }
}

/// Overwrites the element of a tensor that has only one, if it is unshared.
pub(crate) fn put<T: Element>(to: &mut Tensor, value: T) -> bool {
    match to.unique::<T>() {
        Some([one]) => {
            *one = value;
            true
        }
        _ => false,
    }
}

/// Compares two numbers, of the most frequent types.
pub(super) fn compared(
    to: &mut Tensor,
    of: &[&Tensor],
    d: impl Fn(f64, f64) -> bool,
    i: impl Fn(i64, i64) -> bool,
) -> bool {
    let &[x, y] = of else { return false };
    macro_rules! both {
        ($ty:ty, $f:expr) => {
            only::<$ty>(x)
                .zip(only::<$ty>(y))
                .map(|(a, b)| $f(a.into(), b.into()))
        };
    }
    let holds = match x.data() {
        Data::F32(_) => both!(f32, d),
        Data::F64(_) => both!(f64, d),
        Data::I64(_) => both!(i64, i),
        Data::I32(_) => both!(i32, i),
        Data::I1(_) => both!(bool, i),
        _ => None,
    };
    holds.is_some_and(|holds| put(to, holds))
}

/// Tests a number, of the most frequent types.
pub(super) fn tested(to: &mut Tensor, x: &Tensor, f: impl Fn(f64) -> bool) -> bool {
    let holds = match x.data() {
        Data::F32(_) => only::<f32>(x).map(|v| f(v.into())),
        Data::F64(_) => only(x).map(f),
        Data::I1(_) => only::<bool>(x).map(|v| f(v.to_f64())),
        _ => None,
    };
    holds.is_some_and(|holds| put(to, holds))
}

/// Computes with two integers, of the most frequent types.
pub(super) fn counted(to: &mut Tensor, of: &[&Tensor], i: impl Fn(i64, i64) -> Option<i64>) -> bool {
    let &[x, y] = of else { return false };
    match x.data() {
        Data::I64(_) => {
            let result = only::<i64>(x).zip(only(y)).and_then(|(a, b)| i(a, b));
            result.is_some_and(|result| put(to, result))
        }
        Data::I32(_) => {
            let result = only::<i32>(x)
                .zip(only::<i32>(y))
                .and_then(|(a, b)| i(a.into(), b.into()));
            result.is_some_and(|result| put(to, result as i32))
        }
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;
    use crate::kernels::{binary, reduce, unary};
    use crate::testing::parsed;

    const NUMBERS: [f64; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.5,
        -7.0,
        3.0,
        1e-30,
        5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];

    /// Compares the operation of a line of text, which is the last one of a program, with its kernel; how often it could run.
    fn compare(text: &str, operands: &[Vec<Tensor>]) -> usize {
        let module = parsed(text);
        let (ctx, body) = (&module.ctx, &module.body);
        let op = body.walk_all().last().unwrap();
        let kernels = Kernels::standard();
        let Some(single) = kernels.single(body.view(ctx, op)) else {
            return 0;
        };
        let mut count = 0;
        for flush in [false, true] {
            let (kernel, _) = kernels.prepare_for(body.view(ctx, op), flush, false).unwrap().unwrap();
            for operands in operands {
                let Ok(mut expected) = kernel(operands.iter().cloned().collect()) else {
                    let mut to = operands[0].clone().cast(DType::I64).unwrap();
                    assert!(
                        !single.run(&mut to, &operands.iter().collect::<Vec<_>>(), flush),
                        "{text}"
                    );
                    continue;
                };
                let mut expected = expected.pop().unwrap();
                if flush {
                    expected.flush_subnormals().unwrap();
                }
                let mut to = Tensor::full(expected.shape(), expected.dtype(), 1.0).unwrap();
                let shared = to.clone();
                let operands: Vec<&Tensor> = operands.iter().collect();
                assert!(
                    !single.run(&mut to, &operands, flush),
                    "{text}: a shared tensor is not overwritten"
                );
                drop(shared);
                if single.run(&mut to, &operands, flush) {
                    count += 1;
                    assert!(to.same_bits(&expected), "{text} of {operands:?}: {to}, not {expected}");
                }
            }
        }
        count
    }

    fn given(name: &str, shape: &str, dtype: &str) -> String {
        let extents = shape.trim_end_matches('x').replace('x', ", ");
        format!(
            "%{name} = pd.data {{name = \"{name}\", shape = [{extents}], dtype = {dtype}}} : tensor<{shape}{dtype}>\n"
        )
    }

    #[test]
    fn operations_on_two_numbers_are_those_of_their_kernels() {
        let names = binary::COMPARISONS.iter().map(|row| row.0);
        let names = names
            .chain(binary::COUNTING.iter().map(|row| row.0))
            .chain(["pd.divide"]);
        for name in names {
            let mut count = 0;
            for dtype in [DType::F32, DType::F64, DType::I64, DType::I32, DType::I1] {
                let ty = dtype.name();
                // A scalar has the shape of the other operand.
                for (left, right) in [("1x", "1x"), ("", "1x"), ("1x1x", "1x")] {
                    let text = format!(
                        "{}{}%r = {name} (%x, %y)\n",
                        given("x", left, ty),
                        given("y", right, ty)
                    );
                    let number = |shape: &str, value| {
                        let shape = vec![1; shape.len() / 2];
                        Tensor::full(&shape, dtype, value).unwrap()
                    };
                    let pairs = NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (a, b)));
                    let operands: Vec<Vec<Tensor>> =
                        pairs.map(|(a, b)| vec![number(left, a), number(right, b)]).collect();
                    count += compare(&text, &operands);
                }
            }
            assert!(count > 1000, "{name}: {count}");
        }
    }

    #[test]
    fn reductions_are_those_of_their_kernels() {
        for (name, _) in reduce::WHOLE {
            let text = format!("{}%r = {name} (%x) : tensor<f32>\n", given("x", "3x67x", "f32"));
            let operands: Vec<Vec<Tensor>> = (0..40)
                .map(|seed| {
                    let value = |at: usize| match (at * 31 + seed) % 211 {
                        0 if seed % 3 == 0 => NUMBERS[seed % NUMBERS.len()] as f32,
                        n if seed < 20 => n as f32 - 100.5,
                        n => -(n as f32) * 1e-41,
                    };
                    vec![Tensor::new(&[3, 67], (0..201).map(value).collect()).unwrap()]
                })
                .collect();
            assert_eq!(compare(&text, &operands), 80, "{name}");
        }
    }

    #[test]
    fn tests_are_those_of_their_kernels() {
        for (name, _) in unary::TESTS {
            for dtype in [DType::F32, DType::F64, DType::I1] {
                let text = format!("{}%r = {name} (%x)\n", given("x", "1x", dtype.name()));
                let operands = NUMBERS.map(|v| vec![Tensor::full(&[1], dtype, v).unwrap()]);
                assert_eq!(compare(&text, &operands), 2 * NUMBERS.len(), "{name}");
            }
        }
    }

    #[test]
    fn what_may_have_more_elements_is_left_to_the_kernel() {
        for shape in ["2x", "?x"] {
            let text = format!(
                "%x = pd.data {{name = \"x\", shape = [2], dtype = f32}} : tensor<{shape}f32>\n%r = pd.add (%x, %x)\n"
            );
            assert_eq!(compare(&text, &[]), 0);
        }
    }
}
