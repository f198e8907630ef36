//! The memory that large constants of TensorFlow's graphs take: about as much as their bytes, and not an attribute for each number.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_dialects::pd;
use pir_ir::{AttrData, Elements, Module, OpSpec, Type};
use pir_translate::graphdef::{Options, read, read_text, write, write_text};

/// A program that returns a matrix with this many rows.
fn program(rows: i64) -> Module {
    let ctx = pir_dialects::context();
    let dims = [rows, 10];
    let bytes: Vec<u8> = (0..rows * 10).flat_map(|at| (at as f32).to_le_bytes()).collect();
    let ty = ctx.tensor(&dims, Type::F32);
    let elements = Elements::from_bytes(&ctx, ty, &bytes).unwrap();
    let mut module = Module::new(ctx.clone());
    let attrs = [
        (ctx.sym("shape"), ctx.ints_attr(&dims)),
        (ctx.sym("dtype"), ctx.type_attr(Type::F32)),
        (ctx.sym("values"), ctx.attr(AttrData::Elements(elements))),
    ];
    let top = module.top();
    let constant = module.body.create_op(OpSpec {
        results: &[ty],
        attrs: ctx.dict(&attrs),
        ..OpSpec::new(ctx.op_name(pd::AssignValue::NAME))
    });
    module.body.append_op(top, constant);
    let value = module.body.result(constant, 0);
    let fetch = module.body.create_op(OpSpec {
        operands: &[value],
        attrs: ctx.dict(&[(ctx.sym("name"), ctx.str_attr("m"))]),
        ..OpSpec::new(ctx.op_name(pd::Fetch::NAME))
    });
    module.body.append_op(top, fetch);
    module
}

fn elements(module: &Module) -> Elements {
    let body = &module.body;
    let mut values = body
        .walk_all()
        .filter_map(|op| body.view(&module.ctx, op).attr("values"));
    match module.ctx.attr_data(values.next().unwrap()) {
        AttrData::Elements(elements) => elements.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ten_million_numbers_stay_bytes() {
    const ROWS: i64 = 1_000_000;
    let size = ROWS as u64 * 10 * 4;
    let module = program(ROWS);
    let mut message = Vec::new();
    let written = allocation_counter::measure(|| message = write(&module, None).unwrap());
    assert!(
        written.bytes_max < size * 5 / 2,
        "{} bytes for {size}",
        written.bytes_max
    );
    let before = elements(&module);
    drop(module);
    let mut again = None;
    let ctx = pir_dialects::context();
    let taken = allocation_counter::measure(|| again = Some(read(&ctx, &message, &Options::default()).unwrap()));
    assert!(taken.bytes_max < size * 5 / 2, "{} bytes for {size}", taken.bytes_max);
    // A few for the program and its graph, whatever the size.
    assert!(taken.count_total < 10_000, "{} allocations", taken.count_total);
    assert!(elements(&again.unwrap()) == before);
}

#[test]
fn text_gives_the_same_numbers() {
    let module = program(300);
    let text = write_text(&module, None).unwrap();
    let again = read_text(&pir_dialects::context(), text.as_bytes(), &Options::default()).unwrap();
    assert!(elements(&again).bytes() == elements(&module).bytes());
}
