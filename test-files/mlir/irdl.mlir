module {
  irdl.dialect @cmath {
    irdl.type @complex {
      %0 = irdl.is f32
      %1 = irdl.is f64
      %2 = irdl.any_of(%0, %1)
      irdl.parameters(%2)
    }
    irdl.attribute @pair {
      %0 = irdl.any
      %1 = irdl.base "#builtin.integer"
      irdl.parameters(%0, %1)
    }
    irdl.operation @norm {
      %0 = irdl.any
      %1 = irdl.parametric @cmath::@complex<%0>
      %c = irdl.c_pred "::llvm::isa<::mlir::IntegerAttr>($_self)"
      irdl.operands(%1)
      irdl.results(single %0, optional %0, variadic %0)
      irdl.attributes {"attr" = %c}
      %r = irdl.region(%0) with size 1
      irdl.regions(%r)
    }
  }
}
