"""Steps of training as they are written in several fields: recommenders, speech, detection, generation, graphs, control, quantization."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, plain, real, whole
from paddle import nn

x2, x3, x4, y2 = real(3, 4), real(2, 5, 4), real(2, 4, 8, 8), real(3, 4, seed=1)
ids, label = whole(3, 4, below=9), whole(3, below=4)


def zero():
    return paddle.zeros([], dtype="int64")


# ----- recommenders -----


class DeepFm(nn.Layer):
    """Factors of second order by the square of a sum, beside a deep part."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Embedding(9, 1), nn.Embedding(9, 3, sparse=True)
        self.deep = nn.Sequential(nn.Linear(12, 6), nn.ReLU(), nn.Dropout(0.0), nn.Linear(6, 1))

    def forward(self, ids, y):
        e = self.second(ids)
        pairs = 0.5 * (e.sum(1).pow(2) - (e**2).sum(1)).sum(-1, keepdim=True)
        score = self.first(ids).sum(1) + pairs + self.deep(e.flatten(1))
        return F.binary_cross_entropy_with_logits(score, y.detach(), pos_weight=paddle.to_tensor([2.0])), F.sigmoid(score)


class Interest(nn.Layer):
    """Attention of a candidate over what a user has seen, masked by lengths."""

    def __init__(self):
        super().__init__()
        self.items, self.score = nn.Embedding(9, 4, padding_idx=0), nn.Sequential(nn.Linear(16, 5), nn.PReLU(), nn.Linear(5, 1))
        self.out = nn.Linear(8, 1)

    def forward(self, seen, lengths):
        candidate = self.items(lengths)
        history = self.items(seen)
        c = candidate.unsqueeze(1).expand_as(history)
        scores = self.score(paddle.concat([c, history, c - history, c * history], -1)).squeeze(-1)
        mask = paddle.arange(seen.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        weights = F.softmax(paddle.where(mask, scores, paddle.full_like(scores, -1e9)), -1)
        return self.out(paddle.concat([paddle.bmm(weights.unsqueeze(1), history).squeeze(1), candidate], -1))


class Cross(nn.Layer):
    """Low-rank crosses with gated experts."""

    def __init__(self):
        super().__init__()
        self.u, self.v = (self.create_parameter([2, 3, 4, 2]) for _ in range(2))
        self.gate = nn.LayerList([nn.Linear(4, 3) for _ in range(2)])
        self.bias = self.create_parameter([2, 4], is_bias=True)

    def forward(self, x):
        x0 = x
        for at in range(2):
            experts = paddle.einsum("bd,edr,efr->bef", x, self.v[at], self.u[at]).tanh()
            mixed = paddle.einsum("be,bef->bf", F.softmax(self.gate[at](x)), experts)
            x = x0 * (mixed + self.bias[at]) + x
        return x


class TwoTowers(nn.Layer):
    """Negatives of the batch, corrected by how frequent they are, with a learned temperature."""

    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Linear(4, 3), nn.Linear(4, 3)
        self.temperature = self.create_parameter([], default_initializer=nn.initializer.Constant(0.3))

    def forward(self, x, y):
        scores = F.normalize(self.user(x)) @ F.normalize(self.item(y)).t() / self.temperature.exp()
        scores = scores - paddle.log(paddle.to_tensor([0.2, 0.5, 0.3]))
        return F.cross_entropy(scores, paddle.arange(x.shape[0])), (scores.argmax(1) == paddle.arange(3)).astype("float32").mean()


# ----- speech -----


class Tdnn(nn.Layer):
    """A speaker network: dilated lines, statistics by attention, an angular margin."""

    def __init__(self):
        super().__init__()
        self.lines = nn.LayerList([nn.Conv1D(4, 4, 3, dilation=d, padding=d, padding_mode="reflect") for d in (1, 2)])
        self.norms = nn.LayerList([nn.BatchNorm1D(4) for _ in range(2)])
        self.attend = nn.Sequential(nn.Conv1D(12, 3, 1), nn.Tanh(), nn.Conv1D(3, 4, 1))
        self.weight = self.create_parameter([8, 5])

    def forward(self, x, y):
        for line, norm in zip(self.lines, self.norms):
            x = norm(F.relu(line(x))) + x
        mean, deviation = x.mean(-1, keepdim=True), x.var(-1, keepdim=True).clip(1e-5).sqrt()
        whole_of = [x, mean.expand(x.shape), deviation.expand(x.shape)]
        a = F.softmax(self.attend(paddle.concat(whole_of, 1)), -1)
        mean = (a * x).sum(-1)
        pooled = paddle.concat([mean, ((a * x**2).sum(-1) - mean**2).clip(min=1e-4).sqrt()], -1)
        cosine = F.normalize(pooled, axis=1) @ F.normalize(self.weight, axis=0)
        turned = paddle.cos(paddle.acos(cosine.clip(-0.99, 0.99)) + 0.2)
        return F.cross_entropy(8 * paddle.where(F.one_hot(y, 5) > 0, turned, cosine), y), cosine


class FastSpeech(nn.Layer):
    """Predicted durations that repeat rows, pitch that is embedded, a post-net."""

    def __init__(self):
        super().__init__()
        self.durations = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 1))
        self.pitch, self.out = nn.Conv1D(1, 4, 3, padding=1), nn.Linear(4, 3)
        self.post = nn.Sequential(nn.Conv1D(3, 4, 5, padding=2), nn.Tanh(), nn.Conv1D(4, 3, 5, padding=2))

    def forward(self, x, pitch):
        said = self.durations(x).squeeze(-1)
        x = x + self.pitch(pitch.unsqueeze(1)).transpose([0, 2, 1])
        repeats = paddle.to_tensor([1, 2, 1, 3, 1])
        wide = paddle.repeat_interleave(x, repeats, axis=1)
        mel = self.out(wide)
        return mel, mel + self.post(mel.transpose([0, 2, 1])).transpose([0, 2, 1]), F.mse_loss(said, paddle.log1p(repeats.astype("float32")).expand_as(said))


