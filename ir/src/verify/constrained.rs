//! Types and attributes of dialects that state constraints on them, wherever they are in a body.

use rustc_hash::FxHashSet;

use crate::body::Body;
use crate::context::Context;
use crate::diagnostics::Diagnostic;
use crate::types::{Attr, AttrData, Type, TypeData};

/// Checks all types and attributes of a body, each where it is first.
pub(super) fn check(ctx: &Context, body: &Body, errors: &mut Vec<Diagnostic>) {
    if !ctx.has_constraints() {
        return;
    }
    let mut seen: FxHashSet<Attr> = FxHashSet::default();
    for op in body.walk_all() {
        let blocks = body
            .op_regions(op)
            .iter()
            .flat_map(|&region| body.region_blocks(region));
        let args = blocks.flat_map(|&block| body.block_args(block).iter().copied());
        let types = body
            .results(op)
            .chain(args)
            .map(|value| ctx.type_attr(body.value_type(value)));
        let attrs = ctx.dict_entries(body.attrs(op)).iter().map(|&(_, attr)| attr);
        let values: Vec<Attr> = types.chain(attrs).collect();
        if let Err(why) = verify_values(ctx, values, &mut seen) {
            errors.push(Diagnostic::error("constraint", why).label(body.op_span(op), "used here"));
        }
    }
}

/// Whether what is in a type, as an attribute, or in an attribute keeps the constraints of the dialects that it is of.
///
/// # Errors
/// What is wrong with it.
pub fn verify_constraints(ctx: &Context, value: Attr) -> Result<(), String> {
    verify_values(ctx, vec![value], &mut FxHashSet::default())
}

fn verify_values(ctx: &Context, mut pending: Vec<Attr>, seen: &mut FxHashSet<Attr>) -> Result<(), String> {
    while let Some(attr) = pending.pop() {
        if !seen.insert(attr) {
            continue;
        }
        let mut types = |types: &[Type]| pending.extend(types.iter().map(|&ty| ctx.type_attr(ty)));
        let text = match ctx.attr_data(attr) {
            AttrData::Array(items) => {
                pending.extend(items.iter().copied());
                continue;
            }
            AttrData::Dict(dict) => {
                pending.extend(ctx.dict_entries(*dict).iter().map(|&(_, attr)| attr));
                continue;
            }
            AttrData::Type(ty) => match ctx.type_data(*ty) {
                TypeData::Unregistered(text) => &**text,
                TypeData::Tensor { elem, .. }
                | TypeData::UnrankedTensor(elem)
                | TypeData::Vector { elem, .. }
                | TypeData::Complex(elem) => {
                    types(&[*elem]);
                    continue;
                }
                TypeData::EncodedTensor { elem, encoding, .. } => {
                    types(&[*elem]);
                    pending.push(*encoding);
                    continue;
                }
                TypeData::MemRef {
                    elem, layout, space, ..
                } => {
                    types(&[*elem]);
                    pending.extend(layout.iter().chain(space).copied());
                    continue;
                }
                TypeData::Function { inputs, results } => {
                    types(inputs);
                    types(results);
                    continue;
                }
                TypeData::List(items) | TypeData::Tuple(items) => {
                    types(items);
                    continue;
                }
                _ => continue,
            },
            AttrData::Opaque(text) => match text.strip_prefix('#') {
                Some(text) => text,
                None => continue,
            },
            _ => continue,
        };
        let dialect = text.split(['.', '<']).next().unwrap_or_default();
        if let Some(constraints) = ctx.constraints(dialect) {
            constraints.verify_value(ctx, attr)?;
        }
    }
    Ok(())
}
