"""Programs as research code has them: samplers, filters, solvers, decoders, losses and layers of one's own, and Keras models around them."""

import numpy as np
import tensorflow as tf

from case import case, scalar
from models import Module, keras
from v1_graphs import old

v1 = tf.compat.v1
LOOPS, LEARNING, DECODING, LAYERS, SESSIONS, KERAS, DATA = (
    f"programs, {group}" for group in ("loops", "learning", "decoding", "layers", "sessions", "Keras", "data")
)


# ----- loops -----


@case(LOOPS)
def program_kalman(e):
    """A filter of Kalman over a sequence, as a scan of matrices."""
    a, h = tf.constant(e.values(3, 3) * 0.5), tf.constant(e.values(2, 3))

    def run(z):
        def step(state, z):
            mean, cov = state
            mean, cov = tf.linalg.matvec(a, mean), a @ cov @ tf.transpose(a) + 0.1 * tf.eye(3)
            s = h @ cov @ tf.transpose(h) + 0.2 * tf.eye(2)
            gain = cov @ tf.transpose(h) @ tf.linalg.inv(s)
            return mean + tf.linalg.matvec(gain, z - tf.linalg.matvec(h, mean)), (tf.eye(3) - gain @ h) @ cov

        means, covs = tf.scan(step, z, (tf.zeros([3]), tf.eye(3)))
        return scalar(means) + scalar(covs), means

    return e.frozen(run, z=e.values(4, 2))


@case(LOOPS)
def program_forward_algorithm(e):
    """The likelihood of a hidden Markov model."""

    def run(pi, a, b):
        alpha = tf.nn.log_softmax(pi) + b[0]
        for t in tf.range(1, 5):
            alpha = tf.reduce_logsumexp(alpha[:, None] + tf.nn.log_softmax(a, 1), 0) + b[t]
        return tf.reduce_logsumexp(alpha)

    return e.kept(run, pi=e.values(3), a=e.values(3, 3), b=e.values(5, 3))


@case(LOOPS)
def program_edit_distance(e):
    """Soft alignment of two sequences by dynamic programming."""

    def run(x, y):
        d = tf.abs(x[:, None] - y[None, :])
        row = tf.concat([[0.0], tf.fill([4], 10.0)], 0)
        for i in tf.range(4):
            left = tf.constant(10.0)
            new = tf.TensorArray(tf.float32, 5, element_shape=[])
            new = new.write(0, left)
            for j in tf.range(4):
                left = d[i, j] - tf.reduce_logsumexp(-tf.stack([row[j], row[j + 1], left]))
                new = new.write(j + 1, left)
            row = new.stack()
        return row[-1], row

    return e.frozen(run, x=e.values(4), y=e.values(4))


@case(LOOPS)
def program_sinkhorn(e):
    def run(x, y):
        cost = tf.reduce_sum((x[:, None] - y[None]) ** 2, -1)
        f, g = tf.zeros([4]), tf.zeros([5])
        for _ in tf.range(6):
            f = -tf.reduce_logsumexp((g[None] - cost) / 0.5, 1) * 0.5
            g = -tf.reduce_logsumexp((f[:, None] - cost) / 0.5, 0) * 0.5
        plan = tf.exp((f[:, None] + g[None] - cost) / 0.5)
        return tf.reduce_sum(plan * cost), plan

    return e.frozen(run, x=e.values(4, 2), y=e.values(5, 2))


@case(LOOPS)
def program_langevin(e):
    """A sampler with stateless noise and a gradient in each step."""

    def run(x):
        y = x
        for i in tf.range(4):
            with tf.GradientTape() as tape:
                tape.watch(y)
                energy = tf.reduce_sum(y**4 / 4 - y**2 / 2)
            y = y - 0.1 * tape.gradient(energy, y) + 0.1 * tf.random.stateless_normal([3], tf.stack([i, 7]))
        return scalar(y), y

    return e.kept(run, x=e.values(3))


@case(LOOPS)
def program_power_iteration(e):
    def run(a):
        m = a @ tf.transpose(a)
        v, value, n = tf.ones([4]) / 2, tf.constant(0.0), tf.constant(0)
        change = tf.constant(1.0)
        while change > 1e-4 and n < 40:
            w = tf.linalg.matvec(m, v)
            new = tf.norm(w)
            v, change, value, n = w / new, tf.abs(new - value), new, n + 1
        return value, v

    return e.kept(run, a=e.values(4, 4))


