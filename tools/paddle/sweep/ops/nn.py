"""Layers."""

from paddle import _C_ops as C
import numpy as np
import paddle

from case import FLOATS, Case, Tensor, attributes, covers

SUMMED = {"ulp": 16, "scale": 4.0, "gulp": 32, "gscale": 8.0}
INF, NAN = float("inf"), float("nan")


@covers("softmax", "log_softmax")
def softmax(draw, op):
    for dtype in FLOATS:
        for shape in ([], [1], [4], [2, 3], [2, 3, 4], [0], [2, 0], [0, 3]):
            for axis in range(-len(shape), len(shape)) if shape else (-1, 0):
                yield Case(op, [draw.tensor(shape, dtype)], f"axis = {axis}", lambda x, a=axis: getattr(C, op)(x, a), ulp=16, scale=1, gulp=32)
        for values in ([1000, 0, -1000], [-INF, 0, 1], [-INF, -INF, -INF], [INF, 0, 1], [INF, INF, 0], [NAN, 0, 1], [500, 500, 500], [0, 0, 0]):
            yield Case(op, [Tensor(values, dtype)], "axis = -1", lambda x: getattr(C, op)(x, -1), ulp=16, scale=1, note="edges")


CONVOLUTION = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format")


@covers("conv2d")
def conv2d(draw, op):
    for dtype in FLOATS:
        for image, filter, strides, paddings, algorithm, dilations, groups, layout in (
                ([1, 1, 4, 4], [1, 1, 3, 3], [1, 1], [0, 0], "EXPLICIT", [1, 1], 1, "NCHW"), ([2, 2, 5, 4], [3, 2, 2, 3], [2, 1], [1, 1], "EXPLICIT", [1, 1], 1, "NCHW"),
                ([1, 4, 4, 4], [2, 2, 3, 3], [1, 1], [1, 0], "EXPLICIT", [1, 1], 2, "NCHW"), ([1, 2, 6, 6], [2, 2, 2, 2], [1, 1], [0, 0], "EXPLICIT", [2, 2], 1, "NCHW"),
                ([1, 2, 5, 5], [2, 2, 3, 3], [2, 2], [0, 0], "SAME", [1, 1], 1, "NCHW"), ([1, 2, 5, 5], [2, 2, 3, 3], [2, 2], [1, 1], "VALID", [1, 1], 1, "NCHW"),
                ([1, 5, 4, 2], [3, 2, 2, 2], [1, 1], [1, 1], "EXPLICIT", [1, 1], 1, "NHWC"), ([1, 2, 4, 4], [2, 2, 3, 3], [1, 1], [1, 0, 2, 1], "EXPLICIT", [1, 1], 1, "NCHW"),
                ([2, 1, 1, 1], [1, 1, 1, 1], [1, 1], [0, 0], "EXPLICIT", [1, 1], 1, "NCHW"), ([1, 5, 5, 2], [2, 2, 3, 3], [2, 2], [0, 0], "SAME", [1, 1], 1, "NHWC")):
            given = (strides, paddings, algorithm, dilations, groups, layout)
            for _ in range(3):
                yield Case(op, [draw.tensor(image, dtype), draw.tensor(filter, dtype)], attributes(**dict(zip(CONVOLUTION, given))),
                           lambda x, f, g=given: C.conv2d(x, f, *g), **SUMMED)


@covers("depthwise_conv2d")
def depthwise(draw, op):
    for dtype in FLOATS:
        for image, filter, strides, paddings, algorithm, groups, dilations, layout in (
                ([1, 2, 4, 4], [2, 1, 3, 3], [1, 1], [0, 0], "EXPLICIT", 2, [1, 1], "NCHW"), ([2, 3, 5, 4], [3, 1, 2, 2], [2, 1], [1, 1], "EXPLICIT", 3, [1, 1], "NCHW"),
                ([1, 2, 4, 4], [4, 1, 3, 3], [1, 1], [1, 1], "EXPLICIT", 2, [1, 1], "NCHW"), ([1, 2, 6, 6], [2, 1, 2, 2], [1, 1], [0, 0], "EXPLICIT", 2, [2, 2], "NCHW"),
                ([1, 2, 5, 5], [2, 1, 3, 3], [2, 2], [0, 0], "SAME", 2, [1, 1], "NCHW")):
            given = (strides, paddings, algorithm, groups, dilations, layout)
            names = ("strides", "paddings", "padding_algorithm", "groups", "dilations", "data_format")
            for _ in range(3):
                yield Case(op, [draw.tensor(image, dtype), draw.tensor(filter, dtype)], attributes(**dict(zip(names, given))),
                           lambda x, f, g=given: C.depthwise_conv2d(x, f, *g), **SUMMED)


