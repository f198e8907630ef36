//! Timing: a tree of stages and passes.

use std::fmt::Write;
use std::time::{Duration, Instant};

use pir_ir::Module;
use pir_passes::{Invocation, Observer, Ran};
use rustc_hash::FxHashMap;

/// A stage with its nested stages.
#[derive(Debug)]
struct Node {
    name: String,
    time: Duration,
    children: Vec<usize>,
}

/// A stage in progress.
#[derive(Debug)]
struct Open {
    node: usize,
    start: Instant,
    /// How often each name has occurred in it: the second `cse` of a pipeline is separate from the first.
    seen: FxHashMap<String, usize>,
}

/// The times of a run. For several programs, those of the same stage are added up.
#[derive(Debug)]
pub struct Times {
    nodes: Vec<Node>,
    open: Vec<Open>,
    start: Instant,
}

impl Default for Times {
    fn default() -> Self {
        Times::new()
    }
}

impl Times {
    /// Starts the clock.
    pub fn new() -> Self {
        let root = Node {
            name: "total".to_owned(),
            time: Duration::ZERO,
            children: Vec::new(),
        };
        let start = Instant::now();
        let mut times = Times {
            nodes: vec![root],
            open: Vec::new(),
            start,
        };
        times.next_program();
        times
    }

    /// Starts the next program.
    pub fn next_program(&mut self) {
        self.open.clear();
        self.open.push(Open {
            node: 0,
            start: self.start,
            seen: FxHashMap::default(),
        });
    }

    /// Measures `f` as a stage.
    pub fn stage<R>(&mut self, name: &str, f: impl FnOnce(&mut Self) -> R) -> R {
        let depth = self.open.len();
        self.begin(name);
        let result = f(self);
        // A failed pass leaves its stages open.
        while self.open.len() > depth {
            self.end();
        }
        result
    }

    fn begin(&mut self, name: &str) {
        let node = self.node(name);
        self.open.push(Open {
            node,
            start: Instant::now(),
            seen: FxHashMap::default(),
        });
    }

    fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            self.nodes[open.node].time += open.start.elapsed();
        }
    }

    /// The next node of this name in the open stage.
    fn node(&mut self, name: &str) -> usize {
        let Some(open) = self.open.last_mut() else { return 0 };
        let nth = open.seen.entry(name.to_owned()).or_default();
        let (parent, at) = (open.node, *nth);
        *nth += 1;
        let same = |&&node: &&usize| self.nodes[node].name == name;
        if let Some(&node) = self.nodes[parent].children.iter().filter(same).nth(at) {
            return node;
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            name: name.to_owned(),
            time: Duration::ZERO,
            children: Vec::new(),
        });
        self.nodes[parent].children.push(node);
        node
    }

    /// The table.
    pub fn report(&mut self) -> String {
        self.nodes[0].time = self.start.elapsed();
        let total = self.nodes[0].time.as_secs_f64().max(1e-9);
        let mut text = String::from("timing: seconds and percent of the total\n");
        let mut line = |depth: usize, node: &Node| {
            let seconds = node.time.as_secs_f64();
            let percent = 100.0 * seconds / total;
            // Writing to a string does not fail.
            let _ = writeln!(text, "{seconds:11.4} {percent:6.1}%  {:2$}{}", "", node.name, 2 * depth);
        };
        let mut pending: Vec<(usize, usize)> = self.nodes[0].children.iter().rev().map(|&n| (0, n)).collect();
        while let Some((depth, at)) = pending.pop() {
            let node = &self.nodes[at];
            line(depth, node);
            pending.extend(node.children.iter().rev().map(|&n| (depth + 1, n)));
        }
        line(0, &self.nodes[0]);
        text
    }
}

impl Observer for Times {
    fn enter(&mut self, invocation: &Invocation) {
        self.begin(&invocation.to_string());
    }

    fn leave(&mut self) {
        self.end();
    }

    fn after(&mut self, invocation: &Invocation, _: &Module, ran: &Ran) {
        let name = match &*invocation.path {
            [] => invocation.to_string(),
            path => format!("{}({invocation})", path.join("(")) + &")".repeat(path.len() - 1),
        };
        let node = self.node(&name);
        self.nodes[node].time += ran.time;
    }

    fn verified(&mut self, _: &Invocation, time: Duration) {
        // All verifications in a stage share one node.
        if let Some(open) = self.open.last_mut() {
            open.seen.remove(VERIFY);
        }
        let node = self.node(VERIFY);
        self.nodes[node].time += time;
    }
}

const VERIFY: &str = "verify each";

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of a report, with their blanks.
    fn names(report: &str) -> Vec<String> {
        report
            .lines()
            .skip(1)
            .map(|line| line.split_once("%  ").unwrap().1.to_owned())
            .collect()
    }

    #[test]
    fn stages_form_a_tree_and_add_up() {
        let mut times = Times::new();
        for _ in 0..2 {
            times.next_program();
            times.stage("parse", |_| ());
            times.stage("passes", |times| {
                times.stage("cse", |_| std::thread::sleep(Duration::from_millis(2)));
                times.stage("backward", |times| times.stage("cse", |_| ()));
                times.stage("cse", |_| ());
            });
        }
        let report = times.report();
        assert_eq!(
            names(&report),
            ["parse", "passes", "  cse", "  backward", "    cse", "  cse", "total"]
        );
        let seconds: f64 = report
            .lines()
            .nth(3)
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(seconds >= 0.004, "{report}");
        assert!(report.lines().last().unwrap().contains(" 100.0%  total"), "{report}");
    }
}
