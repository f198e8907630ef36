//! What a program wants: the inputs of its top level, or the arguments of a function.

use pir_ir::{Context, Diagnostic, FloatKind, Module, OpId, Signedness, Span, Traits, Type, TypeData, nearest};

use crate::arrays::Element;

/// What is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The operations at top level.
    Program,
    /// A function.
    Function {
        /// Its operation.
        op: OpId,
        /// Its symbol.
        name: String,
    },
}

/// An input that has to be bound.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// The name by which it is bound: the attribute `name`, or the name of the argument.
    pub name: String,
    /// Other names that are accepted: the name of the value, and the position of an argument.
    pub aliases: Vec<String>,
    /// The extents; negative ones are only known now.
    pub shape: Vec<i64>,
    /// The type of the elements.
    pub element: Element,
    /// Whether it is a tensor; a plain number has no extents.
    pub tensor: bool,
    /// Whether derivatives pass it by.
    pub stop_gradient: bool,
    /// Where it is declared.
    pub span: Span,
}

impl Input {
    /// The type, as it is written in a program.
    pub fn type_text(&self) -> String {
        type_text(&self.shape, self.element, self.tensor)
    }

    /// Whether it goes by this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// A type, as it is written in a program.
pub fn type_text(shape: &[i64], element: Element, tensor: bool) -> String {
    if !tensor {
        return element.name().to_owned();
    }
    let extents: String = shape
        .iter()
        .map(|&extent| match extent {
            ..0 => "?x".to_owned(),
            extent => format!("{extent}x"),
        })
        .collect();
    format!("tensor<{extents}{}>", element.name())
}

impl Element {
    /// The name, as it is written in a program.
    pub fn name(self) -> &'static str {
        match self {
            Element::Bool => "i1",
            Element::I8 => "i8",
            Element::I16 => "i16",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::U8 => "ui8",
            Element::F16 => "f16",
            Element::BF16 => "bf16",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }

    /// Whether the numbers are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F16 | Element::BF16 | Element::F32 | Element::F64)
    }

    /// The element type that a type of the IR stands for.
    pub fn of_type(ctx: &Context, ty: Type) -> Option<Element> {
        Some(match *ctx.type_data(ty) {
            TypeData::Integer { width: 1, .. } => Element::Bool,
            TypeData::Integer {
                width: 8,
                sign: Signedness::Unsigned,
            } => Element::U8,
            TypeData::Integer {
                sign: Signedness::Unsigned,
                ..
            } => return None,
            TypeData::Integer { width: 8, .. } => Element::I8,
            TypeData::Integer { width: 16, .. } => Element::I16,
            TypeData::Integer { width: 32, .. } => Element::I32,
            TypeData::Integer { width: 64, .. } | TypeData::Index => Element::I64,
            TypeData::Float(FloatKind::F16) => Element::F16,
            TypeData::Float(FloatKind::BF16) => Element::BF16,
            TypeData::Float(FloatKind::F32) => Element::F32,
            TypeData::Float(FloatKind::F64) => Element::F64,
            _ => return None,
        })
    }
}

