//! `fuse-attention`: the products and the softmax of attention as one operation.
//!
//! ```text
//! %s = pd.matmul (%q, %k) {transpose_y = true}
//! %t = pd.scale (%s) {scale = 0.125}
//! %u = pd.add (%t, %mask)                        ==>    %o = pd.scaled_dot_product_attention (%q, %k, %v, %mask)
//! %w = pd.softmax (%u)                                       {scale = 0.125}
//! %o = pd.matmul (%w, %v)
//! ```
//!
//! # Algorithm
//! From each product, the operations that its first operand consists of are followed backwards.
//!
//! # Conditions
//! * The values in between have no other uses, and all operations are in the same block: a softmax outside of a loop is not computed
//!   again in each iteration.
//! * The elements are `f32` or `f64`; in half precision each operation rounds.
//! * The softmax is along the last dimension. The scale is an attribute, or multiplication by a constant. The mask is added after it, and
//!   broadcasts to the weights.
//! * The keys are transposed by the product, or by a `pd.transpose`; if that permutes other dimensions too, as where `canonicalize` has
//!   composed it with that of heads and rows, another takes its place.

use pir_dialects::pd;
use pir_ir::{Body, Context, Diagnostic, Module, OpId, OpView, Rewriter, Type, ValueId};
use smallvec::SmallVec;

use crate::bodies::for_each_body_mut;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `fuse-attention`.
pub struct FuseAttention;

impl Pass for FuseAttention {
    fn name(&self) -> &'static str {
        "fuse-attention"
    }

    fn summary(&self) -> &'static str {
        "Fuse the products and the softmax of attention"
    }

    fn description(&self) -> &'static str {
        "Replaces `pd.matmul (pd.softmax (scale * query keyᵀ + mask), value)` with `pd.scaled_dot_product_attention`, which \
         `pir-run` computes some rows at a time, so that the weights are never in memory as a whole. Results are the same up \
         to the order of sums in the products. In front of `backward`, the weights are computed again instead of recorded."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_body_mut(module, |ctx, body| {
            let mut changed = false;
            for op in body.walk_all().collect::<Vec<_>>() {
                let attention = Attention::of(ctx, body, op);
                if attention.and_then(|found| found.replace(ctx, body, op)).is_some() {
                    cx.count("fused", 1);
                    changed = true;
                }
            }
            Ok(changed.into())
        })
    }
}

/// The keys: a value, with its dimensions in another order if there is one.
struct Key {
    of: ValueId,
    perm: Option<Vec<i64>>,
}

/// The operands of an attention.
struct Attention {
    query: ValueId,
    key: Key,
    value: ValueId,
    mask: Option<ValueId>,
    scale: f64,
    /// The operations that are no longer needed, the last one first.
    parts: SmallVec<[OpId; 4]>,
}

/// The scaled products of queries and keys, with the operations that compute them, the last one first.
struct Scores {
    query: ValueId,
    key: Key,
    scale: f64,
    parts: SmallVec<[OpId; 3]>,
}

/// The values that a product consists of.
#[derive(Clone, Copy)]
struct Inner<'b> {
    ctx: &'b Context,
    body: &'b Body,
    product: OpId,
}

impl<'b> Inner<'b> {
    /// The operation of this name that defines a value, if the value has no other use.
    fn op(self, value: ValueId, name: &str) -> Option<OpView<'b>> {
        let op = self.body.defining_op(value)?;
        let view = self.body.view(self.ctx, op);
        let is_inner = self.body.has_one_use(value) && self.body.op_block(op) == self.body.op_block(self.product);
        (is_inner && view.name() == name).then_some(view)
    }

    fn scores(self, value: ValueId) -> Option<Scores> {
        let mut parts = SmallVec::new();
        let (mut product, mut scale) = (value, 1.0);
        let scaled = [pd::Scale::NAME, pd::Multiply::NAME].into_iter();
        if let Some(scaled) = scaled.filter_map(|name| self.op(value, name)).next() {
            (product, scale) = factor(self.ctx, self.body, scaled)?;
            parts.push(scaled.op);
        }
        let product = self.op(product, pd::Matmul::NAME)?;
        parts.push(product.op);
        let product = pd::Matmul::view(product);
        let key = match product.transpose_y() {
            true => Key {
                of: product.y(),
                perm: None,
            },
            false => {
                let (key, transpose) = self.transposed(product.y())?;
                parts.extend(transpose);
                key
            }
        };
        (!product.transpose_x()).then_some(Scores {
            query: product.x(),
            key,
            scale,
            parts,
        })
    }

    /// What a value is the transpose of in the last two dimensions, and the operation that is not needed then.
    fn transposed(self, value: ValueId) -> Option<(Key, Option<OpId>)> {
        let view = self.body.view(self.ctx, self.body.defining_op(value)?);
        if view.name() != pd::Transpose::NAME {
            return None;
        }
        let transpose = pd::Transpose::view(view);
        let mut perm = transpose.perm()?;
        let rank = perm.len();
        perm.iter_mut()
            .filter(|axis| **axis < 0)
            .for_each(|axis| *axis += rank as i64);
        perm.swap(rank.checked_sub(2)?, rank - 1);
        let of = transpose.x();
        if perm.iter().copied().eq(0..rank as i64) {
            return Some((Key { of, perm: None }, None));
        }
        // With another use, there would be two.
        let inner = self.op(value, pd::Transpose::NAME)?;
        Some((Key { of, perm: Some(perm) }, Some(inner.op)))
    }
}

