//! `split-vjp`: a function that takes cotangents becomes one of the results and one of the gradients.
//!
//! ```text
//! @f(x, ct) -> (y, x_grad)     ==>     @f(x) -> y,  @f.fwd(x) -> (y, residuals),  @f.bwd(residuals, ct) -> x_grad
//! ```
//!
//! What depends on a cotangent is in the backward part, everything else in the forward part: `backward` only appends. What
//! goes over from there to here, the *residuals*, is chosen in [`residuals`].

mod residuals;

use pir_dialects::func;
use pir_dialects::marks::COTANGENTS;
use pir_ir::text::print_type;
use pir_ir::{
    AttrDict, Body, Context, Diagnostic, Module, OpId, OpSpec, Rewriter, Span, Type, TypeData, ValueId, ValueMap,
    ValueName,
};

use self::residuals::Parts;
use super::signature;
use crate::bodies::atomically;
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// Whether there are two functions.
pub(crate) const SPLIT: OptionSpec = OptionSpec {
    name: "split",
    kind: OptionKind::Bool,
    default: Some("true"),
    help: "`false`: make one function of the arguments and cotangents that returns only the gradients",
};

/// The pass `split-vjp`.
pub struct SplitVjp;

impl Pass for SplitVjp {
    fn name(&self) -> &'static str {
        "split-vjp"
    }

    fn summary(&self) -> &'static str {
        "Split a function that takes cotangents into one for its results and one for its gradients"
    }

    fn description(&self) -> &'static str {
        "Applies to functions that `backward{seed=args}` differentiated. `@f` returns only the results again; `@f.fwd` \
         returns the results and the residuals, which are the values that the derivative reads; `@f.bwd` takes the \
         residuals and the cotangents, and returns the gradients. A minimum cut selects the residuals with the fewest \
         bytes: `@f.bwd` computes what only the derivative needs, and recomputes elementwise operations and operations \
         that move elements, except comparisons that the results depend on. With `split=false`, there is one function \
         `@f` of the arguments and the cotangents, which returns only the gradients. Run `dce` afterwards to remove \
         unused operations. Residuals are tensors, so stacks must be lowered first."
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[SPLIT]
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let ctx = module.ctx.clone();
        let split = cx.options.flag("split");
        let functions = module.body.block_ops(module.top());
        let functions: Vec<OpId> = functions
            .filter(|&op| COTANGENTS.get(&ctx, module.body.attrs(op)).is_some())
            .collect();
        if functions.is_empty() {
            return Err(vec![
                Diagnostic::error("nothing-to-split", "there is no function that takes cotangents")
                    .help("run `backward{seed=args}` first, which turns cotangents into arguments"),
            ]);
        }
        atomically(module, |module| {
            functions.into_iter().try_for_each(|op| {
                let vjp = Vjp::new(&ctx, module, op).map_err(|error| vec![*error])?;
                let residuals = match split {
                    true => vjp.split(module).map_err(|error| vec![*error])?,
                    false => {
                        vjp.join(module);
                        0
                    }
                };
                cx.count("residuals", residuals);
                Ok::<(), Vec<Diagnostic>>(())
            })
        })?;
        Ok(Changed::Yes)
    }
}

/// A function that takes arguments and cotangents, and gives results and gradients.
struct Vjp<'c> {
    ctx: &'c Context,
    op: OpId,
    name: String,
    span: Span,
    /// The number of arguments that are not cotangents.
    arguments: usize,
    /// The number of results that are not gradients.
    results: usize,
    types: (Vec<Type>, Vec<Type>),
}

impl<'c> Vjp<'c> {
    fn new(ctx: &'c Context, module: &Module, op: OpId) -> Result<Self, Box<Diagnostic>> {
        let (body, span) = (&module.body, module.body.op_span(op));
        let view = body.view(ctx, op);
        let name = view.str("sym_name").unwrap_or_default().to_owned();
        let wrong = |what: &str| {
            let message = format!("@{name} cannot be split: {what}");
            let error = Diagnostic::error("not-a-vjp", message).label(span, "this function");
            Box::new(error.help("create the function with `backward{seed=args}`"))
        };
        let Some(TypeData::Function { inputs, results }) = view.ty("function_type").map(|ty| ctx.type_data(ty)) else {
            return Err(wrong("its `function_type` is not a function type"));
        };
        let counts = signature::cotangents(ctx, body, op)
            .and_then(|(cts, grads)| Some((inputs.len().checked_sub(cts)?, results.len().checked_sub(grads)?)));
        let Some((arguments, kept)) = counts else {
            return Err(wrong(
                "its attribute `pir.cotangents` exceeds its number of arguments or results",
            ));
        };
        let single = body.isolated(op).and_then(|inner| inner.single_block(inner.root()));
        if single.is_none() {
            return Err(wrong("its body is not a single block"));
        }
        Ok(Vjp {
            ctx,
            op,
            name,
            span,
            arguments,
            results: kept,
            types: (inputs.to_vec(), results.to_vec()),
        })
    }

