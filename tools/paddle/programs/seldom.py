"""Layers and losses that are named seldom, slopes of slopes, memories and lists of further kinds."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, plain, real, whole
from paddle import nn

x2, x3, y2 = real(3, 4), real(2, 5, 4), real(3, 4, seed=1)
w1, w2 = real(4, 5), real(5, 1, seed=4)


def zero():
    return paddle.zeros([], dtype="int64")


class Dictionaries(nn.Layer):
    """Layers and parameters in lists and dictionaries, of which one is chosen by a tensor."""

    def __init__(self):
        super().__init__()
        self.heads = nn.LayerDict({"a": nn.Linear(4, 3), "b": nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1))})
        self.scales = nn.ParameterDict({"a": self.create_parameter([3]), "b": self.create_parameter([3])})

    def forward(self, x):
        if x.mean() > 0:
            y = self.heads["a"](x) * self.scales["a"]
        else:
            y = self.heads["b"](x) + self.scales["b"]
        return y, nn.Unflatten(1, [2, 2])(x), nn.Identity()(x) * 2


class Cells2(nn.Layer):
    """A cell with peepholes by hand over convolutions, in a loop over frames that are kept in a list."""

    def __init__(self):
        super().__init__()
        self.gates, self.peep = nn.Conv2D(6, 12, 3, padding=1), self.create_parameter([2, 3, 1, 1])

    def forward(self, x):
        h = c = paddle.zeros([2, 3, 4, 4])
        frames = []
        for t in range(3):
            i, f, o, g = self.gates(paddle.concat([x[:, t], h], 1)).chunk(4, 1)
            i, f = F.sigmoid(i + self.peep[0] * c), F.sigmoid(f + self.peep[1] * c + 1.0)
            c = f * c + i * g.tanh()
            h = F.sigmoid(o) * c.tanh()
            frames.append(h)
        return paddle.stack(frames, 1), c


class Momentum(nn.Layer):
    """Two views, a copy of the network that follows it, a queue of negatives."""

    def __init__(self):
        super().__init__()
        self.net, self.slow = nn.Linear(4, 3), nn.Linear(4, 3)
        for one in self.slow.parameters():
            one.stop_gradient = True
        self.register_buffer("queue", F.normalize(paddle.to_tensor(real(5, 3, seed=8))))

    def forward(self, x, y):
        q = F.normalize(self.net(x))
        with paddle.no_grad():
            paddle.assign(0.9 * self.slow.weight + 0.1 * self.net.weight, self.slow.weight)
            k = F.normalize(self.slow(y))
        near, far = (q * k).sum(-1, keepdim=True), q @ self.queue.t()
        scores = paddle.concat([near, far], 1) / 0.2
        cross = (q.t() @ k) / 3
        return F.cross_entropy(scores, paddle.zeros([3], "int64")), ((cross - paddle.eye(3)) ** 2).sum()


class Beamed(nn.Layer):
    """Contents of a memory that is read and written by weights in a loop until they are sharp."""

    def __init__(self):
        super().__init__()
        self.key, self.erase, self.add = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x, memory):
        t, reads = zero(), []
        sharp = paddle.zeros([])
        while t < 5 and sharp < 2.0:
            w = F.softmax(F.cosine_similarity(self.key(x).unsqueeze(1), memory, axis=-1) * (t + 1).astype("float32"))
            memory = memory * (1 - w.unsqueeze(-1) * F.sigmoid(self.erase(x)).unsqueeze(1)) + w.unsqueeze(-1) * self.add(x).unsqueeze(1)
            sharp = sharp + w.max()
            t = t + 1
        return memory, (w.unsqueeze(-1) * memory).sum(1), t.astype("float32")


def meta_step(x, y):
    """A loss after a step of gradient descent on another: the slope of a slope."""
    w = paddle.full([4, 1], 0.3)
    w.stop_gradient = False
    for _ in range(2):
        inner = ((paddle.tanh(x @ w) - y[:, :1].detach()) ** 2).mean()
        (slope,) = paddle.grad(inner, [w], create_graph=True)
        w = w - 0.5 * slope
    return ((x @ w).sigmoid() - 0.5).pow(2).mean(), w


def physics(x):
    """A residual of a differential equation, by slopes of a network with respect to its inputs."""
    x = x * 1.0
    u = paddle.sin(x @ paddle.to_tensor(w1)).tanh() @ paddle.to_tensor(w2)
    (first,) = paddle.grad(u.sum(), [x], create_graph=True)
    (second,) = paddle.grad((first * first).sum(), [x], create_graph=True)
    return (first[:, 0] + u[:, 0] * first[:, 1] - 0.1 * second[:, 1]).pow(2).mean(), u


def hidden_markov(x, t):
    """Probabilities forwards and backwards over a loop, in logarithms."""
    at, a, steps = zero() + 1, x[0], paddle.to_tensor(5)
    move = F.log_softmax(t, -1)
    while at < steps:
        a = paddle.logsumexp(a.unsqueeze(1) + move, 0) + x[at]
        at = at + 1
    at, b = steps - 2, paddle.zeros([3])
    while at >= 0:
        b = paddle.logsumexp(move + (x[at + 1] + b).unsqueeze(0), 1)
        at = at - 1
    return paddle.logsumexp(a, 0), paddle.logsumexp(x[0] + b, 0), F.softmax(a)


def trust(x, y):
    """Divergences of policies, an entropy, importance that is clipped on both sides, values with a trace."""
    new, old = F.log_softmax(x), F.log_softmax(y).detach()
    ratio = (new - old).exp()
    corrected = paddle.minimum(ratio, paddle.ones([])).detach()
    trace, sums = paddle.zeros([4]), []
    for k in range(2, -1, -1):
        trace = corrected[k] * (x[k] + 0.9 * trace)
        sums.append(trace)
    kl = (old.exp() * (old - new)).sum(-1)
    return kl.mean(), -(new.exp() * new).sum(-1), paddle.stack(sums[::-1]), paddle.where(y > 0, paddle.minimum(ratio, ratio.clip(0.8, 1.2)), ratio.clip(max=3.0))


def layers_of_losses(x, y):
    """Losses as layers."""
    positive = F.sigmoid(y).detach()
    return [
        nn.GaussianNLLLoss()(x, y.detach(), positive + 0.1), nn.PoissonNLLLoss(full=True)(x, positive * 3), nn.HuberLoss(delta=0.3)(x, y.detach()) if hasattr(nn, "HuberLoss") else x.mean(),
        nn.SmoothL1Loss(delta=0.5)(x, y.detach()), nn.MultiLabelMarginLoss()(x, paddle.to_tensor([[0, 2, -1, -1], [1, -1, -1, -1], [3, 0, 1, -1]])) if hasattr(nn, "MultiLabelMarginLoss") else x.sum(),
        nn.TripletMarginLoss(p=2, swap=True)(x, y, x * y), nn.CosineEmbeddingLoss(margin=0.1)(x, y, paddle.to_tensor([1, -1, 1])), nn.BCEWithLogitsLoss(weight=positive)(x, positive),
        nn.NLLLoss(reduction="sum")(F.log_softmax(x), paddle.to_tensor([0, 3, 1])), nn.KLDivLoss("batchmean")(F.log_softmax(x), F.softmax(y).detach()), nn.MarginRankingLoss(0.2)(x, y, paddle.sign(x).detach()),
    ]  # fmt: skip


def layers_of_shapes(x):
    """Layers of pads, pools and shuffles."""
    line = x.flatten(2)
    return [
        nn.ZeroPad1D([1, 2])(line), nn.Pad1D(2, mode="circular")(line), nn.Pad2D([1, 0, 2, 1], mode="replicate")(x), nn.Softmax2D()(x), nn.LPPool1D(2, 3)(line), nn.LPPool2D(3, 2)(x),
        nn.AdaptiveMaxPool1D(5)(line), nn.AdaptiveAvgPool1D(7)(line), nn.MaxPool1D(3, 2, ceil_mode=True)(line), nn.AvgPool2D(3, 2, 1, exclusive=False)(x), nn.ThresholdedReLU(0.2)(x), nn.Softshrink(0.3)(x), nn.Softsign()(x), nn.Hardtanh(-0.4, 0.5)(x),
        nn.GLU(1)(x), nn.Swish()(x), nn.ReLU6()(x * 8), nn.Flatten(2)(x), nn.UpsamplingNearest2D(scale_factor=2)(x), nn.ZeroPad3D(1)(x.unsqueeze(0)), nn.CosineSimilarity(1)(x, x * x), nn.FractionalMaxPool2D(3, random_u=0.6)(x), nn.FractionalMaxPool3D([2, 3, 3], random_u=0.3)(x.unsqueeze(1)),
    ]  # fmt: skip


def ragged(x, lengths):
    """Rows of lengths: masks, packed sums, the last of each, reversed."""
    n = x.shape[1]
    mask = (paddle.arange(n).unsqueeze(0) < lengths.unsqueeze(1)).astype("float32")
    last = paddle.take_along_axis(x, (lengths - 1).reshape([-1, 1, 1]).expand([2, 1, 4]), 1).squeeze(1)
    turned = paddle.where(mask.unsqueeze(-1) > 0, (lengths.unsqueeze(1) - 1 - paddle.arange(n)).clip(min=0).unsqueeze(-1).astype("float32"), paddle.zeros([]))
    back = paddle.take_along_axis(x, turned.astype("int64").expand([2, n, 4]), 1)
    packed = paddle.masked_select(x, (mask.unsqueeze(-1) * paddle.ones_like(x)) > 0)
    return last, back, packed.pow(2).sum(), (x * mask.unsqueeze(-1)).sum(1) / lengths.unsqueeze(1).astype("float32"), paddle.bincount(lengths, minlength=7).astype("float32")


def eigenvalues(x):
    """Of a general matrix; they come in any order, and vectors have any sign."""
    values, vectors = paddle.linalg.eig(x + paddle.diag(paddle.to_tensor([0.0, 3.0, 6.0])))
    return values.abs().sum(), (vectors.abs() ** 3 * values.abs()).sum(1), paddle.linalg.eigvals(x.detach()).abs().sort()


for group, name, make, *inputs in [
    ("layers", "dictionaries", Dictionaries, x2),
    ("sequences", "convolutional_cells", Cells2, real(2, 3, 3, 4, 4)),
    ("objectives", "momentum_contrast", Momentum, x2, y2),
    ("sequences", "memory_of_contents", Beamed, x2, real(3, 5, 3, seed=2)),
]:
    case(group, name, make, *inputs)

for group, name, code, *inputs in [
    ("generation", "meta_step", meta_step, x2, y2),
    ("generation", "physics", physics, x2),
    ("sequences", "hidden_markov", hidden_markov, real(5, 3), real(3, 3, seed=2)),
    ("control", "trust_regions", trust, x2, y2),
    ("losses", "as_layers", layers_of_losses, x2, y2),
    ("layers", "of_shapes", layers_of_shapes, real(2, 4, 6, 6)),
    ("sequences", "ragged_masks", ragged, x3, np.array([5, 2])),
    ("boxes", "decoded_tags", lambda x, t: [*paddle.text.viterbi_decode(x.detach(), t.detach(), paddle.to_tensor([4, 3])), x * 2, t * 3], real(2, 4, 5), real(5, 5, seed=1)),
    ("linear", "general_eigenvalues", eigenvalues, real(3, 3)),
    ("losses", "transducer_early", lambda x, y: F.rnnt_loss(F.log_softmax(x), y, paddle.to_tensor([4, 3], "int32"), paddle.to_tensor([2, 1], "int32"), fastemit_lambda=0.2), real(2, 4, 3, 5), (whole(2, 2, below=4) + 1).astype("int32")),
]:  # fmt: skip
    plain(group, name, code, *inputs)
