"""Operations of detection, and others that only PaddlePaddle's declarations describe."""

import numpy as np
import paddle
from paddle import _C_ops as C

from case import Case, Tensor, attributes, covers

TYPES = ("f32", "f64")
# The eager engine asks for what a gradient operation is made of.
SUMMED = {"ulp": 64, "scale": 8.0, "gulp": 128, "gscale": 8.0, "typed": True}
KERNEL = SUMMED | {"eager": False}
BOXES = np.array([[0.3, 0.2, 4.1, 4.4], [1.2, 1.4, 5.7, 5.1], [-2.0, 2.3, 3.2, 9.0], [2.1, 2.2, 2.3, 2.4]])


def pooled(draw, dtype, channels=3, boxes=BOXES):
    """Images, boxes, and how many are in which."""
    return [draw.tensor([2, channels, 6, 7], dtype), Tensor(boxes, dtype, False), Tensor(np.array([3, 1]), "i32")]


@covers("roi_align")
def roi_align(draw, op):
    for dtype in TYPES:
        for size, scale, points, aligned in (((2, 3), 1.0, 2, False), ((2, 2), 0.5, -1, True), ((1, 1), 1.0, -1, False), ((3, 2), 0.7, 1, True)):
            given = dict(pooled_height=size[0], pooled_width=size[1], spatial_scale=scale, sampling_ratio=points, aligned=aligned)
            # PaddlePaddle's gradient takes aligned boxes for at least one element wide.
            boxes = BOXES + np.array([0, 0, 2, 2]) * aligned
            yield Case(op, pooled(draw, dtype, boxes=boxes), attributes(**given), lambda x, b, n, g=given: C.roi_align(x, b, n, *g.values()), **KERNEL)


@covers("roi_pool")
def roi_pool(draw, op):
    for dtype in TYPES:
        for size, scale in (((2, 3), 1.0), ((3, 1), 0.5), ((2, 2), 1.3)):
            given = dict(pooled_height=size[0], pooled_width=size[1], spatial_scale=scale)
            shape = f"tensor<4x3x{size[0]}x{size[1]}x"
            text = f"%o0, %at = pd.roi_pool (%x0, %x1, %x2) {{{attributes(**given)}}} : {shape}{dtype}>, {shape}i64>"
            yield Case(op, pooled(draw, dtype), call=lambda x, b, n, g=given: C.roi_pool(x, b, n, *g.values()), text=text, **KERNEL | {"typed": False})


@covers("psroi_pool")
def psroi_pool(draw, op):
    for dtype in TYPES:
        for size, scale in (((2, 3), 1.0), ((2, 1), 0.6)):
            given = dict(pooled_height=size[0], pooled_width=size[1], output_channels=2, spatial_scale=scale)
            yield Case(op, pooled(draw, dtype, 2 * size[0] * size[1]), attributes(**given), lambda x, b, n, g=given: C.psroi_pool(x, b, n, *g.values()), **KERNEL)


@covers("nms")
def nms(draw, op):
    for dtype in TYPES:
        for most in (0.1, 0.3, 0.9):
            yield Case(op, [Tensor(np.abs(BOXES), dtype)], attributes(threshold=most), lambda x, m=most: C.nms(x, m), grad=False, typed=True)


def many(draw, dtype, *shape):
    """Boxes that overlap."""
    corners = draw.array([*shape, 2], dtype, 0.0, 6.0)
    return Tensor(np.concatenate([corners, corners + draw.array([*shape, 2], dtype, 1.0, 5.0)], -1), dtype, False)


