//! Reads the definitions of a file.

use pir_ir::text::{ParseOptions, parse, print_attr};
use pir_ir::{Arity, Attr, AttrData, BlockId, Body, Context, Diagnostic, OpId, OpView, Severity, ValueId, nearest};
use rustc_hash::FxHashMap;

use super::super::is_word;
use super::super::source::Source;
use super::base::{BUILTIN, may_be};
use super::{Constraint, Declared, Definition, Dialect, Region, Variable};

type Read<T> = Result<T, Box<Diagnostic>>;

/// The dialects of a file.
pub(super) fn dialects(source: &Source) -> Result<Vec<Dialect>, Vec<Diagnostic>> {
    let options = ParseOptions {
        allow_unregistered: true,
    };
    let parsed = parse(&crate::context(), source.text.as_bytes(), &options);
    let errors = parsed.diagnostics.into_iter().filter(|d| d.severity == Severity::Error);
    let errors: Vec<Diagnostic> = errors
        .map(|error| match error.code {
            "custom-assembly" => {
                error.help("`mlir-opt --mlir-print-op-generic FILE` prints the generic form, which is read here")
            }
            _ => error,
        })
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let (mut dialects, mut errors) = (Vec::new(), Vec::new());
    let mut pending = vec![&parsed.module.body];
    while let Some(body) = pending.pop() {
        let reader = Reader {
            ctx: &parsed.module.ctx,
            body,
            source,
        };
        for op in body
            .region_blocks(body.root())
            .iter()
            .flat_map(|&block| body.block_ops(block))
        {
            match (body.isolated(op), reader.view(op).name()) {
                (Some(inner), "builtin.module") => pending.push(inner),
                (_, "irdl.dialect") => match reader.dialect(op) {
                    Ok(dialect) => dialects.push(dialect),
                    Err(found) => errors.extend(found),
                },
                (_, name) => errors.push(*reader.error(op, format!("expected `irdl.dialect`, found `{name}`"))),
            }
        }
    }
    if errors.is_empty() {
        resolve(source, &mut dialects, &mut errors);
    }
    if errors.is_empty() { Ok(dialects) } else { Err(errors) }
}

/// Finds the types and attributes that are referred to. A symbol does not determine which of the two it is.
fn resolve(source: &Source, dialects: &mut [Dialect], errors: &mut Vec<Diagnostic>) {
    let mut known: FxHashMap<String, (String, usize)> = FxHashMap::default();
    for dialect in &*dialects {
        for (name, definition) in &dialect.definitions {
            if let Some(sigil @ ("!" | "#")) = name.get(..1) {
                let path = format!("{}.{}", dialect.name, &name[1..]);
                known.insert(path.clone(), (format!("{sigil}{path}"), definition.parameters.len()));
            }
        }
    }
    let definitions = dialects.iter_mut().flat_map(|dialect| &mut dialect.definitions);
    for (_, definition) in definitions {
        for variable in &mut definition.vars {
            let given = match &variable.constraint {
                Constraint::Parametric(_, vars) => Some(vars.len()),
                _ => None,
            };
            let (Constraint::Base(base) | Constraint::Parametric(base, _)) = &mut variable.constraint else {
                continue;
            };
            let Some(path) = base.strip_prefix('@') else { continue };
            let Some((found, wanted)) = known.get(path) else {
                let spelled = path.replace('.', "::@");
                let message = format!(
                    "{} refers to `@{spelled}`, which is not a type or attribute of this dialect",
                    variable.place
                );
                let error = source.error(definition.at, message);
                errors.push(match nearest(path, known.keys().map(String::as_str)) {
                    Some(near) => error.help(format!("did you mean `@{}`?", near.replace('.', "::@"))),
                    None => error.help("define it with `irdl.type` or `irdl.attribute`"),
                });
                continue;
            };
            if given.is_some_and(|given| given != *wanted) {
                let given = given.unwrap_or_default();
                let message = format!(
                    "{} passes {given} parameters to `{found}`, which takes {wanted}",
                    variable.place
                );
                errors.push(source.error(definition.at, message));
            }
            *base = found.clone();
        }
    }
}

struct Reader<'a> {
    ctx: &'a Context,
    body: &'a Body,
    source: &'a Source,
}

/// The parsed part of a definition.
#[derive(Default)]
struct Values {
    vars: FxHashMap<ValueId, usize>,
    regions: FxHashMap<ValueId, Region>,
}

