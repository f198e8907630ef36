//! Counts of a run.

use std::collections::BTreeMap;

use super::compile::NONE;
use super::device::Device;
use super::shared::{Rest, Shared};

/// What was counted in a run.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Stats {
    /// How often operations were executed, by name.
    pub live: BTreeMap<String, u64>,
    /// How often they were passed over because they were dead, by name.
    pub dead: BTreeMap<String, u64>,
    /// The devices, in the order of the program.
    pub devices: Vec<DeviceStats>,
    /// The most bytes that were live at one time in host memory: what was pushed with `swap`.
    pub peak_host_bytes: u64,
    /// The most bytes that were on their way between devices at one time.
    pub peak_bytes_in_flight: u64,
    /// The most bytes that were live at one time in all memory spaces together.
    pub peak_bytes: u64,
    /// Messages that nobody asked for.
    pub unreceived: u64,
}

/// What was counted on one device.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeviceStats {
    /// The attribute `device` of the graph.
    pub device: i64,
    /// How many operations were executed.
    pub live: u64,
    /// How many were passed over because they were dead.
    pub dead: u64,
    /// The most bytes that were live at one time.
    pub peak_bytes: u64,
    /// Values pushed on stacks.
    pub pushed_values: u64,
    /// Their bytes.
    pub pushed_bytes: u64,
    /// The most bytes that its stacks held at one time, in its own memory and in that of the host.
    pub peak_stack_bytes: u64,
    /// Live values that were sent to other devices.
    pub sent_values: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// The frames of its graph, in the order of the program.
    pub frames: Vec<FrameStats>,
}

/// What was counted of one frame.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct FrameStats {
    /// Its name.
    pub name: String,
    /// How many frames it is in.
    pub depth: usize,
    /// How often it was entered, by dead values too.
    pub entered: u64,
    /// How many iterations began, the last ones included, in which the condition does not hold.
    pub iterations: u64,
    /// How many of them were under way at one time, at most.
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
