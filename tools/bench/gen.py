#!/usr/bin/env python3
"""Writes programs of one kind and size, in our text and in MLIR's, with the same operations.

gen.py KIND SIZE ours|mlir
kinds: block  one block of SIZE additions
       funcs  SIZE functions with a loop of eight operations each
       loop   one loop whose body has SIZE operations, every other one of which does not depend on the loop
       depth  SIZE loops, each in the one before
       width  one loop that carries SIZE values, every other one unchanged
       twice  SIZE products, all the same, and as many sums of them
       custom SIZE functions of arith, scf, memref and linalg in MLIR's custom assembly, for both
       stablehlo a function of about SIZE operations with loops of unknown length, as JAX lowers it, for both
"""
import sys

import solvers

T = "tensor<4xf32>"


class Ours:
    """Programs in our text."""

    head = f'%x = pd.data {{name = "x", shape = [4], dtype = f32}} : {T}\n'
    ints = "".join(
        f"%{name} = pd.full {{shape = [], value = {v}, dtype = i64}} : tensor<i64>\n"
        for name, v in (("zero", 0), ("one", 1), ("n", 3)))

    @staticmethod
    def op(to, name, a, b):
        return f"%{to} = pd.{name} (%{a}, %{b}) : {T}\n"

    @staticmethod
    def open_loop(k, first):
        """Opens loop `k`, which carries a counter and `a0`, `a1`, … that begin as the values in `first`."""
        n = len(first)
        values = lambda name: ", ".join(f"%{name}{k}_{i}" for i in range(n))
        typed = lambda name: ", ".join(f"%{name}{k}_{i}: {T}" for i in range(n))
        return (f"%e{k}, {values('r')} = pd.while (%zero, {', '.join('%' + v for v in first)}) "
                f"cond (%i{k}: tensor<i64>, {typed('a')}) {{\n"
                f"%go{k} = pd.less_than (%i{k}, %n) : tensor<i1>\ncf.cond_yield (%go{k}, %i{k}, {values('a')})\n"
                f"}} body (%j{k}: tensor<i64>, {typed('b')}) {{\n")

    @staticmethod
    def close_loop(k, last):
        types = ", ".join([T] * len(last))
        return (f"%next{k} = pd.add (%j{k}, %one) : tensor<i64>\ncf.yield (%next{k}, {', '.join('%' + v for v in last)})\n"
                f"}} : tensor<i64>, {types}\n")

    @staticmethod
    def result(k, i):
        return f"r{k}_{i}"

    @classmethod
    def program(cls, body, last):
        return f'{cls.head}{body}pd.fetch (%{last}) {{name = "out"}}\n'

    @staticmethod
    def function(name, body, last):
        return f"func.func @{name}(%x: {T}) -> {T} {{\n{body}func.return (%{last})\n}}\n"


class Mlir:
    """Programs in MLIR's text."""

    ints = "".join(f"%{name} = arith.constant {v} : i64\n" for name, v in (("zero", 0), ("one", 1), ("n", 3)))

    @staticmethod
    def op(to, name, a, b):
        return f"%{to} = arith.{ {'add': 'addf', 'multiply': 'mulf'}[name]} %{a}, %{b} : {T}\n"

    @staticmethod
    def open_loop(k, first):
        n = len(first)
        types = ", ".join(["i64"] + [T] * n)
        given = ", ".join(f"%a{k}_{i} = %{v}" for i, v in enumerate(first))
        return (f"%r{k}:{n + 1} = scf.while (%i{k} = %zero, {given}) : ({types}) -> ({types}) {{\n"
                f"%go{k} = arith.cmpi slt, %i{k}, %n : i64\n"
                f"scf.condition(%go{k}) %i{k}, {', '.join(f'%a{k}_{i}' for i in range(n))} : {types}\n"
                f"}} do {{\n^bb0(%j{k}: i64, {', '.join(f'%b{k}_{i}: {T}' for i in range(n))}):\n")

    @staticmethod
    def close_loop(k, last):
        types = ", ".join(["i64"] + [T] * len(last))
        return (f"%next{k} = arith.addi %j{k}, %one : i64\n"
                f"scf.yield %next{k}, {', '.join('%' + v for v in last)} : {types}\n}}\n")

    @staticmethod
    def result(k, i):
        return f"r{k}#{i + 1}"

    @classmethod
    def program(cls, body, last):
        return cls.function("f", body, last)

    @staticmethod
    def function(name, body, last):
        return f"func.func @{name}(%x: {T}) -> {T} {{\n{body}return %{last} : {T}\n}}\n"


def chain(d, k, count):
    """`count` operations from `b0` of loop `k` to `last` of it."""
    out, at = [], f"b{k}_0"
    for i in range(count):
        to = f"last{k}" if i + 1 == count else f"v{k}_{i}"
        out.append(d.op(to, ("add", "multiply")[i % 2], at, "x"))
        at = to
    return "".join(out)


