//! Rules of operations whose results are given, not inferred.

use std::cmp::Ordering;

use pir_ir::text::print_type;
use pir_ir::verify::compatible;
use pir_ir::{DYNAMIC, Diagnostic, OpView, Type, TypeData, ValueId};

use super::attrs::{Attrs, List};
use super::dims::{Dot, Gather, agree, convolution_places, window_places};
use super::from_pd::width;
use super::infer::are_dims;
use super::linalg::Call;
use super::refine::convolved;

type Rule = fn(&Check<'_>) -> Result<(), String>;

/// An operation that is checked.
struct Check<'a> {
    op: OpView<'a>,
    attrs: Attrs<'a>,
}

impl<'a> Check<'a> {
    fn tensor(&self, ty: Option<Type>, what: &str) -> Result<(&'a [i64], Type), String> {
        let ty = ty.ok_or_else(|| format!("{what} is missing"))?;
        let tensor = self.op.ctx.as_tensor(ty);
        tensor.ok_or_else(|| format!("{what} must be a tensor, found `{}`", print_type(self.op.ctx, ty)))
    }

    fn operand(&self, index: usize) -> Result<(&'a [i64], Type), String> {
        self.tensor(self.op.operand_type(index), "the operand")
    }

    fn result(&self) -> Result<(&'a [i64], Type), String> {
        self.tensor(self.op.result_type(0), "the result")
    }

    /// The result has these dimensions and elements.
    fn expect(&self, dims: &[i64], elem: Type) -> Result<(), String> {
        self.expect_at(0, dims, elem)
    }

    fn expect_at(&self, index: usize, dims: &[i64], elem: Type) -> Result<(), String> {
        let ctx = self.op.ctx;
        let found = self.op.result_type(index).unwrap_or(Type::NONE);
        let (shape, of) = self.tensor(self.op.result_type(index), "the result")?;
        match agree(shape, dims) && of == elem {
            true => Ok(()),
            false => Err(format!(
                "the result has type `{}`, but operands and attributes give `{}`",
                print_type(ctx, found),
                print_type(ctx, ctx.tensor(dims, elem))
            )),
        }
    }

    /// The class of an element type: booleans, integers, floats or complex numbers. A wider type may accumulate a
    /// narrower one.
    fn kind(&self, elem: Type) -> u8 {
        match self.op.ctx.type_data(elem) {
            _ if elem == Type::I1 => 0,
            TypeData::Integer { .. } => 1,
            TypeData::Float(_) => 2,
            _ => 3,
        }
    }

    /// The types of a region's arguments, and of the values that it returns.
    fn region(&self, at: usize) -> Result<[Vec<Type>; 2], String> {
        let body = self.op.body;
        let block = body
            .op_regions(self.op.op)
            .get(at)
            .and_then(|&region| body.single_block(region));
        let (block, end) = block
            .and_then(|block| Some((block, body.last_op(block)?)))
            .ok_or_else(|| format!("region #{at} must be one block"))?;
        let types = |values: &mut dyn Iterator<Item = ValueId>| values.map(|value| body.value_type(value)).collect();
        Ok([
            types(&mut body.block_args(block).iter().copied()),
            types(&mut body.operands(end)),
        ])
    }

    fn expect_region(&self, at: usize, expected: [&[Type]; 2]) -> Result<(), String> {
        let found = self.region(at)?;
        let list = |types: &[Type]| -> Vec<String> {
            types
                .iter()
                .map(|&ty| print_type(self.op.ctx, ty).to_string())
                .collect()
        };
        let write =
            |[args, results]: [&[Type]; 2]| format!("({}) -> ({})", list(args).join(", "), list(results).join(", "));
        let fits = |(found, expected): (&Vec<Type>, &[Type])| {
            found.len() == expected.len() && found.iter().zip(expected).all(|(&a, &b)| compatible(self.op.ctx, a, b))
        };
        match found.iter().zip(expected).all(fits) {
            true => Ok(()),
            false => Err(format!(
                "region #{at} has the type `{}`, but must have `{}`",
                write([&found[0], &found[1]]),
                write(expected)
            )),
        }
    }

