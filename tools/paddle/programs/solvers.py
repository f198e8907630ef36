"""Programs whose loops and branches solve something, graphs, reinforcement learning and statistics."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, positive, real, whole
from paddle import nn

x2, x3, x4 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6)
D = paddle.distribution


def zero():
    return paddle.zeros([], dtype="int64")


class Ode(nn.Layer):
    """A network that is integrated, with all states kept."""

    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))

    def forward(self, x):
        t, path, h = zero(), [x], 0.25
        while t < 4:
            a = self.f(x)
            b = self.f(x + h / 2 * a)
            c = self.f(x + h / 2 * b)
            x = x + h / 6 * (a + 2 * b + 2 * c + self.f(x + h * c))
            path.append(x)
            t = t + 1
        return paddle.stack(path)


class Equilibrium(nn.Layer):
    """A fixed point, by iteration until nothing moves."""

    def __init__(self):
        super().__init__()
        self.w, self.u = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        z, off, t = paddle.zeros_like(x), paddle.full([], 1.0), zero()
        while paddle.logical_and(off > 1e-3, t < 30):
            new = paddle.tanh(0.3 * self.w(z) + self.u(x))
            off, z, t = (new - z).abs().max().detach(), new, t + 1
        return z, t


class Exits(nn.Layer):
    """A classifier that may answer early."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.heads = nn.Linear(4, 6), nn.Linear(6, 6), nn.LayerList([nn.Linear(6, 3), nn.Linear(6, 3)])

    def forward(self, x):
        h = F.relu(self.one(x))
        y = F.softmax(self.heads[0](h))
        if y.max() > 0.9:
            out = y
        else:
            h = F.relu(self.two(h))
            if h.mean() > 10:
                out = F.softmax(h[:, :3])
            else:
                out = F.softmax(self.heads[1](h)) * 0.5 + y * 0.5
        return out


class Kalman(nn.Layer):
    """A filter whose gain follows from a linear system in each step."""

    def __init__(self):
        super().__init__()
        self.a, self.h = self.create_parameter([3, 3]), self.create_parameter([2, 3])

    def forward(self, z):
        m, p, t, score = paddle.zeros([3, 1]), paddle.eye(3), zero(), paddle.zeros([])
        while t < 3:
            m, p = self.a @ m, self.a @ p @ self.a.t() + 0.1 * paddle.eye(3)
            s = self.h @ p @ self.h.t() + 0.2 * paddle.eye(2)
            gain = paddle.linalg.solve(s, self.h @ p).t()
            off = z[t].unsqueeze(-1) - self.h @ m
            score = score - 0.5 * (off.t() @ paddle.linalg.inv(s) @ off).sum() - 0.5 * paddle.log(paddle.linalg.det(s))
            m, p, t = m + gain @ off, (paddle.eye(3) - gain @ self.h) @ p, t + 1
        return m, score


class GaussianProcess(nn.Layer):
    def __init__(self):
        super().__init__()
        self.log = self.create_parameter([3], default_initializer=nn.initializer.Constant(-0.3))

    def forward(self, x, y):
        size, width, noise = paddle.exp(self.log).unbind(0)
        k = size * paddle.exp(-0.5 * paddle.cdist(x, x) ** 2 / width**2) + (noise + 0.1) * paddle.eye(4)
        lower = paddle.linalg.cholesky(k)
        a = paddle.linalg.triangular_solve(lower, y.unsqueeze(-1), upper=False)
        return 0.5 * (a * a).sum() + paddle.log(paddle.diagonal(lower)).sum()


def sinkhorn(cost):
    """Transport between two uniform measures."""
    f, g, t = paddle.zeros([3]), paddle.zeros([4]), zero()
    while t < 10:
        f = -0.5 * paddle.logsumexp((g - cost) / 0.5, 1)
        g = -0.5 * paddle.logsumexp((f.unsqueeze(1) - cost) / 0.5, 0)
        t = t + 1
    plan = paddle.exp((f.unsqueeze(1) + g - cost) / 0.5)
    return (plan * cost).sum(), plan


def conjugate_gradients(a, b):
    x = paddle.zeros_like(b)
    r, p, t = b, b, zero()
    rr = (r * r).sum()
    while rr > 1e-6 and t < 8:
        ap = paddle.mv(a, p)
        alpha = rr / (p * ap).sum()
        x, r = x + alpha * p, r - alpha * ap
        new = (r * r).sum()
        p, rr, t = r + new / rr * p, new, t + 1
    return x


def power_iteration(a):
    v, t = paddle.ones([3]) / 3**0.5, zero()
    while t < 12:
        v = paddle.mv(a, v)
        v = v / paddle.linalg.norm(v)
        t = t + 1
    return (v * paddle.mv(a, v)).sum(), v.abs()


