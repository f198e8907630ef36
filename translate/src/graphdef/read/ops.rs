//! The translation of TensorFlow's operations.

use std::sync::LazyLock;

use pir_dialects::formats::{self, TensorFlowForm, TensorFlowInput};
use pir_dialects::{df, pd};
use pir_ir::{Attr, Type, ValueId, ValueName};
use rustc_hash::FxHashMap;

use super::super::InputShape;
use super::super::PREVENT_GRADIENT;
use super::super::proto::Value;
use super::super::types::RESOURCE;
use super::reader::{Input, Reader, Result};
use super::row::{Row, number_of};
use super::scope::Handle;
use super::{
    arrays, composed, const_operands, contract, detection, functions, images, known, library, lists, matrix, nn,
    places, quantize, random, resize, select, sets, slopes, sparse, special, spectrum, stacks, switches, volumes,
    windows,
};

/// Operations whose translation depends on their types and values. The op tables list the others.
pub(super) const TABLE: &[Row] = &[
    ("Cast", "SrcT", "DstT Truncate=false", |r, at| {
        let (x, elem) = (r.operand(at, 0)?, r.elem(at, "DstT")?);
        if r.ctx.is_complex(elem) || r.ctx.is_complex(r.dims(x)?.1) {
            return spectrum::cast(r, at, x, elem);
        }
        r.op(at, pd::Cast::NAME, &[x], &[("dtype", r.ctx.type_attr(elem))])
    }),
    ("Const", "", "value dtype", |r, at| match r.attr(at, "value") {
        Some(Value::Tensor(tensor)) if tensor.dtype == 7 => Err("strings are not supported".to_owned()),
        _ => Err("its tensor is malformed".to_owned()),
    }),
    // Reports an error if a number is not finite; the value is the operand, as for an assertion.
    ("CheckNumerics", "T", "message", |r, at| {
        r.text(at, "message");
        forward(r, at)
    }),
    ("EnsureShape", "T", "shape", ensure_shape),
    (
        "Enter",
        "T",
        "frame_name is_constant=false parallel_iterations=10",
        enter,
    ),
    ("Erfc", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let erf = r.helper(at, pd::Erf::NAME, &[x], &[])?;
        let attrs = [("scale", r.ctx.float_attr(-1.0)), ("bias", r.ctx.float_attr(1.0))];
        r.op(at, pd::Scale::NAME, &[erf], &attrs)
    }),
    ("Exit", "T", "", |r, at| passes_on(r, at, df::EXIT)),
    // For floats, TensorFlow rounds the quotient down, even if it is infinite.
    ("FloorDiv", "T T", "", |r, at| {
        let operands = r.operands(at, 2)?;
        let (_, elem) = r.dims(operands[0])?;
        if !r.ctx.is_float(elem) {
            return r.op(at, pd::FloorDivide::NAME, &operands, &[]);
        }
        let quotient = r.helper(at, pd::Divide::NAME, &operands, &[])?;
        r.op(at, pd::Floor::NAME, &[quotient], &[])
    }),
    ("Identity", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        // Requested outputs are built from their values.
        if let Some(name) = r.text(at, "_output").filter(|_| !r.is_asked()) {
            r.append(at, pd::Fetch::NAME, &[x], &[], &[("name", r.ctx.str_attr(&name))])?;
            return Ok(());
        }
        forward(r, at)
    }),
    ("IdentityN", "T**", "", |r, at| {
        let mut values = Vec::new();
        for index in 0..r.num_inputs(at) {
            let x = r.operand(at, index)?;
            // Control edges lead to separate nodes.
            values.push(match r.controls[at].is_empty() || r.plain {
                true => x,
                false => r.helper(at, df::IDENTITY, &[x], &[])?,
            });
        }
        r.values[at] = values;
        Ok(())
    }),
    ("LoopCond", "bool", "", |r, at| passes_on(r, at, df::LOOP_COND)),
    ("Maximum", "T T", "", |r, at| select::extremum(r, at, true)),
    ("Minimum", "T T", "", |r, at| select::extremum(r, at, false)),
    ("Merge", "T* -> output value_index", "", merge),
    ("NextIteration", "T", "", |r, at| passes_on(r, at, df::NEXT_ITERATION)),
    ("ControlTrigger", "", "", no_op),
    ("NoOp", "", "", no_op),
    ("OnesLike", "T", "", |r, at| full_like(r, at, 1.0)),
    ("Placeholder", "", "dtype shape=?", placeholder),
    // A fed value replaces the input; a graph without inputs for it has the value.
    ("PlaceholderWithDefault", "dtype", "shape=?", |r, at| {
        r.attr(at, "shape");
        forward(r, at)
    }),
    ("PreventGradient", "T", "message=", |r, at| {
        let x = r.operand(at, 0)?;
        let message = r.text(at, "message").unwrap_or_default();
        r.op(
            at,
            pd::Detach::NAME,
            &[x],
            &[(PREVENT_GRADIENT, r.ctx.str_attr(&message))],
        )
    }),
    ("Print", "T U**", "message= first_n=-1 summarize=3", |r, at| {
        let x = r.operand(at, 0)?;
        let first = r.input(at, 0)?;
        if r.num_inputs(at) != 2 || r.input(at, 1)? != first {
            return Err("only printing of its forwarded value is supported".to_owned());
        }
        let mut attrs = vec![("message", r.ctx.str_attr(&r.text(at, "message").unwrap_or_default()))];
        for name in ["first_n", "summarize", "U"] {
            attrs.extend(r.int(at, name).map(|v| (name, r.ctx.int_attr(v))));
        }
        r.op(at, pd::Print::NAME, &[x], &attrs)
    }),
    ("Relu6", "T", "", select::relu6),
    ("Rint", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        r.op(at, pd::Round::NAME, &[x], &[])
    }),
    ("Selu", "T", "", select::selu),
    ("Select", "bool T T", "", select::select),
    ("Softplus", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        // Above the threshold, the correction is zero in every precision.
        r.op(at, pd::Softplus::NAME, &[x], &[("threshold", r.ctx.float_attr(40.0))])
    }),
    ("StackPopV2", "handle", "elem_type", |r, at| {
        let stack = r.operand(at, 0)?;
        let elem = r.elem(at, "elem_type")?;
        let ty = stacks::popped(r, at, elem)?;
        let op = r.append(at, df::STACK_POP, &[stack], &[ty], &[])?;
        r.is_node(at, op);
        Ok(())
    }),
    ("StackPushV2", "handle T", "swap_memory=false", |r, at| {
        let operands = r.operands(at, 2)?;
        let swap = ("swap", r.ctx.bool_attr(true));
        let attrs = if r.flag(at, "swap_memory") {
            vec![swap]
        } else {
            Vec::new()
        };
        r.op(at, df::STACK_PUSH, &operands, &attrs)?;
        stacks::pushed(r, at, operands[1]);
        Ok(())
    }),
    // The executor uses neither the capacity nor the element type. The name is that of the node.
    ("StackV2", "i32", "elem_type stack_name=", |r, at| {
        r.input(at, 0)?;
        let _ = (r.elem(at, "elem_type")?, r.text(at, "stack_name"));
        r.op(at, df::STACK, &[], &[])
    }),
    ("Switch", "T bool -> output_false output_true", "", |r, at| {
        let operands = r.operands(at, 2)?;
        r.op_of(at, df::SWITCH, &operands, &[], 2)?;
        keeps_list(r, at, operands[0]);
        Ok(())
    }),
    ("_SwitchN", "T i32", "num_outs", switches::switch_n),
    ("ReadVariableOp", "handle", "dtype", |r, at| {
        let value = variable_of(r, at)?;
        r.values[at] = vec![value];
        Ok(())
    }),
    (
        "ResourceGather",
        "handle Tindices",
        "dtype batch_dims=0 validate_indices=true",
        |r, at| {
            let _ = r.flag(at, "validate_indices");
            if r.int(at, "batch_dims").unwrap_or(0) != 0 {
                return Err("batches are not supported".to_owned());
            }
            let (x, index) = (variable_of(r, at)?, r.operand(at, 1)?);
            select::gather_rows(r, at, x, index, 0)
        },
    ),
    (
        "VarHandleOp",
        "",
        "dtype shape=? container= shared_name= debug_name= allowed_devices=",
        |r, at| {
            let _ = (
                r.elem(at, "dtype")?,
                r.attr(at, "allowed_devices"),
                r.attr(at, "debug_name"),
                r.attr(at, "container"),
            );
            let own = r
                .text(at, "shared_name")
                .filter(|n| !n.is_empty())
                .unwrap_or_else(|| r.nodes[at].name.clone());
            let name = r.text(at, "_parameter_name").unwrap_or(own);
            let shape = match r.attr(at, "shape") {
                Some(Value::Shape(shape)) => shape.known().filter(|dims| dims.iter().all(|&d| d >= 0)),
                _ => None,
            };
            r.handles[at] = vec![Some(Handle::Variable { name, shape })];
            Ok(())
        },
    ),
    ("ZerosLike", "T", "", |r, at| full_like(r, at, 0.0)),
];

