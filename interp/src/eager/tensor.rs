//! Eager tensors: elements and autograd meta data.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::{Rc, Weak};

use pir_ir::budget::Reservation;

use super::live;
use super::node::{Edge, HookId, Node};
use crate::tensor::{DType, Shape, Tensor as Dense};

/// The autograd meta data of a tensor.
#[derive(Default)]
pub(super) struct AutogradMeta {
    /// The gradient: of leaves, and of tensors that retain it.
    pub(super) grad: Option<Tensor>,
    /// The gradient node of the operation that computed it; of a leaf, the node that accumulates `grad`.
    pub(super) grad_node: Option<Rc<Node>>,
    /// Which result of the operation it is.
    pub(super) slot: usize,
    /// Which element of that result, if it is a list.
    pub(super) rank: usize,
    /// Whether no gradient is computed; `None` for new tensors, which counts as true.
    pub(super) stop_gradient: Option<bool>,
    /// Whether it persists between training steps: parameters.
    pub(super) persistable: bool,
    /// Whether the gradient is kept although it is not a leaf.
    pub(super) retain_grads: bool,
}

pub(super) struct Inner {
    data: RefCell<Dense>,
    /// The number of changes in place, shared with saved wrappers of the tensor.
    version: Rc<Cell<u32>>,
    meta: RefCell<AutogradMeta>,
    name: RefCell<String>,
    /// The reserved memory, without the elements.
    _held: Reservation,
}

impl Drop for Inner {
    fn drop(&mut self) {
        live::tensor(-1);
    }
}

/// A tensor of the eager engine. Cloning creates another handle of the same tensor.
#[derive(Clone)]
pub struct Tensor(Rc<Inner>);

/// A weak handle.
#[derive(Clone)]
pub(super) struct WeakTensor(Weak<Inner>);

