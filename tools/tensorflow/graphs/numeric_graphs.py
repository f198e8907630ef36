"""Linear algebra, special functions, segments, borders, and writes into places."""

import numpy as np
import tensorflow as tf

from case import case, scalar
from functions import LOWERED, TRACED
from models import MODELS

MATRICES, SPECIAL, PLACES = "matrices", "special functions", "places and segments"


@case(MATRICES)
def matrix_diagonals(e):
    def run(x, y):
        square = tf.linalg.diag(x, k=1) + tf.linalg.set_diag(y, tf.sin(x[:, :3]), k=-1)
        wide = tf.linalg.diag(x[:, :3], num_rows=4, num_cols=3, padding_value=0.5)
        parts = tf.linalg.diag_part(y, k=2), tf.linalg.diag_part(y)
        loss = scalar(square * y) + scalar(wide) + scalar(tf.exp(parts[0])) + scalar(tf.sin(parts[1]))
        return loss, square, wide, *parts

    return e.frozen(run, x=e.values(2, 3), y=e.values(2, 4, 4))


@case(MATRICES)
def matrix_trace(e):
    return e.frozen(lambda x: (tf.linalg.trace(x @ x) + scalar(tf.linalg.tensor_diag_part(x)), tf.linalg.trace(x)), x=e.values(3, 3))


def definite(x):
    """A symmetric positive definite matrix."""
    return tf.linalg.matmul(x, x, transpose_b=True) + 2.0 * tf.eye(3)


@case(MATRICES)
def gaussian_process(e):
    """The likelihood of a Gaussian process, and its mean at other places."""

    def run(x, y, scale, z):
        kernel = lambda a, b: tf.exp(-0.5 * tf.square((a[:, None] - b[None, :]) / scale))
        factor = tf.linalg.cholesky(kernel(x, x) + 0.1 * tf.eye(5))
        weights = tf.linalg.cholesky_solve(factor, y[:, None])
        fit = 0.5 * tf.reduce_sum(y[:, None] * weights) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        return fit, tf.squeeze(kernel(z, x) @ weights, 1)

    feed = {"x": e.values(5), "y": e.values(5), "scale": e.values(low=0.5), "z": e.values(2)}
    return e.frozen(run, **feed)


@case(MATRICES)
def matrix_inverse(e):
    def run(x):
        inverse, determinant = tf.linalg.inv(definite(x)), tf.linalg.det(definite(x))
        return scalar(inverse) + scalar(determinant), inverse, determinant

    return e.frozen(run, x=e.values(2, 3, 3))


@case(MATRICES)
def matrix_solve(e):
    def run(x, y):
        z = tf.linalg.solve(definite(x) + x, y)
        w = tf.linalg.triangular_solve(definite(x), tf.sin(z), lower=True, adjoint=True)
        return scalar(z) + scalar(w), z, w

    return e.frozen(run, x=e.values(3, 3), y=e.values(3, 2))


@case(MATRICES)
def matrix_eigen(e):
    def run(x):
        values, vectors = tf.linalg.eigh(definite(x))
        return scalar(values) + scalar(tf.square(vectors)), values

    return e.frozen(run, x=e.values(3, 3))


@case(MATRICES)
def newton_system(e):
    """Newton's iteration for two equations, until it converges."""

    def run(x):
        z = tf.stack([1.0 + x, 1.0 - x])
        error = tf.constant(1.0)
        while error > 1e-5:
            a, b = z[0], z[1]
            value = tf.stack([a * a + b * b - 2.0, a - b * x])
            slope = tf.stack([tf.stack([2.0 * a, 2.0 * b]), tf.stack([tf.ones_like(a), -x])])
            step = tf.linalg.solve(slope, value[:, None])[:, 0]
            z = z - step
            error = tf.reduce_max(tf.abs(step))
        return scalar(z), z

    return e.kept(run, x=e.values(low=0.3, high=0.6))


@case(SPECIAL)
def special_functions(e):
    def run(x):
        y = tf.math.erfinv(0.9 * x) + tf.math.ndtri(0.5 + 0.4 * x) + tf.math.lgamma(x + 2.0) + tf.math.digamma(x + 2.0)
        return scalar(y), y, tf.math.rint(3.0 * x), tf.round(tf.constant([0.5, 1.5, 2.5, -0.5]))

    return e.frozen(run, x=e.values(6))


@case(SPECIAL)
def zero_times_log(e):
    """Where the first factor is zero, the second one does not count."""

    def run(x, y):
        keep = tf.constant([0.0, 1.0, 1.0, 0.0])
        y = y * tf.constant([0.0, 1.0, 1.0, 1.0])
        z = tf.math.xlogy(x * keep, y) + tf.math.xlog1py(x * keep, y - tf.constant([1.0, 0.0, 0.0, 1.0]) * (1.0 + y)) + tf.math.xdivy(x * keep, y)
        return scalar(z), z

    return e.frozen(run, x=e.values(4, low=0.2), y=e.values(4, low=0.2))


@case(PLACES)
def mirrored(e):
    def run(x):
        a = tf.pad(x, [[0, 0], [2, 1], [1, 2]], "REFLECT")
        b = tf.pad(x, [[1, 2], [0, 3], [0, 0]], "SYMMETRIC")
        return scalar(tf.sin(a)) + scalar(b * b), a, b

    return e.frozen(run, x=e.values(2, 3, 4))


@case(PLACES)
def mirrored_gradient(e):
    """TensorFlow's own gradient of a border."""

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = scalar(tf.sin(tf.pad(x, [[2, 1], [0, 2]], "REFLECT"))) + scalar(tf.pad(x, [[3, 3], [1, 0]], "SYMMETRIC") ** 2)
        return scalar(tf.exp(tape.gradient(loss, x))), loss

    return e.frozen(run, x=e.values(3, 4))


