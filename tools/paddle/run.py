#!/usr/bin/env python3
"""Runs a saved program with PaddlePaddle's executor.

    run.py PROGRAM.json INPUTS.npz OUTPUTS.npz

The inputs hold a value for each `data` and each parameter of the program, by name, with or without a prefix `in:` or
`param:`; what the program does not ask for is ignored. The outputs hold what it fetches, by name.
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
    program = paddle.static.Program()
    core.deserialize_pir_program(str(path), program)
    return program


def run(path, inputs):
    """What a program fetches for these inputs, by name."""
    paddle.enable_static()
    given = {name.split(":", 1)[-1]: value for name, value in inputs.items() if not name.startswith(("out:", "grad:"))}
    program = load(path)
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
        values = executor.run(program, feed=feed, fetch_list=fetched)
    return {name: np.asarray(value) for name, value in zip(names, values)}


def lookup(given, name):
    if name not in given:
        raise SystemExit(f"run.py: there is no value for `{name}`; there are {', '.join(sorted(given)) or 'none'}")
    return np.ascontiguousarray(given[name])


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__.strip())
    program, inputs, outputs = sys.argv[1:]
    with np.load(inputs) as arrays:
        np.savez(outputs, **run(program, dict(arrays)))


if __name__ == "__main__":
    main()
