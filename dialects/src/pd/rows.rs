//! The rows of the tables.

use std::borrow::Cow;
use std::sync::OnceLock;

use pir_ir::{Arity, AttrSpec, InferFn, Traits, ValueSpec};
use rustc_hash::FxHashSet;

use super::{infer, verify};
use crate::table::{Effects, Row, Rows, Speculate};

include!(concat!(env!("OUT_DIR"), "/pd_ops.rs"));

/// The family (the file) that an operation is declared in.
pub fn family(op: &str) -> Option<&'static str> {
    ALL.iter().find(|row| row.op == op).map(|row| row.family)
}

/// Whether an operation is known from PaddlePaddle's declarations: the types of its results are as written, few have a
/// kernel or a composition, and PaddlePaddle's executor runs all.
pub fn is_foreign(op: &str) -> bool {
    static NAMES: OnceLock<FxHashSet<&str>> = OnceLock::new();
    let names = || ALL.iter().filter(|row| row.written).map(|row| row.op).collect();
    NAMES.get_or_init(names).contains(op)
}
