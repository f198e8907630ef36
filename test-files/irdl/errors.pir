// Errors in an IRDL file are reported at their locations.
// RUN: not pir-opt --irdl-file %S/inputs/bad.irdl %s 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: bad.irdl:7:11: error: `irdl.c_pred` is a condition in C++, which cannot be checked here [dialect-file]
// BAD-NEXT: help: use the other constraints, or `irdl.any`
// BAD-NEXT: bad.irdl:11:11: error: there is no type or attribute `!builtin.tensr`
// BAD-NEXT: help: did you mean `!builtin.tensor`?
// BAD-NEXT: bad.irdl:14:11: error: `irdl.anyof` is not a supported operation of IRDL
// BAD-NEXT: help: did you mean `irdl.any_of`?
// BAD-NEXT: bad.irdl:18:6: error: `variadicity` has 2 entries for 1 values: `#irdl<variadicity_array[ single,  variadic]>`
// BAD-NEXT: bad.irdl:22:6: error: `irdl.operands` is given twice
// BAD-NEXT: bad.irdl:26:4: error: `with operands` is not a valid name: expected letters, digits and `_`
// BAD-NEXT: bad.irdl:29:6: error: `irdl.operands` is not allowed in an `irdl.type`
// BAD-NEXT: bad.irdl:31:4: error: `irdl.other` is not allowed in an `irdl.dialect`
// BAD-NEXT: bad.irdl:33:2: error: expected `irdl.dialect`, found `test.other`

// RUN: not pir-opt --irdl-file %S/inputs/references.irdl %s 2>&1 | FileCheck %s --check-prefix=REFERENCES
// REFERENCES: references.irdl:6:4: error: `irdl.base` in {{.*}}references.irdl:7:11 refers to `@bad::@bx`, which is not a type or attribute of this dialect
// REFERENCES-NEXT: help: did you mean `@bad::@box`?
// REFERENCES-NEXT: references.irdl:9:4: error: `irdl.parametric` in {{.*}}references.irdl:10:11 passes 0 parameters to `!bad.box`, which takes 1

// RUN: not pir-opt --irdl-file %S/inputs/known.irdl %s 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: known.irdl:1:2: error: the dialect `pd` is already registered

// RUN: not pir-opt --load-dialect %S/inputs/custom.irdl %s 2>&1 | FileCheck %s --check-prefix=CUSTOM
// CUSTOM: custom.irdl:1:1: error: `irdl.dialect` uses the custom assembly of the dialect `irdl`, which cannot be parsed
// CUSTOM-NEXT: help: `mlir-opt --mlir-print-op-generic FILE` prints the generic form, which is read here
