"df.graph"() ({
  %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
  %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
  %z = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
  %i0 = df.enter (%z) {frame = "w"} : tensor<1xi64>
  %a0 = df.enter (%x) {frame = "w"} : tensor<4xf64>
  %nc = df.enter (%n) {frame = "w", constant = true} : tensor<1xi64>
  %xc = df.enter (%x) {frame = "w", constant = true} : tensor<4xf64>
  %i, %ii = df.merge (%i0, %ni) : tensor<1xi64>, tensor<i32>
  %a, %ai = df.merge (%a0, %na) : tensor<4xf64>, tensor<i32>
  %p = pd.less_than (%i, %nc) : tensor<1xi1>
  %c = df.loop_cond (%p) : tensor<1xi1>
  %if, %it = df.switch (%i, %c) : tensor<1xi64>, tensor<1xi64>
  %af, %at = df.switch (%a, %c) : tensor<4xf64>, tensor<4xf64>
  %pivot = df.identity (%it) : tensor<1xi64>
  %t = pd.tanh (%at) {device = 1} : tensor<4xf64>
  %u = pd.multiply (%t, %xc) {device = 1} : tensor<4xf64>
  %s = pd.scale (%u) {scale = 1.5, bias = 0.25} : tensor<4xf64>
  %one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
  df.control (%one, %pivot)
  %j = pd.add (%it, %one) : tensor<1xi64>
  %ni = df.next_iteration (%j) : tensor<1xi64>
  %na = df.next_iteration (%s) : tensor<4xf64>
  %r = df.exit (%af) : tensor<4xf64>
  %k = df.exit (%if) : tensor<1xi64>
  pd.fetch (%r) {name = "out"}
  pd.fetch (%k) {name = "count"}
}) : () -> ()
