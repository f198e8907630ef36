//! What the programs and the type forms of a row say of an operation.

use std::ops::Range;
use std::sync::OnceLock;

use pir_ir::{
    Arity, AttrData, AttrDict, AttrSpec, Body, Context, Derivative, Diagnostic, InferArgs, OpDef, OpId, OpView,
    Rewriter, Semantics, Speculatability, Type, TypeData, ValueId, VjpArgs,
};
use smallvec::SmallVec;

use super::source::Lines;
use super::template::{Hole, Instance, Origin, Template};
use super::types::Form;

/// What a row says of an operation beyond what its definition holds.
#[derive(Default)]
pub(super) struct Program {
    pub(super) computes: Option<Template>,
    pub(super) vjp: Option<Template>,
    /// The operands that `vjp` returns cotangents of.
    derivative: Vec<usize>,
    /// The forms of the types of the results; empty when they are inferred in another way.
    pub(super) forms: Vec<Form>,
    /// How many operands are declared, and which of them is a list.
    declared: usize,
    list: Option<usize>,
    /// Whether the row says that there are no effects.
    pub(super) must_be_pure: bool,
    /// What was found wrong, so that it is looked for once.
    checked: OnceLock<Vec<Diagnostic>>,
}

/// A program of a row: its text, and where that is.
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    pub(super) origin: Origin,
}

type Types = SmallVec<[Type; 6]>;

const NO_COMPUTES: &str = "its row has no `computes`: it does not say what the operation computes";