@case(LOOPS)
def program_queue_of_events(e):
    """Elements that are taken and put back in an array that a loop reads and writes."""

    def run(x):
        heap = tf.TensorArray(tf.float32, 4, element_shape=[], clear_after_read=False).unstack(x)
        total = tf.constant(0.0)
        for i in tf.range(6):
            at = i % 4
            value = heap.read(at)
            if value > 0:
                total += value * tf.cast(i + 1, tf.float32)
                heap = heap.write(at, value - 0.5)
            else:
                heap = heap.write(at, tf.square(value) + 0.1)
        return total + scalar(heap.stack()), heap.stack()

    return e.frozen(run, x=e.values(4))


@case(LOOPS)
def program_nested_scan(e):
    def run(x, w):
        def outer(h, row):
            inner = tf.scan(lambda s, v: tf.tanh(s * w + v), row, tf.constant(0.0))
            return h * 0.5 + inner[-1] + tf.reduce_mean(inner)

        h = tf.scan(outer, x, tf.constant(0.0))
        return scalar(h), h

    return e.frozen(run, x=e.values(3, 4), w=e.values())


@case(LOOPS)
def program_last_of_slices(e):
    """Slices with steps, from the end, and with new axes, whose gradients are in the graph."""

    def build(given):
        x = given("x", e.values(4, 5, 3))
        y = scalar(x[::2, ::-1, None, 1]) + scalar(x[-1, ..., 1:]) * 2 + scalar(x[1:3, 4:0:-2, ::2] ** 2)
        return y, *tf.gradients(y, [x])

    return e.graph(old(build))


@case(LOOPS)
def program_moving_slices(e):
    """Slices at places that a loop computes, and their gradients in the graph."""

    def build(given):
        x = given("x", e.values(6, 2))

        def body(i, y):
            return i + 1, y + x[i] * x[i + 1, 0] + tf.reduce_sum(x[i : i + 2] ** 2, 0)

        _, y = v1.while_loop(lambda i, y: i < 4, body, [tf.constant(0), tf.zeros([2])])
        loss = scalar(y)
        return loss, tf.ensure_shape(tf.gradients(loss, [x])[0], [6, 2])

    return e.graph(old(build))


# ----- learning -----


@case(LEARNING)
def program_adam_in_graph(e):
    def run(w, x, y):
        m, v = tf.zeros_like(w), tf.zeros_like(w)
        for t in tf.range(1, 4):
            with tf.GradientTape() as tape:
                tape.watch(w)
                loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, tf.linalg.matvec(x, w)))
            g = tape.gradient(loss, w)
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            k = tf.cast(t, tf.float32)
            w = w - 0.1 * (m / (1 - 0.9**k)) / (tf.sqrt(v / (1 - 0.99**k)) + 1e-3)
        return scalar(w), w

    return e.frozen(run, w=e.values(3), x=e.values(5, 3), y=np.array([0, 1, 1, 0, 1], np.float32))


@case(LEARNING)
def program_policy_gradient(e):
    def run(logits, rewards):
        actions = tf.constant([1, 0, 2, 1])
        returns = tf.scan(lambda total, r: r + 0.9 * total, rewards, 0.0, reverse=True)
        log = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        advantage = tf.stop_gradient((returns - tf.reduce_mean(returns)) / (tf.math.reduce_std(returns) + 1e-3))
        entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), -1)
        ratio = tf.exp(log - tf.stop_gradient(log))
        clipped = tf.clip_by_value(ratio, 0.8, 1.2)
        return -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage)) - 0.01 * tf.reduce_mean(entropy), returns

    return e.frozen(run, logits=e.values(4, 3), rewards=e.values(4))


@case(LEARNING)
def program_variational_autoencoder(e):
    m = Module(a=e.values(6, 4), mu=e.values(4, 2), s=e.values(4, 2), b=e.values(2, 6))

    def run(x):
        h = tf.nn.elu(x @ m.a)
        mu, s = h @ m.mu, tf.nn.softplus(h @ m.s)
        z = mu + s * tf.random.stateless_normal([3, 2], [3, 4])
        p = tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid(x), z @ m.b)
        kl = 0.5 * tf.reduce_sum(mu**2 + s**2 - 2 * tf.math.log(s) - 1, 1)
        return tf.reduce_mean(tf.reduce_sum(p, 1) + kl), z

    return e.saved(m, run, x=e.values(3, 6))


