//! `rotate-while` and `unrotate-while`: two copies of a loop's condition, or one.

use pir_ir::verify::compatible;
use pir_ir::{Body, Context, Diagnostic, FlowEdit, FlowPoint, Module, NewLane, OpId, Restated, Rewriter, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Loop, Values, copy_block, mapped};
use crate::analysis::{OpKey, effects_of};
use crate::bodies::for_each_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// How many values are compared to find the condition of a rotated loop.
const MAX_COMPARED: usize = 4096;

/// The pass `rotate-while`.
pub struct RotateWhile;

impl Pass for RotateWhile {
    fn name(&self) -> &'static str {
        "rotate-while"
    }

    fn summary(&self) -> &'static str {
        "Evaluate the condition of a loop before it and at the end of its body"
    }

    fn description(&self) -> &'static str {
        "Copies the operations in the cond region of a `pd.while` in front of the loop, and moves them to the end of \
         the body; the loop then carries the condition and the forwarded values. This lets other passes optimize the \
         condition and the body together. Loops with branches or loops in the cond region are skipped, since copying \
         those would be too expensive."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_body_mut(module, |ctx, body| {
            let mut changed = false;
            for l in Loop::all(ctx, body) {
                changed |= rotate(ctx, body, l).is_some();
            }
            Ok(changed.into())
        })
    }
}

fn rotate(ctx: &Context, body: &mut Body, l: Loop) -> Option<()> {
    let has_regions = body.block_ops(l.cond).any(|op| !body.op_regions(op).is_empty());
    if has_regions || body.first_op(l.cond) == Some(l.test) || l.carries_handles(ctx, body) {
        return None;
    }
    let (flag, forwarded) = l.tested(body)?;
    let operands = body.operands_vec(l.op);
    let yielded = l.yielded(body);
    let args = body.block_args(l.cond).iter().copied();
    let becomes: FxHashMap<ValueId, ValueId> = args.zip(yielded.iter().copied()).collect();
    let tested: Values = std::iter::once(flag).chain(forwarded).collect();
    // The cond region gets what it computed, and hands it on.
    let mut edit = FlowEdit::new(ctx, body, l.op).ok()?;
    for (at, &value) in yielded.iter().enumerate() {
        edit.replace(body, l.tests, at, value);
    }
    let lanes: SmallVec<[NewLane; 6]> = tested
        .iter()
        .map(|v| {
            let next = becomes.get(v).unwrap_or(v);
            edit.enter(l.tests, body.value_type(*v), &[(l.repeats, *next)])
        })
        .collect();
    let ready = edit.check(body).ok()?;
    let mut rewriter = Rewriter::new(ctx, body);
    rewriter.before(l.op);
    let mut restated = Restated::default();
    let map = copy_block(&mut rewriter, &mut restated, l.cond, &operands);
    // The original goes to the end of the body.
    let mut ops = rewriter.body.block_ops_vec(l.cond);
    ops.pop();
    rewriter.before(l.end);
    for op in ops {
        rewriter.move_here(op);
    }
    rewriter.body.set_operands(l.test, &[]);
    let done = ready.apply(&mut rewriter, &mapped(&map, &tested));
    let body = &mut *rewriter.body;
    let handed_on: Values = lanes.iter().map(|&lane| done.input(body, l.tests, lane)).collect();
    for (&arg, &original) in handed_on.iter().zip(&tested) {
        let name = body.value_name(original).filter(|n| !n.pack);
        body.set_value_name(arg, name);
    }
    body.set_operands(l.test, &handed_on);
    restated.finish(&mut rewriter);
    Some(())
}

/// The pass `unrotate-while`.
pub struct UnrotateWhile;

impl Pass for UnrotateWhile {
    fn name(&self) -> &'static str {
        "unrotate-while"
    }

    fn summary(&self) -> &'static str {
        "Move the condition of a rotated loop back into its cond region"
    }

    fn description(&self) -> &'static str {
        "The inverse of `rotate-while`, also for loops that were written in the rotated form: if a `pd.while` carries \
         its condition, and if the initial and the next condition are computed in the same way by operations without \
         effects, moves one copy of this computation into the cond region."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_body_mut(module, |ctx, body| {
            let mut changed = false;
            for l in Loop::all(ctx, body) {
                changed |= unrotate(ctx, body, l).is_some();
            }
            Ok(changed.into())
        })
    }
}

/// A value of the body, and the one before the loop in its place.
type Pair = (ValueId, ValueId);

/// The known pairs: how they are computed.
struct Matching<'a> {
    ctx: &'a Context,
    body: &'a Body,
    l: Loop,
    /// Pairs that are carried, in order.
    carried: Vec<Pair>,
    /// Computed pairs, with the operation of the body, in topological order.
    computed: Vec<(Pair, OpId)>,
    seen: FxHashMap<Pair, bool>,
}

