//! Edits of what control takes along through an operation with regions: planned, checked, and applied as a whole.
//!
//! The ways of control ([`RegionFlow::edges`](crate::RegionFlow::edges)) determine which operands become which arguments and
//! results. What is bound to each other has to come and go together: a *bundle* of *lanes*. A `while` with a region that
//! decides has two: what it starts from, what that region gets and what the other yields is one, what is forwarded, what
//! the other gets and the results the second. A `for` has one, an `if` as well. So one editor does for all of them.
//!
//! ```text
//! let mut edit = FlowEdit::new(ctx, body, op)?;         // the bundles, or why they cannot be edited
//! let sum = edit.carry(ty);                             // a lane in each bundle, forwarded by each region
//! edit.remove_carried(body, 2);                         // what becomes the result 2
//! let ready = edit.check(body)?;                        // nothing has changed so far; from here on nothing fails
//! let done = ready.apply(rewriter, &[zero]);
//! done.input(rewriter.body, FlowPoint::Region(1), sum)  // and it is the argument there
//! ```

mod apply;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::body::{Body, Use};
use crate::context::Context;
use crate::declare::FlowPoint;
use crate::diagnostics::Diagnostic;
use crate::entity::{OpId, RegionId, ValueId};
use crate::types::Type;

pub use apply::{Detached, Edited};

/// Why an edit cannot be made. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The operation that prevents the edit.
    pub op: OpId,
    /// The reason.
    pub why: &'static str,
}

impl Refused {
    /// The same as an error.
    pub fn diagnostic(&self, body: &Body) -> Diagnostic {
        let message = format!("the values that control flow forwards cannot be edited: {}", self.why);
        Diagnostic::error("flow-edit", message).label(body.op_span(self.op), "here")
    }
}

/// A lane that an edit adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewLane(usize);

/// Operands and inputs (arguments and results) that control binds to each other, lane by lane.
#[derive(Clone, Debug)]
struct Bundle {
    /// Where operands come from, and the operand of the first lane there.
    sources: SmallVec<[(FlowPoint, usize); 3]>,
    /// Where they go to, and the input of the first lane there.
    targets: SmallVec<[(FlowPoint, usize); 3]>,
    len: usize,
    /// How many of the lanes, the last ones, are the operation's own.
    own: usize,
    /// The lanes that go; empty if none does.
    gone: Vec<bool>,
    /// The lanes in their new order, if that is another.
    order: Option<Vec<usize>>,
    added: Vec<usize>,
    /// Whether the value of a new entry region is added after all others.
    entered: bool,
}

/// Puts the bundles of the ways, in order, together that share an operand or an input.
fn united(singles: SmallVec<[Bundle; 6]>) -> SmallVec<[Bundle; 3]> {
    // Bundles of an operation with many regions are compared by their first and last regions.
    let mut joined: Vec<usize> = (0..singles.len()).collect();
    let mut with: FxHashMap<(bool, (FlowPoint, usize)), usize> = FxHashMap::default();
    let find = |joined: &mut Vec<usize>, mut at: usize| {
        while joined[at] != at {
            joined[at] = joined[joined[at]];
            at = joined[at];
        }
        at
    };
    for (at, single) in singles.iter().enumerate() {
        for end in [(false, single.sources[0]), (true, single.targets[0])] {
            let other = *with.entry(end).or_insert(at);
            let (a, b) = (find(&mut joined, at), find(&mut joined, other));
            // The last one represents them all.
            joined[a.min(b)] = a.max(b);
        }
    }
    let mut place: FxHashMap<usize, usize> = FxHashMap::default();
    let mut seen: FxHashSet<(bool, (FlowPoint, usize))> = FxHashSet::default();
    let mut bundles: SmallVec<[Bundle; 3]> = SmallVec::new();
    for (at, single) in singles.into_iter().enumerate().rev() {
        let root = find(&mut joined, at);
        let (source, target) = (single.sources[0], single.targets[0]);
        let is_new = [seen.insert((false, source)), seen.insert((true, target))];
        match place.get(&root) {
            None => {
                place.insert(root, bundles.len());
                bundles.push(single);
            }
            Some(&bundle) => {
                let bundle = &mut bundles[bundle];
                bundle.sources.extend(is_new[0].then_some(source));
                bundle.targets.extend(is_new[1].then_some(target));
                bundle.own = bundle.own.max(single.own);
            }
        }
    }
    bundles.reverse();
    bundles
}

/// A lane that joins a bundle.
#[derive(Clone, Copy)]
enum Lane {
    Old(usize),
    New(usize),
    Entered,
}

impl Bundle {
    fn source(&self, point: FlowPoint) -> Option<usize> {
        self.sources.iter().find(|(p, _)| *p == point).map(|&(_, start)| start)
    }

