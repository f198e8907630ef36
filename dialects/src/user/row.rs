//! Definitions from the rows of a dialect file.

use pir_ir::{
    Arity, Assembly, AttrSpec, Derivative, Diagnostic, MemoryEffects, OpDef, Speculatability, Traits, ValueSpec,
    nearest,
};
use serde_yaml_ng::{Mapping, Value};

use super::program::{Program, Text, origin};
use super::source::{Item, Source};
use super::types::Form;
use super::{attach, effects_by_semantics, is_word, speculate_by_semantics, unknown_field};
use crate::pd::INFERENCES;
use crate::table::schema;

/// The traits that a row may name.
const TRAITS: Traits = Traits::COMMUTATIVE.union(Traits::ELEMENTWISE).union(Traits::MOVEMENT);

/// The fields of a row.
const FIELDS: &[&str] = &[
    "op",
    "args",
    "output",
    "derivative",
    "infer_meta",
    "assembly",
    "backward",
    "no_need_buffer",
    "traits",
    "effects",
    "speculatable",
    "computes",
    "vjp",
    "summary",
    "doc",
    "example",
];

/// The fields that hold programs.
const PROGRAMS: [&str; 2] = ["computes", "vjp"];

/// The suffix of such a field for absent optional operands: `computes without bias`.
const WITHOUT: &str = " without ";

/// Reads one row.
pub(super) struct Reader<'s> {
    pub(super) source: &'s Source,
    pub(super) item: Item,
    pub(super) dialect: &'s str,
}

type Fault = Box<Diagnostic>;

