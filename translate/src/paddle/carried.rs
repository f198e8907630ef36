//! Outer values that a region changes in place.
//!
//! In PaddlePaddle, `assign_out_`, `increment_` and `array_write_` in the body of a loop or in a branch change outer
//! values. Here the loop carries such a value and the branch yields it: when a region has been read, the changed values
//! are added to its arguments, operands and results, and the result replaces the value from then on.

use pir_dialects::pd;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use pir_ir::{Body, Context, DYNAMIC, Diagnostic, OpId, RegionId, Rewriter, Type, ValueId};

use super::build::{Builder, SourceId};

/// The changes made by regions of operations that are still open.
#[derive(Default)]
pub(super) struct Changes {
    /// By region: the changed values, and their values at the end of the region.
    found: FxHashMap<RegionId, Vec<(SourceId, ValueId)>>,
    /// The numbers of the results of operations with regions.
    results: FxHashMap<OpId, SmallVec<[SourceId; 4]>>,
}

impl Builder<'_> {
    /// Records the result numbers of an operation with regions.
    pub(super) fn has_regions(&mut self, op: OpId, results: impl Iterator<Item = SourceId>) {
        self.changes.results.insert(op, results.collect());
    }

    /// Records the outer values that a region has changed.
    pub(super) fn region_ended(&mut self, region: RegionId, changed: Vec<(SourceId, ValueId)>) {
        if !changed.is_empty() {
            self.changes.found.insert(region, changed);
        }
        let Some(op) = self.body.region_parent(region) else {
            return;
        };
        if self.body.op_regions(op).last() == Some(&region) {
            self.operation_ended(op);
        }
    }

    fn operation_ended(&mut self, op: OpId) {
        let results = self.changes.results.remove(&op).unwrap_or_default();
        let regions: SmallVec<[RegionId; 2]> = self.body.op_regions(op).into();
        let changes: SmallVec<[FxHashMap<SourceId, ValueId>; 2]> = regions
            .iter()
            .map(|region| {
                self.changes
                    .found
                    .remove(region)
                    .unwrap_or_default()
                    .into_iter()
                    .collect()
            })
            .collect();
        let mut seen = FxHashSet::default();
        let mut ids: Vec<SourceId> = changes.iter().flat_map(|c| c.keys().copied()).collect();
        ids.retain(|id| seen.insert(*id));
        // In the order of definition, independent of hashing.
        ids.sort_unstable();
        if ids.is_empty() {
            return;
        }
        let is_loop = match self.ctx.op_str(self.body.op_name(op)) {
            pd::While::NAME => true,
            pd::If::NAME => false,
            name => {
                let message = format!("a region of `{name}` changes an outer value in place");
                self.errors
                    .push(Diagnostic::error("in-place", message).label(self.body.op_span(op), "here"));
                return;
            }
        };
        let mut operands = self.body.operands_vec(op);
        let mut types: Vec<Type> = self.body.results(op).map(|v| self.body.value_type(v)).collect();
        for &id in &ids {
            let Some(before) = self.value(id) else { continue };
            let mut ty = self.body.value_type(before);
            for after in changes.iter().filter_map(|c| c.get(&id)) {
                ty = common(self.ctx, ty, self.body.value_type(*after)).unwrap_or(ty);
            }
            for (&region, changes) in regions.iter().zip(&changes) {
                self.carry(region, is_loop, before, changes.get(&id).copied(), ty);
            }
            if is_loop {
                operands.push(before);
            }
            types.push(ty);
        }
        let mut rewriter = Rewriter::new(self.ctx, &mut self.body);
        let new = rewriter.recreate(op, &operands, &types);
        rewriter.erase_op(op);
        let mut values = self.body.results(new);
        for id in results {
            let value = values.next();
            self.define_if(id, value);
        }
        for (id, value) in ids.into_iter().zip(values) {
            // Values that share the tensor were changed too, and are among them.
            self.carry_out(id, value, new);
        }
    }

    /// Adds a value to the yields of a region and, for a loop, to its arguments.
    fn carry(&mut self, region: RegionId, is_loop: bool, before: ValueId, after: Option<ValueId>, ty: Type) {
        let body = &mut self.body;
        let Some(block) = body.entry_block(region) else { return };
        let Some(end) = body.last_op(block) else { return };
        let mut value = after.unwrap_or(before);
        if is_loop {
            let name = body.value_name(before);
            let arg = body.add_block_arg(block, ty, name);
            replace_inside(body, region, before, arg);
            if value == before {
                value = arg;
            }
        }
        body.push_operand(end, value);
    }
}

/// Replaces a value inside a region.
fn replace_inside(body: &mut Body, region: RegionId, old: ValueId, new: ValueId) {
    let uses: Vec<_> = body.uses(old).collect();
    for at in uses {
        let inside = body
            .op_region(at.op)
            .is_some_and(|inner| inner == region || body.region_contains(region, inner));
        if inside {
            body.set_operand(at.op, at.index, new);
        }
    }
}

/// The common type of two values: dimensions that differ are dynamic.
pub(super) fn common(ctx: &Context, a: Type, b: Type) -> Option<Type> {
    if a == b {
        return Some(a);
    }
    let ((x, elem), (y, _)) = (ctx.as_tensor(a)?, ctx.as_tensor(b)?);
    let shape: Vec<i64> = x
        .iter()
        .zip(y)
        .map(|(&p, &q)| if p == q { p } else { DYNAMIC })
        .collect();
    (x.len() == y.len()).then(|| ctx.tensor(&shape, elem))
}
