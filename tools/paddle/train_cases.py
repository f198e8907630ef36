"""Models and optimizers that tools/paddle/train trains."""

from dataclasses import dataclass
from typing import Callable

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.optimizer import lr

CASES = {}


@dataclass
class Case:
    layer: type
    optimizer: Callable
    inputs: dict
    rate: float = 0.05
    scheduler: Callable = None
    accumulate: int = 1
    tolerance: float = 5e-6


def case(name, layer, optimizer, inputs, **fields):
    CASES[name] = Case(layer, optimizer, inputs, **fields)


def normal(*shape):
    return lambda random: random.standard_normal(shape, "float32")


def classes(count, *shape):
    return lambda random: random.integers(0, count, shape)


def optimizer(make, **options):
    return lambda **given: make(**given, **options)


def constant(value, shape=(1,)):
    return paddle.full(list(shape), value, "int64")


def loop(test, body, values):
    """In dynamic mode, PaddlePaddle's own changes its variables in place, and has no gradients then."""
    if not paddle.in_dynamic_mode():
        return paddle.static.nn.while_loop(test, body, values)
    while bool(test(*values)):
        values = body(*values)
    return values


class LSTM(nn.Layer):
    """The hidden state is carried, and used twice in each step."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(6, 8), nn.Linear(8, 1)

    def forward(self, x, y):
        def step(i, h, c):
            h, (_, c) = self.cell(paddle.gather(x, i).squeeze(0), (h, c))
            return [i + 1, h, c]

        h = paddle.zeros([4, 8])
        c = paddle.zeros([4, 8])
        h.stop_gradient = c.stop_gradient = False
        _, h, _ = loop(lambda i, h, c: i < 10, step, [constant(0), h, c])
        return ((self.out(h) - y) ** 2).mean()


class Gated(nn.Layer):
    """A branch in each step of a loop."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x, y):
        def step(i, h):
            h = paddle.static.nn.cond(h.mean() > 0, lambda: paddle.tanh(self.one(h)) * h, lambda: self.two(h) - x)
            return [i + 1, h]

        _, h = loop(lambda i, h: i < 6, step, [constant(0), paddle.tanh(self.one(x))])
        return ((h - y) ** 2).mean()


class Nested(nn.Layer):
    """A loop in a loop, whose length depends on the outer one."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(5, 5), nn.Linear(5, 5)

    def forward(self, x, y):
        def inner(j, n, h):
            return [j + 1, n, paddle.tanh(self.one(h)) + h * 0.5]

        def step(i, h):
            _, _, h = loop(lambda j, n, h: j < n, inner, [constant(0), i + 1, h])
            return [i + 1, paddle.tanh(self.two(h)) * x + h * 0.3]

        _, h = loop(lambda i, h: i < 3, step, [constant(0), x * 1.0])
        return ((h - y) ** 2).mean()


class Chosen(nn.Layer):
    """A loop in a branch, beside a counter that depends on the data."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(5, 5)

    def forward(self, x, y):
        def run(h):
            def step(i, h):
                return [i + 1, self.cell(x, h)[0]]

            return loop(lambda i, h: i < 4, step, [constant(0), h])[1]

        start = x * 0.5
        h = paddle.static.nn.cond(x.mean() > 0, lambda: run(start), lambda: self.cell(y, start)[0])
        return ((h - y * 0.1) ** 2).mean()


class MLP(nn.Layer):
    """Rates and regularizers of its own for a parameter, and one that is not trained."""

    def __init__(self):
        super().__init__()
        attribute = paddle.ParamAttr(learning_rate=0.3, regularizer=paddle.regularizer.L2Decay(0.05))
        self.one, self.two = nn.Linear(8, 16, weight_attr=attribute), nn.Linear(16, 16, weight_attr=paddle.ParamAttr(trainable=False))
        self.three = nn.Linear(16, 5, bias_attr=paddle.ParamAttr(need_clip=False, regularizer=paddle.regularizer.L1Decay(0.01)))

    def forward(self, x, y):
        return F.cross_entropy(self.three(F.gelu(self.two(F.relu(self.one(x))))), y)


class Conv(nn.Layer):
    def __init__(self):
        super().__init__()
        self.one, self.norm = nn.Conv2D(3, 8, 3, padding=1, bias_attr=False), nn.BatchNorm2D(8)
        self.two, self.out = nn.Conv2D(8, 8, 3, stride=2), nn.Linear(8, 4)

    def forward(self, x, y):
        h = F.max_pool2d(F.relu(self.norm(self.one(x))), 2)
        return F.cross_entropy(self.out(F.relu(self.two(h)).mean([2, 3])), y)


class Transformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.block = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, activation="gelu")
        self.out = nn.Linear(16, 11)

    def forward(self, tokens, y):
        return F.cross_entropy(self.out(self.block(self.embed(tokens))).reshape([-1, 11]), y.reshape([-1]))


RECURRENT = {"x": normal(10, 4, 6), "y": normal(4, 1)}
SQUARE = {"x": normal(4, 6), "y": normal(4, 6)}
SMALL = {"x": normal(3, 5), "y": normal(3, 5)}
TABLE = {"x": normal(16, 8), "y": classes(5, 16)}
IMAGES = {"x": normal(4, 3, 12, 12), "y": classes(4, 4)}
WORDS = {"tokens": classes(11, 4, 6), "y": classes(11, 4, 6)}
A = paddle.optimizer

case("lstm_sgd", LSTM, optimizer(A.SGD), RECURRENT)
case("lstm_momentum", LSTM, optimizer(A.Momentum, momentum=0.9, weight_decay=0.001), RECURRENT, rate=0.02)
case("lstm_adam", LSTM, optimizer(A.Adam), RECURRENT, rate=0.005, accumulate=2)
case(
    "lstm_adamw",
    LSTM,
    optimizer(A.AdamW, weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    RECURRENT,
    scheduler=lambda: lr.CosineAnnealingDecay(0.01, 30),
)
case("if_in_while", Gated, optimizer(A.Adam, grad_clip=nn.ClipGradByNorm(0.2)), SQUARE, rate=0.003)
case("while_in_while", Nested, optimizer(A.SGD, grad_clip=nn.ClipGradByNorm(0.1)), SMALL)
case("while_in_if", Chosen, optimizer(A.RMSProp), SMALL, rate=0.002)
case("mlp_adamw", MLP, optimizer(A.AdamW, grad_clip=nn.ClipGradByGlobalNorm(0.3)), TABLE, scheduler=lambda: lr.StepDecay(0.01, 10))
case("mlp_momentum", MLP, optimizer(A.Momentum, use_nesterov=True), TABLE, rate=0.02, accumulate=3)
case("mlp_adagrad", MLP, optimizer(A.Adagrad), TABLE)
case("mlp_adamax", MLP, optimizer(A.Adamax), TABLE, rate=0.01)
case("mlp_adadelta", MLP, optimizer(A.Adadelta), TABLE, rate=1.0)
case("mlp_lamb", MLP, optimizer(A.Lamb), TABLE, rate=0.01)
case("conv_momentum", Conv, optimizer(A.Momentum), IMAGES, rate=0.01)
case(
    "transformer_adamw",
    Transformer,
    # Biases of keys have no gradient but rounding, which Adam would divide by itself.
    optimizer(A.AdamW, epsilon=1e-4, grad_clip=nn.ClipGradByGlobalNorm(1.0)),
    WORDS,
    scheduler=lambda: lr.LinearWarmup(lr.PolynomialDecay(0.01, 40), 10, 0.0, 0.01),
)
