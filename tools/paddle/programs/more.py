"""More programs of the same groups, written later than what they test: models that are put together by hand, layers, losses, tensor
operations and control flow."""

import math

import paddle
import paddle.nn.functional as F
from cases import case, plain, positive, real, whole
from paddle import nn

x2, x3, x4 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6)


def zero():
    return paddle.zeros([], dtype="int64")


# Models.
class SqueezeExcite(nn.Layer):
    """A residual block with weights for channels."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(4, 4, 3, padding=1, bias_attr=False), nn.BatchNorm2D(4)
        self.down, self.up = nn.Conv2D(4, 2, 1), nn.Conv2D(2, 4, 1)

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x)))
        return F.relu(x + y * F.hardsigmoid(self.up(F.relu(self.down(F.adaptive_avg_pool2d(y, 1))))))


class UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down = nn.LayerList([nn.Conv2D(4, 6, 3, padding=1), nn.Conv2D(6, 8, 3, padding=1)])
        self.up, self.out = nn.Conv2DTranspose(8, 6, 2, stride=2), nn.Conv2D(12, 3, 1)

    def forward(self, x):
        first = F.silu(self.down[0](x))
        second = F.silu(self.down[1](F.avg_pool2d(first, 2)))
        return self.out(paddle.concat([first, self.up(second)], 1))


class VisionTransformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2D(4, 8, 2, stride=2)
        self.token = self.create_parameter([1, 1, 8], default_initializer=nn.initializer.Normal())
        self.place = self.create_parameter([1, 10, 8], default_initializer=nn.initializer.Normal())
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation="gelu", normalize_before=True), 2)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        y = self.patch(x).flatten(2).transpose([0, 2, 1])
        y = paddle.concat([self.token.expand([y.shape[0], 1, 8]), y], 1) + self.place
        return self.head(self.body(y)[:, 0])


class CausalAttention(nn.Layer):
    """A decoder of words: embeddings, a mask, tied output weights."""

    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out, self.norm = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, words):
        x = self.embed(words)
        q, k, v = paddle.chunk(self.qkv(self.norm(x)).reshape([2, 5, 3, 2, 4]).transpose([2, 0, 3, 1, 4]), 3, 0)
        scores = paddle.matmul(q, k, transpose_y=True) / math.sqrt(4.0)
        mask = paddle.tril(paddle.ones([5, 5], "bool"))
        weights = F.softmax(paddle.where(mask, scores, paddle.full_like(scores, -1e9)))
        y = x + self.out(paddle.matmul(weights, v).squeeze(0).transpose([0, 2, 1, 3]).flatten(2))
        return F.cross_entropy(paddle.matmul(y, self.embed.weight, transpose_y=True)[:, :-1].flatten(0, 1), words[:, 1:].flatten())


class Translator(nn.Layer):
    """A recurrent encoder, and a decoder that attends to it."""

    def __init__(self):
        super().__init__()
        self.encode, self.cell, self.key = nn.GRU(4, 6, direction="bidirect"), nn.LSTMCell(16, 6), nn.Linear(12, 6)
        self.out = nn.Linear(18, 5)

    def forward(self, x, y):
        memory, _ = self.encode(x)
        keys, state = self.key(memory), None
        context, scores = memory.mean(1), []
        for t in range(3):
            h, state = self.cell(paddle.concat([y[:, t], context], -1), state)
            weights = F.softmax(paddle.bmm(keys, h.unsqueeze(-1)), 1)
            context = (weights * memory).sum(1)
            scores.append(self.out(paddle.concat([h, context], -1)))
        return F.log_softmax(paddle.stack(scores, 1))


class GraphNet(nn.Layer):
    """Messages along edges."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x, edges):
        for layer in (self.first, self.second):
            messages = layer(paddle.gather(x, edges[0]))
            total = paddle.scatter_nd_add(paddle.zeros([5, messages.shape[1]]), edges[1].unsqueeze(-1), messages)
            count = paddle.bincount(edges[1], minlength=5).astype("float32").clip(min=1.0)
            x = F.leaky_relu(total / count.unsqueeze(-1) + paddle.geometric.send_u_recv(layer(x), edges[0], edges[1], "sum", 5))
        return x


