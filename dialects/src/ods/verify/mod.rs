//! What MLIR verifies of operations that have no definition here, as far as it is not declared in their rows.

pub(super) mod affine;
pub(super) mod bufferization;
pub(super) mod complex;
pub(super) mod linalg;
pub(super) mod memref;
pub(super) mod scf;
pub(super) mod tensor;
pub(super) mod vector;
mod vector_memory;

use pir_ir::text::print_type;
use pir_ir::{Attr, AttrData, DYNAMIC, Diagnostic, OpView, Type};

/// What is wrong with an operation.
type Checked = Result<(), String>;

fn report(op: OpView<'_>, checked: Checked, errors: &mut Vec<Diagnostic>) {
    if let Err(why) = checked {
        let dialect = op.name().split('.').next().unwrap_or_default();
        errors.push(
            Diagnostic::error("inconsistent", format!("`{}`: {why}", op.name()))
                .label(op.body.op_span(op.op), "this operation")
                .help(format!(
                    "`mlir-opt` refuses it too; MLIR's documentation of `{dialect}` describes its operations"
                )),
        );
    }
}

/// Fails if something does not hold.
fn ensure(holds: bool, why: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(why()) }
}

/// An attribute of the operation, be it one of its properties.
fn find(op: OpView<'_>, name: &str) -> Option<Attr> {
    let own = op.body.attrs(op.op);
    op.ctx
        .dict_get(own, name)
        .or_else(|| match op.ctx.attr_data(op.ctx.dict_get(own, "<{}>")?) {
            AttrData::Dict(dict) => op.ctx.dict_get(*dict, name),
            _ => None,
        })
}

fn attr<'a>(op: OpView<'a>, name: &str) -> Option<&'a AttrData> {
    find(op, name).map(|found| op.ctx.attr_data(found))
}

/// The whole numbers of an attribute: a `DenseI64ArrayAttr`, or an array of integers.
fn ints(op: OpView<'_>, name: &str) -> Option<Vec<i64>> {
    crate::mlir::ints(op.ctx, find(op, name)?)
}

/// A type in a message.
fn shown(op: OpView<'_>, ty: Option<Type>) -> String {
    ty.map_or_else(|| "nothing".to_owned(), |ty| format!("`{}`", print_type(op.ctx, ty)))
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// How many items an array has.
fn length(op: OpView<'_>, name: &str) -> Option<usize> {
    match attr(op, name)? {
        AttrData::Array(items) => Some(items.len()),
        AttrData::Ints(items) => Some(items.len()),
        _ => None,
    }
}

/// A whole number of an attribute.
fn int(op: OpView<'_>, name: &str) -> Option<i64> {
    match attr(op, name)? {
        AttrData::Int { value, .. } => i64::try_from(*value).ok(),
        _ => None,
    }
}

/// How many operands each group has.
fn segments<const N: usize>(op: OpView<'_>) -> Option<[usize; N]> {
    let sizes = ints(op, "operandSegmentSizes")?;
    let sizes: Option<Vec<usize>> = sizes.into_iter().map(|size| usize::try_from(size).ok()).collect();
    sizes?.try_into().ok()
}

/// How many extents are not known.
fn dynamic(shape: &[i64]) -> usize {
    shape.iter().filter(|&&extent| extent == DYNAMIC).count()
}

/// Whether both may be the shape of the same value.
fn is_compatible(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| a == b || a == DYNAMIC || b == DYNAMIC)
}

/// A rectangle of places: an offset, a size and a stride for each dimension, [`DYNAMIC`] where they are operands.
struct Slice {
    offsets: Vec<i64>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

impl Slice {
    /// The slice of a value of so many dimensions.
    fn of(op: OpView<'_>, rank: usize) -> Result<Self, String> {
        let list = |name: &str| -> Result<Vec<i64>, String> {
            let numbers = ints(op, name).ok_or_else(|| format!("the attribute `{name}` is missing"))?;
            ensure(numbers.len() == rank, || {
                let noun = name.trim_start_matches("static_").trim_end_matches('s');
                format!("it needs {}, found {}", plural(rank, noun), numbers.len())
            })?;
            Ok(numbers
                .into_iter()
                .map(|n| if n == i64::MIN { DYNAMIC } else { n })
                .collect())
        };
        let [offsets, sizes, strides] = ["static_offsets", "static_sizes", "static_strides"].map(list);
        let slice = Slice {
            offsets: offsets?,
            sizes: sizes?,
            strides: strides?,
        };
        let wrong = slice.offsets.iter().chain(&slice.sizes).find(|&&n| n < DYNAMIC);
        match wrong {
            Some(number) => Err(format!("offsets and sizes must not be negative, found {number}")),
            None => Ok(slice),
        }
    }

