//! Analyses of a body, computed from the interfaces of operations.

mod blocks;
mod constants;
mod counter;
mod edges;
mod effects;
mod equality;
mod handles;
mod hash;
mod liveness;
mod path;
mod provenance;
mod regions;
mod slots;
mod variables;

pub use blocks::{remove_unreachable_blocks, reverse_post_order};
pub(crate) use constants::Constants;
pub(crate) use counter::{Counter, chain, compared};
pub use edges::has_simple_regions;
pub(crate) use edges::{Ways, successor_start};
pub use effects::{EffectAnalysis, EffectSet, Effects, effects_of, is_symbol_or_terminator};
pub use equality::{OpKey, regions_equal};
pub(crate) use equality::{hash_op, ops_equal};
pub(crate) use hash::ShortHash;
pub use liveness::{Liveness, Roots};
pub(crate) use path::{Limits, has_choice_of_regions, known_path, regions_before};
pub(crate) use provenance::{Provenance, is_handle_type};
pub use regions::RegionTree;
pub(crate) use slots::FlowOps;
pub use slots::sweep;
pub use variables::{Variables, has_unknown_effects};
