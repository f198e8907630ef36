// y = x·x·…, n times
%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.full {shape = [], value = 3, dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%steps, %y = pd.while (%zero, %x) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%j, %b) {
  %p = pd.multiply (%b, %x)
  %next = pd.add (%j, %one)
  cf.yield (%next, %p)
}
pd.fetch (%y) {name = "y"}
