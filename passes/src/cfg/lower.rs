//! `lower-to-cfg`: from operations with regions to blocks.
//!
//! ```text
//! %r = pd.while (%x) cond (%a) {          pd.branch ^bb1(%x)
//!   %c = …                              ^bb1(%a):
//!   cf.cond_yield (%c, %a)                %c = …
//! } body (%b) {                  ==>      pd.condition_branch %c, ^bb2(%a), ^bb3(%a)
//!   %n = …                              ^bb2(%b):
//!   cf.yield (%n)                         %n = …
//! }                                       pd.branch ^bb1(%n)
//!                                       ^bb3(%r):
//! ```
//!
//! # Algorithm
//! Uses only region flow: each point of control has one or two successors, with the operands passed along, and a
//! deciding value. The block of each region becomes a block of the function, the rest of the block after the operation
//! becomes one with the results as arguments, and each edge a branch. Outer operations come before inner ones, and in a
//! block the last one first, so that the rest of a block is moved once.
//! operations to the innermost, and in a block from the last one to the first, so that what is after is moved once.
//!
//! # Conditions
//! * In functions only: the top level of a program is one block.
//! * Each region has at most one block, and there are at most two ways from each point.
//! * A branch without `else` that gives the stack made by its init region is left as it is.

use pir_dialects::pd;
use pir_ir::{
    BlockId, Body, Context, Diagnostic, FlowEdge, FlowPoint, Module, OpId, Rewriter, Successor, Traits, ValueId,
};
use smallvec::SmallVec;

use super::{branch_to, mlir, sort_blocks};
use crate::analysis::has_simple_regions;
use crate::bodies::for_each_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `lower-to-cfg`.
pub struct LowerToCfg;

impl Pass for LowerToCfg {
    fn name(&self) -> &'static str {
        "lower-to-cfg"
    }

    fn summary(&self) -> &'static str {
        "Lower branches and loops to blocks"
    }

    fn description(&self) -> &'static str {
        "In functions, replaces each `pd.if` and `pd.while`, including nested ones, with blocks that end in `pd.branch` \
         and `pd.condition_branch`. In functions of MLIR's dialects, loops and branches of `scf` become `cf.br` and \
         `cf.cond_br`. Values that regions take and yield become block arguments. The top level of a program has a single \
         block and is not changed. `lift-cfg` is the inverse."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_body_mut(module, |ctx, body| {
            let mlir = mlir::is_mlir(ctx, body);
            if mlir && is_function(ctx, body) {
                mlir::simplify(ctx, body)?;
            }
            let lowered = lower(ctx, body);
            if mlir {
                mlir::to_cf(ctx, body);
            }
            cx.count("lowered", lowered);
            Ok((lowered > 0).into())
        })
    }
}

/// A way that control takes: where to, and what along.
type Way = (FlowPoint, SmallVec<[ValueId; 4]>);

/// Where control goes from a point.
enum Ways {
    One(Way),
    /// To the first if the value holds, else to the second.
    Two(ValueId, Way, Way),
}

/// Whether a body ends; one that does not, like that of a module, has no blocks.
fn is_function(ctx: &Context, body: &Body) -> bool {
    let end = body.entry_block(body.root()).and_then(|block| body.last_op(block));
    end.is_some_and(|op| body.view(ctx, op).has(Traits::TERMINATOR))
}

/// Runs the pass on one body; gives how many operations were replaced.
fn lower(ctx: &Context, body: &mut Body) -> usize {
    let root = body.root();
    if !is_function(ctx, body) || ctx.registered_op(pd::Branch::NAME).is_none() {
        return 0;
    }
    let mut lowered = 0;
    let mut pending: Vec<BlockId> = body.region_blocks(root).to_vec();
    while let Some(block) = pending.pop() {
        let ops = body.block_ops_vec(block).into_iter().rev();
        for op in ops.filter(|&op| !body.op_regions(op).is_empty()).collect::<Vec<_>>() {
            if !has_simple_regions(body, op) {
                if let Some(blocks) = mlir::execute(ctx, body, op) {
                    pending.extend(blocks);
                    lowered += 1;
                }
                continue;
            }
            // Operations inside an operation that stays, stay with it: its regions have one block.
            if let Some(ways) = ways(ctx, body, op) {
                replace(ctx, body, op, ways, &mut pending);
                lowered += 1;
            }
        }
    }
    if lowered > 0 {
        sort_blocks(body);
    }
    lowered
}