class Tacotron(nn.Layer):
    """Attention by places that moves with a decoder loop, which stops by a gate."""

    def __init__(self):
        super().__init__()
        self.pre, self.cell = nn.Linear(4, 4), nn.GRUCell(8, 4)
        self.query, self.place, self.score = nn.Linear(4, 3), nn.Conv1D(1, 3, 3, padding=1), nn.Linear(3, 1)
        self.out, self.gate = nn.Linear(8, 4), nn.Linear(8, 1)

    def forward(self, memory):
        b, n = memory.shape[0], memory.shape[1]
        t, frame, h = zero(), paddle.zeros([b, 4]), paddle.zeros([b, 4])
        context, sums = paddle.zeros([b, 4]), paddle.zeros([b, n])
        gates, frames = paddle.zeros([b]), paddle.zeros([0, b, 4])
        while t < 4 and gates.max() < 3.5:
            h, _ = self.cell(paddle.concat([F.relu(self.pre(frame)), context], -1), h)
            places = self.place(sums.unsqueeze(1)).transpose([0, 2, 1])
            w = F.softmax(self.score(paddle.tanh(self.query(h).unsqueeze(1) + places + memory[:, :, :3])).squeeze(-1), -1)
            sums = sums + w
            context = (w.unsqueeze(-1) * memory).sum(1)
            both = paddle.concat([h, context], -1)
            frame = self.out(both)
            gates = gates + F.sigmoid(self.gate(both)).squeeze(-1)
            frames = paddle.concat([frames, frame.unsqueeze(0)])
            t = t + 1
        return frames, gates


