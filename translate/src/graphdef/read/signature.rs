//! What TensorFlow says of its operations: how many inputs of which types, and which attributes.
//!
//! Whatever stands at a node is held against this, so that nothing is passed over: an input more, an attribute that no
//! operation of the name has, types that do not fit, and attributes that are declared and that nothing here looks at,
//! unless they are as they are without being given.

use super::super::proto::Value;
use super::super::types::{self, RESOURCE};
use super::{Reader, Result};

/// The name, the types of the inputs, the attributes beside those that name these types or count inputs.
///
/// A type is the attribute that names it, or fixed; with `*` there are as many inputs as the attribute `N` says, with `**`
/// as many as the list of types. Behind `=` stands what an attribute is when it is not given.
type Row = (&'static str, &'static str, &'static str);

/// By name.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("Abs", "T", ""),
    ("Acos", "T", ""),
    ("Acosh", "T", ""),
    ("Add", "T T", ""),
    ("AddN", "T*", ""),
    ("AddV2", "T T", ""),
    ("All", "bool Tidx", "keep_dims=false"),
    ("Any", "bool Tidx", "keep_dims=false"),
    ("ArgMax", "T Tidx", "output_type=DT_INT64"),
    ("ArgMin", "T Tidx", "output_type=DT_INT64"),
    ("Asin", "T", ""),
    ("Asinh", "T", ""),
    ("Atan", "T", ""),
    ("Atan2", "T T", ""),
    ("Atanh", "T", ""),
    ("BatchMatMul", "T T", "adj_x=false adj_y=false grad_x=false grad_y=false"),
    ("BatchMatMulV2", "T T", "adj_x=false adj_y=false grad_x=false grad_y=false"),
    ("BiasAdd", "T T", "data_format=NHWC"),
    ("BitwiseAnd", "T T", ""),
    ("BitwiseOr", "T T", ""),
    ("BitwiseXor", "T T", ""),
    ("BroadcastTo", "T Tidx", ""),
    ("Cast", "SrcT", "DstT Truncate=false"),
    ("Ceil", "T", ""),
    ("ConcatV2", "T* Tidx", ""),
    ("Const", "", "value dtype"),
    ("Cos", "T", ""),
    ("Cosh", "T", ""),
    ("Cumprod", "T Tidx", "exclusive=false reverse=false"),
    ("Cumsum", "T Tidx", "exclusive=false reverse=false"),
    ("Div", "T T", ""),
    ("Einsum", "T*", "equation"),
    ("Elu", "T", ""),
    ("Enter", "T", "frame_name is_constant=false parallel_iterations=10"),
    ("Equal", "T T", "incompatible_shape_error=true"),
    ("Erf", "T", ""),
    ("Erfc", "T", ""),
    ("Exit", "T", ""),
    ("Exp", "T", ""),
    ("ExpandDims", "T Tdim", ""),
    ("Expm1", "T", ""),
    ("Fill", "index_type T", ""),
    ("Floor", "T", ""),
    ("FloorDiv", "T T", ""),
    ("FloorMod", "T T", ""),
    ("GatherNd", "Tparams Tindices", "bad_indices_policy="),
    ("GatherV2", "Tparams Tindices Taxis", "batch_dims=0"),
    ("Greater", "T T", ""),
    ("GreaterEqual", "T T", ""),
    ("Identity", "T", ""),
    ("Invert", "T", ""),
    ("IsFinite", "T", ""),
    ("IsInf", "T", ""),
    ("IsNan", "T", ""),
    ("LeakyRelu", "T", "alpha=0.2"),
    ("Less", "T T", ""),
    ("LessEqual", "T T", ""),
    ("Log", "T", ""),
    ("Log1p", "T", ""),
    ("LogSoftmax", "T", ""),
    ("LogicalAnd", "bool bool", ""),
    ("LogicalNot", "bool", ""),
    ("LogicalOr", "bool bool", ""),
    ("LoopCond", "bool", ""),
    ("MatMul", "T T", "transpose_a=false transpose_b=false grad_a=false grad_b=false"),
    ("MatrixBandPart", "T Tindex Tindex", ""),
    ("Max", "T Tidx", "keep_dims=false"),
    ("Maximum", "T T", ""),
    ("Mean", "T Tidx", "keep_dims=false"),
    ("Merge", "T*", ""),
    ("Min", "T Tidx", "keep_dims=false"),
    ("Minimum", "T T", ""),
    ("Mul", "T T", ""),
    ("Neg", "T", ""),
    ("NextIteration", "T", ""),
    ("NoOp", "", ""),
    ("NotEqual", "T T", "incompatible_shape_error=true"),
    ("OneHot", "TI i32 T T", "axis=-1"),
    ("OnesLike", "T", ""),
    ("Pack", "T*", "axis=0"),
    ("Pad", "T Tpaddings", ""),
    ("PadV2", "T Tpaddings T", ""),
    ("Placeholder", "", "dtype shape=?"),
    ("Pow", "T T", ""),
    ("PreventGradient", "T", "message="),
    ("Print", "T U**", "message= first_n=-1 summarize=3"),
    ("Prod", "T Tidx", "keep_dims=false"),
    ("Range", "Tidx Tidx Tidx", ""),
    ("RealDiv", "T T", ""),
    ("Reciprocal", "T", ""),
    ("Relu", "T", ""),
    ("Relu6", "T", ""),
    ("ReluGrad", "T T", ""),
    ("Reshape", "T Tshape", ""),
    ("ReverseV2", "T Tidx", ""),
    ("Roll", "T Tshift Taxis", ""),
    ("Rsqrt", "T", ""),
    ("RsqrtGrad", "T T", ""),
    ("ScatterNd", "Tindices T Tindices", "bad_indices_policy="),
    ("Select", "bool T T", ""),
    ("SelectV2", "bool T T", ""),
    ("Selu", "T", ""),
    ("Shape", "T", "out_type=DT_INT32"),
    ("Sigmoid", "T", ""),
    ("SigmoidGrad", "T T", ""),
    ("Sign", "T", ""),
    ("Sin", "T", ""),
    ("Sinh", "T", ""),
    ("Size", "T", "out_type=DT_INT32"),
    ("Snapshot", "T", ""),
    ("Softmax", "T", ""),
    ("Softplus", "T", ""),
    ("Softsign", "T", ""),
    ("Split", "i32 T", "num_split"),
    ("SplitV", "T Tlen i32", "num_split"),
    ("Sqrt", "T", ""),
    ("SqrtGrad", "T T", ""),
    ("Square", "T", ""),
    ("Squeeze", "T", "squeeze_dims=[]"),
    ("StackPopV2", "handle", "elem_type"),
    ("StackPushV2", "handle T", "swap_memory=false"),
    ("StackV2", "i32", "elem_type stack_name="),
    ("StopGradient", "T", ""),
    ("StridedSlice", "T Index Index Index", "begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0"),
    ("StridedSliceGrad", "Index Index Index Index T", "begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0"),
    ("Sub", "T T", ""),
    ("Sum", "T Tidx", "keep_dims=false"),
    ("Switch", "T bool", ""),
    ("Tan", "T", ""),
    ("Tanh", "T", ""),
    ("TanhGrad", "T T", ""),
    ("TensorScatterAdd", "T Tindices T", "bad_indices_policy="),
    ("Tile", "T Tmultiples", ""),
    ("TopKV2", "T Tk", "sorted=true index_type=DT_INT32"),
    ("Transpose", "T Tperm", ""),
    ("TruncateDiv", "T T", ""),
    ("Unpack", "T", "num axis=0"),
    ("UnsortedSegmentSum", "T Tindices Tnumsegments", ""),
    ("ZerosLike", "T", ""),
];

