//! The readers.

use std::cell::RefCell;
use std::sync::Arc;

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::{VerifyOptions, verify_with};
use pir_ir::{Context, Diagnostic, Module, Severity};
use pir_passes::Pipeline;
use pir_translate::{Format, paddle};

/// After so many inputs a new context is made: it keeps what it has interned.
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

/// Whether there are errors, each of which must say something about the input.
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

/// What is printed must be read back, and printed the same, at the latest the second time.
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
        // An alias that is used in front of its definition stays; printed behind it, it is written out when read again.
        let settled = once == twice
            || read(ctx, twice.as_bytes(), allow_unregistered).is_some_and(|m| print(&m, &options) == twice);
        assert!(
            settled,
            "what is printed is printed in another way every time:\n{once}\n// -----\n{twice}"
        );
    }
}

/// The text format.
pub(crate) fn text(bytes: &[u8]) {
    for allow_unregistered in [false, true] {
        let ctx = context();
        if let Some(module) = read(&ctx, bytes, allow_unregistered) {
            round_trip(&ctx, &module, allow_unregistered);
        }
    }
}

/// A reader of other formats. What it gives is right, can be printed, and written again if that format has all of it.
fn other(format: Format, bytes: &[u8]) {
    for allow_unregistered in [false, true] {
        let ctx = context();
        let module = match format.read(&ctx, bytes, paddle::Options { allow_unregistered }) {
            Ok(module) => module,
            Err(errors) => {
                assert!(refused(&errors, bytes.len()), "refused without an error");
                continue;
            }
        };
        if refused(&verify_with(&module, VerifyOptions { allow_unregistered }), bytes.len()) {
            continue;
        }
        round_trip(&ctx, &module, allow_unregistered);
        match paddle::write(&module) {
            Ok(text) => {
                let again = paddle::read_with(&ctx, text.as_bytes(), paddle::Options { allow_unregistered });
                // What types the results of unknown operations have, nobody can say.
                if let (Err(errors), false) = (again, allow_unregistered) {
                    panic!("what is written cannot be read back: {:#?}\n{text}", errors.first());
                }
            }
            Err(errors) => assert!(refused(&errors, bytes.len()), "not written, without an error"),
        }
    }
}

/// PaddlePaddle's saved programs.
pub(crate) fn paddle_json(bytes: &[u8]) {
    other(Format::PaddleJson, bytes);
}

/// PaddlePaddle's programs as it prints them.
pub(crate) fn paddle_text(bytes: &[u8]) {
    other(Format::PaddleText, bytes);
}

/// Programs from before PaddlePaddle 3.
pub(crate) fn paddle_program(bytes: &[u8]) {
    other(Format::PaddleProgram, bytes);
}

/// Programs from before PaddlePaddle 3 as it printed them.
pub(crate) fn paddle_program_text(bytes: &[u8]) {
    other(Format::PaddleProgramText, bytes);
}

/// Pipelines. One that is accepted is printed as one that means the same.
pub(crate) fn pipeline(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let ctx = context();
    for parsed in [Pipeline::parse(text), Pipeline::parse_in(&ctx, text)] {
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
