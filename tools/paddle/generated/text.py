"""Programs as text."""

from .ops import LINES, OPS
from .tree import Call, Combine, Const, Copy, Create, Empty, If, Op, Pop, Push, Split, Unknown, While


def type_text(type):
    kind = type[0]
    if kind == "l":
        return f"vec<{', '.join(map(type_text, type[1]))}>"
    if kind == "s":
        return "cf.stack"
    dims = ["?" if a != b else str(a) for a, b in zip(type[1], type[2])]
    return f"tensor<{'x'.join([*dims, {'f': 'f64', 'i': 'i64', 'b': 'i1'}[kind]])}>"


class Writer:
    def __init__(self, program):
        self.p = program
        self.lines = []

    def line(self, depth, text):
        self.lines.append("  " * depth + text)

    def types(self, names):
        return ", ".join(type_text(self.p.types[n]) for n in names)

    def statements(self, statements, depth):
        for s in statements:
            self.statement(s, depth)

    def statement(self, s, depth):
        def line(text):
            self.line(depth, text)

        if isinstance(s, Const):
            type = self.p.types[s.out]
            shape = "[" + ", ".join(map(str, type[1])) + "]"
            line(f"%{s.out} = pd.full {{shape = {shape}, value = {s.value!r}, dtype = {'f64' if type[0] == 'f' else 'i64'}}}")
        elif isinstance(s, Op):
            if s.op in LINES:
                for text in LINES[s.op](s.ins, s.attrs, s.outs[0]):
                    line(text)
            else:
                line(f"{values(s.outs)} = {OPS[s.op].text(s.ins, s.attrs)}")
        elif isinstance(s, If):
            line(f"{values(s.outs)}{' = ' if s.outs else ''}pd.if (%{s.cond}) then {{")
            self.block(s.then, depth)
            line("} else {")
            self.block(s.other, depth)
            line("}" + (f" : {self.types(s.outs)}" if s.outs else ""))
        elif isinstance(s, While):
            line(f"{values(s.outs)} = pd.while ({values(s.inits)}) cond ({self.args(s.cond.args)}) {{")
            self.statements(s.cond.body, depth + 1)
            self.line(depth + 1, f"cf.cond_yield ({values(s.cond.yields)})")
            line(f"}} body ({self.args(s.body.args)}) {{")
            self.block(s.body, depth)
            line(f"}} : {self.types(s.outs)}")
        elif isinstance(s, Call):
            line(f"{values(s.outs)} = func.call @{s.callee} ({values(s.ins)}) : {self.types(s.outs)}")
        elif isinstance(s, Combine):
            line(f"%{s.out} = builtin.combine ({values(s.ins)})")
        elif isinstance(s, Split):
            line(f"{values(s.outs)} = builtin.split (%{s.list})")
        elif isinstance(s, Create):
            line(f"%{s.out} = cf.create_stack ()")
        elif isinstance(s, Push):
            line(f"cf.push_back (%{s.stack}, %{s.value})")
        elif isinstance(s, Pop):
            line(f"%{s.out} = cf.pop_back (%{s.stack}) : {self.types([s.out])}")
        elif isinstance(s, Empty):
            line(f"%{s.out} = cf.is_empty (%{s.stack})")
        elif isinstance(s, Copy):
            line(f"%{s.out} = cf.copy_stack (%{s.stack})")
        elif isinstance(s, Unknown):
            given = f"{values(s.outs)} = " if s.outs else ""
            line(f'{given}"{s.name}"({values(s.ins)}) : ({self.types(s.ins)}) -> ({self.types(s.outs)})')
        else:
            raise TypeError(f"no text for {s}")

    def block(self, block, depth):
        self.statements(block.body, depth + 1)
        self.line(depth + 1, f"cf.yield ({values(block.yields)})")

    def args(self, names):
        return ", ".join(f"%{n}: {type_text(self.p.types[n])}" for n in names)

    def program(self):
        p = self.p
        for name, block in p.functions.items():
            self.line(0, f"func.func private @{name}({self.args(block.args)}) -> ({self.types(block.yields)}) {{")
            self.statements(block.body, 1)
            self.line(1, f"func.return ({values(block.yields)})")
            self.line(0, "}")
        for name in p.inputs:
            type = p.types[name]
            shape = [-1 if a != b else a for a, b in zip(type[1], type[2])]
            dtype = {"f": "f64", "i": "i64", "b": "i1"}[type[0]]
            self.line(0, f'%{name} = pd.data {{name = "{name}", shape = {shape}, dtype = {dtype}}}')
        self.statements(p.body, 0)
        for number, name in enumerate(p.fetches):
            self.line(0, f'pd.fetch (%{name}) {{name = "o{number}"}}')
        return "\n".join(self.lines) + "\n"

    def as_function(self):
        """The program as one function, whose arguments are the inputs."""
        p = self.p
        self.line(0, f"func.func @main({self.args(p.inputs)}) -> ({self.types(p.fetches)}) {{")
        self.statements(p.body, 1)
        self.line(1, f"func.return ({values(p.fetches)})")
        self.line(0, "}")
        return "\n".join(self.lines) + "\n"


def values(names):
    return ", ".join(f"%{n}" for n in names)


def write(program):
    return Writer(program).program()


def write_function(program):
    return Writer(program).as_function()
