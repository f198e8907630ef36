//! Gradient rules: for each operation, the cotangents of its operands from those of its results.
//!
//! A rule is a [`formula`] over values. What it does not read is not recorded. Elementary functions have a gradient operation
//! where that reads less than the derivative written out; what is linear or bilinear is expressed by the ordinary operations.

mod activation;
mod collective;
mod complex;
mod composite;
mod elementwise;
mod expand;
mod foreign;
mod formula;
mod grad_ops;
mod hlo;
mod index;
mod linalg;
mod linear;
mod mlir;
mod nn;
mod reduce;
mod rnn;
mod scalars;
mod scatter;
mod seconds;
mod shape;
mod tensor;
mod twins;

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use pir_ir::{Body, Context, DYNAMIC, Dependence, OpId, OpName, OpView, Rewriter, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use expand::{Expand, expanded};
pub(crate) use expand::{carried, expand};
pub use formula::Cx as Differentiated;
use formula::Formula;

use super::cotangent::Frame;
use super::custom::{CallRule, CustomVjp};

/// The code of a rule: adds to the cotangents of the operands, or states why there is no derivative.
pub type Apply = fn(&mut RuleCx<'_, '_>) -> Result<(), String>;

/// The gradient rule of one operation. Which operands there is a derivative in, the operation's definition declares.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    /// `dialect.op`.
    pub(crate) op: &'static str,
    /// Adds the cotangents of the operands.
    pub(crate) apply: Apply,
    /// The expansion of the operation, if it is differentiated by one, or is a gradient operation.
    pub(crate) made_of: Option<Expand>,
    /// Whether it holds for complex numbers too: what is linear or holomorphic has the formula of real numbers, since the cotangent of a
    /// complex number is one that is multiplied with its tangent, as in JAX.
    is_complex: bool,
    /// Whether it transposes what the operation computes, as tangents need.
    pub(crate) is_transpose: bool,
}

const fn rule(op: &'static str, apply: Apply) -> Rule {
    Rule {
        op,
        apply,
        made_of: None,
        is_complex: false,
        is_transpose: true,
    }
}

impl Rule {
    /// The same, which is a convention of its framework and not the transpose of what the operation computes.
    const fn reverse_only(self) -> Self {
        Rule {
            is_transpose: false,
            ..self
        }
    }

    /// The same, which holds for complex numbers too.
    const fn complex(self) -> Self {
        Rule {
            is_complex: true,
            ..self
        }
    }

    /// Whether it holds for the types of an operation.
    pub(crate) fn holds_for(&self, op: OpView<'_>) -> bool {
        self.is_complex || op.complex_type().is_none()
    }

    /// The same rule with the composition of the operation.
    const fn of(self, expand: Expand) -> Self {
        Rule {
            made_of: Some(expand),
            ..self
        }
    }
}

/// The gradient rules.
///
/// A dialect adds those of its operations to the context, where `backward` and `jvp` find them. A rule is a formula; of an
/// operation `demo.cube` of one operand:
///
/// ```
/// use pir_passes::autodiff::Rules;
/// let mut dialects = pir_ir::ContextBuilder::new();
/// dialects.extension::<Rules>().add("demo.cube", |cx| {
///     cx.formula(|op| {
///         let x = op.operand(0);
///         op.add_at(0, 3.0 * x * x * op.grad());
///     })
/// });
/// ```
#[derive(Clone)]
pub struct Rules {
    rules: Vec<Rule>,
}

impl Default for Rules {
    fn default() -> Self {
        Self::standard()
    }
}

impl Rules {
    /// The rules of the dialects of these crates.
    pub fn standard() -> Self {
        let rules = standard().copied().collect();
        Rules { rules }
    }

    /// Adds the rule of the operation called `op`; it takes the place of one that there is.
    pub fn add(&mut self, op: &'static str, apply: Apply) -> &mut Self {
        self.rules.push(rule(op, apply).complex());
        self
    }

    /// The names of the operations that have rules.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rules.iter().map(|rule| rule.op)
    }

    /// Whether there is a rule for the operation called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|op| op == name)
    }
}

/// The rules of a context by operation.
pub(crate) struct RuleTable {
    ctx: Arc<Context>,
    /// The rules that are written for operations.
    written: FxHashMap<OpName, Rule>,
    /// By operation, found when it is first met.
    found: Vec<OnceCell<Found>>,
    /// Whether the program is for PaddlePaddle.
    for_paddle: bool,
    /// The number of the process that runs the program.
    pub(super) rank: Option<i64>,
    /// Whether what expands to another operation is differentiated from its operand where its result would do.
    pub(super) from_operands: bool,
    /// The calls, in the body that is differentiated, with a derivative of their own.
    calls: FxHashMap<OpId, CallRule>,
}

/// The rules of an operation.
#[derive(Clone)]
struct Found {
    general: Option<Rule>,
    /// The one that replaces it in programs for PaddlePaddle.
    fused: Option<Rule>,
}

