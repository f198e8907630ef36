// Each device waits for the other.
df.graph {device = 0} {
  %a = df.recv () {key = "a", from = 1, to = 0} : tensor<f32>
  %sent = df.send (%a) {key = "b", from = 0, to = 1}
}
df.graph {device = 1} {
  %b = df.recv () {key = "b", from = 0, to = 1} : tensor<f32>
  %sent = df.send (%b) {key = "a", from = 1, to = 0}
}
