//! The frames of loops.

use pir_dialects::{df, pd};
use pir_ir::{AttrDict, OpId, Type, ValueId};
use smallvec::{SmallVec, smallvec};

use super::scope::{FrameInfo, Kind, Order, ScopeId};
use super::{Carrier, Loop, Lowering, Task};

impl Lowering<'_> {
    /// Makes the enters and merges of a loop.
    pub(super) fn enter(&mut self, op: OpId, scope: ScopeId, tasks: &mut Vec<Task>) {
        let &[.., cond, body] = self.src.op_regions(op) else {
            return;
        };
        let frame = self.to.frames.len() as u32;
        self.to.frames.push(FrameInfo {
            name: format!("while_{frame}"),
            goes_on: None,
            loop_cond: None,
        });
        let in_cond = self.to.add_scope(scope, Kind::Frame(frame));
        let in_body = self.to.add_scope(in_cond, Kind::Body(frame));
        let args = self.src.entry_block(cond).map_or(&[][..], |b| self.src.block_args(b));
        let inits: Vec<ValueId> = self.src.operands(op).collect();
        let own = (args.len() > inits.len()).then(|| args.len() - 1);
        let resources = self.resources(op);
        let carrier = match (self.plan.counted.get(&op), own) {
            (Some(_), _) => Some(Carrier::Left),
            (None, Some(slot)) => Some(Carrier::Count(slot)),
            (None, None) if !resources.is_empty() || args.is_empty() => Some(Carrier::Token),
            (None, None) => None,
        };
        let mut before: SmallVec<[ValueId; 4]> = smallvec![];
        for &resource in &resources {
            before.extend(self.to.pending(scope, resource));
        }
        let mut merges = Vec::with_capacity(args.len() + 1);
        let mut pivot = None;
        for (at, &arg) in args.iter().enumerate() {
            let counts = carrier == Some(Carrier::Count(at));
            let init = match inits.get(at) {
                Some(&init) => self.resolve(init, scope),
                None => self.to.number(scope, 0),
            };
            let after: &[ValueId] = if counts { &before } else { &[] };
            let entered = self.to.enter(scope, frame, init, false, after);
            let ty = self.ty(self.src.value_type(arg));
            let merged = self.loop_merge(entered, ty, &mut merges);
            if at == 0
                && let Some(enter) = self.to.body.defining_op(entered)
            {
                self.copy_notes(op, enter);
            }
            self.define(arg, in_cond, merged);
            if counts {
                self.to.name(merged, "count");
                pivot = Some(merged);
            }
            pivot = pivot.or(Some(merged));
        }
        if matches!(carrier, Some(Carrier::Left | Carrier::Token)) {
            let init = match self.plan.counted.get(&op) {
                Some(&handle) => self.resolve(handle, scope),
                None => self.to.number(scope, 0),
            };
            let entered = self.to.enter(scope, frame, init, false, &before);
            let ty = self.to.body.value_type(init);
            let merged = self.loop_merge(entered, ty, &mut merges);
            self.to.name(
                merged,
                if carrier == Some(Carrier::Left) {
                    "left"
                } else {
                    "order"
                },
            );
            pivot = Some(merged);
        }
        self.to.scopes[in_cond as usize].pivot = pivot;
        if let Some(pivot) = pivot {
            for &resource in &resources {
                self.to.start(in_cond, resource, Order::after([pivot]));
            }
        }
        let at = self.loops.len();
        self.loop_of.insert(op, at);
        tasks.push(Task::Close(at));
        tasks.push(Task::Op(self.first(body), in_body));
        tasks.push(Task::Switch(at));
        tasks.push(Task::Op(self.first(cond), in_cond));
        self.loops.push(Loop {
            op,
            scope,
            frame,
            cond: in_cond,
            body: in_body,
            resources,
            carrier,
            merges,
            done: Vec::new(),
            next: None,
            ordered: None,
        });
    }

    fn loop_merge(&mut self, entered: ValueId, ty: Type, merges: &mut Vec<OpId>) -> ValueId {
        let placeholder = self.to.body.create_placeholder(ty);
        let index = self.ctx.tensor(&[], Type::I32);
        let op = self
            .to
            .raw(df::MERGE, &[entered, placeholder], &[ty, index], AttrDict::EMPTY);
        merges.push(op);
        self.to.body.result(op, 0)
    }

    /// Creates the switches of a loop, after its condition.
    pub(super) fn switch(&mut self, at: usize) {
        let state = &self.loops[at];
        let (op, frame, in_cond, in_body) = (state.op, state.frame, state.cond, state.body);
        let (carrier, resources) = (state.carrier, state.resources.clone());
        let own = match carrier {
            Some(Carrier::Left | Carrier::Token) => state.merges.last().copied(),
            _ => None,
        };
        self.to.span = self.src.op_span(op);
        let &[.., cond, body] = self.src.op_regions(op) else {
            return;
        };
        let yielded = self.terminator(cond);
        let Some((&flag, forwarded)) = yielded.split_first() else {
            return;
        };
        let flag = self.resolve(flag, in_cond);
        let go = self.to.pass(in_cond, df::LOOP_COND, flag, &[]);
        self.to.name(go, "go");
        self.to.frames[frame as usize].loop_cond = Some(go);
        // Pushes and effects of the condition come before the body.
        let mut after: SmallVec<[ValueId; 4]> = smallvec![];
        for &resource in &resources {
            if self.to.touched(in_cond, resource) {
                after.extend(self.to.pending(in_cond, resource));
            }
        }
        let counted = match carrier {
            Some(Carrier::Count(slot)) => self
                .src
                .entry_block(cond)
                .and_then(|b| self.src.block_args(b).get(slot)),
            _ => None,
        };
        let args = self.src.entry_block(body).map_or(&[][..], |b| self.src.block_args(b));
        let (mut done, mut ordered, mut goes_on) = (Vec::new(), None, None);
        for (&value, &arg) in forwarded.iter().zip(args) {
            let mut data = self.resolve(value, in_cond);
            let counts = counted == Some(&value);
            if counts {
                ordered = Some(done.len());
                if !after.is_empty() {
                    data = self.to.pass(in_cond, df::IDENTITY, data, &after);
                }
            }
            let [no, yes] = self.switch_one(in_cond, data, go);
            done.push(no);
            self.define(arg, in_body, yes);
            if counts || goes_on.is_none() {
                goes_on = Some(yes);
            }
        }
        let mut next = None;
        if let Some(merge) = own {
            let mut data = self.to.body.result(merge, 0);
            if !after.is_empty() {
                data = self.to.pass(in_cond, df::IDENTITY, data, &after);
            }
            let [no, yes] = self.switch_one(in_cond, data, go);
            ordered = Some(done.len());
            done.push(no);
            goes_on = Some(yes);
            next = Some(yes);
        }
        self.to.frames[frame as usize].goes_on = goes_on;
        let mut base = None;
        match carrier {
            Some(Carrier::Count(_)) => {
                if let Some(&arg) = ordered.and_then(|at| args.get(at)) {
                    let count = self.resolve(arg, in_body);
                    let more = self.step(in_body, pd::Add::NAME, count);
                    self.to.name(more, "more");
                    self.to.define(arg.index(), in_body, more);
                    base = Some(more);
                }
            }
            Some(Carrier::Left) => {
                if let Some(left) = next {
                    let fewer = self.step(in_body, pd::Subtract::NAME, left);
                    self.to.name(fewer, "fewer");
                    (base, next) = (Some(fewer), Some(fewer));
                }
            }
            Some(Carrier::Token) => {
                base = self.to.pivot(in_body);
                next = base;
            }
            None => {}
        }
        if let Some(base) = base {
            for &resource in &resources {
                self.to.start(in_body, resource, Order::after([base]));
            }
        }
        let state = &mut self.loops[at];
        (state.done, state.next, state.ordered) = (done, next, ordered);
    }

    fn switch_one(&mut self, scope: ScopeId, data: ValueId, go: ValueId) -> [ValueId; 2] {
        let ty = self.to.body.value_type(data);
        let op = self.to.node(scope, df::SWITCH, &[data, go], &[ty, ty], AttrDict::EMPTY);
        [0, 1].map(|at| self.to.body.result(op, at))
    }

    fn step(&mut self, scope: ScopeId, name: &str, count: ValueId) -> ValueId {
        let one = self.to.number(scope, 1);
        let ty = self.to.body.value_type(count);
        let op = self.to.node(scope, name, &[count, one], &[ty], AttrDict::EMPTY);
        self.to.body.result(op, 0)
    }

    /// Makes the back edges of a loop, and its exits.
    pub(super) fn close(&mut self, at: usize) {
        let state = &self.loops[at];
        let (op, scope, in_body) = (state.op, state.scope, state.body);
        let (carrier, resources, ordered) = (state.carrier, state.resources.clone(), state.ordered);
        let (merges, done, next) = (state.merges.clone(), state.done.clone(), state.next);
        self.to.span = self.src.op_span(op);
        let &[.., body] = self.src.op_regions(op) else { return };
        let mut after: SmallVec<[ValueId; 4]> = smallvec![];
        for &resource in &resources {
            if self.to.touched(in_body, resource) {
                after.extend(self.to.pending(in_body, resource));
            }
        }
        let yielded = self.terminator(body);
        let own = match carrier {
            Some(Carrier::Left | Carrier::Token) => next,
            _ => None,
        };
        let values: Vec<ValueId> = yielded.iter().map(|&v| self.resolve(v, in_body)).chain(own).collect();
        for (slot, (value, &merge)) in values.into_iter().zip(&merges).enumerate() {
            let carries = match carrier {
                Some(Carrier::Count(count)) => slot == count,
                Some(Carrier::Left | Carrier::Token) => slot == yielded.len(),
                None => false,
            };
            let after: &[ValueId] = if carries { &after } else { &[] };
            let back = self.to.pass(in_body, df::NEXT_ITERATION, value, after);
            self.to.body.set_operand(merge, 1, back);
        }
        let mut exits = Vec::with_capacity(done.len());
        let results: Vec<ValueId> = self.src.results(op).collect();
        for (at, &value) in done.iter().enumerate() {
            // A value that is not a result is at most waited for.
            if results.get(at).is_none() && resources.is_empty() {
                continue;
            }
            let ty = self.to.body.value_type(value);
            let exit = self.to.raw(df::EXIT, &[value], &[ty], AttrDict::EMPTY);
            let left = self.to.body.result(exit, 0);
            exits.push(left);
            if let Some(&result) = results.get(at) {
                self.define(result, scope, left);
            }
            if ordered == Some(at) && matches!(carrier, Some(Carrier::Count(_))) {
                self.to.name(left, "trips");
            }
        }
        if let Some(&exit) = ordered.and_then(|at| exits.get(at)) {
            for resource in resources {
                self.to.advance(scope, resource, exit);
            }
        }
    }
}
