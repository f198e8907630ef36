//! Rules about liveness: pivots, and the results of branches.
//!
//! # Algorithm
//! In topological order, each node gets a *guard*: the switch sides that must have been taken for it to be live, as a
//! list from the outermost to the innermost one; lists with a common prefix share it. A node requires the guards of all
//! of its inputs, a merge the common prefix of its operands' guards. The guard of a value that leaves a loop is that of
//! the values that enter it. The guard of a received value is unknown.
//!
//! A predicate is identified by the value that computes it: `df.identity`, switches and constant enters forward it,
//! `pd.logical_not` negates it. Two operands of a merge exclude each other if they require opposite values of some
//! predicate. Predicates from other devices may coincide: these are not reported here, and the executor stops if two
//! operands are live.

use crate::pd;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Rules;
use crate::df::graph::{Node, NodeKind, Source};

/// The guard of values that are always live.
const ALWAYS: u32 = 0;
/// An unknown guard.
const UNKNOWN: u32 = u32::MAX;

/// The value that computes a predicate, and whether the predicate is its negation.
type Pred = (Source, bool);

/// A predicate and its required value.
type Condition = (Source, bool);

/// A guard: its prefix, its length, and its last condition.
type Link = (u32, u32, Option<Condition>);

/// All guards.
struct Guards {
    all: Vec<Link>,
    known: FxHashMap<(u32, Condition), u32>,
    /// The remaining steps for comparing guards: a graph may be constructed to need too many.
    budget: usize,
}

impl Guards {
    fn depth(&self, guard: u32) -> u32 {
        self.all.get(guard as usize).map_or(0, |g| g.1)
    }

    fn parent(&self, guard: u32) -> u32 {
        self.all.get(guard as usize).map_or(ALWAYS, |g| g.0)
    }

    /// Extends a guard with a condition.
    fn with(&mut self, guard: u32, condition: Condition) -> u32 {
        if guard == UNKNOWN {
            return UNKNOWN;
        }
        let depth = self.depth(guard) + 1;
        let next = self.all.len() as u32;
        let all = &mut self.all;
        *self.known.entry((guard, condition)).or_insert_with(|| {
            all.push((guard, depth, Some(condition)));
            next
        })
    }

    /// The common prefix of two guards.
    fn shared(&mut self, mut a: u32, mut b: u32) -> u32 {
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

    /// The conditions of a guard after a prefix, the outermost first.
    fn behind(&self, mut guard: u32, start: u32) -> Vec<Condition> {
        let mut conditions = Vec::new();
        while guard != start && guard != ALWAYS {
            conditions.extend(self.all.get(guard as usize).and_then(|g| g.2));
            guard = self.parent(guard);
        }
        conditions.reverse();
        conditions
    }

    /// The conjunction of two guards.
    fn both(&mut self, a: u32, b: u32) -> u32 {
        let shared = self.shared(a, b);
        if shared == UNKNOWN || shared == b {
            return if shared == UNKNOWN { UNKNOWN } else { a };
        }
        let has: FxHashSet<Condition> = self.behind(a, shared).into_iter().collect();
        let more = self.behind(b, shared);
        more.into_iter()
            .filter(|c| !has.contains(c))
            .fold(a, |guard, c| self.with(guard, c))
    }

    /// The conditions that two guards have in common.
    fn common(&mut self, a: u32, b: u32) -> u32 {
        let shared = self.shared(a, b);
        if shared == UNKNOWN || shared == a || shared == b {
            return shared;
        }
        let has: FxHashSet<Condition> = self.behind(b, shared).into_iter().collect();
        let all = self.behind(a, shared);
        all.into_iter()
            .filter(|c| has.contains(c))
            .fold(shared, |guard, c| self.with(guard, c))
    }

    /// Whether two guards require opposite values of some predicate; `None` if that is unknown.
    fn exclude(&mut self, a: u32, b: u32, is_foreign: impl Fn(Source) -> bool) -> Option<bool> {
        let shared = self.shared(a, b);
        if shared == UNKNOWN {
            return None;
        }
        let (mine, theirs) = (self.behind(a, shared), self.behind(b, shared));
        let has: FxHashSet<Condition> = mine.iter().copied().collect();
        if theirs.iter().any(|&(pred, side)| has.contains(&(pred, !side))) {
            return Some(true);
        }
        let foreign = mine.iter().chain(&theirs).any(|&(pred, _)| is_foreign(pred));
        (!foreign).then_some(false)
    }
}

impl Rules<'_> {
    /// A value that is available in every iteration must not be used by an operation that would then run in the last
    /// one, too.
    pub(super) fn constants(&mut self) {
        let graph = self.graph;
        let mut constant = vec![false; graph.len()];
        for &node in graph.order() {
            let kind = graph.kind(node);
            constant[node.index()] = match kind {
                NodeKind::Enter => graph.is_constant_enter(node),
                // Outside of loops there is a single iteration; a message is identified by its receiver.
                NodeKind::Recv | NodeKind::Merge => false,
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
                NodeKind::Send => false,
                // Constant enters do not start a loop.
                NodeKind::Enter if graph.is_constant_enter(node) => false,
                NodeKind::Enter => graph.depth(graph.frame_of(node)) > 0 && all_inputs(),
                _ => constant[node.index()],
            };
            if wrong {
                let message = format!(
                    "all operands of `{}` are available in every iteration of {}, including the last one, in which \
                     the loop ends",
                    self.name(node),
                    self.frame(graph.frame_of(node))
                );
                let help = "add a `df.control` from the pivot: in the condition, the merge of a variable; in the \
                            body, a `df.identity` of the second result of a switch";
                self.error(node, "constant-pivot", message, "needs a control edge", help);
                // One report suffices.
                if kind != NodeKind::Enter {
                    constant[node.index()] = false;
                }
            }
        }
    }

