"""Programs as users write them: training steps, decoders, solvers and models, in each form that TensorFlow has for loops and branches."""

import numpy as np
import tensorflow as tf

from case import case, scalar
from functions import LOWERED
from models import MODELS, MODULES, RECURRENT, Module, keras
from v1_graphs import old

v1 = tf.compat.v1
NESTED, USERS = "v1 nested", "users' functions"


# ----- graphs of TensorFlow 1 -----


@case(NESTED)
def user_v1_while_in_cond_in_while(e):
    @old
    def build(given):
        x, n = given("x", e.values(3)), given("n", np.int32(3))

        def body(i, y):
            inner = lambda: v1.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, tf.sin(z) + x), [tf.constant(0), y])[1]
            return i + 1, v1.cond(tf.equal(i % 2, 0), inner, lambda: y * 0.5)

        _, y = v1.while_loop(lambda i, y: i < n + 2, body, [tf.constant(0), x])
        return scalar(y), y

    return e.graph(build)


@case(NESTED)
def user_v1_cond_of_conds(e):
    @old
    def build(given):
        x, y = given("x", e.values(4)), given("y", e.values(4))
        s, t = tf.reduce_sum(x), tf.reduce_sum(y)

        def left():
            return v1.cond(t > 0, lambda: (tf.exp(x), y), lambda: (x * y, tf.exp(y)))

        def right():
            a, b = v1.cond(t > 0, lambda: (x + y, y * 2), lambda: (x - y, y))
            return v1.cond(tf.reduce_max(a) > 0.5, lambda: a * 2, lambda: a), b

        a, b = v1.cond(s > 0, left, right)
        return scalar(a * b), a

    return e.graph(build)


@case(NESTED)
def user_v1_case(e):
    @old
    def build(given):
        x, n = given("x", e.values(3)), given("n", np.int32(2))
        branches = [(tf.equal(n, 0), lambda: x * 2), (tf.equal(n, 2), lambda: tf.sin(x) * x)]
        y = v1.case(branches, default=lambda: x)
        return scalar(y), y

    return e.graph(build)


@case(NESTED)
def user_v1_bisection(e):
    @old
    def build(given):
        a = given("a", e.values(5, low=1, high=4))

        def body(i, low, high):
            middle = (low + high) / 2
            above = middle * middle > a
            return i + 1, tf.where(above, low, middle), tf.where(above, middle, high)

        _, low, high = v1.while_loop(lambda i, l, h: i < 12, body, [tf.constant(0), tf.zeros_like(a), a])
        return scalar((low + high) * a), low

    return e.graph(build)


@case(NESTED)
def user_v1_dynamic_rnn(e):
    @old
    def build(given):
        x, w = given("x", e.values(2, 4, 3)), given("w", e.values(5, 2))
        sequence = tf.constant([4, 2])
        arrays = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(x, [1, 0, 2]))
        out = tf.TensorArray(tf.float32, 4)

        def body(t, h, out):
            new = tf.tanh(tf.concat([arrays.read(t), h], 1) @ w)
            keep = (t < sequence)[:, None]
            return t + 1, tf.where(tf.broadcast_to(keep, [2, 2]), new, h), out.write(t, new * tf.cast(keep, tf.float32))

        _, h, out = v1.while_loop(lambda t, h, o: t < 4, body, [tf.constant(0), tf.zeros([2, 2]), out])
        return scalar(h) + scalar(out.stack()), h

    return e.graph(build)


@case(NESTED)
def user_v1_gradient_in_loop(e):
    @old
    def build(given):
        x = given("x", e.values(4))

        def body(i, y):
            loss = tf.reduce_sum(tf.cos(y) * tf.stop_gradient(x) + y**4 / 4)
            return i + 1, y - 0.1 * tf.gradients(loss, y)[0]

        _, y = v1.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x * 1.0])
        return scalar(y), y

    return e.graph(build)