    fn target(&self, point: FlowPoint) -> Option<usize> {
        self.targets.iter().find(|(p, _)| *p == point).map(|&(_, start)| start)
    }

    fn is_gone(&self, lane: usize) -> bool {
        self.gone.get(lane).copied().unwrap_or(false)
    }

    fn is_changed(&self) -> bool {
        !self.gone.is_empty() || self.order.is_some() || !self.added.is_empty() || self.entered
    }

    fn remove(&mut self, lane: usize) {
        if self.gone.is_empty() {
            self.gone = vec![false; self.len];
        }
        self.gone[lane] = true;
    }

    /// The lanes as they will be.
    fn lanes(&self) -> impl Iterator<Item = Lane> + '_ {
        let old = move |at: usize| self.order.as_ref().map_or(at, |order| order[at]);
        let kept = move |range: std::ops::Range<usize>| range.map(old).filter(|&at| !self.is_gone(at)).map(Lane::Old);
        let shared = self.len - self.own;
        kept(0..shared)
            .chain(self.added.iter().map(|&id| Lane::New(id)))
            .chain(kept(shared..self.len))
            .chain(self.entered.then_some(Lane::Entered))
    }
}

/// The state of a new lane.
struct New {
    ty: Type,
    /// The values that it forwards from each point; a region that receives it forwards it unchanged.
    given: SmallVec<[(FlowPoint, ValueId); 2]>,
    /// Whether the initial value is given when the edit is applied.
    initial: bool,
    /// Whether it is in every bundle.
    carried: bool,
}

/// A region that comes first: one that goes, or one that is made.
struct NewEntry {
    ty: Type,
    maker: &'static str,
}

/// Changes to one operation with regions that are planned.
pub struct FlowEdit<'c> {
    ctx: &'c Context,
    op: OpId,
    bundles: SmallVec<[Bundle; 3]>,
    new: Vec<New>,
    replaced: Vec<(ValueId, ValueId)>,
    erased: SmallVec<[OpId; 2]>,
    removed_entry: Option<RegionId>,
    new_entry: Option<NewEntry>,
}

/// Changes that have been found to be possible.
pub struct Ready<'c>(FlowEdit<'c>);

impl<'c> FlowEdit<'c> {
    /// No changes yet.
    ///
    /// # Errors
    /// When the operation does not determine how control flows through it, or a region has not just one block with a terminator.
    pub fn new(ctx: &'c Context, body: &Body, op: OpId) -> Result<Self, Refused> {
        let refused = |why| Refused { op, why };
        let flow = body
            .region_flow(ctx, op)
            .ok_or(refused("its control flow is unknown"))?;
        let view = body.view(ctx, op);
        let edges = flow.edges(view);
        let mut singles: SmallVec<[Bundle; 6]> = SmallVec::with_capacity(edges.len());
        for edge in edges {
            let source = body.flow_source_op(op, edge.from);
            if source.is_none()
                || matches!(edge.to, FlowPoint::Region(at) if body.op_regions(op).get(at).and_then(|&r| body.region_terminator(r)).is_none())
            {
                return Err(refused("a region is not a single block with a terminator"));
            }
            let own = flow.own_inputs(view, edge.to);
            let this = Bundle {
                sources: SmallVec::from_elem((edge.from, edge.operands.start), 1),
                targets: SmallVec::from_elem((edge.to, edge.at), 1),
                len: edge.operands.len(),
                own,
                gone: Vec::new(),
                order: None,
                added: Vec::new(),
                entered: false,
            };
            singles.push(this);
        }
        let bundles = united(singles);
        for bundle in &bundles {
            let fits = bundle.sources.iter().all(|&(from, start)| {
                let operands = body.flow_source_op(op, from).map_or(0, |s| body.num_operands(s));
                start + bundle.len <= operands
            }) && bundle
                .targets
                .iter()
                .all(|&(to, start)| start + bundle.len == body.num_flow_inputs(op, to));
            if !fits || bundle.own > bundle.len {
                return Err(refused("control flow forwards an unexpected number of values"));
            }
        }
        Ok(FlowEdit {
            ctx,
            op,
            bundles,
            new: Vec::new(),
            replaced: Vec::new(),
            erased: SmallVec::new(),
            removed_entry: None,
            new_entry: None,
        })
    }

    /// Adds a value that is carried through the whole operation: a lane in each bundle. What it starts from is given to
    /// [`Ready::apply`]; each region hands it on as it gets it.
    pub fn carry(&mut self, ty: Type) -> NewLane {
        let id = self.new.len();
        self.new.push(New {
            ty,
            given: SmallVec::new(),
            initial: true,
            carried: true,
        });
        self.bundles.iter_mut().for_each(|b| b.added.push(id));
        NewLane(id)
    }

