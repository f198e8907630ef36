// Devices keep their names: job, replica, task and kind, in whole or in part, and nodes without one stay without.
//
// RUN: pir-opt %S/inputs/jobs.pb | FileCheck --check-prefix=READ %s
// RUN: pir-translate --to=graphdef-text %S/inputs/jobs.pb | FileCheck --check-prefix=JOBS %s
// RUN: pir-translate --to=graphdef-text %S/inputs/kinds.pb | FileCheck --check-prefix=KINDS %s
// RUN: pir-opt --pass=place{devices=3} %S/inputs/jobs.pb | FileCheck --check-prefix=PLACED %s
// RUN: pir-opt --pass=partition{devices=3} %S/inputs/jobs.pb | FileCheck --check-prefix=PARTS %s
// RUN: pir-opt --pass=partition{devices=3} --emit=graphdef-text %S/inputs/jobs.pb | FileCheck --check-prefix=JOBS %s
//
// READ: pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
// READ: pd.sin (%mul) {device = 1, tf.device = "/job:worker/task:1"}
// READ: pd.add (%Sin, %add_y) {device = 2, tf.device = "/job:ps/task:0"}
//
// JOBS-DAG: device: "/job:worker/task:0"
// JOBS-DAG: device: "/job:worker/task:1"
// JOBS-DAG: device: "/job:ps/task:0"
// JOBS-NOT: localhost
//
// KINDS-DAG: device: "/device:GPU:0"
// KINDS-DAG: device: "/device:CPU:0"
// KINDS-NOT: localhost
//
// PLACED: pd.data {{.*}}, tf.device = "/job:
//
// PARTS: df.graph {device = 0, tf.device = "/job:worker/task:0"}
// PARTS-NOT: : tf.device
// PARTS: df.graph {device = 2, tf.device = "/job:ps/task:0"}
