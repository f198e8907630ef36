// INPUT: 0.7 5
// INPUT: 1.3 0
// TIME: 0.7 200
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = arith.cmpi sle, %n, %c0 : index
  %r = scf.if %done -> (f64) {
    %s = math.sin %x : f64
    scf.yield %s : f64
  } else {
    %m = arith.subi %n, %c1 : index
    %half = arith.constant 0.5 : f64
    %y = arith.mulf %x, %half : f64
    %z = math.cos %y : f64
    %t = func.call @f(%z, %m) : (f64, index) -> f64
    %u = arith.mulf %t, %x : f64
    scf.yield %u : f64
  }
  return %r : f64
}