    /// Adds an argument or a result to a point, and to all points that are bound to the same operands. `given` is what is forwarded from
    /// where control comes from there.
    pub fn add(&mut self, to: FlowPoint, ty: Type, given: &[(FlowPoint, ValueId)]) -> NewLane {
        let id = self.new.len();
        self.new.push(New {
            ty,
            given: given.into(),
            initial: false,
            carried: false,
        });
        let bundle = self.bundles.iter_mut().find(|b| b.target(to).is_some());
        bundle.into_iter().for_each(|b| b.added.push(id));
        NewLane(id)
    }

    /// Adds an argument to a region, and to the regions before it that forward to it and for which nothing is `given`. The
    /// value that comes from outside is given to [`Ready::apply`].
    pub fn enter(&mut self, to: FlowPoint, ty: Type, given: &[(FlowPoint, ValueId)]) -> NewLane {
        let id = self.new.len();
        self.new.push(New {
            ty,
            given: given.into(),
            initial: true,
            carried: false,
        });
        let mut pending: SmallVec<[FlowPoint; 3]> = SmallVec::from_elem(to, 1);
        while let Some(to) = pending.pop() {
            let bundle = self.bundles.iter_mut().find(|b| b.target(to).is_some());
            let Some(bundle) = bundle.filter(|b| !b.added.contains(&id)) else {
                continue;
            };
            bundle.added.push(id);
            let sources = bundle.sources.iter().map(|s| s.0);
            let open = |from: &FlowPoint| *from != FlowPoint::Parent && given.iter().all(|(at, _)| at != from);
            pending.extend(sources.filter(open));
        }
        NewLane(id)
    }

    fn lane_of_input(&self, to: FlowPoint, input: usize) -> Option<(usize, usize)> {
        self.bundles.iter().enumerate().find_map(|(at, b)| {
            let lane = input.checked_sub(b.target(to)?)?;
            (lane < b.len).then_some((at, lane))
        })
    }

    /// Removes an argument or a result, and all that are bound to the same operands. Nothing may use it.
    pub fn remove(&mut self, to: FlowPoint, input: usize) {
        if let Some((bundle, lane)) = self.lane_of_input(to, input) {
            self.bundles[bundle].remove(lane);
        }
    }

    /// Removes a carried value, from its result back through all regions that forward it: a carried value with all its places.
    pub fn remove_carried(&mut self, body: &Body, result: usize) {
        let mut pending: SmallVec<[_; 3]> = self.lane_of_input(FlowPoint::Parent, result).into_iter().collect();
        while let Some((bundle, lane)) = pending.pop() {
            if self.bundles[bundle].is_gone(lane) {
                continue;
            }
            self.bundles[bundle].remove(lane);
            for &(from, start) in &self.bundles[bundle].sources {
                let source = body.flow_source_op(self.op, from);
                let value = source.and_then(|source| body.get_operand(source, start + lane));
                // An argument of the region itself.
                if let Some((op, to, input)) = value.and_then(|value| body.flow_place(value))
                    && (op, to) == (self.op, from)
                    && from != FlowPoint::Parent
                {
                    pending.extend(self.lane_of_input(to, input));
                }
            }
        }
    }

    /// Removes an argument or a result, with what is bound to the same operands. What uses one of them uses `with`.
    pub fn replace(&mut self, body: &Body, to: FlowPoint, input: usize, with: ValueId) {
        if let Some((bundle, lane)) = self.lane_of_input(to, input) {
            self.bundles[bundle].remove(lane);
            for &(to, start) in &self.bundles[bundle].targets {
                let input = body.flow_input(self.op, to, start + lane);
                self.replaced.extend(input.map(|input| (input, with)));
            }
        }
    }

    /// Puts the lanes that lead to a point in another order: the one at `order[i]` becomes the one at `i`.
    pub fn permute(&mut self, to: FlowPoint, order: Vec<usize>) {
        if let Some(bundle) = self.bundles.iter_mut().find(|b| b.target(to).is_some()) {
            bundle.order = Some(order);
        }
    }

    /// Also erases an operation in a region: what uses it goes as well.
    pub fn erase(&mut self, op: OpId) {
        self.erased.push(op);
    }

    /// Removes the entry region with its operations.
    pub fn remove_entry(&mut self, body: &Body) {
        let form = body.flow_form(self.ctx, self.op);
        self.removed_entry = form.and_then(|form| form.entry);
        for bundle in &mut self.bundles {
            (bundle.len - bundle.own..bundle.len).for_each(|lane| bundle.remove(lane));
        }
    }

    /// Adds an entry region, which makes a value by the operation called `maker`. Each region gets it after its arguments
    /// and hands it on; it is the last result.
    pub fn add_entry(&mut self, maker: &'static str, ty: Type) {
        self.new_entry = Some(NewEntry { ty, maker });
        self.bundles.iter_mut().for_each(|b| b.entered = true);
    }

