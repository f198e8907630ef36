//! The attributes of an operation: those of its definition, of the declared types, the marks of the tools, and those
//! whose names have a dot, which are free.

use crate::context::Context;
use crate::diagnostics::{Diagnostic, Part, Span, nearest};
use crate::entity::Sym;
use crate::registry::{InferArgs, OpDef};
use crate::text::reader::is_type_name;
use crate::text::writer::attr::print_attr;
use crate::types::{Attr, AttrData, AttrDict, Type, TypeData};

use crate::plan::{AttrKind, AttrPlan, Plan};

use super::advice::implied;

impl AttrKind {
    /// Whether an attribute is of the kind.
    pub(super) fn fits(self, ctx: &Context, attr: Attr) -> bool {
        let data = ctx.attr_data(attr);
        let number = |a: &Attr| matches!(ctx.attr_data(*a), AttrData::Int { .. } | AttrData::Float { .. });
        let int = |a: &Attr| matches!(ctx.attr_data(*a), AttrData::Int { .. });
        match self {
            AttrKind::Int => matches!(data, AttrData::Int { .. } | AttrData::Bool(_)),
            AttrKind::Float => matches!(data, AttrData::Float { .. } | AttrData::Int { .. }),
            AttrKind::Bool => matches!(data, AttrData::Bool(_) | AttrData::Int { value: 0 | 1, .. }),
            AttrKind::False => matches!(data, AttrData::Bool(false)),
            AttrKind::Str => matches!(data, AttrData::Str(_)),
            AttrKind::Ints => match data {
                AttrData::Ints(_) => true,
                AttrData::Array(items) => items.iter().all(int),
                _ => false,
            },
            AttrKind::IntArray => match data {
                AttrData::Ints(_) | AttrData::Int { .. } => true,
                AttrData::Array(items) => items.iter().all(int),
                _ => false,
            },
            AttrKind::Scalar => matches!(data, AttrData::Int { .. } | AttrData::Float { .. } | AttrData::Bool(_)),
            AttrKind::Floats | AttrKind::Numbers => match data {
                AttrData::Ints(_) => true,
                AttrData::Elements(elements) => matches!(self, AttrKind::Numbers) && !elements.is_complex(),
                AttrData::Array(items) => items.iter().all(number),
                _ => false,
            },
            AttrKind::ElementType => match data {
                AttrData::Type(ty) => !matches!(
                    ctx.type_data(*ty),
                    TypeData::Tensor { .. } | TypeData::List(_) | TypeData::Function { .. }
                ),
                _ => false,
            },
            AttrKind::Symbol => matches!(data, AttrData::Symbol(_)),
            AttrKind::Type => matches!(data, AttrData::Type(_)),
            AttrKind::Dicts => match data {
                AttrData::Ints(items) => items.is_empty(),
                AttrData::Array(items) => items.iter().all(|&a| matches!(ctx.attr_data(a), AttrData::Dict(_))),
                _ => false,
            },
            AttrKind::Unit => matches!(data, AttrData::Unit),
            AttrKind::Any => true,
        }
    }

    /// The expected kind, and its form after `name = `.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            AttrKind::Int => ("an integer", "1"),
            AttrKind::Float => ("a number", "0.5"),
            AttrKind::Bool => ("true or false", "true"),
            AttrKind::False => ("`false`", "false"),
            AttrKind::Str => ("a string", "\"text\""),
            AttrKind::Ints => ("a list of integers", "[1, 2]"),
            AttrKind::Floats | AttrKind::Numbers => ("a list of numbers", "[0.5, 1.0]"),
            AttrKind::ElementType => ("an element type", "f32"),
            AttrKind::IntArray => ("a list of integers, or an integer", "[1, 2]"),
            AttrKind::Scalar => ("a number, or true or false", "1.0"),
            AttrKind::Symbol => ("a symbol", "@name"),
            AttrKind::Type => ("a type", "(f32) -> f32"),
            AttrKind::Dicts => ("a list of dictionaries", "[{}, {}]"),
            AttrKind::Unit => ("no value", ""),
            AttrKind::Any => ("anything", "…"),
        }
    }
}

/// Something that is wrong with the attributes of an operation.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    /// The attribute, and whether its value rather than its name is wrong; nothing if it is missing.
    pub(crate) place: Option<(Sym, bool)>,
    pub(crate) message: String,
    pub(crate) label: &'static str,
    pub(crate) help: String,
    /// The replacement for the attribute.
    pub(crate) replacement: Option<String>,
    /// The attribute whose value is wrong or missing, and its kind.
    value_of: Option<(Sym, AttrKind)>,
}

