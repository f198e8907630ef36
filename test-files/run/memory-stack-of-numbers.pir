// A stack that grows without end: its own memory counts, not only that of the numbers on it.
// RUN: not pir-run --max-memory 8M %s 2>&1 | FileCheck %s
// CHECK: error: `cf.push_back` failed: the program takes {{[0-9]+}} bytes, and {{[0-9]+}} more would exceed the limit of 9437184 bytes
// CHECK: help: {{[0-9]+}} bytes of tensors are on stacks; `--max-memory` sets the limit
%z = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%o = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%t = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
%n, %s = pd.while (%z) init (%f: tensor<i64>) {
  %st = cf.create_stack () : cf.stack
  cf.yield (%f, %st)
} cond (%i: tensor<i64>, %s: cf.stack) {
  cf.cond_yield (%t, %i, %s)
} body (%j: tensor<i64>, %s: cf.stack) {
  cf.push_back (%s, %j)
  %k = pd.add (%j, %o)
  cf.yield (%k, %s)
} : tensor<i64>, cf.stack
pd.fetch (%n) {name = "n"}
