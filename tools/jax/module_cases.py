"""Functions that `module` differentiates: CASES with loops, most of unknown length, OPERATIONS without."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

R = np.random.default_rng(5)
CASES = []


def case(*args, **options):
    def add(function):
        CASES.append((function.__name__, function, args, options))
        return function

    return add


def alternating(*args):
    """A case that is differentiated in one way of recording, in turn, not in all."""
    return case(*args, modes=({},) if len(CASES) % 2 else ({"slots": 3, "segment": 4},))


def array(*shape, low=-1.0, high=1.0):
    return R.uniform(low, high, shape)


def positive(size):
    a = R.normal(size=(size, size))
    return a @ a.T / size + 0.3 * np.eye(size)


@case(array(4, low=1.0, high=30.0))
def newton(a):
    """The cube root."""

    def step(state):
        x, _ = state
        y = x - (x**3 - a) / (3 * x * x)
        return y, jnp.max(jnp.abs(y - x))

    return lax.while_loop(lambda s: s[1] > 1e-9, step, (a + 1.0, jnp.ones((), a.dtype)))[0]


@case(positive(5), array(5))
def conjugate_gradient(a, b):
    def step(state):
        x, r, p, rs, n = state
        ap = a @ p
        alpha = rs / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + new / rs * p, new, n + 1

    out = lax.while_loop(lambda s: (s[3] > 1e-12) & (s[4] < 100), step, (jnp.zeros_like(b), b, b, b @ b, 0))
    return {"x": out[0], "steps": out[4]}


@case(np.array([2.0, 0.0]), np.float64(1.5))
def adaptive_ode(y0, mu):
    """Bogacki and Shampine's method, with the size of steps controlled by the error."""

    def slope(y):
        return jnp.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    def step(state):
        t, h, y, n = state
        h = jnp.minimum(h, 2.0 - t)
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.75 * h * k2)
        new = y + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
        error = h * (-5 / 72 * k1 + 1 / 12 * k2 + 1 / 9 * k3 - 1 / 8 * slope(new))
        size = jnp.sqrt(jnp.mean((error / 1e-4) ** 2))
        fits = size <= 1.0
        factor = jnp.clip(0.9 * (size + 1e-9) ** (-1 / 3), 0.2, 5.0)
        return jnp.where(fits, t + h, t), h * factor, jnp.where(fits, new, y), n + 1

    start = (jnp.zeros((), y0.dtype), jnp.full((), 0.1, y0.dtype), y0, 0)
    return lax.while_loop(lambda s: s[0] < 2.0 - 1e-6, step, start)[2:]


@case(array(4, 4, low=0.0), np.float64(0.2))
def sinkhorn(cost, eps):
    target = jnp.full(4, -jnp.log(4.0))

    def step(state):
        f, g, _ = state
        f = eps * (target - jax.nn.logsumexp((g[None] - cost) / eps, axis=1))
        g = eps * (target - jax.nn.logsumexp((f[:, None] - cost) / eps, axis=0))
        plan = jnp.exp((f[:, None] + g[None] - cost) / eps)
        return f, g, jnp.sum(jnp.abs(plan.sum(1) - 0.25))

    zero = jnp.zeros(4, cost.dtype)
    f, g, _ = lax.while_loop(lambda s: s[2] > 1e-5, step, (zero, zero, jnp.ones((), cost.dtype)))
    return jnp.sum(jnp.exp((f[:, None] + g[None] - cost) / eps) * cost)


@case(np.float64(0.0), np.float64(2.0), np.float64(1.7))
def bisect(low, high, a):
    """Ends at a root of x² - a, and then takes one step of Newton's method, which has a derivative."""

    def step(state):
        low, high = state
        middle = 0.5 * (low + high)
        above = middle * middle > a
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    x = lax.while_loop(lambda s: s[1] - s[0] > 1e-6, step, (low, high))[0]
    return x - (x * x - a) / (2 * x)


@case(array(3), np.float64(0.9))
def nested(x, w):
    def inner(y):
        return lax.while_loop(lambda s: jnp.sum(s * s) > 0.1, lambda s: 0.7 * jnp.sin(s) * w, y)

    def outer(state):
        i, y = state
        return i + 1, y + inner(y + 0.1 * x)

    return lax.while_loop(lambda s: (s[0] < 7) & (jnp.sum(s[1]) < 20), outer, (0, x))[1]


@case(array(4), array(4), np.int64(9))
def cond_inside(x, w, n):
    def step(i, y):
        return lax.cond(jnp.sum(y) > 0.5, lambda y: jnp.tanh(y * w), lambda y: y + 0.3 * w * w + x, y)

    return lax.fori_loop(0, n, step, x)


