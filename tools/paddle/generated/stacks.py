"""Patterns of stacks: what a program pushes it pops, on the way or later, from the same handle, a copy, or one of two."""

from .tree import BOOL, INT, Array, Block, Call, Copy, Create, Empty, If, Op, Pop, Push, Read, While, Write, floats


def pattern(m, out, scope, depth):
    r = m.r
    kind = r.random()
    element = value_of(m, out, scope)
    type = m.type(element)
    stack = m.add(out, scope, Create(None), ("s", type), prefix="s")
    if "calls" in m.kinds and kind < 0.6:
        handed(m, out, scope, stack, element)
    elif kind < 0.3 or depth <= 0:
        # One behind the other.
        count = r.randint(1, 3)
        for _ in range(count):
            out.append(Push(stack, m.as_type(out, scope, type)))
        if r.random() < 0.3:
            m.compute(out, scope)
        for _ in range(r.randint(0 if r.random() < 0.2 else 1, count)):
            got = m.add(out, scope, Pop(None, stack), type, prefix="o")
            use(m, out, scope, got)
    else:
        out.append(Push(stack, element))
        filled(m, out, scope, stack, type, depth)
        if kind < 0.55:
            drained(m, out, scope, stack, type)
        elif kind < 0.75:
            other = m.add(out, scope, Copy(None, stack), ("s", type), prefix="s")
            first, second = r.sample([stack, other], 2)
            drained(m, out, scope, first, type)
            if r.random() < 0.5:
                drained(m, out, scope, second, type)
        elif kind < 0.9:
            m.p.may.add("a stack is chosen")
            other = m.add(out, scope, Create(None), ("s", type), prefix="s")
            out.append(Push(other, m.as_type(out, scope, type)))
            cond = m.condition(out, scope)
            chosen = If(cond, None, Block([], [], [stack]), Block([], [], [other]))
            which = m.add(out, scope, chosen, ("s", type), prefix="s")
            drained(m, out, scope, which, type)
        else:
            carried(m, out, scope, stack, type)
    # Handles stay where they are: nothing else pushes or pops on them.
    for name in [n for n in scope if m.type(n)[0] == "s"]:
        scope.remove(name)


def handed(m, out, scope, stack, element):
    """Functions get the handle: one pushes on it, one pops of it, and its callers may be functions as well."""
    r, type = m.r, m.type(element)

    def function(build, *types):
        args = [m.name(t, "p") for t in [m.type(stack), *types]]
        body, inner = [], list(args)
        got = build(body, inner, args)
        m.count += 1
        name = f"g{m.count}"
        m.p.functions[name] = Block(args, body, [got])
        return name, m.type(got)

    def pushes(body, inner, args):
        body.append(Push(args[0], args[1]))
        if m.type(args[1])[0] == "f" and r.random() < 0.5:
            other = m.as_type(body, inner, m.type(args[1]), args[1])
            body.append(Push(args[0], other))
        return args[1]

    def pops(body, inner, args):
        return m.add(body, inner, Pop(None, args[0]), type, prefix="o")

    push, got = function(pushes, type)
    pop, _ = function(pops)
    for name, given in [(push, [element]), (pop, [])]:
        if r.random() < 0.4:
            inner_name, inner_given = name, [m.type(g) for g in given]

            def calls(body, inner, args):
                return m.add(body, inner, Call(None, inner_name, list(args)), type)

            name, _ = function(calls, *inner_given)
        value = m.add(out, scope, Call(None, name, [stack, *given]), type)
    use(m, out, scope, value)
    m.p.may.add("a call")


