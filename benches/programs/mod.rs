//! Programs of any size with something for every pass to do, of several shapes.

#![allow(dead_code, reason = "each user needs some of them")]

use std::fmt::Write;

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

/// Loops one after the other.
pub fn row(size: usize) -> String {
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
pub fn wide(size: usize) -> String {
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
pub fn nest(depth: usize) -> String {
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

/// Functions with a loop each.
pub fn functions(size: usize) -> String {
    let mut text = String::new();
    for at in 0..size {
        let _ = write!(
            text,
            "func.func @f{at} (%x: tensor<4xf32>, %n: tensor<1xi64>, %c: tensor<1xi1>) -> tensor<4xf32> {{
%zero = pd.full {{shape = [1], value = 0, dtype = i64}} : tensor<1xi64>\n"
        );
        unit(&mut text, "x", "y");
        text += "func.return (%y)\n}\n";
    }
    text
}

/// A function of many arguments.
pub fn arguments(size: usize) -> String {
    let args: Vec<String> = (0..=size).map(|i| format!("%p{i}: tensor<4xf32>")).collect();
    let mut text = format!("func.func @f ({}) -> tensor<4xf32> {{\n", args.join(", "));
    for at in 0..size {
        let from = if at == 0 { "p0".to_owned() } else { format!("v{at}") };
        let _ = writeln!(
            text,
            "%v{} = pd.multiply (%{from}, %p{}) : tensor<4xf32>",
            at + 1,
            at + 1
        );
    }
    let _ = writeln!(text, "func.return (%v{size})\n}}");
    text
}

/// Branches in each other.
pub fn branches(depth: usize) -> String {
    let mut text = HEAD.to_owned();
    for at in 0..depth {
        let from = if at == 0 { "x".to_owned() } else { format!("a{at}") };
        let _ = write!(
            text,
            "%y{at} = pd.if (%c) then {{\n%a{} = pd.tanh (%{from}) : tensor<4xf32>\n",
            at + 1
        );
    }
    let _ = writeln!(text, "%y{depth} = pd.multiply (%a{depth}, %x) : tensor<4xf32>");
    for at in (0..depth).rev() {
        let _ = write!(
            text,
            "%b{at} = pd.exp (%y{}) : tensor<4xf32>\ncf.yield (%b{at})\n}} else {{\ncf.yield (%x)\n}} : tensor<4xf32>\n",
            at + 1
        );
    }
    text + "%l = pd.sum (%y0) : tensor<f32>\npd.fetch (%l) {name = \"l\"}\n"
}

/// Stacks with a value each.
pub fn stacks(size: usize) -> String {
    let mut text = HEAD.to_owned();
    for at in 0..size {
        let _ = write!(
            text,
            "%s{at} = cf.create_stack () : cf.stack\ncf.push_back (%s{at}, %x)\n"
        );
    }
    for at in 0..size {
        let from = if at == 0 { "x".to_owned() } else { format!("v{at}") };
        let _ = write!(
            text,
            "%p{at} = cf.pop_back (%s{at}) : tensor<4xf32>\n%v{} = pd.multiply (%{from}, %p{at}) : tensor<4xf32>\n",
            at + 1
        );
    }
    let _ = writeln!(
        text,
        "%l = pd.sum (%v{size}) : tensor<f32>\npd.fetch (%l) {{name = \"l\"}}"
    );
    text
}

/// A chain of sums of one constant, which is folded from one end to the other.
#[allow(dead_code, reason = "the benchmarks do not need it")]
pub fn constants(size: usize) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("%k = pd.full {shape = [4], value = 1.0, dtype = f32} : tensor<4xf32>\n");
    text.push_str("%a0 = pd.add (%k, %k) : tensor<4xf32>\n");
    for at in 0..size {
        let _ = writeln!(text, "%a{} = pd.add (%a{at}, %k) : tensor<4xf32>", at + 1);
    }
    let _ = write!(
        text,
        "%v = pd.multiply (%x, %a{size}) : tensor<4xf32>\n%l = pd.sum (%v) : tensor<f32>\npd.fetch (%l) {{name = \"l\"}}\n"
    );
    text
}

/// Functions that each call the next one.
pub fn call_chain(length: usize) -> String {
    let mut text = String::new();
    for at in 0..length {
        let (visibility, next) = (if at == 0 { "public" } else { "private" }, at + 1);
        let computed = match next < length {
            true => format!("func.call (%x) {{callee = @f{next}}}"),
            false => "pd.tanh (%x)".to_owned(),
        };
        let _ = writeln!(
            text,
            "func.func {visibility} @f{at}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n%y = {computed} : tensor<4xf32>\nfunc.return (%y)\n}}"
        );
    }
    text
}

/// Inputs that are concatenated.
pub fn list(size: usize) -> String {
    let mut text = String::new();
    for at in 0..size {
        let _ = writeln!(
            text,
            "%x{at} = pd.data {{name = \"x{at}\", shape = [4], dtype = f32}} : tensor<4xf32>"
        );
    }
    let names: Vec<String> = (0..size).map(|at| format!("%x{at}")).collect();
    let _ = writeln!(
        text,
        "%l = builtin.combine ({})\n%c = pd.concat (%l) {{axis = 0}}\n%s = pd.sum (%c)\npd.fetch (%s) {{name = \"s\"}}",
        names.join(", ")
    );
    text
}

/// Operations of an unknown dialect, each in a region of the one before it.
pub fn unknown(depth: usize) -> String {
    let open = "\"u.region\"() ({\n".repeat(depth);
    format!("{open}{}", "}) : () -> ()\n".repeat(depth))
}

/// A function with one operation of many regions, in MLIR's generic form.
pub fn regions(size: usize) -> String {
    let cases: Vec<String> = (0..size).map(|at| at.to_string()).collect();
    let mut text = format!(
        "func.func @f(%i: index, %x: f32) -> f32 {{
%r = \"scf.index_switch\"(%i) <{{cases = array<i64: {}>}}> ({{
\"scf.yield\"(%x) : (f32) -> ()
}}",
        cases.join(", ")
    );
    for at in 0..size {
        let _ = write!(
            text,
            ", {{
%a{at} = \"arith.mulf\"(%x, %x) : (f32, f32) -> f32
\"scf.yield\"(%a{at}) : (f32) -> ()
}}"
        );
    }
    text + ") : (index) -> f32\nreturn %r : f32\n}\n"
}

