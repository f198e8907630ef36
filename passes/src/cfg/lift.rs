//! `lift-cfg`: from blocks to operations with regions.
//!
//! The blocks of a function are combined along the dominator tree, innermost first. A block first absorbs those that it
//! dominates, in the order of control flow. A block that always follows is appended. One that follows conditionally
//! becomes a branch of an `if`, two alternatives become its two branches. If exits of the branches lead to different
//! blocks, the `if` yields a boolean for the taken exit, and the values that the exits carry; in the branch without the
//! exit, these are arbitrary values, which are not used.
//!
//! A block with back edges from blocks that it dominates is the header of a loop. If only one block is left that leads
//! back to it and nowhere else, the blocks combined so far become the condition of the loop, and this block its body:
//! so `lower-to-cfg` is inverted exactly. Otherwise the whole loop becomes its condition, and the body only forwards
//! the carried values.
//!
//! # Conditions
//! * Each loop has a single entry block: the graph is reducible. Otherwise the error names the blocks.
//! * The blocks end in `pd.branch`, `pd.condition_branch` or a return, and a return is always reachable. Branches of MLIR's `cf` become
//!   those first.
//! * An arbitrary value of a required type must exist: the type has no dynamic dimensions, unless an argument of the
//!   function has the same type.

use pir_dialects::pd;
use pir_ir::{
    BlockId, Body, Context, Diagnostic, DominatorTree, Module, OpId, OpSpec, Rewriter, Traits, Type, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::structure::{Exit, Nodes, Side, Stuck, When};
use super::{branch_to, mlir};
use crate::analysis::{Constants, remove_unreachable_blocks, reverse_post_order};
use crate::bodies::{atomically, for_each_body_mut};
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `lift-cfg`.
pub struct LiftCfg;

impl Pass for LiftCfg {
    fn name(&self) -> &'static str {
        "lift-cfg"
    }

    fn summary(&self) -> &'static str {
        "Raise blocks to branches and loops"
    }

    fn description(&self) -> &'static str {
        "Replaces the blocks of functions with `pd.if` and `pd.while`, so that differentiation and the passes on \
         structured control flow apply. The control-flow graph must be reducible: each loop must have a single entry. \
         Otherwise an error names the blocks. In functions of MLIR's dialects, `cf.br`, `cf.cond_br` and `cf.switch` become \
         `scf.if` and `scf.while`. Restores what `lower-to-cfg` lowered, except loop-carried values that were redundant."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        atomically(module, |module| {
            for_each_body_mut(module, |ctx, body| {
                let mlir = body.region_blocks(body.root()).len() > 1 && mlir::is_mlir(ctx, body);
                if mlir {
                    mlir::from_cf(ctx, body);
                }
                let lifted = lift(ctx, body).map_err(|error| vec![error])?;
                if mlir {
                    mlir::to_scf(ctx, body)?;
                }
                Ok(lifted.into())
            })
        })
    }
}

/// Runs the pass on one body.
pub(super) fn lift(ctx: &Context, body: &mut Body) -> Result<bool, Diagnostic> {
    let root = body.root();
    if body.region_blocks(root).len() < 2 {
        return Ok(false);
    }
    remove_unreachable_blocks(body);
    let returns = check(ctx, body)?;
    one_return(ctx, body, &returns);
    let order = reverse_post_order(body, root);
    let constants = Constants::new(ctx, None, false);
    let tree = DominatorTree::new(body, root);
    let number: FxHashMap<BlockId, usize> = order.iter().enumerate().map(|(at, &b)| (b, at)).collect();
    let loops = loop_parents(body, &order, &number);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for (at, &block) in order.iter().enumerate() {
        let Some(&parent) = tree.immediate_dominator(block).and_then(|b| number.get(&b)) else {
            continue;
        };
        children[taker(&loops, parent, at)].push(at);
    }
    let ends: Vec<Option<OpId>> = order.iter().map(|&b| body.last_op(b)).collect();
    let spans: Vec<_> = ends
        .iter()
        .map(|end| end.map(|e| body.op_span(e)).unwrap_or_default())
        .collect();
    let stuck = |at: usize, Stuck(ty): Stuck| {
        let ty = pir_ir::text::print_type(ctx, ty);
        Diagnostic::error(
            "lift-value",
            format!("a value of type `{ty}` is needed on a path that does not compute it"),
        )
        .label(spans[at], "needed for the exits of this block")
        .help("pass the value on all paths, or give it a type with static dimensions")
    };
    let mut nodes = Nodes::new(ctx, body, &constants, order);
    nodes.body.set_region_blocks(root, Vec::new());
    for (at, end) in ends.into_iter().enumerate() {
        let Some(end) = end else { continue };
        nodes.begin(at, end, &number).map_err(|s| stuck(at, s))?;
    }
    // Dominated blocks have higher numbers.
    for at in (0..children.len()).rev() {
        let (looping, others) = std::mem::take(&mut children[at])
            .into_iter()
            .partition(|&c| loops[c] == Some(at));
        let ended = nodes.put_together(at, looping, others).map_err(|s| stuck(at, s))?;
        if !ended {
            return Err(no_way_out(spans[at]));
        }
    }
    let entry = nodes.block(0);
    body.set_region_blocks(root, vec![entry]);
    Ok(true)
}