/// The row of an operation that has a reader.
pub(super) fn row(op: &str) -> Option<&'static Row> {
    static ROWS: LazyLock<FxHashMap<&str, &Row>> = LazyLock::new(|| {
        let tables = [
            TABLE,
            arrays::TABLE,
            composed::TABLE,
            const_operands::TABLE,
            contract::TABLE,
            detection::TABLE,
            functions::TABLE,
            images::TABLE,
            known::TABLE,
            library::TABLE,
            lists::TABLE,
            matrix::TABLE,
            nn::TABLE,
            places::TABLE,
            quantize::TABLE,
            random::TABLE,
            resize::TABLE,
            sets::TABLE,
            slopes::TABLE,
            sparse::TABLE,
            special::TABLE,
            spectrum::TABLE,
            volumes::TABLE,
            windows::TABLE,
        ];
        tables.into_iter().flatten().map(|row| (row.0, row)).collect()
    });
    ROWS.get(op).copied()
}

/// Reads a node.
pub(super) fn read(r: &mut Reader<'_>, at: usize, op: &str) -> Result<()> {
    if let Some((.., read)) = row(op) {
        return read(r, at);
    }
    match formats::from_tensorflow(op) {
        Some(form) => by_form(r, at, form),
        None if r.library.contains_key(op) => functions::call_of(r, at, op),
        None => Err("this operation is not supported".to_owned()),
    }
}

