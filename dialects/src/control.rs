//! Operations with regions that become those of another operation: loops and branches of other dialects, in terms of those of `pd`.

use pir_ir::{OpId, OpView, RegionId, Rewriter, Semantics, Speculatability, Type, ValueId};
use smallvec::SmallVec;

/// What emits the other operation at the insertion point.
pub(crate) struct Control(pub(crate) fn(&mut Rewriter<'_>, &Parts<'_>) -> Made);

/// The values that take the place of the results.
pub(crate) type Made = Result<SmallVec<[ValueId; 2]>, String>;

/// What the new operation is made of.
pub(crate) struct Parts<'a> {
    pub(crate) operands: &'a [ValueId],
    pub(crate) types: &'a [Type],
    pub(crate) regions: &'a [RegionId],
}

impl Semantics for Control {
    fn has_expansion(&self) -> bool {
        true
    }

    fn is_pure(&self, _: OpView<'_>) -> Option<bool> {
        None
    }

    fn speculatability(&self, _: OpView<'_>) -> Speculatability {
        Speculatability::Never
    }

    fn has_regions(&self, _: OpView<'_>) -> bool {
        true
    }

    fn expand(&self, r: &mut Rewriter<'_>, op: OpId, operands: &[ValueId]) -> Result<SmallVec<[ValueId; 2]>, String> {
        let types: Vec<Type> = r.body.results(op).map(|value| r.body.value_type(value)).collect();
        let regions = r.body.take_regions(op);
        let parts = Parts {
            operands,
            types: &types,
            regions: &regions,
        };
        self.0(r, &parts)
    }
}
