"""Complex numbers and Fourier transforms, of the parts of complex operands and results."""

import numpy as np
import paddle
from paddle import _C_ops as C

from case import Case, Tensor, attributes, covers

# The eager engine has no complex numbers.
SUMMED = {"ulp": 64, "scale": 8.0, "gulp": 128, "gscale": 8.0, "eager": False}
TYPES = ("f32", "f64")


def of(shape, dtype):
    return f"tensor<{''.join(f'{n}x' for n in shape)}complex<{dtype}>>"


def plain(shape, dtype):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


def number(at, shape, dtype):
    """A complex operand of the parts `%x0` and `%x1`, or of the next two."""
    return f"%z{at} = pd.complex (%x{2 * at}, %x{2 * at + 1}) : {of(shape, dtype)}"


def parts(shape, dtype, name="%w"):
    """The parts of a complex result."""
    return [f"%o{at} = pd.{part} ({name}) : {plain(shape, dtype)}" for at, part in enumerate(("real", "imag"))]


def cubed(value):
    return value * value * value


def both(value):
    return [paddle.real(value), paddle.imag(value)]


@covers("complex", "real", "imag", "conj", "as_complex", "as_real", "angle")
def forms(draw, op):
    calls = {"conj": C.conj, "as_complex": lambda z: C.as_complex(C.as_real(z)), "as_real": lambda z: C.as_complex(C.as_real(z))}
    for dtype in TYPES:
        for shape in ([], [3], [2, 3]):
            if not shape and op in ("as_complex", "as_real"):
                continue
            two = [draw.tensor(shape, dtype), draw.tensor(shape, dtype)]
            lines = [number(0, shape, dtype)]
            if op == "angle":
                text = "\n".join([*lines, f"%o0 = pd.angle (%z0) : {plain(shape, dtype)}"])
                yield Case(op, two, call=lambda x, y: C.angle(C.complex(x, y)), text=text, **SUMMED)
                yield Case(op, two[:1], call=C.angle, typed=True, **SUMMED)
                continue
            if op in ("as_complex", "as_real"):
                lines += [f"%r = pd.as_real (%z0) : {plain([*shape, 2], dtype)}", f"%w = pd.as_complex (%r) : {of(shape, dtype)}"]
            elif op == "conj":
                lines.append(f"%w = pd.conj (%z0) : {of(shape, dtype)}")
            text = "\n".join([*lines, *parts(shape, dtype, "%w" if op in calls else "%z0")])
            call = calls.get(op, lambda z: z)
            yield Case(op, two, call=lambda x, y, f=call: both(f(C.complex(x, y))), outs=2, text=text, **SUMMED)
        if op == "complex":
            text = "\n".join([f"%z0 = pd.complex (%x0, %x1) : {of([2, 3], dtype)}", *parts([2, 3], dtype, "%z0")])
            yield Case(op, [draw.tensor([2, 1], dtype), draw.tensor([3], dtype)], call=lambda x, y: both(C.complex(x, y)), outs=2, text=text, **SUMMED)


@covers("add", "subtract", "multiply", "divide", "matmul", "exp", "log", "sqrt", "square", "sin", "cos", "tanh", "sigmoid", "sum", "mean", "abs", "transpose", "concat", "scale", "reciprocal")
def arithmetic(draw, op):
    """What real numbers have too."""
    calls = {"sum": paddle.sum, "mean": paddle.mean, "transpose": lambda x: x.transpose([1, 0]), "concat": lambda x: paddle.concat([x, x]), "scale": lambda x: C.scale(x, 2.5, 0.5, True)}
    # PaddlePaddle computes exponentials of complex doubles in single precision.
    for dtype in TYPES[: 1 if op in ("exp", "sigmoid") else 2]:
        x, y = [2, 3], [3, 2] if op == "matmul" else [3]
        two = op in ("add", "subtract", "multiply", "divide", "matmul")
        shapes = [x, y] if two else [x]
        given = [draw.tensor(shape, dtype, 0.3, 2.0) for shape in shapes for _ in range(2)]
        lines = [number(at, shape, dtype) for at, shape in enumerate(shapes)]
        out = {"sum": [], "mean": [], "matmul": [2, 2], "transpose": [3, 2], "concat": [4, 3]}.get(op, x)
        more = {"transpose": " {perm = [1, 0]}", "concat": "", "scale": " {scale = 2.5, bias = 0.5}"}.get(op, "")
        operands = "%z0, %z1" if two else "%z0, %z0" if op == "concat" else "%z0"
        name = "%o0" if op == "abs" else "%w"
        lines.append(f"{name} = pd.{op} ({operands}){more}")
        text = "\n".join(lines if op == "abs" else [*lines, *parts(out, dtype)])

        def call(*given, f=calls.get(op, getattr(paddle, op, None) or getattr(paddle.nn.functional, op, None))):
            result = f(*(C.complex(a, b) for a, b in zip(given[::2], given[1::2])))
            return result if op == "abs" else both(result)

        yield Case(op, given, call=call, outs=1 if op == "abs" else 2, text=text, note="complex", **SUMMED)


NORMS = ("backward", "forward", "ortho")


