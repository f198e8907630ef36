//! The programs and type forms of a row.

use std::ops::Range;
use std::sync::OnceLock;

use pir_ir::{
    Arity, AttrData, AttrDict, AttrSpec, Body, Context, Derivative, Diagnostic, InferArgs, OpDef, OpId, OpView,
    Rewriter, Semantics, Speculatability, Type, TypeData, ValueId, ValueSpec, VjpArgs, operand_ranges,
};
use smallvec::SmallVec;

use super::source::Lines;
use super::template::{Hole, Instance, Origin, Template};
use super::types::Form;

/// The content of a row beyond the definition of the operation.
#[derive(Default)]
pub(super) struct Program {
    computes: Vec<Case>,
    vjp: Vec<Case>,
    /// The operands that `vjp` returns cotangents of.
    derivative: Vec<usize>,
    /// The forms of the types of the results; empty when they are inferred in another way.
    pub(super) forms: Vec<Form>,
    operands: Vec<ValueSpec>,
    results: Vec<ValueSpec>,
    /// Whether the row declares the absence of effects.
    pub(super) must_be_pure: bool,
    /// The errors, so that they are searched for once.
    checked: OnceLock<Vec<Diagnostic>>,
}

/// A program for operations without some of their optional operands.
struct Case {
    /// Which of the declared operands are absent.
    absent: Places,
    template: Template,
}

/// A program of a row: its text, and where that is.
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    /// The optional operands that are absent.
    pub(super) without: Vec<String>,
    pub(super) origin: Origin,
}

/// Declared operands or results of an operation, and the values that they are.
struct Parameters<'p> {
    specs: &'p [ValueSpec],
    ranges: SmallVec<[Range<usize>; 6]>,
    /// The types of the values.
    flat: &'p [Type],
}

type Places = SmallVec<[usize; 2]>;

type Types = SmallVec<[Type; 6]>;

const NO_COMPUTES: &str = "its row has no `computes`, which defines what the operation computes";

impl Program {
    /// The programs of an operation's row.
    ///
    /// # Errors
    /// The name of the invalid field, and its errors.
    pub(super) fn new(
        def: &OpDef,
        computes: Vec<Text<'_>>,
        vjp: Vec<Text<'_>>,
    ) -> Result<Self, (&'static str, String)> {
        let mut program = Program::default();
        if computes.is_empty() && vjp.is_empty() {
            return Ok(program);
        }
        let field = if computes.is_empty() { "vjp" } else { "computes" };
        let mut lists = def.results.iter().filter(|result| result.arity != Arity::One);
        let list = lists.next().filter(|result| result.arity == Arity::Variadic);
        if let Some(result) = lists.next().or(def.results.iter().find(|r| r.arity == Arity::Optional)) {
            let message = format!(
                "`computes` and `vjp` are for operations with at most one list of results and no optional results, unlike `{}`",
                result.name
            );
            return Err((field, message));
        }
        if let Some(list) = list.filter(|_| computes.is_empty()) {
            return Err((
                field,
                format!(
                    "without `computes`, the number of values in `{}` is undetermined",
                    list.name
                ),
            ));
        }
        program.operands = def.operands.to_vec();
        program.results = def.results.to_vec();
        let names = def
            .operands
            .iter()
            .chain(def.results.iter())
            .map(|value| value.name.to_string());
        let cotangents = def.results.iter().map(|result| format!("{}_grad", result.name));
        let all: Vec<String> = names.chain(cotangents).collect();
        if let Some(name) = all.iter().enumerate().find(|(at, name)| all[..*at].contains(name)) {
            let message = format!(
                "the programs would have two values `%{}`: an operand, a result, or the cotangent of one",
                name.1
            );
            return Err((field, message));
        }
        program.computes = cases(def, computes, &all[..def.operands.len()]).map_err(|why| ("computes", why))?;
        program.vjp = cases(def, vjp, &all).map_err(|why| ("vjp", why))?;
        if let Derivative::Operands(names) = &def.derivative {
            let at = |name: &pir_ir::Text| def.operands.iter().position(|operand| operand.name == *name);
            program.derivative = names.iter().filter_map(at).collect();
        }
        if !program.vjp.is_empty() && program.derivative.is_empty() {
            return Err(("vjp", "it has a `vjp`, but `derivative` names no operand".to_owned()));
        }
        Ok(program)
    }

