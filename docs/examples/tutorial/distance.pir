// The distance of two points.
%x = pd.data {name = "x", shape = [3], dtype = f64}
%c = pd.data {name = "c", shape = [3], dtype = f64, stop_gradient = true}
%v = pd.subtract (%x, %c)
%v2 = pd.multiply (%v, %v)
%s = pd.sum (%v2)
%d = pd.sqrt (%s)
pd.fetch (%d) {name = "d"}
