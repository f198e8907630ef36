"""The functions of `programs.py` of TensorFlow, as a graph. Its convolutions have channels last on processors."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(int(os.environ["PEER_THREADS"]))
tf.config.threading.set_inter_op_parallelism_threads(1)

NAME = f"TensorFlow {tf.__version__}"

FUNCTIONS = dict(
    tanh=tf.tanh, sin=tf.sin, exp=tf.exp, sqrt=tf.sqrt, sigmoid=tf.sigmoid, sum=tf.reduce_sum, max=tf.reduce_max,
    relu=tf.nn.relu, relu6=tf.nn.relu6, softmax=tf.nn.softmax, reshape=tf.reshape, transpose=tf.transpose)


class Ops:
    def split(self, x, parts):
        return tf.split(x, parts, 1)

    def gelu(self, x):
        return tf.nn.gelu(x, approximate=False)

    def hardsigmoid(self, x):
        return tf.nn.relu6(x + 3.0) * (1 / 6)

    def hardswish(self, x):
        return x * self.hardsigmoid(x)

    def loop(self, n, state, step, error=None):
        def go(i, *state):
            return tf.logical_and(error(state[0]) > -1, i < n) if error else i < n
        return tf.while_loop(go, lambda i, *state: (i + 1, *step(i, *state)), (tf.constant(0), *state))[1:]

    def if_even(self, i, like, then, otherwise):
        return tf.cond(i % 2 == 0, lambda: then(like), lambda: otherwise(like))

    def row(self, x, i, shape):
        return tf.ensure_shape(x[i], shape)

    def layer_norm(self, x, scale, bias):
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, bias, scale, 1e-5)

    def conv(self, x, w, stride, groups):
        # At the border as in the other libraries; the default would put less in front.
        pad = [[0, 0], [w.shape[0] // 2] * 2, [w.shape[0] // 2] * 2, [0, 0]]
        if groups == 1:
            return tf.nn.conv2d(x, w, stride, pad)
        if stride == 1:
            return tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
        return tf.nn.depthwise_conv2d(tf.pad(x, pad), w, [1, stride, stride, 1], "VALID")

    def batch_norm(self, x, scale, bias):
        return tf.compat.v1.nn.fused_batch_norm(x, scale, bias, epsilon=1e-5)[0]

    def max_pool(self, x):
        return tf.nn.max_pool2d(x, 3, 2, [[0, 0], [1, 1], [1, 1], [0, 0]])

    def image_mean(self, x):
        return tf.reduce_mean(x, (1, 2))

    def weigh_channels(self, x, weight, channels):
        return x * weight[:, None, None, :]


def channels_last(name, array):
    if name.endswith(".depthwise.filter"):
        return array.transpose(2, 3, 0, 1)
    if name.endswith(".filter"):
        return array.transpose(2, 3, 1, 0)
    return array.transpose(0, 2, 3, 1) if name.endswith(".image") else array


for name, function in FUNCTIONS.items():
    setattr(Ops, name, staticmethod(function))


def prepare(function, arrays, n, gradient):
    """What runs the program once and gives its loss."""
    inputs = {name: tf.constant(channels_last(name, array)) for name, array in arrays.items()}

    def loss(inputs, n):
        out = function(Ops(), inputs, n)
        return tf.reduce_sum(out * out)

    @tf.function
    def forward(inputs, n):
        return loss(inputs, n)

    @tf.function
    def both(inputs, n):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            value = loss(inputs, n)
        return value, tape.gradient(value, inputs)
    n = tf.constant(n)
    return (lambda: float(both(inputs, n)[0])) if gradient else lambda: float(forward(inputs, n))