@case(NESTED)
def user_v1_loop_gradients(e):
    @old
    def build(given):
        x, w = given("x", e.values(3)), given("w", e.values(3, 3))
        _, y = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.linalg.matvec(w, y) + x)), [tf.constant(0), x])
        loss = scalar(y)
        return loss, *tf.gradients(loss, [x, w])

    return e.graph(build)


@case(NESTED)
def user_v1_sgd_in_loop(e):
    @old
    def build(given):
        x, y = given("x", e.values(6, 3)), given("y", e.values(6))

        def step(i, w, v):
            g = tf.linalg.matvec(x, tf.linalg.matvec(x, w) - y, transpose_a=True) / 6
            v = 0.9 * v - 0.2 * g
            return i + 1, w + v, v

        _, w, _ = v1.while_loop(lambda i, w, v: i < 8, step, [tf.constant(0), tf.zeros([3]), tf.zeros([3])])
        return tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2), w

    return e.graph(build)


@case(NESTED)
def user_v1_text(e):
    @old
    def build(given):
        x = given("x", e.values(2, 3))
        y = v1.cond(tf.reduce_all(x < 5), lambda: tf.nn.softmax(x), lambda: x)
        return scalar(y), y

    return e.graph(build, text=True)


@case(NESTED)
def user_v1_switch_over_loop_result(e):
    @old
    def build(given):
        x = given("x", e.values(3))
        n, y = v1.while_loop(lambda i, y: tf.reduce_sum(tf.abs(y)) < 20.0, lambda i, y: (i + 1, y * 2 + 0.1), [tf.constant(0), x])
        z = v1.cond(tf.equal(n % 2, 1), lambda: tf.math.log1p(tf.abs(y)), lambda: tf.sqrt(tf.abs(y)))
        return scalar(z), z, n

    return e.graph(build)


# ----- functions -----


@case(USERS)
def user_conjugate_gradients(e):
    def run(a, b):
        m = tf.matmul(a, a, transpose_a=True) + 2 * tf.eye(4)
        x, r = tf.zeros([4]), b
        p = r
        for _ in tf.range(4):
            mp = tf.linalg.matvec(m, p)
            alpha = tf.tensordot(r, r, 1) / tf.tensordot(p, mp, 1)
            new = r - alpha * mp
            x, p, r = x + alpha * p, new + tf.tensordot(new, new, 1) / tf.tensordot(r, r, 1) * p, new
        return scalar(x), x

    return e.kept(run, a=e.values(4, 4), b=e.values(4))


@case(USERS)
def user_greedy_decoder(e):
    embed, out = tf.constant(e.values(6, 4)), tf.constant(e.values(4, 6))

    def run(h):
        tokens, logits = tf.TensorArray(tf.int32, 5), tf.TensorArray(tf.float32, 5)
        token = tf.constant(1)
        for t in tf.range(5):
            if token == 0:
                h = h * 0.5
            else:
                h = tf.tanh(h + tf.gather(embed, token))
            score = tf.nn.log_softmax(tf.linalg.matvec(out, h, transpose_a=True))
            token = tf.argmax(score, output_type=tf.int32)
            tokens, logits = tokens.write(t, token), logits.write(t, tf.reduce_max(score))
        return scalar(logits.stack()), tokens.stack()

    return e.frozen(run, h=e.values(4))


