//! Formulas: gradient rules as expressions over values.
//!
//! ```text
//! derivative!(Tanh, |op, g| g * (1.0 - op.out() * op.out()))
//! derivative!(Multiply, |op, g| { x: g * op.y(), y: g * op.x() })
//! ```
//!
//! `op` is a view of the operation: its operands and results are expressions where the adjoint is built, and reading one is
//! asking for it to be recorded. `g` is the cotangent of the first result. The partial derivative in an operand is evaluated only
//! if its cotangent is requested, and summed over the dimensions along which the operand was broadcast.

use std::cell::RefCell;

use pir_dialects::pd::{self, Emitter, Expr, ExprScope, Given, Operand, Operation, Source, View};
use pir_ir::{Attr, Context, Type, TypeData, ValueId};
use smallvec::SmallVec;

use super::RuleCx;

/// The rule of an operation from the partial derivatives in its operands, times the cotangent; of an operation with one
/// differentiable operand, from that in this one.
macro_rules! derivative {
    ($op:ident, |$view:pat_param, $g:pat_param| $(let $value:pat_param = $is:expr;)* { $($operand:ident: $grad:expr),+ $(,)? }) => {
        super::rule(pd::$op::NAME, |cx| {
            let formula = super::formula::Formula::new(cx);
            let ($view, $g) = (formula.view::<pd::$op>(), formula.cx().grad());
            $(let $value = $is;)*
            $(if formula.cx().wants(pd::$op::$operand) {
                formula.cx().add::<pd::$op, _>(pd::$op::$operand, $grad);
            })+
            formula.finish()
        })
    };
    ($op:ident, $function:ident) => {
        derivative!($op, |op, g| $function(op, g))
    };
    ($op:ident, |$view:pat_param, $g:pat_param| $grad:expr) => {
        super::rule(pd::$op::NAME, |cx| {
            let formula = super::formula::Formula::new(cx);
            let ($view, $g) = (formula.view::<pd::$op>(), formula.cx().grad());
            let only = <pd::$op as pd::Unary>::ONLY;
            if formula.cx().wants(only) {
                formula.cx().add::<pd::$op, _>(only, $grad);
            }
            formula.finish()
        })
    };
}

/// The rule of a unary elementwise operation from its slope.
macro_rules! slope {
    ($op:ident, |$view:pat_param| $slope:expr) => {
        derivative!($op, |view, g| {
            let $view = view;
            let slope = $slope;
            view.times(g, slope)
        })
    };
}

/// The rule of an operation that is differentiated by its expansion; for a gradient operation, the replacement that `decompose` makes.
macro_rules! composite {
    ($op:ident, |$view:pat_param| $results:expr) => {
        super::rule(pd::$op::NAME, super::expanded).of(|cx| {
            let formula = super::formula::Formula::new(cx);
            let $view = formula.view::<pd::$op>();
            let results = $results;
            formula.results(results)
        })
    };
    ($op:ident, $results:ident) => {
        composite!($op, |op| $results(op))
    };
}

/// The rule of an operation that adds to cotangents by itself.
macro_rules! adjoint {
    ($op:ident, |$view:pat_param| $body:expr) => {
        super::rule(pd::$op::NAME, |cx| {
            let formula = super::formula::Formula::new(cx);
            let $view = formula.view::<pd::$op>();
            $body;
            formula.finish()
        })
    };
    ($op:ident, $body:ident) => {
        adjoint!($op, |op| $body(op)?)
    };
}

pub(super) use {adjoint, composite, derivative, slope};

/// An operation as its formula sees it.
pub(super) type Op<'c, M> = View<Cx<'c>, M>;

/// A formula under way.
pub(super) struct Formula<'f, 'x, 'a> {
    rule: RefCell<&'f mut RuleCx<'x, 'a>>,
    ctx: &'a Context,
    error: RefCell<Option<String>>,
    /// How many operations were there.
    mark: usize,
}

