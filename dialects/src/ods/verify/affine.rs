//! `affine`: maps fit their operands, and indices and bounds are dimensions or symbols.

use crate::mlir::{memref, tensor};
use pir_ir::verify::describe_value;
use pir_ir::{Body, Diagnostic, OpId, OpView, Traits, Type, TypeData, ValueDef, ValueId};
use rustc_hash::FxHashSet;

use super::{Checked, MapText, as_many, attr, ensure, entry, length, plural, report, segments, types};

pub(in crate::ods) fn verify(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let operands: Vec<ValueId> = op.body.operands(op.op).collect();
    let checked = match op.name() {
        "affine.apply" => indices(op).and_then(|()| mapped(op, "map", &operands)).and_then(|map| {
            ensure(map.results.len() == 1, || {
                format!("its map must have 1 result, found {}", map.results.len())
            })
        }),
        "affine.min" | "affine.max" => mapped(op, "map", &operands).map(|_| ()),
        "affine.load" | "affine.prefetch" => access(op, &operands),
        "affine.vector_load" => access(op, &operands).and_then(|()| of_elements(op, 0, op.result_type(0))),
        "affine.store" | "affine.vector_store" => match operands.split_first() {
            Some((_, rest)) if op.name() == "affine.store" => access(op, rest),
            Some((_, rest)) => access(op, rest).and_then(|()| of_elements(op, 1, op.operand_type(0))),
            None => Err("expected a value and a buffer".to_owned()),
        },
        "affine.delinearize_index" => {
            let basis = operands.len().saturating_sub(1);
            ensure(basis > 0 && basis == op.body.num_results(op.op), || {
                format!(
                    "it needs a result for each number of the basis, found {} and {basis}",
                    op.body.num_results(op.op)
                )
            })
        }
        "affine.for" => counted(op, &operands),
        "affine.parallel" => parallel(op, &operands),
        "affine.if" => mapped(op, "condition", &operands)
            .and_then(|map| in_bounds(op, &operands, map.dims.len()))
            .and_then(|()| yields(op, op.body.num_results(op.op)))
            .and_then(|()| {
                let mut blocks = (0..op.body.op_regions(op.op).len()).filter_map(|region| entry(op, region));
                ensure(blocks.all(|block| op.body.block_args(block).is_empty()), || {
                    "its regions must have no arguments".to_owned()
                })
            }),
        _ => Ok(()),
    };
    report(op, checked, errors);
}

/// Vectors are read and written as elements of a buffer of the same, or of elements of theirs.
fn of_elements(op: OpView<'_>, of: usize, value: Option<Type>) -> Checked {
    let (Some(buffer), Some(value)) = (op.operand_type(of), value) else {
        return Ok(());
    };
    let elem = op.ctx.as_elements(buffer).map(|shaped| shaped.1);
    ensure(op.ctx.as_elements(value).map(|shaped| shaped.1) == elem, || {
        "the buffer and the vector must have the same elements".to_owned()
    })
}

/// A map or a set.
fn map<'a>(op: OpView<'a>, name: &str) -> Result<MapText<'a>, String> {
    let map = attr(op, name).and_then(MapText::of);
    map.ok_or_else(|| format!("the attribute `{name}` must be a map or a set"))
}

/// A map, or a set, that has these operands.
fn mapped<'a>(op: OpView<'a>, name: &str, operands: &[ValueId]) -> Result<MapText<'a>, String> {
    let map = map(op, name)?;
    let inputs = map.dims.len() + map.symbols.len();
    ensure(operands.len() == inputs, || {
        let kind = if name == "condition" { "set" } else { "map" };
        format!(
            "its {kind} takes {}, found {}",
            plural(inputs, "operand"),
            operands.len()
        )
    })?;
    Ok(map)
}

/// A buffer, and an index for each of its dimensions.
fn access(op: OpView<'_>, operands: &[ValueId]) -> Checked {
    let Some((&buffer, indices)) = operands.split_first() else {
        return Err("expected a buffer".to_owned());
    };
    let map = mapped(op, "map", indices)?;
    let TypeData::MemRef {
        shape: Some(extents), ..
    } = op.ctx.type_data(op.body.value_type(buffer))
    else {
        return Ok(());
    };
    ensure(map.results.len() == extents.len(), || {
        let (dims, found) = (plural(extents.len(), "dimension"), plural(map.results.len(), "index"));
        format!("the buffer has {dims}, found {found}")
    })?;
    // A symbol can be a dimension, too.
    match indices.iter().find(|&&index| !is_dimension(op, index)) {
        Some(&index) => Err(format!(
            "{} is neither a dimension nor a symbol: {VALID}",
            describe_value(op.ctx, op.body, index)
        )),
        None => Ok(()),
    }
}

const VALID: &str = "those are induction variables of `affine` loops, values that are defined at the top level of the function, constants, \
                     and what `affine.apply` makes of such";

/// The operands of a bound or a condition: dimensions first, then symbols.
fn in_bounds(op: OpView<'_>, operands: &[ValueId], dims: usize) -> Checked {
    for (at, &value) in operands.iter().enumerate() {
        let (good, role) = match at < dims {
            true => (is_dimension(op, value), "dimension"),
            false => (is_symbol(op, value), "symbol"),
        };
        ensure(good, || {
            format!("{} cannot be a {role}: {VALID}", describe_value(op.ctx, op.body, value))
        })?;
    }
    Ok(())
}

