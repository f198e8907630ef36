//! Derivatives through stacks: pushes and pops as operations that the cotangent of a value passes through.
//!
//! What `backward` makes pops values that the program before it pushed, so the derivative of that passes through stacks.
//! A push is matched, when the program runs, by the pop that takes its value off again; the adjoint runs both in
//! reverse order, and since stacks are last-in first-out on both sides, a second stack, the *gradient stack*, carries
//! the cotangents: the adjoint of `x = pop S` is `push (S_grad, x_grad)`, the adjoint of `push (S, x)` is `x_grad +=
//! pop S_grad`. A stack that was recorded on a stack has its gradient stack recorded on that one's gradient stack.
//!
//! Which pop may get the value of which push is told by *lanes*. Where an operation and its dual face each other, pushes
//! and pops are in pairs, and each pair is a lane. On a stack that is used in any other way all values share one lane,
//! and there a push may also turn out to have no pop: its adjoint asks first whether the gradient stack is empty.
//! At any moment the gradient stack holds the cotangents of those values of the stack that are still popped, and these
//! are its topmost ones.

use pir_ir::{BlockId, Body, Context, Diagnostic, OpId, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::activity::is_differentiable;
use super::prune;
use super::structure::{Kind, Names, Structure};

/// Pushes, and the pops that may get their values.
#[derive(Default, Debug)]
pub(crate) struct Lane {
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
    lanes: Vec<Lane>,
    lane_of: FxHashMap<OpId, usize>,
    /// For each handle the value that it is another name of.
    roots: FxHashMap<ValueId, ValueId>,
    /// Handles of which it is not known where they come from.
    opaque: FxHashSet<ValueId>,
    classes: Classes,
    /// The operations that have an active push or pop somewhere inside.
    around: FxHashSet<OpId>,
    /// The stacks that get a gradient stack at the start of the adjoint of their block.
    fresh: FxHashMap<BlockId, Vec<ValueId>>,
}

impl Stacks {
    /// Finds the lanes of a body.
    pub(crate) fn new(ctx: &Context, names: &Names, body: &Body) -> Self {
        let mut ops: Vec<OpId> = body
            .walk_all()
            .filter(|&op| body.op_name(op) == names.push || body.op_name(op) == names.pop)
            .collect();
        let mut this = Stacks::default();
        if ops.is_empty() {
            return this;
        }
        for &op in &ops {
            for handle in std::iter::once(body.operand(op, 0)).chain(item_handle(names, body, op)) {
                this.find_root(names, body, handle);
            }
        }
        this.drop_unread(names, body, &mut ops);
        let mut partner: FxHashMap<OpId, OpId> = FxHashMap::default();
        for (push, pop) in prune::pairs_of_duals(names, body) {
            partner.insert(push, pop);
            partner.insert(pop, push);
        }
        for &op in &ops {
            let class = this.class(body.operand(op, 0));
            let Some(&other) = partner.get(&op) else {
                this.classes.mark_mixed(class);
                continue;
            };
            let other = this.class(body.operand(other, 0));
            this.classes.unite(class, other);
            if let (Some(a), Some(&b)) = (item_handle(names, body, op), partner.get(&op))
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
                }
            }
        }
        let mut shared: FxHashMap<(usize, bool), usize> = FxHashMap::default();
        for &op in &ops {
            let handles = item_handle(names, body, op).is_some();
            if !handles && !is_differentiable(ctx, body.value_type(item(names, body, op))) {
                continue;
            }
            let class = this.class(body.operand(op, 0));
            let known = match partner.get(&op) {
                Some(other) if !this.classes.is_mixed(class) => this.lane_of.get(other).copied(),
                _ => shared.get(&(class, handles)).copied(),
            };
            let lane = known.unwrap_or_else(|| {
                let paired = !this.classes.is_mixed(class);
                this.lanes.push(Lane {
                    handles,
                    paired,
                    ..Lane::default()
                });
                if !paired {
                    shared.insert((class, handles), this.lanes.len() - 1);
                }
                this.lanes.len() - 1
            });
            this.lane_of.insert(op, lane);
            let lane = &mut this.lanes[lane];
            if body.op_name(op) == names.push {
                lane.pushes.push(op);
            } else {
                lane.pops.push(op);
            }
        }
        this
    }

    /// The lane of a push or a pop of a value with a derivative.
    pub(crate) fn lane(&self, op: OpId) -> Option<&Lane> {
        self.lane_of
            .get(&op)
            .map(|&lane| &self.lanes[lane])
            .filter(|l| !l.handles)
    }

    /// The lane of a push or a pop that the derivative passes through, of values or of handles.
    pub(crate) fn active_lane(&self, op: OpId) -> Option<&Lane> {
        self.lane_of
            .get(&op)
            .map(|&lane| &self.lanes[lane])
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
    pub(crate) fn activate(&mut self, names: &Names, body: &Body, is_active: impl Fn(ValueId) -> bool) {
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
        self.place_gradient_stacks(names, body);
    }

    fn place_gradient_stacks(&mut self, names: &Names, body: &Body) {
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
        let mut seen = given;
        for root in used {
            if seen.insert(root)
                && let Some(block) = home(body, root)
            {
                self.fresh.entry(block).or_default().push(root);
            }
        }
    }

    /// What the derivative would have to pass through and cannot.
    pub(crate) fn refusals(&self, names: &Names, body: &Body) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut given: FxHashMap<ValueId, OpId> = FxHashMap::default();
        for lane in self.lanes.iter().filter(|l| l.active) {
            for &op in lane.pushes.iter().chain(&lane.pops) {
                let handle = self.root(body.operand(op, 0));
                if self.opaque.contains(&handle) {
                    errors.push(
                        refusal(body, op, "the derivative passes through a stack of which it is not known where it comes from")
                            .help("a stack may be captured, and made by the init region of the operation that fills it; a copy, and one that is chosen by a branch or changes from iteration to iteration, is not differentiated"),
                    );
                }
                let Some(item) = item_handle(names, body, op).filter(|_| body.op_name(op) == names.push) else {
                    continue;
                };
                let root = self.root(item);
                let elsewhere = home(body, root) != body.op_block(op);
                if given.insert(root, op).is_some() || elsewhere {
                    errors.push(
                        refusal(body, op, "the derivative passes through a stack that is itself recorded in several places, or in a region other than its own")
                            .help("record the stack once, in the block that makes it"),
                    );
                }
            }
        }
        errors
    }

    /// Leaves out pushes on stacks that nothing is popped from, like those of the step that is being taken.
    fn drop_unread(&self, names: &Names, body: &Body, ops: &mut Vec<OpId>) {
        let mut pushed_on: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        let mut pending = Vec::new();
        for &op in ops.iter() {
            let stack = self.root(body.operand(op, 0));
            if body.op_name(op) == names.pop {
                pending.push(stack);
            } else if let Some(item) = item_handle(names, body, op) {
                pushed_on.entry(stack).or_default().push(self.root(item));
            }
        }
        let mut read: FxHashSet<ValueId> = FxHashSet::default();
        while let Some(stack) = pending.pop() {
            if read.insert(stack) {
                pending.extend(pushed_on.get(&stack).into_iter().flatten());
            }
        }
        ops.retain(|&op| read.contains(&self.root(body.operand(op, 0))));
    }

    fn class(&mut self, handle: ValueId) -> usize {
        let root = self.root(handle);
        self.classes.of(root)
    }

    /// Follows a handle through arguments and results to the stack that it always stands for.
    fn find_root(&mut self, names: &Names, body: &Body, handle: ValueId) {
        let mut at = handle;
        let mut path = Vec::new();
        let root = loop {
            if let Some(&root) = self.roots.get(&at) {
                break root;
            }
            path.push(at);
            match step(names, body, at) {
                Step::Root => break at,
                Step::To(next) if path.len() <= body.num_value_slots() => at = next,
                _ => {
                    self.opaque.insert(at);
                    break at;
                }
            }
        };
        for value in path {
            self.roots.insert(value, root);
        }
    }
}

