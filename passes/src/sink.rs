//! `sink`: into the branch that alone needs it.
//!
//! ```text
//! %t = pd.tanh (%x)                 %r = pd.if (%c) then {
//! %r = pd.if (%c) then {              %t = pd.tanh (%x)
//!   cf.yield (%t)             ==>     cf.yield (%t)
//! } else {                          } else {
//!   cf.yield (%x)                     cf.yield (%x)
//! }                                 }
//! ```
//!
//! # Algorithm
//! Operations are visited from the last to the first, so that the users of a value have moved before its definition is
//! looked at. The innermost region that all uses are in is where the operation could go; from there up, it must not
//! pass a region that runs more than once, or always. It goes to the front of the region. The tree of regions answers
//! both questions in logarithmic time.
//!
//! # Conditions
//! * Never into a loop: there it would run more than once.
//! * Only operations that neither read nor write anything. Making a stack counts as neither. An operation that may
//!   fail, like a division, may move: where its result is not needed it then does not fail any more.
//! * A branch or a loop with everything in it moves as a whole, if it is free of effects.

use pir_ir::{Body, Context, Diagnostic, Module, OpId, Preserved, RegionId};

use crate::analysis::{EffectAnalysis, EffectSet, RegionTree, Variables, is_symbol_or_terminator};
use crate::bodies::for_each_different_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// Operations that become movable after one with regions has moved are found in the next round.
const MAX_ROUNDS: usize = 8;

/// The pass `sink`.
pub struct Sink;

impl Pass for Sink {
    fn name(&self) -> &'static str {
        "sink"
    }

    fn summary(&self) -> &'static str {
        "Sink operations into the only branch that uses them"
    }

    fn description(&self) -> &'static str {
        "Moves operations whose results are used in only one branch of an `if` to the front of that branch, through any \
         depth of nested branches, so that they are computed only if the branch is taken. Does not move operations into \
         loops, nor operations that read or write."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn is_pure(&self) -> bool {
        true
    }

    // Operations are only moved.
    fn preserves(&self) -> Preserved {
        Preserved::none().and::<Variables>()
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_different_body_mut(module, |ctx, body| {
            let moved = sink(ctx, body);
            cx.count("sunk", moved);
            Ok((moved > 0).into())
        })
    }
}

/// Runs the pass on one body; gives how many operations were moved.
fn sink(ctx: &Context, body: &mut Body) -> usize {
    let facts = body.analysis::<EffectAnalysis>(ctx);
    let mut moved = 0;
    for _ in 0..MAX_ROUNDS {
        let tree = body.analysis::<RegionTree>(ctx);
        let mut whole = false;
        let ops: Vec<OpId> = body.walk_all().collect();
        for op in ops.into_iter().rev() {
            let Some(target) = target(ctx, body, &facts, &tree, op) else {
                continue;
            };
            let Some(first) = body.entry_block(target).and_then(|b| body.first_op(b)) else {
                continue;
            };
            body.unlink_op(op);
            body.insert_before(first, op);
            moved += 1;
            // Regions that have moved count as where they were, which is only less exact.
            whole |= !body.op_regions(op).is_empty();
        }
        if !whole {
            break;
        }
    }
    moved
}

/// The region that an operation should be moved to.
fn target(ctx: &Context, body: &Body, facts: &EffectAnalysis, tree: &RegionTree, op: OpId) -> Option<RegionId> {
    let fixed = !EffectSet::ALLOC.contains(facts.touched(op))
        || is_symbol_or_terminator(body.view(ctx, op))
        || !body.successors(op).is_empty();
    if fixed {
        return None;
    }
    tree.branch_of_uses(body, body.op_region(op)?, body.results(op))
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn deep_nests_take_about_linear_time() {
        use std::fmt::Write;
        let depth = 20_000;
        let mut text = String::from("%c = t.in {name = \"c\"} : i1\n%x = t.in {name = \"x\"} : f32\n");
        for i in 0..depth {
            let _ = writeln!(text, "%a{i} = t.add (%x, %x) : f32\nt.if (%c) then {{");
        }
        for i in 0..depth {
            let _ = writeln!(text, "t.print (%a{i})");
        }
        for _ in 0..depth {
            text.push_str("t.yield\n} else {\nt.yield\n}\n");
        }
        let out = run("sink", &text);
        assert!(out.lines().nth(2).unwrap().starts_with("t.if"), "{:.300}", out);
    }
}
