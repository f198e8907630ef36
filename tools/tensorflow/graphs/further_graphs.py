"""More layers of Keras and more control flow: masks, states, cells, transposed convolutions, loops in loops with arrays."""

import numpy as np
import tensorflow as tf

from case import case, scalar
from functions import LOWERED, TRACED
from models import MODELS, MODULES, RECURRENT, Module, keras
from more_graphs import ARRAYS, GRADIENTS, V1
from v1_graphs import old

v1 = tf.compat.v1


# ----- Keras -----


@case(RECURRENT)
def keras_bidirectional_stack(e):
    layers = lambda k: [k.Bidirectional(k.LSTM(3, return_sequences=True)), k.Bidirectional(k.LSTM(2), merge_mode="sum")]
    return keras(e, layers, 2, 4, 3)


@case(RECURRENT)
def keras_gru_stack(e):
    """Both forms of a GRU."""
    layers = lambda k: [k.GRU(4, return_sequences=True, reset_after=False), k.Dropout(0.2), k.GRU(3, recurrent_activation="hard_sigmoid")]
    return keras(e, layers, 2, 5, 3)


@case(RECURRENT)
def keras_masked(e):
    """Steps that a mask leaves out."""

    def build(k):
        x = tf.keras.Input((5, 3))
        y = k.Masking(0.0)(tf.keras.ops.relu(x - 0.5) * tf.constant([[[1.0], [1.0], [0.0], [1.0], [0.0]]]))
        return tf.keras.Model(x, k.LSTM(4)(y))

    return keras(e, build, 2, 5, 3)


@case(RECURRENT)
def keras_embedding_masked(e):
    def build(k):
        x = tf.keras.Input((6,))
        y = tf.keras.ops.cast(k.Rescaling(2.0, 2.0)(x), "int32")
        return tf.keras.Model(x, k.Dense(2)(k.GRU(3)(k.Embedding(9, 3, mask_zero=True)(y))))

    return keras(e, build, 2, 6)


@case(RECURRENT)
def keras_encoder_decoder(e):
    """The states of one recurrence begin another."""

    def build(k):
        x = tf.keras.Input((4, 3))
        y, h, c = k.LSTM(3, return_state=True)(x)
        z = k.LSTM(3, return_sequences=True)(k.RepeatVector(3)(y), initial_state=[h, c])
        return tf.keras.Model(x, k.TimeDistributed(k.Dense(2))(z))

    return keras(e, build, 2, 4, 3)


@case(RECURRENT)
def keras_cells(e):
    layers = lambda k: [k.RNN([k.LSTMCell(3), k.GRUCell(4), k.SimpleRNNCell(2)], return_sequences=True), k.GlobalAveragePooling1D()]
    return keras(e, layers, 2, 4, 3)


@case(RECURRENT)
def keras_conv_lstm(e):
    return keras(e, lambda k: [k.ConvLSTM2D(2, 3, padding="same"), k.Flatten()], 1, 3, 4, 4, 2)


@case(RECURRENT)
def keras_attended(e):
    """Attention over the states of a recurrence in two directions."""

    def build(k):
        x = tf.keras.Input((5, 3))
        y = k.Bidirectional(k.GRU(2, return_sequences=True))(x)
        z = k.MultiHeadAttention(2, 3)(y, x)
        return tf.keras.Model(x, k.LayerNormalization()(k.Add()([y, k.Dense(4)(z)])))

    return keras(e, build, 2, 5, 3)


@case(MODELS)
def keras_grouped_attention(e):
    def build(k):
        x = tf.keras.Input((4, 6))
        return tf.keras.Model(x, k.GroupQueryAttention(3, 4, 2)(x, x))

    return keras(e, build, 2, 4, 6)


@case(MODELS)
def keras_transpose1d(e):
    return keras(e, lambda k: [k.Conv1DTranspose(3, 3, strides=2), k.AveragePooling1D(2), k.UpSampling1D(2)], 1, 4, 3)


@case(MODELS)
def keras_transpose3d(e):
    return keras(e, lambda k: [k.Conv3DTranspose(2, 2, strides=2), k.AveragePooling3D(2), k.Flatten()], 1, 2, 3, 2, 2)


