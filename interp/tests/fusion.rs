//! Fused chains of elementwise operations on large tensors are bit-identical to separate execution, which is used if
//! memory is limited.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use pir_interp::{DType, ExecError, Options, Outcome, Tensor};
use pir_ir::text::{ParseOptions, parse};

/// Not a multiple of the tile size.
const COUNT: usize = 70_001;

fn run(text: &str, options: &Options) -> Result<Outcome, ExecError> {
    let ctx = pir_dialects::context();
    let parsed = parse(&ctx, text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    pir_interp::run(&parsed.module, options, &mut std::io::sink())
}

/// Numbers from -4 to 4.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    let values = (0..count).map(|at| ((at * 31 + seed * 17) % 1009) as f64 / 128.0 - 4.0);
    values.collect()
}

/// A tensor of such numbers.
fn made(shape: &[usize], dtype: DType, seed: usize) -> Tensor {
    let values = numbers(shape.iter().product(), seed);
    Tensor::new(shape, values).unwrap().cast(dtype).unwrap()
}

fn inputs(dtype: DType) -> Options {
    let make = |seed: usize| {
        let mut values = numbers(COUNT, seed);
        values[seed] = f64::NAN;
        values[COUNT - 1] = -0.0;
        Tensor::new(&[COUNT], values).unwrap().cast(dtype).unwrap()
    };
    let mut options = Options {
        fuse_from: Some(COUNT),
        ..Options::default()
    };
    options.inputs.insert("x".to_owned(), make(1));
    options.inputs.insert("y".to_owned(), make(2));
    options
}

/// Both ways must agree in every bit, and in the statistics.
fn agree(text: &str, options: &Options) -> Outcome {
    let together = run(text, options).unwrap();
    let limited = Options {
        max_memory: Some(1 << 40),
        ..options.clone()
    };
    let single = run(text, &limited).unwrap();
    assert_eq!(together.stats, single.stats, "{text}");
    assert_eq!(together.fetched.len(), single.fetched.len());
    for ((name, a), (_, b)) in together.fetched.iter().zip(&single.fetched) {
        assert!(a.same_bits(b), "{name} differs:\n{text}");
    }
    together
}

fn data(dtype: DType) -> String {
    let line = |name| {
        format!(
            "%{name} = pd.data {{name = \"{name}\", shape = [{COUNT}], dtype = {}}}\n",
            dtype.name()
        )
    };
    let half = format!(
        "%half = pd.full {{shape = [], value = 0.5, dtype = {}}}\n",
        dtype.name()
    );
    line("x") + &line("y") + &half
}

#[test]
fn random_chains() {
    const UNARY: [&str; 8] = ["tanh", "exp", "sqrt", "abs", "neg", "relu", "sigmoid", "floor"];
    const BINARY: [&str; 6] = ["add", "multiply", "subtract", "divide", "maximum", "tanh_grad"];
    let mut state = 7u32;
    let mut draw = |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % n
    };
    for (number, dtype) in [DType::F32, DType::F64, DType::F16, DType::BF16]
        .into_iter()
        .cycle()
        .take(24)
        .enumerate()
    {
        let mut values = vec!["x".to_owned(), "y".to_owned()];
        let mut text = data(dtype);
        let length = 2 + draw(40);
        for at in 0..length {
            // Mostly the last result, so that there are chains.
            let mut operand = |values: &[String]| match draw(3) {
                0 => values[draw(values.len())].clone(),
                _ => values[values.len() - 1 - draw(values.len().min(2))].clone(),
            };
            let (a, b) = (operand(&values), operand(&values));
            let line = match draw(6) {
                0 | 1 => format!("pd.{} (%{a})", UNARY[draw(UNARY.len())]),
                2 | 3 => format!("pd.{} (%{a}, %{b})", BINARY[draw(BINARY.len())]),
                4 => format!("pd.multiply (%{a}, %half)"),
                _ => {
                    text += &format!("%c{at} = pd.less_than (%{a}, %{b})\n");
                    format!("pd.where (%c{at}, %{a}, %{b})")
                }
            };
            text += &format!("%v{at} = {line}\n");
            values.push(format!("v{at}"));
            if draw(8) == 0 {
                text += &format!("pd.fetch (%{a}) {{name = \"a{at}\"}}\n");
            }
        }
        text += &format!(
            "pd.fetch (%v{}) {{name = \"last\"}}\npd.fetch (%x) {{name = \"x\"}}\n",
            length - 1
        );
        let outcome = agree(&text, &inputs(dtype));
        assert!(outcome.fetched.len() >= 2, "{number}");
    }
}

