module { }

// -----

module @m { }

// -----

module attributes {a.b = 1 : i32} { }

// -----

module @m attributes {a.b} { func.func @f() { return } }

// -----

module { module { } }

// -----

module { module @n { func.func @f() { return } } func.func @g() { return } }

// -----

builtin.module { }

// -----

builtin.module @x { func.func private @f() }

// -----

func.func @f(%x: i32) -> i64 { %0 = builtin.unrealized_conversion_cast %x : i32 to i64 return %0 : i64 }

// -----

func.func @f(%x: i32) { %0:2 = builtin.unrealized_conversion_cast %x : i32 to i64, f32 return }

// -----

func.func @f() { %0 = builtin.unrealized_conversion_cast to i64 return }

// -----

!t = tensor<4xf32> func.func @f(%x: !t) -> !t { return %x : !t }

// -----

#a = 5 : i32 func.func @f() { "a.b"() {x = #a} : () -> () return }

// -----

#map = affine_map<(d0) -> (d0)> "a.b"() {m = #map} : () -> ()

// -----

"a.b"() {x = dense<[1, 2]> : tensor<2xi32>} : () -> ()

// -----

"a.b"() {x = array<i32: 1, 2>, y = unit, z} : () -> ()

// -----

"a.b"() : () -> () loc("x")

// -----

"a.b"() {x = 1, y = 1.0, z = -3 : i8, w = true} : () -> ()

// -----

%0 = "a.b"() : () -> i32 "a.c"(%0) : (i32) -> ()

// -----

"a.b"() ({ ^bb0(%x: i32): "a.c"(%x) : (i32) -> () }) : () -> ()

// -----

"a.b"() <{p = 1 : i32}> {q = 2 : i32} : () -> ()
