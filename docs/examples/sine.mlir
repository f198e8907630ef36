// mlir-opt-19 --mlir-print-op-generic of a function that counts with `scf.for`: x ↦ a + x · sin(a), n times from a = 1.
"func.func"() <{function_type = (f64, index) -> f64, sym_name = "f"}> ({
^bb0(%x: f64, %n: index):
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %step = "arith.constant"() <{value = 1 : index}> : () -> index
  %one = "arith.constant"() <{value = 1.0 : f64}> : () -> f64
  %y = "scf.for"(%zero, %n, %step, %one) ({
  ^bb0(%i: index, %a: f64):
    %s = "math.sin"(%a) : (f64) -> f64
    %p = "arith.mulf"(%s, %x) : (f64, f64) -> f64
    %b = "arith.addf"(%p, %a) : (f64, f64) -> f64
    "scf.yield"(%b) : (f64) -> ()
  }) : (index, index, index, f64) -> f64
  "func.return"(%y) : (f64) -> ()
}) : () -> ()
