//! Links the tools at a fixed address on Linux. A position-independent executable has 48,000 pointers in its op tables relocated at each
//! start, which copies 300 pages and takes a quarter of the time of a short run. `PIR_PIE=1` keeps it position-independent.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PIR_PIE");
    let target = |key: &str| var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    if target("OS") == "linux" && target("ENV") == "gnu" && !is_static && var("PIR_PIE").is_err() {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
