//! Functions of numbers, elementwise or along an axis.

use std::f64::consts::PI;

use pir_ir::Type;

use super::places::diagonal;
use super::{Call, Compose, Expr, fits_in_table};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("outer", |op| {
        let (x, y) = (op.x("x")?, op.x("y")?);
        Ok(vec![x.reshape([count(x), 1]) * y.reshape([1, count(y)])])
    }),
    ("linear", |op| {
        let product = op.x("x")?.matmul(op.x("weight")?);
        Ok(vec![match op.some("bias") {
            Some(bias) => product + bias,
            None => product,
        }])
    }),
    ("lerp", |op| {
        let (x, y) = (op.x("x")?, op.x("y")?);
        // PaddlePaddle has no derivative in the weight.
        Ok(vec![x + op.x("weight")?.detach() * (y - x)])
    }),
    ("logit", |op| {
        let (x, eps) = (op.x("x")?, op.float("eps")?);
        let inside = if eps > 0.0 { x.clip(eps, 1.0 - eps) } else { x };
        Ok(vec![(inside / (1.0 - inside)).log()])
    }),
    ("label_smooth", |op| {
        let (label, eps) = (op.x("label")?, op.float("epsilon")?);
        let classes = *op
            .shape("label")?
            .last()
            .ok_or("`label` must have at least one dimension")?;
        let kept = label * f64::from(1.0 - eps as f32);
        Ok(vec![match op.some("prior_dist") {
            Some(prior) if ![-1, classes].contains(&count(prior)) => {
                return Err(format!("`prior_dist` must have {classes} elements, one for each class"));
            }
            // PaddlePaddle has no derivative in the distribution.
            Some(prior) => kept + prior.detach().reshape([classes]) * eps,
            None => kept + f64::from(eps as f32 / classes as f32),
        }])
    }),
    ("cross", |op| {
        let (x, y) = (op.x("x")?, op.x("y")?);
        let first = op.shape("x")?.iter().position(|&extent| extent == 3);
        let axis = match op.int("axis")? {
            9 => first.ok_or("a dimension must have extent 3")?,
            _ => op.axis("axis", x)?,
        } as i64;
        Ok(vec![
            turned(x, 1, axis) * turned(y, 2, axis) - turned(x, 2, axis) * turned(y, 1, axis),
        ])
    }),
    ("lgamma", |op| Ok(vec![lgamma(op.x("x")?)])),
    ("gammaln", |op| Ok(vec![lgamma(op.x("x")?)])),
    ("digamma", |op| Ok(vec![digamma(op.x("x")?)])),
    ("baddbmm", |op| {
        let product = op.x("x")?.matmul(op.x("y")?) * op.float("alpha")?;
        Ok(vec![op.x("input")? * op.float("beta")? + product])
    }),
    ("copysign", |op| {
        let (x, y) = (op.x("x")?, op.x("y")?);
        // A zero has the sign of its reciprocal.
        let is_negative = (y.ones() / y).less_than(y.zeros()).logical_or(y.less_than(y.zeros()));
        Ok(vec![x.abs() * is_negative.select(y.filled(-1.0), y.ones()).detach()])
    }),
    ("renorm", |op| {
        let (x, p, most) = (op.x("x")?, op.float("p")?, op.float("max_norm")?);
        let axis = op.axis("axis", x)? as i64;
        let others: Vec<i64> = (0..x.rank() as i64).filter(|&other| other != axis).collect();
        let norm = x.abs().pow(p).sum_with(|o| o.axis(&*others).keepdim(true)).pow(1.0 / p);
        let factor = norm.above(most).select(norm.filled(most) / norm, norm.ones());
        Ok(vec![x * factor])
    }),
    ("polygamma", |op| {
        let (x, n) = (op.x("x")?, op.int("n")?);
        match n {
            1..=12 => Ok(vec![polygamma(x, n as i32)]),
            _ => Err(format!("the order `n` must be from 1 to 12, not {n}")),
        }
    }),
    ("hsigmoid_loss", hsigmoid_loss),
    ("erfinv", |op| Ok(vec![erfinv(op.x("x")?)])),
    ("isclose", |op| Ok(vec![close(op)?])),
    ("allclose", |op| Ok(vec![close(op)?.all()])),
    ("bilinear", |op| {
        let (x, y, weight) = (op.x("x")?, op.x("y")?, op.x("weight")?);
        let ([rows, _], [out, left, right]) = (pair(&op.shape("x")?)?, triple(&op.shape("weight")?)?);
        // Of [left, out * right], so that one product does.
        let flat = weight.transpose(&[1, 0, 2]).reshape([left, out * right]);
        let products = x.matmul(flat).reshape([rows, out, right]) * y.reshape([rows, 1, right]);
        let sums = products.sum_with(|o| o.axis([2]));
        Ok(vec![match op.some("bias") {
            Some(bias) => sums + bias,
            None => sums,
        }])
    }),
    ("dist", |op| {
        let (x, p) = (op.x("x")? - op.x("y")?, op.float("p")?);
        let norm = x.p_norm_with(|o| o.porder(p).asvector(true));
        Ok(vec![norm.reshape(op.result_shape()?)])
    }),
    ("logcumsumexp", |op| {
        let (axis, reverse) = (op.axis("axis", op.x("x")?), op.flag("reverse")?);
        if op.flag("exclusive")? {
            return Err("`exclusive` is not supported".to_owned());
        }
        let (x, axis) = match op.flag("flatten")? {
            true => (op.x("x")?.reshape([-1]), 0),
            false => (op.x("x")?, axis?),
        };
        // Line k of a square holds the numbers of sum k, which no difference of sums has lost digits of.
        let mut shape = x.static_shape().ok_or("the shape of `x` must be static")?;
        let n = shape[axis];
        let (mut square, mut mask) = (shape.clone(), vec![1; shape.len() - axis - 1]);
        shape.insert(axis, 1);
        square.insert(axis, n);
        mask.splice(0..0, [n, n]);
        fits_in_table(&[n, n])?;
        let numbers: Vec<f64> = (0..n * n)
            .map(|at| f64::from(if reverse { at / n <= at % n } else { at % n <= at / n }))
            .collect();
        let inside = op.numbers(&numbers, &mask, x).above(0.0);
        let terms = x.reshape(shape).expand(&*square);
        let terms = inside.expand(&*square).select(terms, terms.filled(f64::NEG_INFINITY));
        let sums = terms.logsumexp_with(|o| o.axis(&[axis as i64 + 1]));
        Ok(vec![sums])
    }),
    ("searchsorted", |op| {
        let (sorted, values) = (op.x("sorted_sequence")?, op.x("values")?);
        let sorted = match sorted.rank() {
            0 | 1 => sorted.reshape([vec![1; values.rank()], vec![-1]].concat()),
            _ => sorted.unsqueeze_with(|o| o.axis([-2])),
        };
        let values = values.unsqueeze_with(|o| o.axis([-1]));
        let before = match op.flag("right")? {
            true => sorted.less_equal(values),
            false => sorted.less_than(values),
        };
        let counted = if op.flag("out_int32")? { Type::I32 } else { Type::I64 };
        Ok(vec![before.cast(counted).sum_with(|o| o.axis([-1]).dtype(counted))])
    }),
    ("diag_embed", |op| {
        let (x, offset) = (op.x("input")?, op.int("offset")?);
        let rank = x.rank() as i64 + 1;
        let [rows, columns] = [op.int("dim1")?, op.int("dim2")?].map(|dim| dim.rem_euclid(rank));
        if rows == columns {
            return Err("`dim1` and `dim2` must differ".to_owned());
        }
        let mut shape = op.shape("input")?;
        let n = shape.pop().ok_or("`input` must have at least one dimension")? + offset.abs();
        fits_in_table(&[n, n])?;
        let borders = [vec![0; 2 * shape.len()], vec![offset.max(0), (-offset).max(0)]].concat();
        let lines = x
            .pad(&borders)
            .reshape([&*shape, &[1, n]].concat())
            .expand([&*shape, &[n, n]].concat());
        let on = diagonal(op, x, &[n, n], offset)?.expand(lines.dims());
        let mut others = 0..rank - 2;
        let order: Vec<i64> = (0..rank)
            .map(|dim| match dim {
                _ if dim == rows => rank - 2,
                _ if dim == columns => rank - 1,
                _ => others.next().unwrap_or(0),
            })
            .collect();
        Ok(vec![on.select(lines, lines.zeros()).transpose(&order)])
    }),
    ("l1_norm", |op| {
        Ok(vec![op.x("x")?.abs().sum().reshape(op.result_shape()?)])
    }),
    ("affine_channel", |op| {
        let shape = op.shape("x")?;
        if op.text("data_layout")? == "NHWC" || shape.len() < 2 {
            return Err("only the layout NCHW, with at least two dimensions, is supported".to_owned());
        }
        let mut wide = vec![1; shape.len()];
        wide[1] = shape[1];
        Ok(vec![
            op.x("x")? * op.x("scale")?.reshape(&*wide) + op.x("bias")?.reshape(&*wide),
        ])
    }),
    ("ones_like", |op| Ok(vec![like(op, 1.0)?])),
    ("zeros_like", |op| Ok(vec![like(op, 0.0)?])),
    ("empty", |op| Ok(vec![like(op, 0.0)?])),
    ("empty_like", |op| Ok(vec![like(op, 0.0)?])),
];

