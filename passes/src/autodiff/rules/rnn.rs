//! Recurrent networks: they are unrolled where the adjoint is built, and differentiated there.

use pir_dialects::pd::{self, Expr};

use super::Rule;
use super::formula::{Op, composite};

pub(super) const RULES: &[Rule] = &[composite!(Rnn, unrolled)];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Tanh,
    Relu,
    Lstm,
    Gru,
}

/// The weights of one layer in one direction.
struct Weights<'c> {
    input: Expr<'c>,
    state: Expr<'c>,
    bias: [Expr<'c>; 2],
}

fn unrolled<'c>(op: Op<'c, pd::Rnn>) -> Result<[Expr<'c>; 4], String> {
    let mode = match &*op.mode() {
        "LSTM" => Mode::Lstm,
        "GRU" => Mode::Gru,
        "RNN_RELU" => Mode::Relu,
        _ => Mode::Tanh,
    };
    let Some(&steps @ 0..) = op.x().dims().first() else {
        return Err(
            "the number of steps is dynamic: save the program with a fixed number, or with `paddle.nn.RNN` of a cell, \
              which is a loop"
                .to_owned(),
        );
    };
    let layers = op.num_layers().max(1) as usize;
    if layers > 1 && op.dropout_prob() > 0.0 && !op.is_test() {
        return Err("dropout between the layers of `pd.rnn` is not supported".to_owned());
    }
    let directions = if op.is_bidirec() { 2 } else { 1 };
    let cells = layers * directions;
    let (first, weights) = (op.list(1), op.list(2));
    if weights.len() != 4 * cells || first.len() != if mode == Mode::Lstm { 2 } else { 1 } {
        return Err("the lists of states and weights do not match the mode and the layers".to_owned());
    }
    let scope = op.scope();
    let stack = |parts: &[Expr<'c>]| scope.stack_with(parts, |o| o.axis(0));
    // Which sequences a step is within: the others keep their states, and give zeros.
    let within = |step: i64| {
        let lengths = op.sequence_length()?;
        let inside = lengths.greater_than(lengths.filled(step as f64));
        Some(inside.unsqueeze_with(|o| o.axis([-1])))
    };
    let kept = |step: i64, new: Expr<'c>, old: Expr<'c>| match within(step) {
        Some(inside) => inside.expand_like(new).select(new, old),
        None => new,
    };
    let mut sequence = op.x();
    let mut last: Vec<Vec<Expr<'_>>> = vec![Vec::new(); first.len()];
    for layer in 0..layers {
        let mut outs = Vec::new();
        for direction in 0..directions {
            let cell = layer * directions + direction;
            let own = Weights {
                input: weights[2 * cell],
                state: weights[2 * cell + 1],
                bias: [weights[2 * (cells + cell)], weights[2 * (cells + cell) + 1]],
            };
            let mut state: Vec<Expr<'_>> = first.iter().map(|all| row(*all, cell as i64)).collect();
            let projected = affine_map(sequence, own.input, own.bias[0]);
            let steps = projected.unstack_with(|o| o.axis(0).num(steps));
            let mut steps: Vec<_> = (0..).zip(steps).collect();
            if direction == 1 {
                steps.reverse();
            }
            let mut out = Vec::new();
            for (at, step) in steps {
                let before = state.clone();
                advance(mode, &own, step, &mut state)?;
                out.push(kept(at, state[0], state[0].zeros()));
                state
                    .iter_mut()
                    .zip(before)
                    .for_each(|(new, old)| *new = kept(at, *new, old));
            }
            if direction == 1 {
                out.reverse();
            }
            outs.push(stack(&out));
            last.iter_mut().zip(state).for_each(|(all, own)| all.push(own));
        }
        sequence = match outs[..] {
            [one] => one,
            _ => scope.concat_with(&outs, |o| o.axis(2)),
        };
    }
    let states: Option<Vec<_>> = last.iter().map(|all| stack(all).id()).collect();
    let list = scope.build("builtin.combine", &states.unwrap_or_default(), &[], None);
    let nothing = op.empty_like(op.x());
    Ok([sequence, nothing, list.first().copied().unwrap_or(nothing), nothing])
}

fn row(x: Expr<'_>, at: i64) -> Expr<'_> {
    x.slice_with(&[0], [at], [at + 1], |o| o.decrease_axis(&[0]))
}

/// `x · wᵀ + b`
fn affine_map<'c>(x: Expr<'c>, w: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    x.matmul_with(w, |o| o.transpose_x(false).transpose_y(true)) + b
}

/// One step: `x` is the part of the gates that comes from the input.
fn advance<'c>(mode: Mode, own: &Weights<'c>, x: Expr<'c>, state: &mut [Expr<'c>]) -> Result<(), String> {
    let h = affine_map(state[0], own.state, own.bias[1]);
    let parts = |x: Expr<'c>, n: i64| x.split_with_num_with(n, |o| o.axis(-1));
    match mode {
        Mode::Tanh => state[0] = (x + h).tanh(),
        Mode::Relu => state[0] = (x + h).relu(),
        Mode::Lstm => {
            let [input, forget, candidate, output] = parts(x + h, 4)[..] else {
                return Err("there are not four gates".to_owned());
            };
            let (input, forget) = (input.sigmoid(), forget.sigmoid());
            let (candidate, output) = (candidate.tanh(), output.sigmoid());
            state[1] = forget * state[1] + input * candidate;
            state[0] = output * state[1].tanh();
        }
        Mode::Gru => {
            let (x, h) = (parts(x, 3), parts(h, 3));
            let (&[xr, xz, xc], &[hr, hz, hc]) = (&x[..], &h[..]) else {
                return Err("there are not three gates".to_owned());
            };
            let (reset, update) = ((xr + hr).sigmoid(), (xz + hz).sigmoid());
            let candidate = (xc + reset * hc).tanh();
            state[0] = (state[0] - candidate) * update + candidate;
        }
    }
    Ok(())
}
