"""Models as users write them: vision, sequences, graphs, physics, reinforcement learning, and solvers with loops."""

import math

import paddle
import paddle.nn.functional as F
from cases import case, real, whole
from paddle import nn

x2, x3, x4 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6)


def zero():
    return paddle.zeros([], dtype="int64")


# Vision.
class ConvNext(nn.Layer):
    def __init__(self):
        super().__init__()
        self.depth, self.norm = nn.Conv2D(4, 4, 5, padding=2, groups=4), nn.LayerNorm(4, epsilon=1e-6)
        self.up, self.down = nn.Linear(4, 16), nn.Linear(16, 4)
        self.gamma = self.create_parameter([4], default_initializer=nn.initializer.Constant(0.1))

    def forward(self, x):
        y = self.norm(self.depth(x).transpose([0, 2, 3, 1]))
        return x + (self.gamma * self.down(F.gelu(self.up(y), approximate=True))).transpose([0, 3, 1, 2])


class Windows(nn.Layer):
    """Attention in shifted windows, with a table of biases for relative places."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(4, 12), nn.Linear(4, 4)
        self.table = self.create_parameter([25, 2], default_initializer=nn.initializer.Normal(std=0.5))
        at = paddle.stack(paddle.meshgrid(paddle.arange(3), paddle.arange(3))).flatten(1)
        place = at.unsqueeze(2) - at.unsqueeze(1) + 2
        self.register_buffer("place", place[0] * 5 + place[1])

    def forward(self, x):
        y = paddle.roll(x.transpose([0, 2, 3, 1]), [-1, -1], [1, 2])
        y = y.reshape([2, 2, 3, 2, 3, 4]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, 9, 4])
        q, k, v = self.qkv(y).reshape([-1, 9, 3, 2, 2]).transpose([2, 0, 3, 1, 4]).unbind(0)
        bias = paddle.index_select(self.table, self.place.flatten()).reshape([9, 9, 2]).transpose([2, 0, 1])
        weights = F.softmax(q @ k.transpose([0, 1, 3, 2]) / math.sqrt(2.0) + bias)
        y = self.out((weights @ v).transpose([0, 2, 1, 3]).reshape([-1, 9, 4]))
        y = y.reshape([2, 2, 2, 3, 3, 4]).transpose([0, 1, 3, 2, 4, 5]).reshape([2, 6, 6, 4])
        return paddle.roll(y, [1, 1], [1, 2]).transpose([0, 3, 1, 2])


class Mixer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norms = nn.LayerList([nn.LayerNorm(4), nn.LayerNorm(4)])
        self.tokens = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6))
        self.channels = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))

    def forward(self, x):
        x = x.transpose([0, 2, 1])
        x = x + self.tokens(self.norms[0](x).transpose([0, 2, 1])).transpose([0, 2, 1])
        return (x + self.channels(self.norms[1](x))).mean(1)


class Pyramid(nn.Layer):
    """Features of three sizes that are added from the smallest on."""

    def __init__(self):
        super().__init__()
        self.body = nn.LayerList([nn.Conv2D(4, 4, 3, stride=s, padding=1) for s in (1, 2, 2)])
        self.side = nn.LayerList([nn.Conv2D(4, 3, 1) for _ in range(3)])
        self.out = nn.Conv2D(3, 2, 3, padding=1)

    def forward(self, x):
        found = []
        for layer in self.body:
            x = F.relu6(layer(x) * 3)
            found.append(x)
        y = self.side[2](found[2])
        for at in (1, 0):
            y = self.side[at](found[at]) + F.interpolate(y, size=found[at].shape[2:], mode="nearest")
        return self.out(y)


class Atrous(nn.Layer):
    """Dilated convolutions side by side, and one of the whole picture."""

    def __init__(self):
        super().__init__()
        self.parts = nn.LayerList([nn.Conv2D(4, 2, 3, padding=d, dilation=d, bias_attr=False) for d in (1, 2, 3)])
        self.norm, self.whole, self.out = nn.BatchNorm2D(6), nn.Conv2D(4, 2, 1), nn.Conv2D(8, 3, 1)

    def forward(self, x):
        y = F.relu(self.norm(paddle.concat([part(x) for part in self.parts], 1)))
        mean = F.interpolate(self.whole(F.adaptive_avg_pool2d(x, 1)), size=[6, 6], mode="bilinear")
        return F.interpolate(self.out(paddle.concat([y, mean], 1)), scale_factor=2, mode="bilinear", align_corners=True)


class Turned(nn.Layer):
    """A picture that is turned by what a small network says."""

    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2D(4, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(16, 6))
        self.start = self.create_parameter([6], default_initializer=nn.initializer.Assign([1.0, 0.1, 0.05, -0.1, 0.9, 0.03]))

    def forward(self, x):
        theta = (0.1 * self.look(x) + self.start).reshape([-1, 2, 3])
        return F.grid_sample(x, F.affine_grid(theta, [2, 4, 5, 5], align_corners=False), padding_mode="border", align_corners=False)


class SuperResolution(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.act = nn.Conv2D(4, 8, 3, padding="same"), nn.PReLU(8)
        self.second, self.shuffle = nn.Conv2D(8, 12, 3, padding="SAME", padding_mode="zeros"), nn.PixelShuffle(2)

    def forward(self, x):
        return F.sigmoid(self.shuffle(self.second(self.act(self.first(x))))) - F.interpolate(x[:, :3], scale_factor=2, mode="bicubic")


class Denoiser(nn.Layer):
    """A step of diffusion: an embedding of the time, normalized groups, attention over pixels."""

    def __init__(self):
        super().__init__()
        self.time, self.one, self.two = nn.Linear(8, 4), nn.Conv2D(4, 4, 3, padding=1), nn.Conv2D(4, 4, 3, padding=1)
        self.norms = nn.LayerList([nn.GroupNorm(2, 4), nn.GroupNorm(2, 4), nn.GroupNorm(1, 4)])
        self.qkv, self.out = nn.Conv1D(4, 12, 1), nn.Conv1D(4, 4, 1)

    def forward(self, x, t):
        angle = t.astype("float32").unsqueeze(-1) * paddle.exp(paddle.arange(4, dtype="float32") * -math.log(100.0) / 4)
        embedded = self.time(F.silu(paddle.concat([angle.sin(), angle.cos()], -1)))
        y = self.one(F.silu(self.norms[0](x))) + embedded[:, :, None, None]
        x = x + self.two(F.silu(self.norms[1](y)))
        q, k, v = self.qkv(self.norms[2](x).flatten(2)).chunk(3, 1)
        weights = F.softmax(paddle.einsum("bci,bcj->bij", q, k) * 0.5, -1)
        return x + self.out(paddle.einsum("bij,bcj->bci", weights, v)).reshape(x.shape)


class Standardized(nn.Layer):
    """Weights with mean zero, and a normalization without running statistics."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(4, 4, 3, padding=1), nn.BatchNorm2D(4, use_global_stats=True)

    def forward(self, x):
        w = self.conv.weight
        w = (w - w.mean([1, 2, 3], keepdim=True)) / (w.std([1, 2, 3], keepdim=True) + 1e-3)
        return self.norm(F.conv2d(x, w, self.conv.bias, padding=1)).clip(-0.5, 0.7)


