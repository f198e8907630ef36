"""Losses, gradients in graphs, slices, images, signals and other functions, written as users of TensorFlow write them."""

import numpy as np
import tensorflow as tf
from case import case, scalar, v1

FUNCTIONS = "functions, more kinds"
keras = tf.keras


@case(FUNCTIONS)
def task_keras_losses(e):
    def run(x, y):
        k = keras.losses
        p, q = tf.nn.sigmoid(x), tf.nn.sigmoid(y)
        total = k.MeanSquaredError()(q, p) + k.BinaryCrossentropy()(q, p) + k.BinaryCrossentropy(from_logits=True)(q, x) + k.Huber(0.3)(y, x)
        total += k.LogCosh()(y, x) + k.CosineSimilarity()(y, x) + k.KLDivergence()(tf.nn.softmax(y), tf.nn.softmax(x)) + k.Poisson()(q, p) + k.Hinge()(tf.sign(y), x)
        total += k.SquaredHinge()(tf.sign(y), x) + k.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(tf.nn.softmax(y), x) + k.CategoricalHinge()(q, p)
        total += k.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([0, 2, 1]), x) + k.BinaryFocalCrossentropy()(tf.round(q), p) + k.MeanAbsolutePercentageError()(y, x) * 0.01 + k.MeanSquaredLogarithmicError()(q, p)
        return total

    return e.frozen(run, x=e.values(3, 4), y=e.values(3, 4))


@case(FUNCTIONS)
def task_contrastive(e):
    def run(x, y):
        a, b = tf.math.l2_normalize(x, -1), tf.math.l2_normalize(y, -1)
        s = tf.matmul(a, b, transpose_b=True) / 0.2
        labels = tf.range(4)
        nce = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, s) + tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.transpose(s)))
        d = tf.norm(a[:, None] - b[None] + 1e-3, axis=-1)
        hard = tf.reduce_max(tf.linalg.diag_part(d)[:, None] - d + 0.3 - 9 * tf.eye(4), 1)
        return nce + tf.reduce_sum(tf.nn.relu(hard)) + tf.nn.l2_loss(s) * 0.01

    return e.frozen(run, x=e.values(4, 3), y=e.values(4, 3))


@case(FUNCTIONS)
def task_crf_loss(e):
    trans = tf.Variable(e.values(4, 4))

    def run(x):
        tags, alpha = tf.constant([1, 0, 3, 2, 1]), x[0]
        for t in tf.range(1, 5):
            alpha = tf.reduce_logsumexp(alpha[:, None] + trans, 0) + x[t]
        gold = tf.reduce_sum(tf.gather_nd(x, tf.stack([tf.range(5), tags], 1))) + tf.reduce_sum(tf.gather_nd(trans, tf.stack([tags[:-1], tags[1:]], 1)))
        return tf.reduce_logsumexp(alpha) - gold

    return e.frozen(run, x=e.values(5, 4))


@case(FUNCTIONS)
def task_weighted_losses(e):
    def run(x, y):
        z = tf.nn.sigmoid(y)
        return scalar(tf.nn.weighted_cross_entropy_with_logits(z, x, 2.0)) + scalar(tf.nn.log_poisson_loss(z, x)) + scalar(tf.nn.sigmoid_cross_entropy_with_logits(z, x)) + scalar(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y, 0), x, axis=0)) + tf.compat.v1.losses.huber_loss(y, x) + tf.compat.v1.losses.absolute_difference(y, x, weights=0.5)

    return e.frozen(run, x=e.values(3, 4), y=e.values(3, 4))


@case(FUNCTIONS)
def task_gradient_penalty(e):
    w, b = tf.Variable(e.values(3, 4)), tf.Variable(e.values(4))

    def run(x, y):
        mixed = 0.3 * x + 0.7 * y
        with tf.GradientTape() as tape:
            tape.watch(mixed)
            d = tf.reduce_sum(tf.nn.leaky_relu(tf.matmul(mixed, w) + b, 0.2) ** 2, -1)
        g = tape.gradient(d, mixed)
        return tf.reduce_mean((tf.norm(g, axis=1) - 1) ** 2)

    return e.frozen(run, x=e.values(2, 3), y=e.values(2, 3))


@case(FUNCTIONS)
def task_meta_learning(e):
    def run(w, x):
        for _ in range(2):
            with tf.GradientTape() as tape:
                tape.watch(w)
                inner = tf.reduce_mean((tf.tanh(tf.matmul(x, w)) - x) ** 2)
            w = w - 0.3 * tape.gradient(inner, w)
        return tf.reduce_mean((tf.tanh(tf.matmul(x * 2, w)) - x) ** 2)

    return e.frozen(run, w=e.values(3, 3), x=e.values(4, 3))


