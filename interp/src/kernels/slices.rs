//! Parts of tensors and buffers, as MLIR declares them: offsets, extents and strides, each known or an operand.

use pir_dialects::mlir::{OPERAND, ints};
use pir_ir::{Context, OpView, Type};
use smallvec::SmallVec;

/// A part of a slice.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    known: [Vec<i64>; 3],
    /// The extents of the part, as far as they are known.
    result: Vec<Option<usize>>,
}

/// The extents of the first result, as far as they are known.
pub(crate) fn extents(view: OpView<'_>) -> Result<Vec<Option<usize>>, String> {
    let ty = view.result_type(0).ok_or("the operation has no result")?;
    known_extents(view.ctx, ty).ok_or_else(|| "the result must have a known rank".to_owned())
}

/// The extents of a type of known rank, as far as they are known.
fn known_extents(ctx: &Context, ty: Type) -> Option<Vec<Option<usize>>> {
    let (shape, _) = ctx.as_shaped(ty)?;
    Some(shape.iter().map(|&extent| usize::try_from(extent).ok()).collect())
}

/// The extents, with the dynamic ones filled in, in order.
pub(crate) fn filled_in(
    extents: &[Option<usize>],
    given: &mut dyn Iterator<Item = i64>,
) -> Result<SmallVec<[usize; 4]>, String> {
    extents
        .iter()
        .map(|extent| match extent {
            Some(extent) => Ok(*extent),
            None => {
                let extent = given.next().ok_or("an extent is missing")?;
                usize::try_from(extent).map_err(|_| format!("an extent cannot be {extent}"))
            }
        })
        .collect()
}

/// Whether a shape is one of those that a type has.
pub(crate) fn fits(extents: &[Option<usize>], shape: &[usize]) -> Result<(), String> {
    let mut both = extents.iter().zip(shape);
    match extents.len() == shape.len() && both.all(|(known, &found)| known.is_none_or(|known| known == found)) {
        true => Ok(()),
        false => Err(format!("the type of the result does not have the shape {shape:?}")),
    }
}

pub(crate) fn out_of_range(index: i64, dimension: usize, extent: i64) -> String {
    format!("index {index} is out of range for dimension {dimension} of extent {extent}")
}

/// Whether offsets, extents and strides stay within these extents.
pub(crate) fn within([offsets, sizes, strides]: &[Vec<i64>; 3], extents: &[i64]) -> Result<(), String> {
    let rank = extents.len();
    if offsets.len() != rank || sizes.len() != rank || strides.len() != rank {
        return Err("it needs an offset, an extent and a stride for each dimension".to_owned());
    }
    for (at, &extent) in extents.iter().enumerate() {
        let (offset, size, stride) = (offsets[at], sizes[at], strides[at]);
        if size < 0 {
            return Err(format!("an extent cannot be {size}"));
        }
        let span = (size - 1).max(0).checked_mul(stride);
        let last = span.and_then(|span| offset.checked_add(span));
        let is_inside = |place: i64| (0..extent).contains(&place) || (size == 0 && place == extent);
        if !is_inside(offset) || !last.is_some_and(is_inside) {
            return Err(format!(
                "{size} elements from {offset} with stride {stride} are out of the bounds of dimension {at}, which \
                 has extent {extent}"
            ));
        }
    }
    Ok(())
}

/// Calls `f` with the place of each element of a part, in row-major order.
pub(crate) fn each_place<E>(
    first: i64,
    sizes: &[i64],
    strides: &[i64],
    mut f: impl FnMut(i64) -> Result<(), E>,
) -> Result<(), E> {
    let mut index: SmallVec<[i64; 4]> = SmallVec::from_elem(0, sizes.len());
    let mut place = first;
    for _ in 0..sizes.iter().product::<i64>() {
        f(place)?;
        for at in (0..index.len()).rev() {
            index[at] += 1;
            // The stride of a single element may be any; what is added is subtracted again.
            place = place.wrapping_add(strides[at]);
            if index[at] < sizes[at] {
                break;
            }
            place = place.wrapping_sub(strides[at].wrapping_mul(sizes[at]));
            index[at] = 0;
        }
    }
    Ok(())
}

impl Slice {
    /// How an operation declares a slice, which has this type.
    pub(crate) fn new(view: OpView<'_>, part: Option<Type>) -> Result<Slice, String> {
        let list = |name: &str| {
            let attr = view.attr(name).and_then(|attr| ints(view.ctx, attr));
            attr.ok_or_else(|| format!("`{name}` must be a list of integers"))
        };
        let known = [list("static_offsets")?, list("static_sizes")?, list("static_strides")?];
        let result = part.and_then(|ty| known_extents(view.ctx, ty));
        let result = result.ok_or("the slice must have a known rank")?;
        Ok(Slice { known, result })
    }

    /// Offsets, extents and strides, those that are operands in order.
    pub(crate) fn lists(&self, given: &[i64]) -> Result<[Vec<i64>; 3], String> {
        let mut given = given.iter().copied();
        let mut fill = |list: &Vec<i64>| -> Result<Vec<i64>, String> {
            list.iter()
                .map(|&number| match number {
                    OPERAND => given.next().ok_or_else(|| "an operand is missing".to_owned()),
                    number => Ok(number),
                })
                .collect()
        };
        let [offsets, sizes, strides] = &self.known;
        let lists = [fill(offsets)?, fill(sizes)?, fill(strides)?];
        match given.next() {
            None => Ok(lists),
            Some(_) => Err("there are more operands than dynamic extents".to_owned()),
        }
    }

    /// Which dimensions the result has: MLIR drops those of extent one that its type does not have.
    pub(crate) fn kept(&self) -> Result<Vec<bool>, String> {
        let mut result = self.result.iter().peekable();
        let mut kept = Vec::with_capacity(self.known[1].len());
        for &size in &self.known[1] {
            let known = usize::try_from(size).ok();
            let is_kept = result.next_if(|&&wanted| wanted == known).is_some();
            if !is_kept && size != 1 {
                return Err("the result does not have the extents of the slice".to_owned());
            }
            kept.push(is_kept);
        }
        match result.next() {
            None => Ok(kept),
            Some(_) => Err("the result has more dimensions than the slice".to_owned()),
        }
    }
}
