module attributes {gpu.container_module, dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<index, 64 : i32>, #dlti.dl_entry<"dlti.endianness", "little">>} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<?xf32>) workgroup(%s: memref<32xf32, 3>) kernel attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
      %t = gpu.thread_id x
      %v = memref.load %a[%t] : memref<?xf32>
      memref.store %v, %s[%t] : memref<32xf32, 3>
      gpu.barrier
      gpu.return
    }
  }
  func.func @host(%m: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<?xf32>)
    %tok = async.execute {
      async.yield
    }
    async.await %tok : !async.token
    return
  }
  llvm.func @llvmf(%p: !llvm.ptr {llvm.noalias}, %n: i64) -> !llvm.struct<(i32, ptr)> attributes {passthrough = ["nounwind", ["key", "value"]]} {
    %0 = llvm.getelementptr inbounds %p[%n, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<"named", (i32, array<4 x i8>, f32)>
    %1 = llvm.load %0 {alignment = 4 : i64} : !llvm.ptr -> i32
    %2 = llvm.mlir.undef : !llvm.struct<(i32, ptr)>
    %3 = llvm.insertvalue %1, %2[0] : !llvm.struct<(i32, ptr)>
    llvm.return %3 : !llvm.struct<(i32, ptr)>
  }
}
