//! The signatures of TensorFlow's operations: the number and types of inputs, and the attributes.
//!
//! Every node is checked against its signature, so that nothing is ignored: surplus inputs, undeclared attributes,
//! mismatched types, and declared attributes that no reader uses, unless they have their default.

use pir_dialects::formats;

use super::super::proto::Value;
use super::super::types::{self, RESOURCE};
use super::reader::{Reader, Result};
use super::{custom, ops};

/// A signature: the types of the inputs, and the attributes other than those that name these types or count inputs.
///
/// A type is the attribute that names it, or fixed. `*` repeats it as often as the attribute `N`, `**` as often as the
/// list of types is long. An attribute's default follows `=`.
#[derive(Clone, Copy)]
struct Signature {
    types: &'static str,
    attrs: &'static str,
}

/// Whether an attribute has no effect on the results: those with a leading underscore are annotations of tools.
fn is_note(name: &str) -> bool {
    name.starts_with('_') || NOTES.contains(&name)
}

/// Attributes without a leading underscore that have no effect here: where a product comes from, whether shapes that do not
/// fit are an error (they are), and types that follow from the inputs.
const NOTES: &[&str] = &["grad_a", "grad_b", "incompatible_shape_error", "Tshape"];

/// A custom gradient, by its name in TensorFlow's registry.
const CUSTOM_GRADIENT: &str = "_gradient_op_type";

fn signature(op: &str) -> Option<Signature> {
    if let Some(&(_, types, attrs, _)) = ops::row(op) {
        // Behind the arrow are the names of the results.
        let types = types.split(" ->").next().unwrap_or(types);
        return Some(Signature { types, attrs });
    }
    let form = formats::from_tensorflow(op)?;
    Some(Signature {
        types: form.types,
        attrs: form.attrs,
    })
}

