"""What pir-opt and pir-run say of cases. Many stand in one program; those that are refused are taken out of it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

from case import FLOATS, NUMPY, Tensor

BATCH = 120
ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = pathlib.Path(os.environ.get("PIR_TOOLS", ROOT / "target" / "debug"))


def lines_of(case, prefix, answer, gradients):
    """The program of one case. Cotangents come in as inputs: the loss is what they make of the results."""
    results, cotangents, _ = answer
    for i, t in enumerate(case.tensors):
        stored = "f32" if t.dtype == "bf16" else t.dtype
        stop = "" if gradients and t.grad else ", stop_gradient = true"
        name = f"%x{i}" if t.dtype != "bf16" else f"%wide{i}"
        yield f'{name} = pd.data {{name = "{prefix}x{i}", shape = {list(t.array.shape)}, dtype = {stored}{stop}}}'
        if t.dtype == "bf16":
            yield f"%x{i} = pd.cast (%wide{i}) {{dtype = bf16}}"
    text = case.text
    if case.typed:
        text += " : " + ", ".join(f"tensor<{''.join(f'{n}x' for n in r.array.shape)}{r.dtype}>" for r in results)
    yield from text.splitlines()
    for i, result in enumerate(results):
        if not gradients:
            # bf16 has no numbers in numpy.
            out = f"%o{i}"
            if result.dtype == "bf16":
                yield f"%out{i} = pd.cast ({out}) {{dtype = f32}}"
                out = f"%out{i}"
            yield f'pd.fetch ({out}) {{name = "{prefix}o{i}"}}'
        elif cotangents[i] is not None:
            stored = "f32" if result.dtype == "bf16" else result.dtype
            name = f"%g{i}" if result.dtype != "bf16" else f"%wideg{i}"
            shape = list(result.array.shape)
            yield f'{name} = pd.data {{name = "{prefix}g{i}", shape = {shape}, dtype = {stored}, stop_gradient = true}}'
            if result.dtype == "bf16":
                yield f"%g{i} = pd.cast (%wideg{i}) {{dtype = bf16}}"
            yield f"%weighted{i} = pd.multiply (%o{i}, %g{i})"
            yield f"%loss{i} = pd.sum (%weighted{i})"
            yield f'pd.fetch (%loss{i}) {{name = "{prefix}loss{i}"}}'


class Program:
    """Cases in one program, and which line belongs to which."""

    def __init__(self, numbered, gradients):
        self.owner, lines, self.inputs = [], [], {}
        for number, case, answer in numbered:
            prefix = f"c{number}_"
            for line in lines_of(case, prefix, answer, gradients):
                lines.append(re.sub(r"%(?=[a-z])", "%" + prefix, line))
                self.owner.append(number)
            for i, t in enumerate(case.tensors):
                self.inputs[f"{prefix}x{i}"] = t.array
            if gradients:
                for i, c in enumerate(answer[1]):
                    if c is not None:
                        self.inputs[f"{prefix}g{i}"] = c.array
        self.text = "\n".join(lines) + "\n"


class Failure(Exception):
    """A tool refused: what it said, by case where it told a line."""

    def __init__(self, stderr, owner):
        self.culprits = {}
        self.stderr = stderr
        for line in stderr.splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                continue
            text = json.dumps(said)
            if said.get("severity", "error") != "error":
                continue
            named = re.search(r"\bc(\d+)_", text)
            spans = said.get("spans") or [{}]
            at = spans[0].get("start", {}).get("line")
            message = f"{said.get('message', text)} [{said.get('code', '')}]"
            if owner and at and at <= len(owner):
                self.culprits.setdefault(owner[at - 1], message)
            elif named:
                self.culprits.setdefault(int(named.group(1)), message)


def tool(command, folder, owner, stdin=None):
    ran = subprocess.run([str(c) for c in command], capture_output=True, cwd=folder, input=stdin, timeout=300)
    if ran.returncode:
        raise Failure(ran.stderr.decode(errors="replace"), owner)
    return ran.stdout


def execute(numbered, engine):
    """The arrays that one engine gives: `forward`, `eager` or `backward`."""
    program = Program(numbered, engine != "forward")
    with tempfile.TemporaryDirectory(prefix="pir-sweep-") as name:
        folder = pathlib.Path(name)
        (folder / "p.pir").write_text(program.text)
        np.savez(folder / "in.npz", **program.inputs)
        run = [TOOLS / "pir-run", "--diagnostics=json", "--denormals=keep", "--inputs", "in.npz", "-o", "out.npz"]
        if engine == "backward":
            tool([TOOLS / "pir-opt", "--diagnostics=json", "--pass=backward", "p.pir", "-o", "q.pir"], folder, program.owner)
            tool([*run, "q.pir"], folder, None)
        else:
            tool([*run, *(["--eager-grad"] if engine == "eager" else []), "p.pir"], folder, program.owner)
        with np.load(folder / "out.npz") as arrays:
            return {k: arrays[k] for k in arrays}


def results(numbered, engine):
    """What each case gives: a dictionary, or the message of its refusal."""
    given, waiting = {}, [numbered[i : i + BATCH] for i in range(0, len(numbered), BATCH)]
    while waiting:
        batch = waiting.pop()
        if not batch:
            continue
        try:
            arrays = execute(batch, engine)
        except Failure as failure:
            told = {n: m for n, m in failure.culprits.items() if any(n == b[0] for b in batch)}
            if len(batch) == 1:
                given[batch[0][0]] = next(iter(told.values()), failure.stderr.strip()[-300:])
            elif told and len(told) < len(batch):
                given.update(told)
                waiting.append([b for b in batch if b[0] not in told])
            else:
                half = len(batch) // 2
                waiting += [batch[:half], batch[half:]]
            continue
        for number, *_ in batch:
            prefix = f"c{number}_"
            given[number] = {k[len(prefix):]: v for k, v in arrays.items() if k.startswith(prefix)}
    return given


def as_tensor(array, dtype):
    """An array of ours as one of `dtype`, or nothing if it is none."""
    return Tensor(array, dtype) if array.dtype == NUMPY[dtype] else None
