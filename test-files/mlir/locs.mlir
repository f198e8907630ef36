#file = loc("dir/a b.py":10:20)
#name = loc("name"(#file))
#call = loc(callsite(#name at "caller"))
#fused = loc(fused<{meta = [1, "x"]}>[#call, unknown, "n"(#name)])
"u.a"() : () -> () loc(#fused)
"u.b"() : () -> () loc(fused[])
"u.c"() : () -> () loc(fused<"m">["x":1:1])
"u.d"() : () -> () loc(callsite(callsite("a":1:1 at "b":2:2) at callsite("c" at unknown)))
"u.e"() {l = loc("attr":1:2), m = [loc(unknown), loc(fused["q", "r"])], n = #file} : () -> () loc("weird \22 \0A \\ é":4294967295:0)
"u.f"() ({
^bb0(%a: i32 loc("arg"), %b: i32 loc(#file), %c: i32):
  %0:2 = "u.g"(%a, %b, %c) : (i32, i32, i32) -> (i32, i32) loc("inner"("x"))
  "u.h"()[^bb1] : () -> () loc(unknown)
^bb1(%d: i32 loc(unknown)):
  "u.i"(%d, %0#0) : (i32, i32) -> ()
}) : () -> () loc(#name)
"u.j"() : () -> () loc("-":0:0)
