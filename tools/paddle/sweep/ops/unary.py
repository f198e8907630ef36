"""Operations of one tensor, element by element."""

from paddle import _C_ops as C
import numpy as np

from case import ALL, FLOATS, SHAPES, Case, Tensor, attributes, covers, edges

EXACT = "neg abs sign floor ceil trunc relu relu6 isnan isinf isfinite logical_not bitwise_not assign"
SMOOTH = ("exp expm1 log log2 log10 log1p square reciprocal sinh cosh sin cos tan asin acos atan erf tanh sigmoid sqrt rsqrt silu "
          "swish hardswish logsigmoid softsign tanh_shrink asinh acosh atanh")
# Where most of the numbers are to be.
DOMAINS = {"log": (0.01, 5), "log2": (0.01, 5), "log10": (0.01, 5), "log1p": (-0.9, 5), "asin": (-1, 1), "acos": (-1, 1), "sqrt": (0, 9),
           "rsqrt": (0.1, 9), "acosh": (1, 5), "atanh": (-0.95, 0.95)}
# PaddlePaddle loses digits of small results.
CANCELLED = "silu swish logsigmoid tanh_shrink hardswish"
CALLS = {"neg": lambda x: -x}


def of_type(draw, dtype, low=None, high=None):
    """Tensors of all shapes, and one with particular numbers."""
    for shape in SHAPES:
        yield draw.tensor(shape, dtype, *((low, high) if dtype in FLOATS else ()))
    yield Tensor(edges(dtype), dtype)


@covers(*EXACT.split())
def exact(draw, op):
    for dtype in ALL:
        for x in of_type(draw, dtype):
            yield Case(op, [x], call=CALLS.get(op), ulp=0 if dtype in ("f32", "f64") else 1, gulp=1, signed=op in ("abs", "assign"))


NOT_CONVERTED = "square exp expm1 log log2 log10 log1p".split()


def converted(op, dtype, attrs=""):
    """What PaddlePaddle's programs say of integers: its functions put a cast in front."""
    return None if dtype in FLOATS or op in NOT_CONVERTED else f"%c = pd.cast (%x0) {{dtype = f32}}\n%o0 = pd.{op} (%c){attrs}"


@covers(*SMOOTH.split())
def smooth(draw, op):
    for dtype in ALL:
        for x in of_type(draw, dtype, *DOMAINS.get(op, ())):
            yield Case(op, [x], ulp=16 if dtype in ("f32", "f64") else 3, scale=1 if op in CANCELLED else 0, text=converted(op, dtype))
    for _ in range(4):
        yield Case(op, [draw.tensor([11], draw.pick(FLOATS), -6, 6)], ulp=16, scale=1 if op in CANCELLED else 0)


# Operations with numbers as attributes: names, and choices of them.
PARAMETERS = {
    "softplus": ("beta threshold", [(1.0, 20.0), (2.0, 20.0), (0.5, 1.0), (-1.0, 20.0)]),
    "elu": ("alpha", [(1.0,), (0.3,), (-0.5,), (0.0,)]),
    "selu": ("scale alpha", [(1.0507009873554804934193349852946, 1.6732632423543772848170429916717), (1.5, 0.5)]),
    "celu": ("alpha", [(1.0,), (0.3,), (2.5,)]),
    "leaky_relu": ("negative_slope", [(0.02,), (0.5,), (0.0,), (-0.3,), (1.5,)]),
    "hardsigmoid": ("slope offset", [(0.2, 0.5), (0.5, 0.25), (1 / 6, 0.5)]),
    "hardtanh": ("t_min t_max", [(0.0, 24.0), (-1.0, 1.0), (-0.5, 2.0)]),
    "mish": ("lambda", [(20.0,), (1.0,)]),
    "softshrink": ("threshold", [(0.5,), (0.0,), (1.5,)]),
    "hardshrink": ("threshold", [(0.5,), (0.0,), (1.5,)]),
    "thresholded_relu": ("threshold value", [(1.0, 0.0), (0.5, -2.0), (-1.0, 3.0)]),
    "stanh": ("scale_a scale_b", [(0.67, 1.7159), (1.5, -0.5)]),
    "increment": ("value", [(1.0,), (2.5,), (-1.0,), (0.1,)]),
}


@covers(*PARAMETERS)
def parameters(draw, op):
    names, choices = PARAMETERS[op]
    for dtype in ALL:
        for chosen in choices:
            # PaddlePaddle keeps most as f32.
            chosen = tuple(float(np.float32(c)) for c in chosen)
            for x in (draw.tensor([], dtype), draw.tensor([2, 0], dtype), draw.tensor([3, 4], dtype), Tensor(edges(dtype), dtype)):
                if op == "increment" and x.array.size != 1:
                    x = draw.tensor(draw.pick([[], [1], [1, 1]]), dtype)
                # PaddlePaddle does this one in place.
                call = (lambda x, c=chosen: C.increment(x * 1 if x.dtype.name != "BOOL" else x, *c)) if op == "increment" else \
                    (lambda x, c=chosen: getattr(C, op)(x, *c))
                text = attributes(**dict(zip(names.split(), chosen)))
                yield Case(op, [x], text, call, text=converted(op, dtype, f" {{{text}}}") if op == "stanh" else None, ulp=16 if dtype in ("f32", "f64") else 3, scale=1)


@covers("gelu")
def gelu(draw, op):
    for dtype in ALL:
        for approximate in (False, True):
            for x in of_type(draw, dtype):
                yield Case(op, [x], attributes(approximate=approximate), lambda x, a=approximate: C.gelu(x, a), ulp=16, scale=1)


@covers("round")
def rounded(draw, op):
    for dtype in ALL:
        for decimals in (0, 1, 2, -1, 3):
            for x in of_type(draw, dtype):
                yield Case(op, [x], attributes(decimals=decimals), lambda x, d=decimals: C.round(x, d), ulp=2)
        halves = [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 0.25, 0.35, 0.125, 1.005, 15, 25, 35, -25, 4503599627370497.5, 8388609.0]
        yield Case(op, [Tensor(halves, dtype)], signed=True, ulp=0)


@covers("cast")
def cast(draw, op):
    from case import PADDLE
    import paddle
    for dtype in ALL:
        for to in ALL:
            for x in (draw.tensor([], dtype), draw.tensor([0, 2], dtype), draw.tensor([3, 4], dtype), Tensor(edges(dtype), dtype)):
                yield Case(op, [x], f"dtype = {to}", lambda x, to=to: C.cast(x, getattr(paddle, PADDLE[to])), ulp=0, gulp=1, signed=True)


@covers("detach")
def detach(draw, op):
    for dtype in ALL:
        for x in of_type(draw, dtype):
            yield Case(op, [x], call=lambda x: x.detach(), ulp=0, signed=True)