/// The number of elements, or -1, with which `pd.reshape` finds it out.
fn count(x: Expr<'_>) -> i64 {
    x.static_shape().map_or(-1, |shape| shape.iter().product())
}

fn turned<'c>(v: Expr<'c>, by: i64, axis: i64) -> Expr<'c> {
    v.roll_with([-by], |o| o.axis(&[axis]))
}

fn pair(shape: &[i64]) -> Result<[i64; 2], String> {
    shape.try_into().map_err(|_| "`x` must have two dimensions".to_owned())
}

fn triple(shape: &[i64]) -> Result<[i64; 3], String> {
    shape
        .try_into()
        .map_err(|_| "`weight` must have three dimensions".to_owned())
}

/// A constant of the type of the result.
fn like<'c>(op: &Call<'c>, value: f64) -> Result<Expr<'c>, String> {
    let ty = *op.results.first().ok_or("the result is missing")?;
    match op.scope.context().is_static(ty) {
        true => Ok(op.scope.full_of(ty, value)),
        false => Err("the shape of the result must be static".to_owned()),
    }
}

fn close<'c>(op: &Call<'c>) -> Result<Expr<'c>, String> {
    let (x, y) = (op.x("x")?, op.x("y")?);
    let within = (x - y)
        .abs()
        .less_equal(y.abs() * op.float("rtol")? + op.float("atol")?);
    let same = within.logical_or(x.equal(y));
    Ok(match op.flag("equal_nan")? {
        true => same.logical_or(x.isnan().logical_and(y.isnan())),
        false => same,
    })
}