impl<'a> Reader<'a> {
    fn view(&self, op: OpId) -> OpView<'a> {
        self.body.view(self.ctx, op)
    }

    /// An attribute, also one that is written as a property.
    fn attr(&self, op: OpId, name: &str) -> Option<Attr> {
        let view = self.view(op);
        view.attr(name)
            .or_else(|| match self.ctx.attr_data(view.attr("<{}>")?) {
                AttrData::Dict(properties) => self.ctx.dict_get(*properties, name),
                _ => None,
            })
    }

    fn str(&self, op: OpId, name: &str) -> Option<&'a str> {
        self.ctx.attr_str(self.attr(op, name)?)
    }

    fn error(&self, op: OpId, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error("dialect-file", message).label(self.body.op_span(op), "here"))
    }

    fn at(&self, op: OpId) -> usize {
        self.body.op_span(op).start as usize
    }

    /// `irdl.is` at a place.
    fn place(&self, op: OpId) -> String {
        format!("`{}` in {}", self.view(op).name(), self.source.spelled(self.at(op)))
    }

    /// The operations of the only region.
    fn inside(&self, op: OpId) -> Vec<OpId> {
        let blocks = self
            .body
            .op_regions(op)
            .iter()
            .flat_map(|&region| self.body.region_blocks(region));
        blocks.flat_map(|&block: &BlockId| self.body.block_ops(block)).collect()
    }

    fn name(&self, op: OpId) -> Read<String> {
        let name = self.str(op, "sym_name").unwrap_or_default();
        match is_word(name) {
            true => Ok(name.to_owned()),
            false => Err(self.error(
                op,
                format!("`{name}` is not a valid name: expected letters, digits and `_`"),
            )),
        }
    }

    fn dialect(&self, op: OpId) -> Result<Dialect, Vec<Diagnostic>> {
        let mut dialect = Dialect {
            name: self.name(op).map_err(|error| vec![*error])?,
            at: self.at(op),
            ..Dialect::default()
        };
        let mut errors = Vec::new();
        for inner in self.inside(op) {
            let prefix = match self.view(inner).name() {
                "irdl.type" => "!",
                "irdl.attribute" => "#",
                "irdl.operation" => "",
                name => {
                    errors.push(*self.error(inner, format!("`{name}` is not allowed in an `irdl.dialect`")));
                    continue;
                }
            };
            let read = self
                .name(inner)
                .and_then(|name| Ok((format!("{prefix}{name}"), self.definition(inner)?)));
            match read {
                Ok((name, _)) if dialect.by_name.contains_key(&name) => {
                    errors.push(*self.error(inner, format!("`{name}` is defined twice")));
                }
                Ok((name, definition)) => {
                    dialect.by_name.insert(name.clone(), dialect.definitions.len());
                    dialect.definitions.push((name, definition));
                }
                Err(error) => errors.push(*error),
            }
        }
        if errors.is_empty() { Ok(dialect) } else { Err(errors) }
    }

    fn definition(&self, op: OpId) -> Read<Definition> {
        let is_operation = self.view(op).name() == "irdl.operation";
        let mut definition = Definition {
            at: self.at(op),
            ..Definition::default()
        };
        let mut values = Values::default();
        let mut seen: Vec<&str> = Vec::new();
        for inner in self.inside(op) {
            let name = self.view(inner).name();
            let declares = match name {
                "irdl.operands" | "irdl.results" | "irdl.attributes" | "irdl.regions" => is_operation,
                "irdl.parameters" => !is_operation,
                _ => {
                    self.variable(inner, &mut definition, &mut values)?;
                    continue;
                }
            };
            if !declares {
                return Err(self.error(
                    inner,
                    format!("`{name}` is not allowed in an `{}`", self.view(op).name()),
                ));
            }
            if seen.contains(&name) {
                return Err(self.error(inner, format!("`{name}` is given twice")));
            }
            seen.push(name);
            match name {
                "irdl.parameters" => definition.parameters = self.vars(inner, &values)?,
                "irdl.operands" => (definition.operands, definition.names[0]) = self.declared(inner, &values)?,
                "irdl.results" => (definition.results, definition.names[1]) = self.declared(inner, &values)?,
                "irdl.attributes" => {
                    let (vars, names) = (self.vars(inner, &values)?, self.texts(inner, "attributeValueNames"));
                    if vars.len() != names.len() {
                        let message = format!("found {} attribute names for {} constraints", names.len(), vars.len());
                        return Err(self.error(inner, message));
                    }
                    definition.attributes = names.into_iter().zip(vars).collect();
                }
                _ => {
                    for value in self.body.operands(inner) {
                        let region = values.regions.get(&value);
                        let region = region
                            .ok_or_else(|| self.error(inner, "an operand is not the result of an `irdl.region`"))?;
                        definition.regions.push(region.clone());
                    }
                }
            }
        }
        Ok(definition)
    }

    /// A constraint, or a region.
    fn variable(&self, op: OpId, definition: &mut Definition, values: &mut Values) -> Read<()> {
        let view = self.view(op);
        let needs = |name: &str| self.error(op, format!("`{}` needs the attribute `{name}`", view.name()));
        let constraint = match view.name() {
            "irdl.any" => Constraint::Any,
            "irdl.is" => {
                let expected = self.attr(op, "expected").ok_or_else(|| needs("expected"))?;
                Constraint::Is(print_attr(self.ctx, expected))
            }
            "irdl.any_of" => Constraint::AnyOf(self.vars(op, values)?),
            "irdl.all_of" => Constraint::AllOf(self.vars(op, values)?),
            "irdl.parametric" => {
                let base = self.reference(op, "base_type").ok_or_else(|| needs("base_type"))?;
                Constraint::Parametric(base, self.vars(op, values)?)
            }
            "irdl.base" => Constraint::Base(match (self.reference(op, "base_ref"), self.str(op, "base_name")) {
                (Some(base), None) => base,
                (None, Some(name)) if may_be(name) && name.starts_with(['!', '#']) => name.to_owned(),
                (None, Some(name)) => {
                    let error = self.error(op, format!("there is no type or attribute `{name}`"));
                    return Err(Box::new(match nearest(name, BUILTIN.iter().copied()) {
                        Some(near) => error.help(format!("did you mean `{near}`?")),
                        None => error.help("write `!dialect.name` for a type, `#dialect.name` for an attribute"),
                    }));
                }
                _ => return Err(self.error(op, "`irdl.base` needs one of `base_ref` and `base_name`")),
            }),
            "irdl.region" => {
                let args = self.vars(op, values)?;
                let constrained = self.attr(op, "constrainedArguments").is_some();
                let region = Region {
                    args: constrained.then_some(args),
                    blocks: self.attr(op, "numberOfBlocks").and_then(|attr| self.ctx.attr_int(attr)),
                    place: self.place(op),
                };
                values
                    .regions
                    .extend(self.body.results(op).map(|value| (value, region.clone())));
                return Ok(());
            }
            "irdl.c_pred" => {
                let error = self.error(op, "`irdl.c_pred` is a condition in C++, which cannot be checked here");
                return Err(Box::new(error.help("use the other constraints, or `irdl.any`")));
            }
            name => {
                const KNOWN: &[&str] = &[
                    "irdl.is",
                    "irdl.any",
                    "irdl.any_of",
                    "irdl.all_of",
                    "irdl.base",
                    "irdl.parametric",
                    "irdl.region",
                    "irdl.operands",
                    "irdl.results",
                    "irdl.attributes",
                    "irdl.regions",
                    "irdl.parameters",
                ];
                let error = self.error(op, format!("`{name}` is not a supported operation of IRDL"));
                return Err(Box::new(match nearest(name, KNOWN.iter().copied()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(format!("a definition holds {}", KNOWN.join(", "))),
                }));
            }
        };
        let place = self.place(op);
        values
            .vars
            .extend(self.body.results(op).map(|value| (value, definition.vars.len())));
        definition.vars.push(Variable { constraint, place });
        Ok(())
    }

    /// `@dialect.name` of a reference; what kind it is of is found when all definitions have been read.
    fn reference(&self, op: OpId, name: &str) -> Option<String> {
        match self.ctx.attr_data(self.attr(op, name)?) {
            AttrData::Symbol(path) => {
                let path: Vec<&str> = path.iter().map(|&part| self.ctx.str(part)).collect();
                Some(format!("@{}", path.join(".")))
            }
            _ => None,
        }
    }

    /// The variables that are the operands.
    fn vars(&self, op: OpId, values: &Values) -> Read<Vec<usize>> {
        let var = |value| values.vars.get(&value).copied();
        let vars: Option<Vec<usize>> = self.body.operands(op).map(var).collect();
        vars.ok_or_else(|| {
            self.error(
                op,
                "an operand is not a constraint that this definition defines before it",
            )
        })
    }

    fn texts(&self, op: OpId, name: &str) -> Vec<String> {
        match self.attr(op, name).map(|attr| self.ctx.attr_data(attr)) {
            Some(AttrData::Array(items)) => {
                let texts = items.iter().filter_map(|&item| self.ctx.attr_str(item));
                texts.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    fn declared(&self, op: OpId, values: &Values) -> Read<(Vec<Declared>, Vec<String>)> {
        let vars = self.vars(op, values)?;
        let written = match self.attr(op, "variadicity").map(|attr| self.ctx.attr_data(attr)) {
            None => {
                return Ok((
                    vars.into_iter().map(|var| (var, Arity::One)).collect(),
                    self.texts(op, "names"),
                ));
            }
            Some(AttrData::Opaque(text)) => &**text,
            Some(_) => "",
        };
        let list = written.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let words = list.map_or("", |(list, _)| list).split(',').map(str::trim);
        let arity = |word: &str| match word {
            "single" => Some(Arity::One),
            "optional" => Some(Arity::Optional),
            "variadic" => Some(Arity::Variadic),
            _ => None,
        };
        let arities: Vec<Arity> = words.filter_map(arity).collect();
        if arities.len() != vars.len() {
            let message = format!(
                "`variadicity` has {} entries for {} values: `{written}`",
                arities.len(),
                vars.len()
            );
            return Err(self.error(op, message));
        }
        Ok((vars.into_iter().zip(arities).collect(), self.texts(op, "names")))
    }
}