@case(LEARNING)
def program_normalizing_flow(e):
    m = Module(u=e.values(3, 4), w=e.values(3, 4), b=e.values(3))

    def run(x):
        log = tf.zeros([5])
        for k in range(3):
            a = tf.tanh(tf.linalg.matvec(x, m.w[k]) + m.b[k])
            log += tf.math.log(tf.abs(1 + (1 - a**2) * tf.tensordot(m.u[k], m.w[k], 1)) + 1e-3)
            x = x + a[:, None] * m.u[k]
        return -tf.reduce_mean(log - 0.5 * tf.reduce_sum(x**2, 1)), x

    return e.saved(m, run, x=e.values(5, 4))


@case(LEARNING)
def program_gaussian_mixture(e):
    def run(x, means, logits):
        d = tf.reduce_sum((x[:, None] - means[None]) ** 2, -1)
        log = tf.nn.log_softmax(logits) - 0.5 * d
        r = tf.nn.softmax(log)
        new = tf.math.divide_no_nan(tf.einsum("nk,nd->kd", r, x), tf.reduce_sum(r, 0)[:, None])
        return -tf.reduce_mean(tf.reduce_logsumexp(log, 1)) + scalar(new), new

    return e.frozen(run, x=e.values(6, 2), means=e.values(3, 2), logits=e.values(3))


@case(LEARNING)
def program_gamma_regression(e):
    """Likelihoods of gamma, beta, Student's and Poisson's distributions."""

    def run(a, b, x):
        gamma = a * tf.math.log(b) - tf.math.lgamma(a) + (a - 1) * tf.math.log(x) - b * x
        student = tf.math.lgamma((a + 1) / 2) - tf.math.lgamma(a / 2) - 0.5 * tf.math.log(a) - (a + 1) / 2 * tf.math.log1p(x**2 / a)
        poisson = tf.nn.log_poisson_loss(x, tf.math.log(b), compute_full_loss=True)
        cdf = tf.math.igamma(a, x * b) + tf.math.betainc(tf.constant([2.0, 3.0, 1.5, 0.7]), tf.constant([1.0, 2.0, 2.5, 0.9]), x / (1 + x))
        return tf.reduce_mean(gamma + student + tf.math.lbeta(tf.stack([a, b], -1)) - poisson) + scalar(cdf)

    return e.frozen(run, a=e.values(4, low=1, high=3), b=e.values(4, low=1, high=3), x=e.values(4, low=0.3, high=2))


@case(LEARNING)
def program_hessian_vector(e):
    def run(w, v, x):
        with tf.GradientTape() as outer:
            outer.watch(w)
            with tf.GradientTape() as inner:
                inner.watch(w)
                loss = tf.reduce_sum(tf.math.softplus(tf.tanh(x @ w)))
            g = inner.gradient(loss, w)
        return scalar(outer.gradient(g, w, output_gradients=v)), g

    return e.frozen(run, w=e.values(3, 2), v=e.values(3, 2), x=e.values(4, 3))


@case(LEARNING)
def program_triplet_mining(e):
    labels = tf.constant([0, 0, 1, 1, 2])

    def run(x):
        z = tf.math.l2_normalize(x, 1)
        d = 2 - 2 * tf.matmul(z, z, transpose_b=True)
        same = labels[:, None] == labels[None]
        far = tf.reduce_max(tf.where(same, d, tf.zeros_like(d)), 1)
        near = tf.reduce_min(tf.where(same, tf.fill([5, 5], 9.0), d), 1)
        return tf.reduce_mean(tf.nn.relu(far - near + 0.5)), d

    return e.frozen(run, x=e.values(5, 3))


# ----- decoding -----


