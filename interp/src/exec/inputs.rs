//! The inputs of a program.

use pir_dialects::{df, pd};
use pir_ir::{Body, Context, Module, OpId, Span, Type};

use super::entry::entry;
use super::error::ExecError;
use super::options::Options;
use crate::kernels::dtype_of;
use crate::tensor::Tensor;

/// An input of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputSpec {
    /// The name by which it is bound.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its declaration.
    pub span: Span,
}

pub(crate) fn input_name(ctx: &Context, body: &Body, op: OpId) -> Option<String> {
    let view = body.view(ctx, op);
    matches!(view.name(), pd::Data::NAME | pd::Feed::NAME | pd::Parameter::NAME)
        .then(|| view.str("name").unwrap_or_default().to_owned())
}

/// The input that an operation declares, if it does.
pub(crate) fn input_spec(ctx: &Context, body: &Body, op: OpId) -> Option<InputSpec> {
    Some(InputSpec {
        name: input_name(ctx, body, op)?,
        ty: body.value_type(body.result(op, 0)),
        span: body.op_span(op),
    })
}

/// The input `name`, checked against its type.
pub(crate) fn check_input(ctx: &Context, options: &Options, name: &str, ty: Type) -> Result<Tensor, ExecError> {
    let tensor = options.inputs.get(name).ok_or_else(|| {
        ExecError::new(format!("the input `{name}` has no value"))
            .help(format!("it has type `{}`", pir_ir::text::print_type(ctx, ty)))
    })?;
    let (shape, _) = ctx.as_shaped(ty).unwrap_or((&[], ty));
    let fits = tensor.rank() == shape.len()
        && shape
            .iter()
            .zip(tensor.shape())
            .all(|(&want, &have)| want < 0 || want == have as i64)
        && dtype_of(ctx, ty) == Some(tensor.dtype());
    if !fits {
        let dims: Vec<String> = tensor.shape().iter().map(|d| format!("{d}x")).collect();
        return Err(ExecError::new(format!(
            "the input `{name}` must have type `{}`, not `tensor<{}{}>`",
            pir_ir::text::print_type(ctx, ty),
            dims.concat(),
            tensor.dtype().name()
        )));
    }
    let mut tensor = tensor.clone();
    if options.flush_subnormals {
        tensor.flush_subnormals().map_err(ExecError::new)?;
    }
    Ok(tensor)
}

/// The inputs of a program, in order.
///
/// # Errors
/// If there is no function of that name.
pub fn inputs_of(module: &Module, function: Option<&str>) -> Result<Vec<InputSpec>, ExecError> {
    let ctx = &*module.ctx;
    let entry = entry(module, function)?;
    let body = entry.body;
    let mut inputs: Vec<InputSpec> = Vec::new();
    if entry.is_function
        && let Some(block) = body.entry_block(body.root())
    {
        for (at, &arg) in body.block_args(block).iter().enumerate() {
            let name = body
                .value_name(arg)
                .map_or_else(|| format!("arg{at}"), |n| ctx.name_text(n.name).into());
            inputs.push(InputSpec {
                name,
                ty: body.value_type(arg),
                span: Span::default(),
            });
        }
    }
    for op in body.walk_all() {
        if body.view(ctx, op).name() == df::GRAPH {
            return Err(ExecError::graph().at(ctx, body, op));
        }
        if let Some(input) = input_spec(ctx, body, op)
            && !inputs.iter().any(|other| other.name == input.name)
        {
            inputs.push(input);
        }
    }
    Ok(inputs)
}