/// The paths from the operation and from each of its regions; `None` if blocks cannot express them.
fn ways(ctx: &Context, body: &Body, op: OpId) -> Option<Vec<(FlowPoint, Ways)>> {
    let flow = body.region_flow(ctx, op)?;
    let view = body.view(ctx, op);
    let edges = flow.edges(view);
    let regions = body.op_regions(op).iter().enumerate();
    let regions = regions.filter(|(_, r)| !body.region_blocks(**r).is_empty());
    let points = std::iter::once(FlowPoint::Parent).chain(regions.map(|(i, _)| FlowPoint::Region(i)));
    let mut all = Vec::new();
    for from in points {
        let source = body.flow_source_op(op, from)?;
        let way = |edge: &FlowEdge| {
            let values: SmallVec<[ValueId; 4]> = body
                .operands(source)
                .skip(edge.operands.start)
                .take(edge.operands.len())
                .collect();
            (values.len() == body.flow_inputs(op, edge.to).len()).then_some((edge.to, values))
        };
        let out: SmallVec<[&FlowEdge; 2]> = edges.iter().filter(|e| e.from == from).collect();
        let ways = match out[..] {
            [one] => Ways::One(way(one)?),
            [a, b] => {
                let (value, holds) = flow
                    .branch_condition(view, from, a.to)
                    .or_else(|| flow.branch_condition(view, from, b.to).map(|(v, holds)| (v, !holds)))?;
                let (yes, no) = if holds { (a, b) } else { (b, a) };
                Ways::Two(value, way(yes)?, way(no)?)
            }
            _ => return None,
        };
        all.push((from, ways));
    }
    Some(all)
}

/// Splits the block after an operation; the arguments of the new block are its results.
pub(super) fn rest_of(body: &mut Body, op: OpId) -> BlockId {
    let rest = body.create_block(body.root());
    for result in body.results(op) {
        let (ty, name) = (body.value_type(result), body.value_name(result).filter(|n| !n.pack));
        let arg = body.add_block_arg(rest, ty, name);
        body.replace_all_uses(result, arg);
    }
    while let Some(next) = body.next_op(op) {
        body.unlink_op(next);
        body.append_op(rest, next);
    }
    rest
}

/// Replaces one operation of the body's own region by blocks; notes those that its regions were.
fn replace(ctx: &Context, body: &mut Body, op: OpId, ways: Vec<(FlowPoint, Ways)>, inner: &mut Vec<BlockId>) {
    let root = body.root();
    let rest = rest_of(body, op);
    let regions = body.op_regions(op).to_vec();
    let entries: Vec<Option<BlockId>> = regions.iter().map(|&r| body.entry_block(r)).collect();
    let target = |point: FlowPoint| match point {
        FlowPoint::Parent => Some(rest),
        FlowPoint::Region(index) => entries.get(index).copied().flatten(),
    };
    for (from, ways) in ways {
        let Some(end) = body.flow_source_op(op, from) else {
            continue;
        };
        let mut rewriter = Rewriter::new(ctx, body);
        rewriter.before(end);
        match ways {
            Ways::One((to, values)) => {
                if let Some(block) = target(to) {
                    branch_to(&mut rewriter, block, &values);
                }
            }
            Ways::Two(value, (yes, left), (no, right)) => {
                if let (Some(yes), Some(no)) = (target(yes), target(no)) {
                    let operands = std::iter::once(value)
                        .chain(left.iter().copied())
                        .chain(right.iter().copied());
                    let branch = rewriter.op(pd::ConditionBranch::NAME).operands(operands).build();
                    let successors = [(yes, left.len()), (no, right.len())].map(|(block, count)| Successor {
                        block,
                        operands: count as u32,
                    });
                    rewriter.body.set_successors(branch, &successors);
                }
            }
        }
        if end != op {
            body.erase_op(end);
        }
    }
    for region in regions {
        body.set_region_blocks(region, Vec::new());
    }
    for block in entries.into_iter().flatten() {
        body.append_block(root, block);
        inner.push(block);
    }
    body.erase_op(op);
}
