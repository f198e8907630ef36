"""Graphs of many operations: spectra, random numbers, images, bands, counts, partitions, lists; solvers and searches in loops."""

import numpy as np
import tensorflow as tf

from case import SEED, case, scalar
from models import keras

LAYERS, LOOPS, NUMBERS, LISTS = "wide layers", "wide loops", "wide numbers", "wide lists"


def trained(e, build, *shape):
    """A model as it computes in training: with the statistics of the batch."""
    tf.keras.utils.set_random_seed(SEED)
    model = build(tf.keras.layers)
    if not isinstance(model, tf.keras.Model):
        model = tf.keras.Sequential([tf.keras.Input(shape[1:]), *model])
    feed = e.values(*shape)
    model(feed)
    return model, feed


# ----- layers -----


@case(LAYERS)
def wide_batch_norm_training(e):
    model, feed = trained(e, lambda k: [k.Conv2D(3, 2), k.BatchNormalization(momentum=0.8), k.ReLU(), k.Flatten(), k.Dense(2), k.BatchNormalization()], 4, 4, 4, 2)
    weights = [v.value for v in model.trainable_variables]
    gamma, beta = tf.constant(weights[2]), tf.constant(weights[3])
    kernel = tf.constant(weights[0])

    def run(x):
        y = tf.nn.conv2d(x, kernel, 1, "VALID")
        y, mean, var = tf.compat.v1.nn.fused_batch_norm(y, gamma, beta, is_training=True, epsilon=1e-3)
        return scalar(tf.nn.relu(y)), mean, var

    return e.frozen(run, x=feed)


@case(LAYERS)
def wide_upsampling_cubic(e):
    return keras(e, lambda k: [k.UpSampling2D(2, interpolation="bicubic"), k.UpSampling2D(2, interpolation="lanczos3")], 1, 4, 4, 2)


@case(LAYERS)
def wide_activations_all(e):
    names = ["celu", "mish", "softsign", "exponential", "log_softmax", "glu", "hard_tanh", "squareplus", "sparse_plus", "soft_shrink", "hard_shrink", "tanh_shrink", "log_sigmoid", "threshold", "silu", "gelu", "selu"]
    f = [getattr(tf.keras.activations, n) for n in names if hasattr(tf.keras.activations, n) and n not in ("threshold",)]
    return e.frozen(lambda x: scalar(tf.concat([a(x) for a in f], -1)), x=e.values(2, 6, low=-2, high=2))


