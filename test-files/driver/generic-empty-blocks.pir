// RUN: pir-opt --emit=generic %s | FileCheck %s
// RUN: pir-opt --emit=generic %s | pir-opt | FileCheck %s --check-prefix=BACK
// Braces with nothing between them would be a region without blocks when they are read again.

// CHECK:      "df.graph"() ({
// CHECK-NEXT: ^bb0:
// CHECK-NEXT: }) : () -> ()
// CHECK-NEXT: "builtin.module"() <{sym_name = "m"}> ({
// CHECK-NEXT: ^bb0:
// CHECK-NEXT: }) : () -> ()
// BACK:      df.graph {
// BACK-NEXT: }
// BACK-NEXT: builtin.module @m {
// BACK-NEXT: }
df.graph {
}
builtin.module @m {
}
