//! Effects and speculatability, including nested operations.
//!
//! An operation without declared effects, like an unregistered one, may have any effect
//! ([`OpView::has_unknown_effects`]), and memory that it may change is variable for others too ([`Variables`]).
//!
//! The effects of an operation on memory are summarized in a few bits ([`EffectSet`]): three classes of resources (the
//! outside world, the objects that handles such as stacks refer to, and buffers), times creating, reading and writing.
//! One class for all handles, and one for all buffers, is coarse, but sound without an alias analysis: handles travel
//! through loops, stacks may hold stacks, and buffers may share their elements.
//!
//! [`Effects`] computes the sums for all operations of a body in one walk, so that a query takes constant time at any
//! nesting depth. [`EffectAnalysis`] adds speculatability. Edits invalidate both: a moved operation keeps its facts, a new one
//! has none.

use std::sync::Arc;

use super::counter;
use super::variables::{Variables, changes_values};
use bitflags::bitflags;
use pir_ir::{
    Analysis, Body, Context, Effect, EffectKind, EffectTarget, MemoryEffects, OpDef, OpId, OpView, Speculatability,
    Traits,
};

bitflags! {
    /// The memory effects of an operation.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct EffectSet: u8 {
        /// Reads the world outside of the program: its inputs.
        const READ_WORLD = 1;
        /// Changes the world: prints, outputs.
        const WRITE_WORLD = 1 << 1;
        /// Reads what a handle refers to.
        const READ_HANDLE = 1 << 2;
        /// Changes what a handle refers to.
        const WRITE_HANDLE = 1 << 3;
        /// Makes a new resource.
        const ALLOC = 1 << 4;
        /// Reads a buffer.
        const READ_MEMORY = 1 << 5;
        /// Changes a buffer.
        const WRITE_MEMORY = 1 << 6;
        /// Changes anything.
        const WRITES = Self::WRITE_WORLD.bits() | Self::WRITE_HANDLE.bits() | Self::WRITE_MEMORY.bits();
        /// Reads anything.
        const READS = Self::READ_WORLD.bits() | Self::READ_HANDLE.bits() | Self::READ_MEMORY.bits();
        /// Effects that are visible outside the program.
        const SEEN = Self::READ_WORLD.bits() | Self::WRITE_WORLD.bits() | Self::WRITE_MEMORY.bits();
    }
}

impl EffectSet {
    /// Whether running the operation earlier or later than one that does `other` may make a difference.
    pub fn conflicts_with(self, other: EffectSet) -> bool {
        let clash = |a: EffectSet, b: EffectSet| {
            (a.contains(EffectSet::WRITE_WORLD) && b.intersects(EffectSet::WRITE_WORLD | EffectSet::READ_WORLD))
                || (a.contains(EffectSet::WRITE_HANDLE)
                    && b.intersects(EffectSet::WRITE_HANDLE | EffectSet::READ_HANDLE))
                || (a.contains(EffectSet::WRITE_MEMORY)
                    && b.intersects(EffectSet::WRITE_MEMORY | EffectSet::READ_MEMORY))
        };
        clash(self, other) || clash(other, self)
    }
}

/// The effects of one operation, nested ones not included.
pub fn effects_of(view: OpView<'_>) -> EffectSet {
    match view.declared_effects() {
        MemoryEffects::None => EffectSet::empty(),
        MemoryEffects::Undeclared => EffectSet::all(),
        MemoryEffects::OfCallee if view.has_unknown_effects() => EffectSet::all(),
        MemoryEffects::Declared(_) | MemoryEffects::OfCallee => {
            view.own_effects().into_iter().map(touched_by).collect()
        }
    }
}

fn touched_by(effect: Effect) -> EffectSet {
    match (effect.kind, effect.target) {
        (EffectKind::Alloc, _) => EffectSet::ALLOC,
        (EffectKind::Read, EffectTarget::World) => EffectSet::READ_WORLD,
        (EffectKind::Write, EffectTarget::World) => EffectSet::WRITE_WORLD,
        (EffectKind::Read, EffectTarget::Memory) => EffectSet::READ_MEMORY,
        (EffectKind::Write, EffectTarget::Memory) => EffectSet::WRITE_MEMORY,
        (EffectKind::Read, EffectTarget::Operand(_) | EffectTarget::Result(_)) => EffectSet::READ_HANDLE,
        (EffectKind::Write, EffectTarget::Operand(_) | EffectTarget::Result(_)) => EffectSet::WRITE_HANDLE,
    }
}

/// Whether an operation has its place for a reason that effects do not show: it ends a block, or is found by
/// its name.
#[inline]
pub fn is_symbol_or_terminator(view: OpView<'_>) -> bool {
    let has_place = |def: &OpDef| def.traits.intersects(Traits::TERMINATOR.union(Traits::SYMBOL));
    view.def().is_some_and(has_place) || view.body.isolated(view.op).is_some()
}

/// The memory effects of all operations of a body, nested operations included.
#[derive(PartialEq)]
pub struct Effects {
    of: Vec<EffectSet>,
    changes_values: bool,
}

