//! `lower-stacks`: stacks become tensors of static shape.
//!
//! 1. [`handles`]: every operation on a stack uses what made that; control takes no handles along.
//! 2. [`plan`]: which values are on which stacks: classes of stacks, lanes of values of one type.
//! 3. [`bounds`]: how many rows each lane needs. [`spans`]: stacks that are recorded on stacks share one buffer.
//! 4. [`thread`]: buffers and counters are variables, which loops carry and branches yield ([`control`]).
//! 5. [`overflow`]: values computed from a stack that was too small are NaN.

mod bounds;
mod buffers;
mod control;
mod counted;
mod emit;
mod handles;
mod on_tape;
mod overflow;
mod plan;
mod reservations;
mod spans;
mod tape;
mod thread;
mod writes;

use std::sync::atomic::{AtomicBool, Ordering};

use pir_ir::{Body, Context, Diagnostic, FlowKind, Module, OpId, Rewriter};
use rustc_hash::{FxHashMap, FxHashSet};

use super::batch::has_known_length;
use super::calls::recompute;
use super::control_ops::ControlOps;
use super::remat::{Recompute, RematOptions, rematerialize};
use super::stack_locals::add_else;
use super::unbatch::unbatch_unless;
use crate::bodies::{atomically, for_each_body_mut};
use crate::options::{OptionKind, OptionSpec, Options};
use crate::pass::{Changed, Invocation, Pass, PassContext, Scope};
use bounds::Bounds;
pub use buffers::StacksToMemref;
use plan::Plan;
pub(super) use tape::pairs_of_handles;

/// The handling of more values than rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overflow {
    /// Loops are run again as far as they did not fit; where that cannot be, as `Nan`.
    Remat,
    /// Floats that are computed from it are NaN.
    Nan,
    /// Nothing: they are wrong.
    Unchecked,
}

/// How to lower stacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LowerOptions {
    /// The maximum trip count of loops whose trip count is unknown.
    pub bound: Option<u64>,
    /// How many values all runs of an inner loop record together at most, if less than the product of the bounds.
    pub total: Option<u64>,
    /// The handling of further iterations.
    pub overflow: Overflow,
}

/// Makes tensors of the stacks of a module.
///
/// # Errors
/// When it is not known how large one is, or it is used in a way that is not known.
pub fn lower_stacks(module: &mut Module, options: LowerOptions) -> Result<Changed, Vec<Diagnostic>> {
    atomically(module, |module| {
        // The depth of calls has no static bound, so calls are recomputed.
        recompute(module)?;
        // Batches that need more records than it is known to make room for.
        let unbatched = unbatch_unless(module, &|names, body, block, pushed| {
            let op = body.block_parent(block);
            let looped = op.filter(|&op| names.kind(body, op) == Some(FlowKind::Loop));
            let fits = options.bound.is_some() || looped.is_none_or(|op| has_known_length(names, body, op));
            fits && pushed.iter().all(|&v| names.ctx.is_static(body.value_type(v)))
        });
        if options.overflow == Overflow::Remat && options.bound.is_some() {
            spill(module);
        }
        let lowered = for_each_body_mut(module, |ctx, body| run(ctx, body, options))?;
        Ok((unbatched || lowered == Changed::Yes).into())
    })
}

/// Recomputes the iterations that exceed the buffers, unless that was requested before.
fn spill(module: &mut Module) {
    let commits = AtomicBool::new(false);
    let _ = for_each_body_mut(module, |ctx, body| {
        let commit = ctx.op_name(pir_dialects::cf::COMMIT);
        commits.fetch_or(body.walk_all().any(|op| body.op_name(op) == commit), Ordering::Relaxed);
        Ok(Changed::No)
    });
    if !commits.into_inner() {
        let options = RematOptions {
            recompute: Recompute::None,
            slots: Some(SLOTS),
            segment: Some(SEGMENT),
            spill: true,
        };
        rematerialize(module, options, &mut |_| {});
    }
}

