//! PaddlePaddle's gradient operations without a definition here: `pd.X_grad` is given by the rule of `pd.X`, if there
//! is one.
//!
//! `pd.X` is emitted again, with placeholders for the operands whose cotangents `pd.X_grad` returns, and its rule is
//! applied. A value that the rule reads is the operand of `pd.X_grad` with this name, if there is one, whether it is an
//! operand or a result of `pd.X`; a result that `pd.X_grad` does not read is recomputed. If `pd.X` is piecewise constant, its
//! gradient is zero. In the end, the operands
//! replace their placeholders. `pd.X_double_grad` is the gradient operation of `pd.X_grad`.

use pir_dialects::marks::{ABSENT_OPERANDS, ABSENT_RESULTS};
use pir_dialects::pd;
use pir_ir::{Arity, Attr, Context, Derivative, OpDef, OpId, Restated, Sym, Type, TypeData, ValueId, ValueSpec};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::cotangent::{Frame, conjugated, elements, is_list, zeros_like};
use super::expand::expanded;
use super::foreign::{Given, Group, default, differentiated, name_in_twin};
use super::{Rule, RuleCx, rule};

const GRADIENT: Rule = rule("_grad", expanded).of(gradient).complex();

/// The operation whose gradient operation this is.
fn primal<'c>(ctx: &'c Context, def: &OpDef) -> Option<&'c OpDef> {
    ctx.op_def(ctx.registered_op(&differentiated(&def.name)?)?)
}

/// The rule of a gradient operation that is known from PaddlePaddle's declarations alone.
pub(super) fn rule_of(ctx: &Context, def: &OpDef) -> Option<Rule> {
    (pd::is_foreign(&def.name) && primal(ctx, def).is_some()).then_some(GRADIENT)
}

/// `pd.X` while its rule is applied.
struct Again<'d> {
    given: Given<'d>,
    primal: &'d OpDef,
    /// By operand: its replacement, and what `pd.X_grad` reads of it, if it does.
    placeholders: Vec<(&'d str, ValueId, Option<ValueId>)>,
    operands: Vec<ValueId>,
    /// The places of absent operands, and how many are given before each.
    absent: Vec<(i64, usize)>,
    /// An operand that `pd.X_grad` does not have: `pd.X` cannot be computed.
    lacks: Option<&'d str>,
}

impl Again<'_> {
    /// The replacement of an operand.
    fn of(&self, name: &str) -> Vec<ValueId> {
        let own = self.placeholders.iter().filter(|entry| entry.0 == name);
        own.map(|entry| entry.1).collect()
    }
}

