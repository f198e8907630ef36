"""Elements at places that are computed, functions of Bessel, and factors: made of other operations here."""

import numpy as np
import paddle
from paddle import _C_ops as C

from case import Case, Tensor, attributes, covers
from ops.composed import SUMMED, TYPES

COUNTED = {"grad": False, "typed": True}


@covers("i0", "i0e", "i1", "i1e")
def bessel(draw, op):
    for dtype in TYPES:
        # On both sides of where the series changes, too.
        for values in ([-3.0, -0.4, 0.01, 0.7, 1.9], [5.0, 7.5, 8.5, 12.0, 19.5], [20.5, 25.0, -30.0, 60.0]):
            yield Case(op, [Tensor(np.array(values), dtype)], call=getattr(C, op), **SUMMED | {"ulp": 128, "gulp": 1024})


@covers("heaviside")
def heaviside(draw, op):
    for dtype in TYPES:
        for shape, other in (([4], [4]), ([2, 4], [4]), ([4], [1])):
            values = np.resize(np.array([-1.5, 0.0, 2.0, 0.0]), shape)
            yield Case(op, [Tensor(values, dtype), draw.tensor(other, dtype)], **SUMMED)


@covers("bitwise_left_shift", "bitwise_right_shift")
def shifts(draw, op):
    for dtype in ("i32", "i64", "ui8"):
        x = np.array([1, 5, 100, 7]) * (1 if dtype == "ui8" else np.array([1, -1, 1, -1]))
        yield Case(op, [Tensor(x, dtype), Tensor(np.array([0, 1, 1, 3]), dtype)], attributes(is_arithmetic=True), lambda x, y: getattr(C, op)(x, y, True), **COUNTED)


@covers("lp_pool2d")
def lp_pool(draw, op):
    for dtype in TYPES:
        for p, size, strides in ((2.0, [2, 2], [2, 2]), (3.0, [3, 2], [1, 2])):
            given = ([*size], strides, [0, 0], False, True, "NCHW", "", False, False, "EXPLICIT", p)
            names = ("kernel_size", "strides", "paddings", "ceil_mode", "exclusive", "data_format", "pooling_type", "global_pooling", "adaptive", "padding_algorithm", "norm_type")
            yield Case(op, [draw.tensor([1, 2, 4, 5], dtype, 0.2, 2.0)], attributes(**dict(zip(names, given))), lambda x, g=given: C.lp_pool2d(x, *g), **SUMMED)


@covers("spectral_norm")
def spectral_norm(draw, op):
    for dtype in TYPES:
        for shape, dim in (([3, 4], 0), ([2, 3, 2], 1)):
            h, w = shape[dim], int(np.prod(shape)) // shape[dim]
            given = [draw.tensor(shape, dtype, 0.2, 2.0), Tensor(np.linspace(0.3, 1.0, h), dtype, False), Tensor(np.linspace(1.0, 0.4, w), dtype, False)]
            yield Case(op, given, attributes(dim=dim, power_iters=2), lambda x, u, v, d=dim: C.spectral_norm(x, u, v, d, 2, 1e-12), **SUMMED)


@covers("index_put")
def index_put(draw, op):
    for dtype in TYPES:
        for shape, indices, value in (([4], [[0, -1, 2]], [3]), ([3, 4], [[2, 0]], [2, 4]), ([3, 4], [[0, 2], [1, -2]], [2]), ([2, 3, 2], [[[1], [0]], [[0, 2, 1]]], [1]), ([3, 2], [[1, 0]], [2])):
            for adds in (False, True):
                at = [Tensor(np.array(index), "i64") for index in indices]
                given = [draw.tensor(shape, dtype), *at, draw.tensor(value, dtype)]
                types = ", ".join(f"tensor<{'x'.join(map(str, t.array.shape))}xi64>" for t in at)
                listed = ", ".join(f"%x{1 + k}" for k in range(len(at)))
                wide = f"tensor<{'x'.join(map(str, shape))}x{dtype}>"
                text = (f"%l = builtin.combine ({listed}) : vec<{types}>\n"
                        f"%o0 = pd.index_put (%x0, %l, %x{len(at) + 1}) {{accumulate = {str(adds).lower()}}} : {wide}")
                yield Case(op, given, call=lambda *x, a=adds: C.index_put(x[0], list(x[1:-1]), x[-1], a), text=text, **SUMMED | {"typed": False, "eager": False})


