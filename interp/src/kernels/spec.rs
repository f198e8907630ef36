//! The operation that a kernel is prepared for, and what kernels take and give.

use pir_ir::{AttrData, Context, Elements, OpId, OpView, Type, TypeData};
use smallvec::SmallVec;

use crate::tensor::{DType, Element, Shape, Tensor};

/// The operands of a kernel.
pub type Inputs = SmallVec<[Tensor; 4]>;
/// The results of a kernel.
pub type Outputs = SmallVec<[Tensor; 2]>;
/// The implementation of an operation.
pub type Kernel = Box<dyn Fn(Inputs) -> Result<Outputs, String> + Send + Sync>;
/// Combines two tensors in place of the first, which is the second operand if the last argument is true; `false` if
/// that is not possible, and nothing has been changed.
pub(crate) type InPlace = fn(&mut Tensor, &Tensor, bool) -> bool;
/// Prepares the kernel of an operation.
pub type Prepare = fn(&Spec<'_>) -> Result<Kernel, String>;

/// The operation that a kernel is prepared for.
pub struct Spec<'a> {
    /// The operation, with its attributes and types.
    pub view: OpView<'a>,
    /// Whether subnormal results become zeros.
    pub(crate) flush: bool,
    /// Whether operands in single precision are given in double precision, and so are the results.
    pub(crate) precise: bool,
}

/// The tensor of the elements of `dense<…>`.
pub(crate) fn constant_tensor(elements: &Elements, shape: &[usize], dtype: DType) -> Result<Tensor, String> {
    // Numbers of the type of the tensor are copied as they are.
    if let (DType::F32, Some(values), false) = (dtype, elements.as_slice::<f32>(), elements.is_splat()) {
        return Tensor::of(shape, crate::tensor::buffer::gathered(values.iter().copied())?);
    }
    match (elements.ints(), elements.floats()) {
        (Some(values), _) => Tensor::new(shape, values.collect::<Vec<i64>>())?.cast(dtype),
        (_, Some(values)) => Tensor::new(shape, values.collect::<Vec<f64>>())?.cast(dtype),
        _ => Err("tensors of this element type are not supported".to_owned()),
    }
}

/// The element type of a type, of a tensor or a buffer too, if tensors have it.
pub fn dtype_of(ctx: &Context, ty: Type) -> Option<DType> {
    Some(match ctx.as_shaped(ty).map_or(ty, |(_, elem)| elem) {
        Type::I1 => DType::I1,
        Type::I8 => DType::I8,
        Type::I16 => DType::I16,
        Type::I32 => DType::I32,
        Type::I64 | Type::INDEX => DType::I64,
        Type::UI8 => DType::UI8,
        Type::UI16 => DType::UI16,
        Type::UI32 => DType::UI32,
        Type::UI64 => DType::UI64,
        Type::F16 => DType::F16,
        Type::BF16 => DType::BF16,
        Type::F32 => DType::F32,
        Type::F64 => DType::F64,
        other => match ctx.type_data(other) {
            TypeData::Complex(Type::F32) => DType::C64,
            TypeData::Complex(Type::F64) => DType::C128,
            _ => return None,
        },
    })
}

