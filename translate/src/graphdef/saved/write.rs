//! Writes SavedModels, as TensorFlow 1 did: a graph, signatures, and the variables of a checkpoint.
//!
//! A program that was read from a SavedModel is added to that: its parameters are the variables there, and the other
//! signatures stay. Messages are merged by putting one after the other; only the description of the Python objects, which
//! does not know the new nodes, is omitted. `tf.saved_model.load` then reads the graph.

use std::collections::BTreeMap;

use pir_ir::{Diagnostic, Module};
use prost::Message;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::proto::{GraphDef, NodeDef, TensorShape, Value};
use super::super::write;
use super::{SIGNATURE, Saver, Signature, TensorInfo, decode, restored_variables, shared_name, variables};
use crate::wire;

/// The signature that gives gradients.
pub const GRADIENTS: &str = "gradients";

/// The method name of TensorFlow's own signatures.
const METHOD: &str = "tensorflow/serving/predict";

/// The options for writing a SavedModel.
#[derive(Clone, Copy, Default, Debug)]
pub struct Saved<'a> {
    /// The `saved_model.pb` whose signatures are kept.
    pub base: Option<&'a [u8]>,
    /// Parameters are variables of `base`, and not inputs.
    pub variables: bool,
    /// The name of the signature without the gradients; `serving_default` if it is not given.
    pub signature: Option<&'a str>,
}

#[derive(Clone, PartialEq, Message)]
struct Part {
    #[prost(message, optional, tag = "1")]
    info: Option<Info>,
    #[prost(message, optional, tag = "2")]
    graph: Option<GraphDef>,
    #[prost(message, optional, tag = "3")]
    saver: Option<Saver>,
    #[prost(btree_map = "string, message", tag = "4")]
    collections: BTreeMap<String, Collection>,
    #[prost(btree_map = "string, message", tag = "5")]
    signatures: BTreeMap<String, Signature>,
}

