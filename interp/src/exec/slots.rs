//! References to slots of an environment.

use pir_ir::{Body, Context, RegionId, ValueDef, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::program::Kind;

/// An operand: a slot, and whether this is the last use of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Src {
    pub(crate) slot: u32,
    pub(crate) last: bool,
}

pub(crate) type Srcs = SmallVec<[Src; 3]>;

/// A range of consecutive slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dst {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Dst {
    pub(crate) fn slots(self) -> impl Iterator<Item = u32> {
        self.first..self.first + self.count
    }
}

/// The slots of values: by default, each has its own. Arguments of a region that are what the region before it passes on share the slot of
/// that.
#[derive(Default)]
pub(crate) struct Slots {
    shared: FxHashMap<ValueId, u32>,
}

impl Slots {
    /// Those of the values of a body.
    pub(super) fn of(ctx: &Context, body: &Body) -> Slots {
        let mut slots = Slots::default();
        for op in body.ops_with_regions() {
            match (Kind::of(ctx.op_str(body.op_name(op))), body.op_regions(op)) {
                (Some(Kind::While), &[.., cond, inside]) => slots.share(body, cond, inside, 1),
                (Some(Kind::If), &[init, then, other]) => {
                    slots.share(body, init, then, 0);
                    slots.share(body, init, other, 0);
                }
                _ => {}
            }
        }
        slots
    }

    pub(super) fn at(&self, value: ValueId) -> u32 {
        let own = value.index() as u32;
        match self.shared.is_empty() {
            true => own,
            false => self.shared.get(&value).copied().unwrap_or(own),
        }
    }

    /// Lets arguments of a region have the slots of what a region before it passes on with its terminator, behind some other operands.
    fn share(&mut self, body: &Body, from: RegionId, to: RegionId, others: usize) {
        let (Some(from), Some(to)) = (body.single_block(from), body.single_block(to)) else {
            return;
        };
        let (Some(pass), Some(end)) = (body.last_op(from), body.last_op(to)) else {
            return;
        };
        let passed = body.operands(pass).skip(others);
        for (at, (value, &arg)) in passed.zip(body.block_args(to)).enumerate() {
            let once = || body.uses(value).filter(|used| used.op == pass).count() == 1;
            if body.value_block(value) != Some(from) || !once() {
                continue;
            }
            // What a loop's body yields is written to the arguments of the first region, one after the other: none of these may hold what
            // is yet to be read.
            let stays = match body.value_def(value) {
                ValueDef::Arg(_, index) => {
                    index as usize == at && (body.uses(arg).filter(|used| used.op == end)).all(|used| used.index == at)
                }
                _ => true,
            };
            if stays {
                let slot = self.at(value);
                self.shared.insert(arg, slot);
            }
        }
    }
}
