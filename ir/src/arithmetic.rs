//! The interface by which passes create arithmetic without knowing a dialect: arithmetic on values of a type, and loops and branches. A
//! dialect registers them ([`ContextBuilder::register_arithmetic`](crate::ContextBuilder::register_arithmetic),
//! [`ContextBuilder::register_structured`](crate::ContextBuilder::register_structured)).

use crate::body::OpView;
use crate::context::Context;
use crate::entity::{OpId, ValueId};
use crate::rewriter::Rewriter;
use crate::types::Type;

/// An elementwise operation on one or two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arith {
    /// x + y
    Add,
    /// x - y
    Subtract,
    /// x · y
    Multiply,
    /// The greatest whole number that is at most x / y.
    FloorDivide,
    /// The lesser of two.
    Minimum,
    /// x < y
    Less,
    /// x > y
    Greater,
    /// x = y
    Equal,
    /// Both of two truth values.
    And,
    /// The other truth value.
    Not,
    /// A copy of x, as a separate value.
    Copy,
}

/// Arithmetic on the values of some types of a dialect.
pub trait Arithmetic: Send + Sync {
    /// Whether it is for values of a type.
    fn is_for(&self, ctx: &Context, ty: Type) -> bool;

    /// The name of the operation for a kind of arithmetic.
    fn op(&self, what: Arith) -> &'static str;

    /// The type of the numbers that iterations are counted with.
    fn count_type(&self, ctx: &Context) -> Type;

    /// A constant of the count type.
    fn count(&self, r: &mut Rewriter<'_>, number: i64) -> ValueId;

    /// A value with a number added to it.
    fn offset(&self, r: &mut Rewriter<'_>, value: ValueId, by: f64) -> OpId;

    /// The number that an operation adds to its operand, if it does so.
    fn offset_of(&self, op: OpView<'_>) -> Option<f64>;

    /// A value of the type and the shape of another one, all elements of which are a number.
    ///
    /// # Errors
    /// When there is none of that type.
    fn filled_like(&self, r: &mut Rewriter<'_>, like: ValueId, number: f64) -> Result<ValueId, String>;

    /// Whether an operation is of a kind of arithmetic.
    fn is(&self, op: OpView<'_>, what: Arith) -> bool {
        op.name() == self.op(what)
    }

    /// Emits an operation whose result type is known.
    fn emit(&self, r: &mut Rewriter<'_>, what: Arith, of: &[ValueId], ty: Type) -> ValueId {
        r.op(self.op(what)).operands(of.iter().copied()).result(ty).value()
    }

    /// Emits an operation.
    ///
    /// # Errors
    /// When the operands do not go together.
    fn compute(&self, r: &mut Rewriter<'_>, what: Arith, of: &[ValueId]) -> Result<ValueId, String> {
        let op = r.op(self.op(what)).operands(of.iter().copied()).infer()?;
        Ok(r.body.result(op, 0))
    }
}

/// The operations with which loops and branches are built.
#[derive(Clone, Copy, Debug)]
pub struct Structured {
    /// A branch: a condition, and two regions without arguments that yield its results.
    pub branch: &'static str,
    /// A loop: values, a region that tests and forwards, and one that yields what is tested next.
    pub repeat: &'static str,
    /// Ends a branch, and the region of a loop that is repeated.
    pub yields: &'static str,
    /// Ends the region of a loop that tests: the condition, and what is forwarded.
    pub tests: &'static str,
}

/// The registrations of the dialects of a context.
#[derive(Default)]
pub(crate) struct Registered {
    pub(crate) arithmetic: Vec<&'static dyn Arithmetic>,
    pub(crate) structured: Option<Structured>,
}

impl Context {
    /// The arithmetic on values of a type.
    pub fn arithmetic(&self, ty: Type) -> Option<&'static dyn Arithmetic> {
        let registered: &Registered = self.extension()?;
        registered.arithmetic.iter().copied().find(|a| a.is_for(self, ty))
    }

    /// The structured control flow of the dialect: its loops and branches.
    pub fn structured(&self) -> Option<Structured> {
        self.extension::<Registered>()?.structured
    }
}

impl Rewriter<'_> {
    /// Emits an operation of the dialect of the first operand's type.
    ///
    /// # Errors
    /// When there is none, or the operands do not go together.
    pub fn compute(&mut self, what: Arith, of: &[ValueId]) -> Result<ValueId, String> {
        let ty = of
            .first()
            .map(|&v| self.body.value_type(v))
            .ok_or("there is no arithmetic for it")?;
        let arithmetic = self.ctx.arithmetic(ty).ok_or("its type has no arithmetic")?;
        arithmetic.compute(self, what, of)
    }

    /// A value of the type and the shape of another one, all elements of which are a number.
    ///
    /// # Errors
    /// When there is no arithmetic on its type.
    pub fn filled_like(&mut self, like: ValueId, number: f64) -> Result<ValueId, String> {
        let ty = self.body.value_type(like);
        let arithmetic = self.ctx.arithmetic(ty).ok_or("its type has no arithmetic")?;
        arithmetic.filled_like(self, like, number)
    }
}