/// Where the asymptotic series of the two functions below begin. Smaller arguments are shifted above it.
const SHIFT: i64 = 12;

/// Values from 1/2 on; where they are moved, for the recurrence that moves them, and ones elsewhere; and where the series begins.
fn moved<'c>(x: Expr<'c>, left: Expr<'c>) -> (Expr<'c>, Expr<'c>, Expr<'c>) {
    let z = left.select(1.0 - x, x);
    let near = z.less_than(z.filled(SHIFT as f64));
    (near, near.select(z, z.ones()), near.select(z + SHIFT as f64, z))
}

/// log Γ by Stirling's series, the recurrence below it, and the reflection formula on the left of 1/2.
pub(super) fn lgamma(x: Expr<'_>) -> Expr<'_> {
    let left = x.less_than(x.filled(0.5));
    let (near, z, far) = moved(x, left);
    let rising = (1..SHIFT).fold(z, |product, k| product * (z + k as f64));
    let inverse = far.ones() / far;
    let series = inverse
        * polynomial(
            inverse * inverse,
            &[1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0],
        );
    let whole = (far - 0.5) * far.log() - far + (0.5 * (2.0 * PI).ln()) + series;
    let right = whole - near.select(rising.log(), x.zeros());
    // Not a logarithm of a sine of zero, whose derivative would be multiplied by zero.
    let inside = left.select(x, x.filled(0.5));
    let reflected = -(sine(inside).abs() * (1.0 / PI)).log() - right;
    left.select(reflected, right)
}

/// A polynomial, by Horner's rule.
fn polynomial<'c>(x: Expr<'c>, coefficients: &[f64]) -> Expr<'c> {
    coefficients
        .iter()
        .rev()
        .fold(x.zeros(), |sum, &coefficient| sum * x + coefficient)
}

