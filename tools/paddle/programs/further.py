"""Decoders, solvers and networks of further kinds: vision, sequences, graphs, flows, loops in loops."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, positive, real, whole
from paddle import nn

x2, x3, x4, y2 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6), real(3, 4, seed=1)
D, L = paddle.distribution, paddle.linalg


def zero():
    return paddle.zeros([], dtype="int64")


class Retention(nn.Layer):
    """A state that decays, and is read by queries."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.gate = (nn.Linear(4, 4) for _ in range(4))
        self.norm = nn.GroupNorm(2, 4)

    def forward(self, x):
        state, t, outs = paddle.zeros([2, 2, 2, 2]), zero(), []
        decay = 1 - 2.0 ** (-1.0 - paddle.arange(2, dtype="float32")).reshape([1, 2, 1, 1])
        while t < x.shape[1]:
            now = x[:, t]
            q, k, v = (f(now).reshape([2, 2, 2]) for f in (self.q, self.k, self.v))
            state = state * decay + k.unsqueeze(-1) * v.unsqueeze(-2)
            out = (q.unsqueeze(-2) @ state).reshape([2, 4])
            outs.append(self.norm(out) * F.silu(self.gate(now)))
            t = t + 1
        return paddle.stack(outs, 1)


class DeltaRule(nn.Layer):
    """A fast weight that is corrected by what it predicts."""

    def __init__(self):
        super().__init__()
        self.proj, self.rate = nn.Linear(4, 12), nn.Linear(4, 1)

    def forward(self, x):
        w, t, total = paddle.zeros([2, 4, 4]), zero(), paddle.zeros([2, 4])
        while t < 4:
            now = paddle.index_select(x, t.reshape([1]), 1).squeeze(1)
            q, k, v = self.proj(now).chunk(3, -1)
            k = F.normalize(k, axis=-1)
            error = v - paddle.einsum("bij,bj->bi", w, k)
            w = w + F.sigmoid(self.rate(now)).unsqueeze(-1) * paddle.einsum("bi,bj->bij", error, k)
            total = total + paddle.einsum("bij,bj->bi", w, q)
            t = t + 1
        return total, w


class Selective(nn.Layer):
    """A scan whose step sizes follow from its inputs."""

    def __init__(self):
        super().__init__()
        self.dt, self.b, self.c = nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 2)
        self.a = self.create_parameter([3, 2], default_initializer=nn.initializer.Uniform(-1.0, 1.0))
        self.conv = nn.Conv1D(3, 3, 3, groups=3, padding=2)

    def forward(self, x):
        u = F.silu(self.conv(x.transpose([0, 2, 1]))[:, :, : x.shape[1]]).transpose([0, 2, 1])
        dt, b, c = F.softplus(self.dt(u)), self.b(u), self.c(u)
        h, outs = paddle.zeros([2, 3, 2]), []
        for t in range(x.shape[1]):
            step = dt[:, t].unsqueeze(-1)
            h = paddle.exp(-step * paddle.exp(self.a)) * h + step * b[:, t].unsqueeze(1) * u[:, t].unsqueeze(-1)
            outs.append((h * c[:, t].unsqueeze(1)).sum(-1))
        return paddle.stack(outs, 1)


