"""Operations of TensorFlow's library beyond those of common layers: special functions, sets, sparse and ragged tensors, images."""

import numpy as np
import tensorflow as tf

from case import SEED, case, scalar
from v1_graphs import old

v1 = tf.compat.v1

SPECIAL, SETS, SPARSE, RAGGED, LINEAR, IMAGES, SIGNALS, RANDOM = (
    f"library, {group}" for group in ("special functions", "sets", "sparse", "ragged", "linear algebra", "images", "signals", "random")
)
raw = tf.raw_ops


# ----- special functions -----


@case(SPECIAL)
def library_igamma(e):
    a = tf.constant([0.5, 1.0, 2.5, 6.0, 0.9])
    return e.frozen(lambda x: scalar(tf.math.igamma(a, x)), x=e.values(5, low=0.3, high=4))


@case(SPECIAL)
def library_igamma_of_order(e):
    """The derivative by the order, `IgammaGradA`."""
    return e.frozen(lambda a, x: scalar(tf.math.igamma(a, x) * x), a=e.values(6, low=0.4, high=5), x=e.values(6, low=0.3, high=6))


@case(SPECIAL)
def library_igammac_of_order(e):
    return e.frozen(lambda a, x: scalar(tf.math.igammac(a, x)), a=e.values(6, low=0.4, high=5), x=e.values(6, low=0.3, high=6))


@case(SPECIAL)
def library_igamma_gradient_inside(e):
    def build(given):
        a, x = given("a", e.values(5, low=0.5, high=4)), given("x", e.values(5, low=0.3, high=4))
        y = tf.math.igamma(a, x)
        slopes = tf.gradients(y, [a, x])
        return scalar(y), *slopes

    return e.graph(old(build))


@case(SPECIAL)
def library_betainc(e):
    a, b = tf.constant([0.5, 1.0, 2.5, 6.0, 0.9]), tf.constant([1.5, 2.0, 0.5, 3.0, 0.7])
    return e.frozen(lambda x: scalar(tf.math.betainc(a, b, x)), x=e.values(5, low=0.1, high=0.9))


@case(SPECIAL)
def library_student_t(e):
    """A distribution of Student, by its incomplete beta function."""

    def run(t):
        nu = 5.0
        x = nu / (nu + t * t)
        tail = 0.5 * tf.math.betainc(tf.fill([6], nu / 2), tf.fill([6], 0.5), x)
        return scalar(tf.where(t > 0, 1 - tail, tail))

    return e.frozen(run, t=e.values(6, low=-2, high=2))


@case(SPECIAL)
def library_zeta(e):
    return e.frozen(lambda q: scalar(tf.math.zeta(tf.constant([1.5, 2.0, 3.0, 6.5, 2.2]), q)), q=e.values(5, low=0.4, high=4))


@case(SPECIAL)
def library_polygamma_orders(e):
    return e.frozen(lambda x: scalar(tf.math.polygamma(tf.constant([0.0, 1.0, 2.0, 3.0, 1.0]), x)), x=e.values(5, low=0.4, high=4))


@case(SPECIAL)
def library_trigamma_second(e):
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.math.digamma(x))
        return scalar(tape.gradient(y, x))

    return e.frozen(run, x=e.values(5, low=0.4, high=4))


@case(SPECIAL)
def library_bessel_first_kind(e):
    s = tf.math.special
    return e.frozen(lambda x: scalar(s.bessel_j0(x) + s.bessel_j1(x) * 0.5), x=e.values(8, low=0.3, high=12))


@case(SPECIAL)
def library_bessel_second_kind(e):
    s = tf.math.special
    return e.frozen(lambda x: scalar(s.bessel_y0(x) + s.bessel_y1(x) * 0.5), x=e.values(8, low=0.4, high=12))


@case(SPECIAL)
def library_bessel_modified_second(e):
    s = tf.math.special
    return e.frozen(lambda x: scalar(s.bessel_k0(x) + s.bessel_k1(x)) + scalar(s.bessel_k0e(x) + s.bessel_k1e(x)), x=e.values(8, low=0.4, high=6))


@case(SPECIAL)
def library_safe_products(e):
    return e.frozen(lambda x: (scalar(tf.math.xlog1py(x, x + 2) + tf.math.xdivy(x, x + 3)), x), x=e.values(5, low=0.3, high=3))


