//! Reverse-mode differentiation of structured control flow.
//!
//! `backward` is a pipeline of three steps; each is a separate pass, so that the IR can be inspected between them:
//!
//! 1. [`stack_locals`]: every loop and branch that the derivative passes through records its locals on a stack;
//! 2. [`build_backward`]: the adjoint program is appended; duals of loops and branches pop what was pushed, in reverse;
//! 3. [`prune_stacks`]: values that the derivative does not read, or can obtain without a record, are not recorded.
//!
//! The scheme is that of PaddlePaddle's control-flow design (one stack for each operation, duals at the same depth),
//! with the adjoint of a loop built as its exact dual; see `docs/autodiff.md`.

mod activity;
mod activity_cache;
mod adjoint;
mod batch;
mod buffer_calls;
mod calls;
mod choices;
mod control_ops;
mod cotangent;
mod custom;
mod dense;
mod differentiable;
mod elements;
mod functions;
mod idioms;
mod invariants;
mod jvp;
mod loop_carried_reuse;
mod loop_editing;
mod lower;
mod memory;
mod mlir;
mod naming;
mod passes;
mod prune;
mod remat;
mod rules;
mod shapes;
mod signature;
mod sink_stacks;
mod split;
mod stack_locals;
mod stacks;
mod strip;
mod tapes;
mod targets;
mod unbatch;
mod views;

use std::sync::Arc;

use pir_dialects::mlir::index_constant;
use pir_dialects::pd;
use pir_ir::{
    Arith, Body, Context, Dependence, Diagnostic, Effect, EffectKind, EffectTarget, Module, OpId, OpView, Rewriter,
    Semantics, TypeData, ValueId, expand_composites_in,
};
use rustc_hash::{FxHashMap, FxHashSet};

pub use batch::{BatchWeightGrads, batch_weight_grads};
pub(crate) use functions::is_mlir;
pub use jvp::{Jvp, jvp};
pub use lower::{LowerOptions, LowerStacks, Overflow, StacksToMemref, lower_stacks};
pub(crate) use lower::{OVERFLOW, TOTAL};
pub(crate) use passes::OPTIONS;
pub use passes::{Backward, BuildBackward, Decompose, PruneStacks, StackLocals};
pub use remat::{Recompute, Remat, RematOptions, rematerialize};
pub use rules::{Apply, Differentiated, RuleCx, Rules};
pub use sink_stacks::SinkStacks;
pub(crate) use split::SPLIT;
pub use split::SplitVjp;
pub use strip::{StripBackward, StripBy, strip_backward};
pub(crate) use tapes::{Recorded, recorded};
pub use targets::BackwardOptions;
pub use unbatch::{UnbatchWeightGrads, unbatch_weight_grads};

use crate::analysis::{Variables, has_unknown_effects};

use crate::bodies::{atomically, inner_bodies_mut};
use crate::inline::call_composites;
use activity::Activity;
use activity_cache::ActivityCache;
use adjoint::Adjoint;
use cotangent::{Frame, conjugated, zeros_like};
use custom::CustomCalls;
pub(crate) use rules::RuleTable;
use stacks::Mode;
use targets::{Seed, Targets, Unit, UnitKind};

/// Step 1: records the locals of every loop and branch that the derivative passes through. Gives notes on functions that are not
/// differentiated, since they only have buffers that no derivative passes through.
///
/// # Errors
/// When outputs or inputs cannot be found, or an operation on the way has no derivative.
pub fn stack_locals(module: &mut Module, options: &BackwardOptions) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    atomically(module, |module| {
        call_composites(module)?;
        mlir::copy_functions(module);
        buffer_calls::inline(module);
        idioms::recognize(module);
        calls::recompute(module)?;
        calls::copy_called(module);
        mlir::expand_generated(module)?;
        let mut skipped = Vec::new();
        differentiate(
            module,
            options,
            Mode::Reverse,
            Some(&mut skipped),
            &mut |ctx, body, _, targets, activity, _| {
                let changes = stack_locals::run(ctx, body, &activity);
                ActivityCache::store(ctx, body, options, targets, activity, &changes);
                Ok(())
            },
        )?;
        Ok(mlir::erase_copies(module, skipped))
    })
}

/// Step 2: appends the adjoint program.
///
/// # Errors
/// When outputs or inputs cannot be found, an operation on the way has no derivative, or a loop was not recorded.
pub fn build_backward(module: &mut Module, options: &BackwardOptions) -> Result<(), Vec<Diagnostic>> {
    let units = for_each_unit(
        module,
        options,
        Mode::Reverse,
        |ctx, body, unit, targets, activity, rules| {
            append_adjoint(ctx, body, unit, targets, activity, rules).map_err(|d| vec![*d])
        },
    );
    units?;
    signature::extend(module);
    calls::finish(module);
    Ok(())
}

