// What is put at the start of a function that makes a tape of values of the type $T: the returned values are its counter and its buffer.
"func.func"() <{function_type = () -> (memref<1xindex>, memref<1xmemref<?x$T>>), sym_name = "pir_tape_frame", sym_visibility = "private"}> ({
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %count = "memref.alloca"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<1xindex>
  %tape = "memref.alloca"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<1xmemref<?x$T>>
  %room = "memref.alloca"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<$ROOMx$T>
  %first = "memref.cast"(%room) : (memref<$ROOMx$T>) -> memref<?x$T>
  "memref.store"(%zero, %count, %zero) : (index, memref<1xindex>, index) -> ()
  "memref.store"(%first, %tape, %zero) : (memref<?x$T>, memref<1xmemref<?x$T>>, index) -> ()
  "func.return"(%count, %tape) : (memref<1xindex>, memref<1xmemref<?x$T>>) -> ()
}) : () -> ()
