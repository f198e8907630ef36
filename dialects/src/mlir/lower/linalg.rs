//! Structured operations of `linalg` as loops over elements.
//!
//! Such an operation has loops, a map for each operand that selects the element of an iteration, and a region that computes the
//! elements of its outputs. `generic` declares all of that, named operations imply it ([`named`](super::named)). What iterations write
//! into buffers is stored, tensors are carried along.

use pir_ir::{BlockId, DYNAMIC, Rewriter, ValueId};
use smallvec::SmallVec;

use super::emit::{self, dimensions, is_buffer};
use super::integer;
use super::map::{Expr, Map, Op};
use super::named::{ELEMENTWISE, NAMED, Named};
use super::segments;
use crate::control::{Control, Made, Parts};
use crate::mlir::index_constant;
use crate::mlir::parallel::nest;
use crate::mlir::values::dim;

const YIELD: &str = "linalg.yield";
const INDEX: &str = "linalg.index";

/// All operations that become loops.
pub(super) fn all() -> Vec<(String, Control)> {
    let mut out: Vec<(String, Control)> = vec![
        ("generic".to_owned(), Control::new(generic)),
        ("map".to_owned(), Control::new(mapped)),
        ("reduce".to_owned(), Control::new(reduced)),
        ("transpose".to_owned(), Control::new(transposed)),
        ("broadcast".to_owned(), Control::new(broadcast)),
    ];
    for &name in ELEMENTWISE {
        out.push((name.to_owned(), Control::new(elementwise)));
    }
    for (names, named) in NAMED {
        for &name in *names {
            out.push((
                name.to_owned(),
                Control::new(move |r, parts| structured(r, parts, named)),
            ));
        }
    }
    for (name, _) in &mut out {
        *name = format!("linalg.{name}");
    }
    out
}

fn rank(r: &Rewriter<'_>, value: ValueId) -> usize {
    emit::shape(r, value).len()
}

fn inputs(count: usize) -> Vec<Expr> {
    (0..count).map(Expr::Input).collect()
}

fn generic(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let maps = super::attr(r, parts, "indexing_maps");
    let pir_ir::AttrData::Array(maps) = r.ctx.attr_data(maps.ok_or("its `indexing_maps` are missing")?) else {
        return Err("its `indexing_maps` are not a list".to_owned());
    };
    let maps: Result<Vec<Map>, String> = maps.iter().map(|&map| Map::of(r.ctx, map)).collect();
    let maps = maps?;
    let loops = maps.first().ok_or("it has no maps")?.inputs;
    if maps.iter().any(|map| map.inputs != loops || map.dims != loops) {
        return Err("the inputs of its maps must be exactly the loops".to_owned());
    }
    let groups = segments(r, parts, 2)?;
    let indices = maps.into_iter().map(|map| map.results).collect();
    loops_of(r, parts, loops, groups[0], groups[1], indices)
}

fn elementwise(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let groups = segments(r, parts, 2)?;
    let loops = groups[1].first().map_or(0, |&out| rank(r, out));
    let indices = parts
        .operands
        .iter()
        .map(|&value| inputs(loops.min(rank(r, value))))
        .collect();
    loops_of(r, parts, loops, groups[0], groups[1], indices)
}

/// `map`: the last operand is what it writes.
fn mapped(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let (last, others) = parts.operands.split_last().ok_or("expected an output")?;
    let loops = rank(r, *last);
    let indices = parts.operands.iter().map(|_| inputs(loops)).collect();
    loops_of(r, parts, loops, others, std::slice::from_ref(last), indices)
}

/// `reduce`: one half of the operands are inputs, the other outputs without the dimensions that are reduced.
fn reduced(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let gone = dimensions(r, parts, "dimensions")?;
    let (from, to) = parts.operands.split_at(parts.operands.len() / 2);
    let loops = from.first().map_or(0, |&value| rank(r, value));
    let kept: Vec<Expr> = (0..loops).filter(|at| !gone.contains(at)).map(Expr::Input).collect();
    let mut indices: Vec<Vec<Expr>> = from.iter().map(|_| inputs(loops)).collect();
    indices.extend(to.iter().map(|_| kept.clone()));
    loops_of(r, parts, loops, from, to, indices)
}

