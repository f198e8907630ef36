"""Operations that pick and put elements by index."""

from paddle import _C_ops as C
import numpy as np
import paddle

from case import ALL, FLOATS, INTS, PADDLE, Case, Tensor, attributes, covers, edges

MOVED = {"ulp": 0, "gulp": 8, "signed": True}
INDEX = ("i64", "i32")


def some(draw, shape, dtype):
    if dtype in FLOATS and draw.chance(0.2):
        return Tensor(draw.random.choice(edges(dtype), shape), dtype)
    return draw.tensor(shape, dtype)


@covers("slice")
def slices(draw, op):
    big = 2**31 - 1
    for dtype in ALL:
        for shape, axes, starts, ends, drop in (
                ([5], [0], [1], [3], []), ([5], [0], [-3], [-1], []), ([5], [0], [0], [big], []), ([5], [0], [-99], [99], []), ([5], [0], [3], [3], []), ([5], [0], [4], [2], []),
                ([5], [0], [2], [3], [0]), ([5], [0], [-1], [big], [0]), ([2, 3], [1], [0], [2], []), ([2, 3], [0, 1], [1, 0], [2, 2], []), ([2, 3], [0, 1], [1, 0], [2, 2], [0]),
                ([2, 3], [0, 1], [1, 2], [2, 3], [0, 1]), ([2, 3], [-1], [1], [3], []), ([2, 3], [1, 0], [1, 0], [3, 1], []), ([0], [0], [0], [1], []), ([2, 0], [0], [0], [1], []),
                ([2, 3, 4], [0, 2], [0, 1], [1, -1], [0]), ([3], [0], [7], [9], [])):
            yield Case(op, [some(draw, shape, dtype)], attributes(axes=axes, starts=starts, ends=ends, decrease_axis=drop),
                       lambda x, a=axes, s=starts, e=ends, d=drop: C.slice(x, a, s, e, [1] * len(a), d), **MOVED)


@covers("strided_slice")
def strided(draw, op):
    for dtype in ALL:
        for shape, axes, starts, ends, strides in (
                ([6], [0], [0], [6], [2]), ([6], [0], [1], [6], [3]), ([6], [0], [5], [0], [-1]), ([6], [0], [-1], [-7], [-1]), ([6], [0], [-1], [-99], [-2]), ([6], [0], [0], [99], [1]),
                ([3, 4], [0, 1], [0, 3], [3, 0], [2, -2]), ([3, 4], [1], [0], [-1], [1]), ([3, 4], [-1], [1], [4], [2]), ([6], [0], [3], [3], [1]), ([6], [0], [-2], [6], [1]),
                ([6], [0], [5], [1], [-3])):
            yield Case(op, [some(draw, shape, dtype)], attributes(axes=axes, starts=starts, ends=ends, strides=strides),
                       lambda x, a=axes, s=starts, e=ends, t=strides: C.strided_slice(x, a, s, e, t), **MOVED)


