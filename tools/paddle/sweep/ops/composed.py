"""Operations that are made of others here."""

import numpy as np
import paddle
from paddle import _C_ops as C

from case import Case, Tensor, attributes, covers

# Sums and polynomials are rounded in other places than PaddlePaddle's kernels round.
SUMMED = {"ulp": 64, "scale": 8.0, "gulp": 128, "gscale": 8.0, "typed": True}
TYPES = ("f32", "f64")


@covers("lerp")
def lerp(draw, op):
    for dtype in TYPES:
        for shapes in ([[3], [3], [3]], [[2, 3], [2, 3], [1]], [[2, 3], [3], [2, 1]]):
            yield Case(op, [draw.tensor(s, dtype) for s in shapes], call=C.lerp, **SUMMED)


@covers("logit")
def logit(draw, op):
    for dtype in TYPES:
        for eps in (1e-6, 0.2):
            values = Tensor(np.array([0.1, 0.3, 0.5, 0.75, 0.9]), dtype)
            yield Case(op, [values], attributes(eps=eps), lambda x, e=eps: C.logit(x, e), **SUMMED)


@covers("label_smooth")
def label_smooth(draw, op):
    for dtype in TYPES:
        yield Case(op, [draw.tensor([2, 4], dtype)], attributes(epsilon=0.1), lambda x: C.label_smooth(x, None, 0.1), **SUMMED)


@covers("cross")
def cross(draw, op):
    for dtype in TYPES:
        for shape, axis in (([3], 9), ([2, 3], 9), ([3, 3], 1), ([3, 2], -2)):
            two = [draw.tensor(shape, dtype), draw.tensor(shape, dtype)]
            yield Case(op, two, attributes(axis=axis), lambda x, y, a=axis: C.cross(x, y, a), **SUMMED)


@covers("lgamma", "gammaln", "digamma")
def gamma(draw, op):
    for dtype in TYPES:
        # Not near zeros and poles, where one of the two is exact and the other is not.
        for values in ([0.1, 0.7, 1.4, 2.6, 3.5, 7.9, 30.0, 500.0], [0.3, 4.25, 9.0]) + (([-0.4, -1.7, -3.2],) if op == "lgamma" else ()):
            yield Case(op, [Tensor(np.array(values), dtype)], call=getattr(C, op), **SUMMED | {"ulp": 256, "gulp": 1024})
        if op == "digamma":
            yield Case(op, [Tensor(np.array([0.0, -0.0, -1.0, -2.0]), dtype)], call=C.digamma, grad=False, note="poles")


@covers("erfinv")
def erfinv(draw, op):
    for dtype in TYPES:
        yield Case(op, [Tensor(np.array([-0.9, -0.3, 0.0, 0.01, 0.5, 0.95]), dtype)], call=C.erfinv, **SUMMED | {"ulp": 256, "gulp": 1024})


@covers("isclose", "allclose")
def close(draw, op):
    for dtype in TYPES:
        for same in (False, True):
            x, y = Tensor(np.array([1.0, 2.0, np.inf, np.nan, -3.0]), dtype), Tensor(np.array([1.0, 2.1, np.inf, np.nan, -3.00000001]), dtype)
            call = lambda x, y, s=same: getattr(C, op)(x, y, 1e-5, 1e-8, s)  # noqa: E731
            yield Case(op, [x, y], attributes(equal_nan=same), call, grad=False, typed=True)


@covers("bilinear")
def bilinear(draw, op):
    for dtype in TYPES:
        for bias in ([], [[1, 4]]):
            given = [draw.tensor(s, dtype) for s in ([2, 3], [2, 5], [4, 3, 5], *bias)]
            yield Case(op, given, call=lambda x, y, w, b=None: C.bilinear(x, y, w, b), **SUMMED)


