// Functions for stacks of values of the type $T.
"func.func"() <{function_type = (memref<1xindex>, memref<1xmemref<?x$T>>, $T) -> (), sym_name = "pir_stack_push_$K", sym_visibility = "private"}> ({
^bb0(%arg4: memref<1xindex>, %arg5: memref<1xmemref<?x$T>>, %arg6: $T):
  %13 = "arith.constant"() <{value = 0 : index}> : () -> index
  %14 = "arith.constant"() <{value = 1 : index}> : () -> index
  %15 = "memref.load"(%arg4, %13) : (memref<1xindex>, index) -> index
  %16 = "memref.load"(%arg5, %13) : (memref<1xmemref<?x$T>>, index) -> memref<?x$T>
  %17 = "memref.dim"(%16, %13) : (memref<?x$T>, index) -> index
  %18 = "arith.cmpi"(%15, %17) <{predicate = 5 : i64}> : (index, index) -> i1
  %19 = "scf.if"(%18) ({
    %21 = "arith.addi"(%17, %17) : (index, index) -> index
    %22 = "memref.alloc"(%21) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?x$T>
    "scf.for"(%13, %15, %14) ({
    ^bb0(%arg7: index):
      %23 = "memref.load"(%16, %arg7) : (memref<?x$T>, index) -> $T
      "memref.store"(%23, %22, %arg7) : ($T, memref<?x$T>, index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "memref.dealloc"(%16) : (memref<?x$T>) -> ()
    "memref.store"(%22, %arg5, %13) : (memref<?x$T>, memref<1xmemref<?x$T>>, index) -> ()
    "scf.yield"(%22) : (memref<?x$T>) -> ()
  }, {
    "scf.yield"(%16) : (memref<?x$T>) -> ()
  }) : (i1) -> memref<?x$T>
  "memref.store"(%arg6, %19, %15) : ($T, memref<?x$T>, index) -> ()
  %20 = "arith.addi"(%15, %14) : (index, index) -> index
  "memref.store"(%20, %arg4, %13) : (index, memref<1xindex>, index) -> ()
  "func.return"() : () -> ()
}) : () -> ()
"func.func"() <{function_type = (memref<1xindex>, memref<1xmemref<?x$T>>) -> $T, sym_name = "pir_stack_pop_$K", sym_visibility = "private"}> ({
^bb0(%arg2: memref<1xindex>, %arg3: memref<1xmemref<?x$T>>):
  %7 = "arith.constant"() <{value = 0 : index}> : () -> index
  %8 = "arith.constant"() <{value = 1 : index}> : () -> index
  %9 = "memref.load"(%arg2, %7) : (memref<1xindex>, index) -> index
  %10 = "memref.load"(%arg3, %7) : (memref<1xmemref<?x$T>>, index) -> memref<?x$T>
  %11 = "arith.subi"(%9, %8) : (index, index) -> index
  "memref.store"(%11, %arg2, %7) : (index, memref<1xindex>, index) -> ()
  %12 = "memref.load"(%10, %11) : (memref<?x$T>, index) -> $T
  "func.return"(%12) : ($T) -> ()
}) : () -> ()
"func.func"() <{function_type = () -> (memref<1xindex>, memref<1xmemref<?x$T>>), sym_name = "pir_stack_new_$K", sym_visibility = "private"}> ({
  %2 = "arith.constant"() <{value = 0 : index}> : () -> index
  %3 = "arith.constant"() <{value = 64 : index}> : () -> index
  %4 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<1xindex>
  %5 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<1xmemref<?x$T>>
  %6 = "memref.alloc"(%3) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?x$T>
  "memref.store"(%2, %4, %2) : (index, memref<1xindex>, index) -> ()
  "memref.store"(%6, %5, %2) : (memref<?x$T>, memref<1xmemref<?x$T>>, index) -> ()
  "func.return"(%4, %5) : (memref<1xindex>, memref<1xmemref<?x$T>>) -> ()
}) : () -> ()
"func.func"() <{function_type = (memref<1xindex>, memref<1xmemref<?x$T>>) -> (), sym_name = "pir_stack_free_$K", sym_visibility = "private"}> ({
^bb0(%arg0: memref<1xindex>, %arg1: memref<1xmemref<?x$T>>):
  %0 = "arith.constant"() <{value = 0 : index}> : () -> index
  %1 = "memref.load"(%arg1, %0) : (memref<1xmemref<?x$T>>, index) -> memref<?x$T>
  "memref.dealloc"(%1) : (memref<?x$T>) -> ()
  "memref.dealloc"(%arg1) : (memref<1xmemref<?x$T>>) -> ()
  "memref.dealloc"(%arg0) : (memref<1xindex>) -> ()
  "func.return"() : () -> ()
}) : () -> ()
