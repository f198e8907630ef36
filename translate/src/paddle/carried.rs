//! Outer values that a region changes in place.
//!
//! In PaddlePaddle, `assign_out_`, `increment_` and `array_write_` in the body of a loop or in a branch change outer
//! values. Here the loop carries such a value and the branch yields it: when a region has been read, the changed values
//! are added to its arguments, operands and results, and the result replaces the value from then on.

use pir_dialects::pd;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use pir_ir::{
    Body, Context, DYNAMIC, Diagnostic, Edited, FlowEdit, FlowPoint, NewLane, OpId, Refused, RegionId, Rewriter, Type,
    ValueId,
};

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
                let message = format!("a region of `{name}` changes a value of its surroundings in place");
                self.errors
                    .push(Diagnostic::error("in-place", message).label(self.body.op_span(op), "here"));
                return;
            }
        };
        let ids: Vec<(SourceId, ValueId)> = ids.into_iter().filter_map(|id| Some((id, self.value(id)?))).collect();
        let edited = self.carry(op, is_loop, &regions, &changes, &ids);
        let (done, lanes) = match edited {
            Ok(done) => done,
            Err(refused) => return self.errors.push(refused.diagnostic(&self.body)),
        };
        let added: Vec<ValueId> = lanes.iter().map(|&lane| done.result(&self.body, lane)).collect();
        let mut values = self.body.results(done.op).filter(|v| !added.contains(v));
        for id in results {
            let value = values.next();
            self.define_if(id, value);
        }
        for ((id, _), value) in ids.into_iter().zip(added) {
            // Values that share the tensor were changed too, and are among them.
            self.carry_out(id, value, done.op);
        }
    }

    /// Adds values to the yields of the regions and the results of an operation and, for a loop, to its operands and arguments.
    fn carry(
        &mut self,
        op: OpId,
        is_loop: bool,
        regions: &[RegionId],
        changes: &[FxHashMap<SourceId, ValueId>],
        ids: &[(SourceId, ValueId)],
    ) -> Result<(Edited, Vec<NewLane>), Refused> {
        let mut edit = FlowEdit::new(self.ctx, &self.body, op)?;
        let mut lanes = Vec::new();
        for (id, before) in ids {
            let after = |at: usize| changes[at].get(id).copied();
            let ty = (0..regions.len())
                .filter_map(after)
                .fold(self.body.value_type(*before), |ty, after| {
                    common(self.ctx, ty, self.body.value_type(after)).unwrap_or(ty)
                });
            lanes.push(match is_loop {
                true => edit.carry(ty),
                false => {
                    let yields = |at| (FlowPoint::Region(at), after(at).unwrap_or(*before));
                    let given: SmallVec<[_; 2]> = (0..regions.len()).map(yields).collect();
                    edit.add(FlowPoint::Parent, ty, &given)
                }
            });
        }
        let ready = edit.check(&self.body)?;
        let initial: Vec<ValueId> = ids.iter().map(|&(_, before)| before).collect();
        let mut rewriter = Rewriter::new(self.ctx, &mut self.body);
        let done = ready.apply(&mut rewriter, &initial);
        if is_loop {
            for (&lane, &(id, before)) in lanes.iter().zip(ids) {
                for (at, &region) in regions.iter().enumerate() {
                    let point = FlowPoint::Region(at);
                    let arg = done.input(&self.body, point, lane);
                    let name = self.body.value_name(before);
                    self.body.set_value_name(arg, name);
                    replace_inside(&mut self.body, region, before, arg);
                    if let Some(&after) = changes[at].get(&id).filter(|&&after| after != before) {
                        let at = done.operand(&self.body, point, lane);
                        self.body.set_operand(at.op, at.index, after);
                    }
                }
            }
        }
        Ok((done, lanes))
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
