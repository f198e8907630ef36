"""Operations that move elements about, and make constants."""

from paddle import _C_ops as C
import numpy as np
import paddle

from case import ALL, FLOATS, INTS, PADDLE, SHAPES, Case, Tensor, attributes, covers, edges

MOVED = {"ulp": 0, "gulp": 4, "signed": True}
ADDED = {"ulp": 8, "scale": 4.0}


def some(draw, shape, dtype):
    """Any numbers, NaN and infinities too."""
    if dtype in FLOATS and draw.chance(0.3):
        return Tensor(draw.random.choice(edges(dtype), shape), dtype)
    return draw.tensor(shape, dtype)


def simple(op, choices):
    """An operation of one tensor: shapes, what our text says, and PaddlePaddle's arguments."""

    @covers(op)
    def generator(draw, op):
        for dtype in ALL:
            for shape, attrs, args in choices:
                yield Case(op, [some(draw, shape, dtype)], attributes(**attrs), lambda x, a=args: getattr(C, op)(x, *a), **(ADDED if op == "trace" else MOVED))

    return generator


def permutations(rank):
    import itertools
    return [list(p) for p in itertools.permutations(range(rank))]


simple("transpose", [(s, {"perm": p}, (p,)) for s in ([], [3], [2, 3], [2, 3, 4], [2, 0, 3]) for p in permutations(len(s))]
       + [([2, 3, 4], {"perm": p}, (p,)) for p in ([-1, 0, 1], [0, -1, -2])])
simple("reshape", [(s, {"shape": t}, (t,)) for s, t in (
    ([2, 3], [6]), ([2, 3], [3, 2]), ([2, 3], [-1]), ([2, 3], [-1, 2]), ([2, 3], [0, 3]), ([2, 3], [0, -1]), ([2, 3, 4], [0, 0, 2, 2]), ([2, 3, 4], [0, -1]),
    ([], [1]), ([], [1, 1]), ([], []), ([1], []), ([1, 1], []), ([0], [0]), ([0, 3], [0, 3]), ([0, 3], [3, 0]), ([2, 0], [0, 0]), ([4], [2, 2, 1]),
    ([], [-1]), ([0, 2], [-1]), ([0, 2], [2, -1]))])
simple("squeeze", [(s, {"axis": a}, (a,)) for s, a in (
    ([1, 3, 1], []), ([1, 3, 1], [0]), ([1, 3, 1], [-1]), ([1, 3, 1], [0, 2]), ([1, 3, 1], [1]), ([1, 3, 1], [0, 1]), ([3], []), ([1], []), ([1, 1], [0]),
    ([], []), ([1, 0], []), ([1, 0], [0]), ([], [0]), ([1, 3, 1], [0, -3]))])
simple("unsqueeze", [(s, {"axis": a}, (a,)) for s, a in (
    ([3], [0]), ([3], [1]), ([3], [-1]), ([3], [-2]), ([3], [0, 1]), ([3], [0, 2]), ([3], [0, -1]), ([2, 3], [1, 1]), ([2, 3], [2, 0]), ([], [0]), ([], [-1]),
    ([], [0, 1]), ([0], [0]), ([2, 0], [-1]), ([3], []), ([2, 3], [-1, -2]), ([2, 3], [3, 1]), ([2, 3], [-1, 0]), ([2, 3], [-2, 0]))])
simple("flatten", [(s, {"start_axis": a, "stop_axis": b}, (a, b)) for s in ([2, 3, 4], [2, 3], [3], [2, 0, 3], []) for a in range(-len(s), max(len(s), 1))
                   for b in range(-len(s), max(len(s), 1)) if not s or a % len(s) <= b % len(s)])
simple("expand", [(s, {"shape": t}, (t,)) for s, t in (
    ([3], [2, 3]), ([3], [2, -1]), ([1], [4]), ([2, 1], [2, 3]), ([2, 1], [-1, 3]), ([2, 1], [4, 2, 3]), ([2, 1], [4, -1, 3]), ([], [2]), ([], [2, 3]), ([], []), ([1], [0]),
    ([1, 3], [0, 3]), ([2, 3], [2, 3]), ([0], [2, 0]), ([0], [2, -1]), ([1], [1, 1]))])
simple("tile", [(s, {"repeat_times": t}, (t,)) for s, t in (
    ([3], [2]), ([3], [2, 2]), ([2, 3], [2]), ([2, 3], [1, 2]), ([2, 3], [2, 1, 2]), ([], [2]), ([], [2, 3]), ([], []), ([3], []), ([0], [2]), ([3], [0]), ([2, 0], [2, 2]),
    ([2, 3], [1, 1]))])
