"""Numerical methods that `module` differentiates, beside those of module_solvers.py: sequences, spectra, quadrature, filters, statistics."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from module_cases import alternating as case, array, positive

KEY = jax.random.key(11)


# ----- linear algebra -----


@case(array(5, low=-0.4, high=0.4), array(5))
def levinson(r, y):
    """A Toeplitz system, one order at a time."""
    n = y.shape[0]
    t = jnp.concatenate([jnp.ones(1, r.dtype), r])

    def step(state):
        k, f, b, x = state
        mask = jnp.arange(n) <= k
        ef = jnp.sum(jnp.where(mask, t[jnp.clip(k - jnp.arange(n), 0, n)], 0) * f)
        eb = jnp.sum(jnp.where(mask, t[jnp.clip(jnp.arange(n) + 1, 0, n)], 0) * jnp.roll(b, 0))
        ex = jnp.sum(jnp.where(mask, t[jnp.clip(k - jnp.arange(n), 0, n)], 0) * x)
        shifted = jnp.roll(b, 1).at[0].set(0.0)
        scale = 1 / (1 - ef * eb)
        f, b = scale * (f - ef * shifted), scale * (shifted - eb * f)
        return k + 1, f, b, x + (y[k] - ex) * b

    one = jnp.zeros(n, y.dtype).at[0].set(1.0)
    return lax.while_loop(lambda s: s[0] < n, step, (1, one, one, one * y[0]))[3]


@case(positive(4))
def shifted_qr_eigenvalues(a):
    """The QR iteration with Rayleigh shifts, until the last row is diagonal."""

    def step(state):
        a, k = state
        mu = a[-1, -1]
        q, r = jnp.linalg.qr(a - mu * jnp.eye(4))
        return r @ q + mu * jnp.eye(4), k + 1

    done = lax.while_loop(lambda s: (jnp.abs(s[0][-1, -2]) > 1e-3) & (s[1] < 6), step, (a, 0))[0]
    return jnp.array([jnp.trace(done), done[-1, -1], jnp.sum(done**2)])


@case(array(4, 4), array(4))
def scaled_exponential(a, b):
    """exp(a) b by scaling and squaring, with as many squarings as the norm asks for."""
    norm = jnp.max(jnp.sum(jnp.abs(a), axis=1))
    count = jnp.maximum(jnp.ceil(jnp.log2(norm / 0.1)), 0).astype(jnp.int32)
    scaled = a / 2.0**count

    def term(state):
        total, last, k = state
        last = last @ scaled / k
        return total + last, last, k + 1

    e, _, _ = lax.while_loop(lambda s: jnp.max(jnp.abs(s[1])) > 1e-13, term, (jnp.eye(4), jnp.eye(4), 1.0))
    return lax.fori_loop(0, count, lambda _, m: m @ m, e) @ b


@case(positive(5), array(3, 5))
def updated_cholesky(a, xs):
    """Rank-one updates of a factor, by rotations of columns."""

    def update(l, x):
        def column(k, state):
            l, x = state
            r = jnp.hypot(l[k, k], x[k])
            c, s = r / l[k, k], x[k] / l[k, k]
            below = jnp.arange(5) > k
            new = jnp.where(below, (l[:, k] + s * x) / c, l[:, k]).at[k].set(r)
            return l.at[:, k].set(new), jnp.where(below, c * x - s * new, x)

        return lax.fori_loop(0, 5, column, (l, x))[0], None

    return lax.scan(update, jnp.linalg.cholesky(a), xs)[0]


@case(array(3, 6, 6), array(3, 6))
def conjugate_gradients_mapped(a, b):
    """Systems of a batch, each of which stops by itself."""

    def one(a, b):
        a = a @ a.T + (1 + b[0] ** 2) * jnp.eye(6)

        def step(s):
            x, r, p, k = s
            ap = a @ p
            alpha = r @ r / (p @ ap)
            new = r - alpha * ap
            return x + alpha * p, new, new + (new @ new) / (r @ r) * p, k + 1

        return lax.while_loop(lambda s: (s[1] @ s[1] > 1e-6) & (s[3] < 20), step, (jnp.zeros_like(b), b, b, 0))[0]

    return jax.vmap(one)(a, b)


# ----- spectra and complex numbers -----


@case(array(5, low=0.5, high=2.0))
def durand_kerner(c):
    """All roots of a polynomial at once."""
    n = c.shape[0]
    start = (0.4 + 0.9j) ** jnp.arange(n)

    def step(state):
        z, _, k = state
        value = jnp.polyval(jnp.concatenate([jnp.ones(1, c.dtype), c]).astype(z.dtype), z)
        gaps = z[:, None] - z[None, :] + jnp.eye(n)
        delta = value / jnp.prod(gaps, axis=1)
        return z - delta, jnp.max(jnp.abs(delta)), k + 1

    roots, _, _ = lax.while_loop(lambda s: (s[1] > 1e-10) & (s[2] < 60), step, (start, jnp.array(1.0, c.dtype), 0))
    return jnp.array([jnp.sum(jnp.abs(roots)), jnp.sum(roots.real**2), jnp.prod(1 + jnp.abs(roots))])


@case(array(16), array(16), 0.1)
def split_step_schroedinger(psi, v, dt):
    """The split-step method, until the packet has left."""
    k = jnp.fft.fftfreq(16) * 2 * jnp.pi

    def step(state):
        z, n = state
        z = jnp.exp(-0.5j * dt * v) * z
        z = jnp.fft.ifft(jnp.exp(-0.5j * dt * k**2) * jnp.fft.fft(z))
        return jnp.exp(-0.5j * dt * v) * z, n + 1

    z, _ = lax.while_loop(lambda s: (jnp.abs(s[0][3]) ** 2 > 0.01) & (s[1] < 9), step, (psi + 0j, 0))
    return jnp.abs(z) ** 2


@case(array(12), array(5))
def repeated_convolution(signal, kernel):
    def step(state):
        s, k = state
        smooth = jnp.convolve(s, kernel / (1 + jnp.sum(jnp.abs(kernel))), mode="same")
        spectrum = jnp.fft.rfft(smooth)
        return jnp.fft.irfft(spectrum * jnp.exp(-0.1 * jnp.arange(7)), n=12), k + 1

    return lax.while_loop(lambda s: (jnp.sum(s[0] ** 2) > 0.05) & (s[1] < 12), step, (signal, 0))[0]


# ----- quadrature, series, roots -----


@case(0.7, 1.9)
def adaptive_simpson(a, b):
    """Intervals on a stack, halved until the estimates agree."""

    def f(x):
        return jnp.sin(a * x) * jnp.exp(-b * x) / (0.1 + x * x)

    def simpson(lo, hi):
        return (hi - lo) / 6 * (f(lo) + 4 * f((lo + hi) / 2) + f(hi))

    def step(state):
        stack, top, total = state
        lo, hi = stack[top - 1]
        mid = (lo + hi) / 2
        whole, parts = simpson(lo, hi), simpson(lo, mid) + simpson(mid, hi)
        fine = (jnp.abs(whole - parts) < 1e-3) | (top > 12)
        halves = stack.at[top - 1].set(jnp.array([lo, mid])).at[top].set(jnp.array([mid, hi]))
        return jnp.where(fine, stack, halves), jnp.where(fine, top - 1, top + 1), total + jnp.where(fine, parts, 0.0)

    stack = jnp.zeros((16, 2)).at[0].set(jnp.stack([jnp.zeros_like(b), b]))
    return lax.while_loop(lambda s: s[1] > 0, step, (stack, 1, jnp.zeros_like(a)))[2]


@case(array(3, low=0.2, high=0.8), 1.3, 0.6)
def hypergeometric(z, a, b):
    """The series 2F1(a, b; 2; z), until its terms are small."""

    def step(state):
        total, term, k = state
        term = term * (a + k) * (b + k) / ((2.0 + k) * (1.0 + k)) * z
        return total + term, term, k + 1

    one = jnp.ones_like(z)
    return lax.while_loop(lambda s: jnp.max(jnp.abs(s[1])) > 1e-10, step, (one, one, 0.0))[0]


@case(array(9), array(4, low=-0.9, high=0.9), 6)
def clenshaw(c, x, n):
    """A Chebyshev series of a degree that is an argument."""

    def step(i, state):
        b1, b2 = state
        return 2 * x * b1 - b2 + c[n - i], b1

    b1, b2 = lax.fori_loop(0, n, step, (jnp.zeros_like(x), jnp.zeros_like(x)))
    return x * b1 - b2 + c[0]


@case(0.4, array(4))
def golden_section(width, c):
    """The minimum of a polynomial in an interval, as a function of the interval's ends."""
    ratio = (np.sqrt(5) - 1) / 2

    def f(x):
        return jnp.polyval(c, x) + 2 * (x - width) ** 2

    def step(state):
        lo, hi = state
        left, right = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        smaller = f(left) < f(right)
        return jnp.where(smaller, lo, left), jnp.where(smaller, right, hi)

    lo, hi = lax.while_loop(lambda s: s[1] - s[0] > 1e-2, step, (-width, 1 + width))
    return f((lo + hi) / 2), lo + hi


