//! Making the changes that were found to be possible. Nothing here fails.

use smallvec::SmallVec;

use super::{Bundle, FlowEdit, Lane, New, NewEntry, NewLane, Ready};
use crate::body::{Body, Use};
use crate::declare::FlowPoint;
use crate::edit::OpSpec;
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::rewriter::Rewriter;
use crate::types::Type;

/// An operation that was edited.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The operation: another one when its results are others.
    pub op: OpId,
    bundles: SmallVec<[Bundle; 3]>,
}

/// The bundles that a point has places in, by the first of these.
fn places(bundles: &[Bundle], of: impl Fn(&Bundle) -> Option<usize>) -> SmallVec<[(usize, &Bundle); 2]> {
    let mut all: SmallVec<[_; 2]> = bundles.iter().filter_map(|b| Some((of(b)?, b))).collect();
    all.sort_by_key(|&(start, _)| start);
    all
}

/// A list with the lanes of the bundles inserted. If two bundles begin at one position, neither has lanes.
fn rebuild<T: Copy>(old: &[T], places: &[(usize, &Bundle)], mut make: impl FnMut(Lane) -> Option<T>) -> Vec<T> {
    crate::steps::count(old.len());
    let mut new = Vec::with_capacity(old.len() + 1);
    let mut at = 0;
    for &(start, bundle) in places {
        new.extend_from_slice(&old[at..start]);
        for lane in bundle.lanes() {
            new.extend(match lane {
                Lane::Old(lane) => Some(old[start + lane]),
                other => make(other),
            });
        }
        at = start + bundle.len;
    }
    new.extend_from_slice(&old[at..]);
    new
}

/// An edit that is half applied: no terminator forwards removed values, but arguments and results are still as they were.
/// In between, other changes remove the remaining uses of these.
pub struct Detached<'c> {
    edit: FlowEdit<'c>,
    /// The arguments that blocks get.
    blocks: Vec<(BlockId, Vec<ValueId>)>,
}

impl<'c> Ready<'c> {
    /// Makes the changes. `initial` are the values that lanes start from that get their first value from outside, in the order
    /// in which they were added.
    pub fn apply(self, r: &mut Rewriter<'_>, initial: &[ValueId]) -> Edited {
        self.detach(r, initial).finish(r)
    }

    /// Makes the first half of the changes: what is forwarded.
    pub fn detach(self, r: &mut Rewriter<'_>, initial: &[ValueId]) -> Detached<'c> {
        let mut edit = self.0;
        let entering = edit.new.iter_mut().filter(|new| new.initial);
        for (new, &value) in entering.zip(initial) {
            new.given.push((FlowPoint::Parent, value));
        }
        for (old, with) in std::mem::take(&mut edit.replaced) {
            r.replace_value(old, with);
        }
        let FlowEdit {
            op,
            bundles,
            new,
            new_entry,
            ..
        } = &edit;
        let op = *op;
        let regions: SmallVec<[RegionId; 3]> = r.body.op_regions(op).into();
        // Arguments that are new, by region and lane; those of an entry's value are last.
        let entered = new.len();
        let mut args: Vec<SmallVec<[Option<ValueId>; 4]>> = Vec::new();
        let mut blocks: Vec<(BlockId, Vec<ValueId>)> = Vec::new();
        for (at, &region) in regions.iter().enumerate() {
            let mut made: SmallVec<[Option<ValueId>; 4]> = SmallVec::from_elem(None, entered + 1);
            let places = places(bundles, |b| b.target(FlowPoint::Region(at)));
            if let Some(block) = r
                .body
                .entry_block(region)
                .filter(|_| places.iter().any(|p| p.1.is_changed()))
            {
                let old = r.body.block_args(block).to_vec();
                let all = rebuild(&old, &places, |lane| {
                    let (id, ty) = match lane {
                        Lane::New(id) => (id, new[id].ty),
                        _ => (entered, new_entry.as_ref()?.ty),
                    };
                    made[id] = Some(r.body.create_block_arg(block, ty));
                    made[id]
                });
                blocks.push((block, all));
            }
            args.push(made);
        }
        // The forwarded values.
        let points = std::iter::once(FlowPoint::Parent).chain((0..regions.len()).map(FlowPoint::Region));
        for from in points {
            let (Some(source), places) = (r.body.flow_source_op(op, from), places(bundles, |b| b.source(from))) else {
                continue;
            };
            let old = r.body.operands_vec(source);
            let changed = places.iter().any(|p| p.1.is_changed());
            if changed {
                let all = rebuild(&old, &places, |lane| {
                    let given = |id: usize| new.get(id)?.given.iter().find(|g| g.0 == from).map(|g| g.1);
                    let id = match lane {
                        Lane::New(id) => id,
                        _ => entered,
                    };
                    given(id).or_else(|| match from {
                        FlowPoint::Region(at) => args[at][id],
                        FlowPoint::Parent => None,
                    })
                });
                r.body.set_operands(source, &all);
            }
        }
        Detached { edit, blocks }
    }
}

impl Detached<'_> {
    /// Makes the second half of the changes: arguments, results and regions.
    pub fn finish(self, r: &mut Rewriter<'_>) -> Edited {
        let Detached { edit, blocks } = self;
        let FlowEdit {
            op,
            bundles,
            new,
            erased,
            removed_entry,
            new_entry,
            ..
        } = edit;
        let is_result = |b: &&Bundle| b.target(FlowPoint::Parent).is_some();
        let same = !bundles.iter().filter(is_result).any(Bundle::is_changed);
        for op in erased {
            r.erase_op(op);
        }
        for (block, all) in blocks {
            r.body.set_block_args(block, &all);
        }
        let op = match same {
            true => op,
            false => remake(r, op, &bundles, &new, new_entry.as_ref()),
        };
        if let Some(entry) = removed_entry {
            let regions = r.body.take_regions(op);
            for region in regions.into_iter().filter(|&region| region != entry) {
                let at = r.body.op_regions(op).len();
                r.body.insert_region(op, at, region);
            }
            r.body.clear_region(entry);
        }
        if let Some(entry) = new_entry {
            insert_entry(r, op, &entry);
        }
        Edited { op, bundles }
    }
}

