//! Gradient nodes: for each recorded operation, what its gradient function needs and where the gradients go.

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

/// Where a gradient goes: a node, which result of its operation, and which element of that result.
#[derive(Clone)]
pub struct Edge {
    /// The node.
    pub node: Rc<Node>,
    /// The result.
    pub slot: usize,
    /// The element, in a result that is a list.
    pub rank: usize,
}

/// What is known of an operand or a result without its elements.
#[derive(Clone)]
pub struct SlotMeta {
    /// Whether no gradient is computed.
    pub stop_gradient: bool,
    /// The shape.
    pub shape: Shape,
    /// The type of the elements.
    pub dtype: DType,
    /// Of an operand: where its gradient goes.
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

/// The metas of slots, each a tensor or a list.
pub type SlotMetas = Vec<Vec<SlotMeta>>;

/// The number of a hook.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HookId(u64);

type GradientHook = Rc<dyn Fn(&Tensor) -> Option<Tensor>>;
type NodeHook = Rc<dyn Fn(&[Vec<Option<Tensor>>])>;

#[derive(Clone)]
enum Hook {
    Gradient(usize, usize, GradientHook),
    Node(NodeHook),
}

/// What a node does.
pub(super) enum GradNodeKind {
    /// Adds to the gradient of a leaf.
    Accumulation(WeakTensor),
    /// Computes the gradients of an operation's operands.
    Operation(Operation),
}

/// An operation that was recorded.
pub(super) struct Operation {
    pub(super) name: OpName,
    pub(super) attrs: AttrDict,
    /// Which operands are lists.
    pub(super) lists: Vec<bool>,
    /// Its gradient function; that there is none is told when a gradient arrives.
    pub(super) rule: Option<&'static Rule>,
    /// Of a call the derivative that its function names.
    pub(super) custom: Option<Custom>,
    /// The operands, those that are lists flat.
    pub(super) inputs: RefCell<Vec<Wrapper>>,
    /// The results, lists flat.
    pub(super) outputs: RefCell<Vec<Wrapper>>,
    /// The memory of all this.
    pub(super) _held: Reservation,
}

impl Operation {
    /// About what is taken for an operation with so many operands and results, besides the elements.
    pub(super) const fn bytes(operands: usize, results: usize) -> usize {
        // What the allocator needs for the lists.
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
        // The leaf is being borrowed: only its data may be asked for.
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

    /// The node of an operation; `outputs` are saved when they have it as history.
    pub(super) fn operation(operation: Operation, in_meta: SlotMetas, out_meta: SlotMetas) -> Rc<Node> {
        Self::new(GradNodeKind::Operation(operation), in_meta, out_meta)
    }

    pub(super) fn is_accumulation(&self) -> bool {
        matches!(self.kind, GradNodeKind::Accumulation(_))
    }

    /// What is known of the results of the operation, whose gradients come in.
    pub fn input_meta(&self) -> Ref<'_, SlotMetas> {
        self.in_meta.borrow()
    }

    /// What is known of the operands of the operation, whose gradients go out.
    pub fn output_meta(&self) -> Ref<'_, SlotMetas> {
        self.out_meta.borrow()
    }

    /// Calls a function with the whole gradient of a result, which what it gives replaces.
    pub fn register_gradient_hook(
        &self,
        slot: usize,
        rank: usize,
        hook: impl Fn(&Tensor) -> Option<Tensor> + 'static,
    ) -> HookId {
        self.register(Hook::Gradient(slot, rank, Rc::new(hook)))
    }

    /// Calls a function with the gradients of all operands when they have been computed.
    pub fn register_node_hook(&self, hook: impl Fn(&[Vec<Option<Tensor>>]) + 'static) -> HookId {
        self.register(Hook::Node(Rc::new(hook)))
    }

    fn register(&self, hook: Hook) -> HookId {
        let id = HookId(self.next_hook.get());
        self.next_hook.set(id.0 + 1);
        self.hooks.borrow_mut().insert(id, hook);
        id
    }

    /// Removes a hook. Whether there was one.
    pub fn remove_hook(&self, id: HookId) -> bool {
        let hook = self.hooks.borrow_mut().remove(&id);
        hook.is_some()
    }

    /// Whether there are hooks.
    pub fn has_hooks(&self) -> bool {
        !self.hooks.borrow().is_empty()
    }

    /// The hooks as they are now: a hook may remove itself.
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

    /// Forgets what was saved.
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
        // A trace may be very long: nodes that only this one holds are dropped one after the other, not nested.
        let mut pending = self.take_successors();
        while let Some(node) = pending.pop() {
            if let Some(mut node) = Rc::into_inner(node) {
                pending.extend(node.take_successors());
            }
        }
    }
}
