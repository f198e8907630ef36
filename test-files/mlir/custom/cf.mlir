func.func @f(%x: i64) { cf.br ^a(%x : i64) ^a(%y: i64): cf.br ^a(%y : i64) }

// -----

func.func @f() { cf.br ^a ^a: return }

// -----

func.func @f(%c: i1, %x: i64) { cf.cond_br %c, ^a(%x : i64), ^b ^a(%y: i64): return ^b: return }

// -----

func.func @f(%c: i1) { cf.cond_br %c, ^a, ^b ^a: return ^b: return }

// -----

func.func @f(%c: i1) { cf.assert %c, "no" return }

// -----

func.func @f(%x: i32) { cf.switch %x : i32, [ default: ^a, 1: ^b ] ^a: return ^b: return }

// -----

func.func @places(%a: i32, %c: i1) -> i32 { cf.cond_br %c, ^a(%a : i32), ^b(%a, %c : i32, i1) {weights = 1} ^a(%x: i32): cf.br ^b(%x, %c : i32, i1) ^b(%y: i32, %z: i1): return %y : i32 }
