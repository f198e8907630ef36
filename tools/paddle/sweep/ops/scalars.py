"""Numbers that are attributes, constants, or computed: scale, clip, pow and others that PaddlePaddle gives a Scalar.

A number that is computed is an input here; the gradient with respect to it is that of PaddlePaddle's formula with tensors."""

from paddle import _C_ops as C
import numpy as np
import paddle

from case import ALL, FLOATS, INTS, Case, Tensor, attributes, covers, edges, number


def f32(value):
    return float(np.float32(value))


@covers("scale")
def scale(draw, op):
    for dtype in ALL:
        for factor, bias, after in ((1.0, 0.0, True), (2.0, 1.0, True), (-0.5, 2.0, False), (0.0, 3.0, True), (2.5, -1.0, False), (f32(0.1), f32(0.3), True)):
            for x in (draw.tensor([], dtype), draw.tensor([2, 3], dtype), draw.tensor([0, 2], dtype), Tensor(edges(dtype), dtype)):
                yield Case(op, [x], attributes(scale=factor, bias=bias, bias_after_scale=after), lambda x, f=factor, b=bias, a=after: C.scale(x, f, b, a), ulp=4, scale=1)
        if dtype in FLOATS:
            for after in (True, False):
                for one in ([], [1]):
                    for x in ([2, 3], [], [0]):
                        def call(x, s, b=None, a=after):
                            return C.scale(x, float(s), 0.5, a)

                        def oracle(x, s, a=after):
                            return x * s + 0.5 if a else (x + 0.5) * s

                        yield Case(op, [draw.tensor(x, dtype), draw.tensor(one, dtype)], attributes(bias=0.5, bias_after_scale=after), call, oracle=oracle, ulp=4, scale=1,
                                   note="scale is computed")


@covers("pow")
def power(draw, op):
    for dtype in ALL:
        for exponent in (2.0, 3.0, 0.5, 1.0, 0.0, -1.0, -2.0, 2.5, -0.5) if dtype in FLOATS else (0, 1, 2, 3, 5, -1):
            for x in (draw.tensor([], dtype), draw.tensor([2, 3], dtype, *((0.1, 3) if dtype in FLOATS else ())), draw.tensor([0, 2], dtype), Tensor(edges(dtype), dtype)):
                yield Case(op, [x], attributes(y=exponent), lambda x, e=exponent: C.pow(x, e), ulp=16 if dtype in ("f32", "f64") else 3, gscale=0 if x.array.size > 9 else None)
        if dtype in FLOATS:
            for shape in ([2, 3], []):
                yield Case(op, [draw.tensor(shape, dtype, 0.2, 3), draw.tensor([], dtype)], "", lambda x, y: C.pow(x, float(y)), oracle=lambda x, y: C.elementwise_pow(x, y), ulp=16,
                           note="the exponent is computed")


@covers("clip")
def clip(draw, op):
    for dtype in ALL:
        limits = ((-1.0, 1.0), (0.0, 2.5), (-float("inf"), 0.5), (1.0, -1.0), (0.5, 0.5)) if dtype in FLOATS else ((-2, 3), (0, 5), (3, 1)) if dtype != "ui8" else ((1, 5), (0, 3))
        for low, high in limits:
            for x in (draw.tensor([], dtype), draw.tensor([2, 3], dtype), draw.tensor([0, 2], dtype), Tensor(edges(dtype), dtype)):
                yield Case(op, [x], attributes(min=low, max=high), lambda x, l=low, h=high: C.clip(x, l, h), ulp=0, gulp=1)
        if dtype in FLOATS:
            for shape in ([2, 3], [], [0]):
                tensors = [draw.tensor(shape, dtype), draw.tensor([], dtype, -2, -0.5), draw.tensor([], dtype, 0.5, 2)]
                yield Case(op, tensors, "", lambda x, l, h: C.clip(x, float(l), float(h)), oracle=lambda x, l, h: paddle.minimum(paddle.maximum(x, l), h), ulp=0, gulp=8,
                           note="limits are computed")


@covers("full_like")
def full_like(draw, op):
    for dtype in FLOATS:
        for shape in ([2, 3], [], [0]):
            yield Case(op, [draw.tensor(shape, dtype), draw.tensor([], dtype)], "", lambda x, v: paddle.full_like(x, float(v)), oracle=lambda x, v: x * 0 + v, ulp=0, gulp=8,
                       note="the number is computed")


