"""Reductions and running sums."""

from paddle import _C_ops as C
import paddle

from case import ALL, FLOATS, INTS, PADDLE, Case, Tensor, attributes, axes_of, covers, edges

RANKS = ([], [1], [4], [2, 3], [2, 3, 4], [0], [2, 0], [0, 3], [2, 0, 3])


def reductions(draw, op, shapes=RANKS, dtypes=ALL):
    """Tensors, axes, and whether they are kept: all that a reduction may be asked."""
    for dtype in dtypes:
        for shape in shapes:
            for axis in axes_of(len(shape)):
                for keep in (False, True):
                    # PaddlePaddle gives what stood in memory.
                    if 0 in shape and (op in ("amax", "amin") or op == "mean" and dtype not in FLOATS):
                        continue
                    yield (draw.ties if op in ("max", "min", "amax", "amin", "any", "all") and draw.chance() else draw.tensor)(shape, dtype), axis, keep


def particular(draw, dtype):
    """NaN and infinities in some places."""
    if dtype not in FLOATS:
        yield Tensor(edges(dtype), dtype)
        return
    inf, nan = float("inf"), float("nan")
    yield Tensor([[nan, 1, 2], [inf, 1, -inf], [-inf, -inf, -inf], [inf, inf, 1], [0.0, -0.0, 0.0], [1, nan, inf], [3, 2, 3], [-0.0, -0.0, -0.0]], dtype)


@covers("sum")
def total(draw, op):
    for x, axis, keep in reductions(draw, op):
        yield Case(op, [x], attributes(axis=axis, keepdim=keep), lambda x, a=axis, k=keep: C.sum(x, a, None, k), ulp=8, scale=8)
    for dtype in ALL:
        for to in ALL:
            for shape, axis in (([], []), ([3], [0]), ([2, 3], [1])):
                yield Case(op, [draw.tensor(shape, dtype)], attributes(axis=axis) + f", dtype = {to}, keepdim = false",
                           lambda x, a=axis, t=to: C.sum(x, a, getattr(paddle, PADDLE[t]), False), ulp=8, scale=8)
        for x in particular(draw, dtype):
            yield Case(op, [x], attributes(axis=[-1]), lambda x: C.sum(x, [-1], None, False), scale=8)
        if dtype in INTS:
            big = Tensor([edges(dtype).max()] * 3, dtype)
            yield Case(op, [big], "", lambda x: C.sum(x, [], None, False))


@covers("mean", "max", "min", "amax", "amin", "any", "all")
def reduce(draw, op):
    summed = op == "mean"
    for x, axis, keep in reductions(draw, op):
        yield Case(op, [x], attributes(axis=axis, keepdim=keep), lambda x, a=axis, k=keep: getattr(C, op)(x, a, k), ulp=8 if summed else 0,
                   scale=8 if summed else 0, gulp=8)
    for dtype in ALL:
        for x in particular(draw, dtype):
            for axis in ([-1], []):
                yield Case(op, [x], attributes(axis=axis), lambda x, a=axis: getattr(C, op)(x, a, False), ulp=8 if summed else 0, gulp=8)


@covers("prod")
def product(draw, op):
    for x, axis, keep in reductions(draw, op):
        everything = not axis
        yield Case(op, [x], attributes(axis=axis, keepdim=keep), lambda x, a=axis, k=keep, e=everything: C.prod(x, a, k, e), ulp=8, scale=1, gulp=16)
    for dtype in ALL:
        for zeros in ([0, 2, 3], [0, 0, 3], [1, 0, -2]):
            yield Case(op, [Tensor(zeros if dtype != "ui8" else [abs(z) for z in zeros], dtype)], "axis = [0]", lambda x: C.prod(x, [0], False, False))
        for x in particular(draw, dtype):
            yield Case(op, [x], "axis = [-1]", lambda x: C.prod(x, [-1], False, False))


@covers("argmax", "argmin")
def arg(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [6], [2, 3], [2, 3, 4]):
            for axis in [*range(-len(shape), len(shape)), None]:
                for keep in (False, True):
                    for to in ("i64", "i32"):
                        x = draw.pick([draw.tensor, draw.ties])(shape, dtype)
                        yield Case(op, [x], attributes(axis=axis or 0, keepdims=keep, flatten=axis is None) + f", dtype = {to}",
                                   lambda x, a=axis, k=keep, t=to: getattr(paddle, op)(x, a, k, PADDLE[t]))
        for x in particular(draw, dtype):
            yield Case(op, [x], "axis = -1", lambda x: getattr(paddle, op)(x, -1))


@covers("cumsum")
def cumsum(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [5], [2, 3], [2, 3, 4], [0], [2, 0]):
            for axis in [*range(-len(shape), len(shape)), None]:
                for exclusive in (False, True):
                    for reverse in (False, True):
                        flat = axis is None
                        given = (-1 if flat else axis, flat, exclusive, reverse)
                        yield Case(op, [draw.tensor(shape, dtype)], attributes(**dict(zip(("axis", "flatten", "exclusive", "reverse"), given))),
                                   lambda x, g=given: C.cumsum(x, *g), scale=8)
        for x in particular(draw, dtype):
            yield Case(op, [x], "axis = -1", lambda x: C.cumsum(x, -1, False, False, False), scale=8)


