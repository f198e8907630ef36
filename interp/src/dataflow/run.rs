//! Runs devices as threads, or in turns.

use std::io::Write;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use pir_ir::Module;

use super::compile::{Graph, NodeAction, Setup};
use super::device::Device;
use super::key::Random;
use super::memory::Spaces;
use super::shared::Shared;
use super::trace::Recorder;
use super::{Outcome, Schedule, graphs, report, stats};
use crate::exec::program::Code;
use crate::exec::{ExecError, Options, runnable};

/// Runs the graphs of a program. The output of `pd.print` goes to `out`.
///
/// # Errors
/// The error with its place, or the nodes in a deadlock.
pub fn run(module: &Module, options: &Options, schedule: &Schedule, out: &mut dyn Write) -> Result<Outcome, ExecError> {
    let module = &*runnable(module)?;
    let count_memory = schedule.count_memory || options.max_memory.is_some();
    // Who looks at single nodes shall see them: what runs before what, and which values exist at a time.
    let join = !count_memory && !schedule.trace && !schedule.by_node;
    let mut setup = Setup::new(&module.ctx, options, join);
    let graphs = graphs(module, options.function.as_deref())?;
    let graphs = graphs.iter().map(|graph| setup.graph(graph.body, graph.device));
    let mut graphs: Vec<Graph> = graphs.collect::<Result<_, _>>()?;
    graphs.sort_by_key(|graph| graph.device);
    let spaces = Spaces::new(graphs.len(), options.max_memory, count_memory);
    let mut shared = Shared::new(graphs.len(), options.max_steps, spaces);
    if schedule.threads {
        shared.hurry();
    }
    let shared = shared;
    let (prints, printed) = channel();
    let zero = Instant::now();
    let mut devices: Vec<Device<'_>> = Vec::new();
    for (number, graph) in graphs.iter().enumerate() {
        let mut device = Device::new(number as u32, graph, &shared, &setup.compiler.counters, prints.clone());
        if let Some(seed) = schedule.seed {
            device.shuffle(seed);
        }
        if count_memory {
            device.count_memory();
        }
        device.recorder = schedule.trace.then(|| Recorder::new(zero));
        device.start()?;
        devices.push(device);
    }
    drop(prints);
    match devices.as_mut_slice() {
        devices if devices.len() == 1 || (schedule.seed.is_some() && !schedule.threads) => {
            take_turns(devices, &shared, schedule.seed.unwrap_or(0), &printed, out);
        }
        _ => devices = in_threads(devices, &shared, &printed, out),
    }
    let rest = shared.rest();
    if let Some(error) = rest.error {
        return Err(error);
    }
    if let Some(error) = report::waiting(&devices, &rest, &setup.keys) {
        return Err(error);
    }
    let stats = stats::collect(&devices, &shared, &setup.compiler.counters, &rest);
    let mut outcome = Outcome {
        fetched: Vec::new(),
        dead: Vec::new(),
        stats,
        events: Vec::new(),
    };
    for device in devices {
        let name = |node: u32| match &device.graph.nodes[node as usize].kind {
            NodeAction::Op(Code::Fetch { name, .. }) => name.clone(),
            _ => String::new(),
        };
        let mut fetched = device.fetched;
        fetched.sort_by_key(|&(node, _)| node);
        outcome
            .fetched
            .extend(fetched.into_iter().map(|(node, tensor)| (name(node), tensor)));
        outcome.dead.extend(device.dead_fetches.iter().map(|&node| name(node)));
        if let Some(recorder) = device.recorder {
            outcome.events.push((device.graph.device, recorder.events));
        }
    }
    match (outcome.fetched.is_empty(), outcome.dead.is_empty()) {
        (true, false) => Err(nothing(&outcome.dead)),
        _ => Ok(outcome),
    }
}

/// The error for a program whose outputs were all dead.
fn nothing(dead: &[String]) -> ExecError {
    let names: Vec<String> = dead.iter().take(8).map(|name| format!("`{name}`")).collect();
    let more = if dead.len() > names.len() { ", …" } else { "" };
    ExecError::new(format!(
        "the program has no live output: {}{more} is dead",
        names.join(", ")
    ))
    .help(
        "a dead value comes from a branch that was not taken, or from a merge without a live operand: merge it with \
         the value of the other branch",
    )
}

