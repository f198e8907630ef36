//! Kernels of complex numbers: no other one gets any.

use pir_dialects::pd;
use pir_dialects::stablehlo::ops;

use super::broadcast::{zip, zip_in_place};
use super::linalg::einsum;
use super::matmul::matmul;
use super::reduce::{Groups, reduce_as, reducing, reduction, sum, sum_of_floats};
use super::scan::cumsum;
use super::{Kernel, Prepare, Spec, one, take};
use crate::tensor::buffer::gathered;
use crate::tensor::{Complex, Data, Element, Part, Tensor};

type C = Complex<f64>;

const ONE: C = C { re: 1.0, im: 0.0 };

/// Operations whose kernels move, create or add elements of any type.
pub(super) const SAME: &[&str] = &[
    pd::AssignValue::NAME,
    pd::Assign::NAME,
    pd::Concat::NAME,
    pd::Detach::NAME,
    pd::ExpandAs::NAME,
    pd::Expand::NAME,
    pd::Flatten::NAME,
    pd::Flip::NAME,
    pd::FullLike::NAME,
    pd::Full::NAME,
    pd::GatherGrad::NAME,
    pd::GatherNdGrad::NAME,
    pd::GatherNd::NAME,
    pd::Gather::NAME,
    pd::IndexAdd::NAME,
    pd::IndexSelectGrad::NAME,
    pd::IndexSelect::NAME,
    pd::Numel::NAME,
    pd::Pad::NAME,
    pd::Reshape::NAME,
    pd::Roll::NAME,
    pd::ScatterNdAdd::NAME,
    pd::Scatter::NAME,
    pd::SetValueWithTensor::NAME,
    pd::Shape64::NAME,
    pd::Shape::NAME,
    pd::SliceGrad::NAME,
    pd::Slice::NAME,
    pd::SplitWithNum::NAME,
    pd::Split::NAME,
    pd::Squeeze::NAME,
    pd::Stack::NAME,
    pd::StridedSlice::NAME,
    pd::TakeAlongAxisGrad::NAME,
    pd::TakeAlongAxis::NAME,
    pd::Tile::NAME,
    pd::Transpose::NAME,
    pd::Tril::NAME,
    pd::Triu::NAME,
    pd::Unbind::NAME,
    pd::Unsqueeze::NAME,
    pd::Unstack::NAME,
    pd::Where::NAME,
    // Eigenvalues of real matrices are complex; what is not known is refused by its name.
    ops::Cholesky::NAME,
    ops::CustomCall::NAME,
    ops::TriangularSolve::NAME,
];

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Exp::NAME, |_| each(C::exp)),
    (pd::Expm1::NAME, |_| each(C::exp_m1)),
    (pd::Log::NAME, |_| each(C::ln)),
    (pd::Log1p::NAME, |_| each(C::ln_1p)),
    (pd::Sqrt::NAME, |_| each(C::sqrt)),
    (pd::Rsqrt::NAME, |_| each(|z| z.sqrt().recip())),
    (pd::Reciprocal::NAME, |_| each(C::recip)),
    (pd::Sigmoid::NAME, |_| each(C::logistic)),
    (pd::Sin::NAME, |_| each(C::sin)),
    (pd::Cos::NAME, |_| each(C::cos)),
    (pd::Tan::NAME, |_| each(C::tan)),
    (pd::Sinh::NAME, |_| each(C::sinh)),
    (pd::Cosh::NAME, |_| each(C::cosh)),
    (pd::Tanh::NAME, |_| each(C::tanh)),
    (pd::Square::NAME, |_| each(|z| z * z)),
    (pd::Neg::NAME, |_| each(|z| -z)),
    (pd::Sign::NAME, |_| each(C::sign)),
    (pd::Scale::NAME, scale),
    (pd::Abs::NAME, |_| to_parts(C::abs)),
    (pd::AbsGrad::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x, g] = take(inputs)?;
            let g = g.cast(x.dtype())?;
            one(zipped(x, g, |x, g| g * x.sign())?)
        }))
    }),
    (pd::AddN::NAME, |_| {
        Ok(Box::new(|inputs| {
            let sum = inputs.into_iter().map(Ok).reduce(|a, b| zipped(a?, b?, |a, b| a + b));
            one(sum.ok_or("at least one operand is needed")??)
        }))
    }),
    (ops::Real::NAME, |_| to_parts(|z| z.re)),
    (ops::Imag::NAME, |_| to_parts(|z| z.im)),
    (pd::Isfinite::NAME, |_| test(C::is_finite)),
    (pd::Isnan::NAME, |_| test(|z| z.re.is_nan() || z.im.is_nan())),
    (ops::Complex::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [re, im] = take(inputs)?;
            one(Tensor::of_parts(&re, &im)?)
        }))
    }),
    (pd::Cast::NAME, |s| {
        let dtype = s.result_dtype(0)?;
        if !dtype.is_float() && !dtype.is_complex() {
            return Err(format!("complex numbers cannot be converted to `{}`", dtype.name()));
        }
        Ok(Box::new(move |inputs| {
            let [x] = take(inputs)?;
            one(x.cast(dtype)?)
        }))
    }),
    (pd::Add::NAME, |_| pairs(|a, b| a + b)),
    (pd::Subtract::NAME, |_| pairs(|a, b| a - b)),
    (pd::Multiply::NAME, |_| pairs(|a, b| a * b)),
    (pd::Divide::NAME, |_| pairs(|a, b| a / b)),
    (pd::ElementwisePow::NAME, |_| pairs(C::powc)),
    // PaddlePaddle multiplies with the conjugate of the derivative.
    (pd::TanhGrad::NAME, |_| pairs(|out, g| g * (ONE - out * out).conj())),
    (pd::SigmoidGrad::NAME, |_| {
        pairs(|out, g| g * (out * (ONE - out)).conj())
    }),
    (pd::SqrtGrad::NAME, |_| pairs(|out, g| g * 0.5 / out.conj())),
    (pd::RsqrtGrad::NAME, |_| {
        pairs(|out, g| g * (out * out * out).conj() * -0.5)
    }),
    (pd::Equal::NAME, |_| compare(|a, b| a == b)),
    (pd::NotEqual::NAME, |_| compare(|a, b| a != b)),
    (pd::Sum::NAME, |s| {
        reduction(s, |x, axes| by_parts(&x, |part| sum(part.clone(), axes)))
    }),
    (pd::Mean::NAME, |s| {
        reduction(s, |x, axes| {
            let count: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
            by_parts(&x, |part| sum_of_floats(part, axes, count as f64))
        })
    }),
    (pd::Prod::NAME, |s| {
        reduction(s, |x, axes| {
            let groups = Groups::new(&x, axes)?;
            fn product<T: Part>(g: &[Complex<T>]) -> Complex<T> {
                Complex::narrow(g.iter().fold(ONE, |product, v| product * v.wide()))
            }
            match groups.x.data() {
                Data::C64(v) => groups.each(v, product),
                Data::C128(v) => groups.each(v, product),
                _ => Err(REAL.to_owned()),
            }
        })
    }),
    (pd::ReduceAs::NAME, |s| {
        reducing(s, |x, target| {
            let data = by_parts(&x, |part| Ok(reduce_as(part, target)?.into_parts().1))?;
            Ok(Tensor::from_parts(target.clone(), data))
        })
    }),
    (pd::Einsum::NAME, |s| {
        let kernel = einsum(s)?;
        Ok(Box::new(move |inputs| {
            let parts: Result<Vec<_>, String> = inputs.iter().map(|x| x.parts()?.ok_or(REAL.to_owned())).collect();
            let (parts, mut sums) = (parts?, [None, None]);
            if parts.len() > MOST_FACTORS {
                return Err(format!("it has more than {MOST_FACTORS} operands"));
            }
            // Each term of the expanded product; it has a power of the imaginary unit as a factor.
            for chosen in 0..1u32 << parts.len() {
                let factor = |(at, part): (usize, &(Tensor, Tensor))| match chosen >> at & 1 {
                    0 => part.0.clone(),
                    _ => part.1.clone(),
                };
                let [term] = take(
                    kernel(parts.iter().enumerate().map(factor).collect())?
                        .into_iter()
                        .collect(),
                )?;
                let (power, sum) = (chosen.count_ones(), &mut sums[chosen.count_ones() as usize % 2]);
                *sum = Some(match (sum.take(), power % 4 < 2) {
                    (None, true) => term,
                    (None, false) => combined(term.clone(), term, |x, _| -x)?,
                    (Some(sum), true) => combined(sum, term, |x, y| x + y)?,
                    (Some(sum), false) => combined(sum, term, |x, y| x - y)?,
                });
            }
            match sums {
                [Some(re), Some(im)] => one(Tensor::of_parts(&re, &im)?),
                _ => Err("an operand is missing".to_owned()),
            }
        }))
    }),
    (pd::Cumsum::NAME, |s| {
        let kernel = cumsum(s)?;
        Ok(Box::new(move |inputs| {
            let (x, rest) = inputs.split_first().ok_or("an operand is missing")?;
            let (re, im) = x.parts()?.ok_or(REAL)?;
            let sums = |part: Tensor| kernel(std::iter::once(part).chain(rest.iter().cloned()).collect());
            let ([re], [im]) = (
                take(sums(re)?.into_iter().collect())?,
                take(sums(im)?.into_iter().collect())?,
            );
            one(Tensor::of_parts(&re, &im)?)
        }))
    }),
    (pd::Bmm::NAME, |_| product(false, false)),
    (pd::Matmul::NAME, |s| {
        product(s.flag("transpose_x", false), s.flag("transpose_y", false))
    }),
];

