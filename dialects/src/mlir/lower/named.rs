//! Which elements the named operations of `linalg` compute with: their maps, as MLIR's structured operations have them.

/// The loops of an operation, a letter each, and the indices of each operand. `h+y` goes in steps: `h * stride + y * dilation`.
pub(crate) struct Named {
    pub(crate) loops: &'static str,
    pub(crate) operands: &'static [&'static str],
}

/// The operations that work on elements at the same place; operands without dimensions are for all.
pub(crate) const ELEMENTWISE: &[&str] = &[
    "abs",
    "add",
    "ceil",
    "copy",
    "div",
    "div_unsigned",
    "elemwise_binary",
    "elemwise_unary",
    "erf",
    "exp",
    "fill",
    "floor",
    "log",
    "max",
    "min",
    "mul",
    "negf",
    "powf",
    "reciprocal",
    "round",
    "rsqrt",
    "select",
    "sqrt",
    "square",
    "sub",
    "tanh",
];

macro_rules! named {
    ([$($name:literal),+], $loops:literal : $($operand:literal),+) => {
        (&[$($name),+], Named { loops: $loops, operands: &[$($operand),+] })
    };
}

/// The others, by their names.
pub(crate) const NAMED: &[(&[&str], Named)] = &[
    named!(["dot"], "m": "m", "m", ""),
    named!(["matvec"], "mn": "m,n", "n", "m"),
    named!(["vecmat"], "nm": "m", "m,n", "n"),
    named!(["matmul"], "mnk": "m,k", "k,n", "m,n"),
    named!(["matmul_transpose_a"], "mnk": "k,m", "k,n", "m,n"),
    named!(["matmul_transpose_b"], "mnk": "m,k", "n,k", "m,n"),
    named!(["batch_matmul"], "bmnk": "b,m,k", "b,k,n", "b,m,n"),
    named!(["batch_matmul_transpose_a"], "bmnk": "b,k,m", "b,k,n", "b,m,n"),
    named!(["batch_matmul_transpose_b"], "bmnk": "b,m,k", "b,n,k", "b,m,n"),
    named!(["batch_matvec"], "bmk": "b,m,k", "b,k", "b,m"),
    named!(["batch_vecmat"], "bnk": "b,k", "b,k,n", "b,n"),
    named!(["batch_reduce_matmul"], "bmnk": "b,m,k", "b,k,n", "m,n"),
    named!(["conv_1d"], "wx": "w+x", "x", "w"),
    named!(["conv_2d"], "hwyx": "h+y,w+x", "y,x", "h,w"),
    named!(["conv_3d"], "dhwzyx": "d+z,h+y,w+x", "z,y,x", "d,h,w"),
    named!(["conv_1d_nwc_wcf"], "nwfxc": "n,w+x,c", "x,c,f", "n,w,f"),
    named!(["conv_1d_ncw_fcw"], "nfwcx": "n,c,w+x", "f,c,x", "n,f,w"),
    named!(["conv_2d_nhwc_hwcf"], "nhwfyxc": "n,h+y,w+x,c", "y,x,c,f", "n,h,w,f"),
    named!(["conv_2d_nhwc_fhwc"], "nhwfyxc": "n,h+y,w+x,c", "f,y,x,c", "n,h,w,f"),
    named!(["conv_2d_nchw_fchw"], "nfhwcyx": "n,c,h+y,w+x", "f,c,y,x", "n,f,h,w"),
    named!(["depthwise_conv_1d_nwc_wc"], "nwcx": "n,w+x,c", "x,c", "n,w,c"),
    named!(["depthwise_conv_1d_ncw_cw"], "nwcx": "n,c,w+x", "c,x", "n,c,w"),
    named!(["depthwise_conv_2d_nhwc_hwc"], "nhwcyx": "n,h+y,w+x,c", "y,x,c", "n,h,w,c"),
    named!(["depthwise_conv_2d_nchw_chw"], "nhwcyx": "n,c,h+y,w+x", "c,y,x", "n,c,h,w"),
    named!(["pooling_nwc_sum", "pooling_nwc_max", "pooling_nwc_min"], "nwcx": "n,w+x,c", "x", "n,w,c"),
    named!(["pooling_ncw_sum", "pooling_ncw_max"], "ncwx": "n,c,w+x", "x", "n,c,w"),
    named!(["pooling_nhwc_sum", "pooling_nhwc_max", "pooling_nhwc_min"], "nhwcyx": "n,h+y,w+x,c", "y,x", "n,h,w,c"),
    named!(["pooling_nchw_sum", "pooling_nchw_max"], "nchwyx": "n,c,h+y,w+x", "y,x", "n,c,h,w"),
];
