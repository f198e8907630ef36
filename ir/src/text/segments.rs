//! Operands of successors in MLIR's generic form: they are among the operands, and attributes give the numbers of each.

use crate::body::{Body, Successor};
use crate::context::Context;
use crate::declare::Traits;
use crate::elements::ElementsForm;
use crate::elements_builder::ElementsBuilder;
use crate::entity::{OpId, Sym};
use crate::registry::OpDef;
use crate::types::{Attr, AttrData, AttrDict, Type};

/// How many operands each part has: those of the operation, of the first successor, and of the others.
const SIZES: &str = "operandSegmentSizes";
/// How many operands each of the other successors has, if there may be any number of them.
const CASES: &str = "case_operand_segments";

fn ints(ctx: &Context, attr: Attr) -> Option<Vec<usize>> {
    let sizes = ctx.attr_elements(attr)?.ints()?;
    sizes.map(|size| usize::try_from(size).ok()).collect()
}

/// The attribute `operandSegmentSizes`, or one like it: `array<i32: 1, 2>`.
pub fn segment_sizes(ctx: &Context, sizes: &[i64]) -> Attr {
    let made = || {
        let mut builder = ElementsBuilder::new(4 * sizes.len()).ok()?;
        for &size in sizes {
            builder.push(size as u64, 4).ok()?;
        }
        builder.finish(ctx, Type::I32, ElementsForm::Array).ok()
    };
    // Without memory for a few numbers, a list of them is still read.
    made().map_or_else(
        || ctx.ints_attr(sizes),
        |elements| ctx.attr(AttrData::Elements(elements)),
    )
}

/// Removes the attributes, and returns the number of operands for each successor; the first operands belong to the
/// operation itself.
pub(crate) fn take(
    ctx: &Context,
    attrs: &mut Vec<(Sym, Attr)>,
    own: usize,
    operands: usize,
    successors: &mut [Successor],
) -> Option<()> {
    let mut sizes = None;
    let mut cases = None;
    attrs.retain(|&(name, attr)| {
        let list = match ctx.str(name) {
            SIZES => &mut sizes,
            CASES => &mut cases,
            _ => return true,
        };
        *list = ints(ctx, attr);
        false
    });
    let passed = operands.checked_sub(own)?;
    let counts = match (sizes, successors.len()) {
        (_, 1) => vec![passed],
        (Some(sizes), _) => {
            let (&first, rest) = sizes.split_first()?;
            let rest = match (cases, rest) {
                (Some(cases), &[default, _]) => std::iter::once(default).chain(cases).collect(),
                _ => rest.to_vec(),
            };
            (first == own).then_some(rest)?
        }
        (None, _) if passed == 0 => return Some(()),
        (None, _) => return None,
    };
    if counts.len() != successors.len() || counts.iter().sum::<usize>() != passed {
        return None;
    }
    for (successor, count) in successors.iter_mut().zip(counts) {
        successor.operands = u32::try_from(count).ok()?;
    }
    Some(())
}

/// The attributes of an operation, including those that encode its segment sizes.
pub(crate) fn with_sizes(ctx: &Context, body: &Body, op: OpId, any: bool) -> AttrDict {
    let successors = body.successors(op);
    let (attrs, own) = (body.attrs(op), body.num_own_operands(op) as i64);
    let [first, others @ ..] = successors else { return attrs };
    if others.is_empty() && !any {
        return attrs;
    }
    let list = |sizes: &[i64]| segment_sizes(ctx, sizes);
    let count = |successor: &Successor| i64::from(successor.operands);
    let sizes: Vec<i64> = others.iter().map(count).collect();
    if !any {
        let all: Vec<i64> = [own, count(first)].into_iter().chain(sizes).collect();
        return ctx.dict_with(attrs, SIZES, list(&all));
    }
    let attrs = ctx.dict_with(attrs, CASES, list(&sizes));
    ctx.dict_with(attrs, SIZES, list(&[own, count(first), sizes.iter().sum()]))
}

/// The definition of an operation whose successor operands are among its operands in MLIR's text.
pub(crate) fn is_segmented<'c>(ctx: &'c Context, body: &Body, op: OpId) -> Option<&'c OpDef> {
    // Hardly any operation has successors.
    if body.successors(op).is_empty() {
        return None;
    }
    ctx.op_def(body.op_name(op)).filter(|def| def.has(Traits::SEGMENTS))
}

/// The attributes of an operation as MLIR has them.
pub(crate) fn all_attrs(ctx: &Context, body: &Body, op: OpId) -> AttrDict {
    match is_segmented(ctx, body, op) {
        None => body.attrs(op),
        Some(def) => with_sizes(ctx, body, op, def.successors == OpDef::ANY_SUCCESSORS),
    }
}