@covers("multiclass_nms3", "matrix_nms")
def detections(draw, op):
    for dtype in TYPES:
        for least, top, most, whole in ((0.1, 6, 5, True), (0.3, -1, -1, False), (0.999, 4, 3, True)):
            given = dict(score_threshold=least, nms_top_k=top, keep_top_k=most)
            inputs = [many(draw, dtype, 2, 7), draw.tensor([2, 3, 7], dtype, 0.0, 0.99, grad=False)]
            absent = ""
            if op == "multiclass_nms3":
                more = [dict(nms_threshold=t, normalized=whole, nms_eta=e, background_label=b) for t, e, b in ((0.3, 1.0, 0), (0.7, 0.8, -1))]
                absent = ", absent_operands = [2]"
            else:
                more = [dict(post_threshold=0.05, use_gaussian=g, gaussian_sigma=1.5, background_label=-1, normalized=whole) for g in (False, True)]
            for own in more:
                all_of = given | own
                text = (f"%o0, %o1, %o2 = pd.{op} (%x0, %x1) {{{attributes(**all_of)}}} : tensor<?x6x{dtype}>, tensor<?x1xi32>, tensor<2xi32>")
                none = [None] * (op == "multiclass_nms3")
                call = lambda b, s, a=tuple(all_of.values()), n=none: getattr(C, op)(b, s, *n, *a)  # noqa: E731
                yield Case(op, inputs, call=call, text=text, outs=3, grad=False, **KERNEL | {"typed": False})
        if op == "multiclass_nms3":
            inputs = [many(draw, dtype, 7, 3), draw.tensor([7, 3], dtype, 0.0, 1.0, grad=False), Tensor(np.array([4, 3]), "i32")]
            given = dict(score_threshold=0.1, nms_top_k=6, keep_top_k=5, nms_threshold=0.2, normalized=False, nms_eta=1.0, background_label=1)
            text = f"%o0, %o1, %o2 = pd.{op} (%x0, %x1, %x2) {{{attributes(**given)}}} : tensor<?x6x{dtype}>, tensor<?x1xi32>, tensor<2xi32>"
            yield Case(op, inputs, call=lambda *x, a=tuple(given.values()): C.multiclass_nms3(*x, *a), text=text, outs=3, grad=False,
                       **KERNEL | {"typed": False})


@covers("generate_proposals")
def proposals(draw, op):
    for dtype in TYPES:
        for before, after, most, least, eta, whole in ((8, 5, 0.5, 0.1, 1.0, True), (-1, -1, 0.7, 2.0, 0.9, False), (12, 4, 0.3, 20.0, 1.0, True)):
            given = dict(pre_nms_top_n=before, post_nms_top_n=after, nms_thresh=most, min_size=least, eta=eta, pixel_offset=whole)
            inputs = [draw.tensor([2, 3, 2, 3], dtype, 0.0, 1.0, grad=False), draw.tensor([2, 12, 2, 3], dtype, -0.5, 0.5, grad=False),
                      Tensor(np.array([[12, 14], [9, 9]]), dtype, False), many(draw, dtype, 2, 3, 3), draw.tensor([2, 3, 3, 4], dtype, 0.1, 1.0, grad=False)]
            names = ", ".join(f"%x{at}" for at in range(5))
            text = f"%o0, %o1, %o2 = pd.{op} ({names}) {{{attributes(**given)}}} : tensor<?x4x{dtype}>, tensor<?x1x{dtype}>, tensor<2xi32>"
            yield Case(op, inputs, call=lambda *x, a=tuple(given.values()): C.generate_proposals(*x, *a), text=text, outs=3, grad=False,
                       **KERNEL | {"typed": False})


@covers("yolo_box")
def yolo_box(draw, op):
    for dtype in TYPES:
        for clip, scale, aware in ((True, 1.0, False), (False, 1.1, False), (True, 1.0, True)):
            given = dict(anchors=[10, 13, 16, 30], class_num=3, conf_thresh=0.4, downsample_ratio=8, clip_bbox=clip, scale_x_y=scale,
                         iou_aware=aware, iou_aware_factor=0.4)
            x = draw.tensor([2, 2 * (8 + aware), 3, 4], dtype)
            yield Case(op, [x, Tensor(np.array([[30, 40], [50, 20]]), "i32")], attributes(**given), lambda x, s, g=given: C.yolo_box(x, s, *g.values()),
                       outs=2, grad=False, **KERNEL)


@covers("prior_box")
def prior_box(draw, op):
    for dtype in TYPES:
        for least_first in (False, True):
            for most, flip, clip, step in (([], False, False, 0.0), ([5.0, 6.5], True, True, 3.0)):
                given = dict(min_sizes=[2.0, 4.5], max_sizes=most, aspect_ratios=[1.0, 2.0, 0.5], variances=[0.1, 0.1, 0.2, 0.3], flip=flip, clip=clip,
                             step_w=step, step_h=step, offset=0.5, min_max_aspect_ratios_order=least_first)
                yield Case(op, [draw.tensor([1, 2, 3, 4], dtype), draw.tensor([1, 3, 20, 24], dtype)], attributes(**given),
                           lambda x, i, g=given: C.prior_box(x, i, *g.values()), outs=2, grad=False, **KERNEL)


