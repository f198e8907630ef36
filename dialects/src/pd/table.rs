//! Definitions from the op tables.

use std::borrow::Cow;

use pir_ir::{
    Arity, AttrData, AttrSpec, Derivative, Effect, EffectKind, EffectTarget, InferFn, MemoryEffects, OpDef, OpView,
    Speculatability, Text, Traits, ValueSpec,
};
use smallvec::SmallVec;

use super::infer;

/// The kinds of effects in tables.
pub(super) enum Effects {
    None,
    /// Reads an input of the program: kept, and ordered with respect to other inputs.
    Input,
    /// Writes an output of the program.
    Output,
    /// Changes its first operand in place.
    FirstOperand,
    /// An optimizer step: the results replace the parameters and their state, also in the next run of the program.
    Update,
}

/// When an operation may be speculated.
pub(super) enum Speculate {
    Always,
    /// It may fail on some operands.
    Never,
    /// It fails for a divisor of zero, if the elements are integers.
    NonzeroDivisor,
}

/// An entry of a table.
pub(super) struct Row {
    pub(super) op: &'static str,
    pub(super) family: &'static str,
    pub(super) summary: &'static str,
    pub(super) doc: &'static str,
    pub(super) example: &'static str,
    pub(super) operands: &'static [ValueSpec],
    pub(super) attrs: &'static [AttrSpec],
    pub(super) outputs: &'static [ValueSpec],
    pub(super) infer: Option<InferFn>,
    pub(super) traits: Traits,
    pub(super) effects: Effects,
    pub(super) speculate: Speculate,
    /// The operands in which the operation is differentiable; `None` if the derivative is refused.
    pub(super) derivative: Option<&'static [Text]>,
    pub(super) backward: Option<&'static str>,
    pub(super) no_need_buffer: &'static [Text],
    /// The operation as a composition; see [`crate::user`].
    pub(super) computes: Option<&'static str>,
    pub(super) vjp: Option<&'static str>,
    /// The type forms of the results.
    pub(super) forms: &'static [Option<&'static str>],
}

include!(concat!(env!("OUT_DIR"), "/pd_ops.rs"));

/// The family of an operation: the file in which it is declared.
pub fn family(op: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| row.op == op).map(|row| row.family)
}

pub(super) fn definitions() -> impl Iterator<Item = OpDef> {
    ROWS.iter().map(definition)
}

fn definition(row: &Row) -> OpDef {
    let mut def = OpDef::new(row.op, row.summary);
    def.description = row.doc.into();
    def.example = row.example.into();
    def.traits = row.traits;
    def.operands = row.operands.into();
    def.results = row.outputs.into();
    def.attrs = row.attrs.into();
    def.infer = row.infer;
    def.derivative = match row.derivative {
        None => Derivative::Undeclared,
        Some([]) => Derivative::None,
        Some(operands) => Derivative::Operands(operands.into()),
    };
    def.backward = row.backward.map(Into::into);
    def.no_need_buffer = row.no_need_buffer.into();
    match row.effects {
        Effects::None => def.effects = MemoryEffects::NONE,
        Effects::Input => def.effects = MemoryEffects::Declared(|_| world(&[EffectKind::Read])),
        // Parameters persist between runs.
        Effects::Update | Effects::Output => def.effects = MemoryEffects::Declared(|_| world(&[EffectKind::Write])),
        Effects::FirstOperand => {
            def.effects = MemoryEffects::Declared(|_| {
                let target = EffectTarget::Operand(0);
                let effect = |kind| Effect { kind, target };
                [EffectKind::Read, EffectKind::Write].map(effect).into_iter().collect()
            });
            def.verify = Some(super::verify::in_place);
        }
    }
    def.speculatable = match row.speculate {
        Speculate::Always => |_| Speculatability::Always,
        Speculate::Never => |_| Speculatability::Never,
        Speculate::NonzeroDivisor => nonzero_divisor,
    };
    if row.computes.is_some() || row.vjp.is_some() || row.forms.iter().any(Option::is_some) {
        crate::user::attach_row(&mut def, row.computes, row.vjp, row.forms);
    }
    def
}

fn world(kinds: &[EffectKind]) -> SmallVec<[Effect; 2]> {
    kinds
        .iter()
        .map(|&kind| Effect {
            kind,
            target: EffectTarget::World,
        })
        .collect()
}

/// Division of floats is total; division of integers only by a constant that is not zero.
fn nonzero_divisor(op: OpView<'_>) -> Speculatability {
    let Some(divisor) = op.operand(1) else {
        return Speculatability::Never;
    };
    if op.ctx.is_float(op.body.value_type(divisor)) {
        return Speculatability::Always;
    }
    let constant = op
        .body
        .defining_op(divisor)
        .map(|d| op.body.view(op.ctx, d))
        .filter(|d| d.has(Traits::CONSTANT));
    // Minus one is excluded too: negating the smallest integer overflows.
    match constant.and_then(|c| c.attr("value")).map(|v| op.ctx.attr_data(v)) {
        Some(AttrData::Int { value, .. }) if *value != 0 && *value != -1 => Speculatability::Always,
        Some(AttrData::Ints(values)) if values.iter().all(|&v| v != 0 && v != -1) => Speculatability::Always,
        _ => Speculatability::Never,
    }
}
