"""The programs of tools/bench/execution: eight loops and five models.

Each is written once, over the functions `ops` of a library (`of_jax.py` and its like); `pir.py` has those that write it as a
program for pir-opt. `@ + - * /` are those of the library's tensors. A program gets its inputs `p`, by name, and the number of
iterations `n`, and returns one tensor; what is computed is the sum of its squares, and its gradient by all inputs.
"""


def tanh_rnn(ops, p, n):
    return ops.loop(n, (p["h"],), lambda i, h: (ops.tanh(h @ p["w"] + p["x"]),))[0]


def lstm_cell(ops, gates, c):
    into, forget, new, out = ops.split(gates, 4)
    c = ops.sigmoid(forget) * c + ops.sigmoid(into) * ops.tanh(new)
    return ops.sigmoid(out) * ops.tanh(c), c


def lstm(ops, p, n):
    return ops.loop(n, (p["h"], p["c"]), lambda i, h, c: lstm_cell(ops, h @ p["w"] + p["x"], c))[0]


def gru(ops, p, n):
    def step(i, h):
        z = ops.sigmoid(h @ p["wz"] + p["xz"])
        r = ops.sigmoid(h @ p["wr"] + p["xr"])
        new = ops.tanh((r * h) @ p["wc"] + p["xc"])
        return (z * h + (1.0 - z) * new,)
    return ops.loop(n, (p["h"],), step)[0]


def newton(ops, p, n):
    # Never near enough: the same number of iterations for all. A library whose loops are counted skips what decides.
    def error(y):
        off = y * y - p["x"]
        return ops.max(off * off)
    return ops.loop(n, (p["y"],), lambda i, y: (0.5 * (y + p["x"] / y),), error)[0]


def power(ops, p, n):
    return ops.loop(n, (p["v"],), lambda i, v: (p["m"] @ (v / ops.sqrt(ops.sum(v * v))),))[0]


def branch(ops, p, n):
    return ops.loop(n, (p["y"],), lambda i, y: (ops.if_even(i, y, lambda y: ops.tanh(y * p["x"]) + y, lambda y: y + p["x"]),))[0]


def nested(ops, p, n):
    def step(i, y):
        return (0.5 * ops.loop(8, (y,), lambda j, z: (ops.sin(z * p["x"]) + z,))[0],)
    return ops.loop(n, (p["y"],), step)[0]


def invariant(ops, p, n):
    def step(i, y):
        e = ops.exp(p["w"])
        return (ops.tanh(y * (0.25 * ops.sigmoid(e) + e)),)
    return ops.loop(n, (p["y"],), step)[0]


SIZES = {"8": (8, 1), "256": (256, 1), "1024x32": (1024, 32)}

# A loop, and the shapes of its inputs for a width and a batch.
LOOPS = {
    "rnn": (tanh_rnn, lambda w, b: {"x": (b, w), "w": (w, w), "h": (b, w)}),
    "lstm": (lstm, lambda w, b: {"x": (b, 4 * w), "w": (w, 4 * w), "h": (b, w), "c": (b, w)}),
    "gru": (gru, lambda w, b: {"xz": (b, w), "xr": (b, w), "xc": (b, w), "wz": (w, w), "wr": (w, w), "wc": (w, w), "h": (b, w)}),
    "newton": (newton, lambda w, b: {"x": (b * w,), "y": (b * w,)}),
    "power": (power, lambda w, b: {"m": (w, w), "v": (w, b)}),
    "if": (branch, lambda w, b: {"x": (b * w,), "y": (b * w,)}),
    "nested": (nested, lambda w, b: {"x": (b * w,), "y": (b * w,)}),
    "invariant": (invariant, lambda w, b: {"w": (b * w,), "y": (b * w,)}),
}
WITH_PRODUCTS = {"rnn", "lstm", "gru", "power"}


def iterations(loop, size):
    return {"8": 3000, "256": 600}.get(size, 24 if loop in WITH_PRODUCTS else 150)