@covers("multiplex")
def multiplex(draw, op):
    for dtype in TYPES:
        for shape in ([3, 2], [3, 2, 2]):
            at = Tensor(np.array([[1], [0], [1]]), "i32")
            wide = f"tensor<{'x'.join(map(str, shape))}x{dtype}>"
            text = f"%l = builtin.combine (%x0, %x1) : vec<{wide}, {wide}>\n%o0 = pd.multiplex (%l, %x2) : {wide}"
            yield Case(op, [draw.tensor(shape, dtype), draw.tensor(shape, dtype), at], call=lambda x, y, i: C.multiplex([x, y], i), text=text, **SUMMED | {"typed": False, "eager": False})


@covers("crop")
def crop(draw, op):
    for dtype in TYPES:
        for size, offsets in (([2, 2], [1, 0]), ([-1, 3], [0, 1]), ([3, 4], [0, 0])):
            yield Case(op, [draw.tensor([3, 4], dtype)], attributes(shape=size, offsets=offsets), lambda x, s=size, o=offsets: C.crop(x, s, o), **SUMMED)


@covers("fill_diagonal", "fill_diagonal_tensor")
def fill_diagonal(draw, op):
    for dtype in TYPES:
        for offset, count in ((0, 3), (1, 3), (-1, 2)):
            if op == "fill_diagonal":
                yield Case(op, [draw.tensor([3, 4], dtype)], attributes(value=1.5, offset=offset, wrap=False), lambda x, o=offset: C.fill_diagonal(x, 1.5, o, False), **SUMMED)
            else:
                given = [draw.tensor([3, 4], dtype), Tensor(np.linspace(1, 2, count), dtype, False)]
                yield Case(op, given, attributes(offset=offset, dim1=0, dim2=1), lambda x, y, o=offset: C.fill_diagonal_tensor(x, y, o, 0, 1), **SUMMED)


@covers("unique")
def unique(draw, op):
    for dtype in ("f32", "f64", "i32", "i64"):
        for values in ([3, 1, 3, 2, 1], [[2, 2], [0, 2]], [5]):
            given = {"return_index": True, "return_inverse": True, "return_counts": True, "axis": [], "is_sorted": True}
            x = Tensor(np.array(values), dtype)
            n = len(np.unique(values))
            ty = lambda extent, elem: f"tensor<{extent}x{elem}>"  # noqa: E731
            text = (f"%o0, %o1, %o2, %o3 = pd.unique (%x0) {{{attributes(**given)}, dtype = i64}} : "
                    f"{ty(n, dtype)}, {ty(n, 'i64')}, {ty(x.array.size, 'i64')}, {ty(n, 'i64')}")
            yield Case(op, [x], call=lambda x: C.unique(x, True, True, True, [], "int64"), outs=4, text=text, grad=False)


@covers("unique_consecutive")
def unique_consecutive(draw, op):
    for dtype in ("f32", "i64"):
        for values in ([3, 3, 1, 3, 3, 3], [1]):
            n, size = len(values) and 1 + int((np.diff(values) != 0).sum()), len(values)
            text = (f"%o0, %o1, %o2 = pd.unique_consecutive (%x0) {{return_inverse = true, return_counts = true, axis = [], dtype = i64}} : "
                    f"tensor<{n}x{dtype}>, tensor<{size}xi64>, tensor<{n}xi64>")
            yield Case(op, [Tensor(np.array(values), dtype)], call=lambda x: C.unique_consecutive(x, True, True, [], "int64"), outs=3, text=text, grad=False)


@covers("bincount")
def bincount(draw, op):
    for dtype in ("i32", "i64"):
        for least in (0, 9):
            x = Tensor(np.array([1, 0, 3, 3, 5]), dtype)
            yield Case(op, [x], attributes(minlength=least), lambda x, n=least: C.bincount(x, None, n), **COUNTED)
            for weights in TYPES:
                given = [x, draw.tensor([5], weights)]
                yield Case(op, given, attributes(minlength=least), lambda x, w, n=least: C.bincount(x, w, n), **COUNTED | {"ulp": 8})


