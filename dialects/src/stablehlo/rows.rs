//! The rows of the tables.

use std::borrow::Cow;

use pir_ir::{Arity, AttrSpec, Traits, ValueSpec};

use super::{infer, verify};
use crate::table::{Effects, Row, Rows, Speculate};

mod stablehlo {
    use super::*;

    include!(concat!(env!("OUT_DIR"), "/stablehlo_ops.rs"));
}

mod chlo {
    use super::*;

    include!(concat!(env!("OUT_DIR"), "/chlo_ops.rs"));
}

mod sdy {
    use super::*;

    include!(concat!(env!("OUT_DIR"), "/sdy_ops.rs"));
}

/// The rows of `stablehlo`.
pub(super) fn stablehlo() -> Rows {
    stablehlo::ROWS
}

/// The rows of `chlo`.
pub(super) fn chlo() -> Rows {
    chlo::ROWS
}

/// The rows of `sdy`.
pub(super) fn sdy() -> Rows {
    sdy::ROWS
}
