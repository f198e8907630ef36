//! What loops record: bytes for each iteration, as the interpreter counts them, of the eight loops of
//! `test-files/autodiff/loops`, and that their gradients are right.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "common/parallel.rs"]
mod parallel;

use std::path::Path;
use std::sync::Arc;

use common::{Inputs, Numbers, bits, compare_with_differences, passes, read, run};
use pir_interp::{DType, Options, Tensor, inputs_of};
use pir_ir::{Context, Module, Type};

/// The loops, and the bytes that each iteration (of the innermost loop) may record.
const LOOPS: [(&str, [f64; 3]); 8] = [
    ("tanh_rnn", [1024.0, 1024.0, 1024.0]),
    ("lstm", [7168.0, 6144.0, 2048.0]),
    ("gru", [6144.0, 4096.0, 1024.0]),
    ("newton", [1024.0, 1024.0, 1024.0]),
    ("power_iteration", [2052.0, 1028.0, 1024.0]),
    ("if_in_while", [1537.0, 1024.0, 1024.0]),
    ("while_in_while", [2048.0, 1024.0, 0.0]),
    ("invariants", [1024.0, 1024.0, 1024.0]),
];

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("test-files/autodiff/loops/{name}.pir"));
    std::fs::read_to_string(path).unwrap()
}

/// Inputs for a program: pseudo-random floats, `n` for integers.
fn inputs(module: &Module, n: i64, seed: u64) -> (Inputs, Vec<String>) {
    let mut numbers = Numbers::new(seed);
    let (mut inputs, mut wrt) = (Inputs::new(), Vec::new());
    for spec in inputs_of(module, None).unwrap() {
        let (shape, elem) = module.ctx.as_tensor(spec.ty).unwrap();
        let shape: Vec<usize> = shape.iter().map(|&d| d as usize).collect();
        let value = if module.ctx.is_float(elem) {
            wrt.push(spec.name.clone());
            // Around one over the width, so that products do not saturate.
            let high = if shape.len() == 2 && shape[0] > 1 && shape[1] > 1 {
                2.0 / shape[0] as f64
            } else {
                0.9
            };
            {
                let value = numbers.tensor(&shape, 0.3 * high, high);
                if elem == Type::F32 {
                    value.cast(DType::F32).unwrap()
                } else {
                    value
                }
            }
        } else {
            Tensor::new(&shape, vec![n; shape.iter().product()]).unwrap()
        };
        inputs.push((spec.name, value));
    }
    (inputs, wrt)
}

/// Bytes that the original loops record for each iteration of the innermost one.
fn bytes_per_iteration(module: &Module, n: i64) -> f64 {
    let outcome = run(module, &inputs(module, n, 1).0);
    let loops: Vec<_> = outcome.stats.loops.iter().filter(|l| l.op == "pd.while").collect();
    let innermost = loops.iter().max_by_key(|l| l.depth).unwrap();
    assert!(innermost.iterations > 0);
    innermost.bytes_per_iteration()
}

fn differentiated(ctx: &Arc<Context>, text: &str, pipeline: &str) -> Module {
    let mut module = read(ctx, text);
    passes(&mut module, pipeline);
    module
}

fn check_column(column: usize, pipeline: &str) {
    let ctx = pir_dialects::context();
    let mut wrong = Vec::new();
    for (name, allowed) in LOOPS {
        let module = differentiated(&ctx, &text(name), pipeline);
        let bytes = bytes_per_iteration(&module, 4);
        println!("{name}: {bytes}, allowed {}", allowed[column]);
        if bytes > allowed[column] {
            let printed = pir_ir::text::print(&module, &Default::default());
            wrong.push(format!("{name}: {bytes} rather than {}\n{printed}", allowed[column]));
        }
    }
    assert!(wrong.is_empty(), "{pipeline}: {}", wrong.join("\n"));
}

#[test]
fn recomputing_nothing() {
    check_column(0, "backward");
    check_column(0, "backward,remat{recompute=none}");
}

#[test]
fn recomputing_what_is_elementwise() {
    check_column(1, "backward,remat{recompute=elementwise}");
}

#[test]
fn recomputing_everything() {
    check_column(2, "backward,remat{recompute=all}");
}

/// Products in the bodies of the backward loops.
fn products(pipeline: &str, name: &str) -> usize {
    let module = differentiated(&pir_dialects::context(), &text(name), pipeline);
    let printed = pir_ir::text::print(&module, &Default::default());
    let backward = printed.split_once("pd.while_grad").unwrap().1;
    backward.split("pd.matmul").count() - 1
}

