//! `partition`: one graph for each device.
//!
//! ```text
//! df.graph {                       df.graph {device = 0} {          df.graph {device = 1} {
//!   %a = …  {device = 0}             %a = …                           %a = df.recv () {key = "a_0", …}
//!   %b = f (%a)  {device = 1}  ==>   %s = df.send (%a) {key = …}      %b = f (%a)
//! }                                }                                }
//! ```
//!
//! # Algorithm
//! After [`place`](super::place) each node has a device. [`plan`] finds what has to be sent (a value once to each device that
//! reads it; what runs after a node of another device is sent a token), and which devices need a state machine for which
//! loops. [`build`] copies the nodes of each device in the order of the text, with the messages between them.
//!
//! # Loops
//! A `df.recv` has no input, so it would run once, in no frame. In a loop it runs after a merge of that loop, once in
//! every iteration, including the last one, in which the sent values are dead. A device without the condition of the
//! loop has no suitable merge, and gets a state machine: a constant that enters, a merge, a switch on the received
//! condition, a next-iteration. The machine of an inner loop is entered in every iteration of that of the outer one.
//! Branches need nothing, since dead values are sent.

mod build;
mod plan;

use pir_ir::{Diagnostic, Module};

use super::place::{Devices, OPTIONS, device_names, place, read};
use super::{Which, for_each_graph};
use crate::options::OptionSpec;
use crate::pass::{Changed, Pass, PassContext};
use plan::Plan;

/// The pass `partition`.
pub struct Partition;

impl Pass for Partition {
    fn name(&self) -> &'static str {
        "partition"
    }

    fn summary(&self) -> &'static str {
        "Split a graph into one for each device"
    }

    fn description(&self) -> &'static str {
        "Splits each `df.graph` without a device into one graph per device. The graphs exchange values with `df.send` \
         and `df.recv`. Nodes with an attribute `device` keep it; `place` chooses the devices of the others, with its \
         placement constraints. A device that executes part of a loop but not its condition gets a control-loop state \
         machine, which receives the condition in every iteration; the state machines of nested loops are nested too."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let devices = Devices::of(cx)?;
        let mut changed = Changed::No;
        let mut keys = 0;
        for_each_graph(module, Which::Whole, |ctx, outer, op| {
            let Some(body) = outer.isolated_mut(op) else {
                return Ok(());
            };
            let (_, moved) = place(ctx, body, &devices)?;
            let names = device_names(ctx, body);
            cx.count("moved", moved);
            let graph = read(ctx, body)?;
            let plan = Plan::new(ctx, body, &graph, &mut keys)?;
            cx.count("messages", plan.messages.len());
            let bodies = build::build(ctx, body, &plan, devices.count);
            build::replace(ctx, outer, op, bodies, &names);
            changed = Changed::Yes;
            Ok(())
        })?;
        Ok(changed)
    }
}
