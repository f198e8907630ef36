"""Operations: how they are written, and what PaddlePaddle calls them.

Each entry says how many tensors an operation takes, how it is written in our text, and the call of PaddlePaddle's that it
means, in eager mode and in a static program alike. Shapes are found by running the call. Nothing here is read from the
tables of pir-opt, and nothing there from these.
"""

from dataclasses import dataclass
from typing import Any, Callable

import paddle
import paddle.nn.functional as F


@dataclass
class Entry:
    arity: int
    run: Callable
    text: Callable
    # Attributes for these shapes, or None if there are none that fit.
    attrs: Callable = lambda r, shapes: {}
    # A call that means the same and that PaddlePaddle can differentiate twice; False if there is none.
    twice: Any = True
    # How often it is chosen.
    weight: int = 1
    # Whether it keeps values small.
    tame: bool = True
    # How many results.
    results: int = 1


OPS = {}


def written(name, *names):
    """`pd.name (%a, %b) {attrs}`, with the attributes as they are."""

    def text(ins, attrs):
        given = ", ".join(f"{key} = {literal(attrs[key])}" for key in names)
        return f"pd.{name} ({', '.join('%' + i for i in ins)})" + (f" {{{given}}}" if given else "")

    return text


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(literal(v) for v in value) + "]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def op(name, arity, run, text=None, **more):
    OPS[name] = Entry(arity, run, text or written(name), **more)


def unary(name, run, **more):
    op(name, 1, run, **more)


def axis_of(r, shapes):
    return {"axis": r.randrange(len(shapes[0]))} if shapes[0] else None


def reduction(r, shapes):
    rank = len(shapes[0])
    if rank == 0:
        return None
    axes = sorted(r.sample(range(rank), r.randint(1, rank)))
    return {"axis": axes, "keepdim": r.random() < 0.3}


def number(r, least=-1.5, most=1.5):
    """A number that is the same in float32, which static programs have for some attributes."""
    return round(r.uniform(least, most) * 64) / 64


# Elementwise, of one tensor. What is not defined everywhere is applied behind something that makes it so, in `make`.
unary("tanh", paddle.tanh, weight=4)
unary("sigmoid", F.sigmoid, weight=3)
unary("sin", paddle.sin, weight=4)
unary("cos", paddle.cos, weight=3)
unary("square", paddle.square, tame=False)
unary("exp", paddle.exp, tame=False)
unary("abs", paddle.abs)
unary("relu", F.relu, weight=2)
unary("silu", F.silu)
unary("softplus", F.softplus)
unary("neg", paddle.neg)
unary("erf", paddle.erf, twice=False)
unary("gelu", F.gelu, twice=False)
unary("mish", F.mish, twice=lambda x: x * paddle.tanh(F.softplus(x)))
unary("atan", paddle.atan, twice=False)
unary("asinh", paddle.asinh, twice=False)
unary("sinh", paddle.sinh, twice=lambda x: (paddle.exp(x) - paddle.exp(-x)) / 2, tame=False)
unary("cosh", paddle.cosh, twice=lambda x: (paddle.exp(x) + paddle.exp(-x)) / 2, tame=False)
unary("expm1", paddle.expm1, twice=lambda x: paddle.exp(x) - 1, tame=False)
unary("softsign", F.softsign, twice=lambda x: x / (1 + paddle.abs(x)))
unary("hardswish", F.hardswish, twice=False)
# PaddlePaddle has the slope in f32.
op("hardsigmoid", 1, lambda x, slope: F.hardsigmoid(x, slope=slope), written("hardsigmoid", "slope"), attrs=lambda r, s: {"slope": 0.25},
   twice=False)
unary("logsigmoid", F.log_sigmoid, twice=lambda x: paddle.log(F.sigmoid(x)))
unary("tanh_shrink", F.tanhshrink, twice=lambda x: x - paddle.tanh(x))
unary("swish", F.swish, twice=F.silu)
unary("relu6", F.relu6, twice=False)
unary("assign", paddle.assign)
unary("detach", lambda x: x.detach(), weight=2)
unary("floor", paddle.floor, twice=False)
unary("sign", paddle.sign, twice=False)
op("leaky_relu", 1, lambda x, negative_slope: F.leaky_relu(x, negative_slope), written("leaky_relu", "negative_slope"),
   attrs=lambda r, s: {"negative_slope": number(r, 0, 0.3)})