    /// Keeps one function, which gives the gradients.
    fn join(&self, module: &mut Module) {
        let gradients = &self.types.1[self.results..];
        if let Some(inner) = module.body.isolated_mut(self.op)
            && let Some(end) = inner.single_block(inner.root()).and_then(|block| inner.last_op(block))
        {
            let gradients: Vec<ValueId> = inner.operands(end).skip(self.results).collect();
            inner.set_operands(end, &gradients);
        }
        // The attributes of results are those of the first ones.
        let attrs = self.ctx.dict_without(module.body.attrs(self.op), "res_attrs");
        module.body.set_attrs(self.op, COTANGENTS.remove(self.ctx, attrs));
        func::set_type(self.ctx, &mut module.body, self.op, &self.types.0, gradients);
    }

    /// Makes the functions; gives how many residuals there are.
    fn split(&self, module: &mut Module) -> Result<usize, Box<Diagnostic>> {
        let [forward, backward] = ["fwd", "bwd"].map(|part| format!("{}.{part}", self.name));
        for name in [&forward, &backward] {
            if let Some(op) = module.lookup_symbol(name) {
                return Err(Box::new(
                    Diagnostic::error("duplicate-symbol", format!("a function `@{name}` already exists"))
                        .label(module.body.op_span(op), "the name of a part")
                        .label(self.span, "of this function"),
                ));
            }
        }
        let Some(whole) = module.body.isolated(self.op) else {
            return Ok(0);
        };
        let parts = Parts::new(self.ctx, whole, self.arguments, self.results);
        self.check(whole, &parts.residuals)?;
        let residuals: Vec<Type> = parts.residuals.iter().map(|&v| whole.value_type(v)).collect();
        let fwd = self.forward(whole, &parts, &parts.residuals);
        let bwd = self.backward(whole, &parts);
        let primal = self.forward(whole, &parts, &[]);
        module.body.set_isolated(self.op, primal);
        let (inputs, results) = (&self.types.0[..self.arguments], &self.types.1[..self.results]);
        signature::forget(self.ctx, &mut module.body, self.op);
        func::set_type(self.ctx, &mut module.body, self.op, inputs, results);
        let returned = [results, &residuals].concat();
        let taken = [&residuals, &self.types.0[self.arguments..]].concat();
        let fwd = self.declare(module, self.op, &forward, (inputs, &returned), fwd);
        self.declare(module, fwd, &backward, (&taken, &self.types.1[self.results..]), bwd);
        Ok(residuals.len())
    }

    /// A value that passes from one function to another has to be a tensor.
    fn check(&self, body: &Body, residuals: &[ValueId]) -> Result<(), Box<Diagnostic>> {
        let is_other = |v: &&ValueId| self.ctx.as_tensor(body.value_type(**v)).is_none();
        let Some(&value) = residuals.iter().find(is_other) else {
            return Ok(());
        };
        let ty = body.value_type(value);
        let span = body.defining_op(value).map_or(self.span, |op| body.op_span(op));
        let message = format!(
            "@{} cannot be split: a value of type `{}` would be a residual",
            self.name,
            print_type(self.ctx, ty)
        );
        let diagnostic = Diagnostic::error("residual-type", message).label(span, "defined here");
        Err(Box::new(match self.ctx.is_of_dialect(ty) {
            true => diagnostic.help("run `lower-stacks` first, which converts stacks to tensors"),
            false => diagnostic.help("only tensors can be residuals"),
        }))
    }

