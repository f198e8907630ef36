//! Pairs `conditional_block`s that are the two sides of one branch.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Block;

/// The pairs among the conditional blocks of a block.
#[derive(Default)]
pub(super) struct Pairs<'t> {
    /// The first of each pair, by the second.
    pub(super) first: FxHashMap<usize, usize>,
    /// The operations that the pairs subsume: first blocks and selections.
    pub(super) done: FxHashSet<usize>,
    /// The selections among the variables of a pair, by its second: the result, and the variables of the two sides.
    pub(super) choices: FxHashMap<usize, Vec<(&'t str, &'t str, &'t str)>>,
}

/// Finds the pairs of conditional blocks. Between the two of a pair there is only the negation of the condition.
/// Operations that only select a side are subsumed.
pub(super) fn pairs<'t>(block: &'t Block, read: &FxHashSet<&str>) -> Pairs<'t> {
    let mut pairs = Pairs::default();
    let mut negated: FxHashMap<&str, &str> = FxHashMap::default();
    let mut masks: FxHashMap<&str, &str> = FxHashMap::default();
    let mut last: Option<(&str, usize)> = None;
    let mut by_condition: FxHashMap<&str, usize> = FxHashMap::default();
    let mut helpers: FxHashMap<&str, usize> = FxHashMap::default();
    for (at, op) in block.ops.iter().enumerate() {
        let out = op.outputs("Out").first().map(String::as_str);
        match (op.kind.as_str(), out, op.input("X")) {
            ("logical_not", Some(out), Some(x)) => {
                negated.insert(out, x);
                helpers.insert(out, at);
            }
            ("cast", Some(out), Some(x)) => {
                masks.insert(out, x);
                helpers.insert(out, at);
            }
            ("conditional_block", _, _) => {
                let condition = op.input("Cond").unwrap_or("");
                match (negated.get(condition), last.take()) {
                    (Some(&of), Some((open, first))) if open == of => {
                        pairs.first.insert(at, first);
                        pairs.done.insert(first);
                        by_condition.insert(of, at);
                        pairs
                            .done
                            .extend(helpers.get(condition).filter(|_| !read.contains(condition)));
                    }
                    _ => last = Some((condition, at)),
                }
            }
            ("select_input", Some(out), _) => {
                let mask = op.input("Mask").and_then(|m| masks.get(m));
                if let (Some(&pair), [no, yes]) = (mask.and_then(|c| by_condition.get(c)), op.inputs("X")) {
                    pairs.choices.entry(pair).or_default().push((out, yes, no));
                    pairs.done.insert(at);
                    let mask = op.input("Mask").filter(|name| !read.contains(name));
                    pairs.done.extend(mask.and_then(|name| helpers.get(name)));
                }
            }
            _ => last = None,
        }
    }
    pairs
}
