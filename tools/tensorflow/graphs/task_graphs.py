"""Models and loops of further kinds, written as users of TensorFlow write them."""

import numpy as np
import tensorflow as tf
from case import case, scalar, v1
from v1_graphs import old

MODELS, LOOPS = "models, more kinds", "loops, more kinds"
keras, layers = tf.keras, tf.keras.layers


def model(e, inputs, outputs, **feed):
    keras.utils.set_random_seed(11)
    made = keras.Model(inputs, outputs)
    return e.saved(made, lambda *x: scalar(made(list(x) if len(x) > 1 else x[0], training=False)), **feed)


@case(MODELS)
def task_unet(e):
    keras.utils.set_random_seed(1)
    x = keras.Input([8, 8, 2], batch_size=1)
    a = layers.Conv2D(4, 3, padding="same", activation="relu")(x)
    b = layers.Conv2D(6, 3, padding="same", activation="relu")(layers.MaxPooling2D()(a))
    c = layers.Conv2D(6, 3, padding="same", activation="elu")(layers.AveragePooling2D(2)(b))
    d = layers.Concatenate()([layers.Conv2DTranspose(6, 2, strides=2)(c), b])
    d = layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(d))
    out = layers.Conv2D(1, 1, activation="sigmoid")(layers.Concatenate()([layers.UpSampling2D(interpolation="bilinear")(d), a]))
    return model(e, x, out, x=e.values(1, 8, 8, 2))


@case(MODELS)
def task_mobile_block(e):
    keras.utils.set_random_seed(1)
    x = keras.Input([6, 6, 4], batch_size=2)
    h = layers.ReLU(6.0)(layers.BatchNormalization()(layers.Conv2D(12, 1, use_bias=False)(x)))
    h = layers.ZeroPadding2D(((0, 1), (0, 1)))(h)
    h = layers.Activation("relu6")(layers.DepthwiseConv2D(3, strides=1, padding="same")(h))
    s = layers.GlobalAveragePooling2D(keepdims=True)(h)
    s = layers.Conv2D(12, 1, activation="hard_sigmoid")(layers.Conv2D(3, 1, activation="swish")(s))
    h = layers.Multiply()([h, s])
    h = layers.Conv2D(4, 1)(layers.Cropping2D(((0, 1), (0, 1)))(h))
    out = layers.Dense(3, activation="softmax")(layers.Flatten()(layers.Add()([x, layers.LeakyReLU(negative_slope=0.1)(h)])))
    return model(e, x, out, x=e.values(2, 6, 6, 4))


@case(MODELS)
def task_vision_transformer(e):
    keras.utils.set_random_seed(1)
    x = keras.Input([8, 8, 3], batch_size=2)
    p = layers.Reshape([4, 8])(layers.Conv2D(8, 4, strides=4)(x))
    p = p + layers.Embedding(4, 8)(tf.constant([0, 1, 2, 3]))
    n = layers.LayerNormalization(epsilon=1e-6)(p)
    p = p + layers.MultiHeadAttention(2, 4)(n, n)
    p = p + layers.Dense(8)(layers.Dense(16, activation="gelu")(layers.LayerNormalization()(p)))
    return model(e, x, layers.Dense(3)(layers.GlobalAveragePooling1D()(p)), x=e.values(2, 8, 8, 3))


@case(MODELS)
def task_text_cnn(e):
    keras.utils.set_random_seed(1)
    x = keras.Input([10], batch_size=2, dtype="int32")
    h = layers.SpatialDropout1D(0.2)(layers.Embedding(20, 6)(x))
    many = [layers.GlobalMaxPooling1D()(layers.Conv1D(4, k, activation="tanh")(h)) for k in (2, 3, 4)]
    out = layers.Dense(1)(layers.Dropout(0.5)(layers.Concatenate()(many)))
    return model(e, x, out, x=np.arange(20, dtype=np.int32).reshape(2, 10))


