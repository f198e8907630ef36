//! Pass statistics: the number of operations before and after each pass, and the counters of the passes.

use std::collections::BTreeMap;
use std::fmt::Write;

use pir_ir::{Module, OpName};
use pir_passes::{Changed, Invocation, Observer, Ran};
use rustc_hash::FxHashMap;

/// One pass of the pipeline.
#[derive(Debug, Default)]
struct Entry {
    label: String,
    before: usize,
    after: usize,
    /// The number of programs that it changed.
    changed: usize,
    /// The change in the number of operations, by name.
    ops: BTreeMap<String, i64>,
    counts: BTreeMap<&'static str, u64>,
}

/// The statistics of a run. For several programs, those of the same pass are added up.
#[derive(Debug, Default)]
pub struct Statistics {
    entries: Vec<Entry>,
    at: usize,
    last: FxHashMap<OpName, i64>,
}

impl Statistics {
    /// Starts the next program.
    pub fn next_program(&mut self) {
        self.at = 0;
        self.last.clear();
    }

    /// The table.
    pub fn report(&self) -> String {
        let mut text = String::from("pass statistics\n");
        let width = self.entries.iter().map(|e| e.label.chars().count()).max().unwrap_or(0);
        for entry in &self.entries {
            // Writing to a string does not fail, here and below.
            let _ = match entry.changed {
                0 => writeln!(text, "  {:width$}  {} operations, unchanged", entry.label, entry.before),
                _ => writeln!(
                    text,
                    "  {:width$}  {} operations -> {}",
                    entry.label, entry.before, entry.after
                ),
            };
            for (what, count) in &entry.counts {
                let _ = writeln!(text, "  {:width$}    {count} {what}", "");
            }
            for (name, change) in entry.ops.iter().filter(|(_, change)| **change != 0) {
                let _ = writeln!(text, "  {:width$}    {change:+} {name}", "");
            }
        }
        text
    }
}

fn histogram(module: &Module) -> FxHashMap<OpName, i64> {
    let mut counts = FxHashMap::default();
    module.for_each_body(|body| {
        for op in body.walk_all() {
            *counts.entry(body.op_name(op)).or_default() += 1;
        }
    });
    counts
}

impl Observer for Statistics {
    fn before(&mut self, _: &Invocation, module: &Module) {
        if self.last.is_empty() {
            self.last = histogram(module);
        }
    }

    fn after(&mut self, invocation: &Invocation, module: &Module, ran: &Ran) {
        let label = invocation.to_string();
        if self.entries.get(self.at).is_none_or(|entry| entry.label != label) {
            let entry = Entry {
                label,
                ..Entry::default()
            };
            self.entries.insert(self.at, entry);
        }
        let entry = &mut self.entries[self.at];
        self.at += 1;
        let now = match ran.changed {
            Changed::Yes => histogram(module),
            Changed::No => self.last.clone(),
        };
        let total = |counts: &FxHashMap<OpName, i64>| counts.values().sum::<i64>().unsigned_abs() as usize;
        entry.before += total(&self.last);
        entry.after += total(&now);
        entry.changed += usize::from(ran.changed == Changed::Yes);
        for (&name, count) in &now {
            *entry.ops.entry(module.ctx.op_str(name).to_owned()).or_default() += count;
        }
        for (&name, count) in &self.last {
            *entry.ops.entry(module.ctx.op_str(name).to_owned()).or_default() -= count;
        }
        for (&what, by) in &ran.counts {
            *entry.counts.entry(what).or_default() += by;
        }
        self.last = now;
    }
}