/// The maximum number of factors in an expanded product.
const MOST_FACTORS: usize = 6;

fn product(tx: bool, ty: bool) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        let (Some((a, b)), Some((c, d))) = (x.parts()?, y.parts()?) else {
            return Err(REAL.to_owned());
        };
        let product = |x: &Tensor, y: &Tensor| matmul(x.clone(), y.clone(), tx, ty);
        let re = combined(product(&a, &c)?, product(&b, &d)?, |x, y| x - y)?;
        let im = combined(product(&a, &d)?, product(&b, &c)?, |x, y| x + y)?;
        one(Tensor::of_parts(&re, &im)?)
    }))
}

const REAL: &str = "the operands must have a complex element type";

/// Applies a function to each element.
fn map(x: &Tensor, f: impl Fn(C) -> C) -> Result<Data, String> {
    fn all<T: Part>(values: &[Complex<T>], f: impl Fn(C) -> C) -> Result<Data, String>
    where
        Complex<T>: Element,
    {
        let mapped = values.iter().map(|&v| Complex::narrow(f(v.wide())));
        Ok(Element::wrap(gathered::<Complex<T>>(mapped)?))
    }
    match x.data() {
        Data::C64(values) => all(values, f),
        Data::C128(values) => all(values, f),
        _ => Err(REAL.to_owned()),
    }
}

