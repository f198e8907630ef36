//! StableHLO as XLA reads it: one module with a name, in MLIR's generic form, with inherent attributes among the properties.

use std::collections::HashMap;

use pir_dialects::stablehlo::from_pd;
use pir_ir::text::{PrintOptions, print};
use pir_ir::{AttrData, AttrDict, Body, Context, Diagnostic, Module, OpId, OpName, OpSpec, ValueId};
use pir_passes::Pipeline;

use super::{RunOptions, run_passes};

/// The reader's name for the properties of an unregistered operation, which the printer writes as such.
const PROPERTIES: &str = "<{}>";

/// How rows call attributes that are `array<i64: 1, 0>`, for which lists are read as well.
const ARRAY: &str = "array";

/// Converts and prints a module.
///
/// # Errors
/// What has no counterpart in StableHLO.
pub(super) fn write(module: &mut Module) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let options = RunOptions {
        verify: Some(pir_ir::verify::VerifyOptions {
            allow_unregistered: true,
        }),
        ..RunOptions::default()
    };
    run_passes(module, &Pipeline::parse("pd-to-stablehlo")?, options)?;
    name_module(module);
    let ctx = module.ctx.clone();
    let mut known: HashMap<(OpName, AttrDict), AttrDict> = HashMap::new();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all().collect::<Vec<OpId>>() {
            let (name, attrs) = (body.op_name(op), body.attrs(op));
            let attrs = *known
                .entry((name, attrs))
                .or_insert_with(|| with_properties(&ctx, name, attrs));
            body.set_attrs(op, attrs);
        }
        drop_numbers(&ctx, body);
        pending.extend(body.isolated_ops_mut().map(|(_, _, body)| body));
    }
    let options = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    Ok(print(module, &options).into_bytes())
}

/// Puts everything into one module that has a name: XLA compiles no other.
fn name_module(module: &mut Module) {
    let ctx = module.ctx.clone();
    let ops = module.body.block_ops_vec(module.top());
    let only = match ops[..] {
        [op] if ctx.op_str(module.body.op_name(op)) == "builtin.module" => op,
        _ => {
            let outside = Module::new(ctx.clone());
            let inside = std::mem::replace(&mut module.body, outside.body);
            let op = module.body.create_op(OpSpec::new(ctx.op_name("builtin.module")));
            module.body.set_isolated(op, inside);
            let top = module.top();
            module.body.append_op(top, op);
            op
        }
    };
    if module.body.attr(&ctx, only, "sym_name").is_none() {
        let attrs = ctx.dict_with(module.body.attrs(only), "sym_name", ctx.str_attr("main"));
        module.body.set_attrs(only, attrs);
    }
}

/// Takes names away that begin with a digit and are not numbers, `%0_1`: MLIR does not read them.
fn drop_numbers(ctx: &Context, body: &mut Body) {
    let mut values: Vec<ValueId> = Vec::new();
    let mut regions = vec![body.root()];
    for op in body.walk_all() {
        values.extend(body.results(op));
        regions.extend(body.op_regions(op));
    }
    let blocks = regions.iter().flat_map(|&region| body.region_blocks(region));
    values.extend(blocks.flat_map(|&block| body.block_args(block)));
    for value in values {
        let Some(name) = body.value_name(value) else { continue };
        // The word is empty if all of the name is a number.
        let (word, _) = ctx.name_parts(name.name);
        if word.starts_with(|c: char| c.is_ascii_digit()) && !word.bytes().all(|b| b.is_ascii_digit()) {
            body.set_value_name(value, None);
        }
    }
}

/// The attributes of an operation with this name, those that its definition declares among the properties.
fn with_properties(ctx: &Context, name: OpName, attrs: AttrDict) -> AttrDict {
    // The printer does it for those whose text MLIR declares.
    let def = ctx.op_def(name);
    let Some(def) = def.filter(|_| ctx.ods(name).is_none()) else {
        return attrs;
    };
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for &(name, value) in ctx.dict_entries(attrs) {
        let spec = def.attrs.iter().find(|spec| spec.name == ctx.str(name));
        match (spec, ctx.attr_data(value)) {
            (Some(spec), AttrData::Ints(list)) if spec.ty == ARRAY => own.push((name, from_pd::array(ctx, list))),
            (Some(_), _) => own.push((name, value)),
            (None, _) => others.push((name, value)),
        }
    }
    if !own.is_empty() {
        others.push((ctx.sym(PROPERTIES), ctx.attr(AttrData::Dict(ctx.dict(&own)))));
    }
    ctx.dict(&others)
}