impl Attention {
    /// The attention whose last product is `op`.
    fn of(ctx: &Context, body: &Body, op: OpId) -> Option<Self> {
        let view = body.view(ctx, op);
        if view.name() != pd::Matmul::NAME {
            return None;
        }
        let product = pd::Matmul::view(view);
        if product.transpose_x() || product.transpose_y() {
            return None;
        }
        let inner = Inner { ctx, body, product: op };
        let softmax = pd::Softmax::view(inner.op(product.x(), pd::Softmax::NAME)?);
        let scores_type = body.value_type(softmax.x());
        let last = rank_of_floats(ctx, scores_type)? as i64 - 1;
        if !matches!(softmax.axis(), axis if axis == -1 || axis == last) {
            return None;
        }
        let mut parts = SmallVec::from_elem(softmax.op, 1);
        let (scores, mask) = match inner.op(softmax.x(), pd::Add::NAME) {
            None => (inner.scores(softmax.x())?, None),
            Some(sum) => {
                parts.push(sum.op);
                let sum = pd::Add::view(sum);
                let orders = [(sum.x(), sum.y()), (sum.y(), sum.x())].into_iter();
                // The mask must not have dimensions that the weights would not have without it.
                let orders = orders.filter(|&(scores, _)| body.value_type(scores) == scores_type);
                let found = orders.filter_map(|(scores, mask)| Some((inner.scores(scores)?, Some(mask))));
                found.into_iter().next()?
            }
        };
        parts.extend(scores.parts);
        let (query, key, value) = (scores.query, scores.key, product.y());
        let are_matrices = [query, key.of, value]
            .into_iter()
            .all(|x| rank_of_floats(ctx, body.value_type(x)).is_some_and(|rank| rank >= 2));
        are_matrices.then_some(Attention {
            query,
            key,
            value,
            mask,
            scale: scores.scale,
            parts,
        })
    }

    /// `None` if it cannot be built.
    fn replace(self, ctx: &Context, body: &mut Body, op: OpId) -> Option<()> {
        let result = body.result(op, 0);
        let (ty, span) = (body.value_type(result), body.op_span(op));
        let mut r = Rewriter::new(ctx, body);
        r.before(op).set_span(span);
        let key = match &self.key.perm {
            None => self.key.of,
            Some(perm) => pd::transpose(&mut r, self.key.of, perm).ok()?,
        };
        let fused = r.op(pd::ScaledDotProductAttention::NAME);
        let fused = fused.operands([self.query, key, self.value]).operands(self.mask);
        let fused = match self.scale {
            1.0 => fused,
            scale => fused.attr("scale", ctx.float_attr(scale)),
        };
        let fused = fused.result(ty).value();
        r.take_name(result, fused);
        r.replace_op(op, &[fused]);
        for part in self.parts {
            r.body.erase_op(part);
        }
        Some(())
    }
}

/// The rank of a tensor of `f32` or `f64`.
fn rank_of_floats(ctx: &Context, ty: Type) -> Option<usize> {
    let (dims, elem) = ctx.as_tensor(ty)?;
    matches!(elem, Type::F32 | Type::F64).then_some(dims.len())
}

/// What is multiplied, and the factor.
fn factor(ctx: &Context, body: &Body, op: OpView<'_>) -> Option<(ValueId, f64)> {
    if op.name() == pd::Scale::NAME {
        let op = pd::Scale::view(op);
        let (scale, bias) = (op.scale().constant()?, op.bias().constant()?);
        return (bias == 0.0).then_some((op.x(), scale));
    }
    let op = pd::Multiply::view(op);
    [(op.x(), op.y()), (op.y(), op.x())].into_iter().find_map(|(x, by)| {
        let by = body.constant(ctx, by)?;
        let same = body.value_type(x) == body.value_type(op.out());
        same.then_some((x, ctx.attr_f64(by)?))
    })
}
