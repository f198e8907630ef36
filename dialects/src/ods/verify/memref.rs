//! `memref`: extents, layouts and memory spaces of buffers and of their views fit each other.

use crate::mlir::memref;
use pir_ir::text::print_type;
use pir_ir::{Attr, AttrData, Context, DYNAMIC, Diagnostic, OpView, Type, TypeData};

use super::{
    Checked, MapText, Slice, attr, ensure, entry, extent, groups_fit, int, ints, is_compatible, known, plural, report,
    segments, shown, sized, types,
};

/// A buffer of known rank.
struct Buffer<'a> {
    shape: &'a [i64],
    elem: Type,
    layout: Option<Attr>,
    space: Option<Attr>,
}

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let checked = match op.name() {
        memref::Alloc::NAME | memref::Alloca::NAME => allocated(op),
        memref::Cast::NAME => cast(op),
        memref::Copy::NAME => copied(op),
        memref::Dim::NAME => match buffer(op, op.operand_type(0)) {
            Some(of) if of.shape.is_empty() => Err("a buffer of rank 0 has no extents".to_owned()),
            _ => Ok(()),
        },
        memref::Rank::NAME => {
            let is_buffer = op
                .operand_type(0)
                .is_some_and(|ty| matches!(op.ctx.type_data(ty), TypeData::MemRef { .. }));
            ensure(is_buffer, || "the operand must be a `memref`".to_owned())
        }
        memref::Subview::NAME => subview(op),
        memref::ReinterpretCast::NAME => reinterpreted(op),
        memref::ExpandShape::NAME => reshaped(op, true),
        memref::CollapseShape::NAME => reshaped(op, false),
        "memref.transpose" => transposed(op),
        "memref.view" => viewed(op),
        "memref.reshape" => by_shape(op),
        "memref.assume_alignment" => aligned(op),
        "memref.atomic_rmw" => updated(op),
        "memref.generic_atomic_rmw" => indexed(op, 0, 1).and_then(|()| {
            let block = entry(op, 0);
            let args = block.map_or(&[][..], |block| op.body.block_args(block));
            ensure(
                block.is_none()
                    || op
                        .result_type(0)
                        .is_some_and(|ty| types(op, args.iter().copied())[..] == [ty]),
                || "its block must have one argument, of the type of the result".to_owned(),
            )
        }),
        "memref.prefetch" => {
            let hint = int(op, "localityHint").unwrap_or(0);
            ensure((0..=3).contains(&hint), || {
                format!("the locality must be from 0 to 3, found {hint}")
            })
        }
        "memref.realloc" => reallocated(op),
        memref::Global::NAME => global(op),
        _ => Ok(()),
    };
    report(op, checked, errors);
}

fn buffer<'a>(op: OpView<'a>, ty: Option<Type>) -> Option<Buffer<'a>> {
    match op.ctx.type_data(ty?) {
        TypeData::MemRef {
            shape: Some(shape),
            elem,
            layout,
            space,
        } => Some(Buffer {
            shape,
            elem: *elem,
            layout: *layout,
            space: *space,
        }),
        _ => None,
    }
}

/// The operand and the result as buffers of known rank.
fn pair(op: OpView<'_>) -> Option<(Buffer<'_>, Buffer<'_>)> {
    Some((buffer(op, op.operand_type(0))?, buffer(op, op.result_type(0))?))
}

