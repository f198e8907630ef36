module @prog {
  ml_program.global private @a(dense<4> : tensor<4xi32>) : tensor<4xi32>
  ml_program.global public mutable @b(#ml_program.extern<tensor<?xi32>>) : tensor<?xi32>
  ml_program.global private mutable @c : !u.unknown<{1, [2]}>
  ml_program.func @f(%x: i32 {a.b = "c"}) -> (i32 {d.e}) attributes {t} {
    %0 = ml_program.global_load @a : tensor<4xi32>
    %1 = ml_program.global_load_const @a : tensor<4xi32>
    %tok = ml_program.token
    %l, %t2 = ml_program.global_load_graph @b ordering(() -> !ml_program.token) : tensor<?xi32>
    ml_program.return %x : i32
  }
  ml_program.subgraph private @g(i1) -> i1
  ml_program.subgraph @h(%x: i32) -> (i32) {
    ml_program.output %x : i32
  }
}