@case(MODELS)
def task_wavenet(e):
    keras.utils.set_random_seed(1)
    x = keras.Input([12, 3], batch_size=2)
    h, skips = layers.Conv1D(4, 1)(x), []
    for rate in (1, 2, 4):
        gate = layers.Conv1D(4, 2, padding="causal", dilation_rate=rate, activation="sigmoid")(h)
        value = layers.Conv1D(4, 2, padding="causal", dilation_rate=rate, activation="tanh")(h)
        y = layers.Conv1D(4, 1)(gate * value)
        skips.append(y)
        h = h + y
    return model(e, x, layers.Conv1D(2, 1)(layers.Activation("relu")(layers.Add()(skips))), x=e.values(2, 12, 3))


@case(MODELS)
def task_two_towers(e):
    keras.utils.set_random_seed(1)
    x, y = keras.Input([5], batch_size=3), keras.Input([6], batch_size=3)
    a, b = layers.Dense(4, activation="relu")(x), layers.Dense(4, activation="softplus")(y)
    a, b = layers.UnitNormalization()(a), layers.UnitNormalization()(b)
    return model(e, [x, y], layers.Dot(1)([a, b]), x=e.values(3, 5), y=e.values(3, 6))


@case(MODELS)
def task_lstm_with_state(e):
    keras.utils.set_random_seed(1)
    x = keras.Input([5, 3], batch_size=2)
    seq, h, c = layers.LSTM(4, return_sequences=True, return_state=True, recurrent_activation="hard_sigmoid", unit_forget_bias=False)(x)
    out = layers.Attention(use_scale=True)([layers.RepeatVector(2)(h + c), seq])
    return model(e, x, layers.SimpleRNN(3, go_backwards=True)(out), x=e.values(2, 5, 3))


@case(MODELS)
def task_gru_masked_by_embedding(e):
    keras.utils.set_random_seed(1)
    x = keras.Input([6], batch_size=3, dtype="int32")
    h = layers.Embedding(9, 5, mask_zero=True)(x)
    h = layers.Bidirectional(layers.GRU(3, return_sequences=True, reset_after=False), merge_mode="sum")(h)
    return model(e, x, layers.Dense(1)(layers.LSTM(3)(h)), x=np.array([[1, 2, 3, 0, 0, 0], [4, 5, 6, 7, 8, 1], [1, 0, 0, 0, 0, 0]], np.int32))


@case(MODELS)
def task_custom_layers(e):
    class Gated(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=[shape[-1], 2 * shape[-1]], name="w")
            self.alpha = self.add_weight(shape=[shape[-1]], initializer="ones", name="alpha")

        def call(self, x):
            a, b = tf.split(tf.matmul(x, self.w), 2, -1)
            return a * tf.nn.sigmoid(b) + tf.nn.relu(x) * self.alpha

    keras.utils.set_random_seed(1)
    x = keras.Input([4], batch_size=3)
    h = layers.PReLU()(Gated()(Gated()(x)))
    h = layers.GaussianNoise(0.1)(layers.ActivityRegularization(0.1)(h))
    return model(e, x, layers.Lambda(lambda t: tf.cumsum(t, 1))(layers.Softmax()(h)), x=e.values(3, 4))


@case(MODELS)
def task_capsules(e):
    w = tf.Variable(e.values(1, 6, 3, 4, 2))

    def run(x):
        u = tf.squeeze(tf.matmul(w, tf.tile(x[:, :, None, :, None], [1, 1, 3, 1, 1]), transpose_a=True), -1)
        b = tf.zeros([2, 6, 3])
        for _ in tf.range(3):
            s = tf.reduce_sum(tf.nn.softmax(b, 2)[..., None] * u, 1)
            n = tf.reduce_sum(s * s, -1, keepdims=True)
            v = n / (1 + n) * s / tf.sqrt(n + 1e-7)
            b = b + tf.reduce_sum(u * v[:, None], -1)
        return scalar(v)

    return e.frozen(run, x=e.values(2, 6, 4))