impl Fault {
    /// Looks for a value of the attribute that gives the types that are written for the results.
    pub(crate) fn complete(&mut self, args: InferArgs<'_>, results: &[Type]) {
        let (Some((name, kind)), Some(infer)) = (self.value_of, args.def.infer) else {
            return;
        };
        if let Some(text) = implied(args, infer, results, name, kind) {
            self.help = format!(
                "write `{} = {text}`, which follows from the type of the result",
                args.ctx.str(name)
            );
            self.replacement = Some(text);
        }
    }

    /// The error of the operation whose name is at `span`.
    pub(crate) fn diagnostic(self, ctx: &Context, span: Span) -> Diagnostic {
        let error = Diagnostic::error(self.code, self.message).help(self.help);
        let part = self.place.map(|(name, is_value)| match is_value {
            true => Part::AttributeValue(ctx.str(name).to_owned()),
            false => Part::AttributeName(ctx.str(name).to_owned()),
        });
        let error = match part.clone() {
            Some(part) => error.label_part(span, part, self.label),
            None => error.label(span, self.label),
        };
        match (part, self.replacement, self.value_of) {
            (Some(part), Some(text), _) => error.edit_part(span, part, text),
            (None, Some(text), Some((name, _))) => {
                let text = format!("{} = {text}", ctx.str(name));
                error.edit_part(span, Part::NewAttribute, text)
            }
            _ => error,
        }
    }
}

/// Whether the attributes of an operation with this number of operands are as declared.
#[inline]
pub(crate) fn are_declared(ctx: &Context, plan: &Plan, attrs: AttrDict, operands: usize, open: bool) -> bool {
    let (mut required, mut or_operands) = (0, 0);
    for &(name, attr) in ctx.dict_entries(attrs) {
        match plan.attrs.iter().find(|spec| spec.name == name) {
            Some(spec) if spec.kind.fits(ctx, attr) => {
                required += usize::from(spec.required && !spec.or_operand);
                or_operands += usize::from(spec.required && spec.or_operand);
            }
            Some(_) => return false,
            None if is_free(ctx, plan, name, open) => {}
            None => return false,
        }
    }
    required == plan.required && replace_and_rename(plan, operands) >= plan.or_operands - or_operands
}

/// The number of operands that may replace attributes.
fn replace_and_rename(plan: &Plan, operands: usize) -> usize {
    operands.saturating_sub(*plan.operands.start())
}

/// Whether an attribute that is not declared may have any value: names with a dot, except those of this project, which
/// change the meaning of a program; and all names, where unregistered dialects are allowed, on operations for which
/// MLIR permits it. Functions may have attributes of any name, as in MLIR, unless it may be misspelled.
fn is_free(ctx: &Context, plan: &Plan, name: Sym, open: bool) -> bool {
    let name = ctx.str(name);
    let is_note = || {
        let declared = plan.attrs.iter().map(|spec| ctx.str(spec.name));
        nearest(name, declared).is_none() && ctx.marks().iter().all(|mark| mark.name != name)
    };
    let undotted = plan.is_open && (open || plan.is_function && is_note());
    !name.starts_with("pir.") && (undotted || name.contains('.'))
}

/// Errors in the attributes of an operation.
pub(crate) fn faults(
    ctx: &Context,
    def: &OpDef,
    plan: &Plan,
    attrs: AttrDict,
    operands: usize,
    open: bool,
) -> Vec<Fault> {
    let entries = ctx.dict_entries(attrs);
    let mut faults = Vec::new();
    let mut absent = None;
    for &(name, attr) in entries {
        match plan.attrs.iter().find(|spec| spec.name == name) {
            Some(spec) if !spec.kind.fits(ctx, attr) => faults.push(wrong_type(ctx, def, name, attr, spec.kind)),
            None if !is_free(ctx, plan, name, open) => {
                let absent = absent.get_or_insert_with(|| absent_attributes(ctx, plan, entries));
                faults.push(unknown(ctx, def, absent, name));
            }
            _ => {}
        }
    }
    let is_missing = |spec: &&AttrPlan| spec.required && entries.iter().all(|entry| entry.0 != spec.name);
    let missing = || plan.attrs.iter().filter(is_missing);
    // Which of them operands replace is not known: all or none are missing.
    let covered = missing().filter(|spec| spec.or_operand).count() <= replace_and_rename(plan, operands);
    for spec in missing().filter(|spec| !(spec.or_operand && covered)) {
        let (name, (what, example)) = (ctx.str(spec.name), spec.kind.words());
        faults.push(Fault {
            code: "missing-attribute",
            place: None,
            message: format!("`{}` needs the attribute `{name}`", def.name),
            label: "it is missing here",
            help: format!("add {what}: `{{{name} = {example}}}`"),
            replacement: None,
            value_of: Some((spec.name, spec.kind)),
        });
    }
    faults
}

