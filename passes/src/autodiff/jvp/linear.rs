//! The tangent of one operation, by transposing its gradient rule.
//!
//! A gradient rule is linear in the cotangents of the results: it computes `Jᵀ·ū`. The gradient of `⟨Jᵀ·ū, v⟩` with
//! respect to `ū` is `J·v`, the tangent of the results for tangents `v` of the operands. So the rule is applied to
//! symbolic cotangents, and its output is differentiated by the same rules with respect to them, seeded with `v`. Since
//! all of it is linear, no value of `ū` remains in the end, and the operations that compute it are removed. Thus
//! whatever has a gradient rule in terms of operations with gradient rules has a tangent. (Townsend, "A new trick for
//! calculating Jacobian vector products", 2017.)

use pir_ir::{Context, OpId, Rewriter, Type, TypeData, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::cotangent::Frame;
use super::super::dense::{DenseMap, Fresh};
use super::super::rules::{RuleCx, RuleTable, carried};
use super::templates::{Pattern, Templates};

/// The tangent of one value.
#[derive(Clone, Debug)]
pub(super) enum Tangent {
    /// The coefficient of a tensor or a scalar.
    One(ValueId),
    /// The coefficients of the elements of a list.
    List(Vec<Option<ValueId>>),
}

/// The tangents of values; a value without entry has tangent zero.
#[derive(Default)]
pub(super) struct Tangents {
    ones: DenseMap,
    lists: FxHashMap<ValueId, Vec<Option<ValueId>>>,
}

impl Tangents {
    pub(super) fn insert(&mut self, value: ValueId, tangent: Tangent) {
        match tangent {
            Tangent::One(tangent) => self.ones.insert(value, tangent),
            Tangent::List(items) => drop(self.lists.insert(value, items)),
        }
    }

    pub(super) fn contains(&self, value: ValueId) -> bool {
        self.ones.get(value).is_some() || self.lists.contains_key(&value)
    }

    /// The tangent of a tensor or a scalar.
    pub(super) fn one(&self, value: ValueId) -> Option<ValueId> {
        self.ones.get(value)
    }

    /// The tangents of the elements of a list.
    pub(super) fn list(&self, value: ValueId) -> Option<&[Option<ValueId>]> {
        self.lists.get(&value).map(Vec::as_slice)
    }
}

/// Emits the tangents of the results of an operation at the insertion point, which is after it.
pub(super) fn push_forward(
    r: &mut Rewriter<'_>,
    rules: &RuleTable,
    op: OpId,
    tangents: &mut Tangents,
    templates: &mut Templates,
) -> Result<(), String> {
    let Some(pattern) = Pattern::of(r, rules, op, tangents) else {
        return transpose(r, rules, op, tangents);
    };
    if !templates.emit(r, &pattern, tangents) {
        let mark = r.created_mark();
        transpose(r, rules, op, tangents)?;
        templates.learn(r, pattern, r.created_since(mark), tangents);
    }
    Ok(())
}

/// The same by transposing the gradient rule.
fn transpose(r: &mut Rewriter<'_>, rules: &RuleTable, op: OpId, tangents: &mut Tangents) -> Result<(), String> {
    let mark = r.created_mark();
    let first_op = r.body.num_op_slots();
    let results: SmallVec<[ValueId; 4]> = r.body.results(op).collect();
    // Cotangents that represent nothing.
    let mut placeholders: Vec<Tangent> = Vec::new();
    let mut cotangents = Frame::default();
    let mut depends = Fresh::since_now(r);
    for &result in &results {
        let ty = r.body.value_type(result);
        let mut placeholder = |r: &mut Rewriter<'_>, ty: Type| {
            let value = r.body.create_placeholder(ty);
            depends.insert(value);
            value
        };
        placeholders.push(match element_types(r.ctx, ty) {
            Some(types) => {
                let mut items = Vec::new();
                for (index, ty) in types.into_iter().enumerate() {
                    let item = r.ctx.is_continuous(ty).then(|| placeholder(r, ty));
                    if let Some(item) = item {
                        cotangents.add_element(r, result, index, item)?;
                    }
                    items.push(item);
                }
                Tangent::List(items)
            }
            None if r.ctx.is_continuous(ty) => {
                let value = placeholder(r, ty);
                cotangents.set(result, value);
                Tangent::One(value)
            }
            None => Tangent::List(Vec::new()),
        });
    }
    // Jᵀ·ū
    apply(r, rules, op, &mut cotangents, &|v| tangents.contains(v))?;
    let emitted: SmallVec<[OpId; 16]> = r.created_since(mark).into();
    for &op in emitted.iter().filter(|&&op| r.body.is_alive(op)) {
        let reached = carried(r, op, &|v| depends.contains(v));
        // Values that pass through regions are not followed.
        let inside = r.body.parent_op(op).is_some_and(|parent| parent.index() >= first_op);
        let around = !r.body.op_regions(op).is_empty();
        if (inside || around) && r.body.operands(op).any(|v| depends.contains(v)) {
            return Err("its gradient contains loops or branches, which forward mode cannot transpose".to_owned());
        }
        reached.into_iter().for_each(|v| depends.insert(v));
    }
    // The gradient of ⟨Jᵀ·ū, v⟩.
    let mut seeded = Frame::default();
    let mut seen: SmallVec<[ValueId; 4]> = SmallVec::new();
    for operand in r.body.operands_vec(op) {
        if seen.contains(&operand) {
            continue;
        }
        seen.push(operand);
        if let Some(v) = tangents.one(operand) {
            if let Some(cotangent) = cotangents.take(operand).filter(|&c| depends.contains(c)) {
                seeded.add(r, cotangent, v)?;
            }
        } else if let Some(items) = tangents.list(operand) {
            for (cotangent, v) in cotangents.take_list(operand).into_iter().zip(items) {
                if let (Some(cotangent), Some(v)) = (cotangent, *v)
                    && depends.contains(cotangent)
                {
                    seeded.add(r, cotangent, v)?;
                }
            }
        }
    }
    for &op in emitted.iter().rev() {
        let asked = r.body.is_alive(op) && r.body.results(op).any(|v| seeded.has(v));
        if asked && !carried(r, op, &|v| depends.contains(v)).is_empty() {
            apply(r, rules, op, &mut seeded, &|v| depends.contains(v))?;
        }
    }
    // J·v
    // A value that was there before stays anyway.
    let mut kept = depends.emptied();
    for (&result, placeholder) in results.iter().zip(&placeholders) {
        let mut tangent_of = |r: &mut Rewriter<'_>, placeholder: ValueId| {
            let tangent = seeded.take(placeholder)?;
            kept.insert(tangent);
            if r.body.defining_op(tangent).is_some_and(|op| op.index() >= first_op) {
                r.name_like(tangent, result, "_tangent");
            }
            Some(tangent)
        };
        let tangent = match placeholder {
            &Tangent::One(value) => tangent_of(r, value).map(Tangent::One),
            Tangent::List(items) => {
                let items: Vec<_> = items.iter().map(|&item| tangent_of(r, item?)).collect();
                items.iter().any(Option::is_some).then_some(Tangent::List(items))
            }
        };
        if let Some(tangent) = tangent {
            tangents.insert(result, tangent);
        }
    }
    let created: SmallVec<[OpId; 32]> = r.created_since(mark).into();
    for op in created.into_iter().rev() {
        let needed = |v: ValueId| r.body.has_uses(v) || kept.contains(v);
        if r.body.is_alive(op) && !r.body.results(op).any(needed) {
            r.erase_op(op);
        }
    }
    // A cotangent may have been read for its shape, which is that of the result.
    for (&result, placeholder) in results.iter().zip(placeholders) {
        match placeholder {
            Tangent::One(value) => r.body.replace_all_uses(value, result),
            Tangent::List(items) if items.iter().flatten().any(|&v| r.body.has_uses(v)) => {
                return Err("its tangent needs the shape of an element of a list".to_owned());
            }
            Tangent::List(_) => {}
        }
    }
    Ok(())
}

fn element_types(ctx: &Context, ty: Type) -> Option<Vec<Type>> {
    match ctx.type_data(ty) {
        TypeData::List(items) => Some(items.to_vec()),
        _ => None,
    }
}

/// Applies the gradient rule of an operation to the cotangents of its results.
fn apply(
    r: &mut Rewriter<'_>,
    rules: &RuleTable,
    op: OpId,
    frame: &mut Frame,
    active: &dyn Fn(ValueId) -> bool,
) -> Result<(), String> {
    let rule = rules
        .get(r.body, op)
        .ok_or_else(|| format!("`{}` has no derivative", r.ctx.op_str(r.body.op_name(op))))?;
    let (grads, list_grads) = frame.take_results(r, op);
    let mut cx = RuleCx {
        rules,
        r,
        frame,
        op,
        primal_at: &|v| v,
        active,
        grads,
        list_grads,
        settled: SmallVec::new(),
        is_total: false,
    };
    cx.apply(rule)
}