def spectral_convergence(x, y):
    total = []
    for size in (8, 16):
        window = paddle.to_tensor(np.hanning(size + 1)[:-1].astype("float32"))
        a, b = (paddle.fft.rfft(paddle.signal.frame(v, size, size // 4) * window.unsqueeze(-1), axis=-2).abs().clip(1e-3) for v in (x, y))
        total += [paddle.norm(a - b) / paddle.norm(b), F.l1_loss(a.log(), b.log())]
    return total


# ----- detection -----


def generalized_overlap(a, b):
    """Complete and generalized intersection over union of boxes as corners."""
    lt, rb = paddle.maximum(a[:, :2], b[:, :2]), paddle.minimum(a[:, 2:], b[:, 2:])
    inner = (rb - lt).clip(min=0).prod(1)
    area = [(v[:, 2] - v[:, 0]) * (v[:, 3] - v[:, 1]) for v in (a, b)]
    union = area[0] + area[1] - inner
    wide = (paddle.maximum(a[:, 2:], b[:, 2:]) - paddle.minimum(a[:, :2], b[:, :2])).clip(min=0)
    hull = wide[:, 0] * wide[:, 1]
    overlap = inner / (union + 1e-7)
    centers = ((a[:, :2] + a[:, 2:] - b[:, :2] - b[:, 2:]) ** 2).sum(1) / 4
    ratio = [paddle.atan((v[:, 2] - v[:, 0]) / (v[:, 3] - v[:, 1])) for v in (a, b)]
    turned = 4 / np.pi**2 * (ratio[0] - ratio[1]) ** 2
    with paddle.no_grad():
        alpha = turned / (1 - overlap + turned + 1e-7)
    return 1 - overlap + (hull - union) / hull, 1 - overlap + centers / (wide**2).sum(1) + alpha * turned


class Detr(nn.Layer):
    """Queries that attend to an image, matched greedily in a loop, with no object as a class."""

    def __init__(self):
        super().__init__()
        self.patch, self.queries = nn.Conv2D(4, 8, 4, 4), nn.Embedding(3, 8)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 1)
        self.classes, self.boxes = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x, boxes):
        memory = self.patch(x).flatten(2).transpose([0, 2, 1])
        q = self.decoder(self.queries.weight.unsqueeze(0).expand([x.shape[0], -1, -1]), memory)
        logits, found = self.classes(q)[0], F.sigmoid(self.boxes(q))[0]
        cost = (found.unsqueeze(1) - boxes.unsqueeze(0)).abs().sum(-1).detach()
        t, classes, loss = zero(), paddle.full([3], 3, "int64"), paddle.zeros([])
        while t < boxes.shape[0]:
            best = cost[:, t].argmin()
            loss = loss + F.l1_loss(paddle.gather(found, best.reshape([1])), paddle.gather(boxes, t.reshape([1])))
            classes = paddle.scatter(classes, best.reshape([1]), t.reshape([1]))
            cost = paddle.scatter(cost, best.reshape([1]), paddle.full([1, boxes.shape[0]], 1e6))
            t = t + 1
        return F.cross_entropy(logits, classes, weight=paddle.to_tensor([1.0, 1.0, 1.0, 0.1])), loss


class Distributed(nn.Layer):
    """Sides of boxes as distributions, with a quality focal loss."""

    def __init__(self):
        super().__init__()
        self.reg, self.cls, self.scale = nn.Conv2D(4, 4 * 5, 3, padding=1), nn.Conv2D(4, 2, 3, padding=1), nn.ParameterList([self.create_parameter([1])])

    def forward(self, x):
        logits = (self.reg(x) * self.scale[0]).transpose([0, 2, 3, 1]).reshape([-1, 5])
        sides = F.linear(F.softmax(logits), paddle.arange(5, dtype="float32").unsqueeze(-1)).reshape([-1, 4])
        target = paddle.linspace(0.3, 3.6, logits.shape[0])
        low = target.floor()
        at = low.astype("int64")
        dfl = F.cross_entropy(logits, at, reduction="none").flatten() * (low + 1 - target)
        dfl = dfl + F.cross_entropy(logits, at + 1, reduction="none").flatten() * (target - low)
        score = self.cls(x).flatten(2)
        quality = F.sigmoid(paddle.linspace(-2.0, 2.0, score.shape[-1])).expand_as(score)
        qfl = F.binary_cross_entropy_with_logits(score, quality, reduction="none") * (quality - F.sigmoid(score)).abs().pow(2.0)
        return sides, dfl.mean(), qfl.sum() / 7


# ----- generation -----


class Gradients(nn.Layer):
    """A discriminator with norms of its gradient, by `paddle.grad`, and normalized weights."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(4, 4, 3, padding=1), nn.Softplus(), nn.Conv2D(4, 4, 3, stride=2), nn.Silu())
        self.out = nn.Linear(36, 1)

    def forward(self, x):
        x = x * 1.0
        score = self.out(self.body(x).reshape([x.shape[0], 36]))
        (slope,) = paddle.grad(score.sum(), [x], create_graph=True)
        return score, (((slope**2).sum([1, 2, 3]).sqrt() - 1) ** 2).mean()


class GradientsOfMlp(nn.Layer):
    """The same of smooth units and distances; forces are slopes of energies."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 6), nn.Linear(6, 1)
        self.units = [F.silu, F.softplus, F.elu, F.sigmoid, F.relu, F.tanh]

    def forward(self, x):
        x = x * 1.0
        h = sum(unit(self.one(x)) for unit in self.units)
        energy = self.two(h).sum() + (x.unsqueeze(0) - x.unsqueeze(1) - 0.5).pow(2).sum(-1).sqrt().sum() + paddle.log(1 + h**2).mean()
        (force,) = paddle.grad(energy, [x], create_graph=True)
        return energy, force, force.pow(2).sum(-1).sqrt()


class DiffusionBlock(nn.Layer):
    """A block of a denoising U-net: sines of times, shifts and scales, attention over places and over a text."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 8), nn.Silu(), nn.Linear(8, 16))
        self.norm1, self.conv1 = nn.GroupNorm(2, 4, epsilon=1e-6), nn.Conv2D(4, 8, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(4, 8), nn.Conv2D(8, 4, 3, padding=1)
        self.qkv, self.text = nn.Conv2D(4, 12, 1), nn.Linear(5, 8, bias_attr=False)
        self.down, self.up = nn.Conv2D(4, 4, 3, 2, 1), nn.Conv2D(4, 4, 3, padding=1)

    def forward(self, x, t, text):
        half = paddle.exp(-np.log(1e4) * paddle.arange(4, dtype="float32") / 4)
        angles = t.astype("float32").unsqueeze(-1) * half
        shift, scale = self.time(paddle.concat([angles.sin(), angles.cos()], -1)).unsqueeze(-1).unsqueeze(-1).chunk(2, 1)
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.conv2(F.silu(self.norm2(h) * (1 + scale) + shift)) + x
        b, c, height, width = h.shape
        q, k, v = self.qkv(h).reshape([b, 3, 2, c // 2, height * width]).unbind(1)
        h = h + paddle.einsum("bhij,bhcj->bhci", F.softmax(paddle.einsum("bhci,bhcj->bhij", q, k) * 0.7), v).reshape(h.shape)
        tk, tv = self.text(text).chunk(2, -1)
        seen = F.scaled_dot_product_attention(h.flatten(2).transpose([0, 2, 1]).unsqueeze(2), tk.unsqueeze(2), tv.unsqueeze(2))
        h = h + seen.squeeze(2).transpose([0, 2, 1]).reshape(h.shape)
        return self.up(F.interpolate(self.down(h), scale_factor=2, mode="nearest"))


class Sampler(nn.Layer):
    """Implicit denoising in a loop over a table of noise levels, with guidance."""

    def __init__(self):
        super().__init__()
        self.net, self.label = nn.Sequential(nn.Linear(5, 8), nn.Silu(), nn.Linear(8, 4)), nn.Embedding(2, 4)
        self.register_buffer("kept", paddle.cumprod(paddle.linspace(0.99, 0.6, 6), 0))

    def noise(self, x, t):
        return self.net(paddle.concat([x, (t.astype("float32") / 6).expand([x.shape[0], 1])], -1))

    def forward(self, x):
        t = paddle.full([], 5, "int64")
        while t > 0:
            a, before = self.kept[t], self.kept[t - 1]
            plain_noise = self.noise(x, t)
            guided = plain_noise + 1.5 * (self.noise(x + self.label.weight[1], t) - plain_noise)
            start = ((x - (1 - a).sqrt() * guided) / a.sqrt()).clip(-2.0, 2.0)
            x = before.sqrt() * start + (1 - before).sqrt() * guided
            t = t - 1
        return x


class VectorQuantized(nn.Layer):
    """Codes by straight-through, with a moving average of the book, and adversarial hinges."""

    def __init__(self):
        super().__init__()
        self.enc, self.dec, self.book = nn.Linear(4, 3), nn.Linear(3, 4), nn.Embedding(5, 3)
        self.register_buffer("count", paddle.ones([5]))

    def forward(self, x):
        z = self.enc(x)
        distance = (z**2).sum(-1, keepdim=True) - 2 * z @ self.book.weight.t() + (self.book.weight**2).sum(-1)
        code = distance.argmin(-1)
        with paddle.no_grad():
            paddle.assign(self.count * 0.9 + F.one_hot(code, 5).sum(0) * 0.1, self.count)
        q = self.book(code)
        through = z + (q - z).detach()
        share = F.one_hot(code, 5).mean(0)
        return self.dec(through), F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach()), paddle.exp(-(share * (share + 1e-9).log()).sum())


# ----- language -----


class CachedDecoder(nn.Layer):
    """Greedy decoding whose keys and values are written into a cache of fixed size, with rotated places."""

    def __init__(self):
        super().__init__()
        self.words, self.qkv, self.out = nn.Embedding(9, 8), nn.Linear(8, 24, bias_attr=False), nn.Linear(8, 8)
        self.norm, self.head = nn.RMSNorm(8) if hasattr(nn, "RMSNorm") else nn.LayerNorm(8), nn.Linear(8, 9)
        self.register_buffer("angles", paddle.outer(paddle.arange(8, dtype="float32"), paddle.to_tensor([1.0, 0.1])))

    def turn(self, x, angle):
        a, b = x.chunk(2, -1)
        c, s = angle.cos(), angle.sin()
        return paddle.concat([a * c - b * s, b * c + a * s], -1)

    def forward(self, x):
        b = x.shape[0]
        keys, values = paddle.zeros([b, 2, 6, 4]), paddle.zeros([b, 2, 6, 4])
        t, h, logits = zero(), x, paddle.zeros([b, 9])
        while t < 6:
            q, k, v = self.qkv(self.norm(h)).reshape([b, 3, 2, 4]).unbind(1)
            angle = self.angles[t]
            q, k = self.turn(q, angle), self.turn(k, angle)
            here = (paddle.arange(6) == t).astype("float32").unsqueeze(-1)
            keys, values = (kept * (1 - here) + new.unsqueeze(2) * here for kept, new in ((keys, k), (values, v)))
            scores = (q.unsqueeze(2) @ keys.transpose([0, 1, 3, 2]) * 0.5).squeeze(2)
            scores = scores + paddle.where(paddle.arange(6) <= t, 0.0, -1e9)
            h = h + self.out((F.softmax(scores).unsqueeze(2) @ values).reshape([b, 8]))
            logits = self.head(h)
            h = h + self.words(logits.argmax(-1))
            t = t + 1
        return logits, keys


class LowRank(nn.Layer):
    """Frozen weights with low-rank additions, prefixes, a loss over shifted words with padding ignored."""

    def __init__(self):
        super().__init__()
        self.words, self.frozen = nn.Embedding(9, 4), nn.Linear(4, 4)
        self.frozen.weight.stop_gradient = self.frozen.bias.stop_gradient = True
        self.a, self.b = self.create_parameter([4, 2]), self.create_parameter([2, 4])
        self.prefix = self.create_parameter([1, 2, 4])

    def forward(self, ids):
        x = paddle.concat([self.prefix.tile([ids.shape[0], 1, 1]), self.words(ids)], 1)
        x = F.gelu(self.frozen(x) + x @ self.a @ self.b * 0.5, approximate=True)
        mask = paddle.tril(paddle.ones([x.shape[1], x.shape[1]], "bool"))
        seen = F.softmax(paddle.where(mask, x @ x.transpose([0, 2, 1]), -paddle.ones([]) * 1e4)) @ x
        logits = F.linear(seen, self.words.weight.t())[:, 2:-1]
        return F.cross_entropy(logits.reshape([-1, 9]), ids[:, 1:].flatten(), ignore_index=3, label_smoothing=0.1), logits


class Preferences(nn.Layer):
    """Direct preferences: log-probabilities of words of two answers against a fixed copy."""

    def __init__(self):
        super().__init__()
        self.net, self.fixed = nn.Linear(4, 5), nn.Linear(4, 5)

    def logs(self, net, x, ids):
        return paddle.take_along_axis(F.log_softmax(net(x), -1), ids.unsqueeze(-1), 2).squeeze(-1).sum(-1)

    def forward(self, x, ids):
        good, bad = ids, (ids + 1) % 5
        with paddle.no_grad():
            fixed = self.logs(self.fixed, x, good) - self.logs(self.fixed, x, bad)
        margin = 0.1 * (self.logs(self.net, x, good) - self.logs(self.net, x, bad) - fixed)
        return -F.log_sigmoid(margin).mean(), (margin > 0).astype("float32").mean(), F.relu(1 - margin) ** 2


class Experts(nn.Layer):
    """The best two of four experts, gathered and added back by `index_add`, with a loss of balance."""

    def __init__(self):
        super().__init__()
        self.gate, self.w1, self.w2 = nn.Linear(4, 4, bias_attr=False), self.create_parameter([4, 4, 6]), self.create_parameter([4, 6, 4])

    def forward(self, x):
        p = F.softmax(self.gate(x))
        weights, chosen = paddle.topk(p, 2)
        weights = weights / weights.sum(-1, keepdim=True)
        out = paddle.zeros_like(x)
        for e in range(4):
            rows, column = paddle.where(chosen == e)
            rows, column = rows.flatten(), column.flatten()
            y = F.silu(paddle.gather(x, rows) @ self.w1[e]) @ self.w2[e]
            out = paddle.index_add(out, rows, 0, y * paddle.gather_nd(weights, paddle.stack([rows, column], 1)).unsqueeze(-1))
        share = F.one_hot(chosen, 4).sum(1).mean(0)
        return out, 4 * (share * p.mean(0)).sum(), paddle.logsumexp(self.gate(x), -1).pow(2).mean()


# ----- graphs -----

edges = np.array([[0, 1, 2, 3, 4, 0, 2], [1, 2, 0, 4, 3, 3, 4]], "int64")


class Sage(nn.Layer):
    """Means and maxima of neighbours, edges with numbers, a readout over graphs."""

    def __init__(self):
        super().__init__()
        self.own, self.other, self.edge = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(6, 1)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        mean = paddle.geometric.send_u_recv(x, source, target, "mean")
        most = paddle.geometric.send_u_recv(x, source, target, "max", out_size=5)
        weight = F.sigmoid(self.edge(paddle.concat([x[source], x[target]], -1)))
        both = paddle.geometric.send_ue_recv(x, weight, source, target, "mul", "sum")
        h = F.normalize(F.relu(self.own(x) + self.other(mean + most + both)))
        graph = paddle.to_tensor([0, 0, 0, 1, 1])
        return paddle.geometric.segment_sum(h, graph), paddle.geometric.segment_max(h, graph), paddle.geometric.send_uv(h, h, source, target, "add")


class Equivariant(nn.Layer):
    """Moves of points along their differences, over several rounds in a loop."""

    def __init__(self):
        super().__init__()
        self.message, self.move, self.update = nn.Linear(7, 4), nn.Linear(4, 1, bias_attr=False), nn.Linear(7, 3)

    def forward(self, h, x, edges):
        source, target, t = edges[0], edges[1], zero()
        while t < 3:
            apart = paddle.gather(x, source) - paddle.gather(x, target)
            far = (apart**2).sum(-1, keepdim=True)
            m = F.silu(self.message(paddle.concat([paddle.gather(h, source), paddle.gather(h, target), far], -1)))
            x = x + paddle.scatter_nd_add(paddle.zeros_like(x), target.unsqueeze(-1), apart / (far.sqrt() + 1) * self.move(m)) / 4
            h = h + self.update(paddle.concat([h, paddle.geometric.segment_sum(paddle.gather(m, edges[1].argsort()), edges[1].sort())], -1))
            t = t + 1
        return h, x


# ----- control and quantization -----


def returns(rewards, values):
    """Advantages by a loop that runs backwards, and a clipped surrogate."""
    steps = rewards.shape[0]
    t, last, rows = paddle.full([], steps - 1, "int64"), paddle.zeros([rewards.shape[1]]), []
    advantages = paddle.zeros(rewards.shape)
    while t >= 0:
        following = paddle.where(t + 1 < steps, values[paddle.minimum(t + 1, paddle.full([], steps - 1, "int64"))], paddle.zeros([rewards.shape[1]]))
        last = rewards[t] + 0.9 * following - values[t] + 0.9 * 0.95 * last
        advantages = paddle.scatter(advantages, t.reshape([1]), last.unsqueeze(0))
        t = t - 1
    return advantages, (advantages - advantages.mean()) / (advantages.std() + 1e-6), F.smooth_l1_loss(values, (advantages + values).detach())


class SoftActor(nn.Layer):
    """A squashed normal with its density, two critics, a temperature, a target by Polyak averages."""

    def __init__(self):
        super().__init__()
        self.policy, self.q1, self.q2 = nn.Linear(4, 4), nn.Linear(6, 1), nn.Linear(6, 1)
        self.log_alpha = self.create_parameter([1], is_bias=True)

    def forward(self, x, noise):
        mean, log_std = self.policy(x).chunk(2, -1)
        log_std = log_std.clip(-5, 1)
        raw = mean + log_std.exp() * noise[:, :2].detach()
        action = raw.tanh()
        log = (paddle.distribution.Normal(mean, log_std.exp()).log_prob(raw) - 2 * (np.log(2) - raw - F.softplus(-2 * raw))).sum(-1, keepdim=True)
        both = paddle.concat([x, action], -1)
        q = paddle.minimum(self.q1(both), self.q2(both))
        return (self.log_alpha.exp().detach() * log - q).mean(), -(self.log_alpha * (log + 2).detach()).mean(), action


def distributional(x, y):
    """Quantiles of returns with a Huber loss, and a projection of a categorical return."""
    quantiles = (paddle.arange(4, dtype="float32") + 0.5) / 4
    error = y.detach().unsqueeze(1) - x.unsqueeze(2)
    huber = paddle.where(error.abs() < 0.5, 0.5 * error**2, 0.5 * (error.abs() - 0.25))
    loss = ((quantiles.reshape([1, 4, 1]) - (error.detach() < 0).astype("float32")).abs() * huber).mean(2).sum(1).mean()
    place = (y.detach().clip(-0.9, 0.9) + 1) * 1.5
    low = place.floor()
    spread = (F.one_hot(low.astype("int64"), 4) * (low + 1 - place).unsqueeze(-1) + F.one_hot(low.astype("int64") + 1, 4) * (place - low).unsqueeze(-1)).mean(1)
    return loss, -(spread * F.log_softmax(x)).sum(-1).mean()


class FakeQuantized(nn.Layer):
    """Rounded weights and activations by straight-through, learned steps, batch norm folded into a convolution."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(4, 3, 3, bias_attr=False), nn.BatchNorm2D(3)
        self.step = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.05))

    def rounded(self, x, step, low, high):
        y = x / step
        y = y + (y.clip(low, high).round() - y).detach()
        return y.clip(low, high) * step

    def forward(self, x):
        mean, var = x.mean([0, 2, 3]), x.var([0, 2, 3])
        factor = self.norm.weight / (self.norm._variance + self.norm._epsilon).sqrt()
        weight = self.conv.weight * factor.reshape([-1, 1, 1, 1])
        scale = weight.abs().amax([1, 2, 3], keepdim=True).detach() / 127
        y = F.conv2d(self.rounded(x, self.step, -127, 127), self.rounded(weight, scale, -127, 127), self.norm.bias - self.norm._mean * factor)
        return y, mean + var