@case(USERS)
def user_runge_kutta(e):
    def run(y, k):
        def slope(y):
            return tf.stack([y[1], -k[0] * tf.sin(y[0]) - k[1] * y[1]])

        h = 0.1
        for _ in tf.range(6):
            a = slope(y)
            b = slope(y + h / 2 * a)
            c = slope(y + h / 2 * b)
            d = slope(y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return scalar(y), y

    return e.frozen(run, lowered=False, y=e.values(2), k=e.values(2, low=0.2, high=1))


@case(USERS)
def user_adaptive_steps(e):
    def run(x):
        t, h, steps = tf.constant(0.0), tf.constant(0.4), tf.constant(0)
        while t < 1.0 and steps < 20:
            full, half = x + h * tf.sin(x), x + h / 2 * tf.sin(x)
            half = half + h / 2 * tf.sin(half)
            error = tf.reduce_max(tf.abs(full - half))
            if error > 0.02:
                h = h / 2
            else:
                x, t = half, t + h
                if error < 0.005:
                    h = h * 1.5
            steps += 1
        return scalar(x), steps

    return e.kept(run, x=e.values(3, low=0.3, high=1))


@case(USERS)
def user_attention_with_cache(e):
    w = [tf.constant(e.values(4, 4)) for _ in range(3)]

    def run(x):
        keys, values = tf.zeros([0, 4]), tf.zeros([0, 4])
        out = tf.TensorArray(tf.float32, 4)
        for t in tf.range(4):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(keys, tf.TensorShape([None, 4])), (values, tf.TensorShape([None, 4]))])
            q, k, v = (tf.linalg.matvec(m, x[t]) for m in w)
            keys, values = tf.concat([keys, k[None]], 0), tf.concat([values, v[None]], 0)
            weights = tf.nn.softmax(tf.linalg.matvec(keys, q))
            out = out.write(t, tf.linalg.matvec(values, weights, transpose_a=True))
        return scalar(out.stack()), out.stack()

    return e.frozen(run, x=e.values(4, 4))


@case(USERS)
def user_switch_case(e):
    def run(x, n):
        y = tf.switch_case(n % 3, [lambda: x * 2, lambda: tf.sin(x), lambda: tf.cumsum(x)])
        for i in tf.range(3):
            y = tf.switch_case((n + i) % 2, [lambda: y + x, lambda: y * x])
        return scalar(y), y

    return e.kept(run, x=e.values(4), n=np.int32(4))


@case(USERS)
def user_map_over_pairs(e):
    def run(x, y):
        made = tf.map_fn(lambda p: tf.linalg.matvec(p[0], p[1]) * tf.reduce_sum(p[1]), (x, y), fn_output_signature=tf.float32)
        return scalar(made), made

    return e.frozen(run, x=e.values(3, 2, 2), y=e.values(3, 2))


@case(USERS)
def user_scan_with_state(e):
    def run(x, w):
        step = lambda s, v: (tf.tanh(tf.linalg.matvec(w, s[0]) + v), s[1] + tf.reduce_sum(v))
        h, total = tf.scan(step, x, (tf.zeros([3]), 0.0))
        return scalar(h) + scalar(total), total

    return e.frozen(run, x=e.values(4, 3), w=e.values(3, 3))


@case(USERS)
def user_vectorized_map(e):
    def run(x, y):
        made = tf.vectorized_map(lambda p: tf.reduce_sum(tf.sin(p[0]) * p[1]), (x, y))
        return scalar(made), made

    return e.frozen(run, x=e.values(3, 4), y=e.values(3, 4))


@case(USERS)
def user_hessian(e):
    def run(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(x) * tf.reduce_prod(x))
            g = inner.gradient(y, x)
        h = outer.jacobian(g, x, experimental_use_pfor=True)
        return scalar(h), h

    return e.frozen(run, x=e.values(3))


@case(USERS)
def user_clipped_step(e):
    def run(w, x, y):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, tf.matmul(x, w)))
        g, norm = tf.clip_by_global_norm([tape.gradient(loss, w)], 0.1)
        return scalar(w - 0.5 * g[0]), norm

    return e.frozen(run, w=e.values(3, 4), x=e.values(5, 3), y=np.array([0, 1, 3, 2, 1], np.int32))


@case(USERS)
def user_image_pipeline(e):
    def run(x):
        y = tf.image.per_image_standardization(tf.image.resize(tf.image.flip_left_right(x), [6, 6]))
        y = tf.image.central_crop(tf.image.adjust_brightness(y, 0.1), 0.67)
        return scalar(tf.image.rot90(y)), tf.image.total_variation(x)

    return e.frozen(run, x=e.values(4, 4, 3, low=0.1, high=0.9))