impl Program {
    /// The programs of the row of an operation.
    ///
    /// # Errors
    /// The name of the field that is wrong, and what is wrong with it.
    pub(super) fn new(
        def: &OpDef,
        computes: Option<Text<'_>>,
        vjp: Option<Text<'_>>,
    ) -> Result<Self, (&'static str, String)> {
        let mut program = Program::default();
        if computes.is_none() && vjp.is_none() {
            return Ok(program);
        }
        let field = if computes.is_some() { "computes" } else { "vjp" };
        program.declared = def.operands.len();
        program.list = def.operands.iter().position(|operand| operand.arity == Arity::Variadic);
        let others = def
            .operands
            .iter()
            .enumerate()
            .filter(|(at, _)| Some(*at) != program.list);
        let values = others.map(|(_, operand)| operand).chain(def.results.iter());
        if let Some(value) = values.into_iter().find(|value| value.arity != Arity::One) {
            let message = format!(
                "`computes` and `vjp` are for operations with at most one list of operands, no optional operands and a fixed \
                 number of results, unlike `{}`",
                value.name
            );
            return Err((field, message));
        }
        let operands: Vec<String> = def.operands.iter().map(|operand| operand.name.to_string()).collect();
        let results = def.results.iter().map(|result| result.name.to_string());
        let cotangents = def.results.iter().map(|result| format!("{}_grad", result.name));
        let all: Vec<String> = operands.iter().cloned().chain(results).chain(cotangents).collect();
        if let Some(name) = all.iter().enumerate().find(|(at, name)| all[..*at].contains(name)) {
            let message = format!(
                "the programs would have two values `%{}`: an operand, a result, or the cotangent of one",
                name.1
            );
            return Err((field, message));
        }
        let template = |text: Option<Text<'_>>, params: Vec<String>| {
            let holes = def.attrs.iter().map(hole).collect();
            text.map(|Text { text, origin }| Template::new(text.to_owned(), params, holes, origin))
        };
        program.computes = template(computes, operands);
        program.vjp = template(vjp, all);
        if let Derivative::Operands(names) = &def.derivative {
            let at = |name: &pir_ir::Text| def.operands.iter().position(|operand| operand.name == *name);
            program.derivative = names.iter().filter_map(at).collect();
        }
        if program.vjp.is_some() && program.derivative.is_empty() {
            return Err(("vjp", "it has a `vjp`, but `derivative` names no operand".to_owned()));
        }
        Ok(program)
    }

    fn computes(&self) -> Result<&Template, String> {
        self.computes.as_ref().ok_or_else(|| NO_COMPUTES.to_owned())
    }

    /// The expansion for an operation that is there.
    fn instance(&self, op: OpView<'_>) -> Option<std::sync::Arc<Instance>> {
        let types: Types = op.body.operands(op.op).map(|v| op.body.value_type(v)).collect();
        self.computes
            .as_ref()?
            .instance(op.ctx, &self.grouped_types(op.ctx, &types), op.body.attrs(op.op))
            .ok()
    }

    /// Which of so many operands are those of the list.
    fn elements(&self, count: usize) -> Option<Range<usize>> {
        let list = self.list?;
        Some(list..(list + (count + 1).saturating_sub(self.declared)).min(count))
    }

    /// The same, unless a list is given as one value.
    fn to_combine(&self, ctx: &Context, types: &[Type]) -> Option<Range<usize>> {
        let is_list = |range: &Range<usize>| {
            let single = types.get(range.start).filter(|_| range.len() == 1);
            single.is_some_and(|&ty| matches!(ctx.type_data(ty), TypeData::List(_)))
        };
        self.elements(types.len()).filter(|range| !is_list(range))
    }

    /// The types of the parameters of the programs: a list is one value.
    fn grouped_types(&self, ctx: &Context, types: &[Type]) -> Types {
        let mut grouped: Types = types.into();
        if let Some(range) = self.to_combine(ctx, types) {
            let list = ctx.intern_type(TypeData::List(types[range.clone()].into()));
            grouped.drain(range.clone());
            grouped.insert(range.start, list);
        }
        grouped
    }

    /// The arguments for them.
    fn grouped(&self, r: &mut Rewriter<'_>, operands: &[ValueId]) -> SmallVec<[ValueId; 6]> {
        let types: Types = operands.iter().map(|&v| r.body.value_type(v)).collect();
        let mut grouped: SmallVec<[ValueId; 6]> = operands.into();
        if let Some(range) = self.to_combine(r.ctx, &types) {
            let list = r.ctx.intern_type(TypeData::List(types[range.clone()].into()));
            let combined = r
                .op("builtin.combine")
                .operands(operands[range.clone()].iter().copied());
            let combined = combined.result(list).value();
            grouped.drain(range.clone());
            grouped.insert(range.start, combined);
        }
        grouped
    }

    /// Reads the programs for some types, and gives what is wrong with them whatever the types are.
    fn faults(&self, ctx: &Context, def: &OpDef) -> Vec<Diagnostic> {
        let attrs = sample_attrs(ctx, def);
        let mut faults: Vec<Diagnostic> = Vec::new();
        for ty in sample_types(ctx) {
            match self.try_types(ctx, def, ty, attrs) {
                Ok(()) => return Vec::new(),
                // Of several samples, the first that gets farthest tells most.
                Err((certain, found)) if faults.is_empty() || certain => {
                    faults = found;
                    if certain {
                        break;
                    }
                }
                Err(_) => {}
            }
        }
        faults.retain(|fault| !OF_TYPES.contains(&fault.code));
        faults
    }

    /// Reads the programs for operands of one type. An error that is certain is one of every type.
    fn try_types(&self, ctx: &Context, def: &OpDef, ty: Type, attrs: AttrDict) -> Result<(), (bool, Vec<Diagnostic>)> {
        let mut body = Body::new();
        let count = operands_of_sample(def);
        let operands: Vec<ValueId> = (0..count).map(|_| body.create_placeholder(ty)).collect();
        let mut types = self.grouped_types(ctx, &vec![ty; count]);
        let given = types.clone();
        if let Some(computes) = &self.computes {
            let instance = computes
                .located_instance(ctx, &types, attrs)
                .map_err(|wrong| (false, wrong.0))?;
            if let Err(why) = self.fits(ctx, def, &instance, None) {
                return Err((true, vec![computes.error(why)]));
            }
        }
        let args = InferArgs {
            ctx,
            body: &body,
            def,
            operands: &operands,
            attrs,
            regions: &[],
        };
        let results: SmallVec<[Type; 2]> = match def.infer.map(|infer| infer(args)) {
            Some(Ok(types)) => types,
            // Here it is what the forms say that does not go with the program.
            Some(Err(why)) => {
                let program = self.computes.as_ref().filter(|_| !self.forms.is_empty());
                return Err((false, program.map(|program| program.error(why)).into_iter().collect()));
            }
            None => def.results.iter().map(|_| ty).collect(),
        };
        let Some(vjp) = &self.vjp else { return Ok(()) };
        types.extend(results.iter().chain(&results).copied());
        let instance = vjp
            .located_instance(ctx, &types, attrs)
            .map_err(|wrong| (false, wrong.0))?;
        self.cotangents_fit(ctx, def, &instance, &given)
            .map_err(|why| (true, vec![vjp.error(why)]))
    }

    /// Whether what the program returns goes with the row, and with the types that its forms state.
    fn fits(&self, ctx: &Context, def: &OpDef, instance: &Instance, stated: Option<&[Type]>) -> Result<(), String> {
        let found = instance.results().len();
        if found != def.results.len() {
            return Err(format!(
                "`computes` returns {found} value{}, but `output` declares {}",
                if found == 1 { "" } else { "s" },
                def.results.len()
            ));
        }
        for (at, (&stated, found)) in stated.unwrap_or_default().iter().zip(instance.results()).enumerate() {
            if !pir_ir::verify::compatible(ctx, stated, found) {
                let spelled = |ty| pir_ir::text::print_type(ctx, ty);
                return Err(format!(
                    "`computes` returns `{}` as `{}`, which by its row has type `{}`",
                    spelled(found),
                    def.results[at].name,
                    spelled(stated)
                ));
            }
        }
        if self.must_be_pure && !instance.is_pure {
            return Err("`effects` is `none`, but an operation in `computes` has effects".to_owned());
        }
        Ok(())
    }

    fn cotangents_fit(&self, ctx: &Context, def: &OpDef, instance: &Instance, operands: &[Type]) -> Result<(), String> {
        let found = instance.results().len();
        if found != self.derivative.len() {
            return Err(format!(
                "`vjp` returns {found} value{}, but `derivative` names {} operand{}",
                if found == 1 { "" } else { "s" },
                self.derivative.len(),
                if self.derivative.len() == 1 { "" } else { "s" },
            ));
        }
        for (&index, ty) in self.derivative.iter().zip(instance.results()) {
            let spelled = |ty| pir_ir::text::print_type(ctx, ty);
            if !pir_ir::verify::compatible(ctx, ty, operands[index]) {
                return Err(format!(
                    "`vjp` returns `{}` as the cotangent of `{}`, which has type `{}`",
                    spelled(ty),
                    def.operands[index].name,
                    spelled(operands[index])
                ));
            }
        }
        Ok(())
    }
}

