//! Linear algebra, by the factorizations that StableHLO has and JAX calls LAPACK for.

use pir_ir::{Attr, AttrData, Type};

use super::{Call, Compose, Expr};
use crate::stablehlo::compute::linalg::{row_order, triangular, turned};
use crate::stablehlo::from_pd::layouts;
use crate::stablehlo::linalg::{Triangle, Triangular};
use crate::stablehlo::ops as hlo;

pub(super) const OPS: &[(&str, Compose)] = &[
    ("cholesky", |op| {
        let (x, upper) = (square(op, "x")?, op.flag("upper")?);
        let lower = [("lower", op.scope.context().attr(AttrData::Bool(!upper)))];
        let out = op
            .scope
            .build(hlo::Cholesky::NAME, &ids(&[symmetric(x, upper)]), &lower, x.ty());
        // The other half is unspecified.
        Ok(out
            .into_iter()
            .map(|x| if upper { x.triu() } else { x.tril() })
            .collect())
    }),
    ("triangular_solve", |op| {
        let (x, y) = systems(op, "x", "y")?;
        let (upper, transposed) = (op.flag("upper")?, op.flag("transpose")?);
        Ok(vec![solved(upper, transposed, op.flag("unitriangular")?, x, y)])
    }),
    ("cholesky_solve", |op| {
        let (y, x) = systems(op, "y", "x")?;
        let upper = op.flag("upper")?;
        let half = solved(upper, upper, false, y, x);
        Ok(vec![solved(upper, !upper, false, y, half)])
    }),
    ("solve", |op| {
        let (x, y) = systems(op, "x", "y")?;
        Ok(vec![Lu::of(x)?.solve(y)])
    }),
    ("inverse", |op| Ok(vec![inverse(numbers(op, "x")?)?])),
    ("det", |op| {
        let lu = Lu::of(numbers(op, "x")?)?;
        let product = lu.diagonal.prod_with(|o| o.axis([-1]));
        Ok(vec![lu.sign() * product])
    }),
    ("slogdet", |op| {
        let lu = Lu::of(matrices(op, "x")?)?;
        let size = lu.diagonal.abs().log().sum_with(|o| o.axis([-1]));
        let sign = lu.sign() * lu.diagonal.sign().detach().prod_with(|o| o.axis([-1]));
        Ok(vec![op.scope.stack(&[sign, size])])
    }),
    ("lu", |op| {
        let lu = Lu::of(matrices(op, "x")?)?;
        match op.flag("pivot")? {
            true => Ok(op.wanted(&[("out", lu.factors), ("pivots", lu.pivots), ("infos", lu.infos)])),
            false => Err("`pivot = false` is not supported".to_owned()),
        }
    }),
    ("lu_unpack", |op| {
        let (x, pivots) = (matrices(op, "x")?, op.x("y")?);
        let &[.., m, n] = x.dims() else {
            return Ok(Vec::new());
        };
        if m != n {
            return Err("the operand must be a square matrix".to_owned());
        }
        let lower = x.tril_with(|o| o.diagonal(-1)) + identity(x);
        let rows = permutation(x, pivots).detach();
        Ok(op.wanted(&[("pmat", rows), ("l", lower), ("u", x.triu())]))
    }),
    ("lu_solve", |op| {
        let (b, factors) = systems(op, "b", "lu")?;
        match op.text("trans")?.as_str() {
            "N" => Ok(vec![solution(factors, op.x("pivots")?, b)]),
            _ => Err("only `trans = \"N\"` is supported".to_owned()),
        }
    }),
    ("matrix_rank", |op| {
        rank(op, |least, values| match op.flag("use_default_tol")? {
            true => Ok(least),
            false => Ok(values.filled(op.float("tol")?)),
        })
    }),
    ("matrix_rank_tol", |op| {
        let given = op.x("atol_tensor")?.unsqueeze_with(|o| o.axis([-1]));
        rank(op, |least, _| match op.flag("use_default_tol")? {
            true => Ok(least.maximum(given)),
            false => Ok(given),
        })
    }),
    ("matrix_rank_atol_rtol", |op| {
        let given = op.x("atol")?.unsqueeze_with(|o| o.axis([-1]));
        rank(op, |least, values| {
            let relative = match op.some("rtol") {
                Some(rtol) => largest(values) * rtol.unsqueeze_with(|o| o.axis([-1])),
                None => given.greater_than(given.zeros()).select(least.zeros(), least),
            };
            Ok(relative.maximum(given))
        })
    }),
    ("slogdet_v2", |op| {
        let both = op.x("x")?.slogdet();
        let part = |at| both.slice(&[0], [at], [at + 1]).squeeze_with(|o| o.axis([0]));
        Ok(op.wanted(&[("sign", part(0)), ("logdet", part(1))]))
    }),
    ("matrix_power", |op| {
        let (x, n) = (matrices(op, "x")?, op.int("n")?);
        let (mut square, mut left) = (if n < 0 { inverse(x)? } else { x }, n.unsigned_abs());
        let mut power: Option<Expr<'_>> = None;
        while left > 0 {
            if left % 2 == 1 {
                power = Some(power.map_or(square, |power| power.matmul(square)));
            }
            left /= 2;
            if left > 0 {
                square = square.matmul(square);
            }
        }
        Ok(vec![match power {
            Some(power) => power,
            None => identity(x),
        }])
    }),
    ("eigh", |op| {
        let (values, vectors) = eigen(op, &op.text("UPLO")?)?;
        Ok([values, vectors][..op.results.len().min(2)].to_vec())
    }),
    ("eigvalsh", |op| {
        let (values, vectors) = eigen(op, &op.text("uplo")?)?;
        Ok([values, vectors][..op.results.len().min(2)].to_vec())
    }),
    ("qr", qr),
    ("svd", |op| {
        let [values, left, right] = singular(op, op.flag("full_matrices")?)?;
        Ok(op.wanted(&[("u", left), ("s", values), ("vh", right)]))
    }),
    ("svdvals", |op| Ok(vec![singular(op, false)?[0]])),
    ("lstsq", |op| {
        let [values, left, right] = singular(op, false)?;
        let (x, y) = (op.x("x")?, op.x("y")?);
        let (&[.., m, n], last) = (x.dims(), [values.rank() as i64 - 1]) else {
            return Err("the operand must be a matrix".to_owned());
        };
        let digits = if x.elem() == Some(Type::F64) {
            f64::EPSILON
        } else {
            f64::from(f32::EPSILON)
        };
        let least = match op.float("rcond")? {
            least if least > 0.0 => least,
            _ => digits * m.max(n) as f64,
        };
        // The shortest solution: nothing along what the matrix leaves out.
        let counts = values.greater_than(values.max_with(|o| o.axis(last).keepdim(true)) * least);
        let inverse = counts.select(values.ones() / values, values.zeros());
        let scaled = turned(left).matmul(y) * inverse.unsqueeze_with(|o| o.axis([-1]));
        let solution = turned(right).matmul(scaled);
        let off = (x.matmul(solution) - y).square().sum_with(|o| o.axis([-2]));
        let rank = counts.cast(Type::I32).sum_with(|o| o.axis(last).dtype(Type::I32));
        Ok(op.wanted(&[
            ("solution", solution),
            ("residuals", off),
            ("rank", rank),
            ("singular_values", values),
        ]))
    }),
    ("multi_dot", |op| {
        let product = op.all("x").into_iter().reduce(|x, y| x.matmul(y));
        Ok(vec![product.ok_or("`x` must have at least one matrix")?])
    }),
];