/// Step 3: removes what is recorded for nothing.
pub fn prune_stacks(module: &mut Module) {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        // A recorded value might be another by the time that it is computed again.
        if body.analysis::<Variables>(&ctx).is_empty() {
            prune::run(&ctx, body);
        }
        calls::forget_unread(&ctx, body);
        pending.extend(inner_bodies_mut(&ctx, body));
    }
}

/// Replaces gradient operations with primitive ones. Operations without an expansion, or without one for their shapes, stay.
/// Whether something changed.
pub fn decompose(module: &mut Module) -> bool {
    decompose_unless(module, &|_| false).0
}

/// The same without the operations that `keep` wants. Also returns operations without an expansion, with the reason.
pub fn decompose_unless(module: &mut Module, keep: &dyn Fn(OpView<'_>) -> bool) -> (bool, Vec<Diagnostic>) {
    let ctx = module.ctx.clone();
    let rules = RuleTable::new(&ctx);
    let (mut changed, mut errors) = (false, Vec::new());
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        let mut r = Rewriter::new(&ctx, body);
        for op in r.body.walk_all().collect::<Vec<_>>() {
            let Some(made_of) = rules.gradient(r.body, op) else {
                continue;
            };
            if keep(r.view(op)) {
                continue;
            }
            let span = r.body.op_span(op);
            r.before(op).set_span(span);
            let first = r.body.num_op_slots();
            match rules::expand(&mut r, &rules, op, made_of) {
                Ok(values) => {
                    for (old, new) in r.body.results(op).zip(values) {
                        r.take_name(old, new);
                        r.replace_value(old, new);
                    }
                    r.erase_op(op);
                    changed = true;
                }
                Err(why) => {
                    let message = format!(
                        "`{}` cannot be expanded into other operations: {why}",
                        r.view(op).name()
                    );
                    errors.push(Diagnostic::error("expansion", message).label(span, "this operation"));
                    r.erase_from(first);
                }
            }
        }
        pending.extend(inner_bodies_mut(&ctx, body));
    }
    (changed, errors)
}

/// Emits the expansion of an operation at the insertion point, and returns the replacements of its results; `None` if
/// it is unknown.
pub(crate) fn expansion(
    r: &mut Rewriter<'_>,
    rules: &RuleTable,
    op: OpId,
) -> Option<Result<smallvec::SmallVec<[ValueId; 2]>, String>> {
    let made_of = rules.expansion(r.body, op)?;
    Some(rules::expand(r, rules, op, made_of))
}

type UnitFn<'f> =
    dyn FnMut(&Context, &mut Body, &Unit, &Targets, Arc<Activity>, &RuleTable) -> Result<(), Vec<Diagnostic>> + 'f;

/// Runs `f` on each unit of differentiation. After an error, of whichever unit, the module is as it was.
fn for_each_unit(
    module: &mut Module,
    options: &BackwardOptions,
    mode: Mode,
    mut f: impl FnMut(&Context, &mut Body, &Unit, &Targets, &Activity, &RuleTable) -> Result<(), Vec<Diagnostic>>,
) -> Result<(), Vec<Diagnostic>> {
    atomically(module, |module| {
        differentiate(
            module,
            options,
            mode,
            None,
            &mut |ctx, body, unit, targets, activity, rules| f(ctx, body, unit, targets, &activity, rules),
        )
    })
}

