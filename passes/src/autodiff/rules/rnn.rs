//! The rule of recurrent networks: they are unrolled where the adjoint is built, and differentiated there.

use pir_ir::{TypeData, ValueId};
use smallvec::{SmallVec, smallvec};

use super::twins::{Expand, expanded};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[rule("pd.rnn", expanded)];

pub(super) const COMPOSITES: &[(&str, Expand)] = &[("pd.rnn", unrolled)];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Tanh,
    Relu,
    Lstm,
    Gru,
}

/// The weights of one layer in one direction.
struct Weights {
    input: ValueId,
    state: ValueId,
    bias: [ValueId; 2],
}

fn unrolled(cx: &mut RuleCx<'_, '_>) -> Result<SmallVec<[ValueId; 2]>, String> {
    let mode = match cx.view().str("mode") {
        Some("LSTM") => Mode::Lstm,
        Some("GRU") => Mode::Gru,
        Some("RNN_RELU") => Mode::Relu,
        _ => Mode::Tanh,
    };
    if cx.num_operands() > 4 {
        return Err("`sequence_length` of `pd.rnn` is not supported".to_owned());
    }
    let shape = cx
        .ctx()
        .as_tensor(cx.operand_type(0))
        .map_or(&[][..], |(shape, _)| shape);
    let Some(&steps @ 0..) = shape.first() else {
        return Err(
            "the number of steps is not known: save the program with a fixed one, or with `paddle.nn.RNN` of a cell, \
             which is a loop"
                .to_owned(),
        );
    };
    let layers = cx.view().int("num_layers").unwrap_or(1).max(1) as usize;
    let both = cx.view().bool("is_bidirec").unwrap_or(false);
    let dropout = cx.view().f64("dropout_prob").unwrap_or(0.0) > 0.0;
    if layers > 1 && dropout && !cx.view().bool("is_test").unwrap_or(false) {
        return Err("dropout between the layers of `pd.rnn` is not supported".to_owned());
    }
    let directions = if both { 2 } else { 1 };
    let cells = layers * directions;
    let (first, weights) = (elements(cx, 1)?, elements(cx, 2)?);
    if weights.len() != 4 * cells || first.len() != if mode == Mode::Lstm { 2 } else { 1 } {
        return Err("the lists of states and weights do not fit the mode and the layers".to_owned());
    }
    let mut sequence = cx.operand(0);
    let mut last: Vec<Vec<ValueId>> = vec![Vec::new(); first.len()];
    for layer in 0..layers {
        let mut outs = Vec::new();
        for direction in 0..directions {
            let cell = layer * directions + direction;
            let own = Weights {
                input: weights[2 * cell],
                state: weights[2 * cell + 1],
                bias: [weights[2 * (cells + cell)], weights[2 * (cells + cell) + 1]],
            };
            let mut state = Vec::new();
            for &all in &first {
                state.push(row(cx, all, cell)?);
            }
            let projected = affine_map(cx, sequence, own.input, own.bias[0])?;
            let mut steps = results(cx, "pd.unstack", projected, &[("axis", 0), ("num", steps)])?;
            if direction == 1 {
                steps.reverse();
            }
            let mut out = Vec::new();
            for step in steps {
                advance(cx, mode, &own, step, &mut state)?;
                out.push(state[0]);
            }
            if direction == 1 {
                out.reverse();
            }
            outs.push(stack(cx, &out)?);
            last.iter_mut().zip(state).for_each(|(all, own)| all.push(own));
        }
        sequence = match outs[..] {
            [one] => one,
            _ => {
                let axis = cx.ctx().int_attr(2);
                cx.emit("pd.concat", &outs, &[("axis", axis)])?
            }
        };
    }
    let mut states = Vec::new();
    for all in &last {
        states.push(stack(cx, all)?);
    }
    let list = cx.r.op("builtin.combine").operands(states).infer()?;
    let list = cx.r.body.result(list, 0);
    let nothing = {
        let (none, zero) = (cx.ints(&[0]), cx.ctx().float_attr(0.0));
        let dtype = cx.ctx().type_attr(cx.ctx().elem_type(cx.operand_type(0)));
        cx.emit("pd.full", &[], &[("shape", none), ("value", zero), ("dtype", dtype)])?
    };
    Ok(smallvec![sequence, nothing, list, nothing])
}

