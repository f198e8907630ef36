// RUN: pir-opt --pass=backward,lower-to-dataflow,swap-stacks %s | pir-run --dataflow --stats - --input x=ones --input n=4 2>&1 | FileCheck %s
// RUN: pir-opt --pass=backward,lower-to-dataflow,swap-stacks{min-bytes=4097} %s | pir-run --dataflow --stats - --input x=ones --input n=4 2>&1 | FileCheck %s --check-prefix=STAYS
// Four values of 4096 bytes are recorded; with `swap` they wait in the memory of the host.
// CHECK: "peak_host_bytes": 16384
// STAYS: "peak_host_bytes": 0
%x = pd.data {name = "x", shape = [512], dtype = f64} : tensor<512xf64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<512xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<i64>, %a_b: tensor<512xf64>) {
  %next = pd.increment (%i_b) {value = 1.0} : tensor<i64>
  %b = pd.tanh (%a_b) : tensor<512xf64>
  cf.yield (%next, %b)
} : tensor<i64>, tensor<512xf64>
%l = pd.sum (%y) : tensor<f64>
pd.fetch (%l) {name = "l"}