/// The largest of singular values in the last dimension.
fn largest(values: Expr<'_>) -> Expr<'_> {
    values.max_with(|o| o.axis([values.rank() as i64 - 1]).keepdim(true))
}

/// The number of singular values above a limit, which is given the default one and the values.
fn rank<'c>(
    op: &Call<'c>,
    limit: impl Fn(Expr<'c>, Expr<'c>) -> Result<Expr<'c>, String>,
) -> Result<Vec<Expr<'c>>, String> {
    let [values, ..] = singular(op, false)?;
    let x = op.x("x")?;
    let digits = if x.elem() == Some(Type::F64) {
        f64::EPSILON
    } else {
        f64::from(f32::EPSILON)
    };
    let extent = x.dims().iter().rev().take(2).max().copied().unwrap_or(1) as f64;
    let least = limit(largest(values) * (digits * extent), values)?;
    let counted = values.greater_than(least).cast(Type::I64);
    // Limits may have more batch dimensions than the matrices.
    let sum = counted.sum_with(|o| o.axis([-1]));
    // PaddlePaddle declares the element type of `x` for some of these.
    let elem = op.results.first().and_then(|&ty| op.scope.context().as_tensor(ty));
    Ok(vec![elem.map_or(sum, |(_, elem)| sum.to(Some(elem)))])
}