@covers("pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
def shuffles(draw, op):
    name = {"pixel_shuffle": "upscale_factor", "pixel_unshuffle": "downscale_factor", "channel_shuffle": "groups"}[op]
    for dtype in TYPES:
        for shape in ([1, 4, 2, 2], [2, 8, 4, 6]):
            yield Case(op, [draw.tensor(shape, dtype)], attributes(**{name: 2}), lambda x: getattr(C, op)(x, 2, "NCHW"), typed=True)


@covers("temporal_shift")
def temporal_shift(draw, op):
    for dtype in TYPES:
        for ratio in (0.25, 0.4):
            yield Case(op, [draw.tensor([6, 6, 2, 3], dtype)], attributes(seg_num=3, shift_ratio=ratio), lambda x, r=ratio: C.temporal_shift(x, 3, r, "NCHW"), typed=True)


@covers("maxout")
def maxout(draw, op):
    for dtype in TYPES:
        for shape, axis in (([1, 4, 2, 2], 1), ([2, 2, 3, 6], 3)):
            yield Case(op, [draw.tensor(shape, dtype)], attributes(groups=2, axis=axis), lambda x, a=axis: C.maxout(x, 2, a), typed=True)


@covers("unfold")
def unfold(draw, op):
    for dtype in TYPES:
        for given in (([2, 2], [1, 1], [0, 0, 0, 0], [1, 1]), ([3, 2], [2, 1], [1, 0, 1, 2], [1, 2])):
            names = dict(zip(("kernel_sizes", "strides", "paddings", "dilations"), given))
            yield Case(op, [draw.tensor([2, 3, 5, 6], dtype)], attributes(**names), lambda x, g=given: C.unfold(x, *g), **SUMMED)


@covers("fold")
def fold(draw, op):
    for dtype in TYPES:
        for shape, *given in (([2, 12, 12], [4, 5], [2, 2], [1, 1], [0, 0, 0, 0], [1, 1]), ([1, 8, 6], [4, 5], [2, 2], [2, 2], [1, 0, 1, 0], [1, 1])):
            names = dict(zip(("output_sizes", "kernel_sizes", "strides", "paddings", "dilations"), given))
            yield Case(op, [draw.tensor(shape, dtype)], attributes(**names), lambda x, g=given: C.fold(x, *g), **SUMMED)


@covers("nearest_interp", "linear_interp", "bilinear_interp", "trilinear_interp", "bicubic_interp")
def interpolation(draw, op):
    method = op.removesuffix("_interp")
    for dtype in TYPES:
        for rank in {"linear": [1], "trilinear": [3], "nearest": [2]}.get(method, [2]):
            layout = "NCHW"  # of volumes too
            for corners in (False, True):
                for mode in (0, 1):
                    # The kernels for doubles compute places and weights in single precision, and others for bicubic.
                    for factor in (0.6, 1.7, 2.0) if dtype == "f32" else () if method == "bicubic" else (2.0,):
                        size = [4, 5, 3][:rank]
                        to = [int(s * factor) for s in size]
                        d, h, w = [0] * (3 - rank) + to
                        h, d = (h or -1, d or -1)
                        call = lambda x, d=d, h=h, w=w, l=layout, c=corners, m=mode, f=factor, n=rank: getattr(C, op)(  # noqa: E731
                            x, None, None, None, l, d, h, w, [float(f)] * n, method, c, m)
                        names = attributes(data_format=layout, out_d=d, out_h=h, out_w=w, interp_method=method, align_corners=corners, align_mode=mode)
                        names += f", scale = [{', '.join([str(float(factor))] * rank)}]"
                        yield Case(op, [draw.tensor([2, 2, *size], dtype)], names, call, **SUMMED | {"ulp": 2048, "gulp": 4096} if dtype == "f64" else SUMMED)


@covers("affine_grid")
def affine_grid(draw, op):
    for dtype in TYPES:
        for corners in (False, True):
            given = attributes(output_shape=[2, 3, 4, 5], align_corners=corners)
            yield Case(op, [draw.tensor([2, 2, 3], dtype)], given, lambda x, c=corners: C.affine_grid(x, [2, 3, 4, 5], c), **SUMMED)


@covers("grid_sample")
def grid_sample(draw, op):
    for dtype in TYPES:
        for mode in ("bilinear", "nearest"):
            for border in ("zeros", "border", "reflection"):
                for corners in (False, True):
                    grid = Tensor(draw.tensor([2, 3, 5, 2], dtype).array * 0.37, dtype, grad=mode == "bilinear")
                    call = lambda x, g, m=mode, b=border, c=corners: C.grid_sample(x, g, m, b, c)  # noqa: E731
                    yield Case(op, [draw.tensor([2, 3, 4, 5], dtype), grid], attributes(mode=mode, padding_mode=border, align_corners=corners), call, **SUMMED)


@covers("conv3d")
def conv3d(draw, op):
    names = ("strides", "paddings", "padding_algorithm", "groups", "dilations", "data_format")
    for dtype in TYPES:
        for image, filter, strides, paddings, groups, dilations in (
                ([1, 2, 4, 4, 5], [3, 2, 3, 2, 2], [1, 1, 1], [0, 0, 0], 1, [1, 1, 1]), ([2, 4, 5, 4, 4], [2, 2, 2, 3, 3], [2, 1, 2], [1, 1, 0], 2, [2, 1, 1])):
            given = (strides, paddings, "EXPLICIT", groups, dilations, "NCDHW")
            yield Case(op, [draw.tensor(image, dtype), draw.tensor(filter, dtype)], attributes(**dict(zip(names, given))),
                       lambda x, f, g=given: C.conv3d(x, f, *g), **SUMMED)


@covers("pool3d")
def pool3d(draw, op):
    names = ("kernel_size", "strides", "paddings", "ceil_mode", "exclusive", "data_format", "pooling_type", "global_pooling", "adaptive", "padding_algorithm")
    for dtype in TYPES:
        for kernel, strides, paddings, ceil, exclusive, kind, whole, adaptive in (
                ([2, 2, 2], [2, 2, 2], [0, 0, 0], False, True, "max", False, False), ([2, 2, 2], [2, 2, 2], [0, 0, 0], False, True, "avg", False, False),
                ([3, 2, 3], [2, 1, 2], [1, 0, 1], False, True, "avg", False, False), ([3, 3, 3], [2, 2, 2], [1, 1, 1], True, True, "max", False, False),
                ([2, 3, 2], [1, 1, 1], [1, 1, 0], False, False, "avg", False, False), ([2, 2, 2], [1, 1, 1], [0, 0, 0], False, True, "avg", True, False),
                ([2, 3, 1], [1, 1, 1], [0, 0, 0], False, True, "avg", False, True)):
            # Means are single numbers there.
            if kind == "avg" and dtype == "f64":
                continue
            given = (kernel, strides, paddings, ceil, exclusive, "NCDHW", kind, whole, adaptive, "EXPLICIT")
            yield Case(op, [draw.tensor([1, 2, 4, 5, 4], dtype)], attributes(**dict(zip(names, given))), lambda x, g=given: C.pool3d(x, *g), **SUMMED)


@covers("depthwise_conv2d_transpose")
def depthwise_conv2d_transpose(draw, op):
    names = ("strides", "paddings", "output_padding", "output_size", "padding_algorithm", "groups", "dilations", "data_format")
    for dtype in TYPES:
        for strides, paddings in (([1, 1], [0, 0]), ([2, 1], [1, 0])):
            given = (strides, paddings, [], [], "EXPLICIT", 3, [1, 1], "NCHW")
            yield Case(op, [draw.tensor([2, 3, 4, 4], dtype), draw.tensor([3, 1, 3, 2], dtype)], attributes(**dict(zip(names, given))),
                       lambda x, f, g=given: C.depthwise_conv2d_transpose(x, f, *g), **SUMMED)


@covers("unpool")
def unpool(draw, op):
    for dtype in TYPES:
        indices = Tensor(np.array([[[[0, 3], [8, 15]], [[5, 6], [9, 10]]]]), "i32")
        names = attributes(ksize=[2, 2], strides=[2, 2], padding=[0, 0], output_size=[4, 4], data_format="NCHW")
        yield Case(op, [draw.tensor([1, 2, 2, 2], dtype), indices], names, lambda x, i: C.unpool(x, i, [2, 2], [2, 2], [0, 0], [4, 4], "NCHW"), typed=True)


@covers("ones_like", "zeros_like")
def like(draw, op):
    import paddle
    for dtype in TYPES:
        call = getattr(paddle, op)
        yield Case(op, [draw.tensor([2, 3], dtype)], call=call, grad=False, typed=True)


@covers("broadcast_tensors")
def broadcast_tensors(draw, op):
    for dtype in TYPES:
        yield Case(op, [draw.tensor([3], dtype), draw.tensor([2, 1], dtype)], call=lambda x, y: C.broadcast_tensors([x, y]), outs=2, typed=True)


def matrix(draw, *lead, n=3):
    """Matrices that are not singular."""
    return draw.tensor([*lead, n, n], "f64").array + 3 * np.eye(n)


def symmetric(draw, *lead, n=3):
    """Symmetric matrices whose eigenvalues are positive and differ."""
    a = draw.tensor([*lead, n, n], "f64").array
    return a @ np.swapaxes(a, -1, -2) / n + np.diag(np.arange(1.0, n + 1))


SOLVED = SUMMED | {"ulp": 256, "gulp": 512}


@covers("cholesky")
def cholesky(draw, op):
    for dtype in TYPES:
        for lead in ([], [2]):
            for upper in (False, True):
                yield Case(op, [Tensor(symmetric(draw, *lead), dtype)], attributes(upper=upper), lambda x, u=upper: C.cholesky(x, u), **SOLVED)


@covers("eigvalsh")
def eigvalsh(draw, op):
    for dtype in TYPES:
        for half in ("L", "U"):
            yield Case(op, [Tensor(symmetric(draw), dtype)], attributes(uplo=half, is_test=False), lambda x, h=half: C.eigvalsh(x, h, False)[0], **SOLVED)


# The signs of eigenvectors are arbitrary.
@covers("eigh")
def eigh(draw, op):
    for dtype in TYPES:
        for half in ("L", "U"):
            yield Case(op, [Tensor(symmetric(draw), dtype)], attributes(UPLO=half), lambda x, h=half: C.eigh(x, h)[0], **SOLVED)


@covers("inverse", "det")
def square(draw, op):
    for dtype in TYPES:
        for lead in ([], [2]):
            yield Case(op, [Tensor(matrix(draw, *lead), dtype)], call=getattr(C, op), **SOLVED)


@covers("matrix_power")
def matrix_power(draw, op):
    for dtype in TYPES:
        for n in (0, 1, 2, 5, -1, -2):
            yield Case(op, [Tensor(matrix(draw) / 3, dtype)], attributes(n=n), lambda x, n=n: C.matrix_power(x, n), **SOLVED)


@covers("solve")
def solve(draw, op):
    for dtype in TYPES:
        for lead in ([], [2]):
            yield Case(op, [Tensor(matrix(draw, *lead), dtype), draw.tensor([*lead, 3, 2], dtype)], call=C.solve, **SOLVED)


@covers("triangular_solve")
def triangular_solve(draw, op):
    for dtype in TYPES:
        for upper, transpose, unit in ((True, False, False), (False, True, False), (False, False, True), (True, True, True)):
            call = lambda x, y, a=(upper, transpose, unit): C.triangular_solve(x, y, *a)  # noqa: E731
            # There the diagonal has a derivative although it is taken for ones.
            given = [Tensor(matrix(draw), dtype, grad=not unit), draw.tensor([3, 2], dtype)]
            yield Case(op, given, attributes(upper=upper, transpose=transpose, unitriangular=unit), call, **SOLVED)


@covers("cholesky_solve")
def cholesky_solve(draw, op):
    for dtype in TYPES:
        for upper in (False, True):
            factor = np.linalg.cholesky(symmetric(draw))
            factor = Tensor(factor.T if upper else factor, dtype)
            yield Case(op, [draw.tensor([3, 2], dtype), factor], attributes(upper=upper), lambda x, y, u=upper: C.cholesky_solve(x, y, u), **SOLVED)


@covers("qr")
def qr(draw, op):
    for dtype in TYPES:
        for shape in ([4, 3], [3, 3], [2, 4, 3]):
            yield Case(op, [draw.tensor(shape, dtype)], attributes(mode="reduced"), lambda x: C.qr(x, "reduced"), outs=2, **SOLVED)


@covers("dist")
def dist(draw, op):
    for dtype in TYPES:
        # The root and what is added to the norm are of single precision there.
        for p in (1.0, 2.0, 3.0) if dtype == "f32" else (2.0,):
            yield Case(op, [draw.tensor([2, 3], dtype), draw.tensor([3], dtype)], attributes(p=p), lambda x, y, p=p: C.dist(x, y, p), **SUMMED)


@covers("logcumsumexp")
def logcumsumexp(draw, op):
    for dtype in TYPES:
        for axis, flatten, reverse in ((0, False, False), (-1, False, True), (-1, True, False)):
            call = lambda x, a=(axis, flatten, False, reverse): C.logcumsumexp(x, *a)  # noqa: E731
            yield Case(op, [draw.tensor([3, 4], dtype)], attributes(axis=axis, flatten=flatten, reverse=reverse), call, **SUMMED)


@covers("searchsorted")
def searchsorted(draw, op):
    for dtype in TYPES:
        for right in (False, True):
            for line, values in (([1.0, 2.0, 2.0, 4.0], [[0.5, 2.0], [4.0, 5.0]]), ([[1.0, 2.0], [3.0, 5.0]], [[1.0, 9.0, 2.0], [3.0, 4.0, 0.0]])):
                yield Case(op, [Tensor(np.array(line), dtype), Tensor(np.array(values), dtype)], attributes(right=right), lambda x, y, r=right: C.searchsorted(x, y, False, r), grad=False, typed=True)


@covers("histogram")
def histogram(draw, op):
    for dtype in TYPES:
        values = Tensor(np.array([[-1.0, -0.9, 0.0], [0.49, 0.5, 1.0], [1.5, -2.0, 0.1]]), dtype)
        yield Case(op, [values], attributes(bins=4, min=-1.0, max=1.0), lambda x: C.histogram(x, None, 4, -1.0, 1.0, False), grad=False, typed=True)


@covers("median")
def median(draw, op):
    for dtype in TYPES:
        for axis, keep in (([0], False), ([1], True), ([-1], False)):
            call = lambda x, a=axis, k=keep: C.median(x, a, k, "avg")[0]  # noqa: E731
            yield Case(op, [draw.distinct([4, 3], dtype)], attributes(axis=axis, keepdim=keep, mode="avg"), call, **SUMMED)


@covers("l1_norm")
def l1_norm(draw, op):
    for dtype in TYPES:
        yield Case(op, [draw.tensor([2, 3], dtype)], call=C.l1_norm, **SUMMED)


@covers("affine_channel")
def affine_channel(draw, op):
    for dtype in TYPES:
        yield Case(op, [draw.tensor([2, 3, 2, 2], dtype), draw.tensor([3], dtype), draw.tensor([3], dtype)], attributes(data_layout="NCHW"),
                   lambda x, s, b: C.affine_channel(x, s, b, "NCHW"), **SUMMED)


@covers("diag_embed")
def diag_embed(draw, op):
    for dtype in TYPES:
        for offset in (0, 1, -2):
            yield Case(op, [draw.tensor([2, 3], dtype)], attributes(offset=offset), lambda x, o=offset: paddle.diag_embed(x, o), grad=False, typed=True)


@covers("multi_dot")
def multi_dot(draw, op):
    for dtype in TYPES:
        yield Case(op, [draw.tensor(s, dtype) for s in ([2, 3], [3, 4], [4, 2])], call=lambda *x: C.multi_dot(list(x)), **SUMMED)


@covers("polygamma")
def polygamma(draw, op):
    for dtype in TYPES:
        for n in (1, 2, 3, 5):
            values = Tensor(np.array([0.2, 0.7, 1.4, 2.6, 7.9, 30.0]), dtype)
            yield Case(op, [values], attributes(n=n), lambda x, n=n: C.polygamma(x, n), **SUMMED | {"ulp": 256, "gulp": 4096})
            poles = Tensor(np.array([0.0, -0.0, -1.0, -2.0]), dtype)
            yield Case(op, [poles], attributes(n=n), lambda x, n=n: C.polygamma(x, n), grad=False, typed=True, note="poles")


@covers("conv3d_transpose")
def conv3d_transpose(draw, op):
    for dtype in TYPES:
        for x, w, strides, paddings, more, groups, dilations in (
            ([1, 2, 3, 3, 3], [2, 3, 2, 2, 2], [1, 1, 1], [0, 0, 0], [], 1, [1, 1, 1]),
            ([2, 2, 2, 3, 4], [2, 2, 3, 2, 3], [2, 2, 1], [1, 0, 1], [], 1, [1, 1, 1]),
            ([1, 4, 2, 2, 2], [4, 2, 2, 2, 2], [2, 1, 2], [0, 0, 0], [1, 0, 1], 2, [1, 2, 1]),
            ([1, 2, 3, 2, 2], [2, 1, 2, 2, 2], [3, 2, 2], [1, 1, 1], [2, 1, 1], 1, [2, 1, 1]),
        ):
            named = attributes(strides=strides, paddings=paddings, output_padding=more, groups=groups, dilations=dilations)
            call = lambda x, w, s=strides, p=paddings, o=more, g=groups, d=dilations: C.conv3d_transpose(x, w, s, p, o, [], "EXPLICIT", g, d, "NCDHW")  # noqa: E731
            yield Case(op, [draw.tensor(x, dtype), draw.tensor(w, dtype)], named + ', data_format = "NCDHW"', call, **SUMMED)


@covers("hsigmoid_loss")
def hsigmoid_loss(draw, op):
    for dtype in TYPES:
        for classes in (2, 5, 8):
            label = Tensor(np.array([[0], [classes - 1], [classes // 2]]), "i64")
            given = [draw.tensor([3, 4], dtype), label, draw.tensor([classes - 1, 4], dtype), draw.tensor([classes - 1, 1], dtype)]
            steps = (classes - 1).bit_length()
            text = (f"%o0, %pre, %w = pd.hsigmoid_loss (%x0, %x1, %x2, %x3) {{num_classes = {classes}, is_sparse = false}}"
                    f" : tensor<3x1x{dtype}>, tensor<3x{steps}x{dtype}>, tensor<0x{dtype}>")
            yield Case(op, given, call=lambda x, y, w, b, c=classes: C.hsigmoid_loss(x, y, w, b, None, None, c, False)[0], text=text, **SUMMED | {"typed": False})


@covers("warpctc")
def warpctc(draw, op):
    for dtype in TYPES:
        for norm in (False, True):
            for labels, times, lengths in (([[1, 2, 3], [2, 4, 1]], [6, 5], [3, 2]), ([[1, 1, 3], [2, 2, 1]], [6, 6], [3, 0]), ([[3, 3, 3], [2, 4, 1]], [3, 6], [3, 2])):
                given = [draw.tensor([6, 2, 5], dtype), Tensor(np.array(labels), "i32"), Tensor(np.array(times), "i64"), Tensor(np.array(lengths), "i64")]
                text = (f"%o0, %slope = pd.warpctc (%x0, %x1, %x2, %x3) {{norm_by_times = {str(norm).lower()}}}"
                        f" : tensor<2x1x{dtype}>, tensor<6x2x5x{dtype}>")
                # The eager engine asks for what a gradient operation is made of.
                yield Case(op, given, call=lambda x, y, t, n, b=norm: C.warpctc(x, y, t, n, 0, b), text=text, **SUMMED | {"typed": False, "eager": False})


@covers("svd", "svdvals")
def singular(draw, op):
    for dtype in TYPES:
        for shape in ([3, 3], [4, 2], [2, 4], [2, 3, 2]):
            x = draw.tensor(shape, dtype)
            k, lead = min(shape[-2:]), shape[:-2]
            ty = lambda *last: f"tensor<{''.join(f'{n}x' for n in [*lead, *last])}{dtype}>"  # noqa: E731
            loose = SUMMED | {"ulp": 256, "gulp": 4096, "gscale": 64.0}
            if op == "svdvals":
                yield Case(op, [x], call=C.svdvals, **loose)
                continue
            # The signs of vectors are free: what does not depend on them.
            text = (f"%u, %s, %v = pd.svd (%x0) : {ty(shape[-2], k)}, {ty(k)}, {ty(k, shape[-1])}\n%o0 = pd.matmul (%u, %v)\n"
                    "%c = pd.square (%u)\n%d = pd.square (%v)\n%e = pd.matmul (%c, %d)\n%f = pd.sum (%s)\n%o1 = pd.multiply (%e, %f)")

            def call(x):
                u, s, v = C.svd(x, False)
                return [paddle.matmul(u, v), paddle.matmul(u * u, v * v) * s.sum()]

            yield Case(op, [x], call=call, outs=2, text=text, **loose | {"typed": False})


@covers("baddbmm", "copysign", "renorm")
def others(draw, op):
    for dtype in TYPES:
        if op == "baddbmm":
            given = [draw.tensor(s, dtype) for s in ([2, 3, 2], [2, 3, 4], [2, 4, 2])]
            yield Case(op, given, attributes(beta=0.5, alpha=-2.0), lambda i, x, y: C.baddbmm(i, x, y, 0.5, -2.0), **SUMMED)
        elif op == "copysign":
            yield Case(op, [draw.tensor([6], dtype), Tensor(np.array([1.0, -2.0, 0.0, -0.0, 3.0, -np.inf]), dtype)], **SUMMED)
        else:
            for p, axis, most in ((2.0, 0, 0.5), (1.0, -1, 1.0), (3.0, 1, 9.0)):
                yield Case(op, [draw.tensor([2, 3, 2], dtype, 0.2, 2.0)], attributes(p=p, axis=axis, max_norm=most), lambda x, p=p, a=axis, m=most: C.renorm(x, p, a, m), **SUMMED)
