// RUN: pir-opt --pass=stack-locals %s | FileCheck %s --check-prefix=STACK
// RUN: pir-opt --pass=stack-locals,build-backward %s | FileCheck %s --check-prefix=BUILD
// RUN: pir-opt --pass=stack-locals,build-backward,prune-stacks %s | FileCheck %s --check-prefix=PRUNE
// The branch of the specification's section 2.3.1, with branches that depend on an input.
%x = pd.data {name = "x", shape = [1], dtype = f32}
%y = pd.data {name = "y", shape = [1], dtype = f32, stop_gradient = true}
%cond = pd.less_than(%x, %y)
%ret1, %ret2 = pd.if(%cond) {
      %1 = pd.tanh(%x)
      %2 = pd.full {shape = [1], value = 2.0, dtype = f32}
      %3 = pd.multiply(%1, %2)
      cf.yield(%1, %3)
    } else {
      %1 = pd.full {shape = [1], value = 3.0, dtype = f32}
      %2 = pd.add(%x, %1)
      cf.yield(%1, %2)
    }
%sum = pd.add(%ret1, %ret2)
pd.fetch (%sum) {name = "sum"}

// Step 1.
// STACK: %ret1, %ret2, %stack = pd.if (%cond) init {
// STACK-NEXT: %stack = cf.create_stack () : cf.stack
// STACK-NEXT: cf.yield (%stack)
// STACK-NEXT: } then (%stack: cf.stack) {
// STACK-NEXT: %1 = pd.tanh (%x)
// STACK-NEXT: %2 = pd.full
// STACK-NEXT: %3 = pd.multiply (%1, %2)
// STACK-NEXT: cf.push_back (%stack, %1)
// STACK-NEXT: cf.push_back (%stack, %2)
// STACK-NEXT: cf.push_back (%stack, %3)
// STACK-NEXT: cf.yield (%1, %3, %stack)
// STACK-NEXT: } else (%stack: cf.stack) {
// STACK-NEXT: %1 = pd.full
// STACK-NEXT: %2 = pd.add (%x, %1)
// STACK-NEXT: cf.push_back (%stack, %1)
// STACK-NEXT: cf.push_back (%stack, %2)
// STACK-NEXT: cf.yield (%1, %2, %stack)
// STACK-NEXT: } : tensor<1xf32>, tensor<1xf32>, cf.stack

// Step 2: the condition decides again; what is pushed last is popped first.
// BUILD: [[X:%.*]] = pd.if_grad (%cond) then {
// BUILD-NEXT: %3 = cf.pop_back (%stack)
// BUILD-NEXT: %2 = cf.pop_back (%stack)
// BUILD-NEXT: %1 = cf.pop_back (%stack)
// BUILD-NEXT: [[G:%.*]] = pd.multiply ([[SEED:%.*]], %2)
// BUILD-NEXT: [[H:%.*]] = pd.add ([[SEED]], [[G]])
// BUILD-NEXT: [[R:%.*]] = pd.tanh_grad (%1, [[H]])
// BUILD-NEXT: cf.yield ([[R]])
// BUILD-NEXT: } else {
// BUILD-NEXT: %2 = cf.pop_back (%stack)
// BUILD-NEXT: %1 = cf.pop_back (%stack)
// BUILD-NEXT: cf.yield ([[SEED]])
// BUILD-NEXT: } : tensor<1xf32>
// BUILD-NEXT: pd.fetch ([[X]]) {name = "x_grad"}

// Step 3: the result of tanh stays; the constant is made anew.
// PRUNE: } then (%stack: cf.stack) {
// PRUNE: cf.push_back (%stack, %1)
// PRUNE-NEXT: cf.yield (%1, %3, %stack)
// PRUNE: } else (%stack: cf.stack) {
// PRUNE-NOT: cf.push_back
// PRUNE: pd.if_grad (%cond) then {
// PRUNE-NEXT: %2 = pd.full {shape = [1], value = 2.0, dtype = f32}
// PRUNE-NEXT: %1 = cf.pop_back (%stack)
// PRUNE-NOT: cf.pop_back
// PRUNE: pd.fetch
