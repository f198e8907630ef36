//! Arithmetic for gradient functions: values that carry the engine and the first error, so that rules read like
//! formulas.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pir_dialects::pd;
use pir_ir::Attr;

use super::{Engine, Slot, Tensor, elem_type};
use crate::tensor::{DType, Shape, Tensor as Dense};

/// A tensor in a formula, or the error that prevented it.
#[derive(Clone)]
pub(super) struct V<'e> {
    pub(super) engine: &'e Engine,
    pub(super) tensor: Result<Tensor, String>,
}

impl<'e> V<'e> {
    pub(super) fn new(engine: &'e Engine, tensor: Result<Tensor, String>) -> Self {
        V { engine, tensor }
    }

    /// A constant.
    pub(super) fn constant(engine: &'e Engine, tensor: Result<Dense, String>) -> Self {
        V::new(engine, tensor.map(Tensor::new))
    }

    pub(super) fn shape(&self) -> Shape {
        self.tensor.as_ref().map(Tensor::shape).unwrap_or_default()
    }

    pub(super) fn rank(&self) -> usize {
        self.shape().len()
    }

    pub(super) fn dtype(&self) -> DType {
        self.tensor.as_ref().map_or(DType::F64, Tensor::dtype)
    }

    /// The results of an operation whose first operand is this value.
    pub(super) fn ops(&self, op: &str, others: &[&V<'e>], attrs: &[(&str, Attr)]) -> Result<Vec<Tensor>, String> {
        let mut slots = vec![Slot::One(self.tensor.clone()?)];
        for other in others {
            slots.push(Slot::One(other.tensor.clone()?));
        }
        let engine = self.engine;
        engine.apply_slots(engine.ctx().op_name(op), slots, engine.dict(attrs))
    }

    /// The first result of an operation.
    pub(super) fn op(&self, op: &str, others: &[&V<'e>], attrs: &[(&str, Attr)]) -> V<'e> {
        let first = self.ops(op, others, attrs).and_then(|results| {
            let first = results.into_iter().next();
            first.ok_or_else(|| format!("`{op}` has no result"))
        });
        V::new(self.engine, first)
    }

    /// `pd.NAME` of this value.
    pub(super) fn call(&self, name: &str) -> V<'e> {
        self.op(&format!("pd.{name}"), &[], &[])
    }

    /// `pd.NAME` of this value and another.
    pub(super) fn with(&self, name: &str, other: &V<'e>) -> V<'e> {
        self.op(&format!("pd.{name}"), &[other], &[])
    }

    pub(super) fn affine(&self, scale: f64, bias: f64) -> V<'e> {
        let ctx = self.engine.ctx();
        self.op(
            pd::Scale::NAME,
            &[],
            &[
                ("scale", ctx.float_attr(scale)),
                ("bias", ctx.float_attr(bias)),
                ("bias_after_scale", ctx.bool_attr(true)),
            ],
        )
    }

    pub(super) fn square(&self) -> V<'e> {
        self.clone() * self.clone()
    }

    pub(super) fn exp(&self) -> V<'e> {
        self.call("exp")
    }

