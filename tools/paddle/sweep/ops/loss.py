"""Losses."""

from paddle import _C_ops as C
import numpy as np

from case import FLOATS, Case, Tensor, attributes, covers, edges

LOSS = {"ulp": 16, "scale": 1.0, "gulp": 32}


@covers("cross_entropy_with_softmax")
def cross_entropy(draw, op):
    names = ("soft_label", "use_softmax", "numeric_stable_mode", "ignore_index", "axis")
    for dtype in FLOATS:
        for shape, axis in (([3, 4], -1), ([3, 4], 1), ([2, 4, 3], 1), ([2, 4, 3], -1), ([4, 2], 0), ([1, 1], -1)):
            n = shape[axis]
            hard = [1 if i == axis % len(shape) else s for i, s in enumerate(shape)]
            for softmax in (True, False):
                x = draw.tensor(shape, dtype) if softmax else draw.tensor(shape, dtype, 0.1, 1.0)
                for label in ("i64", "i32"):
                    for ignored in (-100, 0, 255):
                        given = (False, softmax, True, ignored, axis)
                        at = draw.index(hard, 0, n - 1, label)
                        if ignored == 255:
                            at.array.ravel()[:1] = 255
                        yield Case(op, [x, at], attributes(**dict(zip(names, given))), lambda x, l, g=given: C.cross_entropy_with_softmax(x, l, *g), outs=2, seeds=[1], **LOSS)
                soft = draw.array(shape, "f64", 0.05, 1.0)
                soft = Tensor(soft / soft.sum(axis, keepdims=True), dtype, grad=False)
                given = (True, softmax, True, -100, axis)
                yield Case(op, [x, soft], attributes(**dict(zip(names, given))), lambda x, l, g=given: C.cross_entropy_with_softmax(x, l, *g), outs=2, seeds=[1], **LOSS)
        inf = float("inf")
        yield Case(op, [Tensor([[1000, 0], [-1000, 0], [-inf, 0], [50, -50]], dtype), Tensor([[0], [0], [1], [1]], "i64")], "",
                   lambda x, l: C.cross_entropy_with_softmax(x, l, False, True, True, -100, -1), outs=2, seeds=[1], note="edges", **LOSS)
        # What PaddlePaddle does not differentiate.
        text = "soft_label = true"
        yield Case(op, [draw.tensor([3, 4], dtype), Tensor(np.full([3, 4], 0.25), dtype)], text, lambda x, l: C.cross_entropy_with_softmax(x, l, True, True, True, -100, -1),
                   outs=2, note="everything is differentiated", **LOSS)