    /// The types of elements that a region combines by pairs, of as many operands.
    fn combined(&self, at: usize, count: usize) -> Result<Vec<Type>, String> {
        let [_, results] = self.region(at)?;
        let elems: Vec<Type> = results.iter().map(|&ty| self.op.ctx.elem_type(ty)).collect();
        let scalars: Vec<Type> = elems.iter().map(|&elem| self.op.ctx.tensor(&[], elem)).collect();
        if results.len() != count {
            return Err(format!(
                "region #{at} must return {count} values, found {}",
                results.len()
            ));
        }
        self.expect_region(at, [&[&scalars[..], &scalars[..]].concat(), &scalars])?;
        Ok(elems)
    }

    /// The result types of a reduction of inputs with initial values; the shape follows from the first one.
    fn reduction(&self, shape: impl Fn(&[i64]) -> Result<List, String>) -> Result<(), String> {
        let count = self.op.body.num_operands(self.op.op) / 2;
        let elems = self.combined(0, count)?;
        let (first, _) = self.operand(0)?;
        for (at, &elem) in elems.iter().enumerate() {
            let ((dims, own), (init, of)) = (self.operand(at)?, self.operand(count + at)?);
            if !agree(dims, first) || !init.is_empty() || of != elem || self.kind(own) != self.kind(elem) {
                return Err(
                    "inputs must have one shape, and initial values be scalars of what the region combines".into(),
                );
            }
            self.expect_at(at, &shape(dims)?, elem)?;
        }
        match self.op.body.num_results(self.op.op) == count && self.op.body.num_operands(self.op.op) == 2 * count {
            true => Ok(()),
            false => Err("there must be an initial value and a result for each input".into()),
        }
    }

    fn branches(&self) -> Result<(), String> {
        let body = self.op.body;
        let results: Vec<Type> = body.results(self.op.op).map(|value| body.value_type(value)).collect();
        (0..body.op_regions(self.op.op).len()).try_for_each(|at| self.expect_region(at, [&[], &results]))
    }
}

fn check(op: OpView<'_>, errors: &mut Vec<Diagnostic>, rule: Rule) {
    let attrs = Attrs {
        ctx: op.ctx,
        dict: op.body.attrs(op.op),
    };
    if let Err(why) = rule(&Check { op, attrs }) {
        let message = format!("`{}`: {why}", op.name());
        errors.push(Diagnostic::error("result-type", message).label(op.body.op_span(op.op), ""));
    }
}

macro_rules! rules {
    ($($name:ident $rule:expr;)*) => { $(
        pub(crate) fn $name(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
            check(op, errors, $rule);
        }
    )* };
}

