#!/usr/bin/env python3
"""Runs a StableHLO program with XLA, through JAX.

    run.py PROGRAM.mlir INPUTS.npz OUTPUTS.npz

The program is a module with a function `main`. The inputs hold its arguments in their order, the outputs its results, called
`0`, `1`, and so on.
"""

import sys

import jax
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

ELEMENTS = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "bf16": jax.numpy.bfloat16, "complex<f32>": "complex64", "complex<f64>": "complex128"}


def element(ty):
    word = str(ty)
    return np.dtype(ELEMENTS.get(word) or word.replace("ui", "uint").replace("i", "int", int(word[0] == "i")))


class NoMain(Exception):
    """A module that XLA has nothing to run of."""


class Xla:
    """A module that XLA has compiled."""

    def __init__(self, text):
        if "lapack_" in text:
            # JAX binds LAPACK's functions when it lowers the first of them; before that XLA calls nothing, and crashes.
            jax.numpy.linalg.inv(jax.numpy.eye(1))
        client = jax.devices("cpu")[0].client
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
            mains = [op for op in module.body.operations if str(getattr(op, "name", "")).strip('"') == "main"]
            if not mains:
                raise NoMain
            main = mains[0]
            ty = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
            shaped = [ir.RankedTensorType(t) for t in ty.inputs]
            self.inputs = [(tuple(t.shape), element(t.element_type)) for t in shaped]
            self.compiled = compiler.backend_compile_and_load(client, module, devices, options, [])

    def run(self, arrays):
        given = [jax.device_put(array) for array in arrays]
        results = self.compiled.execute_sharded(given).disassemble_into_single_device_arrays()
        return [np.asarray(result[0]) for result in results]


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__.strip())
    program, inputs, outputs = sys.argv[1:]
    jax.config.update("jax_enable_x64", True)
    with open(program, encoding="utf-8") as file, np.load(inputs) as arrays:
        results = Xla(file.read()).run([arrays[name] for name in arrays.files])
    np.savez(outputs, **{str(at): result for at, result in enumerate(results)})


if __name__ == "__main__":
    main()
