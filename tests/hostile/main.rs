//! Hostile input: whatever it is, there is a diagnostic or a result, and no panic, overflow of the stack or endless run.
//!
//! Every input of the table is read (with and without unknown operations), verified, printed in both forms and read back,
//! optimised, differentiated and run with a budget. The time is not asserted, since machines differ: an input on which
//! something is quadratic makes the suite hang.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod inputs;
mod memory;
mod messages;
mod operations;
#[path = "../common/parallel.rs"]
mod parallel;
#[path = "../common/size.rs"]
mod size;
mod tools;

use std::sync::Arc;

use pir_interp::Options;
use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Context, Module};
use pir_passes::{PassManager, Pipeline};

/// Reads and verifies; `None` if there were diagnostics, each of which must have a message.
fn load(ctx: &Arc<Context>, bytes: &[u8], allow_unregistered: bool) -> Option<Module> {
    let parsed = parse(ctx, bytes, &ParseOptions { allow_unregistered });
    let mut diagnostics = parsed.diagnostics;
    if diagnostics.is_empty() {
        diagnostics = verify_with(&parsed.module, VerifyOptions { allow_unregistered });
    }
    for diagnostic in &diagnostics {
        assert!(
            !diagnostic.message.is_empty() && !diagnostic.code.is_empty(),
            "{diagnostic:?}"
        );
        for label in &diagnostic.labels {
            assert!(
                label.span.end as usize <= bytes.len(),
                "{diagnostic:?} is outside of the input"
            );
        }
    }
    diagnostics.is_empty().then_some(parsed.module)
}

/// Does with an input what the tools would do.
fn survive(name: &str, bytes: &[u8]) {
    println!("{name}, {} bytes", bytes.len());
    if let Some(format) = pir_translate::detect(bytes) {
        let options = pir_translate::Options {
            paddle: pir_translate::paddle::Options {
                allow_unregistered: true,
            },
            ..Default::default()
        };
        let _ = format.read(&pir_dialects::context(), bytes, &options);
        return;
    }
    for allow_unregistered in [false, true] {
        let ctx = pir_dialects::context();
        let Some(module) = load(&ctx, bytes, allow_unregistered) else {
            continue;
        };
        for generic in [false, true] {
            let options = PrintOptions {
                generic,
                ..PrintOptions::default()
            };
            let text = print(&module, &options);
            let again = load(&ctx, text.as_bytes(), allow_unregistered);
            let again = again.unwrap_or_else(|| panic!("{name}: cannot read back {}", &text[..text.len().min(2000)]));
            assert!(print(&again, &options) == text, "{name}: printing is no fixed point");
        }
        for passes in ["canonicalize,forward-args,licm,cse,dce", "backward", "inline"] {
            let mut module = module.clone();
            let pipeline = Pipeline::parse(passes).unwrap();
            let _ = PassManager::new().run(&mut module, &pipeline);
        }
        let options = Options {
            max_steps: Some(10_000),
            max_memory: Some(64 << 20),
            ..Options::default()
        };
        let _ = pir_interp::run(&module, &options, &mut std::io::sink());
    }
}

#[test]
fn every_input_of_the_table() {
    let mut inputs = inputs::all();
    inputs.extend(messages::all());
    let names: std::collections::BTreeSet<&str> = inputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), inputs.len(), "two inputs have the same name");
    assert!(inputs.len() >= 200, "{} inputs", inputs.len());
    let only = std::env::var("HOSTILE_INPUT").unwrap_or_default();
    inputs.retain(|(name, _)| name.contains(&only));
    parallel::for_each(&inputs, |(name, bytes)| {
        let start = std::time::Instant::now();
        survive(name, bytes);
        println!("    {} ms: {name}", start.elapsed().as_millis());
    });
}

/// A program with a bit of everything, cut off after every byte, and with every byte replaced in turn; with fewer of them
/// below the full size.
#[test]
fn truncated_and_changed_at_every_byte() {
    let program = inputs::PROGRAM.as_bytes();
    assert!(
        load(&pir_dialects::context(), program, false).is_some(),
        "the program is right as a whole"
    );
    let ctx = pir_dialects::context();
    let stride = if size::percent() < 100 { 7 } else { 1 };
    for end in (0..program.len()).step_by(stride) {
        load(&ctx, &program[..end], end % 2 == 0);
    }
    for at in (0..program.len()).step_by(stride) {
        for byte in [0, b'}', b'%', 0xFF] {
            let mut changed = program.to_vec();
            changed[at] = byte;
            load(&ctx, &changed, at % 2 == 0);
        }
        let mut without = program.to_vec();
        without.remove(at);
        load(&ctx, &without, at % 2 == 0);
    }
}

/// Functions that call the next one twice, which calls the next one twice …
#[test]
fn calls_that_double() {
    let ty = "tensor<4xf32>";
    let mut program = String::new();
    for at in 0..400 {
        program += &format!(
            "func.func private @f{at}(%x: {ty}) -> {ty} {{\n%y = func.call @f{next} (%x) : {ty}\n\
             %z = func.call @f{next} (%y) : {ty}\nfunc.return (%z)\n}}\n",
            next = at + 1
        );
    }
    program += &format!("func.func @f400(%x: {ty}) -> {ty} {{\n%y = pd.tanh (%x)\nfunc.return (%y)\n}}\n");
    let mut module = load(&pir_dialects::context(), program.as_bytes(), false).unwrap();
    let pipeline = Pipeline::parse("inline").unwrap();
    PassManager::new().run(&mut module, &pipeline).unwrap();
    let lines = print(&module, &PrintOptions::default()).lines().count();
    assert!((1_000..150_000).contains(&lines), "{lines} lines");
}