def soft_dtw(x, y):
    """A table that two loops fill."""
    cost = (x.unsqueeze(1) - y.unsqueeze(0)).pow(2).sum(-1)
    table = paddle.full([4, 4], 1e4)
    table[0, 0] = 0.0
    i = zero() + 1
    while i < 4:
        j = zero() + 1
        while j < 4:
            best = paddle.stack([table[i - 1, j - 1], table[i - 1, j], table[i, j - 1]])
            table[i, j] = cost[i - 1, j - 1] - 0.5 * paddle.logsumexp(-best / 0.5)
            j = j + 1
        i = i + 1
    return table[3, 3]


def pendulum(x):
    """Energies of a path, by steps that leap."""
    q, p, t, seen = x[0], x[1], zero(), paddle.zeros([5, 4])
    while t < 5:
        p = p - 0.1 * paddle.sin(q)
        q = q + 0.2 * p
        p = p - 0.1 * paddle.sin(q)
        seen[t] = 0.5 * p * p - paddle.cos(q)
        t = t + 1
    return seen


def bisection(x):
    """Half of an interval in each round; what is found is made better by one step that has a gradient."""
    low, high, t = paddle.zeros_like(x), paddle.full_like(x, 3.0), zero()
    while t < 12:
        middle = (low + high) / 2
        above = middle**3 + middle > x
        low, high = paddle.where(above, low, middle), paddle.where(above, middle, high)
        t = t + 1
    y = ((low + high) / 2).detach()
    return y - (y**3 + y - x) / (3 * y * y + 1)


class Planner(nn.Layer):
    """Values of a small world, by as many sweeps as are needed."""

    def __init__(self):
        super().__init__()
        self.reward = nn.Linear(4, 5)

    def forward(self, x):
        reward, v, t, going = self.reward(x), paddle.zeros([3, 5]), zero(), paddle.full([], True, "bool")
        while going:
            around = paddle.stack([paddle.roll(v, 1, 1), paddle.roll(v, -1, 1), v])
            new = reward + 0.7 * 0.1 * paddle.logsumexp(around / 0.1, 0)
            going = paddle.logical_and((new - v).abs().max() > 0.05, t < 6)
            v, t = new, t + 1
        return v


class Actor(nn.Layer):
    """A clipped policy gradient, with advantages that a loop sums from the end."""

    def __init__(self):
        super().__init__()
        self.policy, self.value = nn.Linear(4, 3), nn.Linear(4, 1)

    def forward(self, x, actions, rewards):
        v = self.value(x).squeeze(-1)
        t, gain, gains = zero() + 4, paddle.zeros([]), paddle.zeros([5])
        while t >= 0:
            after = v[t + 1] if t < 4 else v[4] * 0.0
            gain = rewards[t] + 0.9 * after - v[t] + 0.8 * gain
            gains[t] = gain
            t = t - 1
        d = D.Categorical(F.softmax(self.policy(x)))
        ratio = paddle.exp(d.log_prob(actions) + 1.0)
        kept = gains.detach()
        clipped = paddle.minimum(ratio * kept, ratio.clip(0.8, 1.2) * kept)
        return -clipped.mean() + 0.5 * (gains**2).mean() - 0.01 * d.entropy().mean()


class Critic(nn.Layer):
    """Two networks of which the lesser answer counts, against a target without gradient."""

    def __init__(self):
        super().__init__()
        self.q = nn.LayerList([nn.Linear(4, 3), nn.Linear(4, 3)])

    def forward(self, x, y, actions):
        with paddle.no_grad():
            target = paddle.minimum(*[q(y) for q in self.q]).max(-1) * 0.9 + 0.1
        return sum(F.smooth_l1_loss(q(x).index_sample(actions).squeeze(-1), target, delta=0.5) for q in self.q)


class Attention(nn.Layer):
    """Weights of edges that sum to one at each node."""

    def __init__(self):
        super().__init__()
        self.w, self.a = nn.Linear(4, 3), nn.Linear(6, 1)

    def forward(self, x, edges):
        h, (a, b) = self.w(x), edges.unbind(0)
        score = F.leaky_relu(self.a(paddle.concat([h[a], h[b]], -1)), 0.2)
        weight = paddle.exp(score - score.max().detach())
        total = paddle.scatter_nd_add(paddle.zeros([5, 1]), b.unsqueeze(-1), weight)
        return paddle.scatter_nd_add(paddle.zeros([5, 3]), b.unsqueeze(-1), weight / total[b] * h[a])


