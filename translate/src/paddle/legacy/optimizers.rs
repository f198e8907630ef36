//! Optimizer operations that update several parameters at once.

use super::{Arguments, Attribute, Block, Op};

/// Replaces operations on several parameters with operations on one parameter each.
pub(super) fn split_all(mut blocks: Vec<Block>) -> Vec<Block> {
    for block in &mut blocks {
        if block.ops.iter().any(|op| op.kind.starts_with("merged_")) {
            let ops = std::mem::take(&mut block.ops).into_iter();
            block.ops = ops.flat_map(|op| split(&op).unwrap_or_else(|| vec![op])).collect();
        }
    }
    blocks
}

/// Whether the attribute has one value per parameter.
fn is_own(name: &str) -> bool {
    matches!(name, "regularization_method" | "regularization_coeff")
}

/// Splits `merged_NAME` into one `NAME` per parameter. `None` if it is another operation, or the lists differ in
/// length.
fn split(op: &Op) -> Option<Vec<Op>> {
    let kind = op.kind.strip_prefix("merged_")?;
    let count = op.inputs("Param").len();
    let whole = |list: &Arguments| {
        list.iter()
            .all(|(_, names)| matches!(names.len(), 0 | 1) || names.len() == count)
    };
    let fits = |(name, value): &(String, Attribute)| match value {
        Attribute::Strs(values) if is_own(name) => values.len() == count,
        Attribute::Floats(values) if is_own(name) => values.len() == count,
        _ => !is_own(name),
    };
    let steps = matches!(kind, "adam" | "momentum") && whole(&op.inputs) && whole(&op.outputs);
    if !steps || !op.attributes.iter().all(fits) {
        return None;
    }
    let pick = |list: &Arguments, at: usize| -> Arguments {
        let one = |names: &Vec<String>| names.get(at).or(names.first()).into_iter().cloned().collect();
        list.iter().map(|(name, names)| (name.clone(), one(names))).collect()
    };
    let attribute = |at: usize, name: &str, value: &Attribute| match value {
        Attribute::Strs(values) if is_own(name) => Attribute::Str(values[at].clone()),
        Attribute::Floats(values) if is_own(name) => Attribute::Float(values[at]),
        other => other.clone(),
    };
    let step = |at: usize| Op {
        kind: kind.to_owned(),
        inputs: pick(&op.inputs, at),
        outputs: pick(&op.outputs, at),
        attributes: op
            .attributes
            .iter()
            .map(|(name, value)| (name.clone(), attribute(at, name, value)))
            .collect(),
        seen: Default::default(),
        span: op.span,
    };
    Some((0..count).map(step).collect())
}
