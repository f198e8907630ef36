// y = sin(x·y), 1000 times
%x = pd.data {name = "x", shape = [8], dtype = f64}
%n = pd.full {shape = [], value = 1000, dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%steps, %y = pd.while (%zero, %x) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%j, %b) {
  %p = pd.multiply (%b, %x)
  %s = pd.sin (%p)
  %next = pd.add (%j, %one)
  cf.yield (%next, %s)
}
pd.fetch (%y) {name = "y"}
