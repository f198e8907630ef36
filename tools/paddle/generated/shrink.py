"""Makes a program that fails smaller: takes statements away as long as it fails after the same pipeline."""

import time

from . import check, eager, text
from .tree import READS, If, blocks, defined, same_at_run_time, substitute, walk

SECONDS = 20


def bodies(program):
    """All lists of statements, with the names that can be read at the start of each."""
    todo = [(program.body, list(program.inputs))]
    todo += [(block.body, list(block.args)) for block in program.functions.values()]
    while todo:
        statements, scope = todo.pop()
        yield statements, scope
        seen = list(scope)
        for s in statements:
            for block in blocks(s):
                todo.append((block.body, [*seen, *block.args]))
            seen += defined(s)


def candidates(program):
    """Smaller programs."""
    if len(program.fetches) > 1:
        for k in range(len(program.fetches)):
            smaller = program.clone()
            del smaller.fetches[k]
            yield smaller
    for which, (statements, _) in enumerate(list(bodies(program))):
        for k in reversed(range(len(statements))):
            smaller = program.clone()
            inner, scope = list(bodies(smaller))[which]
            if without(smaller, inner, scope, k):
                yield smaller
            if isinstance(statements[k], If):
                for branch in ("then", "other"):
                    smaller = program.clone()
                    inner, _ = list(bodies(smaller))[which]
                    s = inner[k]
                    block = getattr(s, branch)
                    inner[k : k + 1] = block.body
                    for out, value in zip(s.outs, block.yields):
                        replace(smaller, out, value)
                    yield smaller


def replace(program, old, new):
    substitute(program.body, old, new)
    for block in program.functions.values():
        substitute(block.body, old, new)
        block.yields = [new if n == old else n for n in block.yields]
    program.fetches = [new if n == old else n for n in program.fetches]


def without(program, statements, scope, k):
    """Takes a statement away; whether there is something to read in the place of its results."""
    removed = statements.pop(k)
    seen = scope + [n for s in statements[:k] for n in defined(s)]
    for out in defined(removed):
        if not used(program, out):
            continue
        fits = [n for n in seen if same_at_run_time(program.types[n], program.types[out])]
        if not fits:
            return False
        replace(program, out, fits[-1])
    return True


def used(program, name):
    every = [program.body, *(b.body for b in program.functions.values())]
    for statements in every:
        for s in walk(statements):
            for attribute in READS.get(type(s), []):
                reads = getattr(s, attribute)
                if name == reads or isinstance(reads, list) and name in reads:
                    return True
            if any(name in b.yields for b in blocks(s)):
                return True
    return name in program.fetches or any(name in b.yields for b in program.functions.values())


def fails(tools, program, passes, kind, signature, build, scratch, kinds):
    try:
        expected, said = eager.run(program)
        source = build(program, scratch) if build else text.write(program)
    except Exception:  # noqa: BLE001  The program makes no sense any more.
        return False
    if source is None:
        return False
    checker = check.Checker(tools, program, expected, said, kinds)
    checker.once(source, passes, kind)
    return any(check.signature(what) == signature for _, what, _ in checker.failures)


def shrink(tools, program, passes, what, kind, build, scratch, kinds):
    signature = check.signature(what)
    end = time.monotonic() + SECONDS
    program = program.clone()
    found = True
    while found and time.monotonic() < end:
        found = False
        for smaller in candidates(program):
            if time.monotonic() > end:
                break
            if fails(tools, smaller, passes, kind, signature, build, scratch, kinds):
                program, found = smaller, True
                break
    return program
