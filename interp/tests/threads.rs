//! Results are bit-identical for any number of threads.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_interp::{Options, Tensor};
use pir_ir::text::{ParseOptions, parse};

/// Operations on `%x`, `%y` and `%z` of these shapes, with enough elements to be shared between threads.
const CASES: &[(&str, &[&[usize]])] = &[
    ("%r = pd.tanh (%x)", &[&[300, 700]]),
    (
        "%u = pd.tanh (%x)\n%v = pd.sin (%u)\n%r = pd.multiply (%v, %u)",
        &[&[300, 700]],
    ),
    ("%r = pd.sum (%x)", &[&[1_000_003]]),
    ("%r = pd.sum (%x) {axis = [1]}", &[&[700, 1300]]),
    ("%r = pd.mean (%x) {axis = [0]}", &[&[1300, 700]]),
    ("%r = pd.sum (%x) {axis = [1]}", &[&[70, 130, 50]]),
    ("%r = pd.softmax (%x) {axis = -1}", &[&[1000, 170]]),
    ("%r = pd.softmax (%x) {axis = 1}", &[&[40, 90, 50]]),
    (
        "%r = pd.softmax_grad (%x, %y) {axis = -1}",
        &[&[1000, 170], &[1000, 170]],
    ),
    (
        "%r, %m, %v = pd.layer_norm (%x, %y, %z)",
        &[&[500, 300], &[300], &[300]],
    ),
    (
        "%r, %m, %v = pd.group_norm (%x) {groups = 4, data_format = \"NHWC\"}",
        &[&[2, 50, 50, 16]],
    ),
    (
        "%r, %a, %b, %c, %d, %e = pd.batch_norm (%x, %y, %y)",
        &[&[5, 16, 40, 40], &[16]],
    ),
    (
        "%r, %a, %b, %c, %d, %e = pd.batch_norm (%x, %y, %y) {data_format = \"NHWC\"}",
        &[&[5, 40, 40, 16], &[16]],
    ),
    (
        "%r, %a, %b = pd.channel_norm_grad (%x, %y, %y, %z, %y)",
        &[&[5, 16, 40, 40], &[16], &[5, 16, 40, 40]],
    ),
    (
        "%r, %a, %b = pd.channel_norm_grad (%x, %y, %y, %z) {data_format = \"NHWC\"}",
        &[&[5, 40, 40, 16], &[16], &[5, 40, 40, 16]],
    ),
    (
        "%r, %a, %b = pd.scaled_dot_product_attention_grad (%x, %y, %y, %z)",
        &[&[3, 300, 40], &[3, 700, 40], &[3, 300, 40]],
    ),
    (
        "%a, %r, %b = pd.scaled_dot_product_attention_grad (%x, %y, %y, %z)",
        &[&[1, 300, 40], &[1, 700, 40], &[1, 300, 40]],
    ),
    ("%r = pd.matmul (%x, %y)", &[&[1, 700], &[700, 2100]]),
    (
        "%r = pd.matmul (%x, %y) {transpose_y = true}",
        &[&[1, 700], &[2100, 700]],
    ),
    (
        "%r = pd.matmul (%x, %y) {transpose_y = true}",
        &[&[35, 150], &[203, 150]],
    ),
    (
        "%r = pd.matmul (%x, %y) {transpose_x = true}",
        &[&[1, 1100], &[1, 1000]],
    ),
    ("%r = pd.matmul (%x, %y)", &[&[13, 300], &[300, 301]]),
    ("%r = pd.matmul (%x, %y)", &[&[40, 130], &[130, 203]]),
    (
        "%r = pd.matmul (%x, %y) {transpose_x = true, transpose_y = true}",
        &[&[130, 40], &[203, 130]],
    ),
    (
        "%r = pd.conv2d (%x, %y) {paddings = [1, 1]}",
        &[&[1, 8, 61, 61], &[4, 8, 3, 3]],
    ),
    (
        "%r = pd.conv2d (%x, %y) {strides = [1, 2], paddings = [1, 1], groups = 2}",
        &[&[1, 16, 61, 121], &[8, 8, 3, 3]],
    ),
    ("%r = pd.conv2d (%x, %y)", &[&[1, 32, 40, 41], &[24, 32, 1, 1]]),
    (
        "%r = pd.depthwise_conv2d (%x, %y) {paddings = [1, 1], groups = 16}",
        &[&[1, 16, 60, 61], &[16, 1, 3, 3]],
    ),
    (
        "%r, %s = pd.conv2d_grad (%x, %y, %z) {paddings = [1, 1]}",
        &[&[1, 8, 61, 61], &[4, 8, 3, 3], &[1, 4, 61, 61]],
    ),
    (
        "%r, %s = pd.conv2d_grad (%x, %y, %z) {paddings = [1, 1], strides = [2, 2], groups = 16}",
        &[&[1, 16, 88, 88], &[16, 1, 3, 3], &[1, 16, 44, 44]],
    ),
    (
        "%r = pd.conv2d (%x, %y) {paddings = [1, 1]}",
        &[&[2, 40, 29, 30], &[150, 40, 3, 3]],
    ),
    (
        "%r, %s = pd.conv2d_grad (%x, %y, %z) {paddings = [1, 1]}",
        &[&[2, 40, 29, 30], &[70, 40, 3, 3], &[2, 70, 29, 30]],
    ),
    (
        "%r = pd.matmul (%x, %y) {transpose_y = true}",
        &[&[37, 3000], &[50, 3000]],
    ),
    (
        "%r = pd.pool2d (%x) {kernel_size = [3, 3], strides = [2, 2], paddings = [1, 1], pooling_type = \"max\"}",
        &[&[2, 20, 81, 80]],
    ),
    (
        "%r = pd.pool2d_grad (%x, %y, %z) {kernel_size = [3, 3], strides = [2, 2], paddings = [1, 1], pooling_type = \"avg\"}",
        &[&[2, 20, 81, 80], &[2, 20, 41, 40], &[2, 20, 41, 40]],
    ),
    (
        "%a = pd.subtract (%x, %y)\n%r = pd.multiply (%a, %y)",
        &[&[2, 20, 81, 80], &[1, 20, 1, 1]],
    ),
];