fn gradient(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let ctx = cx.ctx();
    let def = ctx.op_def(cx.r.body.op_name(cx.op)).ok_or("it is not defined")?;
    let primal = primal(ctx, def).ok_or("there is no such operation")?;
    if let (Derivative::None, Some(last), 1) = (&primal.derivative, cx.num_operands().checked_sub(1), def.results.len())
    {
        return Ok(SmallVec::from_elem(zeros_like(cx.r, cx.operand(last))?, 1));
    }
    let mut again = Again {
        given: Given::of(cx, def),
        primal,
        placeholders: Vec::new(),
        operands: Vec::new(),
        absent: Vec::new(),
        lacks: None,
    };
    for (place, spec) in (0i64..).zip(primal.operands.iter()) {
        take(cx, &mut again, place, spec)?;
    }
    let op = emit(cx, &again)?;
    let mut images: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    images.extend(again.placeholders.iter().filter_map(|entry| Some((entry.1, entry.2?))));
    let results: Vec<ValueId> = cx.r.body.results(op).collect();
    let mut grads: SmallVec<[Option<ValueId>; 2]> = results.iter().map(|_| None).collect();
    for (name, group) in Given::results_of(cx.r.view(op), primal) {
        let known = |name: &str| again.given.operand(name).cloned().unwrap_or_default();
        let own = tensors(cx, &known(name), group.len() > 1)?;
        let cotangents = tensors(cx, &known(&format!("{name}_grad")), group.len() > 1)?;
        images.extend(group.iter().map(|&at| results[at]).zip(own));
        for (&at, grad) in group.iter().zip(cotangents) {
            grads[at] = Some(conjugated(cx.r, grad));
        }
    }
    let lists: Vec<ValueId> = results
        .iter()
        .copied()
        .filter(|&value| is_list(ctx, cx.r.body.value_type(value)))
        .collect();
    let mut list_grads = Vec::new();
    if let Some(at) = lists
        .first()
        .and_then(|list| results.iter().position(|value| value == list))
    {
        let list = grads[at].take().map(|list| elements(cx.r, list)).transpose()?;
        list_grads = list.into_iter().flatten().map(Some).collect();
    }
    let is_wanted = |name: &str| {
        again
            .given
            .result(&format!("{name}_grad"))
            .is_some_and(|group| !group.is_empty())
    };
    let wanted = again.placeholders.iter().filter(|entry| is_wanted(entry.0));
    let wanted: Vec<ValueId> = wanted.map(|entry| entry.1).collect();
    let unknown = || format!("the derivative of `{}` is unknown", primal.name);
    // Not the one that would be this gradient operation again.
    let rule = cx.rules.in_any_program(cx.r.body, op).ok_or_else(unknown)?;
    let mut frame = Frame::default();
    let mut inner = RuleCx {
        rules: cx.rules,
        r: cx.r,
        frame: &mut frame,
        op,
        primal_at: &|value| images.get(&value).copied().unwrap_or(value),
        active: &|value| wanted.contains(&value),
        grads,
        list_grads,
        settled: SmallVec::new(),
        is_total: true,
    };
    let has_parts = primal.is_composite() || primal.name.ends_with("_grad");
    match (pd::is_foreign(&primal.name), has_parts) {
        // Not by the gradient operation that this is.
        (true, true) => expanded(&mut inner)?,
        (true, false) => return Err(unknown()),
        (false, _) => inner.apply(&rule)?,
    }
    let out = cotangents(cx, &again, def, &mut frame)?;
    settle(cx, &again, op)?;
    Ok(out)
}

/// The values of operands of `pd.X_grad`, those in lists one by one if they are asked for.
fn tensors(cx: &mut RuleCx<'_, '_>, group: &Group, unpack: bool) -> Result<Vec<ValueId>, String> {
    let mut all = Vec::new();
    for &index in group {
        match unpack && is_list(cx.ctx(), cx.operand_type(index)) {
            true => {
                let list = cx.operand(index);
                all.extend(elements(cx.r, list)?);
            }
            false => all.push(cx.operand(index)),
        }
    }
    Ok(all)
}

/// Adds an operand of `pd.X`: one of `pd.X_grad`, a placeholder for one that has a cotangent, or none.
fn take<'d>(cx: &mut RuleCx<'_, '_>, again: &mut Again<'d>, place: i64, spec: &'d ValueSpec) -> Result<(), String> {
    let name = &*spec.name;
    let cotangents = again.given.result(&format!("{name}_grad")).cloned().unwrap_or_default();
    // Several lists stay lists: the operands of one cannot be distinguished from those of another.
    let lists = again
        .primal
        .operands
        .iter()
        .filter(|spec| spec.arity == Arity::Variadic);
    let unpack = spec.arity == Arity::Variadic && lists.count() == 1;
    let given = again.given.operand(name).cloned().unwrap_or_default();
    let given = tensors(cx, &given, unpack)?;
    if given.is_empty() && cotangents.is_empty() {
        match spec.arity {
            _ if cx.view().attr(name).is_some() => {}
            // Whatever reads it is refused.
            Arity::One => {
                let (known, ty) = unchanged(cx, again, name);
                let nothing = cx.r.op(pd::Assign::NAME).result(ty).value();
                again.placeholders.push((name, nothing, known));
                again.operands.push(nothing);
                again.lacks = again.lacks.or(known.is_none().then_some(name));
            }
            _ => again.absent.push((place, again.operands.len())),
        }
        return Ok(());
    }
    if cotangents.is_empty() {
        again.operands.extend(given);
        return Ok(());
    }
    let mut types: Vec<Type> = cotangents
        .iter()
        .map(|&index| cx.r.body.value_type(cx.r.body.result(cx.op, index)))
        .collect();
    if let (true, &[one]) = (unpack, &types[..])
        && let TypeData::List(items) = cx.ctx().type_data(one)
    {
        types = items.to_vec();
    }
    for at in 0..types.len().max(given.len()) {
        let value = given.get(at).copied();
        let ty = match (value, types.get(at)) {
            (Some(value), _) => cx.r.body.value_type(value),
            (None, Some(&ty)) => ty,
            (None, None) => return Err(format!("the operand `{name}` has no type")),
        };
        let placeholder = cx.r.op(pd::Assign::NAME).operands(value).result(ty).value();
        again.placeholders.push((name, placeholder, value));
        again.operands.push(placeholder);
    }
    Ok(())
}

