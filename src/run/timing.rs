//! `--timing`: how long the stages of a run took.

use std::fmt::Write;
use std::time::{Duration, Instant};

/// A clock that is read after each stage.
pub(super) struct Timing {
    start: Instant,
    stages: Vec<(&'static str, Duration)>,
}

impl Timing {
    pub(super) fn new() -> Self {
        Timing {
            start: Instant::now(),
            stages: Vec::new(),
        }
    }

    /// Ends a stage that began where the last one ended.
    pub(super) fn end(&mut self, stage: &'static str) {
        let before: Duration = self.stages.iter().map(|&(_, time)| time).sum();
        self.stages.push((stage, self.start.elapsed().saturating_sub(before)));
    }

    /// Splits the last stage: the first `time` of it was another one.
    pub(super) fn split(&mut self, stage: &'static str, time: Duration) {
        if let Some((name, whole)) = self.stages.pop() {
            self.stages.push((stage, time.min(whole)));
            self.stages.push((name, whole.saturating_sub(time)));
        }
    }

    /// The table.
    pub(super) fn report(&self) -> String {
        let mut text = String::from("timing: seconds\n");
        for (stage, time) in &self.stages {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{:11.4}  {stage}", time.as_secs_f64());
        }
        text
    }
}
