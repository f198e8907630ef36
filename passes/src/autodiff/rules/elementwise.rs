//! Elementwise operations, with broadcasting.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use pir_dialects::pd::{self, Expr};

use super::Rule;
use super::formula::{adjoint, derivative, slope};
use super::scalars::{slope_in_base, slope_in_exponent};

pub(super) const RULES: &[Rule] = &[
    derivative!(Add, |_, g| { x: g, y: g }).complex(),
    derivative!(Subtract, |_, g| { x: g, y: -g }).complex(),
    derivative!(Multiply, |op, g| let square = op.is_of_one_value(); {
        x: if square { g * op.x() * 2.0 } else { g * op.y() },
        y: (!square).then(|| g * op.x()),
    })
    .complex(),
    // d(x/y)/dy = -(x/y)/y: reads the result and the divisor, not the dividend, unless that is there anyway.
    derivative!(Divide, |op, g| let q = g / op.y(); {
        x: q,
        y: -(q * if op.is_captured(pd::Divide::x) { op.x() / op.y() } else { op.out() }),
    })
    .complex(),
    derivative!(ElementwisePow, |op, g| {
        x: slope_in_base(op.x(), op.y(), g),
        y: slope_in_exponent(op.x(), op.y(), op.out(), g),
    })
    .complex(),
    derivative!(Remainder, |op, g| { x: g, y: -(g * (op.x() / op.y()).floor()) }),
    // Gradient operations that split ties evenly.
    derivative!(Maximum, |op, g| let [x, y] = op.x().maximum_grad(op.y(), g); { x: x, y: y }),
    derivative!(Minimum, |op, g| let [x, y] = op.x().minimum_grad(op.y(), g); { x: x, y: y }),
    // A NaN loses: the first of equal ones gets the cotangent, and of two NaNs.
    derivative!(Fmax, |op, g| let (first, zeros) = first_wins(op.x().greater_equal(op.y()), op.y(), g); {
        x: first.select(g, zeros),
        y: first.select(zeros, g),
    }),
    derivative!(Fmin, |op, g| let (first, zeros) = first_wins(op.x().less_equal(op.y()), op.y(), g); {
        x: first.select(g, zeros),
        y: first.select(zeros, g),
    }),
    derivative!(Atan2, |op, g| let n = op.x().square() + op.y().square(); {
        x: g * op.y() / n,
        y: -(g * op.x() / n),
    }),
    derivative!(Where, |op, g| let zeros = g.zeros(); {
        x: op.condition().select(g, zeros),
        y: op.condition().select(zeros, g),
    })
    .complex(),
    // From the result. The gradient operations have PaddlePaddle's convention for complex numbers, which is another one.
    derivative!(Tanh, |op, g| match op.out().is_complex() {
        true => g * (1.0 - op.out().square()),
        false => op.out().tanh_grad(g),
    })
    .complex(),
    derivative!(Sigmoid, |op, g| match op.out().is_complex() {
        true => g * op.out() * (1.0 - op.out()),
        false => op.out().sigmoid_grad(g),
    })
    .complex(),
    derivative!(Relu, |op, g| op.out().relu_grad(g)),
    derivative!(Sqrt, |op, g| match op.out().is_complex() {
        true => g * 0.5 / op.out(),
        false => op.out().sqrt_grad(g),
    })
    .complex(),
    derivative!(Rsqrt, |op, g| match op.out().is_complex() {
        true => g * -0.5 * (op.out() / op.x()),
        false => op.out().rsqrt_grad(g),
    })
    .complex(),
    derivative!(Reciprocal, |op, g| -(g * op.out().square())).complex(),
    slope!(Exp, |op| op.out()).complex(),
    slope!(Expm1, |op| op.out() + 1.0).complex(),
    slope!(Tan, |op| op.out().square() + 1.0).complex(),
    // From the operand.
    // The conjugate of a complex number is the square of its size over it; at zero the derivative is zero.
    derivative!(Abs, |op, g| match op.x().is_complex() {
        true => {
            let x = op.x();
            let divisor = x.equal(x.zeros()).select(x.ones(), x);
            (g * op.out()).cast_like(x) / divisor
        }
        false => op.x().abs_grad(g),
    })
    .complex(),
    derivative!(Neg, |_, g| -g).complex(),
    slope!(Square, |op| op.x() * 2.0).complex(),
    derivative!(Log, |op, g| g / op.x()).complex(),
    derivative!(Log2, |op, g| g / (op.x() * LN_2)),
    derivative!(Log10, |op, g| g / (op.x() * LN_10)),
    derivative!(Log1p, |op, g| g / (op.x() + 1.0)).complex(),
    slope!(Sin, |op| op.x().cos()).complex(),
    slope!(Cos, |op| -op.x().sin()).complex(),
    slope!(Sinh, |op| op.x().cosh()).complex(),
    slope!(Cosh, |op| op.x().sinh()).complex(),
    derivative!(Asin, |op, g| g / (1.0 - op.x().square()).sqrt()),
    // Negated after the division: minus zero would turn the infinity at the ends around.
    derivative!(Acos, |op, g| -(g / (1.0 - op.x().square()).sqrt())),
    derivative!(Atan, |op, g| g / (op.x().square() + 1.0)),
    slope!(Erf, |op| (-op.x().square()).exp() * FRAC_2_SQRT_PI),
    derivative!(Assign, |_, g| g).complex(),
    derivative!(Increment, |_, g| g),
    derivative!(Print, |_, g| g),
    derivative!(Cast, |op, g| g.cast_like(op.x())).complex(),
    adjoint!(AddN, |op| {
        let g = op.grad();
        op.elements().into_iter().for_each(|element| op.add_to(element, g));
    })
    .complex(),
];

/// Where the first operand is chosen, which is also where the second is a NaN; and zeros.
fn first_wins<'c>(wins: Expr<'c>, second: Expr<'c>, g: Expr<'c>) -> (Expr<'c>, Expr<'c>) {
    (wins.logical_or(second.isnan()), g.zeros())
}