/// `transpose`: dimension `i` of the output is `permutation[i]` of the input.
fn transposed(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let permutation = dimensions(r, parts, "permutation")?;
    let &[from, to] = parts.operands else {
        return Err("expected an input and an output".to_owned());
    };
    let loops = rank(r, to);
    let mut source = vec![None; loops];
    for (at, &dim) in permutation.iter().enumerate() {
        *source.get_mut(dim).ok_or("its `permutation` is not a permutation")? = Some(Expr::Input(at));
    }
    let source: Option<Vec<Expr>> = source.into_iter().collect();
    let source = source.ok_or("its `permutation` is not a permutation")?;
    loops_of(r, parts, loops, &[from], &[to], vec![source, inputs(loops)])
}

/// `broadcast`: the dimensions of the output that the input does not have are `dimensions`.
fn broadcast(r: &mut Rewriter<'_>, parts: &Parts<'_>) -> Made {
    let added = dimensions(r, parts, "dimensions")?;
    let &[from, to] = parts.operands else {
        return Err("expected an input and an output".to_owned());
    };
    let loops = rank(r, to);
    let kept = (0..loops).filter(|at| !added.contains(at)).map(Expr::Input).collect();
    loops_of(r, parts, loops, &[from], &[to], vec![kept, inputs(loops)])
}

/// An operation that its name describes.
fn structured(r: &mut Rewriter<'_>, parts: &Parts<'_>, named: &Named) -> Made {
    let groups = segments(r, parts, 2)?;
    let windows = |name: &str| -> Result<Vec<i128>, String> {
        let Some(attr) = super::attr(r, parts, name) else {
            return Ok(Vec::new());
        };
        let ints = crate::mlir::ints(r.ctx, attr).ok_or_else(|| format!("its `{name}` are unknown"))?;
        Ok(ints.into_iter().map(i128::from).collect())
    };
    let (strides, dilations) = (windows("strides")?, windows("dilations")?);
    let place = |letter: &str| {
        named
            .loops
            .find(letter)
            .map(Expr::Input)
            .ok_or("the extent of a loop is unknown")
    };
    let mut indices = Vec::new();
    for operand in named.operands {
        let mut window = 0;
        let mut list = Vec::new();
        for index in operand.split(',').filter(|index| !index.is_empty()) {
            let Some((out, inner)) = index.split_once('+') else {
                list.push(place(index)?);
                continue;
            };
            let times = |expr: Expr, numbers: &[i128]| match numbers.get(window).copied().unwrap_or(1) {
                1 => expr,
                number => Expr::Of(Op::Mul, Box::new([expr, Expr::Number(number)])),
            };
            let sides = [times(place(out)?, &strides), times(place(inner)?, &dilations)];
            list.push(Expr::Of(Op::Add, Box::new(sides)));
            window += 1;
        }
        indices.push(list);
    }
    loops_of(r, parts, named.loops.len(), groups[0], groups[1], indices)
}

/// How far a loop goes: as a dimension of an operand whose index it is.
fn bound(r: &mut Rewriter<'_>, number: usize, operands: &[ValueId], indices: &[Vec<Expr>]) -> Result<ValueId, String> {
    let found = operands.iter().zip(indices).find_map(|(&value, list)| {
        let at = list.iter().position(|expr| *expr == Expr::Input(number))?;
        Some((value, at))
    });
    let (value, at) = found.ok_or("the extent of a loop does not follow from its operands")?;
    let shape = r.ctx.as_shaped(r.body.value_type(value)).map(|shaped| shaped.0);
    match shape.ok_or("the rank of an operand is unknown")?[at] {
        DYNAMIC => Ok(dim(r, value, at)),
        extent => Ok(index_constant(r, extent.into())),
    }
}