class Capsules(nn.Layer):
    """Routing by agreement."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([6, 3, 4, 5], default_initializer=nn.initializer.Normal(std=0.5))

    def forward(self, x):
        votes = paddle.einsum("bci,ikcd->bikd", x, self.weight)
        logits, t, v = paddle.zeros([2, 6, 3]), zero(), paddle.zeros([2, 3, 5])
        while t < 3:
            s = (F.softmax(logits, -1).unsqueeze(-1) * votes).sum(1)
            size = (s * s).sum(-1, keepdim=True)
            v = size / (1 + size) * s / paddle.sqrt(size + 1e-6)
            logits, t = logits + (votes * v.unsqueeze(1)).sum(-1), t + 1
        return paddle.norm(v, axis=-1)


class Points(nn.Layer):
    """Points of a cloud, turned by a learned matrix, and the largest of each channel."""

    def __init__(self):
        super().__init__()
        self.turn, self.body = nn.Linear(4, 16), nn.Sequential(nn.Conv1D(4, 8, 1), nn.BatchNorm1D(8), nn.ReLU(), nn.Conv1D(8, 5, 1))

    def forward(self, x):
        turn = self.turn(x.max(-1)).reshape([-1, 4, 4]) + paddle.eye(4)
        y = self.body(paddle.bmm(turn, x))
        off = turn @ turn.transpose([0, 2, 1]) - paddle.eye(4)
        return y.max(-1), paddle.linalg.norm(off, axis=[1, 2]).mean()


class Hyper(nn.Layer):
    """A network that makes the weights of another."""

    def __init__(self):
        super().__init__()
        self.make = nn.Linear(3, 4 * 4 * 9)

    def forward(self, x, code):
        return F.conv2d(x, paddle.tanh(self.make(code)).reshape([4, 4, 3, 3]) * 0.3, padding=[1, 0, 1, 2])


class Quantizer(nn.Layer):
    """The nearest words of a book, through which gradients pass."""

    def __init__(self):
        super().__init__()
        self.book = nn.Embedding(7, 4)

    def forward(self, x):
        far = (x * x).sum(1, keepdim=True) - 2 * x @ self.book.weight.t() + (self.book.weight**2).sum(1)
        chosen = self.book(far.argmin(1))
        loss = F.mse_loss(chosen, x.detach()) + 0.25 * F.mse_loss(x, chosen.detach())
        return x + (chosen - x).detach(), loss


class Autoencoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Sequential(nn.Linear(4, 8), nn.ELU(), nn.Linear(8, 4)), nn.Sequential(nn.Linear(2, 8), nn.ELU(), nn.Linear(8, 4))

    def forward(self, x, noise):
        mean, log = self.encode(x).split(2, -1)
        z = paddle.distribution.Normal(mean, paddle.exp(0.5 * log))
        kl = paddle.distribution.kl_divergence(z, paddle.distribution.Normal(paddle.zeros_like(mean), paddle.ones_like(mean)))
        return F.binary_cross_entropy_with_logits(self.decode(mean + noise * z.scale), F.sigmoid(x.detach()), reduction="none").sum(-1) + kl.sum(-1)


class Pairs(nn.Layer):
    """Views of the same that are to be alike."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 5)

    def forward(self, x, y):
        z = F.normalize(self.body(paddle.concat([x, y])), axis=-1)
        alike = paddle.masked_fill(z @ z.t() / 0.2, paddle.eye(6).astype("bool"), -1e9)
        return F.cross_entropy(alike, (paddle.arange(6) + 3) % 6)