class Slots(nn.Layer):
    """Slots that compete for inputs, refined by a recurrent cell."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.cell = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.GRUCell(4, 4)
        self.start, self.norm = self.create_parameter([2, 4]), nn.LayerNorm(4)

    def forward(self, x):
        slots, t = self.start.unsqueeze(0).expand([2, 2, 4]), zero()
        while t < 3:
            scores = F.softmax(self.k(x) @ self.q(self.norm(slots)).transpose([0, 2, 1]) / 2.0, -1)
            scores = scores / (scores.sum(1, keepdim=True) + 1e-6)
            updates = scores.transpose([0, 2, 1]) @ self.v(x)
            slots = self.cell(updates.reshape([4, 4]), slots.reshape([4, 4]))[1].reshape([2, 2, 4])
            t = t + 1
        return slots


class Pointer(nn.Layer):
    """A tour: each step points at one that was not visited."""

    def __init__(self):
        super().__init__()
        self.cell, self.a, self.b, self.v = nn.LSTMCell(4, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        h, c, now = paddle.zeros([2, 4]), paddle.zeros([2, 4]), x.mean(1)
        visited, score, t = paddle.zeros([2, 5]), paddle.zeros([2]), zero()
        while t < 4:
            _, (h, c) = self.cell(now, (h, c))
            logits = self.v(paddle.tanh(self.a(x) + self.b(h).unsqueeze(1))).squeeze(-1) - 1e4 * visited
            logp = F.log_softmax(logits)
            best = logp.argmax(-1, keepdim=True)
            score = score + paddle.take_along_axis(logp, best, 1).squeeze(1)
            picked = F.one_hot(best.squeeze(1), 5)
            visited = visited + picked
            now = (picked.unsqueeze(-1) * x).sum(1)
            t = t + 1
        return score


class Copying(nn.Layer):
    """Words are copied from the source or taken from a vocabulary."""

    def __init__(self):
        super().__init__()
        self.embed, self.encode, self.cell = nn.Embedding(7, 4), nn.GRU(4, 4), nn.GRUCell(8, 4)
        self.out, self.mix = nn.Linear(8, 7), nn.Linear(8, 1)

    def forward(self, source, target):
        memory, h = self.encode(self.embed(source))
        h, context, loss = h[0], paddle.zeros([2, 4]), paddle.zeros([])
        for t in range(2):
            h = self.cell(paddle.concat([self.embed(target[:, t]), context], -1), h)[1]
            weights = F.softmax((memory @ h.unsqueeze(-1)).squeeze(-1))
            context = (weights.unsqueeze(1) @ memory).squeeze(1)
            both = paddle.concat([h, context], -1)
            gate = F.sigmoid(self.mix(both))
            p = gate * F.softmax(self.out(both)) + (1 - gate) * (F.one_hot(source, 7) * weights.unsqueeze(-1)).sum(1)
            loss = loss + F.nll_loss(paddle.log(p + 1e-6), target[:, t + 1])
        return loss


class Recursive(nn.Layer):
    """A tree whose nodes are merged on a stack that is a tensor."""

    def __init__(self):
        super().__init__()
        self.merge = nn.Linear(8, 4)

    def forward(self, leaves, actions):
        stack, top, read, t = paddle.zeros([5, 4]), zero(), zero(), zero()
        while t < actions.shape[0]:
            if actions[t] == 0:
                stack = paddle.scatter(stack, top.reshape([1]), paddle.gather(leaves, read.reshape([1])))
                top, read = top + 1, read + 1
            else:
                two = paddle.gather(stack, paddle.stack([top - 2, top - 1]))
                made = paddle.tanh(self.merge(two.reshape([1, 8])))
                stack = paddle.scatter(stack, (top - 2).reshape([1]), made)
                top, read = top - 1, read + 0
            t = t + 1
        return stack[0]


class Speculative(nn.Layer):
    """A cheap model proposes, a better one stops at the first word that it refuses."""

    def __init__(self):
        super().__init__()
        self.embed, self.cheap, self.dear = nn.Embedding(6, 4), nn.Linear(4, 6), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6))

    def forward(self, h):
        t, score, word = zero(), paddle.zeros([]), paddle.zeros([1], "int64")
        while t < 5:
            e = self.embed(word) + h
            p, q = F.softmax(self.cheap(e)), F.softmax(self.dear(e))
            word = p.argmax(-1)
            ratio = (q / p).gather(word, axis=1).squeeze()
            score = score + paddle.log(ratio)
            if ratio < 0.4:
                break
            h = h * 0.9 + e * 0.1
            t = t + 1
        return score, h


class Gan(nn.Layer):
    """A generator and a critic with normalized weights."""

    def __init__(self):
        super().__init__()
        self.make = nn.Sequential(nn.Linear(4, 16), nn.Unflatten(1, [4, 2, 2]), nn.Conv2DTranspose(4, 2, 4, 2, 1), nn.BatchNorm2D(2), nn.ReLU(), nn.Conv2DTranspose(2, 1, 4, 2, 1), nn.Tanh())
        self.judge = nn.Sequential(nn.Conv2D(1, 4, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2D(4, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(32, 1))

    def forward(self, z, image):
        fake = self.make(z)
        return F.softplus(-self.judge(image)).mean() + F.softplus(self.judge(fake)).mean(), fake


class Coupling(nn.Layer):
    """An invertible network with its volume."""

    def __init__(self):
        super().__init__()
        self.nets = nn.LayerList([nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 4)) for _ in range(3)])
        self.mix = self.create_parameter([4, 4], default_initializer=nn.initializer.Orthogonal())

    def forward(self, x):
        volume = x.sum(-1) * 0
        for net in self.nets:
            x = x @ self.mix
            a, b = x.chunk(2, -1)
            s, m = net(a).chunk(2, -1)
            s = 2 * F.sigmoid(s)
            x, volume = paddle.concat([a, b * s + m], -1), volume + paddle.log(s).sum(-1)
        return D.Normal(0.0, 1.0).log_prob(x).sum(-1) + volume + 3 * paddle.log(paddle.abs(L.det(self.mix)))


class Vae(nn.Layer):
    """What is drawn is an input, so that it is the same each time."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(4, 6), nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, 4))

    def forward(self, x, noise):
        mean, log = self.encode(x).chunk(2, -1)
        z = mean + paddle.exp(log / 2) * noise
        kl = D.kl_divergence(D.Normal(mean, paddle.exp(log / 2)), D.Normal(paddle.zeros([3]), paddle.ones([3])))
        return F.mse_loss(self.decode(z), x), kl.sum(-1).mean()


