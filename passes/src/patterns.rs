//! The pattern driver: folds and rewrites operations until nothing applies any more.
//!
//! # Algorithm
//! A worklist, at first of all operations in program order. For each operation taken from it, the first of these that
//! applies is done, and what the change may concern is put back on the list:
//!
//! 1. It is removed if it has no effects and its results are not used.
//! 2. Its definition folds it (`OpDef::fold`) to values that are there or to constants, or the evaluator of the driver
//!    computes it from constants. New constants are made by the definition that materialises them.
//! 3. The first of its patterns that applies, by descending benefit, rewrites it.
//!
//! # Conditions
//! * A fold must give values of the very type of the result; others are not used.
//! * Constants are only computed for pure operations, and only up to the size that the evaluator allows.
//! * Every step uses up fuel, of which there is an amount in proportion to the program, so that rules that undo each
//!   other end in a warning and not in a loop for ever.
//!
//! Operations are visited from outside to inside.

use std::sync::Arc;

use pir_ir::{Body, Context, Diagnostic, FoldResult, Module, OpId, Patterns, Rewriter, Traits, ValueId};
use smallvec::SmallVec;

use crate::analysis::{Constants, Effects, is_symbol_or_terminator};
use crate::bodies::for_each_body_mut;
use crate::pass::{Changed, PassContext};

/// How many users of an operation are noted one by one when it is looked at.
const MAX_USERS: usize = 64;

/// Applies patterns to all bodies of a module to a fixed point. On the way, operations are folded according to their
/// definitions and constant operands, and dead operations are removed. Bodies with operations in place are left alone.
///
/// ```
/// use std::sync::Arc;
/// use pir_ir::{Attr, Module, OpId, PatternSet, Rewriter, text};
/// use pir_passes::{Options, PassContext, apply_patterns};
///
/// /// `x - y` is `x + -y`.
/// fn add_the_negative(r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
///     let (x, y, ty) = (r.body.operand(op, 0), r.body.operand(op, 1), r.body.value_type(r.body.result(op, 0)));
///     let negative = r.op("pd.neg").operand(y).result(ty).value();
///     let sum = r.op("pd.add").operands([x, negative]).result(ty).value();
///     r.take_name(r.body.result(op, 0), sum);
///     r.replace_op(op, &[sum]);
///     true
/// }
///
/// let program = "%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>\n\
///                %d = pd.subtract (%x, %x)\npd.fetch (%d) {name = \"d\"}\n";
/// let mut module = text::parse(&pir_dialects::context(), program.as_bytes(), &Default::default()).module;
/// let mut patterns = PatternSet::default();
/// patterns.add("pd.subtract", 1, Arc::new(add_the_negative));
/// let patterns = patterns.by_op(&module.ctx);
/// let options = Options::new(&[]);
/// let changed = apply_patterns(&mut module, &patterns, &PassContext::new(&options));
/// assert_eq!(changed, Ok(true.into()));
/// let printed = text::print(&module, &Default::default());
/// assert!(printed.contains("%d = pd.add (%x, %0)") && !printed.contains("pd.subtract"), "{printed}");
/// ```
///
/// # Errors
/// It reports no errors itself.
pub fn apply_patterns(
    module: &mut Module,
    patterns: &Patterns,
    cx: &PassContext<'_>,
) -> Result<Changed, Vec<Diagnostic>> {
    for_each_body_mut(module, |ctx, body| {
        let constants = Constants::new(ctx, cx.services.evaluator, false);
        let Some(mut driver) = PatternDriver::new(body, constants, patterns, None) else {
            return Ok(Changed::No);
        };
        if !driver.work_off(|_, _| false) {
            cx.report(out_of_fuel(
                "the rewrite patterns were stopped: they did not reach a fixed point",
            ));
        }
        Ok(driver.changed.into())
    })
}

pub(crate) fn out_of_fuel(message: &str) -> Diagnostic {
    Diagnostic::warning("out-of-fuel", message).help("the program is correct, but may not be in its simplest form")
}