for name, make, *inputs in [
    ("conv_next", ConvNext, x4),
    ("shifted_windows", Windows, x4),
    ("mixer", Mixer, x3),
    ("feature_pyramid", Pyramid, x4),
    ("atrous_pyramid", Atrous, x4),
    ("spatial_transformer", Turned, x4),
    ("super_resolution", SuperResolution, x4),
    ("denoiser", Denoiser, x4, whole(2, below=9)),
    ("standardized", Standardized, x4),
    ("capsules", Capsules, x3),
    ("point_net", Points, x3),
    ("hyper_network", Hyper, x4, real(3)),
    ("quantizer", Quantizer, real(5, 4)),
    ("autoencoder", Autoencoder, x2, real(3, 2, seed=3)),
    ("contrastive_pairs", Pairs, x2, real(3, 4, seed=1)),
]:
    case("by hand", name, make, *inputs)


# Sequences.
class Words(nn.Layer):
    """Convolutions of several widths over words, of which the first is padding."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(9, 6, padding_idx=0), nn.Linear(9, 3)
        self.parts = nn.LayerList([nn.Conv1D(6, 3, k) for k in (1, 2, 3)])

    def forward(self, words):
        x = self.embed(words).transpose([0, 2, 1])
        return self.out(paddle.concat([F.relu(part(x)).max(-1) for part in self.parts], -1))


class Llama(nn.Layer):
    """A block of a language model that decodes in a loop with caches of a fixed size."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, n, bias_attr=False) for n in (8, 4, 4, 8))
        self.gate, self.up, self.down = nn.Linear(8, 12, bias_attr=False), nn.Linear(8, 12, bias_attr=False), nn.Linear(12, 8, bias_attr=False)
        self.scale = self.create_parameter([8], default_initializer=nn.initializer.Constant(1.0))

    def norm(self, x):
        return x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.scale

    def turn(self, x, t):
        angle = t.astype("float32") * paddle.to_tensor([1.0, 0.1])
        a, b = x[..., ::2], x[..., 1::2]
        return paddle.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)

    def forward(self, x):
        keys, values, t, outs = paddle.zeros([2, 1, 4, 4]), paddle.zeros([2, 1, 4, 4]), zero(), []
        while t < 4:
            h = x[:, t]
            y = self.norm(h)
            q, k = self.turn(self.q(y).reshape([2, 2, 1, 4]), t), self.turn(self.k(y).reshape([2, 1, 1, 4]), t)
            # Of a copy: in place, the eager engine has no gradients.
            keys, values = keys * 1.0, values * 1.0
            keys[:, :, t : t + 1] = k
            values[:, :, t : t + 1] = self.v(y).reshape([2, 1, 1, 4])
            seen = paddle.where(paddle.arange(4) <= t, 0.0, -1e9)
            weights = F.softmax(q @ keys.transpose([0, 1, 3, 2]) * 0.5 + seen, -1)
            h = h + self.o((weights @ values).reshape([2, 8]))
            y = self.norm(h)
            outs.append(h + self.down(F.silu(self.gate(y)) * self.up(y)))
            t = t + 1
        return paddle.stack(outs)