/// Finds what to run: the function asked for; else the top level, if it does anything; else the only function, or the
/// one called `main`.
///
/// # Errors
/// There is no such function, or there are several.
pub fn entry(module: &Module, wanted: Option<&str>) -> Result<Entry, Diagnostic> {
    let mut functions: Vec<(String, OpId)> = Vec::new();
    let mut others = 0;
    for op in module.body.block_ops(module.top()) {
        let view = module.body.view(&module.ctx, op);
        match view.str("sym_name") {
            Some(name) if view.has(Traits::FUNCTION) => functions.push((name.to_owned(), op)),
            _ => others += 1,
        }
    }
    let names: Vec<&str> = functions.iter().map(|(name, _)| name.as_str()).collect();
    let list = || {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let found = match wanted {
        Some(wanted) => {
            let wanted = wanted.trim_start_matches('@');
            let found = functions.iter().find(|(name, _)| name == wanted);
            Some(found.ok_or_else(|| {
                let error = Diagnostic::error("no-function", format!("there is no function `{wanted}`"));
                match nearest(wanted, names.iter().copied()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None if names.is_empty() => error.help("the program has no functions"),
                    None => error.help(format!("the program has {}", list())),
                }
            })?)
        }
        None if others > 0 => None,
        None => match &functions[..] {
            [] => None,
            [one] => Some(one),
            several => Some(several.iter().find(|(name, _)| name == "main").ok_or_else(|| {
                Diagnostic::error("no-function", "the program has several functions")
                    .help(format!("say which to run with `--function NAME`: {}", list()))
            })?),
        },
    };
    Ok(match found {
        Some((name, op)) => Entry::Function {
            op: *op,
            name: name.clone(),
        },
        None => Entry::Program,
    })
}

/// The inputs, in the order of the program.
///
/// # Errors
/// Those that cannot be bound.
pub fn inputs(module: &Module, entry: &Entry) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let ctx = &module.ctx;
    let mut errors = Vec::new();
    let mut inputs: Vec<Input> = Vec::new();
    let mut add = |name: Option<String>, aliases: Vec<String>, ty: Type, stop_gradient: bool, span: Span| {
        let (shape, element) = match ctx.as_tensor(ty) {
            Some((shape, element)) => (shape.to_vec(), Element::of_type(ctx, element)),
            None => (Vec::new(), Element::of_type(ctx, ty)),
        };
        match (name, element) {
            (Some(name), Some(element)) => {
                if !inputs.iter().any(|i| i.name == name) {
                    inputs.push(Input {
                        name,
                        aliases,
                        shape,
                        element,
                        tensor: ctx.as_tensor(ty).is_some(),
                        stop_gradient,
                        span,
                    });
                }
            }
            (None, _) => errors.push(
                Diagnostic::error("input-name", "an input has no name")
                    .label(span, "this one")
                    .help("give it a name: `{name = \"x\"}`"),
            ),
            (_, None) => errors.push(
                Diagnostic::error("input-type", "inputs of this type cannot be given on the command line")
                    .label(span, "this one")
                    .help("inputs are numbers and tensors of numbers"),
            ),
        }
    };
    match entry {
        Entry::Program => {
            for op in module.body.walk_all() {
                let view = module.body.view(ctx, op);
                if !matches!(view.name(), "pd.data" | "pd.feed" | "pd.parameter") {
                    continue;
                }
                let Some(ty) = view.result_type(0) else { continue };
                let result = module.body.result(op, 0);
                add(
                    view.str("name").map(str::to_owned),
                    vec![value_text(module, &module.body, result)],
                    ty,
                    view.bool("stop_gradient").unwrap_or(false),
                    module.body.op_span(op),
                );
            }
        }
        Entry::Function { op, name } => {
            let body = module.body.isolated(*op);
            let Some((body, block)) = body.and_then(|body| Some((body, body.entry_block(body.root())?))) else {
                return Err(vec![
                    Diagnostic::error("no-body", format!("the function `{name}` is only declared"))
                        .label(module.body.op_span(*op), "it has no body"),
                ]);
            };
            for (at, &arg) in body.block_args(block).iter().enumerate() {
                let text = value_text(module, body, arg);
                let bare = text.trim_start_matches('%').to_owned();
                let aliases = vec![text, at.to_string(), format!("arg{at}")];
                add(
                    Some(if bare.is_empty() { format!("arg{at}") } else { bare }),
                    aliases,
                    body.value_type(arg),
                    false,
                    module.body.op_span(*op),
                );
            }
        }
    }
    if errors.is_empty() { Ok(inputs) } else { Err(errors) }
}

/// A value as it is written; `%` alone for one without a name.
fn value_text(module: &Module, body: &pir_ir::Body, value: pir_ir::ValueId) -> String {
    let name = body.value_name(value).map(|name| module.ctx.str(name.sym));
    format!("%{}", name.unwrap_or_default())
}
