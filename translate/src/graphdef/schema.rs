//! What the messages of a graph may consist of, by TensorFlow's `graph.proto` and what that includes.

use crate::wire::Count::{Optional, Repeated};
use crate::wire::Kind::{Bytes, Entry, Fixed32, Fixed64, Message, Skipped, Varint};
use crate::wire::{Field, Schema};

/// The whole file. Functions are told by their number only: what calls one is not known here.
pub(super) static GRAPH: Schema = Schema {
    name: "GraphDef",
    fields: &[
        Field(1, "node", Message(&NODE), Repeated),
        Field(2, "library", Skipped, Optional),
        Field(3, "version", Varint, Optional),
        Field(4, "versions", Message(&VERSIONS), Optional),
        Field(5, "debug_info", Skipped, Optional),
    ],
};

static VERSIONS: Schema = Schema {
    name: "VersionDef",
    fields: &[
        Field(1, "producer", Varint, Optional),
        Field(2, "min_consumer", Varint, Optional),
        Field(3, "bad_consumers", Varint, Repeated),
    ],
};

static NODE: Schema = Schema {
    name: "NodeDef",
    fields: &[
        Field(1, "name", Bytes, Optional),
        Field(2, "op", Bytes, Optional),
        Field(3, "input", Bytes, Repeated),
        Field(4, "device", Bytes, Optional),
        Field(5, "attr", Entry(&ATTR), Repeated),
        Field(6, "experimental_debug_info", Skipped, Optional),
        Field(7, "experimental_type", Skipped, Optional),
    ],
};

static ATTR: Schema = Schema {
    name: "AttrValue",
    fields: &[
        Field(1, "list", Message(&LIST), Optional),
        Field(2, "s", Bytes, Optional),
        Field(3, "i", Varint, Optional),
        Field(4, "f", Fixed32, Optional),
        Field(5, "b", Varint, Optional),
        Field(6, "type", Varint, Optional),
        Field(7, "shape", Message(&SHAPE), Optional),
        Field(8, "tensor", Message(&TENSOR), Optional),
        Field(9, "placeholder", Skipped, Optional),
        Field(10, "func", Skipped, Optional),
    ],
};

static LIST: Schema = Schema {
    name: "AttrValue.ListValue",
    fields: &[
        Field(2, "s", Bytes, Repeated),
        Field(3, "i", Varint, Repeated),
        Field(4, "f", Fixed32, Repeated),
        Field(5, "b", Varint, Repeated),
        Field(6, "type", Varint, Repeated),
        Field(7, "shape", Message(&SHAPE), Repeated),
        Field(8, "tensor", Message(&TENSOR), Repeated),
        Field(9, "func", Skipped, Repeated),
    ],
};

static SHAPE: Schema = Schema {
    name: "TensorShapeProto",
    fields: &[
        Field(2, "dim", Message(&DIM), Repeated),
        Field(3, "unknown_rank", Varint, Optional),
    ],
};

static DIM: Schema = Schema {
    name: "TensorShapeProto.Dim",
    fields: &[Field(1, "size", Varint, Optional), Field(2, "name", Bytes, Optional)],
};

static TENSOR: Schema = Schema {
    name: "TensorProto",
    fields: &[
        Field(1, "dtype", Varint, Optional),
        Field(2, "tensor_shape", Message(&SHAPE), Optional),
        Field(3, "version_number", Varint, Optional),
        Field(4, "tensor_content", Bytes, Optional),
        Field(5, "float_val", Fixed32, Repeated),
        Field(6, "double_val", Fixed64, Repeated),
        Field(7, "int_val", Varint, Repeated),
        Field(8, "string_val", Bytes, Repeated),
        Field(9, "scomplex_val", Fixed32, Repeated),
        Field(10, "int64_val", Varint, Repeated),
        Field(11, "bool_val", Varint, Repeated),
        Field(12, "dcomplex_val", Fixed64, Repeated),
        Field(13, "half_val", Varint, Repeated),
        Field(14, "resource_handle_val", Skipped, Repeated),
        Field(15, "variant_val", Skipped, Repeated),
        Field(16, "uint32_val", Varint, Repeated),
        Field(17, "uint64_val", Varint, Repeated),
        Field(18, "float8_val", Bytes, Optional),
    ],
};
