//! Which handles may refer to the same object.

use pir_ir::{Body, Context, EffectKind, EffectTarget, OpId, Use, ValueId};
use rustc_hash::FxHashMap;

use super::edges::is_fixed_slot;
use super::provenance::is_handle_type;

/// Handles, such as stacks, in classes: handles of different classes never refer to the same object.
///
/// A handle keeps its class where control forwards it. An object that is put into another, or taken out of it, is in
/// its class, so that a stack of stacks is one class.
pub struct HandleClasses {
    parent: Vec<u32>,
    writers: FxHashMap<u32, Vec<OpId>>,
}

impl HandleClasses {
    /// Finds the classes of a body.
    pub fn new(ctx: &Context, body: &Body) -> Self {
        let mut this = HandleClasses {
            parent: (0..body.num_value_slots() as u32).collect(),
            writers: FxHashMap::default(),
        };
        // A list may hold handles.
        let is_handle = |value: ValueId| is_handle_type(ctx, body.value_type(value));
        for op in body.walk_all() {
            let mut first = None;
            for (index, value) in body.operands(op).enumerate() {
                if !is_handle(value) {
                    continue;
                }
                match body.flow_targets(ctx, Use { op, index }) {
                    Some(targets) => targets.into_iter().for_each(|t| this.join(value, t)),
                    None => this.join(*first.get_or_insert(value), value),
                }
            }
            if let Some(first) = first {
                body.results(op)
                    .filter(|&v| is_handle(v))
                    .for_each(|v| this.join(first, v));
            }
        }
        for op in body.walk_all() {
            for value in written(ctx, body, op) {
                let class = this.class(value);
                this.writers.entry(class).or_default().push(op);
            }
        }
        this
    }

    fn class(&mut self, value: ValueId) -> u32 {
        let mut at = value.index() as u32;
        while self.parent[at as usize] != at {
            let up = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = up;
            at = up;
        }
        at
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.class(a), self.class(b));
        self.parent[b as usize] = a;
    }

    /// Removes and gives the operations that change a value in place that is not a handle.
    pub fn take_direct_writers(&mut self, ctx: &Context, body: &Body, value: ValueId) -> Vec<OpId> {
        if is_fixed_slot(ctx, body, value) {
            return Vec::new();
        }
        self.take_writers(value)
    }

    /// Removes and gives the operations that change what `handle` may refer to.
    pub fn take_writers(&mut self, handle: ValueId) -> Vec<OpId> {
        let class = self.class(handle);
        self.writers.remove(&class).unwrap_or_default()
    }
}

fn targets(ctx: &Context, body: &Body, op: OpId, kind: EffectKind) -> impl Iterator<Item = ValueId> {
    let effects = body.view(ctx, op).own_effects();
    let value = move |target| match target {
        EffectTarget::Operand(at) if at < body.num_operands(op) => Some(body.operand(op, at)),
        EffectTarget::Result(at) if at < body.num_results(op) => Some(body.result(op, at)),
        _ => None,
    };
    let values: smallvec::SmallVec<[ValueId; 2]> = effects
        .into_iter()
        .filter(|e| e.kind == kind)
        .filter_map(|e| value(e.target))
        .collect();
    values.into_iter()
}

/// The handles to what an operation changes.
fn written(ctx: &Context, body: &Body, op: OpId) -> impl Iterator<Item = ValueId> {
    targets(ctx, body, op, EffectKind::Write)
}

/// The handles to what an operation reads.
pub(super) fn read(ctx: &Context, body: &Body, op: OpId) -> impl Iterator<Item = ValueId> {
    targets(ctx, body, op, EffectKind::Read)
}
