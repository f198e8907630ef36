//! Programs from before PaddlePaddle 3: a list of blocks whose operations change variables by name.
//!
//! They come as protobuf messages (`.pdmodel`, `__model__`) or as Paddle prints them. Both are parsed into the same
//! data, which `translate` converts to SSA form.

mod arrays;
mod defaults;
mod dump;
mod optimizers;
mod ordinary;
mod pairs;
mod proto;
mod translate;

use std::cell::RefCell;

use pir_ir::{Context, Diagnostic, Span, Type};

use super::build::Builder;

/// An attribute.
#[derive(Clone, PartialEq, Debug)]
enum Attribute {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Strs(Vec<String>),
    /// The number of a block.
    Block(usize),
}

/// The names of the variables that an operation has for a parameter.
type Arguments = Vec<(String, Vec<String>)>;

#[derive(Clone, Default, Debug)]
struct Op {
    kind: String,
    inputs: Arguments,
    outputs: Arguments,
    attributes: Vec<(String, Attribute)>,
    /// The names of the attributes that were read.
    seen: RefCell<Vec<String>>,
    span: Span,
}

#[derive(Clone, Default, Debug)]
struct Var {
    name: String,
    /// The shape and the element type, of a tensor.
    tensor: Option<(Vec<i64>, Type)>,
    persistable: bool,
    stop_gradient: bool,
    span: Span,
}

#[derive(Clone, Default, Debug)]
struct Block {
    vars: Vec<Var>,
    ops: Vec<Op>,
}

impl Op {
    fn arguments<'a>(list: &'a Arguments, parameter: &str) -> &'a [String] {
        list.iter()
            .find(|(name, _)| name == parameter)
            .map_or(&[], |(_, names)| names)
    }

    fn inputs(&self, parameter: &str) -> &[String] {
        Self::arguments(&self.inputs, parameter)
    }

    fn input(&self, parameter: &str) -> Option<&str> {
        self.inputs(parameter).first().map(String::as_str)
    }

    fn outputs(&self, parameter: &str) -> &[String] {
        Self::arguments(&self.outputs, parameter)
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        let (name, value) = self.attributes.iter().find(|(n, _)| n == name)?;
        self.understand(&[name]);
        Some(value)
    }

    /// Marks attributes as read, because they have no effect or are implied elsewhere.
    fn understand(&self, names: &[&str]) {
        self.seen.borrow_mut().extend(names.iter().map(|&name| name.to_owned()));
    }

    fn int(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            Attribute::Int(value) => Some(*value),
            Attribute::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    fn sub_block(&self) -> Option<usize> {
        match self.attribute("sub_block")? {
            Attribute::Block(index) => Some(*index),
            Attribute::Int(index) => usize::try_from(*index).ok(),
            _ => None,
        }
    }
}

/// The element type with Paddle's number.
fn dtype(ctx: &Context, code: i64) -> Option<Type> {
    let name = match code {
        0 => "bool",
        1 => "int16",
        2 => "int32",
        3 => "int64",
        4 => "float16",
        5 => "float32",
        6 => "float64",
        20 => "uint8",
        21 => "int8",
        22 => "bfloat16",
        23 => "complex64",
        24 => "complex128",
        _ => return None,
    };
    super::attributes::dtype(ctx, name)
}

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("paddle-program", message)
        .label(span, "")
        .help("PaddlePaddle 2 programs are read in saved form, `__model__` or `.pdmodel`, and in printed form")
}

/// Whether a file looks like a protobuf message of such a program: its first field is a block, whose first field is its
/// index and whose second is its parent's.
pub(crate) fn is_proto(source: &[u8]) -> bool {
    let Some(rest) = source.strip_prefix(b"\x0a") else {
        return false;
    };
    let length = rest.iter().take(10).take_while(|&&byte| byte >= 0x80).count();
    rest.get(length + 1..)
        .and_then(|block| block.strip_prefix(b"\x08"))
        .and_then(|number| number.split_at_checked(1 + number.iter().take(9).take_while(|&&byte| byte >= 0x80).count()))
        .is_some_and(|(_, rest)| rest.starts_with(b"\x10"))
}

/// Whether a file looks like such a program as Paddle prints it: `{ // block 0`.
pub(crate) fn is_dump(source: &[u8]) -> bool {
    let comment = source
        .trim_ascii_start()
        .strip_prefix(b"{")
        .map(<[u8]>::trim_ascii_start);
    let comment = comment
        .and_then(|rest| rest.strip_prefix(b"//"))
        .map(<[u8]>::trim_ascii_start);
    comment.is_some_and(|text| text.starts_with(b"block"))
}

/// Reads a protobuf message.
pub(super) fn read_proto(builder: &mut Builder<'_>, source: &[u8]) {
    match proto::read(builder.ctx, source) {
        Ok(blocks) => translate::translate(builder, &optimizers::split_all(blocks)),
        Err(errors) => builder.errors.extend(errors),
    }
    // The format has no lines: the message gives the byte offset.
    for error in &mut builder.errors {
        let place = error.labels.first().map(|label| label.span.start).filter(|&at| at > 0);
        if let Some(at) = place {
            error.message += &format!(", at byte {at}");
            error.labels.clear();
        }
    }
}

/// Reads a printed program.
pub(super) fn read_dump(builder: &mut Builder<'_>, source: &[u8]) {
    match dump::read(builder.ctx, source) {
        Ok(blocks) => translate::translate(builder, &optimizers::split_all(blocks)),
        Err(error) => builder.errors.push(error),
    }
}
