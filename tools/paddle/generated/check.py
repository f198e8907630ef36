"""Runs programs after pipelines, and compares with what PaddlePaddle's eager mode says."""

import os
import pathlib
import random
import re
import signal
import subprocess

import numpy as np
import run

from . import pipelines
from .eager import SOURCE
from .tree import Create, Unknown, statements_of

# Rounding of float64, of the largest element.
TOLERANCE = 1e-8
TIMEOUT = 60
# What a pass says that has left a program which is none: never right.
BROKEN = re.compile(r"left the program like this|internal error|panicked|please report", re.I)


class Tools:
    def __init__(self, folder, scratch):
        self.opt, self.run = (str(pathlib.Path(folder) / name) for name in ("pir-opt", "pir-run"))
        self.scratch = pathlib.Path(scratch)

    def call(self, command, given):
        try:
            return subprocess.run(command, input=given, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"no answer after {TIMEOUT} s")

    def optimize(self, program, passes, *options):
        command = [self.opt, "-", "--allow-unregistered-dialect", *options]
        return self.call(command + ([f"--pass={passes}"] if passes else []), program)

    def execute(self, program, *options):
        out = self.scratch / "out.npz"
        out.unlink(missing_ok=True)
        # A loop that never ends is one that a pass has made.
        command = [self.run, "-", "--inputs", self.scratch / "in.npz", "-o", out, "--max-steps", "5000000", *options]
        ran = self.call(command, program)
        if ran.returncode:
            return ran, None
        with np.load(out) as arrays:
            return ran, dict(arrays)

    def paddle(self, program):
        """What PaddlePaddle's executor gives, or why it gives nothing. It runs in a process of its own, which it may bring down."""
        saved, out, said = (self.scratch / name for name in ("back.json", "back.npz", "back.txt"))
        saved.write_text(program)
        for old in (out, said):
            old.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            signal.alarm(TIMEOUT)
            try:
                with np.load(self.scratch / "in.npz") as arrays:
                    np.savez(out, **run.run(saved, dict(arrays)))
            except BaseException as error:  # noqa: BLE001  PaddlePaddle has many kinds.
                said.write_text(str(error))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if said.exists() or status:
            return said.read_text() if said.exists() else f"status {status}"
        with np.load(out) as arrays:
            return dict(arrays)


def close(got, want):
    """What is wrong with a result, if something is."""
    if got.shape != want.shape:
        return f"has shape {got.shape}, not {want.shape}"
    if not want.size:
        return None
    if not np.isfinite(got).all():
        return "is not finite"
    error = np.abs(got - want).max() / max(1.0, np.abs(want).max())
    return None if error <= TOLERANCE else f"is off by {error:.3g}"


def signature(what):
    """What is the same of two failures that are the same: no numbers, no names, but the code of a diagnostic."""
    return re.findall(r"\[([a-z-]+)\]", what)[:1] or re.sub(r"`[^`]*`|[\d.e+-]+|\[.*?\]", "", what)[:60]


# Unknown operations, in the text that a pipeline gives.
CALL = re.compile(r'^(\s*)(?:(%\S+) = )?"(my\.[a-z]+\d+)"\s*\(([^)]*)\)[^:]*: \((.*)\) -> (.*)$')


def known(printed):
    """Unknown operations as ones that say that they ran, so that the program runs."""
    lines = []
    for number, line in enumerate(printed.splitlines()):
        if found := CALL.match(line):
            indent, result, name, operand, _, _ = found.groups()
            if result and operand:
                lines.append(f'{indent}{result} = pd.print ({operand}) {{message = "{name}"}}')
            elif result:
                lines.append(f"{indent}%known{number} = pd.full {{shape = [], value = {SOURCE}, dtype = f64}}")
                lines.append(f'{indent}{result} = pd.print (%known{number}) {{message = "{name}"}}')
            else:
                lines.append(f'{indent}%known{number} = pd.print ({operand}) {{message = "{name}"}}')
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


SAID = re.compile(r"(my\.[a-z]+\d+)")


