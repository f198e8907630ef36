//! Loops and branches that passes make: out of the operations that a dialect has registered for that.

use pir_ir::{InsertPoint, OpId, RegionId, Rewriter, Structured, Type, ValueId};
use smallvec::SmallVec;

/// A loop or a branch that is being made at the insertion point: its regions first.
pub(crate) struct Made {
    here: InsertPoint,
    flow: Structured,
    regions: SmallVec<[RegionId; 2]>,
}

impl Made {
    pub(crate) fn new(r: &Rewriter<'_>, flow: Structured) -> Self {
        Made {
            here: r.point(),
            flow,
            regions: SmallVec::new(),
        }
    }

    /// Makes the next region, with arguments of these types, the insertion point.
    pub(crate) fn region(&mut self, r: &mut Rewriter<'_>, types: &[Type]) -> Vec<ValueId> {
        let region = r.body.create_region();
        let block = r.body.create_block(region);
        self.regions.push(region);
        r.at_end(block);
        types.iter().map(|&ty| r.body.add_block_arg(block, ty, None)).collect()
    }

    /// Ends a branch, or the region of a loop that is repeated.
    pub(crate) fn yields(&self, r: &mut Rewriter<'_>, values: impl IntoIterator<Item = ValueId>) {
        r.op(self.flow.yields).operands(values).build();
    }

    /// Ends the region of a loop that decides whether to go on.
    pub(crate) fn tests(&self, r: &mut Rewriter<'_>, go_on: ValueId, values: impl IntoIterator<Item = ValueId>) {
        r.op(self.flow.tests).operand(go_on).operands(values).build();
    }

    /// The branch.
    pub(crate) fn branch(self, r: &mut Rewriter<'_>, condition: ValueId, types: &[Type]) -> OpId {
        let name = self.flow.branch;
        self.close(r, name, &[condition], types)
    }

    /// The loop.
    pub(crate) fn repeat(self, r: &mut Rewriter<'_>, initial: &[ValueId], types: &[Type]) -> OpId {
        let name = self.flow.repeat;
        self.close(r, name, initial, types)
    }

    fn close(self, r: &mut Rewriter<'_>, name: &str, operands: &[ValueId], types: &[Type]) -> OpId {
        r.set_point(self.here);
        let made = r
            .op(name)
            .operands(operands.iter().copied())
            .results(types.iter().copied());
        self.regions
            .into_iter()
            .fold(made, |made, region| made.region(region))
            .build()
    }
}