fn refusal(body: &Body, op: OpId, why: &str) -> Diagnostic {
    Diagnostic::error("stack-derivative", why).label(body.op_span(op), "the derivative passes through here")
}

/// The value that is pushed, or that is popped.
fn item(names: &Names, body: &Body, op: OpId) -> ValueId {
    if body.op_name(op) == names.push {
        body.operand(op, 1)
    } else {
        body.result(op, 0)
    }
}

/// The handle that is pushed, or that is popped.
fn item_handle(names: &Names, body: &Body, op: OpId) -> Option<ValueId> {
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

enum Step {
    Root,
    To(ValueId),
    Unknown,
}

/// What a handle is another name of.
fn step(names: &Names, body: &Body, handle: ValueId) -> Step {
    match body.value_def(handle) {
        ValueDef::Result(op, index) => {
            let name = body.op_name(op);
            if name == names.pop {
                return Step::Root;
            }
            if name == names.create {
                return match own_stack_of_init(names, body, op) {
                    Some(result) => Step::To(result),
                    None => Step::Root,
                };
            }
            let Some(structure) = Structure::of(names, body, op) else {
                return Step::Unknown;
            };
            if structure.init.is_some() && index as usize + 1 == body.num_results(op) {
                return Step::Root;
            }
            match (structure.kind, structure.blocks) {
                (Kind::While, [Some(cond), _]) => body
                    .last_op(cond)
                    .filter(|&end| index as usize + 1 < body.num_operands(end))
                    .map_or(Step::Unknown, |end| Step::To(body.operand(end, index as usize + 1))),
                _ => Step::Unknown,
            }
        }
        ValueDef::Arg(block, index) => argument(names, body, block, index as usize).unwrap_or(Step::Unknown),
        ValueDef::None => Step::Unknown,
    }
}

/// A `cf.create_stack` in an init region: the result of the operation that its stack becomes.
fn own_stack_of_init(names: &Names, body: &Body, create: OpId) -> Option<ValueId> {
    let parent = body.parent_op(create)?;
    let structure = Structure::of(names, body, parent)?;
    (structure.init.is_some() && structure.init == body.op_region(create))
        .then(|| body.results(parent).next_back())
        .flatten()
}

fn argument(names: &Names, body: &Body, block: BlockId, index: usize) -> Option<Step> {
    let op = body.block_parent(block)?;
    let structure = Structure::of(names, body, op)?;
    if structure.init.is_some() && structure.blocks.contains(&Some(block)) && index + 1 == body.block_args(block).len()
    {
        return Some(Step::To(body.results(op).next_back()?));
    }
    let [Some(cond), Some(second)] = structure.blocks else {
        return None;
    };
    let (cond_end, body_end) = (body.last_op(cond)?, body.last_op(second)?);
    let forwarded = |index: usize| (index + 1 < body.num_operands(cond_end)).then(|| body.operand(cond_end, index + 1));
    if block == second {
        return forwarded(index).map(Step::To);
    }
    if block == cond {
        // The slot must hold the same stack in every iteration.
        let own = *body.block_args(cond).get(index)?;
        let back = body.get_operand(body_end, index)?;
        let same = match body.value_def(back) {
            ValueDef::Arg(b, k) if b == second => forwarded(k as usize) == Some(own),
            _ => false,
        };
        if !same {
            return None;
        }
    }
    body.get_operand(op, index).map(Step::To)
}

/// Classes of stacks that may stand for each other, by union-find; each may have a class of the handles on it
/// (Steensgaard, "Points-to analysis in almost linear time", 1996).
#[derive(Default, Debug)]
struct Classes {
    of: FxHashMap<ValueId, usize>,
    parent: Vec<usize>,
    element: Vec<Option<usize>>,
    mixed: Vec<bool>,
}

impl Classes {
    fn of(&mut self, root: ValueId) -> usize {
        let next = self.parent.len();
        let class = *self.of.entry(root).or_insert(next);
        if class == next {
            self.parent.push(next);
            self.element.push(None);
            self.mixed.push(false);
        }
        self.find(class)
    }

    fn find(&mut self, mut class: usize) -> usize {
        while self.parent[class] != class {
            self.parent[class] = self.parent[self.parent[class]];
            class = self.parent[class];
        }
        class
    }

    fn mark_mixed(&mut self, class: usize) {
        let class = self.find(class);
        self.mixed[class] = true;
    }

    fn is_mixed(&mut self, class: usize) -> bool {
        let class = self.find(class);
        self.mixed[class]
    }

    /// Whether something changed.
    fn unite(&mut self, a: usize, b: usize) -> bool {
        let mut pending = vec![(a, b)];
        let mut changed = false;
        while let Some((a, b)) = pending.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            changed = true;
            self.parent[b] = a;
            self.mixed[a] |= self.mixed[b];
            match (self.element[a], self.element[b]) {
                (Some(x), Some(y)) => pending.push((x, y)),
                (None, element) => self.element[a] = element,
                (Some(_), None) => {}
            }
        }
        changed
    }

    /// Makes `item` a handle that may be on a stack of `class`. Whether something changed.
    fn unite_element(&mut self, class: usize, item: usize) -> bool {
        let class = self.find(class);
        match self.element[class] {
            Some(element) => self.unite(element, item),
            None => {
                self.element[class] = Some(item);
                false
            }
        }
    }
}