@covers("pad")
def pad(draw, op):
    for dtype in ("f32", "f64"):
        for shape, border in (([3], [1, 2]), ([2, 3], [0, 1, 2, 0]), ([2, 3], [0, 0, 0, 0])):
            def oracle(x, v, b=border):
                inside = C.pad(x, b, 0.0)
                return inside + (1 - C.pad(paddle.ones_like(x).detach(), b, 0.0)) * v

            yield Case(op, [draw.tensor(shape, dtype), draw.tensor([], dtype)], attributes(paddings=border), lambda x, v, b=border: C.pad(x, b, float(v)), oracle=oracle, ulp=0,
                       gulp=8, note="the number is computed")


def computed(op, choices, call, attrs=lambda **k: k):
    """IntArrays and Scalars as operands: constants, and values that nobody knows beforehand."""

    @covers(op)
    def generator(draw, op):
        for dtype in ALL:
            for shape, given, rest in choices:
                for constant in (True, False):
                    values = np.array(given)
                    array = isinstance(given, list)
                    length = [len(given)] if array else draw.pick([[], [1]])
                    if constant:
                        made = f"%k = pd.full_int_array {{value = {given}, dtype = i64}}" if array else f"%k = pd.full {{shape = {length}, value = {given}, dtype = i64}}"
                        yield Case(op, [draw.tensor(shape, dtype)], text=f"{made}\n%o0 = pd.{op} (%x0, %k)" + (f" {{{attributes(**rest)}}}" if rest else ""),
                                   call=lambda x, g=given, r=rest: call(x, g, **r), ulp=8, scale=2, note="a constant operand")
                    else:
                        yield Case(op, [draw.tensor(shape, dtype), Tensor(values.reshape(length), "i64")], attributes(**rest), lambda x, k, g=given, r=rest: call(x, g, **r), ulp=8,
                                   scale=2, typed=True, note="a computed operand")

    return generator


computed("sum", [([2, 3], [0], {}), ([2, 3], [1], {"keepdim": True}), ([2, 3], [0, 1], {}), ([2, 3], [-1], {})], lambda x, a, keepdim=False: C.sum(x, a, None, keepdim))
computed("mean", [([2, 3], [0], {}), ([2, 3], [1], {"keepdim": True}), ([2, 3], [0, 1], {})], lambda x, a, keepdim=False: C.mean(x, a, keepdim))
computed("max", [([2, 3], [0], {}), ([2, 3], [1], {"keepdim": True}), ([2, 3], [-1], {})], lambda x, a, keepdim=False: C.max(x, a, keepdim))
computed("min", [([2, 3], [0], {}), ([2, 3], [1], {"keepdim": True})], lambda x, a, keepdim=False: C.min(x, a, keepdim))
computed("prod", [([2, 3], [0], {}), ([2, 3], [1], {"keepdim": True})], lambda x, a, keepdim=False: C.prod(x, a, keepdim, False))
computed("cumsum", [([2, 3], 0, {}), ([2, 3], -1, {"reverse": True}), ([2, 3], 1, {"exclusive": True})],
         lambda x, a, reverse=False, exclusive=False: C.cumsum(x, a, False, exclusive, reverse))
computed("argmax", [([2, 3], 0, {}), ([2, 3], -1, {"keepdims": True})], lambda x, a, keepdims=False: paddle.argmax(x, a, keepdims))
computed("argmin", [([2, 3], 0, {}), ([2, 3], -1, {"keepdims": True})], lambda x, a, keepdims=False: paddle.argmin(x, a, keepdims))
computed("reshape", [([2, 3], [3, 2], {}), ([2, 3], [-1], {}), ([2, 3], [0, -1], {}), ([1], [1, 1], {})], lambda x, s: C.reshape(x, s))
computed("expand", [([3], [2, 3], {}), ([2, 1], [-1, 3], {}), ([1], [4], {})], lambda x, s: C.expand(x, s))
computed("tile", [([3], [2], {}), ([2, 3], [2, 1], {}), ([3], [2, 2], {})], lambda x, s: C.tile(x, s))
computed("squeeze", [([1, 3, 1], [0], {}), ([1, 3, 1], [0, 2], {}), ([1, 3, 1], [-1], {})], lambda x, a: C.squeeze(x, a))
computed("unsqueeze", [([3], [0], {}), ([3], [0, 2], {}), ([3], [-1], {})], lambda x, a: C.unsqueeze(x, a))
computed("roll", [([5], [2], {"axis": [0]}), ([2, 3], [1, -1], {"axis": [0, 1]}), ([2, 3], [1], {})], lambda x, s, axis=(): C.roll(x, s, list(axis)))
