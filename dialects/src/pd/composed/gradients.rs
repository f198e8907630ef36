//! Gradient operations that read results, where the operation itself is differentiated from its operands.

use super::matrix::{identity, permutation, solved};
use super::{Call, Compose, Expr, fits_in_table};
use crate::stablehlo::compute::conjugate;
use crate::stablehlo::compute::linalg::{adjoint, turned};

pub(super) const OPS: &[(&str, Compose)] = &[
    ("selu_grad", |op| {
        let (out, g) = (op.x("out")?, op.x("out_grad")?);
        let (scale, alpha) = (op.float("scale")?, op.float("alpha")?);
        Ok(vec![out.above(0.0).select(g * scale, g * (out + scale * alpha))])
    }),
    ("relu6_grad", |op| Ok(vec![between(op, 6.0)? * op.x("out_grad")?])),
    ("hardsigmoid_grad", |op| {
        Ok(vec![between(op, 1.0)? * op.x("out_grad")? * op.float("slope")?])
    }),
    ("erfinv_grad", |op| {
        let (out, g) = (op.x("out")?, op.x("out_grad")?);
        Ok(vec![g * (out * out).exp() * (std::f64::consts::PI.sqrt() / 2.0)])
    }),
    ("gammaincc_grad", |op| {
        // The integrand, at its lower end.
        let (a, x, g) = (op.x("x")?, op.x("y")?, op.x("out_grad")?);
        let size = ((a - 1.0) * x.log() - x - super::math::lgamma(a)).exp();
        Ok(vec![-(size * g)])
    }),
    ("fill_diagonal_tensor_grad", |op| {
        let g = op.x("out_grad")?;
        let &[m, n] = &*op.shape("out_grad")? else {
            return Err("`out_grad` must be a matrix".to_owned());
        };
        if [op.int("dim1")?, op.int("dim2")?] != [0, 1] {
            return Err("`dim1` and `dim2` must be 0 and 1".to_owned());
        }
        let on = super::places::diagonal(op, g, &[m, n], op.int("offset")?)?;
        Ok(vec![on.select(g.zeros(), g)])
    }),
    ("crop_grad", |op| {
        let (g, extents, mut offsets) = (op.x("out_grad")?, op.shape("x")?, op.ints("offsets")?);
        offsets.resize(extents.len(), 0);
        // An unknown extent is the rest of the dimension.
        let places = g.dims().iter().zip(&extents).zip(&offsets);
        let pads: Vec<i64> = places
            .flat_map(|((&size, &extent), &offset)| [offset, if size < 0 { 0 } else { extent - offset - size }])
            .collect();
        Ok(vec![g.pad(&pads).reshape(&*extents)])
    }),
    ("rrelu_grad", |op| Ok(vec![op.x("noise")? * op.x("out_grad")?])),
    ("huber_loss_grad", |op| {
        let delta = op.float("delta")?;
        let g = op.x("residual")?.clip(-delta, delta) * op.x("out_grad")?;
        Ok(op.wanted(&[("input_grad", -g), ("label_grad", g)]))
    }),
    ("warpctc_grad", |op| {
        let slope = op.x("warpctcgrad")?;
        let batch = *op
            .shape("warpctcgrad")?
            .get(1)
            .ok_or("`warpctcgrad` must have three dimensions")?;
        let each = |name: &str| Ok::<_, String>(op.x(name)?.reshape([1, batch, 1]).cast_like(slope));
        let out = slope * each("loss_grad")?;
        Ok(vec![match op.flag("norm_by_times")? {
            true => out / each("logits_length")?,
            false => out,
        }])
    }),
    ("warprnnt_grad", |op| {
        let (slope, g) = (op.x("warprnntgrad")?, op.x("loss_grad")?);
        let batch = *op
            .shape("loss_grad")?
            .first()
            .ok_or("`loss_grad` must have at least one dimension")?;
        Ok(vec![slope * g.reshape([batch, 1, 1, 1]).cast_like(slope)])
    }),
    ("cross_entropy_with_softmax_grad", cross_entropy),
    ("channel_norm_grad", channel_norm),
    ("cholesky_grad", |op| {
        let upper = op.flag("upper")?;
        let [l, g] = [op.x("out")?, op.x("out_grad")?].map(|x| if upper { turned(x) } else { x }.tril());
        let inner = turned(l).matmul(g);
        let inner = inner.tril() + turned(inner.tril_with(|o| o.diagonal(-1)));
        // Half the diagonal is in either half.
        let from_left = |x| solved(false, true, false, l, x);
        Ok(vec![turned(from_left(turned(from_left(inner)))) * 0.5])
    }),
    ("lu_grad", |op| {
        let (factors, pivots, g) = (op.x("out")?, op.x("pivots")?, op.x("out_grad")?);
        let unit = factors.tril_with(|o| o.diagonal(-1)) + identity(factors);
        let below = turned(unit).matmul(g.tril_with(|o| o.diagonal(-1)));
        let above = g.triu().matmul(turned(factors.triu()));
        let inner = below.tril_with(|o| o.diagonal(-1)) + above.triu();
        let half = solved(false, true, true, factors, inner);
        let whole = turned(solved(true, false, false, factors, turned(half)));
        Ok(vec![permutation(factors, pivots).matmul(whole)])
    }),
    ("qr_grad", |op| {
        let (q, r, q_grad, r_grad) = (op.x("q")?, op.x("r")?, op.x("q_grad")?, op.x("r_grad")?);
        if op.text("mode")? != "reduced" || r.dims().len() < 2 || r.dims()[r.rank() - 2] != r.dims()[r.rank() - 1] {
            return Err("only the mode `reduced` of square matrices is supported".to_owned());
        }
        let inner = r.matmul(turned(r_grad)) - turned(q_grad).matmul(q);
        let symmetric = inner.tril() + turned(inner.tril_with(|o| o.diagonal(-1)));
        let whole = q_grad + q.matmul(symmetric);
        Ok(vec![turned(solved(true, false, false, r, turned(whole)))])
    }),
    ("divide_double_grad", |op| {
        // Of `grad_x = grad_out / y` and `grad_y = -grad_out * out / y`, in terms of `grad_x`.
        let (y, out, slope) = (op.x("y")?, op.x("out")?, op.x("grad_x")?);
        let [x_tangent, y_tangent] = ["grad_x_grad", "grad_y_grad"].map(|name| op.some(name).unwrap_or(slope.zeros()));
        Ok(op.wanted(&[
            ("y_grad", (slope * (out * y_tangent - x_tangent) / y).reduce_like(y)),
            ("out_grad", -(slope * y_tangent)),
            ("grad_out_grad", (x_tangent - out * y_tangent) / y),
        ]))
    }),
    ("sqrt_double_grad", |op| {
        let (out, slope, tangent) = (op.x("out")?, op.x("grad_x")?, op.x("grad_x_grad")?);
        Ok(op.wanted(&[
            ("out_grad", -(slope * tangent / out)),
            ("grad_out_grad", tangent * 0.5 / out),
        ]))
    }),
    ("rsqrt_double_grad", |op| {
        let (out, slope, tangent) = (op.x("out")?, op.x("grad_x")?, op.x("grad_x_grad")?);
        Ok(op.wanted(&[
            ("out_grad", slope * tangent * 3.0 / out),
            ("grad_out_grad", tangent * out * out * out * -0.5),
        ]))
    }),
    ("inverse_grad", |op| {
        let (inverse, g) = (adjoint(op.x("out")?), op.x("out_grad")?);
        Ok(vec![-inverse.matmul(g).matmul(inverse)])
    }),
    ("det_grad", |op| {
        let slope = conjugate(op.x("out")?) * op.x("out_grad")?;
        Ok(vec![adjoint(op.x("x")?.inverse()) * single(slope)])
    }),
    ("slogdet_grad", |op| {
        let (x, g) = (op.x("x")?, op.x("out_grad")?);
        // The sign does not change.
        let slope = g.cut(0, 1, 2).reshape(&x.dims()[..x.rank().saturating_sub(2)]);
        Ok(vec![turned(x.inverse()) * single(slope)])
    }),
    ("solve_grad", |op| {
        let (x, out, g) = (op.x("x")?, op.x("out")?, op.x("out_grad")?);
        let y_grad = turned(x).solve(g);
        let x_grad = -y_grad.matmul(turned(out));
        Ok(op.wanted(&[("x_grad", x_grad), ("y_grad", y_grad)]))
    }),
    ("triangular_solve_grad", |op| {
        let (upper, transposed, unit) = (op.flag("upper")?, op.flag("transpose")?, op.flag("unitriangular")?);
        let (x, out, g) = (op.x("x")?, op.x("out")?, op.x("out_grad")?);
        let y_grad = solved(upper, !transposed, unit, x, g);
        let slope = match transposed {
            true => out.matmul(turned(y_grad)),
            false => y_grad.matmul(turned(out)),
        };
        // Elements that are not read have no derivative.
        let inner = i64::from(unit);
        let read = match upper {
            true => slope.triu_with(|o| o.diagonal(inner)),
            false => slope.tril_with(|o| o.diagonal(-inner)),
        };
        Ok(op.wanted(&[("x_grad", -read), ("y_grad", y_grad)]))
    }),
    ("eigvalsh_grad", |op| {
        let (vectors, g) = (op.x("eigenvectors")?, op.x("eigenvalues_grad")?);
        Ok(vec![(vectors * row(g)).matmul(turned(vectors))])
    }),
    ("svdvals_grad", |op| {
        let [u, _, vh] = op.x("x")?.svd()[..] else {
            return Err("the singular vectors cannot be computed".to_owned());
        };
        Ok(vec![(u * row(op.x("s_grad")?)).matmul(vh)])
    }),
    // J. Townsend, *Differentiating the singular value decomposition*, 2016.
    ("svd_grad", |op| {
        if op.flag("full_matrices")? {
            return Err(
                "with `full_matrices`, singular vectors without a singular value have no derivative".to_owned(),
            );
        }
        let (u, vh, s) = (op.x("u")?, op.x("vh")?, row(op.x("s")?));
        let (v, u_grad, v_grad) = (turned(vh), op.x("u_grad")?, turned(op.x("vh_grad")?));
        let &[ref lead @ .., _, size] = s.dims() else {
            return Err("the shape of the singular values is unknown".to_owned());
        };
        let square = [lead, &[size, size]].concat();
        let columns = s.square().expand(&*square);
        let gap = columns - turned(columns);
        let diagonal = gap.equal(gap.zeros());
        let gap = diagonal.select(gap.ones(), gap);
        let angles = [(u, u_grad), (v, v_grad)].map(|(vectors, grad)| {
            let inner = turned(vectors).matmul(grad);
            (inner - turned(inner)) / gap
        });
        let values = row(op.x("s_grad")?).expand(&*square);
        let values = diagonal.select(values, values.zeros());
        let inner = u.matmul(angles[0] * s + angles[1] * turned(s) + values).matmul(vh);
        // The parts outside the vectors.
        let [u_rest, v_rest] =
            [(u, u_grad), (v, v_grad)].map(|(vectors, grad)| grad - vectors.matmul(turned(vectors).matmul(grad)));
        Ok(vec![inner + (u_rest / s).matmul(vh) + (u / s).matmul(turned(v_rest))])
    }),
    ("eigh_grad", |op| {
        let (values, vectors) = (op.x("out_w")?, op.x("out_v")?);
        let columns = row(values).expand(vectors.dims());
        let gap = columns - turned(columns);
        let diagonal = gap.equal(gap.zeros());
        let inner = turned(vectors).matmul(op.x("out_v_grad")?) / diagonal.select(gap.ones(), gap);
        let on = row(op.x("out_w_grad")?).expand(vectors.dims()) * identity(vectors);
        let middle = diagonal.select(on, inner);
        let whole = vectors.matmul(middle).matmul(turned(vectors));
        // Only symmetric matrices have these vectors; what is left of the other part is rounding, or the length of the vectors.
        Ok(vec![(whole + turned(whole)) * 0.5])
    }),
];

