"""Functions of arrays that `compare` lowers, and what is not supported of them."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

R = np.random.default_rng(3)


def f(*shape, low=-2.0, high=2.0):
    return R.uniform(low, high, shape)


def i(*shape, low=-9, high=10, dtype=np.int64):
    return R.integers(low, high, shape).astype(dtype)


CASES = []


def case(name, function, *args):
    CASES.append((name, function, args))


UNARY = {
    "exp": (-2, 2), "expm1": (-2, 2), "log": (0.1, 3), "log1p": (-0.8, 3), "tanh": (-2, 2), "logistic": (-3, 3),
    "sin": (-3, 3), "cos": (-3, 3), "tan": (-1, 1), "sqrt": (0.1, 3), "rsqrt": (0.1, 3), "cbrt": (-3, 3),
    "abs": (-2, 2), "neg": (-2, 2), "sign": (-2, 2), "floor": (-3, 3), "ceil": (-3, 3), "round": (-3, 3),
    "is_finite": (-1, 1), "erf": (-2, 2), "erfc": (-2, 2), "asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "atan": (-3, 3),
    "sinh": (-2, 2), "cosh": (-2, 2), "asinh": (-3, 3), "acosh": (1.2, 4), "atanh": (-0.9, 0.9), "square": (-2, 2),
    "erf_inv": (-0.9, 0.9), "lgamma": (0.5, 4), "digamma": (0.5, 4), "reciprocal": (0.3, 2),
}
for op, (low, high) in UNARY.items():
    case(f"unary.{op}", getattr(lax, op), f(3, 4, low=low, high=high))
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e300])
for op in ("exp", "tanh", "logistic", "abs", "neg", "sign", "floor", "ceil", "round", "is_finite", "sqrt", "erf"):
    case(f"edges.{op}", lambda op=op: getattr(lax, op)(jnp.asarray(EDGES)))
case("edges.round_even", lambda: lax.round(jnp.asarray(EDGES), lax.RoundingMethod.TO_NEAREST_EVEN))
case("edges.max", lambda: lax.max(jnp.asarray(EDGES)[:, None], jnp.asarray(EDGES)[None, :]))
case("edges.min", lambda: lax.min(jnp.asarray(EDGES)[:, None], jnp.asarray(EDGES)[None, :]))
case("edges.pow", lambda: lax.pow(jnp.asarray(EDGES)[:, None] * jnp.ones(13), jnp.asarray(EDGES)[None, :] * jnp.ones((13, 1))))
case("kinks.abs", lax.abs, np.array([0.0, 1.0, -1.0]))
case("kinks.max", lax.max, np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0]))
case("kinks.clamp", lambda x: lax.clamp(-1.0, x, 1.0), np.array([-1.0, 1.0, 0.5, 2.0, -3.0]))
case("kinks.relu", jax.nn.relu, np.array([0.0, 1.0, -1.0]))
case("kinks.pow", lax.pow, np.array([0.0, 0.0, 2.0]), np.array([2.0, 1.0, 3.0]))
case("kinks.reduce_max", lambda x: jnp.max(x, axis=1), np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]))
for op in ("add", "sub", "mul", "div", "max", "min", "rem", "atan2"):
    case(f"binary.{op}", getattr(lax, op), f(3, 4), f(3, 4))
case("binary.pow", lax.pow, f(3, 4, low=0.2), f(3, 4))
case("binary.integer_pow", lambda x: x**3 + x**-2, f(4, low=0.5))
INTS = np.array([-9, -7, -3, -1, 0, 1, 2, 3, 8, 2**62, -(2**63)])
for op in ("add", "sub", "mul", "div", "rem", "max", "min", "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "lt", "ge"):
    case(f"int.{op}", lambda op=op: getattr(lax, op)(*jnp.broadcast_arrays(jnp.asarray(INTS)[:, None], jnp.asarray(INTS)[None, :])))
    case(f"int32.{op}", getattr(lax, op), i(20, dtype=np.int32), i(20, dtype=np.int32))
for op in ("shift_left", "shift_right_logical", "shift_right_arithmetic"):
    case(f"int32.{op}", getattr(lax, op), i(20, dtype=np.int32), i(20, low=0, high=40, dtype=np.int32))
BITS = {ty: np.array([0, 1, 2, 3, 7, 100, 2**(8 * np.dtype(ty).itemsize - 1), 2**(8 * np.dtype(ty).itemsize) - 1], ty) for ty in ("uint8", "uint16", "uint32", "uint64")}
for ty, values in BITS.items():
    pairs = [a.copy() for a in np.broadcast_arrays(values[:, None], values[None, :])]
    case(f"{ty}.arithmetic", lambda a, b: (a + b, a - b, a * b, a // jnp.maximum(b, 1), -a, ~a, jnp.sign(a)), *pairs)
    case(f"{ty}.division", lambda a, b: (lax.div(a, b), lax.rem(a, b)), *pairs)
    case(f"{ty}.order", lambda a, b: (jnp.maximum(a, b), jnp.minimum(a, b), a < b, a >= b, a == b, a != b, jnp.clip(a, 2, b)), *pairs)
    case(f"{ty}.bits", lambda a, b: (a & b, a | b, a ^ b, lax.population_count(a), lax.clz(a)), *pairs)
    case(f"{ty}.shifts", lambda a, b: (lax.shift_left(a, b), lax.shift_right_logical(a, b), lax.shift_right_arithmetic(a, b)), *pairs)
    case(f"{ty}.reduce", lambda a, b: (jnp.sum(a, 1, dtype=a.dtype), jnp.max(a ^ b, 0), jnp.min(a, 0), jnp.argmax(a, 1), jnp.cumsum(a, 1, dtype=a.dtype), jnp.sort(a * 77 ^ b, 1), lax.cummax(a, 0)), *pairs)
    case(f"{ty}.constants", lambda a, v=values: (a ^ jnp.asarray(v), a + jnp.asarray(v[-1])), values)
    case(f"{ty}.loop", lambda a: lax.fori_loop(0, 5, lambda k, v: (v * 5 + 1) ^ (v >> 3), a), values)
    for to in ("int8", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64", "bool"):
        case(f"convert.{ty}.{to}", lambda x, to=to: lax.convert_element_type(x, to), values)
for to in ("uint8", "uint16", "uint32", "uint64"):
    case(f"convert.saturates.{to}", lambda x, to=to: lax.convert_element_type(x, to), np.array([3e9, -3e9, np.nan, np.inf, -np.inf, 2.7, -2.7, 5e9, 2e19]))
case("int.shifts", lambda a, b: (lax.shift_left(a, b), lax.shift_right_logical(a, b), lax.shift_right_arithmetic(a, b)), np.array([1, -1, -8, 5, 2**62, -(2**63)]), np.array([32, 40, 63, 64, 1, 100]))
case("int32.shift_edges", lambda a, b: (lax.shift_left(a, b), lax.shift_right_logical(a, b), lax.shift_right_arithmetic(a, b)), np.array([1, -1, -8, -1], np.int32), np.array([32, 40, 40, -1], np.int32))
for source, to in (("float32", "uint32"), ("float64", "uint64"), ("float64", "uint32"), ("uint32", "uint8"), ("int64", "float64"), ("int32", "float32")):
    case(f"bitcast.{source}.{to}", lambda x, to=to: lax.bitcast_convert_type(x, to), jnp.asarray([1.5, -2.25, 0.0, 7.0]).astype(source))
case("bitcast.bfloat16.uint16", lambda x: lax.bitcast_convert_type(x.astype(jnp.bfloat16), jnp.uint16), f(5))
case("unary.polygamma", lambda x: jax.scipy.special.polygamma(2, x), f(5, low=0.3, high=9))
# Hurwitz's function has no derivative here.
case("unary.zeta", lambda x: x * jax.scipy.special.zeta(jnp.asarray([1.5, 2.0, 2.5, 3.0, 7.25]), jnp.asarray([0.7, 1.0, 4.5, 0.02, 30.0])), f(5))
case("bitcast.uint8.uint32", lambda x: lax.bitcast_convert_type(x, jnp.uint32), i(3, 4, low=0, high=256, dtype=np.uint8))
for exponent, mantissa in ((8, 7), (5, 10), (5, 2), (4, 3), (8, 23), (11, 20), (2, 0)):
    for ty in ("float32", "float64"):
        case(f"reduce_precision.{ty}.{exponent}.{mantissa}", lambda x, e=exponent, m=mantissa: lax.reduce_precision(x, e, m), np.array([1.0, -1.37, 3.14159, 0.1, 65504.0, 65520.0, 1e9, -1e-9, 1e-5, 0.0, -0.0, np.inf, np.nan, 2.0**-16, 240.0, 3.5, 2.5]).astype(ty))
case("int32.floor_divide", lambda a, b: a // b, i(20, dtype=np.int32), i(20, low=1, dtype=np.int32))
case("int32.mod", lambda a, b: a % b, i(20, dtype=np.int32), i(20, low=1, dtype=np.int32))
case("int32.popcount", lax.population_count, i(9, dtype=np.int32))
case("int32.clz", lax.clz, i(9, dtype=np.int32))
case("bool.all", lambda a, b: (a & b, a | b, a ^ b, ~a, a == b, a < b), i(8, low=0, high=2).astype(bool), i(8, low=0, high=2).astype(bool))
for op in ("eq", "ne", "lt", "le", "gt", "ge"):
    case(f"compare.{op}", getattr(lax, op), np.array([1.0, np.nan, 2.0, -0.0]), np.array([1.0, np.nan, 3.0, 0.0]))
for ty in ("int32", "int64", "int8", "bool", "float32", "float64", "uint8", "uint32", "bfloat16", "float16"):
    case(f"convert.float64.{ty}", lambda x, ty=ty: lax.convert_element_type(x, ty), np.array([2.7, -2.7, 0.0, 100.2, 3.5]) if ty[0] != "u" else np.array([2.7, 0.0, 200.0]))
    case(f"convert.int64.{ty}", lambda x, ty=ty: lax.convert_element_type(x, ty), np.array([2, 0, 1, 100]))
case("convert.saturates", lambda x: lax.convert_element_type(x, jnp.int32), np.array([3e9, -3e9, np.nan, np.inf, -np.inf, 2.7, -2.7]))
case("select.where", lambda p, a, b: jnp.where(p, a, b), np.array([True, False, True]), f(3), f(3))
case("select.scalar", lambda p, a, b: lax.select(p, a, b), np.array(True), f(3), f(3))
case("select.nan_safe", lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0), f(6))
case("clamp.arrays", lax.clamp, f(5, low=-1, high=-0.5), f(5), f(5, low=0.5, high=1))
case("clamp.scalars", lambda lo, x, hi: lax.clamp(lo, x, hi), np.array(-0.7), np.array(0.2), np.array(0.9))

case("shape.reshape", lambda x: jnp.reshape(x, (4, 3)), f(2, 6))
case("shape.transpose", lambda x: jnp.transpose(x, (2, 0, 1)), f(2, 3, 4))
case("shape.broadcast", lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (0, 2)), f(2, 1))
case("shape.broadcast_swapped", lambda x: lax.broadcast_in_dim(x, (2, 3), (0, 1)) * jnp.ones((2, 3)), f(2, 3))
case("shape.rev", lambda x: lax.rev(x, (0, 2)), f(2, 3, 4))
case("shape.slice", lambda x: lax.slice(x, (1, 0), (7, 3), (2, 1)), f(8, 4))
case("shape.pad", lambda x, v: lax.pad(x, v, ((1, 2, 1), (0, 1, 0))), f(3, 2), np.array(0.5))
case("shape.pad_negative", lambda x, v: lax.pad(x, v, ((-1, 2, 1), (1, -1, 2))), f(4, 3), np.array(0.5))
case("shape.pad_cuts_space", lambda x, v: lax.pad(x, v, ((-2, -1, 2),)), f(4), np.array(0.5))
case("shape.concatenate", lambda a, b, c: jnp.concatenate([a, b, c], 1), f(2, 1), f(2, 3), f(2, 2))
case("shape.stack", lambda a, b: jnp.stack([a, b], -1), f(2, 3), f(2, 3))
case("shape.iota", lambda: lax.broadcasted_iota(jnp.int32, (2, 3, 4), 1))
case("shape.eye", lambda x: jnp.eye(4) @ x + jnp.tril(x), f(4, 4))
case("shape.split", lambda x: jnp.split(x, 3, axis=1), f(2, 6))
case("shape.tile", lambda x: jnp.tile(x, (2, 3)), f(2, 2))
case("shape.repeat", lambda x: jnp.repeat(x, 3, axis=0), f(2, 2))
case("shape.roll", lambda x: jnp.roll(x, 2, axis=1), f(2, 5))
case("shape.empty", lambda x: (jnp.sum(x), x * 2, jnp.concatenate([x, x])), f(0, 3))
case("shape.constants", lambda x: x + jnp.asarray(np.arange(12.0).reshape(3, 4)) + jnp.asarray([[True], [False], [True]]), f(3, 4))
case("shape.big_constant", lambda x: x @ jnp.asarray(np.sin(np.arange(200.0)).reshape(4, 50)), f(2, 4))

for op in ("sum", "prod", "max", "min", "mean", "var", "std"):
    case(f"reduce.{op}", lambda x, op=op: getattr(jnp, op)(x, axis=(0, 2)), f(3, 4, 2))
    case(f"reduce.{op}_all", lambda x, op=op: getattr(jnp, op)(x), f(3, 4))
for op in ("any", "all"):
    case(f"reduce.{op}", lambda x, op=op: getattr(jnp, op)(x > 0, axis=1), f(5, 2))
for op in ("argmax", "argmin"):
    case(f"reduce.{op}", lambda x, op=op: getattr(jnp, op)(x, axis=1), f(5, 7))
case("reduce.argmax_ties", lambda: jnp.argmax(jnp.asarray([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), axis=1))
case("reduce.int_sum", lambda x: (jnp.sum(x), jnp.max(x, 0), jnp.prod(x, 1)), i(4, 3, dtype=np.int32))
case("reduce.bits", lambda x: lax.reduce(x, np.int32(0), lax.bitwise_or, (0,)), i(6, dtype=np.int32))
case("reduce.kept", lambda x: lax.reduce(x, np.uint32(3), lambda a, b: a ^ lax.shift_right_logical(lax.shift_left(b, np.uint32(1)), np.uint32(1)), (1,)), i(3, 2, low=0, dtype=np.uint32))
case("reduce.custom", lambda x: lax.reduce(x, 0.1, lambda a, b: a + b + a * b * 0.25, (1,)), f(2, 7))
case("reduce.with_init", lambda x, v: lax.reduce(x, v, lax.add, (0,)), f(5, 2), np.array(1.5))
case("reduce.logsumexp", lambda x: jax.nn.logsumexp(x, axis=1), f(3, 5))
case("reduce.softmax", lambda x: jax.nn.softmax(x, axis=-1), f(3, 5))
case("reduce.log_softmax", lambda x: jax.nn.log_softmax(x, axis=0), f(3, 5))
case("reduce.norm", lambda x: jnp.linalg.norm(x, axis=1), f(3, 5))
for op in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    case(f"scan.{op}", lambda x, op=op: getattr(lax, op)(x, axis=1), f(2, 6, low=0.3))
    case(f"scan.{op}_reverse", lambda x, op=op: getattr(lax, op)(x, axis=0, reverse=True), f(5, 2, low=0.3))
for name, init, op in (("max", -np.inf, lax.max), ("min", np.inf, lax.min), ("sum", 0.0, lax.add)):
    case(f"window.{name}", lambda x, init=init, op=op: lax.reduce_window(x, init, op, (1, 2, 3, 1), (1, 2, 2, 1), "SAME"), f(2, 5, 6, 2))
    case(f"window.{name}_dilated", lambda x, init=init, op=op: lax.reduce_window(x, init, op, (3,), (1,), ((2, 1),), window_dilation=(2,)), f(9))
case("window.sum_base_dilated", lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (2,), ((1, 1),), base_dilation=(2,)), f(6))

case("dot.matmul", jnp.matmul, f(3, 4), f(4, 5))
case("dot.vector", jnp.dot, f(4), f(4))
case("dot.batched", jnp.matmul, f(2, 3, 4), f(2, 4, 5))
case("dot.outer", jnp.outer, f(3), f(4))
case("dot.int", jnp.matmul, i(3, 4, dtype=np.int32), i(4, 2, dtype=np.int32))
case("dot.mixed_order", lambda a, b: lax.dot_general(a, b, (((2, 0), (1, 3)), ((1,), (2,)))), f(5, 2, 3), f(4, 3, 2, 5))
for equation, shapes in {"bij,bjk->bik": ((2, 3, 4), (2, 4, 5)), "ij,kj->ki": ((3, 4), (5, 4)), "bhqd,bhkd->bhqk": ((2, 2, 3, 4), (2, 2, 5, 4)), "abc,cd,ad->bd": ((2, 3, 4), (4, 5), (2, 5)), "ii->i": ((4, 4),), "ij->": ((3, 2),)}.items():
    case(f"dot.einsum_{equation}".replace(",", "_").replace("->", "_to_"), lambda *xs, e=equation: jnp.einsum(e, *xs), *(f(*s) for s in shapes))

NUMBERS = ("NHWC", "HWIO", "NHWC")
case("conv.same", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=NUMBERS), f(2, 5, 6, 3), f(3, 3, 3, 4))
case("conv.strided", lambda x, k: lax.conv_general_dilated(x, k, (2, 1), ((1, 0), (0, 2)), rhs_dilation=(1, 2), dimension_numbers=NUMBERS), f(2, 7, 6, 2), f(3, 2, 2, 4))
case("conv.groups", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "VALID", feature_group_count=2, dimension_numbers=NUMBERS), f(1, 5, 5, 4), f(3, 3, 2, 6))
case("conv.nchw", lambda x, k: lax.conv(x, k, (1, 1), "SAME"), f(1, 2, 5, 5), f(3, 2, 3, 3))
case("conv.one_dimension", lambda x, k: jnp.convolve(x, k), f(8), f(3))
case("conv.transposed", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NUMBERS), f(1, 4, 4, 2), f(3, 3, 2, 3))

case("index.static", lambda x: x[1:, ::2, -1], f(3, 5, 2))
case("index.array", lambda x: x[jnp.array([2, 0, 1, 2])], f(3, 4))
case("index.array_out_of_range", lambda x: x[jnp.array([2, 7, -1])], f(3, 4))
case("index.pairs", lambda x: x[jnp.array([0, 2]), jnp.array([1, 3])], f(3, 4))
case("index.take", lambda x: jnp.take(x, jnp.array([[1, 0], [3, 3]]), axis=1), f(2, 4, 3))
case("index.take_clip", lambda x: jnp.take(x, jnp.array([1, 9, -5]), axis=0, mode="clip"), f(4, 2))
case("index.take_along", lambda x, ix: jnp.take_along_axis(x, ix, axis=1), f(3, 4), i(3, 2, low=0, high=4))
case("index.dynamic", lambda x, at: lax.dynamic_slice(x, (at, 1), (2, 2)), f(5, 4), np.array(2))
case("index.dynamic_clamped", lambda x, at: lax.dynamic_slice(x, (at, -3), (2, 2)), f(5, 4), np.array(9))
case("index.dynamic_update", lambda x, u, at: lax.dynamic_update_slice(x, u, (at, 1)), f(5, 4), f(2, 2), np.array(2))
case("index.dynamic_update_clamped", lambda x, u, at: lax.dynamic_update_slice(x, u, (at, -1)), f(5, 4), f(2, 2), np.array(8))
case("index.dynamic_in_dim", lambda x, at: lax.dynamic_index_in_dim(x, at, 1, keepdims=False), f(3, 5), np.array(3))
case("index.set", lambda x, u: x.at[jnp.array([2, 0])].set(u), f(4, 3), f(2, 3))
case("index.set_scalar", lambda x: x.at[1, 2].set(7.0), f(4, 3))
case("index.add", lambda x, u: x.at[jnp.array([2, 0, 2])].add(u), f(4, 3), f(3, 3))
case("index.add_dropped", lambda x, u: x.at[jnp.array([2, 9, 2])].add(u, mode="drop"), f(4, 3), f(3, 3))
case("index.mul", lambda x, u: x.at[jnp.array([2, 0])].multiply(u), f(4, 3), f(2, 3))
case("index.max", lambda x, u: x.at[jnp.array([2, 0])].max(u), f(4, 3), f(2, 3))
case("index.window", lambda x, u: x.at[1:3, 1].add(u), f(4, 3), f(2))
case("index.vmap_take", lambda x, ix: jax.vmap(lambda a, b: a[b])(x, ix), f(3, 5), i(3, low=0, high=5))
case("index.vmap_dynamic", lambda x, at: jax.vmap(lambda a, s: lax.dynamic_slice(a, (s,), (2,)))(x, at), f(3, 5), i(3, low=0, high=4))
case("index.segment_sum", lambda x, s: jax.ops.segment_sum(x, s, num_segments=3), f(6, 2), np.array([0, 2, 1, 1, 0, 2]))
case("index.one_hot", lambda x, ix: jax.nn.one_hot(ix, 5) @ x, f(5, 3), i(4, low=0, high=5))

case("sort.sort", lambda x: jnp.sort(x, axis=1), f(3, 7))
case("sort.argsort", lambda x: jnp.argsort(x, axis=0), f(7, 2))
case("sort.descending", lambda x: jnp.sort(x, descending=True), f(9))
case("sort.keys_values", lambda k, v: lax.sort((k, v), num_keys=1), f(8), f(8))
case("sort.two_keys", lambda k, v: lax.sort((k, v), num_keys=2), i(8, low=0, high=3), f(8))
case("sort.nan", lambda: jnp.sort(jnp.asarray([2.0, np.nan, -0.0, 0.0, -np.inf, 1.0])))
case("sort.ints", lambda x: jnp.sort(x), i(9, dtype=np.int32))
case("sort.top_k", lambda x: lax.top_k(x, 3), f(2, 8))
case("sort.median", lambda x: jnp.median(x), f(7))
case("sort.searchsorted", lambda x: jnp.searchsorted(jnp.sort(x), 0.3), f(8))
case("sort.unique_count", lambda x: jnp.sum(jnp.diff(jnp.sort(x)) != 0), i(9, low=0, high=4))


def newton(a):
    return lax.while_loop(lambda s: jnp.abs(s * s - a) > 1e-12, lambda s: 0.5 * (s + a / s), a + 1.0)


def collatz(n):
    return lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]


def nested(x, n):
    def outer(k, s):
        return lax.fori_loop(0, k, lambda j, t: jnp.sin(t) * x + j * 0.1, s)

    return lax.fori_loop(0, n, outer, x)


def cond_in_loop(x):
    def body(s):
        k, y = s
        return k + 1, lax.cond(jnp.sum(y) > 0, lambda v: v * 0.7 - x, lambda v: jnp.tanh(v) + x * x, y)

    return lax.while_loop(lambda s: s[0] < 7, body, (0, x))[1]


def switched(x, n):
    return lax.fori_loop(0, n, lambda k, y: lax.switch(k % 4, [jnp.sin, lambda v: v * x, lambda v: v - 0.3, jnp.exp], y) * 0.5, x)


def rk4(y0, k):
    rhs = lambda y: jnp.stack([y[1], k * (1 - y[0] ** 2) * y[1] - y[0]])

    def body(s):
        t, y = s
        a = rhs(y)
        b = rhs(y + 0.05 * a)
        return t + 0.1, y + 0.1 * (a + b) / 2

    return lax.while_loop(lambda s: s[0] < 1.0, body, (0.0, y0))[1]


def decoder(w, e):
    def body(s):
        k, h, out, done = s
        h = jnp.tanh(w @ h + e[k % 3])
        out = lax.dynamic_update_index_in_dim(out, jnp.sum(h), k, 0)
        return k + 1, h, out, jnp.sum(h) < -1.5

    return lax.while_loop(lambda s: (s[0] < 8) & ~s[3], body, (0, e[0], jnp.zeros(8), False))[2]


case("loop.newton", newton, np.array([2.0, 0.3, 9.0]).sum())
case("loop.newton_vmap", lambda a: jax.vmap(newton)(a), np.array([2.0, 0.3, 9.0]))
case("loop.collatz", collatz, np.array(27))
case("loop.nested", nested, np.array([0.3, -0.8]), np.array(4))
case("loop.none", nested, np.array([0.3, -0.8]), np.array(0))
case("loop.cond", cond_in_loop, f(3))
case("loop.switch", switched, np.array(0.7), np.array(9))
case("loop.rk4", rk4, np.array([1.0, 0.2]), np.array(0.7))
case("loop.decoder", decoder, f(3, 3, low=-0.6, high=0.6), f(3, 3))
case("loop.scan", lambda x, w: lax.scan(lambda h, v: (jnp.tanh(w @ h + v),) * 2, jnp.zeros(3), x), f(6, 3), f(3, 3))
case("loop.scan_reverse", lambda x: lax.scan(lambda h, v: (h * 0.5 + v, h * v), jnp.zeros(2), x, reverse=True), f(5, 2))
case("loop.associative", lambda x: lax.associative_scan(jnp.multiply, x), f(7, low=0.5))
case("loop.map", lambda x: lax.map(lambda v: jnp.sum(v * v), x), f(4, 3))
for trips in (1, 2, 7, 31, 32, 33):
    case(f"loop.trips_{trips}", lambda x, n: lax.fori_loop(0, n, lambda k, y: jnp.sin(y) + 0.1 * x * k, x), f(2), np.array(trips))
case("cond.cond", lambda p, x: lax.cond(p > 0, lambda v: v * 2, jnp.sin, x), np.array(-1.0), f(3))
case("cond.switch", lambda k, x: lax.switch(k, [jnp.sin, jnp.cos, jnp.tanh], x), np.array(5), f(3))
case("cond.one_branch", lambda x: lax.switch(0, [jnp.sin], x), f(3))

case("model.mlp", lambda x, a, b: jnp.mean((jax.nn.gelu(x @ a) @ b - 1.0) ** 2), f(4, 3), f(3, 5), f(5, 2))
case("model.layer_norm", lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5), f(3, 6))
case("model.attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v), *f(3, 1, 4, 2, 3).astype(np.float32))
case("model.cross_entropy", lambda x, t: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), t[:, None], 1)), f(4, 5), i(4, low=0, high=5))
case("model.activations", lambda x: (jax.nn.silu(x), jax.nn.softplus(x), jax.nn.elu(x), jax.nn.gelu(x, approximate=False), jax.nn.leaky_relu(x), jax.nn.selu(x), jax.nn.hard_tanh(x), jax.nn.relu6(x)), f(9))
case("model.interp", lambda x: jnp.interp(x, jnp.linspace(-2, 2, 5), jnp.linspace(-2, 2, 5) ** 2), f(6))
case("model.polyval", lambda c, x: jnp.polyval(c, x), f(4), f(5))
case("model.checkpoint", jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), f(3))
case("complex.fft", lambda x: jnp.abs(jnp.fft.fft(x)), f(8))
case("linalg.solve", jnp.linalg.solve, f(3, 3) + 3 * np.eye(3), f(3))
case("linalg.cholesky", lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(3)), f(3, 3))
KEY = jax.random.PRNGKey(7)
case("random.uniform", lambda: jax.random.uniform(jax.random.PRNGKey(0), (4,)))
case("random.uniform32", lambda: jax.random.uniform(KEY, (3, 5), jnp.float32, -1, 3))
for ty in ("uint8", "uint16", "uint32", "uint64"):
    case(f"random.bits.{ty}", lambda ty=ty: jax.random.bits(KEY, (3, 3), ty))
case("random.seed", lambda seed: jax.random.key_data(jax.random.key(seed)), np.array(12345678901))
case("random.split", lambda key: jax.random.split(key, 5), np.asarray(KEY))
case("random.fold_in", lambda key, k: jax.random.fold_in(key, k), np.asarray(KEY), np.array(3))
case("random.typed_key", lambda: jax.random.uniform(jax.random.split(jax.random.key(3))[1], (4,)))
case("random.key_argument", lambda key, x: x * jax.random.uniform(jax.random.wrap_key_data(key), x.shape), np.asarray(KEY), f(3))
case("random.randint", lambda: (jax.random.randint(KEY, (20,), -5, 1000), jax.random.randint(KEY, (5,), 0, 7, jnp.int32)))
case("random.permutation", lambda: (jax.random.permutation(KEY, 20), jax.random.permutation(KEY, jnp.arange(12).reshape(6, 2))))
case("random.bernoulli", lambda p: jax.random.bernoulli(KEY, p, (9,)), np.array(0.3))
case("random.exponential", lambda: jax.random.exponential(KEY, (5,)))
case("random.gumbel", lambda: jax.random.gumbel(KEY, (5,)))
case("random.categorical", lambda x: jax.random.categorical(KEY, x, axis=1), f(6, 4))
case("random.choice", lambda x: jax.random.choice(KEY, x, (5,)), f(9))
case("random.normal", lambda: (jax.random.normal(KEY, (50,)), jax.random.normal(KEY, (50,), jnp.float32)))
case("random.truncated_normal", lambda: jax.random.truncated_normal(KEY, -1.0, 1.5, (9,)))
case("random.cauchy", lambda: jax.random.cauchy(KEY, (9,)))
case("random.laplace", lambda: jax.random.laplace(KEY, (9,)))
case("random.gamma", lambda a: jax.random.gamma(KEY, a, (4,)), np.array(0.7))
case("random.poisson", lambda: jax.random.poisson(KEY, 3.0, (8,)))
case("random.walk", lambda x: lax.fori_loop(0, 6, lambda k, s: s * 0.9 + x * jax.random.uniform(jax.random.fold_in(KEY, k), x.shape), x), f(3))
case("random.dropout", lambda x: jnp.where(jax.random.bernoulli(KEY, 0.6, x.shape), x / 0.6, 0.0), f(4, 3))
case("random.rbg", lambda: jax.random.bits(jax.random.key(1, impl="rbg"), (4,)))

case("bits.weights", lambda x, a, b: (
    x * lax.population_count(a), x * lax.clz(a), x * lax.shift_right_arithmetic(a, b),
    x * (lax.nextafter(a.astype(x.dtype), b.astype(x.dtype)) - a) * 2.0**50,
), f(6), np.array([0, -1, 7, -1024, 2**31 - 1, 12345]), np.array([1, 3, 40, 5, 2, 64]))

# New cases stand behind all others, so that these keep their numbers.
case("conv.no_space", lambda x, k: lax.conv_general_dilated(x, k, (), "VALID"), f(2, 3), f(4, 3))
case("conv.line", lambda x, k: lax.conv_general_dilated(x, k, (2,), ((1, 2),), lhs_dilation=(2,), rhs_dilation=(3,), feature_group_count=2), f(2, 4, 7), f(6, 2, 2))
case("conv.volume", lambda x, k: lax.conv_general_dilated(x, k, (1, 2, 1), ((1, 0), (1, 1), (0, 1)), rhs_dilation=(2, 1, 1)), f(2, 2, 5, 4, 3), f(3, 2, 2, 3, 2))
case("conv.volume_groups", lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), ((1, 0), (0, 1), (1, -1)), lhs_dilation=(2, 1, 1), feature_group_count=2, dimension_numbers=("NDHWC", "DHWIO", "NDHWC")), f(1, 3, 3, 3, 2), f(2, 2, 2, 1, 4))
case("conv.four_dimensions", lambda x, k: lax.conv(x, k, (1, 1, 1, 1), "VALID"), f(1, 2, 3, 2, 3, 2), f(2, 2, 2, 2, 2, 1))
case("conv.batch_groups", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", batch_group_count=2), f(4, 2, 4, 3), f(6, 2, 2, 2))
case("conv.of_gradient", lambda x, k, g: jax.vjp(lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME", feature_group_count=2), x, k)[1](g), f(2, 4, 5, 3), f(6, 2, 2, 2), f(2, 6, 3, 3))
case("index.min", lambda x, u: x.at[jnp.array([2, 0, 2])].min(u), f(4, 3), f(3, 3))
case("index.max_ties", lambda x, u: x.at[jnp.array([2, 0, 2, 3])].max(u), np.array([1.0, 2.0, 3.0, 0.5]), np.array([3.0, 1.0, 3.0, 0.7]))
case("index.max_ints", lambda x, u: (x.at[jnp.array([2, 0, 2])].max(u), x.at[jnp.array([2, 0, 2])].min(u)), i(4, dtype=np.int32), i(3, dtype=np.int32))
case("index.max_unsigned", lambda x, u: x.at[jnp.array([1, 1])].max(u), np.array([3, 2**64 - 1], np.uint64), np.array([5, 7], np.uint64))
case("index.max_dropped", lambda x, u: x.at[jnp.array([2, 9, 2])].max(u, mode="drop"), f(4, 3), f(3, 3))
case("index.max_nan", lambda: jnp.zeros(3).at[jnp.array([0, 1, 0])].max(jnp.array([np.nan, 1.0, 2.0])))
case("index.mul_unique", lambda x, u: x.at[jnp.array([2, 0])].multiply(u, unique_indices=True), f(4, 3), f(2, 3))
case("index.segment_max", lambda x, s: (jax.ops.segment_max(x, s, num_segments=4), jax.ops.segment_min(x, s, num_segments=4)), f(6, 2), np.array([0, 2, 1, 1, 0, 2]))
POSITIVE = (lambda x: x @ x.swapaxes(-1, -2) + 3 * np.eye(x.shape[-1]))
case("linalg.cholesky_of", lax.linalg.cholesky, POSITIVE(f(2, 4, 4)))
case("linalg.cholesky_upper", lambda x: jnp.linalg.cholesky(x, upper=True), POSITIVE(f(3, 3)))
case("linalg.cholesky_fails", lambda: jnp.linalg.cholesky(-jnp.eye(3)))
for left, lower, transpose, unit in ((True, True, False, False), (True, False, True, False), (False, True, True, True), (False, False, False, False)):
    case(f"linalg.triangular_solve_{left}_{lower}_{transpose}_{unit}", lambda a, b, o=(left, lower, transpose, unit): lax.linalg.triangular_solve(a, b, left_side=o[0], lower=o[1], transpose_a=o[2], unit_diagonal=o[3]), f(2, 3, 3) + 3 * np.eye(3), f(2, 3, 3))
case("linalg.triangular_vector", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), f(3, 3) + 3 * np.eye(3), f(3))
case("linalg.lu", lambda a: lax.linalg.lu(a)[0], f(4, 4))
case("linalg.lu_tall", lambda a: lax.linalg.lu(a)[0], f(2, 5, 3))
case("linalg.lu_wide", lambda a: lax.linalg.lu(a)[0], f(3, 5))
case("linalg.lu_parts", jax.scipy.linalg.lu, f(4, 4))
case("linalg.inv", jnp.linalg.inv, f(2, 3, 3) + 3 * np.eye(3))
case("linalg.det", lambda x: (jnp.linalg.det(x), jnp.linalg.slogdet(x)), f(4, 4))
case("linalg.qr", jnp.linalg.qr, f(4, 4))
case("linalg.qr_tall", jnp.linalg.qr, f(2, 5, 3))
case("linalg.qr_complete", lambda x: jnp.linalg.qr(x, mode="complete"), f(4, 2))
case("linalg.qr_wide", jnp.linalg.qr, f(3, 5))
case("linalg.lstsq_by_qr", lambda a, b: (lambda q, r: jax.scipy.linalg.solve_triangular(r, q.T @ b))(*jnp.linalg.qr(a)), f(6, 3), f(6))
# The signs of eigenvectors are anybody's.
case("linalg.eigh", lambda x: (lambda w, v: (w, v * v, jnp.abs(v), (v * jnp.sin(w)) @ v.T))(*jnp.linalg.eigh(x)), f(4, 4))
case("linalg.eigh_upper", lambda x: jnp.linalg.eigh(x, UPLO="U")[0], f(4, 4))
case("linalg.eigvalsh", jnp.linalg.eigvalsh, f(2, 3, 3))
case("linalg.solve_in_loop", lambda a, b: lax.fori_loop(0, 4, lambda k, x: jnp.linalg.solve(a + 0.1 * k * jnp.eye(3), x), b), f(3, 3) + 3 * np.eye(3), f(3))
case("linalg.float32", lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.cholesky(a @ a.T)), (f(3, 3) + 3 * np.eye(3)).astype(np.float32), f(3).astype(np.float32))
case("linalg.expm", jax.scipy.linalg.expm, 0.3 * f(3, 3))
case("linalg.svd", lambda x: jnp.linalg.svd(x, compute_uv=False), f(3, 3))
# Of equal elements the first gets the cotangent of a window, all get shares of that of a reduction or a running extremum.
TIES = np.array([1.0, 3.0, 3.0, 2.0, 3.0, 3.0, 1.0])
case("kinks.window_max", lambda x: (lax.reduce_window(x, -np.inf, lax.max, (3,), (1,), "SAME"), lax.reduce_window(x, -np.inf, lax.max, (2,), (2,), ((1, 0),), window_dilation=(2,))), TIES)
case("kinks.window_min", lambda x: lax.reduce_window(x, np.inf, lax.min, (3,), (2,), "VALID"), -TIES)
case("kinks.pool", lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), np.round(f(2, 4, 6, 2)))
case("kinks.cummax", lambda x: (lax.cummax(x), lax.cummin(-x), lax.cummax(x, reverse=True)), TIES)
case("kinks.reduce_min", lambda x: (jnp.min(x, 0), jnp.max(x)), np.array([[1.0, 3.0, 3.0], [1.0, 2.0, 3.0]]))
case("kinks.argmax_pool", lambda x: (jnp.sort(x), lax.top_k(x, 4)[0], jnp.median(x)), TIES)
case("window.select_and_scatter", lambda x, g: jax.vjp(lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), "SAME"), x)[1](g), np.round(f(2, 5, 6, 2)), f(2, 3, 3, 2))
case("window.select_and_scatter_min", lambda x, g: jax.vjp(lambda x: lax.reduce_window(x, np.inf, lax.min, (3,), (1,), ((0, 2),)), x)[1](g), TIES, f(7))
case("scan.cumprod_long", lambda x: (lax.cumprod(x), lax.cummax(x)), f(1500, low=0.99, high=1.01))
case("linalg.own", lambda a, b: jnp.sum(jnp.cos(lax.linalg.triangular_solve(lax.linalg.cholesky(a), b, left_side=True, lower=True, transpose_a=True))), POSITIVE(f(3, 3)), f(3, 2))
case("random.three_fry", lambda x, key: x * lax.rng_bit_generator(key, (6,), "uint64", algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)[1].astype(float) * 1e-19, f(6), np.array([1, 2, 3, 4], np.uint32))
case("random.rbg_normal", lambda x: x * jax.random.normal(jax.random.split(jax.random.key(1, impl="rbg"))[1], (5,)), f(5))
case("random.unsafe_rbg", lambda x: x * jax.random.uniform(jax.random.fold_in(jax.random.key(1, impl="unsafe_rbg"), 7), (5,)), f(5))
for algorithm in lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX:
    for ty in ("uint8", "uint16", "uint32", "uint64"):
        # On the command line the state is of two words of 64 bits; JAX makes them of four of 32.
        case(f"random.bits_{algorithm}.{ty}", lambda key, a=algorithm, ty=ty: [lax.rng_bit_generator(key, shape, ty, algorithm=a) for shape in ((5,), (), (2, 3), (3, 4), (3, 1), (4, 2, 3))], np.array([0x9ABCDEF0, 0x12345678, 2**32 - 2, 2**32 - 1], np.uint32))


def lstm(xs, wx, wh):
    def step(state, x):
        h, c = state
        i, o, g = jnp.split(x @ wx + h @ wh, 3, axis=-1)
        c = jax.nn.sigmoid(i) * c + jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), jnp.max(h)

    return lax.scan(step, (jnp.zeros(3), jnp.zeros(3)), xs)


def viterbi(scores, moves):
    """The best path through states: extrema with their places, followed back."""
    def forward(best, score):
        candidates = best[:, None] + moves
        return jnp.max(candidates, 0) + score, jnp.argmax(candidates, 0)

    best, places = lax.scan(forward, scores[0], scores[1:])
    last = jnp.argmax(best)
    _, path = lax.scan(lambda at, row: (row[at], row[at]), last, places, reverse=True)
    return jnp.max(best), jnp.append(path, last)


def metropolis(key, x, trips):
    """A sampler with as many steps as it is told."""
    def step(k, state):
        x, kept = state
        a, b = jax.random.split(jax.random.fold_in(key, k))
        y = x + 0.3 * jax.random.normal(a, x.shape)
        takes = jax.random.uniform(b) < jnp.exp(jnp.sum(x**2 - y**2))
        return lax.cond(takes, lambda: (y * x, kept + 1), lambda: (x, kept))

    return lax.fori_loop(0, trips, step, (x, 0))


def qr_iteration(a):
    """Eigenvalues by QR decompositions, until what is below the diagonal is small."""
    def step(state):
        a, k = state
        q, r = jnp.linalg.qr(a)
        return r @ q, k + 1

    a = lax.while_loop(lambda s: (jnp.sum(jnp.tril(s[0], -1) ** 2) > 1e-8) & (s[1] < 60), step, (a @ a.T + jnp.diag(jnp.arange(3.0) * 8), 0))[0]
    return jnp.diag(a)


def kalman(x, p, zs, f_, q):
    """Solutions of systems in a scan."""
    def step(state, z):
        x, p = f_ @ state[0], f_ @ state[1] @ f_.T + q
        # LAPACK reads one half, JAX differentiates both.
        s = 0.5 * (p + p.T) + jnp.eye(2)
        gain = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(s), p).T
        return (x + gain @ (z - x), p - gain @ p), jnp.linalg.slogdet(s)[1]

    return lax.scan(step, (x, p), zs)


def beam(logits, n):
    """A search that keeps the best three of all continuations."""
    def step(k, scores):
        return lax.top_k((scores[:, None] + jax.nn.log_softmax(logits[k % 4])[None, :]).ravel(), 3)[0]

    return lax.fori_loop(0, n, step, jnp.array([0.0, -1.0, -2.0]))


def line_search(x, a):
    """A loop in a loop, both of unknown length, with a switch in it."""
    loss = lambda x: 0.5 * x @ a @ x - jnp.sum(jnp.cos(x))

    def outer(state):
        x, k = state
        g = a @ x + jnp.sin(x)
        t = lax.while_loop(lambda t: loss(x - t * g) > loss(x) - 0.1 * t * (g @ g), lambda t: t * 0.5, 1.0)
        move = lax.switch(k % 3, [lambda: g, lambda: g * 0.9, lambda: jnp.clip(g, -1, 1)])
        return x - t * move, k + 1

    return lax.while_loop(lambda s: s[1] < 5, outer, (x, 0))[0]


case("broad.lstm", lstm, f(5, 2), f(2, 9), f(3, 9))
case("broad.viterbi", viterbi, f(5, 4), f(4, 4))
case("broad.metropolis", metropolis, np.asarray(KEY), f(3, low=-0.5, high=0.5), np.array(6))
case("broad.qr_iteration", qr_iteration, f(3, 3))
case("broad.kalman", kalman, f(2), np.eye(2), f(4, 2), np.eye(2) + 0.1 * f(2, 2), 0.3 * np.eye(2))
case("broad.beam", beam, f(4, 5), np.array(6))
case("broad.line_search", line_search, f(3), POSITIVE(f(3, 3)))
case("broad.interp", lambda x, xp, fp: jnp.interp(x, jnp.sort(xp), fp, left=-1.0), f(7), f(5), f(5))
case("broad.searchsorted", lambda x, v: jnp.take(x, jnp.searchsorted(jnp.sort(x), v, side="right"), mode="clip") * v, f(8), f(5))
case("broad.histogram", lambda x: jnp.histogram(x, bins=4, range=(-2, 2), weights=x * x), f(12))
case("broad.bincount", lambda ix, w: jnp.bincount(ix, weights=w, length=5), i(9, low=0, high=5), f(9))
case("broad.digitize", lambda x, e: jax.ops.segment_sum(x, jnp.digitize(x, jnp.sort(e)), num_segments=5), f(9), f(4))
case("broad.lexsort", lambda a, b: a[jnp.lexsort((a, b))], f(7), i(7, low=0, high=3))
case("broad.sort_by", lambda k, v: jax.lax.sort([k, v, v * k], dimension=1, num_keys=1)[1:], f(3, 6), f(3, 6))
case("broad.quantile", lambda x: (jnp.quantile(x, jnp.array([0.1, 0.5, 0.77]), axis=1), jnp.median(x, axis=0), jnp.percentile(x, 30)), f(3, 7))
case("broad.unique_mask", lambda x: jnp.where(jnp.concatenate([jnp.array([True]), jnp.diff(jnp.sort(x)) > 0.1]), jnp.sort(x), 0.0), f(9))
case("broad.einsum_tree", lambda a, b, c, d: jnp.einsum("ij,jk,kl,il->jl", a, b, c, d), f(2, 3), f(3, 4), f(4, 2), f(2, 2))
case("broad.einsum_diagonals", lambda a, b: (jnp.einsum("bii->b", a), jnp.einsum("bij,bji->ij", a, b), jnp.einsum("...ij,...jk->...ik", a, b)), f(2, 3, 3), f(2, 3, 3))
case("broad.tensordot", lambda a, b: (jnp.tensordot(a, b, axes=([0, 2], [1, 0])), jnp.kron(a[0], b[0]), jnp.vdot(a[0], b[:2].reshape(-1)[:12].reshape(3, 4))), f(2, 3, 4), f(4, 2, 3))
case("broad.pooling", lambda x: (lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 2, 1), "SAME") / 9, -lax.reduce_window(-x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")), f(2, 5, 6, 2))
case("broad.conv_net", lambda x, a, b, w: jax.nn.log_softmax(lax.reduce_window(jax.nn.elu(lax.conv_general_dilated(jax.nn.gelu(lax.conv_general_dilated(x, a, (2, 2), "SAME", dimension_numbers=NUMBERS)), b, (1, 1), "SAME", rhs_dilation=(2, 2), feature_group_count=2, dimension_numbers=NUMBERS)), 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "VALID").reshape(2, -1) @ w), f(2, 6, 6, 1), f(3, 3, 1, 4), f(3, 3, 2, 4), f(4, 3))
case("broad.depthwise", lambda x, k: lax.conv_general_dilated(x, k, (1, 2), ((2, 0), (1, 1)), lhs_dilation=(1, 2), feature_group_count=3, dimension_numbers=("NCHW", "OIHW", "NHWC")), f(2, 3, 4, 3), f(6, 1, 2, 3))
case("broad.correlate", lambda x, k: (jnp.correlate(x, k, mode="same"), jnp.convolve(x, k, mode="full"), jax.scipy.signal.convolve2d(jnp.outer(x, k), jnp.outer(k, k), mode="valid")), f(7), f(3))
case("broad.cumulative", lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 0), lax.cummin(x, 1, reverse=True), lax.cumlogsumexp(x, 1), jnp.diff(jnp.cumsum(x, 1), axis=1)), f(4, 5))
case("broad.linalg_norms", lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, 1), jnp.linalg.norm(x, jnp.inf, axis=1), jnp.linalg.matrix_power(x, 3), jnp.trace(jnp.linalg.inv(x + 4 * jnp.eye(3)))), f(3, 3))
case("broad.gaussian_process", lambda x, y, s: (lambda k: 0.5 * y @ jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(k, lower=True), y) + jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(k)))))(jnp.exp(-((x[:, None] - x[None, :]) ** 2) / s) + 0.1 * jnp.eye(5)), f(5), f(5), np.array(0.7))
case("broad.multi_normal", lambda m, c: (jax.random.multivariate_normal(KEY, m, c), jax.scipy.stats.multivariate_normal.logpdf(jnp.ones(3), m, c)), f(3), POSITIVE(f(3, 3)))
case("broad.distributions", lambda a, b: (a + b * jax.random.normal(KEY, (4,)), jax.random.logistic(KEY, (3,)) * a, jax.random.uniform(KEY, (3,), minval=a, maxval=a + b * b), jax.random.rademacher(KEY, (4,)) * b, jax.random.weibull_min(KEY, b * b, 2.0, (3,)), jax.random.pareto(KEY, 3.0, (2,)) * a), np.array(0.4), np.array(1.3))
case("broad.densities", lambda x: (jax.scipy.stats.norm.logcdf(x), jax.scipy.stats.t.logpdf(x, 3.0), jax.scipy.stats.laplace.cdf(x), jax.scipy.special.logit(jax.nn.sigmoid(x)), jax.scipy.special.xlogy(x * x, x * x), jax.scipy.special.entr(x * x)), f(5, low=0.2))
case("broad.attention", lambda q, k, v, m: jnp.einsum("hqk,khd->qhd", jax.nn.softmax(jnp.where(m[None], jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(3.0), -1e30), axis=-1), v), f(4, 2, 3), f(5, 2, 3), f(5, 2, 3), i(4, 5, low=0, high=2).astype(bool) | np.eye(4, 5, dtype=bool))
case("broad.norms", lambda x, g: (jax.nn.standardize(x, axis=-1), x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g, jax.nn.glu(x, axis=1), jax.nn.logsumexp(x, axis=0, b=jnp.abs(g)), jax.nn.softplus(x), jax.nn.mish(x), jax.nn.hard_swish(x), jax.nn.celu(x), jax.nn.squareplus(x)), f(3, 4), f(4))
case("broad.one_hot_loss", lambda x, t: -jnp.sum(jax.nn.one_hot(t, 5) * jax.nn.log_softmax(x)) + jnp.mean(jnp.take_along_axis(x, jnp.argsort(x, axis=1)[:, ::-1], axis=1)[:, 0]), f(4, 5), i(4, low=0, high=5))
case("broad.scatter_family", lambda x, u, ix: (x.at[ix].add(u), x.at[ix].max(u), x.at[ix, 1].min(u[:, 0]), x.at[:, ix % 3].set(u[0, 0]), x.at[1:3, ::2].multiply(2.0)), f(4, 3), f(3, 3), np.array([2, 0, 3]))
case("index.apply", lambda x: x.at[jnp.array([2, 0])].apply(jnp.sin), f(4, 3))
case("broad.segments", lambda x, s: (jax.ops.segment_prod(x, s, num_segments=3), jax.ops.segment_max(x, s, num_segments=3), jax.ops.segment_sum(x, s, num_segments=3, indices_are_sorted=True)), f(6), np.array([0, 0, 1, 1, 2, 2]))
case("broad.triangles", lambda x: (x[jnp.triu_indices(4, 1)], jnp.fill_diagonal(x, 0.0, inplace=False), jnp.rot90(x), jnp.block([[x, x.T], [jnp.eye(4), jnp.vander(x[0], 4)]])), f(4, 4))
case("broad.map_coordinates", lambda x, c: jax.scipy.ndimage.map_coordinates(x, c, order=1, mode="nearest"), f(5, 5), f(2, 6, low=0, high=4))
case("broad.resize", lambda x: (jax.image.resize(x, (6, 5), "bilinear"), jax.image.resize(x, (2, 3), "nearest"), jax.image.resize(x, (5, 7), "cubic")), f(4, 3))
case("broad.edit_distance", lambda a, b: lax.scan(lambda row, x: (jnp.concatenate([row[:1] + 1, lax.scan(lambda left, t: (jnp.minimum(jnp.minimum(left + 1, t[0] + 1), t[1] + t[2]),) * 2, row[0] + 1, (row[1:], row[:-1], jnp.abs(x - b)))[1]]), None), jnp.arange(5.0), a)[0], f(3), f(4))

def z(*shape, low=-2.0, high=2.0):
    return f(*shape, low=low, high=high) + 1j * f(*shape, low=low, high=high)


# Zeros, the axes, branch cuts from both sides, large and small numbers.
PLANE = np.array([0.0, 1.0, -1.0, 1j, -1j, 1 + 1j, -3 + 1e-9j, -3 - 1e-9j, complex(-2.0, 0.0), complex(-2.0, -0.0), 1e-8 + 1e-9j, 25 + 3j, -25 - 3j, 0.5 + 90j, 1e200 + 1e200j, 1e-200j, 1 + 1e-12 + 1e-7j])
PLANES = []
for op in ("exp", "expm1", "log", "log1p", "tanh", "logistic", "sin", "cos", "tan", "sqrt", "rsqrt", "sinh", "cosh", "neg", "sign", "square", "reciprocal", "abs", "real", "imag", "conj"):
    case(f"complex.{op}", getattr(lax, op), z(3, 4))
    PLANES += [op] if op not in ("square", "reciprocal", "rsqrt") else []
# XLA's square root does not see the sign of a zero.
UNCUT = np.delete(PLANE, 9)
case("complex.plane", lambda: tuple(getattr(lax, op)(jnp.asarray(UNCUT if op == "sqrt" else PLANE)) for op in PLANES))
FUNCTIONS = ("exp", "log", "tanh", "sin", "cos", "sqrt", "abs", "real", "imag")
case("complex.single.functions", lambda x: tuple(getattr(lax, op)(x) for op in FUNCTIONS), z(5).astype(np.complex64))
for op in ("add", "sub", "mul", "div", "pow"):
    case(f"complex.{op}", getattr(lax, op), z(3, 4), z(3, 4))
case("complex.single.arithmetic", lambda x, y: (x + y, x - y, x * y, x / y, x**y), z(5).astype(np.complex64), z(5).astype(np.complex64))
case("complex.integer_pow", lambda x: x**3 + x**-2, z(4))
case("complex.parts", lax.complex, f(3), f(3))
case("complex.compare", lambda x, y: (x == y, x != y), np.array([1 + 2j, 1 - 2j, np.nan]), np.array([1 + 2j, 1 + 2j, np.nan]))
case("complex.select", lambda p, x, y: jnp.where(p, x, y), np.array([True, False, True]), z(3), z(3))
case("complex.from_real", lambda x, y: (x.astype(jnp.complex128), x * 1j + y, (x + 1j).real), f(3), f(3))
case("complex.constants", lambda x: x * jnp.asarray([1 + 2j, 3 - 1j]) + (2 - 0.5j) + 1j * jnp.arange(2.0), z(2))
case("complex.finite", lambda x: (jnp.isfinite(x), jnp.isnan(x), jnp.angle(x)), z(4))
case("complex.shapes", lambda x: (x.reshape(6), x.T, x[:, ::-1], x[1:, ::2], jnp.tile(x, (2, 1)), jnp.pad(x, ((1, 0), (0, 2)), constant_values=1j), jnp.concatenate([x, x * 1j]), jnp.stack([x, x]), jnp.roll(x, 1, 1)), z(2, 3))
case("complex.broadcast", lambda x: x[:, None] * x[None, :].conj(), z(3))
case("complex.indices", lambda x, at: (lax.dynamic_slice(x, (at, 0), (2, 2)), lax.dynamic_update_slice(x, x[:1, :2] * 1j, (at, 1)), x[jnp.array([2, 0, 2])], jnp.take(x, jnp.array([1, 0]), axis=1)), z(4, 3), np.array(1))
case("complex.scatter", lambda x, y: (x.at[jnp.array([2, 0, 2])].add(y), x.at[jnp.array([1, 3])].set(y[:2])), z(4, 2), z(3, 2))
case("complex.reduce", lambda x: (jnp.sum(x), jnp.sum(x, 1), jnp.prod(x, 0), jnp.mean(x, 0), jnp.cumsum(x, 1)), z(3, 4))
case("complex.matmul", jnp.matmul, z(3, 4), z(4, 2))
case("complex.batched", lambda x, y: jnp.einsum("bij,bkj->bik", x, y.conj()), z(2, 3, 4), z(2, 2, 4))
case("complex.mixed", lambda x, y: x @ y, z(3, 3), f(3))
case("complex.norm", lambda x: jnp.linalg.norm(x), z(3, 2))
case("complex.loop", lambda x, c: lax.fori_loop(0, 5, lambda k, v: v * v + c, x), z(3, low=-0.5, high=0.5), z(3, low=-0.5, high=0.5))
case("complex.while", lambda c: lax.while_loop(lambda s: (jnp.abs(s[0]) < 2) & (s[1] < 20), lambda s: (s[0] * s[0] + c, s[1] + 1), (c, 0)), np.array(0.3 + 0.55j))
case("complex.cond", lambda x: lax.cond(x.real > 0, lambda v: v * 2j, lambda v: v.conj(), x), np.array(0.4 - 1.5j))
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 12, 13, 60, 97, 128)
for op in ("fft", "ifft"):
    case(f"fft.{op}", lambda *xs, op=op: tuple(getattr(jnp.fft, op)(x) for x in xs), *(z(2, n) for n in LENGTHS))
case("fft.rfft", lambda *xs: tuple(jnp.fft.rfft(x) for x in xs), *(f(2, n) for n in LENGTHS))
case("fft.irfft", lambda *xs: tuple(jnp.fft.irfft(x, n) for x, n in zip(xs, LENGTHS)), *(z(2, n // 2 + 1) for n in LENGTHS))
for op, of in (("fft2", z), ("ifft2", z), ("rfft2", f), ("irfft2", z), ("fftn", z), ("rfftn", f), ("irfftn", z)):
    case(f"fft.{op}", getattr(jnp.fft, op), of(3, 4, 6))
case("fft.single", lambda x: (jnp.fft.fft(x), jnp.fft.rfft(x.real)), z(12).astype(np.complex64))
case("fft.first_axis", lambda x: jnp.fft.fft(x, axis=0), z(5, 2))
case("fft.spectrum", lambda x: jnp.abs(jnp.fft.rfft(x * jnp.hanning(16))) ** 2, f(16))
case("fft.filter", lambda x, k: jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(k)), f(10), f(10))
TIES = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, -0.2, 4503599627370497.0])
case("ties.round", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), TIES)
case("ties.round_even", lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), TIES)
for ty in ("float32", "float16"):
    edges = [e for e in EDGES if not abs(e) > 1e30 or np.isinf(e)] + [1e4, -3e4]
    for op in ("exp", "expm1", "log", "log1p", "tanh", "logistic", "abs", "sign", "floor", "ceil", "round", "is_finite", "sqrt", "rsqrt", "cbrt", "erf", "sin", "cos", "atan"):
        # The slope of `rsqrt` at a zero with a sign is none.
        case(f"edges.{ty}.{op}", getattr(lax, op), jnp.asarray(edges[2:] if op == "rsqrt" else edges, ty))
    for op in ("max", "min", "div", "rem", "pow", "atan2", "mul", "eq", "lt", "ge"):
        case(f"edges.{ty}.{op}", lambda a, b, op=op: getattr(lax, op)(*jnp.broadcast_arrays(a, b)), jnp.asarray(edges, ty)[:, None], jnp.asarray(edges, ty)[None, :])
    for to in ("int8", "int32", "int64", "uint8", "uint32", "bool"):
        case(f"edges.{ty}.to_{to}", lambda x, to=to: x.astype(to), jnp.asarray([-3.7, -0.5, 0.0, 0.5, 1.5, 2.5, 100.9] if to[0] != "u" else [0.0, 0.5, 1.5, 2.5, 100.9], ty))
WHOLE = np.array([-128, -127, -9, -1, 0, 1, 2, 3, 100, 127])
for ty in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    numbers = WHOLE.astype(ty)
    for op in ("add", "sub", "mul", "div", "rem", "max", "min", "lt", "shift_left", "shift_right_logical", "shift_right_arithmetic"):
        case(f"whole.{ty}.{op}", lambda a, b, op=op: getattr(lax, op)(*jnp.broadcast_arrays(a, b)), numbers[:, None], numbers[None, :])
    for op in ("neg", "sign", "population_count", "clz", "bitwise_not") + (() if ty[0] == "u" else ("abs",)):
        case(f"whole.{ty}.{op}", getattr(lax, op), numbers)
    for reduce in ("sum", "prod", "max", "min", "mean", "cumsum", "argmax"):
        case(f"whole.{ty}.{reduce}", lambda x, reduce=reduce: getattr(jnp, reduce)(x), numbers)
    case(f"whole.{ty}.power", lambda a, b: lax.integer_pow(a, 3) + jnp.power(a, b), numbers, np.abs(numbers % 5).astype(ty))
    case(f"whole.{ty}.dot", lambda a: jnp.dot(a, a), numbers)

FAR = np.array([-200.0, -90.0, -1.0, 0.5, 1.0, 90.0, 200.0], np.float32)
for op in ("sigmoid", "silu", "softplus", "log_sigmoid", "elu", "selu", "mish", "soft_sign", "squareplus", "hard_swish"):
    case(f"saturated.{op}", getattr(jax.nn, op), FAR)
case("saturated.remainder", lambda x, y: (lax.rem(x, y), jnp.remainder(x, y)), FAR, np.full(7, 7.0, np.float32))


case("index.apply_twice", lambda x: x.at[jnp.array([2, 0, 2])].apply(jnp.sin), f(4, 3))
case("index.apply_unique", lambda x: x.at[::2].apply(lambda v: v * v - 1, unique_indices=True), f(90))
case("index.apply_dropped", lambda x: x.at[jnp.array([2, 9])].apply(jnp.log, mode="drop"), f(4, low=0.1))
case("index.apply_many", lambda x, at: x.at[at].apply(jnp.sin), f(9), i(70, low=0, high=9))
# Their order is anybody's, too.
case("linalg.eigvals", lambda x: (jnp.sort(jnp.abs(jnp.linalg.eigvals(x))), jnp.sum(jnp.linalg.eigvals(x) ** 3, axis=-1).real), f(2, 5, 5))
case("linalg.eigvals_pairs", lambda x: jnp.sum(jnp.linalg.eigvals(x - x.T) ** 2).real, f(4, 4))
case("linalg.eigvals_defective", lambda: jnp.linalg.eigvals(jnp.array([[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])).real)
case("linalg.eigvals_single", lambda x: jnp.sort(jnp.linalg.eigvals(x).real), f(6, 6).astype(np.float32))
case("linalg.roots", lambda c: jnp.sort(jnp.abs(jnp.roots(jnp.concatenate([jnp.ones(1), c]), strip_zeros=False))), f(5))


def eigenvectors(x):
    w, u, v = lax.linalg.eig(x, enable_eigvec_derivs=True)
    order = jnp.argsort(w.real + 0.1 * w.imag)
    return jnp.abs(u[:, order]), jnp.abs(v[:, order]), jnp.abs(jnp.sum(u.conj() * v, 0))[order], (x @ v - v * w).real


case("linalg.eig", eigenvectors, f(5, 5))
case("linalg.complex_solve", jnp.linalg.solve, z(3, 3), z(3))
case("broad.reduce_two", lambda x: lax.reduce((x, jnp.broadcast_to(jnp.arange(5), (3, 5))), (-jnp.inf, 0), lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1])), (1,)), f(3, 5))


# What is not supported, by case: regular expressions of its name and of the message.
HERMITIAN = (lambda x: x @ x.conj().swapaxes(-1, -2) + 3 * np.eye(x.shape[-1]))
ADJOINT = (lambda x: jnp.conj(jnp.swapaxes(x, -1, -2)))
case("complex.cholesky", lax.linalg.cholesky, HERMITIAN(z(2, 4, 4)))
case("complex.cholesky_upper", lambda x: jnp.linalg.cholesky(x, upper=True), HERMITIAN(z(3, 3)))
for left, lower, transpose, unit in ((True, True, "N", False), (True, False, "T", False), (True, True, "C", False), (False, True, "C", True), (False, False, "N", False), (False, False, "T", False), (False, True, "C", False)):
    case(f"complex.triangular_solve_{left}_{lower}_{transpose}_{unit}", lambda a, b, o=(left, lower, transpose, unit): lax.linalg.triangular_solve(a, b, left_side=o[0], lower=o[1], transpose_a=o[2] != "N", conjugate_a=o[2] == "C", unit_diagonal=o[3]), z(2, 3, 3) + 3 * np.eye(3), z(2, 3, 3))
case("complex.cho_solve", lambda a, b: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a), True), b), HERMITIAN(z(3, 3)), z(3))
case("complex.solve", jnp.linalg.solve, z(2, 3, 3) + 3 * np.eye(3), z(2, 3, 2))
case("complex.lu", lambda a: lax.linalg.lu(a)[0], z(4, 4))
case("complex.lu_tall", lambda a: lax.linalg.lu(a)[0], z(2, 5, 3))
case("complex.lu_wide", lambda a: lax.linalg.lu(a)[0], z(3, 5))
case("complex.det", lambda x: (jnp.linalg.det(x), jnp.linalg.slogdet(x)), z(4, 4))
case("complex.inv", jnp.linalg.inv, z(2, 3, 3) + 3 * np.eye(3))
case("complex.qr", jnp.linalg.qr, z(4, 4))
case("complex.qr_tall", jnp.linalg.qr, z(2, 5, 3))
case("complex.qr_complete", lambda x: jnp.linalg.qr(x, mode="complete"), z(4, 2))
case("complex.qr_wide", jnp.linalg.qr, z(3, 5))
# The directions of vectors are anybody's.
case("complex.eigh", lambda x: (lambda w, v: (w, jnp.abs(v), (v * jnp.sin(w)) @ ADJOINT(v)))(*jnp.linalg.eigh(x)), z(4, 4))
case("complex.eigh_upper", lambda x: jnp.linalg.eigh(x, UPLO="U")[0], z(4, 4))
case("complex.eigvalsh", jnp.linalg.eigvalsh, z(2, 3, 3))
case("complex.svd", lambda x: (lambda u, s, v: (s, jnp.abs(u), jnp.abs(v), (u * jnp.sin(s)[..., None, :]) @ v))(*jnp.linalg.svd(x, full_matrices=False)), z(4, 4))
case("complex.svd_tall", lambda x: (lambda u, s, v: (s, jnp.abs(u), jnp.abs(v), (u * jnp.sin(s)[..., None, :]) @ v))(*jnp.linalg.svd(x, full_matrices=False)), z(2, 5, 3))
case("complex.svd_wide", lambda x: (lambda u, s, v: (s, jnp.abs(u), jnp.abs(v), (u * jnp.sin(s)[..., None, :]) @ v))(*jnp.linalg.svd(x, full_matrices=False)), z(3, 5))
case("complex.singular_values", lambda x: jnp.linalg.svd(x, compute_uv=False), z(3, 5))
case("complex.pinv", jnp.linalg.pinv, z(4, 3))
case("complex.expm", jax.scipy.linalg.expm, 0.3 * z(3, 3))
case("complex.single.linalg", lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.cholesky(a @ ADJOINT(a)), jnp.linalg.eigvalsh(a + ADJOINT(a))), (z(3, 3) + 3 * np.eye(3)).astype(np.complex64), z(3).astype(np.complex64))
case("complex.solve_in_loop", lambda a, b: lax.fori_loop(0, 4, lambda k, x: jnp.linalg.solve(a + 0.1j * k * jnp.eye(3), x), b), z(3, 3) + 3 * np.eye(3), z(3))
case("complex.eigenvalues", lambda x: (lambda w: (jnp.sum(w**3), jnp.prod(w + 2j)))(jnp.linalg.eigvals(x)), z(4, 4))
case("complex.eigenvectors", lambda x: (lambda w, v: (v * jnp.sin(w)) @ jnp.linalg.inv(v))(*jnp.linalg.eig(x)), z(4, 4))
REFUSED = {
    r"index\.apply_many": "is supported for unique indices, and for up to 64 others",
}
# Differences that are meant, with the reason.
MEANT = {
    r"random\.gamma": "the derivative of a sample is given by JAX, not by what it is lowered to",
    r"kinks\.relu": "its custom_jvp is not in what it is lowered to",
    r"index\.array_out_of_range": "JAX drops the cotangents of what it clamped",
}
