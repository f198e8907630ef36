//! Facts about booleans that follow from control flow: the condition of a branch inside the branch, that of a loop in
//! its body, and its negation after the loop.
//!
//! One walk in program order with a table of known values, which is restored when a region is left. The operation that
//! computes a condition determines what follows from it (`OpDef::implies`): a comparison decides others of the same
//! operands. In the body of a loop, operands represent the operands of the condition if these were forwarded, or are
//! defined outside of the loop.

use pir_ir::{Attr, Body, Context, FlowEdge, FlowPoint, Implied, OpId, OpName, RegionId, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::{Constants, OpKey};

/// How many steps are taken from one condition to others.
const MAX_IMPLIED: usize = 32;

enum Task {
    Region(RegionId),
    Op(OpId),
    /// The facts after an operation.
    Behind(OpId),
    /// Forget the facts learned since this position.
    Leave(usize),
}

/// Where something became known, and constants made there, which are before the operation.
struct Place {
    before: OpId,
    made: SmallVec<[(bool, Type, ValueId); 2]>,
}

enum Fact {
    Value(ValueId, Option<(bool, usize)>),
    Key(OpKey, Option<(bool, usize)>),
}

struct Walk<'a, 'c> {
    constants: &'a Constants<'c>,
    body: &'a mut Body,
    /// Truth values, with the index of the place where they became known.
    values: FxHashMap<ValueId, (bool, usize)>,
    keys: FxHashMap<OpKey, (bool, usize)>,
    /// The names in keys that were ever entered: few, while there are many operations.
    key_names: SmallVec<[OpName; 4]>,
    /// How many operations there are of each name, by its index, counted when something is known of the results of such.
    count_of: Option<Vec<u32>>,
    /// Whether there are at least two truth values, found out when it first matters.
    has_several: Option<bool>,
    places: Vec<Place>,
    /// The entered regions, with the facts before each.
    log: Vec<Fact>,
    changed: bool,
}

/// Replaces truth values by constants where they are known. Gives whether there were any.
pub(super) fn replace_known(constants: &Constants<'_>, body: &mut Body) -> bool {
    let mut walk = Walk {
        constants,
        body,
        values: FxHashMap::default(),
        keys: FxHashMap::default(),
        key_names: SmallVec::new(),
        count_of: None,
        has_several: None,
        places: Vec::new(),
        log: Vec::new(),
        changed: false,
    };
    walk.run();
    walk.changed
}

impl Walk<'_, '_> {
    fn ctx(&self) -> &Context {
        self.constants.ctx()
    }

    fn run(&mut self) {
        let mut tasks = Vec::with_capacity(16);
        tasks.push(Task::Region(self.body.root()));
        while let Some(task) = tasks.pop() {
            match task {
                Task::Region(region) => {
                    tasks.push(Task::Leave(self.log.len()));
                    // Facts that hold after an operation hold only in the rest of its block.
                    if let Some(block) = self.body.single_block(region) {
                        self.enter(region);
                        tasks.extend(self.body.first_op(block).map(Task::Op));
                    } else {
                        for &block in self.body.region_blocks(region).iter().rev() {
                            tasks.push(Task::Leave(self.log.len()));
                            tasks.extend(self.body.first_op(block).map(Task::Op));
                        }
                    }
                }
                Task::Op(first) => {
                    let mut at = Some(first);
                    while let Some(op) = at {
                        at = self.body.next_op(op);
                        self.visit(op);
                        if !self.body.op_regions(op).is_empty() {
                            // The rest of the block comes after what is in it.
                            tasks.extend(at.take().map(Task::Op));
                            tasks.push(Task::Behind(op));
                            tasks.extend(self.body.op_regions(op).iter().rev().map(|&r| Task::Region(r)));
                        }
                    }
                }
                Task::Behind(op) => {
                    if let Some(next) = self.body.next_op(op) {
                        self.learn(op, FlowPoint::Parent, next);
                    }
                }
                Task::Leave(count) => self.leave(count),
            }
        }
    }

    fn leave(&mut self, count: usize) {
        while self.log.len() > count {
            match self.log.pop() {
                Some(Fact::Value(value, Some(old))) => {
                    self.values.insert(value, old);
                }
                Some(Fact::Value(value, None)) => {
                    self.values.remove(&value);
                }
                Some(Fact::Key(key, Some(old))) => {
                    self.keys.insert(key, old);
                }
                Some(Fact::Key(key, None)) => {
                    self.keys.remove(&key);
                }
                None => {}
            }
        }
    }

    fn enter(&mut self, region: RegionId) {
        let first = self.body.single_block(region).and_then(|b| self.body.first_op(b));
        if let (Some(op), Some(index), Some(first)) =
            (self.body.region_parent(region), self.body.region_index(region), first)
        {
            self.learn(op, FlowPoint::Region(index), first);
        }
    }

    /// Enters what is known since control went to a point of an operation, from the operation `before` on.
    fn learn(&mut self, op: OpId, to: FlowPoint, before: OpId) {
        let ctx = self.constants.ctx();
        let Some(flow) = self.body.region_flow(ctx, op) else {
            return;
        };
        let view = self.body.view(ctx, op);
        let edges = flow.edges_to(view, to);
        let mut ways = edges.iter();
        let (Some(edge), None) = (ways.next(), ways.next()) else {
            return;
        };
        let Some((value, truth)) = flow.branch_condition(view, edge.from, to) else {
            return;
        };
        if self.constants.of(self.body, value).is_some() {
            return;
        }
        // Facts implied by this value alone are useful only where it is read again.
        if self.body.has_one_use(value) && is_truth(ctx, self.body, value) && !self.has_several_truths() {
            return;
        }
        let translation = Translation::new(self.body, op, edge);
        let place = self.places.len();
        self.places.push(Place {
            before,
            made: SmallVec::new(),
        });
        let mut pending = vec![(value, truth)];
        let mut steps = 0;
        while let Some((value, truth)) = pending.pop() {
            for visible in translation.images(self.body, value) {
                let old = self.values.insert(visible, (truth, place));
                self.log.push(Fact::Value(visible, old));
            }
            steps += 1;
            let Some(maker) = self.body.defining_op(value).filter(|_| steps <= MAX_IMPLIED) else {
                continue;
            };
            let view = self.body.view(ctx, maker);
            let Some(implies) = view.def().and_then(|d| d.implies) else {
                continue;
            };
            for implied in implies(view, truth) {
                match implied {
                    Implied::Value(value, truth) => pending.push((value, truth)),
                    Implied::Result(name, operands, truth) => {
                        // Not needed if there is no other than the one that computes the condition.
                        let body = &*self.body;
                        let count_of = self.count_of.get_or_insert_with(|| count_names(body));
                        let others = count_of.get(name.index()).copied().unwrap_or(0);
                        if others <= u32::from(name == body.op_name(maker)) {
                            continue;
                        }
                        let images = operands
                            .iter()
                            .map(|&v| translation.images(self.body, v).first().copied())
                            .collect::<Option<SmallVec<_>>>();
                        let Some(operands) = images else { continue };
                        let mut key = OpKey::with_operands(ctx, self.body, maker, operands.clone());
                        key.name = name;
                        // Whether operands may change places is another question for another operation.
                        key.operands = operands;
                        if !self.key_names.contains(&name) {
                            self.key_names.push(name);
                        }
                        let old = self.keys.insert(key.clone(), (truth, place));
                        self.log.push(Fact::Key(key, old));
                    }
                }
            }
        }
    }

    fn has_several_truths(&mut self) -> bool {
        let (ctx, body) = (self.constants.ctx(), &*self.body);
        *self.has_several.get_or_insert_with(|| {
            // Most values are of the same type as the one before.
            let mut last = (Type::I1, true);
            let types = (0..body.num_value_slots()).map(|at| body.value_type(ValueId::new(at)));
            let truths = types.filter(|&ty| {
                if ty != last.0 {
                    last = (ty, ctx.elem_type(ty) == Type::I1);
                }
                last.1
            });
            truths.take(2).count() == 2
        })
    }

    #[inline]
    fn visit(&mut self, op: OpId) {
        if !self.log.is_empty() {
            self.use_known(op);
        }
    }

    fn use_known(&mut self, op: OpId) {
        let operands = self.body.operands_vec(op);
        let mut changed = false;
        for (index, &operand) in operands.iter().enumerate() {
            if let Some(&(truth, place)) = self.values.get(&operand)
                && let Some(constant) = self.constant(truth, self.body.value_type(operand), place)
            {
                self.body.set_operand(op, index, constant);
                changed = true;
            }
        }
        if changed {
            self.changed = true;
            return;
        }
        let asked_for = self.key_names.contains(&self.body.op_name(op)) && !self.keys.is_empty();
        if !asked_for || self.body.num_results(op) != 1 || !self.body.op_has_uses(op) {
            return;
        }
        let mut key = OpKey::with_operands(self.ctx(), self.body, op, SmallVec::new());
        key.operands = operands.iter().copied().collect();
        if let Some(&(truth, place)) = self.keys.get(&key) {
            let result = self.body.result(op, 0);
            if let Some(constant) = self.constant(truth, self.body.value_type(result), place) {
                self.changed = true;
                self.body.replace_all_uses(result, constant);
            }
        }
    }

    /// The constant, made where it became known.
    fn constant(&mut self, truth: bool, ty: Type, place: usize) -> Option<ValueId> {
        let made = self.places[place].made.iter().find(|m| m.0 == truth && m.1 == ty);
        if let Some(&(.., value)) = made {
            return Some(value);
        }
        let attr: Attr = self.ctx().bool_attr(truth);
        let before = self.places[place].before;
        let value = self.constants.materialize(self.body, before, attr, ty)?;
        self.places[place].made.push((truth, ty, value));
        Some(value)
    }
}

fn is_truth(ctx: &Context, body: &Body, value: ValueId) -> bool {
    ctx.elem_type(body.value_type(value)) == Type::I1
}

fn count_names(body: &Body) -> Vec<u32> {
    let mut count_of = Vec::new();
    for op in body.walk_all() {
        let name = body.op_name(op).index();
        if count_of.len() <= name {
            count_of.resize(name + 1, 0);
        }
        count_of[name] += 1;
    }
    count_of
}

/// The names at the end of a path of values at its beginning.
struct Translation {
    /// The operation, unless control comes from outside of it: then values keep their names.
    op: Option<OpId>,
    /// Values taken along, and what becomes of them, in the order of the former.
    images: SmallVec<[(ValueId, ValueId); 8]>,
}

impl Translation {
    fn new(body: &Body, op: OpId, edge: &FlowEdge) -> Self {
        let mut images = SmallVec::new();
        if let Some(source) = body.flow_source_op(op, edge.from) {
            let operands = body
                .operands(source)
                .skip(edge.operands.start)
                .take(edge.operands.len());
            let inputs = body.flow_inputs(op, edge.to);
            let same_type = |(value, input): &(ValueId, ValueId)| body.value_type(*value) == body.value_type(*input);
            images.extend(operands.zip(inputs.into_iter().skip(edge.at)).filter(same_type));
            // The images of one value keep the order of their places.
            images.sort_by_key(|&(value, _)| value);
        }
        Self {
            op: (edge.from != FlowPoint::Parent).then_some(op),
            images,
        }
    }

    /// The values at the end that are the same.
    fn images(&self, body: &Body, value: ValueId) -> SmallVec<[ValueId; 2]> {
        let inside = |op| body.value_block(value).and_then(|b| body.block_parent(b)) == Some(op);
        // The values that the terminator of a region of `op` sees are defined in that region, or outside of `op`.
        let mut images = match self.op {
            Some(op) if inside(op) => SmallVec::new(),
            _ => SmallVec::from_slice(&[value]),
        };
        let start = self.images.partition_point(|&(from, _)| from < value);
        let same = self.images[start..].iter().take_while(|&&(from, _)| from == value);
        images.extend(same.map(|&(_, to)| to));
        images
    }
}