/// Runs the devices on this thread; each step picks a busy one.
fn take_turns(devices: &mut [Device<'_>], shared: &Shared, seed: u64, printed: &Receiver<String>, out: &mut dyn Write) {
    if let [device] = devices {
        let result = alone(device, printed, out);
        return shared.stop(result.err());
    }
    // A stream other than those by which devices pick their nodes.
    let mut random = Random::new(seed, u64::MAX - 1);
    loop {
        let busy: smallvec::SmallVec<[usize; 8]> = (0..devices.len()).filter(|&at| devices[at].is_busy()).collect();
        if busy.is_empty() {
            return;
        }
        let at = busy[random.below(busy.len())];
        let result = devices[at].step();
        // The output of a segment before it failed is written too.
        let written = write_prints(printed.try_iter(), out);
        if let Err(error) = result.and(written) {
            return shared.stop(Some(error));
        }
    }
}

/// Runs the only device.
fn alone(device: &mut Device<'_>, printed: &Receiver<String>, out: &mut dyn Write) -> Result<(), ExecError> {
    loop {
        let result = device.step();
        // The output of a segment before it failed is written too.
        if std::mem::take(&mut device.has_printed) {
            write_prints(printed.try_iter(), out)?;
        }
        if !result? {
            return Ok(());
        }
    }
}

/// Runs the devices in as many threads. A thread without work runs any device that has some: one thread runs them all where each
/// waits for the others, which costs less than to wake a thread for every message.
fn in_threads<'g>(
    devices: Vec<Device<'g>>,
    shared: &Shared,
    printed: &Receiver<String>,
    out: &mut dyn Write,
) -> Vec<Device<'g>> {
    let devices: Vec<Mutex<Device<'g>>> = devices.into_iter().map(Mutex::new).collect();
    thread::scope(|scope| {
        let devices = &devices;
        let start = |at| scope.spawn(move || work(at, devices, shared));
        let threads: Vec<_> = (0..devices.len()).map(start).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            if let Ok(text) = printed.recv_timeout(std::time::Duration::from_millis(1))
                && let Err(error) = write_prints(std::iter::once(text), out)
            {
                shared.stop(Some(error));
            }
        }
        if let Err(error) = write_prints(printed.try_iter(), out) {
            shared.stop(Some(error));
        }
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let inner = |device: Mutex<Device<'g>>| device.into_inner().unwrap_or_else(PoisonError::into_inner);
    devices.into_iter().map(inner).collect()
}

/// Stops the run if the thread panics: the others would wait forever.
struct Guard<'s>(&'s Shared);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop(None);
        }
    }
}

/// A thread: it runs devices that have work, its own first.
fn work(own: usize, devices: &[Mutex<Device<'_>>], shared: &Shared) {
    let _guard = Guard(shared);
    let all = || (own..devices.len()).chain(0..own);
    while !shared.stopped() {
        let free = |at: usize| devices[at].try_lock().ok();
        let found = all()
            .filter(|&at| shared.has_work(at))
            .find_map(|at| free(at).map(|device| (at, device)));
        match found {
            Some((at, mut device)) => {
                shared.begins(at);
                if let Err(error) = run_device(&mut device, shared) {
                    shared.stop(Some(error));
                }
            }
            None if shared.sleep() => {}
            None => return,
        }
    }
}

/// Runs a device until it waits for messages.
fn run_device(device: &mut Device<'_>, shared: &Shared) -> Result<(), ExecError> {
    /// After this many operations, other devices have waited long enough to wake another thread.
    const MANY: u64 = 4096;
    for count in 1u64.. {
        if shared.stopped() || !device.step()? {
            break;
        }
        if count % MANY == 0 {
            shared.rouse(device.number as usize);
        }
    }
    Ok(())
}

fn write_prints(texts: impl Iterator<Item = String>, out: &mut dyn Write) -> Result<(), ExecError> {
    for text in texts {
        writeln!(out, "{text}").map_err(|e| ExecError::new(format!("the output cannot be written: {e}")))?;
    }
    Ok(())
}
