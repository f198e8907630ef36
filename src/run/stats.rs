//! The counts of a run as JSON.

use pir_interp::exec::{LoopStats, Stats};
use serde_json::{Value, json};

/// An object, with a line break at the end.
pub(super) fn to_json(stats: &Stats) -> String {
    let value = json!({
        "executions": stats.executions,
        "pushed_values": stats.pushed_values,
        "pushed_bytes": stats.pushed_bytes,
        "peak_stack_bytes": stats.peak_stack_bytes,
        "loops": stats.loops.iter().map(loop_to_json).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn loop_to_json(stats: &LoopStats) -> Value {
    json!({
        "op": stats.op,
        "name": stats.name,
        "depth": stats.depth,
        "entered": stats.entered,
        "iterations": stats.iterations,
        "trip_counts": stats.trip_counts,
        "pushed_values": stats.pushed_values,
        "pushed_bytes": stats.pushed_bytes,
        "values_per_iteration": stats.values_per_iteration(),
        "bytes_per_iteration": stats.bytes_per_iteration(),
    })
}
