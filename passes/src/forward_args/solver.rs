//! What slots stand for: one value or constant, or themselves.

use std::cell::OnceCell;
use std::collections::VecDeque;

use pir_ir::{Body, Context, DominanceInfo, OpId, Rewriter, Traits, ValueDef, ValueId, ValueMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{SlotSources, replace_uses};
use crate::analysis::OpKey;

/// What a value stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stands {
    /// Anything, as far as is known.
    Anything,
    /// A value.
    For(ValueId),
    /// A constant of this class.
    Constant(usize),
    /// Itself.
    Itself,
}

struct Slot<'s> {
    value: ValueId,
    /// Where the value that it stands for must be visible.
    anchor: OpId,
    sources: &'s [ValueId],
    /// The slots that this one is a source of.
    feeds: SmallVec<[usize; 4]>,
    stands: Stands,
    /// How often it changed; slots that cannot make up their mind stand for themselves.
    changes: u8,
}

/// Constants by what they compute.
#[derive(Default)]
struct Constants {
    classes: FxHashMap<OpKey, usize>,
    /// A few instances of each class.
    instances: Vec<SmallVec<[ValueId; 4]>>,
}

impl Constants {
    fn class(&mut self, ctx: &Context, body: &Body, value: ValueId) -> Option<usize> {
        let op = body.defining_op(value)?;
        let view = body.view(ctx, op);
        if !view.has(Traits::CONSTANT) || body.num_operands(op) != 0 || body.num_results(op) != 1 {
            return None;
        }
        let key = OpKey::new(ctx, body, op);
        let class = *self.classes.entry(key).or_insert(self.instances.len());
        if class == self.instances.len() {
            self.instances.push(SmallVec::new());
        }
        let instances = &mut self.instances[class];
        if instances.len() < 8 && !instances.contains(&value) {
            instances.push(value);
        }
        Some(class)
    }
}

struct Solver<'a, 's> {
    ctx: &'a Context,
    body: &'a Body,
    dominance: Visible,
    slots: Vec<Slot<'s>>,
    /// The index of each value's slot, or `u32::MAX`.
    slot_of: Vec<u32>,
    constants: Constants,
}

/// Which values are visible where, with dominance computed when it is first needed: many programs have no slot that
/// stands for another value.
#[derive(Default)]
struct Visible(OnceCell<DominanceInfo>);

impl Visible {
    fn at(&self, body: &Body, value: ValueId, op: OpId) -> bool {
        // What the regions of an operation define is not visible where it stands.
        let inside = body.value_block(value).and_then(|b| body.block_parent(b)) == Some(op);
        !inside
            && self
                .0
                .get_or_init(|| DominanceInfo::new(body))
                .value_dominates(body, value, op)
    }
}