/// The standard rules, family by family.
fn standard() -> impl Iterator<Item = &'static Rule> {
    [
        elementwise::RULES,
        scalars::RULES,
        linear::RULES,
        reduce::RULES,
        shape::RULES,
        index::RULES,
        grad_ops::RULES,
        nn::RULES,
        rnn::RULES,
        activation::RULES,
        linalg::RULES,
        scatter::RULES,
        hlo::RULES,
        complex::RULES,
        mlir::RULES,
        tensor::RULES,
        collective::RULES,
        seconds::RULES,
    ]
    .into_iter()
    .flatten()
}

impl RuleTable {
    pub(crate) fn new(ctx: &Arc<Context>) -> Self {
        let mut written: FxHashMap<OpName, Rule> = FxHashMap::default();
        let mut add = |rule: &Rule| {
            if let Some(name) = ctx.registered_op(rule.op) {
                written.insert(name, *rule);
            }
        };
        match ctx.extension::<Rules>() {
            Some(rules) => rules.rules.iter().for_each(&mut add),
            None => standard().for_each(&mut add),
        }
        RuleTable {
            ctx: ctx.clone(),
            written,
            found: vec![OnceCell::new(); ctx.num_op_indices()],
            for_paddle: false,
            rank: None,
            from_operands: false,
            calls: FxHashMap::default(),
        }
    }

    /// The rules for programs that PaddlePaddle executes.
    pub(crate) fn for_paddle(ctx: &Arc<Context>) -> Self {
        RuleTable {
            for_paddle: true,
            ..Self::new(ctx)
        }
    }

    /// The rules of a registered operation.
    fn of(&self, name: OpName) -> Option<&Found> {
        let (found, def) = (self.found.get(name.index())?, self.ctx.op_def(name)?);
        Some(found.get_or_init(|| {
            let general = (self.written.get(&name).copied())
                .or_else(|| foreign::rule_of(def))
                .or_else(|| composite::rule_of(def))
                .or_else(|| twins::rule_of(&self.ctx, def));
            let for_paddle = general.filter(|_| self.for_paddle);
            Found {
                general,
                fused: for_paddle.and_then(|rule| foreign::fused(&self.ctx, def, &rule)),
            }
        }))
    }

    /// Sets which operations of the body that is differentiated next are calls with a derivative of their own.
    pub(crate) fn set_calls(&mut self, calls: FxHashMap<OpId, CallRule>) {
        self.calls = calls;
    }

    /// Takes them back out.
    pub(crate) fn take_calls(&mut self) -> FxHashMap<OpId, CallRule> {
        std::mem::take(&mut self.calls)
    }

    /// These calls, and whether a derivative passes through them.
    pub(crate) fn custom_calls(&self) -> impl Iterator<Item = (OpId, bool)> + '_ {
        let calls = self.calls.iter();
        calls.map(|(&op, rule)| (op, matches!(rule, CallRule::Vjp(_))))
    }

    /// Whether an operation is a call with a derivative of its own, or with none.
    pub(crate) fn is_call(&self, op: OpId) -> bool {
        self.calls.contains_key(&op)
    }

    /// The user-defined derivative of a call, if it has one.
    pub(crate) fn custom(&self, op: OpId) -> Option<&Rc<CustomVjp>> {
        match self.calls.get(&op)? {
            CallRule::Vjp(vjp) => Some(vjp),
            CallRule::Stopped => None,
        }
    }

    /// The operations with which `decompose` replaces a gradient operation.
    pub(super) fn gradient(&self, body: &Body, op: OpId) -> Option<Expand> {
        let rule = self.get(body, op).filter(|rule| rule.op.ends_with("_grad"));
        rule.and_then(|rule| rule.made_of)
    }

    /// The expansion by which an operation is differentiated.
    pub(super) fn expansion(&self, body: &Body, op: OpId) -> Option<Expand> {
        self.get(body, op).and_then(|rule| rule.made_of)
    }

    /// The rule that an operation has in any program.
    fn in_any_program(&self, body: &Body, op: OpId) -> Option<Rule> {
        self.of(body.op_name(op))?.general
    }

    pub(crate) fn get(&self, body: &Body, op: OpId) -> Option<&Rule> {
        match self.calls.contains_key(&op) {
            true => Some(&composite::CUSTOM),
            false => {
                let found = self.of(body.op_name(op))?;
                found.fused.as_ref().or(found.general.as_ref())
            }
        }
    }
}