#[test]
fn products_are_not_computed_again_unless_asked_for() {
    for pipeline in ["backward", "backward,remat"] {
        assert_eq!(products(pipeline, "tanh_rnn"), 2);
        assert_eq!(products(pipeline, "gru"), 6);
    }
    assert_eq!(products("backward,remat{recompute=all}", "tanh_rnn"), 2);
    assert_eq!(products("backward,remat{recompute=all}", "gru"), 9);
}

/// Compares the gradients of `n` iterations with finite differences; gives the inputs.
#[track_caller]
fn check_gradients(plain: &Module, with: &Module, n: i64, what: &str) -> Inputs {
    let (inputs, wrt) = inputs(plain, n, n as u64 + 1);
    let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
    let worst = compare_with_differences(plain, with, &inputs, &wrt);
    assert!(worst < 1e-6, "{n} iterations: an error of {worst}\n{what}");
    inputs
}

/// The same programs in f64 and small, against central differences, for no iteration and for several.
#[test]
fn values() {
    let ctx = pir_dialects::context();
    parallel::for_each(&LOOPS, |&(name, _)| {
        let small = text(name)
            .replace("1024", "12")
            .replace("256", "3")
            .replace("f32", "f64");
        let plain = read(&ctx, &small);
        for pipeline in [
            "backward",
            "backward,remat{recompute=none}",
            "backward,remat",
            "backward,remat{recompute=all}",
            "stack-locals,build-backward,remat{recompute=all}",
            "backward,remat{recompute=all},remat,canonicalize,cse,dce",
            "backward,batch-weight-grads",
            "backward,remat,batch-weight-grads,canonicalize,cse,dce",
            "backward,sink-stacks",
        ] {
            let with = differentiated(&ctx, &small, pipeline);
            for n in 0..=4 {
                check_gradients(&plain, &with, n, &format!("{name} {pipeline}"));
            }
        }
    });
}

const HEAD: &str = "%n = pd.data {name = \"n\", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}
%x = pd.data {name = \"x\", shape = [3], dtype = f64}
%y = pd.data {name = \"y\", shape = [3], dtype = f64}\n";

/// Checks the gradients of a program for 0 to 4 iterations, and how many values an iteration of the innermost loop records.
#[track_caller]
fn check(middle: &str, pipeline: &str, values: f64) {
    let ctx = pir_dialects::context();
    let text = format!("{HEAD}{middle}%loss = pd.sum (%sum)\npd.fetch (%loss) {{name = \"loss\"}}\n");
    let plain = read(&ctx, &text);
    let with = differentiated(&ctx, &text, pipeline);
    let printed = pir_ir::text::print(&with, &Default::default());
    for n in 0..=4 {
        check_gradients(&plain, &with, n, &printed);
    }
    let outcome = run(&with, &inputs(&plain, 4, 1).0);
    let loops = outcome.stats.loops.iter().filter(|l| l.op == "pd.while");
    let recorded = loops.max_by_key(|l| l.depth).unwrap().values_per_iteration();
    assert_eq!(recorded, values, "{printed}");
}

#[test]
fn values_that_move_from_slot_to_slot() {
    // b is a one iteration later, and a·b is b: one record for all three.
    check(
        "%i_e, %a_e, %b_e = pd.while (%zero, %x, %y) cond (%i, %a, %b) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %b)
} body (%i, %a, %b) {
  %m = pd.multiply (%a, %b)
  %p = pd.tanh (%m)
  %k = pd.add (%i, %one)
  cf.yield (%k, %b, %p)
}
%sum = pd.multiply (%a_e, %b_e)\n",
        "backward",
        1.0,
    );
    // Three values that go round: nothing is recorded but what each iteration adds.
    check(
        "%z = pd.multiply (%x, %y)
%i_e, %a_e, %b_e, %c_e, %s_e = pd.while (%zero, %x, %y, %z, %x) cond (%i, %a, %b, %c, %s) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %b, %c, %s)
} body (%i, %a, %b, %c, %s) {
  %ab = pd.multiply (%a, %b)
  %t = pd.add (%s, %ab)
  %k = pd.add (%i, %one)
  cf.yield (%k, %b, %c, %a, %t)
}
%ac = pd.multiply (%a_e, %c_e)
%sum = pd.add (%ac, %s_e)\n",
        "backward",
        0.0,
    );
}

