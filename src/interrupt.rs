//! What a tool does when it is ended in the middle: files that are half written do not stay behind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files that are being written under names of their own.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that is removed when the tool is ended by a signal before this goes away.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes a file with `make`, which gives its path along with it.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn new<T>(make: impl FnOnce() -> io::Result<T>, path: impl Fn(&T) -> &Path) -> io::Result<(T, Self)> {
        #[cfg(unix)]
        watch();
        // A signal that comes now waits until the list has the file.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let made = make()?;
        let path = path(&made).to_owned();
        unfinished.push(path.clone());
        Ok((made, Unfinished(path)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|path| *path != self.0);
    }
}

/// Starts the thread that waits for signals, once.
#[cfg(unix)]
fn watch() {
    use std::sync::Arc;
    use std::sync::Once;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // With something that handles it, a file that gets too large is an error of writing, which is told.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        let ignored = ignored();
        let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter();
        // What is ignored, by `nohup` for example, stays so.
        let Ok(mut signals) = Signals::new(wanted.filter(|signal| ignored & (1 << (signal - 1)) == 0)) else {
            return;
        };
        let waiting = std::thread::Builder::new().name("signals".to_owned());
        // Without a thread signals would be lost, but then there is none to run anything else either.
        let _ = waiting.spawn(move || {
            for signal in signals.forever() {
                let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
                for path in &*unfinished {
                    let _ = std::fs::remove_file(path);
                }
                let _ = emulate_default_handler(signal);
            }
        });
    });
}

/// The signals that are ignored, a bit for each, where the system tells that.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
