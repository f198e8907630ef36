//! Effects and speculatability, nested operations included.
//!
//! What an operation does to memory is summed up in six bits ([`Touched`]): two classes of resources, the world
//! outside of the program and the things that handles (stacks) refer to, times making, reading and changing. One
//! class for all handles is coarse, but sound without an alias analysis: handles travel through loops, and stacks may
//! hold stacks.
//!
//! [`Facts`] computes the sums for all operations of a body in one walk from the inside out, so that asking costs
//! nothing, however deep operations are nested. Edits make it stale: an operation that was moved keeps its facts, a
//! new one has none.

use super::counter;
use super::variables::Variables;
use bitflags::bitflags;
use pir_ir::{Body, Context, EffectKind, EffectTarget, OpId, OpView, Speculatability, Traits};

bitflags! {
    /// What an operation may do to memory.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Touched: u8 {
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
        /// Changes anything.
        const WRITES = Self::WRITE_WORLD.bits() | Self::WRITE_HANDLE.bits();
        /// Reads anything.
        const READS = Self::READ_WORLD.bits() | Self::READ_HANDLE.bits();
    }
}

impl Touched {
    /// Whether running the operation earlier or later than one that does `other` may make a difference.
    pub fn conflicts_with(self, other: Touched) -> bool {
        let clash = |a: Touched, b: Touched| {
            (a.contains(Touched::WRITE_WORLD) && b.intersects(Touched::WRITE_WORLD | Touched::READ_WORLD))
                || (a.contains(Touched::WRITE_HANDLE) && b.intersects(Touched::WRITE_HANDLE | Touched::READ_HANDLE))
        };
        clash(self, other) || clash(other, self)
    }
}

/// The effects of one operation, without those of nested ones.
pub fn effects_of(view: OpView<'_>) -> Touched {
    let mut touched = Touched::empty();
    for effect in view.own_effects() {
        let world = effect.target == EffectTarget::World;
        touched |= match (effect.kind, world) {
            (EffectKind::Alloc, _) => Touched::ALLOC,
            (EffectKind::Read, true) => Touched::READ_WORLD,
            (EffectKind::Read, false) => Touched::READ_HANDLE,
            (EffectKind::Write, true) => Touched::WRITE_WORLD,
            (EffectKind::Write, false) => Touched::WRITE_HANDLE,
        };
    }
    touched
}

/// Whether an operation stands where it stands for a reason that effects do not tell: it ends a block, or is found by
/// its name.
pub fn is_symbol_or_terminator(view: OpView<'_>) -> bool {
    view.has(Traits::TERMINATOR) || view.has(Traits::SYMBOL) || view.body.isolated(view.op).is_some()
}

#[derive(Clone, Copy, Default)]
struct Fact {
    touched: Touched,
    speculatable: bool,
}

/// The effects and the speculatability of every operation of a body, nested operations included.
pub struct Facts {
    of: Vec<Fact>,
}

impl Facts {
    /// Computes the facts of all operations.
    pub fn new(ctx: &Context, body: &Body) -> Self {
        Self::with_variables(ctx, body, &Variables::new(ctx, body))
    }

    /// Computes the facts of all operations, where it is known what changes in place.
    pub fn with_variables(ctx: &Context, body: &Body, variables: &Variables) -> Self {
        let mut of = vec![Fact::default(); body.num_op_slots()];
        for op in body.post_order() {
            let view = body.view(ctx, op);
            let mut fact = Fact {
                touched: effects_of(view),
                speculatable: true,
            };
            if !variables.is_empty() {
                if body.operands(op).any(|v| variables.contains(v)) {
                    fact.touched |= Touched::READ_HANDLE;
                }
                if body.results(op).any(|v| variables.contains(v)) {
                    fact.touched |= Touched::ALLOC;
                }
            }
            let mut inner_speculatable = true;
            for &region in body.op_regions(op) {
                for &block in body.region_blocks(region) {
                    for inner in body.block_ops(block) {
                        let inner_fact = of[inner.index()];
                        fact.touched |= inner_fact.touched;
                        inner_speculatable &= inner_fact.speculatable;
                    }
                }
            }
            fact.speculatable = match view.speculatability() {
                // A loop that counts to a constant is as good as what is in it.
                Speculatability::Never => {
                    inner_speculatable && fact.touched.is_empty() && counter::ends_soon(ctx, body, op)
                }
                Speculatability::Always => fact.touched.is_empty(),
                Speculatability::Recursive => inner_speculatable && fact.touched.is_empty(),
            };
            of[op.index()] = fact;
        }
        Self { of }
    }

    /// Whether no operation was made since.
    pub fn cover(&self, body: &Body) -> bool {
        self.of.len() == body.num_op_slots()
    }

    fn fact(&self, op: OpId) -> Fact {
        // Operations made since are nothing that is known.
        self.of.get(op.index()).copied().unwrap_or(Fact {
            touched: Touched::all(),
            speculatable: false,
        })
    }

    /// What the operation and everything in it may do to memory.
    pub fn touched(&self, op: OpId) -> Touched {
        self.fact(op).touched
    }

    /// Whether the operation neither reads, writes nor makes resources: its results depend on nothing but operands.
    pub fn is_pure(&self, op: OpId) -> bool {
        self.fact(op).touched.is_empty()
    }

    /// Whether the operation may be run where the program would not have run it: it is pure and total.
    pub fn is_speculatable(&self, op: OpId) -> bool {
        self.fact(op).speculatable
    }

    /// Whether the operation may be removed when its results are not used.
    ///
    /// Reads of the world count as effects: they are the inputs of the program, which belong to what it offers.
    pub fn is_removable(&self, view: OpView<'_>) -> bool {
        let harmless = Touched::READ_HANDLE | Touched::ALLOC;
        harmless.contains(self.touched(view.op)) && !is_symbol_or_terminator(view)
    }
}