class Flow(nn.Layer):
    """A coupling with the logarithm of its determinant, and a mixing matrix."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 4))
        self.mix = self.create_parameter([4, 4], default_initializer=nn.initializer.Orthogonal())

    def forward(self, x):
        a, b = paddle.split(paddle.matmul(x, self.mix), 2, -1)
        s, t = paddle.split(self.net(a), 2, -1)
        y = paddle.concat([a, b * paddle.exp(paddle.tanh(s)) + t], -1)
        return (-0.5 * y * y).sum(-1) + paddle.tanh(s).sum(-1) + paddle.linalg.det(self.mix).abs().log()


class Spectral(nn.Layer):
    """A layer of a Fourier neural operator."""

    def __init__(self):
        super().__init__()
        self.re, self.im = self.create_parameter([4, 4, 3]), self.create_parameter([4, 4, 3])

    def forward(self, x):
        modes = paddle.fft.rfft(x)[:, :, :3]
        mixed = paddle.einsum("bim,iom->bom", modes, paddle.complex(self.re, self.im))
        full = paddle.concat([mixed, paddle.zeros([2, 4, 1], "complex64")], -1)
        return F.gelu(paddle.fft.irfft(full, n=6) + x)


class Temporal(nn.Layer):
    """Dilated causal convolutions with normalized weights."""

    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Conv1D(4, 4, 3, dilation=d) for d in (1, 2)])
        self.sizes = nn.ParameterList([self.create_parameter([4, 1, 1]) for _ in self.layers])

    def forward(self, x):
        for layer, size, d in zip(self.layers, self.sizes, (1, 2)):
            weight = size * layer.weight / paddle.linalg.norm(layer.weight.flatten(1), axis=1).reshape([4, 1, 1])
            x = F.relu(F.conv1d(F.pad(x, [2 * d, 0], data_format="NCL"), weight, layer.bias, dilation=d)) + x
        return x


edges = whole(2, 8, below=5, seed=3)
for name, make, *inputs in [
    ("squeeze_excite", SqueezeExcite, x4),
    ("unet", UNet, x4),
    ("vision_transformer", VisionTransformer, x4),
    ("causal_attention", CausalAttention, whole(2, 5, below=9)),
    ("translator", Translator, real(2, 5, 4), real(2, 3, 4, seed=2)),
    ("graph_net", GraphNet, real(5, 4), edges),
    ("flow", Flow, x2),
    ("spectral", Spectral, real(2, 4, 6)),
    ("temporal", Temporal, x3),
]:
    case("by hand", name, make, *inputs)


# Layers.
class Cached(nn.Layer):
    """Attention with a cache of two steps, and a padding mask."""

    def __init__(self):
        super().__init__()
        self.attend = nn.MultiHeadAttention(8, 2)

    def forward(self, x):
        cache = self.attend.gen_cache(x[:, :1])
        outputs = []
        for t in range(3):
            y, cache = self.attend(x[:, t : t + 1], x[:, t : t + 1], x[:, t : t + 1], None, cache)
            outputs.append(y)
        return paddle.concat(outputs, 1)


class Decoding(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2)

    def forward(self, x, memory):
        return self.body(x, memory, paddle.tensor.triu(paddle.full([4, 4], -1e9), 1))


class Recurrent(nn.Layer):
    def __init__(self, make):
        super().__init__()
        self.rnn = make()

    def forward(self, x, lengths):
        y, h = self.rnn(x, sequence_length=lengths)
        return y, paddle.concat(h) if isinstance(h, (list, tuple)) else h


lengths = whole(2, below=4, seed=1) + 2
for name, make, *inputs in [
    ("attention_cache", Cached, real(2, 3, 8)),
    ("transformer_decoder", Decoding, real(2, 4, 8), real(2, 5, 8, seed=1)),
    ("gru_lengths", lambda: Recurrent(lambda: nn.GRU(4, 3)), real(2, 5, 4), lengths),
    ("birnn_lengths", lambda: Recurrent(lambda: nn.BiRNN(nn.GRUCell(4, 3), nn.GRUCell(4, 3))), real(2, 5, 4), lengths),
    ("pools_1d", lambda: nn.Sequential(nn.MaxPool1D(2, 1), nn.AvgPool1D(3, 2, 1), nn.AdaptiveMaxPool1D(2)), x3),
    ("thresholds", lambda: nn.Sequential(nn.Hardtanh(), nn.Softshrink(0.1), nn.ThresholdedReLU(0.2), nn.Softsign(), nn.Hardshrink(0.05)), x2),
    ("padding_kinds", lambda: nn.Sequential(nn.Pad2D(1, "reflect"), nn.Pad2D(1, "replicate"), nn.Pad2D(1, "circular")), x4),
]:  # fmt: skip
    case("layers", name, make, *inputs)

# Losses.
two = real(3, 4, low=0.1, high=0.9)
for name, code, *inputs in [
    ("focal_and_dice", lambda x, y: F.sigmoid_focal_loss(x, F.one_hot(y, 4)) + F.dice_loss(F.softmax(x), y.unsqueeze(-1)), x2, whole(3, below=4)),
    ("margins", lambda x, y: F.multi_margin_loss(x, y) + F.multi_label_soft_margin_loss(x, F.one_hot(y, 4)) + F.soft_margin_loss(x, F.one_hot(y, 4) * 2 - 1), x2, whole(3, below=4)),
    ("contrastive", lambda x, y: F.npair_loss(x, y, paddle.to_tensor([0.0, 1.0, 2.0])) + F.hinge_embedding_loss(x, paddle.sign(y.detach())), x2, real(3, 4, seed=1)),
    ("ctc_ragged", lambda x, y, n: F.ctc_loss(x, y, n, paddle.to_tensor([2, 1]), blank=4, reduction="none"), real(6, 2, 5), whole(2, 2, below=4).astype("int32"), whole(2, below=2) + 5),
]:  # fmt: skip
    plain("losses", name, code, *inputs)

# Tensor operations.
for name, code, *inputs in [
    ("spectra", lambda x: [paddle.abs(paddle.signal.stft(x, 8, 4, center=False)), paddle.real(paddle.fft.ifft2(paddle.fft.fft2(x.reshape([2, 4, 6])) * 2.0))], real(2, 24)),
    ("polar", lambda x, y: [paddle.angle(z := paddle.as_complex(paddle.stack([x, y], -1))), paddle.as_real(paddle.exp(z) / (z + 2.0)), paddle.real(paddle.matmul(z, paddle.conj(z), transpose_y=True))], x2, real(3, 4, low=0.1, seed=1)),
    ("low_rank", lambda x: (lambda u, s, v: [paddle.matmul(u * s, v), s, paddle.linalg.norm(x, "nuc")])(*paddle.linalg.svd(x)), real(4, 3)),
    ("least_squares", lambda x, y: [paddle.linalg.pinv(x), paddle.linalg.cov(x), paddle.cdist(x, y), paddle.linalg.corrcoef(x)], real(4, 3), real(5, 3, seed=2)),
    ("higher_gammas", lambda x: [paddle.polygamma(x, 1), paddle.polygamma(x, 2), paddle.i0(x), paddle.i1(x), paddle.multigammaln(x + 2, 2)], two),
    ("placing", lambda x, y: [paddle.put_along_axis(x, whole_tensor(), y[:, :1], 1, "add"), paddle.index_put(x, [paddle.to_tensor([0, 2]), paddle.to_tensor([1, 1])], y[0, :2]), paddle.scatter(x, paddle.to_tensor([2, 0]), y[:2]), paddle.masked_fill(x, x > 0, 0.5)], x2, real(3, 4, seed=1)),
    ("statistics", lambda x: [paddle.var(x, 1), paddle.std(x), paddle.nanmean(x), paddle.diff(x), paddle.trapezoid(x), paddle.renorm(x, 2.0, 0, 0.7), paddle.logaddexp(x, x * 2), paddle.cummin(x, 1)[0]], x2),
]:  # fmt: skip
    plain("tensors", name, code, *inputs)


def whole_tensor():
    return paddle.to_tensor([[0], [3], [1]])


# Control flow.
def early(x):
    """A loop that is left, and rounds that are passed over."""
    t = zero()
    while t < 6:
        t = t + 1
        if x.sum() > 20:
            break
        if t % 2 == 0:
            continue
        x = x * 1.5 + 0.5
    return x


def grown(x):
    """What a loop puts behind what there is."""
    t, out = zero(), x[:1] * 1.0
    while t < 3:
        out = paddle.concat([out, paddle.tanh(out.sum(0, keepdim=True) + x[1:2])])
        t = t + 1
    return out


def halved(x):
    """A tensor that becomes smaller in a loop."""
    t = zero()
    while t < 2:
        n = paddle.shape(x)[0] // 2
        x = paddle.sin(x[:n]) + x[n : 2 * n]
        t = t + 1
    return x


def switched(x, t):
    return paddle.static.nn.switch_case(t, {0: lambda: x * 2, 1: lambda: paddle.tanh(x), 2: lambda: x.exp()}) if not paddle.in_dynamic_mode() else paddle.tanh(x)


def over_rows(x):
    total = paddle.zeros([4])
    for row in x:
        if row.max() > 0.5:
            total = total + row * row
        else:
            total = paddle.maximum(total, row)
    return total


def array(x):
    """Tensors that a loop writes to an array, and another one reads."""
    held, t = [], zero()
    while t < 3:
        held.append(paddle.tanh(x[t]) * (t.astype("float32") + 1.0))
        t = t + 1
    total, t = paddle.zeros([4]), zero()
    while t < 3:
        total = total * 0.5 + held[t] * held[0]
        t = t + 1
    return total


class Preallocated(nn.Layer):
    """A cache that a loop writes rows of."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        keys, values, t = paddle.zeros([4, 4]), paddle.zeros([4, 4]), zero()
        h = x[0]
        while t < 4:
            keys[t], values[t] = self.k(h), self.v(h)
            scores = paddle.where(paddle.arange(4) <= t, paddle.matmul(keys * 1.0, self.q(h)), paddle.full([4], -1e9))
            h = paddle.matmul(F.softmax(scores), values * 1.0) + x[t]
            t = t + 1
        return h, keys


