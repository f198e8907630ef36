//! Values that operations change in place.

use petgraph::unionfind::UnionFind;
use pir_dialects::pd;
use pir_ir::{
    Analysis, Body, Context, Effect, EffectKind, EffectTarget, OpId, OpView, Traits, Type, TypeData, Use, ValueId,
};

use rustc_hash::FxHashSet;

use super::edges::is_fixed_slot;
use super::effects::Effects;

/// The values that some operation changes in place, or may change. (A handle does not change; what it refers to does.)
///
/// Such a value is a variable: an operation that reads it reads memory, the one that defines it makes a new one, and
/// nothing may be replaced by it, since it might be read later then.
///
/// An operation whose effect on a value is declared changes that value alone. One whose effects are not declared may
/// change whatever its operands hold, and what aliases of them do: values that control flow forwards, that only move elements
/// about, that come out of lists and stacks, and the results of such operations.
#[derive(Default, PartialEq)]
pub struct Variables {
    is_variable: Vec<bool>,
}

impl Analysis for Variables {
    fn compute(ctx: &Context, body: &Body) -> Self {
        let mut this = Variables::default();
        if body
            .recall::<Effects>()
            .is_some_and(|effects| !effects.changes_values())
        {
            return this;
        }
        let mut unknown: Vec<OpId> = Vec::new();
        for op in body.walk_all() {
            let view = body.view(ctx, op);
            if view.has_no_effects() {
                continue;
            }
            if view.has_unknown_effects() {
                unknown.push(op);
                continue;
            }
            for effect in view.own_effects() {
                if let Some(value) = changed_in_place(ctx, body, op, effect) {
                    // Hardly any program has some.
                    this.is_variable.resize(body.num_value_slots(), false);
                    this.is_variable[value.index()] = true;
                }
            }
        }
        if !unknown.is_empty() {
            // Results are changed by those that run later.
            let runs_alone = matches!(*unknown, [op] if body.parent_op(op).is_none()
                && body.op_regions(op).is_empty()
                && body.region_blocks(body.root()).len() == 1);
            this.add_aliases(ctx, body, runs_alone);
        }
        this
    }
}

impl Variables {
    /// Adds what operations with unknown effects may change. If there is one that `runs_alone` and once, its results stay
    /// what they are.
    fn add_aliases(&mut self, ctx: &Context, body: &Body, runs_alone: bool) {
        let mut classes = UnionFind::<usize>::new(body.num_value_slots());
        let mut written: Vec<ValueId> = Vec::new();
        // Operations inside one with unknown effects, whose operands have been collected.
        let mut inside: FxHashSet<OpId> = FxHashSet::default();
        let join = |classes: &mut UnionFind<usize>, all: &[ValueId]| {
            for pair in all.windows(2) {
                classes.union(pair[0].index(), pair[1].index());
            }
        };
        for op in body.walk_all() {
            let view = body.view(ctx, op);
            let unknown = view.has_unknown_effects();
            if unknown || may_alias(view) {
                let results = body.results(op).filter(|_| !(unknown && runs_alone));
                let mut all: Vec<ValueId> = body.operands(op).chain(results).collect();
                if unknown {
                    let regions = body.op_regions(op).iter();
                    let blocks = regions.flat_map(|&region| body.region_blocks(region));
                    all.extend(blocks.flat_map(|&block| body.block_args(block)));
                    if !inside.contains(&op) {
                        for inner in body.op_regions(op).iter().flat_map(|&region| body.walk(region)) {
                            all.extend(body.operands(inner));
                            inside.insert(inner);
                        }
                    }
                }
                // A number is what it is.
                all.retain(|&value| !is_number(ctx, body.value_type(value)));
                if unknown {
                    written.extend(all.first());
                }
                join(&mut classes, &all);
            }
            for (index, value) in body.operands(op).enumerate() {
                for target in body.flow_targets(ctx, Use { op, index }).into_iter().flatten() {
                    classes.union(value.index(), target.index());
                }
            }
            let mut at = body.num_own_operands(op);
            for successor in body.successors(op) {
                for (offset, &arg) in body.block_args(successor.block).iter().enumerate() {
                    if offset < successor.operands as usize
                        && let Some(value) = body.get_operand(op, at + offset)
                    {
                        classes.union(value.index(), arg.index());
                    }
                }
                at += successor.operands as usize;
            }
        }
        let mut changes = vec![false; body.num_value_slots()];
        for value in written {
            changes[classes.find_mut(value.index())] = true;
        }
        if changes.contains(&true) {
            self.is_variable.resize(body.num_value_slots(), false);
            for (index, is_variable) in self.is_variable.iter_mut().enumerate() {
                *is_variable |= changes[classes.find_mut(index)];
            }
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.is_variable.is_empty()
    }

    /// Whether the value is one.
    pub fn contains(&self, value: ValueId) -> bool {
        self.is_variable.get(value.index()).copied().unwrap_or(false)
    }

    /// Whether the operation reads or makes one.
    pub fn concern(&self, body: &Body, op: OpId) -> bool {
        !self.is_empty() && body.operands(op).chain(body.results(op)).any(|v| self.contains(v))
    }
}

fn is_number(ctx: &Context, ty: Type) -> bool {
    let data = ctx.type_data(ty);
    matches!(
        data,
        TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index | TypeData::Complex(_)
    )
}

/// Whether results of an operation may alias its operands: views of their elements, or lists and other containers that
/// hold them.
fn may_alias(view: OpView<'_>) -> bool {
    let holds = |value| {
        let ty = view.body.value_type(value);
        view.ctx.is_of_dialect(ty)
            || !matches!(
                view.ctx.type_data(ty),
                TypeData::Integer { .. }
                    | TypeData::Float(_)
                    | TypeData::Index
                    | TypeData::Complex(_)
                    | TypeData::Tensor { .. }
                    | TypeData::Vector { .. }
                    | TypeData::Function { .. }
            )
    };
    view.has(Traits::MOVEMENT)
        || matches!(
            view.name(),
            pd::Assign::NAME | pd::Detach::NAME | pd::Cast::NAME | "builtin.unrealized_conversion_cast"
        )
        || view.body.operands(view.op).chain(view.body.results(view.op)).any(holds)
}

/// The value that an operation changes in place by an effect that it declares.
fn changed_in_place(ctx: &Context, body: &Body, op: OpId, effect: Effect) -> Option<ValueId> {
    let (EffectKind::Write, EffectTarget::Operand(at)) = (effect.kind, effect.target) else {
        return None;
    };
    body.get_operand(op, at)
        .filter(|&value| !is_fixed_slot(ctx, body, value))
}

/// Whether an operation changes a value in place, or may do so.
pub(super) fn changes_values(view: OpView<'_>) -> bool {
    if view.has_unknown_effects() {
        return true;
    }
    let mut effects = view.own_effects().into_iter();
    effects.any(|effect| changed_in_place(view.ctx, view.body, view.op, effect).is_some())
}

/// Whether a body has operations whose effects are not known.
pub fn has_unknown_effects(ctx: &Context, body: &Body) -> bool {
    ctx.has_undeclared_effects() && body.walk_all().any(|op| body.view(ctx, op).has_unknown_effects())
}