/// Where the result is above zero and below a limit.
fn between<'c>(op: &Call<'c>, limit: f64) -> Result<Expr<'c>, String> {
    let out = op.x("out")?;
    let inside = out.above(0.0).logical_and(out.less_than(out.filled(limit)));
    Ok(inside.select(out.ones(), out.zeros()))
}

/// Numbers as matrices of one element.
fn single(x: Expr<'_>) -> Expr<'_> {
    x.reshape([x.dims(), &[1, 1]].concat())
}

/// The numbers of the last dimension as a row of matrices.
fn row(x: Expr<'_>) -> Expr<'_> {
    let dims = x.dims();
    let lead = &dims[..dims.len().saturating_sub(1)];
    x.reshape([lead, &[1, dims.last().copied().unwrap_or(1)]].concat())
}

/// The gradient of normalizing each channel by the moments of the batch (Ioffe and Szegedy, "Batch Normalization", 2015, section 3).
fn channel_norm<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (x, g) = (op.x("x")?, op.x("out_grad")?);
    let shape = op.shape("x")?;
    let channel = match op.text("data_format")?.as_str() {
        "NHWC" => shape.len().checked_sub(1),
        _ => Some(1),
    };
    let channel = channel.filter(|&at| shape.len() > 1 && at < shape.len());
    let channel = channel.ok_or("the operand needs a batch and channels")?;
    let axes: Vec<i64> = (0..shape.len())
        .filter(|&axis| axis != channel)
        .map(|axis| axis as i64)
        .collect();
    let count: i64 = axes.iter().map(|&axis| shape[axis as usize]).product();
    let mut wide = vec![1; shape.len()];
    wide[channel] = shape[channel];
    let [mean, factor] = [op.x("mean")?, op.x("factor")?].map(|v| v.cast_like(x).reshape(&*wide));
    let normal = (x - mean) * factor;
    let [sum, slope] = [g, g * normal].map(|v| v.sum_with(|o| o.axis(&axes).keepdim(true)));
    let factor = match op.some("scale") {
        Some(scale) => factor * scale.cast_like(x).reshape(&*wide),
        None => factor,
    };
    let [mean, steep] = [sum, slope].map(|sum| sum * (1.0 / count.max(1) as f64));
    let channels = [slope, sum].map(|sum| sum.squeeze_with(|o| o.axis(&axes)));
    Ok([&[(g - mean - normal * steep) * factor][..], &channels].concat())
}

/// The softmax without the labels, times the cotangent of the loss.
fn cross_entropy<'c>(op: &Call<'c>) -> Result<Vec<Expr<'c>>, String> {
    let (label, softmax, g) = (op.x("label")?, op.x("softmax")?, op.x("loss_grad")?);
    let axis = op.axis("axis", softmax)?;
    let slope = |target: Expr<'c>| match op.flag("use_softmax")? {
        true => Ok::<_, String>(softmax - target),
        false => Ok(-(target / softmax)),
    };
    let wide = |x: Expr<'c>| match x.rank() < softmax.rank() {
        true => x.unsqueeze_with(|o| o.axis([axis as i64])),
        false => x,
    };
    if op.flag("soft_label")? {
        return Ok(vec![slope(label)? * g]);
    }
    let classes = op.shape("softmax")?[axis];
    let mut shape = vec![1; softmax.rank()];
    shape[axis] = classes;
    fits_in_table(&[classes])?;
    let numbers: Vec<i64> = (0..classes).collect();
    let label = wide(label);
    let elem = label.elem().ok_or("the element type of `label` is unknown")?;
    let class = op
        .scope
        .full_int_array_with(&numbers, |o| o.dtype(elem))
        .reshape(&*shape);
    let target = label
        .expand(softmax.dims())
        .equal(class.expand(softmax.dims()))
        .cast_like(softmax);
    let ignored = label.equal(label.filled(op.int("ignore_index")? as f64));
    let loss = wide(g);
    Ok(vec![slope(target)? * ignored.select(loss.zeros(), loss)])
}