@case(MODELS)
def keras_depthwise1d(e):
    layers = lambda k: [k.DepthwiseConv1D(3, padding="same"), k.SeparableConv1D(4, 3, dilation_rate=2), k.GlobalMaxPooling1D()]
    return keras(e, layers, 2, 8, 3)


@case(MODELS)
def keras_pools(e):
    def build(k):
        x = tf.keras.Input((6, 6, 4))
        sides = [k.MaxPooling2D(3, strides=2, padding="same")(x), k.AveragePooling2D(2)(x), k.Conv2D(4, 2, strides=2, groups=2)(x)]
        return tf.keras.Model(x, k.GlobalAveragePooling2D(keepdims=True)(k.Concatenate()(sides)))

    return keras(e, build, 2, 6, 6, 4)


@case(MODELS)
def keras_merges(e):
    def build(k):
        x = tf.keras.Input((6,))
        a, b = k.Dense(4, "tanh")(x), k.Dense(4, "softsign")(x)
        merged = [m()([a, b]) for m in (k.Add, k.Subtract, k.Multiply, k.Average, k.Maximum, k.Minimum)]
        return tf.keras.Model(x, k.Concatenate()(merged))

    return keras(e, build, 3, 6)


@case(MODELS)
def keras_norms(e):
    layers = lambda k: [k.LayerNormalization(axis=[1, 2]), k.BatchNormalization(axis=1), k.RMSNormalization(), k.Conv2D(3, 2, dilation_rate=2, activation="mish")]
    return keras(e, layers, 2, 4, 4, 3)


@case(MODELS)
def keras_spectral(e):
    layers = lambda k: [k.SpectralNormalization(k.Dense(5)), k.Dense(4, "log_softmax"), k.EinsumDense("ab,bc->ac", output_shape=3)]
    return keras(e, layers, 3, 4)


# ----- functions -----


@case(TRACED)
def traced_continue(e):
    """`continue` and `break` in a `while`, with what they skip."""

    def run(x):
        y, i = tf.zeros([3]), tf.constant(0)
        while i < 8:
            i += 1
            if i % 3 == 0:
                continue
            y = y + tf.sin(x) * tf.cast(i, tf.float32)
            if tf.reduce_sum(y) > 4.0:
                y = y * 0.5
                break
        return scalar(y), y, i

    return e.kept(run, x=e.values(3, low=0.2, high=1.0))


@case(TRACED)
def traced_array_break(e):
    """An array that is filled in part."""

    def run(x):
        array, total = tf.TensorArray(tf.float32, size=5, element_shape=[2]), tf.constant(0.0)
        for i in tf.range(5):
            row = tf.gather(x, i)
            if tf.reduce_sum(row) > 1.2:
                break
            array = array.write(i, tf.exp(row))
            total += tf.reduce_sum(row)
        y = array.stack()
        return scalar(y) + total, y

    return e.kept(run, x=e.values(5, 2))


@case(TRACED)
def traced_nested_deep(e):
    """Loops in branches in loops in branches."""

    def run(x):
        y = x
        if tf.reduce_sum(x) > -10.0:
            for i in tf.range(3):
                if i % 2 == 0:
                    j = 0
                    while j < i + 1:
                        if y[0] > 0.5:
                            y = y * 0.7
                        else:
                            y = tf.tanh(y + x) + 0.1
                        j += 1
                else:
                    y = tf.exp(-y) * x
        return scalar(y), y

    return e.kept(run, x=e.values(3))


@case(TRACED)
def traced_return_after_loop(e):
    """A function with several ends, behind a loop that ends early."""

    def run(x):
        y, found = tf.constant(1.0), tf.constant(False)
        for i in tf.range(5):
            y = y + tf.gather(x, i) * y
            if y > 1.6:
                found = tf.constant(True)
                break
        if found:
            return y * y
        return tf.sin(y)

    return e.kept(run, x=e.values(5, low=0.1, high=0.6))


