//! How the time of every pass grows with the program.
//!
//! `tools/bench/linear` prints a table: for each registered pass and each kind of program, the time for one that is 1,000
//! times as large over the time for the small one.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pir_ir::text::{ParseOptions, parse};
use pir_ir::{Context, Module};
use pir_passes::{PassManager, Pipeline, VerifyEach, all_passes};
use pir_tools::evaluate::KernelEvaluator;

const HEAD: &str = "%n = pd.data {name = \"n\", shape = [1], dtype = i64} : tensor<1xi64>
%c = pd.data {name = \"c\", shape = [1], dtype = i1} : tensor<1xi1>
%x = pd.data {name = \"x\", shape = [4], dtype = f32} : tensor<4xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>\n";

/// Something for every pass to do, from the value `from` to the value `to`.
fn unit(text: &mut String, from: &str, to: &str) {
    let _ = write!(
        text,
        "%i_{to}, %j_{to}, %{to}, %k_{to} = pd.while (%zero, %zero, %{from}, %x) cond (%i: tensor<1xi64>, %j: tensor<1xi64>, %a: tensor<4xf32>, %k: tensor<4xf32>) {{
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %j, %a, %k)
}} body (%i: tensor<1xi64>, %j: tensor<1xi64>, %a: tensor<4xf32>, %k: tensor<4xf32>) {{
  %e = pd.exp (%k) : tensor<4xf32>
  %f = pd.exp (%k) : tensor<4xf32>
  %r = pd.if (%c) then {{
    %g = pd.multiply (%a, %e) : tensor<4xf32>
    %s = pd.if (%c) then {{
      %t = pd.tanh (%g) : tensor<4xf32>
      cf.yield (%t)
    }} else {{
      cf.yield (%g)
    }} : tensor<4xf32>
    cf.yield (%s)
  }} else {{
    %g = pd.add (%a, %f) : tensor<4xf32>
    cf.yield (%g)
  }} : tensor<4xf32>
  %one = pd.full {{shape = [1], value = 1, dtype = i64}} : tensor<1xi64>
  %i2 = pd.add (%i, %one) : tensor<1xi64>
  %j2 = pd.add (%j, %one) : tensor<1xi64>
  cf.yield (%i2, %j2, %r, %k)
}} : tensor<1xi64>, tensor<1xi64>, tensor<4xf32>, tensor<4xf32>\n"
    );
}

/// Loops one behind the other.
fn row(size: usize) -> String {
    let mut text = HEAD.to_owned();
    for at in 0..size {
        let from = if at == 0 { "x".to_owned() } else { format!("y{at}") };
        unit(&mut text, &from, &format!("y{}", at + 1));
    }
    let _ = writeln!(
        text,
        "%l = pd.sum (%y{size}) : tensor<f32>\npd.fetch (%l) {{name = \"l\"}}"
    );
    text
}

/// One loop that carries many values, each changed once in its body.
fn wide(size: usize) -> String {
    let list = |format: &dyn Fn(usize) -> String| (0..size).map(format).collect::<Vec<_>>().join(", ");
    let args = list(&|i| format!("%a{i}: tensor<4xf32>"));
    let names = list(&|i| format!("%a{i}"));
    let mut text = format!(
        "{HEAD}%i_end, {} = pd.while (%zero, {}) cond (%i: tensor<1xi64>, {args}) {{
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, {names})
}} body (%i: tensor<1xi64>, {args}) {{\n",
        list(&|i| format!("%r{i}")),
        list(&|_| "%x".to_owned()),
    );
    for at in 0..size {
        let op = if at % 2 == 0 { "multiply" } else { "add" };
        let _ = writeln!(
            text,
            "  %b{at} = pd.{op} (%a{at}, %a{}) : tensor<4xf32>",
            (at + 1) % size
        );
    }
    let _ = write!(
        text,
        "  %i2 = pd.increment (%i) {{value = 1.0}} : tensor<1xi64>
  cf.yield (%i2, {})
}} : tensor<1xi64>, {}
%l = pd.sum (%r0) : tensor<f32>\npd.fetch (%l) {{name = \"l\"}}\n",
        list(&|i| format!("%b{i}")),
        list(&|_| "tensor<4xf32>".to_owned()),
    );
    text
}