/// The view of a rule on the operation that it differentiates, and the insertion point.
pub struct RuleCx<'x, 'a> {
    pub(crate) rules: &'x RuleTable,
    pub(crate) r: &'x mut Rewriter<'a>,
    pub(crate) frame: &'x mut Frame,
    pub(crate) op: OpId,
    pub(crate) primal_at: &'x dyn Fn(ValueId) -> ValueId,
    pub(crate) active: &'x dyn Fn(ValueId) -> bool,
    /// The cotangents of the results.
    pub(crate) grads: SmallVec<[Option<ValueId>; 2]>,
    /// The cotangents of the elements of the first result that is a list.
    pub(crate) list_grads: Vec<Option<ValueId>>,
    /// The operands whose cotangents were added to, or are known to be zero.
    pub(crate) settled: SmallVec<[ValueId; 4]>,
    /// Whether this gives what a gradient operation of PaddlePaddle computes: its own derivatives are total ones, so that what is read of
    /// an operand in another form, like its mean, has to be computed from the operand.
    pub(crate) is_total: bool,
}

impl<'a> RuleCx<'_, 'a> {
    pub(crate) fn ctx(&self) -> &'a Context {
        self.r.ctx
    }

    /// Evaluates a formula: what is built with its expressions is where the adjoint is built. An operand or a result that it
    /// reads is recorded there.
    ///
    /// # Errors
    /// The first one in the formula.
    pub fn formula(&mut self, formula: impl FnOnce(Differentiated<'_>)) -> Result<(), String> {
        let under_way = Formula::new(self);
        formula(under_way.cx());
        under_way.finish()
    }

    pub(crate) fn view(&self) -> OpView<'_> {
        self.r.body.view(self.r.ctx, self.op)
    }

    /// Applies a rule, and checks that it did not skip an operand whose cotangent is requested.
    pub(crate) fn apply(&mut self, rule: &Rule) -> Result<(), String> {
        if !rule.holds_for(self.r.view(self.op)) {
            let name = self.ctx().op_str(self.r.body.op_name(self.op));
            return Err(format!("`{name}` has no derivative for complex numbers"));
        }
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

    /// The same; if a shape is open that the rule has to know, PaddlePaddle's gradient operation is used, if there is one. It is executed where
    /// shapes are known.
    ///
    /// # Errors
    /// The rule's, if there is none.
    pub(crate) fn apply_or_twin(&mut self, rule: &Rule) -> Result<(), String> {
        let first = self.r.body.num_op_slots();
        let Err(why) = self.apply(rule) else { return Ok(()) };
        if !self.settled.is_empty() || self.is_static() {
            return Err(why);
        }
        self.r.erase_from(first);
        foreign::by_gradient_operation(self).map_err(|_| why)
    }

    /// Whether the shapes of all operands and results are known.
    pub(crate) fn is_static(&self) -> bool {
        let (ctx, body) = (self.ctx(), &*self.r.body);
        let mut values = body.operands(self.op).chain(body.results(self.op));
        values.all(|value| ctx.is_static(body.value_type(value)))
    }

    /// Applies the rule that an operation has in any program.
    fn by_own_rule(&mut self) -> Result<(), String> {
        match self.rules.in_any_program(self.r.body, self.op) {
            Some(rule) => (rule.apply)(self),
            None => Err("there is no rule".to_owned()),
        }
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
        (self.primal_at)(self.r.body.operand(self.op, index))
    }

    /// The primal result, where the rule emits.
    pub(crate) fn result(&self, index: usize) -> ValueId {
        (self.primal_at)(self.r.body.result(self.op, index))
    }

    /// Whether an operand comes from outside of the region that the operation is in, so that reading it costs no
    /// record there.
    pub(crate) fn is_captured(&self, index: usize) -> bool {
        self.r.body.value_region(self.r.body.operand(self.op, index)) != self.r.body.op_region(self.op)
    }

    pub(crate) fn operand_type(&self, index: usize) -> Type {
        self.r.body.value_type(self.r.body.operand(self.op, index))
    }

    pub(crate) fn num_operands(&self) -> usize {
        self.r.body.num_operands(self.op)
    }

    /// Whether the cotangent of an operand is requested.
    pub(crate) fn wants(&self, index: usize) -> bool {
        index < self.num_operands() && (self.active)(self.r.body.operand(self.op, index))
    }

    /// Whether all operands that want a cotangent are known to have no elements: then there is nothing to compute.
    pub(crate) fn only_empty(&self) -> bool {
        let mut wanted = (0..self.num_operands()).filter(|&at| self.wants(at));
        wanted.all(|at| {
            let tensor = self.ctx().as_tensor(self.operand_type(at));
            tensor.is_some_and(|(shape, _)| shape.contains(&0) && !shape.contains(&DYNAMIC))
        })
    }

    /// The static shape of an operand, if it is known.
    pub(crate) fn static_shape(&self, index: usize) -> Option<Vec<i64>> {
        let ty = self.operand_type(index);
        if !self.ctx().is_static(ty) {
            return None;
        }
        Some(self.ctx().as_tensor(ty).map_or(Vec::new(), |(shape, _)| shape.to_vec()))
    }

    /// The sum of the cotangents of an operand that have been found, if the operand comes from outside of the region that
    /// the operation is in.
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
}
