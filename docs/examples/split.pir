// Two recurrent layers, each on a process of its own: in each step, the second one reads what the first one gives.
%x = pd.data {name = "x", shape = [4, 8], dtype = f32} : tensor<4x8xf32>
%t = pd.data {name = "t", shape = [4, 8], dtype = f32} : tensor<4x8xf32>
%u = pd.parameter {name = "u"} : tensor<8x8xf32>
%v = pd.parameter {name = "v"} : tensor<8x8xf32>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%steps = pd.full {shape = [], value = 12, dtype = i64} : tensor<i64>
%start = pd.full {shape = [4, 8], value = 0.0, dtype = f32} : tensor<4x8xf32>
%n, %a, %b = pd.while (%zero, %start, %start) cond (%i: tensor<i64>, %h: tensor<4x8xf32>, %k: tensor<4x8xf32>) {
  %go = pd.less_than (%i, %steps) : tensor<i1>
  cf.cond_yield (%go, %i, %h, %k)
} body (%i_b: tensor<i64>, %h_b: tensor<4x8xf32>, %k_b: tensor<4x8xf32>) {
  %next = pd.increment (%i_b) {value = 1.0} : tensor<i64>
  %hu = pd.matmul (%h_b, %u) {tf.device = "/job:worker/task:0"} : tensor<4x8xf32>
  %hx = pd.add (%hu, %x) {tf.device = "/job:worker/task:0"} : tensor<4x8xf32>
  %h_next = pd.tanh (%hx) {tf.device = "/job:worker/task:0"} : tensor<4x8xf32>
  %kv = pd.matmul (%k_b, %v) {tf.device = "/job:worker/task:1"} : tensor<4x8xf32>
  %kh = pd.add (%kv, %h_next) {tf.device = "/job:worker/task:1"} : tensor<4x8xf32>
  %k_next = pd.tanh (%kh) {tf.device = "/job:worker/task:1"} : tensor<4x8xf32>
  cf.yield (%next, %h_next, %k_next)
} : tensor<i64>, tensor<4x8xf32>, tensor<4x8xf32>
%d = pd.subtract (%b, %t) : tensor<4x8xf32>
%squared = pd.multiply (%d, %d) : tensor<4x8xf32>
%loss = pd.mean (%squared) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
