//! `affine` in terms of `scf`, `arith` and `memref`.

use pir_ir::{Attr, AttrData, Rewriter, ValueId};

use super::emit::{Expand, binary, buffer_elem};
use super::map::{Map, Relation};
use super::{atomic_kind, integer, segments};
use crate::control::{Made, Parts};
use crate::mlir::parallel::nest;
use crate::mlir::to_pd::{make, rename_end};
use crate::mlir::values::{EQ, SGE, compare};
use crate::mlir::{arith, index_constant, memref, scf};

const YIELD: &str = "affine.yield";

pub(super) const EXPANSIONS: &[(&str, Expand)] = &[
    ("affine.apply", |r, parts| {
        let values = map(r, parts, "map")?.emit(r, parts.operands)?;
        match values.len() {
            1 => Ok(values.into()),
            _ => Err("expected a map with one result".to_owned()),
        }
    }),
    ("affine.max", |r, parts| {
        let values = map(r, parts, "map")?.emit(r, parts.operands)?;
        Ok(std::iter::once(extreme(r, &values, arith::Maxsi::NAME)?).collect())
    }),
    ("affine.min", |r, parts| {
        let values = map(r, parts, "map")?.emit(r, parts.operands)?;
        Ok(std::iter::once(extreme(r, &values, arith::Minsi::NAME)?).collect())
    }),
    ("affine.load", |r, parts| {
        let (&buffer, indices) = parts.operands.split_first().ok_or("expected a buffer")?;
        let element = buffer_elem(r, buffer)?;
        if parts.types != [element] {
            return Err("its result does not have the element type of the buffer".to_owned());
        }
        let place = place(r, parts, indices)?;
        let load = r.op(memref::Load::NAME).operand(buffer).operands(place);
        Ok(std::iter::once(load.result(element).value()).collect())
    }),
    ("affine.store", |r, parts| {
        let &[value, buffer, ref indices @ ..] = parts.operands else {
            return Err("expected a value and a buffer".to_owned());
        };
        if r.body.value_type(value) != buffer_elem(r, buffer)? {
            return Err("the stored value does not have the element type of the buffer".to_owned());
        }
        let place = place(r, parts, indices)?;
        r.op(memref::Store::NAME)
            .operands([value, buffer])
            .operands(place)
            .build();
        Ok([].into_iter().collect())
    }),
    ("affine.prefetch", |_, _| Ok([].into_iter().collect())),
    ("affine.for", counted),
    ("affine.if", branch),
    ("affine.parallel", parallel),
];

fn map(r: &Rewriter<'_>, parts: &Parts<'_>, name: &str) -> Result<Map, String> {
    let attr = super::attr(r, parts, name);
    Map::of(r.ctx, attr.ok_or_else(|| format!("its `{name}` is missing"))?)
}

/// The largest or the least of values.
fn extreme(r: &mut Rewriter<'_>, values: &[ValueId], name: &str) -> Result<ValueId, String> {
    let (&first, others) = values.split_first().ok_or("expected a map with results")?;
    Ok(others
        .iter()
        .fold(first, |so_far, &value| binary(r, name, so_far, value)))
}

/// The indices of an element.
fn place(r: &mut Rewriter<'_>, parts: &Parts<'_>, indices: &[ValueId]) -> Result<Vec<ValueId>, String> {
    let map = match super::attr(r, parts, "map") {
        Some(attr) => Map::of(r.ctx, attr)?,
        None => return Ok(indices.to_vec()),
    };
    map.emit(r, indices)
}

/// `affine.for`: from the largest lower bound to the least upper one.
fn counted(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let groups = segments(r, parts, 3)?;
    let (&[lower, upper, inits], &[region]) = (&groups[..], parts.regions) else {
        return Err("expected a region".to_owned());
    };
    let lower = map(r, parts, "lowerBoundMap")?.emit(r, lower)?;
    let lower = extreme(r, &lower, arith::Maxsi::NAME)?;
    let upper = map(r, parts, "upperBoundMap")?.emit(r, upper)?;
    let upper = extreme(r, &upper, arith::Minsi::NAME)?;
    let step = integer(r, parts, "step").filter(|&step| step > 0);
    let step = index_constant(r, step.ok_or("expected a positive `step`")?);
    rename_end(r, region, YIELD, scf::YIELD)?;
    let mut operands = vec![lower, upper, step];
    operands.extend(inits);
    let op = make(r, scf::FOR, &operands, parts.types, &[region]);
    Ok(r.body.results(op).collect())
}