fn ids(list: &[Expr<'_>]) -> Vec<pir_ir::ValueId> {
    list.iter().filter_map(|x| x.id()).collect()
}

/// An operand of real matrices of known size.
fn matrices<'c>(op: &Call<'c>, name: &str) -> Result<Expr<'c>, String> {
    let x = numbers(op, name)?;
    match x.is_complex() {
        false => Ok(x),
        true => Err(format!(
            "`{name}` must hold matrices of f32 or f64, not of complex numbers"
        )),
    }
}

/// The type of the elements; of complex ones, that of their parts.
fn part_type(x: Expr<'_>) -> Option<Type> {
    x.elem()
        .map(|elem| x.scope().context().complex_part(elem).unwrap_or(elem))
}

/// An operand of real or complex matrices of known size.
fn numbers<'c>(op: &Call<'c>, name: &str) -> Result<Expr<'c>, String> {
    let (x, shape) = (op.x(name)?, op.shape(name)?);
    let is_small = shape.len() >= 2
        && shape[shape.len() - 2..]
            .iter()
            .all(|&extent| (1..=4096).contains(&extent));
    let elem = part_type(x);
    let is_double = elem == Some(Type::F32) || elem == Some(Type::F64);
    match is_small && is_double {
        true => Ok(x),
        false => Err(format!(
            "`{name}` must hold matrices of f32 or f64, or of complex numbers of these, with 1 to 4096 rows and columns"
        )),
    }
}

/// Coefficients and right-hand sides, of the same batch.
fn systems<'c>(op: &Call<'c>, a: &str, b: &str) -> Result<(Expr<'c>, Expr<'c>), String> {
    let (coefficients, sides) = (matrices(op, a)?, matrices(op, b)?);
    let lead = |x: Expr<'c>| x.dims()[..x.rank() - 2].to_vec();
    match lead(coefficients) == lead(sides) {
        true => Ok((coefficients, sides)),
        false => Err(format!("`{a}` and `{b}` must have the same batch dimensions")),
    }
}

/// An operand of square matrices.
fn square<'c>(op: &Call<'c>, name: &str) -> Result<Expr<'c>, String> {
    let x = matrices(op, name)?;
    match x.dims() {
        [.., m, n] if m == n => Ok(x),
        dims => Err(format!("`{name}` must hold square matrices, and its shape is {dims:?}")),
    }
}

/// The symmetric matrix given by one half. Its derivative is that of a symmetric matrix, which both halves share.
fn symmetric(x: Expr<'_>, upper: bool) -> Expr<'_> {
    let both = (x + turned(x)) * 0.5;
    let read = match upper {
        true => x.triu() + turned(x.triu_with(|o| o.diagonal(1))),
        false => x.tril() + turned(x.tril_with(|o| o.diagonal(-1))),
    };
    both + (read - both).detach()
}

/// The solution of a triangular system.
pub(super) fn solved<'c>(upper: bool, transposed: bool, unit: bool, a: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    let triangle = if upper { Triangle::Upper } else { Triangle::Lower };
    let system = Triangular {
        conjugated: false,
        left: true,
        triangle,
        unit,
        transposed,
    };
    triangular(a.scope(), system, a, b)
}

/// The solution of the system that triangular factors are of.
fn solution<'c>(factors: Expr<'c>, pivots: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    let &[ref lead @ .., n] = pivots.dims() else {
        return b;
    };
    let order = row_order(b.scope(), pivots, n).reshape([lead, &[n, 1]].concat());
    let rows = b.take_along_axis_with(order.expand(b.dims()), |o| o.axis(-2));
    let half = solved(false, false, true, factors, rows);
    solved(true, false, false, factors, half)
}

