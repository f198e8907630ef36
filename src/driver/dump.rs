//! Writes the program after each pass to files.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use pir_ir::text::{self, PrintOptions};
use pir_ir::{Diagnostic, Module};
use pir_passes::{Invocation, Observer, Ran};

use crate::cli;
use crate::output::write_output;

/// Writes `000-input.pir`, `001-licm.pir`, … to a folder.
#[derive(Debug)]
pub struct Dump {
    folder: PathBuf,
    options: PrintOptions,
    at: usize,
    error: Option<Diagnostic>,
}

impl Dump {
    /// Creates the folder if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(folder: &str, options: PrintOptions) -> Result<Self, Diagnostic> {
        fs::create_dir_all(folder)
            .map_err(|error| Diagnostic::error("io", format!("cannot create the folder `{folder}`: {error}")))?;
        Ok(Dump {
            folder: PathBuf::from(folder),
            options,
            at: 0,
            error: None,
        })
    }

    /// Writes the program before the first pass.
    pub fn input(&mut self, module: &Module) {
        self.write("input", module);
    }

    /// The first file that could not be written.
    pub fn take_error(&mut self) -> Option<Diagnostic> {
        self.error.take()
    }

    fn write(&mut self, name: &str, module: &Module) {
        let path = self.folder.join(format!("{:03}-{name}.pir", self.at));
        self.at += 1;
        let text = text::print(module, &self.options);
        let written = write_output(Some(&path.to_string_lossy()), |out| out.write_all(text.as_bytes()));
        if let (Err(error), None) = (written, &self.error) {
            self.error = Some(error);
        }
    }
}

impl Observer for Dump {
    fn after(&mut self, invocation: &Invocation, module: &Module, _: &Ran) {
        self.write(invocation.pass.name(), module);
    }

    fn failed(&mut self, invocation: &Invocation, module: &Module) {
        let name = format!("{}.failed", invocation.pass.name());
        // After a pass that failed, the program may be malformed and printing may panic.
        let _ = cli::quietly(|| catch_unwind(AssertUnwindSafe(|| self.write(&name, module))));
    }
}
