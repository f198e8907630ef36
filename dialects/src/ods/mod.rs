//! The text of MLIR's dialects: rows (`ops/`) declare how each operation is read and printed in custom assembly, and
//! its attributes. Functions here implement what ODS cannot express and MLIR implements in code.
//!
//! The rows follow the declarations of MLIR 19.

mod affine;
mod common;
mod linalg;
mod loops;
mod memory;
mod vectors;
mod verify;

use pir_ir::{ContextBuilder, OdsHook, OdsRows};

macro_rules! rows {
    ($($dialect:literal),* $(,)?) => {
        [$(($dialect, include_str!(concat!("ops/", $dialect, ".ops")))),*]
    };
}

const HOOKS: &[OdsHook] = &[
    common::INDEX_LIST,
    common::SELECT,
    common::SELECT_TYPES,
    common::CASE,
    common::NO_CASES,
    common::ALL_CASES,
    common::SWITCH_CASES,
    loops::FOR,
    loops::WHILE,
    loops::PARALLEL,
    loops::FORALL,
    memory::GLOBAL_TYPE,
    memory::READ_WRITE,
    memory::CACHE,
    memory::PERMUTATION,
    vectors::TRANSFER,
    vectors::CONTRACT,
    vectors::OUTER_PRODUCT,
    vectors::PRINT,
    vectors::SHUFFLE,
    vectors::WARP,
    affine::MAP_OF,
    affine::ACCESS,
    affine::FOR,
    affine::IF,
    affine::GENERIC,
    affine::PARALLEL,
    linalg::NAMED,
    linalg::MOVE,
    linalg::MAP,
    linalg::REDUCE,
    linalg::END_OF_ELEMENTS,
];

/// Registers the rows.
pub(crate) fn register(builder: &mut ContextBuilder) {
    let all = rows![
        "affine",
        "arith",
        "bufferization",
        "builtin",
        "cf",
        "complex",
        "func",
        "index",
        "linalg",
        "math",
        "memref",
        "scf",
        "tensor",
        "ub",
        "vector",
    ];
    for (dialect, rows) in all {
        builder.register_ods(OdsRows {
            dialect,
            rows,
            hooks: HOOKS,
            verify: match dialect {
                "affine" => Some(verify::affine::verify),
                "bufferization" => Some(verify::bufferization::verify),
                "complex" => Some(verify::complex::verify),
                "linalg" => Some(verify::linalg::verify),
                "memref" => Some(verify::memref::verify),
                "scf" => Some(verify::scf::verify),
                "tensor" => Some(verify::tensor::verify),
                "vector" => Some(verify::vector::verify),
                _ => None,
            },
        });
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_can_be_read() {
        let ctx = crate::context();
        let wrong: Vec<String> = ctx
            .all_ods()
            .filter_map(|(name, ods)| Some(format!("{name}: {}", ods.check().err()?)))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(ctx.all_ods().count() > 300);
    }
}
