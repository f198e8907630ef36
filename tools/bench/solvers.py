"""A module of StableHLO with loops of unknown length, as JAX lowers such functions: what `jax-vjp` is measured on."""

N = 8  # The length of the state that each loop hands to the next.
STATE, SCALAR, INT, FLAG = f"tensor<{N}xf32>", "tensor<f32>", "tensor<i32>", "tensor<i1>"
MATRIX = f"tensor<{N}x{N}xf32>"
DOT = ("dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [0]>, "
       "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]")


class Writer:
    """Writes operations in MLIR's generic form, and counts them."""

    def __init__(self):
        self.lines, self.types, self.count, self.depth, self.loops = [], {}, 0, 2, 0

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def new(self, type_, prefix=""):
        name = f"%{prefix}{len(self.types)}"
        self.types[name] = type_
        return name

    def typed(self, values):
        return ", ".join(self.types[v] for v in values)

    def op(self, name, values, type_, props=""):
        to = self.new(type_)
        props = f" <{{{props}}}>" if props else ""
        self.line(f'{to} = "stablehlo.{name}"({", ".join(values)}){props} : ({self.typed(values)}) -> {type_}')
        self.count += 1
        return to

    def same(self, name, *values):
        """An elementwise operation."""
        return self.op(name, values, self.types[values[0]])

    def number(self, value, type_=SCALAR):
        text = f"{value:e}" if type_ == SCALAR else str(value)
        return self.op("constant", [], type_, f"value = dense<{text}> : {type_}")

    def spread(self, value):
        """A scalar for each element of the state."""
        return self.op("broadcast_in_dim", [value], STATE, "broadcast_dimensions = array<i64>")

    def scaled(self, factor, value):
        return self.same("multiply", self.spread(self.number(factor)), value)

    def compare(self, a, b, direction, kind="FLOAT"):
        return self.op("compare", [a, b], FLAG, f"compare_type = #stablehlo<comparison_type {kind}>, "
                       f"comparison_direction = #stablehlo<comparison_direction {direction}>")

    def dot(self, a, b):
        return self.op("dot_general", [a, b], STATE, DOT.format(len(self.types[a].split("x")) - 2))

    def element(self, value, at):
        part = self.op("slice", [value], "tensor<1xf32>", f"limit_indices = array<i64: {at + 1}>, "
                       f"start_indices = array<i64: {at}>, strides = array<i64: 1>")
        return self.op("reshape", [part], SCALAR)

    def total(self, value):
        """The sum of the elements."""
        zero, to = self.number(0.0), self.new(SCALAR)
        self.line(f'{to} = "stablehlo.reduce"({value}, {zero}) <{{dimensions = array<i64: 0>}}> ({{')
        a, b = self.new(SCALAR, "arg"), self.new(SCALAR, "arg")
        self.block([a, b], lambda: [self.same("add", a, b)])
        self.line(f"}}) : ({STATE}, {SCALAR}) -> {SCALAR}")
        self.count += 1
        return to

    def block(self, args, body):
        if args:
            self.line(f"^bb0({', '.join(f'{a}: {self.types[a]}' for a in args)}):")
        self.depth += 1
        values = body()
        self.line(f'"stablehlo.return"({", ".join(values)}) : ({self.typed(values)}) -> ()')
        self.count += 1
        self.depth -= 1

    def regions(self, name, operands, result_types, regions):
        """An operation with several results and regions, each given by its arguments and its body."""
        to = self.new(None)
        self.line(f'{to}:{len(result_types)} = "stablehlo.{name}"({", ".join(operands)}) ({{')
        for at, (args, body) in enumerate(regions):
            if at > 0:
                self.line("}, {")
            self.block(args, body)
        self.line(f"}}) : ({self.typed(operands)}) -> ({', '.join(result_types)})")
        self.count += 1
        results = [f"{to}#{at}" for at in range(len(result_types))]
        self.types.update(zip(results, result_types))
        return results

    def loop(self, starts, condition, body):
        types = [self.types[v] for v in starts]
        args = [[self.new(t, "arg") for t in types] for _ in range(2)]
        self.loops += 1
        return self.regions("while", starts, types, [(args[0], lambda: [condition(*args[0])]), (args[1], lambda: body(*args[1]))])

    def below(self, i, limit, and_also):
        """What `(i < limit) & and_also` is lowered to."""
        short = self.compare(i, self.number(limit, INT), "LT", "SIGNED")
        no = self.op("broadcast_in_dim", [self.number("false", FLAG)], FLAG, "broadcast_dimensions = array<i64>")
        whole = self.op("convert", [self.compare(short, no, "NE", "UNSIGNED")], FLAG)
        return self.same("and", whole, and_also)

    def next(self, i):
        return self.same("add", i, self.number(1, INT))


def newton(w, x, _):
    """The square roots of the elements, until the largest error is small."""
    start = w.same("add", x, w.spread(w.number(1.0)))

    def wrong(a, s):
        error = w.same("subtract", w.same("multiply", s, s), a)
        return w.compare(w.total(w.same("abs", error)), w.number(1e-4), "GT")

    return w.loop([w.same("abs", x), start], wrong,
                  lambda a, s: [a, w.scaled(0.5, w.same("add", s, w.same("divide", a, s)))])[1]


def recurrent(w, x, m):
    """A recurrent cell with a gate, until its state is large."""
    def step(m, x, i, h):
        inner = w.same("add", w.dot(m, h), x)
        gate = w.same("logistic", w.dot(m, w.same("tanh", inner)))
        kept = w.same("subtract", w.spread(w.number(1.0)), gate)
        new = w.same("tanh", w.same("add", w.dot(h, m), w.scaled(0.3, inner)))
        return [m, x, w.next(i), w.same("add", w.same("multiply", gate, new), w.same("multiply", kept, h))]

    return w.loop([m, x, w.number(0, INT), w.scaled(0.1, x)],
                  lambda m, x, i, h: w.below(i, 40, w.compare(w.total(w.same("multiply", h, h)), w.number(60.0), "LT")), step)[3]


