// MOST: 4.5, 2.4 times its time
// INPUT: 0.6 5
// INPUT: 1.4 2
// TIME: 0.6 200
func.func private @even(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %done = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %done -> (f64) {
    %e = math.exp %x : f64
    scf.yield %e : f64
  } else {
    %c1 = arith.constant 1 : index
    %m = arith.subi %n, %c1 : index
    %y = math.sin %x : f64
    %t = func.call @odd(%y, %m) : (f64, index) -> f64
    scf.yield %t : f64
  }
  return %r : f64
}
func.func private @odd(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %done = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %done -> (f64) {
    scf.yield %x : f64
  } else {
    %c1 = arith.constant 1 : index
    %m = arith.subi %n, %c1 : index
    %y = arith.mulf %x, %x : f64
    %t = func.call @even(%y, %m) : (f64, index) -> f64
    %u = arith.mulf %t, %x : f64
    scf.yield %u : f64
  }
  return %r : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %r = call @even(%x, %n) : (f64, index) -> f64
  return %r : f64
}
