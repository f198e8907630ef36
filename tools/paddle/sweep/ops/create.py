"""Constants, shapes, and random numbers where they are not random."""

from paddle import _C_ops as C
import paddle

from case import ALL, FLOATS, INTS, MAX, PADDLE, Case, attributes, covers, number, SHAPES, Tensor


def place():
    return paddle.CPUPlace()


def typed(name):
    return getattr(paddle, PADDLE[name])


@covers("full")
def full(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [2, 3], [0], [2, 0]):
            for value in (0, 1, 2.5, -1, -2.7, 0.1, 7, True):
                yield Case(op, [], attributes(shape=shape, value=value) + f", dtype = {dtype}",
                           lambda s=shape, v=value, d=dtype: C.full(s, v, typed(d), place()), ulp=0, signed=True)
        for value in (float("inf"), float("-inf"), float("nan"), -0.0, 1e-3, 1e30, 2**31, 2**40, -(2**31), 2**53 + 1, 300, 2**63 - 1):
            if dtype in INTS and isinstance(value, float):
                continue
            yield Case(op, [], attributes(shape=[1], value=value) + f", dtype = {dtype}", lambda v=value, d=dtype: C.full([1], v, typed(d), place()),
                       ulp=0, signed=True)


@covers("full_int_array")
def full_int_array(draw, op):
    for dtype in ("i64", "i32"):
        for value in ([], [1], [1, -2, 3], [2**31 - 1, -(2**31)]):
            yield Case(op, [], attributes(value=value) + f", dtype = {dtype}", lambda v=value, d=dtype: C.full_int_array(v, typed(d), place()))


@covers("assign_value")
def assign_value(draw, op):
    for dtype in ("f32", "f64", "i32", "i64", "i8", "i1"):
        for shape, values in (([3], [0, 1, 5]), ([2, 2], [1, 2, 3, 4]), ([1], [-1]), ([], [2])):
            given = [float(v) + 0.5 for v in values] if dtype in FLOATS else values
            yield Case(op, [], attributes(shape=shape, values=given) + f", dtype = {dtype}",
                       lambda s=shape, v=given, d=dtype: C.assign_value_(paddle.empty(s, PADDLE[d]), s, typed(d), v, place()), ulp=0)


@covers("arange")
def arange(draw, op):
    for dtype in ("f32", "f64", "i32", "i64", "f16", "bf16"):
        for start, end, step in ((0, 5, 1), (1, 6, 2), (5, 0, -1), (5, 0, -2), (0, 0, 1), (-3, 3, 1), (0, 1, 3)):
            yield Case(op, [], attributes(start=start, end=end, step=step) + f", dtype = {dtype}",
                       lambda a=start, b=end, s=step, d=dtype: paddle.arange(a, b, s, PADDLE[d]), ulp=2, scale=2)
            given = "i64" if dtype in INTS else "f32"
            constants = "\n".join(f"%k{i} = pd.full {{shape = [1], value = {number(v)}, dtype = {given}}}" for i, v in enumerate((start, end, step)))
            yield Case(op, [], text=f"{constants}\n%o0 = pd.arange (%k0, %k1, %k2) {{dtype = {dtype}}}",
                       call=lambda a=start, b=end, s=step, d=dtype: paddle.arange(a, b, s, PADDLE[d]), ulp=2, scale=2, typed=True)
        if dtype in FLOATS:
            for start, end, step in ((0.0, 1.0, 0.1), (0.5, 3.0, 0.75), (1.0, 0.0, -0.3), (0.0, 1.0, 1 / 3)):
                yield Case(op, [], attributes(start=start, end=end, step=step) + f", dtype = {dtype}",
                           lambda a=start, b=end, s=step, d=dtype: paddle.arange(a, b, s, PADDLE[d]), ulp=4, scale=2)


@covers("eye")
def eye(draw, op):
    for dtype in ALL:
        for rows, columns in ((3, 3), (2, 4), (4, 2), (1, 1), (0, 3), (3, 0), (0, 0)):
            yield Case(op, [], attributes(num_rows=rows, num_columns=columns) + f", dtype = {dtype}",
                       lambda r=rows, c=columns, d=dtype: C.eye(r, c, typed(d), place()))


@covers("shape", "shape64", "numel")
def shape(draw, op):
    for dtype in ALL:
        for s in SHAPES:
            yield Case(op, [draw.tensor(s, dtype)])


@covers("uniform")
def uniform(draw, op):
    """A range of one number, and the type and shape of others."""
    for dtype in ("f32", "f64"):
        for s in ([], [3], [2, 3], [0]):
            yield Case(op, [], attributes(shape=s, min=2.0, max=2.0, seed=1) + f", dtype = {dtype}",
                       lambda s=s, d=dtype: C.uniform(s, typed(d), 2.0, 2.0, 1, place()), ulp=0)


@covers("gaussian")
def gaussian(draw, op):
    for dtype in ("f32", "f64"):
        for s in ([], [3], [2, 3], [0]):
            yield Case(op, [], attributes(shape=s, mean=1.5, std=0.0, seed=1) + f", dtype = {dtype}",
                       lambda s=s, d=dtype: C.gaussian(s, 1.5, 0.0, 1, typed(d), place()), ulp=0)


@covers("randint")
def randint(draw, op):
    for dtype in ("i32", "i64"):
        for s in ([], [3], [2, 3], [0]):
            yield Case(op, [], attributes(low=4, high=5, shape=s) + f", dtype = {dtype}", lambda s=s, d=dtype: C.randint(4, 5, s, typed(d), place()))


@covers("randperm")
def randperm(draw, op):
    for dtype in ("i32", "i64", "f32", "f64"):
        yield Case(op, [], f"n = 1, dtype = {dtype}", lambda d=dtype: C.randperm(1, typed(d), place()))
        yield Case(op, [], text=f"%p = pd.randperm {{n = 6, dtype = {dtype}}}\n%o0, %i = pd.argsort (%p)",
                   call=lambda d=dtype: C.argsort(C.randperm(6, typed(d), place()), -1, False, False), note="sorted")


@covers("bernoulli")
def bernoulli(draw, op):
    for dtype in ("f32", "f64"):
        for s in ([], [3], [2, 3], [0]):
            yield Case(op, [Tensor(draw.array(s, "i1"), dtype)])
