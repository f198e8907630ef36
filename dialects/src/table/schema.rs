//! The op tables: YAML with the field names of the Paddle ecosystem. Shared by the build script and the reader of dialect files.

use std::fmt;

use serde::Deserialize;

/// An entry of a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    op: String,
    args: String,
    output: String,
    /// The operands in which the operation is differentiable, `none`, or `refused` if a derivative exists but is not
    /// implemented. Required in the tables: there is no default.
    #[serde(default)]
    derivative: Option<String>,
    #[serde(default)]
    infer_meta: Option<InferMeta>,
    /// `written`: nothing infers the types of the results, which are as the program has them. The operation has no kernel and is
    /// differentiated by its gradient operation, which only PaddlePaddle's executor runs.
    #[serde(default)]
    types: Option<String>,
    /// The function that verifies what the declaration cannot express.
    #[serde(default)]
    verify: Option<String>,
    /// Its regions, `(cond, body)`; `(branch...)` for any number, `(body|do)` with another word that is read.
    #[serde(default)]
    regions: Option<String>,
    /// Its custom assembly in MLIR, if that differs from ours.
    #[serde(default)]
    assembly: Option<String>,
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
    /// The operation as a composition: the body of a function. Operations that exist in other systems need none: an
    /// operation with a composition is written for these systems as the composition.
    #[serde(default)]
    computes: Option<String>,
    /// Its vector-Jacobian product, in the same form.
    #[serde(default)]
    vjp: Option<String>,
    /// The form of PaddlePaddle's operation, if it differs; see `build/names.rs`, also for the two others.
    #[serde(default)]
    paddle: Option<String>,
    #[serde(default)]
    program_desc: Names,
    /// The operation of TensorFlow as which it is written and from which it is read, and further ones that are read.
    #[serde(default)]
    tensorflow: Option<String>,
    #[serde(default)]
    from_tensorflow: Names,
    /// The operands changed by PaddlePaddle's operation with the suffix `_`, `(x -> out)`, unless it is the first.
    #[serde(default)]
    inplace: Option<String>,
    /// How PaddlePaddle's operation and its gradient operation differ from what is expected; see `build/names.rs`.
    #[serde(default)]
    overwritten: Option<String>,
    #[serde(default)]
    wrong_in_paddle: Option<String>,
    #[serde(default)]
    paddle_gradient: Option<String>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    doc: String,
    /// An example program, which the reference shows with its output.
    #[serde(default)]
    example: String,
}