    /// The dimensions that a result of this shape has: all, or without some that have one place.
    fn kept(&self, shape: &[i64]) -> Option<Vec<usize>> {
        let mut kept = Vec::new();
        for (at, &size) in self.sizes.iter().enumerate() {
            let left = self.sizes.len() - at;
            let wanted = shape.len() - kept.len();
            match shape.get(kept.len()) {
                Some(&extent)
                    if extent == size
                        && (size != 1 || left == wanted || self.rest_fits(at + 1, shape, kept.len() + 1)) =>
                {
                    kept.push(at);
                }
                _ if size == 1 => {}
                _ => return None,
            }
        }
        (kept.len() == shape.len()).then_some(kept)
    }

    /// Whether the sizes from `at` on, some of one place left out, are the extents from `from` on.
    fn rest_fits(&self, at: usize, shape: &[i64], from: usize) -> bool {
        let sizes = self.sizes[at..].iter().filter(|&&size| size != 1);
        let extents = shape.get(from..).unwrap_or_default();
        let ones = |list: &[i64]| list.iter().filter(|&&extent| extent == 1).count();
        sizes.eq(extents.iter().filter(|&&extent| extent != 1)) && ones(extents) <= ones(&self.sizes[at..])
    }

    fn shown_sizes(&self) -> String {
        let all: Vec<String> = self
            .sizes
            .iter()
            .map(|&n| if n == DYNAMIC { "?".to_owned() } else { n.to_string() })
            .collect();
        format!("[{}]", all.join(", "))
    }
}

/// Whether groups of the dimensions of one shape are the dimensions of another. With `exact`, a dimension is unknown if and only if its
/// group has an unknown one.
fn groups_fit(op: OpView<'_>, collapsed: &[i64], expanded: &[i64], exact: bool) -> Checked {
    let Some(AttrData::Array(groups)) = attr(op, "reassociation") else {
        return Ok(());
    };
    let groups: Option<Vec<Vec<i64>>> = groups.iter().map(|&group| crate::mlir::ints(op.ctx, group)).collect();
    let Some(groups) = groups else { return Ok(()) };
    if collapsed.is_empty() {
        return ensure(expanded.iter().all(|&extent| extent == 1 || extent == DYNAMIC), || {
            "a value of rank 0 has one element".to_owned()
        });
    }
    ensure(groups.len() == collapsed.len(), || {
        format!(
            "it needs a group for each of {}, found {}",
            plural(collapsed.len(), "dimension"),
            groups.len()
        )
    })?;
    let all = groups.iter().flatten().copied();
    ensure(all.eq(0..expanded.len() as i64), || {
        format!(
            "its groups must have each of {} once, in order",
            plural(expanded.len(), "dimension")
        )
    })?;
    for (at, (group, &extent)) in groups.iter().zip(collapsed).enumerate() {
        let extents: Vec<i64> = group.iter().map(|&dim| expanded[dim as usize]).collect();
        let product = match extents.contains(&DYNAMIC) {
            true => DYNAMIC,
            false => extents
                .iter()
                .fold(1i64, |product, &extent| product.saturating_mul(extent)),
        };
        let fits = product == extent || !exact && (product == DYNAMIC || extent == DYNAMIC);
        ensure(fits, || {
            let number = |n: i64| if n == DYNAMIC { "?".to_owned() } else { n.to_string() };
            format!(
                "dimension {at} has {} places, and its group {}",
                number(extent),
                number(product)
            )
        })?;
    }
    match ints(op, "static_output_shape") {
        Some(given) => ensure(given.len() == expanded.len(), || {
            format!("it needs {}, found {}", plural(expanded.len(), "extent"), given.len())
        }),
        None => Ok(()),
    }
}
