//! The translation of operations to TensorFlow's. The op tables list those with an equivalent; the others are composed.

mod activation;
mod control;
mod conv;
mod detection;
mod elementwise;
mod index;
mod linalg;
mod reduce;
mod shape;
mod slice;
mod spectrum;

use pir_dialects::formats::{self, TensorFlowForm, TensorFlowInput};
use pir_dialects::{df, pd};
use pir_ir::{AttrData, OpView};

use super::super::proto::Value;
use super::emit::{Emit, Result};
use super::view::View;

/// A function that writes the nodes of an operation.
type Write = fn(&mut Emit<'_, '_>) -> Result<()>;

/// Operations whose results all come from one node.
pub(super) fn gives_all(name: &str) -> bool {
    matches!(
        name,
        df::SWITCH
            | df::MERGE
            | pd::Eigh::NAME
            | pd::Split::NAME
            | pd::SplitWithNum::NAME
            | pd::Unstack::NAME
            | pd::Unbind::NAME
    )
}

/// The function that writes an operation of a table.
fn writer(short: &str) -> Option<Write> {
    let tables = [
        control::TABLE,
        conv::TABLE,
        detection::TABLE,
        elementwise::TABLE,
        activation::TABLE,
        reduce::TABLE,
        shape::TABLE,
        slice::TABLE,
        index::TABLE,
        linalg::TABLE,
        spectrum::TABLE,
    ];
    let mut all = tables.iter().flat_map(|table| table.iter());
    all.find(|(name, _)| *name == short).map(|&(_, write)| write)
}

/// Whether an operation is written as an operation of TensorFlow, rather than as its composition.
pub(in super::super) fn knows(op: OpView<'_>) -> bool {
    let Some(form) = formats::tensorflow(op.name()) else {
        return op
            .name()
            .strip_prefix("pd.")
            .is_some_and(|short| writer(short).is_some());
    };
    let view = View::new(op);
    for &(_, ours, _) in form.attributes {
        view.sees(ours);
    }
    for index in 0..op.body.num_operands(op.op) {
        view.sees_operand(index);
    }
    view.rest().is_ok()
}

/// Writes an operation.
pub(super) fn write(e: &mut Emit<'_, '_>) -> Result<()> {
    let name = e.view.name();
    // StableHLO occurs in the compositions of PaddlePaddle's linear algebra.
    let short = match name.strip_prefix("pd.") {
        Some(short) => short,
        None if name.starts_with("stablehlo.") => name,
        None => return control::write(e),
    };
    if name == pd::Abs::NAME && e.is_complex(e.elem()?) {
        return spectrum::to_part(e, "ComplexAbs");
    }
    if let Some(form) = formats::tensorflow(name) {
        return by_form(e, form);
    }
    match writer(short) {
        Some(write) => write(e),
        None => Err("TensorFlow has no operation for it".to_owned()),
    }
}

/// Writes an operation as one node that differs only in the names of inputs and attributes.
fn by_form(e: &mut Emit<'_, '_>, form: &TensorFlowForm) -> Result<()> {
    let mut inputs = Vec::new();
    let mut attrs = vec![("T", e.dtype(e.elem()?)?)];
    for input in form.inputs {
        match *input {
            TensorFlowInput::Operand(place) => inputs.push(e.input(place)?),
            TensorFlowInput::Operands => {
                inputs = e.inputs()?;
                attrs.push(("N", Value::Int(inputs.len() as i64)));
            }
            TensorFlowInput::List(name) | TensorFlowInput::Number(name) => {
                return Err(format!("its `{name}` has no equivalent in TensorFlow"));
            }
        }
    }
    let elem = e.elem()?;
    for at in 1..e.num_operands() {
        if e.operand_type(at)?.1 != elem {
            return Err("its operands have different element types".to_owned());
        }
    }
    for &(theirs, ours, _) in form.attributes {
        let Some(attr) = e.view.attr(ours) else { continue };
        let value = match e.w.ctx.attr_data(attr) {
            AttrData::Bool(value) => Value::Bool(*value),
            AttrData::Int { .. } => Value::Int(e.view.int(ours).unwrap_or(0)),
            AttrData::Str(text) => Value::Bytes(text.as_bytes().into()),
            _ => return Err(format!("its attribute `{ours}` has no equivalent in TensorFlow")),
        };
        attrs.push((theirs, value));
    }
    e.node(form.name, &inputs, &attrs);
    Ok(())
}