impl<'f, 'x, 'a> Formula<'f, 'x, 'a> {
    pub(super) fn new(rule: &'f mut RuleCx<'x, 'a>) -> Self {
        Formula {
            ctx: rule.r.ctx,
            mark: rule.r.created_mark(),
            rule: RefCell::new(rule),
            error: RefCell::new(None),
        }
    }

    pub(super) fn cx(&self) -> Cx<'_> {
        Cx {
            rule: self,
            scope: ExprScope::new(self),
        }
    }

    pub(super) fn view<M>(&self) -> Op<'_, M> {
        View::new(self.cx())
    }

    /// The first error.
    pub(super) fn finish(&self) -> Result<(), String> {
        self.error.borrow_mut().take().map_or(Ok(()), Err)
    }

    pub(super) fn results<'c>(&self, results: impl Results<'c>) -> Result<SmallVec<[ValueId; 2]>, String> {
        let results = results.list();
        self.finish()?;
        let ids: Option<_> = results?.into_iter().map(Expr::id).collect();
        ids.ok_or_else(|| "a result is missing".to_owned())
    }
}

impl Emitter for Formula<'_, '_, '_> {
    fn context(&self) -> &Context {
        self.ctx
    }

    fn type_of(&self, value: ValueId) -> Type {
        self.rule.borrow().r.body.value_type(value)
    }

    fn emit(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], result: Option<Type>) -> pd::Emitted {
        let building = &mut *self.rule.borrow_mut();
        let building = pd::Building::new(building.r);
        let results = building.emit(name, operands, attrs, result);
        if let Err(why) = building.finish() {
            self.fail(why);
        }
        results
    }

    fn emit_all(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], results: &[Type]) -> pd::Emitted {
        let building = &mut *self.rule.borrow_mut();
        pd::Building::new(building.r).emit_all(name, operands, attrs, results)
    }

    fn fail(&self, why: String) {
        self.error.borrow_mut().get_or_insert(why);
    }
}

/// The rule that a formula is evaluated for, whatever its lifetimes.
trait Access {
    fn with(&self, f: &mut dyn FnMut(&mut RuleCx<'_, '_>, usize));
}

impl Access for Formula<'_, '_, '_> {
    fn with(&self, f: &mut dyn FnMut(&mut RuleCx<'_, '_>, usize)) {
        f(&mut self.rule.borrow_mut(), self.mark);
    }
}

/// An operation that is differentiated, as its formula sees it: operands, results and cotangents as expressions.
#[derive(Clone, Copy)]
pub struct Cx<'c> {
    rule: &'c dyn Access,
    scope: ExprScope<'c>,
}

/// A tensor that an operation takes, by itself or in a list.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) index: usize,
    pub(super) element: Option<usize>,
    pub(super) ty: Type,
}

impl<'c> Cx<'c> {
    /// Uses the rule itself.
    fn with<T>(self, f: impl FnOnce(&mut RuleCx<'_, '_>) -> T) -> T {
        let (mut f, mut out) = (Some(f), None);
        self.rule.with(&mut |rule, _| out = f.take().map(|f| f(rule)));
        out.expect("an access calls its function")
    }

    fn or_fail<T: Default>(self, result: Result<T, String>) -> T {
        result.unwrap_or_else(|why| {
            self.scope.fail(why);
            T::default()
        })
    }