/// Emits the loops; `indices` are those of each operand, of the loops.
fn loops_of(
    r: &mut Rewriter<'_>,
    parts: &Parts<'_>,
    loops: usize,
    ins: &[ValueId],
    outs: &[ValueId],
    indices: Vec<Vec<Expr>>,
) -> Made {
    let operands: Vec<ValueId> = ins.iter().chain(outs).copied().collect();
    let region = parts.regions.first().and_then(|&region| r.body.single_block(region));
    let block = region.ok_or("its region does not have one block")?;
    let args = r.body.block_args(block).to_vec();
    if indices.len() != operands.len() || args.len() != operands.len() && args.len() != ins.len() {
        return Err("its numbers of operands, maps and arguments differ".to_owned());
    }
    for (&value, list) in operands.iter().zip(&indices) {
        if rank(r, value) != list.len() {
            return Err("a map does not have an index for each dimension of its operand".to_owned());
        }
    }
    let tensors: Vec<ValueId> = outs.iter().copied().filter(|&out| !is_buffer(r, out)).collect();
    if tensors.len() != parts.types.len() || tensors.len() != outs.len() && !tensors.is_empty() {
        return Err("it writes tensors and buffers".to_owned());
    }
    let bounds: Result<Vec<ValueId>, String> = (0..loops).map(|at| bound(r, at, &operands, &indices)).collect();
    let bounds = bounds?;
    let (zero, one) = (index_constant(r, 0), index_constant(r, 1));
    let nest = nest(r, [&vec![zero; loops], &bounds, &vec![one; loops]], &tensors);
    let counters = nest.counters.clone();
    // Elements are read first.
    let mut places: Vec<Vec<ValueId>> = Vec::new();
    for (at, list) in indices.iter().enumerate() {
        let place: Result<Vec<ValueId>, String> = list.iter().map(|expr| expr.emit(r, &counters)).collect();
        let place = place?;
        let is_read = args.get(at).is_some_and(|&arg| r.body.uses(arg).next().is_some());
        if is_read {
            let value = match at.checked_sub(ins.len()) {
                Some(out) if !tensors.is_empty() => nest.carried[out],
                _ => operands[at],
            };
            let element = emit::read(r, value, &place)?;
            if r.body.value_type(element) != r.body.value_type(args[at]) {
                return Err("the arguments of its region have other types than the elements".to_owned());
            }
            // A number that all iterations read keeps its own.
            if element != value {
                r.take_name(args[at], element);
            }
            r.replace_value(args[at], element);
        }
        places.push(place);
    }
    let yielded = move_body(r, block, &counters)?;
    if yielded.len() != outs.len() {
        return Err("its region must yield one element for each output".to_owned());
    }
    let is_element = |(&value, &out): (&ValueId, &ValueId)| {
        let shaped = r.ctx.as_shaped(r.body.value_type(out));
        shaped.is_some_and(|(_, elem)| elem == r.body.value_type(value))
    };
    if !yielded.iter().zip(outs).all(is_element) {
        return Err("its region yields elements of another type".to_owned());
    }
    let mut carried: SmallVec<[ValueId; 2]> = SmallVec::new();
    for (at, &value) in yielded.iter().enumerate() {
        let into = nest.carried.get(at).copied().unwrap_or(outs[at]);
        carried.extend(emit::write(r, value, into, &places[ins.len() + at]));
    }
    nest.finish(r, &carried)
}

/// Moves the operations of the region here, with the counters in place of `linalg.index`; gives what it yields.
fn move_body(r: &mut Rewriter<'_>, block: BlockId, counters: &[ValueId]) -> Result<Vec<ValueId>, String> {
    let mut indices = Vec::new();
    if let Some(region) = r.body.block_region(block) {
        let inside = r.body.walk(region);
        indices.extend(inside.filter(|&op| r.ctx.op_str(r.body.op_name(op)) == INDEX));
    }
    for op in indices {
        let parts = Parts {
            operands: &[],
            types: &[],
            regions: &[],
            attrs: r.body.attrs(op),
        };
        let dim = integer(r, &parts, "dim").and_then(|dim| usize::try_from(dim).ok());
        let counter = dim.and_then(|dim| counters.get(dim).copied());
        let counter = counter.ok_or("a `linalg.index` names a loop that does not exist")?;
        let result = r.body.result(op, 0);
        r.replace_value(result, counter);
        r.erase_op(op);
    }
    let mut ops = r.body.block_ops_vec(block);
    let end = ops.pop().filter(|&op| r.ctx.op_str(r.body.op_name(op)) == YIELD);
    let end = end.ok_or_else(|| format!("its region does not end in `{YIELD}`"))?;
    for op in ops {
        r.move_here(op);
    }
    let values = r.body.operands(end).collect();
    r.body.erase_op(end);
    Ok(values)
}