@covers("cumprod")
def cumprod(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [5], [2, 3], [2, 3, 4], [0], [2, 0]):
            for axis in range(-len(shape), len(shape)) if shape else (0,):
                for exclusive in (False, True):
                    for reverse in (False, True):
                        given = (axis, exclusive, reverse)
                        for make in (draw.tensor, draw.ties):
                            yield Case(op, [make(shape, dtype)], attributes(**dict(zip(("dim", "exclusive", "reverse"), given))),
                                       lambda x, g=given: C.cumprod(x, *g), scale=1, gscale=8)
        for x in particular(draw, dtype):
            yield Case(op, [x], "dim = -1", lambda x: C.cumprod(x, -1, False, False))


@covers("cummax", "cummin")
def cummax(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [5], [2, 3], [2, 3, 4], [0], [2, 0]):
            for axis in range(-len(shape), len(shape)) if shape else (-1, 0):
                for to in ("i64", "i32"):
                    for make in (draw.tensor, draw.ties):
                        yield Case(op, [make(shape, dtype)], f"axis = {axis}, dtype = {to}",
                                   lambda x, a=axis, t=to: getattr(C, op)(x, a, getattr(paddle, PADDLE[t])), outs=2, ulp=0)
        for x in particular(draw, dtype):
            yield Case(op, [x], "axis = -1", lambda x: getattr(C, op)(x, -1, paddle.int64), outs=2, ulp=0)


@covers("logsumexp")
def logsumexp(draw, op):
    for x, axis, keep in reductions(draw, op, dtypes=FLOATS):
        everything = not axis
        yield Case(op, [x], attributes(axis=axis, keepdim=keep, reduce_all=everything),
                   lambda x, a=axis, k=keep, e=everything: C.logsumexp(x, a, k, e), ulp=16, scale=4)
    for dtype in FLOATS:
        for x in particular(draw, dtype):
            yield Case(op, [x], "axis = [-1]", lambda x: C.logsumexp(x, [-1], False, False))
        yield Case(op, [Tensor([[1000, 1000], [-1000, -1000], [1000, -1000]], dtype)], "axis = [-1]", lambda x: C.logsumexp(x, [-1], False, False))


@covers("mean_all")
def mean_all(draw, op):
    for dtype in ALL:
        for shape in RANKS:
            yield Case(op, [draw.tensor(shape, dtype)], scale=8)


@covers("reduce_as")
def reduce_as(draw, op):
    for dtype in ALL:
        for shape, target in (([2, 3], [3]), ([2, 3], [2, 1]), ([2, 3], [1]), ([2, 3], []), ([2, 3, 4], [3, 1]), ([2, 3], [2, 3]), ([], []),
                              ([2, 0], [1]), ([4], [1])):
            yield Case(op, [draw.tensor(shape, dtype), draw.tensor(target, dtype)], scale=8)


@covers("p_norm")
def p_norm(draw, op):
    for dtype in FLOATS:
        for order in (2.0, 1.0, 0.0, 3.0, 0.5, 2.5, -1.0, float("inf"), float("-inf")):
            for shape, axis, flat in (([4], -1, False), ([2, 3], 0, False), ([2, 3], 1, False), ([2, 3], -1, True), ([2, 3, 2], -2, False), ([], -1, True),
                                      ([], 0, True), ([0], 0, False), ([2, 0], 0, False), ([2, 0], 1, False)):
                for keep in (False, True):
                    given = (order, axis, 1e-12, keep, flat)
                    yield Case(op, [draw.tensor(shape, dtype)], attributes(**dict(zip(("porder", "axis", "epsilon", "keepdim", "asvector"), given))),
                               lambda x, g=given: C.p_norm(x, *g), ulp=16, scale=4)
            for values in ([[0, 0], [0, 1], [1, 1], [-1, 1]], ):
                yield Case(op, [Tensor(values, dtype)], attributes(porder=order, axis=1), lambda x, o=order: C.p_norm(x, o, 1, 1e-12, False, False), ulp=16,
                           note="zeros and ties")
            for x in particular(draw, dtype):
                yield Case(op, [x], attributes(porder=order, axis=1), lambda x, o=order: C.p_norm(x, o, 1, 1e-12, False, False), ulp=16, note="edges")


@covers("frobenius_norm")
def frobenius(draw, op):
    for dtype in FLOATS:
        for shape in ([4], [2, 3], [2, 3, 2], [0], [2, 0]):
            for axis in axes_of(len(shape)):
                for keep in (False, True):
                    yield Case(op, [draw.tensor(shape, dtype)], attributes(axis=axis, keep_dim=keep, reduce_all=not axis),
                               lambda x, a=axis, k=keep: C.frobenius_norm(x, a, k, not a), ulp=16, scale=4)
        yield Case(op, [Tensor([[0, 0], [0, 1]], dtype)], "axis = [1]", lambda x: C.frobenius_norm(x, [1], False, False))


@covers("squared_l2_norm")
def squared(draw, op):
    for dtype in FLOATS:
        for shape in RANKS:
            yield Case(op, [draw.tensor(shape, dtype)], scale=8)
