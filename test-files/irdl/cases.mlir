"d.nothing"() : () -> ()
// -----
%a0 = "test.value"() : () -> i32
"d.nothing"(%a0) : (i32) -> ()
// -----
%r = "d.nothing"() : () -> i32
// -----
"d.nope"() : () -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%r = "d.same"(%a0, %a1) : (i32, i32) -> i32
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%r = "d.same"(%a0, %a1) : (i32, i32) -> i64
// -----
%a0 = "test.value"() : () -> i32
%r = "d.same"(%a0) : (i32) -> i32
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i64
%r = "d.same"(%a0, %a1) : (i32, i64) -> i32
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> f32
%a2 = "test.value"() : () -> f32
%r = "d.list"(%a0, %a1, %a2) : (i32, f32, f32) -> f32
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> f32
%a2 = "test.value"() : () -> i64
%r = "d.list"(%a0, %a1, %a2) : (i32, f32, i64) -> f32
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> f32
%a2 = "test.value"() : () -> i64
"d.list"(%a0, %a1, %a2) : (i32, f32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
"d.list"(%a0) : (i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
%r = "d.list"(%a0) : (i32) -> f32
// -----
%a0 = "test.value"() : () -> i64
"d.list"(%a0) : (i64) -> ()
// -----
"d.list"() : () -> ()
// -----
%a0 = "test.value"() : () -> i32
%r:2 = "d.list"(%a0) : (i32) -> (f32, f32)
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%r = "d.list"(%a0, %a1) : (i32, i32) -> i32
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
"d.middle"(%a0, %a1) : (i32, i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i64
%a2 = "test.value"() : () -> i32
"d.middle"(%a0, %a1, %a2) : (i32, i64, i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i32
"d.middle"(%a0, %a1, %a2) : (i32, i32, i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i64
%a2 = "test.value"() : () -> i64
%a3 = "test.value"() : () -> i32
"d.middle"(%a0, %a1, %a2, %a3) : (i32, i64, i64, i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
"d.middle"(%a0) : (i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i64
"d.middle"(%a0, %a1) : (i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i32: 2, 1>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i32: 1, 2>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i32: 3, 0>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i32: 2, 0>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i32: 2>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i32: 2, 1, 0>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = [2, 1]} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i64: 2, 1>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
%a2 = "test.value"() : () -> i64
"d.two"(%a0, %a1, %a2) {operand_segment_sizes = array<i32: -1, 4>} : (i32, i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
"d.two"(%a0, %a1) {operand_segment_sizes = array<i32: 2, 0>} : (i32, i32) -> ()
// -----
"d.two"() {operand_segment_sizes = array<i32: 0, 0>} : () -> ()
// -----
%r:2 = "d.results"() {result_segment_sizes = array<i32: 1, 1>} : () -> (i32, i64)
// -----
%r:2 = "d.results"() {result_segment_sizes = array<i32: 2, 0>} : () -> (i32, i64)
// -----
%r:2 = "d.results"() : () -> (i32, i64)
// -----
%a0 = "test.value"() : () -> !d.box<f32>
%r = "d.unbox"(%a0) : (!d.box<f32>) -> f32
// -----
%a0 = "test.value"() : () -> !d.box<f32>
%r = "d.unbox"(%a0) : (!d.box<f32>) -> f64
// -----
%a0 = "test.value"() : () -> f32
%r = "d.unbox"(%a0) : (f32) -> f32
// -----
%a0 = "test.value"() : () -> !d.unit
%r = "d.unbox"(%a0) : (!d.unit) -> f32
// -----
%a0 = "test.value"() : () -> !d.box<f64>
%a1 = "test.value"() : () -> tensor<4xf32>
"d.base"(%a0, %a1) : (!d.box<f64>, tensor<4xf32>) -> ()
// -----
%a0 = "test.value"() : () -> !d.unit
%a1 = "test.value"() : () -> tensor<4xf32>
"d.base"(%a0, %a1) : (!d.unit, tensor<4xf32>) -> ()
// -----
%a0 = "test.value"() : () -> !d.box<f64>
%a1 = "test.value"() : () -> vector<4xf32>
"d.base"(%a0, %a1) : (!d.box<f64>, vector<4xf32>) -> ()
// -----
%a0 = "test.value"() : () -> !d.box<f64>
%a1 = "test.value"() : () -> tensor<*xf32>
"d.base"(%a0, %a1) : (!d.box<f64>, tensor<*xf32>) -> ()
// -----
%a0 = "test.value"() : () -> !d.box<f64>
%a1 = "test.value"() : () -> tensor<?xi1>
"d.base"(%a0, %a1) : (!d.box<f64>, tensor<?xi1>) -> ()
// -----
%r = "test.use"() : () -> !d.box<f32>
// -----
%r = "test.use"() : () -> !d.box<i32>
// -----
%r = "test.use"() : () -> !d.box
// -----
%r = "test.use"() : () -> !d.box<f32, f32>
// -----
%r = "test.use"() : () -> !d.unit
// -----
%r = "test.use"() : () -> !d.unit<f32>
// -----
%r = "test.use"() : () -> !d.nope
// -----
%r = "test.use"() : () -> !d.nest<i32, i32>
// -----
%r = "test.use"() : () -> !d.nest<i32, i64>
// -----
%r = "test.use"() : () -> !d.nest<!d.box<f32>, !d.box<f32>>
// -----
%r = "test.use"() : () -> !d.nest<!d.box<i32>, !d.box<i32>>
// -----
%r = "test.use"() : () -> tensor<2x!d.unit>
// -----
%r = "test.use"() : () -> !d.nest<"x", "x">
// -----
%r = "test.use"() : () -> !d.nest<(i32) -> i32, (i32) -> i32>
// -----
%r = "test.use"() : () -> !d.nest<[1, 2], [1, 2]>
// -----
%r = "test.use"() : () -> !d.nest<"a,>", "a,>">
// -----
%r = "test.use"() : () -> tuple<!d.box<f32>, i32>
// -----
"d.attributes"() : () -> ()
// -----
"d.attributes"() {a = 3 : i32} : () -> ()
// -----
"d.attributes"() {a = 3 : i32, b} : () -> ()
// -----
"d.attributes"() {a = 4 : i32, b = "x"} : () -> ()
// -----
"d.attributes"() {a = 3 : i64, b} : () -> ()
// -----
"d.attributes"() {a = 3 : i32, b, c} : () -> ()
// -----
"d.of_pair"() {p = #d.pair<"x", 3 : i32>} : () -> ()
// -----
"d.of_pair"() {p = #d.pair<"x", "y">} : () -> ()
// -----
"d.of_pair"() {p = #d.pair<"x">} : () -> ()
// -----
"d.of_pair"() {p = 3} : () -> ()
// -----
"d.of_pair"() {p = #d.pair<f32, true>} : () -> ()
// -----
"d.of_pair"() {p = #d.nope} : () -> ()
// -----
"d.of_pair"() {p = [#d.pair<"x", "y">]} : () -> ()
// -----
"d.of_pair"() {p = #d.pair<#d.pair<1, 2>, 3>} : () -> ()
// -----
"d.of_pair"() {p = #d.pair<#d.pair<1, "x">, 3>} : () -> ()
// -----
%a0 = "test.value"() : () -> i32
"d.type_of"(%a0) {type = i32} : (i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
"d.type_of"(%a0) {type = i64} : (i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
"d.type_of"(%a0) {type = 3} : (i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
"d.all"(%a0) : (i32) -> ()
// -----
%a0 = "test.value"() : () -> f32
"d.all"(%a0) : (f32) -> ()
// -----
%a0 = "test.value"() : () -> f64
"d.all"(%a0) : (f64) -> ()
// -----
%a0 = "test.value"() : () -> !d.nest<i32, i32>
%a1 = "test.value"() : () -> i32
"d.either"(%a0, %a1) : (!d.nest<i32, i32>, i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i32
"d.either"(%a0, %a1) : (i32, i32) -> ()
// -----
%a0 = "test.value"() : () -> i32
%a1 = "test.value"() : () -> i64
"d.either"(%a0, %a1) : (i32, i64) -> ()
// -----
%a0 = "test.value"() : () -> !d.nest<i32, i32>
%a1 = "test.value"() : () -> !d.nest<i32, i32>
"d.either"(%a0, %a1) : (!d.nest<i32, i32>, !d.nest<i32, i32>) -> ()
// -----
"d.regions"() ({
  "test.end"() : () -> ()
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
^b(%x: i32):
  "test.end"() : () -> ()
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
  "test.end"() : () -> ()
}, {
^b(%x: i64):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
  "test.end"() : () -> ()
}, {
^b(%x: i32, %y: i32):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
  "test.end"() : () -> ()
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
  "test.end"() : () -> ()
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
  "test.end"() : () -> ()
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() : () -> ()
// -----
"d.regions"() ({
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.regions"() ({
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
^b(%x: i32):
  "test.end"() : () -> ()
}, {
  "test.go"() [^c] : () -> ()
^c:
  "test.end"() : () -> ()
}, {
  "test.end"() : () -> ()
}) : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = [1, 2], n = array<i32: 1>, t = f32, r = @x} : () -> ()
// -----
"d.bases"() {f = 1, s = "x", l = [1, 2], n = array<i32: 1>, t = f32, r = @x} : () -> ()
// -----
"d.bases"() {f = 1.0, s = @x, l = [1, 2], n = array<i32: 1>, t = f32, r = @x} : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = array<i32: 1>, n = array<i32: 1>, t = f32, r = @x} : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = [], n = array<i32: 1>, t = f32, r = @x} : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = [1, 2], n = [1], t = f32, r = @x} : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = [1, 2], n = array<i32: 1>, t = 3, r = @x} : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = [1, 2], n = array<i32: 1>, t = tensor<2xf32>, r = @x} : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = [1, 2], n = array<i32: 1>, t = f32, r = "x"} : () -> ()
// -----
"d.bases"() {f = 1.0, s = "x", l = [1, 2], n = array<i32: 1>, t = f32, r = @x::@y} : () -> ()
// -----
"d.bases"() {f = 1.0 : f16, s = "x", l = [1, 2], n = array<i32: 1>, t = f32, r = @x} : () -> ()
// -----
%a0 = "test.value"() : () -> f32
%a1 = "test.value"() : () -> i7
%a2 = "test.value"() : () -> memref<2xf32>
%a3 = "test.value"() : () -> tensor<*xf32>
%a4 = "test.value"() : () -> ((i32) -> i32)
"d.types"(%a0, %a1, %a2, %a3, %a4) : (f32, i7, memref<2xf32>, tensor<*xf32>, (i32) -> i32) -> ()
// -----
%a0 = "test.value"() : () -> f64
%a1 = "test.value"() : () -> i7
%a2 = "test.value"() : () -> memref<2xf32>
%a3 = "test.value"() : () -> tensor<*xf32>
%a4 = "test.value"() : () -> ((i32) -> i32)
"d.types"(%a0, %a1, %a2, %a3, %a4) : (f64, i7, memref<2xf32>, tensor<*xf32>, (i32) -> i32) -> ()
// -----
%a0 = "test.value"() : () -> f32
%a1 = "test.value"() : () -> index
%a2 = "test.value"() : () -> memref<2xf32>
%a3 = "test.value"() : () -> tensor<*xf32>
%a4 = "test.value"() : () -> ((i32) -> i32)
"d.types"(%a0, %a1, %a2, %a3, %a4) : (f32, index, memref<2xf32>, tensor<*xf32>, (i32) -> i32) -> ()
// -----
%a0 = "test.value"() : () -> f32
%a1 = "test.value"() : () -> i7
%a2 = "test.value"() : () -> memref<*xf32>
%a3 = "test.value"() : () -> tensor<*xf32>
%a4 = "test.value"() : () -> ((i32) -> i32)
"d.types"(%a0, %a1, %a2, %a3, %a4) : (f32, i7, memref<*xf32>, tensor<*xf32>, (i32) -> i32) -> ()
// -----
%a0 = "test.value"() : () -> f32
%a1 = "test.value"() : () -> i7
%a2 = "test.value"() : () -> memref<2xf32>
%a3 = "test.value"() : () -> tensor<2xf32>
%a4 = "test.value"() : () -> ((i32) -> i32)
"d.types"(%a0, %a1, %a2, %a3, %a4) : (f32, i7, memref<2xf32>, tensor<2xf32>, (i32) -> i32) -> ()
// -----
%a0 = "test.value"() : () -> f32
%a1 = "test.value"() : () -> i7
%a2 = "test.value"() : () -> memref<2xf32>
%a3 = "test.value"() : () -> tensor<*xf32>
%a4 = "test.value"() : () -> none
"d.types"(%a0, %a1, %a2, %a3, %a4) : (f32, i7, memref<2xf32>, tensor<*xf32>, none) -> ()
// -----
%a0 = "test.value"() : () -> !d.box<f32>
"e.use"(%a0) : (!d.box<f32>) -> ()
// -----
%a0 = "test.value"() : () -> !d.box<f64>
"e.use"(%a0) : (!d.box<f64>) -> ()
