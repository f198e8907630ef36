//! Derivatives through stacks: pushes and pops as operations that the cotangent of a value passes through.
//!
//! What `backward` makes pops values that the program before it pushed, so the derivative of that passes through stacks.
//! A push is matched, when the program runs, by the pop that takes its value off again; the adjoint runs both in
//! reverse order, and since stacks are last-in first-out on both sides, a second stack, the *gradient stack*, carries
//! the cotangents: the adjoint of `x = pop S` is `push (S_grad, x_grad)`, the adjoint of `push (S, x)` is `x_grad +=
//! pop S_grad`. A stack that was recorded on a stack has its gradient stack recorded on that one's gradient stack.
//!
//! Which pop may get the value of which push is determined by *lanes*. Where an operation and its dual face each other, pushes
//! and pops are in pairs, and each pair is a lane. On a stack that is used in any other way all values share one lane,
//! and there a push may also turn out to have no pop: its adjoint asks first whether the gradient stack is empty.
//! Where the handles come from is proven first ([`Provenance`]). A copy has a gradient stack of its own, whose cotangents are
//! added to those of the original where the copy was made. Stacks that are chosen by a branch, change from iteration to
//! iteration, or are given to operations that are not known are in classes with all that they may be, so that activity
//! sees the way; and are refused ([`refusals`]).
//!
//! At any moment the gradient stack holds the cotangents of those values of the stack that are still popped, and these
//! are its topmost ones.

mod classes;
mod refusals;

