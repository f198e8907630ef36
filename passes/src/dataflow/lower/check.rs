//! Checks whether a program can be lowered to dataflow.

use pir_dialects::df;
use pir_dialects::pd::{is_if, is_while};
use pir_ir::{Body, Context, Diagnostic, EffectKind, EffectTarget, OpId, OpView, Traits};

/// Whether an operation gives what the program is fed with, and does nothing else.
pub(super) fn is_input(view: OpView<'_>) -> bool {
    let effects = view.own_effects();
    let reads = |e: &pir_ir::Effect| e.kind == EffectKind::Read && e.target.is_shared();
    !effects.is_empty() && effects.iter().all(reads)
}

/// Whether an operation hands a value out of the program, and gives nothing.
pub(super) fn is_output(view: OpView<'_>) -> bool {
    let effects = view.own_effects();
    let writes = |e: &pir_ir::Effect| e.kind == EffectKind::Write && e.target.is_shared();
    view.body.num_results(view.op) == 0 && effects.iter().any(writes)
}

/// The operations at top level that become nodes, or everything that prevents it. Functions are kept.
pub(super) fn program(ctx: &Context, body: &Body) -> Result<Vec<OpId>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let blocks = body.region_blocks(body.root());
    if let Some(op) = blocks.get(1).and_then(|&b| body.first_op(b)) {
        return Err(vec![of_blocks(ctx, body, op)]);
    }
    let is_definition = |op: OpId| {
        let view = body.view(ctx, op);
        view.has(Traits::SYMBOL) || view.name() == df::GRAPH
    };
    let ops: Vec<OpId> = (blocks.iter().flat_map(|&b| body.block_ops(b)))
        .filter(|&op| !is_definition(op))
        .collect();
    let graph = (blocks.iter().flat_map(|&b| body.block_ops(b))).find(|&op| body.view(ctx, op).name() == df::GRAPH);
    if let (Some(graph), false) = (graph, ops.is_empty()) {
        errors.push(
            Diagnostic::error("dataflow-graph", "part of this program is already a graph")
                .label(body.op_span(graph), "this is a graph")
                .help("run `raise-from-dataflow` first, so that everything can be lowered to one graph"),
        );
    }
    // How many loops are around: a region is walked in front of what is after it.
    let mut loops: Vec<(pir_ir::RegionId, usize)> = Vec::new();
    for &top in &ops {
        check(ctx, body, top, 0, &mut errors);
        loops.extend(
            body.op_regions(top)
                .iter()
                .map(|&r| (r, usize::from(repeats(ctx, body, top)))),
        );
        while let Some((region, depth)) = loops.pop() {
            for op in body.region_blocks(region).iter().flat_map(|&b| body.block_ops(b)) {
                check(ctx, body, op, depth, &mut errors);
                let inner = depth + usize::from(repeats(ctx, body, op));
                loops.extend(body.op_regions(op).iter().map(|&r| (r, inner)));
            }
        }
    }
    if errors.is_empty() { Ok(ops) } else { Err(errors) }
}

fn repeats(ctx: &Context, body: &Body, op: OpId) -> bool {
    is_while(ctx.op_str(body.op_name(op)))
}

fn of_blocks(ctx: &Context, body: &Body, op: OpId) -> Diagnostic {
    let name = ctx.op_str(body.op_name(op));
    Diagnostic::error(
        "dataflow-blocks",
        format!("the blocks of `{name}` cannot be lowered to dataflow"),
    )
    .label(body.op_span(op), "control passes between blocks here")
    .help("run `lift-cfg` first, which converts blocks to branches and loops")
}

fn check(ctx: &Context, body: &Body, op: OpId, loops: usize, errors: &mut Vec<Diagnostic>) {
    let view = body.view(ctx, op);
    let name = view.name();
    let span = body.op_span(op);
    let unsupported = |why: &str| {
        Diagnostic::error(
            "dataflow-unsupported",
            format!("`{name}` cannot be lowered to dataflow: {why}"),
        )
        .label(span, "here")
    };
    let regions = body.op_regions(op);
    if is_if(name) || is_while(name) {
        return;
    }
    if !body.successors(op).is_empty() || regions.iter().any(|&r| body.region_blocks(r).len() > 1) {
        errors.push(of_blocks(ctx, body, op));
    } else if !regions.is_empty() || body.isolated(op).is_some() {
        errors.push(
            unsupported("it has regions, but is neither a branch nor a loop")
                .help("write branches and loops as `pd.if` and `pd.while`"),
        );
    } else if view.attr("callee").is_some() {
        errors.push(
            unsupported("a graph cannot call functions")
                .help("run `inline` first; `inline{custom-vjp=true}` also inlines functions with `custom_vjp`"),
        );
    } else if name.starts_with("df.") {
        errors.push(unsupported("it belongs in a `df.graph`").help("write the whole graph inside of `df.graph`"));
    } else if is_output(view) && loops > 0 && !view.has(Traits::TERMINATOR) {
        errors.push(
            unsupported("a graph cannot fetch values inside of a loop")
                .help("carry the value through the loop, and fetch the result"),
        );
    } else if !name.starts_with("cf.")
        && let Some(at) = view.own_effects().iter().find_map(|e| match e.target {
            EffectTarget::Operand(at) if e.kind == EffectKind::Write => Some(at),
            _ => None,
        })
    {
        errors.push(
            unsupported(&format!(
                "it changes operand {at} in place, but nodes do not modify values"
            ))
            .help("run the lowering before `inplace-accumulate`, or compute the sum as a new value"),
        );
    }
}
