"""Right gradients for PaddlePaddle's static programs, through loops and branches.

    result = pir_opt.backward(program, loss, [x, w])
    executor.run(result.program, feed=…, fetch_list=[result.loss, *result.grads])

The program is handed to the `pir-opt` binary: that of $PIR_OPT, or the one that the shell would find.
"""

import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass

import paddle
from paddle.base import core


class Error(Exception):
    """What pir-opt says against a program."""


@dataclass
class Result:
    """A program with gradients."""

    program: paddle.static.Program
    """The program; feed it as before."""
    loss: paddle.pir.Value
    """The value that was differentiated, in the program."""
    grads: list
    """Its gradients, in the order of `wrt`."""
    outputs: dict
    """Everything that the program fetches, by name."""


def backward(program, loss, wrt, passes=("licm", "cse", "canonicalize"), binary=None):
    """The program with the gradients of `loss` with respect to `wrt`: inputs (`paddle.static.data`) and parameters.

    `passes` are run before and after. The program itself stays as it is.
    """
    names = [name_of(value) for value in wrt]
    mapping = paddle.pir.IrMapping()
    copy = program.clone(mapping)
    seed = "pir_opt.loss"
    with paddle.static.program_guard(copy):
        paddle._pir_ops.fetch(mapping.look_up(loss), seed, len(fetches(copy)))
    quoted = ", ".join(f'"{name}"' for name in names)
    pipeline = ",".join([*passes, f'backward{{of="{seed}", wrt=[{quoted}]}}', *passes, "dce"])
    written = run(copy, [f"--pass={pipeline}"], binary)
    found = fetches(written)
    grads = [found[f"{name}_grad"] for name in names]
    return Result(written, found.pop(seed), grads, found)


def optimize(program, passes, binary=None):
    """The program after passes of pir-opt, `"licm,cse,canonicalize"`. What is kept is what it fetches."""
    return run(program, [f"--pass={passes}"], binary)


def fetches(program):
    """The values that a program fetches, by name."""
    ops = [op for op in program.global_block().ops if op.name() == "pd_op.fetch"]
    return {op.attrs()["name"]: op.operand_source(0) for op in ops}


def name_of(value):
    """The name that an input or a parameter is bound by."""
    op = value.get_defining_op()
    key = {"pd_op.data": "name", "builtin.parameter": "parameter_name"}.get(op.name())
    if key is None:
        raise Error(f"gradients are with respect to inputs and parameters, not to a result of {op.name()}")
    return op.attrs()[key]


def run(program, options, binary=None):
    """What pir-opt makes of a program."""
    binary = binary or os.environ.get("PIR_OPT", "pir-opt")
    # Without the flag Paddle would leave out operations on stacks.
    flag = "FLAGS_save_cf_stack_op"
    before = paddle.get_flags(flag)
    paddle.set_flags({flag: 1})
    try:
        with tempfile.TemporaryDirectory() as folder:
            source, target = (str(pathlib.Path(folder) / name) for name in ("source.json", "target.json"))
            core.serialize_pir_program(program, source, True, False, True)
            command = [binary, "--emit=paddle-json", *options, source, "-o", target]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise Error(done.stderr.strip() or f"{binary} ended with {done.returncode}")
            result = paddle.static.Program()
            core.deserialize_pir_program(target, result)
            return result
    finally:
        paddle.set_flags(before)