@case(USERS)
def user_ragged_lookup(e):
    def run(x):
        ragged = tf.RaggedTensor.from_row_lengths(x, [2, 0, 3])
        return tf.reduce_sum(tf.reduce_mean(ragged[0:1], 1)) + tf.reduce_sum(tf.reduce_max(ragged[2:], 1))

    return e.frozen(run, x=e.values(5))


# ----- models -----


@case(RECURRENT)
def user_keras_sequence_to_sequence(e):
    def build(k):
        return [k.LSTM(4), k.RepeatVector(3), k.GRU(4, return_sequences=True), k.TimeDistributed(k.Dense(2))]

    return keras(e, build, 2, 5, 3)


@case(MODELS)
def user_keras_residual(e):
    def build(k):
        x = tf.keras.Input([6, 6, 3])
        y = k.Conv2D(4, 3, padding="same", use_bias=False)(x)
        y = k.ReLU()(k.BatchNormalization()(y))
        z = k.add([k.Conv2D(4, 1)(x), k.SeparableConv2D(4, 3, padding="same")(y)])
        z = k.concatenate([k.MaxPooling2D()(z), k.AveragePooling2D(2)(z)])
        return tf.keras.Model(x, k.Dense(2, activation="softmax")(k.GlobalAveragePooling2D()(z)))

    return keras(e, build, 2, 6, 6, 3)


@case(MODELS)
def user_keras_volumes(e):
    return keras(e, lambda k: [k.Conv3D(3, 2, padding="same", activation="relu"), k.MaxPooling3D(2), k.AveragePooling3D(2, 1), k.Flatten(), k.Dense(2)], 1, 6, 6, 6, 2)


@case(MODELS)
def user_keras_attention(e):
    def build(k):
        x = tf.keras.Input([4, 6])
        y = k.LayerNormalization()(x + k.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True))
        y = y + k.Dense(6)(k.Dense(12, activation="gelu")(y))
        return tf.keras.Model(x, k.GlobalMaxPooling1D()(y))

    return keras(e, build, 2, 4, 6)


@case(MODULES)
def user_module_with_state(e):
    module = Module()
    module.w, module.b = tf.Variable(e.values(3, 2), name="w"), tf.Variable(e.values(2), name="b")
    return e.saved(module, lambda x: scalar(tf.nn.softplus(x @ module.w + module.b)), x=e.values(4, 3))


@case(MODULES)
def user_module_loop(e):
    module = Module()
    module.w = tf.Variable(e.values(3, 3), name="w")

    def run(x):
        for i in tf.range(4):
            if i % 2 == 0:
                x = tf.tanh(x @ module.w)
            else:
                x = x + tf.matmul(x, module.w, transpose_b=True) * 0.1
        return scalar(x), x

    return e.saved(module, run, x=e.values(2, 3))


@case(LOWERED)
def user_while_with_break(e):
    def run(x):
        best = x
        for i in tf.range(10):
            best = best * 0.7 + tf.cos(best) * 0.3
            if tf.reduce_max(best) > 0.75:
                break
            if tf.reduce_min(best) < -5.0:
                continue
            best = best + 0.01
        return scalar(best), best

    return e.frozen(run, x=e.values(3, low=-1, high=0))


@case(NESTED)
def user_v1_volume_gradients(e):
    """TensorFlow's gradients of pools of volumes, in either padding."""

    @old
    def build(given):
        x = given("x", e.values(1, 4, 4, 5, 2))
        y = tf.nn.max_pool3d(x, 2, 2, "VALID"), tf.nn.max_pool3d(x, 3, 2, "SAME"), tf.nn.avg_pool3d(x, 2, 1, "VALID"), tf.nn.avg_pool3d(x, 3, 2, "SAME")
        loss = tf.add_n([scalar(each * each) for each in y])
        return loss, *tf.gradients(loss, [x])

    return e.graph(build)
