//! The number of allocations of a loop does not depend on its trip count.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

#[path = "../../tests/common/parallel.rs"]
mod parallel;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pir_interp::{Options, kernels::Kernels};
use pir_ir::text::{ParseOptions, parse};
use pir_ir::{Arity, Traits};

/// The trip counts of the short and the long loop.
const TRIPS: [usize; 2] = [20, 120];
/// Growing lists double their capacity now and then.
const DOUBLINGS: u64 = 8;

/// A loop that carries `%v`, with other lines in its body; `%x` has the same type, `%small` and `%many` do not.
fn program(ty: (&str, &str), body: &str, trips: usize) -> String {
    let (dims, dtype) = ty;
    let t = format!(
        "tensor<{}{dtype}>",
        dims.split_terminator(',')
            .map(|d| d.trim().to_owned() + "x")
            .collect::<String>()
    );
    let scalar = |name: &str, value: usize| {
        format!("%{name} = pd.full {{shape = [], value = {value}, dtype = i64}} : tensor<i64>\n")
    };
    let one = if dtype == "i1" { "true" } else { "1" };
    let consts = scalar("zero", 0) + &scalar("one", 1) + &scalar("n", trips);
    let body: String = body.lines().map(|line| format!("  {}\n", line.trim())).collect();
    format!(
        "{consts}%x = pd.full {{shape = [{dims}], value = {one}, dtype = {dtype}}} : {t}
%e, %r = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: {t}) {{
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
}} body (%j: tensor<i64>, %v: {t}) {{
{body}  %next = pd.add (%j, %one) : tensor<i64>
  cf.yield (%next, %v)
}} : tensor<i64>, {t}
pd.fetch (%r) {{name = \"r\"}}\n"
    )
}

/// The number of allocations of a run.
fn allocations(text: &str, options: &Options) -> Result<u64, String> {
    let ctx = pir_dialects::context();
    let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
    if let Some(first) = parsed.diagnostics.first() {
        return Err(first.message.clone());
    }
    let mut outcome = None;
    let counted = allocation_counter::measure(|| {
        outcome = Some(pir_interp::run(&parsed.module, options, &mut std::io::sink()));
    });
    outcome.unwrap().map_err(|e| format!("{:?}: {}", e.op, e.message))?;
    Ok(counted.count_total)
}

/// The number of additional allocations of the long loop.
fn growth(text: impl Fn(usize) -> String, options: &Options) -> Result<u64, String> {
    // From here on the pools of the threads are filled.
    allocations(&text(TRIPS[0]), options)?;
    let [short, long] = TRIPS.map(|trips| allocations(&text(trips), options));
    Ok(long?.saturating_sub(short?))
}

fn check(ty: (&str, &str), body: &str) {
    for limit in [None, Some(1 << 30)] {
        let options = Options {
            max_memory: limit,
            ..Options::default()
        };
        let grown = growth(|trips| program(ty, body, trips), &options).unwrap_or_else(|e| panic!("{e}\n{body}"));
        assert!(
            grown <= DOUBLINGS,
            "{grown} more in {} trips of {ty:?}, {limit:?}:\n{body}",
            TRIPS[1] - TRIPS[0]
        );
    }
}

#[test]
fn elementwise_operations() {
    let ctx = pir_dialects::context();
    let kernels = Kernels::standard();
    let tried = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let elementwise: Vec<_> = ctx
        .ops_with(Traits::ELEMENTWISE)
        .filter(|def| kernels.has(&def.name))
        .collect();
    // The allocations of a thread are counted apart.
    parallel::for_each(&elementwise, |def| {
        let needed = def.operands.iter().filter(|o| o.arity == Arity::One).count();
        let operands = vec!["%v"; needed].join(", ");
        let results: Vec<String> = (0..def.results.len().max(1)).map(|at| format!("%u{at}")).collect();
        let body = format!("{} = {} ({operands})", results.join(", "), def.name);
        let types = ["f32", "f64", "f16", "i64", "i32", "i1"].iter();
        for ty in types.flat_map(|dtype| [("", *dtype), ("3, 5", *dtype)]) {
            // Some operations do not support every type.
            let Ok(grown) = growth(|trips| program(ty, &body, trips), &Options::default()) else {
                continue;
            };
            tried.fetch_add(1, Ordering::Relaxed);
            if grown > DOUBLINGS {
                failures
                    .lock()
                    .unwrap()
                    .push(format!("{} of {ty:?}: {grown}", def.name));
            }
        }
    });
    let (tried, failures) = (tried.into_inner(), failures.into_inner().unwrap());
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(tried > 250, "{tried}");
}

/// Assigning to rows of a loop-carried, unshared tensor reuses its memory.
#[test]
fn rows_are_put_where_they_are() {
    const ROWS: usize = 2000;
    for body in [
        "%u = pd.index_add (%v, %k, %row) {axis = 0}",
        "%u = pd.scatter (%v, %k, %row) {overwrite = true}",
        "%u = pd.scatter (%v, %k, %row) {overwrite = false}",
        "%k2 = pd.reshape (%k) {shape = [1, 1]}\n%u = pd.scatter_nd_add (%v, %k2, %row)",
        "%k2 = pd.full {shape = [1, 4], value = 3, dtype = i64}\n%u = pd.put_along_axis (%v, %k2, %row) {axis = 0, reduce = \"add\"}",
    ] {
        let text = |trips: usize| {
            format!(
                "%zero = pd.full {{shape = [1], value = 0, dtype = i64}}
%one = pd.full {{shape = [1], value = 1, dtype = i64}}
%n = pd.full {{shape = [1], value = {trips}, dtype = i64}}
%x = pd.full {{shape = [{ROWS}, 4], value = 0.5, dtype = f64}}
%e, %r = pd.while (%zero, %x) cond (%i, %a) {{
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
}} body (%k, %v) {{
  %row = pd.full {{shape = [1, 4], value = 1.5, dtype = f64}}
  {body}
  %next = pd.add (%k, %one)
  cf.yield (%next, %u)
}}
pd.fetch (%r) {{name = \"r\"}}\n"
            )
        };
        let bytes = |trips: usize| {
            let parsed = parse(
                &pir_dialects::context(),
                text(trips).as_bytes(),
                &ParseOptions::default(),
            );
            assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
            let mut done = false;
            let counted = allocation_counter::measure(|| {
                done = pir_interp::run(&parsed.module, &Options::default(), &mut std::io::sink()).is_ok();
            });
            assert!(done, "{body}");
            counted.bytes_total
        };
        bytes(2);
        let [short, long] = TRIPS.map(bytes);
        let each = long.saturating_sub(short) / (TRIPS[1] - TRIPS[0]) as u64;
        assert!(each < (ROWS * 4 * 8 / 10) as u64, "{each} bytes in each trip:\n{body}");
    }
}

#[test]
fn other_operations() {
    for ty in [("4", "f32"), ("3, 4", "f64"), ("2, 3, 4", "f32"), ("3, 4", "f16")] {
        for body in [
            "%c = pd.cast (%v) {dtype = i32}\n%d = pd.cast (%c) {dtype = f64}",
            "%c = pd.greater_than (%v, %x)\n%w = pd.where (%c, %v, %x)\n%t = pd.logical_not (%c)",
            "%s = pd.sum (%v)\n%t = pd.sum (%v) {axis = [-1], keepdim = true}\n%u = pd.mean (%v) {axis = [0]}",
            "%s = pd.max (%v)\n%t = pd.min (%v) {axis = [-1]}\n%u = pd.subtract (%v, %s)",
            "%s = pd.sum (%v)\n%t = pd.multiply (%v, %s)\n%u = pd.reduce_as (%t, %s)",
            "%s = pd.softmax (%v)\n%c = pd.cumsum (%v) {axis = -1}",
            "%s = pd.slice (%v) {axes = [0], starts = [0], ends = [2]}\n%t = pd.slice (%v) {axes = [0], starts = [-1], ends = [9]}",
            "%c = pd.concat (%v, %x) {axis = 0}\n%s = pd.stack (%v, %x) {axis = 0}",
            "%s = pd.reshape (%v) {shape = [-1]}\n%u = pd.unsqueeze (%v) {axis = [0]}\n%w = pd.squeeze (%u) {axis = [0]}",
            "%f = pd.full {shape = [2, 2], value = 3, dtype = f32}\n%z = pd.full_like (%v) {value = 0}",
            "%p = pd.pow (%v) {y = 3}\n%c = pd.clip (%p) {min = 0, max = 2}\n%s = pd.scale (%c) {scale = 2, bias = 1}",
            "%s = pd.shape (%v)\n%m = pd.numel (%v)",
            "%l = pd.less_than (%v, %x)\n%y = pd.any (%l)\n%z = pd.all (%l)",
            "%i = pd.gather (%v, %zero) {axis = 0}",
        ] {
            check(ty, body);
        }
    }
    for body in [
        "%t = pd.transpose (%v) {perm = [1, 0]}\n%m = pd.matmul (%v, %t)",
        "%m = pd.matmul (%v, %x) {transpose_y = true}",
        "%m = pd.matmul (%v, %x) {transpose_x = true}",
        "%b = pd.reshape (%v) {shape = [1, 3, 4]}\n%m = pd.matmul (%b, %x) {transpose_y = true}",
    ] {
        check(("3, 4", "f32"), body);
        check(("3, 4", "f64"), body);
    }
    // A product of a vector and a large matrix.
    check(
        ("64, 64", "f32"),
        "%row = pd.slice (%v) {axes = [0], starts = [0], ends = [1]}\n%m = pd.matmul (%row, %x)\n%t = pd.matmul (%row, %x) {transpose_y = true}",
    );
}

#[test]
fn control_flow() {
    check(
        ("4", "f32"),
        "%c = pd.less_than (%j, %one)
         %w = pd.if (%c) {
           %p = pd.tanh (%v)
           cf.yield (%p)
         } else {
           cf.yield (%x)
         } : tensor<4xf32>",
    );
    check(
        ("4", "f32"),
        "%three = pd.full {shape = [], value = 3, dtype = i64}
         %k, %y = pd.while (%zero, %v) cond (%p: tensor<i64>, %q: tensor<4xf32>) {
           %on = pd.less_than (%p, %three)
           cf.cond_yield (%on, %p, %q)
         } body (%p: tensor<i64>, %q: tensor<4xf32>) {
           %up = pd.add (%p, %one)
           %w = pd.tanh (%q)
           cf.yield (%up, %w)
         } : tensor<i64>, tensor<4xf32>",
    );
    // A stack per iteration, and one shared by all iterations.
    check(
        ("4", "f32"),
        "%s = cf.create_stack : cf.stack
         cf.push_back (%s, %v)
         cf.push_back (%s, %x)
         %o = cf.is_empty (%s) : tensor<i1>
         %p = cf.pop_back (%s) : tensor<4xf32>
         %q = cf.pop_back (%s) : tensor<4xf32>",
    );
    let shared = |trips| {
        let text = program(
            ("4", "f32"),
            "%w = pd.tanh (%v)\ncf.push_back (%s, %v)\n%y = cf.pop_back (%s) : tensor<4xf32>",
            trips,
        );
        format!("%s = cf.create_stack : cf.stack\n{text}")
    };
    assert!(growth(shared, &Options::default()).unwrap() <= DOUBLINGS);
    let called = |trips| {
        let text = program(("4", "f32"), "%w = func.call @f (%v) : tensor<4xf32>", trips);
        let text: String = text.lines().map(|line| format!("  {line}\n")).collect();
        format!(
            "func.func @f (%p: tensor<4xf32>) -> tensor<4xf32> {{\n  %q = pd.tanh (%p)\n  func.return (%q)\n}}
func.func @main () {{\n{text}  func.return ()\n}}\n"
        )
    };
    assert!(growth(called, &Options::default()).unwrap() <= DOUBLINGS);
}
