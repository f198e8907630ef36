//! Tapes: stacks with the operation that records on them and the dual that reads them, pushes paired with pops.

use std::sync::Arc;

use pir_ir::{BlockId, Body, Context, FlowKind, OpId, Rewriter, Use, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::control_ops::ControlOps;
use super::dense::{DenseMap, OpMap};
use crate::analysis::{Provenance, RegionTree};

/// The readers of one handle.
#[derive(Default)]
struct Readers {
    pops: Vec<OpId>,
    empties: Vec<OpId>,
}

/// A stack with its recording operation and the dual that reads it. Blocks are kept when operations are recreated, so
/// they represent the operations.
pub(crate) struct Tape {
    pub(crate) kind: FlowKind,
    pub(crate) forward: BlockId,
    pub(crate) dual: BlockId,
    /// The handle where the dual is.
    pub(crate) handle: ValueId,
    /// Pushes and their pops.
    pub(crate) pairs: Vec<(OpId, OpId)>,
    /// The regions that face each other.
    pub(crate) sides: [Option<Side>; 2],
    empties: Vec<OpId>,
}

/// A region that records, and the one that reads.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) forward: BlockId,
    pub(crate) dual: BlockId,
    /// The handle in the region that records.
    pub(crate) inside: ValueId,
}

/// The tapes of a body, outer ones first, with shared lookup tables.
pub(crate) struct Tapes {
    pub(crate) all: Vec<Tape>,
    /// The counterparts of recorded values in the duals.
    pub(crate) primal_at: DenseMap,
    /// For each pop its push, and whose tape they are on.
    partner: OpMap<(OpId, u32)>,
    /// For values that a loop starts from, a block of its dual and the result of that which is the value again.
    pub(crate) started_from: FxHashMap<ValueId, (BlockId, usize)>,
    /// Which regions are nested in which.
    pub(crate) tree: Arc<RegionTree>,
}

/// The values that `backward` records, for drawings.
pub(crate) struct Recorded {
    /// The push of the value that each pop returns.
    pub(crate) partner: FxHashMap<OpId, OpId>,
    /// The pushes that have a pop.
    pub(crate) pushes: FxHashSet<OpId>,
    /// All handles of stacks whose pushes and pops are paired.
    pub(crate) handles: FxHashSet<ValueId>,
}

/// The recorded values of a body.
pub(crate) fn recorded(ctx: &Context, body: &Body) -> Recorded {
    let names = ControlOps::new(ctx);
    let tapes = Tapes::new(ctx, &names, body);
    let provenance = body.analysis::<Provenance>(ctx);
    let partner: FxHashMap<OpId, OpId> = tapes.partner.iter().map(|(pop, (push, _))| (pop, push)).collect();
    let pushes: FxHashSet<OpId> = partner.values().copied().collect();
    // A stack that is used in another way as well keeps its nodes.
    let mut others: FxHashSet<ValueId> = FxHashSet::default();
    for op in body.walk_all() {
        let name = body.op_name(op);
        let paired =
            pushes.contains(&op) || partner.contains_key(&op) || name == names.is_empty || name == names.create;
        if paired || body.flow_of_operands(ctx, op).is_some() {
            continue;
        }
        let stacks = body.operands(op).filter(|&v| names.is_stack(body, v));
        others.extend(stacks.map(|v| provenance.root(v)));
    }
    let paired: FxHashSet<ValueId> = (pushes.iter().map(|&push| provenance.root(body.operand(push, 0))))
        .filter(|root| !others.contains(root))
        .collect();
    let handles = provenance.handles().iter().copied();
    let handles = handles.filter(|&v| paired.contains(&provenance.root(v))).collect();
    Recorded {
        partner,
        pushes,
        handles,
    }
}

impl Tape {
    /// The tests for emptiness of the stack.
    pub(crate) fn empties(&self) -> &[OpId] {
        &self.empties
    }
}

impl Tapes {
    pub(crate) fn new(ctx: &Context, names: &ControlOps, body: &Body) -> Self {
        let (all, primal_at) = pair(names, body, &body.analysis::<Provenance>(ctx));
        let mut partner = OpMap::default();
        for (at, tape) in (0..).zip(&all) {
            tape.pairs
                .iter()
                .for_each(|&(push, pop)| partner.insert(pop, (push, at)));
        }
        Tapes {
            all,
            primal_at,
            partner,
            started_from: FxHashMap::default(),
            tree: body.analysis::<RegionTree>(ctx),
        }
    }