@case(PLACES)
def updated(e):
    def run(x, row, number):
        a = tf.tensor_scatter_nd_update(x, [[2], [0]], tf.stack([row, 2.0 * row]))
        b = tf.tensor_scatter_nd_update(x, [[1, 2], [3, 0]], number)
        return scalar(tf.sin(a)) + scalar(b * x), a, b

    return e.frozen(run, x=e.values(4, 3), row=e.values(3), number=e.values(2))


@case(PLACES)
def updated_in_loop(e):
    """A table that a loop fills at places that it computes."""

    def run(x):
        table = tf.zeros([4, 4])
        for i in tf.range(4):
            for j in tf.range(i + 1):
                before = table[i - 1, j] if i > 0 else tf.constant(1.0)
                table = tf.tensor_scatter_nd_update(table, [[i, j]], [tf.sin(x[j] * before) + 0.5])
        return scalar(table), table

    return e.kept(run, x=e.values(4))


@case(PLACES)
def segments_sorted(e):
    def run(x):
        ids = tf.constant([0, 0, 1, 2, 2, 2])
        made = [tf.math.segment_sum(x, ids), tf.math.segment_mean(x, ids), tf.math.segment_max(x, ids), tf.math.segment_min(x, ids), tf.math.segment_prod(x, ids)]
        made = [tf.ensure_shape(y, [3, 2]) for y in made]
        return sum(scalar(tf.sin(y)) for y in made), *made

    return e.frozen(run, x=e.values(6, 2))


@case(PLACES)
def segments_unsorted(e):
    def run(x, ids):
        made = [tf.math.unsorted_segment_max(x, ids, 4), tf.math.unsorted_segment_min(x, ids, 4), tf.math.unsorted_segment_prod(x, ids, 4), tf.math.unsorted_segment_sum(x, ids, 4)]
        return sum(scalar(tf.tanh(y)) for y in made), *made

    return e.frozen(run, x=e.values(6, 2), ids=e.random.integers(0, 3, 6).astype("int32"))


@case(TRACED)
def traced_best(e):
    """The places of the greatest elements, in a function of the library, and in a loop."""

    def run(x):
        y = x
        for i in tf.range(3):
            values, places = tf.math.top_k(y, 2)
            y = y + tf.reduce_sum(values) * tf.cast(tf.one_hot(places[1], 5), tf.float32)
        return scalar(y), y

    return e.kept(run, x=e.values(5))


@case(LOWERED)
def lowered_range(e):
    """Numbers of floats, as steps of an integration."""

    def run(x):
        y = x
        for t in tf.range(0.0, 1.0, 0.25):
            y = y + 0.25 * tf.sin(y * (1.0 + t))
        return scalar(y), y

    return e.frozen(run, x=e.values(3))


@case(PLACES)
def resized(e):
    """Images of other sizes, by all methods."""

    def run(x):
        made = [tf.image.resize(x, (5, 8), method) for method in ("nearest", "bilinear", "bicubic")]
        for method in (tf.compat.v1.image.resize_nearest_neighbor, tf.compat.v1.image.resize_bilinear, tf.compat.v1.image.resize_bicubic):
            made += [method(x, (2, 6), align_corners=True), method(x, (5, 3))]
        return sum(scalar(tf.sin(y)) for y in made), *made

    return e.frozen(run, x=e.values(2, 3, 4, 2))


@case(MODELS)
def pool_volumes(e):
    def run(x):
        made = [pool(x, 2, 2, "SAME") for pool in (tf.nn.avg_pool3d, tf.nn.max_pool3d)]
        return sum(scalar(tf.sin(y)) for y in made), *made

    return e.frozen(run, x=e.values(1, 3, 4, 5, 2))


@case(TRACED)
def traced_vectorized(e):
    """Functions of rows, for all rows at once: axes that are computed."""

    def run(x, w):
        y = tf.vectorized_map(lambda row: tf.tanh(tf.linalg.matvec(w, row)), x)
        z = tf.vectorized_map(lambda row: tf.reduce_sum(row * tf.sin(row)) + tf.reduce_max(tf.stack([row, -row], 1)), x)
        return scalar(tf.ensure_shape(y, [4, 2])) + scalar(tf.ensure_shape(z, [4])), y, z

    return e.kept(run, x=e.values(4, 3), w=e.values(2, 3))


@case(TRACED)
def traced_assertions(e):
    """Assertions, in a loop too, as branches that end the program."""

    def run(x):
        tf.debugging.assert_greater(x, -10.0)
        y = tf.constant(0.0)
        for i in tf.range(3):
            tf.debugging.assert_less(tf.reduce_sum(x), 100.0 + y)
            y = y + tf.sin(x[i])
        return y, y + 1.0

    return e.kept(run, x=e.values(3))


@case(SPECIAL)
def ties(e):
    """Derivatives where two values are equal, and at kinks: those that TensorFlow takes."""

    def run(x, y):
        made = [tf.maximum(x, 0.0), tf.minimum(1.0, x), tf.clip_by_value(x, -1.0, 1.0), tf.maximum(x, y), tf.minimum(tf.nn.relu(x), tf.nn.relu(y))]
        made += [tf.nn.selu(x), tf.nn.elu(x), tf.nn.relu6(6.0 * x), tf.reduce_max(tf.stack([x, y]), 0), tf.abs(x)]
        return sum(scalar(z) for z in made), *made

    x = np.array([-200.0, -1.0, -0.5, 0.0, 0.5, 1.0, 200.0], np.float32)
    return e.frozen(run, x=x, y=np.where(x > 0, x, 2 * x))
