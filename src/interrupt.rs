//! Removes partially written files when the tool is terminated by a signal.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that is removed if a signal ends the tool before this is dropped.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Creates a file with `make`, which also gives its path.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn new<T>(make: impl FnOnce() -> io::Result<T>, path: impl Fn(&T) -> &Path) -> io::Result<(T, Self)> {
        #[cfg(unix)]
        watch();
        // A signal is handled only after the file is in the list.
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

/// Starts the signal-handling thread, once.
#[cfg(unix)]
fn watch() {
    use std::sync::Arc;
    use std::sync::Once;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // With a handler installed, exceeding the file size limit becomes a write error, which is reported.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        let ignored = ignored();
        let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter();
        // Signals that are ignored, by `nohup` for example, stay ignored.
        let Ok(mut signals) = Signals::new(wanted.filter(|signal| ignored & (1 << (signal - 1)) == 0)) else {
            return;
        };
        let waiting = std::thread::Builder::new().name("signals".to_owned());
        // If the thread cannot be created, signals are not handled; the system has then run out of threads anyway.
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

/// The ignored signals as a bit set, where the system provides it.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
