"""Networks as they are written for a task: blocks of vision models, heads of detectors, language models with caches and decoders."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, real, whole
from paddle import nn

x4 = real(2, 4, 6, 6)


def zero():
    return paddle.zeros([], dtype="int64")


# ----- vision -----


class ResNext(nn.Layer):
    """Grouped convolutions, an excitation, stochastic depth that is off."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(4, 8, 1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU(),
            nn.Conv2D(8, 8, 3, padding=1, groups=4, stride=2, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU(),
            nn.Conv2D(8, 6, 1), nn.BatchNorm2D(6),
        )  # fmt: skip
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(6, 2, 1), nn.Hardswish(), nn.Conv2D(2, 6, 1), nn.Hardsigmoid())
        self.short = nn.Sequential(nn.AvgPool2D(2, ceil_mode=True), nn.Conv2D(4, 6, 1), nn.BatchNorm2D(6))

    def forward(self, x):
        y = self.body(x)
        return F.relu(y * self.gate(y) + self.short(x))


class SwinBlock(nn.Layer):
    """Shifted windows with a mask and a table of relative positions."""

    def __init__(self, dim=4, window=2, heads=2):
        super().__init__()
        self.w, self.h = window, heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.table = self.create_parameter([(2 * window - 1) ** 2, heads])
        at = np.stack(np.meshgrid(range(window), range(window), indexing="ij")).reshape(2, -1)
        relative = at[:, :, None] - at[:, None] + window - 1
        self.register_buffer("index", paddle.to_tensor(relative[0] * (2 * window - 1) + relative[1]))
        self.mlp = nn.Sequential(nn.Linear(dim, 8), nn.GELU(), nn.Linear(8, dim))

    def windows(self, x):
        b, h, w, c = x.shape
        return x.reshape([b, h // self.w, self.w, w // self.w, self.w, c]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, self.w**2, c])

    def forward(self, x):
        b, h, w, c = x.shape
        regions = paddle.zeros([1, h, w, 1])
        regions[:, -1:] = 1.0
        regions[:, :, -1:] = regions[:, :, -1:] + 2.0
        r = self.windows(regions).squeeze(-1)
        mask = paddle.where((r.unsqueeze(1) - r.unsqueeze(2)) != 0, paddle.full([], -100.0), paddle.zeros([]))
        y = self.windows(paddle.roll(self.norm1(x), [-1, -1], [1, 2]))
        q, k, v = self.qkv(y).reshape([-1, self.w**2, 3, self.h, c // self.h]).transpose([2, 0, 3, 1, 4]).unbind(0)
        scores = q @ k.transpose([0, 1, 3, 2]) * (c // self.h) ** -0.5
        scores = scores + self.table[self.index.flatten()].reshape([self.w**2, self.w**2, self.h]).transpose([2, 0, 1]).unsqueeze(0)
        scores = scores.reshape([b, -1, self.h, self.w**2, self.w**2]) + mask.unsqueeze(1).unsqueeze(0)
        y = (F.softmax(scores.reshape([-1, self.h, self.w**2, self.w**2])) @ v).transpose([0, 2, 1, 3]).reshape([-1, self.w**2, c])
        y = self.out(y).reshape([b, h // self.w, w // self.w, self.w, self.w, c]).transpose([0, 1, 3, 2, 4, 5]).reshape([b, h, w, c])
        x = x + paddle.roll(y, [1, 1], [1, 2])
        return x + self.mlp(self.norm2(x))


class Vit(nn.Layer):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2D(3, 8, 4, stride=4)
        self.cls = self.create_parameter([1, 1, 8], default_initializer=nn.initializer.TruncatedNormal(std=0.5))
        self.pos = self.create_parameter([1, 5, 8], default_initializer=nn.initializer.Normal())
        self.layers = nn.LayerList([nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", normalize_before=True) for _ in range(2)])
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose([0, 2, 1])
        x = paddle.concat([self.cls.expand([x.shape[0], -1, -1]), x], 1) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0])


class DeepLab(nn.Layer):
    """Dilated convolutions beside each other, a pooled branch, an upsampled output with an auxiliary one."""

    def __init__(self):
        super().__init__()
        self.branches = nn.LayerList([nn.Conv2D(4, 3, 3, padding=d, dilation=d) for d in (1, 2, 3)])
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(4, 3, 1), nn.ReLU())
        self.norm, self.out, self.aux = nn.BatchNorm2D(12), nn.Conv2D(12, 5, 1), nn.Conv2D(4, 5, 1)

    def forward(self, x, y):
        size = x.shape[2:]
        parts = [F.leaky_relu(b(x)) for b in self.branches] + [F.interpolate(self.pool(x), size, mode="bilinear", align_corners=True)]
        out = F.interpolate(self.out(self.norm(paddle.concat(parts, 1))), scale_factor=2, mode="bilinear")
        aux = F.interpolate(self.aux(x), scale_factor=2, mode="nearest")
        return F.cross_entropy(out.transpose([0, 2, 3, 1]), y, ignore_index=4) + 0.4 * F.cross_entropy(aux, y, axis=1, ignore_index=4), out.argmax(1)


class YoloHead(nn.Layer):
    """Anchors, objectness, boxes by IoU, targets assigned by the best anchor."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(4, 2 * 7, 1)
        self.register_buffer("anchors", paddle.to_tensor([[1.0, 2.0], [2.0, 1.0]]))

    def forward(self, x, box, cls):
        y = self.conv(x).reshape([2, 2, 7, 6, 6]).transpose([0, 1, 3, 4, 2])
        grid = paddle.stack(paddle.meshgrid(paddle.arange(6.0), paddle.arange(6.0)), -1)
        xy = (F.sigmoid(y[..., :2]) * 2 - 0.5 + grid) / 6
        wh = (F.sigmoid(y[..., 2:4]) * 2) ** 2 * self.anchors.reshape([1, 2, 1, 1, 2]) / 6
        target = box.detach().reshape([2, 1, 1, 1, 4])
        low, high = paddle.maximum(xy - wh / 2, target[..., :2] - target[..., 2:] / 2), paddle.minimum(xy + wh / 2, target[..., :2] + target[..., 2:] / 2)
        common = (high - low).clip(0.0).prod(-1)
        iou = common / (wh.prod(-1) + target[..., 2:].prod(-1) - common + 1e-7)
        best = F.one_hot(iou.reshape([2, -1]).argmax(-1), 72).reshape(iou.shape)
        labels = F.one_hot(cls, 2).reshape([2, 1, 1, 1, 2]).expand([2, 2, 6, 6, 2])
        obj = F.binary_cross_entropy_with_logits(y[..., 4], best * iou.detach().clip(0.0))
        kind = (F.binary_cross_entropy_with_logits(y[..., 5:], labels, reduction="none") * best.unsqueeze(-1)).sum()
        return obj + kind + ((1 - iou) * best).sum()


class Centers(nn.Layer):
    """A heat map with the focal loss of CenterNet, and the best places of it."""

    def __init__(self):
        super().__init__()
        self.up = nn.Sequential(nn.Conv2DTranspose(4, 4, 4, stride=2, padding=1), nn.BatchNorm2D(4), nn.ReLU())
        self.heat, self.size = nn.Conv2D(4, 2, 1), nn.Conv2D(4, 2, 3, padding=1)

    def forward(self, x):
        h = self.up(x)
        heat = F.sigmoid(self.heat(h)).clip(1e-4, 1 - 1e-4)
        keep = (F.max_pool2d(heat, 3, 1, 1) == heat).astype("float32")
        scores, at = paddle.topk((heat * keep).reshape([2, -1]), 3)
        size = paddle.take_along_axis(self.size(h).reshape([2, 2, -1]), (at % 144).unsqueeze(1).expand([2, 2, 3]), 2)
        target = paddle.cast(heat.detach() > 0.8, "float32")
        loss = -(target * (1 - heat) ** 2 * paddle.log(heat) + (1 - target) * heat**2 * paddle.log(1 - heat)).sum()
        return loss, scores, size


class Nerf(nn.Layer):
    """Encoded points along rays, and their colours by transmittance."""

    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(15, 8), nn.Softplus(), nn.Linear(8, 4))

    def forward(self, origin, direction):
        t = paddle.linspace(0.1, 1.0, 5)
        points = origin.unsqueeze(1) + F.normalize(direction, axis=-1).unsqueeze(1) * t.reshape([1, -1, 1])
        parts = [points] + [f(points * 2.0**k) for k in range(2) for f in (paddle.sin, paddle.cos)]
        out = self.mlp(paddle.concat(parts, -1))
        alpha = 1 - paddle.exp(-F.relu(out[..., 3] + 0.5) * 0.2)
        through = paddle.cumprod(paddle.concat([paddle.ones([3, 1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        weights = alpha * through
        return (weights.unsqueeze(-1) * F.sigmoid(out[..., :3])).sum(1), (weights * t).sum(-1)


class StyleBlock(nn.Layer):
    """Convolutions whose weights are modulated per sample, and instances normalized with given statistics."""

    def __init__(self):
        super().__init__()
        self.affine, self.weight = nn.Linear(4, 4), self.create_parameter([3, 4, 3, 3])
        self.norm, self.style = nn.InstanceNorm2D(3, weight_attr=False, bias_attr=False), nn.Linear(4, 6)

    def forward(self, x, z):
        s = self.affine(z).unsqueeze(1).unsqueeze(-1).unsqueeze(-1) + 1
        w = self.weight.unsqueeze(0) * s
        w = w * paddle.rsqrt((w * w).sum([2, 3, 4], keepdim=True) + 1e-8)
        y = F.conv2d(x.reshape([1, 8, 6, 6]), w.reshape([6, 4, 3, 3]), padding=1, groups=2).reshape([2, 3, 6, 6])
        scale, shift = self.style(z).unsqueeze(-1).unsqueeze(-1).chunk(2, 1)
        return F.upsample(self.norm(y) * (scale + 1) + shift, scale_factor=2, mode="bicubic")


# ----- language -----


class Bert(nn.Layer):
    """Three embeddings, padding that is masked, masked words that are predicted with the embedding's weights."""

    def __init__(self):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(11, 8, padding_idx=0), nn.Embedding(6, 8), nn.Embedding(2, 8)
        self.norm = nn.LayerNorm(8, epsilon=1e-12)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu"), 2)
        self.pooler, self.turn = nn.Linear(8, 8), nn.Linear(8, 8)
        self.bias = self.create_parameter([11], is_bias=True)

    def forward(self, ids, kinds, at):
        mask = ((ids == 0).astype("float32") * -1e4).unsqueeze([1, 2])
        x = self.words(ids) + self.places(paddle.arange(ids.shape[1]).unsqueeze(0)) + self.kinds(kinds)
        x = self.encoder(self.norm(x), mask)
        masked = paddle.gather(x.reshape([-1, 8]), at.flatten())
        logits = paddle.matmul(F.gelu(self.turn(masked)), self.words.weight, transpose_y=True) + self.bias
        return F.tanh(self.pooler(x[:, 0])), F.cross_entropy(logits, paddle.gather(ids.flatten(), at.flatten()))


class Gpt(nn.Layer):
    """A prompt, and then words one by one, with keys and values that are written to places of a cache."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(9, 8), nn.Embedding(8, 8)
        self.qkv, self.out, self.n1, self.n2 = nn.Linear(8, 24), nn.Linear(8, 8), nn.LayerNorm(8), nn.LayerNorm(8)
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(True), nn.Linear(16, 8))

    def block(self, x, t, keys, values):
        n = x.shape[1]
        q, k, v = self.qkv(self.n1(x)).reshape([2, n, 3, 2, 4]).transpose([2, 0, 3, 1, 4]).unbind(0)
        at = t + paddle.arange(n)
        spread = F.one_hot(at, 8)
        keys, values = keys + paddle.einsum("bhnd,nt->bhtd", k, spread), values + paddle.einsum("bhnd,nt->bhtd", v, spread)
        seen = paddle.arange(8).unsqueeze(0) <= at.unsqueeze(1)
        scores = paddle.where(seen, paddle.matmul(q, keys, transpose_y=True) / 2, paddle.full([], -1e9))
        x = x + self.out(paddle.matmul(F.softmax(scores), values).transpose([0, 2, 1, 3]).flatten(2))
        return x + self.mlp(self.n2(x)), keys, values

    def forward(self, ids):
        keys = values = paddle.zeros([2, 2, 8, 4])
        t = zero()
        x, keys, values = self.block(self.words(ids) + self.places(paddle.arange(3)), t, keys, values)
        t, word, total = t + 3, ids[:, -1], paddle.zeros([2])
        while t < 7:
            x, keys, values = self.block((self.words(word) + self.places(t)).unsqueeze(1), t, keys, values)
            logp = F.log_softmax(paddle.matmul(x[:, 0], self.words.weight, transpose_y=True))
            word = logp.argmax(-1)
            total = total + paddle.take_along_axis(logp, word.unsqueeze(-1), 1).squeeze(-1)
            t = t + 1
        return total, word


class T5(nn.Layer):
    """RMS norms, buckets of relative positions, gated units, an encoder that a decoder attends to, shared weights."""

    def __init__(self):
        super().__init__()
        self.words, self.bias = nn.Embedding(7, 4), nn.Embedding(5, 2)
        self.scale = self.create_parameter([4], default_initializer=nn.initializer.Constant(1.0))
        self.q, self.k, self.v, self.o = (nn.Linear(4, 4, bias_attr=False) for _ in range(4))
        self.w0, self.w1, self.w2 = nn.Linear(4, 6, bias_attr=False), nn.Linear(4, 6, bias_attr=False), nn.Linear(6, 4, bias_attr=False)

    def norm(self, x):
        return x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.scale

    def attend(self, x, y, causal):
        q, k, v = (f(a).reshape([2, -1, 2, 2]).transpose([0, 2, 1, 3]) for f, a in ((self.q, x), (self.k, y), (self.v, y)))
        distance = paddle.arange(k.shape[2]).unsqueeze(0) - paddle.arange(q.shape[2]).unsqueeze(1)
        scores = q @ k.transpose([0, 1, 3, 2]) + self.bias(distance.clip(-2, 2) + 2).transpose([2, 0, 1])
        if causal:
            scores = scores + paddle.triu(paddle.full([3, 3], -1e9), 1)
        return self.o((F.softmax(scores, -1) @ v).transpose([0, 2, 1, 3]).reshape([2, -1, 4]))

    def forward(self, source, target):
        x, y = self.words(source), self.words(target)
        for _ in range(2):
            x = x + self.attend(self.norm(x), self.norm(x), False)
            n = self.norm(x)
            x = x + self.w2(F.gelu(self.w0(n)) * self.w1(n))
        y = y + self.attend(self.norm(y), self.norm(y), True)
        y = y + self.attend(self.norm(y), self.norm(x), False)
        logits = self.norm(y) @ self.words.weight.t() * 0.5
        return F.cross_entropy(logits[:, :-1].reshape([-1, 7]), target[:, 1:].flatten(), ignore_index=0)


class Seq2Seq(nn.Layer):
    """An LSTM reads, a cell writes with additive attention, until all rows have ended."""

    def __init__(self):
        super().__init__()
        self.embed, self.encoder = nn.Embedding(8, 4), nn.LSTM(4, 3, direction="bidirect")
        self.cell, self.out = nn.LSTMCell(10, 6), nn.Linear(12, 8)
        self.w, self.u, self.v = nn.Linear(6, 4), nn.Linear(6, 4, bias_attr=False), nn.Linear(4, 1, bias_attr=False)

    def forward(self, source, lengths):
        memory, (h, c) = self.encoder(self.embed(source), sequence_length=lengths)
        h, c = (s.transpose([1, 0, 2]).reshape([2, 6]) for s in (h, c))
        mask = (paddle.arange(5).unsqueeze(0) >= lengths.unsqueeze(1)).astype("float32") * -1e9
        keys, word, done, t, outs = self.u(memory), paddle.ones([2], "int64"), paddle.zeros([2], "bool"), zero(), []
        while paddle.logical_and(t < 4, paddle.logical_not(done.all())):
            weights = F.softmax(self.v(paddle.tanh(keys + self.w(h).unsqueeze(1))).squeeze(-1) + mask, -1)
            context = paddle.bmm(weights.unsqueeze(1), memory).squeeze(1)
            y, (h, c) = self.cell(paddle.concat([self.embed(word), context], -1), (h, c))
            logits = self.out(paddle.concat([y, context], -1))
            word = logits.argmax(-1)
            done = paddle.logical_or(done, word == 7)
            outs.append(logits)
            t = t + 1
        return paddle.stack(outs, 1)


class Rotary(nn.Layer):
    """Grouped queries, rotated pairs, a window, and experts of which two are taken."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(8, 4), nn.Linear(8, 8)
        self.router = nn.Linear(8, 3)
        self.up, self.down = self.create_parameter([3, 8, 6]), self.create_parameter([3, 6, 8])

    def rotate(self, x):
        n = x.shape[1]
        angle = paddle.arange(n, dtype="float32").unsqueeze(1) * paddle.to_tensor([1.0, 0.1])
        cos, sin = (paddle.repeat_interleave(f(angle), 2, -1).reshape([1, n, 1, 4]) for f in (paddle.cos, paddle.sin))
        turned = paddle.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
        return x * cos + turned * sin

    def forward(self, x):
        q = self.rotate(self.q(x).reshape([2, 5, 2, 4]))
        k = self.rotate(self.k(x).reshape([2, 5, 1, 4])).expand([2, 5, 2, 4])
        v = self.v(x).reshape([2, 5, 1, 4]).expand([2, 5, 2, 4])
        at = paddle.arange(5)
        far = paddle.logical_or(at.unsqueeze(0) > at.unsqueeze(1), at.unsqueeze(1) - at.unsqueeze(0) > 2)
        scores = paddle.einsum("bqhd,bkhd->bhqk", q, k).masked_fill(far, -1e9) / 2
        x = x + self.o(paddle.einsum("bhqk,bkhd->bqhd", F.softmax(scores), v).flatten(2))
        flat = x.reshape([10, 8])
        top, which = paddle.topk(F.softmax(self.router(flat)), 2)
        gates = paddle.put_along_axis(paddle.zeros([10, 3]), which, top / top.sum(-1, keepdim=True), 1)
        y = paddle.einsum("ne,nd,edf->nef", gates, flat, self.up)
        return x + paddle.einsum("nef,efd->nd", F.silu(y), self.down).reshape(x.shape), gates.mean(0).square().sum()


class CharCnn(nn.Layer):
    """Highways over pooled convolutions of characters."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.convs = nn.LayerList([nn.Conv1D(4, 3, k, data_format="NLC") for k in (1, 2, 3)])
        self.gates, self.lines = nn.LayerList([nn.Linear(9, 9) for _ in range(2)]), nn.LayerList([nn.Linear(9, 9) for _ in range(2)])

    def forward(self, ids):
        x = self.embed(ids)
        x = paddle.concat([c(x).max(1) for c in self.convs], -1)
        for gate, line in zip(self.gates, self.lines):
            g = F.sigmoid(gate(x) - 2)
            x = g * F.relu(line(x)) + (1 - g) * x
        return x


class CrfTagger(nn.Layer):
    """A bidirectional GRU, and the likelihood of tags in a loop over time, with rows of other lengths."""

    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(4, 3, direction="bidirect"), nn.Linear(6, 3)
        self.moves = self.create_parameter([3, 3])

    def forward(self, x, tags, lengths):
        scores = self.out(self.rnn(x)[0])
        alpha, gold, t = scores[:, 0], paddle.take_along_axis(scores[:, 0], tags[:, :1], 1).squeeze(-1), paddle.ones([], "int64")
        while t < 4:
            at = t.reshape([1])
            now, before = paddle.index_select(tags, at, 1), paddle.index_select(tags, at - 1, 1)
            emit = paddle.index_select(scores, at, 1).squeeze(1)
            live = (t < lengths).astype("float32")
            new = paddle.logsumexp(alpha.unsqueeze(-1) + self.moves, 1) + emit
            alpha = new * live.unsqueeze(-1) + alpha * (1 - live).unsqueeze(-1)
            step = paddle.take_along_axis(emit, now, 1).squeeze(-1) + paddle.gather_nd(self.moves, paddle.concat([before, now], -1))
            gold = gold + step * live
            t = t + 1
        return (paddle.logsumexp(alpha, -1) - gold).mean()


class Conformer(nn.Layer):
    """Half steps around attention and a gated depthwise convolution."""

    def __init__(self):
        super().__init__()
        self.ff = nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 8), nn.Silu(), nn.Linear(8, 6))
        self.norm, self.attend = nn.LayerNorm(6), nn.MultiHeadAttention(6, 2)
        self.p1, self.depth, self.bn, self.p2 = nn.Conv1D(6, 12, 1), nn.Conv1D(6, 6, 3, padding=1, groups=6), nn.BatchNorm1D(6), nn.Conv1D(6, 6, 1)

    def forward(self, x, lengths):
        keep = paddle.arange(5).unsqueeze(0) < lengths.unsqueeze(1)
        x = x + 0.5 * self.ff(x)
        n = self.norm(x)
        x = x + self.attend(n, n, n, keep.unsqueeze([1, 2]))
        y = F.glu(self.p1((x * keep.unsqueeze(-1).astype("float32")).transpose([0, 2, 1])), 1)
        x = x + self.p2(F.silu(self.bn(self.depth(y)))).transpose([0, 2, 1])
        return x + 0.5 * self.ff(x)


ids, kinds = np.array([[3, 5, 1, 7, 0, 0], [2, 9, 4, 4, 8, 1]]), whole(2, 6, below=2)
for group, name, make, *inputs in [
    ("vision", "resnext_block", ResNext, x4),
    ("vision", "swin_block_masked", SwinBlock, real(2, 4, 4, 4)),
    ("vision", "vit_with_token", Vit, real(2, 3, 8, 8)),
    ("vision", "deeplab", DeepLab, x4, whole(2, 12, 12, below=5)),
    ("vision", "yolo_by_hand", YoloHead, x4, real(2, 4, low=0.2, high=0.8), np.array([0, 1])),
    ("vision", "center_heat", Centers, x4),
    ("vision", "radiance_field", Nerf, real(3, 3), real(3, 3, seed=1)),
    ("vision", "modulated_style", StyleBlock, x4, real(2, 4)),
    ("language", "bert_masked", Bert, ids, kinds, np.array([[1, 3], [7, 10]])),
    ("language", "gpt_generates", Gpt, whole(2, 3, below=9)),
    ("language", "t5", T5, whole(2, 4, below=7), whole(2, 3, below=7, seed=1)),
    ("language", "seq2seq_attention", Seq2Seq, whole(2, 5, below=8), np.array([5, 3])),
    ("language", "rotary_experts", Rotary, real(2, 5, 8)),
    ("language", "character_highway", CharCnn, whole(3, 6, below=10)),
    ("language", "crf_tagger", CrfTagger, real(2, 4, 4), whole(2, 4, below=3), np.array([4, 2])),
    ("language", "conformer", Conformer, real(2, 5, 6), np.array([5, 3])),
]:  # fmt: skip
    case(group, name, make, *inputs)