pub(super) fn identity(x: Expr<'_>) -> Expr<'_> {
    let n = x.dims().last().copied().unwrap_or(0);
    let eye = x.scope().eye_with(n, n, |o| match part_type(x) {
        Some(elem) => o.dtype(elem),
        None => o,
    });
    eye.cast_like(x).expand(x.dims())
}

/// The inverses of square matrices.
pub(crate) fn inverse(x: Expr<'_>) -> Result<Expr<'_>, String> {
    Ok(Lu::of(x)?.solve(identity(x)))
}

/// A function of LAPACK, by its name without the letter of the type.
pub(crate) fn lapack<'c>(name: &str, operands: &[Expr<'c>], options: &[(&str, u8)], results: &[Type]) -> Vec<Expr<'c>> {
    let Some(x) = operands.first() else { return Vec::new() };
    let (ctx, elem) = (x.scope().context(), x.elem());
    let part = elem.and_then(|elem| ctx.complex_part(elem));
    let (letter, name) = match (part.or(elem) == Some(Type::F64), part.is_some(), name) {
        (true, false, name) => ('d', name),
        (false, false, name) => ('s', name),
        (is_wide, true, name) => (if is_wide { 'z' } else { 'c' }, of_complex(name)),
    };
    let options: Vec<_> = options
        .iter()
        .map(|&(key, value)| {
            let (value, ty) = (value.into(), Type::UI8);
            (ctx.sym(key), ctx.attr(AttrData::Int { value, ty }))
        })
        .collect();
    let given: Vec<Type> = operands.iter().filter_map(|x| x.ty()).collect();
    let layouts = |types| layouts(ctx, x.rank(), types);
    let (Some(taken), Some(made)) = (layouts(&given), layouts(results)) else {
        return Vec::new();
    };
    let target: Attr = ctx.attr(AttrData::Str(format!("lapack_{letter}{name}_ffi").into()));
    let attrs = [
        ("call_target_name", target),
        ("mhlo.backend_config", ctx.attr(AttrData::Dict(ctx.dict(&options)))),
        ("operand_layouts", taken),
        ("result_layouts", made),
    ];
    x.scope()
        .build_all(hlo::CustomCall::NAME, &ids(operands), &attrs, results)
}

/// What LAPACK calls a function if it is of complex numbers.
fn of_complex(name: &str) -> &str {
    match name {
        "syevd" => "heevd",
        "orgqr" => "ungqr",
        name => name,
    }
}

/// Triangular factors of square matrices, and the order of the rows.
struct Lu<'c> {
    factors: Expr<'c>,
    pivots: Expr<'c>,
    diagonal: Expr<'c>,
    /// The number of the first pivot that is zero, from 1 on; 0 if none is.
    infos: Expr<'c>,
}

impl<'c> Lu<'c> {
    fn of(x: Expr<'c>) -> Result<Self, String> {
        let (ctx, &[ref lead @ .., m, n]) = (x.scope().context(), x.dims()) else {
            return Err("the operand must be a matrix".to_owned());
        };
        let (Some(ty), true) = (x.ty(), m == n) else {
            return Err("the operand must be a square matrix".to_owned());
        };
        let types = [
            ty,
            ctx.tensor(&[lead, &[n]].concat(), Type::I32),
            ctx.tensor(lead, Type::I32),
        ];
        let &[factors, pivots, infos] = &lapack("getrf", &[x], &[], &types)[..] else {
            return Err("the factors cannot be computed".to_owned());
        };
        let places: Vec<i64> = (0..n).map(|k| k * (n + 1)).collect();
        let flat = factors.reshape([lead, &[n * n]].concat());
        let diagonal = flat.index_select_with(x.scope().indices(&places), |o| o.axis(lead.len() as i64));
        Ok(Lu {
            factors,
            pivots,
            diagonal,
            infos,
        })
    }

