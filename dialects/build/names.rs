//! Names of operations in other formats: static tables for `dialects/src/formats.rs`, from the fields of the rows.
//!
//! - `paddle: (ARGS)` lists the arguments of PaddlePaddle's operation if they differ from those of the row, after its
//!   name if that differs too. A bare name is the row's argument of this name. `Tensor x=zeros(shape)` is an operand of
//!   which only the shape is used: if it is absent, the attribute is its shape. `ones(a)` and `shape(r)` are lists
//!   derived from an attribute and from a result. `none` means that there is no such operation, `computed` that a
//!   function writes it.
//! - `program_desc: NAME (X, Y?, Z*) -> (Out) {theirs=ours}`: parameters of operands and results in the row's order,
//!   and the mapping of attribute names. Without a name it is that of the row, without braces the attributes have the
//!   same names. The default for an operation of one tensor without attributes is `(X) -> (Out)`.
//! - `tensorflow: NAME (ARGS) {theirs=default -> ours}` is read and written, those under `from_tensorflow` are only
//!   read. The arguments are operands and attributes of the row in TensorFlow's order; an attribute is a constant
//!   input. A name is preceded by the type of the input: `bool`, or the attribute that names it, by default `T`.
//!   Without parentheses the arguments are the operands of the row. Braces contain TensorFlow's attributes other than
//!   those that name types or count inputs, with their defaults and their names here.
//! - `inplace: (x -> out)`: the operands that the operation with a `_` suffix changes. The default is each operand `x`
//!   with a result `x_out`, or else the first operand; nothing for gradients.
//! - `overwritten: x`: PaddlePaddle's executor computes in place of this operand before it has read the others.
//! - `wrong_in_paddle: rank(x) > 2`: where PaddlePaddle's operation computes something else than the composition here.
//! - `paddle_gradient: fused` if PaddlePaddle's gradient operation does at once what the rule here takes several operations for;
//!   `repeated` if it differs where a place is given twice, or counted from the end; `wrong` and `wrong if infinite(p)` if it differs from
//!   finite differences, always or if the attribute `p` is infinite.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::schema::{self, Attribute, Op};

type Result<T> = std::result::Result<T, String>;

/// The tables as Rust.
pub fn tables(ops: &[Op]) -> Result<String> {
    let mut paddle = BTreeMap::new();
    let mut program_desc = BTreeMap::new();
    let mut tensorflow = BTreeMap::new();
    let mut facts = BTreeMap::new();
    for op in ops {
        let fail = |e: String| format!("op `{}`: {e}", op.op);
        if let Some(known) = paddle_facts(op).map_err(fail)? {
            facts.insert(op.op.clone(), known);
        }
        if let Some(form) = paddle_form(op).map_err(fail)? {
            paddle.insert(op.op.clone(), form);
        }
        for (kind, form) in program_desc_forms(op).map_err(fail)? {
            if program_desc.insert(kind.clone(), form).is_some() {
                return Err(fail(format!("`{kind}` of a ProgramDesc is several operations")));
            }
        }
    }
    for op in ops {
        let written = op.tensorflow.iter().map(|text| (text, true));
        for (text, written) in written.chain(op.from_tensorflow.iter().map(|text| (text, false))) {
            let fail = |e: String| format!("op `{}`: {e}", op.op);
            let (name, form) = tensorflow_form(op, text, written).map_err(fail)?;
            if tensorflow.insert(name.clone(), form).is_some() {
                return Err(fail(format!("`{name}` of TensorFlow is several operations")));
            }
        }
    }
    let mut out = String::new();
    for (name, ty, forms) in [
        ("PADDLE", "PaddleForm", paddle),
        ("PADDLE_FACTS", "PaddleFacts", facts),
        ("PROGRAM_DESC", "ProgramDescForm", program_desc),
        ("TENSORFLOW", "TensorFlowForm", tensorflow),
    ] {
        let _ = writeln!(out, "static {name}: &[{ty}] = &[");
        for form in forms.values() {
            let _ = writeln!(out, "    {form},");
        }
        out.push_str("];\n");
    }
    Ok(out)
}

