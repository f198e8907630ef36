"""Networks, control flow of mixed kinds and further operations that `module` differentiates."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.ode import odeint
from module_cases import OPERATIONS, alternating as case, array, positive

KEY = jax.random.key(11)
until = lax.while_loop

# ----- networks -----


@case({"conv": array(4, 2, 3, 3), "scale": array(4), "bias": array(4), "out": array(4, 3)}, array(1, 2, 6, 6))
def residual_network(p, x):
    """The number of rounds of a block with shared weights depends on what it computes."""
    h = lax.conv_general_dilated(x, p["conv"], (1, 1), "SAME")

    def block(s):
        h, n = s
        mean, var = jnp.mean(h, (0, 2, 3), keepdims=True), jnp.var(h, (0, 2, 3), keepdims=True)
        y = (h - mean) * lax.rsqrt(var + 1e-5) * p["scale"][:, None, None] + p["bias"][:, None, None]
        y = lax.conv_general_dilated(jax.nn.relu(y), jnp.concatenate([p["conv"], p["conv"]], 1), (1, 1), "SAME")
        return h + 0.1 * y, n + 1

    h, n = until(lambda s: (jnp.max(jnp.abs(s[0])) < 9.0) & (s[1] < 3), block, (h, 0))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jax.nn.log_softmax(jnp.mean(h, (2, 3)) @ p["out"]), n


@case({"q": array(4, 4), "k": array(4, 4), "v": array(4, 4), "o": array(4, 4), "g": array(4)}, array(5, 4), np.int64(3))
def attention_with_cache(p, embedding, n):
    """Tokens are written to a cache, masked beyond the position."""

    def step(s):
        t, x, ks, vs, outs = s
        h = x * lax.rsqrt(jnp.mean(x * x) + 1e-6) * p["g"]
        ks = lax.dynamic_update_slice(ks, (h @ p["k"])[None], (t, 0))
        vs = lax.dynamic_update_slice(vs, (h @ p["v"])[None], (t, 0))
        scores = (h @ p["q"]).reshape(2, 2) @ ks.reshape(6, 2, 2).transpose(1, 2, 0)[0]
        scores = jnp.where(jnp.arange(6)[None] <= t, scores, -jnp.inf)
        y = (jax.nn.softmax(scores, -1) @ vs.reshape(6, 4)).sum(0) @ p["o"]
        token = jnp.argmax(embedding @ y)
        return t + 1, embedding[token] + y, ks, vs, outs.at[t].set(y)

    return until(lambda s: s[0] < n, step, (0, embedding[0], jnp.zeros((6, 4)), jnp.zeros((6, 4)), jnp.zeros((6, 4))))[4]


@case(array(3, 4), array(4, 12), array(4, 12), np.array([2, 4, 1, 3]))
def gru_of_lengths(h, w, u, lengths):
    """`vmap` of a loop whose trip count differs by row."""

    def one(x, n):
        def step(s):
            t, y = s
            a, b = x @ w, y @ u
            r, z = jax.nn.sigmoid(a[:4] + b[:4]), jax.nn.sigmoid(a[4:8] + b[4:8])
            return t + 1, (1 - z) * jnp.tanh(a[8:] + r * b[8:]) + z * y

        return until(lambda s: s[0] < n, step, (0, jnp.zeros(4)))[1]

    return jax.vmap(one)(jnp.concatenate([h, h[:1]]), lengths)


@case(array(4, 4), array(4, 4), array(4, 4))
def deep_equilibrium(w, u, x):
    """The backward pass is given: a fixed point of the transposed Jacobian, in a loop as well."""

    def f(p, x, z):
        return jnp.tanh(0.4 * z @ p[0] + x @ p[1])

    def fixed(g, z):
        def step(s):
            z, _, n = s
            new = g(z)
            return new, jnp.linalg.norm(new - z), n + 1

        return until(lambda s: (s[1] > 1e-12) & (s[2] < 200), step, (z, jnp.ones(()), 0))[0]

    @jax.custom_vjp
    def solve(p, x):
        return fixed(lambda z: f(p, x, z), jnp.zeros_like(x))

    def forward(p, x):
        z = solve(p, x)
        return z, (p, x, z)

    def backward(saved, g):
        p, x, z = saved
        _, pull = jax.vjp(lambda z: f(p, x, z), z)
        v = fixed(lambda v: pull(v)[0] + g, g)
        return jax.vjp(lambda p, x: f(p, x, z), p, x)[1](v)

    solve.defvjp(forward, backward)
    return solve((w, u), x)


@case(array(6, 3), np.array([0, 0, 1, 2, 4, 5]), np.array([1, 2, 3, 3, 5, 4]), array(3, 3))
def graph_network(nodes, source, target, w):
    """Messages along edges until they change little."""

    def step(s):
        h, _, n = s
        m = jax.nn.leaky_relu(h[source] @ w)
        a = jnp.sum(m * h[target], -1)
        top = jax.ops.segment_max(a, target, 6)
        e = jnp.exp(a - top[target])
        total = jax.ops.segment_sum(e, target, 6)
        new = 0.5 * h + 0.5 * jax.ops.segment_sum(m * (e / total[target])[:, None], target, 6)
        return new, jnp.max(jnp.abs(new - h)), n + 1

    return until(lambda s: (s[1] > 0.05) & (s[2] < 5), step, (nodes, jnp.ones(()), 0))[0]


@case(array(8, 3), array(3, low=0.3, high=0.9), array(3))
def selective_scan(x, decay, w):
    """A recurrence by `associative_scan`, in a loop of layers."""

    def combine(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    def layer(i, x):
        gate = jax.nn.sigmoid(x * w) * decay
        return lax.associative_scan(combine, (gate, x))[1] * 0.5

    return lax.fori_loop(0, jnp.argmax(w) + 1, layer, x)


@case(array(4, 3), array(3, 3), array(3))
def slots_of_experts(x, w, b):
    """Branches per row by `vmap` of `switch`."""

    def one(x):
        def step(s):
            y, n = s
            at = jnp.argmax(y * b)
            return lax.switch(at, [lambda y: jnp.sin(y @ w), lambda y: y * y - 0.2, lambda y: jnp.exp(-y)], y), n + 1

        return until(lambda s: s[1] < 3, step, (x, 0))[0]

    return jax.vmap(one)(x)


@case(array(3, 4), array(4, 4))
def adaptive_computation(x, w):
    """Rows halt at different times."""

    def step(s):
        h, halt, out, n = s
        h = jnp.tanh(h @ w + x)
        p = jax.nn.sigmoid(jnp.sum(h, -1)) * 0.6
        live = halt < 0.99
        p = jnp.where(live, jnp.where(halt + p > 0.99, 1 - halt, p), 0.0)
        return h, halt + p, out + p[:, None] * h, n + 1

    return until(lambda s: jnp.any(s[1] < 0.99) & (s[3] < 8), step, (x, jnp.zeros(3), jnp.zeros_like(x), 0))[2]


@case(array(5, 2), array(2, 2))
def optimizer_inside(data, w):
    """Adam steps of an inner problem, and the gradient through them."""

    def loss(w):
        return jnp.mean(jnp.sum((jnp.tanh(data @ w) - data) ** 2, -1))

    def step(s):
        w, m, v, t = s
        g = jax.grad(loss)(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return w - 0.1 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v, t + 1

    w = until(lambda s: s[3] < 4.0, step, (w, w * 0, w * 0, jnp.ones(())))[0]
    return loss(w)


# ----- control flow -----


@case(array(3), np.array([0, 2, 1, 0, 2]))
def cond_in_switch_in_scan(x, kinds):
    def step(c, kind):
        def wait(c):
            return until(lambda s: jnp.sum(jnp.abs(s)) > 0.5, lambda s: s * 0.6, c)

        def choose(c):
            return lax.cond(c[0] > 0, lambda c: c * c, lambda c: jnp.sin(c) + x, c)

        c = lax.switch(kind, [wait, choose, lambda c: c[::-1] + 0.3 * x], c)
        return c, jnp.sum(c)

    return lax.scan(step, x, kinds)


@case(array(4), np.int64(1), np.int64(9), np.int32(-2))
def traced_bounds(x, low, high, down):
    up = lax.fori_loop(low, high, lambda i, y: y * 0.9 + jnp.sin(i * 0.3) * x, x)
    none = lax.fori_loop(high, low, lambda i, y: y * 7.0, x)
    odd = lax.fori_loop(down, jnp.int32(1), lambda i, y: y + x * i, jnp.zeros_like(x))
    return up, none, odd


@case(array(3))
def many_carries(x):
    """Carries of all types, one of them a key, one unused, one swapped."""

    def step(s):
        a, b, flags, bits, small, key, c = s
        flags = flags ^ (a > 0.1)
        bits = (bits << 1) | flags.astype(jnp.uint8)
        key, sub = jax.random.split(key)
        a, b = b * jnp.cos(a), a + 0.1 * jax.random.normal(sub, a.shape, a.dtype) * jnp.where(flags, 1, -1)
        return a, b, flags, bits, small + jnp.float32(0.5) * jnp.sum(a).astype(jnp.float32), key, (c + 1j * a) * 0.5

    start = (x, x * x, jnp.zeros(3, bool), jnp.zeros(3, jnp.uint8), jnp.float32(0), KEY, jnp.zeros(3, jnp.complex128))
    a, b, flags, bits, small, _, c = until(lambda s: s[4] < 0.7, lambda s: (*step(s)[:4], s[4] + jnp.float32(0.25), *step(s)[5:]), start)
    return a, b, flags, bits, jnp.abs(c)


@case(array(4), array(4))
def while_of_cond_of_while(x, w):
    def step(s):
        y, n = s

        def deep(y):
            return until(lambda z: jnp.sum(z * z) > 0.3, lambda z: z * (0.5 + 0.3 * jax.nn.sigmoid(w)), y + 0.2)

        return lax.cond(n % 2 == 0, deep, lambda y: lax.cond(n % 3 == 0, lambda y: y + w, lambda y: jnp.tanh(2 * y), y), y), n + 1

    return until(lambda s: s[1] < 6, step, (x, 0))[0]


@case(array(3, 2))
def mapped(x):
    """`lax.map` with a loop inside, batched and not."""

    def one(row):
        return until(lambda s: jnp.sum(s) < 5.0, lambda s: s * 1.5 + jnp.abs(row) + 0.1, row)

    return lax.map(one, x), lax.map(one, x, batch_size=2)


@case(array(7), np.int64(4))
def ring_buffer(x, n):
    def step(i, s):
        ring, total = s
        oldest = lax.dynamic_index_in_dim(ring, i % 3, keepdims=False)
        return lax.dynamic_update_index_in_dim(ring, x[i] * oldest + 0.5, i % 3, 0), total + oldest * x[i + 1]

    return lax.fori_loop(0, n, step, (x[:3], jnp.zeros(())))


@case(array(8), np.int64(5))
def heap_of_floats(x, n):
    """Sifts down in a loop; elements are swapped by computed indices."""

    def sift(state):
        h, at = state
        left, right = 2 * at + 1, 2 * at + 2
        best = jnp.where((left < 8) & (h[jnp.minimum(left, 7)] > h[at]), left, at)
        best = jnp.where((right < 8) & (h[jnp.minimum(right, 7)] > h[best]), right, best)
        moved = h.at[at].set(h[best]).at[best].set(h[at])
        return moved, jnp.where(best == at, 8, best)

    def build(i, h):
        return until(lambda s: s[1] < 8, sift, (h, 3 - i))[0]

    return lax.fori_loop(0, jnp.minimum(n, 4), build, x) * jnp.arange(1.0, 9.0)


@case(array(3))
def jvp_in_loop(x):
    """Forward and reverse modes of JAX's within the loop."""

    def f(y):
        return jnp.sin(y) * jnp.sum(y * x)

    def step(s):
        y, n = s
        _, t = jax.jvp(f, (y,), (jnp.cos(y),))
        _, pull = jax.vjp(f, y)
        h = jax.hessian(lambda y: jnp.sum(f(y)))(y)
        return y + 0.05 * t - 0.1 * pull(t)[0] + 0.01 * h @ y, n + 1

    return until(lambda s: s[1] < 3, step, (x, 0))[0]