/// Reads a node that differs only in the order and names of inputs and attributes.
fn by_form(r: &mut Reader<'_>, at: usize, form: &TensorFlowForm) -> Result<()> {
    let mut operands: Vec<(usize, ValueId)> = Vec::new();
    let mut attrs: Vec<(&str, Attr)> = Vec::new();
    let mut index = 0;
    for input in form.inputs {
        let mut count = 1;
        match *input {
            TensorFlowInput::Operand(place) => operands.push((place, r.operand(at, index)?)),
            TensorFlowInput::Operands => {
                count = (r.num_inputs(at) + 1).saturating_sub(form.inputs.len());
                for i in index..index + count {
                    operands.push((0, r.operand(at, i)?));
                }
            }
            TensorFlowInput::List(name) => attrs.push((name, r.ctx.ints_attr(&r.list(at, index, name)?))),
            TensorFlowInput::Number(name) => attrs.push((name, r.ctx.int_attr(r.scalar(at, index, name)?))),
        }
        index += count;
    }
    for &(theirs, ours, default) in form.attributes {
        let value = match r.attr(at, theirs) {
            Some(Value::Bool(false)) => continue,
            Some(Value::Bool(true)) => r.ctx.bool_attr(true),
            Some(Value::Int(value)) => r.ctx.int_attr(*value),
            Some(Value::Float(value)) => r.ctx.float_attr(f64::from(*value)),
            Some(Value::Bytes(bytes)) => r.ctx.str_attr(&String::from_utf8_lossy(bytes)),
            Some(_) => return Err(format!("its attribute `{theirs}` has a value that is not supported")),
            None => match default.parse() {
                Ok(value) => r.ctx.float_attr(value),
                Err(_) => continue,
            },
        };
        attrs.push((ours, value));
    }
    operands.sort_by_key(|&(place, _)| place);
    let operands: Vec<ValueId> = operands.into_iter().map(|(_, value)| value).collect();
    r.op(at, form.op, &operands, &attrs)
}