impl Spec<'_> {
    pub(crate) fn float(&self, name: &str, default: f64) -> f64 {
        self.view.f64(name).unwrap_or(default)
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        self.view.bool(name).unwrap_or(default)
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.ints(name).and_then(|v| v.first().copied()).unwrap_or(default)
    }

    pub(crate) fn text<'t>(&'t self, name: &str, default: &'t str) -> &'t str {
        self.view.str(name).unwrap_or(default)
    }

    /// The index of the operand that is declared at `index`: earlier optional ones may be absent.
    pub(crate) fn place(&self, index: usize) -> Option<usize> {
        let absent = self.ints("absent_operands").unwrap_or_default();
        if absent.contains(&(index as i64)) {
            return None;
        }
        let before = absent.iter().filter(|&&a| a < index as i64).count();
        let at = index.checked_sub(before)?;
        (at < self.view.body.num_operands(self.view.op)).then_some(at)
    }

    /// Whether an operand is the same in all iterations of the innermost loop around the operation.
    pub(crate) fn is_invariant(&self, operand: usize) -> bool {
        let OpView { ctx, body, op } = self.view;
        let Some(value) = body.get_operand(op, operand) else {
            return false;
        };
        let made_in = body.value_block(value);
        // Whether the operation is in a region that is repeated, and the value is not.
        let is_repeated = |inner: OpId, around: OpId| {
            let region = body.op_region(inner).and_then(|region| body.region_index(region));
            let flow = body.region_flow(ctx, around);
            flow.zip(region)
                .is_some_and(|(flow, region)| flow.is_repeated(body.view(ctx, around), region))
        };
        let mut at = op;
        while body.op_block(at) != made_in {
            let Some(parent) = body.parent_op(at) else { return false };
            if is_repeated(at, parent) {
                return true;
            }
            at = parent;
        }
        false
    }

    /// Whether the optional result that is declared at `index` is absent.
    pub(crate) fn is_absent(&self, index: usize) -> bool {
        let absent = self.ints("absent_results");
        absent.is_some_and(|absent| absent.contains(&(index as i64)))
    }

    /// Whether a result is used. Lets kernels skip unused results.
    pub(crate) fn reads(&self, result: usize) -> bool {
        let value = self.view.body.results(self.view.op).nth(result);
        value.is_some_and(|v| self.view.body.has_uses(v))
    }

    /// The integers of an attribute: a list, or a single one.
    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        let attr = self.view.attr(name)?;
        match self.view.ctx.attr_data(attr) {
            AttrData::Ints(values) => Some(values.to_vec()),
            _ => self.view.ctx.attr_int(attr).map(|v| vec![v]),
        }
    }

    /// Integers from an attribute, or from an operand after the required ones.
    pub(crate) fn ints_or_operand(&self, name: &str) -> IntList {
        match self.ints(name) {
            Some(values) => IntList::Known(values),
            None => match self.operand_called(name) {
                Some(at) => IntList::Operand(at),
                None => IntList::Missing,
            },
        }
    }

    /// The index of the operand that replaces an attribute.
    pub(crate) fn operand_called(&self, name: &str) -> Option<usize> {
        if self.view.attr(name).is_some() {
            return None;
        }
        self.view.operand_called(name)
    }

    /// The element type that the kernel computes the result at `index` in.
    pub(crate) fn result_dtype(&self, index: usize) -> Result<DType, String> {
        let ty = self.view.result_type(index).ok_or("the operation has no result")?;
        match dtype_of(self.view.ctx, ty).ok_or("the result is not a tensor of numbers")? {
            DType::F32 if self.precise => Ok(DType::F64),
            dtype => Ok(dtype),
        }
    }
}

/// A few integers.
pub(crate) type Ints = SmallVec<[i64; 8]>;

/// Integers that may be known only at run time.
#[derive(Clone, Debug)]
pub(crate) enum IntList {
    Known(Vec<i64>),
    Operand(usize),
    Missing,
}

impl IntList {
    /// The integers, given the operands.
    pub(crate) fn get(&self, inputs: &[Tensor]) -> Result<Option<Ints>, String> {
        match self {
            IntList::Known(values) => Ok(Some(Ints::from_slice(values))),
            IntList::Operand(at) => inputs
                .get(*at)
                .map(|t| Some(crate::each_type!(t.data(), v => v.iter().map(|&x| x.to_i64()).collect())))
                .ok_or_else(|| "an operand is missing".to_owned()),
            IntList::Missing => Ok(None),
        }
    }
}

/// An axis as a non-negative number.
pub(crate) fn axis(value: i64, rank: usize) -> Result<usize, String> {
    let at = if value < 0 {
        value.saturating_add(rank as i64)
    } else {
        value
    };
    usize::try_from(at)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("axis {value} is out of range for rank {rank}"))
}

pub(crate) fn one(tensor: Tensor) -> Result<Outputs, String> {
    let mut out = Outputs::new();
    out.push(tensor);
    Ok(out)
}

/// The first operands.
pub(crate) fn take<const N: usize>(inputs: Inputs) -> Result<[Tensor; N], String> {
    let count = inputs.len();
    if count < N {
        return Err(format!("expected {N} operands, found {count}"));
    }
    let mut inputs = inputs.into_iter();
    // There are enough; this only satisfies the type.
    Ok(std::array::from_fn(|_| {
        inputs.next().unwrap_or_else(|| Tensor::scalar(false))
    }))
}

/// Dimensions from integers.
pub(crate) fn dims(values: &[i64]) -> Result<Shape, String> {
    values
        .iter()
        .map(|&d| usize::try_from(d).map_err(|_| format!("a dimension cannot be {d}")))
        .collect()
}

/// The number of elements of a shape whose extents are known, or the largest integer if there are more.
pub(crate) fn known_count(shape: &[i64]) -> Option<i64> {
    (shape.iter()).try_fold(1i64, |n, &d| (d >= 0).then(|| n.saturating_mul(d)))
}

/// The element type of a type attribute.
pub(crate) fn attr_dtype(s: &Spec<'_>, name: &str) -> Option<DType> {
    s.view.ty(name).and_then(|t| dtype_of(s.view.ctx, t))
}

/// The number of elements before, along and after an axis.
pub(crate) fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (
        shape[..axis].iter().product(),
        shape[axis],
        shape[axis + 1..].iter().product(),
    )
}
