"""PaddlePaddle's programs and layers with gradients made by pir-opt, through loops and branches.

Static mode:

    trained = pir_opt.minimize(loss, optimizer)          # in place of optimizer.minimize(loss)
    executor.run(trained.program, feed=…, fetch_list=[trained.loss])

    result = pir_opt.backward(program, loss, [x, w])     # in place of paddle.static.gradients
    executor.run(result.program, feed=…, fetch_list=[result.loss, *result.grads])

Dynamic mode:

    @pir_opt.to_static                                   # in place of paddle.jit.to_static
    def forward(self, x): …

A program is handed to the binary `pir-opt`: that of $PIR_OPT, or the one on the path, or the one built in the repository.
"""

from pir_opt.paddle.dynamic import to_static
from pir_opt.paddle.execute import in_order
from pir_opt.paddle.program import Error, fetches, name_of, optimize, run
from pir_opt.paddle.static import Result, backward, minimize

__all__ = ["Error", "Result", "backward", "fetches", "in_order", "minimize", "name_of", "optimize", "run", "to_static"]
