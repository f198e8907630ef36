//! Constants that functions are called with and that they return.
//!
//! # Algorithm
//! Functions are solved in turn, at first with arguments of which nothing is known and with calls that return nothing. What calls that are
//! run hand on is what the arguments of their functions may be, and what is returned what the calls may give; a function is solved again
//! when one of either has changed. As in a body, what is known moves in one direction only, so that this ends.
//!
//! # Conditions
//! * Arguments are known of private functions that are named in calls only, by functions beside them, and nowhere else.
//! * Results are known of functions with a body all of whose ends are returns.

use std::collections::VecDeque;

use pir_ir::{AttrData, AttrDict, Body, Context, OpId, Sym, Traits, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Calls, Known, Solver};
use crate::analysis::{Constants, Variables};
use crate::pass::ConstantEvaluator;

/// How often a function is solved; then what changes varies.
const MAX_ROUNDS: usize = 16;

/// The function that a call is of, if it is one of this scope.
pub(super) fn called(ctx: &Context, body: &Body, op: OpId) -> Option<Sym> {
    if body.view(ctx, op).name() != "func.call" {
        return None;
    }
    match ctx.attr_data(body.attr(ctx, op, "callee")?) {
        AttrData::Symbol(path) if path.len() == 1 => Some(path[0]),
        _ => None,
    }
}

/// The symbols that attributes name, and whether there may be others.
fn named(ctx: &Context, attrs: AttrDict, skip: Option<&str>, found: &mut FxHashSet<Sym>) -> bool {
    let entries = ctx.dict_entries(attrs).iter();
    let mut pending: Vec<_> = entries
        .filter(|entry| Some(ctx.str(entry.0)) != skip)
        .map(|entry| entry.1)
        .collect();
    let mut all = true;
    while let Some(attr) = pending.pop() {
        match ctx.attr_data(attr) {
            AttrData::Symbol(path) => found.extend(path.iter().copied()),
            AttrData::Array(items) => pending.extend(items.iter().copied()),
            AttrData::Dict(dict) => pending.extend(ctx.dict_entries(*dict).iter().map(|entry| entry.1)),
            AttrData::Opaque(text) => all &= !text.contains('@'),
            _ => {}
        }
    }
    all
}

/// The functions of a scope, and which of them may be called from elsewhere.
struct Scope {
    functions: FxHashMap<Sym, OpId>,
    open: FxHashSet<Sym>,
    all_open: bool,
}

impl Scope {
    fn of(ctx: &Context, outer: &Body, top: bool) -> Scope {
        let mut scope = Scope {
            functions: FxHashMap::default(),
            open: FxHashSet::default(),
            all_open: false,
        };
        for op in outer.walk_all() {
            let view = outer.view(ctx, op);
            scope.all_open |= !named(ctx, outer.attrs(op), None, &mut scope.open);
            let name = view.str("sym_name").filter(|_| view.has(Traits::FUNCTION));
            let Some(inner) = outer.isolated(op) else { continue };
            let Some(name) = name.map(|name| ctx.sym(name)) else {
                scope.look_into(ctx, inner, false);
                continue;
            };
            let private = match view.str("sym_visibility") {
                Some("private") => true,
                Some("nested") => top,
                _ => false,
            };
            if !private || scope.functions.contains_key(&name) {
                scope.open.insert(name);
            }
            if inner.entry_block(inner.root()).is_some() {
                scope.functions.insert(name, op);
            }
            let variables = !inner.analysis::<Variables>(ctx).is_empty();
            scope.look_into(ctx, inner, !variables);
        }
        scope
    }

    /// Records the symbols that a body uses, except callees of analysed calls.
    fn look_into(&mut self, ctx: &Context, body: &Body, solved: bool) {
        let mut pending = vec![(body, solved)];
        while let Some((body, solved)) = pending.pop() {
            for op in body.walk_all() {
                let skip = (solved && called(ctx, body, op).is_some()).then_some("callee");
                self.all_open |= !named(ctx, body.attrs(op), skip, &mut self.open);
                pending.extend(body.isolated(op).map(|inner| (inner, false)));
            }
        }
    }
}

