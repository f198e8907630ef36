module attributes {transform.with_named_sequence, test.x} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %m = transform.structured.match ops{["linalg.matmul", "linalg.generic"]} attributes {a = 1 : i32} in %root : (!transform.any_op) -> !transform.op<"linalg.matmul">
    %t, %l:2 = transform.structured.tile_using_for %m tile_sizes [4, [8]] : (!transform.op<"linalg.matmul">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %p = transform.param.constant 5 : i64 -> !transform.param<i64>
    %f = transform.foreach %t : !transform.any_op -> !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.yield %x : !transform.any_op
    }
    %a = transform.alternatives %root : !transform.any_op -> !transform.any_op {
    ^bb0(%y: !transform.any_op):
      transform.yield %y : !transform.any_op
    }, {
    ^bb0(%y: !transform.any_op):
      transform.yield %y : !transform.any_op
    }
    transform.apply_patterns to %root {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.linalg.tiling_canonicalization
    } {apply_cse} : !transform.any_op
    transform.apply_conversion_patterns to %root {
      transform.apply_conversion_patterns.dialect_to_llvm "math"
    } with type_converter {
      transform.apply_conversion_patterns.memref.memref_to_llvm_type_converter {index_bitwidth = 32 : i64}
    } {legal_dialects = ["llvm"], partial_conversion} : !transform.any_op
    transform.yield
  }
  transform.sequence failures(suppress) {
  ^bb0(%arg0: !transform.any_op):
    transform.debug.emit_remark_at %arg0, "here\n\"there\"" : !transform.any_op
  }
}
