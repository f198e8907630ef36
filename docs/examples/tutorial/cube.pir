%x = pd.data {name = "x", shape = [3], dtype = f64}
%n = pd.neg (%x)
%y = demo.cube (%n)
pd.fetch (%y) {name = "y"}
