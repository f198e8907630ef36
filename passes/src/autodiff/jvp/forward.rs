//! Tangents along a program: each operation is followed by the tangents of its results.
//!
//! **Loops and branches** carry tangents beside values: a slot for each carried value whose tangent may not be zero.
//! Nothing is recorded, and there is no second loop. **Stacks** hold the tangent of a value on top of it: the pop of a
//! value is preceded by the pop of its tangent. [`Activity`] determines these pushes and pops.

use pir_dialects::cf;
use pir_ir::{
    Arith, BlockId, Diagnostic, Edited, FlowEdit, FlowForm, FlowKind, FlowPoint, NewLane, OpId, Refused, Rewriter,
    ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::activity::Activity;
use super::super::control_ops::ControlOps;
use super::super::cotangent::{elements, is_list, list_of, zeros_like};
use super::super::rules::{RuleTable, carried};
use super::linear::{Tangent, Tangents, push_forward};
use super::templates::Templates;

type Failure = Box<Diagnostic>;

/// Builds the tangents of one body.
pub(super) struct Forward<'x, 'a> {
    pub(super) r: &'x mut Rewriter<'a>,
    rules: &'x RuleTable,
    activity: &'x Activity,
    names: ControlOps<'a>,
    tangents: Tangents,
    templates: Templates,
    /// Tangents that are given, of values that are the results of operations.
    given: FxHashMap<ValueId, ValueId>,
    /// Operations are recreated with more results; this maps the new results to the original ones, to which the
    /// activity refers, and back.
    before: FxHashMap<ValueId, ValueId>,
    now: FxHashMap<ValueId, ValueId>,
}

impl<'x, 'a> Forward<'x, 'a> {
    pub(super) fn new(r: &'x mut Rewriter<'a>, rules: &'x RuleTable, activity: &'x Activity) -> Self {
        let names = ControlOps::new(r.ctx);
        Forward {
            r,
            rules,
            activity,
            names,
            tangents: Tangents::default(),
            templates: Templates::default(),
            given: FxHashMap::default(),
            before: FxHashMap::default(),
            now: FxHashMap::default(),
        }
    }

    /// Sets the tangent of an input. If the input is computed, the tangent of its operands is added.
    pub(super) fn give(&mut self, input: ValueId, tangent: ValueId) {
        self.given.insert(input, tangent);
        self.tangents.insert(input, Tangent::One(tangent));
    }

    /// The current replacement of a value.
    pub(super) fn now(&self, value: ValueId) -> ValueId {
        self.now.get(&value).copied().unwrap_or(value)
    }

    fn before(&self, value: ValueId) -> ValueId {
        self.before.get(&value).copied().unwrap_or(value)
    }

    fn is_active(&self, value: ValueId) -> bool {
        self.activity.is_active(self.before(value))
    }

    /// The tangent of a value, zeros if it has none, at the insertion point.
    pub(super) fn tangent(&mut self, value: ValueId) -> Result<ValueId, String> {
        if let Some(tangent) = self.tangents.one(value) {
            return Ok(tangent);
        }
        if is_list(self.r.ctx, self.r.body.value_type(value)) {
            let known = self.tangents.list(value).unwrap_or_default();
            return list_of(self.r, value, known, value, "_tangent");
        }
        let zeros = zeros_like(self.r, value)?;
        self.r.name_like(zeros, value, "_tangent");
        Ok(zeros)
    }

    /// `tangent` is the tangent of a value; that of a list is taken apart at the insertion point.
    fn enter(&mut self, value: ValueId, tangent: ValueId) -> Result<(), String> {
        let ty = self.r.body.value_type(value);
        let known = match is_list(self.r.ctx, ty) {
            false => Tangent::One(tangent),
            true => {
                let items = elements(self.r, tangent)?.into_iter();
                let float = |&v: &ValueId| self.r.ctx.is_continuous(self.r.body.value_type(v));
                Tangent::List(items.map(|v| Some(v).filter(float)).collect())
            }
        };
        self.tangents.insert(value, known);
        Ok(())
    }

    /// The tangents of operations of one block, in order.
    pub(super) fn ops(&mut self, ops: &[OpId]) -> Result<(), Failure> {
        for &op in ops {
            let done = match self.names.kind(self.r.body, op) {
                // The input determines the nesting: the stack grows on the heap when it has to.
                Some(kind) => stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.structured(op, kind)),
                None => self.ordinary(op).map_err(|why| self.failure(op, &why)),
            };
            done?;
        }
        Ok(())
    }

    fn failure(&self, op: OpId, why: &str) -> Failure {
        let name = self.r.ctx.op_str(self.r.body.op_name(op));
        Box::new(
            Diagnostic::error("no-derivative", format!("there is no tangent of `{name}`: {why}"))
                .label(self.r.body.op_span(op), "the derivative passes through here"),
        )
    }

    fn ordinary(&mut self, op: OpId) -> Result<(), String> {
        let name = self.r.body.op_name(op);
        if name == self.names.push || name == self.names.pop {
            return self.stacked(op);
        }
        let results: SmallVec<[ValueId; 4]> = self.r.body.results(op).collect();
        if !results.iter().any(|&v| self.is_active(v)) {
            return Ok(());
        }
        let given: SmallVec<[Option<ValueId>; 4]> = results.iter().map(|v| self.given.get(v).copied()).collect();
        // The derivative begins after the tangents given for inputs.
        let behind = given.iter().flatten().find_map(|&v| self.r.body.defining_op(v));
        let span = self.r.body.op_span(op);
        self.r.after(behind.unwrap_or(op)).set_span(span);
        if !carried(self.r, op, &|v| self.tangents.contains(v)).is_empty() {
            push_forward(self.r, self.rules, op, &mut self.tangents, &mut self.templates)?;
        }
        for (&result, given) in results.iter().zip(given) {
            if let (Some(given), Some(computed)) = (given, self.tangents.one(result))
                && computed != given
            {
                let sum = self.r.compute(Arith::Add, &[computed, given])?;
                self.r.name_like(sum, result, "_tangent");
                self.tangents.insert(result, Tangent::One(sum));
            }
        }
        Ok(())
    }

    fn stacked(&mut self, op: OpId) -> Result<(), String> {
        if self.activity.stacks.lane(op).is_none() || self.activity.stacks.active_lane(op).is_none() {
            return Ok(());
        }
        let stack = self.r.body.operand(op, 0);
        if self.r.body.op_name(op) == self.names.push {
            self.r.after(op);
            let tangent = self.tangent(self.r.body.operand(op, 1))?;
            self.r.op(cf::PUSH_BACK).operand(stack).operand(tangent).build();
            return Ok(());
        }
        let value = self.r.body.result(op, 0);
        let ty = self.r.body.value_type(value);
        let tangent = self.r.before(op).op(cf::POP_BACK).operand(stack).result(ty).value();
        self.r.name_like(tangent, value, "_tangent");
        self.enter(value, tangent)
    }

    fn structured(&mut self, op: OpId, kind: FlowKind) -> Result<(), Failure> {
        if !self.activity.passes_through(self.r.body, op) && !self.activity.stacks.pass_through(op) {
            return Ok(());
        }
        let structure = self
            .names
            .form(self.r.body, op)
            .ok_or_else(|| self.failure(op, "its regions must have one block each"))?;
        match (kind, structure.blocks) {
            (FlowKind::Loop, [Some(cond), Some(body)]) => self.while_op(op, &structure, cond, body),
            (FlowKind::Branch, _) => self.if_op(op, &structure),
            _ => Err(self.failure(op, "its regions must have one block each")),
        }
    }

    /// The operations of a block without its terminator, and the terminator.
    fn contents(&self, block: BlockId) -> (Vec<OpId>, Option<OpId>) {
        let mut ops = self.r.body.block_ops_vec(block);
        let end = ops.pop();
        (ops, end)
    }

    /// Makes terminators forward the tangents of `values` in the lanes.
    fn hand_on(&mut self, done: &Edited, from: FlowPoint, lanes: &[NewLane], values: &[ValueId]) -> Result<(), String> {
        let end = self.r.body.flow_source_op(done.op, from).ok_or("a region is empty")?;
        self.r.before(end);
        for (&lane, &value) in lanes.iter().zip(values) {
            let tangent = self.tangent(value)?;
            let at = done.operand(self.r.body, from, lane);
            self.r.body.set_operand(at.op, at.index, tangent);
        }
        Ok(())
    }

    /// The arguments that lanes are in a region are the tangents of `values`, arguments as well.
    fn enter_args(
        &mut self,
        done: &Edited,
        to: FlowPoint,
        lanes: &[NewLane],
        values: &[ValueId],
    ) -> Result<(), String> {
        for (&lane, &value) in lanes.iter().zip(values) {
            let arg = done.input(self.r.body, to, lane);
            self.r.name_like(arg, value, "_tangent");
            self.enter(value, arg)?;
        }
        Ok(())
    }

    fn while_op(&mut self, op: OpId, form: &FlowForm, cond: BlockId, body: BlockId) -> Result<(), Failure> {
        let operands = self.r.body.operands_vec(op);
        let results: Vec<ValueId> = self.r.body.results(op).collect();
        let (cond_args, body_args) = (
            self.r.body.block_args(cond).to_vec(),
            self.r.body.block_args(body).to_vec(),
        );
        let ((cond_ops, Some(cond_end)), (body_ops, Some(body_end))) = (self.contents(cond), self.contents(body))
        else {
            return Err(self.failure(op, "a region is empty"));
        };
        // As for the dual: slots from cond to body and to the results, and slots from outside and from body to cond.
        let forward: Vec<usize> = (0..results.len().min(body_args.len()))
            .filter(|&i| {
                self.activity.is_varied(results[i])
                    && (self.activity.is_useful(results[i]) || self.activity.is_useful(body_args[i]))
            })
            .collect();
        let carried: Vec<usize> = (0..cond_args.len().min(operands.len()))
            .filter(|&j| self.activity.is_active(cond_args[j]))
            .collect();
        let [tests, repeats] = form.points;
        let [tested, yielded] = form.passes;
        // The lanes forward the values themselves until their tangents, which have the same types, are known.
        let mut edit = self.edit(op)?;
        let carried_lanes: Vec<NewLane> = carried
            .iter()
            .map(|&j| {
                let next = self.r.body.operand(body_end, j + yielded);
                edit.enter(tests, self.r.body.value_type(cond_args[j]), &[(repeats, next)])
            })
            .collect();
        let forward_lanes: Vec<NewLane> = forward
            .iter()
            .map(|&i| {
                let handed = self.r.body.operand(cond_end, i + tested);
                edit.add(
                    FlowPoint::Parent,
                    self.r.body.value_type(results[i]),
                    &[(tests, handed)],
                )
            })
            .collect();
        let ready = edit.check(self.r.body).map_err(|e| self.refused(e))?;
        let failed = |this: &Self, op: OpId, why: String| this.failure(op, &why);
        self.r.before(op);
        let mut initial = Vec::with_capacity(carried.len());
        for &j in &carried {
            initial.push(self.tangent(operands[j]).map_err(|why| failed(self, op, why))?);
        }
        let entry = form.entry.and_then(|region| self.r.body.single_block(region));
        let entry_args = entry.map(|block| self.r.body.block_args(block).to_vec());
        let done = ready.apply(self.r, &initial);
        let op = done.op;
        self.remade(&results, &done, &forward_lanes);
        for (&j, &lane) in carried.iter().zip(&carried_lanes) {
            if let Some(args) = &entry_args {
                let arg = done.input(self.r.body, FlowPoint::Region(0), lane);
                self.r.name_like(arg, args[j], "_tangent");
            }
        }
        let of: Vec<ValueId> = carried.iter().map(|&j| cond_args[j]).collect();
        self.r.at_start(cond);
        let entered = self.enter_args(&done, tests, &carried_lanes, &of);
        entered.map_err(|why| failed(self, op, why))?;
        let of: Vec<ValueId> = forward.iter().map(|&i| body_args[i]).collect();
        self.r.at_start(body);
        let entered = self.enter_args(&done, repeats, &forward_lanes, &of);
        entered.map_err(|why| failed(self, op, why))?;

        self.ops(&cond_ops)?;
        let handed: Vec<ValueId> = forward
            .iter()
            .map(|&i| self.r.body.operand(cond_end, i + tested))
            .collect();
        let done_on = self.hand_on(&done, tests, &forward_lanes, &handed);
        done_on.map_err(|why| failed(self, op, why))?;
        self.ops(&body_ops)?;
        let handed: Vec<ValueId> = carried
            .iter()
            .map(|&j| self.r.body.operand(body_end, j + yielded))
            .collect();
        let done_on = self.hand_on(&done, repeats, &carried_lanes, &handed);
        done_on.map_err(|why| failed(self, op, why))?;
        self.results(&done, &forward, &forward_lanes)
    }

    fn if_op(&mut self, op: OpId, form: &FlowForm) -> Result<(), Failure> {
        let results: Vec<ValueId> = self.r.body.results(op).collect();
        let with_tangent: Vec<usize> = (0..results.len())
            .filter(|&i| self.activity.is_active(results[i]))
            .collect();
        let mut branches = Vec::new();
        for (block, point) in form.blocks.into_iter().zip(form.points) {
            let Some(block) = block else { continue };
            let (ops, Some(end)) = self.contents(block) else {
                return Err(self.failure(op, "a branch is empty"));
            };
            branches.push((ops, end, point));
        }
        if with_tangent.is_empty() {
            return branches.iter().try_for_each(|(ops, ..)| self.ops(ops));
        }
        let mut edit = self.edit(op)?;
        let lanes: Vec<NewLane> = with_tangent
            .iter()
            .map(|&i| {
                let yields = branches
                    .iter()
                    .map(|&(_, end, point)| (point, self.r.body.operand(end, i)));
                let given: SmallVec<[_; 2]> = yields.collect();
                edit.add(FlowPoint::Parent, self.r.body.value_type(results[i]), &given)
            })
            .collect();
        let ready = edit.check(self.r.body).map_err(|e| self.refused(e))?;
        let done = ready.apply(self.r, &[]);
        self.remade(&results, &done, &lanes);
        for (ops, end, point) in branches {
            self.ops(&ops)?;
            let handed: Vec<ValueId> = with_tangent.iter().map(|&i| self.r.body.operand(end, i)).collect();
            let handed = self.hand_on(&done, point, &lanes, &handed);
            handed.map_err(|why| self.failure(done.op, &why))?;
        }
        self.results(&done, &with_tangent, &lanes)
    }

    fn edit(&self, op: OpId) -> Result<FlowEdit<'a>, Failure> {
        FlowEdit::new(self.r.ctx, self.r.body, op).map_err(|e| self.refused(e))
    }

    fn refused(&self, why: Refused) -> Failure {
        Box::new(why.diagnostic(self.r.body))
    }

    /// Records the replacements of an operation's results.
    fn remade(&mut self, old: &[ValueId], done: &Edited, lanes: &[NewLane]) {
        let added: SmallVec<[usize; 4]> = lanes.iter().map(|&lane| done.result_at(lane)).collect();
        let kept = self.r.body.results(done.op).enumerate();
        let kept = kept.filter(|(at, _)| !added.contains(at)).map(|(_, value)| value);
        for (&old, value) in old.iter().zip(kept) {
            let origin = self.before(old);
            self.before.insert(value, origin);
            self.now.insert(origin, value);
        }
    }

    /// The results that lanes are become the tangents of those at `of`, which come before them.
    fn results(&mut self, done: &Edited, of: &[usize], lanes: &[NewLane]) -> Result<(), Failure> {
        for (&at, &lane) in of.iter().zip(lanes) {
            let (value, tangent) = (self.r.body.result(done.op, at), done.result(self.r.body, lane));
            self.r.name_like(tangent, value, "_tangent");
            self.r.after(done.op);
            self.enter(value, tangent).map_err(|why| self.failure(done.op, &why))?;
        }
        Ok(())
    }
}
