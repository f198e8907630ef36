//! Reproducers: files with a program and the command line to run on it.
//!
//! Such a file is a program. A comment at its top contains the command line:
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

/// The configuration in a reproducer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Configuration {
    /// Verify the program after each pass.
    pub verify_each: bool,
    /// Accept operations that no dialect defines.
    pub allow_unregistered: bool,
    /// The files of `--load-dialect`.
    pub load_dialect: Vec<String>,
}

/// Writes a reproducer before the passes run, and a reduced one when a pass fails.
#[derive(Debug)]
pub struct Reproducer<'a> {
    path: &'a str,
    configuration: Configuration,
    /// The program before the current pass.
    before: String,
    /// The pass for which the reduced reproducer was written.
    failed: Option<String>,
    error: Option<Diagnostic>,
}

impl<'a> Reproducer<'a> {
    /// Writes the program with the whole pipeline.
    ///
    /// # Errors
    /// If the file cannot be written.
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

    /// A note about the reproducer, when a pass has failed.
    pub fn note(&self) -> Option<String> {
        let pass = self.failed.as_ref()?;
        let path = self.path;
        Some(format!(
            "the program before `{pass}` is in `{path}`; run `pir-opt --run-reproducer {path}` to reproduce the failure"
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

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command line in a reproducer, split into words.
///
/// # Errors
/// If there is none.
pub fn command_line(name: &str, program: &[u8]) -> Result<Vec<String>, Diagnostic> {
    let none = || {
        Diagnostic::error(
            "reproducer",
            format!("`{name}` is not a reproducer: it has no line `{MARK} …`"),
        )
        .help("use `--emit-reproducer` to write one")
    };
    // The command line comes before the program.
    let comments = program
        .split(|&b| b == b'\n')
        .take_while(|line| line.starts_with(b"//"));
    let line = comments
        .filter_map(|line| line.strip_prefix(MARK.as_bytes()))
        .next()
        .ok_or_else(none)?;
    Ok(words(&String::from_utf8_lossy(line)))
}

/// Splits a line into words like a shell, as far as [`quoted`] needs it.
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
            assert!(error.message.starts_with("`x` is not a reproducer"));
        }
    }
}