fn each(f: impl Fn(C) -> C + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        one(Tensor::from_parts(x.shape().into(), map(&x, &f)?))
    }))
}

/// A real number of each element.
fn to_parts(f: impl Fn(C) -> f64 + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let data = match x.data() {
            Data::C64(values) => f32::wrap(gathered(values.iter().map(|v| f(v.wide()) as f32))?),
            Data::C128(values) => f64::wrap(gathered(values.iter().map(|&v| f(v)))?),
            _ => return Err(REAL.to_owned()),
        };
        one(Tensor::from_parts(x.shape().into(), data))
    }))
}

fn test(f: impl Fn(C) -> bool + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let data = match x.data() {
            Data::C64(values) => gathered(values.iter().map(|v| f(v.wide())))?,
            Data::C128(values) => gathered(values.iter().map(|&v| f(v)))?,
            _ => return Err(REAL.to_owned()),
        };
        one(Tensor::from_parts(x.shape().into(), bool::wrap(data)))
    }))
}

fn pairs(f: impl Fn(C, C) -> C + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        one(zipped(x, y, &f)?)
    }))
}

/// Combines the elements of two tensors.
fn zipped(x: Tensor, y: Tensor, f: impl Fn(C, C) -> C) -> Result<Tensor, String> {
    match x.data() {
        Data::C64(_) => zip_in_place(x, y, |a: Complex<f32>, b: Complex<f32>| {
            Complex::narrow(f(a.wide(), b.wide()))
        }),
        Data::C128(_) => zip_in_place(x, y, f),
        _ => Err(REAL.to_owned()),
    }
}

fn compare(f: impl Fn(C, C) -> bool + Send + Sync + 'static) -> Result<Kernel, String> {
    Ok(Box::new(move |inputs| {
        let [x, y] = take(inputs)?;
        one(match x.data() {
            Data::C64(_) => zip(&x, &y, |a: Complex<f32>, b: Complex<f32>| f(a.wide(), b.wide()))?,
            Data::C128(_) => zip(&x, &y, &f)?,
            _ => return Err(REAL.to_owned()),
        })
    }))
}

fn scale(s: &Spec<'_>) -> Result<Kernel, String> {
    if s.operand_called("scale").is_some() || s.operand_called("bias").is_some() {
        return Err("a factor that is an operand is not supported for complex numbers".to_owned());
    }
    let (factor, bias) = (s.float("scale", 1.0), C::new(s.float("bias", 0.0), 0.0));
    match s.flag("bias_after_scale", true) {
        true => each(move |z| z * factor + bias),
        false => each(move |z| (z + bias) * factor),
    }
}

/// Applies a function that is linear with real factors to the real and the imaginary parts.
fn by_parts(x: &Tensor, f: impl Fn(&Tensor) -> Result<Data, String>) -> Result<Data, String> {
    let (re, im) = x.parts()?.ok_or(REAL)?;
    let part = |part: &Tensor| -> Result<Tensor, String> {
        let data = f(part)?;
        let count = crate::each_type!(&data, v => v.len());
        Ok(Tensor::from_parts([count].into_iter().collect(), data))
    };
    Ok(Tensor::of_parts(&part(&re)?, &part(&im)?)?.into_parts().1)
}

fn combined(x: Tensor, y: Tensor, f: impl Fn(f64, f64) -> f64) -> Result<Tensor, String> {
    match x.data() {
        Data::F32(_) => zip_in_place(x, y, |a: f32, b: f32| f(a.into(), b.into()) as f32),
        _ => zip_in_place(x, y, f),
    }
}
