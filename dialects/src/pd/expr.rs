//! Expressions over values of a program under construction: operators and methods emit operations.
//!
//! An expression is one value. The [scope](Emitter) keeps the first error, and expressions that depend on a failed one
//! are skipped, so that rules read like formulas:
//!
//! ```
//! # use pir_dialects::pd::Expr;
//! fn silu(x: Expr<'_>) -> Expr<'_> {
//!     x * x.sigmoid()
//! }
//! ```

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use pir_ir::{Attr, Context, DYNAMIC, Rewriter, Type, TypeData, ValueId};
use smallvec::SmallVec;

use super::ops;
use crate::mlir;
use crate::typed::{Given, Number};

/// The results of one operation.
pub type Emitted = SmallVec<[ValueId; 2]>;

/// The destination of expressions.
pub trait Emitter {
    /// The context.
    fn context(&self) -> &Context;
    /// The type of a value.
    fn type_of(&self, value: ValueId) -> Type;
    /// Emits an operation with the given or inferred result types. Reports an error and returns nothing if inference
    /// fails.
    fn emit(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], result: Option<Type>) -> Emitted;
    /// Emits an operation with several results of given types.
    fn emit_all(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], results: &[Type]) -> Emitted;
    /// Reports an error, unless there is one already.
    fn fail(&self, why: String);
}

/// The scope of expressions: a handle of the emitter.
#[derive(Clone, Copy)]
pub struct ExprScope<'c>(&'c dyn Emitter);

impl<'c> ExprScope<'c> {
    /// The scope of an emitter.
    pub fn new(emitter: &'c dyn Emitter) -> Self {
        ExprScope(emitter)
    }

    /// The context.
    pub fn context(self) -> &'c Context {
        self.0.context()
    }

    /// A value as an expression.
    pub fn expr(self, value: ValueId) -> Expr<'c> {
        Expr {
            scope: self,
            id: Some(value),
        }
    }

    /// The expression that failed.
    pub fn nothing(self) -> Expr<'c> {
        Expr { scope: self, id: None }
    }

    /// Reports an error.
    pub fn fail(self, why: impl Into<String>) -> Expr<'c> {
        self.0.fail(why.into());
        self.nothing()
    }

    /// Emits an operation by its name.
    pub fn build(
        self,
        name: &str,
        operands: &[ValueId],
        attrs: &[(&str, Attr)],
        result: Option<Type>,
    ) -> Vec<Expr<'c>> {
        let results = self.0.emit(name, operands, attrs, result);
        results.into_iter().map(|value| self.expr(value)).collect()
    }

    /// Emits an operation by its name, for its first result. Its results are inferred.
    pub(crate) fn build_first(self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)]) -> Expr<'c> {
        let results = self.0.emit(name, operands, attrs, None);
        results.first().map_or(self.nothing(), |&value| self.expr(value))
    }

    /// Emits an operation with results of given types.
    pub fn build_all(
        self,
        name: &str,
        operands: &[ValueId],
        attrs: &[(&str, Attr)],
        results: &[Type],
    ) -> Vec<Expr<'c>> {
        let results = self.0.emit_all(name, operands, attrs, results);
        results.into_iter().map(|value| self.expr(value)).collect()
    }

    /// A constant of a static type.
    pub fn full_of(self, ty: Type, value: f64) -> Expr<'c> {
        let ctx = self.context();
        if let TypeData::List(_) = ctx.type_data(ty) {
            return self.fail("a list has no constant");
        }
        let Some((shape, elem)) = ctx.as_tensor(ty) else {
            // `pd.full` gives tensors only.
            let Some(value) = mlir::number(ctx, value, ty) else {
                return self.fail("there is no constant of this type");
            };
            let results = self.build(mlir::arith::Constant::NAME, &[], &[("value", value)], Some(ty));
            return results.first().copied().unwrap_or(self.nothing());
        };
        let attrs = [
            ("shape", ctx.ints_attr(shape)),
            ("value", ctx.float_attr(value)),
            ("dtype", ctx.type_attr(elem)),
        ];
        let results = self.build(ops::Full::NAME, &[], &attrs, Some(ty));
        results.first().copied().unwrap_or(self.nothing())
    }

    /// A list of indices.
    pub fn indices(self, values: &[i64]) -> Expr<'c> {
        self.full_int_array(values)
    }
}