@case(LOOPS)
def task_adaptive_ode(e):
    def run(y, k):
        t, h, n = tf.constant(0.0), tf.constant(0.2), tf.constant(0)
        while t < 1.0 and n < 30:
            k1 = tf.tanh(k * y)
            k2 = tf.tanh(k * (y + h * k1))
            error = tf.reduce_max(tf.abs(k1 - k2)) * h / 2
            if error < 0.02:
                y, t = y + h / 2 * (k1 + k2), t + h
                h = tf.minimum(h * 1.4, 1.0 - t + 1e-6)
            else:
                h = h * 0.5
            n += 1
        return scalar(y), n

    return e.frozen(run, y=e.values(3), k=e.values(3))


@case(LOOPS)
def task_kept_ode(e):
    def run(y, k):
        t, n = tf.constant(0.0), tf.constant(0)
        while t < 1.0:
            if tf.reduce_sum(y) > 0.5:
                y = y - 0.2 * k * y
                t += 0.2
            elif n > 1:
                y = tf.where(y > 0, y * 1.1, -y)
                t += 0.3
            else:
                y = y + k
                t += 0.1
            n += 1
        return scalar(y), n

    return e.kept(run, y=e.values(3), k=e.values(3))


@case(LOOPS)
def task_conjugate_gradients(e):
    def run(m, b):
        a = tf.matmul(m, m, transpose_b=True) + tf.eye(4)
        x, r = tf.zeros_like(b), b
        p, rs, n = b, tf.reduce_sum(b * b), 0
        while rs > 1e-9 and n < 8:
            ap = tf.linalg.matvec(a, p)
            alpha = rs / tf.tensordot(p, ap, 1)
            x, r = x + alpha * p, r - alpha * ap
            new = tf.reduce_sum(r * r)
            p, rs, n = r + new / rs * p, new, n + 1
        return scalar(x)

    return e.frozen(run, m=e.values(4, 4), b=e.values(4))


@case(LOOPS)
def task_greedy_decoder(e):
    emb, cell, out = tf.Variable(e.values(5, 4)), keras.layers.GRUCell(4), tf.Variable(e.values(4, 5))
    keras.utils.set_random_seed(1)
    cell.build([2, 4])

    def run(h):
        token, logits, t = tf.zeros([2], tf.int32), tf.TensorArray(tf.float32, 4, element_shape=[2, 5]), 0
        done = tf.zeros([2], tf.bool)
        while t < 4 and not tf.reduce_all(done):
            y, h = cell(tf.gather(emb, token), h)
            step = tf.matmul(y, out)
            token = tf.where(done, 0, tf.argmax(step, -1, output_type=tf.int32))
            done = done | (token == 9)
            logits = logits.write(t, tf.nn.log_softmax(step))
            t += 1
        return scalar(logits.stack())

    return e.frozen(run, h=e.values(2, 4))


@case(LOOPS)
def task_kv_cache(e):
    wq, wk, wv = (tf.Variable(e.values(4, 4)) for _ in range(3))

    def run(x):
        keys, values, h = tf.zeros([1, 4]), tf.zeros([1, 4]), x
        for _ in tf.range(3):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(keys, tf.TensorShape([None, 4])), (values, tf.TensorShape([None, 4]))])
            keys, values = tf.concat([keys, tf.matmul(h, wk)], 0), tf.concat([values, tf.matmul(h, wv)], 0)
            h = tf.matmul(tf.nn.softmax(tf.matmul(tf.matmul(h, wq), keys, transpose_b=True)), values) + x
        return scalar(h)

    return e.frozen(run, x=e.values(1, 4))


