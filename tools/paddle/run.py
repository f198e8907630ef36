#!/usr/bin/env python3
"""Runs a saved program with PaddlePaddle's executor.

    run.py PROGRAM.json INPUTS.npz OUTPUTS.npz [PARAMETERS.pdiparams]

The inputs hold a value for each `data` and each parameter of the program, by name, with or without a prefix `in:` or
`param:`; what the program does not ask for is ignored. Parameters may also come from a file that PaddlePaddle saved
beside the program. The outputs hold what the program fetches, by name.
"""

import os
import sys

os.environ.setdefault("GLOG_minloglevel", "2")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings

warnings.filterwarnings("ignore")

import numpy as np
import paddle
from paddle.base import core


def load(path):
    """The program in a file of PIR JSON."""
    if not os.path.isfile(path):
        raise SystemExit(f"run.py: there is no file {path}")
    program = paddle.static.Program()
    core.deserialize_pir_program(str(path), program)
    return program


def parameters(program):
    """The parameters of a program, with their values, by name."""
    ops = program.global_block().ops
    return {op.attrs()["parameter_name"]: op.results()[0] for op in ops if op.name() == "builtin.parameter"}


def load_parameters(path, program):
    """The values of parameters in a file that PaddlePaddle saved: all those that are persistable, in order."""
    # Not those without elements, which are not saved.
    values = {name: value for name, value in parameters(program).items() if 0 not in value.shape}
    names, scope = sorted(values), paddle.static.Scope()
    tensors = [scope.var(name).get_tensor() for name in names]
    for tensor, name in zip(tensors, names):
        tensor.set(np.zeros(values[name].shape, "float32"), paddle.CPUPlace())
    try:
        core.load_combine_func(str(path), names, tensors, False, paddle.CPUPlace())
    except (RuntimeError, ValueError) as error:
        said = str(error).strip().splitlines()
        raise SystemExit(f"run.py: {path} does not hold the parameters {', '.join(names)}: {said[0] if said else error}")
    return {name: np.array(tensor) for name, tensor in zip(names, tensors)}


def run(path, inputs, saved=None):
    """What a program fetches for these inputs, by name; `saved` is a file of parameters."""
    paddle.enable_static()
    given = {name.split(":", 1)[-1]: value for name, value in inputs.items() if not name.startswith(("out:", "grad:"))}
    program = load(path)
    if saved:
        given = load_parameters(saved, program) | given
    feed, names, fetched = {}, [], []
    scope = paddle.static.Scope()
    for op in program.global_block().ops:
        if op.name() == "pd_op.data":
            name = op.attrs()["name"]
            feed[name] = lookup(given, name)
        elif op.name() == "builtin.parameter":
            name = op.attrs()["parameter_name"]
            # Layers have parameters without elements, of which a file of values need not know.
            shape = op.results()[0].shape
            value = np.zeros(shape, "uint8") if 0 in shape else lookup(given, name)
            scope.var(name).get_tensor().set(value, paddle.CPUPlace())
        elif op.name() == "pd_op.fetch":
            # The value, not the result of the operation: fetching that would fetch twice.
            names.append(op.attrs()["name"])
            fetched.append(op.operand_source(0))
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(scope):
        # Boxes by image would not become arrays by themselves.
        values = executor.run(program, feed=feed, fetch_list=fetched, return_numpy=False)
    return {name: np.asarray(value) for name, value in zip(names, values)}


def lookup(given, name):
    if name not in given:
        raise SystemExit(f"run.py: there is no value for `{name}`; there are {', '.join(sorted(given)) or 'none'}")
    # Not `ascontiguousarray`, which makes one dimension of none.
    return np.asarray(given[name], order="C")


def main():
    if len(sys.argv) not in (4, 5):
        raise SystemExit(__doc__.strip())
    program, inputs, outputs, *saved = sys.argv[1:]
    with np.load(inputs) as arrays:
        np.savez(outputs, **run(program, dict(arrays), *saved))


if __name__ == "__main__":
    main()
