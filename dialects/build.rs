//! Turns the op tables of the dialects into Rust: rows that `table` makes definitions of, and typed views.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

#[path = "build/names.rs"]
mod names;
#[path = "src/table/schema.rs"]
mod schema;
#[path = "build/typed.rs"]
mod typed;

/// The dialects with op tables, in `src/DIALECT/ops/`.
const DIALECTS: &[&str] = &[
    "pd",
    "stablehlo",
    "chlo",
    "sdy",
    "arith",
    "math",
    "index",
    "ub",
    "memref",
    "tensor",
];

fn main() {
    println!("cargo::rerun-if-changed=src/table/schema.rs");
    println!("cargo::rerun-if-changed=build");
    let target = env::var("OUT_DIR").expect("cargo sets it");
    let write = |file: String, text: String| {
        fs::write(Path::new(&target).join(file), text).expect("the build folder is writable");
    };
    for &dialect in DIALECTS {
        let tables = tables(dialect);
        let (mut rows, mut typed) = (String::from("static ALL: &[Row] = &[\n"), String::new());
        for (family, op) in &tables {
            row(&mut rows, dialect, family, op);
            // Builders infer the types of results, which StableHLO's attributes do not determine. What PaddlePaddle declares of its
            // operations does not either; those that have a row of their own are composed of others.
            let is_composed = dialect == "pd" && family != "paddle";
            if !op.written || is_composed {
                typed::typed(&mut typed, dialect, op, dialect == "pd");
            } else if dialect == "pd" {
                typed::named(&mut typed, dialect, op);
            }
        }
        rows.push_str("];\n");
        let names: BTreeMap<String, usize> = tables
            .iter()
            .enumerate()
            .map(|(place, (_, op))| (format!("{dialect}.{}", op.op), place))
            .collect();
        assert_eq!(names.len(), tables.len(), "an operation of `{dialect}` has two rows");
        let names: String = names.iter().map(|entry| format!("    {entry:?},\n")).collect();
        let _ = writeln!(rows, "static BY_NAME: &[(&str, u16)] = &[\n{names}];");
        rows.push_str("pub(super) static ROWS: Rows = Rows { all: ALL, by_name: BY_NAME };\n");
        let ops: Vec<schema::Op> = tables.into_iter().map(|(_, op)| op).collect();
        if dialect == "pd" {
            // Rows of dialect files name inference functions as these rows do.
            let names: BTreeSet<&str> = ops.iter().filter_map(|op| op.infer.as_deref()).collect();
            let entries: String = names
                .iter()
                .map(|name| format!("    ({name:?}, infer::{name}),\n"))
                .collect();
            let _ = writeln!(
                rows,
                "pub(crate) static INFERENCES: &[(&str, InferFn)] = &[\n{entries}];"
            );
            write(
                "pd_names.rs".into(),
                names::tables(&ops).unwrap_or_else(|e| panic!("{e}")),
            );
        }
        write(format!("{dialect}_ops.rs"), rows);
        write(format!("{dialect}_typed.rs"), typed);
    }
}

/// The rows of a dialect, each with its family: the name of the file.
fn tables(dialect: &str) -> Vec<(String, schema::Op)> {
    let folder = format!("src/{dialect}/ops");
    println!("cargo::rerun-if-changed={folder}");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the op tables are beside the crate")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable op table");
        let family = file.file_stem().and_then(|s| s.to_str()).expect("a file name");
        for op in parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())) {
            let op = op.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            rows.push((family.to_owned(), op));
        }
    }
    rows
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

fn row(out: &mut String, dialect: &str, family: &str, op: &schema::Op) {
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
    let verify = match &op.verify {
        _ if op.effects.as_deref() == Some("FirstOperand") => "Some(verify::in_place)".to_owned(),
        Some(function) => format!("Some(verify::{function})"),
        None => "None".to_owned(),
    };
    let regions: Vec<String> = op
        .regions
        .iter()
        .map(|name| {
            let word = name.trim_end_matches('.');
            let words: Vec<String> = word.split('|').map(|word| format!("{word:?}")).collect();
            format!("(&[{}], {})", words.join(", "), word != name)
        })
        .collect();
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
        "    Row {{ op: {:?}, written: {}, family: {family:?}, summary: {:?}, doc: {:?}, example: {:?}, operands: {}, attrs: &[{}], outputs: {}, \
         infer: {infer}, verify: {verify}, regions: &[{}], traits: {traits}, effects: Effects::{}, speculate: Speculate::{}, derivative: {derivative}, \
         backward: {:?}, no_need_buffer: &[{}], computes: {:?}, vjp: {:?}, forms: &[{}], assembly: {:?} }},",
        format!("{dialect}.{}", op.op),
        op.written,
        op.summary,
        op.doc,
        op.example,
        values(&op.operands),
        attrs.join(", "),
        values(&op.outputs),
        regions.join(", "),
        op.effects.as_deref().unwrap_or("None"),
        op.speculate.as_deref().unwrap_or("Always"),
        op.backward.as_ref().map(|b| format!("{dialect}.{b}")),
        unread.join(", "),
        op.computes,
        op.vjp,
        forms.join(", "),
        op.assembly,
    );
}