class Gumbel(nn.Layer):
    """A codebook whose entries are chosen softly and passed on hard."""

    def __init__(self):
        super().__init__()
        self.logits, self.codes = nn.Linear(4, 5), nn.Embedding(5, 4)

    def forward(self, x, u):
        soft = F.softmax((self.logits(x) - paddle.log(-paddle.log(u))) / 0.7)
        hard = F.one_hot(soft.argmax(-1), 5)
        return (hard - soft.detach() + soft) @ self.codes.weight


class Moe(nn.Layer):
    """Experts with room for few rows, which are sent to them and back, and a loss that balances them."""

    def __init__(self):
        super().__init__()
        self.gate, self.one, self.two = nn.Linear(4, 3), self.create_parameter([3, 4, 8]), self.create_parameter([3, 8, 4])

    def forward(self, x):
        p = F.softmax(self.gate(x))
        hot = F.one_hot(p.argmax(-1), 3)
        place = paddle.cumsum(hot, 0) * hot
        hot = hot * (place <= 2).astype("float32")
        sent = F.one_hot((place.sum(-1) - 1).clip(0, 1).astype("int64"), 2).unsqueeze(1) * hot.unsqueeze(-1)
        rows = paddle.einsum("nec,nd->ecd", sent, x)
        made = paddle.bmm(F.gelu(paddle.bmm(rows, self.one)), self.two)
        back = paddle.einsum("nec,ecd->nd", sent * p.unsqueeze(-1), made)
        return back, 3 * (hot.mean(0) * p.mean(0)).sum()


