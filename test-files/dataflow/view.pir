// RUN: pir-opt --pass=view-graph %s 2>&1 >/dev/null | FileCheck %s
// RUN: pir-opt --pass='view-graph{constants=nodes,types=false,legend=false,direction=right}' %s 2>&1 >/dev/null | FileCheck --check-prefix=PLAIN %s
// RUN: pir-opt --pass='lower-to-dataflow,view-graph{file=%t}' %s > /dev/null && FileCheck --check-prefix=GRAPH %s < %t
// RUN: pir-opt --pass='lower-to-dataflow,partition{devices=2},view-graph' %s 2>&1 >/dev/null | FileCheck --check-prefix=DEVICES %s
// RUN: pir-opt --pass='backward{of=s},view-graph' %s 2>&1 >/dev/null | FileCheck --check-prefix=GRAD %s
// RUN: not pir-opt --pass='view-graph{file=/no/such/folder/x.dot}' %s 2>&1 | FileCheck --check-prefix=NOT %s

// A box for each region, constants in the nodes that use them, and edges along the ways of control.
// CHECK:      digraph program {
// CHECK-NEXT:   graph [rankdir = TB
// CHECK:        [[X:n[0-9_]+]] [label = <%x = pd.data<br/><font point-size="9">name = &quot;x&quot;</font>{{.*}}tensor&lt;i64&gt;</font>>, fillcolor = "#d5efd5"];
// CHECK-NOT:    pd.full
// CHECK:        subgraph cluster_0 {
// CHECK-NEXT:     label = <<b>pd.while</b>>
// CHECK-NEXT:     subgraph cluster_1 {
// CHECK-NEXT:       label = <<b>cond</b>>
// CHECK-NEXT:       [[I:v[0-9_]+]] [label = <%i<
// CHECK:            [[LESS:n[0-9_]+]] [label = <%less = pd.less_than<br/><font point-size="9">with 3</font>
// CHECK-NEXT:       [[COND:n[0-9_]+]] [label = <cf.cond_yield>, {{.*}}shape = hexagon];
// CHECK:            label = <<b>body</b>>
// CHECK-NEXT:       [[J:v[0-9_]+]] [label = <%j<
// CHECK:            [[K:n[0-9_]+]] [label = <%k = pd.add
// CHECK:        [[R:v[0-9_]+]] [label = <%r<
// CHECK-DAG:    [[X]] -> [[I]] [color = "#2461c2"];
// CHECK-DAG:    [[I]] -> [[LESS]] [color = "#555555"];
// CHECK-DAG:    [[LESS]] -> [[COND]]
// CHECK-DAG:    [[COND]] -> [[J]] [color = "#2461c2", label = "true"];
// CHECK-DAG:    [[I]] -> [[R]]
// CHECK-DAG:    [[K]] -> [[I]] [color = "#2461c2", style = bold, constraint = false];
// CHECK:        label = <<table{{.*}}goes to the next iteration

// PLAIN:      graph [rankdir = LR
// PLAIN:      [label = <%n = pd.full<br/><font point-size="9">value = 3</font>>
// PLAIN-NOT:  tensor
// PLAIN-NOT:  table

// GRAPH:      label = <<b>graph</b>>
// GRAPH:      label = <<b>frame while_0</b>>
// GRAPH-NEXT: [[ENTER:n[0-9_]+]] [label = <df.enter
// GRAPH-NEXT: [[MERGE:n[0-9_]+]] [label = <%i = df.merge
// GRAPH:      [[SWITCH:n[0-9_]+]] [label = <%j = df.switch
// GRAPH:      [[NEXT:n[0-9_]+]] [label = <df.next_iteration
// GRAPH-DAG:  [[ENTER]] -> [[MERGE]] [color = "#2461c2"];
// GRAPH-DAG:  [[NEXT]] -> [[MERGE]] [color = "#2461c2", style = bold, constraint = false];
// GRAPH-DAG:  [[SWITCH]] -> {{.*}} label = "true"];

// Nodes have the colours of their devices, and messages are edges.
// DEVICES:     label = <<b>graph of device 0</b>>
// DEVICES:     [[SEND:n[0-9_]+]] [label = <{{.*}}df.send{{.*}} fillcolor = "#cfe2ff"
// DEVICES:     label = <<b>graph of device 1</b>>
// DEVICES:     [[RECV:n[0-9_]+]] [label = <{{.*}}df.recv{{.*}} fillcolor = "#ffe0c2"
// DEVICES:     -> {{.*}} [color = "#c0392b", style = bold];
// DEVICES:     device 0</td>{{.*}}device 1</td>{{.*}}from send to receive

// What is recorded has an edge to where it is taken off; the stack has no nodes.
// GRAD-NOT:    cf.create_stack
// GRAD-NOT:    cf.push_back
// GRAD:        [[POP:n[0-9_]+]] [label = <{{.*}}cf.pop_back
// GRAD:        -> [[POP]] [color = "#7b3fb5", style = dotted

// NOT: error: cannot write `/no/such/folder/x.dot`: its folder does not exist
%x = pd.data {name = "x", shape = [], dtype = i64}
%n = pd.full {shape = [], value = 3, dtype = i64}
%v = pd.data {name = "v", shape = [4], dtype = f64}
%r, %w = pd.while (%x, %v) cond (%i, %a) {
  %less = pd.less_than (%i, %n)
  cf.cond_yield (%less, %i, %a)
} body (%j, %b) {
  %one = pd.full {shape = [], value = 1, dtype = i64}
  %k = pd.add (%j, %one)
  %t = pd.tanh (%b)
  cf.yield (%k, %t)
}
%s = pd.sum (%w) {device = 1}
pd.fetch (%r) {name = "r"}
pd.fetch (%s) {name = "s"}
