"""Graphs of one operation or a few: those that users name, with attributes and operands as programs have them."""

import numpy as np
import tensorflow as tf

from case import case, scalar

SPECIAL, BITS, BOXES, SEGMENTS, LINEAR, SEQUENCES, SPARSE = (
    f"operations, {group}" for group in ("special functions", "bits", "boxes", "segments", "linear algebra", "sequences", "sparse")
)
raw = tf.raw_ops


# ----- special functions -----


@case(SPECIAL)
def operation_igammac(e):
    return e.frozen(lambda x: scalar(tf.math.igammac(tf.constant([0.5, 1.0, 2.5, 6.0, 0.9]), x)), x=e.values(5, low=0.3, high=4))


@case(SPECIAL)
def operation_bessel_modified_first(e):
    s = tf.math.special
    return e.frozen(lambda x: scalar(s.bessel_i0(x) + s.bessel_i1(x) + s.bessel_i0e(x) + s.bessel_i1e(x)), x=e.values(6, low=0.3, high=5))


@case(SPECIAL)
def operation_gamma_family(e):
    return e.frozen(lambda x: scalar(tf.math.lgamma(x) + tf.math.digamma(x) + tf.math.polygamma(2.0, x) + tf.math.lbeta(tf.stack([x, x + 1], -1))), x=e.values(4, low=0.5, high=3))


@case(SPECIAL)
def operation_erf_family(e):
    return e.frozen(lambda x: scalar(tf.math.erfinv(x) + tf.math.erfcinv(x + 1) + tf.math.ndtri((x + 1) / 2) + tf.math.erfc(x)), x=e.values(5, low=-0.8, high=0.8))


# ----- bits -----


@case(BITS)
def operation_shifts(e):
    b = tf.bitwise
    a, n = np.array([1, 7, -9, 100, 2**30], np.int32), np.array([0, 3, 2, 5, 31], np.int32)
    return e.frozen(lambda a, n, x: (scalar(x), b.left_shift(a, n), b.right_shift(a, n), b.invert(a), b.bitwise_xor(a, n)), a=a, n=n, x=e.values(3))


@case(BITS)
def operation_shifts_unsigned(e):
    b = tf.bitwise
    a, n = np.array([1, 7, 200, 100, 255], np.uint8), np.array([0, 3, 2, 5, 7], np.uint8)
    return e.frozen(lambda a, n, x: (scalar(x), b.left_shift(a, n), b.right_shift(a, n)), a=a, n=n, x=e.values(3))


@case(BITS)
def operation_bitcast(e):
    return e.frozen(lambda x, n: (scalar(x) + scalar(tf.bitcast(n, tf.float32)), tf.bitcast(x, tf.int32)), x=e.values(4), n=e.values(3).view(np.int32))


@case(BITS)
def operation_bitcast_width(e):
    return e.frozen(lambda x: (scalar(x), tf.bitcast(x, tf.uint8), tf.bitcast(tf.bitcast(x, tf.uint8), tf.int32)), x=e.values(4))


@case(BITS)
def operation_population_count(e):
    return e.frozen(lambda x, n: (scalar(x), raw.PopulationCount(x=n)), x=e.values(4), n=np.array([0, 1, -1, 255, 12345], np.int32))


# ----- boxes and choices -----


def boxes(e, count):
    low = e.values(count, 2, low=0, high=1)
    return np.concatenate([low, low + e.values(count, 2, low=0.2, high=0.8)], 1)


@case(BOXES)
def operation_nms(e):
    def run(b, s):
        at = tf.image.non_max_suppression(b, s, 4, iou_threshold=0.4)
        return scalar(s) + tf.reduce_sum(tf.gather(s, at)), at

    return e.frozen(run, b=boxes(e, 8), s=e.values(8, low=0, high=1))


@case(BOXES)
def operation_nms_threshold(e):
    def run(b, s):
        at = tf.image.non_max_suppression(b, s, 5, iou_threshold=0.3, score_threshold=0.4)
        return tf.reduce_sum(tf.gather(b, at)) + scalar(s), tf.gather(s, at)

    return e.frozen(run, b=boxes(e, 8), s=e.values(8, low=0, high=1))


