"""Gradients as operations of their own, on any numbers: what `backward` emits, and what PaddlePaddle's programs hold."""

from paddle import _C_ops as C

from case import FLOATS, Case, Tensor, attributes, covers, edges


@covers("tanh_grad", "sigmoid_grad", "relu_grad", "sqrt_grad", "rsqrt_grad", "abs_grad")
def unary(draw, op):
    for dtype in FLOATS:
        low = (0.2, 3) if "sqrt" in op else (-1, 1)
        for shape in ([], [5], [2, 3], [0]):
            yield Case(op, [draw.tensor(shape, dtype, *low), draw.tensor(shape, dtype)], ulp=8, scale=1, grad=False)


@covers("pow_grad")
def power(draw, op):
    for dtype in FLOATS:
        for y in (2.0, 3.0, 0.5, -1.0, 1.0, 0.0):
            yield Case(op, [draw.tensor([2, 3], dtype, 0.2, 3), draw.tensor([2, 3], dtype)], attributes(y=y), lambda x, g, y=y: C.pow_grad(x, g, y), ulp=16, scale=1, grad=False)


@covers("clip_grad")
def clip(draw, op):
    for dtype in FLOATS:
        for low, high in ((-1.0, 1.0), (0.0, 2.5), (0.5, 0.5)):
            x = [0, -1, 1, 2.5, 0.5, 3, -3]
            yield Case(op, [Tensor(x, dtype), draw.tensor([len(x)], dtype)], attributes(min=low, max=high), lambda x, g, a=low, b=high: C.clip_grad(x, g, a, b), ulp=0, grad=False)


@covers("maximum_grad", "minimum_grad")
def extremum(draw, op):
    for dtype in ("f32", "f64"):
        for x, y, out in (([3], [3], [3]), ([2, 3], [3], [2, 3]), ([], [2], [2]), ([2, 1], [1, 3], [2, 3])):
            for make in (draw.distinct, draw.ties):
                yield Case(op, [make(x, dtype), make(y, dtype), draw.tensor(out, dtype)], outs=2, ulp=8, scale=1, grad=False)


@covers("max_grad", "min_grad", "prod_grad")
def reductions(draw, op):
    name = op.removesuffix("_grad")
    for dtype in ("f32", "f64"):
        for shape, axis, keep, out in (([2, 3], [0], False, [3]), ([2, 3], [1], True, [2, 1]), ([4], [0], False, [])):
            x = draw.tensor(shape, dtype)
            of = {"max": x.array.max, "min": x.array.min, "prod": x.array.prod}[name](axis=axis[0], keepdims=keep)

            def call(x, o, g, a=axis, k=keep):
                return C.prod_grad(x, o, g, a, k, False) if name == "prod" else getattr(C, op)(x, o, g, a, k, False)

            yield Case(op, [x, Tensor(of, dtype), draw.tensor(out, dtype)], attributes(axis=axis, keepdim=keep), call, ulp=16, scale=1, grad=False)


@covers("softmax_grad", "log_softmax_grad")
def softmax(draw, op):
    for dtype in FLOATS:
        for shape, axis in (([4], -1), ([2, 3], 0), ([2, 3], 1)):
            yield Case(op, [draw.tensor(shape, dtype, -1, 1), draw.tensor(shape, dtype)], f"axis = {axis}", lambda o, g, a=axis: getattr(C, op)(o, g, a), ulp=16, scale=2, grad=False)


@covers("conv2d_grad")
def conv2d(draw, op):
    for dtype in ("f32", "f64"):
        given = dict(strides=[2, 1], paddings=[1, 1], padding_algorithm="EXPLICIT", dilations=[1, 1], groups=1, data_format="NCHW")
        tensors = [draw.tensor([2, 2, 5, 4], dtype), draw.tensor([3, 2, 2, 3], dtype), draw.tensor([2, 3, 3, 4], dtype)]
        yield Case(op, tensors, attributes(**given), lambda x, f, g, a=given: C.conv2d_grad(x, f, g, *a.values()), outs=2, ulp=16, scale=4, grad=False)


@covers("pool2d_grad")
def pool2d(draw, op):
    for dtype in ("f32", "f64"):
        given = dict(kernel_size=[2, 2], strides=[2, 2], paddings=[0, 0], ceil_mode=False, exclusive=True, data_format="NCHW", pooling_type="max", global_pooling=False, adaptive=False,
                     padding_algorithm="EXPLICIT")
        x = draw.ties([1, 2, 4, 4], dtype)
        out = x.array.reshape(1, 2, 2, 2, 2, 2).max(axis=(3, 5))
        yield Case(op, [x, Tensor(out, dtype), draw.tensor([1, 2, 2, 2], dtype)], attributes(**given), lambda x, o, g, a=given: C.pool2d_grad(x, o, g, *a.values()), ulp=4, grad=False)


@covers("slice_grad")
def slices(draw, op):
    for dtype in FLOATS:
        yield Case(op, [draw.tensor([2], dtype), draw.tensor([5], dtype)], "axes = [0], starts = [1], ends = [3]",
                   lambda g, x: C.slice_grad(x, g, [0], [1], [3], [1], []), ulp=0, grad=False)


@covers("gather_grad", "index_select_grad", "take_along_axis_grad")
def gathers(draw, op):
    for dtype in ("f32", "f64"):
        index = draw.index([3] if op != "take_along_axis_grad" else [3, 3], 0, 3)
        g = draw.tensor([3, 3], dtype)

        def call(i, g, x):
            return getattr(C, op)(x, i, g, 0)

        yield Case(op, [index, g, draw.tensor([4, 3], dtype)], "axis = 0", call, ulp=4, scale=1, grad=False)


@covers("gather_nd_grad")
def gather_nd(draw, op):
    for dtype in ("f32", "f64"):
        yield Case(op, [draw.index([3, 1], 0, 3), draw.tensor([3, 2], dtype), draw.tensor([4, 2], dtype)], call=lambda i, g, x: C.gather_nd_grad(x, i, g), ulp=4, scale=1, grad=False)
