//! The operations of the tables.

/// The operations of each dialect by type.
macro_rules! tables {
    ($($dialect:literal $typed:ident $doc:literal),*) => { $(
        #[doc = $doc]
        #[allow(missing_docs, reason = "each item has the name of its operand, attribute or operation")]
        #[allow(non_snake_case, reason = "attributes are called as in MLIR")]
        #[allow(unused_imports, reason = "which of them a table needs depends on its rows")]
        pub mod $typed {
            use pir_ir::{Attr, Context};

            use crate::typed::*;

            include!(concat!(env!("OUT_DIR"), "/", $dialect, "_typed.rs"));
        }
    )* };
}

tables! {
    "arith" arith "The operations of `arith`.",
    "math" math "The operations of `math`.",
    "index" index "The operations of `index`.",
    "ub" ub "The operations of `ub`.",
    "memref" memref "The operations of `memref`.",
    "tensor" tensor "The operations of `tensor`."
}
