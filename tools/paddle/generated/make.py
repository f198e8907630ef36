"""Makes programs."""

import random

import paddle

from .ops import OPS, number
from .tree import (BOOL, INT, Block, Call, Combine, Const, Copy, Create, Empty, If, InPlace, Op, Pop, Program, Push, Split, Unknown,
                   While, defined, floats, same_at_run_time)

SHAPES = [(), (1,), (2,), (3,), (2, 3), (3, 2), (3, 3), (1, 3)]
# How many sizes an unknown dimension is longer, when shapes are found a second time.
LONGER = 2
ALL = [name for name, entry in OPS.items() if entry.weight]
TWICE = [name for name in ALL if OPS[name].twice is not False]


class Again(Exception):
    """This program cannot be completed."""


class Maker:
    def __init__(self, seed, kinds):
        self.r = random.Random(f"generated {seed}")
        self.p = Program(seed)
        self.kinds = kinds
        self.count = 0
        # Half of the programs have only operations that PaddlePaddle differentiates twice.
        self.chosen = self.r.choice([ALL, TWICE])
        self.weights = [OPS[name].weight for name in self.chosen]

    def name(self, type, prefix="v"):
        self.count += 1
        name = f"{prefix}{self.count}"
        self.p.types[name] = type
        return name

    def type(self, name):
        return self.p.types[name]

    # What there is to choose from. A scope is a list of names, the newest last.

    def of_kind(self, scope, kind):
        return [name for name in scope if self.type(name)[0] == kind]

    def some(self, scope, kind="f", fits=lambda type: True):
        """A value, rather a new one."""
        found = [name for name in self.of_kind(scope, kind) if fits(self.type(name))]
        if not found:
            raise Again(f"no {kind}")
        return found[max(self.r.randrange(len(found)), self.r.randrange(len(found)))]

    # Statements. Each is appended to `out`, and its results to the scope.

    def add(self, out, scope, statement, *types, prefix="v"):
        names = [self.name(type, prefix) for type in types]
        if hasattr(statement, "outs"):
            statement.outs = names
        elif names:
            statement.out = names[0]
        out.append(statement)
        scope.extend(names)
        return names[0] if len(names) == 1 else names

    def const(self, out, scope, type, value):
        return self.add(out, scope, Const(None, value), type, prefix="c")

    def apply(self, out, scope, op, ins, attrs=None, result=None):
        types = [result] if result else self.results(op, ins, attrs or {})
        return self.add(out, scope, Op(None, op, list(ins), attrs or {}), *types)

    def results(self, op, ins, attrs):
        """The types of what an operation gives, by running it on zeros, of other sizes too where some are unknown."""

        def shapes(which):
            given = [paddle.zeros(self.type(name)[which], "float64") for name in ins]
            got = OPS[op].run(*given, **attrs)
            return [tuple(t.shape) for t in (got if isinstance(got, (list, tuple)) else [got])]

        try:
            real = shapes(1)
            other = shapes(2) if any(self.type(name)[1] != self.type(name)[2] for name in ins) else real
        except Exception:  # noqa: BLE001  PaddlePaddle has many kinds.
            return None
        if any(len(shape) > 3 or max(shape, default=1) > 8 for shape in real) or len(real) != len(other):
            return None
        return [floats(a, b) for a, b in zip(real, other)]

    def compute(self, out, scope, active=None):
        """Some operation on something; `active` is one of its operands."""
        for _ in range(40):
            op = self.r.choices(self.chosen, self.weights)[0]
            entry = OPS[op]
            ins = [self.some(scope) for _ in range(entry.arity)]
            if active is not None:
                ins[self.r.randrange(entry.arity)] = active
            attrs = entry.attrs(self.r, [self.type(name)[1] for name in ins])
            if attrs is None:
                continue
            types = self.results(op, ins, attrs)
            if types is None or len(types) != entry.results:
                continue
            got = self.add(out, scope, Op(None, op, ins, attrs), *types)
            self.p.twice &= entry.twice is not False
            if not entry.tame:
                # Nothing grows in loops.
                got = self.apply(out, scope, "tanh", [got])
            return got if isinstance(got, str) else self.r.choice(got)
        raise Again("no operation fits")

    def several(self, out, scope, least, most):
        got = None
        for _ in range(self.r.randint(least, most)):
            got = self.compute(out, scope, got if self.r.random() < 0.5 else None)
        return got

    def as_type(self, out, scope, type, of=None):
        """A value of this type, computed of others."""
        if type == INT or type == BOOL:
            return self.some(scope, type[0])
        if type[0] == "l":
            there = [name for name in scope if self.type(name) == type]
            if there and self.r.random() < 0.3:
                return self.r.choice(there)
            parts = [self.as_type(out, scope, part) for part in type[1]]
            if tuple(self.type(p) for p in parts) != type[1]:
                # Of lists, the types must be the same.
                if there:
                    return there[-1]
                raise Again("no list of the type")
            return self.add(out, scope, Combine(None, parts), ("l", tuple(self.type(p) for p in parts)), prefix="l")
        shape = type[1]
        value = of if of is not None else self.some(scope)
        if self.type(value)[0] != "f":
            value = self.some(scope)
        if self.type(value)[1] != shape:
            found = [n for n in self.of_kind(scope, "f") if self.type(n)[1] == shape]
            if found:
                seen = self.r.choice(found[-3:])
                total = self.apply(out, scope, "total", [value])
                total = self.apply(out, scope, "tanh", [total])
                return self.apply(out, scope, self.r.choice(["multiply", "add"]), [seen, total])
            total = self.apply(out, scope, "total", [value])
            filled = self.const(out, scope, floats(shape), number(self.r, -1, 1))
            return self.apply(out, scope, "multiply", [filled, total])
        if value in self.p.inputs or self.r.random() < 0.3:
            return self.apply(out, scope, self.r.choice(["tanh", "sin", "cos"]), [value])
        return self.copied(out, scope, value)

    def copied(self, out, scope, value):
        """What a loop or a branch hands on: a copy where something may be changed in place, or it would be another name of that."""
        if "in place" in self.kinds and self.type(value)[0] == "f":
            return self.add(out, scope, Op(None, "assign", [value], {}), self.type(value), prefix="k")
        return value

    def condition(self, out, scope):
        """A truth value: of floats, of integers, or one that is there."""
        kind = self.r.random()
        if kind < 0.5:
            total = self.apply(out, scope, "total", [self.some(scope)])
            limit = self.const(out, scope, floats(()), number(self.r, -0.7, 0.7))
            return self.apply(out, scope, "less", [total, limit], result=BOOL)
        if kind < 0.8 and len(self.of_kind(scope, "i")) > 1:
            a, b = self.r.sample(self.of_kind(scope, "i"), 2)
            return self.apply(out, scope, "int_less", [a, b], result=BOOL)
        return self.some(scope, "b")

    def block(self, scope, args, depth, types, least=1, most=4):
        """A block that yields values of these types."""
        inner, body = [*scope, *args], []
        self.statements(body, inner, depth, self.r.randint(least, most))
        return Block(args, body, [self.as_type(body, inner, type) for type in types])

    def weaker(self, a, b):
        """A type that says of a shape only what both say."""
        if a[0] == "l":
            return ("l", tuple(self.weaker(x, y) for x, y in zip(a[1], b[1])))
        if a[0] != "f":
            return a
        return floats(a[1], [d if d == x == y else d + LONGER for d, x, y in zip(a[1], a[2], b[2])])

    def branch(self, out, scope, depth):
        cond = self.condition(out, scope)
        wanted = [self.type(self.some(scope)) for _ in range(self.r.choice([1, 1, 2, 3]))]
        if "lists" in self.kinds and self.r.random() < 0.3:
            wanted.append(("l", tuple(self.type(self.some(scope)) for _ in range(self.r.randint(1, 2)))))
        then = self.block(scope, [], depth - 1, wanted)
        other = self.block(scope, [], depth - 1, wanted)
        types = [self.weaker(self.type(a), self.type(b)) for a, b in zip(then.yields, other.yields)]
        return self.add(out, scope, If(cond, None, then, other), *types, prefix="r")

    def loop(self, out, scope, depth):
        """Counts up to a limit, and perhaps stops before, when a float says so."""
        simple = "static" in self.kinds
        zero = self.const(out, scope, INT, 0)
        limit = self.some(scope, "i") if self.r.random() < 0.3 else self.const(out, scope, INT, self.r.choice([0, 1, 2, 3, 3, 4]))
        carried = [self.some(scope) for _ in range(self.r.choice([1, 1, 2, 3]))]
        if "lists" in self.kinds:
            lists = self.of_kind(scope, "l")
            if lists and self.r.random() < 0.6:
                carried.append(self.r.choice(lists))
        carried = [self.copied(out, scope, name) for name in carried]
        # An argument may say less of its shape than what it starts with.
        types = [self.weaken(self.type(name)) for name in carried]
        args = [self.name(INT, "i"), *(self.name(type, "a") for type in types)]
        inner, body = [*scope, *args], []
        go = self.apply(body, inner, "int_less", [args[0], limit], result=BOOL)
        if self.r.random() < 0.4:
            total = self.apply(body, inner, "total", [self.some(inner)])
            bound = self.const(body, inner, floats(()), number(self.r, 0.2, 2.5))
            more = self.apply(body, inner, "less", [total, bound], result=BOOL)
            go = self.apply(body, inner, "and", [go, more], result=BOOL)
        forwards = list(args)
        if not simple and self.r.random() < 0.3:
            # What is forwarded need not be what came in.
            forwards[1:] = [self.as_type(body, inner, self.type(arg), arg) for arg in args[1:]]
            if self.r.random() < 0.5:
                forwards.append(self.compute(body, inner))
        cond = Block(args, body, [go, *forwards])
        got = [self.name(self.type(f), "b") for f in forwards]
        inner, body = [*scope, *got], []
        self.statements(body, inner, depth - 1, self.r.randint(1, 4))
        one = self.const(body, inner, INT, 1)
        following = [self.apply(body, inner, "int_add", [got[0], one], result=INT)]
        for type in types:
            # Now and then what came in, in another place.
            passed = [n for n in got[1:] if same_at_run_time(self.type(n), type)]
            following.append(self.copied(body, inner, self.r.choice(passed)) if passed and self.r.random() < 0.2 else self.as_type(body, inner, type))
        loop = While([zero, *carried], None, cond, Block(got, body, following))
        return self.add(out, scope, loop, *(self.type(f) for f in forwards), prefix="w")

    def weaken(self, type):
        if type[0] == "f" and "unknown sizes" in self.kinds:
            return floats(type[1], [d + LONGER if o != d or self.r.random() < 0.3 else d for d, o in zip(type[1], type[2])])
        return type

    # Lists.

    def lists(self, out, scope):
        there = self.of_kind(scope, "l")
        if there and self.r.random() < 0.5:
            which = self.r.choice(there)
            self.add(out, scope, Split(None, which), *self.type(which)[1], prefix="e")
            return
        parts = [self.some(scope) for _ in range(self.r.randint(1, 3))]
        self.add(out, scope, Combine(None, parts), ("l", tuple(self.type(p) for p in parts)), prefix="l")

    # Unknown operations.

    def unknown(self, out, scope):
        kind = self.r.choice(["tick", "look", "source", "source"])
        name = f"my.{kind}{self.count}"
        if kind == "tick":
            out.append(Unknown(name, [self.some(scope, "i")], []))
        elif kind == "look":
            # It might write what it looks at.
            self.p.may.add("an unknown operation reads a value")
            out.append(Unknown(name, [self.some(scope)], []))
        else:
            got = self.add(out, scope, Unknown(name, [], None), floats(()), prefix="u")
            self.apply(out, scope, "multiply", [self.some(scope), got])

    def in_place(self, out, scope):
        """Changes a value that some operation has made."""
        made = [n for n in self.of_kind(scope, "f") if n[0] in "vr" and n not in self.p.inputs]
        if not made:
            return
        target = self.r.choice(made[-4:])
        kind = self.r.choice(["add_", "scale_", "tanh_", "set", "relu_", "multiply_", "set_value"])
        shape = self.type(target)[1]
        ins, attrs = [], {}
        if kind in ("add_", "multiply_"):
            ins = [self.some(scope, fits=lambda t: t[1] == shape)]
        elif kind == "scale_":
            attrs = {"scale": number(self.r, -1, 1), "bias": number(self.r, -1, 1)}
        elif kind in ("set", "set_value"):
            if not shape:
                return
            attrs = {"index": self.r.randrange(shape[0])}
            if kind == "set":
                ins = [self.some(scope, fits=lambda t: t[1] == shape[1:])]
            else:
                attrs["value"] = number(self.r, -1, 1)
        # What an operation in a region gives is not seen outside of it.
        here = any(target in defined(s) for s in out)
        out.append(InPlace(target, kind, ins, attrs, here and self.r.random() < 0.5))

    def statements(self, out, scope, depth, count):
        from . import stacks

        for _ in range(count):
            kind = self.r.random()
            if depth > 0 and kind < 0.14:
                self.branch(out, scope, depth)
            elif depth > 0 and kind < 0.28:
                self.loop(out, scope, depth)
            elif "stacks" in self.kinds and kind < 0.42:
                stacks.pattern(self, out, scope, depth)
            elif "arrays" in self.kinds and kind < 0.45:
                stacks.array(self, out, scope, depth)
            elif "lists" in self.kinds and kind < 0.56:
                self.lists(out, scope)
            elif "calls" in self.kinds and any(name[0] == "f" for name in self.p.functions) and kind < 0.66:
                self.call(out, scope)
            elif "unknown operations" in self.kinds and kind < 0.76:
                self.unknown(out, scope)
            elif "in place" in self.kinds and kind < 0.66:
                self.in_place(out, scope)
            elif "singular points" in self.kinds and kind < 0.62:
                stacks.singular(self, out, scope)
            else:
                self.compute(out, scope)

    # Functions.

    def function(self, number):
        name = f"f{number}"
        types = [floats(self.r.choice(SHAPES)) for _ in range(self.r.randint(1, 2))]
        if "lists" in self.kinds and self.r.random() < 0.4:
            types.append(("l", tuple(floats(self.r.choice(SHAPES)) for _ in range(2))))
        args = [self.name(type, "p") for type in types]
        scope, body = list(args), []
        for which in self.of_kind(scope, "l"):
            self.add(body, scope, Split(None, which), *self.type(which)[1], prefix="e")
        self.const(body, scope, INT, 1)
        self.const(body, scope, INT, 2)
        self.condition(body, scope)
        self.statements(body, scope, 1, self.r.randint(2, 4))
        outs = [self.as_type(body, scope, floats(self.r.choice(SHAPES))) for _ in range(self.r.randint(1, 2))]
        self.p.functions[name] = Block(args, body, outs)

    def call(self, out, scope):
        name = self.r.choice([name for name in self.p.functions if name[0] == "f"])
        callee = self.p.functions[name]
        ins = [self.as_type(out, scope, self.type(arg)) for arg in callee.args]
        if any(self.type(i) != self.type(a) for i, a in zip(ins, callee.args)):
            return
        self.add(out, scope, Call(None, name, ins), *(self.type(y) for y in callee.yields))
        self.p.may.add("a call")

    def program(self):
        p, r = self.p, self.r
        scope = []
        for number in range(r.randint(2, 3)):
            shape = r.choice(SHAPES)
            name = f"x{number}"
            p.types[name] = self.weaken(floats(shape))
            p.inputs.append(name)
        if "calls" in self.kinds:
            for number in range(r.randint(1, 3)):
                self.function(number)
        p.types["n"], p.types["c"] = INT, BOOL
        p.inputs += ["n", "c"]
        scope += p.inputs
        body = p.body
        self.const(body, scope, INT, r.randint(0, 4))
        self.statements(body, scope, 2, r.randint(4, 8))
        floating = [n for n in self.of_kind(scope, "f") if n not in p.inputs and n[0] != "c"]
        if not floating:
            raise Again("nothing to fetch")
        for name in dict.fromkeys([floating[-1], *r.sample(floating, min(len(floating), 2))]):
            p.fetches.append(name)
        if "unknown operations" in self.kinds and r.random() < 0.15:
            # On the way from an input to an output, where nobody can tell the derivative.
            total = self.apply(body, scope, "total", [p.inputs[0]])
            value = self.apply(body, scope, "multiply", [p.fetches[0], total])
            p.fetches[0] = self.add(body, scope, Unknown(f"my.through{self.count}", [value], None), p.types[value], prefix="u")
            p.must.add("an unknown operation on the way")
        p.values = {name: self.value(p.types[name]) for name in p.inputs}
        return p

    def value(self, type):
        r = self.r
        if type == INT:
            return r.randint(0, 4)
        if type == BOOL:
            return r.random() < 0.5
        size = 1
        for d in type[1]:
            size *= d
        points = [0.0, 1.0, -1.0] if "singular points" in self.kinds else []
        return [r.choice(points) if points and r.random() < 0.3 else round(r.uniform(-1.5, 1.5), 4) for _ in range(size)]


def make(seed, kinds):
    """The program of a number, with some of the things that programs may have."""
    for attempt in range(200):
        try:
            return Maker(f"{seed}.{attempt}", kinds).program()
        except Again:
            continue
    raise RuntimeError(f"no program for {seed} {kinds}")