/// A value of the program under construction, or a failed expression.
#[derive(Clone, Copy)]
pub struct Expr<'c> {
    pub(super) scope: ExprScope<'c>,
    id: Option<ValueId>,
}

impl<'c> Expr<'c> {
    /// The value.
    pub fn id(self) -> Option<ValueId> {
        self.id
    }

    /// The scope in which it is emitted.
    pub fn scope(self) -> ExprScope<'c> {
        self.scope
    }

    /// The type.
    pub fn ty(self) -> Option<Type> {
        self.id.map(|id| self.scope.0.type_of(id))
    }

    /// The element type.
    pub fn elem(self) -> Option<Type> {
        self.ty().map(|ty| self.scope.context().elem_type(ty))
    }

    /// Whether the elements are complex numbers.
    pub fn is_complex(self) -> bool {
        self.ty().is_some_and(|ty| self.scope.context().is_complex(ty))
    }

    /// The dimensions of the type; empty for a scalar.
    pub fn dims(self) -> &'c [i64] {
        let tensor = self.ty().and_then(|ty| self.scope.context().as_tensor(ty));
        tensor.map_or(&[], |(shape, _)| shape)
    }

    /// The number of dimensions.
    pub fn rank(self) -> usize {
        self.dims().len()
    }

    /// The shape, if it is static.
    pub fn static_shape(self) -> Option<Vec<i64>> {
        let ty = self.ty()?;
        self.scope.context().is_static(ty).then(|| self.dims().to_vec())
    }

    /// The shape, to reshape to: its first extent may be open, and follows from the others.
    pub fn shape_of_batch(self) -> Option<Vec<i64>> {
        let dims = self.dims();
        let known = dims.iter().skip(1).all(|&extent| extent != DYNAMIC);
        (self.ty().is_some() && known).then(|| dims.to_vec())
    }

    /// Without so many elements at the front and at the end of an axis.
    pub fn trimmed(self, axis: usize, front: i64, back: i64) -> Expr<'c> {
        if front == 0 && back == 0 {
            return self;
        }
        // Ends count from the end if they are negative; larger ones than there are elements mean all.
        let end = if back > 0 { -back } else { i64::from(i32::MAX) };
        self.slice(&[axis as i64], [front], [end])
    }

    /// `factor * self + offset`
    pub fn affine(self, factor: f64, offset: f64) -> Expr<'c> {
        self.scale_with(|o| o.scale(factor).bias(offset).bias_after_scale(true))
    }

    /// A constant of this type.
    pub fn filled(self, value: f64) -> Expr<'c> {
        match self.ty() {
            Some(ty) if self.scope.context().is_static(ty) => self.scope.full_of(ty, value),
            _ => self.full_like_with(|o| o.value(value)),
        }
    }

    /// Zeros of this type.
    pub fn zeros(self) -> Expr<'c> {
        self.filled(0.0)
    }

    /// Ones of this type.
    pub fn ones(self) -> Expr<'c> {
        self.filled(1.0)
    }

    /// Where this is greater than a number.
    pub fn above(self, value: f64) -> Expr<'c> {
        self.greater_than(self.filled(value))
    }

    /// Elements of `x` where this is true, else of `y`.
    pub fn select(self, x: Expr<'c>, y: Expr<'c>) -> Expr<'c> {
        self.where_(x, y)
    }

    /// Converts to an element type.
    pub fn to(self, elem: Option<Type>) -> Expr<'c> {
        match elem {
            Some(elem) if self.elem() != Some(elem) => self.cast(elem),
            _ => self,
        }
    }

    /// Converts to the element type of another expression.
    pub fn cast_like(self, like: Expr<'c>) -> Expr<'c> {
        self.to(like.elem())
    }

    /// Reshapes to the shape of another expression.
    pub fn reshape_like(self, like: Expr<'c>) -> Expr<'c> {
        match (like.static_shape(), like.ty()) {
            (Some(_), ty) if self.ty() == ty => self,
            (Some(shape), _) => self.reshape(shape),
            (None, ty) => {
                let operands: Option<Vec<ValueId>> = [self, like.shape()].iter().map(|x| x.id).collect();
                let results = operands.map(|all| self.scope.build(ops::Reshape::NAME, &all, &[], ty));
                results
                    .and_then(|all| all.first().copied())
                    .unwrap_or(self.scope.nothing())
            }
        }
    }

    /// The sum over the dimensions along which the shape of another expression was broadcast.
    pub fn reduce_like(self, like: Expr<'c>) -> Expr<'c> {
        match like.static_shape() {
            Some(_) if self.ty() == like.ty() => self,
            Some(shape) => self.reduce_as_with(|o| o.shape(&shape)),
            None => self.reduce_as_with(|o| o.target(like)),
        }
    }

    /// Broadcasts to the shape of another expression.
    pub fn expand_like(self, like: Expr<'c>) -> Expr<'c> {
        match like.static_shape() {
            Some(_) if self.ty() == like.ty() => self,
            Some(shape) => self.expand(shape),
            None => self.expand_as(like),
        }
    }

    /// The elements `start..end` along an axis.
    pub fn cut(self, axis: usize, start: i64, end: i64) -> Expr<'c> {
        self.slice(&[axis as i64], [start], [end])
    }

    /// The sum over axes, which stay as dimensions of extent 1.
    pub fn total(self, axes: &[i64]) -> Expr<'c> {
        // A scalar is treated as a vector of one element.
        match self.rank() {
            0 => self,
            _ => self.sum_with(|o| o.axis(axes).keepdim(true)),
        }
    }

    /// The mean over axes, which stay as dimensions of extent 1.
    pub fn average(self, axes: &[i64]) -> Expr<'c> {
        match axes {
            [] => self,
            _ => self.mean_with(|o| o.axis(axes).keepdim(true)),
        }
    }

    /// A number for computing with this expression: a scalar of its element type, if it is an operand.
    pub fn number(self, number: Number) -> Expr<'c> {
        match number {
            Number::Value(Given(id)) => {
                let value = Expr { scope: self.scope, id };
                let scalar = if value.rank() == 0 { value } else { value.reshape([]) };
                scalar.cast_like(self)
            }
            number => match number.constant() {
                Some(value) => self.filled(value),
                None => self.scope.fail("a number is missing"),
            },
        }
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $function:ident),*) => { $(
        impl<'c> $operator for Expr<'c> {
            type Output = Expr<'c>;
            fn $method(self, other: Expr<'c>) -> Expr<'c> {
                Expr::$function(self, other)
            }
        }
    )* };
}

