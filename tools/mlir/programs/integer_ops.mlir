// INPUT: 1.5 37
func.func @f(%x: f64, %n: index) -> f64 {
  %k = arith.index_cast %n : index to i32
  %c5 = arith.constant 5 : i32
  %cm3 = arith.constant -3 : i32
  %0 = arith.ceildivsi %k, %cm3 : i32
  %1 = arith.floordivsi %k, %cm3 : i32
  %2 = arith.ceildivui %k, %c5 : i32
  %3 = math.ctpop %k : i32
  %4 = math.ctlz %k : i32
  %5 = math.cttz %k : i32
  %6 = arith.maxsi %0, %1 : i32
  %7 = arith.minui %2, %3 : i32
  %lo, %hi = arith.mulsi_extended %k, %cm3 : i32
  %s, %o = arith.addui_extended %k, %cm3 : i32, i1
  %oi = arith.extui %o : i1 to i32
  %8 = math.absi %hi : i32
  %9 = arith.addi %6, %7 : i32
  %10 = arith.addi %4, %5 : i32
  %11 = arith.addi %9, %10 : i32
  %12 = arith.addi %11, %8 : i32
  %13 = arith.addi %12, %oi : i32
  %14 = arith.addi %13, %lo : i32
  %15 = arith.xori %14, %s : i32
  %g = arith.sitofp %15 : i32 to f64
  %m = arith.mulf %g, %x : f64
  %t = math.sin %m : f64
  return %t : f64
}