    /// The push of a pop, and whose tape they are on.
    pub(crate) fn partner(&self, pop: OpId) -> Option<(OpId, usize)> {
        self.partner.get(pop).map(|(push, at)| (push, at as usize))
    }

    /// Pairs of operations and duals.
    pub(super) fn duals(&self, body: &Body) -> FxHashSet<(OpId, OpId)> {
        let tapes = self.all.iter();
        tapes
            .filter_map(|t| Some((body.block_parent(t.forward)?, body.block_parent(t.dual)?)))
            .collect()
    }

    /// Maps the values that a tape pops to the values that it pushes.
    pub(crate) fn enter_primals(&mut self, body: &Body, at: usize) {
        for &(push, pop) in &self.all[at].pairs {
            self.primal_at.insert(body.operand(push, 1), body.result(pop, 0));
        }
    }

    /// Enters a pair of a tape.
    pub(crate) fn add(&mut self, r: &Rewriter<'_>, at: usize, push: OpId, pop: OpId) {
        self.all[at].pairs.push((push, pop));
        self.partner.insert(pop, (push, at as u32));
        self.primal_at.insert(r.body.operand(push, 1), r.body.result(pop, 0));
    }

    /// Removes a pair that is no longer on a tape; `other` replaces the popped value.
    pub(crate) fn remove(&mut self, r: &mut Rewriter<'_>, (push, pop): (OpId, OpId), other: Option<ValueId>) {
        let (value, popped) = (r.body.operand(push, 1), r.body.result(pop, 0));
        match other {
            Some(other) => {
                r.replace_value(popped, other);
                self.primal_at.insert(value, other);
            }
            None => {
                self.primal_at.remove(value);
            }
        }
        r.erase_op(pop);
        r.erase_op(push);
    }
}

/// The pushes and pops of operations and their duals, in pairs.
pub(crate) fn pairs_of_duals(names: &ControlOps, body: &Body, provenance: &Provenance) -> Vec<(OpId, OpId)> {
    let (tapes, _) = pair(names, body, provenance);
    tapes.into_iter().flat_map(|t| t.pairs).collect()
}

/// Pairs pushes and pops, outer stacks first, and finds the counterparts of recorded values in the duals.
fn pair(names: &ControlOps, body: &Body, provenance: &Provenance) -> (Vec<Tape>, DenseMap) {
    let mut readers: FxHashMap<ValueId, Readers> = FxHashMap::default();
    let mut order = Vec::new();
    for op in body.walk_all() {
        let name = body.op_name(op);
        if name == names.pop || name == names.is_empty {
            let entry = readers.entry(body.operand(op, 0)).or_insert_with(|| {
                order.push(body.operand(op, 0));
                Readers::default()
            });
            if name == names.pop {
                entry.pops.push(op)
            } else {
                entry.empties.push(op)
            }
        }
    }
    // A pre-order walk meets the pop that gives a handle before the pops from it.
    let mut found: Vec<Found> = Vec::new();
    let mut pushed: FxHashMap<ValueId, (ValueId, usize)> = FxHashMap::default();
    let mut of_root: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut paired = Paired::default();
    for handle in order {
        paired.attempt += 1;
        let Some(readers) = readers.remove(&handle) else {
            continue;
        };
        let recorded = body.defining_op(handle).is_some_and(|op| body.op_name(op) == names.pop);
        let (origin, outer) = match pushed.get(&handle) {
            Some(&(origin, outer)) => (origin, Some(outer)),
            None if recorded => continue,
            None => (handle, None),
        };
        // A stack that is read in several places: what one of them pops is not what was pushed.
        let root = provenance.root(origin);
        if let Some(&other) = of_root.get(&root) {
            found[other].sound = false;
            continue;
        }
        let Some(tape) = pair_one(names, body, provenance, handle, origin, readers, &mut paired) else {
            continue;
        };
        for &(push, pop) in &tape.pairs {
            let (value, popped) = (body.operand(push, 1), body.result(pop, 0));
            if names.is_stack(body, popped) {
                pushed.insert(popped, (value, found.len()));
            }
        }
        of_root.insert(root, found.len());
        found.push(Found {
            tape,
            outer,
            sound: true,
        });
    }
    let mut primal_at = DenseMap::default();
    let mut tapes = Vec::new();
    for at in 0..found.len() {
        // Outer ones come first.
        found[at].sound &= found[at].outer.is_none_or(|outer| found[outer].sound);
    }
    for Found { tape, sound, .. } in found {
        if sound {
            let pairs = tape.pairs.iter();
            pairs.for_each(|&(push, pop)| primal_at.insert(body.operand(push, 1), body.result(pop, 0)));
            tapes.push(tape);
        }
    }
    (tapes, primal_at)
}

