//! `pir-run --check-grad`: the verdicts on the eight loops, right and with one operation of the derivative changed. The
//! operations one by one are compared in `gradients.rs` and `layers.rs`.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "common/parallel.rs"]
mod parallel;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::verdicts::{MUTATIONS, check_verdicts};
use common::{inputs_for, passes, read};

#[test]
fn wrong_derivatives_of_the_eight_loops_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff/loops");
    let (loops, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    parallel::for_each(&paths, |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let plain = read(
            &pir_dialects::context(),
            &text.replace("1024", "8").replace("256", "2").replace("f32", "f64"),
        );
        let mut with = plain.clone();
        passes(&mut with, "backward");
        let (inputs, _) = inputs_for(&plain, 2, 4);
        let found = check_verdicts(&plain, &with, &inputs, &MUTATIONS, usize::MAX);
        println!("{}: {found}", path.display());
        assert!(found >= 10, "{found}");
        wrong.fetch_add(found, Ordering::Relaxed);
        loops.fetch_add(1, Ordering::Relaxed);
    });
    let (loops, wrong) = (loops.into_inner(), wrong.into_inner());
    assert!(loops == 8 && wrong >= 200, "{wrong} in {loops} loops");
}