    fn solve(&self, b: Expr<'c>) -> Expr<'c> {
        solution(self.factors, self.pivots, b)
    }

    /// Whether the rows were exchanged an odd number of times: -1, or 1.
    fn sign(&self) -> Expr<'c> {
        let n = self.pivots.dims().last().copied().unwrap_or(0);
        let own: Vec<i64> = (1..=n).collect();
        let own = self.pivots.scope().full_int_array_with(&own, |o| o.dtype(Type::I32));
        let is_exchanged = self.pivots.not_equal(own.expand(self.pivots.dims()));
        let signs = is_exchanged.cast_like(self.diagonal) * -2.0 + 1.0;
        signs.prod_with(|o| o.axis([-1]))
    }
}

/// The matrix that puts the rows of a product of factors where they were in what was factorized.
pub(super) fn permutation<'c>(like: Expr<'c>, pivots: Expr<'c>) -> Expr<'c> {
    let &[ref lead @ .., n] = pivots.dims() else {
        return like;
    };
    let order = row_order(like.scope(), pivots, n).reshape([lead, &[1, n]].concat());
    let own = like.scope().arange_with(|o| o.end(n)).reshape([n, 1]);
    order.cast(Type::I64).equal(own).cast_like(like)
}

/// The eigenvalues and eigenvectors of symmetric matrices.
fn eigen<'c>(op: &Call<'c>, half: &str) -> Result<(Expr<'c>, Expr<'c>), String> {
    let x = square(op, "x")?;
    let (ctx, &[ref lead @ .., n]) = (op.scope.context(), &x.dims()[..x.rank() - 1]) else {
        return Err("the operand must be a matrix".to_owned());
    };
    let whole = symmetric(x, half == "U");
    let types = [
        whole.ty(),
        x.elem().map(|elem| ctx.tensor(&[lead, &[n]].concat(), elem)),
        Some(ctx.tensor(lead, Type::I32)),
    ];
    let types: Vec<Type> = types.into_iter().flatten().collect();
    match lapack("syevd", &[whole], &[("mode", b'V'), ("uplo", b'L')], &types)[..] {
        [vectors, values, _] => Ok((values, vectors)),
        _ => Err("the eigenvalues cannot be computed".to_owned()),
    }
}

/// The singular values, the vectors in columns and those in rows.
fn singular<'c>(op: &Call<'c>, full: bool) -> Result<[Expr<'c>; 3], String> {
    let (x, ctx) = (matrices(op, "x")?, op.scope.context());
    let (&[ref lead @ .., m, n], Some(elem)) = (x.dims(), x.elem()) else {
        return Err("the operand must be a matrix".to_owned());
    };
    let k = m.min(n);
    let (rows, columns) = if full { (m, n) } else { (k, k) };
    let ty = |last: &[i64], elem| ctx.tensor(&[lead, last].concat(), elem);
    let types = [
        ty(&[m, n], elem),
        ty(&[k], elem),
        ty(&[m, rows], elem),
        ty(&[columns, n], elem),
        ty(&[], Type::I32),
    ];
    match lapack("gesdd", &[x], &[("mode", if full { b'A' } else { b'S' })], &types)[..] {
        [_, values, left, right, _] => Ok([values, left, right]),
        _ => Err("the singular values cannot be computed".to_owned()),
    }
}

/// An orthogonal factor by reflections, and a triangular one.
fn qr<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (x, mode, ctx) = (matrices(op, "x")?, op.text("mode")?, op.scope.context());
    let (&[ref lead @ .., m, n], Some(elem), rank) = (x.dims(), x.elem(), x.rank()) else {
        return Err("the operand must be a matrix".to_owned());
    };
    let (k, ty) = (m.min(n), |last: &[i64]| ctx.tensor(&[lead, last].concat(), elem));
    if mode != "reduced" || op.results.len() != 2 {
        return Err(format!(
            "only the mode `reduced` with two results is supported, not `{mode}`"
        ));
    }
    let &[factors, sizes] = &lapack("geqrf", &[x], &[], &[ty(&[m, n]), ty(&[k])])[..] else {
        return Err("the factors cannot be computed".to_owned());
    };
    let columns = factors.cut(rank - 1, 0, k);
    let mut out = lapack("orgqr", &[columns, sizes], &[], &[ty(&[m, k])]);
    out.push(factors.cut(rank - 2, 0, k).triu());
    Ok(out)
}
