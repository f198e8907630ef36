//! The op tables: YAML with the field names of the Paddle ecosystem. Shared by the build script and the tests.

use serde::Deserialize;

/// An entry as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    op: String,
    args: String,
    output: String,
    /// The operands that the results depend on differentiably, `none`, or `refused`, of what has a derivative that is not
    /// known here. Required: nothing is assumed.
    derivative: String,
    #[serde(default)]
    infer_meta: Option<InferMeta>,
    #[serde(default)]
    backward: Option<String>,
    #[serde(default)]
    no_need_buffer: Option<String>,
    #[serde(default)]
    traits: Vec<String>,
    #[serde(default)]
    effects: Option<String>,
    #[serde(default)]
    speculatable: Option<String>,
    summary: String,
    #[serde(default)]
    doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InferMeta {
    func: String,
}

/// How many values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// One.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Variadic,
}

/// An operand or a result.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its type in the table's words.
    pub ty: String,
    /// How many.
    pub arity: Arity,
}

/// An attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its type in the table's words.
    pub ty: String,
    /// Its default in the table's words.
    pub default: Option<String>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// The name without the dialect.
    pub op: String,
    /// Operands. An `IntArray` or `Scalar` argument is an attribute, or an optional operand behind the tensors.
    pub operands: Vec<Value>,
    /// Attributes.
    pub attrs: Vec<Attribute>,
    /// Results.
    pub outputs: Vec<Value>,
    /// The function that infers result types, in snake case.
    pub infer: Option<String>,
    /// The operands that the results depend on differentiably; `None` if the derivative is refused.
    pub derivative: Option<Vec<String>>,
    /// The gradient operation.
    pub backward: Option<String>,
    /// Operands whose shape alone is read.
    pub no_need_buffer: Vec<String>,
    /// Traits, in lower case.
    pub traits: Vec<String>,
    /// A variant of `Effects`.
    pub effects: String,
    /// A variant of `Speculate`.
    pub speculate: String,
    /// One line.
    pub summary: String,
    /// More lines.
    pub doc: String,
}

/// Reads a table. The outer error is one of YAML, the inner ones are of single entries.
pub fn parse(text: &str) -> Result<Vec<Result<Op, String>>, String> {
    let entries: Vec<Entry> = serde_yaml_ng::from_str(text).map_err(|e| e.to_string())?;
    Ok(entries.into_iter().map(read).collect())
}

fn read(entry: Entry) -> Result<Op, String> {
    let fail = |what: &str| format!("op `{}`: {what}", entry.op);
    let (mut operands, mut attrs, mut dynamic) = (Vec::new(), Vec::new(), Vec::new());
    let inside = entry.args.trim().strip_prefix('(').and_then(|a| a.strip_suffix(')'));
    for arg in split(inside.ok_or_else(|| fail("`args` stand in parentheses"))?) {
        let (spec, default) = match arg.split_once('=') {
            Some((spec, default)) => (spec.trim(), Some(default.trim().to_owned())),
            None => (arg.trim(), None),
        };
        let (ty, name) = spec
            .rsplit_once(' ')
            .ok_or_else(|| fail("an argument is `type name`"))?;
        let (ty, name) = (ty.trim().to_owned(), name.trim().to_owned());
        match &*ty {
            "Tensor" => operands.push(Value {
                name,
                ty,
                arity: Arity::One,
            }),
            "Tensor?" => operands.push(Value {
                name,
                ty: "Tensor".into(),
                arity: Arity::Optional,
            }),
            "Tensor[]" => operands.push(Value {
                name,
                ty,
                arity: Arity::Variadic,
            }),
            _ => {
                if ty.starts_with("IntArray") || ty.starts_with("Scalar") {
                    dynamic.push(Value {
                        name: name.clone(),
                        ty: ty.clone(),
                        arity: Arity::Optional,
                    });
                    // It may be an operand: then the attribute is missing. The verifier asks for one of them where
                    // there is no default.
                    attrs.push(Attribute { name, ty, default });
                } else {
                    attrs.push(Attribute { name, ty, default });
                }
            }
        }
    }
    operands.extend(dynamic);
    let mut outputs = Vec::new();
    for output in split(&entry.output) {
        let output = output.trim();
        let (ty, rest) = output
            .split_once('(')
            .ok_or_else(|| fail("an output is `Tensor(name)`"))?;
        let name = rest.trim_end_matches(')').to_owned();
        let arity = match ty {
            "Tensor[]" => Arity::Variadic,
            "Tensor?" => Arity::Optional,
            _ => Arity::One,
        };
        outputs.push(Value {
            name,
            ty: ty.trim_end_matches('?').to_owned(),
            arity,
        });
    }
    let derivative: Option<Vec<String>> = match entry.derivative.trim() {
        "refused" => None,
        "none" => Some(Vec::new()),
        names => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
    };
    if let Some(name) = derivative
        .iter()
        .flatten()
        .find(|&name| operands.iter().all(|o| o.name != *name))
    {
        return Err(fail(&format!("`derivative` names `{name}`, which is no operand")));
    }
    // Most operations compute a value. PaddlePaddle's names for what changes something in place end like this.
    let effects = match entry.effects {
        None if entry.op.ends_with('_') => return Err(fail("what ends in `_` says what its `effects` are")),
        effects => effects.unwrap_or_else(|| "None".into()),
    };
    Ok(Op {
        operands,
        attrs,
        outputs,
        derivative,
        infer: entry
            .infer_meta
            .map(|m| snake(m.func.strip_suffix("InferMeta").unwrap_or(&m.func))),
        backward: entry.backward,
        no_need_buffer: entry
            .no_need_buffer
            .iter()
            .flat_map(|s| s.split(','))
            .map(|s| s.trim().to_owned())
            .collect(),
        traits: entry.traits,
        effects,
        speculate: entry.speculatable.unwrap_or_else(|| "Always".into()),
        summary: entry.summary,
        doc: entry.doc,
        op: entry.op,
    })
}

/// Splits at commas that stand in no brackets.
fn split(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        depth += i32::from("({[".contains(c)) - i32::from(")}]".contains(c));
        match out.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => out.push(String::new()),
        }
    }
    out.retain(|s| !s.trim().is_empty());
    out
}

/// `SplitWithNum` to `split_with_num`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}