    pub(super) fn scope(self) -> ExprScope<'c> {
        self.scope
    }

    pub(super) fn context(self) -> &'c Context {
        self.scope.context()
    }

    fn expr(self, value: Option<ValueId>) -> Expr<'c> {
        value.map_or(self.scope.nothing(), |value| self.scope.expr(value))
    }

    /// The cotangent of the first result.
    pub fn grad(self) -> Expr<'c> {
        let grad = self.grad_of(0);
        grad.unwrap_or_else(|| self.scope.fail("the first result has no cotangent"))
    }

    /// The cotangent of a result, if present.
    pub fn grad_of(self, result: usize) -> Option<Expr<'c>> {
        let grad = self.with(|rule| rule.grads.get(result).copied().flatten());
        grad.map(|value| self.scope.expr(value))
    }

    /// The cotangents of the results, or of the elements of the one that is a list.
    pub(super) fn grads(self) -> Vec<Option<Expr<'c>>> {
        match self.list_grads() {
            list if list.is_empty() => (0..self.with(|rule| rule.grads.len()))
                .map(|at| self.grad_of(at))
                .collect(),
            list => list,
        }
    }

    fn index(self, operand: Operand) -> Option<usize> {
        self.index_of(operand.place)
    }

    /// Whether the cotangent of an operand is requested.
    pub(super) fn wants(self, operand: Operand) -> bool {
        self.index(operand).is_some_and(|index| self.wants_at(index))
    }

    /// Whether the cotangent of the operand at `index` of those given is requested.
    pub fn wants_at(self, index: usize) -> bool {
        self.with(|rule| rule.wants(index))
    }

    /// Whether an operand comes from outside of the region that the operation is in, so that reading it costs no record there.
    pub(super) fn is_captured(self, operand: Operand) -> bool {
        let index = self.index(operand);
        index.is_some_and(|index| self.with(|rule| rule.is_captured(index)))
    }

    /// Whether all operands are the same value.
    pub(super) fn is_of_one_value(self) -> bool {
        self.with(|rule| {
            let mut operands = rule.r.body.operands(rule.op);
            let first = operands.next();
            operands.all(|other| Some(other) == first)
        })
    }

    /// The sum of the cotangents of an operand that have been found, if the operand comes from outside of the region that the
    /// operation is in.
    pub(super) fn accumulator(self, operand: Operand) -> Option<Expr<'c>> {
        let index = self.index(operand)?;
        let sum = self.with(|rule| rule.accumulator(index));
        sum.map(|sum| self.scope.expr(sum))
    }

    /// Sets that sum.
    pub(super) fn accumulated(self, operand: Operand, sum: Expr<'c>) {
        if let (Some(index), Some(sum)) = (self.index(operand), sum.id()) {
            let done = self.with(|rule| rule.accumulated(index, sum));
            self.or_fail(done);
        }
    }

    /// Adds to the cotangent of an operand what comes of one that may be broadcast.
    pub(super) fn add<M: Operation, T: Partial<'c>>(self, operand: Operand, grad: T) {
        self.add_partial(operand, grad.partial(), M::BROADCASTS);
    }

    fn add_partial(self, operand: Operand, grad: Result<Option<Expr<'c>>, String>, broadcasts: bool) {
        let Some(index) = self.index(operand) else { return };
        let grad = match grad {
            Ok(Some(grad)) => grad,
            Ok(None) => return self.with(|rule| rule.settle(index)),
            Err(why) => {
                // Not settled: another rule may still be applied.
                let _ = self.scope.fail(why);
                return;
            }
        };
        let like = self.operand_at(index);
        let ty = like.ty();
        let is_static = ty.is_some_and(|ty| self.context().is_static(ty));
        let differs = is_static && grad.ty() != ty;
        self.add_at(
            index,
            match operand.is_number {
                true => grad.sum().cast_like(like).reshape_like(like),
                false if is_static && !differs => grad,
                false if broadcasts || differs => grad.reduce_like(like),
                false => grad,
            },
        );
    }

    /// Adds to the cotangent of the operand at `index` of those given, of whose type this is.
    pub fn add_at(self, index: usize, grad: Expr<'c>) {
        if let Some(grad) = grad.id() {
            let done = self.with(|rule| rule.add(index, grad));
            self.or_fail(done);
        }
    }

    /// Adds to the cotangent of an operand.
    pub(super) fn give(self, operand: Operand, grad: Expr<'c>) {
        if let Some(index) = self.index(operand) {
            self.add_at(index, grad);
        }
    }

    /// Adds to the cotangent of an operand, if it is requested.
    pub(super) fn give_if_wanted(self, operand: Operand, grad: impl FnOnce() -> Expr<'c>) {
        if self.wants(operand) {
            self.give(operand, grad());
        }
    }

    /// The operand at `index` of those given.
    pub fn operand(self, index: usize) -> Expr<'c> {
        self.operand_at(index)
    }

    /// The result at `index`.
    pub fn result(self, index: usize) -> Expr<'c> {
        self.result_at(index)
    }

    /// The attribute called `name`.
    pub fn attr(self, name: &str) -> Option<Attr> {
        self.attribute(name)
    }

    /// The elements of an operand that is a list.
    pub(super) fn list(self, index: usize) -> Vec<Expr<'c>> {
        let list = self.operand_at(index).id();
        list.map_or(Vec::new(), |list| self.scope.build("builtin.split", &[list], &[], None))
    }

    /// The cotangents of the elements of the first result that is a list.
    pub(super) fn list_grads(self) -> Vec<Option<Expr<'c>>> {
        let grads = self.with(|rule| rule.list_grads.clone());
        grads.into_iter().map(|g| g.map(|g| self.scope.expr(g))).collect()
    }

    /// The cotangents of all pieces of a tensor, zeros where there is none.
    pub(super) fn pieces(self) -> Vec<Expr<'c>> {
        let grads = self.grads();
        let results = self.with(|rule| {
            rule.r
                .body
                .results(rule.op)
                .map(|v| rule.r.body.value_type(v))
                .collect::<Vec<_>>()
        });
        let types = match results.first().map(|&ty| self.context().type_data(ty)) {
            Some(TypeData::List(items)) => items.to_vec(),
            _ => results,
        };
        let zeros = |at: usize, ty: Type| match (self.context().is_static(ty), self.context().as_tensor(ty)) {
            (true, Some(_)) => self.scope.full_of(ty, 0.0),
            (false, Some(_)) if self.with(|rule| rule.list_grads.is_empty()) => self.result_at(at).zeros(),
            _ => self
                .scope
                .fail("the derivative of a split with an unused piece needs static shapes"),
        };
        let pieces = types.into_iter().enumerate();
        pieces
            .map(|(at, ty)| grads.get(at).copied().flatten().unwrap_or_else(|| zeros(at, ty)))
            .collect()
    }

    /// An empty tensor in the element type of another.
    pub(super) fn empty_like(self, like: Expr<'c>) -> Expr<'c> {
        match like.elem() {
            Some(elem) => self.scope.full_with(&[0], 0.0, |o| o.dtype(elem)),
            None => self.scope.nothing(),
        }
    }

    /// States the type of an expression.
    pub(super) fn restate(self, value: Expr<'c>, ty: Type) {
        if let Some(value) = value.id() {
            self.with(|rule| rule.r.body.set_value_type(value, ty));
        }
    }

    /// The tensors that the operation takes, one by one or in lists.
    pub(super) fn elements(self) -> Vec<Element> {
        let types = self.with(|rule| {
            (0..rule.num_operands())
                .map(|index| rule.operand_type(index))
                .collect::<Vec<_>>()
        });
        let mut out = Vec::new();
        for (index, ty) in types.into_iter().enumerate() {
            let element = |element, ty| Element { index, element, ty };
            match self.context().type_data(ty) {
                TypeData::List(items) => out.extend(items.iter().enumerate().map(|(at, &ty)| element(Some(at), ty))),
                _ => out.push(element(None, ty)),
            }
        }
        out
    }

    /// Adds to the cotangent of such a tensor, if it is requested.
    pub(super) fn add_to(self, at: Element, grad: Expr<'c>) {
        let Some(grad) = grad.id().filter(|_| self.wants_at(at.index)) else {
            return;
        };
        let done = self.with(|rule| match at.element {
            Some(element) => rule.add_element(at.index, element, grad),
            None => rule.add(at.index, grad),
        });
        self.or_fail(done);
    }

    /// Notes that the cotangents of operands that are not added to are zero.
    pub(super) fn settle_rest(self) {
        self.with(|rule| rule.settle_rest());
    }

    /// A cotangent times a slope. What ends in a sum gets ones, which need not be multiplied with.
    pub(super) fn times(self, g: Expr<'c>, slope: Expr<'c>) -> Expr<'c> {
        let (Some(one), Some(d)) = (g.id(), slope.id()) else {
            return self.scope.nothing();
        };
        let mut is_one = false;
        self.rule.with(&mut |rule, mark| {
            let last = rule.r.created_since(mark).last().copied();
            is_one = last.is_some() && last == rule.r.body.defining_op(d) && is_ones(rule, one);
        });
        if is_one && g.ty() == slope.ty() {
            slope
        } else {
            g * slope
        }
    }
}