fn passes_on(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    r.op(at, name, &[x], &[])?;
    keeps_list(r, at, x);
    Ok(())
}

/// The result is the same list as the operand.
fn keeps_list(r: &mut Reader<'_>, at: usize, x: ValueId) {
    for value in r.values[at].clone() {
        r.same_list(x, value);
    }
}

/// A node that gives its operand.
fn forward(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let op = if r.plain { pd::Assign::NAME } else { df::IDENTITY };
    r.op(at, op, &[x], &[])?;
    keeps_list(r, at, x);
    Ok(())
}

fn placeholder(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let elem = r.elem(at, "dtype")?;
    let dims = match r.attr(at, "shape") {
        Some(Value::Shape(shape)) => shape.known(),
        _ => r.written_shape(at, 0),
    };
    let name = r.text(at, "_input").unwrap_or_else(|| r.nodes[at].name.clone());
    let dims = given_shape(r, &name, dims)?;
    let ty = r.tensor(&dims, elem)?;
    let name = ("name", r.ctx.str_attr(&name));
    let op = match r.flag(at, "_parameter") {
        true => r.append(at, pd::Parameter::NAME, &[], &[ty], &[name])?,
        false => {
            let attrs = [
                name,
                ("shape", r.ctx.ints_attr(&dims)),
                ("dtype", r.ctx.type_attr(elem)),
            ];
            r.append(at, pd::Data::NAME, &[], &[ty], &attrs)?
        }
    };
    r.is_node(at, op);
    Ok(())
}

/// The shape of an input, with the options' values for dynamic dimensions.
fn given_shape(r: &Reader<'_>, name: &str, dims: Option<Vec<i64>>) -> Result<Vec<i64>> {
    let mut known = dims;
    for given in &r.options.shapes {
        known = match (given, known) {
            (InputShape::Of(of, given), known) if of == name => {
                let fits = |(a, b): (&i64, &i64)| a == b || *a < 0;
                if known.is_some_and(|k| k.len() != given.len() || !k.iter().zip(given).all(fits)) {
                    return Err(format!("it cannot have the shape {given:?}"));
                }
                Some(given.clone())
            }
            (InputShape::Open(extent), Some(dims)) => {
                Some(dims.iter().map(|&d| if d < 0 { *extent } else { d }).collect())
            }
            (_, known) => known,
        };
    }
    known.ok_or_else(|| "its shape is unknown; `--input-shape` gives it".to_owned())
}

fn enter(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let frame = r
        .text(at, "frame_name")
        .filter(|f| !f.is_empty())
        .ok_or("its frame has no name")?;
    // A sum of gradients of an array begins with a number.
    let x = match (r.learned.get(&r.place(at)).copied(), r.dims(x)) {
        (Some(ty), Ok((dims, _))) if dims.is_empty() => {
            let shape = r.ctx.as_tensor(ty).map(|(dims, _)| dims.to_vec()).unwrap_or_default();
            r.helper(at, pd::Expand::NAME, &[x], &[("shape", r.ctx.ints_attr(&shape))])?
        }
        _ => x,
    };
    let mut attrs: Vec<(&str, Attr)> = vec![("frame", r.ctx.str_attr(&frame))];
    if r.flag(at, "is_constant") {
        attrs.push(("constant", r.ctx.bool_attr(true)));
    }
    if let Some(count) = r.int(at, "parallel_iterations").filter(|&n| n != 10) {
        attrs.push(("parallel_iterations", r.ctx.int_attr(count)));
    }
    r.op(at, df::ENTER, &[x], &attrs)?;
    keeps_list(r, at, x);
    Ok(())
}

/// `NoOp`, and `ControlTrigger`, which also runs when what it waits for is dead.
fn no_op(r: &mut Reader<'_>, at: usize) -> Result<()> {
    match r.plain {
        true => Ok(()),
        false => r.op(at, df::NO_OP, &[], &[]),
    }
}

