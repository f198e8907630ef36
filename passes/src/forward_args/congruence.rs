//! Slots that are always equal though they change.
//!
//! # Algorithm
//! At first all slots of one region (or the results of one operation, or the arguments of one block) that have the same
//! type count as equal, and so do pure operations that compute the same function. Then classes are split until equal
//! members have equal operands: for slots, equal sources. (Hopcroft's refinement of a partition, applied to values as
//! by Alpern, Wegman and Zadeck.) It takes time `O(n log n)`.
//!
//! Only what something else could be equal to takes part, and what it comes from. Slots are told apart by what their sources look like
//! before; mostly this leaves nothing to split, which is seen by a comparison of each slot with the first one of its class.
//!
//! Slots that remain in one class at the same place are equal in every iteration: for example two counters with equal
//! start and step. Being optimistic, this finds cycles of values that are equal only because each of them is.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use pir_ir::{AttrDict, Body, Context, Lists, OpId, OpName, Type, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::{PhiGraph, Replacer};
use crate::analysis::{OpKey, ShortHash, effects_of};

/// Stands for no group, class, node or dependent.
const NONE: u32 = u32::MAX;

/// Makes the uses of slots that are equal to another one uses of that one.
pub(super) fn merge_equal_slots(ctx: &Context, body: &mut Body, slots: &PhiGraph) -> bool {
    let (group_of, num_groups) = groups(ctx, body, slots);
    if num_groups == 0 {
        return false;
    }
    let stable = |class_of: &[u32]| {
        let are_stable = Classes::new(ctx, body, slots, class_of).are_stable(slots);
        are_stable.then(|| {
            let pairs = pairs(body, slots, &group_of, |index| class_of[index]);
            debug_assert_eq!(pairs, equal_slots(ctx, body, slots, &group_of, class_of));
            pairs
        })
    };
    // Nothing has to be split where all slots of a place are equal, and it is soon seen where they are not.
    let pairs = match stable(&group_of) {
        Some(pairs) => pairs,
        None => {
            let Some(class_of) = split_by_sources(body, slots, &group_of, num_groups) else {
                return false;
            };
            stable(&class_of).unwrap_or_else(|| equal_slots(ctx, body, slots, &group_of, &class_of))
        }
    };
    let mut changed = false;
    let mut replacer = Replacer::default();
    for (first, other) in pairs {
        changed |= replacer.replace(ctx, body, other, first);
    }
    changed
}

/// The group of each slot, and how many groups there are: slots of one place, type and number of sources may be equal. [`NONE`] for one
/// that is alone, or in a group of which nothing is read.
fn groups(ctx: &Context, body: &Body, slots: &PhiGraph) -> (Vec<u32>, u32) {
    struct Group {
        key: (Type, usize),
        size: u32,
        is_used: bool,
    }
    let mut groups: Vec<Group> = Vec::with_capacity(slots.slots.len().min(16));
    let mut group_of = vec![NONE; slots.slots.len()];
    // The groups of a place start at this index: there are few, unless there are many types.
    let mut of_place = 0;
    let mut by_key: FxHashMap<(Type, usize), u32> = FxHashMap::default();
    let mut last_place = None;
    for (index, slot) in slots.slots.iter().enumerate() {
        let ty = body.value_type(slot.value);
        let place = match body.value_def(slot.value) {
            ValueDef::Result(op, _) => (op.index(), true),
            ValueDef::Arg(block, _) => (block.index(), false),
            ValueDef::None => continue,
        };
        // Handles are bound to their place. An unused one may still replace a used one: a value that a loop forwards
        // twice, once to its body and once out, is forwarded once.
        if ctx.is_of_dialect(ty) {
            continue;
        }
        if last_place != Some(place) {
            last_place = Some(place);
            of_place = groups.len();
            by_key.clear();
        }
        let key = (ty, slots.sources(index).len());
        let next = groups.len() as u32;
        let group = match groups[of_place..].iter().take(4).position(|g| g.key == key) {
            Some(at) => (of_place + at) as u32,
            None if groups.len() - of_place < 4 => next,
            None => *by_key.entry(key).or_insert(next),
        };
        if group == next {
            groups.push(Group {
                key,
                size: 0,
                is_used: false,
            });
        }
        let entry = &mut groups[group as usize];
        entry.size += 1;
        entry.is_used |= body.has_uses(slot.value);
        group_of[index] = group;
    }
    let (numbers, next) = renumber(0, groups.iter().map(|group| group.size > 1 && group.is_used));
    renumber_all(&mut group_of, &numbers);
    (group_of, next)
}