@case(array(4), array(4), np.int64(10))
def switch_inside(x, w, n):
    branches = (lambda y: jnp.sin(y * w), lambda y: y * y + x, lambda y: y - 0.1 * jnp.exp(w))
    return lax.fori_loop(0, n, lambda i, y: lax.switch(i % 3, branches, y), x)


@case({"x": array(3), "more": (array(2, 2), np.float64(0.5))}, np.int64(6))
def trees_carried(tree, n):
    def step(i, state):
        x, (m, s) = state["x"], state["more"]
        return {"x": jnp.tanh(x * s), "more": (m @ m * 0.5 + s, s + 0.1 * jnp.sum(x))}

    return lax.fori_loop(0, n, step, tree)


@case(array(6, 3), array(4, 4), array(4, 3), array(4))
def rnn_scan(inputs, w, u, h):
    def step(h, x):
        h = jnp.tanh(w @ h + u @ x)
        return h, jnp.sum(h)

    return lax.scan(step, h, inputs)


@case(array(5, 6), array(5, 6, low=-2), array(6, 6), np.int64(1))
def decoder(embedding, out, w, token):
    """Greedy: until a token comes, or the state is small."""

    def step(state):
        h, token, n, log = state
        h = jnp.tanh(w @ h + embedding[token])
        scores = out @ h
        token = jnp.argmax(scores)
        return h, token, n + 1, log + jax.nn.log_softmax(scores)[token]

    start = (jnp.zeros(6, embedding.dtype), token, 0, jnp.zeros((), embedding.dtype))
    h, _, n, log = lax.while_loop(lambda s: (s[2] < 12) & (s[1] != 4), step, start)
    return h, n, log


@case(array(4), np.int64(8))
def marks(x, n):
    """JAX's own reverse mode is not at hand for a loop, nor forward mode for `custom_vjp`: see MARKED."""

    def step(i, y):
        return jax.nn.relu(y) * 0.9 + lax.stop_gradient(jnp.cos(y)) * x + jax.nn.softplus(-y)

    return lax.fori_loop(0, n, step, x)


@case(array(5), np.float64(1e-3))
def power_iteration(v, tolerance):
    m = jnp.asarray(positive_constant)

    def step(state):
        v, _ = state
        w = m @ v
        w = w / jnp.linalg.norm(w)
        return w, jnp.max(jnp.abs(w - v))

    v, _ = lax.while_loop(lambda s: s[1] > tolerance, step, (v / jnp.linalg.norm(v), jnp.ones((), v.dtype)))
    return v @ m @ v


positive_constant = positive(5)


@case(array(3), array(3))
def loop_free(x, y):
    return jnp.sin(x) * y + jnp.sum(jax.nn.softmax(x * y)), jnp.argmax(x), 2.0


@case(array(3), np.int64(0))
def no_iterations(x, n):
    return lax.fori_loop(0, n, lambda i, y: jnp.sin(y) * x, x * x)


@case(array(8), np.int64(5))
def array_written(x, n):
    """A buffer is filled and read in a loop of unknown length."""

    def step(i, state):
        log, y = state
        y = jnp.sin(y) * x[i % 8] + log[(i + 7) % 8]
        return log.at[i % 8].set(y), y

    return lax.fori_loop(0, n, step, (x * 0.5, x[0]))


@case(np.float64(0.7), np.float64(0.4))
def kepler(mean, eccentricity):
    def step(state):
        e, _ = state
        new = e - (e - eccentricity * jnp.sin(e) - mean) / (1 - eccentricity * jnp.cos(e))
        return new, jnp.abs(new - e)

    return lax.while_loop(lambda s: s[1] > 1e-10, step, (mean, jnp.ones_like(mean)))[0]


@case(array(4), np.float64(0.05), np.int64(5), np.int64(3))
def gradient_descent(x, rate, steps, inner):
    """A loop whose body takes JAX's gradient of a function."""

    def loss(y):
        return jnp.sum((y - x) ** 4) + jnp.sum(jnp.cos(y))

    def step(i, y):
        return lax.fori_loop(0, inner, lambda j, y: y - rate * jax.grad(loss)(y), y)

    return lax.fori_loop(0, steps, step, jnp.zeros_like(x))