class Swin(nn.Layer):
    """Attention in windows that are shifted, with a table of relative places."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.table = nn.Linear(4, 12), nn.Linear(4, 4), self.create_parameter([9, 2])
        at = np.stack(np.meshgrid(range(2), range(2), indexing="ij")).reshape(2, -1)
        off = (at[:, :, None] - at[:, None]).transpose(1, 2, 0) + 1
        self.register_buffer("index", paddle.to_tensor((off[..., 0] * 3 + off[..., 1]).reshape(-1)))

    def forward(self, x):
        x = paddle.roll(x.transpose([0, 2, 3, 1]), [-1, -1], [1, 2])
        w = x.reshape([2, 3, 2, 3, 2, 4]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, 4, 4])
        q, k, v = self.qkv(w).reshape([-1, 4, 3, 2, 2]).transpose([2, 0, 3, 1, 4])
        bias = self.table[self.index].reshape([4, 4, 2]).transpose([2, 0, 1])
        y = F.softmax(q @ k.transpose([0, 1, 3, 2]) * 0.7 + bias) @ v
        y = self.out(y.transpose([0, 2, 1, 3]).reshape([-1, 4, 4])).reshape([2, 3, 3, 2, 2, 4]).transpose([0, 1, 3, 2, 4, 5])
        return paddle.roll(y.reshape([2, 6, 6, 4]), [1, 1], [1, 2])


class Attend2d(nn.Layer):
    """Squeezed channels and places, a residual of groups, and global pools."""

    def __init__(self):
        super().__init__()
        self.mlp, self.place = nn.Sequential(nn.Conv2D(4, 2, 1), nn.ReLU(), nn.Conv2D(2, 4, 1)), nn.Conv2D(2, 1, 3, padding=1)
        self.body = nn.Sequential(nn.Conv2D(4, 8, 1), nn.GroupNorm(4, 8), nn.Hardswish(), nn.Conv2D(8, 8, 3, padding=1, groups=8), nn.Conv2D(8, 4, 1))

    def forward(self, x):
        y = self.body(x)
        y = y * F.sigmoid(self.mlp(F.adaptive_avg_pool2d(y, 1)) + self.mlp(F.adaptive_max_pool2d(y, 1)))
        both = paddle.concat([y.mean(1, keepdim=True), y.max(1, keepdim=True)], 1)
        return x + y * F.sigmoid(self.place(both))


class Fpn(nn.Layer):
    """Feature levels that are joined, with a loss that looks at hard ones."""

    def __init__(self):
        super().__init__()
        self.down = nn.LayerList([nn.Conv2D(4, 4, 3, 2, 1) for _ in range(2)])
        self.side = nn.LayerList([nn.Conv2D(4, 3, 1) for _ in range(3)])
        self.head = nn.Conv2D(3, 2, 3, padding=1)

    def forward(self, x, y):
        levels = [x]
        for down in self.down:
            levels.append(F.relu(down(levels[-1])))
        tops = [self.side[2](levels[2])]
        for k in (1, 0):
            tops.append(self.side[k](levels[k]) + F.interpolate(tops[-1], levels[k].shape[2:], mode="nearest"))
        out = self.head(tops[-1])
        return F.sigmoid_focal_loss(out, (y > 0).astype("float32"), reduction="mean") + F.dice_loss(F.softmax(out.transpose([0, 2, 3, 1])), (y[:, :1] > 0).astype("int64").transpose([0, 2, 3, 1]))


class Flow2d(nn.Layer):
    """Images that are moved by a field which is refined from coarse to fine."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv2D(4, 2, 3, padding=1)

    def forward(self, a, b):
        field = paddle.zeros([2, 2, 3, 3])
        base = F.affine_grid(paddle.to_tensor([[1.0, 0, 0], [0, 1, 0]]).unsqueeze(0).expand([2, 2, 3]), [2, 1, 6, 6])
        for side in (3, 6):
            field = F.interpolate(field, [side, side], mode="bilinear", align_corners=True)
            moved = F.grid_sample(b, base + F.interpolate(field, [6, 6], mode="bilinear").transpose([0, 2, 3, 1]) * 0.3, padding_mode="border")
            field = field + F.interpolate(self.net(paddle.abs(moved - a)), [side, side], mode="area" if side == 3 else "nearest")
        return field, moved


class Deq(nn.Layer):
    """A fixed point by Anderson's method, which solves a small system in each step."""

    def __init__(self):
        super().__init__()
        self.w, self.u = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        f = lambda z: paddle.tanh(0.3 * self.w(z) + self.u(x))  # noqa: E731
        z0 = paddle.zeros_like(x)
        z1, t = f(z0), zero()
        while t < 4:
            g0, g1 = f(z0) - z0, f(z1) - z1
            d = g1 - g0
            beta = (d * g1).sum(-1, keepdim=True) / ((d * d).sum(-1, keepdim=True) + 1e-3)
            z0, z1 = z1, (z1 + g1) * (1 - beta) + (z0 + g0) * beta
            t = t + 1
        return z1


