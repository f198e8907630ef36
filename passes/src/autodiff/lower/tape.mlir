// Functions for the tape of values of the type $T. It begins with room that its function has, and grows on the heap.
"func.func"() <{function_type = (memref<1xindex>, memref<1xmemref<?x$T>>, index) -> (memref<?x$T>, index), sym_name = "pir_tape_push_$K", sym_visibility = "private"}> ({
^bb0(%counter: memref<1xindex>, %buffer: memref<1xmemref<?x$T>>, %more: index):
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %count = "memref.load"(%counter, %zero) : (memref<1xindex>, index) -> index
  %old = "memref.load"(%buffer, %zero) : (memref<1xmemref<?x$T>>, index) -> memref<?x$T>
  %room = "memref.dim"(%old, %zero) : (memref<?x$T>, index) -> index
  %next = "arith.addi"(%count, %more) : (index, index) -> index
  %full = "arith.cmpi"(%next, %room) <{predicate = 4 : i64}> : (index, index) -> i1
  %values = "scf.if"(%full) ({
    %grown = "func.call"(%old, %next) <{callee = @pir_tape_grow_$K}> : (memref<?x$T>, index) -> memref<?x$T>
    "memref.store"(%grown, %buffer, %zero) : (memref<?x$T>, memref<1xmemref<?x$T>>, index) -> ()
    "scf.yield"(%grown) : (memref<?x$T>) -> ()
  }, {
    "scf.yield"(%old) : (memref<?x$T>) -> ()
  }) : (i1) -> memref<?x$T>
  "memref.store"(%next, %counter, %zero) : (index, memref<1xindex>, index) -> ()
  "func.return"(%values, %count) : (memref<?x$T>, index) -> ()
}) {llvm.linkage = #llvm.linkage<internal>} : () -> ()
"func.func"() <{function_type = (memref<1xindex>, memref<1xmemref<?x$T>>, index) -> (memref<?x$T>, index), sym_name = "pir_tape_put_$K", sym_visibility = "private"}> ({
^bb0(%counter: memref<1xindex>, %buffer: memref<1xmemref<?x$T>>, %more: index):
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %count = "memref.load"(%counter, %zero) : (memref<1xindex>, index) -> index
  %values = "memref.load"(%buffer, %zero) : (memref<1xmemref<?x$T>>, index) -> memref<?x$T>
  %next = "arith.addi"(%count, %more) : (index, index) -> index
  "memref.store"(%next, %counter, %zero) : (index, memref<1xindex>, index) -> ()
  "func.return"(%values, %count) : (memref<?x$T>, index) -> ()
}) {llvm.linkage = #llvm.linkage<internal>} : () -> ()
"func.func"() <{function_type = (memref<1xindex>, memref<1xmemref<?x$T>>, index) -> (), sym_name = "pir_tape_reserve_$K", sym_visibility = "private"}> ({
^bb0(%counter: memref<1xindex>, %buffer: memref<1xmemref<?x$T>>, %more: index):
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %count = "memref.load"(%counter, %zero) : (memref<1xindex>, index) -> index
  %old = "memref.load"(%buffer, %zero) : (memref<1xmemref<?x$T>>, index) -> memref<?x$T>
  %room = "memref.dim"(%old, %zero) : (memref<?x$T>, index) -> index
  %next = "arith.addi"(%count, %more) : (index, index) -> index
  %full = "arith.cmpi"(%next, %room) <{predicate = 4 : i64}> : (index, index) -> i1
  "scf.if"(%full) ({
    %grown = "func.call"(%old, %next) <{callee = @pir_tape_grow_$K}> : (memref<?x$T>, index) -> memref<?x$T>
    "memref.store"(%grown, %buffer, %zero) : (memref<?x$T>, memref<1xmemref<?x$T>>, index) -> ()
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  "func.return"() : () -> ()
}) {llvm.linkage = #llvm.linkage<internal>} : () -> ()
"func.func"() <{function_type = (memref<1xindex>, memref<1xmemref<?x$T>>, index) -> (memref<?x$T>, index), sym_name = "pir_tape_pop_$K", sym_visibility = "private"}> ({
^bb0(%counter: memref<1xindex>, %buffer: memref<1xmemref<?x$T>>, %less: index):
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %count = "memref.load"(%counter, %zero) : (memref<1xindex>, index) -> index
  %values = "memref.load"(%buffer, %zero) : (memref<1xmemref<?x$T>>, index) -> memref<?x$T>
  %last = "arith.subi"(%count, %less) : (index, index) -> index
  "memref.store"(%last, %counter, %zero) : (index, memref<1xindex>, index) -> ()
  "func.return"(%values, %last) : (memref<?x$T>, index) -> ()
}) {llvm.linkage = #llvm.linkage<internal>} : () -> ()
"func.func"() <{function_type = (memref<?x$T>, index) -> memref<?x$T>, sym_name = "pir_tape_grow_$K", sym_visibility = "private"}> ({
^bb0(%old: memref<?x$T>, %least: index):
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %one = "arith.constant"() <{value = 1 : index}> : () -> index
  %count = "memref.dim"(%old, %zero) : (memref<?x$T>, index) -> index
  %more = "arith.constant"() <{value = 4 : index}> : () -> index
  %larger = "arith.muli"(%count, %more) : (index, index) -> index
  %room = "arith.maxsi"(%larger, %least) : (index, index) -> index
  %new = "memref.alloc"(%room) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?x$T>
  "scf.for"(%zero, %count, %one) ({
  ^bb0(%at: index):
    %value = "memref.load"(%old, %at) : (memref<?x$T>, index) -> $T
    "memref.store"(%value, %new, %at) : ($T, memref<?x$T>, index) -> ()
    "scf.yield"() : () -> ()
  }) : (index, index, index) -> ()
  "func.call"(%old) <{callee = @pir_tape_free_$K}> : (memref<?x$T>) -> ()
  "func.return"(%new) : (memref<?x$T>) -> ()
}) {llvm.linkage = #llvm.linkage<internal>} : () -> ()
"func.func"() <{function_type = (memref<?x$T>) -> (), sym_name = "pir_tape_free_$K", sym_visibility = "private"}> ({
^bb0(%values: memref<?x$T>):
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %first = "arith.constant"() <{value = $ROOM : index}> : () -> index
  %count = "memref.dim"(%values, %zero) : (memref<?x$T>, index) -> index
  %grown = "arith.cmpi"(%count, %first) <{predicate = 4 : i64}> : (index, index) -> i1
  "scf.if"(%grown) ({
    "memref.dealloc"(%values) : (memref<?x$T>) -> ()
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  "func.return"() : () -> ()
}) {llvm.linkage = #llvm.linkage<internal>} : () -> ()
