// RUN: pir-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: pir-opt --allow-unregistered-dialect %s | pir-opt --allow-unregistered-dialect - | FileCheck %s
// A comment before a label or a definition of an alias goes to the next operation.

// about the alias
#map = affine_map<(d0) -> (d0)>
// about the function
func.func @f(%c: i1) {
  "cf.cond_br"(%c)[^a, ^b] : (i1) -> ()
// about a
^a:
  // in a
  "cf.br"()[^b] : () -> ()
^b:
  func.return ()
}
// about nothing
#loc = loc("x")
// at the end

// CHECK:      // about the alias
// CHECK-NEXT: // about the function
// CHECK-NEXT: func.func @f
// CHECK:      ^a:
// CHECK-NEXT:   // about a
// CHECK-NEXT:   // in a
// CHECK-NEXT:   cf.br ^b
// CHECK:      }
// CHECK-NEXT: // about nothing
// CHECK-NEXT: // at the end
