//! Gradient nodes: for each recorded operation, the inputs of its gradient function and the destinations of the
//! gradients.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use pir_ir::budget::Reservation;
use pir_ir::{AttrDict, OpName};

use super::custom::Custom;
use super::live;
use super::rules::Rule;
use super::tensor::{Tensor, WeakTensor};
use super::wrapper::Wrapper;
use crate::tensor::{DType, Shape};

/// The destination of a gradient: a node, the result of its operation, and the element of that result.
#[derive(Clone)]
pub struct Edge {
    /// The node.
    pub node: Rc<Node>,
    /// The result.
    pub slot: usize,
    /// The element, in a result that is a list.
    pub rank: usize,
}

/// The meta data of an operand or a result.
#[derive(Clone)]
pub struct SlotMeta {
    /// Whether no gradient is computed.
    pub stop_gradient: bool,
    /// The shape.
    pub shape: Shape,
    /// The type of the elements.
    pub dtype: DType,
    /// For an operand: the destination of its gradient.
    pub edge: Option<Edge>,
}

impl SlotMeta {
    pub(super) fn of(tensor: &Tensor, edge: Option<Edge>) -> Self {
        SlotMeta {
            stop_gradient: tensor.stop_gradient(),
            shape: tensor.shape(),
            dtype: tensor.dtype(),
            edge,
        }
    }
}

/// The meta data of slots, each a tensor or a list.
pub type SlotMetas = Vec<Vec<SlotMeta>>;

/// Identifies a hook.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HookId(u64);

type GradientHook = Rc<dyn Fn(&Tensor) -> Option<Tensor>>;
type NodeHook = Rc<dyn Fn(&[Vec<Option<Tensor>>])>;

#[derive(Clone)]
enum Hook {
    Gradient(usize, usize, GradientHook),
    Node(NodeHook),
}

/// The function of a node.
pub(super) enum GradNodeKind {
    /// Accumulates the gradient of a leaf.
    Accumulation(WeakTensor),
    /// Computes the gradients of an operation's operands.
    Operation(Operation),
}

/// A recorded operation.
pub(super) struct Operation {
    pub(super) name: OpName,
    pub(super) attrs: AttrDict,
    /// Which operands are lists.
    pub(super) lists: Vec<bool>,
    /// Its gradient function; a missing one is reported when a gradient arrives.
    pub(super) rule: Option<&'static Rule>,
    /// For a call: the derivative that its function names.
    pub(super) custom: Option<Custom>,
    /// The operands, with lists flattened.
    pub(super) inputs: RefCell<Vec<Wrapper>>,
    /// The results, with lists flattened.
    pub(super) outputs: RefCell<Vec<Wrapper>>,
    /// The reserved memory.
    pub(super) _held: Reservation,
}

impl Operation {
    /// The approximate size of a recorded operation, without the elements of tensors.
    pub(super) const fn bytes(operands: usize, results: usize) -> usize {
        // The allocator's overhead for the lists.
        const HEADS: usize = 192;
        let each = size_of::<SlotMeta>() + size_of::<Wrapper>() + HEADS;
        size_of::<Node>() + HEADS + (operands + results) * each
    }
}

/// A gradient node.
pub struct Node {
    pub(super) kind: GradNodeKind,
    in_meta: RefCell<SlotMetas>,
    out_meta: RefCell<SlotMetas>,
    hooks: RefCell<BTreeMap<HookId, Hook>>,
    next_hook: Cell<u64>,
}

impl Node {
    fn new(kind: GradNodeKind, in_meta: SlotMetas, out_meta: SlotMetas) -> Rc<Node> {
        live::node(1);
        Rc::new(Node {
            kind,
            in_meta: RefCell::new(in_meta),
            out_meta: RefCell::new(out_meta),
            hooks: RefCell::default(),
            next_hook: Cell::new(0),
        })
    }