fn no_way_out(span: pir_ir::Span) -> Diagnostic {
    Diagnostic::error("lift-endless", "a loop has no exit: control never reaches a return")
        .label(span, "in the loop of this block")
        .help("a `pd.while` ends when its condition is false: add a `pd.condition_branch` out of the loop")
}

fn name(ctx: &Context, body: &Body, block: BlockId) -> String {
    match body.block_label(block) {
        Some(label) => format!("^{}", ctx.str(label)),
        None => "the first block".to_owned(),
    }
}

/// The head of the innermost loop around each block, for a head that of the loop around its own. Loops are looked at from
/// the innermost to the outermost, one that is inside of another counting as one block there.
fn loop_parents(body: &Body, order: &[BlockId], number: &FxHashMap<BlockId, usize>) -> Vec<Option<usize>> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for (at, &block) in order.iter().enumerate() {
        let successors = body.last_op(block).map_or(&[][..], |end| body.successors(end));
        for to in successors.iter().filter_map(|s| number.get(&s.block)) {
            before[*to].push(at);
        }
    }
    let mut parents: Vec<Option<usize>> = vec![None; order.len()];
    // The head of the outermost loop that has been found around a block, by shortened ways.
    let mut heads: Vec<usize> = (0..order.len()).collect();
    let head_of = |heads: &mut Vec<usize>, mut at: usize| {
        while heads[at] != at {
            heads[at] = heads[heads[at]];
            at = heads[at];
        }
        at
    };
    for head in (0..order.len()).rev() {
        let mut pending: Vec<usize> = before[head].iter().copied().filter(|&from| from >= head).collect();
        while let Some(from) = pending.pop() {
            let inner = head_of(&mut heads, from);
            if inner != head {
                parents[inner] = Some(head);
                heads[inner] = head;
                pending.extend(&before[inner]);
            }
        }
    }
    parents
}

/// Which block takes another one in: the one that dominates it, or if that is in a loop that the other one is not in, the
/// head of the loop.
fn taker(loops: &[Option<usize>], dominator: usize, at: usize) -> usize {
    let mut taker = dominator;
    if loops[at] != Some(dominator) {
        while let Some(head) = loops[taker].filter(|_| loops[taker] != loops[at]) {
            taker = head;
        }
    }
    taker
}

/// Checks that the blocks of a body can be lifted; gives its returns.
fn check(ctx: &Context, body: &Body) -> Result<Vec<OpId>, Diagnostic> {
    let root = body.root();
    let mut returns = Vec::new();
    let order = reverse_post_order(body, root);
    let number: FxHashMap<BlockId, usize> = order.iter().enumerate().map(|(at, &b)| (b, at)).collect();
    let tree = DominatorTree::new(body, root);
    for (at, &block) in order.iter().enumerate() {
        let Some(end) = body.last_op(block) else { continue };
        let view = body.view(ctx, end);
        if view.has(Traits::RETURN_LIKE) && body.successors(end).is_empty() {
            returns.push(end);
        } else if !matches!(view.name(), pd::Branch::NAME | pd::ConditionBranch::NAME) {
            return Err(Diagnostic::error(
                "lift-terminator",
                format!("`{}` cannot be converted to structured control flow", view.name()),
            )
            .label(body.op_span(end), format!("ends the block {}", name(ctx, body, block)))
            .help("blocks must end in `pd.branch`, `pd.condition_branch`, a branch of MLIR's `cf`, or a return"));
        }
        for successor in body.successors(end) {
            let back = number.get(&successor.block).is_some_and(|&to| to <= at);
            if back && !tree.dominates(successor.block, block) {
                let (from, to) = (name(ctx, body, block), name(ctx, body, successor.block));
                return Err(Diagnostic::error(
                    "irreducible",
                    format!("a loop with the blocks {to} and {from} can be entered at more than one of its blocks"),
                )
                .label(body.op_span(end), format!("back edge from {from} to {to}"))
                .help(format!(
                    "{from} can be reached without passing {to}: make all paths into the loop enter at {to}, with an \
                     argument that selects where to continue, or copy blocks"
                )));
            }
        }
    }
    match returns[..] {
        [] => Err(no_way_out(
            order
                .last()
                .and_then(|&b| body.last_op(b))
                .map(|op| body.op_span(op))
                .unwrap_or_default(),
        )),
        _ => Ok(returns),
    }
}

