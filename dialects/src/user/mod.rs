//! Dialects from files: rows of the same form as those of `pd`, read when a tool starts, and what their operations compute
//! and how they are differentiated as programs in our own text.
//!
//! ```yaml
//! dialect: my
//! summary: Operations of my models
//! ops:
//! - op: softcap
//!   args: (Tensor x, double cap=30.0)
//!   output: Tensor(out)
//!   summary: cap · tanh(x / cap)
//!   computes: |
//!     %cap = pd.full_like (%x) {value = $cap}
//!     %scaled = pd.divide (%x, %cap)
//!     %t = pd.tanh (%scaled)
//!     %out = pd.multiply (%t, %cap)
//!     func.return (%out)
//! ```
//!
//! In `computes` the operands are `%name` and the attributes `$name`. `vjp` is a program of the operands, the results and
//! their cotangents (`%out_grad`), which returns the cotangents of the operands that `derivative` names, in that order.
//! A row of a table that the tool is built with may have both as well. See `docs/dialects.md`.

mod irdl;
mod pattern;
mod program;
mod row;
mod source;
mod template;
#[cfg(test)]
mod tests;
mod types;

use std::sync::Arc;

use pir_ir::{
    Context, ContextBuilder, Diagnostic, DialectDef, OpDef, Pattern, Semantics, Span, effects_by_semantics,
    infer_by_semantics, nearest, speculate_by_semantics,
};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_yaml_ng::{Mapping, Value};

use pattern::Rewrite;
use program::{Program, Text};
use row::Reader;
use source::Source;
use template::Origin;
use types::Form;

/// A file that describes a dialect.
#[derive(Clone, Copy, Debug)]
pub struct DialectFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// The content.
    pub text: &'a [u8],
}

/// The maximum nesting of compositions: reading a program within a program takes stack.
const MAX_DEPTH: usize = 50;

/// A context with the dialects of a builder, and those of the files.
///
/// # Errors
/// The number of the invalid file, and its errors; spans are positions in its text.
pub fn context_with(
    mut builder: ContextBuilder,
    files: &[DialectFile<'_>],
) -> Result<Arc<Context>, (usize, Vec<Diagnostic>)> {
    let mut rows: FxHashMap<String, (usize, usize)> = FxHashMap::default();
    let mut patterns: Vec<Vec<Arc<Rewrite>>> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let registered = register(&mut builder, file).map_err(|errors| (number, errors))?;
        rows.extend(registered.rows.into_iter().map(|(op, at)| (op, (number, at))));
        patterns.push(registered.patterns);
    }
    let ctx = builder.build();
    for (number, file) in files.iter().enumerate() {
        // Operations may be defined in another file, but errors are reported with the text that they are in.
        let own = |name: &&str| rows.get(*name).is_some_and(|&(of, _)| of == number);
        let own = || {
            ctx.registered_ops()
                .filter(own)
                .filter_map(|name| ctx.op_def(ctx.op_name(name)))
        };
        let mut errors: Vec<Diagnostic> = Vec::new();
        let mut recursive = false;
        for def in own() {
            if let Err(message) = depth(&ctx, &def.name) {
                let at = rows.get(&*def.name).map_or(0, |&(_, at)| at);
                let source = source_of(file).map_err(|error| (number, vec![error]))?;
                errors.push(source.error(at, message));
                recursive = true;
            }
        }
        // Programs that hold themselves cannot be read.
        if !recursive {
            let checked = own().filter_map(|def| Some((def, def.semantics.as_ref()?)));
            errors.extend(checked.flat_map(|(def, semantics)| semantics.check(&ctx, def)));
        }
        if errors.is_empty() {
            errors.extend(patterns[number].iter().flat_map(|pattern| pattern.check(&ctx)));
        }
        if !errors.is_empty() {
            return Err((number, errors));
        }
    }
    Ok(ctx)
}

