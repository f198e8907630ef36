//! Graphs that TensorFlow wrote, read as they are: functions, lists, branches of several ways, a SavedModel.
//!
//! `tools/fixtures/tensorflow_graphs.py` records them, with what TensorFlow computes for their inputs. Each is raised, run and
//! differentiated here, and written back and read again.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};

use common::Inputs;
use pir_interp::Tensor;
use pir_ir::Module;
use pir_tools::arrays::read_arrays;
use pir_tools::driver::{LoadOptions, load};
use pir_tools::source::Source;
use pir_translate::graphdef;

/// Relative to the largest element, in f32.
const TOLERANCE: f64 = 2e-5;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tensorflow")
}

/// A fixture: its program, and what goes in and comes out.
struct Recorded {
    module: Module,
    inputs: Inputs,
    values: Vec<(String, Tensor)>,
    gradients: Vec<(String, Tensor)>,
}

fn recorded(name: &str) -> Recorded {
    let text = folder().join(format!("{name}.pbtxt"));
    let model = folder().join(name);
    let path = if model.is_dir() { &model } else { &text };
    let all = read_arrays(folder().join(format!("{name}.npz")).to_str().unwrap()).unwrap();
    let of = |kind: &str| -> Vec<(String, Tensor)> {
        let named = all
            .iter()
            .filter_map(|(key, v)| Some((key.strip_prefix(kind)?.to_owned(), v.clone())));
        named.collect()
    };
    let (mut inputs, values, gradients) = (of("in:"), of("out:"), of("grad:"));
    if model.is_dir() {
        inputs.extend(read_arrays(model.to_str().unwrap()).unwrap());
    }
    let options = LoadOptions {
        graph: graphdef::Options {
            outputs: values.iter().map(|(name, _)| name.clone()).collect(),
            ..Default::default()
        },
        ..Default::default()
    };
    let source = Source::read(path.to_str().unwrap()).unwrap();
    let (module, _) = load(&pir_dialects::context(), &source, options).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    Recorded {
        module,
        inputs,
        values,
        gradients,
    }
}

fn compare(name: &str, got: &[(String, Tensor)], want: &[(String, Tensor)]) {
    for (key, value) in want {
        let found = got.iter().find(|(k, _)| k == key);
        let (_, found) = found.unwrap_or_else(|| panic!("{name}: there is no `{key}`"));
        assert_eq!(found.shape(), value.shape(), "{name}: {key}");
        let (a, b) = (found.to_f64(), value.to_f64());
        let largest = b.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
        for (a, b) in a.iter().zip(b.iter()) {
            assert!((a - b).abs() <= TOLERANCE * largest, "{name}: {key}: {a} and {b}");
        }
    }
}

fn check(name: &str) {
    let it = differentiated(name);
    written(name, it);
}

/// Raises, runs and differentiates a fixture.
fn differentiated(name: &str) -> Recorded {
    let mut it = recorded(name);
    common::passes(&mut it.module, "raise-from-dataflow");
    compare(name, &common::run(&it.module, &it.inputs).fetched, &it.values);
    // The loss comes first among the outputs of each fixture.
    let loss = it.values[0].0.clone();
    common::passes(&mut it.module, &format!("backward{{of=\"{loss}\"}}"));
    let wanted: Vec<_> = it
        .gradients
        .iter()
        .map(|(key, v)| (format!("{key}_grad"), v.clone()))
        .collect();
    let got = common::run(&it.module, &it.inputs).fetched;
    compare(name, &got, &it.values);
    compare(name, &got, &wanted);
    it.values.extend(wanted);
    it
}

/// Writes a fixture with its gradients back, and reads that.
fn written(name: &str, mut it: Recorded) {
    common::passes(&mut it.module, "lower-to-dataflow");
    let message = graphdef::write(&it.module, None).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    let mut again = graphdef::read(&pir_dialects::context(), &message, &Default::default())
        .unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    common::passes(&mut again, "raise-from-dataflow");
    compare(name, &common::run(&again, &it.inputs).fetched, &it.values);
}

#[test]
fn functions() {
    check("frozen_nested");
    check("traced_both");
}

#[test]
fn branches_of_several_ways() {
    check("frozen_switched");
    check("lowered_switched");
}

#[test]
fn lists_and_arrays() {
    check("frozen_gathered");
    check("tensor_array_write");
}

#[test]
fn loops_in_conditionals() {
    check("while_in_cond");
}

#[test]
fn graphs_with_gradients() {
    check("gradients_while");
}

#[test]
fn slices_with_computed_bounds() {
    check("slices");
}

#[test]
fn saved_models() {
    check("saved_loop");
}

/// A SavedModel keeps its signatures, and its parameters become its variables.
#[test]
fn saved_models_are_written() {
    let mut it = recorded("saved_loop");
    common::passes(&mut it.module, "backward{of=loss},lower-to-dataflow");
    let base = std::fs::read(folder().join("saved_loop/saved_model.pb")).unwrap();
    let options = graphdef::Saved {
        base: Some(&base),
        variables: true,
        signature: None,
    };
    let written = graphdef::write_saved(&it.module, options).unwrap();
    let read = |signature: &str| {
        let options = graphdef::Options {
            signature: Some(signature.to_owned()),
            ..Default::default()
        };
        let mut module = graphdef::read_saved(&pir_dialects::context(), &written, &options).unwrap();
        common::passes(&mut module, "raise-from-dataflow");
        common::run(&module, &it.inputs).fetched
    };
    compare("serving_default", &read("serving_default"), &it.values);
    let gradients = read(graphdef::GRADIENTS);
    compare("gradients", &gradients, &it.values);
    let wanted: Vec<_> = it
        .gradients
        .iter()
        .map(|(key, v)| (format!("{key}_grad"), v.clone()))
        .collect();
    compare("gradients", &gradients, &wanted);
    assert!(gradients.iter().any(|(key, _)| key == "w_grad"), "{gradients:?}");
    // Without a SavedModel, parameters are inputs.
    let alone = graphdef::write_saved(&it.module, graphdef::Saved::default()).unwrap();
    assert!(graphdef::read_saved(&pir_dialects::context(), &alone, &Default::default()).is_ok());
    let unknown = graphdef::Options {
        signature: Some("train".to_owned()),
        ..Default::default()
    };
    let errors = graphdef::read_saved(&pir_dialects::context(), &written, &unknown).unwrap_err();
    assert!(
        errors[0].message.contains("`gradients`, `serving_default`"),
        "{errors:?}"
    );
}
