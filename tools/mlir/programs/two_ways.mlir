// INPUT: 0.8 4
// INPUT: 1.2 3
// TIME: 0.8 10
// A function that calls itself twice.
func.func private @tree(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %done = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %done -> (f64) {
    %s = math.sin %x : f64
    scf.yield %s : f64
  } else {
    %c1 = arith.constant 1 : index
    %m = arith.subi %n, %c1 : index
    %half = arith.constant 0.5 : f64
    %y = arith.mulf %x, %half : f64
    %z = math.cos %x : f64
    %a = func.call @tree(%y, %m) : (f64, index) -> f64
    %b = func.call @tree(%z, %m) : (f64, index) -> f64
    %p = arith.mulf %a, %b : f64
    scf.yield %p : f64
  }
  return %r : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %r = call @tree(%x, %n) : (f64, index) -> f64
  return %r : f64
}
