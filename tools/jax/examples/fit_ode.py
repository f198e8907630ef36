#!/usr/bin/env python3
"""Fits the parameters of a differential equation by the gradient of an adaptive solver.

How many steps the solver takes depends on the parameters, so its loop is a `lax.while_loop`, of which JAX has no reverse mode.
Prints the loss against the steps of the optimizer, and writes fit_ode.svg with the data and the fits.
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
from jax import lax
from pir_opt.jax import differentiable

A = jnp.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 3 / 4, 0, 0], [2 / 9, 1 / 3, 4 / 9, 0]])
B, ERROR = jnp.array([2 / 9, 1 / 3, 4 / 9, 0]), jnp.array([-5 / 72, 1 / 12, 1 / 9, -1 / 8])


def slope(y, parameters):
    """Lotka and Volterra's hares and lynxes."""
    birth, caught, death, fed = parameters
    hares, lynxes = y
    return jnp.stack([hares * (birth - caught * lynxes), lynxes * (fed * hares - death)])


@differentiable
def integrate(y, parameters, start, end):
    """Bogacki and Shampine's method, with a tolerance of 1e-4. Returns the state at the end, and the number of steps."""

    def step(state):
        t, h, y, n = state
        h = jnp.minimum(h, end - t)
        k = jnp.zeros((4, 2))
        for stage in range(4):
            k = k.at[stage].set(slope(y + h * A[stage] @ k, parameters))
        error = jnp.max(jnp.abs(h * ERROR @ k)) / 1e-4
        factor = lax.stop_gradient(jnp.clip(0.9 * (error + 1e-6) ** (-1 / 3), 0.2, 5.0))
        fits = error <= 1.0
        return jnp.where(fits, t + h, t), h * factor, jnp.where(fits, y + h * B @ k, y), n + 1

    final = lax.while_loop(lambda s: s[0] < end - 1e-5, step, (start, jnp.float32(0.1), y, 0))
    return final[2], final[3]


TIMES = jnp.linspace(0.0, 10.0, 21)
START = jnp.array([1.0, 1.0])


def trajectory(parameters):
    def to_next(y, ends):
        y, steps = integrate(y, parameters, *ends)
        return y, (y, steps)

    _, (states, steps) = lax.scan(to_next, START, (TIMES[:-1], TIMES[1:]))
    return states, steps


def loss(logarithms, data):
    states, steps = trajectory(jnp.exp(logarithms))
    return jnp.mean((jnp.log(states) - jnp.log(data)) ** 2), jnp.sum(steps)


def fit(logarithms, data, count, report):
    """Adam."""
    m, v = jnp.zeros(4), jnp.zeros(4)
    value_and_grad = jax.jit(jax.value_and_grad(loss, has_aux=True))
    for n in range(1, count + 1):
        (value, steps), g = value_and_grad(logarithms, data)
        report(n, float(value), int(steps), logarithms)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        logarithms -= 0.05 * (m / (1 - 0.9**n)) / (jnp.sqrt(v / (1 - 0.99**n)) + 1e-8)
    return logarithms


def svg(curves, data):
    """The hares: points of the data, and a line for each fit."""
    x, top = TIMES[1:], 1.1 * float(jnp.max(data[:, 0]))

    def place(t, y):
        return f"{40 + 56 * float(t):.1f},{280 - 260 * float(y) / top:.1f}"

    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="640" height="300" font-family="sans-serif" font-size="12">']
    for shade, (label, curve) in zip(("#ccc", "#88b", "#c33"), curves):
        points = " ".join(place(t, y) for t, y in zip(x, curve[:, 0]))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{shade}" stroke-width="2"><title>{label}</title></polyline>')
    for t, y in zip(x, data[:, 0]):
        cx, cy = place(t, y).split(",")
        lines.append(f'<circle cx="{cx}" cy="{cy}" r="3"/>')
    lines.append('<text x="40" y="296">hares, time 0 to 10: data (points), first guess (grey), on the way (blue), fit (red)</text></svg>')
    return "\n".join(lines)


def main():
    truth = jnp.array([1.1, 0.4, 0.4, 0.1])
    data, _ = jax.jit(trajectory)(truth)
    data = data * jnp.exp(0.02 * jax.random.normal(jax.random.key(0), data.shape))
    curves = []

    def report(n, value, steps, logarithms):
        if n in (1, 2, 3, 5, 10, 20, 40, 80, 150):
            bar = "#" * max(1, round(12 * (jnp.log10(value).item() + 4)))
            print(f"step {n:4}  loss {value:.6f}  solver's steps {steps:4}  {bar}")
        if n in (1, 10):
            curves.append((f"after {n - 1} steps", jax.jit(trajectory)(jnp.exp(logarithms))[0]))

    logarithms = fit(jnp.log(jnp.array([0.7, 0.6, 0.7, 0.2])), data, 150, report)
    curves.append(("fit", jax.jit(trajectory)(jnp.exp(logarithms))[0]))
    print("found", jnp.round(jnp.exp(logarithms), 3), "made with", truth)
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "fit_ode.svg")
    target.write_text(svg(curves, data))
    print(f"{target} has the curves")


if __name__ == "__main__":
    main()