#[derive(Clone, PartialEq, Message)]
struct Info {
    #[prost(string, repeated, tag = "4")]
    tags: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Collection {
    #[prost(message, optional, tag = "2")]
    bytes: Option<ByteList>,
}

#[derive(Clone, PartialEq, Message)]
struct ByteList {
    #[prost(bytes = "vec", repeated, tag = "1")]
    values: Vec<Vec<u8>>,
}

/// A variable as the collections of a graph describe it.
#[derive(Clone, PartialEq, Message)]
struct Variable {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    initializer: String,
    #[prost(string, tag = "3")]
    snapshot: String,
    #[prost(bool, tag = "5")]
    is_resource: bool,
    #[prost(bool, tag = "7")]
    trainable: bool,
}

/// The fields of the generated messages.
const GRAPHS: u64 = 2;
const OBJECTS: u64 = 7;

/// Writes a program as `saved_model.pb`.
///
/// The signature of `options` returns all outputs except gradients, and the signature `gradients` all outputs.
///
/// # Errors
/// Constructs that TensorFlow's graphs cannot express, and parameters that are not variables of the base.
pub fn write_saved(module: &Module, options: Saved<'_>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let base = options.base.map(decode).transpose()?.unwrap_or_default();
    let graph = base.graph.unwrap_or_default();
    let variables = match options.variables {
        true => Variables::of(&graph),
        false => Variables::default(),
    };
    let around = write::Surroundings {
        taken: graph.nodes.iter().map(|n| n.name.clone()).collect(),
        variables: variables.handles.clone(),
        ..Default::default()
    };
    let mut written = write::graph(module, around)?;
    let kept = |name: &str| base.signatures.contains_key(name);
    let signatures = signatures(&written, options.signature.unwrap_or(SIGNATURE), kept);
    let collections = collections(&mut written, &graph, &variables.handles);
    let saver = base
        .saver
        .and_then(|saver| restore(&mut written, &graph, &variables, &saver.restore));
    let part = Part {
        info: options.base.is_none().then(|| Info {
            tags: vec!["serve".to_owned()],
        }),
        graph: Some(written),
        saver,
        collections,
        signatures,
    };
    let mut meta = options.base.map(without_objects).unwrap_or_default();
    meta.extend(part.encode_to_vec());
    // The version of the format, and the graph.
    let mut out = vec![0x08, 1, (GRAPHS << 3 | 2) as u8];
    prost::encoding::encode_varint(meta.len() as u64, &mut out);
    out.extend(meta);
    Ok(out)
}

/// The bytes of the graph in a SavedModel, without the description of its objects.
fn without_objects(source: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for whole in wire::spans(source, GRAPHS) {
        let (fields, _) = wire::fields(source, whole.start as usize, whole.end as usize);
        for field in fields.iter().filter(|f| f.number != OBJECTS) {
            out.extend_from_slice(&source[field.at..field.end]);
        }
    }
    out
}

/// The variables of a graph.
#[derive(Default)]
struct Variables {
    /// The node of each, by the name in the checkpoint.
    handles: FxHashMap<String, String>,
    /// The nodes of what is restored in their place.
    restored: Vec<(String, String)>,
}

impl Variables {
    /// Keras restores copies of the variables that its functions read.
    fn of(graph: &GraphDef) -> Variables {
        let (restored, all) = (restored_variables(graph), variables(graph));
        let (mut found, mut copies) = (Variables::default(), FxHashMap::default());
        for node in &graph.nodes {
            let Some(shared) = shared_name(node) else { continue };
            let key = all.get(&shared).unwrap_or(&shared).clone();
            let nodes = match restored.contains_key(&shared) {
                true => &mut copies,
                false => &mut found.handles,
            };
            nodes.entry(key).or_insert_with(|| node.name.clone());
        }
        for (key, copy) in copies {
            match found.handles.get(&key) {
                Some(own) => found.restored.push((own.clone(), copy)),
                None => drop(found.handles.insert(key, copy)),
            }
        }
        found.restored.sort();
        found
    }
}

/// Adds to what is restored that variables get the values of their copies.
fn restore(written: &mut GraphDef, base: &GraphDef, variables: &Variables, before: &str) -> Option<Saver> {
    const RESTORE: &str = "pir/restore";
    if variables.restored.is_empty() {
        return None;
    }
    let dtypes: FxHashMap<&str, &NodeDef> = base.nodes.iter().map(|n| (n.name.as_str(), n)).collect();
    let mut all = vec![format!("^{before}")];
    for (own, copy) in &variables.restored {
        let dtype = dtypes.get(copy.as_str()).and_then(|n| n.attrs.get("dtype")).cloned()?;
        let mut add = |end: &str, op: &str, inputs: Vec<String>| {
            let name = format!("{own}/pir/{end}");
            written.nodes.push(NodeDef {
                name: name.clone(),
                op: op.to_owned(),
                inputs,
                attrs: BTreeMap::from([("dtype".to_owned(), dtype.clone())]),
                ..NodeDef::default()
            });
            name
        };
        let value = add("restored", "ReadVariableOp", vec![copy.clone(), format!("^{before}")]);
        let assign = add("restore", "AssignVariableOp", vec![own.clone(), value]);
        all.push(format!("^{assign}"));
    }
    written.nodes.push(NodeDef {
        name: RESTORE.to_owned(),
        op: "NoOp".to_owned(),
        inputs: all,
        ..NodeDef::default()
    });
    Some(Saver {
        restore: RESTORE.to_owned(),
    })
}

fn text<'a>(node: &'a NodeDef, name: &str) -> Option<std::borrow::Cow<'a, str>> {
    match node.attrs.get(name)?.value.as_ref()? {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    }
}

