//! Where values are used for the last time, so that an operation may move them.

use pir_ir::{BlockId, Body, Context, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::program::Kind;

/// The last uses of values; by default, none is known.
#[derive(Default)]
pub(crate) struct LastUses {
    /// For each value an operation of the block that defines it; `None` if that is unknown.
    own: Vec<Option<OpId>>,
    /// Operations of branches in that block, behind which the value is not used.
    in_branches: FxHashSet<(ValueId, OpId)>,
}

impl LastUses {
    /// Those in a body.
    pub(super) fn of(ctx: &Context, body: &Body) -> Self {
        let mut last = vec![None; body.num_value_slots()];
        let mut escapes = vec![false; body.num_value_slots()];
        let mut in_branches = InBranches::new(ctx, body);
        for op in body.walk_all() {
            let here = body.op_block(op);
            for value in body.operands(op) {
                let block = body.value_block(value);
                if let Some(in_branches) = &mut in_branches {
                    in_branches.note(body, (value, block), (op, here));
                }
                // The walk visits operations in order, so the last entry is the last use.
                last[value.index()] = (block == here).then_some(op);
                // A use in a nested region may repeat, but only until the enclosing operation ends, which is in the value's
                // block if that is the only block of its region. Finding the operation would cost time proportional to the
                // depth, so the last use is unknown unless a direct use follows.
                escapes[value.index()] |= block != here
                    && block
                        .and_then(|b| body.block_region(b))
                        .is_none_or(|region| body.single_block(region).is_none());
            }
        }
        for (entry, &escapes) in last.iter_mut().zip(&escapes) {
            if escapes {
                *entry = None;
            }
        }
        LastUses {
            own: last,
            in_branches: in_branches.map_or_else(FxHashSet::default, |found| found.finish(&escapes)),
        }
    }

    /// Whether a value is not used behind an operation that uses it.
    pub(super) fn is_last(&self, value: ValueId, op: OpId) -> bool {
        self.own.get(value.index()) == Some(&Some(op))
            || !self.in_branches.is_empty() && self.in_branches.contains(&(value, op))
    }
}

/// The last uses in branches. A branch runs once, and no other one then, so that each has a last use, if nothing behind the branches uses the
/// value.
struct InBranches {
    /// The operation with branches that a block is one of.
    around: FxHashMap<BlockId, OpId>,
    /// The last operation that uses a value, or has a branch that does, of those in its block.
    users: Vec<Option<OpId>>,
    /// Whether a value is used deeper than in a branch.
    is_deep: Vec<bool>,
    last: FxHashMap<(ValueId, BlockId), OpId>,
}

impl InBranches {
    fn new(ctx: &Context, body: &Body) -> Option<Self> {
        let mut around = FxHashMap::default();
        for op in body.ops_with_regions() {
            if Kind::of(ctx.op_str(body.op_name(op))) == Some(Kind::If) {
                let branches = body.op_regions(op).iter().rev().take(2);
                around.extend(branches.filter_map(|&region| Some((body.single_block(region)?, op))));
            }
        }
        let values = body.num_value_slots();
        (!around.is_empty()).then(|| InBranches {
            around,
            users: vec![None; values],
            is_deep: vec![false; values],
            last: FxHashMap::default(),
        })
    }

    /// Notes the next use of a value, by an operation; both with their blocks.
    fn note(&mut self, body: &Body, (value, block): (ValueId, Option<BlockId>), (op, here): (OpId, Option<BlockId>)) {
        if here == block {
            self.users[value.index()] = Some(op);
            return;
        }
        let branch = here.and_then(|here| Some((here, *self.around.get(&here)?)));
        match branch.filter(|&(_, around)| body.op_block(around) == block) {
            Some((here, around)) => {
                self.users[value.index()] = Some(around);
                self.last.insert((value, here), op);
            }
            None => self.is_deep[value.index()] = true,
        }
    }

    fn finish(self, escapes: &[bool]) -> FxHashSet<(ValueId, OpId)> {
        let last = self.last.into_iter().filter(|&((value, block), _)| {
            let at = value.index();
            !escapes[at] && !self.is_deep[at] && self.users[at] == self.around.get(&block).copied()
        });
        last.map(|((value, _), op)| (value, op)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::parsed;

    #[test]
    fn each_branch_has_its_own() {
        let text = "%c = pd.data {name = \"c\", dtype = i1, shape = []} : tensor<i1>
%x = pd.data {name = \"x\", dtype = f32, shape = []} : tensor<f32>
%y = pd.data {name = \"y\", dtype = f32, shape = []} : tensor<f32>
%z = pd.data {name = \"z\", dtype = f32, shape = []} : tensor<f32>
%w = pd.data {name = \"w\", dtype = f32, shape = []} : tensor<f32>
%r = pd.if (%c) then {
  %a = pd.tanh (%x)
  %b = pd.add (%a, %x)
  %in_loop = pd.while (%y) cond (%l: tensor<f32>) {
    %go = pd.less_than (%l, %z)
    cf.cond_yield (%go, %l)
  } body (%l: tensor<f32>) {
    %next = pd.add (%l, %z)
    cf.yield (%next)
  } : tensor<f32>
  %inner = pd.if (%c) then {
    cf.yield (%w)
  } else {
    cf.yield (%in_loop)
  } : tensor<f32>
  %e = pd.multiply (%b, %inner)
  cf.yield (%e)
} else {
  %d = pd.exp (%x)
  %e = pd.add (%d, %y)
  cf.yield (%w)
} : tensor<f32>
%s = pd.add (%r, %y)
pd.fetch (%s) {name = \"s\"}
";
        let module = parsed(text);
        let (ctx, body) = (&module.ctx, &module.body);
        let found = LastUses::of(ctx, body);
        // Of each value the operations that move it.
        let last = |name: &str| -> Vec<&str> {
            let ops = body.walk_all().filter(|&op| {
                let mut operands = body.operands(op);
                operands.any(|value| {
                    let of = body.value_name(value).map(|of| ctx.name_text(of.name).to_string());
                    of.as_deref() == Some(name) && found.is_last(value, op)
                })
            });
            ops.map(|op| ctx.op_str(body.op_name(op))).collect()
        };
        assert_eq!(last("x"), ["pd.add", "pd.exp"]);
        // Behind the branches it is used again.
        assert_eq!(last("y"), ["pd.add"]);
        // A loop runs more than once.
        assert!(last("z").is_empty());
        // Deeper than in a branch.
        assert!(last("w").is_empty());
        assert_eq!(last("in_loop"), ["cf.yield"]);
        assert_eq!(last("r"), ["pd.add"]);
    }
}
