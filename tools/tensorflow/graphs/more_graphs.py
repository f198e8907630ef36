"""More graphs of the same kinds: layers of Keras, control flow of both versions, predicates that are copies, gradients."""

import numpy as np
import tensorflow as tf

from case import case, scalar
from models import MODELS, MODULES, RECURRENT, Module, keras
from v1_graphs import old

v1 = tf.compat.v1
V1, ARRAYS, GRADIENTS, TRACED = "v1 control flow", "arrays", "with gradients", "tf.function as traced"


# ----- Keras -----


@case(RECURRENT)
def keras_lstm_sequences(e):
    return keras(e, lambda k: [k.LSTM(4, return_sequences=True, go_backwards=True), k.LayerNormalization()], 2, 5, 3)


@case(RECURRENT)
def keras_time_distributed(e):
    return keras(e, lambda k: [k.TimeDistributed(k.Dense(4, "relu")), k.GRU(3)], 2, 5, 3)


@case(RECURRENT)
def keras_conv_gru(e):
    return keras(e, lambda k: [k.Conv1D(4, 3, activation="relu"), k.Bidirectional(k.LSTM(3, return_sequences=True)), k.GlobalMaxPooling1D()], 2, 6, 3)


@case(MODELS)
def keras_activations(e):
    return keras(e, lambda k: [k.Dense(6, "selu"), k.Dense(6, "elu"), k.Dense(6, "softplus"), k.LeakyReLU(0.1), k.PReLU()], 3, 4)


@case(MODELS)
def keras_group_norm(e):
    return keras(e, lambda k: [k.Conv2D(4, 3), k.GroupNormalization(2), k.Activation("hard_sigmoid"), k.Flatten()], 2, 6, 6, 3)


@case(MODELS)
def keras_embedding(e):
    def build(k):
        x = tf.keras.Input((4,))
        y = k.Rescaling(3.0, 3.0)(x)
        y = k.Embedding(9, 3)(tf.keras.ops.cast(y, "int32"))
        return tf.keras.Model(x, k.Dense(2)(k.Flatten()(y)))

    return keras(e, build, 2, 4)


@case(MODELS)
def keras_conv3d(e):
    return keras(e, lambda k: [k.Conv3D(3, 2), k.MaxPooling3D(2), k.Flatten(), k.Dense(2)], 1, 5, 5, 5, 2)


@case(MODELS)
def keras_reshapes(e):
    def build(k):
        x = tf.keras.Input((4, 6))
        y = k.Reshape((2, 12))(k.Permute((2, 1))(x))
        z = k.RepeatVector(2)(k.Flatten()(x))
        y = k.Concatenate()([y, z])
        return tf.keras.Model(x, k.Dot(2)([y, y]))

    return keras(e, build, 2, 4, 6)


@case(MODELS)
def keras_attention(e):
    def build(k):
        x = tf.keras.Input((5, 4))
        y = k.AdditiveAttention()([x, x])
        y = k.Attention(use_scale=True)([y, x])
        return tf.keras.Model(x, k.UnitNormalization()(y))

    return keras(e, build, 2, 5, 4)


@case(MODELS)
def keras_crop(e):
    return keras(e, lambda k: [k.ZeroPadding2D(2), k.Cropping2D(1), k.AveragePooling2D(2, padding="same"), k.UpSampling2D(2), k.SeparableConv2D(3, 3, strides=2), k.Flatten()], 1, 6, 6, 2)


# ----- predicates that are equal up to copies; constants and conditionals in branches -----


@case(V1)
def cond_copied(e):
    """Two conditionals by copies of one predicate, the second one in a branch of a third."""

    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(True))
        a = v1.cond(c, lambda: x * 2.0, lambda: tf.sin(x))
        d = tf.identity(tf.identity(c))
        b = v1.cond(d, lambda: a + 1.0, lambda: tf.constant([1.0, 2.0, 3.0]))
        z = v1.cond(tf.logical_not(c), lambda: tf.exp(b), lambda: b * a)
        return scalar(z), z

    return e.graph(old(build))


@case(V1)
def cond_inside_same(e):
    """A conditional in a branch of another one by the same predicate."""

    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(False))
        inner = lambda: v1.cond(c, lambda: x + 5.0, lambda: tf.constant([3.0, 2.0, 1.0]))
        z = v1.cond(c, lambda: x * 2.0, lambda: inner() * tf.cos(x))
        return scalar(z), z

    return e.graph(old(build))


