//! The properties that the fuzzers check.
//!
//! A [`Target`] takes bytes and panics if a property is violated. `fuzz/` runs targets on inputs that libFuzzer finds,
//! `tests/replay.rs` on those of [`mutate`], which are the same in every run, and on past failures.

#![forbid(unsafe_code)]

mod execute;
#[allow(dead_code, reason = "other tests need the rest")]
#[path = "../../equivalence/generate.rs"]
mod generate;
mod mutate;
mod pipelines;
mod protobuf;
mod random;
mod seeds;
mod targets;

pub use execute::{execute, generated};
pub use mutate::{dictionary, mutate};
pub use random::Random;
pub use seeds::{regressions, seeds};

/// Something that takes bytes, and promises not to panic whatever they are.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of the target in `fuzz/`, and of the folder of its past failures.
    pub name: &'static str,
    /// Does with an input what the tools would do, and panics if that is wrong.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "text",
        run: targets::text,
    },
    Target {
        name: "paddle_json",
        run: targets::paddle_json,
    },
    Target {
        name: "paddle_text",
        run: targets::paddle_text,
    },
    Target {
        name: "paddle_program",
        run: targets::paddle_program,
    },
    Target {
        name: "paddle_program_text",
        run: targets::paddle_program_text,
    },
    Target {
        name: "graphdef",
        run: targets::graphdef,
    },
    Target {
        name: "arrays",
        run: targets::arrays,
    },
    Target {
        name: "pipeline",
        run: targets::pipeline,
    },
    Target {
        name: "execute",
        run: execute,
    },
    Target {
        name: "generated",
        run: generated,
    },
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
