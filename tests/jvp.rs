//! Forward mode. Tangents of every rule and every kind of loop are compared in `gradients.rs` and `loops.rs`; here, forward and
//! reverse mode are combined: Hessian-vector products in both orders, and the errors of the pass.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "equivalence/generate.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod generate;
#[path = "common/size.rs"]
mod size;

use std::path::Path;
use std::sync::Arc;

use common::{Inputs, Numbers, check_tangents, inputs_for, passes, read, run};
use pir_interp::Tensor;
use pir_ir::text::print;
use pir_ir::{Context, Module};
use pir_passes::{PassManager, Pipeline};

fn after(module: &Module, pipeline: &str) -> Module {
    let mut with = module.clone();
    passes(&mut with, pipeline);
    with
}

fn fetched(module: &Module, inputs: &Inputs, name: &str) -> Vec<f64> {
    let outcome = run(module, inputs).fetched;
    let found = outcome.iter().find(|(n, _)| n == name);
    found.unwrap_or_else(|| panic!("no {name}")).1.to_f64()
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

/// Products with the Hessian of the sum of all outputs: backward over jvp, jvp over backward, and by differences.
#[track_caller]
fn check_hessian_products(ctx: &Arc<Context>, text: &str, ns: std::ops::Range<i64>) {
    let plain = read(ctx, text);
    for n in ns {
        let (inputs, floats) = inputs_for(&plain, n, n as u64 + 5);
        let outputs: Vec<String> = run(&plain, &inputs)
            .fetched
            .into_iter()
            .filter(|(_, t)| t.dtype().is_float())
            .map(|(name, _)| name)
            .collect();
        let suffixed = |names: &[String], suffix: &str| {
            let names: Vec<String> = names.iter().map(|n| format!("{n}{suffix}")).collect();
            names.join(", ")
        };
        let gradients = after(&plain, "backward");
        let reverse_over_forward = after(
            &plain,
            &format!("jvp,backward{{of=[{}]}}", suffixed(&outputs, "_tangent")),
        );
        let forward_over_reverse = after(&gradients, &format!("jvp{{of=[{}]}}", suffixed(&floats, "_grad")));
        let mut numbers = Numbers::new(77);
        let directions: Inputs = inputs
            .iter()
            .filter(|(name, _)| floats.contains(name))
            .map(|(name, t)| (name.clone(), numbers.tensor(t.shape(), -1.0, 1.0)))
            .collect();
        let mut with = inputs.clone();
        with.extend(
            directions
                .iter()
                .map(|(name, t)| (format!("{name}_tangent"), t.clone())),
        );
        let moved = |by: f64| {
            let mut inputs = inputs.clone();
            for (name, value) in &mut inputs {
                if let Some((_, v)) = directions.iter().find(|(n, _)| n == name) {
                    let sum = value.to_f64().iter().zip(v.to_f64()).map(|(x, v)| x + by * v).collect();
                    *value = Tensor::new(value.shape(), sum).unwrap();
                }
            }
            inputs
        };
        for name in &floats {
            let a = fetched(&reverse_over_forward, &with, &format!("{name}_grad"));
            let b = fetched(&forward_over_reverse, &with, &format!("{name}_grad_tangent"));
            let step = 1e-5;
            let up = fetched(&gradients, &moved(step), &format!("{name}_grad"));
            let down = fetched(&gradients, &moved(-step), &format!("{name}_grad"));
            for (i, ((a, b), (up, down))) in a.iter().zip(&b).zip(up.iter().zip(&down)).enumerate() {
                let difference = (up - down) / (2.0 * step);
                assert!(
                    near(*a, *b, 1e-9) && near(*a, difference, 1e-5),
                    "{n} iterations, {name}[{i}]: {a} by backward over jvp, {b} by jvp over backward, {difference} by differences\n{}",
                    print(&forward_over_reverse, &Default::default())
                );
            }
        }
    }
}

#[test]
fn products_with_the_hessian_through_every_kind_of_loop() {
    let ctx = pir_dialects::context();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if !text.contains("name = \"n\"") {
            continue;
        }
        println!("{}", path.display());
        check_hessian_products(&ctx, &text, 0..4);
        seen += 1;
    }
    assert!(seen >= 9, "{seen} files");
}

