//! `swap-stacks`: recorded values that are large go to the memory of the host until they are read.
//!
//! A stack that one loop fills and another empties holds the values of all iterations in between. With `swap` on a
//! push, the value is moved to the host while the loop continues, and back before it is popped (Yu et al., "Dynamic
//! Control Flow in Large-Scale Machine Learning", section 5.3). Moving costs time as well, so small values stay.

use pir_dialects::df::graph::{FrameId, Graph, Node};
use pir_ir::{Body, Context, Diagnostic, Module};

use super::place::bytes;
use super::stacks::{self, Tape};
use super::{Which, for_each_graph};
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// The pass `swap-stacks`.
pub struct SwapStacks;

impl Pass for SwapStacks {
    fn name(&self) -> &'static str {
        "swap-stacks"
    }

    fn summary(&self) -> &'static str {
        "Keep large recorded values in host memory"
    }

    fn description(&self) -> &'static str {
        "Gives pushes in a `df.graph` the attribute `swap` if their stack is long-lived (filled in a loop and popped in \
         another frame) and their values are large or of unknown size. Such values are copied to host memory while the \
         program continues, and copied back before they are popped."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "min-bytes",
            kind: OptionKind::Int(0, i64::MAX),
            default: Some("2048"),
            help: "the minimum size of a value to move",
        }];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let least = cx.options.int("min-bytes").and_then(|n| u64::try_from(n).ok());
        let least = least.unwrap_or(0);
        let mut swapped = 0;
        for_each_graph(module, Which::All, |ctx, outer, op| {
            if let Some(body) = outer.isolated_mut(op) {
                swapped += swap(ctx, body, least);
            }
            Ok(())
        })?;
        cx.count("swapped", swapped);
        Ok((swapped > 0).into())
    }
}

fn swap(ctx: &Context, body: &mut Body, least: u64) -> usize {
    let Some(graph) = Graph::new(ctx, body) else { return 0 };
    let mut swapped = 0;
    for tape in stacks::find(ctx, body, &graph) {
        for &push in tape.pushes.iter().filter(|&&p| lives_long(&graph, &tape, p)) {
            let op = graph.op(push);
            let is_large = body
                .operands(op)
                .nth(1)
                .map(|v| body.value_type(v))
                .is_some_and(|ty| ctx.as_tensor(ty).is_some() && (!ctx.is_static(ty) || bytes(ctx, ty) >= least));
            if is_large && body.view(ctx, op).bool("swap") != Some(true) {
                let attrs = ctx.dict_with(body.attrs(op), "swap", ctx.bool_attr(true));
                body.set_attrs(op, attrs);
                swapped += 1;
            }
        }
    }
    swapped
}

/// Whether pushed values stay on the stack for more than an iteration.
fn lives_long(graph: &Graph, tape: &Tape, push: Node) -> bool {
    let frame = graph.frame_of(push);
    frame != FrameId::ROOT && tape.pops.iter().any(|&pop| graph.frame_of(pop) != frame)
}
