"""Writes the programs of `programs.py` for pir-opt."""
import re


class Value:
    """The name of a value; its shape where a loop may carry it."""

    def __init__(self, ops, name, shape=None):
        self.ops, self.name, self.shape = ops, name, shape

    def binary(self, op, other, swapped=False):
        pair = [other, self] if swapped else [self, other]
        return self.ops.emit(op, pair)

    def scaled(self, scale=1.0, bias=0.0):
        return self.ops.emit("scale", [self], f"{{scale = {scale:.9}, bias = {bias:.9}}}".replace("= 1,", "= 1.0,"))

    def __add__(self, other):
        return self.binary("add", other)

    def __sub__(self, other):
        return self.binary("subtract", other)

    def __rsub__(self, other):
        return self.scaled(-1.0, other)

    def __mul__(self, other):
        return self.binary("multiply", other) if isinstance(other, Value) else self.scaled(other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self.binary("divide", other)

    def __matmul__(self, other):
        return self.binary("matmul", other)


def ty(shape, dtype="f32"):
    return "tensor<" + "".join(f"{d}x" for d in shape) + f"{dtype}>"


def size(values):
    return str(list(values))


class Ops:
    def __init__(self):
        self.lines, self.count, self.depth = [], 0, 0

    def fresh(self, shape=None):
        self.count += 1
        return Value(self, f"%v{self.count}", shape)

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def emit(self, op, operands, attrs="", results=1, types=""):
        values = [self.fresh() for _ in range(results)]
        self.line(f"{', '.join(v.name for v in values)} = pd.{op} ({', '.join(v.name for v in operands)}) {attrs}{types}".rstrip())
        return values[0] if results == 1 else values

    def __getattr__(self, name):
        if name in ("tanh", "sigmoid", "sin", "exp", "sqrt", "sum", "max", "relu", "relu6", "hardswish", "gelu"):
            return lambda x: self.emit(name, [x])
        raise AttributeError(name)

    def integer(self, value):
        return self.emit("full", [], f"{{shape = [1], value = {value}, dtype = i64}}")

    def split(self, x, parts):
        return self.emit("split_with_num", [x], f"{{num = {parts}, axis = 1}}", parts)

    def loop(self, n, state, step, error=None):
        zero, one = self.integer(0), self.integer(1)
        if not isinstance(n, Value):
            n = self.integer(n)
        limit = self.emit("full", [], "{shape = [], value = -1.0, dtype = f32}") if error else None
        types = ", ".join([ty([1], "i64"), *(ty(v.shape) for v in state)])

        def arguments():
            i, values = self.fresh((1,)), [self.fresh(v.shape) for v in state]
            return i, values, ", ".join([f"{i.name}: {ty([1], 'i64')}", *(f"{v.name}: {ty(v.shape)}" for v in values)])

        results = [self.fresh((1,)), *(self.fresh(v.shape) for v in state)]
        i, values, text = arguments()
        self.line(f"{', '.join(v.name for v in results)} = pd.while ({', '.join(v.name for v in [zero, *state])}) cond ({text}) {{")
        self.depth += 1
        go = self.emit("less_than", [i, n])
        if error:
            go = self.emit("logical_and", [self.emit("greater_than", [error(values[0]), limit]), go])
        self.line(f"cf.cond_yield ({', '.join(v.name for v in [go, i, *values])})")
        i, values, text = arguments()
        self.lines.append("  " * (self.depth - 1) + f"}} body ({text}) {{")
        new = step(i, *values)
        self.line(f"cf.yield ({', '.join(v.name for v in [self.emit('add', [i, one]), *new])})")
        self.depth -= 1
        self.line(f"}} : {types}")
        return results[1:]

    def if_even(self, i, like, then, otherwise):
        even = self.emit("equal", [self.emit("remainder", [i, self.integer(2)]), self.integer(0)])
        result = self.fresh(like.shape)
        self.line(f"{result.name} = pd.if ({even.name}) then {{")
        for branch, end in ((then, "} else {"), (otherwise, f"}} : {ty(like.shape)}")):
            self.depth += 1
            self.line(f"cf.yield ({branch(like).name})")
            self.depth -= 1
            self.line(end)
        return result

    def row(self, x, i, shape):
        return self.reshape(self.emit("gather", [x, i], "{axis = 0}"), shape)

    def reshape(self, x, shape):
        return self.emit("reshape", [x], f"{{shape = {size(shape)}}}")

    def transpose(self, x, perm):
        return self.emit("transpose", [x], f"{{perm = {size(perm)}}}")

    def softmax(self, x):
        return self.emit("softmax", [x], "{axis = -1}")

    def layer_norm(self, x, scale, bias):
        return self.emit("layer_norm", [x, scale, bias], "{begin_norm_axis = 2}", 3)[0]

    def hardsigmoid(self, x):
        return self.emit("hardsigmoid", [x], "{slope = 0.16666667, offset = 0.5}")

    def conv(self, x, w, stride, groups):
        pad = w.shape[2] // 2
        attrs = f"{{strides = [{stride}, {stride}], paddings = [{pad}, {pad}], groups = {groups}}}"
        return self.emit("depthwise_conv2d" if groups > 1 else "conv2d", [x, w], attrs)

    def batch_norm(self, x, scale, bias):
        shape = size(scale.shape)
        mean = self.emit("full", [], f"{{shape = {shape}, value = 0.0, dtype = f32}}")
        variance = self.emit("full", [], f"{{shape = {shape}, value = 1.0, dtype = f32}}")
        return self.emit("batch_norm", [x, mean, variance, scale, bias], "", 6)[0]

    def max_pool(self, x):
        return self.emit("pool2d", [x], "{kernel_size = [3, 3], strides = [2, 2], paddings = [1, 1]}")

    def image_mean(self, x):
        return self.emit("mean", [x], "{axis = [2, 3], keepdim = false}")

    def weigh_channels(self, x, weight, channels):
        return x * self.reshape(weight, (1, channels, 1, 1))


def program(function, shapes):
    ops = Ops()
    n = Value(ops, "%n", (1,))
    ops.line(f'%n = pd.data {{name = "n", shape = [1], dtype = i64}} : {ty([1], "i64")}')
    inputs = {}
    for name, shape in shapes.items():
        inputs[name] = ops.fresh(shape)
        ops.line(f'{inputs[name].name} = pd.data {{name = "{name}", shape = {size(shape)}, dtype = f32}} : {ty(shape)}')
    out = function(ops, inputs, n)
    loss = ops.sum(ops.emit("multiply", [out, out]))
    ops.line(f'pd.fetch ({loss.name}) {{name = "loss"}}')
    return "\n".join(ops.lines) + "\n"


def repeated(text):
    """The program in a loop that computes it as often as the input `repeats` says, from the first operation on anew."""
    inputs, body, fetched = [], [], []
    for line in text.splitlines():
        fetch = re.match(r"(?:.*= )?pd\.fetch \((%\S+)\) \{name = \"(.*)\"\}( : .*)?$", line)
        if fetch:
            fetched.append(fetch.groups()[:2])
        elif re.match(r"%\S+ = pd\.data ", line):
            inputs.append(line)
        elif line.strip() and not line.startswith("//"):
            body.append("  " + line)
    # The types are those of the inputs: a loss, and gradients named as what they are of.
    types = {re.search(r'name = "([^"]*)"', line)[1]: line.rsplit(" : ", 1)[1] for line in inputs}
    types = {f"{name}_grad": t for name, t in types.items()} | {"loss": "tensor<f32>"}
    i64 = "tensor<1xi64>"
    lines = [f'%again_n = pd.data {{name = "repeats", shape = [1], dtype = i64}} : {i64}',
             f"%again_zero = pd.full {{shape = [1], value = 0, dtype = i64}} : {i64}",
             f"%again_one = pd.full {{shape = [1], value = 1, dtype = i64}} : {i64}", *inputs]
    for at, (_, name) in enumerate(fetched):
        shape = [int(d) for d in re.findall(r"\d+(?=x)", types[name])]
        lines.append(f"%again_init{at} = pd.full {{shape = {shape}, value = 0.0, dtype = f32}} : {types[name]}")

    def names(word):
        return "".join(f", %again_{word}{at}" for at in range(len(fetched)))

    def arguments(word):
        return "".join(f", %again_{word}{at}: {types[name]}" for at, (_, name) in enumerate(fetched))
    lines += [f"%again_end{names('out')} = pd.while (%again_zero{names('init')}) cond (%again_i: {i64}{arguments('c')}) {{",
              "  %again_go = pd.less_than (%again_i, %again_n) : tensor<1xi1>", f"  cf.cond_yield (%again_go, %again_i{names('c')})",
              f"}} body (%again_j: {i64}{arguments('b')}) {{", *body, f"  %again_next = pd.add (%again_j, %again_one) : {i64}",
              f"  cf.yield (%again_next{''.join(', ' + value for value, _ in fetched)})",
              f"}} : {', '.join([i64, *(types[name] for _, name in fetched)])}"]
    lines += [f'pd.fetch (%again_out{at}) {{name = "{name}"}}' for at, (_, name) in enumerate(fetched)]
    return "\n".join(lines) + "\n"