class Relative(nn.Layer):
    """Attention whose scores for distances are shifted into place."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.r = (nn.Linear(4, 4) for _ in range(4))
        self.u = self.create_parameter([4])

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        far = self.r(paddle.sin(paddle.arange(5, dtype="float32").unsqueeze(-1) * paddle.to_tensor([1.0, 0.5, 0.2, 0.1])))
        moved = F.pad((q + self.u) @ far.t(), [1, 0], data_format="NCL").reshape([2, 6, 5])[:, 1:]
        scores = paddle.tril(q @ k.transpose([0, 2, 1]) + moved) + paddle.triu(paddle.full([5, 5], -1e9), 1)
        return F.softmax(scores * 0.5) @ v


class Buckets(nn.Layer):
    """Biases by the logarithm of the distance."""

    def __init__(self):
        super().__init__()
        self.bias, self.qk = nn.Embedding(8, 2), nn.Linear(4, 8)

    def forward(self, x):
        far = paddle.arange(5).unsqueeze(1) - paddle.arange(5)
        large = 4 + (paddle.log(far.abs().clip(min=1).astype("float32") / 4.0) / math.log(4.0) * 4).astype("int64")
        bias = self.bias(paddle.where(far.abs() < 4, far.abs(), large.clip(max=7))).transpose([2, 0, 1])
        q, k = self.qk(x).reshape([2, 5, 2, 4]).transpose([0, 2, 1, 3]).chunk(2, -1)
        return F.softmax(q @ k.transpose([0, 1, 3, 2]) + bias)


class Masked(nn.Layer):
    """Words of which some are to be guessed, and sentences of different lengths."""

    def __init__(self):
        super().__init__()
        self.embed, self.places = nn.Embedding(9, 8), nn.Embedding(5, 8)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation="gelu"), 1, nn.LayerNorm(8))
        self.pool = nn.Linear(8, 8)

    def forward(self, words, lengths):
        mask = F.sequence_mask(lengths, 5, "float32")
        x = self.body(self.embed(words) + self.places(paddle.arange(5)), ((1 - mask) * -1e9).unsqueeze([1, 2]))
        picked = paddle.gather(x.reshape([-1, 8]), paddle.to_tensor([1, 6]))
        guess = F.cross_entropy(picked @ self.embed.weight.t(), paddle.gather(words.flatten(), paddle.to_tensor([1, 6])))
        mean = (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return guess, paddle.tanh(self.pool(mean))


class LinearAttention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)

    def forward(self, x):
        q, k, v = self.qkv(x).split(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state = paddle.cumsum(k.unsqueeze(-1) * v.unsqueeze(-2), 1)
        return paddle.einsum("bnd,bnde->bne", q, state) / (q * paddle.cumsum(k, 1)).sum(-1, keepdim=True)


class StateSpace(nn.Layer):
    """A selective scan, with a state of complex numbers for the second half."""

    def __init__(self):
        super().__init__()
        self.select, self.log = nn.Linear(4, 10), self.create_parameter([4, 3], default_initializer=nn.initializer.Uniform(-1.0, 0.5))
        self.skip = self.create_parameter([4], default_initializer=nn.initializer.Constant(0.5))

    def forward(self, x):
        delta, b, c = paddle.split(self.select(x), [4, 3, 3], -1)
        delta = F.softplus(delta)
        decay = paddle.exp(delta.unsqueeze(-1) * -paddle.exp(self.log))
        driven = delta.unsqueeze(-1) * b.unsqueeze(-2) * x.unsqueeze(-1)
        h, t, outs = paddle.zeros([2, 4, 3]), zero(), []
        while t < 5:
            h = decay[:, t] * h + driven[:, t]
            outs.append((h * c[:, t].unsqueeze(-2)).sum(-1))
            t = t + 1
        return paddle.stack(outs, 1) + x * self.skip


class Oscillators(nn.Layer):
    """A linear recurrence of complex numbers in a loop."""

    def __init__(self):
        super().__init__()
        self.radius, self.angle = self.create_parameter([4], default_initializer=nn.initializer.Constant(0.8)), self.create_parameter([4])

    def forward(self, x):
        factor = paddle.complex(self.radius * paddle.cos(self.angle + 0.5), self.radius * paddle.sin(self.angle + 0.5))
        h, t = paddle.zeros([2, 4], "complex64"), zero()
        while t < 5:
            h = h * factor + paddle.complex(x[:, t], x[:, t] * 0.5)
            t = t + 1
        return paddle.real(h), paddle.abs(h)


class LongConvolution(nn.Layer):
    """A convolution as long as the sequence, by transforms."""

    def __init__(self):
        super().__init__()
        self.kernel, self.gate = self.create_parameter([4, 6]), nn.Linear(6, 6)

    def forward(self, x):
        y = paddle.fft.irfft(paddle.fft.rfft(x, n=12) * paddle.fft.rfft(self.kernel, n=12), n=12)[..., :6]
        return y * F.sigmoid(self.gate(x))


class Mixing(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(6), nn.Linear(6, 6)

    def forward(self, x):
        x = self.norm(x + paddle.fft.fft2(x).real())
        return x + F.gelu(self.out(x))


class Spectrograms(nn.Layer):
    """Logarithms of bands of a spectrum at two resolutions, against those of another signal."""

    def __init__(self):
        super().__init__()
        self.bands = self.create_parameter([5, 3], default_initializer=nn.initializer.Uniform(0.1, 1.0))

    def forward(self, x, y):
        total = 0.0
        for n, hop in ((8, 4), (8, 2)):
            a, b = (paddle.abs(paddle.signal.stft(s, n, hop)) for s in (x, y))
            a, b = a.transpose([0, 2, 1]) @ self.bands, b.transpose([0, 2, 1]) @ self.bands
            total = total + paddle.linalg.norm(a - b) / paddle.linalg.norm(b) + F.l1_loss(paddle.log(a + 0.1), paddle.log(b + 0.1))
        return total


class WaveNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1D(4, 4, 2, padding=[1, 0])
        self.gates = nn.LayerList([nn.utils.weight_norm(nn.Conv1D(4, 8, 2, dilation=d), dim=0) for d in (1, 2)])
        self.skips = nn.LayerList([nn.Conv1D(4, 4, 1) for _ in range(2)])

    def forward(self, x):
        x, total = self.first(x), 0.0
        for gate, skip, d in zip(self.gates, self.skips, (1, 2)):
            a, b = gate(F.pad(x, [d, 0], data_format="NCL")).chunk(2, 1)
            y = paddle.tanh(a) * F.sigmoid(b)
            total, x = total + skip(y), x + y
        return F.log_softmax(F.relu(total), 1)


class Peephole(nn.RNNCellBase):
    """A cell of one's own."""

    def __init__(self):
        super().__init__()
        self.gates, self.peep = nn.Linear(7, 12), self.create_parameter([3, 3])

    @property
    def state_shape(self):
        return ((3,), (3,))

    def forward(self, x, states=None):
        h, c = self.get_initial_states(x, self.state_shape) if states is None else states
        i, f, g, o = self.gates(paddle.concat([x, h], -1)).split(4, -1)
        c = F.sigmoid(f + c * self.peep[0]) * c + F.sigmoid(i + c * self.peep[1]) * paddle.tanh(g)
        h = F.sigmoid(o + c * self.peep[2]) * paddle.tanh(c)
        return h, (h, c)


