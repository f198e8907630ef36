//! What passes want to know of a body, computed from the interfaces of operations.

mod constants;
mod equality;
mod facts;
mod handles;
mod liveness;
mod path;
mod slots;

pub(crate) use constants::Constants;
pub use equality::{OpKey, regions_equal};
pub use facts::{Facts, Touched, effects_of, is_symbol_or_terminator};
pub use liveness::{Liveness, Roots};
pub(crate) use path::{Limits, known_path};
pub use slots::{has_simple_regions, sweep};
