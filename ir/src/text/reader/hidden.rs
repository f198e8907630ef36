//! Regions that the text of an operation does not show, like those of the named operations of `linalg`.

use smallvec::SmallVec;

use crate::body::Body;
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::{OpName, RegionId, ValueId};
use crate::types::{AttrDict, Type};

/// A region with at most one block, whose operations use only what the block defines.
#[derive(Default)]
pub(super) struct Hidden {
    /// The types of the arguments of the block, if there is one.
    args: Option<SmallVec<[Type; 4]>>,
    ops: Vec<HiddenOp>,
}

struct HiddenOp {
    name: OpName,
    attrs: AttrDict,
    /// Which of the values of the block they are: the arguments, then the results of all operations.
    operands: SmallVec<[usize; 3]>,
    results: SmallVec<[Type; 1]>,
}

impl Hidden {
    /// A region as it is; nothing if there is more to it.
    pub(super) fn of(body: &Body, region: RegionId) -> Option<Self> {
        let block = match body.region_blocks(region) {
            [] => return Some(Hidden::default()),
            &[block] => block,
            _ => return None,
        };
        let mut values: Vec<ValueId> = body.block_args(block).to_vec();
        let mut hidden = Hidden {
            args: Some(values.iter().map(|&arg| body.value_type(arg)).collect()),
            ops: Vec::new(),
        };
        for op in body.block_ops(block) {
            if body.extra(op).is_some() || body.loc(op).is_some() || body.comment(op).is_some() {
                return None;
            }
            let place = |operand| values.iter().position(|&value| value == operand);
            hidden.ops.push(HiddenOp {
                name: body.op_name(op),
                attrs: body.attrs(op),
                operands: body.operands(op).map(place).collect::<Option<_>>()?,
                results: body.results(op).map(|result| body.value_type(result)).collect(),
            });
            values.extend(body.results(op));
        }
        values
            .iter()
            .all(|&value| body.value_name(value).is_none())
            .then_some(hidden)
    }

    /// Creates such a region, with operations that belong to a place.
    pub(super) fn create(&self, body: &mut Body, span: Span) -> RegionId {
        let region = body.create_region();
        let Some(args) = &self.args else { return region };
        let block = body.create_block(region);
        let args = args.iter().map(|&ty| body.add_block_arg(block, ty, None));
        let mut values: SmallVec<[ValueId; 8]> = args.collect();
        for hidden in &self.ops {
            let operands: SmallVec<[ValueId; 3]> = hidden.operands.iter().map(|&at| values[at]).collect();
            let op = body.create_op(OpSpec {
                operands: &operands,
                results: &hidden.results,
                attrs: hidden.attrs,
                span,
                ..OpSpec::new(hidden.name)
            });
            body.append_op(block, op);
            values.extend(body.results(op));
        }
        region
    }
}