@case(DECODING)
def program_beam_search_lengths(e):
    """Beams with lengths, a penalty, and what is finished kept apart."""
    table = tf.constant(e.values(5, 5, low=-2, high=2))

    def run(bias):
        scores, last = tf.constant([0.0, -20.0, -20.0]), tf.constant([1, 1, 1])
        done, lengths = tf.zeros([3], tf.bool), tf.zeros([3])
        for _ in tf.range(4):
            step = tf.nn.log_softmax(tf.gather(table, last) + bias)
            stay = tf.one_hot(tf.zeros([3], tf.int32), 5, on_value=0.0, off_value=-30.0)
            all_scores = scores[:, None] + tf.where(done[:, None], stay, step)
            scores, index = tf.math.top_k(tf.reshape(all_scores, [-1]), 3)
            beam, last = index // 5, index % 5
            done = tf.logical_or(tf.gather(done, beam), last == 0)
            lengths = tf.gather(lengths, beam) + tf.cast(tf.logical_not(done), tf.float32)
        return scalar(scores / (1 + lengths) ** 0.6), last, lengths

    return e.frozen(run, bias=e.values(5))


@case(DECODING)
def program_attention_cache_update(e):
    """A cache of fixed size, written in place by `tensor_scatter_nd_update`, with a mask by position."""
    w = [tf.constant(e.values(4, 4)) for _ in range(3)]

    def run(x):
        keys, values, out = tf.zeros([4, 4]), tf.zeros([4, 4]), tf.zeros([4, 4])
        for t in tf.range(4):
            q, k, v = (tf.linalg.matvec(m, x[t]) for m in w)
            keys = tf.tensor_scatter_nd_update(keys, [[t]], k[None])
            values = tf.tensor_scatter_nd_update(values, [[t]], v[None])
            mask = tf.where(tf.range(4) <= t, 0.0, -1e9)
            weights = tf.nn.softmax(tf.linalg.matvec(keys, q) / 2.0 + mask)
            out = tf.tensor_scatter_nd_add(out, [[t]], tf.linalg.matvec(values, weights, transpose_a=True)[None])
        return scalar(out), out

    return e.kept(run, x=e.values(4, 4))


@case(DECODING)
def program_speculative(e):
    """What is accepted of a draft: a loop that ends with a branch."""

    def run(p, q):
        i, score = tf.constant(0), tf.constant(1.0)
        while i < 5:
            ratio = tf.minimum(p[i] / q[i], 1.0)
            if ratio < 0.6:
                break
            score *= ratio
            i += 1
        return score * tf.reduce_sum(p), i

    return e.kept(run, p=e.values(5, low=0.5, high=1), q=e.values(5, low=0.5, high=1))


@case(DECODING)
def program_top_p(e):
    def run(logits):
        sorted_logits = tf.sort(logits, direction="DESCENDING")
        total = tf.cumsum(tf.nn.softmax(sorted_logits), axis=-1)
        count = tf.reduce_sum(tf.cast(total < 0.8, tf.int32), -1, keepdims=True)
        least = tf.gather(sorted_logits, count, batch_dims=1)
        kept = tf.where(logits < least, -1e9, logits)
        return scalar(tf.nn.softmax(kept)), count

    return e.frozen(run, logits=e.values(3, 6, low=-2, high=2))


# ----- layers -----


@case(LAYERS)
def program_rotary_attention(e):
    def run(x, w):
        place = tf.range(4, dtype=tf.float32)
        rate = tf.pow(10.0, -tf.range(0, 4, 2, dtype=tf.float32) / 4)
        angle = place[:, None] * rate[None]
        turn = lambda v: tf.reshape(tf.stack([v[..., ::2] * tf.cos(angle) - v[..., 1::2] * tf.sin(angle), v[..., ::2] * tf.sin(angle) + v[..., 1::2] * tf.cos(angle)], -1), [4, 4])
        q, k, v = tf.split(x @ w, 3, axis=-1)
        mask = tf.linalg.band_part(tf.ones([4, 4]), -1, 0)
        scores = tf.where(mask > 0, tf.matmul(turn(q), turn(k), transpose_b=True) / 2.0, tf.float32.min)
        return scalar(tf.nn.softmax(scores) @ v)

    return e.frozen(run, x=e.values(4, 4), w=e.values(4, 12))


