//! The two operations of mixed precision that look for infinities among gradients: expressed in arithmetic.
//!
//! `check_finite_and_unscale_` divides gradients by the scale of the loss and returns whether one of them is not finite.
//! `update_loss_scaling_` clears them then, and lowers the scale when that has happened often enough; else it raises it
//! after enough steps. Optimizer steps with this flag change nothing (`skip_update`).

use pir_dialects::pd;
use pir_ir::{Attr, OpSpec, Span, Type, TypeData, ValueId};
use smallvec::SmallVec;

use super::build::{Builder, SourceId, SourceOp};

impl Builder<'_> {
    /// Appends the arithmetic; false if the operation is another one, or not of the usual form.
    pub(super) fn loss_scaling(&mut self, source: &SourceOp) -> bool {
        match &*source.name {
            "pd.check_finite_and_unscale_" => self.unscale(source).is_some(),
            "pd.update_loss_scaling_" => self.rescale(source).is_some(),
            _ => false,
        }
    }

    fn unscale(&mut self, source: &SourceOp) -> Option<()> {
        let (&[list, scale], &[out, (found, _)]) = (&source.operands[..], &source.results[..]) else {
            return None;
        };
        let gradients = self.tensors(list)?;
        let mut emit = Emit::new(self, source.span);
        let scale = emit.single(scale)?;
        let precision = emit.elem(scale);
        let inverse = emit.unary(pd::Reciprocal::NAME, scale)?;
        let inverse = emit.shaped(inverse, &[])?;
        let (mut all, mut scaled) = (None, Vec::with_capacity(gradients.len()));
        for &(_, gradient) in &gradients {
            let finite = emit.test(pd::Isfinite::NAME, &[gradient])?;
            let finite = emit.op(pd::All::NAME, &[finite], &[], Type::I1, &[])?;
            all = Some(match all {
                Some(all) => emit.op(pd::LogicalAnd::NAME, &[all, finite], &[], Type::I1, &[])?,
                None => finite,
            });
            let wide = emit.cast(gradient, precision)?;
            let product = emit.like(pd::Multiply::NAME, &[wide, inverse])?;
            let elem = emit.elem(gradient);
            scaled.push(emit.cast(product, elem)?);
        }
        let not_all = emit.unary(pd::LogicalNot::NAME, all?)?;
        let not_all = emit.shaped(not_all, &[1])?;
        self.define(found, not_all);
        self.replace_tensors(source, &gradients, scaled, out);
        Some(())
    }

    fn rescale(&mut self, source: &SourceOp) -> Option<()> {
        let &[list, found, scale, good, bad, ref stop @ ..] = &source.operands[..] else {
            return None;
        };
        let &[out, (new_scale, _), (new_good, _), (new_bad, _)] = &source.results[..] else {
            return None;
        };
        let gradients = self.tensors(list)?;
        let number = |name: &str| {
            let given = source.attrs.iter().find(|(n, _)| self.ctx.str(*n) == name);
            given.and_then(|&(_, attr)| self.ctx.attr_f64(attr))
        };
        let (up, down) = (number("incr_ratio")?, number("decr_ratio")?);
        let (often, rarely) = (number("decr_every_n_nan_or_inf")?, number("incr_every_n_steps")?);
        let ids = [scale, good, bad];
        let mut emit = Emit::new(self, source.span);
        let [found, scale, good, bad] = [found, scale, good, bad].map(|id| emit.single(id));
        let (found, old) = (found?, [scale?, good?, bad?]);
        let [scale, good, bad] = old;
        let stop = match stop {
            [] | [0] => None,
            &[stop] => Some(emit.single(stop)?),
            _ => return None,
        };
        let none = emit.number(good, 0.0)?;
        let (good, good_enough) = emit.count(good, rarely)?;
        let (bad, bad_enough) = emit.count(bad, often)?;
        let lower = emit.times(scale, down)?;
        let least = emit.number(scale, 1.0)?;
        let lower = emit.like(pd::Maximum::NAME, &[lower, least])?;
        let higher = emit.times(scale, up)?;
        let finite = emit.test(pd::Isfinite::NAME, &[higher])?;
        let higher = emit.choose(finite, higher, scale)?;
        let lower = emit.choose(bad_enough, lower, scale)?;
        let higher = emit.choose(good_enough, higher, scale)?;
        let good = emit.choose(good_enough, none, good)?;
        let bad = emit.choose(bad_enough, none, bad)?;
        let mut new = [
            emit.choose(found, lower, higher)?,
            emit.choose(found, none, good)?,
            emit.choose(found, bad, none)?,
        ];
        if let Some(stop) = stop {
            for (new, old) in new.iter_mut().zip(old) {
                *new = emit.choose(stop, old, *new)?;
            }
        }
        let mut cleared = Vec::with_capacity(gradients.len());
        for &(_, gradient) in &gradients {
            let zero = emit.like(pd::FullLike::NAME, &[gradient])?;
            let dims = emit.dims(gradient)?;
            let condition = emit.spread(found, &dims)?;
            cleared.push(emit.choose(condition, zero, gradient)?);
        }
        for ((old, new), id) in ids.into_iter().zip(new).zip([new_scale, new_good, new_bad]) {
            self.replace(old, id, new);
        }
        self.replace_tensors(source, &gradients, cleared, out);
        Some(())
    }

    /// The values of a list, by number, if all are tensors of known shapes.
    fn tensors(&self, list: SourceId) -> Option<Vec<(SourceId, ValueId)>> {
        let ids = self.lists.get(&list)?;
        let known = |&id: &SourceId| {
            let value = self.value(id)?;
            let (dims, _) = self.ctx.as_tensor(self.body.value_type(value))?;
            dims.iter().all(|&dim| dim >= 0).then_some((id, value))
        };
        ids.iter().map(known).collect()
    }

    /// Replaces an operand, in place, with the result `id`.
    fn replace(&mut self, old: SourceId, id: SourceId, value: ValueId) {
        self.define(id, value);
        if let Some(op) = self.body.defining_op(value) {
            self.write(old, id, value, op);
        }
    }

    /// Replaces the values of a list, and makes the list `out` of the new ones.
    fn replace_tensors(
        &mut self,
        source: &SourceOp,
        old: &[(SourceId, ValueId)],
        new: Vec<ValueId>,
        out: (SourceId, Option<Type>),
    ) {
        let mut ids: SmallVec<[SourceId; 4]> = SmallVec::new();
        let types: Vec<Type> = new.iter().map(|&value| self.body.value_type(value)).collect();
        for (&(old, _), value) in old.iter().zip(new) {
            let id = self.fresh();
            self.replace(old, id, value);
            ids.push(id);
        }
        self.op(SourceOp {
            name: "builtin.combine".to_owned(),
            operands: ids,
            results: SmallVec::from_slice(&[(out.0, Some(self.ctx.intern_type(TypeData::List(types.into()))))]),
            attrs: Vec::new(),
            regions: 0,
            stops: SmallVec::new(),
            span: source.span,
        });
    }
}

