"""Graphs as TensorFlow writes them, through all that is done with them here: read, run, differentiated, written back.

    graphs [--bin FOLDER] [--floor N] [--keep FOLDER] [--exports FOLDER] [NAME...]

Each case is a graph or a SavedModel that TensorFlow writes, with the values that TensorFlow gives for its inputs, and the
gradients of its first output. The stages are

    export     TensorFlow writes the graph and runs it
    read       pir-opt reads it
    raised     its loops and branches become structured
    run        pir-run gives the same values
    gradient   pir-opt differentiates it, and pir-run gives the same gradients
    write      pir-opt writes the gradients as a graph, which TensorFlow runs, with the same values

and a case ends at the first one that fails. Prints a table of those that failed, by stage, and what was said; ends with
an error when fewer cases pass than the floor says. To be run with the Python that tools/tensorflow/setup names.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "common")]

import functions  # noqa: E402, F401
import further_graphs  # noqa: E402, F401
import library_graphs  # noqa: E402, F401
import mixed_graphs  # noqa: E402, F401
import models  # noqa: E402, F401
import more_graphs  # noqa: E402, F401
import numeric_graphs  # noqa: E402, F401
import operation_graphs  # noqa: E402, F401
import program_graphs  # noqa: E402, F401
import run as theirs  # noqa: E402
import sample  # noqa: E402
import task_functions  # noqa: E402, F401
import task_graphs  # noqa: E402, F401
import user_graphs  # noqa: E402, F401
import v1_graphs  # noqa: E402, F401
import wide_graphs  # noqa: E402, F401
from case import CASES, Exporter  # noqa: E402

STAGES = ("export", "read", "raised", "run", "gradient", "write")
# Of the largest element, in f32.
TOLERANCE = 2e-5


class Failure(Exception):
    """What a stage says."""


def compare(got, want, what):
    """Fails where a value is not the one that is wanted."""
    for name, value in want.items():
        value = np.asarray(value)
        if name not in got:
            raise Failure(f"{what} `{name}` is not given")
        found = np.asarray(got[name])
        if found.shape != value.shape or found.dtype != value.dtype:
            raise Failure(f"{what} `{name}` is {found.dtype}{list(found.shape)}, not {value.dtype}{list(value.shape)}")
        a, b = found.astype("float64"), value.astype("float64")
        with np.errstate(invalid="ignore"):
            error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(a - b)).max(initial=0)
        if not error <= TOLERANCE * max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0)):
            raise Failure(f"{what} `{name}` is off by {error:.2g}")


def load(path):
    with np.load(path) as arrays:
        return dict(arrays)


class Case:
    """A case on its way through the stages."""

    def __init__(self, name, folder, bins):
        self.name, self.folder, self.bins = name, folder, bins
        self.group, self.make = CASES[name]

    def file(self, end):
        return self.folder / f"{self.name}.{end}"

    def opt(self, passes, source, target, *more):
        options = [f"--pass={passes}"] if passes else []
        theirs.tool(self.bins / "pir-opt", *options, *more, source, "-o", target)

    def execute(self, program, results):
        variables = ["--inputs", self.it.path] if self.it.path.is_dir() else []
        theirs.tool(self.bins / "pir-run", program, *variables, "--inputs", self.file("npz"), "--output", results)
        return load(results)

    def export(self):
        self.it = self.make(Exporter(self.folder, self.name))
        np.savez(self.file("npz"), **self.it.feed)
        self.wanted = self.it.values
        self.slopes = {f"{name}_grad": value for name, value in self.it.gradients.items()}

    def read(self):
        self.opt("", self.it.path, self.file("read.pir"), f"--outputs={','.join(self.it.outputs)}")

    def raised(self):
        self.opt("raise-from-dataflow", self.file("read.pir"), self.file("raised.pir"))

    def run(self):
        compare(self.execute(self.file("raised.pir"), self.file("out.npz")), self.wanted, "output")

    def gradient(self):
        if not self.it.loss:
            return
        self.opt(f"backward{{of={self.it.loss}}}", self.file("raised.pir"), self.file("grad.pir"))
        got = self.execute(self.file("grad.pir"), self.file("grad.npz"))
        compare(got, self.wanted, "output")
        compare(got, self.slopes, "gradient")

    def write(self):
        source = self.file("grad.pir") if self.it.loss else self.file("raised.pir")
        self.opt("lower-to-dataflow", source, self.file("back.pb"), "--emit=graphdef")
        variables = theirs.variables(self.it.path) if self.it.path.is_dir() else {}
        got = theirs.run(theirs.load(self.file("back.pb")), {**variables, **self.it.feed})
        compare(got, self.wanted, "written back, output")
        compare(got, self.slopes, "written back, gradient")

    def check(self):
        """The stage at which it fails, and what was said; or nothing."""
        for stage in STAGES:
            try:
                getattr(self, stage)()
            except (Failure, theirs.Refused) as failure:
                return stage, str(failure)
            except (Exception, SystemExit) as error:  # noqa: BLE001
                if stage == "export":
                    traceback.print_exc()
                return stage, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return None


def table(results):
    """What failed, and how many of each group came through each stage."""
    width = max(len(name) for name in results)
    for name, failed in results.items():
        if failed:
            print(f"{name:{width}}  {failed[0]:8}  {failed[1]}")
    groups = {}
    for name, failed in results.items():
        reached = STAGES.index(failed[0]) if failed else len(STAGES)
        groups.setdefault(CASES[name][0], []).append(reached)
    groups["all"] = [reached for each in groups.values() for reached in each]
    print()
    width = max(map(len, groups))
    print(f"{'':{width}}  graphs  " + "  ".join(f"{stage:>8}" for stage in STAGES))
    for group, reached in groups.items():
        passed = "  ".join(f"{sum(r > at for r in reached):8}" for at in range(len(STAGES)))
        print(f"{group:{width}}  {len(reached):6}  {passed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parents[2] / "target/debug", help="where pir-opt and pir-run are")
    parser.add_argument("--floor", type=int, default=0, help="how many cases must pass at least")
    parser.add_argument("--keep", type=pathlib.Path, help="keep graphs, inputs and results in this folder")
    parser.add_argument("names", nargs="*", help="the cases to run, or words of their names")
    args = parser.parse_args()
    start, results = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name in CASES if args.names else sample.of(CASES):
            if not args.names or any(word in name for word in args.names):
                results[name] = Case(name, folder, args.bin).check()
    if not results:
        raise SystemExit("graphs: no case is called so")
    table(results)
    right = sum(failed is None for failed in results.values())
    print(f"\n{right} of {len(results)} graphs are right, in {time.monotonic() - start:.0f} s")
    return 1 if right < sample.floor(args.floor) else 0


if __name__ == "__main__":
    sys.exit(main())
