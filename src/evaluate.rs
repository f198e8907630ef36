//! Constant evaluation for passes, with the kernels of the interpreter, which the passes do not depend on.

use pir_interp::kernels::{Inputs, Kernels, dtype_of};
use pir_interp::{DType, Tensor};
use pir_ir::budget::Budget;
use pir_ir::{Attr, AttrData, Context, OpView, Type, TypeData};
use pir_passes::ConstantEvaluator;
use smallvec::SmallVec;

/// Tensors with more elements are not folded.
const MAX_ELEMENTS: usize = 4096;
/// The memory limit for evaluating an operation.
const MEMORY: u64 = 16 << 20;
/// Longer lists of integers are not written into the program.
const MAX_LIST: usize = 64;

/// Evaluates operations on constants with the interpreter's kernels, so that the results are bit-identical.
pub struct KernelEvaluator;

impl ConstantEvaluator for KernelEvaluator {
    fn evaluate(&self, op: OpView<'_>, operands: &[Attr]) -> Option<SmallVec<[Attr; 2]>> {
        let _small = Budget::current().part(MEMORY).enter();
        let kernel = Kernels::of(op.ctx).prepare(op)?.ok()?;
        let body = op.body;
        let types = body.operands(op.op).map(|v| body.value_type(v));
        let inputs: Inputs = types
            .zip(operands)
            .map(|(ty, &attr)| tensor(op.ctx, ty, attr))
            .collect::<Option<_>>()?;
        let results: SmallVec<[Type; 2]> = body.results(op.op).map(|r| body.value_type(r)).collect();
        for &ty in &results {
            extents(op.ctx, ty)?;
        }
        let outputs = kernel(inputs).ok()?;
        if outputs.len() != results.len() {
            return None;
        }
        let fits = |(tensor, &ty): (&Tensor, &Type)| constant(op.ctx, ty, tensor);
        outputs.iter().zip(&results).map(fits).collect()
    }
}

/// The dimensions of a tensor type, if they are static and not too large.
fn extents(ctx: &Context, ty: Type) -> Option<SmallVec<[usize; 4]>> {
    let number = |ty| {
        matches!(
            ctx.type_data(ty),
            TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index
        )
    };
    let dims = match ctx.as_tensor(ty) {
        Some((dims, _)) => dims,
        None => number(ty).then_some(&[])?,
    };
    let dims: SmallVec<[usize; 4]> = dims.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<_>>()?;
    let count = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    (count <= MAX_ELEMENTS).then_some(dims)
}

/// The tensor of a constant.
fn tensor(ctx: &Context, ty: Type, attr: Attr) -> Option<Tensor> {
    let dtype = dtype_of(ctx, ty).filter(|dtype| !dtype.is_complex())?;
    let dims = extents(ctx, ty)?;
    let count = dims.iter().product();
    let whole = |value: i64| Tensor::new(&dims, vec![value; count]).ok()?.cast(dtype).ok();
    match ctx.attr_data(attr) {
        AttrData::Int { value, .. } => whole(i64::try_from(*value).ok()?),
        AttrData::Bool(value) => whole(i64::from(*value)),
        AttrData::Float { bits, .. } => Tensor::full(&dims, dtype, f64::from_bits(*bits)).ok(),
        AttrData::Ints(items) => Tensor::new(&dims, items.to_vec()).ok()?.cast(dtype).ok(),
        _ => None,
    }
}

/// The constant of a tensor: one number for all elements, or a short list of integers.
fn constant(ctx: &Context, ty: Type, tensor: &Tensor) -> Option<Attr> {
    let dims = extents(ctx, ty)?;
    if tensor.dtype().is_complex()
        || tensor.shape() != &dims[..]
        || Some(tensor.dtype()) != dtype_of(ctx, ty)
        || tensor.is_empty()
    {
        return None;
    }
    if tensor.dtype().is_float() {
        let values = tensor.to_f64();
        let first = *values.first()?;
        // NaN and infinities are left to run time, where they can be observed.
        let uniform = first.is_finite() && values.iter().all(|v| v.to_bits() == first.to_bits());
        return uniform.then(|| ctx.float_attr(first));
    }
    let values = tensor.to_i64();
    let first = *values.first()?;
    match tensor.dtype() {
        _ if values.iter().any(|&v| v != first) => {
            let list = dims.len() == 1 && values.len() <= MAX_LIST && tensor.dtype() == DType::I64;
            list.then(|| ctx.ints_attr(&values))
        }
        DType::I1 => Some(ctx.bool_attr(first != 0)),
        _ => Some(ctx.int_attr(first)),
    }
}