def array(m, out, scope, depth):
    """An array that is written one behind the other or in a loop, and read at places or in another loop."""
    r = m.r
    # Of whatever it reads of an array, PaddlePaddle's program says that it is a vector.
    type = m.type(m.some(scope, fits=lambda t: len(t[1]) == 1))
    made = m.add(out, scope, Array(None), ("y", type), prefix="y")
    count = r.randint(1, 4)
    if depth <= 0 or r.random() < 0.3:
        for at in range(count):
            out.append(Write(made, m.as_type(out, scope, type), m.const(out, scope, INT, at)))
        if r.random() < 0.3:
            # Once more, over what is there.
            out.append(Write(made, m.as_type(out, scope, type), m.const(out, scope, INT, r.randrange(count))))
    else:

        def write(body, inner, at):
            m.several(body, inner, 1, 2)
            body.append(Write(made, m.as_type(body, inner, type), at))

        counted(m, out, scope, count, write)
    if depth > 0 and r.random() < 0.5:

        def read(body, inner, at):
            use(m, body, inner, m.add(body, inner, Read(None, made, at), type, prefix="o"))

        counted(m, out, scope, r.randint(1, count), read)
    for _ in range(r.randint(1, 2)):
        at = m.const(out, scope, INT, r.randrange(count))
        use(m, out, scope, m.add(out, scope, Read(None, made, at), type, prefix="o"))
    scope.remove(made)


def counted(m, out, scope, count, inside):
    """A loop that goes round so often, and carries a value."""
    zero, limit = m.const(out, scope, INT, 0), m.const(out, scope, INT, count)
    start = m.copied(out, scope, m.some(scope))
    type = m.type(start)
    args = [m.name(INT, "i"), m.name(type, "a")]
    test = []
    go = m.apply(test, [*scope, *args], "int_less", [args[0], limit], result=BOOL)
    got = [m.name(INT, "b"), m.name(type, "b")]
    inner, body = [*scope, *got], []
    inside(body, inner, got[0])
    one = m.const(body, inner, INT, 1)
    following = [m.apply(body, inner, "int_add", [got[0], one], result=INT), m.as_type(body, inner, type)]
    loop = While([zero, start], None, Block(args, test, [go, *args]), Block(got, body, following))
    m.add(out, scope, loop, INT, type, prefix="w")


def value_of(m, out, scope):
    lists = m.of_kind(scope, "l")
    return m.r.choice(lists) if lists and m.r.random() < 0.4 else m.some(scope)


def use(m, out, scope, got):
    if m.type(got)[0] == "f":
        m.compute(out, scope, got)
    else:
        from .tree import Split

        parts = m.add(out, scope, Split(None, got), *m.type(got)[1], prefix="e")
        m.compute(out, scope, parts if isinstance(parts, str) else m.r.choice(parts))


def filled(m, out, scope, stack, type, depth):
    """A loop or a branch that pushes."""
    r = m.r
    if r.random() < 0.3:
        cond = m.condition(out, scope)
        blocks = []
        for _ in range(2):
            inner, body = list(scope), []
            for _ in range(r.randint(0, 2)):
                body.append(Push(stack, m.as_type(body, inner, type)))
            blocks.append(Block([], body, []))
        out.append(If(cond, [], *blocks))
        return
    zero, limit, one = (m.const(out, scope, INT, n) for n in (0, r.randint(0, 3), 1))
    start = m.some(scope)
    args = [m.name(INT, "i"), m.name(m.type(start), "a")]
    inner, test = [*scope, *args], []
    go = m.apply(test, inner, "int_less", [args[0], limit], result=BOOL)
    cond = Block(args, test, [go, *args])
    got = [m.name(INT, "b"), m.name(m.type(start), "b")]
    inner, body = [*scope, *got], []
    m.several(body, inner, 1, 2)
    if r.random() < 0.3:
        m.condition(body, inner)
        then = Block([], [], [])
        scoped = list(inner)
        then.body.append(Push(stack, m.as_type(then.body, scoped, type)))
        body.append(If(m.some(inner, "b"), [], then, Block([], [], [])))
    else:
        body.append(Push(stack, m.as_type(body, inner, type)))
    following = m.as_type(body, inner, m.type(start))
    count = m.apply(body, inner, "int_add", [got[0], one], result=INT)
    m.add(out, scope, While([zero, start], None, cond, Block(got, body, [count, following])), INT, m.type(start), prefix="w")


