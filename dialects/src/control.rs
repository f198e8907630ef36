//! Operations with regions that become those of another operation: loops and branches of other dialects, in terms of those of `pd`.

use pir_ir::{AttrDict, OpId, OpView, RegionId, Rewriter, Semantics, Speculatability, Type, ValueId};
use smallvec::SmallVec;

use crate::{cf, pd};

/// Emits the other operation at the insertion point.
pub(crate) struct Control(Box<Expand>);

type Expand = dyn Fn(&mut Rewriter<'_>, &Parts<'_>) -> Made + Send + Sync;

impl Control {
    pub(crate) fn new(expand: impl Fn(&mut Rewriter<'_>, &Parts<'_>) -> Made + Send + Sync + 'static) -> Self {
        Control(Box::new(expand))
    }
}

/// The values that take the place of the results.
pub(crate) type Made = Result<SmallVec<[ValueId; 2]>, String>;

/// The parts of the new operation.
pub(crate) struct Parts<'a> {
    pub(crate) operands: &'a [ValueId],
    pub(crate) types: &'a [Type],
    pub(crate) regions: &'a [RegionId],
    pub(crate) attrs: AttrDict,
}

/// Branches one in the other: the first whose condition holds runs, or the last. Conditions are made by `is`, of the number of a branch;
/// `terminate` gives a region the terminator that it has then.
pub(crate) fn choose(
    r: &mut Rewriter<'_>,
    types: &[Type],
    (others, last): (&[RegionId], RegionId),
    is: &dyn Fn(&mut Rewriter<'_>, usize) -> Result<ValueId, String>,
    terminate: &dyn Fn(&mut Rewriter<'_>, RegionId) -> Result<(), String>,
) -> Made {
    let (mut outermost, mut enclosing): (Option<OpId>, Option<OpId>) = (None, None);
    for (number, &region) in others.iter().enumerate() {
        let condition = is(r, number)?;
        let is_innermost = number + 1 == others.len();
        terminate(r, region)?;
        let other = match is_innermost {
            true => {
                terminate(r, last)?;
                last
            }
            false => r.body.create_region(),
        };
        let inner = (!is_innermost).then(|| r.body.create_block(other));
        let op = r.op(pd::If::NAME).operand(condition).results(types.iter().copied());
        let op = op.region(region).region(other).build();
        if enclosing.is_some() {
            let results: Vec<ValueId> = r.body.results(op).collect();
            r.op(cf::YIELD).operands(results).build();
        }
        outermost.get_or_insert(op);
        enclosing = Some(op);
        if let Some(block) = inner {
            r.at_end(block);
        }
    }
    let op = outermost.ok_or("expected a branch")?;
    r.after(op);
    Ok(r.body.results(op).collect())
}

/// Puts the operations of a region here, in place of the operation that runs it once; returns the values that its terminator, called `end`, forwards.
pub(crate) fn splice(r: &mut Rewriter<'_>, region: RegionId, end: &str) -> Made {
    let block = r.body.single_block(region).ok_or("a region has several blocks")?;
    let mut ops: Vec<OpId> = r.body.block_ops(block).collect();
    let last = ops.pop().filter(|&op| r.ctx.op_str(r.body.op_name(op)) == end);
    let last = last.ok_or_else(|| format!("a region does not end in `{end}`"))?;
    let values = r.body.operands(last).collect();
    r.erase_op(last);
    ops.into_iter().for_each(|op| r.move_here(op));
    Ok(values)
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
            attrs: r.body.attrs(op),
        };
        self.0(r, &parts)
    }
}
