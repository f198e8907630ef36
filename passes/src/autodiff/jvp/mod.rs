//! `jvp`: forward-mode differentiation.
//!
//! Along with each value goes its tangent, its derivative along a direction in the inputs. Operations have tangents by
//! their gradient rules ([`linear`]); loops and branches carry them ([`forward`]). The directions are inputs of the program,
//! `NAME_tangent`, and the tangents of the outputs are outputs, `NAME_tangent` as well; in a function they are arguments
//! and results after the others.

mod forward;
mod linear;
mod templates;

use std::collections::VecDeque;

use pir_dialects::mlir::from_pd;
use pir_dialects::pd;
use pir_ir::{Body, Context, Diagnostic, Module, OpId, Rewriter, Type, TypeData, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::activity::Activity;
use super::functions::is_mlir;
use super::naming::free_name;
use super::passes::{ENDS, asked_for};
use super::rules::RuleTable;
use super::stacks::Mode;
use super::targets::{self, Targets, Unit, UnitKind};
use super::{BackwardOptions, for_each_unit, idioms};
use crate::bodies::atomically;
use crate::cfg::lift_copy;
use crate::inline::call_composites;
use crate::options::OptionSpec;
use crate::pass::{Changed, Pass, PassContext};

use forward::Forward;

const SUFFIX: &str = "_tangent";

/// Adds the tangents of the outputs along directions in the inputs.
///
/// # Errors
/// When outputs or inputs cannot be found, or an operation on the way has no derivative.
pub fn jvp(module: &mut Module, options: &BackwardOptions) -> Result<(), Vec<Diagnostic>> {
    atomically(module, |module| push_all(module, options))
}

fn push_all(module: &mut Module, options: &BackwardOptions) -> Result<(), Vec<Diagnostic>> {
    call_composites(module)?;
    idioms::recognize(module);
    let ctx = module.ctx.clone();
    for path in targets::units(module).into_iter().map(|unit| unit.path) {
        // Blocks have no tangents, loops and branches have.
        if let Some(body) = targets::body_at(module, &path).filter(|body| is_mlir(&ctx, body)) {
            lift_copy(&ctx, body)?;
        }
    }
    let mut functions: Vec<Vec<OpId>> = Vec::new();
    for_each_unit(
        module,
        options,
        Mode::Forward,
        |ctx, body, unit, targets, activity, rules| {
            if unit.kind == UnitKind::Function {
                functions.push(unit.path.clone());
            }
            push_forward(ctx, body, unit, targets, activity, rules).map_err(|d| vec![*d])
        },
    )?;
    for path in functions {
        if let Some(body) = targets::body_at(module, &path).filter(|body| is_mlir(&ctx, body)) {
            from_pd::convert(&ctx, body)?;
        }
        set_signature(module, &path);
    }
    Ok(())
}

fn push_forward(
    ctx: &Context,
    body: &mut Body,
    unit: &Unit,
    targets: &Targets,
    activity: &Activity,
    rules: &RuleTable,
) -> Result<(), Box<Diagnostic>> {
    let block = targets::unit_block(body)?;
    let mut ops = body.block_ops_vec(block);
    let end = ops.last().copied().filter(|_| unit.kind == UnitKind::Function);
    ops.truncate(ops.len() - usize::from(end.is_some()));
    let mut taken = input_names(ctx, body, &ops);
    let mut r = Rewriter::new(ctx, body);
    let mut forward = Forward::new(&mut r, rules, activity);
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    for (input, name) in targets.inputs.iter().filter(|(input, _)| seen.insert(*input)) {
        let ty = forward.r.body.value_type(*input);
        let tangent = match (end, forward.r.body.defining_op(*input)) {
            (None, Some(op)) => {
                let name = free_name(&format!("{name}{SUFFIX}"), &mut taken);
                data_behind(forward.r, op, ty, &name)
            }
            _ => forward.r.body.add_block_arg(block, ty, None),
        };
        forward.r.name_like(tangent, *input, SUFFIX);
        forward.give(*input, tangent);
    }
    forward.ops(&ops)?;
    let mut fetched = targets::fetched_names(ctx, forward.r.body);
    let mut names = fetches_of(ctx, forward.r.body);
    let mut returned = Vec::new();
    for output in &targets.outputs {
        let value = forward.now(output.value);
        match end {
            Some(end) => forward.r.before(end),
            None => forward.r.at_end(block),
        };
        let tangent = forward
            .tangent(value)
            .map_err(|why| Box::new(Diagnostic::error("no-derivative", why)))?;
        match end {
            Some(_) => returned.push(tangent),
            None => {
                let base = match names.get_mut(&value).and_then(VecDeque::pop_front) {
                    Some(name) => name,
                    None => value_name(ctx, forward.r.body, value),
                };
                let name = ctx.str_attr(&free_name(&format!("{base}{SUFFIX}"), &mut fetched));
                forward
                    .r
                    .op(pd::Fetch::NAME)
                    .operand(tangent)
                    .attr("name", name)
                    .build();
            }
        }
    }
    if let Some(end) = end {
        let at = forward.r.body.num_operands(end);
        forward.r.body.insert_operands(end, at, &returned);
    }
    Ok(())
}

/// The names of the inputs of a program.
fn input_names(ctx: &Context, body: &Body, ops: &[OpId]) -> FxHashSet<String> {
    let inputs = ops.iter().map(|&op| body.view(ctx, op));
    inputs
        .filter(|view| matches!(view.name(), pd::Data::NAME | pd::Feed::NAME | pd::Parameter::NAME))
        .filter_map(|view| view.str("name").map(str::to_owned))
        .collect()
}

/// The names under which values are fetched, in order: one value may have several.
fn fetches_of(ctx: &Context, body: &Body) -> FxHashMap<ValueId, VecDeque<String>> {
    let mut names: FxHashMap<ValueId, VecDeque<String>> = FxHashMap::default();
    let blocks = body.region_blocks(body.root()).iter();
    for op in blocks.flat_map(|&block| body.block_ops(block)) {
        let view = body.view(ctx, op);
        if let (Some(name), Some(value), pd::Fetch::NAME | pd::ShadowOutput::NAME) =
            (view.str("name"), view.operand(0), view.name())
        {
            names.entry(value).or_default().push_back(name.to_owned());
        }
    }
    names
}

fn value_name(ctx: &Context, body: &Body, value: ValueId) -> String {
    let name = body.value_name(value);
    name.map_or("output".to_owned(), |n| ctx.name_text(n.name).into())
}

/// An input of the program for a tangent, after the operation whose result it is the tangent of.
fn data_behind(r: &mut Rewriter<'_>, op: OpId, ty: Type, name: &str) -> ValueId {
    let ctx = r.ctx;
    let (shape, elem) = ctx.as_tensor(ty).map_or((&[][..], ty), |(shape, elem)| (shape, elem));
    // A direction is not an input that a later `backward` should ask for by itself.
    r.after(op)
        .op(pd::Data::NAME)
        .attr("name", ctx.str_attr(name))
        .attr("shape", ctx.ints_attr(shape))
        .attr("dtype", ctx.type_attr(elem))
        .attr("stop_gradient", ctx.bool_attr(true))
        .result(ty)
        .value()
}

/// Updates the type of a function to its arguments and results.
fn set_signature(module: &mut Module, path: &[OpId]) {
    let ctx = module.ctx.clone();
    let Some((&op, outer)) = path.split_last() else { return };
    let Some(body) = targets::body_at(module, outer) else {
        return;
    };
    let types: Option<(Vec<Type>, Vec<Type>)> = body.isolated(op).and_then(|inner| {
        let block = inner.single_block(inner.root())?;
        let end = inner.last_op(block)?;
        let args = inner.block_args(block).iter().map(|&v| inner.value_type(v));
        Some((
            args.collect(),
            inner.operands(end).map(|v| inner.value_type(v)).collect(),
        ))
    });
    let Some((args, returned)) = types else { return };
    if let Some(attr) = body.attr(&ctx, op, "function_type")
        && let Some(ty) = ctx.attr_type(attr)
        && let TypeData::Function { inputs, results } = ctx.type_data(ty)
    {
        // Declared types stay as they are.
        let mut all = inputs.to_vec();
        all.extend(args.get(inputs.len()..).unwrap_or_default());
        let mut returns = results.to_vec();
        returns.extend(returned.get(results.len()..).unwrap_or_default());
        pir_dialects::func::set_type(&ctx, body, op, &all, &returns);
    }
}

/// The pass `jvp`.
pub struct Jvp;

impl Pass for Jvp {
    fn name(&self) -> &'static str {
        "jvp"
    }

    fn summary(&self) -> &'static str {
        "Differentiate in forward mode, through loops and branches"
    }

    fn description(&self) -> &'static str {
        "Computes tangents (directional derivatives) along with the values. For each input `NAME`, an input \
         `NAME_tangent` gives the direction; the tangent of each output is fetched as `NAME_tangent`. In a function, \
         tangents are additional arguments after the others, and additional results after the others. Loops and \
         branches carry tangents; nothing is recorded. By default, all float outputs and inputs are differentiated, as \
         in `backward`. `jvp,backward{of=loss_tangent}` computes Hessian-vector products."
    }

    fn options(&self) -> &'static [OptionSpec] {
        ENDS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        jvp(module, &asked_for(cx.options)).map(|()| Changed::Yes)
    }
}
