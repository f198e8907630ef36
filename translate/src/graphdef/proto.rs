//! `GraphDef` messages. The tags are those of TensorFlow's `graph.proto`; fields that are not needed are omitted.

use std::collections::BTreeMap;

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphDef {
    #[prost(message, repeated, tag = "1")]
    pub(super) nodes: Vec<NodeDef>,
    #[prost(message, optional, tag = "2")]
    pub(super) library: Option<FunctionDefLibrary>,
    #[prost(message, optional, tag = "4")]
    pub(super) versions: Option<VersionDef>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FunctionDefLibrary {
    #[prost(message, repeated, tag = "1")]
    pub(super) functions: Vec<FunctionDef>,
    #[prost(message, repeated, tag = "3")]
    pub(super) gradients: Vec<RegisteredGradient>,
}

/// The function of a custom gradient, and the name that nodes have for it.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RegisteredGradient {
    #[prost(string, tag = "1")]
    pub(super) function: String,
    #[prost(string, tag = "2")]
    pub(super) name: String,
}

/// A function: its nodes read arguments by their names, and results of nodes as `node:output:index`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FunctionDef {
    #[prost(message, optional, tag = "1")]
    pub(super) signature: Option<OpDef>,
    #[prost(message, repeated, tag = "3")]
    pub(super) nodes: Vec<NodeDef>,
    #[prost(btree_map = "string, string", tag = "4")]
    pub(super) results: BTreeMap<String, String>,
    /// The nodes that run for their effects.
    #[prost(btree_map = "string, string", tag = "6")]
    pub(super) controls: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OpDef {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) inputs: Vec<ArgDef>,
    #[prost(message, repeated, tag = "3")]
    pub(super) outputs: Vec<ArgDef>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ArgDef {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

/// The name of a function.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NameAttrList {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct VersionDef {
    #[prost(int32, tag = "1")]
    pub(super) producer: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeDef {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) op: String,
    #[prost(string, repeated, tag = "3")]
    pub(super) inputs: Vec<String>,
    #[prost(string, tag = "4")]
    pub(super) device: String,
    #[prost(btree_map = "string, message", tag = "5")]
    pub(super) attrs: BTreeMap<String, AttrValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttrValue {
    #[prost(oneof = "Value", tags = "1, 2, 3, 4, 5, 6, 7, 8, 10")]
    pub(super) value: Option<Value>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Value {
    #[prost(message, tag = "1")]
    List(ListValue),
    #[prost(bytes = "vec", tag = "2")]
    Bytes(Vec<u8>),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(float, tag = "4")]
    Float(f32),
    #[prost(bool, tag = "5")]
    Bool(bool),
    #[prost(int32, tag = "6")]
    Type(i32),
    #[prost(message, tag = "7")]
    Shape(TensorShape),
    #[prost(message, tag = "8")]
    Tensor(TensorProto),
    #[prost(message, tag = "10")]
    Function(NameAttrList),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ListValue {
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(super) bytes: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "3")]
    pub(super) ints: Vec<i64>,
    #[prost(float, repeated, tag = "4")]
    pub(super) floats: Vec<f32>,
    #[prost(bool, repeated, tag = "5")]
    pub(super) bools: Vec<bool>,
    #[prost(int32, repeated, tag = "6")]
    pub(super) types: Vec<i32>,
    #[prost(message, repeated, tag = "7")]
    pub(super) shapes: Vec<TensorShape>,
    #[prost(message, repeated, tag = "9")]
    pub(super) functions: Vec<NameAttrList>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorShape {
    #[prost(message, repeated, tag = "2")]
    pub(crate) dims: Vec<Dim>,
    #[prost(bool, tag = "3")]
    pub(super) unknown_rank: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Dim {
    #[prost(int64, tag = "1")]
    pub(crate) size: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShape>,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) content: Vec<u8>,
    #[prost(float, repeated, tag = "5")]
    pub(super) floats: Vec<f32>,
    #[prost(double, repeated, tag = "6")]
    pub(super) doubles: Vec<f64>,
    #[prost(int32, repeated, tag = "7")]
    pub(super) ints: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "8")]
    pub(super) strings: Vec<Vec<u8>>,
    /// The real and the imaginary parts in turn.
    #[prost(float, repeated, tag = "9")]
    pub(super) complexes: Vec<f32>,
    #[prost(int64, repeated, tag = "10")]
    pub(super) longs: Vec<i64>,
    #[prost(bool, repeated, tag = "11")]
    pub(super) bools: Vec<bool>,
    /// The real and the imaginary parts in turn.
    #[prost(double, repeated, tag = "12")]
    pub(super) double_complexes: Vec<f64>,
    /// The bits of `half` and `bfloat16` elements.
    #[prost(int32, repeated, tag = "13")]
    pub(super) halves: Vec<i32>,
    #[prost(uint32, repeated, tag = "16")]
    pub(super) unsigned: Vec<u32>,
    #[prost(uint64, repeated, tag = "17")]
    pub(super) unsigned_longs: Vec<u64>,
}

impl ListValue {
    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        *self == ListValue::default()
    }
}

impl TensorShape {
    pub(super) fn of(dims: &[i64]) -> Self {
        TensorShape {
            dims: dims.iter().map(|&size| Dim { size }).collect(),
            unknown_rank: false,
        }
    }

    pub(super) fn unknown() -> Self {
        TensorShape {
            dims: Vec::new(),
            unknown_rank: true,
        }
    }

    /// The dimensions; a negative one is dynamic.
    pub(super) fn known(&self) -> Option<Vec<i64>> {
        (!self.unknown_rank).then(|| self.dims.iter().map(|d| d.size).collect())
    }
}

impl From<Value> for AttrValue {
    fn from(value: Value) -> Self {
        AttrValue { value: Some(value) }
    }
}
