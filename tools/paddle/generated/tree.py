"""What a program is: a tree of statements over named values.

A type is a tuple: `("f", shape, other)` of a tensor of f64, `("i", (), ())` and `("b", (), ())` of one integer and one
truth value, `("l", types)` of a list, `("s", type)` of a stack of such values, `("y", type)` of an array of them. `shape` is that of the run; a dimension in
which `other` differs from it is not known when the program is written (`?`).
"""

import copy
from dataclasses import dataclass, field

INT = ("i", (), ())
BOOL = ("b", (), ())


def floats(shape, other=None):
    return ("f", tuple(shape), tuple(shape if other is None else other))


def same_at_run_time(a, b):
    """Whether values of the types are alike when the program runs."""
    if a[0] != b[0]:
        return False
    if a[0] == "l":
        return len(a[1]) == len(b[1]) and all(map(same_at_run_time, a[1], b[1]))
    return same_at_run_time(a[1], b[1]) if a[0] == "s" else a[1] == b[1]


@dataclass
class Block:
    args: list
    body: list
    yields: list


@dataclass
class Op:
    """An operation of `ops.OPS`, by its name there."""

    outs: list
    op: str
    ins: list
    attrs: dict


@dataclass
class Const:
    out: str
    value: float


@dataclass
class If:
    cond: str
    outs: list
    then: Block
    other: Block


@dataclass
class While:
    """`cond` yields the condition and what it forwards, `body` the next arguments of `cond`."""

    inits: list
    outs: list
    cond: Block
    body: Block


@dataclass
class Call:
    outs: list
    callee: str
    ins: list


@dataclass
class Combine:
    out: str
    ins: list


@dataclass
class Split:
    outs: list
    list: str


@dataclass
class Create:
    out: str


@dataclass
class Push:
    stack: str
    value: str


@dataclass
class Pop:
    out: str
    stack: str


@dataclass
class Empty:
    out: str
    stack: str


@dataclass
class Copy:
    out: str
    stack: str


@dataclass
class Array:
    """PaddlePaddle's array of tensors. Only in programs that it makes."""

    out: str


@dataclass
class Write:
    array: str
    value: str
    index: str


@dataclass
class Read:
    out: str
    array: str
    index: str


@dataclass
class Unknown:
    """An operation that nobody knows. In a run it says that it ran, with its operand, and gives that or a constant."""

    name: str
    ins: list
    outs: list


@dataclass
class InPlace:
    """Changes the value `target`. Only in programs that PaddlePaddle makes."""

    target: str
    op: str
    ins: list
    attrs: dict
    # Whether what comes next reads the result of the operation or its operand.
    through: bool = False


@dataclass
class Program:
    seed: int
    types: dict = field(default_factory=dict)
    inputs: list = field(default_factory=list)
    functions: dict = field(default_factory=dict)
    body: list = field(default_factory=list)
    fetches: list = field(default_factory=list)
    values: dict = field(default_factory=dict)
    # What may make `backward` refuse it, what must, and what else is to be known of it.
    may: set = field(default_factory=set)
    must: set = field(default_factory=set)
    # Whether PaddlePaddle can differentiate it twice.
    twice: bool = True

    def clone(self):
        return copy.deepcopy(self)

    def wrt(self):
        return [name for name in self.inputs if self.types[name][0] == "f"]


def blocks(statement):
    if isinstance(statement, If):
        return [statement.then, statement.other]
    return [statement.cond, statement.body] if isinstance(statement, While) else []


def defined(statement):
    """The values that a statement defines, without those in its blocks."""
    return statement.outs if hasattr(statement, "outs") else [statement.out] if hasattr(statement, "out") else []


# Where the values that a statement itself reads stand.
READS = {
    Op: ["ins"],
    If: ["cond"],
    While: ["inits"],
    Call: ["ins"],
    Combine: ["ins"],
    Split: ["list"],
    Push: ["stack", "value"],
    Pop: ["stack"],
    Empty: ["stack"],
    Copy: ["stack"],
    Write: ["array", "value", "index"],
    Read: ["array", "index"],
    Unknown: ["ins"],
    InPlace: ["target", "ins"],
}


def substitute(statements, old, new):
    """Reads `new` wherever `old` was read, at any depth."""

    def swap(names):
        return [new if name == old else name for name in names] if isinstance(names, list) else new if names == old else names

    for statement in statements:
        for attribute in READS.get(type(statement), []):
            setattr(statement, attribute, swap(getattr(statement, attribute)))
        for block in blocks(statement):
            substitute(block.body, old, new)
            block.yields = swap(block.yields)


def walk(statements):
    for statement in statements:
        yield statement
        for block in blocks(statement):
            yield from walk(block.body)


def statements_of(program):
    yield from walk(program.body)
    for block in program.functions.values():
        yield from walk(block.body)
