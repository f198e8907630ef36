// RUN: pir-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: pir-opt --allow-unregistered-dialect %s | pir-opt --allow-unregistered-dialect - | FileCheck %s

// A value that is used before it is defined, deep inside of what stands in front, has a name there.
// CHECK: "test.use"(%8) : (i64) -> ()
// CHECK: %8 = "test.def"() : () -> i64
"test.g"() ({
  "test.g"() ({
    "test.g"() ({
      "test.use"(%8) : (i64) -> ()
    }) : () -> ()
  }) : () -> ()
  %8 = "test.def"() : () -> i64
}) : () -> ()
// Its own result as well.
// CHECK: %own = "test.g"() ({
// CHECK-NEXT: "test.use"(%own) : (i64) -> ()
"test.g"() ({
  %own = "test.g"() ({
    "test.use"(%own) : (i64) -> ()
  }) : () -> i64
}) : () -> ()
