//! Programs without functions, and the types of functions.

use pir_ir::{Body, Context, Diagnostic, OpId, OpSpec, Rewriter, Traits, Type, TypeData, ValueId};

use super::as_tensor;
use crate::{func, pd};

/// What an operation at top level gives to a program, or takes from it.
fn is_input(name: &str) -> bool {
    matches!(name, pd::Data::NAME | pd::Feed::NAME | pd::Parameter::NAME)
}

fn is_output(name: &str) -> bool {
    matches!(name, pd::Fetch::NAME | pd::ShadowOutput::NAME)
}

/// Makes a function `@main` of operations at top level: their inputs are its arguments, what they fetch its results. A program that
/// fetches nothing gives what it does not use. Whether there were some.
///
/// # Errors
/// A program that has a function of that name as well.
pub fn wrap(ctx: &Context, body: &mut Body) -> Result<bool, Vec<Diagnostic>> {
    let Some(&top) = body.region_blocks(body.root()).first() else {
        return Ok(false);
    };
    let is_symbol = |body: &Body, op: OpId| body.isolated(op).is_some() || body.view(ctx, op).has(Traits::SYMBOL);
    let ops = body.block_ops_vec(top);
    let Some(&first) = ops.iter().find(|&&op| !is_symbol(body, op)) else {
        return Ok(false);
    };
    if ops.iter().any(|&op| body.view(ctx, op).str("sym_name") == Some("main")) {
        let error = Diagnostic::error(
            "no-stablehlo",
            "the operations at top level become the function `main`, but the program already has a function of this name",
        );
        return Err(vec![error.label(body.op_span(first), "")]);
    }
    let mut fresh = Body::new();
    let root = fresh.root();
    let outside = fresh.create_block(root);
    let mut inner = std::mem::replace(body, fresh);
    let (inputs, results) = signature(ctx, &mut inner);
    let attrs = ctx.dict(&[
        (ctx.sym("sym_name"), ctx.str_attr("main")),
        (
            ctx.sym("function_type"),
            ctx.type_attr(ctx.function_type(&inputs, &results)),
        ),
        (ctx.sym("sym_visibility"), ctx.str_attr("public")),
    ]);
    // Functions stay at top level.
    let mut functions = Vec::new();
    for op in inner.block_ops_vec(top) {
        if is_symbol(&inner, op) {
            let (name, attrs, span) = (inner.op_name(op), inner.attrs(op), inner.op_span(op));
            functions.push((name, attrs, span, inner.take_isolated(op)));
            Rewriter::new(ctx, &mut inner).erase_op(op);
        }
    }
    let mut add = |name, attrs, span, inner: Option<Body>| {
        let mut spec = OpSpec::new(name);
        (spec.attrs, spec.span) = (attrs, span);
        let op = body.create_op(spec);
        if let Some(inner) = inner {
            body.set_isolated(op, inner);
        }
        body.append_op(outside, op);
    };
    add(ctx.op_name("func.func"), attrs, inner.op_span(first), Some(inner));
    for (name, attrs, span, body) in functions {
        add(name, attrs, span, body);
    }
    Ok(true)
}

/// Whether a name can be that of a value in MLIR.
fn is_plain(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter)
        && name
            .chars()
            .all(|c| is_letter(c) || c.is_ascii_digit() || ".$-".contains(c))
}

/// Makes arguments of inputs, and a `func.return` of outputs.
fn signature(ctx: &Context, body: &mut Body) -> (Vec<Type>, Vec<Type>) {
    let top = body.region_blocks(body.root())[0];
    let mut r = Rewriter::new(ctx, body);
    let ops = r.body.block_ops_vec(top);
    let (mut inputs, mut results) = (Vec::new(), Vec::new());
    let fetches = ops.iter().any(|&op| is_output(r.view(op).name()));
    for op in ops {
        let name = r.ctx.op_str(r.body.op_name(op));
        if is_input(name) {
            let old = r.body.result(op, 0);
            let ty = r.body.value_type(old);
            let arg = r.body.add_block_arg(top, ty, None);
            inputs.push(ty);
            r.take_name(old, arg);
            // Under this name the program is given a value.
            let name = r.view(op).str("name").filter(|name| is_plain(name)).map(str::to_owned);
            if let Some(name) = name {
                r.name(arg, &name);
            }
            r.replace_value(old, arg);
            r.erase_op(op);
        } else if is_output(name) {
            results.push(r.body.operand(op, 0));
            r.erase_op(op);
        } else if !fetches {
            let open: Vec<ValueId> = r.body.results(op).filter(|&value| !r.body.has_uses(value)).collect();
            results.extend(open);
        }
    }
    r.at_end(top)
        .op("func.return")
        .operands(results.iter().copied())
        .build();
    let types = results.iter().map(|&value| r.body.value_type(value)).collect();
    (inputs, types)
}

/// Gives functions the types of their arguments and results, as far as these have become tensors.
pub fn set_signatures(ctx: &Context, body: &mut Body) {
    let mut pending = vec![body];
    while let Some(body) = pending.pop() {
        let functions = body.walk_all().filter(|&op| body.view(ctx, op).has(Traits::FUNCTION));
        for op in functions.collect::<Vec<OpId>>() {
            let Some(ty) = body.view(ctx, op).ty("function_type") else {
                continue;
            };
            let TypeData::Function { inputs, results } = ctx.type_data(ty) else {
                continue;
            };
            let of = |list: &[Type]| list.iter().map(|&ty| as_tensor(ctx, ty)).collect::<Vec<_>>();
            func::set_type(ctx, body, op, &of(inputs), &of(results));
        }
        pending.extend(body.isolated_ops_mut().map(|(_, _, body)| body));
    }
}
