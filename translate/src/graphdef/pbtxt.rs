//! The text form of a `GraphDef`.

use std::fmt::Write;

use super::proto::{GraphDef, ListValue, TensorProto, TensorShape, Value};
use super::types;

/// Prints a message as text.
pub(super) fn print(graph: &GraphDef) -> String {
    let mut out = String::new();
    for node in &graph.nodes {
        out.push_str("node {\n");
        field(&mut out, 1, "name", &quoted(node.name.as_bytes()));
        field(&mut out, 1, "op", &quoted(node.op.as_bytes()));
        for input in &node.inputs {
            field(&mut out, 1, "input", &quoted(input.as_bytes()));
        }
        if !node.device.is_empty() {
            field(&mut out, 1, "device", &quoted(node.device.as_bytes()));
        }
        for (key, attr) in &node.attrs {
            out.push_str("  attr {\n");
            field(&mut out, 2, "key", &quoted(key.as_bytes()));
            out.push_str("    value {\n");
            if let Some(value) = &attr.value {
                print_value(&mut out, value);
            }
            out.push_str("    }\n  }\n");
        }
        out.push_str("}\n");
    }
    if let Some(versions) = &graph.versions {
        let _ = writeln!(out, "versions {{\n  producer: {}\n}}", versions.producer);
    }
    out
}

fn field(out: &mut String, depth: usize, name: &str, value: &str) {
    let _ = writeln!(out, "{:width$}{name}: {value}", "", width = 2 * depth);
}

fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(byte.into());
            }
            b'\n' => out.push_str("\\n"),
            0x20..0x7f => out.push(byte.into()),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

fn print_value(out: &mut String, value: &Value) {
    const DEPTH: usize = 3;
    match value {
        Value::List(list) => print_list(out, list),
        Value::Bytes(bytes) => field(out, DEPTH, "s", &quoted(bytes)),
        Value::Int(value) => field(out, DEPTH, "i", &value.to_string()),
        Value::Float(value) => field(out, DEPTH, "f", &float((*value).into())),
        Value::Bool(value) => field(out, DEPTH, "b", &value.to_string()),
        Value::Type(code) => field(out, DEPTH, "type", types::name(*code)),
        Value::Shape(shape) => print_shape(out, DEPTH, "shape", shape),
        Value::Tensor(tensor) => print_tensor(out, tensor),
        // No function is written.
        Value::Function(_) => {}
    }
}

fn float(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

fn print_list(out: &mut String, list: &ListValue) {
    out.push_str("      list {\n");
    for bytes in &list.bytes {
        field(out, 4, "s", &quoted(bytes));
    }
    for value in &list.ints {
        field(out, 4, "i", &value.to_string());
    }
    for value in &list.floats {
        field(out, 4, "f", &float((*value).into()));
    }
    for value in &list.bools {
        field(out, 4, "b", &value.to_string());
    }
    for code in &list.types {
        field(out, 4, "type", types::name(*code));
    }
    for shape in &list.shapes {
        print_shape(out, 4, "shape", shape);
    }
    out.push_str("      }\n");
}

fn print_shape(out: &mut String, depth: usize, name: &str, shape: &TensorShape) {
    let width = 2 * depth;
    let _ = writeln!(out, "{:width$}{name} {{", "");
    for dim in &shape.dims {
        let _ = writeln!(
            out,
            "{:width$}  dim {{\n{:width$}    size: {}\n{:width$}  }}",
            "", "", dim.size, ""
        );
    }
    if shape.unknown_rank {
        field(out, depth + 1, "unknown_rank", "true");
    }
    let _ = writeln!(out, "{:width$}}}", "");
}

fn print_tensor(out: &mut String, tensor: &TensorProto) {
    out.push_str("      tensor {\n");
    field(out, 4, "dtype", types::name(tensor.dtype));
    if let Some(shape) = &tensor.shape {
        print_shape(out, 4, "tensor_shape", shape);
    }
    if !tensor.content.is_empty() {
        field(out, 4, "tensor_content", &quoted(&tensor.content));
    }
    let mut list = |name: &str, values: Vec<String>| values.iter().for_each(|v| field(out, 4, name, v));
    list("float_val", tensor.floats.iter().map(|&v| float(v.into())).collect());
    list("double_val", tensor.doubles.iter().map(|&v| float(v)).collect());
    list("int_val", tensor.ints.iter().map(ToString::to_string).collect());
    list("int64_val", tensor.longs.iter().map(ToString::to_string).collect());
    list("bool_val", tensor.bools.iter().map(ToString::to_string).collect());
    list("half_val", tensor.halves.iter().map(ToString::to_string).collect());
    out.push_str("      }\n");
}
