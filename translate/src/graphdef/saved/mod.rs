//! SavedModels: `saved_model.pb`, a graph with signatures.
//!
//! A signature names the inputs and outputs. Variables become parameters, named as in the checkpoint: the graph itself contains
//! which is which, in the function that restores them.

mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use pir_ir::{Context, Diagnostic, Module};
use prost::Message;
use rustc_hash::FxHashMap;

use super::proto::{FunctionDef, GraphDef, NodeDef, TensorShape, Value};
use super::{Options, read};
pub use write::{GRADIENTS, Saved, write_saved};

/// The suffix of a checkpoint for the name of a variable.
pub(crate) const SUFFIX: &str = "/.ATTRIBUTES/VARIABLE_VALUE";

#[derive(Clone, PartialEq, Message)]
struct SavedModel {
    #[prost(int64, tag = "1")]
    version: i64,
    #[prost(message, repeated, tag = "2")]
    graphs: Vec<MetaGraph>,
}

#[derive(Clone, PartialEq, Message)]
struct MetaGraph {
    #[prost(message, optional, tag = "2")]
    graph: Option<GraphDef>,
    #[prost(message, optional, tag = "3")]
    saver: Option<Saver>,
    #[prost(btree_map = "string, message", tag = "5")]
    signatures: BTreeMap<String, Signature>,
}

/// The nodes that save and restore.
#[derive(Clone, PartialEq, Message)]
struct Saver {
    #[prost(string, tag = "3")]
    restore: String,
}

#[derive(Clone, PartialEq, Message)]
struct Signature {
    #[prost(btree_map = "string, message", tag = "1")]
    inputs: BTreeMap<String, TensorInfo>,
    #[prost(btree_map = "string, message", tag = "2")]
    outputs: BTreeMap<String, TensorInfo>,
    #[prost(string, tag = "3")]
    method: String,
}

#[derive(Clone, PartialEq, Message)]
struct TensorInfo {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, tag = "2")]
    dtype: i32,
    #[prost(message, optional, tag = "3")]
    shape: Option<TensorShape>,
}

/// Whether a file looks like a SavedModel: the version of the format, which is 1, and a graph.
pub(crate) fn is_saved_model(source: &[u8]) -> bool {
    source.starts_with(b"\x08\x01\x12")
}

fn error(message: String) -> Vec<Diagnostic> {
    let help =
        "the file is `saved_model.pb` in the folder that `tf.saved_model.save` writes; `--from` names another format";
    vec![Diagnostic::error("saved-model", message).help(help)]
}

/// The signature that is meant where none is named.
const SIGNATURE: &str = "serving_default";

/// The graph of a SavedModel.
fn decode(source: &[u8]) -> Result<MetaGraph, Vec<Diagnostic>> {
    let mut model = SavedModel::decode(source).map_err(|e| error(format!("this is not a SavedModel: {e}")))?;
    match (model.graphs.pop(), model.graphs.len()) {
        (Some(meta), 0) => Ok(meta),
        (Some(_), more) => Err(error(format!(
            "only SavedModels with one graph are supported, found {}",
            more + 1
        ))),
        (None, _) => Err(error("this SavedModel has no graph".to_owned())),
    }
}

/// Reads the program of a signature.
///
/// # Errors
/// Everything that is malformed or not supported.
pub fn read_saved(ctx: &Arc<Context>, source: &[u8], options: &Options) -> Result<Module, Vec<Diagnostic>> {
    let meta = decode(source)?;
    let name = options.signature.as_deref().unwrap_or(SIGNATURE);
    let Some(signature) = meta.signatures.get(name) else {
        let names: Vec<String> = meta.signatures.keys().map(|n| format!("`{n}`")).collect();
        return Err(error(format!(
            "there is no signature `{name}`; the model has {}",
            names.join(", ")
        )));
    };
    let mut graph = meta.graph.clone().unwrap_or_default();
    let mut wanted = options.clone();
    wanted.named = signature
        .outputs
        .iter()
        .filter(|(key, _)| options.outputs.is_empty() || options.outputs.contains(key))
        .map(|(key, info)| (key.clone(), info.name.clone()))
        .collect();
    if let Some(missing) = options.outputs.iter().find(|o| !signature.outputs.contains_key(*o)) {
        let names: Vec<String> = signature.outputs.keys().map(|n| format!("`{n}`")).collect();
        return Err(error(format!(
            "there is no output `{missing}`; the outputs of `{name}` are {}",
            names.join(", ")
        )));
    }
    wanted.outputs.clear();
    for (key, info) in &signature.inputs {
        let node = info.name.split(':').next().unwrap_or_default();
        if let Some(node) = graph.nodes.iter_mut().find(|n| n.name == node) {
            node.attrs
                .insert("_input".to_owned(), Value::Bytes(key.clone().into_bytes()).into());
            if let Some(shape) = &info.shape {
                node.attrs
                    .insert("shape".to_owned(), Value::Shape(shape.clone()).into());
            }
        }
    }
    let names = variables(&graph);
    for node in &mut graph.nodes {
        if let Some(key) = shared_name(node).and_then(|name| names.get(&name)) {
            node.attrs.insert(
                "_parameter_name".to_owned(),
                Value::Bytes(key.clone().into_bytes()).into(),
            );
        }
    }
    read::graph_of(ctx, graph, &[], &wanted)
}

