//! Gradient functions, in a table by operation name.
//!
//! They are written for this engine alone and share nothing with the rules of the passes, whose oracle they are. There
//! are few kinds of rule: a formula for one operand, two formulas with broadcasting, zero, a movement of elements, or,
//! where that is the most evidently correct, a composition of other operations, which the engine differentiates.

mod activation;
mod algebra;
mod elementwise;
mod grad_ops;
mod linear;
mod nn;
mod reduce;
mod rnn;
mod scalars;
mod scatter;
mod shape;
mod windows;

use pir_dialects::pd;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use pir_ir::{Arity, AttrData, AttrDict, OpName};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::backward::{GradOptions, Request};
use super::node::{Node, Operation};
use super::value::V;
use super::{Engine, Tensor, data_movement};
use crate::tensor::{DType, Shape, Tensor as Dense};

/// The gradients of the operands, with lists flattened; `None` for no gradient.
pub(super) type Grads<'e> = Vec<Option<V<'e>>>;

/// A formula for one gradient.
type Formula = for<'e> fn(&Cx<'e>) -> V<'e>;
/// A function that returns the gradients of all operands.
type All = for<'e> fn(&Cx<'e>) -> Result<Grads<'e>, String>;
/// The results as a composition of other operations.
type Composite = for<'e> fn(&Cx<'e>) -> Vec<V<'e>>;

/// A kind of gradient function.
pub(super) enum RuleKind {
    /// The derivative is zero wherever it exists.
    Zero,
    /// The gradient of the first operand.
    One(Formula),
    /// The gradients of the first two operands, before summing broadcast dimensions.
    Two(Formula, Formula),
    /// The gradients of all operands.
    All(All),
    /// The operation moves or drops elements.
    DataMovement,
    /// The operation as a composition.
    Composite(Composite),
}

// The tensors to save, besides shapes and tensors that are not float.
pub(super) const NONE: u8 = 0;
pub(super) const X: u8 = 1;
pub(super) const Y: u8 = 2;
pub(super) const OUT: u8 = 4;
pub(super) const INPUTS: u8 = 8;
pub(super) const OUTPUTS: u8 = 16;
/// Operands that replace attributes.
pub(super) const REST: u8 = 32;

/// The gradient function of an operation.
pub(super) struct Rule {
    pub(super) op: &'static str,
    saves: u8,
    pub(super) kind: RuleKind,
}

impl Rule {
    pub(super) fn saves_input(&self, at: usize) -> bool {
        match at {
            0 => self.saves & (X | INPUTS) != 0,
            1 => self.saves & (Y | INPUTS | REST) != 0,
            _ => self.saves & (INPUTS | REST) != 0,
        }
    }

    pub(super) fn saves_output(&self, at: usize) -> bool {
        self.saves & OUTPUTS != 0 || at == 0 && self.saves & OUT != 0
    }
}

const fn rule(op: &'static str, saves: u8, kind: RuleKind) -> Rule {
    Rule { op, saves, kind }
}

const fn one(op: &'static str, saves: u8, formula: Formula) -> Rule {
    rule(op, saves, RuleKind::One(formula))
}

const fn two(op: &'static str, saves: u8, x: Formula, y: Formula) -> Rule {
    rule(op, saves, RuleKind::Two(x, y))
}

const fn all_of(op: &'static str, saves: u8, all: All) -> Rule {
    rule(op, saves, RuleKind::All(all))
}

const fn composite(op: &'static str, composite: Composite) -> Rule {
    rule(op, INPUTS, RuleKind::Composite(composite))
}

const fn data_movement(op: &'static str) -> Rule {
    rule(op, NONE, RuleKind::DataMovement)
}

const fn zero(op: &'static str) -> Rule {
    rule(op, NONE, RuleKind::Zero)
}

/// All rules, family by family.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [
        elementwise::RULES,
        scalars::RULES,
        linear::RULES,
        reduce::RULES,
        shape::RULES,
        grad_ops::RULES,
        nn::RULES,
        windows::RULES,
        rnn::RULES,
        activation::RULES,
        algebra::RULES,
        scatter::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The operations with gradient functions, including the engine's own.
pub fn rule_names() -> impl Iterator<Item = &'static str> {
    all().map(|rule| rule.op)
}

/// Whether the engine has a gradient function for the operation `name`.
pub fn has_rule(name: &str) -> bool {
    rule_names().any(|op| op == name)
}