    /// The program for the case in which these operands are absent.
    fn case<'p>(&self, cases: &'p [Case], field: &str, absent: &Places) -> Result<&'p Template, String> {
        let found = cases.iter().find(|case| case.absent == *absent);
        found.map(|case| &case.template).ok_or_else(|| {
            let names: Vec<&str> = absent.iter().map(|&at| &*self.operands[at].name).collect();
            match names.is_empty() {
                true => format!("its row has no `{field}` for all of its operands"),
                false => format!("its row has no `{field} without {}`", names.join(", ")),
            }
        })
    }

    /// The program that computes an operation with these operands.
    fn computes(&self, operands: &Parameters<'_>) -> Result<&Template, String> {
        match self.computes.is_empty() {
            true => Err(NO_COMPUTES.to_owned()),
            false => self.case(&self.computes, "computes", &operands.absent()),
        }
    }

    fn operands<'p>(&'p self, ctx: &Context, flat: &'p [Type], attrs: AttrDict) -> Parameters<'p> {
        Parameters::new(ctx, &self.operands, flat, attrs)
    }

    /// The expansion for an operation that is there.
    fn instance(&self, op: OpView<'_>) -> Option<std::sync::Arc<Instance>> {
        let types: Types = op.body.operands(op.op).map(|v| op.body.value_type(v)).collect();
        let attrs = op.body.attrs(op.op);
        let operands = self.operands(op.ctx, &types, attrs);
        let computes = self.computes(&operands).ok()?;
        computes.instance(op.ctx, &operands.types(op.ctx), attrs).ok()
    }

    /// Reads the programs for sample types, and returns errors that do not depend on the types.
    fn faults(&self, ctx: &Context, def: &OpDef) -> Vec<Diagnostic> {
        let attrs = sample_attrs(ctx, def);
        let mut faults: Vec<Diagnostic> = Vec::new();
        for ty in sample_types(ctx) {
            match self.try_types(ctx, def, ty, attrs) {
                Ok(()) => return Vec::new(),
                // Among several samples, the first one that gets farthest is the most informative.
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
        let cases = self.computes.iter().chain(&self.vjp);
        let mut absences: Vec<&Places> = cases.map(|case| &case.absent).collect();
        absences.sort_unstable();
        absences.dedup();
        absences
            .into_iter()
            .try_for_each(|absent| self.try_case(ctx, def, ty, attrs, absent))
    }

    fn try_case(
        &self,
        ctx: &Context,
        def: &OpDef,
        ty: Type,
        mut attrs: AttrDict,
        absent: &Places,
    ) -> Result<(), (bool, Vec<Diagnostic>)> {
        if !absent.is_empty() {
            let places: Vec<i64> = absent.iter().map(|&at| at as i64).collect();
            attrs = ctx.dict_with(attrs, "absent_operands", ctx.ints_attr(&places));
        }
        // A list of two is given as one value.
        let list = ctx.intern_type(TypeData::List([ty; 2].into()));
        let given = self.operands.iter().enumerate().filter(|(at, _)| !absent.contains(at));
        let flat: Types = given
            .map(|(_, spec)| if spec.arity == Arity::Variadic { list } else { ty })
            .collect();
        let mut body = Body::new();
        let values: Vec<ValueId> = flat.iter().map(|&ty| body.create_placeholder(ty)).collect();
        let operands = self.operands(ctx, &flat, attrs);
        let mut types = operands.types(ctx);
        let mut count = def.results.len();
        if let Ok(computes) = self.case(&self.computes, "computes", absent) {
            let instance = computes
                .located_instance(ctx, &types, attrs)
                .map_err(|wrong| (false, wrong.0))?;
            if let Err(why) = self.fits(ctx, def, &instance, None) {
                return Err((true, vec![computes.error(why)]));
            }
            count = instance.results().len();
        }
        let args = InferArgs {
            ctx,
            body: &body,
            def,
            operands: &values,
            attrs,
            regions: &[],
        };
        let results: Types = match def.infer.map(|infer| infer(args)) {
            Some(Ok(types)) => types.into_iter().collect(),
            // Here it is what the forms state that does not fit the program.
            Some(Err(why)) => {
                let program = self.case(&self.computes, "computes", absent).ok();
                let program = program.filter(|_| !self.forms.is_empty());
                return Err((false, program.map(|program| program.error(why)).into_iter().collect()));
            }
            None => SmallVec::from_elem(ty, count),
        };
        let Ok(vjp) = self.case(&self.vjp, "vjp", absent) else {
            return Ok(());
        };
        let results = Parameters::new(ctx, &self.results, &results, AttrDict::EMPTY).types(ctx);
        types.extend(results.iter().chain(&results).copied());
        let instance = vjp
            .located_instance(ctx, &types, attrs)
            .map_err(|wrong| (false, wrong.0))?;
        self.cotangents_fit(ctx, &instance, &operands)
            .map_err(|why| (true, vec![vjp.error(why)]))
    }

    /// Whether the results of the program match the row, and the types that its forms state.
    fn fits(&self, ctx: &Context, def: &OpDef, instance: &Instance, stated: Option<&[Type]>) -> Result<(), String> {
        let found = instance.results().len();
        let fits = match def.results.iter().any(|result| result.arity == Arity::Variadic) {
            true => found + 1 >= def.results.len(),
            false => found == def.results.len(),
        };
        if !fits {
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

    /// The operands that are there and that a `vjp` returns cotangents of.
    fn differentiated<'p>(&'p self, operands: &'p Parameters<'_>) -> impl Iterator<Item = usize> + Clone + 'p {
        let places = self.derivative.iter().copied();
        places.filter(|&place| !operands.is_absent(place))
    }

    fn cotangents_fit(&self, ctx: &Context, instance: &Instance, operands: &Parameters<'_>) -> Result<(), String> {
        let (found, wanted) = (instance.results().len(), self.differentiated(operands).count());
        if found != wanted {
            return Err(format!(
                "`vjp` returns {found} value{}, but `derivative` names {wanted} operand{}",
                if found == 1 { "" } else { "s" },
                if wanted == 1 { "" } else { "s" },
            ));
        }
        for (place, ty) in self.differentiated(operands).zip(instance.results()) {
            let spelled = |ty| pir_ir::text::print_type(ctx, ty);
            let operand = operands.ty(ctx, place);
            if !pir_ir::verify::compatible(ctx, ty, operand) {
                return Err(format!(
                    "`vjp` returns `{}` as the cotangent of `{}`, which has type `{}`",
                    spelled(ty),
                    self.operands[place].name,
                    spelled(operand)
                ));
            }
        }
        Ok(())
    }
}

/// The templates of programs, which are given with the optional operands that they do without. `params` are the names of all
/// operands, and of what comes after them.
fn cases(def: &OpDef, programs: Vec<Text<'_>>, params: &[String]) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    for Text { text, without, origin } in programs {
        let mut absent = Places::new();
        for name in &without {
            let place = def.operands.iter().position(|operand| operand.name == *name);
            let place = place.filter(|&at| def.operands[at].arity == Arity::Optional);
            absent.push(place.ok_or_else(|| format!("there is no optional operand `{name}`"))?);
        }
        absent.sort_unstable();
        absent.dedup();
        if cases.iter().any(|case| case.absent == absent) {
            return Err("there are two programs for the same operands".to_owned());
        }
        let given = params.iter().enumerate().filter(|(at, _)| !absent.contains(at));
        let params = given.map(|(_, name)| name.clone()).collect();
        let holes = def.attrs.iter().map(hole).collect();
        let template = Template::new(text.to_owned(), params, holes, origin);
        cases.push(Case { absent, template });
    }
    Ok(cases)
}

