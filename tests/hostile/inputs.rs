//! The table of hostile inputs.

/// A program with a bit of everything, for truncation.
pub const PROGRAM: &str = r#"// A comment, and an alias.
#map = affine_map<(d0) -> (d0 * 2)>
!t = tensor<4xf64>
func.func private @ext(tensor<?xf32>) -> (f32, i64)
func.func @f(%a: !t {x.y = 1}, %n: tensor<1xi64>) -> !t attributes {my.note = "n\n\22"} {
  %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
  %one = pd.full {shape = [1], value = 1, dtype = i64}
  %i, %r, %s = pd.while (%zero, %a) init (%i0: tensor<1xi64>, %r0: !t) {
    %s0 = cf.create_stack ()
    cf.yield (%i0, %r0, %s0)
  } cond (%i1, %r1, %s1) {
    %c = pd.less_than (%i1, %n)
    cf.cond_yield (%c, %i1, %r1, %s1)
  } body (%i2, %r2, %s2) {
    %t = "pd.tanh"(%r2) <{}> : (tensor<4xf64>) -> tensor<4xf64> loc("a.py":1:2)
    cf.push_back (%s2, %t)
    %b = pd.less_than (%i2, %one)
    %y = pd.if (%b) { cf.yield (%t) } else { cf.yield (%r2) }
    %k = pd.add (%i2, %one)
    cf.yield (%k, %y, %s2)
  }
  func.return (%r)
}
func.func @g(%c: i1) -> tensor<f32> {
  %w = pd.full {shape = [2], value = 0x7FC00001 : f32, dtype = f32}
  pd.condition_branch %c, ^a(%c), ^b
^a(%v: i1):
  %x:2 = pd.split_with_num (%w) {num = 2, axis = 0} : tensor<1xf32>, tensor<1xf32>
  pd.branch ^b
^b:
  %z = pd.full {shape = [], value = -1.5e-3, dtype = f32} : tensor<f32>
  func.return (%z)
}
"#;

/// How deep inputs nest: what recursed on it would overflow the stack of a test's thread.
const DEEP: usize = 20_000;

type Table = Vec<(String, Vec<u8>)>;

/// All inputs, each with its name.
pub fn all() -> Table {
    let mut table = Table::new();
    bytes(&mut table);
    nesting(&mut table);
    sizes(&mut table);
    numbers(&mut table);
    references(&mut table);
    attributes(&mut table);
    operations(&mut table);
    runs(&mut table);
    saved(&mut table);
    table
}

fn add(table: &mut Table, name: impl Into<String>, text: impl Into<Vec<u8>>) {
    table.push((name.into(), text.into()));
}

/// Inputs that are lines of their own, named by their number.
fn lines(table: &mut Table, family: &str, texts: &[&str]) {
    for (at, text) in texts.iter().enumerate() {
        add(table, format!("{family} {at}"), *text);
    }
}