@case(LAYERS)
def program_mixture_of_experts(e):
    def run(x, gate, w):
        scores = tf.nn.softmax(x @ gate)
        weights, chosen = tf.math.top_k(scores, 2)
        mask = tf.reduce_sum(tf.one_hot(chosen, 3) * weights[..., None], 1)
        y = tf.einsum("nd,edf,ne->nf", x, w, mask / tf.reduce_sum(mask, 1, keepdims=True))
        balance = tf.reduce_sum(tf.reduce_mean(scores, 0) * tf.reduce_mean(tf.cast(mask > 0, tf.float32), 0))
        return scalar(y) + balance, chosen

    return e.frozen(run, x=e.values(4, 3), gate=e.values(3, 3), w=e.values(3, 3, 2))


@case(LAYERS)
def program_graph_network(e):
    senders, receivers = tf.constant([0, 1, 2, 3, 0]), tf.constant([1, 2, 3, 0, 2])

    def run(nodes, w, v):
        for _ in range(2):
            messages = tf.nn.relu(tf.concat([tf.gather(nodes, senders), tf.gather(nodes, receivers)], 1) @ w)
            sums = tf.math.unsorted_segment_mean(messages, receivers, 4)
            best = tf.math.unsorted_segment_max(messages, receivers, 4)
            nodes = tf.tanh(tf.concat([sums, best, nodes], 1) @ v)
        return scalar(nodes), nodes

    return e.frozen(run, nodes=e.values(4, 2), w=e.values(4, 3), v=e.values(8, 2))


@case(LAYERS)
def program_state_space(e):
    """A linear recurrence by an associative scan in halves."""

    def run(a, b):
        decay, state = tf.sigmoid(a), b
        for shift in (1, 2, 4):
            before = tf.pad(state, [[shift, 0], [0, 0]])[:8]
            past = tf.pad(decay, [[shift, 0], [0, 0]], constant_values=1.0)[:8]
            state, decay = state + decay * before, decay * past
        return scalar(state), decay

    return e.frozen(run, a=e.values(8, 2), b=e.values(8, 2))


@case(LAYERS)
def program_deformable_sampling(e):
    def run(x, flow):
        y, z = tf.meshgrid(tf.range(4.0), tf.range(4.0), indexing="ij")
        places = tf.stack([y, z], -1) + flow
        low = tf.floor(places)
        total = tf.zeros([4, 4, 2])
        for i in (0, 1):
            for j in (0, 1):
                corner = low + tf.constant([float(i), float(j)])
                weight = tf.reduce_prod(1 - tf.abs(places - corner), -1, keepdims=True)
                index = tf.clip_by_value(tf.cast(corner, tf.int32), 0, 3)
                total += weight * tf.gather_nd(x, index)
        return scalar(total), total

    return e.frozen(run, x=e.values(4, 4, 2), flow=e.values(4, 4, 2))


@case(LAYERS)
def program_spectral_convolution(e):
    """A layer of a Fourier neural operator."""

    def run(x, wr, wi):
        s = tf.signal.rfft(tf.transpose(x))[:, :3]
        y = tf.einsum("cf,cdf->df", s, tf.complex(wr, wi))
        y = tf.signal.irfft(tf.pad(y, [[0, 0], [0, 2]]), [8])
        return scalar(tf.nn.gelu(tf.transpose(y) + x))

    return e.frozen(run, x=e.values(8, 2), wr=e.values(2, 2, 3), wi=e.values(2, 2, 3))


# ----- sessions -----


@case(SESSIONS)
def program_v1_scan_gradients(e):
    def build(given):
        x, w = given("x", e.values(4, 3)), given("w", e.values(3, 3))
        h = v1.scan(lambda h, v: tf.tanh(tf.linalg.matvec(w, h) + v), x, tf.zeros([3]))
        loss = scalar(tf.ensure_shape(h, [4, 3]))
        return loss, tf.ensure_shape(tf.gradients(loss, x)[0], [4, 3]), tf.gradients(loss, w)[0]

    return e.graph(old(build))


@case(SESSIONS)
def program_v1_map_in_cond(e):
    def build(given):
        x, flag = given("x", e.values(3, 2)), given("flag", np.bool_(True))
        mapped = lambda: v1.map_fn(lambda r: tf.reduce_sum(r) * r, x)
        y = tf.ensure_shape(v1.cond(flag, mapped, lambda: x * 2), [3, 2])
        loss = scalar(y * y)
        return loss, *tf.gradients(loss, [x])

    return e.graph(old(build))