class Interactions(nn.Layer):
    """Pairs of features of a table with gaps."""

    def __init__(self):
        super().__init__()
        self.embed, self.linear, self.deep = nn.Embedding(11, 4), nn.Embedding(11, 1), nn.Linear(12, 1)

    def forward(self, ids, clicked):
        v = self.embed(ids)
        pairs = 0.5 * (v.sum(1) ** 2 - (v**2).sum(1)).sum(-1)
        y = pairs + self.linear(ids).sum([1, 2]) + self.deep(F.dropout(v.flatten(1), 0.0)).squeeze(-1)
        return F.binary_cross_entropy_with_logits(y, clicked.astype("float32"), pos_weight=paddle.to_tensor([2.0]))


class MixtureDensity(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 9)

    def forward(self, x, y):
        logits, mean, log = self.net(x).split([3, 3, 3], -1)
        density = D.Normal(mean, F.softplus(log) + 0.1).log_prob(y.unsqueeze(-1))
        return -paddle.logsumexp(F.log_softmax(logits) + density, -1)


class Planar(nn.Layer):
    def __init__(self):
        super().__init__()
        self.u, self.w, self.b = (self.create_parameter([3, n], default_initializer=nn.initializer.Normal(std=0.6)) for n in (4, 4, 1))

    def forward(self, z):
        total = paddle.zeros([3])
        for u, w, b in zip(self.u, self.w, self.b):
            wu = (w * u).sum()
            u = u + (F.softplus(wu) - 1 - wu) * w / (w * w).sum()
            inner = paddle.tanh(z @ w + b)
            total = total + paddle.log((1 + (1 - inner**2) * (w * u).sum()).abs())
            z = z + u * inner.unsqueeze(-1)
        return z, total