/// How far sources are looked at: most that differ, differ soon.
const DEPTH: usize = 2;
/// How many operands an operation has at most that are looked at.
const MAX_OPERANDS: usize = 4;

/// Hashes what is the same for values that may be equal: the class of slots, and what other values are computed by.
fn look(body: &Body, class_of_value: &[u32], value: ValueId, depth: usize, hasher: &mut FxHasher) {
    match (class_of_value[value.index()], body.defining_op(value)) {
        (NONE, Some(op)) if body.op_regions(op).is_empty() => {
            (0, body.op_name(op).index(), body.num_operands(op)).hash(hasher);
            if depth > 0 && body.num_operands(op) <= MAX_OPERANDS {
                let operands = body.operands(op);
                operands.for_each(|operand| look(body, class_of_value, operand, depth - 1, hasher));
            }
        }
        (NONE, _) => (1, value.index()).hash(hasher),
        (class, _) => (2, class as usize).hash(hasher),
    }
}

/// How often classes are split by what their sources look like: a loop has three places with slots.
const SPLITS: usize = 4;

/// The initial classes of slots: those of one group whose sources are superficially equal, which is cheap to determine.
/// [`NONE`] for a slot that is alone in its class, or in one that is unused. `None` if there are no classes.
fn split_by_sources(body: &Body, slots: &PhiGraph, group_of: &[u32], num_groups: u32) -> Option<Vec<u32>> {
    let matters = |&(size, is_read): &(u32, bool)| size > 1 && is_read;
    let mut class_of = group_of.to_vec();
    let mut class_of_value = vec![NONE; body.num_value_slots()];
    let mut before = num_groups;
    for _ in 0..SPLITS {
        for (slot, &class) in slots.slots.iter().zip(&class_of) {
            class_of_value[slot.value.index()] = class;
        }
        let classes = classes_by_sources(body, slots, group_of, &class_of_value, &mut class_of);
        // Nothing comes from slots that are not read, and one that is alone is like nothing but itself.
        let (numbers, next) = renumber(0, classes.iter().map(matters));
        renumber_all(&mut class_of, &numbers);
        if next == 0 {
            return None;
        }
        // Slots may come from slots that are in different classes now.
        if std::mem::replace(&mut before, next) == next {
            break;
        }
    }
    Some(class_of)
}

/// Enters the classes of slots of one group whose sources look alike, for those in a class. For each class: the number of its slots, and
/// whether one of them is read.
fn classes_by_sources(
    body: &Body,
    slots: &PhiGraph,
    group_of: &[u32],
    class_of_value: &[u32],
    class_of: &mut [u32],
) -> Vec<(u32, bool)> {
    let mut hash_of = vec![ShortHash::default(); group_of.len()];
    let mut classes: Vec<(u32, bool)> = Vec::new();
    // One slot of each class.
    let mut known: HashTable<u32> = HashTable::new();
    for (index, &group) in group_of.iter().enumerate() {
        if class_of[index] == NONE {
            continue;
        }
        let mut hasher = FxHasher::default();
        group.hash(&mut hasher);
        let sources = slots.sources(index).iter();
        sources.for_each(|&source| look(body, class_of_value, source, DEPTH, &mut hasher));
        let hash = ShortHash::from(hasher.finish());
        hash_of[index] = hash;
        // Hash collisions are detected later.
        let same = |&i: &u32| hash_of[i as usize] == hash && group_of[i as usize] == group;
        let class = match known.find(hash.wide(), same) {
            Some(&other) => class_of[other as usize],
            None => {
                known.insert_unique(hash.wide(), index as u32, |&i| hash_of[i as usize].wide());
                classes.push((0, false));
                classes.len() as u32 - 1
            }
        };
        class_of[index] = class;
        let (size, is_read) = &mut classes[class as usize];
        *size += 1;
        *is_read |= body.has_uses(slots.slots[index].value);
    }
    classes
}

/// Numbers from `next` on for those that matter, and [`NONE`] for the others; and the number that comes next.
fn renumber(mut next: u32, matters: impl Iterator<Item = bool>) -> (Vec<u32>, u32) {
    let numbers = matters.map(|matters| {
        next += u32::from(matters);
        if matters { next - 1 } else { NONE }
    });
    (numbers.collect(), next)
}