@case(LOOPS)
def task_two_dimensional_table(e):
    def run(x, y):
        d = tf.abs(x[:, None] - y[None])
        table = tf.concat([tf.zeros([1, 1]), tf.fill([1, 4], 1e3)], 1)
        rows = tf.TensorArray(tf.float32, 4, clear_after_read=False, element_shape=[5]).write(0, table[0])
        for i in tf.range(3):
            before, row = rows.read(i), tf.TensorArray(tf.float32, 5, clear_after_read=False, element_shape=[])
            row = row.write(0, 1e3)
            for j in tf.range(4):
                row = row.write(j + 1, d[i, j] - 0.5 * tf.reduce_logsumexp(-tf.stack([before[j], before[j + 1], row.read(j)]) / 0.5))
            rows = rows.write(i + 1, row.stack())
        return rows.read(3)[4]

    return e.frozen(run, x=e.values(3), y=e.values(4))


@case(LOOPS)
def task_map_scan_fold(e):
    def run(x):
        a = tf.map_fn(lambda r: tf.foldl(lambda s, v: s * 0.5 + tf.sin(v), r, initializer=tf.constant(0.1)), x)
        b = tf.scan(lambda s, r: (s[0] + r * s[1], s[1] * 0.9), x, initializer=(x[0], tf.constant(1.0)), reverse=True)[0]
        c = tf.map_fn(lambda p: (p[0] * p[1], tf.reduce_sum(p[0])), (x, x * 2), fn_output_signature=(tf.float32, tf.float32))
        return scalar(a) + scalar(b) + scalar(c[0]) + scalar(c[1])

    return e.frozen(run, x=e.values(3, 4))


@case(LOOPS)
def task_while_loop_api(e):
    def run(x):
        i, y, _ = tf.while_loop(lambda i, y, s: tf.logical_and(i < 9, tf.reduce_max(y) < 3.0), lambda i, y, s: (i + 1, y * 1.2 + s["b"], {"a": s["b"], "b": s["a"]}), (0, x, {"a": x * 0.3, "b": x * x}), parallel_iterations=1, maximum_iterations=6)
        return scalar(y), i

    return e.kept(run, x=e.values(3))


@case(LOOPS)
def task_line_search_in_descent(e):
    a = tf.constant(e.values(3, 3))

    def f(x):
        return tf.reduce_sum(tf.cos(tf.linalg.matvec(a, x))) + tf.reduce_sum(x * x)

    def run(x):
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            g, t = tape.gradient(y, x), 1.0
            while f(x - t * g) > y - 0.1 * t * tf.reduce_sum(g * g):
                t *= 0.5
            x = x - t * g
        return scalar(x)

    return e.frozen(run, x=e.values(3))


@case(LOOPS)
def task_autograph_everything(e):
    def run(x, n):
        total, k = tf.zeros([3]), 0
        for i in tf.range(n):
            if i == 1:
                continue
            for j in range(2):
                total += x[j] * tf.cast(i, tf.float32)
            if tf.reduce_sum(total) > 5.0:
                break
            k += 1
        y = total if k > 2 else -total
        z = tf.constant(0.5) if n > 3 and k < 9 or n < 0 else tf.reduce_sum(x)
        return scalar(y) * z, k

    return e.kept(run, x=e.values(2, 3), n=np.array(4, np.int32))


@case(LOOPS)
def task_iterate_rows(e):
    def run(x):
        s = tf.zeros([3])
        for row in x:
            s = tf.tanh(s + row) if tf.reduce_sum(row) > 0 else s * 0.5
        for i, v in enumerate(tf.unstack(s)):
            s += v * float(i)
        while tf.norm(s) < 4.0:
            s = s * 1.5 + 0.1
            if tf.reduce_any(tf.abs(s) > 3.0):
                break
        return scalar(s) * 2

    return e.kept(run, x=e.values(4, 3))


@case(LOOPS)
def task_rnn_cells(e):
    keras.utils.set_random_seed(1)
    cell = layers.StackedRNNCells([layers.LSTMCell(3), layers.GRUCell(2)])
    rnn = layers.RNN(cell, return_sequences=True)
    rnn(tf.zeros([2, 5, 3]))
    return e.frozen(lambda x: scalar(rnn(x)), x=e.values(2, 5, 3))


