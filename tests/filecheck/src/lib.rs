//! A FileCheck-compatible checker and a runner for RUN lines: what the files under `test-files/` are tested with.
//!
//! [`check`] compares a text with the `CHECK` lines of a file. [`run::run_file`] does what the `RUN` lines of a file say,
//! with `FileCheck` and `expected-errors` built in and without a shell.

#![forbid(unsafe_code)]

mod check;
mod expect;
pub mod run;

pub use check::{CheckError, CommandLine, Options, check};
pub use expect::check_expected;