@case(array(4), array(4))
def checkpointed_scan(x, w):
    def layer(h, _):
        return jax.checkpoint(lambda h: jnp.tanh(h * w) + until(lambda s: jnp.max(s) < 1.0, lambda s: s * 1.3 + 0.2, h))(h), None

    return lax.scan(layer, x, None, length=3, reverse=True, unroll=2)[0]


@case(array(3, 3), array(3))
def linear_solve_given(a, b):
    """`custom_linear_solve` and `custom_root`, with loops inside."""
    a = a @ a.T + jnp.eye(3)

    def solve(matvec, b):
        def step(s):
            x, r, p, n = s
            ap = matvec(p)
            k = (r @ r) / (p @ ap)
            new = r - k * ap
            return x + k * p, new, new + (new @ new) / (r @ r) * p, n + 1

        return until(lambda s: (jnp.sum(s[1] ** 2) > 1e-24) & (s[3] < 9), step, (jnp.zeros_like(b), b, b, 0))[0]

    x = lax.custom_linear_solve(lambda v: a @ v, b, solve, symmetric=True)

    def newton(f, guess):
        return until(lambda s: jnp.abs(f(s)) > 1e-13, lambda s: s - f(s) / jax.grad(f)(s), guess)

    root = lax.custom_root(lambda y: y**3 + y - jnp.sum(x) - 3.0, jnp.ones(()), newton, lambda g, y: y / g(jnp.ones(())))
    return x, root


