//! Inputs, outputs, constants, and the operations that pass values between iterations and branches.

use pir_dialects::{df, pd};
use pir_ir::{AttrData, Elements};

use super::super::super::PREVENT_GRADIENT;
use super::super::super::proto::{TensorShape, Value};
use super::super::super::types::{self, BOOL, INT32, Number};
use super::super::emit::{Emit, Result, side_name};
use super::Write;

pub(super) const TABLE: &[(&str, Write)] = &[
    ("data", input),
    ("feed", input),
    ("parameter", input),
    ("fetch", output),
    ("shadow_output", output),
    ("full", full),
    ("const", full),
    ("constant", full),
    ("full_int_array", full_int_array),
    ("assign_value", assign_value),
    ("detach", detach),
    ("full_like", full_like),
    ("print", print),
];

fn input(e: &mut Emit<'_, '_>) -> Result<()> {
    let (dims, elem) = e.result_type(0)?;
    let name = e.view.str("name").ok_or("its name is missing")?;
    if e.view.name() == pd::Parameter::NAME && !e.w.variables.is_empty() {
        let handle = e.w.variables.get(name).cloned();
        let handle = handle.ok_or_else(|| format!("the SavedModel has no variable `{name}`"))?;
        let attrs = [("dtype", e.dtype(elem)?), ("_variable", Value::Bytes(name.into()))];
        e.node("ReadVariableOp", &[handle], &attrs);
        return Ok(());
    }
    let mut attrs = vec![
        ("dtype", e.dtype(elem)?),
        ("shape", Value::Shape(TensorShape::of(&dims))),
        ("_input", Value::Bytes(name.into())),
    ];
    if e.view.name() == pd::Parameter::NAME {
        attrs.push(("_parameter", Value::Bool(true)));
    }
    e.node("Placeholder", &[], &attrs);
    Ok(())
}

fn output(e: &mut Emit<'_, '_>) -> Result<()> {
    let value = e.input(0)?;
    let name = e.view.str("name").ok_or("its name is missing")?;
    let attrs = [
        ("T", e.value_dtype(e.view.operand_type(0))?),
        ("_output", Value::Bytes(name.into())),
    ];
    e.node("Identity", &[value], &attrs);
    Ok(())
}

fn full(e: &mut Emit<'_, '_>) -> Result<()> {
    let attr = e.view.attr("value").ok_or("its value is missing")?;
    let value = e.value(attr)?;
    constant(e, &[value])
}

fn full_int_array(e: &mut Emit<'_, '_>) -> Result<()> {
    let values = e.ints("value").ok_or("its value is missing")?;
    let numbers: Vec<Number> = values.iter().map(|&v| Number::Int(v.into())).collect();
    constant(e, &numbers)
}

fn assign_value(e: &mut Emit<'_, '_>) -> Result<()> {
    let attr = e.view.attr("values").ok_or("its values are missing")?;
    let numbers: Vec<Number> = match e.w.ctx.attr_data(attr) {
        AttrData::Elements(elements) => return dense(e, elements),
        AttrData::Ints(values) => values.iter().map(|&v| Number::Int(v.into())).collect(),
        AttrData::Array(values) => values.iter().map(|&v| e.value(v)).collect::<Result<_>>()?,
        _ => return Err("its values must be numbers".to_owned()),
    };
    constant(e, &numbers)
}

/// Elements that are bytes already.
fn dense(e: &mut Emit<'_, '_>, elements: &Elements) -> Result<()> {
    let (dims, elem) = e.result_type(0)?;
    let stored = e.w.ctx.as_tensor(elements.ty()).map(|(_, elem)| elem);
    let Value::Type(code) = e.dtype(elem)? else {
        return Err("its element type is unknown".to_owned());
    };
    if stored == Some(elem) && !elements.is_splat() && !elements.is_complex() {
        let tensor = types::dense(code, &dims, elements.bytes().to_vec());
        let attrs = [("dtype", Value::Type(code)), ("value", Value::Tensor(tensor))];
        e.node("Const", &[], &attrs);
        return Ok(());
    }
    let numbers: Vec<Number> = match (elements.ints(), elements.floats()) {
        (Some(ints), _) => ints.map(|v| Number::Int(v.into())).collect(),
        (_, Some(floats)) => floats.map(Number::Float).collect(),
        _ => return Err("its values must be numbers".to_owned()),
    };
    constant(e, &numbers)
}

