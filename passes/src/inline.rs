//! `inline`: replaces a call with the body of the function.
//!
//! # Algorithm
//! The functions are ordered so that those that are called come before those that call them; calls in what is inlined
//! have been inlined before. A function of one block is copied to before the call. One of several blocks splits the
//! block that the call is in: what is after the call becomes a block of its own, to which every return goes.
//!
//! # Conditions
//! * Functions with a derivative of their own (`custom_vjp`) are not inlined, so that `backward` finds the calls, and neither are calls
//!   with one (`pir.vjp`, `pir.stop_gradient`); unless the option `custom-vjp` states that nothing will be differentiated.
//! * Functions that call themselves, directly or through others, are not inlined, but calls in them are.
//! * A function of several blocks is only inlined into a body of blocks: not at top level and not inside of an `if` or a
//!   loop, which have one block. `lift-cfg` makes one block of many functions.
//! * Functions and calls with `no_inline` stay, as in MLIR and LLVM, and so do functions of more than `max-size` operations;
//!   unless the option `always` states that all have to go.
//! * A program grows by no more than `max-growth` operations, [`growth`] by default: functions that call others twice, which
//!   call others twice, would otherwise become as large as they may, each of them.
//! * A note determines which calls are left because of these limits.
//! * Functions stay when no call is left; `symbol-dce` removes those that are private.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use pir_dialects::func;
use pir_dialects::marks::{STOPPED, VJP};
use pir_dialects::stablehlo::ops::Composite;
use pir_ir::{
    BlockId, Body, Context, Diagnostic, InsertPoint, Module, OpId, OpView, Restated, Rewriter, Severity, Span, Sym,
    Traits, Type, ValueId, ValueMap, expand_composites, has_composites,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bodies::atomically;
use crate::cfg::{branch_to, sort_blocks};
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// The pass `inline`.
pub struct Inline;

impl Pass for Inline {
    fn name(&self) -> &'static str {
        "inline"
    }

    fn summary(&self) -> &'static str {
        "Replace calls with the bodies of their functions"
    }

    fn description(&self) -> &'static str {
        "Replaces each `func.call` with a copy of the function, innermost calls first. Recursive functions are not \
         inlined, and functions of several blocks are inlined only into functions of blocks. Calls of functions with \
         `custom_vjp`, and calls with the marks `pir.vjp` and `pir.stop_gradient`, stay for `backward`, unless \
         `custom-vjp = true` states that they need no further differentiation. Functions and calls with the attribute \
         `no_inline` stay, and so do calls that exceed the limits; a note reports how many. The functions themselves \
         stay; `symbol-dce` removes the private ones."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[
            OptionSpec {
                name: "max-size",
                kind: OptionKind::Int(0, i64::MAX),
                default: Some("10000"),
                help: "the maximum size of a function to inline, in operations",
            },
            OptionSpec {
                name: "max-growth",
                kind: OptionKind::Int(0, i64::MAX),
                default: None,
                help: "the maximum number of operations to add in total; default: eight times the size of the program plus 100000",
            },
            OptionSpec {
                name: "always",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "ignore `max-size` and `no_inline`; `max-growth` still holds",
            },
            OptionSpec {
                name: "custom-vjp",
                kind: OptionKind::Bool,
                default: Some("false"),
                help: "also inline functions with `custom_vjp` and marked calls; `backward` then differentiates their bodies",
            },
        ];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let number = |name| Some(usize::try_from(cx.options.int(name)?).unwrap_or(usize::MAX));
        let which = Which {
            custom_vjp: cx.options.flag("custom-vjp"),
            no_inline: cx.options.flag("always"),
        };
        let called = call_composites(module)?;
        let max_size = number("max-size").filter(|_| !which.no_inline).unwrap_or(usize::MAX);
        let (inlined, limits) = inline(module, max_size, number("max-growth"), which);
        let limited = [(limits.too_large, "max-size"), (limits.too_many, "max-growth")];
        limited.into_iter().for_each(|(left, option)| left.report(cx, option));
        cx.count("inlined", inlined);
        Ok((called || inlined > 0).into())
    }
}

/// Composites of StableHLO become calls of the functions that compute them. Whether there were any.
pub(crate) fn call_composites(module: &mut Module) -> Result<bool, Vec<Diagnostic>> {
    let keep = |op: OpView<'_>| op.name() != Composite::NAME;
    if !has_composites(module, &keep) {
        return Ok(false);
    }
    atomically(module, |module| expand_composites(module, &keep))
}