/// The nesting of an operation's composition, through `computes`.
fn depth(ctx: &Context, name: &str) -> Result<usize, String> {
    // Depth-first, with the operations that are under way.
    let mut path: Vec<&str> = Vec::new();
    let mut done: FxHashMap<&str, usize> = FxHashMap::default();
    let mut pending: Vec<(&str, bool)> = vec![(name, false)];
    while let Some((name, left)) = pending.pop() {
        let Some(def) = ctx.registered_op(name).and_then(|op| ctx.op_def(op)) else {
            continue;
        };
        let Some(semantics) = &def.semantics else { continue };
        let name = &*def.name;
        if left {
            path.pop();
            let inner = semantics.mentions();
            let depth = inner
                .iter()
                .filter_map(|word| done.get(word))
                .max()
                .map_or(0, |depth| depth + 1);
            done.insert(name, depth);
            continue;
        }
        if done.contains_key(name) {
            continue;
        }
        if let Some(at) = path.iter().position(|before| *before == name) {
            let mut cycle: Vec<String> = path[at..].iter().map(|op| format!("`{op}`")).collect();
            cycle.push(format!("`{name}`"));
            return Err(format!(
                "`{name}` is defined in terms of itself: {}",
                cycle.join(" -> ")
            ));
        }
        path.push(name);
        pending.push((name, true));
        let mentioned: FxHashSet<&str> = semantics.mentions().into_iter().collect();
        let mut mentioned: Vec<&str> = mentioned.into_iter().collect();
        mentioned.sort_unstable();
        pending.extend(mentioned.into_iter().map(|word| (word, false)));
    }
    match done.get(name).copied().unwrap_or_default() {
        depth @ 0..=MAX_DEPTH => Ok(depth),
        depth => Err(format!(
            "the definition of `{name}` is nested {depth} levels deep; at most {MAX_DEPTH} are allowed"
        )),
    }
}

fn source_of(file: &DialectFile<'_>) -> Result<Source, Diagnostic> {
    match std::str::from_utf8(file.text) {
        Ok(text) => Ok(Source {
            name: file.name.into(),
            text: text.into(),
        }),
        Err(error) => {
            let at = error.valid_up_to();
            Err(Diagnostic::error("dialect-file", "the file is not UTF-8").label(Span::new(at, at + 1), "here"))
        }
    }
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The registrations of a file.
#[derive(Default)]
struct Registered {
    /// Where the rows of its operations are.
    rows: Vec<(String, usize)>,
    patterns: Vec<Arc<Rewrite>>,
}

/// Registers the dialect of a file.
fn register(builder: &mut ContextBuilder, file: &DialectFile<'_>) -> Result<Registered, Vec<Diagnostic>> {
    let source = source_of(file).map_err(|error| vec![error])?;
    if irdl::is_irdl(&source.text) {
        irdl::register(builder, &source)?;
        return Ok(Registered::default());
    }
    let top: Value = serde_yaml_ng::from_str(&source.text).map_err(|error| vec![yaml_error(&source, &error)])?;
    let Value::Mapping(top) = top else {
        let error = source.error(0, "expected a mapping with `dialect:` and `ops:`");
        return Err(vec![error.help("docs/dialects.md has an example")]);
    };
    const KEYS: &[&str] = &["dialect", "summary", "ops", "patterns"];
    let mut errors = Vec::new();
    for key in top.keys() {
        let key = key.as_str().unwrap_or_default();
        if !KEYS.contains(&key) {
            errors.push(unknown_field(&source, source.key(key), key, KEYS));
        }
    }
    let text = |key: &str| top.get(key).and_then(Value::as_str);
    let Some(dialect) = text("dialect") else {
        errors.push(source.error(0, "the field `dialect` is missing, the name of the dialect"));
        return Err(errors);
    };
    if !is_word(dialect) {
        let message = format!("`{dialect}` is not a valid name of a dialect: expected letters, digits and `_`");
        errors.push(source.error(source.key("dialect"), message));
    }
    if let Some(known) = builder.dialects().find(|known| known.name == dialect) {
        let message = format!("the dialect `{}` is already registered: {}", known.name, known.summary);
        errors.push(source.error(source.key("dialect"), message).help("choose another name"));
    }
    let rows = match top.get("ops") {
        Some(Value::Sequence(rows)) => rows.as_slice(),
        None => &[],
        Some(_) => {
            errors.push(source.error(source.key("ops"), "expected a list of operations in `ops`"));
            &[]
        }
    };
    let items = source.items("ops");
    let (mut defs, mut places) = (Vec::new(), Vec::new());
    for (at, row) in rows.iter().enumerate() {
        let reader = Reader {
            source: &source,
            // Positions in a row are only found in block style.
            item: items
                .get(at)
                .filter(|_| items.len() == rows.len())
                .cloned()
                .unwrap_or_default(),
            dialect,
        };
        let read = reader.definition(row);
        match read {
            Ok(def) if places.iter().any(|(op, _)| *op == *def.name) => {
                errors.push(source.error(
                    reader.item.field("op"),
                    format!("the operation `{}` is defined twice", def.name),
                ));
            }
            Ok(def) => {
                places.push((def.name.to_string(), reader.item.field("op")));
                defs.push(def);
            }
            Err(error) => errors.push(*error),
        }
    }
    let read = read_patterns(&source, &top, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let dialect = DialectDef {
        name: dialect.to_owned().into(),
        summary: text("summary").unwrap_or("from a file").to_owned().into(),
        types: Vec::new(),
        other_types: true,
    };
    builder.register(dialect, defs);
    let (rows, mut patterns) = (places, Vec::new());
    for (benefit, pattern) in read {
        let pattern = Arc::new(pattern);
        builder.register_pattern(pattern.root().to_owned(), benefit, pattern.clone());
        patterns.push(pattern);
    }
    Ok(Registered { rows, patterns })
}

/// The patterns of a file, with their benefits.
fn read_patterns(source: &Source, top: &Mapping, errors: &mut Vec<Diagnostic>) -> Vec<(u32, Rewrite)> {
    const FIELDS: &[&str] = &["match", "rewrite", "benefit", "summary"];
    let rows = match top.get("patterns") {
        Some(Value::Sequence(rows)) => rows.as_slice(),
        None => return Vec::new(),
        Some(_) => {
            errors.push(source.error(source.key("patterns"), "expected a list in `patterns`"));
            return Vec::new();
        }
    };
    let items = source.items("patterns");
    let mut patterns = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let item = items.get(at).filter(|_| items.len() == rows.len()).cloned();
        let item = item.unwrap_or_default();
        let Some(row) = row.as_mapping() else {
            errors.push(source.error(item.field("match"), "expected a mapping with `match:` and `rewrite:`"));
            continue;
        };
        let mut keys = row.keys().map(|key| key.as_str().unwrap_or_default());
        if let Some(key) = keys.find(|key| !FIELDS.contains(key)) {
            errors.push(unknown_field(source, item.field(key), key, FIELDS));
            continue;
        }
        let text = |field: &str| {
            let text = row.get(field).and_then(Value::as_str);
            text.ok_or_else(|| {
                source.error(
                    item.field("match"),
                    format!("the field `{field}` is missing, a program"),
                )
            })
        };
        let benefit = row.get("benefit").map_or(Some(1), Value::as_u64);
        let Some(benefit) = benefit.and_then(|benefit| u32::try_from(benefit).ok()) else {
            errors.push(source.error(item.field("benefit"), "expected a number in `benefit`"));
            continue;
        };
        let read = text("match").and_then(|wanted| Rewrite::new(source, &item, wanted, text("rewrite")?));
        match read {
            Ok(pattern) => patterns.push((benefit, pattern)),
            Err(error) => errors.push(error),
        }
    }
    patterns
}

fn yaml_error(source: &Source, error: &serde_yaml_ng::Error) -> Diagnostic {
    let at = error.location().map_or(0, |place| place.index());
    let message = error.to_string();
    source.error(at, message.split(" at line ").next().unwrap_or_default())
}

fn unknown_field(source: &Source, at: usize, name: &str, known: &[&str]) -> Diagnostic {
    let error = source.error(at, format!("unknown field `{name}`"));
    error.help(match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the fields are {}", known.join(", ")),
    })
}