/// sin πx, exact at integers.
fn sine(x: Expr<'_>) -> Expr<'_> {
    let whole = x.floor();
    let odd = (whole * 0.5).floor() * -2.0 + whole;
    ((x - whole) * PI).sin() * (odd * -2.0 + 1.0)
}

/// The derivative of log Γ, by the same formulas.
fn digamma(x: Expr<'_>) -> Expr<'_> {
    let left = x.less_than(x.filled(0.5));
    let (near, z, far) = moved(x, left);
    let below = (1..SHIFT).fold(z.ones() / z, |sum, k| sum + z.ones() / (z + k as f64));
    let inverse = far.ones() / far;
    let square = inverse * inverse;
    let series = square
        * polynomial(
            square,
            &[-1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0],
        );
    let right = far.log() - inverse * 0.5 + series - near.select(below, x.zeros());
    let inside = left.select(x, x.filled(0.25));
    let part = inside - inside.floor();
    let cotangent = (part * PI).cos() / (part * PI).sin() * PI;
    // At zero the sign decides; further poles have none.
    let zero = x.equal(x.zeros());
    let pole = zero.select(-(x.ones() / x), x.filled(f64::NAN)).detach();
    is_pole(x).select(pole, left.select(right - cotangent, right))
}

/// Where the derivatives of the logarithm of the gamma function have poles.
fn is_pole(x: Expr<'_>) -> Expr<'_> {
    x.equal(x.floor()).logical_and(x.less_equal(x.zeros()))
}

/// The numbers of Bernoulli B(2k) for k from 1.
pub const BERNOULLI: [f64; 8] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
];

fn power(x: Expr<'_>, n: i32) -> Expr<'_> {
    (1..n).fold(x, |product, _| product * x)
}

/// The derivative of order `n` of the digamma function: sums of powers from where Euler and Maclaurin's series is exact, and on the left
/// of 1/2 what the derivatives of the cotangent reflect, which are polynomials in it.
fn polygamma(x: Expr<'_>, n: i32) -> Expr<'_> {
    let left = x.less_than(x.filled(0.5));
    let (near, z, far) = moved(x, left);
    let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
    let below = (1..SHIFT).fold(z.ones() / power(z, n + 1), |sum, k| {
        sum + z.ones() / power(z + k as f64, n + 1)
    });
    // (n - 1)!/z^n + n!/(2 z^(n + 1)) + the sum of B(2k) (2k + n - 1)!/((2k)! z^(2k + n)).
    let terms: Vec<f64> = (1..)
        .zip(&BERNOULLI[..7])
        .map(|(k, b)| b * factorial(2 * k + n - 1) / factorial(2 * k))
        .collect();
    let inverse = far.ones() / far;
    let square = inverse * inverse;
    let series = square * polynomial(square, &terms) + inverse * (0.5 * factorial(n)) + factorial(n - 1);
    let size = series * power(inverse, n) + near.select(below * factorial(n), x.zeros());
    let right = if n % 2 == 0 { -size } else { size };
    // Each derivative of a power of the cotangent c of πx multiplies with -π(1 + c²).
    let mut reflected = vec![0.0, PI];
    for _ in 0..n {
        let slopes: Vec<f64> = (1..reflected.len()).map(|k| -PI * k as f64 * reflected[k]).collect();
        reflected = vec![0.0; slopes.len() + 2];
        slopes.iter().enumerate().for_each(|(k, slope)| {
            reflected[k] += slope;
            reflected[k + 2] += slope;
        });
    }
    let inside = left.select(x, x.filled(0.25));
    let part = inside - inside.floor();
    let cotangent = (part * PI).cos() / (part * PI).sin();
    let mirrored = if n % 2 == 0 { right } else { -right };
    let pole = x.filled(if n % 2 == 0 { f64::NEG_INFINITY } else { f64::INFINITY });
    is_pole(x).select(pole, left.select(mirrored - polynomial(cotangent, &reflected), right))
}

/// A softplus for each step on the path to a class in a tree; the missing steps of shorter paths contribute zeros, as
/// in PaddlePaddle.
fn hsigmoid_loss<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (x, w, classes) = (op.x("x")?, op.x("w")?, op.int("num_classes")?);
    let (rows, features) = match op.shape("x")?[..] {
        [rows, features] => (rows, features),
        _ => return Err("`x` must be a matrix".to_owned()),
    };
    // The node of each step, -1 after the last one, and which way the path goes there.
    let (path, code) = match (op.some("path"), op.some("code")) {
        (Some(path), Some(code)) => (path, code),
        _ if (2..=MOST_CLASSES).contains(&classes) => {
            let steps = i64::from((classes - 1).ilog2() + 1);
            let leaf = |at: i64| (at / steps + classes, at % steps);
            let of = |f: &dyn Fn(i64, i64) -> i64| {
                let table: Vec<i64> = (0..classes * steps).map(|at| f(leaf(at).0, leaf(at).1)).collect();
                let label = op.x("label")?.reshape([rows]);
                let table = op.scope.full_int_array_with(&table, |o| o.dtype(Type::I64));
                Ok::<_, String>(table.reshape([classes, steps]).gather_with(label, |o| o.axis(0)))
            };
            (
                of(&|leaf, step| (leaf >> (step + 1)) - 1)?,
                of(&|leaf, step| leaf >> step & 1)?,
            )
        }
        _ => {
            return Err(format!(
                "without `path` and `code`, `num_classes` must be from 2 to {MOST_CLASSES}, not {classes}"
            ));
        }
    };
    let steps = *path.dims().last().ok_or("`path` must have at least one dimension")?;
    let is_step = path.greater_equal(path.zeros());
    let node = is_step.select(path, path.zeros()).reshape([rows * steps]);
    let weights = w.gather_with(node, |o| o.axis(0)).reshape([rows, steps, features]);
    let mut score = (weights * x.reshape([rows, 1, features])).sum_with(|o| o.axis([2]));
    if let Some(bias) = op.some("bias") {
        score = score
            + bias
                .reshape([-1])
                .gather_with(node, |o| o.axis(0))
                .reshape([rows, steps]);
    }
    let score = is_step.select(score.clip(-40.0, 40.0), score.zeros());
    let softplus = (score.exp() + 1.0).log();
    let turned = is_step.select(code.cast_like(score), score.zeros()) * score;
    let loss = (softplus - turned).sum_with(|o| o.axis([1]).keepdim(true));
    // Sparse gradients are not supported.
    let sparse = op
        .scope
        .full_of(op.scope.context().tensor(&[0], x.elem().unwrap_or(Type::F32)), 0.0);
    Ok(op.wanted(&[("out", loss), ("pre_out", softplus), ("w_out", sparse)]))
}

/// The maximum number of classes whose tree is a constant.
const MOST_CLASSES: i64 = 1 << 14;

/// The inverse of the error function: an approximation by logarithms (S. Winitzki, 2008), and three of Newton's steps.
fn erfinv<'c>(x: Expr<'c>) -> Expr<'c> {
    const A: f64 = 0.147;
    // Zero and what is outside would be quotients of zeros and infinities, also in the derivative.
    let (zero, inner) = (x.equal(x.zeros()), x.abs().less_than(x.ones()));
    let safe = inner.logical_and(zero.logical_not()).select(x, x.filled(0.5));
    let log = (1.0 - safe * safe).log();
    let half = log * 0.5 + 2.0 / (PI * A);
    let size = ((half * half - log * (1.0 / A)).sqrt() - half).sqrt();
    let start = safe.less_than(x.zeros()).select(-size, size);
    let newton = |y: Expr<'c>, x: Expr<'c>| y - (y.erf() - x) * (y * y).exp() * (PI.sqrt() / 2.0);
    let near = (0..3).fold(start, |y, _| newton(y, safe));
    // On the boundary the infinity of its sign, beyond it not a number.
    let infinite = x
        .less_than(x.zeros())
        .select(x.filled(f64::NEG_INFINITY), x.filled(f64::INFINITY));
    let outside = x.abs().equal(x.ones()).select(infinite, x.filled(f64::NAN));
    inner.select(zero.select(x * (PI.sqrt() / 2.0), near), outside)
}
