"""One seed: a program, what it means, and what is wrong with what pir-opt makes of it."""

import collections
import pathlib

from . import check, eager, make, shrink, static, text


def one(seed, kinds, folder, scratch, count, keep):
    counts = collections.Counter()
    tools = check.Tools(folder, scratch)
    for attempt in range(50):
        program = make.make(f"{seed}/{attempt}", kinds)
        try:
            expected, said = eager.run(program)
            source = static.build(program, scratch) if "static" in kinds else text.write(program)
            if source is None:
                counts["not built"] += 1
                continue
            break
        except eager.Unfit:
            counts["unfit"] += 1
    else:
        return {"kinds": kinds, "counts": counts, "failures": [f"{seed}: no program is fit for comparing"]}
    checker = check.check(tools, program, source, expected, said, seed, count, kinds)
    counts.update(programs=1, comparisons=checker.comparisons, refused=checker.refused, pipelines=checker.pipelines, twice=int(program.twice))
    failures = []
    if checker.failures:
        counts["failures"] += 1
        keep = pathlib.Path(keep)
        keep.mkdir(parents=True, exist_ok=True)
        for passes, what, _ in checker.failures[:3]:
            failures.append(f"{seed} ({' and '.join(kinds) or 'plain'}) after `{passes}`: {what}")
        build = static.build if "static" in kinds else None
        smaller = shrink.shrink(tools, program, *checker.failures[0], build, scratch, kinds)
        if build:
            (keep / f"{seed}.json").write_text(build(smaller, scratch))
        else:
            (keep / f"{seed}.pir").write_text(f"// {failures[0]}".replace("\n", "\n// ") + "\n" + text.write(smaller))
        (keep / f"{seed}.inputs").write_text(" ".join(f"--input '{n}={v}'" for n, v in smaller.values.items()) + "\n")
        failures.append(f"    made smaller: {keep / str(seed)}.*")
    return {"kinds": kinds, "counts": counts, "failures": failures}
