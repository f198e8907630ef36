// Operations of docs/examples/my.yaml.
%x = pd.data {name = "x", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%a = my.softcap (%x) {cap = 2.0}
%y = my.logsumexp (%a)
pd.fetch (%y) {name = "y"}
