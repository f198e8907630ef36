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
use pir_ir::{AttrDict, Body, Context, Diagnostic, Module, OpId, OpSpec, Rewriter, Span, Type, TypeData, ValueId};
use rustc_hash::FxHashSet;

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
        if let Some(inner) = module.body.isolated_mut(self.op) {
            keep_returned(inner, |at| at >= self.results);
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
        let mut body = whole.clone();
        let end = keep_returned(&mut body, |at| at < self.results);
        if let Some(end) = end {
            let at = body.num_operands(end);
            body.insert_operands(end, at, more);
        }
        erase(self.ctx, &mut body, |op| parts.dual.contains(&op));
        if let Some(entry) = body.entry_block(body.root()) {
            body.retain_block_args(entry, |at| at < self.arguments);
        }
        // A part is much smaller than the whole.
        body.compact();
        body
    }

    /// The part that does.
    fn backward(&self, whole: &Body, parts: &Parts) -> Body {
        let mut body = whole.clone();
        keep_returned(&mut body, |at| at >= self.results);
        let Some(entry) = body.entry_block(body.root()) else {
            return body;
        };
        let old = body.block_args(entry).to_vec();
        let cotangents = old.iter().skip(self.arguments);
        let taken: Vec<ValueId> = parts.residuals.iter().chain(cotangents).copied().collect();
        for value in taken {
            let (ty, name) = (body.value_type(value), body.value_name(value).filter(|n| !n.pack));
            let argument = body.add_block_arg(entry, ty, name);
            body.replace_all_uses(value, argument);
        }
        erase(self.ctx, &mut body, |op| {
            !parts.dual.contains(&op) && !parts.again.contains(&op)
        });
        body.retain_block_args(entry, |at| at >= old.len());
        body.compact();
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

/// Keeps some of what a function returns; gives its return.
fn keep_returned(body: &mut Body, keep: impl Fn(usize) -> bool) -> Option<OpId> {
    let end = body.last_op(body.single_block(body.root())?)?;
    let kept = body.operands(end).enumerate().filter(|&(at, _)| keep(at));
    let kept: Vec<ValueId> = kept.map(|(_, value)| value).collect();
    body.set_operands(end, &kept);
    Some(end)
}

/// Erases operations of the outermost block that nothing else uses.
fn erase(ctx: &Context, body: &mut Body, which: impl Fn(OpId) -> bool) {
    let Some(block) = body.single_block(body.root()) else {
        return;
    };
    let end = body.last_op(block);
    let ops: FxHashSet<OpId> = body
        .block_ops(block)
        .filter(|&op| Some(op) != end && which(op))
        .collect();
    let mut ordered = body.block_ops_vec(block);
    ordered.retain(|op| ops.contains(op));
    let mut r = Rewriter::new(ctx, body);
    for &op in ordered.iter().rev() {
        r.erase_op(op);
    }
}
