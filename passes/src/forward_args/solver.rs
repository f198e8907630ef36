//! The values of slots: one value or constant, or the slot itself.

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;

use pir_ir::{AttrDict, Body, Context, DominanceInfo, Lists, OpId, OpName, Rewriter, Traits, Type, ValueId, ValueMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{PhiGraph, Replacer};

/// The known value of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stands {
    /// Anything, as far as is known.
    Anything,
    /// A value.
    For(ValueId),
    /// A constant of this class.
    Constant(u32),
    /// Itself.
    Itself,
}

/// Constants by what they compute.
#[derive(Default)]
struct Constants {
    /// By name, attributes, and type: with the attributes in any order that there was, and in that of their names.
    classes: FxHashMap<(OpName, AttrDict, Type), u32>,
    /// A few instances of each class.
    instances: Vec<SmallVec<[ValueId; 4]>>,
}

impl Constants {
    fn class(&mut self, ctx: &Context, body: &Body, value: ValueId) -> Option<u32> {
        let op = body.defining_op(value)?;
        let view = body.view(ctx, op);
        if !view.has(Traits::CONSTANT) || body.num_operands(op) != 0 || body.num_results(op) != 1 {
            return None;
        }
        let (name, attrs, ty) = (body.op_name(op), body.attrs(op), body.value_type(value));
        // Attributes are mostly in the order in which they were before; to bring them in that of their names takes time.
        let class = match self.classes.get(&(name, attrs, ty)) {
            Some(&class) => class,
            None => {
                let sorted = (name, ctx.dict_sorted(attrs), ty);
                let class = *self.classes.entry(sorted).or_insert(self.instances.len() as u32);
                self.classes.insert((name, attrs, ty), class);
                class
            }
        };
        if class as usize == self.instances.len() {
            self.instances.push(SmallVec::new());
        }
        let instances = &mut self.instances[class as usize];
        if instances.len() < 8 && !instances.contains(&value) {
            instances.push(value);
        }
        Some(class)
    }
}

/// The state of a slot.
#[derive(Clone, Copy)]
struct State {
    stands: Stands,
    /// How often that changed; after too many changes a slot is its own value.
    changes: u8,
    /// Whether it was looked at since what it comes from changed.
    is_done: bool,
}

struct Solver<'a> {
    ctx: &'a Context,
    body: &'a Body,
    dominance: Visible,
    slots: &'a PhiGraph,
    states: Vec<State>,
    /// The index of each value's slot, or `u32::MAX`.
    slot_of: Vec<u32>,
    constants: Constants,
}

/// Visibility of values, with dominance computed on demand: many programs have no slot with a known value.
#[derive(Default)]
struct Visible {
    dominance: OnceCell<DominanceInfo>,
    /// The last question and its answer: many slots of a loop may begin with the same value.
    last: Cell<Option<(ValueId, OpId, bool)>>,
}

impl Visible {
    fn at(&self, body: &Body, value: ValueId, op: OpId) -> bool {
        if let Some((of, at, is_visible)) = self.last.get()
            && (of, at) == (value, op)
        {
            return is_visible;
        }
        // A value defined in the regions of an operation is not visible at the operation.
        let inside = body.value_block(value).and_then(|b| body.block_parent(b)) == Some(op);
        let dominance = || self.dominance.get_or_init(|| DominanceInfo::new(body));
        let is_visible = !inside && dominance().value_dominates(body, value, op);
        self.last.set(Some((value, op, is_visible)));
        is_visible
    }
}

impl<'a> Solver<'a> {
    fn new(ctx: &'a Context, body: &'a Body, slots: &'a PhiGraph) -> Self {
        let mut slot_of = vec![u32::MAX; body.num_value_slots()];
        for (index, slot) in slots.slots.iter().enumerate() {
            slot_of[slot.value.index()] = index as u32;
        }
        Self {
            ctx,
            body,
            dominance: Visible::default(),
            slots,
            states: vec![
                State {
                    stands: Stands::Anything,
                    changes: 0,
                    is_done: false,
                };
                slots.slots.len()
            ],
            slot_of,
            constants: Constants::default(),
        }
    }

    fn slot(&self, value: ValueId) -> Option<usize> {
        Some(self.slot_of[value.index()] as usize).filter(|&i| i != u32::MAX as usize)
    }

    /// The slots that each slot is a source of.
    fn feeds(&self) -> Lists<u32> {
        let mut counts = vec![0; self.slots.slots.len()];
        for source in self.slots.sources.iter().filter_map(|&s| self.slot(s)) {
            counts[source] += 1;
        }
        let mut feeds = Lists::with_counts(counts, 0);
        for index in 0..self.slots.slots.len() {
            for source in self.slots.sources(index).iter().filter_map(|&s| self.slot(s)) {
                feeds.push(source, index as u32);
            }
        }
        feeds
    }

