"""A case: an operation on given tensors, how PaddlePaddle is asked for it, and how our text says it."""

import re
import zlib

import numpy as np

FLOATS = ("f32", "f64", "f16", "bf16")
INTS = ("i32", "i64", "i8", "i16", "ui8")
ALL = FLOATS + INTS + ("i1",)
NUMPY = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16,
         "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "i1": np.bool_}
PADDLE = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16",
          "i32": "int32", "i64": "int64", "ui8": "uint8", "i1": "bool"}
NAMES = {v: k for k, v in PADDLE.items()}
EPS = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
TINY = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
MAX = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}


def to_bf16(array):
    """Rounded to what a bf16 can hold, halves to even; kept as f32."""
    array = np.array(array, np.float32, order="C")
    bits = array.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(array), array, rounded).astype(np.float32)


class Tensor:
    """An operand: its numbers (those of bf16 as f32), its type, and whether it is differentiated."""

    def __init__(self, array, dtype, grad=True):
        with np.errstate(all="ignore"):
            self.array = np.asarray(array).astype(NUMPY[dtype])
        if dtype == "bf16":
            self.array = to_bf16(self.array)
        self.dtype = dtype
        self.grad = grad and dtype in FLOATS

    def __repr__(self):
        return f"{self.dtype}{list(self.array.shape)}"


class Case:
    """`text` defines `%o0`, `%o1`, … from `%x0`, `%x1`, …; `call` does the same with PaddlePaddle's tensors."""

    def __init__(self, op, tensors, attrs="", call=None, outs=1, text=None, ulp=8, scale=0.0, gulp=None, gscale=None,
                 grad=True, signed=False, note="", oracle=None, typed=False, seeds=None, eager=True):
        self.op, self.tensors, self.outs, self.call, self.note = op, list(tensors), outs, call, note
        operands = ", ".join(f"%x{i}" for i in range(len(self.tensors)))
        results = ", ".join(f"%o{i}" for i in range(outs))
        self.attrs = attrs
        self.text = text or f"{results} = pd.{op} ({operands})" + (f" {{{attrs}}}" if attrs else "")
        # Units in the last place that may differ; `scale` measures them at the largest number too, for what is summed.
        self.ulp, self.scale = ulp, scale
        self.gulp = 4 * ulp if gulp is None else gulp
        self.gscale = max(scale, 1.0) if gscale is None else gscale
        self.differentiate = grad
        self.signed = signed
        # PaddlePaddle's formula for a gradient that its own operation does not give.
        self.oracle = oracle
        # Whether the types of the results are written: they do not follow from operands that are computed.
        self.typed = typed
        # Which results get a cotangent: all, unless PaddlePaddle treats some as constants.
        self.seeds = seeds
        # Whether the eager engine differentiates it.
        self.eager = eager

    @property
    def dtype(self):
        return self.tensors[0].dtype if self.tensors else ""

    def __repr__(self):
        return f"{self.text.replace(chr(10), '; ')} with {', '.join(map(repr, self.tensors))}" + \
            (f" ({self.note})" if self.note else "")


