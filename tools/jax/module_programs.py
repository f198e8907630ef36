"""Programs that `module` differentiates, as users of JAX write them: optimizers, solvers, samplers, graphs, control, signals."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from module_cases import R, alternating as case, array, positive

KEY = jax.random.key(23)
# The numbers of the modules after this one do not depend on it.
BEFORE = R.bit_generator.state


def until(cond, step, start):
    return lax.while_loop(cond, step, start)


# ----- optimizers -----


@case(array(6, 3), array(6), np.float64(0.3))
def adam_to_convergence(x, y, rate):
    loss = lambda w: jnp.mean((x @ w["w"] + w["b"] - y) ** 2)

    def step(s):
        w, m, v, k, _ = s
        g = jax.grad(loss)(w)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        k = k + 1
        w = jax.tree.map(lambda w, m, v: w - rate * (m / (1 - 0.9**k)) / (jnp.sqrt(v / (1 - 0.99**k)) + 1e-3), w, m, v)
        return w, m, v, k, sum(jnp.sum(l * l) for l in jax.tree.leaves(g))

    w = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    z = jax.tree.map(jnp.zeros_like, w)
    return until(lambda s: (s[4] > 1e-3) & (s[3] < 12), step, (w, z, z, 0, jnp.ones(())))[0]


@case(array(4), positive(4))
def nesterov_with_restart(b, a):
    def step(s):
        x, y, t, k = s
        new = y - 0.2 * (a @ y - b)
        restart = (y - new) @ (new - x) > 0
        t1 = jnp.where(restart, 1.0, (1 + jnp.sqrt(1 + 4 * t * t)) / 2)
        y = lax.cond(restart, lambda: new, lambda: new + (t - 1) / t1 * (new - x))
        return new, y, t1, k + 1

    return until(lambda s: (jnp.linalg.norm(a @ s[0] - b) > 1e-2) & (s[3] < 15), step, (b, b, 1.0, 0))[0]


@case(array(8, 3), array(8, low=0.0))
def irls_logistic(x, y):
    def step(s):
        w, _, k = s
        p = jax.nn.sigmoid(x @ w)
        h = x.T @ ((p * (1 - p))[:, None] * x) + 0.1 * jnp.eye(3)
        d = jnp.linalg.solve(h, x.T @ (y - p) - 0.1 * w)
        return w + d, jnp.max(jnp.abs(d)), k + 1

    return until(lambda s: (s[1] > 1e-8) & (s[2] < 10), step, (jnp.zeros(3), jnp.ones(()), 0))[0]


@case(array(5), array(5, low=0.1))
def frank_wolfe(c, q):
    def step(k, x):
        g = q * x + c
        s = jax.nn.one_hot(jnp.argmin(g), 5)
        d = s - x
        gamma = jnp.clip(-(g @ d) / jnp.maximum(d @ (q * d), 1e-9), 0, 1)
        return x + gamma * d

    return lax.fori_loop(0, 6, step, jnp.full(5, 0.2) * jnp.sum(c * 0 + 1) / 5)


@case(array(4, low=0.2), np.float64(0.7))
def mirror_descent(c, rate):
    def step(s):
        p, k = s
        logits = jnp.log(p) - rate / jnp.sqrt(k + 1.0) * (c + p)
        return jax.nn.softmax(logits), k + 1

    return until(lambda s: (jnp.max(s[0]) < 0.45) & (s[1] < 9), step, (jnp.full(4, 0.25), 0))


# ----- differential equations -----


@case(array(3, low=0.2), array(3, low=0.1, high=0.5))
def milstein_until_exit(x, sigma):
    def step(s):
        x, key, t = s
        key, sub = jax.random.split(key)
        dw = 0.2 * jax.random.normal(sub, x.shape)
        x = x + 0.04 * (1 - x) + sigma * x * dw + 0.5 * sigma**2 * x * (dw**2 - 0.04)
        return x, key, t + 1

    return until(lambda s: (jnp.max(s[0]) < 1.1) & (s[2] < 20), step, (x, KEY, 0))[::2]


@case(array(2), np.float64(2.0), np.float64(0.1))
def rosenbrock_stiff(y, mu, h):
    f = lambda y: jnp.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    def step(s):
        y, t = s
        w = jnp.eye(2) - 0.3 * h * jax.jacfwd(f)(y)
        k1 = jnp.linalg.solve(w, f(y))
        k2 = jnp.linalg.solve(w, f(y + h * k1) - 2 * k1)
        return y + 1.5 * h * k1 + 0.5 * h * k2, t + h

    return until(lambda s: s[1] < 0.75, step, (y, 0.0))[0]


@case(array(8), np.float64(0.3))
def implicit_heat(u, nu):
    """A tridiagonal system per step, by Thomas's algorithm as two scans."""
    n = u.shape[0]

    def step(_, u):
        def forward(c, d):
            cp, dp = c
            m = 1 + 2 * nu + nu * cp
            cp, dp = -nu / m, (d + nu * dp) / m
            return (cp, dp), (cp, dp)

        _, (cp, dp) = lax.scan(forward, (jnp.zeros(()), jnp.zeros(())), u)
        back = lambda x, cd: (cd[1] - cd[0] * x,) * 2
        return lax.scan(back, jnp.zeros(()), (cp, dp), reverse=True)[1]

    return lax.fori_loop(0, jnp.where(nu > 0.2, 5, 3), step, u)


