//! Kernels of MLIR's `arith`, `math`, `index` and `ub`, with the semantics of the code that MLIR compiles them to.
//!
//! Integers wrap around at their width; index has 64 bits. What is poison in MLIR must not be an error, since such operations may
//! be moved to where the program would not have computed them: it is zero, or the nearest number. What is undefined, like a
//! division by zero, is an error. `f16` and `bf16` are computed as `f32` and rounded.

mod float;
mod integer;
mod tensors;

use half::{bf16, f16};
use pir_dialects::mlir::{arith, index, ub};
use pir_ir::AttrData;

use super::binary::picked;
use super::{Inputs, Kernel, Outputs, Prepare, Spec, constant_tensor, one, take};
use crate::tensor::buffer::gathered;
use crate::tensor::{DType, Data, Element, Tensor};

pub(super) use float::KERNELS as FLOATS;
pub(super) use integer::KERNELS as INTEGERS;
pub(super) use tensors::KERNELS as TENSORS;
pub(crate) use tensors::groups;

pub(super) const KERNELS: &[(&str, Prepare)] = &[
    (arith::Constant::NAME, constant),
    (index::Constant::NAME, constant),
    (index::BoolConstant::NAME, constant),
    (ub::Poison::NAME, |s| filled(s, 0.0)),
    (index::Sizeof::NAME, |s| filled(s, 64.0)),
    (arith::Select::NAME, |_| Ok(Box::new(|inputs| select(take(inputs)?)))),
    (arith::Extf::NAME, cast),
    (arith::Truncf::NAME, cast),
    (arith::Bitcast::NAME, bitcast),
];

/// The two operands, which have one shape and one type.
fn alike(inputs: Inputs) -> Result<[Tensor; 2], String> {
    let [x, y] = take(inputs)?;
    if x.shape() != y.shape() || x.dtype() != y.dtype() {
        return Err("the operands must have the same type".to_owned());
    }
    Ok([x, y])
}

/// A tensor of another type, of each element.
fn each<T: Element, U: Element>(x: &Tensor, f: impl Fn(T) -> U) -> Result<Tensor, String> {
    let values = x.view::<T>().ok_or("an operand has another type")?;
    let values = gathered(values.iter().map(|&v| f(v)))?;
    Ok(Tensor::from_parts(x.shape().into(), U::wrap(values)))
}

/// The dimensions of the result.
fn shape(s: &Spec<'_>) -> Result<Vec<usize>, String> {
    let ty = s.view.result_type(0).ok_or("the operation has no result")?;
    let dims = s.view.ctx.as_tensor(ty).map_or(&[][..], |(dims, _)| dims);
    dims.iter()
        .map(|&dim| usize::try_from(dim).map_err(|_| "the shape must be static".to_owned()))
        .collect()
}

fn filled(s: &Spec<'_>, value: f64) -> Result<Kernel, String> {
    let tensor = Tensor::full(&shape(s)?, s.result_dtype(0)?, value)?;
    Ok(Box::new(move |_| one(tensor.clone())))
}

fn constant(s: &Spec<'_>) -> Result<Kernel, String> {
    let (shape, dtype) = (shape(s)?, s.result_dtype(0)?);
    let value = s.view.attr("value").ok_or("`value` is missing")?;
    let tensor = match s.view.ctx.attr_data(value) {
        AttrData::Bool(value) => Tensor::scalar(*value),
        AttrData::Float { bits, .. } => Tensor::full(&[], dtype, f64::from_bits(*bits))?,
        AttrData::Int { value, .. } => Tensor::scalar(*value as i64).cast(dtype)?,
        AttrData::Elements(elements) => constant_tensor(elements, &shape, dtype)?,
        _ => return Err("`value` must be a number or `dense<…>`".to_owned()),
    };
    Ok(Box::new(move |_| one(tensor.clone())))
}

/// To another type of floating-point numbers.
fn cast(s: &Spec<'_>) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        one(x.cast(dtype)?)
    }))
}

fn select([condition, yes, no]: [Tensor; 3]) -> Result<Outputs, String> {
    if let Some(holds) = condition.truth() {
        return one(if holds { yes } else { no });
    }
    let condition = condition
        .view::<bool>()
        .ok_or("the condition must have element type `i1`")?;
    fn choose<T: Element>(condition: &[bool], yes: &[T], no: &Tensor) -> Result<Data, String> {
        let no = no.view::<T>().ok_or("the values must have the same type")?;
        if condition.len() != yes.len() || yes.len() != no.len() {
            return Err("the condition and the values must have the same shape".to_owned());
        }
        picked(condition, yes, no)
    }
    let data = crate::each_type!(yes.data(), v => choose(condition, v, &no))?;
    one(Tensor::from_parts(yes.shape().into(), data))
}

fn bitcast(s: &Spec<'_>) -> Result<Kernel, String> {
    let dtype = s.result_dtype(0)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        if x.dtype() == dtype {
            return one(x);
        }
        if x.dtype().size() != dtype.size() || (x.dtype() == DType::I1) != (dtype == DType::I1) {
            return Err("the operand and the result do not have the same number of bits".to_owned());
        }
        let bits = match x.data() {
            Data::F64(_) => each(&x, |v: f64| v.to_bits() as i64),
            Data::F32(_) => each(&x, |v: f32| i64::from(v.to_bits())),
            Data::F16(_) => each(&x, |v: f16| i64::from(v.to_bits())),
            Data::BF16(_) => each(&x, |v: bf16| i64::from(v.to_bits())),
            _ => x.cast(DType::I64),
        }?;
        one(match dtype {
            DType::F64 => each(&bits, |v: i64| f64::from_bits(v as u64)),
            DType::F32 => each(&bits, |v: i64| f32::from_bits(v as u32)),
            DType::F16 => each(&bits, |v: i64| f16::from_bits(v as u16)),
            DType::BF16 => each(&bits, |v: i64| bf16::from_bits(v as u16)),
            DType::I64 | DType::I32 | DType::I16 => bits.cast(dtype),
            _ => Err("integers must be signless".to_owned()),
        }?)
    }))
}