operators! { Add add add, Sub sub subtract, Mul mul multiply, Div div divide }

impl<'c> Neg for Expr<'c> {
    type Output = Expr<'c>;
    fn neg(self) -> Expr<'c> {
        self.affine(-1.0, 0.0)
    }
}

impl<'c> Add<f64> for Expr<'c> {
    type Output = Expr<'c>;
    fn add(self, offset: f64) -> Expr<'c> {
        self.affine(1.0, offset)
    }
}

impl<'c> Sub<f64> for Expr<'c> {
    type Output = Expr<'c>;
    fn sub(self, offset: f64) -> Expr<'c> {
        self.affine(1.0, -offset)
    }
}

impl<'c> Sub<Expr<'c>> for f64 {
    type Output = Expr<'c>;
    fn sub(self, other: Expr<'c>) -> Expr<'c> {
        other.affine(-1.0, self)
    }
}

impl<'c> Mul<f64> for Expr<'c> {
    type Output = Expr<'c>;
    fn mul(self, factor: f64) -> Expr<'c> {
        self.affine(factor, 0.0)
    }
}

impl<'c> Mul<Expr<'c>> for f64 {
    type Output = Expr<'c>;
    fn mul(self, other: Expr<'c>) -> Expr<'c> {
        other.affine(self, 0.0)
    }
}

impl<'c> Mul<Number> for Expr<'c> {
    type Output = Expr<'c>;
    fn mul(self, factor: Number) -> Expr<'c> {
        match (factor, factor.constant()) {
            (_, Some(1.0)) => self,
            (_, Some(factor)) => self * factor,
            (Number::Value(Given(id)), _) => self * Expr { scope: self.scope, id }.cast_like(self),
            _ => self.scope.fail("a number is missing"),
        }
    }
}

