//! The regions of reductions and sorts: programs of elements, which are evaluated on whole tensors.

use pir_ir::{AttrDict, OpId, Rewriter, Traits, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::attrs::Attrs;
use super::super::ops;
use super::{Cx, find};
use crate::pd::Expr;

/// An operation of a region.
struct Step {
    name: String,
    attrs: AttrDict,
    operands: SmallVec<[ValueId; 3]>,
    results: SmallVec<[(ValueId, Type); 1]>,
}

/// The function of a region on elements.
#[derive(Default)]
pub(super) struct Region {
    args: Vec<ValueId>,
    steps: Vec<Step>,
    returned: Vec<ValueId>,
}

impl Region {
    /// A region of an operation; one that does nothing, if there is none.
    pub(super) fn of(r: &Rewriter<'_>, op: OpId, number: usize) -> Region {
        let region = r.body.op_regions(op).get(number);
        let Some(block) = region.and_then(|&region| r.body.single_block(region)) else {
            return Region::default();
        };
        let mut steps: Vec<Step> = r.body.block_ops(block).map(|op| step(r, op)).collect();
        let returned = steps.pop().map_or(SmallVec::new(), |last| last.operands);
        Region {
            args: r.body.block_args(block).to_vec(),
            steps,
            returned: returned.to_vec(),
        }
    }

    /// The operation that it consists of, if it combines its arguments by one.
    pub(super) fn combiner(&self) -> Option<&str> {
        let [step] = &self.steps[..] else { return None };
        let mut operands = step.operands.to_vec();
        // All that have a kernel of their own are commutative.
        operands.sort();
        let results: Vec<ValueId> = step.results.iter().map(|result| result.0).collect();
        (operands == self.args && results == self.returned).then_some(&step.name)
    }

    /// Whether it gives its last argument.
    pub(super) fn takes_new(&self) -> bool {
        self.steps.is_empty() && !self.args.is_empty() && self.returned.last() == self.args.last()
    }

    /// The attributes of the comparison that it consists of, if that is of what becomes of its first two arguments: a sort by the
    /// first operand.
    pub(super) fn comparison(&self) -> Option<AttrDict> {
        let is_returned = |step: &&Step| step.results.first().map(|result| result.0) == self.returned.first().copied();
        let last = self.steps.iter().find(is_returned)?;
        let &[first, second, ..] = &self.args[..] else {
            return None;
        };
        let is_plain = last.name == ops::Compare::NAME
            && self.depends_on(last.operands[0], first)
            && self.depends_on(last.operands[1], second);
        is_plain.then_some(last.attrs)
    }

    /// Whether a value is computed of one argument alone.
    fn depends_on(&self, value: ValueId, arg: ValueId) -> bool {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if value == arg {
                continue;
            }
            match self
                .steps
                .iter()
                .find(|step| step.results.iter().any(|result| result.0 == value))
            {
                // Each value is met once or a few times: regions are small.
                Some(step) => pending.extend(&step.operands),
                None => return false,
            }
        }
        true
    }

    /// Evaluates it on tensors of one shape.
    ///
    /// # Errors
    /// An operation that is not elementwise, or not supported.
    pub(super) fn apply<'c>(&self, c: &Cx<'c>, args: &[Expr<'c>]) -> Result<Vec<Expr<'c>>, String> {
        let mut values: FxHashMap<ValueId, Expr<'c>> = self.args.iter().copied().zip(args.iter().copied()).collect();
        let dims = args.first().map_or(&[][..], |arg| arg.dims());
        for step in &self.steps {
            let compute = find(&step.name).and_then(|lowering| lowering.compute);
            let operands: Vec<Expr<'c>> = step.operands.iter().map(|&value| known(c, &values, value)).collect();
            // Constants stay scalars, which are broadcast.
            let is_scalar = operands.iter().all(|operand| operand.rank() == 0);
            let shape = if is_scalar { &[][..] } else { dims };
            let Some(compute) = compute else {
                let result = kept(c, step, &operands, shape)?;
                values.extend(step.results.first().map(|first| (first.0, result)));
                continue;
            };
            let inner = Cx {
                scope: c.scope,
                attrs: Attrs {
                    ctx: c.ctx(),
                    dict: step.attrs,
                },
                operands,
                types: step
                    .results
                    .iter()
                    .map(|&(_, elem)| c.ctx().tensor(shape, elem))
                    .collect(),
                region: Region::default(),
                second: Region::default(),
                splats: SmallVec::new(),
                call: Err("it is in a region".to_owned()),
            };
            let results = compute.of(&inner)?;
            values.extend(step.results.iter().map(|result| result.0).zip(results));
        }
        Ok(self.returned.iter().map(|&value| known(c, &values, value)).collect())
    }
}

/// An elementwise operation that there is a kernel of.
fn kept<'c>(c: &Cx<'c>, step: &Step, operands: &[Expr<'c>], shape: &[i64]) -> Result<Expr<'c>, String> {
    let unsupported = || format!("`{}` is not supported in a region", step.name);
    let ctx = c.ctx();
    let def = ctx.registered_op(&step.name).and_then(|op| ctx.op_def(op));
    def.filter(|def| def.has(Traits::ELEMENTWISE)).ok_or_else(unsupported)?;
    let ids: Option<Vec<ValueId>> = operands.iter().map(|x| super::shape::expand(*x, shape).id()).collect();
    let attrs: Vec<_> = ctx
        .dict_entries(step.attrs)
        .iter()
        .map(|&(name, attr)| (ctx.str(name), attr))
        .collect();
    let ty = step.results.first().map(|result| ctx.tensor(shape, result.1));
    let made = c.scope.build(&step.name, &ids.unwrap_or_default(), &attrs, ty);
    made.first().copied().ok_or_else(unsupported)
}

/// The expression of a value in a region, or of one from outside.
fn known<'c>(c: &Cx<'c>, values: &FxHashMap<ValueId, Expr<'c>>, value: ValueId) -> Expr<'c> {
    values.get(&value).copied().unwrap_or_else(|| c.scope.expr(value))
}

fn step(r: &Rewriter<'_>, op: OpId) -> Step {
    let elem = |value: ValueId| r.ctx.elem_type(r.body.value_type(value));
    Step {
        name: r.ctx.op_str(r.body.op_name(op)).to_owned(),
        attrs: r.body.attrs(op),
        operands: r.body.operands(op).collect(),
        results: r.body.results(op).map(|value| (value, elem(value))).collect(),
    }
}
