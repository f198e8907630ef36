//! Files that hold a program and what is to be done with it, to do that again and to report it.
//!
//! Such a file is a program. What is to be done stands in a comment at its top, as a command line:
//!
//! ```text
//! // A reproducer of pir-opt 0.1.0; `pir-opt --run-reproducer FILE` runs it.
//! // configuration: --pass-pipeline='func.func(licm)' --no-verify-each
//! ```

use pir_ir::text::{self, PrintOptions};
use pir_ir::{Diagnostic, Module};
use pir_passes::{Invocation, Observer, Pipeline};

use crate::output::write_output;

const MARK: &str = "// configuration:";

/// How the passes of a reproducer are run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Configuration {
    /// The program is verified after each pass.
    pub verify_each: bool,
    /// Operations that no dialect defines are accepted.
    pub allow_unregistered: bool,
    /// The files of `--load-dialect`.
    pub load_dialect: Vec<String>,
}

/// Writes a reproducer before the passes run, and a smaller one when a pass fails.
#[derive(Debug)]
pub struct Reproducer<'a> {
    path: &'a str,
    configuration: Configuration,
    /// The program as it was before the pass that runs.
    before: String,
    /// The pass for which the smaller one was written.
    failed: Option<String>,
    error: Option<Diagnostic>,
}

impl<'a> Reproducer<'a> {
    /// Writes the program with all passes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(
        path: &'a str,
        configuration: Configuration,
        module: &Module,
        pipeline: &Pipeline,
    ) -> Result<Self, Diagnostic> {
        let before = text::print(module, &PrintOptions::default());
        write(path, &configuration, &pipeline.to_string(), &before)?;
        Ok(Reproducer {
            path,
            configuration,
            before,
            failed: None,
            error: None,
        })
    }

    /// What there is to say when a pass has failed.
    pub fn note(&self) -> Option<String> {
        let pass = self.failed.as_ref()?;
        let path = self.path;
        Some(format!(
            "the program before `{pass}` is in `{path}`: `pir-opt --run-reproducer {path}` does this again"
        ))
    }

    /// Why the file could not be written.
    pub fn take_error(&mut self) -> Option<Diagnostic> {
        self.error.take()
    }
}

impl Observer for Reproducer<'_> {
    fn before(&mut self, _: &Invocation, module: &Module) {
        self.before = text::print(module, &PrintOptions::default());
    }

    fn failed(&mut self, invocation: &Invocation, _: &Module) {
        let pipeline = Pipeline {
            invocations: vec![invocation.clone()],
        };
        match write(self.path, &self.configuration, &pipeline.to_string(), &self.before) {
            Ok(()) => self.failed = Some(invocation.to_string()),
            Err(error) => self.error = Some(error),
        }
    }
}

fn write(path: &str, configuration: &Configuration, pipeline: &str, program: &str) -> Result<(), Diagnostic> {
    write_output(Some(path), |out| {
        writeln!(
            out,
            "// A reproducer of pir-opt {}; `pir-opt --run-reproducer FILE` runs it.",
            env!("CARGO_PKG_VERSION")
        )?;
        write!(out, "{MARK} --pass-pipeline={}", quoted(pipeline))?;
        if !configuration.verify_each {
            write!(out, " --no-verify-each")?;
        }
        if configuration.allow_unregistered {
            write!(out, " --allow-unregistered-dialect")?;
        }
        for file in &configuration.load_dialect {
            write!(out, " --load-dialect={}", quoted(file))?;
        }
        writeln!(out, "\n")?;
        out.write_all(program.as_bytes())
    })
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command line in a reproducer: its words.
///
/// # Errors
/// When there is none.
pub fn command_line(name: &str, program: &[u8]) -> Result<Vec<String>, Diagnostic> {
    let none = || {
        Diagnostic::error(
            "reproducer",
            format!("`{name}` is no reproducer: it has no line `{MARK} …`"),
        )
        .help("`--emit-reproducer` writes one")
    };
    // It stands before the program.
    let comments = program
        .split(|&b| b == b'\n')
        .take_while(|line| line.starts_with(b"//"));
    let line = comments
        .filter_map(|line| line.strip_prefix(MARK.as_bytes()))
        .next()
        .ok_or_else(none)?;
    Ok(words(&String::from_utf8_lossy(line)))
}

/// The words of a line as a shell reads them, as far as [`quoted`] needs it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quote = !quote;
                word.get_or_insert_default();
            }
            '\\' if !quote => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() && !quote => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_read_as_they_were_written() {
        let pipeline = r#"backward{of="it's \" it"},dce"#;
        let text = format!("// A reproducer\n{MARK} --a={} -b\n\nmore", quoted(pipeline));
        assert_eq!(
            command_line("x", text.as_bytes()).unwrap(),
            [format!("--a={pipeline}"), "-b".to_owned()]
        );
        let late = format!("// A program\n%0 = x\n{MARK} --a\n");
        for text in ["", "%0 = x\n", &late] {
            let error = command_line("x", text.as_bytes()).unwrap_err();
            assert!(error.message.starts_with("`x` is no reproducer"));
        }
    }
}