class Penalty(nn.Layer):
    """A network whose slope is to be one."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))

    def forward(self, x):
        y = x * 1.0
        y.stop_gradient = False
        (slope,) = paddle.grad(self.net(y).sum(), y, create_graph=True) if paddle.in_dynamic_mode() else paddle.static.gradients(self.net(y).sum(), y)
        return ((slope.pow(2).sum(-1) + 1e-6).sqrt() - 1).pow(2)


class Turing(nn.Layer):
    """A memory that is read and written by content, with a tensor for the state of the head."""

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.LSTMCell(7, 5), nn.Linear(5, 10)
        self.memory = self.create_parameter([4, 3], default_initializer=nn.initializer.Uniform(-0.5, 0.5))

    def forward(self, x):
        memory, read, t = self.memory.unsqueeze(0).tile([2, 1, 1]), paddle.zeros([2, 3]), zero()
        h, c = paddle.zeros([2, 5]), paddle.zeros([2, 5])
        while t < 3:
            _, (h, c) = self.cell(paddle.concat([x[:, t], read], -1), (h, c))
            key, erase, add, sharp = self.head(h).split([3, 3, 3, 1], -1)
            w = F.softmax(F.cosine_similarity(memory, key.unsqueeze(1), axis=-1) * F.softplus(sharp), -1).unsqueeze(-1)
            memory = memory * (1 - w * F.sigmoid(erase).unsqueeze(1)) + w * add.unsqueeze(1)
            read = (w * memory).sum(1)
            t = t + 1
        return read, memory


class Pondering(nn.Layer):
    """Rows that leave the loop one after the other."""

    def __init__(self):
        super().__init__()
        self.step = nn.GRUCell(4, 4)

    def forward(self, x):
        h, alive, rounds = paddle.zeros([3, 4]), paddle.ones([3], "bool"), paddle.zeros([3], "int32")
        while alive.any() and rounds.max() < 6:
            new, _ = self.step(x, h)
            h = paddle.where(alive.unsqueeze(-1), new, h)
            rounds = rounds + alive.astype("int32")
            alive = paddle.logical_and(alive, (h.abs().mean(-1) < 0.3))
        return h, rounds


def scheduled(x, steps):
    """A loop as long as a tensor says, with what it computes used in a dictionary."""
    state = {"h": x, "sum": paddle.zeros_like(x)}
    for k in range(steps):
        state["h"] = paddle.sin(state["h"]) + 0.1 * k
        state["sum"] = state["sum"] + state["h"] ** 2
    return state["sum"], state["h"]


def chosen(x, which):
    """One of several, the default among them."""
    def run(k):
        return {0: x * 2, 1: paddle.tanh(x) * 3}.get(k, x.exp())

    if paddle.in_dynamic_mode():
        return run(int(which[0])) + run(int(which[1]))
    pick = lambda at: paddle.static.nn.switch_case(which[at], {0: lambda: run(0), 1: lambda: run(1)}, lambda: run(7))  # noqa: E731
    return pick(0) + pick(1)


def nested_branches(x, y):
    if x.sum() > y.sum():
        if x.max() > 2:
            z = x * y
        elif x.min() < -0.5:
            z = paddle.tanh(x) - y
        else:
            z = y
    else:
        z = y * y
    return z * 2


def masked_rounds(x):
    """Elements that are picked by a mask, written back by one."""
    t, z = zero(), x * 1.0
    while t < 3:
        z = paddle.where(z > 0.2, z * 0.5, z + 0.3 * paddle.cos(z))
        t = t + 1
    z[z < 0.4] = 0.25
    return z * x


def sorted_rounds(x):
    """Order in a loop: sort, the largest, sums from the left."""
    t, y = zero(), x
    while t < 3:
        y, at = paddle.topk(paddle.concat([y, paddle.sin(y) * 0.9 + 0.01], 1), 4, axis=1)
        y = paddle.sort(paddle.cumsum(y, 1) * 0.3, 1, descending=True) * (1.0 + 0.1 * at.astype("float32"))
        t = t + 1
    return y


def block_writes(x):
    """Blocks of a picture that loops write, one of them backwards."""
    out, i = paddle.zeros([6, 6]), zero()
    while i < 3:
        out[2 * i : 2 * i + 2, i : i + 3] = paddle.tanh(x[i : i + 1, :3]) * (i.astype("float32") + 1.0)
        out[i, -1] = out[i, 0] + x[i, 3]
        i = i + 1
    return out[::2] * out[1::2], out.flip([0])


def running(x):
    """Running sums, of which a window moves by what a tensor says."""
    n, t, total = paddle.shape(x)[0], zero(), []
    while t < n:
        low = paddle.maximum(t - 1, paddle.zeros([], "int64"))
        total.append(x[low : t + 1].mean(0))
        t = t + 1
    return paddle.stack(total)


def lanczos(a):
    """A basis whose rows a loop appends, each at right angles to those before."""
    basis, t = paddle.ones([1, 3]) / 3**0.5, zero()
    while t < 2:
        w = paddle.mv(a, basis[-1])
        w = w - paddle.mv(basis.t(), paddle.mv(basis, w))
        basis = paddle.concat([basis, (w / paddle.norm(w)).unsqueeze(0)])
        t = t + 1
    return basis @ a @ basis.t()


def collatz(x, n):
    """Whole numbers decide how often."""
    t = n[0]
    while t != 1:
        if t % 2 == 0:
            t, x = t // 2, paddle.sin(x) * 1.1
        else:
            t, x = 3 * t + 1, x * x - 0.3
    return x


edges = whole(2, 8, below=5, seed=3)
for name, make, *inputs in [
    ("ode", Ode, x2),
    ("equilibrium", Equilibrium, x2),
    ("early_exits", Exits, x2),
    ("kalman", Kalman, real(3, 2)),
    ("gaussian_process", GaussianProcess, real(4, 2), real(4)),
    ("sinkhorn", lambda: sinkhorn, real(3, 4, low=0.0)),
    ("conjugate_gradients", lambda: conjugate_gradients, positive(3), real(3)),
    ("power_iteration", lambda: power_iteration, positive(3)),
    ("soft_dtw", lambda: soft_dtw, real(3, 2), real(3, 2, seed=1)),
    ("pendulum", lambda: pendulum, real(2, 4)),
    ("bisection", lambda: bisection, real(4, low=0.5, high=4.0)),
    ("planner", Planner, x2),
    ("actor", Actor, real(5, 4), whole(5, below=3), real(5)),
    ("critic", Critic, x2, real(3, 4, seed=1), whole(3, 1, below=3)),
    ("graph_attention", Attention, real(5, 4), edges),
    ("interactions", Interactions, whole(4, 3, below=11), whole(4, below=2)),
    ("mixture_density", MixtureDensity, x2, real(3)),
    ("planar_flow", Planar, x2),
    ("slope_penalty", Penalty, x2),
    ("turing_machine", Turing, real(2, 3, 4)),
    ("pondering", Pondering, x2),
    ("steps_of_a_tensor", lambda: scheduled, x2, np.array(3)),
    ("switch_default", lambda: chosen, x2, np.array([1, 5])),
    ("nested_branches", lambda: nested_branches, real(3, 4, low=-0.9, high=1.4), x2),
    ("masked_rounds", lambda: masked_rounds, x2),
    ("sorted_rounds", lambda: sorted_rounds, x2),
    ("block_writes", lambda: block_writes, x2),
    ("running_window", lambda: running, x2),
    ("lanczos", lambda: lanczos, positive(3)),
    ("collatz", lambda: collatz, x2, np.array([6])),
]:
    case("solvers", name, make, *inputs)