@case(array(3), 1.2)
def custom_root(c, start):
    """`lax.custom_root` around a loop."""

    def f(x):
        return x**3 + c[0] * x + c[1] * jnp.sin(x) - c[2] - 2.0

    def solve(f, x):
        def step(s):
            x, _ = s
            new = x - f(x) / jax.grad(f)(x)
            return new, jnp.abs(new - x)

        return lax.while_loop(lambda s: s[1] > 1e-12, step, (x, jnp.ones_like(x)))[0]

    root = lax.custom_root(f, lax.stop_gradient(start), solve, lambda g, y: y / g(1.0))
    return root * start


# ----- dynamics -----


@case(0.3, 0.8, array(2))
def first_exit(drift, noise, x):
    """Euler and Maruyama until the path leaves a disc; the keys are split in the loop."""

    def step(state):
        x, key, n = state
        key, here = jax.random.split(key)
        x = x + 0.1 * (drift - x) + noise * 0.3 * jax.random.normal(here, (2,))
        return x, key, n + 1

    return lax.while_loop(lambda s: (jnp.sum(s[0] ** 2) < 1.5) & (s[2] < 40), step, (x, KEY, 0))[0]


@case(array(2), 0.3, 1.5)
def runge_kutta_events(y, mu, end):
    """Cash and Karp's pairs with a controller of the step, `switch` between three fields."""
    a = ((), (1 / 5,), (3 / 40, 9 / 40), (3 / 10, -9 / 10, 6 / 5))
    b, low = (19 / 54, 0.0, -10 / 27, 55 / 54), (-3 / 2, 5 / 2, 0.0, 0.0)

    def field(y):
        return lax.switch(
            jnp.searchsorted(jnp.array([-0.2, 0.4]), y[0]),
            [lambda y: jnp.array([y[1], -y[0]]), lambda y: jnp.array([y[1], mu * y[1] - y[0]]), lambda y: -mu * y],
            y,
        )

    def step(state):
        t, h, y, n = state
        h = jnp.minimum(h, end - t)
        ks = []
        for row in a:
            ks.append(field(y + h * sum((c * k for c, k in zip(row, ks)), jnp.zeros_like(y))))
        high = y + h * sum(c * k for c, k in zip(b, ks))
        error = jnp.max(jnp.abs(h * sum((p - q) * k for p, q, k in zip(b, low, ks)))) + 1e-12
        fine = error < 0.5
        return jnp.where(fine, t + h, t), h * jnp.clip(0.9 * (0.5 / error) ** 0.25, 0.3, 3.0), jnp.where(fine, high, y), n + 1

    return lax.while_loop(lambda s: (s[0] < end - 1e-9) & (s[3] < 50), step, (0.0 * end, 0.1 + 0 * end, y, 0))[2]


