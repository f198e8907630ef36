//! The optimizer driver.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Reading a program makes many small allocations: mimalloc saves 8 % of the total time. Transparent huge pages stay
/// off: they would save 10 % of the time but add half to the memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pir_tools::Tool::new("pir-opt").opt()
}
