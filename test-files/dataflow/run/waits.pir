// A graph that cannot go on does not hang: what waits is told.
//
// RUN: not pir-run --dataflow %s 2>&1 | FileCheck %s
// RUN: not pir-run --dataflow --schedule-seed 7 %s 2>&1 | FileCheck %s
//
// CHECK: no node can run, but the run is not complete
// CHECK: `%x` (`df.recv`) waits for a message with the key "x"; no `df.send` has this key
df.graph {
  %x = df.recv () {key = "x", from = 1, to = 0} : tensor<i64>
  pd.fetch (%x) {name = "x"}
}