/// `affine.if`: all constraints of the set hold.
fn branch(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let set = map(r, parts, "condition")?;
    let sides = set.emit(r, parts.operands)?;
    if set.relations.len() != sides.len() {
        return Err("expected a set".to_owned());
    }
    let zero = index_constant(r, 0);
    let mut condition: Option<ValueId> = None;
    for (&side, &relation) in sides.iter().zip(&set.relations) {
        let predicate = match relation {
            Relation::Equal => EQ,
            Relation::AtLeast => SGE,
        };
        let holds = compare(r, predicate, side, zero);
        condition = Some(match condition {
            Some(others) => binary(r, arith::Andi::NAME, others, holds),
            None => holds,
        });
    }
    let condition = condition.unwrap_or_else(|| compare(r, EQ, zero, zero));
    for &region in parts.regions {
        if !r.body.region_blocks(region).is_empty() {
            rename_end(r, region, YIELD, scf::YIELD)?;
        }
    }
    let op = make(r, scf::IF, &[condition], parts.types, parts.regions);
    Ok(r.body.results(op).collect())
}

/// The operation that combines the results of iterations of `affine.parallel`, by MLIR's number, and its initial value.
fn reduction(kind: i64) -> Option<(&'static str, f64)> {
    let name = atomic_kind(kind.into())??;
    let start = match name {
        arith::Addf::NAME | arith::Addi::NAME | arith::Ori::NAME => 0.0,
        arith::Mulf::NAME | arith::Muli::NAME => 1.0,
        arith::Maximumf::NAME => f64::NEG_INFINITY,
        arith::Minimumf::NAME => f64::INFINITY,
        _ => return None,
    };
    Some((name, start))
}

/// `affine.parallel`, in the order of its counters.
fn parallel(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let ints = |r: &Rewriter<'_>, name: &str| {
        let attr = super::attr(r, parts, name);
        let ints = attr.and_then(|attr| crate::mlir::ints(r.ctx, attr).or_else(|| integers(r, attr)));
        ints.ok_or_else(|| format!("its `{name}` are unknown"))
    };
    let lower_map = map(r, parts, "lowerBoundsMap")?;
    let upper_map = map(r, parts, "upperBoundsMap")?;
    let (groups_of_lower, groups_of_upper) = (ints(r, "lowerBoundsGroups")?, ints(r, "upperBoundsGroups")?);
    let steps = ints(r, "steps")?;
    let kinds = ints(r, "reductions")?;
    if parts.operands.len() < lower_map.inputs {
        return Err("its maps take more values than it has".to_owned());
    }
    let (lower, upper) = parts.operands.split_at(lower_map.inputs);
    let lower = lower_map.emit(r, lower)?;
    let upper = upper_map.emit(r, upper)?;
    let lower = grouped(r, &lower, &groups_of_lower, arith::Maxsi::NAME)?;
    let upper = grouped(r, &upper, &groups_of_upper, arith::Minsi::NAME)?;
    if lower.len() != upper.len() || lower.len() != steps.len() || kinds.len() != parts.types.len() {
        return Err("its bounds, steps and reductions do not match".to_owned());
    }
    let steps: Vec<ValueId> = steps.iter().map(|&step| index_constant(r, step.into())).collect();
    let mut inits = Vec::new();
    for (&kind, &ty) in kinds.iter().zip(parts.types) {
        let (_, start) = reduction(kind).ok_or("its reduction is unknown")?;
        let value = crate::mlir::number(r.ctx, start, ty).ok_or("its reduction is not of numbers")?;
        inits.push(r.op(arith::Constant::NAME).attr("value", value).result(ty).value());
    }
    let nest = nest(r, [&lower, &upper, &steps], &inits);
    let end = nest.fill(r, parts, YIELD)?;
    let given = r.body.operands_vec(end);
    r.before(end);
    let mut values = Vec::new();
    for ((&kind, &given), &so_far) in kinds.iter().zip(&given).zip(&nest.carried) {
        let (name, _) = reduction(kind).ok_or("its reduction is unknown")?;
        let ty = r.body.value_type(so_far);
        values.push(r.op(name).operands([so_far, given]).result(ty).value());
    }
    if values.len() != nest.carried.len() {
        return Err("expected a value for each result".to_owned());
    }
    let made = nest.finish(r, &values);
    r.erase_op(end);
    made
}

/// An array of integers.
fn integers(r: &Rewriter<'_>, attr: Attr) -> Option<Vec<i64>> {
    let AttrData::Array(items) = r.ctx.attr_data(attr) else {
        return None;
    };
    let number = |&item| match r.ctx.attr_data(item) {
        AttrData::Int { value, .. } => i64::try_from(*value).ok(),
        _ => None,
    };
    items.iter().map(number).collect()
}

/// The bound of each loop: the largest or the least of a group of values.
fn grouped(r: &mut Rewriter<'_>, values: &[ValueId], groups: &[i64], name: &str) -> Result<Vec<ValueId>, String> {
    let mut left = values;
    let mut out = Vec::new();
    for &size in groups {
        let size = usize::try_from(size).ok().filter(|&size| size <= left.len());
        let (group, behind) = left.split_at(size.ok_or("its bounds have more parts than its map")?);
        out.push(extreme(r, group, name)?);
        left = behind;
    }
    Ok(out)
}
