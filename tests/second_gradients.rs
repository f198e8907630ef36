//! PaddlePaddle's gradient operations of gradient operations, against central differences of what the latter compute.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::{Inputs, Numbers, passes, read};
use pir_interp::{Options, Tensor};
use pir_ir::Module;

/// The gradient operation, its operands with their extents, how many results it has, the operation of second order with its operands, and
/// those operands of the first that it gives cotangents of. `a` and `b` are the results of the first, `da` and `db` their cotangents.
type Operation = (
    &'static str,
    &'static [(&'static str, &'static [usize])],
    usize,
    &'static str,
    &'static [&'static str],
);

const OPERATIONS: &[Operation] = &[
    (
        "pd.matmul_grad (%x, %y, %g)",
        &[("x", &[2, 3]), ("y", &[3, 4]), ("g", &[2, 4])],
        2,
        "pd.matmul_double_grad (%x, %y, %g, %da, %db)",
        &["x", "y", "g"],
    ),
    (
        "pd.multiply_grad (%x, %y, %g)",
        &[("x", &[2, 3]), ("y", &[3]), ("g", &[2, 3])],
        2,
        "pd.multiply_double_grad (%x, %y, %g, %da, %db)",
        &["x", "y", "g"],
    ),
    (
        "pd.tanh_grad (%o, %g)",
        &[("o", &[2, 3]), ("g", &[2, 3])],
        1,
        "pd.tanh_double_grad (%o, %g, %da)",
        &["o", "g"],
    ),
    (
        "pd.sin_grad (%x, %g)",
        &[("x", &[2, 3]), ("g", &[2, 3])],
        1,
        "pd.sin_double_grad (%x, %g, %da)",
        &["x", "g"],
    ),
    (
        "pd.sqrt_grad (%o, %g)",
        &[("o", &[2, 3]), ("g", &[2, 3])],
        1,
        "pd.sqrt_double_grad (%o, %a, %da)",
        &["o", "g"],
    ),
    (
        "pd.rsqrt_grad (%o, %g)",
        &[("o", &[2, 3]), ("g", &[2, 3])],
        1,
        "pd.rsqrt_double_grad (%o, %a, %da)",
        &["o", "g"],
    ),
    (
        "pd.conv2d_grad (%x, %k, %g) {strides = [1, 1], paddings = [0, 0], padding_algorithm = \"EXPLICIT\", dilations = [1, 1], groups = 1, data_format = \"NCHW\"}",
        &[("x", &[1, 2, 4, 4]), ("k", &[2, 2, 3, 3]), ("g", &[1, 2, 2, 2])],
        2,
        "pd.conv2d_grad_grad (%x, %k, %g, %da, %db) {strides = [1, 1], paddings = [0, 0], padding_algorithm = \"EXPLICIT\", dilations = [1, 1], groups = 1, data_format = \"NCHW\"}",
        &["x", "k", "g"],
    ),
];

fn ty(extents: &[usize]) -> String {
    let extents: String = extents.iter().map(|extent| format!("{extent}x")).collect();
    format!("tensor<{extents}f64>")
}

fn results(module: &Module, inputs: &Inputs) -> Vec<Tensor> {
    let options = Options {
        inputs: inputs.clone().into_iter().collect(),
        ..Options::default()
    };
    let fetched = pir_interp::run(module, &options, &mut std::io::sink()).unwrap().fetched;
    fetched.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn second_gradients() {
    for (first, operands, count, second, wrt) in OPERATIONS {
        let mut text = String::new();
        for (name, extents) in *operands {
            text += &format!(
                "%{name} = pd.data {{name = \"{name}\", shape = {extents:?}, dtype = f64}} : {}\n",
                ty(extents)
            );
        }
        let made = [("a", operands[0].1), ("b", operands[1].1)];
        let made = &made[..*count];
        let list = |names: Vec<String>| names.join(", ");
        text += &format!(
            "{} = {first} : {}\n",
            list(made.iter().map(|(n, _)| format!("%{n}")).collect()),
            list(made.iter().map(|(_, e)| ty(e)).collect())
        );
        for (name, extents) in made {
            let ty = ty(extents);
            text += &format!(
                "%s{name} = pd.sin (%{name}) : {ty}\n%l{name} = pd.sum (%s{name}) : tensor<f64>\n%d{name} = pd.cos (%{name}) : {ty}\n"
            );
        }
        let loss = if *count == 2 {
            "%l = pd.add (%la, %lb) : tensor<f64>\n"
        } else {
            "%l = pd.assign (%la) : tensor<f64>\n"
        };
        let extents = |name: &str| operands.iter().find(|(n, _)| *n == name).unwrap().1;
        let names: Vec<String> = wrt.iter().map(|name| format!("%r{name}")).collect();
        let types = wrt.iter().map(|name| ty(extents(name))).collect();
        text += &format!(
            "{loss}{} = {second} : {}\npd.fetch (%l) {{name = \"l\"}}\n",
            list(names.clone()),
            list(types)
        );
        for (at, name) in names.iter().enumerate() {
            text += &format!("pd.fetch ({name}) {{name = \"r{at}\", col = {}}}\n", at + 1);
        }
        let mut module = read(&pir_dialects::context(), &text);
        passes(&mut module, "decompose");
        let mut numbers = Numbers::new(5);
        let inputs: Inputs = operands
            .iter()
            .map(|(name, extents)| ((*name).to_owned(), numbers.tensor(extents, 0.4, 1.2)))
            .collect();
        let out = results(&module, &inputs);
        for (at, name) in wrt.iter().enumerate() {
            let own = inputs.iter().find(|(n, _)| n == name).unwrap().1.clone();
            for (place, found) in out[at + 1].to_f64().into_iter().enumerate() {
                let moved = |step: f64| {
                    let mut values = own.to_f64();
                    values[place] += step;
                    let mut inputs = inputs.clone();
                    inputs.iter_mut().find(|(n, _)| n == name).unwrap().1 = Tensor::new(own.shape(), values).unwrap();
                    results(&module, &inputs)[0].to_f64()[0]
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (found - difference).abs() <= 1e-7 * (1.0 + difference.abs()),
                    "{second}: {name}[{place}] is {found}, by differences {difference}"
                );
            }
        }
    }
}