/// A loop that multiplies by as many weights.
pub fn weights(size: usize) -> String {
    let mut text = HEAD.to_owned();
    for at in 0..size {
        let _ = writeln!(
            text,
            "%w{at} = pd.data {{name = \"w{at}\", shape = [4, 4], dtype = f32}}"
        );
    }
    text += "%row = pd.reshape (%x) {shape = [1, 4]}
%steps, %y = pd.while (%zero, %row) cond (%i, %a) {
%go = pd.less_than (%i, %n)
cf.cond_yield (%go, %i, %a)
} body (%j, %v0) {
";
    for at in 0..size {
        let _ = writeln!(text, "%v{} = pd.matmul (%v{at}, %w{at})", at + 1);
    }
    let _ = writeln!(
        text,
        "%next = pd.increment (%j) {{value = 1.0}}\ncf.yield (%next, %v{size})\n}}\n\
         %loss = pd.sum (%y)\npd.fetch (%loss) {{name = \"loss\"}}"
    );
    text
}

/// The same in MLIR's own syntax.
pub fn cases(size: usize) -> String {
    let mut text = "func.func @f(%i: index, %x: f32) -> f32 {\n%r = scf.index_switch %i -> f32\n".to_owned();
    for at in 0..size {
        let _ = write!(
            text,
            "case {at} {{\n%a{at} = arith.mulf %x, %x : f32\nscf.yield %a{at} : f32\n}}\n"
        );
    }
    text + "default {\nscf.yield %x : f32\n}\nreturn %r : f32\n}\n"
}

/// An operation with many attributes that it does not declare.
pub fn attributes(size: usize) -> String {
    let attrs: Vec<String> = (0..size).map(|at| format!("a{at} = {at}")).collect();
    format!(
        "{HEAD}%y = pd.tanh (%x) {{{}}} : tensor<4xf32>\npd.fetch (%y) {{name = \"y\"}}\n",
        attrs.join(", ")
    )
}

/// A function with as many calls of undefined functions.
pub fn failing_calls(size: usize) -> String {
    let mut text = "func.func @f (%x: tensor<4xf32>) -> tensor<4xf32> {\n".to_owned();
    for at in 0..size {
        let _ = writeln!(text, "%a{at} = func.call (%x) {{callee = @g{at}}} : tensor<4xf32>");
    }
    text + "func.return (%x)\n}\n"
}

/// What must have run for a pass to find something to do, and the pass with options without which it does nothing.
pub fn pipeline_for(name: &str) -> (&'static str, String) {
    let pipeline = match name {
        "unroll" => "unroll{factor=2}",
        "lower-stacks" => "lower-stacks{bound=4}",
        "peel" => "peel{first=true last=true}",
        _ => name,
    };
    let before = match name {
        "build-backward" => "stack-locals",
        "prune-stacks" => "stack-locals,build-backward",
        "strip-backward" | "decompose" | "inplace-accumulate" | "remat" | "batch-weight-grads" | "sink-stacks"
        | "lower-stacks" | "inference" => "backward",
        "unbatch-weight-grads" => "backward,batch-weight-grads",
        "unrotate-while" => "rotate-while",
        "lift-cfg" => "lower-to-cfg",
        _ => "",
    };
    (before, pipeline.to_owned())
}
