#!/usr/bin/env python3
"""Writes programs of one kind and size, in our text and in MLIR's, with the same operations.

gen.py KIND SIZE ours|mlir
kinds: block  one block of SIZE additions
       loop   one loop whose body has SIZE operations
       funcs  SIZE functions with a loop of eight operations each
       depth  SIZE loops, each in the one before
"""
import sys


def ours(kind, n):
    t = "tensor<4xf32>"
    head = f'%x = pd.data {{name = "x", shape = [4], dtype = f32}} : {t}\n'
    ints = "".join(
        f"%{name} = pd.full {{shape = [], value = {v}, dtype = i64}} : tensor<i64>\n"
        for name, v in (("zero", 0), ("one", 1), ("n", 3)))

    def loop(k, first, body, pad):
        return (f"{pad}%e{k}, %r{k} = pd.while (%zero, {first}) cond (%i{k}: tensor<i64>, %a{k}: {t}) {{\n"
                f"{pad}  %go{k} = pd.less_than (%i{k}, %n) : tensor<i1>\n"
                f"{pad}  cf.cond_yield (%go{k}, %i{k}, %a{k})\n"
                f"{pad}}} body (%j{k}: tensor<i64>, %b{k}: {t}) {{\n{body}"
                f"{pad}  %next{k} = pd.add (%j{k}, %one) : tensor<i64>\n"
                f"{pad}  cf.yield (%next{k}, %last{k})\n{pad}}} : tensor<i64>, {t}\n")

    def chain(k, count, pad):
        out, at = "", f"%b{k}"
        for i in range(count):
            name = f"%last{k}" if i + 1 == count else f"%v{k}_{i}"
            out += f"{pad}{name} = pd.{('add', 'multiply')[i % 2]} ({at}, %x) : {t}\n"
            at = name
        return out

    if kind == "block":
        out, at = head, "%x"
        for i in range(n):
            out += f"%v{i} = pd.add ({at}, %x) : {t}\n"
            at = f"%v{i}"
        return out + f'pd.fetch ({at}) {{name = "out"}}\n'
    if kind == "loop":
        return head + ints + loop(0, "%x", chain(0, n, "  "), "") + 'pd.fetch (%r0) {name = "out"}\n'
    if kind == "funcs":
        out = ""
        for k in range(n):
            body = loop(0, "%x", chain(0, 8, "    "), "  ")
            inner = "".join("  " + line + "\n" for line in ints.splitlines())
            out += f"func.func @f{k}(%x: {t}) -> {t} {{\n{inner}{body}  func.return (%r0)\n}}\n"
        return out
    # From the inside out; blanks are left out, or they would be most of the text.
    tail = "".join(f"%last{k} = pd.assign (%r{k + 1}) : {t}\n%next{k} = pd.add (%j{k}, %one) : tensor<i64>\n"
                   f"cf.yield (%next{k}, %last{k})\n}} : tensor<i64>, {t}\n" for k in reversed(range(n - 1)))
    start = ""
    for k in range(n):
        first = "%x" if k == 0 else f"%b{k - 1}"
        start += (f"%e{k}, %r{k} = pd.while (%zero, {first}) cond (%i{k}: tensor<i64>, %a{k}: {t}) {{\n"
                  f"%go{k} = pd.less_than (%i{k}, %n) : tensor<i1>\ncf.cond_yield (%go{k}, %i{k}, %a{k})\n"
                  f"}} body (%j{k}: tensor<i64>, %b{k}: {t}) {{\n")
    k = n - 1
    middle = (chain(k, 2, "") + f"%next{k} = pd.add (%j{k}, %one) : tensor<i64>\ncf.yield (%next{k}, %last{k})\n"
              f"}} : tensor<i64>, {t}\n")
    return head + ints + start + middle + tail + 'pd.fetch (%r0) {name = "out"}\n'


def mlir(kind, n):
    t = "tensor<4xf32>"
    ints = "".join(f"%{name} = arith.constant {v} : i64\n" for name, v in (("zero", 0), ("one", 1), ("n", 3)))

    def open_loop(k, first):
        return (f"%r{k}:2 = scf.while (%i{k} = %zero, %a{k} = {first}) : (i64, {t}) -> (i64, {t}) {{\n"
                f"%go{k} = arith.cmpi slt, %i{k}, %n : i64\nscf.condition(%go{k}) %i{k}, %a{k} : i64, {t}\n"
                f"}} do {{\n^bb0(%j{k}: i64, %b{k}: {t}):\n")

    def close_loop(k):
        return f"%next{k} = arith.addi %j{k}, %one : i64\nscf.yield %next{k}, %last{k} : i64, {t}\n}}\n"

    def chain(k, count):
        out, at = "", f"%b{k}"
        for i in range(count):
            name = f"%last{k}" if i + 1 == count else f"%v{k}_{i}"
            out += f"{name} = arith.{('addf', 'mulf')[i % 2]} {at}, %x : {t}\n"
            at = name
        return out

    def func(name, body, result):
        return f"func.func @{name}(%x: {t}) -> {t} {{\n{body}return {result} : {t}\n}}\n"

    if kind == "block":
        out, at = "", "%x"
        for i in range(n):
            out += f"%v{i} = arith.addf {at}, %x : {t}\n"
            at = f"%v{i}"
        return func("f", out, at)
    if kind == "loop":
        return func("f", ints + open_loop(0, "%x") + chain(0, n) + close_loop(0), "%r0#1")
    if kind == "funcs":
        return "".join(func(f"f{k}", ints + open_loop(0, "%x") + chain(0, 8) + close_loop(0), "%r0#1") for k in range(n))
    start = "".join(open_loop(k, "%x" if k == 0 else f"%b{k - 1}") for k in range(n))
    end = "".join(f"%last{k} = arith.addf %r{k + 1}#1, %x : {t}\n" + close_loop(k) for k in reversed(range(n - 1)))
    return func("f", ints + start + chain(n - 1, 2) + close_loop(n - 1) + end, "%r0#1")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("block", "loop", "funcs", "depth"):
        sys.exit(__doc__)
    write = ours if sys.argv[3] == "ours" else mlir
    sys.stdout.write(write(sys.argv[1], int(sys.argv[2])))
