//! Lists whose elements are lists, or tensors of several lengths: the gradients of nested loops record what the inner
//! loop did in each step of the outer one.
//!
//! Such a list holds the rows of all its elements; each element is followed by a row with its number of rows. Elements
//! are only appended and removed at the end, so the last row determines where the last element begins.

use pir_dialects::pd::{self, Expr};
use pir_ir::{Attr, DYNAMIC, FloatKind, Type, TypeData, ValueId};

use super::lists::list_of;
use super::reader::{Reader, Result};

/// The shape of the rows of elements of several lengths.
pub(super) fn rows(element: &[i64]) -> Option<&[i64]> {
    match element {
        [DYNAMIC, rows @ ..] if rows.iter().all(|&d| d > 0) => Some(rows),
        _ => None,
    }
}

/// Whether a list holds elements of several lengths.
fn is_nested(r: &Reader<'_>, at: usize, list: ValueId) -> bool {
    let learned = list_of(r, at, list).and_then(|key| r.learned.get(&key).copied());
    learned.is_some_and(|ty| r.ctx.as_tensor(ty).is_some_and(|(dims, _)| rows(dims).is_some()))
}

/// Whether numbers of rows are exact in a type.
fn counts(r: &Reader<'_>, elem: Type) -> bool {
    match r.ctx.type_data(elem) {
        TypeData::Float(kind) => matches!(kind, FloatKind::F32 | FloatKind::F64),
        TypeData::Integer { width, .. } => *width >= 32,
        _ => false,
    }
}

/// Puts an element at the end. False if the elements have one length.
pub(super) fn push(r: &mut Reader<'_>, at: usize, list: ValueId, item: ValueId) -> Result<bool> {
    let (dims, elem) = r.dims(item)?;
    let Some(row) = rows(&dims) else { return Ok(false) };
    let key = list_of(r, at, list).ok_or("the lengths of its elements differ")?;
    let (held, kind) = r.dims(list)?;
    if !counts(r, elem) {
        return Err("elements of several lengths are not supported for this type".to_owned());
    }
    if !is_nested(r, at, list) || kind != elem || held.get(1..) != Some(row) {
        // The body is read again; until then any value of the right shape will do.
        let before = r.learned.get(&key).copied().unwrap_or(Type::NONE);
        r.learn(&key, r.ctx.tensor(&dims, elem), before);
        let values = r.express(at, &[item], |_, x| Ok(vec![x[0].assign()]))?;
        r.is_expressed(at, values, &[]);
    } else {
        let shape = [&[1], row].concat();
        let values = r.express(at, &[list, item], |scope, x| {
            let length = first(x[1].shape()).cast(elem);
            let length = length.reshape(vec![1; shape.len()]).expand(shape);
            Ok(vec![scope.concat_with(&[x[0], x[1], length], |o| o.axis(0))])
        })?;
        r.is_expressed(at, values, &[]);
    }
    if let Some(&value) = r.values[at].first() {
        r.same_list(list, value);
    }
    Ok(true)
}

/// Takes the last element. False if the elements have one length.
pub(super) fn pop(r: &mut Reader<'_>, at: usize, list: ValueId) -> Result<bool> {
    if !is_nested(r, at, list) {
        return Ok(false);
    }
    let values = r.express(at, &[list], |_, x| {
        let last = x[0].cut(0, -1, i64::from(i32::MAX)).reshape([-1]);
        let length = last.cut(0, 0, 1).cast(Type::I64);
        let end = first(x[0].shape()) - 1.0;
        let begin = end - length;
        Ok(vec![part(x[0], begin.filled(0.0), begin), part(x[0], begin, end)])
    })?;
    r.is_expressed(at, values, &[]);
    if let Some(&value) = r.values[at].first() {
        r.same_list(list, value);
    }
    Ok(true)
}

/// The extent of the first dimension, of a shape.
fn first(shape: Expr<'_>) -> Expr<'_> {
    shape.cut(0, 0, 1)
}

/// The rows between two places, which are computed.
fn part<'c>(x: Expr<'c>, begin: Expr<'c>, end: Expr<'c>) -> Expr<'c> {
    let scope = x.scope();
    let ctx = scope.context();
    let attrs: [(&str, Attr); 2] = [("axes", ctx.ints_attr(&[0])), ("decrease_axis", ctx.ints_attr(&[]))];
    let ids: Option<Vec<ValueId>> = [x, begin, end].iter().map(|x| x.id()).collect();
    let built = ids.map(|ids| scope.build(pd::Slice::NAME, &ids, &attrs, None));
    built.and_then(|b| b.first().copied()).unwrap_or(scope.nothing())
}
