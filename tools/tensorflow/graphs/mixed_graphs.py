"""Mixtures of what the other graphs have: layers of Keras, loops in loops, arrays, gradients of these."""

import numpy as np
import tensorflow as tf

from case import case, scalar
from models import Module, keras
from v1_graphs import old

v1 = tf.compat.v1
MIXED = "mixed"


@case(MIXED)
def mixed_keras_stack_mixed(e):
    return keras(e, lambda k: [k.Conv1D(4, 2, strides=2, activation="gelu"), k.Bidirectional(k.GRU(3, return_sequences=True), merge_mode="ave"), k.LSTM(4), k.Dense(3, "sigmoid")], 2, 8, 3)


@case(MIXED)
def mixed_keras_two_inputs_attention(e):
    def build(k):
        x = tf.keras.Input((6, 4))
        q, v = k.Dense(4)(x), k.Conv1D(4, 3, padding="same")(x)
        a, s = k.Attention()([q, v, x], return_attention_scores=True)
        return tf.keras.Model(x, k.Concatenate()([a, s]))

    return keras(e, build, 2, 6, 4)


@case(MIXED)
def mixed_keras_squeeze_excite(e):
    def build(k):
        x = tf.keras.Input((5, 5, 4))
        y = k.DepthwiseConv2D(3, padding="same", depth_multiplier=2)(x)
        s = k.Dense(8, "hard_swish")(k.GlobalAveragePooling2D()(y))
        s = k.Reshape((1, 1, 8))(k.Dense(8, "sigmoid")(s))
        return tf.keras.Model(x, k.Flatten()(k.Multiply()([y, s])))

    return keras(e, build, 1, 5, 5, 4)


@case(MIXED)
def mixed_keras_transformer_causal_mask(e):
    def build(k):
        x = tf.keras.Input((4, 6))
        p = k.Embedding(4, 6)(tf.constant([[0, 1, 2, 3]]))
        y = x + p
        y = k.LayerNormalization()(y + k.MultiHeadAttention(3, 2, dropout=0.1)(y, y, use_causal_mask=True))
        return tf.keras.Model(x, k.Dense(5, "softmax")(k.LayerNormalization()(y + k.Dense(6)(k.Dense(12, "silu")(y)))))

    return keras(e, build, 2, 4, 6)


@case(MIXED)
def mixed_keras_conv_transpose_stack(e):
    return keras(e, lambda k: [k.Dense(12), k.Reshape((2, 2, 3)), k.Conv2DTranspose(4, 3, strides=2, padding="same", activation="elu"), k.Conv2DTranspose(1, 4, strides=2, padding="valid")], 2, 5)


@case(MIXED)
def mixed_keras_upsample_bilinear(e):
    return keras(e, lambda k: [k.UpSampling2D(2, interpolation="bilinear"), k.Conv2D(2, 3)], 1, 3, 3, 2)


@case(MIXED)
def mixed_keras_pad_modes(e):
    return keras(e, lambda k: [k.ZeroPadding1D((1, 2)), k.Conv1D(3, 3, dilation_rate=2), k.Cropping1D(1), k.GlobalAveragePooling1D()], 2, 7, 2)


@case(MIXED)
def mixed_keras_adaptive(e):
    return keras(e, lambda k: [k.Conv2D(4, 3, padding="same"), k.ReLU(max_value=6, negative_slope=0.1), k.MaxPooling2D((2, 3), strides=(1, 2)), k.AveragePooling2D(3, strides=1, padding="same"), k.Flatten()], 2, 6, 7, 2)


@case(MIXED)
def mixed_keras_rnn_reverse_state(e):
    def build(k):
        x = tf.keras.Input((4, 3))
        y, h = k.GRU(3, return_sequences=True, return_state=True, go_backwards=True)(x)
        return tf.keras.Model(x, k.Dense(2)(k.Concatenate()([k.Flatten()(y), h])))

    return keras(e, build, 2, 4, 3)


