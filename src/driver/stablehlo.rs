//! StableHLO as XLA reads it: one module with a name, in MLIR's generic form, with inherent attributes among the properties.

use pir_dialects::stablehlo::from_pd;
use pir_ir::text::{PrintOptions, print};
use pir_ir::{AttrData, AttrDict, Body, Context, Diagnostic, Module, OpId, OpSpec, ValueId};
use pir_passes::Pipeline;
use rustc_hash::FxHashMap;

use super::{RunOptions, run_passes};

/// What the reader calls the properties of an operation that it knows nothing of, and the printer writes as such.
const PROPERTIES: &str = "<{}>";

/// Attributes that are `array<i64: 1, 0>` and no lists.
const ARRAYS: &[&str] = &[
    "base_dilations",
    "broadcast_dimensions",
    "broadcast_sizes",
    "dimensions",
    "edge_padding_high",
    "edge_padding_low",
    "fft_length",
    "interior_padding",
    "lhs_dilation",
    "limit_indices",
    "permutation",
    "rhs_dilation",
    "slice_sizes",
    "start_indices",
    "strides",
    "window_dilations",
    "window_dimensions",
    "window_strides",
];

/// Converts and prints a module.
///
/// # Errors
/// What has no counterpart in StableHLO.
pub(super) fn write(mut module: Module) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let options = RunOptions {
        verify: Some(pir_ir::verify::VerifyOptions {
            allow_unregistered: true,
        }),
        ..RunOptions::default()
    };
    run_passes(&mut module, &Pipeline::parse("pd-to-stablehlo")?, options)?;
    name_module(&mut module);
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all().collect::<Vec<OpId>>() {
            let attrs = with_properties(&ctx, body, op);
            body.set_attrs(op, attrs);
        }
        drop_numbers(&ctx, body);
        pending.extend(body.isolated_ops_mut().map(|(_, _, body)| body));
    }
    let options = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    Ok(print(&module, &options).into_bytes())
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

/// Takes the names of values that are numbers of others as well: made unique with a suffix, `%0_1`, MLIR does not read them.
fn drop_numbers(ctx: &Context, body: &mut Body) {
    let mut values: Vec<ValueId> = Vec::new();
    let mut regions = vec![body.root()];
    for op in body.walk_all() {
        values.extend(body.results(op));
        regions.extend(body.op_regions(op));
    }
    let blocks = regions.iter().flat_map(|&region| body.region_blocks(region));
    values.extend(blocks.flat_map(|&block| body.block_args(block)));
    let mut taken = FxHashMap::default();
    for value in values {
        let Some(name) = body.value_name(value) else { continue };
        let text = ctx.name_text(name.name);
        let is_number = text.bytes().all(|c| c.is_ascii_digit());
        // The results of one operation may have one name: `%0:2`.
        let owner = *taken.entry(name.name).or_insert(value);
        let is_of_same = name.pack && body.defining_op(owner) == body.defining_op(value);
        let is_first = owner == value || is_of_same;
        if text.starts_with(|c: char| c.is_ascii_digit()) && !(is_number && is_first) {
            body.set_value_name(value, None);
        }
    }
}

/// The attributes of an operation, those that its definition declares among the properties.
fn with_properties(ctx: &Context, body: &Body, op: OpId) -> AttrDict {
    let attrs = body.attrs(op);
    let Some(def) = ctx.op_def(body.op_name(op)) else {
        return attrs;
    };
    let entries = ctx
        .dict_entries(attrs)
        .iter()
        .map(|&(name, value)| match ctx.attr_data(value) {
            AttrData::Ints(list) if ARRAYS.contains(&ctx.str(name)) => (name, from_pd::array(ctx, list)),
            _ => (name, value),
        });
    let is_own = |name| def.attrs.iter().any(|spec| spec.name == ctx.str(name));
    let (own, mut others): (Vec<_>, Vec<_>) = entries.partition(|entry| is_own(entry.0));
    if !own.is_empty() {
        others.push((ctx.sym(PROPERTIES), ctx.attr(AttrData::Dict(ctx.dict(&own)))));
    }
    ctx.dict(&others)
}
