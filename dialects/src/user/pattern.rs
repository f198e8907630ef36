//! Canonicalization patterns: pairs of small programs. The first is matched with the operations of a program, up to values and
//! attributes that it leaves open; the second replaces the last one.
//!
//! A match has the semantics of a program: an attribute that it omits has its default, and all operations have no effects.

use pir_ir::text::parse_attr;
use pir_ir::verify::compatible;
use pir_ir::{
    Attr, AttrDict, Context, Diagnostic, MemoryEffects, OpDef, OpId, OpView, Pattern, Rewriter, Type, ValueId, nearest,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::program::{OF_TYPES, hole, origin, sample_types};
use super::source::{Item, Lines, Source, place};
use super::template::{Hole, Template};

/// A pattern of a file.
pub(super) struct Rewrite {
    source: Source,
    lines: Lines,
    /// The operations of the match; the last one is replaced.
    ops: Vec<Op>,
    /// The values of the match that the replacement may use.
    values: Vec<String>,
    rewrite: Template,
}

/// An operation of a match.
struct Op {
    /// Its position in the text.
    at: usize,
    name: String,
    operands: Vec<String>,
    results: Vec<String>,
    attrs: Vec<(String, Wanted)>,
}

/// The pattern of an attribute.
enum Wanted {
    Constant(String),
    Variable(String),
}

/// The bindings of the variables of a match.
#[derive(Default)]
struct Bindings<'p> {
    values: FxHashMap<&'p str, ValueId>,
    attrs: FxHashMap<&'p str, Attr>,
}

impl<'p> Bindings<'p> {
    fn bind(&mut self, name: &'p str, value: ValueId) -> bool {
        *self.values.entry(name).or_insert(value) == value
    }
}

impl Rewrite {
    /// Reads the programs of a pattern.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn new(source: &Source, item: &Item, text: &str, rewrite: &str) -> Result<Self, Diagnostic> {
        let lines = item.lines("match");
        let fail = |at: usize, message: String| source.error(place(&lines, at), message);
        let mut ops: Vec<Op> = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let code = line.split("//").next().unwrap_or_default();
            let start = at + code.len() - code.trim_start().len();
            if !code.trim().is_empty() {
                ops.push(read_op(code.trim(), start).map_err(|why| fail(start, why))?);
            }
            at += line.len();
        }
        let Some(root) = ops.last() else {
            return Err(fail(0, "expected an operation in `match`".to_owned()));
        };
        for (number, op) in ops.iter().enumerate() {
            let used = |name: &String| ops[number + 1..].iter().any(|later| later.operands.contains(name));
            if number + 1 < ops.len() && !op.results.iter().any(used) {
                return Err(fail(
                    op.at,
                    "the results of this operation have no uses in `match`".to_owned(),
                ));
            }
            let defined = |name: &&String| ops[..number].iter().any(|before| before.results.contains(*name));
            if let Some(name) = op.results.iter().find(defined) {
                return Err(fail(op.at, format!("`%{name}` is defined twice")));
            }
            let late = |name: &&String| ops[number..].iter().any(|later| later.results.contains(*name));
            if let Some(name) = op.operands.iter().find(late) {
                return Err(fail(op.at, format!("`%{name}` is used before it is defined")));
            }
        }
        let mut values: Vec<String> = ops
            .iter()
            .flat_map(|op| op.operands.iter().chain(&op.results))
            .cloned()
            .collect();
        values.sort();
        values.dedup();
        values.retain(|name| !root.results.contains(name));
        let variables = ops
            .iter()
            .flat_map(|op| &op.attrs)
            .filter_map(|(_, wanted)| wanted.variable());
        let mut variables: Vec<&str> = variables.collect();
        variables.sort_unstable();
        variables.dedup();
        let holes = variables.into_iter().map(|name| Hole {
            name: name.to_owned(),
            default: None,
        });
        let what = format!("`rewrite` of a pattern for `{}`", root.name);
        let origin = origin(source, item.lines("rewrite"), what);
        let rewrite = Template::new(rewrite.to_owned(), values.clone(), holes.collect(), origin);
        Ok(Rewrite {
            source: source.clone(),
            lines,
            ops,
            values,
            rewrite,
        })
    }

    /// The operation that is replaced.
    pub(super) fn root(&self) -> &str {
        self.ops.last().map_or("", |op| &op.name)
    }

    fn error(&self, op: &Op, message: String) -> Diagnostic {
        self.source.error(place(&self.lines, op.at), message)
    }

    /// Matches the operations that lead to `root`.
    fn matched(&self, r: &Rewriter<'_>, root: OpId) -> Option<Bindings<'_>> {
        let mut bindings = Bindings::default();
        for (number, wanted) in self.ops.iter().enumerate().rev() {
            let op = match number + 1 == self.ops.len() {
                true => root,
                false => {
                    let known = wanted
                        .results
                        .iter()
                        .find_map(|name| bindings.values.get(name.as_str()))?;
                    r.body.defining_op(*known)?
                }
            };
            let view = r.view(op);
            let fits = view.name() == wanted.name
                && r.body.num_operands(op) == wanted.operands.len()
                && r.body.num_results(op) == wanted.results.len()
                && r.body.op_regions(op).is_empty()
                && !view.has_unknown_effects()
                && view.own_effects().is_empty();
            if !fits || !wanted.attributes(view, &mut bindings) {
                return None;
            }
            let results = wanted.results.iter().zip(r.body.results(op));
            let operands = wanted.operands.iter().zip(r.body.operands(op));
            if !results.chain(operands).all(|(name, value)| bindings.bind(name, value)) {
                return None;
            }
        }
        Some(bindings)
    }
}

