//! Operations known from PaddlePaddle's declarations alone are differentiated by its own gradient operations, which only its
//! executor runs.
//!
//! `pd.X` with `backward: X_grad` becomes `pd.X_grad`: an operand `x` of that is the operand or the result `x` of `pd.X`,
//! `y_grad` the cotangent of the result `y`, zeros where there is none; its result `x_grad` is the cotangent of the operand `x`, of
//! the same type. Nothing else is recorded. The gradient operation itself has no derivative. PaddlePaddle's cotangents of complex
//! numbers are the conjugates of those here, which are JAX's.

use std::borrow::Cow;

use pir_dialects::marks::{ABSENT_OPERANDS, ABSENT_RESULTS};
use pir_dialects::{
    formats::{self, PaddleGradient},
    pd,
};
use pir_ir::{Arity, Attr, AttrData, AttrSpec, Context, Dependence, OpDef, OpView, Sym, Type, TypeData, ValueId};
use smallvec::SmallVec;

use super::super::cotangent::{conjugated, zeros_like};
use super::expand::expanded;
use super::{Rule, RuleCx, composite, rule};

const TWIN: Rule = rule("", twin).complex();
/// An operation that has a composition if its attributes and shapes permit it.
const COMPOSED: Rule = rule("", composed).of(composite::expand).complex();

/// One whose parts PaddlePaddle does not know.
const THEIRS: Rule = rule("", theirs).of(composite::expand).complex();

/// By PaddlePaddle's gradient operation; by the expansion if that reads values that do not exist.
pub(super) fn theirs(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    match twin(cx) {
        Err(_) if cx.settled.is_empty() => expanded(cx),
        done => done,
    }
}

/// By the expansion; by PaddlePaddle's gradient operation if there is none.
fn composed(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    match expanded(cx) {
        Err(_) if cx.settled.is_empty() && !formats::is_gradient_wrong(cx.view()) => twin(cx),
        done => done,
    }
}

/// The rule of an operation that PaddlePaddle alone knows.
pub(super) fn rule_of(def: &OpDef) -> Option<Rule> {
    let is_foreign = def.backward.is_some() && pd::is_foreign(&def.name);
    is_foreign.then_some(match def.is_composite() {
        true if pd::leaves_pd(&def.name) => THEIRS,
        true => COMPOSED,
        false => TWIN,
    })
}

/// The rule that differentiates an operation defined here by PaddlePaddle's gradient operation, where that is one operation instead
/// of several: for programs that PaddlePaddle executes.
pub(super) fn fused(ctx: &Context, def: &OpDef, own: &Rule) -> Option<Rule> {
    let theirs = gradient_operation(ctx, def)?;
    let is_fused = match formats::paddle_gradient(&def.name) {
        PaddleGradient::Fused => true,
        PaddleGradient::WrongIfRepeated => false,
        _ => own.op.is_empty() && def.is_composite(),
    };
    (is_fused && pd::is_foreign(&theirs.name)).then_some(Rule {
        apply: |cx| match by_gradient_operation(cx) {
            Err(_) if cx.settled.is_empty() => cx.by_own_rule(),
            done => done,
        },
        ..*own
    })
}

fn gradient_operation<'c>(ctx: &'c Context, def: &OpDef) -> Option<&'c OpDef> {
    let name = def
        .backward
        .as_deref()
        .map_or_else(|| format!("{}_grad", def.name), str::to_owned);
    ctx.registered_op(&name).and_then(|name| ctx.op_def(name))
}

/// Indices of operands or of results.
pub(super) type Group = SmallVec<[usize; 1]>;

/// The operands and results of the operation, by the names of its definition; those of `pd.X_double_grad` by the names that they have as
/// the gradient operation of `pd.X_grad`: `grad_out` there is `out_grad` of `pd.X_grad`, and `grad_x_grad` the cotangent of its result
/// `x_grad`.
pub(super) struct Given<'d> {
    operands: Vec<(Cow<'d, str>, Group)>,
    results: Vec<(Cow<'d, str>, Group)>,
}

/// The operation `pd.X` whose gradient operation has this name; for `pd.X_double_grad`, which is `pd.X_grad_grad` for some, `pd.X_grad`.
pub(super) fn differentiated(twin: &str) -> Option<Cow<'_, str>> {
    let twice = twin.strip_suffix("_double_grad").or(twin.strip_suffix("_grad_grad"));
    match twice {
        Some(name) => Some(Cow::Owned(format!("{name}_grad"))),
        None => twin.strip_suffix("_grad").map(Cow::Borrowed),
    }
}

/// The name of an operand or of a result as one of the gradient operation of a gradient operation.
pub(super) fn name_in_twin<'d>(def: &OpDef, name: &'d str) -> Cow<'d, str> {
    let is_second = differentiated(&def.name).is_some_and(|name| name.ends_with("_grad"));
    let parts = (name.strip_prefix("grad_"), name.strip_prefix("out_"));
    match parts {
        (Some(stem), _) if is_second => Cow::Owned(match stem.strip_suffix("_grad") {
            Some(stem) => format!("{stem}_grad_grad"),
            None => format!("{stem}_grad"),
        }),
        (_, Some(stem)) if is_second && stem != "grad" => Cow::Owned(format!("{stem}_out")),
        _ => Cow::Borrowed(name),
    }
}