/// Gives an operation the semantics of programs, and what follows from them where its definition states nothing.
fn attach(def: &mut OpDef, program: Program) {
    if def.infer.is_none() && (program.has_expansion() || !program.forms.is_empty()) {
        def.infer = Some(infer_by_semantics);
    }
    def.semantics = Some(Arc::new(program));
}

/// Attaches the programs of a row to the definition of an operation in a table. The tables are tested: an error in a
/// program is reported to the caller that asks for it.
pub(crate) fn attach_row(def: &mut OpDef, computes: Option<&str>, vjp: Option<&str>, forms: &[Option<&str>]) {
    let text = |text, field: &str| {
        let what = format!("`{field}` of `{}`", def.name);
        let (source, lines) = (None, Vec::new());
        Text {
            text,
            without: Vec::new(),
            origin: Origin { source, lines, what },
        }
    };
    let program = Program::new(
        def,
        computes.map(|it| text(it, "computes")).into_iter().collect(),
        vjp.map(|it| text(it, "vjp")).into_iter().collect(),
    );
    let forms: Option<Vec<Form>> = forms.iter().map(|form| Form::parse((*form)?, def).ok()).collect();
    if let Ok(mut program) = program {
        program.forms = forms.unwrap_or_default();
        attach(def, program);
    }
}