/// The elements of an operand that is a list.
fn elements(cx: &mut RuleCx<'_, '_>, index: usize) -> Result<Vec<ValueId>, String> {
    let list = cx.operand(index);
    let TypeData::List(types) = cx.ctx().type_data(cx.operand_type(index)) else {
        return Err("a list was expected".to_owned());
    };
    let op =
        cx.r.op("builtin.split")
            .operand(list)
            .results(types.iter().copied())
            .build();
    Ok(cx.r.body.results(op).collect())
}

/// The results of an operation that takes a tensor apart.
fn results(cx: &mut RuleCx<'_, '_>, op: &str, x: ValueId, attrs: &[(&str, i64)]) -> Result<Vec<ValueId>, String> {
    let ctx = cx.ctx();
    let mut builder = cx.r.op(op).operand(x);
    for &(name, value) in attrs {
        builder = builder.attr(name, ctx.int_attr(value));
    }
    let op = builder.infer()?;
    Ok(cx.r.body.results(op).collect())
}

fn row(cx: &mut RuleCx<'_, '_>, x: ValueId, at: usize) -> Result<ValueId, String> {
    let at = at as i64;
    let (axes, starts, ends) = (cx.ints(&[0]), cx.ints(&[at]), cx.ints(&[at + 1]));
    let attrs = [
        ("axes", axes),
        ("starts", starts),
        ("ends", ends),
        ("decrease_axis", axes),
    ];
    cx.emit("pd.slice", &[x], &attrs)
}

fn stack(cx: &mut RuleCx<'_, '_>, parts: &[ValueId]) -> Result<ValueId, String> {
    let axis = cx.ctx().int_attr(0);
    cx.emit("pd.stack", parts, &[("axis", axis)])
}

/// `x · wᵀ + b`
fn affine_map(cx: &mut RuleCx<'_, '_>, x: ValueId, w: ValueId, b: ValueId) -> Result<ValueId, String> {
    let (no, yes) = (cx.ctx().bool_attr(false), cx.ctx().bool_attr(true));
    let product = cx.emit("pd.matmul", &[x, w], &[("transpose_x", no), ("transpose_y", yes)])?;
    cx.emit("pd.add", &[product, b], &[])
}

/// One step: `x` is the part of the gates that comes from the input.
fn advance(
    cx: &mut RuleCx<'_, '_>,
    mode: Mode,
    own: &Weights,
    x: ValueId,
    state: &mut [ValueId],
) -> Result<(), String> {
    let h = affine_map(cx, state[0], own.state, own.bias[1])?;
    let parts = |cx: &mut RuleCx<'_, '_>, v, n| results(cx, "pd.split_with_num", v, &[("num", n), ("axis", -1)]);
    match mode {
        Mode::Tanh | Mode::Relu => {
            let sum = cx.emit("pd.add", &[x, h], &[])?;
            let op = if mode == Mode::Tanh { "pd.tanh" } else { "pd.relu" };
            state[0] = cx.unary(op, sum)?;
        }
        Mode::Lstm => {
            let sum = cx.emit("pd.add", &[x, h], &[])?;
            let [input, forget, candidate, output] = parts(cx, sum, 4)?[..] else {
                return Err("there are not four gates".to_owned());
            };
            let (input, forget) = (cx.unary("pd.sigmoid", input)?, cx.unary("pd.sigmoid", forget)?);
            let (candidate, output) = (cx.unary("pd.tanh", candidate)?, cx.unary("pd.sigmoid", output)?);
            let (kept, new) = (cx.multiply(forget, state[1])?, cx.multiply(input, candidate)?);
            state[1] = cx.emit("pd.add", &[kept, new], &[])?;
            let shown = cx.unary("pd.tanh", state[1])?;
            state[0] = cx.multiply(output, shown)?;
        }
        Mode::Gru => {
            let (x, h) = (parts(cx, x, 3)?, parts(cx, h, 3)?);
            let (&[xr, xz, xc], &[hr, hz, hc]) = (&x[..], &h[..]) else {
                return Err("there are not three gates".to_owned());
            };
            let gate = |cx: &mut RuleCx<'_, '_>, a, b, op: &str| {
                let sum = cx.emit("pd.add", &[a, b], &[])?;
                cx.unary(op, sum)
            };
            let (reset, update) = (gate(cx, xr, hr, "pd.sigmoid")?, gate(cx, xz, hz, "pd.sigmoid")?);
            let hc = cx.multiply(reset, hc)?;
            let candidate = gate(cx, xc, hc, "pd.tanh")?;
            let difference = cx.subtract(state[0], candidate)?;
            let kept = cx.multiply(difference, update)?;
            state[0] = cx.emit("pd.add", &[kept, candidate], &[])?;
        }
    }
    Ok(())
}