fn renumber_all(all: &mut [u32], numbers: &[u32]) {
    for number in all.iter_mut().filter(|number| **number != NONE) {
        *number = numbers[*number as usize];
    }
}

/// Classes of slots.
struct Classes<'a> {
    ctx: &'a Context,
    body: &'a Body,
    of_slot: &'a [u32],
    /// [`NONE`] for what is no slot in a class.
    of_value: Vec<u32>,
}

impl<'a> Classes<'a> {
    fn new(ctx: &'a Context, body: &'a Body, slots: &PhiGraph, of_slot: &'a [u32]) -> Self {
        let mut of_value = vec![NONE; body.num_value_slots()];
        for (slot, &class) in slots.slots.iter().zip(of_slot) {
            of_value[slot.value.index()] = class;
        }
        Self {
            ctx,
            body,
            of_slot,
            of_value,
        }
    }

    /// Whether slots of one class have sources that are equal if the slots of each class are: then they are. False, too, where it takes more
    /// than [`DEPTH`] levels of operations to see.
    fn are_stable(&self, slots: &PhiGraph) -> bool {
        let mut others = with_the_first(slots, |index| self.of_slot[index]);
        others.all(|(first, other)| {
            let mut sources = std::iter::zip(slots.sources(first), slots.sources(other));
            sources.all(|(&x, &y)| self.are_equal(x, y, DEPTH))
        })
    }

    /// Whether two values are equal if the slots of each class are, by operations of so many levels.
    fn are_equal(&self, x: ValueId, y: ValueId, depth: usize) -> bool {
        let body = self.body;
        if x == y {
            return true;
        }
        let (class, other) = (self.of_value[x.index()], self.of_value[y.index()]);
        if class != NONE || other != NONE {
            return class == other;
        }
        let (Some(op), Some(other)) = (body.defining_op(x), body.defining_op(y)) else {
            return false;
        };
        let is_single = |op| body.num_results(op) == 1 && body.num_operands(op) <= MAX_OPERANDS;
        depth > 0
            && [op, other].into_iter().all(is_single)
            && Function::of(self.ctx, body, op, x) == Function::of(self.ctx, body, other, y)
            && [op, other].into_iter().all(|op| is_function(self.ctx, body, op))
            && std::iter::zip(body.operands(op), body.operands(other)).all(|(x, y)| self.are_equal(x, y, depth - 1))
    }
}

/// Pairs of equal slots: a used one, and the first one that it is equal to.
fn equal_slots(
    ctx: &Context,
    body: &Body,
    slots: &PhiGraph,
    group_of: &[u32],
    first_classes: &[u32],
) -> Vec<(ValueId, ValueId)> {
    let mut partition = Partition::new(body.num_value_slots());
    let grouped = || (0..slots.slots.len()).filter(|&index| first_classes[index] != NONE);
    for index in grouped() {
        partition.put(slots.slots[index].value, first_classes[index]);
    }
    let sources = grouped().flat_map(|index| slots.sources(index)).copied().collect();
    let functions = functions(ctx, body, sources, partition.num_classes());
    for &(_, result, class) in &functions {
        partition.put(result, class);
    }
    // Twice through what depends on something: edges are counted before they are laid out.
    for is_counting in [true, false] {
        for index in grouped() {
            for (at, &source) in slots.sources(index).iter().enumerate() {
                partition.edge(is_counting, source, at, slots.slots[index].value);
            }
        }
        for &(op, result, _) in &functions {
            for (at, operand) in body.operands(op).enumerate() {
                partition.edge(is_counting, operand, at, result);
            }
        }
        if is_counting {
            partition.lay_out();
        }
    }
    drop(functions);
    partition.refine();
    pairs(body, slots, group_of, |index| match first_classes[index] {
        NONE => NONE,
        _ => partition.class_of(slots.slots[index].value),
    })
}

/// The pairs of slots in one class: the first one, and another that is used.
fn pairs(body: &Body, slots: &PhiGraph, group_of: &[u32], class_of: impl Fn(usize) -> u32) -> Vec<(ValueId, ValueId)> {
    let others = with_the_first(slots, class_of);
    let mut pairs: Vec<(usize, usize)> = others
        .filter(|&(_, other)| body.has_uses(slots.slots[other].value))
        .collect();
    // Group by group. Slots of one class stay in their order.
    pairs.sort_by_key(|&(first, other)| (group_of[other], first));
    let values = |(first, other): (usize, usize)| (slots.slots[first].value, slots.slots[other].value);
    pairs.into_iter().map(values).collect()
}

