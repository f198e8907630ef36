"""What is not compared, and differences that stay. docs/paddle.md tells of them under "Where results differ"."""

import re

import numpy as np

from case import MAX


class Difference:
    """A difference that stays. `what` is a part of "result 0", "backward gradient 0", "eager gradient 0", "refusal",
    "backward refusal", …, and "" is all; `when` chooses cases, `elements` those elements that may differ."""

    def __init__(self, ops, what, reason, when=None, elements=None, dtypes=None, pending=False):
        self.ops = ops.split()
        self.what, self.reason, self.when, self.elements = what, reason, when, elements
        self.dtypes = dtypes.split() if dtypes else None
        # Not in every run: PaddlePaddle may crash before it.
        self.pending = pending

    def covers(self, case, what):
        if case.op not in self.ops or (self.dtypes and case.dtype not in self.dtypes) or self.what not in what:
            return False
        return self.when is None or bool(self.when(case))

    def rest(self, case, bad):
        """What of the differing elements the entry does not explain."""
        if self.elements is None or bad is None:
            return None
        with np.errstate(all="ignore"):
            return bad & ~np.broadcast_to(self.elements(case), bad.shape)

    def __str__(self):
        return f"{' '.join(self.ops)}: {self.reason}"


CONTROL = "control flow and blocks are compared by tools/paddle/test and tests/paddle_random.rs"
CHANGES = "programs with operations in place are compared by tools/paddle/changes"
COMPOSED = "PaddlePaddle has no such operation: it is written as what it computes; tests/derivatives and numpy's cases compare it"
PROCESSES = "it needs several processes: tools/paddle/listings runs a training with `all_reduce_` over two"
INPUTS = "it is an input or an output of a program, and nothing is computed"
NOT_SWEPT = {
    "slogdet": "PaddlePaddle infers one number for each matrix, and gives two",
    **dict.fromkeys("branch condition_branch if if_grad return while while_grad".split(), CONTROL),
    **dict.fromkeys("data feed fetch parameter shadow_output print".split(), INPUTS),
    **dict.fromkeys("assign_out_ set_value_with_tensor".split(), CHANGES),
    **dict.fromkeys("const constant".split(), "PaddlePaddle has no such operation: a short spelling of `pd.full`"),
    **dict.fromkeys(
        "all_gather all_reduce all_to_all broadcast c_allreduce_sum c_identity mp_allreduce_sum recv_v2 reduce reduce_scatter send_v2".split(),
        PROCESSES,
    ),
    "assert": "it ends PaddlePaddle's executor: tools/paddle/programs has a program with it",
    "softcap": COMPOSED,
    "scaled_dot_product_attention": COMPOSED,
    "scaled_dot_product_attention_grad": COMPOSED,
    "channel_norm_grad": COMPOSED,
    "inplace_add": "PaddlePaddle has no such operation: `inplace-accumulate` writes it, and tests/equivalence compares it",
}


def x(case, index=0):
    return case.tensors[index].array.astype(np.float64)


def has_nan(case):
    return any(np.isnan(t.array.astype(np.float64)).any() for t in case.tensors)


def special(case):
    return any(not np.isfinite(t.array.astype(np.float64)).all() for t in case.tensors)


def nan(case):
    return np.isnan(x(case))


def infinite(case):
    return ~np.isfinite(x(case))


def beyond(limit):
    return lambda case: ~(np.abs(x(case)) < limit)


def near_overflow(case):
    """Where squares or products overflow."""
    out = False
    for tensor in case.tensors:
        out = out | ~(np.abs(tensor.array.astype(np.float64)) < np.sqrt(MAX[case.dtype]) / 2)
    return out


def noted(*words):
    return lambda case: any(word in case.note for word in words)


def says(*words):
    return lambda case: all(word in case.text for word in words)


def one_exclusive(case):
    return "exclusive = true" in case.text and case.tensors[0].array.size == 1


def all_ignored(case):
    index = re.search(r"ignore_index = (-?\d+)", case.text)
    return "normalize = true" in case.text and index and (x(case, 1) == int(index[1])).all()


def zero_in(case):
    return (x(case) == 0).any()