#[test]
fn memory_behind_a_stack_is_not_seen() {
    // In one iteration of the outer loop, the first place of the inner one's stack has a matrix of one element, in the next one a scalar.
    let text = format!(
        "{HEAD}%two = pd.full {{shape = [1], value = 2, dtype = i64}}
%t_e, %sum, %last = pd.while (%zero, %x, %zero) cond (%t, %a, %p) {{
  %c = pd.less_than (%t, %n)
  cf.cond_yield (%c, %t, %a, %p)
}} body (%t, %a, %p) {{
  %i_e, %b_e, %swapped, %other = pd.while (%zero, %a, %y, %x) cond (%i, %b, %s, %r) {{
    %c = pd.less_than (%i, %two)
    cf.cond_yield (%c, %i, %b, %r, %s)
  }} body (%i, %b, %s, %r) {{
    %both = pd.add (%i, %t)
    %half = pd.remainder (%both, %two)
    %even = pd.equal (%half, %zero)
    %next = pd.if (%even) then {{
      %m = pd.sum (%b) {{axis = [0], keepdim = true}}
      %one_by_one = pd.reshape (%m) {{shape = [1, 1]}}
      %e = pd.exp (%one_by_one)
      %f = pd.tanh (%e)
      %two_of_them = pd.concat (%f, %f) {{axis = 1}}
      %g = pd.sum (%two_of_them) {{axis = [0, 1]}}
      %v = pd.reshape (%g) {{shape = [1]}}
      %w = pd.multiply (%b, %v)
      cf.yield (%w)
    }} else {{
      %m = pd.sum (%b)
      %e = pd.sin (%m)
      %f = pd.tanh (%e)
      %w = pd.multiply (%s, %f)
      %q = pd.tanh (%w)
      cf.yield (%q)
    }}
    %k = pd.add (%i, %one)
    cf.yield (%k, %next, %r, %s)
  }}
  %u = pd.multiply (%b_e, %other)
  %v = pd.tanh (%u)
  %k = pd.add (%t, %one)
  cf.yield (%k, %v, %t)
}}
%loss = pd.sum (%sum)
pd.fetch (%loss) {{name = \"loss\"}}
pd.fetch (%last) {{name = \"last\"}}\n"
    );
    let ctx = pir_dialects::context();
    let plain = read(&ctx, &text);
    for pipeline in [
        "backward",
        "backward,sink-stacks",
        "training",
        // With these, what was popped is followed by what is pushed.
        "backward,remat{recompute=all}",
        "backward,remat{recompute=none, slots=2, segment=2}",
        "backward,remat{recompute=none, segment=3}",
    ] {
        let with = differentiated(&ctx, &text, pipeline);
        for n in [0, 1, 2, 5] {
            let inputs = check_gradients(&plain, &with, n, pipeline);
            // Under a limit nothing stays in slots or behind values.
            let limited = Options {
                inputs: inputs.iter().cloned().collect(),
                max_memory: Some(1 << 40),
                ..Options::default()
            };
            let limited = pir_interp::run(&with, &limited, &mut std::io::sink()).unwrap();
            let usual = run(&with, &inputs);
            assert_eq!(bits(&usual), bits(&limited), "{pipeline}, {n} iterations");
            assert_eq!(usual.stats, limited.stats, "{pipeline}, {n} iterations");
        }
    }
}

#[test]
fn a_branch_records_what_its_derivative_alone_reads() {
    let steps = "%two = pd.full {shape = [1], value = 2, dtype = i64}
%i_e, %a_e = pd.while (%zero, %y) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %r = pd.remainder (%i, %two)
  %even = pd.equal (%r, %zero)
  %b = pd.if (%even) then {
    %t = pd.tanh (%a)
    %p = pd.multiply (%t, %a)
    cf.yield (%p)
  } else {
    cf.yield (%a)
  }
  %k = pd.add (%i, %one)
  cf.yield (%k, %b)
}
%sum = pd.multiply (%a_e, %x)\n";
    // The predicate, the handle of the stack, in every other iteration the result of tanh; and its operand.
    check(steps, "backward", 3.5);
    check(steps, "backward,sink-stacks", 3.0);
    // In the branch that the value is defined in front of, not in the one before.
    let behind = steps
        .replace("%p = pd.multiply (%t, %a)", "%p = pd.add (%t, %a)")
        .replace(
            "  %k =",
            "  %s = pd.sin (%b)
  %d = pd.if (%even) then {
    %e = pd.exp (%b)
    %p = pd.multiply (%s, %e)
    cf.yield (%p)
  } else {
    cf.yield (%s)
  }
  %k =",
        )
        .replace("(%k, %b)", "(%k, %d)");
    check(&behind, "backward", 6.0);
    check(&behind, "backward,sink-stacks", 5.5);
}

#[test]
fn counters_are_counted_down() {
    check(
        "%wide = pd.concat (%x, %y, %x) {axis = 0}
%i_e, %a_e = pd.while (%zero, %y) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %k = pd.increment (%i) {value = 1.0}
  %g = pd.gather (%wide, %i) {axis = 0}
  %b = pd.add (%a, %g)
  cf.yield (%k, %b)
}
%sum = pd.multiply (%a_e, %a_e)\n",
        "backward",
        0.0,
    );
}

#[test]
fn the_result_of_an_inner_loop() {
    // Recorded by the outer loop in the second case. In the first it is what the outer loop yields, and the argument of
    // that is where the inner dual ends: nothing is recorded by the outer loop.
    for (after, outer) in [("%v_e", 0.0), ("%f", 1.0)] {
        let text = format!(
            "%two = pd.full {{shape = [1], value = 2, dtype = i64}}
%o_e, %sum = pd.while (%zero, %x) cond (%o, %u) {{
  %c = pd.less_than (%o, %n)
  cf.cond_yield (%c, %o, %u)
}} body (%o, %u) {{
  %p_e, %v_e = pd.while (%zero, %u) cond (%p, %v) {{
    %c = pd.less_than (%p, %two)
    cf.cond_yield (%c, %p, %v)
  }} body (%p, %v) {{
    %q = pd.multiply (%v, %y)
    %w = pd.tanh (%q)
    %k = pd.add (%p, %one)
    cf.yield (%k, %w)
  }}
  %f = pd.scale (%v_e) {{scale = 3.0}}
  %k = pd.add (%o, %one)
  cf.yield (%k, {after})
}}\n"
        );
        check(&text, "backward", 1.0);
        let ctx = pir_dialects::context();
        let text = format!("{HEAD}{text}%loss = pd.sum (%sum)\npd.fetch (%loss) {{name = \"loss\"}}\n");
        let with = differentiated(&ctx, &text, "backward");
        let outcome = run(&with, &inputs(&with, 4, 1).0);
        let bytes = outcome
            .stats
            .loops
            .iter()
            .find(|l| l.op == "pd.while" && l.depth == 0)
            .unwrap();
        assert_eq!(bytes.bytes_per_iteration(), outer * 24.0, "{after}");
    }
}

#[test]
fn what_a_condition_forwards() {
    check(
        "%i_e, %a_e = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  %s = pd.tanh (%a)
  cf.cond_yield (%c, %i, %s)
} body (%i, %a) {
  %p = pd.multiply (%a, %y)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p)
}
%sum = pd.multiply (%a_e, %x)\n",
        "backward",
        1.0,
    );
    check(
        "%i_e, %a_e = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  %s = pd.tanh (%a)
  cf.cond_yield (%c, %i, %s)
} body (%i, %a) {
  %p = pd.add (%a, %y)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p)
}
%sum = pd.multiply (%a_e, %x)\n",
        "backward",
        1.0,
    );
}

