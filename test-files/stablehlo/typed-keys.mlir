// Operations of Shardy that JAX writes for typed keys mean nothing on one device: they are kept, and are in no way of running.
// RUN: pir-opt %s | FileCheck %s
// RUN: pir-run %s --input 'x=[3, 4]' | FileCheck %s --check-prefix=RUNS
// RUN: pir-opt --emit=stablehlo %s | FileCheck %s --check-prefix=EMIT

// CHECK: sdy.mesh {mesh = #sdy.mesh<[]>, sym_name = "empty_mesh", stablehlo.mesh = {axes = []}}
// CHECK: %0 = sdy.sharding_constraint (%x) {sharding = #sdy.sharding<@empty_mesh, [{}]>} : tensor<2xui32>
// RUNS: out:0 = tensor<2xui32> [6, 8]
// EMIT-NOT: sdy
// EMIT: "stablehlo.add"(%x, %x)
module @jit_f {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%x: tensor<2xui32>) -> tensor<2xui32> {
    %0 = sdy.sharding_constraint %x <@empty_mesh, [{}]> : tensor<2xui32>
    %1 = stablehlo.add %0, %0 : tensor<2xui32>
    return %1 : tensor<2xui32>
  }
}
