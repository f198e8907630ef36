//! Slots that are always equal though they change.
//!
//! # Algorithm
//! At first all slots of one region (or the results of one operation, or the arguments of one block) that have the same
//! type count as equal, and so do pure operations that compute the same function. Then classes are split until equal
//! members have equal operands: for slots, equal sources. (Hopcroft's refinement of a partition, applied to values as
//! by Alpern, Wegman and Zadeck.) It takes time `O(n log n)`.
//!
//! What is left in one class at the same place is equal in every iteration: two counters that start and step alike,
//! say. Being optimistic, this finds cycles of values that are equal only because each of them is.

use pir_ir::{Body, Context, OpId, TypeData, ValueDef, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{SlotSources, replace_uses};
use crate::analysis::{OpKey, effects_of};

/// Makes the uses of slots that are equal to another one uses of that one.
pub(super) fn merge_equal_slots(ctx: &Context, body: &mut Body, slots: Vec<SlotSources>) -> bool {
    let Some(groups) = Groups::new(ctx, body, slots) else {
        return false;
    };
    let mut changed = false;
    for equal in groups.refine(ctx, body) {
        for &other in &equal[1..] {
            changed |= replace_uses(ctx, body, other, equal[0]);
        }
    }
    changed
}

/// The slots that may be equal.
struct Groups {
    /// Slots of one place and type, with the operands that they come from, in an order that is the same for all.
    groups: Vec<Vec<(ValueId, SmallVec<[ValueId; 4]>)>>,
}

impl Groups {
    /// `None` if there are none.
    fn new(ctx: &Context, body: &Body, slots: Vec<SlotSources>) -> Option<Self> {
        let mut index = FxHashMap::default();
        let mut groups: Vec<Vec<_>> = Vec::new();
        for (value, _, sources) in slots {
            let ty = body.value_type(value);
            // Handles have their place. One that nobody reads may still take the place of one that is read: what a loop
            // forwards twice, once to its body and once out, is forwarded once.
            if matches!(ctx.type_data(ty), TypeData::Dialect(_)) {
                continue;
            }
            let place = match body.value_def(value) {
                ValueDef::Result(op, _) => (op.index(), true),
                ValueDef::Arg(block, _) => (block.index(), false),
                ValueDef::None => continue,
            };
            let at = *index.entry((place, ty, sources.len())).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Vec::new());
            }
            groups[at].push((value, sources));
        }
        let in_use = |g: &Vec<(ValueId, _)>| g.len() > 1 && g.iter().any(|(v, _)| body.has_uses(*v));
        groups.iter().any(in_use).then_some(Self { groups })
    }

    /// The slots of each place that are equal.
    fn refine(&self, ctx: &Context, body: &Body) -> Vec<Vec<ValueId>> {
        let mut partition = Partition::new(body.num_value_slots());
        let mut edges = Vec::new();
        let mut functions: FxHashMap<(OpKey, usize), u32> = FxHashMap::default();
        for group in self.groups.iter().filter(|g| g.len() > 1) {
            let class = partition.new_class();
            for (value, sources) in group {
                partition.put(*value, class);
                edges.extend(sources.iter().enumerate().map(|(at, &s)| (s, at as u32, *value)));
            }
        }
        for op in body.walk_all().filter(|&op| is_function(ctx, body, op)) {
            let operands: SmallVec<[ValueId; 4]> = body.operands(op).collect();
            let count = operands.len();
            for (at, result) in body.results(op).enumerate() {
                // The function and its arity, without the operands.
                let mut key = OpKey::with_operands(ctx, body, op, SmallVec::new());
                key.operands.clear();
                let next = partition.classes.len() as u32;
                let class = *functions.entry((key, count << 8 | at.min(255))).or_insert(next);
                if class == next {
                    partition.new_class();
                }
                partition.put(result, class);
                edges.extend(operands.iter().enumerate().map(|(at, &s)| (s, at as u32, result)));
            }
        }
        partition.finish();
        partition.refine(edges);
        let mut equal = Vec::new();
        for group in self.groups.iter().filter(|g| g.len() > 1) {
            let mut by_class: FxHashMap<u32, usize> = FxHashMap::default();
            for (value, _) in group {
                let at = *by_class.entry(partition.class_of[value.index()]).or_insert(equal.len());
                if at == equal.len() {
                    equal.push(Vec::new());
                }
                equal[at].push(*value);
            }
        }
        equal.retain(|values: &Vec<ValueId>| values.len() > 1);
        equal
    }
}