D = Difference
DIFFERENCES = [
    # What is not a number, or infinite: PaddlePaddle's vector instructions and formulas lose it.
    D("relu", "result", "of a NaN, the CPU's instruction gives 0 there; here it stays, as in torch", elements=nan),
    D("leaky_relu selu", "gradient", "the gradient at a NaN is another", elements=nan),
    D("leaky_relu", "result", "0 times minus infinity is a NaN; there it is minus infinity", elements=infinite, when=says("negative_slope = 0.0")),
    D("abs", "gradient", "there x is divided by its absolute value, which is a NaN of infinity", elements=infinite),
    D("max min amax amin", "gradient", "of a NaN that is the extremum the gradient is a NaN there, here it goes to the NaN", when=has_nan),
    D("argmax argmin", "result", "a NaN wins here, as in numpy and torch; there it depends on where it stands", when=has_nan),
    D("logsumexp", "", "infinities that cancel are NaN there; torch has infinity", when=special),
    D("logsigmoid", "", "minus infinity is a NaN there", elements=infinite),
    D("softshrink thresholded_relu", "result", "infinities are NaN there, as they are multiplied by zero", elements=infinite),
    D("sqrt", "", "infinity is a NaN there in vectors of f32", elements=beyond(1e37)),
    D("sqrt", "gradient", "at minus zero the infinity has another sign", elements=lambda c: x(c) == 0),
    D("asinh acosh", "gradient", "the square overflows there", elements=near_overflow),
    D("atan2", "gradient", "the sum of squares overflows, in another way", elements=near_overflow),
    D("hardswish swish gelu mish square", "gradient", "products overflow there or here", elements=beyond(1e18)),
    D("silu", "gradient", "there the exponential of f32 loses digits, which large numbers make larger", elements=beyond(10)),
    D("divide", "eager gradient", "the quotient of the largest numbers overflows there", elements=near_overflow),
    D("celu", "gradient", "the exponential of large numbers overflows there", elements=beyond(20)),
    D("log2 log10", "gradient", "at minus zero it is plus infinity there", elements=lambda c: x(c) == 0),
    D("pow", "", "of minus zero, odd negative powers are plus infinity there, and odd powers of minus infinity in f64", elements=lambda c: (x(c) == 0) | infinite(c)),
    D("prod prod_grad", "", "of a zero the gradient is a NaN there; here it is the product of the others", when=lambda c: zero_in(c) or special(c)),
    # What PaddlePaddle limits, or rounds.
    D("log_softmax", "", "there logarithms are limited to -64; torch has what mathematics says", when=noted("edges")),
    D("cross_entropy_with_softmax", "", "there logarithms are limited to -64; torch has what mathematics says", when=noted("edges")),
    D("logsumexp", "gradient", "there the exponential of f32 loses digits at 1000", when=lambda c: (np.abs(x(c)) > 500).any()),
    D("fmax fmin trunc", "result", "integers go through floats there, and lose digits", dtypes="i32 i64"),
    D("mean", "result", "the sum of large integers overflows there", dtypes="i32 i64", when=lambda c: (np.abs(x(c)) > 2**20).any()),
    D("sum", "result", "floats of 16 bits are summed before they become integers there, those of 32 bits after; here always after",
      dtypes="f16 bf16", when=says("dtype = ")),
    D("atan2", "result", "of integers it has the digits of an f32 there", dtypes="i8 i16 i32 i64 ui8", when=lambda c: True),
    D("elementwise_pow", "result", "integers go through doubles there: what overflows, and negative powers of 0, are what is made of infinity",
      dtypes="i8 i16 i32 i64 ui8", elements=lambda c: (x(c) == 0) & (x(c, 1) < 0) | (np.abs(x(c)) ** x(c, 1) > 2.0**31) | (np.abs(x(c, 1)) > 2.0**53)),
    D("cumprod", "eager gradient", "infinities and zeros meet in another order", when=special),
    D("selu", "gradient", "the product of its constants is rounded to f32 there", dtypes="f64"),
    D("pool2d", "gradient", "one over the size of the window is rounded to f32 there", dtypes="f64", when=says('"avg"')),
    D("sigmoid_cross_entropy_with_logits", "", "when all labels are ignored, nothing is divided by nothing there; here it is 0", when=all_ignored),
    D("sigmoid_cross_entropy_with_logits", "gradient", "at 0 it has another sign there", elements=lambda c: x(c) == 0),
    # Ties and bounds.
    D("hardshrink", "", "at the threshold the kernel there keeps the element; its documentation and torch have 0",
      elements=lambda c: np.isin(np.abs(x(c)), [0.0, 0.5, 1.5])),
    D("leaky_relu", "gradient", "at 0 it has the slope of the positive side there; torch has that of the negative one", elements=lambda c: x(c) == 0),
    D("topk kthvalue", "", "of equal elements, which one is chosen follows from its algorithm there; here it is the first", when=noted("ties")),
    # What PaddlePaddle does not differentiate, or gets wrong.
    D("cross_entropy_with_softmax", "gradient", "the softmax and soft labels have no gradient there; here they have", when=noted("everything")),
    D("masked_fill", "gradient", "the gradient of the value is not set there", when=lambda c: len(c.tensors) == 3),
    D("increment", "gradient", "a counter has no gradient there; here it is that of x + value"),
    D("kthvalue", "gradient", "of a scalar it is 1 there, whatever the cotangent", when=lambda c: c.tensors[0].array.ndim == 0),
    D("group_norm", "gradient", "without a scale it is wrong there, as differences tell, and so it is where the scale is zero", when=lambda c: len(c.tensors) == 1 or (x(c, 1) == 0).any()),
    D("rnn", "gradient", "with lengths and two directions it is wrong there, as differences tell", when=lambda c: c.tensors[-1].dtype == "i32" and says("is_bidirec = true")(c)),
    D("spectral_norm", "gradient", "it is not the derivative there, as differences tell, where the iterations have converged either"),
    D("mish", "gradient", "above the threshold, the derivative there is not that of the result", when=says("lambda = 1.0")),
    D("cumsum cumprod", "", "an exclusive sum or product of one element is the element there, not nothing", when=one_exclusive),
    D("pool2d", "", "the adaptive maximum looks at other windows there; its functions use max_pool2d_with_index", when=says('"max"', "adaptive = true")),
    D("put_along_axis", "gradient 0", "of products it is divided by the element there, which may be zero", when=says('"mul"'), elements=lambda c: x(c) == 0),
    D("put_along_axis", "gradient 2", "of products it is divided by the element there, which may be zero", when=says('"mul"'), elements=lambda c: x(c, 2) == 0),
    D("matmul", "result", "of integers in batches that are spread over each other, the shape is wrong there, or it crashes", dtypes="i32 i64",
      when=lambda c: c.tensors[0].array.ndim > 3, pending=True),
    # Types.
    D("shape", "result", "it is of i32 there, and of i64 here; it is written as `shape64`"),
    D("exp expm1 log log2 log10 log1p", "refusal", "of integers, the type in the program is not that of the result there"),
    D("neg scale", "refusal", "truth values are no numbers", dtypes="i1"),
    D("sequence_mask", "refusal", "lengths are integers", dtypes="f32 f64"),
    # What is refused here.
    D("sum mean max min prod argmax argmin squeeze unsqueeze tile expand reshape cumsum", "refusal",
      "the rank or the derivative of what depends on a computed axis is not known beforehand", when=noted("operand")),
    # Norms and powers.
    D("pow", "result", "a computed exponent is rounded to f32 there", dtypes="f64", when=noted("computed")),
    D("elementwise_pow", "gradient", "exponents of more digits than the type has are rounded there before they are odd or even", dtypes="bf16",
      elements=lambda c: np.abs(x(c, 1)) > 256),
    D("linear_interp", "result", "with aligned corners one of the two weights is not rounded to f32 there, though it is in the gradient",
      dtypes="f64", when=says("align_corners = true")),
    D("frobenius_norm p_norm", "gradient", "there a small number is added to the norm that it is divided by", dtypes="f64"),
    D("lp_pool2d", "", "powers are rounded to f32 there", dtypes="f64"),
    D("p_norm", "result", "the root is rounded to f32 there", dtypes="f64",
      when=lambda c: "porder = 3.0" in c.text or "porder = 2.5" in c.text),
    D("p_norm", "gradient", "powers below 2 of a zero are NaN there, and so are those of infinities here", when=lambda c: zero_in(c) or special(c)),
    D("p_norm", "result", "with a negative order, the norm of nothing is 0 there", when=lambda c: c.tensors[0].array.size == 0),
    D("p_norm", "result", "of order minus infinity, what is behind a NaN is passed over there; here the NaN is",
      when=lambda c: "porder = 0xFFF0" in c.text and has_nan(c)),
    D("p_norm", "gradient", "of order minus infinity, each of equal elements has all of the gradient there", when=says("porder = 0xFFF0")),
]