/// The results for the functions of a scope, if any of them is called.
pub(super) fn across(
    ctx: &Context,
    outer: &Body,
    top: bool,
    evaluator: Option<&dyn ConstantEvaluator>,
) -> Option<Calls> {
    let scope = Scope::of(ctx, outer, top);
    let mut callers: FxHashMap<Sym, Vec<Sym>> = FxHashMap::default();
    for (&name, &function) in &scope.functions {
        let inner = outer.isolated(function)?;
        for callee in inner.walk_all().filter_map(|op| called(ctx, inner, op)) {
            callers.entry(callee).or_default().push(name);
        }
    }
    if !scope.functions.keys().any(|name| callers.contains_key(name)) {
        return None;
    }
    let mut calls = Calls::default();
    for (&name, &function) in &scope.functions {
        let inner = outer.isolated(function)?;
        let args = inner
            .entry_block(inner.root())
            .map_or(0, |entry| inner.block_args(entry).len());
        // A function without callers is assumed to be called with any arguments.
        let open = scope.all_open || scope.open.contains(&name) || !callers.contains_key(&name);
        let known = if open { Known::Varies } else { Known::Nothing };
        calls.args.insert(name, vec![known; args]);
        calls.results.insert(name, Vec::new());
    }
    // In the order of the source: first all, then those that have changed. Arguments reach the callees of a chain in
    // one round, results its callers in another.
    let mut order: Vec<(OpId, Sym)> = scope.functions.iter().map(|(&name, &op)| (op, name)).collect();
    order.sort_unstable();
    let mut pending: VecDeque<Sym> = order.into_iter().map(|(_, name)| name).collect();
    let mut queued: FxHashSet<Sym> = pending.iter().copied().collect();
    let mut rounds: FxHashMap<Sym, usize> = FxHashMap::default();
    while let Some(name) = pending.pop_front() {
        queued.remove(&name);
        let Some(body) = scope.functions.get(&name).and_then(|&op| outer.isolated(op)) else {
            continue;
        };
        let round = rounds.entry(name).or_insert(0);
        *round += 1;
        let late = *round > MAX_ROUNDS;
        // One for each body: constants are cached by the index of their operation.
        let constants = Constants::new(ctx, evaluator, false);
        let solver = Solver::solved(
            ctx,
            body,
            &constants,
            Some(&calls),
            calls.args.get(&name).map(|args| &**args),
        );
        let found = met(ctx, body, &solver, name);
        for (callee, is_result, values) in found {
            let list = match is_result {
                true => calls.results.get_mut(&callee),
                false => calls.args.get_mut(&callee),
            };
            let Some(list) = list else { continue };
            let mut changed = is_result && list.is_empty() && !values.is_empty();
            if changed {
                list.resize(values.len(), Known::Nothing);
            }
            for (old, new) in list.iter_mut().zip(values) {
                let new = join(*old, if late && new != *old { Known::Varies } else { new });
                changed |= new != *old;
                *old = new;
            }
            if changed {
                let again = match is_result {
                    true => callers.get(&callee).map_or(&[][..], |list| list),
                    false => std::slice::from_ref(&callee),
                };
                for &name in again {
                    if queued.insert(name) {
                        pending.push_back(name);
                    }
                }
            }
        }
    }
    Some(calls)
}

fn join(old: Known, new: Known) -> Known {
    match (old, new) {
        (Known::Nothing, new) => new,
        (old, Known::Nothing) => old,
        (Known::Constant(a), Known::Constant(b)) if a == b => old,
        _ => Known::Varies,
    }
}

/// The arguments that a solved function passes to others: the arguments of each call, and the results to its callers.
fn met(ctx: &Context, body: &Body, solver: &Solver<'_>, name: Sym) -> Vec<(Sym, bool, Vec<Known>)> {
    let known = |values: &mut dyn Iterator<Item = ValueId>| values.map(|value| solver.of(value)).collect::<Vec<_>>();
    let mut found = Vec::new();
    for op in body.walk_all().filter(|&op| solver.runs(op)) {
        if let Some(callee) = called(ctx, body, op) {
            found.push((callee, false, known(&mut body.operands(op))));
        }
    }
    for &block in body.region_blocks(body.root()) {
        let Some(end) = body
            .last_op(block)
            .filter(|&end| solver.runs(end) && body.successors(end).is_empty())
        else {
            continue;
        };
        let values = match body.view(ctx, end).has(Traits::RETURN_LIKE) {
            true => known(&mut body.operands(end)),
            // Nobody knows what this gives, or how much.
            false => vec![Known::Varies; MAX_RESULTS],
        };
        found.push((name, true, values));
    }
    found
}

/// More results than this of a function whose end is not known are not looked at.
const MAX_RESULTS: usize = 64;
