//! Registers the dialect.

use std::sync::Arc;

use pir_ir::{ContextBuilder, DialectDef, TypeDef, TypeParamKind};

use super::{DenseTensorArray, While, arithmetic, branches, composed, control, fold, loops, rows};
use crate::cf;
use crate::table;

/// PaddlePaddle's types of values that are not tensors. Nothing here computes with them.
fn foreign_types() -> Vec<TypeDef> {
    let types = [
        TypeDef::of::<DenseTensorArray>("An array of tensors"),
        TypeDef::new("pd.selected_rows", "Some rows of a tensor"),
        TypeDef::new("pd.sparse_coo_tensor", "A sparse tensor by coordinates"),
        TypeDef::new("pd.sparse_csr_tensor", "A sparse tensor by rows"),
        TypeDef::new("pd.dist_dtensor", "A tensor that is spread over devices"),
    ];
    let with_params = |def: TypeDef| {
        def.with_param("shape", TypeParamKind::Shape)
            .with_param("element", TypeParamKind::Type)
    };
    types.map(with_params).into()
}

/// Registers the dialect.
pub fn register(builder: &mut ContextBuilder) {
    let dialect = DialectDef {
        name: "pd".into(),
        summary: "Tensors and structured control flow".into(),
        types: foreign_types(),
        other_types: false,
    };
    table::register(builder, dialect, rows::ROWS, |def, _| {
        fold::attach(def);
        composed::attach(def);
    });
    builder.register_ops(control::definitions());
    fold::register(builder);
    branches::register_patterns(builder);
    builder.register_pattern(While::NAME, 1, Arc::new(loops::align));
    // The same names as in PaddlePaddle.
    builder
        .register_alias("pd.yield", cf::YIELD)
        .register_list_type("pd.vec")
        .register_arithmetic(&arithmetic::Tensors)
        .register_structured(arithmetic::STRUCTURED);
}
