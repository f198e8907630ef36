//! The example of an operation, and its output.

use pir_dialects::pd;
use std::sync::Arc;

use pir_interp::kernels::dtype_of;
use pir_interp::{ExecError, Options, Tensor, inputs_of};
use pir_ir::text::{ParseOptions, parse};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Context, Diagnostic, Module, OpDef, OpSpec, ValueId};

/// The text of an example, followed by comments with its output and its unused values. The elements of the inputs are
/// 1, 2, 3, ….
///
/// # Errors
/// If it cannot be read or run, or does not contain the operation.
pub fn example(ctx: &Arc<Context>, op: &OpDef) -> Result<Option<String>, Vec<Diagnostic>> {
    let text = op.example.trim_end();
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = parse(ctx, text.as_bytes(), &ParseOptions::default());
    let (mut module, mut errors) = (parsed.module, parsed.diagnostics);
    if errors.is_empty() {
        errors = verify_with(&module, VerifyOptions::default());
    }
    let mut ops = module.body.walk_all();
    if errors.is_empty() && !ops.any(|o| ctx.op_str(module.body.op_name(o)) == op.name) {
        errors.push(Diagnostic::error(
            "example",
            format!("the example of `{}` does not contain the operation", op.name),
        ));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    fetch_unused(&mut module);
    let outcome = run(&module).map_err(|error| vec![error])?;
    let shown = outcome.lines().map(|line| format!("\n// {line}"));
    Ok(Some(text.to_owned() + &shown.collect::<String>()))
}

/// Fetches unused tensors under their names.
pub fn fetch_unused(module: &mut Module) {
    let (ctx, block) = (module.ctx.clone(), module.top());
    let body = &mut module.body;
    let values: Vec<ValueId> = body.block_ops(block).flat_map(|op| body.results(op)).collect();
    for value in values {
        let tensor = ctx.as_tensor(body.value_type(value)).is_some();
        let name = body.value_name(value).map(|name| ctx.name_text(name.name));
        if let Some(name) = name.filter(|_| tensor && body.uses(value).next().is_none()) {
            let attrs = ctx.dict(&[(ctx.sym("name"), ctx.str_attr(&name))]);
            let spec = OpSpec {
                operands: &[value],
                attrs,
                ..OpSpec::new(ctx.op_name(pd::Fetch::NAME))
            };
            let op = body.create_op(spec);
            body.append_op(block, op);
        }
    }
}

/// The output and the fetched values of a program.
fn run(module: &Module) -> Result<String, Diagnostic> {
    let failed = ExecError::into_diagnostic;
    let mut options = Options::default();
    for input in inputs_of(module, None).map_err(failed)? {
        let dims = module.ctx.as_tensor(input.ty).map_or(&[][..], |(dims, _)| dims);
        let shape: Vec<usize> = dims.iter().map(|&d| usize::try_from(d).unwrap_or(1)).collect();
        let numbers: Vec<f64> = (1..=shape.iter().product::<usize>()).map(|n| n as f64).collect();
        let tensor = Tensor::new(&shape, numbers).and_then(|t| match dtype_of(&module.ctx, input.ty) {
            Some(dtype) => t.cast(dtype),
            None => Ok(t),
        });
        let tensor = tensor.map_err(|message| Diagnostic::error("example", message))?;
        options.inputs.insert(input.name, tensor);
    }
    let mut printed = Vec::new();
    let outcome = pir_interp::run(module, &options, &mut printed).map_err(failed)?;
    let fetched = outcome
        .fetched
        .iter()
        .map(|(name, tensor)| format!("{name} = {tensor}\n"));
    Ok(String::from_utf8_lossy(&printed).into_owned() + &fetched.collect::<String>())
}