@case(V1)
def cond_deep(e):
    def build(given):
        x = given("x", e.values(3))
        s = tf.reduce_sum(x)

        def deep(level):
            if level == 3:
                return tf.constant([1.0, 2.0, 3.0]) + x
            return v1.cond(s > 0.3 * level - 0.4, lambda: deep(level + 1) * 1.5, lambda: tf.fill([3], 0.5) * tf.exp(x))

        z = deep(0)
        return scalar(z), z

    return e.graph(old(build))


@case(V1)
def cond_two_in_while(e):
    def build(given):
        x, limit = given("x", e.values(3)), given("limit", np.float32(0.2))

        def body(i, y):
            a = v1.cond(tf.reduce_sum(y) > limit, lambda: y * 0.5, lambda: y + x)
            b = v1.cond(tf.equal(i % 3, 1), lambda: tf.constant([0.1, 0.2, 0.3]) + a, lambda: tf.tanh(a))
            return i + 1, b

        _, y = v1.while_loop(lambda i, y: i < 6, body, [tf.constant(0), x])
        return scalar(y), y

    return e.graph(old(build))


@case(V1)
def while_in_cond_in_while(e):
    def build(given):
        x = given("x", e.values(3))

        def inner(y):
            return v1.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x + 0.1), [tf.constant(0), y])[1]

        def body(i, y):
            return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: inner(y), lambda: y - tf.sin(x))

        _, y = v1.while_loop(lambda i, y: i < 4, body, [tf.constant(0), x])
        return scalar(y), y

    return e.graph(old(build))


@case(V1)
def while_in_both(e):
    """A loop in each branch."""

    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(False))
        loop = lambda n, f: v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, f(y)), [tf.constant(0), x])[1]
        y = v1.cond(c, lambda: loop(3, lambda y: y * x), lambda: loop(2, lambda y: tf.tanh(y) + 1.0))
        return scalar(y), y

    return e.graph(old(build))


@case(V1)
def while_several(e):
    """Loops one after the other, with a condition that depends on a value, and an unused variable."""

    def build(given):
        x, w = given("x", e.values(2, 3)), given("w", e.values(3, 3))
        _, y, _ = v1.while_loop(lambda i, y, u: i < 3, lambda i, y, u: (i + 1, tf.matmul(y, w), u + 1.0), [tf.constant(0), x, tf.constant(0.0)])
        n, z = v1.while_loop(lambda n, z: tf.reduce_sum(z * z) > 0.05, lambda n, z: (n + 1, z * 0.5), [tf.constant(0), y])
        return scalar(z), y, n

    return e.graph(old(build))


@case(V1)
def while_shapes_grow(e):
    """A variable whose shape changes."""

    def build(given):
        x = given("x", e.values(2, 3))
        shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
        _, y = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, x], 0)), [tf.constant(0), x], shape_invariants=shapes)
        return tf.reduce_sum(tf.sin(y))

    return e.graph(old(build))


# ----- arrays -----


@case(ARRAYS)
def map_fn_two(e):
    def build(given):
        x, y = given("x", e.values(4, 3)), given("y", e.values(4, 3))
        z = v1.map_fn(lambda pair: tf.tanh(pair[0]) * tf.reduce_max(pair[1]), (x, y), dtype=tf.float32)
        return scalar(z), z

    return e.graph(old(build))


@case(ARRAYS)
def scan_pair(e):
    def build(given):
        x = given("x", e.values(5, 2))
        start = (tf.zeros([2]), tf.constant(1.0))
        a, b = v1.scan(lambda s, row: (tf.sin(s[0]) + row, s[1] * tf.reduce_sum(row)), x, initializer=start)
        return scalar(a) + scalar(b), a, b

    return e.graph(old(build))


@case(ARRAYS)
def foldr(e):
    def build(given):
        x = given("x", e.values(4, 3))
        y = v1.foldr(lambda a, row: tf.sigmoid(a) * row, x)
        return scalar(y), y

    return e.graph(old(build))


