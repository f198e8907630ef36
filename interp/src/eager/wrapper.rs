//! Tensors saved by gradient nodes.
//!
//! A node must not hold the tensors themselves: a result holds its node, and a leaf its gradient, whose history leads
//! back to the leaf with `create_graph`. So the wrapper shares the elements, and refers weakly to the node to which the
//! tensor's gradient goes. That node is alive, since it is the saving node itself or a successor.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use super::node::Node;
use super::tensor::Tensor;
use crate::tensor::Tensor as Dense;

/// A tensor saved for the gradient function.
pub(super) struct Wrapper {
    /// The elements; `None` if only shape and type are needed, or after they were freed.
    data: Option<Dense>,
    no_need_buffer: bool,
    version: Rc<Cell<u32>>,
    saved_version: u32,
    stop_gradient: Option<bool>,
    node: Option<(Weak<Node>, usize, usize)>,
    name: String,
}

impl Wrapper {
    /// Saves a tensor, or only its meta data.
    pub(super) fn new(tensor: &Tensor, no_need_buffer: bool) -> Self {
        Wrapper {
            data: (!no_need_buffer).then(|| tensor.data()),
            no_need_buffer,
            version: tensor.version_counter(),
            saved_version: tensor.version(),
            stop_gradient: tensor.stop_gradient_said(),
            node: tensor
                .edge()
                .filter(|_| !no_need_buffer)
                .map(|e| (Rc::downgrade(&e.node), e.slot, e.rank)),
            name: tensor.name(),
        }
    }

    /// Frees the elements.
    pub(super) fn clear(&mut self) {
        self.data = None;
    }

    /// The tensor with its history.
    pub(super) fn recover(&self) -> Result<Tensor, String> {
        if self.no_need_buffer {
            return Err("the gradient function reads a tensor that was not saved".to_owned());
        }
        let Some(data) = &self.data else {
            return Err(
                "the saved tensors were freed when the gradients were computed before; use `retain_graph`".to_owned(),
            );
        };
        let version = self.version.get();
        if version != self.saved_version {
            let name = match &*self.name {
                "" => String::new(),
                name => format!(" `{name}`"),
            };
            return Err(format!(
                "the tensor{name} was saved at version {}, and has been changed in place since, to version {version}",
                self.saved_version
            ));
        }
        let tensor = Tensor::with_version(data.clone(), self.version.clone());
        tensor.set_name(&self.name);
        if let Some((node, slot, rank)) = &self.node {
            let node = node.upgrade().ok_or("the history of a saved tensor was freed")?;
            tensor.set_history(node, *slot, *rank);
        } else if let Some(stop) = self.stop_gradient {
            tensor.set_stop_gradient(stop);
        }
        Ok(tensor)
    }
}
