//! Constant operands become attributes.
//!
//! In PaddlePaddle's programs the axes of a sum or the factor of a scale are operands, made by `full` and
//! `full_int_array`, because they may be computed. If they are constant, which is nearly always so, they become
//! attributes here.

use super::inplace::may_write;
use super::stacks;
use pir_dialects::{cf, pd};
use pir_ir::{Arity, Attr, AttrData, AttrSpec, Body, Context, OpDef, OpId, Type, ValueDef, ValueId};

/// Turns constant operands of known operations into attributes, removes constants that become unused, and normalizes
/// attributes.
pub(crate) fn to_attributes(ctx: &Context, body: &mut Body) {
    let mut freed: Vec<OpId> = Vec::new();
    for op in body.walk_all().collect::<Vec<_>>() {
        normalise_constant(ctx, body, op);
        to_declared_types(ctx, body, op);
        fold_operands(ctx, body, op, &mut freed);
        normal_form(ctx, body, op);
    }
    remove_unused(body, freed, |body, op| body.num_operands(op) == 0);
}

/// Converts attributes to the declared types: the printed form of a program has `1` for the float 1.0.
fn to_declared_types(ctx: &Context, body: &mut Body, op: OpId) {
    let Some(def) = ctx.op_def(body.op_name(op)) else {
        return;
    };
    let mut entries = ctx.dict_entries(body.attrs(op)).to_vec();
    for (name, value) in &mut entries {
        if let Some(spec) = def.attrs.iter().find(|spec| spec.name == ctx.str(*name)) {
            // A `Scalar` has the type of the tensors, which its default implies.
            let float = spec.ty.starts_with("Scalar") && spec.default.as_ref().is_some_and(|d| d.contains('.'));
            *value = of_type(ctx, *value, if float { "float" } else { &spec.ty });
        }
    }
    body.set_attrs(op, ctx.dict(&entries));
}

/// Orders attributes as declared, and drops those that have their default.
fn normal_form(ctx: &Context, body: &mut Body, op: OpId) {
    let Some(def) = ctx.op_def(body.op_name(op)) else {
        return;
    };
    let mut rest = ctx.dict_entries(body.attrs(op)).to_vec();
    let mut entries = Vec::with_capacity(rest.len());
    for spec in def.attrs.iter() {
        if let Some(at) = rest.iter().position(|&(name, _)| ctx.str(name) == spec.name) {
            let (name, value) = rest.remove(at);
            if !is_default(ctx, value, spec) {
                entries.push((name, value));
            }
        }
    }
    entries.append(&mut rest);
    body.set_attrs(op, ctx.dict(&entries));
}

/// A value as an attribute of the type that the op table names: a list for a list, `1.0` for a `float` of 1.
pub(super) fn of_type(ctx: &Context, value: Attr, ty: &str) -> Attr {
    let is_list = ty.starts_with("IntArray") || ty.ends_with("[]");
    match ctx.attr_data(value) {
        AttrData::Ints(ints) if !is_list => match ints[..] {
            [one] => ctx.int_attr(one),
            _ => value,
        },
        AttrData::Int { .. } if is_list => ctx.attr(AttrData::Array([value].into())),
        AttrData::Int { value: int, .. } if matches!(ty, "float" | "double") => ctx.float_attr(*int as f64),
        AttrData::Float { .. } if ty.starts_with("int") || ty.starts_with("Scalar(int") => {
            let number = ctx.attr_f64(value).unwrap_or(f64::NAN);
            as_int(number).map_or(value, |int| ctx.int_attr(int))
        }
        _ => value,
    }
}

/// Whether an attribute has its default. Element types are kept all the same, for the reader's benefit.
fn is_default(ctx: &Context, value: Attr, spec: &AttrSpec) -> bool {
    let Some(default) = spec.default.as_deref() else {
        return false;
    };
    match ctx.attr_data(value) {
        AttrData::Bool(value) => default.parse() == Ok(*value),
        AttrData::Int { .. } | AttrData::Float { .. } => {
            let (default, value) = (default.parse::<f64>().ok(), ctx.attr_f64(value));
            // A `float` was rounded when the program was saved: 1e-5 is 9.99999974737875e-6 there.
            let rounded = |v: Option<f64>| v.map(|v| v as f32);
            default == value || spec.ty == "float" && rounded(default) == rounded(value)
        }
        AttrData::Str(value) => default.trim_matches('"') == &**value,
        AttrData::Ints(values) => {
            let inside = default.strip_prefix('{').and_then(|d| d.strip_suffix('}'));
            let numbers = inside.map(|list| list.split(',').map(str::trim).filter(|n| !n.is_empty()));
            numbers.is_some_and(|list| list.map(str::parse).eq(values.iter().map(|&v| Ok(v))))
        }
        _ => false,
    }
}

fn as_int(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9.0e15).then_some(number as i64)
}