use pir_ir::{BlockId, Body, Context, OpId, Type, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::control_ops::ControlOps;
use super::dense::OpMap;
use super::differentiable::is_differentiable;
use super::tapes;
use crate::analysis::Provenance;
use classes::Classes;
pub(crate) use refusals::Mode;

/// Pushes, and the pops that may get their values.
#[derive(Default, Debug)]
pub(crate) struct StackChannel {
    pub(crate) pushes: Vec<OpId>,
    pub(crate) pops: Vec<OpId>,
    /// Whether the lane carries handles of stacks.
    handles: bool,
    /// Whether each push is known to have a pop.
    pub(crate) paired: bool,
    active: bool,
}

/// The stacks of a body.
#[derive(Default, Debug)]
pub(crate) struct Stacks {
    lanes: Vec<StackChannel>,
    lane_of: OpMap<u32>,
    /// For each handle the value that it is another name of.
    roots: FxHashMap<ValueId, ValueId>,
    /// Handles that may be names of different stacks.
    doubtful: FxHashSet<ValueId>,
    /// Handles that come in from outside.
    foreign: FxHashSet<ValueId>,
    classes: Classes,
    /// The class of stacks that may refer to anything.
    strange: Option<usize>,
    /// Operations that do to stacks what is not known.
    strangers: FxHashSet<OpId>,
    /// The pops from stacks that these may have pushed on.
    strange_pops: Vec<OpId>,
    is_strange_pop: FxHashSet<OpId>,
    /// The operations that copy stacks.
    copies: Vec<OpId>,
    /// The copies that the derivative passes through, with the type of what is on the stack.
    active_copies: FxHashMap<OpId, Option<Type>>,
    /// The operations that have an active push or pop somewhere inside.
    around: FxHashSet<OpId>,
    /// The stacks that get a gradient stack at the start of the adjoint of their block.
    fresh: FxHashMap<BlockId, Vec<ValueId>>,
}

impl Stacks {
    /// Finds the lanes of a body.
    pub(crate) fn new(ctx: &Context, names: &ControlOps, body: &Body) -> Self {
        let mut ops: Vec<OpId> = body
            .walk_all()
            .filter(|&op| body.op_name(op) == names.push || body.op_name(op) == names.pop)
            .collect();
        let mut this = Stacks::default();
        let provenance = body.analysis::<Provenance>(ctx);
        if provenance.is_empty() {
            return this;
        }
        this.find_roots(names, body, &provenance);
        this.join_aliases(ctx, names, body, &provenance);
        this.drop_unread(names, body, &mut ops);
        let mut partner: OpMap<OpId> = OpMap::default();
        for (push, pop) in tapes::pairs_of_duals(names, body, &provenance) {
            partner.insert(push, pop);
            partner.insert(pop, push);
        }
        for &op in &ops {
            let class = this.class(body.operand(op, 0));
            let Some(other) = partner.get(op) else {
                this.classes.mark_mixed(class);
                continue;
            };
            let other = this.class(body.operand(other, 0));
            this.classes.unite(class, other);
            if let (Some(a), Some(b)) = (item_handle(names, body, op), partner.get(op))
                && let Some(b) = item_handle(names, body, b)
            {
                let (a, b) = (this.class(a), this.class(b));
                this.classes.unite(a, b);
            }
        }
        // The handles on a stack without pairs are one class; what that unites may lose its pairs in turn.
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &op in &ops {
                let class = this.class(body.operand(op, 0));
                if let Some(item) = item_handle(names, body, op)
                    && this.classes.is_mixed(class)
                {
                    let item = this.class(item);
                    changed |= this.classes.unite_element(class, item);
                    // What has a stack may pop the stacks on it.
                    if this.classes.is_strange(class) && !this.classes.is_strange(item) {
                        this.classes.mark_strange(item);
                        changed = true;
                        if let Some(strange) = this.strange {
                            this.classes.unite(strange, item);
                        }
                    }
                }
            }
        }
        // A value without cotangent has a separate lane: a derivative that would pass through it is refused.
        let mut shared: FxHashMap<(usize, bool, bool), u32> = FxHashMap::default();
        for &op in &ops {
            let handles = item_handle(names, body, op).is_some();
            let differentiable = is_differentiable(ctx, body.value_type(item(names, body, op)));
            let class = this.class(body.operand(op, 0));
            let known = match partner.get(op) {
                Some(other) if !this.classes.is_mixed(class) => this.lane_of.get(other),
                _ => shared.get(&(class, handles, differentiable)).copied(),
            };
            let lane = known.unwrap_or_else(|| {
                let paired = !this.classes.is_mixed(class);
                this.lanes.push(StackChannel {
                    handles,
                    paired,
                    ..StackChannel::default()
                });
                let last = this.lanes.len() as u32 - 1;
                if !paired {
                    shared.insert((class, handles, differentiable), last);
                }
                last
            });
            this.lane_of.insert(op, lane);
            let lane = &mut this.lanes[lane as usize];
            if body.op_name(op) == names.push {
                lane.pushes.push(op);
            } else {
                lane.pops.push(op);
                if !handles && this.classes.is_strange(class) {
                    this.strange_pops.push(op);
                    this.is_strange_pop.insert(op);
                }
            }
        }
        this
    }

    /// Whether the body has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.lanes.is_empty()
    }

    /// Enters what each handle is another name of.
    fn find_roots(&mut self, names: &ControlOps, body: &Body, provenance: &Provenance) {
        for &handle in provenance.handles() {
            let root = provenance.root(handle);
            let made = match body.value_def(root) {
                ValueDef::Result(op, _) if body.op_name(op) == names.create => {
                    Some(own_stack_of_init(names, body, op).unwrap_or(root))
                }
                ValueDef::Result(op, _) => [names.copy, names.pop].contains(&body.op_name(op)).then_some(root),
                _ => None,
            };
            if provenance.doubt(handle).is_some() {
                self.doubtful.insert(root);
            } else if made.is_none() {
                self.foreign.insert(root);
            }
            self.roots.insert(handle, made.unwrap_or(root));
        }
    }

    /// Merges the classes of handles that may refer to the same stack; handles with unknown uses share one class.
    fn join_aliases(&mut self, ctx: &Context, names: &ControlOps, body: &Body, provenance: &Provenance) {
        for &(from, to) in provenance.joins() {
            let (from, to) = (self.class(from), self.class(to));
            self.classes.unite(from, to);
        }
        let mut strange: Vec<ValueId> = self.foreign.iter().copied().collect();
        strange.sort_unstable();
        for op in body.walk_all() {
            let name = body.op_name(op);
            let known = [names.create, names.push, names.pop, names.is_empty];
            if known.contains(&name) || body.flow_of_operands(ctx, op).is_some() {
                continue;
            }
            if name == names.copy {
                self.copies.push(op);
                let (from, to) = (self.class(body.operand(op, 0)), self.class(body.result(op, 0)));
                self.classes.unite(from, to);
                self.classes.mark_mixed(from);
                continue;
            }
            // A value returned at the end of a body belongs to the caller from then on.
            if body.parent_op(op).is_none() && body.view(ctx, op).has(pir_ir::Traits::TERMINATOR) {
                continue;
            }
            let values = body.operands(op).chain(body.results(op));
            let before = strange.len();
            strange.extend(values.filter(|v| self.roots.contains_key(v)));
            if strange.len() > before {
                self.strangers.insert(op);
            }
        }
        for value in strange {
            let class = self.class(value);
            self.classes.mark_strange(class);
            let all = *self.strange.get_or_insert(class);
            self.classes.unite(all, class);
        }
    }

    /// The pops that may return what an operation with unknown effects pushed: the same for all of these operations.
    pub(crate) fn pops_behind(&self, op: OpId) -> Option<&[OpId]> {
        self.strangers.contains(&op).then_some(&self.strange_pops)
    }

    /// The operations with unknown effects that may have pushed what a pop returns: the same for all such pops.
    pub(crate) fn strangers_before(&self, pop: OpId) -> Option<impl Iterator<Item = OpId> + '_> {
        self.is_strange_pop
            .contains(&pop)
            .then(|| self.strangers.iter().copied())
    }

    /// The copied type, if the derivative passes through an operation that copies a stack.
    pub(crate) fn active_copy(&self, op: OpId) -> Option<Option<Type>> {
        self.active_copies.get(&op).copied()
    }

    /// The lane of a push or a pop of a value with a derivative.
    pub(crate) fn lane(&self, op: OpId) -> Option<&StackChannel> {
        self.lane_of
            .get(op)
            .map(|lane| &self.lanes[lane as usize])
            .filter(|l| !l.handles)
    }

    /// The lane of a push or a pop that the derivative passes through, of values or of handles.
    pub(crate) fn active_lane(&self, op: OpId) -> Option<&StackChannel> {
        self.lane_of
            .get(op)
            .map(|lane| &self.lanes[lane as usize])
            .filter(|l| l.active)
    }

    /// Whether a push or a pop inside the operation is one that the derivative passes through.
    pub(crate) fn pass_through(&self, op: OpId) -> bool {
        self.around.contains(&op)
    }

    /// The stacks that get a gradient stack at the start of the adjoint of a block.
    pub(crate) fn fresh_in(&self, block: BlockId) -> &[ValueId] {
        self.fresh.get(&block).map_or(&[], Vec::as_slice)
    }

    /// The value that a handle is another name of.
    pub(crate) fn root(&self, handle: ValueId) -> ValueId {
        self.roots.get(&handle).copied().unwrap_or(handle)
    }

    /// Decides which lanes the derivative passes through, when it is known which popped values are active.
    pub(crate) fn activate(&mut self, names: &ControlOps, body: &Body, is_active: impl Fn(ValueId) -> bool) {
        let mut active_classes: FxHashSet<usize> = FxHashSet::default();
        let mut pending = Vec::new();
        for at in 0..self.lanes.len() {
            let lane = &self.lanes[at];
            if !lane.handles && lane.pops.iter().any(|&pop| is_active(body.result(pop, 0))) {
                pending.push(at);
            }
        }
        // Handle lanes by the class of what they carry.
        let mut carriers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for at in 0..self.lanes.len() {
            let first = self.lanes[at].pushes.first().or(self.lanes[at].pops.first()).copied();
            let complete = !self.lanes[at].pushes.is_empty() && !self.lanes[at].pops.is_empty();
            if let Some(handle) = first.and_then(|op| item_handle(names, body, op)).filter(|_| complete) {
                carriers.entry(self.class(handle)).or_default().push(at);
            }
        }
        while let Some(at) = pending.pop() {
            if std::mem::replace(&mut self.lanes[at].active, true) {
                continue;
            }
            let first = self.lanes[at].pushes.first().or(self.lanes[at].pops.first()).copied();
            let Some(first) = first else { continue };
            let class = self.class(body.operand(first, 0));
            if active_classes.insert(class) {
                pending.extend(carriers.get(&class).into_iter().flatten());
            }
        }
        for at in 0..self.copies.len() {
            let copy = self.copies[at];
            let class = self.class(body.operand(copy, 0));
            if !active_classes.contains(&class) {
                continue;
            }
            // Cotangents of one type can be added without knowing which is which.
            let mut types = Vec::new();
            for lane in self.lanes.iter().filter(|l| l.active && !l.handles) {
                let ops = lane.pushes.iter().chain(&lane.pops);
                types.extend(ops.map(|&op| (body.operand(op, 0), body.value_type(item(names, body, op)))));
            }
            let mut found: Vec<Type> = Vec::new();
            for (handle, ty) in types {
                if self.class(handle) == class && !found.contains(&ty) {
                    found.push(ty);
                }
            }
            let ty = match (found.as_slice(), self.classes.element(class)) {
                (&[one], None) => Some(one),
                _ => None,
            };
            self.active_copies.insert(copy, ty);
        }
        self.place_gradient_stacks(names, body);
    }

    fn place_gradient_stacks(&mut self, names: &ControlOps, body: &Body) {
        let mut used: Vec<ValueId> = Vec::new();
        let mut given: FxHashSet<ValueId> = FxHashSet::default();
        for lane in self.lanes.iter().filter(|l| l.active) {
            for &op in lane.pushes.iter().chain(&lane.pops) {
                used.push(self.root(body.operand(op, 0)));
                if let Some(handle) = item_handle(names, body, op) {
                    let root = self.root(handle);
                    if body.op_name(op) == names.push {
                        given.insert(root);
                    } else {
                        used.push(root);
                    }
                }
                let mut at = body.parent_op(op);
                while let Some(parent) = at.filter(|&p| self.around.insert(p)) {
                    at = body.parent_op(parent);
                }
            }
        }
        for at in 0..self.copies.len() {
            let copy = self.copies[at];
            if !self.active_copies.contains_key(&copy) {
                continue;
            }
            used.push(self.root(body.operand(copy, 0)));
            used.push(self.root(body.result(copy, 0)));
            let mut at = body.parent_op(copy);
            while let Some(parent) = at.filter(|&p| self.around.insert(p)) {
                at = body.parent_op(parent);
            }
        }
        let mut seen = given;
        for root in used {
            if seen.insert(root)
                && let Some(block) = home(body, root)
            {
                self.fresh.entry(block).or_default().push(root);
            }
        }
    }

    /// Leaves out pushes on stacks that nothing is popped from, like those of the step that is being taken.
    fn drop_unread(&mut self, names: &ControlOps, body: &Body, ops: &mut Vec<OpId>) {
        let mut pushed_on: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut pending: Vec<usize> = self.strange.into_iter().map(|c| self.classes.of_class(c)).collect();
        for &op in ops.iter() {
            let stack = self.class(body.operand(op, 0));
            if body.op_name(op) == names.pop {
                pending.push(stack);
            } else if let Some(item) = item_handle(names, body, op) {
                let item = self.class(item);
                pushed_on.entry(stack).or_default().push(item);
            }
        }
        let mut read: FxHashSet<usize> = FxHashSet::default();
        while let Some(stack) = pending.pop() {
            if read.insert(stack) {
                pending.extend(pushed_on.get(&stack).into_iter().flatten());
            }
        }
        ops.retain(|&op| {
            let class = self.class(body.operand(op, 0));
            read.contains(&class)
        });
    }

    fn class(&mut self, handle: ValueId) -> usize {
        let root = self.root(handle);
        self.classes.of(root)
    }
}

/// The value that is pushed, or that is popped.
fn item(names: &ControlOps, body: &Body, op: OpId) -> ValueId {
    if body.op_name(op) == names.push {
        body.operand(op, 1)
    } else {
        body.result(op, 0)
    }
}

/// The handle that is pushed, or that is popped.
fn item_handle(names: &ControlOps, body: &Body, op: OpId) -> Option<ValueId> {
    Some(item(names, body, op)).filter(|&v| names.is_stack(body, v))
}

/// The block in whose adjoint a stack's gradient stack lives.
fn home(body: &Body, root: ValueId) -> Option<BlockId> {
    match body.value_def(root) {
        ValueDef::Result(op, _) => body.op_block(op),
        ValueDef::Arg(block, _) => Some(block),
        ValueDef::None => None,
    }
}

/// A `cf.create_stack` in an init region: the result of the operation that its stack becomes.
fn own_stack_of_init(names: &ControlOps, body: &Body, create: OpId) -> Option<ValueId> {
    let parent = body.parent_op(create)?;
    let structure = names.form(body, parent)?;
    (structure.entry.is_some() && structure.entry == body.op_region(create))
        .then(|| body.results(parent).next_back())
        .flatten()
}
