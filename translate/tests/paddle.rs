//! Reading PaddlePaddle's saved programs.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pir_ir::{Body, Context, ContextBuilder, DialectDef, Module, OpDef, ValueId};
use pir_translate::paddle;

/// A context with operations that do nothing: enough to tell a constant operand from an unknown operation.
fn context() -> Arc<Context> {
    let pd = "data parameter full full_int_array less_than while if scale fetch add subtract multiply divide tanh sin \
              exp sigmoid sqrt matmul sum mean gather squeeze split_with_num relu";
    let ops = pd.split_whitespace().map(|op| format!("pd.{op}"));
    let others = ["cf.yield", "cf.cond_yield", "builtin.split", "builtin.combine"].map(str::to_owned);
    let mut builder = ContextBuilder::new();
    let dialect = |name: &str| DialectDef {
        name: name.to_owned(),
        summary: String::new(),
        types: Vec::new(),
    };
    builder.register(dialect("pd"), ops.chain(others).map(|op| OpDef::new(op, "")).collect());
    builder.build()
}

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-files/paddle");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

fn read(name: &str) -> Module {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-files/paddle");
    let source = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
    paddle::read(&context(), &source).unwrap()
}

#[test]
fn every_program_of_the_corpus_reads() {
    let files = corpus();
    assert_eq!(files.len(), 12);
    for file in files {
        let source = std::fs::read(&file).unwrap();
        assert_eq!(pir_translate::detect(&source), Some(pir_translate::Format::PaddleJson));
        let module = paddle::read(&context(), &source).unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
        let ctx = &module.ctx;
        for op in module.body.walk_all() {
            let view = module.body.view(ctx, op);
            if view.name() == "pd.while" {
                assert_eq!(module.body.op_regions(op).len(), 2, "{}", file.display());
                assert_eq!(
                    module.body.num_operands(op),
                    module.body.num_results(op),
                    "{}",
                    file.display()
                );
            }
            assert!(
                view.name() != "pd.full_int_array",
                "a constant operand is left in {}",
                file.display()
            );
        }
    }
}

fn show(body: &Body, ctx: &Context, value: ValueId) -> String {
    match body.value_name(value) {
        Some(name) => format!("%{}", ctx.str(name.sym)),
        None => value.to_string(),
    }
}

/// The operations of a region as `name(operands)`, in order.
fn ops(module: &Module, region: pir_ir::RegionId) -> Vec<String> {
    let (body, ctx) = (&module.body, &*module.ctx);
    let block = body.entry_block(region).unwrap();
    body.block_ops(block)
        .map(|op| {
            let operands: Vec<String> = body
                .operands(op)
                .map(|v| match body.defining_op(v) {
                    Some(def) if body.value_name(v).is_none() => ctx.op_str(body.op_name(def)).to_owned(),
                    _ => show(body, ctx, v),
                })
                .collect();
            format!("{}({})", ctx.op_str(body.op_name(op)), operands.join(", "))
        })
        .collect()
}

#[test]
fn a_loop_gets_its_condition_region() {
    let module = read("seed_while_count");
    let body = &module.body;
    assert_eq!(
        ops(&module, body.root()),
        [
            "pd.full()",
            "pd.full()",
            "pd.while(pd.full)",
            "pd.fetch(pd.while)",
            "pd.fetch(pd.full)"
        ]
    );
    let the_loop = body
        .walk_all()
        .find(|&op| body.view(&module.ctx, op).name() == "pd.while")
        .unwrap();
    let regions = body.op_regions(the_loop);
    assert_eq!(
        ops(&module, regions[0]),
        ["pd.less_than(%arg0, pd.full)", "cf.cond_yield(pd.less_than, %arg0)"]
    );
    assert_eq!(ops(&module, regions[1]), ["pd.scale(%arg0)", "cf.yield(pd.scale)"]);
}
