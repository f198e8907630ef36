"""An LSTM loop: PaddlePaddle's own gradient, and that of pir-opt."""
import numpy as np
import paddle
import pir_opt

paddle.enable_static()
paddle.seed(1)
program, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(program, startup):
    x = paddle.static.data("x", [5, 2, 3])
    x.stop_gradient = False
    cell = paddle.nn.LSTMCell(3, 4)
    i, steps = paddle.full([1], 0, "int64"), paddle.full([1], 5, "int64")
    h, c = (paddle.full([2, 4], 0.0) for _ in range(2))
    h.stop_gradient = c.stop_gradient = False

    def step(i, h, c):
        h, (_, c) = cell(paddle.gather(x, i).squeeze(0), (h, c))
        return [i + 1, h, c]

    i, h, c = paddle.static.nn.while_loop(lambda i, h, c: i < steps, step, [i, h, c])
    loss = (h * h).mean()

right = pir_opt.backward(program, loss, [x, cell.weight_hh])
with paddle.static.program_guard(program, startup):
    theirs = paddle.static.gradients([loss], [x])

executor = paddle.static.Executor(paddle.CPUPlace())
executor.run(startup)
feed = {"x": np.random.default_rng(0).standard_normal((5, 2, 3), "float32")}
(grad,) = executor.run(program, feed=feed, fetch_list=theirs)
value, ours, weight = executor.run(right.program, feed=feed, fetch_list=[right.loss, *right.grads])


def difference(at, step=1e-2):
    """The derivative with respect to one element, as a difference quotient."""
    losses = []
    for sign in (1, -1):
        moved = feed["x"].copy()
        moved[at] += sign * step
        losses.append(executor.run(right.program, feed={"x": moved}, fetch_list=[right.loss])[0])
    return (losses[0] - losses[1]) / (2 * step)


at = (4, 0, 1)
print(f"loss                {value:.6f}")
print(f"difference quotient {difference(at):.6f}")
print(f"pir-opt             {ours[at]:.6f}")
print(f"PaddlePaddle        {grad[at]:.6f}")
