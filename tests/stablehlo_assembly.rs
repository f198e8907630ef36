//! MLIR's custom assembly of what JAX lowers to, against its generic form: `tools/jax/record` wrote both.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::verify;
use pir_ir::{Body, Context, Module, ValueId};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stablehlo")
}

/// The programs in the custom assembly, each with its generic form.
fn programs() -> Vec<(PathBuf, PathBuf)> {
    let files = fs::read_dir(folder().join("pretty")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == "mlir"))
        .collect();
    files.sort();
    assert!(files.len() > 45, "{} programs", files.len());
    let generic = |path: &Path| {
        let own = path.with_extension("generic");
        let shared = folder().join(path.file_name().unwrap());
        if own.exists() { own } else { shared }
    };
    files.into_iter().map(|path| (path.clone(), generic(&path))).collect()
}

fn read(ctx: &Arc<Context>, file: &Path) -> Module {
    let text = fs::read_to_string(file).unwrap();
    let parsed = parse(ctx, text.as_bytes(), &ParseOptions::default());
    assert_eq!(parsed.diagnostics, [], "{}", file.display());
    assert_eq!(verify(&parsed.module), [], "{}", file.display());
    parsed.module
}

/// Takes away the names of values and blocks, which the two forms do not share, and puts attributes in order.
fn normalise(ctx: &Context, body: &mut Body) {
    for at in 0..body.num_value_slots() {
        body.set_value_name(ValueId::new(at), None);
    }
    let ops: Vec<_> = body.walk_all().collect();
    let regions = ops.iter().flat_map(|&op| body.op_regions(op).to_vec());
    for region in std::iter::once(body.root()).chain(regions).collect::<Vec<_>>() {
        for block in body.region_blocks(region).to_vec() {
            body.set_block_label(block, None);
        }
    }
    for op in ops {
        let attrs = ctx.dict_sorted(body.attrs(op));
        body.set_attrs(op, attrs);
        if let Some(mut inner) = body.isolated(op).is_some().then(|| body.take_isolated(op)).flatten() {
            normalise(ctx, &mut inner);
            body.set_isolated(op, inner);
        }
    }
}

fn printed(module: &Module) -> String {
    let options = PrintOptions {
        generic: true,
        ..PrintOptions::default()
    };
    print(module, &options)
}

fn normal(mut module: Module) -> String {
    let ctx = module.ctx.clone();
    normalise(&ctx, &mut module.body);
    printed(&module)
}

/// The text without locations and definitions of aliases of them.
fn without_locations(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("#loc")) {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(" loc(") {
            out.push_str(before);
            rest = after.split_once(')').unwrap().1;
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

#[test]
fn both_forms_are_the_same_program() {
    let ctx = pir_dialects::context();
    for (pretty, generic) in programs() {
        let (ours, theirs) = (normal(read(&ctx, &pretty)), normal(read(&ctx, &generic)));
        assert_eq!(
            without_locations(&ours),
            without_locations(&theirs),
            "{}",
            pretty.display()
        );
    }
}

#[test]
fn locations_are_kept() {
    let ctx = pir_dialects::context();
    let module = read(&ctx, &folder().join("pretty/loop_newton.mlir"));
    let main = module.body.walk_all().next().unwrap();
    let functions = module.body.isolated(main).unwrap();
    let function = functions.walk_all().next().unwrap();
    let body = functions.isolated(function).unwrap();
    let without: Vec<String> = body
        .walk_all()
        .filter(|&op| body.loc(op).is_none())
        .map(|op| ctx.op_str(body.op_name(op)).to_owned())
        .collect();
    // The region that a reduction does not write out has none.
    assert_eq!(without, ["stablehlo.add", "stablehlo.return"], "{}", printed(&module));
}

#[test]
fn what_is_printed_is_read_as_the_same() {
    let ctx = pir_dialects::context();
    for (pretty, _) in programs() {
        let module = read(&ctx, &pretty);
        for generic in [false, true] {
            let options = PrintOptions {
                generic,
                ..PrintOptions::default()
            };
            let text = print(&module, &options);
            let again = parse(&ctx, text.as_bytes(), &ParseOptions::default());
            assert_eq!(again.diagnostics, [], "{}", pretty.display());
            assert_eq!(print(&again.module, &options), text, "{}", pretty.display());
        }
    }
}

#[test]
fn every_format_can_be_read() {
    let ctx = pir_dialects::context();
    let with_formats = ctx.ops().filter(|def| def.assembly.is_some());
    let mut count = 0;
    for def in with_formats {
        assert_eq!(def.assembly.as_ref().unwrap().check(def), Ok(()), "{}", def.name);
        count += 1;
    }
    assert!(count > 100, "{count} formats");
}

/// A sequence of numbers that looks random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Reading ends with a program or with errors that have a place, whatever is read.
fn survives(ctx: &Arc<Context>, text: &[u8]) {
    let parsed = parse(ctx, text, &ParseOptions::default());
    for error in &parsed.diagnostics {
        assert!(!error.labels.is_empty(), "{}", error.message);
    }
    if parsed.diagnostics.is_empty() {
        verify(&parsed.module);
        printed(&parsed.module);
    }
}

#[test]
fn damaged_text_is_refused_or_read() {
    let ctx = pir_dialects::context();
    let files = [
        "operations",
        "loop_decoder",
        "conv_strided",
        "index_add_dropped",
        "reduce_custom",
    ];
    let mut random = Random(7);
    for name in files {
        let text = fs::read(folder().join("pretty").join(name).with_extension("mlir")).unwrap();
        for end in (0..text.len()).step_by(if name == "operations" { 3 } else { 97 }) {
            survives(&ctx, &text[..end]);
        }
        for _ in 0..250 {
            let mut damaged = text.clone();
            for _ in 0..=random.below(3) {
                let (at, from) = (random.below(damaged.len()), random.below(text.len()));
                match random.below(4) {
                    0 => drop(damaged.remove(at)),
                    1 => damaged[at] = text[from],
                    2 => damaged[at] = b"()[]{}<>%:,=-0\"@#x \n"[random.below(20)],
                    _ => {
                        let piece = &text[from..(from + random.below(12)).min(text.len())];
                        damaged.splice(at..at, piece.iter().copied());
                    }
                }
            }
            survives(&ctx, &damaged);
        }
    }
}