/// The slots that are not the first ones of their classes, each behind the first one. Slots of no class are left out.
fn with_the_first(slots: &PhiGraph, class_of: impl Fn(usize) -> u32) -> impl Iterator<Item = (usize, usize)> {
    let mut first_of: Vec<Option<usize>> = Vec::new();
    (0..slots.slots.len()).filter_map(move |index| {
        let class = Some(class_of(index)).filter(|&class| class != NONE)? as usize;
        if first_of.len() <= class {
            first_of.resize(class + 1, None);
        }
        let first = *first_of[class].get_or_insert(index);
        (first != index).then_some((first, index))
    })
}

/// What an operation of one result computes of its operands.
#[derive(PartialEq, Eq, Hash)]
struct Function {
    name: OpName,
    attrs: AttrDict,
    ty: Type,
    num_operands: usize,
}

impl Function {
    fn of(ctx: &Context, body: &Body, op: OpId, result: ValueId) -> Self {
        Function {
            name: body.op_name(op),
            attrs: ctx.dict_sorted(body.attrs(op)),
            ty: body.value_type(result),
            num_operands: body.num_operands(op),
        }
    }
}

/// The results of operations that compute the same function of their operands as another one, each with its class: they
/// are numbered from `next` on. Only of those that something in `pending` is computed from.
fn functions(ctx: &Context, body: &Body, mut pending: Vec<ValueId>, next: u32) -> Vec<(OpId, ValueId, u32)> {
    // A function is identified by the operation without its operands, their number, and the number of the result.
    let mut of_one_result: FxHashMap<Function, u32> = FxHashMap::default();
    let mut of_several: FxHashMap<(OpKey, usize), u32> = FxHashMap::default();
    let mut sizes: Vec<u32> = Vec::new();
    let mut all = Vec::new();
    let mut seen = vec![false; body.num_op_slots()];
    while let Some(value) = pending.pop() {
        let op = body
            .defining_op(value)
            .filter(|op| !std::mem::replace(&mut seen[op.index()], true));
        let Some(op) = op.filter(|&op| is_function(ctx, body, op)) else {
            continue;
        };
        pending.extend(body.operands(op));
        let count = body.num_operands(op);
        for (at, result) in body.results(op).enumerate() {
            let new = sizes.len() as u32;
            let class = if body.num_results(op) == 1 {
                *of_one_result.entry(Function::of(ctx, body, op, result)).or_insert(new)
            } else {
                let key = OpKey::with_operands(ctx, body, op, SmallVec::new());
                *of_several.entry((key, count << 8 | at.min(255))).or_insert(new)
            };
            if class == new {
                sizes.push(0);
            }
            sizes[class as usize] += 1;
            all.push((op, result, class));
        }
    }
    // One that is alone is equal to nothing.
    let (numbers, _) = renumber(next, sizes.iter().map(|&size| size > 1));
    all.retain_mut(|(.., class)| {
        *class = numbers[*class as usize];
        *class != NONE
    });
    all
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

/// A partition that can be made finer. Its members are nodes: values that may be equal to others, and such as these
/// depend on, numbered in the order in which they were first named.
struct Partition {
    /// The node of each value, or [`NONE`].
    node_of: Vec<u32>,
    class_of: Vec<u32>,
    /// Where each class begins in `order`, and how many nodes it has.
    classes: Vec<(u32, u32)>,
    /// The nodes, those of one class next to each other.
    order: Vec<u32>,
    /// The place of each node in `order`.
    place: Vec<u32>,
    /// How many edges each node has, until they are laid out.
    num_edges: Vec<u32>,
    /// From an operand to a node that depends on it: which operand it is there, and the node.
    edges: Lists<(u32, u32)>,
    /// How many operands of one node there are at most.
    num_places: usize,
}

impl Partition {
    fn new(num_values: usize) -> Self {
        Self {
            node_of: vec![NONE; num_values],
            class_of: Vec::new(),
            classes: Vec::new(),
            order: Vec::new(),
            place: Vec::new(),
            num_edges: Vec::new(),
            edges: Lists::default(),
            num_places: 0,
        }
    }

    fn num_classes(&self) -> u32 {
        self.classes.len() as u32
    }

    fn class_of(&self, value: ValueId) -> u32 {
        self.class_of[self.node_of[value.index()] as usize]
    }

    /// Puts a value, which has no node yet, into a class.
    fn put(&mut self, value: ValueId, class: u32) -> u32 {
        let node = self.class_of.len() as u32;
        self.node_of[value.index()] = node;
        self.class_of.push(class);
        self.num_edges.push(0);
        if self.classes.len() <= class as usize {
            self.classes.resize(class as usize + 1, (0, 0));
        }
        self.classes[class as usize].1 += 1;
        node
    }

    /// An edge from an operand to a value that depends on it, at a place; it is counted at first, and then entered.
    fn edge(&mut self, is_counting: bool, from: ValueId, at: usize, to: ValueId) {
        let node = match self.node_of[from.index()] {
            // A value that equals no other is alone in its class.
            NONE => self.put(from, self.num_classes()),
            node => node,
        };
        if is_counting {
            self.num_places = self.num_places.max(at + 1);
            self.num_edges[node as usize] += 1;
        } else {
            self.edges.push(node as usize, (at as u32, self.node_of[to.index()]));
        }
    }

    /// Finds the places of classes and edges when all have been counted.
    fn lay_out(&mut self) {
        let mut start = 0;
        for (first, size) in &mut self.classes {
            *first = start;
            start += *size;
        }
        self.order = vec![0; self.class_of.len()];
        self.place = vec![0; self.class_of.len()];
        let mut next: Vec<u32> = self.classes.iter().map(|c| c.0).collect();
        for (node, &class) in self.class_of.iter().enumerate() {
            let at = &mut next[class as usize];
            self.order[*at as usize] = node as u32;
            self.place[node] = *at;
            *at += 1;
        }
        self.edges = Lists::with_counts(std::mem::take(&mut self.num_edges), (0, 0));
    }

    /// Splits classes until members of one class have operands of one class, place by place.
    fn refine(&mut self) {
        let mut pending: Vec<u32> = (0..self.num_classes()).collect();
        // The number of marked members of each class; they are at its front.
        let mut marked: Vec<u32> = vec![0; self.classes.len()];
        // The dependents of a class: a list for each place, of a node and the index of the next.
        let mut dependents: Vec<(u32, u32)> = Vec::new();
        let mut first_at: Vec<u32> = vec![NONE; self.num_places];
        let mut places: Vec<u32> = Vec::new();
        let mut touched: Vec<u32> = Vec::new();
        while let Some(splitter) = pending.pop() {
            let (start, len) = self.classes[splitter as usize];
            dependents.clear();
            for &node in &self.order[start as usize..(start + len) as usize] {
                for &(at, to) in self.edges.get(node as usize) {
                    let next = std::mem::replace(&mut first_at[at as usize], dependents.len() as u32);
                    if next == NONE {
                        places.push(at);
                    }
                    dependents.push((to, next));
                }
            }
            for at in places.drain(..) {
                touched.clear();
                let mut next = std::mem::replace(&mut first_at[at as usize], NONE);
                while let Some(&(node, after)) = dependents.get(next as usize) {
                    next = after;
                    let class = self.class_of[node as usize];
                    let (start, len) = self.classes[class as usize];
                    let front = start + marked[class as usize];
                    if len > 1 && self.place[node as usize] >= front {
                        if marked[class as usize] == 0 {
                            touched.push(class);
                        }
                        self.swap(self.place[node as usize], front);
                        marked[class as usize] += 1;
                    }
                }
                for &class in &touched {
                    let count = std::mem::take(&mut marked[class as usize]);
                    let (start, len) = self.classes[class as usize];
                    if count == len {
                        continue;
                    }
                    // The smaller part becomes a new class. If the old one is still to be used, both are.
                    let (first, size) = match count * 2 <= len {
                        true => (start, count),
                        false => (start + count, len - count),
                    };
                    self.classes[class as usize] = match first == start {
                        true => (start + count, len - count),
                        false => (start, count),
                    };
                    let new = self.num_classes();
                    self.classes.push((first, size));
                    for at in first..first + size {
                        self.class_of[self.order[at as usize] as usize] = new;
                    }
                    marked.push(0);
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
