//! Rules about what is alive when: pivots, and the results of branches.
//!
//! # Algorithm
//! In an order in which inputs come first, each node gets a *guard*: the switches that must have gone its way, as a list
//! from the outermost one to the innermost one, of which lists that start alike share what they have in common. A node
//! has the longest guard of its inputs, and a merge what all of its operands have in common. The guard of what leaves a
//! loop is that of what enters it. What another device sends has a guard that is not known.

use rustc_hash::FxHashMap;

use super::Rules;
use crate::df::graph::{Kind, Node, Source};

/// What is alive with nothing required.
const ALWAYS: u32 = 0;
/// Nothing is known.
const UNKNOWN: u32 = u32::MAX;

/// All guards.
struct Guards {
    /// The guard that each goes on from, and its length.
    all: Vec<(u32, u32)>,
    known: FxHashMap<(u32, Source, u32), u32>,
    /// How many steps may still be taken to compare guards: a graph may be made to need too many.
    budget: usize,
}

impl Guards {
    fn depth(&self, guard: u32) -> u32 {
        self.all.get(guard as usize).map_or(0, |g| g.1)
    }

    /// The guard that goes on with one side of a switch.
    fn side(&mut self, guard: u32, pred: Source, side: u32) -> u32 {
        if guard == UNKNOWN {
            return UNKNOWN;
        }
        let depth = self.depth(guard) + 1;
        let next = self.all.len() as u32;
        let all = &mut self.all;
        *self.known.entry((guard, pred, side)).or_insert_with(|| {
            all.push((guard, depth));
            next
        })
    }

    fn longest(&self, a: u32, b: u32) -> u32 {
        match (a, b) {
            (UNKNOWN, _) | (_, UNKNOWN) => UNKNOWN,
            _ if self.depth(b) > self.depth(a) => b,
            _ => a,
        }
    }

    /// What two guards have in common.
    fn common(&mut self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if a == UNKNOWN || b == UNKNOWN || self.budget == 0 {
                return UNKNOWN;
            }
            self.budget -= 1;
            let longer = if self.depth(a) >= self.depth(b) { &mut a } else { &mut b };
            *longer = self.all.get(*longer as usize).map_or(ALWAYS, |g| g.0);
        }
        a
    }
}

impl Rules<'_> {
    /// What is there in every iteration must not run in the one in which the loop ends.
    pub(super) fn constants(&mut self) {
        let graph = self.graph;
        let mut constant = vec![false; graph.len()];
        for &node in graph.order() {
            let kind = graph.kind(node);
            constant[node.index()] = match kind {
                Kind::Enter => graph.is_constant_enter(node),
                // Outside of all loops there is but one iteration; a message is told apart by what receives it.
                Kind::Recv | Kind::Merge => false,
                _ => {
                    let data = graph.inputs(node).iter().map(|s| s.node);
                    graph.depth(graph.frame_of(node)) > 0
                        && data
                            .chain(graph.controls(node).iter().copied())
                            .all(|n| constant[n.index()])
                }
            };
            let all_inputs = || {
                let data = graph.inputs(node).iter().map(|s| s.node);
                data.chain(graph.controls(node).iter().copied())
                    .all(|n| constant[n.index()])
            };
            let wrong = match kind {
                Kind::Send => false,
                // Constants do not start a loop by themselves.
                Kind::Enter if graph.is_constant_enter(node) => false,
                Kind::Enter => graph.depth(graph.frame_of(node)) > 0 && all_inputs(),
                _ => constant[node.index()],
            };
            if wrong {
                let message = format!(
                    "all operands of `{}` are there in every iteration of {}: it runs even in the one in which the loop ends",
                    self.name(node),
                    self.frame(graph.frame_of(node))
                );
                let help = "add `df.control` from the pivot: the merge of a variable in the condition, in the body \
                            `df.identity` of what a switch gives if the loop goes on";
                self.error(node, "constant-pivot", message, "needs a control edge", help);
                // Once is enough.
                if kind != Kind::Enter {
                    constant[node.index()] = false;
                }
            }
        }
    }

    /// What branches give is alive on one side only.
    pub(super) fn branches(&mut self) {
        let graph = self.graph;
        let mut guards = Guards {
            all: vec![(ALWAYS, 0)],
            known: FxHashMap::default(),
            budget: 16 * graph.len() + 1024,
        };
        let mut of: Vec<u32> = vec![ALWAYS; graph.len()];
        let mut entered: Vec<u32> = vec![ALWAYS; graph.frames().len()];
        for &node in graph.order() {
            let mut inputs: Vec<u32> = Vec::with_capacity(graph.inputs(node).len());
            for (input, &source) in (0_u32..).zip(graph.inputs(node)) {
                if graph.is_back_edge(node, input) {
                    continue;
                }
                let guard = of[source.node.index()];
                let pred = graph.inputs(source.node).get(1).copied();
                inputs.push(match (graph.kind(source.node), pred) {
                    (Kind::Switch, Some(pred)) => guards.side(guard, pred, source.output),
                    _ => guard,
                });
            }
            of[node.index()] = match graph.kind(node) {
                Kind::Recv => UNKNOWN,
                Kind::Merge if graph.is_loop_merge(node) => ALWAYS,
                Kind::Merge => self.merged(node, &inputs, &mut guards),
                kind => {
                    let data = inputs.iter().fold(ALWAYS, |a, &b| guards.longest(a, b));
                    // The control edges of a switch are always alive.
                    let controls = graph.controls(node).iter().filter(|&&n| graph.kind(n) != Kind::Switch);
                    let guard = controls.fold(data, |a, &n| guards.longest(a, of[n.index()]));
                    match kind {
                        Kind::Enter => {
                            let frame = graph.output_frame(node).index();
                            entered[frame] = guards.longest(entered[frame], guard);
                            ALWAYS
                        }
                        Kind::Exit => entered[graph.frame_of(node).index()],
                        _ => guard,
                    }
                }
            };
        }
    }

    fn merged(&mut self, node: Node, inputs: &[u32], guards: &mut Guards) -> u32 {
        let Some((&first, others)) = inputs.split_first() else {
            return ALWAYS;
        };
        let common = others.iter().fold(first, |a, &b| guards.common(a, b));
        if common == UNKNOWN || others.is_empty() {
            return common;
        }
        if let Some(at) = inputs.iter().position(|&guard| guard == common) {
            let value = self
                .graph
                .inputs(node)
                .get(at)
                .map(|&s| self.value(s))
                .unwrap_or_default();
            let message =
                format!("{value} is alive whichever way the branch goes: which operand the merge hands on is chance");
            let help = "let what a branch gives pass through a `df.switch` by its predicate; give a constant a control edge \
                        from the pivot of the branch";
            self.error(node, "merge-gate", message, "merged here", help);
        }
        common
    }
}