/// Loops, each in the body of the one before.
fn nest(depth: usize) -> String {
    let mut text = HEAD.to_owned();
    for at in 0..depth {
        let from = if at == 0 { "x".to_owned() } else { format!("a{at}") };
        let _ = write!(
            text,
            "%i{at}, %y{at} = pd.while (%zero, %{from}) cond (%i: tensor<1xi64>, %p: tensor<4xf32>) {{
%go = pd.less_than (%i, %n) : tensor<1xi1>
cf.cond_yield (%go, %i, %p)
}} body (%k{at}: tensor<1xi64>, %a{}: tensor<4xf32>) {{
%e{at} = pd.exp (%x) : tensor<4xf32>\n",
            at + 1
        );
    }
    let _ = writeln!(text, "%y{depth} = pd.multiply (%a{depth}, %x) : tensor<4xf32>");
    for at in (0..depth).rev() {
        let _ = write!(
            text,
            "%b{at} = pd.add (%y{}, %e{at}) : tensor<4xf32>
%next{at} = pd.increment (%k{at}) {{value = 1.0}} : tensor<1xi64>
cf.yield (%next{at}, %b{at})
}} : tensor<1xi64>, tensor<4xf32>\n",
            at + 1
        );
    }
    text + "%l = pd.sum (%y0) : tensor<f32>\npd.fetch (%l) {name = \"l\"}\n"
}

/// A way to write a program of a size.
type Write1 = fn(usize) -> String;

/// Kinds of programs, with the size of the small one.
const KINDS: [(&str, Write1, usize); 3] = [
    ("loops in a row", row, 5),
    ("carried values", wide, 10),
    ("nested loops", nest, 5),
];
const FACTOR: usize = 1000;

fn read(ctx: &Arc<Context>, text: &str) -> Module {
    let parsed = parse(ctx, text.as_bytes(), &ParseOptions::default());
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics.first());
    parsed.module
}

/// The time that this thread has had a processor to itself, where the system tells; on a busy machine the time on the
/// clock says little. It is exact to a few milliseconds.
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    match stat.and_then(|s| s.split_whitespace().next()?.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => START.get_or_init(Instant::now).elapsed(),
    }
}

/// The time that something takes, by doing it many times.
fn cost(mut f: impl FnMut()) -> Duration {
    let start = now();
    let (mut count, mut batch) = (0, 1);
    loop {
        (0..batch).for_each(|_| f());
        count += batch;
        batch *= 2;
        let time = now().saturating_sub(start);
        if time >= Duration::from_millis(150) {
            return time / count;
        }
    }
}

fn run(module: &mut Module, pipeline: &Pipeline) {
    let evaluator = KernelEvaluator::default();
    let mut manager = PassManager::new();
    manager.verify_each(VerifyEach::Never).set_evaluator(&evaluator);
    let result = manager.run(module, pipeline);
    assert!(result.is_ok(), "{pipeline}: {:#?}", result.err());
}

/// The time that a pipeline takes on a program.
fn measure(module: &Module, pipeline: &Pipeline) -> Duration {
    let both = cost(|| run(&mut module.clone(), pipeline));
    let copying = cost(|| drop(std::hint::black_box(module.clone())));
    both.saturating_sub(copying).max(Duration::from_nanos(1))
}

fn main() {
    // `cargo test` runs benches too, without this.
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let only: Option<String> = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let titles: Vec<&str> = KINDS.iter().map(|(title, ..)| *title).collect();
    println!("| pass | {} |\n|---{}|", titles.join(" | "), "|---".repeat(KINDS.len()));
    let ctx = pir_dialects::context();
    let inputs: Vec<[Module; 2]> = KINDS
        .iter()
        .map(|(_, write, size)| [read(&ctx, &write(*size)), read(&ctx, &write(size * FACTOR))])
        .collect();
    for pass in all_passes() {
        let name = pass.name();
        if pass.is_preset() || only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        // What the pass needs, and options without which it does nothing.
        let (before, pipeline) = match name {
            "build-backward" => ("stack-locals", name.to_owned()),
            "prune-stacks" => ("stack-locals,build-backward", name.to_owned()),
            "strip-backward" | "decompose" | "inplace-accumulate" => ("backward", name.to_owned()),
            "unrotate-while" => ("rotate-while", name.to_owned()),
            "lift-cfg" => ("lower-to-cfg", name.to_owned()),
            "unroll" => ("", "unroll{factor=2}".to_owned()),
            "peel" => ("", "peel{first=true last=true}".to_owned()),
            _ => ("", name.to_owned()),
        };
        let (Ok(before), Ok(pipeline)) = (Pipeline::parse(before), Pipeline::parse(&pipeline)) else {
            continue;
        };
        print!("| `{pipeline}` |");
        for [small, large] in &inputs {
            let prepared = |module: &Module| {
                let mut module = module.clone();
                run(&mut module, &before);
                module
            };
            let few = measure(&prepared(small), &pipeline);
            let many = measure(&prepared(large), &pipeline);
            print!(" {:.0} |", many.as_secs_f64() / few.as_secs_f64());
        }
        println!();
    }
}