/// Which functions and calls may be inlined besides ordinary ones.
#[derive(Clone, Copy)]
struct Which {
    /// Calls with a derivative of their own.
    custom_vjp: bool,
    /// Calls with `no_inline`.
    no_inline: bool,
}

/// The functions of a module; by name those whose calls may go.
struct Functions {
    ops: Vec<OpId>,
    by_name: FxHashMap<Sym, usize>,
    recursive: Vec<bool>,
    which: Which,
}

/// The functions that call themselves, directly or by way of others.
pub(crate) fn recursive_functions(module: &Module) -> Vec<OpId> {
    let all = Which {
        custom_vjp: true,
        no_inline: true,
    };
    let mut functions = Functions::of(module, all);
    functions.order(&module.ctx, &module.body);
    let all = functions.ops.iter().zip(&functions.recursive);
    all.filter_map(|(&op, &recursive)| recursive.then_some(op)).collect()
}

/// Gives how many calls were inlined, and what is left.
fn inline(module: &mut Module, max_size: usize, max_growth: Option<usize>, which: Which) -> (usize, Limits) {
    let ctx = module.ctx.clone();
    let mut functions = Functions::of(module, which);
    let order = functions.order(&ctx, &module.body);
    let bodies = functions.ops.iter().filter_map(|&op| module.body.isolated(op));
    let size: usize = bodies.chain([&module.body]).map(Body::num_ops).sum();
    let mut limits = Limits {
        max_size,
        room: max_growth.unwrap_or_else(|| growth(size)),
        too_large: Left::default(),
        too_many: Left::default(),
    };
    let mut inlined = 0;
    for caller in order.into_iter().map(Some).chain([None]) {
        inlined += inline_into(&ctx, module, &functions, caller, &mut limits);
    }
    (inlined, limits)
}

/// Inlines all calls but those with derivatives of their own, whatever the size of the functions.
pub(crate) fn inline_all(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    call_composites(module)?;
    let which = Which {
        custom_vjp: false,
        no_inline: true,
    };
    inline(module, usize::MAX, None, which);
    Ok(())
}

/// The number of operations that a program of this size may gain.
pub(crate) fn growth(size: usize) -> usize {
    size.saturating_mul(8).saturating_add(100_000)
}

/// How much may be inlined.
struct Limits {
    /// In one place.
    max_size: usize,
    /// In all, from now on.
    room: usize,
    /// Calls of functions that are larger than `max_size`.
    too_large: Left,
    /// Calls for which there was no room.
    too_many: Left,
}

impl Limits {
    /// Whether a function of this size may be inlined at a call.
    fn allow(&mut self, size: usize, call: Span) -> bool {
        let left = match () {
            () if size > self.max_size => &mut self.too_large,
            () if size > self.room => &mut self.too_many,
            () => return true,
        };
        left.count += 1;
        left.first.get_or_insert(call);
        false
    }
}

/// Calls that a limit left.
#[derive(Default)]
struct Left {
    count: usize,
    first: Option<Span>,
}

impl Left {
    fn report(self, cx: &PassContext<'_>, option: &str) {
        let Some(first) = self.first else { return };
        let calls = match self.count {
            1 => "1 call is".to_owned(),
            count => format!("{count} calls are"),
        };
        let message = format!("{calls} not inlined because of the limit `{option}`");
        let mut note = Diagnostic::warning("inline-limit", message).label(first, "the first of them");
        note.severity = Severity::Note;
        cx.report(note.help(format!("`inline{{{option}=N}}` raises the limit")));
    }
}

impl Functions {
    fn of(module: &Module, which: Which) -> Self {
        let mut functions = Functions {
            ops: Vec::new(),
            by_name: FxHashMap::default(),
            recursive: Vec::new(),
            which,
        };
        for op in module.body.block_ops(module.top()) {
            let view = module.body.view(&module.ctx, op);
            if let (true, Some(name)) = (view.has(Traits::FUNCTION), view.str("sym_name")) {
                let derived = which.custom_vjp || func::custom_vjp(view).is_none();
                if derived && (which.no_inline || view.attr("no_inline").is_none()) {
                    functions.by_name.insert(module.ctx.sym(name), functions.ops.len());
                }
                functions.ops.push(op);
            }
        }
        functions
    }