/// One name in another format, or several.
#[derive(Deserialize, Default)]
#[serde(untagged)]
enum Names {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Self {
        match names {
            Names::None => Vec::new(),
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InferMeta {
    func: String,
}

/// The number of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// Zero or one.
    Optional,
    /// Any number.
    Variadic,
}

/// An operand or a result.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its type as spelled in the table.
    pub ty: String,
    /// The number of values.
    pub arity: Arity,
}

/// An attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its type as spelled in the table.
    pub ty: String,
    /// Its default as spelled in the table.
    pub default: Option<String>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// The name without the dialect.
    pub op: String,
    /// The arguments in the order of declaration.
    #[allow(dead_code, reason = "the build script reads it")]
    pub args: Vec<Attribute>,
    /// Operands. An `IntArray` or `Scalar` argument is an attribute, or an optional operand after the tensors.
    pub operands: Vec<Value>,
    /// Attributes.
    pub attrs: Vec<Attribute>,
    /// Results.
    pub outputs: Vec<Value>,
    /// The function that infers result types, in snake case.
    pub infer: Option<String>,
    /// Whether the types of its results are as written.
    #[allow(dead_code, reason = "the build script reads it")]
    pub written: bool,
    /// The function that verifies what the declaration cannot express.
    #[allow(dead_code, reason = "the build script reads it")]
    pub verify: Option<String>,
    /// The names of the regions.
    #[allow(dead_code, reason = "the build script reads it")]
    pub regions: Vec<String>,
    /// For each result the form that its type has, if that is given: `like x`.
    pub forms: Vec<Option<String>>,
    /// Whether differentiability is declared.
    pub says_derivative: bool,
    /// The operands in which the operation is differentiable; `None` if the derivative is refused or undeclared.
    pub derivative: Option<Vec<String>>,
    /// The format of MLIR's custom assembly.
    pub assembly: Option<String>,
    /// The gradient operation.
    pub backward: Option<String>,
    /// Operands of which only the shape is used, as in PaddlePaddle.
    pub no_need_buffer: Vec<String>,
    /// Traits, in lower case.
    pub traits: Vec<String>,
    /// A variant of `Effects`, if declared.
    pub effects: Option<String>,
    /// A variant of `Speculate`, if declared.
    pub speculate: Option<String>,
    /// The operation as a composition: the body of a function.
    pub computes: Option<String>,
    /// Its vector-Jacobian product, in the same form.
    pub vjp: Option<String>,
    /// Its form in PaddlePaddle.
    #[allow(dead_code, reason = "the build script reads it")]
    pub paddle: Option<String>,
    /// The corresponding operations of a ProgramDesc.
    #[allow(dead_code, reason = "the build script reads it")]
    pub program_desc: Vec<String>,
    /// The operation of TensorFlow from which it is read and as which it is written.
    #[allow(dead_code, reason = "the build script reads it")]
    pub tensorflow: Option<String>,
    /// Further operations from which it is read.
    #[allow(dead_code, reason = "the build script reads it")]
    pub from_tensorflow: Vec<String>,
    /// The pairs of operands and results of its in-place variant.
    #[allow(dead_code, reason = "the build script reads it")]
    pub inplace: Option<String>,
    /// The operand that PaddlePaddle's operation overwrites before it has read the others.
    #[allow(dead_code, reason = "the build script reads it")]
    pub overwritten: Option<String>,
    /// Where PaddlePaddle's operation computes something else.
    #[allow(dead_code, reason = "the build script reads it")]
    pub wrong_in_paddle: Option<String>,
    /// What is known of PaddlePaddle's gradient operation.
    #[allow(dead_code, reason = "the build script reads it")]
    pub paddle_gradient: Option<String>,
    /// A one-line summary.
    pub summary: String,
    /// A description.
    pub doc: String,
    /// An example program.
    pub example: String,
}

/// An error in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The operation.
    pub op: String,
    /// The field.
    pub field: &'static str,
    /// The message.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op `{}`: {}", self.op, self.message)
    }
}

/// `(TYPE NAME=default, …)`.
fn arguments(args: &str) -> Result<Vec<Attribute>, String> {
    let inside = args.trim().strip_prefix('(').and_then(|a| a.strip_suffix(')'));
    split(inside.ok_or("expected parentheses around `args`")?)
        .iter()
        .map(|arg| argument(arg).ok_or_else(|| format!("expected `TYPE NAME` in `args`, found `{arg}`")))
        .collect()
}

/// The operands, and the attributes. An attribute that an operand may replace is an optional operand too, after the others.
fn operands_and_attributes(args: &[Attribute]) -> (Vec<Value>, Vec<Attribute>) {
    let (mut operands, mut attrs, mut dynamic) = (Vec::new(), Vec::new(), Vec::new());
    for arg in args {
        let value = |ty: &str, arity| Value {
            name: arg.name.clone(),
            ty: ty.to_owned(),
            arity,
        };
        match &*arg.ty {
            "Tensor" | "Tensor?" => {
                let arity = if arg.ty == "Tensor" {
                    Arity::One
                } else {
                    Arity::Optional
                };
                operands.push(value("Tensor", arity));
            }
            "Tensor[]" => operands.push(value("Tensor[]", Arity::Variadic)),
            ty => {
                // The verifier requires one of the two if there is no default.
                if ty.starts_with("IntArray") || ty.starts_with("Scalar") {
                    dynamic.push(value(ty, Arity::Optional));
                }
                attrs.push(arg.clone());
            }
        }
    }
    operands.extend(dynamic);
    (operands, attrs)
}

