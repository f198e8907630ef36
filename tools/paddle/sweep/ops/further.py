"""Operations that Python's functions reach, made of others here: pooling of volumes, norms, ranks, quantization."""

import numpy as np
from paddle import _C_ops as C

from case import Case, Tensor, attributes, covers

SUMMED = {"ulp": 64, "scale": 8.0, "gulp": 128, "gscale": 8.0}
TYPES = ("f32", "f64")


@covers("trunc_divide")
def trunc_divide(draw, op):
    for dtype in TYPES:
        x, y = Tensor(np.array([7.0, -7.0, 5.5, -0.5, 6.0]), dtype), Tensor(np.array([2.0, 2.0, -1.5, 3.0, -3.0]), dtype)
        yield Case(op, [x, y], call=C.trunc_divide, grad=False, typed=True)
    for dtype in ("i32", "i64"):
        yield Case(op, [Tensor(np.array([7, -7, 5, -5]), dtype), Tensor(np.array([2, 2, -3, -3]), dtype)], call=C.trunc_divide, grad=False, typed=True)


@covers("is_empty")
def is_empty(draw, op):
    for shape in ([2, 3], [0, 3], [], [1]):
        yield Case(op, [draw.tensor(shape, "f32")], call=C.is_empty, grad=False, typed=True)


@covers("nextafter")
def nextafter(draw, op):
    for dtype in TYPES:
        x = Tensor(np.array([0.0, 1.0, 1.0, -1.0, np.inf, 0.0, np.nan]), dtype)
        y = Tensor(np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0]), dtype)
        yield Case(op, [x, y], call=C.nextafter, grad=False, typed=True)


@covers("clip_by_norm")
def clip_by_norm(draw, op):
    for dtype in TYPES:
        for shape, most in (([3], 0.5), ([2, 3], 100.0), ([2, 2, 2], 1.0)):
            yield Case(op, [draw.tensor(shape, dtype)], attributes(max_norm=most), lambda x, m=most: C.clip_by_norm(x, m), grad=False, typed=True, **SUMMED)


@covers("norm")
def norm(draw, op):
    for dtype in TYPES:
        for shape, axis in (([2, 3], 1), ([2, 3], 0), ([2, 3, 4], -1)):
            whole = [1 if at == axis % len(shape) else n for at, n in enumerate(shape)]
            text = (f"%o0, %n = pd.norm (%x0) {{axis = {axis}, epsilon = 1e-10, is_test = false}}"
                    f" : tensor<{'x'.join(map(str, shape))}x{dtype}>, tensor<{'x'.join(map(str, whole))}x{dtype}>")
            yield Case(op, [draw.tensor(shape, dtype)], call=lambda x, a=axis: C.norm(x, a, 1e-10, False)[0], text=text, **SUMMED)


@covers("linear_v2")
def linear_v2(draw, op):
    for dtype in TYPES:
        for transposed in (False, True):
            given = [draw.tensor([2, 3], dtype), draw.tensor([4, 3] if transposed else [3, 4], dtype), draw.tensor([4], dtype)]
            yield Case(op, given, attributes(transpose_weight=transposed), lambda x, w, b, t=transposed: C.linear_v2(x, w, b, t), typed=True, **SUMMED)


@covers("mode")
def mode(draw, op):
    for dtype in TYPES:
        for axis, keep in ((-1, False), (0, True), (1, False)):
            values = Tensor(np.array([[2.0, 1.0, 2.0, 1.0], [3.0, 3.0, 0.0, 5.0], [2.0, 4.0, 2.0, 5.0]]), dtype)
            shape = [3, 4]
            shape[axis] = 1
            dims = "x".join(str(n) for n in (shape if keep else [n for at, n in enumerate(shape) if at != axis % 2]))
            text = f"%o0, %o1 = pd.mode (%x0) {{{attributes(axis=axis, keepdim=keep)}}} : tensor<{dims}x{dtype}>, tensor<{dims}xi64>"
            yield Case(op, [values], call=lambda x, a=axis, k=keep: C.mode(x, a, k)[0], text=text)


@covers("matrix_rank_tol")
def matrix_rank_tol(draw, op):
    for dtype in TYPES:
        for limit, usual in ((0.5, False), (2.5, True), (0.0, True)):
            x = Tensor(np.diag([3.0, 2.0, 0.1]), dtype, grad=False)
            yield Case(op, [x, Tensor(np.array(limit), dtype, grad=False)], attributes(use_default_tol=usual),
                       lambda x, t, u=usual: C.matrix_rank_tol(x, t, u, False), grad=False, typed=True)
        # Limits of more batch dimensions than the matrices have, and of fewer.
        for limits in ([0.5, 2.5], [[0.5, 2.5], [0.01, 5.0]], [[0.5], [2.5]]):
            x = Tensor(np.stack([np.diag([3.0, 2.0, 0.1]), np.diag([3.0, 1.0, 0.0])]), dtype, grad=False)
            yield Case(op, [x, Tensor(np.array(limits), dtype, grad=False)], attributes(use_default_tol=False),
                       lambda x, t: C.matrix_rank_tol(x, t, False, False), grad=False, typed=True)


@covers("matrix_rank_atol_rtol")
def matrix_rank_atol_rtol(draw, op):
    for dtype in TYPES:
        for limits in ((0.5, 0.0), (0.0, 0.9), (2.5, 0.1), (0.0,), (0.5,)):
            x = Tensor(np.stack([np.diag([3.0, 2.0, 0.1]), np.diag([3.0, 1e-9, 0.0])]), dtype, grad=False)
            tols = [Tensor(np.array([limit, limit]), dtype, grad=False) for limit in limits]
            yield Case(op, [x, *tols], call=lambda x, a, r=None: C.matrix_rank_atol_rtol(x, a, r, False), grad=False, typed=True)