    /// An order in which those that are called come first; notes which are recursive.
    fn order(&mut self, ctx: &Context, top: &Body) -> Vec<usize> {
        let mut graph: DiGraph<usize, ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..self.ops.len()).map(|i| graph.add_node(i)).collect();
        self.recursive = vec![false; self.ops.len()];
        for (caller, &op) in self.ops.iter().enumerate() {
            let Some(body) = top.isolated(op) else { continue };
            for (_, callee) in self.calls(ctx, body) {
                graph.add_edge(nodes[caller], nodes[callee], ());
                self.recursive[caller] |= caller == callee;
            }
        }
        let mut order = Vec::new();
        for component in kosaraju_scc(&graph) {
            for &node in &component {
                self.recursive[graph[node]] |= component.len() > 1;
                order.push(graph[node]);
            }
        }
        order
    }

    /// The calls of functions in a body, in its order.
    fn calls(&self, ctx: &Context, body: &Body) -> Vec<(OpId, usize)> {
        let Some(call) = ctx.registered_op("func.call") else {
            return Vec::new();
        };
        let callee = |op: OpId| match func::callee(ctx, body, op)? {
            [name] => self.by_name.get(name).copied(),
            _ => None,
        };
        let may_go = |attrs| {
            (self.which.no_inline || ctx.dict_get(attrs, "no_inline").is_none())
                && (self.which.custom_vjp || VJP.get(ctx, attrs).is_none() && STOPPED.get(ctx, attrs).is_none())
        };
        let calls = body
            .walk_all()
            .filter(|&op| body.op_name(op) == call && may_go(body.attrs(op)));
        calls.filter_map(|op| Some((op, callee(op)?))).collect()
    }
}

/// Inlines the calls in one function, or at top level.
fn inline_into(
    ctx: &Context,
    module: &mut Module,
    functions: &Functions,
    caller: Option<usize>,
    limits: &mut Limits,
) -> usize {
    let caller_body = match caller {
        Some(caller) => module.body.isolated(functions.ops[caller]),
        None => Some(&module.body),
    };
    let calls = caller_body.map(|b| functions.calls(ctx, b)).unwrap_or_default();
    let (mut inlined, mut split) = (0, false);
    // The last one first: what is after a call is moved when a block is split, and is then only what is before the next.
    for (call, callee) in calls.into_iter().rev() {
        if functions.recursive[callee] || Some(callee) == caller {
            continue;
        }
        let callee = functions.ops[callee];
        let Some(from) = module.body.take_isolated(callee) else {
            continue;
        };
        let to = match caller {
            Some(caller) => module.body.isolated_mut(functions.ops[caller]),
            None => Some(&mut module.body),
        };
        let size = from.num_ops();
        if let Some(to) = to
            && limits.allow(size, to.op_span(call))
        {
            let done = match from.region_blocks(from.root()) {
                [] => false,
                [_] => inline_block(ctx, to, call, &from),
                _ => {
                    caller.is_some() && {
                        let done = inline_blocks(ctx, to, call, &from);
                        split |= done;
                        done
                    }
                }
            };
            if done {
                inlined += 1;
                limits.room -= size;
            }
        }
        module.body.set_isolated(callee, from);
    }
    if split
        && let Some(caller) = caller
        && let Some(body) = module.body.isolated_mut(functions.ops[caller])
    {
        sort_blocks(body);
    }
    inlined
}

/// The return operation of a block of a function.
fn returned(ctx: &Context, body: &Body, block: BlockId) -> Option<OpId> {
    body.last_op(block)
        .filter(|&op| body.view(ctx, op).has(Traits::RETURN_LIKE))
}

/// A map in which the arguments of a call represent the parameters of the function, at the insertion point.
fn arguments(
    to: &mut Rewriter<'_>,
    restated: &mut Restated,
    arguments: &[ValueId],
    from: &Body,
    entry: BlockId,
) -> Option<ValueMap> {
    let parameters = from.block_args(entry);
    if parameters.len() != arguments.len() {
        return None;
    }
    let mut map = ValueMap::new();
    for (&parameter, &argument) in parameters.iter().zip(arguments) {
        map.insert(parameter, restated.state(to, argument, from.value_type(parameter)));
    }
    Some(map)
}

