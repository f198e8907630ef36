"""The functions of `programs.py` of PyTorch, operation by operation."""
import os

import torch
import torch.nn.functional as F

torch.set_num_threads(int(os.environ["PEER_THREADS"]))
torch.set_num_interop_threads(1)

NAME = f"torch {torch.__version__}"

FUNCTIONS = dict(
    tanh=torch.tanh, sin=torch.sin, exp=torch.exp, sqrt=torch.sqrt, sum=torch.sum, max=torch.max, sigmoid=torch.sigmoid,
    relu=F.relu, relu6=F.relu6, hardswish=F.hardswish, hardsigmoid=F.hardsigmoid, gelu=F.gelu, reshape=torch.reshape,
    transpose=torch.permute)


class Ops:
    def split(self, x, parts):
        return torch.chunk(x, parts, 1)

    def loop(self, n, state, step, error=None):
        for i in range(n):
            if error:
                with torch.no_grad():
                    if error(state[0]).item() <= -1:
                        break
            state = step(i, *state)
        return state

    def if_even(self, i, like, then, otherwise):
        return (otherwise if i % 2 else then)(like)

    def row(self, x, i, shape):
        return x[i]

    def softmax(self, x):
        return torch.softmax(x, -1)

    def layer_norm(self, x, scale, bias):
        return F.layer_norm(x, scale.shape, scale, bias)

    def conv(self, x, w, stride, groups):
        return F.conv2d(x, w, None, stride, w.shape[2] // 2, 1, groups)

    def batch_norm(self, x, scale, bias):
        return F.batch_norm(x, None, None, scale, bias, True)

    def max_pool(self, x):
        return F.max_pool2d(x, 3, 2, 1)

    def image_mean(self, x):
        return x.mean((2, 3))

    def weigh_channels(self, x, weight, channels):
        return x * weight[:, :, None, None]


for name, function in FUNCTIONS.items():
    setattr(Ops, name, staticmethod(function))


def prepare(function, arrays, n, gradient):
    """What runs the program once and gives its loss."""
    inputs = {name: torch.from_numpy(array).requires_grad_(gradient) for name, array in arrays.items()}

    def run():
        out = function(Ops(), inputs, n)
        loss = (out * out).sum()
        if gradient:
            torch.autograd.grad(loss, list(inputs.values()))
        return loss.item()
    return run