# ----- sets, sorts and counts -----


@case(SETS)
def library_unique_constant(e):
    ids = tf.constant([4, 1, 4, 7, 1, 1], tf.int32)

    def run(x):
        y, index = tf.unique(ids)
        rows = tf.gather(x, y)
        return scalar(tf.ensure_shape(tf.gather(rows, index), [6, 2])), index

    return e.frozen(run, x=e.values(8, 2))


@case(SETS)
def library_unique_counts(e):
    ids = tf.constant([[4, 1], [2, 2], [4, 1]], tf.int64)

    def run(x):
        y, index = raw.UniqueV2(x=ids, axis=tf.constant([0], tf.int64), out_idx=tf.int64)
        z, _, count = tf.unique_with_counts(tf.reshape(ids, [-1]))
        rows = tf.ensure_shape(tf.gather(x, z), [3, 2]), tf.ensure_shape(y, [2, 2])
        return scalar(rows[0]) + scalar(rows[1]), index, count

    return e.frozen(run, x=e.values(8, 2))


@case(SETS)
def library_nth(e):
    return e.frozen(lambda x: scalar(raw.NthElement(input=x, n=2) + raw.NthElement(input=x, n=1, reverse=True)), x=e.values(3, 6))


@case(SETS)
def library_bucketize(e):
    def run(x):
        bins = raw.Bucketize(input=x, boundaries=[-0.5, 0.0, 0.3])
        return scalar(x * tf.gather(tf.constant([1.0, 2.0, 3.0, 4.0]), bins)), bins

    return e.frozen(run, x=e.values(3, 4))


@case(SETS)
def library_scatter_extremes(e):
    def run(x, u):
        i = tf.constant([[0], [3], [1]])
        y = tf.tensor_scatter_nd_max(x, i, u) + tf.tensor_scatter_nd_min(x, i, u)
        return scalar(y)

    return e.frozen(run, x=e.values(5, 2), u=e.values(3, 2))


@case(SETS)
def library_strided_update(e):
    def run(x, u):
        y = raw.TensorStridedSliceUpdate(input=x, begin=[1, 0], end=[3, 2], strides=[1, 1], value=u)
        return scalar(y)

    return e.frozen(run, x=e.values(4, 3), u=e.values(2, 2))


@case(SETS)
def library_clip_by_value(e):
    def run(x, low):
        return scalar(tf.clip_by_value(x, low, 0.7)) + scalar(raw.ClipByValue(t=x, clip_value_min=-0.2, clip_value_max=0.3))

    return e.frozen(run, x=e.values(3, 4), low=e.values(1, 4, low=-0.8, high=0))


@case(SETS)
def library_linspace(e):
    def run(x, a):
        return scalar(tf.linspace(a, x, 5)) + scalar(tf.linspace(0.0, 1.0, 4) * x[0]) + scalar(raw.LinSpace(start=-1.0, stop=2.0, num=4) * x[1])

    return e.frozen(run, x=e.values(2), a=e.values(2))


# ----- sparse -----

PLACES = np.array([[0, 1], [1, 3], [2, 0], [2, 2]], np.int64)


@case(SPARSE)
def library_sparse_reorder(e):
    def run(x):
        s = tf.SparseTensor(PLACES[[2, 0, 3, 1]], x, [3, 4])
        return scalar(tf.sparse.to_dense(tf.sparse.reorder(s))), tf.sparse.reorder(s).indices

    return e.frozen(run, x=e.values(4))


@case(SPARSE)
def library_sparse_reshape(e):
    def run(x):
        s = tf.sparse.reshape(tf.SparseTensor(PLACES, x, [3, 4]), [2, 6])
        return scalar(tf.sparse.to_dense(tf.sparse.transpose(s)))

    return e.frozen(run, x=e.values(4))


@case(SPARSE)
def library_sparse_concat(e):
    def run(x, y):
        s, t = tf.SparseTensor(PLACES, x, [3, 4]), tf.SparseTensor(PLACES[:3], y, [3, 4])
        both = tf.stop_gradient(tf.sparse.to_dense(tf.sparse.concat(1, [s, t])))
        part = tf.ensure_shape(tf.sparse.to_dense(tf.sparse.slice(s, [0, 1], [3, 3])), [3, 3])
        return scalar(part) + scalar(tf.ensure_shape(both, [3, 8])) + scalar(y)

    return e.frozen(run, x=e.values(4), y=e.values(3))