@case(array(6), np.int64(3))
def scans_in_loop(x, n):
    def step(i, y):
        y = jnp.cumsum(y) * 0.3 + lax.cummax(y) - lax.cummin(y, reverse=True) + jnp.cumprod(1 + 0.1 * y)
        return jnp.sort(y)[::-1] * jnp.where(jnp.arange(6) == jnp.argmin(y), 0.5, 0.4)

    return lax.fori_loop(0, n, step, x)


@case(array(2, 8), array(3, 2, 3), np.int64(2))
def convolutions_in_loop(x, w, n):
    """Dilated, grouped, transposed, of one dimension."""
    numbers = ("NCH", "OIH", "NCH")

    def step(i, y):
        a = lax.conv_general_dilated(y[None], w, (1,), [(2, 2)], rhs_dilation=(2,), dimension_numbers=numbers)
        b = lax.conv_general_dilated(a, jnp.sin(w[:, :1]), (2,), "SAME", feature_group_count=3, dimension_numbers=numbers)
        c = lax.conv_transpose(b, jnp.cos(w), (2,), "SAME", dimension_numbers=("NCH", "IOH", "NCH"))
        return jnp.tanh(c[0, :2]) + 0.5 * y

    return lax.fori_loop(0, n, step, x)


@case(array(4, 4), np.int64(2))
def decompositions_in_loop(a, n):
    def step(i, m):
        q, r = jnp.linalg.qr(m + 3 * jnp.eye(4))
        s = jnp.linalg.svd(m, compute_uv=False)
        w, v = jnp.linalg.eigh(m @ m.T + jnp.diag(jnp.arange(4.0)))
        sign, logdet = jnp.linalg.slogdet(m + 2 * jnp.eye(4))
        chol = jnp.linalg.cholesky(m @ m.T + jnp.eye(4))
        x = jax.scipy.linalg.cho_solve((chol, True), r)
        lu = jax.scipy.linalg.solve_triangular(chol, q, lower=True, trans=1)
        return 0.1 * (x + lu + jnp.diag(w) + jnp.sum(v**4) + s[0] + sign * logdet * r + jnp.linalg.pinv(m + jnp.eye(4)))

    return lax.fori_loop(0, n, step, a)


