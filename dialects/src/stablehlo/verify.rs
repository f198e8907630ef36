//! Rules of operations whose results are given, not inferred.

use pir_ir::text::print_type;
use pir_ir::verify::compatible;
use pir_ir::{DYNAMIC, Diagnostic, OpView, Type};

use super::attrs::{Attrs, List};
use super::dims::{Dot, Gather};
use super::infer::are_dims;
use super::linalg::Call;

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
        let ctx = self.op.ctx;
        let found = self.op.result_type(0).unwrap_or(Type::NONE);
        let expected = ctx.tensor(dims, elem);
        let (shape, of) = self.result()?;
        let agrees = shape.len() == dims.len()
            && of == elem
            && shape
                .iter()
                .zip(dims)
                .all(|(&a, &b)| a == b || a == DYNAMIC || b == DYNAMIC);
        match agrees {
            true => Ok(()),
            false => Err(format!(
                "the result has type `{}`, but operands and attributes give `{}`",
                print_type(ctx, found),
                print_type(ctx, expected)
            )),
        }
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
        let (dims, _) = c.result()?;
        let at = c.attrs.int("iota_dimension")?;
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
            (true, Some(a), Some(b)) if a != b => Err(format!("{a} elements do not make {b}")),
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
            _ => return Err("it is no system".into()),
        };
        let of = if system.left { 2 } else { 1 };
        match (a, b.len().checked_sub(of).map(|at| b[at])) {
            (&[ref lead @ .., n, m], Some(size)) if n == m && size == n && *lead == b[..b.len() - 2] => c.expect(b, elem),
            _ => Err("the first operand must hold square matrices of the size of the second".into()),
        }
    };
    scatter |c| {
        let count = c.op.body.num_operands(c.op.op) / 2;
        let ((operand, elem), (starts, _)) = (c.operand(0)?, c.operand(count)?);
        let (updates, _) = c.operand(count + 1)?;
        Gather::of_scatter(c.attrs, operand, starts.len(), updates)?;
        c.expect(operand, elem)
    };
    reduce |c| {
        let ((dims, _), (_, elem)) = (c.operand(0)?, c.result()?);
        let reduced = c.attrs.list("dimensions")?;
        if !are_dims(&reduced, dims.len()) {
            return Err(format!("`dimensions` must be distinct dimensions of a tensor of rank {}", dims.len()));
        }
        let rest: List = (0..dims.len()).filter(|&at| !reduced.contains(&(at as i64))).map(|at| dims[at]).collect();
        c.expect(&rest, elem)
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
            true => Ok(()),
            false => Err("the index must be `tensor<i32>`".into()),
        }
    };
    if_op |c| {
        let (dims, elem) = c.operand(0)?;
        match dims.is_empty() && elem == Type::I1 {
            true => Ok(()),
            false => Err("the predicate must be `tensor<i1>`".into()),
        }
    };
}