impl Matching<'_> {
    /// The operations that compute both values of a pair in the same way.
    fn makers(&self, (inner, outer): Pair) -> Option<(OpId, OpId)> {
        let body = self.body;
        let (a, b) = (body.defining_op(inner)?, body.defining_op(outer)?);
        let view = body.view(self.ctx, a);
        let pure = body.op_block(a) == Some(self.l.body)
            && view.def().is_some()
            && body.op_regions(a).is_empty()
            && effects_of(view).is_empty()
            && body.num_results(a) == 1
            && body.num_operands(a) == body.num_operands(b);
        let key = |op| OpKey::with_operands(self.ctx, body, op, SmallVec::new());
        (pure && key(a) == key(b)).then_some((a, b))
    }

    /// Finds out how a pair is computed; `None` when it takes too long.
    fn visit(&mut self, pair: Pair) -> Option<()> {
        let mut pending = vec![(pair, false)];
        while let Some((pair, operands_done)) = pending.pop() {
            if pair.0 == pair.1 || (!operands_done && self.seen.contains_key(&pair)) {
                continue;
            }
            let Some((inner, outer)) = self.makers(pair) else {
                self.seen.insert(pair, false);
                self.carried.push(pair);
                continue;
            };
            if operands_done {
                self.computed.push((pair, inner));
                continue;
            }
            self.seen.insert(pair, true);
            if self.seen.len() > MAX_COMPARED {
                return None;
            }
            pending.push((pair, true));
            let pairs = self.body.operands(inner).zip(self.body.operands(outer));
            pending.extend(pairs.map(|pair| (pair, false)));
        }
        Some(())
    }
}

fn unrotate(ctx: &Context, body: &mut Body, l: Loop) -> Option<()> {
    if body.first_op(l.cond) != Some(l.test) || l.carries_handles(ctx, body) {
        return None;
    }
    let args: Values = body.block_args(l.cond).into();
    let tested = body.operands_vec(l.test);
    let (operands, yielded) = (body.operands_vec(l.op), l.yielded(body));
    let places: FxHashMap<ValueId, usize> = args.iter().enumerate().map(|(at, &v)| (v, at)).collect();
    // Everything that is forwarded is an argument.
    let slots: SmallVec<[usize; 6]> = tested.iter().map(|v| places.get(v).copied()).collect::<Option<_>>()?;
    let mut matching = Matching {
        ctx,
        body,
        l,
        carried: Vec::new(),
        computed: Vec::new(),
        seen: FxHashMap::default(),
    };
    let pairs: Vec<Pair> = slots.iter().map(|&at| (yielded[at], operands[at])).collect();
    for &pair in &pairs {
        matching.visit(pair)?;
    }
    let Matching {
        carried,
        computed,
        seen,
        ..
    } = matching;
    // The condition itself must be computed.
    if seen.get(pairs.first()?) != Some(&true) {
        return None;
    }
    // An argument has the type of the value from the body, which fits the operations that are moved.
    let ty = |value: ValueId| body.value_type(value);
    let handed_to = |at: usize| [body.result(l.op, at), body.block_args(l.body)[at]];
    let fits = carried
        .iter()
        .all(|&(inner, outer)| compatible(ctx, ty(inner), ty(outer)))
        && (1..pairs.len()).all(|at| {
            handed_to(at - 1)
                .iter()
                .all(|&to| compatible(ctx, ty(pairs[at].0), ty(to)))
        });
    if !fits {
        return None;
    }
    let mut edit = FlowEdit::new(ctx, body, l.op).ok()?;
    for (at, &value) in yielded.iter().enumerate() {
        edit.replace(body, l.tests, at, value);
    }
    let lanes: Vec<NewLane> = carried
        .iter()
        .map(|&(inner, outer)| {
            let given = [(FlowPoint::Parent, outer), (l.repeats, inner)];
            edit.add(l.tests, ty(inner), &given)
        })
        .collect();
    let ready = edit.check(body).ok()?;
    let outers: Vec<OpId> = computed
        .iter()
        .filter_map(|(pair, _)| body.defining_op(pair.1))
        .collect();
    let mut rewriter = Rewriter::new(ctx, body);
    rewriter.body.set_operands(l.test, &[]);
    let done = ready.apply(&mut rewriter, &[]);
    let mut stands: FxHashMap<Pair, ValueId> = FxHashMap::default();
    for (&pair, lane) in carried.iter().zip(lanes) {
        let name = rewriter.body.value_name(pair.1).filter(|n| !n.pack);
        let arg = done.input(rewriter.body, l.tests, lane);
        rewriter.body.set_value_name(arg, name);
        stands.insert(pair, arg);
    }
    rewriter.before(l.test);
    for ((pair, inner), &outer) in computed.iter().zip(&outers) {
        let copy = rewriter.clone_op(*inner, &mut Default::default());
        let pairs: Vec<Pair> = rewriter
            .body
            .operands(*inner)
            .zip(rewriter.body.operands(outer))
            .collect();
        for (index, pair) in pairs.into_iter().enumerate() {
            let value = stands.get(&pair).copied().unwrap_or(pair.0);
            rewriter.body.set_operand(copy, index, value);
        }
        stands.insert(*pair, rewriter.body.result(copy, 0));
    }
    let handed_on: Values = pairs.iter().map(|p| stands.get(p).copied().unwrap_or(p.0)).collect();
    let body = rewriter.body;
    body.set_operands(l.test, &handed_on);
    let inners = computed.iter().map(|&(_, inner)| inner);
    for op in inners.rev().chain(outers.iter().rev().copied()) {
        if body.is_alive(op) && !body.op_has_uses(op) {
            body.erase_op(op);
        }
    }
    Some(())
}
