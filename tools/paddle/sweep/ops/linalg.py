"""Products."""

from paddle import _C_ops as C
import paddle

from case import ALL, Case, FLOATS, attributes, covers

SUMMED = {"ulp": 8, "scale": 2.0, "gulp": 16, "gscale": 4.0}


@covers("matmul")
def matmul(draw, op):
    for dtype in ALL:
        for x, y in (([2, 3], [3, 4]), ([3], [3]), ([2, 3], [3]), ([3], [3, 4]), ([2, 2, 3], [3, 4]), ([2, 2, 3], [2, 3, 4]), ([1, 2, 3], [2, 3, 4]), ([2, 3], [2, 3, 4]), ([2, 1, 2, 3], [3, 3, 1]),
                     ([0, 3], [3, 4]), ([2, 0], [0, 4]), ([2, 3], [3, 0]), ([3], [2, 3, 4]), ([2, 2, 3], [3]), ([1], [1]), ([0], [0]), ([0, 2, 3], [3, 4])):
            for tx in (False, True):
                for ty in (False, True):
                    a = x[:-2] + x[-2:][::-1] if tx and len(x) > 1 else x
                    b = y[:-2] + y[-2:][::-1] if ty and len(y) > 1 else y
                    yield Case(op, [draw.tensor(a, dtype), draw.tensor(b, dtype)], attributes(transpose_x=tx, transpose_y=ty),
                               lambda x, y, s=tx, t=ty: C.matmul(x, y, s, t), **SUMMED)


@covers("bmm", "mv", "dot", "kron", "outer")
def products(draw, op):
    shapes = {"bmm": (([2, 2, 3], [2, 3, 4]), ([1, 1, 1], [1, 1, 1]), ([0, 2, 3], [0, 3, 2])), "mv": (([2, 3], [3]), ([1, 1], [1]), ([0, 3], [3]), ([2, 0], [0])),
              "dot": (([3], [3]), ([2, 3], [2, 3]), ([1], [1]), ([0], [0])), "kron": (([2], [3]), ([2, 2], [2, 3]), ([2], [2, 3]), ([2, 1, 2], [3]), ([], [2]), ([], []), ([0], [2])),
              "outer": (([2], [3]), ([2, 2], [3]), ([1], [1]), ([0], [2]), ([], [3]))}
    for dtype in ALL:
        for x, y in shapes[op]:
            yield Case(op, [draw.tensor(x, dtype), draw.tensor(y, dtype)], call=paddle.outer if op == "outer" else None, **SUMMED)


@covers("linear")
def linear(draw, op):
    for dtype in FLOATS:
        for x, w in (([2, 3], [3, 4]), ([3], [3, 4]), ([2, 2, 3], [3, 1]), ([0, 3], [3, 2])):
            yield Case(op, [draw.tensor(x, dtype), draw.tensor(w, dtype), draw.tensor([w[1]], dtype)], call=lambda x, w, b: paddle.nn.functional.linear(x, w, b), **SUMMED)
            yield Case(op, [draw.tensor(x, dtype), draw.tensor(w, dtype)], call=lambda x, w: paddle.nn.functional.linear(x, w), **SUMMED)


@covers("addmm")
def addmm(draw, op):
    for dtype in ALL:
        for i, x, y in (([2, 4], [2, 3], [3, 4]), ([4], [2, 3], [3, 4]), ([1, 4], [2, 3], [3, 4]), ([2, 1], [2, 3], [3, 4]), ([1], [2, 3], [3, 4]), ([2, 4], [2, 0], [0, 4])):
            for beta, alpha in ((1.0, 1.0), (0.5, -2.0), (0.0, 1.0)):
                yield Case(op, [draw.tensor(i, dtype), draw.tensor(x, dtype), draw.tensor(y, dtype)], attributes(beta=beta, alpha=alpha),
                           lambda i, x, y, b=beta, a=alpha: C.addmm(i, x, y, b, a), **SUMMED)


@covers("einsum")
def einsum(draw, op):
    for dtype in FLOATS:
        for equation, *shapes in (("ij,jk->ik", [2, 3], [3, 4]), ("ij->ji", [2, 3]), ("ij->", [2, 3]), ("ij->i", [2, 3]), ("i,j->ij", [2], [3]), ("bij,bjk->bik", [2, 2, 3], [2, 3, 2]),
                                  ("i,i->", [3], [3]), ("ij,ij->i", [2, 3], [2, 3]), ("ij,j->i", [2, 3], [3]), ("abc,cd->abd", [2, 1, 3], [3, 2]), ("ij,kj->ik", [2, 3], [4, 3]),
                                  ("bhqd,bhkd->bhqk", [1, 2, 3, 2], [1, 2, 4, 2]), ("ii->i", [3, 3]), ("ii", [3, 3]), ("iij,j->i", [2, 2, 3], [3]),
                                  ("...ij,...jk->...ik", [2, 2, 3], [2, 3, 2]), ("...i,i->...", [2, 3], [3]), ("b...", [2, 3])):
            yield Case(op, [draw.tensor(s, dtype) for s in shapes], f'equation = "{equation}"', lambda *x, e=equation: paddle.einsum(e, *x), **SUMMED)
