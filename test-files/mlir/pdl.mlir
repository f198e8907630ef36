module @patterns {
  pdl.pattern @a : benefit(10) attributes {tag} {
    %t = pdl.type
    %ts = pdl.types : [i32, tensor<?xf32>]
    %attr = pdl.attribute = dense<1> : tensor<2xi8>
    %attr2 = pdl.attribute : %t
    %ops = pdl.operands : %ts
    %o = pdl.operation "test.op" (%ops : !pdl.range<value>) {"a" = %attr, "b.c" = %attr2} -> (%ts : !pdl.range<type>)
    %r = pdl.result 0 of %o
    pdl.apply_native_constraint "c" (%r, %o : !pdl.value, !pdl.operation)
    pdl.rewrite %o {
      %n = pdl.operation "test.new" (%r : !pdl.value)
      %x:2 = pdl.apply_native_rewrite "w" (%n : !pdl.operation) : !pdl.operation, !pdl.range<operation>
      pdl.replace %o with %n
    }
  }
}
module @interp {
  pdl_interp.func @matcher(%root: !pdl.operation) {
    %0 = pdl_interp.get_operand 0 of %root
    pdl_interp.switch_operation_name of %root to ["a.b", "c.d"](^a, ^b) -> ^end
  ^a:
    pdl_interp.switch_operand_count of %root to dense<[1, 2]> : vector<2xi32>(^b, ^end) -> ^end
  ^b:
    %t = pdl_interp.get_value_type of %0 : !pdl.type
    pdl_interp.switch_type %t to [i32, f32](^a, ^end) -> ^end
  ^end:
    pdl_interp.record_match @rewriters::@r(%root : !pdl.operation) : benefit(1), generatedOps(["x.y"]), loc([%root]), root("a.b") -> ^fin
  ^fin:
    pdl_interp.finalize
  }
  module @rewriters {
    pdl_interp.func @r(%root: !pdl.operation) {
      pdl_interp.erase %root
      pdl_interp.finalize
    }
  }
}