@covers("gather_tree")
def gather_tree(draw, op):
    for dtype in ("i32", "i64"):
        ids, parents = np.arange(12).reshape(3, 2, 2), np.array([[[0, 0], [1, 1]], [[1, 0], [0, 0]], [[0, 1], [1, 0]]])
        yield Case(op, [Tensor(ids, dtype), Tensor(parents, dtype)], call=C.gather_tree, **COUNTED)


@covers("segment_pool")
def segment_pool(draw, op):
    for dtype in TYPES:
        for kind in ("SUM", "MEAN", "MAX", "MIN"):
            for shape in ([4], [4, 3]):
                wide = f"tensor<{'x'.join(map(str, [3, *shape[1:]]))}x{dtype}>"
                text = f'%o0, %counts = pd.segment_pool (%x0, %x1) {{pooltype = "{kind}"}} : {wide}, tensor<3x{dtype}>'
                yield Case(op, [draw.distinct(shape, dtype), Tensor(np.array([0, 0, 2, 2]), "i64")], call=lambda x, i, k=kind: C.segment_pool(x, i, k), text=text, **SUMMED | {"typed": False, "eager": False})


@covers("send_u_recv", "send_ue_recv", "send_uv")
def messages(draw, op):
    for dtype in TYPES:
        x, y = draw.distinct([3, 2], dtype), draw.tensor([3, 2] if op == "send_uv" else [4, 2], dtype, 0.3, 2.0)
        edges = [Tensor(np.array([0, 1, 2, 0]), "i64"), Tensor(np.array([1, 2, 1, 0]), "i64")]
        for kind in ("SUM", "MEAN", "MAX", "MIN") if op != "send_uv" else ("",):
            for join in ("ADD", "MUL") if op != "send_u_recv" else ("",):
                given = [x, *([y] if join else []), *edges]
                named = ([f'message_op = "{join}"'] if join else []) + ([f'reduce_op = "{kind}", out_size = [0]'] if kind else [])
                operands = ", ".join(f"%x{k}" for k in range(len(given)))
                rows = 4 if op == "send_uv" else 3
                results, types = ("%o0, %counts", f"tensor<{rows}x2x{dtype}>, tensor<3xi32>") if kind else ("%o0", f"tensor<{rows}x2x{dtype}>")
                text = f"{results} = pd.{op} ({operands}) {{{', '.join(named)}}} : {types}"
                more = [join] * bool(join) + [kind, [0]] * bool(kind)
                call = lambda *x, m=more: (lambda found: found[0] if isinstance(found, (list, tuple)) else found)(getattr(C, op)(*x, *m))  # noqa: E731
                yield Case(op, given, call=call, text=text, **SUMMED | {"typed": False, "eager": False})


@covers("shard_index")
def shard_index(draw, op):
    for dtype in ("i32", "i64"):
        yield Case(op, [Tensor(np.array([[0], [5], [9], [4]]), dtype)], attributes(index_num=10, nshards=3, shard_id=1, ignore_value=-1), lambda x: C.shard_index(x, 10, 3, 1, -1), **COUNTED)


@covers("accuracy")
def accuracy(draw, op):
    at, label = Tensor(np.array([[1, 2], [0, 3], [3, 1]]), "i64"), Tensor(np.array([[2], [1], [3]]), "i64")
    for dtype in ("f32",):
        text = "%o0, %o1, %o2 = pd.accuracy (%x0, %x1, %x2) : tensor<f32>, tensor<i32>, tensor<i32>"
        yield Case(op, [draw.tensor([3, 2], dtype), at, label], call=lambda x, i, y: C.accuracy(x, i, y), outs=3, text=text, grad=False)


@covers("equal_all")
def equal_all(draw, op):
    for dtype in (*TYPES, "i64"):
        x = draw.tensor([2, 3], dtype)
        for y in (x, draw.tensor([2, 3], dtype), draw.tensor([3], dtype)):
            yield Case(op, [x, y], call=C.equal_all, text="%o0 = pd.equal_all (%x0, %x1) : tensor<i1>", grad=False)