@case(array(8), array(8), np.int64(2))
def transforms_in_loop(x, w, n):
    def step(i, y):
        z = jnp.fft.fft(y + 1j * w)
        z = z * jnp.exp(1j * jnp.angle(z + 2)) * jnp.conj(z) / (1 + jnp.abs(z) ** 2)
        c = jnp.fft.irfft(jnp.fft.rfft(y) * jnp.fft.rfft(w)) / 8
        two = jnp.fft.ifft2(jnp.fft.fft2(y.reshape(2, 4)) * (1 + 0.5j)).reshape(-1)
        return jnp.real(jnp.fft.ifft(z)) + 0.2 * c + 0.3 * (two.real - two.imag)

    return lax.fori_loop(0, n, step, x)


@case(array(5), array(5), np.array([0, 1, 1, 0, 2]))
def scatters_in_loop(x, v, at):
    def step(s):
        y, n = s
        y = y.at[at].add(v * y) + jnp.zeros(5).at[at].max(jnp.sin(y)) + jnp.zeros(5).at[jnp.arange(5)].min(y)
        y = lax.dynamic_update_slice(y, lax.dynamic_slice(y * v, (n,), (2,)), (n + 1,))
        return jnp.tanh(y), n + 1

    return until(lambda s: s[1] < 3, step, (x, 0))[0]