/// `StopGradient`, or `PreventGradient`.
fn detach(e: &mut Emit<'_, '_>) -> Result<()> {
    let (x, ty) = (e.input(0)?, e.dtype(e.elem()?)?);
    match e.view.str(PREVENT_GRADIENT) {
        Some(message) => {
            let message = Value::Bytes(message.into());
            e.node("PreventGradient", &[x], &[("T", ty), ("message", message)]);
        }
        None => e.node("StopGradient", &[x], &[("T", ty)]),
    }
    Ok(())
}

/// The node of a constant. Control edges of the graph make it run in each iteration.
fn constant(e: &mut Emit<'_, '_>, values: &[Number]) -> Result<()> {
    let (mut dims, elem) = e.result_type(0)?;
    let Value::Type(code) = e.dtype(elem)? else {
        return Err("its element type is unknown".to_owned());
    };
    // A list that grows has no known length, and begins with one.
    if dims.iter().any(|&d| d < 0)
        && let Some(shape) = e.ints("shape")
    {
        dims = shape;
    }
    let tensor = types::tensor(code, &dims, values)?;
    e.node(
        "Const",
        &[],
        &[("dtype", Value::Type(code)), ("value", Value::Tensor(tensor))],
    );
    Ok(())
}

fn full_like(e: &mut Emit<'_, '_>) -> Result<()> {
    let (_, elem) = e.result_type(0)?;
    let value = e.number("value", 0.0, elem)?;
    let shape = e.shape_of(0)?;
    let attrs = [("T", e.dtype(elem)?), ("index_type", Value::Type(types::INT64))];
    e.node("Fill", &[shape, value], &attrs);
    Ok(())
}

fn print(e: &mut Emit<'_, '_>) -> Result<()> {
    let value = e.input(0)?;
    let ty = e.dtype(e.elem()?)?;
    let Value::Type(code) = ty else {
        return Err("its element type is unknown".to_owned());
    };
    let list = super::super::super::proto::ListValue {
        types: vec![code],
        ..Default::default()
    };
    let message = e.view.str("message").unwrap_or("");
    let attrs = [
        ("T", ty),
        ("U", Value::List(list)),
        ("message", Value::Bytes(message.into())),
        ("first_n", Value::Int(e.view.int("first_n").unwrap_or(-1))),
        ("summarize", Value::Int(e.view.int("summarize").unwrap_or(20))),
    ];
    e.node("Print", &[value.clone(), value], &attrs);
    Ok(())
}

/// The operations of the dialect `df`.
pub(super) fn write(e: &mut Emit<'_, '_>) -> Result<()> {
    let name = e.view.name();
    let op = match name {
        df::SWITCH => return switch(e),
        df::MERGE => return merge(e),
        df::ENTER => return enter(e),
        df::LOOP_COND => return loop_cond(e),
        df::STACK => return stack(e),
        df::STACK_PUSH => return push(e),
        df::STACK_POP => return pop(e),
        df::NO_OP => {
            e.node("NoOp", &[], &[]);
            return Ok(());
        }
        df::EXIT => "Exit",
        df::NEXT_ITERATION => "NextIteration",
        df::IDENTITY => "Identity",
        _ => return Err("TensorFlow has no operation for it".to_owned()),
    };
    let value = e.input(0)?;
    let attrs = [("T", e.value_dtype(e.view.operand_type(0))?)];
    e.node(op, &[value], &attrs);
    Ok(())
}

