"""Programs of MLIR's dialects as libraries: `mlir-opt-19`, `mlir-translate-19`, `clang-19`."""

import ctypes
import subprocess

LOWERING = [
    "--llvm-request-c-wrappers", "--convert-scf-to-cf", "--convert-math-to-llvm", "--convert-math-to-libm", "--convert-arith-to-llvm",
    "--finalize-memref-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm", "--convert-index-to-llvm",
    "--reconcile-unrealized-casts",
]


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[:2]))}: {done.stderr[:2000]}")
    return done.stdout


def compiled(text, folder, name, lowering=LOWERING):
    """The library of a program in MLIR."""
    lowered = run(["mlir-opt-19", *lowering], text)
    llvm = run(["mlir-translate-19", "--mlir-to-llvmir"], lowered)
    source, library = folder / f"{name}.ll", folder / f"{name}.so"
    source.write_text(llvm)
    run(["clang-19", "-O2", "-Wno-override-module", "-shared", "-fPIC", "-o", library, source, "-lm"], "")
    return ctypes.CDLL(str(library))
