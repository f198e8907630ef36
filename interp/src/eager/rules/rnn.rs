//! Recurrent networks, step by step.

use super::super::value::V;
use super::elementwise::failed;
use super::{Cx, Rule, composite};
use pir_dialects::pd;

pub(super) const RULES: &[Rule] = &[composite(pd::Rnn::NAME, |c| match rnn(c) {
    Ok(results) => results,
    Err(e) => vec![failed(c, &e)],
})];

fn rnn<'e>(c: &Cx<'e>) -> Result<Vec<V<'e>>, String> {
    let mode = c.text("mode").unwrap_or("RNN_TANH").to_owned();
    let layers = usize::try_from(c.int("num_layers", 1)).unwrap_or(1);
    let directions = if c.bool("is_bidirec", false) { 2 } else { 1 };
    let cells = layers * directions;
    let states = if mode == "LSTM" { 2 } else { 1 };
    if c.num_inputs() != 2 + states + 4 * cells {
        return Err("the states and weights do not match".to_owned());
    }
    let weight = |at: usize| c.arg(1 + states + at);
    let &[steps, rows, _] = &c.shape(0)[..] else {
        return Err("a sequence must have three dimensions".to_owned());
    };
    let mut last: Vec<Vec<V<'e>>> = vec![Vec::new(); states];
    let mut sequence: Vec<V<'e>> = (0..steps).map(|t| c.x().part(0, t, t + 1).squeezed()).collect();
    for layer in 0..layers {
        let mut by_direction = Vec::new();
        for direction in 0..directions {
            let cell = layer * directions + direction;
            let (wx, wh) = (weight(2 * cell).swapped(), weight(2 * cell + 1).swapped());
            let (bx, bh) = (weight(2 * (cells + cell)), weight(2 * (cells + cell) + 1));
            let start = |at: usize| c.arg(1 + at).part(0, cell, cell + 1).squeezed();
            let mut state: Vec<V<'e>> = (0..states).map(start).collect();
            let hidden = state[0].shape().last().copied().unwrap_or(0);
            let gate = |v: &V<'e>, at: usize| v.part(1, at * hidden, (at + 1) * hidden);
            let mut outs = vec![None; steps];
            for step in 0..steps {
                let t = if direction == 0 { step } else { steps - 1 - step };
                let from_input = sequence[t].matmul(&wx) + bx.clone();
                let from_state = state[0].matmul(&wh) + bh.clone();
                let both = from_input.clone() + from_state.clone();
                state[0] = match &*mode {
                    "RNN_RELU" => both.call("relu"),
                    "LSTM" => {
                        let sigmoid = |at| gate(&both, at).call("sigmoid");
                        state[1] = sigmoid(1) * state[1].clone() + sigmoid(0) * gate(&both, 2).call("tanh");
                        sigmoid(3) * state[1].call("tanh")
                    }
                    "GRU" => {
                        let (reset, update) = (gate(&both, 0).call("sigmoid"), gate(&both, 1).call("sigmoid"));
                        let candidate = (gate(&from_input, 2) + reset * gate(&from_state, 2)).call("tanh");
                        update.clone() * state[0].clone() + (1.0 - update) * candidate
                    }
                    _ => both.call("tanh"),
                };
                outs[t] = Some(state[0].clone());
            }
            by_direction.push(outs);
            for (all, own) in last.iter_mut().zip(state) {
                all.push(own.reshape(&[1, rows, hidden]));
            }
        }
        for (t, place) in sequence.iter_mut().enumerate() {
            let parts: Vec<V<'e>> = by_direction.iter().filter_map(|outs| outs[t].clone()).collect();
            *place = V::concat(c.engine, &parts, 1);
        }
    }
    let wide: Vec<V<'e>> = sequence.iter().map(V::unsqueezed).collect();
    // The dropout state and the reserve are constants.
    let mut results = vec![V::concat(c.engine, &wide, 0), c.g(1)];
    results.extend(last.iter().map(|all| V::concat(c.engine, all, 0)));
    results.push(c.g(2 + states));
    Ok(results)
}
