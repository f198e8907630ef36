//! Tensors that Paddle never fills: the state of an unused random generator, reserved memory, variables that a loop
//! sets before it reads them. Saved programs give them no dimensions, printed ones a dimension of 0. They get the
//! inferred types.

use pir_dialects::{cf, pd};
use pir_ir::{Body, Context, DYNAMIC, OpId, Type, TypeData, ValueId};
use smallvec::SmallVec;

/// Operations with such results, and whether the last operand is of that kind.
const FILLED_LATE: &[(&str, bool)] = &[
    (pd::Rnn::NAME, true),
    (pd::CoalesceTensor::NAME, false),
    (pd::BatchNorm::NAME, false),
    (pd::RmspropInplace::NAME, false),
    ("builtin.split", false),
];

/// Results whose element type PaddlePaddle leaves to the kernel, and writes as f32: which of them, and what it is.
const BY_KERNEL: &[(&str, usize, Elements)] = &[
    (pd::EqualAll::NAME, 0, Elements::Of(Type::I1)),
    (pd::MatrixRank::NAME, 0, Elements::Of(Type::I64)),
    (pd::MatrixRankTol::NAME, 0, Elements::Of(Type::I64)),
    (pd::Unique::NAME, 0, Elements::Operand),
    (pd::Unique::NAME, 1, Elements::Attribute),
    (pd::Unique::NAME, 2, Elements::Attribute),
    (pd::Unique::NAME, 3, Elements::Attribute),
    (pd::UniqueConsecutive::NAME, 0, Elements::Operand),
    (pd::UniqueConsecutive::NAME, 1, Elements::Attribute),
    (pd::UniqueConsecutive::NAME, 2, Elements::Attribute),
];

/// The source of an element type.
#[derive(Clone, Copy)]
enum Elements {
    Of(Type),
    /// The first operand.
    Operand,
    /// The attribute `dtype`.
    Attribute,
}

/// Gives the results of an operation the element types of its kernel.
fn kernel_types(ctx: &Context, body: &mut Body, op: OpId, name: &str) {
    for &(_, at, elements) in BY_KERNEL.iter().filter(|entry| entry.0 == name) {
        let view = body.view(ctx, op);
        let elem = match elements {
            Elements::Of(elem) => Some(elem),
            Elements::Operand => view.operand_type(0).map(|ty| ctx.elem_type(ty)),
            Elements::Attribute => view.ty("dtype"),
        };
        if let (Some(value), Some(elem)) = (body.results(op).nth(at), elem) {
            set_elements(ctx, body, value, elem);
        }
    }
}

/// Gives a value another element type, and the results that have it from there.
fn set_elements(ctx: &Context, body: &mut Body, value: ValueId, elem: Type) {
    let mut work = vec![(value, elem)];
    while let Some((value, elem)) = work.pop() {
        let Some((shape, old)) = ctx.as_tensor(body.value_type(value)) else {
            continue;
        };
        if old == elem {
            continue;
        }
        body.set_value_type(value, ctx.tensor(shape, elem));
        let users: Vec<OpId> = body.uses(value).map(|at| at.op).collect();
        for user in users {
            let view = body.view(ctx, user);
            let inferred = view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
            let Some(Some(Ok(types))) = inferred else { continue };
            let results = body.results(user).zip(types);
            work.extend(results.filter_map(|(result, ty)| Some((result, ctx.as_tensor(ty)?.1))));
        }
    }
}

/// Gives tensors that are never filled their types, and others the element types that they get.
pub(crate) fn retype(ctx: &Context, body: &mut Body) {
    for op in body.walk_all().collect::<Vec<_>>() {
        let name = ctx.op_str(body.op_name(op));
        kernel_types(ctx, body, op, name);
        if name == pd::Full::NAME {
            fill(ctx, body, op);
            continue;
        }
        let Some(&(_, has_operand)) = FILLED_LATE.iter().find(|(n, _)| *n == name) else {
            continue;
        };
        if let Some(value) = body.operands(op).last().filter(|_| has_operand) {
            let ty = body.value_type(value);
            if is_unset(ctx, ty) {
                let empty = ctx.tensor(&[0], ctx.elem_type(ty));
                body.set_value_type(value, empty);
            }
        }
        let view = body.view(ctx, op);
        let inferred = view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
        let Some(Some(Ok(types))) = inferred else { continue };
        let results: SmallVec<[_; 4]> = body.results(op).collect();
        for (value, ty) in results.into_iter().zip(types) {
            if is_unset(ctx, body.value_type(value)) {
                body.set_value_type(value, ty);
            }
        }
    }
}

/// A variable that Python code first sets in the body of a loop still has an initial value: one element, typed with the
/// shape that the body gives it. Its `full` gets that shape.
fn fill(ctx: &Context, body: &mut Body, op: OpId) {
    if body.view(ctx, op).ints("shape") != Some(&[]) {
        return;
    }
    let Some(value) = body.results(op).next() else { return };
    let Some((shape, elem)) = ctx.as_tensor(body.value_type(value)) else {
        return;
    };
    let passes_on = |op: OpId| matches!(ctx.op_str(body.op_name(op)), pd::While::NAME | cf::YIELD);
    if shape.is_empty() || !body.uses(value).all(|at| passes_on(at.op)) {
        return;
    }
    // The value is never read: any extent will do for a dynamic dimension.
    let shape: SmallVec<[i64; 4]> = shape.iter().map(|&d| if d == DYNAMIC { 1 } else { d }).collect();
    let attrs = ctx.dict_with(body.attrs(op), "shape", ctx.ints_attr(&shape));
    body.set_attrs(op, attrs);
    body.set_value_type(value, ctx.tensor(&shape, elem));
}

fn is_unset(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::Tensor { shape, .. } => matches!(shape[..], [] | [0] | [DYNAMIC]),
        _ => false,
    }
}
