//! Operations of `memref`, `tensor` and `bufferization` that are expressed by others of `memref` and `tensor`.

use pir_ir::text::segment_sizes;
use pir_ir::{DYNAMIC, Rewriter, Type, ValueId};
use smallvec::{SmallVec, smallvec};

use super::emit::{Expand, buffer_elem, result};
use super::{atomic_kind, integer, segments};
use crate::control::{Made, Parts, splice};
use crate::mlir::values::dim;
use crate::mlir::{Count, OPERAND, arith, memref, sizes, tensor};
use crate::stablehlo::from_pd::array;

pub(super) const EXPANSIONS: &[(&str, Expand)] = &[
    ("bufferization.to_tensor", to_tensor),
    ("memref.alloca_scope", |r, parts| match parts.regions {
        &[region] => splice(r, region, "memref.alloca_scope.return"),
        _ => Err("expected a region".to_owned()),
    }),
    ("memref.atomic_rmw", atomic),
    ("tensor.concat", concat),
    ("tensor.pad", pad),
];

fn shape(r: &Rewriter<'_>, ty: Type) -> Result<Vec<i64>, String> {
    let shape = r.ctx.as_shaped(ty).map(|(shape, _)| shape.to_vec());
    shape.ok_or_else(|| "its rank is unknown".to_owned())
}

/// Where iterations run one after the other, nothing comes between the load and the store.
fn atomic(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[value, buffer, ref place @ ..] = parts.operands else {
        return Err("expected a value and a buffer".to_owned());
    };
    let kind = integer(r, parts, "kind").and_then(atomic_kind);
    let kind = kind.ok_or("its kind is unknown")?;
    let ty = result(parts)?;
    let load = r.op(memref::Load::NAME).operand(buffer);
    let old = load.operands(place.iter().copied()).result(ty).value();
    let new = match kind {
        Some(name) => r.op(name).operands([old, value]).result(ty).value(),
        None => value,
    };
    let store = r.op(memref::Store::NAME).operands([new, buffer]);
    store.operands(place.iter().copied()).build();
    Ok(smallvec![old])
}

/// A tensor that has the elements that a buffer has now.
fn to_tensor(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[buffer] = parts.operands else {
        return Err("expected a buffer".to_owned());
    };
    let ty = result(parts)?;
    let (elem, rank) = (buffer_elem(r, buffer)?, shape(r, ty)?.len());
    let extents = sizes(r, buffer);
    let here = r.point();
    let region = r.body.create_region();
    let block = r.body.create_block(region);
    let place: Vec<ValueId> = (0..rank)
        .map(|_| r.body.add_block_arg(block, Type::INDEX, None))
        .collect();
    let load = r.at_end(block).op(memref::Load::NAME).operand(buffer);
    let element = load.operands(place).result(elem).value();
    r.op(tensor::Yield::NAME).operand(element).build();
    r.set_point(here);
    Ok(smallvec![
        r.op(tensor::Generate::NAME)
            .operands(extents)
            .result(ty)
            .region(region)
            .value()
    ])
}

/// Puts a tensor into another one.
fn insert(r: &mut Rewriter<'_>, part: ValueId, into: ValueId, offsets: &[Count]) -> Result<ValueId, String> {
    let (ty, extents) = (r.body.value_type(into), shape(r, r.body.value_type(part))?);
    let unknown = sizes(r, part);
    let given = offsets.iter().filter_map(|&offset| match offset {
        Count::Value(value) => Some(value),
        Count::Number(_) => None,
    });
    let given: Vec<ValueId> = given.collect();
    let numbers = |counts: &mut dyn Iterator<Item = i64>| -> Vec<i64> { counts.collect() };
    let statics = [
        numbers(&mut offsets.iter().map(|&offset| match offset {
            Count::Number(number) => number,
            Count::Value(_) => OPERAND,
        })),
        numbers(
            &mut extents
                .iter()
                .map(|&extent| if extent == DYNAMIC { OPERAND } else { extent }),
        ),
        vec![1; extents.len()],
    ];
    let [offsets, extents, strides] = statics.map(|list| array(r.ctx, &list));
    let segments = segment_sizes(r.ctx, &[1, 1, given.len() as i64, unknown.len() as i64, 0]);
    let op = r.op(tensor::InsertSlice::NAME).operands([part, into]);
    let op = op
        .operands(given)
        .operands(unknown)
        .attr("operandSegmentSizes", segments);
    let op = op.attr("static_offsets", offsets).attr("static_sizes", extents);
    Ok(op.attr("static_strides", strides).result(ty).value())
}

fn concat(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let ty = result(parts)?;
    let (extents, axis) = (shape(r, ty)?, integer(r, parts, "dim"));
    let axis = axis
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|&axis| axis < extents.len());
    let axis = axis.ok_or("its dimension does not exist")?;
    if extents.contains(&DYNAMIC) {
        return Err("its shape is not static".to_owned());
    }
    let mut whole = r.op(tensor::Empty::NAME).result(ty).value();
    let mut at = 0;
    for &part in parts.operands {
        let mut offsets = vec![Count::Number(0); extents.len()];
        offsets[axis] = Count::Number(at);
        let extent = shape(r, r.body.value_type(part))?.get(axis).copied();
        let extent = extent.filter(|&extent| extent != DYNAMIC);
        at += extent.ok_or("the shape of an operand is not static")?;
        whole = insert(r, part, whole, &offsets)?;
    }
    Ok(smallvec![whole])
}

fn pad(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let ty = result(parts)?;
    let extents = shape(r, ty)?;
    let groups = segments(r, parts, 3)?;
    let (&[source], &[region]) = (groups[0], parts.regions) else {
        return Err("expected a tensor and a region".to_owned());
    };
    let counts = |name: &str, given: &[ValueId]| -> Result<Vec<Count>, String> {
        let ints = super::attr(r, parts, name).and_then(|attr| crate::mlir::ints(r.ctx, attr));
        let ints = ints.filter(|ints| ints.len() == extents.len());
        let counts = ints.and_then(|ints| Count::list(ints, &mut given.iter().copied()));
        counts.ok_or_else(|| format!("its `{name}` does not fit its shape"))
    };
    let (low, high) = (counts("static_low", groups[1])?, counts("static_high", groups[2])?);
    let mut unknown: SmallVec<[ValueId; 4]> = SmallVec::new();
    for at in (0..extents.len()).filter(|&at| extents[at] == DYNAMIC) {
        let mut extent = dim(r, source, at);
        for count in [low[at], high[at]] {
            let count = count.value(r);
            extent = r
                .op(arith::Addi::NAME)
                .operands([extent, count])
                .result(Type::INDEX)
                .value();
        }
        unknown.push(extent);
    }
    let filled = r.op(tensor::Generate::NAME).operands(unknown).result(ty);
    let filled = filled.region(region).value();
    Ok(smallvec![insert(r, source, filled, &low)?])
}
