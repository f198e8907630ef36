#!/usr/bin/env python3
"""Runs a StableHLO program with IREE, compiled for the processor.

    run_iree.py PROGRAM.mlir INPUTS.npz OUTPUTS.npz

As run.py; the packages are `iree-base-compiler` and `iree-base-runtime`.
"""

import sys

import iree.compiler
import iree.runtime
import numpy as np


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__.strip())
    program, inputs, outputs = sys.argv[1:]
    binary = iree.compiler.compile_file(
        program, input_type="stablehlo", target_backends=["llvm-cpu"], extra_args=["--iree-input-demote-f64-to-f32=false"]
    )
    context = iree.runtime.SystemContext(config=iree.runtime.Config("local-task"))
    module = iree.runtime.VmModule.copy_buffer(context.instance, binary)
    context.add_vm_module(module)
    with np.load(inputs) as arrays:
        results = context.modules[module.name]["main"](*(arrays[name] for name in arrays.files))
    results = results if isinstance(results, tuple) else (results,)
    np.savez(outputs, **{str(at): np.asarray(result) for at, result in enumerate(results)})


if __name__ == "__main__":
    main()
