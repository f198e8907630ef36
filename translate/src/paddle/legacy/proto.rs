//! `ProgramDesc` messages. The tags are those of Paddle's `framework.proto`; fields that are not needed are omitted.

use pir_ir::budget::Reservation;
use pir_ir::{Context, Diagnostic, Span};
use prost::Message;

use super::{Attribute, Block, Op, Var, dtype, error};
use crate::schemas;
use crate::wire;

#[derive(Clone, PartialEq, Message)]
struct ProgramDesc {
    #[prost(message, repeated, tag = "1")]
    blocks: Vec<BlockDesc>,
}

#[derive(Clone, PartialEq, Message)]
struct BlockDesc {
    #[prost(int32, tag = "1")]
    idx: i32,
    #[prost(message, repeated, tag = "3")]
    vars: Vec<VarDesc>,
    #[prost(message, repeated, tag = "4")]
    ops: Vec<OpDesc>,
}

#[derive(Clone, PartialEq, Message)]
struct VarDesc {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    r#type: Option<VarType>,
    #[prost(bool, optional, tag = "3")]
    persistable: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    stop_gradient: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
struct VarType {
    #[prost(int32, tag = "1")]
    r#type: i32,
    #[prost(message, optional, tag = "3")]
    tensor: Option<TensorHolder>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorHolder {
    #[prost(message, optional, tag = "1")]
    tensor: Option<TensorDesc>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorDesc {
    #[prost(int32, tag = "1")]
    data_type: i32,
    #[prost(int64, repeated, packed = "false", tag = "2")]
    dims: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct OpDesc {
    #[prost(message, repeated, tag = "1")]
    inputs: Vec<OpVar>,
    #[prost(message, repeated, tag = "2")]
    outputs: Vec<OpVar>,
    #[prost(string, tag = "3")]
    r#type: String,
    #[prost(message, repeated, tag = "4")]
    attrs: Vec<OpAttr>,
}

#[derive(Clone, PartialEq, Message)]
struct OpVar {
    #[prost(string, tag = "1")]
    parameter: String,
    #[prost(string, repeated, tag = "2")]
    arguments: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct OpAttr {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, tag = "2")]
    r#type: i32,
    #[prost(int32, optional, tag = "3")]
    i: Option<i32>,
    #[prost(float, optional, tag = "4")]
    f: Option<f32>,
    #[prost(string, optional, tag = "5")]
    s: Option<String>,
    #[prost(int32, repeated, packed = "false", tag = "6")]
    ints: Vec<i32>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    floats: Vec<f32>,
    #[prost(string, repeated, tag = "8")]
    strings: Vec<String>,
    #[prost(bool, optional, tag = "10")]
    b: Option<bool>,
    #[prost(bool, repeated, packed = "false", tag = "11")]
    bools: Vec<bool>,
    #[prost(int32, optional, tag = "12")]
    block_idx: Option<i32>,
    #[prost(int64, optional, tag = "13")]
    l: Option<i64>,
    #[prost(int64, repeated, packed = "false", tag = "15")]
    longs: Vec<i64>,
    #[prost(double, repeated, packed = "false", tag = "16")]
    float64s: Vec<f64>,
    #[prost(double, optional, tag = "19")]
    float64: Option<f64>,
}

/// Reads a message.
pub(super) fn read(ctx: &Context, source: &[u8]) -> Result<Vec<Block>, Vec<Diagnostic>> {
    let not = |what: String| {
        error(
            Span::default(),
            format!("this is not a program of PaddlePaddle 2: {what}"),
        )
    };
    let mut held = Reservation::default();
    let faults = wire::check(source, &schemas::PROGRAM, &mut held);
    if !faults.is_empty() {
        let tell = |f: wire::Fault| not(format!("{}, at byte {}", f.message, f.at));
        return Err(faults.into_iter().map(tell).collect());
    }
    let program = ProgramDesc::decode(source).map_err(|e| vec![not(e.to_string())])?;
    let mut errors = Vec::new();
    let mut blocks = Vec::with_capacity(program.blocks.len());
    let spans = wire::spans(source, 1);
    for (index, (block, span)) in program.blocks.into_iter().zip(spans).enumerate() {
        // Blocks are referred to by position: one with another index would be confused with another.
        if usize::try_from(block.idx) != Ok(index) {
            let message = format!("the block {index} has the index {}", block.idx);
            errors.push(error(span, message));
        }
        let ops = wire::spans_in(source, span, 4);
        blocks.push(read_block(ctx, block, &ops, &mut errors));
    }
    if blocks.iter().all(|b| b.ops.is_empty()) {
        errors.push(not("there is no operation in it".to_owned()));
    }
    match errors.is_empty() {
        true => Ok(blocks),
        false => Err(errors),
    }
}

fn read_block(ctx: &Context, block: BlockDesc, spans: &[Span], errors: &mut Vec<Diagnostic>) -> Block {
    let ops = block.ops.into_iter().zip(spans);
    Block {
        vars: block.vars.into_iter().map(|var| read_var(ctx, var)).collect(),
        ops: ops.map(|(op, &span)| read_op(op, span, errors)).collect(),
    }
}

fn read_var(ctx: &Context, var: VarDesc) -> Var {
    let tensor = var.r#type.and_then(|ty| ty.tensor).and_then(|holder| holder.tensor);
    Var {
        name: var.name,
        tensor: tensor.and_then(|tensor| Some((tensor.dims, dtype(ctx, tensor.data_type.into())?))),
        persistable: var.persistable.unwrap_or(false),
        stop_gradient: var.stop_gradient.unwrap_or(false),
        span: Span::default(),
    }
}

fn read_op(op: OpDesc, span: Span, errors: &mut Vec<Diagnostic>) -> Op {
    let mut attributes: Vec<(String, Attribute)> = Vec::with_capacity(op.attrs.len());
    for attr in op.attrs {
        let (name, kind) = (attr.name.clone(), attr.r#type);
        match read_attribute(attr) {
            // PaddlePaddle itself writes some attributes twice.
            Some(value) if attributes.contains(&value) => {}
            Some(_) if attributes.iter().any(|(n, _)| *n == name) => {
                let message = format!("`{}` has the attribute `{name}` twice, with two values", op.r#type);
                errors.push(error(span, message));
            }
            Some(value) => attributes.push(value),
            None => {
                let message = format!(
                    "the attribute `{name}` of `{}` has type {kind}, which is unsupported or does not match its value",
                    op.r#type
                );
                errors.push(error(span, message));
            }
        }
    }
    let arguments = |vars: Vec<OpVar>| vars.into_iter().map(|v| (v.parameter, v.arguments)).collect();
    Op {
        kind: op.r#type,
        inputs: arguments(op.inputs),
        outputs: arguments(op.outputs),
        attributes,
        seen: Default::default(),
        span,
    }
}

fn read_attribute(attr: OpAttr) -> Option<(String, Attribute)> {
    let value = match attr.r#type {
        0 => Attribute::Int(attr.i?.into()),
        1 => Attribute::Float(attr.f?.into()),
        2 => Attribute::Str(attr.s?),
        3 => Attribute::Ints(attr.ints.into_iter().map(i64::from).collect()),
        4 => Attribute::Floats(attr.floats.into_iter().map(f64::from).collect()),
        5 => Attribute::Strs(attr.strings),
        6 => Attribute::Bool(attr.b?),
        7 => Attribute::Ints(attr.bools.into_iter().map(i64::from).collect()),
        8 => Attribute::Block(usize::try_from(attr.block_idx?).ok()?),
        9 => Attribute::Int(attr.l?),
        11 => Attribute::Ints(attr.longs),
        12 => Attribute::Floats(attr.float64s),
        15 => Attribute::Float(attr.float64?),
        _ => return None,
    };
    Some((attr.name, value))
}
