// The attributes of a module stand behind a word, wherever it is.
// RUN: pir-opt --print-mlir --verify-roundtrip %s | FileCheck %s

// CHECK: module @outer attributes {a.b = 1 : i32} {
// CHECK: module @inner attributes {a.c} {
// CHECK: func.func @g() attributes {a.d = 3 : i8} {
// CHECK: module attributes {a.e = "x"} {
module @outer attributes {a.b = 1 : i32} {
  module @inner attributes {a.c} {
    func.func @g() attributes {a.d = 3 : i8} {
      return
    }
  }
  module attributes {a.e = "x"} {
  }
}
