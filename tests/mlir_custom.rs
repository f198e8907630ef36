//! MLIR's custom assembly: what is accepted has the meaning that `mlir-opt` gives it, and everything else is refused,
//! with a message that explains how to convert it.
//!
//! `tools/mlir/record` writes the generic form by `mlir-opt` of the programs in `test-files/mlir/custom/*.mlir`, which
//! are separated by lines `// -----`.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Body, Context, Diagnostic, Module, ValueId};

const SEPARATOR: &str = "// -----";

/// The minimum numbers of programs that are compared with the recorded form, and that are refused.
const COMPARED: usize = 150;
const REFUSED: usize = 20;

fn recorded() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/mlir/custom");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "mlir")).collect();
    files.sort();
    files
}

fn read(ctx: &Arc<Context>, text: &str) -> Result<Module, Vec<Diagnostic>> {
    let allow_unregistered = true;
    let parsed = parse(ctx, text.as_bytes(), &ParseOptions { allow_unregistered });
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let errors = verify_with(&parsed.module, VerifyOptions { allow_unregistered });
    if errors.is_empty() {
        Ok(parsed.module)
    } else {
        Err(errors)
    }
}

fn generic(module: &Module) -> String {
    let options = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    print(module, &options)
}

/// Takes away what does not matter: names of values and blocks, and the order of attributes.
fn normalise(ctx: &Context, body: &mut Body) {
    for at in 0..body.num_value_slots() {
        body.set_value_name(ValueId::new(at), None);
    }
    let regions: Vec<_> = std::iter::once(body.root())
        .chain(body.walk_all().flat_map(|op| body.op_regions(op).to_vec()))
        .collect();
    for region in regions {
        for block in body.region_blocks(region).to_vec() {
            body.set_block_label(block, None);
        }
    }
    for op in body.walk_all().collect::<Vec<_>>() {
        let attrs = ctx.dict_sorted(body.attrs(op));
        // What is the default need not be said.
        let entries = ctx.dict_entries(attrs).iter().copied();
        let said = entries.filter(|&(name, attr)| {
            // A cache, which MLIR fills when it verifies a named operation.
            if ctx.str(name) == "linalg.memoized_indexing_maps" {
                return false;
            }
            let text = pir_ir::text::print_attr(ctx, attr);
            !matches!(&*text, "#arith.fastmath<none>" | "#arith.overflow<none>" | "#ub.poison")
        });
        let attrs = ctx.dict(&said.collect::<Vec<_>>());
        body.set_attrs(op, attrs);
        if let Some(mut inner) = body.isolated(op).is_some().then(|| body.take_isolated(op)).flatten() {
            normalise(ctx, &mut inner);
            body.set_isolated(op, inner);
        }
    }
}