/// An operand that `pd.X_grad` reads as the result that takes its place, if that stays what it was, as the statistics of a
/// normalization that is not training; and its type, if that is known.
fn unchanged(cx: &RuleCx<'_, '_>, again: &Again<'_>, name: &str) -> (Option<ValueId>, Type) {
    let view = cx.view();
    let stays = ["is_test", "use_global_stats"]
        .iter()
        .any(|flag| view.bool(flag) == Some(true));
    let first = |name: &str| again.given.operand(name).and_then(|group| group.first()).copied();
    match (first(&format!("{name}_out")), first(&format!("{name}_grad_grad"))) {
        (Some(index), _) => (stays.then(|| cx.operand(index)), cx.operand_type(index)),
        (None, Some(index)) => (None, cx.operand_type(index)),
        (None, None) => (None, Type::NONE),
    }
}

/// The number of rows of a result, which gradient operations do not name.
fn size_of_result(cx: &RuleCx<'_, '_>, again: &Again<'_>) -> Option<Attr> {
    let given = ["out", "out_grad"]
        .into_iter()
        .filter_map(|name| again.given.operand(name)?.first());
    let mut rows = given.filter_map(|&index| cx.ctx().as_tensor(cx.operand_type(index))?.0.first());
    let rows = rows.find(|&&rows| rows >= 0)?;
    Some(cx.ctx().ints_attr(&[*rows]))
}

/// Emits `pd.X`. The types of its results are those of what `pd.X_grad` reads of them, or inferred.
fn emit(cx: &mut RuleCx<'_, '_>, again: &Again<'_>) -> Result<OpId, String> {
    let ctx = cx.ctx();
    let def = ctx.op_def(cx.r.body.op_name(cx.op)).ok_or("it is not defined")?;
    let mut attrs: Vec<(Sym, Attr)> = Vec::new();
    for spec in again.primal.attrs.iter() {
        let attr = match (cx.view().attr(&spec.name), &*spec.name) {
            (None, "out_size") => Some(size_of_result(cx, again).ok_or("the number of rows of its result is unknown")?),
            (attr, _) => attr.or_else(|| default(ctx, def, spec)),
        };
        attrs.extend(attr.map(|attr| (ctx.sym(&spec.name), attr)));
    }
    let count = again.operands.len();
    let absent: Vec<i64> = again
        .absent
        .iter()
        .filter(|entry| entry.1 < count)
        .map(|entry| entry.0)
        .collect();
    if !absent.is_empty() {
        attrs.push(ABSENT_OPERANDS.entry(ctx, ctx.ints_attr(&absent)));
    }
    let (mut types, mut is_known, mut unread) = (Vec::new(), true, Vec::new());
    for (place, spec) in (0i64..).zip(again.primal.results.iter()) {
        let read = |name: &str| again.given.operand(name).filter(|group| !group.is_empty());
        let group = read(&spec.name).or_else(|| read(&format!("{}_grad", spec.name)));
        is_known &= group.is_some();
        unread.extend((group.is_none() && spec.arity == Arity::Optional).then_some(place));
        let own = group.into_iter().flatten().map(|&index| cx.operand_type(index));
        let is_only_list = spec.arity == Arity::Variadic && again.primal.results.len() == 1;
        types.extend(own.flat_map(|ty| match ctx.type_data(ty) {
            TypeData::List(items) if is_only_list => items.to_vec(),
            _ => vec![ty],
        }));
    }
    let is_foreign = pd::is_foreign(&again.primal.name);
    if is_foreign && !unread.is_empty() {
        attrs.push(ABSENT_RESULTS.entry(ctx, ctx.ints_attr(&unread)));
    }
    let attrs = ctx.dict(&attrs);
    let op =
        cx.r.op(&again.primal.name)
            .operands(again.operands.iter().copied())
            .attrs(attrs);
    match is_known || is_foreign {
        true => Ok(op.results(types).build()),
        false => op.infer(),
    }
}

