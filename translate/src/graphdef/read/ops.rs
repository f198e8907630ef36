//! What TensorFlow's operations are here.

use pir_ir::{Attr, Context, Type};

use super::super::PREVENT_GRADIENT;
use super::super::proto::Value;
use super::super::table::{BINARY, UNARY};
use super::super::types::RESOURCE;
use super::{Input, Reader, Result};
use super::{moves, select};

/// A function that reads a node.
pub(super) type Read = fn(&mut Reader<'_>, usize) -> Result<()>;

/// Operations that only graphs have.
pub(super) fn is_control_flow(op: &str) -> bool {
    matches!(
        op,
        "Switch"
            | "RefSwitch"
            | "Merge"
            | "RefMerge"
            | "Enter"
            | "RefEnter"
            | "Exit"
            | "RefExit"
            | "NextIteration"
            | "RefNextIteration"
            | "LoopCond"
            | "StackV2"
            | "StackPushV2"
            | "StackPopV2"
    )
}

/// Other names of operations in the tables.
pub(super) const ALIASES: &[(&str, &str)] = &[
    ("Add", "pd.add"),
    ("BiasAdd", "pd.add"),
    ("Div", "pd.divide"),
    ("RealDiv", "pd.divide"),
    ("TruncateDiv", "pd.divide"),
    ("BitwiseAnd", "pd.bitwise_and"),
    ("BitwiseOr", "pd.bitwise_or"),
    ("BitwiseXor", "pd.bitwise_xor"),
    ("LogicalAnd", "pd.logical_and"),
    ("LogicalOr", "pd.logical_or"),
    ("Invert", "pd.bitwise_not"),
    ("LogicalNot", "pd.logical_not"),
    ("Snapshot", "pd.assign"),
    ("StopGradient", "pd.detach"),
    ("GatherNd", "pd.gather_nd"),
    ("Selu", "pd.selu"),
];

pub(super) const TABLE: &[(&str, Read)] = &[
    ("AddN", |r, at| {
        let operands = r.operands(at, r.num_inputs(at))?;
        r.op(at, "pd.add_n", &operands, &[])
    }),
    ("BatchMatMul", |r, at| matmul(r, at, ["adj_x", "adj_y"])),
    ("BatchMatMulV2", |r, at| matmul(r, at, ["adj_x", "adj_y"])),
    ("Cast", |r, at| {
        let (x, elem) = (r.operand(at, 0)?, r.elem(at, "DstT")?);
        r.op(at, "pd.cast", &[x], &[("dtype", r.ctx.type_attr(elem))])
    }),
    ("Const", |r, at| match r.attr(at, "value") {
        Some(Value::Tensor(tensor)) if tensor.dtype == 7 => Err("strings are not known here".to_owned()),
        _ => Err("its tensor is malformed".to_owned()),
    }),
    ("Einsum", |r, at| {
        let operands = r.operands(at, r.num_inputs(at))?;
        let equation = r.text(at, "equation").unwrap_or_default();
        r.op(at, "pd.einsum", &operands, &[("equation", r.ctx.str_attr(&equation))])
    }),
    ("Elu", |r, at| {
        let x = r.operand(at, 0)?;
        r.op(at, "pd.elu", &[x], &[("alpha", r.ctx.float_attr(1.0))])
    }),
    ("Enter", enter),
    ("Erfc", |r, at| {
        let x = r.operand(at, 0)?;
        let erf = r.helper(at, "pd.erf", &[x], &[])?;
        let attrs = [("scale", r.ctx.float_attr(-1.0)), ("bias", r.ctx.float_attr(1.0))];
        r.op(at, "pd.scale", &[erf], &attrs)
    }),
    ("Exit", |r, at| passes_on(r, at, "df.exit")),
    // Of floats it is the quotient cut off, also where that is infinite.
    ("FloorDiv", |r, at| {
        let operands = r.operands(at, 2)?;
        let (_, elem) = r.dims(operands[0])?;
        if !r.ctx.is_float(elem) {
            return r.op(at, "pd.floor_divide", &operands, &[]);
        }
        let quotient = r.helper(at, "pd.divide", &operands, &[])?;
        r.op(at, "pd.floor", &[quotient], &[])
    }),
    ("Identity", |r, at| {
        let x = r.operand(at, 0)?;
        if let Some(name) = r.text(at, "_output") {
            r.append(at, "pd.fetch", &[x], &[], &[("name", r.ctx.str_attr(&name))])?;
            return Ok(());
        }
        let op = if r.plain { "pd.assign" } else { "df.identity" };
        r.op(at, op, &[x], &[])
    }),
    ("LeakyRelu", |r, at| {
        let x = r.operand(at, 0)?;
        let slope = match r.attr(at, "alpha") {
            Some(Value::Float(value)) => f64::from(*value),
            _ => 0.2,
        };
        r.op(
            at,
            "pd.leaky_relu",
            &[x],
            &[("negative_slope", r.ctx.float_attr(slope))],
        )
    }),
    ("LogSoftmax", |r, at| softmax(r, at, "pd.log_softmax")),
    ("LoopCond", |r, at| passes_on(r, at, "df.loop_cond")),
    ("MatMul", |r, at| matmul(r, at, ["transpose_a", "transpose_b"])),
    ("Merge", merge),
    ("NextIteration", |r, at| passes_on(r, at, "df.next_iteration")),
    ("NoOp", |r, at| match r.plain {
        true => Ok(()),
        false => r.op(at, "df.no_op", &[], &[]),
    }),
    ("OnesLike", |r, at| full_like(r, at, 1.0)),
    ("Placeholder", placeholder),
    ("PreventGradient", |r, at| {
        let x = r.operand(at, 0)?;
        let message = r.text(at, "message").unwrap_or_default();
        r.op(at, "pd.detach", &[x], &[(PREVENT_GRADIENT, r.ctx.str_attr(&message))])
    }),
    ("Print", |r, at| {
        let x = r.operand(at, 0)?;
        let first = r.input(at, 0)?;
        if r.num_inputs(at) != 2 || r.input(at, 1)? != first {
            return Err("only what it hands on is printed here".to_owned());
        }
        let mut attrs = vec![("message", r.ctx.str_attr(&r.text(at, "message").unwrap_or_default()))];
        for name in ["first_n", "summarize", "U"] {
            attrs.extend(r.int(at, name).map(|v| (name, r.ctx.int_attr(v))));
        }
        r.op(at, "pd.print", &[x], &attrs)
    }),
    ("Relu6", select::relu6),
    ("ReluGrad", |r, at| {
        let (g, out) = (r.operand(at, 0)?, r.operand(at, 1)?);
        r.op(at, "pd.relu_grad", &[out, g], &[])
    }),
    ("Select", select::select),
    ("SelectV2", |r, at| {
        let operands = r.operands(at, 3)?;
        r.op(at, "pd.where", &operands, &[])
    }),
    ("Softmax", |r, at| softmax(r, at, "pd.softmax")),
    ("Softplus", |r, at| {
        let x = r.operand(at, 0)?;
        // Where nothing more is to be added in any precision.
        r.op(at, "pd.softplus", &[x], &[("threshold", r.ctx.float_attr(40.0))])
    }),
    ("StackPopV2", |r, at| {
        let stack = r.operand(at, 0)?;
        let elem = r.elem(at, "elem_type")?;
        let dims = r
            .written_shape(at, 0)
            .ok_or("`_output_shapes` does not tell the shape of what is popped")?;
        let ty = r.tensor(&dims, elem)?;
        let op = r.append(at, "df.stack_pop", &[stack], &[ty], &[])?;
        r.is_node(at, op);
        Ok(())
    }),
    ("StackPushV2", |r, at| {
        let operands = r.operands(at, 2)?;
        let swap = ("swap", r.ctx.bool_attr(true));
        let attrs = if r.flag(at, "swap_memory") {
            vec![swap]
        } else {
            Vec::new()
        };
        r.op(at, "df.stack_push", &operands, &attrs)
    }),
    // How much it may hold, and what: the executor has no use for either. Its name is that of the node.
    ("StackV2", |r, at| {
        r.input(at, 0)?;
        let _ = (r.elem(at, "elem_type")?, r.text(at, "stack_name"));
        r.op(at, "df.stack", &[], &[])
    }),
    ("Switch", |r, at| {
        let operands = r.operands(at, 2)?;
        r.op_of(at, "df.switch", &operands, &[], 2)
    }),
    ("ZerosLike", |r, at| full_like(r, at, 0.0)),
];

/// The name of an operation, the same for references as for values.
pub(super) fn plain_name(op: &str) -> &str {
    op.strip_prefix("Ref")
        .filter(|rest| is_control_flow(rest))
        .unwrap_or(op)
}

/// Reads a node.
pub(super) fn read(r: &mut Reader<'_>, at: usize, op: &str) -> Result<()> {
    let entry = TABLE.iter().chain(moves::TABLE).find(|(name, _)| *name == op);
    if let Some((_, read)) = entry {
        return read(r, at);
    }
    if op == "BiasAdd" && r.text(at, "data_format").as_deref() == Some("NCHW") {
        return Err("channels in front are not known here".to_owned());
    }
    let named = |table: &[(&'static str, &'static str)]| {
        let entry = table.iter().find(|(_, name)| *name == op);
        entry.map(|(name, _)| format!("pd.{name}"))
    };
    let alias = ALIASES.iter().find(|(name, _)| *name == op);
    let (name, count) = match (named(UNARY), named(BINARY), alias) {
        (Some(name), ..) => (name, 1),
        (_, Some(name), _) => (name, 2),
        (.., Some((_, name))) => ((*name).to_owned(), r.num_inputs(at).min(2)),
        _ => return Err("this operation is not known here".to_owned()),
    };
    let operands = r.operands(at, count)?;
    r.op(at, &name, &operands, &[])
}

fn passes_on(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    r.op(at, name, &[x], &[])
}

fn placeholder(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let elem = r.elem(at, "dtype")?;
    let dims = match r.attr(at, "shape") {
        Some(Value::Shape(shape)) => shape.known(),
        _ => r.written_shape(at, 0),
    };
    let dims = dims.ok_or("its shape is not known")?;
    let ty = r.tensor(&dims, elem)?;
    let name = r.text(at, "_input").unwrap_or_else(|| r.nodes[at].name.clone());
    let name = ("name", r.ctx.str_attr(&name));
    let op = match r.flag(at, "_parameter") {
        true => r.append(at, "pd.parameter", &[], &[ty], &[name])?,
        false => {
            let attrs = [
                name,
                ("shape", r.ctx.ints_attr(&dims)),
                ("dtype", r.ctx.type_attr(elem)),
            ];
            r.append(at, "pd.data", &[], &[ty], &attrs)?
        }
    };
    r.is_node(at, op);
    Ok(())
}

fn enter(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let x = r.operand(at, 0)?;
    let frame = r
        .text(at, "frame_name")
        .filter(|f| !f.is_empty())
        .ok_or("its frame has no name")?;
    let mut attrs: Vec<(&str, Attr)> = vec![("frame", r.ctx.str_attr(&frame))];
    if r.flag(at, "is_constant") {
        attrs.push(("constant", r.ctx.bool_attr(true)));
    }
    if let Some(count) = r.int(at, "parallel_iterations").filter(|&n| n != 10) {
        attrs.push(("parallel_iterations", r.ctx.int_attr(count)));
    }
    r.op(at, "df.enter", &[x], &attrs)
}

/// What comes from the iteration before is not there yet: something else stands for it.
fn merge(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let inputs: Vec<Input> = (0..r.num_inputs(at)).map(|i| r.input(at, i)).collect::<Result<_>>()?;
    let forward = inputs.iter().find(|i| !r.is_back_edge(i.node, at));
    let first = match forward {
        Some(&input) => r.value(input)?,
        None => return Err("nothing enters it".to_owned()),
    };
    let mut operands = Vec::with_capacity(inputs.len());
    for &input in &inputs {
        operands.push(match r.is_back_edge(input.node, at) {
            true => first,
            false => r.value(input)?,
        });
    }
    r.op_of(at, "df.merge", &operands, &[], 2)?;
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
    r.op(at, "pd.full_like", &[x], &attrs)
}

/// A number as an attribute of a constant of a type.
pub(super) fn number_of(ctx: &Context, elem: Type, value: f64) -> Attr {
    match elem {
        Type::I1 => ctx.bool_attr(value != 0.0),
        elem if ctx.is_float(elem) => ctx.float_attr(value),
        _ => ctx.int_attr(value as i64),
    }
}

fn matmul(r: &mut Reader<'_>, at: usize, names: [&str; 2]) -> Result<()> {
    let operands = r.operands(at, 2)?;
    let [x, y] = names.map(|name| r.flag(at, name));
    let mut attrs = Vec::new();
    for (name, set) in [("transpose_x", x), ("transpose_y", y)] {
        if set {
            attrs.push((name, r.ctx.bool_attr(true)));
        }
    }
    r.op(at, "pd.matmul", &operands, &attrs)
}

fn softmax(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let x = r.operand(at, 0)?;
    r.op(at, name, &[x], &[("axis", r.ctx.int_attr(-1))])
}
