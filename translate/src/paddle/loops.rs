//! Converts Paddle's `while` to `pd.while`.
//!
//! Paddle's loop has one region and takes its condition as an operand: the program computes it before the loop, from
//! the initial values, and again at the end of the body, from the next ones. `pd.while` has a region for the condition.
//! If the two computations are equal up to replacing initial with next values, that region is a third copy and the two
//! are dropped. Otherwise the condition is carried through the loop.

use pir_dialects::{cf, pd};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use pir_ir::{
    Body, Context, Diagnostic, EffectKind, InsertPoint, OpId, OpName, OpSpec, RegionId, Rewriter, Traits, Type,
    ValueDef, ValueId, ValueName,
};

use super::constants::remove_unused;
use super::inplace::may_write;

/// Gives every `pd.while` its condition region.
pub(crate) fn rotate(ctx: &Context, body: &mut Body, errors: &mut Vec<Diagnostic>) {
    let unknown = body.walk_all().any(|op| may_write(ctx, body, op));
    // Inner loops first: their bodies may be part of what the outer one copies.
    for op in body.post_order() {
        if !body.is_alive(op) || ctx.op_str(body.op_name(op)) != pd::While::NAME || body.op_regions(op).len() != 1 {
            continue;
        }
        match Loop::of(body, op) {
            Some(source) => source.rotate(ctx, body, unknown),
            None => errors.push(
                Diagnostic::error(
                    "paddle-while",
                    "a `pd.while` whose operands, arguments, results and yielded values do not agree",
                )
                .label(body.op_span(op), "this loop")
                .help("its first operand is the condition, and the body yields the next condition and the next values"),
            ),
        }
    }
}

/// A loop in Paddle's form.
struct Loop {
    op: OpId,
    region: RegionId,
    terminator: OpId,
    /// The condition before the loop, and the initial values.
    condition: ValueId,
    inits: Vec<ValueId>,
    /// The condition at the end of the body, and the next values.
    next_condition: ValueId,
    nexts: Vec<ValueId>,
}

/// A value of the condition before the loop and its counterpart in the body.
type Pair = (ValueId, ValueId);

/// The counterpart of a pair of values in the condition region.
#[derive(Clone, Copy)]
enum Copied {
    /// The carried value of this index.
    Slot(usize),
    /// The same outer value.
    Outer,
    /// A result of a copy of the operations that define the pair.
    Computed(OpId, OpId),
}

/// The computation of a condition.
#[derive(Default)]
struct Computation {
    values: FxHashMap<Pair, Copied>,
    /// The computed pairs in topological order.
    order: Vec<Pair>,
}

impl Loop {
    fn of(body: &Body, op: OpId) -> Option<Loop> {
        let &[region] = body.op_regions(op) else { return None };
        let block = body.single_block(region)?;
        let terminator = body.last_op(block)?;
        let operands = body.operands_vec(op);
        let yielded = body.operands_vec(terminator);
        let (&condition, inits) = operands.split_first()?;
        let (&next_condition, nexts) = yielded.split_first()?;
        let agree = [nexts.len(), body.num_results(op), body.block_args(block).len()] == [inits.len(); 3];
        agree.then(|| Loop {
            op,
            region,
            terminator,
            condition,
            inits: inits.to_vec(),
            next_condition,
            nexts: nexts.to_vec(),
        })
    }

    fn rotate(&self, ctx: &Context, body: &mut Body, unknown: bool) {
        match self.compare(ctx, body, unknown) {
            Some(computation) => self.with_region(ctx, body, &computation),
            None => self.with_flag(ctx, body),
        }
    }