@covers("linspace", "logspace")
def spaced(draw, op):
    for dtype in TYPES:
        for n in (1, 2, 5, 6):
            ends = [Tensor(np.array([-0.5]), dtype, False), Tensor(np.array([2.0]), dtype, False), Tensor(np.array([n]), "i32")]
            place = paddle.CPUPlace()
            name = {"f32": "float32", "f64": "float64"}[dtype]
            if op == "linspace":
                text = f'%o0 = pd.linspace (%x0, %x1, %x2) {{dtype = {dtype}, place = "cpu"}} : tensor<{n}x{dtype}>'
                yield Case(op, ends, call=lambda a, b, n, d=name: C.linspace(a, b, n, d, place), text=text, **SUMMED | {"typed": False, "grad": False})
            else:
                text = f"%o0 = pd.logspace (%x0, %x1, %x2, %x3) {{dtype = {dtype}}} : tensor<{n}x{dtype}>"
                given = [*ends, Tensor(np.array([3.0]), dtype, False)]
                yield Case(op, given, call=lambda a, b, n, base, d=name: C.logspace(a, b, n, base, d, place), text=text, **SUMMED | {"typed": False, "grad": False})


@covers("tril_indices", "triu_indices")
def corners(draw, op):
    for rows, columns, offset in ((3, 3, 0), (2, 4, 1), (4, 2, -1)):
        names = ("rows", "cols", "offset") if op == "tril_indices" else ("row", "col", "offset")
        place = paddle.CPUPlace()
        given = attributes(**dict(zip(names, (rows, columns, offset)))) + ", dtype = i64"
        yield Case(op, [], given, lambda g=(rows, columns, offset): getattr(C, op)(*g, "int64", place), **COUNTED)


@covers("lu", "lu_unpack", "lu_solve")
def lu(draw, op):
    for dtype in TYPES:
        for lead in ([], [2]):
            x = draw.tensor([*lead, 3, 3], dtype)
            x.array = (x.array + 3 * np.eye(3)[::-1]).astype(x.array.dtype)
            ty = lambda *last, elem=dtype: f"tensor<{''.join(f'{n}x' for n in [*lead, *last])}{elem}>"  # noqa: E731
            loose = SUMMED | {"typed": False, "ulp": 256, "gulp": 4096, "eager": False}
            made = f"%f, %p, %i = pd.lu (%x0) {{pivot = true}} : {ty(3, 3)}, {ty(3, elem='i32')}, {ty(elem='i32')}\n"
            if op == "lu":
                yield Case(op, [x], call=lambda x: C.lu(x, True)[0], text=made.replace("%f", "%o0").strip(), **loose)
            elif op == "lu_unpack":
                text = made + f"%q, %o0, %o1 = pd.lu_unpack (%f, %p) {{unpack_ludata = true, unpack_pivots = true}} : {ty(3, 3)}, {ty(3, 3)}, {ty(3, 3)}"
                yield Case(op, [x], call=lambda x: list(C.lu_unpack(*C.lu(x, True)[:2], True, True)[1:]), outs=2, text=text, **loose)
            else:
                text = made + f'%o0 = pd.lu_solve (%x1, %f, %p) {{trans = "N"}} : {ty(3, 2)}'
                yield Case(op, [x, draw.tensor([*lead, 3, 2], dtype)], call=lambda x, b: C.lu_solve(b, *C.lu(x, True)[:2], "N"), text=text, **loose)


@covers("matrix_rank")
def matrix_rank(draw, op):
    for dtype in TYPES:
        full, low = draw.tensor([3, 4], dtype), Tensor(np.outer([1.0, 2.0, 3.0], [1.0, -1.0]), dtype)
        for x in (full, low):
            yield Case(op, [x], call=lambda x: C.matrix_rank(x, 0.0, True, False), text="%o0 = pd.matrix_rank (%x0) {tol = 0.0, use_default_tol = true} : tensor<i64>", grad=False)
        yield Case(op, [full], call=lambda x: C.matrix_rank(x, 100.0, False, False), text="%o0 = pd.matrix_rank (%x0) {tol = 100.0, use_default_tol = false} : tensor<i64>", grad=False)


@covers("empty", "empty_like")
def empty(draw, op):
    # What stands there is not compared.
    text = "%e = pd.empty {shape = [2, 0], dtype = f32} : tensor<2x0xf32>\n%o0 = pd.shape64 (%e) : tensor<2xi64>"
    if op == "empty_like":
        text = "%e = pd.empty_like (%x0) {dtype = f32} : tensor<2x0xf32>\n%o0 = pd.shape64 (%e) : tensor<2xi64>"
    yield Case(op, [Tensor(np.zeros([2, 0]), "f32", False)], call=lambda x: paddle.to_tensor([2, 0]), text=text, grad=False)
