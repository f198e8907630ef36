//! Inference of result types, by the function names in the op tables.

mod create;
mod elementwise;
mod index;
mod linalg;
mod nn;
mod optimizer;
mod reduce;
mod shape;

pub(super) use create::*;
pub(super) use elementwise::*;
pub(super) use index::*;
pub(super) use linalg::*;
pub(super) use nn::*;
pub(super) use optimizer::*;
pub(super) use reduce::*;
pub(super) use shape::*;

use pir_ir::{AttrData, Context, DYNAMIC, InferArgs, Type, TypeData};
use smallvec::SmallVec;

pub(super) type Types = Result<SmallVec<[Type; 2]>, String>;
pub(crate) type Dims = SmallVec<[i64; 6]>;

/// A tensor type; a scalar is a tensor of rank 0.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Shaped {
    pub(super) dims: Dims,
    pub(super) elem: Type,
    /// Whether the type is a tensor.
    pub(super) tensor: bool,
}

impl Shaped {
    /// Whether the type is a tensor or a number.
    pub(super) fn is(ctx: &Context, ty: Type) -> bool {
        let data = ctx.type_data(ty);
        matches!(
            data,
            TypeData::Tensor { .. } | TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index
        )
    }

    pub(super) fn of(ctx: &Context, ty: Type) -> Option<Shaped> {
        match ctx.type_data(ty) {
            TypeData::Tensor { shape, elem } => Some(Shaped {
                dims: shape.iter().copied().collect(),
                elem: *elem,
                tensor: true,
            }),
            TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index => Some(Shaped {
                dims: Dims::new(),
                elem: ty,
                tensor: false,
            }),
            _ => None,
        }
    }

    pub(super) fn ty(&self, ctx: &Context) -> Type {
        if self.tensor || !self.dims.is_empty() {
            ctx.tensor(&self.dims, self.elem)
        } else {
            self.elem
        }
    }
}

pub(super) fn one(ty: Type) -> Types {
    Ok(SmallVec::from_slice(&[ty]))
}

pub(super) fn spelled(args: &InferArgs<'_>, ty: Type) -> String {
    pir_ir::text::print_type(args.ctx, ty)
}

/// The operand at `index` as a tensor.
pub(super) fn operand(args: &InferArgs<'_>, index: usize) -> Result<Shaped, String> {
    let name = args.def.operands.get(index).map_or("x", |o| &o.name);
    let ty = args
        .operand_type(index)
        .ok_or_else(|| format!("the operand `{name}` is missing"))?;
    Shaped::of(args.ctx, ty)
        .ok_or_else(|| format!("the operand `{name}` must be a tensor, not `{}`", spelled(args, ty)))
}

/// The integers of an attribute: a list, or a single one.
pub(super) fn ints(args: &InferArgs<'_>, name: &str) -> Option<Vec<i64>> {
    let attr = args.attr(name)?;
    match args.ctx.attr_data(attr) {
        AttrData::Ints(values) => Some(values.to_vec()),
        _ => args.ctx.attr_int(attr).map(|v| vec![v]),
    }
}

/// The integer of an attribute.
pub(super) fn int(args: &InferArgs<'_>, name: &str) -> Option<i64> {
    ints(args, name).and_then(|v| v.first().copied())
}

pub(super) fn flag(args: &InferArgs<'_>, name: &str) -> bool {
    args.attr(name).and_then(|a| args.ctx.attr_bool(a)).unwrap_or(false)
}

/// The element type that `dtype` names.
pub(super) fn dtype(args: &InferArgs<'_>) -> Option<Type> {
    args.attr("dtype")
        .and_then(|a| args.ctx.attr_type(a))
        .filter(|&t| t != Type::NONE)
}

/// Whether an argument that may be an attribute is an operand, after the required operands.
pub(super) fn is_operand(args: &InferArgs<'_>, name: &str) -> bool {
    let required = args
        .def
        .operands
        .iter()
        .filter(|o| o.arity == pir_ir::Arity::One)
        .count();
    args.attr(name).is_none() && args.operands.len() > required
}

/// The axes of an attribute as non-negative numbers, each named once.
pub(super) fn axes(name: &str, values: &[i64], rank: usize) -> Result<Vec<usize>, String> {
    let mut seen = vec![false; rank];
    let place = |&value: &i64| {
        let at = axis(value, rank)?;
        match std::mem::replace(&mut seen[at], true) {
            true => Err(format!("`{name}` = {} names axis {value} twice", dims_text(values))),
            false => Ok(at),
        }
    };
    values.iter().map(place).collect()
}

/// An axis as a non-negative number.
pub(super) fn axis(value: i64, rank: usize) -> Result<usize, String> {
    let at = if value < 0 { value + rank as i64 } else { value };
    usize::try_from(at).ok().filter(|&a| a < rank).ok_or_else(|| {
        if rank == 0 {
            format!("axis {value} is out of range for a tensor of rank 0")
        } else {
            format!(
                "axis {value} is out of range: it must be from {} to {}",
                -(rank as i64),
                rank - 1
            )
        }
    })
}

/// The dimension to which two are broadcast.
pub(super) fn broadcast_dim(a: i64, b: i64) -> Option<i64> {
    match (a, b) {
        _ if a == b => Some(a),
        (1, _) => Some(b),
        (_, 1) => Some(a),
        (DYNAMIC, _) => Some(b),
        (_, DYNAMIC) => Some(a),
        _ => None,
    }
}

pub(crate) fn broadcast(a: &[i64], b: &[i64]) -> Result<Dims, String> {
    let rank = a.len().max(b.len());
    let dim = |d: &[i64], at: usize| (at + d.len()).checked_sub(rank).map_or(1, |i| d[i]);
    (0..rank)
        .map(|at| broadcast_dim(dim(a, at), dim(b, at)))
        .collect::<Option<Dims>>()
        .ok_or_else(|| format!("shapes {} and {} do not broadcast", dims_text(a), dims_text(b)))
}

pub(super) fn dims_text(dims: &[i64]) -> String {
    let parts: Vec<String> = dims
        .iter()
        .map(|&d| if d == DYNAMIC { "?".to_owned() } else { d.to_string() })
        .collect();
    format!("[{}]", parts.join(", "))
}

/// The product of dimensions, if all are static and it does not overflow.
pub(super) fn count(dims: &[i64]) -> Option<i64> {
    dims.iter()
        .try_fold(1i64, |n, &d| if d == DYNAMIC { None } else { n.checked_mul(d) })
}