@case(LOOPS)
def wide_beam_search(e):
    table = tf.constant(e.values(5, 5))

    def run(x):
        beams = tf.zeros([3, 1], tf.int32)
        score = tf.constant([0.0, -1e9, -1e9])
        for t in tf.range(4):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(beams, tf.TensorShape([3, None]))])
            logits = tf.nn.log_softmax(tf.gather(table, beams[:, -1]) * x[t])
            joint = tf.reshape(score[:, None] + logits, [-1])
            score, at = tf.math.top_k(joint, 3)
            beams = tf.concat([tf.gather(beams, at // 5), (at % 5)[:, None]], 1)
        return tf.reduce_logsumexp(score), score

    return e.frozen(run, x=e.values(4, low=0.5, high=2))


@case(LOOPS)
def wide_viterbi(e):
    trans = tf.constant(e.values(4, 4))

    def run(x):
        best = x[0]
        back = tf.TensorArray(tf.int32, 4)
        for t in tf.range(1, 5):
            s = best[:, None] + trans
            back = back.write(t - 1, tf.argmax(s, 0, tf.int32))
            best = tf.reduce_max(s, 0) + x[t]
        return tf.reduce_max(best), back.stack()

    return e.frozen(run, x=e.values(5, 4))


@case(LOOPS)
def wide_newton_system_jacobian(e):
    def f(y, x):
        return tf.stack([y[0] ** 2 + y[1] - x[0], y[0] - tf.sin(y[1]) - x[1]])

    def run(x):
        y = tf.constant([1.0, 0.2])
        for _ in tf.range(6):
            with tf.GradientTape() as tape:
                tape.watch(y)
                r = f(y, x)
            j = tape.jacobian(r, y)
            y = y - tf.linalg.solve(j, r[:, None])[:, 0]
            y = tf.ensure_shape(y, [2])
        return scalar(y), y

    return e.frozen(run, x=e.values(2, low=0.5, high=1))


@case(LOOPS)
def wide_switch_case_loop(e):
    def run(x):
        for i in tf.range(5):
            x = tf.switch_case(i % 4, [lambda: tf.sin(x), lambda: x * x, lambda: tf.cond(tf.reduce_sum(x) > 0, lambda: x / 2, lambda: -x)], default=lambda: x + 1)
        return scalar(x), x

    return e.frozen(run, x=e.values(3))


@case(LOOPS)
def wide_jacobian_loop(e):
    w = tf.constant(e.values(3, 4))

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(tf.linalg.matvec(w, x, transpose_a=True))
        return scalar(tape.jacobian(y, x, experimental_use_pfor=False))

    return e.frozen(run, x=e.values(3))


@case(LOOPS)
def wide_hessian(e):
    def run(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(x) * x[0] * tf.exp(x[1]))
            g = inner.gradient(y, x)
        return scalar(outer.jacobian(g, x))

    return e.frozen(run, x=e.values(3))


@case(LOOPS)
def wide_forward_accumulator(e):
    def run(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = tf.tanh(x) * tf.reduce_sum(x * x)
        return scalar(acc.jvp(y))

    return e.frozen(run, x=e.values(3))


@case(LOOPS)
def wide_array_gather_unstack(e):
    def run(x):
        a = tf.TensorArray(tf.float32, 5, element_shape=[2]).unstack(x)
        b = tf.TensorArray(tf.float32, 5, element_shape=[2])
        for i in tf.range(5):
            b = b.write(4 - i, a.read(i) * tf.cast(i, tf.float32))
        return scalar(b.gather([0, 3, 1])) + scalar(tf.ensure_shape(b.concat(), [10]))

    return e.frozen(run, x=e.values(5, 2))


@case(LOOPS)
def wide_array_scatter(e):
    def run(x):
        a = tf.TensorArray(tf.float32, 5).scatter([4, 2, 0, 1, 3], x)
        y = a.stack()
        for _ in tf.range(3):
            y = tf.TensorArray(tf.float32, 5).unstack(tf.tanh(y) * 2).stack()
            y = tf.ensure_shape(y, [5, 2])
        return scalar(y)

    return e.frozen(run, x=e.values(5, 2))


@case(NUMBERS)
def wide_bessel(e):
    return e.frozen(lambda x: scalar(tf.stack([tf.math.bessel_i0(x), tf.math.bessel_i1(x), tf.math.bessel_i0e(x), tf.math.bessel_i1e(x)])), x=e.values(6, low=-3, high=3))


@case(NUMBERS)
def wide_polygamma(e):
    return e.frozen(lambda x: scalar(tf.math.polygamma(tf.constant(2.0), x) + tf.math.digamma(x) + tf.math.lbeta(tf.stack([x, x + 1], -1))), x=e.values(3, low=0.5, high=3))


@case(NUMBERS)
def wide_fft(e):
    def run(x):
        y = tf.signal.fft(tf.complex(x, tf.zeros_like(x)))
        z = tf.signal.ifft(y * tf.cast(tf.range(6), tf.complex64))
        return scalar(tf.abs(y)) + scalar(tf.math.real(z)) + scalar(tf.math.imag(z))

    return e.frozen(run, x=e.values(2, 6))


@case(NUMBERS)
def wide_rfft(e):
    def run(x):
        y = tf.signal.rfft(x)
        return scalar(tf.signal.irfft(y * tf.complex(0.5, 0.25), [8])) + scalar(tf.math.real(y * tf.math.conj(y)))

    return e.frozen(run, x=e.values(2, 8))


@case(NUMBERS)
def wide_fft2d(e):
    def run(x):
        y = tf.signal.rfft2d(x)
        z = tf.signal.fft2d(tf.cast(x, tf.complex64))
        return scalar(tf.signal.irfft2d(y * y)) + scalar(tf.math.real(tf.signal.ifft2d(z * z)))

    return e.frozen(run, x=e.values(2, 4, 6))


@case(NUMBERS)
def wide_stft(e):
    def run(x):
        y = tf.signal.stft(x, 8, 4, fft_length=8)
        power = tf.math.real(y * tf.math.conj(y))
        mel = tf.signal.linear_to_mel_weight_matrix(4, 5, 8000, 80.0, 3000.0)
        return scalar(tf.math.log(tf.matmul(power, mel) + 0.1))

    return e.frozen(run, x=e.values(2, 24))


@case(NUMBERS)
def wide_dct(e):
    return e.frozen(lambda x: scalar(tf.signal.dct(x, type=2)) + scalar(tf.signal.idct(x, type=2, norm="ortho")) + scalar(tf.signal.mfccs_from_log_mel_spectrograms(x)), x=e.values(2, 8))


@case(NUMBERS)
def wide_overlap_add(e):
    return e.frozen(lambda x: scalar(tf.signal.overlap_and_add(tf.signal.frame(x, 6, 3) * tf.signal.hann_window(6), 3)), x=e.values(2, 18))


@case(NUMBERS)
def wide_complex(e):
    def run(x, y):
        z = tf.complex(x, y)
        w = tf.exp(z) * tf.math.conj(z) + tf.square(z) / (z + 2)
        return scalar(tf.abs(w)) + scalar(tf.math.angle(w)) + scalar(tf.math.real(tf.sqrt(w)))

    return e.frozen(run, x=e.values(4), y=e.values(4))


@case(NUMBERS)
def wide_complex_matmul(e):
    def run(x, y):
        z = tf.complex(x, y)
        m = tf.matmul(z, z, adjoint_b=True)
        return scalar(tf.math.real(m)) + scalar(tf.math.imag(tf.reduce_sum(m, 0)))

    return e.frozen(run, x=e.values(3, 3), y=e.values(3, 3))


@case(NUMBERS)
def wide_stateless_random(e):
    def run(x):
        u = tf.random.stateless_uniform([2, 3], seed=[3, 5])
        n = tf.random.stateless_normal([2, 3], seed=[1, 2])
        i = tf.random.stateless_uniform([4], seed=[7, 8], minval=0, maxval=10, dtype=tf.int32)
        d = tf.random.stateless_normal([3], seed=[4, 9], dtype=tf.float64)
        return scalar(x * u + tf.tanh(x * n)), u, n, i, d

    return e.frozen(run, x=e.values(2, 3))


@case(NUMBERS)
def wide_stateless_dropout(e):
    return e.frozen(lambda x: scalar(tf.nn.experimental.stateless_dropout(x, 0.4, seed=[1, 3])), x=e.values(4, 5))


@case(NUMBERS)
def wide_stateless_split(e):
    def run(x):
        seeds = tf.random.experimental.stateless_split([5, 6], 3)
        y = x
        for i in tf.range(3):
            y = y * tf.random.stateless_uniform([3], seeds[i])
        return scalar(y), y

    return e.frozen(run, x=e.values(3))


@case(NUMBERS)
def wide_bincount(e):
    def run(x):
        i = tf.cast(tf.abs(x) * 5, tf.int32)
        n = tf.math.bincount(i, minlength=6, maxlength=6)
        return scalar(x * x), n

    return e.frozen(run, x=e.values(9))


@case(NUMBERS)
def wide_searchsorted(e):
    def run(x):
        edges = tf.constant([-0.7, -0.2, 0.1, 0.6])
        i = tf.searchsorted(edges, x)
        j = tf.searchsorted(edges, x, side="right", out_type=tf.int64)
        h = tf.histogram_fixed_width(x, [-1.0, 1.0], nbins=4)
        return scalar(tf.gather(tf.constant([0.1, 0.3, 0.6, 0.8, 1.5]), i) * x), i, j, h

    return e.frozen(run, x=e.values(7))


@case(NUMBERS)
def wide_einsum_repeated(e):
    return e.frozen(lambda x: tf.einsum("ii->", x) + scalar(tf.einsum("ii->i", x)) + scalar(tf.einsum("bii->b", tf.stack([x, x * 2]))) + scalar(tf.einsum("ij,jj->i", x, x)), x=e.values(4, 4))


@case(NUMBERS)
def wide_bands(e):
    def run(x):
        d = tf.linalg.diag_part(x, k=(-1, 2))
        m = tf.linalg.diag(d, k=(-1, 2), num_rows=4, num_cols=5)
        s = tf.linalg.set_diag(x, d * 2, k=(-1, 2))
        return scalar(tf.sin(d)) + scalar(m * m) + scalar(s * s)

    return e.frozen(run, x=e.values(2, 4, 5))


@case(NUMBERS)
def wide_bands_left(e):
    def run(x):
        d = tf.linalg.diag_part(x, k=(-2, 0), align="LEFT_RIGHT", padding_value=0.5)
        m = tf.linalg.diag(d, k=(-2, 0), align="LEFT_RIGHT", padding_value=0.25)
        return scalar(tf.exp(d)) + scalar(m * m)

    return e.frozen(run, x=e.values(4, 4))


@case(NUMBERS)
def wide_tridiagonal(e):
    b = tf.constant(e.values(4, 2))
    return e.frozen(lambda x: scalar(tf.linalg.tridiagonal_solve(x + tf.constant([[0.0], [4.0], [0.0]]), b)) + scalar(tf.linalg.tridiagonal_matmul(x, b)), x=e.values(3, 4))


@case(NUMBERS)
def wide_linalg_mixed(e):
    def run(x):
        a = tf.matmul(x, x, transpose_b=True) + 2 * tf.eye(3)
        c = tf.linalg.cholesky(a)
        return tf.linalg.logdet(a) + scalar(tf.linalg.cholesky_solve(c, x)) + scalar(tf.linalg.pinv(x)) + scalar(tf.linalg.expm(x / 3)) + tf.linalg.trace(a)

    return e.frozen(run, x=e.values(3, 3))


@case(NUMBERS)
def wide_lu_lstsq(e):
    def run(x):
        return scalar(tf.linalg.lstsq(x[:, :2], x[:, 2:], l2_regularizer=0.1)) + scalar(tf.linalg.band_part(x, 1, 0))

    return e.frozen(run, x=e.values(4, 4))


@case(NUMBERS)
def wide_eigh_svd(e):
    def run(x):
        w, v = tf.linalg.eigh(tf.matmul(x, x, transpose_b=True))
        return scalar(w) + scalar(tf.abs(v)) + scalar(tf.linalg.svd(x, compute_uv=False)) + scalar(tf.abs(tf.linalg.svd(x[:, :2])[1])) + tf.linalg.norm(x, 2) + tf.linalg.norm(x, "fro", axis=[0, 1])

    return e.frozen(run, x=e.values(3, 3))


@case(NUMBERS)
def wide_images(e):
    def run(x):
        i = tf.image
        y = i.rgb_to_grayscale(x) + i.adjust_brightness(x, 0.1)
        y = i.flip_left_right(i.rot90(y)) + i.transpose(y)
        t = i.total_variation(y)
        g = i.sobel_edges(y)
        p = i.per_image_standardization(x)
        return tf.reduce_sum(t) + scalar(g) + scalar(p) + tf.reduce_sum(i.psnr(x, y, 2.0)) + scalar(tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"))

    return e.frozen(run, x=e.values(1, 6, 6, 3, low=0.1))


@case(NUMBERS)
def wide_hsv(e):
    return e.frozen(lambda x: scalar(tf.image.rgb_to_hsv(x)), x=e.values(2, 2, 3, low=0.05))


@case(NUMBERS)
def wide_crop_resize(e):
    return e.frozen(lambda x: scalar(tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0]], [0, 0], [3, 3])), x=e.values(1, 5, 5, 2))


@case(NUMBERS)
def wide_unique_sets(e):
    def run(x):
        i = tf.cast(tf.abs(x) * 4, tf.int32)
        same = tf.cast(i[:, None] == i[None], tf.float32)
        return scalar(tf.linalg.matvec(same, x)), tf.math.invert_permutation(tf.argsort(x)), tf.math.in_top_k([1, 2], tf.reshape(x[:6], [2, 3]), 2)

    return e.frozen(run, x=e.values(7))


@case(NUMBERS)
def wide_sorts(e):
    def run(x):
        s = tf.sort(x, direction="DESCENDING")
        a = tf.argsort(x, stable=True)
        v, i = tf.math.top_k(x, 3, sorted=True)
        q = tf.gather(x, a, batch_dims=1)
        return scalar(s) + scalar(v * 2) + scalar(tf.cumsum(q, 1, exclusive=True)) + scalar(tf.math.cumulative_logsumexp(x, 1)), a, i

    return e.frozen(run, x=e.values(3, 5))


@case(NUMBERS)
def wide_rounding(e):
    def run(x):
        return scalar(tf.math.floormod(x, 0.3) + tf.clip_by_norm(x, 0.5) + tf.clip_by_global_norm([x, x * 2], 1.0)[0][1] + tf.math.reciprocal_no_nan(x) + tf.math.multiply_no_nan(x, tf.constant([0.0, 1, 2, 0])) + tf.math.sign(x) * x)

    return e.frozen(run, x=e.values(4))


@case(NUMBERS)
def wide_quantized(e):
    return e.frozen(lambda x: scalar(tf.quantization.fake_quant_with_min_max_args(x, -0.7, 0.8, 4)) + scalar(tf.quantization.fake_quant_with_min_max_vars(x, -0.5, 0.5)), x=e.values(8))


@case(NUMBERS)
def wide_silu_frozen(e):
    w = tf.constant(e.values(3, 3))
    return e.frozen(lambda x: scalar(tf.nn.silu(tf.matmul(tf.nn.swish(x, beta=0.7), w))), x=e.values(2, 3))


@case(NUMBERS)
def wide_without_gradients(e):
    def build(given):
        x = given("x", e.values(1, 4, 4, 3, low=0.0))
        i = given("i", np.array([7, -7, 5, -5], np.int32))
        image = tf.image.hsv_to_rgb(tf.image.adjust_contrast(x, 0.7))
        rest = tf.truncatemod(i, 3), tf.truncatemod(tf.reshape(x, [-1]) * 5, 0.7)
        count = tf.math.bincount(tf.abs(i), weights=x[0, 0, :, 0], minlength=8, maxlength=8)
        return tf.reduce_sum(i), image, *rest, count

    return e.graph(build)


# ----- lists -----


@case(LISTS)
def wide_gradient_of_nested(e):
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in tf.range(3):
                for _ in tf.range(i + 1):
                    y = tf.sin(y) * 1.2
            loss = tf.reduce_sum(y)
        g = tape.gradient(loss, x)
        return loss, g

    return e.kept(run, x=e.values(3))


@case(LISTS)
def wide_dynamic_partition(e):
    def run(x):
        i = tf.constant([0, 1, 0, 2, 1])
        parts = tf.dynamic_partition(x, i, 3)
        where = tf.dynamic_partition(tf.range(5), i, 3)
        return scalar(tf.dynamic_stitch(where, [p * (k + 1.0) for k, p in enumerate(parts)]))

    return e.frozen(run, x=e.values(5, 2))


@case(LISTS)
def wide_boolean_mask(e):
    keep = np.array([True, False, True, True])
    return e.frozen(lambda x: scalar(tf.ensure_shape(tf.boolean_mask(x, keep), [3, 2])), x=e.values(4, 2))


@case(LISTS)
def wide_space_batch(e):
    return e.frozen(lambda x: scalar(tf.nn.space_to_depth(x, 2)) + scalar(tf.nn.depth_to_space(tf.tile(x, [1, 1, 1, 2]), 2)) + scalar(tf.nn.atrous_conv2d(x, tf.ones([2, 2, 2, 3]), 2, "SAME")) + scalar(tf.nn.dilation2d(x, tf.ones([2, 2, 2]), [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])), x=e.values(1, 4, 4, 2))


@case(LISTS)
def wide_lrn(e):
    return e.frozen(lambda x: scalar(tf.nn.local_response_normalization(x, 2, 1.0, 0.5, 0.75)) + scalar(tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")[0]), x=e.values(1, 4, 4, 6))


@case(LISTS)
def wide_fractional(e):
    return e.frozen(lambda x: scalar(tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 2]), [1, 9, 9, 4], 2, "VALID")) + scalar(tf.nn.avg_pool2d(x, 2, 2, "SAME")), x=e.values(1, 4, 4, 2))


@case(LISTS)
def wide_segments(e):
    i = tf.constant([0, 0, 1, 2])
    m = tf.math
    return e.frozen(lambda x: scalar(tf.ensure_shape(m.segment_mean(x, i), [3, 3])) + scalar(tf.ensure_shape(m.segment_max(x, i), [3, 3])) + scalar(m.unsorted_segment_sqrt_n(x, i, 4)), x=e.values(4, 3))


@case(LISTS)
def wide_embedding_bag(e):
    table = tf.Variable(e.values(6, 3))

    def run(x):
        i = tf.cast(tf.abs(x) * 5, tf.int32)
        y = tf.nn.embedding_lookup(table, i)
        z = tf.gather_nd(table, tf.stack([i, i // 2], -1))
        return scalar(tf.reduce_mean(y, 1) * x[:, :1]) + scalar(z * x)

    return e.frozen(run, x=e.values(2, 4, low=0, high=0.4))


@case(LISTS)
def wide_tensordot_kron(e):
    def run(x, y):
        k = tf.experimental.numpy.kron(x, y) if hasattr(tf.experimental.numpy, "kron") else tf.tensordot(x, y, 0)
        return scalar(k) + scalar(tf.tensordot(x, y, [[0], [1]])) + scalar(tf.linalg.cross(tf.concat([x, y], 1)[:, :3], tf.ones([2, 3])))

    return e.frozen(run, x=e.values(2, 2), y=e.values(2, 2))


@case(LISTS)
def wide_scatter_ops(e):
    def run(x):
        y = tf.tensor_scatter_nd_update(x, [[0, 1], [2, 0]], [9.0, 8.0])
        z = tf.tensor_scatter_nd_add(x, [[1], [1]], x[:2])
        w = tf.tensor_scatter_nd_sub(x, [[0], [2]], x[1:3])
        s = tf.scatter_nd([[1], [3]], x[:2], [5, 2])
        return scalar(y * x) + scalar(z * z) + scalar(w) + scalar(s)

    return e.frozen(run, x=e.values(3, 2))
