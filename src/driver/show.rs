//! Prints the program to standard error around passes: before, after, or what has changed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::ValueEnum;
use pir_ir::Module;
use pir_ir::text::{self, PrintOptions};
use pir_passes::{Invocation, Observer, Ran};
use rustc_hash::FxHashMap;

use super::diff::{Diff, unified};
use super::print_scope::{Part, parts};
use crate::cli;

/// Which part of the program is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum PrintScope {
    /// The whole program
    #[default]
    Module,
    /// Functions; after a pass, only those that it changed
    Function,
    /// Outermost loops; after a pass, only those that it changed
    Loop,
    /// Operations without their regions; after a pass, only those that it changed
    Op,
}

/// Selects passes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Filter {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The passes with these names.
    Named(Vec<String>),
}

impl Filter {
    fn takes(&self, invocation: &Invocation) -> bool {
        match self {
            Filter::None => false,
            Filter::All => true,
            Filter::Named(names) => names.iter().any(|name| name == invocation.pass.name()),
        }
    }
}

/// The options of printing.
#[derive(Clone, Debug, Default)]
pub struct ShowOptions {
    /// Before these passes.
    pub before: Filter,
    /// After these passes.
    pub after: Filter,
    /// Print the changes of each pass, as a diff.
    pub changes: bool,
    /// Report the work of these passes: their counters, and a diff of single lines.
    pub debug: Filter,
    /// After a failed pass.
    pub failure: bool,
    /// Which part of the program.
    pub scope: PrintScope,
    /// The style of printing.
    pub print: PrintOptions,
    /// Whether diffs are coloured.
    pub color: bool,
}

impl ShowOptions {
    /// Whether anything is printed at all.
    pub fn any(&self) -> bool {
        let filters = [&self.before, &self.after, &self.debug];
        filters.iter().any(|filter| **filter != Filter::None) || self.changes || self.failure
    }
}

/// Prints the program around passes.
#[derive(Debug)]
pub struct Show {
    options: ShowOptions,
    /// The program before the pass, if a comparison follows.
    before: Option<String>,
}

impl Show {
    /// An observer with these options.
    pub fn new(options: ShowOptions) -> Self {
        Show { options, before: None }
    }

    /// Says what a pass counted, and which lines it changed.
    fn debug(&self, invocation: &Invocation, ran: &Ran, old: &str, new: &str) {
        let name = invocation.pass.name();
        let mut out = String::new();
        for (what, count) in &ran.counts {
            out.push_str(&format!("[{name}] {count} {what}\n"));
        }
        match old == new {
            true => out.push_str(&format!("[{name}] changed nothing\n")),
            false => {
                let (before, after) = (format!("before {invocation}"), format!("after {invocation}"));
                let diff = Diff {
                    old_name: &before,
                    new_name: &after,
                    context: 0,
                    color: self.options.color,
                };
                let lines = unified(&diff, old, new);
                lines
                    .lines()
                    .for_each(|line| out.push_str(&format!("[{name}] {line}\n")));
            }
        }
        cli::say(&out);
    }

    fn show(&self, title: &str, module: &Module, text: &str, old: Option<&str>) {
        let mut out = format!("// -----// {title} //----- //\n");
        if self.options.scope == PrintScope::Module {
            out.push_str(text);
            out.push('\n');
            cli::say(&out);
            return;
        }
        let mut known: FxHashMap<&str, usize> = FxHashMap::default();
        for part in old
            .map(|old| parts(module, old, self.options.scope))
            .unwrap_or_default()
        {
            *known.entry(part.text).or_default() += 1;
        }
        let mut any = false;
        for Part { place, text } in parts(module, text, self.options.scope) {
            // Equal parts are matched one to one.
            if let Some(count) = known.get_mut(text).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            any = true;
            if !place.is_empty() {
                out.push_str(&format!("// in {place}\n"));
            }
            out.push_str(text);
        }
        if !any {
            let word = self.options.scope.to_possible_value();
            let word = word.map_or_else(String::new, |word| word.get_name().to_owned());
            let what = if old.is_some() { " that changed" } else { "" };
            out.push_str(&format!("// no {word}{what}\n"));
        }
        out.push('\n');
        cli::say(&out);
    }
}

impl Observer for Show {
    fn before(&mut self, invocation: &Invocation, module: &Module) {
        let options = &self.options;
        let compared = options.changes
            || options.debug.takes(invocation)
            || options.scope != PrintScope::Module && options.after.takes(invocation);
        let shown = options.before.takes(invocation);
        self.before = None;
        if !compared && !shown {
            return;
        }
        let text = text::print(module, &options.print);
        if shown {
            self.show(&format!("IR before {invocation}"), module, &text, None);
        }
        self.before = compared.then_some(text);
    }

    fn after(&mut self, invocation: &Invocation, module: &Module, ran: &Ran) {
        let shown = self.options.after.takes(invocation);
        let debugged = self.options.debug.takes(invocation);
        if !shown && !debugged && !self.options.changes {
            return;
        }
        let text = text::print(module, &self.options.print);
        if shown {
            self.show(&format!("IR after {invocation}"), module, &text, self.before.as_deref());
        }
        let Some(old) = self.before.take() else {
            return;
        };
        if debugged {
            self.debug(invocation, ran, &old, &text);
        }
        if !self.options.changes {
            return;
        }
        if old == text {
            cli::say(&format!("// -----// {invocation} changed nothing //----- //\n"));
            return;
        }
        let diff = Diff {
            old_name: &format!("before {invocation}"),
            new_name: &format!("after {invocation}"),
            context: if self.options.scope == PrintScope::Op { 0 } else { 3 },
            color: self.options.color,
        };
        let title = format!("// -----// Changes by {invocation} //----- //\n");
        cli::say(&format!("{title}{}\n", unified(&diff, &old, &text)));
    }

    fn failed(&mut self, invocation: &Invocation, module: &Module) {
        if !self.options.failure {
            return;
        }
        let title = format!("IR after {invocation} failed");
        // After a failed pass, the program may be malformed and printing may panic.
        match cli::quietly(|| catch_unwind(AssertUnwindSafe(|| text::print(module, &self.options.print)))) {
            Ok(text) => {
                let whole = Show::new(ShowOptions {
                    scope: PrintScope::Module,
                    ..self.options.clone()
                });
                whole.show(&title, module, &text, None);
            }
            Err(_) => cli::say(&format!(
                "// -----// {title} //----- //\n// the program cannot be printed\n\n"
            )),
        }
    }
}
