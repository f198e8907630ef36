//! The eager engine: automatic differentiation by tracing, as an oracle for the passes.
//!
//! Every executed operation records a gradient node with edges to the nodes of its operands. `backward` follows them.
//! The design is that of PaddlePaddle's dynamic graph: tensors with autograd meta data, nodes with slots, ranks and
//! edges, tensor wrappers with version checks, gradient holders, hooks, leaf accumulation, and a queue driven by
//! in-degrees. Gradient functions compute with eager tensors: with `create_graph` they are recorded like any operation,
//! which gives derivatives of any order.
//!
//! Nothing here uses the gradient rules of the passes, nor the gradient operations that these emit, unless the traced
//! program contains them. Loops, branches, calls and stacks need no rules, since they do not occur in a trace.

mod backward;
mod custom;
mod data_movement;
mod holder;
mod live;
mod node;
mod program;
mod rules;
mod run;
mod tensor;
mod value;
mod vjps;
mod wrapper;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use pir_ir::budget;
use pir_ir::{Attr, AttrDict, Body, Context, OpName, Rewriter, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub use backward::GradOptions;
pub use live::live;
pub use node::{Edge, HookId, Node, SlotMeta, SlotMetas};
pub use program::{Targets, Trace, trace};
pub use rules::{has_rule, is_constant, rule_names};
pub use tensor::Tensor;

use crate::kernels::{Inputs, Kernel, Kernels};
use crate::tensor::{DType, Shape, Tensor as Dense};
use custom::Custom;
use node::{GradNodeKind, Operation};
use rules::{Rule, RuleKind};
use wrapper::Wrapper;

/// An operand: a tensor, or a list of them.
#[derive(Clone, Debug)]
pub enum Slot {
    /// A tensor.
    One(Tensor),
    /// A list.
    List(Vec<Tensor>),
}

impl Slot {
    /// The tensors.
    pub fn tensors(&self) -> &[Tensor] {
        match self {
            Slot::One(tensor) => std::slice::from_ref(tensor),
            Slot::List(tensors) => tensors,
        }
    }
}

/// The shapes and types of operands, and whether they are lists.
type Layout = Vec<(bool, SmallVec<[(Shape, DType); 3]>)>;
/// The key of a prepared kernel.
type Key = (OpName, AttrDict, Layout);

/// Executes operations and records them.
pub struct Engine {
    ctx: Arc<Context>,
    prepared: RefCell<FxHashMap<Key, Rc<Kernel>>>,
    rules: FxHashMap<&'static str, &'static Rule>,
    recording: Cell<bool>,
}

impl Engine {
    /// An engine for the operations of a context.
    pub fn new(ctx: Arc<Context>) -> Self {
        Engine {
            ctx,
            prepared: RefCell::default(),
            rules: rules::all().map(|rule| (rule.op, rule)).collect(),
            recording: Cell::new(true),
        }
    }

    /// The context.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// Runs a function with recording on or off.
    pub fn recording<R>(&self, on: bool, f: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Cell<bool>, bool);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _restore = Restore(&self.recording, self.recording.replace(on));
        f()
    }

    /// Whether operations are recorded.
    pub fn is_recording(&self) -> bool {
        self.recording.get()
    }

    /// Executes an operation on tensors.
    ///
    /// # Errors
    /// If there is no such operation, or it fails.
    pub fn apply(&self, op: &str, operands: &[&Tensor], attrs: &[(&str, Attr)]) -> Result<Vec<Tensor>, String> {
        let slots: Vec<Slot> = operands.iter().map(|&t| Slot::One(t.clone())).collect();
        self.apply_slots(self.ctx.op_name(op), slots, self.dict(attrs))
    }

    pub(super) fn dict(&self, attrs: &[(&str, Attr)]) -> AttrDict {
        let entries: SmallVec<[_; 4]> = attrs.iter().map(|&(name, attr)| (self.ctx.sym(name), attr)).collect();
        self.ctx.dict(&entries)
    }

    /// Executes an operation whose operands may be lists. Results that are lists are flattened.
    ///
    /// # Errors
    /// If there is no such operation, or it fails.
    pub fn apply_slots(&self, op: OpName, operands: Vec<Slot>, attrs: AttrDict) -> Result<Vec<Tensor>, String> {
        let results = self.compute(op, &operands, attrs)?;
        let results = results.into_iter().map(|t| vec![t]).collect();
        Ok(self
            .record(op, attrs, &operands, results)?
            .into_iter()
            .flatten()
            .collect())
    }

    /// Executes an operation and stores its first result in its first operand.
    ///
    /// # Errors
    /// If it fails, or if the operand is a leaf that requires a gradient.
    pub fn apply_in_place(&self, op: &str, operands: &[&Tensor], attrs: &[(&str, Attr)]) -> Result<(), String> {
        let &target = operands.first().ok_or("an operation in place needs an operand")?;
        if self.is_recording() && !target.stop_gradient() && target.is_leaf() {
            return Err("a leaf that requires a gradient cannot be changed in place".to_owned());
        }
        let result = self.apply(op, operands, attrs)?;
        let result = result.first().ok_or("the operation has no result")?;
        if (result.shape(), result.dtype()) != (target.shape(), target.dtype()) {
            return Err(format!(
                "the type of the result of `{op}` differs from that of the operand that it replaces"
            ));
        }
        target.overwrite(result.data());
        // Its history is now that of the result. Saved wrappers keep the old elements, but the version differs: a
        // gradient function that reads them fails.
        if let Some(Edge { node, slot, rank }) = result.edge() {
            target.set_history(node, slot, rank);
        }
        Ok(())
    }

    /// Computes an operation without recording it.
    fn compute(&self, op: OpName, operands: &[Slot], attrs: AttrDict) -> Result<Vec<Dense>, String> {
        let flat: Inputs = operands.iter().flat_map(Slot::tensors).map(Tensor::data).collect();
        if let Some(results) = data_movement::builtin(self.ctx.op_str(op), &flat) {
            return Ok(vec![results?]);
        }
        let layout: Layout = operands
            .iter()
            .map(|slot| {
                let metas = slot.tensors().iter().map(|t| (t.shape(), t.dtype()));
                (matches!(slot, Slot::List(_)), metas.collect())
            })
            .collect();
        let kernel = self.kernel(op, layout, attrs)?;
        Ok(kernel(flat)?.into_vec())
    }

    /// The kernel of an operation on operands of these shapes and types.
    fn kernel(&self, op: OpName, layout: Layout, attrs: AttrDict) -> Result<Rc<Kernel>, String> {
        let key = (op, attrs, layout);
        if let Some(kernel) = self.prepared.borrow().get(&key) {
            return Ok(kernel.clone());
        }
        let ctx = &*self.ctx;
        let mut body = Body::new();
        let operands: Vec<_> = key
            .2
            .iter()
            .map(|(list, metas)| {
                let types: Vec<Type> = metas.iter().map(|(shape, dtype)| type_of(ctx, shape, *dtype)).collect();
                let ty = match (list, &types[..]) {
                    (false, &[ty]) => ty,
                    _ => ctx.intern_type(pir_ir::TypeData::List(types.into())),
                };
                body.create_placeholder(ty)
            })
            .collect();
        let region = body.root();
        let block = body.create_block(region);
        let name = ctx.op_str(op);
        let mut rewriter = Rewriter::new(ctx, &mut body);
        rewriter.at_end(block);
        let made = rewriter.op(name).operands(operands).attrs(attrs).infer()?;
        let kernel = Kernels::of(ctx)
            .prepare(body.view(ctx, made))
            .ok_or_else(|| format!("there is no kernel for `{name}`"))??;
        let kernel = Rc::new(kernel);
        let mut prepared = self.prepared.borrow_mut();
        // Bounded, since a program may use ever new shapes.
        if prepared.len() >= 4096 {
            prepared.clear();
        }
        prepared.insert(key, kernel.clone());
        Ok(kernel)
    }

    /// Creates the tensors of an operation's results, each a tensor or a list, and records the operation if a gradient
    /// may be requested. Not recording it requires a reason: no operand has a gradient, or the operation is known to
    /// have none.
    pub(super) fn record(
        &self,
        op: OpName,
        attrs: AttrDict,
        operands: &[Slot],
        results: Vec<Vec<Dense>>,
    ) -> Result<Vec<Vec<Tensor>>, String> {
        self.record_with(op, attrs, operands, results, None)
    }

    /// The same of a call whose function may name its derivative.
    fn record_with(
        &self,
        op: OpName,
        attrs: AttrDict,
        operands: &[Slot],
        results: Vec<Vec<Dense>>,
        custom: Option<Custom>,
    ) -> Result<Vec<Vec<Tensor>>, String> {
        let results: Vec<Vec<Tensor>> = results
            .into_iter()
            .map(|slot| slot.into_iter().map(Tensor::new).collect())
            .collect();
        let flat = || operands.iter().flat_map(Slot::tensors);
        let float = |t: &Tensor| t.dtype().is_float();
        let tracked = self.recording.get() && flat().any(|t| float(t) && !t.stop_gradient());
        let rule = self.rules.get(self.ctx.op_str(op)).copied();
        if !tracked || rule.is_some_and(|rule| matches!(rule.kind, RuleKind::Zero)) {
            return Ok(results);
        }
        if !results.iter().flatten().any(float) {
            // An operation with a gradient function has none for integers; without one, the meaning of its integers is
            // unknown.
            return match rule {
                Some(_) => Ok(results),
                None => Err(format!("`{}` has no gradient function", self.ctx.op_str(op))),
            };
        }
        let held = budget::reserve(Operation::bytes(flat().count(), results.iter().flatten().count()))?;
        let all = custom.is_some();
        let saves = |at: usize, t: &Tensor| all || rule.is_some_and(|rule| rule.saves_input(at)) || !float(t);
        let inputs = flat().enumerate().map(|(at, t)| Wrapper::new(t, !saves(at, t)));
        let out_meta = operands
            .iter()
            .map(|slot| slot.tensors().iter().map(|t| SlotMeta::of(t, t.edge())).collect())
            .collect();
        let in_meta = results
            .iter()
            .map(|slot| slot.iter().map(|t| SlotMeta::of(t, None)).collect())
            .collect();
        let node = Node::operation(
            Operation {
                name: op,
                attrs,
                lists: operands.iter().map(|s| matches!(s, Slot::List(_))).collect(),
                rule,
                custom,
                inputs: RefCell::new(inputs.collect()),
                outputs: RefCell::default(),
                _held: held,
            },
            in_meta,
            out_meta,
        );
        for (slot, tensors) in results.iter().enumerate() {
            for (rank, tensor) in tensors.iter().enumerate().filter(|(_, t)| float(t)) {
                tensor.set_history(node.clone(), slot, rank);
            }
        }
        if let GradNodeKind::Operation(operation) = &node.kind {
            let saves = |at: usize| all || rule.is_some_and(|rule| rule.saves_output(at));
            let outputs = results.iter().flatten().enumerate();
            *operation.outputs.borrow_mut() = outputs.map(|(at, t)| Wrapper::new(t, !saves(at))).collect();
        }
        Ok(results)
    }
}

/// The type of a tensor.
pub(crate) fn type_of(ctx: &Context, shape: &[usize], dtype: DType) -> Type {
    let dims: SmallVec<[i64; 6]> = shape.iter().map(|&d| d as i64).collect();
    ctx.tensor(&dims, elem_type(ctx, dtype))
}

/// The type of the elements.
pub(super) fn elem_type(ctx: &Context, dtype: DType) -> Type {
    match dtype {
        DType::I1 => Type::I1,
        DType::I8 => Type::I8,
        DType::I16 => Type::I16,
        DType::I32 => Type::I32,
        DType::I64 => Type::I64,
        DType::UI8 => Type::UI8,
        DType::UI16 => Type::UI16,
        DType::UI32 => Type::UI32,
        DType::UI64 => Type::UI64,
        DType::F16 => Type::F16,
        DType::BF16 => Type::BF16,
        DType::F32 => Type::F32,
        DType::F64 => Type::F64,
        DType::C64 => ctx.complex_type(Type::F32),
        DType::C128 => ctx.complex_type(Type::F64),
    }
}