/// Whether an attribute says nothing of what an operation gives: those with a line in front are notes of the tools.
fn is_note(name: &str) -> bool {
    name.starts_with('_')
}

/// A gradient of its own, which a name in TensorFlow's registry stands for.
const CUSTOM_GRADIENT: &str = "_gradient_op_type";

fn row(op: &str) -> Option<&'static Row> {
    ROWS.binary_search_by_key(&op, |row| row.0)
        .ok()
        .and_then(|at| ROWS.get(at))
}

/// The code of a fixed type.
fn fixed(token: &str) -> Option<i32> {
    Some(match token {
        "bool" => types::BOOL,
        "i32" => types::INT32,
        "handle" => RESOURCE,
        _ => return None,
    })
}

/// The type of each input, as the row says; variable ones are repeated.
fn tokens(row: &Row, count: usize) -> Result<Vec<&'static str>> {
    let spelled: Vec<&'static str> = row.1.split_whitespace().collect();
    let some = spelled.iter().position(|t| t.ends_with('*'));
    let least = spelled.len() - usize::from(some.is_some());
    let wrong = || {
        format!(
            "it has {count} inputs, and should have {}{least}",
            if some.is_some() { "more than " } else { "" }
        )
    };
    let Some(some) = some else {
        return if count == least { Ok(spelled) } else { Err(wrong()) };
    };
    let repeats = count.checked_sub(least).filter(|&n| n > 0).ok_or_else(wrong)?;
    let mut all = spelled.clone();
    let token = spelled.get(some).map_or("", |t| t.trim_end_matches('*'));
    all.splice(some..=some, vec![token; repeats]);
    Ok(all)
}

