// Results of compositions at poles, for integers, truth values, singular matrices, limits of more dimensions, and fractions of channels, as
// PaddlePaddle's kernels have them (tools/paddle/sweep); an exclusive sum of one number is zero, which PaddlePaddle's is not.
// RUN: pir-run %s | FileCheck %s
%ints = pd.assign_value {shape = [4], dtype = i32, values = [-2.0, -3.0, -1.0, -3.0]}
%median, %medians = pd.median (%ints)
pd.fetch (%median) {name = "median"}
// CHECK: median = tensor<1xi32> [-2]
%nanmedian, %nanmedians = pd.nanmedian (%ints)
pd.fetch (%nanmedian) {name = "nanmedian"}
// CHECK: nanmedian = tensor<1xi32> [-2]
%power = pd.pow (%ints) {y = 2.7}
pd.fetch (%power) {name = "power"}
// CHECK: power = tensor<4xi32> [4, 9, 1, 9]
%truths = pd.assign_value {shape = [2, 2], dtype = i1, values = [1.0, 1.0, 0.0, 1.0]}
%count = pd.nansum (%truths) {dtype = f64}
pd.fetch (%count) {name = "count"}
// CHECK: count = tensor<f64> 3
%off = pd.fill_diagonal (%truths)
pd.fetch (%off) {name = "off"}
// CHECK: off = tensor<2x2xi1> {{\[\[}}false, true], [false, false]]
%place = pd.argmax (%truths) {flatten = true, keepdims = true, dtype = i64}
pd.fetch (%place) {name = "place"}
// CHECK: place = tensor<1x1xi64> {{\[\[}}0]]
%weights = pd.assign_value {shape = [3], dtype = f64, values = [0.5, 0.25, 2.0]}
%numbers = pd.assign_value {shape = [3], dtype = f64, values = [0.1, 0.2, 0.9]}
%heavy = pd.histogram (%numbers, %weights) {bins = 2, min = 0.0, max = 1.0}
pd.fetch (%heavy) {name = "heavy"}
// CHECK: heavy = tensor<2xf32> [0.75, 2]
%matrices = pd.assign_value {shape = [2, 2, 2], dtype = f64, values = [3.0, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.1]}
%limits = pd.assign_value {shape = [2, 1], dtype = f64, values = [0.5, 2.5]}
%rank = pd.matrix_rank_tol (%matrices, %limits) {use_default_tol = false}
pd.fetch (%rank) {name = "rank"}
// CHECK: rank = tensor<2x2xi64> {{\[\[}}2, 1], [1, 1]]
%singular = pd.assign_value {shape = [2, 2], dtype = f64, values = [1.0, 2.0, 2.0, 4.0]}
%factors, %pivots, %info = pd.lu (%singular) {pivot = true}
pd.fetch (%info) {name = "info"}
// CHECK: info = tensor<i32> 2
%poles = pd.assign_value {shape = [4], dtype = f64, values = [0.0, -0.0, -1.0, 1.0]}
%digamma = pd.digamma (%poles)
pd.fetch (%digamma) {name = "digamma"}
// CHECK: digamma = tensor<4xf64> [-inf, inf, NaN, -0.57721
%trigamma = pd.polygamma (%poles) {n = 1}
pd.fetch (%trigamma) {name = "trigamma"}
// CHECK: trigamma = tensor<4xf64> [inf, inf, inf, 1.6449
%tetragamma = pd.polygamma (%poles) {n = 2}
pd.fetch (%tetragamma) {name = "tetragamma"}
// CHECK: tetragamma = tensor<4xf64> [-inf, -inf, -inf, -2.4041
%frames = pd.assign_value {shape = [1, 2, 1, 1], dtype = f64, values = [5.0, 6.0]}
%shifted = pd.temporal_shift (%frames) {seg_num = 1}
pd.fetch (%shifted) {name = "shifted"}
// CHECK: shifted = tensor<1x2x1x1xf64> {{\[\[\[\[}}0]], {{\[\[}}6]]]]
%one = pd.full {shape = [], value = 2.5, dtype = f64}
%before = pd.cumsum (%one) {exclusive = true}
pd.fetch (%before) {name = "before"}
// CHECK: before = tensor<f64> 0
