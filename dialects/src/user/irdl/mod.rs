//! IRDL: dialects that MLIR describes as data, `irdl.dialect` in generic form. What they declare of operations, types and
//! attributes is verified; nothing is known of effects and derivatives.
//!
//! A value of a definition in IRDL is a *variable*: it represents one type or attribute wherever it is mentioned.
//! See <https://mlir.llvm.org/docs/Dialects/IRDL/>.

mod base;
mod check;
mod read;

use std::sync::Arc;

use pir_ir::{
    Arity, AttrSpec, ContextBuilder, Diagnostic, DialectDef, MemoryEffects, OpDef, Presence, RegionSpec,
    Speculatability, Text, Traits, TypeDef, TypeParamKind, ValueSpec, verify_by_constraints,
};
use rustc_hash::FxHashMap;

use super::source::Source;

/// The attributes that determine how many values each of several lists has.
const SEGMENTS: [&str; 2] = ["operand_segment_sizes", "result_segment_sizes"];

/// The constraint that a variable is bound by. Numbers refer to other variables of the definition.
#[derive(Clone, Debug)]
enum Constraint {
    /// This type or attribute, as text.
    Is(String),
    Any,
    AnyOf(Vec<usize>),
    AllOf(Vec<usize>),
    /// One of a kind: `!builtin.tensor`, `#my.pair`.
    Base(String),
    /// A type or attribute of a dialect of a file, with parameters.
    Parametric(String, Vec<usize>),
}

/// A variable, and where it is defined.
#[derive(Clone, Debug)]
struct Variable {
    constraint: Constraint,
    place: String,
}

/// How many values a declaration represents.
type Declared = (usize, Arity);

#[derive(Clone, Debug)]
struct Region {
    /// The arguments of the first block.
    args: Option<Vec<usize>>,
    /// How many blocks.
    blocks: Option<i64>,
    place: String,
}

/// A type, an attribute or an operation.
#[derive(Clone, Default, Debug)]
struct Definition {
    vars: Vec<Variable>,
    /// The parameters of a type or an attribute.
    parameters: Vec<usize>,
    operands: Vec<Declared>,
    results: Vec<Declared>,
    /// The names of operands and results.
    names: [Vec<String>; 2],
    attributes: Vec<(String, usize)>,
    regions: Vec<Region>,
    /// Its position in the file.
    at: usize,
}

/// A dialect.
#[derive(Clone, Default, Debug)]
struct Dialect {
    name: String,
    at: usize,
    /// Types as `!name`, attributes as `#name`, operations as `name`, in the order of the file.
    definitions: Vec<(String, Definition)>,
    by_name: FxHashMap<String, usize>,
}

impl Dialect {
    fn get(&self, name: &str) -> Option<&Definition> {
        self.by_name.get(name).map(|&at| &self.definitions[at].1)
    }

    fn type_defs(&self) -> Vec<TypeDef> {
        let types = self
            .definitions
            .iter()
            .filter_map(|(name, definition)| Some((name.strip_prefix('!')?, definition)));
        let def = |(name, definition): (&str, &Definition)| {
            let def = TypeDef::new(format!("{}.{name}", self.name), "a type of IRDL");
            let params = 0..definition.parameters.len();
            params.fold(def, |def, at| {
                def.with_param(format!("parameter{at}"), TypeParamKind::Attr)
            })
        };
        types.map(def).collect()
    }

    fn op_defs(&self) -> Vec<OpDef> {
        let operations = self
            .definitions
            .iter()
            .filter(|(name, _)| !name.starts_with(['!', '#']));
        operations
            .map(|(name, definition)| self.op_def(name, definition))
            .collect()
    }

    fn op_def(&self, name: &str, definition: &Definition) -> OpDef {
        let mut def = OpDef::new(format!("{}.{name}", self.name), "an operation of IRDL");
        let values = |declared: &[Declared], names: &[String], word: &str| -> Vec<ValueSpec> {
            let spec = |(at, &(var, arity)): (usize, &Declared)| ValueSpec {
                name: names.get(at).cloned().unwrap_or_else(|| format!("{word}{at}")).into(),
                arity,
                ty: definition.described(var).into(),
            };
            declared.iter().enumerate().map(spec).collect()
        };
        def.operands = values(&definition.operands, &definition.names[0], "operand").into();
        def.results = values(&definition.results, &definition.names[1], "result").into();
        let attrs = definition.attributes.iter().map(|(name, var)| AttrSpec {
            name: name.clone().into(),
            ty: definition.described(*var).into(),
            default: None,
        });
        let declared = [&definition.operands, &definition.results];
        let lists = SEGMENTS
            .into_iter()
            .zip(declared)
            .filter(|(_, declared)| lists(declared) > 1);
        let segments = lists.map(|(name, _)| AttrSpec {
            name: name.into(),
            ty: "array<i32>".into(),
            default: None,
        });
        def.attrs = attrs.chain(segments).collect::<Vec<_>>().into();
        let region = RegionSpec {
            keywords: &[],
            presence: Presence::MayBeEmpty,
            bare: true,
        };
        def.regions = vec![region; definition.regions.len()];
        def.traits = Traits::OPEN_ATTRS;
        def.verify = Some(verify_by_constraints);
        def.speculatable = |_| Speculatability::Never;
        def.with_effects(MemoryEffects::Undeclared)
    }
}

/// How many of declared values are optional or any number.
fn lists(declared: &[Declared]) -> usize {
    declared.iter().filter(|(_, arity)| *arity != Arity::One).count()
}

/// Whether a file is IRDL: no line of YAML begins so.
pub(super) fn is_irdl(text: &str) -> bool {
    let mut lines = text.lines().map(|line| line.trim_start().trim_start_matches('"'));
    lines.any(|line| line.starts_with("irdl.dialect"))
}

/// Registers the dialects of a file.
pub(super) fn register(builder: &mut ContextBuilder, source: &Source) -> Result<(), Vec<Diagnostic>> {
    let dialects = read::dialects(source)?;
    let mut errors = Vec::new();
    for dialect in dialects {
        if let Some(known) = builder.dialects().find(|known| known.name == *dialect.name) {
            let message = format!("the dialect `{}` is already registered: {}", known.name, known.summary);
            errors.push(source.error(dialect.at, message).help("choose another name"));
            continue;
        }
        let def = DialectDef {
            name: dialect.name.clone().into(),
            summary: "from a file".into(),
            types: dialect.type_defs(),
            other_types: false,
        };
        builder.register(def, dialect.op_defs());
        builder.constrain(Text::from(dialect.name.clone()), Arc::new(dialect));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
