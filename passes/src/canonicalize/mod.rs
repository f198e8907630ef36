//! `canonicalize`: brings operations into their simplest form.
//!
//! # Algorithm
//! A worklist, at first of all operations in program order. For each operation taken from it, the first of these that
//! applies is done, and what the change may concern is put back on the list:
//!
//! 1. It is removed if it has no effects and its results are not used.
//! 2. Its definition folds it (`OpDef::fold`) to values that are there or to constants, or the evaluator of the driver
//!    computes it from constants. New constants are made by the definition that materialises them.
//! 3. Its definition simplifies it (`OpDef::simplify`), or a pattern of a dialect file does, by descending benefit.
//! 4. The way control takes through it is known (`RegionFlow::next`): a branch on a constant, a loop whose condition is
//!    false at entry. What runs is put in its place. For this the condition is evaluated with the values with which
//!    the operation is entered.
//!
//! When the list is empty, what needs a look at the whole body is done, and if that changed something, all of it again:
//!
//! * Truth values that are known because control came here become constants ([`assume`]).
//! * Carried values and results that stand for another value, or for the same as another one, are replaced
//!   (`forward-args`), and with them all that nothing needs, cycles included, is removed (`dce`).
//! * Counters that run to a constant are that constant behind their loop.
//! * Of branches that hold the same, one takes the place of all.
//!
//! # Conditions
//! * No rule here knows an operation. That `x + 0` is `x` is said by the fold of the addition, which knows about -0.
//! * A fold must give values of the very type of the result; others are not used.
//! * Constants are only computed for pure operations, and only up to the size that the evaluator allows.
//! * Every step uses up fuel, of which there is an amount in proportion to the program, so that rules that undo each
//!   other end in a warning and not in a loop for ever.
//!
//! Operations are visited from outside to inside, so that what is inlined is moved once, however deep it is nested.

mod assume;

#[cfg(test)]
mod tests;

use pir_ir::{Body, Context, Diagnostic, FoldResult, Module, OpId, Rewriter, Traits, ValueId};
use smallvec::SmallVec;

use crate::analysis::{
    Constants, Effects, FlowOps, Limits, Liveness, Roots, has_choice_of_regions, inside_out, is_symbol_or_terminator,
    known_path, remove_unreachable_blocks, sweep,
};
use crate::bodies::for_each_body_mut;
use crate::final_values::replace_final_values;
use crate::forward_args::forward_constant_slots;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext, Scope};

/// How often the whole body is looked at.
const MAX_ROUNDS: usize = 16;
/// How many users of an operation are noted one by one when it is looked at.
const MAX_USERS: usize = 64;

/// The pass `canonicalize`.
pub struct Canonicalize;

impl Pass for Canonicalize {
    fn name(&self) -> &'static str {
        "canonicalize"
    }

    fn summary(&self) -> &'static str {
        "Bring operations into their simplest form"
    }

    fn description(&self) -> &'static str {
        "Folds operations on constants, simplifies operations by the rules of their dialects, takes the branch of an \
         `if` whose condition is known, takes away loops that do not run, and removes what is not used. Conditions are \
         known inside their branches, in the body of their loop and behind it. Carried values and results that never \
         change, that are carried twice, or that only feed each other go; so do branches that do the same. \
         Branches on the same condition become one, and branches that hardly compute anything a `pd.where`. \
         Floating-point rules hold bit for bit, unless `fast-math` is given."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[
            OptionSpec {
                name: "max-steps",
                kind: OptionKind::Int(0, i64::MAX),
                default: None,
                help: "how many changes to make at most; by default 32 for each operation",
            },
            OptionSpec {
                name: "fast-math",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "use rules that hold for ordinary numbers, but not for NaN, infinities and the signs of zeros",
            },
        ];
        OPTIONS
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let fuel = cx
            .options
            .int("max-steps")
            .map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let fast = cx.options.flag("fast-math");
        for_each_body_mut(module, |ctx, body| {
            // Rules and constants are about values that stay the same.
            let constants = Constants::new(ctx, cx.evaluator, fast);
            let Some(mut driver) = Driver::new(body, constants, fuel) else {
                return Ok(Changed::No);
            };
            let full = driver.fuel;
            let ended = driver.run();
            let changed = driver.changed;
            cx.count("simplifications", full.saturating_sub(driver.fuel));
            if !ended && fuel.is_none() {
                cx.report(
                    Diagnostic::warning("out-of-fuel", "canonicalization was stopped: it did not come to an end")
                        .help("the program is right, but may not be in its simplest form"),
                );
            }
            Ok(changed.into())
        })
    }
}

