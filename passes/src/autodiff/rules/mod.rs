//! Gradient rules: for each operation, the cotangents of its operands from those of its results.
//!
//! A rule asks for the primal values that it reads ([`RuleCx::operand`], [`RuleCx::result`]) and emits operations.
//! Elementary functions have a `_grad` twin where that reads less than the derivative written out; what is linear or
//! bilinear is expressed by the ordinary operations.

mod activation;
mod elementwise;
mod index;
mod linalg;
mod linear;
mod nn;
mod reduce;
mod rnn;
mod scalars;
mod scatter;
mod shape;
mod twins;

use pir_ir::{Attr, Body, Context, Dependence, OpId, OpName, OpView, Rewriter, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use twins::Expand;
pub(crate) use twins::{carried, expand};

use super::cotangent::Frame;

/// A rule's code.
pub(crate) type Apply = fn(&mut RuleCx<'_, '_>) -> Result<(), String>;

/// The gradient rule of one operation. Which operands there is a derivative in, the operation's definition declares.
pub(crate) struct Rule {
    /// `dialect.op`.
    pub(crate) op: &'static str,
    /// Adds the cotangents of the operands.
    pub(crate) apply: Apply,
}

const fn rule(op: &'static str, apply: Apply) -> Rule {
    Rule { op, apply }
}

/// The rules and expansions by operation name.
pub(crate) struct Rules {
    table: Vec<Option<&'static Rule>>,
    /// What `decompose` puts in the place of gradient operations.
    gradients: FxHashMap<OpName, Expand>,
    /// What operations that are differentiated as what they are made of are made of.
    composites: FxHashMap<OpName, Expand>,
}

/// All rules, family by family.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    [
        elementwise::RULES,
        scalars::RULES,
        linear::RULES,
        reduce::RULES,
        shape::RULES,
        index::RULES,
        twins::RULES,
        nn::RULES,
        rnn::RULES,
        activation::RULES,
        linalg::RULES,
        scatter::RULES,
    ]
    .into_iter()
    .flatten()
}

impl Rules {
    pub(crate) fn new(ctx: &Context) -> Self {
        let mut table = vec![None; ctx.ops().len()];
        for rule in all() {
            if let Some(name) = ctx.registered_op(rule.op) {
                table[name.index()] = Some(rule);
            }
        }
        let expansions = |families: &[&[(&str, Expand)]]| {
            let rows = families.iter().copied().flatten();
            rows.filter_map(|&(op, expand)| Some((ctx.registered_op(op)?, expand)))
                .collect()
        };
        Rules {
            table,
            gradients: expansions(&[twins::EXPANSIONS, nn::EXPANSIONS]),
            composites: expansions(&[
                nn::COMPOSITES,
                rnn::COMPOSITES,
                activation::COMPOSITES,
                linalg::COMPOSITES,
                scatter::COMPOSITES,
            ]),
        }
    }

    /// What a gradient operation stands for.
    pub(super) fn gradient(&self, body: &Body, op: OpId) -> Option<Expand> {
        self.gradients.get(&body.op_name(op)).copied()
    }

    /// What an operation is differentiated as.
    pub(super) fn expansion(&self, body: &Body, op: OpId) -> Option<Expand> {
        self.gradient(body, op)
            .or_else(|| self.composites.get(&body.op_name(op)).copied())
    }

    pub(crate) fn get(&self, body: &Body, op: OpId) -> Option<&'static Rule> {
        self.table.get(body.op_name(op).index()).copied().flatten()
    }
}

/// What a rule sees of the operation that it differentiates, and the place where it emits.
pub(crate) struct RuleCx<'x, 'a> {
    pub(crate) rules: &'x Rules,
    pub(crate) r: &'x mut Rewriter<'a>,
    pub(crate) frame: &'x mut Frame,
    pub(crate) op: OpId,
    pub(crate) image: &'x dyn Fn(ValueId) -> ValueId,
    pub(crate) active: &'x dyn Fn(ValueId) -> bool,
    /// The cotangents of the results.
    pub(crate) grads: SmallVec<[Option<ValueId>; 2]>,
    /// The cotangents of the elements of the first result that is a list.
    pub(crate) list_grads: Vec<Option<ValueId>>,
    /// The operands whose cotangents were added to, or are known to be zero.
    pub(crate) settled: SmallVec<[ValueId; 4]>,
}