class Beam(nn.Layer):
    """Decoding that keeps the two best."""

    def __init__(self):
        super().__init__()
        self.cell, self.out, self.embed = nn.GRUCell(3, 3), nn.Linear(3, 5), nn.Embedding(5, 3)

    def forward(self, h):
        h, words, score, t = h.tile([2, 1]), paddle.zeros([2], "int64"), paddle.to_tensor([0.0, -1e9]), zero()
        taken = words.unsqueeze(0)
        while t < 3:
            y, h = self.cell(self.embed(words), h)
            every = (score.unsqueeze(-1) + F.log_softmax(self.out(y))).flatten()
            score, at = paddle.topk(every, 2)
            words, h = at % 5, paddle.index_select(h, at // 5)
            taken = paddle.concat([paddle.index_select(taken, at // 5, 1), words.unsqueeze(0)])
            t = t + 1
        return score, taken


class Halting(nn.Layer):
    """Steps until what has been spent is enough, of which each is weighed."""

    def __init__(self):
        super().__init__()
        self.step, self.halt = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        spent, total, t = paddle.zeros([3, 1]), paddle.zeros([3, 4]), zero()
        while (spent < 0.99).any() and t < 8:
            x = paddle.tanh(self.step(x))
            p = paddle.minimum(F.sigmoid(self.halt(x)), 1.0 - spent)
            total, spent, t = total + p * x, spent + p, t + 1
        return total


def ragged(x, n):
    """A loop in a loop, as long as a tensor says."""
    i, out = zero(), []
    while i < 2:
        j, h = zero(), paddle.zeros([4])
        while j < n[i]:
            h = paddle.tanh(h * 0.5 + x[i, j])
            j = j + 1
        out.append(h)
        i = i + 1
    return paddle.stack(out)


class Heads(nn.Layer):
    """Decoding with a cache of heads that is empty at first, and a causal state of another size."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(4, 12), nn.Linear(4, 4)

    def forward(self, x):
        keys, values, t = paddle.zeros([1, 2, 0, 2]), paddle.zeros([1, 2, 0, 2]), zero()
        h = x[:, 0]
        while t < 4:
            q, k, v = self.qkv(h).reshape([1, 3, 2, 1, 2]).unbind(1)
            keys, values = paddle.concat([keys, k], 2), paddle.concat([values, v], 2)
            weights = F.softmax(paddle.matmul(q, keys, transpose_y=True) / 1.4)
            h = self.out(paddle.matmul(weights, values).reshape([1, 4])) + x[:, t]
            t = t + 1
        return h, keys.sum()


def windowed(x):
    """The last rows of what grows."""
    t, seen = zero(), x[:2]
    while t < 4:
        new = paddle.tanh(seen.mean(0, keepdim=True) + x[2:3])
        seen = paddle.concat([seen, new])[-3:]
        t = t + 1
    return seen


def triangle(x):
    """A loop as long as the outer one has come, over what that has made."""
    i, j, rows, total = zero(), zero(), x[:1], paddle.zeros([1, 4])
    while i < 3:
        j, total = zero(), paddle.zeros([1, 4])
        while j <= i:
            total = paddle.sin(total + rows[j])
            j = j + 1
        rows = paddle.concat([rows, total * x[1:2]])
        i = i + 1
    return rows


def sometimes(x):
    """What grows in a branch."""
    t, out = zero(), x[:1]
    while t < 4:
        if t % 2 == 0:
            out = paddle.concat([out, out[-1:] * paddle.cos(x[1:2])])
        else:
            out = out * 0.5
        t = t + 1
    return out.sum(0) * paddle.shape(out)[0].astype("float32")


def falling(x):
    """What loses a row in each round."""
    t, total = zero(), paddle.zeros([3])
    while t < 3:
        total = total + paddle.exp(x * 0.3).sum(0)
        x = x[1:] * x[:-1]
        t = t + 1
    return total


def ragged_list(x):
    """Elements of different lengths, put behind each other."""
    t, parts = zero(), []
    while t < 3:
        parts.append(paddle.tanh(x[: t + 1]))
        t = t + 1
    return paddle.concat(parts)


def columns_set(x):
    """A block of columns and single elements that a loop overwrites."""
    out, t = paddle.zeros([3, 6]), zero()
    while t < 3:
        out[:, 2 * t : 2 * t + 2] = paddle.sin(x[:, :2] + out[:, :2])
        out[t, 0] = x[t, 0] * 2.0
        t = t + 1
    return out


def written_back(x):
    """An array whose elements are replaced."""
    held, t = [], zero()
    while t < 3:
        held.append(x[t])
        t = t + 1
    t = zero()
    while t < 2:
        held[t + 1] = paddle.tanh(held[t] + held[t + 1])
        t = t + 1
    return paddle.stack(held)


class Emitting(nn.Layer):
    """A stack of recurrent cells over a list of outputs, in reverse."""

    def __init__(self):
        super().__init__()
        self.cell, self.back = nn.GRUCell(4, 4), nn.GRUCell(4, 4)

    def forward(self, x):
        outs, h, t = [], paddle.zeros([2, 4]), zero()
        n = paddle.shape(x)[1]
        while t < n:
            _, h = self.cell(x[:, t], h)
            outs.append(h)
            t = t + 1
        g = paddle.zeros([2, 4])
        while t > 0:
            t = t - 1
            _, g = self.back(outs[t], g)
        return g


for name, make, *inputs in [
    ("heads_cache", Heads, real(1, 4, 4)),
    ("windowed", lambda: windowed, x2),
    ("triangle", lambda: triangle, x2),
    ("grows_in_branch", lambda: sometimes, x2),
    ("falling", lambda: falling, real(5, 3)),
    ("ragged_list", lambda: ragged_list, x2),
    ("columns_set", lambda: columns_set, x2),
    ("written_back", lambda: written_back, x2),
    ("list_in_reverse", Emitting, real(2, 3, 4)),
    ("break_and_continue", lambda: early, x2),
    ("concat_in_loop", lambda: grown, x2),
    ("halves_in_loop", lambda: halved, real(8, 3)),
    ("switch_case", lambda: switched, x2, whole(1, below=1) + 1),
    ("for_over_rows", lambda: over_rows, x2),
    ("array_across_loops", lambda: array, x2),
    ("preallocated_cache", Preallocated, real(4, 4)),
    ("beam_search", Beam, real(1, 3)),
    ("halting", Halting, x2),
    ("ragged_loops", lambda: ragged, real(2, 4, 4), whole(2, below=3) + 2),
]:
    case("control", name, make, *inputs)


# Less common operations.
class Mixture(nn.Layer):
    """Experts, of which each row takes the best two."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(4, 3), nn.LayerList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        weights, at = paddle.topk(F.softmax(self.gate(x)), 2)
        chosen = paddle.zeros([x.shape[0], 3]).put_along_axis(at, weights, 1)
        return sum(chosen[:, k : k + 1] * F.gelu(expert(x)) for k, expert in enumerate(self.experts))


class Attention(nn.Layer):
    """Rotated queries and keys, grouped heads, and a normalization by the root of the mean square."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.scale = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(8, 4), self.create_parameter([8], default_initializer=nn.initializer.Constant(1.0))

    def turned(self, x):
        angle = paddle.arange(5, dtype="float32").unsqueeze(-1) * paddle.to_tensor([1.0, 0.1])
        cos, sin = paddle.cos(angle).unsqueeze(1), paddle.sin(angle).unsqueeze(1)
        a, b = x[..., :2], x[..., 2:]
        return paddle.concat([a * cos - b * sin, a * sin + b * cos], -1)

    def forward(self, x):
        y = x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.scale
        q, k, v = self.turned(self.q(y).reshape([2, 5, 2, 4])), self.turned(self.k(y).reshape([2, 5, 1, 4])), self.v(y).reshape([2, 5, 1, 4])
        out = F.scaled_dot_product_attention(q, k.expand([2, 5, 2, 4]), v.expand([2, 5, 2, 4]), is_causal=True)
        return x + out.flatten(2)


class Detector(nn.Layer):
    """Anchors, decoded boxes, and their overlap with what is wanted."""

    def __init__(self):
        super().__init__()
        self.head = nn.Conv2D(4, 5, 1)

    def forward(self, x, wanted):
        y = self.head(x).transpose([0, 2, 3, 1]).reshape([-1, 5])
        cells = paddle.stack(paddle.meshgrid(paddle.arange(6.0), paddle.arange(6.0)), -1).reshape([-1, 2]).tile([2, 1])
        centre, size = cells + F.sigmoid(y[:, :2]), paddle.exp(y[:, 2:4])
        low, high = centre - size / 2, centre + size / 2
        inner = (paddle.minimum(high, wanted[2:]) - paddle.maximum(low, wanted[:2])).clip(min=0.0).prod(-1)
        overlap = inner / (size.prod(-1) + (wanted[2:] - wanted[:2]).prod() - inner)
        return F.binary_cross_entropy_with_logits(y[:, 4], (overlap > 0.1).astype("float32").detach()) + (1 - overlap).mean()


mean2, cov2 = real(3), positive(3)
D = paddle.distribution
for group, name, make, *inputs in [
    ("by hand", "mixture_of_experts", Mixture, x2),
    ("by hand", "grouped_attention", Attention, real(2, 5, 8)),
    ("by hand", "detector", Detector, x4, real(4, low=1.0, high=4.0).cumsum().astype("float32")),
    ("losses", "transducer", lambda: lambda x, y: F.rnnt_loss(x, y, paddle.to_tensor([4, 4], "int32"), paddle.to_tensor([2, 2], "int32"), fastemit_lambda=0.0), real(2, 4, 3, 5), (whole(2, 2, below=4) + 1).astype("int32")),
    ("losses", "distances", lambda: lambda x, y: F.triplet_margin_with_distance_loss(x, y, x * y + 1, swap=True) + F.square_error_cost(x, y).mean() + F.log_loss(F.sigmoid(x).reshape([-1, 1]), F.sigmoid(y).reshape([-1, 1]).detach()).mean(), x2, real(3, 4, seed=1)),
    ("layers", "lp_and_masked_pools", lambda: lambda x: [F.lp_pool2d(x, 2.0, 2), F.max_pool3d(x.unsqueeze(2), [1, 2, 2]), F.adaptive_max_pool2d(x, 2, return_mask=True)[0]], x4),
    ("layers", "group_and_rms", lambda: lambda x: [F.normalize(x, axis=1), F.local_response_norm(x, 2), F.softmax(x, 1), F.log_softmax(x, -1)], x4),
    ("tensors", "factors", lambda: lambda x: [paddle.matmul(*(abs(part) for part in paddle.linalg.qr(x))), paddle.linalg.lu(x)[0], paddle.linalg.matrix_norm(x, "fro"), paddle.linalg.cond(x)], real(3, 3, seed=2)),
    ("tensors", "exponential", lambda: lambda x: [paddle.linalg.matrix_exp(x * 0.3), paddle.linalg.multi_dot([x, x, x])], real(3, 3, seed=2)),
    ("tensors", "contracting", lambda: lambda x, y: [paddle.tensordot(x, y, 1), paddle.einsum("ij,jk,lk->il", x, y, x), paddle.inner(x, x), paddle.outer(x[0], y[:, 0]), paddle.addmm(x.matmul(y), x, y, 0.5, 2.0), paddle.baddbmm(x.matmul(y).unsqueeze(0), x.unsqueeze(0), y.unsqueeze(0))], x2, real(4, 4, seed=1)),
    ("tensors", "joining", lambda: lambda x, y: [paddle.block_diag([x, y]), paddle.hstack([x, y]), paddle.dstack([x, y]), paddle.cartesian_prod([x[0], y[0]]), paddle.combinations(x[0]), paddle.vander(x[0], 3), paddle.column_stack([x, y])], x2, real(3, 4, seed=1)),
    ("tensors", "filling", lambda: lambda x, y: [paddle.index_fill(x, paddle.to_tensor([0, 2]), 0, 0.5), paddle.masked_scatter(x, x > 0, y), paddle.select_scatter(x, y[0], 0, 1), paddle.slice_scatter(x, y[:2], [0], [0], [2], [1]), paddle.diagonal_scatter(x, y[:, 0], 0)], x2, real(3, 4, seed=1)),
    ("tensors", "strides", lambda: lambda x: [paddle.crop(x, [2, 2], [1, 1]), paddle.unflatten(x, 1, [2, 2]), paddle.moveaxis(x, 0, 1), paddle.expand_as(x[:1], x)], x2),
    ("tensors", "counting", lambda: lambda x: [paddle.nonzero(x > 0), paddle.unique(paddle.floor(x * 3).detach()), paddle.count_nonzero(x > 0), paddle.mode(paddle.floor(x * 3))[0], paddle.nanmedian(x, 1), paddle.nanquantile(x, 0.4, 1), x * 2], x2),
    ("tensors", "rounded_functions", lambda: lambda x, y: [paddle.hypot(x, y), paddle.copysign(x, y), paddle.nan_to_num(x / y), paddle.frac(x * 3), paddle.sinc(x), paddle.ldexp(x, paddle.full([4], 2, "int32")), paddle.heaviside(x, y), paddle.rad2deg(x), paddle.mod(x, y), paddle.trunc(x * 3), paddle.stanh(x), paddle.sgn(x)], x2, real(3, 4, seed=1)),
    ("tensors", "integrals", lambda: lambda x: [paddle.cumulative_trapezoid(x), paddle.i0e(x), paddle.i1e(x), paddle.gammaln(x + 2), paddle.gammaincc(paddle.ones_like(x), x + 1.5), paddle.log1p(x * 0.5), paddle.acosh(x + 3), paddle.atanh(x * 0.9)], x2),
    ("tensors", "transforms_2d", lambda: lambda x: [paddle.abs(paddle.fft.fftn(x)), paddle.fft.hfft(paddle.fft.ihfft(x)), paddle.real(paddle.fft.fftshift(paddle.fft.fft(x, norm="ortho"))), paddle.fft.irfft2(paddle.fft.rfft2(x))], x3),
    ("tensors", "overlapping", lambda: lambda x: [paddle.signal.istft(paddle.signal.stft(x, 8, 4), 8, 4), paddle.signal.istft(paddle.signal.stft(x, 8, 2, normalized=True), 8, 2, normalized=True)], real(2, 24)),
    ("distributions", "more_densities", lambda: lambda m, s, v: [D.Cauchy(m, s).log_prob(v), D.Gumbel(m, s).log_prob(v), D.LogNormal(m, s).log_prob(v.abs() + 0.1), D.Exponential(s).log_prob(v.abs())], real(4), real(4, low=0.5, high=2.0), real(4, seed=3)),
    ("distributions", "normal_of_vectors", lambda: lambda m, c, v: [(d := D.MultivariateNormal(m, covariance_matrix=c)).log_prob(v), d.entropy()], mean2, cov2, real(3, seed=4)),
    ("distributions", "turned_normals", lambda: lambda m, s, v: [D.TransformedDistribution(D.Normal(m, s), [D.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0)), D.TanhTransform()]).log_prob(paddle.tanh(v)), D.Independent(D.Normal(m, s), 1).log_prob(v), D.ContinuousBernoulli(F.sigmoid(m)).log_prob(F.sigmoid(v))], real(4), real(4, low=0.5, high=2.0), real(4, seed=3)),
]:  # fmt: skip
    case(group, name, make, *inputs)
