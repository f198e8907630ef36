//! Programs as printed by `print(program)`: a line for each variable and each operation.
//!
//! ```text
//! { // block 0
//!     var i : LOD_TENSOR.shape(1,).dtype(int64).stop_gradient(True)
//!     {Out=['i']} = scale(inputs={ScaleTensor=[], X=['j']}, bias = 1.0, bias_after_scale = True)
//! }
//! ```

use pir_ir::{Context, Diagnostic, Span};

use super::{Arguments, Attribute, Block, Op, Var, error};
use crate::paddle::attributes;

/// A trimmed line of the source.
#[derive(Clone, Copy)]
struct Line<'s> {
    text: &'s str,
    start: usize,
}

impl<'s> Line<'s> {
    fn span(self) -> Span {
        Span::new(self.start, self.start + self.text.len().max(1))
    }

    fn error(self, message: impl Into<String>) -> Diagnostic {
        error(self.span(), message)
    }

    fn words(self) -> impl Iterator<Item = &'s str> {
        self.text.split_whitespace()
    }
}

/// Reads a program.
pub(super) fn read(ctx: &Context, source: &[u8]) -> Result<Vec<Block>, Diagnostic> {
    if u32::try_from(source.len()).is_err() {
        return Err(Diagnostic::error(
            "too-large",
            "a source of 4 GiB or more cannot be read",
        ));
    }
    let source = std::str::from_utf8(source)
        .map_err(|e| error(Span::new(e.valid_up_to(), e.valid_up_to() + 1), "this is not UTF-8"))?;
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    let mut at = 0;
    for raw in source.split_inclusive('\n') {
        let text = raw.trim();
        let line = Line {
            text,
            start: at + (raw.len() - raw.trim_start().len()),
        };
        at += raw.len();
        let Some(first) = line.words().next() else { continue };
        if text == "}" && inside {
            inside = false;
        } else if !inside && text.starts_with('{') && text.contains("//") {
            blocks.push(Block::default());
            inside = true;
        } else if let Some(block) = blocks.last_mut().filter(|_| inside) {
            match first {
                "var" | "persist" | "trainable" | "param" => block.vars.push(read_var(ctx, line)?),
                _ if text.starts_with('{') => block.ops.push(read_op(line)?),
                _ => return Err(line.error("expected a variable, an operation, or `}`")),
            }
        } else {
            return Err(line.error("expected a block, `{ // block 0`"));
        }
    }
    match inside {
        false => Ok(blocks),
        true => Err(error(Span::new(at, at), "the last block has no end, `}`")),
    }
}

/// `persist trainable param w : LOD_TENSOR.shape(8, 8).dtype(float32).stop_gradient(False)`.
fn read_var(ctx: &Context, line: Line<'_>) -> Result<Var, Diagnostic> {
    let (head, tail) = line
        .text
        .split_once(" : ")
        .ok_or_else(|| line.error("expected the type of a variable"))?;
    let name = head.split_whitespace().last().unwrap_or("");
    let part = |key: &str| {
        let (_, rest) = tail.split_once(key)?;
        rest.split_once(')').map(|(inside, _)| inside)
    };
    let tensor = match (part(".shape("), part(".dtype(")) {
        (Some(shape), Some(elem)) => {
            let dims = shape
                .split(',')
                .map(str::trim)
                .filter(|d| !d.is_empty())
                .map(str::parse);
            let dims: Result<Vec<i64>, _> = dims.collect();
            let dims = dims.map_err(|_| line.error("expected the extents of dimensions"))?;
            let elem = elem.rsplit('.').next().unwrap_or(elem).to_ascii_lowercase();
            let elem = attributes::dtype(ctx, &elem);
            elem.map(|elem| (dims, elem))
        }
        _ => None,
    };
    Ok(Var {
        name: name.to_owned(),
        tensor,
        persistable: head.split_whitespace().any(|word| word == "persist"),
        stop_gradient: part(".stop_gradient(") == Some("True"),
        span: line.span(),
    })
}

/// `{Out=['y']} = scale(inputs={X=['x']}, bias = 1.0, sub_block = block[1])`.
fn read_op(line: Line<'_>) -> Result<Op, Diagnostic> {
    let wrong = || line.error("expected an operation, `{Out=['y']} = name(inputs={X=['x']}, attribute = value)`");
    let (outputs, rest) = braces(line.text).ok_or_else(wrong)?;
    let rest = rest.trim_start().strip_prefix('=').ok_or_else(wrong)?.trim_start();
    let (kind, rest) = rest.split_once('(').ok_or_else(wrong)?;
    let rest = rest.strip_prefix("inputs=").ok_or_else(wrong)?;
    let (inputs, rest) = braces(rest).ok_or_else(wrong)?;
    let attributes = rest.trim_start().strip_suffix(')').ok_or_else(wrong)?;
    Ok(Op {
        kind: kind.trim().to_owned(),
        inputs: arguments(inputs).ok_or_else(wrong)?,
        outputs: arguments(outputs).ok_or_else(wrong)?,
        attributes: read_attributes(attributes),
        seen: Default::default(),
        span: line.span(),
    })
}

/// The text between a pair of braces, and the rest. Names do not contain braces.
fn braces(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('{')?.split_once('}')
}

/// `Out=['a', 'b'], Scope=[]`.
fn arguments(text: &str) -> Option<Arguments> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, behind) = rest.split_once("=[")?;
        let (inside, behind) = behind.split_once(']')?;
        let names = inside
            .split(',')
            .map(|n| n.trim().trim_matches(['\'', '"']))
            .filter(|n| !n.is_empty());
        found.push((name.trim().to_owned(), names.map(str::to_owned).collect()));
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    Some(found)
}

/// `, a = 1, b = [1, 2], c = , d = block[1]`. Strings are not quoted: a value ends where `, name = ` follows.
fn read_attributes(text: &str) -> Vec<(String, Attribute)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for piece in text.split(", ") {
        match piece.split_once(" =") {
            Some((name, value)) if is_name(name) => {
                found.push((name.trim_start_matches(',').trim().to_owned(), value.trim().to_owned()));
            }
            // A list, or a string with a comma.
            _ => {
                if let Some((_, value)) = found.last_mut() {
                    value.push_str(", ");
                    value.push_str(piece);
                }
            }
        }
    }
    found
        .into_iter()
        .map(|(name, value)| (name, read_attribute(&value)))
        .collect()
}

fn is_name(text: &str) -> bool {
    let name = text.trim_start_matches(',').trim();
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '.'))
}

fn read_attribute(text: &str) -> Attribute {
    if let Some(index) = text.strip_prefix("block[").and_then(|t| t.strip_suffix(']')) {
        return index
            .parse()
            .map_or_else(|_| Attribute::Str(text.to_owned()), Attribute::Block);
    }
    if let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let items: Vec<&str> = inside.split(',').map(str::trim).filter(|t| !t.is_empty()).collect();
        if let Ok(ints) = items.iter().map(|t| t.parse()).collect() {
            return Attribute::Ints(ints);
        }
        if let Ok(floats) = items.iter().map(|t| t.parse()).collect() {
            return Attribute::Floats(floats);
        }
        return Attribute::Strs(items.iter().map(|t| t.trim_matches(['\'', '"']).to_owned()).collect());
    }
    match text {
        "True" => Attribute::Bool(true),
        "False" => Attribute::Bool(false),
        _ => match (text.parse(), text.parse()) {
            (Ok(int), _) => Attribute::Int(int),
            (_, Ok(float)) => Attribute::Float(float),
            _ => Attribute::Str(text.to_owned()),
        },
    }
}
