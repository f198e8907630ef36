//! Matrix products, and operations that move elements.

use pir_ir::{DYNAMIC, InferArgs, Type, TypeData};
use smallvec::SmallVec;

use super::{
    Dims, Shaped, Types, axes, axis, broadcast, count, dims_text, flag, int, ints, is_operand, one, operand, spelled,
};

pub(in super::super) fn matmul(args: InferArgs<'_>) -> Types {
    let (x, y) = (operand(&args, 0)?, operand(&args, 1)?);
    if x.elem != y.elem {
        return Err(format!(
            "element types `{}` and `{}` differ",
            spelled(&args, x.elem),
            spelled(&args, y.elem)
        ));
    }
    let split = |s: &Shaped, row: bool, transposed: bool| -> Result<(Dims, i64, i64), String> {
        let n = s.dims.len();
        Ok(match n {
            0 => return Err("a matrix product needs at least one dimension".to_owned()),
            1 if row => (Dims::new(), 1, s.dims[0]),
            1 => (Dims::new(), s.dims[0], 1),
            _ if transposed => (s.dims[..n - 2].into(), s.dims[n - 1], s.dims[n - 2]),
            _ => (s.dims[..n - 2].into(), s.dims[n - 2], s.dims[n - 1]),
        })
    };
    let (xb, m, k) = split(&x, true, flag(&args, "transpose_x"))?;
    let (yb, k2, n) = split(&y, false, flag(&args, "transpose_y"))?;
    if k != k2 && k != DYNAMIC && k2 != DYNAMIC {
        return Err(format!(
            "the inner dimensions {k} and {k2} of {} and {} differ",
            dims_text(&x.dims),
            dims_text(&y.dims)
        ));
    }
    let mut dims = broadcast(&xb, &yb)?;
    if x.dims.len() > 1 {
        dims.push(m);
    }
    if y.dims.len() > 1 {
        dims.push(n);
    }
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn transpose(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let perm = ints(&args, "perm").ok_or("it needs `perm`")?;
    let order = axes("perm", &perm, x.dims.len())?;
    let dims: Dims = order.into_iter().map(|at| x.dims[at]).collect();
    if dims.len() != x.dims.len() {
        return Err(format!("`perm` has {} axes, the operand {}", perm.len(), x.dims.len()));
    }
    one(Shaped { dims, ..x }.ty(args.ctx))
}

/// The type of the operand, whose axes are named once each.
pub(in super::super) fn flip(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    axes("axis", &ints(&args, "axis").unwrap_or_default(), x.dims.len())?;
    one(x.ty(args.ctx))
}

/// The second operand is the shape of the result; only the rank is static.
fn computed_shape(args: &InferArgs<'_>, elem: Type) -> Types {
    let rank = operand(args, 1)
        .ok()
        .and_then(|s| count(&s.dims))
        .filter(|&n| (0..64).contains(&n));
    let rank = rank.ok_or("the new shape is not constant, so the rank of the result is unknown")?;
    one(args.ctx.tensor(&vec![DYNAMIC; rank as usize], elem))
}

pub(in super::super) fn reshape(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let Some(shape) = ints(&args, "shape") else {
        return computed_shape(&args, x.elem);
    };
    let mut dims = Dims::new();
    let mut open = None;
    for (at, &d) in shape.iter().enumerate() {
        dims.push(match d {
            -1 if open.is_none() => {
                open = Some(at);
                DYNAMIC
            }
            -1 => return Err("only one dimension of a shape can be -1".to_owned()),
            // 0 copies the extent of the operand, unless the operand is empty.
            0 if count(&x.dims) != Some(0) => *x.dims.get(at).ok_or_else(|| {
                format!(
                    "dimension {at} of the shape is 0, but the operand has {} dimensions",
                    x.dims.len()
                )
            })?,
            d if d >= 0 => d,
            d => return Err(format!("a dimension of a shape cannot be {d}")),
        });
    }
    let total = count(&x.dims);
    if let Some(at) = open {
        let rest: Dims = dims
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != at)
            .map(|(_, &d)| d)
            .collect();
        if let (Some(total), Some(rest)) = (total, count(&rest)) {
            if rest == 0 || total % rest != 0 {
                return Err(format!("{total} elements do not match shape {}", dims_text(&shape)));
            }
            dims[at] = total / rest;
        }
    } else if let (Some(total), Some(new)) = (total, count(&dims))
        && total != new
    {
        return Err(format!("{total} elements do not match shape {}", dims_text(&shape)));
    }
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn squeeze(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    if is_operand(&args, "axis") {
        return Err("the axes are not constant, so the rank of the result is unknown".to_owned());
    }
    let axes = ints(&args, "axis").unwrap_or_default();
    let mut gone: Vec<bool> = x.dims.iter().map(|&d| axes.is_empty() && d == 1).collect();
    for a in axes {
        let at = axis(a, x.dims.len().max(1))?;
        // As in Paddle, a dimension with another extent stays, and so does one that a scalar lacks.
        if let Some(gone) = gone.get_mut(at) {
            *gone = matches!(x.dims[at], 1 | DYNAMIC);
        }
    }
    let dims = x
        .dims
        .iter()
        .zip(gone)
        .filter(|(_, gone)| !gone)
        .map(|(&d, _)| d)
        .collect();
    one(args.ctx.tensor(
        &{
            let d: Dims = dims;
            d
        },
        x.elem,
    ))
}

pub(in super::super) fn unsqueeze(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    if is_operand(&args, "axis") {
        return Err("the axes are not constant, so the rank of the result is unknown".to_owned());
    }
    let mut dims = x.dims.clone();
    // Axes are inserted in sequence, each relative to the rank so far.
    for a in ints(&args, "axis").unwrap_or_default() {
        let at = axis(a, dims.len() + 1)?;
        dims.insert(at, 1);
    }
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn flatten(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    if x.dims.is_empty() {
        return one(args.ctx.tensor(&[1], x.elem));
    }
    let rank = x.dims.len();
    let start = axis(int(&args, "start_axis").unwrap_or(1), rank)?;
    let stop = axis(int(&args, "stop_axis").unwrap_or(-1), rank)?;
    if start > stop {
        return Err(format!("`start_axis` {start} is after `stop_axis` {stop}"));
    }
    let mut dims: Dims = x.dims[..start].into();
    dims.push(count(&x.dims[start..=stop]).unwrap_or(DYNAMIC));
    dims.extend_from_slice(&x.dims[stop + 1..]);
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn expand(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let Some(shape) = ints(&args, "shape") else {
        return computed_shape(&args, x.elem);
    };
    if shape.len() < x.dims.len() {
        return Err(format!(
            "shape {} has fewer dimensions than the operand's {}",
            dims_text(&shape),
            dims_text(&x.dims)
        ));
    }
    let lead = shape.len() - x.dims.len();
    let mut dims = Dims::new();
    for (at, &d) in shape.iter().enumerate() {
        let old = at.checked_sub(lead).map_or(1, |i| x.dims[i]);
        dims.push(match d {
            -1 if at >= lead => old,
            d if d >= 0 && (old == d || old == 1 || old == DYNAMIC) => d,
            _ => return Err(does_not_broadcast(&x.dims, &shape)),
        });
    }
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn expand_as(args: InferArgs<'_>) -> Types {
    let (x, y) = (operand(&args, 0)?, operand(&args, 1)?);
    let dims = broadcast(&x.dims, &y.dims)?;
    // Another shape than that of `y` means that `x` has more dimensions, or larger ones.
    let differs = |(&given, &dim): (&i64, &i64)| given != dim && given != DYNAMIC;
    if dims.len() > y.dims.len() || y.dims.iter().zip(&dims).any(differs) {
        return Err(does_not_broadcast(&x.dims, &y.dims));
    }
    one(args.ctx.tensor(&dims, x.elem))
}

fn does_not_broadcast(from: &[i64], to: &[i64]) -> String {
    format!("shape {} does not broadcast to {}", dims_text(from), dims_text(to))
}

pub(in super::super) fn tile(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let Some(repeat) = ints(&args, "repeat_times") else {
        let times = operand(&args, 1)?;
        let &[count] = &times.dims[..] else {
            return Err("the number of repetitions is unknown, so the shape of the result is too".to_owned());
        };
        if count == DYNAMIC || count > 64 {
            return Err("the number of repetitions is unknown or too large".to_owned());
        }
        let rank = x.dims.len().max(count as usize);
        return one(args.ctx.tensor(&vec![DYNAMIC; rank], x.elem));
    };
    let rank = x.dims.len().max(repeat.len());
    let at = |list: &[i64], i: usize| (i + list.len()).checked_sub(rank).map_or(1, |j| list[j]);
    let mut dims = Dims::new();
    for i in 0..rank {
        let (d, r) = (at(&x.dims, i), at(&repeat, i));
        if r < 0 {
            return Err(format!("a number of repetitions cannot be {r}"));
        }
        dims.push(if d == DYNAMIC {
            DYNAMIC
        } else {
            d.checked_mul(r).ok_or("the result is too large")?
        });
    }
    one(args.ctx.tensor(&dims, x.elem))
}

/// The tensors of a variadic operation: operands, or the elements of lists.
pub(in super::super) fn elements(args: &InferArgs<'_>) -> SmallVec<[Type; 4]> {
    let mut out = SmallVec::new();
    for &v in args.operands {
        let ty = args.body.value_type(v);
        match args.ctx.type_data(ty) {
            TypeData::List(items) => out.extend(items.iter().copied()),
            _ => out.push(ty),
        }
    }
    out
}

pub(in super::super) fn concat(args: InferArgs<'_>) -> Types {
    let lists = args
        .operands
        .iter()
        .map(|&v| args.ctx.type_data(args.body.value_type(v)));
    let lists = lists.filter(|ty| matches!(ty, TypeData::List(_))).count();
    // In programs of PaddlePaddle an operand after a list is the axis, but in the text it would be read as another
    // tensor.
    if args.attr("axis").is_none() && lists > 0 && lists < args.operands.len() {
        return Err(
            "the operands are a list and a tensor, without an attribute `axis`: a computed axis is not supported; \
             give `axis`, or put all tensors in the list"
                .to_owned(),
        );
    }
    let parts: Vec<Shaped> = elements(&args)
        .into_iter()
        .map(|t| Shaped::of(args.ctx, t).ok_or_else(|| format!("`{}` is not a tensor", spelled(&args, t))))
        .collect::<Result<_, _>>()?;
    let first = parts.first().ok_or("it needs at least one operand")?.clone();
    let at = axis(int(&args, "axis").unwrap_or(0), first.dims.len())?;
    let mut dims = first.dims.clone();
    for part in &parts[1..] {
        if part.elem != first.elem || part.dims.len() != dims.len() {
            return Err("all operands must have the same element type and rank".to_owned());
        }
        for (i, &d) in part.dims.iter().enumerate() {
            dims[i] = match (i == at, dims[i], d) {
                (true, DYNAMIC, _) | (true, _, DYNAMIC) => DYNAMIC,
                (true, a, b) => a.checked_add(b).ok_or("the result is too large")?,
                (false, DYNAMIC, b) => b,
                (false, a, b) if a == b || b == DYNAMIC => a,
                _ => {
                    return Err(format!(
                        "shapes {} and {} differ in a dimension other than axis {at}",
                        dims_text(&first.dims),
                        dims_text(&part.dims)
                    ));
                }
            };
        }
    }
    one(args.ctx.tensor(&dims, first.elem))
}

/// Pieces as a list.
fn pieces(args: &InferArgs<'_>, x: &Shaped, at: usize, sizes: &[i64]) -> Types {
    let types: SmallVec<[Type; 2]> = sizes
        .iter()
        .map(|&size| {
            let mut dims = x.dims.clone();
            dims[at] = size;
            args.ctx.tensor(&dims, x.elem)
        })
        .collect();
    Ok(types)
}

pub(in super::super) fn split(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let sections = ints(&args, "sections").ok_or("the sizes of the pieces are not constant")?;
    let at = axis(int(&args, "axis").unwrap_or(0), x.dims.len())?;
    let open = sections.iter().filter(|&&s| s == -1).count();
    let mut sizes = sections.iter().filter(|&&s| s != -1);
    let known = sizes.try_fold(0i64, |sum, &size| sum.checked_add(size));
    let known = known.ok_or("the sizes of the pieces are too large")?;
    if open > 1 || sections.iter().any(|&s| s < -1) {
        return Err(format!("sizes {} are not valid sizes of pieces", dims_text(&sections)));
    }
    let total = x.dims[at];
    if total != DYNAMIC && ((open == 0 && known != total) || known > total) {
        return Err(format!(
            "pieces of sizes {} do not add up to {total}",
            dims_text(&sections)
        ));
    }
    let sizes: Vec<i64> = sections
        .iter()
        .map(|&s| if s == -1 && total != DYNAMIC { total - known } else { s })
        .collect();
    pieces(&args, &x, at, &sizes)
}

pub(in super::super) fn split_with_num(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let num = int(&args, "num")
        .filter(|&n| n > 0)
        .ok_or("it needs a positive `num`")?;
    let at = axis(int(&args, "axis").unwrap_or(0), x.dims.len())?;
    let total = x.dims[at];
    if total != DYNAMIC && total % num != 0 {
        return Err(format!("{total} elements cannot be divided into {num} equal pieces"));
    }
    if num > 1 << 20 {
        return Err(format!("{num} pieces are too many"));
    }
    let size = if total == DYNAMIC { DYNAMIC } else { total / num };
    pieces(&args, &x, at, &vec![size; num as usize])
}

pub(in super::super) fn stack(args: InferArgs<'_>) -> Types {
    let parts = elements(&args);
    let first = *parts.first().ok_or("it needs at least one operand")?;
    let x = Shaped::of(args.ctx, first).ok_or("the operands must be tensors")?;
    if let Some(&other) = parts
        .iter()
        .find(|&&t| t != first && args.ctx.is_static(t) && args.ctx.is_static(first))
    {
        return Err(format!(
            "all operands must have type `{}`, not `{}`",
            spelled(&args, first),
            spelled(&args, other)
        ));
    }
    let at = axis(int(&args, "axis").unwrap_or(0), x.dims.len() + 1)?;
    let mut dims = x.dims.clone();
    dims.insert(at, parts.len() as i64);
    one(args.ctx.tensor(&dims, x.elem))
}

pub(in super::super) fn unstack(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let at = axis(int(&args, "axis").unwrap_or(0), x.dims.len())?;
    let mut dims = x.dims.clone();
    let n = dims.remove(at);
    let n = match (n, int(&args, "num").unwrap_or(0)) {
        (DYNAMIC, num) if num > 0 => num,
        (DYNAMIC, _) => return Err("the number of slices is unknown: give `num`".to_owned()),
        (n, num) if num == 0 || num == n => n,
        (n, num) => return Err(format!("`num` is {num}, but there are {n} slices")),
    };
    if n > 1 << 20 {
        return Err(format!("{n} slices are too many"));
    }
    Ok(std::iter::repeat_n(args.ctx.tensor(&dims, x.elem), n as usize).collect())
}

pub(in super::super) fn pad(args: InferArgs<'_>) -> Types {
    let x = operand(&args, 0)?;
    let paddings = ints(&args, "paddings").ok_or("it needs `paddings`")?;
    if paddings.len() != 2 * x.dims.len() {
        return Err(format!(
            "`paddings` has {} numbers; it needs two for each of {} dimensions",
            paddings.len(),
            x.dims.len()
        ));
    }
    let mut dims = Dims::new();
    for (at, &d) in x.dims.iter().enumerate() {
        let border = paddings[2 * at]
            .checked_add(paddings[2 * at + 1])
            .filter(|_| paddings[2 * at] >= 0 && paddings[2 * at + 1] >= 0);
        let border = border.ok_or("paddings cannot be negative")?;
        dims.push(if d == DYNAMIC {
            DYNAMIC
        } else {
            d.checked_add(border).ok_or("the result is too large")?
        });
    }
    one(args.ctx.tensor(&dims, x.elem))
}
