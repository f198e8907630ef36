//! What every operation declares of its derivative, against differences in f64.
//!
//! For every operand that a row of the tables declares to have a derivative there is a case, also for one that is in the place of an
//! attribute; it is compared in the adjoint program, in the tangents and in the eager engine, and so is the second derivative. Every row that declares none is run at
//! two places near each other, where its results are the same.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;
#[path = "common/parallel.rs"]
mod parallel;

use std::sync::Mutex;

use common::{Inputs, Numbers, check_gradients, check_second_order, check_tangents, read, run};
use pir_ir::{Body, Context, Derivative, OpId, Traits};
use rustc_hash::FxHashSet;

/// Lines that compute `%o`, and inputs with their shape and the interval that they are from.
const CASES: &[(&str, &[&str])] = &[
    (
        "%q, %r = pd.qr (%x) {mode = \"reduced\"}\n%c = pd.sin (%r)\n%o = pd.matmul (%q, %c)",
        &["x[4,3] -1 1"],
    ),
    (r#"%o = pd.gelu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.silu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.swish (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.softplus (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.elu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.selu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.celu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.leaky_relu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.relu6 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.hardswish (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.hardsigmoid (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.hardtanh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.mish (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.logsigmoid (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.softsign (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.tanh_shrink (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.thresholded_relu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.stanh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.softcap (%x) {cap = 1.5}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.asinh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.atanh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.swiglu (%x)"#, &["x[2,4] 0.2 0.9"]),
    (r#"%o = pd.exp (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.expm1 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.log (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.log2 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.log10 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.log1p (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.square (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.reciprocal (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.sinh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.cosh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.sin (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.cos (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.tan (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.asin (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.acos (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.atan (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.neg (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.erf (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.erfinv (%x)"#, &["x[2,3] -0.9 0.9"]),
    (r#"%o = pd.lgamma (%x)"#, &["x[2,3] 0.2 4.0"]),
    (r#"%o = pd.digamma (%x)"#, &["x[2,3] 0.2 4.0"]),
    (r#"%o = pd.tanh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.sigmoid (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.relu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.sqrt (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.absf (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.exp (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.exp2 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.expm1 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.log (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.log2 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.log10 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.log1p (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.sin (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.cos (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.tan (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.sinh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.cosh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.tanh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.asin (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.acos (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.atan (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.asinh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.atanh (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.sqrt (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.rsqrt (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.cbrt (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.erf (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = math.acosh (%x)"#, &["x[3] 1.5 2.5"]),
    (r#"%o = arith.negf (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = arith.addf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.subf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.mulf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.divf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.remf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.maximumf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.minimumf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.maxnumf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = arith.minnumf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = math.atan2 (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = math.powf (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (r#"%o = math.copysign (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[2,3] 0.3 0.8"]),
    (
        r#"%o = math.fma (%x, %y, %z)"#,
        &["x[3] 1.2 1.9", "y[3] 0.3 0.8", "z[3] 0.3 0.8"],
    ),
    (
        r#"%c = arith.cmpf (%x, %y) {predicate = 4}; %o = arith.select (%c, %x, %y)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.rsqrt (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.abs (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.increment (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.assign (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.print (%x)"#, &["x[2,3] 0.2 0.9"]),
    (
        "%i = pd.full {shape = [], value = 1, dtype = i32}\n\
         %o = stablehlo.dynamic_slice (%x, %i, %i) {slice_sizes = array<i64: 2, 1>} : tensor<2x1xf64>",
        &["x[3,2] 0.2 0.9"],
    ),
    (
        "%i = pd.full {shape = [], value = 1, dtype = i32}\n\
         %o = stablehlo.dynamic_update_slice (%x, %y, %i, %i) : tensor<3x2xf64>",
        &["x[3,2] 0.2 0.9", "y[2,1] 0.2 0.9"],
    ),
    (
        "%n = pd.full {shape = [2, 3], value = 3, dtype = i32}\n%o = math.fpowi (%x, %n)",
        &["x[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.squared_l2_norm (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.mean_all (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.sum (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.mean (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.max (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.min (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.prod (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.logsumexp (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.amax (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.amin (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.cumsum (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.trace (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.frobenius_norm (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.acosh (%x)"#, &["x[3] 1.5 2.5"]),
    (r#"%o = pd.softshrink (%x)"#, &["x[3] 0.6 0.9"]),
    (r#"%o = pd.hardshrink (%x)"#, &["x[3] 0.6 0.9"]),
    (
        r#"%o = pd.thresholded_relu (%x) {threshold = 0.1}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.swiglu (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"]),
    (r#"%o = pd.prelu (%x, %a)"#, &["x[2,3] -0.9 -0.2", "a[1] 0.1 0.4"]),
    (r#"%o = pd.add (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.multiply (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.subtract (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.divide (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.remainder (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (
        r#"%o = pd.elementwise_pow (%x, %y)"#,
        &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"],
    ),
    (r#"%o = pd.atan2 (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.maximum (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.minimum (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.fmax (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.fmin (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (
        r#"%o = pd.elementwise_pow (%x, %y)"#,
        &["x[2,1] 0.2 0.9", "y[3] -1.5 1.5"],
    ),
    (
        r#"%c = pd.greater_than (%x, %y); %o = pd.where (%c, %x, %y)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.set_value_with_tensor (%x, %y) {starts = [0], ends = [2], steps = [1], axes = [1]}"#,
        &["x[2,3] 0.2 0.9", "y[2,2] 0.2 0.9"],
    ),
    (
        r#"%p = pd.full {shape = [2, 3], value = 0.0, dtype = f64}; %o = pd.assign_out_ (%x, %p)"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.add_n (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"]),
    (
        r#"%l = builtin.combine (%x, %y); %o = pd.add_n (%l)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (
        r#"%l = builtin.combine (%x, %y); %a, %o = builtin.split (%l)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.scale (%x, %s)"#, &["x[2,3] 0.2 0.9", "s[] 0.5 1.5"]),
    (
        r#"%o = pd.scale (%x, %s, %b)"#,
        &["x[2,3] 0.2 0.9", "s[] 0.5 1.5", "b[] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %s, %b) {bias_after_scale = false}"#,
        &["x[2,3] 0.2 0.9", "s[] 0.5 1.5", "b[] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %b) {scale = 2.5}"#,
        &["x[2,3] 0.2 0.9", "b[] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %b) {scale = 2.5, bias_after_scale = false}"#,
        &["x[2,3] 0.2 0.9", "b[] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %s) {bias = 0.5, bias_after_scale = false}"#,
        &["x[2,3] 0.2 0.9", "s[] 0.5 1.5"],
    ),
    (r#"%o = pd.pow (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[] 1.2 2.8"]),
    (
        r#"%o = pd.clip (%x, %l, %h)"#,
        &["x[7] 0.0 1.0", "l[] 0.2 0.3", "h[] 0.6 0.7"],
    ),
    (
        r#"%o = pd.clip (%x, %h) {min = 0.25}"#,
        &["x[7] 0.0 1.0", "h[] 0.6 0.7"],
    ),
    (
        r#"%o = pd.clip (%x, %l) {max = 0.75}"#,
        &["x[7] 0.0 1.0", "l[] 0.2 0.3"],
    ),
    (
        r#"%o = pd.pad (%x, %v) {paddings = [1, 0, 2, 1]}"#,
        &["x[2,3] 0.2 0.9", "v[] 0.2 0.9"],
    ),
    (r#"%o = pd.full (%v) {shape = [2, 3], dtype = f64}"#, &["v[] 0.2 0.9"]),
    (r#"%o = pd.const (%v) {shape = [2, 3], dtype = f64}"#, &["v[] 0.2 0.9"]),
    (
        r#"%o = pd.constant (%v) {shape = [2, 3], dtype = f64}"#,
        &["v[] 0.2 0.9"],
    ),
    (
        r#"%z = pd.full_like (%x, %v); %o = pd.multiply (%z, %x)"#,
        &["x[2,3] 0.2 0.9", "v[] 0.2 0.9"],
    ),
    (
        r#"%o = pd.full_like (%x, %v) {dtype = f64}"#,
        &["x[2,3] 0.2 0.9", "v[] 0.2 0.9"],
    ),
    (
        r#"%r = pd.arange (%a, %e, %s) {dtype = f64}; %o = pd.slice (%r) {axes = [0], starts = [0], ends = [3]}"#,
        &["a[] 0.2 0.4", "e[] 4.2 4.3", "s[] 1.1 1.2"],
    ),
    (
        r#"%o = pd.uniform (%l, %h) {shape = [2, 3], dtype = f64, seed = 5}"#,
        &["l[] -0.5 0.0", "h[] 1.0 2.0"],
    ),
    (
        r#"%o = pd.pow_grad (%x, %g, %y)"#,
        &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9", "y[] 1.2 2.8"],
    ),
    (
        r#"%m = pd.greater_than (%x, %x); %o = pd.masked_fill (%x, %m, %v)"#,
        &["x[2,3] 0.2 0.9", "v[] 0.2 0.9"],
    ),
    (
        r#"%l = pd.full {shape = [2, 3], value = 0.5, dtype = f64}; %m = pd.greater_than (%x, %l); %o = pd.masked_fill (%x, %m, %v)"#,
        &["x[2,3] 0.2 0.9", "v[] 0.2 0.9"],
    ),
    (r#"%o = pd.scale (%x, %s)"#, &["x[2,3] 0.2 0.9", "s[1] 0.5 1.5"]),
    (
        r#"%o = pd.scale (%x, %s, %b)"#,
        &["x[2,3] 0.2 0.9", "s[1] 0.5 1.5", "b[1] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %s, %b) {bias_after_scale = false}"#,
        &["x[2,3] 0.2 0.9", "s[1] 0.5 1.5", "b[1] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %b) {scale = 2.5}"#,
        &["x[2,3] 0.2 0.9", "b[1] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %b) {scale = 2.5, bias_after_scale = false}"#,
        &["x[2,3] 0.2 0.9", "b[1] 0.5 1.5"],
    ),
    (
        r#"%o = pd.scale (%x, %s) {bias = 0.5, bias_after_scale = false}"#,
        &["x[2,3] 0.2 0.9", "s[1] 0.5 1.5"],
    ),
    (r#"%o = pd.pow (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[1] 1.2 2.8"]),
    (
        r#"%o = pd.clip (%x, %l, %h)"#,
        &["x[7] 0.0 1.0", "l[1] 0.2 0.3", "h[1] 0.6 0.7"],
    ),
    (
        r#"%o = pd.clip (%x, %h) {min = 0.25}"#,
        &["x[7] 0.0 1.0", "h[1] 0.6 0.7"],
    ),
    (
        r#"%o = pd.clip (%x, %l) {max = 0.75}"#,
        &["x[7] 0.0 1.0", "l[1] 0.2 0.3"],
    ),
    (
        r#"%o = pd.pad (%x, %v) {paddings = [1, 0, 2, 1]}"#,
        &["x[2,3] 0.2 0.9", "v[1] 0.2 0.9"],
    ),
    (r#"%o = pd.full (%v) {shape = [2, 3], dtype = f64}"#, &["v[1] 0.2 0.9"]),
    (r#"%o = pd.const (%v) {shape = [2, 3], dtype = f64}"#, &["v[1] 0.2 0.9"]),
    (
        r#"%o = pd.constant (%v) {shape = [2, 3], dtype = f64}"#,
        &["v[1] 0.2 0.9"],
    ),
    (
        r#"%z = pd.full_like (%x, %v); %o = pd.multiply (%z, %x)"#,
        &["x[2,3] 0.2 0.9", "v[1] 0.2 0.9"],
    ),
    (
        r#"%o = pd.full_like (%x, %v) {dtype = f64}"#,
        &["x[2,3] 0.2 0.9", "v[1] 0.2 0.9"],
    ),
    (
        r#"%r = pd.arange (%a, %e, %s) {dtype = f64}; %o = pd.slice (%r) {axes = [0], starts = [0], ends = [3]}"#,
        &["a[1] 0.2 0.4", "e[1] 4.2 4.3", "s[1] 1.1 1.2"],
    ),
    (
        r#"%o = pd.uniform (%l, %h) {shape = [2, 3], dtype = f64, seed = 5}"#,
        &["l[1] -0.5 0.0", "h[1] 1.0 2.0"],
    ),
    (
        r#"%o = pd.pow_grad (%x, %g, %y)"#,
        &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9", "y[1] 1.2 2.8"],
    ),
    (
        r#"%m = pd.greater_than (%x, %x); %o = pd.masked_fill (%x, %m, %v)"#,
        &["x[2,3] 0.2 0.9", "v[1] 0.2 0.9"],
    ),
    (
        r#"%l = pd.full {shape = [2, 3], value = 0.5, dtype = f64}; %m = pd.greater_than (%x, %l); %o = pd.masked_fill (%x, %m, %v)"#,
        &["x[2,3] 0.2 0.9", "v[1] 0.2 0.9"],
    ),
    (
        r#"%o = pd.slice (%x) {axes = [1], starts = [1], ends = [3]}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.slice_grad (%g) {axes = [0], starts = [1], ends = [4], x_shape = [5]}"#,
        &["g[3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.gather (%x, %i) {axis = 1}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.gather_grad (%i, %g) {axis = 0, x_shape = [4]}"#,
        &["g[3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.index_select (%x, %i) {axis = 1}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.index_select_grad (%i, %g) {axis = 0, x_shape = [4]}"#,
        &["g[3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [0, 2]}; %j = pd.reshape (%i) {shape = [1, 2]}; %o = pd.gather_nd (%x, %j)"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %j = pd.reshape (%i) {shape = [3, 1]}; %o = pd.gather_nd_grad (%j, %g) {x_shape = [4]}"#,
        &["g[3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0]}; %j = pd.reshape (%i) {shape = [2, 1]}; %o = pd.take_along_axis (%x, %j) {axis = 1}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0]}; %j = pd.reshape (%i) {shape = [2, 1]}; %o = pd.take_along_axis_grad (%j, %g) {axis = 1, x_shape = [2, 3]}"#,
        &["g[2,1] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.embedding (%i, %w)"#,
        &["w[4,2] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.scatter (%x, %i, %u)"#,
        &["x[4,2] 0.2 0.9", "u[3,2] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.scatter (%x, %i, %u) {overwrite = false}"#,
        &["x[4,2] 0.2 0.9", "u[3,2] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %j = pd.reshape (%i) {shape = [3, 1]}; %o = pd.scatter_nd_add (%x, %j, %u)"#,
        &["x[4,2] 0.2 0.9", "u[3,2] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %o = pd.index_add (%x, %i, %u) {axis = 0}"#,
        &["x[4,2] 0.2 0.9", "u[3,2] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0, 2]}; %j = pd.reshape (%i) {shape = [3, 1]}; %o = pd.put_along_axis (%x, %j, %u) {axis = 0, reduce = "add"}"#,
        &["x[4,1] 0.2 0.9", "u[3,1] 0.2 0.9"],
    ),
    (
        r#"%i = pd.full_int_array {value = [2, 0]}; %j = pd.reshape (%i) {shape = [2, 1]}; %o = pd.index_sample (%x, %j)"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%l = pd.full {shape = [2, 3], value = 0.1, dtype = f64}; %m = pd.greater_than (%x, %l); %o = pd.masked_select (%x, %m)"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.strided_slice (%x) {axes = [1], starts = [0], ends = [3], strides = [2]}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.repeat_interleave (%x) {repeats = 2, axis = 1}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.bmm (%x, %y)"#, &["x[2,2,3] 0.2 0.9", "y[2,3,2] 0.2 0.9"]),
    (r#"%o = pd.dot (%x, %y)"#, &["x[3] 0.2 0.9", "y[3] 0.2 0.9"]),
    (r#"%o = pd.outer (%x, %y)"#, &["x[2] 0.2 0.9", "y[3] 0.2 0.9"]),
    (
        r#"%o = pd.linear (%x, %w, %b)"#,
        &["x[2,3] 0.2 0.9", "w[3,2] 0.2 0.9", "b[2] 0.2 0.9"],
    ),
    (r#"%o = pd.mv (%x, %v)"#, &["x[2,3] 0.2 0.9", "v[3] 0.2 0.9"]),
    (
        r#"%o = pd.addmm (%z, %x, %y)"#,
        &["z[2,2] 0.2 0.9", "x[2,3] 0.2 0.9", "y[3,2] 0.2 0.9"],
    ),
    (r#"%o = pd.kron (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[2,2] 0.2 0.9"]),
    (r#"%o = pd.diagonal (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.diag (%x)"#, &["x[3] 0.2 0.9"]),
    (r#"%o = pd.matmul (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[3,2] 0.2 0.9"]),
    (r#"%o = pd.p_norm (%x) {porder = 2.0}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.p_norm (%x) {porder = 3.0}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.p_norm (%x) {porder = 1.5}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.p_norm (%x) {porder = 1.0}"#, &["x[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.einsum (%x, %y) {equation = "ij,jk->ik"}"#,
        &["x[2,3] 0.2 0.9", "y[3,2] 0.2 0.9"],
    ),
    (r#"%o = pd.cumprod (%x) {dim = 1}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.reduce_as (%x) {shape = [3]}"#, &["x[2,3] 0.2 0.9"]),
    (
        r#"%s, %o = pd.cross_entropy_with_softmax (%x, %y) {soft_label = true}"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.4"],
    ),
    (
        r#"%o = pd.sigmoid_cross_entropy_with_logits (%x, %y, %w)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9", "w[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.bce_loss (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"]),
    (
        r#"%o, %r = pd.huber_loss (%x, %y) {delta = 0.4}"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.kldiv_loss (%x, %y)"#, &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.log_loss (%x, %y) {epsilon = 0.01}"#,
        &["x[2,1] 0.2 0.9", "y[2,1] 0.2 0.9"],
    ),
    (
        r#"%l = pd.full_int_array {value = [2, 0]}; %o, %t = pd.nll_loss (%x, %l, %w)"#,
        &["x[2,3] 0.2 0.9", "w[3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.conv2d (%x, %w)"#,
        &["x[1,2,4,4] 0.1 0.9", "w[3,2,2,2] 0.2 0.9"],
    ),
    (
        r#"%o = pd.depthwise_conv2d (%x, %w) {groups = 2}"#,
        &["x[1,2,4,4] 0.1 0.9", "w[2,1,2,2] 0.2 0.9"],
    ),
    (
        r#"%o = pd.conv2d_transpose (%x, %w)"#,
        &["x[1,2,2,2] 0.2 0.9", "w[2,1,2,2] 0.2 0.9"],
    ),
    (
        r#"%o, %p = pd.conv2d_grad (%x, %w, %g)"#,
        &["x[1,1,3,3] 0.2 0.9", "w[1,1,2,2] 0.2 0.9", "g[1,1,2,2] 0.2 0.9"],
    ),
    (
        r#"%p, %o = pd.conv2d_grad (%x, %w, %g)"#,
        &["x[1,1,3,3] 0.2 0.9", "w[1,1,2,2] 0.2 0.9", "g[1,1,2,2] 0.2 0.9"],
    ),
    (
        r#"%o = pd.pool2d (%x) {kernel_size = [2, 2], strides = [2, 2], pooling_type = "avg"}"#,
        &["x[1,2,4,4] 0.1 0.9"],
    ),
    (
        r#"%o = pd.pool2d (%x) {kernel_size = [2, 2], strides = [2, 2], pooling_type = "max"}"#,
        &["x[1,2,4,4] 0.1 0.9"],
    ),
    (
        r#"%p = pd.pool2d (%x) {kernel_size = [2, 2], strides = [2, 2], pooling_type = "max"}; %o = pd.pool2d_grad (%x, %p, %g) {kernel_size = [2, 2], strides = [2, 2], pooling_type = "max"}"#,
        &["x[1,2,4,4] 0.1 0.9", "g[1,2,2,2] 0.2 0.9"],
    ),
    (
        r#"%o, %m = pd.max_pool2d_with_index (%x) {kernel_size = [2, 2], strides = [2, 2]}"#,
        &["x[1,2,4,4] 0.1 0.9"],
    ),
    (r#"%o = pd.softmax (%x)"#, &["x[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.softmax_grad (%x, %g)"#,
        &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.scaled_dot_product_attention (%q, %k, %v, %m) {scale = 0.7}"#,
        &[
            "q[2,2,3] 0.2 0.9",
            "k[4,3] -0.9 0.9",
            "v[2,4,2] -0.5 0.9",
            "m[4] -0.9 0.1",
        ],
    ),
    (
        r#"%o = pd.scaled_dot_product_attention (%q, %k, %v)"#,
        &["q[2,3] 0.2 0.9", "k[4,3] -0.9 0.9", "v[4,2] -0.5 0.9"],
    ),
    (
        r#"%o, %p, %r = pd.scaled_dot_product_attention_grad (%q, %k, %v, %g, %m) {scale = 0.7}"#,
        &[
            "q[2,2,3] 0.2 0.9",
            "k[2,4,3] -0.9 0.9",
            "v[2,4,2] -0.5 0.9",
            "g[2,2,2] -0.5 0.9",
            "m[4] -0.9 0.1",
        ],
    ),
    (
        r#"%p, %o, %r = pd.scaled_dot_product_attention_grad (%q, %k, %v, %g) {scale = 0.7}"#,
        &[
            "q[2,3] 0.2 0.9",
            "k[4,3] -0.9 0.9",
            "v[4,2] -0.5 0.9",
            "g[2,2] -0.5 0.9",
        ],
    ),
    (
        r#"%p, %r, %o = pd.scaled_dot_product_attention_grad (%q, %k, %v, %g, %m) {scale = 0.7}"#,
        &[
            "q[2,3] 0.2 0.9",
            "k[4,3] -0.9 0.9",
            "v[4,2] -0.5 0.9",
            "g[2,2] -0.5 0.9",
            "m[2,1] -0.9 0.1",
        ],
    ),
    (
        r#"%m = pd.assign_value {shape = [3], values = [0.5, -0.5, 0.25], dtype = f64}; %o = pd.scaled_dot_product_attention (%q, %k, %v, %m) {scale = 0.7}"#,
        &["q[2,2,3] 0.2 0.9", "k[2,3,3] -0.9 0.9", "v[2,3,2] -0.5 0.9"],
    ),
    (r#"%o = pd.log_softmax (%x)"#, &["x[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.log_softmax_grad (%x, %g)"#,
        &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%o, %m, %v = pd.layer_norm (%x, %s, %b)"#,
        &["x[2,3] 0.2 0.9", "s[3] 0.2 0.9", "b[3] 0.2 0.9"],
    ),
    (
        r#"%o, %m, %v = pd.group_norm (%x, %s, %b) {groups = 1}"#,
        &["x[1,2,4,4] 0.1 0.9", "s[2] 0.2 0.9", "b[2] 0.2 0.9"],
    ),
    (
        r#"%o, %m, %v = pd.instance_norm (%x, %s, %b)"#,
        &["x[1,2,4,4] 0.1 0.9", "s[2] 0.2 0.9", "b[2] 0.2 0.9"],
    ),
    (
        r#"%o, %mo, %vo, %sm, %sv, %space = pd.batch_norm (%x, %m, %v, %s, %b) {is_test = true}"#,
        &[
            "x[3,2] 0.2 0.9",
            "m[2] 0.2 0.9",
            "v[2] 0.2 0.9",
            "s[2] 0.2 0.9",
            "b[2] 0.2 0.9",
        ],
    ),
    (
        r#"%o, %p, %q = pd.channel_norm_grad (%x, %m, %f, %g, %s)"#,
        &[
            "x[3,2] 0.2 0.9",
            "m[2] 0.2 0.9",
            "f[2] 0.2 0.9",
            "g[3,2] 0.2 0.9",
            "s[2] 0.2 0.9",
        ],
    ),
    (
        r#"%p, %o, %q = pd.channel_norm_grad (%x, %m, %f, %g, %s)"#,
        &[
            "x[3,2] 0.2 0.9",
            "m[2] 0.2 0.9",
            "f[2] 0.2 0.9",
            "g[3,2] 0.2 0.9",
            "s[2] 0.2 0.9",
        ],
    ),
    (
        r#"%p, %q, %o = pd.channel_norm_grad (%x, %m, %f, %g, %s)"#,
        &[
            "x[3,2] 0.2 0.9",
            "m[2] 0.2 0.9",
            "f[2] 0.2 0.9",
            "g[3,2] 0.2 0.9",
            "s[2] 0.2 0.9",
        ],
    ),
    (
        r#"%o, %p, %q = pd.channel_norm_grad (%x, %m, %f, %g, %s) {data_format = "NHWC"}"#,
        &[
            "x[3,2] 0.2 0.9",
            "m[2] 0.2 0.9",
            "f[2] 0.2 0.9",
            "g[3,2] 0.2 0.9",
            "s[2] 0.2 0.9",
        ],
    ),
    (
        r#"%y, %o, %vo, %sm, %sv, %space = pd.batch_norm (%x, %m, %v, %s, %b)"#,
        &[
            "x[3,2] 0.2 0.9",
            "m[2] 0.2 0.9",
            "v[2] 0.2 0.9",
            "s[2] 0.2 0.9",
            "b[2] 0.2 0.9",
        ],
    ),
    (
        r#"%y, %mo, %o, %sm, %sv, %space = pd.batch_norm (%x, %m, %v, %s, %b)"#,
        &[
            "x[3,2] 0.2 0.9",
            "m[2] 0.2 0.9",
            "v[2] 0.2 0.9",
            "s[2] 0.2 0.9",
            "b[2] 0.2 0.9",
        ],
    ),
    (r#"%o, %m = pd.dropout (%x) {p = 0.25, seed = 3}"#, &["x[2,3] 0.2 0.9"]),
    (
        r#"%st = builtin.combine (%h, %c); %we = builtin.combine (%wi, %wh, %bi, %bh); %drop = pd.full {shape = [1], value = 0, dtype = ui8}; %o, %d, %s, %r = pd.rnn (%x, %st, %we, %drop) {mode = "LSTM", input_size = 2, hidden_size = 1, num_layers = 1}"#,
        &[
            "x[2,1,2] 0.2 0.9",
            "h[1,1,1] 0.2 0.9",
            "c[1,1,1] 0.2 0.9",
            "wi[4,2] 0.2 0.9",
            "wh[4,1] 0.2 0.9",
            "bi[4] 0.2 0.9",
            "bh[4] 0.2 0.9",
        ],
    ),
    (
        r#"%l = builtin.combine (%x, %y); %same, %o = pd.coalesce_tensor (%l) {dtype = f64}"#,
        &["x[2,2] 0.2 0.9", "y[3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.sgd_ (%x, %r, %g)"#,
        &["x[2,3] 0.2 0.9", "r[1] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%m = pd.max (%x); %o = pd.max_grad (%x, %m, %g)"#,
        &["x[2,3] 0.2 0.9", "g[] 0.2 0.9"],
    ),
    (
        r#"%m = pd.min (%x); %o = pd.min_grad (%x, %m, %g)"#,
        &["x[2,3] 0.2 0.9", "g[] 0.2 0.9"],
    ),
    (
        r#"%m = pd.prod (%x); %o = pd.prod_grad (%x, %m, %g)"#,
        &["x[2,3] 0.2 0.9", "g[] 0.2 0.9"],
    ),
    (r#"%o = pd.tanh_grad (%x, %g)"#, &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.sigmoid_grad (%x, %g)"#,
        &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.relu_grad (%x, %g)"#, &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"]),
    (r#"%o = pd.sqrt_grad (%x, %g)"#, &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"]),
    (r#"%o = pd.rsqrt_grad (%x, %g)"#, &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"]),
    (r#"%o = pd.abs_grad (%x, %g)"#, &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.clip_grad (%x, %g) {min = 0.0, max = 0.5}"#,
        &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.pow_grad (%x, %g) {y = 2.5}"#,
        &["x[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%o, %p = pd.maximum_grad (%x, %y, %g)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%p, %o = pd.maximum_grad (%x, %y, %g)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%o, %p = pd.minimum_grad (%x, %y, %g)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (
        r#"%p, %o = pd.minimum_grad (%x, %y, %g)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9", "g[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.transpose (%x) {perm = [1, 0]}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.reshape (%x) {shape = [3, 2]}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.squeeze (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.unsqueeze (%x) {axis = [0]}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.flatten (%x) {start_axis = 0}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.expand (%x) {shape = [4, 2, 3]}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.tile (%x) {repeat_times = [2, 2]}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.tril (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.triu (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.flip (%x) {axis = [1]}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.roll (%x) {shifts = [1], axis = [1]}"#, &["x[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.pad (%x) {paddings = [1, 0, 2, 1], pad_value = 2.0}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (r#"%o = pd.cast (%x) {dtype = f64}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o, %i = pd.argsort (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o, %i = pd.cummax (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o, %i = pd.cummin (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o, %i = pd.kthvalue (%x) {k = 2}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o, %i = pd.topk (%x) {k = 2}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.expand_as (%x, %y)"#, &["x[3] 0.2 0.9", "y[2,3] 0.2 0.9"]),
    (
        r#"%o = pd.concat (%x, %y) {axis = 0}"#,
        &["x[2,3] 0.2 0.9", "y[1,3] 0.2 0.9"],
    ),
    (
        r#"%l = builtin.combine (%x, %y); %o = pd.concat (%l) {axis = 0}"#,
        &["x[2,3] 0.2 0.9", "y[1,3] 0.2 0.9"],
    ),
    (
        r#"%o = pd.stack (%x, %y) {axis = 0}"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (
        r#"%p, %o = pd.split (%x) {sections = [1, 2], axis = 1}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (
        r#"%p, %o = pd.split_with_num (%x) {num = 2, axis = 0}"#,
        &["x[2,3] 0.2 0.9"],
    ),
    (r#"%p, %o = pd.unstack (%x) {axis = 0, num = 2}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%p, %o = pd.unbind (%x) {axis = 0}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%p, %o = pd.meshgrid (%x, %y)"#, &["x[2] 0.2 0.9", "y[3] 0.2 0.9"]),
    (r#"%o, %p = pd.meshgrid (%x, %y)"#, &["x[2] 0.2 0.9", "y[3] 0.2 0.9"]),
    (
        r#"%o = pd.pad3d (%x) {paddings = [1, 0, 0, 1, 0, 0], mode = "reflect"}"#,
        &["x[1,1,2,2,2] 0.2 0.9"],
    ),
];

/// The same for operations without a derivative.
const CONSTANT: &[(&str, &[&str])] = &[
    (r#"%o = pd.equal (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.not_equal (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.less_than (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.less_equal (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.greater_than (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.greater_equal (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.floor_divide (%x, %y)"#, &["x[2,3] 1.2 1.9", "y[3] 0.3 0.8"]),
    (r#"%o = pd.floor (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.ceil (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.round (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.trunc (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.sign (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.isnan (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.isinf (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.isfinite (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.shape (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.shape64 (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.numel (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.nonzero (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.any (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.all (%x)"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.argmax (%x) {axis = 1}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.argmin (%x) {axis = 1}"#, &["x[2,3] 0.2 0.9"]),
    (r#"%o = pd.bernoulli (%x) {seed = 3}"#, &["x[2,3] 0.2 0.9"]),
    (
        r#"%t = pd.greater_than (%x, %y); %u = pd.less_than (%x, %y); %o = pd.logical_and (%t, %u)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (
        r#"%t = pd.greater_than (%x, %y); %u = pd.less_than (%x, %y); %o = pd.logical_or (%t, %u)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (
        r#"%t = pd.greater_than (%x, %y); %u = pd.less_than (%x, %y); %o = pd.logical_xor (%t, %u)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (
        r#"%t = pd.greater_than (%x, %y); %o = pd.logical_not (%t)"#,
        &["x[2,3] 0.2 0.9", "y[2,3] 0.2 0.9"],
    ),
    (
        r#"%j = pd.cast (%x) {dtype = i64}; %o = pd.bitwise_and (%j, %j)"#,
        &["x[3] 3.2 5.8"],
    ),
    (
        r#"%j = pd.cast (%x) {dtype = i64}; %o = pd.bitwise_or (%j, %j)"#,
        &["x[3] 3.2 5.8"],
    ),
    (
        r#"%j = pd.cast (%x) {dtype = i64}; %o = pd.bitwise_xor (%j, %j)"#,
        &["x[3] 3.2 5.8"],
    ),
    (
        r#"%j = pd.cast (%x) {dtype = i64}; %o = pd.bitwise_not (%j)"#,
        &["x[3] 3.2 5.8"],
    ),
    (
        r#"%j = pd.cast (%x) {dtype = i64}; %o = pd.one_hot (%j) {num_classes = 8}"#,
        &["x[3] 3.2 5.8"],
    ),
    (
        r#"%j = pd.cast (%x) {dtype = i64}; %o = pd.sequence_mask (%j) {max_len = 8}"#,
        &["x[3] 3.2 5.8"],
    ),
];

struct Case {
    text: String,
    inputs: Inputs,
    names: Vec<String>,
}

fn case(lines: &str, inputs: &[&str]) -> Case {
    let mut numbers = Numbers::new(lines.len() as u64 + 7);
    let (mut text, mut values, mut names) = (String::new(), Inputs::new(), Vec::new());
    for input in inputs {
        let words: Vec<&str> = input.split(' ').collect();
        let (name, shape) = words[0].split_once('[').unwrap();
        let shape = shape.trim_end_matches(']');
        let dims = shape.split(',').filter(|d| !d.is_empty()).map(|d| d.parse().unwrap());
        let dims: Vec<usize> = dims.collect();
        text += &format!("%{name} = pd.data {{name = \"{name}\", shape = {dims:?}, dtype = f64}}\n");
        values.push((
            name.to_owned(),
            numbers.tensor(&dims, words[1].parse().unwrap(), words[2].parse().unwrap()),
        ));
        names.push(name.to_owned());
    }
    text += &lines.replace("; ", "\n");
    text += "\n";
    Case {
        text,
        inputs: values,
        names,
    }
}

/// The operands that are inputs themselves, or lists of such, by operation and declared name.
fn tried(ctx: &Context, body: &Body, tried: &mut FxHashSet<(String, String)>) {
    let is_input = |op: Option<OpId>| op.is_some_and(|op| ctx.op_str(body.op_name(op)) == "pd.data");
    for op in body.walk_all() {
        let view = body.view(ctx, op);
        let Some(def) = view.def() else { continue };
        for (index, operand) in body.operands(op).enumerate() {
            let made = body.defining_op(operand);
            let list = made.is_some_and(|made| {
                ctx.op_str(body.op_name(made)) == "builtin.combine"
                    && body.operands(made).all(|v| is_input(body.defining_op(v)))
            });
            if is_input(made) || list {
                let name = &def.operands[view.declared_operand(index).unwrap()].name;
                tried.insert((def.name.to_string(), name.to_string()));
            }
        }
    }
}

/// The rows of the tables, and the lists of `builtin`.
fn rows(ctx: &Context) -> impl Iterator<Item = &pir_ir::OpDef> {
    let listed = |name: &str| matches!(name, "builtin.combine" | "builtin.split");
    ctx.ops()
        .filter(move |def| pir_dialects::pd::family(&def.name).is_some() || listed(&def.name))
        .filter(|def| !def.operands.is_empty() && !def.results.is_empty() && !pir_dialects::pd::is_foreign(&def.name))
}

#[test]
fn declared_operands_have_derivatives() {
    let ctx = pir_dialects::context();
    let seen = Mutex::new(FxHashSet::default());
    parallel::for_each(CASES, |(lines, inputs)| {
        let Case {
            mut text,
            mut inputs,
            names,
        } = case(lines, inputs);
        let plain = read(&ctx, &text);
        tried(&ctx, &plain.body, &mut seen.lock().unwrap());
        let of = |name: &str| {
            let named = |v: &pir_ir::ValueId| {
                plain
                    .body
                    .value_name(*v)
                    .is_some_and(|n| &*ctx.name_text(n.name) == name)
            };
            plain
                .body
                .walk_all()
                .flat_map(|op| plain.body.results(op))
                .find(named)
                .unwrap()
        };
        let (shape, _) = ctx.as_tensor(plain.body.value_type(of("o"))).unwrap();
        // What is known of the shape when the program runs only is looked up.
        let shape: Vec<usize> = match shape.iter().all(|&d| d >= 0) {
            true => shape.iter().map(|&d| d as usize).collect(),
            false => {
                let fetched = read(&ctx, &format!("{text}pd.fetch (%o) {{name = \"o\"}}\n"));
                run(&fetched, &inputs).fetched[0].1.shape().to_vec()
            }
        };
        inputs.push(("weight".to_owned(), Numbers::new(11).tensor(&shape, 0.5, 1.5)));
        text += &format!(
            "%weight = pd.data {{name = \"weight\", shape = {shape:?}, dtype = f64, stop_gradient = true}}\n\
             %weighted = pd.multiply (%o, %weight)\n%loss = pd.sum (%weighted)\npd.fetch (%loss) {{name = \"loss\"}}\n"
        );
        println!("{text}");
        let wrt: Vec<&str> = names.iter().map(String::as_str).collect();
        check_gradients(&ctx, &text, &inputs, &wrt, 5e-7);
        check_tangents(&ctx, &text, &inputs, &wrt, 1e-6);
        check_second_order(&ctx, &text, &inputs, &wrt, 5e-6);
    });
    let seen = seen.into_inner().unwrap();
    let mut missing = Vec::new();
    for def in rows(&ctx) {
        let Derivative::Operands(names) = &def.derivative else {
            continue;
        };
        for name in names.iter() {
            // Half precision keeps a copy of a parameter; the rule refuses it.
            let refused = (&*def.name, &**name) == ("pd.sgd_", "master_param");
            if !refused && !seen.contains(&(def.name.to_string(), name.to_string())) {
                missing.push(format!("{} {name}", def.name));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(seen.len() > 250, "{}", seen.len());
}

#[test]
fn declared_constants_are_constant() {
    let ctx = pir_dialects::context();
    let mut seen = FxHashSet::default();
    for (lines, inputs) in CONSTANT {
        let Case {
            mut text,
            inputs,
            names,
        } = case(lines, inputs);
        text += "pd.fetch (%o) {name = \"o\"}\n";
        let plain = read(&ctx, &text);
        for op in plain.body.walk_all() {
            seen.insert(ctx.op_str(plain.body.op_name(op)).to_owned());
        }
        let before = run(&plain, &inputs).fetched[0].1.to_f64();
        for at in 0..names.len() {
            for step in [1e-6, -1e-6] {
                let mut moved = inputs.clone();
                let values = moved[at].1.to_f64().iter().map(|v| v + step).collect::<Vec<f64>>();
                moved[at].1 = pir_interp::Tensor::new(moved[at].1.shape(), values).unwrap();
                assert_eq!(run(&plain, &moved).fetched[0].1.to_f64(), before, "{text}");
            }
        }
    }
    // Zero by its meaning, not by its numbers; constants and random numbers with shapes as operands.
    let excepted = ["pd.eye", "pd.gaussian", "pd.randint", "pd.detach"];
    let rows = rows(&ctx).filter(|def| def.derivative == Derivative::None && !def.has(Traits::CONSTANT));
    let missing: Vec<&str> = rows
        .map(|def| &*def.name)
        .filter(|name| !seen.contains(*name))
        .collect();
    assert_eq!(missing, excepted);
}
