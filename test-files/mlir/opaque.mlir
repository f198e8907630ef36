!alias = !u.type<"a, b>", [1, {c = d}], (x -> y), !nested.type<4x?xf32>>
#alias = #u.attr<<<>>, ->, "\22>", {}>
"a.op"() : () -> ()
%0:3 = "b.op-with.dots_and$"() <{prop = 1 : i32, prop2 = #alias}> {disc = !alias} : () -> (!alias, !u.simple, !u.dotted.name<x>)
"c.op"(%0#2, %0#0) ({
}, {
^bb0:
  "t.t"() : () -> ()
}, {
  "d.op"()[^bb1, ^bb2] : () -> ()
^bb1:
  "t"() : () -> ()
^bb2(%x: !u.simple):
  "t"()[^bb1] {a} : () -> ()
}) {b} : (!u.dotted.name<x>, !alias) -> ()
"no_dialect"() {"key with space" = 1, "1num" = 2, key.dotted = 3, key$dollar = 4, "key-dash" = 5, _u = unit, "true" = 7} : () -> ()
"u.syms"() {a = @a, b = @"a b", c = @a::@b::@"c::d", d = @"\22", e = @"_x1.y$z-w", f = @"1a", g = @"é"} : () -> ()
"u.types"() {a = () -> (), b = (i32) -> (), c = () -> i32, d = () -> (i32, f32), e = () -> (() -> ()), f = (() -> i32) -> (() -> i32), g = tuple<tuple<>, i1>, h = none, i = !u.x, j = !u<"pretty string">, k = #u<"pretty string">, l = tensor<*x!u.x>, m = vector<1x[2]x3xindex>, o = tensor<1x2x!u.t<[1, 2]>, #u.enc>} : () -> ()
"u.weird"() {a = "\00\01\7F\80\FF", c = "'single'", d = "// no comment", e = "%0 = \"x\"", f = "{-#"} : () -> ()
module @"weird name" attributes {"a.b-c" = 1} {
  module {
  }
  module @x { "u.inner"() {sym_name = "y"} : () -> () }
}