/// The strides of a buffer and where its elements begin, [`DYNAMIC`] where they are not known; nothing for other layouts.
fn strides(ctx: &Context, of: &Buffer<'_>) -> Option<(Vec<i64>, i64)> {
    let Some(layout) = of.layout else {
        let mut strides = vec![1; of.shape.len()];
        for at in (1..of.shape.len()).rev() {
            strides[at - 1] = match (strides[at], of.shape[at]) {
                (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
                (stride, extent) => stride.checked_mul(extent)?,
            };
        }
        return Some((strides, 0));
    };
    let AttrData::Opaque(text) = ctx.attr_data(layout) else {
        return None;
    };
    let inside = text.strip_prefix("strided<[")?.strip_suffix('>')?;
    let (list, rest) = inside.split_once(']')?;
    let number = |text: &str| match text.trim() {
        "?" => Some(DYNAMIC),
        text => text.parse().ok(),
    };
    let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
    let strides: Option<Vec<i64>> = items.map(number).collect();
    let offset = match rest.split_once("offset:") {
        Some((_, offset)) => number(offset)?,
        None => 0,
    };
    strides
        .filter(|strides| strides.len() == of.shape.len())
        .map(|strides| (strides, offset))
}

fn allocated(op: OpView<'_>) -> Checked {
    let (Some(made), Some([sizes, symbols])) = (buffer(op, op.result_type(0)), segments(op)) else {
        return Ok(());
    };
    sized(made.shape, sizes)?;
    ensure(symbols == 0 || made.layout.is_some(), || {
        "the layout of the result has no symbols".to_owned()
    })
}

fn reallocated(op: OpView<'_>) -> Checked {
    let Some((from, to)) = pair(op) else { return Ok(()) };
    ensure(from.elem == to.elem && from.space == to.space, || {
        "both buffers must have the same elements and memory space".to_owned()
    })?;
    sized(to.shape, op.body.num_operands(op.op) - 1)
}

fn cast(op: OpView<'_>) -> Checked {
    let (Some(from), Some(to)) = (op.operand_type(0), op.result_type(0)) else {
        return Ok(());
    };
    let why = || format!("{} cannot be cast to {}", shown(op, Some(from)), shown(op, Some(to)));
    let parts = |ty| match op.ctx.type_data(ty) {
        TypeData::MemRef { elem, space, shape, .. } => Some((*elem, *space, shape.is_some())),
        _ => None,
    };
    let (Some((a, b, ranked)), Some((c, d, also))) = (parts(from), parts(to)) else {
        return Err(why());
    };
    ensure((a, b) == (c, d) && (ranked || also), why)?;
    let Some((from, to)) = pair(op) else { return Ok(()) };
    ensure(is_compatible(from.shape, to.shape), why)?;
    let (Some((a, x)), Some((b, y))) = (strides(op.ctx, &from), strides(op.ctx, &to)) else {
        return Ok(());
    };
    let fits = |a: i64, b: i64| a == b || a == DYNAMIC || b == DYNAMIC;
    // The stride of a dimension with one place is none.
    let mut dims = from.shape.iter().zip(a.iter().zip(&b));
    ensure(
        fits(x, y) && dims.all(|(&extent, (&a, &b))| extent == 1 || fits(a, b)),
        why,
    )
}

fn copied(op: OpView<'_>) -> Checked {
    let (Some(from), Some(to)) = (buffer(op, op.operand_type(0)), buffer(op, op.operand_type(1))) else {
        return Ok(());
    };
    ensure(from.elem == to.elem && is_compatible(from.shape, to.shape), || {
        "both buffers must have the same shape and elements".to_owned()
    })
}

fn subview(op: OpView<'_>) -> Checked {
    let Some((from, to)) = pair(op) else { return Ok(()) };
    let slice = Slice::of(op, from.shape.len())?;
    ensure(from.elem == to.elem && from.space == to.space, || {
        "the view must have the elements and the memory space of the buffer".to_owned()
    })?;
    let kept = slice.kept(to.shape).ok_or_else(|| {
        format!(
            "a view of the sizes {:?} cannot be {}",
            slice.shown_sizes(),
            shown(op, op.result_type(0))
        )
    })?;
    let Some((own, offset)) = strides(op.ctx, &from) else {
        // The places that a map specifies are not known here.
        return Ok(());
    };
    let Some((found, begins)) = strides(op.ctx, &to) else {
        return Ok(());
    };
    let times = |a: i64, b: i64| {
        if a == DYNAMIC || b == DYNAMIC {
            DYNAMIC
        } else {
            a.saturating_mul(b)
        }
    };
    let start = slice
        .offsets
        .iter()
        .zip(&own)
        .fold(offset, |sum, (&at, &stride)| match times(at, stride) {
            // Nothing is added, whatever the stride.
            _ if at == 0 => sum,
            DYNAMIC => DYNAMIC,
            part if sum != DYNAMIC => sum.saturating_add(part),
            _ => DYNAMIC,
        });
    let wanted: Vec<i64> = kept.iter().map(|&at| times(own[at], slice.strides[at])).collect();
    ensure(wanted == found && start == begins, || {
        let list: Vec<String> = wanted.iter().map(|&stride| extent(stride)).collect();
        format!(
            "the view has the layout `strided<[{}], offset: {}>`",
            list.join(", "),
            extent(start)
        )
    })
}

fn reinterpreted(op: OpView<'_>) -> Checked {
    let Some(to) = buffer(op, op.result_type(0)) else {
        return Ok(());
    };
    let from = op.operand_type(0).map(|ty| op.ctx.type_data(ty));
    if let Some(TypeData::MemRef { elem, space, .. }) = from {
        ensure((*elem, *space) == (to.elem, to.space), || {
            "both buffers must have the same elements and memory space".to_owned()
        })?;
    }
    let (Some(offsets), Some(sizes), Some(steps)) = (
        ints(op, "static_offsets"),
        ints(op, "static_sizes"),
        ints(op, "static_strides"),
    ) else {
        return Ok(());
    };
    ensure(offsets.len() == 1, || {
        format!("it needs 1 offset, found {}", offsets.len())
    })?;
    ensure(sizes.len() == to.shape.len() && steps.len() == sizes.len(), || {
        format!(
            "it needs a size and a stride for each of {}",
            plural(to.shape.len(), "dimension")
        )
    })?;
    let sizes: Vec<i64> = sizes.into_iter().map(known).collect();
    // What the type leaves open may be anything.
    let fits = |wanted: i64, given: i64| wanted == DYNAMIC || wanted == given;
    ensure(to.shape.iter().zip(&sizes).all(|(&to, &size)| fits(to, size)), || {
        format!("the sizes are not those of {}", shown(op, op.result_type(0)))
    })?;
    let layout = strides(op.ctx, &to);
    let (found, begins) = layout.ok_or("the result must have a strided layout")?;
    let steps: Vec<i64> = steps.into_iter().map(known).collect();
    let strided = found.iter().zip(&steps).all(|(&to, &step)| fits(to, step));
    ensure(strided && fits(begins, known(offsets[0])), || {
        format!(
            "the offset and the strides are not those of {}",
            shown(op, op.result_type(0))
        )
    })
}

fn reshaped(op: OpView<'_>, expands: bool) -> Checked {
    let Some((from, to)) = pair(op) else { return Ok(()) };
    ensure(from.elem == to.elem, || {
        "both buffers must have the same elements".to_owned()
    })?;
    match expands {
        true => groups_fit(op, from.shape, to.shape),
        false => groups_fit(op, to.shape, from.shape),
    }
}

fn transposed(op: OpView<'_>) -> Checked {
    let map = attr(op, "permutation").and_then(MapText::of);
    let (Some((from, to)), Some(map)) = (pair(op), map) else {
        return Ok(());
    };
    let place = |name: &&str| map.dims.iter().position(|dim| dim == name);
    let order: Option<Vec<usize>> = map.results.iter().map(place).collect();
    let is_once = |order: &Vec<usize>| (0..map.dims.len()).all(|dim| order.contains(&dim));
    let order = order.filter(|order| order.len() == map.dims.len() && is_once(order));
    let order = order.ok_or("it needs a permutation")?;
    ensure(order.len() == from.shape.len(), || {
        format!("the permutation must be of {}", plural(from.shape.len(), "dimension"))
    })?;
    let Some((own, offset)) = strides(op.ctx, &from) else {
        return Ok(());
    };
    let fits = strides(op.ctx, &to)
        .is_none_or(|(found, begins)| found.iter().eq(order.iter().map(|&at| &own[at])) && begins == offset);
    ensure(
        fits && to.shape.iter().eq(order.iter().map(|&at| &from.shape[at])),
        || format!("its result cannot be {}", shown(op, op.result_type(0))),
    )
}

fn viewed(op: OpView<'_>) -> Checked {
    let Some((from, to)) = pair(op) else { return Ok(()) };
    ensure(from.space == to.space, || {
        "both buffers must have the same memory space".to_owned()
    })?;
    sized(to.shape, op.body.num_operands(op.op).saturating_sub(2))
}

fn by_shape(op: OpView<'_>) -> Checked {
    let elem = |ty: Option<Type>| match op.ctx.type_data(ty?) {
        TypeData::MemRef { elem, .. } => Some(*elem),
        _ => None,
    };
    ensure(elem(op.operand_type(0)) == elem(op.result_type(0)), || {
        "both buffers must have the same elements".to_owned()
    })?;
    let (Some(sizes), Some(to)) = (buffer(op, op.operand_type(1)), buffer(op, op.result_type(0))) else {
        return Ok(());
    };
    ensure(sizes.shape == [to.shape.len() as i64], || {
        format!(
            "the shape must have {}, for each dimension of the result",
            plural(to.shape.len(), "number")
        )
    })?;
    let plain = to.layout.is_none() && buffer(op, op.operand_type(0)).is_none_or(|from| from.layout.is_none());
    ensure(plain, || "the buffers must have no layout".to_owned())
}

/// An index for each dimension of the buffer `of`, from the operand `first` on.
fn indexed(op: OpView<'_>, of: usize, first: usize) -> Checked {
    let Some(of) = buffer(op, op.operand_type(of)) else {
        return Ok(());
    };
    let found = op.body.num_operands(op.op).saturating_sub(first);
    ensure(found == of.shape.len(), || {
        format!(
            "the buffer has {}, found {found} indices",
            plural(of.shape.len(), "dimension")
        )
    })
}

fn updated(op: OpView<'_>) -> Checked {
    indexed(op, 1, 2)?;
    let (Some(kind), Some(ty)) = (int(op, "kind"), op.operand_type(0)) else {
        return Ok(());
    };
    // addf, maximumf, minimumf, mulf, maxnumf, minnumf; assign takes both.
    let is_float = matches!(kind, 0 | 3 | 6 | 9 | 13 | 14);
    let fits = kind == 2 || is_float == op.ctx.is_float(ty);
    ensure(fits, || {
        format!(
            "this kind of update takes {}",
            if is_float { "a float" } else { "an integer" }
        )
    })
}

fn global(op: OpView<'_>) -> Checked {
    let Some(AttrData::Type(ty)) = attr(op, "type") else {
        return Ok(());
    };
    let fits =
        matches!(op.ctx.type_data(*ty), TypeData::MemRef { shape: Some(shape), .. } if !shape.contains(&DYNAMIC));
    ensure(fits, || {
        format!(
            "its type must be a `memref` of static shape, found `{}`",
            print_type(op.ctx, *ty)
        )
    })?;
    if let Some(AttrData::Str(visibility)) = attr(op, "sym_visibility") {
        ensure(matches!(&**visibility, "public" | "private" | "nested"), || {
            format!("`{visibility}` is not a visibility")
        })?;
    }
    aligned(op)
}

fn aligned(op: OpView<'_>) -> Checked {
    let to = int(op, "alignment").unwrap_or(1);
    ensure(u64::try_from(to).is_ok_and(u64::is_power_of_two), || {
        format!("the alignment must be a power of two, found {to}")
    })
}
