//! Recurrent networks of several layers in one operation.

use super::special::sigmoid;
use super::{Kernel, Outputs, Prepare, Spec};
use crate::tensor::Tensor;
use crate::tensor::buffer::scratch;
use pir_dialects::pd;

pub(super) const KERNELS: &[(&str, Prepare)] = &[(pd::Rnn::NAME, rnn)];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Tanh,
    Relu,
    Lstm,
    Gru,
}

impl Mode {
    fn gates(self) -> usize {
        match self {
            Mode::Tanh | Mode::Relu => 1,
            Mode::Gru => 3,
            Mode::Lstm => 4,
        }
    }
}

/// The weights of a layer in one direction.
struct Weights<'a> {
    input: &'a [f64],
    state: &'a [f64],
    bias: [&'a [f64]; 2],
}

fn rnn(s: &Spec<'_>) -> Result<Kernel, String> {
    let mode = match s.text("mode", "RNN_TANH") {
        "RNN_TANH" => Mode::Tanh,
        "RNN_RELU" => Mode::Relu,
        "LSTM" => Mode::Lstm,
        "GRU" => Mode::Gru,
        other => {
            return Err(format!(
                "`mode` must be `RNN_TANH`, `RNN_RELU`, `LSTM` or `GRU`, not `{other}`"
            ));
        }
    };
    let number = |name: &str, default: i64| {
        let value = usize::try_from(s.int(name, default))
            .ok()
            .filter(|v| (1..1 << 24).contains(v));
        value.ok_or_else(|| format!("`{name}` must be positive"))
    };
    let (layers, hidden) = (number("num_layers", 1)?, number("hidden_size", 100)?);
    let directions = if s.flag("is_bidirec", false) { 2 } else { 1 };
    if layers > 1 && s.float("dropout_prob", 0.0) > 0.0 && !s.flag("is_test", false) {
        return Err("dropout between the layers of `pd.rnn` is not supported".to_owned());
    }
    // The sequence and the dropout state are operands besides the two lists.
    let has_lengths = s.view.body.num_operands(s.view.op) > 4;
    let dtypes = [s.result_dtype(1)?, s.result_dtype(3)?];
    Ok(Box::new(move |inputs| {
        let states = if mode == Mode::Lstm { 2 } else { 1 };
        let cells = layers * directions;
        let needed = 2 + states + 4 * cells + usize::from(has_lengths);
        if inputs.len() != needed {
            return Err(format!("expected {needed} operands, found {}", inputs.len()));
        }
        let ends = has_lengths.then(|| inputs[1 + states + 4 * cells].to_f64());
        let x = &inputs[0];
        let &[t, n, width] = x.shape() else {
            return Err(format!(
                "expected a sequence of three dimensions, found shape {:?}",
                x.shape()
            ));
        };
        if ends.as_ref().is_some_and(|ends| ends.len() != n) {
            return Err(format!("expected {n} lengths"));
        }
        // The operands, the states twice, and the sequences of two layers, as doubles.
        let all: usize = inputs.iter().map(Tensor::len).sum();
        let wide = t.saturating_mul(n).saturating_mul(hidden.saturating_mul(directions));
        let _scratch = scratch::<f64>(all.saturating_mul(3).saturating_add(wide.saturating_mul(2)))?;
        let first: Vec<Vec<f64>> = inputs[1..1 + states].iter().map(Tensor::to_f64).collect();
        let weights: Vec<Vec<f64>> = inputs[1 + states..1 + states + 4 * cells]
            .iter()
            .map(Tensor::to_f64)
            .collect();
        let mut last = first.clone();
        let mut sequence = x.to_f64();
        let mut width = width;
        for layer in 0..layers {
            let mut next = vec![0.0; t * n * hidden * directions];
            for direction in 0..directions {
                let cell = layer * directions + direction;
                let own = Weights {
                    input: &weights[2 * cell],
                    state: &weights[2 * cell + 1],
                    bias: [&weights[2 * (cells + cell)], &weights[2 * (cells + cell) + 1]],
                };
                let rows = mode.gates() * hidden;
                let lengths = [own.input.len(), own.state.len(), own.bias[0].len(), own.bias[1].len()];
                if lengths != [rows * width, rows * hidden, rows, rows] {
                    return Err(format!("the weights of layer {layer} have the wrong shapes"));
                }
                let part = cell * n * hidden..(cell + 1) * n * hidden;
                let mut state = Vec::with_capacity(states);
                for values in &first {
                    let own = values.get(part.clone()).ok_or("the states have the wrong shapes")?;
                    state.push(own.to_vec());
                }
                for step in 0..t {
                    let step = if direction == 0 { step } else { t - 1 - step };
                    for row in 0..n {
                        // Behind its end a sequence keeps its state and gives zeros.
                        if ends.as_ref().is_some_and(|ends| ends[row] <= step as f64) {
                            continue;
                        }
                        let at = step * n + row;
                        let x = &sequence[at * width..(at + 1) * width];
                        let out = advance(mode, &own, x, &mut state, row, hidden);
                        let place = (at * directions + direction) * hidden;
                        next[place..place + hidden].copy_from_slice(&out);
                    }
                }
                for (all, own) in last.iter_mut().zip(&state) {
                    all[part.clone()].copy_from_slice(own);
                }
            }
            sequence = next;
            width = hidden * directions;
        }
        let mut out = Outputs::new();
        out.push(Tensor::new(&[t, n, width], sequence)?.cast(x.dtype())?);
        out.push(Tensor::full(&[0], dtypes[0], 0.0)?);
        for values in last {
            out.push(Tensor::new(&[cells, n, hidden], values)?.cast(x.dtype())?);
        }
        out.push(Tensor::full(&[0], dtypes[1], 0.0)?);
        Ok(out)
    }))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A step of one sequence: updates the state, and returns the output.
fn advance(mode: Mode, w: &Weights<'_>, x: &[f64], state: &mut [Vec<f64>], row: usize, hidden: usize) -> Vec<f64> {
    let part = row * hidden..(row + 1) * hidden;
    let h = state[0][part.clone()].to_vec();
    let from_input = |gate: usize, k: usize| {
        let r = gate * hidden + k;
        dot(&w.input[r * x.len()..(r + 1) * x.len()], x) + w.bias[0][r]
    };
    let from_state = |gate: usize, k: usize| {
        let r = gate * hidden + k;
        dot(&w.state[r * hidden..(r + 1) * hidden], &h) + w.bias[1][r]
    };
    let gate = |gate: usize, k: usize| from_input(gate, k) + from_state(gate, k);
    let mut out = Vec::with_capacity(hidden);
    for k in 0..hidden {
        out.push(match mode {
            Mode::Tanh => gate(0, k).tanh(),
            Mode::Relu => gate(0, k).max(0.0),
            Mode::Lstm => {
                let (input, forget, output) = (sigmoid(gate(0, k)), sigmoid(gate(1, k)), sigmoid(gate(3, k)));
                let c = &mut state[1][row * hidden + k];
                *c = forget * *c + input * gate(2, k).tanh();
                output * c.tanh()
            }
            Mode::Gru => {
                let (reset, update) = (sigmoid(gate(0, k)), sigmoid(gate(1, k)));
                let candidate = (from_input(2, k) + reset * from_state(2, k)).tanh();
                (h[k] - candidate) * update + candidate
            }
        });
    }
    state[0][part].copy_from_slice(&out);
    out
}