@case(SPARSE)
def library_sparse_softmax(e):
    def run(x):
        s = tf.sparse.softmax(tf.SparseTensor(PLACES, x, [3, 4]))
        return scalar(tf.ensure_shape(tf.sparse.reduce_sum(s * tf.constant([[1.0, 2.0, 3.0, 4.0]]), 1), [3]))

    return e.frozen(run, x=e.values(4))


@case(SPARSE)
def library_sparse_from_dense(e):
    mask = tf.constant([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])

    def run(x):
        s = tf.sparse.from_dense(mask)
        return scalar(tf.sparse.sparse_dense_matmul(s, x))

    return e.frozen(run, x=e.values(3, 2))


@case(SPARSE)
def library_sparse_fill(e):
    def run(x):
        s = tf.SparseTensor(PLACES[:2], x, [4, 4])
        full, empty = tf.sparse.fill_empty_rows(s, 0.5)
        return scalar(tf.sparse.to_dense(full)), empty

    return e.frozen(run, x=e.values(2))


# ----- ragged -----


@case(RAGGED)
def library_ragged_map(e):
    def run(x):
        r = tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 6])
        y = tf.ragged.map_flat_values(tf.sin, r)
        return scalar(tf.reduce_sum(y, 1)) + scalar((y + 1.0).to_tensor(0.0, shape=[3, 4]))

    return e.frozen(run, x=e.values(6))


@case(RAGGED)
def library_ragged_softmax(e):
    def run(x):
        r = tf.RaggedTensor.from_row_lengths(x, [3, 1, 2])
        top = tf.reduce_max(r, 1, keepdims=True)
        y = tf.exp(r - top)
        return scalar(tf.ensure_shape((y / tf.reduce_sum(y, 1, keepdims=True)).flat_values, [6]))

    return e.frozen(run, x=e.values(6))


@case(RAGGED)
def library_ragged_concat(e):
    def run(x, y):
        a, b = tf.RaggedTensor.from_row_lengths(x, [2, 1]), tf.RaggedTensor.from_row_lengths(y, [1, 2])
        both = tf.ensure_shape(tf.concat([a, b], 1).to_tensor(), [2, 3])
        return scalar(both), tf.concat([a, b], 0).row_lengths()

    return e.frozen(run, x=e.values(3), y=e.values(3))


@case(RAGGED)
def library_ragged_range(e):
    def run(x):
        r = tf.ragged.range([2, 0, 3])
        return scalar(tf.ensure_shape(tf.gather(x, r).to_tensor(0.0), [3, 3]))

    return e.frozen(run, x=e.values(4))


@case(RAGGED)
def library_ragged_gather(e):
    def run(x):
        r = tf.RaggedTensor.from_row_lengths(x, [2, 0, 3, 1])
        y, z = tf.stop_gradient(tf.gather(r, [2, 0]).to_tensor(0.0)), tf.reverse(r.to_tensor(), [1])
        return scalar(tf.ensure_shape(y, [2, 3])) + scalar(tf.ensure_shape(z, [4, 3]))

    return e.frozen(run, x=e.values(6))


@case(RAGGED)
def library_ragged_mask(e):
    def run(x):
        r = tf.RaggedTensor.from_tensor(x, lengths=[2, 3, 1])
        return scalar(tf.reduce_mean(r, 1)) + scalar(tf.sequence_mask(r.row_lengths(), 3, tf.float32) * x)

    return e.frozen(run, x=e.values(3, 3))


# ----- linear algebra -----


@case(LINEAR)
def library_matrix_functions(e):
    def run(a):
        return scalar(tf.linalg.expm(a * 0.5)) + scalar(tf.linalg.pinv(a + 2 * tf.eye(3)))

    return e.frozen(run, a=e.values(3, 3))


@case(LINEAR)
def library_matrix_root(e):
    def run(a):
        m = a @ tf.transpose(a) + 2 * tf.eye(3)
        return scalar(tf.linalg.sqrtm(m))

    return e.frozen(run, a=e.values(3, 3))


@case(LINEAR)
def library_least_squares(e):
    return e.frozen(lambda a, b: scalar(tf.linalg.lstsq(a, b, fast=True)) + scalar(tf.linalg.lstsq(a, b, l2_regularizer=0.1)), a=e.values(5, 3), b=e.values(5, 2))