/// An attribute as templates mention it. Defaults are written in the words of the tables: lists in braces.
pub(super) fn hole(attr: &AttrSpec) -> Hole {
    let default = attr.default.as_ref().filter(|text| !text.is_empty());
    Hole {
        name: attr.name.to_string(),
        default: default.map(|text| match text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            Some(items) => format!("[{items}]"),
            None => text.to_string(),
        }),
    }
}

/// Errors that other types may not have.
pub(super) const OF_TYPES: &[&str] = &["inference", "result-type", "type-mismatch"];

/// Types that programs are tried with when they are loaded.
pub(super) fn sample_types(ctx: &Context) -> impl Iterator<Item = Type> {
    const SHAPES: &[&[i64]] = &[&[2, 2], &[2], &[], &[1], &[2, 2, 2], &[1, 1, 2, 2]];
    let elems = [Type::F32, Type::F64, Type::I64, Type::I1];
    elems
        .into_iter()
        .flat_map(|elem| SHAPES.iter().map(move |&shape| (shape, elem)))
        .map(|(shape, elem)| ctx.tensor(shape, elem))
}

/// How many operands an operation is tried with: two in a list.
fn operands_of_sample(def: &OpDef) -> usize {
    let lists = def.operands.iter().filter(|operand| operand.arity == Arity::Variadic);
    def.operands.len() + lists.count()
}

/// Values for the attributes that must be given.
fn sample_attrs(ctx: &Context, def: &OpDef) -> AttrDict {
    let mut attrs = AttrDict::EMPTY;
    for attr in def.attrs.iter().filter(|attr| attr.default.is_none()) {
        let value = match &*attr.ty {
            "bool" => ctx.bool_attr(true),
            "str" | "std::string" => ctx.str_attr("a"),
            "DataType" => ctx.type_attr(Type::F32),
            "int[]" | "int64_t[]" => ctx.ints_attr(&[0]),
            "float[]" | "double[]" => ctx.attr(AttrData::Array([ctx.float_attr(1.0)].into())),
            "float" | "double" => ctx.float_attr(1.0),
            _ => ctx.int_attr(1),
        };
        attrs = ctx.dict_with(attrs, &attr.name, value);
    }
    attrs
}

impl Semantics for Program {
    fn has_expansion(&self) -> bool {
        self.computes.is_some()
    }

    fn has_vjp(&self) -> bool {
        self.vjp.is_some()
    }

    fn mentions(&self) -> Vec<&str> {
        self.computes.iter().flat_map(Template::mentions).collect()
    }

