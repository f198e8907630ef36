//! The translator between formats.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// As in the other tools: reading a program makes many small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pir_tools::Tool::new("pir-translate").translate()
}
