// Gradients of a loop, in dataflow form, on one, two and three devices, are those of the structured program.
//
// RUN: pir-opt --pass=backward %{test-files}/autodiff/loops/lstm.pir | pir-run - --input n=3 --input x=rand --input w=rand \
// RUN:   --input h=rand --input c=rand | sort > %t.structured
// RUN: pir-opt --pass=backward,lower-to-dataflow %{test-files}/autodiff/loops/lstm.pir | pir-run --dataflow - --input n=3 \
// RUN:   --input x=rand --input w=rand --input h=rand --input c=rand | sort > %t.one
// RUN: diff %t.structured %t.one
// RUN: pir-opt --pass='backward,lower-to-dataflow,partition{devices=2}' %{test-files}/autodiff/loops/lstm.pir \
// RUN:   | pir-run --dataflow - --input n=3 --input x=rand --input w=rand --input h=rand --input c=rand | sort > %t.two
// RUN: diff %t.structured %t.two
// RUN: pir-opt --pass=backward %{test-files}/autodiff/loops/lstm.pir | pir-run --dataflow=3 --schedule-seed 5 - --input n=3 \
// RUN:   --input x=rand --input w=rand --input h=rand --input c=rand | sort > %t.three
// RUN: diff %t.structured %t.three
// RUN: FileCheck %s < %t.three
//
// CHECK: c_grad =
// CHECK: w_grad =
