//! Tangents along a program: each operation is followed by what computes the tangents of its results.
//!
//! **Loops and branches** carry tangents beside values: a slot for each carried value with a tangent that is not zero for
//! sure. Nothing is recorded, and there is no second loop. **Stacks** hold the tangent of a value on top of it: whoever pops
//! the value pops the tangent first. Which pushes and pops these are, [`Activity`] tells.

use pir_dialects::cf;
use pir_ir::{Arith, BlockId, Diagnostic, FlowForm, FlowKind, OpId, Rewriter, Type, ValueId};
use rustc_hash::FxHashMap;

use super::super::activity::Activity;
use super::super::cotangent::{elements, is_list, list_of, zeros_like};
use super::super::rules::{RuleTable, carried};
use super::super::structure::{Names, types_of};
use super::linear::{Tangent, Tangents, push_forward};

type Failure = Box<Diagnostic>;

/// Builds the tangents of one body.
pub(super) struct Forward<'x, 'a> {
    pub(super) r: &'x mut Rewriter<'a>,
    rules: &'x RuleTable,
    activity: &'x Activity,
    names: Names<'a>,
    tangents: Tangents,
    /// Tangents that are given, of values that are the results of operations.
    given: FxHashMap<ValueId, ValueId>,
    /// Operations are made anew with more results: what these were before, which is what activity knows, and back.
    before: FxHashMap<ValueId, ValueId>,
    now: FxHashMap<ValueId, ValueId>,
}

impl<'x, 'a> Forward<'x, 'a> {
    pub(super) fn new(r: &'x mut Rewriter<'a>, rules: &'x RuleTable, activity: &'x Activity) -> Self {
        let names = Names::new(r.ctx);
        Forward {
            r,
            rules,
            activity,
            names,
            tangents: Tangents::default(),
            given: FxHashMap::default(),
            before: FxHashMap::default(),
            now: FxHashMap::default(),
        }
    }

    /// `tangent` is the tangent of an input. If that is computed, what comes to it by its operands is added.
    pub(super) fn give(&mut self, input: ValueId, tangent: ValueId) {
        self.given.insert(input, tangent);
        self.tangents.insert(input, Tangent::One(tangent));
    }