fn bytes(table: &mut Table) {
    let one = "%x = pd.full {shape = [1], value = 1.0, dtype = f32}\n";
    add(table, "nothing", "");
    add(table, "blanks", " \t\r\n".repeat(1000));
    add(table, "a comment", "// nothing else");
    add(table, "a byte order mark", [b"\xEF\xBB\xBF", one.as_bytes()].concat());
    add(table, "half a byte order mark", [b"\xEF\xBB", one.as_bytes()].concat());
    add(
        table,
        "two byte order marks",
        [b"\xEF\xBB\xBF\xEF\xBB\xBF", one.as_bytes()].concat(),
    );
    add(
        table,
        "utf-16",
        one.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    );
    add(table, "line breaks of windows", one.replace('\n', "\r\n"));
    add(table, "line breaks of old", one.replace('\n', "\r"));
    for byte in [0u8, 1, 7, 0x0B, 0x0C, 0x1B, 0x7F, 0x80, 0xC0, 0xFE, 0xFF] {
        add(
            table,
            format!("the byte {byte:#x} at the start"),
            [&[byte], one.as_bytes()].concat(),
        );
        add(
            table,
            format!("the byte {byte:#x} in a name"),
            [b"%a", &[byte][..], b"b = pd.full"].concat(),
        );
        add(
            table,
            format!("the byte {byte:#x} in a string"),
            [b"pd.fetch {name = \"", &[byte][..], b"\"}"].concat(),
        );
        add(
            table,
            format!("the byte {byte:#x} in a comment"),
            [b"// ", &[byte][..], b"\n", one.as_bytes()].concat(),
        );
    }
    lines(
        table,
        "characters",
        &[
            "%\u{e9}t\u{e9} = pd.full",
            "%x = pd.full {shape = [1]\u{ff0c} value = 1.0}",
            "\u{2028}%x = pd.full",
            "%\u{1F600} = pd.full : f32",
            "pd.\u{202e}full",
            "%x\u{301} = pd.full : f32",
        ],
    );
}

fn nesting(table: &mut Table) {
    let open_close: [(&str, &str, &str); 9] = [
        ("arrays", "[", "]"),
        ("dictionaries", "{a = ", "}"),
        ("tuples", "tuple<", ">"),
        ("function types", "(", ") -> ()"),
        ("dialect types", "!u.t<", ">"),
        ("dialect attributes", "#u.a<", ">"),
        ("locations", "loc(fused[", "])"),
        ("maps", "affine_map<(d0) -> (", ")>"),
        ("dense values", "dense<[", "]>"),
    ];
    for (name, open, close) in open_close {
        let inside = format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP));
        add(
            table,
            format!("nested {name}"),
            format!("\"u.x\"() {{a = {inside}}} : () -> ()"),
        );
        add(
            table,
            format!("unclosed {name}"),
            format!("\"u.x\"() {{a = {}", open.repeat(DEEP)),
        );
        add(
            table,
            format!("{name} closed too often"),
            format!("\"u.x\"() {{a = {}", close.repeat(DEEP)),
        );
    }
    let regions: [(&str, &str, &str); 5] = [
        ("branches", "pd.if (%c) {\n", "cf.yield\n}\n"),
        ("generic regions", "\"u.x\"() ({\n", "}) : () -> ()\n"),
        ("modules", "builtin.module {\n", "}\n"),
        ("functions", "func.func @f() {\n", "func.return\n}\n"),
        (
            "loops",
            "pd.while () cond () { cf.cond_yield (%c) } body () {\n",
            "cf.yield ()\n}\n",
        ),
    ];
    let head = "%c = pd.full {shape = [], value = false, dtype = i1}\n";
    for (name, open, close) in regions {
        let deep = DEEP / 10;
        add(
            table,
            format!("nested {name}"),
            format!("{head}{}{}", open.repeat(deep), close.repeat(deep)),
        );
        add(
            table,
            format!("unclosed {name}"),
            format!("{head}{}", open.repeat(deep)),
        );
        add(
            table,
            format!("{name} closed too often"),
            format!("{head}{}", close.repeat(deep)),
        );
    }
    for piece in [
        "(", ")", "{", "}", "[", "]", "<", ">", "\"", "%", "^", "#", "!", "@", "=", ",", ":", "->", "//", "{-#",
    ] {
        add(table, format!("only {piece}"), piece.repeat(DEEP));
    }
    let mut chain = String::from("#a0 = 1 : i32\n");
    for at in 1..DEEP {
        chain += &format!("#a{at} = [#a{}]\n", at - 1);
    }
    add(table, "a chain of aliases", chain + "pd.fetch {a = #a1}\n");
    let mut bomb = String::from("#a0 = [1 : i32, \"x\"]\n");
    for at in 1..60 {
        bomb += &format!("#a{at} = [#a{0}, #a{0}, #a{0}]\n", at - 1);
    }
    add(table, "a bomb of aliases", bomb + "\"u.x\"() {a = #a59} : () -> ()\n");
    lines(
        table,
        "aliases in circles",
        &[
            "#a = #a",
            "#a = [#b]\n#b = [#a]\npd.fetch {x = #a}",
            "!t = !t",
            "!t = (!u) -> !t\n!u = !t",
            "#a = 1\n#a = 2",
            "#a =",
            "!t =",
        ],
    );
}

