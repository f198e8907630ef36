//! The schemas of the protobuf formats: ProgramDesc, from PaddlePaddle's `framework.proto`, and GraphDef, from
//! TensorFlow's `graph.proto` and its imports.

use crate::wire::Count::{Optional, Repeated, Required};
use crate::wire::{Field, FieldType, Schema};

/// Schemas: the name of the message, and for each field its number, name, type and cardinality.
macro_rules! messages {
    (@ Message $of:ident) => { FieldType::Message(&$of) };
    (@ Entry $of:ident) => { FieldType::Entry(&$of) };
    (@ $kind:ident) => { FieldType::$kind };
    ($($vis:vis $id:ident = $name:literal { $($number:literal $field:ident $kind:ident $(($of:ident))? $count:ident,)* })*) => {$(
        $vis static $id: Schema = Schema {
            name: $name,
            fields: &[$(Field($number, stringify!($field), messages!(@ $kind $($of)?), $count)),*],
        };
    )*};
}

messages! {
    pub(crate) PROGRAM = "ProgramDesc" {
        1 blocks Message(PROGRAM_BLOCK) Repeated, 4 version Skipped Optional, 5 op_version_map Skipped Optional,
    }
    PROGRAM_BLOCK = "BlockDesc" {
        1 idx Varint Required, 2 parent_idx Varint Required, 3 vars Message(PROGRAM_VAR) Repeated,
        4 ops Message(PROGRAM_OP) Repeated, 5 forward_block_idx Varint Optional,
    }
    PROGRAM_VAR = "VarDesc" {
        1 name Bytes Required, 2 type Message(PROGRAM_VAR_TYPE) Required, 3 persistable Varint Optional,
        4 need_check_feed Varint Optional, 5 is_parameter Varint Optional, 6 stop_gradient Varint Optional,
        7 attrs Skipped Repeated,
    }
    PROGRAM_VAR_TYPE = "VarType" {
        1 type Varint Required, 2 selected_rows Skipped Optional, 3 dense_tensor Message(PROGRAM_DENSE) Optional,
        4 tensor_array Skipped Optional, 5 reader Skipped Optional, 7 tuple Skipped Optional, 8 string Skipped Optional,
        9 strings Skipped Optional, 10 vocab Skipped Optional, 11 sparse_coo Skipped Optional,
        12 sparse_csr Skipped Optional,
    }
    PROGRAM_DENSE = "VarType.DenseTensorDesc" {
        1 tensor Message(PROGRAM_TENSOR) Required, 2 legacy_lod_level Varint Optional,
    }
    PROGRAM_TENSOR = "VarType.TensorDesc" {
        1 data_type Varint Required, 2 dims Varint Repeated,
    }
    PROGRAM_OP = "OpDesc" {
        1 inputs Message(PROGRAM_OP_VAR) Repeated, 2 outputs Message(PROGRAM_OP_VAR) Repeated, 3 type Bytes Required,
        4 attrs Message(PROGRAM_ATTR) Repeated, 5 is_target Varint Optional,
    }
    PROGRAM_OP_VAR = "OpDesc.Var" {
        1 parameter Bytes Required, 2 arguments Bytes Repeated,
    }
    PROGRAM_ATTR = "OpDesc.Attr" {
        1 name Bytes Required, 2 type Varint Required, 3 i Varint Optional, 4 f Fixed32 Optional, 5 s Bytes Optional,
        6 ints Varint Repeated, 7 floats Fixed32 Repeated, 8 strings Bytes Repeated, 10 b Varint Optional,
        11 bools Varint Repeated, 12 block_idx Varint Optional, 13 l Varint Optional, 14 blocks_idx Varint Repeated,
        15 longs Varint Repeated, 16 float64s Fixed64 Repeated, 17 var_name Bytes Optional, 18 vars_name Bytes Repeated,
        19 float64 Fixed64 Optional, 20 scalar Skipped Optional, 21 scalars Skipped Repeated,
    }
}

