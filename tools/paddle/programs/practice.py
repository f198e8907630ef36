"""Programs as people write them: samplers, renderers, filters, routing, decoding, and pooling of volumes."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, plain, real, whole
from paddle import nn

x2, x3, x4, x5, y2 = real(3, 4), real(2, 5, 4), real(2, 3, 8, 8), real(1, 2, 4, 4, 4), real(3, 4, seed=1)


def zero():
    return paddle.zeros([], dtype="int64")


def volumes(x):
    out, places = F.max_pool3d(x, 2, return_mask=True)
    wide = F.max_unpool3d(out, places, 2)
    adaptive = F.adaptive_max_pool3d(x, [2, 3, 1], return_mask=True)[0]
    return wide, adaptive, F.fractional_max_pool3d(x, [2, 3, 2], random_u=0.3), F.max_pool3d(x, [2, 3, 2], [1, 2, 2], [1, 1, 0], return_mask=True)[0]


def pyramid(x):
    small = F.interpolate(x, [4, 3], mode="bilinear", antialias=True)
    smaller = F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True)
    return small.mean() + (smaller**2).sum(), F.interpolate(small, [6, 6], mode="bicubic", antialias=True)


def steps(x, y):
    """Functions that have no slopes, beside some that have."""
    votes = paddle.mode(paddle.round(x * 2), 1)[0]
    rank = paddle.linalg.matrix_rank(x @ x.t(), atol=0.1, rtol=0.01)
    part = paddle.divide(x, y, rounding_mode="trunc").detach()
    return votes * x[:, 0], rank, part * x, paddle.nextafter(x, y).detach() + y, paddle.nn.clip.clip_by_norm(x.detach(), 1.0) * y


class Weighted(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.line = nn.utils.weight_norm(nn.Conv1D(4, 6, 3, padding=1)), nn.utils.weight_norm(nn.Linear(6, 2), dim=1)

    def forward(self, x):
        return self.line(F.gelu(self.conv(x.transpose([0, 2, 1]))).mean(-1))


class Rendered(nn.Layer):
    """Colours along rays through a field of densities, until the rays are opaque."""

    def __init__(self):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(9, 16), nn.Softplus(), nn.Linear(16, 4))

    def forward(self, origin, way):
        t, light, colour = paddle.to_tensor(0.1), paddle.ones([3, 1]), paddle.zeros([3, 3])
        while paddle.logical_and(t < 2.0, light.max() > 0.05):
            place = origin + t * way
            out = self.field(paddle.concat([place, paddle.sin(2 * place), paddle.cos(2 * place)], -1))
            alpha = 1 - paddle.exp(-F.softplus(out[:, :1]) * 0.3)
            colour, light = colour + light * alpha * F.sigmoid(out[:, 1:]), light * (1 - alpha)
            t = t + 0.3
        return colour, light


class Denoised(nn.Layer):
    """Steps of a sampler with a schedule, guided by a condition."""

    def __init__(self):
        super().__init__()
        self.net, self.time = nn.Sequential(nn.Linear(8, 16), nn.Silu(), nn.Linear(16, 4)), nn.Embedding(6, 4)

    def forward(self, x, condition):
        betas = paddle.linspace(0.05, 0.3, 6)
        kept, step = paddle.cumprod(1 - betas, 0), paddle.full([], 5, dtype="int64")
        while step >= 0:
            time = self.time(step.reshape([1])).expand([3, 4])
            with_it, without = self.net(paddle.concat([x + time, condition], -1)), self.net(paddle.concat([x + time, paddle.zeros_like(condition)], -1))
            noise = without + 1.5 * (with_it - without)
            x = (x - betas[step] / paddle.sqrt(1 - kept[step]) * noise) / paddle.sqrt(1 - betas[step])
            if step > 0:
                x = x + 0.1 * paddle.sqrt(betas[step]) * condition
            step = step - 1
        return x


class Routed(nn.Layer):
    """Capsules whose couplings are found by agreement."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([5, 3, 4, 2])

    def forward(self, x):
        votes = paddle.einsum("nic,iocd->niod", x, self.weight)
        logits, t = paddle.zeros([2, 5, 3]), zero()
        out = paddle.zeros([2, 3, 2])
        while t < 3:
            total = (F.softmax(logits, 2).unsqueeze(-1) * votes).sum(1)
            size = (total * total).sum(-1, keepdim=True)
            out = total * size / (1 + size) / paddle.sqrt(size + 1e-8)
            logits, t = logits + (votes * out.unsqueeze(1)).sum(-1), t + 1
        return out, logits


