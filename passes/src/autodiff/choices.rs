//! Buffers that loops carry and branches yield, in differentiated code: integers select them.
//!
//! The buffer of a load or a store must be certain ([`memory`](super::memory)). If control selects it, as in a loop
//! that swaps two buffers, the number of the buffer is carried instead, and `arith.select` chooses the buffer by the
//! number at each use. The adjoint treats the numbers like other values, and chooses the shadows by them.
//!
//! # Conditions
//! The possible buffers must be visible at the use: buffers that a loop allocates in its body and carries are unchanged
//! here, and refused later.

use pir_dialects::mlir::{arith, index_constant};
use pir_ir::{Body, Context, DominanceInfo, OpId, Rewriter, Type, Use, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::memory::is_buffer;

/// The predicate of `arith.cmpi eq`.
const EQUAL: i64 = 0;

/// Carries numbers in the place of buffers of floats.
pub(super) fn number(ctx: &Context, body: &mut Body) {
    let meets = meets(ctx, body);
    if meets.is_empty() {
        return;
    }
    let dominance = DominanceInfo::new(body);
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut groups: Vec<Group> = Vec::new();
    for value in meets {
        if !seen.contains(&value) {
            groups.push(Group::of(ctx, body, value, &mut seen));
        }
    }
    groups.retain(|group| group.is_known(body, &dominance));
    for group in groups {
        group.rewrite(&mut Rewriter::new(ctx, body));
    }
}

/// The buffers that control binds, as an argument of a region or a result.
fn meets(ctx: &Context, body: &Body) -> Vec<ValueId> {
    let mut found = Vec::new();
    for op in body.walk_all() {
        if body.region_flow(ctx, op).is_none() {
            continue;
        }
        let blocks = body
            .op_regions(op)
            .iter()
            .filter_map(|&region| body.entry_block(region));
        let args = blocks.flat_map(|block| body.block_args(block).iter().copied());
        let bound = args.chain(body.results(op));
        found.extend(bound.filter(|&v| is_buffer(ctx, body.value_type(v)) && body.flow_sources(ctx, v).is_some()));
    }
    found
}

/// The `arith.select` that gives a value.
fn select(ctx: &Context, body: &Body, value: ValueId) -> Option<OpId> {
    let op = body.defining_op(value)?;
    (ctx.op_str(body.op_name(op)) == arith::Select::NAME).then_some(op)
}

/// The operands that are the buffers that a value may be, if there are several ways that it comes.
fn sources(ctx: &Context, body: &Body, value: ValueId) -> Option<Vec<Use>> {
    if let Some(op) = select(ctx, body, value) {
        return Some(vec![Use { op, index: 1 }, Use { op, index: 2 }]);
    }
    body.flow_sources(ctx, value).map(|sources| sources.to_vec())
}

/// Values that may be the same buffers.
struct Group {
    /// The values that control flow selects, with the operands that they come from.
    members: Vec<(ValueId, Vec<Use>)>,
    /// Their possible values.
    roots: Vec<ValueId>,
}

impl Group {
    /// The group of a value that control binds.
    fn of(ctx: &Context, body: &Body, value: ValueId, seen: &mut FxHashSet<ValueId>) -> Group {
        let mut group = Group {
            members: Vec::new(),
            roots: Vec::new(),
        };
        let mut pending = vec![value];
        seen.insert(value);
        while let Some(value) = pending.pop() {
            let Some(sources) = sources(ctx, body, value) else {
                if !group.roots.contains(&value) {
                    group.roots.push(value);
                }
                continue;
            };
            let bound = body.uses(value).filter_map(|at| body.flow_targets(ctx, at)).flatten();
            let next = sources.iter().map(|&at| body.operand(at.op, at.index)).chain(bound);
            // A value that control flow does not select is a root of each of its groups.
            let next: Vec<ValueId> = next
                .filter(|&v| self::sources(ctx, body, v).is_none() || seen.insert(v))
                .collect();
            group.members.push((value, sources));
            pending.extend(next);
        }
        group
    }

    /// Whether all buffers are visible at all values, and of one type.
    fn is_known(&self, body: &Body, dominance: &DominanceInfo) -> bool {
        let Some(&(first, _)) = self.members.first() else {
            return false;
        };
        let ty = body.value_type(first);
        let alike = |&v: &ValueId| body.value_type(v) == ty;
        let visible = |value: ValueId| {
            let op = body.flow_place(value).map(|(op, ..)| op);
            op.is_some_and(|op| self.roots.iter().all(|&root| dominance.value_dominates(body, root, op)))
        };
        self.roots.iter().all(alike) && self.members.iter().all(|(v, _)| alike(v) && visible(*v))
    }

    fn rewrite(self, r: &mut Rewriter<'_>) {
        // Where the buffers are used, and where their numbers are forwarded.
        let carried: FxHashSet<(OpId, usize)> = self
            .members
            .iter()
            .flat_map(|(_, sources)| sources.iter().map(|at| (at.op, at.index)))
            .collect();
        let used: Vec<Vec<Use>> = self
            .members
            .iter()
            .map(|&(value, _)| {
                let uses = r.body.uses(value);
                uses.filter(|at| !carried.contains(&(at.op, at.index))).collect()
            })
            .collect();
        let ty = r.body.value_type(self.members[0].0);
        let mut numbers: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        // The number of a choice is a choice of numbers; that of what control binds is bound by it.
        for &(value, _) in &self.members {
            match select(r.ctx, r.body, value) {
                Some(op) => {
                    let operands = r.body.operands_vec(op);
                    let span = r.body.op_span(op);
                    r.before(op).set_span(span);
                    let select = r.op(arith::Select::NAME).operands(operands).result(Type::INDEX);
                    let number = select.value();
                    r.name_like(number, value, "_number");
                    numbers.insert(value, number);
                }
                None => drop(numbers.insert(value, value)),
            }
        }
        for (value, sources) in &self.members {
            for &at in sources {
                let user = match numbers[value] {
                    number if number != *value => r.body.defining_op(number).unwrap_or(at.op),
                    _ => at.op,
                };
                let source = r.body.operand(user, at.index);
                let number = match self.roots.iter().position(|&root| root == source) {
                    Some(root) => {
                        let span = r.body.op_span(user);
                        r.before(user).set_span(span);
                        index_constant(r, root as i128)
                    }
                    None => numbers.get(&source).copied().unwrap_or(source),
                };
                r.body.set_operand(user, at.index, number);
            }
        }
        for (&(value, _), uses) in self.members.iter().zip(&used) {
            let select = select(r.ctx, r.body, value);
            if select.is_none() {
                r.body.set_value_type(value, Type::INDEX);
            }
            if !uses.is_empty() {
                match (select, r.body.value_def(value)) {
                    (None, ValueDef::Arg(block, _)) => r.at_start(block),
                    (_, ValueDef::Result(op, _)) => r.after(op),
                    _ => continue,
                };
                let buffer = self.chosen(r, numbers[&value], ty);
                r.name_like(buffer, value, "");
                for &at in uses {
                    r.body.set_operand(at.op, at.index, buffer);
                }
            }
            if select.is_none() {
                r.name_like(value, value, "_number");
            }
        }
        for &(value, _) in self.members.iter().rev() {
            if let Some(op) = select(r.ctx, r.body, value)
                && !r.body.has_uses(value)
            {
                r.erase_op(op);
            }
        }
    }

    /// The buffer of a number.
    fn chosen(&self, r: &mut Rewriter<'_>, number: ValueId, ty: Type) -> ValueId {
        let mut roots = self.roots.iter().copied().enumerate().rev();
        let Some((_, mut buffer)) = roots.next() else {
            return number;
        };
        for (at, root) in roots {
            let at = index_constant(r, at as i128);
            let predicate = r.ctx.int_attr(EQUAL);
            let compared = r.op(arith::Cmpi::NAME).operands([number, at]);
            let is_this = compared.attr("predicate", predicate).result(Type::I1).value();
            buffer = r
                .op(arith::Select::NAME)
                .operands([is_this, root, buffer])
                .result(ty)
                .value();
        }
        buffer
    }
}
