//! Gradients through loops and branches against central differences: every kind of loop of `test-files/autodiff`, for no
//! iteration and for several, and the awkward cases.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use std::path::Path;

use common::{
    Numbers, check_gradients, check_orders, compare_tangents, compare_with_differences, inputs_for, loop_programs,
    passes, read,
};
use pir_interp::Tensor;

#[track_caller]
fn check_loop(text: &str, pipeline: &str) {
    let ctx = pir_dialects::context();
    let plain = read(&ctx, text);
    let mut with = plain.clone();
    passes(&mut with, pipeline);
    let mut forward = plain.clone();
    passes(&mut forward, "jvp");
    for n in 0..=4 {
        let (inputs, wrt) = inputs_for(&plain, n, n as u64 + 1);
        let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
        let worst = compare_with_differences(&plain, &with, &inputs, &wrt);
        assert!(
            worst < 1e-6,
            "{n} iterations: an error of {worst}\n{}",
            pir_ir::text::print(&with, &Default::default())
        );
        if pipeline == "backward" {
            compare_tangents(&plain, &forward, &with, &inputs, &wrt, 1e-6);
        }
    }
}

/// A derivative that a function names, with a loop in it, in a loop and in a branch.
#[test]
fn custom_vjp() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff/custom-vjp/loop.pir");
    let text = std::fs::read_to_string(path).unwrap();
    check_orders(&text, "", 3);
    check_orders(&text, "canonicalize,cse,dce", 2);
    let plain = read(&pir_dialects::context(), &text);
    for pipeline in [
        "inline,backward,remat",
        "licm,forward-args,cse,backward,canonicalize,cse,dce",
    ] {
        let mut with = plain.clone();
        passes(&mut with, pipeline);
        let (inputs, wrt) = inputs_for(&plain, 4, 1);
        let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
        assert!(
            compare_with_differences(&plain, &with, &inputs, &wrt) < 1e-6,
            "{pipeline}"
        );
    }
}

#[test]
fn every_kind_of_loop() {
    for (name, text) in loop_programs() {
        for pipeline in [
            "backward",
            "stack-locals,build-backward",
            "licm,forward-args,cse,backward",
            "backward,canonicalize,cse,dce",
            "backward,remat",
            "backward,remat{recompute=all}",
            "backward,batch-weight-grads",
            "backward,sink-stacks",
        ] {
            println!("{name} {pipeline}");
            check_loop(&text, pipeline);
        }
    }
}

const HEAD: &str = "%n = pd.data {name = \"n\", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}
%x = pd.data {name = \"x\", shape = [3], dtype = f64}
%y = pd.data {name = \"y\", shape = [3], dtype = f64}\n";

const TAIL: &str = "%loss = pd.sum (%sum)\npd.fetch (%loss) {name = \"loss\"}\n";

#[track_caller]
fn case(middle: &str) {
    for pipeline in [
        "backward",
        "backward,remat",
        "stack-locals,build-backward,remat{recompute=all}",
    ] {
        check_loop(&format!("{HEAD}{middle}{TAIL}"), pipeline);
    }
}

#[test]
fn a_value_forwarded_straight_through() {
    case(
        "%i_e, %a_e, %b_e = pd.while (%zero, %x, %y) cond (%i, %a, %b) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %b)
} body (%i, %a, %b) {
  %p = pd.multiply (%a, %b)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p, %b)
}
%sum = pd.multiply (%a_e, %b_e)\n",
    );
}

#[test]
fn slots_that_change_places() {
    case(
        "%i_e, %a_e, %b_e = pd.while (%zero, %x, %y) cond (%i, %a, %b) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %b)
} body (%i, %a, %b) {
  %p = pd.sin (%a)
  %k = pd.add (%i, %one)
  cf.yield (%k, %b, %p)
}
%t = pd.scale (%b_e) {scale = 3.0}
%sum = pd.add (%a_e, %t)\n",
    );
}