/// The text between the outermost parentheses, and the text before and after them.
fn parentheses(text: &str) -> Result<(&str, Vec<String>, &str)> {
    let missing = || format!("`{text}` has no parentheses");
    let (name, rest) = text.split_once('(').ok_or_else(missing)?;
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            let inside = schema::split(&rest[..at]);
            let inside = inside.iter().map(|s| s.trim().to_owned()).collect();
            return Ok((name.trim(), inside, rest[at + 1..].trim()));
        }
    }
    Err(missing())
}

/// A slice literal.
fn slice<T>(items: &[T], item: impl FnMut(&T) -> String) -> String {
    let items: Vec<String> = items.iter().map(item).collect();
    format!("&[{}]", items.join(", "))
}

fn paddle_form(op: &Op) -> Result<Option<String>> {
    let (mut name, mut args) = (op.op.clone(), op.args.clone());
    match op.paddle.as_deref() {
        // It is written as its composition.
        None if op.computes.is_some() => return Ok(None),
        None => {}
        Some("none" | "computed") => return Ok(None),
        Some(text) => {
            let (other, listed, _) = parentheses(text)?;
            if !other.is_empty() {
                name = other.to_owned();
            }
            args = listed.iter().map(|arg| own_or_theirs(op, arg)).collect::<Result<_>>()?;
        }
    }
    let (mut operands, mut dynamic, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
    let mut order = Vec::new();
    for Attribute { name, ty, default } in &args {
        let zeros = default.as_ref().and_then(|d| d.strip_prefix("zeros("));
        match (&**ty, zeros) {
            ("Tensor" | "Tensor?", Some(shape)) => {
                operands.push(format!(
                    "PaddleOperand::Shaped({name:?}, {:?})",
                    shape.trim_end_matches(')')
                ));
                order.push(name.clone());
            }
            ("Tensor" | "Tensor?" | "Tensor[]", None) => {
                operands.push(format!("PaddleOperand::Value({name:?})"));
                order.push(name.clone());
            }
            ("IntArray", _) => dynamic.push(format!("PaddleOperand::Ints({name:?})")),
            (ty, _) if ty.starts_with("Scalar") && !ty.ends_with("[]") => {
                let elem = match ty {
                    "Scalar(int)" => "Some(Type::I32)",
                    "Scalar(int64_t)" => "Some(Type::I64)",
                    "Scalar(double)" => "Some(Type::F64)",
                    "Scalar" | "Scalar(float)" => "None",
                    _ => return Err(format!("the type `{ty}` is not known")),
                };
                dynamic.push(format!("PaddleOperand::Number({name:?}, {elem})"));
            }
            (ty, _) => attributes.push(attribute(name, ty, default.as_deref())?),
        }
    }
    operands.append(&mut dynamic);
    let inplace = inplace(op, &order)?;
    Ok(Some(format!(
        "PaddleForm {{ op: {:?}, name: {name:?}, operands: {}, attributes: {}, inplace: {} }}",
        op.op,
        slice(&operands, String::clone),
        slice(&attributes, String::clone),
        slice(&inplace, |(operand, result)| format!("({operand}, {result})")),
    )))
}

/// The row's argument of a name, or a literal argument.
fn own_or_theirs(op: &Op, arg: &str) -> Result<Attribute> {
    let own = op.args.iter().find(|a| a.name == arg).cloned();
    own.or_else(|| schema::argument(arg))
        .ok_or_else(|| format!("`{arg}` is neither an argument of the row nor `type name`"))
}

/// An attribute with its type in a saved program, and its default as spelled for that type.
fn attribute(name: &str, ty: &str, default: Option<&str>) -> Result<String> {
    let kind = match ty {
        "bool" => "bool",
        "int" => "i32",
        "int64_t" => "i64",
        "float" => "f32",
        "double" => "f64",
        "str" => "str",
        "int[]" => "i32s",
        "int64_t[]" => "i64s",
        "double[]" => "numbers",
        "float[]" => "f32s",
        // Saved as what may be computed is, and it may not be computed.
        "const int64_t[]" => "int_array",
        "const scalar" => "scalar",
        "str[]" => "strs",
        "DataType" => "dtype",
        "Place" => "place",
        _ => return Err(format!("PaddlePaddle has no attribute of type `{ty}`")),
    };
    let default = default.unwrap_or("").trim_matches(['"', '{', '}']).replace(' ', "");
    let default = match (kind, &*default) {
        ("dtype", "undefined") => String::new(),
        ("dtype", text) => text.replace("f", "float").replace("i", "int"),
        _ => default,
    };
    Ok(format!(
        "PaddleAttribute {{ name: {name:?}, kind: {kind:?}, default: {default:?} }}"
    ))
}

/// The operands that are changed in place, as indices in PaddlePaddle's order, each with the index of the result.
fn inplace(op: &Op, order: &[String]) -> Result<Vec<(usize, usize)>> {
    let operand = |name: &str| order.iter().position(|o| o == name);
    let result = |name: &str| op.outputs.iter().position(|o| o.name == name);
    if let Some(text) = &op.inplace {
        return schema::split(text)
            .iter()
            .map(|pair| {
                let (from, to) = pair.trim().trim_matches(['(', ')']).split_once("->")?;
                Some((operand(from.trim())?, result(to.trim())?))
            })
            .collect::<Option<_>>()
            .ok_or_else(|| format!("`{text}` is no list of `(operand -> result)`"));
    }
    let named = |(at, output): (usize, &schema::Value)| Some((operand(output.name.strip_suffix("_out")?)?, at));
    let pairs: Vec<_> = op.outputs.iter().enumerate().filter_map(named).collect();
    // The operand that an in-place gradient changes cannot be derived from its position.
    let one = op.operands.first().is_some_and(|first| first.ty == "Tensor") && !order.is_empty();
    let first = one && !op.outputs.is_empty() && !op.op.ends_with("_grad");
    Ok(if pairs.is_empty() && first { vec![(0, 0)] } else { pairs })
}

/// What is known of how PaddlePaddle computes an operation; `None` if its row does not have such a field.
fn paddle_facts(op: &Op) -> Result<Option<String>> {
    let fields = [&op.overwritten, &op.wrong_in_paddle, &op.paddle_gradient];
    if fields.iter().all(|field| field.is_none()) {
        return Ok(None);
    }
    let operand = |name: &str| {
        let place = op.operands.iter().position(|operand| operand.name == name);
        place.ok_or_else(|| format!("`{name}` is not an operand"))
    };
    let overwritten = op.overwritten.as_deref().map(operand).transpose()?;
    let wrong_batch = match op.wrong_in_paddle.as_deref() {
        None => None,
        Some(text) => {
            let name = text.strip_prefix("rank(").and_then(|rest| rest.strip_suffix(") > 2"));
            Some(operand(name.ok_or_else(|| format!("`{text}` is not `rank(x) > 2`"))?)?)
        }
    };
    let gradient = match op.paddle_gradient.as_deref() {
        None => "AsExpected".to_owned(),
        Some("fused") => "Fused".to_owned(),
        Some("repeated") => "WrongIfRepeated".to_owned(),
        Some("wrong") => "Wrong".to_owned(),
        Some(text) => {
            let name = text
                .strip_prefix("wrong if infinite(")
                .and_then(|rest| rest.strip_suffix(')'));
            let name = name.filter(|name| op.attrs.iter().any(|attr| attr.name == *name));
            let name = name.ok_or_else(|| format!("`{text}` is not a property of a gradient operation"))?;
            format!("WrongIfInfinite({name:?})")
        }
    };
    Ok(Some(format!(
        "PaddleFacts {{ op: {:?}, overwritten: {overwritten:?}, wrong_batch: {wrong_batch:?}, gradient: PaddleGradient::{gradient} }}",
        op.op,
    )))
}

fn program_desc_forms(op: &Op) -> Result<Vec<(String, String)>> {
    let plain = op.operands.len() == 1
        && op.attrs.is_empty()
        && op.operands[0].ty == "Tensor"
        && matches!(&op.outputs[..], [one] if one.ty == "Tensor");
    let derived = (op.program_desc.is_empty() && plain && !op.written).then(|| "(X) -> (Out)".to_owned());
    op.program_desc
        .iter()
        .cloned()
        .chain(derived)
        .map(|text| program_desc_form(op, &text))
        .collect()
}

fn program_desc_form(op: &Op, text: &str) -> Result<(String, String)> {
    let (name, inputs, rest) = parentheses(text)?;
    let kind = if name.is_empty() { &*op.op } else { name };
    let (arrow, outputs, rest) = parentheses(rest)?;
    if arrow != "->" {
        return Err(format!("`{text}` has no `->`"));
    }
    let attributes: Vec<(String, String)> = match rest.strip_prefix('{').and_then(|r| r.strip_suffix('}')) {
        None if rest.is_empty() => op.attrs.iter().map(|a| (a.name.clone(), a.name.clone())).collect(),
        None => return Err(format!("`{rest}` is no list of attributes")),
        Some(list) => schema::split(list)
            .iter()
            .map(|word| {
                let (theirs, ours) = word.split_once('=').unwrap_or((word, word));
                (theirs.trim().to_owned(), ours.trim().to_owned())
            })
            .collect(),
    };
    if let Some((_, ours)) = attributes
        .iter()
        .find(|(_, ours)| op.attrs.iter().all(|a| a.name != *ours))
    {
        return Err(format!("`program_desc` names `{ours}`, which is not an attribute"));
    }
    let form = format!(
        "ProgramDescForm {{ kind: {kind:?}, op: {:?}, inputs: {}, outputs: {}, attributes: {} }}",
        format!("pd.{}", op.op),
        slice(&inputs, |i| format!("{i:?}")),
        slice(&outputs, |o| format!("{o:?}")),
        slice(&attributes, |a| format!("{a:?}")),
    );
    Ok((kind.to_owned(), form))
}

fn tensorflow_form(op: &Op, text: &str, written: bool) -> Result<(String, String)> {
    let (head, braces) = text.split_once('{').unwrap_or((text, "}"));
    let braces = braces
        .strip_suffix('}')
        .ok_or_else(|| format!("`{text}` has an open brace"))?;
    let (name, args) = match head.contains('(') {
        true => {
            let (name, args, _) = parentheses(head)?;
            (name, args)
        }
        false => (
            head.trim(),
            op.operands
                .iter()
                .filter(|o| o.ty.starts_with("Tensor"))
                .map(|o| o.name.clone())
                .collect(),
        ),
    };
    let (mut inputs, mut types) = (Vec::new(), Vec::new());
    for arg in &args {
        let (ty, arg) = arg.rsplit_once(' ').unwrap_or(("T", arg));
        let operand = op
            .operands
            .iter()
            .position(|o| o.name == arg && o.ty.starts_with("Tensor"));
        let attr = op.attrs.iter().find(|a| a.name == arg);
        match (operand, attr) {
            (Some(at), _) if op.operands[at].ty == "Tensor[]" => {
                inputs.push("TensorFlowInput::Operands".to_owned());
                types.push(format!("{ty}*"));
            }
            (Some(at), _) => {
                inputs.push(format!("TensorFlowInput::Operand({at})"));
                types.push(ty.to_owned());
            }
            (None, Some(_)) if written => {
                return Err(format!("`{text}` has a constant input, which a function writes"));
            }
            (None, Some(attr)) => {
                let list = attr.ty == "IntArray" || attr.ty.ends_with("[]");
                inputs.push(format!(
                    "TensorFlowInput::{}({arg:?})",
                    if list { "List" } else { "Number" }
                ));
                types.push(ty.to_owned());
            }
            (None, None) => return Err(format!("`{text}` names `{arg}`, which is no argument")),
        }
    }
    let (mut declared, mut attributes) = (Vec::new(), Vec::new());
    for word in schema::split(braces) {
        let (theirs, ours) = match word.split_once("->") {
            Some((theirs, ours)) => (theirs.trim(), Some(ours.trim())),
            None => (word.trim(), None),
        };
        declared.push(theirs.to_owned());
        if let Some(ours) = ours {
            let spec = op.attrs.iter().find(|a| a.name == ours);
            let spec = spec.ok_or_else(|| format!("`{text}` names `{ours}`, which is not an attribute"))?;
            let (theirs, default) = theirs.split_once('=').map_or((theirs, None), |(t, d)| (t, Some(d)));
            // Defaults that equal those of the row are omitted.
            let default = default.filter(|d| spec.default.as_deref() != Some(d)).unwrap_or("");
            attributes.push(format!("({theirs:?}, {ours:?}, {default:?})"));
        }
    }
    let form = format!(
        "TensorFlowForm {{ name: {name:?}, op: {:?}, written: {written}, inputs: {}, types: {:?}, attrs: {:?}, \
         attributes: {} }}",
        format!("pd.{}", op.op),
        slice(&inputs, String::clone),
        types.join(" "),
        declared.join(" "),
        slice(&attributes, String::clone),
    );
    Ok((name.to_owned(), form))
}