/// Whether the derivative of the operation `name` is zero wherever it exists.
pub fn is_constant(name: &str) -> bool {
    all().any(|rule| rule.op == name && matches!(rule.kind, RuleKind::Zero))
}

/// The context of a gradient function: its operation and the incoming gradients.
pub(super) struct Cx<'e> {
    pub(super) engine: &'e Engine,
    node: &'e Rc<Node>,
    operation: &'e Operation,
    grads: Vec<Option<Tensor>>,
    /// Replacements for the saved operands.
    shadows: Option<Vec<Result<Tensor, String>>>,
    /// The operands that the gradient function has handled: without a gradient, theirs is zero.
    known: RefCell<FxHashSet<usize>>,
}

impl<'e> Cx<'e> {
    pub(super) fn new(
        engine: &'e Engine,
        node: &'e Rc<Node>,
        operation: &'e Operation,
        grads: Vec<Vec<Option<Tensor>>>,
    ) -> Self {
        Cx {
            engine,
            node,
            operation,
            grads: grads.into_iter().flatten().collect(),
            shadows: None,
            known: RefCell::default(),
        }
    }

    /// Declares that the gradient of an operand is zero, unless one is returned.
    pub(super) fn constant(&self, at: usize) {
        self.known.borrow_mut().insert(at);
    }

    /// Declares this for all operands.
    pub(super) fn others_constant(&self) {
        (0..self.num_inputs()).for_each(|at| self.constant(at));
    }

    /// Checks that every operand without a gradient was handled deliberately.
    fn complete(&self, mut grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>, String> {
        grads.resize(self.num_inputs().max(grads.len()), None);
        for (at, grad) in grads.iter().enumerate() {
            if grad.is_none() && self.wants(at) && self.dtype(at).is_float() && !self.known.borrow().contains(&at) {
                return Err(format!("there is none for operand {at}"));
            }
        }
        Ok(grads)
    }

    /// The gradients of the operands, with lists flattened.
    pub(super) fn gradients(self, rule: &Rule) -> Result<Vec<Option<Tensor>>, String> {
        // Formulas need not handle empty tensors.
        let mut wanted = (0..self.num_inputs()).filter(|&at| self.wants(at));
        if wanted.all(|at| self.shape(at).contains(&0)) {
            return Ok(vec![None; self.num_inputs()]);
        }
        let grads = match rule.kind {
            RuleKind::Zero => Vec::new(),
            RuleKind::One(formula) => vec![self.wants(0).then(|| formula(&self))],
            RuleKind::Two(x, y) => [x, y]
                .into_iter()
                .enumerate()
                .map(|(at, formula)| self.wants(at).then(|| formula(&self).sum_to(&self.shape(at))))
                .collect(),
            RuleKind::All(all) => all(&self)?,
            RuleKind::DataMovement => data_movement::gradients(&self)?,
            RuleKind::Composite(composite) => return self.differentiate(composite),
        };
        let tensors = grads.into_iter().map(|v| v.map(|v| v.tensor).transpose());
        self.complete(tensors.collect::<Result<_, _>>()?)
    }

    /// Recomputes the results as a composition, from new handles of the operands, and differentiates that.
    fn differentiate(mut self, composite: Composite) -> Result<Vec<Option<Tensor>>, String> {
        let engine = self.engine;
        let create_graph = engine.is_recording();
        let count = self.num_inputs();
        let (results, wanted) = engine.recording(true, || {
            let mut shadows = Vec::with_capacity(count);
            let mut wanted = Vec::new();
            for at in 0..count {
                let shadow = self.input(at).and_then(|input| {
                    if !self.wants(at) {
                        return Ok(input.detach());
                    }
                    // With `create_graph`, the computation becomes part of the operand's history.
                    let shadow = match create_graph {
                        true => engine.apply(pd::Assign::NAME, &[&input], &[])?.swap_remove(0),
                        false => Tensor::leaf(input.data()),
                    };
                    wanted.push((at, shadow.clone()));
                    Ok(shadow)
                });
                shadows.push(shadow);
            }
            self.shadows = Some(shadows);
            (composite(&self), wanted)
        });
        let (mut outputs, mut seeds) = (Vec::new(), Vec::new());
        for (result, grad) in results.into_iter().zip(&self.grads) {
            if let Some(grad) = grad {
                outputs.push(result.tensor?);
                seeds.push(Some(grad.clone()));
            }
        }
        let targets: Vec<Tensor> = wanted.iter().map(|w| w.1.clone()).collect();
        let request = Request {
            options: GradOptions {
                create_graph,
                ..GradOptions::default()
            },
            targets: Some(&targets),
            within: true,
        };
        let found = engine.run(&outputs, &seeds, &request)?;
        let mut grads = vec![None; count];
        for ((at, _), grad) in wanted.into_iter().zip(found) {
            grads[at] = grad;
        }
        self.complete(grads)
    }

    pub(super) fn op(&self) -> OpName {
        self.operation.name
    }

    pub(super) fn attrs(&self) -> AttrDict {
        self.operation.attrs
    }

    pub(super) fn num_slots(&self) -> usize {
        self.node.output_meta().len()
    }

    /// The operands of a slot, as a range of the flat list.
    pub(super) fn slot(&self, slot: usize) -> Range<usize> {
        let metas = self.node.output_meta();
        let start = metas.iter().take(slot).map(Vec::len).sum();
        start..start + metas.get(slot).map_or(0, Vec::len)
    }

    /// Whether the operand was a list.
    pub(super) fn is_list(&self, slot: usize) -> bool {
        self.operation.lists.get(slot).copied().unwrap_or(false)
    }

    pub(super) fn num_inputs(&self) -> usize {
        self.node.output_meta().iter().map(Vec::len).sum()
    }

    fn meta<R>(&self, at: usize, f: impl FnOnce(&super::SlotMeta) -> R) -> Option<R> {
        self.node.output_meta().iter().flatten().nth(at).map(f)
    }

    /// Whether the gradient of an operand is needed.
    pub(super) fn wants(&self, at: usize) -> bool {
        self.meta(at, |m| m.edge.is_some()).unwrap_or(false)
    }

    pub(super) fn shape(&self, at: usize) -> Shape {
        self.meta(at, |m| m.shape.clone()).unwrap_or_default()
    }

    pub(super) fn rank(&self, at: usize) -> usize {
        self.shape(at).len()
    }

    pub(super) fn dtype(&self, at: usize) -> DType {
        self.meta(at, |m| m.dtype).unwrap_or(DType::F64)
    }

    /// An operand.
    pub(super) fn input(&self, at: usize) -> Result<Tensor, String> {
        if let Some(shadows) = &self.shadows {
            return shadows
                .get(at)
                .cloned()
                .unwrap_or_else(|| Err("an operand is missing".to_owned()));
        }
        let inputs = self.operation.inputs.borrow();
        inputs.get(at).ok_or("an operand is missing")?.recover()
    }

    /// An operand of a formula.
    pub(super) fn arg(&self, at: usize) -> V<'e> {
        // Operands of a composition get their gradients by differentiating it.
        if self.shadows.is_some() {
            self.constant(at);
        }
        V::new(self.engine, self.input(at))
    }

