//! `builtin`: modules, casts between equivalent types, and lists of tensors.

use pir_ir::{
    Arity, AttrSpec, ContextBuilder, Derivative, DialectDef, InferArgs, MemoryEffects, OpDef, Presence, RegionSpec,
    Traits, Type, TypeData,
};
use smallvec::{SmallVec, smallvec};

use crate::declare::value;

/// Registers the dialect.
pub fn register(builder: &mut ContextBuilder) {
    let dialect = DialectDef {
        name: "builtin".into(),
        summary: "Modules, casts and lists of tensors".into(),
        types: Vec::new(),
        other_types: false,
    };
    builder.register(dialect, vec![module(), cast(), combine(), split()]);
    builder.register_alias("module", "builtin.module");
}

fn module() -> OpDef {
    let mut def = OpDef::new("builtin.module", "A nested program: operations and symbols");
    def.traits = Traits::ISOLATED | Traits::SYMBOL | Traits::SYMBOL_TABLE | Traits::NO_TERMINATOR | Traits::OPEN_ATTRS;
    let optional = |name: &'static str| AttrSpec {
        name: name.into(),
        ty: "str".into(),
        default: Some("".into()),
    };
    def.attrs = vec![optional("sym_name"), optional("sym_visibility")].into();
    def.regions = vec![RegionSpec {
        keywords: &[],
        presence: Presence::Required,
        bare: true,
    }];
    def.default_dialect = "builtin";
    def.with_effects(MemoryEffects::None)
}

fn cast() -> OpDef {
    let mut def = OpDef::new(
        "builtin.unrealized_conversion_cast",
        "A value converted to another type without semantics",
    );
    def.traits = Traits::OPEN_ATTRS;
    def.operands = vec![value("inputs", "any", Arity::Variadic)].into();
    def.results = vec![value("outputs", "any", Arity::Variadic)].into();
    def.with_effects(MemoryEffects::None)
}

fn combine() -> OpDef {
    let mut def = OpDef::new("builtin.combine", "A list of tensors");
    def.traits = Traits::COMBINES;
    def.operands = vec![value("inputs", "Tensor", Arity::Variadic)].into();
    def.results = vec![value("out", "Tensor[]", Arity::One)].into();
    def.derivative = Derivative::Operands(vec!["inputs".into()].into());
    def.infer = Some(|args: InferArgs<'_>| {
        let items = args.operands.iter().map(|&v| args.body.value_type(v)).collect();
        Ok(smallvec![args.ctx.intern_type(TypeData::List(items))])
    });
    def.with_effects(MemoryEffects::None)
}

fn split() -> OpDef {
    let mut def = OpDef::new("builtin.split", "The tensors of a list");
    def.traits = Traits::SPLITS;
    def.operands = vec![value("x", "Tensor[]", Arity::One)].into();
    def.results = vec![value("out", "Tensor", Arity::Variadic)].into();
    def.derivative = Derivative::Operands(vec!["x".into()].into());
    def.infer = Some(|args: InferArgs<'_>| {
        let ty = args.operand_type(0).unwrap_or(Type::NONE);
        match args.ctx.type_data(ty) {
            TypeData::List(items) => Ok(items.iter().copied().collect::<SmallVec<[Type; 2]>>()),
            _ => Err(format!(
                "the operand must be a list, not `{}`",
                pir_ir::text::print_type(args.ctx, ty)
            )),
        }
    });
    def.with_effects(MemoryEffects::None)
}
