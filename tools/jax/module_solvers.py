"""Solvers, integrators, samplers, decoders and models that `module` differentiates, beside those of module_cases.py."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from module_cases import alternating as case, array, positive

KEY = jax.random.key(7)


def until(cond, step, start):
    return lax.while_loop(cond, step, start)


# ----- solvers -----


@case(positive(3), array(3), array(3), 0.7)
def cg_of_trees(a, b, c, d):
    """Conjugate gradients for a system whose unknowns are a tree."""

    def apply(x):
        return {"u": a @ x["u"] + 0.1 * x["v"] * c, "v": (2 + d) * x["v"] + 0.1 * jnp.sum(c * x["u"])}

    def dot(x, y):
        return sum(jnp.sum(p * q) for p, q in zip(jax.tree.leaves(x), jax.tree.leaves(y)))

    def axpy(s, x, y):
        return jax.tree.map(lambda p, q: s * p + q, x, y)

    rhs = {"u": b, "v": d * d}

    def step(state):
        x, r, p, rs, n = state
        ap = apply(p)
        alpha = rs / dot(p, ap)
        x, r = axpy(alpha, p, x), axpy(-alpha, ap, r)
        new = dot(r, r)
        return x, r, axpy(new / rs, p, r), new, n + 1

    start = jax.tree.map(jnp.zeros_like, rhs)
    return until(lambda s: (s[3] > 1e-14) & (s[4] < 20), step, (start, rhs, rhs, dot(rhs, rhs), 0))[0]


@case(array(4, low=0.2), array(4, 4))
def anderson(x, w):
    """A fixed point of a layer, with the last three residuals mixed."""
    m = 3

    def layer(z):
        return jnp.tanh(0.3 * w @ z + x)

    def step(state):
        k, z, zs, fs, _ = state
        f = layer(z) - z
        zs, fs = zs.at[k % m].set(z), fs.at[k % m].set(f)
        n = jnp.minimum(k + 1, m)
        live = (jnp.arange(m) < n).astype(x.dtype)
        gram = (fs * live[:, None]) @ (fs * live[:, None]).T + 1e-6 * jnp.eye(m) + jnp.diag(1 - live)
        alpha = jnp.linalg.solve(gram, live)
        alpha = alpha / jnp.sum(alpha)
        new = alpha @ zs + 0.9 * alpha @ fs
        return k + 1, new, zs, fs, jnp.linalg.norm(f)

    start = (0, jnp.zeros_like(x), jnp.zeros((m, 4), x.dtype), jnp.zeros((m, 4), x.dtype), jnp.array(1.0, x.dtype))
    return until(lambda s: (s[4] > 1e-6) & (s[0] < 30), step, start)[1]


@case(array(3), array(3, low=0.5, high=2.0))
def lbfgs(x, scale):
    """Two loops of corrections, and a backtracking search of the step in a loop of its own."""
    m = 4

    def loss(z):
        return jnp.sum(scale * (z - 1) ** 2) + 0.1 * jnp.sum(jnp.cos(z) * z)

    def direction(g, s, y, k):
        def down(j, carry):
            q, alphas = carry
            at = (k - 1 - j) % m
            rho = 1 / jnp.where(j < k, y[at] @ s[at], 1.0)
            a = jnp.where(j < k, rho * (s[at] @ q), 0.0)
            return q - a * y[at], alphas.at[at].set(a)

        q, alphas = lax.fori_loop(0, jnp.minimum(k, m), down, (g, jnp.zeros(m, g.dtype)))

        def up(j, r):
            at = (k - jnp.minimum(k, m) + j) % m
            b = (y[at] @ r) / (y[at] @ s[at])
            return r + (alphas[at] - b) * s[at]

        return -lax.fori_loop(0, jnp.minimum(k, m), up, 0.3 * q)

    def step(state):
        z, g, s, y, k = state
        d = direction(g, s, y, k)
        start = loss(z)
        t = until(lambda t: loss(z + t * d) > start + 1e-4 * t * (g @ d), lambda t: t * 0.5, jnp.ones((), z.dtype))
        new = z + t * d
        gn = jax.grad(loss)(new)
        return new, gn, s.at[k % m].set(new - z), y.at[k % m].set(gn - g), k + 1

    zeros = jnp.zeros((m, 3), x.dtype)
    out = until(lambda s: (jnp.linalg.norm(s[1]) > 1e-3) & (s[4] < 12), step, (x, jax.grad(loss)(x), zeros, zeros, 0))
    return out[0], out[4]


@case(array(3, low=0.5, high=1.5), array(3))
def newton_by_jacobian(a, b):
    """The Jacobian comes from `jacfwd` in the loop."""

    def f(x):
        return a * x**3 + jnp.roll(x, 1) ** 2 - b - 2

    def step(state):
        x, _, n = state
        d = jnp.linalg.solve(jax.jacfwd(f)(x), f(x))
        return x - d, jnp.max(jnp.abs(d)), n + 1

    return until(lambda s: (s[1] > 1e-10) & (s[2] < 50), step, (jnp.ones(3, a.dtype) * 1.5, jnp.ones((), a.dtype), 0))[0]


@case(np.array(2.0), np.array(0.3))
def bisection_of_bisections(a, b):
    """The function whose root is wanted has a root to be found itself."""

    def root(f, low, high, tolerance):
        def step(s):
            low, high = s
            middle = 0.5 * (low + high)
            return lax.cond(f(middle) > 0, lambda: (low, middle), lambda: (middle, high))

        low, high = until(lambda s: s[1] - s[0] > tolerance, step, (low, high))
        return low - f(low) * (high - low) / (f(high) - f(low))

    def inner(x):
        return root(lambda y: y**3 + y - x * a, jnp.zeros_like(x), x * a + 1, 1e-2)

    return root(lambda x: inner(x) + b * x - 1.5, jnp.zeros_like(a), jnp.full_like(a, 4.0), 1e-2)


@case(array(4, 3), array(4))
def least_squares_lm(m, target):
    """Levenberg and Marquardt: steps are taken or not, and the damping follows."""

    def residual(p):
        return jnp.tanh(m @ p) - 0.5 * target

    def step(state):
        p, damping, cost, n = state
        r, j = residual(p), jax.jacfwd(residual)(p)
        d = jnp.linalg.solve(j.T @ j + damping * jnp.eye(3), j.T @ r)
        new = p - d
        lower = jnp.sum(residual(new) ** 2)
        better = lower < cost
        return jnp.where(better, new, p), jnp.where(better, damping / 3, damping * 2), jnp.where(better, lower, cost), n + 1

    p = jnp.zeros(3, m.dtype)
    return until(lambda s: s[3] < 6, step, (p, jnp.array(0.1, m.dtype), jnp.sum(residual(p) ** 2), 0))[:3]


@case(positive(4), array(4))
def bicgstab(a, b):
    def step(s):
        x, r, p, rho, n = s
        v = a @ p
        alpha = rho / (b @ v)
        h = r - alpha * v
        t = a @ h
        w = (t @ h) / (t @ t)
        x, r = x + alpha * p + w * h, h - w * t
        new = b @ r
        return x, r, r + (new / rho) * (alpha / w) * (p - w * v), new, n + 1

    return until(lambda s: (jnp.sum(s[1] ** 2) > 1e-10) & (s[4] < 12), step, (jnp.zeros_like(b), b, b, b @ b, 0))[0]


@case(positive(4))
def jacobi_eigenvalues(a):
    """Rotations that zero the largest element off the diagonal."""

    def step(state):
        a, n = state
        off = jnp.abs(a - jnp.diag(jnp.diag(a)))
        at = jnp.argmax(off)
        i, j = at // 4, at % 4
        theta = 0.5 * jnp.arctan2(2 * a[i, j], a[j, j] - a[i, i])
        c, s = jnp.cos(theta), jnp.sin(theta)
        r = jnp.eye(4, dtype=a.dtype).at[i, i].set(c).at[j, j].set(c).at[i, j].set(s).at[j, i].set(-s)
        return r.T @ a @ r, n + 1

    return jnp.diag(until(lambda s: (jnp.max(jnp.abs(s[0] - jnp.diag(jnp.diag(s[0])))) > 1e-5) & (s[1] < 60), step, (a, 0))[0])


@case(array(5), array(5, low=0.3, high=0.9))
def admm_lasso(b, d):
    """Soft thresholds; the number of rounds follows from the residual."""

    def soft(x, k):
        return jnp.sign(x) * jnp.maximum(jnp.abs(x) - k, 0)

    def step(s):
        x, z, u, n = s
        x = (d * b + z - u) / (d * d + 1)
        new = soft(x + u, 0.1)
        return x, new, u + x - new, n + 1

    return until(lambda s: (jnp.linalg.norm(s[0] - s[1]) > 1e-4) & (s[3] < 40) | (s[3] == 0), step, (b, b * 0, b * 0, 0))[1]


@case(array(6, low=0.1, high=1.0), np.array(1.0))
def simplex_projection(x, total):
    """By bisection of the multiplier, with an odd number of rounds."""

    def step(s):
        low, high, n = s
        mid = (low + high) / 2
        more = jnp.sum(jnp.maximum(x - mid, 0)) > total
        return jnp.where(more, mid, low), jnp.where(more, high, mid), n + 1

    low, high, _ = until(lambda s: s[1] - s[0] > 1e-3, step, (jnp.min(x) - total, jnp.max(x), 0))
    live = x > (low + high) / 2
    theta = (jnp.sum(jnp.where(live, x, 0)) - total) / jnp.sum(live)
    return jnp.maximum(x - theta, 0)


@case(array(4, 4), array(4, 4, low=0.1))
def multigrid_like(u, f):
    """Sweeps on two grids, the coarse one in the loop of the fine one."""

    def smooth(u, f, n):
        def sweep(_, u):
            p = jnp.pad(u, 1)
            return 0.5 * u + 0.125 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f)

        return lax.fori_loop(0, n, sweep, u)

    def cycle(state):
        u, n = state
        u = smooth(u, f, 1 + n % 2)
        p = jnp.pad(u, 1)
        r = f - 4 * u + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        coarse = lax.reduce_window(r, 0.0, lax.add, (2, 2), (2, 2), "VALID")
        e = smooth(jnp.zeros_like(coarse), coarse, 2)
        return u + 0.2 * jax.image.resize(e, (4, 4), "bilinear"), n + 1

    return until(lambda s: s[1] < 3, cycle, (u, 0))[0]


@case(array(3, low=0.5, high=2.0))
def root_by_brent_like(a):
    """A switch of three kinds of steps."""

    def one(a):
        f = lambda x: x * jnp.exp(x) - a  # noqa: E731

        def step(s):
            low, high, k = s
            secant = high - f(high) * (high - low) / (f(high) - f(low))
            middle = lax.switch(k % 3, [lambda: secant, lambda: (low + high) / 2, lambda: high - f(high) / (jnp.exp(high) * (1 + high))])
            middle = jnp.clip(middle, low, high)
            return jnp.where(f(middle) > 0, low, middle), jnp.where(f(middle) > 0, middle, high), k + 1

        low, high, _ = until(lambda s: (s[1] - s[0] > 1e-3) & (s[2] < 20), step, (jnp.zeros_like(a), a + 1, 0))
        return high - f(high) / (jnp.exp(high) * (1 + high))

    return jax.vmap(one)(a)


# ----- differential equations -----

A5 = [[1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729], [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]]
B5 = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
E5 = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


@case(np.array([1.0, 0.2]), array(2, 8), array(8, 2))
def dormand_prince(y0, w1, w2):
    """A neural field, integrated with steps that are accepted or not."""

    def field(y):
        return jnp.tanh(y @ w1) @ w2 - 0.3 * y

    def step(state):
        t, y, h, n = state
        ks = [field(y)]
        for row in A5:
            ks.append(field(y + h * sum(c * k for c, k in zip(row, ks))))
        new = y + h * sum(c * k for c, k in zip(B5, ks))
        ks.append(field(new))
        err = jnp.sqrt(jnp.mean((h * sum(c * k for c, k in zip(E5, ks)) / (1e-5 + 1e-4 * jnp.abs(y))) ** 2) + 1e-20)
        factor = jnp.clip(0.9 * err**-0.2, 0.2, 5.0)
        good = err <= 1
        return jnp.where(good, t + h, t), jnp.where(good, new, y), jnp.minimum(h * factor, 2.0 - jnp.where(good, t + h, t) + 1e-9), n + 1

    return until(lambda s: (s[0] < 2.0 - 1e-6) & (s[3] < 60), step, (jnp.zeros((), y0.dtype), y0, jnp.array(0.3, y0.dtype), 0))[1]


@case(array(3), np.array(0.4))
def implicit_euler(y, k):
    """A Newton iteration in every step, and a dense output in `scan`."""

    def f(y):
        return jnp.stack([-k * y[0] + y[1] * y[2], k * y[0] - y[1] * y[2] - y[1] ** 2, y[1] ** 2])

    def step(y, h):
        def newton(s):
            z, _, n = s
            r = z - y - h * f(z)
            d = jnp.linalg.solve(jnp.eye(3) - h * jax.jacfwd(f)(z), r)
            return z - d, jnp.linalg.norm(d), n + 1

        z = until(lambda s: (s[1] > 1e-9) & (s[2] < 10), newton, (y, jnp.ones((), y.dtype), 0))[0]
        return z, z[0]

    return lax.scan(step, y, jnp.array([0.1, 0.2, 0.4]))


@case(array(2, low=0.5), np.array(9.8))
def bouncing_ball(state, g):
    """Events: the loop runs to the next contact, a second one from contact to contact."""

    def flight(s):
        h, v, t, n = s

        def fall(r):
            h, v, t = r
            return h + 0.05 * v - 0.5 * g * 0.0025, v - g * 0.05, t + 0.05

        h, v, t = until(lambda r: r[0] + 0.05 * r[1] - 0.5 * g * 0.0025 > 0, fall, (h, v, t))
        rest = (v + jnp.sqrt(v * v + 2 * g * h)) / g
        return jnp.zeros_like(h), -0.7 * (v - g * rest), t + rest, n + 1

    h, v, t, _ = until(lambda s: s[3] < 3, flight, (state[0] + 0.5, state[1], jnp.zeros(()), 0))
    return v, t


@case(array(4, 2), array(4, low=0.5, high=1.5))
def leapfrog_bodies(x, mass):
    def force(x):
        d = x[:, None] - x[None]
        r = jnp.sqrt(jnp.sum(d * d, -1) + 0.1)
        return -jnp.sum(mass[None, :, None] * d / r[..., None] ** 3, 1)

    def step(s):
        x, v, t = s
        dt = 0.05 / (1 + jnp.max(jnp.abs(v)))
        v = v + dt / 2 * force(x)
        x = x + dt * v
        return x, v + dt / 2 * force(x), t + dt

    return until(lambda s: s[2] < 0.3, step, (x, x * 0, jnp.zeros(())))[:2]


@case(array(8), np.array(0.8))
def spectral_burgers(u, nu):
    """Fourier modes of an equation, with a time step that follows from the speed."""
    k = jnp.fft.rfftfreq(8, 1 / 8)

    def slope(u):
        uh = jnp.fft.rfft(u)
        ux, uxx = jnp.fft.irfft(1j * k * uh, 8), jnp.fft.irfft(-(k**2) * uh, 8)
        return -u * ux + 0.05 * nu * uxx

    def step(s):
        u, t, n = s
        dt = 0.1 / (1 + jnp.max(jnp.abs(u)))
        return u + dt * slope(u + dt / 2 * slope(u)), t + dt, n + 1

    return until(lambda s: s[1] < 0.3, step, (u, jnp.zeros(()), 0))[0]


# ----- random numbers -----


@case(array(3), array(3, low=0.5, high=1.5))
def hamiltonian_monte_carlo(x, scale):
    def energy(x):
        return 0.5 * jnp.sum(scale * x * x) + 0.1 * jnp.sum(x**4)

    def step(state):
        key, x, n, taken = state
        key, k1, k2 = jax.random.split(key, 3)
        p = jax.random.normal(k1, x.shape, x.dtype)
        g = jax.grad(energy)

        def leap(_, s):
            x, p = s
            p = p - 0.1 * g(x)
            x = x + 0.2 * p
            return x, p - 0.1 * g(x)

        y, q = lax.fori_loop(0, 2 + n % 2, leap, (x, p))
        gain = energy(x) + 0.5 * p @ p - energy(y) - 0.5 * q @ q
        take = jnp.log(jax.random.uniform(k2, (), x.dtype)) < gain
        return key, jnp.where(take, y, x), n + 1, taken + take

    _, x, _, taken = until(lambda s: s[2] < 4, step, (KEY, x, 0, 0))
    return x, taken


@case(np.array(1.3), np.array(0.4))
def rejection_sampler(a, b):
    """Draws until one is accepted: the key is carried."""

    def draw(state):
        key, x, done, n = state
        key, k1, k2 = jax.random.split(key, 3)
        y = a * jax.random.exponential(k1, (), jnp.float64)
        good = jax.random.uniform(k2, (), jnp.float64) < jnp.exp(-b * (y - 1) ** 2)
        return key, y * b, good, n + 1

    out = until(lambda s: ~s[2], draw, (KEY, jnp.zeros_like(a), jnp.array(False), 0))
    return out[1], out[3]


@case(array(4), np.array(0.7))
def gumbel_chain(logits, temperature):
    def step(k, x):
        noise = jax.random.gumbel(jax.random.fold_in(KEY, k), x.shape, x.dtype)
        return x + jax.nn.softmax((x + noise) / temperature) * 0.3

    return lax.fori_loop(0, 3, step, logits)


@case(array(4), array(4, low=0.1, high=0.5))
def dropout_rnn(x, w):
    def step(state):
        key, h, n = state
        key, sub = jax.random.split(key)
        keep = jax.random.bernoulli(sub, 0.7, h.shape)
        order = jax.random.permutation(sub, 4)
        return key, jnp.where(keep, jnp.tanh(h * w + x) / 0.7, 0)[order], n + 1

    return until(lambda s: s[2] < 4, step, (KEY, x, 0))[1]


@case(array(6, low=0.1, high=1.0))
def particle_filter(observed):
    """Particles are weighted and drawn again by their weights."""

    def step(carry, y):
        key, p = carry
        key, k1, k2 = jax.random.split(key, 3)
        p = 0.9 * p + 0.3 * jax.random.normal(k1, p.shape, p.dtype)
        logw = -0.5 * (y - p) ** 2 / 0.2
        at = jnp.searchsorted(jnp.cumsum(jax.nn.softmax(lax.stop_gradient(logw))), (jnp.arange(8) + jax.random.uniform(k2)) / 8)
        return (key, p[jnp.clip(at, 0, 7)]), jax.nn.logsumexp(logw)

    (_, p), total = lax.scan(step, (KEY, jnp.linspace(-1, 1, 8) * observed[0]), observed)
    return p, jnp.sum(total)


# ----- decoders and dynamic programs -----


@case(array(5, 4), array(4, 4), array(4))
def viterbi_traced(emission, transition, start):
    """The best path, and then the score of it, read backward."""

    def forward(state):
        t, score, back = state
        all_ = score[:, None] + transition
        best = jnp.argmax(all_, 0)
        return t + 1, jnp.max(all_, 0) + emission[t], back.at[t].set(best)

    _, score, back = until(lambda s: s[0] < 5, forward, (1, start + emission[0], jnp.zeros((5, 4), jnp.int64)))

    def backward(s):
        t, at, total, path = s
        return t - 1, back[t, at], total + emission[t, at] * t, path.at[t].set(at)

    _, at, total, path = until(lambda s: s[0] > 0, backward, (4, jnp.argmax(score), jnp.zeros(()), jnp.zeros(5, jnp.int64)))
    return jnp.max(score), total + emission[0, at], path


@case(array(6, 5))
def ctc_forward(logits):
    """The forward variables of CTC for labels with blanks between them."""
    labels = jnp.array([0, 1, 0, 2, 0, 2, 0])
    logp = jax.nn.log_softmax(logits)
    skip = jnp.array([False, False, False, True, False, False, False])

    def step(s):
        t, alpha = s
        one = jnp.concatenate([jnp.full(1, -1e30), alpha[:-1]])
        two = jnp.where(skip, jnp.concatenate([jnp.full(2, -1e30), alpha[:-2]]), -1e30)
        return t + 1, jax.nn.logsumexp(jnp.stack([alpha, one, two]), 0) + logp[t, labels]

    alpha = jnp.full(7, -1e30).at[0].set(logp[0, 0]).at[1].set(logp[0, 1])
    _, alpha = until(lambda s: s[0] < 6, step, (1, alpha))
    return -jnp.logaddexp(alpha[-1], alpha[-2])


@case(array(5, 5), array(5))
def beam_search(step_scores, first):
    """Two hypotheses, with back pointers and lengths; ends at an end token."""

    def step(s):
        t, scores, tokens, done = s
        all_ = scores[:, None] + jax.nn.log_softmax(step_scores[tokens[:, t]], -1)
        all_ = jnp.where(done[:, None], jnp.where(jnp.arange(5) == 4, scores[:, None], -1e9), all_)
        best, at = lax.top_k(all_.reshape(-1), 2)
        rows, token = at // 5, at % 5
        tokens = tokens[rows].at[:, t + 1].set(token)
        return t + 1, best, tokens, done[rows] | (token == 4)

    scores, tokens = lax.top_k(jax.nn.log_softmax(first), 2)
    start = (0, scores, jnp.zeros((2, 6), jnp.int64).at[:, 0].set(tokens), tokens == 4)
    t, scores, tokens, done = until(lambda s: (s[0] < 5) & ~jnp.all(s[3]), step, start)
    return scores / (1.0 + t), tokens


@case(array(4, 4), np.array(0.5))
def soft_dtw(cost, gamma):
    def row(i, table):
        def column(j, table):
            three = jnp.stack([table[i, j], table[i, j + 1], table[i + 1, j]])
            return table.at[i + 1, j + 1].set(cost[i, j] - gamma * jax.nn.logsumexp(-three / gamma))

        return lax.fori_loop(0, 4, column, table)

    start = jnp.full((5, 5), 1e6).at[0, 0].set(0.0)
    return lax.fori_loop(0, 4, row, start)[4, 4]


@case(array(4, 4), array(4, 4))
def inside_algorithm(scores, merge):
    """Spans of growing length, split everywhere: bounds depend on the outer loops."""
    n = 4

    def width(w, table):
        def left(i, table):
            j = i + w

            def split(k, total):
                return jnp.logaddexp(total, table[i, k] + table[k + 1, j] + merge[i, k])

            return table.at[i, j].set(scores[i, j] + lax.fori_loop(i, j, split, jnp.full((), -1e9)))

        return lax.fori_loop(0, n - w, left, table)

    return lax.fori_loop(1, n, width, jnp.diag(jnp.diag(scores)))[0, 3]


@case(array(4, 4, low=0.1))
def floyd_warshall(d):
    return lax.fori_loop(0, 4, lambda k, d: jnp.minimum(d, d[:, k, None] + d[None, k]), d)


@case(array(4, 4, low=0.1), array(4))
def value_iteration(p, reward):
    p = p / jnp.sum(p, 1, keepdims=True)
    moves = jnp.stack([p, jnp.roll(p, 1, 0)])

    def step(s):
        v, _, n = s
        new = jnp.max(reward + 0.6 * moves @ v, 0)
        return new, jnp.max(jnp.abs(new - v)), n + 1

    return until(lambda s: s[1] > 1e-4, step, (reward, jnp.ones(()), 0))[0]


@case(array(6, 3), array(3))
def greedy_matching(x, w):
    """Rows are taken by their score until nothing good remains; booleans are carried."""

    def step(s):
        free, total, n = s
        score = jnp.where(free, jax.nn.sigmoid(x @ w), -1.0)
        at = jnp.argmax(score)
        near = jnp.sum((x - x[at]) ** 2, 1) < 0.5
        return free & ~near, total + score[at] * x[at], n + 1

    free, total, n = until(lambda s: jnp.any(s[0]) & (s[2] < 10), step, (jnp.ones(6, bool), jnp.zeros(3), 0))
    return total, free, n