fn run(ctx: &Context, body: &mut Body, options: LowerOptions) -> Result<Changed, Vec<Diagnostic>> {
    let names = ControlOps::avoiding(ctx, body, &["rows", "size", "overflow"]);
    if !body.walk_all().any(|op| body.op_name(op) == names.create) {
        return Ok(Changed::No);
    }
    let mut r = Rewriter::new(ctx, body);
    complete_branches(&mut r, &names);
    let exact = plan::exact_handles(&mut r, &names);
    handles::make_direct(&mut r, &names)?;
    let plan = Plan::new(&r, &names, &exact)?;
    let spans = spans::Spans::new(&mut r, &names, &plan)?;
    let mut bounds = Bounds {
        body: r.body,
        names: &names,
        plan: &plan,
        given: options.bound,
        total: options.total,
        loops: FxHashMap::default(),
        depth: 0,
    };
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for lane in 0..plan.lanes.len() {
        match bounds.lane(lane) {
            Ok(bound) => rows.push(bound),
            Err(error) if errors.contains(&error) => {}
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let poisoned = match options.overflow {
        Overflow::Nan | Overflow::Remat => overflow::poisoned(&r, &names, &plan, &rows)?,
        Overflow::Unchecked => Vec::new(),
    };
    thread::run(&mut r, &names, &plan, &spans, &rows, poisoned)?;
    Ok(Changed::Yes)
}

/// Gives an else to each branch that has to do with stacks and lacks it: it will have results.
fn complete_branches(r: &mut Rewriter<'_>, names: &ControlOps) {
    let mut seen: FxHashSet<OpId> = FxHashSet::default();
    let mut branches = Vec::new();
    for op in r.body.walk_all() {
        if !r.body.operands(op).any(|v| names.is_stack(r.body, v)) {
            continue;
        }
        let mut at = r.body.parent_op(op);
        while let Some(op) = at.filter(|&op| seen.insert(op)) {
            branches.extend(Some(op).filter(|&op| names.kind(r.body, op) == Some(FlowKind::Branch)));
            at = r.body.parent_op(op);
        }
    }
    for op in branches {
        add_else(r, names, op);
    }
}

/// The default number of snapshots, and the default length of a segment.
const SLOTS: i64 = 32;
const SEGMENT: i64 = 128;

/// How many values inner loops record together.
pub(crate) const TOTAL: OptionSpec = OptionSpec {
    name: "total",
    kind: OptionKind::Int(1, i32::MAX as i64),
    default: None,
    help: "the maximum number of values that all runs of an inner loop record in total; default: the product of the bounds",
};

/// The handling of loops that exceed the bound.
pub(crate) const OVERFLOW: OptionSpec = OptionSpec {
    name: "overflow",
    kind: OptionKind::Enum(&["remat", "nan", "unchecked"]),
    default: Some("remat"),
    help: "the derivative of a loop that exceeds `bound`: recomputed, NaN, or undefined",
};

/// The pass `lower-stacks`.
pub struct LowerStacks;

impl Pass for LowerStacks {
    fn name(&self) -> &'static str {
        "lower-stacks"
    }

    fn summary(&self) -> &'static str {
        "Lower stacks to tensors of static shape, or to buffers"
    }

    fn description(&self) -> &'static str {
        "Each value that is pushed becomes a row of a tensor, and a counter holds the number of rows; loops and \
         branches carry both. A program that `backward` made can then run without stacks and without dynamic shapes. \
         The result contains no stacks, so run this pass after `remat` and `batch-weight-grads`.\
         \n\nThe number of rows follows from trip counts: from the constant bounds of counting loops, from \
         `remat{slots=,segment=}`, and for all other loops from `bound`. Without `bound`, a loop of unknown length is \
         an error. If such a loop exceeds its bound, `overflow` selects what happens. `remat`: the iterations that do \
         not fit are recomputed, as if `remat{slots=32,segment=128,spill=true}` ran first. `nan`: every float that \
         depends on the recorded values is NaN. `unchecked`: the values are undefined.\
         \n\nA buffer has as many rows as its bound and is filled with zeros each time, so a generous bound is slow. The \
         stacks of an inner loop share one buffer; its size is the product of the bounds, or `total`."
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[
            OptionSpec {
                name: "bound",
                kind: OptionKind::Int(1, i32::MAX as i64),
                default: None,
                help: "the maximum trip count of loops of unknown length; default: such loops are errors",
            },
            TOTAL,
            OVERFLOW,
            OptionSpec {
                name: "to",
                kind: OptionKind::Enum(&["tensor", "memref"]),
                default: Some("tensor"),
                help: "the target: tensors of static shape, or growing buffers in functions of MLIR's dialects",
            },
        ]
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn expand(&self, options: &Options) -> Option<Vec<Invocation>> {
        buffers::are_wanted(options).then(|| vec![Invocation::new(&StacksToMemref)])
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let options = LowerOptions {
            bound: cx.options.int("bound").and_then(|n| u64::try_from(n).ok()),
            total: cx.options.int("total").and_then(|n| u64::try_from(n).ok()),
            overflow: match cx.options.text("overflow").as_deref() {
                Some("unchecked") => Overflow::Unchecked,
                Some("nan") => Overflow::Nan,
                _ => Overflow::Remat,
            },
        };
        lower_stacks(module, options)
    }
}
