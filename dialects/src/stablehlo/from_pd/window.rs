//! Convolutions and poolings.

use super::Rows;

pub(super) const ROWS: Rows = &[];
