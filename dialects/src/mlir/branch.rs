//! The operations of MLIR's `cf`: branches between blocks.

use pir_ir::{
    Arity, AttrSpec, Diagnostic, Effect, EffectKind, EffectTarget, MemoryEffects, OpDef, OpView, Traits, Type,
};
use smallvec::smallvec;

use crate::declare::value;
use crate::pd::condition::truth;

/// The name of `cf.assert`.
pub const ASSERT: &str = "cf.assert";
/// The name of `cf.br`.
pub const BR: &str = "cf.br";
/// The name of `cf.cond_br`.
pub const COND_BR: &str = "cf.cond_br";
/// The name of `cf.switch`.
pub const SWITCH: &str = "cf.switch";

pub(crate) fn definitions() -> Vec<OpDef> {
    let mut br = jump(BR, "Branches to a block");
    br.successors = 1;
    let mut cond_br = jump(COND_BR, "Branches to one of two blocks");
    cond_br.successors = 2;
    cond_br.operands = vec![value("condition", "i1", Arity::One)].into();
    cond_br.choose = Some(|op, constant| Some(usize::from(!truth(op.ctx, constant(op.operand(0)?)?)?)));
    cond_br.verify = Some(condition);
    let mut switch = jump(
        SWITCH,
        "Branches to the block of a case value, or to the first block if there is none",
    );
    switch.successors = OpDef::ANY_SUCCESSORS;
    switch.operands = vec![value("flag", "integer", Arity::One)].into();
    switch.attrs = vec![AttrSpec {
        name: "case_values".into(),
        ty: "attr".into(),
        default: Some("none".into()),
    }]
    .into();
    switch.choose = Some(|op, constant| {
        let flag = op.ctx.attr_int(constant(op.operand(0)?)?)?;
        Some(
            case_values(op)?
                .iter()
                .position(|&case| case == flag)
                .map_or(0, |at| at + 1),
        )
    });
    switch.verify = Some(|op, errors| {
        let cases = case_values(op).map_or(0, |cases| cases.len());
        if op.body.successors(op.op).len() != cases + 1 {
            let message = format!("`{SWITCH}` needs a block for each of its {cases} case values, and a default block");
            errors.push(
                Diagnostic::error("successor-count", message)
                    .label(op.body.op_span(op.op), "this branch")
                    .help(super::HELP),
            );
        }
    });
    let mut assert = OpDef::new(ASSERT, "Stops the program with a message unless a condition is true");
    assert.operands = vec![value("arg", "i1", Arity::One)].into();
    assert.attrs = vec![AttrSpec {
        name: "msg".into(),
        ty: "str".into(),
        default: None,
    }]
    .into();
    assert.traits = Traits::OPEN_ATTRS;
    assert.verify = Some(condition);
    assert.effects = MemoryEffects::Declared(|_| {
        smallvec![Effect {
            kind: EffectKind::Write,
            target: EffectTarget::World,
        }]
    });
    assert.speculatable = |_| pir_ir::Speculatability::Never;
    vec![br, cond_br, switch, assert]
}

fn jump(name: &'static str, summary: &'static str) -> OpDef {
    let mut def = OpDef::new(name, summary).with_effects(MemoryEffects::None);
    def.traits = Traits::TERMINATOR | Traits::SEGMENTS | Traits::OPEN_ATTRS;
    def
}

fn condition(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    if op.operand_type(0) != Some(Type::I1) {
        let message = format!("the condition of `{}` must be `i1`", op.name());
        errors.push(
            Diagnostic::error("condition-type", message)
                .label(op.body.op_span(op.op), "this operation")
                .help(super::HELP),
        );
    }
}

/// The numbers of a `cf.switch`, in the order of its blocks.
pub fn case_values(op: OpView<'_>) -> Option<Vec<i64>> {
    match op.attr("case_values") {
        None => Some(Vec::new()),
        Some(attr) => Some(op.ctx.attr_elements(attr)?.ints()?.collect()),
    }
}