/// The name by which nodes mean one variable.
fn shared_name(node: &NodeDef) -> Option<String> {
    if node.op != "VarHandleOp" {
        return None;
    }
    match node.attrs.get("shared_name").and_then(|a| a.value.as_ref()) {
        Some(Value::Bytes(name)) if !name.is_empty() => Some(String::from_utf8_lossy(name).into_owned()),
        _ => Some(node.name.clone()),
    }
}

/// The checkpoint's name of each variable.
fn variables(graph: &GraphDef) -> FxHashMap<String, String> {
    let mut names = restored_variables(graph);
    copied(graph, &mut names);
    names
}

/// The checkpoint's name of each variable that is restored: a function assigns what it restores to its arguments.
fn restored_variables(graph: &GraphDef) -> FxHashMap<String, String> {
    let mut names = FxHashMap::default();
    let Some(library) = &graph.library else { return names };
    let nodes: FxHashMap<&str, &NodeDef> = graph.nodes.iter().map(|n| (n.name.as_str(), n)).collect();
    for function in &library.functions {
        let Some(restored) = restored(function) else { continue };
        let name = function.signature.as_ref().map_or("", |s| s.name.as_str());
        for call in &graph.nodes {
            let calls = matches!(call.attrs.get("f").and_then(|a| a.value.as_ref()), Some(Value::Function(f)) if f.name == name);
            if !calls {
                continue;
            }
            for (argument, key) in &restored {
                let input = call.inputs.get(*argument).and_then(|text| text.split(':').next());
                let node = input.and_then(|name| nodes.get(name).copied());
                if let Some(name) = node.and_then(shared_name) {
                    names.insert(name, key.clone());
                }
            }
        }
    }
    names
}

/// Keras saves copies of its variables, which are initialized with these.
fn copied(graph: &GraphDef, names: &mut FxHashMap<String, String>) {
    let nodes: FxHashMap<&str, &NodeDef> = graph.nodes.iter().map(|n| (n.name.as_str(), n)).collect();
    let input = |node: &NodeDef, index: usize| {
        let text = node.inputs.get(index)?;
        nodes.get(text.split(':').next()?).copied()
    };
    for assign in graph.nodes.iter().filter(|n| n.op == "AssignVariableOp") {
        let copy = input(assign, 0).and_then(shared_name);
        let read = input(assign, 1).filter(|n| n.op == "ReadVariableOp");
        let own = read.and_then(|n| input(n, 0)).and_then(shared_name);
        if let (Some(copy), Some(own)) = (copy, own)
            && let Some(key) = names.get(&copy).cloned()
        {
            names.entry(own).or_insert(key);
        }
    }
}

/// The arguments that a function restores, with the names of what they get.
fn restored(function: &FunctionDef) -> Option<Vec<(usize, String)>> {
    let node = |name: &str| function.nodes.iter().find(|n| n.name == name);
    let restore = function.nodes.iter().find(|n| n.op == "RestoreV2")?;
    let keys = node(restore.inputs.get(1)?.split(':').next()?)?;
    let Some(Value::Tensor(keys)) = keys.attrs.get("value")?.value.as_ref() else {
        return None;
    };
    let arguments: Vec<&str> = function
        .signature
        .as_ref()?
        .inputs
        .iter()
        .map(|i| i.name.as_str())
        .collect();
    let mut found = Vec::new();
    for assign in function.nodes.iter().filter(|n| n.op == "AssignVariableOp") {
        let argument = arguments
            .iter()
            .position(|a| Some(*a) == assign.inputs.first().map(String::as_str));
        // The value comes from the restoring node, through nodes that hand it on.
        let mut text = assign.inputs.get(1)?.as_str();
        let mut index = None;
        for _ in 0..function.nodes.len() {
            let (name, rest) = text.split_once(':').unwrap_or((text, "0"));
            if name == restore.name {
                index = rest.rsplit(':').next().and_then(|n| n.parse::<usize>().ok());
                break;
            }
            match node(name).and_then(|n| n.inputs.first()) {
                Some(input) => text = input,
                None => break,
            }
        }
        if let (Some(argument), Some(index)) = (argument, index)
            && let Some(key) = keys.strings.get(index)
        {
            let key = String::from_utf8_lossy(key);
            found.push((argument, key.strip_suffix(SUFFIX).unwrap_or(&key).to_owned()));
        }
    }
    Some(found)
}