/// The results of `pd.X_grad`: the cotangents of the placeholders.
fn cotangents(
    cx: &mut RuleCx<'_, '_>,
    again: &Again<'_>,
    def: &OpDef,
    frame: &mut Frame,
) -> Result<SmallVec<[ValueId; 2]>, String> {
    let mut out: SmallVec<[ValueId; 2]> = SmallVec::new();
    for spec in def.results.iter() {
        let name = name_in_twin(def, &spec.name);
        let group = again.given.result(&name).cloned().unwrap_or_default();
        if group.is_empty() {
            continue;
        }
        let placeholders = again.of(name.strip_suffix("_grad").unwrap_or(&name));
        let mut grads = Vec::new();
        for placeholder in placeholders {
            let is_list = is_list(cx.ctx(), cx.r.body.value_type(placeholder));
            grads.push(match is_list {
                true => frame.take_whole(cx.r, placeholder, placeholder)?,
                false => match frame.take(placeholder) {
                    Some(grad) => conjugated(cx.r, grad),
                    None => zeros_like(cx.r, placeholder)?,
                },
            });
        }
        let types: Vec<Type> = group
            .iter()
            .map(|&index| cx.r.body.value_type(cx.r.body.result(cx.op, index)))
            .collect();
        if let (&[ty], true) = (
            &types[..],
            grads.iter().all(|&grad| !is_list(cx.ctx(), cx.r.body.value_type(grad))),
        ) && is_list(cx.ctx(), ty)
        {
            let list = cx.r.op("builtin.combine").operands(grads.drain(..)).result(ty).value();
            grads.push(list);
        }
        if grads.len() != types.len() {
            return Err(format!("its result `{}` is not the cotangent of an operand", spec.name));
        }
        let stated = grads
            .into_iter()
            .zip(types)
            .map(|(grad, ty)| Restated::default().state(cx.r, grad, ty));
        out.extend(stated);
    }
    Ok(out)
}

/// Replaces the placeholders with the operands, and removes `pd.X` if nothing reads it.
fn settle(cx: &mut RuleCx<'_, '_>, again: &Again<'_>, op: OpId) -> Result<(), String> {
    let is_read = cx.r.body.results(op).any(|value| cx.r.body.has_uses(value));
    match again.lacks {
        _ if !is_read => cx.r.erase_op(op),
        Some(name) => {
            return Err(format!(
                "`{}` would have to be recomputed without `{name}`",
                again.primal.name
            ));
        }
        None => {}
    }
    for &(name, placeholder, value) in &again.placeholders {
        match value {
            Some(value) => cx.r.replace_value(placeholder, value),
            None if cx.r.body.has_uses(placeholder) => {
                return Err(format!(
                    "the derivative needs `{name}`, which the gradient operation does not have"
                ));
            }
            None => {}
        }
        if let Some(assign) = cx.r.body.defining_op(placeholder) {
            cx.r.erase_op(assign);
        }
    }
    Ok(())
}
