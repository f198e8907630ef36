"""The functions of `programs.py` of PaddlePaddle, operation by operation."""
import os

os.environ.setdefault("GLOG_minloglevel", "3")

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

NAME = f"PaddlePaddle {paddle.__version__}"

FUNCTIONS = dict(
    tanh=paddle.tanh, sin=paddle.sin, exp=paddle.exp, sqrt=paddle.sqrt, sum=paddle.sum, max=paddle.max,
    sigmoid=F.sigmoid, relu=F.relu, relu6=F.relu6, hardswish=F.hardswish, hardsigmoid=F.hardsigmoid, gelu=F.gelu,
    reshape=paddle.reshape, transpose=paddle.transpose, softmax=F.softmax)


class Ops:
    def split(self, x, parts):
        return paddle.split(x, parts, 1)

    def loop(self, n, state, step, error=None):
        for i in range(n):
            if error:
                with paddle.no_grad():
                    if error(state[0]).item() <= -1:
                        break
            state = step(i, *state)
        return state

    def if_even(self, i, like, then, otherwise):
        return (otherwise if i % 2 else then)(like)

    def row(self, x, i, shape):
        return x[i]

    def layer_norm(self, x, scale, bias):
        return F.layer_norm(x, scale.shape, scale, bias)

    def conv(self, x, w, stride, groups):
        return F.conv2d(x, w, None, stride, w.shape[2] // 2, 1, groups)

    def batch_norm(self, x, scale, bias):
        mean, variance = paddle.zeros(scale.shape), paddle.ones(scale.shape)
        return F.batch_norm(x, mean, variance, scale, bias, True)

    def max_pool(self, x):
        return F.max_pool2d(x, 3, 2, 1)

    def image_mean(self, x):
        return x.mean((2, 3))

    def weigh_channels(self, x, weight, channels):
        return x * weight.reshape((1, channels, 1, 1))


for name, function in FUNCTIONS.items():
    setattr(Ops, name, staticmethod(function))


def prepare(function, arrays, n, gradient):
    """What runs the program once and gives its loss."""
    inputs = {name: paddle.to_tensor(array, stop_gradient=not gradient) for name, array in arrays.items()}

    def run():
        out = function(Ops(), inputs, n)
        loss = (out * out).sum()
        if gradient:
            paddle.grad(loss, list(inputs.values()))
        return float(loss)
    return run
