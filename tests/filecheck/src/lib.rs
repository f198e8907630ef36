//! A FileCheck-compatible checker and a runner for RUN lines, which test the files under `test-files/`.
//!
//! [`check`] compares a text with the `CHECK` lines of a file. [`run::run_file`] executes the `RUN` lines of a file,
//! with `FileCheck` and `expected-errors` built in and without a shell.

#![forbid(unsafe_code)]

#[cfg(feature = "check")]
mod check;
mod ere;
mod error;
mod expect;
#[cfg(feature = "check")]
pub mod run;

#[cfg(feature = "check")]
pub use check::{CommandLine, Options, check};
pub use error::CheckError;
pub use expect::check_expected;
