"""What a program means, in PaddlePaddle's eager mode: Python runs the loops, PaddlePaddle differentiates what was run."""

import numpy as np
import paddle

from .ops import OPS
from .tree import Array, Call, Combine, Const, Copy, Create, Empty, If, InPlace, Op, Pop, Push, Read, Split, Unknown, While, Write

# What unknown operations without operands give.
SOURCE = 0.7
MAX_STEPS = 4000


class Unfit(Exception):
    """What a program computes is no use for comparing."""


class Run:
    def __init__(self, program, twice):
        self.p, self.twice = program, twice
        self.env = {}
        # What unknown operations said, in order.
        self.said = []
        self.steps = 0

    def statements(self, statements):
        for s in statements:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise Unfit("too many steps")
            self.statement(s)

    def block(self, block, given=()):
        for name, value in zip(block.args, given):
            self.env[name] = value
        self.statements(block.body)
        return [self.env[name] for name in block.yields]

    def set(self, names, values):
        for name, value in zip(names, values, strict=True):
            self.env[name] = value

    def statement(self, s):
        env = self.env
        if isinstance(s, Const):
            kind, shape, _ = self.p.types[s.out]
            env[s.out] = paddle.full(shape, s.value, "float64" if kind == "f" else "int64")
        elif isinstance(s, Op):
            entry = OPS[s.op]
            run = entry.twice if self.twice and callable(entry.twice) else entry.run
            got = run(*(env[name] for name in s.ins), **s.attrs)
            self.set(s.outs, got if isinstance(got, (list, tuple)) else [got])
        elif isinstance(s, If):
            self.set(s.outs, self.block(s.then if bool(env[s.cond]) else s.other))
        elif isinstance(s, While):
            state = [env[name] for name in s.inits]
            while True:
                self.steps += 1
                go, *state = self.block(s.cond, state)
                if not bool(go) or self.steps > MAX_STEPS:
                    break
                state = self.block(s.body, state)
            self.set(s.outs, state)
        elif isinstance(s, Call):
            self.set(s.outs, self.block(self.p.functions[s.callee], [env[name] for name in s.ins]))
        elif isinstance(s, Combine):
            env[s.out] = [env[name] for name in s.ins]
        elif isinstance(s, Split):
            self.set(s.outs, env[s.list])
        elif isinstance(s, Create):
            env[s.out] = []
        elif isinstance(s, Push):
            env[s.stack].append(env[s.value])
        elif isinstance(s, Pop):
            env[s.out] = env[s.stack].pop()
        elif isinstance(s, Empty):
            env[s.out] = paddle.to_tensor(not env[s.stack])
        elif isinstance(s, Copy):
            env[s.out] = list(env[s.stack])
        elif isinstance(s, Array):
            env[s.out] = []
        elif isinstance(s, Write):
            at, array = int(env[s.index]), env[s.array]
            array[at : at + 1] = [env[s.value]]
        elif isinstance(s, Read):
            env[s.out] = env[s.array][int(env[s.index])]
        elif isinstance(s, Unknown):
            self.said.append((s.name, [env[name].numpy() for name in s.ins]))
            source = env[s.ins[0]] if s.ins else paddle.to_tensor(SOURCE, "float64")
            self.set(s.outs, [source] * len(s.outs))
        elif isinstance(s, InPlace):
            env[s.target] = changed(env[s.target], s, env)
        else:
            raise TypeError(f"no meaning for {s}")


def changed(x, s, env):
    """What an operation in place leaves in its target: a new value, since eager mode would forget the old one."""
    ins = [env[name] for name in s.ins]
    if s.op == "add_":
        return x + ins[0]
    if s.op == "multiply_":
        return x * ins[0]
    if s.op == "scale_":
        return x * s.attrs["scale"] + s.attrs["bias"]
    if s.op == "tanh_":
        return paddle.tanh(x)
    if s.op == "relu_":
        return paddle.nn.functional.relu(x)
    rows = list(paddle.unbind(x, 0))
    row = rows[s.attrs["index"]]
    rows[s.attrs["index"]] = ins[0] if s.op == "set" else paddle.full_like(row, s.attrs["value"])
    return paddle.stack(rows, 0)


def run(program, order=2):
    """Outputs and gradients by the names that pir-opt gives them, and what unknown operations said."""
    program_twice = program.twice and order > 1
    runs = Run(program, program_twice)
    leaves = {}
    for name in program.inputs:
        kind, shape, _ = program.types[name]
        dtype = {"f": "float64", "i": "int64", "b": "bool"}[kind]
        tensor = paddle.to_tensor(np.array(program.values[name], dtype).reshape(shape), stop_gradient=kind != "f")
        runs.env[name] = tensor
        if kind == "f":
            leaves[name] = tensor
    try:
        runs.statements(program.body)
    except IndexError as error:
        raise Unfit("takes from an empty stack, or beyond the end of an array") from error
    outs = [runs.env[name] for name in program.fetches]
    result = {f"o{n}": out for n, out in enumerate(outs)}
    grads = gradients(outs, leaves, program_twice)
    result |= {f"{name}_grad": grad for name, grad in grads.items()}
    if program_twice:
        try:
            second = gradients(list(grads.values()), leaves, False)
        except (SystemError, RuntimeError) as error:
            # PaddlePaddle loses its place in some gradients of gradients: those of the first order remain.
            if "GradSlotMeta" not in str(error):
                raise
            second, program.twice = {}, False
        result |= {f"{name}_grad_2": grad for name, grad in second.items()}
    arrays = {name: value.numpy() for name, value in result.items()}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise Unfit(f"{name} is not finite")
        if np.abs(array).max(initial=0) > 1e6:
            raise Unfit(f"{name} is large")
    return arrays, runs.said


def gradients(outs, leaves, again):
    """Of the sum of all outputs. What is an output twice counts twice."""
    sums = [paddle.sum(out) for out in outs if not out.stop_gradient]
    xs = list(leaves.values())
    grads = [None] * len(xs)
    if sums:
        grads = paddle.grad([paddle.add_n(sums)], xs, create_graph=again, retain_graph=True, allow_unused=True)
    return {name: paddle.zeros_like(x) if g is None else g for (name, x), g in zip(leaves.items(), grads)}