fn wrong_type(ctx: &Context, def: &OpDef, name: Sym, attr: Attr, kind: AttrKind) -> Fault {
    let (what, example) = kind.words();
    let name_text = ctx.str(name);
    // A value in quotes was mostly intended as it is.
    let quoted = match (kind, ctx.attr_data(attr)) {
        (AttrKind::ElementType, AttrData::Str(text)) => is_type_name(text).then_some(text),
        _ => None,
    };
    let help = match (quoted, kind) {
        (Some(text), _) => format!("an element type is written without quotes: `{name_text} = {text}`"),
        (None, AttrKind::Unit) => format!("write the name alone: `{{{name_text}}}`"),
        (None, AttrKind::Any) => String::new(),
        (None, _) => format!("write {what}, as in `{name_text} = {example}`"),
    };
    Fault {
        code: "attribute-type",
        place: Some((name, true)),
        message: format!(
            "the attribute `{name_text}` of `{}` must be {what}, but is {}",
            def.name,
            described(ctx, attr)
        ),
        label: "of another type",
        help,
        replacement: quoted.map(ToString::to_string),
        value_of: Some((name, kind)),
    }
}

/// A value in words, with its text if that is short.
fn described(ctx: &Context, attr: Attr) -> String {
    let kind = match ctx.attr_data(attr) {
        AttrData::Unit => return "written without a value".to_owned(),
        AttrData::Bool(_) => "",
        AttrData::Int { .. } => "the integer ",
        AttrData::Float { .. } => "the number ",
        AttrData::Str(_) => "the string ",
        AttrData::Ints(_) | AttrData::Array(_) => "the list ",
        AttrData::Dict(_) => "the dictionary ",
        AttrData::Type(_) => "the type ",
        AttrData::Symbol(_) => "the symbol ",
        AttrData::Opaque(_) | AttrData::Elements(_) => "",
    };
    let text = print_attr(ctx, attr);
    if text.chars().count() <= 40 {
        format!("{kind}`{text}`")
    } else {
        let kind = kind.strip_prefix("the ").unwrap_or("value ").trim_end();
        format!("a long {kind}")
    }
}

/// The names of the declared attributes that an operation does not have.
fn absent_attributes<'c>(ctx: &'c Context, plan: &Plan, entries: &[(Sym, Attr)]) -> Vec<&'c str> {
    crate::steps::count(entries.len());
    let absent = |spec: &&AttrPlan| entries.iter().all(|&(name, _)| name != spec.name);
    plan.attrs
        .iter()
        .filter(absent)
        .map(|spec| ctx.str(spec.name))
        .collect()
}

fn unknown(ctx: &Context, def: &OpDef, absent: &[&str], name: Sym) -> Fault {
    let text = ctx.str(name);
    let elsewhere = ctx.marks().iter().find(|mark| mark.name == text);
    let message = match elsewhere {
        Some(mark) => format!("the mark `{}` is not permitted on `{}`", def.name, mark.name),
        None => format!("`{}` has no attribute `{text}`", def.name),
    };
    let declared: Vec<String> = def.attrs.iter().map(|spec| format!("`{}`", spec.name)).collect();
    let near = nearest(text, absent.iter().copied());
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if declared.is_empty() => {
            format!("it has no attributes; use a name with a dot for a note: `my.{text}`")
        }
        None => format!(
            "its attributes are {}; use a name with a dot for a note: `my.{text}`",
            declared.join(", ")
        ),
    };
    Fault {
        code: "unknown-attribute",
        place: Some((name, false)),
        message,
        label: "not declared",
        help,
        replacement: near.map(str::to_owned),
        value_of: None,
    }
}