struct Driver<'a> {
    ctx: &'a Context,
    body: &'a mut Body,
    constants: Constants<'a>,
    effects: Effects,
    /// What control flows through, as of when all operations were listed.
    flow: FlowOps,
    /// Operations to look at; the last one comes first.
    list: Vec<OpId>,
    listed: Vec<bool>,
    fuel: usize,
    changed: bool,
    /// A value that is used very often has been replaced: its users are found by looking at all operations again.
    unlisted: bool,
    /// Since the whole body was looked at nothing has been done to it but to remove what is dead.
    settled: bool,
}

impl<'a> Driver<'a> {
    /// Nothing for a body in which something changes in place.
    fn new(body: &'a mut Body, constants: Constants<'a>, fuel: Option<usize>) -> Option<Self> {
        let ctx = constants.ctx();
        let mut list: Vec<OpId> = Vec::with_capacity(body.num_op_slots());
        list.extend(body.walk_all());
        let flow = FlowOps::of(ctx, body, list.iter().copied());
        list.reverse();
        let mut driver = Driver {
            effects: Effects::unless_variable(ctx, body, list.iter().copied())?,
            flow,
            constants,
            fuel: fuel.unwrap_or(1000 + 32 * list.len()),
            ctx,
            listed: vec![false; body.num_op_slots()],
            body,
            list,
            changed: false,
            unlisted: false,
            settled: false,
        };
        driver.note_listed();
        Some(driver)
    }

    /// Lists all operations of a body that has changed.
    fn list_all(&mut self) {
        self.list.clear();
        self.list.extend(self.body.walk_all());
        self.flow = FlowOps::of(self.ctx, self.body, self.list.iter().copied());
        self.list.reverse();
        self.effects = Effects::of_constants(self.ctx, self.body, self.list.iter().copied());
        self.note_listed();
    }

    fn note_listed(&mut self) {
        self.listed.resize(self.body.num_op_slots(), false);
        for &op in &self.list {
            self.listed[op.index()] = true;
        }
    }

    fn push(&mut self, op: OpId) {
        if self.listed.len() <= op.index() {
            self.listed.resize(op.index() + 1, false);
        }
        if !std::mem::replace(&mut self.listed[op.index()], true) {
            self.list.push(op);
        }
    }

    fn push_users(&mut self, value: ValueId) {
        let users: SmallVec<[OpId; 8]> = self.body.uses(value).map(|u| u.op).collect();
        for user in users {
            self.push(user);
            // A condition, say, that ends a region may decide where control goes.
            if self.body.view(self.ctx, user).has(Traits::TERMINATOR)
                && let Some(parent) = self.body.parent_op(user)
            {
                self.push(parent);
            }
        }
    }

    fn push_definitions(&mut self, operands: &[ValueId]) {
        for &operand in operands {
            if let Some(op) = self.body.defining_op(operand) {
                self.push(op);
            }
        }
    }

    /// Gives whether it came to an end.
    fn run(&mut self) -> bool {
        let flows = !self.flow.is_empty();
        for _ in 0..MAX_ROUNDS {
            let before = self.fuel;
            if !self.work_off() {
                return false;
            }
            let quiet = self.fuel == before;
            if !flows || self.fuel == 0 || !self.restructure(quiet) {
                return true;
            }
            self.fuel -= 1;
            self.changed = true;
            self.list_all();
        }
        self.work_off()
    }

