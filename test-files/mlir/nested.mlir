module @outer attributes {u.x = 1 : i32} {
  module @inner {
    func.func @g() { return }
    func.func private @h(i32) -> (i32 {a.b = 1 : i32}, f32)
  }
  "u.graph"() ({
    %a = "u.x"(%b) : (i32) -> i32
    %b = "u.y"(%a) : (i32) -> i32
  }) : () -> ()
  func.func @cfg(%c: i1, %x: i32) -> i32 {
    cf.cond_br %c, ^a(%x : i32), ^b
  ^a(%y: i32):
    cf.br ^c(%y, %y : i32, i32)
  ^b:
    %k = arith.constant 3 : i32
    cf.br ^c(%k, %x : i32, i32)
  ^c(%p: i32, %q: i32):
    %r:3 = "u.multi"(%p, %q) : (i32, i32) -> (i32, f32, index)
    %s = arith.addi %r#0, %q : i32
    cf.switch %s : i32, [default: ^d, 42: ^e, 43: ^a(%s : i32)]
  ^d:
    return %s : i32
  ^e:
    return %p : i32
  }
  "u.regions"() ({}, {
  ^bb0:
  }, {
    "u.yield"() : () -> ()
  }, {
  ^bb0(%i: i32, %f: f32):
    "u.br"(%i)[^bb1, ^bb2] : (i32) -> ()
  ^bb1:
    "u.end"() : () -> ()
  ^bb2:
    "u.end"(%f) : (f32) -> ()
  }) {after = "regions"} : () -> ()
}
