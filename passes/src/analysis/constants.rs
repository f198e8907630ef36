//! Constants: which values are, what operations on them give, and how they are made.

use std::cell::RefCell;

use pir_ir::{Attr, Body, Context, FoldResult, InsertPoint, OpId, Rewriter, Speculatability, Traits, Type, ValueId};
use smallvec::SmallVec;

use crate::pass::ConstantEvaluator;

/// Knows and makes constants.
pub(crate) struct Constants<'a> {
    ctx: &'a Context,
    evaluator: Option<&'a dyn ConstantEvaluator>,
    /// Whether folds need not keep NaNs, infinities and the signs of zeros.
    fast: bool,
    /// What was requested, by the index of the operation: the constant, or that it is none. Interning a constant is not free,
    /// and constants are requested once per use.
    known: RefCell<Vec<Option<Option<Attr>>>>,
}

impl<'a> Constants<'a> {
    pub(crate) fn new(ctx: &'a Context, evaluator: Option<&'a dyn ConstantEvaluator>, fast: bool) -> Self {
        Self {
            ctx,
            evaluator,
            fast,
            known: RefCell::default(),
        }
    }

    pub(crate) fn ctx(&self) -> &'a Context {
        self.ctx
    }

    /// The constant that a value is, if a constant operation defines it.
    #[inline]
    pub(crate) fn of(&self, body: &Body, value: ValueId) -> Option<Attr> {
        let op = body.defining_op(value)?;
        // Most are none, which is known sooner than what is in a table.
        if !body.view(self.ctx, op).has(Traits::CONSTANT) || body.num_results(op) != 1 {
            return None;
        }
        self.of_constant(body, op, value)
    }

    /// The constant that an operation computes.
    fn of_constant(&self, body: &Body, op: OpId, value: ValueId) -> Option<Attr> {
        if let Some(&Some(known)) = self.known.borrow().get(op.index()) {
            return known;
        }
        let constant = body.constant(self.ctx, value);
        let mut known = self.known.borrow_mut();
        if known.len() <= op.index() {
            known.resize(body.num_op_slots(), None);
        }
        known[op.index()] = Some(constant);
        constant
    }

    /// The constants that the operands are; `more` knows some that the program does not show.
    pub(crate) fn of_operands(
        &self,
        body: &Body,
        op: OpId,
        more: &dyn Fn(ValueId) -> Option<Attr>,
    ) -> SmallVec<[Option<Attr>; 4]> {
        let mut constants = SmallVec::new();
        for value in body.operands(op) {
            constants.push(self.of(body, value).or_else(|| more(value)));
        }
        constants
    }

    /// Folds an operation.
    pub(crate) fn fold(
        &self,
        body: &Body,
        op: OpId,
        more: &dyn Fn(ValueId) -> Option<Attr>,
    ) -> Option<SmallVec<[FoldResult; 2]>> {
        let view = body.view(self.ctx, op);
        let def = view.def()?;
        let fast_fold = def.fast_fold.filter(|_| self.fast);
        if def.fold.is_none() && self.evaluator.is_none() && fast_fold.is_none() {
            return None;
        }
        // The evaluator needs all operands, and most are not constant.
        if def.fold.is_none() && fast_fold.is_none() {
            let first = body.operands(op).next()?;
            self.of(body, first).or_else(|| more(first))?;
        }
        let constants = self.of_operands(body, op, more);
        let folds = [def.fold, fast_fold].into_iter().flatten();
        if let Some(folded) = folds.filter_map(|fold| fold(view, &constants)).next() {
            return Some(folded);
        }
        // The kernels evaluate pure operations whose operands are all constant.
        if self.evaluator.is_none() || constants.contains(&None) {
            return None;
        }
        let all: SmallVec<[Attr; 4]> = constants.into_iter().collect::<Option<_>>()?;
        let pure = view.own_effects().is_empty()
            && body.op_regions(op).is_empty()
            && !all.is_empty()
            && !matches!((def.speculatable)(view), Speculatability::Recursive);
        let values = self.evaluator.filter(|_| pure)?.evaluate(view, &all)?;
        Some(values.into_iter().map(FoldResult::Constant).collect())
    }

    /// Makes a constant before `op`, by the makers of the dialect of `op` first.
    pub(crate) fn materialize(&self, body: &mut Body, op: OpId, value: Attr, ty: Type) -> Option<ValueId> {
        let name = self.ctx.op_str(body.op_name(op));
        let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
        for make in self.ctx.makers_of_constants(dialect) {
            let mut rewriter = Rewriter::new(self.ctx, body);
            rewriter.before(op);
            debug_assert_eq!(rewriter.point(), InsertPoint::Before(op));
            if let Some(made) = make(&mut rewriter, value, ty)
                && body.num_results(made) == 1
            {
                return Some(body.result(made, 0));
            }
        }
        None
    }
}