    /// Checks that the whole edit can be applied.
    ///
    /// # Errors
    /// If a removed value is used, the number of operands at a point is fixed, or the forwarded values are unknown.
    pub fn check(self, body: &Body) -> Result<Ready<'c>, Refused> {
        self.check_among(body, &|_| false)
    }

    /// The same where other changes are planned too: `goes` determines which uses these remove. They have to be made between
    /// [`Ready::detach`] and [`Detached::finish`].
    ///
    /// # Errors
    /// As [`FlowEdit::check`].
    pub fn check_among(self, body: &Body, goes: &dyn Fn(Use) -> bool) -> Result<Ready<'c>, Refused> {
        let refused = |op, why| Err(Refused { op, why });
        let flow = body.region_flow(self.ctx, self.op);
        let view = body.view(self.ctx, self.op);
        let index = |region: RegionId| body.region_index(region).map(FlowPoint::Region);
        let entry = self.removed_entry.and_then(index);
        for bundle in self.bundles.iter().filter(|b| b.is_changed()) {
            for &(from, _) in &bundle.sources {
                let fixed = flow.is_none_or(|flow| flow.is_fixed(view, from));
                if fixed && entry != Some(from) && !(bundle.entered && bundle.len == 0) {
                    return refused(self.op, "it takes a fixed number of operands");
                }
                let handed_on = |id: &usize| {
                    let new = &self.new[*id];
                    let gets = |b: &Bundle| b.target(from).is_some() && b.added.contains(id);
                    match from {
                        _ if new.given.iter().any(|(p, _)| *p == from) => true,
                        FlowPoint::Parent => new.initial,
                        FlowPoint::Region(_) => self.bundles.iter().any(gets),
                    }
                };
                // Every bundle contains the carried ones; there are few others.
                if !bundle.added.iter().filter(|id| !self.new[**id].carried).all(handed_on)
                    || !bundle
                        .added
                        .iter()
                        .find(|id| self.new[**id].carried)
                        .is_none_or(handed_on)
                {
                    return refused(self.op, "a region has no values to forward");
                }
                if bundle.entered && from == FlowPoint::Parent && bundle.target(FlowPoint::Parent).is_some() {
                    return refused(self.op, "control may skip all of its regions");
                }
            }
            for lane in (0..bundle.gone.len()).filter(|&lane| bundle.gone[lane]) {
                for &(to, start) in &bundle.targets {
                    let Some(input) = body.flow_input(self.op, to, start + lane) else {
                        continue;
                    };
                    let replaced = self.replaced.iter().any(|(old, _)| *old == input);
                    if let Some(at) = body
                        .uses(input)
                        .find(|&at| !replaced && !self.goes(body, at) && !goes(at))
                    {
                        return refused(at.op, "this uses a value that is to be removed");
                    }
                }
            }
        }
        for &op in &self.erased {
            let mut uses = body.results(op).flat_map(|v| body.uses(v));
            if let Some(at) = uses.find(|&at| !self.goes(body, at) && !goes(at)) {
                return refused(at.op, "this uses a value that is to be removed");
            }
        }
        if let (Some(FlowPoint::Region(at)), Some(region)) = (entry, self.removed_entry) {
            let end = body.region_terminator(region);
            let own = |b: &&Bundle| b.source(FlowPoint::Region(at)).is_some();
            let kept = self.bundles.iter().find(own).map_or(0, |b| b.len - b.own);
            let args = body.single_block(region).map_or(&[][..], |b| body.block_args(b));
            let same = end.is_some_and(|end| body.operands(end).take(kept).eq(args.iter().copied()));
            if !same || !args.iter().all(|&arg| body.has_one_use(arg)) {
                return refused(self.op, "its entry region does more than forward its arguments");
            }
        }
        if self.new_entry.is_some()
            && (flow.is_none_or(|f| f.entry_end().is_none())
                || body.flow_form(self.ctx, self.op).is_none_or(|f| f.entry.is_some()))
        {
            return refused(self.op, "it cannot have an entry region, or already has one");
        }
        Ok(Ready(self))
    }

    /// Whether a use is removed by the planned edits.
    fn goes(&self, body: &Body, at: Use) -> bool {
        if self.erased.contains(&at.op) {
            return true;
        }
        let gone = |bundle: &Bundle| {
            bundle.sources.iter().any(|&(from, start)| {
                body.flow_source_op(self.op, from) == Some(at.op)
                    && at.index.checked_sub(start).is_some_and(|lane| bundle.is_gone(lane))
            })
        };
        self.removed_entry
            .is_some_and(|region| body.op_region(at.op) == Some(region))
            || self.bundles.iter().any(gone)
    }
}
