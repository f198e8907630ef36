//! Where the analyses of a body are kept.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The analyses of a body that have been computed.
#[derive(Default)]
pub(crate) struct Analyses(pub(crate) Mutex<Vec<Kept>>);

/// One of them.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) of: TypeId,
    /// The state of the body that it is of.
    pub(crate) version: u64,
    pub(crate) what: Arc<dyn Any + Send + Sync>,
    pub(crate) name: &'static str,
}

impl fmt::Debug for Analyses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_list().entries(kept.iter().map(|kept| kept.name)).finish()
    }
}
