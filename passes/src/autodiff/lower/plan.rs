//! The assignment of values to stacks: classes of stacks, and lanes, the values of one type on them.
//!
//! A stack is last-in first-out for all of its values, and so for those of one type as well: each type gets a separate
//! buffer and counter, a *lane*, and a pop takes from the lane of its type. Stacks that are recorded on another one are
//! in the class of those that are popped from there: they share the lanes of their class, an arena. Each of them is the
//! part of the arena between a remembered count, its base, and the count when it is used; this is correct since the
//! newest of them is always the one in use, which is checked ([`spans`](super::spans)).

use pir_dialects::cf;
use pir_dialects::marks::CAPACITY;
use pir_ir::{BlockId, Body, Diagnostic, OpId, Rewriter, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::tapes::Tapes;

/// The content of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Held {
    /// Values of a type.
    Values(Type),
    /// Stacks of a class.
    Stacks(usize),
}

/// The values of one type on the stacks of a class.
#[derive(Debug)]
pub(super) struct StackChannel {
    pub(super) class: usize,
    pub(super) held: Held,
    pub(super) pushes: Vec<OpId>,
    pub(super) pops: Vec<OpId>,
    pub(super) joins: Vec<OpId>,
}

/// Stacks that share lanes.
#[derive(Default, Debug)]
pub(super) struct Class {
    /// The operations that create them.
    pub(super) creates: Vec<OpId>,
    /// The operations that pop them from another stack.
    pub(super) pops: Vec<OpId>,
    pub(super) lanes: Vec<usize>,
    /// The class of those that they are recorded on.
    pub(super) outer: Option<usize>,
    /// The block that everything about them is in or below, and what made the first of them there.
    pub(super) home: Option<(BlockId, OpId)>,
    /// Whether it is asked whether one of them is empty.
    pub(super) tested: bool,
    /// Whether each is taken off down to its base by what gets it from another one.
    pub(super) exact: bool,
    /// How many values each push leaves on a stack at most, if that is declared.
    pub(super) capacity: Option<u64>,
    /// The operation that counts complete iterations.
    pub(super) commit: Option<OpId>,
    /// The class that it is recorded on, in turn, or itself.
    pub(super) outermost: usize,
}

/// All stacks of a body.
#[derive(Default, Debug)]
pub(super) struct Plan {
    pub(super) classes: Vec<Class>,
    pub(super) lanes: Vec<StackChannel>,
    pub(super) class_of: FxHashMap<ValueId, usize>,
    /// The lane that a push, a pop or a join is for.
    pub(super) lane_of: FxHashMap<OpId, usize>,
    /// Everything that uses stacks, in order.
    pub(super) ops: Vec<OpId>,
    /// The operations that count iterations, by block, and the lanes that they count for.
    pub(super) commits: FxHashMap<BlockId, (OpId, Vec<usize>)>,
    lane_for: FxHashMap<(usize, Held), usize>,
    taken_off: FxHashSet<OpId>,
}

/// How many values of a lane each block pushes, and pops.
type Profile = FxHashMap<(BlockId, bool), u64>;

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Joined sets of numbers.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }
}

/// The handles that duals read just as they were recorded.
pub(super) fn exact_handles(r: &mut Rewriter<'_>, names: &ControlOps) -> FxHashSet<ValueId> {
    let tapes = Tapes::new(names.ctx, names, r.body);
    tapes.all.iter().map(|tape| tape.handle).collect()
}

/// Whether control takes along the result of a `cf.is_empty`, or what is computed from it, as in rotated loops.
fn carries_test(r: &Rewriter<'_>, op: OpId) -> bool {
    let mut pending = vec![r.body.result(op, 0)];
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    while let Some(value) = pending.pop().filter(|_| seen.len() < MAX_FOLLOWED) {
        if !seen.insert(value) {
            continue;
        }
        for at in r.body.uses(value) {
            match r.body.flow_targets(r.ctx, at) {
                Some(targets) if targets.iter().any(|&v| r.body.value_type(v) == Type::I1) => return true,
                Some(_) => {}
                None => pending.extend(r.body.results(at.op).filter(|&v| r.body.value_type(v) == Type::I1)),
            }
        }
    }
    false
}