class Adaptive(nn.Layer):
    """An integrator that chooses its steps by an estimate of the error."""

    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 4))

    def forward(self, x):
        t, h, n = paddle.zeros([]), paddle.full([], 0.3), zero()
        while paddle.logical_and(t < 1.0, n < 20):
            k1 = self.f(x)
            k2 = self.f(x + h * k1)
            high, low = x + h / 2 * (k1 + k2), x + h * k1
            error = (high - low).abs().max().detach()
            if error < 0.2:
                x, t = high, t + h
            h = (h * paddle.clip(0.9 * paddle.sqrt(0.1 / (error + 1e-6)), 0.3, 2.0)).minimum(1.0 - t + 1e-3)
            n = n + 1
        return x


def leapfrog(q, p):
    """Particles that attract each other."""
    t = zero()
    while t < 4:
        off = q.unsqueeze(0) - q.unsqueeze(1)
        far = (off * off).sum(-1, keepdim=True) + 0.5
        p = p + 0.1 * (off / far**1.5).sum(1)
        q = q + 0.1 * p
        t = t + 1
    return q, (p * p).sum()


def heat(u):
    """A field that spreads, with borders that wrap."""
    kernel, t = paddle.to_tensor([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]]).reshape([1, 1, 3, 3]), zero()
    while t < 3:
        u = u + 0.1 * F.conv2d(F.pad(u, [1, 1, 1, 1], mode="circular"), kernel) + 0.05 * u * (1 - u)
        t = t + 1
    return u


def thomas(a, d):
    """A tridiagonal system: down with lists, and up again."""
    c, e, t = [a[0] * 0.2], [d[0]], 1
    while t < 4:
        m = 2.0 + a[t] - 0.5 * c[-1]
        c.append(0.5 / m)
        e.append((d[t] - 0.5 * e[-1]) / m)
        t = t + 1
    x = [e[3]]
    for k in range(2, -1, -1):
        x.append(e[k] - c[k] * x[-1])
    return paddle.stack(x)


def gauss_seidel(a, b):
    """Rows are updated in place, in a loop in a loop."""
    x, n = paddle.zeros([3]), zero()
    while n < 3:
        i = zero()
        while i < 3:
            row = paddle.gather(a, i.reshape([1])).squeeze(0)
            own = F.one_hot(i, 3)
            rest = (row * x).sum() - (row * own * x).sum()
            x = x * (1 - own) + own * (b * own - rest * own) / (row * own).sum()
            i = i + 1
        n = n + 1
    return x


def edit_distance(x, y):
    """A smooth alignment, by a table with rows in a tensor array."""
    cost = (x.unsqueeze(1) - y.unsqueeze(0)).abs()
    row, i = paddle.arange(5, dtype="float32") * 0.5, zero()
    while i < 3:
        new, j = [row[0] + 0.5], 1
        line = cost[i]
        for j in range(1, 5):
            three = paddle.stack([row[j] + 0.5, new[-1] + 0.5, row[j - 1] + line[j - 1]])
            new.append(-0.2 * paddle.logsumexp(-three / 0.2))
        row = paddle.stack(new)
        i = i + 1
    return row[-1]


def bisecting_branches(x):
    """Branches that return early, in a loop with a flag."""
    low, high, t = paddle.zeros_like(x), paddle.full_like(x, 3.0), zero()
    while t < 12:
        middle = (low + high) / 2
        above = middle**3 + middle > x
        low, high = paddle.where(above, low, middle), paddle.where(above, middle, high)
        t = t + 1
    return middle - (middle**3 + middle - x) / (3 * middle**2 + 1)


def scheduled_sampling(x, coins):
    """Each step takes the target or what was predicted."""
    y, t, out = x[:, 0], zero(), []
    while t < 4:
        coin = coins[t]
        if coin > 0:
            y = x[:, t]
        else:
            y = paddle.tanh(y * 1.5)
        out.append(y * (t.astype("float32") + 1))
        t = t + 1
    return paddle.stack(out, 1)