class Scanned(nn.Layer):
    """A selective state space."""

    def __init__(self):
        super().__init__()
        self.rates, self.project = self.create_parameter([4, 3]), nn.Linear(4, 4 + 3 + 3)

    def forward(self, x):
        delta, b, c = self.project(x).split([4, 3, 3], -1)
        delta, a = F.softplus(delta), -paddle.exp(self.rates)
        state, outs, t = paddle.zeros([2, 4, 3]), paddle.zeros([5, 2, 4]), zero()
        while t < 5:
            d = delta[:, t].unsqueeze(-1)
            state = paddle.exp(d * a) * state + d * b[:, t].unsqueeze(1) * x[:, t].unsqueeze(-1)
            outs[t] = (state * c[:, t].unsqueeze(1)).sum(-1)
            t = t + 1
        return outs.transpose([1, 0, 2]) * F.silu(x)


class Gated(nn.Layer):
    """Experts of which the two best are weighed, and a term that balances them."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(4, 3), nn.LayerList([nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 4)) for _ in range(3)])

    def forward(self, x):
        odds = F.softmax(self.gate(x))
        best, which = paddle.topk(odds, 2)
        best = best / best.sum(-1, keepdim=True)
        out = paddle.zeros_like(x)
        for number, expert in enumerate(self.experts):
            weight = (best * (which == number).astype("float32")).sum(-1, keepdim=True)
            out = out + weight * expert(x)
        load = F.one_hot(which[:, 0], 3).mean(0)
        return out, 3 * (load * odds.mean(0)).sum()


class Spectral(nn.Layer):
    """A layer that weighs the lowest frequencies."""

    def __init__(self):
        super().__init__()
        self.real, self.imaginary, self.skip = self.create_parameter([3, 3, 4]), self.create_parameter([3, 3, 4]), nn.Conv1D(3, 3, 1)

    def forward(self, x):
        for _ in range(2):
            low = paddle.fft.rfft(x)[:, :, :4]
            weight = paddle.complex(self.real, self.imaginary)
            mixed = paddle.einsum("bik,iok->bok", low, weight)
            whole = paddle.concat([mixed, paddle.zeros([2, 3, 1], dtype="complex64")], -1)
            x = F.gelu(paddle.fft.irfft(whole, n=8) + self.skip(x))
        return x


class Rotary(nn.Layer):
    """Attention with turned pairs and a window, several queries for a key."""

    def __init__(self):
        super().__init__()
        self.q, self.kv, self.out = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x):
        q = self.q(x).reshape([2, 5, 2, 4]).transpose([0, 2, 1, 3])
        k, v = self.kv(x).chunk(2, -1)
        k, v = [part.unsqueeze(1).expand([2, 2, 5, 4]) for part in (k, v)]
        angles = paddle.outer(paddle.arange(5, dtype="float32"), paddle.to_tensor([1.0, 0.1]))
        cos, sin = paddle.cos(angles), paddle.sin(angles)

        def turn(x):
            a, b = x[..., ::2], x[..., 1::2]
            return paddle.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

        score = turn(q) @ turn(k).transpose([0, 1, 3, 2]) / 2
        far = paddle.arange(5).unsqueeze(1) - paddle.arange(5)
        score = paddle.where(paddle.logical_and(far >= 0, far < 3), score, paddle.full_like(score, -1e9))
        return self.out((F.softmax(score) @ v).transpose([0, 2, 1, 3]).reshape([2, 5, 8]))


def warped(x, y):
    """Soft dynamic time warping of two sequences."""
    cost = ((x.unsqueeze(1) - y.unsqueeze(0)) ** 2).sum(-1)
    table, i = paddle.full([4, 4], 1e3), zero()
    table[0, 0] = 0.0
    while i < 3:
        j = zero()
        while j < 3:
            near = paddle.stack([table[i, j], table[i + 1, j], table[i, j + 1]])
            table[i + 1, j + 1] = cost[i, j] - 0.5 * paddle.logsumexp(-near / 0.5)
            j = j + 1
        i = i + 1
    return table[3, 3]


def spline(x, knots):
    """Linear pieces between sorted knots, found by search."""
    xs = paddle.linspace(-1.0, 1.0, 6)
    at = paddle.clip(paddle.searchsorted(xs, x.detach()) - 1, 0, 4)
    left, right = paddle.gather(knots, at.flatten()).reshape(x.shape), paddle.gather(knots, at.flatten() + 1).reshape(x.shape)
    part = (x - paddle.gather(xs, at.flatten()).reshape(x.shape)) / 0.4
    return left * (1 - part) + right * part


def fixed_point(x, w):
    """An equilibrium by Anderson's mixing of two steps, until it moves little."""
    z, last, t = paddle.zeros_like(x), paddle.zeros_like(x), zero()
    moved = paddle.to_tensor(1.0)
    while paddle.logical_and(moved > 1e-3, t < 20):
        new = paddle.tanh(z @ w * 0.3 + x)
        moved = (new - z).abs().max().detach()
        z, last, t = 0.7 * new + 0.3 * z, z, t + 1
    return z, last


def leapfrog(q, p):
    """A trajectory whose energy is kept, with a rejection at its end."""
    start = (p * p).sum() / 2 + (q**4).sum() / 4
    t = zero()
    q0 = q
    while t < 5:
        p = p - 0.05 * q**3
        q = q + 0.1 * p
        p = p - 0.05 * q**3
        t = t + 1
    drift = (p * p).sum() / 2 + (q**4).sum() / 4 - start
    if drift.abs() < 0.5:
        out = q
    else:
        out = q0
    return out, drift


