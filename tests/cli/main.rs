//! The command lines of the tools, as a shell sees them.

// Clippy knows tests by their attribute, and the helpers here have none.
#![allow(clippy::unwrap_used)]

mod codes;
mod driver;
mod eager;
mod errors;
mod opt;
mod run;
mod run_tool;
mod translate;