/// A tape, the one that its handle was recorded on, and whether no use prevents that.
struct Found {
    tape: Tape,
    outer: Option<usize>,
    sound: bool,
}

/// The operations that pushes and pops of one handle were found to be, by the number of the attempt.
#[derive(Default)]
struct Paired {
    by: OpMap<u32>,
    attempt: u32,
}

fn pair_one(
    names: &ControlOps,
    body: &Body,
    provenance: &Provenance,
    handle: ValueId,
    origin: ValueId,
    readers: Readers,
    paired: &mut Paired,
) -> Option<Tape> {
    // The dual is what all readers are directly in.
    let first = readers.pops.first().or(readers.empties.first())?;
    let dual = body.parent_op(*first)?;
    // A program's own loops may read a stack in any way; what `build-backward` made reads it as it was recorded.
    if !names.is_dual(body, dual) {
        return None;
    }
    let dual_structure = names.form(body, dual)?;
    let stands_in = |op: &OpId| body.parent_op(*op) == Some(dual);
    if !readers.pops.iter().chain(&readers.empties).all(stands_in) {
        return None;
    }
    let (op, inside) = recording_op(names, body, origin)?;
    let structure = names.form(body, op)?;
    if structure.kind != dual_structure.kind {
        return None;
    }
    let mut pairs = Vec::new();
    let mut sides = [None; 2];
    for (which, side) in sides.iter_mut().enumerate() {
        let Some(block) = structure.blocks[which] else { continue };
        let in_block = inside.unwrap_or_else(|| body.block_args(block).last().copied().unwrap_or(origin));
        let pushes: Vec<OpId> = body
            .block_ops(block)
            .filter(|&op| body.op_name(op) == names.push && body.operand(op, 0) == in_block)
            .collect();
        let pops: Vec<OpId> = match dual_structure.blocks[which] {
            Some(dual_block) => readers
                .pops
                .iter()
                .copied()
                .filter(|&p| body.op_block(p) == Some(dual_block))
                .collect(),
            None => Vec::new(),
        };
        *side = dual_structure.blocks[which].map(|dual| Side {
            forward: block,
            dual,
            inside: in_block,
        });
        if pushes.len() != pops.len() {
            return None;
        }
        pairs.extend(pushes.into_iter().zip(pops.into_iter().rev()));
    }
    // Every use of every name of the stack must be understood, or a pair might belong to another stack.
    let root = provenance.root(origin);
    if provenance.doubt(origin).is_some() || provenance.becomes_doubtful(root) {
        return None;
    }
    for op in pairs.iter().flat_map(|&(push, pop)| [push, pop]) {
        paired.by.insert(op, paired.attempt);
    }
    let is_ours = |op| paired.by.get(op) == Some(paired.attempt);
    let known = |at: Use| {
        let name = body.op_name(at.op);
        match (name == names.push, at.index) {
            (true, 0) => is_ours(at.op),
            // Recorded itself: what takes it off again is examined by itself.
            (true, _) => true,
            _ if name == names.pop => is_ours(at.op),
            _ => name == names.is_empty || names.hands_on(body, at.op),
        }
    };
    if !provenance.names(root).iter().all(|&name| body.uses(name).all(known)) {
        return None;
    }
    Some(Tape {
        kind: structure.kind,
        forward: structure.present().next()?,
        dual: dual_structure.present().next()?,
        handle,
        pairs,
        sides,
        empties: readers.empties,
    })
}

/// The operation that pushes on a stack, and the handle that it uses inside; `None` for its last block arguments.
fn recording_op(names: &ControlOps, body: &Body, origin: ValueId) -> Option<(OpId, Option<ValueId>)> {
    let op = body.defining_op(origin)?;
    if body.op_name(op) != names.create {
        let structure = names.form(body, op)?;
        return (structure.entry.is_some() && body.results(op).next_back() == Some(origin)).then_some((op, None));
    }
    let mut pushers = body
        .uses(origin)
        .filter(|u| u.index == 0 && body.op_name(u.op) == names.push);
    let parent = body.parent_op(pushers.next()?.op)?;
    if body.op_block(parent) != body.op_block(op) {
        return None;
    }
    pushers
        .all(|u| body.parent_op(u.op) == Some(parent))
        .then_some((parent, Some(origin)))
}
