//! Outer values that the regions of loops and branches use.

use pir_ir::{Body, Context, OpId, Use, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::autodiff::activity::Activity;
use crate::autodiff::control_ops::ControlOps;
use crate::autodiff::memory::Access;

/// For each operation with structured control flow, the active values that its regions use from outside in a way that
/// the derivative passes through.
pub(super) fn captures(
    ctx: &Context,
    names: &ControlOps,
    body: &Body,
    activity: &Activity,
) -> FxHashMap<OpId, Vec<ValueId>> {
    let mut out: FxHashMap<OpId, Vec<ValueId>> = FxHashMap::default();
    let mut seen: FxHashSet<(OpId, ValueId)> = FxHashSet::default();
    for op in body.walk_all() {
        let region = body.op_region(op);
        for (index, value) in body.operands(op).enumerate() {
            if !activity.is_active(value) || body.value_region(value) == region {
                continue;
            }
            let at = Use { op, index };
            let flows = match body.flow_targets(ctx, at) {
                _ if index == 1 && activity.stacks.active_lane(op).is_some() => true,
                _ if index == 0 && activity.memory.active_access(ctx, body, op) == Some(Access::Store) => true,
                Some(targets) => targets.iter().any(|&t| activity.is_active(t)),
                None => activity.passes_from(ctx, body, at),
            };
            if !flows {
                continue;
            }
            let home = body.value_region(value);
            let mut at = region;
            // Every operation between the use and the definition captures the value.
            while at != home {
                let Some(parent) = at.and_then(|r| body.region_parent(r)) else {
                    break;
                };
                if !seen.insert((parent, value)) {
                    break;
                }
                if names.kind(body, parent).is_some() {
                    out.entry(parent).or_default().push(value);
                }
                at = body.op_region(parent);
            }
        }
    }
    out
}
