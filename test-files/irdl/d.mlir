// A dialect with all that IRDL has; tools/mlir/record-irdl prints it in generic form.
irdl.dialect @d {
  irdl.type @box {
    %0 = irdl.is f32
    %1 = irdl.is f64
    %2 = irdl.any_of(%0, %1)
    irdl.parameters(%2)
  }
  irdl.type @unit
  irdl.type @nest {
    %0 = irdl.any
    irdl.parameters(%0, %0)
  }
  irdl.attribute @pair {
    %0 = irdl.any
    %1 = irdl.base "#builtin.integer"
    irdl.parameters(%0, %1)
  }
  irdl.operation @nothing
  irdl.operation @same {
    %0 = irdl.any
    irdl.operands(%0, %0)
    irdl.results(%0)
  }
  irdl.operation @list {
    %0 = irdl.any
    %1 = irdl.is i32
    irdl.operands(%1, variadic %0)
    irdl.results(optional %0)
  }
  irdl.operation @middle {
    %0 = irdl.is i32
    %1 = irdl.is i64
    irdl.operands(%0, optional %1, %0)
  }
  irdl.operation @two {
    %0 = irdl.is i32
    %1 = irdl.is i64
    irdl.operands(variadic %0, optional %1)
  }
  irdl.operation @results {
    %0 = irdl.is i32
    %1 = irdl.is i64
    irdl.results(variadic %0, variadic %1)
  }
  irdl.operation @unbox {
    %0 = irdl.any
    %1 = irdl.parametric @d::@box<%0>
    irdl.operands(%1)
    irdl.results(%0)
  }
  irdl.operation @base {
    %0 = irdl.base @d::@box
    %1 = irdl.base "!builtin.tensor"
    irdl.operands(%0, %1)
  }
  irdl.operation @attributes {
    %0 = irdl.is 3 : i32
    %1 = irdl.any
    irdl.attributes { "a" = %0, "b" = %1 }
  }
  irdl.operation @of_pair {
    %0 = irdl.base @d::@pair
    irdl.attributes { "p" = %0 }
  }
  irdl.operation @type_of {
    %0 = irdl.any
    irdl.operands(%0)
    irdl.attributes { "type" = %0 }
  }
  irdl.operation @all {
    %0 = irdl.is i32
    %1 = irdl.is f32
    %2 = irdl.is f64
    %3 = irdl.any_of(%0, %1)
    %4 = irdl.any_of(%1, %2)
    %5 = irdl.all_of(%3, %4)
    irdl.operands(%5)
  }
  irdl.operation @either {
    %0 = irdl.any
    %1 = irdl.parametric @d::@nest<%0, %0>
    %2 = irdl.is i32
    %3 = irdl.any_of(%1, %2)
    irdl.operands(%3, %0)
  }
  irdl.operation @regions {
    %0 = irdl.is i32
    %1 = irdl.region
    %2 = irdl.region(%0)
    %3 = irdl.region with size 2
    %4 = irdl.region()
    irdl.regions(%1, %2, %3, %4)
  }
  irdl.operation @bases {
    %0 = irdl.base "#builtin.float"
    %1 = irdl.base "#builtin.string"
    %2 = irdl.base "#builtin.array"
    %3 = irdl.base "#builtin.dense_array"
    %4 = irdl.base "#builtin.type"
    %5 = irdl.base "#builtin.symbol_ref"
    irdl.attributes { "f" = %0, "s" = %1, "l" = %2, "n" = %3, "t" = %4, "r" = %5 }
  }
  irdl.operation @types {
    %0 = irdl.base "!builtin.f32"
    %1 = irdl.base "!builtin.integer"
    %2 = irdl.base "!builtin.memref"
    %3 = irdl.base "!builtin.unranked_tensor"
    %4 = irdl.base "!builtin.function"
    irdl.operands(%0, %1, %2, %3, %4)
  }
}
irdl.dialect @e {
  irdl.operation @use {
    %0 = irdl.is f32
    %1 = irdl.parametric @d::@box<%0>
    irdl.operands(%1)
  }
}