/// `skipped` gets the copies of functions that there is nothing to differentiate in but buffers, if that cannot be done; without it, and if
/// there is nothing else, they are errors.
fn differentiate(
    module: &mut Module,
    options: &BackwardOptions,
    mode: Mode,
    skipped: Option<&mut Vec<mlir::Skipped>>,
    f: &mut UnitFn<'_>,
) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    unbatch_weight_grads(module);
    let mut rules = match options.twins {
        true => RuleTable::for_paddle(&ctx),
        false => RuleTable::new(&ctx),
    };
    rules.rank = options.rank;
    rules.from_operands = options.from_operands;
    let mut resolved = Vec::new();
    let mut errors = Vec::new();
    for unit in targets::units(module) {
        let Some(body) = targets::body_at(module, &unit.path) else {
            continue;
        };
        let is_checked = mode == Mode::Reverse && ActivityCache::is_valid(body);
        // A rule emits what computes an operation once more; loops and branches have to record instead, and effects must not be
        // repeated.
        if !is_checked {
            expand_composites_in(&ctx, body, &|op| {
                let repeatable =
                    |semantics: &dyn Semantics| !semantics.has_regions(op) && semantics.is_pure(op) == Some(true);
                op.semantics()
                    .is_some_and(|semantics| semantics.has_vjp() || repeatable(semantics))
            })?;
            if let Some(error) = changes_in_place(&ctx, body) {
                return Err(vec![error]);
            }
        }
        let of_adjoint = BackwardOptions {
            seed: vec!["args".to_owned()],
            ..BackwardOptions::default()
        };
        let options = if unit.is_adjoint { &of_adjoint } else { options };
        match targets::resolve(&ctx, body, &unit, options) {
            // Calls rely on it.
            Err(e) if unit.is_adjoint => return Err(e),
            Ok(targets)
                if (targets.outputs.is_empty() || targets.inputs.is_empty())
                    && memory::buffer_arguments(&ctx, body).is_empty() => {}
            Ok(targets) => resolved.push((unit, targets)),
            Err(e) => errors.extend(e),
        }
    }
    // Names given as options belong to one unit; their absence in others is not an error.
    if resolved.is_empty() {
        if errors.is_empty() {
            errors.push(
                Diagnostic::error("nothing-to-differentiate", "there is nothing to differentiate")
                    .note(
                        "a program needs a fetched float tensor, and a float `pd.data` or `pd.parameter` without \
                           `stop_gradient = true`",
                    )
                    .note(
                        "a function must be public, have a float argument and a float result, and have no callers \
                           in the module",
                    )
                    .note("a function with `custom_vjp` is only differentiated where it is called")
                    .help("select outputs and inputs with `of=` and `wrt=`"),
            );
        }
        return Err(errors);
    }
    // Most programs have none, and need not be searched for them once for each function.
    let has_custom = custom::derivatives(module).is_some();
    let mut custom_calls = CustomCalls::new(module);
    let mut checked = Vec::new();
    for (unit, targets) in &resolved {
        let body = unit.path.iter().try_fold(&module.body, |body, &op| body.isolated(op));
        let Some(body) = body else {
            continue;
        };
        rules.set_calls(match has_custom {
            true => custom_calls.of(&unit.path, body),
            false => FxHashMap::default(),
        });
        let (inputs, outputs) = (targets.input_values(), targets.output_values());
        if mode == Mode::Reverse
            && let Some(activity) = ActivityCache::get(&ctx, body, &rules, options, [&inputs, &outputs])
        {
            checked.push((unit, targets, activity, rules.take_calls(), Vec::new()));
            continue;
        }
        let activity = Arc::new(Activity::new(&ctx, body, &rules, &inputs, &outputs));
        let mut errors = adjoint::check_rules(&ctx, body, &rules, &activity, mode);
        if errors.is_empty() {
            errors.extend(passes_through_buffers(&ctx, body, &activity, &rules, mode));
            errors.extend(may_change_in_place(&ctx, body, &activity));
            errors.extend(sends_away(&ctx, body, &activity));
        }
        checked.push((unit, targets, activity, rules.take_calls(), errors));
    }
    if let Some(skipped) = skipped
        && checked.iter().any(|(.., errors)| errors.is_empty())
    {
        checked.retain_mut(|(unit, targets, .., errors)| {
            let has_numbers = !targets.outputs.is_empty() && !targets.inputs.is_empty();
            let skip = !errors.is_empty() && !has_numbers && mlir::is_copy(module, &unit.path);
            if skip {
                skipped.push((unit.path.clone(), std::mem::take(errors)));
            }
            !skip
        });
    }
    let errors: Vec<Diagnostic> = checked
        .iter_mut()
        .flat_map(|unit| std::mem::take(&mut unit.4))
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    for (unit, targets, activity, calls, _) in checked {
        rules.set_calls(calls);
        if let Some(body) = targets::body_at(module, &unit.path) {
            f(&ctx, body, unit, targets, activity, &rules)?;
        }
    }
    Ok(())
}

