"""Sorting and what is chosen by order."""

from paddle import _C_ops as C

from case import ALL, FLOATS, Case, Tensor, attributes, covers
from ops.reduce import particular


@covers("topk")
def topk(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [6], [2, 5], [3, 2, 4]):
            for axis in range(-len(shape), len(shape)) if shape else (-1, 0):
                n = shape[axis] if shape else 1
                for k in {1, n, max(1, n - 2)}:
                    for largest in (True, False):
                        given = (k, axis, largest, True)
                        x = draw.distinct(shape, dtype) if dtype != "i1" else draw.tensor(shape, dtype)
                        yield Case(op, [x], attributes(**dict(zip(("k", "axis", "largest", "sorted"), given))), lambda x, g=given: C.topk(x, *g), outs=2, ulp=0)
        for largest in (True, False):
            given = (3, -1, largest, True)
            yield Case(op, [draw.ties([3, 6], dtype)], attributes(**dict(zip(("k", "axis", "largest", "sorted"), given))),
                       lambda x, g=given: C.topk(x, *g), outs=2, ulp=0, note="ties")
            if dtype in FLOATS:
                for x in particular(draw, dtype):
                    yield Case(op, [x], attributes(k=2, largest=largest), lambda x, l=largest: C.topk(x, 2, -1, l, True), outs=2, ulp=0, note="edges")


@covers("argsort")
def argsort(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [6], [2, 5], [3, 2, 4], [0], [2, 0]):
            for axis in range(-len(shape), len(shape)) if shape else (-1, 0):
                for descending in (False, True):
                    for stable in (False, True):
                        given = (axis, descending, stable)
                        x = draw.ties(shape, dtype) if stable or dtype == "i1" else draw.distinct(shape, dtype)
                        yield Case(op, [x], attributes(**dict(zip(("axis", "descending", "stable"), given))), lambda x, g=given: C.argsort(x, *g), outs=2, ulp=0)
        if dtype in FLOATS:
            for x in particular(draw, dtype):
                for descending in (False, True):
                    yield Case(op, [x], attributes(descending=descending, stable=True), lambda x, d=descending: C.argsort(x, -1, d, True), outs=2, ulp=0,
                               note="edges")
        # More than sixteen, from where on unstable sorting shows.
        yield Case(op, [draw.ties([40], dtype)], "stable = true", lambda x: C.argsort(x, -1, False, True), outs=2, ulp=0)


@covers("kthvalue")
def kthvalue(draw, op):
    for dtype in ALL:
        for shape in ([], [1], [6], [2, 5], [3, 2, 4]):
            for axis in range(-len(shape), len(shape)) if shape else (-1, 0):
                n = shape[axis] if shape else 1
                for k in {1, n, max(1, n // 2)}:
                    for keep in (False, True):
                        given = (k, axis, keep)
                        x = draw.distinct(shape, dtype) if dtype != "i1" else draw.tensor(shape, dtype)
                        yield Case(op, [x], attributes(**dict(zip(("k", "axis", "keepdim"), given))), lambda x, g=given: C.kthvalue(x, *g), outs=2, ulp=0)
        yield Case(op, [draw.ties([3, 6], dtype)], "k = 3", lambda x: C.kthvalue(x, 3, -1, False), outs=2, ulp=0, note="ties")
        if dtype in FLOATS:
            for x in particular(draw, dtype):
                yield Case(op, [x], "k = 2", lambda x: C.kthvalue(x, 2, -1, False), outs=2, ulp=0, note="edges")