impl<'p> Parameters<'p> {
    fn new(ctx: &Context, specs: &'p [ValueSpec], flat: &'p [Type], attrs: AttrDict) -> Self {
        Parameters {
            specs,
            ranges: operand_ranges(ctx, specs, flat, attrs),
            flat,
        }
    }

    fn is_absent(&self, place: usize) -> bool {
        self.specs[place].arity == Arity::Optional && self.ranges[place].is_empty()
    }

    fn absent(&self) -> Places {
        (0..self.specs.len()).filter(|&place| self.is_absent(place)).collect()
    }

    /// Whether the values have to be combined: a list that is not given as one value.
    fn is_combined(&self, ctx: &Context, place: usize) -> bool {
        let list = |range: &Range<usize>| {
            let ty = self.flat.get(range.start).filter(|_| range.len() == 1);
            ty.is_some_and(|&ty| matches!(ctx.type_data(ty), TypeData::List(_)))
        };
        self.specs[place].arity == Arity::Variadic && !list(&self.ranges[place])
    }

    /// The values at a place; none where too few are given.
    fn at<'v, T>(&self, place: usize, values: &'v [T]) -> &'v [T] {
        values.get(self.ranges[place].clone()).unwrap_or_default()
    }

    /// The type of the parameter of the programs: a list is one value.
    fn ty(&self, ctx: &Context, place: usize) -> Type {
        let types = self.at(place, self.flat);
        match self.is_combined(ctx, place) {
            true => ctx.intern_type(TypeData::List(types.into())),
            false => types.first().copied().unwrap_or(Type::NONE),
        }
    }

    /// The types of the parameters that are there.
    fn types(&self, ctx: &Context) -> Types {
        let places = (0..self.specs.len()).filter(|&place| !self.is_absent(place));
        places.map(|place| self.ty(ctx, place)).collect()
    }

    /// The arguments for them.
    fn arguments(&self, r: &mut Rewriter<'_>, values: &[ValueId]) -> SmallVec<[ValueId; 6]> {
        let mut arguments = SmallVec::new();
        for place in (0..self.specs.len()).filter(|&place| !self.is_absent(place)) {
            let given = self.at(place, values);
            if self.is_combined(r.ctx, place) {
                let list = self.ty(r.ctx, place);
                let combined = r.op("builtin.combine").operands(given.iter().copied());
                arguments.push(combined.result(list).value());
            } else {
                arguments.extend(given.first().copied());
            }
        }
        arguments
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
        !self.computes.is_empty()
    }

    fn has_vjp(&self) -> bool {
        !self.vjp.is_empty()
    }

    fn mentions(&self) -> Vec<&str> {
        self.computes.iter().flat_map(|case| case.template.mentions()).collect()
    }

    fn programs(&self) -> Vec<(String, &str)> {
        let titled = |field: &'static str, cases: &'_ [Case]| -> Vec<String> {
            let name = |&at: &usize| &*self.operands[at].name;
            let title = |case: &Case| match case.absent.is_empty() {
                true => field.to_owned(),
                false => format!(
                    "{field} without {}",
                    case.absent.iter().map(name).collect::<Vec<_>>().join(", ")
                ),
            };
            cases.iter().map(title).collect()
        };
        let titles = titled("computes", &self.computes)
            .into_iter()
            .chain(titled("vjp", &self.vjp));
        let texts = self.computes.iter().chain(&self.vjp).map(|case| case.template.text());
        titles.zip(texts).collect()
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
        let types: Types = args.operands.iter().map(|&v| args.body.value_type(v)).collect();
        let operands = self.operands(args.ctx, &types, args.attrs);
        if self.computes.is_empty() {
            return stated.ok_or_else(|| NO_COMPUTES.to_owned());
        }
        let computes = self.computes(&operands)?;
        let instance = computes.instance(args.ctx, &operands.types(args.ctx), args.attrs)?;
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
        let attrs = r.body.attrs(op);
        let parameters = self.operands(r.ctx, &types, attrs);
        let computes = self.computes(&parameters)?;
        let instance = computes.instance(r.ctx, &parameters.types(r.ctx), attrs)?;
        if instance.results().len() != r.body.num_results(op) {
            return Err(format!("`computes` returns {} values", instance.results().len()));
        }
        let arguments = parameters.arguments(r, operands);
        Ok(instance.emit(r, r.body.op_span(op), &arguments))
    }

    fn vjp(
        &self,
        r: &mut Rewriter<'_>,
        op: OpId,
        args: VjpArgs<'_>,
    ) -> Result<SmallVec<[(usize, ValueId); 2]>, String> {
        if self.vjp.is_empty() {
            return Err("its row has no `vjp`".to_owned());
        }
        let types_of =
            |r: &Rewriter<'_>, values: &[ValueId]| -> Types { values.iter().map(|&v| r.body.value_type(v)).collect() };
        let attrs = r.body.attrs(op);
        let flat = types_of(r, args.operands);
        let operands = self.operands(r.ctx, &flat, attrs);
        let vjp = self.case(&self.vjp, "vjp", &operands.absent())?;
        let result_types = types_of(r, args.results);
        let results = Parameters::new(r.ctx, &self.results, &result_types, AttrDict::EMPTY);
        let mut types = operands.types(r.ctx);
        let others = results.types(r.ctx);
        types.extend(others.iter().chain(&others).copied());
        let instance = vjp.instance(r.ctx, &types, attrs)?;
        self.cotangents_fit(r.ctx, &instance, &operands)?;
        let mut all = operands.arguments(r, args.operands);
        all.extend(results.arguments(r, args.results));
        all.extend(results.arguments(r, args.cotangents));
        let values = instance.emit(r, r.body.op_span(op), &all);
        let mut found = SmallVec::new();
        for (place, value) in self.differentiated(&operands).zip(values) {
            let range = operands.ranges[place].clone();
            if operands.is_combined(r.ctx, place) {
                let parts = operands.at(place, &flat).iter().copied();
                let parts = r.op("builtin.split").operand(value).results(parts).build();
                found.extend(range.zip(r.body.results(parts)));
            } else {
                found.push((range.start, value));
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