def drained(m, out, scope, stack, type):
    """A loop that pops until there is nothing left, or one value if there is one."""
    r = m.r
    start = m.some(scope)
    result = m.type(start)
    if r.random() < 0.25:
        empty = m.add(out, scope, Empty(None, stack), BOOL, prefix="q")
        inner, body = list(scope), []
        got = m.add(body, inner, Pop(None, stack), type, prefix="o")
        use(m, body, inner, got)
        yielded = m.as_type(body, inner, result)
        m.add(out, scope, If(empty, None, Block([], [], [start]), Block([], body, [yielded])), m.weaker(result, m.type(yielded)), prefix="r")
        return
    arg = m.name(result, "a")
    inner, test = [*scope, arg], []
    empty = m.add(test, inner, Empty(None, stack), BOOL, prefix="q")
    go = m.apply(test, inner, "not", [empty], result=BOOL)
    got = m.name(result, "b")
    inner, body = [*scope, got], []
    popped = m.add(body, inner, Pop(None, stack), type, prefix="o")
    use(m, body, inner, popped)
    following = m.as_type(body, inner, result)
    m.add(out, scope, While([start], None, Block([arg], test, [go, arg]), Block([got], body, [following])), result, prefix="w")


def carried(m, out, scope, stack, type):
    """The handle is carried by a loop, which pushes and pops by it, and passed on by a branch."""
    r = m.r
    if r.random() < 0.5:
        cond = m.condition(out, scope)
        blocks = []
        for _ in range(2):
            inner, body = list(scope), []
            body.append(Push(stack, m.as_type(body, inner, type)))
            blocks.append(Block([], body, [stack]))
        stack = m.add(out, scope, If(cond, None, *blocks), ("s", type), prefix="s")
    start = m.some(scope)
    result = m.type(start)
    args = [m.name(("s", type), "s"), m.name(result, "a")]
    inner, test = [*scope, *args], []
    empty = m.add(test, inner, Empty(None, args[0]), BOOL, prefix="q")
    go = m.apply(test, inner, "not", [empty], result=BOOL)
    got = [m.name(("s", type), "s"), m.name(result, "b")]
    inner, body = [*scope, *got], []
    popped = m.add(body, inner, Pop(None, got[0]), type, prefix="o")
    use(m, body, inner, popped)
    following = m.as_type(body, inner, result)
    loop = While([stack, start], None, Block(args, test, [go, *args]), Block(got, body, [got[0], following]))
    m.add(out, scope, loop, ("s", type), result, prefix="w")


def singular(m, out, scope):
    """An operation where it has no derivative, or one that arithmetic does not find. PaddlePaddle and torch agree on it."""
    r = m.r
    x = m.some(scope)
    nothing = m.const(out, scope, floats(()), 0.0)
    zero = m.apply(out, scope, "subtract", [x, x]) if r.random() < 0.5 else m.apply(out, scope, "multiply", [x, nothing])
    kind = r.random()
    if kind < 0.15:
        power = m.const(out, scope, floats(()), r.choice([0.0, 1.0, 2.0, 3.0]))
        got = m.apply(out, scope, "raise", [zero, power])
        m.p.twice = False
    elif kind < 0.3:
        # Saturated: the sigmoid of a large number is 1.
        far = m.apply(out, scope, "scale", [zero], {"scale": 1.0, "bias": r.choice([40.0, -40.0]), "bias_after_scale": True})
        sure = m.apply(out, scope, "sigmoid", [far])
        label = m.apply(out, scope, "like", [sure], {"value": r.choice([0.0, 0.5, 1.0])})
        got = m.apply(out, scope, "tanh", [m.apply(out, scope, "bce", [sure, label])])
        m.p.twice = False
    elif kind < 0.45 and m.type(zero)[1]:
        got = m.apply(out, scope, "p_norm", [zero], {"porder": 2.0, "axis": 0, "keepdim": True})
        m.p.twice = False
    else:
        op, attrs = r.choice([
            ("relu", {}), ("abs", {}), ("pow", {"y": 2.0}), ("pow", {"y": 3.0}), ("square", {}), ("tanh", {}),
            ("leaky_relu", {"negative_slope": 0.25}), ("softplus", {}), ("silu", {}), ("elu", {"alpha": 1.0}),
        ])
        got = m.apply(out, scope, op, [zero], attrs)
    m.compute(out, scope, got)
