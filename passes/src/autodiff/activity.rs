//! Activity: which values a derivative passes through.
//!
//! A value is *varied* if it depends on an input that is differentiated with respect to, and *useful* if an output
//! that is differentiated depends on it; it is *active* if it is both. Through loops both are fixpoints, which here are
//! plain reachability: the edges are the uses of ordinary operations and the bindings of the region-flow interface, and
//! each is followed once. (Hascoët and Pascual, "The Tapenade automatic differentiation tool", 2013, section 5.)
//!
//! Values of all types take part: an operation that makes a complex number, a list or an index of floats may hand their
//! derivative on. Only what an operation declares to have no derivative ends a path ([`carries`]); one that declares nothing
//! is taken to pass everything on, and is refused, since there is no rule for it.

use std::sync::{Mutex, PoisonError};

use pir_ir::{Body, Context, OpId, RegionId, Traits, Use, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::control_ops::ControlOps;
use super::dense::DenseMap;
use super::differentiable::carries;
use super::memory::{Given, Memory};
use super::rules::RuleTable;
use super::stack_locals::Changes;
use super::stacks::Stacks;

/// The varied and the useful values of a body.
pub(crate) struct Activity {
    varied: Vec<bool>,
    useful: Vec<bool>,
    /// How a value became varied: the value before it on a path from an input, or itself.
    origin: Paths,
    /// How a value became useful: the value after it on a path to an output, or itself.
    toward: Paths,
    opaque: Opaque,
    /// Calls with a derivative of their own, which is one of floats in floats, or with none.
    custom: FxHashMap<OpId, bool>,
    /// The pushes and pops that a derivative passes through.
    pub(crate) stacks: Stacks,
    /// The buffers that it passes through.
    pub(crate) memory: Memory,
}

/// The same, where the derivatives of some calls are known.
fn carries_with(custom: &FxHashMap<OpId, bool>, ctx: &Context, body: &Body, at: Use, result: ValueId) -> bool {
    match custom.get(&at.op) {
        Some(true) => [body.operand(at.op, at.index), result]
            .iter()
            .all(|&v| ctx.is_continuous(body.value_type(v))),
        Some(false) => false,
        None => carries(ctx, body, at, result),
    }
}

/// Operations with regions whose control flow is unknown.
#[derive(Default)]
struct Opaque {
    /// The operations in their regions, at any depth, by operation.
    inside: FxHashMap<OpId, Vec<OpId>>,
    /// The innermost one around an operation, and all others around that.
    around: FxHashMap<OpId, Vec<OpId>>,
}

impl Opaque {
    fn new(ctx: &Context, body: &Body) -> Self {
        let mut this = Opaque::default();
        // Much fewer than operations.
        let all = (0..body.num_region_slots()).map(RegionId::new);
        for op in all.filter_map(|region| body.region_parent(region)) {
            let regions = body.op_regions(op);
            let is_known = || {
                let single = |&region| body.region_blocks(region).len() <= 1;
                body.region_flow(ctx, op).is_some() && regions.iter().all(single)
            };
            if !regions.is_empty() && !body.view(ctx, op).has(Traits::ISOLATED) && !is_known() {
                this.inside.insert(op, Vec::new());
            }
        }
        if this.inside.is_empty() {
            return this;
        }
        for op in body.walk_all() {
            let mut at = body.parent_op(op);
            while let Some(parent) = at {
                if let Some(inside) = this.inside.get_mut(&parent) {
                    inside.push(op);
                    this.around.entry(op).or_default().push(parent);
                }
                at = body.parent_op(parent);
            }
        }
        this
    }

    /// The values that a use of a value in an operation may determine.
    fn targets(&self, body: &Body, user: OpId) -> Vec<ValueId> {
        if self.inside.is_empty() {
            return Vec::new();
        }
        let own = self.inside.contains_key(&user).then_some(user);
        let around = self.around.get(&user).into_iter().flatten().copied();
        own.into_iter().chain(around).flat_map(|op| bound(body, op)).collect()
    }

    /// The operands that a value may come from.
    fn sources(&self, body: &Body, value: ValueId) -> Vec<Use> {
        if self.inside.is_empty() {
            return Vec::new();
        }
        let op = match body.value_def(value) {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Arg(block, _) => body.block_parent(block),
            ValueDef::None => None,
        };
        let Some((op, inside)) = op.and_then(|op| Some((op, self.inside.get(&op)?))) else {
            return Vec::new();
        };
        let users = std::iter::once(op).chain(inside.iter().copied());
        users
            .flat_map(|op| (0..body.num_operands(op)).map(move |index| Use { op, index }))
            .collect()
    }
}

/// The results of an operation, and the arguments of its regions.
fn bound(body: &Body, op: OpId) -> Vec<ValueId> {
    let blocks = body.op_regions(op).iter().flat_map(|&r| body.region_blocks(r));
    let args = blocks.flat_map(|&b| body.block_args(b).iter().copied());
    body.results(op).chain(args).collect()
}

impl Activity {
    /// Follows the dependences from `inputs` forwards and from `outputs` backwards.
    pub(crate) fn new(ctx: &Context, body: &Body, rules: &RuleTable, inputs: &[ValueId], outputs: &[ValueId]) -> Self {
        let names = ControlOps::new(ctx);
        let stacks = Stacks::new(ctx, &names, body);
        let itself: Vec<ValueId> = (0..body.num_value_slots()).map(ValueId::new).collect();
        let mut this = Activity {
            varied: vec![false; body.num_value_slots()],
            useful: vec![false; body.num_value_slots()],
            origin: Paths::new(itself.clone()),
            toward: Paths::new(itself),
            opaque: Opaque::new(ctx, body),
            custom: rules.custom_calls().collect(),
            stacks: Stacks::default(),
            memory: Memory::new(ctx, body),
        };
        this.follow_inputs(ctx, body, &stacks, inputs);
        this.follow_outputs(ctx, body, &stacks, outputs);
        let mut memory = std::mem::take(&mut this.memory);
        memory.activate(body, |v| this.is_varied(v), |v| this.is_useful(v));
        this.memory = memory;
        let mut stacks = stacks;
        stacks.activate(&names, body, |v| this.is_active(v));
        this.stacks = stacks;
        this
    }

    fn follow_inputs(&mut self, ctx: &Context, body: &Body, stacks: &Stacks, inputs: &[ValueId]) {
        let (varied, origin, custom) = (&mut self.varied, &mut self.origin, &self.custom);
        let mut pending: Vec<ValueId> = inputs.to_vec();
        pending.extend(self.memory.inputs(ctx, body));
        pending.iter().for_each(|v| varied[v.index()] = true);
        let (mut given, mut strange_given) = (Given::default(), false);
        while let Some(value) = pending.pop() {
            for at in body.uses(value) {
                let mut reach = |target: ValueId| {
                    if !std::mem::replace(&mut varied[target.index()], true) {
                        origin.next[target.index()] = value;
                        pending.push(target);
                    }
                };
                if let Some(pops) = stacks.pops_behind(at.op)
                    && !std::mem::replace(&mut strange_given, true)
                {
                    pops.iter().for_each(|&pop| reach(body.result(pop, 0)));
                }
                self.memory
                    .loaded_behind(ctx, body, at, &mut given)
                    .into_iter()
                    .for_each(&mut reach);
                match body.flow_targets(ctx, at) {
                    _ if at.index == 1 && stacks.lane(at.op).is_some() => {
                        let pops = stacks.lane(at.op).map_or(&[][..], |lane| &lane.pops);
                        pops.iter().for_each(|&pop| reach(body.result(pop, 0)));
                    }
                    Some(targets) => targets.into_iter().for_each(&mut reach),
                    None => {
                        let results = body.results(at.op);
                        results
                            .filter(|&r| carries_with(custom, ctx, body, at, r))
                            .for_each(&mut reach);
                    }
                }
                self.opaque.targets(body, at.op).into_iter().for_each(reach);
            }
        }
    }

    fn follow_outputs(&mut self, ctx: &Context, body: &Body, stacks: &Stacks, outputs: &[ValueId]) {
        let (varied, useful, toward) = (&self.varied, &mut self.useful, &mut self.toward);
        let custom = &self.custom;
        let mut pending: Vec<ValueId> = outputs.to_vec();
        pending.extend(self.memory.outputs(ctx, body));
        pending.iter().for_each(|v| useful[v.index()] = true);
        let (mut given, mut strange_given) = (Given::default(), false);
        // An operation with unknown control flow is visited once.
        let mut gone_through: FxHashSet<OpId> = FxHashSet::default();
        while let Some(value) = pending.pop() {
            let mut reach = |at: Use| {
                let source = body.operand(at.op, at.index);
                if !std::mem::replace(&mut useful[source.index()], true) {
                    toward.next[source.index()] = value;
                    pending.push(source);
                }
            };
            self.memory
                .stored_before(ctx, body, value, &mut given)
                .into_iter()
                .for_each(&mut reach);
            if let ValueDef::Result(op, _) = body.value_def(value)
                && body.op_regions(op).is_empty()
                && let Some(lane) = stacks.lane(op)
            {
                let strangers = stacks.strangers_before(op);
                let strangers = strangers.filter(|_| !std::mem::replace(&mut strange_given, true));
                for stranger in strangers.into_iter().flatten() {
                    let operands = 0..body.num_operands(stranger);
                    operands.for_each(|index| reach(Use { op: stranger, index }));
                }
                lane.pushes.iter().for_each(|&op| reach(Use { op, index: 1 }));
                // The handle matters only if something unknown made it of an input.
                if varied[body.operand(op, 0).index()] {
                    reach(Use { op, index: 0 });
                }
            } else if let Some(sources) = body.flow_sources(ctx, value) {
                sources.into_iter().for_each(&mut reach);
            } else if let ValueDef::Result(op, _) = body.value_def(value) {
                (0..body.num_operands(op))
                    .map(|index| Use { op, index })
                    .filter(|&at| carries_with(custom, ctx, body, at, value))
                    .for_each(&mut reach);
            }
            let parent = match body.value_def(value) {
                ValueDef::Result(op, _) => Some(op),
                ValueDef::Arg(block, _) => body.block_parent(block),
                ValueDef::None => None,
            };
            if parent.is_some_and(|op| self.opaque.inside.contains_key(&op) && gone_through.insert(op)) {
                self.opaque.sources(body, value).into_iter().for_each(reach);
            }
        }
    }

    /// The activity after the locals were recorded; `None` if recording may change more than `changes`, as in a body that had stacks before.
    pub(crate) fn after_recording(mut self, ctx: &Context, body: &Body, changes: &Changes) -> Option<Activity> {
        let is_plain = self.custom.is_empty() && self.opaque.inside.is_empty();
        if !is_plain || !self.stacks.is_empty() || !self.memory.is_empty() {
            return None;
        }
        let renamed = &changes.renamed;
        for flags in [&mut self.varied, &mut self.useful] {
            flags.resize(body.num_value_slots(), false);
            renamed
                .iter()
                .for_each(|(old, new)| flags[new.index()] = flags[old.index()]);
        }
        self.origin.rename(body, renamed);
        self.toward.rename(body, renamed);
        // An entry region forwards the operands to the arguments of the next region.
        for &op in &changes.entered {
            let entry = body.op_regions(op).first();
            let end = entry.and_then(|&region| body.region_terminator(region));
            for op in std::iter::once(op).chain(end) {
                for index in 0..body.num_operands(op) {
                    let from = body.operand(op, index);
                    for to in body.flow_targets(ctx, Use { op, index }).into_iter().flatten() {
                        self.varied[to.index()] |= self.varied[from.index()];
                        self.useful[from.index()] |= self.useful[to.index()];
                    }
                }
            }
        }
        Some(self)
    }

    /// Whether the same values are varied, and the same ones useful.
    pub(crate) fn agrees(&self, other: &Activity, body: &Body) -> bool {
        let values = (0..body.num_value_slots()).map(ValueId::new);
        let mut alive = values.filter(|&v| body.value_def(v) != ValueDef::None);
        alive.all(|v| self.is_varied(v) == other.is_varied(v) && self.is_useful(v) == other.is_useful(v))
    }

    pub(crate) fn is_varied(&self, value: ValueId) -> bool {
        self.varied.get(value.index()).copied().unwrap_or(false)
    }

    pub(crate) fn is_useful(&self, value: ValueId) -> bool {
        self.useful.get(value.index()).copied().unwrap_or(false)
    }

    pub(crate) fn is_active(&self, value: ValueId) -> bool {
        self.is_varied(value) && self.is_useful(value)
    }

    /// Whether the derivative passes from an operand of an ordinary operation to one of its results.
    pub(crate) fn passes(&self, ctx: &Context, body: &Body, op: OpId) -> bool {
        (0..body.num_operands(op)).any(|index| self.passes_from(ctx, body, Use { op, index }))
    }

    /// Whether it passes from this operand.
    pub(crate) fn passes_from(&self, ctx: &Context, body: &Body, at: Use) -> bool {
        self.is_active(body.operand(at.op, at.index))
            && body
                .results(at.op)
                .any(|r| self.is_useful(r) && self.carries(ctx, body, at, r))
    }

    /// Whether a derivative passes from an operand of an ordinary operation to one of its results.
    pub(crate) fn carries(&self, ctx: &Context, body: &Body, at: Use, result: ValueId) -> bool {
        carries_with(&self.custom, ctx, body, at, result)
    }

    /// Whether the derivative would pass through the regions of an operation with unknown control flow.
    pub(crate) fn passes_opaque(&self, body: &Body, op: OpId) -> bool {
        let Some(inside) = self.opaque.inside.get(&op) else {
            return false;
        };
        let varied = |op: OpId| body.operands(op).any(|v| self.is_varied(v));
        bound(body, op).into_iter().any(|v| self.is_useful(v))
            && std::iter::once(op).chain(inside.iter().copied()).any(varied)
    }

    /// A value that depends on an input and is used in the regions of an operation with unknown control flow.
    pub(crate) fn varied_inside(&self, body: &Body, op: OpId) -> Option<ValueId> {
        let inside = self.opaque.inside.get(&op)?;
        let used = inside.iter().flat_map(|&op| body.operands(op));
        used.into_iter().find(|&v| self.is_varied(v))
    }

    /// Whether the derivative passes through the operation: some result, or region argument, is active, or what is
    /// pushed or popped inside.
    pub(crate) fn passes_through(&self, body: &Body, op: OpId) -> bool {
        self.stacks.pass_through(op)
            || self.memory.pass_through(op)
            || body.results(op).any(|r| self.is_active(r))
            || body
                .op_regions(op)
                .iter()
                .filter_map(|&r| body.entry_block(r))
                .any(|b| body.block_args(b).iter().any(|&a| self.is_active(a)))
    }

    /// The path on which `value` depends on an input, from the input to the value.
    pub(crate) fn path_to(&self, value: ValueId) -> Path {
        let path = self.origin.from(value);
        let reversed = |values: Vec<ValueId>| values.into_iter().rev().collect();
        Path {
            start: reversed(path.end),
            left_out: path.left_out,
            end: reversed(path.start),
        }
    }

    /// The path on which an output depends on `value`, from the value to the output.
    pub(crate) fn path_from(&self, value: ValueId) -> Path {
        self.toward.from(value)
    }
}

/// A path, of a long one its ends.
pub(crate) struct Path {
    pub(crate) start: Vec<ValueId>,
    /// The number of omitted values between the ends.
    pub(crate) left_out: usize,
    pub(crate) end: Vec<ValueId>,
}

/// How many values a path has at most that is given as a whole, and each end of a longer one.
const WHOLE: u32 = 20;
const END: u32 = 8;

/// Paths from values to where they end. There may be an error, and with it a path, for each operation of a long chain.
struct Paths {
    /// The successor of each value: at an end, the value itself.
    next: Vec<ValueId>,
    /// The distance to the end, and where the last `END` values begin, for each value of the paths that were asked for.
    known: Mutex<FxHashMap<ValueId, (u32, ValueId)>>,
}

impl Paths {
    fn new(next: Vec<ValueId>) -> Self {
        Paths {
            next,
            known: Mutex::default(),
        }
    }

    /// Replaces values on the paths, and gives their successors to those that replace them.
    fn rename(&mut self, body: &Body, renamed: &DenseMap) {
        for to in &mut self.next {
            *to = renamed.get_or_self(*to);
        }
        self.next
            .extend((self.next.len()..body.num_value_slots()).map(ValueId::new));
        for (old, new) in renamed.iter() {
            self.next[new.index()] = self.next[old.index()];
        }
    }

    fn after(&self, value: ValueId) -> Option<ValueId> {
        self.next.get(value.index()).copied().filter(|&next| next != value)
    }

    /// The next values, this one included.
    fn some(&self, value: ValueId, count: u32) -> Vec<ValueId> {
        std::iter::successors(Some(value), |&at| self.after(at))
            .take(count as usize)
            .collect()
    }

    fn from(&self, value: ValueId) -> Path {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pending = Vec::new();
        let mut at = value;
        let (mut distance, mut near) = loop {
            match (known.get(&at), self.after(at)) {
                (Some(&known), _) => break known,
                (None, None) => break (0, at),
                (None, Some(next)) => {
                    pending.push(at);
                    at = next;
                }
            }
        };
        known.insert(at, (distance, near));
        for at in pending.into_iter().rev() {
            distance += 1;
            near = if distance < END { at } else { near };
            known.insert(at, (distance, near));
        }
        match distance < WHOLE {
            true => Path {
                start: self.some(value, WHOLE),
                left_out: 0,
                end: Vec::new(),
            },
            false => Path {
                start: self.some(value, END),
                left_out: (distance + 1 - 2 * END) as usize,
                end: self.some(near, END),
            },
        }
    }
}