op("elu", 1, lambda x, alpha: F.elu(x, alpha), written("elu", "alpha"), attrs=lambda r, s: {"alpha": number(r, 0.5, 1.2)})
# Tensors that are positive, before what needs that.
op("log", 1, lambda x: paddle.log(paddle.square(x) + 1.0), None)
op("sqrt", 1, lambda x: paddle.sqrt(paddle.square(x) + 1.0), None)
op("rsqrt", 1, lambda x: paddle.rsqrt(paddle.square(x) + 1.0), None)
op("reciprocal", 1, lambda x: paddle.reciprocal(paddle.square(x) + 1.0), None, twice=lambda x: 1 / (paddle.square(x) + 1.0))
op("log1p", 1, lambda x: paddle.log1p(paddle.square(x) + 1.0), None, twice=lambda x: paddle.log(paddle.square(x) + 2.0))
GUARDED = {"log", "sqrt", "rsqrt", "reciprocal", "log1p"}

op("scale", 1, lambda x, scale, bias, bias_after_scale: paddle.scale(x, scale, bias, bias_after_scale),
   written("scale", "scale", "bias", "bias_after_scale"), weight=4,
   attrs=lambda r, s: {"scale": number(r), "bias": r.choice([0.0, 1.0, number(r)]), "bias_after_scale": r.random() < 0.7})
op("clip", 1, lambda x, min, max: paddle.clip(x, min, max), written("clip", "min", "max"), weight=2,
   attrs=lambda r, s: {"min": number(r, -0.8, -0.1), "max": number(r, 0.1, 0.8)})
op("pow", 1, lambda x, y: paddle.pow(x, y), written("pow", "y"), attrs=lambda r, s: {"y": r.choice([2.0, 3.0])}, tame=False)

# Of two tensors that broadcast.
op("add", 2, paddle.add, weight=6)
op("subtract", 2, paddle.subtract, weight=4)
op("multiply", 2, paddle.multiply, weight=7)
op("maximum", 2, paddle.maximum, weight=2)
op("minimum", 2, paddle.minimum)
op("fmax", 2, paddle.fmax, twice=paddle.maximum)
op("divide", 2, lambda x, y: paddle.divide(x, paddle.square(y) + 1.0), None, weight=2)
op("elementwise_pow", 2, lambda x, y: paddle.pow(paddle.square(x) + 1.0, paddle.tanh(y)), None,
   twice=lambda x, y: paddle.exp(paddle.tanh(y) * paddle.log(paddle.square(x) + 1.0)))
op("atan2", 2, lambda x, y: paddle.atan2(x, paddle.square(y) + 1.0), None, twice=False)
op("where", 2, lambda x, y: paddle.where(paddle.greater_than(x, y), x, paddle.tanh(y)), None)


def matmul_attrs(r, shapes):
    a, b = shapes
    if len(a) != 2 or len(b) != 2:
        return None
    fits = [(p, q) for p in (False, True) for q in (False, True) if (a[0] if p else a[1]) == (b[1] if q else b[0])]
    if not fits:
        return None
    p, q = r.choice(fits)
    return {"transpose_x": p, "transpose_y": q}


op("matmul", 2, lambda x, y, transpose_x, transpose_y: paddle.matmul(x, y, transpose_x, transpose_y),
   written("matmul", "transpose_x", "transpose_y"), attrs=matmul_attrs, weight=12)
op("outer", 2, paddle.outer, attrs=lambda r, s: {} if len(s[0]) == len(s[1]) == 1 else None)
op("dot", 2, paddle.dot, attrs=lambda r, s: {} if len(s[0]) == 1 and s[0] == s[1] else None, twice=lambda x, y: paddle.sum(x * y))

# Reductions, and what else looks along an axis.
for _name in ("sum", "mean", "max", "min", "prod"):
    op(_name, 1, (lambda f: lambda x, axis, keepdim: f(x, axis=axis, keepdim=keepdim))(getattr(paddle, _name)),
       written(_name, "axis", "keepdim"), attrs=reduction, twice=_name in ("sum", "mean"), weight=4 if _name in ("sum", "mean") else 1)
