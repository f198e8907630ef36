//! Gradients of operations that only move elements: transpositions, slices, gathers, paddings, ….
//!
//! The mapping is determined by execution: the operation is applied to the indices of the elements in place of the
//! elements. The gradient adds each element to the one it came from.

use super::rules::{Cx, Grads};
use super::value::V;
use super::{Slot, Tensor};
use crate::tensor::buffer::{filled, gathered, scratch};
use crate::tensor::{DType, Element, Shape, Tensor as Dense, checked_count};

/// `out[i] = x[map[i]]`, zero where the map is negative.
pub(super) const TAKE: &str = "eager.take";
/// `out[map[i]] += x[i]`, in the shape of the third operand.
pub(super) const PUT: &str = "eager.put";

/// Executes one of the two operations of the engine itself; `None` for others.
pub(super) fn builtin(op: &str, inputs: &[Dense]) -> Option<Result<Dense, String>> {
    let put = match op {
        TAKE => false,
        PUT => true,
        _ => return None,
    };
    let [x, map, rest @ ..] = inputs else {
        return Some(Err("operands are missing".to_owned()));
    };
    let _scratch = match scratch::<Option<usize>>(map.len().saturating_mul(2)) {
        Ok(held) => held,
        Err(error) => return Some(Err(error)),
    };
    let map: Vec<Option<usize>> = map.to_i64().into_iter().map(|at| usize::try_from(at).ok()).collect();
    let shape: Shape = match (put, rest) {
        (false, _) => inputs[1].shape().into(),
        (true, [shape, ..]) => shape.to_i64().iter().map(|&d| d as usize).collect(),
        (true, []) => return Some(Err("the shape is missing".to_owned())),
    };
    fn move_to<T: Element>(x: &[T], map: &[Option<usize>], shape: &[usize], put: bool) -> Result<Dense, String> {
        let beyond = || "an index is out of range".to_owned();
        if !put {
            let pick = |at: &Option<usize>| match at {
                None => Ok(T::from_f64(0.0)),
                Some(at) => x.get(*at).copied().ok_or_else(beyond),
            };
            let mut picked = map.iter().map(pick);
            return Dense::generated(shape, || picked.next().unwrap_or_else(|| Err(beyond())));
        }
        let mut sums = filled(checked_count(shape, size_of::<f64>())?, 0.0)?;
        for (x, at) in x.iter().zip(map) {
            if let Some(at) = at {
                *sums.get_mut(*at).ok_or_else(beyond)? += x.to_f64();
            }
        }
        Dense::of(shape, gathered(sums.iter().map(|&sum| T::from_f64(sum)))?)
    }
    Some(crate::each_type!(x.data(), v => move_to(v, &map, &shape, put)))
}

impl<'e> V<'e> {
    /// `self[map[i]]`.
    pub(super) fn take(&self, map: &V<'e>) -> V<'e> {
        self.op(TAKE, &[map], &[])
    }

    /// The transpose of [`V::take`].
    pub(super) fn put(&self, map: &V<'e>, shape: &[usize]) -> V<'e> {
        let dims: Vec<i64> = shape.iter().map(|&d| d as i64).collect();
        let shape = V::constant(self.engine, Dense::new(&[dims.len()], dims));
        self.op(PUT, &[map, &shape], &[])
    }
}

/// A tensor with the indices of its elements, from zero.
pub(super) fn numbers(shape: &[usize]) -> Result<Tensor, String> {
    numbered_from(0, shape).map(Tensor::new)
}

/// The same, starting at `first`.
fn numbered_from(first: i64, shape: &[usize]) -> Result<Dense, String> {
    Dense::of(
        shape,
        gathered((first..).take(checked_count(shape, size_of::<i64>())?))?,
    )
}

/// The gradients of the float operands of an operation that moves elements.
pub(super) fn gradients<'e>(cx: &Cx<'e>) -> Result<Grads<'e>, String> {
    // Each element gets an index from one; zero marks elements that come from no operand.
    let mut starts = Vec::new();
    let mut next = 1i64;
    let mut numbered: Vec<Slot> = Vec::new();
    for slot in 0..cx.num_slots() {
        let mut items = Vec::new();
        for at in cx.slot(slot) {
            if !cx.dtype(at).is_float() {
                starts.push(None);
                items.push(cx.input(at)?);
                continue;
            }
            let shape = cx.shape(at);
            let count = shape.iter().product::<usize>() as i64;
            starts.push(Some(next));
            items.push(Tensor::new(numbered_from(next, &shape)?));
            next += count;
        }
        numbered.push(if cx.is_list(slot) {
            Slot::List(items)
        } else {
            Slot::One(items.pop().ok_or("an operand is missing")?)
        });
    }
    let engine = cx.engine;
    let mut attrs = cx.attrs();
    // The fill value must not be mistaken for an index.
    for filling in ["pad_value", "padding_value"] {
        if engine.ctx().dict_get(attrs, filling).is_some() {
            attrs = engine.ctx().dict_with(attrs, filling, engine.ctx().float_attr(0.0));
        }
    }
    let moved = engine.compute(cx.op(), &numbered, attrs)?;
    let total = next as usize - 1;
    let mut sum: Option<V<'e>> = None;
    for (result, moved) in moved.iter().enumerate() {
        if moved.dtype() != DType::I64 || !cx.has_grad(result) {
            continue;
        }
        let map = gathered(moved.wholes()?.iter().map(|number| number - 1));
        let map = V::constant(engine, Dense::of(moved.shape(), map?));
        let part = cx.g(result).put(&map, &[total]);
        sum = Some(match sum {
            None => part,
            Some(sum) => sum + part,
        });
    }
    let mut grads: Grads<'e> = vec![None; starts.len()];
    let Some(sum) = sum else {
        cx.others_constant();
        return Ok(grads);
    };
    for (at, start) in starts.into_iter().enumerate() {
        let (Some(start), true) = (start, cx.wants(at)) else {
            continue;
        };
        let shape = cx.shape(at);
        let count = shape.iter().product::<usize>();
        grads[at] = Some(if count == total {
            sum.reshape(&shape)
        } else {
            sum.take(&V::constant(engine, numbered_from(start - 1, &shape)))
        });
    }
    Ok(grads)
}