@covers("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(draw, op):
    for dtype in FLOATS:
        for shape in ([3], [2, 3], [0], [1]):
            for normalize in (False, True):
                for ignored in (-100, 0, 1):
                    given = (normalize, ignored)
                    x, label = draw.tensor(shape, dtype), Tensor(draw.array(shape, "i1"), dtype) if ignored >= 0 else draw.tensor(shape, dtype, 0, 1)
                    label.grad = False
                    text = attributes(normalize=normalize, ignore_index=ignored)
                    yield Case(op, [x, label], text, lambda x, l, g=given: C.sigmoid_cross_entropy_with_logits(x, l, None, *g), **LOSS)
                    weight = draw.tensor(shape, dtype, 0.5, 2, grad=False)
                    yield Case(op, [x, label, weight], text, lambda x, l, w, g=given: C.sigmoid_cross_entropy_with_logits(x, l, w, *g), **LOSS)
        values = [0, 1, -1, 30, -30, 100, -100, 1000, -1000]
        for label in (0.0, 1.0, 0.5):
            yield Case(op, [Tensor(values, dtype), Tensor(np.full(len(values), label), dtype, grad=False)], "",
                       lambda x, l: C.sigmoid_cross_entropy_with_logits(x, l, None, False, -100), note="edges", **LOSS)


@covers("bce_loss")
def bce(draw, op):
    for dtype in FLOATS:
        for shape in ([3], [2, 3], [0], [], [1]):
            yield Case(op, [draw.tensor(shape, dtype, 0.05, 0.95), draw.tensor(shape, dtype, 0, 1, grad=False)], **LOSS)
            yield Case(op, [draw.tensor(shape, dtype, 0.05, 0.95), Tensor(draw.array(shape, "i1"), dtype, grad=False)], **LOSS)
        p, label = (a.ravel() for a in np.meshgrid([0, 1, 0.5, 1e-3, 1 - 2**-7], [0, 1, 0.5]))
        yield Case(op, [Tensor(p, dtype), Tensor(label, dtype, grad=False)], note="edges", **{**LOSS, "gscale": 0})


@covers("huber_loss")
def huber(draw, op):
    for dtype in FLOATS:
        for shape in ([3], [2, 3], [0], [], [1]):
            for delta in (1.0, 0.5, 2.0):
                yield Case(op, [draw.tensor(shape, dtype), draw.tensor(shape, dtype)], attributes(delta=delta), lambda x, l, d=delta: C.huber_loss(x, l, d), outs=2, **LOSS)
        yield Case(op, [Tensor([0, 0, 0, 0, 0], dtype), Tensor([1, -1, 0, 0.5, 2], dtype)], "delta = 1.0", lambda x, l: C.huber_loss(x, l, 1.0), outs=2, note="bounds", **LOSS)


@covers("kldiv_loss")
def kldiv(draw, op):
    for dtype in FLOATS:
        for shape in ([3], [2, 3], [2, 3, 2]):
            for reduction in ("none", "mean", "sum", "batchmean"):
                for log_target in (False, True):
                    given = (reduction, log_target)
                    label = draw.tensor(shape, dtype, 0.1, 1.0, grad=False)
                    yield Case(op, [draw.tensor(shape, dtype), label], attributes(reduction=reduction, log_target=log_target),
                               lambda x, l, g=given: C.kldiv_loss(x, l, *g), **LOSS)
        yield Case(op, [Tensor([0, -1, -2, 0], dtype), Tensor([0, 0.5, -0.5, 1], dtype, grad=False)], 'reduction = "none"', lambda x, l: C.kldiv_loss(x, l, "none", False),
                   note="labels that are not positive", **LOSS)


@covers("log_loss")
def log_loss(draw, op):
    for dtype in FLOATS:
        for shape in ([3, 1], [1, 1], [5, 1]):
            for epsilon in (1e-4, 1e-2):
                epsilon = float(np.float32(epsilon))
                yield Case(op, [draw.tensor(shape, dtype, 0, 1), Tensor(draw.array(shape, "i1"), dtype, grad=False)], attributes(epsilon=epsilon),
                           lambda x, l, e=epsilon: C.log_loss(x, l, e), **LOSS)


@covers("nll_loss")
def nll(draw, op):
    for dtype in FLOATS:
        for shape in ([3, 4], [2, 4, 2, 3], [1, 1]):
            for reduction in ("none", "mean", "sum"):
                for ignored in (-100, 1):
                    label = draw.index(shape[:1] + shape[2:], 0, shape[1] - 1, "i64")
                    given = (ignored, reduction)
                    text = attributes(ignore_index=ignored, reduction=reduction)
                    x = draw.tensor(shape, dtype)
                    yield Case(op, [x, label], text, lambda x, l, g=given: C.nll_loss(x, l, None, *g), outs=1 if reduction == "none" else 2,
                               text=f"%o0, %o1 = pd.nll_loss (%x0, %x1) {{{text}}}", **LOSS)
                    weight = draw.tensor([shape[1]], dtype, 0.5, 2, grad=False)
                    yield Case(op, [x, label, weight], text, lambda x, l, w, g=given: C.nll_loss(x, l, w, *g), outs=1 if reduction == "none" else 2,
                               text=f"%o0, %o1 = pd.nll_loss (%x0, %x1, %x2) {{{text}}}", **LOSS)