/// Whether a value is known to be ones.
fn is_ones(rule: &RuleCx<'_, '_>, value: ValueId) -> bool {
    let defined = |value: ValueId| rule.r.body.defining_op(value).map(|op| rule.r.view(op));
    let mut at = defined(value);
    if let Some(view) = at.filter(|view| view.name() == pd::Expand::NAME) {
        at = view.operand(0).and_then(defined);
    }
    at.is_some_and(|view| view.name() == pd::Full::NAME && view.f64("value") == Some(1.0))
}

impl<'c> Source for Cx<'c> {
    type Value = Expr<'c>;

    fn context(&self) -> &Context {
        self.scope.context()
    }

    fn attribute(&self, name: &str) -> Option<Attr> {
        self.with(|rule| rule.view().attr(name))
    }

    fn index_of(&self, place: usize) -> Option<usize> {
        self.with(|rule| rule.view().operand_declared_at(place))
    }

    fn index_called(&self, name: &str) -> Option<usize> {
        self.with(|rule| rule.view().operand_called(name))
    }

    fn count(&self) -> usize {
        self.with(|rule| rule.num_operands())
    }

    fn given(&self, index: usize) -> Given {
        self.operand_at(index).into()
    }

    fn operand_at(&self, index: usize) -> Expr<'c> {
        let value = self.with(|rule| (index < rule.num_operands()).then(|| rule.operand(index)));
        self.expr(value)
    }

    fn result_at(&self, index: usize) -> Expr<'c> {
        self.scope.expr(self.with(|rule| rule.result(index)))
    }
}

