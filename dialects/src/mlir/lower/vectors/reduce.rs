//! Reductions and products of vectors.

use pir_ir::{AttrData, Rewriter, Type, ValueId};
use smallvec::smallvec;

use super::super::emit::{Emit, Expand, binary, dimensions, element, fold, of, result, shape};
use super::super::map::{Expr, Map};
use crate::control::{Made, Parts};
use crate::mlir::{arith, index_constant, math};

pub(super) const EXPANSIONS: &[(&str, Expand)] = &[
    ("vector.reduction", reduction),
    ("vector.multi_reduction", multi_reduction),
    ("vector.outerproduct", outer_product),
    ("vector.contract", contract),
];

/// The operation that a kind of reduction applies: to floats, and to integers.
const KINDS: &[(&str, Option<&str>, Option<&str>)] = &[
    ("add", Some(arith::Addf::NAME), Some(arith::Addi::NAME)),
    ("mul", Some(arith::Mulf::NAME), Some(arith::Muli::NAME)),
    ("minui", None, Some(arith::Minui::NAME)),
    ("minsi", None, Some(arith::Minsi::NAME)),
    ("minnumf", Some(arith::Minnumf::NAME), None),
    ("maxui", None, Some(arith::Maxui::NAME)),
    ("maxsi", None, Some(arith::Maxsi::NAME)),
    ("maxnumf", Some(arith::Maxnumf::NAME), None),
    ("and", None, Some(arith::Andi::NAME)),
    ("or", None, Some(arith::Ori::NAME)),
    ("xor", None, Some(arith::Xori::NAME)),
    ("maximumf", Some(arith::Maximumf::NAME), None),
    ("minimumf", Some(arith::Minimumf::NAME), None),
];

/// The operation of the `kind` for elements of a type; without the attribute it is addition.
fn kind(r: &Rewriter<'_>, parts: &Parts<'_>, elem: Type) -> Emit<&'static str> {
    let word = match super::super::attr(r, parts, "kind").map(|attr| r.ctx.attr_data(attr)) {
        None => "add",
        Some(AttrData::Opaque(text)) => text
            .strip_prefix("#vector.kind<")
            .and_then(|text| text.strip_suffix('>'))
            .unwrap_or_default(),
        Some(_) => "",
    };
    let found = KINDS.iter().find(|kind| kind.0 == word).ok_or("its kind is unknown")?;
    let name = if r.ctx.is_float(elem) { found.1 } else { found.2 };
    name.ok_or_else(|| format!("its kind `{word}` is not one of such elements"))
}

/// The product of two elements.
fn product(r: &mut Rewriter<'_>, a: ValueId, b: ValueId) -> ValueId {
    let ty = r.body.value_type(a);
    let name = if r.ctx.is_float(ty) {
        arith::Mulf::NAME
    } else {
        arith::Muli::NAME
    };
    binary(r, name, a, b)
}

/// All elements in their order, after the accumulator if there is one.
fn reduction(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let (&source, acc) = parts.operands.split_first().ok_or("expected a vector")?;
    let name = kind(r, parts, result(parts)?)?;
    let extents = shape(r, source);
    let (from, init) = match (acc, &extents[..]) {
        (&[acc], _) => (0, acc),
        (_, []) => return Ok(smallvec![element(r, source, &[])?]),
        _ => {
            let zero = index_constant(r, 0);
            (1, element(r, source, &vec![zero; extents.len()])?)
        }
    };
    let made = fold(r, from, &extents, &[init], &mut |r, place, carried| {
        let next = element(r, source, place)?;
        Ok(vec![binary(r, name, carried[0], next)])
    })?;
    Ok(made.into())
}

fn multi_reduction(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[source, acc] = parts.operands else {
        return Err("expected a vector and an accumulator".to_owned());
    };
    let gone = dimensions(r, parts, "reduction_dims")?;
    let (extents, ty) = (shape(r, source), result(parts)?);
    let name = kind(r, parts, r.ctx.elem_type(ty))?;
    let is_gone = |at: &usize| gone.contains(at);
    let reduced: Vec<i64> = extents
        .iter()
        .enumerate()
        .filter(|(at, _)| is_gone(at))
        .map(|(_, &n)| n)
        .collect();
    let made = of(r, ty, &mut |r, kept| {
        let init = element(r, acc, kept)?;
        let made = fold(r, 0, &reduced, &[init], &mut |r, inner, carried| {
            let (mut kept, mut inner) = (kept.iter(), inner.iter());
            let place = (0..extents.len()).map(|at| if is_gone(&at) { inner.next() } else { kept.next() });
            let place: Option<Vec<ValueId>> = place.map(|at| at.copied()).collect();
            let next = element(r, source, &place.ok_or("its dimensions do not fit its result")?)?;
            Ok(vec![binary(r, name, carried[0], next)])
        })?;
        Ok(made[0])
    })?;
    Ok(smallvec![made])
}

