//! Counts of a run.

use std::collections::BTreeMap;

/// What was counted in a run.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Stats {
    /// How often each operation was executed, by name.
    pub executions: BTreeMap<String, u64>,
    /// Values pushed on stacks.
    pub pushed_values: u64,
    /// Their bytes; handles of stacks have none.
    pub pushed_bytes: u64,
    /// The most bytes that stacks held at one time.
    pub peak_stack_bytes: u64,
    /// The loops, in the order of the program.
    pub loops: Vec<LoopStats>,
}

/// What was counted of one loop.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct LoopStats {
    /// The name of the operation.
    pub op: String,
    /// The name of its first result, if it has one.
    pub name: Option<String>,
    /// How many loops it is nested in.
    pub depth: usize,
    /// How often it was entered.
    pub entered: u64,
    /// How often its body ran, in all.
    pub iterations: u64,
    /// How often its body ran, each time that it was entered; the first thousand times.
    pub trip_counts: Vec<u64>,
    /// Values pushed in its regions, those in inner loops not counted.
    pub pushed_values: u64,
    /// Their bytes.
    pub pushed_bytes: u64,
}

impl LoopStats {
    /// Bytes pushed for each iteration.
    pub fn bytes_per_iteration(&self) -> f64 {
        if self.iterations == 0 {
            0.0
        } else {
            self.pushed_bytes as f64 / self.iterations as f64
        }
    }

    /// Values pushed for each iteration.
    pub fn values_per_iteration(&self) -> f64 {
        if self.iterations == 0 {
            0.0
        } else {
            self.pushed_values as f64 / self.iterations as f64
        }
    }
}