@covers("conv2d_transpose")
def conv2d_transpose(draw, op):
    names = ("strides", "paddings", "output_padding", "output_size", "padding_algorithm", "groups", "dilations", "data_format")
    for dtype in FLOATS:
        for image, filter, *given in (
                ([1, 1, 3, 3], [1, 1, 3, 3], [1, 1], [0, 0], [], [], "EXPLICIT", 1, [1, 1], "NCHW"), ([2, 2, 3, 2], [2, 3, 2, 3], [2, 1], [1, 1], [], [], "EXPLICIT", 1, [1, 1], "NCHW"),
                ([1, 4, 3, 3], [4, 1, 2, 2], [2, 2], [0, 0], [1, 1], [], "EXPLICIT", 2, [1, 1], "NCHW"), ([1, 2, 3, 3], [2, 2, 2, 2], [1, 1], [0, 0], [], [], "EXPLICIT", 1, [2, 2], "NCHW"),
                ([1, 2, 3, 3], [2, 1, 3, 3], [2, 2], [1, 1], [], [6, 6], "EXPLICIT", 1, [1, 1], "NCHW"), ([1, 3, 3, 2], [2, 1, 3, 3], [2, 2], [1, 1], [], [], "EXPLICIT", 1, [1, 1], "NHWC")):
            for _ in range(3):
                yield Case(op, [draw.tensor(image, dtype), draw.tensor(filter, dtype)], attributes(**dict(zip(names, given))),
                           lambda x, f, g=given: C.conv2d_transpose(x, f, *g), **SUMMED)


POOL = ("kernel_size", "strides", "paddings", "ceil_mode", "exclusive", "data_format", "pooling_type", "global_pooling", "adaptive", "padding_algorithm")


@covers("pool2d")
def pool2d(draw, op):
    for dtype in FLOATS:
        for kind in ("max", "avg"):
            for exclusive in (True, False):
                for shape, kernel, strides, paddings, ceil, layout, everywhere, adaptive, algorithm in (
                        ([1, 1, 4, 4], [2, 2], [2, 2], [0, 0], False, "NCHW", False, False, "EXPLICIT"), ([2, 2, 5, 4], [3, 2], [2, 1], [1, 0], False, "NCHW", False, False, "EXPLICIT"),
                        ([1, 1, 5, 5], [2, 2], [2, 2], [0, 0], True, "NCHW", False, False, "EXPLICIT"), ([1, 2, 5, 5], [3, 3], [2, 2], [1, 1], True, "NCHW", False, False, "EXPLICIT"),
                        ([1, 2, 3, 3], [1, 1], [1, 1], [0, 0], False, "NCHW", True, False, "EXPLICIT"), ([1, 2, 5, 4], [2, 3], [1, 1], [0, 0], False, "NCHW", False, True, "EXPLICIT"),
                        ([1, 4, 4, 2], [2, 2], [2, 2], [1, 1], False, "NHWC", False, False, "EXPLICIT"), ([1, 2, 5, 5], [2, 2], [2, 2], [0, 0], False, "NCHW", False, False, "SAME"),
                        ([1, 2, 5, 5], [2, 2], [2, 2], [1, 1], False, "NCHW", False, False, "VALID"), ([1, 1, 4, 4], [2, 2], [1, 1], [1, 0, 0, 1], False, "NCHW", False, False, "EXPLICIT")):
                    given = (kernel, strides, paddings, ceil, exclusive, layout, kind, everywhere, adaptive, algorithm)
                    for make in (draw.distinct, draw.ties, draw.tensor):
                        yield Case(op, [make(shape, dtype)], attributes(**dict(zip(POOL, given))), lambda x, g=given: C.pool2d(x, *g),
                                   **({"ulp": 0, "gulp": 8} if kind == "max" else SUMMED), note="ties" if make == draw.ties else "")


@covers("max_pool2d_with_index")
def max_pool(draw, op):
    names = ("kernel_size", "strides", "paddings", "global_pooling", "adaptive", "ceil_mode")
    for dtype in FLOATS:
        for shape, *given in (([1, 1, 4, 4], [2, 2], [2, 2], [0, 0], False, False, False), ([2, 2, 5, 4], [3, 2], [2, 1], [1, 0], False, False, False),
                              ([1, 2, 5, 5], [2, 2], [2, 2], [0, 0], False, False, True), ([1, 2, 3, 3], [1, 1], [1, 1], [0, 0], True, False, False),
                              ([1, 2, 5, 4], [2, 3], [1, 1], [0, 0], False, True, False)):
            for make in (draw.distinct, draw.ties, draw.tensor):
                yield Case(op, [make(shape, dtype)], attributes(**dict(zip(names, given))), lambda x, g=given: C.max_pool2d_with_index(x, *g), outs=2, ulp=0, gulp=8)