#[test]
fn weights_get_one_product_behind_the_loop() {
    let ctx = pir_dialects::context();
    // A weight twice in a body, in a loop in a loop.
    let text = "%n = pd.data {name = \"n\", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}
%two = pd.full {shape = [1], value = 2, dtype = i64}
%x = pd.data {name = \"x\", shape = [1, 4], dtype = f64}
%w = pd.data {name = \"w\", shape = [4, 4], dtype = f64}
%o_e, %u_e = pd.while (%zero, %x) cond (%o, %u) {
  %c = pd.less_than (%o, %n)
  cf.cond_yield (%c, %o, %u)
} body (%o, %u) {
  %p_e, %v_e = pd.while (%zero, %u) cond (%p, %v) {
    %c = pd.less_than (%p, %o)
    cf.cond_yield (%c, %p, %v)
  } body (%p, %v) {
    %a = pd.matmul (%v, %w)
    %b = pd.tanh (%a)
    %d = pd.matmul (%b, %w) {transpose_y = true}
    %e = pd.sin (%d)
    %k = pd.add (%p, %one)
    cf.yield (%k, %e)
  }
  %k = pd.add (%o, %one)
  cf.yield (%k, %v_e)
}
%loss = pd.sum (%u_e)
pd.fetch (%loss) {name = \"loss\"}";
    let plain = read(&ctx, text);
    let with = differentiated(&ctx, text, "backward,batch-weight-grads");
    let printed = pir_ir::text::print(&with, &Default::default());
    // Neither the inner nor the outer loop carries the accumulator any more.
    assert!(!printed.contains("%w_grad_2"), "{printed}");
    for n in 0..=4 {
        check_gradients(&plain, &with, n, &printed);
    }
    // As it was, the sum is carried again, also after other passes.
    for between in ["", "peel,", "unroll{factor=2},", "canonicalize,licm,cse,"] {
        let pipeline = format!("backward,batch-weight-grads,{between}unbatch-weight-grads");
        let again = differentiated(&ctx, text, &pipeline);
        let printed = pir_ir::text::print(&again, &Default::default());
        assert!(!printed.contains("cf.join_stack"), "{pipeline}: {printed}");
        for n in 0..=4 {
            check_gradients(&plain, &again, n, &format!("{pipeline}\n{printed}"));
        }
    }
}

/// The n-th value on one stack is multiplied with the n-th on the other, whichever pushes these are.
#[test]
fn pushes_that_are_not_next_to_each_other_stay() {
    let ctx = pir_dialects::context();
    let program = |first: &str, second: &str| {
        format!(
            "%e = pd.while (%zero) cond (%i) {{
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i)
}} body (%i) {{
  cf.push_back (%s, %x)
  {first}
  %f = pd.while (%zero) cond (%j) {{
    %more = pd.less_than (%j, %i)
    cf.cond_yield (%more, %j)
  }} body (%j) {{
    %a = pd.sin (%x)
    cf.push_back (%s, %a)
    cf.push_back (%t, %y)
    %m = pd.increment (%j) {{value = 1.0}}
    cf.yield (%m)
  }}
  {second}
  %k = pd.increment (%i) {{value = 1.0}}
  cf.yield (%k)
}}"
        )
    };
    let push = "%b = pd.cos (%y)\n  cf.push_back (%t, %b)";
    for (text, stays) in [(program(push, ""), false), (program("", push), true)] {
        check_unbatched(&ctx, &text, stays);
    }
}