simple("tril", [(s, {"diagonal": d}, (d,)) for s in ([3, 3], [2, 4], [4, 2], [2, 3, 3], [0, 3], [3, 0]) for d in (0, 1, -1, 2, -3, 9, -9)])
simple("triu", [(s, {"diagonal": d}, (d,)) for s in ([3, 3], [2, 4], [4, 2], [2, 3, 3], [0, 3], [3, 0]) for d in (0, 1, -1, 2, -3, 9, -9)])
simple("flip", [(s, {"axis": a}, (a,)) for s, a in (
    ([3], [0]), ([3], [-1]), ([2, 3], [0]), ([2, 3], [1]), ([2, 3], [0, 1]), ([2, 3], [-1, 0]), ([2, 3, 4], [0, 2]), ([2, 3], []), ([0], [0]), ([2, 0], [1]), ([2, 0], [0]),
    ([], []))])
simple("roll", [(s, {"shifts": n, "axis": a}, (n, a)) for s, n, a in (
    ([5], [1], [0]), ([5], [-2], [0]), ([5], [7], [0]), ([5], [-12], [-1]), ([2, 3], [1], []), ([2, 3], [-1], []), ([2, 3], [4], []), ([2, 3], [1, 1], [0, 1]),
    ([2, 3], [1, -1], [-1, 0]), ([2, 3], [1, 1], [1, 1]), ([0], [1], [0]), ([2, 0], [1], [0]), ([], [1], []), ([2, 3, 2], [0], [1]))])
simple("trace", [(s, {"offset": o, "axis1": a, "axis2": b}, (o, a, b)) for s, a, b in (
    ([3, 3], 0, 1), ([2, 4], 0, 1), ([4, 2], -2, -1), ([2, 3, 4], 0, 2), ([2, 3, 4], 2, 1), ([0, 3], 0, 1), ([2, 3, 3], 1, 0)) for o in (0, 1, -1, 3, -3, 9)])
simple("diagonal", [(s, {"offset": o, "axis1": a, "axis2": b}, (o, a, b)) for s, a, b in (
    ([3, 3], 0, 1), ([2, 4], 0, 1), ([4, 2], -2, -1), ([2, 3, 4], 0, 2), ([2, 3, 4], 2, 1), ([0, 3], 0, 1), ([2, 3, 3], 1, 0)) for o in (0, 1, -1, 3, -3, 9)])
simple("diag", [(s, {"offset": o, "padding_value": v}, (o, v)) for s in ([3], [1], [3, 3], [2, 4], [4, 2], [0], [0, 3]) for o in (0, 1, -1, 2, -3, 9) for v in (0.0, 2.0)])
simple("full_like", [(s, {"value": v}, (v, None, paddle.CPUPlace())) for s in SHAPES for v in (0.0, 2.5, -1.0, 3)])


@covers("full_like")
def full_like(draw, op):
    for dtype in ALL:
        for to in ALL:
            for value in (0.0, 1.0, 2.5, 3, -1):
                yield Case(op, [draw.tensor([2, 1], dtype)], attributes(value=value) + f", dtype = {to}",
                           lambda x, v=value, t=to: C.full_like(x, v, getattr(paddle, PADDLE[t]), paddle.CPUPlace()), **MOVED)
    for dtype in FLOATS:
        for value in (float("inf"), float("-inf"), float("nan"), -0.0, 0.1, 1e30, 1e-3):
            yield Case(op, [draw.tensor([2, 1], dtype)], attributes(value=value), lambda x, v=value: C.full_like(x, v, None, paddle.CPUPlace()), **MOVED)


@covers("expand_as")
def expand_as(draw, op):
    for dtype in ALL:
        for x, y in (([3], [2, 3]), ([1], [4]), ([2, 1], [2, 3]), ([], [2]), ([], []), ([1], [0]), ([2, 3], [2, 3]), ([0], [2, 0]), ([2, 1], [4, 2, 3])):
            for other in (dtype, "f32"):
                yield Case(op, [some(draw, x, dtype), draw.tensor(y, other)], call=lambda x, y: C.expand_as(x, y, y.shape), **MOVED)


@covers("concat")
def concat(draw, op):
    for dtype in ALL:
        for shapes, axis in (([[2], [3]], 0), ([[2, 3], [2, 1]], 1), ([[2, 3], [2, 1]], -1), ([[1, 2], [3, 2], [2, 2]], 0), ([[2, 3]], 0), ([[0], [3]], 0), ([[2, 0], [2, 2]], 1),
                             ([[2, 2, 2], [2, 1, 2]], -2), ([[0, 2], [0, 2]], 1), ([[0], [0]], 0), ([[3], [0], [2]], -1)):
            yield Case(op, [some(draw, s, dtype) for s in shapes], f"axis = {axis}", lambda *x, a=axis: C.concat(list(x), a), **MOVED)


