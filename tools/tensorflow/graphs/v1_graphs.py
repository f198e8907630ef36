"""Graphs of sessions: loops and branches of TensorFlow 1, arrays, graphs with gradients in them."""

import numpy as np
import tensorflow as tf

from case import case, scalar

v1 = tf.compat.v1


def old(build):
    """With the loops of TensorFlow 1, as switches and merges."""
    build.old = True
    return build


# ----- loops and branches -----


@case("v1 control flow")
def while_power(e):
    def build(given):
        x = given("x", e.values(3))
        _, y = v1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), [tf.constant(0), tf.ones([3])])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def while_data(e):
    """Runs until a value is small."""

    def build(given):
        x = given("x", e.values(3, low=1, high=2))
        y = v1.while_loop(lambda y: tf.reduce_sum(y) > 1.0, lambda y: (y * 0.5,), [x])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def while_rnn(e):
    def build(given):
        x, w, h = given("x", e.values(5, 2, 3)), given("w", e.values(3, 3)), given("h", e.values(2, 3))
        _, h = v1.while_loop(lambda t, h: t < 5, lambda t, h: (t + 1, tf.tanh(tf.matmul(h, w) + x[t])), [tf.constant(0), h])
        return scalar(h), h

    return e.graph(old(build))


@case("v1 control flow")
def while_nested(e):
    def build(given):
        x = given("x", e.values(3))

        def outer(i, y):
            _, z = v1.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * x), [tf.constant(0), y])
            return i + 1, tf.sin(z) + y

        _, y = v1.while_loop(lambda i, y: i < 4, outer, [tf.constant(0), x])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def while_nested_three(e):
    def build(given):
        x = given("x", e.values(2))

        def inner(j, z):
            _, z = v1.while_loop(lambda k, z: k < 2, lambda k, z: (k + 1, tf.tanh(z * x)), [tf.constant(0), z])
            return j + 1, z + x

        def outer(i, y):
            _, y = v1.while_loop(lambda j, z: j < 2, inner, [tf.constant(0), y])
            return i + 1, y

        _, y = v1.while_loop(lambda i, y: i < 3, outer, [tf.constant(0), x])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def while_zero_trips(e):
    def build(given):
        x, n = given("x", e.values(3)), given("n", np.int32(0))
        _, y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * y), [tf.constant(0), x])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def cond_simple(e):
    def build(given):
        x, y = given("x", e.values(3)), given("y", e.values(3))
        z = v1.cond(tf.reduce_sum(x) < tf.reduce_sum(y), lambda: x * y, lambda: tf.square(y))
        return scalar(z), z

    return e.graph(old(build))


@case("v1 control flow")
def cond_constants(e):
    """Branches that give constants."""

    def build(given):
        x = given("x", e.values(3))
        z = v1.cond(x[0] > 5.0, lambda: tf.constant(2.0), lambda: tf.constant(3.0))
        return scalar(z * x), z

    return e.graph(old(build))


@case("v1 control flow")
def cond_nested(e):
    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(True))

        def first():
            return v1.cond(x[0] > 0, lambda: x * 2.0, lambda: tf.exp(x))

        z = v1.cond(c, first, lambda: x)
        return scalar(z), z

    return e.graph(old(build))


@case("v1 control flow")
def cond_shared(e):
    """Two conditionals with one predicate."""

    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(False))
        a = v1.cond(c, lambda: x * 2.0, lambda: tf.sin(x))
        b = v1.cond(c, lambda: a + x, lambda: a * x)
        return scalar(b), a

    return e.graph(old(build))


@case("v1 control flow")
def cond_same(e):
    """Branches that give an outer value and several."""

    def build(given):
        x, y, c = given("x", e.values(3)), given("y", e.values(3)), given("c", np.bool_(True))
        a, b = v1.cond(c, lambda: (x, y), lambda: (y, x * y))
        return scalar(a) + scalar(tf.sin(b)), a, b

    return e.graph(old(build))


@case("v1 control flow")
def cond_in_while(e):
    def build(given):
        x = given("x", e.values(3))

        def body(i, y):
            even = tf.equal(i % 2, 0)
            return i + 1, v1.cond(even, lambda: y * x, lambda: y + tf.sin(x))

        _, y = v1.while_loop(lambda i, y: i < 5, body, [tf.constant(0), x])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def while_in_cond(e):
    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(True))

        def loop():
            return v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [tf.constant(0), x])[1]

        y = v1.cond(c, loop, lambda: tf.exp(x))
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def while_shape(e):
    """A loop that counts with the shape of its variable."""

    def build(given):
        x = given("x", e.values(4, 3))
        n = tf.shape(x)[0]
        _, y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * tf.gather(x, i)), [tf.constant(0), tf.ones([3])])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def case_v1(e):
    def build(given):
        x, k = given("x", e.values(3)), given("k", np.int32(1))
        pairs = [(tf.equal(k, 0), lambda: x * 2.0), (tf.equal(k, 1), lambda: tf.exp(x))]
        y = v1.case(pairs, default=lambda: tf.sin(x), exclusive=False)
        return scalar(y), y

    return e.graph(old(build))