@case(array(4), array(4, 4, low=-0.3, high=0.3))
def interpolated_trajectory(x, a):
    def step(s):
        t, x, ts, xs, k = s
        h = 0.1 + 0.05 * jnp.tanh(jnp.sum(x))
        x = x + h * jnp.tanh(a @ x)
        return t + h, x, ts.at[k].set(t + h), xs.at[k].set(x[0]), k + 1

    out = until(lambda s: (s[0] < 0.9) & (s[4] < 12), step, (0.0, x, jnp.full(12, 5.0), jnp.zeros(12), 0))
    return jnp.interp(jnp.array([0.15, 0.4, 0.77]), out[2], out[3])


# ----- samplers, decoders -----


@case(array(5), np.float64(0.4))
def metropolis(x, scale):
    logp = lambda x: -jnp.sum(x**4) / 4 + jnp.sum(jnp.cos(x)) * scale

    def step(i, s):
        x, taken = s
        k1, k2 = jax.random.split(jax.random.fold_in(KEY, i))
        y = x + scale * jax.random.normal(k1, x.shape)
        ok = jnp.log(jax.random.uniform(k2)) < logp(y) - logp(x)
        return jnp.where(ok, y, x), taken + ok

    return lax.fori_loop(0, jnp.where(scale > 0, 7, 2), step, (x, 0))


@case(array(4, low=0.5, high=2.0))
def stick_breaking(a):
    def step(s):
        rest, out, k = s
        v = jax.random.uniform(jax.random.fold_in(KEY, k)) ** (1 / a[k % 4])
        return rest * (1 - v), out.at[k].set(rest * v), k + 1

    return until(lambda s: (s[0] > 0.02) & (s[2] < 10), step, (jnp.ones(()), jnp.zeros(10), 0))[1]


@case(array(7, 7), array(7, 4), array(4))
def greedy_decoder_with_penalty(bigram, emb, w):
    def step(s):
        token, seen, total, k = s
        logits = bigram[token] + emb @ w - 0.7 * seen
        token = jnp.argmax(logits)
        return token, seen.at[token].add(1.0), total + jax.nn.log_softmax(logits)[token], k + 1

    return until(lambda s: (s[0] != 3) & (s[3] < 9), step, (0, jnp.zeros(7), 0.0, 0))[1:]


@case(array(6, 3), array(3, 3))
def forward_backward(obs, trans):
    a = jax.nn.log_softmax(trans, 1)
    f = lambda c, o: (jax.nn.logsumexp(c[:, None] + a, 0) + o,) * 2
    b = lambda c, o: (jax.nn.logsumexp(a + (o + c)[None], 1), c)
    alpha = lax.scan(f, obs[0], obs[1:])[1]
    beta = lax.scan(b, jnp.zeros(3), obs[1:], reverse=True)[1]
    return jax.nn.softmax(alpha[:-1] + beta[1:], 1)


# ----- fixed points, control -----


@case(array(3, 3, low=-0.5, high=0.5), array(3, 1), positive(3))
def riccati_doubling(a, b, q):
    def step(s):
        a, g, h, k = s
        w = jnp.linalg.inv(jnp.eye(3) + g @ h)
        return a @ w @ a, g + a @ w @ g @ a.T, h + a.T @ h @ w @ a, k + 1

    return until(lambda s: (jnp.linalg.norm(s[0]) > 1e-6) & (s[3] < 8), step, (a, b @ b.T, q, 0))[2]


