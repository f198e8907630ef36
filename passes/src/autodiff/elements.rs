//! Loops of `scf` over the elements of tensors and buffers, and the numbers that they need.

pub(crate) use pir_dialects::mlir::index_constant as index;
use pir_dialects::mlir::{arith, scf};
use pir_ir::{AttrData, BlockId, DYNAMIC, Rewriter, Type, ValueId};

/// A constant of a type of floats.
pub(crate) fn number(r: &mut Rewriter<'_>, ty: Type, value: f64) -> ValueId {
    let bits = value.to_bits();
    let value = r.ctx.attr(AttrData::Float { bits, ty });
    r.op(arith::Constant::NAME).attr("value", value).result(ty).value()
}

/// Loops over the indices of a shape; `sizes` are its dynamic extents.
pub(crate) fn each_element(
    r: &mut Rewriter<'_>,
    shape: &[i64],
    sizes: &[ValueId],
    body: impl FnOnce(&mut Rewriter<'_>, &[ValueId]) -> Result<(), String>,
) -> Result<(), String> {
    nest(r, shape, sizes, None, |r, place, _| body(r, place).map(|()| None)).map(|_| ())
}

/// The same with a value that is carried along.
pub(crate) fn fold_elements(
    r: &mut Rewriter<'_>,
    shape: &[i64],
    sizes: &[ValueId],
    initial: ValueId,
    body: impl FnOnce(&mut Rewriter<'_>, &[ValueId], ValueId) -> Result<ValueId, String>,
) -> Result<ValueId, String> {
    let last = nest(r, shape, sizes, Some(initial), |r, place, carried| {
        body(r, place, carried.ok_or("a value was expected")?).map(Some)
    })?;
    last.ok_or_else(|| "a value was expected".to_owned())
}

fn nest(
    r: &mut Rewriter<'_>,
    shape: &[i64],
    sizes: &[ValueId],
    initial: Option<ValueId>,
    body: impl FnOnce(&mut Rewriter<'_>, &[ValueId], Option<ValueId>) -> Result<Option<ValueId>, String>,
) -> Result<Option<ValueId>, String> {
    let (zero, one) = (index(r, 0), index(r, 1));
    let mut sizes = sizes.iter().copied();
    let mut bounds = Vec::new();
    for &extent in shape {
        bounds.push(match extent {
            DYNAMIC => sizes.next().ok_or("a size is unknown")?,
            extent => index(r, i128::from(extent)),
        });
    }
    let here = r.point();
    let ty = initial.map(|value| r.body.value_type(value));
    let mut blocks: Vec<BlockId> = Vec::new();
    let mut place = Vec::new();
    // The initial values of each loop, and the results of the innermost one.
    let mut carried = vec![initial];
    for _ in &bounds {
        let region = r.body.create_region();
        let block = r.body.create_block(region);
        place.push(r.body.add_block_arg(block, Type::INDEX, None));
        carried.push(ty.map(|ty| r.body.add_block_arg(block, ty, None)));
        blocks.push(block);
    }
    if let Some(&block) = blocks.last() {
        r.at_end(block);
    }
    let mut given = body(r, &place, carried.last().copied().flatten())?;
    for at in (0..blocks.len()).rev() {
        r.at_end(blocks[at]).op(scf::YIELD).operands(given).build();
        match at.checked_sub(1) {
            Some(outer) => r.at_end(blocks[outer]),
            None => r.set_point(here),
        };
        let region = r.body.block_region(blocks[at]).ok_or("a block without a region")?;
        let op = r.op(scf::FOR).operands([zero, bounds[at], one]).operands(carried[at]);
        let made = op.results(ty).region(region).build();
        given = ty.map(|_| r.body.result(made, 0));
    }
    Ok(given)
}
