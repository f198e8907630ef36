"""Operations of two tensors or more, element by element, with broadcasting."""

from paddle import _C_ops as C
import numpy as np

from case import ALL, BROADCASTS, FLOATS, INTS, Case, Tensor, covers, edges

NUMBERS = "add subtract multiply divide remainder floor_divide elementwise_pow atan2 maximum minimum fmax fmin"
COMPARISONS = "equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor"
BITS = "bitwise_and bitwise_or bitwise_xor"


def pairs(op, dtype):
    """All pairs of particular numbers."""
    values = edges(dtype)
    if dtype in FLOATS and len(values) > 30:
        values = values[[i for i, v in enumerate(np.abs(values.astype(float))) if v in (0, .5, 1, 2, 2.5, 3, 7, 1000) or not v < 1e37]]
    x, y = (a.ravel() for a in np.meshgrid(values, values, indexing="ij"))
    if dtype not in FLOATS and op in ("divide", "remainder", "floor_divide"):
        # Refused by both, or without meaning.
        keep = y != 0
        if dtype in ("i8", "i16", "i32", "i64"):
            keep &= ~((y == -1) & (x == np.iinfo(x.dtype).min))
        x, y = x[keep], y[keep]
    return [Tensor(x, dtype), Tensor(y, dtype)]


@covers(*NUMBERS.split(), *COMPARISONS.split(), *BITS.split())
def binary(draw, op):
    exact = op in ("add subtract multiply divide maximum minimum fmax fmin " + COMPARISONS + BITS).split()
    for dtype in ALL if op != "divide" else FLOATS + INTS:
        low = 1 if op in ("divide", "remainder", "floor_divide") and dtype not in FLOATS else None
        # PaddlePaddle's functions put casts in front.
        text = None
        if op == "divide" and dtype not in FLOATS:
            text = "%a = pd.cast (%x0) {dtype = f32}\n%b = pd.cast (%x1) {dtype = f32}\n%o0 = pd.divide (%a, %b)"
        for x, y in BROADCASTS:
            yield Case(op, [draw.tensor(x, dtype), draw.tensor(y, dtype, low)], ulp=1 if exact else 8, gulp=16, gscale=4, text=text)
        for _ in range(2):
            yield Case(op, [draw.ties([3, 4], dtype), draw.ties([4], dtype) if low is None else draw.tensor([4], dtype, 1)], ulp=1 if exact else 8,
                       gulp=16, gscale=4, text=text)
        yield Case(op, pairs(op, dtype), ulp=1 if exact else 8, gulp=16, gscale=0, signed=exact and "m" not in op, text=text)


@covers("where")
def where(draw, op):
    for dtype in ALL:
        for c, x, y in (([2, 3], [2, 3], [2, 3]), ([3], [2, 3], [1]), ([2, 1], [3], [2, 3]), ([], [], []), ([], [3], [3]), ([0], [0], [0]), ([1], [4], [])):
            yield Case(op, [draw.tensor(c, "i1"), draw.tensor(x, dtype), draw.tensor(y, dtype)], ulp=0, gulp=4, signed=True)
        a = edges(dtype)
        yield Case(op, [draw.tensor(a.shape, "i1"), Tensor(a, dtype), Tensor(a[::-1], dtype)], ulp=0, signed=True)


@covers("add_n")
def add_n(draw, op):
    for dtype in ALL:
        for shape in ([], [3], [2, 0], [2, 3]):
            for count in (1, 2, 3):
                yield Case(op, [draw.tensor(shape, dtype) for _ in range(count)], call=lambda *x: C.add_n(list(x)), ulp=2, scale=4)


@covers("swiglu")
def swiglu(draw, op):
    for dtype in FLOATS:
        for shape in ([4], [2, 4], [2, 3, 2], [0, 4]):
            yield Case(op, [draw.tensor(shape, dtype), draw.tensor(shape, dtype)], ulp=8, scale=1)
            yield Case(op, [draw.tensor(shape, dtype)], call=lambda x: C.swiglu(x, None), ulp=8, scale=1)


@covers("prelu")
def prelu(draw, op):
    for dtype in FLOATS:
        for mode, alpha, shape, layout in (("all", [1], [2, 3], "NCHW"), ("channel", [3], [2, 3, 2, 2], "NCHW"), ("channel", [2], [2, 3, 2, 2], "NHWC"),
                                           ("channel", [3], [2, 3], "NCHW"), ("element", [1, 3, 2], [2, 3, 2], "NCHW"),
                                           ("element", [3, 2], [2, 3, 2], "NCHW"), ("all", [1], [4], "NCHW"), ("all", [1], [0, 3], "NCHW")):
            yield Case(op, [draw.tensor(shape, dtype), draw.tensor(alpha, dtype)], f'data_format = "{layout}", mode = "{mode}"',
                       lambda x, a, m=mode, f=layout: C.prelu(x, a, f, m), ulp=2, gulp=8)
        yield Case(op, [Tensor(edges(dtype), dtype), draw.tensor([1], dtype)], 'mode = "all"', lambda x, a: C.prelu(x, a, "NCHW", "all"), ulp=2)