@covers("stack")
def stack(draw, op):
    for dtype in ALL:
        for shape in ([], [3], [2, 3], [0], [2, 0]):
            for axis in range(-len(shape) - 1, len(shape) + 1):
                for count in (1, 2, 3):
                    yield Case(op, [some(draw, shape, dtype) for _ in range(count)], f"axis = {axis}", lambda *x, a=axis: C.stack(list(x), a), **MOVED)


@covers("split")
def split(draw, op):
    for dtype in ALL:
        for shape, sections, axis in (([5], [2, 3], 0), ([5], [2, -1], 0), ([5], [-1, 2, 1], -1), ([2, 4], [1, 3], 1), ([2, 4], [1, 1], -2), ([4], [4], 0), ([4], [0, 4], 0),
                                      ([0], [0, 0], 0), ([2, 0], [1, 1], 0)):
            yield Case(op, [some(draw, shape, dtype)], f"sections = {sections}, axis = {axis}", lambda x, s=sections, a=axis: C.split(x, s, a),
                       outs=len(sections), **MOVED)


@covers("split_with_num")
def split_with_num(draw, op):
    for dtype in ALL:
        for shape, num, axis in (([6], 2, 0), ([6], 3, -1), ([2, 4], 2, 0), ([2, 4], 4, 1), ([4], 1, 0), ([0], 2, 0), ([2, 0], 2, 0), ([2, 4], 2, -1)):
            yield Case(op, [some(draw, shape, dtype)], f"num = {num}, axis = {axis}", lambda x, n=num, a=axis: C.split_with_num(x, n, a), outs=num, **MOVED)


@covers("unbind", "unstack")
def unbind(draw, op):
    for dtype in ALL:
        for shape in ([3], [1], [2, 3], [2, 3, 2], [2, 0]):
            for axis in range(-len(shape), len(shape)):
                count = shape[axis]
                if count:
                    attrs = f"axis = {axis}" + (f", num = {count}" if op == "unstack" else "")
                    call = (lambda x, a=axis, n=count: C.unstack(x, a, n)) if op == "unstack" else (lambda x, a=axis: C.unbind(x, a))
                    yield Case(op, [some(draw, shape, dtype)], attrs, call, outs=count, **MOVED)


@covers("meshgrid")
def meshgrid(draw, op):
    for dtype in ALL:
        for shapes in ([[2], [3]], [[2]], [[2], [1], [3]], [[0], [2]], [[], [2]], [[], []]):
            yield Case(op, [some(draw, s, dtype) for s in shapes], call=lambda *x: C.meshgrid(list(x)), outs=len(shapes), **{**MOVED, "gulp": 8})


@covers("pad")
def pad(draw, op):
    for dtype in ALL:
        for shape, border in (([3], [1, 2]), ([2, 3], [0, 1, 2, 0]), ([2, 3], [0, 0, 0, 0]), ([0], [1, 1]), ([2, 0], [1, 0, 0, 2]), ([2, 2, 2], [1, 1, 0, 2, 1, 0]), ([], [])):
            for value in (0.0, 2.5, -1.0):
                yield Case(op, [some(draw, shape, dtype)], attributes(paddings=border, pad_value=value), lambda x, b=border, v=value: C.pad(x, b, v), **MOVED)
        if dtype in FLOATS:
            for value in (float("inf"), float("nan"), 0.1):
                yield Case(op, [some(draw, [3], dtype)], attributes(paddings=[1, 2], pad_value=value), lambda x, v=value: C.pad(x, [1, 2], v), **MOVED)


@covers("pad3d")
def pad3d(draw, op):
    for dtype in ALL:
        for mode in ("constant", "reflect", "replicate", "circular"):
            for layout in ("NCDHW", "NDHWC"):
                for border in ([0] * 6, [1, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1], [2, 1, 1, 2, 0, 1]):
                    for value in ((0.0, 1.5) if mode == "constant" else (0.0,)):
                        yield Case(op, [some(draw, [1, 2, 3, 3, 3] if layout == "NCDHW" else [1, 3, 3, 3, 2], dtype)],
                                   attributes(paddings=border, mode=mode, pad_value=value, data_format=layout),
                                   lambda x, b=border, m=mode, v=value, f=layout: C.pad3d(x, b, m, v, f), **{**MOVED, "gulp": 16})
    for shape in ([0, 2, 2, 2, 2], [1, 1, 1, 1, 1]):
        yield Case(op, [draw.tensor(shape, "f32")], attributes(paddings=[1, 1, 0, 0, 2, 0]), lambda x: C.pad3d(x, [1, 1, 0, 0, 2, 0], "constant", 0.0, "NCDHW"), **MOVED)