@case(ARRAYS)
def tensor_array_both(e):
    """Read and written in one loop, gathered in another order."""

    def build(given):
        x = given("x", e.values(4, 3))
        source = tf.TensorArray(tf.float32, size=4).unstack(x)
        target = tf.TensorArray(tf.float32, size=4)
        _, target = v1.while_loop(lambda i, *_: i < 4, lambda i, t: (i + 1, t.write(3 - i, tf.exp(source.read(i)))), [tf.constant(0), target])
        y = target.gather([2, 0, 1])
        y.set_shape([3, 3])
        return scalar(y), y

    return e.graph(old(build))


@case(ARRAYS)
def tensor_array_concat(e):
    def build(given):
        x = given("x", e.values(4, 2))
        array = tf.TensorArray(tf.float32, size=4, element_shape=[2])
        _, array = v1.while_loop(lambda i, *_: i < 4, lambda i, t: (i + 1, t.write(i, tf.gather(x, i) * 2.0)), [tf.constant(0), array])
        y = array.concat()
        y.set_shape([8])
        return scalar(y), y

    return e.graph(old(build))


# ----- gradients -----


@case(GRADIENTS)
def gradients_array(e):
    def build(given):
        x = given("x", e.values(4, 3))
        y = v1.map_fn(lambda row: tf.sin(row) * row, x)
        return scalar(y), tf.gradients(scalar(y), [x])[0]

    return e.graph(old(build))


@case(GRADIENTS)
def gradients_second(e):
    def build(given):
        x = given("x", e.values(3))
        y = tf.reduce_sum(tf.tanh(x) * x * x)
        g, = tf.gradients(y, [x])
        h, = tf.gradients(tf.reduce_sum(g * g), [x])
        return scalar(g), h

    return e.graph(old(build))


@case(GRADIENTS)
def gradients_rnn(e):
    def build(given):
        x, w = given("x", e.values(2, 3)), given("w", e.values(3, 3))
        _, h = v1.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [tf.constant(0), x])
        loss = scalar(h)
        a, b = tf.gradients(loss, [x, w])
        return loss, a, w - 0.1 * b

    return e.graph(old(build))


@case(GRADIENTS)
def gradients_cnn(e):
    def build(given):
        x, w = given("x", e.values(1, 6, 6, 2)), given("w", e.values(3, 3, 2, 3))
        y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), 2, 2, "VALID")
        g, = tf.gradients(scalar(y), [w])
        return scalar(y), w - 0.1 * g

    return e.graph(old(build))


# ----- functions -----


@case(TRACED)
def traced_break_nested(e):
    def run(x):
        total = tf.zeros([])
        for i in tf.range(4):
            for j in tf.range(4):
                if j > i:
                    break
                total += x[i] * x[j]
            if total > 3.0:
                break
        return total

    return e.kept(run, x=e.values(4, low=0.5, high=1.5))


@case(TRACED)
def traced_tuple_state(e):
    def run(x):
        a, b, n = x, tf.ones_like(x), tf.constant(0)
        while tf.logical_and(n < 6, tf.reduce_sum(a) < 10.0):
            a, b, n = a + b * x, tf.where(a > 0.0, b, -b), n + 1
        return scalar(a) + scalar(b), a

    return e.kept(run, x=e.values(3))


@case(TRACED)
def traced_array_append(e):
    def run(x):
        out = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3])
        for i in tf.range(4):
            out = out.write(i, x * tf.cast(i, tf.float32))
        y = tf.ensure_shape(out.stack(), [4, 3])
        return scalar(y), y

    return e.kept(run, x=e.values(3))


@case(TRACED)
def traced_gradient(e):
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(3):
                if tf.reduce_sum(y) > 0.0:
                    y = tf.sin(y) * x
                else:
                    y = y * y
            z = scalar(y)
        return z, tape.gradient(z, x)

    return e.kept(run, x=e.values(3))


@case(MODULES)
def saved_array(e):
    m = Module(w=e.values(3, 3))

    def run(x):
        states = tf.TensorArray(tf.float32, size=4, element_shape=[2, 3])
        h = x
        for t in tf.range(4):
            h = tf.tanh(tf.matmul(h, m.w))
            states = states.write(t, h)
        return scalar(tf.ensure_shape(states.stack(), [4, 2, 3])), h

    return e.saved(m, run, x=e.values(2, 3))