/// Each element of one vector times each of another, or times a number.
fn outer_product(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[lhs, rhs, ref acc @ ..] = parts.operands else {
        return Err("expected two vectors".to_owned());
    };
    let ty = result(parts)?;
    let elem = r.ctx.elem_type(ty);
    let name = kind(r, parts, elem)?;
    let split = shape(r, lhs).len();
    let made = of(r, ty, &mut |r, place| {
        let (row, column) = place
            .split_at_checked(split)
            .ok_or("it has fewer dimensions than its operand")?;
        let (a, b) = (element(r, lhs, row)?, element(r, rhs, column)?);
        let Some(&acc) = acc.first() else {
            return Ok(product(r, a, b));
        };
        let acc = element(r, acc, place)?;
        // MLIR rounds the sum and the product at once.
        if name == arith::Addf::NAME {
            return Ok(r.op(math::Fma::NAME).operands([a, b, acc]).result(elem).value());
        }
        let product = product(r, a, b);
        Ok(binary(r, name, product, acc))
    })?;
    Ok(smallvec![made])
}

/// Sums of products, or other reductions of them, with maps that determine what belongs together.
fn contract(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let &[lhs, rhs, acc] = parts.operands else {
        return Err("expected two vectors and an accumulator".to_owned());
    };
    let maps = super::super::attr(r, parts, "indexing_maps").map(|attr| r.ctx.attr_data(attr));
    let Some(AttrData::Array(maps)) = maps else {
        return Err("its `indexing_maps` are unknown".to_owned());
    };
    let maps: Vec<Map> = maps.iter().map(|&map| Map::of(r.ctx, map)).collect::<Result<_, _>>()?;
    // Each result of a map is a dimension.
    let dims = |map: &Map| -> Option<Vec<usize>> {
        let dim = |expr: &Expr| match expr {
            Expr::Input(at) => Some(*at),
            _ => None,
        };
        map.results.iter().map(dim).collect()
    };
    let dims: Option<Vec<Vec<usize>>> = maps.iter().map(dims).collect();
    let dims = dims
        .filter(|dims| dims.len() == 3)
        .ok_or("its maps are not of dimensions")?;
    let loops = maps[0].inputs;
    let extent = |r: &Rewriter<'_>, dim: usize| {
        [lhs, rhs].iter().zip(&dims).find_map(|(&value, dims)| {
            let at = dims.iter().position(|&other| other == dim)?;
            shape(r, value).get(at).copied()
        })
    };
    let gone: Vec<usize> = (0..loops).filter(|dim| !dims[2].contains(dim)).collect();
    let reduced: Option<Vec<i64>> = gone.iter().map(|&dim| extent(r, dim)).collect();
    let reduced = reduced.ok_or("a dimension has no extent")?;
    let ty = result(parts)?;
    let name = kind(r, parts, r.ctx.elem_type(ty))?;
    let made = of(r, ty, &mut |r, kept| {
        let init = element(r, acc, kept)?;
        let made = fold(r, 0, &reduced, &[init], &mut |r, inner, carried| {
            let mut places: Vec<Option<ValueId>> = vec![None; loops];
            for (&dim, &at) in dims[2].iter().zip(kept).chain(gone.iter().zip(inner)) {
                *places.get_mut(dim).ok_or("a map has a dimension too many")? = Some(at);
            }
            let place = |dims: &[usize]| -> Emit<Vec<ValueId>> {
                let at = |&dim: &usize| places.get(dim).copied().flatten();
                let place: Option<Vec<ValueId>> = dims.iter().map(at).collect();
                place.ok_or_else(|| "a dimension has no place".to_owned())
            };
            let (a, b) = (element(r, lhs, &place(&dims[0])?)?, element(r, rhs, &place(&dims[1])?)?);
            let product = product(r, a, b);
            Ok(vec![binary(r, name, carried[0], product)])
        })?;
        Ok(made[0])
    })?;
    Ok(smallvec![made])
}
