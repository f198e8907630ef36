//! What the tests of the readers share.

use std::sync::Arc;

use pir_ir::{
    Arity, AttrSpec, Context, ContextBuilder, DialectDef, Module, OpDef, Presence, RegionSpec, Traits, ValueSpec,
};

/// A context with small stand-ins for the operations that the programs use.
pub fn context() -> Arc<Context> {
    let mut ops: Vec<OpDef> = "less_than add subtract multiply divide tanh sin exp sigmoid sqrt relu logical_and concat reshape clip gaussian pow"
        .split_whitespace()
        .map(|op| OpDef::new(format!("pd.{op}"), ""))
        .collect();
    for op in ["builtin.split", "builtin.combine"] {
        ops.push(OpDef::new(op, ""));
    }
    for op in ["cf.yield", "cf.cond_yield"] {
        ops.push(OpDef {
            traits: Traits::TERMINATOR,
            ..OpDef::new(op, "")
        });
    }
    for (op, attrs) in [
        ("parameter", "str name, bool stop_gradient"),
        ("data", "str name, IntArray shape, DataType dtype, bool stop_gradient"),
        ("full", "IntArray shape, Scalar value, DataType dtype"),
        ("full_int_array", "int64_t[] value, DataType dtype"),
        ("sum", "IntArray axis={}, DataType dtype=undefined, bool keepdim=false"),
        ("mean", "IntArray axis={}, bool keepdim=false"),
        ("scale", "Scalar scale=1.0, float bias=0.0, bool bias_after_scale=true"),
        ("fetch", "str name, int col=0"),
        ("matmul", "bool transpose_x=false, bool transpose_y=false"),
        ("gather", "Scalar axis=0"),
        ("squeeze", "IntArray axis={}"),
        ("split_with_num", "int num, Scalar axis=0"),
    ] {
        let attrs = attrs.split(", ").filter_map(|attr| attr.split_once(' '));
        ops.push(OpDef {
            attrs: attrs
                .map(|(ty, rest)| {
                    let (name, default) = rest.split_once('=').map_or((rest, None), |(n, d)| (n, Some(d)));
                    AttrSpec {
                        name: name.to_owned(),
                        ty: ty.to_owned(),
                        default: default.map(str::to_owned),
                    }
                })
                .collect(),
            ..OpDef::new(format!("pd.{op}"), "")
        });
    }
    for (op, keywords) in [("if", [&["then"], &["else"]]), ("while", [&["cond"], &["body"]])] {
        let region = |keywords: &'static [&'static str]| RegionSpec {
            keywords,
            presence: Presence::Required,
            bare: false,
        };
        ops.push(OpDef {
            regions: keywords.into_iter().map(|k| region(k)).collect(),
            ..OpDef::new(format!("pd.{op}"), "")
        });
    }
    for def in &mut ops {
        if matches!(def.name.as_str(), "pd.scale" | "pd.sum" | "pd.mean" | "pd.tanh") {
            def.operands.push(ValueSpec {
                name: "x".to_owned(),
                arity: Arity::One,
                ty: "Tensor".to_owned(),
            });
        }
    }
    let mut builder = ContextBuilder::new();
    for name in ["builtin", "cf", "pd"] {
        let dialect = DialectDef {
            name: name.to_owned(),
            summary: String::new(),
            types: Vec::new(),
        };
        let prefix = format!("{name}.");
        let ops = ops.iter().filter(|def| def.name.starts_with(&prefix)).cloned();
        builder.register(dialect, ops.collect());
    }
    builder.build()
}

/// The module as text.
pub fn text(module: &Module) -> String {
    pir_ir::text::print(module, &Default::default())
}