@case(TRACED)
def traced_arrays_two(e):
    """Two arrays, one read and one written, the elements without a declared shape."""

    def run(x, w):
        source = tf.TensorArray(tf.float32, size=4).unstack(x)
        target, h = tf.TensorArray(tf.float32, size=4), tf.zeros([2, 3])
        for t in tf.range(4):
            h = tf.tanh(tf.matmul(h, w) + source.read(t))
            target = target.write(3 - t, h[:, :2])
        y = tf.ensure_shape(target.stack(), [4, 2, 2])
        return scalar(y) + scalar(h), y

    return e.kept(run, x=e.values(4, 2, 3), w=e.values(3, 3))


@case(TRACED)
def traced_array_concat(e):
    """Elements of several lengths, split and joined."""

    def run(x):
        array = tf.TensorArray(tf.float32, size=3, infer_shape=False).split(x, [1, 3, 2])
        y = tf.zeros([2])
        for i in tf.range(3):
            y = y + tf.ensure_shape(tf.reduce_sum(tf.sin(tf.ensure_shape(array.read(i), [None, 2])), 0), [2])
        return scalar(y), y

    return e.kept(run, x=e.values(6, 2))


@case(TRACED)
def traced_maximum_iterations(e):
    def run(x):
        go = lambda i, y: tf.reduce_max(tf.abs(y)) < 5.0
        _, y = tf.while_loop(go, lambda i, y: (i + 1, y * 1.5 + x), [tf.constant(0), x], maximum_iterations=4)
        return scalar(y), y

    return e.kept(run, x=e.values(3))


@case(TRACED)
def traced_gradient_array(e):
    """The gradient of a recurrence that keeps its states, inside."""

    def run(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            states = tf.TensorArray(tf.float32, size=3, element_shape=[2, 3])
            h = x
            for t in tf.range(3):
                h = tf.tanh(tf.matmul(h, w))
                states = states.write(t, h)
            loss = scalar(tf.reduce_sum(states.stack(), 0))
        return loss, tape.gradient(loss, w)

    return e.kept(run, x=e.values(2, 3), w=e.values(3, 3))


@case(LOWERED)
def lowered_search(e):
    """Bisection: branches in a loop, and the best of what was seen."""

    def run(x):
        low, high, best = tf.constant(0.0), tf.constant(4.0), tf.zeros([3])
        while high - low > 0.5:
            middle = 0.5 * (low + high)
            value = tf.tanh(x) * middle
            if tf.reduce_sum(value) < 1.0:
                low = middle
                best = value
            else:
                high = middle
        return scalar(best) + low, best

    return e.frozen(run, x=e.values(3, low=0.2, high=1.0))


@case(LOWERED)
def lowered_select(e):
    """Sorting, the largest, sums up to each place."""

    def run(x):
        values, places = tf.math.top_k(x, 3)
        y = tf.cumsum(tf.sort(x, axis=-1), axis=-1, exclusive=True, reverse=True)
        z = tf.gather(x, places, batch_dims=1) * values
        return scalar(y) + scalar(z), tf.argsort(x)

    return e.frozen(run, x=e.values(3, 5))


# ----- sessions -----


@case(V1)
def while_map_in_while(e):
    """`map_fn` in each iteration of a loop."""

    def build(given):
        x = given("x", e.values(3, 2))
        step = lambda y: v1.map_fn(lambda row: tf.sin(row) + row * row, y)
        _, y = v1.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, step(y)), [tf.constant(0), x])
        y = tf.ensure_shape(y, [3, 2])
        return scalar(y), y

    return e.graph(old(build))


@case(V1)
def while_cond_array(e):
    """A branch that writes to an array, in a loop."""

    def build(given):
        x = given("x", e.values(4, 2))
        array = tf.TensorArray(tf.float32, size=4, element_shape=[2])

        def body(i, y, flow):
            row = tf.gather(x, i)
            y = v1.cond(tf.reduce_sum(row) > 0.0, lambda: y + row, lambda: y * 0.5)
            return i + 1, y, flow.write(i, y)

        _, y, array = v1.while_loop(lambda i, *_: i < 4, body, [tf.constant(0), tf.ones([2]), array])
        z = tf.ensure_shape(array.stack(), [4, 2])
        return scalar(z) + scalar(y), z

    return e.graph(old(build))