def conditional_gradients(e, branch, flag=True):
    """The gradient of the square of what a conditional gives: what computes it depends on the result of the conditional."""

    def build(given):
        x, flag_ = given("x", e.values(3)), given("flag", np.bool_(flag))
        y = branch(x, flag_)
        loss = scalar(y * y)
        return loss, *tf.gradients(loss, [x])

    return e.graph(old(build))


@case(SESSIONS)
def program_v1_cond_squared(e):
    return conditional_gradients(e, lambda x, flag: v1.cond(flag, lambda: x * tf.sin(x), lambda: tf.exp(x)))


@case(SESSIONS)
def program_v1_cond_squared_other(e):
    return conditional_gradients(e, lambda x, flag: v1.cond(flag, lambda: x * tf.sin(x), lambda: tf.exp(x)), False)


@case(SESSIONS)
def program_v1_cond_nested_squared(e):
    inner = lambda x: v1.cond(tf.reduce_sum(x) > 0, lambda: x * tf.sin(x), lambda: tf.exp(x))
    return conditional_gradients(e, lambda x, flag: v1.cond(flag, lambda: tf.sin(inner(x)), lambda: tf.exp(x)))


@case(SESSIONS)
def program_v1_conds_in_sequence(e):
    def branch(x, flag):
        y = v1.cond(flag, lambda: x * tf.sin(x), lambda: tf.exp(x))
        z = v1.cond(flag, lambda: y * y, lambda: tf.sin(y))
        return z * v1.cond(tf.reduce_sum(z) > 1, lambda: z + x, lambda: tf.exp(z))

    return conditional_gradients(e, branch)


@case(SESSIONS)
def program_v1_gradient_as_weight(e):
    def build(given):
        x = given("x", e.values(3, low=0.2, high=1))
        _, y = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.sin(x) + y), [tf.constant(0), x])
        loss = scalar(y)
        g = tf.stop_gradient(tf.gradients(loss, x)[0])
        return scalar(g * x), g

    return e.graph(old(build))


@case(SESSIONS)
def program_v1_functional_case(e):
    """Loops and branches as functions in the graph of a session, with switches of a function that was called."""

    def build(given):
        x, n = given("x", e.values(3)), given("n", np.int32(1))

        @tf.function
        def inner(x):
            for i in tf.range(3):
                x = tf.cond(i > 0, lambda: tf.sin(x), lambda: x * 2)
            return x

        y = tf.switch_case(n, [lambda: inner(x), lambda: inner(x * x), lambda: x])
        return scalar(y), y

    return e.graph(build)


@case(SESSIONS)
def program_v1_layers_training(e):
    """A step of training by hand, with momentum, in one graph."""

    def build(given):
        x, y = given("x", e.values(4, 6)), given("y", np.array([0, 2, 1, 2], np.int32))
        w, v = given("w", e.values(6, 5)), given("v", e.values(5, 3))
        h = tf.nn.dropout(tf.nn.relu6(tf.matmul(x, w)), rate=0.0)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, tf.matmul(h, v))) + 1e-2 * tf.nn.l2_loss(w)
        dw, dv = tf.gradients(loss, [w, v])
        (dw, dv), norm = tf.clip_by_global_norm([dw, dv], 0.5)
        return loss, w - 0.1 * dw, v - 0.1 * dv, norm

    return e.graph(old(build))


# ----- data -----


@case(DATA)
def program_augmentation(e):
    def run(x):
        y = tf.image.adjust_brightness(tf.image.flip_up_down(x), 0.1)
        y = tf.image.pad_to_bounding_box(tf.image.crop_to_bounding_box(y, 1, 0, 3, 4), 0, 1, 5, 6)
        y = tf.image.resize_with_crop_or_pad(tf.image.adjust_gamma(tf.abs(y) + 0.1, 0.8), 4, 4)
        return scalar(tf.image.rgb_to_grayscale(y)) + scalar(tf.image.sobel_edges(y[None])[0]), tf.image.transpose(y)

    return e.frozen(run, x=e.values(4, 4, 3, low=0.1, high=0.9))