@covers("gather", "index_select")
def gather(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for shape, count, axis in (([5], [3], 0), ([3, 4], [2], 0), ([3, 4], [5], 1), ([3, 4], [2], -1), ([2, 3, 4], [3], 1), ([2, 3, 4], [3], -2), ([3, 4], [0], 0), ([3, 4], [], 0),
                                       ([3, 4], [1], 0), ([3, 4], [2, 1], 0), ([3, 0], [2], 0)):
                n = shape[axis]
                yield Case(op, [some(draw, shape, dtype), draw.index(count, 0, n - 1, index)], f"axis = {axis}",
                           lambda x, i, a=axis: getattr(C, op)(x, i, a), **MOVED)
        yield Case(op, [some(draw, [4], dtype), Tensor([-1, -4, 0], "i64")], "axis = 0", lambda x, i: getattr(C, op)(x, i, 0), note="negative", **MOVED)


@covers("gather_nd")
def gather_nd(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for shape, rows, depth in (([5], [3], 1), ([3, 4], [2], 1), ([3, 4], [2], 2), ([2, 3, 4], [2, 2], 2), ([2, 3, 4], [], 2), ([2, 3, 4], [], 3), ([3, 4], [0], 1), ([3, 4], [2], 0)):
                columns = [draw.index(rows + [1], 0, n - 1).array for n in shape[:depth]]
                made = np.concatenate(columns, -1) if depth else np.zeros(rows + [0], "int64")
                yield Case(op, [some(draw, shape, dtype), Tensor(made, index)], **MOVED)
        yield Case(op, [some(draw, [4], dtype), Tensor([[-1], [-4]], "i64")], note="negative", **MOVED)


@covers("take_along_axis")
def take(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for shape, other, axis in (([5], [3], 0), ([3, 4], [2, 4], 0), ([3, 4], [3, 2], 1), ([3, 4], [3, 6], -1), ([2, 3, 2], [2, 1, 2], 1), ([3, 4], [1, 4], 0), ([3, 4], [2, 2], 0)):
                yield Case(op, [some(draw, shape, dtype), draw.index(other, 0, shape[axis] - 1, index)], f"axis = {axis}",
                           lambda x, i, a=axis: C.take_along_axis(x, i, a), **MOVED)
        yield Case(op, [some(draw, [4], dtype), Tensor([-1, -4], "i64")], "axis = 0", lambda x, i: C.take_along_axis(x, i, 0), note="negative", **MOVED)


@covers("index_sample")
def index_sample(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for shape, count in (([3, 4], 2), ([1, 4], 5), ([3, 1], 1), ([2, 3], 0)):
                yield Case(op, [some(draw, shape, dtype), draw.index([shape[0], count], 0, shape[1] - 1, index)], **MOVED)


@covers("one_hot")
def one_hot(draw, op):
    for dtype in ("i64", "i32", "ui8"):
        for shape in ([3], [2, 3], [], [0], [2, 1]):
            yield Case(op, [draw.index(shape, 0, 3, dtype)], "num_classes = 4", lambda x: C.one_hot(x, 4))
        yield Case(op, [Tensor([0, 4], dtype)], "num_classes = 4", lambda x: C.one_hot(x, 4), note="too large")
        if dtype != "ui8":
            yield Case(op, [Tensor([0, -1], dtype)], "num_classes = 4", lambda x: C.one_hot(x, 4), note="negative")


@covers("sequence_mask")
def sequence_mask(draw, op):
    for dtype in ("i64", "i32", "f32", "f64"):
        for to in ("i64", "i32", "f32", "f64", "i1", "ui8", "i8"):
            for shape, longest in (([3], 4), ([2, 3], 5), ([3], 2), ([1], 1)):
                yield Case(op, [Tensor(draw.index(shape, 0, 4).array, dtype, grad=False)], f"max_len = {longest}, out_dtype = {to}",
                           lambda x, n=longest, t=to: C.sequence_mask(x, n, getattr(paddle, PADDLE[t])))


@covers("embedding")
def embedding(draw, op):
    for dtype in FLOATS:
        for index in INDEX:
            for shape in ([3], [2, 3], [], [0], [2, 1]):
                for padding in (-1, 0, 2):
                    yield Case(op, [draw.index(shape, 0, 4, index), some(draw, [5, 3], dtype)], f"padding_idx = {padding}",
                               lambda i, w, p=padding: C.embedding(i, w, p, False), **MOVED)


@covers("scatter")
def scatter(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for shape, at in (([5], [0, 3]), ([4, 3], [3, 1]), ([4, 2, 2], [0]), ([4, 3], []), ([4, 3], [2, 0, 1, 3])):
                for overwrite in (True, False):
                    yield Case(op, [some(draw, shape, dtype), Tensor(at, index), some(draw, [len(at)] + shape[1:], dtype)], attributes(overwrite=overwrite),
                               lambda x, i, u, o=overwrite: C.scatter(x, i, u, o), **MOVED)
            yield Case(op, [draw.tensor([4, 2], dtype), Tensor([1, 1, 3, 1], index), draw.tensor([4, 2], dtype)], "overwrite = false",
                       lambda x, i, u: C.scatter(x, i, u, False), ulp=4, gulp=8, note="twice")
            yield Case(op, [draw.tensor([4, 2], dtype), Tensor([1, 1, 3, 1], index), draw.tensor([4, 2], dtype)], "overwrite = true",
                       lambda x, i, u: C.scatter(x, i, u, True), ulp=4, gulp=8, note="twice", grad=False)
        yield Case(op, [draw.tensor([4], dtype), Tensor([-1], "i64"), draw.tensor([1], dtype)], call=lambda x, i, u: C.scatter(x, i, u, True), note="negative")


@covers("scatter_nd_add")
def scatter_nd_add(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for shape, rows, depth in (([5], [3], 1), ([3, 4], [2], 1), ([3, 4], [5], 2), ([2, 3, 2], [2, 2], 2), ([3, 4], [0], 1)):
                made = np.concatenate([draw.index(rows + [1], 0, n - 1).array for n in shape[:depth]], -1)
                yield Case(op, [draw.tensor(shape, dtype), Tensor(made, index), draw.tensor(rows + shape[depth:], dtype)], ulp=8, scale=2)


@covers("index_add")
def index_add(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for shape, count, axis in (([5], 3, 0), ([3, 4], 2, 0), ([3, 4], 5, 1), ([3, 4], 2, -1), ([2, 3, 2], 4, 1)):
                added = list(shape)
                added[axis] = count
                yield Case(op, [draw.tensor(shape, dtype), draw.index([count], 0, shape[axis] - 1, index), draw.tensor(added, dtype)], f"axis = {axis}",
                           lambda x, i, v, a=axis: C.index_add(x, i, v, a), ulp=8, scale=2)


@covers("put_along_axis")
def put_along_axis(draw, op):
    for dtype in ALL:
        for index in INDEX:
            for reduce in ("assign", "add", "mul", *(["mean"] if dtype in ("f32", "f64") else [])):
                for shape, other, axis in (([5], [3], 0), ([3, 4], [2, 4], 0), ([3, 4], [3, 2], 1), ([2, 3, 2], [2, 1, 2], 1)):
                    at = np.argsort(draw.random.random(shape), axis=axis)
                    at = at[tuple(slice(n) for n in other)]
                    given = (axis, reduce, True)
                    yield Case(op, [draw.tensor(shape, dtype), Tensor(at, index), draw.tensor(other, dtype)],
                               attributes(**dict(zip(("axis", "reduce", "include_self"), given))), lambda x, i, v, g=given: C.put_along_axis(x, i, v, *g), ulp=2, scale=1)
                    if reduce != "assign":
                        given = (axis, reduce, False)
                        yield Case(op, [draw.tensor(shape, dtype), Tensor(at, index), draw.tensor(other, dtype)],
                                   attributes(**dict(zip(("axis", "reduce", "include_self"), given))), lambda x, i, v, g=given: C.put_along_axis(x, i, v, *g), ulp=2, scale=1, note="others")
                if reduce != "assign":
                    yield Case(op, [draw.tensor([4], dtype), Tensor([1, 1, 3, 1], index), draw.tensor([4], dtype)], attributes(axis=0, reduce=reduce),
                               lambda x, i, v, r=reduce: C.put_along_axis(x, i, v, 0, r, True), ulp=8, scale=1, note="twice", grad=reduce in ("add", "mean"))


@covers("masked_select")
def masked_select(draw, op):
    for dtype in ALL:
        for shape, mask in (([5], [5]), ([2, 3], [2, 3]), ([2, 3], [3]), ([3], [2, 3]), ([2, 1], [1, 3]), ([0], [0]), ([1], [1])):
            yield Case(op, [some(draw, shape, dtype), draw.tensor(mask, "i1")], **MOVED)
        yield Case(op, [some(draw, [3], dtype), Tensor([False] * 3, "i1")], note="none", **MOVED)


@covers("masked_fill")
def masked_fill(draw, op):
    for dtype in ALL:
        for shape, mask, value in (([5], [5], []), ([2, 3], [2, 3], [1]), ([2, 3], [3], []), ([2, 3], [2, 3], [2, 3]), ([0], [0], []), ([2, 3], [2, 1], [])):
            yield Case(op, [some(draw, shape, dtype), draw.tensor(mask, "i1"), draw.tensor(value, dtype)], **MOVED)


@covers("nonzero")
def nonzero(draw, op):
    for dtype in ALL:
        for shape in ([5], [2, 3], [0], [2, 2, 2], [1], []):
            yield Case(op, [draw.ties(shape, dtype)])
        yield Case(op, [Tensor(edges(dtype), dtype)])


@covers("repeat_interleave")
def repeat(draw, op):
    for dtype in ALL:
        for shape, times, axis in (([3], 2, 0), ([2, 3], 2, 1), ([2, 3], 3, 0), ([2, 3], 1, -1), ([2, 3, 2], 2, -2), ([2, 3], 0, 0)):
            yield Case(op, [some(draw, shape, dtype)], f"repeats = {times}, axis = {axis}", lambda x, r=times, a=axis: paddle.repeat_interleave(x, r, a), **MOVED)
