//! The arithmetic of tensors and scalars, and the loops and branches, that passes make programs of.

use crate::cf;
use pir_ir::{Arith, Arithmetic, Context, OpId, OpView, Rewriter, Structured, Type, TypeData, ValueId};

use crate::mlir::arith;
use crate::pd;
use crate::stablehlo;

/// Loops and branches.
pub(super) const STRUCTURED: Structured = Structured {
    branch: pd::If::NAME,
    repeat: pd::While::NAME,
    yields: cf::YIELD,
    tests: cf::COND_YIELD,
};

/// Arithmetic on tensors, and on numbers and truth values by themselves.
pub(super) struct Tensors;

impl Arithmetic for Tensors {
    fn is_for(&self, ctx: &Context, ty: Type) -> bool {
        !matches!(ctx.type_data(ty), TypeData::Dialect { .. } | TypeData::List(_))
    }

    fn op(&self, what: Arith) -> &'static str {
        match what {
            Arith::Add => pd::Add::NAME,
            Arith::Subtract => pd::Subtract::NAME,
            Arith::Multiply => pd::Multiply::NAME,
            Arith::FloorDivide => pd::FloorDivide::NAME,
            Arith::Minimum => pd::Minimum::NAME,
            Arith::Less => pd::LessThan::NAME,
            Arith::Greater => pd::GreaterThan::NAME,
            Arith::Equal => pd::Equal::NAME,
            Arith::And => pd::LogicalAnd::NAME,
            Arith::Not => pd::LogicalNot::NAME,
            Arith::Copy => pd::Assign::NAME,
        }
    }

    fn is(&self, op: OpView<'_>, what: Arith) -> bool {
        let is_also = match what {
            // In a differentiated function of MLIR's dialects, both occur side by side.
            Arith::Add => op.name() == arith::Addi::NAME,
            Arith::Subtract => op.name() == arith::Subi::NAME,
            // Of truth values.
            Arith::And if [pd::BitwiseAnd::NAME, stablehlo::ops::And::NAME].contains(&op.name()) => {
                op.result_type(0).is_some_and(|ty| op.ctx.elem_type(ty) == Type::I1)
            }
            _ => false,
        };
        is_also || op.name() == self.op(what)
    }

    fn count_type(&self, ctx: &Context) -> Type {
        ctx.tensor(&[], Type::I64)
    }

    fn count(&self, r: &mut Rewriter<'_>, number: i64) -> ValueId {
        let (ctx, ty) = (r.ctx, self.count_type(r.ctx));
        r.op(pd::Full::NAME)
            .attr("shape", ctx.ints_attr(&[]))
            .attr("value", ctx.int_attr(number))
            .attr("dtype", ctx.type_attr(Type::I64))
            .result(ty)
            .value()
    }

    fn offset(&self, r: &mut Rewriter<'_>, value: ValueId, by: f64) -> OpId {
        let (ty, by) = (r.body.value_type(value), r.ctx.float_attr(by));
        r.op(pd::Increment::NAME)
            .operand(value)
            .attr("value", by)
            .result(ty)
            .build()
    }

    fn offset_of(&self, op: OpView<'_>) -> Option<f64> {
        (op.name() == pd::Increment::NAME).then(|| op.f64("value").unwrap_or(1.0))
    }

    fn filled_like(&self, r: &mut Rewriter<'_>, like: ValueId, number: f64) -> Result<ValueId, String> {
        pd::evaluate(r, |scope| scope.expr(like).filled(number))
    }
}