@covers("box_coder")
def box_coder(draw, op):
    for dtype in TYPES:
        prior, wide = Tensor(np.abs(BOXES), dtype), draw.tensor([4, 4], dtype, 0.1, 0.5)
        target = np.abs(BOXES[:3]) + np.array([0.1, 0.2, 0.5, 0.7])
        for whole in (True, False):
            for kind, given, axis in (("encode_center_size", target, 0), ("decode_center_size", draw.array([3, 4, 4], dtype, -0.5, 0.5), 0),
                                      ("decode_center_size", draw.array([4, 2, 4], dtype, -0.5, 0.5), 1)):
                more = dict(code_type=kind, box_normalized=whole, axis=axis)
                yield Case(op, [prior, wide, Tensor(given, dtype)], attributes(**more, variance=[]), lambda p, v, t, m=more: C.box_coder(p, v, t, *m.values(), []),
                           grad=False, **KERNEL)
                if dtype == "f64":
                    # PaddlePaddle reads `variance` as numbers of the type of the boxes, which they are not.
                    continue
                text = f"%o0 = pd.box_coder (%x0, %x1) {{{attributes(**more, variance=[0.1, 0.2, 0.3, 0.4])}, absent_operands = [1]}}"
                yield Case(op, [prior, Tensor(given, dtype)], call=lambda p, t, m=more: C.box_coder(p, None, t, *m.values(), [0.1, 0.2, 0.3, 0.4]), text=text,
                           grad=False, **KERNEL)


