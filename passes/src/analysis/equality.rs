//! When two operations, or two regions, do the same.

use std::hash::{Hash, Hasher};

use pir_ir::{AttrDict, Body, Context, OpId, OpName, RegionId, Traits, Type, ValueId, ValueMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The key of an operation without regions: operations with equal keys give the same, if they are pure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpKey {
    /// The name.
    pub name: OpName,
    /// The operands, in order of their numbers if the operation commutes.
    pub operands: SmallVec<[ValueId; 4]>,
    /// The attributes, in order of their names.
    pub attrs: AttrDict,
    /// The types of the results.
    pub results: SmallVec<[Type; 2]>,
}

impl OpKey {
    /// The key of an operation.
    pub fn new(ctx: &Context, body: &Body, op: OpId) -> Self {
        Self::with_operands(ctx, body, op, body.operands(op).collect())
    }

    /// The key that an operation would have with other operands.
    pub fn with_operands(ctx: &Context, body: &Body, op: OpId, mut operands: SmallVec<[ValueId; 4]>) -> Self {
        if body.view(ctx, op).has(Traits::COMMUTATIVE) {
            operands.sort_unstable();
        }
        OpKey {
            name: body.op_name(op),
            operands,
            attrs: ctx.dict_sorted(body.attrs(op)),
            results: body.results(op).map(|r| body.value_type(r)).collect(),
        }
    }
}

/// Enters into a hash what an operation does: the same for operations with equal keys, without making the keys.
pub(crate) fn hash_op(ctx: &Context, body: &Body, op: OpId, hasher: &mut impl Hasher) {
    body.op_name(op).hash(hasher);
    ctx.dict_sorted(body.attrs(op)).hash(hasher);
    body.results(op).for_each(|r| body.value_type(r).hash(hasher));
    let mut operands = body.operands(op);
    let is_commutative = operands.len() > 1 && body.view(ctx, op).has(Traits::COMMUTATIVE);
    match (is_commutative, operands.len()) {
        (true, 2) => {
            let (x, y) = (operands.next(), operands.next());
            (x.min(y), x.max(y)).hash(hasher);
        }
        (true, _) => sorted_operands(body, op).hash(hasher),
        (false, _) => operands.for_each(|v| v.hash(hasher)),
    }
}

/// Whether the keys of two operations are equal.
pub(crate) fn ops_equal(ctx: &Context, body: &Body, a: OpId, b: OpId) -> bool {
    let same_attrs = || {
        let (x, y) = (body.attrs(a), body.attrs(b));
        x == y || ctx.dict_sorted(x) == ctx.dict_sorted(y)
    };
    let types = |op| body.results(op).map(|r| body.value_type(r));
    body.op_name(a) == body.op_name(b)
        && body.num_operands(a) == body.num_operands(b)
        && same_attrs()
        && types(a).eq(types(b))
        && (body.operands(a).eq(body.operands(b))
            || body.view(ctx, a).has(Traits::COMMUTATIVE) && sorted_operands(body, a) == sorted_operands(body, b))
}

fn sorted_operands(body: &Body, op: OpId) -> SmallVec<[ValueId; 4]> {
    let mut operands: SmallVec<[ValueId; 4]> = body.operands(op).collect();
    operands.sort_unstable();
    operands
}

/// Whether two lists of regions hold the same operations in the same order, on the same values from outside.
pub fn regions_equal(ctx: &Context, body: &Body, a: &[RegionId], b: &[RegionId]) -> bool {
    let mut map = ValueMap::new();
    let mut blocks = FxHashMap::default();
    let mut pending: Vec<(RegionId, RegionId)> = Vec::new();
    let enter = |a: &[RegionId], b: &[RegionId], pending: &mut Vec<_>| {
        pending.extend(a.iter().copied().zip(b.iter().copied()));
        a.len() == b.len()
    };
    if !enter(a, b, &mut pending) {
        return false;
    }
    while let Some((a, b)) = pending.pop() {
        let (a, b) = (body.region_blocks(a), body.region_blocks(b));
        if a.len() != b.len() {
            return false;
        }
        for (&x, &y) in a.iter().zip(b) {
            blocks.insert(x, y);
            if !bind(body, &mut map, body.block_args(x), body.block_args(y)) {
                return false;
            }
        }
        // In a region of several blocks a use may be read before its definition: such are taken to differ.
        for (&x, &y) in a.iter().zip(b) {
            let (mut x, mut y) = (body.first_op(x), body.first_op(y));
            while let (Some(p), Some(q)) = (x, y) {
                let operands = body.operands(p).map(|v| map.get_or_self(v)).collect();
                if body.num_results(p) != body.num_results(q)
                    || OpKey::with_operands(ctx, body, p, operands) != OpKey::new(ctx, body, q)
                    || body.isolated(p).is_some()
                    || body.isolated(q).is_some()
                    || !enter(body.op_regions(p), body.op_regions(q), &mut pending)
                {
                    return false;
                }
                let (from, to) = (body.successors(p), body.successors(q));
                let same = |(s, t): (&pir_ir::Successor, &pir_ir::Successor)| {
                    blocks.get(&s.block) == Some(&t.block) && s.operands == t.operands
                };
                if from.len() != to.len() || !from.iter().zip(to).all(same) {
                    return false;
                }
                for (from, to) in body.results(p).zip(body.results(q)) {
                    map.insert(from, to);
                }
                (x, y) = (body.next_op(p), body.next_op(q));
            }
            if x.is_some() || y.is_some() {
                return false;
            }
        }
    }
    true
}

fn bind(body: &Body, map: &mut ValueMap, from: &[ValueId], to: &[ValueId]) -> bool {
    if from.len() != to.len() {
        return false;
    }
    from.iter().zip(to).all(|(&from, &to)| {
        map.insert(from, to);
        body.value_type(from) == body.value_type(to)
    })
}