NORM = {"ulp": 64, "scale": 8.0, "gulp": 128, "gscale": 16.0, "seeds": [0]}
EPSILON = float.fromhex("0x1.4f8b58p-17")


@covers("layer_norm")
def layer_norm(draw, op):
    for dtype in FLOATS:
        for shape, begin in (([3, 4], 1), ([2, 3, 4], 1), ([2, 3, 4], 2), ([1, 5], 1), ([0, 4], 1)):
            n = 1
            for s in shape[begin:]:
                n *= s
            x = draw.tensor(shape, dtype)
            text = attributes(epsilon=EPSILON, begin_norm_axis=begin)
            for _ in range(2):
                yield Case(op, [x, draw.tensor([n], dtype), draw.tensor([n], dtype)], text, lambda x, s, b, a=begin: C.layer_norm(x, s, b, EPSILON, a), outs=3, **NORM)
                yield Case(op, [x], text, lambda x, a=begin: C.layer_norm(x, None, None, EPSILON, a), outs=3, **NORM)


@covers("group_norm")
def group_norm(draw, op):
    for dtype in FLOATS:
        for shape, groups, layout in (([2, 4, 3, 2], 2, "NCHW"), ([2, 4, 3], 4, "NCHW"), ([1, 4, 2, 2], 1, "NCHW"), ([2, 3, 2, 4], 2, "NHWC")):
            c = shape[1] if layout == "NCHW" else shape[-1]
            text = attributes(epsilon=1e-5, groups=groups, data_format=layout)
            for _ in range(2):
                x = draw.tensor(shape, dtype)
                yield Case(op, [x, draw.tensor([c], dtype), draw.tensor([c], dtype)], text, lambda x, s, b, g=groups, f=layout: C.group_norm(x, s, b, 1e-5, g, f), outs=3, **NORM)
                yield Case(op, [x], text, lambda x, g=groups, f=layout: C.group_norm(x, None, None, 1e-5, g, f), outs=3, **NORM)


@covers("instance_norm")
def instance_norm(draw, op):
    for dtype in FLOATS:
        for shape in ([2, 3, 4], [2, 3, 2, 3], [1, 2, 5]):
            for _ in range(3):
                x = draw.tensor(shape, dtype)
                yield Case(op, [x, draw.tensor(shape[1:2], dtype), draw.tensor(shape[1:2], dtype)], attributes(epsilon=EPSILON), lambda x, s, b: C.instance_norm(x, s, b, EPSILON), outs=3, **NORM)
                yield Case(op, [x], attributes(epsilon=EPSILON), lambda x: C.instance_norm(x, None, None, EPSILON), outs=3, **NORM)


@covers("batch_norm")
def batch_norm(draw, op):
    names = ("is_test", "momentum", "epsilon", "data_format", "use_global_stats", "trainable_statistics")
    for dtype in FLOATS:
        for shape, layout in (([3, 2], "NCHW"), ([3, 2, 4], "NCHW"), ([2, 3, 2, 2], "NCHW"), ([2, 2, 2, 3], "NHWC")):
            c = shape[1] if layout == "NCHW" else shape[-1]
            for test, everywhere in ((False, False), (True, False), (False, True)):
                given = (test, 0.75, EPSILON, layout, everywhere, False)
                for _ in range(2):
                    tensors = [draw.tensor(shape, dtype), draw.tensor([c], dtype, grad=False), draw.tensor([c], dtype, 0.5, 2, grad=False), draw.tensor([c], dtype),
                               draw.tensor([c], dtype)]
                    # PaddlePaddle writes into the running statistics.
                    call = lambda x, m, v, s, b, g=given: C.batch_norm(x, m * 1, v * 1, s, b, *g)
                    text = f"%o0, %o1, %o2, %o3, %o4, %o5 = pd.batch_norm (%x0, %x1, %x2, %x3, %x4) {{{attributes(**dict(zip(names, given)))}}}"
                    yield Case(op, tensors, call=call, text=text, outs=3 if test or everywhere else 5, **NORM)


