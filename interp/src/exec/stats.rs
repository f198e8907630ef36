//! Execution statistics.

use std::collections::BTreeMap;

/// The statistics of a run.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Stats {
    /// The number of executions of each operation.
    pub executions: BTreeMap<String, u64>,
    /// Values pushed on stacks.
    pub pushed_values: u64,
    /// Their size; handles of stacks have none.
    pub pushed_bytes: u64,
    /// The peak size of the stacks.
    pub peak_stack_bytes: u64,
    /// The loops, in the order of the program.
    pub loops: Vec<LoopStats>,
}

/// The statistics of a loop.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct LoopStats {
    /// The name of the operation.
    pub op: String,
    /// The name of its first result, if it has one.
    pub name: Option<String>,
    /// The number of enclosing loops.
    pub depth: usize,
    /// How often it was entered.
    pub entered: u64,
    /// The total number of iterations.
    pub iterations: u64,
    /// The trip counts of its first thousand executions.
    pub trip_counts: Vec<u64>,
    /// Values pushed in its regions, not counting inner loops.
    pub pushed_values: u64,
    /// Their size.
    pub pushed_bytes: u64,
}

/// The number of trip counts kept per loop.
const MAX_TRIP_COUNTS: usize = 1000;

impl LoopStats {
    /// Counts an iteration, of the innermost of the active loops with these trip counts.
    pub(super) fn begin_iteration(&mut self, trips: &mut [u64]) {
        self.iterations += 1;
        if let Some(trips) = trips.last_mut() {
            *trips += 1;
        }
    }

    /// Ends the innermost of the active loops with these trip counts.
    pub(super) fn leave(&mut self, trips: &mut Vec<u64>) {
        let trips = trips.pop().unwrap_or_default();
        if self.trip_counts.len() < MAX_TRIP_COUNTS {
            self.trip_counts.push(trips);
        }
    }

    /// Bytes pushed per iteration.
    pub fn bytes_per_iteration(&self) -> f64 {
        if self.iterations == 0 {
            0.0
        } else {
            self.pushed_bytes as f64 / self.iterations as f64
        }
    }

    /// Values pushed per iteration.
    pub fn values_per_iteration(&self) -> f64 {
        if self.iterations == 0 {
            0.0
        } else {
            self.pushed_values as f64 / self.iterations as f64
        }
    }
}
