#!/usr/bin/env python3
"""Compares every operation with PaddlePaddle's eager engine: results, and gradients by both engines.

    python tools/paddle/sweep [OPERATION …]         (with the Python that tools/paddle/setup names)

Cases are made by the generators in ops/. They are the same in each run: PIR_SWEEP_SEED makes others, PIR_SWEEP_EFFORT=10
ten times as many. PIR_SWEEP_JOBS says how many processes there are. An operation that PaddlePaddle has and
that has neither cases nor a reason in exceptions.py is a failure; so is a difference that is not listed there, and an
entry there that makes no difference any more. PIR_TOOLS is the folder of pir-opt and pir-run.
"""

import collections
import importlib
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "common")]

import paddle_side  # noqa: E402  (sets up the environment of Paddle, before numpy)
import numpy as np  # noqa: E402

import compare  # noqa: E402
import exceptions  # noqa: E402
import our_side  # noqa: E402
import sample  # noqa: E402
from case import FLOATS, OPS, Draw  # noqa: E402

FLOOR = 20_000
SEED = int(os.environ.get("PIR_SWEEP_SEED", "0"))
EFFORT = int(os.environ.get("PIR_SWEEP_EFFORT", "1"))
SHOWN = int(os.environ.get("PIR_SWEEP_SHOW", "4"))


class Report:
    """What came out for one operation."""

    def __init__(self, op):
        self.op, self.cases, self.compared, self.refused, self.ungraded = op, 0, 0, 0, 0
        self.differences, self.listed = [], collections.Counter()
        self.kinds = collections.Counter()
        self.refusals = collections.Counter()

    def differ(self, case, what, message, bad=None):
        """Tells a difference, unless it is listed."""
        for number, entry in enumerate(exceptions.DIFFERENCES):
            if entry.covers(case, what):
                rest = entry.rest(case, bad)
                if rest is None or not rest.any():
                    self.listed[number] += 1
                    return
                if rest.sum() < bad.sum():
                    self.listed[number] += 1
                    bad = rest
        self.kinds[what.split(" ")[0]] += 1
        self.differences.append((what, case.dtype, repr(case), message(bad) if callable(message) else message))

    def values(self, case, what, got, want, ulp, scale, signed=False, floor=1.0):
        """Compares one tensor. `got` may be absent."""
        self.compared += 1
        if got is None:
            return self.differ(case, what, "is absent")
        if got.shape != want.array.shape:
            return self.differ(case, what, f"has shape {list(got.shape)}, PaddlePaddle's {list(want.array.shape)}")
        ours = our_side.as_tensor(got, want.dtype)
        if ours is None:
            return self.differ(case, what, f"holds {got.dtype}, PaddlePaddle's {want.dtype}")
        bad = compare.different(ours.array, want.array, want.dtype, ulp, scale, signed, floor)
        if bad is not None:
            self.differ(case, what, lambda rest: compare.told(ours.array, want.array, rest, case), bad)
            return False
        return True


def sweep(op):
    report = Report(op)
    cases = []
    for number, generator in enumerate(OPS[op]):
        for again in range(EFFORT):
            cases += generator(Draw(f"{op} {number} {again}", SEED), op)
    report.cases = len(cases)
    answers = paddle_side.evaluate_all(cases, SEED * 100_003)
    numbered = []
    for number, (case, answer) in enumerate(zip(cases, answers)):
        if isinstance(answer[0], paddle_side.Refused):
            report.refused += 1
            report.refusals[f"{case.dtype}: {answer[0].message}"] += 1
        else:
            numbered.append((number, case, answer))
    forward = our_side.results(numbered, "forward")
    gradients = []
    for number, case, answer in numbered:
        given = forward[number]
        if isinstance(given, str):
            report.compared += 1
            report.differ(case, "refusal", given)
            continue
        same_types = True
        for i, want in enumerate(answer[0]):
            got = given.get(f"o{i}")
            report.values(case, f"result {i}", got, want, case.ulp, case.scale, case.signed)
            same_types &= got is not None and got.shape == want.array.shape and our_side.as_tensor(got, want.dtype) is not None
        if isinstance(answer[2], paddle_side.Refused):
            report.ungraded += 1
            report.refusals[f"gradient of {case.dtype}: {answer[2].message}"] += 1
        elif answer[2] is not None and same_types:
            gradients.append((number, case, answer))
    for engine in ("backward", "eager"):
        differentiated = [one for one in gradients if one[1].eager or engine == "backward"]
        given = our_side.results(differentiated, engine)
        for number, case, answer in differentiated:
            if isinstance(given[number], str):
                report.compared += 1
                report.differ(case, f"{engine} refusal", given[number])
                continue
            wanted = [i for i, t in enumerate(case.tensors) if t.grad]
            for i, want in zip(wanted, answer[2]):
                report.values(case, f"{engine} gradient {i}", given[number].get(f"x{i}_grad"), want, case.gulp, case.gscale,
                              floor=max((float(np.abs(c.array.astype(float)).max(initial=0)) for c in answer[1] if c is not None), default=1.0))
    return report


