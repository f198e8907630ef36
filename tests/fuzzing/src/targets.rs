//! The readers.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use pir_interp::DType;
use pir_ir::text::{ParseOptions, Parsed, PrintOptions, parse, parse_in_chunks, print};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Body, Context, Diagnostic, Module, Severity};
use pir_passes::{PassRegistry, Pipeline};
use pir_tools::arrays;
use pir_translate::{Format, graphdef, paddle};

/// After this many inputs, the context is replaced, since it keeps everything that it has interned.
const INPUTS_PER_CONTEXT: usize = 200;

thread_local! {
    static CONTEXT: RefCell<(usize, Option<Arc<Context>>)> = const { RefCell::new((0, None)) };
}

/// A context of all dialects; making one for every input would take most of the time.
pub(crate) fn context() -> Arc<Context> {
    CONTEXT.with_borrow_mut(|(uses, context)| {
        *uses += 1;
        if *uses % INPUTS_PER_CONTEXT == 0 {
            *context = None;
        }
        context.get_or_insert_with(pir_dialects::context).clone()
    })
}

/// Whether there are errors; each must have a message that refers to the input.
fn refused(diagnostics: &[Diagnostic], length: usize) -> bool {
    for diagnostic in diagnostics {
        let said = !diagnostic.message.is_empty() && !diagnostic.code.is_empty();
        let inside = diagnostic.labels.iter().all(|l| l.span.end as usize <= length);
        assert!(said && inside, "a diagnostic that does not help: {diagnostic:#?}");
    }
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Reads the text format and verifies; `None` if there were errors.
pub(crate) fn read(ctx: &Arc<Context>, bytes: &[u8], allow_unregistered: bool) -> Option<Module> {
    let parsed = parse(ctx, bytes, &ParseOptions { allow_unregistered });
    if refused(&parsed.diagnostics, bytes.len()) {
        return None;
    }
    let errors = verify_with(&parsed.module, VerifyOptions { allow_unregistered });
    (!refused(&errors, bytes.len())).then_some(parsed.module)
}

/// What is printed must be read back, and printed the same.
pub(crate) fn round_trip(ctx: &Arc<Context>, module: &Module, allow_unregistered: bool) {
    for generic in [false, true] {
        let options = PrintOptions {
            generic,
            ..PrintOptions::default()
        };
        let once = print(module, &options);
        let Some(again) = read(ctx, once.as_bytes(), allow_unregistered) else {
            let said = parse(ctx, once.as_bytes(), &ParseOptions { allow_unregistered }).diagnostics;
            panic!("what is printed cannot be read back: {:#?}\n{once}", said.first());
        };
        let twice = print(&again, &options);
        assert!(
            once == twice,
            "what is printed is printed in another way when it is read again:\n{once}\n// -----\n{twice}"
        );
    }
}

/// What is read in pieces must be what is read at once.
fn in_pieces(ctx: &Arc<Context>, bytes: &[u8], allow_unregistered: bool) {
    let options = ParseOptions { allow_unregistered };
    let Some(parsed) = parse_in_chunks(ctx, bytes, options, 3) else {
        return;
    };
    let at_once = parse(ctx, bytes, &options);
    let show = |parsed: &Parsed| {
        let mut spans = Vec::new();
        let each = |body: &Body| spans.extend(body.walk_all().map(|op| body.op_span(op)));
        parsed.module.for_each_body(each);
        (print(&parsed.module, &PrintOptions::default()), spans)
    };
    assert!(
        at_once.diagnostics.is_empty(),
        "in pieces nothing is wrong: {:#?}",
        at_once.diagnostics
    );
    assert!(
        show(&parsed) == show(&at_once),
        "in pieces it is something else:\n{}",
        show(&parsed).0
    );
}

/// The text format.
pub(crate) fn text(bytes: &[u8]) {
    for allow_unregistered in [false, true] {
        let ctx = context();
        in_pieces(&ctx, bytes, allow_unregistered);
        if let Some(module) = read(&ctx, bytes, allow_unregistered) {
            round_trip(&ctx, &module, allow_unregistered);
        }
    }
}

/// The result of reading the bytes in another format: a valid program, which can be printed.
fn other(ctx: &Arc<Context>, format: Format, bytes: &[u8], allow_unregistered: bool) -> Option<Module> {
    let module = match format.read(
        ctx,
        bytes,
        &pir_translate::Options {
            paddle: paddle::Options { allow_unregistered },
            ..Default::default()
        },
    ) {
        Ok(module) => module,
        Err(errors) => {
            assert!(refused(&errors, bytes.len()), "refused without an error");
            return None;
        }
    };
    if refused(&verify_with(&module, VerifyOptions { allow_unregistered }), bytes.len()) {
        return None;
    }
    round_trip(ctx, &module, allow_unregistered);
    Some(module)
}

/// PaddlePaddle's formats. What is read can be written again if the format of saved programs has all of it.
fn saved(format: Format, bytes: &[u8]) {
    for allow_unregistered in [false, true] {
        let ctx = context();
        let Some(module) = other(&ctx, format, bytes, allow_unregistered) else {
            continue;
        };
        match paddle::write(&module) {
            Ok(text) => {
                let again = paddle::read_with(&ctx, text.as_bytes(), paddle::Options { allow_unregistered });
                if let Err(errors) = again {
                    panic!("what is written cannot be read back: {:#?}\n{text}", errors.first());
                }
            }
            Err(errors) => assert!(refused(&errors, bytes.len()), "not written, without an error"),
        }
    }
}

/// PaddlePaddle's saved programs.
pub(crate) fn paddle_json(bytes: &[u8]) {
    saved(Format::PaddleJson, bytes);
}

/// PaddlePaddle's programs as it prints them.
pub(crate) fn paddle_text(bytes: &[u8]) {
    saved(Format::PaddleText, bytes);
}

/// Programs from before PaddlePaddle 3.
pub(crate) fn paddle_program(bytes: &[u8]) {
    saved(Format::PaddleProgram, bytes);
}

/// Programs from before PaddlePaddle 3 as it printed them.
pub(crate) fn paddle_program_text(bytes: &[u8]) {
    saved(Format::PaddleProgramText, bytes);
}

/// TensorFlow's graphs. What is read can be written again if it is a graph, and read again.
pub(crate) fn graphdef(bytes: &[u8]) {
    let ctx = context();
    let Some(module) = other(&ctx, Format::GraphDef, bytes, false) else {
        return;
    };
    match graphdef::write(&module, None) {
        Ok(message) => {
            if let Err(errors) = graphdef::read(&ctx, &message, &graphdef::Options::default()) {
                let text = print(&module, &PrintOptions::default());
                panic!("what is written cannot be read back: {:#?}\n{text}", errors.first());
            }
        }
        Err(errors) => assert!(refused(&errors, bytes.len()), "not written, without an error"),
    }
    if let Err(errors) = graphdef::write_text(&module, None) {
        assert!(refused(&errors, bytes.len()), "not written as text, without an error");
    }
}

/// Files of tensors. What is read can be written and is read as the same again.
pub(crate) fn arrays(bytes: &[u8]) {
    // Files whose headers announce more than they contain must not exhaust memory either.
    pir_interp::tensor::set_max_bytes(64 << 20);
    let Ok(tensors) = arrays::read_bytes("x", bytes) else {
        return;
    };
    // Archives cannot contain duplicate names, nor more than a fixed number of entries.
    let names: BTreeSet<&String> = tensors.iter().map(|(name, _)| name).collect();
    let half = tensors.iter().any(|(_, tensor)| tensor.dtype() == DType::BF16);
    if names.len() < tensors.len() || half {
        return;
    }
    let mut out = Vec::new();
    if let Err(error) = arrays::write_npz(tensors.iter().map(|(name, tensor)| (&**name, tensor)), &mut out) {
        panic!("cannot be written: {error}");
    }
    match arrays::read_bytes("x", &out) {
        Ok(again) => assert!(
            tensors.len() == again.len()
                && tensors
                    .iter()
                    .zip(&again)
                    .all(|(a, b)| a.0 == b.0 && a.1.same_bits(&b.1)),
            "{tensors:?}\nbecame\n{again:?}"
        ),
        Err(error) => panic!("what is written cannot be read back: {error}"),
    }
}

/// Pipelines. One that is accepted is printed as one that means the same.
pub(crate) fn pipeline(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let ctx = context();
    for parsed in [Pipeline::parse(text), PassRegistry::standard().parse(text, Some(&ctx))] {
        match parsed {
            Ok(pipeline) => {
                let once = pipeline.to_string();
                match Pipeline::parse(&once) {
                    Ok(again) => assert_eq!(once, again.to_string()),
                    Err(errors) => panic!("{once:?} is not read back: {:#?}", errors.first()),
                }
            }
            Err(errors) => assert!(refused(&errors, text.len()), "refused without an error"),
        }
    }
}
