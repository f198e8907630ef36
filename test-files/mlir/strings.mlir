irdl.dialect @testd {
  irdl.type @t {
    %0 = irdl.any
    irdl.parameters(%0)
  }
}
module attributes {transform.with_named_sequence} {
transform.named_sequence @main(%arg0: !transform.any_op {transform.readonly}) {
  transform.yield
}
}
func.func @strs() attributes {a = "tab\09nl\0Aquote\22back\\ nul\00 utf8 äöü €", b = "", c = "#not_an_alias !neither // no comment", e = @"weird symbol \22"} { return }