def triple_loop(x):
    total, i = paddle.zeros([]), zero()
    while i < 2:
        j = zero()
        while j < 3:
            k = zero()
            while k <= j:
                total = total + paddle.sin(x[i, k] * (total + 1))
                k = k + 1
            if total > 1.0:
                total = total * 0.5
            j = j + 1
        i = i + 1
    return total


def two_lists(x):
    """Two arrays, one of which is read while the other is written."""
    a, b, t = [x[:, 0]], [x[:, 1]], zero()
    while t < 3:
        a.append(paddle.sin(b[t]) + a[t])
        b.append(a[t] * 0.5)
        t = t + 1
    return paddle.stack(a), paddle.concat(b)


def continued(x):
    t, s = zero(), paddle.zeros([4])
    while t < 6:
        t = t + 1
        if t % 2 == 0:
            continue
        s = s + x[t % 3] * t.astype("float32")
        if s.sum() > 4:
            break
    return s


def ragged_batch(x, lengths):
    """Rows of other lengths are summed up in a loop over the batch, and joined."""
    parts, i = [], zero()
    while i < 2:
        n = lengths[i]
        row = paddle.slice(x[i], [0], [0], [n]) if False else x[i][:n]
        parts.append(paddle.tanh(row).sum(0))
        i = i + 1
    return paddle.stack(parts)


# Models and loops.
for group, name, make, *inputs in [
    ("sequences", "retention", Retention, real(2, 4, 4)),
    ("sequences", "delta_rule", DeltaRule, real(2, 4, 4)),
    ("sequences", "selective_scan", Selective, real(2, 4, 3)),
    ("sequences", "slots", Slots, real(2, 5, 4)),
    ("sequences", "pointer_network", Pointer, real(2, 5, 4)),
    ("sequences", "copying", Copying, whole(2, 4, below=7), whole(2, 3, below=7, seed=2)),
    ("sequences", "tree_on_a_stack", Recursive, real(3, 4), np.array([0, 0, 1, 0, 1])),
    ("sequences", "speculative", Speculative, real(1, 4)),
    ("by hand", "gan", Gan, x2, real(2, 1, 8, 8)),
    ("by hand", "coupling_flow", Coupling, x2),
    ("by hand", "vae", Vae, x2, real(3, 3)),
    ("by hand", "gumbel_codes", Gumbel, x2, real(3, 5, low=0.1, high=0.9)),
    ("by hand", "experts_with_room", Moe, real(5, 4)),
    ("by hand", "windows_shifted", Swin, x4),
    ("by hand", "channels_and_places", Attend2d, x4),
    ("by hand", "levels_and_focal_loss", Fpn, real(2, 4, 8, 8), real(2, 2, 8, 8)),
    ("by hand", "field_of_motion", Flow2d, x4, real(2, 4, 6, 6, seed=1)),
    ("solvers", "anderson", Deq, x2),
    ("solvers", "adaptive_steps", Adaptive, x2),
    ("solvers", "leapfrog", lambda: leapfrog, real(3, 2), real(3, 2, seed=1)),
    ("solvers", "heat", lambda: heat, real(1, 1, 5, 5)),
    ("solvers", "thomas", lambda: thomas, real(4), real(4, seed=1)),
    ("solvers", "gauss_seidel", lambda: gauss_seidel, positive(3), real(3)),
    ("solvers", "edit_distance", lambda: edit_distance, real(3), real(4)),
    ("solvers", "halving_intervals", lambda: bisecting_branches, real(4, low=0.5, high=4.0)),
    ("control", "scheduled_sampling", lambda: scheduled_sampling, x2, np.array([1, 0, 1, 0])),
    ("control", "three_loops", lambda: triple_loop, x2),
    ("control", "two_lists", lambda: two_lists, x2),
    ("control", "continue_and_break", lambda: continued, x2),
    ("control", "ragged_rows", lambda: ragged_batch, real(2, 4, 3), whole(2, below=3) + 2),
]:  # fmt: skip
    case(group, name, make, *inputs)