impl<'d> Given<'d> {
    pub(super) fn of(cx: &RuleCx<'_, '_>, def: &'d OpDef) -> Self {
        let view = cx.view();
        let places: Vec<Option<usize>> = (0..cx.num_operands())
            .map(|index| view.declared_operand(index))
            .collect();
        let operands = def.operands.iter().enumerate().map(|(place, spec)| {
            let group = (0..places.len()).filter(|&index| places[index] == Some(place));
            (name_in_twin(def, &spec.name), group.collect())
        });
        let results = Self::results_of(view, def).into_iter();
        Given {
            operands: operands.collect(),
            results: results.map(|(name, group)| (name_in_twin(def, name), group)).collect(),
        }
    }

    /// The results of an operation.
    pub(super) fn results_of(view: OpView<'_>, def: &'d OpDef) -> Vec<(&'d str, Group)> {
        let absent = view.ints(&ABSENT_RESULTS.name).unwrap_or(&[]);
        let count = view.body.num_results(view.op);
        let mut next = 0;
        let results = def.results.iter().enumerate().map(|(place, spec)| {
            let end = match spec.arity {
                _ if absent.contains(&(place as i64)) => next,
                Arity::Variadic if def.results.len() == 1 => count,
                _ => count.min(next + 1),
            };
            let group = (next..end).collect();
            next = end;
            (&*spec.name, group)
        });
        results.collect()
    }

    pub(super) fn operand(&self, name: &str) -> Option<&Group> {
        self.operands.iter().find(|(n, _)| *n == name).map(|(_, group)| group)
    }

    pub(super) fn result(&self, name: &str) -> Option<&Group> {
        self.results.iter().find(|(n, _)| *n == name).map(|(_, group)| group)
    }
}

/// Several values as the list that PaddlePaddle's operation takes.
fn combined(cx: &mut RuleCx<'_, '_>, values: &[ValueId], is_list: bool) -> Option<ValueId> {
    let ty = |cx: &RuleCx<'_, '_>, value| cx.r.body.value_type(value);
    match *values {
        [] => None,
        [one] if !is_list || matches!(cx.ctx().type_data(ty(cx, one)), TypeData::List(_)) => Some(one),
        _ => {
            let types: Vec<Type> = values.iter().map(|&value| ty(cx, value)).collect();
            let list = cx.ctx().intern_type(TypeData::List(types.into()));
            let combine = cx.r.op("builtin.combine").operands(values.iter().copied());
            Some(combine.result(list).value())
        }
    }
}

/// The operand of the gradient operation that is called `name`; `None` if the operation has none.
fn read(cx: &mut RuleCx<'_, '_>, given: &Given<'_>, name: &str, is_list: bool) -> Result<Option<ValueId>, String> {
    let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
    if let Some(group) = given.operand(name) {
        values.extend(group.iter().map(|&index| cx.operand(index)));
    } else if let Some(group) = given.result(name) {
        values.extend(group.iter().map(|&index| cx.result(index)));
    } else if let Some(group) = name.strip_suffix("_grad").and_then(|of| given.result(of)) {
        for &index in group {
            values.push(match cx.grads.get(index).copied().flatten() {
                Some(grad) => conjugated(cx.r, grad),
                None => {
                    let result = cx.result(index);
                    zeros_like(cx.r, result)?
                }
            });
        }
    } else {
        return Err(format!(
            "its gradient operation reads `{name}`, which the operation does not have"
        ));
    }
    Ok(combined(cx, &values, is_list))
}

/// By PaddlePaddle's gradient operation, unless that is known to be wrong.
pub(super) fn by_gradient_operation(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    match cx.view().complex_type().is_none() && !formats::is_gradient_wrong(cx.view()) {
        true => twin(cx),
        false => Err("its gradient operation is another function".to_owned()),
    }
}