@case(BOXES)
def operation_nms_ties(e):
    """Boxes of one score, of no area, and that overlap as much as the threshold says."""
    given, scores = np.round(e.values(30, 4, low=0, high=4)), np.round(e.values(30, low=0, high=3))

    def run(b, s):
        suppress = tf.image.non_max_suppression
        some = [suppress(b, s, n, iou_threshold=t, score_threshold=least) for n, t, least in ((30, 0.0, -1.0), (30, 0.5, 0.0), (3, 0.2, 1.0), (3, 0.5, 9.0))]
        return tf.reduce_sum(b) * 0.5, *some

    return e.frozen(run, b=given, s=scores)


@case(BOXES)
def operation_nms_v5(e):
    def run(b, s):
        at, score, count = raw.NonMaxSuppressionV5(boxes=tf.stop_gradient(b), scores=tf.stop_gradient(s), max_output_size=tf.constant(5), iou_threshold=tf.constant(0.5), score_threshold=tf.constant(0.1), soft_nms_sigma=tf.constant(0.0), pad_to_max_output_size=True)
        return scalar(s), at, tf.cast(score * 1000, tf.int32), count

    return e.frozen(run, b=boxes(e, 8), s=e.values(8, low=0, high=1))


@case(BOXES)
def operation_nms_v4(e):
    def run(b, s):
        at, count = raw.NonMaxSuppressionV4(boxes=b, scores=s, max_output_size=tf.constant(6), iou_threshold=tf.constant(0.5), score_threshold=tf.constant(0.1), pad_to_max_output_size=True)
        return scalar(s), at, count

    return e.frozen(run, b=boxes(e, 8), s=e.values(8, low=0, high=1))


@case(BOXES)
def operation_crop_and_resize(e):
    def run(x, b):
        return scalar(tf.image.crop_and_resize(x, b, tf.constant([0, 1]), [3, 3]))

    return e.frozen(run, x=e.values(2, 5, 5, 2), b=np.array([[0.1, 0.2, 0.8, 0.9], [0.05, 0.1, 0.7, 0.6]], np.float32))


# ----- segments -----


@case(SEGMENTS)
def operation_segment_mean_computed(e):
    def run(x, n):
        ids = tf.cumsum(n)
        return scalar(tf.math.unsorted_segment_mean(x, ids, 4)) + tf.reduce_sum(raw.SegmentMean(data=x, segment_ids=tf.constant([0, 0, 1, 2, 2])))

    return e.frozen(run, x=e.values(5, 2), n=np.array([0, 1, 0, 1, 1], np.int32))


@case(SEGMENTS)
def operation_segment_given(e):
    def run(x, n):
        made = [tf.math.segment_mean(x, n), tf.math.segment_sum(x, n), tf.math.segment_max(x, n)]
        return tf.add_n([tf.reduce_sum(m[:, 0] * 2 + m[:, 1]) for m in made]), tf.math.segment_mean(x, n)

    return e.frozen(run, x=e.values(5, 2), n=np.array([0, 0, 1, 2, 2], np.int32))


@case(SEGMENTS)
def operation_segment_lists(e):
    return e.frozen(lambda x, n: (tf.reduce_sum(tf.math.segment_mean(x, n) ** 2), tf.math.segment_max(x, n)), x=e.values(6), n=np.array([1, 1, 2, 2, 2, 5], np.int64))


@case(SEGMENTS)
def operation_segment_sqrt(e):
    def run(x, n):
        return scalar(tf.math.unsorted_segment_sqrt_n(x, n, 3)), tf.math.unsorted_segment_prod(x, n, 3)

    return e.frozen(run, x=e.values(5, 2), n=np.array([0, 2, 1, 2, 0], np.int32))


@case(SEGMENTS)
def operation_sparse_segment(e):
    def run(x):
        at, ids = tf.constant([0, 3, 1, 2]), tf.constant([0, 0, 1, 2])
        made = [f(x, at, ids) for f in (tf.sparse.segment_sum, tf.sparse.segment_mean, tf.sparse.segment_sqrt_n)]
        return tf.add_n([tf.reduce_sum(m[:, 0] * 2 + m[:, 1]) for m in made])

    return e.frozen(run, x=e.values(5, 2))


@case(SEGMENTS)
def operation_ragged_to_dense(e):
    def run(x):
        ragged = tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 5])
        return tf.reduce_sum(ragged.to_tensor(default_value=-1.0) ** 2), ragged.to_tensor()

    return e.frozen(run, x=e.values(5))


@case(SEGMENTS)
def operation_ragged_lengths(e):
    def run(x):
        ragged = tf.RaggedTensor.from_row_lengths(x, [1, 3, 1])
        return scalar(ragged.to_tensor(shape=[3, 4, 2])), ragged.to_tensor(shape=[3, 2, 2])

    return e.frozen(run, x=e.values(5, 2))


