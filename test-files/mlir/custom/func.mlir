func.func @f() { return }

// -----

func.func @f() {
  return
}

// -----

func.func @f(%x: f32) -> f32 { return %x : f32 }

// -----

func.func @f(%x: f32, %y: i32) -> (f32, i32) { return %x, %y : f32, i32 }

// -----

func.func @f(%x: f32) -> f32 { func.return %x : f32 }

// -----

func.func private @f()

// -----

func.func private @f(f32, i32) -> i1

// -----

func.func private @f(f32 {test.A}) -> (f32 {test.B})

// -----

func.func @f(%x: f32 {test.A = 1 : i32}) -> (f32 {test.B}) { return %x : f32 }

// -----

func.func @f(%x: f32 {test.A = 1 : i32, test.C = "c"}, %y: i32) { return }

// -----

func.func private @f(f32, i32 {test.A}) -> (f32, i1 {test.B, test.C})

// -----

func.func public @f() { return }

// -----

func.func nested @f() { return }

// -----

func.func @f() attributes {test.a = 1 : i64} { return }

// -----

func.func @f() attributes {a, b = [1, 2]} { return }

// -----

func.func @f() -> () { return }

// -----

func.func @f() -> (i32) { %0 = "a.b"() : () -> i32 return %0 : i32 }

// -----

func.func @f(%f: (f32) -> f32) { return }

// -----

func.func @f() -> ((f32) -> f32) { %0 = "a.b"() : () -> ((f32) -> f32) return %0 : (f32) -> f32 }

// -----

func.func @f(%x: f32) -> f32 { %0 = call @f(%x) : (f32) -> f32 return %0 : f32 }

// -----

func.func @f(%x: f32) -> f32 { %0 = func.call @f(%x) : (f32) -> f32 return %0 : f32 }

// -----

func.func @f() { call @f() : () -> () return }

// -----

func.func @g() -> (i32, f32) { %0:2 = call @g() : () -> (i32, f32) return %0#0, %0#1 : i32, f32 }

// -----

func.func @g(%x: i32) { %0 = call @h(%x) {my.note = 1 : i32} : (i32) -> i32 return } func.func private @h(i32) -> i32

// -----

func.func @f(%f: (f32) -> f32, %x: f32) -> f32 { %0 = call_indirect %f(%x) : (f32) -> f32 return %0 : f32 }

// -----

func.func @f() { %0 = constant @f : () -> () return }

// -----

func.func @f() { %0 = func.constant @f : () -> () return }

// -----

func.func @"a b"() { return }

// -----

func.func @f(%x: i32) -> i32 { "test.br"(%x)[^b] : (i32) -> ()
^b(%y: i32): return %y : i32 }

// -----

func.func @f() -> i1 attributes {test.x} { %t = "a.b"() {value = true} : () -> i1 return %t : i1 }

// -----

func.func @f(%a: tensor<4x?xf32>, %b: memref<?xf32>, %c: vector<4xf32>) { return }

// -----

func.func private @v(%x: f32) -> f32

// -----

func.func @f() { "a.b"() ({ "a.c"() : () -> () }) : () -> () return }

// -----

!fn = (f32, index) -> f32
func.func private @g(f32, index) -> f32
func.func @named(%x: f32, %i: index) -> f32 { %0 = call @g(%x, %i) : !fn return %0 : f32 }
