//! Values computed from a stack that was too small.

use pir_dialects::pd;
use pir_ir::{Diagnostic, OpId, Rewriter, Traits, Type, Use, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::Bound;
use super::emit::{full, two};
use super::plan::Plan;
use super::thread::Walk;
use crate::autodiff::control_ops::ControlOps;

/// Follows what depends on stacks that may be too small.
struct Taint<'t, 'a> {
    r: &'t Rewriter<'a>,
    plan: &'t Plan,
    /// The tests for emptiness of the stacks of a class.
    tests: FxHashMap<usize, Vec<ValueId>>,
    seen: FxHashSet<ValueId>,
    classes: FxHashSet<usize>,
    pending: Vec<ValueId>,
}

/// The operands of what the program gives that depend on stacks that may be too small.
///
/// # Errors
/// When one of them is not a float, so that it cannot be NaN.
pub(super) fn poisoned(
    r: &Rewriter<'_>,
    names: &ControlOps,
    plan: &Plan,
    rows: &[Bound],
) -> Result<Vec<Use>, Vec<Diagnostic>> {
    let mut taint = Taint {
        r,
        plan,
        tests: FxHashMap::default(),
        seen: FxHashSet::default(),
        classes: FxHashSet::default(),
        pending: Vec::new(),
    };
    for &op in plan.ops.iter().filter(|&&op| r.body.op_name(op) == names.is_empty) {
        if let Some(&class) = plan.class_of.get(&r.body.operand(op, 0)) {
            taint.tests.entry(class).or_default().push(r.body.result(op, 0));
        }
    }
    for (lane, bound) in plan.lanes.iter().zip(rows) {
        if bound.assumed && plan.commit(lane.class).is_none() {
            taint.class(lane.class);
        }
    }
    while let Some(value) = taint.pending.pop() {
        for at in r.body.uses(value) {
            taint.used(names, at);
        }
    }
    let mut found = Vec::new();
    let mut errors = Vec::new();
    for op in r.body.walk_all() {
        if !gives(r, op) {
            continue;
        }
        for (index, value) in r.body.operands(op).enumerate() {
            if !taint.seen.contains(&value) {
                continue;
            }
            let ty = r.body.value_type(value);
            let top = r.body.parent_op(op).is_none();
            match top && r.ctx.as_tensor(ty).is_some_and(|(_, elem)| r.ctx.is_continuous(elem)) {
                true => found.push(Use { op, index }),
                false => errors.push(
                    Diagnostic::error(
                        "stack-overflow",
                        "this output depends on a stack with a bound, and cannot be NaN if the bound is exceeded",
                    )
                    .label(r.body.op_span(op), "given here")
                    .help("`lower-stacks{overflow=unchecked}` does not check the bound"),
                ),
            }
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// Whether an operation gives its operands to somebody outside of the program.
fn gives(r: &Rewriter<'_>, op: OpId) -> bool {
    let view = r.view(op);
    if r.body.parent_op(op).is_none() && view.has(Traits::TERMINATOR) {
        return true;
    }
    let mut effects = view.own_effects().into_iter();
    r.body.op_regions(op).is_empty() && effects.any(|effect| effect.target.is_shared())
}

impl Taint<'_, '_> {
    fn value(&mut self, value: ValueId) {
        if self.seen.insert(value) {
            self.pending.push(value);
        }
    }

    /// A stack holds something wrong, or too much or too little.
    fn class(&mut self, class: usize) {
        let mut pending = vec![class];
        while let Some(class) = pending.pop() {
            if !self.classes.insert(class) {
                continue;
            }
            for &lane in &self.plan.classes[class].lanes {
                let lane = &self.plan.lanes[lane];
                for &op in lane.pops.iter().chain(&lane.joins) {
                    self.value(self.r.body.result(op, 0));
                }
                if let super::plan::Held::Stacks(inner) = lane.held {
                    pending.push(inner);
                }
            }
            for value in self.tests.remove(&class).unwrap_or_default() {
                self.value(value);
            }
        }
    }

    fn used(&mut self, names: &ControlOps, at: Use) {
        let body = &*self.r.body;
        if body.op_name(at.op) == names.push {
            if let Some(&class) = self.plan.class_of.get(&body.operand(at.op, 0)) {
                self.class(class);
            }
            return;
        }
        let Some(targets) = body.flow_targets(self.r.ctx, at) else {
            let results: Vec<ValueId> = body.results(at.op).collect();
            results.into_iter().for_each(|v| self.value(v));
            return;
        };
        if !targets.is_empty() {
            targets.into_iter().for_each(|v| self.value(v));
            return;
        }
        // The value decides which region runs: all that comes out of it, and all that is pushed there.
        let Some((op, _)) = body.flow_of_operands(self.r.ctx, at.op) else {
            return;
        };
        let results: Vec<ValueId> = body.results(op).collect();
        results.into_iter().for_each(|v| self.value(v));
        for &region in body.op_regions(op) {
            for inner in body.walk(region).filter(|&inner| body.op_name(inner) == names.push) {
                if let Some(&class) = self.plan.class_of.get(&body.operand(inner, 0)) {
                    self.class(class);
                }
            }
        }
    }
}

impl Walk<'_, '_, '_> {
    /// Makes the operands of an operation NaN if a lane was too small.
    pub(super) fn poison(&mut self, op: OpId) {
        let (Some(uses), Some(over)) = (self.poisoned.remove(&op), self.env[self.over]) else {
            return;
        };
        let mut factors: FxHashMap<Type, ValueId> = FxHashMap::default();
        self.r.before(op);
        for at in uses {
            let value = self.r.body.operand(op, at.index);
            let ty = self.r.body.value_type(value);
            let Some((_, elem)) = self.r.ctx.as_tensor(ty) else {
                continue;
            };
            let scalar = self.r.ctx.tensor(&[], elem);
            let factor = match factors.get(&elem) {
                Some(&factor) => factor,
                None => {
                    let (nan, one) = (full(self.r, scalar, f64::NAN), full(self.r, scalar, 1.0));
                    let factor = self
                        .r
                        .op(pd::Where::NAME)
                        .operands([over, nan, one])
                        .result(scalar)
                        .value();
                    factors.insert(elem, factor);
                    factor
                }
            };
            let checked = two(self.r, pd::Multiply::NAME, value, factor, ty);
            self.r.name_like(checked, value, "");
            self.r.body.set_operand(op, at.index, checked);
        }
    }
}
