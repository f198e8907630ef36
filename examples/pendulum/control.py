#!/usr/bin/env python3
"""Finds the gains of the controller in pendulum.mlir by gradient descent, with a gradient that clang-19 compiled.

    examples/pendulum/control.py [PICTURE.svg]

Needs Debian's mlir-19-tools and clang-19, and `pir-opt`: $PIR_OPT, or that on the path, or the one in target/debug.
"""

import ctypes
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILT = HERE.parents[1] / "target" / "debug" / "pir-opt"
PIR_OPT = os.environ.get("PIR_OPT") or shutil.which("pir-opt") or str(BUILT)
LOWERING = """--llvm-request-c-wrappers --convert-scf-to-cf --convert-math-to-llvm --convert-math-to-libm --convert-arith-to-llvm
  --finalize-memref-to-llvm --convert-func-to-llvm --convert-cf-to-llvm --convert-index-to-llvm --reconcile-unrealized-casts""".split()


class Results(ctypes.Structure):
    """What `@cost_grad` gives: the cost, and its derivatives."""

    _fields_ = [("cost", ctypes.c_double), ("stiffness", ctypes.c_double), ("damping", ctypes.c_double)]


def compiled(folder):
    """The gradient as a C function: pir-opt | mlir-opt | mlir-translate | clang."""
    passes = "--pass=backward,canonicalize,cse,lower-stacks{to=memref}"
    text = subprocess.run(
        [PIR_OPT, passes, "--print-generic", HERE / "pendulum.mlir"], check=True, capture_output=True
    ).stdout
    for command in (["mlir-opt-19", *LOWERING], ["mlir-translate-19", "--mlir-to-llvmir"]):
        text = subprocess.run(command, input=text, check=True, capture_output=True).stdout
    library = pathlib.Path(folder) / "pendulum.so"
    clang = ["clang-19", "-x", "ir", "-O2", "-Wno-override-module", "-shared", "-fPIC", "-o", library, "-", "-lm"]
    subprocess.run(clang, input=text, check=True)
    call = ctypes.CDLL(str(library))._mlir_ciface_cost_grad
    call.argtypes = [ctypes.POINTER(Results), ctypes.c_double, ctypes.c_double]

    def gradient(gains):
        out = Results()
        call(out, *gains)
        return out.cost, [out.stiffness, out.damping]

    return gradient


def motion(stiffness, damping):
    """The angles, computed here, for the picture."""
    angle, speed, angles = 2.0, 0.0, []
    for _ in range(400):
        torque = max(-12.0, min(12.0, -(stiffness * angle + damping * speed)))
        speed += 0.01 * (9.81 * math.sin(angle) + torque)
        angle += 0.01 * speed
        angles.append(angle)
    return angles


def picture(runs):
    """The angle over four seconds, a curve for each controller."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="300" font-family="Helvetica,Arial,sans-serif" font-size="12">',
        '<rect width="640" height="300" fill="white"/>',
        '<line x1="40" y1="200" x2="610" y2="200" stroke="#999"/><text x="8" y="204">up</text>',
    ]
    for at, (colour, label, angles) in enumerate(runs):
        points = " ".join(f"{40 + 1.42 * t:.1f},{200 - 70 * max(-1.3, min(2.6, a)):.1f}" for t, a in enumerate(angles))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="{300}" y="{24 + 16 * at}" fill="{colour}">{label}</text>')
    lines.append('<text x="540" y="216">4 seconds</text></svg>\n')
    return "\n".join(lines)


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "pendulum.svg")
    with tempfile.TemporaryDirectory() as folder:
        gradient = compiled(folder)
        gains, runs = [12.0, 0.5], []
        for step in range(201):
            cost, slopes = gradient(gains)
            if step in (0, 20, 200):
                label = f"step {step}: stiffness {gains[0]:.2f}, damping {gains[1]:.2f}, cost {cost:.4f}"
                runs.append((("#aaaaaa", "#7788cc", "#c0392b")[len(runs)], label, motion(*gains)))
                print(label)
            # What a difference of costs says of the first derivative.
            if step == 0:
                near = gradient([gains[0] + 1e-6, gains[1]])[0] - gradient([gains[0] - 1e-6, gains[1]])[0]
                print(f"derivative by stiffness {slopes[0]:.8f}, by differences {near / 2e-6:.8f}")
            size = math.hypot(*slopes)
            gains = [g - 0.1 * s / max(size, 0.05) for g, s in zip(gains, slopes)]
    target.write_text(picture(runs))
    print(f"{target} shows the motions")


if __name__ == "__main__":
    main()