    /// The results of branches are live on one side only.
    pub(super) fn branches(&mut self) {
        let graph = self.graph;
        let mut guards = Guards {
            all: vec![(ALWAYS, 0, None)],
            known: FxHashMap::default(),
            budget: 16 * graph.len() + 1024,
        };
        let mut of: Vec<u32> = vec![ALWAYS; graph.len()];
        let mut entered: Vec<u32> = vec![ALWAYS; graph.frames().len()];
        let preds = self.predicates();
        for &node in graph.order() {
            let mut inputs: Vec<u32> = Vec::with_capacity(graph.inputs(node).len());
            for (input, &source) in (0_u32..).zip(graph.inputs(node)) {
                if graph.is_back_edge(node, input) {
                    continue;
                }
                let guard = of[source.node.index()];
                let pred = graph.inputs(source.node).get(1);
                inputs.push(match (graph.kind(source.node), pred) {
                    (NodeKind::Switch, Some(&pred)) => {
                        let (pred, negated) = resolved(&preds, pred);
                        guards.with(guard, (pred, (source.output == 1) != negated))
                    }
                    _ => guard,
                });
            }
            of[node.index()] = match graph.kind(node) {
                NodeKind::Recv => UNKNOWN,
                NodeKind::Merge if graph.is_loop_merge(node) => ALWAYS,
                NodeKind::Merge => self.merged(node, &inputs, &mut guards),
                kind => {
                    let data = inputs.iter().fold(ALWAYS, |a, &b| guards.both(a, b));
                    // Control edges of a switch are always live.
                    let controls = graph
                        .controls(node)
                        .iter()
                        .filter(|&&n| graph.kind(n) != NodeKind::Switch);
                    let guard = controls.fold(data, |a, &n| guards.both(a, of[n.index()]));
                    match kind {
                        NodeKind::Enter => {
                            let frame = graph.output_frame(node).index();
                            entered[frame] = guards.both(entered[frame], guard);
                            ALWAYS
                        }
                        NodeKind::Exit => entered[graph.frame_of(node).index()],
                        _ => guard,
                    }
                }
            };
        }
    }

    /// The predicates of forwarded values; other values are their own predicates.
    fn predicates(&self) -> FxHashMap<Source, Pred> {
        let graph = self.graph;
        let mut preds: FxHashMap<Source, Pred> = FxHashMap::default();
        for &node in graph.order() {
            let (operand, results, negates) = match graph.kind(node) {
                NodeKind::Identity | NodeKind::LoopCond => (0, 1, false),
                NodeKind::Enter if graph.is_constant_enter(node) => (0, 1, false),
                NodeKind::Push => (1, 1, false),
                // Each result of a switch is the data value, where it is live.
                NodeKind::Switch => (0, 2, false),
                NodeKind::Ordinary if self.name(node) == pd::Assign::NAME => (0, 1, false),
                NodeKind::Ordinary if self.name(node) == pd::LogicalNot::NAME => (0, 1, true),
                _ => continue,
            };
            let Some(&from) = graph.inputs(node).get(operand) else {
                continue;
            };
            let (pred, negated) = resolved(&preds, from);
            for output in 0..results {
                preds.insert(Source { node, output }, (pred, negated != negates));
            }
        }
        preds
    }

    fn merged(&mut self, node: Node, inputs: &[u32], guards: &mut Guards) -> u32 {
        let Some((&first, others)) = inputs.split_first() else {
            return ALWAYS;
        };
        let common = others.iter().fold(first, |a, &b| guards.common(a, b));
        if common == UNKNOWN || others.is_empty() {
            return common;
        }
        let graph = self.graph;
        let spelled = |rules: &Self, at: usize| graph.inputs(node).get(at).map(|&s| rules.value(s)).unwrap_or_default();
        let help = "pass the value of a branch through a `df.switch` by its predicate; give a constant a control edge \
                     from the pivot of the branch";
        if let Some(at) = inputs.iter().position(|&guard| guard == common) {
            let value = spelled(self, at);
            let message = format!(
                "{value} is live on both sides of the branch, so the operand that the merge forwards is undetermined"
            );
            self.error(node, "merge-gate", message, "merged here", help);
            return common;
        }
        let foreign = |pred: Source| graph.kind(pred.node) == NodeKind::Recv;
        let pairs = (1..inputs.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        for (a, b) in pairs {
            if guards.exclude(inputs[a], inputs[b], foreign) == Some(false) {
                let (x, y) = (spelled(self, a), spelled(self, b));
                let message = format!(
                    "{x} and {y} may both be live or both be dead: no predicate distinguishes them, so the operand \
                     that the merge forwards is undetermined"
                );
                let help = "a merge joins the two sides of one switch, or of switches by the same predicate";
                self.error(node, "merge-gate", message, "merged here", help);
                break;
            }
            if guards.budget == 0 {
                break;
            }
        }
        common
    }
}

/// Resolves a predicate through forwarding.
fn resolved(preds: &FxHashMap<Source, Pred>, source: Source) -> Pred {
    preds.get(&source).copied().unwrap_or((source, false))
}