class Shapes:
    """Collects the inputs of a model: asked for a new name with a shape, it notes it."""

    def __init__(self):
        self.shapes = {}

    def __call__(self, name, *shape):
        self.shapes[name] = shape


def conv_shapes(p, name, out, into, size):
    p(f"{name}.filter", out, into, size, size)
    p(f"{name}.scale", out)
    p(f"{name}.bias", out)


def normed(ops, p, name, x, stride=1, act=None, groups=1):
    y = ops.conv(x, p[f"{name}.filter"], stride, groups)
    y = ops.batch_norm(y, p[f"{name}.scale"], p[f"{name}.bias"])
    return act(y) if act else y


RESNET = [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]


def resnet18_shapes():
    p = Shapes()
    p("x.image", 1, 3, 224, 224)
    conv_shapes(p, "stem", 64, 3, 7)
    into = 64
    for at, (out, stride) in enumerate(RESNET):
        conv_shapes(p, f"b{at}a", out, into, 3)
        conv_shapes(p, f"b{at}b", out, out, 3)
        if stride > 1:
            conv_shapes(p, f"b{at}c", out, into, 1)
        into = out
    p("head", 512, 1000)
    return p.shapes


def resnet18(ops, p, _):
    x = ops.max_pool(normed(ops, p, "stem", p["x.image"], 2, ops.relu))
    for at, (_, stride) in enumerate(RESNET):
        y = normed(ops, p, f"b{at}b", normed(ops, p, f"b{at}a", x, stride, ops.relu))
        x = ops.relu(y + (normed(ops, p, f"b{at}c", x, stride) if stride > 1 else x))
    return ops.image_mean(x) @ p["head"]


# Expanded and resulting channels, size of the window, stride.
MOBILE2 = [(e * i, o, 3, s if at == 0 else 1) for e, first, o, count, s in [
    (1, 32, 16, 1, 1), (6, 16, 24, 2, 2), (6, 24, 32, 3, 2), (6, 32, 64, 4, 2), (6, 64, 96, 3, 1), (6, 96, 160, 3, 2),
    (6, 160, 320, 1, 1)] for at, i in enumerate([first] + [o] * (count - 1))]
# And whether channels are weighed, and whether the activation is hardswish.
MOBILE3 = [(16, 16, 3, 2, True, False), (72, 24, 3, 2, False, False), (88, 24, 3, 1, False, False), (96, 40, 5, 2, True, True),
           (240, 40, 5, 1, True, True), (240, 40, 5, 1, True, True), (120, 48, 5, 1, True, True), (144, 48, 5, 1, True, True),
           (288, 96, 5, 2, True, True), (576, 96, 5, 1, True, True), (576, 96, 5, 1, True, True)]


