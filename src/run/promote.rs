//! Converts a program to `f64`: all float values and attributes.

use pir_dialects::mlir::arith;
use pir_ir::{Attr, AttrData, AttrDict, Context, Elements, ElementsBuilder, Module, Rewriter, Type, TypeData};
use pir_passes::{Changed, for_each_body_mut};

/// Converts all floats to `f64`, for comparison with finite differences.
pub fn to_f64(module: &mut Module) {
    // The function cannot fail.
    let _ = for_each_body_mut(module, |ctx, body| {
        let ops: Vec<_> = body.walk_all().collect();
        for &op in &ops {
            for value in body.results(op) {
                body.set_value_type(value, promote_type(ctx, body.value_type(value)));
            }
            let attrs = body.attrs(op);
            let promoted = promote_dict(ctx, attrs);
            if promoted != attrs {
                body.set_attrs(op, promoted);
            }
        }
        for block in body.all_blocks() {
            for value in body.block_args(block).to_vec() {
                body.set_value_type(value, promote_type(ctx, body.value_type(value)));
            }
        }
        // Between floats of one type there is nothing to convert.
        let mut r = Rewriter::new(ctx, body);
        for op in ops {
            let view = r.view(op);
            let (Some(from), true) = (
                view.operand(0),
                matches!(view.name(), arith::Extf::NAME | arith::Truncf::NAME),
            ) else {
                continue;
            };
            if view.operand_type(0) == r.body.results(op).next().map(|to| r.body.value_type(to)) {
                r.replace_op(op, &[from]);
            }
        }
        Ok(Changed::Yes)
    });
}

/// The type with all floats replaced by `f64`. In practice types are not nested deeper than lists and functions.
fn promote_type(ctx: &Context, ty: Type) -> Type {
    let list = |types: &[Type]| types.iter().map(|&t| promote_type(ctx, t)).collect::<Vec<_>>();
    match ctx.type_data(ty) {
        TypeData::Float(_) => Type::F64,
        TypeData::Complex(_) if ctx.is_continuous(ty) => ctx.complex_type(Type::F64),
        TypeData::Tensor { shape, elem } => ctx.tensor(shape, promote_type(ctx, *elem)),
        TypeData::MemRef {
            shape,
            elem,
            layout,
            space,
        } => ctx.intern_type(TypeData::MemRef {
            shape: shape.clone(),
            elem: promote_type(ctx, *elem),
            layout: *layout,
            space: *space,
        }),
        TypeData::UnrankedTensor(elem) => ctx.intern_type(TypeData::UnrankedTensor(promote_type(ctx, *elem))),
        TypeData::Function { inputs, results } => ctx.function_type(&list(inputs), &list(results)),
        TypeData::List(items) => ctx.intern_type(TypeData::List(list(items).into())),
        _ => ty,
    }
}

fn promote_dict(ctx: &Context, dict: AttrDict) -> AttrDict {
    let entries: Vec<_> = ctx
        .dict_entries(dict)
        .iter()
        .map(|&(name, attr)| (name, promote_attr(ctx, attr)))
        .collect();
    ctx.dict(&entries)
}

fn promote_attr(ctx: &Context, attr: Attr) -> Attr {
    match ctx.attr_data(attr) {
        AttrData::Float { bits, ty } => ctx.attr(AttrData::Float {
            bits: *bits,
            ty: promote_type(ctx, *ty),
        }),
        AttrData::Elements(elements) => promote_elements(ctx, elements).unwrap_or(attr),
        AttrData::Type(ty) => ctx.type_attr(promote_type(ctx, *ty)),
        _ => attr,
    }
}

/// The same numbers in `f64`, if they are floats.
fn promote_elements(ctx: &Context, elements: &Elements) -> Option<Attr> {
    let ty = promote_type(ctx, elements.ty());
    if ty == elements.ty() {
        return None;
    }
    let numbers = elements.floats()?;
    let mut builder = ElementsBuilder::new(numbers.len().checked_mul(8)?).ok()?;
    for number in numbers {
        builder.push(number.to_bits(), 8).ok()?;
    }
    let wide = builder.finish(ctx, ty, elements.form()).ok()?;
    Some(ctx.attr(AttrData::Elements(wide)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pir_ir::text::{ParseOptions, PrintOptions, parse, print};

    #[test]
    fn nothing_narrow_is_left() {
        let text = "\
%x = pd.data {name = \"x\", shape = [2], dtype = f32} : tensor<2xf32>
%i = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%h = pd.cast (%x) {dtype = f16} : tensor<2xf16>
%c = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
%r = pd.if (%c) then {
  %y = pd.cast (%h) {dtype = f32} : tensor<2xf32>
  cf.yield (%y)
} else {
  cf.yield (%x)
} : tensor<2xf32>
func.func @f(%a: tensor<2xbf16>) -> tensor<2xbf16> {
  func.return (%a)
}
";
        let mut module = parse(&pir_dialects::context(), text.as_bytes(), &ParseOptions::default()).module;
        to_f64(&mut module);
        let expected = text.replace("bf16", "f64").replace("f32", "f64").replace("f16", "f64");
        assert_eq!(print(&module, &PrintOptions::default()), expected);
        assert!(pir_ir::verify::verify(&module).is_empty());
    }
}
