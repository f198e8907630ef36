//! `pir-run`: runs a program on inputs from files and the command line.

mod args;
pub mod inputs;
pub mod program;
pub mod promote;
pub mod value;

pub use args::Args;
