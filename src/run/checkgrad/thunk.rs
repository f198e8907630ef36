//! The derivative that a function names is used where the function is called: to check it, a call is added.

use std::borrow::Cow;

use pir_dialects::func;
use pir_ir::{AttrData, Body, Module, OpSpec, Rewriter, TypeData};

/// The program in which the function that is run is public, and is a call of the given one if that names its derivative.
pub fn called<'m>(module: &'m Module, function: Option<&str>) -> Cow<'m, Module> {
    let name = function.unwrap_or("main");
    let name = name.strip_prefix('@').unwrap_or(name);
    let changed = with_call(module, name).or_else(|| with_public(module, name));
    changed.map_or(Cow::Borrowed(module), Cow::Owned)
}

/// `backward` skips private functions without calls: the one that is run has to be public.
fn with_public(module: &Module, name: &str) -> Option<Module> {
    let op = module.lookup_symbol(name)?;
    let attrs = module.body.attrs(op);
    module.ctx.dict_get(attrs, "sym_visibility")?;
    let mut module = module.clone();
    let attrs = module.ctx.dict_without(attrs, "sym_visibility");
    module.body.set_attrs(op, attrs);
    Some(module)
}

fn with_call(module: &Module, name: &str) -> Option<Module> {
    let op = module.lookup_symbol(name)?;
    func::custom_vjp(module.body.view(&module.ctx, op))?;
    let mut module = module.clone();
    let ctx = module.ctx.clone();
    let mut names = (1..).map(|number| format!("{name}_{number}"));
    let free = names.find(|name| module.lookup_symbol(name).is_none())?;
    let ty = module.body.attr(&ctx, op, "function_type")?;
    let TypeData::Function { inputs, results } = ctx.type_data(ctx.attr_type(ty)?) else {
        return None;
    };
    let old = module.body.isolated(op)?;
    let parameters = old.block_args(old.entry_block(old.root())?);
    let mut body = Body::new();
    let root = body.root();
    let block = body.create_block(root);
    for (&parameter, &ty) in parameters.iter().zip(inputs.iter()) {
        body.add_block_arg(block, ty, old.value_name(parameter));
    }
    let args = body.block_args(block).to_vec();
    let mut r = Rewriter::new(&ctx, &mut body);
    let callee = ctx.attr(AttrData::Symbol([ctx.sym(&free)].into()));
    let call = r.at_end(block).op("func.call").attr("callee", callee).operands(args);
    let call = call.results(results.iter().copied()).build();
    let values: Vec<_> = r.body.results(call).collect();
    r.at_end(block).op("func.return").operands(values).build();
    let attrs = module.body.attrs(op);
    module
        .body
        .set_attrs(op, ctx.dict_with(attrs, "sym_name", ctx.str_attr(&free)));
    let mut spec = OpSpec::new(ctx.op_name("func.func"));
    let public = ctx.dict_without(ctx.dict_without(attrs, "custom_vjp"), "sym_visibility");
    spec.attrs = ctx.dict_with(public, "sym_name", ctx.str_attr(name));
    spec.span = module.body.op_span(op);
    let function = module.body.create_op(spec);
    module.body.set_isolated(function, body);
    let top = module.top();
    module.body.append_op(top, function);
    Some(module)
}
