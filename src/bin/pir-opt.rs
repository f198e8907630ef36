//! The optimizer driver.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Reading a program is mostly small allocations: this takes 8 % less of the whole process than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pir_tools::cli::run("pir-opt", pir_tools::opt::main)
}