@covers("fft_c2c")
def c2c(draw, op):
    for dtype in TYPES:
        for shape, axes in (([5], [0]), ([2, 6], [1]), ([4, 3], [0]), ([2, 3, 4], [1, 2]), ([2, 3, 4], [0, 2])):
            for norm in NORMS:
                for forward in (True, False):
                    named = attributes(axes=axes, normalization=norm, forward=forward)
                    text = "\n".join([number(0, shape, dtype), f"%w = pd.fft_c2c (%z0) {{{named}}} : {of(shape, dtype)}", *parts(shape, dtype)])
                    call = lambda x, y, a=axes, n=norm, f=forward: both(C.fft_c2c(C.complex(x, y), a, n, f))  # noqa: E731
                    yield Case(op, [draw.tensor(shape, dtype), draw.tensor(shape, dtype)], call=call, outs=2, text=text, **SUMMED)


@covers("fft_r2c")
def r2c(draw, op):
    for dtype in TYPES:
        for shape, axes in (([5], [0]), ([2, 6], [1]), ([4, 3], [0]), ([2, 3, 4], [1, 2])):
            for norm in NORMS:
                for forward in (True, False):
                    for half in (True, False):
                        named = attributes(axes=axes, normalization=norm, forward=forward, onesided=half)
                        out = [n // 2 + 1 if half and at == axes[-1] else n for at, n in enumerate(shape)]
                        text = "\n".join([f"%w = pd.fft_r2c (%x0) {{{named}}} : {of(out, dtype)}", *parts(out, dtype)])
                        call = lambda x, a=axes, n=norm, f=forward, h=half: both(C.fft_r2c(x, a, n, f, h))  # noqa: E731
                        yield Case(op, [draw.tensor(shape, dtype)], call=call, outs=2, text=text, **SUMMED)


@covers("fft_c2r")
def c2r(draw, op):
    for dtype in TYPES:
        for shape, axes, last in (([3], [0], 0), ([3], [0], 5), ([2, 4], [1], 7), ([3, 2], [0], 4), ([2, 3, 3], [1, 2], 4)):
            for norm in NORMS:
                for forward in (True, False):
                    named = attributes(axes=axes, normalization=norm, forward=forward, last_dim_size=last)
                    out = [(last or 2 * n - 2) if at == axes[-1] else n for at, n in enumerate(shape)]
                    text = "\n".join([number(0, shape, dtype), f"%o0 = pd.fft_c2r (%z0) {{{named}}} : {plain(out, dtype)}"])
                    call = lambda x, y, a=axes, n=norm, f=forward, s=last: C.fft_c2r(C.complex(x, y), a, n, f, s)  # noqa: E731
                    yield Case(op, [draw.tensor(shape, dtype), draw.tensor(shape, dtype)], call=call, text=text, **SUMMED)


@covers("overlap_add")
def overlap_add(draw, op):
    for dtype in TYPES:
        for shape, hop, axis in (([4, 3], 2, -1), ([2, 3, 4], 1, -1), ([3, 4, 2], 3, 0), ([2, 5], 5, 0)):
            yield Case(op, [draw.tensor(shape, dtype)], attributes(hop_length=hop, axis=axis), lambda x, h=hop, a=axis: C.overlap_add(x, h, a), typed=True, **SUMMED)


@covers("frame")
def frame(draw, op):
    for dtype in TYPES:
        for shape, length, hop, axis in (([10], 4, 2, -1), ([2, 9], 3, 2, -1), ([9, 2], 3, 3, 0), ([7], 2, 3, 0)):
            named = attributes(frame_length=length, hop_length=hop, axis=axis)
            yield Case(op, [draw.tensor(shape, dtype)], named, lambda x, n=length, h=hop, a=axis: C.frame(x, n, h, a), typed=True, **SUMMED)


@covers("eig", "eigvals")
def eigen(draw, op):
    """Eigenvalues come in any order, and vectors have any sign: sums of cubes, and of squares times eigenvalues, are compared."""

    def spread(n):
        # Eigenvalues that are well apart, some of which are complex.
        return [Tensor(draw.array([n, n], "f64", -1.0, 1.0) + np.diag(3.0 * np.arange(n)) + np.eye(n, k=1) * 6 - np.eye(n, k=-1) * 6, dtype)]

    for dtype in TYPES:
        for n in (2, 3, 4):
            values, vectors, number = of([n], dtype), of([n, n], dtype), of([], dtype)
            cubes = [f"%q = pd.multiply (%w, %w) : {values}", f"%c = pd.multiply (%q, %w) : {values}", f"%t = pd.sum (%c) : {number}"]
            if op == "eigvals":
                text = "\n".join([f"%w = pd.eigvals (%x0) : {values}", *cubes, *parts([], dtype, "%t")])
                yield Case(op, spread(n), call=lambda x: both(cubed(C.eigvals(x)).sum()), outs=2, text=text, grad=False, ulp=256, scale=1024.0)
                continue
            lines = [f"%w, %v = pd.eig (%x0) : {values}, {vectors}", *cubes, f"%r = pd.multiply (%v, %v) : {vectors}",
                     f"%s = pd.multiply (%r, %w) : {vectors}", f"%u = pd.sum (%s) {{axis = [1]}} : {values}"]  # fmt: skip
            second = [line.replace("%o0", "%o2").replace("%o1", "%o3") for line in parts([n], dtype, "%u")]

            def call(x):
                w, v = C.eig(x)
                return [*both((w * w * w).sum()), *both((v * v * w).sum(1))]

            yield Case(op, spread(n), call=call, outs=4, text="\n".join([*lines, *parts([], dtype, "%t"), *second]), **SUMMED | {"scale": 1024.0, "gscale": 2048.0})