/// The number of an operation's first result of this name, if it has several names.
pub(super) fn first_result(op: &str, name: &str) -> Option<usize> {
    let (_, names) = ops::row(op)?.1.split_once("->")?;
    names.split_whitespace().position(|n| n == name)
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

/// The type of each input of the signature, with repetitions expanded.
fn tokens(types: &'static str, count: usize) -> Result<Vec<&'static str>> {
    let spelled: Vec<&'static str> = types.split_whitespace().collect();
    if spelled.len() > 1 && spelled.iter().all(|token| token.ends_with('*')) {
        // Lists of one length.
        let lists = spelled.len();
        let list = |token: &&'static str| vec![token.trim_end_matches('*'); count / lists];
        return match count.is_multiple_of(lists) && count > 0 {
            true => Ok(spelled.iter().flat_map(list).collect()),
            false => Err(format!(
                "it has {count} inputs, which are not {lists} lists of one length"
            )),
        };
    }
    let some = spelled.iter().position(|t| t.ends_with('*'));
    let least = spelled.len() - usize::from(some.is_some());
    let wrong = || {
        format!(
            "expected {}{least} inputs, found {count}",
            if some.is_some() { "more than " } else { "" }
        )
    };
    let Some(some) = some else {
        return if count == least { Ok(spelled) } else { Err(wrong()) };
    };
    let none = types.contains("**");
    let repeats = count.checked_sub(least).filter(|&n| n > 0 || none).ok_or_else(wrong)?;
    let mut all = spelled.clone();
    let token = spelled.get(some).map_or("", |t| t.trim_end_matches('*'));
    all.splice(some..=some, vec![token; repeats]);
    Ok(all)
}

/// Checks the inputs and attributes of a node against its signature. Operations without a row are not checked.
pub(super) fn check(r: &Reader<'_>, at: usize, op: &str) -> Result<()> {
    let node = &r.nodes[at];
    let own = |attr: &super::super::proto::AttrValue| {
        // Calls have one of their own, which is that of what they call.
        matches!(&attr.value, Some(Value::Bytes(name)) if name.starts_with(node.op.as_bytes()))
    };
    let derived = |attr: &super::super::proto::AttrValue| match &attr.value {
        Some(Value::Bytes(name)) => custom::is_derivative(r, at, &String::from_utf8_lossy(name)),
        _ => false,
    };
    let differs = |attr| !own(attr) && !r.options.derive_custom_gradients && !derived(attr);
    if node.attrs.get(CUSTOM_GRADIENT).is_some_and(differs) {
        return Err(format!(
            "it has a custom gradient (`{CUSTOM_GRADIENT}`); `--derive-custom-gradients` differentiates the \
             operations instead"
        ));
    }
    let Some(Signature { types, attrs }) = signature(op) else {
        return Ok(());
    };
    let tokens = tokens(types, r.num_inputs(at))?;
    let listed = types.contains("**");
    let counted = !listed && types.contains('*');
    // The value of each type attribute: as given, or inferred from the first input.
    let mut named: Vec<(&str, i32, String)> = Vec::new();
    for (name, value) in &node.attrs {
        let value = value.value.as_ref();
        if is_note(name) {
            continue;
        }
        let is_token = types.split_whitespace().any(|t| t.trim_end_matches('*') == name);
        if tokens.contains(&name.as_str()) && !listed {
            let Some(Value::Type(code)) = value else {
                return Err(format!("its attribute `{name}` is not a type"));
            };
            named.push((name, *code, format!("`{name}`")));
        } else if name == "N" && counted {
            let repeats = match types.matches('*').count() {
                lists @ 2.. => tokens.len() / lists,
                _ => tokens.len() + 1 - types.split_whitespace().count(),
            };
            if !matches!(value, Some(Value::Int(n)) if usize::try_from(*n) == Ok(repeats)) {
                return Err(format!("its attribute `N` is not the number of its inputs, {repeats}"));
            }
        } else if listed && is_token {
            // TensorFlow itself checks a list of types, or the type of another input, against the inputs.
        } else if !attrs.split_whitespace().any(|a| a.split('=').next() == Some(name)) {
            return Err(format!("it has an unknown attribute `{name}` for `{op}`"));
        }
    }
    for (index, token) in tokens.iter().enumerate() {
        let Some(code) = r.input_code(at, index) else { continue };
        let want = match fixed(token) {
            Some(code) => Some((code, "the operation".to_owned())),
            None => named.iter().find(|n| n.0 == *token).map(|n| (n.1, n.2.clone())),
        };
        match want {
            _ if listed || *token == "variant" || *token == "flow" || *token == "handle" => {}
            // A list or an array is represented by a tensor here.
            Some((types::VARIANT | RESOURCE, _)) => {}
            Some((want, _)) if want == code => {}
            Some((want, by)) => {
                return Err(format!(
                    "its input {index} has type {}, but {by} requires {}",
                    types::name(code),
                    types::name(want)
                ));
            }
            None => named.push((token, code, format!("input {index}"))),
        }
    }
    Ok(())
}

/// Reports attributes that no reader has used, unless they have their default.
pub(super) fn rest(r: &Reader<'_>, at: usize, op: &str) -> Result<()> {
    let Some(Signature { attrs, .. }) = signature(op) else {
        return Ok(());
    };
    let seen = r.seen.borrow();
    if let Some(index) = (0..r.num_inputs(at)).find(|index| !seen.inputs.contains(index)) {
        return Err(format!("its input {index} is not supported"));
    }
    for attr in attrs
        .split_whitespace()
        .filter(|a| !is_note(a.split('=').next().unwrap_or(a)))
    {
        let (name, default) = attr.split_once('=').map_or((attr, None), |(n, d)| (n, Some(d)));
        let Some(value) = r.nodes[at].attrs.get(name) else {
            continue;
        };
        let usual = value
            .value
            .as_ref()
            .is_some_and(|v| default.is_some_and(|d| says(v, d)));
        if !usual && !seen.attrs.iter().any(|a| a == name) {
            return Err(format!("its attribute `{name}` has a value that is not supported"));
        }
    }
    Ok(())
}

/// Whether a value equals the default in a row.
fn says(value: &Value, text: &str) -> bool {
    match value {
        Value::Bool(value) => text == if *value { "true" } else { "false" },
        Value::Int(value) => text.parse() == Ok(*value),
        Value::Float(value) => text.parse() == Ok(*value),
        Value::Bytes(bytes) => bytes == text.as_bytes(),
        Value::Type(code) => text == types::name(*code),
        Value::List(list) => text == "[]" && list.is_empty(),
        Value::Shape(shape) => text == "?" && shape.unknown_rank,
        Value::Tensor(_) | Value::Function(_) => false,
    }
}
