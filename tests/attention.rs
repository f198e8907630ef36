//! `fuse-attention` by execution: programs give the same before and after it, also where the weights are computed in several parts.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use common::{inputs_for, passes, read, run, text};

/// Attention with the extents of the batch, of queries, keys, their rows, and values.
fn program(elem: &str, batch: &str, [m, n, d, e]: [usize; 4], mask: Option<&str>, transposed: bool) -> String {
    let data = |name: &str, shape: String| {
        let shape = shape.replace('x', ", ");
        format!("%{name} = pd.data {{name = \"{name}\", shape = [{shape}], dtype = {elem}}}\n")
    };
    let mut program = data("q", format!("{batch}{m}x{d}"))
        + &data("v", format!("{batch}{n}x{e}"))
        + &match transposed {
            true => {
                data("k", format!("{d}x{n}"))
                    + "%rows = pd.transpose (%k) {perm = [1, 0]}\n%kt = pd.transpose (%rows) {perm = [1, 0]}\n"
            }
            false => data("k", format!("{batch}{n}x{d}")),
        };
    program += match transposed {
        true => "%s = pd.matmul (%q, %kt)\n",
        false => "%s = pd.matmul (%q, %k) {transpose_y = true}\n",
    };
    program += "%t = pd.scale (%s) {scale = 0.3}\n";
    if let Some(mask) = mask {
        program += &data("mask", mask.to_owned());
        program += "%u = pd.add (%t, %mask)\n%w = pd.softmax (%u)\n";
    } else {
        program += "%w = pd.softmax (%t)\n";
    }
    program + "%o = pd.matmul (%w, %v)\npd.fetch (%o) {name = \"o\"}\n"
}

#[test]
fn it_gives_the_same() {
    let ctx = pir_dialects::context();
    // The last one takes several parts: 1 MB of weights at once.
    let extents = [[5, 7, 4, 6], [1, 1, 1, 1], [3, 1, 8, 2], [300, 1100, 3, 2]];
    let mut seed = 0;
    for elem in ["f32", "f64"] {
        for [m, n, d, e] in extents {
            for batch in ["", "2x", "2x3x"] {
                for mask in [
                    None,
                    Some(format!("{m}x{n}")),
                    Some(format!("{n}")),
                    Some(format!("{batch}{m}x1")),
                ] {
                    for transposed in [false, true] {
                        if m * n > 10_000 && (transposed || !batch.is_empty()) {
                            continue;
                        }
                        seed += 1;
                        let program = program(elem, batch, [m, n, d, e], mask.as_deref(), transposed);
                        let before = read(&ctx, &program);
                        let mut after = before.clone();
                        passes(&mut after, "fuse-attention,dce");
                        assert!(
                            text(&after).contains("attention") && !text(&after).contains("softmax"),
                            "{}",
                            text(&after)
                        );
                        let inputs = inputs_for(&before, 0, seed).0;
                        let inputs = inputs.into_iter();
                        let inputs = match elem {
                            "f32" => inputs
                                .map(|(name, x)| (name, x.cast(pir_interp::DType::F32).unwrap()))
                                .collect(),
                            _ => inputs.collect(),
                        };
                        let [before, after] =
                            [&before, &after].map(|module| run(module, &inputs).fetched.remove(0).1.to_f64());
                        let limit = if elem == "f32" { 1e-5 } else { 1e-13 };
                        for (a, b) in before.iter().zip(&after) {
                            assert!((a - b).abs() <= limit * a.abs(), "{program}{a} {b}");
                        }
                    }
                }
            }
        }
    }
}

/// Where the transpose of the keys permutes their heads as well.
#[test]
fn heads_are_exchanged_with_rows() {
    let ctx = pir_dialects::context();
    let before = read(
        &ctx,
        "%q = pd.data {name = \"q\", shape = [2, 3, 5, 4], dtype = f64}\n\
         %k = pd.data {name = \"k\", shape = [2, 7, 3, 4], dtype = f64}\n\
         %v = pd.data {name = \"v\", shape = [2, 3, 7, 6], dtype = f64}\n\
         %kt = pd.transpose (%k) {perm = [0, 2, 3, 1]}\n\
         %s = pd.matmul (%q, %kt)\n\
         %w = pd.softmax (%s)\n\
         %o = pd.matmul (%w, %v)\n\
         pd.fetch (%o) {name = \"o\"}\n",
    );
    let mut after = before.clone();
    passes(&mut after, "fuse-attention");
    assert!(!text(&after).contains("softmax"), "{}", text(&after));
    let inputs = inputs_for(&before, 0, 1).0;
    let [before, after] = [&before, &after].map(|module| run(module, &inputs).fetched.remove(0).1.to_f64());
    for (a, b) in before.iter().zip(&after) {
        assert!((a - b).abs() <= 1e-13 * a.abs(), "{a} {b}");
    }
}

/// The derivative computes the weights again: the same gradients, of a program that records none. It is one operation, also where the
/// weights are computed in several parts, unless there is one in the mask.
#[test]
fn so_do_its_gradients() {
    let ctx = pir_dialects::context();
    let extents = [[5, 7, 4, 6], [1, 1, 1, 1], [3, 1, 8, 2], [300, 1100, 3, 2]];
    let mut seed = 0;
    for (elem, limit) in [("f32", 1e-4), ("f64", 1e-12)] {
        for [m, n, d, e] in extents {
            for (mask, is_constant) in [
                (None, true),
                (Some(format!("{m}x{n}")), false),
                (Some(format!("{n}")), true),
                (Some(format!("{m}x1")), true),
            ] {
                seed += 1;
                let mut program = program(
                    elem,
                    if m < 300 { "2x" } else { "" },
                    [m, n, d, e],
                    mask.as_deref(),
                    false,
                );
                if is_constant {
                    program = program.replace("name = \"mask\"", "name = \"mask\", stop_gradient = true");
                }
                let program = program.replace(
                    "pd.fetch (%o)",
                    "%square = pd.multiply (%o, %o)\n%l = pd.sum (%square)\npd.fetch (%l)",
                );
                let gradients = |pipeline: &str| {
                    let mut module = read(&ctx, &program);
                    let mut inputs = inputs_for(&module, 0, seed).0;
                    for (_, x) in inputs.iter_mut().filter(|_| elem == "f32") {
                        *x = x.cast(pir_interp::DType::F32).unwrap();
                    }
                    passes(&mut module, pipeline);
                    let fused = text(&module).contains("scaled_dot_product_attention_grad");
                    (run(&module, &inputs).fetched, fused)
                };
                let ((before, _), (after, fused)) = (gradients("backward"), gradients("fuse-attention,backward"));
                assert_eq!(fused, is_constant, "{program}");
                assert_eq!(before.len(), after.len());
                assert!(before.len() >= 4);
                for ((name, a), (other, b)) in before.iter().zip(&after) {
                    assert_eq!(name, other);
                    let (a, b) = (a.to_f64(), b.to_f64());
                    let most = a.iter().fold(0.0f64, |most, a| most.max(a.abs()));
                    for (a, b) in a.iter().zip(b) {
                        assert!((a - b).abs() <= limit * most.max(1.0), "{program}{name}: {a} {b}");
                    }
                }
            }
        }
    }
}