def greedy(logits, moves):
    """The best path through states with penalties for repetition, until the last state."""
    state, path, score, t = zero(), paddle.full([6], -1, dtype="int64"), paddle.zeros([]), zero()
    seen = paddle.zeros([4])
    while paddle.logical_and(t < 6, state != 3):
        row = logits[t % 3] + moves[state] - 2 * seen
        state = paddle.argmax(row)
        score = score + F.log_softmax(row)[state]
        seen = seen + F.one_hot(state, 4)
        path[t] = state
        t = t + 1
    return score, path


def mixture(x, y):
    """Densities of mixtures, and their modes by climbing."""
    means, logs, weights = x[:, :2], x[:, 2:] * 0.3, F.log_softmax(y[:, :2])
    at, t = means.mean(1), zero()
    while t < 4:
        parts = F.softmax(weights - 0.5 * ((at.unsqueeze(1) - means) / paddle.exp(logs)) ** 2 - logs, 1)
        at = (parts * means * paddle.exp(-2 * logs)).sum(1) / (parts * paddle.exp(-2 * logs)).sum(1)
        t = t + 1
    return at, paddle.logsumexp(weights - 0.5 * ((y[:, 2:] - means) / paddle.exp(logs)) ** 2 - logs, 1)


class Messages(nn.Layer):
    """Messages along edges with attention, in rounds until few change."""

    def __init__(self):
        super().__init__()
        self.line, self.score, self.update = nn.Linear(4, 4), nn.Linear(8, 1), nn.GRUCell(4, 4)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        t, moved = zero(), paddle.to_tensor(1.0)
        while paddle.logical_and(t < 3, moved > 1e-4):
            pair = paddle.concat([paddle.gather(x, source), paddle.gather(x, target)], -1)
            weight = paddle.exp(F.leaky_relu(self.score(pair), 0.2))
            total = paddle.geometric.send_u_recv(paddle.ones([3, 1]), source, target, "sum") * 0 + paddle.scatter_nd_add(paddle.zeros([3, 1]), target.unsqueeze(1), weight)
            message = paddle.scatter_nd_add(paddle.zeros([3, 4]), target.unsqueeze(1), weight * paddle.gather(self.line(x), source)) / (total + 1e-6)
            new, _ = self.update(message, x)
            moved, x, t = (new - x).abs().mean().detach(), new, t + 1
        return x


class Pixels(nn.Layer):
    """A network that shuffles pixels, with groups, gates and a skip."""

    def __init__(self):
        super().__init__()
        self.into, self.norm, self.mid, self.out = nn.Conv2D(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.Conv2D(8, 16, 3, padding=1, groups=2), nn.Conv2D(2, 3, 1)

    def forward(self, x):
        h = F.silu(self.norm(self.into(x)))
        a, b = self.mid(F.avg_pool2d(h, 2)).chunk(2, 1)
        up = F.pixel_shuffle(a * F.sigmoid(b), 2)
        return self.out(up) + x * F.sigmoid(x.mean([2, 3], keepdim=True)), F.pixel_unshuffle(x, 2).abs().max()


for group, name, make, *inputs in [
    ("layers", "weight_norms", Weighted, x3),
    ("generation", "rendered_rays", Rendered, real(3, 3), real(3, 3, seed=2)),
    ("generation", "guided_denoising", Denoised, x2, y2),
    ("sequences", "routing_by_agreement", Routed, x3),
    ("sequences", "selective_scan", Scanned, x3),
    ("layers", "balanced_experts", Gated, x2),
    ("layers", "low_frequencies", Spectral, real(2, 3, 8)),
    ("attention", "rotary_windows", Rotary, x3),
    ("graphs", "messages_in_rounds", Messages, real(3, 4), np.array([[0, 1, 2, 0, 2], [1, 2, 0, 2, 1]])),
    ("layers", "shuffled_pixels", Pixels, x4),
]:
    case(group, name, make, *inputs)

for group, name, code, *inputs in [
    ("volumes", "pools_with_places", volumes, x5),
    ("images", "antialiased_pyramid", pyramid, x4),
    ("tensors", "steps_and_ranks", steps, x2, y2),
    ("losses", "time_warping", warped, real(3, 2), real(3, 2, seed=1)),
    ("tensors", "linear_spline", spline, x2, real(6)),
    ("solvers", "mixed_fixed_point", fixed_point, x2, real(4, 4)),
    ("solvers", "leapfrog_and_rejection", leapfrog, real(4), real(4, seed=1)),
    ("decoding", "penalised_path", greedy, real(3, 4), real(4, 4, seed=2)),
    ("solvers", "modes_of_mixtures", mixture, x2, y2),
]:
    plain(group, name, code, *inputs)
