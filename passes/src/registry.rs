//! Registries of passes.

use crate::attention::FuseAttention;
use crate::autodiff::{
    Backward, BatchWeightGrads, BuildBackward, Decompose, Jvp, LowerStacks, PruneStacks, Remat, SinkStacks, SplitVjp,
    StackLocals, StacksToMemref, StripBackward, UnbatchWeightGrads,
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
use crate::op_stats::PrintOpStats;
use crate::outline::Outline;
use pir_ir::{Context, Diagnostic};

use crate::lower::{LinalgToLoops, LowerAffine};
use crate::pass::{Pass, find_in};
use crate::pipeline::Pipeline;
use crate::presets;
use crate::refine::RefineShapes;
use crate::sccp::Sccp;
use crate::sink::Sink;
use crate::stablehlo::{PdToStablehlo, StablehloToPdControl};
use crate::symbol_dce::SymbolDce;

/// The standard passes, in the order in which the reference lists them.
static PASSES: &[&dyn Pass] = &[
    &Canonicalize,
    &Sccp,
    &ForwardArgs,
    &Licm,
    &Cse,
    &Dce,
    &Sink,
    &FuseAttention,
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
    &PrintOpStats,
    &Backward,
    &StackLocals,
    &BuildBackward,
    &PruneStacks,
    &Remat,
    &BatchWeightGrads,
    &UnbatchWeightGrads,
    &SinkStacks,
    &LowerStacks,
    &StacksToMemref,
    &SplitVjp,
    &Decompose,
    &StripBackward,
    &Jvp,
    &InplaceAccumulate,
    &RefineShapes,
    &StablehloToPdControl,
    &PdToStablehlo,
    &LowerAffine,
    &LinalgToLoops,
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
    &presets::JAX_VJP,
];

/// The passes that a tool has, in the order in which it lists them.
///
/// ```
/// use pir_passes::{PassRegistry, Pipeline};
/// let passes = PassRegistry::standard();
/// let pipeline = passes.parse("cse,backward{of=loss}", None);
/// assert_eq!(pipeline.map(|p| p.invocations.len()), Ok(2));
/// ```
#[derive(Clone, Default)]
pub struct PassRegistry {
    passes: Vec<&'static dyn Pass>,
}

impl PassRegistry {
    /// A registry without passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The passes of this crate.
    pub fn standard() -> Self {
        Self {
            passes: PASSES.to_vec(),
        }
    }

    /// Adds a pass; it takes the place of one of the same name.
    pub fn add(&mut self, pass: &'static dyn Pass) -> &mut Self {
        match self.passes.iter_mut().find(|p| p.name() == pass.name()) {
            Some(before) => *before = pass,
            None => self.passes.push(pass),
        }
        self
    }

    /// The pass called `name`.
    pub fn find(&self, name: &str) -> Option<&'static dyn Pass> {
        find_in(&self.passes, name)
    }

    /// All passes.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Pass> {
        self.passes.iter().copied()
    }

    /// Reads a pipeline of these passes. With a context, it checks that the anchors are isolated operations of its dialects, and
    /// that the passes in them can run there.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse(&self, text: &str, ctx: Option<&Context>) -> Result<Pipeline, Vec<Diagnostic>> {
        Pipeline::parse_with(text, &self.passes, ctx)
    }
}

impl Pipeline {
    /// Reads a pipeline of the standard passes. Anchors are not checked.
    ///
    /// # Errors
    /// Everything that is wrong with it, with spans into `text`.
    pub fn parse(text: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::parse_with(text, PASSES, None)
    }
}