/// What is printed of a program when that is removed.
fn normal(ctx: &Arc<Context>, text: &str) -> String {
    // mlir-opt prints locations only when it is asked to, and predecessors of blocks as comments.
    let lines = text.lines().map(|line| line.split("  // ").next().unwrap_or_default());
    let text = &lines.collect::<Vec<_>>().join("\n").replace(" loc(\"x\")", "");
    let mut module = read(ctx, text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    let ctx = module.ctx.clone();
    normalise(&ctx, &mut module.body);
    generic(&module)
}

#[test]
fn custom_assembly_is_read_as_it_is_meant_or_refused() {
    let ctx = pir_dialects::context();
    let (mut compared, mut refused) = (0, 0);
    for file in recorded() {
        let inputs = std::fs::read_to_string(&file).unwrap();
        let outputs = std::fs::read_to_string(file.with_extension("generic")).unwrap();
        let (inputs, outputs): (Vec<&str>, Vec<&str>) =
            (inputs.split(SEPARATOR).collect(), outputs.split(SEPARATOR).collect());
        assert_eq!(inputs.len(), outputs.len(), "{}: record again", file.display());
        for (input, output) in inputs.into_iter().zip(outputs) {
            let module = match read(&ctx, input) {
                Ok(module) => module,
                Err(errors) => {
                    refused += 1;
                    for error in errors {
                        let help = error.help.unwrap_or_default();
                        assert!(
                            !error.labels.is_empty() && !help.is_empty(),
                            "{input}\n{}",
                            error.message
                        );
                        let told = error.code != "custom-assembly" || help.contains("--mlir-print-op-generic");
                        assert!(told, "{input}\n{}: {help}", error.message);
                    }
                    continue;
                }
            };
            compared += 1;
            let ours = generic(&module);
            // mlir-opt puts a module around what is none.
            let ours = match ours.starts_with("\"builtin.module\"") {
                true => ours,
                false => format!("\"builtin.module\"() ({{\n{ours}}}) : () -> ()\n"),
            };
            assert_eq!(normal(&ctx, &ours), normal(&ctx, output), "{input}");
        }
    }
    println!("{compared} programs compared, {refused} refused");
    assert!(
        compared >= COMPARED && refused >= REFUSED,
        "{compared} compared, {refused} refused"
    );
}

#[test]
fn the_message_says_what_to_do() {
    let ctx = pir_dialects::context();
    let said = |text: &str| {
        let errors = read(&ctx, text).map(|module| generic(&module)).unwrap_err();
        let first = &errors[0];
        (
            first.code,
            first.message.clone(),
            first.help.clone().unwrap_or_default(),
        )
    };
    let (code, message, help) =
        said("func.func @f(%c: index) {\n  spirv.if %c { \"a.b\"() : () -> () }\n  return\n}\n");
    assert_eq!(code, "custom-assembly");
    assert_eq!(
        message,
        "`spirv.if` uses the custom assembly of the dialect `spirv`, which cannot be parsed"
    );
    assert!(help.contains("mlir-opt --mlir-print-op-generic FILE | pir-opt --allow-unregistered-dialect -"));
    // An operation of a dialect that is unknown, in a form that is not the one that is read of all.
    assert_eq!(
        said("%x = \"a.b\"() : () -> f32\nmy.op %x : f32\n").0,
        "custom-assembly"
    );
    assert_eq!(
        said("%x = \"a.b\"() : () -> f32\nmy.op (%x) : f32\n").0,
        "custom-assembly"
    );
}

#[test]
fn the_pretty_form_of_unregistered_operations() {
    let ctx = pir_dialects::context();
    let read = |text: &str| generic(&read(&ctx, text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}")));
    let text = "%x = my.make () {k = 1} : f32\n%y:2 = my.op (%x) : f32, i32\nmy.use (%x, %y#1) : (f32, i32) -> ()\nmy.end ()\n";
    assert_eq!(
        read(text),
        "%x = \"my.make\"() {k = 1 : i64} : () -> f32\n%y:2 = \"my.op\"(%x) : (f32) -> (f32, i32)\n\
         \"my.use\"(%x, %y#1) : (f32, i32) -> ()\n\"my.end\"() : () -> ()\n"
    );
}

/// The reader and the printer remember what they have met: what comes again with other names of values is the same.
#[test]
fn what_comes_again_is_the_same() {
    const TIMES: usize = 4;
    let ctx = pir_dialects::context();
    let mut compared = 0;
    for file in recorded() {
        let inputs = std::fs::read_to_string(&file).unwrap();
        for input in inputs.split(SEPARATOR).filter(|input| read(&ctx, input).is_ok()) {
            let (aliases, program): (Vec<&str>, Vec<&str>) =
                input.lines().partition(|line| line.starts_with(['#', '!']));
            let copy = |at: usize| {
                let program = program.join("\n").replace('%', &format!("%copy{at}x"));
                format!("module @copy{at}x {{\n{program}\n}}\n")
            };
            let copies: String = (0..TIMES).map(copy).collect();
            let Ok(module) = read(&ctx, &format!("{}\n{copies}", aliases.join("\n"))) else {
                continue;
            };
            for (generic, mlir) in [(false, true), (true, false)] {
                let options = PrintOptions {
                    generic,
                    mlir,
                    ..PrintOptions::default()
                };
                let printed = print(&module, &options);
                let starts = (0..TIMES).map(|at| {
                    let name = printed.find(&format!("copy{at}x")).unwrap();
                    printed[..name].rfind('\n').map_or(0, |end| end + 1)
                });
                let starts: Vec<usize> = starts.chain([printed.len()]).collect();
                let texts: Vec<String> = starts
                    .windows(2)
                    .enumerate()
                    .map(|(at, ends)| printed[ends[0]..ends[1]].replace(&format!("copy{at}x"), ""))
                    .collect();
                for text in &texts[1..] {
                    assert_eq!(text, &texts[0], "{input}");
                }
            }
            compared += 1;
        }
    }
    println!("{compared} programs compared");
    assert!(compared >= COMPARED, "{compared} compared");
}

#[test]
fn what_comes_again_with_the_same_name_twice_is_read_anew() {
    let ctx = pir_dialects::context();
    let maps = |loads: &[&str]| {
        let lines: String = loads
            .iter()
            .enumerate()
            .map(|(at, place)| format!("  %x{at} = affine.load %m[{place}] : memref<8x8xf32>\n"))
            .collect();
        let text = format!("func.func @f(%m: memref<8x8xf32>, %i: index, %j: index) {{\n{lines}  return\n}}\n");
        let module = read(&ctx, &text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
        let text = generic(&module);
        let loads = text
            .lines()
            .filter_map(|line| Some(line.split_once("affine.load")?.1.to_owned()));
        loads.collect::<Vec<_>>()
    };
    let (other, same) = ("%i + %j, 0", "%i + %i, 0");
    let found = maps(&[other, other, other, same, other]);
    assert_eq!(found[3], maps(&[same])[0]);
    assert_eq!([&found[2], &found[4]], [&found[0], &found[0]]);
    assert_ne!(found[3], found[0]);
}