@case("v1 control flow")
def print_and_assert(e):
    def build(given):
        x = given("x", e.values(3))
        with tf.control_dependencies([v1.Assert(tf.reduce_all(x < 9.0), [x])]):
            y = tf.exp(x)
        return scalar(v1.Print(y, [y], "y is ")), y

    return e.graph(old(build))


# ----- arrays -----


@case("arrays")
def tensor_array_write(e):
    def build(given):
        x = given("x", e.values(3))
        array = tf.TensorArray(tf.float32, size=4)

        def body(i, y, array):
            return i + 1, y * x, array.write(i, y)

        _, _, array = v1.while_loop(lambda i, *_: i < 4, body, [tf.constant(0), tf.ones([3]), array])
        y = array.stack()
        y.set_shape([4, 3])
        return scalar(y), y

    return e.graph(old(build))


@case("arrays")
def tensor_array_read(e):
    def build(given):
        x = given("x", e.values(4, 3))
        array = tf.TensorArray(tf.float32, size=4).unstack(x)

        def body(i, y):
            return i + 1, tf.sin(y) * array.read(i)

        _, y = v1.while_loop(lambda i, *_: i < 4, body, [tf.constant(0), tf.ones([3])])
        return scalar(y), y

    return e.graph(old(build))


@case("arrays")
def map_fn(e):
    def build(given):
        x = given("x", e.values(4, 3))
        y = v1.map_fn(lambda row: tf.sin(row) * row, x)
        return scalar(y), y

    return e.graph(old(build))


@case("arrays")
def scan(e):
    def build(given):
        x = given("x", e.values(4, 3))
        y = v1.scan(lambda a, row: a * row + 1.0, x)
        return scalar(y), y

    return e.graph(old(build))


@case("arrays")
def foldl(e):
    def build(given):
        x = given("x", e.values(4, 3))
        y = v1.foldl(lambda a, row: tf.tanh(a) + row, x)
        return scalar(y), y

    return e.graph(old(build))


@case("arrays")
def dynamic_rnn(e):
    """A cell by hand over time, with its outputs in an array."""

    def build(given):
        x, w, u = given("x", e.values(4, 2, 3)), given("w", e.values(3, 5)), given("u", e.values(5, 5))
        inputs = tf.TensorArray(tf.float32, size=4).unstack(x)
        outputs = tf.TensorArray(tf.float32, size=4)

        def body(t, h, outputs):
            h = tf.tanh(tf.matmul(inputs.read(t), w) + tf.matmul(h, u))
            return t + 1, h, outputs.write(t, h)

        _, h, outputs = v1.while_loop(lambda t, *_: t < 4, body, [tf.constant(0), tf.zeros([2, 5]), outputs])
        y = outputs.stack()
        y.set_shape([4, 2, 5])
        return scalar(y) + scalar(h), y

    return e.graph(old(build))


# ----- graphs with TensorFlow's gradients in them -----


@case("with gradients")
def gradients_plain(e):
    def build(given):
        x, w = given("x", e.values(4, 3)), given("w", e.values(3, 2))
        y = tf.reduce_sum(tf.nn.softplus(tf.tanh(tf.matmul(x, w))))
        a, b = tf.gradients(y, [x, w])
        return scalar(a) + scalar(b), a, b

    return e.graph(old(build))


@case("with gradients")
def gradients_while(e):
    def build(given):
        x = given("x", e.values(3))
        _, y = v1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), [tf.constant(0), tf.ones([3])])
        a, = tf.gradients(scalar(y), [x])
        return scalar(y), a

    return e.graph(old(build))


@case("with gradients")
def gradients_cond(e):
    def build(given):
        x, c = given("x", e.values(3)), given("c", np.bool_(True))
        y = v1.cond(c, lambda: tf.sin(x) * x, lambda: x * 3.0)
        a, = tf.gradients(scalar(y), [x])
        return scalar(a), a

    return e.graph(old(build))


