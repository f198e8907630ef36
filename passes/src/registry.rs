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
use crate::pass::Pass;
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