class Binarized(nn.Layer):
    """Signs with a clipped slope, ternary weights, knowledge from a teacher."""

    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Linear(4, 5), nn.Linear(4, 5)

    def forward(self, x):
        w = self.student.weight
        limit = 0.7 * w.abs().mean()
        ternary = paddle.sign(w) * (w.abs() > limit).astype(w.dtype)
        w = w + (ternary * w.abs().mean() - w).detach()
        x = x.clip(-1, 1) + (paddle.sign(x) - x.clip(-1, 1)).detach()
        student = F.linear(x, w, self.student.bias)
        teacher = self.teacher(x).detach() if paddle.in_dynamic_mode() else self.teacher(x).detach()
        return F.kl_div(F.log_softmax(student / 2), F.softmax(teacher / 2), reduction="batchmean") * 4, student


for group, name, make, *inputs in [
    ("recommenders", "factorization_machine", DeepFm, ids, real(3, 1, low=0.1, high=0.9)),
    ("recommenders", "interest", Interest, ids, whole(3, below=4) + 1),
    ("recommenders", "crosses", Cross, x2),
    ("recommenders", "two_towers", TwoTowers, x2, y2),
    ("speech", "speaker_network", Tdnn, real(3, 4, 6), whole(3, below=5)),
    ("speech", "durations", FastSpeech, x3, real(2, 5)),
    ("speech", "attention_that_moves", Tacotron, x3),
    ("detection", "queries", Detr, x4, real(2, 4, low=0.1, high=0.9)),
    ("detection", "sides_as_distributions", Distributed, x4),
    ("generation", "gradient_penalty", Gradients, x4),
    ("generation", "forces", GradientsOfMlp, x2),
    ("generation", "diffusion_block", DiffusionBlock, x4, whole(2, below=9), real(2, 3, 5)),
    ("generation", "implicit_sampler", Sampler, x2),
    ("generation", "book_of_codes", VectorQuantized, x2),
    ("words", "cached_decoder", CachedDecoder, real(2, 8)),
    ("words", "low_rank_additions", LowRank, ids),
    ("words", "preferences", Preferences, real(3, 4, 4), whole(3, 4, below=5)),
    ("words", "experts_gathered", Experts, real(6, 4)),
    ("graphs", "neighbours", Sage, real(5, 3), edges),
    ("graphs", "equivariant", Equivariant, real(5, 3), real(5, 3, seed=2), edges),
    ("control", "soft_actor", SoftActor, x2, y2),
    ("quantization", "folded", FakeQuantized, x4),
    ("quantization", "binarized", Binarized, x2),
]:
    case(group, name, make, *inputs)

corners = np.array([[0, 0, 4.2, 4], [1, 1.1, 5, 5.3], [0.4, 2, 3, 5.5]], "float32")
for group, name, code, *inputs in [
    ("speech", "spectral_convergence", spectral_convergence, real(2, 64), real(2, 64, seed=3)),
    ("detection", "overlaps", generalized_overlap, corners, corners[:, [1, 0, 3, 2]] + 0.55),
    ("control", "generalized_advantages", returns, real(5, 3), real(5, 3, seed=2)),
    ("control", "distributional", distributional, x2, y2),
]:
    plain(group, name, code, *inputs)
