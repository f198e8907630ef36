//! What operations are in TensorFlow's words. Those with an equal there stand in a table; others are put together.

mod activation;
mod control;
mod elementwise;
mod index;
mod linalg;
mod reduce;
mod shape;

use super::super::table::{BINARY, UNARY};
use super::emit::{Emit, Result};

/// A function that writes the nodes of an operation.
type Write = fn(&mut Emit<'_, '_>) -> Result<()>;

/// Operations whose results are all given by one node.
pub(super) fn gives_all(name: &str) -> bool {
    matches!(
        name,
        "df.switch" | "df.merge" | "pd.split" | "pd.split_with_num" | "pd.unstack" | "pd.unbind"
    )
}

/// Writes an operation.
pub(super) fn write(e: &mut Emit<'_, '_>) -> Result<()> {
    let name = e.view.name();
    let Some(short) = name.strip_prefix("pd.") else {
        return control::write(e);
    };
    if let Some((_, op)) = UNARY.iter().find(|(n, _)| *n == short) {
        let inputs = [e.input(0)?];
        let attrs = [("T", e.dtype(e.elem()?)?)];
        e.node(op, &inputs, &attrs);
        return Ok(());
    }
    if let Some((_, op)) = BINARY.iter().find(|(n, _)| *n == short) {
        return elementwise::binary(e, op);
    }
    let tables = [
        control::TABLE,
        elementwise::TABLE,
        activation::TABLE,
        reduce::TABLE,
        shape::TABLE,
        index::TABLE,
        linalg::TABLE,
    ];
    let entry = tables.iter().flat_map(|t| t.iter()).find(|(n, _)| *n == short);
    match entry {
        Some((_, write)) => write(e),
        None => Err("TensorFlow has no operation for it".to_owned()),
    }
}