/// A condition as a scalar, as switches require.
fn truth(e: &mut Emit<'_, '_>, index: usize) -> Result<String> {
    let (dims, elem) = e.operand_type(index)?;
    let value = e.input(index)?;
    let value = match e.w.ctx.type_data(elem) {
        pir_ir::TypeData::Integer { width: 1, .. } => value,
        _ => e.op(
            "Cast",
            &[value],
            &[("SrcT", e.dtype(elem)?), ("DstT", Value::Type(BOOL))],
        ),
    };
    match dims.is_empty() {
        true => Ok(value),
        false => {
            let mut inputs = vec![value.clone()];
            // A node whose only operands are constant enters needs a control edge from a value of the iteration.
            let constant = e.is_constant_enter(index);
            let key = format!("scalar {value}");
            if constant {
                inputs.extend(e.anchor().ok());
            } else if let Some(name) = e.w.shared.get(&key) {
                return Ok(name.clone());
            }
            let axes = (0..dims.len() as i64).collect();
            let attrs = [("T", Value::Type(BOOL)), ("squeeze_dims", super::shape::ints(axes))];
            if constant {
                return Ok(e.op("Squeeze", &inputs, &attrs));
            }
            let scalar = e.free_op("Squeeze", &inputs, &attrs);
            e.w.shared.insert(key, scalar.clone());
            Ok(scalar)
        }
    }
}

fn switch(e: &mut Emit<'_, '_>) -> Result<()> {
    let value = e.input(0)?;
    let condition = match e.loop_cond(1) {
        Some(name) => name,
        None => truth(e, 1)?,
    };
    let attrs = [("T", e.value_dtype(e.view.operand_type(0))?)];
    let name = e.result_name(0);
    for side in [0, 1] {
        if e.has_side(side) {
            let result = match side {
                0 => name.clone(),
                _ => format!("{name}:1"),
            };
            e.named_op(side_name(&name, side), "Identity", &[result], &attrs);
        }
    }
    e.node("Switch", &[value, condition], &attrs);
    Ok(())
}

fn merge(e: &mut Emit<'_, '_>) -> Result<()> {
    let inputs = e.inputs()?;
    let attrs = [
        ("T", e.value_dtype(e.view.operand_type(0))?),
        ("N", Value::Int(inputs.len() as i64)),
    ];
    e.node("Merge", &inputs, &attrs);
    Ok(())
}

fn enter(e: &mut Emit<'_, '_>) -> Result<()> {
    let value = e.input(0)?;
    let frame = e
        .view
        .str("frame")
        .filter(|f| !f.is_empty())
        .ok_or("its frame has no name")?;
    let parallel = e.view.int("parallel_iterations").unwrap_or(10);
    let attrs = [
        ("T", e.value_dtype(e.view.operand_type(0))?),
        ("frame_name", Value::Bytes(frame.into())),
        ("is_constant", Value::Bool(e.flag("constant", false))),
        ("parallel_iterations", Value::Int(parallel.max(1))),
    ];
    e.node("Enter", &[value], &attrs);
    Ok(())
}

fn loop_cond(e: &mut Emit<'_, '_>) -> Result<()> {
    let condition = truth(e, 0)?;
    e.node("LoopCond", &[condition], &[]);
    Ok(())
}

fn stack(e: &mut Emit<'_, '_>) -> Result<()> {
    let elem = e.stack_elem()?;
    let size = e.constant(INT32, &[], &[Number::Int(-1)])?;
    let name = e.result_name(0);
    e.node(
        "StackV2",
        &[size],
        &[("elem_type", elem), ("stack_name", Value::Bytes(name.into()))],
    );
    Ok(())
}

fn push(e: &mut Emit<'_, '_>) -> Result<()> {
    let inputs = [e.input(0)?, e.input(1)?];
    let attrs = [
        ("T", e.value_dtype(e.view.operand_type(1))?),
        ("swap_memory", Value::Bool(e.flag("swap", false))),
    ];
    e.node("StackPushV2", &inputs, &attrs);
    Ok(())
}

fn pop(e: &mut Emit<'_, '_>) -> Result<()> {
    let inputs = [e.input(0)?];
    let attrs = [("elem_type", e.value_dtype(e.view.result_type(0))?)];
    e.node("StackPopV2", &inputs, &attrs);
    Ok(())
}
