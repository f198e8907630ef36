spirv.module @m Physical64 OpenCL requires #spirv.vce<v1.4, [Kernel, Addresses, Float16, Matrix], [SPV_KHR_16bit_storage]> attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.0, [Shader], [SPV_KHR_storage_buffer_storage_class]>, api=Vulkan, Unknown:DiscreteGPU, #spirv.resource_limits<max_compute_workgroup_size = [128, 32, 4], cooperative_matrix_properties_khr = []>>} {
  spirv.SpecConstant @sc spec_id(5) = 42 : i32
  spirv.SpecConstantComposite @scc (@sc, @sc) : !spirv.array<2 x i32>
  spirv.GlobalVariable @id built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @s : !spirv.ptr<!spirv.struct<named, (i32 [0, NonWritable], !spirv.rtarray<f32, stride=4> [4])>, StorageBuffer>
  spirv.GlobalVariable @img bind(1, 0) : !spirv.ptr<!spirv.sampled_image<!spirv.image<f32, Dim2D, NoDepth, NonArrayed, SingleSampled, NeedSampler, Unknown>>, UniformConstant>
  spirv.func @f(%a: f32, %v: vector<4xf32>, %mat: !spirv.matrix<3 x vector<3xf32>>) -> f32 "Inline|Pure" {
    %0 = spirv.Constant dense<[1, 2, 3]> : tensor<3xi32> : !spirv.array<3 x i32>
    %1 = spirv.Undef : !spirv.struct<(f32, i1)>
    %2 = spirv.CompositeExtract %1[0 : i32] : !spirv.struct<(f32, i1)>
    %p = spirv.Variable : !spirv.ptr<f32, Function>
    spirv.Store "Function" %p, %a ["Volatile|Aligned", 4] : f32
    %t = spirv.Constant true
    spirv.mlir.selection control(Flatten) {
      spirv.BranchConditional %t [5, 10], ^then, ^merge
    ^then:
      spirv.Branch ^merge
    ^merge:
      spirv.mlir.merge
    }
    spirv.mlir.loop control(Unroll) {
      spirv.Branch ^header
    ^header:
      spirv.BranchConditional %t, ^body, ^merge
    ^body:
      spirv.Branch ^continue
    ^continue:
      spirv.Branch ^header
    ^merge:
      spirv.mlir.merge
    }
    spirv.ControlBarrier <Workgroup>, <Device>, <Acquire|UniformMemory>
    spirv.ReturnValue %2 : f32
  }
  spirv.EntryPoint "Kernel" @f, @id
  spirv.ExecutionMode @f "LocalSize", 8, 4, 1
}