def guarded(op):
    start = time.time()
    try:
        report = sweep(op)
    except BaseException:  # noqa: BLE001
        return op, traceback.format_exc(), time.time() - start
    return op, report, time.time() - start


def names():
    """The operations of ours, and which of them PaddlePaddle has too."""
    listed = subprocess.run([our_side.TOOLS / "pir-opt", "--list-ops"], capture_output=True, text=True, check=True).stdout
    ours = [line.split()[0][3:] for line in listed.splitlines() if line.startswith("pd.")]
    return ours, [name for name in ours if hasattr(paddle_side._C_ops, name)]


def uncovered():
    ours, theirs = names()
    # Only PaddlePaddle runs what is known from its declarations alone. Those that are made of others here have cases.
    declared = set(re.findall(r"op: (\w+)", (HERE.parents[2] / "dialects/src/pd/ops/paddle.yaml").read_text()))
    for name in ours:
        if name in OPS or name in exceptions.NOT_SWEPT or name in declared:
            continue
        yield f"`pd.{name}` has neither cases nor a reason why it has none" + \
            (", and PaddlePaddle has it" if name in theirs else "")
    for name in exceptions.NOT_SWEPT:
        if name not in ours or name in OPS:
            yield f"exceptions.py tells why `pd.{name}` has no cases: it {'has' if name in OPS else 'does not exist'}"


def main():
    for path in sorted((HERE / "ops").glob("*.py")):
        importlib.import_module(f"ops.{path.stem}")
    chosen = sys.argv[1:] or sample.of(sorted(OPS))
    start = time.time()
    jobs = int(os.environ.get("PIR_SWEEP_JOBS", "2"))
    failures, reports = list(uncovered()) if len(sys.argv) == 1 else [], []
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for op, report, took in pool.imap_unordered(guarded, chosen):
            if isinstance(report, str):
                failures.append(f"{op}: {report}")
                continue
            reports.append(report)
            if report.compared == 0:
                failures.append(f"{op}: nothing was compared: {report.refusals.most_common(3)}")
            if os.environ.get("PIR_SWEEP_VERBOSE") or report.differences:
                print(f"{op:34} {report.compared:6} compared, {len(report.differences):4} differ, {report.refused:4} refused by "
                      f"PaddlePaddle, {report.ungraded:3} without gradient, {took:5.1f} s", flush=True)
                seen = collections.Counter()
                for what, dtype, case, message in report.differences:
                    seen[what, dtype] += 1
                    if seen[what, dtype] <= SHOWN:
                        print(f"    {what}: {message}\n        {case}")
                if os.environ.get("PIR_SWEEP_VERBOSE"):
                    for message, times in report.refusals.most_common(12):
                        print(f"    refused {times} times: {message}")
        pool.close()
        pool.join()
    compared, differing = sum(r.compared for r in reports), sum(len(r.differences) for r in reports)
    listed = sum((r.listed for r in reports), collections.Counter())
    if differing:
        failures.append(f"{differing} differences in {sum(1 for r in reports if r.differences)} operations")
    for number, entry in enumerate(exceptions.DIFFERENCES):
        if not listed[number] and not entry.pending and set(entry.ops) <= set(chosen):
            failures.append(f"a difference that is listed is none any more: {entry}")
    if len(sys.argv) == 1 and compared < sample.floor(FLOOR):
        failures.append(f"there are fewer than {sample.floor(FLOOR)} comparisons")
    print(f"sweep: {len(reports)} operations, {sum(r.cases for r in reports)} cases, {compared} comparisons, {differing} differences, "
          f"{sum(listed.values())} listed, {time.time() - start:.0f} s")
    for failure in failures:
        print(f"sweep: {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