fn sizes(table: &mut Table) {
    let long = "a".repeat(1 << 20);
    for (name, text) in [
        (
            "value",
            format!("%{long} = pd.full {{shape = [1], value = 1.0, dtype = f32}}"),
        ),
        ("operation", format!("pd.{long}")),
        ("attribute", format!("pd.fetch {{{long} = 1}}")),
        ("symbol", format!("func.func @{long}() {{ func.return }}")),
        (
            "block",
            format!("func.func @f() {{\n  pd.branch ^{long}\n^{long}:\n  func.return\n}}"),
        ),
        ("type", format!("%x = pd.full : !{long}")),
        ("word", long.clone()),
        ("string", format!("pd.fetch {{name = \"{long}\"}}")),
        ("comment", format!("// {long}\npd.fetch")),
        ("escape", format!("pd.fetch {{name = \"{}\"}}", "\\22".repeat(1 << 18))),
        ("unclosed string", format!("pd.fetch {{name = \"{long}")),
    ] {
        add(table, format!("a megabyte of a {name}"), text);
    }
    let items = vec!["1"; 1 << 17].join(", ");
    add(table, "a long list", format!("pd.fetch {{a = [{items}]}}"));
    add(
        table,
        "a long shape",
        format!("%x = pd.full {{shape = [{items}], value = 1, dtype = f32}}"),
    );
    add(
        table,
        "a tensor of many dimensions",
        format!("%x = pd.full : tensor<{}f32>", "1x".repeat(100_000)),
    );
    let many: Vec<String> = (0..50_000).map(|i| format!("%a{i}")).collect();
    add(
        table,
        "many results",
        format!("{} = \"u.x\"() : () -> ()", many.join(", ")),
    );
    add(table, "many operands", format!("pd.fetch ({})", many.join(", ")));
    add(
        table,
        "many attributes",
        format!(
            "pd.fetch {{{}}}",
            (0..3000).map(|i| format!("a{i}")).collect::<Vec<_>>().join(", ")
        ),
    );
    let args: Vec<String> = many.iter().map(|a| format!("{a}: f32")).collect();
    add(
        table,
        "many arguments",
        format!("func.func @f({}) {{ func.return }}", args.join(", ")),
    );
    add(
        table,
        "many blocks",
        format!(
            "func.func @f() {{\n{}  func.return\n}}",
            (0..20_000)
                .map(|i| format!("  pd.branch ^b{i}\n^b{i}:\n"))
                .collect::<String>()
        ),
    );
    // Each name far from the others, in numbers and in words.
    let far = |i: u64| (i * 7_654_321 % 16_777_000, char::from(b'a' + (i % 26) as u8));
    let full = "pd.full {shape = [], value = 1.0, dtype = f32} : tensor<f32>";
    let define = |i| {
        let (number, letter) = far(i);
        format!("  %{letter}{number} = {full}\n")
    };
    add(
        table,
        "numbers far from each other",
        (0..20_000).map(define).collect::<String>(),
    );
    let function = |i: u64| {
        format!(
            "func.func @f{i}() {{\n{}{}  func.return\n}}\n",
            define(3 * i),
            define(i)
        )
    };
    add(
        table,
        "numbers far from each other in functions",
        (0..5_000).map(function).collect::<String>(),
    );
    let word = |i: u32| format!("%w{}_{} = {full}\n", i / 3, i % 3);
    add(
        table,
        "many words before numbers",
        (0..20_000).map(word).collect::<String>(),
    );
    add(table, "many errors", "pd.nothing\n".repeat(10_000));
    add(
        table,
        "one long line",
        "%x = pd.full {shape = [1], value = 1.0, dtype = f32} pd.nothing ".repeat(5_000),
    );
}