fn counted(op: OpView<'_>, operands: &[ValueId]) -> Checked {
    let sizes: [usize; 3] = segments(op).ok_or("expected three groups of operands")?;
    ensure(
        sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)) == Some(operands.len()),
        || "its groups do not have its operands".to_owned(),
    )?;
    let (bounds, inits) = operands.split_at(sizes[0] + sizes[1]);
    for (name, bound) in [
        ("lowerBoundMap", &bounds[..sizes[0]]),
        ("upperBoundMap", &bounds[sizes[0]..]),
    ] {
        let map = mapped(op, name, bound)?;
        ensure(!map.results.is_empty(), || "a bound needs a result".to_owned())?;
        in_bounds(op, bound, map.dims.len())?;
    }
    as_many(inits.len(), "initial value", op.body.num_results(op.op), "result")?;
    yields(op, inits.len())
}

/// Operands and results are of type index.
fn indices(op: OpView<'_>) -> Checked {
    let mut values = op.body.operands(op.op).chain(op.body.results(op.op));
    ensure(values.all(|value| op.body.value_type(value) == Type::INDEX), || {
        "operands and results must be of type `index`".to_owned()
    })
}

fn parallel(op: OpView<'_>, operands: &[ValueId]) -> Checked {
    let (lower, upper) = (map(op, "lowerBoundsMap")?, map(op, "upperBoundsMap")?);
    let inputs = |map: &MapText<'_>| map.dims.len() + map.symbols.len();
    let all = inputs(&lower) + inputs(&upper);
    ensure(all == operands.len(), || {
        format!("its maps take {}, found {}", plural(all, "operand"), operands.len())
    })?;
    let (before, behind) = operands.split_at(inputs(&lower));
    in_bounds(op, before, lower.dims.len())?;
    in_bounds(op, behind, upper.dims.len())?;
    let reductions = length(op, "reductions").unwrap_or(0);
    let results = op.body.num_results(op.op);
    as_many(results, "result", reductions, "reduction")?;
    yields(op, results)
}

/// The regions end with `affine.yield` of this number of values.
fn yields(op: OpView<'_>, wanted: usize) -> Checked {
    for region in 0..op.body.op_regions(op.op).len() {
        let end = entry(op, region).and_then(|block| op.body.last_op(block));
        let found = end.map_or(0, |end| op.body.num_operands(end));
        let may_be_empty = wanted == 0 && end.is_none();
        ensure(may_be_empty || found == wanted, || {
            format!("its region must yield {}, found {found}", plural(wanted, "value"))
        })?;
        let given = types(op, end.into_iter().flat_map(|end| op.body.operands(end)));
        ensure(given == types(op, op.body.results(op.op)), || {
            "its region must yield values of the types of the results".to_owned()
        })?;
    }
    Ok(())
}

/// Whether the value is defined at the top level of the function.
fn is_at_top(body: &Body, value: ValueId) -> bool {
    let region = match body.value_def(value) {
        ValueDef::Result(op, _) => body.op_region(op),
        ValueDef::Arg(block, _) => body.block_region(block),
        ValueDef::None => None,
    };
    region == Some(body.root())
}

/// Whether the value can be a dimension.
fn is_dimension(op: OpView<'_>, value: ValueId) -> bool {
    all_valid(op, value, |body, value| match body.value_def(value) {
        ValueDef::Arg(block, _) => body
            .block_parent(block)
            .is_some_and(|parent| matches!(body.view(op.ctx, parent).name(), "affine.for" | "affine.parallel")),
        _ => false,
    })
}

/// Whether the value can be a symbol.
fn is_symbol(op: OpView<'_>, value: ValueId) -> bool {
    all_valid(op, value, |_, _| false)
}

/// Whether the operation is in one that nothing is known of, which may be an affine scope: then values from outside are symbols.
fn may_have_scope(op: OpView<'_>) -> bool {
    let around = std::iter::successors(op.body.parent_op(op.op), |&around| op.body.parent_op(around));
    around.into_iter().any(|around| {
        let name = op.body.op_name(around);
        op.ctx.op_def(name).is_none() && op.ctx.ods(name).is_none()
    })
}

/// Whether the value, and what `affine.apply` makes it of, is at the top level, a constant, an extent, or `other`.
fn all_valid(op: OpView<'_>, value: ValueId, other: impl Fn(&Body, ValueId) -> bool) -> bool {
    let (body, mut seen, mut pending) = (op.body, FxHashSet::default(), vec![value]);
    while let Some(value) = pending.pop() {
        if !seen.insert(value) || is_at_top(body, value) && body.value_type(value) == Type::INDEX || other(body, value)
        {
            continue;
        }
        let Some(maker) = body.defining_op(value) else {
            return may_have_scope(op);
        };
        match body.view(op.ctx, maker).name() {
            "affine.apply" => pending.extend(body.operands(maker)),
            memref::Dim::NAME | tensor::Dim::NAME => {}
            _ if is_constant(op, maker) => {}
            _ => return may_have_scope(op),
        }
    }
    true
}

fn is_constant(op: OpView<'_>, maker: OpId) -> bool {
    let view = op.body.view(op.ctx, maker);
    // Whether an operation that nothing is known of is a constant is not known either.
    view.has(Traits::CONSTANT) || view.def().is_none() && op.ctx.ods(op.body.op_name(maker)).is_none()
}
