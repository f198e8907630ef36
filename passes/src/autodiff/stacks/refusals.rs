//! Diagnostics about stacks that the derivative would have to pass through and cannot: all that is not proven.

use pir_ir::{BlockId, Body, Context, Diagnostic, OpId, ValueDef, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Stacks, home, item_handle};
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::naming::spelled;

/// The purpose of a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Cotangents: it must be known of each push and pop which stack it is of.
    Reverse,
    /// Tangents, which lie on the stacks beside the values: it must be known of each push and pop that it happens.
    Forward,
}

impl Stacks {
    /// Errors for stacks that the derivative would have to pass through and cannot.
    pub(crate) fn refusals(&self, ctx: &Context, names: &ControlOps, body: &Body, mode: Mode) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut said: FxHashSet<ValueId> = FxHashSet::default();
        let mut given: FxHashMap<ValueId, OpId> = FxHashMap::default();
        for lane in self.lanes.iter().filter(|l| l.active) {
            for &op in lane.pushes.iter().chain(&lane.pops) {
                let handle = body.operand(op, 0);
                if said.insert(self.root(handle)) {
                    errors.extend(self.refusal_of(ctx, body, op, handle, mode));
                }
                if mode == Mode::Forward {
                    continue;
                }
                if let Some(item) = item_handle(names, body, op).filter(|_| body.op_name(op) == names.push) {
                    let root = self.root(item);
                    if said.insert(root) {
                        errors.extend(self.refusal_of(ctx, body, op, item, mode));
                    }
                    let elsewhere = home(body, root) != body.op_block(op);
                    if given.insert(root, op).is_some() || elsewhere {
                        errors.push(
                            refusal(body, op, "the derivative passes through a stack that is itself recorded in several places, or in a region other than its own")
                                .help("record the stack once, in the block that creates it"),
                        );
                    }
                }
                let root = self.root(handle);
                if !self.doubtful.contains(&root) && !stands_in(body, op, home(body, root)) {
                    errors.push(used_outside(ctx, body, op, root));
                }
            }
        }
        if mode == Mode::Forward {
            return errors;
        }
        for (&copy, ty) in self
            .copies
            .iter()
            .filter_map(|op| Some((op, self.active_copies.get(op)?)))
        {
            for handle in [body.operand(copy, 0), body.result(copy, 0)] {
                if said.insert(self.root(handle)) {
                    errors.extend(self.refusal_of(ctx, body, copy, handle, mode));
                }
            }
            let root = self.root(body.operand(copy, 0));
            if !self.doubtful.contains(&root) && !stands_in(body, copy, home(body, root)) {
                errors.push(used_outside(ctx, body, copy, root));
            }
            if ty.is_none() {
                errors.push(
                    refusal(
                        body,
                        copy,
                        "the derivative passes through a copy of a stack with values of several types, or with stacks",
                    )
                    .help(
                        "use a separate stack for each type, or push the values on two stacks instead of copying one",
                    ),
                );
            }
        }
        errors
    }

    /// The error of a handle with an unsupported origin.
    fn refusal_of(&self, ctx: &Context, body: &Body, op: OpId, handle: ValueId, mode: Mode) -> Option<Diagnostic> {
        let root = self.root(handle);
        if mode == Mode::Reverse && self.doubtful.contains(&root) {
            let (place, how) = match body.value_def(root) {
                ValueDef::Result(by, _) => (Some(by), "it may be one of several stacks"),
                ValueDef::Arg(block, _) => (
                    body.block_parent(block),
                    "it may be a different stack in each iteration",
                ),
                ValueDef::None => (None, "it may be one of several stacks"),
            };
            let by = place.map_or(String::new(), |by| {
                format!(" behind `{}`", ctx.op_str(body.op_name(by)))
            });
            let why = format!(
                "the derivative passes through the stack {}{by}: {how}",
                spelled(ctx, body, root)
            );
            let error = refusal(body, op, &why);
            let error = match place {
                Some(by) => error.label(body.op_span(by), "chosen here"),
                None => error,
            };
            return Some(error.help(
                "push and pop where the stack is selected, inside the branch or the loop, and pass \
                                     the values instead of the stack",
            ));
        }
        let class = self.classes.get(root)?;
        if !self.classes.is_strange_now(class) {
            return None;
        }
        let used_by = |by: &OpId| {
            let values = body.operands(*by).chain(body.results(*by));
            values
                .into_iter()
                .any(|v| self.roots.get(&v).is_some_and(|&r| r == root))
        };
        let mut strangers: Vec<OpId> = self.strangers.iter().copied().collect();
        strangers.sort_unstable();
        let by = strangers.iter().copied().find(used_by).or(strangers.first().copied());
        Some(match by {
            Some(by) => {
                let name = ctx.op_str(body.op_name(by));
                let why = format!(
                    "the derivative passes through the stack {}, and the effect of `{name}` on it is unknown",
                    spelled(ctx, body, root)
                );
                let error = refusal(body, op, &why).label(body.op_span(by), "used here");
                match body.view(ctx, by).attr("callee") {
                    Some(_) => error.help("inline the called function first"),
                    None => error.help(
                        "use the stack only with `cf.push_back`, `cf.pop_back`, `cf.is_empty` and `cf.copy_stack`",
                    ),
                }
            }
            None => {
                let why = format!(
                    "the derivative passes through the stack {}, which comes in from outside",
                    spelled(ctx, body, root)
                );
                refusal(body, op, &why)
                    .help("create the stack in the differentiated function, or inline the function into its caller")
            }
        })
    }
}

fn refusal(body: &Body, op: OpId, why: &str) -> Diagnostic {
    Diagnostic::error("stack-derivative", why).label(body.op_span(op), "the derivative passes through here")
}

/// Whether an operation is in a block, or in a region of an operation in it.
fn stands_in(body: &Body, op: OpId, block: Option<BlockId>) -> bool {
    let Some(block) = block else { return false };
    let mut at = Some(op);
    while let Some(op) = at {
        if body.op_block(op) == Some(block) {
            return true;
        }
        at = body.parent_op(op);
    }
    false
}

fn used_outside(ctx: &Context, body: &Body, op: OpId, root: ValueId) -> Diagnostic {
    let why = format!(
        "the derivative passes through the stack {}, which is used outside of the region that creates it",
        spelled(ctx, body, root)
    );
    refusal(body, op, &why).help(
        "create the stack where it is visible to all of its uses: before the loop or the branch, or in its init region",
    )
}
