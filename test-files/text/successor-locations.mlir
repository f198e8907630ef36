// A location behind the successors of a branch is none of the types of their operands.
// RUN: pir-opt --verify-roundtrip --print-generic %s | FileCheck %s

func.func @f(%a: i32) -> i32 {
  // CHECK: "cf.br"(%a)[^bb1] : (i32) -> () loc("here"("f":1:2))
  cf.br ^bb1(%a : i32) loc("here"("f":1:2))
^bb1(%y: i32):
  return %y : i32
}
