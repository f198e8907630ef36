// RUN: pir-opt --pass=stack-locals %s | FileCheck %s --check-prefix=STACK
// RUN: pir-opt --pass=stack-locals,build-backward %s | FileCheck %s --check-prefix=BUILD
// RUN: pir-opt --pass=stack-locals,build-backward,prune-stacks %s | FileCheck %s --check-prefix=PRUNE
// The loop of the specification's section 2.3.2, with floats: integers have no derivative.
%i = pd.data {name = "i", shape = [1], dtype = f32} : tensor<1xf32>
%1 = pd.data {name = "step", shape = [1], dtype = f32} : tensor<1xf32>
%ten = pd.full {shape = [1], value = 10.0, dtype = f32} : tensor<1xf32>
%i_2 = pd.while(%i)
   cond(%arg1) {
     %cond = pd.less_than(%arg1, %ten)
     cf.cond_yield (%cond, %arg1)
   }
   body(%arg2){
     %i_3 = pd.multiply(%arg2, %1)
     cf.yield (%i_3)
   }
pd.fetch (%i_2) {name = "i_2"}

// Step 1: an init region makes a stack, every region pushes its locals in order of definition.
// STACK: %i_2, %stack = pd.while (%i) init (%arg1: tensor<1xf32>) {
// STACK-NEXT: %stack = cf.create_stack () : cf.stack
// STACK-NEXT: cf.yield (%arg1, %stack)
// STACK-NEXT: } cond (%arg1: tensor<1xf32>, %stack: cf.stack) {
// STACK-NEXT: %cond = pd.less_than (%arg1, %ten) : tensor<1xi1>
// STACK-NEXT: cf.push_back (%stack, %arg1)
// STACK-NEXT: cf.push_back (%stack, %cond)
// STACK-NEXT: cf.cond_yield (%cond, %arg1, %stack)
// STACK-NEXT: } body (%arg2: tensor<1xf32>, %stack: cf.stack) {
// STACK-NEXT: %i_3 = pd.multiply (%arg2, %1) : tensor<1xf32>
// STACK-NEXT: cf.push_back (%stack, %arg2)
// STACK-NEXT: cf.push_back (%stack, %i_3)
// STACK-NEXT: cf.yield (%i_3, %stack)
// STACK-NEXT: } : tensor<1xf32>, cf.stack

// Step 2: the dual pops in the reverse order and goes on while the stack is not empty; the accumulator is carried.
// BUILD: [[SEED:%.*]] = pd.full {shape = [1], value = 1.0, dtype = f32, backward = 2}
// BUILD: [[ZERO:%.*]] = pd.full {shape = [1], value = 0.0, dtype = f32}
// BUILD-NEXT: [[I:%.*]], [[STEP:%.*]] = pd.while_grad ([[SEED]], [[ZERO]]) cond ([[A:%.*]]: tensor<1xf32>, [[S:%.*]]: tensor<1xf32>) {
// BUILD-NEXT: %cond = cf.pop_back (%stack) : tensor<1xi1>
// BUILD-NEXT: %arg1 = cf.pop_back (%stack) : tensor<1xf32>
// BUILD-NEXT: %done = cf.is_empty (%stack) : i1
// BUILD-NEXT: %more = pd.logical_not (%done) : i1
// BUILD-NEXT: cf.cond_yield (%more, [[A]], [[S]])
// BUILD-NEXT: } body ([[B:%.*]]: tensor<1xf32>, [[T:%.*]]: tensor<1xf32>) {
// BUILD-NEXT: %i_3 = cf.pop_back (%stack) : tensor<1xf32>
// BUILD-NEXT: %arg2 = cf.pop_back (%stack) : tensor<1xf32>
// BUILD-NEXT: [[AG:%.*]] = pd.multiply ([[B]], %1) : tensor<1xf32>
// BUILD-NEXT: [[SG:%.*]] = pd.multiply ([[B]], %arg2) : tensor<1xf32>
// BUILD-NEXT: [[SUM:%.*]] = pd.add ([[T]], [[SG]]) : tensor<1xf32>
// BUILD-NEXT: cf.yield ([[AG]], [[SUM]])
// BUILD-NEXT: } : tensor<1xf32>, tensor<1xf32>
// BUILD-NEXT: pd.fetch ([[I]]) {name = "i_grad"}
// BUILD-NEXT: pd.fetch ([[STEP]]) {name = "step_grad"}

// Step 3: the derivative reads %arg2 of the body only.
// PRUNE: cond (%arg1: tensor<1xf32>, %stack: cf.stack) {
// PRUNE-NEXT: %cond = pd.less_than
// PRUNE-NEXT: cf.cond_yield
// PRUNE-NEXT: } body
// PRUNE-NEXT: %i_3 = pd.multiply
// PRUNE-NEXT: cf.push_back (%stack, %arg2)
// PRUNE-NEXT: cf.yield
// PRUNE: pd.while_grad
// PRUNE-NEXT: %done = cf.is_empty
// PRUNE-NEXT: %more = pd.logical_not
// PRUNE-NEXT: cf.cond_yield
// PRUNE-NEXT: } body
// PRUNE-NEXT: %arg2 = cf.pop_back (%stack)
// PRUNE-NEXT: pd.multiply
