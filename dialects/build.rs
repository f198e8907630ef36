//! Generates Rust from the op tables of the `pd` dialect: a table of rows, from which `pd::table` makes definitions.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

#[path = "build/names.rs"]
mod names;
#[path = "src/pd/schema.rs"]
mod schema;
#[path = "build/typed.rs"]
mod typed;

fn main() {
    println!("cargo::rerun-if-changed=src/pd/ops");
    println!("cargo::rerun-if-changed=src/pd/schema.rs");
    println!("cargo::rerun-if-changed=build");
    let mut files: Vec<_> = fs::read_dir("src/pd/ops")
        .expect("the op tables are beside the crate")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    let mut inferences = Vec::new();
    let mut ops = Vec::new();
    let mut out = String::from("pub(super) static ROWS: &[Row] = &[\n");
    let mut typed = String::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable op table");
        let family = file.file_stem().and_then(|s| s.to_str()).expect("a file name");
        for op in parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())) {
            let op = op.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            row(&mut out, family, &op);
            typed::typed(&mut typed, &op);
            inferences.extend(op.infer.clone());
            ops.push(op);
        }
    }
    out.push_str("];\n");
    // Rows in dialect files name inference functions in the same way.
    inferences.sort();
    inferences.dedup();
    out.push_str("pub(crate) static INFERENCES: &[(&str, InferFn)] = &[\n");
    for name in inferences {
        let _ = writeln!(out, "    ({name:?}, infer::{name}),");
    }
    out.push_str("];\n");
    let names = names::tables(&ops).unwrap_or_else(|e| panic!("{e}"));
    let target = env::var("OUT_DIR").expect("cargo sets it");
    for (file, text) in [("pd_ops.rs", out), ("pd_names.rs", names), ("pd_typed.rs", typed)] {
        fs::write(Path::new(&target).join(file), text).expect("the build folder is writable");
    }
}

/// Parses a table. The outer error is a YAML error, the inner ones concern single entries.
fn parse(text: &str) -> Result<Vec<Result<schema::Op, String>>, String> {
    let entries: Vec<schema::Entry> = serde_yaml_ng::from_str(text).map_err(|e| e.to_string())?;
    let declared = |entry: schema::Entry| match schema::read(entry).map_err(|e| e.to_string())? {
        op if op.says_derivative => Ok(op),
        op => Err(format!("op `{}`: the field `derivative` is missing", op.op)),
    };
    Ok(entries.into_iter().map(declared).collect())
}

/// A string literal for generated code.
fn text(text: &str) -> String {
    format!("Cow::Borrowed({text:?})")
}

fn row(out: &mut String, family: &str, op: &schema::Op) {
    let values = |list: &[schema::Value]| {
        let items: Vec<String> = list
            .iter()
            .map(|v| {
                let (name, ty, arity) = (text(&v.name), text(&v.ty), v.arity);
                format!("ValueSpec {{ name: {name}, ty: {ty}, arity: Arity::{arity:?} }}")
            })
            .collect();
        format!("&[{}]", items.join(", "))
    };
    let attrs: Vec<String> = op
        .attrs
        .iter()
        .map(|a| {
            let default = match &a.default {
                Some(default) => format!("Some({})", text(default)),
                None => "None".to_owned(),
            };
            let (name, ty) = (text(&a.name), text(&a.ty));
            format!("AttrSpec {{ name: {name}, ty: {ty}, default: {default} }}")
        })
        .collect();
    let derivative = match &op.derivative {
        None => "None".to_owned(),
        Some(names) => format!(
            "Some(&[{}])",
            names.iter().map(|n| text(n)).collect::<Vec<_>>().join(", ")
        ),
    };
    let forms: Vec<String> = op.forms.iter().map(|form| format!("{form:?}")).collect();
    let unread: Vec<String> = op.no_need_buffer.iter().map(|n| text(n)).collect();
    let infer = op
        .infer
        .as_ref()
        .map_or("None".to_owned(), |f| format!("Some(infer::{f})"));
    let traits: Vec<String> = op
        .traits
        .iter()
        .map(|t| format!("Traits::{}", t.to_uppercase()))
        .collect();
    let traits = if traits.is_empty() {
        "Traits::empty()".to_owned()
    } else {
        traits.join(".union(") + &")".repeat(traits.len() - 1)
    };
    let _ = writeln!(
        out,
        "    Row {{ op: {:?}, family: {family:?}, summary: {:?}, doc: {:?}, example: {:?}, operands: {}, attrs: &[{}], outputs: {}, \
         infer: {infer}, traits: {traits}, effects: Effects::{}, speculate: Speculate::{}, derivative: {derivative}, \
         backward: {:?}, no_need_buffer: &[{}], computes: {:?}, vjp: {:?}, forms: &[{}] }},",
        format!("pd.{}", op.op),
        op.summary,
        op.doc,
        op.example,
        values(&op.operands),
        attrs.join(", "),
        values(&op.outputs),
        op.effects.as_deref().unwrap_or("None"),
        op.speculate.as_deref().unwrap_or("Always"),
        op.backward.as_ref().map(|b| format!("pd.{b}")),
        unread.join(", "),
        op.computes,
        op.vjp,
        forms.join(", "),
    );
}
