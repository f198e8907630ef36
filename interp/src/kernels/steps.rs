//! Elementwise operations as steps of a chain: each computes a tile of floats, which stays in the nearest cache.
//!
//! The functions are those of the kernels, and so are the results, in every bit.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pir_dialects::pd;

use smallvec::SmallVec;

use super::Spec;
use super::vector::{Floats, Lane, Mapping, Span, is_nan};
use crate::simd::{self, Task};
use crate::tensor::Element;

/// The most elements of a tile.
pub(crate) const TILE: usize = 512;

/// An operation on one or two numbers.
pub(crate) enum Step {
    Add,
    Subtract,
    Multiply,
    Divide,
    Maximum,
    Minimum,
    Neg,
    Abs,
    Square,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Relu,
    /// A product and a sum: of floats of the type, the bias is added before or after.
    Scale {
        factor: f64,
        bias: f64,
        after: bool,
    },
    Clip {
        low: f64,
        high: f64,
    },
    TanhGrad,
    SigmoidGrad,
    ReluGrad,
    SqrtGrad,
    RsqrtGrad,
    /// A function.
    Mapped(Mapping),
}

impl Step {
    /// Whether the result is a product, as far as it is known which ones are subnormal.
    pub(crate) fn multiplies(&self) -> bool {
        matches!(self, Step::Multiply | Step::TanhGrad | Step::SigmoidGrad)
    }

    /// The number of operands.
    pub(crate) fn operands(&self) -> usize {
        match self {
            Step::Add | Step::Subtract | Step::Multiply | Step::Divide | Step::Maximum | Step::Minimum => 2,
            Step::TanhGrad | Step::SigmoidGrad | Step::ReluGrad | Step::SqrtGrad | Step::RsqrtGrad => 2,
            _ => 1,
        }
    }
}

/// The step of an operation with these attributes, if it has one.
pub(super) type PrepareStep = fn(&Spec<'_>) -> Option<Step>;

/// The steps of operations that are not a [`Mapping`].
pub(super) const STEPS: &[(&str, PrepareStep)] = &[
    (pd::Add::NAME, |_| Some(Step::Add)),
    (pd::Subtract::NAME, |_| Some(Step::Subtract)),
    (pd::Multiply::NAME, |_| Some(Step::Multiply)),
    (pd::Divide::NAME, |_| Some(Step::Divide)),
    (pd::Maximum::NAME, |_| Some(Step::Maximum)),
    (pd::Minimum::NAME, |_| Some(Step::Minimum)),
    (pd::Neg::NAME, |_| Some(Step::Neg)),
    (pd::Abs::NAME, |_| Some(Step::Abs)),
    (pd::Square::NAME, |_| Some(Step::Square)),
    (pd::Sqrt::NAME, |_| Some(Step::Sqrt)),
    (pd::Rsqrt::NAME, |_| Some(Step::Rsqrt)),
    (pd::Reciprocal::NAME, |_| Some(Step::Reciprocal)),
    (pd::Relu::NAME, |_| Some(Step::Relu)),
    (pd::Scale::NAME, |s| {
        let operands = s.operand_called("scale").or(s.operand_called("bias"));
        operands.is_none().then(|| Step::Scale {
            factor: s.float("scale", 1.0),
            bias: s.float("bias", 0.0),
            after: s.flag("bias_after_scale", true),
        })
    }),
    (pd::Clip::NAME, |s| {
        let operands = s.operand_called("min").or(s.operand_called("max"));
        operands.is_none().then(|| Step::Clip {
            low: s.float("min", f64::NEG_INFINITY),
            high: s.float("max", f64::INFINITY),
        })
    }),
    (pd::TanhGrad::NAME, |_| Some(Step::TanhGrad)),
    (pd::SigmoidGrad::NAME, |_| Some(Step::SigmoidGrad)),
    (pd::ReluGrad::NAME, |_| Some(Step::ReluGrad)),
    (pd::SqrtGrad::NAME, |_| Some(Step::SqrtGrad)),
    (pd::RsqrtGrad::NAME, |_| Some(Step::RsqrtGrad)),
];

/// A float that chains compute with.
pub(crate) trait Number:
    Element + Lane + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn floats(span: Span<'_, Self>) -> Floats<'_>;
}

macro_rules! number {
    ($float:ident, $floats:ident) => {
        impl Number for $float {
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }

            fn floats(span: Span<'_, Self>) -> Floats<'_> {
                Floats::$floats(span)
            }
        }
    };
}

/// The gradient of `tanh`, of its result and a cotangent. The square of a tiny result would be subnormal, which takes long.
#[inline(always)]
pub(super) fn tanh_grad<T: Number>(o: T, g: T) -> T {
    g * tanh_slope(o)
}

#[inline(always)]
fn tanh_slope<T: Number>(o: T) -> T {
    let o = if o.abs() <= T::from_f64(1e-12) { T::default() } else { o };
    T::from_f64(1.0) - o * o
}

number!(f32, F32);
number!(f64, F64);

/// Where a step finds an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A value from outside of the chain.
    Outside(usize),
    /// The result of a step.
    Register(usize),
}

