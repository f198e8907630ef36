//! `pd`: tensors, declared in op tables, and control flow.
//!
//! An operation of a table takes tensors as operands and numbers, lists and types as attributes. An `IntArray` or
//! `Scalar` argument of the tables (axes, shapes, factors) is an attribute if it is constant, and otherwise may be an
//! operand after the tensors, in the order of the declaration.

mod arithmetic;
mod branches;
pub(crate) mod composed;
pub(crate) mod condition;
pub(crate) mod control;
mod expr;
pub(crate) mod fold;
mod handles;
pub(crate) mod infer;
mod loops;
mod verify;

use crate::cf;
use std::sync::{Arc, OnceLock};

use pir_ir::{ContextBuilder, DialectDef, DialectType, TypeDef, TypeParamKind};

use rustc_hash::FxHashSet;

use crate::table::definition;

pub use composed::BERNOULLI;
pub use control::{is_if, is_while, role};
pub use expr::{Building, Emitter, Expr, ExprScope, evaluate};
pub use handles::Handles;
pub use ops::*;
pub(crate) use rows::INFERENCES;

pub use crate::typed::{Given, Ints, Number, Operand, Operation, Options, Source, Unary, View, index_of};

mod rows {
    use std::borrow::Cow;

    use pir_ir::{Arity, AttrSpec, InferFn, Traits, ValueSpec};

    use super::{infer, verify};
    use crate::table::{Effects, Row, Speculate};

    include!(concat!(env!("OUT_DIR"), "/pd_ops.rs"));
}

/// The operations of the tables.
#[allow(missing_docs, reason = "each item has the name of its operand, attribute or operation")]
#[allow(
    clippy::should_implement_trait,
    clippy::too_many_arguments,
    reason = "functions are called like the operations, and take what these need"
)]
#[rustfmt::skip]
mod ops {
    use pir_ir::{Attr, Context, OpId, Rewriter, Type, ValueId};

    use super::{Expr, ExprScope};
    use crate::typed::*;

    include!(concat!(env!("OUT_DIR"), "/pd_typed.rs"));

    control! {
        While "pd.while", If "pd.if", WhileGrad "pd.while_grad", IfGrad "pd.if_grad",
        Branch "pd.branch", ConditionBranch "pd.condition_branch"
    }
}

/// The family (the file) that an operation is declared in.
pub fn family(op: &str) -> Option<&'static str> {
    rows::ROWS.iter().find(|row| row.op == op).map(|row| row.family)
}

/// Whether an operation is known from PaddlePaddle's declarations: the types of its results are as written, few have a
/// kernel or a composition, and PaddlePaddle's executor runs all.
pub fn is_foreign(op: &str) -> bool {
    static NAMES: OnceLock<FxHashSet<&str>> = OnceLock::new();
    let names = || rows::ROWS.iter().filter(|row| row.written).map(|row| row.op).collect();
    NAMES.get_or_init(names).contains(op)
}

/// The conjugates of complex numbers.
pub const CONJ: &str = "pd.conj";

/// Whether what an operation of PaddlePaddle's is made of here has parts that PaddlePaddle does not know, so that its derivative is its
/// gradient operation.
pub fn leaves_pd(op: &str) -> bool {
    composed::leaves_pd(op)
}

/// `pd.dense_tensor_array`, an array of tensors of PaddlePaddle's.
pub struct DenseTensorArray;

impl DialectType for DenseTensorArray {
    const NAME: &'static str = "pd.dense_tensor_array";
}

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
    let folds = fold::Folds::new();
    let compositions = composed::Compositions::new();
    let tabled = rows::ROWS.iter().map(definition).map(|mut def| {
        folds.attach(&mut def);
        compositions.attach(&mut def);
        def
    });
    builder.register(dialect, tabled.chain(control::definitions()));
    fold::register_patterns(builder);
    branches::register_patterns(builder);
    builder.register_pattern(While::NAME, 1, Arc::new(loops::align));
    // The same names as in PaddlePaddle.
    builder
        .register_alias("pd.yield", cf::YIELD)
        .register_list_type("pd.vec")
        .register_arithmetic(&arithmetic::Tensors)
        .register_structured(arithmetic::STRUCTURED);
}