@case(array(4), array(6))
def tables(x, y):
    grid = jnp.linspace(-2.0, 2.0, 6)

    def step(s):
        z, n = s
        return jnp.interp(z, grid, y, left=0.1) + 0.5 * jnp.polyval(jnp.array([0.1, -0.2, 0.3]), z) + jnp.where(jnp.isnan(z), 0.0, z % 0.7), n + 1

    z = until(lambda s: s[1] < 3, step, (x, 0))[0]
    hist = jnp.histogram(z, bins=4, range=(-1.0, 1.0), weights=x)[0]
    return z, hist, jnp.percentile(y, 30.0), jnp.quantile(y, jnp.array([0.1, 0.6])), jnp.digitize(z, grid)


_x, _m, _c, _s = array(4), array(3, 4), array(1, 2, 6, 6), positive(4)
OPERATIONS |= {
    "einsums": (lambda m, s: (jnp.einsum("ij,jj->i", m, s), jnp.einsum("ij,kj,lk->il", m, s, s), jnp.einsum("...j,jk", m, s), jnp.vdot(s, s), jnp.outer(m, m)), _m, _s),
    "matrix functions": (lambda s: (jnp.linalg.matrix_power(s, 3), jax.scipy.linalg.expm(s * 0.2), jnp.linalg.multi_dot([s, s, s]), jnp.linalg.cond(s)), _s),
    "norms": (lambda m: [jnp.linalg.norm(m, o) for o in ("fro", "nuc", 1, -1, 2, -2, np.inf)] + [jnp.linalg.norm(m, o, 1) for o in (1, 3, np.inf)], _m),
    "windows": (lambda c: (lax.reduce_window(c, 0.0, lax.add, (1, 1, 3, 2), (1, 1, 2, 1), "SAME", window_dilation=(1, 1, 1, 2)), lax.reduce_window(c, jnp.inf, lax.min, (1, 1, 2, 2), (1, 1, 1, 2), "VALID")), _c),
    "statistics": (lambda m: (jnp.var(m, 1, ddof=1), jnp.cov(m), jnp.corrcoef(m), jnp.average(m, 0, weights=jnp.arange(1.0, 4)), jnp.nanmean(m), jnp.ptp(m, 1), jnp.cumsum(m, 1)), _m),
    "elementary": (lambda x: [f(x * 0.4) for f in (jnp.arcsin, jnp.arcsinh, jnp.arctanh, jnp.sinc, jnp.exp2, jnp.expm1, jnp.log1p, jnp.cbrt, jnp.deg2rad)], _x),
    "elementary of two": (lambda x, y: (jnp.hypot(x, y), jnp.logaddexp(x, y), jnp.logaddexp2(x, y), jnp.power(jnp.abs(x), y), jnp.heaviside(x, y), jnp.copysign(x, y), jnp.fmod(x, y), jnp.float_power(jnp.abs(x), 1.5)), _x, array(4)),
    "special of more": (lambda x: [f(x * x + 0.7) for f in (jax.scipy.special.digamma, jax.scipy.special.erfc, jax.scipy.special.ndtr, jax.scipy.special.i1, jax.scipy.special.i0, jax.scipy.special.entr, jnp.log, jax.scipy.special.expit)], _x),
    "beta functions": (lambda x: (jax.scipy.special.betaln(x * x + 1, 2.0), jax.scipy.special.betainc(2.0, 1.5, jax.nn.sigmoid(x)), jax.scipy.special.gammaincc(1.5, x * x + 0.2), jax.scipy.special.polygamma(1, x * x + 1), jax.scipy.special.zeta(2.5, lax.stop_gradient(x * x + 1))), _x),
    "more special": (lambda x: (jax.scipy.special.log_ndtr(x * 3), jax.scipy.special.ndtri(jax.nn.sigmoid(x)), jax.scipy.special.logit(jax.nn.sigmoid(x)), jax.scipy.special.xlog1py(x, x * x), jax.scipy.special.rel_entr(x * x + 1, x * x + 2), jax.scipy.special.exp1(x * x + 0.3)), _x),
    "distributions": (lambda x: [f(x) for f in (jax.scipy.stats.norm.logpdf, jax.scipy.stats.norm.cdf, jax.scipy.stats.cauchy.logpdf, jax.scipy.stats.laplace.cdf, jax.scipy.stats.logistic.logpdf)] + [jax.scipy.stats.gamma.logpdf(x * x + 0.1, 2.0), jax.scipy.stats.t.logpdf(x, 3.0), jax.scipy.stats.beta.logpdf(jax.nn.sigmoid(x), 2.0, 3.0), jax.scipy.stats.multivariate_normal.logpdf(x, x * 0, jnp.eye(4) * 2)], _x),
    "samples by rules": (lambda x: (jax.random.truncated_normal(KEY, -1.0, 1.0, (4,), x.dtype) * x, jax.random.laplace(KEY, (4,), x.dtype) + x, jax.random.categorical(KEY, x), jax.random.choice(KEY, x, (3,)), jax.random.multivariate_normal(KEY, x, jnp.diag(x * x + 1)), jax.random.poisson(KEY, x * x + 2), jax.random.randint(KEY, (2,), 0, 9), jax.random.ball(KEY, 3) * x[0]), _x),
    "images": (lambda c: (jax.image.resize(c, (1, 2, 9, 4), "cubic"), jax.image.resize(c, (1, 2, 3, 3), "lanczos3"), jax.image.resize(c, (1, 2, 12, 5), "nearest"), jax.scipy.ndimage.map_coordinates(c[0, 0], [jnp.array([0.5, 2.2]), jnp.array([1.7, 3.1])], order=1)), _c),
    "signals": (lambda x, y: (jnp.convolve(x, y), jnp.correlate(x, y, "same"), jax.scipy.signal.convolve(x, y, mode="same"), jax.scipy.signal.detrend(x), jax.scipy.fft.dct(x), jnp.fft.fftshift(x)), _x, array(3)),
    "convolutions": (lambda c, k: (lax.conv_general_dilated(c, k, (1, 1), [(0, 2), (1, -1)], lhs_dilation=(2, 1)), lax.conv_general_dilated(jnp.concatenate([c, c]), k, (1, 1), "VALID", batch_group_count=2), lax.conv_general_dilated_patches(c, (2, 2), (2, 2), "VALID"), lax.conv_transpose(c, k, (2, 2), "SAME", dimension_numbers=("NCHW", "IOHW", "NCHW"))), _c, array(2, 2, 3, 3)),
    "sorts of more": (lambda x, m: (lax.sort((jnp.sign(x), x, x * x), num_keys=2), jnp.lexsort((x, jnp.sign(x))), lax.sort(m, dimension=0), jnp.partition(x, 2), jnp.unique(jnp.round(x), size=3), jnp.flip(jnp.sort(m, axis=-1), 0), jnp.sort(m, descending=True)), _x, _m),
    "indexing of more": (lambda m: (m[jnp.array([[0, 2], [1, 1]]), jnp.array([1, 3])], m[:, ::-2], m.at[1, jnp.array([0, 0])].add(3.0), jnp.take(m, jnp.array([7, -1, 1]), mode="clip"), jnp.take(m, jnp.array([99]), mode="fill", fill_value=0.5), jnp.take_along_axis(m, jnp.argsort(m, 1), 1), jnp.put_along_axis(m, jnp.array([[0], [1], [2]]), m[:, :1] * 2, 1, inplace=False), jnp.select([m > 0.5, m < 0], [m * m, -m], 0.1), jnp.choose(jnp.array([0, 1, 2, 0]), list(m), mode="clip")), _m),
    "shapes": (lambda m: (jnp.block([[m, m], [m, m * 2]]), jnp.stack(jnp.split(m, 2, 1)), jnp.vander(m[0], 3), jnp.tri(3, 4) * m, jnp.rot90(m), jnp.moveaxis(m[None], 0, -1), jnp.repeat(m, jnp.array([1, 0, 2]), 0, total_repeat_length=3), jnp.pad(m, ((1, 0), (2, 1)), "reflect"), jnp.pad(m, 1, "wrap"), jnp.pad(m, 2, "edge"), jnp.pad(m, 1, "linear_ramp"), jnp.trapezoid(m), jnp.gradient(m, axis=1), jnp.diag(m[0], 1), jnp.diagonal(m)), _m),
    "losses": (lambda x, m: (jax.nn.softmax(m, where=m > -0.5), jax.nn.log_sigmoid(x), jax.nn.glu(m, 1), jax.nn.standardize(m), jax.nn.hard_swish(x * 4), jax.nn.celu(x), jax.nn.selu(x), jax.nn.mish(x), jax.nn.squareplus(x), jax.nn.relu6(x * 7), jax.nn.soft_sign(x), jax.nn.one_hot(jnp.argmax(m, 1), 4) * m), _x, _m),
    "complex": (lambda x, y: (lambda z: (jnp.abs(z), jnp.real(jnp.exp(z) * jnp.sqrt(z) / (1 + z * z)), jnp.imag(jnp.log(z) + jnp.sin(z) * jnp.tanh(z)), jnp.angle(z**2), jnp.real(jnp.linalg.solve(jnp.eye(4) * (2 + 1j) + jnp.outer(z, z), z)), jnp.abs(jnp.prod(z)), jnp.real(jnp.cumsum(z))))(lax.complex(x, y)), _x, array(4)),
    "sparse solvers": (lambda s, x: (jax.scipy.sparse.linalg.gmres(lambda v: s @ v, x, tol=1e-12)[0], jax.scipy.sparse.linalg.bicgstab(lambda v: s @ v, x, tol=1e-12)[0], jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(s), x), jax.scipy.linalg.toeplitz(x), jnp.linalg.lstsq(s, x)[0]), _s, _x),
    "polynomials": (lambda x: (jnp.polyfit(jnp.arange(4.0), x, 1), jnp.polymul(x, x), jnp.polyder(x), jnp.roots(jnp.concatenate([jnp.ones(1), x * x + 1]), strip_zeros=False).real, jnp.cross(x[:3], x[1:])), _x),
    "ode of jax": (lambda x: odeint(lambda y, t: -y * y + t, x, jnp.array([0.0, 0.3, 0.7])), _x * 0.5),
    "associative scans": (lambda m: (lax.associative_scan(jnp.matmul, jnp.stack([m[:, :3], m[:, 1:], m[:, :3] * 2, m[:, 1:] + 1, m[:, :3]])), lax.associative_scan(jnp.maximum, m, axis=1, reverse=True)), _m),
    "reductions of more": (lambda m: (lax.reduce(m, 0.0, lambda a, b: a + b * 1.0, (1,)), lax.reduce(m, -jnp.inf, lax.max, (0, 1)), jnp.prod(m, 1), jnp.nanmax(m), jnp.argmax(m, 0), jnp.any(m > 0, 1), jnp.count_nonzero(m > 0), lax.reduce_precision(m, 8, 7), jax.nn.logsumexp(m, 1, b=jnp.abs(m)), lax.cumlogsumexp(m, 1)), _m),
}