fn numbers(table: &mut Table) {
    let digits = "9".repeat(10_000);
    for (name, text) in [
        ("attribute", format!("pd.fetch {{a = {digits}}}")),
        ("negative attribute", format!("pd.fetch {{a = -{digits}}}")),
        ("typed attribute", format!("pd.fetch {{a = {digits} : i8}}")),
        ("hexadecimal", format!("pd.fetch {{a = 0x{digits}}}")),
        ("fraction", format!("pd.fetch {{a = 0.{digits}}}")),
        ("exponent", format!("pd.fetch {{a = 1e{digits}}}")),
        ("dimension", format!("%x = pd.full : tensor<{digits}xf32>")),
        ("width", format!("%x = pd.full : i{digits}")),
        ("number of results", format!("%x:{digits} = pd.full : f32")),
        ("element", format!("pd.fetch (%x#{digits})")),
        ("value's name", format!("%{digits} = pd.full : f32")),
    ] {
        add(table, format!("ten thousand digits of a {name}"), text);
    }
    lines(
        table,
        "numbers",
        &[
            "%x:0 = pd.full : f32",
            "%x:-1 = pd.full : f32",
            "%x:4294967295 = pd.full : f32",
            "%x:2000000000 = \"u.x\"() : () -> f32",
            "%0#2000000000 = pd.full : f32",
            "%x = pd.full {shape = [9223372036854775807, 9223372036854775807], value = 1.0, dtype = f32}\npd.fetch (%x) {name = \"x\"}",
            "%x = pd.full {shape = [4294967296, 4294967296], value = 1.0, dtype = f64}\npd.fetch (%x) {name = \"x\"}",
            "%x = pd.full {shape = [1000000000000], value = 1.0, dtype = f32}\npd.fetch (%x) {name = \"x\"}",
            "%x = pd.full {shape = [-5], value = 1.0, dtype = f32}\npd.fetch (%x) {name = \"x\"}",
            "%x = pd.full {shape = [-9223372036854775808], value = 1.0, dtype = f32}",
            "%x = pd.full : tensor<-1xf32>",
            "%x = pd.full : tensor<4x>",
            "%x = pd.full : tensor<x4xf32>",
            "%x = pd.full : tensor<4xx4xf32>",
            "%x = pd.full : tensor<4 x 4 x f32>",
            "%x = pd.full : tensor<0x0xf32>",
            "%x = pd.full : tensor<f99>",
            "%x = pd.full : i0",
            "%x = pd.full {shape = [2], value = 300, dtype = ui8}\npd.fetch (%x) {name = \"x\"}",
            "%x = pd.full {shape = [2], value = nan, dtype = i64}\npd.fetch (%x) {name = \"x\"}",
            "%x = pd.full {shape = [2], value = 1e308, dtype = f16}\npd.fetch (%x) {name = \"x\"}",
            "pd.fetch {a = 1e, b = 1., c = .5}",
            "pd.fetch {a = 0x, b = -}",
            "pd.fetch {a = - 1}",
            "pd.fetch {a = 1 : f32 : f64}",
            "pd.fetch {a = 340282366920938463463374607431768211456 : i128}",
        ],
    );
}

