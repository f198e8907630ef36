//! What TensorFlow says of its operations: how many inputs of which types, and which attributes.
//!
//! Whatever stands at a node is held against this, so that nothing is passed over: an input more, an attribute that no
//! operation of the name has, types that do not fit, and attributes that are declared and that nothing here looks at,
//! unless they are as they are without being given.

use pir_dialects::formats;

use super::super::proto::Value;
use super::super::types::{self, RESOURCE};
use super::{Reader, Result, ops};

/// What is declared of an operation: the types of its inputs, and the attributes beside those that name these types or
/// count inputs.
///
/// A type is the attribute that names it, or fixed; with `*` there are as many inputs as the attribute `N` says, with `**`
/// as many as the list of types. Behind `=` stands what an attribute is when it is not given.
#[derive(Clone, Copy)]
struct Signature {
    types: &'static str,
    attrs: &'static str,
}

/// Whether an attribute says nothing of what an operation gives: those with a line in front are notes of the tools.
fn is_note(name: &str) -> bool {
    name.starts_with('_')
}

/// A gradient of its own, which a name in TensorFlow's registry stands for.
const CUSTOM_GRADIENT: &str = "_gradient_op_type";

fn signature(op: &str) -> Option<Signature> {
    if let Some(&(_, types, attrs, _)) = ops::row(op) {
        return Some(Signature { types, attrs });
    }
    let form = formats::from_tensorflow(op)?;
    Some(Signature {
        types: form.types,
        attrs: form.attrs,
    })
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
fn tokens(types: &'static str, count: usize) -> Result<Vec<&'static str>> {
    let spelled: Vec<&'static str> = types.split_whitespace().collect();
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
    let Some(Signature { types, attrs }) = signature(op) else {
        return Ok(());
    };
    let tokens = tokens(types, r.num_inputs(at))?;
    let listed = types.contains("**");
    let counted = !listed && types.contains('*');
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
            let repeats = tokens.len() + 1 - types.split_whitespace().count();
            if !matches!(value, Some(Value::Int(n)) if usize::try_from(*n) == Ok(repeats)) {
                return Err(format!("its attribute `N` is not the number of its inputs, {repeats}"));
            }
        } else if listed && (tokens.contains(&name.as_str())) {
            // The list of types, or the type of another input: compared with what the inputs are by TensorFlow.
        } else if !attrs.split_whitespace().any(|a| a.split('=').next() == Some(name)) {
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
    let Some(Signature { attrs, .. }) = signature(op) else {
        return Ok(());
    };
    let seen = r.seen.borrow();
    if let Some(index) = (0..r.num_inputs(at)).find(|index| !seen.inputs.contains(index)) {
        return Err(format!("its input {index} is not known here"));
    }
    for attr in attrs.split_whitespace() {
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
