//! `func`: functions.

use pir_ir::{
    Arity, AttrSpec, ContextBuilder, Diagnostic, DialectDef, Effect, EffectKind, EffectTarget, OpDef, OpView, Presence,
    RegionSpec, Speculatability, Traits, TypeData,
};
use smallvec::SmallVec;

use crate::value;

/// Registers the dialect.
pub fn register(builder: &mut ContextBuilder) {
    let dialect = DialectDef {
        name: "func".into(),
        summary: "Functions".into(),
        types: Vec::new(),
    };
    builder.register(dialect, vec![func(), call(), ret()]);
}

fn attr(name: &'static str, ty: &'static str) -> AttrSpec {
    AttrSpec {
        name: name.into(),
        ty: ty.into(),
        default: None,
    }
}

fn func() -> OpDef {
    let mut def = OpDef::new("func.func", "A function, or without a body the declaration of one");
    def.traits = Traits::ISOLATED | Traits::SYMBOL | Traits::FUNCTION;
    def.attrs = vec![attr("sym_name", "str"), attr("function_type", "type")].into();
    def.regions = vec![RegionSpec {
        keywords: &[],
        presence: Presence::MayBeEmpty,
        bare: true,
    }];
    def.verify = Some(verify_func);
    def
}

fn call() -> OpDef {
    let mut def = OpDef::new("func.call", "Calls a function of the module");
    def.operands = vec![value("operands", "any", Arity::Variadic)].into();
    def.results = vec![value("results", "any", Arity::Variadic)].into();
    def.attrs = vec![attr("callee", "symbol")].into();
    def.effects = |_| {
        [EffectKind::Read, EffectKind::Write]
            .map(|kind| Effect {
                kind,
                target: EffectTarget::World,
            })
            .into_iter()
            .collect()
    };
    def.speculatable = |_| Speculatability::Never;
    def
}

fn ret() -> OpDef {
    let mut def = OpDef::new("func.return", "Returns from a function");
    def.traits = Traits::TERMINATOR | Traits::RETURN_LIKE;
    def.operands = vec![value("operands", "any", Arity::Variadic)].into();
    def
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
    let Some(body) = op.body.isolated(op.op) else { return };
    let Some(entry) = body.entry_block(body.root()) else {
        return;
    };
    let types = |values: &[pir_ir::ValueId]| values.iter().map(|&v| body.value_type(v)).collect::<SmallVec<[_; 4]>>();
    if types(body.block_args(entry))[..] != inputs[..] {
        errors.push(
            Diagnostic::error(
                "function-arguments",
                format!("the entry block of @{name} has other arguments than its type"),
            )
            .label(span, "this function")
            .help("the arguments of the first block are those of the function"),
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
                        "@{name} returns {} where its type says {}",
                        spelled(op, &returned),
                        spelled(op, results)
                    ),
                )
                .label(body.op_span(last), "returned here")
                .label(span, "of this function")
                .help("return values of the types behind the `->`"),
            );
        }
    }
}

fn spelled(op: OpView<'_>, types: &[pir_ir::Type]) -> String {
    let parts: Vec<String> = types.iter().map(|&t| pir_ir::text::print_type(op.ctx, t)).collect();
    format!("({})", parts.join(", "))
}