/// `EnsureShape`: what is dynamic in the input is given the shape.
fn ensure_shape(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (dims, _) = r.dims(x)?;
    let wanted = match r.attr(at, "shape") {
        Some(Value::Shape(shape)) => shape.known(),
        _ => None,
    };
    let wanted = wanted.unwrap_or_else(|| dims.clone());
    let fits = |(a, b): (&i64, &i64)| a == b || *a < 0 || *b < 0;
    if dims.len() != wanted.len() || !dims.iter().zip(&wanted).all(fits) {
        return Err("its input has another shape".to_owned());
    }
    let exact: Vec<i64> = dims
        .iter()
        .zip(&wanted)
        .map(|(&a, &b)| if a < 0 { b } else { a })
        .collect();
    match exact == dims || exact.iter().filter(|&&d| d < 0).count() > 1 {
        true => r.op(at, pd::Assign::NAME, &[x], &[]),
        false => r.op(at, pd::Reshape::NAME, &[x], &[("shape", r.ctx.ints_attr(&exact))]),
    }
}

/// The value of the variable that a node reads.
fn variable_of(r: &mut Reader<'_>, at: usize) -> Result<ValueId> {
    let elem = r.elem(at, "dtype")?;
    let input = r.input(at, 0)?;
    let Some(Handle::Variable { name, shape }) = r.handle(input) else {
        return Err("its variable is not in the graph".to_owned());
    };
    let dims = shape.ok_or("the shape of its variable is unknown")?;
    variable(r, at, &name, &dims, elem)
}

/// The value of a variable: a parameter, which is made once, at the top.
fn variable(r: &mut Reader<'_>, at: usize, name: &str, dims: &[i64], elem: Type) -> Result<ValueId> {
    if let Some(&value) = r.parameters.get(name) {
        return Ok(value);
    }
    let ty = r.tensor(dims, elem)?;
    let outer = std::mem::replace(&mut r.block, r.front);
    let op = r.append(at, pd::Parameter::NAME, &[], &[ty], &[("name", r.ctx.str_attr(name))]);
    r.block = outer;
    let op = op?;
    let value = r.body.result(op, 0);
    let short = crate::paddle::build::identifier(name);
    r.body.set_value_name(
        value,
        Some(ValueName {
            name: r.ctx.name(&short),
            pack: false,
        }),
    );
    r.parameters.insert(name.to_owned(), value);
    Ok(value)
}

/// The back edge of a merge is not read yet: the first input is a placeholder for it.
fn merge(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let inputs: Vec<Input> = (0..r.num_inputs(at)).map(|i| r.input(at, i)).collect::<Result<_>>()?;
    let forward = inputs.iter().find(|i| !r.is_back_edge(i.node, at));
    let first = match forward {
        Some(&input) => r.value(input)?,
        None => return Err("no value enters it".to_owned()),
    };
    let mut operands = Vec::with_capacity(inputs.len());
    for &input in &inputs {
        operands.push(match r.is_back_edge(input.node, at) {
            true => first,
            false => r.value(input)?,
        });
    }
    let back = inputs.iter().any(|i| r.is_back_edge(i.node, at));
    match operands.len() > 2 && !back {
        true => switches::merge_n(r, at, &operands)?,
        false => r.op_of(at, df::MERGE, &operands, &[], 2)?,
    }
    if let (Some(&ty), Some(&value)) = (r.learned.get(&r.place(at)), r.values[at].first()) {
        r.body.set_value_type(value, ty);
    }
    if let Some(&value) = r.values[at].first() {
        r.same_list(first, value);
    }
    let op = r.values[at].first().and_then(|&v| r.body.defining_op(v));
    for (index, &input) in inputs.iter().enumerate() {
        if let Some(op) = op.filter(|_| r.is_back_edge(input.node, at)) {
            r.back_edges.push((op, index, input));
        }
    }
    if matches!(r.attr(at, "T"), Some(Value::Type(RESOURCE))) && inputs.len() > 2 {
        return Err("a handle is merged".to_owned());
    }
    Ok(())
}

fn full_like(r: &mut Reader<'_>, at: usize, value: f64) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (_, elem) = r.dims(x)?;
    let attrs = [
        ("value", number_of(r.ctx, elem, value)),
        ("dtype", r.ctx.type_attr(elem)),
    ];
    r.op(at, pd::FullLike::NAME, &[x], &attrs)
}
