//! The one list of all passes.

use crate::autodiff::{
    Backward, BatchWeightGrads, BuildBackward, Decompose, Jvp, PruneStacks, Remat, StackLocals, StripBackward,
};
use crate::canonicalize::Canonicalize;
use crate::cfg::{LiftCfg, LowerToCfg};
use crate::cse::Cse;
use crate::dataflow::{LowerToDataflow, Partition, Place, RaiseFromDataflow, ShrinkStacks, SwapStacks, ViewGraph};
use crate::dce::Dce;
use crate::forward_args::ForwardArgs;
use crate::inline::Inline;
use crate::inplace::InplaceAccumulate;
use crate::licm::Licm;
use crate::loops::{Peel, RotateWhile, Unroll, UnrotateWhile};
use crate::outline::Outline;
use pir_ir::{Context, Diagnostic};

use crate::pass::Pass;
use crate::pipeline::Pipeline;
use crate::presets;
use crate::sccp::Sccp;
use crate::sink::Sink;
use crate::symbol_dce::SymbolDce;

/// All passes, in the order in which the reference lists them.
static PASSES: &[&dyn Pass] = &[
    &Canonicalize,
    &Sccp,
    &ForwardArgs,
    &Licm,
    &Cse,
    &Dce,
    &Sink,
    &Inline,
    &Outline,
    &SymbolDce,
    &RotateWhile,
    &UnrotateWhile,
    &Unroll,
    &Peel,
    &LowerToCfg,
    &LiftCfg,
    &LowerToDataflow,
    &RaiseFromDataflow,
    &ViewGraph,
    &Backward,
    &StackLocals,
    &BuildBackward,
    &PruneStacks,
    &Remat,
    &BatchWeightGrads,
    &Decompose,
    &StripBackward,
    &Jvp,
    &InplaceAccumulate,
    &Place,
    &Partition,
    &ShrinkStacks,
    &SwapStacks,
    &presets::O0,
    &presets::O1,
    &presets::O2,
    &presets::O3,
    &presets::TRAINING,
    &presets::INFERENCE,
];

/// All passes, in the order in which the reference lists them.
pub fn all_passes() -> &'static [&'static dyn Pass] {
    PASSES
}

/// The pass called `name`.
pub fn find_pass(name: &str) -> Option<&'static dyn Pass> {
    find_in(PASSES, name)
}

pub(crate) fn find_in(passes: &[&'static dyn Pass], name: &str) -> Option<&'static dyn Pass> {
    passes.iter().copied().find(|p| p.name() == name)
}

impl Pipeline {
    /// Reads a pipeline of the passes in [`all_passes`]. Anchors are not checked.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse(text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::parse_with(text, all_passes(), None)
    }

    /// The same, and checks that the anchors are isolated operations of the context's dialects, and that the passes in
    /// them can run there.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse_in(ctx: &Context, text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::parse_with(text, all_passes(), Some(ctx))
    }
}
