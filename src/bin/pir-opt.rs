//! The optimizer driver.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Reading a program is mostly small allocations: this takes 8 % less of the whole process than the system's allocator.
/// Without transparent huge pages, which would take 10 % off the time and add half to the memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pir_tools::cli::run("pir-opt", pir_tools::opt::main)
}