#[test]
fn the_same_value_carried_twice() {
    case(
        "%i_e, %a_e, %b_e = pd.while (%zero, %x, %x) cond (%i, %a, %b) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %b)
} body (%i, %a, %b) {
  %p = pd.multiply (%a, %b)
  %q = pd.tanh (%p)
  %k = pd.add (%i, %one)
  cf.yield (%k, %q, %q)
}
%s = pd.add (%a_e, %y)
%sum = pd.multiply (%s, %b_e)\n",
    );
}

#[test]
fn unused_results_and_integer_state() {
    case(
        "%i_e, %a_e, %b_e, %j_e = pd.while (%zero, %x, %y, %one) cond (%i, %a, %b, %j) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %b, %j)
} body (%i, %a, %b, %j) {
  %p = pd.multiply (%a, %b)
  %q = pd.exp (%b)
  %f = pd.cast (%j) {dtype = f64}
  %r = pd.divide (%p, %f)
  %k = pd.add (%i, %one)
  %l = pd.add (%j, %k)
  cf.yield (%k, %r, %p, %l)
}
%sum = pd.assign (%a_e)\n",
    );
}

#[test]
fn a_condition_that_computes_what_it_forwards() {
    case(
        "%i_e, %a_e, %s_e = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  %s = pd.sin (%a)
  %t = pd.multiply (%s, %y)
  cf.cond_yield (%c, %i, %t, %y)
} body (%i, %a, %s) {
  %p = pd.multiply (%a, %s)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p)
}
%sum = pd.multiply (%a_e, %s_e)\n",
    );
}

#[test]
fn a_captured_value_is_yielded() {
    case(
        "%i_e, %a_e = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %k = pd.add (%i, %one)
  cf.yield (%k, %y)
}
%sum = pd.multiply (%a_e, %x)\n",
    );
}

#[test]
fn captures_in_several_places() {
    case(
        "%before = pd.multiply (%x, %y)
%i_e, %a_e = pd.while (%zero, %before) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  %d = pd.multiply (%a, %y)
  cf.cond_yield (%c, %i, %d)
} body (%i, %a) {
  %p = pd.add (%a, %y)
  %q = pd.multiply (%p, %y)
  %r = pd.tanh (%q)
  %k = pd.add (%i, %one)
  cf.yield (%k, %r)
}
%s = pd.multiply (%a_e, %y)
%sum = pd.add (%s, %x)\n",
    );
}

#[test]
fn while_in_if_and_three_deep() {
    case(
        "%two = pd.full {shape = [1], value = 2, dtype = i64}
%pick = pd.less_than (%n, %two)
%r = pd.if (%pick) then {
  %i_e, %a_e = pd.while (%zero, %x) cond (%i, %a) {
    %c = pd.less_than (%i, %n)
    cf.cond_yield (%c, %i, %a)
  } body (%i, %a) {
    %t = pd.tanh (%a)
    %p = pd.multiply (%t, %y)
    %k = pd.add (%i, %one)
    cf.yield (%k, %p)
  }
  cf.yield (%a_e)
} else {
  %m = pd.multiply (%x, %x)
  cf.yield (%m)
}
%o_e, %u_e = pd.while (%zero, %r) cond (%o, %u) {
  %c = pd.less_than (%o, %n)
  cf.cond_yield (%c, %o, %u)
} body (%o, %u) {
  %p_e, %v_e = pd.while (%zero, %u) cond (%p, %v) {
    %c = pd.less_than (%p, %o)
    cf.cond_yield (%c, %p, %v)
  } body (%p, %v) {
    %q_e, %w_e = pd.while (%zero, %v) cond (%q, %w) {
      %c = pd.less_than (%q, %two)
      cf.cond_yield (%c, %q, %w)
    } body (%q, %w) {
      %s = pd.multiply (%w, %y)
      %t = pd.sin (%s)
      %h = pd.scale (%v) {scale = 0.5}
      %z = pd.add (%t, %h)
      %k = pd.add (%q, %one)
      cf.yield (%k, %z)
    }
    %k = pd.add (%p, %one)
    cf.yield (%k, %w_e)
  }
  %e = pd.tanh (%v_e)
  %k = pd.add (%o, %one)
  cf.yield (%k, %e)
}
%sum = pd.multiply (%u_e, %x)\n",
    );
}

