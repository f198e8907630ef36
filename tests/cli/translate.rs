//! `pir-translate`, and programs of PaddlePaddle in the other tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run_tool::{command, in_folder, run, with_input};

fn translate(arguments: &[&str]) -> Command {
    command(env!("CARGO_BIN_EXE_pir-translate"), arguments)
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/paddle")
}

#[test]
fn translate_help_teaches() {
    insta::assert_snapshot!(run(translate(&["--help"])).ok());
}

#[test]
fn formats_are_seen_from_the_content_or_said() {
    let saved = in_folder(&corpus(), translate(&["nested_while.json"])).ok();
    assert!(saved.starts_with("%x = pd.data {name = \"x\""), "{saved}");
    for arguments in [
        &["--from=paddle-json", "nested_while.json"][..],
        &["nested_while.paddle.txt"],
        &["--from=paddle-text", "nested_while.paddle.txt"],
    ] {
        assert_eq!(in_folder(&corpus(), translate(arguments)).ok(), saved);
    }
    // What was written is read again, by this tool and by the others.
    assert_eq!(with_input(translate(&["--from=text"]), &saved).ok(), saved);
    let opt = command(env!("CARGO_BIN_EXE_pir-opt"), &["nested_while.json"]);
    assert_eq!(in_folder(&corpus(), opt).ok(), saved);
    let generic = in_folder(&corpus(), translate(&["--to=generic", "nested_while.json"])).ok();
    assert!(generic.contains("\"pd.while\"(%0, %1) ({"), "{generic}");
    assert_eq!(with_input(translate(&[]), &generic).ok(), saved);
}

#[test]
fn errors_in_other_formats_have_places() {
    let said = with_input(translate(&["--from=paddle-json"]), "{\"base_code\":\n 1 2}").fails(1);
    assert_eq!(said, "<stdin>:2:4: error: expected `,` or `}`, found `2` [syntax]\n");
    let said = with_input(
        translate(&[]),
        "{\n  (%0) = \"pd_op.sigmoit\" (%7) : () -> tensor<f32>\n}",
    )
    .fails(1);
    assert_eq!(
        said,
        "<stdin>:2:3: error: unknown operation `pd.sigmoit`: no dialect defines it [unknown-op]\n\
         <stdin>:2:3: help: did you mean `pd.sigmoid`?\n\
         <stdin>:2:3: error: operand 0 of `pd.sigmoit` is %7, which is not defined here: in this operation [unknown-value]\n\
         <stdin>:2:3: help: a value is visible after its definition, in the same region and nested ones\n"
    );
    assert!(run(translate(&["--from=onnx"])).fails(2).contains("possible values"));
}