impl WeakTensor {
    pub(super) fn upgrade(&self) -> Option<Tensor> {
        self.0.upgrade().map(Tensor)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("name", &*self.0.name.borrow())
            .field("data", &*self.0.data.borrow())
            .field("stop_gradient", &self.stop_gradient())
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

impl Tensor {
    /// A tensor without history. Gradients stop at it unless [`Tensor::set_stop_gradient`] is called.
    pub fn new(data: Dense) -> Self {
        Self::with_version(data, Rc::new(Cell::new(0)))
    }

    pub(super) fn with_version(data: Dense, version: Rc<Cell<u32>>) -> Self {
        live::tensor(1);
        Tensor(Rc::new(Inner {
            data: RefCell::new(data),
            version,
            meta: RefCell::default(),
            name: RefCell::default(),
            // Includes the reference counts and the version.
            _held: Reservation::of_existing(size_of::<Inner>() + 64),
        }))
    }

    /// A leaf that requires a gradient.
    pub fn leaf(data: Dense) -> Self {
        let tensor = Self::new(data);
        tensor.set_stop_gradient(false);
        tensor
    }

    /// The elements.
    pub fn data(&self) -> Dense {
        self.0.data.borrow().clone()
    }

    /// The extents of the dimensions.
    pub fn shape(&self) -> Shape {
        self.0.data.borrow().shape().into()
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.data.borrow().rank()
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.0.data.borrow().dtype()
    }

    /// The elements as floats.
    pub fn to_f64(&self) -> Vec<f64> {
        self.0.data.borrow().to_f64()
    }

    /// The elements as integers.
    pub fn to_i64(&self) -> Vec<i64> {
        self.0.data.borrow().to_i64()
    }

    /// The name, for messages; empty unless it was set.
    pub fn name(&self) -> String {
        self.0.name.borrow().clone()
    }

    /// Sets the name.
    pub fn set_name(&self, name: &str) {
        name.clone_into(&mut self.0.name.borrow_mut());
    }

    /// Whether two handles refer to the same tensor.
    pub fn is(&self, other: &Tensor) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Whether no gradient is computed for it.
    pub fn stop_gradient(&self) -> bool {
        self.0.meta.borrow().stop_gradient != Some(false)
    }

    /// Sets whether no gradient is computed for it.
    pub fn set_stop_gradient(&self, stop: bool) {
        self.0.meta.borrow_mut().stop_gradient = Some(stop);
    }

    /// Whether it persists between training steps.
    pub fn persistable(&self) -> bool {
        self.0.meta.borrow().persistable
    }

    /// Sets whether it persists between training steps.
    pub fn set_persistable(&self, persistable: bool) {
        self.0.meta.borrow_mut().persistable = persistable;
    }

    /// Whether it is not the result of a recorded operation.
    pub fn is_leaf(&self) -> bool {
        let meta = self.0.meta.borrow();
        meta.grad_node.as_ref().is_none_or(|node| node.is_accumulation())
    }

    /// The gradient accumulated by `backward`.
    pub fn grad(&self) -> Option<Tensor> {
        self.0.meta.borrow().grad.clone()
    }

    /// Sets or, with `None`, removes the gradient.
    pub fn set_grad(&self, grad: Option<Tensor>) {
        // The old gradient is dropped only after the borrow has ended.
        let old = std::mem::replace(&mut self.0.meta.borrow_mut().grad, grad);
        drop(old);
    }

    /// The gradient node: of the operation that computed it, or the one that accumulates the gradient of a leaf. `None`
    /// if gradients stop here.
    pub fn grad_node(&self) -> Option<Rc<Node>> {
        self.edge().map(|edge| edge.node)
    }

    /// Which result of its operation it is, and which element of that if it is a list.
    pub fn slot_and_rank(&self) -> (usize, usize) {
        let meta = self.0.meta.borrow();
        (meta.slot, meta.rank)
    }

    /// Whether the gradient is kept although it is not a leaf.
    pub fn retains_grad(&self) -> bool {
        self.0.meta.borrow().retain_grads
    }

    /// Keeps the gradient although it is not a leaf.
    ///
    /// # Errors
    /// If gradients stop at it.
    pub fn retain_grad(&self) -> Result<(), String> {
        if self.retains_grad() || self.is_leaf() && !self.stop_gradient() {
            return Ok(());
        }
        let weak = self.downgrade();
        self.register_hook(move |grad| {
            if let Some(tensor) = weak.upgrade() {
                tensor.set_grad(Some(grad.clone()));
            }
            None
        })?;
        self.0.meta.borrow_mut().retain_grads = true;
        Ok(())
    }

    /// Registers a function of the complete gradient of this tensor; the function's result replaces it. Hooks of a
    /// tensor run in the order of registration.
    ///
    /// # Errors
    /// If gradients stop at it.
    pub fn register_hook(&self, hook: impl Fn(&Tensor) -> Option<Tensor> + 'static) -> Result<HookId, String> {
        let edge = self
            .edge()
            .ok_or("a tensor with stop_gradient has no gradient to hook")?;
        Ok(edge.node.register_gradient_hook(edge.slot, edge.rank, hook))
    }

    /// Removes a hook; returns whether it existed.
    pub fn remove_hook(&self, id: HookId) -> bool {
        self.edge().is_some_and(|edge| edge.node.remove_hook(id))
    }

    /// The same elements without a history.
    pub fn detach(&self) -> Tensor {
        Self::with_version(self.data(), self.0.version.clone())
    }

    /// The number of changes in place.
    pub fn version(&self) -> u32 {
        self.0.version.get()
    }

    pub(super) fn version_counter(&self) -> Rc<Cell<u32>> {
        self.0.version.clone()
    }

    /// Replaces the elements.
    pub(super) fn overwrite(&self, data: Dense) {
        *self.0.data.borrow_mut() = data;
        self.0.version.set(self.0.version.get().wrapping_add(1));
    }

    pub(super) fn downgrade(&self) -> WeakTensor {
        WeakTensor(Rc::downgrade(&self.0))
    }

    pub(super) fn stop_gradient_said(&self) -> Option<bool> {
        self.0.meta.borrow().stop_gradient
    }

    /// Makes it the result of a recorded operation.
    pub(super) fn set_history(&self, node: Rc<Node>, slot: usize, rank: usize) {
        let mut meta = self.0.meta.borrow_mut();
        (meta.slot, meta.rank, meta.stop_gradient) = (slot, rank, Some(false));
        let old = meta.grad_node.replace(node);
        drop(meta);
        drop(old);
    }

    /// The destination of its gradient. The node of a leaf is created on demand.
    pub(super) fn edge(&self) -> Option<Edge> {
        if self.stop_gradient() || !self.dtype().is_float() {
            return None;
        }
        let mut meta = self.0.meta.borrow_mut();
        let (slot, rank) = (meta.slot, meta.rank);
        let node = meta.grad_node.get_or_insert_with(|| Node::accumulation(self));
        Some(Edge {
            node: node.clone(),
            slot,
            rank,
        })
    }
}