impl<'a> RuleCx<'_, 'a> {
    pub(crate) fn ctx(&self) -> &'a Context {
        self.r.ctx
    }

    pub(crate) fn view(&self) -> OpView<'_> {
        self.r.body.view(self.r.ctx, self.op)
    }

    /// Applies a rule, and makes sure that it did not pass over an operand that a cotangent is asked for.
    pub(crate) fn apply(&mut self, rule: &Rule) -> Result<(), String> {
        (rule.apply)(self)?;
        for index in 0..self.num_operands() {
            let operand = self.r.body.operand(self.op, index);
            let missing = self.wants(index) && !self.settled.contains(&operand);
            if missing && self.view().dependence(index) == Dependence::Differentiable {
                let place = self.view().declared_operand(index);
                let name = self
                    .view()
                    .def()
                    .zip(place)
                    .map(|(def, at)| def.operands[at].name.clone());
                return Err(format!(
                    "there is no rule for its operand `{}`",
                    name.unwrap_or_else(|| format!("{index}").into())
                ));
            }
        }
        Ok(())
    }

    /// Notes that the cotangent of an operand is zero.
    pub(crate) fn settle(&mut self, index: usize) {
        let operand = self.r.body.operand(self.op, index);
        self.settled.push(operand);
    }

    /// Notes that the cotangents of operands that are not added to are zero.
    pub(crate) fn settle_rest(&mut self) {
        (0..self.num_operands()).for_each(|index| self.settle(index));
    }

    /// The primal operand, where the rule emits.
    pub(crate) fn operand(&self, index: usize) -> ValueId {
        (self.image)(self.r.body.operand(self.op, index))
    }

    /// The primal result, where the rule emits.
    pub(crate) fn result(&self, index: usize) -> ValueId {
        (self.image)(self.r.body.result(self.op, index))
    }

    /// Whether an operand comes from outside of the region that the operation stands in, so that reading it costs no
    /// record there.
    pub(crate) fn is_captured(&self, index: usize) -> bool {
        self.r.body.value_region(self.r.body.operand(self.op, index)) != self.r.body.op_region(self.op)
    }

    /// The cotangent of the first result.
    pub(crate) fn grad(&self) -> Result<ValueId, String> {
        self.grads
            .first()
            .copied()
            .flatten()
            .ok_or_else(|| "the first result has no cotangent".to_owned())
    }

    pub(crate) fn operand_type(&self, index: usize) -> Type {
        self.r.body.value_type(self.r.body.operand(self.op, index))
    }

    pub(crate) fn num_operands(&self) -> usize {
        self.r.body.num_operands(self.op)
    }

    /// Whether the cotangent of an operand is asked for.
    pub(crate) fn wants(&self, index: usize) -> bool {
        index < self.num_operands() && (self.active)(self.r.body.operand(self.op, index))
    }

    /// Whether all operands that want a cotangent are known to have no elements: then there is nothing to compute.
    pub(crate) fn only_empty(&self) -> bool {
        let mut wanted = (0..self.num_operands()).filter(|&at| self.wants(at));
        wanted.all(|at| self.static_shape(at).is_some_and(|shape| shape.contains(&0)))
    }

    /// The static shape of an operand, if it is known.
    pub(crate) fn static_shape(&self, index: usize) -> Option<Vec<i64>> {
        let ty = self.operand_type(index);
        if !self.ctx().is_static(ty) {
            return None;
        }
        Some(self.ctx().as_tensor(ty).map_or(Vec::new(), |(shape, _)| shape.to_vec()))
    }

    /// The number of dimensions of an operand.
    pub(crate) fn rank(&self, index: usize) -> usize {
        self.ctx()
            .as_tensor(self.operand_type(index))
            .map_or(0, |(shape, _)| shape.len())
    }

    /// The sum of the cotangents of an operand that have been found, if the operand comes from outside of the region that
    /// the operation stands in.
    pub(crate) fn accumulator(&self, index: usize) -> Option<ValueId> {
        let operand = self.r.body.operand(self.op, index);
        self.frame.get(operand).filter(|_| self.is_captured(index))
    }

    /// Sets that sum.
    pub(crate) fn accumulated(&mut self, index: usize, sum: ValueId) -> Result<(), String> {
        let operand = self.r.body.operand(self.op, index);
        if self.r.body.value_name(sum).is_none() {
            self.r.name_like(sum, operand, "_grad");
        }
        self.settled.push(operand);
        self.frame.set(operand, sum);
        Ok(())
    }

    /// Whether an operand is a list of one integer of the type of indices.
    pub(crate) fn is_vector_of_one(&self, index: usize) -> bool {
        let ty = self.operand_type(index);
        self.ctx().as_tensor(ty) == Some((&[1][..], Type::I64))
    }

    /// Adds to the cotangent of an operand.
    pub(crate) fn add(&mut self, index: usize, grad: ValueId) -> Result<(), String> {
        let operand = self.r.body.operand(self.op, index);
        self.settled.push(operand);
        self.frame.add(self.r, operand, grad)
    }

    /// Adds to the cotangent of an element of an operand that is a list.
    pub(crate) fn add_element(&mut self, index: usize, element: usize, grad: ValueId) -> Result<(), String> {
        let list = self.r.body.operand(self.op, index);
        self.settled.push(list);
        self.frame.add_element(self.r, list, element, grad)
    }

    /// Adds to the cotangent of an operand that was broadcast: sums the gradient to the operand's shape first.
    pub(crate) fn add_reduced(&mut self, index: usize, grad: ValueId) -> Result<(), String> {
        let grad = self.reduce_to(grad, index)?;
        self.add(index, grad)
    }

    /// Sums a gradient over the dimensions along which the operand was broadcast.
    pub(crate) fn reduce_to(&mut self, grad: ValueId, index: usize) -> Result<ValueId, String> {
        let ty = self.operand_type(index);
        if self.r.body.value_type(grad) == ty && self.ctx().is_static(ty) {
            return Ok(grad);
        }
        match self.static_shape(index) {
            Some(shape) => {
                let shape = self.ctx().ints_attr(&shape);
                self.emit("pd.reduce_as", &[grad], &[("shape", shape)])
            }
            None => {
                let like = self.operand(index);
                self.emit("pd.reduce_as", &[grad, like], &[])
            }
        }
    }

    /// Emits an operation with one result, whose type is inferred.
    pub(crate) fn emit(&mut self, op: &str, operands: &[ValueId], attrs: &[(&str, Attr)]) -> Result<ValueId, String> {
        emit(self.r, op, operands, attrs)
    }

    /// `x` times a number, with no offset.
    pub(crate) fn scaled(&mut self, x: ValueId, factor: f64) -> Result<ValueId, String> {
        self.affine(x, factor, 0.0)
    }

    /// `factor * x + offset`.
    pub(crate) fn affine(&mut self, x: ValueId, factor: f64, offset: f64) -> Result<ValueId, String> {
        let (scale, bias) = (self.ctx().float_attr(factor), self.ctx().float_attr(offset));
        self.emit(
            "pd.scale",
            &[x],
            &[
                ("scale", scale),
                ("bias", bias),
                ("bias_after_scale", self.ctx().bool_attr(true)),
            ],
        )
    }

    pub(crate) fn multiply(&mut self, x: ValueId, y: ValueId) -> Result<ValueId, String> {
        self.emit("pd.multiply", &[x, y], &[])
    }

    pub(crate) fn divide(&mut self, x: ValueId, y: ValueId) -> Result<ValueId, String> {
        self.emit("pd.divide", &[x, y], &[])
    }

    pub(crate) fn unary(&mut self, op: &str, x: ValueId) -> Result<ValueId, String> {
        self.emit(op, &[x], &[])
    }

    pub(crate) fn ints(&self, values: &[i64]) -> Attr {
        self.ctx().ints_attr(values)
    }
}

/// Emits an operation with one result, whose type is inferred.
pub(crate) fn emit(
    r: &mut Rewriter<'_>,
    op: &str,
    operands: &[ValueId],
    attrs: &[(&str, Attr)],
) -> Result<ValueId, String> {
    let mut builder = r.op(op).operands(operands.iter().copied());
    for &(name, value) in attrs {
        builder = builder.attr(name, value);
    }
    let id = builder.infer()?;
    Ok(r.body.result(id, 0))
}
