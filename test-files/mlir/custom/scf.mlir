func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.if %c { "a.b"() : () -> () } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.if %c { } else { "a.b"() : () -> () } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { %0 = scf.if %c -> f32 { scf.yield %x : f32 } else { scf.yield %x : f32 } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.for %i = %l to %u step %s { "a.b"(%i) : (index) -> () } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { %0 = scf.for %i = %l to %u step %s iter_args(%a = %x) -> (f32) { scf.yield %a : f32 } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.for %i = %l to %u step %s { scf.yield } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { %0 = scf.while (%a = %x) : (f32) -> f32 { scf.condition(%c) %a : f32 } do { ^bb0(%b: f32): scf.yield %b : f32 } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { %0 = scf.execute_region -> f32 { scf.yield %x : f32 } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.execute_region { scf.yield } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.parallel (%i) = (%l) to (%u) step (%s) { scf.reduce } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.forall (%i) in (4) { } return }

// -----

func.func @f(%l: index, %u: index, %s: index, %c: i1, %x: f32) { scf.index_switch %l case 1 { scf.yield } default { scf.yield } return }

// -----

func.func @cases(%a: index) {
  scf.index_switch %a case 1 { scf.yield } default { }
  return
}
