//! Programs with open types: the text of a function whose parameters get their types, and whose `$name` get the values of
//! attributes, each time that it replaces an operation.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use crate::pd;
use pir_ir::text::{ParseOptions, parse, print_attr, print_type};
use pir_ir::verify::verify;
use pir_ir::{
    AttrDict, BlockId, Body, Context, Diagnostic, EffectKind, EffectTarget, Module, OpId, Rewriter, Severity, Span,
    Speculatability, Traits, Type, ValueId, ValueMap,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::source::{Lines, Source, place};

/// Where the text of a template is, for messages.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The file; nothing for a row of a table that the tool was built with.
    pub(super) source: Option<Source>,
    pub(super) lines: Lines,
    /// The description of the text: `computes` of `my.op`.
    pub(super) what: String,
}

/// An attribute that may be mentioned as `$name`.
#[derive(Clone, Debug)]
pub(super) struct Hole {
    pub(super) name: String,
    /// The value when the attribute is omitted, as text.
    pub(super) default: Option<String>,
}

/// The text of a function without its head.
#[derive(Debug)]
pub(super) struct Template {
    text: String,
    params: Vec<String>,
    holes: Vec<Hole>,
    origin: Origin,
    made: Mutex<FxHashMap<Key, Arc<Instance>>>,
}

type Key = (SmallVec<[Type; 4]>, AttrDict);

/// A template with types and attributes.
#[derive(Debug)]
pub(super) struct Instance {
    body: Body,
    entry: BlockId,
    end: OpId,
    /// Whether its operations have no effects.
    pub(super) is_pure: bool,
    /// Whether they may run where the program would not have run them.
    pub(super) speculatability: Speculatability,
    /// Whether one of them has regions, or is made of such.
    pub(super) has_regions: bool,
}

/// The instances of a template that are kept at the most.
const MAX_INSTANCES: usize = 1024;

/// Operations that a program in a row must not contain: it would become an input or an output of the program around it.
const ENDS: &[&str] = &[
    pd::Data::NAME,
    pd::Feed::NAME,
    pd::Parameter::NAME,
    pd::Fetch::NAME,
    pd::ShadowOutput::NAME,
];

/// The errors of a template, for some types.
#[derive(Clone, Debug)]
pub(super) struct Wrong(pub(super) Vec<Diagnostic>);

