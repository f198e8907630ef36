func.func @cf(%c: i1, %i: i32, %x: f32, %ix: index) -> f32 {
  cf.assert %c, "must \"hold\"\n"
  cf.cond_br %c, ^a(%x, %i : f32, i32), ^b
^a(%y: f32, %j: i32):
  cf.switch %i : i32, [
    default: ^b,
    42: ^a(%y, %j : f32, i32),
    -1: ^c(%y : f32)
  ]
^b:
  %s = scf.index_switch %ix -> f32
  case 2 { scf.yield %x : f32 }
  case 5 { scf.yield %x : f32 }
  default { scf.yield %x : f32 }
  %e = scf.execute_region -> f32 {
    cf.cond_br %c, ^x, ^y
  ^x:
    scf.yield %x : f32
  ^y:
    scf.yield %s : f32
  }
  cf.br ^c(%e : f32)
^c(%z: f32 loc("z":1:2)):
  %p:2 = scf.parallel (%k, %l) = (%ix, %ix) to (%ix, %ix) step (%ix, %ix) init (%z, %z) -> (f32, f32) {
    scf.reduce(%z, %z : f32, f32) {
    ^bb0(%u: f32, %v: f32):
      scf.reduce.return %u : f32
    }, {
    ^bb0(%u: f32, %v: f32):
      scf.reduce.return %v : f32
    }
  }
  %t = "u.t"() : () -> tensor<4xf32>
  %f = scf.forall (%k) in (%ix) shared_outs(%o = %t) -> (tensor<4xf32>) {
    scf.forall.in_parallel { tensor.parallel_insert_slice %t into %o[%k] [4] [1] : tensor<4xf32> into tensor<4xf32> }
  } {mapping = [#gpu.block<x>]}
  %w = scf.for %k = %ix to %ix step %ix iter_args(%q = %x) -> (f32) { scf.yield %q : f32 }
  return %z : f32
}
func.func @async() -> !async.value<f32> {
  %t, %v = async.execute -> !async.value<f32> {
    %0 = arith.constant 0.0 : f32
    async.yield %0 : f32
  }
  %n = arith.constant 2 : index
  %g = async.create_group %n : !async.group
  %r = async.add_to_group %t, %g : !async.token
  return %v : !async.value<f32>
}
async.func @coro() -> (!async.token, !async.value<i32>) {
  %0 = arith.constant 1 : i32
  return %0 : i32
}
