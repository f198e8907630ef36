//! `sink-stacks`: what the dual of one branch alone reads is recorded in that branch.
//!
//! ```text
//! %y, %s = pd.if (%c) init {…} then (%t: cf.stack) {      %y, %s = pd.if (%c) init {…} then (%t: cf.stack) {
//!   cf.push_back (%t, %a)                                   cf.push_back (%t, %a)
//!   cf.yield (%b, %t)                                       cf.push_back (%t, %x)
//! } else …                                                  cf.yield (%b, %t)
//! cf.push_back (%stack, %x)                               } else …
//! cf.push_back (%stack, %c)                      ==>      cf.push_back (%stack, %c)
//! cf.push_back (%stack, %s)                               cf.push_back (%stack, %s)
//! …                                                       …
//! %s = cf.pop_back (%stack)                               %s = cf.pop_back (%stack)
//! %c = cf.pop_back (%stack)                               %c = cf.pop_back (%stack)
//! %x = cf.pop_back (%stack)                               %x_grad = pd.if_grad (%c) then {
//! %x_grad = pd.if_grad (%c) then {                          %x = cf.pop_back (%s)
//!   %a = cf.pop_back (%s)                                   %a = cf.pop_back (%s)
//!   … %a, %x …                                              … %a, %x …
//! ```
//!
//! An iteration that takes another branch then records less. The value has to be there in the branch: it is defined in front of it.
//! Branches that record nothing stay so: the handle of a stack would be recorded in each iteration. Never into a loop, which would
//! record the value in each of its iterations. It is [`Sink`](crate::Sink) for records.

use pir_ir::{BlockId, Body, Context, Diagnostic, FlowKind, Module, OpId, RegionId, Rewriter, ValueId};
use rustc_hash::FxHashMap;

use super::control_ops::ControlOps;
use super::prune::merge_equal;
use super::tapes::{Side, Tapes};
use crate::analysis::RegionTree;
use crate::bodies::for_each_different_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `sink-stacks`.
pub struct SinkStacks;

impl Pass for SinkStacks {
    fn name(&self) -> &'static str {
        "sink-stacks"
    }

    fn summary(&self) -> &'static str {
        "Record values in the only branch whose derivative reads them"
    }

    fn description(&self) -> &'static str {
        "Moves the push of a value that a loop or a branch records into a branch inside it, through any depth of nested branches, if the \
         derivative reads the value for that branch only, and the branch records other values already. So nothing is recorded for it where \
         another branch is taken. Does not move pushes into loops. Run it after `remat` and `batch-weight-grads`; `training` does."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_different_body_mut(module, |ctx, body| {
            let moved = run(ctx, body);
            cx.count("sunk", moved);
            Ok((moved > 0).into())
        })
    }
}

/// The tape of a branch, and its regions that face each other.
#[derive(Clone, Copy)]
struct Branch {
    tape: usize,
    side: Side,
}

/// Runs the pass on one body; gives how many pushes were moved.
fn run(ctx: &Context, body: &mut Body) -> usize {
    let names = ControlOps::new(ctx);
    if !body.walk_all().any(|op| body.op_name(op) == names.pop) {
        return 0;
    }
    let mut tapes = Tapes::new(ctx, &names, body);
    let tree = body.analysis::<RegionTree>(ctx);
    // By the region that reads.
    let mut branches: FxHashMap<RegionId, Branch> = FxHashMap::default();
    for (tape, of) in tapes.all.iter().enumerate() {
        if of.kind != FlowKind::Branch || of.pairs.is_empty() {
            continue;
        }
        for side in of.sides.into_iter().flatten() {
            if let Some(region) = body.block_region(side.dual) {
                branches.insert(region, Branch { tape, side });
            }
        }
    }
    if branches.is_empty() {
        return 0;
    }
    let mut r = Rewriter::new(ctx, body);
    let mut grown = Vec::new();
    // Outer ones first: what they hand on may go further.
    for at in 0..tapes.all.len() {
        for pair in std::mem::take(&mut tapes.all[at].pairs) {
            match target(&mut r, &names, &tree, &branches, pair) {
                Some(Branch { tape, side }) => {
                    sink(&mut r, pair, side, tapes.all[tape].handle);
                    tapes.all[tape].pairs.push(pair);
                    grown.push(tape);
                }
                None => tapes.all[at].pairs.push(pair),
            }
        }
    }
    let moved = grown.len();
    grown.sort_unstable();
    grown.dedup();
    // The branch may have recorded the value already.
    for tape in grown {
        merge_equal(&mut r, &names, &mut tapes, tape);
    }
    moved
}

/// The branch that a value should be recorded in.
fn target(
    r: &mut Rewriter<'_>,
    names: &ControlOps,
    tree: &RegionTree,
    branches: &FxHashMap<RegionId, Branch>,
    (push, pop): (OpId, OpId),
) -> Option<Branch> {
    let (value, popped) = (r.body.operand(push, 1), r.body.result(pop, 0));
    if names.is_stack(r.body, popped) {
        return None;
    }
    let home = r.body.op_region(pop)?;
    let reader = tree.branch_of_uses(r.body, home, std::iter::once(popped))?;
    // A branch with records in it has a record itself: that of their stack.
    let outermost = || branches.get(&tree.below(home, reader));
    let found = *branches.get(&reader).or_else(outermost)?;
    is_there(r, tree, value, push, found.side.forward)?.then_some(found)
}

/// Whether a value that is recorded is defined in front of the operation in the block of its push that a branch is in; `None` if there is no
/// such operation.
fn is_there(r: &mut Rewriter<'_>, tree: &RegionTree, value: ValueId, push: OpId, branch: BlockId) -> Option<bool> {
    let (outer, inner) = (r.body.op_region(push)?, r.body.block_region(branch)?);
    let around = r.body.region_parent(tree.below(outer, inner))?;
    let block = r.body.op_block(push);
    if r.body.op_block(around) != block {
        return None;
    }
    let def = r.body.defining_op(value).filter(|&def| r.body.op_block(def) == block);
    Some(def.is_none_or(|def| r.body.is_before_in_block(def, around)))
}

/// Moves a push and its pop to the stack of a branch. What is pushed last is popped first.
fn sink(r: &mut Rewriter<'_>, (push, pop): (OpId, OpId), side: Side, handle: ValueId) {
    let (Some(end), Some(first)) = (r.body.last_op(side.forward), r.body.first_op(side.dual)) else {
        return;
    };
    r.body.unlink_op(push);
    r.body.insert_before(end, push);
    r.body.set_operand(push, 0, side.inside);
    r.body.unlink_op(pop);
    r.body.insert_before(first, pop);
    r.body.set_operand(pop, 0, handle);
}