@case(array(2), array(5), np.float64(0.2))
def mpc_by_gradient(x, u, dt):
    def rollout(u):
        def f(x, u):
            x = jnp.stack([x[0] + dt * x[1], x[1] + dt * (u - jnp.sin(x[0]))])
            return x, x @ x + 0.1 * u * u

        return jnp.sum(lax.scan(f, x, u)[1])

    def step(s):
        u, last, k = s
        v, g = jax.value_and_grad(rollout)(u)
        return jnp.clip(u - 0.3 * g, -0.8, 0.8), v, k + 1

    return until(lambda s: s[2] < 5, step, (u, jnp.inf, 0))[0]


@case(array(4, 2), array(4, low=0.1, high=0.4))
def position_based_rope(x, rest):
    def constraint(k, x):
        d = x[k + 1] - x[k]
        n = jnp.linalg.norm(d)
        move = 0.5 * jnp.where(n > rest[k], (n - rest[k]) / n, 0.0) * d
        return x.at[k].add(move).at[k + 1].add(-move)

    sweep = lambda s: (lax.fori_loop(0, 3, constraint, s[0]), s[1] + 1)
    long = lambda x: jnp.max(jnp.linalg.norm(x[1:] - x[:-1], axis=1) - rest[:3]) > 0.05
    return until(lambda s: long(s[0]) & (s[1] < 6), sweep, (x, 0))[0]


@case(array(3), array(3))
def custom_jvp_in_while(x, w):
    f = jax.custom_jvp(lambda x: jnp.sin(x) * 3)
    f.defjvp(lambda p, t: (jnp.sin(p[0]) * 3, 3 * jnp.cos(p[0]) * t[0]))
    return until(lambda s: s[1] < 4, lambda s: (f(s[0] * w) - x, s[1] + 1), (x, 0))[0]


# ----- graphs -----


@case(array(8, low=0.1), array(5))
def bellman_ford(w, start):
    src, dst = jnp.array([0, 0, 1, 1, 2, 3, 3, 4]), jnp.array([1, 2, 2, 3, 4, 4, 1, 0])

    def step(s):
        d, _, k = s
        new = jnp.minimum(d, jax.ops.segment_min(d[src] + w, dst, 5))
        return new, jnp.any(new < d), k + 1

    return until(lambda s: s[1] & (s[2] < 6), step, (start * 0 + jnp.array([0.0, 9, 9, 9, 9]), True, 0))[0]


@case(array(8, low=0.1), np.float64(0.8))
def page_rank(w, damping):
    src, dst = jnp.array([0, 0, 1, 1, 2, 3, 3, 4]), jnp.array([1, 2, 2, 3, 4, 4, 1, 0])
    p = w / jax.ops.segment_sum(w, src, 5)[src]

    def step(s):
        r, _ = s
        new = (1 - damping) / 5 + damping * jax.ops.segment_sum(r[src] * p, dst, 5)
        return new, jnp.sum(jnp.abs(new - r))

    return until(lambda s: s[1] > 1e-3, step, (jnp.full(5, 0.2), jnp.ones(())))[0]


@case(array(5, 5), array(5))
def prim_tree(w, x):
    w = (w + w.T) / 2 + x[:, None] * x

    def step(k, s):
        inside, total = s
        cross = jnp.where(inside[:, None] & ~inside[None], w, jnp.inf)
        at = jnp.argmin(cross)
        return inside.at[at % 5].set(True), total + cross.ravel()[at] ** 2

    return lax.fori_loop(0, 4, step, (jnp.arange(5) == 0, 0.0))[1]


@case(array(6), array(6))
def edit_distance_soft(a, b):
    def row(prev, x):
        def cell(left, u):
            up, diag, y = u
            v = -jax.nn.logsumexp(-jnp.stack([left + 1, up + 1, diag + (x - y) ** 2]))
            return v, v

        first = prev[0] + 1
        rest = lax.scan(cell, first, (prev[1:], prev[:-1], b))[1]
        return jnp.concatenate([first[None], rest]), None

    return lax.scan(row, jnp.arange(7.0), a)[0][-1]


# ----- signals, complex numbers, scans, windows -----


@case(array(8), array(8, low=0.5, high=1.5))
def gerchberg_saxton(phase, amplitude):
    def step(s):
        p, k = s
        far = jnp.fft.fft(amplitude * jnp.exp(1j * p))
        near = jnp.fft.ifft(far / (jnp.abs(far) + 0.1))
        return jnp.angle(near + 0.05), k + 1

    return until(lambda s: s[1] < 4, step, (phase, 0))[0]