@case(MIXED)
def mixed_keras_conv_lstm1d(e):
    return keras(e, lambda k: [k.ConvLSTM1D(2, 2, return_sequences=True), k.TimeDistributed(k.Flatten()), k.SimpleRNN(3)], 2, 3, 5, 2)


@case(MIXED)
def mixed_traced_while_else(e):
    def run(x, n):
        y, i = x, 0
        while i < n:
            i += 1
            if tf.reduce_mean(y) > 0.5:
                y = y - 0.3
                continue
            elif tf.reduce_mean(y) < -2.0:
                break
            for j in tf.range(2):
                if tf.equal(j, i % 2):
                    y = y * x + 0.1
        return scalar(y), y, i

    return e.kept(run, x=e.values(3), n=np.int32(5))


@case(MIXED)
def mixed_traced_map_nested(e):
    def run(x, y):
        z = tf.map_fn(lambda row: tf.map_fn(lambda v: v * tf.sin(v), row) + tf.reduce_sum(y), x)
        z = tf.ensure_shape(z, [3, 2])
        return scalar(z), z

    return e.kept(run, x=e.values(3, 2), y=e.values(2))


@case(MIXED)
def mixed_traced_scan_tuple(e):
    def run(x):
        a, b = tf.scan(lambda s, row: (s[0] * tf.cos(row), s[1] + tf.reduce_sum(row)), x, initializer=(tf.ones([2]), 0.0), reverse=True)
        a, b = tf.ensure_shape(a, [4, 2]), tf.ensure_shape(b, [4])
        return scalar(a) + scalar(b), a

    return e.kept(run, x=e.values(4, 2))


@case(MIXED)
def mixed_traced_gradient_nested_tape(e):
    def run(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.tanh(x) * x)
            g = inner.gradient(y, x)
            s = tf.reduce_sum(g * g)
        return s, outer.gradient(s, x)

    return e.kept(run, x=e.values(3))