impl Wanted {
    fn variable(&self) -> Option<&str> {
        match self {
            Wanted::Variable(name) => Some(name),
            Wanted::Constant(_) => None,
        }
    }
}

impl Op {
    fn attributes<'p>(&'p self, view: OpView<'_>, bindings: &mut Bindings<'p>) -> bool {
        let Some(def) = view.def() else { return false };
        // Names with a dot, and marks of the tools, do not affect the semantics.
        let declared = def.attrs.iter().all(|attr| {
            let given = view.attr(&attr.name);
            let found = given.or_else(|| default(view.ctx, def, &attr.name));
            match self.attrs.iter().find(|(name, _)| *name == *attr.name) {
                None => given.is_none() || given == default(view.ctx, def, &attr.name),
                Some((_, Wanted::Constant(text))) => found.is_some() && found == read_attr(view.ctx, text),
                Some((_, Wanted::Variable(name))) => {
                    found.is_some_and(|found| *bindings.attrs.entry(name.as_str()).or_insert(found) == found)
                }
            }
        });
        declared
            && self
                .attrs
                .iter()
                .all(|(name, _)| def.attrs.iter().any(|attr| *attr.name == **name))
    }
}

/// The default of an attribute.
fn default(ctx: &Context, def: &OpDef, name: &str) -> Option<Attr> {
    let attr = def.attrs.iter().find(|attr| attr.name == name)?;
    read_attr(ctx, &hole(attr).default?)
}

fn read_attr(ctx: &Context, text: &str) -> Option<Attr> {
    parse_attr(&ctx.shared()?, text).ok()
}

impl Pattern for Rewrite {
    fn rewrite(&self, r: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
        let Some(bindings) = self.matched(r, op) else {
            return false;
        };
        let values = self
            .values
            .iter()
            .map(|name| bindings.values.get(name.as_str()).copied());
        let Some(values) = values.collect::<Option<SmallVec<[ValueId; 4]>>>() else {
            return false;
        };
        let types: SmallVec<[Type; 4]> = values.iter().map(|&v| r.body.value_type(v)).collect();
        let mut attrs: Vec<(&str, Attr)> = bindings.attrs.into_iter().collect();
        attrs.sort_unstable_by_key(|&(name, _)| name);
        let attrs = attrs.into_iter();
        let attrs = attrs.fold(AttrDict::EMPTY, |dict, (name, attr)| r.ctx.dict_with(dict, name, attr));
        let Ok(instance) = self.rewrite.instance(r.ctx, &types, attrs) else {
            return false;
        };
        let results: SmallVec<[ValueId; 2]> = r.body.results(op).collect();
        let mut pairs = instance.results().zip(&results);
        let fits = instance.is_pure
            && instance.results().len() == results.len()
            && pairs.all(|(ty, &old)| compatible(r.ctx, ty, r.body.value_type(old)));
        if !fits {
            return false;
        }
        let new = instance.emit(r, r.body.op_span(op), &values);
        for (&old, &new) in results.iter().zip(&new) {
            if !values.contains(&new) {
                r.take_name(old, new);
            }
        }
        r.replace_op(op, &new);
        true
    }