rules! {
    any |c| c.result().map(|_| ());
    same_shape |c| {
        let (dims, _) = c.operand(0)?;
        let (_, elem) = c.result()?;
        c.expect(dims, elem)
    };
    iota |c| {
        let (dims, elem) = c.result()?;
        let at = c.attrs.int("iota_dimension")?;
        if elem == Type::I1 {
            return Err("the result must hold numbers, found `i1`".into());
        }
        match (0..dims.len() as i64).contains(&at) {
            true => Ok(()),
            false => Err(format!("`iota_dimension` is {at}, but the result has {} dimensions", dims.len())),
        }
    };
    broadcast_in_dim |c| {
        let ((from, elem), (to, of)) = (c.operand(0)?, c.result()?);
        let map = c.attrs.list("broadcast_dimensions")?;
        if map.len() != from.len() || !are_dims(&map, to.len()) || elem != of {
            return Err("`broadcast_dimensions` must name a dimension of the result for each of the operand".into());
        }
        let fits = |(&at, &dim): (&i64, &i64)| dim == 1 || dim == DYNAMIC || dim == to[at as usize];
        match map.iter().zip(from).all(fits) {
            true => Ok(()),
            false => Err("a dimension of the operand must be 1, or that of the result".into()),
        }
    };
    reshape |c| {
        let ((from, elem), (to, of)) = (c.operand(0)?, c.result()?);
        let count = |dims: &[i64]| dims.iter().try_fold(1i64, |n, &dim| if dim == DYNAMIC { None } else { n.checked_mul(dim) });
        match (elem == of, count(from), count(to)) {
            (true, Some(a), Some(b)) if a != b => Err(format!("the operand has {a} elements, the result {b}")),
            (false, ..) => Err("operand and result must have the same element type".into()),
            _ => Ok(()),
        }
    };
    dot_general |c| {
        let ((lhs, _), (rhs, _), (_, elem)) = (c.operand(0)?, c.operand(1)?, c.result()?);
        c.expect(&Dot::read(c.attrs, lhs, rhs)?.result(lhs, rhs), elem)
    };
    triangular_solve |c| {
        let ((a, elem), (b, _)) = (c.operand(0)?, c.operand(1)?);
        let system = match Call::of(c.op)? {
            Call::Solve(system) => system,
            _ => return Err("the operands must be matrices of equal rank and batch dimensions".into()),
        };
        let of = if system.left { 2 } else { 1 };
        match (a, b.len().checked_sub(of).map(|at| b[at])) {
            (&[ref lead @ .., n, m], Some(size)) if n == m && size == n && *lead == b[..b.len() - 2] => c.expect(b, elem),
            _ => Err("the first operand must hold square matrices of the size of the second".into()),
        }
    };
    scatter |c| {
        let count = c.op.body.num_operands(c.op.op) / 2;
        let ((operand, elem), (starts, of)) = (c.operand(0)?, c.operand(count)?);
        if c.kind(of) != 1 {
            return Err(format!("indices must be integers, found `{}`", print_type(c.op.ctx, of)));
        }
        let (updates, _) = c.operand(count + 1)?;
        let gather = Gather::of_scatter(c.attrs, operand, starts, updates)?;
        if gather.slice_sizes.iter().zip(operand).any(|(&size, &dim)| dim != DYNAMIC && size > dim) {
            return Err("a window must not exceed the operand".into());
        }
        for (at, &of) in c.combined(0, count)?.iter().enumerate() {
            let (inputs, new) = (c.operand(at)?, c.operand(count + 1 + at)?);
            if !agree(inputs.0, operand) || !agree(new.0, updates) || [inputs.1, new.1] != [of, of] {
                return Err("inputs and updates must have one shape each, and the elements that the region combines".into());
            }
            c.expect_at(at, operand, of)?;
        }
        c.expect(operand, elem)
    };
    reduce |c| {
        let reduced = c.attrs.list("dimensions")?;
        c.reduction(|dims| {
            if !are_dims(&reduced, dims.len()) {
                return Err(format!("`dimensions` must be distinct dimensions of a tensor of rank {}", dims.len()));
            }
            Ok((0..dims.len()).filter(|&at| !reduced.contains(&(at as i64))).map(|at| dims[at]).collect())
        })
    };
    reduce_window |c| {
        let window = c.attrs.list("window_dimensions")?;
        if window.iter().any(|&size| size < 1) {
            return Err("`window_dimensions` must be positive".into());
        }
        c.reduction(|dims| window_places(c.attrs, dims, &window, ["base_dilations", "window_dilations"]))
    };
    select_and_scatter |c| {
        let ((dims, elem), (source, of), (init, first)) = (c.operand(0)?, c.operand(1)?, c.operand(2)?);
        let window = c.attrs.list_or("window_dimensions", 1, dims.len())?;
        let places = window_places(c.attrs, dims, &window, ["base_dilations", "window_dilations"])?;
        if !agree(&places, source) || [of, first] != [elem, elem] || !init.is_empty() {
            return Err("the source must have an element for each window, and all operands the same elements".into());
        }
        let scalar = c.op.ctx.tensor(&[], elem);
        c.expect_region(0, [&[scalar, scalar], &[c.op.ctx.tensor(&[], Type::I1)]])?;
        c.combined(1, 1)?;
        c.expect(dims, elem)
    };
    sort |c| {
        let (dims, _) = c.operand(0)?;
        let (rank, at) = (dims.len() as i64, c.attrs.int("dimension").unwrap_or(-1));
        let mut scalars = Vec::new();
        for index in 0..c.op.body.num_operands(c.op.op) {
            let (other, elem) = c.operand(index)?;
            if !agree(other, dims) {
                return Err("the operands must have one shape".into());
            }
            scalars.extend([c.op.ctx.tensor(&[], elem); 2]);
        }
        if !(-rank..rank).contains(&at) {
            return Err(format!("`dimension` is {at}, but the operands have {rank} dimensions"));
        }
        c.expect_region(0, [&scalars, &[c.op.ctx.tensor(&[], Type::I1)]])
    };
    convolution |c| {
        let ((lhs, elem), (rhs, of), (_, result)) = (c.operand(0)?, c.operand(1)?, c.result()?);
        let [image, filter, _] = convolution_places(c.attrs)?;
        let shape = convolved(c.attrs, lhs, rhs).ok_or("`dimension_numbers` and the window attributes do not match the operands")?;
        let (groups, batches) = (c.attrs.int("feature_group_count")?, c.attrs.int("batch_group_count")?);
        let at = |dims: &[i64], places: &[i64], which: usize| dims[places[which] as usize];
        let [batch, features] = [0, 1].map(|which| at(lhs, &image, which));
        let [outputs, inputs] = [0, 1].map(|which| at(rhs, &filter, which));
        let divides = |by: i64, dim: i64| dim == DYNAMIC || dim % by == 0;
        if groups < 1 || batches < 1 || groups > 1 && batches > 1 {
            return Err("`feature_group_count` and `batch_group_count` must be positive, and one of them 1".into());
        }
        if features != DYNAMIC && inputs != DYNAMIC && inputs.checked_mul(groups) != Some(features) {
            return Err(format!("{features} features in {groups} groups do not match filters of {inputs} input features"));
        }
        if !divides(groups, outputs) || !divides(batches, outputs) || !divides(batches, batch) {
            return Err("the groups must divide the batch and the features of the result".into());
        }
        let rank = lhs.len() - 2;
        c.attrs.list_or("window_reversal", 0, rank)?;
        match elem == of {
            true => c.expect(&shape, result),
            false => Err("the operands must have the same element type".into()),
        }
    };
    bitcast_convert |c| {
        let ((from, elem), (to, of)) = (c.operand(0)?, c.result()?);
        if (c.kind(elem) == 3) != (c.kind(of) == 3) {
            return Err("complex numbers can only be converted to complex numbers".into());
        }
        let (Some(a), Some(b)) = (width(c.op.ctx, elem), width(c.op.ctx, of)) else { return Ok(()) };
        let fits = |wide: &[i64], narrow: &[i64], parts: i64| match narrow.split_last() {
            Some((&last, rest)) => agree(wide, rest) && (last == parts || last == DYNAMIC),
            None => false,
        };
        match a.cmp(&b) {
            Ordering::Equal if agree(from, to) => Ok(()),
            Ordering::Greater if fits(from, to, (a / b) as i64) => Ok(()),
            Ordering::Less if fits(to, from, (b / a) as i64) => Ok(()),
            _ => Err("the result must have the bits of the operand: narrow elements are in a last dimension".into()),
        }
    };
    rng_bit_generator |c| {
        let ((state, elem), bits) = (c.operand(0)?, c.tensor(c.op.result_type(1), "the second result")?);
        match c.kind(bits.1) {
            1 | 2 => c.expect(state, elem),
            _ => Err(format!("operand and result must hold integers or floats, found `{}`", print_type(c.op.ctx, bits.1))),
        }
    };
    while_op |c| {
        let operands = c.op.body.operands(c.op.op).map(|value| c.op.body.value_type(value));
        let results = c.op.body.results(c.op.op).map(|value| c.op.body.value_type(value));
        let count = c.op.body.num_operands(c.op.op) == c.op.body.num_results(c.op.op);
        match count && operands.zip(results).all(|(given, of)| compatible(c.op.ctx, given, of)) {
            true => Ok(()),
            false => Err("results must have the types of the operands".into()),
        }
    };
    case |c| {
        let (dims, elem) = c.operand(0)?;
        match dims.is_empty() && elem == Type::I32 {
            true => c.branches(),
            false => Err("the index must be `tensor<i32>`".into()),
        }
    };
    if_op |c| {
        let (dims, elem) = c.operand(0)?;
        match dims.is_empty() && elem == Type::I1 {
            true => c.branches(),
            false => Err("the predicate must be `tensor<i1>`".into()),
        }
    };
}