@covers("dropout")
def dropout(draw, op):
    """Where nothing is left to chance."""
    for dtype in FLOATS:
        for shape in ([], [3], [2, 3], [0]):
            for p, test, mode in ((0.0, False, "upscale_in_train"), (0.0, False, "downgrade_in_infer"), (1.0, False, "upscale_in_train"), (0.5, True, "upscale_in_train"),
                                  (0.25, True, "downgrade_in_infer"), (1.0, False, "downgrade_in_infer")):
                given = (p, test, mode, 0, False)
                yield Case(op, [draw.tensor(shape, dtype)], attributes(**dict(zip(("p", "is_test", "mode", "seed", "fix_seed"), given))),
                           lambda x, g=given: C.dropout(x, None, *g), text=f"%o0, %mask = pd.dropout (%x0) {{{attributes(**dict(zip(('p', 'is_test', 'mode', 'seed', 'fix_seed'), given)))}}}", ulp=2)


@covers("rnn")
def rnn(draw, op):
    for mode, gates in (("RNN_TANH", 1), ("RNN_RELU", 1), ("LSTM", 4), ("GRU", 3)):
        for dtype in ("f32", "f64"):
            for layers, both, lengths in ((1, False, []), (2, False, []), (1, True, []), (1, False, [3, 2]), (2, True, [1, 3])):
                t, n, c, h = 3, 2, 2, 3
                ways = 2 if both else 1
                states = 2 if mode == "LSTM" else 1
                matrices, biases = [], []
                for layer in range(layers):
                    for _ in range(ways):
                        matrices += [[gates * h, c if layer == 0 else h * ways], [gates * h, h]]
                        biases += [[gates * h], [gates * h]]
                shapes = [[t, n, c]] + [[layers * ways, n, h]] * states + matrices + biases
                tensors = [draw.tensor(s, dtype, -1, 1) for s in shapes]
                own = [Tensor(lengths, "i32")] if lengths else []
                given = dict(dropout_prob=0.0, is_bidirec=both, input_size=c, hidden_size=h, num_layers=layers, mode=mode, seed=0, is_test=False)
                names = [f"%x{i}" for i in range(len(tensors))]
                weights = len(matrices) + len(biases)
                text = "\n".join([
                    f"%pre = builtin.combine ({', '.join(names[1:1 + states])})",
                    f"%weights = builtin.combine ({', '.join(names[1 + states:])})",
                    "%dropped = pd.full {shape = [0], value = 0, dtype = ui8}",
                    f"%o0, %dropping, %last, %reserve = pd.rnn (%x0, %pre, %weights, {f'%x{len(tensors)}, ' if own else ''}%dropped) {{{attributes(**given)}{'' if own else ', absent_operands = [3]'}}}",
                    f"{', '.join(f'%o{i + 1}' for i in range(states))} = builtin.split (%last)"])

                def call(x, *rest, s=states, g=given, own=bool(own)):
                    state = paddle.zeros([0], "uint8")
                    *rest, lengths = rest if own else (*rest, None)
                    out, _, last = C.rnn(x, list(rest[:s]), list(rest[s:]), lengths, state, *g.values())[:3]
                    return [out, *last]

                # The eager engine has no lengths.
                yield Case(op, [*tensors, *own], eager=not own, call=call, text=text, outs=1 + states, **SUMMED)


@covers("coalesce_tensor")
def coalesce(draw, op):
    for dtype in ("f32", "f64"):
        for shapes in ([[2], [3]], [[2, 2], [1]]):
            names = [f"%x{i}" for i in range(len(shapes))]
            text = f"%list = builtin.combine ({', '.join(names)})\n%same, %o0 = pd.coalesce_tensor (%list) {{dtype = {dtype}, copy_data = true, use_align = false}}"
            yield Case(op, [draw.tensor(s, dtype, grad=False) for s in shapes], text=text, ulp=0,
                       call=lambda *x, d=dtype: C.coalesce_tensor([v * 1 for v in x], getattr(paddle, {"f32": "float32", "f64": "float64"}[d]), True, False, False, 0.0, False,
                                                                  -1, -1, [], [])[1])


def step(op, tensors, outs, absent=(), **given):
    """A step of an optimizer with so many results; attributes are in PaddlePaddle's order."""
    operands = list(range(len(tensors)))
    for at in absent:
        operands.insert(at, None)
    last = max(i for i, operand in enumerate(operands) if operand is not None)
    middle = [i for i in absent if i < last]
    text = attributes(**given) + (f", absent_operands = {middle}" if middle else "")

    def call(*x):
        x = [None if i is None else x[i] * 1 for i in operands]
        return [result for result in getattr(C, op)(*x, *given.values()) if result is not None and result._is_initialized()]

    return Case(op, tensors, text, call, outs=outs, ulp=8, scale=1, grad=False)


