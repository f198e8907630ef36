"""Programs as PaddlePaddle builds them when Python calls its layers in static mode, and saves them."""

import os
import pathlib

import paddle
from paddle.base import core

from .ops import OPS
from .tree import Array, Combine, Const, If, InPlace, Op, Read, Split, While, Write

DTYPES = {"f": "float64", "i": "int64", "b": "bool"}


class Builder:
    def __init__(self, program):
        self.p, self.env = program, {}

    def statements(self, statements):
        for s in statements:
            self.statement(s)

    def set(self, names, values):
        for name, value in zip(names, values, strict=True):
            self.env[name] = value

    def flat(self, names):
        return [self.env[name] for name in names]

    def statement(self, s):
        env = self.env
        if isinstance(s, Const):
            kind, shape, _ = self.p.types[s.out]
            env[s.out] = paddle.full(shape, s.value, DTYPES[kind])
        elif isinstance(s, Op):
            got = OPS[s.op].run(*self.flat(s.ins), **s.attrs)
            self.set(s.outs, got if isinstance(got, (list, tuple)) else [got])
        elif isinstance(s, If):

            def branch(block):
                def build():
                    self.statements(block.body)
                    return self.flat(block.yields)

                return build

            got = paddle.static.nn.cond(env[s.cond], branch(s.then), branch(s.other))
            self.set(s.outs, got if isinstance(got, (list, tuple)) else [got])
        elif isinstance(s, While):

            def cond(*args):
                self.set(s.cond.args, args)
                self.statements(s.cond.body)
                return env[s.cond.yields[0]]

            def body(*args):
                self.set(s.body.args, args)
                self.statements(s.body.body)
                return self.flat(s.body.yields)

            self.set(s.outs, paddle.static.nn.while_loop(cond, body, self.flat(s.inits)))
        elif isinstance(s, Combine):
            env[s.out] = self.flat(s.ins)
        elif isinstance(s, Split):
            self.set(s.outs, env[s.list])
        elif isinstance(s, Array):
            env[s.out] = paddle.tensor.create_array("float64")
        elif isinstance(s, Write):
            paddle.tensor.array_write(env[s.value], env[s.index], env[s.array])
        elif isinstance(s, Read):
            env[s.out] = paddle.tensor.array_read(env[s.array], env[s.index])
        elif isinstance(s, InPlace):
            got = self.in_place(env[s.target], s)
            if s.through and got is not None:
                env[s.target] = got
        else:
            raise TypeError(f"PaddlePaddle has no {s}")

    def in_place(self, x, s):
        ins = self.flat(s.ins)
        if s.op == "scale_":
            return paddle._C_ops.scale_(x, s.attrs["scale"], s.attrs["bias"], True)
        if s.op in ("set", "set_value"):
            x[s.attrs["index"]] = ins[0] if s.op == "set" else s.attrs["value"]
            return None
        return getattr(paddle._C_ops, s.op)(x, *ins)


def build(program, folder):
    """The saved program, as text; nothing if PaddlePaddle goes down while it builds it, as it does with some loops.

    It does not run it: its executor corrupts memory in some operations in place.
    """
    path = pathlib.Path(folder) / "program.json"
    path.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            save(program, str(path))
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return path.read_text() if status == 0 else None


def save(program, path):
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        builder = Builder(program)
        for name in program.inputs:
            kind, shape, other = program.types[name]
            given = [-1 if a != b else a for a, b in zip(shape, other)]
            builder.env[name] = paddle.static.data(name, given, DTYPES[kind])
            builder.env[name].stop_gradient = kind != "f"
        builder.statements(program.body)
        for number, name in enumerate(program.fetches):
            paddle._pir_ops.fetch(builder.env[name], f"o{number}", number)
        core.serialize_pir_program(main, path, True, False, True)
