#di_basic = #llvm.di_basic_type<tag = DW_TAG_base_type, name = "int", sizeInBits = 32, encoding = DW_ATE_signed>
#di_file = #llvm.di_file<"a.c" in "/tmp/x">
#di_cu = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C, file = #di_file, producer = "p", isOptimized = true, emissionKind = Full>
#di_self = #llvm.di_composite_type<tag = DW_TAG_null, recId = distinct[1]<>>
#di_ptr = #llvm.di_derived_type<tag = DW_TAG_pointer_type, baseType = #di_self, sizeInBits = 64>
#di_rec = #llvm.di_composite_type<tag = DW_TAG_structure_type, recId = distinct[1]<>, name = "node", file = #di_file, line = 3, elements = #llvm.di_derived_type<tag = DW_TAG_member, name = "next", baseType = #di_ptr>>
#di_sub_t = #llvm.di_subroutine_type<callingConvention = DW_CC_normal, types = #di_basic, #di_rec>
#di_sub = #llvm.di_subprogram<id = distinct[2]<>, compileUnit = #di_cu, scope = #di_file, name = "f", linkageName = "f", file = #di_file, line = 1, scopeLine = 1, subprogramFlags = "Definition|Optimized", type = #di_sub_t>
#di_var = #llvm.di_local_variable<scope = #di_sub, name = "x", file = #di_file, line = 2, arg = 1, type = #di_basic>
#tbaa_root = #llvm.tbaa_root<id = "Simple C/C++ TBAA">
#tbaa_char = #llvm.tbaa_type_desc<id = "omnipotent char", members = {<#tbaa_root, 0>}>
#tag = #llvm.tbaa_tag<base_type = #tbaa_char, access_type = #tbaa_char, offset = 0>
#domain = #llvm.alias_scope_domain<id = distinct[3]<>, description = "d">
#scope = #llvm.alias_scope<id = distinct[4]<>, domain = #domain>
#loop = #llvm.loop_annotation<disableNonforced = true, vectorize = <disable = false, width = 4 : i32>, unroll = <full = true>, mustProgress = true>
module attributes {llvm.data_layout = "e-m:e-p270:32:32-i64:64", llvm.target_triple = "x86_64-unknown-linux-gnu", dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<f128, dense<128> : vector<2xi64>>, #dlti.dl_entry<!llvm.ptr<270>, dense<[32, 32, 32, 64]> : vector<4xi64>>>} {
  llvm.mlir.global internal constant @str("hello\00\FF\0A") {addr_space = 0 : i32, dso_local} : !llvm.array<8 x i8>
  llvm.mlir.global external thread_local @g(42 : i64) {section = ".data", alignment = 8 : i64} : i64
  llvm.mlir.global linkonce_odr @init() comdat(@c::@any) : !llvm.struct<"a.b c", packed (i32, ptr<3>)> {
    %0 = llvm.mlir.zero : !llvm.struct<"a.b c", packed (i32, ptr<3>)>
    llvm.return %0 : !llvm.struct<"a.b c", packed (i32, ptr<3>)>
  }
  llvm.comdat @c { llvm.comdat_selector @any any }
  llvm.mlir.global_ctors {ctors = [@f], priorities = [0 : i32]}
  llvm.func @varargs(!llvm.ptr {llvm.byval = !llvm.struct<(i32)>, llvm.align = 8 : i64}, ...) -> (i32 {llvm.zeroext})
  llvm.func @opaque(!llvm.struct<"op", opaque>, !llvm.vec<4 x ptr>, !llvm.vec<? x 4 x i32>, !llvm.target<"spirv.Image", i32, 0, 1>, !llvm.metadata, !llvm.token)
  llvm.func @f() attributes {memory = #llvm.memory_effects<other = none, argMem = readwrite, inaccessibleMem = none>, frame_pointer = #llvm.framePointerKind<"non-leaf">, target_cpu = "x", target_features = #llvm.target_features<["+a", "-b"]>, vscale_range = #llvm.vscale_range<minRange = 1 : i32, maxRange = 16 : i32>, personality = @varargs} {
    %c = llvm.mlir.constant(1 : i32) : i32 loc(fused<#di_sub>["a.c":1:1])
    %a = llvm.alloca %c x f80 {alignment = 16 : i64} : (i32) -> !llvm.ptr
    llvm.intr.dbg.declare #di_var #llvm.di_expression<[DW_OP_deref, DW_OP_LLVM_convert(32, DW_ATE_signed)]> = %a : !llvm.ptr
    %v = llvm.load volatile %a atomic syncscope("agent") acquire {alignment = 4 : i64, tbaa = [#tag], alias_scopes = [#scope]} : !llvm.ptr -> i32
    %x = llvm.cmpxchg %a, %c, %v acq_rel monotonic : !llvm.ptr, i32
    %as = llvm.inline_asm has_side_effects asm_dialect = intel operand_attrs = [{elementtype = i32}, {}] "mov $0, $1", "=r,r,~{flags}" %c, %v : (i32, i32) -> i32
    %call = llvm.call @varargs(%a, %c) vararg(!llvm.func<i32 (ptr, ...)>) {fastmathFlags = #llvm.fastmath<nnan, ninf>, branch_weights = array<i32: 1, 2>} : (!llvm.ptr, i32) -> i32
    %o = llvm.add %c, %v overflow<nsw, nuw> : i32
    llvm.switch %c : i32, ^d [ 1: ^one(%o : i32), -2: ^one(%v : i32) ] {branch_weights = array<i32: 1, 2, 3>}
  ^one(%y: i32):
    llvm.br ^d {loop_annotation = #loop}
  ^d:
    %i = llvm.invoke @g2(%c) to ^ok unwind ^bad : (i32) -> i32
  ^bad:
    %lp = llvm.landingpad cleanup : !llvm.struct<(ptr, i32)>
    llvm.resume %lp : !llvm.struct<(ptr, i32)>
  ^ok:
    llvm.return
  }
  llvm.func fastcc @g2(i32) -> i32 attributes {sym_visibility = "private"}
}