#[test]
fn inner_loops_without_records_count() {
    case(
        "%two = pd.full {shape = [1], value = 2, dtype = i64}
%o_e, %u_e = pd.while (%zero, %x) cond (%o, %u) {
  %c = pd.less_than (%o, %n)
  cf.cond_yield (%c, %o, %u)
} body (%o, %u) {
  %p_e, %v_e = pd.while (%zero, %u) cond (%p, %v) {
    %c = pd.less_than (%p, %o)
    cf.cond_yield (%c, %p, %v)
  } body (%p, %v) {
    %w = pd.scale (%v) {scale = 1.25}
    %z = pd.add (%w, %y)
    %k = pd.add (%p, %one)
    cf.yield (%k, %z)
  }
  %k = pd.add (%o, %one)
  cf.yield (%k, %v_e)
}
%sum = pd.multiply (%u_e, %x)\n",
    );
}

#[test]
fn branches_with_captures_on_one_side() {
    case(
        "%two = pd.full {shape = [1], value = 2, dtype = i64}
%pick = pd.less_than (%n, %two)
%a, %b = pd.if (%pick) then {
  %e = pd.exp (%x)
  cf.yield (%e, %x)
} else {
  %m = pd.multiply (%y, %y)
  %c = pd.full {shape = [3], value = 2.0, dtype = f64}
  %d = pd.multiply (%m, %c)
  cf.yield (%y, %d)
}
%ab = pd.multiply (%a, %b)
%sum = pd.add (%ab, %x)\n",
    );
}

#[test]
fn functions_return_their_gradients() {
    let ctx = pir_dialects::context();
    let mut module = read(
        &ctx,
        "func.func @f(%x: tensor<2xf64>, %k: tensor<2xi64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %p = pd.multiply (%x, %y)
  func.return (%p)
}",
    );
    passes(&mut module, "backward");
    let tensor = |v: [f64; 2]| Tensor::new(&[2], v.to_vec()).unwrap();
    let inputs = vec![
        ("x".to_owned(), tensor([2.0, 3.0])),
        ("k".to_owned(), Tensor::new(&[2], vec![1i64, 1]).unwrap()),
        ("y".to_owned(), tensor([5.0, 7.0])),
    ];
    let results: Vec<Vec<f64>> = common::run(&module, &inputs)
        .results
        .iter()
        .map(Tensor::to_f64)
        .collect();
    assert_eq!(results, [vec![10.0, 21.0], vec![5.0, 7.0], vec![2.0, 3.0]]);
}

