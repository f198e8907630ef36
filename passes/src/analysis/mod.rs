//! What passes want to know of a body, computed from the interfaces of operations.

mod equality;
mod facts;
mod handles;
mod liveness;
mod slots;

pub use equality::{OpKey, regions_equal};
pub use facts::{Facts, Touched, effects_of, is_symbol_or_terminator};
pub use liveness::{Liveness, Roots};
pub use slots::{has_simple_regions, sweep};
