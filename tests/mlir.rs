//! MLIR's generic form, of whatever dialect: what `mlir-opt` prints is read, and what is printed then is the same to
//! `mlir-opt` as what it was. The inputs are recorded by `tools/mlir/record`; where `mlir-opt-19` is installed, it reads
//! our output back and must print the bytes that it printed before.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::{VerifyOptions, verify_with};

fn recorded() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/mlir");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "generic" || e == "debug"))
        .collect();
    files.sort();
    assert!(files.len() >= 58, "{} files", files.len());
    files
}

#[track_caller]
fn reprint(what: &Path, text: &str) -> String {
    let ctx = pir_dialects::context();
    let options = ParseOptions {
        allow_unregistered: true,
    };
    let parsed = parse(&ctx, text.as_bytes(), &options);
    assert!(
        parsed.diagnostics.is_empty(),
        "{}: {:#?}",
        what.display(),
        parsed.diagnostics
    );
    let errors = verify_with(
        &parsed.module,
        VerifyOptions {
            allow_unregistered: true,
        },
    );
    assert!(errors.is_empty(), "{}: {errors:#?}", what.display());
    let options = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    print(&parsed.module, &options)
}

#[test]
fn printing_is_a_fixed_point() {
    for file in recorded() {
        let once = reprint(&file, &std::fs::read_to_string(&file).unwrap());
        let twice = reprint(&file, &once);
        assert_eq!(once, twice, "{}", file.display());
    }
}

#[test]
fn mlir_opt_reads_the_same() {
    if Command::new("mlir-opt-19").arg("--version").output().is_err() {
        println!("skipped: mlir-opt-19 is not installed");
        return;
    }
    for file in recorded() {
        let before = std::fs::read_to_string(&file).unwrap();
        let ours = reprint(&file, &before);
        let mut command = Command::new("mlir-opt-19");
        command.args(["--mlir-print-op-generic", "--allow-unregistered-dialect"]);
        if file.extension().is_some_and(|e| e == "debug") {
            command.arg("--mlir-print-debuginfo");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(ours.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}\n{ours}", file.display());
        let after = String::from_utf8_lossy(&output.stdout);
        assert!(
            after == before,
            "{}: mlir-opt prints something else\n{after}",
            file.display()
        );
    }
}
