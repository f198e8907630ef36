//! Shows the current activity on a terminal when it takes longer than a second. Prints nothing if standard error is
//! piped.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

struct State {
    doing: String,
    running: bool,
    bar: Option<ProgressBar>,
}

static STATE: Mutex<State> = Mutex::new(State {
    doing: String::new(),
    running: false,
    bar: None,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts an activity.
pub fn start(doing: &str) {
    let dumb = || std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if !io::stderr().is_terminal() || dumb() {
        return;
    }
    {
        let mut state = state();
        doing.clone_into(&mut state.doing);
        state.running = true;
    }
    // The thread ends with the process at the latest.
    let waiting = std::thread::Builder::new().spawn(|| {
        std::thread::sleep(PATIENCE);
        let mut state = state();
        if !state.running || state.bar.is_some() {
            return;
        }
        let bar = ProgressBar::new_spinner().with_elapsed(PATIENCE);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(state.doing.clone());
        bar.enable_steady_tick(Duration::from_millis(100));
        state.bar = Some(bar);
    });
    // Without a thread no progress is shown; the work continues.
    drop(waiting);
}

/// Sets the current step.
pub fn doing(what: impl FnOnce() -> String) {
    let mut state = state();
    if !state.running {
        return;
    }
    state.doing = what();
    if let Some(bar) = &state.bar {
        bar.set_message(state.doing.clone());
    }
}

/// Sets the current step and how much of the work is done.
pub fn count(done: usize, all: usize, what: impl FnOnce() -> String) {
    doing(what);
    let state = state();
    let Some(bar) = state.bar.as_ref().filter(|_| state.running) else {
        return;
    };
    if bar.length() != Some(all as u64) {
        bar.set_length(all as u64);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {bar:24} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
    }
    bar.set_position(done as u64);
}

/// Ends the activity, also before its output goes to the same terminal.
pub fn finish() {
    let mut state = state();
    state.running = false;
    if let Some(bar) = state.bar.take() {
        bar.finish_and_clear();
    }
}

/// Runs a function that writes to the terminal.
pub(crate) fn aside<R>(f: impl FnOnce() -> R) -> R {
    let bar = state().bar.clone();
    match bar {
        Some(bar) => bar.suspend(f),
        None => f(),
    }
}