op("logsumexp", 1, lambda x, axis, keepdim: paddle.logsumexp(x, axis, keepdim), written("logsumexp", "axis", "keepdim"), attrs=reduction,
   twice=lambda x, axis, keepdim: paddle.log(paddle.sum(paddle.exp(x), axis=axis, keepdim=keepdim)))
op("softmax", 1, lambda x, axis: F.softmax(x, axis), written("softmax", "axis"), attrs=axis_of, weight=2,
   twice=lambda x, axis: paddle.exp(x) / paddle.sum(paddle.exp(x), axis=axis, keepdim=True))
op("log_softmax", 1, lambda x, axis: F.log_softmax(x, axis), written("log_softmax", "axis"), attrs=axis_of,
   twice=lambda x, axis: x - paddle.log(paddle.sum(paddle.exp(x), axis=axis, keepdim=True)))
op("cumsum", 1, lambda x, axis: paddle.cumsum(x, axis), written("cumsum", "axis"), attrs=axis_of, twice=False)
op("flip", 1, lambda x, axis: paddle.flip(x, axis), written("flip", "axis"),
   attrs=lambda r, s: {"axis": [r.randrange(len(s[0]))]} if s[0] else None)
op("p_norm", 1, lambda x, porder, axis, keepdim: paddle.norm(x, porder, axis, keepdim), written("p_norm", "porder", "axis", "keepdim"),
   attrs=lambda r, s: {"porder": 2.0, "axis": r.randrange(len(s[0])), "keepdim": r.random() < 0.5} if s[0] else None,
   twice=lambda x, porder, axis, keepdim: paddle.sqrt(paddle.sum(x * x, axis=axis, keepdim=keepdim)))

# What moves elements.
op("transpose", 1, lambda x, perm: paddle.transpose(x, perm), written("transpose", "perm"),
   attrs=lambda r, s: {"perm": r.sample(range(len(s[0])), len(s[0]))} if len(s[0]) > 1 else None, weight=2)