/// A step with its operands, and the register of its result.
pub(crate) struct Code {
    pub(crate) step: Step,
    pub(crate) from: [Place; 2],
    pub(crate) to: usize,
}

/// The elements of a value from outside.
pub(crate) enum Given<'v, T> {
    /// One for each element of the result.
    Each(&'v [T]),
    /// A row longer than a tile, over and over.
    Row(&'v [T]),
    /// The same for all tiles.
    Fixed(&'v [T]),
    /// The elements of a target, read where they are.
    Target(usize),
    /// The elements of a target that the last step reads and writes; they are copied to this register first.
    Copied(usize, usize),
    /// Each of them so many times, over and over; they are copied to this register first.
    Stretched(&'v [T], usize, usize),
    /// All of them, over and over; they are copied to this register first.
    Repeated(&'v [T], usize),
}

/// Where results are written.
pub(crate) enum Target<'v, T> {
    /// In place.
    Place(&'v mut [T]),
    /// Appended.
    New(&'v mut Vec<T>),
}

/// Consecutive elements of the results.
pub(crate) struct Part<'v, T> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The targets of these elements, and the registers of the results.
    pub(crate) targets: SmallVec<[(Target<'v, T>, usize); 2]>,
}

/// What becomes of subnormal results.
#[derive(Clone, Copy)]
pub(crate) struct Flushing<T: Lane> {
    /// Whether they become zeros.
    pub(crate) mask: T::Mask,
    /// Whether it is avoided to compute subnormal products, which takes long.
    pub(crate) careful: bool,
}

/// A chain that computes a part of its results.
pub(crate) struct Chain<'v, 't, T: Number> {
    pub(crate) codes: &'v [Code],
    pub(crate) given: &'v [Given<'v, T>],
    /// The target that the last step writes to, if it is one.
    pub(crate) direct: Option<usize>,
    /// A tile for each register.
    pub(crate) registers: &'v mut [T],
    pub(crate) part: &'v mut Part<'t, T>,
    /// The elements of a tile, and those that tiles must not cross a multiple of.
    pub(crate) tile: usize,
    pub(crate) row: usize,
    pub(crate) flush: Flushing<T>,
}

impl<T: Number> Chain<'_, '_, T> {
    /// Gives whether there were subnormal products, if it is careful of them.
    pub(crate) fn compute(self) -> bool {
        // Compiled separately, so that what is not careful does not become slower.
        match self.flush.careful {
            true => simd::run(Careful::<_, true>(self)),
            false => simd::run(Careful::<_, false>(self)),
        }
    }
}

/// A chain, and whether it is careful of subnormal products.
struct Careful<C, const CAREFUL: bool>(C);

impl<T: Number, const CAREFUL: bool> Task for Careful<Chain<'_, '_, T>, CAREFUL> {
    type Output = bool;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> bool {
        let Chain {
            codes,
            given,
            direct,
            registers,
            part,
            tile,
            row,
            flush: Flushing { mask, .. },
        } = self.0;
        let mut found = false;
        let mut start = part.start;
        while start < part.end {
            let end = (start + tile).min(part.end).min((start / row + 1) * row);
            let n = end - start;
            for given in given {
                match *given {
                    Given::Copied(target, register) => {
                        if let Some((Target::Place(values), _)) = part.targets.get(target) {
                            registers[register * tile..][..n].copy_from_slice(&values[start - part.start..][..n]);
                        }
                    }
                    Given::Stretched(values, stretch, register) => {
                        let mut to = &mut registers[register * tile..][..n];
                        let mut at = start / stretch;
                        let mut left = (at + 1) * stretch - start;
                        while !to.is_empty() {
                            let (now, rest) = to.split_at_mut(left.min(to.len()));
                            now.fill(values[at % values.len()]);
                            (to, at, left) = (rest, at + 1, stretch);
                        }
                    }
                    Given::Repeated(values, register) => {
                        let mut to = &mut registers[register * tile..][..n];
                        let mut from = &values[start % values.len()..];
                        while !to.is_empty() {
                            let (now, rest) = to.split_at_mut(from.len().min(to.len()));
                            now.copy_from_slice(&from[..now.len()]);
                            (to, from) = (rest, values);
                        }
                    }
                    _ => {}
                }
            }
            for (at, code) in codes.iter().enumerate() {
                let (before, behind) = registers.split_at_mut(code.to * tile);
                let (to, behind) = behind.split_at_mut(tile);
                // Taken out, since the others may be read.
                let mut target = match direct {
                    Some(target) if at + 1 == codes.len() => part.targets.get_mut(target),
                    _ => None,
                }
                .map(|(target, _)| std::mem::replace(target, Target::Place(&mut [])));
                let to = match &mut target {
                    Some(Target::Place(values)) => &mut values[start - part.start..][..n],
                    Some(Target::New(values)) => {
                        let length = values.len();
                        values.resize(length + n, T::default());
                        &mut values[length..]
                    }
                    None => &mut to[..n],
                };
                // No step overwrites its operands.
                let read = |register: usize| -> &[T] {
                    match register < code.to {
                        true => &before[register * tile..][..n],
                        false => &behind[(register - code.to - 1) * tile..][..n],
                    }
                };
                let find = |place| match place {
                    Place::Register(register) => read(register),
                    Place::Outside(number) => match &given[number] {
                        Given::Each(values) => &values[start..end],
                        Given::Row(values) => &values[start % row..][..n],
                        Given::Fixed(values) => &values[..n],
                        &Given::Target(target) => match &part.targets[target].0 {
                            Target::Place(values) => &values[start - part.start..][..n],
                            Target::New(_) => &[],
                        },
                        &Given::Copied(_, register)
                        | &Given::Stretched(.., register)
                        | &Given::Repeated(_, register) => read(register),
                    },
                };
                // Not by `map`, which is not compiled for the instruction set.
                let [first, second] = code.from;
                let from = [find(first), find(second)];
                match CAREFUL && code.step.multiplies() {
                    true => found |= multiply(&code.step, to, from, mask),
                    false => compute(&code.step, to, from, mask),
                }
                if let (Some(target), Some(direct)) = (target, direct) {
                    part.targets[direct].0 = target;
                }
            }
            for (at, (target, register)) in part.targets.iter_mut().enumerate() {
                if Some(at) == direct {
                    continue;
                }
                let result = &registers[*register * tile..][..n];
                match target {
                    Target::Place(values) => values[start - part.start..][..n].copy_from_slice(result),
                    Target::New(values) => values.extend_from_slice(result),
                }
            }
            start = end;
        }
        found
    }
}

/// Computes a step that [multiplies](Step::multiplies), and gives whether there were subnormal products.
#[inline(always)]
fn multiply<T: Number>(step: &Step, to: &mut [T], [x, y]: [&[T]; 2], mask: T::Mask) -> bool {
    let mut found = false;
    let mut product = |a: T, b: T, mask: T::Mask| {
        let (product, is_small) = a.careful_product(b, mask);
        found |= is_small;
        product
    };
    let (one, two) = (T::from_f64(1.0), T::from_f64(2.0));
    match step {
        Step::TanhGrad => binary(to, x, y, |o, g| product(g, tanh_slope(o), mask)),
        Step::SigmoidGrad => binary(to, x, y, |o, g| {
            // With other numbers, which are no results of sigmoid, the second product may be larger than the first.
            let is_less = (o >= T::default()) & (o <= two);
            let g = product(g, o, if is_less { mask } else { T::OFF });
            product(g, one - o, mask)
        }),
        _ => binary(to, x, y, |a, b| product(a, b, mask)),
    }
    found
}

#[inline(always)]
pub(super) fn compute<T: Number>(step: &Step, to: &mut [T], [x, y]: [&[T]; 2], flush: T::Mask) {
    let of = T::from_f64;
    let (zero, half, one) = (of(0.0), of(0.5), of(1.0));
    // Steps that cannot create subnormal numbers are not checked for any.
    match *step {
        Step::Add => binary(to, x, y, |a, b| (a + b).flushed(flush)),
        Step::Subtract => binary(to, x, y, |a, b| (a - b).flushed(flush)),
        Step::Multiply => binary(to, x, y, |a, b| (a * b).flushed(flush)),
        Step::Divide => binary(to, x, y, |a, b| (a / b).flushed(flush)),
        Step::Maximum => binary(to, x, y, |a, b| if (a >= b) | is_nan(a) { a } else { b }),
        Step::Minimum => binary(to, x, y, |a, b| if (a <= b) | is_nan(a) { a } else { b }),
        Step::Neg => unary(to, x, |a| -a),
        Step::Abs => unary(to, x, T::abs),
        Step::Square => unary(to, x, |a| (a * a).flushed(flush)),
        Step::Sqrt => unary(to, x, T::sqrt),
        Step::Rsqrt => unary(to, x, |a| one / a.sqrt()),
        Step::Reciprocal => unary(to, x, |a| (one / a).flushed(flush)),
        Step::Relu => unary(to, x, |a| if (a > zero) | is_nan(a) { a } else { zero }),
        Step::Scale { factor, bias, after } => {
            let (factor, bias) = (of(factor), of(bias));
            match after {
                true => unary(to, x, |a| (a * factor + bias).flushed(flush)),
                false => unary(to, x, |a| ((a + bias) * factor).flushed(flush)),
            }
        }
        Step::Clip { low, high } => {
            let (low, high) = (of(low), of(high));
            unary(to, x, |a| {
                let most = if a > high { high } else { a };
                (if a < low { low } else { most }).flushed(flush)
            });
        }
        Step::TanhGrad => binary(to, x, y, |o, g| tanh_grad(o, g).flushed(flush)),
        Step::SigmoidGrad => binary(to, x, y, |o, g| (g * o * (one - o)).flushed(flush)),
        Step::ReluGrad => binary(to, x, y, |o, g| if o > zero { g } else { zero }),
        Step::SqrtGrad => binary(to, x, y, |o, g| (g * half / o).flushed(flush)),
        Step::RsqrtGrad => binary(to, x, y, |o, g| (-half * g * o * o * o).flushed(flush)),
        Step::Mapped(ref f) => {
            let (from, mask) = (x, flush);
            f(T::floats(Span { from, to, mask }));
        }
    }
}

#[inline(always)]
fn unary<T: Copy>(to: &mut [T], x: &[T], f: impl Fn(T) -> T) {
    for (to, &x) in to.iter_mut().zip(x) {
        *to = f(x);
    }
}

#[inline(always)]
fn binary<T: Copy>(to: &mut [T], x: &[T], y: &[T], mut f: impl FnMut(T, T) -> T) {
    for (to, (&x, &y)) in to.iter_mut().zip(x.iter().zip(y)) {
        *to = f(x, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::subnormal::Flush;

    #[test]
    fn care_does_not_change_results() {
        let mut numbers: Vec<f32> = [
            0.0,
            1.0,
            0.5,
            1.5,
            2.0,
            2.5,
            1e-12,
            1e-20,
            1e-30,
            1e-38,
            3e-38,
            1e-41,
            1e20,
            f32::INFINITY,
        ]
        .into_iter()
        .flat_map(|x| [x, -x, x * 0.7, x * 1.3])
        .collect();
        numbers.push(f32::NAN);
        let (x, y): (Vec<f32>, Vec<f32>) = numbers
            .iter()
            .flat_map(|&x| numbers.iter().map(move |&y| (x, y)))
            .unzip();
        for step in [Step::Multiply, Step::TanhGrad, Step::SigmoidGrad] {
            assert!(step.multiplies());
            let mut results = [vec![0.0; x.len()], vec![0.0; x.len()]];
            let [plain, careful] = &mut results;
            compute(&step, plain, [&x, &y], f32::ON);
            assert!(multiply(&step, careful, [&x, &y], f32::ON));
            let bits = results.map(|all| all.into_iter().map(f32::to_bits).collect::<Vec<_>>());
            assert_eq!(bits[0], bits[1]);
        }
        let large: [f32; 3] = [1.0, 2.0, 0.0];
        assert!(!multiply(&Step::Multiply, &mut [0.0; 3], [&large, &large], f32::ON));
    }
}