@case(array(3), array(3, 3))
def newton_system(b, m):
    """Each step solves linear equations, which lowering turns into calls of LAPACK."""

    def residual(x):
        return x + 0.3 * jnp.sin(m @ x) - b

    def step(state):
        x, _ = state
        r = residual(x)
        return x - jnp.linalg.solve(jax.jacfwd(residual)(x), r), jnp.max(jnp.abs(r))

    return lax.while_loop(lambda s: s[1] > 1e-10, step, (b, jnp.ones((), b.dtype)))[0]


@case(positive(4), np.int64(4))
def factorizations(a, n):
    def step(i, m):
        factor = jnp.linalg.cholesky(m)
        return m + 0.1 * factor @ factor.T + jnp.diag(jnp.linalg.eigh(m)[0])

    return lax.fori_loop(0, n, step, a)


@case(array(3, low=0.1, high=0.9), np.int64(3))
def refused_operands(x, n):
    """JAX's rules refuse the other operands, which are constants here."""
    y = lax.fori_loop(0, n, lambda _, x: jax.scipy.special.betainc(2.5, 1.5, x), x)
    return y + jax.scipy.special.polygamma(2, x)


@case(positive(5), array(5))
def krylov(a, b):
    """JAX's own solver, which has a rule for its derivative."""
    return jax.scipy.sparse.linalg.cg(lambda x: a @ x + 0.1 * x, b, tol=1e-12)[0]


@case(array(3), array(3, 3), np.int64(5))
def weights_again(x, w, n):
    """The loop runs again one iteration at a time, for it has another of unknown length; so the factors of a gradient have no number."""

    def step(i, y):
        return w @ lax.while_loop(lambda z: z @ z > 0.5, lambda z: 0.7 * jnp.sin(z), y) + x

    return lax.fori_loop(0, n, step, x)


@case(np.float64(0.6), np.int64(4))
def loop_in_branch(x, n):
    """A loop in a branch reads what the iteration around it computes, and so does what is behind it."""

    def step(i, y):
        c = jnp.sin(y)

        def inner(j, z):
            return lax.cond(j < c * 8, lambda z: 0.9 * z * z + 0.1, lambda z: z, z)

        return lax.cond(y > 0.1, lambda y: lax.fori_loop(0, 9, inner, y), lambda y: y + 0.3, y) * c + x

    return lax.fori_loop(0, n, step, x)


@case(array(6), np.int64(3))
def stack_machine(x, n):
    """A stack in an array: a switch of operations that change the pointer."""
    program = jnp.array([0, 1, 0, 2, 0, 3, 1, 2])

    def step(state):
        pc, top, stack = state

        def push():
            return top + 1, stack.at[top].set(x[pc % 6])

        def add():
            return top - 1, stack.at[top - 2].set(stack[top - 2] + stack[top - 1])

        def multiply():
            return top - 1, stack.at[top - 2].set(stack[top - 2] * stack[top - 1])

        def negate():
            return top, stack.at[top - 1].set(-stack[top - 1])

        op = program[pc % 8]
        return pc + 1, *lax.switch(jnp.where((top >= 2) | (op == 0), op, 0), [push, add, multiply, negate])

    return lax.while_loop(lambda s: s[0] < 5 + n, step, (0, 0, jnp.zeros(8)))[2]


@case(array(4, 4), array(4))
def gmres(a, b):
    """A basis that grows by a row in each iteration, orthogonalized against those before in an inner loop."""
    a = a + 3 * jnp.eye(4)

    def step(state):
        k, q, h, _ = state

        def orthogonalize(j, carry):
            v, h = carry
            d = q[j] @ v
            return v - d * q[j], h.at[j, k].set(d)

        v, h = lax.fori_loop(0, k + 1, orthogonalize, (a @ q[k], h))
        size = jnp.linalg.norm(v)
        return k + 1, q.at[k + 1].set(v / size), h.at[k + 1, k].set(size), size

    beta = jnp.linalg.norm(b)
    start = (0, jnp.zeros((5, 4)).at[0].set(b / beta), jnp.zeros((5, 4)), beta)
    _, q, h, _ = lax.while_loop(lambda s: (s[0] < 3) & (s[3] > 1e-9), step, start)
    part = h[:4, :3]
    return jnp.linalg.solve(part.T @ part, part.T @ (beta * jnp.eye(4)[0])) @ q[:3]


@case(array(3, 3), np.int64(2))
def matrix_functions(a, n):
    """JAX's `expm` has a switch, and squarings in a branch whose number it computes."""

    def step(i, m):
        return jnp.linalg.inv(jax.scipy.linalg.expm(0.3 * m) + 2 * jnp.eye(3)) + 0.1 * jnp.linalg.det(m) * m

    return lax.fori_loop(0, n, step, a)