/// Appends operations on tensors of known shapes.
struct Emit<'b, 'c> {
    builder: &'b mut Builder<'c>,
    span: Span,
}

impl<'b, 'c> Emit<'b, 'c> {
    fn new(builder: &'b mut Builder<'c>, span: Span) -> Self {
        Emit { builder, span }
    }

    fn op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        dims: &[i64],
        elem: Type,
        attrs: &[(&str, Attr)],
    ) -> Option<ValueId> {
        let ctx = self.builder.ctx;
        let attrs: Vec<_> = attrs.iter().map(|&(name, attr)| (ctx.sym(name), attr)).collect();
        self.builder.append(OpSpec {
            operands,
            results: &[ctx.tensor(dims, elem)],
            attrs: ctx.dict(&attrs),
            span: self.span,
            ..OpSpec::new(ctx.op_name(name))
        })
    }

    fn dims(&self, value: ValueId) -> Option<Vec<i64>> {
        let (dims, _) = self.builder.ctx.as_tensor(self.builder.body.value_type(value))?;
        Some(dims.to_vec())
    }

    fn elem(&self, value: ValueId) -> Type {
        self.builder.ctx.elem_type(self.builder.body.value_type(value))
    }

    /// A tensor of one element in one dimension.
    fn single(&self, id: SourceId) -> Option<ValueId> {
        let value = self.builder.value(id)?;
        (self.dims(value)? == [1]).then_some(value)
    }

    /// An operation whose result has the type of the first operand.
    fn like(&mut self, name: &str, operands: &[ValueId]) -> Option<ValueId> {
        let &first = operands.first()?;
        let dims = self.dims(first)?;
        self.op(name, operands, &dims, self.elem(first), &[])
    }

    fn unary(&mut self, name: &str, x: ValueId) -> Option<ValueId> {
        self.like(name, &[x])
    }

    /// An operation whose result is a condition for each element.
    fn test(&mut self, name: &str, operands: &[ValueId]) -> Option<ValueId> {
        let dims = self.dims(*operands.first()?)?;
        self.op(name, operands, &dims, Type::I1, &[])
    }

    fn shaped(&mut self, x: ValueId, dims: &[i64]) -> Option<ValueId> {
        let shape = self.builder.ctx.ints_attr(dims);
        self.op(pd::Reshape::NAME, &[x], dims, self.elem(x), &[("shape", shape)])
    }

    fn spread(&mut self, x: ValueId, dims: &[i64]) -> Option<ValueId> {
        if dims.is_empty() {
            return self.shaped(x, dims);
        }
        let shape = self.builder.ctx.ints_attr(dims);
        self.op(pd::Expand::NAME, &[x], dims, self.elem(x), &[("shape", shape)])
    }

    fn cast(&mut self, x: ValueId, elem: Type) -> Option<ValueId> {
        if self.elem(x) == elem {
            return Some(x);
        }
        let (dims, dtype) = (self.dims(x)?, self.builder.ctx.type_attr(elem));
        self.op(pd::Cast::NAME, &[x], &dims, elem, &[("dtype", dtype)])
    }

    /// A constant of the type of `x`.
    fn number(&mut self, x: ValueId, value: f64) -> Option<ValueId> {
        let (ctx, elem) = (self.builder.ctx, self.elem(x));
        let value = match ctx.is_float(elem) {
            true => ctx.float_attr(value),
            false => ctx.int_attr(value as i64),
        };
        let dims = self.dims(x)?;
        let attrs = [
            ("shape", ctx.ints_attr(&dims)),
            ("value", value),
            ("dtype", ctx.type_attr(elem)),
        ];
        self.op(pd::Full::NAME, &[], &dims, elem, &attrs)
    }

    fn times(&mut self, x: ValueId, factor: f64) -> Option<ValueId> {
        let factor = self.number(x, factor)?;
        self.like(pd::Multiply::NAME, &[x, factor])
    }

    /// The next number of a counter, and whether it is `limit`.
    fn count(&mut self, counter: ValueId, limit: f64) -> Option<(ValueId, ValueId)> {
        let (one, limit) = (self.number(counter, 1.0)?, self.number(counter, limit)?);
        let next = self.like(pd::Add::NAME, &[counter, one])?;
        Some((next, self.test(pd::Equal::NAME, &[next, limit])?))
    }

    fn choose(&mut self, condition: ValueId, x: ValueId, y: ValueId) -> Option<ValueId> {
        let dims = self.dims(x)?;
        self.op(pd::Where::NAME, &[condition, x, y], &dims, self.elem(x), &[])
    }
}
