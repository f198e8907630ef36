#!/usr/bin/env python3
"""Trains an LSTM in a `while_loop` of PaddlePaddle, by its own gradient and by that of pir-opt.

    examples/paddle-lstm/train.py [PICTURE.svg]

The network reads sequences of 3 to 8 numbers and has to tell the first one at the end. Run it with a Python that has PaddlePaddle 3.3.1
and `pip install ./tools/paddle`.
"""

import os
import pathlib
import sys

os.environ.setdefault("GLOG_minloglevel", "2")

import numpy as np
import paddle
import pir_opt

WIDTH, BATCH, STEPS = 16, 32, 400


def network():
    """The loss, the same numbers at the beginning each time."""
    paddle.seed(3)
    x = paddle.static.data("x", [-1, BATCH, 1])
    n = paddle.static.data("n", [1], "int64")
    cell, last = paddle.nn.LSTMCell(1, WIDTH), paddle.nn.Linear(WIDTH, 1)
    i = paddle.full([1], 0, "int64")
    h, c = (paddle.full([BATCH, WIDTH], 0.0) for _ in range(2))
    h.stop_gradient = c.stop_gradient = False

    def step(i, h, c):
        h, (_, c) = cell(paddle.gather(x, i).squeeze(0), (h, c))
        return [i + 1, h, c]

    i, h, c = paddle.static.nn.while_loop(lambda i, h, c: i < n, step, [i, h, c])
    return ((last(h) - x[0]) ** 2).mean()


def batch(step):
    random = np.random.default_rng(step)
    n = random.integers(3, 9)
    return {"x": random.uniform(-1, 1, (n, BATCH, 1)).astype("float32"), "n": np.array([n])}


def train(ours):
    program, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        loss = network()
        optimizer = paddle.optimizer.Adam(learning_rate=0.02)
        if ours:
            trained = pir_opt.minimize(loss, optimizer)
            program, loss = trained.program, trained.loss
        else:
            optimizer.minimize(loss)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    return [float(executor.run(program, feed=batch(step), fetch_list=[loss])[0]) for step in range(STEPS)]


def smooth(losses, at):
    return float(np.mean(losses[max(0, at - 19) : at + 1]))


def picture(curves):
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="300" font-family="Helvetica,Arial,sans-serif" font-size="12">',
        '<rect width="640" height="300" fill="white"/><text x="250" y="292">steps, 0 to 400</text>',
        '<text x="62" y="14">loss</text>',
    ]
    for exponent in range(-4, 1):
        y = 20 - 60 * exponent
        lines.append(f'<line x1="60" y1="{y}" x2="620" y2="{y}" stroke="#ddd"/><text x="20" y="{y + 4}">10^{exponent}</text>')
    for at, (colour, label, losses) in enumerate(curves):
        points = " ".join(
            f"{60 + 1.4 * step:.1f},{20 - 60 * np.log10(smooth(losses, step)):.1f}" for step in range(0, STEPS, 4)
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="90" y="{210 + 18 * at}" fill="{colour}">{label}</text>')
    return "\n".join([*lines, "</svg>\n"])


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "lstm.svg")
    paddle.enable_static()
    ours, theirs = train(True), train(False)
    print("step    pir-opt  PaddlePaddle 3.3.1")
    for step in (19, 99, 199, 299, 399):
        print(f"{step + 1:4}   {smooth(ours, step):.6f}  {smooth(theirs, step):.6f}")
    curves = [("#c0392b", "gradient of pir-opt", ours), ("#555588", "gradient of PaddlePaddle 3.3.1", theirs)]
    target.write_text(picture(curves))
    print(f"{target} has the curves")


if __name__ == "__main__":
    main()
