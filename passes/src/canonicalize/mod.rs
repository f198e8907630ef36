//! `canonicalize`: brings operations into their simplest form.
//!
//! # Algorithm
//! The [driver of patterns](crate::patterns) removes, folds and rewrites operations, with the patterns of the dialects. To what
//! none of that applies, one thing more is tried:
//!
//! * The way control takes through it is known (`RegionFlow::next`): a branch on a constant, a loop whose condition is
//!   false at entry. What runs is put in its place. For this the condition is evaluated with the values with which
//!   the operation is entered.
//!
//! When the list is empty, what needs a look at the whole body is done, and if that changed something, all of it again:
//!
//! * Truth values that are known because control came here become constants ([`assume`]).
//! * Carried values and results that represent another value, or the same as another one, are replaced
//!   (`forward-args`), and with them all that nothing needs, cycles included, is removed (`dce`).
//! * Counters that run to a constant are that constant after their loop.
//! * Of branches that hold the same, one takes the place of all.
//!
//! # Conditions
//! * No rule here knows an operation. That `x + 0` is `x` is given by the fold of the addition, which handles -0.
//!
//! Operations are visited from outside to inside, so that what is inlined is moved once, however deep it is nested.

mod assume;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use pir_ir::{Diagnostic, Module, OpId, ValueId};
use smallvec::SmallVec;

use crate::analysis::{
    Constants, FlowOps, Limits, Liveness, has_choice_of_regions, known_path, remove_unreachable_blocks, sweep,
};
use crate::bodies::for_each_different_body_mut;
use crate::final_values::replace_final_values;
use crate::forward_args::forward_constant_slots;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext, Scope};
use crate::patterns::{PatternDriver, out_of_fuel};

/// How often the whole body is looked at.
const MAX_ROUNDS: usize = 16;

/// The pass `canonicalize`.
pub struct Canonicalize;

impl Pass for Canonicalize {
    fn name(&self) -> &'static str {
        "canonicalize"
    }

    fn summary(&self) -> &'static str {
        "Reduce operations to a canonical, simpler form"
    }

    fn description(&self) -> &'static str {
        "Folds operations on constants, applies the rewrite patterns of the dialects, replaces each `if` with a known \
         condition by its taken branch, removes loops that do not run, and removes unused operations. A condition \
         counts as known inside its branches, in the body of its loop, and after the loop. Carried values and results \
         are removed if they never change, duplicate another one, or only feed each other; identical branches are \
         merged. Consecutive branches on the same condition become one branch, and branches with little computation \
         become a `pd.where`. Floating-point rewrites are bit-exact unless `fast-math` is given."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[
            OptionSpec {
                name: "max-steps",
                kind: OptionKind::Int(0, i64::MAX),
                default: None,
                help: "the maximum number of rewrites; default: 32 for each operation",
            },
            OptionSpec {
                name: "fast-math",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "allow rewrites that may change NaN, infinities and the signs of zeros",
            },
        ];
        OPTIONS
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn is_pure(&self) -> bool {
        true
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let fuel = cx
            .options
            .int("max-steps")
            .map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let fast = cx.options.flag("fast-math");
        for_each_different_body_mut(module, |ctx, body| {
            // Rules and constants are about values that stay the same.
            let constants = Constants::new(ctx, cx.services.evaluator, fast);
            let Some(all) = PatternDriver::new(body, constants, ctx.patterns(), fuel) else {
                return Ok(Changed::No);
            };
            let full = all.fuel;
            let flow = all.body.analysis(ctx);
            let settled = false;
            let mut driver = Driver { all, flow, settled };
            let ended = driver.run();
            let all = driver.all;
            cx.count("simplifications", full.saturating_sub(all.fuel));
            if !ended && fuel.is_none() {
                cx.report(out_of_fuel(
                    "canonicalization was stopped: it did not reach a fixed point",
                ));
            }
            Ok(all.changed.into())
        })
    }
}

struct Driver<'a> {
    all: PatternDriver<'a>,
    /// The edges of control flow, as of when all operations were listed.
    flow: Arc<FlowOps>,
    /// Since the whole body was looked at nothing has been done to it but to remove what is dead.
    settled: bool,
}

impl Driver<'_> {
    /// Gives whether it came to an end.
    fn run(&mut self) -> bool {
        let flows = !self.flow.is_empty();
        for _ in 0..MAX_ROUNDS {
            let before = self.all.fuel;
            if !self.all.work_off(inline) {
                return false;
            }
            let quiet = self.all.fuel == before;
            if !flows || self.all.fuel == 0 || !self.restructure(quiet) {
                return true;
            }
            self.all.fuel -= 1;
            self.all.changed = true;
            self.all.list_all();
            self.flow = self.all.body.analysis(self.all.ctx);
        }
        self.all.work_off(inline)
    }

    /// Rewrites that inspect the whole body. It is `quiet` when nothing was done to any operation since all were listed.
    fn restructure(&mut self, quiet: bool) -> bool {
        let all = &mut self.all;
        if !quiet {
            self.flow = all.body.analysis(all.ctx);
        }
        let mut changed = false;
        if self.flow.has_blocks && remove_unreachable_blocks(all.body) {
            changed = true;
            self.flow = all.body.analysis(all.ctx);
        }
        changed |= assume::replace_known(&all.constants, all.body);
        changed |= replace_final_values(&all.constants, all.body, &self.flow);
        // Dead operations make no difference to slots, nor to other dead operations.
        let mut swept = self.settled && quiet && !changed;
        self.settled = swept;
        if !self.settled {
            let forwarded = forward_constant_slots(all.ctx, all.body, &self.flow);
            changed |= forwarded.changed;
            self.settled = forwarded.settled;
        }
        let limits = Limits {
            compare: true,
            ..Limits::SMALL
        };
        for &op in &self.flow.ops {
            // If nothing has changed since the paths were last followed, only a comparison of regions can find more.
            if all.body.is_alive(op)
                && all.body.op_regions(op).len() > 1
                && (!quiet || changed || has_choice_of_regions(all.ctx, all.body, op))
                && let Some(path) = known_path(&all.constants, all.body, op, limits)
            {
                path.inline(all.ctx, all.body);
                changed = true;
                (self.settled, swept) = (false, false);
            }
        }
        if swept {
            return false;
        }
        let live = all.body.analysis::<Liveness>(all.ctx);
        changed | sweep(all.ctx, all.body, &live)
    }
}

fn inline(all: &mut PatternDriver<'_>, op: OpId) -> bool {
    if all.body.op_regions(op).is_empty() {
        return false;
    }
    let Some(path) = known_path(&all.constants, all.body, op, Limits::SMALL) else {
        return false;
    };
    for result in all.body.results(op).collect::<SmallVec<[ValueId; 4]>>() {
        all.push_users(result);
    }
    let mut operands = all.body.operands_vec(op);
    // A region that no longer runs releases the values it used.
    for &region in all.body.op_regions(op).iter().filter(|&&r| !path.runs(r)) {
        for inner in all.body.walk(region) {
            operands.extend(all.body.operands(inner));
        }
    }
    let moved = path.inline(all.ctx, all.body);
    all.push_definitions(&operands);
    for op in moved.into_iter().rev() {
        all.push(op);
    }
    true
}