@case(array(3, 3), np.int64(2))
def spectra(a, n):
    """Eigenvalues of a general matrix."""
    return lax.fori_loop(0, n, lambda i, m: m * 0.5 + jnp.sum(jnp.abs(jnp.linalg.eigvals(m))) * jnp.eye(3) * 0.1, a)


@case(array(4, 4), array(4, 4), array(4), np.int64(3))
def complex_factorizations(re, im, b, n):
    """Factorizations and systems of complex matrices."""
    a = re + 1j * im + 4 * jnp.eye(4)

    def step(k, x):
        h = a @ jnp.conj(a.T) + 3 * jnp.eye(4)
        w, v = jnp.linalg.eigh(h)
        u, s, vh = jnp.linalg.svd(a + k, full_matrices=False)
        q, r = jnp.linalg.qr(a)
        y = jnp.linalg.solve(a, x) + 0.01 * jnp.linalg.cholesky(h) @ x + 0.1 * q @ x + 1e-4 * jnp.linalg.det(a) + r[0] * 0.1
        y = y + 0.1 * (v * jnp.cos(w)) @ jnp.conj(v.T) @ x + 0.1 * (u * jnp.sin(s)) @ vh @ x
        return y / (1 + jnp.linalg.norm(y))

    return lax.fori_loop(0, n, step, b + 0j)


A, S, B = array(4, 4), positive(4), array(4)
KEY = jax.random.key(0)
OPERATIONS = {
    "solve": (jnp.linalg.solve, S, B),
    "cholesky": (jnp.linalg.cholesky, S),
    "eigh": (jnp.linalg.eigh, S),
    "eigenvalues": (lambda a: (jnp.linalg.eigvals(a).real, jnp.abs(jnp.linalg.eigvals(a))), A),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), A),
    "determinants": (lambda a: (jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.slogdet(a)[1]), S),
    "qr": (jnp.linalg.qr, A),
    "cg": (lambda a, b: jax.scipy.sparse.linalg.cg(lambda x: a @ x, b, tol=1e-12)[0], S, B),
    "activations": (lambda b: [f(b) for f in (jax.nn.gelu, jax.nn.silu, jax.nn.elu, jax.nn.softplus, jax.nn.softmax)], B),
    "reductions": (lambda a: (jax.nn.logsumexp(a), jnp.linalg.norm(a), jnp.std(a, 0), jnp.prod(a, 0), jnp.max(a, 0), jnp.trace(a)), A),
    "convolution": (lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME"), array(1, 2, 5, 5), array(3, 2, 3, 3)),
    "max_pool": (lambda b: lax.reduce_window(jnp.round(b), -jnp.inf, lax.max, (2,), (1,), "VALID"), B),
    "scans": (lambda b: (jnp.cumsum(b), jnp.cumprod(b), lax.cummax(b), lax.cumlogsumexp(b)), B),
    "sorts": (lambda b: (jnp.sort(b), lax.top_k(b, 2), jnp.median(b), jnp.argsort(b)), B),
    "indexing": (lambda b: jnp.zeros(6).at[jnp.array([0, 2, 2, 5])].add(b).at[1].mul(b[0] + 2).at[3].set(b[1]) + b[jnp.array([0, 0, 3, 2, 1, 1])], B),
    "segments": (lambda b: (jax.ops.segment_sum(b, jnp.array([0, 1, 1, 0]), 2), jnp.interp(b, jnp.arange(4.0) - 2, b * b)), B),
    "layout": (lambda a: (jnp.roll(a, 1), jnp.flip(a), jnp.triu(a), jnp.tile(a, 2), jnp.pad(a, 1), jnp.kron(a, a), jnp.diff(a)), A),
    "einsum": (lambda a, b: jnp.einsum("ij,j,ik->k", a, b, a), A, B),
    "kinks": (lambda b: (jnp.abs(b - b[0]), jnp.clip(b, b[1], 0.1), jnp.maximum(b, b[2]), jnp.mod(b, 0.3), jnp.arctan2(b, b + 3)), B),
    "special": (lambda b: [f(b * b + 0.5) for f in (jax.scipy.special.gammaln, jax.scipy.special.erfinv, jax.scipy.special.i0e)], B * 0.6),
    "incomplete": (lambda b: jax.scipy.special.gammainc(2.0, b * b), B),
    "random": (lambda b: b * jax.random.normal(KEY, b.shape) + jax.random.gamma(KEY, b * b + 1), B),
}