def reshape_attrs(r, shapes):
    size = 1
    for d in shapes[0]:
        size *= d
    if size == 0:
        return None
    shape = r.choice([[a, size // a] for a in range(1, size + 1) if size % a == 0] + [[size]])
    return {"shape": shape}


op("reshape", 1, lambda x, shape: paddle.reshape(x, shape), written("reshape", "shape"), attrs=reshape_attrs)
op("expand", 1, lambda x, shape: paddle.expand(x, shape), written("expand", "shape"),
   attrs=lambda r, s: {"shape": [2, *s[0]]} if len(s[0]) < 2 else None)
op("unsqueeze", 1, lambda x, axis: paddle.unsqueeze(x, axis), written("unsqueeze", "axis"),
   attrs=lambda r, s: {"axis": [r.randint(0, len(s[0]))]} if len(s[0]) < 2 else None)
op("squeeze", 1, lambda x, axis: paddle.squeeze(x, axis), written("squeeze", "axis"),
   attrs=lambda r, s: {"axis": [s[0].index(1)]} if 1 in s[0] else None, weight=3)
op("tile", 1, lambda x, repeat_times: paddle.tile(x, repeat_times), written("tile", "repeat_times"),
   attrs=lambda r, s: {"repeat_times": [r.randint(1, 2) for _ in s[0]]} if 0 < len(s[0]) and max(s[0]) < 4 else None)


def slice_attrs(r, shapes):
    axes = [k for k, d in enumerate(shapes[0]) if d > 1]
    if not axes:
        return None
    axis = r.choice(axes)
    start = r.randrange(shapes[0][axis])
    end = r.randint(start + 1, shapes[0][axis])
    return {"axes": [axis], "starts": [start], "ends": [end]}


op("slice", 1, lambda x, axes, starts, ends: paddle.slice(x, axes, starts, ends), written("slice", "axes", "starts", "ends"),
   attrs=slice_attrs, weight=3)
op("concat", 2, lambda x, y, axis: paddle.concat([x, y], axis), written("concat", "axis"), weight=2,
   attrs=lambda r, s: {"axis": r.randrange(len(s[0]))} if s[0] and len(s[0]) == len(s[1]) and sum(s[0]) + sum(s[1]) < 12 else None)
op("stack", 2, lambda x, y, axis: paddle.stack([x, y], axis), written("stack", "axis"),
   attrs=lambda r, s: {"axis": r.randint(0, len(s[0]))} if s[0] == s[1] and len(s[0]) < 2 else None)
op("split", 1, lambda x, sections, axis: paddle.split(x, sections, axis), written("split", "sections", "axis"), results=2,
   attrs=lambda r, s: (lambda k: {"sections": [1, s[0][k] - 1], "axis": k})(r.choice([k for k, d in enumerate(s[0]) if d > 1]))
   if any(d > 1 for d in s[0]) else None)
op("unbind", 1, lambda x, axis: paddle.unbind(x, axis), written("unbind", "axis"), results=2,
   attrs=lambda r, s: {"axis": s[0].index(2)} if 2 in s[0] else None)
# The scalar is a tensor.
op("scale_by", 2, lambda x, y: paddle.multiply(x, y), lambda ins, attrs: f"pd.scale (%{ins[0]}, %{ins[1]})",
   attrs=lambda r, s: {} if s[1] == () else None, weight=2)
op("gather", 1, lambda x, index: paddle.gather(x, paddle.full([2], index, "int64"), 0), None,
   attrs=lambda r, s: {"index": r.randrange(s[0][0])} if s[0] and s[0][0] > 1 else None)


def guarded(name):
    """Lines for an operation behind `x*x + 1`, `%0` being the last value before."""

    def text(ins, attrs, out):
        x = ins[-1]
        lines = [f"%{out}_q = pd.square (%{x})", f"%{out}_p = pd.scale (%{out}_q) {{scale = 1.0, bias = 1.0}}"]
        if name == "elementwise_pow":
            return [f"%{out}_q = pd.square (%{ins[0]})", lines[1], f"%{out}_t = pd.tanh (%{ins[1]})",
                    f"%{out} = pd.elementwise_pow (%{out}_p, %{out}_t)"]
        operands = f"%{ins[0]}, %{out}_p" if len(ins) == 2 else f"%{out}_p"
        return [*lines, f"%{out} = pd.{name} ({operands})"]

    return text


# Operations that are written in several lines.
LINES = {name: guarded(name) for name in [*GUARDED, "divide", "elementwise_pow", "atan2"]}
LINES["where"] = lambda ins, attrs, out: [
    f"%{out}_c = pd.greater_than (%{ins[0]}, %{ins[1]})",
    f"%{out}_t = pd.tanh (%{ins[1]})",
    f"%{out} = pd.where (%{out}_c, %{ins[0]}, %{out}_t)",
]
LINES["gather"] = lambda ins, attrs, out: [
    f"%{out}_i = pd.full {{shape = [2], value = {attrs['index']}, dtype = i64}}",
    f"%{out} = pd.gather (%{ins[0]}, %{out}_i) {{axis = 0}}",
]

# Of integers and truth values, and what compares floats. Chosen by `make` where it needs them.
op("int_add", 2, paddle.add, written("add"), weight=0)
op("int_less", 2, paddle.less_than, written("less_than"), weight=0)
op("less", 2, paddle.less_than, written("less_than"), weight=0)
op("and", 2, paddle.logical_and, written("logical_and"), weight=0)
op("not", 1, paddle.logical_not, written("logical_not"), weight=0)
op("float", 1, lambda i: paddle.cast(i, "float64"), lambda ins, attrs: f"pd.cast (%{ins[0]}) {{dtype = f64}}", weight=0)
op("total", 1, lambda x: paddle.sum(x), written("sum"), weight=0)
op("like", 1, lambda x, value: paddle.full_like(x, value), written("full_like", "value"), weight=0)
op("select", 3, paddle.where, written("where"), weight=0)
op("raise", 2, paddle.pow, written("elementwise_pow"), weight=0, twice=False)
op("bce", 2, lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), written("bce_loss"), weight=0, twice=False)
