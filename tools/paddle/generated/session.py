"""One seed: a program, what it means, and what is wrong with what pir-opt makes of it."""

import collections
import pathlib

from . import check, eager, make, shrink, text


def one(seed, kinds, folder, scratch, count, keep):
    counts = collections.Counter()
    tools = check.Tools(folder, scratch)
    for attempt in range(50):
        program = make.make(f"{seed}/{attempt}", kinds)
        try:
            expected, said = eager.run(program)
            break
        except eager.Unfit:
            counts["unfit"] += 1
    else:
        return {"kinds": kinds, "counts": counts, "failures": [f"{seed}: no program is fit for comparing"]}
    checker = check.check(tools, program, expected, said, seed, count)
    counts.update(programs=1, comparisons=checker.comparisons, refused=checker.refused, pipelines=checker.pipelines, twice=int(program.twice))
    failures = []
    if checker.failures:
        counts["failures"] += 1
        keep = pathlib.Path(keep)
        keep.mkdir(parents=True, exist_ok=True)
        for passes, what, _ in checker.failures[:3]:
            failures.append(f"{seed} ({' and '.join(kinds) or 'plain'}) after `{passes}`: {what}")
        smaller = shrink.shrink(tools, program, *checker.failures[0])
        (keep / f"{seed}.pir").write_text(f"// {failures[0]}".replace("\n", "\n// ") + "\n" + text.write(smaller))
        (keep / f"{seed}.inputs").write_text(" ".join(f"--input '{n}={v}'" for n, v in smaller.values.items()) + "\n")
        failures.append(f"    made smaller: {keep / f'{seed}.pir'}")
    return {"kinds": kinds, "counts": counts, "failures": failures}