/// Recreates an operation with its regions and other results, which replace the old ones.
fn remake(r: &mut Rewriter<'_>, op: OpId, bundles: &[Bundle], new: &[New], entry: Option<&NewEntry>) -> OpId {
    let operands = r.body.operands_vec(op);
    let places = places(bundles, |b| b.target(FlowPoint::Parent));
    let old: Vec<(Option<ValueId>, Type)> = r.body.results(op).map(|v| (Some(v), r.body.value_type(v))).collect();
    let results = rebuild(&old, &places, |lane| match lane {
        Lane::New(id) => Some((None, new[id].ty)),
        _ => entry.map(|entry| (None, entry.ty)),
    });
    let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
    let made = r.recreate(op, &operands, &types);
    for (at, (old, _)) in results.into_iter().enumerate() {
        if let Some(old) = old {
            let value = r.body.result(made, at);
            r.replace_and_rename(old, value);
        }
    }
    r.erase_op(op);
    made
}

/// Gives an operation a region that comes first, forwards its arguments and adds one value.
fn insert_entry(r: &mut Rewriter<'_>, op: OpId, entry: &NewEntry) {
    let Some(end) = r.body.region_flow(r.ctx, op).and_then(|flow| flow.entry_end()) else {
        return;
    };
    let next = r
        .body
        .op_regions(op)
        .first()
        .and_then(|&region| r.body.entry_block(region));
    let operands = r.body.operands_vec(op);
    let args = next.map_or(Vec::new(), |block| r.body.block_args(block).to_vec());
    let region = r.body.create_region();
    let block = r.body.create_block(region);
    let mut handed_on = Vec::new();
    // The last argument is the value that is made here.
    for (&arg, operand) in args[..args.len().saturating_sub(1)].iter().zip(operands) {
        let (ty, name) = (r.body.value_type(operand), r.body.value_name(arg));
        handed_on.push(r.body.add_block_arg(block, ty, name));
    }
    let (point, span) = (r.point(), r.body.op_span(op));
    let results = [entry.ty];
    let maker = r.body.create_op(OpSpec {
        results: &results,
        span,
        ..OpSpec::new(r.ctx.op_name(entry.maker))
    });
    handed_on.push(r.body.result(maker, 0));
    let end = r.body.create_op(OpSpec {
        operands: &handed_on,
        span,
        ..OpSpec::new(r.ctx.op_name(end))
    });
    r.at_end(block);
    r.insert(maker);
    r.insert(end);
    r.set_point(point);
    r.body.insert_region(op, 0, region);
}

impl Edited {
    /// The index of a new lane among those of a bundle with this source or target.
    fn place(&self, lane: NewLane, start: impl Fn(&Bundle) -> Option<usize>) -> Option<usize> {
        self.bundles.iter().find_map(|bundle| {
            let added = bundle.added.binary_search(&lane.0).ok()?;
            let kept = (0..bundle.len - bundle.own).filter(|&at| !bundle.is_gone(at)).count();
            Some(start(bundle)? + kept + added)
        })
    }

    /// The argument or result that a new lane is at a point.
    ///
    /// # Panics
    /// When it does not lead there.
    pub fn input(&self, body: &Body, to: FlowPoint, lane: NewLane) -> ValueId {
        let place = self.place(lane, |b| b.target(to)).expect("a lane that leads there");
        body.flow_input(self.op, to, place).expect("its input")
    }

    /// The arguments that a new lane is, in the order of the regions.
    pub fn inputs(&self, body: &Body, lane: NewLane) -> SmallVec<[ValueId; 3]> {
        let input = |at| {
            let to = FlowPoint::Region(at);
            body.flow_input(self.op, to, self.place(lane, |b| b.target(to))?)
        };
        (0..body.op_regions(self.op).len()).filter_map(input).collect()
    }

    /// The place of the result that a new lane is.
    ///
    /// # Panics
    /// When it does not lead out.
    pub fn result_at(&self, lane: NewLane) -> usize {
        self.place(lane, |b| b.target(FlowPoint::Parent))
            .expect("a lane that leads out")
    }

    /// The result of a new lane.
    ///
    /// # Panics
    /// When it does not lead out.
    pub fn result(&self, body: &Body, lane: NewLane) -> ValueId {
        body.result(self.op, self.result_at(lane))
    }

    /// The operand that is forwarded in a new lane from a point.
    ///
    /// # Panics
    /// When it does not come from there.
    pub fn operand(&self, body: &Body, from: FlowPoint, lane: NewLane) -> Use {
        let index = self
            .place(lane, |b| b.source(from))
            .expect("a lane that comes from there");
        let op = body.flow_source_op(self.op, from).expect("its terminator");
        Use { op, index }
    }
}
