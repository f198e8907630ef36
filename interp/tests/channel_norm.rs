//! `pd.channel_norm_grad` gives what its formula, written in other operations, gives in double precision: for both layouts, with and
//! without a scale, where the cotangents are overwritten and where they are read later, and for numbers that do not fit single precision
//! on the way.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_interp::{DType, Options, Tensor};
use pir_ir::text::{ParseOptions, parse};

/// What a program fetches.
fn run(program: &str, inputs: &[(&str, Tensor)]) -> Vec<Tensor> {
    let ctx = pir_dialects::context();
    let parsed = parse(&ctx, program.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{program}{:#?}", parsed.diagnostics);
    let mut options = Options::default();
    for (name, tensor) in inputs {
        options.inputs.insert((*name).into(), tensor.clone());
    }
    let fetched = pir_interp::run(&parsed.module, &options, &mut Vec::new())
        .unwrap()
        .fetched;
    fetched.into_iter().map(|(_, tensor)| tensor).collect()
}

fn data(name: &str, shape: &[usize], dtype: DType) -> String {
    let elem = format!("{dtype:?}").to_lowercase();
    format!("%{name} = pd.data {{name = \"{name}\", shape = {shape:?}, dtype = {elem}}}\n")
}

fn numbers(count: usize, seed: u64, size: f64) -> Vec<f64> {
    let mut state = seed;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        size * f64::from(((state >> 40) as f32 / (1u64 << 24) as f32) * 2.0 - 0.7)
    };
    (0..count).map(next).collect()
}

const FETCHES: &str = "pd.fetch (%dx) {name = \"x\"}\npd.fetch (%ds) {name = \"s\"}\npd.fetch (%db) {name = \"b\"}\n";

#[test]
fn it_is_the_formula() {
    let shapes: [(&[usize], usize); 7] = [
        (&[1, 5, 9, 9], 1),
        (&[3, 4, 40, 41], 1),
        (&[2, 37], 1),
        (&[1, 1, 1], 1),
        (&[3, 6, 5, 8], 3),
        (&[40, 30, 16], 2),
        (&[2, 3, 0, 4], 1),
    ];
    // Of the cotangents, of the elements, and of the factors.
    let sizes = [
        [1.0, 1.0, 1.0],
        [1e25, 1.0, 1e-3],
        [1e-20, 1e-12, 1e12],
        [1.0, 1e3, 1e-33],
        [1e20, 1e20, 1e-20],
    ];
    for (shape, channel) in shapes {
        let count = shape.iter().product();
        let channels = shape[channel];
        let last = channel > 1;
        let axes: Vec<usize> = (0..shape.len()).filter(|&axis| axis != channel).collect();
        let mut wide = vec![1; shape.len()];
        wide[channel] = channels;
        for (seed, size) in (0..).step_by(10).zip(sizes) {
            for scaled in [false, true] {
                let factors: Vec<f64> = numbers(channels, seed + 1, size[2]).iter().map(|v| v.abs()).collect();
                let values = [
                    ("x", shape, numbers(count, seed, size[1])),
                    ("m", &[channels][..], numbers(channels, seed + 2, size[1])),
                    ("f", &[channels], factors),
                    ("g", shape, numbers(count, seed + 3, size[0])),
                    ("s", &[channels], numbers(channels, seed + 4, 1.0)),
                ];
                let inputs = |dtype: DType| {
                    values
                        .clone()
                        .map(|(name, shape, v)| (name, Tensor::new(shape, v).unwrap().cast(dtype).unwrap()))
                };
                let given = |dtype: DType| -> String {
                    values.iter().map(|(name, shape, _)| data(name, shape, dtype)).collect()
                };
                let n = (count / channels.max(1)) as f64;
                let formula = given(DType::F64)
                    + &format!(
                        "%wm = pd.reshape (%m) {{shape = {wide:?}}}\n%wf = pd.reshape (%f) {{shape = {wide:?}}}\n"
                    )
                    + &format!(
                        "%ws = pd.reshape (%s) {{shape = {wide:?}}}\n%c = pd.subtract (%x, %wm)\n%n = pd.multiply (%c, %wf)\n"
                    )
                    + &format!(
                        "%gn = pd.multiply (%g, %n)\n%db = pd.sum (%g) {{axis = {axes:?}}}\n%ds = pd.sum (%gn) {{axis = {axes:?}}}\n"
                    )
                    + &format!(
                        "%a = pd.scale (%db) {{scale = {:?}}}\n%b = pd.scale (%ds) {{scale = {:?}}}\n",
                        1.0 / n.max(1.0),
                        1.0 / n.max(1.0)
                    )
                    + &format!(
                        "%wa = pd.reshape (%a) {{shape = {wide:?}}}\n%wb = pd.reshape (%b) {{shape = {wide:?}}}\n"
                    )
                    + "%nb = pd.multiply (%n, %wb)\n%ga = pd.subtract (%g, %wa)\n%gab = pd.subtract (%ga, %nb)\n%p = pd.multiply (%gab, %wf)\n"
                    + if scaled {
                        "%dx = pd.multiply (%p, %ws)\n"
                    } else {
                        "%dx = pd.assign (%p)\n"
                    }
                    + FETCHES;
                for dtype in [DType::F64, DType::F32] {
                    // Of the numbers that the kernel is given, which are rounded.
                    let rounded = inputs(dtype).map(|(name, v)| (name, v.cast(DType::F64).unwrap()));
                    let wanted = run(&formula, &rounded);
                    let operands = if scaled { "%x, %m, %f, %g, %s" } else { "%x, %m, %f, %g" };
                    let format = if last { "NHWC" } else { "NCHW" };
                    // A negation, so that its operand is unshared.
                    for (later, name) in [("", "overwritten"), ("pd.fetch (%g) {name = \"g\"}\n", "shared")] {
                        let program = given(dtype).replace("%g = ", "%h = ")
                            + "%g = pd.scale (%h) {scale = 1.0}\n"
                            + &format!(
                                "%dx, %ds, %db = pd.channel_norm_grad ({operands}) {{data_format = \"{format}\"}}\n"
                            )
                            + FETCHES
                            + later;
                        let found = run(&program, &inputs(dtype));
                        let limit = if dtype == DType::F32 { 3e-6 } else { 1e-12 };
                        for (found, wanted) in found.iter().zip(&wanted) {
                            assert_eq!((found.shape(), found.dtype()), (wanted.shape(), dtype));
                            let (found, wanted) = (found.to_f64(), wanted.to_f64());
                            let most = wanted.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                            for (found, wanted) in found.iter().zip(&wanted) {
                                let is_near = (found - wanted).abs() <= limit * most
                                    || !(1e-37..=f64::from(f32::MAX)).contains(&wanted.abs());
                                assert!(is_near, "{shape:?} {size:?} {dtype:?} {name}: {found} for {wanted}");
                            }
                        }
                        if let Some(g) = found.get(3) {
                            assert_eq!(g.to_f64(), rounded[3].1.to_f64(), "the cotangents are as they were");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn half_precision_is_computed_in_single_precision() {
    let given = |dtype: DType| data("x", &[2, 3, 4], dtype) + &data("v", &[3], dtype) + &data("g", &[2, 3, 4], dtype);
    let program = |dtype: DType| given(dtype) + "%dx, %ds, %db = pd.channel_norm_grad (%x, %v, %v, %g, %v)\n" + FETCHES;
    let inputs = |dtype: DType| {
        [
            ("x", &[2, 3, 4][..], numbers(24, 1, 1.0)),
            ("v", &[3], numbers(3, 2, 1.0)),
            ("g", &[2, 3, 4], numbers(24, 3, 1.0)),
        ]
        .map(|(name, shape, v)| {
            (
                name,
                Tensor::new(shape, v)
                    .unwrap()
                    .cast(DType::F16)
                    .unwrap()
                    .cast(dtype)
                    .unwrap(),
            )
        })
    };
    let wide = run(&program(DType::F32), &inputs(DType::F32));
    let found = run(&program(DType::F16), &inputs(DType::F16));
    for (found, wide) in found.iter().zip(wide) {
        assert_eq!(found.to_f64(), wide.cast(DType::F16).unwrap().to_f64());
    }
}