@case("with gradients")
def gradients_cond_in_while(e):
    def build(given):
        x = given("x", e.values(3))

        def body(i, y):
            return i + 1, v1.cond(i < 2, lambda: y * x, lambda: tf.sin(y))

        _, y = v1.while_loop(lambda i, y: i < 4, body, [tf.constant(0), x])
        a, = tf.gradients(scalar(y), [x])
        return scalar(y), a

    return e.graph(old(build))


@case("with gradients")
def gradients_descent(e):
    """A step of training, written out."""

    def build(given):
        x, w, b = given("x", e.values(4, 3)), given("w", e.values(3, 2)), given("b", e.values(2))
        t = given("t", np.array([0, 1, 1, 0], np.int32))
        logits = tf.nn.bias_add(tf.matmul(x, w), b)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=logits))
        dw, db = tf.gradients(loss, [w, b])
        return loss, w - 0.1 * dw, b - 0.1 * db

    return e.graph(old(build))


# ----- other graphs -----


@case("v1 plain")
def dense(e):
    def build(given):
        x, w, b = given("x", e.values(4, 3)), given("w", e.values(3, 5)), given("b", e.values(5))
        y = tf.nn.softmax(tf.nn.relu(tf.matmul(x, w) + b))
        return scalar(y), y

    return e.graph(old(build))


@case("v1 plain")
def dense_text(e):
    def build(given):
        x, w = given("x", e.values(4, 3)), given("w", e.values(3, 5))
        y = tf.nn.elu(tf.matmul(x, w) + tf.constant(e.values(5)))
        return scalar(y), y

    return e.graph(old(build), text=True)


@case("v1 plain")
def cross_entropy(e):
    def build(given):
        x, t = given("x", e.values(4, 5)), given("t", np.array([0, 4, 2, 1], np.int64))
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=x))

    return e.graph(old(build))


@case("v1 plain")
def moments(e):
    def build(given):
        x = given("x", e.values(4, 6))
        mean, variance = tf.nn.moments(x, [1], keepdims=True)
        y = (x - mean) * tf.math.rsqrt(variance + 1e-3)
        return scalar(y), y

    return e.graph(old(build))


@case("v1 plain")
def attention(e):
    def build(given):
        q, k, v = (given(n, e.values(2, 4, 3)) for n in "qkv")
        p = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / np.float32(np.sqrt(3)))
        y = tf.einsum("bij,bjk->bik", p, v)
        return scalar(y), y

    return e.graph(old(build))


@case("v1 plain")
def embedding(e):
    def build(given):
        table, ids = given("table", e.values(7, 3)), given("ids", np.array([[1, 2], [6, 1]], np.int32))
        y = tf.nn.embedding_lookup(table, ids)
        return scalar(tf.sin(y)), y

    return e.graph(old(build))


@case("v1 plain")
def convolution(e):
    def build(given):
        x, w = given("x", e.values(2, 6, 6, 3)), given("w", e.values(3, 3, 3, 4))
        y = tf.nn.relu(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"))
        y = tf.nn.max_pool2d(y, 2, 1, "VALID")
        return scalar(y), y

    return e.graph(old(build))


@case("v1 plain")
def slices(e):
    def build(given):
        x = given("x", e.values(4, 5, 3))
        i = given("i", np.int32(1))
        y = tf.concat([x[1:3, ..., 0], x[:2, :, i], tf.slice(x, [0, 0, 1], [2, 5, 1])[:, :, 0]], 0)
        z = x[::-1, None, 2]
        y.set_shape([6, 5])
        return scalar(y) + scalar(tf.sin(z)), y

    return e.graph(old(build))


@case("v1 plain")
def pruned(e):
    """Only a part of the graph is wanted; the rest has an operation that nobody knows here."""

    def build(given):
        x = given("x", e.values(4, 3))
        tf.strings.as_string(x, name="unread")
        y = tf.reshape(tf.transpose(x), [2, 6])
        return scalar(y), y

    return e.graph(old(build))


@case("v1 plain")
def large_constant(e):
    def build(given):
        x = given("x", e.values(2, 64))
        y = tf.tanh(tf.matmul(x, tf.constant(e.values(64, 128))))
        return scalar(y), y

    return e.graph(old(build))


@case("v1 plain")
def functional_v1(e):
    """A session's graph with the loops of TensorFlow 2: `StatelessWhile` and `StatelessIf` as nodes."""

    def build(given):
        x = given("x", e.values(3))
        _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), [tf.constant(0), tf.ones([3])])
        z = tf.cond(tf.reduce_sum(x) > 0.0, lambda: y, lambda: tf.sin(y))
        return scalar(z), y

    return e.graph(build)