@case(array(3, 3), array(2, 3), array(6, 2))
def kalman_and_smoother(f, h, ys):
    """A filter as a scan, the smoother backwards in a loop over its results."""
    q, r = 0.1 * jnp.eye(3), 0.2 * jnp.eye(2)

    def forward(carry, y):
        m, p = carry
        mp, pp = f @ m, f @ p @ f.T + q
        s = h @ pp @ h.T + r
        k = jnp.linalg.solve(s, h @ pp).T
        m, p = mp + k @ (y - h @ mp), pp - k @ h @ pp
        return (m, p), (m, p, mp, pp)

    _, (m, p, mp, pp) = lax.scan(forward, (jnp.zeros(3), jnp.eye(3)), ys)

    def back(i, state):
        at = 4 - i
        gain = jnp.linalg.solve(pp[at + 1], f @ p[at]).T
        return state.at[at].set(m[at] + gain @ (state[at + 1] - mp[at + 1]))

    return lax.fori_loop(0, 5, back, m)


@case(array(8, 3), array(4, 5))
def biquads(x, c):
    """Filters in a row, of which each is a scan, in a loop over their coefficients."""

    def stage(k, signal):
        def tap(state, v):
            w = v - 0.3 * c[k, 0] * state[0] - 0.2 * c[k, 1] * state[1]
            return (w, state[0]), c[k, 2] * w + c[k, 3] * state[0] + c[k, 4] * state[1]

        return lax.scan(tap, (jnp.zeros(3), jnp.zeros(3)), signal)[1]

    return lax.fori_loop(0, 4, stage, x)


# ----- statistics and learning -----