    fn check(&self, ctx: &Context) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let suggest = |error: Diagnostic, near: Option<&str>| match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        };
        for op in &self.ops {
            let Some(def) = ctx.registered_op(&op.name).and_then(|name| ctx.op_def(name)) else {
                let error = self.error(op, format!("there is no operation `{}`", op.name));
                errors.push(suggest(error, nearest(&op.name, ctx.registered_ops())));
                continue;
            };
            if matches!(def.effects, MemoryEffects::Undeclared) {
                let message = format!("`{}` does not declare its effects: it cannot be replaced", op.name);
                errors.push(self.error(op, message).help("write `effects: none` in its row"));
            }
            for (name, wanted) in &op.attrs {
                let names = || def.attrs.iter().map(|attr| &*attr.name);
                if !names().any(|known| known == name) {
                    let error = self.error(op, format!("`{}` has no attribute `{name}`", op.name));
                    errors.push(suggest(error, nearest(name, names())));
                }
                if let Wanted::Constant(text) = wanted
                    && read_attr(ctx, text).is_none()
                {
                    errors.push(self.error(op, format!("`{text}` is not an attribute")));
                }
            }
        }
        if !errors.is_empty() {
            return errors;
        }
        // Errors of the replacement for any types.
        let attrs = self.rewrite.sample_holes(ctx);
        let mut faults = Vec::new();
        for ty in sample_types(ctx) {
            match self.rewrite.located_instance(ctx, &vec![ty; self.values.len()], attrs) {
                Ok(instance) => {
                    let (found, wanted) = (
                        instance.results().len(),
                        self.ops.last().map_or(0, |op| op.results.len()),
                    );
                    let message = format!("`rewrite` returns {found} values for {wanted} results");
                    return if found == wanted {
                        Vec::new()
                    } else {
                        self.rewrite.wrong(0, message).0
                    };
                }
                Err(wrong) if faults.is_empty() => faults = wrong.0,
                Err(_) => {}
            }
        }
        faults.retain(|fault| !OF_TYPES.contains(&fault.code) && fault.code != "attribute-type");
        faults
    }
}

/// `%a, %b = dialect.op (%x, %y) {name = value}`.
fn read_op(line: &str, at: usize) -> Result<Op, String> {
    const FORM: &str = "expected an operation `%y = dialect.op (%x) {name = value}`";
    let (results, rest) = line.split_once('=').filter(|_| line.starts_with('%')).ok_or(FORM)?;
    let (name, rest) = rest.split_once('(').ok_or(FORM)?;
    let (operands, rest) = rest.split_once(')').ok_or(FORM)?;
    let (name, rest) = (name.trim(), rest.trim());
    let attrs = match rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inside) => inside,
        None if rest.is_empty() => "",
        None => return Err(format!("{FORM}, found `{rest}` after the operands")),
    };
    let attrs = crate::table::schema::split(attrs).into_iter().map(|attr| {
        let pair = attr.split_once('=');
        let (name, value) = pair.ok_or_else(|| format!("expected `name = value`, found `{}`", attr.trim()))?;
        let wanted = match value.trim().strip_prefix('$') {
            Some(variable) => Wanted::Variable(variable.to_owned()),
            None => Wanted::Constant(value.trim().to_owned()),
        };
        Ok((name.trim().to_owned(), wanted))
    });
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(FORM.to_owned());
    }
    Ok(Op {
        at,
        name: name.to_owned(),
        operands: values(operands)?,
        results: values(results)?,
        attrs: attrs.collect::<Result<_, String>>()?,
    })
}

fn values(list: &str) -> Result<Vec<String>, String> {
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
    let names = words.map(|word| {
        let name = word.strip_prefix('%').map(str::to_owned);
        name.ok_or_else(|| format!("expected a value `%name`, found `{word}`"))
    });
    names.collect()
}
