//! Recorded values that need no record, because the derivative can obtain them otherwise: constants, and what a loop
//! computes from outer values. They are recomputed once, in front of the dual of the outermost loop in which they are
//! invariant; a constant in a branch outside of loops is recomputed where it is needed.

use pir_ir::{Body, Context, OpId, RegionId, Rewriter, Speculatability, Traits, ValueDef, ValueId, ValueMap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::tapes::Tapes;

/// How deep the regions are nested, and how far out each value could be computed.
pub(crate) struct Invariants {
    region_depth: Vec<u32>,
    /// For each value the depth of the innermost region that it depends on.
    value_depth: Vec<u32>,
    /// The clones: of a value, in front of an operation.
    clones: FxHashMap<(ValueId, OpId), ValueId>,
    outermost: FxHashMap<(RegionId, u32), Option<(u32, RegionId)>>,
}

/// Whether an operation may be computed again anywhere that its operands are visible.
fn is_free(ctx: &Context, body: &Body, op: OpId) -> bool {
    let view = body.view(ctx, op);
    view.def().is_some_and(|def| !def.has(Traits::TERMINATOR))
        && body.op_regions(op).is_empty()
        && body.successors(op).is_empty()
        && (view.has_no_effects() || view.own_effects().is_empty())
        && view.speculatability() == Speculatability::Always
}

impl Invariants {
    pub(crate) fn new(ctx: &Context, body: &Body) -> Self {
        let mut this = Invariants {
            region_depth: vec![0; body.num_region_slots()],
            value_depth: vec![0; body.num_value_slots()],
            clones: FxHashMap::default(),
            outermost: FxHashMap::default(),
        };
        // Pre-order: an operation is visited before those inside it, and after those whose results it uses.
        let args = |this: &mut Self, region: RegionId| {
            let depth = this.region_depth[region.index()];
            for &block in body.region_blocks(region) {
                for &arg in body.block_args(block) {
                    this.value_depth[arg.index()] = depth;
                }
            }
        };
        args(&mut this, body.root());
        for op in body.walk_all() {
            let depth = body.op_region(op).map_or(0, |r| this.region_depth[r.index()]);
            for &region in body.op_regions(op) {
                this.region_depth[region.index()] = depth + 1;
                args(&mut this, region);
            }
            let of_operands = body.operands(op).map(|v| this.value_depth[v.index()]).max();
            // Most depend on what is where they are, and need not be looked at closer.
            let own = match of_operands.unwrap_or(0) {
                outer if outer < depth && is_free(ctx, body, op) => outer,
                _ => depth,
            };
            for result in body.results(op) {
                this.value_depth[result.index()] = own;
            }
        }
        this
    }

    fn depth_of(&self, body: &Body, value: ValueId) -> Option<u32> {
        body.value_region(value).map(|r| self.region_depth[r.index()])
    }

    /// The value without a record, to replace `pop`, if possible. `duals` maps operations to their duals; `primal_at` maps
    /// recorded values to their counterparts there.
    pub(crate) fn recompute(
        &mut self,
        r: &mut Rewriter<'_>,
        value: ValueId,
        pop: OpId,
        duals: &FxHashSet<(OpId, OpId)>,
        tapes: &Tapes,
    ) -> Option<ValueId> {
        let op = r.body.defining_op(value)?;
        let free = *self.value_depth.get(value.index())?;
        let depth = self.depth_of(r.body, value)?;
        if !is_free(r.ctx, r.body, op) {
            return None;
        }
        let region = r.body.op_region(op)?;
        let (at, place) = match self.outermost(r, region, free, depth) {
            Some((at, repeated)) => {
                let parent = r.body.region_parent(repeated)?;
                // Forward and dual operations of a depth face each other.
                let inside = r.body.op_region(pop)?;
                let dual = match *self.region_depth.get(inside.index())? >= at {
                    true => r.body.region_parent(tapes.tree.ancestor(inside, at))?,
                    false => pop,
                };
                if !duals.contains(&(parent, dual)) {
                    return None;
                }
                (at, dual)
            }
            None if r.body.num_operands(op) == 0 => (depth, pop),
            None => return None,
        };
        self.clone_before(r, value, at, place, tapes)
    }

    /// The outermost repeated region, and its depth, among those deeper than `free` that a region at `depth` is or is
    /// nested in. Asked again and again from the inside out, so the answers are kept.
    fn outermost(&mut self, r: &Rewriter<'_>, region: RegionId, free: u32, depth: u32) -> Option<(u32, RegionId)> {
        let mut path = Vec::new();
        let (mut at, mut region) = (depth, region);
        let mut found = None;
        while at > free {
            if let Some(&known) = self.outermost.get(&(region, free)) {
                found = known;
                break;
            }
            path.push((at, region));
            at -= 1;
            region = r.body.region_parent(region).and_then(|op| r.body.op_region(op))?;
        }
        for (at, region) in path.into_iter().rev() {
            let parent = r.body.region_parent(region)?;
            let index = r.body.region_index(region)?;
            let view = r.body.view(r.ctx, parent);
            let flow = r.body.region_flow(r.ctx, parent);
            if found.is_none() && flow.is_some_and(|f| f.is_repeated(view, index)) {
                found = Some((at, region));
            }
            self.outermost.insert((region, free), found);
        }
        found
    }

    /// Clones the computation of `value` at depth `at` or deeper, before `place`.
    fn clone_before(
        &mut self,
        r: &mut Rewriter<'_>,
        value: ValueId,
        at: u32,
        place: OpId,
        tapes: &Tapes,
    ) -> Option<ValueId> {
        let here = r.body.op_region(place)?;
        // The plan comes first, so that nothing has been inserted if a value turns out to be unavailable.
        let mut order: SmallVec<[OpId; 4]> = SmallVec::new();
        let mut map = ValueMap::new();
        let mut pending: SmallVec<[(ValueId, bool); 8]> = smallvec![(value, false)];
        while let Some((v, done)) = pending.pop() {
            if let Some(&clone) = self.clones.get(&(v, place)) {
                map.insert(v, clone);
                continue;
            }
            if self.depth_of(r.body, v)? < at {
                let known = [Some(v), tapes.primal_at.get(v)].into_iter().flatten();
                let visible = |&w: &ValueId| {
                    r.body
                        .value_region(w)
                        .is_some_and(|region| tapes.tree.contains(r.body, region, here))
                };
                map.insert(v, known.into_iter().find(visible)?);
                continue;
            }
            let ValueDef::Result(op, _) = r.body.value_def(v) else {
                return None;
            };
            if done {
                order.push(op);
            } else if map.get(v).is_none() {
                // Until there are copies, each result stands for itself.
                r.body.results(op).for_each(|result| map.insert(result, result));
                pending.push((v, true));
                pending.extend(r.body.operands(op).map(|u| (u, false)));
            }
        }
        r.before(place);
        for op in order {
            let clone = r.clone_op(op, &mut map);
            for (from, to) in r.body.results(op).zip(r.body.results(clone)) {
                self.clones.insert((from, place), to);
            }
        }
        map.get(value)
    }
}