/// Whether the results depend on nothing but the operands.
fn is_function(ctx: &Context, body: &Body, op: OpId) -> bool {
    let view = body.view(ctx, op);
    view.def().is_some()
        && body.op_regions(op).is_empty()
        && body.successors(op).is_empty()
        && body.isolated(op).is_none()
        && effects_of(view).is_empty()
}

/// A partition of values that can be made finer.
struct Partition {
    /// The values, those of one class next to each other.
    order: Vec<u32>,
    /// The place of each value in `order`.
    place: Vec<u32>,
    class_of: Vec<u32>,
    /// Where each class begins in `order`, and how many values it has.
    classes: Vec<(u32, u32)>,
}

impl Partition {
    fn new(count: usize) -> Self {
        Self {
            order: (0..count as u32).collect(),
            place: vec![0; count],
            class_of: vec![u32::MAX; count],
            classes: Vec::new(),
        }
    }

    fn new_class(&mut self) -> u32 {
        self.classes.push((0, 0));
        self.classes.len() as u32 - 1
    }

    fn put(&mut self, value: ValueId, class: u32) {
        self.class_of[value.index()] = class;
    }

    /// Gives every value without a class one of its own, and lays the classes out.
    fn finish(&mut self) {
        for value in 0..self.class_of.len() {
            if self.class_of[value] == u32::MAX {
                self.class_of[value] = self.new_class();
            }
        }
        for &class in &self.class_of {
            self.classes[class as usize].1 += 1;
        }
        let mut start = 0;
        for class in &mut self.classes {
            class.0 = start;
            start += class.1;
        }
        let mut next: Vec<u32> = self.classes.iter().map(|c| c.0).collect();
        for (value, &class) in self.class_of.iter().enumerate() {
            let at = &mut next[class as usize];
            self.order[*at as usize] = value as u32;
            self.place[value] = *at;
            *at += 1;
        }
    }

    /// Splits classes until members of one class have operands of one class, place by place. An edge goes from an
    /// operand to the value that depends on it, with the place of the operand.
    fn refine(&mut self, mut edges: Vec<(ValueId, u32, ValueId)>) {
        edges.sort_unstable();
        let mut starts: Vec<u32> = Vec::with_capacity(self.order.len() + 1);
        let mut at = 0;
        for value in 0..=self.order.len() {
            while at < edges.len() && edges[at].0.index() < value {
                at += 1;
            }
            starts.push(at as u32);
        }
        let mut pending: Vec<u32> = (0..self.classes.len() as u32).collect();
        let mut is_pending = vec![true; self.classes.len()];
        // How many members of each class are marked; they stand at its front.
        let mut marked: Vec<u32> = vec![0; self.classes.len()];
        let mut dependents: Vec<(u32, u32)> = Vec::new();
        let mut touched: Vec<u32> = Vec::new();
        while let Some(splitter) = pending.pop() {
            is_pending[splitter as usize] = false;
            let (start, len) = self.classes[splitter as usize];
            dependents.clear();
            for &value in &self.order[start as usize..(start + len) as usize] {
                let range = starts[value as usize] as usize..starts[value as usize + 1] as usize;
                dependents.extend(edges[range].iter().map(|&(_, at, to)| (at, to.index() as u32)));
            }
            dependents.sort_unstable();
            for same_place in dependents.chunk_by(|a, b| a.0 == b.0) {
                touched.clear();
                for &(_, value) in same_place {
                    let class = self.class_of[value as usize];
                    let (start, len) = self.classes[class as usize];
                    let front = start + marked[class as usize];
                    if len > 1 && self.place[value as usize] >= front {
                        if marked[class as usize] == 0 {
                            touched.push(class);
                        }
                        self.swap(self.place[value as usize], front);
                        marked[class as usize] += 1;
                    }
                }
                for &class in &touched {
                    let count = std::mem::take(&mut marked[class as usize]);
                    let (start, len) = self.classes[class as usize];
                    if count == len {
                        continue;
                    }
                    // The smaller part becomes a new class; if the old one is still to be used, both are.
                    let (first, size) = match count * 2 <= len {
                        true => (start, count),
                        false => (start + count, len - count),
                    };
                    self.classes[class as usize] = match first == start {
                        true => (start + count, len - count),
                        false => (start, count),
                    };
                    let new = self.classes.len() as u32;
                    self.classes.push((first, size));
                    for at in first..first + size {
                        self.class_of[self.order[at as usize] as usize] = new;
                    }
                    marked.push(0);
                    is_pending.push(true);
                    pending.push(new);
                }
            }
        }
    }

    fn swap(&mut self, a: u32, b: u32) {
        let (x, y) = (self.order[a as usize], self.order[b as usize]);
        self.order.swap(a as usize, b as usize);
        self.place[x as usize] = b;
        self.place[y as usize] = a;
    }
}