@case(LOOPS)
def task_random_walk(e):
    def run(x):
        seed, n = tf.constant([3, 5]), 0
        while n < 4:
            seed = tf.random.experimental.stateless_split(seed, 2)[0]
            step = tf.random.stateless_normal([3], seed)
            keep = tf.random.stateless_uniform([], seed) < 0.7
            x = tf.where(keep, x + 0.1 * step * x, x * 0.9)
            n += 1
        return scalar(x)

    return e.frozen(run, x=e.values(3))


@case(LOOPS)
def task_v1_rnn(e):
    @old
    def build(given):
        x, w = given("x", e.values(4, 2, 3)), given("w", e.values(6, 12))
        lengths = tf.constant([4, 2])

        def step(t, c, h, outs):
            i, j, f, o = tf.split(tf.matmul(tf.concat([x[t], h], 1), w), 4, 1)
            new = tf.sigmoid(f + 1) * c + tf.sigmoid(i) * tf.tanh(j)
            live = (t < lengths)[:, None]
            out = tf.sigmoid(o) * tf.tanh(new)
            return t + 1, tf.where(live, new, c), tf.where(live, out, h), outs.write(t, tf.where(live, out, tf.zeros_like(out)))

        start = (0, tf.zeros([2, 3]), tf.zeros([2, 3]), tf.TensorArray(tf.float32, 4))
        _, c, h, outs = tf.while_loop(lambda t, *_: t < 4, step, start)
        return scalar(outs.stack()) + scalar(c * h)

    return e.graph(build)


@case(LOOPS)
def task_v1_layers(e):
    def build(given):
        x = given("x", e.values(2, 6, 6, 2))
        k = given("k", e.values(3, 3, 2, 4))
        h = tf.nn.bias_add(tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME"), tf.constant(e.values(4)))
        h, _, _ = v1.nn.fused_batch_norm(h, tf.constant(e.values(4)), tf.constant(e.values(4)), is_training=True)
        h = v1.nn.max_pool(tf.nn.elu(h), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        h = v1.nn.depthwise_conv2d_native(h, tf.constant(e.values(2, 2, 4, 1)), [1, 1, 1, 1], "SAME")
        h = v1.nn.lrn(tf.reshape(h, [2, -1, 3, 4]), 2)
        return tf.reduce_mean(v1.nn.softmax_cross_entropy_with_logits_v2(labels=tf.constant([[1.0, 0, 0, 0], [0, 0, 1, 0]]), logits=tf.reduce_mean(h, [1, 2])))

    return e.graph(build)


@case(LOOPS)
def task_bidirectional_v1(e):
    @old
    def build(given):
        x, w = given("x", e.values(2, 4, 3)), given("w", e.values(5, 2))
        n = tf.constant([4, 2])

        def direction(x):
            def step(t, h, outs):
                live = (t < n)[:, None]
                new = tf.tanh(tf.matmul(tf.concat([x[:, t], h], 1), w))
                return t + 1, tf.where(live, new, h), outs.write(t, tf.where(live, new, tf.zeros_like(new)))

            return tf.transpose(tf.while_loop(lambda t, *_: t < 4, step, (0, tf.zeros([2, 2]), tf.TensorArray(tf.float32, 4)))[2].stack(), [1, 0, 2])

        back = tf.reverse_sequence(direction(tf.reverse_sequence(x, n, 1)), n, 1)
        return scalar(tf.concat([direction(x), back], -1))

    return e.graph(build)


@case(LOOPS)
def task_v1_mixed_control(e):
    @old
    def build(given):
        x, k = given("x", e.values(3)), given("k", np.array(2, np.int32))
        y = v1.case([(tf.less(k, 1), lambda: x * 2), (tf.less(k, 3), lambda: tf.while_loop(lambda y: tf.reduce_sum(y) < 4.0, lambda y: [y + 1.0], [x])[0])], default=lambda: -x)
        return scalar(y)

    return e.graph(build)