    /// The computation of the condition, if it is the same before the loop and in the body. `unknown`: there are
    /// operations with unknown effects.
    fn compare(&self, ctx: &Context, body: &Body, unknown: bool) -> Option<Computation> {
        let mut slots: FxHashMap<Pair, usize> = FxHashMap::default();
        for (index, (&init, &next)) in self.inits.iter().zip(&self.nexts).enumerate() {
            slots.entry((init, next)).or_insert(index);
        }
        let mut settled = FxHashSet::default();
        reads_before(ctx, body, self.op, &mut settled);
        reads_before(ctx, body, self.terminator, &mut settled);
        let mut found = Computation::default();
        // Depth-first along the operands with an explicit stack, in post-order.
        let mut pending = vec![((self.condition, self.next_condition), false)];
        while let Some((pair, done)) = pending.pop() {
            if done {
                found.order.push(pair);
                continue;
            }
            if found.values.contains_key(&pair) {
                continue;
            }
            let copied = if pair.0 == pair.1 {
                Copied::Outer
            } else if let Some(&slot) = slots.get(&pair) {
                Copied::Slot(slot)
            } else {
                let (a, b) = self.same_op(ctx, body, pair)?;
                let stays = |op: OpId, end: OpId| !unknown || unchanged_until(ctx, body, op, end);
                let repeatable =
                    |op: OpId, end: OpId| settled.contains(&op) || (is_pure(ctx, body, op) && stays(op, end));
                if !repeatable(a, self.op) || !repeatable(b, self.terminator) {
                    return None;
                }
                pending.push((pair, true));
                pending.extend(body.operands(a).zip(body.operands(b)).map(|pair| (pair, false)));
                Copied::Computed(a, b)
            };
            found.values.insert(pair, copied);
        }
        Some(found)
    }

    /// The operations that define the two values, if they are equal up to their operands.
    fn same_op(&self, ctx: &Context, body: &Body, (before, next): Pair) -> Option<(OpId, OpId)> {
        let (ValueDef::Result(a, at), ValueDef::Result(b, bt)) = (body.value_def(before), body.value_def(next)) else {
            return None;
        };
        let same = at == bt
            && body.op_name(a) == body.op_name(b)
            && ctx.dict_sorted(body.attrs(a)) == ctx.dict_sorted(body.attrs(b))
            && body.num_operands(a) == body.num_operands(b)
            && body
                .results(a)
                .map(|r| body.value_type(r))
                .eq(body.results(b).map(|r| body.value_type(r)));
        (same && body.op_regions(a).is_empty() && body.op_regions(b).is_empty()).then_some((a, b))
    }

    /// Builds the condition region from the matched computation.
    fn with_region(&self, ctx: &Context, body: &mut Body, computation: &Computation) {
        let (region, args) = self.condition_region(body, None);
        let mut rewriter = Rewriter::new(ctx, body);
        if let Some(block) = rewriter.body.entry_block(region) {
            rewriter.at_end(block);
        }
        let mut copies: FxHashMap<(OpId, OpId), OpId> = FxHashMap::default();
        let value = |body: &Body, copies: &FxHashMap<(OpId, OpId), OpId>, pair: Pair| {
            let index = match body.value_def(pair.1) {
                ValueDef::Result(_, index) => index as usize,
                _ => 0,
            };
            match computation.values.get(&pair)? {
                Copied::Slot(slot) => args.get(*slot).copied(),
                Copied::Outer => Some(pair.1),
                Copied::Computed(a, b) => body.results(*copies.get(&(*a, *b))?).nth(index),
            }
        };
        let mut names: FxHashSet<OpName> = FxHashSet::default();
        for pair in &computation.order {
            let Some(&Copied::Computed(a, b)) = computation.values.get(pair) else {
                continue;
            };
            if copies.contains_key(&(a, b)) {
                continue;
            }
            let body = &*rewriter.body;
            let operands: SmallVec<[ValueId; 6]> = body
                .operands(a)
                .zip(body.operands(b))
                .filter_map(|pair| value(body, &copies, pair))
                .collect();
            let results: SmallVec<[Type; 2]> = body.results(b).map(|r| body.value_type(r)).collect();
            let name = body.op_name(b);
            let spec = OpSpec {
                operands: &operands,
                results: &results,
                attrs: body.attrs(b),
                span: body.op_span(b),
                ..OpSpec::new(name)
            };
            let copy = rewriter.create(spec);
            copies.insert((a, b), copy);
            names.insert(name);
        }
        let condition = value(rewriter.body, &copies, (self.condition, self.next_condition));
        rewriter.set_span(rewriter.body.op_span(self.op));
        rewriter
            .op(cf::COND_YIELD)
            .operand(condition.unwrap_or(self.condition))
            .operands(args.iter().copied())
            .build();
        self.replace(ctx, body, region, &self.inits, &self.nexts);
        self.drop_originals(ctx, body, &names);
    }