@case(DATA)
def program_batches_of_ragged(e):
    def run(x, w):
        r = tf.RaggedTensor.from_row_lengths(x, [2, 3, 1])
        padded, mask = r.to_tensor(0.0), tf.sequence_mask(r.row_lengths(), dtype=tf.float32)
        padded, mask = tf.ensure_shape(padded, [3, 3, 2]), tf.ensure_shape(mask, [3, 3])
        y = tf.einsum("btd,de->bte", padded, w) * mask[..., None]
        return scalar(tf.reduce_sum(y, 1) / tf.reduce_sum(mask, 1, keepdims=True)), tf.reduce_sum(r, 1)

    return e.frozen(run, x=e.values(6, 2), w=e.values(2, 3))


@case(DATA)
def program_windows_of_series(e):
    def run(x):
        frames = tf.signal.frame(x, 4, 2)
        mean, variance = tf.nn.moments(frames, [1], keepdims=True)
        z = (frames - mean) * tf.math.rsqrt(variance + 1e-3)
        change = tf.experimental.numpy.diff(x)
        return scalar(z) + scalar(tf.roll(change, 2, 0) * change), tf.argsort(x, direction="DESCENDING")

    return e.frozen(run, x=e.values(10))


@case(DATA)
def program_hashed_features(e):
    """Buckets, crosses and bags of constant features."""
    ids = tf.constant([[3, 1, 3], [2, 2, 0]])

    def run(table, x):
        unique, index = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.ensure_shape(tf.gather(tf.gather(table, unique), index), [6, 3])
        bags = tf.reduce_mean(tf.reshape(rows, [2, 3, 3]), 1)
        bins = tf.raw_ops.Bucketize(input=x, boundaries=[-0.3, 0.2, 0.6])
        cross = tf.gather_nd(table, tf.stack([bins, tf.minimum(bins, 2)], -1))
        return scalar(bags) + scalar(cross * x), tf.math.bincount(bins, minlength=4, maxlength=4)

    return e.frozen(run, table=e.values(5, 3), x=e.values(4))


# ----- Keras -----


@case(KERAS)
def program_keras_seq_mask_rnn(e):
    def build(k):
        x = tf.keras.Input([5, 3])
        y = k.Masking()(x)
        y = k.Bidirectional(k.GRU(3, return_sequences=True), merge_mode="mul")(y)
        y = k.RNN([k.LSTMCell(3), k.GRUCell(2)], return_sequences=True)(y)
        return tf.keras.Model(x, k.Dense(2)(k.concatenate([k.GlobalAveragePooling1D()(y), k.Flatten()(y)])))

    return keras(e, build, 2, 5, 3)


@case(KERAS)
def program_keras_inception(e):
    def build(k):
        x = tf.keras.Input([6, 6, 2])
        a = k.Conv2D(2, 1, activation="swish")(x)
        b = k.Conv2D(2, (1, 3), padding="same", activation="mish")(k.Conv2D(2, (3, 1), padding="same", dilation_rate=1)(x))
        c = k.Conv2D(2, 1)(k.AveragePooling2D(3, 1, padding="same")(x))
        y = k.concatenate([a, b, c, k.Conv2D(2, 3, dilation_rate=2, padding="same", groups=2)(x)])
        y = k.PReLU(shared_axes=[1, 2])(k.UnitNormalization()(y))
        return tf.keras.Model(x, k.GlobalMaxPooling2D()(k.SpatialDropout2D(0.1)(y)))

    return keras(e, build, 1, 6, 6, 2)


@case(KERAS)
def program_keras_mixer(e):
    def build(k):
        x = tf.keras.Input([4, 6])
        y = k.Permute([2, 1])(k.LayerNormalization(epsilon=1e-5)(x))
        y = k.Permute([2, 1])(k.Dense(4, activation="gelu")(y)) + x
        z = k.EinsumDense("btd,df->btf", output_shape=[4, 5], bias_axes="f", activation="hard_silu")(y)
        return tf.keras.Model(x, k.Dense(3, activation="log_softmax")(k.Flatten()(z)))

    return keras(e, build, 2, 4, 6)


@case(KERAS)
def program_keras_attention_pool(e):
    def build(k):
        x = tf.keras.Input([5, 4])
        score = k.Softmax(axis=1)(k.Dense(1, activation="tanh")(x))
        y = k.Dot(axes=1)([score, x])
        z = k.AdditiveAttention()([y, x])
        return tf.keras.Model(x, k.Dense(2, activation="hard_tanh")(k.Flatten()(k.add([y, z]))))

    return keras(e, build, 2, 5, 4)