@case(ARRAYS)
def tensor_array_split(e):
    def build(given):
        x = given("x", e.values(6, 2))
        array = tf.TensorArray(tf.float32, size=3, infer_shape=False).split(x, [2, 2, 2])
        _, y = v1.while_loop(lambda i, *_: i < 3, lambda i, y: (i + 1, y + tf.exp(tf.ensure_shape(array.read(i), [2, 2]))), [tf.constant(0), tf.zeros([2, 2])])
        return scalar(y), y

    return e.graph(old(build))


@case(ARRAYS)
def dynamic_rnn_lengths(e):
    """A recurrence with sequences of several lengths."""

    def build(given):
        x, w = given("x", e.values(2, 4, 3)), given("w", e.values(6, 3))

        lengths = tf.constant([4, 2])
        inputs = tf.TensorArray(tf.float32, size=4).unstack(tf.transpose(x, [1, 0, 2]))
        outputs = tf.TensorArray(tf.float32, size=4)

        def body(t, h, outputs):
            new = tf.tanh(tf.matmul(tf.concat([inputs.read(t), h], 1), w))
            done = tf.tile((t >= lengths)[:, None], [1, 3])
            return t + 1, tf.where(done, h, new), outputs.write(t, tf.where(done, tf.zeros_like(new), new))

        _, h, outputs = v1.while_loop(lambda t, *_: t < tf.reduce_max(lengths), body, [tf.constant(0), tf.zeros([2, 3]), outputs])
        y = tf.ensure_shape(tf.transpose(outputs.stack(), [1, 0, 2]), [2, 4, 3])
        return scalar(y) + scalar(h), y

    return e.graph(old(build))


@case(GRADIENTS)
def gradients_nested(e):
    def build(given):
        x = given("x", e.values(3))

        def outer(i, y):
            _, z = v1.while_loop(lambda j, z: j < i + 1, lambda j, z: (j + 1, tf.sin(z) * x), [tf.constant(0), y])
            return i + 1, z + y

        _, y = v1.while_loop(lambda i, y: i < 3, outer, [tf.constant(0), x])
        return scalar(y), tf.gradients(scalar(y), [x])[0]

    return e.graph(old(build))


@case(GRADIENTS)
def gradients_array_read(e):
    """The gradient of a loop that reads an array."""

    def build(given):
        x, w = given("x", e.values(4, 2, 3)), given("w", e.values(3, 3))
        array = tf.TensorArray(tf.float32, size=4).unstack(x)
        _, h = v1.while_loop(lambda t, h: t < 4, lambda t, h: (t + 1, tf.tanh(tf.matmul(h, w) + array.read(t))), [tf.constant(0), tf.zeros([2, 3])])
        loss = scalar(h)
        a, b = tf.gradients(loss, [x, w])
        return loss, tf.ensure_shape(a, [4, 2, 3]), b

    return e.graph(old(build))


@case(GRADIENTS)
def gradients_while_in_cond(e):
    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(True))
        loop = lambda: v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.sin(x)), [tf.constant(0), x])[1]
        y = v1.cond(c, loop, lambda: tf.exp(x))
        return scalar(y), tf.gradients(scalar(y), [x])[0]

    return e.graph(old(build))


@case(MODULES)
def saved_decoder(e):
    """Greedy decoding with variables: a loop that ends on a value, with an embedding."""
    m = Module(table=e.values(5, 3), w=e.values(3, 3), out=e.values(3, 5))

    def run(x):
        h, token, score, i = x, tf.constant([0, 1]), tf.zeros([2]), tf.constant(0)
        while tf.logical_and(i < 4, tf.reduce_any(token != 4)):
            h = tf.tanh(tf.matmul(h, m.w) + tf.gather(m.table, token))
            logits = tf.nn.log_softmax(tf.matmul(h, m.out))
            token = tf.argmax(logits, 1, tf.int32)
            score += tf.reduce_max(logits, 1)
            i += 1
        return scalar(score) + scalar(h), token

    return e.saved(m, run, x=e.values(2, 3))
