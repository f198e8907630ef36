//! Values that operations change in place.

use pir_ir::{Body, Context, Effect, EffectKind, EffectTarget, OpId, ValueId};

use super::slots::is_fixed_slot;

/// The values that some operation changes in place. (A handle does not change; what it refers to does.)
///
/// Such a value is a variable: an operation that reads it reads memory, the one that defines it makes a new one, and
/// nothing may be replaced by it, since it might be read later then.
#[derive(Default)]
pub struct Variables {
    is_variable: Vec<bool>,
}

impl Variables {
    /// Finds the variables of a body.
    pub fn new(ctx: &Context, body: &Body) -> Self {
        let mut this = Variables::default();
        for op in body.walk_all() {
            for effect in body.view(ctx, op).own_effects() {
                if let Some(value) = changed_in_place(ctx, body, op, effect) {
                    // Hardly any program has some.
                    this.is_variable.resize(body.num_value_slots(), false);
                    this.is_variable[value.index()] = true;
                }
            }
        }
        this
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

/// The value that an operation changes in place by an effect.
pub(super) fn changed_in_place(ctx: &Context, body: &Body, op: OpId, effect: Effect) -> Option<ValueId> {
    let (EffectKind::Write, EffectTarget::Operand(at)) = (effect.kind, effect.target) else {
        return None;
    };
    body.get_operand(op, at)
        .filter(|&value| !is_fixed_slot(ctx, body, value))
}
