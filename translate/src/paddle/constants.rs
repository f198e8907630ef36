//! Constant operands become attributes.
//!
//! In Paddle's programs the axes of a sum or the factor of a scale are operands, made by `full` and `full_int_array`,
//! because they may be computed. Where they are constant, which is nearly always, our operations have attributes.

use pir_ir::{Arity, Attr, AttrData, Body, Context, OpId, Type, ValueDef, ValueId};

/// The attributes that are operands in Paddle's programs, behind the tensors, in this order, for each operation that
/// has such. A format knows this, not the definition of the operation.
const OPERAND_ATTRIBUTES: &[(&str, &[&str])] = &[
    ("pd.clip", &["min", "max"]),
    ("pd.concat", &["axis"]),
    ("pd.crop", &["shape", "offsets"]),
    ("pd.cumsum", &["axis"]),
    ("pd.dropout", &["p"]),
    ("pd.expand", &["shape"]),
    ("pd.eye", &["num_rows", "num_columns"]),
    ("pd.full_like", &["value"]),
    ("pd.full_with_tensor", &["shape"]),
    ("pd.gather", &["axis"]),
    ("pd.gaussian", &["shape"]),
    ("pd.index_add", &[]),
    ("pd.isclose", &["rtol", "atol"]),
    ("pd.allclose", &["rtol", "atol"]),
    ("pd.max", &["axis"]),
    ("pd.mean", &["axis"]),
    ("pd.min", &["axis"]),
    ("pd.one_hot", &["num_classes"]),
    ("pd.pad", &["pad_value"]),
    ("pd.pad3d", &["paddings"]),
    ("pd.pool2d", &["kernel_size"]),
    ("pd.pow", &["y"]),
    ("pd.prod", &["axis"]),
    ("pd.randint", &["shape"]),
    ("pd.reshape", &["shape"]),
    ("pd.reverse", &["axis"]),
    ("pd.roll", &["shifts"]),
    ("pd.scale", &["scale"]),
    ("pd.set_value", &["starts", "ends", "steps"]),
    ("pd.set_value_with_tensor", &["starts", "ends", "steps"]),
    ("pd.slice", &["starts", "ends"]),
    ("pd.split", &["sections", "axis"]),
    ("pd.split_with_num", &["axis"]),
    ("pd.squeeze", &["axis"]),
    ("pd.strided_slice", &["starts", "ends", "strides"]),
    ("pd.sum", &["axis"]),
    ("pd.tile", &["repeat_times"]),
    ("pd.topk", &["k"]),
    ("pd.uniform", &["shape", "min", "max"]),
    ("pd.unsqueeze", &["axis"]),
];

/// Operations for which an empty list of axes means all of them, which ours say by having no axes.
const ALL_AXES: &[&str] = &["pd.sum", "pd.mean", "pd.max", "pd.min", "pd.prod", "pd.squeeze"];

/// Turns constant operands of known operations into attributes, removes constants that are not used any more, and
/// writes attributes as the definitions have them.
pub(crate) fn to_attributes(ctx: &Context, body: &mut Body) {
    let mut freed: Vec<OpId> = Vec::new();
    for op in body.walk_all().collect::<Vec<_>>() {
        normalise_constant(ctx, body, op);
        fold_operands(ctx, body, op, &mut freed);
        normal_form(ctx, body, op);
    }
    remove_unused(body, freed, |body, op| body.num_operands(op) == 0);
}

/// Attributes in the order and of the types of the definition, the others behind them.
fn normal_form(ctx: &Context, body: &mut Body, op: OpId) {
    let Some(def) = ctx.op_def(body.op_name(op)) else {
        return;
    };
    let mut rest = ctx.dict_entries(body.attrs(op)).to_vec();
    let mut entries = Vec::with_capacity(rest.len());
    for spec in &def.attrs {
        if let Some(at) = rest.iter().position(|&(name, _)| ctx.str(name) == spec.name) {
            let (name, value) = rest.remove(at);
            entries.push((name, of_type(ctx, value, &spec.ty)));
        }
    }
    entries.append(&mut rest);
    body.set_attrs(op, ctx.dict(&entries));
}