class Checker:
    """Checks of one program; `failures` says what went wrong, `comparisons` how many arrays were compared."""

    def __init__(self, tools, program, expected, said, kinds):
        self.kinds = kinds
        self.tools, self.p, self.expected = tools, program, expected
        self.said = [name for name, _ in said]
        self.failures, self.comparisons, self.refused, self.pipelines = [], 0, 0, 0
        self.kind = None
        self.unknown = any(isinstance(s, Unknown) for s in statements_of(program))
        types = {"f": "float64", "i": "int64", "b": "bool"}
        inputs = {n: np.array(v, types[program.types[n][0]]).reshape(program.types[n][1]) for n, v in program.values.items()}
        r = np.random.default_rng(abs(hash(str(program.seed))) % 2**32)
        self.directions = {f"{n}_tangent": r.uniform(-1, 1, inputs[n].shape) for n in program.wrt()}
        np.savez(tools.scratch / "in.npz", **inputs, **self.directions)

    def fail(self, passes, what):
        self.failures.append((passes, what, self.kind))

    def once(self, source, passes, kind):
        """One pipeline, or what else is done with a program."""
        self.kind = kind
        self.pipelines += 1
        if kind == "stripped":
            self.stripped(source, passes)
        elif kind.startswith("written "):
            self.written(source, passes, kind.removeprefix("written "))
        elif passes == "--eager-grad":
            self.execution(source, passes, kind, passes)
        else:
            self.pipeline(source, passes, kind)

    def pipeline(self, source, passes, kind, options=()):
        made = self.tools.optimize(source, passes, *options)
        if made.returncode:
            self.refusal(passes, kind, made)
            return
        if kind != "values" and self.p.must:
            self.fail(passes, f"is accepted, with {', '.join(self.p.must)}")
            return
        graph = ["--dataflow"] if "df.graph" in made.stdout else []
        self.execution(made.stdout, passes, kind, *graph)

    def refusal(self, passes, kind, made):
        derives = re.search(r"backward|training|jvp|stack-locals|dataflow", passes)
        expected = self.p.may | self.p.must
        # docs/autodiff.md: some rules cut and merge dimensions.
        if {"unknown sizes", "arrays"} & set(self.kinds) and re.search("needs (a static|the) shape", made.stderr):
            expected = True
        # Copies of stacks with values of several types, of stacks of stacks, and stacks that a branch chooses.
        expected = expected or "stacks" in self.kinds and "[stack-derivative]" in made.stderr
        # Stacks can be lowered as `backward` writes them, and not all that passes make of them.
        expected = expected or "[dataflow-stack]" in made.stderr
        # What passes make of the stacks of a derivative cannot always be said in PaddlePaddle's form, nor can lists be handed on there.
        expected = expected or kind.startswith("written ") and re.search(r"\[paddle-(stack|list)\]", made.stderr)
        # Graphs of programs that were simplified before need not have the shape that can be raised.
        expected = expected or "[dataflow-raise]" in made.stderr
        # An unknown operation may hold on to what it was given or has given, and change it later.
        expected = expected or self.unknown and "[in-place]" in made.stderr
        unread = self.unread(made)
        derives = derives or kind.startswith("written ")
        if made.returncode == 1 and (derives and expected or unread) and not BROKEN.search(made.stderr):
            self.refused += 1
            return
        self.fail(passes, f"status {made.returncode}: {made.stderr.strip()[:600]}")

    def unread(self, said):
        """Which values a change in place has reached is not always known; docs/paddle.md tells when."""
        # Of what it reads of an array, and what is computed of that, PaddlePaddle's program may state the wrong number of dimensions.
        stated = r"\[(paddle-array|inference|result-type|while-cond-arguments|while-body-yield|if-yield)\]"
        if "arrays" in self.kinds and re.search(stated, said.stderr):
            return True
        return "in place" in self.kinds and "[in-place]" in said.stderr

    def execution(self, printed, passes, kind, *options):
        ran, got = self.tools.execute(known(printed) if self.unknown else printed, *options)
        if got is None and ran.returncode == 1 and self.unread(ran):
            self.refused += 1
            return
        if got is None:
            self.fail(passes, f"pir-run: status {ran.returncode}: {ran.stderr.strip()[:600]}")
            return
        self.compare(got, passes, kind)
        if self.unknown:
            said = SAID.findall(ran.stdout)
            self.comparisons += 1
            if said != self.said:
                self.fail(passes, f"unknown operations run as {said}, not as {self.said}")

    def compare(self, got, passes, kind):
        wanted = dict(self.expected)
        if kind == "values":
            wanted = {n: v for n, v in wanted.items() if "_" not in n}
        elif kind == "gradients":
            wanted = {n: v for n, v in wanted.items() if not n.endswith("_2")}
        elif kind == "tangents":
            wanted = {n: v for n, v in wanted.items() if "_" not in n}
            self.tangents(got, passes)
        for name, want in wanted.items():
            self.comparisons += 1
            if name not in got:
                self.fail(passes, f"`{name}` is not fetched")
            elif wrong := close(got[name], want):
                self.fail(passes, f"`{name}` {wrong}")

    def tangents(self, got, passes):
        """The tangents of all outputs together are the gradients along the directions."""
        there = sum(float(got[f"{n}_tangent"].sum()) for n in self.expected if "_" not in n and f"{n}_tangent" in got)
        here = sum(float((self.expected[f"{n}_grad"] * self.directions[f"{n}_tangent"]).sum()) for n in self.p.wrt())
        self.comparisons += 1
        if not abs(there - here) <= TOLERANCE * max(1.0, abs(here)):
            self.fail(passes, f"the tangents add up to {there}, the gradients to {here}")

    def all(self, source, r, count):
        for passes, kind in pipelines.chosen(self.p, r, count, self.unknown):
            self.once(source, passes, kind)

    def written(self, source, passes, kind):
        """PaddlePaddle loads what is written of the program, and runs it."""
        made = self.tools.optimize(source, passes, "--emit=paddle-json")
        if made.returncode:
            self.refusal(passes, f"written {kind}", made)
            return
        got = self.tools.paddle(made.stdout)
        if isinstance(got, str):
            self.fail(passes, f"PaddlePaddle: {got[:600]}")
        else:
            self.compare(got, f"{passes} --emit=paddle-json", kind)

    def stripped(self, source, passes):
        """`strip-backward` gives back what was there before.

        Not quite for programs with stacks of their own: those that nothing reads are gone, and a branch that pushes has an
        empty `else` in the place of none.
        """
        rest = ["prune-stacks", "canonicalize"] if any(isinstance(s, Create) for s in statements_of(self.p)) else []
        made = self.tools.optimize(source, pipelines.joined(passes, "strip-backward", *rest))
        if made.returncode:
            self.refusal(passes, "gradients", made)
            return
        before, _, _ = passes.partition("backward")
        plain = self.tools.optimize(source, pipelines.joined(before.rstrip(","), *rest)).stdout
        self.comparisons += 1
        if made.stdout != plain:
            self.fail(passes, "strip-backward does not give back what was there before")


def check(tools, program, source, expected, said, seed, count, kinds):
    checker = Checker(tools, program, expected, said, kinds)
    checker.all(source, random.Random(f"pipelines {seed}"), count)
    return checker