@case(SEGMENTS)
def operation_ragged_ids(e):
    def run(x):
        ragged = tf.RaggedTensor.from_value_rowids(x, [0, 0, 2], nrows=4)
        return scalar(ragged.to_tensor(shape=[4, 2]))

    return e.frozen(run, x=e.values(3))


# ----- linear algebra -----


@case(LINEAR)
def operation_qr(e):
    def run(x):
        q, r = tf.linalg.qr(x)
        return scalar(q) + scalar(r)

    return e.frozen(run, x=e.values(4, 3))


@case(LINEAR)
def operation_least_squares(e):
    return e.frozen(lambda x, y: scalar(tf.linalg.lstsq(x, y, l2_regularizer=0.1)), x=e.values(4, 3), y=e.values(4, 2))


@case(LINEAR)
def operation_exponential(e):
    return e.frozen(lambda x: scalar(tf.linalg.expm(x)), x=e.values(3, 3))


@case(LINEAR)
def operation_tridiagonal(e):
    return e.frozen(lambda d, y: scalar(tf.linalg.tridiagonal_solve(d, y, diagonals_format="compact", partial_pivoting=False)), d=e.values(3, 4) + np.array([[0], [3], [0]], np.float32), y=e.values(4, 2))


@case(LINEAR)
def operation_singular_values(e):
    return e.frozen(lambda x: scalar(tf.linalg.svd(x, compute_uv=False)) + tf.linalg.norm(x, 2), x=e.values(4, 3))


# ----- sequences and random numbers -----


@case(SEQUENCES)
def operation_ctc_loss(e):
    labels = np.array([[1, 2, 2, 0], [3, 1, 0, 0]], np.int32)

    # Traced once: TensorFlow gives two functions of it one name.
    @tf.function
    def losses(x):
        return tf.nn.ctc_loss(tf.constant(labels), x, label_length=tf.constant([3, 2]), logit_length=tf.constant([6, 5]), blank_index=0)

    def run(x):
        loss = losses(x)
        return tf.reduce_sum(loss), loss

    return e.frozen(run, x=e.values(6, 2, 5))


@case(SEQUENCES)
def operation_ctc_loss_sparse(e):
    def run(x):
        labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2])
        loss = tf.compat.v1.nn.ctc_loss(labels, x, tf.constant([6, 5]))
        return tf.reduce_sum(loss * [1.0, 2.0]), loss

    return e.frozen(run, x=e.values(6, 2, 5))


@case(SEQUENCES)
def operation_truncated_normal(e):
    def run(x):
        return scalar(x * tf.random.stateless_truncated_normal([3, 2], seed=[3, 4])), tf.random.stateless_truncated_normal([40], seed=[1, 2], mean=1.0, stddev=0.5)

    return e.frozen(run, x=e.values(3, 2))


@case(SEQUENCES)
def operation_truncated_normal_v1(e):
    def build(given):
        x = given("x", e.values(3, 2))
        return scalar(x * tf.random.truncated_normal([3, 2], seed=5)), tf.compat.v1.truncated_normal([8], seed=2)

    return e.graph(build)


# ----- sparse tensors -----


@case(SPARSE)
def operation_sparse_product(e):
    def run(v, y):
        a = tf.SparseTensor([[0, 1], [1, 0], [2, 3]], v, [3, 4])
        return scalar(tf.sparse.sparse_dense_matmul(a, y))

    return e.frozen(run, v=e.values(3), y=e.values(4, 2))


@case(SPARSE)
def operation_sparse_to_dense(e):
    def run(v):
        a = tf.SparseTensor([[0, 1], [1, 0], [2, 3]], v, [3, 4])
        return scalar(tf.sparse.to_dense(a, default_value=0.5)) + tf.sparse.reduce_sum(a)

    return e.frozen(run, v=e.values(3))


@case(SPARSE)
def operation_sparse_embedding(e):
    def run(table):
        ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 2], tf.int64), [2, 2])
        return tf.reduce_sum(tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean") ** 2)

    return e.frozen(run, table=e.values(5, 3))


@case(SPARSE)
def operation_sparse_addition(e):
    def run(v, w):
        a = tf.SparseTensor([[0, 1], [1, 0]], v, [2, 3])
        return scalar(tf.sparse.add(a, w))

    return e.frozen(run, v=e.values(2), w=e.values(2, 3))
