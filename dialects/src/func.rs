//! `func`: functions.

use pir_ir::{
    Arity, AttrData, AttrDict, AttrSpec, Body, Context, ContextBuilder, Diagnostic, DialectDef, MemoryEffects, OpDef,
    OpId, OpView, Presence, RegionSpec, Speculatability, Sym, Traits, Type, TypeData,
};

use smallvec::SmallVec;

use crate::declare::value;

/// Registers the dialect.
pub fn register(builder: &mut ContextBuilder) {
    builder.register(DialectDef::new("func", "Functions"), vec![func(), call(), ret()]);
}

fn attr(name: &'static str, ty: &'static str) -> AttrSpec {
    AttrSpec {
        name: name.into(),
        ty: ty.into(),
        default: None,
    }
}

fn optional(name: &'static str, ty: &'static str) -> AttrSpec {
    AttrSpec {
        default: Some("".into()),
        ..attr(name, ty)
    }
}

fn func() -> OpDef {
    let mut def = OpDef::new("func.func", "A function, or a declaration if it has no body");
    def.traits = Traits::ISOLATED | Traits::SYMBOL | Traits::FUNCTION | Traits::OPEN_ATTRS;
    def.default_dialect = "func";
    def.attrs = vec![
        attr("sym_name", "str"),
        attr("function_type", "type"),
        optional("sym_visibility", "str"),
        optional("arg_attrs", "dict[]"),
        optional("res_attrs", "dict[]"),
        optional("no_inline", "unit"),
        optional("custom_vjp", "symbol"),
    ]
    .into();
    def.regions = vec![RegionSpec {
        keywords: &[],
        presence: Presence::MayBeEmpty,
        bare: true,
    }];
    def.verify = Some(verify_func);
    def.with_effects(MemoryEffects::None)
}

/// The function beside it that a function names as its derivative.
pub fn custom_vjp(function: OpView<'_>) -> Option<Sym> {
    match function.ctx.attr_data(function.attr("custom_vjp")?) {
        AttrData::Symbol(path) if function.has(Traits::FUNCTION) => Some(*path.last()?),
        _ => None,
    }
}

/// The path of symbols by which a call names its function.
pub fn callee<'c>(ctx: &'c Context, body: &Body, call: OpId) -> Option<&'c [Sym]> {
    match ctx.attr_data(body.attr(ctx, call, "callee")?) {
        AttrData::Symbol(path) => Some(path),
        _ => None,
    }
}

/// Gives a function another type. Attributes of arguments and results that stay are kept; those that are added, at the
/// end, have none.
pub fn set_type(ctx: &Context, body: &mut Body, op: OpId, inputs: &[Type], results: &[Type]) {
    let mut attrs = body.attrs(op);
    attrs = ctx.dict_with(
        attrs,
        "function_type",
        ctx.type_attr(ctx.function_type(inputs, results)),
    );
    for (name, count) in [("arg_attrs", inputs.len()), ("res_attrs", results.len())] {
        if let Some(AttrData::Array(dicts)) = ctx.dict_get(attrs, name).map(|list| ctx.attr_data(list)) {
            let mut dicts = dicts.to_vec();
            dicts.resize(count, ctx.attr(AttrData::Dict(AttrDict::EMPTY)));
            attrs = ctx.dict_with(attrs, name, ctx.attr(AttrData::Array(dicts.into())));
        }
    }
    body.set_attrs(op, attrs);
}

/// Attributes of arguments and results: one dictionary for each, with names that have a dot.
fn verify_value_attrs(op: OpView<'_>, noun: &str, name: &str, count: usize, errors: &mut Vec<Diagnostic>) {
    let dicts = match op.attr(name).map(|list| op.ctx.attr_data(list)) {
        Some(AttrData::Array(dicts)) => &**dicts,
        Some(_) => &[],
        None => return,
    };
    let span = op.body.op_span(op.op);
    if dicts.len() != count {
        let message = format!(
            "expected {count} dictionaries in `{name}`, one for each {noun}, found {}",
            dicts.len()
        );
        errors.push(
            Diagnostic::error("function-attributes", message)
                .label(span, "this function")
                .help("write `{}` for each of them that has no attributes"),
        );
    }
    for (at, &dict) in dicts.iter().enumerate() {
        let AttrData::Dict(dict) = *op.ctx.attr_data(dict) else {
            continue;
        };
        let entries = op.ctx.dict_entries(dict).iter();
        for name in entries
            .map(|entry| op.ctx.str(entry.0))
            .filter(|name| !name.contains('.'))
        {
            let message = format!("the attribute `{name}` of {noun} #{at} belongs to no dialect");
            errors.push(
                Diagnostic::error("function-attributes", message)
                    .label(span, "this function")
                    .help(format!(
                        "attributes of arguments and results have a dot in their names: `my.{name}`"
                    )),
            );
        }
    }
}

