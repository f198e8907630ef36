//! Writes programs that PaddlePaddle loads and runs: PIR JSON, version 4.
//!
//! `pd.while` computes its condition in a region; Paddle's `while` takes it as an operand. So the region is written
//! twice, before the loop and at the end of its body. Further requirements of Paddle's executor are met here and in
//! [`stacks`]: values that are carried by a loop and also used elsewhere are copied, and stacks are at top level only.

mod forms;
mod json;
mod operands;
mod ops;
mod overwritten;
mod printed;
mod stacks;
mod tuples;

use pir_dialects::{cf, formats, pd};
use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use pir_ir::{
    BlockId, Body, Context, Diagnostic, Module, OpId, OpView, Type, TypeData, ValueDef, ValueId, expand_composites,
    has_composites,
};

use pir_dialects::cf::is_stack;
use pir_dialects::pd::{is_if, is_while};
use stacks::StackPlan;

/// The number of a value in the file: results count up from 1, arguments of blocks down from -1.
type Id = i64;

/// A condition inside a condition is written four times, and so on.
const MAX_CONDITION_DEPTH: usize = 8;

/// Pending work, the next on top.
enum Task {
    /// The operations of a block from this one on.
    Ops(Option<OpId>),
    /// The loop itself, after its condition has been written.
    OpenLoop(OpId),
    /// The end of the body, after the condition has been written again.
    Again(OpId),
    CloseLoop(OpId),
    Else(OpId),
    CloseIf(OpId),
}

/// Whether PaddlePaddle has an operation: others are written as their compositions.
pub fn knows(op: OpView<'_>) -> bool {
    let name = op.name().strip_prefix("pd.");
    name.and_then(formats::paddle).is_some() && !formats::differs_in_paddle(op)
}

/// Writes a program.
///
/// # Errors
/// Everything that PaddlePaddle's form cannot express.
pub fn write(module: &Module) -> Result<String, Vec<Diagnostic>> {
    written(module, true)
}

/// `hoist`: whether constants in loops are written in front of them.
fn written(module: &Module, hoist: bool) -> Result<String, Vec<Diagnostic>> {
    if has_composites(module, &knows) {
        let mut expanded = module.clone();
        expand_composites(&mut expanded, &knows)?;
        return written(&expanded, hoist);
    }
    let (ctx, body) = (&*module.ctx, &module.body);
    let mut errors = Vec::new();
    let plan = stacks::plan(ctx, body, module.top(), &mut errors);
    let mut writer = Writer {
        ctx,
        body,
        plan,
        out: String::new(),
        ids: vec![0; body.num_value_slots()],
        stops: FxHashSet::default(),
        force: None,
        next: 1,
        next_arg: -1,
        current: None,
        blocks: 1,
        fetched: 0,
        counters: FxHashMap::default(),
        starts: FxHashMap::default(),
        lasts: FxHashMap::default(),
        again: FxHashSet::default(),
        condition_depth: 0,
        negations: FxHashMap::default(),
        tasks: Vec::new(),
        persistable: false,
        order: Vec::new(),
        errors,
        hoist,
        open: 0,
        top: 0,
        outside: FxHashMap::default(),
    };
    writer.program(module.top());
    match writer.errors.is_empty() {
        true => Ok(writer.out),
        false => Err(writer.errors),
    }
}

/// Writes a program as Paddle prints it. Numbers have six digits: [`write()`] keeps all.
///
/// # Errors
/// Everything that PaddlePaddle's form cannot express.
pub fn write_printed(module: &Module) -> Result<String, Vec<Diagnostic>> {
    written(module, false).map(|saved| printed::print(&saved))
}