fn references(table: &mut Table) {
    lines(
        table,
        "references",
        &[
            "%x = pd.add (%x, %x)",
            "%x = pd.add (%y, %y)\n%y = pd.add (%x, %x)",
            "%x = pd.full : f32\n%x = pd.full : f32",
            "%x, %x = \"u.x\"() : () -> (f32, f32)",
            "pd.fetch (%later)\n%later = pd.full : f32",
            "pd.if (%c) { %c = pd.full : i1 }",
            "%c = pd.if (%c) { cf.yield (%c) } else { cf.yield (%c) }",
            "func.func @f() {\n^a:\n  pd.branch ^a\n}",
            "func.func @f() {\n  pd.branch ^b\n^b:\n  pd.branch ^b\n}",
            "func.func @f() {\n  pd.branch ^none\n}",
            "func.func @f() {\n^a:\n  func.return\n^a:\n  func.return\n}",
            "func.func @f() {\n  pd.branch ^b(%v)\n^b(%v: f32):\n  func.return\n}",
            "func.func @f(%x: f32, %x: f32) { func.return }",
            "func.func @f() { func.return }\nfunc.func @f() { func.return }",
            "func.func @f() {\n  func.call @f ()\n  func.return\n}",
            "func.func @f() {\n  func.call @g ()\n  func.return\n}\nfunc.func @g() {\n  func.call @f ()\n  func.return\n}",
            "func.call @nobody ()",
            "func.call @a::@b::@c ()",
            "builtin.module @m { builtin.module @m { func.func @m() { func.call @m::@m ()\n func.return } } }",
            "\"u.x\"() [^a] : () -> ()",
            "^top:\n  pd.branch ^top",
            "\"u.x\"(%y) ({\n  \"u.y\"(%x) : (f32) -> ()\n}) : (f32) -> ()",
            "%a = \"u.x\"(%b) : (f32) -> f32\n%b = \"u.x\"(%a) : (f32) -> f32",
            "\"u.g\"() ({\n  %a = \"u.x\"(%b) : (f32) -> f32\n  %b = \"u.x\"(%a) : (f32) -> f32\n}) : () -> ()",
            "%x:2 = \"u.x\"() : () -> (f32, f32)\npd.fetch (%x#2)",
            "pd.fetch (%x#0)",
        ],
    );
}

fn attributes(table: &mut Table) {
    lines(
        table,
        "attributes",
        &[
            "pd.fetch {a = 1, a = 2}",
            "pd.fetch {a = 1 b = 2}",
            "pd.fetch {a = 1,}",
            "pd.fetch {,}",
            "pd.fetch {a = }",
            "pd.fetch {= 1}",
            "pd.fetch {1 = 1}",
            "pd.fetch {a = [1, , 2]}",
            "pd.fetch {a = [1 2]}",
            "pd.fetch {a = dense<[1, 2> : tensor<2xi32>}",
            "pd.fetch {a = dense<\"0xZZ\"> : tensor<2xi32>}",
            "pd.fetch {a = #unknown}",
            "pd.fetch {a = #u<}",
            "pd.fetch {a = \"\\q\"}",
            "pd.fetch {a = \"\\F\"}",
            "pd.fetch {a = @}",
            "pd.fetch {a = @a::}",
            "pd.fetch {a = loc(}",
            "pd.fetch {a = distinct[0}",
            "pd.fetch {a = opaque<\"a\", \"0x00\"> : tensor<1xi8>}",
            "\"u.x\"() <{a = 1}> {a = 2} : () -> ()",
            "\"u.x\"() <{a = 1} : () -> ()",
            "{-# unclosed",
            "{-# a: {} #-}\n{-# b: {} #-}",
            "\"pd.full\"() {shape = 3} : () -> ()",
        ],
    );
}