def number(value):
    """A number as an attribute of our text."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    value = float(value)
    if not np.isfinite(value):
        return f"0x{np.float64(value).view(np.uint64):016X} : f64"
    text = repr(value)
    return text if "." in text or "e" in text and "." in text else text.replace("e", ".0e") if "e" in text else text + ".0"


def attribute(value):
    if isinstance(value, str):
        return value if re.fullmatch(r"@.*", value) else f'"{value}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(attribute(v) for v in value) + "]"
    return number(value)


class Type:
    """The name of an element type, as an attribute."""

    def __init__(self, dtype):
        self.dtype = dtype


def attributes(**given):
    return ", ".join(f"{k} = {v.dtype if isinstance(v, Type) else attribute(v)}" for k, v in given.items())


OPS = {}


def covers(*names):
    """Says which operations a generator makes cases of. It is called with a `Draw` and a name."""

    def register(generator):
        for name in names:
            OPS.setdefault(name, []).append(generator)
        return generator

    return register


class Draw:
    """Random tensors, the same for the same operation and seed."""

    def __init__(self, op, seed):
        self.random = np.random.default_rng([zlib.crc32(op.encode()), seed])

    def integer(self, low, high):
        """One from `low` to `high`, with both."""
        return int(self.random.integers(low, high + 1))

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, p=0.5):
        return bool(self.random.random() < p)

    def shape(self, rank=None, low=1, high=4):
        rank = self.integer(0, 4) if rank is None else rank
        return [self.integer(low, high) for _ in range(rank)]

    def array(self, shape, dtype, low=None, high=None):
        shape = list(shape)
        if dtype == "i1":
            return self.random.random(shape) < 0.5
        if dtype in INTS:
            low = (0 if dtype == "ui8" else -9) if low is None else low
            return self.random.integers(low, (9 if high is None else high) + 1, shape)
        if low is not None or high is not None:
            low, high = -3.0 if low is None else low, 3.0 if high is None else high
            return low + (high - low) * self.random.random(shape)
        # Numbers of some size, and now and then equal ones, halves and integers.
        values = np.asarray(self.random.normal(size=shape) * 1.7)
        round_ones = self.random.random(shape) < 0.2
        return np.where(round_ones, np.round(values * 2) / 2, values)

    def tensor(self, shape, dtype, low=None, high=None, grad=True):
        return Tensor(self.array(shape, dtype, low, high), dtype, grad)

    def distinct(self, shape, dtype, grad=True):
        """Without ties."""
        count = int(np.prod(shape))
        values = self.random.permutation(count).astype(float) - count // 2
        if dtype in FLOATS:
            values = values * 0.5 + 0.25
        elif dtype == "ui8":
            values += count // 2
        return Tensor(values.reshape(shape), dtype, grad)

    def ties(self, shape, dtype, grad=True):
        """With many ties."""
        low = 0 if dtype in ("ui8", "i1") else -1
        return Tensor(self.random.integers(low, 2, list(shape)), dtype, grad)

    def index(self, shape, low, high, dtype="i64"):
        """Indices from `low` to `high`, with both."""
        return Tensor(self.random.integers(low, high + 1, list(shape)), dtype)


def edges(dtype):
    """Numbers at which operations may do something particular."""
    if dtype == "i1":
        return np.array([False, True])
    if dtype in INTS:
        info = np.iinfo(NUMPY[dtype])
        near = [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 100, info.max, info.max - 1]
        return np.array(near + ([] if dtype == "ui8" else [-n for n in near[1:]] + [info.min]), NUMPY[dtype])
    half = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 5.0, 6.0, 7.0, 10.0, 20.0, 21.0, 40.0, 87.0, 100.0, 710.0, 1000.0,
            1e-3, 4.0 * TINY[dtype], MAX[dtype], np.inf]
    return Tensor(np.array(half + [-v for v in half] + [np.nan]), dtype).array


# Shapes with all that is particular: none, one, no elements.
SHAPES = ([], [1], [5], [0], [2, 3], [2, 0, 3], [2, 1, 4, 2])
BROADCASTS = (([], []), ([3], []), ([], [2, 3]), ([2, 3], [3]), ([2, 1], [1, 3]), ([2, 1, 3], [4, 1]), ([0], [1]), ([], [0]),
              ([2, 0], [1, 1]), ([1], [1, 1]), ([2, 3], [2, 3]), ([7], [7]), ([3, 1, 2], [1, 2, 1, 2]))


def axes_of(rank):
    """Axes, and lists of them: none, one, counted from behind, several."""
    yield []
    for axis in range(rank):
        yield [axis]
        yield [axis - rank]
    if rank > 1:
        yield [0, rank - 1]
        yield list(range(rank))
        yield [-1, 0]