/// Lets all returns go on to a block with only one.
fn one_return(ctx: &Context, body: &mut Body, returns: &[OpId]) {
    let (&first, 2..) = (
        match returns {
            [first, ..] => first,
            [] => return,
        },
        returns.len(),
    ) else {
        return;
    };
    let root = body.root();
    let end = body.create_block(root);
    let types: Vec<Type> = body.operands(first).map(|v| body.value_type(v)).collect();
    let args: Vec<ValueId> = types.into_iter().map(|ty| body.add_block_arg(end, ty, None)).collect();
    let mut spec = OpSpec::new(body.op_name(first));
    (spec.operands, spec.attrs, spec.span) = (&args, body.attrs(first), body.op_span(first));
    let last = body.create_op(spec);
    body.append_op(end, last);
    for &old in returns {
        let values = body.operands_vec(old);
        let mut rewriter = Rewriter::new(ctx, body);
        branch_to(rewriter.before(old), end, &values);
        rewriter.erase_op(old);
    }
}

impl Nodes<'_> {
    /// Takes the terminator of a block away, and notes where it leads to.
    fn begin(&mut self, node: usize, end: OpId, number: &FxHashMap<BlockId, usize>) -> Result<(), Stuck> {
        let exits: SmallVec<[(usize, SmallVec<[ValueId; 4]>); 2]> = (self.body.successors(end).iter().enumerate())
            .filter_map(|(at, s)| Some((*number.get(&s.block)?, self.body.successor_operands(end, at).collect())))
            .collect();
        let condition = self.body.operands(end).next();
        let block = self.block(node);
        let mut exits = exits.into_iter();
        let (first, second) = (exits.next(), exits.next());
        // A return stays.
        let Some((to, values)) = first else { return Ok(()) };
        let exit = |to, when, values| Exit { to, when, values };
        let (exits, choice) = match (second, condition) {
            (Some((other, others)), Some(c)) if other != to => {
                let exits = vec![exit(to, When::If(c), values), exit(other, When::IfNot(c), others)];
                (exits, None)
            }
            // Two ways to one block: what they take along is chosen before.
            (Some((_, others)), Some(c)) if others != values => {
                let ways = [values, others].map(|values| Side::Pass(vec![exit(to, When::Always, values)]));
                (Vec::new(), Some((c, ways)))
            }
            _ => (vec![exit(to, When::Always, values)], None),
        };
        self.set_exits(block, &exits);
        self.body.erase_op(end);
        match choice {
            Some((condition, ways)) => self.make_if(node, condition, ways),
            None => Ok(()),
        }
    }

    /// Lets a node absorb others, which have absorbed theirs: first those of the loop whose header it is. Returns
    /// whether the loop has an exit.
    fn put_together(&mut self, node: usize, looping: Vec<usize>, others: Vec<usize>) -> Result<bool, Stuck> {
        let heads = !looping.is_empty() || self.exits(self.block(node)).iter().any(|e| e.to == node);
        if heads {
            let mut left: FxHashSet<usize> = looping.into_iter().collect();
            if !self.take_in(node, &mut left, true)? {
                if self.exits(self.block(node)).iter().all(|e| e.to == node) {
                    return Ok(false);
                }
                self.make_while(node, node)?;
            }
        }
        let mut left: FxHashSet<usize> = others.into_iter().collect();
        self.take_in(node, &mut left, false)?;
        Ok(left.is_empty())
    }

    /// Absorbs the remaining nodes. In a loop, stops if the last one is its body, creates the loop and returns true.
    fn take_in(&mut self, node: usize, left: &mut FxHashSet<usize>, is_loop: bool) -> Result<bool, Stuck> {
        loop {
            let exits = self.exits(self.block(node));
            let Some(next) = exits.iter().filter(|e| left.contains(&e.to)).min_by_key(|e| e.to) else {
                return Ok(false);
            };
            let to = next.to;
            let onward = self.exits(self.block(to));
            let is_body = matches!(&onward[..], [only] if only.to == node && only.when == When::Always);
            if is_loop && left.len() == 1 && is_body && exits.len() > 1 && exits.iter().all(|e| e.to != node) {
                left.remove(&to);
                self.make_while(node, to)?;
                return Ok(true);
            }
            left.remove(&to);
            let (condition, holds) = match next.when {
                _ if exits.len() == 1 => {
                    self.append(node, to);
                    continue;
                }
                When::If(value) => (value, true),
                When::IfNot(value) => (value, false),
                When::Always => return Ok(false),
            };
            let taken = Side::Node(to, next.values.clone());
            let rest: Vec<Exit> = exits.iter().filter(|e| e.to != to).cloned().collect();
            // The other one can be taken in as well if nothing else leads to it.
            let other = match &rest[..] {
                [one] if left.contains(&one.to) && onward.iter().all(|e| !left.contains(&e.to) || e.to > one.to) => {
                    left.remove(&one.to);
                    Side::Node(one.to, one.values.clone())
                }
                [one] => Side::Pass(vec![Exit {
                    when: When::Always,
                    ..one.clone()
                }]),
                _ => Side::Pass(rest),
            };
            let sides = if holds { [taken, other] } else { [other, taken] };
            self.make_if(node, condition, sides)?;
        }
    }
}