impl Reader<'_> {
    fn error(&self, field: &str, message: impl Into<String>) -> Fault {
        Box::new(self.source.error(self.item.field(field), message))
    }

    pub(super) fn definition(&self, row: &Value) -> Result<OpDef, Fault> {
        let entries = row
            .as_mapping()
            .ok_or_else(|| self.error("op", "expected a mapping with `op:`, `args:`, `output:`"))?;
        for (key, value) in entries {
            let key = key.as_str().unwrap_or_default();
            let (field, without) = key.split_once(WITHOUT).unzip();
            if !FIELDS.contains(&field.unwrap_or(key)) || without.is_some() && !PROGRAMS.contains(&field.unwrap_or(key))
            {
                return Err(Box::new(unknown_field(self.source, self.item.field(key), key, FIELDS)));
            }
            if !matches!(key, "traits" | "infer_meta") && !value.is_string() {
                return Err(self.error(key, format!("expected a string in `{key}`")));
            }
        }
        for field in ["op", "args", "output", "summary"] {
            if !entries.contains_key(field) {
                return Err(self.error("op", format!("the field `{field}` is missing")));
            }
        }
        let plain = entries
            .iter()
            .filter(|(key, _)| !key.as_str().is_some_and(|key| key.contains(WITHOUT)));
        let plain: Mapping = plain.map(|(key, value)| (key.clone(), value.clone())).collect();
        let entry: schema::Entry = serde_yaml_ng::from_value(Value::Mapping(plain)).map_err(|error| {
            let field = if entries.contains_key("traits") {
                "traits"
            } else {
                "infer_meta"
            };
            self.error(field, error.to_string())
        })?;
        let row = schema::read(entry).map_err(|fault| self.error(fault.field, fault.message))?;
        if !is_word(&row.op) {
            let message = format!(
                "`{}` is not a valid name of an operation: expected letters, digits and `_`",
                row.op
            );
            return Err(self.error("op", message));
        }
        let [computes, vjp] = PROGRAMS;
        let programs = [(computes, &row.computes), (vjp, &row.vjp)];
        let programs = programs.map(|(field, text)| self.programs(entries, &row.op, field, text.as_deref()));
        self.built(&row, programs)
    }

    /// The program of a field, and those for operations without some of their operands.
    fn programs<'t>(&self, entries: &'t Mapping, name: &str, field: &str, plain: Option<&'t str>) -> Vec<Text<'t>> {
        let text = |key: &str, text: &'t str, without: Vec<String>| {
            let what = format!("`{key}` of `{}.{name}`", self.dialect);
            let origin = origin(self.source, self.item.lines(key), what);
            Text { text, without, origin }
        };
        let program = |(key, value): (&'t Value, &'t Value)| {
            let key = key.as_str()?;
            let names = key.strip_prefix(field)?.strip_prefix(WITHOUT)?;
            let names = names.split(',').map(|name| name.trim().to_owned()).collect();
            Some(text(key, value.as_str()?, names))
        };
        let plain = plain.map(|plain| text(field, plain, Vec::new()));
        plain.into_iter().chain(entries.iter().filter_map(program)).collect()
    }

    fn built(&self, row: &schema::Op, programs: [Vec<Text<'_>>; 2]) -> Result<OpDef, Fault> {
        let [computes, vjp] = programs;
        let (has_computes, has_vjp) = (!computes.is_empty(), !vjp.is_empty());
        let name = format!("{}.{}", self.dialect, row.op);
        let mut def = OpDef::new(name.clone(), row.summary.clone());
        def.description = row.doc.clone().into();
        def.example = row.example.clone().into();
        def.operands = specs(&row.operands).into();
        def.results = specs(&row.outputs).into();
        let attrs = row.attrs.iter().map(|attr| AttrSpec {
            name: attr.name.clone().into(),
            ty: attr.ty.clone().into(),
            default: attr.default.clone().map(Into::into),
        });
        def.attrs = attrs.collect::<Vec<_>>().into();
        for attr in &row.attrs {
            self.is_attribute_type(&attr.ty)?;
        }
        for word in &row.traits {
            def.traits |= self.a_trait(word)?;
        }
        def.derivative = match &row.derivative {
            Some(names) if names.is_empty() => Derivative::None,
            Some(names) => Derivative::Operands(names.iter().cloned().map(Into::into).collect::<Vec<_>>().into()),
            None if (has_computes || has_vjp) && !row.says_derivative => {
                Derivative::Operands(def.operands.iter().map(|operand| operand.name.clone()).collect())
            }
            None => Derivative::Undeclared,
        };
        if let Some(format) = &row.assembly {
            let assembly = Assembly::new(format.clone(), &[]);
            assembly.check(&def).map_err(|why| self.error("assembly", why))?;
            def.assembly = Some(assembly);
        }
        def.backward = row.backward.as_ref().map(|op| format!("{}.{op}", self.dialect).into());
        def.no_need_buffer = row
            .no_need_buffer
            .iter()
            .cloned()
            .map(Into::into)
            .collect::<Vec<_>>()
            .into();
        if let Some(func) = &row.infer {
            def.infer = Some(self.inference(func)?);
        }
        let program = Program::new(&def, computes, vjp);
        let mut program = program.map_err(|(field, why)| self.error(field, why))?;
        let forms = self.forms(row, &def)?;
        if forms.is_empty() && def.infer.is_none() && !has_computes && has_vjp {
            let message = "the types of the results are undetermined: write, for example, `like x` after `Tensor(…)`";
            return Err(self.error("output", message));
        }
        if let Some(list) = def
            .results
            .iter()
            .find(|r| r.arity == Arity::Variadic && !forms.is_empty() && has_computes)
        {
            let message = format!(
                "the types of the list `{}` follow from `computes`: omit them",
                list.name
            );
            return Err(self.error("output", message));
        }
        program.forms = forms;
        (def.effects, program.must_be_pure) = match row.effects.as_deref() {
            Some("none" | "None") => (MemoryEffects::None, true),
            None if has_computes => (MemoryEffects::Declared(effects_by_semantics), false),
            None => (MemoryEffects::Undeclared, false),
            Some(other) => {
                let message = format!("expected `none` in `effects`, found `{other}`");
                let help = "other effects cannot be declared; without the field, any effect is assumed";
                return Err(Box::new(self.error("effects", message).help(help)));
            }
        };
        def.speculatable = match row.speculate.as_deref() {
            Some("Always" | "always") => |_| Speculatability::Always,
            Some("Never" | "never") => |_| Speculatability::Never,
            None if has_computes => speculate_by_semantics,
            None => |_| Speculatability::Never,
            Some(other) => {
                let message = format!("expected `always` or `never` in `speculatable`, found `{other}`");
                return Err(self.error("speculatable", message));
            }
        };
        attach(&mut def, program);
        Ok(def)
    }

    fn forms(&self, row: &schema::Op, def: &OpDef) -> Result<Vec<Form>, Fault> {
        if row.forms.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let forms = row.forms.iter().zip(&row.outputs).map(|(form, output)| {
            let form = form.as_deref();
            let form = form.ok_or_else(|| {
                format!(
                    "the type of `{}` is missing: give it for all results, or for none",
                    output.name
                )
            });
            Form::parse(form?, def).map_err(|why| format!("the type of `{}`: {why}", output.name))
        });
        forms.collect::<Result<_, _>>().map_err(|why| self.error("output", why))
    }

    fn a_trait(&self, word: &str) -> Result<Traits, Fault> {
        if let Some(found) = Traits::from_name(&word.to_uppercase()).filter(|&found| TRAITS.contains(found)) {
            return Ok(found);
        }
        let names: Vec<String> = TRAITS.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        let error = self.error("traits", format!("unknown trait `{word}`"));
        Err(Box::new(error.help(
            match nearest(word, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the traits are {}", names.join(", ")),
            },
        )))
    }

    fn is_attribute_type(&self, ty: &str) -> Result<(), Fault> {
        const TYPES: &[&str] = &[
            "int",
            "int64_t",
            "float",
            "double",
            "bool",
            "str",
            "int[]",
            "int64_t[]",
            "float[]",
            "double[]",
            "DataType",
        ];
        if TYPES.contains(&ty) {
            return Ok(());
        }
        let error = self.error("args", format!("unknown attribute type `{ty}`"));
        Err(Box::new(error.help(
            match nearest(ty, TYPES.iter().copied().chain(["Tensor"])) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "the types are {}; an operand is `Tensor`, `Tensor?` or `Tensor[]`",
                    TYPES.join(", ")
                ),
            },
        )))
    }

    fn inference(&self, name: &str) -> Result<pir_ir::InferFn, Fault> {
        if let Some((_, infer)) = INFERENCES.iter().find(|(known, _)| *known == name) {
            return Ok(*infer);
        }
        let error = self.error("infer_meta", format!("unknown type inference `{name}`"));
        let near = nearest(name, INFERENCES.iter().map(|(known, _)| *known));
        Err(Box::new(match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("give the types in `output`: `Tensor(out) like x`"),
        }))
    }
}

fn specs(values: &[schema::Value]) -> Vec<ValueSpec> {
    let spec = |value: &schema::Value| ValueSpec {
        name: value.name.clone().into(),
        ty: value.ty.clone().into(),
        arity: match value.arity {
            schema::Arity::One => Arity::One,
            schema::Arity::Optional => Arity::Optional,
            schema::Arity::Variadic => Arity::Variadic,
        },
    };
    values.iter().map(spec).collect()
}