#[test]
fn twice_forward() {
    let ctx = pir_dialects::context();
    let text = "%x = pd.data {name = \"x\", shape = [2], dtype = f64}
%s = pd.sin (%x)
%p = pd.multiply (%s, %x)
%loss = pd.sum (%p)
pd.fetch (%loss) {name = \"loss\"}";
    let plain = read(&ctx, text);
    let twice = after(&plain, "jvp,jvp{of=loss_tangent wrt=x}");
    let tensor = |v: [f64; 2]| Tensor::new(&[2], v.to_vec()).unwrap();
    let inputs = vec![
        ("x".to_owned(), tensor([0.5, 1.5])),
        ("x_tangent".to_owned(), tensor([1.0, 2.0])),
        ("x_tangent_2".to_owned(), tensor([3.0, -1.0])),
    ];
    // (x sin x)'' = 2 cos x - x sin x
    let second = |x: f64| 2.0 * x.cos() - x * x.sin();
    let expected = second(0.5) * 3.0 - second(1.5) * 2.0;
    let got = fetched(&twice, &inputs, "loss_tangent_tangent");
    assert!(near(got[0], expected, 1e-12), "{got:?} {expected}");
}

/// The tangents of operations that are alike are emitted once more, those of others are not: each is the same as if it were alone.
#[test]
fn operations_that_are_nearly_alike() {
    const HEAD: &str = "%x = pd.data {name = \"x\", shape = [2, 3], dtype = f64}
%y = pd.data {name = \"y\", shape = [2, 3], dtype = f64}
%z = pd.data {name = \"z\", shape = [3], dtype = f64}
%k = pd.data {name = \"k\", shape = [2, 3], dtype = f64, stop_gradient = true}
%one = pd.full {shape = [2, 3], value = 1.0, dtype = f64}
%two = pd.full {shape = [2, 3], value = 2.0, dtype = f64}
%wide = pd.expand (%one) {shape = [2, 3]}
";
    let lines = [
        "multiply (%x, %y)",
        "multiply (%x, %x)",
        "multiply (%y, %x)",
        "multiply (%x, %z)",
        "multiply (%z, %x)",
        "multiply (%x, %k)",
        "multiply (%k, %x)",
        "multiply (%x, %one)",
        "multiply (%x, %two)",
        "multiply (%wide, %y)",
        "divide (%x, %y)",
        "divide (%x, %two)",
        "divide (%two, %x)",
        "divide (%x, %x)",
        "subtract (%x, %x)",
        "subtract (%k, %z)",
        "add (%x, %y)",
        "add (%x, %x)",
        "tanh (%x)",
        "tanh (%z)",
        "scale (%x) {scale = 2.0}",
        "scale (%x) {scale = 3.0}",
        "scale (%y) {scale = 3.0, bias = 1.0, bias_after_scale = false}",
        "sum (%x) {axis = [0]}",
        "sum (%x) {axis = [1]}",
        "sum (%y) {axis = [1], keepdim = true}",
        "max (%x) {axis = [1]}",
        "softmax (%x) {axis = 0}",
        "softmax (%x) {axis = 1}",
        "matmul (%x, %y) {transpose_y = true}",
        "matmul (%x, %x) {transpose_x = true}",
        "matmul (%x, %z)",
        "transpose (%x) {perm = [1, 0]}",
        "elementwise_pow (%x, %two)",
        "elementwise_pow (%x, %y)",
    ];
    let ctx = pir_dialects::context();
    let line = |name: &str, line: &str| format!("%{name} = pd.{line}\npd.fetch (%{name}) {{name = \"{name}\"}}\n");
    // The second of each is made like the first.
    let all: String = (0..2 * lines.len())
        .map(|at| line(&format!("r{at}"), lines[at % lines.len()]))
        .collect();
    let together = read(&ctx, &format!("{HEAD}{all}"));
    let (mut inputs, floats) = inputs_for(&together, 1, 3);
    let directions = inputs_for(&together, 1, 4).0;
    let directions = directions.into_iter().filter(|(name, _)| floats.contains(name));
    inputs.extend(directions.map(|(name, value)| (format!("{name}_tangent"), value)));
    let together = after(&together, "jvp");
    for at in 0..2 * lines.len() {
        let alone = read(&ctx, &format!("{HEAD}{}", line("r", lines[at % lines.len()])));
        let alone = after(&alone, "jvp");
        assert_eq!(
            fetched(&together, &inputs, &format!("r{at}_tangent")),
            fetched(&alone, &inputs, "r_tangent"),
            "{}\n{}",
            lines[at % lines.len()],
            print(&together, &Default::default())
        );
    }
}

#[test]
fn inputs_that_are_computed_and_options() {
    let ctx = pir_dialects::context();
    let text = "%x = pd.data {name = \"x\", shape = [1], dtype = f64}
%k = pd.data {name = \"k\", shape = [1], dtype = f64, stop_gradient = true}
%h = pd.square (%x)
%a = pd.multiply (%h, %k)
pd.fetch (%a) {name = \"a\"}
pd.fetch (%h) {name = \"b\"}
%unused = pd.data {name = \"unused\", shape = [1], dtype = f64}";
    let plain = read(&ctx, text);
    let one = |v: f64| Tensor::new(&[1], vec![v]).unwrap();
    let inputs: Inputs = [
        ("x", 3.0),
        ("k", 5.0),
        ("unused", 0.0),
        ("x_tangent", 1.0),
        ("h_tangent", 10.0),
        ("k_tangent", 100.0),
        ("unused_tangent", 7.0),
    ]
    .iter()
    .map(|&(n, v)| (n.to_owned(), one(v)))
    .collect();
    assert_eq!(fetched(&after(&plain, "jvp"), &inputs, "a_tangent"), [30.0]);
    assert_eq!(fetched(&after(&plain, "jvp{of=b}"), &inputs, "b_tangent"), [6.0]);
    assert_eq!(
        fetched(&after(&plain, "jvp{of=a wrt=%h}"), &inputs, "a_tangent"),
        [50.0]
    );
    assert_eq!(
        fetched(&after(&plain, "jvp{of=a wrt=[x, %h]}"), &inputs, "a_tangent"),
        [80.0]
    );
    assert_eq!(
        fetched(&after(&plain, "jvp{of=%a wrt=[k]}"), &inputs, "a_tangent"),
        [900.0]
    );
    assert_eq!(
        fetched(&after(&plain, "jvp{of=b wrt=unused}"), &inputs, "b_tangent"),
        [0.0]
    );
    let text = print(&after(&plain, "jvp"), &Default::default());
    assert!(!text.contains("k_tangent") && text.contains("unused_tangent"), "{text}");
}

#[test]
fn functions_take_directions_and_return_tangents() {
    let ctx = pir_dialects::context();
    let plain = read(
        &ctx,
        "func.func @f(%x: tensor<2xf64>, %k: tensor<2xi64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %p = pd.multiply (%x, %y)
  func.return (%p)
}",
    );
    let with = after(&plain, "jvp");
    let text = print(&with, &Default::default());
    assert!(
        text.contains(
            "%y: tensor<2xf64>, %x_tangent: tensor<2xf64>, %y_tangent: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)"
        ),
        "{text}"
    );
    let tensor = |v: [f64; 2]| Tensor::new(&[2], v.to_vec()).unwrap();
    let inputs = vec![
        ("x".to_owned(), tensor([2.0, 3.0])),
        ("k".to_owned(), Tensor::new(&[2], vec![1i64, 1]).unwrap()),
        ("y".to_owned(), tensor([5.0, 7.0])),
        ("x_tangent".to_owned(), tensor([1.0, 0.0])),
        ("y_tangent".to_owned(), tensor([10.0, 1.0])),
    ];
    let results: Vec<Vec<f64>> = run(&with, &inputs).results.iter().map(Tensor::to_f64).collect();
    assert_eq!(results, [vec![10.0, 21.0], vec![25.0, 3.0]]);
}

#[test]
fn what_is_refused_is_named() {
    let ctx = pir_dialects::context();
    let refused = |text: &str| {
        let mut module = read(&ctx, text);
        let errors = PassManager::new()
            .run(&mut module, &Pipeline::parse("jvp").unwrap())
            .unwrap_err();
        errors.first().map(|e| (e.code.to_owned(), e.message.clone())).unwrap()
    };
    let head = "%x = pd.data {name = \"x\", shape = [2], dtype = f64}\n";
    let (code, message) = refused(&format!(
        "{head}%p = builtin.unrealized_conversion_cast (%x) : tensor<2xf64>\n%y = pd.tanh (%p)\npd.fetch (%y) {{name = \"y\"}}"
    ));
    assert_eq!(code, "no-derivative");
    assert!(message.contains("`builtin.unrealized_conversion_cast`"), "{message}");
    let (code, _) = refused(&format!(
        "{head}%y = pd.tanh (%x)\npd.inplace_add (%y, %x)\npd.fetch (%y) {{name = \"y\"}}"
    ));
    assert_eq!(code, "in-place");
    let (code, _) = refused("%x = pd.full {shape = [2], value = 1.0, dtype = f64}\npd.fetch (%x) {name = \"x\"}");
    assert_eq!(code, "nothing-to-differentiate");
}

/// Generated nests of loops and branches: tangents against gradients, and products with the Hessian both ways.
#[test]
fn generated_programs() {
    let ctx = pir_dialects::context();
    let count = size::programs(150);
    let mut compared = 0;
    for seed in 0..count {
        let mut random = generate::Random::new(seed ^ 0x7a6);
        let plain = read(&ctx, &generate::program(&mut random, false));
        let vector = |v: [f64; 4]| Tensor::new(&[4], v.to_vec()).unwrap();
        let int = |v: i64| Tensor::new(&[1], vec![v]).unwrap();
        let inputs: Inputs = vec![
            ("x".to_owned(), vector([0.5, -0.25, -1.25, 1.5])),
            ("y".to_owned(), vector([0.75, 1.0, -0.75, 0.125])),
            ("n".to_owned(), int(2)),
            ("z".to_owned(), int(1)),
            ("c".to_owned(), Tensor::new(&[1], vec![seed % 2 == 0]).unwrap()),
            ("x_tangent".to_owned(), vector([1.0, -2.0, 0.5, 0.25])),
            ("y_tangent".to_owned(), vector([-0.5, 1.0, 3.0, -1.0])),
        ];
        let sum = |v: Vec<f64>| v.iter().sum::<f64>();
        let (forward, reverse) = (after(&plain, "jvp"), after(&plain, "backward"));
        let outputs = ["out0_tangent", "out1_tangent", "out2_tangent"];
        let tangent: f64 = outputs.iter().map(|name| sum(fetched(&forward, &inputs, name))).sum();
        let product: f64 = ["x", "y"]
            .iter()
            .map(|name| {
                let gradient = fetched(&reverse, &inputs, &format!("{name}_grad"));
                let direction = inputs.iter().find(|(n, _)| *n == format!("{name}_tangent")).unwrap();
                gradient
                    .iter()
                    .zip(direction.1.to_f64())
                    .map(|(g, v)| g * v)
                    .sum::<f64>()
            })
            .sum();
        // Powers of powers may leave the numbers.
        if !product.is_finite() || product.abs() > 1e12 {
            continue;
        }
        assert!(
            near(tangent, product, 1e-8),
            "seed {seed}: {tangent} and {product}\n{}",
            print(&forward, &Default::default())
        );
        let one = after(&plain, "jvp,backward{of=[out0_tangent, out1_tangent, out2_tangent]}");
        let other = after(&reverse, "jvp{of=[x_grad, y_grad]}");
        for name in ["x", "y"] {
            let a = fetched(&one, &inputs, &format!("{name}_grad"));
            let b = fetched(&other, &inputs, &format!("{name}_grad_tangent"));
            for (a, b) in a.iter().zip(&b).filter(|(a, _)| a.is_finite() && a.abs() < 1e12) {
                assert!(
                    near(*a, *b, 1e-8),
                    "seed {seed}, {name}: {a} and {b}\n{}",
                    print(&other, &Default::default())
                );
            }
        }
        compared += 1;
    }
    assert!(
        compared * 4 > count * 3,
        "only {compared} of {count} programs were compared"
    );
}

/// Layers: operations whose gradient rules are programs of their own.
#[test]
fn layers() {
    let ctx = pir_dialects::context();
    // The inputs, what computes `%o` from them, and its shape.
    type Case = (
        &'static [(&'static str, &'static [usize])],
        &'static str,
        &'static [usize],
    );
    let cases: &[Case] = &[
        (
            &[("x", &[2, 4, 5, 5]), ("w", &[2, 2, 3, 3])],
            "%o = pd.conv2d (%x, %w) {strides = [2, 1], paddings = [1, 0], dilations = [1, 1], groups = 2}",
            &[2, 2, 3, 3],
        ),
        (
            &[("x", &[1, 3, 4, 4]), ("w", &[3, 1, 2, 2])],
            "%o = pd.depthwise_conv2d (%x, %w) {groups = 3}",
            &[1, 3, 3, 3],
        ),
        (
            &[("x", &[1, 2, 3, 3]), ("w", &[2, 3, 2, 2])],
            "%o = pd.conv2d_transpose (%x, %w) {strides = [2, 2]}",
            &[1, 3, 6, 6],
        ),
        (
            &[("x", &[2, 2, 4, 4])],
            "%o = pd.pool2d (%x) {kernel_size = [2, 2], strides = [2, 2], pooling_type = \"max\"}",
            &[2, 2, 2, 2],
        ),
        (
            &[("x", &[2, 2, 4, 4])],
            "%o = pd.pool2d (%x) {kernel_size = [3, 3], strides = [1, 1], paddings = [1, 1], pooling_type = \"avg\"}",
            &[2, 2, 4, 4],
        ),
        (
            &[("x", &[2, 2, 4, 4])],
            "%o, %mask = pd.max_pool2d_with_index (%x) {kernel_size = [2, 2], strides = [2, 2]}",
            &[2, 2, 2, 2],
        ),
        (&[("x", &[3, 4])], "%o = pd.softmax (%x) {axis = -1}", &[3, 4]),
        (&[("x", &[3, 4])], "%o = pd.log_softmax (%x) {axis = 0}", &[3, 4]),
        (
            &[("x", &[3, 4]), ("s", &[4]), ("b", &[4])],
            "%o, %m, %v = pd.layer_norm (%x, %s, %b)",
            &[3, 4],
        ),
        (
            &[("x", &[2, 4, 3, 3]), ("s", &[4]), ("b", &[4])],
            "%o, %m, %v = pd.group_norm (%x, %s, %b) {groups = 2}",
            &[2, 4, 3, 3],
        ),
        (
            &[("x", &[2, 3, 3, 3]), ("s", &[3]), ("b", &[3])],
            "%o, %m, %v = pd.instance_norm (%x, %s, %b)",
            &[2, 3, 3, 3],
        ),
        (
            &[("x", &[3, 2, 2, 2]), ("s", &[2]), ("b", &[2])],
            "%rm = pd.full {shape = [2], value = 0.0, dtype = f64}
%rv = pd.full {shape = [2], value = 1.0, dtype = f64}
%o, %mo, %vo, %sm, %sv, %space = pd.batch_norm (%x, %rm, %rv, %s, %b)",
            &[3, 2, 2, 2],
        ),
        (
            &[("x", &[3, 4])],
            "%label = pd.full {shape = [3, 1], value = 2, dtype = i64}
%soft, %o = pd.cross_entropy_with_softmax (%x, %label) {soft_label = false, axis = -1}",
            &[3, 1],
        ),
        (&[("x", &[4, 4])], "%o, %mask = pd.dropout (%x) {p = 0.25, seed = 3}", &[4, 4]),
        (
            &[("x", &[3, 2, 2]), ("h", &[1, 2, 2]), ("c", &[1, 2, 2]), ("wi", &[8, 2]), ("wh", &[8, 2]), ("bi", &[8]), ("bh", &[8])],
            "%states = builtin.combine (%h, %c)
%weights = builtin.combine (%wi, %wh, %bi, %bh)
%drop = pd.full {shape = [1], value = 0, dtype = ui8}
%o, %d, %s, %r = pd.rnn (%x, %states, %weights, %drop) {mode = \"LSTM\", input_size = 2, hidden_size = 2, num_layers = 1}",
            &[3, 2, 2],
        ),
        (
            &[("x", &[2, 2]), ("y", &[3])],
            "%l = builtin.combine (%x, %y)\n%same, %o = pd.coalesce_tensor (%l) {dtype = f64}",
            &[7],
        ),
    ];
    for (inputs, lines, out) in cases {
        let mut text = String::new();
        let mut numbers = Numbers::new(lines.len() as u64);
        let mut values = Inputs::new();
        for &(name, shape) in *inputs {
            text += &format!("%{name} = pd.data {{name = \"{name}\", shape = {shape:?}, dtype = f64}}\n");
            values.push((name.to_owned(), numbers.tensor(shape, -1.0, 1.0)));
        }
        text += &format!(
            "%weight = pd.data {{name = \"weight\", shape = {out:?}, dtype = f64, stop_gradient = true}}\n{lines}\n"
        );
        text +=
            "%weighted = pd.multiply (%o, %weight)\n%loss = pd.sum (%weighted)\npd.fetch (%loss) {name = \"loss\"}\n";
        values.push(("weight".to_owned(), numbers.tensor(out, 0.5, 1.5)));
        let wrt: Vec<&str> = inputs.iter().map(|i| i.0).collect();
        println!("{lines}");
        check_tangents(&ctx, &text, &values, &wrt, 1e-6);
    }
}

/// Differences cannot see this: single numbers are too coarse.
#[test]
fn casts_have_the_derivative_one() {
    let ctx = pir_dialects::context();
    let text = "%x = pd.data {name = \"x\", shape = [4], dtype = f64}\n\
                %narrow = arith.truncf (%x) : tensor<4xf32>\n\
                %wide = arith.extf (%narrow) : tensor<4xf64>\n\
                %square = pd.multiply (%wide, %wide)\n\
                %loss = pd.sum (%square)\n\
                pd.fetch (%loss) {name = \"loss\"}\n";
    let x = [0.1, -0.7, 1.3, 2.0];
    let direction = [1.0, 2.0, -0.5, 0.25];
    let named = |name: &str, values: [f64; 4]| (name.to_owned(), Tensor::new(&[4], values.to_vec()).unwrap());
    let mut reverse = read(&ctx, text);
    passes(&mut reverse, "backward");
    let gradients = run(&reverse, &vec![named("x", x)]).fetched;
    let (_, gradient) = gradients.iter().find(|(name, _)| name == "x_grad").unwrap();
    let mut forward = read(&ctx, text);
    passes(&mut forward, "jvp");
    let tangents = run(&forward, &vec![named("x", x), named("x_tangent", direction)]).fetched;
    let (_, tangent) = tangents.iter().find(|(name, _)| name == "loss_tangent").unwrap();
    for (gradient, x) in gradient.to_f64().iter().zip(x) {
        assert!((gradient - 2.0 * x).abs() < 1e-6, "{gradient} at {x}");
    }
    let expected: f64 = x.iter().zip(direction).map(|(x, by)| 2.0 * x * by).sum();
    assert!((tangent.to_f64()[0] - expected).abs() < 1e-6, "{tangent:?}");
}

/// The eager engine, with which the others are compared, does not have these.
#[test]
fn linear_algebra_of_jax() {
    let ctx = pir_dialects::context();
    let text = "%x = pd.data {name = \"x\", shape = [3, 3], dtype = f64}\n\
                %t = pd.transpose (%x) {perm = [1, 0]}\n\
                %p = pd.matmul (%x, %t)\n\
                %e = pd.eye {num_rows = 3, num_columns = 3, dtype = f64}\n\
                %s = pd.add (%p, %e)\n\
                %l, %i = stablehlo.custom_call (%s) {call_target_name = \"lapack_dpotrf_ffi\", \
                mhlo.backend_config = {uplo = 76 : ui8}} : tensor<3x3xf64>, tensor<i32>\n\
                %o = pd.tril (%l)\n\
                %squares = pd.multiply (%o, %l)\n\
                %loss = pd.sum (%squares)\n\
                pd.fetch (%loss) {name = \"loss\"}\n";
    let x = Numbers::new(5).tensor(&[3, 3], -1.0, 1.0);
    check_tangents(&ctx, text, &vec![("x".to_owned(), x)], &["x"], 1e-6);
}

#[test]
fn every_rule_is_tried() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut text = String::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let is_tried =
            |name: &str| name.starts_with("gradients") || matches!(name, "layers.rs" | "jvp.rs" | "derivatives.rs");
        if path.file_name().and_then(|n| n.to_str()).is_some_and(is_tried) {
            text += &std::fs::read_to_string(path).unwrap();
        }
    }
    // `tests/files` compares the derivatives of derivatives in these with differences.
    let second = concat!(env!("CARGO_MANIFEST_DIR"), "/test-files/autodiff");
    for entry in std::fs::read_dir(second).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .and_then(|n| n.to_str())
            .is_some_and(|name| name.starts_with("second-"))
        {
            text += &std::fs::read_to_string(path).unwrap();
        }
    }
    let untried: Vec<&str> = pir_passes::autodiff::Rules::standard()
        .names()
        // Collectives need several processes: `docs/examples/two_processes.py` runs one, `test-files/autodiff/collectives.pir` has the others.
        .filter(|name| pir_dialects::pd::family(name) != Some("collective"))
        .filter(|name| {
            let short = name.trim_start_matches("pd.").trim_end_matches("_grad");
            // Twins are met in second derivatives.
            !text.contains(&format!("pd.{short} ")) && !text.contains(&format!("\"{short}\"")) && !text.contains(*name)
        })
        .collect();
    assert_eq!(untried, Vec::<&str>::new());
}
