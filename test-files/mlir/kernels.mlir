module attributes {gpu.container_module} {
  gpu.module @k <#gpu.select_object<1>> [#nvvm.target<chip = "sm_90", O = 3, link = ["a"]>, #rocdl.target<chip = "gfx90a", flags = {fast}>, #spirv.target_env<#spirv.vce<v1.0, [Shader], []>, #spirv.resource_limits<>>] {
    gpu.func @f(%x: f32, %m: memref<4xf32>) private(%p: memref<2xf32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 1, 2, 3>} {
      %0 = gpu.block_dim x upper_bound 64
      %r = gpu.all_reduce add %x uniform {} : (f32) -> f32
      %r2 = gpu.subgroup_reduce maximumf %x : (f32) -> f32
      %w = arith.constant 32 : i32
      %s, %ok = gpu.shuffle xor %x, %w, %w : f32
      gpu.barrier
      gpu.printf "%d\n" %w : i32
      gpu.return
    }
  }
  gpu.binary @bin <#gpu.select_object<#nvvm.target>> [#gpu.object<#nvvm.target, properties = {O = 2 : i32}, "\00\FF bin">, #gpu.object<#rocdl.target, assembly = "text">]
  func.func @host(%n: index, %m: memref<4xf32>) {
    %t0 = gpu.wait async
    %a, %t1 = gpu.alloc async [%t0] host_shared () {x} : memref<13xf32, 1>
    %f = arith.constant 1.0 : f32
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
      gpu.terminator
    }
    %t2 = gpu.launch_func async [%t1] @k::@f clusters in (%n, %n, %n) blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%f : f32, %m : memref<4xf32>)

    return
  }
  func.func @nv(%b: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, %d: !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, 3>, swizzle = swizzle_128b, l2promo = none, oob = nan, interleave = none>, %v: vector<4x2xf16>, %u: vector<2x2xf16>) -> vector<2x2xf16> {
    %0 = nvgpu.mma.sync (%v, %u, %u) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    return %0 : vector<2x2xf16>
  }
  llvm.func @nvvm(%a: i32, %p: !llvm.ptr<3>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 1, 2, 3>} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = nvvm.shfl.sync bfly %a, %a, %a, %a : i32 -> i32
    nvvm.barrier0
    llvm.return
  }
}
