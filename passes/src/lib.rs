//! Passes, pass manager and autodiff.
//!
//! A pass is a unit struct that implements [`Pass`] and is in a [`PassRegistry`]. The text of the command line
//! (`--pass=a,b{option=value}`) is read by [`PassRegistry::parse`] into a list of [`Invocation`]s, and a [`PassManager`] runs
//! them in order. A pass may also be nothing but a pipeline of others: see [`Pass::expand`].
//!
//! Passes ask interfaces (effects, region flow, speculatability, folding) and do not match on the names of operations
//! that are not their own subject.

#![forbid(unsafe_code)]

pub mod analysis;
mod attention;
pub mod autodiff;
mod bodies;
mod canonicalize;
mod cfg;
mod cse;
mod dataflow;
mod dce;
mod debug;
mod final_values;
mod forward_args;
mod inline;
mod inplace;
mod licm;
mod loops;
#[cfg(test)]
mod loops_of_others;
mod lower;
mod made;
mod manager;
mod op_stats;
mod options;
mod outline;
mod pass;
mod patterns;
mod pipeline;
mod presets;
mod refine;
mod registry;
mod sccp;
mod sink;
mod stablehlo;
mod symbol_dce;
#[cfg(test)]
mod testing;
mod values;

pub use bodies::for_each_body_mut;
pub use manager::{Observer, PASS_CRASH, PassManager, Ran, VerifyEach};
pub use options::{OptionKind, OptionSpec, OptionValue, Options};
pub use pass::{Changed, ConstantEvaluator, Invocation, Pass, PassContext, Path, Scope, Services, WriteFile};
pub use patterns::apply_patterns;
pub use pipeline::Pipeline;
pub use refine::refine_shapes;
pub use registry::PassRegistry;
pub use symbol_dce::keep_only;
