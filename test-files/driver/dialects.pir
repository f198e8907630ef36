// RUN: pir-opt --show-dialects | FileCheck %s
// CHECK: Available Dialects: affine,arith,{{.*}}builtin,{{.*}}scf,{{.*}}vector