/// A value as an attribute of the type that the op table names: a list for a list, `1.0` for a `float` of 1.
fn of_type(ctx: &Context, value: Attr, ty: &str) -> Attr {
    let is_list = ty.starts_with("IntArray") || ty.ends_with("[]");
    match ctx.attr_data(value) {
        AttrData::Ints(ints) if !is_list => match ints[..] {
            [one] => ctx.int_attr(one),
            _ => value,
        },
        AttrData::Int { .. } if is_list => ctx.attr(AttrData::Array([value].into())),
        AttrData::Int { value: int, .. } if matches!(ty, "float" | "double") => ctx.float_attr(*int as f64),
        AttrData::Float { .. } if ty.starts_with("int") => {
            let number = ctx.attr_f64(value).unwrap_or(f64::NAN);
            as_int(number).map_or(value, |int| ctx.int_attr(int))
        }
        _ => value,
    }
}

fn as_int(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9.0e15).then_some(number as i64)
}

fn operand_attributes(ctx: &Context, op: &str) -> Vec<String> {
    if let Some((_, names)) = OPERAND_ATTRIBUTES.iter().find(|(name, _)| *name == op) {
        return names.iter().map(|&n| n.to_owned()).collect();
    }
    let def = ctx.registered_op(op).and_then(|name| ctx.op_def(name));
    def.into_iter()
        .flat_map(|def| &def.attrs)
        .filter(|spec| spec.ty.starts_with("IntArray") || spec.ty.starts_with("Scalar"))
        .map(|spec| spec.name.clone())
        .collect()
}

/// `full` has a floating-point value in the file, whatever its type; ours has one of its type.
fn normalise_constant(ctx: &Context, body: &mut Body, op: OpId) {
    let view = body.view(ctx, op);
    if view.name() != "pd.full" {
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
    let name = view.name();
    let names: Vec<String> = operand_attributes(ctx, name)
        .into_iter()
        .filter(|n| view.attr(n).is_none())
        .collect();
    let operands = body.operands_vec(op);
    // They are the last operands; all of them are there.
    let first = operands.len().checked_sub(names.len());
    let Some(first) = first.filter(|&first| first >= tensors && !names.is_empty()) else {
        return;
    };
    let mut attrs = body.attrs(op);
    let mut rest: Vec<ValueId> = operands.iter().take(first).copied().collect();
    let mut changed = false;
    for (name_of_attr, &operand) in names.iter().zip(operands.iter().skip(first)) {
        let Some(value) = constant(ctx, body, operand) else {
            rest.push(operand);
            continue;
        };
        let says_nothing = ALL_AXES.contains(&name) && ctx.attr_ints(value).is_some_and(<[i64]>::is_empty);
        if !says_nothing {
            attrs = ctx.dict_with(attrs, name_of_attr, value);
        }
        freed.extend(body.defining_op(operand));
        changed = true;
    }
    // Among computed ones, the place tells which it is: all must be constant, or none is turned.
    if !changed || (rest.len() > first && rest.len() < operands.len()) {
        return;
    }
    body.set_operands(op, &rest);
    body.set_attrs(op, attrs);
}

/// The constant that a value is: of `full_int_array`, of a `full` of one element, or of a combination of those.
fn constant(ctx: &Context, body: &Body, value: ValueId) -> Option<Attr> {
    let ValueDef::Result(op, _) = body.value_def(value) else {
        return None;
    };
    let view = body.view(ctx, op);
    match view.name() {
        "pd.full_int_array" => {
            let value = view.attr("value")?;
            ctx.attr_ints(value).map(|_| value)
        }
        "pd.full" => scalar(ctx, body, op),
        "builtin.combine" => {
            let ints: Option<Vec<i64>> = body
                .operands(op)
                .map(|v| ctx.attr_int(scalar(ctx, body, body.defining_op(v)?)?))
                .collect();
            Some(ctx.ints_attr(&ints?))
        }
        _ => None,
    }
}

fn scalar(ctx: &Context, body: &Body, op: OpId) -> Option<Attr> {
    let view = body.view(ctx, op);
    let one = view.name() == "pd.full" && view.ints("shape").is_some_and(|s| s.iter().all(|&d| d == 1));
    if one { view.attr("value") } else { None }
}

/// Removes those of `pending` that nothing uses, and what only they used and is in `removable`.
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
