//! What the messages of a program consist of, by PaddlePaddle's `framework.proto`.

use crate::wire::Count::{Optional, Repeated, Required};
use crate::wire::Kind::{Bytes, Fixed32, Fixed64, Message, Skipped, Varint};
use crate::wire::{Field, Schema};

/// The whole file.
pub(super) static PROGRAM: Schema = Schema {
    name: "ProgramDesc",
    fields: &[
        Field(1, "blocks", Message(&BLOCK), Repeated),
        Field(4, "version", Skipped, Optional),
        Field(5, "op_version_map", Skipped, Optional),
    ],
};

static BLOCK: Schema = Schema {
    name: "BlockDesc",
    fields: &[
        Field(1, "idx", Varint, Required),
        Field(2, "parent_idx", Varint, Required),
        Field(3, "vars", Message(&VAR), Repeated),
        Field(4, "ops", Message(&OP), Repeated),
        Field(5, "forward_block_idx", Varint, Optional),
    ],
};

static VAR: Schema = Schema {
    name: "VarDesc",
    fields: &[
        Field(1, "name", Bytes, Required),
        Field(2, "type", Message(&VAR_TYPE), Required),
        Field(3, "persistable", Varint, Optional),
        Field(4, "need_check_feed", Varint, Optional),
        Field(5, "is_parameter", Varint, Optional),
        Field(6, "stop_gradient", Varint, Optional),
        Field(7, "attrs", Skipped, Repeated),
    ],
};

static VAR_TYPE: Schema = Schema {
    name: "VarType",
    fields: &[
        Field(1, "type", Varint, Required),
        Field(2, "selected_rows", Skipped, Optional),
        Field(3, "dense_tensor", Message(&DENSE), Optional),
        Field(4, "tensor_array", Skipped, Optional),
        Field(5, "reader", Skipped, Optional),
        Field(7, "tuple", Skipped, Optional),
        Field(8, "string", Skipped, Optional),
        Field(9, "strings", Skipped, Optional),
        Field(10, "vocab", Skipped, Optional),
        Field(11, "sparse_coo", Skipped, Optional),
        Field(12, "sparse_csr", Skipped, Optional),
    ],
};

static DENSE: Schema = Schema {
    name: "VarType.DenseTensorDesc",
    fields: &[
        Field(1, "tensor", Message(&TENSOR), Required),
        Field(2, "legacy_lod_level", Varint, Optional),
    ],
};

static TENSOR: Schema = Schema {
    name: "VarType.TensorDesc",
    fields: &[
        Field(1, "data_type", Varint, Required),
        Field(2, "dims", Varint, Repeated),
    ],
};

static OP: Schema = Schema {
    name: "OpDesc",
    fields: &[
        Field(1, "inputs", Message(&OP_VAR), Repeated),
        Field(2, "outputs", Message(&OP_VAR), Repeated),
        Field(3, "type", Bytes, Required),
        Field(4, "attrs", Message(&ATTR), Repeated),
        Field(5, "is_target", Varint, Optional),
    ],
};

static OP_VAR: Schema = Schema {
    name: "OpDesc.Var",
    fields: &[
        Field(1, "parameter", Bytes, Required),
        Field(2, "arguments", Bytes, Repeated),
    ],
};

static ATTR: Schema = Schema {
    name: "OpDesc.Attr",
    fields: &[
        Field(1, "name", Bytes, Required),
        Field(2, "type", Varint, Required),
        Field(3, "i", Varint, Optional),
        Field(4, "f", Fixed32, Optional),
        Field(5, "s", Bytes, Optional),
        Field(6, "ints", Varint, Repeated),
        Field(7, "floats", Fixed32, Repeated),
        Field(8, "strings", Bytes, Repeated),
        Field(10, "b", Varint, Optional),
        Field(11, "bools", Varint, Repeated),
        Field(12, "block_idx", Varint, Optional),
        Field(13, "l", Varint, Optional),
        Field(14, "blocks_idx", Varint, Repeated),
        Field(15, "longs", Varint, Repeated),
        Field(16, "float64s", Fixed64, Repeated),
        Field(17, "var_name", Bytes, Optional),
        Field(18, "vars_name", Bytes, Repeated),
        Field(19, "float64", Fixed64, Optional),
        Field(20, "scalar", Skipped, Optional),
        Field(21, "scalars", Skipped, Repeated),
    ],
};
