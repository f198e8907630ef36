"""Functions of TensorFlow 2: frozen and lowered, frozen with their loops as functions, and as they were traced."""

import numpy as np
import tensorflow as tf

from case import case, scalar

LOWERED, FROZEN, TRACED = "tf.function frozen and lowered", "tf.function frozen", "tf.function as traced"


def power(x):
    y = tf.ones([3])
    for _ in tf.range(4):
        y = y * x
    return scalar(y), y


def newton(x):
    y = x
    while tf.reduce_max(tf.abs(y * y - x)) > 1e-3:
        y = 0.5 * (y + x / y)
    return scalar(y), y


def chosen(x, y):
    if tf.reduce_sum(x) < tf.reduce_sum(y):
        z = x * y
    else:
        z = tf.sin(x) + y
    return scalar(z), z


def nested(x):
    y = x
    for i in tf.range(3):
        for j in tf.range(i + 1):
            if j > 0:
                y = tf.tanh(y * x)
            else:
                y = y + x
    return scalar(y), y


def rnn(x, w, u):
    h = tf.zeros([2, 4])
    for t in tf.range(5):
        h = tf.tanh(tf.matmul(x[t], w) + tf.matmul(h, u))
    return scalar(h), h


def gathered(x, w):
    """The states of a recurrence in an array."""
    states = tf.TensorArray(tf.float32, size=4, element_shape=[2, 3])
    h = tf.zeros([2, 3])
    for t in tf.range(4):
        h = tf.tanh(tf.matmul(h, w) + x[t])
        states = states.write(t, h)
    y = states.stack()
    return scalar(y), y


def both(x):
    """A value that a branch changes in place of another."""
    total = tf.constant(0.0)
    for i in tf.range(4):
        v = tf.gather(x, i)
        if v > 0.0:
            total += v * v
        elif v > -0.5:
            total += tf.sin(v)
        else:
            total -= v
    return total


def broken(x):
    """A loop that ends by `break` and skips by `continue`."""
    y = tf.constant(1.0)
    for i in tf.range(6):
        v = tf.gather(x, i)
        if v < -0.5:
            continue
        if y > 2.0:
            break
        y = y * (1.0 + v)
    return y


def returned(x):
    if x[0] > 0.0:
        return scalar(x * 2.0)
    return scalar(tf.exp(x))


def switched(x, k):
    y = tf.switch_case(k, [lambda: x * 2.0, lambda: tf.exp(x), lambda: tf.sin(x)])
    return scalar(y), y


@tf.function
def inner(x, y):
    return x * tf.sin(y)


@tf.function
def outer(x):
    return inner(x, x) + inner(tf.exp(x), x)


def called(x):
    y = outer(x) + inner(x, tf.constant([1.0, 2.0, 3.0]))
    return scalar(y), y


def mapped(x):
    y = tf.map_fn(lambda row: tf.sin(row) * tf.reduce_sum(row), x)
    return scalar(y), y


def scanned(x):
    y = tf.scan(lambda a, row: tf.tanh(a) * row + 1.0, x)
    return scalar(y), y


def folded(x):
    y = tf.foldl(lambda a, row: tf.tanh(a) + row, x)
    return scalar(y), y


def stepped(x, w):
    """A step of gradient descent, with the gradient of a loop in it."""
    with tf.GradientTape() as tape:
        tape.watch(w)
        h = x
        for _ in tf.range(3):
            h = tf.tanh(tf.matmul(h, w))
        loss = tf.reduce_mean(tf.square(h))
    return loss, w - 0.1 * tape.gradient(loss, w)


def beam(x, start):
    """A greedy search: `argmax` in a loop that ends on a value."""
    state, score = start, tf.constant(0.0)
    i = tf.constant(0)
    while i < 5 and state != 3:
        row = tf.gather(x, state)
        state = tf.argmax(row, output_type=tf.int32)
        score += tf.reduce_max(row)
        i += 1
    return score, state


FUNCTIONS = {
    "power": (power, lambda e: {"x": e.values(3)}),
    "newton": (newton, lambda e: {"x": e.values(3, low=1, high=3)}),
    "chosen": (chosen, lambda e: {"x": e.values(3), "y": e.values(3)}),
    "nested": (nested, lambda e: {"x": e.values(3)}),
    "rnn": (rnn, lambda e: {"x": e.values(5, 2, 3), "w": e.values(3, 4), "u": e.values(4, 4)}),
    "gathered": (gathered, lambda e: {"x": e.values(4, 2, 3), "w": e.values(3, 3)}),
    "both": (both, lambda e: {"x": np.array([0.5, -0.3, -0.9, 0.2], np.float32)}),
    "broken": (broken, lambda e: {"x": np.array([0.5, -0.7, 0.3, 0.4, 0.9, 0.1], np.float32)}),
    "returned": (returned, lambda e: {"x": e.values(3)}),
    "switched": (switched, lambda e: {"x": e.values(3), "k": np.int32(2)}),
    "called": (called, lambda e: {"x": e.values(3)}),
    "mapped": (mapped, lambda e: {"x": e.values(4, 3)}),
    "scanned": (scanned, lambda e: {"x": e.values(4, 3)}),
    "folded": (folded, lambda e: {"x": e.values(4, 3)}),
    "stepped": (stepped, lambda e: {"x": e.values(2, 3), "w": e.values(3, 3)}),
    "beam": (beam, lambda e: {"x": e.values(4, 4), "start": np.int32(0)}),
}


def declare(prefix, group, names, export):
    for name in names:
        function, feed = FUNCTIONS[name]

        def make(e, function=function, feed=feed):
            return export(e, function, feed(e))

        make.__name__ = f"{prefix}_{name}"
        case(group)(make)


declare("lowered", LOWERED, FUNCTIONS, lambda e, f, feed: e.frozen(f, **feed))
declare("frozen", FROZEN, ("power", "chosen", "nested", "gathered", "switched", "called", "rnn"), lambda e, f, feed: e.frozen(f, lowered=False, **feed))
declare("traced", TRACED, ("newton", "both", "broken", "called", "mapped", "scanned", "stepped"), lambda e, f, feed: e.kept(f, **feed))


@case(FROZEN)
def frozen_text(e):
    return e.frozen(nested, lowered=False, text=True, x=e.values(3))