    /// Carries the condition as an additional value.
    fn with_flag(&self, ctx: &Context, body: &mut Body) {
        let ty = body.value_type(self.condition);
        let name = ValueName {
            name: ctx.name("go"),
            pack: false,
        };
        let (region, args) = self.condition_region(body, Some((ty, name)));
        let mut rewriter = Rewriter::new(ctx, body);
        if let Some(block) = rewriter.body.entry_block(region) {
            rewriter.at_end(block);
        }
        rewriter.set_span(rewriter.body.op_span(self.op));
        // The region's first argument is the condition; it forwards the others.
        rewriter.op(cf::COND_YIELD).operands(args).build();
        let inits: Vec<ValueId> = std::iter::once(self.condition)
            .chain(self.inits.iter().copied())
            .collect();
        let nexts: Vec<ValueId> = std::iter::once(self.next_condition)
            .chain(self.nexts.iter().copied())
            .collect();
        self.replace(ctx, body, region, &inits, &nexts);
    }

    /// A region with one block that has an argument for each carried value, after a flag if there is one.
    fn condition_region(&self, body: &mut Body, flag: Option<(Type, ValueName)>) -> (RegionId, Vec<ValueId>) {
        let region = body.create_region();
        let block = body.create_block(region);
        let flag = flag.map(|(ty, name)| body.add_block_arg(block, ty, Some(name)));
        let mut args: Vec<ValueId> = flag.into_iter().collect();
        let carried = body
            .entry_block(self.region)
            .map_or(Vec::new(), |b| body.block_args(b).to_vec());
        for arg in carried {
            let (ty, name) = (body.value_type(arg), body.value_name(arg));
            args.push(body.add_block_arg(block, ty, name));
        }
        (region, args)
    }

    /// Replaces Paddle's loop.
    fn replace(&self, ctx: &Context, body: &mut Body, condition: RegionId, inits: &[ValueId], nexts: &[ValueId]) {
        let results: SmallVec<[Type; 4]> = body.results(self.op).map(|r| body.value_type(r)).collect();
        body.set_operands(self.terminator, nexts);
        let mut rewriter = Rewriter::new(ctx, body);
        let new = rewriter.recreate(self.op, inits, &results);
        rewriter.body.insert_region(new, 0, condition);
        let values: Vec<ValueId> = rewriter.body.results(new).collect();
        rewriter.set_point(InsertPoint::Detached);
        rewriter.replace_op(self.op, &values);
    }

    /// Removes the computations of the condition before the loop and in its body, if nothing else uses them: operations
    /// of the names that were copied.
    fn drop_originals(&self, ctx: &Context, body: &mut Body, names: &FxHashSet<OpName>) {
        let removable = |body: &Body, op: OpId| {
            names.contains(&body.op_name(op)) && (is_pure(ctx, body, op) || is_read(ctx, body, op))
        };
        let pending = [self.condition, self.next_condition]
            .into_iter()
            .filter_map(|v| body.defining_op(v))
            .filter(|&op| removable(body, op))
            .collect();
        remove_unused(body, pending, removable);
    }
}

/// Whether an operation computes the same at any position.
fn is_pure(ctx: &Context, body: &Body, op: OpId) -> bool {
    let view = body.view(ctx, op);
    body.op_regions(op).is_empty() && !view.has(Traits::TERMINATOR) && view.own_effects().is_empty()
}

/// Whether an operation only reads state, like a test for an empty stack.
fn is_read(ctx: &Context, body: &Body, op: OpId) -> bool {
    let effects = body.view(ctx, op).own_effects();
    body.op_regions(op).is_empty()
        && !effects.is_empty()
        && effects
            .iter()
            .all(|e| e.kind == EffectKind::Read && !e.target.is_shared())
}

/// Whether an operation precedes `end` in its block, and nothing between them may change what it reads.
fn unchanged_until(ctx: &Context, body: &Body, op: OpId, end: OpId) -> bool {
    let mut at = body.prev_op(end);
    while let Some(between) = at.filter(|&at| at != op) {
        let mut inside = body.op_regions(between).iter().flat_map(|&region| body.walk(region));
        if may_write(ctx, body, between) || inside.any(|op| may_write(ctx, body, op)) {
            return false;
        }
        at = body.prev_op(between);
    }
    at.is_some()
}

/// The reading operations before `end` whose state nothing changes up to `end`: in a condition region, which runs right
/// after, they give the same.
fn reads_before(ctx: &Context, body: &Body, end: OpId, found: &mut FxHashSet<OpId>) {
    let mut at = body.prev_op(end);
    while let Some(op) = at {
        if is_read(ctx, body, op) {
            found.insert(op);
        } else if !is_pure(ctx, body, op) {
            break;
        }
        at = body.prev_op(op);
    }
}