messages! {
    pub(crate) GRAPH = "GraphDef" {
        1 node Message(GRAPH_NODE) Repeated, 2 library Message(GRAPH_LIBRARY) Optional, 3 version Varint Optional,
        4 versions Message(GRAPH_VERSIONS) Optional, 5 debug_info Skipped Optional,
    }
    GRAPH_LIBRARY = "FunctionDefLibrary" {
        1 function Message(GRAPH_FUNCTION) Repeated, 2 gradient Skipped Repeated, 3 registered_gradients Skipped Repeated,
    }
    GRAPH_FUNCTION = "FunctionDef" {
        1 signature Message(GRAPH_SIGNATURE) Optional, 3 node_def Message(GRAPH_NODE) Repeated,
        4 ret Message(GRAPH_PAIR) Repeated, 5 attr Skipped Repeated, 6 control_ret Message(GRAPH_PAIR) Repeated, 7 arg_attr Skipped Repeated,
        8 resource_arg_unique_id Skipped Repeated,
    }
    GRAPH_PAIR = "FunctionDef.RetEntry" {
        1 key Bytes Optional, 2 value Bytes Optional,
    }
    GRAPH_SIGNATURE = "OpDef" {
        1 name Bytes Optional, 2 input_arg Message(GRAPH_ARGUMENT) Repeated, 3 output_arg Message(GRAPH_ARGUMENT) Repeated,
        4 attr Skipped Repeated, 5 summary Skipped Optional, 6 description Skipped Optional, 8 deprecation Skipped Optional,
        16 is_aggregate Varint Optional, 17 is_stateful Varint Optional, 18 is_commutative Varint Optional,
        19 allows_uninitialized_input Varint Optional, 20 control_output Bytes Repeated,
        21 is_distributed_communication Varint Optional,
    }
    GRAPH_ARGUMENT = "OpDef.ArgDef" {
        1 name Bytes Optional, 2 description Skipped Optional, 3 type Varint Optional, 4 type_attr Bytes Optional,
        5 number_attr Bytes Optional, 6 type_list_attr Bytes Optional, 7 handle_data Skipped Repeated,
        16 is_ref Varint Optional, 17 experimental_full_type Skipped Optional,
    }
    GRAPH_FUNCTION_NAME = "NameAttrList" {
        1 name Bytes Optional, 2 attr Skipped Repeated,
    }
    GRAPH_VERSIONS = "VersionDef" {
        1 producer Varint Optional, 2 min_consumer Varint Optional, 3 bad_consumers Varint Repeated,
    }
    GRAPH_NODE = "NodeDef" {
        1 name Bytes Optional, 2 op Bytes Optional, 3 input Bytes Repeated, 4 device Bytes Optional,
        5 attr Entry(GRAPH_ATTR) Repeated, 6 experimental_debug_info Skipped Optional,
        7 experimental_type Skipped Optional,
    }
    GRAPH_ATTR = "AttrValue" {
        1 list Message(GRAPH_LIST) Optional, 2 s Bytes Optional, 3 i Varint Optional, 4 f Fixed32 Optional,
        5 b Varint Optional, 6 type Varint Optional, 7 shape Message(GRAPH_SHAPE) Optional,
        8 tensor Message(GRAPH_TENSOR) Optional, 9 placeholder Skipped Optional, 10 func Message(GRAPH_FUNCTION_NAME) Optional,
    }
    GRAPH_LIST = "AttrValue.ListValue" {
        2 s Bytes Repeated, 3 i Varint Repeated, 4 f Fixed32 Repeated, 5 b Varint Repeated, 6 type Varint Repeated,
        7 shape Message(GRAPH_SHAPE) Repeated, 8 tensor Message(GRAPH_TENSOR) Repeated, 9 func Message(GRAPH_FUNCTION_NAME) Repeated,
    }
    GRAPH_SHAPE = "TensorShapeProto" {
        2 dim Message(GRAPH_DIM) Repeated, 3 unknown_rank Varint Optional,
    }
    GRAPH_DIM = "TensorShapeProto.Dim" {
        1 size Varint Optional, 2 name Bytes Optional,
    }
    GRAPH_TENSOR = "TensorProto" {
        1 dtype Varint Optional, 2 tensor_shape Message(GRAPH_SHAPE) Optional, 3 version_number Varint Optional,
        4 tensor_content Bytes Optional, 5 float_val Fixed32 Repeated, 6 double_val Fixed64 Repeated,
        7 int_val Varint Repeated, 8 string_val Bytes Repeated, 9 scomplex_val Fixed32 Repeated,
        10 int64_val Varint Repeated, 11 bool_val Varint Repeated, 12 dcomplex_val Fixed64 Repeated,
        13 half_val Varint Repeated, 14 resource_handle_val Skipped Repeated, 15 variant_val Skipped Repeated,
        16 uint32_val Varint Repeated, 17 uint64_val Varint Repeated, 18 float8_val Bytes Optional,
    }
}