fn operations(table: &mut Table) {
    let head =
        "%c = pd.full {shape = [], value = true, dtype = i1}\n%f = pd.full {shape = [2], value = 1.0, dtype = f32}\n";
    let texts = [
        "pd.add (%f)",
        "%r = pd.add (%f, %f, %f)",
        "%r = pd.add (%f, %c)",
        "%r = pd.matmul (%c, %c)",
        "%r = pd.transpose (%f) {perm = [5]}",
        "%r = pd.transpose (%f) {perm = [0, 0]}",
        "%r = pd.reshape (%f) {shape = [-1, -1]}",
        "%r = pd.reshape (%f) {shape = [3]}",
        "%r = pd.reshape (%f) {shape = [-7]}",
        "%r = pd.sum (%f) {axis = [9]}",
        "%r = pd.sum (%f) {axis = [0, 0]}",
        "%r = pd.concat () {axis = 0}",
        "%r = pd.concat (%f, %f) {axis = 9}",
        "%r = pd.slice (%f) {axes = [0, 1], starts = [0], ends = [1]}",
        "%r = pd.slice (%f) {axes = [0], starts = [9223372036854775807], ends = [-9223372036854775808]}",
        "%r = pd.expand (%f) {shape = [9223372036854775807, 2]}",
        "%r = pd.tile (%f) {repeat_times = [9223372036854775807, 9223372036854775807]}",
        "%r = pd.pad (%f) {paddings = [-5, -5], pad_value = 0.0}",
        "%r = pd.cast (%f) {dtype = \"f32\"}",
        "%r = pd.full {shape = \"x\", value = 1, dtype = f32}",
        "pd.if (%f) { cf.yield } else { cf.yield }",
        "%r = pd.if (%c) { cf.yield (%f) } else { cf.yield (%c) }",
        "%r = pd.if (%c) { cf.yield (%f) } else { cf.yield }",
        "%r = pd.if (%c) { cf.yield (%f) }",
        "pd.if (%c) { func.return }",
        "pd.if (%c) { cf.yield\n cf.yield }",
        "pd.while (%f) cond (%a: tensor<2xf32>) { cf.yield (%a) } body (%b: tensor<2xf32>) { cf.yield (%b) }",
        "pd.while (%f) cond () { cf.cond_yield (%c) } body () { cf.yield }",
        "pd.while () cond () { cf.cond_yield } body () { cf.yield }",
        "pd.while () cond () { } body () { }",
        "pd.while () cond { cf.cond_yield (%c) }",
        "%s = pd.while () init () { cf.yield } cond () { cf.cond_yield (%c) } body () { cf.yield }",
        "cf.yield (%f)",
        "func.return (%f)",
        "%l = builtin.combine (%f, %f)\n%r = builtin.split (%f)",
        "%s = cf.create_stack ()\npd.fetch (%s) {name = \"s\"}",
        "cf.push_back (%f, %f)",
        "%r = cf.pop_back (%f) : f32",
    ];
    for (at, text) in texts.iter().enumerate() {
        add(table, format!("operations {at}"), format!("{head}{text}\n"));
    }
}

fn runs(table: &mut Table) {
    let head = "%t = pd.full {shape = [], value = true, dtype = i1}\n%x = pd.full {shape = [4], value = 2.0, dtype = f32}\n\
                %i = pd.full {shape = [2], value = 0, dtype = i64}\n";
    let texts = [
        "%s = cf.create_stack ()\n%y = cf.pop_back (%s) : tensor<4xf32>",
        "%s = cf.create_stack ()\ncf.push_back (%s, %x)\n%y = cf.pop_back (%s) : tensor<2xi64>\n%z = pd.add (%y, %i)",
        "%s = cf.create_stack ()\ncf.push_back (%s, %s)\n%y = cf.pop_back (%s) : cf.stack",
        "%r = pd.floor_divide (%i, %i)\npd.fetch (%r) {name = \"r\"}",
        "%r = pd.remainder (%i, %i)\npd.fetch (%r) {name = \"r\"}",
        "%k = pd.full {shape = [2], value = 99, dtype = i64}\n%r = pd.gather (%x, %k) {axis = 0}\npd.fetch (%r) {name = \"r\"}",
        "%k = pd.full {shape = [2], value = -99, dtype = i64}\n%r = pd.index_select (%x, %k) {axis = 0}\npd.fetch (%r) {name = \"r\"}",
        "%e = pd.while (%x) cond (%a: tensor<?xf32>) { cf.cond_yield (%t, %a) } body (%b: tensor<?xf32>) {\n  \
         %c = pd.concat (%b, %b) {axis = 0} : tensor<?xf32>\n  cf.yield (%c)\n} : tensor<?xf32>\npd.fetch (%e) {name = \"e\"}",
        "pd.while () cond () { cf.cond_yield (%t) } body () { cf.yield }",
        "%s = cf.create_stack ()\npd.while () cond () { cf.push_back (%s, %x)\n cf.cond_yield (%t) } body () { cf.yield }",
        "%r = pd.tile (%x) {repeat_times = [4000000000]}\npd.fetch (%r) {name = \"r\"}",
        "%r = pd.expand (%x) {shape = [4000000000, 4]}\npd.fetch (%r) {name = \"r\"}",
        "%n = pd.full {shape = [1], value = 4000000000000, dtype = i64}\n%r = pd.one_hot (%i) {num_classes = 4000000000000}\npd.fetch (%r) {name = \"r\"}",
    ];
    for (at, text) in texts.iter().enumerate() {
        add(table, format!("runs {at}"), format!("{head}{text}\n"));
    }
}