@case(LINEAR)
def library_banded_solve(e):
    def run(b):
        m = tf.constant([[0.0, 0.5, 0.3, 0.2], [2.0, 3.0, 2.5, 4.0]])
        return scalar(tf.linalg.banded_triangular_solve(m[::-1], b, lower=True))

    return e.frozen(run, b=e.values(4, 2))


@case(LINEAR)
def library_lu_solve(e):
    def run(a, b):
        lu, p = (tf.stop_gradient(part) for part in tf.linalg.lu(a))
        solved = tf.linalg.lu_solve(lu, p, b)
        return scalar(solved) + scalar(a), lu, p

    return e.frozen(run, a=e.values(3, 3), b=e.values(3, 2))


@case(LINEAR)
def library_cholesky_gradient(e):
    def build(given):
        a, b = given("a", e.values(3, 3)), given("b", e.values(3, 1))
        m = tf.matmul(a, a, transpose_b=True) + 2 * tf.eye(3)
        loss = scalar(tf.linalg.cholesky_solve(tf.linalg.cholesky(m), b)) + tf.linalg.logdet(m)
        return loss, *tf.gradients(loss, [a, b])

    return e.graph(old(build))


@case(LINEAR)
def library_operators(e):
    def run(d, u, x):
        o = tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(d), u)
        k = tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix(x @ tf.transpose(x)), tf.linalg.LinearOperatorDiag(d)])
        return scalar(o.solve(x)) + o.log_abs_determinant() + tf.reduce_sum(k.to_dense())

    return e.frozen(run, d=e.values(3, low=1, high=2), u=e.values(3, 1), x=e.values(3, 2))


@case(LINEAR)
def library_toeplitz(e):
    def run(c, r, x):
        t = tf.linalg.LinearOperatorToeplitz(c, tf.concat([c[:1], r], 0))
        g = tf.linalg.LinearOperatorCirculant(tf.cast(c, tf.complex64))
        return scalar(t.matmul(x)) + scalar(tf.math.real(g.matmul(tf.cast(x, tf.complex64))))

    return e.frozen(run, c=e.values(4, low=1, high=2), r=e.values(3), x=e.values(4, 2))


# ----- images -----


@case(IMAGES)
def library_hue_saturation(e):
    def run(x):
        y = tf.stop_gradient(tf.image.adjust_saturation(tf.image.adjust_hue(x, 0.1), 1.2))
        return scalar(x * y), y

    return e.frozen(run, x=e.values(3, 3, 3, low=0.1, high=0.9))


@case(IMAGES)
def library_area(e):
    return e.frozen(lambda x: (scalar(x), tf.stop_gradient(tf.image.resize(x, [3, 4], method="area"))), x=e.values(4, 6, 2))


@case(IMAGES)
def library_lanczos(e):
    return e.frozen(lambda x: scalar(tf.image.resize(x, [5, 5], method="lanczos3", antialias=True)) + scalar(tf.image.resize(x, [3, 2], method="mitchellcubic")), x=e.values(4, 6, 2))


@case(IMAGES)
def library_projective(e):
    def run(x):
        t = tf.constant([[1.0, 0.1, 0.2, 0.0, 0.9, 0.3, 0.0, 0.0]])
        return scalar(raw.ImageProjectiveTransformV3(images=x, transforms=t, output_shape=[4, 4], fill_value=0.0, interpolation="BILINEAR", fill_mode="CONSTANT"))

    return e.frozen(run, x=e.values(1, 4, 4, 2))


@case(IMAGES)
def library_volume_patches(e):
    return e.frozen(lambda x: scalar(raw.ExtractVolumePatches(input=x, ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding="VALID")), x=e.values(1, 3, 4, 3, 2))