@case(FUNCTIONS)
def task_batch_jacobian(e):
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * tf.reduce_sum(x * x, 1, keepdims=True)
        j = tape.batch_jacobian(y, x)
        return scalar(tf.linalg.logdet(tf.matmul(j, j, transpose_b=True) + tf.eye(3)))

    return e.frozen(run, x=e.values(2, 3))


@case(FUNCTIONS)
def task_slices(e):
    def run(x, i):
        a = x[i : i + 2, ..., 1:]
        b = x[-1, tf.newaxis, 1:, -2]
        c = tf.strided_slice(x, [0, 1, 3], [3, 3, 0], [2, 1, -1])
        d = tf.slice(x, [i, 0, 1], [1, -1, 2])
        f = tf.gather(x, [1, 0], axis=2, batch_dims=0) * 2
        g = tf.gather(x, tf.constant([[0, 1], [1, 1], [2, 0]]), batch_dims=1)
        h = tf.reverse_sequence(x, [1, 2, 3], seq_axis=1) + tf.roll(x, [1, -1], [0, 2]) + tf.reverse(x, [0, -1])
        return tf.reduce_sum(a * 1.5) + scalar(b) + scalar(c) + tf.reduce_sum(d * d) + scalar(f) + scalar(g) + scalar(h)

    return e.frozen(run, x=e.values(3, 3, 4), i=np.array(1, np.int32))


@case(FUNCTIONS)
def task_padding_tiling(e):
    def run(x):
        a = tf.pad(x, [[1, 0], [1, 1]], "SYMMETRIC")
        b = tf.ensure_shape(tf.repeat(x, [1, 0, 2], axis=0), [3, 4])
        c = tf.meshgrid(x[0], x[1], indexing="ij")
        d = tf.sequence_mask([1, 3, 2], 4, tf.float32) * x
        f = tf.concat([tf.expand_dims(x, -1), tf.stack([x, x], -1)], -1)
        g = tf.broadcast_to(x[:, :1], [3, 5]) + tf.tile(x[:, 1:2], [1, 5])
        h = tf.linalg.band_part(tf.matmul(x, x, transpose_a=True), 1, 0)
        return sum(scalar(t) for t in (a, b, *c, d, f, g, h))

    return e.frozen(run, x=e.values(3, 4))


@case(FUNCTIONS)
def task_top_k_sort(e):
    def run(x):
        v, at = tf.nn.top_k(x, 3)
        order = tf.argsort(x, direction="DESCENDING", stable=True)
        hit = tf.cast(tf.math.in_top_k([1, 0], x, 2), tf.float32)
        return scalar(v) + scalar(tf.gather(x, order, batch_dims=1)) + scalar(tf.sort(x, 0)) + tf.reduce_sum(hit) * scalar(tf.math.reduce_max(x, 1)), at

    return e.frozen(run, x=e.values(2, 5))


@case(FUNCTIONS)
def task_ragged_like(e):
    def run(x):
        lengths = tf.constant([2, 3, 1])
        ids = tf.repeat(tf.range(3), lengths)
        means = tf.math.unsorted_segment_mean(x, ids, 3)
        top = tf.math.unsorted_segment_max(x, ids, 3)
        at = tf.cumsum(lengths, exclusive=True)
        padded = tf.gather(x, tf.minimum(at[:, None] + tf.range(3), 5)) * tf.sequence_mask(lengths, 3, tf.float32)[..., None]
        return scalar(means) + scalar(top) + scalar(padded) + scalar(tf.math.unsorted_segment_prod(x, ids, 4))

    return e.frozen(run, x=e.values(6, 2))


@case(FUNCTIONS)
def task_where_masks(e):
    def run(x):
        safe = tf.where(x > 0, x, tf.ones_like(x))
        a = tf.where(x > 0, tf.math.log(safe), tf.zeros_like(x))
        b = tf.math.divide_no_nan(x, tf.nn.relu(x))
        c = tf.where(tf.constant([True, False])[:, None], x, [0.1, 0.2, 0.3])
        d = tf.where(tf.math.is_nan(x / x), 0.0, tf.clip_by_value(x, -0.5, 0.5))
        f = tf.ensure_shape(tf.boolean_mask(x, [True, False], axis=0), [1, 3])
        return scalar(a) + scalar(b) + scalar(c) + scalar(d) + scalar(f) + tf.math.count_nonzero(x > 0, dtype=tf.float32)

    return e.frozen(run, x=e.values(2, 3))