    /// What needs a look at the whole body. It is `quiet` when nothing was done to any operation since all were listed.
    fn restructure(&mut self, quiet: bool) -> bool {
        if !quiet {
            self.flow = FlowOps::new(self.ctx, self.body);
        }
        let mut changed = false;
        if self.flow.has_blocks && remove_unreachable_blocks(self.body) {
            changed = true;
            self.flow = FlowOps::new(self.ctx, self.body);
        }
        changed |= assume::replace_known(&self.constants, self.body);
        changed |= replace_final_values(&self.constants, self.body, &self.flow);
        // What is dead makes no difference to slots, nor to what else is dead.
        let mut swept = self.settled && quiet && !changed;
        self.settled = swept;
        if !self.settled {
            let forwarded = forward_constant_slots(self.ctx, self.body, &self.flow);
            changed |= forwarded.changed;
            self.settled = forwarded.settled;
        }
        let limits = Limits {
            compare: true,
            ..Limits::SMALL
        };
        for &op in &self.flow.ops {
            // Where nothing has changed since ways were last followed, only comparing regions can tell more.
            if self.body.is_alive(op)
                && self.body.op_regions(op).len() > 1
                && (!quiet || changed || has_choice_of_regions(self.ctx, self.body, op))
                && let Some(path) = known_path(&self.constants, self.body, op, limits)
            {
                path.inline(self.ctx, self.body);
                changed = true;
                (self.settled, swept) = (false, false);
            }
        }
        if swept {
            return false;
        }
        if changed || !quiet || !self.effects.cover(self.body) {
            self.effects = Effects::of_constants(self.ctx, self.body, inside_out(self.body));
        }
        let live = Liveness::new(self.ctx, self.body, &self.effects, Roots::Effects);
        changed | sweep(self.ctx, self.body, &live)
    }

    /// Works off the list; gives whether it came to the end of it.
    fn work_off(&mut self) -> bool {
        loop {
            let Some(op) = self.list.pop() else {
                if !std::mem::take(&mut self.unlisted) {
                    return true;
                }
                self.list_all();
                continue;
            };
            self.listed[op.index()] = false;
            if !self.body.is_alive(op) || self.body.op_block(op).is_none() {
                continue;
            }
            if self.fuel == 0 {
                return false;
            }
            if self.remove_dead(op) || self.fold(op) || self.simplify(op) || self.inline(op) {
                self.changed = true;
                self.fuel -= 1;
            }
        }
    }

    fn remove_dead(&mut self, op: OpId) -> bool {
        if self.body.op_has_uses(op) || !self.is_removable(op) {
            return false;
        }
        let mut captured: SmallVec<[ValueId; 6]> = self.body.operands_vec(op);
        for &region in self.body.op_regions(op) {
            for inner in self.body.walk(region) {
                captured.extend(self.body.operands(inner));
            }
        }
        self.body.erase_op(op);
        self.push_definitions(&captured);
        true
    }

    fn is_removable(&self, op: OpId) -> bool {
        let view = self.body.view(self.ctx, op);
        // Effects are those of the beginning: removing operations only makes more removable. New ones have no regions.
        self.effects.is_removable(view)
            || (self.body.op_regions(op).is_empty()
                && !is_symbol_or_terminator(view)
                && view.def().is_some()
                && view.own_effects().is_empty())
    }