    /// The node of a leaf.
    pub(super) fn accumulation(leaf: &Tensor) -> Rc<Node> {
        // The leaf is borrowed: only its data may be accessed.
        let meta = SlotMeta {
            stop_gradient: false,
            shape: leaf.shape(),
            dtype: leaf.dtype(),
            edge: None,
        };
        Self::new(
            GradNodeKind::Accumulation(leaf.downgrade()),
            vec![vec![meta]],
            Vec::new(),
        )
    }

    /// The node of an operation; the caller saves `outputs` after they have it as history.
    pub(super) fn operation(operation: Operation, in_meta: SlotMetas, out_meta: SlotMetas) -> Rc<Node> {
        Self::new(GradNodeKind::Operation(operation), in_meta, out_meta)
    }

    pub(super) fn is_accumulation(&self) -> bool {
        matches!(self.kind, GradNodeKind::Accumulation(_))
    }

    /// The meta data of the operation's results, whose gradients come in.
    pub fn input_meta(&self) -> Ref<'_, SlotMetas> {
        self.in_meta.borrow()
    }

    /// The meta data of the operation's operands, whose gradients go out.
    pub fn output_meta(&self) -> Ref<'_, SlotMetas> {
        self.out_meta.borrow()
    }

    /// Registers a function of the complete gradient of a result, which may replace it.
    pub fn register_gradient_hook(
        &self,
        slot: usize,
        rank: usize,
        hook: impl Fn(&Tensor) -> Option<Tensor> + 'static,
    ) -> HookId {
        self.register(Hook::Gradient(slot, rank, Rc::new(hook)))
    }

    /// Registers a function that is called with the computed gradients of all operands.
    pub fn register_node_hook(&self, hook: impl Fn(&[Vec<Option<Tensor>>]) + 'static) -> HookId {
        self.register(Hook::Node(Rc::new(hook)))
    }

    fn register(&self, hook: Hook) -> HookId {
        let id = HookId(self.next_hook.get());
        self.next_hook.set(id.0 + 1);
        self.hooks.borrow_mut().insert(id, hook);
        id
    }

    /// Removes a hook; returns whether it existed.
    pub fn remove_hook(&self, id: HookId) -> bool {
        let hook = self.hooks.borrow_mut().remove(&id);
        hook.is_some()
    }

    /// Whether there are hooks.
    pub fn has_hooks(&self) -> bool {
        !self.hooks.borrow().is_empty()
    }

    /// A copy of the hooks, since a hook may remove itself.
    fn hooks(&self) -> Vec<Hook> {
        self.hooks.borrow().values().cloned().collect()
    }

    pub(super) fn apply_gradient_hooks(&self, grads: &mut [Vec<Option<Tensor>>]) {
        for hook in self.hooks() {
            if let Hook::Gradient(slot, rank, hook) = hook
                && let Some(Some(grad)) = grads.get_mut(slot).and_then(|s| s.get_mut(rank))
                && let Some(new) = hook(grad)
            {
                *grad = new;
            }
        }
    }

    pub(super) fn apply_node_hooks(&self, grads: &[Vec<Option<Tensor>>]) {
        for hook in self.hooks() {
            if let Hook::Node(hook) = hook {
                hook(grads);
            }
        }
    }

    /// Frees the saved tensors.
    pub(super) fn clear(&self) {
        if let GradNodeKind::Operation(operation) = &self.kind {
            operation.inputs.borrow_mut().iter_mut().for_each(Wrapper::clear);
            operation.outputs.borrow_mut().iter_mut().for_each(Wrapper::clear);
        }
    }

    fn take_successors(&mut self) -> Vec<Rc<Node>> {
        let metas = std::mem::take(self.out_meta.get_mut());
        metas.into_iter().flatten().filter_map(|m| Some(m.edge?.node)).collect()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        live::node(-1);
        // A trace may be very long: nodes that only this one holds are dropped iteratively, not recursively.
        let mut pending = self.take_successors();
        while let Some(node) = pending.pop() {
            if let Some(mut node) = Rc::into_inner(node) {
                pending.extend(node.take_successors());
            }
        }
    }
}
