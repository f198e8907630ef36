//! `bufferization`: sizes of new tensors.

use pir_ir::{Diagnostic, OpView};

use super::{Checked, ensure, report, segments, sized};

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let checked = match op.name() {
        "bufferization.alloc_tensor" => allocated(op),
        _ => Ok(()),
    };
    report(op, checked, errors);
}

fn allocated(op: OpView<'_>) -> Checked {
    let shape = op
        .result_type(0)
        .and_then(|ty| op.ctx.as_elements(ty))
        .map(|shaped| shaped.0);
    let (Some(shape), Some([sizes, copied, _])) = (shape, segments(op)) else {
        return Ok(());
    };
    match copied {
        0 => sized(shape, sizes),
        _ => ensure(sizes == 0, || "a copy has the sizes of the tensor".to_owned()),
    }
}