@case(array(2), array(6))
def mandelbrot_distance(c, x):
    z0 = lax.complex(c[0], c[1])

    def step(s):
        z, dz, n = s
        return z * z + z0, 2 * z * dz + 1, n + 1

    z, dz, n = until(lambda s: (jnp.abs(s[0]) < 2) & (s[2] < 9), step, (0j * z0 + x[0], 0j * z0, 0))
    return jnp.abs(z) * jnp.log1p(jnp.abs(z)) / (1 + jnp.abs(dz)), jnp.sum(x * x)


@case(array(6, 2), array(6, 2))
def affine_associative_scan(a, b):
    def step(s):
        b, k = s
        f = lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1])
        return jnp.tanh(lax.associative_scan(f, (a, b))[1]), k + 1

    return until(lambda s: (jnp.sum(s[0] ** 2) > 0.1) & (s[1] < 4), step, (b, 0))[0]


@case(array(1, 8, 8, 1), np.float64(0.3))
def pooled_diffusion(x, c):
    def step(s):
        x, k = s
        mean = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9
        peak = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "SAME")
        return (1 - c) * x + c * mean + 0.1 * jnp.tanh(peak), k + 1

    return until(lambda s: (jnp.var(s[0]) > 0.05) & (s[1] < 5), step, (x, 0))[0]


@case(array(3, 4), array(4), np.float64(0.5))
def mapped_while_with_switch(x, w, c):
    def one(x):
        branches = [lambda v: jnp.sin(v) * w, lambda v: v / (1 + v * v), lambda v: v - c * w]
        step = lambda s: (lax.switch(s[1] % 3, branches, s[0]), s[1] + 1)
        return until(lambda s: (jnp.sum(s[0] ** 2) > 0.3) & (s[1] < 7), step, (x, 0))

    return jax.vmap(one)(x)


@case(array(3, 5), array(3, low=0.5, high=3.0))
def mapped_newton_of_quantiles(x, q):
    def one(x, q):
        f = lambda t: jnp.mean(jax.nn.sigmoid(t - x)) - q / 4

        def step(s):
            t, _, k = s
            v, d = jax.jvp(f, (t,), (jnp.ones_like(t),))
            return t - v / d, jnp.abs(v), k + 1

        return until(lambda s: (s[1] > 1e-10) & (s[2] < 20), step, (jnp.mean(x), 1.0, 0))[0]

    return jax.vmap(one)(x, q)


@case(array(10), array(3))
def sorted_quantiles(x, w):
    def step(s):
        x, k = s
        y = jnp.sort(x)
        spread = jnp.quantile(y, jnp.array([0.2, 0.5, 0.9]))
        return x - 0.3 * jnp.sum(w * spread) * jnp.tanh(x), k + 1

    return until(lambda s: s[1] < 3, step, (x, 0))[0], jnp.cumsum(x)[::3], jnp.median(x)


@case(positive(4), array(4, 2))
def block_power(a, v):
    def step(s):
        v, old, k = s
        q, r = jnp.linalg.qr(a @ v)
        q = q * jnp.sign(jnp.diag(r))
        return q, jnp.abs(jnp.diag(r)), k + 1

    v, r, k = until(lambda s: s[2] < 5, step, (v, jnp.ones(2), 0))
    return v, jnp.linalg.slogdet(v.T @ a @ v)[1], r


@case(array(5, 2), array(2), np.float64(0.6))
def online_normalizer(x, w, decay):
    def f(s, x):
        mean, var = s
        d = x - mean
        mean = mean + (1 - decay) * d
        var = decay * (var + (1 - decay) * d * d)
        return (mean, var), d / jnp.sqrt(var + 1e-3) * w

    def step(s):
        x, k = s
        return lax.scan(jax.checkpoint(f), (jnp.zeros(2), jnp.ones(2)), x)[1], k + 1

    return until(lambda s: s[1] < 3, step, (x, 0))[0]


@case(array(6), array(3, 3), array(6))
def neural_sort_in_loop(x, w, y):
    def step(s):
        x, k = s
        p = jax.nn.softmax(-jnp.abs(jnp.sort(x)[:, None] - x[None]) * 3, 1)
        z = jnp.einsum("ij,jk->ik", (p @ y).reshape(2, 3), w).ravel()
        return x + 0.2 * z, k + 1

    return until(lambda s: s[1] < 3, step, (x, 0))[0]