/// The partial derivative that a formula returns for an operand: a cotangent, or none if that is zero.
pub(super) trait Partial<'c> {
    fn partial(self) -> Result<Option<Expr<'c>>, String>;
}

impl<'c> Partial<'c> for Expr<'c> {
    fn partial(self) -> Result<Option<Expr<'c>>, String> {
        Ok(Some(self))
    }
}

impl<'c> Partial<'c> for Option<Expr<'c>> {
    fn partial(self) -> Result<Option<Expr<'c>>, String> {
        Ok(self)
    }
}

impl<'c, T: Partial<'c>> Partial<'c> for Result<T, String> {
    fn partial(self) -> Result<Option<Expr<'c>>, String> {
        self?.partial()
    }
}

/// The values that a formula returns for the results of an operation.
pub(super) trait Results<'c> {
    fn list(self) -> Result<Vec<Expr<'c>>, String>;
}

impl<'c> Results<'c> for Expr<'c> {
    fn list(self) -> Result<Vec<Expr<'c>>, String> {
        Ok(vec![self])
    }
}

impl<'c, const N: usize> Results<'c> for [Expr<'c>; N] {
    fn list(self) -> Result<Vec<Expr<'c>>, String> {
        Ok(self.to_vec())
    }
}

impl<'c, T: Results<'c>> Results<'c> for Result<T, String> {
    fn list(self) -> Result<Vec<Expr<'c>>, String> {
        self?.list()
    }
}