@case(MIXED)
def mixed_traced_newton_gradient(e):
    def run(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            x = tf.ones_like(a)
            i = 0
            while tf.logical_and(i < 20, tf.reduce_max(tf.abs(x * x - a)) > 1e-4):
                x = 0.5 * (x + a / x)
                i += 1
            loss = tf.reduce_sum(x)
        return loss, tape.gradient(loss, a)

    return e.kept(run, a=e.values(3, low=1, high=3))


@case(MIXED)
def mixed_lowered_tensor_array_unstack(e):
    def run(x):
        rows = tf.TensorArray(tf.float32, size=4).unstack(x)
        out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        acc = tf.zeros([2])
        for i in tf.range(4):
            acc = acc * 0.5 + rows.read(3 - i)
            out = out.write(i, tf.exp(acc))
        y = tf.ensure_shape(out.stack(), [4, 2])
        return scalar(y), y

    return e.frozen(run, x=e.values(4, 2))


@case(MIXED)
def mixed_lowered_case(e):
    def run(x, k):
        y = tf.switch_case(k, {0: lambda: x * 2.0, 1: lambda: tf.cond(x[0] > 0, lambda: tf.exp(x), lambda: -x)}, default=lambda: tf.while_loop(lambda y: tf.reduce_sum(y) < 3.0, lambda y: (y + 1.0,), [x])[0])
        return scalar(y), y

    return e.frozen(run, x=e.values(3), k=np.int32(7))


@case(MIXED)
def mixed_lowered_beam(e):
    def run(x):
        scores, state = tf.zeros([2]), tf.constant([0, 1])
        for t in tf.range(3):
            all_scores = scores[:, None] + tf.nn.log_softmax(tf.gather(x, state))
            scores, flat = tf.math.top_k(tf.reshape(all_scores, [-1]), 2)
            state = flat % 4
        return scalar(scores), state

    return e.frozen(run, x=e.values(4, 4))


@case(MIXED)
def mixed_v1_while_two_arrays(e):
    def build(given):
        x, w = given("x", e.values(5, 2)), given("w", e.values(2, 2))
        src = tf.TensorArray(tf.float32, size=5, clear_after_read=False).unstack(x)
        a, b = tf.TensorArray(tf.float32, size=5), tf.TensorArray(tf.float32, size=5)
        def body(i, h, a, b):
            h = tf.sigmoid(tf.matmul(h[None], w)[0] + src.read(i) * src.read(4 - i))
            return i + 1, h, a.write(i, h), b.write(4 - i, tf.reduce_sum(h))
        _, h, a, b = v1.while_loop(lambda i, *_: i < 5, body, [tf.constant(0), tf.zeros([2]), a, b])
        y, z = tf.ensure_shape(a.stack(), [5, 2]), tf.ensure_shape(b.stack(), [5])
        return scalar(y) + scalar(z), y, z

    return e.graph(old(build))


@case(MIXED)
def mixed_v1_gradients_scan(e):
    def build(given):
        x, w = given("x", e.values(4, 3)), given("w", e.values(3))
        y = tf.ensure_shape(v1.scan(lambda a, row: tf.tanh(a * w) + row, x), [4, 3])
        a, b = tf.gradients(scalar(y), [x, w])
        return scalar(y), tf.ensure_shape(a, [4, 3]), b

    return e.graph(old(build))


@case(MIXED)
def mixed_v1_gradients_rnn_write(e):
    def build(given):
        x, w = given("x", e.values(2, 3)), given("w", e.values(3, 3))
        out = tf.TensorArray(tf.float32, size=3)
        _, h, out = v1.while_loop(lambda t, *_: t < 3, lambda t, h, o: (t + 1, tf.tanh(tf.matmul(h, w)), o.write(t, h)), [tf.constant(0), x, out])
        y = tf.ensure_shape(out.stack(), [3, 2, 3])
        loss = scalar(y) + scalar(h)
        a, b = tf.gradients(loss, [x, w])
        return loss, a, w - 0.1 * b

    return e.graph(old(build))


@case(MIXED)
def mixed_v1_gradients_cond_while_cond(e):
    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(True))
        body = lambda i, y: (i + 1, v1.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: tf.cos(y)))
        loop = lambda: v1.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x])[1]
        y = v1.cond(c, loop, lambda: tf.exp(x))
        return scalar(y), tf.gradients(scalar(y), [x])[0]

    return e.graph(old(build))


@case(MIXED)
def mixed_v1_cond_chain(e):
    def build(given):
        x, k = given("x", e.values(4)), given("k", np.int32(2))
        y = x
        for at in range(3):
            y = v1.cond(tf.equal(k, at), lambda y=y: v1.while_loop(lambda i, z: i < k, lambda i, z: (i + 1, z * 1.1 + x), [tf.constant(0), y])[1], lambda y=y: tf.sin(y) + 0.1)
        return scalar(y), y

    return e.graph(old(build))


@case(MIXED)
def mixed_v1_resize_and_stitch(e):
    def build(given):
        x = given("x", e.values(2, 3, 3, 1))
        y = v1.image.resize_nearest_neighbor(x, [6, 6])
        z = tf.reverse(tf.roll(tf.reshape(y, [2, 36]), 2, 1), [1])
        return scalar(z), z

    return e.graph(old(build))


@case(MIXED)
def mixed_saved_train_like(e):
    m = Module(w=e.values(4, 5), b=e.values(5), t=e.values(5))
    def run(x):
        logits = tf.nn.bias_add(tf.matmul(x, m.w), m.b)
        p = tf.nn.softmax(logits / (1.0 + tf.nn.softplus(m.t)))
        return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(tf.argmax(x, 1), 5) * tf.math.log(p + 1e-6), 1)), tf.math.reduce_std(p, 0)

    return e.saved(m, run, x=e.values(3, 4))