@case(FUNCTIONS)
def task_image_functions(e):
    def run(x):
        im = tf.image
        a = im.resize(x, [5, 7], "bicubic")
        b = im.resize(x, [3, 3], "bilinear", antialias=True)
        c = im.central_crop(x, 0.5) + im.rot90(im.central_crop(x, 0.5))
        d = im.rgb_to_grayscale(x) + tf.reduce_sum(im.rgb_to_yuv(x), -1, keepdims=True)
        f = im.per_image_standardization(x) + im.flip_left_right(x) + im.transpose(x)
        g = tf.concat(im.image_gradients(x), -1)
        h = im.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
        i = im.sobel_edges(x)
        return sum(scalar(t) for t in (a, b, c, d, f, g, h, i)) + tf.reduce_sum(im.total_variation(x)) + tf.reduce_mean(im.psnr(x, x * 0.9, 1.0)) * 0.1

    return e.frozen(run, x=e.values(1, 4, 4, 3, low=0.1))


@case(FUNCTIONS)
def task_ssim(e):
    return e.frozen(lambda x, y: tf.reduce_sum(tf.image.ssim(x, y, 1.0, filter_size=5)), x=e.values(1, 8, 8, 1, low=0.1), y=e.values(1, 8, 8, 1, low=0.1))


@case(FUNCTIONS)
def task_signals(e):
    def run(x):
        s = tf.signal
        frames = s.frame(x, 8, 4) * s.hann_window(8)
        power = tf.abs(s.rfft(frames)) ** 2
        mel = tf.matmul(power, s.linear_to_mel_weight_matrix(4, 5, 16000.0, 20.0, 8000.0))
        mfcc = s.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-3))
        back = s.inverse_stft(s.stft(x, 8, 4), 8, 4, window_fn=s.inverse_stft_window_fn(4))
        return scalar(mfcc) + scalar(back) + scalar(s.idct(s.dct(x, norm="ortho"), 2)) + scalar(tf.math.real(s.fftshift(s.fft(tf.cast(x, tf.complex64)))))

    return e.frozen(run, x=e.values(32))


@case(FUNCTIONS)
def task_linear_algebra(e):
    def run(m, b):
        la = tf.linalg
        a = tf.matmul(m, m, transpose_b=True) + tf.eye(3)
        c = la.cholesky(a)
        x = la.cholesky_solve(c, b) + la.triangular_solve(c, b, adjoint=True) + la.solve(a, b, adjoint=True) + la.lstsq(a, b, fast=True)
        w, v = la.eigh(a + tf.linalg.diag([0.0, 1.0, 2.0]))
        s = la.svd(m, compute_uv=False)
        return scalar(x) + scalar(w) + scalar(v * v) + scalar(s) + la.logdet(a) + la.det(m) + scalar(la.expm(m * 0.3)) + scalar(la.inv(a)) + la.trace(a @ a) + scalar(la.set_diag(m, b[:, 0])) + scalar(la.normalize(m, axis=1)[0]) + scalar(la.pinv(a))

    return e.frozen(run, m=e.values(3, 3), b=e.values(3, 2))


@case(FUNCTIONS)
def task_special(e):
    def run(x):
        m = tf.math
        p = x * x + 0.5
        return sum(scalar(t) for t in (m.lgamma(p), m.digamma(p), m.erfinv(x * 0.9), m.erfcinv(p), m.ndtri(tf.nn.sigmoid(x)), m.lbeta(tf.stack([p, p], -1)), m.xlog1py(p, p), m.log_sigmoid(x), m.softsign(x), m.cumulative_logsumexp(x), m.atan2(x, p), m.squared_difference(x, p), m.polyval([x, p, x], 0.3), m.reduce_std(x, keepdims=True), m.zero_fraction(x) * x, m.expm1(x), m.asinh(x), m.acosh(p + 1)))

    return e.frozen(run, x=e.values(4))


@case(FUNCTIONS)
def task_half(e):
    def run(x):
        h = tf.cast(x, tf.bfloat16)
        return scalar(tf.cast(tf.nn.relu(h), tf.float32)) + scalar(tf.cast(tf.cast(x, tf.float64) ** 2, tf.float32)) + scalar(tf.cast(tf.cast(x, tf.float16) * 2, tf.float32))

    return e.frozen(run, x=e.values(4))


@case(FUNCTIONS)
def task_einsums(e):
    def run(x, y):
        return scalar(tf.einsum("bij,bjk->bik", x, y)) + scalar(tf.einsum("bij,bij->b", x, x)) + scalar(tf.einsum("...ij,...kj->...ik", x, x)) + scalar(tf.einsum("bij->jib", x)) + scalar(tf.tensordot(x, y, [[2], [1]])) + scalar(tf.matmul(x, y)) + scalar(tf.linalg.tensor_diag_part(tf.einsum("bij,bjk->ik", x, y)[:2, :2]))

    return e.frozen(run, x=e.values(2, 3, 4), y=e.values(2, 4, 3))