@case(IMAGES)
def library_morphology(e):
    def build(given):
        x, f = given("x", e.values(1, 4, 4, 2)), given("f", e.values(2, 2, 2, low=-0.2, high=0.2))
        y = tf.nn.dilation2d(x, f, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]) + tf.nn.erosion2d(x, f, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
        loss = scalar(y * y)
        return loss, *tf.gradients(loss, [x, f])

    return e.graph(old(build))


@case(IMAGES)
def library_boxes_combined(e):
    def run(boxes, scores):
        out = tf.image.combined_non_max_suppression(boxes[:, :, None], scores, 3, 4, iou_threshold=0.5)
        out = [tf.stop_gradient(part) for part in out]
        return scalar(tf.reduce_sum(boxes)), out[0], out[1], out[2]

    low = e.values(1, 5, 2, low=0, high=0.5)
    return e.frozen(run, boxes=np.concatenate([low, low + e.values(1, 5, 2, low=0.2, high=0.5)], -1), scores=e.values(1, 5, 2, low=0, high=1))


@case(IMAGES)
def library_fractional_pool(e):
    def run(x):
        y, rows, columns = tf.nn.fractional_max_pool(x, [1, 1.4, 1.4, 1], True, seed=3)
        return scalar(y)

    return e.frozen(run, x=e.values(1, 6, 6, 2))


@case(IMAGES)
def library_quantized(e):
    def run(x):
        y = tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0, range_given=True)
        z, low, high = tf.quantization.quantize(x, -1.0, 1.0, tf.quint8)
        return scalar(y) + scalar(tf.quantization.fake_quant_with_min_max_args(x, -1, 1, 4)), tf.stop_gradient(tf.quantization.dequantize(z, low, high))

    return e.frozen(run, x=e.values(3, 4))


@case(IMAGES)
def library_quantize_dequantize(e):
    def run(x, low, high):
        both = tf.quantization.quantize_and_dequantize_v2
        parts = [
            both(x, low, high, range_given=True),
            both(x, 0.0, 0.0),
            both(x, -0.6, 0.4, range_given=True, narrow_range=True, num_bits=4),
            both(x, 0.1, 0.7, range_given=True, signed_input=False, round_mode="HALF_UP"),
            raw.QuantizeAndDequantizeV3(input=x, input_min=-0.4, input_max=0.8, num_bits=6),
            raw.QuantizeAndDequantizeV3(input=x, input_min=[-0.5, -1.0, -0.2, 0.1], input_max=[0.5, 0.3, 1.0, 0.9], num_bits=8, axis=1),
            raw.QuantizeAndDequantizeV3(input=x, input_min=[0.0] * 3, input_max=[0.0] * 3, num_bits=5, axis=0, range_given=False),
            raw.QuantizeAndDequantizeV2(input=x, input_min=-0.4, input_max=0.8, num_bits=6, range_given=True),
        ]
        return tf.add_n([scalar(k * part) for k, part in enumerate(parts, 1)]), tf.stop_gradient(tf.stack(parts))

    return e.frozen(run, x=e.values(3, 4), low=np.float32(-0.7), high=np.float32(0.9))