CUSTOM = """#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
"""
CUSTOM_FUNCTION = """func.func @f{k}(%m: memref<?x8xf64>, %t: tensor<4x8xf64>, %n: index, %x: f64) -> (f64, tensor<4xf64>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.000000e+00 : f64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %zero) -> (f64) {{
    %row = scf.for %j = %c0 to %c8 step %c1 iter_args(%acc = %outer) -> (f64) {{
      %v = memref.load %m[%i, %j] : memref<?x8xf64>
      %p = arith.mulf %v, %x : f64
      %pos = arith.cmpf ogt, %p, %zero : f64
      %w = scf.if %pos -> (f64) {{
        %s = math.sin %p : f64
        scf.yield %s : f64
      }} else {{
        %c = math.cos %v : f64
        scf.yield %c : f64
      }}
      memref.store %w, %m[%i, %j] : memref<?x8xf64>
      %next = arith.addf %acc, %w : f64
      scf.yield %next : f64
    }}
    scf.yield %row : f64
  }}
  %last:2 = scf.while (%a = %sum, %k = %c0) : (f64, index) -> (f64, index) {{
    %go = arith.cmpi slt, %k, %n : index
    scf.condition(%go) %a, %k : f64, index
  }} do {{
  ^bb0(%a: f64, %k: index):
    %b = arith.mulf %a, %x : f64
    %k1 = arith.addi %k, %c1 : index
    scf.yield %b, %k1 : f64, index
  }}
  %view = memref.subview %m[%n, 0] [4, 8] [1, 1] : memref<?x8xf64> to memref<4x8xf64, strided<[8, 1], offset: ?>>
  memref.store %last#0, %view[%c0, %c1] : memref<4x8xf64, strided<[8, 1], offset: ?>>
  %init = tensor.empty() : tensor<4xf64>
  %filled = linalg.fill ins(%zero : f64) outs(%init : tensor<4xf64>) -> tensor<4xf64>
  %rows = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}} \
ins(%t : tensor<4x8xf64>) outs(%filled : tensor<4xf64>) {{
  ^bb0(%in: f64, %out: f64):
    %sq = arith.mulf %in, %in : f64
    %add = arith.addf %out, %sq : f64
    linalg.yield %add : f64
  }} -> tensor<4xf64>
  return %last#0, %rows : f64, tensor<4xf64>
}}
"""


def custom(_, n):
    return CUSTOM + "".join(CUSTOM_FUNCTION.format(k=k) for k in range(n))


def block(d, n):
    names = ["x"] + [f"v{i}" for i in range(n)]
    return d.program("".join(d.op(names[i + 1], "add", names[i], "x") for i in range(n)), names[-1])


def funcs(d, n):
    loop = [d.ints + d.open_loop(0, ["x"]) + chain(d, 0, 8) + d.close_loop(0, ["last0"])]
    return "".join(d.function(f"f{k}", loop[0], d.result(0, 0)) for k in range(n))


def loop(d, n):
    out, at, still = [], "b0_0", "x"
    for i in range(n // 2):
        # Chains of eight, or all of it would be one.
        out.append(d.op(f"w{i}", "multiply", "x" if i % 8 == 0 else still, "x"))
        still = f"w{i}"
        out.append(d.op(f"v{i}", "add", at, still))
        at = f"v{i}"
    return d.program(d.ints + d.open_loop(0, ["x"]) + "".join(out) + d.close_loop(0, [at]), d.result(0, 0))


def depth(d, n):
    out = [d.ints]
    out += [d.open_loop(k, ["x" if k == 0 else f"b{k - 1}_0"]) for k in range(n)]
    out.append(chain(d, n - 1, 2) + d.close_loop(n - 1, [f"last{n - 1}"]))
    for k in reversed(range(n - 1)):
        out.append(d.op(f"last{k}", "add", d.result(k + 1, 0), "x") + d.close_loop(k, [f"last{k}"]))
    return d.program("".join(out), d.result(0, 0))


def width(d, n):
    out = [d.ints, d.open_loop(0, ["x"] * n)]
    out += [d.op(f"t{i}", "multiply", f"b0_{i}", f"b0_{i - 1}") for i in range(1, n, 2)]
    out.append(d.close_loop(0, [f"t{i}" if i % 2 else f"b0_{i}" for i in range(n)]))
    at = d.result(0, 0)
    for i in range(1, n):
        out.append(d.op(f"s{i}", "add", at, d.result(0, i)))
        at = f"s{i}"
    return d.program("".join(out), at)


def twice(d, n):
    out, at = [], "x"
    for i in range(n):
        out.append(d.op(f"d{i}", "multiply", "x", "x") + d.op(f"s{i}", "add", at, f"d{i}"))
        at = f"s{i}"
    return d.program("".join(out), at)


KINDS = {"block": block, "funcs": funcs, "loop": loop, "depth": depth, "width": width, "twice": twice, "custom": custom,
         "stablehlo": lambda _, n: solvers.module(n)}
# Operations for each unit of size, the carried values of `width` among them: what numbers are given for.
COUNTS = {"block": 1, "funcs": 17, "loop": 1, "depth": 6, "width": 2.5, "twice": 2, "custom": 35, "stablehlo": 1}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    sys.stdout.write(KINDS[sys.argv[1]](Ours if sys.argv[3] == "ours" else Mlir, int(sys.argv[2])))
