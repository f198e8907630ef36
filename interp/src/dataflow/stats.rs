//! Execution statistics.

use std::collections::BTreeMap;

use super::compile::NONE;
use super::device::Device;
use super::shared::{Rest, Shared};

/// The statistics of a run.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Stats {
    /// The number of executions of each operation.
    pub live: BTreeMap<String, u64>,
    /// The number of times that each operation was dead.
    pub dead: BTreeMap<String, u64>,
    /// The devices, in the order of the program.
    pub devices: Vec<DeviceStats>,
    /// The peak size of the values in host memory, which were pushed with `swap`.
    pub peak_host_bytes: u64,
    /// The peak size of messages in flight.
    pub peak_bytes_in_flight: u64,
    /// The peak size of all memory spaces together.
    pub peak_bytes: u64,
    /// Messages that were never received.
    pub unreceived: u64,
}

/// The statistics of a device.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeviceStats {
    /// The attribute `device` of the graph.
    pub device: i64,
    /// The number of executions.
    pub live: u64,
    /// The number of dead operations.
    pub dead: u64,
    /// The peak size of live values.
    pub peak_bytes: u64,
    /// Values pushed on stacks.
    pub pushed_values: u64,
    /// Their bytes.
    pub pushed_bytes: u64,
    /// The peak size of its stacks, in its memory and in that of the host.
    pub peak_stack_bytes: u64,
    /// Live values that were sent to other devices.
    pub sent_values: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// The frames of its graph, in the order of the program.
    pub frames: Vec<FrameStats>,
}

/// The statistics of a frame.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct FrameStats {
    /// Its name.
    pub name: String,
    /// The number of frames around it.
    pub depth: usize,
    /// How often it was entered, including by dead values.
    pub entered: u64,
    /// The number of iterations, including the last ones, in which the condition is false.
    pub iterations: u64,
    /// The maximal number of concurrent iterations.
    pub most_at_once: u64,
}

pub(super) fn collect(devices: &[Device<'_>], shared: &Shared, counters: &[String], rest: &Rest) -> Stats {
    let (spaces, total) = shared.spaces.peaks();
    let mut stats = Stats {
        peak_bytes: total,
        unreceived: rest.unreceived,
        ..Stats::default()
    };
    if let [.., host, in_flight] = spaces.as_slice() {
        (stats.peak_host_bytes, stats.peak_bytes_in_flight) = (*host, *in_flight);
    }
    for (device, peak) in devices.iter().zip(spaces) {
        let counts = &device.counts;
        for (all, counted) in [(&mut stats.live, &counts.live), (&mut stats.dead, &counts.dead)] {
            for (name, count) in counters.iter().zip(counted) {
                if *count > 0 {
                    *all.entry(name.clone()).or_default() += count;
                }
            }
        }
        let frames = device.graph.frames.iter().zip(&counts.frames);
        let frames = frames.filter(|(frame, _)| frame.parent != NONE);
        stats.devices.push(DeviceStats {
            device: device.graph.device,
            live: counts.live.iter().sum(),
            dead: counts.dead.iter().sum(),
            peak_bytes: peak,
            pushed_values: counts.pushed_values,
            pushed_bytes: counts.pushed_bytes,
            peak_stack_bytes: counts.peak_stack_bytes,
            sent_values: counts.sent_values,
            sent_bytes: counts.sent_bytes,
            frames: frames
                .map(|(frame, counts)| FrameStats {
                    name: frame.name.clone(),
                    depth: frame.depth - 1,
                    entered: counts.entered,
                    iterations: counts.iterations,
                    most_at_once: counts.most_at_once,
                })
                .collect(),
        });
    }
    stats
}