impl<'s> Solver<'_, 's> {
    fn slot(&self, value: ValueId) -> Option<usize> {
        Some(self.slot_of[value.index()] as usize).filter(|&i| i != u32::MAX as usize)
    }

    fn add_slot(&mut self, (value, anchor, sources): &'s SlotSources) {
        let (value, anchor) = (*value, *anchor);
        self.slot_of[value.index()] = self.slots.len() as u32;
        self.slots.push(Slot {
            value,
            anchor,
            sources,
            feeds: SmallVec::new(),
            stands: Stands::Anything,
            changes: 0,
        });
    }

    fn stands_for(&mut self, value: ValueId) -> Stands {
        match self.slot(value) {
            Some(slot) => match self.slots[slot].stands {
                Stands::Itself => Stands::For(value),
                other => other,
            },
            None => match self.constants.class(self.ctx, self.body, value) {
                Some(class) => Stands::Constant(class),
                None => Stands::For(value),
            },
        }
    }

    /// What the slot stands for, going by what its sources do.
    fn evaluate(&mut self, index: usize) -> Stands {
        let mut all = Stands::Anything;
        for at in 0..self.slots[index].sources.len() {
            let source = self.slots[index].sources[at];
            match self.stands_for(source) {
                Stands::Anything => {}
                one if all == Stands::Anything || all == one => all = one,
                _ => return Stands::Itself,
            }
        }
        let slot = &self.slots[index];
        let ty = self.body.value_type(slot.value);
        let fits = match all {
            Stands::For(value) => self.body.value_type(value) == ty && self.dominance.at(self.body, value, slot.anchor),
            Stands::Constant(class) => self.constants.instances[class]
                .iter()
                .any(|&v| self.body.value_type(v) == ty),
            Stands::Anything | Stands::Itself => true,
        };
        if fits { all } else { Stands::Itself }
    }

    fn solve(&mut self) {
        for index in 0..self.slots.len() {
            for at in 0..self.slots[index].sources.len() {
                if let Some(source) = self.slot(self.slots[index].sources[at]) {
                    self.slots[source].feeds.push(index);
                }
            }
        }
        let mut pending: VecDeque<usize> = (0..self.slots.len()).collect();
        let mut is_pending = vec![true; self.slots.len()];
        while let Some(index) = pending.pop_front() {
            is_pending[index] = false;
            let old = self.slots[index].stands;
            if old == Stands::Itself {
                continue;
            }
            let mut new = self.evaluate(index);
            if new == old {
                continue;
            }
            self.slots[index].changes += 1;
            if self.slots[index].changes > 4 {
                new = Stands::Itself;
            }
            self.slots[index].stands = new;
            for &fed in &self.slots[index].feeds {
                if !std::mem::replace(&mut is_pending[fed], true) {
                    pending.push_back(fed);
                }
            }
        }
    }
}

/// Finds what slots stand for, and replaces their uses. Gives whether there were any.
pub(super) fn forward_once(ctx: &Context, body: &mut Body, all: &[SlotSources]) -> bool {
    if all.is_empty() {
        return false;
    }
    let mut solver = Solver {
        ctx,
        body,
        dominance: Visible::default(),
        slots: Vec::with_capacity(all.len()),
        slot_of: vec![u32::MAX; body.num_value_slots()],
        constants: Constants::default(),
    };
    all.iter().for_each(|slot| solver.add_slot(slot));
    solver.solve();
    // What to use in place of each slot: a value, or a constant to be found or made before the anchor.
    let Solver {
        slots,
        constants,
        dominance,
        ..
    } = solver;
    let mut replacements = Vec::new();
    let mut made: FxHashMap<(usize, OpId), ValueId> = FxHashMap::default();
    let visible: Vec<Option<ValueId>> = slots
        .iter()
        .map(|slot| match slot.stands {
            Stands::For(value) => Some(value),
            Stands::Constant(class) => constants.instances[class]
                .iter()
                .copied()
                .find(|&v| dominance.at(body, v, slot.anchor)),
            Stands::Anything | Stands::Itself => None,
        })
        .collect();
    for (slot, visible) in slots.iter().zip(visible) {
        // A constant that nobody reads need not be made.
        if !body.has_uses(slot.value) {
            continue;
        }
        let value = match (slot.stands, visible) {
            (_, Some(value)) => value,
            (Stands::Constant(class), None) => *made.entry((class, slot.anchor)).or_insert_with(|| {
                let instance = constants.instances[class][0];
                let mut rewriter = Rewriter::new(ctx, body);
                match rewriter.body.value_def(instance) {
                    ValueDef::Result(op, _) => {
                        let copy = rewriter.before(slot.anchor).clone_op(op, &mut ValueMap::new());
                        rewriter.body.result(copy, 0)
                    }
                    _ => slot.value,
                }
            }),
            _ => continue,
        };
        if value != slot.value {
            replacements.push((slot.value, value));
        }
    }
    let mut changed = false;
    for &(slot, value) in &replacements {
        changed |= replace_uses(ctx, body, slot, value);
    }
    changed
}
