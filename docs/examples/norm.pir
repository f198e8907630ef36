func.func @f(%z: !cmath.complex<f32>) -> f64 {
  %n = cmath.norm (%z) : f64
  func.return (%n)
}
