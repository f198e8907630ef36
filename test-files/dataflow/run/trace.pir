// A trace has a row for each device, and tells the frame and the iteration of what ran; messages are arrows.
//
// RUN: pir-run --dataflow --trace %t %s
// RUN: FileCheck %s < %t
//
// CHECK: {"displayTimeUnit"
// CHECK-DAG: {"args":{"name":"device 0"},"name":"thread_name","ph":"M","pid":0,"tid":0}
// CHECK-DAG: {"args":{"name":"device 1"},"name":"thread_name","ph":"M","pid":0,"tid":1}
// CHECK-DAG: {"args":{"dead":false,"frame":"outer[0]/inner","iteration":0},"cat":"live",{{.*}}"name":"%sum (pd.add)","ph":"X","pid":0,"tid":0,
// CHECK-DAG: {"bp":"e","cat":"message","id":"[[ID:[0-9a-f]+]]","name":"message","ph":"s","pid":0,"tid":0,
// CHECK-DAG: {"bp":"e","cat":"message","id":"[[ID]]","name":"message","ph":"f","pid":0,"tid":1,
df.graph {device = 0} {
  %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %e = df.enter (%x) {frame = "outer"} : tensor<i64>
  %i = df.enter (%e) {frame = "inner"} : tensor<i64>
  %sum = pd.add (%i, %i) : tensor<i64>
  %o = df.exit (%sum) : tensor<i64>
  %out = df.exit (%o) : tensor<i64>
  %sent = df.send (%out) {key = "k", from = 0, to = 1} : df.control
}
df.graph {device = 1} {
  %got = df.recv () {key = "k", from = 0, to = 1} : tensor<i64>
  pd.fetch (%got) {name = "x"}
}
