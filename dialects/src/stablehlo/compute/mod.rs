//! Definitions of the operations, in operations of `pd`.

mod contract;
mod eigen;
mod elementwise;
mod fft;
mod index;
pub(crate) mod linalg;
mod norm;
mod reduce;
mod region;
mod shape;

use pir_ir::{
    Context, OpId, OpView, Rewriter, Semantics, Signedness, Speculatability, Type, TypeData, ValueId, VjpArgs,
};
use smallvec::SmallVec;

use super::attrs::Attrs;
use super::linalg::Call;
use super::ops;
use crate::pd::{self, Building, Expr, ExprScope};
use region::Region;

/// An operation whose results are computed.
pub(super) struct Cx<'c> {
    scope: ExprScope<'c>,
    attrs: Attrs<'c>,
    operands: Vec<Expr<'c>>,
    /// The types of the results.
    types: SmallVec<[Type; 2]>,
    /// The function of its regions on elements.
    region: Region,
    second: Region,
    /// For an operation with a region: the element of each operand that is a splat constant.
    splats: SmallVec<[Option<f64>; 4]>,
    /// The linear algebra operation.
    call: Result<Call, String>,
}

type Results<'c> = Result<Vec<Expr<'c>>, String>;
/// The definition of an operation with one result.
type One = for<'c> fn(&Cx<'c>) -> Result<Expr<'c>, String>;
/// The definition of an operation.
type All = for<'c> fn(&Cx<'c>) -> Results<'c>;
/// The cotangents of the operands from that of the result.
type Vjp = for<'c> fn(&Cx<'c>, Expr<'c>, Expr<'c>) -> Vec<Expr<'c>>;
/// The cotangents of the operands from the results and their cotangents.
type VjpOfAll = for<'c> fn(&Cx<'c>, &[Expr<'c>], &[Expr<'c>]) -> Results<'c>;

impl<'c> Cx<'c> {
    fn x(&self, index: usize) -> Expr<'c> {
        self.operands.get(index).copied().unwrap_or(self.scope.nothing())
    }

    fn ctx(&self) -> &'c Context {
        self.attrs.ctx
    }

    /// The dimensions of the result.
    fn dims(&self) -> &'c [i64] {
        self.tensor(0).0
    }

    /// The element type of the result.
    fn elem(&self) -> Type {
        self.tensor(0).1
    }

    fn tensor(&self, index: usize) -> (&'c [i64], Type) {
        let ty = self.types.get(index).copied().unwrap_or(Type::NONE);
        self.ctx().as_tensor(ty).unwrap_or((&[], ty))
    }

    fn is_bool(&self) -> bool {
        self.x(0).elem() == Some(Type::I1)
    }

    /// The element that all of an operand are, if it is such a constant.
    fn splat(&self, index: usize) -> Option<f64> {
        self.splats.get(index).copied().flatten()
    }

    fn is_float(&self) -> bool {
        self.x(0).elem().is_some_and(|elem| self.ctx().is_float(elem))
    }

    /// Whether the first operand holds complex numbers.
    fn is_complex(&self) -> bool {
        self.x(0).is_complex()
    }

    /// A list of numbers of an element type.
    fn list(&self, values: &[i64], elem: Type) -> Expr<'c> {
        self.scope.full_int_array_with(values, |o| o.dtype(elem))
    }
}

/// How an operation is computed and differentiated.
pub(super) struct Lowering {
    /// Nothing where there is a kernel.
    compute: Option<Compute>,
    vjp: Option<Gradient>,
}

#[derive(Clone, Copy)]
enum Gradient {
    One(Vjp),
    All(VjpOfAll),
}

#[derive(Clone, Copy)]
enum Compute {
    One(One),
    All(All),
}

impl Compute {
    fn of<'c>(self, c: &Cx<'c>) -> Results<'c> {
        match self {
            Compute::One(compute) => Ok(vec![compute(c)?]),
            Compute::All(compute) => compute(c),
        }
    }
}

/// The operations with derivatives of their own that hold for complex numbers.
const COMPLEX_VJPS: &[&str] = &[
    ops::Cholesky::NAME,
    ops::TriangularSolve::NAME,
    ops::CustomCall::NAME,
    ops::Abs::NAME,
    ops::Complex::NAME,
    ops::Fft::NAME,
    ops::Imag::NAME,
    ops::Power::NAME,
    ops::Real::NAME,
];