/// The tensor that a node gives or takes.
fn info(node: &NodeDef, dtype: &str) -> TensorInfo {
    let shape = match node.attrs.get("_output_shapes").and_then(|a| a.value.as_ref()) {
        Some(Value::List(list)) => list.shapes.first().cloned(),
        _ => None,
    };
    let shape = shape.or_else(|| match node.attrs.get("shape")?.value.as_ref()? {
        Value::Shape(shape) => Some(shape.clone()),
        _ => None,
    });
    TensorInfo {
        name: format!("{}:0", node.name),
        dtype: match node.attrs.get(dtype).and_then(|a| a.value.as_ref()) {
            Some(Value::Type(code)) => *code,
            _ => 0,
        },
        shape: Some(shape.unwrap_or_else(TensorShape::unknown)),
    }
}

/// The signatures of a graph. One without gradients that the base has is left as it is there if there are gradients.
fn signatures(graph: &GraphDef, name: &str, kept: impl Fn(&str) -> bool) -> BTreeMap<String, Signature> {
    let (mut inputs, mut outputs) = (BTreeMap::new(), BTreeMap::new());
    let mut parameters = FxHashSet::default();
    for node in &graph.nodes {
        if let Some(key) = text(node, "_input") {
            parameters.insert(key.clone().into_owned());
            inputs.insert(key.into_owned(), info(node, "dtype"));
        } else if let Some(key) = text(node, "_output") {
            outputs.insert(key.into_owned(), info(node, "T"));
        } else if let Some(key) = text(node, "_variable") {
            parameters.insert(key.into_owned());
        }
    }
    // `x_grad`; `x_grad_2` is of the second order.
    let of = |key: &str| {
        let end = key
            .rsplit_once('_')
            .filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
        let (key, _) = end.unwrap_or((key, ""));
        key.strip_suffix("_grad")
            .is_some_and(|input| parameters.contains(input))
    };
    let values: BTreeMap<_, _> = outputs
        .iter()
        .filter(|(key, _)| !of(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let has_gradients = values.len() < outputs.len();
    let signature = |outputs| Signature {
        inputs: inputs.clone(),
        outputs,
        method: METHOD.to_owned(),
    };
    let mut all = BTreeMap::new();
    let stays = has_gradients && kept(name);
    if !values.is_empty() && !stays {
        all.insert(name.to_owned(), signature(values));
    }
    if has_gradients {
        all.insert(GRADIENTS.to_owned(), signature(outputs));
    }
    all
}

/// Describes the variables of a graph, so that `tf.saved_model.load` gives them as `variables`.
fn collections(
    written: &mut GraphDef,
    base: &GraphDef,
    handles: &FxHashMap<String, String>,
) -> BTreeMap<String, Collection> {
    let mut names: Vec<&String> = handles.values().collect();
    names.sort();
    let own: FxHashMap<&str, &NodeDef> = base.nodes.iter().map(|n| (n.name.as_str(), n)).collect();
    let mut all = Vec::new();
    for handle in names {
        let Some(dtype) = own.get(handle.as_str()).and_then(|n| n.attrs.get("dtype")).cloned() else {
            continue;
        };
        let node = |end: &str, op: &str, inputs: &[&str]| NodeDef {
            name: format!("{handle}/{end}"),
            op: op.to_owned(),
            inputs: inputs.iter().map(|i| (*i).to_owned()).collect(),
            attrs: BTreeMap::from([("dtype".to_owned(), dtype.clone())]),
            ..NodeDef::default()
        };
        let read = node("pir/read", "ReadVariableOp", &[handle]);
        let assign = node("pir/assign", "AssignVariableOp", &[handle, &read.name]);
        let variable = Variable {
            name: format!("{handle}:0"),
            initializer: assign.name.clone(),
            snapshot: format!("{}:0", read.name),
            is_resource: true,
            trainable: true,
        };
        all.push(variable.encode_to_vec());
        written.nodes.extend([read, assign]);
    }
    if all.is_empty() {
        return BTreeMap::new();
    }
    let collection = Collection {
        bytes: Some(ByteList { values: all }),
    };
    let names = ["variables", "trainable_variables"];
    names.map(|name| (name.to_owned(), collection.clone())).into()
}