@case(FUNCTIONS)
def task_cnn_options(e):
    def run(x):
        k = tf.constant(np.linspace(-1, 1, 3 * 3 * 2 * 3).reshape(3, 3, 2, 3).astype(np.float32))
        a = tf.nn.conv2d(x, k, [1, 2, 2, 1], [[0, 0], [1, 0], [0, 2], [0, 0]])
        b = tf.nn.separable_conv2d(x, k, tf.ones([1, 1, 6, 2]), [1, 1, 1, 1], "SAME")
        c = tf.nn.conv2d_transpose(a, k, [1, 6, 6, 2], 2, "SAME")
        d = tf.nn.erosion2d(x, tf.zeros([2, 2, 2]), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
        f = tf.nn.pool(x, [3, 2], "AVG", strides=[2, 1], padding="SAME") + tf.nn.pool(x, [3, 2], "MAX", strides=[2, 1], padding="SAME")
        g = tf.nn.batch_normalization(x, *tf.nn.moments(x, [0, 1, 2]), None, 0.5, 1e-3) + tf.nn.crelu(x)[..., :2] + tf.nn.selu(x) + tf.nn.gelu(x, approximate=True)
        return sum(scalar(t) for t in (a, b, c, d, f, g))

    return e.frozen(run, x=e.values(1, 6, 6, 2))


@case(FUNCTIONS)
def task_embedding_losses(e):
    w, b = tf.Variable(e.values(7, 4)), tf.Variable(e.values(7))

    def run(x):
        labels = tf.constant([[1], [4]], tf.int64)
        sampled = (tf.constant([0, 3, 5], tf.int64), tf.constant([[0.5], [0.4]]), tf.constant([0.3, 0.2, 0.4]))
        return scalar(tf.nn.nce_loss(w, b, labels, x, 3, 7, sampled_values=sampled, remove_accidental_hits=False)) + scalar(tf.nn.sampled_softmax_loss(w, b, labels, x, 3, 7, sampled_values=sampled, remove_accidental_hits=False))

    return e.frozen(run, x=e.values(2, 4))


@case(FUNCTIONS)
def task_numpy_api(e):
    n = tf.experimental.numpy

    def run(x):
        return scalar(tf.convert_to_tensor(n.cumprod(x, 1) + n.where(x > 0, n.sin(x), n.cos(x)) + n.roll(x, 1) + n.flip(x, 0) + n.tril(x) + n.var(x, 0) + n.clip(x, -0.2, 0.4) + n.logaddexp(x, x * x)))

    return e.frozen(run, x=e.values(3, 3))


@case(FUNCTIONS)
def task_gradients_of_activations(e):
    def build(given):
        x = given("x", e.values(2, 5) * 3)
        made = [f(x) for f in (tf.nn.leaky_relu, tf.nn.elu, tf.nn.selu, tf.nn.relu6, tf.nn.softplus, tf.tanh, tf.math.reciprocal, tf.tanh, tf.sigmoid, tf.sqrt, tf.math.rsqrt, tf.nn.gelu, tf.nn.relu)]
        y = sum(scalar(f) for f in made[:9]) + scalar(tf.sqrt(x * x + 1)) + scalar(tf.math.rsqrt(x * x + 1)) + sum(scalar(f * f) for f in (made[7], made[8], made[11], made[12]))
        g = tf.gradients(y, x)[0]
        return tf.reduce_sum(g * g), y, g

    return e.graph(build)


@case(FUNCTIONS)
def task_gradients_of_pools(e):
    def build(given):
        x = given("x", e.values(1, 4, 4, 2))
        y = scalar(tf.nn.avg_pool2d(x, 2, 2, "SAME")) + scalar(tf.nn.max_pool2d(x, 3, 1, "SAME") ** 2) + scalar(tf.nn.lrn(x, 1))
        return y, tf.gradients(y, x)[0]

    return e.graph(build)


@case(FUNCTIONS)
def task_gradients_of_resizing(e):
    def build(given):
        x = given("x", e.values(1, 3, 3, 2))
        y = sum(scalar(tf.image.resize(x, [5, 4], k) ** 2) for k in ("bilinear", "nearest", "bicubic"))
        y += scalar(v1.image.resize_bilinear(x, [6, 6], align_corners=True) ** 2) + scalar(v1.image.resize_nearest_neighbor(x, [6, 6]) ** 2)
        return y, tf.gradients(y, x)[0]

    return e.graph(build)


@case(FUNCTIONS)
def task_defaults(e):
    def build(given):
        x = given("x", e.values(3))
        k, t = v1.placeholder_with_default(tf.constant([1.0, 2.0, 3.0]), [3]), v1.placeholder_with_default(False, [])
        y = tf.cond(t, lambda: x * 0.5, lambda: x)
        return scalar(tf.debugging.check_numerics(y * k, "bad"))

    return e.graph(build)
