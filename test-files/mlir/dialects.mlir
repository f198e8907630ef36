#loc0 = loc(unknown)
func.func @q(%a: tensor<4x!quant.uniform<i8:f32, 2.0:10>>, %b: tensor<4x!quant.uniform<i8<-127:127>:f32:0, {2.0:1, 3.0:-2, 1.0, 1.0}>>) { return }
func.func @shape(%s: !shape.shape, %t: tensor<?x?xf32>) -> !shape.witness {
  %0 = shape.shape_of %t : tensor<?x?xf32> -> !shape.shape
  %w = shape.cstr_broadcastable %s, %0 : !shape.shape, !shape.shape
  return %w : !shape.witness
}
pdl.pattern @p : benefit(1) {
  %type = pdl.type : i32
  %x = pdl.operand
  %root = pdl.operation "foo.op" (%x : !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root with "rw"
}
