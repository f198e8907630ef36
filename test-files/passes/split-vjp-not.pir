// RUN: not pir-opt --pass=split-vjp %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not pir-opt --pass=backward{seed=args},split-vjp %s 2>&1 | FileCheck %s --check-prefix=STACK
func.func @main(%x: tensor<2xf64>, %n: tensor<i64>) -> tensor<2xf64> {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
    %go = pd.less_than (%i, %n) : tensor<i1>
    cf.cond_yield (%go, %i, %a)
  } body (%i: tensor<i64>, %a: tensor<2xf64>) {
    %t = pd.sin (%a) : tensor<2xf64>
    %next = pd.add (%i, %one) : tensor<i64>
    cf.yield (%next, %t)
  } : tensor<i64>, tensor<2xf64>
  func.return (%y)
}

// NONE: error: there is no function that takes cotangents [nothing-to-split]
// NONE: help: run `backward{seed=args}` first

// STACK: error: @main cannot be split: a value of type `cf.stack` would be a residual: defined here [residual-type]
// STACK: help: run `lower-stacks` first