@covers("max_pool3d_with_index")
def max_pool3d_with_index(draw, op):
    names = ("kernel_size", "strides", "paddings", "global_pooling", "adaptive", "ceil_mode")
    for dtype in TYPES:
        for shape, out, *given in (([1, 2, 4, 4, 4], [2, 2, 2], [2, 2, 2], [2, 2, 2], [0, 0, 0], False, False, False),
                                   ([2, 1, 5, 4, 6], [3, 2, 3], [3, 2, 3], [2, 2, 2], [1, 0, 1], False, False, False),
                                   ([1, 1, 5, 4, 6], [2, 3, 4], [2, 3, 4], [1, 1, 1], [0, 0, 0], False, True, False),
                                   ([1, 2, 5, 5, 5], [3, 3, 3], [2, 2, 2], [2, 2, 2], [0, 0, 0], False, False, True)):
            dims = "x".join(map(str, shape[:2] + out))
            text = f"%o0, %o1 = pd.{op} (%x0) {{{attributes(**dict(zip(names, given)))}}} : tensor<{dims}x{dtype}>, tensor<{dims}xi32>"
            yield Case(op, [draw.distinct(shape, dtype)], call=lambda x, g=given: C.max_pool3d_with_index(x, *g), outs=2, text=text)


@covers("unpool3d")
def unpool3d(draw, op):
    for dtype in TYPES:
        indices = Tensor(np.array([[[[[0, 3], [12, 15]], [[48, 33], [60, 63]]]]]), "i32")
        given = dict(ksize=[2, 2, 2], strides=[2, 2, 2], paddings=[0, 0, 0], output_size=[4, 4, 4], data_format="NCDHW")
        yield Case(op, [draw.tensor([1, 1, 2, 2, 2], dtype), indices], attributes(**given), lambda x, i, g=given: C.unpool3d(x, i, *g.values()), typed=True)


@covers("fractional_max_pool3d")
def fractional_max_pool3d(draw, op):
    for dtype in TYPES:
        for n, size, window, u in ((6, 3, 0, 0.4), (7, 5, 2, 0.3), (9, 4, 3, 0.95)):
            given = dict(output_size=[size, size - 1, 2], kernel_size=[window] * 3, random_u=u, return_mask=True)
            shape = f"tensor<1x2x{size}x{size - 1}x2x"
            text = f"%o0, %o1 = pd.{op} (%x0) {{{attributes(**given)}}} : {shape}{dtype}>, {shape}i32>"
            yield Case(op, [draw.distinct([1, 2, n, n, n - 1], dtype)], call=lambda x, g=given: C.fractional_max_pool3d(x, *g.values()), text=text, eager=False)


@covers("interp_antialias")
def interp_antialias(draw, op):
    names = ("data_format", "out_d", "out_h", "out_w", "scale", "interp_method", "align_corners", "align_mode")
    # Weights are single numbers there, of doubles too.
    for dtype in TYPES[:1]:
        for kind in ("bilinear", "bicubic"):
            for h, w, scale in ((3, 4, []), (9, 12, []), (4, 3, [0.5, 0.5])):
                given = ("NCHW", -1, h, w, scale, kind, False, 1)
                yield Case(op, [draw.tensor([1, 2, 8, 6], dtype)], attributes(**dict(zip(names, given))),
                           lambda x, g=given: C.interp_antialias(x, None, None, None, *g), typed=True, **SUMMED | {"ulp": 256, "gulp": 256})


@covers("fake_quantize_dequantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max")
def fake_quantize(draw, op):
    for dtype in TYPES[:1]:
        for bits in (8, 4):
            for way in (0, 1):
                x = draw.tensor([3, 4], dtype)
                given = dict(bit_length=bits, round_type=way) | ({"quant_axis": 0} if "channel" in op else {})
                scale = 3 if "channel" in op else 1
                text = f"%o0, %s = pd.{op} (%x0) {{{attributes(**given)}}} : tensor<3x4x{dtype}>, tensor<{scale}x{dtype}>"
                yield Case(op, [x], call=lambda x, g=given: getattr(C, op)(x, *g.values())[0], text=text, **SUMMED)


@covers("fake_quantize_dequantize_moving_average_abs_max")
def fake_quantize_moving(draw, op):
    for test, outs in ((False, 2), (True, 1)):
        given = dict(moving_rate=0.9, bit_length=8, is_test=test, round_type=1)
        operands = [draw.tensor([3, 4], "f32"), *(Tensor(np.array([n]), "f32", grad=False) for n in (1.5, 2.0, 1.3))]
        text = f"%o0, %o1, %s, %a = pd.{op} (%x0, %x1, %x2, %x3) {{{attributes(**given)}}} : tensor<3x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>"
        if test:
            text = f"%o0, %s = pd.{op} (%x0, %x1, %x2, %x3) {{{attributes(**given)}}} : tensor<3x4xf32>, tensor<1xf32>"
        call = lambda x, s, a, n, g=given, k=outs: getattr(C, op)(x, s, a, n, *g.values())[:k]  # noqa: E731
        yield Case(op, operands, call=call, outs=outs, text=text, seeds=[0], **SUMMED)


@covers("slogdet_v2")
def slogdet_v2(draw, op):
    for dtype in TYPES:
        x = Tensor(draw.tensor([2, 3, 3], "f64").array + 3 * np.eye(3), dtype)
        text = f"%s, %o0 = pd.slogdet_v2 (%x0) : tensor<2x{dtype}>, tensor<2x{dtype}>"
        yield Case(op, [x], call=lambda x: C.slogdet_v2(x)[1], text=text, **SUMMED | {"ulp": 256, "gulp": 512})