    fn stands_for(&mut self, value: ValueId) -> Stands {
        match self.slot(value) {
            Some(slot) => match self.states[slot].stands {
                Stands::Itself => Stands::For(value),
                other => other,
            },
            None => match self.constants.class(self.ctx, self.body, value) {
                Some(class) => Stands::Constant(class),
                None => Stands::For(value),
            },
        }
    }

    /// The value of the slot, derived from those of its sources.
    fn evaluate(&mut self, index: usize) -> Stands {
        let slots = self.slots;
        let mut all = Stands::Anything;
        for &source in slots.sources(index) {
            match self.stands_for(source) {
                Stands::Anything => {}
                one if all == Stands::Anything || all == one => all = one,
                _ => return Stands::Itself,
            }
        }
        let slot = &slots.slots[index];
        let ty = self.body.value_type(slot.value);
        let fits = match all {
            Stands::For(value) => self.body.value_type(value) == ty && self.dominance.at(self.body, value, slot.anchor),
            Stands::Constant(class) => self.constants.instances[class as usize]
                .iter()
                .any(|&v| self.body.value_type(v) == ty),
            Stands::Anything | Stands::Itself => true,
        };
        if fits { all } else { Stands::Itself }
    }

    /// Updates a slot. Returns whether its value has changed.
    fn update(&mut self, index: usize) -> bool {
        let old = self.states[index].stands;
        if old == Stands::Itself {
            return false;
        }
        let mut new = self.evaluate(index);
        if new == old {
            return false;
        }
        let state = &mut self.states[index];
        state.changes += 1;
        if state.changes > 4 {
            new = Stands::Itself;
        }
        state.stands = new;
        true
    }

    fn solve(&mut self) {
        let feeds = self.feeds();
        // At first each slot in turn, then those that were found to be wrong since they were looked at.
        let mut pending: VecDeque<u32> = VecDeque::new();
        let mut first = 0..self.slots.slots.len();
        while let Some(index) = first.next().or_else(|| pending.pop_front().map(|i| i as usize)) {
            self.states[index].is_done = true;
            if self.update(index) {
                for &fed in feeds.get(index) {
                    if std::mem::take(&mut self.states[fed as usize].is_done) {
                        pending.push_back(fed);
                    }
                }
            }
        }
    }
}

/// Slots that represent other values.
#[derive(Default)]
pub(super) struct Found {
    /// By value; there may be more values.
    is_found: Vec<bool>,
}

impl Found {
    pub(super) fn is_empty(&self) -> bool {
        self.is_found.is_empty()
    }

    pub(super) fn contains(&self, slot: ValueId) -> bool {
        self.is_found.get(slot.index()).copied().unwrap_or_default()
    }
}

/// Determines the values of slots, and replaces their uses. Gives the slots, unless no use was replaced.
pub(super) fn forward_once(ctx: &Context, body: &mut Body, slots: &PhiGraph) -> Found {
    if slots.slots.is_empty() {
        return Found::default();
    }
    let num_values = body.num_value_slots();
    let mut solver = Solver::new(ctx, body, slots);
    solver.solve();
    let Solver {
        states,
        constants,
        dominance,
        ..
    } = solver;
    // The replacement of each slot: a value, or a visible constant. Unused slots need none.
    let mut replacements: Vec<(ValueId, ValueId)> = Vec::new();
    // The constants to create: for which replacement, of which class, and before which operation.
    let mut to_make: Vec<(usize, u32, OpId)> = Vec::new();
    for (slot, state) in slots.slots.iter().zip(states) {
        let value = match state.stands {
            Stands::Anything | Stands::Itself => continue,
            _ if !body.has_uses(slot.value) => continue,
            Stands::For(value) => value,
            Stands::Constant(class) => {
                let instances = &constants.instances[class as usize];
                let visible = instances.iter().find(|&&v| dominance.at(body, v, slot.anchor));
                visible.copied().unwrap_or_else(|| {
                    to_make.push((replacements.len(), class, slot.anchor));
                    slot.value
                })
            }
        };
        replacements.push((slot.value, value));
    }
    if replacements.is_empty() {
        return Found::default();
    }
    let mut made: FxHashMap<(u32, OpId), ValueId> = FxHashMap::default();
    for (at, class, anchor) in to_make {
        let instance = constants.instances[class as usize][0];
        let Some(op) = body.defining_op(instance) else { continue };
        replacements[at].1 = *made.entry((class, anchor)).or_insert_with(|| {
            let mut rewriter = Rewriter::new(ctx, body);
            let copy = rewriter.before(anchor).clone_op(op, &mut ValueMap::new());
            rewriter.body.result(copy, 0)
        });
    }
    let mut changed = false;
    let mut replacer = Replacer::default();
    let mut is_found = vec![false; num_values];
    for (slot, value) in replacements.into_iter().filter(|(slot, value)| slot != value) {
        changed |= replacer.replace(ctx, body, slot, value);
        is_found[slot.index()] = true;
    }
    match changed {
        true => Found { is_found },
        false => Found::default(),
    }
}