@case(array(12, 2), array(3, 2))
def soft_k_means(points, centers):
    """Lloyd's iteration with soft assignments, until the centers rest."""

    def step(state):
        c, _, n = state
        d = jnp.sum((points[:, None] - c[None]) ** 2, axis=-1)
        w = jax.nn.softmax(-4 * d, axis=1)
        new = w.T @ points / jnp.sum(w, axis=0)[:, None]
        return new, jnp.max(jnp.abs(new - c)), n + 1

    return lax.while_loop(lambda s: (s[1] > 1e-2) & (s[2] < 15), step, (centers, jnp.ones(()), 0))[0]


@case(array(12, 2), array(3, 2))
def hard_k_means(points, centers):
    """The same with `segment_sum` over the nearest center."""

    def step(state):
        c, n = state
        nearest = jnp.argmin(jnp.sum((points[:, None] - c[None]) ** 2, axis=-1), axis=1)
        sums = jax.ops.segment_sum(points, nearest, 3)
        counts = jax.ops.segment_sum(jnp.ones(12), nearest, 3)
        return jnp.where(counts[:, None] > 0, sums / jnp.maximum(counts, 1)[:, None], c), n + 1

    return lax.while_loop(lambda s: s[1] < 4, step, (centers, 0))[0]


@case(array(10), array(2), array(2, low=0.5, high=1.5))
def mixture_em(x, mu, sigma):
    def step(state):
        mu, sigma, w, old, _ = state
        logp = jnp.log(w) - jnp.log(sigma) - 0.5 * ((x[:, None] - mu) / sigma) ** 2
        total = jax.nn.logsumexp(logp, axis=1, keepdims=True)
        r = jnp.exp(logp - total)
        n = jnp.sum(r, axis=0)
        mu = r.T @ x / n
        sigma = jnp.sqrt(jnp.sum(r * (x[:, None] - mu) ** 2, axis=0) / n + 1e-2)
        return mu, sigma, n / x.shape[0], jnp.sum(total), old

    start = (mu, sigma, jnp.full(2, 0.5), jnp.zeros(()), jnp.full((), -1.0))
    return lax.while_loop(lambda s: jnp.abs(s[3] - s[4]) > 1e-3, step, start)[:2]


@case(array(5, 5), array(5, low=0.1), array(5, low=0.1))
def log_sinkhorn(cost, a, b):
    """Potentials of a transport problem, over-relaxed."""
    a, b = jax.nn.log_softmax(a), jax.nn.log_softmax(b)

    def step(state):
        f, g, _ = state
        f = 0.5 * f + 0.5 * (a - jax.nn.logsumexp(g[None, :] - cost, axis=1))
        new = b - jax.nn.logsumexp(f[:, None] - cost, axis=0)
        return f, new, jnp.max(jnp.abs(new - g))

    f, g, _ = lax.while_loop(lambda s: s[2] > 1e-5, step, (jnp.zeros(5), jnp.zeros(5), jnp.ones(())))
    return jnp.sum(jnp.exp(f[:, None] + g[None, :] - cost) * cost)


@case(array(6, 3), array(6), 0.2)
def backtracking(x, y, l2):
    """Logistic regression with a line search inside of the descent."""

    def loss(w):
        return jnp.mean(jax.nn.softplus(-jnp.sign(y) * (x @ w))) + l2**2 * jnp.sum(w * w)

    def step(state):
        w, n = state
        g = jax.grad(loss)(w)
        t = lax.while_loop(lambda t: loss(w - t * g) > loss(w) - 0.3 * t * jnp.sum(g * g), lambda t: t * 0.5, jnp.full((), 8.0))
        return w - t * g, n + 1

    return lax.while_loop(lambda s: s[1] < 5, step, (jnp.zeros(3), 0))[0]


@case(array(7, low=0.1), 0.5)
def shortest_paths(w, slack):
    """Bellman and Ford's relaxations with `segment_min`."""
    source = jnp.array([0, 0, 1, 2, 1, 3, 2])
    target = jnp.array([1, 2, 3, 3, 2, 4, 4])

    def step(state):
        d, _, n = state
        through = jax.ops.segment_min(d[source] + w, target, 5)
        new = jnp.minimum(d, through)
        return new, jnp.any(new < d), n + 1

    start = jnp.full(5, 50.0).at[0].set(slack)
    return lax.while_loop(lambda s: s[1] & (s[2] < 8), step, (start, True, 0))[0]


# ----- sequences -----