@case(array(4, 6), array(4, 6))
def dtw_on_diagonals(a, b):
    """Roll, where, and carried rows in place of nested loops."""
    cost = jnp.sum((a[:, :, None] - b[:, None, :]) ** 2, 0)

    def f(c, k):
        last, before = c
        i = jnp.arange(6)
        j = k - i
        at = jnp.where((j >= 0) & (j < 6), cost[i, jnp.clip(j, 0, 5)], 1e6)
        up = jnp.roll(last, 1).at[0].set(1e6)
        diag = jnp.roll(before, 1).at[0].set(jnp.where(k == 0, 0.0, 1e6))
        new = at - 0.5 * jax.nn.logsumexp(-2 * jnp.stack([last, up, diag]), axis=0)
        return (new, last), None

    return lax.scan(f, (jnp.full(6, 1e6), jnp.full(6, 1e6)), jnp.arange(11))[0][0][-1]


@case(array(4), array(4, 4))
def switch_of_whiles(x, w):
    shrink = lambda x: until(lambda x: jnp.sum(x * x) > 0.5, lambda x: 0.7 * jnp.tanh(w @ x), x)
    grow = lambda x: until(lambda x: jnp.sum(x * x) < 2.0, lambda x: 1.3 * x + 0.01 * (w @ x), x)
    f = lambda s: (lax.switch((s[1] + 1) % 3, [shrink, grow, jnp.sin], s[0]), s[1] + 1)
    return until(lambda s: s[1] < 4, f, (x, 0))[0]


@case(array(3, 4), array(5, 4))
def memory_addressed_by_content(q, memory):
    def f(memory, q):
        a = jax.nn.softmax(memory @ q)
        k = jnp.argmin(a)
        memory = lax.dynamic_update_slice(memory, (0.5 * q + a @ memory)[None], (k, 0))
        return memory, lax.dynamic_slice_in_dim(memory, jnp.argmax(a), 2, 0).sum(0)

    def step(s):
        memory, out, k = s
        memory, new = lax.scan(f, memory, q + 0.1 * out)
        return memory, new, k + 1

    return until(lambda s: (s[2] < 3) & (jnp.max(s[1]) < 5), step, (memory, jnp.zeros((3, 4)), 0))[:2]


@case(array(7, low=-0.9, high=0.9), array(3))
def lattice_filter(x, k):
    def f(state, x):
        def stage(c, ks):
            k, b = ks
            return c - k * b, b + k * (c - k * b)

        out, new = lax.scan(stage, x, (jnp.tanh(k), state))
        return jnp.concatenate([out[None], new[:-1]]), out

    return lax.scan(f, jnp.zeros(3), x)[1]


@case(array(3), array(3))
def polynomial_roots_and_gamma(a, x):
    f = lambda t: jnp.polyval(jnp.concatenate([jnp.ones(1), a]), t)

    def step(s):
        t, k = s
        v = f(t)
        d = jax.vmap(jax.grad(f))(t)
        return t - v * d / (d * d + 0.1), k + 1

    t = until(lambda s: (jnp.max(jnp.abs(f(s[0]))) > 1e-2) & (s[1] < 6), step, (x, 0))[0]
    return t, jax.scipy.special.gammaln(2 + t * t), jax.scipy.special.erf(t), jax.scipy.stats.norm.logcdf(t)


@case(array(2, 6), array(2, 3))
def unequal_lengths(x, w):
    """Each row runs for as long as its own numbers say; the integers of the state are results too."""

    def one(x, w):
        n = jnp.clip(jnp.sum(x > 0), 1, 5)
        f = lambda i, h: jnp.tanh(h * w + jnp.take(x, i))
        return lax.fori_loop(0, n, f, jnp.zeros(3)), n

    return jax.vmap(one)(x, w)


@case(array(5), np.float64(0.4))
def muller_in_the_plane(c, shift):
    """The secant method for a complex root."""
    f = lambda z: jnp.polyval(c, z) + shift * jnp.exp(z)

    def step(s):
        z, old, k = s
        return z - f(z) * (z - old) / (f(z) - f(old)), z, k + 1

    start = (lax.complex(shift, 1.0), lax.complex(0.3, shift), 0)
    z = until(lambda s: (jnp.abs(f(s[0])) > 1e-3) & (s[2] < 5), step, start)[0]
    return z.real, z.imag


R.bit_generator.state = BEFORE