#[test]
fn loops_carry_what_is_computed_in_place() {
    for dtype in [DType::F32, DType::F64] {
        let (t, name) = (format!("tensor<{COUNT}x{}>", dtype.name()), dtype.name());
        let text = data(dtype)
            + &format!(
                "%zero = pd.full {{shape = [], value = 0, dtype = i64}}
%one = pd.full {{shape = [], value = 1, dtype = i64}}
%n = pd.full {{shape = [], value = 5, dtype = i64}}
%e, %r, %s = pd.while (%zero, %x, %y) cond (%i: tensor<i64>, %a: {t}, %b: {t}) {{
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %b)
}} body (%j: tensor<i64>, %a: {t}, %b: {t}) {{
  %p = pd.multiply (%a, %half)
  %q = pd.add (%p, %b)
  %h = pd.tanh (%q)
  %d = pd.subtract (%h, %y)
  %w = pd.cast (%d) {{dtype = {name}}}
  %next = pd.add (%j, %one)
  cf.yield (%next, %w, %h)
}} : tensor<i64>, {t}, {t}
pd.fetch (%r) {{name = \"r\"}}
pd.fetch (%s) {{name = \"s\"}}
pd.fetch (%x) {{name = \"x\"}}
pd.fetch (%y) {{name = \"y\"}}\n"
            );
        let outcome = agree(&text, &inputs(dtype));
        assert_eq!(outcome.stats.executions["pd.tanh"], 5);
        let given = inputs(dtype);
        assert!(outcome.fetched[2].1.same_bits(&given.inputs["x"]), "inputs stay");
        assert!(outcome.fetched[3].1.same_bits(&given.inputs["y"]), "inputs stay");
    }
}

/// Small results are written over those of the iteration before: of values that are exchanged, handed on twice, recorded, or from a branch.
#[test]
fn small_results_are_written_over_the_last_ones() {
    for (dtype, [rows, columns]) in [(DType::F32, [24, 16]), (DType::F64, [9, 31]), (DType::F32, [2, 900])] {
        let name = dtype.name();
        let [t, r, c] = [format!("{rows}x{columns}"), format!("{columns}"), format!("{rows}x1")]
            .map(|shape| format!("tensor<{shape}x{name}>"));
        let given = [
            ("x", vec![rows, columns]),
            ("y", vec![rows, columns]),
            ("row", vec![columns]),
            ("column", vec![rows, 1]),
        ];
        let mut options = Options::default();
        let mut text = String::new();
        for (seed, (input, shape)) in given.into_iter().enumerate() {
            options.inputs.insert(input.to_owned(), made(&shape, dtype, seed));
            text += &format!("%{input} = pd.data {{name = \"{input}\", shape = {shape:?}, dtype = {name}}}\n");
        }
        text += &format!(
            "%half = pd.full {{shape = [], value = 0.5, dtype = {name}}}
%zero = pd.full {{shape = [], value = 0, dtype = i64}}
%one = pd.full {{shape = [], value = 1, dtype = i64}}
%two = pd.full {{shape = [], value = 2, dtype = i64}}
%n = pd.full {{shape = [], value = 7, dtype = i64}}
%e, %f, %g, %h, %stack = pd.while (%zero, %x, %y, %y) init (%i: tensor<i64>, %a: {t}, %b: {t}, %c: {t}) {{
  %stack = cf.create_stack () : cf.stack
  cf.yield (%i, %a, %b, %c, %stack)
}} cond (%i: tensor<i64>, %a: {t}, %b: {t}, %c: {t}, %stack: cf.stack) {{
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %b, %c, %stack)
}} body (%j: tensor<i64>, %a: {t}, %b: {t}, %c: {t}, %stack: cf.stack) {{
  %p = pd.multiply (%a, %row)
  %q = pd.add (%p, %column)
  %s = pd.tanh (%q)
  %u = pd.multiply (%s, %half)
  %v = pd.subtract (%u, %b)
  %rest = pd.remainder (%j, %two)
  %even = pd.equal (%rest, %zero)
  %w = pd.if (%even) then {{
    %w1 = pd.add (%s, %c)
    %w2 = pd.multiply (%w1, %half)
    cf.push_back (%stack, %w2)
    cf.yield (%w2)
  }} else {{
    cf.push_back (%stack, %v)
    cf.yield (%v)
  }} : {t}
  %k, %z = pd.while (%zero, %w) cond (%k1: tensor<i64>, %z1: {t}) {{
    %more = pd.less_than (%k1, %two)
    cf.cond_yield (%more, %k1, %z1)
  }} body (%k2: tensor<i64>, %z2: {t}) {{
    %z3 = pd.sin (%z2)
    %z4 = pd.add (%z3, %row)
    %k3 = pd.add (%k2, %one)
    cf.yield (%k3, %z4)
  }} : tensor<i64>, {t}
  %next = pd.add (%j, %one)
  cf.push_back (%stack, %a)
  cf.yield (%next, %b, %z, %z, %stack)
}} : tensor<i64>, {t}, {t}, {t}, cf.stack
%total, %counted = pd.while (%x, %zero) cond (%a: {t}, %i: tensor<i64>) {{
  %done = cf.is_empty (%stack) : i1
  %more = pd.logical_not (%done) : i1
  cf.cond_yield (%more, %a, %i)
}} body (%a: {t}, %i: tensor<i64>) {{
  %first = cf.pop_back (%stack) : {t}
  %second = cf.pop_back (%stack) : {t}
  %p = pd.multiply (%first, %second)
  %q = pd.add (%p, %a)
  %next = pd.add (%i, %one)
  cf.yield (%q, %next)
}} : {t}, tensor<i64>
%columns = pd.sum (%total) {{axis = [0], keepdim = false}} : {r}
%lines = pd.sum (%total) {{axis = [1], keepdim = true}} : {c}\n"
        );
        for value in ["e", "f", "g", "h", "total", "counted", "columns", "lines", "x", "y"] {
            text += &format!("pd.fetch (%{value}) {{name = \"{value}\"}}\n");
        }
        let outcome = agree(&text, &options);
        assert_eq!(outcome.stats.pushed_values, 14);
        let varied = outcome.fetched.iter().find(|(name, _)| name == "total").unwrap();
        assert!(varied.1.to_f64().iter().all(|v| v.is_finite() && *v != 0.0));
    }
}

#[test]
fn rows_and_numbers_are_read_again() {
    for dtype in [DType::F32, DType::F64] {
        // Rows shorter and longer than a tile, and more elements than a thread computes at once.
        for (rows, columns) in [(3, 7), (400, 7), (100, 512), (101, 700), (1, 1)] {
            let name = dtype.name();
            let text = format!(
                "%x = pd.data {{name = \"x\", shape = [{rows}, {columns}], dtype = {name}}}
%r = pd.data {{name = \"r\", shape = [{columns}], dtype = {name}}}
%q = pd.data {{name = \"q\", shape = [1, {columns}], dtype = {name}}}
%s = pd.data {{name = \"s\", shape = [1], dtype = {name}}}
%a = pd.add (%x, %r)
%b = pd.multiply (%q, %a)
%c = pd.divide (%s, %b)
%d = pd.tanh (%c)
%e = pd.subtract (%d, %s)
%f = pd.maximum (%e, %a)
%g = pd.multiply (%f, %f)
%h = pd.scale (%g) {{scale = 1e-39, bias = 0.0, bias_after_scale = true}}
%i = pd.multiply (%h, %e)
pd.fetch (%a) {{name = \"a\"}}
pd.fetch (%g) {{name = \"g\"}}
pd.fetch (%i) {{name = \"i\"}}
pd.fetch (%x) {{name = \"x\"}}
"
            );
            for flush_subnormals in [false, true] {
                let mut options = Options {
                    flush_subnormals,
                    ..Options::default()
                };
                for (seed, name, shape) in [
                    (1, "x", vec![rows, columns]),
                    (2, "r", vec![columns]),
                    (3, "q", vec![1, columns]),
                ] {
                    options.inputs.insert(name.to_owned(), made(&shape, dtype, seed));
                }
                options.inputs.insert("s".to_owned(), made(&[1], dtype, 4));
                let outcome = agree(&text, &options);
                assert!(outcome.fetched[3].1.same_bits(&options.inputs["x"]), "inputs stay");
            }
        }
    }
}

/// One number for each channel of an image, or row of a matrix, and several of a tile.
#[test]
fn numbers_of_channels_are_read_again() {
    for (image, channels) in [
        ("3, 5, 7, 9", "1, 5, 1, 1"),
        ("3, 5, 7, 9", "5, 1, 1"),
        ("2, 3, 40, 50", "1, 3, 1, 1"),
        ("2, 3, 40, 50", "2, 3, 1, 1"),
        ("600, 3", "600, 1"),
        ("30, 700", "30, 1"),
        ("1, 4, 1, 600", "1, 4, 1, 1"),
    ] {
        let text = format!(
            "%x = pd.data {{name = \"x\", shape = [{image}], dtype = f32}}
%m = pd.data {{name = \"m\", shape = [{channels}], dtype = f32}}
%a = pd.subtract (%x, %m)
%b = pd.multiply (%m, %a)
%c = pd.add (%b, %x)
%d = pd.multiply (%c, %m)
pd.fetch (%a) {{name = \"a\"}}
pd.fetch (%d) {{name = \"d\"}}
"
        );
        let mut options = Options::default();
        for (seed, name, shape) in [(1, "x", image), (2, "m", channels)] {
            let shape: Vec<usize> = shape.split(", ").map(|d| d.parse().unwrap()).collect();
            options.inputs.insert(name.to_owned(), made(&shape, DType::F32, seed));
        }
        agree(&text, &options);
    }
}

#[test]
fn what_fails_behind_the_first_elements_is_told_where_it_fails() {
    let text = data(DType::I64).replace("value = 0.5", "value = 2")
        + "%a = pd.multiply (%x, %half)\n%b = pd.divide (%x, %a)\n%c = pd.add (%b, %y)\npd.fetch (%c) {name = \"c\"}\n";
    let mut options = inputs(DType::F32);
    let mut values = vec![3i64; COUNT];
    values[COUNT - 2] = 0;
    for name in ["x", "y"] {
        options
            .inputs
            .insert(name.to_owned(), Tensor::new(&[COUNT], values.clone()).unwrap());
    }
    let error = run(&text, &options).unwrap_err();
    assert_eq!(error.op.as_deref(), Some("pd.divide"));
    assert_eq!(error.message, "an integer is divided by zero");
}

#[test]
fn a_limit_on_steps_stops_within_a_chain() {
    let text = data(DType::F32)
        + "%a = pd.add (%x, %y)\n%b = pd.tanh (%a)\n%c = pd.multiply (%b, %a)\npd.fetch (%c) {name = \"c\"}\n";
    let limited = |steps| Options {
        max_steps: Some(steps),
        ..inputs(DType::F32)
    };
    let error = run(&text, &limited(4)).unwrap_err();
    assert_eq!(error.op.as_deref(), Some("pd.tanh"));
    assert!(run(&text, &limited(7)).is_ok());
    assert!(run(&text, &limited(6)).is_err());
}

/// Branches that make their stacks as they are entered, and loops that test for more values in one step.
#[test]
fn instructions_that_run_together_are_counted_one_by_one() {
    let text = "%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%two = pd.full {shape = [], value = 2, dtype = i64}
%five = pd.full {shape = [], value = 5, dtype = i64}
%all = cf.create_stack () : cf.stack
%n = pd.while (%zero) cond (%i: tensor<i64>) {
  %go = pd.less_than (%i, %five)
  cf.cond_yield (%go, %i)
} body (%j: tensor<i64>) {
  %r = pd.remainder (%j, %two)
  %even = pd.equal (%r, %zero)
  %own = pd.if (%even) init {
    %new = cf.create_stack () : cf.stack
    cf.yield (%new)
  } then (%s: cf.stack) {
    cf.push_back (%s, %j)
    cf.yield (%s)
  } else (%t: cf.stack) {
    cf.yield (%t)
  } : cf.stack
  cf.push_back (%all, %own)
  %next = pd.add (%j, %one)
  cf.yield (%next)
} : tensor<i64>
%sum = pd.while (%zero) cond (%a: tensor<i64>) {
  %done = cf.is_empty (%all) : i1
  %more = pd.logical_not (%done) : i1
  cf.cond_yield (%more, %a)
} body (%b: tensor<i64>) {
  %own = cf.pop_back (%all) : cf.stack
  %none = cf.is_empty (%own) : i1
  %some = pd.logical_not (%none) : i1
  %c = pd.if (%some) then {
    %v = cf.pop_back (%own) : tensor<i64>
    %d = pd.add (%b, %v)
    cf.yield (%d)
  } else {
    cf.yield (%b)
  } : tensor<i64>
  cf.yield (%c)
} : tensor<i64>
pd.fetch (%sum) {name = \"sum\"}
";
    let outcome = |steps, max_memory| {
        let options = Options {
            max_steps: steps,
            max_memory,
            ..Options::default()
        };
        run(text, &options).map_err(|error| (error.op, error.message))
    };
    // With a limit of memory, each instruction runs by itself.
    let alone = Some(1 << 30);
    let together = agree(text, &Options::default());
    assert_eq!(together.fetched[0].1.to_i64(), [6]);
    let steps: u64 = together.stats.executions.values().sum();
    for limit in 1..steps {
        let (together, by_itself) = (outcome(Some(limit), None), outcome(Some(limit), alone));
        assert_eq!(together.unwrap_err(), by_itself.unwrap_err(), "{limit}");
    }
    assert!(outcome(Some(steps), None).is_ok());
}