    /// The part that needs no cotangents, with more results.
    fn forward(&self, whole: &Body, parts: &Parts, more: &[ValueId]) -> Body {
        let (arguments, returned) = signature_of(whole);
        let returned: Vec<ValueId> = returned
            .into_iter()
            .take(self.results)
            .chain(more.iter().copied())
            .collect();
        let taken = arguments.iter().take(self.arguments);
        let named: Vec<_> = taken.map(|&arg| (arg, whole.value_name(arg))).collect();
        self.part(whole, &named, &returned, |op| !parts.dual.contains(&op))
    }

    /// The part that does.
    fn backward(&self, whole: &Body, parts: &Parts) -> Body {
        let (arguments, returned) = signature_of(whole);
        let returned: Vec<ValueId> = returned.into_iter().skip(self.results).collect();
        let taken = parts.residuals.iter().chain(arguments.iter().skip(self.arguments));
        let named: Vec<_> = taken
            .map(|&value| (value, whole.value_name(value).filter(|n| !n.pack)))
            .collect();
        self.part(whole, &named, &returned, |op| {
            parts.dual.contains(&op) || parts.again.contains(&op)
        })
    }

    /// A function of some of the values, with these names, that returns others, and what it keeps of the operations.
    fn part(
        &self,
        whole: &Body,
        taken: &[(ValueId, Option<ValueName>)],
        returned: &[ValueId],
        keeps: impl Fn(OpId) -> bool,
    ) -> Body {
        let mut body = Body::new();
        body.reserve_ops(whole.num_op_slots() / 2);
        let Some(block) = whole.single_block(whole.root()) else {
            return body;
        };
        let entry = body.create_block(body.root());
        body.set_block_label(entry, whole.block_label(block));
        let mut arguments = ValueMap::new();
        for &(value, name) in taken {
            let argument = body.add_block_arg(entry, whole.value_type(value), name);
            if let Some(loc) = whole.arg_loc(value) {
                body.set_arg_loc(argument, loc);
            }
            arguments.insert(value, argument);
        }
        let mut map = arguments.clone();
        let mut r = Rewriter::new(self.ctx, &mut body);
        r.at_end(entry);
        let end = whole.last_op(block);
        for op in whole.block_ops(block).filter(|&op| Some(op) != end && keeps(op)) {
            let copy = r.import_op(whole, op, &mut map);
            r.import_notes(whole, op, copy);
            // What is taken is not computed, even if another result of the same operation is.
            for result in whole.results(op) {
                if let Some(argument) = arguments.get(result) {
                    map.insert(result, argument);
                }
            }
        }
        if let Some(end) = end {
            let operands: Vec<ValueId> = returned.iter().map(|&value| map.get_or_self(value)).collect();
            let copy = r.body.create_op(OpSpec {
                operands: &operands,
                attrs: whole.attrs(end),
                span: whole.op_span(end),
                ..OpSpec::new(whole.op_name(end))
            });
            r.insert(copy);
            r.import_notes(whole, end, copy);
        }
        if let Some(comment) = whole.end_comment(block) {
            body.set_end_comment(entry, comment);
        }
        body
    }

    /// Adds a function after another one.
    fn declare(&self, module: &mut Module, after: OpId, name: &str, types: (&[Type], &[Type]), body: Body) -> OpId {
        let mut attrs: AttrDict = module.body.attrs(self.op);
        for of_values in ["arg_attrs", "res_attrs"] {
            attrs = self.ctx.dict_without(attrs, of_values);
        }
        attrs = self.ctx.dict_with(attrs, "sym_name", self.ctx.str_attr(name));
        let ty = self.ctx.function_type(types.0, types.1);
        let mut spec = OpSpec::new(module.body.op_name(self.op));
        spec.attrs = self.ctx.dict_with(attrs, "function_type", self.ctx.type_attr(ty));
        spec.span = self.span;
        let function = module.body.create_op(spec);
        module.body.set_isolated(function, body);
        module.body.insert_after(after, function);
        function
    }
}

/// The arguments of a function, and the values that it returns.
fn signature_of(body: &Body) -> (Vec<ValueId>, Vec<ValueId>) {
    let Some(block) = body.single_block(body.root()) else {
        return Default::default();
    };
    let returned = body
        .last_op(block)
        .map_or(Vec::new(), |end| body.operands(end).collect());
    (body.block_args(block).to_vec(), returned)
}
