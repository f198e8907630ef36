"""Gradients against forward mode and differences."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from pir_opt.jax.api import differentiable


@dataclasses.dataclass
class Row:
    """The derivative of a weighted sum of the results along a random direction in one argument."""

    name: str
    reverse: float
    forward: float
    differences: float
    tolerance: float

    @property
    def ok(self):
        scale = self.tolerance * (1 + abs(self.forward))
        return abs(self.reverse - self.forward) <= scale

    def __str__(self):
        return f"{self.name:24} reverse {self.reverse: .9g}  forward {self.forward: .9g}  differences {self.differences: .6g}  " + (
            "ok" if self.ok else "WRONG"
        )


def check_grad(function, *args, tolerance=None, seed=0, **options):
    """Compares the gradient that pir-opt computes of a function with JAX's forward mode and with finite differences.

    Uses a random direction for each float or complex argument, and random cotangents of the results. Returns the table, and
    raises AssertionError with it if reverse and forward mode differ by more than the relative `tolerance`, whose default is
    1e-3 for float32 and 1e-8 for float64. Other keywords are those of `differentiable`.
    """
    random = np.random.default_rng(seed)
    ours = function if hasattr(function, "gradient_text") and not options else differentiable(function, **options)
    leaves, tree = jax.tree.flatten(args)
    leaves = [jnp.asarray(leaf) for leaf in leaves]
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(args)[0]]
    floats = [i for i, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.inexact)]

    def outputs(function, values):
        full = list(leaves)
        for i, value in zip(floats, values):
            full[i] = value
        outs = jax.tree.leaves(function(*jax.tree.unflatten(tree, full)))
        return [out for out in outs if jnp.issubdtype(out.dtype, jnp.inexact)]

    start = [leaves[i] for i in floats]

    def normal(like):
        if jnp.iscomplexobj(like):
            return jnp.asarray(random.normal(size=like.shape) + 1j * random.normal(size=like.shape), like.dtype)
        return jnp.asarray(random.normal(size=like.shape), like.dtype)

    weights = [normal(out) for out in outputs(ours, start)]

    def loss(values, function=ours):
        return sum(jnp.sum(w * out).real for w, out in zip(weights, outputs(function, values)))

    gradient = jax.jit(jax.grad(loss))(start)
    rows = []
    for at, value in enumerate(start):
        direction = normal(value)

        def along(t, at=at, direction=direction):
            return loss([v + t * direction if n == at else v for n, v in enumerate(start)])

        real = value.real.dtype
        zero = jnp.zeros((), real)
        step = float(jnp.finfo(value.dtype).eps) ** (1 / 3)
        forward = jax.jvp(along, (zero,), (jnp.ones((), real),))[1]
        differences = (along(zero + step) - along(zero - step)) / (2 * step)
        allowed = tolerance or (1e-8 if real == jnp.float64 else 1e-3)
        rows.append(Row(names[floats[at]], float(jnp.sum(gradient[at] * direction).real), float(forward), float(differences), allowed))
    table = "\n".join(map(str, rows))
    if not all(row.ok for row in rows):
        raise AssertionError(f"the gradient differs from forward mode:\n{table}")
    return table
