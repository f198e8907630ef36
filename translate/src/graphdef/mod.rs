//! TensorFlow's graphs: `GraphDef` messages.
//!
//! They are the dialect `df` under TensorFlow's names. `write` lowers each operation to TensorFlow nodes; `read`
//! accepts the same subset.

mod pbtxt;
mod proto;
mod read;
mod saved;
mod text;
mod types;
mod write;

pub(crate) use proto::TensorShape;
pub use saved::{GRADIENTS, Saved, read_saved, write_saved};
pub(crate) use saved::{SUFFIX, is_saved_model};
pub(crate) use text::is_graph as is_text_graph;
pub use types::elem as element_type;

use std::fmt;
use std::sync::Arc;

use pir_dialects::df::cluster::Cluster;
use pir_ir::{Context, Diagnostic, Module, OpView};
use prost::Message;

/// The message that `PreventGradient` reports when it is differentiated.
const PREVENT_GRADIENT: &str = "tf.prevent_gradient";

/// Whether TensorFlow has an operation for this one, with its attributes.
pub fn knows(op: OpView<'_>) -> bool {
    write::knows(op)
}

/// Writes the graphs of a module as a `GraphDef` message, with the devices of a cluster if one is given.
///
/// # Errors
/// Everything that TensorFlow's graphs cannot express, with its location.
pub fn write(module: &Module, cluster: Option<&Cluster>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    Ok(write_graph(module, cluster)?.encode_to_vec())
}

/// Writes the graphs of a module as the text of a `GraphDef`: `graph.pbtxt`.
///
/// # Errors
/// Everything that TensorFlow's graphs cannot express, with its location.
pub fn write_text(module: &Module, cluster: Option<&Cluster>) -> Result<String, Vec<Diagnostic>> {
    Ok(pbtxt::print(&write_graph(module, cluster)?))
}

fn write_graph(module: &Module, cluster: Option<&Cluster>) -> Result<proto::GraphDef, Vec<Diagnostic>> {
    let around = write::Surroundings {
        cluster,
        ..Default::default()
    };
    write::graph(module, around)
}

/// The shape of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputShape {
    /// Every open dimension of every input.
    Open(i64),
    /// The shape of the input of this name.
    Of(String, Vec<i64>),
}

impl InputShape {
    /// Reads `x=4x6x3`, or `4` for all open dimensions.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|n| *n >= 0);
        let parsed = match text.rsplit_once('=') {
            None => number(text).map(InputShape::Open),
            Some((name, "")) => Some(InputShape::Of(name.to_owned(), Vec::new())),
            Some((name, dims)) => {
                let dims: Option<Vec<i64>> = dims.split('x').map(number).collect();
                dims.map(|dims| InputShape::Of(name.to_owned(), dims))
            }
        };
        parsed.ok_or_else(|| "expected `NAME=4x6x3`, or a number for all dynamic dimensions".to_owned())
    }
}

impl fmt::Display for InputShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputShape::Open(extent) => write!(f, "{extent}"),
            InputShape::Of(name, dims) => {
                let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
                write!(f, "{name}={}", dims.join("x"))
            }
        }
    }
}

/// Options of reading a graph.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The outputs, as `node` or `node:result`; all outputs of the graph if there are none. Only what they depend on is read.
    pub outputs: Vec<String>,
    /// The signature of a SavedModel; `serving_default` if it is not given.
    pub signature: Option<String>,
    /// Accept custom gradients: what is computed is differentiated in place of them.
    pub derive_custom_gradients: bool,
    /// The shapes of inputs, where the file leaves dimensions open: by name, or for all of them the extent of what is open.
    pub shapes: Vec<InputShape>,
    /// Outputs under names of their own, in place of `outputs`.
    pub named: Vec<(String, String)>,
}

/// Reads a `GraphDef` message: a `df.graph` if it has switches and merges, else a structured program.
///
/// # Errors
/// Everything that is malformed or not supported.
pub fn read(ctx: &Arc<Context>, source: &[u8], options: &Options) -> Result<Module, Vec<Diagnostic>> {
    read::read(ctx, source, options)
}

/// Reads the text form of a `GraphDef`.
///
/// # Errors
/// Everything that is malformed or not supported.
pub fn read_text(ctx: &Arc<Context>, source: &[u8], options: &Options) -> Result<Module, Vec<Diagnostic>> {
    let error = |why: String| {
        vec![Diagnostic::error(
            "graphdef",
            format!("this is not a TensorFlow graph: {why}"),
        )]
    };
    let text = std::str::from_utf8(source).map_err(|e| error(e.to_string()))?;
    let bytes = text::encode(text, &crate::schemas::GRAPH).map_err(error)?;
    read::read(ctx, &bytes, options)
}

/// Whether a file looks like a `GraphDef`: its first node begins with a name and an operation.
pub(crate) fn is_graph(source: &[u8]) -> bool {
    let mut rest = source;
    // The library and the versions may come first.
    while let Some(&tag @ (0x12 | 0x22)) = rest.first() {
        let Some((length, behind)) = length(&rest[1..]) else {
            return false;
        };
        let Some(next) = behind.get(length..) else { return false };
        rest = next;
        if rest.is_empty() {
            return tag == 0x22 && source.len() > 2;
        }
    }
    let Some(0x0a) = rest.first() else { return false };
    let Some((size, node)) = length(&rest[1..]) else {
        return false;
    };
    if node.first() != Some(&0x0a) || size < 2 {
        return false;
    }
    let Some((length, name)) = length(&node[1..]) else {
        return false;
    };
    let valid = |c: &u8| c.is_ascii_alphanumeric() || b"_.\\/>-".contains(c);
    length > 0 && name.get(..length).is_some_and(|n| n.iter().all(valid)) && name.get(length) == Some(&0x12)
}

/// The varint at the beginning, and the rest of the bytes.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0usize;
    for (at, &byte) in bytes.iter().take(5).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}