@case(array(4, 4), array(5, 4), 0.3)
def soft_alignment(sub, seq, gap):
    """Needleman and Wunsch's recurrence with a soft maximum, cell by cell."""

    def cell(k, table):
        i, j = k // 4 + 1, k % 4 + 1
        score = jnp.tanh(seq[i - 1] @ sub[j - 1])
        best = jax.nn.logsumexp(jnp.stack([table[i - 1, j - 1] + score, table[i - 1, j] - gap, table[i, j - 1] - gap]))
        return table.at[i, j].set(best)

    table = jnp.zeros((6, 5)).at[0].set(-gap * jnp.arange(5)).at[:, 0].set(-gap * jnp.arange(6))
    return lax.fori_loop(0, 20, cell, table)[5, 4]


@case(array(8), array(8, low=0.1))
def scans_of_all_kinds(x, decay):
    """Associative scans, cumulative operations and sorting in a loop."""

    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    def step(state):
        x, n = state
        _, y = lax.associative_scan(combine, (decay, x))
        y = y - jnp.cumsum(jnp.sort(x)) * 0.1 + lax.cummax(x) * 0.2 + lax.cumlogsumexp(x) * 0.1
        return y / (1 + jnp.max(jnp.abs(y))), n + 1

    return lax.while_loop(lambda s: (s[1] < 5) & (s[0][0] < 2), step, (x, 0))[0]


@case(array(2, 6, 6, 3), array(3, 3, 3, 3))
def pooled_convolutions(x, w):
    def step(state):
        x, n = state
        y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=1)
        y = lax.reduce_window(jnp.tanh(y), 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9
        return x + y + lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "SAME") * 0.1, n + 1

    return lax.while_loop(lambda s: (s[1] < 4) & (jnp.mean(s[0]) < 5), step, (x, 0))[0]


@case(array(6), array(6), array(3, low=0.1, high=0.9))
def interpolated_iteration(xs, ys, start):
    grid = jnp.sort(xs)

    def step(state):
        x, n = state
        return 0.5 * x + 0.4 * jnp.interp(x, grid, ys), n + 1

    return lax.while_loop(lambda s: (s[1] < 7) & (jnp.max(jnp.abs(s[0])) > 0.05), step, (start, 0))[0]


@case(array(5, 4), array(4))
def scatters_of_all_modes(x, y):
    """`at` with max, multiply, drop and clip, rows and windows."""

    def step(state):
        x, n = state
        x = x.at[n % 5].max(y)
        x = x.at[jnp.array([0, 9]), :].add(0.1 * y, mode="drop")
        x = x.at[n + 3, 1].mul(1.1, mode="drop")
        x = lax.dynamic_update_slice(x, x[1:3, 1:3] * 0.9, (n, n))
        return x + 0.05 * jnp.take(x, jnp.array([4, 0, n, 1, 2]), axis=0, mode="clip"), n + 1

    return lax.while_loop(lambda s: (s[1] < 6) & (s[0][0, 0] < 3), step, (x, 0))[0]


@case(array(4), array(4, 4))
def top_of_beams(x, w):
    """The best two of the candidates of each step, with `top_k` and gathers."""

    def step(state):
        score, at, n = state
        all_scores = score[:, None] + jax.nn.log_softmax(w[at], axis=-1)
        best, flat = lax.top_k(all_scores.ravel(), 2)
        return best, (flat % 4).astype(jnp.int32), n + 1

    score, at, _ = lax.while_loop(lambda s: s[2] < 4, step, (x[:2], jnp.array([0, 1], jnp.int32), 0))
    return score, x[at]


@case(array(3, 4), array(4))
def maps_in_conditions_in_loops(x, y):
    def step(state):
        x, n = state

        def heavy(x):
            return lax.map(lambda row: jnp.tanh(row * y) + jnp.sum(row), x)

        x = lax.cond(jnp.sum(x) > 0, heavy, lambda x: jnp.cos(x) * y, x)
        return x, n + 1

    return lax.while_loop(lambda s: (s[1] < 6) & (jnp.sum(jnp.abs(s[0])) > 0.5), step, (x, 0))[0]


@case(array(3, low=0.5, high=3.0), 0.8)
def special_functions(x, a):
    """The functions of statistics in a loop: log-gamma, digamma, erf, its inverse, Bessel functions, beta."""

    def step(state):
        x, n = state
        y = jax.scipy.special.gammaln(x + 1) + jax.scipy.special.erf(a * x) + jax.scipy.special.i0e(x) + jax.scipy.special.i1e(x)
        y = y + jax.scipy.special.ndtri(jax.nn.sigmoid(x)) * 0.1 + jax.scipy.special.xlogy(x, x + a) + jax.scipy.special.entr(x)
        return jnp.clip(0.5 + jnp.abs(jnp.sin(y)) + 0.1 * jax.scipy.special.digamma(x + 1), 0.1, 4.0), n + 1

    return lax.while_loop(lambda s: s[1] < 4, step, (x, 0))[0]