def nested(w, x, m):
    """A loop in a loop, both until a sum is small."""
    def outer(m, i, x, total):
        inner = w.loop([m, x, x, w.spread(w.number(0.0))],
                       lambda m, a, b, s: w.compare(w.total(w.same("multiply", b, b)), w.number(0.5), "GT"),
                       lambda m, a, b, s: [m, a, w.same("add", w.scaled(0.4, w.same("sine", w.dot(m, b))), w.scaled(0.01, a)),
                                           w.same("add", s, w.same("tanh", b))])
        new = w.same("add", w.scaled(1.1, x), w.scaled(0.1, inner[2]))
        return [m, w.next(i), new, w.same("add", total, inner[3])]

    return w.loop([m, w.number(0, INT), x, w.spread(w.number(0.0))],
                  lambda m, i, x, s: w.below(i, 4, w.compare(w.total(s), w.number(60.0), "LT")), outer)[3]


def branching(w, x, m):
    """A loop with a branch that depends on what it carries."""
    def step(m, x, i, a, s):
        large = w.compare(w.element(a, 1), w.number(2.0), "GT")

        def one():
            out = w.same("add", w.scaled(0.7, a), w.same("multiply", x, x))
            return [out, w.same("multiply", w.same("sine", a), w.spread(w.element(x, 0)))]

        def other():
            out = w.same("divide", w.same("exponential", w.scaled(-0.5, a)), w.scaled(3.0, x))
            return [out, w.same("multiply", w.dot(m, a), w.spread(w.element(a, 2)))]

        branch = w.regions("case", [w.op("convert", [large], INT)], [STATE, STATE], [([], one), ([], other)])
        return [m, x, w.next(i), branch[0], w.same("add", s, branch[1])]

    return w.loop([m, x, w.number(0, INT), x, w.spread(w.number(0.0))],
                  lambda m, x, i, a, s: w.below(i, 9, w.compare(w.total(s), w.number(50.0), "LT")), step)[4]


def integrate(w, x, m):
    """An integrator of third order that chooses the length of its steps."""
    def slope(m, y):
        rate = w.same("subtract", w.number(1.0), w.same("multiply", w.element(y, 0), w.element(y, 0)))
        return w.same("add", w.same("tanh", w.dot(m, y)), w.same("multiply", w.spread(rate), y))

    def sum_of(weights, slopes):
        out = w.scaled(weights[0], slopes[0])
        for weight, k in zip(weights[1:], slopes[1:]):
            out = w.same("add", out, w.scaled(weight, k))
        return out

    def step(m, end, t, h, y, i):
        h = w.same("minimum", h, w.same("subtract", end, t))
        slopes = [slope(m, y)]
        for factor in (0.5, 0.75):
            length = w.spread(w.same("multiply", h, w.number(factor)))
            slopes.append(slope(m, w.same("add", y, w.same("multiply", length, slopes[-1]))))
        new = w.same("add", y, w.same("multiply", w.spread(h), sum_of([2 / 9, 1 / 3, 4 / 9], slopes)))
        slopes.append(slope(m, new))
        error = w.same("multiply", w.spread(h), sum_of([-5 / 72, 1 / 12, 1 / 9, -1 / 8], slopes))
        bound = w.same("add", w.spread(w.number(1e-4)), w.scaled(1e-3, w.same("abs", new)))
        ratio = w.same("divide", error, bound)
        norm = w.same("sqrt", w.same("divide", w.total(w.same("multiply", ratio, ratio)), w.number(float(N))))
        good = w.compare(norm, w.number(1.0), "LE")
        factor = w.same("multiply", w.number(0.9), w.same("power", norm, w.number(-1 / 3)))
        factor = w.same("minimum", w.number(5.0), w.same("maximum", w.number(0.2), factor))
        t = w.op("select", [good, w.same("add", t, h), t], SCALAR)
        return [m, end, t, w.same("multiply", h, factor), w.op("select", [good, new, y], STATE), w.next(i)]

    starts = [m, w.number(1.0), w.number(0.0), w.number(0.1), x, w.number(0, INT)]
    return w.loop(starts, lambda m, end, t, h, y, i: w.below(i, 200, w.compare(t, end, "LT")), step)[4]


KINDS = [newton, recurrent, nested, branching, integrate]


def module(operations):
    """A function of about so many operations: loops of five kinds in turn, each of which starts from the result of another."""
    w = Writer()
    x, m = w.new(STATE, "arg"), w.new(MATRIX, "arg")
    at, args, kind = x, [x, m], 0
    while w.count < operations:
        at = w.same("add", w.scaled(0.5, x), KINDS[kind % len(KINDS)](w, at, m))
        kind += 1
    loss = w.total(w.same("multiply", at, at))
    head = (f'"builtin.module"() <{{sym_name = "jit_solvers"}}> ({{\n'
            f'  "func.func"() <{{arg_attrs = [{{}}, {{}}], function_type = ({w.typed(args)}) -> {SCALAR}, '
            f'res_attrs = [{{jax.result_info = "result"}}], sym_name = "main", sym_visibility = "public"}}> ({{\n'
            f'  ^bb0({", ".join(f"{a}: {w.types[a]}" for a in args)}):\n')
    tail = f'    "func.return"({loss}) : ({SCALAR}) -> ()\n  }}) : () -> ()\n}}) {{mhlo.num_partitions = 1 : i32}} : () -> ()\n'
    return head + "\n".join(w.lines) + "\n" + tail