    /// The first operand.
    pub(super) fn x(&self) -> V<'e> {
        self.arg(0)
    }

    /// The second operand.
    pub(super) fn y(&self) -> V<'e> {
        self.arg(1)
    }

    /// A result.
    pub(super) fn result(&self, at: usize) -> V<'e> {
        let outputs = self.operation.outputs.borrow();
        let found = outputs.get(at).ok_or_else(|| "a result is missing".to_owned());
        V::new(self.engine, found.and_then(|w| w.recover()))
    }

    /// The first result.
    pub(super) fn out(&self) -> V<'e> {
        self.result(0)
    }

    pub(super) fn has_grad(&self, at: usize) -> bool {
        matches!(self.grads.get(at), Some(Some(_)))
    }

    /// The gradient of a result; zeros if none arrived.
    pub(super) fn g(&self, at: usize) -> V<'e> {
        let tensor = match self.grads.get(at) {
            Some(Some(grad)) => Ok(grad.clone()),
            _ => {
                let metas = self.node.input_meta();
                match metas.iter().flatten().nth(at) {
                    Some(meta) => Dense::full(&meta.shape, meta.dtype, 0.0).map(Tensor::new),
                    None => Err("a result is missing".to_owned()),
                }
            }
        };
        V::new(self.engine, tensor)
    }

    /// The gradient of the first result.
    pub(super) fn grad(&self) -> V<'e> {
        self.g(0)
    }

    pub(super) fn bool(&self, name: &str, default: bool) -> bool {
        let ctx = self.engine.ctx();
        let attr = ctx.dict_get(self.attrs(), name);
        attr.and_then(|a| ctx.attr_bool(a)).unwrap_or(default)
    }

    pub(super) fn float(&self, name: &str, default: f64) -> f64 {
        let ctx = self.engine.ctx();
        let attr = ctx.dict_get(self.attrs(), name);
        attr.and_then(|a| ctx.attr_f64(a)).unwrap_or(default)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        let ctx = self.engine.ctx();
        let attr = ctx.dict_get(self.attrs(), name);
        attr.and_then(|a| ctx.attr_int(a)).unwrap_or(default)
    }

    pub(super) fn text(&self, name: &str) -> Option<&'e str> {
        let ctx = self.engine.ctx();
        ctx.dict_get(self.attrs(), name).and_then(|a| ctx.attr_str(a))
    }

    /// The shape of a result.
    pub(super) fn out_shape(&self, at: usize) -> Shape {
        let metas = self.node.input_meta();
        metas
            .iter()
            .flatten()
            .nth(at)
            .map(|m| m.shape.clone())
            .unwrap_or_default()
    }

    /// The operand that is declared at `index`, in the flat list: earlier optional ones may be absent.
    pub(super) fn declared(&self, index: usize) -> Option<usize> {
        let ctx = self.engine.ctx();
        let absent = ctx.dict_get(self.attrs(), "absent_operands");
        let absent = absent.and_then(|a| ctx.attr_ints(a)).unwrap_or_default();
        if absent.contains(&(index as i64)) {
            return None;
        }
        let before = absent.iter().filter(|&&a| a < index as i64).count();
        self.slot(index - before.min(index)).next()
    }

    /// A list of integers, or one: an attribute, or the operand that replaces it.
    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, String> {
        let ctx = self.engine.ctx();
        if let Some(attr) = ctx.dict_get(self.attrs(), name) {
            return Ok(match ctx.attr_data(attr) {
                AttrData::Ints(values) => Some(values.to_vec()),
                _ => ctx.attr_int(attr).map(|v| vec![v]),
            });
        }
        self.operand_called(name)
            .map(|at| Ok(self.input(at)?.to_i64()))
            .transpose()
    }

    /// A number: an attribute, or the operand that replaces it.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let ctx = self.engine.ctx();
        if let Some(attr) = ctx.dict_get(self.attrs(), name) {
            return Ok(ctx.attr_f64(attr));
        }
        match self.operand_called(name) {
            Some(at) => Ok(self.input(at)?.to_f64().first().copied()),
            None => Ok(None),
        }
    }

    /// An operand of one element, as a scalar of the type of another tensor.
    pub(super) fn scalar(&self, at: usize, dtype: DType) -> V<'e> {
        self.arg(at).reshape(&[]).cast(dtype)
    }

    /// The sum of a gradient, as the gradient of an operand of one element.
    pub(super) fn summed(&self, at: usize, v: &V<'e>) -> V<'e> {
        let axes: Vec<usize> = (0..v.rank()).collect();
        v.sum(&axes, false).cast(self.dtype(at)).reshape(&self.shape(at))
    }

    /// The operand, in the flat list, that replaces an attribute: those after the tensors are the missing attributes,
    /// in order.
    pub(super) fn operand_called(&self, name: &str) -> Option<usize> {
        let ctx = self.engine.ctx();
        let optional = |arity| arity == Arity::Optional;
        let operands = &ctx.op_def(self.op())?.operands;
        let required = operands.iter().filter(|o| !optional(o.arity)).count();
        let missing = |o: &&pir_ir::ValueSpec| optional(o.arity) && ctx.dict_get(self.attrs(), &o.name).is_none();
        let place = operands.iter().filter(missing).position(|o| o.name == name)?;
        let range = self.slot(required + place);
        range.clone().next()
    }

    /// An axis as a non-negative number.
    pub(super) fn axis(&self, name: &str, default: i64, rank: usize) -> Result<usize, String> {
        let given = self.ints(name)?.and_then(|v| v.first().copied());
        crate::kernels::axis(given.unwrap_or(default), rank)
    }

    /// The axes of a reduction of the first operand, in order; by default all.
    pub(super) fn axes(&self) -> Result<SmallVec<[usize; 4]>, String> {
        let rank = self.rank(0);
        let given = self.ints("axis")?.unwrap_or_default();
        if given.is_empty() {
            return Ok((0..rank).collect());
        }
        let mut axes: SmallVec<[usize; 4]> = given
            .iter()
            .map(|&a| crate::kernels::axis(a, rank))
            .collect::<Result<_, _>>()?;
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }
}
