// 0, 1, … 10
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%ten = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
%r = pd.while (%zero) cond (%i: tensor<i64>) {
  %less = pd.less_than (%i, %ten) : tensor<i1>
  cf.cond_yield (%less, %i)
} body (%j: tensor<i64>) {
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %k = pd.add (%j, %one) : tensor<i64>
  cf.yield (%k)
} : tensor<i64>
pd.fetch (%r) {name = "r"}