/// Derivatives are of values: passes that change values in place come after differentiation.
fn changes_in_place(ctx: &Context, body: &Body) -> Option<Diagnostic> {
    let changed = |op: OpId| {
        let view = body.view(ctx, op);
        if view.has_no_effects() {
            return false;
        }
        let values = view.own_effects().into_iter().filter_map(|effect| match effect.target {
            EffectTarget::Operand(at) if effect.kind == EffectKind::Write => view.operand(at),
            _ => None,
        });
        let known = !view.has_unknown_effects();
        known && values.into_iter().any(|v| !ctx.is_of_dialect(body.value_type(v)))
    };
    let op = body.walk_all().find(|&op| changed(op))?;
    Some(
        Diagnostic::error(
            "in-place",
            "a program that changes values in place cannot be differentiated",
        )
        .label(body.op_span(op), "this changes its first operand")
        .help("differentiate first, and run `inplace-accumulate` at the end of the pipeline"),
    )
}

/// The derivative reads again, later, the values that the outputs depend on. So an operation with unknown effects must
/// not be able to change them in place, nor make them depend on the inputs.
fn may_change_in_place(ctx: &Context, body: &Body, activity: &Activity) -> Option<Diagnostic> {
    if !has_unknown_effects(ctx, body) {
        return None;
    }
    let variables = body.analysis::<Variables>(ctx);
    let reader = body.walk_all().find(|&op| {
        let needed = activity.passes_through(body, op) || body.results(op).any(|v| activity.is_useful(v));
        needed && variables.concern(body, op)
    })?;
    let unknown = body.walk_all().find(|&op| {
        // An adjoint knows what the call does to buffers.
        let is_known = !memory::given_to_adjoint(ctx, body, op).is_empty();
        !is_known && body.view(ctx, op).has_unknown_effects() && variables.concern(body, op)
    })?;
    let name = body.view(ctx, unknown).name();
    Some(
        Diagnostic::error(
            "in-place",
            format!("`{name}` may change values on which the derivative depends: its effects are unknown"),
        )
        .label(body.op_span(unknown), "this may change its operands and their aliases")
        .label(body.op_span(reader), "this depends on such a value")
        .help("differentiate only values that do not depend on operands of this operation"),
    )
}

/// Cotangents do not pass through buffers: values that depend on an input must not be stored in one.
fn passes_through_buffers(
    ctx: &Context,
    body: &Body,
    activity: &Activity,
    rules: &RuleTable,
    mode: Mode,
) -> Option<Diagnostic> {
    let puts = |&op: &OpId| {
        let writes = |effect: &Effect| effect.kind == EffectKind::Write && effect.target == EffectTarget::Memory;
        let view = body.view(ctx, op);
        // A call with a derivative only computes.
        !view.has_no_effects()
            && view.own_effects().iter().any(writes)
            && rules.custom(op).is_none()
            && !(mode == Mode::Reverse && activity.memory.is_known(ctx, body, op))
            && body
                .operands(op)
                .any(|v| activity.is_varied(v) && ctx.is_continuous(body.value_type(v)))
    };
    let is_buffer = |v: ValueId| matches!(ctx.type_data(body.value_type(v)), TypeData::MemRef { .. });
    let has_buffers = || {
        let entry = body.entry_block(body.root());
        let args = entry
            .into_iter()
            .flat_map(|block| body.block_args(block).iter().copied());
        args.chain(body.walk_all().flat_map(|op| body.results(op)))
            .any(is_buffer)
    };
    let op = body.walk_all().find(puts).filter(|_| has_buffers())?;
    let name = body.view(ctx, op).name();
    Some(
        Diagnostic::error(
            "no-derivative",
            format!("`{name}` writes a value that depends on an input to a buffer, through which no derivative passes"),
        )
        .label(body.op_span(op), "this may change a buffer")
        .help("carry the value through loops and branches, or store it in a tensor"),
    )
}

/// The value that another process receives is unknown here, as is its cotangent there.
fn sends_away(ctx: &Context, body: &Body, activity: &Activity) -> Option<Diagnostic> {
    let sends = |&op: &OpId| {
        let view = body.view(ctx, op);
        let is_sent = |at: usize, v: ValueId| activity.is_varied(v) && view.dependence(at) != Dependence::Constant;
        body.num_results(op) == 0
            && pd::is_foreign(view.name())
            && body.operands(op).enumerate().any(|(at, v)| is_sent(at, v))
    };
    let op = body.walk_all().find(sends)?;
    let name = body.view(ctx, op).name();
    Some(
        Diagnostic::error(
            "no-derivative",
            format!("`{name}` sends what depends on an input to another process, from which no cotangent comes back"),
        )
        .label(body.op_span(op), "this has no derivative")
        .help("detach what is sent, or use a collective, such as `pd.all_gather`"),
    )
}

