//! Accumulates the gradients of a node's results until all of them have arrived.

use super::node::SlotMeta;
use super::{Engine, Tensor};
use pir_dialects::pd;

/// The incoming gradients of a node.
pub(super) struct GradTensorHolder {
    buffer: Vec<Vec<Option<Tensor>>>,
}

impl GradTensorHolder {
    /// An empty holder for results with these metas.
    pub(super) fn new(metas: &[Vec<SlotMeta>]) -> Self {
        GradTensorHolder {
            buffer: metas.iter().map(|slot| vec![None; slot.len()]).collect(),
        }
    }

    /// Adds a gradient. With `create_graph`, the sum is recorded.
    pub(super) fn add(&mut self, engine: &Engine, slot: usize, rank: usize, grad: &Tensor) -> Result<(), String> {
        let place = self.buffer.get_mut(slot).and_then(|slot| slot.get_mut(rank));
        let place = place.ok_or("a gradient arrives for a result that does not exist")?;
        let sum = match place.take() {
            None => grad.clone(),
            Some(before) => engine.add(&before, grad)?,
        };
        *place = Some(sum);
        Ok(())
    }

    pub(super) fn into_buffer(self) -> Vec<Vec<Option<Tensor>>> {
        self.buffer
    }
}

impl Engine {
    /// The sum of two tensors of one shape.
    pub(super) fn add(&self, x: &Tensor, y: &Tensor) -> Result<Tensor, String> {
        let sum = self.apply(pd::Add::NAME, &[x, y], &[])?;
        sum.into_iter().next().ok_or_else(|| "a sum has no result".to_owned())
    }
}