def mobile_shapes(blocks, into, last, hidden):
    p = Shapes()
    p("x.image", 1, 3, 224, 224)
    conv_shapes(p, "stem", into, 3, 3)
    for at, (wide, out, size, _, *more) in enumerate(blocks):
        if wide != into:
            conv_shapes(p, f"b{at}a", wide, into, 1)
        p(f"b{at}b.depthwise.filter", wide, 1, size, size)
        p(f"b{at}b.depthwise.scale", wide)
        p(f"b{at}b.depthwise.bias", wide)
        if more and more[0]:
            p(f"b{at}.less", wide, wide // 4)
            p(f"b{at}.more", wide // 4, wide)
        conv_shapes(p, f"b{at}c", out, wide, 1)
        into = out
    conv_shapes(p, "last", last, into, 1)
    if hidden:
        p("hidden", last, hidden)
    p("head", hidden or last, 1000)
    return p.shapes


def mobile_block(ops, p, at, x, into, block, act):
    wide, out, _, stride, *more = block
    y = x if wide == into else normed(ops, p, f"b{at}a", x, 1, act)
    y = normed(ops, p, f"b{at}b.depthwise", y, stride, act, wide)
    if more and more[0]:
        weight = ops.hardsigmoid(ops.relu(ops.image_mean(y) @ p[f"b{at}.less"]) @ p[f"b{at}.more"])
        y = ops.weigh_channels(y, weight, wide)
    y = normed(ops, p, f"b{at}c", y)
    return x + y if stride == 1 and into == out else y


def mobilenet_v2(ops, p, _):
    x, into = normed(ops, p, "stem", p["x.image"], 2, ops.relu6), 32
    for at, block in enumerate(MOBILE2):
        x, into = mobile_block(ops, p, at, x, into, block, ops.relu6), block[1]
    return ops.image_mean(normed(ops, p, "last", x, 1, ops.relu6)) @ p["head"]


def mobilenet_v3(ops, p, _):
    x, into = normed(ops, p, "stem", p["x.image"], 2, ops.hardswish), 16
    for at, block in enumerate(MOBILE3):
        x, into = mobile_block(ops, p, at, x, into, block, ops.hardswish if block[5] else ops.relu), block[1]
    x = ops.image_mean(normed(ops, p, "last", x, 1, ops.hardswish))
    return ops.hardswish(x @ p["hidden"]) @ p["head"]


BATCH, TIME, WIDTH, HEADS, LAYERS = 4, 128, 256, 4, 4


def transformer_shapes():
    p = Shapes()
    p("x", BATCH, TIME, WIDTH)
    for at in range(LAYERS):
        for name in ("q", "k", "v", "o"):
            p(f"l{at}.{name}", WIDTH, WIDTH)
        p(f"l{at}.up", WIDTH, 4 * WIDTH)
        p(f"l{at}.down", 4 * WIDTH, WIDTH)
        for name in ("a", "b"):
            p(f"l{at}.{name}.scale", WIDTH)
            p(f"l{at}.{name}.bias", WIDTH)
    return p.shapes


def transformer(ops, p, _):
    x = p["x"]

    def heads(y):
        return ops.transpose(ops.reshape(y, (BATCH, TIME, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))
    for at in range(LAYERS):
        q, k, v = (heads(x @ p[f"l{at}.{name}"]) for name in ("q", "k", "v"))
        scores = ops.softmax((q @ ops.transpose(k, (0, 1, 3, 2))) * (WIDTH // HEADS) ** -0.5)
        y = ops.reshape(ops.transpose(scores @ v, (0, 2, 1, 3)), (BATCH, TIME, WIDTH))
        x = ops.layer_norm(x + y @ p[f"l{at}.o"], p[f"l{at}.a.scale"], p[f"l{at}.a.bias"])
        y = ops.gelu(x @ p[f"l{at}.up"]) @ p[f"l{at}.down"]
        x = ops.layer_norm(x + y, p[f"l{at}.b.scale"], p[f"l{at}.b.bias"])
    return x


STEPS, ROWS, INTO, STATE = 50, 16, 128, 256


def classifier_shapes():
    p = Shapes()
    p("x", STEPS, ROWS, INTO)
    p("w", INTO, 4 * STATE)
    p("u", STATE, 4 * STATE)
    p("bias", 4 * STATE)
    p("h", ROWS, STATE)
    p("c", ROWS, STATE)
    p("head", STATE, 10)
    return p.shapes


def classifier(ops, p, _):
    def step(i, h, c):
        return lstm_cell(ops, ops.row(p["x"], i, (ROWS, INTO)) @ p["w"] + h @ p["u"] + p["bias"], c)
    return ops.loop(STEPS, (p["h"], p["c"]), step)[0] @ p["head"]


MODELS = {
    "resnet18": (resnet18, resnet18_shapes),
    "mobilenet_v2": (mobilenet_v2, lambda: mobile_shapes(MOBILE2, 32, 1280, 0)),
    "mobilenet_v3": (mobilenet_v3, lambda: mobile_shapes(MOBILE3, 16, 576, 1024)),
    "transformer": (transformer, transformer_shapes),
    "lstm classifier": (classifier, classifier_shapes),
}