fn twin(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let ctx = cx.ctx();
    let def = ctx.op_def(cx.r.body.op_name(cx.op)).ok_or("it is not defined")?;
    let twin = gradient_operation(ctx, def).ok_or("it has no gradient operation")?;
    let given = Given::of(cx, def);
    covers(cx, &given, def, twin)?;
    let mut attrs: Vec<(Sym, Attr)> = Vec::new();
    for spec in twin.attrs.iter() {
        let attr = cx.view().attr(&spec.name).or_else(|| default(ctx, def, spec));
        attrs.extend(attr.map(|attr| (ctx.sym(&spec.name), attr)));
    }
    let (mut operands, mut absent): (Vec<ValueId>, Vec<(i64, usize)>) = (Vec::new(), Vec::new());
    for (place, spec) in twin.operands.iter().enumerate() {
        if cx.view().attr(&spec.name).is_some() {
            continue;
        }
        match read(cx, &given, &spec.name, spec.arity == Arity::Variadic)? {
            Some(value) => operands.push(value),
            None if spec.arity == Arity::One => {
                return Err(format!("its gradient operation reads `{}`, which is absent", spec.name));
            }
            None => absent.push((place as i64, operands.len())),
        }
    }
    // Trailing absent operands are implied.
    absent.retain(|&(_, before)| before < operands.len());
    let absent: Vec<i64> = absent.into_iter().map(|(place, _)| place).collect();
    if !absent.is_empty() {
        attrs.push(ABSENT_OPERANDS.entry(ctx, ctx.ints_attr(&absent)));
    }
    let (mut types, mut targets, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (place, spec) in (0i64..).zip(twin.results.iter()) {
        let operand = spec.name.strip_suffix("_grad").and_then(|name| given.operand(name));
        let group = operand.ok_or_else(|| format!("its gradient operation has a result `{}`", spec.name))?;
        let own: Vec<Type> = group.iter().map(|&index| cx.operand_type(index)).collect();
        match own[..] {
            [] => left_out.push(place),
            [one] if spec.arity != Arity::Variadic || matches!(ctx.type_data(one), TypeData::List(_)) => {
                types.push(one)
            }
            _ => types.push(ctx.intern_type(TypeData::List(own.into()))),
        }
        targets.extend((!group.is_empty()).then(|| group.clone()));
    }
    if !left_out.is_empty() {
        attrs.push(ABSENT_RESULTS.entry(ctx, ctx.ints_attr(&left_out)));
    }
    let name = twin.name.clone();
    let built = cx.r.op(&name).operands(operands).attrs(ctx.dict(&attrs)).results(types);
    let op = built.build();
    let results: Vec<ValueId> = cx.r.body.results(op).collect();
    for (group, grad) in targets.into_iter().zip(results) {
        spread(cx, &group, grad)?;
    }
    Ok(())
}

/// Whether the gradient operation reads all cotangents that there are, and gives all that are asked for.
fn covers(cx: &RuleCx<'_, '_>, given: &Given<'_>, def: &OpDef, twin: &OpDef) -> Result<(), String> {
    let is_of = |name: &str, of: &str| name.strip_suffix("_grad") == Some(of);
    for spec in def.results.iter() {
        let has_cotangent = |&at: &usize| cx.grads.get(at).is_some_and(Option::is_some);
        let is_read = twin.operands.iter().any(|operand| is_of(&operand.name, &spec.name));
        if !is_read
            && given
                .result(&spec.name)
                .is_some_and(|group| group.iter().any(has_cotangent))
        {
            return Err(format!("its gradient operation reads no cotangent of `{}`", spec.name));
        }
    }
    for spec in def.operands.iter() {
        let is_wanted = |&at: &usize| cx.wants(at) && cx.view().dependence(at) == Dependence::Differentiable;
        let is_given = twin.results.iter().any(|result| is_of(&result.name, &spec.name));
        if !is_given
            && given
                .operand(&spec.name)
                .is_some_and(|group| group.iter().any(is_wanted))
        {
            return Err(format!(
                "its gradient operation returns no cotangent of `{}`",
                spec.name
            ));
        }
    }
    Ok(())
}

/// The default of an omitted attribute, if the gradient operation has another one.
pub(super) fn default(ctx: &Context, def: &OpDef, spec: &AttrSpec) -> Option<Attr> {
    let own = def.attrs.iter().find(|own| own.name == spec.name)?;
    let text = own
        .default
        .as_deref()
        .filter(|text| spec.default.as_deref() != Some(*text))?;
    match (text, text.parse::<i64>(), text.parse::<f64>()) {
        ("true" | "false", ..) => Some(ctx.attr(AttrData::Bool(text == "true"))),
        (_, Ok(int), _) => Some(ctx.int_attr(int)),
        (_, _, Ok(float)) => Some(ctx.float_attr(float)),
        _ if text.starts_with('"') => Some(ctx.str_attr(text.trim_matches('"'))),
        _ => None,
    }
}

/// Adds a cotangent to that of an operand, or the elements of a list to those of several.
fn spread(cx: &mut RuleCx<'_, '_>, group: &Group, grad: ValueId) -> Result<(), String> {
    let ctx = cx.ctx();
    let ty = cx.r.body.value_type(grad);
    if let (&[index], true) = (
        &group[..],
        group.first().is_some_and(|&index| cx.operand_type(index) == ty),
    ) {
        if cx.wants(index) {
            let grad = conjugated(cx.r, grad);
            cx.add(index, grad)?;
        }
        return Ok(());
    }
    let TypeData::List(types) = ctx.type_data(ty) else {
        return Err("its gradient operation does not return a list".to_owned());
    };
    let split =
        cx.r.op("builtin.split")
            .operand(grad)
            .results(types.iter().copied())
            .build();
    let parts: Vec<ValueId> = cx.r.body.results(split).collect();
    for (&index, part) in group.iter().zip(parts) {
        if cx.wants(index) {
            let part = conjugated(cx.r, part);
            cx.add(index, part)?;
        }
    }
    Ok(())
}
