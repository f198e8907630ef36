//! Implications between conditions.

use crate::pd;
use pir_ir::{Implied, OpView, Type, ValueId};
use smallvec::SmallVec;

/// The possible relations of two numbers, as a bit set.
const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
/// One of them is NaN.
const UNORDERED: u8 = 8;

/// The relations for which each comparison holds.
const COMPARISONS: [(&str, u8); 6] = [
    (pd::LessThan::NAME, LESS),
    (pd::LessEqual::NAME, LESS | EQUAL),
    (pd::GreaterThan::NAME, GREATER),
    (pd::GreaterEqual::NAME, GREATER | EQUAL),
    (pd::Equal::NAME, EQUAL),
    (pd::NotEqual::NAME, LESS | GREATER | UNORDERED),
];

fn holds_for(name: &str) -> Option<u8> {
    COMPARISONS.iter().find(|(n, _)| *n == name).map(|&(_, holds)| holds)
}

/// The comparison that is true exactly if the one of this name is false, for ordered numbers.
pub(super) fn opposite(name: &str) -> Option<&'static str> {
    let opposite = (LESS | EQUAL | GREATER) & !holds_for(name)?;
    let found = COMPARISONS.iter().find(|(_, holds)| holds & !UNORDERED == opposite);
    found.map(|&(name, _)| name)
}

/// The result of a comparison of equal numbers.
pub(super) fn of_equals(name: &str) -> Option<bool> {
    Some(holds_for(name)? & EQUAL != 0)
}

fn mirrored(relations: u8) -> u8 {
    let (less, greater) = (relations & LESS, relations & GREATER);
    (relations & !(LESS | GREATER)) | (if less != 0 { GREATER } else { 0 }) | (if greater != 0 { LESS } else { 0 })
}

pub(super) fn comparison(view: OpView<'_>, truth: bool) -> Vec<Implied> {
    let (Some(holds), Some(x), Some(y)) = (holds_for(view.name()), view.operand(0), view.operand(1)) else {
        return Vec::new();
    };
    let all = match view.operand_type(0).is_some_and(|ty| view.ctx.is_continuous(ty)) {
        true => LESS | EQUAL | GREATER | UNORDERED,
        false => LESS | EQUAL | GREATER,
    };
    let possible = all & if truth { holds } else { !holds };
    let mut implied = Vec::with_capacity(2 * COMPARISONS.len());
    for (name, holds) in COMPARISONS {
        let name = view.ctx.op_name(name);
        for (operands, possible) in [([x, y], possible), ([y, x], mirrored(possible))] {
            let truth = match (possible & holds, possible & !holds) {
                (0, _) => false,
                (_, 0) => true,
                _ => continue,
            };
            let operands = SmallVec::from_slice(&operands);
            implied.push(Implied::Result(name, operands, truth));
        }
    }
    implied
}

/// The implied values of the operands. Logical operations also take numbers, which are true if they are not zero.
fn operands(view: OpView<'_>, truth: bool) -> Vec<Implied> {
    let is_truth = |&v: &ValueId| view.ctx.elem_type(view.body.value_type(v)) == Type::I1;
    let operands = view.body.operands(view.op).filter(is_truth);
    operands.map(|v| Implied::Value(v, truth)).collect()
}

pub(super) fn not(view: OpView<'_>, truth: bool) -> Vec<Implied> {
    operands(view, !truth)
}

pub(super) fn and(view: OpView<'_>, truth: bool) -> Vec<Implied> {
    if truth { operands(view, true) } else { Vec::new() }
}

pub(super) fn or(view: OpView<'_>, truth: bool) -> Vec<Implied> {
    if truth { Vec::new() } else { operands(view, false) }
}
