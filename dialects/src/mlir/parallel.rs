//! Loops whose iterations are in no order, in terms of loops that count: one order of them is as good as another.

use pir_ir::{OpId, Rewriter, ValueId};
use smallvec::SmallVec;

use super::{Count, scf, tensor};
use crate::control::{Made, Parts, splice};

/// The name of the operation that puts a tile into a result.
const INSERT: &str = "tensor.parallel_insert_slice";

/// The numbers of an attribute of the operation.
fn ints(r: &Rewriter<'_>, parts: &Parts<'_>, name: &str) -> Result<Vec<i64>, String> {
    let ints = r
        .ctx
        .dict_get(parts.attrs, name)
        .and_then(|attr| crate::mlir::ints(r.ctx, attr));
    ints.ok_or_else(|| format!("its `{name}` are unknown"))
}

/// Operands in their groups.
fn groups<'a>(r: &Rewriter<'_>, parts: &Parts<'a>) -> Result<[&'a [ValueId]; 4], String> {
    let sizes = ints(r, parts, "operandSegmentSizes")?;
    let mut left = parts.operands;
    let mut groups = [&[][..]; 4];
    if sizes.len() != groups.len() {
        return Err("expected four groups of operands".to_owned());
    }
    for (group, &size) in groups.iter_mut().zip(&sizes) {
        let size = usize::try_from(size).ok().filter(|&size| size <= left.len());
        (*group, left) = left.split_at(size.ok_or("its groups have more operands than it has")?);
    }
    Ok(groups)
}

/// Loops one in the other, the insertion point in the innermost.
pub(super) struct Nest {
    outermost: Option<OpId>,
    pub(super) counters: Vec<ValueId>,
    /// The values that the innermost loop carries.
    pub(super) carried: Vec<ValueId>,
}

pub(super) fn nest(r: &mut Rewriter<'_>, bounds: [&[ValueId]; 3], inits: &[ValueId]) -> Nest {
    let mut nest = Nest {
        outermost: None,
        counters: Vec::new(),
        carried: inits.to_vec(),
    };
    for ((&lower, &upper), &step) in bounds[0].iter().zip(bounds[1]).zip(bounds[2]) {
        let types: Vec<_> = nest.carried.iter().map(|&v| r.body.value_type(v)).collect();
        let counter = r.body.value_type(lower);
        let region = r.body.create_region();
        let block = r.body.create_block(region);
        let op = r.op(scf::FOR).operands([lower, upper, step]);
        let op = op.operands(nest.carried.iter().copied()).results(types.iter().copied());
        let op = op.region(region).build();
        if nest.outermost.is_some() {
            let results: Vec<ValueId> = r.body.results(op).collect();
            r.op(scf::YIELD).operands(results).build();
        }
        nest.outermost.get_or_insert(op);
        nest.counters.push(r.body.add_block_arg(block, counter, None));
        nest.carried = types.iter().map(|&ty| r.body.add_block_arg(block, ty, None)).collect();
        r.at_end(block);
    }
    nest
}

impl Nest {
    /// Puts the operations of a region inside; gives its terminator, which is moved too.
    pub(super) fn fill(&self, r: &mut Rewriter<'_>, parts: &Parts<'_>, end: &str) -> Result<OpId, String> {
        let block = parts.regions.first().and_then(|&region| r.body.single_block(region));
        let block = block.ok_or("its region does not have one block")?;
        let args = r.body.block_args(block).to_vec();
        let values = self.counters.iter().chain(&self.carried);
        for (&arg, &value) in args.iter().zip(values) {
            r.take_name(arg, value);
            r.replace_value(arg, value);
        }
        for op in r.body.block_ops_vec(block) {
            r.move_here(op);
        }
        let here = match r.point() {
            pir_ir::InsertPoint::End(block) => r.body.last_op(block),
            pir_ir::InsertPoint::Before(op) => r.body.prev_op(op),
            pir_ir::InsertPoint::Detached => None,
        };
        here.filter(|&op| r.ctx.op_str(r.body.op_name(op)) == end)
            .ok_or_else(|| format!("its region does not end in `{end}`"))
    }

    /// Gives values to the next iteration; what the outermost loop gives in the end.
    pub(super) fn finish(self, r: &mut Rewriter<'_>, values: &[ValueId]) -> Made {
        let Some(outermost) = self.outermost else {
            return Ok(values.into());
        };
        r.op(scf::YIELD).operands(values.iter().copied()).build();
        r.after(outermost);
        Ok(r.body.results(outermost).collect())
    }
}

/// `scf.parallel`: combines the results of the iterations in order.
pub(super) fn reduced(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let [lower, upper, step, inits] = groups(r, parts)?;
    let nest = nest(r, [lower, upper, step], inits);
    let end = nest.fill(r, parts, scf::REDUCE)?;
    let given = r.body.operands_vec(end);
    let regions = r.body.take_regions(end);
    r.before(end);
    let mut values = Vec::new();
    for ((&region, &given), &so_far) in regions.iter().zip(&given).zip(&nest.carried) {
        let args = r
            .body
            .entry_block(region)
            .map(|block| r.body.block_args(block).to_vec());
        for (&arg, value) in args.iter().flatten().zip([so_far, given]) {
            r.replace_value(arg, value);
        }
        values.extend(splice(r, region, scf::REDUCE_RETURN)?);
    }
    if values.len() != nest.carried.len() {
        return Err("expected a reduction for each result".to_owned());
    }
    let made = nest.finish(r, &values);
    r.erase_op(end);
    made
}

/// `scf.forall`: each iteration puts its tiles into the results.
pub(super) fn tiled(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let [lower, upper, step, outs] = groups(r, parts)?;
    let mut bounds: [Vec<ValueId>; 3] = Default::default();
    let names = ["staticLowerBound", "staticUpperBound", "staticStep"];
    for ((bounds, name), values) in bounds.iter_mut().zip(names).zip([lower, upper, step]) {
        let counts = Count::list(ints(r, parts, name)?, &mut values.iter().copied());
        let counts = counts.ok_or_else(|| format!("a value of its `{name}` is missing"))?;
        bounds.extend(counts.into_iter().map(|count| count.value(r)));
    }
    let nest = nest(r, [&bounds[0], &bounds[1], &bounds[2]], outs);
    let end = nest.fill(r, parts, scf::IN_PARALLEL)?;
    let region = r.body.op_regions(end).first().copied();
    let block = region.and_then(|region| r.body.single_block(region));
    let block = block.ok_or("its terminator's region is not a single block")?;
    let mut values: SmallVec<[ValueId; 2]> = nest.carried.iter().copied().collect();
    r.before(end);
    for op in r.body.block_ops_vec(block) {
        let mut operands = r.body.operands_vec(op);
        let result = operands
            .get(1)
            .and_then(|into| nest.carried.iter().position(|out| out == into));
        let (Some(at), INSERT) = (result, r.ctx.op_str(r.body.op_name(op))) else {
            return Err(format!(
                "its terminator contains operations other than `{INSERT}` into its results"
            ));
        };
        operands[1] = values[at];
        let (attrs, ty) = (r.body.attrs(op), r.body.value_type(values[at]));
        let insert = r.op(tensor::InsertSlice::NAME).operands(operands).attrs(attrs);
        values[at] = insert.result(ty).value();
    }
    let made = nest.finish(r, &values);
    r.erase_op(end);
    made
}
