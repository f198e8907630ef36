//! Programs that know less of their shapes.

use pir_ir::verify::verify;
use pir_ir::{Body, Context, DYNAMIC, Module, OpId, Type, TypeData, ValueDef, ValueId};

use crate::generate::Random;

/// Takes dimensions out of the types of values, as long as the program stays right.
pub fn weaken(module: &mut Module, random: &mut Random) {
    let ctx = module.ctx.clone();
    let bodies: Vec<Option<OpId>> = std::iter::once(None)
        .chain(
            module
                .body
                .walk_all()
                .filter(|&op| module.body.isolated(op).is_some())
                .map(Some),
        )
        .collect();
    for at in bodies {
        for index in 0..body(module, at).num_value_slots() {
            let value = ValueId::new(index);
            let here = body(module, at);
            // What a function takes is in its type too.
            let parameter =
                matches!(here.value_def(value), ValueDef::Arg(block, _) if here.block_parent(block).is_none());
            if here.value_def(value) == ValueDef::None || parameter || random.below(100) < 40 {
                continue;
            }
            let old = here.value_type(value);
            let new = weaker(&ctx, old, random);
            if new == old {
                continue;
            }
            body(module, at).set_value_type(value, new);
            if !verify(module).is_empty() {
                body(module, at).set_value_type(value, old);
            }
        }
    }
}

fn body(module: &mut Module, at: Option<OpId>) -> &mut Body {
    match at {
        None => &mut module.body,
        Some(op) => module.body.isolated_mut(op).expect("it was there"),
    }
}

fn weaker(ctx: &Context, ty: Type, random: &mut Random) -> Type {
    match ctx.type_data(ty) {
        TypeData::Tensor { shape, elem } => {
            let shape: Vec<i64> = shape
                .iter()
                .map(|&dim| if random.below(3) > 0 { DYNAMIC } else { dim })
                .collect();
            ctx.tensor(&shape, *elem)
        }
        TypeData::List(items) => {
            let items = items.iter().map(|&item| weaker(ctx, item, random)).collect();
            ctx.intern_type(TypeData::List(items))
        }
        _ => ty,
    }
}