fn append_adjoint(
    ctx: &Context,
    body: &mut Body,
    unit: &Unit,
    targets: &Targets,
    activity: &Activity,
    rules: &RuleTable,
) -> Result<(), Box<Diagnostic>> {
    let block = targets::unit_block(body)?;
    let ops = body.block_ops_vec(block);
    // Most operations have an adjoint of two or three.
    body.reserve_ops(3 * body.num_op_slots());
    let mut r = Rewriter::new(ctx, body);
    let end = ops.last().copied().filter(|_| unit.kind == UnitKind::Function);
    match end {
        Some(end) => r.before(end),
        None => r.at_end(block),
    };
    let failed = |why: String| Box::new(Diagnostic::error("no-derivative", why));
    let mark = r.created_mark();
    let mut frame = Frame::default();
    let last = ops.len().checked_sub(1 + usize::from(end.is_some())).map(|at| ops[at]);
    for (at, output) in targets.outputs.iter().enumerate() {
        let given = match output.seed {
            Seed::Number(_) => None,
            // A program has PaddlePaddle's convention.
            Seed::Value(value) if unit.kind == UnitKind::Program => Some(conjugated(&mut r, value)),
            Seed::Value(value) => Some(value),
            Seed::Argument => Some(signature::add_cotangent(&mut r, block, output.value, at)),
        };
        let seed = match (given, output.seed) {
            (Some(value), _) if at > 0 => value,
            // There has to be an operation of our own that states where the adjoint program begins.
            (Some(value), _) => r.compute(Arith::Copy, &[value]).map_err(failed)?,
            (None, Seed::Number(number)) => r.filled_like(output.value, number).map_err(failed)?,
            (None, _) => continue,
        };
        if given != Some(seed) {
            r.name_like(seed, output.value, "_grad");
        }
        frame.add(&mut r, output.value, seed).map_err(failed)?;
    }
    if unit.is_adjoint && targets.outputs.is_empty() {
        // It has only buffers, and no cotangent that determines where the adjoint begins.
        index_constant(&mut r, 0);
    }
    let differentiated = if end.is_some() { &ops[..ops.len() - 1] } else { &ops[..] };
    let inputs: FxHashSet<ValueId> = targets.inputs.iter().map(|i| i.0).collect();
    let buffers = memory::buffer_arguments(ctx, r.body);
    let shadows: Vec<(ValueId, ValueId)> = match unit.kind {
        UnitKind::Function => buffers
            .into_iter()
            .map(|v| (v, signature::add_shadow(&mut r, block, v)))
            .collect(),
        UnitKind::Program => Vec::new(),
    };
    let mut adjoint = Adjoint::new(&mut r, rules, activity, &inputs);
    shadows
        .into_iter()
        .for_each(|(buffer, shadow)| adjoint.shadows.insert(buffer, shadow));
    adjoint.block(block, differentiated, &mut frame)?;
    let mut grads = Vec::new();
    let mut fetched = targets::fetched_names(ctx, r.body);
    for (input, name) in &targets.inputs {
        let grad = match frame.get(*input) {
            Some(grad) => grad,
            None => zeros_like(&mut r, *input).map_err(failed)?,
        };
        match end {
            Some(_) => grads.push(grad),
            None => {
                // A program that was differentiated before has gradients already: of order 2, `x_grad_2`.
                let base = format!("{name}_grad");
                let numbered = (2..).map(|order| format!("{base}_{order}"));
                let name = std::iter::once(base.clone())
                    .chain(numbered)
                    .find(|n| !fetched.contains(n));
                let name = name.unwrap_or(base);
                fetched.insert(name.clone());
                let name = ctx.str_attr(&name);
                let grad = conjugated(&mut r, grad);
                r.op(pd::Fetch::NAME).operand(grad).attr("name", name).build();
            }
        }
    }
    if let Some(end) = end {
        let at = r.body.num_operands(end);
        r.body.insert_operands(end, at, &grads);
    }
    sweep(&mut r, mark);
    strip::mark(ctx, body, block, last, targets.inputs.len());
    Ok(())
}

/// Removes operations created since `mark` that turned out to be of no use: a rule does not know what becomes of what it
/// emits. The first one states where the adjoint program begins, and stays.
fn sweep(r: &mut Rewriter<'_>, mark: usize) {
    let created = r.created_since(mark).to_vec();
    for &op in created.iter().skip(1).rev() {
        let unused = r.body.is_alive(op)
            && r.body.num_results(op) > 0
            && r.body.op_regions(op).is_empty()
            && !r.body.results(op).any(|v| r.body.has_uses(v));
        if unused && r.body.view(r.ctx, op).own_effects().is_empty() {
            r.erase_op(op);
        }
    }
}