#[test]
fn options_choose_outputs_inputs_and_seeds() {
    let ctx = pir_dialects::context();
    let text = "%x = pd.data {name = \"x\", shape = [2], dtype = f64}
%s = pd.data {name = \"s\", shape = [2], dtype = f64, stop_gradient = true}
%h = pd.square (%x)
%a = pd.scale (%h) {scale = 3.0}
pd.fetch (%a) {name = \"a\"}
pd.fetch (%h) {name = \"b\"}";
    let gradient = |pipeline: &str, name: &str| {
        let mut module = read(&ctx, text);
        passes(&mut module, pipeline);
        let inputs = vec![
            ("x".to_owned(), Tensor::new(&[2], vec![1.0, 2.0]).unwrap()),
            ("s".to_owned(), Tensor::new(&[2], vec![10.0, 100.0]).unwrap()),
        ];
        let fetched = common::run(&module, &inputs).fetched;
        fetched.iter().find(|(n, _)| n == name).map(|(_, t)| t.to_f64())
    };
    assert_eq!(gradient("backward", "x_grad"), Some(vec![8.0, 16.0]));
    assert_eq!(gradient("backward", "s_grad"), None);
    assert_eq!(gradient("backward{of=\"b\"}", "x_grad"), Some(vec![2.0, 4.0]));
    assert_eq!(gradient("backward{of=%a}", "x_grad"), Some(vec![6.0, 12.0]));
    assert_eq!(gradient("backward{of=a wrt=%h}", "h_grad"), Some(vec![3.0, 3.0]));
    assert_eq!(gradient("backward{of=b seed=s}", "x_grad"), Some(vec![20.0, 400.0]));
    assert_eq!(
        gradient("backward{of=[a, b] seed=[0.0, 2.0]}", "x_grad"),
        Some(vec![4.0, 8.0])
    );
    assert_eq!(gradient("backward{of=a wrt=s}", "s_grad"), Some(vec![0.0, 0.0]));
}

#[test]
fn dynamic_shapes() {
    let ctx = pir_dialects::context();
    let text = "%x = pd.data {name = \"x\", shape = [-1, 2], dtype = f64}
%b = pd.data {name = \"b\", shape = [-1], dtype = f64}
%s = pd.add (%x, %b)
%t = pd.tanh (%s)
%m = pd.mean (%t) {axis = [0]}
%l = pd.sum (%m)
pd.fetch (%l) {name = \"l\"}";
    let mut numbers = Numbers::new(3);
    let inputs = vec![
        ("x".to_owned(), numbers.tensor(&[3, 2], -1.0, 1.0)),
        ("b".to_owned(), numbers.tensor(&[2], -1.0, 1.0)),
    ];
    check_gradients(&ctx, text, &inputs, &["x", "b"], 1e-7);
}

#[test]
fn every_kind_of_loop_at_higher_orders() {
    for (name, text) in loop_programs() {
        let orders = if ["tanh_rnn", "if_in_while", "while_in_while"].contains(&&*name) {
            3
        } else {
            2
        };
        for between in ["", "canonicalize,cse,dce", "remat{recompute=all}"] {
            println!("{name} {between} {orders}");
            check_orders(&text, between, orders);
        }
    }
}

#[test]
fn stacks_of_a_program_of_its_own() {
    // Pushed in one loop, popped in another one that may stop early; what is left has no cotangent.
    let text = format!(
        "{HEAD}%two = pd.full {{shape = [1], value = 2, dtype = i64}}
%s = cf.create_stack ()
%i_e, %a_e = pd.while (%zero, %x) cond (%i, %a) {{
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
}} body (%i, %a) {{
  %p = pd.multiply (%a, %y)
  %q = pd.sin (%p)
  cf.push_back (%s, %q)
  cf.push_back (%s, %i)
  %k = pd.add (%i, %one)
  cf.yield (%k, %q)
}}
%j_e, %sum = pd.while (%zero, %a_e) cond (%j, %b) {{
  %done = cf.is_empty (%s)
  %more = pd.logical_not (%done)
  %few = pd.less_than (%j, %two)
  %c = pd.logical_and (%more, %few)
  cf.cond_yield (%c, %j, %b)
}} body (%j, %b) {{
  %l = cf.pop_back (%s) : tensor<1xi64>
  %q = cf.pop_back (%s) : tensor<3xf64>
  %f = pd.cast (%l) {{dtype = f64}}
  %m = pd.multiply (%q, %f)
  %o = pd.multiply (%b, %m)
  %k = pd.add (%j, %one)
  cf.yield (%k, %o)
}}
{TAIL}"
    );
    check_loop(&text, "backward");
    check_orders(&text, "", 2);
    // Stacks on a stack, and a stack that a loop passes on from iteration to iteration.
    let text = format!(
        "{HEAD}%outer = cf.create_stack ()
%i_e, %a_e, %passed = pd.while (%zero, %x, %outer) cond (%i, %a, %t) {{
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a, %t)
}} body (%i, %a, %t) {{
  %s = cf.create_stack ()
  %p = pd.multiply (%a, %y)
  cf.push_back (%s, %p)
  cf.push_back (%s, %a)
  cf.push_back (%t, %s)
  %k = pd.add (%i, %one)
  cf.yield (%k, %p, %t)
}}
%j_e, %sum = pd.while (%zero, %y) cond (%j, %b) {{
  %done = cf.is_empty (%passed)
  %more = pd.logical_not (%done)
  cf.cond_yield (%more, %j, %b)
}} body (%j, %b) {{
  %s = cf.pop_back (%passed) : cf.stack
  %a = cf.pop_back (%s) : tensor<3xf64>
  %p = cf.pop_back (%s) : tensor<3xf64>
  %m = pd.multiply (%a, %p)
  %o = pd.add (%b, %m)
  cf.yield (%j, %o)
}}
{TAIL}"
    );
    check_loop(&text, "backward");
    check_orders(&text, "", 2);
}

#[test]
fn branches_that_only_push() {
    // A branch without local values needs no record: what it pushes at its end belongs to the program.
    let both = "{
  cf.push_back (%s, %x)
  cf.yield ()
} else {
  cf.push_back (%s, %y)
  cf.yield ()
}";
    let one = "{
  %p = pd.multiply (%x, %y)
  cf.push_back (%s, %p)
  cf.yield ()
}";
    let none = "{
  cf.push_back (%s, %y)
  cf.yield ()
}";
    for branches in [both, one, none] {
        let text = format!(
            "{HEAD}%s = cf.create_stack ()
%c = pd.less_than (%one, %n)
pd.if (%c) {branches}
%d = pd.logical_not (%c)
pd.if (%d) {none}
cf.push_back (%s, %y)
%sum = pd.while (%x) cond (%b) {{
  %done = cf.is_empty (%s)
  %more = pd.logical_not (%done)
  cf.cond_yield (%more, %b)
}} body (%b) {{
  %v = cf.pop_back (%s) : tensor<3xf64>
  %w = pd.multiply (%v, %b)
  %o = pd.subtract (%v, %w)
  cf.yield (%o)
}}
{TAIL}"
        );
        for pipeline in [
            "backward",
            "canonicalize,backward",
            "canonicalize,backward,canonicalize,licm,cse,dce",
        ] {
            check_loop(&text, pipeline);
        }
        check_orders(&text, "", 2);
    }
}

/// Operations before and after `backward`.
fn growth(text: &str) -> (usize, usize) {
    let ctx = pir_dialects::context();
    let mut module = read(&ctx, text);
    let before = module.num_ops();
    passes(&mut module, "backward");
    (before, module.num_ops())
}

#[test]
fn a_gradient_is_not_much_larger_than_its_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files/autodiff/loops");
    let (mut before, mut after) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let (a, b) = growth(&std::fs::read_to_string(&path).unwrap());
        println!(
            "{}: {a} operations, {b} with gradients, {:.2}",
            path.display(),
            b as f64 / a as f64
        );
        assert!(b * 10 <= a * 28, "{}: {a} operations became {b}", path.display());
        (before, after) = (before + a, after + b);
    }
    assert!(after * 10 <= before * 28, "{before} operations became {after}");
    // Nested seven deep.
    let mut text = HEAD.to_owned();
    for depth in 0..7 {
        let outer = if depth == 0 {
            "%x".to_owned()
        } else {
            format!("%w{}", depth - 1)
        };
        text += &format!(
            "%e{depth}, %r{depth} = pd.while (%zero, {outer}) cond (%i{depth}, %a{depth}) {{
  %go{depth} = pd.less_than (%i{depth}, %n)
  cf.cond_yield (%go{depth}, %i{depth}, %a{depth})
}} body (%j{depth}, %b{depth}) {{
  %w{depth} = pd.multiply (%b{depth}, %x)\n"
        );
    }
    text += "%r7 = pd.tanh (%w6)\n";
    for depth in (0..7).rev() {
        text += &format!(
            "%next{depth} = pd.add (%j{depth}, %one)\ncf.yield (%next{depth}, %r{})\n}}\n",
            depth + 1
        );
    }
    text += "%sum = pd.assign (%r0)\n";
    text += TAIL;
    let (before, after) = growth(&text);
    println!("nested seven deep: {before} operations, {after} with gradients");
    assert!(after <= before * 4, "{before} operations became {after}");
}