impl Analysis for Effects {
    fn compute(ctx: &Context, body: &Body) -> Self {
        let mut all = Self::none(body);
        for op in body.walk_all() {
            let view = body.view(ctx, op);
            if view.has_no_effects() {
                continue;
            }
            let touched = effects_of(view);
            if touched.intersects(EffectSet::WRITE_HANDLE) && changes_values(view) {
                return Self::with_variables(ctx, body, &body.analysis::<Variables>(ctx));
            }
            all.add(body, op, touched);
        }
        // It has been looked for them on the way.
        body.remember(Variables::default());
        all
    }
}

impl Effects {
    fn with_variables(ctx: &Context, body: &Body, variables: &Variables) -> Self {
        let mut all = Self::none(body);
        all.changes_values = true;
        for op in body.walk_all() {
            let mut touched = effects_of(body.view(ctx, op));
            if body.operands(op).any(|v| variables.contains(v)) {
                touched |= EffectSet::READ_HANDLE;
            }
            if body.results(op).any(|v| variables.contains(v)) {
                touched |= EffectSet::ALLOC;
            }
            all.add(body, op, touched);
        }
        all
    }

    fn none(body: &Body) -> Self {
        Self {
            of: vec![EffectSet::empty(); body.num_op_slots()],
            changes_values: false,
        }
    }

    /// Whether operations may change values in place.
    pub fn changes_values(&self) -> bool {
        self.changes_values
    }

    /// Adds what an operation does itself to it and to those around it. Each of these learns something new a few times at most.
    fn add(&mut self, body: &Body, op: OpId, own: EffectSet) {
        let mut at = Some(op);
        while let Some(op) = at.filter(|op| !self.of[op.index()].contains(own)) {
            self.of[op.index()] |= own;
            at = body.parent_op(op);
        }
    }

    /// The memory effects of an operation and its regions.
    pub fn touched(&self, op: OpId) -> EffectSet {
        // Operations made since are nothing that is known.
        self.of.get(op.index()).copied().unwrap_or(EffectSet::all())
    }

    /// Whether the operation may be removed when its results are not used.
    ///
    /// Reads of the world count as effects: they are the inputs of the program, which belong to what it offers.
    pub fn is_removable(&self, view: OpView<'_>) -> bool {
        self.is_harmless(view.op) && !is_symbol_or_terminator(view)
    }

    /// Whether its effects do not keep an operation.
    pub(crate) fn is_harmless(&self, op: OpId) -> bool {
        let harmless = EffectSet::READ_HANDLE | EffectSet::READ_MEMORY | EffectSet::ALLOC;
        harmless.contains(self.touched(op))
    }
}

/// The effects and the speculatability of every operation of a body, nested operations included.
#[derive(PartialEq)]
pub struct EffectAnalysis {
    effects: Arc<Effects>,
    speculatable: Vec<bool>,
}

impl Analysis for EffectAnalysis {
    fn compute(ctx: &Context, body: &Body) -> Self {
        let effects = body.analysis::<Effects>(ctx);
        // For an operation that was not visited yet: whether everything found in it is speculatable.
        let mut speculatable = vec![true; body.num_op_slots()];
        let mut decide = |op: OpId| {
            let inner = speculatable[op.index()];
            let all = effects.touched(op).is_empty()
                && match body.view(ctx, op).speculatability() {
                    // A loop that counts to a constant is as good as what is in it. One that is in nothing has nowhere to go.
                    Speculatability::Never => {
                        inner && body.parent_op(op).is_some() && counter::ends_soon(ctx, body, op)
                    }
                    Speculatability::Always => true,
                    Speculatability::Recursive => inner,
                };
            speculatable[op.index()] = all;
            if !all && let Some(parent) = body.parent_op(op) {
                speculatable[parent.index()] = false;
            }
        };
        // Operations with regions come after their contents.
        let mut around = Vec::new();
        for op in body.walk_all() {
            match body.op_regions(op).is_empty() {
                true => decide(op),
                false => around.push(op),
            }
        }
        around.into_iter().rev().for_each(decide);
        Self { effects, speculatable }
    }
}

impl EffectAnalysis {
    /// The memory effects of operations.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// The memory effects of an operation and its regions.
    pub fn touched(&self, op: OpId) -> EffectSet {
        self.effects.touched(op)
    }

    /// Whether the operation neither reads, writes nor makes resources: its results depend on nothing but operands.
    pub fn is_pure(&self, op: OpId) -> bool {
        self.touched(op).is_empty()
    }

    /// Whether the operation may be run where the program would not have run it: it is pure and total. Not asked of loops that are not
    /// in other operations.
    pub fn is_speculatable(&self, op: OpId) -> bool {
        // Operations made since are nothing that is known.
        self.speculatable.get(op.index()).copied().unwrap_or(false)
    }

    /// Whether the operation may be removed when its results are not used: see [`Effects::is_removable`].
    pub fn is_removable(&self, view: OpView<'_>) -> bool {
        self.effects.is_removable(view)
    }
}