fn run(text: &str, inputs: &[(String, Tensor)]) -> Vec<Tensor> {
    let ctx = pir_dialects::context();
    let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{:#?}\n{text}", parsed.diagnostics);
    let options = Options {
        inputs: inputs.iter().cloned().collect(),
        ..Options::default()
    };
    let outcome = pir_interp::run(&parsed.module, &options, &mut std::io::sink()).unwrap();
    outcome.fetched.into_iter().map(|(_, tensor)| tensor).collect()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for (body, shapes) in CASES {
        // The others would take long in f64, without optimization.
        let both = !body.contains("matmul") && !body.contains("conv");
        for dtype in ["f32", "f64"].into_iter().take(1 + usize::from(both)) {
            let mut text = String::new();
            let mut inputs = Vec::new();
            for (name, shape) in ["x", "y", "z"].into_iter().zip(*shapes) {
                text += &format!("%{name} = pd.data {{name = \"{name}\", shape = {shape:?}, dtype = {dtype}}}\n");
                let count: usize = shape.iter().product();
                let values = (0..count).map(|at| ((at * 7919 + name.len()) % 1009) as f64 / 997.0 + 0.01);
                let tensor = Tensor::new(shape, values.collect()).unwrap();
                let narrow = || tensor.to_f64().into_iter().map(|v| v as f32).collect();
                let tensor = if dtype == "f32" {
                    Tensor::new::<f32>(shape, narrow()).unwrap()
                } else {
                    tensor
                };
                inputs.push((name.to_owned(), tensor));
            }
            text += &format!("{body}\npd.fetch (%r) {{name = \"r\"}}\n");
            if body.contains("%s =") {
                text += "pd.fetch (%s) {name = \"s\"}\n";
            }
            let [one, two, three] = [1, 2, 3].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| run(&text, &inputs))
            });
            for others in [two, three] {
                for (found, wanted) in others.iter().zip(&one) {
                    assert!(found.same_bits(wanted), "{body} of {dtype}");
                }
            }
        }
    }
}
