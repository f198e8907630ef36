//! Registers the dialects.

use std::sync::Arc;

use pir_ir::{Assembly, ContextBuilder, Counting, CountingFn, DialectDef, OpDef, OpView, Relation, Semantics};

use super::{assembly, attrs, compute, control, fold, ops, rows};
use crate::pd::fold::counting;
use crate::table::{self, Row};

/// Registers the dialects.
pub fn register(builder: &mut ContextBuilder) {
    for (name, summary, rows) in [
        (
            "stablehlo",
            "Tensor operations as JAX and other front ends lower programs to",
            rows::stablehlo(),
        ),
        (
            "chlo",
            "Operations that front ends write beside those of StableHLO",
            rows::chlo(),
        ),
        (
            "sdy",
            "How tensors are distributed over devices, of which there is one here",
            rows::sdy(),
        ),
    ] {
        let dialect = DialectDef {
            name: name.into(),
            summary: summary.into(),
            types: Vec::new(),
            // Tokens, futures.
            other_types: true,
        };
        table::register(builder, dialect, rows, with_semantics);
    }
    fold::register_patterns(builder);
}

fn with_semantics(def: &mut OpDef, row: &Row) {
    def.assembly = Some(Assembly::new(
        row.assembly.unwrap_or(assembly::DEFAULT),
        assembly::HOOKS,
    ));
    let control = control::find(&def.name).map(|entry| Arc::new(entry) as Arc<dyn Semantics>);
    def.counting = counting(&def.name);
    def.fold = fold::find(&def.name);
    def.semantics = control.or_else(|| Some(Arc::new(compute::find(&def.name)?)));
}

/// How an operation counts, for the trip counts of loops.
fn counting(name: &str) -> Option<CountingFn> {
    match name {
        ops::Add::NAME => Some(|view| signed(view).then(|| counting::add(view)).flatten()),
        ops::Subtract::NAME => Some(|view| signed(view).then(|| counting::subtract(view)).flatten()),
        ops::Compare::NAME => Some(comparison),
        _ => None,
    }
}

/// Whether the first operand is a single integer with a sign.
fn signed(view: OpView<'_>) -> bool {
    let is_signed = |x| {
        let elem = view.ctx.elem_type(view.body.value_type(x));
        counting::is_one_integer(view, x) && !compute::is_unsigned(view.ctx, elem)
    };
    view.operand(0).is_some_and(is_signed)
}

fn comparison(view: OpView<'_>) -> Option<Counting> {
    let attrs = attrs::Attrs {
        ctx: view.ctx,
        dict: view.body.attrs(view.op),
    };
    let relation = match attrs.word("comparison_direction")? {
        "LT" => Relation::Less,
        "LE" => Relation::LessEqual,
        "GT" => Relation::Greater,
        "GE" => Relation::GreaterEqual,
        "NE" => Relation::NotEqual,
        _ => return None,
    };
    let (x, y) = (view.operand(0)?, view.operand(1)?);
    signed(view).then_some(Counting::Compare(x, relation, y))
}
