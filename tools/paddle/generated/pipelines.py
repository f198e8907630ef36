"""What is done with programs, by the kind of what comes out."""

from .tree import Create, statements_of

# Passes that leave what a program does as it is, each alone, and some that only make sense together.
SAME = [
    "canonicalize", "sccp", "forward-args", "licm", "licm{branches=false}", "cse", "dce", "sink", "inline", "inline,symbol-dce", "outline",
    "symbol-dce", "rotate-while", "unrotate-while", "rotate-while,unrotate-while", "unroll", "unroll{factor=2}", "unroll{factor=3}",
    "unroll{max-ops=30}", "peel", "peel{last=true}", "peel{first=true last=true}", "canonicalize{max-steps=10}", "canonicalize{fast-math=true}",
    "lower-to-cfg", "lift-cfg", "lower-to-cfg,lift-cfg", "lower-to-cfg,sccp,canonicalize,lift-cfg", "O0", "O1", "O2", "O3", "inference",
    "prune-stacks", "decompose", "strip-backward", "strip-backward{by=liveness}", "inplace-accumulate", "remat", "batch-weight-grads",
]
# Those of which random sequences are made.
MIXED = [
    "canonicalize", "sccp", "forward-args", "licm", "cse", "dce", "sink", "outline", "inline", "rotate-while", "unrotate-while", "unroll{factor=2}",
    "unroll{max-ops=60}", "peel", "peel{last=true}", "O1", "O2", "O3",
]
# What comes behind `backward`.
AFTER = [
    "", "canonicalize", "sccp", "forward-args", "licm", "cse", "dce", "sink", "outline", "inline", "prune-stacks", "decompose", "O1", "O2", "O3",
    "unroll", "unroll{factor=2}", "peel", "peel{last=true}", "rotate-while", "rotate-while,unrotate-while", "batch-weight-grads",
    "inplace-accumulate", "remat", "remat{recompute=all}", "remat{recompute=none}", "remat{slots=1}", "remat{slots=3}", "remat{slots}",
    "remat,canonicalize,licm,cse,forward-args,dce", "remat{slots},O2", "decompose,O2", "O2,batch-weight-grads,inplace-accumulate",
    "batch-weight-grads,unbatch-weight-grads", "sink-stacks", "O2,remat,batch-weight-grads,sink-stacks", "O2,batch-weight-grads,canonicalize,unbatch-weight-grads",
]
# Before `backward`: what makes sums in place comes at the end.
BEFORE = [passes for passes in SAME if passes != "inplace-accumulate"]
GRAPH = ["lower-to-dataflow", "canonicalize,lower-to-dataflow,raise-from-dataflow", "O2,lower-to-dataflow,cse,dce"]
# What may be done to a program that PaddlePaddle is to run.
WRITTEN = ["", "", "canonicalize", "cse,dce", "O1", "O2", "licm,sink"]


def mixed(r, most=4):
    return ",".join(r.choice(MIXED) for _ in range(r.randint(1, most)))


def backward(program, of=None, wrt=None):
    names = wrt or program.wrt()
    chosen = ", ".join(of or [f"o{n}" for n in range(len(program.fetches))])
    return f"backward{{of=[{chosen}], wrt=[{', '.join(names)}]}}"


def joined(*passes):
    return ",".join(p for p in passes if p)


def uncalled(passes):
    """Calls are not differentiated: what is outlined before is put back."""
    return joined(passes, "inline" if "outline" in passes.split(",") else "")


def chosen(program, r, count, unknown):
    """Pipelines for a program: the text of each, and which results are to be compared."""
    inline = "inline" if program.functions else ""
    first = backward(program)
    stacks = any(isinstance(s, Create) for s in statements_of(program))
    yield "", "values"
    for _ in range(count):
        yield r.choice(SAME), "values"
        yield mixed(r), "values"
        yield joined(inline, first, r.choice(AFTER)), "gradients"
        yield joined(uncalled(mixed(r)), inline, first, mixed(r)), "gradients"
        kind = r.randrange(6)
        if kind == 0:
            yield joined(inline, f"stack-locals{first[8:]}", f"build-backward{first[8:]}", r.choice(AFTER)), "gradients"
        elif kind == 1:
            yield joined(inline, f"training{first[8:]}"), "gradients"
        elif kind == 2:
            yield joined(uncalled(r.choice(SAME[:20])), inline, first, r.choice(AFTER), "O2"), "gradients"
        elif kind == 3:
            yield joined(inline, "backward", r.choice(AFTER)), "gradients"
        elif kind == 4 and not unknown and not stacks:
            yield joined("inline,symbol-dce", first, r.choice(GRAPH)), "gradients"
        else:
            yield joined(uncalled(r.choice(BEFORE)), inline, first, "inference"), "values"
    yield joined(inline, "jvp"), "tangents"
    yield joined(r.choice(["", "canonicalize", "O2"]), inline, first, r.choice(["", "", "remat", "remat{slots}"])), "stripped"
    if not unknown:
        yield "--eager-grad", "gradients"
        # PaddlePaddle takes its time: some of the programs. Its executor stops where what is combined was not made of one rank, since
        # the sizes are not known.
        sized = all(type[0] != "f" or type[1] == type[2] for type in program.types.values())
        if not stacks and r.random() < 0.4 and sized:
            derived = r.random() < 0.7
            # Only the top level is written.
            flat = "inline,symbol-dce" if program.functions else ""
            yield joined(flat, first if derived else "", r.choice(WRITTEN)), f"written {'gradients' if derived else 'values'}"
    if program.twice:
        grads = [f"{name}_grad" for name in program.wrt()]
        second = backward(program, grads)
        yield joined(inline, first, second), "second"
        between = r.choice(["", "", *MIXED])
        yield joined(uncalled(mixed(r, 2)), inline, first, uncalled(between), second, r.choice(AFTER)), "second"