struct Writer<'m> {
    ctx: &'m Context,
    body: &'m Body,
    plan: StackPlan,
    out: String,
    /// The number of each value; 0 if it has none.
    ids: Vec<Id>,
    /// The values at which gradients stop.
    stops: FxHashSet<Id>,
    /// Overrides that for the next operation.
    force: Option<bool>,
    next: Id,
    next_arg: Id,
    blocks: usize,
    /// Whether the next input is kept between runs.
    persistable: bool,
    /// The positions of operations in the program, once needed.
    order: Vec<u32>,
    /// How many values have been fetched.
    fetched: i64,
    /// The counters of counting loops that are open.
    counters: FxHashMap<OpId, Id>,
    /// The first value number inside an operation with regions.
    starts: FxHashMap<OpId, Id>,
    /// The values that a condition recorded last, by stack, and the block in which they are visible.
    lasts: FxHashMap<usize, (Vec<Id>, BlockId)>,
    /// The loops whose conditions are being written at the end of the body.
    again: FxHashSet<OpId>,
    condition_depth: usize,
    /// The negation of a value that was written as its negation.
    negations: FxHashMap<ValueId, Id>,
    tasks: Vec<Task>,
    errors: Vec<Diagnostic>,
    /// The operation that is written.
    current: Option<OpId>,
    /// Whether constants in loops are written in front of them.
    hoist: bool,
    /// How many loops and branches are open, and where the outermost begins in what is written.
    open: usize,
    top: usize,
    /// The constants that were written in front of them.
    outside: FxHashMap<String, Id>,
}