@covers("momentum_", "adam_", "adamw_", "adagrad_", "rmsprop_", "adadelta_", "adamax_", "lamb_", "nadam_", "radam_", "asgd_", "rprop_")
def steps(draw, op):
    for dtype in ("f32", "f64"):
        for shape in ([3], [2, 3], [1], [4, 2]):
            state = lambda low=-1, high=1: draw.tensor(shape, dtype, low, high, grad=False)
            number = lambda low, high, dtype=dtype: draw.tensor([1], dtype, low, high, grad=False)
            positive = lambda: state(0.1, 1)
            powers = lambda: [number(0.1, 0.9), number(0.1, 0.9)]
            betas = dict(beta1=0.75, beta2=0.875, epsilon=2.0**-10)
            adam = dict(lazy_mode=False, min_row_size_to_use_multithread=1000, multi_precision=False, use_global_beta_pow=False)
            for flag in (False, True):
                if op == "momentum_":
                    for method, decay in (("", 0.0), ("l2_decay", 0.25)):
                        yield step(op, [state(), state(), state(), number(0, 1)], 2, (4,), mu=0.75, use_nesterov=flag, regularization_method=method,
                                   regularization_coeff=decay, multi_precision=False, rescale_grad=1.0)
                elif op in ("adam_", "adamw_"):
                    largest = [positive()] if flag else []
                    decay = dict(lr_ratio=1.0, coeff=0.25, with_decay=not flag) if op == "adamw_" else {}
                    absent = (8, 9) if flag else (5, 8, 9)
                    tensors = [state(), state(), number(0, 1), state(), positive(), *largest, *powers()]
                    yield step(op, tensors, 5 + flag, absent, **betas, **decay, **adam, amsgrad=flag)
                    yield step(op, [*tensors, draw.tensor([1], "i1", grad=False)], 5 + flag, absent[:-1], **betas, **decay, **adam, amsgrad=flag)
                    yield step(op, tensors, 5 + flag, absent, **betas, **decay, **{**adam, "use_global_beta_pow": True}, amsgrad=flag)
                elif op == "adagrad_":
                    yield step(op, [state(), state(), positive(), number(0, 1)], 2, (4,), epsilon=2.0**-10, multi_precision=False)
                elif op == "rmsprop_":
                    tensors = [state(), state(2, 3), state(), state(), number(0, 1), state()]
                    # What is not read is not given there.
                    case = step(op, tensors, 4, (6,), epsilon=2.0**-10, decay=0.75, momentum=0.5, centered=flag, multi_precision=False)
                    case.outs = 3 + flag
                    yield case
                elif op == "adadelta_":
                    yield step(op, [state(), state(), positive(), positive(), number(0, 1)], 3, (5,), rho=0.75, epsilon=2.0**-10, multi_precision=False)
                elif op == "adamax_":
                    yield step(op, [state(), state(), number(0, 1), state(), positive(), number(0.1, 0.9)], 3, (6,), **betas, multi_precision=False)
                elif op == "nadam_":
                    yield step(op, [state(), state(), number(0, 1), *(positive() for _ in range(3)), state(), positive()], 6, (8,), **betas,
                               momentum_decay=0.25, multi_precision=False)
                elif op == "radam_":
                    # PaddlePaddle reads the first powers only; they are equal. Lengths below and above the one from which the mean of
                    # squares counts.
                    b1, b2, rho = (Tensor(np.full(shape, value), dtype) for value in (0.25, 0.5, 2.0 if flag else 0.25))
                    yield step(op, [state(), state(), number(0, 1), b1, b2, rho, state(), positive()], 6, (8,), **betas, multi_precision=False)
                elif op == "asgd_":
                    yield step(op, [state(), state(), number(0, 1), state(), state(), number(1, 4)], 3, (6,), multi_precision=False)
                elif op == "rprop_":
                    limits = [Tensor(np.array(pair), dtype) for pair in ((0.25, 0.75), (0.5, 1.25))]
                    yield step(op, [state(), state(), state(), positive(), *limits], 3, (4,), multi_precision=False)
                else:
                    for decay in (0.0, 0.25):
                        yield step(op, [state(), state(), number(0, 1), state(), positive(), *powers()], 5, (7, 8), weight_decay=decay, **betas,
                                   always_adapt=flag, multi_precision=False)


@covers("sgd_")
def sgd(draw, op):
    for dtype in ("f32", "f64"):
        for shape in ([3], [2, 3], [1]):
            tensors = [draw.tensor(shape, dtype, grad=False), draw.tensor([1], dtype, 0, 1, grad=False), draw.tensor(shape, dtype, grad=False)]
            yield Case(op, tensors, call=lambda p, l, g: C.sgd_(p * 1, l, g, None, False), ulp=2, scale=1)