/// The lowering of an operation, if it has one.
pub(super) fn find(name: &str) -> Option<Lowering> {
    let tables = [elementwise::TABLE, shape::TABLE, contract::TABLE, index::TABLE];
    let one = tables.into_iter().flatten().find(|entry| entry.0 == name);
    let one = one.map(|entry| Compute::One(entry.1));
    let all = reduce::TABLE.iter().find(|entry| entry.0 == name);
    let all = all.map(|entry| Compute::All(entry.1));
    let vjp = elementwise::VJPS.iter().find(|entry| entry.0 == name);
    let vjp = vjp.map(|entry| Gradient::One(entry.1));
    let is_linalg = matches!(
        name,
        ops::Cholesky::NAME | ops::TriangularSolve::NAME | ops::CustomCall::NAME
    );
    let vjp = vjp.or((name == ops::Fft::NAME).then_some(Gradient::All(fft::vjp)));
    let vjp = vjp.or(is_linalg.then_some(Gradient::All(linalg::vjp)));
    let compute = one.or(all);
    (compute.is_some() || vjp.is_some()).then_some(Lowering { compute, vjp })
}

/// The number that all elements of a constant are.
fn splat(r: &Rewriter<'_>, mut value: ValueId) -> Option<f64> {
    use super::ops::{BroadcastInDim, Constant, Reshape};
    loop {
        let op = r.view(r.body.defining_op(value)?);
        match op.name() {
            Constant::NAME => return shape::splat(op.ctx, op.attr("value")?),
            pd::Full::NAME => return op.f64("value"),
            BroadcastInDim::NAME | Reshape::NAME | pd::Expand::NAME | pd::Reshape::NAME => value = op.operand(0)?,
            _ => return None,
        }
    }
}

/// Properties of an operation that are read before others are created.
struct Facts<'c> {
    attrs: Attrs<'c>,
    types: SmallVec<[Type; 2]>,
    region: Region,
    second: Region,
    splats: SmallVec<[Option<f64>; 4]>,
    call: Result<Call, String>,
}

impl<'c> Facts<'c> {
    fn of(r: &Rewriter<'c>, op: OpId) -> Self {
        let is_reduction = !r.body.op_regions(op).is_empty();
        let read = r.body.operands(op).filter(|_| is_reduction);
        Facts {
            attrs: Attrs {
                ctx: r.ctx,
                dict: r.body.attrs(op),
            },
            types: r.body.results(op).map(|value| r.body.value_type(value)).collect(),
            region: Region::of(r, op, 0),
            second: Region::of(r, op, 1),
            splats: read.map(|value| splat(r, value)).collect(),
            call: Call::of(r.view(op)),
        }
    }

    fn within<'b>(self, scope: ExprScope<'b>, operands: &[ValueId]) -> Cx<'b>
    where
        'c: 'b,
    {
        Cx {
            scope,
            attrs: self.attrs,
            operands: operands.iter().map(|&value| scope.expr(value)).collect(),
            types: self.types,
            region: self.region,
            second: self.second,
            splats: self.splats,
            call: self.call,
        }
    }
}

impl Semantics for Lowering {
    fn has_expansion(&self) -> bool {
        self.compute.is_some()
    }

    fn expands(&self, op: OpView<'_>) -> bool {
        let by_call = || Call::of(op).is_ok_and(Call::is_made_of_others);
        self.compute.is_some() && (op.name() != ops::CustomCall::NAME || by_call())
    }

    fn has_vjp(&self) -> bool {
        self.vjp.is_some()
    }

    fn is_pure(&self, _: OpView<'_>) -> Option<bool> {
        Some(true)
    }

    fn speculatability(&self, _: OpView<'_>) -> Speculatability {
        Speculatability::Always
    }

    fn has_regions(&self, op: OpView<'_>) -> bool {
        !op.body.op_regions(op.op).is_empty()
    }

