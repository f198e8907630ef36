"""The functions of `programs.py` of JAX, compiled by XLA."""
import os

THREADS = int(os.environ["PEER_THREADS"])
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["NPROC"] = str(THREADS)
if THREADS == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax, nn  # noqa: E402

NAME = f"JAX {jax.__version__}"

FUNCTIONS = dict(
    tanh=jnp.tanh, sin=jnp.sin, exp=jnp.exp, sqrt=jnp.sqrt, sum=jnp.sum, max=jnp.max, sigmoid=nn.sigmoid, relu=nn.relu,
    relu6=nn.relu6, hardswish=nn.hard_swish, hardsigmoid=nn.hard_sigmoid, reshape=jnp.reshape, transpose=jnp.transpose,
    softmax=nn.softmax)


class Ops:
    def __init__(self, gradient):
        self.gradient = gradient

    def split(self, x, parts):
        return jnp.split(x, parts, 1)

    def gelu(self, x):
        return nn.gelu(x, approximate=False)

    def loop(self, n, state, step, error=None):
        if self.gradient:
            # Loops of unknown length have no gradient in JAX: theirs are counted.
            return lax.scan(lambda state, i: (tuple(step(i, *state)), None), tuple(state), jnp.arange(n))[0]

        def go(carried):
            few = carried[0] < n
            return few & (error(carried[1]) > -1) if error else few
        return lax.while_loop(go, lambda carried: (carried[0] + 1, *step(*carried)), (0, *state))[1:]

    def if_even(self, i, like, then, otherwise):
        return lax.cond(i % 2 == 0, then, otherwise, like)

    def row(self, x, i, shape):
        return x[i]

    def layer_norm(self, x, scale, bias):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias

    def conv(self, x, w, stride, groups):
        pad = w.shape[2] // 2
        return lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2, feature_group_count=groups)

    def batch_norm(self, x, scale, bias):
        mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        return (x - mean) * (lax.rsqrt(variance + 1e-5) * scale[:, None, None]) + bias[:, None, None]

    def max_pool(self, x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)])

    def image_mean(self, x):
        return x.mean((2, 3))

    def weigh_channels(self, x, weight, channels):
        return x * weight[:, :, None, None]


for name, function in FUNCTIONS.items():
    setattr(Ops, name, staticmethod(function))


def prepare(function, arrays, n, gradient):
    """What runs the program once and gives its loss."""
    inputs = {name: jnp.asarray(array) for name, array in arrays.items()}

    def loss(inputs):
        out = function(Ops(gradient), inputs, n)
        return jnp.sum(out * out)
    if not gradient:
        return lambda call=jax.jit(loss): float(call(inputs))

    def both(call=jax.jit(jax.value_and_grad(loss))):
        value, gradients = call(inputs)
        jax.block_until_ready(gradients)
        return float(value)
    return both
