// RUN: pir-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect %s

func.func @f() {
  // expected-error@+1 {{there is no operation `unreachable`}}
  unreachable, a = 1
}
func.func @g() {
  // expected-error@+1 {{there is no operation `a`}}
  a
}

// -----

// Custom assembly looks like other things: types of block arguments like those of results,
func.func @f(%x: i64) {
  // expected-error@+1 {{`emitc.br` uses the custom assembly of the dialect `emitc`, which cannot be parsed}}
  emitc.br ^a(%x : i64)
^a(%y: i64):
  // expected-error@+1 {{`emitc.br` uses the custom assembly of the dialect `emitc`}}
  emitc.br ^a(%y : i64)
}

// -----

// a type of an operand like that of a result, a region that is implied like one that is missing.
func.func @f(%c: i1, %t: tensor<4x?xf32>, %i: index) {
  // expected-error@+1 {{`emitc.if` uses the custom assembly of the dialect `emitc`}}
  emitc.if %c {
    "a.b"() : () -> ()
  }
  // expected-error@+1 {{`tosa.dim` uses the custom assembly of the dialect `tosa`}}
  %d = tosa.dim %t, %i : tensor<4x?xf32>
  func.return
}

// -----

// What a dialect's own form demands.
func.func @f(%c: i1) {
  // expected-error@+1 {{expected an attribute, found `%c`}}
  affine.if %c {
  }
}

// -----

// Of a dialect that nobody knows, one form is read.
%x = my.make () : f32
// expected-error@+1 {{`my.use` is not registered, so its custom assembly cannot be parsed}}
my.use %x
// expected-error@+1 {{these may be the types of the operands or of the results of `my.use`}}
my.use (%x) : f32

// -----

// A use in front of the definition has its type.
"test.graph"() ({
  // expected-error@+1 {{`%1` is used as `i32` here, but has type `i64`}}
  "a.b"(%1) : (i32) -> ()
  // expected-note@+1 {{defined here, of type `i64`}}
  %1 = "a.c"() : () -> i64
}) : () -> ()