    /// What became of a value.
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
        let known = match self.tangents.get(&value) {
            Some(&Tangent::One(tangent)) => return Ok(tangent),
            Some(Tangent::List(items)) => items.clone(),
            None => Vec::new(),
        };
        if is_list(self.r.ctx, self.r.body.value_type(value)) {
            return list_of(self.r, value, &known, value, "_tangent");
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
                let float = |&v: &ValueId| self.r.ctx.is_float(self.r.body.value_type(v));
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
                // Nesting is as deep as the input says: the stack grows on the heap when it has to.
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
        let results: Vec<ValueId> = self.r.body.results(op).collect();
        if !results.iter().any(|&v| self.is_active(v)) {
            return Ok(());
        }
        let given: Vec<Option<ValueId>> = results.iter().map(|v| self.given.get(v).copied()).collect();
        // What is given for an input stands behind it.
        let behind = given.iter().flatten().find_map(|&v| self.r.body.defining_op(v));
        let span = self.r.body.op_span(op);
        self.r.after(behind.unwrap_or(op)).set_span(span);
        if !carried(self.r, op, &|v| self.tangents.contains_key(&v)).is_empty() {
            push_forward(self.r, self.rules, op, &mut self.tangents)?;
        }
        for (&result, given) in results.iter().zip(given) {
            if let (Some(given), Some(&Tangent::One(computed))) = (given, self.tangents.get(&result))
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

    /// Inserts the tangents of what a terminator hands on, as operands from `at` on.
    fn hand_on(&mut self, op: OpId, end: OpId, values: &[ValueId], at: usize) -> Result<(), Failure> {
        self.r.before(end);
        let mut tangents = Vec::with_capacity(values.len());
        for &value in values {
            tangents.push(self.tangent(value).map_err(|why| self.failure(op, &why))?);
        }
        self.r.body.insert_operands(end, at, &tangents);
        Ok(())
    }

    /// Adds arguments for tangents of values to a block, from `at` on.
    fn add_args(&mut self, block: BlockId, of: &[ValueId], at: usize) -> Vec<ValueId> {
        let mut args = Vec::new();
        for (index, &value) in of.iter().enumerate() {
            let ty = self.r.body.value_type(value);
            let arg = self.r.body.insert_block_arg(block, at + index, ty, None);
            self.r.name_like(arg, value, "_tangent");
            args.push(arg);
        }
        args
    }

    fn while_op(&mut self, op: OpId, structure: &FlowForm, cond: BlockId, body: BlockId) -> Result<(), Failure> {
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
        // A stack stays the last of everything.
        let (args_at, results_at) = (operands.len(), results.len() - usize::from(structure.entry.is_some()));
        self.r.before(op);
        let mut inputs = operands.to_vec();
        for &j in &carried {
            let tangent = self.tangent(operands[j]).map_err(|why| self.failure(op, &why))?;
            inputs.push(tangent);
        }
        if let Some(init) = structure.entry.and_then(|region| self.r.body.single_block(region)) {
            let of: Vec<ValueId> = carried.iter().map(|&j| self.r.body.block_args(init)[j]).collect();
            let args = self.add_args(init, &of, args_at);
            if let Some(end) = self.r.body.last_op(init) {
                self.r.body.insert_operands(end, args_at, &args);
            }
        }
        let of: Vec<ValueId> = carried.iter().map(|&j| cond_args[j]).collect();
        let args = self.add_args(cond, &of, args_at);
        self.r.at_start(cond);
        for (&value, arg) in of.iter().zip(args) {
            self.enter(value, arg).map_err(|why| self.failure(op, &why))?;
        }
        let of: Vec<ValueId> = forward.iter().map(|&i| body_args[i]).collect();
        let args = self.add_args(body, &of, results_at);
        self.r.at_start(body);
        for (&value, arg) in of.iter().zip(args) {
            self.enter(value, arg).map_err(|why| self.failure(op, &why))?;
        }

        self.ops(&cond_ops)?;
        let handed: Vec<ValueId> = forward.iter().map(|&i| self.r.body.operand(cond_end, i + 1)).collect();
        self.hand_on(op, cond_end, &handed, results_at + 1)?;
        self.ops(&body_ops)?;
        let handed: Vec<ValueId> = carried.iter().map(|&j| self.r.body.operand(body_end, j)).collect();
        self.hand_on(op, body_end, &handed, args_at)?;
        self.recreate(op, &inputs, &forward, results_at)
    }

    fn if_op(&mut self, op: OpId, structure: &FlowForm) -> Result<(), Failure> {
        let results: Vec<ValueId> = self.r.body.results(op).collect();
        let with_tangent: Vec<usize> = (0..results.len())
            .filter(|&i| self.activity.is_active(results[i]))
            .collect();
        let results_at = results.len() - usize::from(structure.entry.is_some());
        for block in structure.present() {
            let (ops, Some(end)) = self.contents(block) else {
                return Err(self.failure(op, "a branch is empty"));
            };
            self.ops(&ops)?;
            let handed: Vec<ValueId> = with_tangent.iter().map(|&i| self.r.body.operand(end, i)).collect();
            self.hand_on(op, end, &handed, results_at)?;
        }
        if !with_tangent.is_empty() {
            let operands = self.r.body.operands_vec(op);
            self.recreate(op, &operands, &with_tangent, results_at)?;
        }
        Ok(())
    }

    /// Makes an operation anew with results for the tangents of those at `of`, from `at` on.
    fn recreate(&mut self, op: OpId, operands: &[ValueId], of: &[usize], at: usize) -> Result<(), Failure> {
        let old: Vec<ValueId> = self.r.body.results(op).collect();
        let mut types = types_of(self.r.body, old.iter().copied());
        let tangents: Vec<Type> = of.iter().map(|&i| types[i]).collect();
        types.insert_many(at, tangents);
        let new = self.r.recreate(op, operands, &types);
        let place = |index: usize| if index < at { index } else { index + of.len() };
        for (index, &old) in old.iter().enumerate() {
            let value = self.r.body.result(new, place(index));
            self.r.stand_in(old, value);
            let origin = self.before(old);
            self.before.insert(value, origin);
            self.now.insert(origin, value);
        }
        for (index, &of) in of.iter().enumerate() {
            let (value, tangent) = (self.r.body.result(new, place(of)), self.r.body.result(new, at + index));
            self.r.name_like(tangent, value, "_tangent");
            self.r.after(new);
            self.enter(value, tangent).map_err(|why| self.failure(new, &why))?;
        }
        self.r.erase_op(op);
        Ok(())
    }
}
