//! Running programs as dataflow graphs.

use pir_dialects::df;
use std::io::Write;

use pir_interp::dataflow::{self, Event, FrameStats, Outcome, Schedule, Stats};
use pir_interp::{ExecError, Options};
use pir_ir::{Diagnostic, Module};
use pir_passes::{PassManager, Pipeline};
use serde_json::{Value, json};

use super::Args;
use crate::evaluate::KernelEvaluator;
use crate::output::write_output;

/// Converts a program to one graph per device, unless it already consists of graphs.
pub(super) fn prepare(module: &mut Module, devices: u32) -> Result<(), Vec<Diagnostic>> {
    let mut graphs = 0;
    module.for_each_body(|body| {
        let ops = body.walk_all();
        graphs += ops.filter(|&op| body.view(&module.ctx, op).name() == df::GRAPH).count();
    });
    let mut pipeline = Vec::new();
    if graphs == 0 {
        pipeline.push("lower-to-dataflow".to_owned());
    }
    if devices > 1 {
        if graphs > 1 {
            return match graphs == devices as usize {
                true => Ok(()),
                false => Err(vec![
                    Diagnostic::error(
                        "devices",
                        format!("the program has graphs for {graphs} devices, not {devices}"),
                    )
                    .help("use `--dataflow` without a number"),
                ]),
            };
        }
        pipeline.push(format!("partition{{devices={devices}}}"));
    }
    if pipeline.is_empty() {
        return Ok(());
    }
    let parsed = Pipeline::parse(&pipeline.join(","))?;
    let evaluator = KernelEvaluator;
    let mut manager = PassManager::new();
    manager.set_evaluator(&evaluator);
    manager.run(module, &parsed).map(|_| ())
}

pub(super) fn run(module: &Module, args: &Args, options: &Options, out: &mut dyn Write) -> Result<Outcome, Diagnostic> {
    let schedule = Schedule {
        seed: args.schedule_seed,
        threads: false,
        trace: args.trace.is_some(),
        count_memory: args.stats,
        // A seed is for finding out whether the order of nodes matters.
        by_node: args.schedule_seed.is_some(),
    };
    dataflow::run(module, options, &schedule, out).map_err(ExecError::into_diagnostic)
}

/// Warnings about fetches of dead values.
pub(super) fn warnings(outcome: &Outcome) -> Vec<Diagnostic> {
    let warn = |name: &String| {
        Diagnostic::warning(
            "dead-fetch",
            format!("`{name}` has no value: it is on a branch that was not taken"),
        )
        .help("fetch the result of the `df.merge` that joins both branches")
    };
    outcome.dead.iter().map(warn).collect()
}

/// An object, with a line break at the end.
pub(super) fn to_json(stats: &Stats) -> String {
    let devices = stats.devices.iter().map(|device| {
        json!({
            "device": device.device,
            "live": device.live,
            "dead": device.dead,
            "peak_bytes": device.peak_bytes,
            "pushed_values": device.pushed_values,
            "pushed_bytes": device.pushed_bytes,
            "peak_stack_bytes": device.peak_stack_bytes,
            "sent_values": device.sent_values,
            "sent_bytes": device.sent_bytes,
            "frames": device.frames.iter().map(frame_to_json).collect::<Vec<_>>(),
        })
    });
    let value = json!({
        "executions": stats.live,
        "dead_executions": stats.dead,
        "live": stats.devices.iter().map(|device| device.live).sum::<u64>(),
        "dead": stats.devices.iter().map(|device| device.dead).sum::<u64>(),
        "peak_bytes": stats.peak_bytes,
        "peak_host_bytes": stats.peak_host_bytes,
        "peak_bytes_in_flight": stats.peak_bytes_in_flight,
        "unreceived": stats.unreceived,
        "devices": devices.collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn frame_to_json(frame: &FrameStats) -> Value {
    json!({
        "name": frame.name,
        "depth": frame.depth,
        "entered": frame.entered,
        "iterations": frame.iterations,
        "most_at_once": frame.most_at_once,
    })
}

/// Writes an execution trace for `chrome://tracing` and Perfetto: a row per device, arrows for messages.
pub(super) fn write_trace(path: &str, events: &[(i64, Vec<Event>)]) -> Result<(), Diagnostic> {
    write_output(Some(path), |out| {
        out.write_all(b"{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n")?;
        let mut separator = "";
        let mut write = |value: Value| {
            let result = write!(out, "{separator}{value}");
            separator = ",\n";
            result
        };
        for (device, events) in events {
            write(json!({
                "name": "thread_name", "ph": "M", "pid": 0, "tid": device,
                "args": {"name": format!("device {device}")},
            }))?;
            for event in events {
                write(event_to_json(*device, event))?;
                if let Some(message) = event.message {
                    // An arrow starts and ends in the slice that contains its time.
                    write(json!({
                        "name": "message", "cat": "message", "pid": 0, "tid": device,
                        "ph": if message.sends { "s" } else { "f" },
                        "bp": "e",
                        "id": format!("{:x}", message.id),
                        "ts": micros(event.begin + event.duration / 2),
                    }))?;
                }
            }
        }
        out.write_all(b"\n]}\n")
    })
}

fn micros(time: std::time::Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

fn event_to_json(device: i64, event: &Event) -> Value {
    json!({
        "name": event.node.replace('`', ""),
        "cat": if event.dead { "dead" } else { "live" },
        "ph": "X",
        "pid": 0,
        "tid": device,
        "ts": micros(event.begin),
        "dur": micros(event.duration),
        "args": {
            "frame": &*event.frame,
            "iteration": event.iteration,
            "dead": event.dead,
        },
    })
}
