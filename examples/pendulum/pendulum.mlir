// A pendulum that a motor holds upright: 400 steps of 0.01 seconds from an angle of 2 (0 is upright), with the torque
// -(stiffness · angle + damping · speed), limited to 12. Gives the mean of angle² + 0.01 · torque².
func.func @cost(%stiffness: f64, %damping: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %start = arith.constant 2.0 : f64
  %step = arith.constant 0.01 : f64
  %gravity = arith.constant 9.81 : f64
  %most = arith.constant 12.0 : f64
  %least = arith.constant -12.0 : f64
  %weight = arith.constant 0.01 : f64
  %share = arith.constant 0.0025 : f64
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 400 : index
  %end:3 = scf.for %i = %first to %count step %one
      iter_args(%angle = %start, %speed = %zero, %sum = %zero) -> (f64, f64, f64) {
    %a = arith.mulf %stiffness, %angle : f64
    %b = arith.mulf %damping, %speed : f64
    %pull = arith.addf %a, %b : f64
    %wanted = arith.negf %pull : f64
    %over = arith.cmpf ogt, %wanted, %most : f64
    %torque = scf.if %over -> (f64) {
      scf.yield %most : f64
    } else {
      %under = arith.cmpf olt, %wanted, %least : f64
      %limited = scf.if %under -> (f64) {
        scf.yield %least : f64
      } else {
        scf.yield %wanted : f64
      }
      scf.yield %limited : f64
    }
    %sine = math.sin %angle : f64
    %fall = arith.mulf %gravity, %sine : f64
    %turn = arith.addf %fall, %torque : f64
    %change = arith.mulf %turn, %step : f64
    %speed_next = arith.addf %speed, %change : f64
    %move = arith.mulf %speed_next, %step : f64
    %angle_next = arith.addf %angle, %move : f64
    %angle2 = arith.mulf %angle_next, %angle_next : f64
    %torque2 = arith.mulf %torque, %torque : f64
    %effort = arith.mulf %torque2, %weight : f64
    %both = arith.addf %angle2, %effort : f64
    %part = arith.mulf %both, %share : f64
    %sum_next = arith.addf %sum, %part : f64
    scf.yield %angle_next, %speed_next, %sum_next : f64, f64, f64
  }
  return %end#2 : f64
}