fn call() -> OpDef {
    let mut def = OpDef::new("func.call", "Calls a function of the module");
    def.traits = Traits::OPEN_ATTRS;
    def.operands = vec![value("operands", "any", Arity::Variadic)].into();
    def.results = vec![value("results", "any", Arity::Variadic)].into();
    def.attrs = vec![attr("callee", "symbol"), optional("no_inline", "unit")].into();
    def.effects = MemoryEffects::OfCallee;
    def.speculatable = |_| Speculatability::Never;
    def
}

fn ret() -> OpDef {
    let mut def = OpDef::new("func.return", "Returns from a function");
    def.traits = Traits::TERMINATOR | Traits::RETURN_LIKE | Traits::OPEN_ATTRS;
    def.operands = vec![value("operands", "any", Arity::Variadic)].into();
    def.verify = Some(|op, errors| {
        let parent = op.body.parent_op(op.op).map(|parent| op.body.view(op.ctx, parent));
        // Other operations declare how their regions end.
        if let Some(parent) = parent.filter(|parent| parent.def().is_none()) {
            let message = format!("`func.return` is in `{}`, not in a function", parent.name());
            errors.push(
                Diagnostic::error("function-results", message)
                    .label(op.body.op_span(op.op), "this return")
                    .help("end regions with the terminator of their operation, like `affine.yield`"),
            );
        }
    });
    def.with_effects(MemoryEffects::None)
}

fn verify_func(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let name = op.str("sym_name").unwrap_or_default();
    let span = op.body.op_span(op.op);
    let Some(TypeData::Function { inputs, results }) = op.ty("function_type").map(|t| op.ctx.type_data(t)) else {
        errors.push(
            Diagnostic::error(
                "function-type",
                format!("`function_type` of @{name} is not a function type"),
            )
            .label(span, "this function")
            .help("write `function_type = (T) -> U`"),
        );
        return;
    };
    verify_value_attrs(op, "argument", "arg_attrs", inputs.len(), errors);
    verify_value_attrs(op, "result", "res_attrs", results.len(), errors);
    let Some(body) = op.body.isolated(op.op) else { return };
    let Some(entry) = body.entry_block(body.root()) else {
        return;
    };
    let types = |values: &[pir_ir::ValueId]| values.iter().map(|&v| body.value_type(v)).collect::<SmallVec<[_; 4]>>();
    if types(body.block_args(entry))[..] != inputs[..] {
        errors.push(
            Diagnostic::error(
                "function-arguments",
                format!("the arguments of the entry block of @{name} differ from those of its type"),
            )
            .label(span, "this function")
            .help("the first block must have the arguments of the function"),
        );
    }
    for &block in body.region_blocks(body.root()) {
        let Some(last) = body
            .last_op(block)
            .filter(|&l| body.view(op.ctx, l).has(Traits::RETURN_LIKE))
        else {
            continue;
        };
        let returned: Vec<_> = body.operands(last).map(|v| body.value_type(v)).collect();
        let fits = returned.len() == results.len()
            && returned
                .iter()
                .zip(results.iter())
                .all(|(&a, &b)| pir_ir::verify::compatible(op.ctx, a, b));
        if !fits {
            errors.push(
                Diagnostic::error(
                    "function-results",
                    format!(
                        "@{name} returns {}, but its type declares {}",
                        spelled(op, &returned),
                        spelled(op, results)
                    ),
                )
                .label(body.op_span(last), "returned here")
                .label(span, "of this function")
                .help("return values of the types that follow `->`"),
            );
        }
    }
}

fn spelled(op: OpView<'_>, types: &[Type]) -> String {
    let parts: Vec<String> = types.iter().map(|&t| pir_ir::text::print_type(op.ctx, t)).collect();
    format!("({})", parts.join(", "))
}
