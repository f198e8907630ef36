"""Gradients of JAX functions with loops of unknown length: `lax.while_loop`, and `lax.fori_loop` with dynamic bounds.

    from pir_opt.jax import differentiable

    @differentiable
    def solve(a, b): ...        # any JAX code

    jax.grad(lambda a: loss(solve(a, b)))(a)
"""

import os

import jax

# JAX's private interfaces are used, which change between releases.
TESTED = ("0.10.2",)
if jax.__version__ not in TESTED and not os.environ.get("PIR_OPT_ANY_JAX"):
    raise ImportError(
        f"pir_opt.jax was tested with jax {', '.join(TESTED)}, and this is jax {jax.__version__}: "
        f"`pip install jax=={TESTED[-1]}`, or set the variable PIR_OPT_ANY_JAX=1 to try it nevertheless"
    )

from pir_opt.jax.api import differentiable, export  # noqa: E402
from pir_opt.jax.check import check_grad  # noqa: E402
from pir_opt.tool import PirOptError  # noqa: E402

__all__ = ["PirOptError", "check_grad", "differentiable", "export"]