class OwnCell(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(Peephole(), is_reverse=True)

    def forward(self, x, lengths):
        y, (h, c) = self.rnn(x, sequence_length=lengths)
        return y, h, c


class Stacked(nn.Layer):
    """Recurrent layers with given states, and time first."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(4, 3, 2, "bidirect", time_major=True), nn.GRU(6, 3, 2)
        self.rnn = nn.SimpleRNN(3, 2, activation="relu")

    def forward(self, x, h, lengths):
        y, (a, b) = self.lstm(x.transpose([1, 0, 2]), (h, h * 0.5), lengths)
        y, c = self.gru(y.transpose([1, 0, 2]), h[:2])
        z, d = self.rnn(y, sequence_length=lengths)
        return z, a, b, c, d


class Pooled(nn.Layer):
    """Attention over the parts of a batch that are there."""

    def __init__(self):
        super().__init__()
        self.rnn, self.score = nn.GRU(4, 3), nn.Linear(3, 1)

    def forward(self, x, lengths):
        y, _ = self.rnn(x, sequence_length=lengths)
        outs, i = [], zero()
        while i < 2:
            kept = y[i, : lengths[i]]
            outs.append((F.softmax(self.score(kept), 0) * kept).sum(0))
            i = i + 1
        return paddle.stack(outs)


class Transformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Transformer(8, 2, 1, 1, 16, 0.0, normalize_before=True)

    def forward(self, x, y):
        return self.body(x, y, None, self.body.generate_square_subsequent_mask(4), None)


class StaticCache(nn.Layer):
    """A decoder with caches that grow, and one for what is decoded from."""

    def __init__(self):
        super().__init__()
        self.body = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 1)

    def forward(self, x, memory):
        cache, outs = self.body.gen_cache(memory), []
        for t in range(3):
            y, cache = self.body(x[:, t : t + 1], memory, cache=cache)
            outs.append(y)
        return paddle.concat(outs, 1)


class Crf(nn.Layer):
    """The likelihood of tags in a chain, of sentences of different lengths."""

    def __init__(self):
        super().__init__()
        self.emit, self.move = nn.Linear(4, 3), self.create_parameter([3, 3], default_initializer=nn.initializer.Normal(std=0.5))

    def forward(self, x, tags, lengths):
        scores = self.emit(x)
        alpha, t = scores[:, 0], zero() + 1
        gold = paddle.take_along_axis(scores[:, 0], tags[:, :1], 1).squeeze(1)
        while t < 4:
            now = paddle.index_select(scores, t.reshape([1]), 1).squeeze(1)
            new = paddle.logsumexp(alpha.unsqueeze(2) + self.move, 1) + now
            step = self.move.flatten().gather(tags[:, t - 1] * 3 + tags[:, t]) + paddle.take_along_axis(now, tags[:, t].unsqueeze(1), 1).squeeze(1)
            inside = t < lengths
            alpha = paddle.where(inside.unsqueeze(1), new, alpha)
            gold = gold + step * inside.astype("float32")
            t = t + 1
        return paddle.logsumexp(alpha, 1) - gold


sentences = whole(2, 5, below=9)
lengths = whole(2, below=3, seed=1) + 3
for name, make, *inputs in [
    ("words", Words, sentences),
    ("llama", Llama, real(2, 4, 8)),
    ("relative_shift", Relative, real(2, 5, 4)),
    ("bucketed_distances", Buckets, real(2, 5, 4)),
    ("masked_words", Masked, sentences, lengths),
    ("linear_attention", LinearAttention, real(2, 5, 4)),
    ("state_space", StateSpace, real(2, 5, 4)),
    ("oscillators", Oscillators, real(2, 5, 4)),
    ("long_convolution", LongConvolution, x3),
    ("fourier_mixing", Mixing, x3),
    ("spectrograms", Spectrograms, real(2, 24), real(2, 24, seed=1)),
    ("wave_net", WaveNet, x3),
    ("own_cell", OwnCell, real(2, 5, 4), lengths),
    ("stacked_rnns", Stacked, real(2, 5, 4), real(4, 2, 3), lengths),
    ("ragged_attention", Pooled, real(2, 5, 4), lengths),
    ("transformer", Transformer, real(2, 5, 8), real(2, 4, 8, seed=1)),
    ("decoder_caches", StaticCache, real(2, 3, 8), real(2, 5, 8)),
    ("crf", Crf, real(2, 4, 4), whole(2, 4, below=3), lengths - 1),
]:
    wrong = "`rnn_grad` with lengths and two directions" if name == "stacked_rnns" else None
    case("sequences", name, make, *inputs, wrong=wrong)