impl Writer<'_> {
    fn program(&mut self, top: BlockId) {
        self.out
            .push_str(r##"{"base_code":{"magic":"pir","trainable":true,"version":4},"program":{"regions":["##);
        self.out
            .push_str(r##"{"#":"region_0","blocks":[{"#":"block_0","args":[],"ops":["##);
        let types = [
            cf::stack_type(self.ctx),
            self.ctx.dialect_type::<cf::Inlet>(),
            self.ctx.dialect_type::<cf::Outlet>(),
        ];
        // The first stack has the numbers 1 to 3, and so on: see `stack`.
        for _ in 0..self.plan.stacks {
            self.raw("2.stack_create", "", &[], &types);
        }
        self.tasks.push(Task::Ops(self.body.first_op(top)));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Ops(None) => {}
                Task::Ops(Some(op)) => {
                    self.tasks.push(Task::Ops(self.body.next_op(op)));
                    self.op(op);
                }
                Task::OpenLoop(op) => self.open_loop(op),
                Task::Again(op) => self.again(op),
                Task::CloseLoop(op) => self.close_loop(op),
                Task::Else(op) => {
                    self.yield_branch(op, 0);
                    self.region("]}]},");
                    self.out.push_str(r##""args":[],"ops":["##);
                    self.branch(op, 1, Task::CloseIf(op));
                }
                Task::CloseIf(op) => {
                    self.yield_branch(op, 1);
                    self.close();
                }
            }
        }
        self.out.push_str("]}]}]}}\n");
    }

    fn error(&mut self, op: OpId, code: &'static str, message: String) -> &mut Diagnostic {
        let error = Diagnostic::error(code, message).label(self.body.op_span(op), "here");
        self.errors.push(error);
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    fn id(&self, value: ValueId) -> Id {
        self.ids.get(value.index()).copied().unwrap_or(0)
    }

    fn bind(&mut self, value: ValueId, id: Id) {
        if let Some(slot) = self.ids.get_mut(value.index()) {
            *slot = id;
        }
    }

    fn stack_typed(&self, value: ValueId) -> bool {
        is_stack(self.ctx, self.body.value_type(value))
    }

    /// The numbers of the stack, the inlet and the outlet of a planned stack.
    fn stack(index: usize) -> [Id; 3] {
        [1, 2, 3].map(|end| 3 * index as Id + end)
    }

    /// Writes an operation up to its regions. Returns the number of its first result.
    fn head(&mut self, name: &str, attrs: &str, inputs: &[Id], results: &[Type]) -> Id {
        if matches!(name, "1.while" | "1.if") {
            if self.open == 0 {
                self.top = self.out.len();
            }
            self.open += 1;
        }
        if !self.out.ends_with('[') {
            self.out.push(',');
        }
        self.out.push_str(r##"{"#":"##);
        json::string(name, &mut self.out);
        let _ = write!(self.out, r##","A":[{attrs}],"I":["##);
        for (at, id) in inputs.iter().enumerate() {
            let _ = write!(self.out, r##"{}{{"%":{id}}}"##, if at > 0 { "," } else { "" });
        }
        self.out.push_str(r##"],"O":["##);
        let first = self.next;
        let mut flags = String::new();
        let force = self.force.take();
        for (at, &ty) in results.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let id = self.next;
            self.next += 1;
            let _ = write!(self.out, r##"{comma}{{"%":{id},"TT":"##);
            let start = self.out.len();
            if let Err(message) = json::type_of(self.ctx, ty, &mut self.out) {
                self.out.truncate(start);
                self.type_error(message);
            }
            self.out.push('}');
            let stop = self.stops_at(name, inputs, at, ty, force);
            if stop {
                self.stops.insert(id);
            }
            let _ = write!(flags, r##"{comma}{{"#":"0.a_bool","D":{stop}}}"##);
        }
        self.out.push_str(r##"],"OA":["##);
        if std::mem::take(&mut self.persistable) {
            let flags = json::plain("0.a_array", r##"[{"#":"0.a_bool","D":true}]"##);
            let mut entry = String::new();
            json::entry("persistable", &flags, &mut entry);
            let _ = write!(self.out, "{entry},");
        }
        if !results.is_empty() && !name.starts_with("2.") {
            let _ = write!(
                self.out,
                r##"{{"N":"stop_gradient","AT":{{"#":"0.a_array","D":[{flags}]}}}}"##
            );
        }
        self.out.push(']');
        first
    }

    /// Whether Paddle's own gradients stop at a result: at anything computed only from constants and integers, unless
    /// the program overrides it.
    fn stops_at(&self, name: &str, inputs: &[Id], at: usize, ty: Type, force: Option<bool>) -> bool {
        let elem = match self.ctx.type_data(ty) {
            TypeData::List(items) => items.first().copied().unwrap_or(ty),
            _ => ty,
        };
        if !self.ctx.is_float(self.ctx.elem_type(elem)) {
            return true;
        }
        let stopped = |id: &Id| *id == 0 || self.stops.contains(id);
        match (force, name) {
            (Some(force), _) => force,
            // A carried value has the flag of its initial value.
            (None, "1.while") => inputs.get(at + 1).is_some_and(stopped),
            (None, "1.data" | "1.if" | "2.tuple_pop") => false,
            (None, _) => inputs.iter().all(stopped),
        }
    }

    /// Writes an operation without regions. Returns the number of its first result.
    fn raw(&mut self, name: &str, attrs: &str, inputs: &[Id], results: &[Type]) -> Id {
        let first = self.head(name, attrs, inputs, results);
        self.out.push('}');
        first
    }

    /// Ends a loop or a branch.
    fn close(&mut self) {
        self.out.push_str("]}]}]}");
        self.open -= 1;
    }

    /// Opens a region and its block, up to the arguments.
    fn region(&mut self, before: &str) {
        let number = self.blocks;
        self.blocks += 1;
        let _ = write!(
            self.out,
            r##"{before}{{"#":"region_{number}","blocks":[{{"#":"block_{number}","##
        );
    }

    fn type_error(&mut self, message: String) {
        let mut error = Diagnostic::error("paddle-type", message)
            .help("PaddlePaddle has only tensors and lists of tensors: pass the elements of other lists separately");
        if let Some(op) = self.current {
            error = error.label(self.body.op_span(op), "this operation");
        }
        self.errors.push(error);
    }

    fn op(&mut self, op: OpId) {
        self.current = Some(op);
        let (ctx, body) = (self.ctx, self.body);
        let name = ctx.op_str(body.op_name(op));
        match name {
            cf::YIELD | cf::COND_YIELD | cf::CREATE_STACK => {}
            cf::PUSH_BACK => self.push(op),
            cf::POP_BACK => self.pop(op),
            cf::IS_EMPTY => self.is_empty(op),
            pd::LogicalNot::NAME if self.negated(op) => {}
            _ if (is_while(name) || is_if(name)) && self.passes_lists(op) => {
                let message = format!("the lists that `{name}` forwards cannot be written for PaddlePaddle");
                let help = "its executor does not support lists there: pass the elements, and combine them afterwards";
                self.error(op, "paddle-list", message).help = Some(help.to_owned());
            }
            _ if is_while(name) => self.enter_loop(op),
            _ if is_if(name) => self.open_if(op),
            _ if !body.op_regions(op).is_empty() || body.isolated(op).is_some() || !body.successors(op).is_empty() => {
                let message = format!("`{name}` cannot be written for PaddlePaddle");
                let help = match name {
                    "func.func" => {
                        "run `inline,symbol-dce`, which inlines calls and removes private functions; only the top \
                         level is written"
                    }
                    _ => "use `pd.if` and `pd.while` for control flow",
                };
                self.error(op, "unwritable-op", message).help = Some(help.to_owned());
            }
            _ => self.ordinary(op),
        }
    }

    /// Whether an operation with regions takes or gives a list.
    fn passes_lists(&self, op: OpId) -> bool {
        let is_list = |v| matches!(self.ctx.type_data(self.body.value_type(v)), TypeData::List(_));
        self.body.operands(op).any(is_list) || self.body.results(op).any(is_list)
    }

    // ----- loops -----

    /// The single block of a region, not counting `init`.
    fn block(&self, op: OpId, role: usize) -> Option<BlockId> {
        let regions = self.body.op_regions(op);
        let at = regions.len().checked_sub(2)? + role;
        self.body.single_block(*regions.get(at)?)
    }

    /// The values that a block forwards, without stacks and, in a condition, without the condition.
    fn passed(&self, block: Option<BlockId>, skip: usize) -> Vec<ValueId> {
        let last = block.and_then(|b| self.body.last_op(b));
        let values = last.into_iter().flat_map(|op| self.body.operands(op).skip(skip));
        values.filter(|&v| !self.stack_typed(v)).collect()
    }

    fn args(&self, block: Option<BlockId>) -> Vec<ValueId> {
        let args = block.map_or(&[][..], |b| self.body.block_args(b));
        args.iter().copied().filter(|&v| !self.stack_typed(v)).collect()
    }

    fn bind_all(&mut self, values: &[ValueId], ids: &[Id]) {
        for (&value, &id) in values.iter().zip(ids) {
            self.bind(value, id);
        }
    }

    /// Writes the condition for the initial values.
    fn enter_loop(&mut self, op: OpId) {
        self.condition_depth += 1;
        if self.condition_depth > MAX_CONDITION_DEPTH {
            self.condition_depth -= 1;
            let message = "conditions of loops are nested too deeply to be written for PaddlePaddle".to_owned();
            self.error(op, "unwritable-op", message);
            return;
        }
        let regions = self.body.op_regions(op);
        let mut inits: Vec<ValueId> = self.body.operands(op).collect();
        if let &[init, _, _] = regions {
            let block = self.body.single_block(init);
            let ids: Vec<Id> = inits.iter().map(|&v| self.id(v)).collect();
            let args: Vec<ValueId> = block.map_or(Vec::new(), |b| self.body.block_args(b).to_vec());
            self.bind_all(&args, &ids);
            inits = self.passed(block, 0);
        }
        inits.retain(|&v| !self.stack_typed(v));
        let ids: Vec<Id> = inits.iter().map(|&v| self.id(v)).collect();
        self.bind_all(&self.args(self.block(op, 0)), &ids);
        if let Some(&handle) = self.plan.counted.get(&op) {
            self.counters.insert(op, self.id(handle));
        } else if self.plan.counting.contains_key(&op) {
            let zero = self.full(&[1], 0.0, Type::I64);
            self.counters.insert(op, zero);
        }
        self.tasks.push(Task::OpenLoop(op));
        self.condition(op);
    }

    fn condition(&mut self, op: OpId) {
        let first = self.block(op, 0).and_then(|b| self.body.first_op(b));
        self.tasks.push(Task::Ops(first));
    }

    /// The condition, and the values that it forwards.
    fn condition_values(&self, op: OpId) -> (ValueId, Vec<ValueId>) {
        let block = self.block(op, 0);
        let last = block.and_then(|b| self.body.last_op(b));
        let condition = last.and_then(|l| self.body.operands(l).next());
        let condition = condition.unwrap_or_else(|| self.body.operand(op, 0));
        (condition, self.passed(block, 1))
    }

    fn open_loop(&mut self, op: OpId) {
        self.condition_depth -= 1;
        let (condition, values) = self.condition_values(op);
        let mut types: Vec<Type> = values.iter().map(|&v| self.body.value_type(v)).collect();
        let mut given: Vec<Id> = Vec::with_capacity(values.len() + 2);
        given.push(self.id(condition));
        given.extend(values.iter().map(|&v| self.id(v)));
        // The executor frees the operands that a loop takes over: values that are used elsewhere are copied.
        let own = self.own_operands(op);
        let mut inputs: Vec<Id> = Vec::with_capacity(given.len() + 1);
        for (at, &id) in given.iter().enumerate() {
            let ty = at.checked_sub(1).and_then(|i| types.get(i).copied());
            let ty = ty.unwrap_or_else(|| self.ctx.tensor(&[1], Type::I1));
            inputs.push(if own.contains(&id) && !inputs.contains(&id) {
                id
            } else {
                self.assign(id, ty)
            });
        }
        let recorded = self.plan.recorded.get(&op).cloned().unwrap_or_default();
        for &value in recorded.iter().flat_map(|(_, values)| values) {
            let ty = self.body.value_type(value);
            inputs.push(self.assign(self.id(value), ty));
            types.push(ty);
        }
        let count = self.ctx.tensor(&[1], Type::I64);
        let counter = self.counters.get(&op).copied();
        if let Some(counter) = counter {
            inputs.push(self.assign(counter, count));
            types.push(count);
        }
        let first = self.head("1.while", "", &inputs, &types);
        self.starts.insert(op, self.next);
        let results: Vec<ValueId> = self.body.results(op).filter(|&v| !self.stack_typed(v)).collect();
        let ids: Vec<Id> = (0..results.len() as Id).map(|at| first + at).collect();
        self.bind_all(&results, &ids);
        if let Some(sites) = self.plan.counting.get(&op).cloned() {
            // A loop with a known trip count need not count.
            let counted = self.plan.counted.get(&op).map(|&count| self.id(count));
            let count = counted.unwrap_or(first + types.len() as Id - 1);
            let made = sites.into_iter().flat_map(|site| self.body.results(site));
            let handles = made.chain(self.body.results(op).filter(|&v| self.stack_typed(v)));
            for handle in handles.collect::<Vec<_>>() {
                self.bind(handle, count);
            }
        }
        let mut next = first + results.len() as Id;
        for (stack, values) in &recorded {
            let ids = values.iter().zip(next..).map(|(_, id)| id).collect();
            next += values.len() as Id;
            if let Some(block) = self.body.op_block(op) {
                self.lasts.insert(*stack, (ids, block));
            }
        }
        self.region(r##","regions":["##);
        self.out.push_str(r##""args":["##);
        let args = self.args(self.block(op, 1));
        let mut carried = self.next_arg - args.len() as Id;
        for (at, &ty) in types.iter().enumerate() {
            let id = self.next_arg;
            self.next_arg -= 1;
            if self.stops.contains(&(first + at as Id)) {
                self.stops.insert(id);
            }
            let _ = write!(self.out, r##"{}{{"#":{id},"TT":"##, if at > 0 { "," } else { "" });
            if let Err(message) = json::type_of(self.ctx, ty, &mut self.out) {
                self.type_error(message);
            }
            self.out.push('}');
            match args.get(at) {
                Some(&arg) => self.bind(arg, id),
                None if at + 1 == types.len() && counter.is_some() => {
                    self.counters.insert(op, id);
                }
                None => {}
            }
        }
        self.out.push_str(r##"],"ops":["##);
        for (stack, values) in recorded {
            let mut inputs = vec![Self::stack(stack)[1]];
            inputs.extend((0..values.len() as Id).map(|at| carried - at));
            carried -= values.len() as Id;
            self.raw("2.tuple_push", "", &inputs, &[]);
        }
        self.tasks.push(Task::Again(op));
        let block = self.block(op, 1);
        self.tasks.push(Task::Ops(block.and_then(|b| self.body.first_op(b))));
    }

    /// The values that this loop may take over: defined in the same block, and used only by the loop and its condition.
    /// Inputs may be used by its body as well.
    fn own_operands(&self, op: OpId) -> FxHashSet<Id> {
        let here = self.body.op_block(op);
        let inner = self.block(op, 0);
        let inside = |user: OpId| user == op || self.body.parent_op(user) == Some(op);
        let own = |v: ValueId| match self.body.value_def(v) {
            ValueDef::Result(def, _) => {
                let block = self.body.op_block(def);
                match self.ctx.op_str(self.body.op_name(def)) {
                    pd::Data::NAME => block == here && self.body.uses(v).all(|u| inside(u.op)),
                    pd::Parameter::NAME | pd::Feed::NAME => false,
                    // The stack may be left over from another loop.
                    cf::POP_BACK if block == inner => false,
                    _ => (block == here || block == inner) && self.body.has_one_use(v),
                }
            }
            ValueDef::Arg(block, _) => Some(block) == here && self.body.has_one_use(v),
            ValueDef::None => false,
        };
        let last = inner.and_then(|b| self.body.last_op(b));
        let passed = last.into_iter().flat_map(|l| self.body.operands(l));
        self.body
            .operands(op)
            .chain(passed)
            .filter(|&v| own(v))
            .map(|v| self.id(v))
            .collect()
    }

    /// A copy of a value.
    fn assign(&mut self, id: Id, ty: Type) -> Id {
        self.raw("1.assign", "", &[id], &[ty])
    }

    /// Writes the condition for the next values.
    fn again(&mut self, op: OpId) {
        self.condition_depth += 1;
        let nexts = self.passed(self.block(op, 1), 0);
        let ids: Vec<Id> = nexts.iter().map(|&v| self.id(v)).collect();
        self.bind_all(&self.args(self.block(op, 0)), &ids);
        if let Some(&counter) = self.counters.get(&op) {
            let step = if self.plan.counted.contains_key(&op) { -1.0 } else { 1.0 };
            let count = self.ctx.tensor(&[1], Type::I64);
            let next = self.shifted(counter, step, count);
            self.counters.insert(op, next);
        }
        self.again.insert(op);
        self.tasks.push(Task::CloseLoop(op));
        self.condition(op);
    }

    fn close_loop(&mut self, op: OpId) {
        self.condition_depth -= 1;
        let (condition, values) = self.condition_values(op);
        let mut types = vec![self.ctx.tensor(&[1], Type::I1)];
        types.extend(values.iter().map(|&v| self.body.value_type(v)));
        let mut ids = vec![self.id(condition)];
        ids.extend(values.iter().map(|&v| self.id(v)));
        self.again.remove(&op);
        let recorded = self.plan.recorded.get(&op).into_iter().flatten();
        for &value in recorded.flat_map(|(_, values)| values) {
            ids.push(self.id(value));
            types.push(self.body.value_type(value));
        }
        if let Some(counter) = self.counters.remove(&op) {
            ids.push(counter);
            types.push(self.ctx.tensor(&[1], Type::I64));
        }
        self.terminate(op, &ids, &types);
        self.close();
    }

    /// Writes a terminator. Values that are not computed inside are copied: they are used elsewhere.
    fn terminate(&mut self, op: OpId, ids: &[Id], types: &[Type]) {
        let start = self.starts.get(&op).copied().unwrap_or(0);
        let mut passed: Vec<Id> = Vec::with_capacity(ids.len());
        let mut seen: FxHashSet<Id> = FxHashSet::default();
        for (&id, &ty) in ids.iter().zip(types) {
            let fresh = id >= start && seen.insert(id);
            passed.push(if fresh { id } else { self.assign(id, ty) });
        }
        self.raw("2.yield", "", &passed, &[]);
    }

    // ----- branches -----

    fn open_if(&mut self, op: OpId) {
        let condition: Vec<Id> = self.body.operands(op).take(1).map(|v| self.id(v)).collect();
        let results: Vec<ValueId> = self.body.results(op).filter(|&v| !self.stack_typed(v)).collect();
        let types: Vec<Type> = results.iter().map(|&v| self.body.value_type(v)).collect();
        let first = self.head("1.if", "", &condition, &types);
        self.starts.insert(op, self.next);
        for (at, &result) in results.iter().enumerate() {
            self.bind(result, first + at as Id);
        }
        self.region(r##","regions":["##);
        self.out.push_str(r##""args":[],"ops":["##);
        self.branch(op, 0, Task::Else(op));
    }

    fn branch(&mut self, op: OpId, role: usize, then: Task) {
        self.tasks.push(then);
        let first = self.block(op, role).and_then(|b| self.body.first_op(b));
        self.tasks.push(Task::Ops(first));
    }

    fn yield_branch(&mut self, op: OpId, role: usize) {
        let values = self.passed(self.block(op, role), 0);
        let ids: Vec<Id> = values.iter().map(|&v| self.id(v)).collect();
        let types: Vec<Type> = values.iter().map(|&v| self.body.value_type(v)).collect();
        self.terminate(op, &ids, &types);
    }
}
