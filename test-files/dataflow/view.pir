// RUN: pir-opt --pass=view-graph %s 2>&1 >/dev/null | FileCheck %s
// RUN: pir-opt --pass='lower-to-dataflow,view-graph{file=%t}' %s > /dev/null && FileCheck --check-prefix=GRAPH %s < %t
// RUN: not pir-opt --pass='view-graph{file=/no/such/folder/x.dot}' %s 2>&1 | FileCheck --check-prefix=NOT %s

// CHECK:      digraph program {
// CHECK:        [[X:n[0-9_]+]] [label = "%x = pd.data\nname = \"x\""];
// CHECK:        subgraph cluster_0 {
// CHECK-NEXT:     label = "pd.while";
// CHECK-NEXT:     [[LOOP:n[0-9_]+]] [label = "%r = pd.while"];
// CHECK-NEXT:     [[I:a[0-9_]+]] [label = "%i", shape = ellipse];
// CHECK-NEXT:     [[LESS:n[0-9_]+]] [label = "%less = pd.less_than"];
// CHECK:        [[X]] -> [[LOOP]];
// CHECK:        [[I]] -> [[LESS]];
// CHECK:      }

// GRAPH:      digraph program {
// GRAPH:        subgraph cluster_0 {
// GRAPH-NEXT:     label = "df.graph";
// GRAPH:          subgraph cluster_1 {
// GRAPH-NEXT:       label = "frame while_0";
// GRAPH-NEXT:       [[ENTER:n[0-9_]+]] [label = "df.enter\nframe = \"while_0\"", shape = cds];
// GRAPH-NEXT:       [[MERGE:n[0-9_]+]] [label = "%i = df.merge", shape = diamond];
// GRAPH:            [[SWITCH:n[0-9_]+]] [label = "%j = df.switch", shape = diamond];
// GRAPH:            [[PIVOT:n[0-9_]+]] [label = "%pivot = df.identity"];
// GRAPH:            [[ONE:n[0-9_]+]] [label = "%one = pd.full\nvalue = 1"];
// GRAPH:            [[NEXT:n[0-9_]+]] [label = "df.next_iteration", shape = cds];
// GRAPH:          }
// GRAPH-DAG:      [[ENTER]] -> [[MERGE]];
// GRAPH-DAG:      [[NEXT]] -> [[MERGE]] [style = bold, constraint = false];
// GRAPH-DAG:      [[SWITCH]] -> [[PIVOT]] [label = "T"];
// GRAPH-DAG:      [[PIVOT]] -> [[ONE]] [style = dashed];

// NOT: error: cannot write `/no/such/folder/x.dot`
%x = pd.data {name = "x", shape = [], dtype = i64}
%n = pd.full {shape = [], value = 3, dtype = i64}
%r = pd.while (%x) cond (%i) {
  %less = pd.less_than (%i, %n)
  cf.cond_yield (%less, %i)
} body (%j) {
  %one = pd.full {shape = [], value = 1, dtype = i64}
  %k = pd.add (%j, %one)
  cf.yield (%k)
}
pd.fetch (%r) {name = "r"}
