//! `pir-opt` with the dialect `demo`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    standalone::tool("demo-opt").opt()
}