    fn expand(&self, r: &mut Rewriter<'_>, op: OpId, operands: &[ValueId]) -> Result<SmallVec<[ValueId; 2]>, String> {
        let facts = Facts::of(r, op);
        let name = r.ctx.op_str(r.body.op_name(op));
        let unsupported = || format!("`{name}` of these types is not supported");
        let building = Building::new(r);
        let cx = facts.within(building.scope(), operands);
        let compute = self.compute.ok_or_else(|| format!("`{name}` has no composition"))?;
        let results = compute.of(&cx);
        let results = results.map_err(|why| format!("`{name}`: {why}"))?;
        building.finish().map_err(|why| format!("`{name}`: {why}"))?;
        // An unsupported case must not be accepted as something else.
        let fits = results.len() == cx.types.len() && results.iter().zip(&cx.types).all(|(x, &ty)| x.ty() == Some(ty));
        let values: Option<SmallVec<[ValueId; 2]>> = results.iter().map(|result| result.id()).collect();
        values.filter(|_| fits).ok_or_else(unsupported)
    }

    fn vjp(
        &self,
        r: &mut Rewriter<'_>,
        op: OpId,
        args: VjpArgs<'_>,
    ) -> Result<SmallVec<[(usize, ValueId); 2]>, String> {
        let vjp = self.vjp.ok_or("it has no derivative of its own")?;
        let name = r.ctx.op_str(r.body.op_name(op));
        let is_complex = |value: ValueId| r.ctx.is_complex(r.body.value_type(value));
        if !COMPLEX_VJPS.contains(&name) && args.operands.iter().copied().any(is_complex) {
            return Err(format!("the derivative of `{name}` is unknown for complex numbers"));
        }
        let facts = Facts::of(r, op);
        let building = Building::new(r);
        let cx = facts.within(building.scope(), args.operands);
        let exprs = |list: &[ValueId]| list.iter().map(|&value| cx.scope.expr(value)).collect::<Vec<_>>();
        let [results, given] = [args.results, args.cotangents].map(exprs);
        let nothing = cx.scope.nothing();
        let cotangents = match vjp {
            Gradient::One(vjp) => vjp(
                &cx,
                results.first().copied().unwrap_or(nothing),
                given.first().copied().unwrap_or(nothing),
            ),
            Gradient::All(vjp) => vjp(&cx, &results, &given)?,
        };
        building.finish()?;
        let given = cotangents.iter().zip(&cx.operands).enumerate();
        // There is no formula for an operand without a cotangent.
        let known = given.filter(|(_, (cotangent, _))| cotangent.id().is_some());
        Ok(known
            .filter_map(|(index, (cotangent, operand))| Some((index, cotangent.reduce_like(*operand).id()?)))
            .collect())
    }
}

/// Complex numbers of a real and an imaginary part.
pub(crate) fn complex<'c>(re: Expr<'c>, im: Expr<'c>) -> Expr<'c> {
    let (ctx, parts) = (
        re.scope().context(),
        [re, im].iter().filter_map(|part| part.id()).collect::<Vec<_>>(),
    );
    let ty = ctx.tensor(re.dims(), ctx.complex_type(re.elem().unwrap_or(Type::NONE)));
    let made = re.scope().build(ops::Complex::NAME, &parts, &[], Some(ty));
    made.first().copied().unwrap_or(re.scope().nothing())
}

fn part<'c>(name: &str, x: Expr<'c>) -> Expr<'c> {
    let ctx = x.scope().context();
    let ty = x
        .elem()
        .map(|elem| ctx.tensor(x.dims(), ctx.complex_part(elem).unwrap_or(elem)));
    let made = x.id().map(|id| x.scope().build(name, &[id], &[], ty));
    made.and_then(|made| made.first().copied())
        .unwrap_or(x.scope().nothing())
}

/// The real parts of complex numbers.
pub(crate) fn real(x: Expr<'_>) -> Expr<'_> {
    part(ops::Real::NAME, x)
}

/// Their imaginary parts.
pub(crate) fn imaginary(x: Expr<'_>) -> Expr<'_> {
    part(ops::Imag::NAME, x)
}

/// The conjugates of complex numbers; real numbers as they are.
pub(crate) fn conjugate(x: Expr<'_>) -> Expr<'_> {
    match x.is_complex() {
        true => complex(real(x), imaginary(x).neg()),
        false => x,
    }
}

pub(super) fn is_unsigned(ctx: &Context, elem: Type) -> bool {
    let unsigned = Signedness::Unsigned;
    matches!(ctx.type_data(elem), TypeData::Integer { sign, .. } if *sign == unsigned)
}

fn is_integer(ctx: &Context, elem: Type) -> bool {
    matches!(ctx.type_data(elem), TypeData::Integer { .. }) && elem != Type::I1
}