@case(IMAGES)
def library_morphology_strided(e):
    def build(given):
        x, f = given("x", e.values(2, 7, 6, 2)), given("f", e.values(3, 2, 2, low=-0.2, high=0.2))
        parts = [
            tf.nn.dilation2d(x, f, [1, 2, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
            tf.nn.dilation2d(x, f, [1, 2, 3, 1], "SAME", "NHWC", [1, 1, 2, 1]),
            tf.nn.dilation2d(x, f, [1, 1, 1, 1], "VALID", "NHWC", [1, 2, 3, 1]),
        ]
        loss = tf.add_n([scalar(part * part) for part in parts])
        return loss, *tf.gradients(loss, [x, f])

    return e.graph(old(build))


@case(IMAGES)
def library_images_of_integers(e):
    """Images are read as bytes, and resized as floats."""

    def run(x):
        image = tf.cast(x * 255, tf.uint8)
        resize = tf.image.resize
        parts = [resize(image, [5, 3]), resize(image, [3, 4], method="bicubic"), resize(image, [7, 5], method="area")]
        parts += [resize(tf.cast(image, tf.int32), [8, 8]), resize(tf.cast(x, tf.float64), [3, 3])]
        return tf.add_n([scalar(part) for part in parts[:-1]]) + scalar(x), *[tf.stop_gradient(part) for part in parts]

    return e.frozen(run, x=e.values(2, 6, 4, 3, low=0.0, high=1.0))


@case(IMAGES)
def library_hue_turned(e):
    def run(x):
        parts = [tf.image.adjust_hue(x, d) for d in (-0.7, 0.4, 0.95)] + [tf.image.adjust_saturation(x, s) for s in (0.0, 0.4, 3.0)]
        return scalar(x), *[tf.stop_gradient(part) for part in parts]

    return e.frozen(run, x=e.values(2, 4, 3, 3, low=0.0, high=1.0))


@case(IMAGES)
def library_patches_of_volumes(e):
    def run(x):
        of = lambda **more: raw.ExtractVolumePatches(input=x, **more)
        return scalar(of(ksizes=[1, 2, 3, 1, 1], strides=[1, 2, 1, 2, 1], padding="SAME")) + scalar(of(ksizes=[1, 1, 2, 2, 1], strides=[1, 1, 3, 1, 1], padding="VALID"))

    return e.frozen(run, x=e.values(2, 4, 5, 3, 2))


@case(LINEAR)
def library_banded_solves(e):
    matrix = e.values(2, 3, 5, low=1.0, high=2.0)

    def run(b):
        m = tf.constant(matrix)
        solve = tf.linalg.banded_triangular_solve
        parts = [solve(m, b, lower=True), solve(m, b, lower=False), solve(m, b, lower=True, adjoint=True), solve(m, b, lower=False, adjoint=True)]
        return tf.add_n([scalar(k * part) for k, part in enumerate(parts, 1)])

    return e.frozen(run, b=e.values(2, 5, 2))


# ----- signals -----


@case(SIGNALS)
def library_mel(e):
    def run(x):
        s = tf.abs(tf.signal.stft(x, 8, 4, fft_length=8))
        mel = tf.signal.linear_to_mel_weight_matrix(4, 5, 8000, 100.0, 3500.0)
        return scalar(tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(s @ mel + 0.1)))

    return e.frozen(run, x=e.values(24))


@case(SIGNALS)
def library_inverse_stft(e):
    def run(x):
        s = tf.signal.stft(x, 8, 4, fft_length=8)
        return scalar(tf.signal.inverse_stft(s, 8, 4, 8, tf.signal.inverse_stft_window_fn(4)))

    return e.frozen(run, x=e.values(24))


@case(SIGNALS)
def library_windows(e):
    def run(x):
        w = tf.signal
        return scalar(x * (w.kaiser_window(8, 5.0) + w.hamming_window(8) + w.vorbis_window(8) + w.kaiser_bessel_derived_window(8)))

    return e.frozen(run, x=e.values(8))


@case(SIGNALS)
def library_volumes_fft(e):
    def run(x):
        y = tf.signal.fft3d(tf.cast(x, tf.complex64))
        return scalar(tf.abs(y) ** 2) + scalar(x * tf.stop_gradient(tf.signal.irfft3d(tf.signal.rfft3d(x))))

    return e.frozen(run, x=e.values(2, 4, 4))


@case(SIGNALS)
def library_mdct(e):
    return e.frozen(lambda x: scalar(tf.signal.inverse_mdct(tf.signal.mdct(x, 4))), x=e.values(16))


@case(SIGNALS)
def library_gcc(e):
    """Correlation by spectra, with the phase alone."""

    def run(x, y):
        a, b = tf.signal.rfft(x, [16]), tf.signal.rfft(y, [16])
        c = a * tf.math.conj(b)
        return scalar(tf.signal.irfft(c / tf.cast(tf.abs(c) + 1e-3, tf.complex64), [16])) + scalar(tf.math.angle(c[1:3]))

    return e.frozen(run, x=e.values(8), y=e.values(8))


# ----- random -----


@case(RANDOM)
def library_truncated_f64(e):
    def run(x):
        r = tf.random.stateless_truncated_normal([2, 3], [SEED, 2], dtype=tf.float64)
        return scalar(x * tf.cast(r, tf.float32)), r

    return e.frozen(run, x=e.values(2, 3))


@case(RANDOM)
def library_stateless_shuffle(e):
    return e.frozen(lambda x: scalar(x * tf.stop_gradient(tf.random.experimental.stateless_shuffle(x, [1, 2]))), x=e.values(6, 2))


@case(RANDOM)
def library_stateless_categorical(e):
    def run(x):
        return scalar(x), tf.random.stateless_categorical(x, 4, [SEED, 1])

    return e.frozen(run, x=e.values(2, 5))


@case(RANDOM)
def library_stateless_crop(e):
    return e.frozen(lambda x: scalar(tf.image.stateless_random_crop(x, [3, 3, 2], [1, 2])) + scalar(tf.image.stateless_random_flip_left_right(x, [1, 2])), x=e.values(4, 5, 2))
