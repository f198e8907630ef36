"""Programs of MLIR's dialects as libraries: `mlir-opt-19`, `mlir-translate-19`, `clang-19`."""

import ctypes
import re
import subprocess

LOWERING = [
    "--arith-expand", "--convert-scf-to-cf", "--convert-math-to-llvm", "--convert-math-to-libm", "--convert-arith-to-llvm",
    "--finalize-memref-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm", "--convert-index-to-llvm",
    "--convert-ub-to-llvm", "--reconcile-unrealized-casts",
]

# Tensors become buffers first.
BUFFERIZE = [
    "--convert-elementwise-to-linalg", "--one-shot-bufferize=bufferize-function-boundaries allow-return-allocs-from-loops",
    "--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine",
]

# Vectors become those of LLVM, after functions of their elements.
VECTORS = ["--convert-math-to-libm", "--convert-vector-to-scf", "--convert-vector-to-llvm"]

# All functions can be called from C.
WRAPPERS = ["--llvm-request-c-wrappers"]

# What is written by twos and read by twos, but shifted by one, as the adjoint of a stencil does, is slow on many processors.
OPTIMIZE = ["-O2", "-fno-slp-vectorize"]


# Gradients on buffers, as they are compiled.
GRADIENTS = "backward,canonicalize,cse,lower-stacks{to=memref}"

LIBRARIES = "/usr/lib/llvm-19/lib"


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[:2]))}: {done.stderr[:2000]}")
    return done.stdout


def lowering(text):
    """What a program has to go through."""
    bufferize = BUFFERIZE if re.search(r"tensor<|linalg\.|affine\.|subview|_shape ", text) else []
    return [*bufferize, *(VECTORS if "vector." in text else []), *LOWERING]


def compiled(text, folder, name, lowering=LOWERING, optimize=OPTIMIZE):
    """The library of a program in MLIR."""
    lowered = run(["mlir-opt-19", *lowering], text)
    llvm = run(["mlir-translate-19", "--mlir-to-llvmir"], lowered)
    source, library = folder / f"{name}.ll", folder / f"{name}.so"
    source.write_text(llvm)
    # What copies of strided buffers call.
    support = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-lmlir_c_runner_utils"] if "@memrefCopy" in llvm else []
    run(["clang-19", *optimize, "-Wno-override-module", "-shared", "-fPIC", "-o", library, source, "-lm", *support], "")
    return ctypes.CDLL(str(library))


def argument_kinds(text):
    """The types of the arguments of `@f`."""
    header = re.search(r"func\.func @f\(([^)]*)\)", text)
    return [argument.split(":")[1].strip() for argument in header.group(1).split(",")]


def for_c(text):
    """The same with an `@f` that C can call; `@f_grad` gets that from it."""
    return re.sub(r"(func\.func @f\([^)]*\) -> f64) {", r"\1 attributes {llvm.emit_c_interface} {", text)