    fn programs(&self) -> Vec<(&'static str, &str)> {
        let computes = self.computes.iter().map(|template| ("computes", template.text()));
        computes
            .chain(self.vjp.iter().map(|template| ("vjp", template.text())))
            .collect()
    }

    fn check(&self, ctx: &Context, def: &OpDef) -> Vec<Diagnostic> {
        self.checked.get_or_init(|| self.faults(ctx, def)).clone()
    }

    fn infer(&self, args: InferArgs<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let stated: Option<SmallVec<[Type; 2]>> = match self.forms.is_empty() {
            true => None,
            false => Some(
                self.forms
                    .iter()
                    .map(|form| form.infer(&args))
                    .collect::<Result<_, _>>()?,
            ),
        };
        // An operation that is verified can be expanded, whatever gives its types.
        let Some(computes) = &self.computes else {
            return stated.ok_or_else(|| NO_COMPUTES.to_owned());
        };
        let types: Types = args.operands.iter().map(|&v| args.body.value_type(v)).collect();
        let instance = computes.instance(args.ctx, &self.grouped_types(args.ctx, &types), args.attrs)?;
        self.fits(args.ctx, args.def, &instance, stated.as_deref())?;
        Ok(stated.unwrap_or_else(|| instance.results().collect()))
    }

    fn is_pure(&self, op: OpView<'_>) -> Option<bool> {
        self.instance(op).map(|instance| instance.is_pure)
    }

    fn speculatability(&self, op: OpView<'_>) -> Speculatability {
        self.instance(op)
            .map_or(Speculatability::Never, |instance| instance.speculatability)
    }

    fn has_regions(&self, op: OpView<'_>) -> bool {
        self.instance(op).is_some_and(|instance| instance.has_regions)
    }

    fn expand(&self, r: &mut Rewriter<'_>, op: OpId, operands: &[ValueId]) -> Result<SmallVec<[ValueId; 2]>, String> {
        let types: Types = operands.iter().map(|&v| r.body.value_type(v)).collect();
        let types = self.grouped_types(r.ctx, &types);
        let instance = self.computes()?.instance(r.ctx, &types, r.body.attrs(op))?;
        if instance.results().len() != r.body.num_results(op) {
            return Err(format!("`computes` returns {} values", instance.results().len()));
        }
        let operands = self.grouped(r, operands);
        Ok(instance.emit(r, r.body.op_span(op), &operands))
    }

    fn vjp(
        &self,
        r: &mut Rewriter<'_>,
        op: OpId,
        args: VjpArgs<'_>,
    ) -> Result<SmallVec<[(usize, ValueId); 2]>, String> {
        let vjp = self.vjp.as_ref().ok_or("its row has no `vjp`")?;
        let flat: Types = args.operands.iter().map(|&v| r.body.value_type(v)).collect();
        let mut types = self.grouped_types(r.ctx, &flat);
        let others = args.results.iter().chain(args.cotangents);
        types.extend(others.clone().map(|&v| r.body.value_type(v)));
        let instance = vjp.instance(r.ctx, &types, r.body.attrs(op))?;
        if let Some(def) = r.ctx.op_def(r.body.op_name(op)) {
            self.cotangents_fit(r.ctx, def, &instance, &types[..self.declared])?;
        }
        let mut all = self.grouped(r, args.operands);
        all.extend(others.copied());
        let values = instance.emit(r, r.body.op_span(op), &all);
        let elements = self.elements(flat.len()).unwrap_or(0..0);
        let combined = self.to_combine(r.ctx, &flat).is_some();
        let mut found = SmallVec::new();
        for (&place, value) in self.derivative.iter().zip(values) {
            if self.list == Some(place) && combined {
                let parts = r
                    .op("builtin.split")
                    .operand(value)
                    .results(flat[elements.clone()].iter().copied());
                let parts = parts.build();
                found.extend(elements.clone().zip(r.body.results(parts)));
            } else {
                let behind = self.list.is_some_and(|list| place > list);
                found.push((if behind { place + elements.len() - 1 } else { place }, value));
            }
        }
        Ok(found)
    }
}

impl Template {
    /// An error of the program as a whole.
    fn error(&self, message: String) -> Diagnostic {
        let mut wrong = self.wrong(0, message);
        wrong
            .0
            .pop()
            .unwrap_or_else(|| Diagnostic::error("dialect-file", "a program is wrong"))
    }
}

/// The place of a field of a row.
pub(super) fn origin(source: &super::source::Source, lines: Lines, what: String) -> Origin {
    Origin {
        source: Some(source.clone()),
        lines,
        what,
    }
}