@covers("deformable_conv")
def deformable_conv(draw, op):
    for dtype in TYPES:
        for masked in (False, True):
            for parts, groups, stride, pad, dilation in ((1, 1, 1, 1, 1), (2, 2, 2, 0, 1), (2, 1, 1, 2, 2)):
                rows, columns = ((n + 2 * pad - dilation * 2 - 1) // stride + 1 for n in (6, 7))
                given = [draw.tensor([2, 4, 6, 7], dtype), draw.tensor([2, 18 * parts, rows, columns], dtype, -1.3, 1.3), draw.tensor([2, 4 // groups, 3, 3], dtype)]
                given += [draw.tensor([2, 9 * parts, rows, columns], dtype)] * masked
                more = dict(strides=[stride] * 2, paddings=[pad] * 2, dilations=[dilation] * 2, deformable_groups=parts, groups=groups, im2col_step=1)
                absent = "" if masked else ", absent_operands = [3]"
                operands = ", ".join(f"%x{at}" for at in range(len(given)))
                text = f"%o0 = pd.deformable_conv ({operands}) {{{attributes(**more)}{absent}}}"
                yield Case(op, given, call=lambda x, o, f, m=None, g=more: C.deformable_conv(x, o, f, m, *g.values()), text=text, **SUMMED)


@covers("gammaincc")
def gammaincc(draw, op):
    for dtype in TYPES:
        a, x = np.meshgrid([0.2, 1.0, 3.5, 12.0], [0.1, 0.9, 2.0, 4.5, 20.0])
        yield Case(op, [Tensor(a, dtype, False), Tensor(x, dtype)], call=C.gammaincc, **KERNEL | {"ulp": 512, "gulp": 2048})


@covers("rrelu")
def rrelu(draw, op):
    for dtype in TYPES:
        text = f"%o0, %slope = pd.rrelu (%x0) {{lower = 0.1, upper = 0.3, is_test = true}} : tensor<3x4x{dtype}>, tensor<3x4x{dtype}>"
        yield Case(op, [draw.tensor([3, 4], dtype)], call=lambda x: C.rrelu(x, 0.1, 0.3, True), text=text, **KERNEL | {"typed": False})


@covers("unique", "unique_consecutive")
def unique_slices(draw, op):
    for dtype in ("f32", "f64", "i32", "i64"):
        for values in ([[1, 2], [0, 3], [0, 3], [1, 2], [0, 1]], [[[1, 1], [2, 2]], [[1, 1], [2, 2]]]):
            for axis in (0, 1):
                x = Tensor(np.array(values), dtype)
                kept = dict(return_inverse=True, return_counts=True, axis=[axis])
                if op == "unique":
                    call = lambda x, a=axis: C.unique(x, True, True, True, [a], paddle.int64)  # noqa: E731
                    text = f"%o0, %o1, %o2, %o3 = pd.unique (%x0) {{return_index = true, {attributes(**kept)}, dtype = i64}}"
                else:
                    call = lambda x, a=axis: C.unique_consecutive(x, True, True, [a], paddle.int64)  # noqa: E731
                    text = f"%o0, %o1, %o2 = pd.unique_consecutive (%x0) {{{attributes(**kept)}, dtype = i64}}"
                yield Case(op, [x], call=call, outs=4 if op == "unique" else 3, text=text, grad=False, typed=True)


@covers("median", "nanmedian")
def medians(draw, op):
    holes = np.array([[0.5, np.nan, -1.0, 2.0, 7.0], [np.nan, 1.0, 3.0, np.nan, 4.0], [9.0, 8.0, 0.0, 6.0, 5.0], [1.5, 2.5, 3.5, np.nan, 0.25]])
    for dtype in TYPES:
        for axis, keep in (([], False), ([0], False), ([1], True), ([-1], False), ([0, 1], True)):
            if op == "median" and len(axis) > 1:
                continue
            for mode in ("avg", "min"):
                x = Tensor(holes, dtype) if op == "nanmedian" else draw.distinct([4, 5], dtype)
                call = lambda x, a=axis, k=keep, m=mode: getattr(C, op)(x, a, k, m)[0]  # noqa: E731
                yield Case(op, [x], attributes(axis=axis, keepdim=keep, mode=mode), call, **SUMMED)
    for dtype in ("i32", "i64"):
        # The mean of the two in the middle is truncated.
        for values in ([-2, -3, -1, -3], [1, 2, 3, 4], [-1, 5, 2]):
            call = lambda x: getattr(C, op)(x, [], True, "avg")[0]  # noqa: E731
            yield Case(op, [Tensor(np.array(values), dtype)], attributes(axis=[], keepdim=True, mode="avg"), call, grad=False, typed=True)


@covers("histogram")
def histograms(draw, op):
    for dtype in TYPES:
        x, weight = draw.tensor([3, 4], dtype), draw.tensor([3, 4], dtype, 0.1, 1.0, grad=False)
        for bins, low, high in ((4, 0.0, 0.0), (3, -1.0, 2.0)):
            for dense in (False, True):
                given = attributes(bins=bins, min=low, max=high, density=dense)
                more = (bins, low, high, dense)
                yield Case(op, [x], given + "", lambda x, m=more: C.histogram(x, None, *m), grad=False, typed=True, ulp=16)
                yield Case(op, [x, weight], given, lambda x, w, m=more: C.histogram(x, w, *m), grad=False, typed=True, ulp=16)
        same = Tensor(np.full([5], 2.0), dtype)
        whole = Tensor(np.array([1, 3, 3, 0]), "i64")
        yield Case(op, [whole], attributes(bins=4, min=-0.5, max=0.0), lambda x: C.histogram(x, None, 4, -0.5, 0.0, False), grad=False, typed=True)
        yield Case(op, [same], attributes(bins=4, min=0.0, max=0.0), lambda x: C.histogram(x, None, 4, 0.0, 0.0, False), grad=False, typed=True)


@covers("nansum")
def nansum(draw, op):
    for dtype in TYPES:
        x = Tensor(np.array([[1.0, np.nan, 2.5], [np.nan, np.nan, 0.5]]), dtype)
        for axis, keep in (([], False), ([0], True), ([1], False)):
            yield Case(op, [x], attributes(axis=axis, keepdim=keep), lambda x, a=axis, k=keep: C.nansum(x, a, None, k), **SUMMED)
    for dtype in ("i1", "i32", "f32"):
        for to, theirs in (("f64", paddle.float64), ("i32", paddle.int32), ("i64", paddle.int64)):
            x = Tensor(np.array([1, 0, 1]), dtype, grad=False)
            yield Case(op, [x], f"axis = [0], dtype = {to}", lambda x, d=theirs: C.nansum(x, [0], d, False), grad=False, note=to)


@covers("std")
def std(draw, op):
    for dtype in TYPES:
        for axis, keep, less in (([], False, 1.0), ([0], True, 0.0), ([1], False, 1.0), ([0, 1], False, 0.0)):
            yield Case(op, [draw.tensor([3, 4], dtype)], attributes(axis=axis, keepdim=keep, unbiased=less > 0, correction=less),
                       lambda x, a=axis, k=keep, n=less: C.std(x, a, k, n > 0, n), **SUMMED)


@covers("repeat_interleave_with_tensor_index")
def repeat(draw, op):
    for dtype in TYPES:
        for axis, counts in ((0, [2, 0, 1]), (1, [1, 3, 0, 2])):
            yield Case(op, [draw.tensor([3, 4], dtype), Tensor(np.array(counts), "i64")], attributes(axis=axis),
                       lambda x, r, a=axis: C.repeat_interleave_with_tensor_index(x, r, a, -1), **SUMMED)


@covers("lstsq")
def lstsq(draw, op):
    for dtype in TYPES:
        for m, n in ((4, 2), (3, 3), (2, 4)):
            x, y = draw.tensor([m, n], dtype), draw.tensor([m, 2], dtype)
            text = (f'%o0, %a, %b, %c = pd.lstsq (%x0, %x1) {{rcond = 1.0e-7, driver = "gelsd"}} : tensor<{n}x2x{dtype}>, tensor<2x{dtype}>, '
                    f"tensor<i32>, tensor<{min(m, n)}x{dtype}>")
            yield Case(op, [x, y], call=lambda x, y: C.lstsq(x, y, 1e-7, "gelsd")[0], text=text, grad=False, ulp=4096, scale=64.0)


@covers("fractional_max_pool2d")
def fractional(draw, op):
    for dtype in TYPES:
        for n, size, window, u in ((6, 3, 0, 0.4), (7, 5, 0, 0.9), (7, 5, 2, 0.3), (9, 4, 3, 0.95), (5, 1, 2, 0.5), (11, 7, 3, 0.6)):
            given = dict(output_size=[size, size - 1 or 1], kernel_size=[window, window], random_u=u, return_mask=True)
            shape = f"tensor<2x2x{size}x{size - 1 or 1}x"
            text = f"%o0, %o1 = pd.fractional_max_pool2d (%x0) {{{attributes(**given)}}} : {shape}{dtype}>, {shape}i32>"
            call = lambda x, g=given: C.fractional_max_pool2d(x, *g.values())  # noqa: E731
            yield Case(op, [draw.distinct([2, 2, n, n], dtype)], call=call, text=text, **KERNEL | {"typed": False})


@covers("viterbi_decode")
def viterbi(draw, op):
    for dtype in TYPES:
        for tags, bounded in ((3, False), (5, True), (2, True)):
            for ends in ([4, 2, 1], [3, 3, 2]):
                given = attributes(include_bos_eos_tag=bounded)
                text = f"%o0, %o1 = pd.viterbi_decode (%x0, %x1, %x2) {{{given}}} : tensor<3x{dtype}>, tensor<3x{max(ends)}xi64>"
                inputs = [draw.tensor([3, 4, tags], dtype, grad=False), draw.tensor([tags, tags], dtype, grad=False), Tensor(np.array(ends), "i64")]
                yield Case(op, inputs, call=lambda x, t, n, b=bounded: C.viterbi_decode(x, t, n, b), text=text, grad=False, ulp=16)


@covers("warprnnt")
def transducer(draw, op):
    for dtype in TYPES:
        for blank, early in ((0, 0.0), (2, 0.0), (0, 0.3)):
            labels = np.array([[1, 3], [4, 1]])
            inputs = [draw.tensor([2, 4, 3, 5], dtype), Tensor(labels, "i32"), Tensor(np.array([4, 3]), "i32"), Tensor(np.array([2, 1]), "i32")]
            given = dict(blank=blank, fastemit_lambda=early)
            text = f"%o0, %more = pd.warprnnt (%x0, %x1, %x2, %x3) {{{attributes(**given)}}} : tensor<2x{dtype}>, tensor<2x4x3x5x{dtype}>"
            yield Case(op, inputs, call=lambda *x, g=given: C.warprnnt(*x, *g.values()), text=text, **KERNEL | {"typed": False})


@covers("yolo_loss")
def yolo_loss(draw, op):
    boxes = np.array([[[0.3, 0.4, 0.2, 0.3], [0.6, 0.7, 0.4, 0.2], [0.1, 0.8, 0.1, 0.1]], [[0.5, 0.5, 0.9, 0.8], [0.0, 0.0, 0.0, 0.0], [0.95, 0.05, 0.05, 0.6]]])
    for dtype in TYPES:
        for smooth, scale, most, scored in ((True, 1.0, 0.7, False), (False, 1.2, 0.1, True), (True, 1.05, 0.3, True)):
            inputs = [draw.tensor([2, 16, 4, 4], dtype), Tensor(boxes, dtype, False), Tensor(np.array([[0, 2, 1], [1, 0, 2]]), "i32")]
            inputs += [Tensor(np.array([[1.0, 0.5, 0.25], [0.75, 1.0, 0.3]]), dtype, False)] * scored
            given = dict(anchors=[4, 6, 10, 5, 16, 20], anchor_mask=[2, 0], class_num=3, ignore_thresh=most, downsample_ratio=8,
                         use_label_smooth=smooth, scale_x_y=scale)  # fmt: skip
            names, absent = ", ".join(f"%x{at}" for at in range(len(inputs))), "" if scored else ", absent_operands = [3]"
            text = (f"%o0, %o1, %o2 = pd.yolo_loss ({names}) {{{attributes(**given)}{absent}}} : tensor<2x{dtype}>, "
                    f"tensor<2x2x4x4x{dtype}>, tensor<2x3xi32>")
            call = lambda *x, g=given: C.yolo_loss(*x, *[None] * (4 - len(x)), *g.values())  # noqa: E731
            yield Case(op, inputs, call=call, text=text, **KERNEL | {"typed": False})