impl Template {
    pub(super) fn new(text: String, params: Vec<String>, holes: Vec<Hole>, origin: Origin) -> Self {
        Template {
            text,
            params,
            holes,
            origin,
            made: Mutex::default(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Values for the attributes that it may mention.
    pub(super) fn sample_holes(&self, ctx: &Context) -> AttrDict {
        let one = ctx.int_attr(1);
        let holes = self.holes.iter();
        holes.fold(AttrDict::EMPTY, |attrs, hole| ctx.dict_with(attrs, &hole.name, one))
    }

    /// The words of the text that have the form of names of operations.
    pub(super) fn mentions(&self) -> impl Iterator<Item = &str> {
        let code = self
            .text
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default());
        let words = code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')));
        words.filter(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    /// The program for operands of these types.
    ///
    /// # Errors
    /// What is wrong with the text, or with these types in it.
    pub(super) fn instance(&self, ctx: &Context, types: &[Type], attrs: AttrDict) -> Result<Arc<Instance>, String> {
        self.located_instance(ctx, types, attrs)
            .map_err(|wrong| self.brief(&wrong))
    }

    /// The same, with errors at their places in the file.
    pub(super) fn located_instance(
        &self,
        ctx: &Context,
        types: &[Type],
        attrs: AttrDict,
    ) -> Result<Arc<Instance>, Wrong> {
        let key: Key = (types.into(), ctx.dict_sorted(attrs));
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made().get(&key) {
            return Ok(found.clone());
        }
        // Not under the lock: the program may hold operations that are templates themselves.
        let instance = stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || self.read(ctx, types, attrs))?;
        let instance = Arc::new(instance);
        let mut made = made();
        if made.len() >= MAX_INSTANCES {
            made.clear();
        }
        made.insert(key, instance.clone());
        Ok(instance)
    }

    fn read(&self, ctx: &Context, types: &[Type], attrs: AttrDict) -> Result<Instance, Wrong> {
        if types.len() != self.params.len() {
            let message = format!("expected {} values, found {}", self.params.len(), types.len());
            return Err(self.wrong(0, message));
        }
        let mut text = String::from("func.func @template(");
        for (at, (name, &ty)) in self.params.iter().zip(types).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}%{name}: {}", print_type(ctx, ty));
        }
        text.push_str(") {\n");
        let map = self.fill(ctx, attrs, &mut text)?;
        text.push_str("\n}\n");
        let empty = || self.wrong(0, "it is empty".to_owned());
        let shared = ctx.shared().ok_or_else(empty)?;
        let parsed = parse(&shared, text.as_bytes(), &ParseOptions::default());
        self.faults(&map, parsed.diagnostics)?;
        let mut module = parsed.module;
        let mut functions = module.body.block_ops(module.top());
        let (function, None) = (functions.next().ok_or_else(empty)?, functions.next()) else {
            return Err(self.wrong(0, "expected the body of one function".to_owned()));
        };
        let body = module.body.isolated(function).ok_or_else(empty)?;
        let [entry] = *body.region_blocks(body.root()) else {
            return Err(self.wrong(0, "expected one block".to_owned()));
        };
        let end = body
            .last_op(entry)
            .filter(|&op| body.view(ctx, op).has(Traits::RETURN_LIKE))
            .ok_or_else(|| {
                self.wrong(
                    self.text.trim_end().len(),
                    "expected `func.return (…)` at the end".to_owned(),
                )
            })?;
        let results: Vec<Type> = body.operands(end).map(|v| body.value_type(v)).collect();
        let signature = ctx.type_attr(ctx.function_type(types, &results));
        let with_type = ctx.dict_with(module.body.attrs(function), "function_type", signature);
        module.body.set_attrs(function, with_type);
        self.faults(&map, verify(&module))?;
        let (is_pure, speculatability, has_regions) = self.properties(&map, &module, function)?;
        let body = module.body.take_isolated(function).ok_or_else(empty)?;
        Ok(Instance {
            body,
            entry,
            end,
            is_pure,
            speculatability,
            has_regions,
        })
    }

    /// Writes the text with the values of attributes. Gives where its parts come from.
    fn fill(&self, ctx: &Context, attrs: AttrDict, out: &mut String) -> Result<Lines, Wrong> {
        let mut map = vec![(0, 0), (out.len(), 0)];
        let mut at = 0;
        while let Some(found) = self.text[at..].find('$') {
            let (dollar, start) = (at + found, at + found + 1);
            out.push_str(&self.text[at..dollar]);
            map.push((out.len(), dollar));
            let rest = &self.text[start..];
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            let name = &rest[..end];
            let Some(hole) = self.holes.iter().find(|hole| hole.name == name) else {
                let wrong = self.wrong(dollar, format!("`${name}` is not an attribute of the operation"));
                let names = self.holes.iter().map(|hole| hole.name.as_str());
                return Err(match pir_ir::nearest(name, names) {
                    Some(near) => Wrong(
                        wrong
                            .0
                            .into_iter()
                            .map(|d| d.help(format!("did you mean `${near}`?")))
                            .collect(),
                    ),
                    None => wrong,
                });
            };
            match (ctx.dict_get(attrs, name), &hole.default) {
                (Some(value), _) => out.push_str(&print_attr(ctx, value)),
                (None, Some(default)) => out.push_str(default),
                (None, None) => return Err(self.wrong(dollar, format!("the attribute `{name}` is missing"))),
            }
            at = start + end;
            map.push((out.len(), at));
        }
        out.push_str(&self.text[at..]);
        Ok(map)
    }

    /// The errors among diagnostics of the text that was read, at their places in the file.
    fn faults(&self, map: &Lines, diagnostics: Vec<Diagnostic>) -> Result<(), Wrong> {
        let mut errors: Vec<Diagnostic> = diagnostics
            .into_iter()
            .filter(|d| d.severity == Severity::Error)
            .collect();
        for label in errors.iter_mut().flat_map(|error| &mut error.labels) {
            label.span = self.span(map, label.span);
        }
        if errors.is_empty() { Ok(()) } else { Err(Wrong(errors)) }
    }

    fn span(&self, map: &Lines, span: Span) -> Span {
        let one = |offset: u32| {
            let within = place(map, offset as usize).min(self.text.trim_end().len());
            place(&self.origin.lines, within)
        };
        let start = one(span.start);
        Span::new(start, one(span.end).max(start))
    }

    /// Whether the program has no effects, whether it may be speculated, and whether it has regions.
    fn properties(&self, map: &Lines, module: &Module, function: OpId) -> Result<(bool, Speculatability, bool), Wrong> {
        let (mut pure, mut speculatability, mut regions) = (true, Speculatability::Always, false);
        let Some(body) = module.body.isolated(function) else {
            return Ok((pure, speculatability, regions));
        };
        for op in body.walk_all().map(|op| body.view(&module.ctx, op)) {
            let refuse = |why: &str| {
                let span = self.span(map, op.body.op_span(op.op));
                let message = format!("`{}` {why}", op.name());
                Wrong(vec![Diagnostic::error("dialect-file", message).label(span, "here")])
            };
            if ENDS.contains(&op.name()) {
                return Err(refuse(
                    "is an input or output of a program, which is not allowed in the definition of an operation",
                ));
            }
            let changes = |at: usize| {
                let handle = |ty| op.ctx.is_of_dialect(ty);
                !op.operand_type(at).is_some_and(handle)
            };
            for effect in op.own_effects() {
                pure = false;
                if let (EffectKind::Write, EffectTarget::Operand(at)) = (effect.kind, effect.target)
                    && changes(at)
                {
                    return Err(refuse(
                        "changes its operand in place, which is not allowed in the definition of an operation",
                    ));
                }
            }
            pure &= !op.has_unknown_effects();
            if op.speculatability() == Speculatability::Never {
                speculatability = Speculatability::Never;
            }
            regions |= !op.body.op_regions(op.op).is_empty()
                || op
                    .semantics()
                    .is_some_and(|inner| !inner.has_vjp() && inner.has_regions(op));
        }
        Ok((pure, speculatability, regions))
    }

    /// An error at an offset of the text.
    pub(super) fn wrong(&self, offset: usize, message: String) -> Wrong {
        let at = place(&self.origin.lines, offset);
        Wrong(vec![match &self.origin.source {
            Some(source) => source.error(at, message),
            None => Diagnostic::error("dialect-file", message),
        }])
    }

    /// The first error in a line, with its place in the file.
    pub(super) fn brief(&self, wrong: &Wrong) -> String {
        let what = &self.origin.what;
        let Some(error) = wrong.0.first() else {
            return format!("{what} is invalid");
        };
        let place = match (&self.origin.source, error.labels.first()) {
            (Some(source), Some(label)) => format!(" ({})", source.spelled(label.span.start as usize)),
            _ => String::new(),
        };
        let help = error
            .help
            .as_ref()
            .map_or_else(String::new, |help| format!(" ({help})"));
        format!("in {what}{place}: {}{help}", error.message)
    }
}

impl Instance {
    /// The types of what it returns.
    pub(super) fn results(&self) -> impl ExactSizeIterator<Item = Type> + '_ {
        self.body.operands(self.end).map(|v| self.body.value_type(v))
    }

    /// Copies the program to the insertion point, with `args` for its parameters; gives what it returns.
    pub(super) fn emit(&self, r: &mut Rewriter<'_>, span: Span, args: &[ValueId]) -> SmallVec<[ValueId; 2]> {
        let mut map = ValueMap::new();
        for (&param, &arg) in self.body.block_args(self.entry).iter().zip(args) {
            map.insert(param, arg);
        }
        for op in self.body.block_ops(self.entry).filter(|&op| op != self.end) {
            let new = r.import_op(&self.body, op, &mut map);
            // Its place in the text of the template would be taken for one in the program.
            r.body.set_op_span(new, span);
            let inner: Vec<OpId> = r
                .body
                .op_regions(new)
                .iter()
                .flat_map(|&region| r.body.walk(region))
                .collect();
            inner.into_iter().for_each(|op| r.body.set_op_span(op, span));
        }
        // A parameter, or the result of an operation that was just copied.
        self.body.operands(self.end).map(|v| map.get_or_self(v)).collect()
    }
}
