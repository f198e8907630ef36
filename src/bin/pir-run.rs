//! The interpreter.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// See `pir-opt`; running a program with small tensors also makes many allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pir_tools::Tool::new("pir-run").run()
}
