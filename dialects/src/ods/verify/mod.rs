//! What MLIR verifies of operations, as far as it is not declared in their rows, and by definitions of those that have one.

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
use pir_ir::{Attr, AttrData, BlockId, DYNAMIC, Diagnostic, OpView, Type, ValueId};
use smallvec::SmallVec;

use crate::mlir::lower::property;

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
    property(op.ctx, op.body.attrs(op.op), name)
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
    match (count, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "index") => format!("{count} indices"),
        (_, "entry") => format!("{count} entries"),
        _ => format!("{count} {noun}s"),
    }
}

/// A number of places in a message, and in a type.
fn extent(n: i64) -> String {
    if n == DYNAMIC { "?".to_owned() } else { n.to_string() }
}

/// A number of an attribute, where the smallest one marks a dynamic operand.
fn known(n: i64) -> i64 {
    if n == i64::MIN { DYNAMIC } else { n }
}

/// Whether a list has each number below `count` once.
fn is_permutation(order: &[i64], count: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..count as i64)
}

/// A shape without some of its dimensions.
fn without(shape: &[i64], dims: &[i64]) -> Vec<i64> {
    let kept = shape.iter().enumerate().filter(|(at, _)| !dims.contains(&(*at as i64)));
    kept.map(|(_, &extent)| extent).collect()
}

/// A result of this shape needs a size for each extent that its type leaves open.
fn sized(shape: &[i64], found: usize) -> Checked {
    let wanted = shape.iter().filter(|&&extent| extent == DYNAMIC).count();
    ensure(found == wanted, || {
        format!(
            "the result has {}, found {}",
            plural(wanted, "unknown extent"),
            plural(found, "size")
        )
    })
}

/// As many of one thing as of another.
fn as_many(a: usize, noun: &str, b: usize, other: &str) -> Checked {
    ensure(a == b, || {
        format!("it has {} and {}", plural(a, noun), plural(b, other))
    })
}

/// The first block of a region.
fn entry(op: OpView<'_>, region: usize) -> Option<BlockId> {
    let &region = op.body.op_regions(op.op).get(region)?;
    op.body.entry_block(region)
}

fn types(op: OpView<'_>, values: impl IntoIterator<Item = ValueId>) -> SmallVec<[Type; 6]> {
    values.into_iter().map(|value| op.body.value_type(value)).collect()
}

/// What is in the text of an affine map or set: the names of dimensions and symbols, and what follows the arrow or the colon.
struct MapText<'a> {
    dims: SmallVec<[&'a str; 8]>,
    symbols: SmallVec<[&'a str; 8]>,
    results: SmallVec<[&'a str; 8]>,
}

impl<'a> MapText<'a> {
    /// The map of an attribute. Its reader has checked it.
    fn of(attr: &'a AttrData) -> Option<Self> {
        let AttrData::Opaque(text) = attr else { return None };
        let mut starts = ["affine_map<", "affine_set<"].into_iter();
        let inside = starts.find_map(|start| text.strip_prefix(start))?.strip_suffix('>')?;
        let (given, results) = inside.split_once("->").or_else(|| inside.split_once(':'))?;
        let (dims, symbols) = given.split_once('[').unwrap_or((given, "]"));
        Some(MapText {
            dims: items(dims.trim().strip_prefix('(')?.strip_suffix(')')?),
            symbols: items(symbols.trim().strip_suffix(']')?),
            results: items(results.trim().strip_prefix('(')?.strip_suffix(')')?),
        })
    }
}

/// The items of a list, at commas outside of parentheses.
fn items(list: &str) -> SmallVec<[&str; 8]> {
    let mut depth = 0;
    let separates = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    list.split(separates)
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .collect()
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
    /// The slice of a value of this rank.
    fn of(op: OpView<'_>, rank: usize) -> Result<Self, String> {
        let list = |name: &str| -> Result<Vec<i64>, String> {
            let numbers = ints(op, name).ok_or_else(|| format!("the attribute `{name}` is missing"))?;
            ensure(numbers.len() == rank, || {
                let noun = name.trim_start_matches("static_").trim_end_matches('s');
                format!("it needs {}, found {}", plural(rank, noun), numbers.len())
            })?;
            Ok(numbers.into_iter().map(known).collect())
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
        let all: Vec<String> = self.sizes.iter().map(|&size| extent(size)).collect();
        format!("[{}]", all.join(", "))
    }
}

/// Whether groups of the dimensions of one shape are the dimensions of another: one is unknown if and only if its group has an unknown
/// one.
fn groups_fit(op: OpView<'_>, collapsed: &[i64], expanded: &[i64]) -> Checked {
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
    for (at, (group, &places)) in groups.iter().zip(collapsed).enumerate() {
        let extents: Vec<i64> = group.iter().map(|&dim| expanded[dim as usize]).collect();
        let product = match extents.contains(&DYNAMIC) {
            true => DYNAMIC,
            false => extents
                .iter()
                .fold(1i64, |product, &extent| product.saturating_mul(extent)),
        };
        ensure(product == places, || {
            format!(
                "dimension {at} has {} places, and its group {}",
                extent(places),
                extent(product)
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