/// Holds the inputs and attributes of a node against what its operation has. Nothing is said of operations without a row.
pub(super) fn check(r: &Reader<'_>, at: usize, op: &str) -> Result<()> {
    let node = &r.nodes[at];
    if node.attrs.contains_key(CUSTOM_GRADIENT) {
        return Err(format!(
            "it has a gradient of its own (`{CUSTOM_GRADIENT}`), which is not in the file"
        ));
    }
    let Some(row) = row(op) else { return Ok(()) };
    let tokens = tokens(row, r.num_inputs(at))?;
    let listed = row.1.contains("**");
    let counted = !listed && row.1.contains('*');
    // What each type attribute is: as it is given, or as the first input says.
    let mut named: Vec<(&str, i32, String)> = Vec::new();
    for (name, value) in &node.attrs {
        let value = value.value.as_ref();
        if is_note(name) {
            continue;
        }
        if tokens.contains(&name.as_str()) && !listed {
            let Some(Value::Type(code)) = value else {
                return Err(format!("its attribute `{name}` is not a type"));
            };
            named.push((name, *code, format!("`{name}`")));
        } else if name == "N" && counted {
            let repeats = tokens.len() + 1 - row.1.split_whitespace().count();
            if !matches!(value, Some(Value::Int(n)) if usize::try_from(*n) == Ok(repeats)) {
                return Err(format!("its attribute `N` is not the number of its inputs, {repeats}"));
            }
        } else if listed && (tokens.contains(&name.as_str())) {
            // The list of types, or the type of another input: compared with what the inputs are by TensorFlow.
        } else if !row.2.split_whitespace().any(|a| a.split('=').next() == Some(name)) {
            return Err(format!("it has an attribute `{name}`, which no `{op}` has"));
        }
    }
    for (index, token) in tokens.iter().enumerate() {
        let Some(code) = r.input_code(at, index) else { continue };
        let want = match fixed(token) {
            Some(code) => Some((code, "the operation".to_owned())),
            None => named.iter().find(|n| n.0 == *token).map(|n| (n.1, n.2.clone())),
        };
        match want {
            _ if listed => {}
            Some((want, _)) if want == code => {}
            Some((want, by)) => {
                return Err(format!(
                    "its input {index} is of type {}, where {by} says {}",
                    types::name(code),
                    types::name(want)
                ));
            }
            None => named.push((token, code, format!("input {index}"))),
        }
    }
    Ok(())
}

/// What nobody has looked at when a node was read: an error, unless it says what goes without saying.
pub(super) fn rest(r: &Reader<'_>, at: usize, op: &str) -> Result<()> {
    let Some(row) = row(op) else { return Ok(()) };
    let seen = r.seen.borrow();
    if let Some(index) = (0..r.num_inputs(at)).find(|index| !seen.inputs.contains(index)) {
        return Err(format!("its input {index} is not known here"));
    }
    for attr in row.2.split_whitespace() {
        let (name, default) = attr.split_once('=').map_or((attr, None), |(n, d)| (n, Some(d)));
        let Some(value) = r.nodes[at].attrs.get(name) else {
            continue;
        };
        let usual = value
            .value
            .as_ref()
            .is_some_and(|v| default.is_some_and(|d| says(v, d)));
        if !usual && !seen.attrs.iter().any(|a| a == name) {
            return Err(format!("its attribute `{name}` has a value that is not known here"));
        }
    }
    Ok(())
}

/// Whether a value is what a row says.
fn says(value: &Value, text: &str) -> bool {
    match value {
        Value::Bool(value) => text == if *value { "true" } else { "false" },
        Value::Int(value) => text.parse() == Ok(*value),
        Value::Float(value) => text.parse() == Ok(*value),
        Value::Bytes(bytes) => bytes == text.as_bytes(),
        Value::Type(code) => text == types::name(*code),
        Value::List(list) => text == "[]" && list.is_empty(),
        Value::Shape(shape) => text == "?" && shape.unknown_rank,
        Value::Tensor(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::table::{BINARY, UNARY};
    use super::super::{moves, ops};
    use super::*;

    #[test]
    fn every_operation_has_a_row() {
        assert!(ROWS.is_sorted_by_key(|row| row.0));
        let tables = ops::TABLE.iter().chain(moves::TABLE).map(|(name, _)| *name);
        let names = UNARY.iter().chain(BINARY).map(|(_, name)| *name);
        let all: Vec<&str> = tables
            .chain(names)
            .chain(ops::ALIASES.iter().map(|(name, _)| *name))
            .collect();
        assert!(all.len() > 130, "{}", all.len());
        for name in all {
            assert!(row(name).is_some(), "{name}");
        }
    }
}
