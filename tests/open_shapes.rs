//! Programs whose batch is left open, against the same programs with a known one.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::{Inputs, Numbers, passes, read};
use pir_interp::Options;
use pir_tools::Tool;

/// An operation of `%x`, the extents of that behind the batch, and those of the result behind the batch.
const OPERATIONS: &[(&str, &[usize], &str)] = &[
    ("pd.pixel_shuffle (%x) {upscale_factor = 2}", &[4, 2, 2], "1x4x4x"),
    (
        "pd.pad3d (%x) {paddings = [1, 0, 0, 1, 0, 0]}",
        &[1, 2, 2, 2],
        "1x2x3x3x",
    ),
    (
        "pd.pad3d (%x) {paddings = [1, 1, 0, 1, 0, 0], mode = \"reflect\"}",
        &[1, 2, 2, 3],
        "1x2x3x5x",
    ),
    ("pd.pad (%x) {paddings = [0, 0, 1, 2], pad_value = 0.5}", &[3], "6x"),
    ("pd.einsum (%x, %x) {equation = \"bi,bj->bij\"}", &[3], "3x3x"),
    ("pd.group_norm (%x) {groups = 2}", &[4, 2, 2], "4x2x2x"),
    ("pd.cumprod (%x) {dim = 1}", &[3], "3x"),
    ("pd.inverse (%x)", &[2, 2], "2x2x"),
    (
        "pd.bilinear_interp (%x) {out_h = 3, out_w = 5, interp_method = \"bilinear\", data_format = \"NCHW\", out_d = -1, scale = [], align_corners = false, align_mode = 0}",
        &[1, 2, 2],
        "1x3x5x",
    ),
    ("pd.repeat_interleave (%x) {repeats = 2, axis = 1}", &[3], "6x"),
];

#[test]
fn an_open_batch_changes_nothing() {
    for &(op, extents, result) in OPERATIONS {
        let batch = 3;
        let own: String = extents.iter().map(|extent| format!("{extent}x")).collect();
        let text = |dim: &str, extent: i64| {
            let shape: Vec<i64> = std::iter::once(extent)
                .chain(extents.iter().map(|&extent| extent as i64))
                .collect();
            // The statistics of a normalization are results too.
            let (names, types) = match op.starts_with("pd.group_norm") {
                true => (
                    "%y, %m, %v",
                    format!("tensor<{dim}x{result}f64>, tensor<{dim}x2xf64>, tensor<{dim}x2xf64>"),
                ),
                false => ("%y", format!("tensor<{dim}x{result}f64>")),
            };
            format!(
                "%x = pd.data {{name = \"x\", shape = {shape:?}, dtype = f64}} : tensor<{dim}x{own}f64>
{names} = {op} : {types}
%s = pd.sin (%y) : tensor<{dim}x{result}f64>
%l = pd.sum (%s) : tensor<f64>
pd.fetch (%l) {{name = \"l\"}}
"
            )
        };
        let shape: Vec<usize> = std::iter::once(batch).chain(extents.iter().copied()).collect();
        let inputs: Inputs = vec![("x".to_owned(), Numbers::new(3).tensor(&shape, 0.3, 1.1))];
        let [expected, found] = [("3", 3), ("?", -1)].map(|(dim, extent)| {
            let mut module = read(&Tool::new("pir-run").context(), &text(dim, extent));
            passes(&mut module, "backward");
            pir_tools::run::lower_gradients(&mut module).unwrap();
            let options = Options {
                inputs: inputs.clone().into_iter().collect(),
                ..Options::default()
            };
            let outcome = pir_interp::run(&module, &options, &mut std::io::sink());
            let fetched = outcome.unwrap_or_else(|error| panic!("{op}: {error:?}")).fetched;
            fetched
                .into_iter()
                .flat_map(|(_, value)| value.to_f64())
                .collect::<Vec<f64>>()
        });
        assert_eq!(expected.len(), found.len(), "{op}");
        for (a, b) in expected.iter().zip(&found) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{op}: {a} is {b}");
        }
    }
}

#[test]
fn volumes_of_one_image_are_padded_as_images() {
    let run = |op: &str, depth: &str, shape: &[i64], filter: &[i64]| {
        let text = format!(
            "%x = pd.data {{name = \"x\", shape = {shape:?}, dtype = f64}} : tensor<1x2x{depth}5x6xf64>
%f = pd.data {{name = \"f\", shape = {filter:?}, dtype = f64}} : tensor<3x2x{depth}3x2xf64>
%y = {op} : tensor<1x3x{depth}3x3xf64>
pd.fetch (%y) {{name = \"y\"}}
"
        );
        let tensor = |shape: &[i64], seed| {
            let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
            Numbers::new(seed).tensor(&shape, -1.0, 1.0)
        };
        let options = Options {
            inputs: [("x", tensor(shape, 3)), ("f", tensor(filter, 4))]
                .map(|(name, x)| (name.to_owned(), x))
                .into_iter()
                .collect(),
            ..Options::default()
        };
        let module = read(&Tool::new("pir-run").context(), &text);
        let outcome = pir_interp::run(&module, &options, &mut std::io::sink());
        outcome.unwrap_or_else(|error| panic!("{op}: {error:?}")).fetched[0]
            .1
            .to_f64()
    };
    // `SAME` takes no dilations.
    let image = "pd.conv2d (%x, %f) {strides = [2, 2], dilations = [1, 2], padding_algorithm = \"SAME\"}";
    let volume = "pd.conv3d (%x, %f) {strides = [1, 2, 2], dilations = [1, 1, 2], padding_algorithm = \"SAME\"}";
    let expected = run(image, "", &[1, 2, 5, 6], &[3, 2, 3, 2]);
    let found = run(volume, "1x", &[1, 2, 1, 5, 6], &[3, 2, 1, 3, 2]);
    assert_eq!(expected.len(), found.len());
    for (a, b) in expected.iter().zip(&found) {
        assert!((a - b).abs() <= 1e-12, "{a} is {b}");
    }
}
