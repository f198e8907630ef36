// RUN: pir-opt --pass=partition --split-input-file --verify-diagnostics %s
// RUN: pir-opt --pass=place --split-input-file --verify-diagnostics %s

df.graph {
  // expected-error@+2 {{there is no device 2: the devices are 0 to 1}}
  // expected-note-re@+1 {{in the pass `{{place|partition}}`}}
  %x = pd.data {name = "x", shape = [], dtype = f32, device = 2} : tensor<f32>
}

// -----

df.graph {
  // expected-error@+1 {{the attribute `device` of `pd.data` must be an integer, but is the string `"gpu"`}}
  %x = pd.data {name = "x", shape = [], dtype = f32, device = "gpu"} : tensor<f32>
}

// -----

df.graph {
  // expected-error@+2 {{a graph with messages to other devices was partitioned before}}
  // expected-note-re@+1 {{in the pass `{{place|partition}}`}}
  %x = df.recv {key = "x", from = 0, to = 1} : tensor<f32>
}