    pub(super) fn pow(&self, y: f64) -> V<'e> {
        self.op(pd::Pow::NAME, &[], &[("y", self.engine.ctx().float_attr(y))])
    }

    /// A number, broadcast to the shape of this value.
    pub(super) fn filled(&self, value: f64) -> V<'e> {
        let tensor = self
            .tensor
            .clone()
            .and_then(|t| Dense::full(&t.shape(), t.dtype(), value));
        V::constant(self.engine, tensor)
    }

    pub(super) fn cast(&self, dtype: DType) -> V<'e> {
        if self.dtype() == dtype {
            return self.clone();
        }
        let dtype = self.engine.ctx().type_attr(elem_type(self.engine.ctx(), dtype));
        self.op(pd::Cast::NAME, &[], &[("dtype", dtype)])
    }

    /// One where a comparison holds, else zero; constants for differentiation.
    pub(super) fn test(&self, comparison: &str, other: &V<'e>) -> V<'e> {
        self.with(comparison, other).cast(self.dtype())
    }

    /// Elements of `yes` where this is true, else of `no`.
    pub(super) fn choose(&self, yes: &V<'e>, no: &V<'e>) -> V<'e> {
        self.op(pd::Where::NAME, &[yes, no], &[])
    }

    pub(super) fn reshape(&self, shape: &[usize]) -> V<'e> {
        if self.tensor.is_ok() && self.shape()[..] == *shape {
            return self.clone();
        }
        // An extent of 0 in the attribute would mean the extent of the operand.
        if shape.contains(&0) && self.tensor.is_ok() {
            return V::constant(self.engine, Dense::full(shape, self.dtype(), 0.0));
        }
        self.op(pd::Reshape::NAME, &[], &[("shape", self.ints(shape))])
    }

    pub(super) fn expand(&self, shape: &[usize]) -> V<'e> {
        if self.shape()[..] == *shape {
            return self.clone();
        }
        self.op(pd::Expand::NAME, &[], &[("shape", self.ints(shape))])
    }

    /// The sum over the dimensions that a broadcast from the shape expanded.
    pub(super) fn sum_to(&self, shape: &[usize]) -> V<'e> {
        if self.shape()[..] == *shape {
            return self.clone();
        }
        self.op(pd::ReduceAs::NAME, &[], &[("shape", self.ints(shape))])
    }

    pub(super) fn sum(&self, axes: &[usize], keepdim: bool) -> V<'e> {
        if axes.is_empty() {
            return self.clone();
        }
        let keepdim = self.engine.ctx().bool_attr(keepdim);
        self.op(pd::Sum::NAME, &[], &[("axis", self.ints(axes)), ("keepdim", keepdim)])
    }

    pub(super) fn transpose(&self, perm: &[usize]) -> V<'e> {
        self.op(pd::Transpose::NAME, &[], &[("perm", self.ints(perm))])
    }

    /// Swaps the last two dimensions.
    pub(super) fn swapped(&self) -> V<'e> {
        let mut perm: Vec<usize> = (0..self.rank()).collect();
        let last = perm.len().saturating_sub(2);
        perm[last..].reverse();
        self.transpose(&perm)
    }

    /// The same elements without a history.
    pub(super) fn detached(&self) -> V<'e> {
        V::new(self.engine, self.tensor.clone().map(|t| t.detach()))
    }

    /// The maximum along an axis, which stays as a dimension of extent 1.
    pub(super) fn maximum(&self, axis: usize) -> V<'e> {
        let keepdim = self.engine.ctx().bool_attr(true);
        self.op(
            pd::Max::NAME,
            &[],
            &[("axis", self.ints(&[axis])), ("keepdim", keepdim)],
        )
    }

    /// The elements `start..end` along an axis.
    pub(super) fn part(&self, axis: usize, start: usize, end: usize) -> V<'e> {
        let attrs = [
            ("axes", self.ints(&[axis])),
            ("starts", self.ints(&[start])),
            ("ends", self.ints(&[end])),
        ];
        self.op(pd::Slice::NAME, &[], &attrs)
    }

    /// Removes the first dimension, of extent 1.
    pub(super) fn squeezed(&self) -> V<'e> {
        self.reshape(self.shape().get(1..).unwrap_or_default())
    }

    /// Adds a first dimension of extent 1.
    pub(super) fn unsqueezed(&self) -> V<'e> {
        let mut shape = self.shape();
        shape.insert(0, 1);
        self.reshape(&shape)
    }

    /// Concatenates tensors along an axis.
    pub(super) fn concat(engine: &'e Engine, parts: &[V<'e>], axis: usize) -> V<'e> {
        let axis = engine.ctx().int_attr(axis as i64);
        let mut parts = parts.iter();
        let Some(first) = parts.next() else {
            return V::new(engine, Err("there are no operands to concatenate".to_owned()));
        };
        first.op(pd::Concat::NAME, &parts.collect::<Vec<_>>(), &[("axis", axis)])
    }

    pub(super) fn matmul(&self, other: &V<'e>) -> V<'e> {
        self.with("matmul", other)
    }

    fn ints(&self, values: &[usize]) -> Attr {
        let values: Vec<i64> = values.iter().map(|&v| v as i64).collect();
        self.engine.ctx().ints_attr(&values)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:literal)*) => { $(
        impl<'e> $trait for V<'e> {
            type Output = V<'e>;
            fn $method(self, other: V<'e>) -> V<'e> {
                self.with($op, &other)
            }
        }
    )* };
}

operators! { Add add "add" Sub sub "subtract" Mul mul "multiply" Div div "divide" }

impl<'e> Add<f64> for V<'e> {
    type Output = V<'e>;
    fn add(self, other: f64) -> V<'e> {
        self.affine(1.0, other)
    }
}

impl<'e> Sub<V<'e>> for f64 {
    type Output = V<'e>;
    fn sub(self, other: V<'e>) -> V<'e> {
        other.affine(-1.0, self)
    }
}

impl<'e> Mul<f64> for V<'e> {
    type Output = V<'e>;
    fn mul(self, other: f64) -> V<'e> {
        self.affine(other, 0.0)
    }
}

impl<'e> Neg for V<'e> {
    type Output = V<'e>;
    fn neg(self) -> V<'e> {
        self.affine(-1.0, 0.0)
    }
}