/// What is pushed in a loop in a branch, which pushes nothing itself, belongs to the product.
#[test]
fn pushes_in_a_loop_in_a_branch() {
    let ctx = pir_dialects::context();
    let repeat = |name: &str| {
        format!(
            "%{name}_e = pd.while (%zero) cond (%i) {{
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i)
}} body (%i) {{
  %a = pd.{name} (%x)
  cf.push_back (%s, %a)
  cf.push_back (%t, %y)
  %k = pd.increment (%i) {{value = 1.0}}
  cf.yield (%k)
}}"
        )
    };
    let text = format!(
        "{}
%is = pd.less_than (%zero, %n)
pd.if (%is) then {{
{}
}} else {{
}}",
        repeat("sin"),
        repeat("cos")
    );
    check_unbatched(&ctx, &text, false);
}

/// Whether `unbatch-weight-grads` leaves joined stacks, and that the product of what some operations push is the same.
fn check_unbatched(ctx: &Arc<Context>, pushes: &str, stays: bool) {
    let text = format!(
        "%zero = pd.full {{shape = [1], value = 0, dtype = i64}}
%n = pd.full {{shape = [1], value = 3, dtype = i64}}
%x = pd.data {{name = \"x\", shape = [1, 3], dtype = f64}}
%y = pd.data {{name = \"y\", shape = [1, 3], dtype = f64}}
%s = cf.create_stack () : cf.stack
%t = cf.create_stack () : cf.stack
{pushes}
%xs = cf.join_stack (%s) {{axis = 0}} : tensor<?x3xf64>
%ys = cf.join_stack (%t) {{axis = 0}} : tensor<?x3xf64>
%p = pd.matmul (%xs, %ys) {{transpose_x = true}} : tensor<3x3xf64>
pd.fetch (%p) {{name = \"p\"}}"
    );
    let plain = read(ctx, &text);
    let changed = differentiated(ctx, &text, "unbatch-weight-grads");
    let printed = pir_ir::text::print(&changed, &Default::default());
    assert_eq!(printed.contains("cf.join_stack"), stays, "{printed}");
    let (inputs, _) = inputs(&plain, 0, 1);
    let [before, after] = [&plain, &changed].map(|module| run(module, &inputs).fetched);
    for (a, b) in before[0].1.to_f64().iter().zip(after[0].1.to_f64()) {
        assert!((a - b).abs() < 1e-12, "{a} and {b} of\n{printed}");
    }
}
