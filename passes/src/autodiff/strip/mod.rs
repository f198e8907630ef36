//! `strip-backward`: takes gradients out again, with everything that serves only them.
//!
//! There are two ways. [`marks`] removes exactly what [`backward`](super::build_backward) inserted: it only appends,
//! and marks the first operation that it appends with the number of gradients; operations that record values before the
//! mark are identified by their uses after it. [`liveness`] needs no marks: it removes the fetches of gradients, and
//! then everything that is dead, including stacks without pops.

mod liveness;
mod marks;

use pir_dialects::marks::BACKWARD;
use pir_dialects::pd;
use pir_ir::{BlockId, Body, Context, Diagnostic, Module, OpId, Traits};

use super::{custom::derivatives, signature};
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// The suffix of names of gradients.
const SUFFIX: &str = "_grad";

/// How `strip-backward` finds what to remove.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StripBy {
    /// By the marks that `backward` left: all orders of differentiation, or this many of the last ones.
    Marks(Option<usize>),
    /// By the liveness of results that are not gradients.
    Liveness,
}

/// Marks the operation after `last`, or the first one of `block`, as the start of an adjoint program with this number
/// of gradients.
pub(super) fn mark(ctx: &Context, body: &mut Body, block: BlockId, last: Option<OpId>, gradients: usize) {
    let first = match last {
        Some(last) => body.next_op(last),
        None => body.first_op(block),
    };
    if let Some(first) = first {
        let attrs = BACKWARD.set(ctx, body.attrs(first), ctx.int_attr(gradients as i64));
        body.set_attrs(first, attrs);
    }
}

/// Removes gradients. Returns whether there were any; `report` gets a diagnostic for each that stays.
pub fn strip_backward(module: &mut Module, by: StripBy, report: &mut dyn FnMut(Diagnostic)) -> bool {
    let ctx = module.ctx.clone();
    // Functions that return derivatives call them gradients, and keep them.
    let derivatives = derivatives(module).unwrap_or_default();
    let mut changed = false;
    let mut pending = vec![(&mut module.body, true)];
    while let Some((body, may_change)) = pending.pop() {
        changed |= match by {
            StripBy::Marks(orders) => marks::run(&ctx, body, orders, report),
            StripBy::Liveness => may_change && liveness::run(&ctx, body),
        };
        let name = |body: &Body, op| body.view(&ctx, op).str("sym_name").map(|name| ctx.sym(name));
        let kept: Vec<OpId> = match derivatives.is_empty() {
            true => Vec::new(),
            false => body
                .walk_all()
                .filter(|&op| name(body, op).is_some_and(|name| derivatives.contains(&name)))
                .collect(),
        };
        let is_graph = |name| ctx.op_def(name).is_some_and(|def| def.has(Traits::GRAPH_REGION));
        let inner = body.isolated_ops_mut().filter(|(_, name, _)| !is_graph(*name));
        pending.extend(inner.map(|(op, _, inner)| (inner, !kept.contains(&op))));
    }
    if changed {
        signature::restore(module);
    }
    changed
}

/// The block that a body consists of, its terminator if it has one, and whether that returns from a function.
fn outermost(ctx: &Context, body: &Body) -> Option<(BlockId, Option<OpId>)> {
    let block = body.single_block(body.root())?;
    let end = body
        .last_op(block)
        .filter(|&op| body.view(ctx, op).has(Traits::TERMINATOR));
    Some((block, end))
}

/// The marked operations of a block, with their numbers of gradients.
fn marks(ctx: &Context, body: &Body, block: BlockId) -> Vec<(OpId, usize)> {
    body.block_ops(block)
        .filter_map(|op| {
            let count = ctx.attr_int(BACKWARD.get(ctx, body.attrs(op))?)?;
            Some((op, usize::try_from(count).ok()?))
        })
        .collect()
}

/// Whether an operation hands out a gradient by its name.
fn fetches_gradient(ctx: &Context, body: &Body, op: OpId) -> bool {
    let view = body.view(ctx, op);
    matches!(view.name(), pd::Fetch::NAME | pd::ShadowOutput::NAME) && view.str("name").is_some_and(is_gradient)
}

/// Whether a name is that of a gradient; it may have a number as suffix, as for those of order 2.
fn is_gradient(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name.ends_with(SUFFIX) || base.strip_suffix('_').is_some_and(|base| base.ends_with(SUFFIX))
}

/// The pass `strip-backward`.
pub struct StripBackward;

impl Pass for StripBackward {
    fn name(&self) -> &'static str {
        "strip-backward"
    }

    fn summary(&self) -> &'static str {
        "Remove gradients and everything that serves only them"
    }

    fn description(&self) -> &'static str {
        "`by=marks` is the inverse of `backward`: it removes the operations that `backward` appended, and the stacks, \
         pushes and counters that only they read. The result is the original program, byte for byte. The mark `backward \
         = N` on the first appended operation gives the number of gradients.\
         \n\n`by=liveness` is for programs that other passes have changed since. It removes the fetches named `*_grad` (in \
         a function, the last results with such names), and then everything that becomes unused, as `dce` does; a stack \
         is removed with its pushes and pops if none of its values reaches a result."
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[
            OptionSpec {
                name: "by",
                kind: OptionKind::Enum(&["marks", "liveness"]),
                default: Some("marks"),
                help: "how to find the operations to remove",
            },
            OptionSpec {
                name: "orders",
                kind: OptionKind::Int(1, i64::MAX),
                default: None,
                help: "with `by=marks`: the number of differentiations to undo, last first; default: all",
            },
        ]
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let orders = cx
            .options
            .int("orders")
            .map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let by = match cx.options.text("by").as_deref() {
            Some("liveness") if orders.is_some() => {
                return Err(vec![
                    Diagnostic::error("strip-orders", "`orders` counts marks, which `by=liveness` ignores")
                        .help("omit one of the two"),
                ]);
            }
            Some("liveness") => StripBy::Liveness,
            _ => StripBy::Marks(orders),
        };
        Ok(strip_backward(module, by, &mut |d| cx.report(d)).into())
    }
}