/// A body that is being rewritten.
pub(crate) struct PatternDriver<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) body: &'a mut Body,
    pub(crate) constants: Constants<'a>,
    patterns: &'a Patterns,
    effects: Arc<Effects>,
    /// Operations to look at; the last one comes first.
    list: Vec<OpId>,
    listed: Vec<bool>,
    pub(crate) fuel: usize,
    pub(crate) changed: bool,
    /// A value that is used very often has been replaced: its users are found by looking at all operations again.
    unlisted: bool,
}

impl<'a> PatternDriver<'a> {
    /// Nothing for a body in which something changes in place.
    pub(crate) fn new(
        body: &'a mut Body,
        constants: Constants<'a>,
        patterns: &'a Patterns,
        fuel: Option<usize>,
    ) -> Option<Self> {
        let ctx = constants.ctx();
        let effects = body.analysis::<Effects>(ctx);
        if effects.changes_values() {
            return None;
        }
        let mut list: Vec<OpId> = Vec::with_capacity(body.num_op_slots());
        list.extend(body.walk_all());
        list.reverse();
        let mut driver = PatternDriver {
            effects,
            constants,
            patterns,
            fuel: fuel.unwrap_or(1000 + 32 * list.len()),
            ctx,
            listed: vec![false; body.num_op_slots()],
            body,
            list,
            changed: false,
            unlisted: false,
        };
        driver.note_listed();
        Some(driver)
    }

    /// Lists all operations of a body that has changed.
    pub(crate) fn list_all(&mut self) {
        self.list.clear();
        self.list.extend(self.body.walk_all());
        self.list.reverse();
        self.effects = self.body.analysis(self.ctx);
        self.note_listed();
    }

    fn note_listed(&mut self) {
        self.listed.resize(self.body.num_op_slots(), false);
        for &op in &self.list {
            self.listed[op.index()] = true;
        }
    }

    pub(crate) fn push(&mut self, op: OpId) {
        if self.listed.len() <= op.index() {
            self.listed.resize(op.index() + 1, false);
        }
        if !std::mem::replace(&mut self.listed[op.index()], true) {
            self.list.push(op);
        }
    }

    pub(crate) fn push_users(&mut self, value: ValueId) {
        let users: SmallVec<[OpId; 8]> = self.body.uses(value).map(|u| u.op).collect();
        for user in users {
            self.push(user);
            // A condition that ends a region, for example, may decide the control flow.
            if self.body.view(self.ctx, user).has(Traits::TERMINATOR)
                && let Some(parent) = self.body.parent_op(user)
            {
                self.push(parent);
            }
        }
    }

    pub(crate) fn push_definitions(&mut self, operands: &[ValueId]) {
        for &operand in operands {
            if let Some(op) = self.body.defining_op(operand) {
                self.push(op);
            }
        }
    }

    /// Works off the list; gives whether it came to the end of it. `also` is tried on operations to which nothing else applies.
    pub(crate) fn work_off(&mut self, also: impl Fn(&mut Self, OpId) -> bool) -> bool {
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
            let done = match self.body.op_has_uses(op) {
                true => self.fold(op),
                false => self.remove_dead(op),
            };
            if done || self.rewrite(op) || also(self, op) {
                self.changed = true;
                self.fuel -= 1;
            }
        }
    }

    /// Removes an operation without uses.
    fn remove_dead(&mut self, op: OpId) -> bool {
        if !self.is_removable(op) {
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

    /// Folds an operation with uses. One that stays for its effects when it has been folded has none then.
    fn fold(&mut self, op: OpId) -> bool {
        if self.body.view(self.ctx, op).has(Traits::CONSTANT) {
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
            // A value of another type replaces it if all uses accept that type.
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
            // Another reason keeps it; folding it again would change nothing.
            return true;
        }
        let operands = self.body.operands_vec(op);
        self.body.erase_op(op);
        self.push_definitions(&operands);
        true
    }

    fn rewrite(&mut self, op: OpId) -> bool {
        let patterns = self.patterns.of(self.body.op_name(op));
        if patterns.is_empty() {
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
        let mut patterns = patterns.iter();
        let done = patterns.any(|pattern| pattern.rewrite(&mut rewriter, op, &constants));
        let created = rewriter.created_since(mark).to_vec();
        if !done {
            debug_assert!(created.is_empty(), "a pattern that does nothing makes nothing");
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
}
