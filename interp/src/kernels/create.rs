//! Constants, ranges, and operations on shapes.

use pir_dialects::pd;
use pir_ir::AttrData;

use super::broadcast::expand;
use super::unary::number;
use super::{Kernel, Prepare, Spec, dims, one, take};
use crate::tensor::buffer::gathered;
use crate::tensor::{Element, Shape, Tensor, checked_count};

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (pd::Full::NAME, |s| {
        let shape = dims(&s.ints("shape").ok_or("`shape` is missing")?)?;
        filled(s, &shape, "value")
    }),
    (pd::Const::NAME, constant),
    (pd::Constant::NAME, constant),
    (pd::FullIntArray::NAME, |s| {
        let values = s.ints("value").ok_or("`value` is missing")?;
        let dtype = s.result_dtype(0)?;
        let tensor = Tensor::new(&[values.len()], values)?.cast(dtype)?;
        Ok(Box::new(move |_| one(tensor.clone())))
    }),
    (pd::AssignValue::NAME, |s| {
        let shape = dims(&s.ints("shape").ok_or("`shape` is missing")?)?;
        let ctx = s.view.ctx;
        let values = s.view.attr("values").ok_or("`values` are missing")?;
        // Integers beyond 2^53 are kept exactly.
        let tensor = match ctx.attr_data(values) {
            AttrData::Ints(values) => Tensor::new(&shape, values.to_vec())?,
            AttrData::Elements(elements) if !elements.is_complex() => {
                super::constant_tensor(elements, &shape, s.result_dtype(0)?)?
            }
            AttrData::Array(values) => {
                let number = |&attr| {
                    let truth = || ctx.attr_bool(attr).map(|b| f64::from(u8::from(b)));
                    ctx.attr_f64(attr).or_else(truth)
                };
                let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
                Tensor::new(&shape, numbers.ok_or("`values` must be numbers")?)?
            }
            _ => return Err("`values` must be a list of numbers".to_owned()),
        };
        let tensor = tensor.cast(s.result_dtype(0)?)?;
        Ok(Box::new(move |_| one(tensor.clone())))
    }),
    (pd::FullLike::NAME, |s| {
        let (value, place) = (s.float("value", 0.0), s.operand_called("value"));
        let dtype = s.result_dtype(0)?;
        Ok(Box::new(move |inputs| {
            let value = number(&inputs, place, value)?;
            let [x] = take(inputs)?;
            one(Tensor::full(x.shape(), dtype, value)?)
        }))
    }),
    (pd::Arange::NAME, |s| {
        let dtype = s.result_dtype(0)?;
        let known = [("start", 0.0), ("end", 0.0), ("step", 1.0)].map(|(n, d)| (s.operand_called(n), s.float(n, d)));
        Ok(Box::new(move |inputs| {
            let [start, end, step] = known.map(|(place, value)| number(&inputs, place, value));
            let (start, end, step) = (start?, end?, step?);
            if step == 0.0 {
                return Err("the step of a range cannot be zero".to_owned());
            }
            let n = ((end - start) / step).ceil();
            if !n.is_finite() {
                return Err("the range is infinite".to_owned());
            }
            let count = checked_count(&[n.max(0.0) as usize], 8)?;
            let values = gathered((0..count).map(|i| start + step * i as f64))?;
            one(Tensor::of(&[count], values)?.cast(dtype)?)
        }))
    }),
    (pd::Assert::NAME, |_| {
        Ok(Box::new(|inputs| {
            let (cond, data) = inputs.split_first().ok_or("the condition is missing")?;
            match crate::each_type!(cond.data(), v => v.iter().all(|&x| Element::to_f64(x) != 0.0)) {
                true => Ok(super::Outputs::new()),
                false => {
                    let values: Vec<String> = data.iter().map(ToString::to_string).collect();
                    Err(format!("the condition is false, for {}", values.join(", ")))
                }
            }
        }))
    }),
    (pd::Shape::NAME, |_| shape_of()),
    (pd::Shape64::NAME, |_| shape_of()),
    (pd::Numel::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x] = take(inputs)?;
            one(Tensor::scalar(x.len() as i64))
        }))
    }),
];

fn shape_of() -> Result<Kernel, String> {
    Ok(Box::new(|inputs| {
        let [x] = take(inputs)?;
        let shape = gathered(x.shape().iter().map(|&d| d as i64))?;
        one(Tensor::of(&[shape.len()], shape)?)
    }))
}

fn constant(s: &Spec<'_>) -> Result<Kernel, String> {
    let shape = dims(&s.ints("shape").unwrap_or_default())?;
    filled(s, &shape, "value")
}

/// A constant: created once and shared.
fn filled(s: &Spec<'_>, shape: &[usize], name: &str) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    if let Some(at) = s.operand_called(name) {
        let shape: Shape = shape.into();
        return Ok(Box::new(move |inputs| {
            let value = number(&inputs, Some(at), 0.0)?;
            one(Tensor::full(&shape, dtype, value)?)
        }));
    }
    let value = s.view.attr(name).ok_or_else(|| format!("`{name}` is missing"))?;
    let tensor = match s.view.ctx.attr_data(value) {
        // Integers beyond 2^53 cannot be represented as floats.
        AttrData::Int { value, .. } if !dtype.is_float() => {
            let value = i64::try_from(*value).map_err(|_| "the number is out of range")?;
            let one = Tensor::scalar(value).cast(dtype)?;
            expand(&one, shape)?
        }
        _ => Tensor::full(
            shape,
            dtype,
            s.view.ctx.attr_f64(value).ok_or("the value is not a number")?,
        )?,
    };
    Ok(Box::new(move |_| one(tensor.clone())))
}