    fn fold(&mut self, op: OpId) -> bool {
        let view = self.body.view(self.ctx, op);
        // One that stays for its effects when it has been folded has no uses then.
        if view.has(Traits::CONSTANT) || !self.body.op_has_uses(op) {
            return false;
        }
        let Some(folded) = self.constants.fold(self.body, op, &|_| None) else {
            return false;
        };
        let results: SmallVec<[ValueId; 2]> = self.body.results(op).collect();
        if folded.len() != results.len() || results.is_empty() {
            return false;
        }
        let lone = results.len() == 1;
        let mut values: SmallVec<[ValueId; 2]> = SmallVec::new();
        for (&result, folded) in results.iter().zip(folded) {
            let ty = self.body.value_type(result);
            let value = match folded {
                FoldResult::Value(value) => {
                    Some(value).filter(|&v| v != result && (self.body.value_type(v) == ty || lone))
                }
                FoldResult::Constant(attr) => self.constants.materialize(self.body, op, attr, ty),
            };
            match value {
                Some(value) => values.push(value),
                // Constants made for the results before are not used and found again.
                None => return false,
            }
        }
        for (&result, &value) in results.iter().zip(&values) {
            self.push_users(result);
            // A value whose type says more or less takes its place if everything goes with that.
            if !Rewriter::new(self.ctx, self.body).try_replace_value(result, value) {
                return false;
            }
            if let Some(made) = self.body.defining_op(value)
                && self.body.value_name(value).is_none()
                && self.body.view(self.ctx, made).has(Traits::CONSTANT)
            {
                let name = self.body.value_name(result).filter(|n| !n.pack);
                self.body.set_value_name(value, name);
            }
        }
        if !self.is_removable(op) {
            // It is computed for another reason than its result, but folding it again would change nothing.
            return true;
        }
        let operands = self.body.operands_vec(op);
        self.body.erase_op(op);
        self.push_definitions(&operands);
        true
    }

    fn simplify(&mut self, op: OpId) -> bool {
        let simplify = self.body.view(self.ctx, op).def().and_then(|d| d.simplify);
        let patterns = self.ctx.patterns(self.body.op_name(op));
        if simplify.is_none() && patterns.is_empty() {
            return false;
        }
        let constants = self.constants.of_operands(self.body, op, &|_| None);
        let operands = self.body.operands_vec(op);
        // An operation is looked at whenever a user of it has changed: that must not take the time of all of its users.
        let uses = self.body.results(op).flat_map(|result| self.body.uses(result));
        let mut users: SmallVec<[OpId; 8]> = uses.take(MAX_USERS + 1).map(|u| u.op).collect();
        let unlisted = users.len() > MAX_USERS;
        if unlisted {
            users.clear();
        }
        let mut rewriter = Rewriter::new(self.ctx, self.body);
        let mark = rewriter.before(op).created_mark();
        let done = simplify.is_some_and(|simplify| simplify(&mut rewriter, op, &constants))
            || patterns
                .iter()
                .any(|pattern| pattern.rewrite(&mut rewriter, op, &constants));
        let created = rewriter.created_since(mark).to_vec();
        if !done {
            debug_assert!(created.is_empty(), "a simplification that does nothing makes nothing");
            return false;
        }
        self.unlisted |= unlisted;
        self.push_definitions(&operands);
        for user in users.into_iter().rev() {
            self.push(user);
        }
        self.push(op);
        for op in created.into_iter().rev() {
            self.push(op);
        }
        true
    }

    fn inline(&mut self, op: OpId) -> bool {
        let Some(path) = known_path(&self.constants, self.body, op, Limits::SMALL) else {
            return false;
        };
        for result in self.body.results(op).collect::<SmallVec<[ValueId; 4]>>() {
            self.push_users(result);
        }
        let mut operands = self.body.operands_vec(op);
        // What does not run any more frees what it used.
        for &region in self.body.op_regions(op).iter().filter(|&&r| !path.runs(r)) {
            for inner in self.body.walk(region) {
                operands.extend(self.body.operands(inner));
            }
        }
        let moved = path.inline(self.ctx, self.body);
        self.push_definitions(&operands);
        for op in moved.into_iter().rev() {
            self.push(op);
        }
        true
    }
}