/// How many values are followed from a test.
const MAX_FOLLOWED: usize = 1000;

impl Plan {
    /// Finds the classes and lanes of a body whose handles are direct.
    ///
    /// # Errors
    /// For stacks that are used in a way that is not known.
    pub(super) fn new(
        r: &Rewriter<'_>,
        names: &ControlOps,
        exact: &FxHashSet<ValueId>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut this = Plan::default();
        let join = names.ctx.op_name(cf::JOIN_STACK);
        let known = [names.create, names.push, names.pop, names.is_empty, names.commit, join];
        let mut errors = Vec::new();
        let mut handles: Vec<ValueId> = Vec::new();
        for op in r.body.walk_all() {
            let touches = r.body.operands(op).chain(r.body.results(op));
            if !touches.into_iter().any(|v| names.is_stack(r.body, v)) {
                continue;
            }
            if !known.contains(&r.body.op_name(op)) {
                let message = format!("`{}` uses a stack, which cannot become a tensor", r.view(op).name());
                errors.push(
                    Diagnostic::error("stack-use", message)
                        .label(r.body.op_span(op), "uses a stack")
                        .help(
                            "use stacks with `cf.push_back`, `cf.pop_back` and `cf.is_empty`; `inline` removes calls",
                        ),
                );
            }
            if r.body.op_name(op) == names.is_empty && carries_test(r, op) {
                let message = "a loop or branch carries whether a stack is empty, which cannot become a tensor";
                errors.push(
                    Diagnostic::error("stack-use", message)
                        .label(r.body.op_span(op), "tested here")
                        .help("test the stack in the condition of the loop: run `lower-stacks` before `rotate-while`"),
                );
            }
            this.ops.push(op);
            handles.extend(r.body.results(op).filter(|&v| names.is_stack(r.body, v)));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        this.find_classes(r, names, handles);
        this.find_lanes(r, names)?;
        for class in &mut this.classes {
            let mut popped = class.pops.iter().map(|&op| r.body.result(op, 0));
            class.exact = popped.all(|handle| exact.contains(&handle));
        }
        this.find_homes(r)?;
        this.check_commits(r)?;
        Ok(this)
    }

    /// The operation that counts the complete iterations of a class, if there is one.
    pub(super) fn commit(&self, class: usize) -> Option<OpId> {
        self.classes[self.classes[class].outermost].commit
    }

    /// Everything that is pushed in an iteration that is counted must be pushed below the block that counts it.
    fn check_commits(&mut self, r: &Rewriter<'_>) -> Result<(), Vec<Diagnostic>> {
        for (at, lane) in self.lanes.iter().enumerate() {
            let Some(commit) = self.commit(lane.class) else {
                continue;
            };
            if let Some(block) = r.body.op_block(commit) {
                let (_, lanes) = self.commits.entry(block).or_insert((commit, Vec::new()));
                lanes.push(at);
            }
            let inside = |&push: &OpId| {
                let block = r.body.op_block(commit);
                block.is_some_and(|block| r.body.ancestor_in_block(push, block).is_some())
            };
            if let Some(&push) = lane.pushes.iter().find(|push| !inside(push)) {
                let message = "there is a push outside of the loop whose iterations `cf.commit` counts";
                return Err(vec![
                    Diagnostic::error("stack-commit", message)
                        .label(r.body.op_span(push), "pushed here")
                        .label(r.body.op_span(commit), "counted here")
                        .help("push inside of the loop whose iterations `cf.commit` counts"),
                ]);
            }
        }
        Ok(())
    }

    /// The block that everything about a class is in or below.
    pub(super) fn home(&self, class: usize) -> Option<BlockId> {
        self.classes[class].home.map(|(block, _)| block)
    }

    /// The class of a handle, if the stack was taken off another one.
    pub(super) fn popped(&self, body: &Body, handle: ValueId) -> Option<&Class> {
        let class = &self.classes[*self.class_of.get(&handle)?];
        self.taken_off.contains(&body.defining_op(handle)?).then_some(class)
    }

    /// The lanes that indicate whether a stack is empty: not those that hold in each block what others hold.
    pub(super) fn tested_lanes(&self, body: &Body, class: usize) -> Vec<usize> {
        let profile = |lane: usize| {
            let lane = &self.lanes[lane];
            let mut per_block = Profile::default();
            for (ops, push) in [(&lane.pushes, true), (&lane.pops, false)] {
                for block in ops.iter().filter_map(|&op| body.op_block(op)) {
                    *per_block.entry((block, push)).or_default() += 1;
                }
            }
            per_block
        };
        let mut kept: FxHashSet<Vec<((BlockId, bool), u64)>> = FxHashSet::default();
        let lanes = self.classes[class].lanes.iter().copied();
        lanes
            .filter(|&lane| {
                let mut this: Vec<_> = profile(lane).into_iter().collect();
                this.sort_unstable();
                // A common factor of the counts is redundant.
                let divisor = this.iter().fold(0, |a, &(_, n)| gcd(a, n));
                this.iter_mut().for_each(|(_, n)| *n /= divisor.max(1));
                this.is_empty() || kept.insert(this)
            })
            .collect()
    }

    fn find_classes(&mut self, r: &Rewriter<'_>, names: &ControlOps, handles: Vec<ValueId>) {
        let number: FxHashMap<ValueId, usize> = handles.iter().enumerate().map(|(at, &v)| (v, at)).collect();
        let mut sets = Sets((0..handles.len()).collect());
        // The contents of a stack: one of the handles on it, by the set of the stack.
        let mut held: FxHashMap<usize, usize> = FxHashMap::default();
        let mut pending: Vec<(usize, usize)> = Vec::new();
        for &op in &self.ops {
            let name = r.body.op_name(op);
            let item = match () {
                () if name == names.push => r.body.operand(op, 1),
                () if name == names.pop => r.body.result(op, 0),
                () => continue,
            };
            if let (Some(&stack), Some(&item)) = (number.get(&r.body.operand(op, 0)), number.get(&item)) {
                pending.push((stack, item));
            }
        }
        // Joining two stacks joins what is on them.
        while let Some((stack, item)) = pending.pop() {
            let (stack, item) = (sets.find(stack), sets.find(item));
            let Some(&other) = held.get(&stack) else {
                held.insert(stack, item);
                continue;
            };
            let other = sets.find(other);
            if other != item {
                sets.0[other] = item;
                if let Some(inner) = held.remove(&other) {
                    pending.push((item, inner));
                }
            }
        }
        let mut classes: FxHashMap<usize, usize> = FxHashMap::default();
        for (at, &handle) in handles.iter().enumerate() {
            let set = sets.find(at);
            let class = *classes.entry(set).or_insert_with(|| {
                self.classes.push(Class::default());
                self.classes.len() - 1
            });
            self.class_of.insert(handle, class);
            let maker = r.body.defining_op(handle);
            let of = &mut self.classes[class];
            match maker {
                Some(op) if r.body.op_name(op) == names.create => {
                    let capacity = r.view(op).int(&CAPACITY.name).and_then(|n| u64::try_from(n).ok());
                    of.capacity = of.capacity.max(capacity);
                    of.creates.push(op);
                }
                maker => {
                    of.pops.extend(maker);
                    self.taken_off.extend(maker);
                }
            }
        }
        for (stack, item) in held {
            let (outer, inner) = (classes[&sets.find(stack)], classes[&sets.find(item)]);
            self.classes[inner].outer = Some(outer);
        }
    }

    fn lane(&mut self, class: usize, held: Held) -> usize {
        let next = self.lanes.len();
        let lane = *self.lane_for.entry((class, held)).or_insert(next);
        if lane < next {
            return lane;
        }
        self.lanes.push(StackChannel {
            class,
            held,
            pushes: Vec::new(),
            pops: Vec::new(),
            joins: Vec::new(),
        });
        self.classes[class].lanes.push(lane);
        lane
    }

    fn find_lanes(&mut self, r: &Rewriter<'_>, names: &ControlOps) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut joins = Vec::new();
        for op in self.ops.clone() {
            let name = r.body.op_name(op);
            if name == names.create {
                continue;
            }
            let class = self.class_of[&r.body.operand(op, 0)];
            let item = match () {
                () if name == names.push => r.body.operand(op, 1),
                () if name == names.pop => r.body.result(op, 0),
                () if name == names.is_empty => {
                    self.classes[class].tested = true;
                    continue;
                }
                () if name == names.commit => {
                    let is_new = self.classes[class].commit.replace(op).is_none();
                    if !is_new || self.classes[class].outer.is_some() {
                        let message = "a stack may have only one `cf.commit`, and a recorded stack none";
                        errors.push(
                            Diagnostic::error("stack-commit", message)
                                .label(r.body.op_span(op), "counted here")
                                .help("remove this `cf.commit`"),
                        );
                    }
                    continue;
                }
                () => {
                    joins.push((op, class));
                    continue;
                }
            };
            let ty = r.body.value_type(item);
            let held = self
                .class_of
                .get(&item)
                .map_or(Held::Values(ty), |&inner| Held::Stacks(inner));
            if let Held::Values(ty) = held
                && let Err(why) = can_hold(r, ty)
            {
                let message = format!("a stack cannot become a tensor: it holds {why}");
                errors.push(
                    Diagnostic::error("stack-element", message)
                        .label(r.body.op_span(op), "this value")
                        .help("give the value a tensor type with static dimensions"),
                );
                continue;
            }
            let lane = self.lane(class, held);
            self.lane_of.insert(op, lane);
            match name == names.push {
                true => self.lanes[lane].pushes.push(op),
                false => self.lanes[lane].pops.push(op),
            }
        }
        for (op, class) in joins {
            match self.classes[class].lanes[..] {
                [lane] if self.lanes[lane].pops.is_empty() && self.classes[class].outer.is_none() => {
                    self.lanes[lane].joins.push(op);
                    self.lane_of.insert(op, lane);
                }
                _ => {
                    let message = "`cf.join_stack` is supported only for stacks of tensors of one type without pops";
                    errors.push(
                        Diagnostic::error("stack-joined", message)
                            .label(r.body.op_span(op), "joined here")
                            .help("push the elements to be joined on a separate stack"),
                    );
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn find_homes(&mut self, r: &Rewriter<'_>) -> Result<(), Vec<Diagnostic>> {
        for at in 0..self.classes.len() {
            let mut outermost = at;
            // No class is on itself: a handle would have to be pushed on its own stack.
            for _ in 0..self.classes.len() {
                let Some(outer) = self.classes[outermost].outer else {
                    break;
                };
                outermost = outer;
            }
            self.classes[at].outermost = outermost;
            let class = &self.classes[outermost];
            let error = |op: OpId, why: &str| {
                let message = format!("a stack cannot become a tensor: {why}");
                let error = Diagnostic::error("stack-nesting", message).label(r.body.op_span(op), "this stack");
                vec![error.help("push stacks only on stacks that were created outside of the loop or branch")]
            };
            let Some(&create) = class.creates.first() else {
                let Some(&pop) = class.pops.first() else { continue };
                return Err(error(pop, "it is never created"));
            };
            if class.outer.is_some() || class.creates.len() > 1 {
                return Err(error(create, "it contains itself"));
            }
            self.classes[at].home = r.body.op_block(create).map(|block| (block, create));
        }
        for &op in &self.ops {
            let handle = r
                .body
                .operands(op)
                .next()
                .filter(|handle| self.class_of.contains_key(handle));
            let home = handle.and_then(|handle| self.classes[self.class_of[&handle]].home);
            if let Some((block, create)) = home
                && r.body.ancestor_in_block(op, block).is_none()
            {
                let message = "a stack cannot become a tensor: it is used in several blocks";
                let error = Diagnostic::error("stack-blocks", message).label(r.body.op_span(create), "this stack");
                return Err(vec![
                    error.help("run `lift-cfg`, which converts blocks to loops and branches"),
                ]);
            }
        }
        Ok(())
    }
}

/// Whether there can be a buffer for values of a type.
fn can_hold(r: &Rewriter<'_>, ty: Type) -> Result<(), String> {
    let printed = || pir_ir::text::print_type(r.ctx, ty);
    match r.ctx.as_tensor(ty) {
        Some((shape, _)) if shape.iter().all(|&dim| dim >= 0) => Ok(()),
        Some(_) => Err(format!("a `{}`, whose shape is dynamic", printed())),
        None => Err(format!("a `{}`, which is not a tensor", printed())),
    }
}