fn saved(table: &mut Table) {
    let program = |ops: &str| {
        format!(
            "{{\"base_code\":{{\"magic\":\"pir\",\"trainable\":true,\"version\":4}},\"program\":{{\"regions\":[{{\"#\":\"region_0\",\
             \"blocks\":[{{\"#\":\"block_0\",\"args\":[],\"ops\":[{ops}]}}]}}]}}}}"
        )
    };
    let full = program(
        "{\"#\":\"1.full\",\"A\":[{\"N\":\"value\",\"AT\":{\"#\":\"0.a_f64\",\"D\":1.0}}],\"I\":[],\"O\":[{\"%\":1,\"TT\":{\"#\":\"0.t_dtensor\",\
         \"D\":[{\"#\":\"0.t_f32\"},[1],\"NCHW\",[],0]}}]}",
    );
    for cut in (0..full.len()).step_by(37) {
        add(
            table,
            format!("a saved program cut off at {cut}"),
            &full.as_bytes()[..cut],
        );
    }
    for (name, ops) in [
        ("that uses what is not there", "{\"#\":\"1.tanh\",\"A\":[],\"I\":[{\"%\":7}],\"O\":[]}".to_owned()),
        ("with a number too large", "{\"#\":\"1.tanh\",\"A\":[],\"I\":[{\"%\":99999999999999999999}],\"O\":[]}".to_owned()),
        ("with a negative number", "{\"#\":\"1.tanh\",\"A\":[],\"I\":[{\"%\":-9223372036854775808}],\"O\":[]}".to_owned()),
        ("without operands", "{\"#\":\"1.tanh\"}".to_owned()),
        ("of nothing", "{}".to_owned()),
        ("of a list", "[]".to_owned()),
        ("nested deeply", format!("{}{}", "{\"#\":\"1.if\",\"A\":[],\"I\":[],\"O\":[],\"regions\":[{\"#\":\"r\",\"blocks\":[{\"#\":\"b\",\"args\":[],\"ops\":[".repeat(2000), "]}]}]}".repeat(2000))),
        ("of deep lists", format!("{{\"#\":\"1.full\",\"A\":{}{},\"I\":[],\"O\":[]}}", "[".repeat(DEEP), "]".repeat(DEEP))),
    ] {
        add(table, format!("a saved program {name}"), program(&ops));
    }
    lines(
        table,
        "almost saved programs",
        &[
            "{\"base_code\":",
            "{\"base_code\":{}}",
            "{\"base_code\":{},\"program\":{}}",
            "{(%0) = \"pd_op.full\" ()",
            "{ (",
            "{\"base_code\":null,\"program\":null}",
        ],
    );
}
