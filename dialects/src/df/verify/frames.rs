//! Rules about frames: edges across their boundaries, and the structure of loops.

use pir_ir::Sym;
use rustc_hash::FxHashMap;

use super::Rules;
use crate::df::graph::{FrameId, Node, NodeKind, Source};

const CROSS: &str = "values cross the boundary of a frame only through `df.enter` and `df.exit`";

impl Rules<'_> {
    /// Edges stay within a frame.
    pub(super) fn edges(&mut self) {
        let graph = self.graph;
        for node in graph.nodes() {
            let here = graph.frame_of(node);
            for (input, &source) in (0_u32..).zip(graph.inputs(node)) {
                if graph.kind(source.node) == NodeKind::NextIteration && !graph.is_back_edge(node, input) {
                    let message = format!(
                        "`{}` uses a `df.next_iteration`, whose result is only available in the next iteration",
                        self.name(node)
                    );
                    let help = "forward it to the `df.merge` at the head of the loop, and use the result of the merge";
                    self.error(node, "next-iteration-use", message, "here", help);
                } else if graph.output_frame(source.node) != here {
                    self.crossing(node, source);
                }
            }
            for &from in graph.controls(node) {
                if graph.output_frame(from) != here {
                    let message = format!(
                        "a control edge leads from {} to {}",
                        self.frame(graph.output_frame(from)),
                        self.frame(here)
                    );
                    self.error(node, "frame-edge", message, "waits for a node of another frame", CROSS);
                }
            }
        }
    }

    fn crossing(&mut self, node: Node, source: Source) {
        let graph = self.graph;
        let (from, here) = (graph.output_frame(source.node), graph.frame_of(node));
        let constant = graph.inputs(source.node).is_empty() && graph.controls(source.node).is_empty();
        let (value, frame) = (self.value(source), self.frame(here));
        if constant && from == FrameId::ROOT && graph.kind(source.node) == NodeKind::Ordinary {
            let message = format!(
                "`{}` in {frame} uses {value}, which is outside of the frame",
                self.name(node)
            );
            let help = "give the constant a control edge from the pivot of the region, or let it enter through \
                        `df.enter {constant = true}`";
            return self.error(node, "frame-constant", message, "here", help);
        }
        let message = format!(
            "`{}` is in {frame}, but its operand {value} in {}",
            self.name(node),
            self.frame(from)
        );
        self.error(node, "frame-edge", message, "here", CROSS);
    }

    /// The structure of loops.
    pub(super) fn frames(&mut self) {
        let graph = self.graph;
        let mut names: FxHashMap<Sym, FrameId> = FxHashMap::default();
        for frame in graph.frames() {
            let Some(name) = graph.frame_name(frame) else { continue };
            let text = self.frame(frame);
            let Some(&enter) = graph.enters(frame).first() else {
                continue;
            };
            if names.insert(name, frame).is_some() {
                let message = format!("{text} is entered from two frames: two loops have the same name");
                self.error(
                    enter,
                    "frame-unique",
                    message,
                    "also enters it here",
                    "give the frame of each loop a unique name",
                );
            }
            match graph.loop_conds(frame) {
                // A frame with a single iteration needs no loop condition.
                [] if !self.repeats[frame.index()] => {}
                // In a distributed loop, another device may send the condition.
                [] if self.device.is_some() => {}
                [] => {
                    let message = format!("{text} has no `df.loop_cond`, so the loop has no condition");
                    let help = "pass the predicate of the switches through one `df.loop_cond`";
                    self.error(enter, "loop-cond-missing", message, "enters it", help);
                }
                &[_] => {}
                &[_, second, ..] => {
                    let message = format!("{text} has more than one `df.loop_cond`");
                    let help = "a loop has one condition; two loops need frames with different names";
                    self.error(second, "loop-cond-unique", message, "another one", help);
                }
            }
        }
        for node in graph.nodes() {
            self.in_frame(node);
        }
    }

    fn in_frame(&mut self, node: Node) {
        let graph = self.graph;
        let frame = graph.frame_of(node);
        let outside = frame == FrameId::ROOT;
        match graph.kind(node) {
            NodeKind::Exit if outside => {
                let message = "`df.exit` is not in a frame".to_owned();
                self.error(
                    node,
                    "exit-outside",
                    message,
                    "here",
                    "its operand comes from a `df.switch` of a loop",
                );
            }
            NodeKind::Exit => self.exit(node),
            NodeKind::NextIteration if outside => {
                let message = "`df.next_iteration` is in no loop".to_owned();
                let help = "loop-carried values enter through `df.enter`";
                self.error(node, "next-iteration-outside", message, "here", help);
            }
            NodeKind::LoopCond if outside => {
                let message = "`df.loop_cond` is in no loop".to_owned();
                let help = "loop-carried values enter through `df.enter`; a branch needs no `df.loop_cond`";
                self.error(node, "loop-cond-outside", message, "here", help);
            }
            NodeKind::Merge if graph.is_loop_merge(node) => self.loop_merge(node),
            _ => {}
        }
        if outside {
            return;
        }
        if let Some(fed) = self.is_outside(node) {
            let text = self.frame(frame);
            let name = self.name(node).to_owned();
            if fed {
                let message = format!("`{name}` is in {text}: inputs cannot be fed inside of a loop");
                let help = "move it outside of all loops, and let it enter through `df.enter {constant = true}`";
                self.error(node, "frame-feed", message, "here", help);
            } else {
                let message = format!("`{name}` is in {text}: values cannot be fetched inside of a loop");
                let help = "let the value leave through `df.exit` first";
                self.error(node, "frame-fetch", message, "here", help);
            }
        }
    }

    /// An exit reads the side of a switch on which the loop ends.
    fn exit(&mut self, node: Node) {
        let graph = self.graph;
        let Some(&source) = graph.inputs(node).first() else {
            return;
        };
        let by_cond = || {
            let cond = graph.loop_cond(graph.frame_of(node));
            let pred = graph.inputs(source.node).get(1);
            cond.is_none() || pred.map(|p| p.node) == cond
        };
        let reads = graph.kind(source.node) == NodeKind::Switch && source.output == 0 && by_cond();
        if !reads && self.repeats[graph.frame_of(node).index()] {
            let message = format!(
                "`df.exit` must read the first result of a switch by the condition of the loop, not {}",
                self.value(source)
            );
            let help = "with any other value, the loop would be left before it ends, or never";
            self.error(node, "exit-switch", message, "here", help);
        }
    }

    /// A loop merge has one operand from an enter and one from a next-iteration.
    fn loop_merge(&mut self, node: Node) {
        let graph = self.graph;
        let inputs = graph.inputs(node);
        let enters = |s: &&Source| graph.kind(s.node) == NodeKind::Enter && !graph.is_constant_enter(s.node);
        let fits = inputs.len() == 2
            && inputs.iter().filter(enters).count() == 1
            && inputs
                .iter()
                .filter(|s| graph.kind(s.node) == NodeKind::NextIteration)
                .count()
                == 1;
        if !fits {
            let message = "a `df.merge` with a `df.next_iteration` as operand must have one other operand, a `df.enter` that is \
                  not constant";
            let help = "the `df.enter` provides the value of the first iteration, the `df.next_iteration` those of \
                        the others";
            self.error(node, "loop-merge", message.to_owned(), "here", help);
        }
        if !graph.controls(node).is_empty() {
            let message = "the merge at the head of a loop has control edges".to_owned();
            let help = "move the control edges to the `df.enter`: the merge runs in every iteration";
            self.error(
                node,
                "loop-merge-control",
                message,
                "waits for a node other than its operands",
                help,
            );
        }
    }
}