/// Copies what a function of one block computes to the insertion point; gives what it returns, and how many slots of operations
/// there were before the first copy.
pub(crate) fn copy_block(
    to: &mut Rewriter<'_>,
    restated: &mut Restated,
    args: &[ValueId],
    from: &Body,
) -> Option<(SmallVec<[ValueId; 6]>, usize)> {
    let entry = from.single_block(from.root())?;
    returned(to.ctx, from, entry)?;
    let mut map = arguments(to, restated, args, from, entry)?;
    let first_new = to.body.num_op_slots();
    let places = [(entry, to.point())];
    let made = to.import_blocks(from, &places, FxHashMap::default(), &mut map);
    let mut values = SmallVec::new();
    // The copy of the return.
    if let Some(&end) = made.first().and_then(|ops| ops.last()) {
        values = to.body.operands_vec(end);
        to.erase_op(end);
    }
    Some((values, first_new))
}

/// Inlines a function of one block.
pub(crate) fn inline_block(ctx: &Context, to: &mut Body, call: OpId, from: &Body) -> bool {
    let entry = from.entry_block(from.root());
    let end = entry.and_then(|entry| returned(ctx, from, entry));
    if end.is_none_or(|end| from.num_operands(end) != to.num_results(call)) {
        return false;
    }
    let mut rewriter = Rewriter::new(ctx, to);
    let mut restated = Restated::default();
    rewriter.before(call);
    let args = rewriter.body.operands_vec(call);
    let Some((values, first_new)) = copy_block(&mut rewriter, &mut restated, &args, from) else {
        return false;
    };
    for (result, &value) in rewriter.body.results(call).zip(&values) {
        // The caller's name of a value is more meaningful there than the function's. What was there before keeps its own.
        let new = rewriter
            .body
            .defining_op(value)
            .is_some_and(|op| op.index() >= first_new);
        if new && rewriter.body.value_name(result).is_some() {
            rewriter.take_name(result, value);
        }
    }
    rewriter.replace_op(call, &values);
    restated.finish(&mut rewriter);
    true
}

/// Inlines a function of several blocks into a region that may have several.
fn inline_blocks(ctx: &Context, to: &mut Body, call: OpId, from: &Body) -> bool {
    let blocks = from.region_blocks(from.root());
    let (Some(&entry), Some(block)) = (blocks.first(), to.op_block(call)) else {
        return false;
    };
    let root = to.root();
    let returns_fit = blocks.iter().all(|&b| {
        let end = returned(ctx, from, b);
        end.map_or_else(
            || from.last_op(b).is_some_and(|op| !from.successors(op).is_empty()),
            |op| from.num_operands(op) == to.num_results(call),
        )
    });
    if to.block_region(block) != Some(root) || !returns_fit {
        return false;
    }
    let mut rewriter = Rewriter::new(ctx, to);
    let mut restated = Restated::default();
    rewriter.before(call);
    let args = rewriter.body.operands_vec(call);
    let Some(mut map) = arguments(&mut rewriter, &mut restated, &args, from, entry) else {
        return false;
    };
    let to = rewriter.body;
    // The operations after the call, with an argument for each of its results.
    let rest = to.create_block(root);
    let results: SmallVec<[(ValueId, Type); 4]> = to.results(call).map(|r| (r, to.value_type(r))).collect();
    let types: SmallVec<[Type; 4]> = results.iter().map(|r| r.1).collect();
    let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
    for (result, ty) in results {
        let name = to.value_name(result).filter(|n| !n.pack);
        values.push(to.add_block_arg(rest, ty, name));
    }
    while let Some(op) = to.next_op(call) {
        to.unlink_op(op);
        to.append_op(rest, op);
    }
    let mut targets = FxHashMap::default();
    let mut places = vec![(entry, InsertPoint::End(block))];
    for &old in &blocks[1..] {
        let new = to.create_block(root);
        for &arg in from.block_args(old) {
            let value = to.add_block_arg(new, from.value_type(arg), from.value_name(arg));
            map.insert(arg, value);
        }
        targets.insert(old, new);
        places.push((old, InsertPoint::End(new)));
    }
    let mut rewriter = Rewriter::new(ctx, to);
    rewriter.replace_op(call, &values);
    let made = rewriter.import_blocks(from, &places, targets, &mut map);
    for end in made.iter().filter_map(|ops| ops.last().copied()) {
        if !rewriter.view(end).has(Traits::RETURN_LIKE) {
            continue;
        }
        let mut values = rewriter.body.operands_vec(end);
        rewriter.before(end);
        for (value, &ty) in values.iter_mut().zip(&types) {
            *value = restated.state(&mut rewriter, *value, ty);
        }
        branch_to(rewriter.before(end), rest, &values);
        rewriter.erase_op(end);
    }
    restated.finish(&mut rewriter);
    true
}