impl<'c> Add<Number> for Expr<'c> {
    type Output = Expr<'c>;
    fn add(self, offset: Number) -> Expr<'c> {
        match offset.constant() {
            Some(0.0) => self,
            Some(offset) => self + offset,
            None => self + self.number(offset),
        }
    }
}

/// Expressions at the insertion point of a rewriter.
pub struct Building<'r, 'a> {
    rewriter: RefCell<&'r mut Rewriter<'a>>,
    ctx: &'a Context,
    error: RefCell<Option<String>>,
}

impl<'r, 'a> Building<'r, 'a> {
    /// Creates an emitter.
    pub fn new(r: &'r mut Rewriter<'a>) -> Self {
        Building {
            ctx: r.ctx,
            rewriter: RefCell::new(r),
            error: RefCell::new(None),
        }
    }

    /// The scope of expressions.
    pub fn scope(&self) -> ExprScope<'_> {
        ExprScope(self)
    }

    /// Uses the rewriter itself.
    pub fn with<T>(&self, f: impl FnOnce(&mut Rewriter<'a>) -> T) -> T {
        f(&mut self.rewriter.borrow_mut())
    }

    /// The first error.
    ///
    /// # Errors
    /// If there is one.
    pub fn finish(&self) -> Result<(), String> {
        self.error.borrow_mut().take().map_or(Ok(()), Err)
    }
}

/// Emits an expression at the insertion point of a rewriter.
///
/// # Errors
/// The first error of the expression.
pub fn evaluate(
    r: &mut Rewriter<'_>,
    expression: impl for<'c> FnOnce(ExprScope<'c>) -> Expr<'c>,
) -> Result<ValueId, String> {
    let building = Building::new(r);
    let value = expression(building.scope()).id();
    building.finish()?;
    value.ok_or_else(|| "an expression has no value".to_owned())
}

impl Emitter for Building<'_, '_> {
    fn context(&self) -> &Context {
        self.ctx
    }

    fn type_of(&self, value: ValueId) -> Type {
        self.rewriter.borrow().body.value_type(value)
    }

    fn emit_all(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], results: &[Type]) -> Emitted {
        let r = &mut **self.rewriter.borrow_mut();
        let op = r.op(name).operands(operands.iter().copied());
        let op = attrs.iter().fold(op, |op, &(name, value)| op.attr(name, value));
        let op = op.results(results.iter().copied()).build();
        r.body.results(op).collect()
    }

    fn emit(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], result: Option<Type>) -> Emitted {
        let r = &mut **self.rewriter.borrow_mut();
        let mut op = r.op(name).operands(operands.iter().copied());
        for &(name, value) in attrs {
            op = op.attr(name, value);
        }
        let built = match result {
            Some(ty) => Ok(op.result(ty).build()),
            None => op.infer(),
        };
        match built {
            Ok(op) => r.body.results(op).collect(),
            Err(why) => {
                self.fail(why);
                Emitted::new()
            }
        }
    }

    fn fail(&self, why: String) {
        self.error.borrow_mut().get_or_insert(why);
    }
}