/// The attributes that may be operands, after the tensors, in this order.
fn operand_attributes(def: &OpDef) -> impl Iterator<Item = &AttrSpec> {
    def.attrs
        .iter()
        .filter(|spec| spec.ty.starts_with("IntArray") || spec.ty.starts_with("Scalar"))
}

/// The value of `full` is always a float in the file; here it has the element type.
fn normalise_constant(ctx: &Context, body: &mut Body, op: OpId) {
    let view = body.view(ctx, op);
    if view.name() != pd::Full::NAME {
        return;
    }
    let (Some(value), Some(dtype)) = (view.f64("value"), view.ty("dtype")) else {
        return;
    };
    let attr = if ctx.is_float(dtype) {
        ctx.float_attr(value)
    } else if dtype == Type::I1 {
        ctx.bool_attr(value != 0.0)
    } else if let Some(int) = as_int(value) {
        ctx.int_attr(int)
    } else {
        return;
    };
    let attrs = ctx.dict_with(body.attrs(op), "value", attr);
    body.set_attrs(op, attrs);
}

fn fold_operands(ctx: &Context, body: &mut Body, op: OpId, freed: &mut Vec<OpId>) {
    let view = body.view(ctx, op);
    let Some(def) = view.def() else { return };
    let tensors = def.operands.iter().filter(|spec| spec.arity == Arity::One).count();
    let specs: Vec<&AttrSpec> = operand_attributes(def)
        .filter(|spec| view.attr(&spec.name).is_none())
        .collect();
    let operands = body.operands_vec(op);
    // They are the last operands; all of them are there.
    let first = operands.len().checked_sub(specs.len());
    let Some(first) = first.filter(|&first| first >= tensors && !specs.is_empty()) else {
        return;
    };
    let mut attrs = body.attrs(op);
    let mut rest: Vec<ValueId> = operands.iter().take(first).copied().collect();
    let mut changed = false;
    for (spec, &operand) in specs.iter().zip(operands.iter().skip(first)) {
        let Some(value) = constant(ctx, body, operand) else {
            rest.push(operand);
            continue;
        };
        attrs = ctx.dict_with(attrs, &spec.name, of_type(ctx, value, &spec.ty));
        // A pop is one of several, which go with the pushes.
        let defined = body.defining_op(operand);
        freed.extend(defined.filter(|&op| ctx.op_str(body.op_name(op)) != cf::POP_BACK));
        changed = true;
    }
    // The position identifies an operand, so they become attributes only if all of them are constant.
    if !changed || (rest.len() > first && rest.len() < operands.len()) {
        return;
    }
    body.set_operands(op, &rest);
    body.set_attrs(op, attrs);
}

/// Whether an operation with unknown effects may change the tensor of a value.
fn may_change(ctx: &Context, body: &Body, value: ValueId) -> bool {
    body.uses(value).any(|at| may_write(ctx, body, at.op))
}

/// The constant value of `full_int_array`, of a `full` of one element, or of a combination of those, unless it may be
/// changed in place.
pub(super) fn constant(ctx: &Context, body: &Body, value: ValueId) -> Option<Attr> {
    if may_change(ctx, body, value) {
        return None;
    }
    let ValueDef::Result(op, _) = body.value_def(value) else {
        return None;
    };
    let view = body.view(ctx, op);
    match view.name() {
        pd::FullIntArray::NAME => {
            let value = view.attr("value")?;
            ctx.attr_ints(value).map(|_| value)
        }
        pd::Full::NAME => scalar(ctx, body, op),
        // PaddlePaddle's gradients record the constants of loops too.
        cf::POP_BACK => constant(ctx, body, stacks::pushed(ctx, body, value)?),
        "builtin.combine" => {
            let ints: Option<Vec<i64>> = body
                .operands(op)
                .map(|v| {
                    let defined = body.defining_op(v).filter(|_| !may_change(ctx, body, v))?;
                    ctx.attr_int(scalar(ctx, body, defined)?)
                })
                .collect();
            Some(ctx.ints_attr(&ints?))
        }
        _ => None,
    }
}

fn scalar(ctx: &Context, body: &Body, op: OpId) -> Option<Attr> {
    let view = body.view(ctx, op);
    let one = view.name() == pd::Full::NAME && view.ints("shape").is_some_and(|s| s.iter().all(|&d| d == 1));
    if one { view.attr("value") } else { None }
}

/// Removes the operations of `pending` that are unused, then their operands' definitions that become unused and are
/// `removable`.
pub(super) fn remove_unused(body: &mut Body, mut pending: Vec<OpId>, removable: impl Fn(&Body, OpId) -> bool) {
    while let Some(op) = pending.pop() {
        if !body.is_alive(op) || body.op_has_uses(op) {
            continue;
        }
        let operands = body.operands_vec(op);
        body.erase_op(op);
        let definitions = operands.into_iter().filter_map(|v| body.defining_op(v));
        pending.extend(definitions.filter(|&op| removable(body, op)));
    }
}
