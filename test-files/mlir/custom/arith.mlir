func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.constant 1 : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.constant true return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.constant 1.5 : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.constant dense<1> : tensor<2xi32> return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.constant {my.note} 1 : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.addi %a, %b : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.addi %a, %b overflow<nsw> : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.addf %x, %y fastmath<fast> : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.addf %x, %y : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.cmpi slt, %a, %b : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.cmpf olt, %x, %y : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.select %c, %a, %b : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.sitofp %a : i32 to f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.index_cast %i : index to i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.extsi %a : i32 to i64 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.negf %x : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0, %1 = arith.mulsi_extended %a, %b : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.truncf %x : f32 to f16 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.bitcast %a : i32 to f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = arith.maximumf %x, %y : f32 return }

// -----

func.func @flags(%a: i32, %x: f32) { %0 = arith.addi %a, %a overflow<nsw, nuw> : i32 %1 = arith.addf %x, %x fastmath<nnan, ninf> : f32 return }

// -----

func.func @not_a_number() -> f32 { %0 = arith.constant 0x7FC00000 : f32 return %0 : f32 }
