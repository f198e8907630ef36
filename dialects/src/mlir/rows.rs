//! The rows of the tables.

use std::borrow::Cow;

use pir_ir::{Arity, AttrSpec, Traits, ValueSpec};

use super::{infer, verify};
use crate::table::{Effects, Row, Rows, Speculate};

/// The rows of each dialect.
macro_rules! tables {
    ($($dialect:literal $rows:ident),*) => { $(
        mod $rows {
            use super::*;

            include!(concat!(env!("OUT_DIR"), "/", $dialect, "_ops.rs"));
        }

        pub(super) fn $rows() -> Rows {
            $rows::ROWS
        }
    )* };
}

tables! {
    "arith" arith,
    "math" math,
    "index" index,
    "ub" ub,
    "memref" memref,
    "tensor" tensor
}
