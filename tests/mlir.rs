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

/// What is in front of the only module in a text, the lines of the module, and what is behind them.
fn around_module(text: &str) -> Option<[&str; 3]> {
    let start = text.find("\"builtin.module\"")?;
    let last = start + text[start..].rfind("\n}) ")? + 1;
    let end = last + text[last..].find('\n')? + 1;
    Some([&text[..start], &text[start..end], &text[end..]])
}

/// What comes again is printed like what came first, though the printer does not go through it another time.
#[test]
fn a_module_that_comes_again_is_the_same() {
    let mut compared = 0;
    for file in recorded() {
        let text = std::fs::read_to_string(&file).unwrap();
        let named = |module: &str| module.lines().next().is_some_and(|line| line.contains("sym_name"));
        let Some([head, module, tail]) = around_module(&text).filter(|parts| !named(parts[1])) else {
            continue;
        };
        let once = reprint(&file, &text);
        let printed = around_module(&once).unwrap();
        let expected = format!("{}{}{}", printed[0], printed[1].repeat(4), printed[2]);
        let four = format!("{head}{}{tail}", module.repeat(4));
        assert_eq!(reprint(&file, &four), expected, "{}", file.display());
        compared += 1;
    }
    assert!(compared >= 50, "{compared} modules");
}

/// Numbers of all sizes, as text.
fn numbers(count: usize, small: bool) -> String {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let numbers = (0..count).map(|_| {
        let (mantissa, power) = (random() % 1_000_000_007, random() % 14);
        let value = (mantissa as f64 - 5e8) / 10f64.powi(if small { power as i32 + 6 } else { power as i32 });
        format!("{value:?}").replace("e", if format!("{value:?}").contains('.') { "e" } else { ".0e" })
    });
    numbers.collect::<Vec<_>>().join(", ")
}

#[test]
fn constants_are_printed_as_mlir_opt_prints_them() {
    if Command::new("mlir-opt-19").arg("--version").output().is_err() {
        println!("skipped: mlir-opt-19 is not installed");
        return;
    }
    let types = [
        "f64",
        "f32",
        "f16",
        "bf16",
        "tf32",
        "f8E5M2",
        "f8E4M3FN",
        "f8E4M3",
        "f8E4M3FNUZ",
        "f8E5M2FNUZ",
    ];
    let mut constants: Vec<String> = types
        .iter()
        .map(|ty| {
            format!(
                "dense<[{}]> : tensor<100x{ty}>",
                numbers(100, *ty != "f64" && *ty != "f32")
            )
        })
        .collect();
    constants.extend(
        [
            "dense<[[1, -1], [128, 255]]> : tensor<2x2xi8>",
            "dense<[255, 1]> : tensor<2xui8>",
            "dense<[true, false]> : vector<2xi1>",
            "dense<[(1.0,2.5), (0.1,-4.0)]> : tensor<2xcomplex<f32>>",
            "dense<\"0x05\"> : tensor<3xi1>",
            "dense<\"0x0000803F00000040\"> : tensor<2xf32>",
            "dense<> : tensor<2x0xf32>",
            "array<i64: 1, 0>",
            "array<f32: 1.0, 0.3>",
        ]
        .map(str::to_owned),
    );
    constants.push(format!("dense<[{}]> : tensor<200xf32>", numbers(200, false)));
    let attrs: Vec<String> = constants
        .iter()
        .enumerate()
        .map(|(at, text)| format!("a{at} = {text}"))
        .collect();
    let text = format!("\"u.x\"() {{{}}} : () -> ()\n", attrs.join(", "));
    let file = std::env::temp_dir().join(format!("pir-constants-{}.mlir", std::process::id()));
    std::fs::write(&file, &text).unwrap();
    let output = Command::new("mlir-opt-19")
        .arg("--allow-unregistered-dialect")
        .arg(&file)
        .output()
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let theirs = String::from_utf8_lossy(&output.stdout);
    let ctx = pir_dialects::context();
    for (at, constant) in constants.iter().enumerate() {
        let ours = pir_ir::text::print_attr(&ctx, pir_ir::text::parse_attr(&ctx, constant).unwrap());
        assert!(theirs.contains(&format!("a{at} = {ours}")), "{ours}\n{theirs}");
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