/// `Tensor(NAME) FORM, …`: the results, and how the type of each is inferred, if that is given.
fn results(output: &str) -> Result<(Vec<Value>, Vec<Option<String>>), String> {
    let (mut outputs, mut forms) = (Vec::new(), Vec::new());
    for output in split(output) {
        let output = output.trim();
        let (ty, rest) = output
            .split_once('(')
            .and_then(|(ty, rest)| Some((ty, rest.split_once(')')?)))
            .ok_or_else(|| format!("expected `Tensor(NAME)` in `output`, found `{output}`"))?;
        let (name, form) = (rest.0.trim().to_owned(), rest.1.trim());
        forms.push(Some(form.to_owned()).filter(|form| !form.is_empty()));
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
    Ok((outputs, forms))
}

/// Parses a row.
///
/// # Errors
/// The error in the row.
pub fn read(entry: Entry) -> Result<Op, Fault> {
    let fail = |field: &'static str, message: &str| Fault {
        op: entry.op.clone(),
        field,
        message: message.to_owned(),
    };
    let args = arguments(&entry.args).map_err(|message| fail("args", &message))?;
    let (operands, attrs) = operands_and_attributes(&args);
    let (outputs, forms) = results(&entry.output).map_err(|message| fail("output", &message))?;
    let says_derivative = entry.derivative.is_some();
    let derivative: Option<Vec<String>> = match entry.derivative.as_deref().map(str::trim) {
        None | Some("refused") => None,
        Some("none") => Some(Vec::new()),
        Some(names) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
    };
    let unknown = |name: &&String| operands.iter().all(|o| o.name != **name);
    if let Some(name) = derivative.iter().flatten().find(unknown) {
        let message = format!("`derivative` names `{name}`, which is no operand");
        return Err(fail("derivative", &message));
    }
    let written = match entry.types.as_deref() {
        None => false,
        Some("written") if entry.infer_meta.is_none() => true,
        Some(_) => return Err(fail("types", "`types` is `written`, and then there is no `infer_meta`")),
    };
    let summary = match written && entry.summary.is_empty() {
        true => format!("PaddlePaddle's `{}`", entry.op),
        false => entry.summary,
    };
    // Most operations compute a value. In PaddlePaddle, a trailing underscore marks a change in place.
    if entry.effects.is_none() && entry.op.ends_with('_') {
        return Err(fail(
            "op",
            "an operation whose name ends in `_` must declare its `effects`",
        ));
    }
    Ok(Op {
        args,
        operands,
        attrs,
        outputs,
        forms,
        says_derivative,
        derivative,
        infer: entry
            .infer_meta
            .map(|m| snake(m.func.strip_suffix("InferMeta").unwrap_or(&m.func))),
        written,
        verify: entry.verify,
        regions: entry
            .regions
            .iter()
            .flat_map(|list| split(list.trim_matches(['(', ')'])))
            .map(|name| name.trim().to_owned())
            .collect(),
        assembly: entry.assembly,
        backward: entry.backward,
        no_need_buffer: entry
            .no_need_buffer
            .iter()
            .flat_map(|s| s.split(','))
            .map(|s| s.trim().to_owned())
            .collect(),
        traits: entry.traits,
        effects: entry.effects,
        speculate: entry.speculatable,
        computes: entry.computes,
        vjp: entry.vjp,
        paddle: entry.paddle,
        program_desc: entry.program_desc.into(),
        tensorflow: entry.tensorflow,
        from_tensorflow: entry.from_tensorflow.into(),
        inplace: entry.inplace,
        overwritten: entry.overwritten,
        wrong_in_paddle: entry.wrong_in_paddle,
        paddle_gradient: entry.paddle_gradient,
        summary,
        doc: entry.doc,
        example: entry.example,
        op: entry.op,
    })
}

/// An argument, `type name = default`.
pub fn argument(text: &str) -> Option<Attribute> {
    let (spec, default) = match text.split_once('=') {
        Some((spec, default)) => (spec, Some(default.trim().to_owned())),
        None => (text, None),
    };
    let (ty, name) = spec.trim().rsplit_once(' ')?;
    Some(Attribute {
        name: name.to_owned(),
        ty: ty.trim().to_owned(),
        default,
    })
}

/// Splits at commas outside of brackets.
pub fn split(text: &str) -> Vec<String> {
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
