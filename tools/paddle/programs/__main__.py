"""Exports programs from PaddlePaddle, and runs and differentiates them in its executor and here.

    programs [--open] [--tools FOLDER] [--jobs N] [--keep FOLDER] [--floor N] [--table] [NAME or GROUP …]

Each program of cases.py is exported (`paddle.jit.to_static`), and then: *read* and verified, without unknown operations;
*run*: written back, loaded and run by PaddlePaddle's executor; *gradients*: differentiated by `backward` and run by the
executor, as it is, with canonicalization, cse, licm and dce around it, and with PaddlePaddle's gradient operations (`twins`); *here*: run by `pir-run`, which need not have all kernels.
Results and gradients must be those of PaddlePaddle's eager engine, within 2e-3 of the largest element. A program is right
when all but the last hold; what `pir-run` computes must be right if it computes it. To be run with the Python that
tools/paddle/setup names. `--table` prints a line for each program and stage that fails.

With `--open`, the first dimension of each input is left open, as that of a batch, and `pir-run` computes the gradients too. Programs
that PaddlePaddle does not export so, or executes otherwise than its eager engine, because it took -1 for the extent, are not counted.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "common")]
import run  # noqa: E402  (sets up the environment of Paddle)

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import fields  # noqa: E402, F401
import functions  # noqa: E402, F401
import further  # noqa: E402, F401
import kinds  # noqa: E402, F401
import models  # noqa: E402, F401
import more  # noqa: E402, F401
import objectives  # noqa: E402, F401
import practice  # noqa: E402, F401
import sample  # noqa: E402
import seldom  # noqa: E402, F401
import solvers  # noqa: E402, F401
import tasks  # noqa: E402, F401
from cases import CASES  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.base import core  # noqa: E402

ROOT = HERE.parents[2]
TOLERANCE = 2e-3
TIMEOUT = 240
STAGES = ("export", "read", "run", "gradients", "here")
# Of a model with hundreds of parameters, so many are differentiated.
FEW = 6
AROUND = "canonicalize,cse,licm,dce"


def flat(values):
    if isinstance(values, (list, tuple)):
        return [value for item in values for value in flat(item)]
    return [values]


class Program(nn.Layer):
    """What is exported: the results of a case, and a number that depends on each element of those that have gradients."""

    def __init__(self, code):
        super().__init__()
        self.code, self.graded = code, None

    def measured(self, outputs):
        outputs = flat(outputs)
        # The eager engine knows; in a static program gradients seem to stop at what a loop starts from.
        if self.graded is None:
            real = [o.dtype in (paddle.float32, paddle.float64) for o in outputs]
            self.graded = [at for at, o in enumerate(outputs) if real[at] and not o.stop_gradient]
        return [*outputs, sum([(outputs[at] * paddle.sin(outputs[at] + 0.3)).mean() for at in self.graded])]


# `to_static` wants to know how many inputs there are.
class One(Program):
    def forward(self, x):
        return self.measured(self.code(x))


class Two(Program):
    def forward(self, x, y):
        return self.measured(self.code(x, y))


class Three(Program):
    def forward(self, x, y, z):
        return self.measured(self.code(x, y, z))


def export(case, folder, leaves_open):
    """Writes the program, and what PaddlePaddle's eager engine computes."""
    paddle.seed(5)
    layer = [One, Two, Three][len(case.inputs) - 1](case.make())
    layer.train() if case.train else layer.eval()
    weights = layer.state_dict()
    state = {key: np.array(value.numpy()) for key, value in weights.items()}
    given = {f"x{at}": value for at, value in enumerate(case.inputs)}
    arrays = {f"in:{name}": value for name, value in given.items()}
    arrays |= {f"param:{weight.name}": state[key] for key, weight in weights.items()}
    # What a layer keeps and does not save.
    arrays |= {f"param:{kept.name}": kept.numpy() for kept in layer.buffers() if kept.name not in {w.name for w in weights.values()}}
    tensors = {name: paddle.to_tensor(v, stop_gradient=v.dtype.kind != "f") for name, v in given.items()}
    outputs = layer(*tensors.values())
    outputs[-1].backward()
    graded = {**tensors, **{weight.name: weight for weight in weights.values()}}
    graded = {name: t for name, t in graded.items() if not t.stop_gradient}
    if case.few and len(graded) > FEW:
        names = list(graded)
        graded = {name: graded[name] for name in names[:: max(1, len(names) // FEW)]}
    arrays |= {f"out:{at}": np.asarray(o.numpy()) for at, o in enumerate(outputs)}
    arrays |= {f"grad:{name}": dense(t) for name, t in graded.items() if t.grad is not None}
    if case.wrong:
        arrays |= {f"grad:{name}": differences(lambda: layer(*tensors.values())[-1], t) for name, t in graded.items()}
    # Running it has moved what a normalisation remembers.
    layer.set_state_dict(state)
    shapes = [[None, *v.shape[1:]] if leaves_open and v.ndim else v.shape for v in given.values()]
    spec = [paddle.static.InputSpec(shape, str(v.dtype), name=n) for shape, (n, v) in zip(shapes, given.items())]
    for one, value in zip(spec, given.values()):
        one.stop_gradient = value.dtype.kind != "f"
    static = paddle.jit.to_static(layer, full_graph=True)
    concrete, _ = static.forward.get_concrete_program(*spec)
    program = concrete.main_program
    np.savez(folder / "eager.npz", **(captured(concrete) | arrays))
    paddle.enable_static()
    with paddle.static.program_guard(program):
        for at, output in enumerate(flat(concrete.outputs)):
            paddle._pir_ops.fetch(output, f"out:{at}", at)
    core.serialize_pir_program(program, str(folder / "program.json"), True, False, True)


def dense(tensor):
    """The gradient of a tensor; that of a sparse embedding has a row for each index."""
    if not tensor.grad.is_selected_rows():
        return tensor.grad.numpy()
    total = np.zeros(tensor.shape, tensor.numpy().dtype)
    np.add.at(total, tensor.grad.rows(), tensor.grad.numpy())
    return total


def differences(value, tensor, step=2e-2):
    """The gradient of a number with respect to a tensor, by differences of fourth order."""
    held = tensor.numpy().copy()
    gradient = np.zeros(held.shape)
    with paddle.no_grad():
        for at in np.ndindex(held.shape):
            for factor, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
                moved = held.copy()
                moved[at] += factor * step
                tensor.set_value(moved)
                gradient[at] += weight * float(value()) / (12 * step)
        tensor.set_value(held)
    return gradient.astype(held.dtype)


def captured(concrete):
    """The values of all tensors that a traced program holds, those too that are no parameters of a layer."""
    tensors, values = concrete.parameters
    names = [value.get_defining_op().attrs()["parameter_name"] for value in values]
    return {f"param:{name}": tensor.numpy() for name, tensor in zip(names, tensors)}


def execute(path, inputs, target):
    np.savez(target, **run.run(path, inputs))


def shielded(f, *args):
    """What is wrong when `f` runs in a process of its own; nothing if it ends well."""
    ours, theirs = multiprocessing.Pipe(duplex=False)

    def child():
        try:
            sys.stdout = sys.stderr = open(os.devnull, "w")
            f(*args)
            theirs.send("")
        except BaseException as error:  # noqa: BLE001
            lines = [line for line in str(error).strip().splitlines() if line.strip()] or [""]
            theirs.send(f"{type(error).__name__}: {lines[-1][:200]}")

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    theirs.close()
    try:
        said = ours.recv() if ours.poll(TIMEOUT) else f"no answer after {TIMEOUT} s"
    except EOFError:
        process.join()
        said = f"the process ended with {process.exitcode}"
    process.kill()
    process.join()
    return said


def tool(*command):
    """What is wrong with a command of ours."""
    try:
        made = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no answer after {TIMEOUT} s"
    return made.stderr.strip() or f"ended with {made.returncode}" if made.returncode else ""


def differs(got, want, scale):
    if got.shape != want.shape:
        return f"has shape {got.shape}, not {want.shape}"
    if not want.size:
        return ""
    got, want = (np.asarray(v, "complex128" if v.dtype.kind == "c" else "float64") for v in (got, want))
    finite = np.abs(want[np.isfinite(want)]).max(initial=0)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    error = np.where(same, 0, np.abs(got - want)).max() / max(finite, scale)
    return "" if error <= TOLERANCE else f"is off by {error:.3g}"


def wrong(case, path, expected, gradients):
    """What is wrong with results."""
    with np.load(path) as arrays:
        got = dict(arrays)
    # Gradients that are nothing but rounding are measured by the others.
    largest = max((np.abs(v).max(initial=0) for k, v in expected.items() if k.startswith("grad:")), default=0)
    for key, want in expected.items():
        what, name = key.split(":", 1)
        fetched = {"out": key, "grad": f"{name}_grad"}.get(what)
        if fetched is None or (what == "grad" and not gradients):
            continue
        if fetched not in got:
            return f"`{fetched}` is not fetched"
        if case.random:
            continue
        if said := differs(got[fetched], want, 1e-2 * float(largest) + 1e-6 if what == "grad" else 1e-3):
            return f"`{fetched}` {said}"
    return ""


def unknown(text):
    """Operations that no dialect defines are printed in the generic form, with their names in quotes."""
    return sorted(set(re.findall(r'^(?: *%[^"\n]* =)? *"(\w+\.\w+)" ?\(', text, re.M)))


def selected(names):
    return sample.chosen(CASES, names, lambda case: (case.name, case.group))


@contextlib.contextmanager
def folder_of(case, keep):
    """A folder for the files of a case: in the one where they are kept, or a temporary one."""
    if keep is None:
        with tempfile.TemporaryDirectory() as folder:
            yield pathlib.Path(folder)
    else:
        (keep / case.name).mkdir(parents=True, exist_ok=True)
        yield keep / case.name


def check(at, args):
    """The failure of each stage, by stage."""
    case = selected(args.names)[at]
    with folder_of(case, args.keep) as folder:
        return check_in(folder, case, args)


def check_in(folder, case, args):
    failures, tools = {}, args.tools
    program, written, ours, values = (folder / n for n in ("program.json", "written.json", "ours.pir", "values.npz"))
    if said := shielded(export, case, folder, args.open):
        return {"export": said}
    with np.load(folder / "eager.npz") as arrays:
        expected = dict(arrays)
    if args.open and (said := shielded(execute, program, expected, values) or wrong(case, values, expected, False)):
        return {"export": said}
    if said := tool(tools / "pir-opt", program, "-o", ours):
        return dict.fromkeys(("read", "run", "gradients", "here"), said)
    if names := unknown(ours.read_text()):
        failures["read"] = f"unknown: {', '.join(names)}"

    def in_paddle(passes):
        of = [f"--pass={passes}"] if passes else []
        if said := tool(tools / "pir-opt", "--emit=paddle-json", *of, program, "-o", written):
            return said
        return shielded(execute, written, expected, values) or wrong(case, values, expected, bool(passes))

    if said := in_paddle(""):
        failures["run"] = said
    last = max(int(key[4:]) for key in expected if key.startswith("out:"))
    wrt = ", ".join(f'"{key[5:]}"' for key in expected if key.startswith("grad:"))
    backward, twins = (f'backward{{of="out:{last}", wrt=[{wrt}]{more}}}' for more in ("", ", twins=true"))
    if said := in_paddle(backward) or in_paddle(f"{AROUND},{backward},{AROUND}") or in_paddle(twins):
        failures["gradients"] = said
    inputs = {k.split(":", 1)[1]: v for k, v in expected.items() if k.startswith(("in:", "param:"))}
    np.savez(folder / "given.npz", **inputs)
    said = "" if case.few else tool(tools / "pir-run", program, "--inputs", folder / "given.npz", "-o", values)
    if said or (not case.few and (said := wrong(case, values, expected, False))):
        failures["here"] = said
    elif args.open and not case.few and "gradients" not in failures:
        said = tool(tools / "pir-opt", f"--pass={backward}", program, "-o", ours)
        said = said or tool(tools / "pir-run", ours, "--inputs", folder / "given.npz", "-o", values)
        if said := said or wrong(case, values, expected, True):
            failures["here"] = said
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path(os.environ.get("PIR_TOOLS", ROOT / "target/debug")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path, help="keep the files of each program here")
    parser.add_argument("--floor", type=int, default=0, help="fewer right programs are a failure")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--open", action="store_true", help="leave the first dimension of each input open")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    cases = selected(args.names)
    start, failed = time.monotonic(), {}
    with concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("fork")) as pool:
        found = pool.map(check, range(len(cases)), [args] * len(cases))
        for case, failures in zip(cases, found):
            failed[case.group, case.name] = failures
            for stage, said in failures.items() if args.table or args.names else ():
                first = [line for line in said.splitlines() if line.strip()]
                print(f"{case.group}/{case.name}: {stage}: {first[0] if first else ''}", flush=True)
    groups = collections.Counter(case.group for case in cases)
    print(f"{'':14}programs" + "".join(f"{stage:>11}" for stage in STAGES) + f"{'right':>11}")
    total = 0
    for group, count in groups.items():
        rows = [f for (g, _), f in failed.items() if g == group]
        fine = [sum(stage not in f and "export" not in f for f in rows) for stage in STAGES]
        right = sum(not set(f) - {"here"} for f in rows)
        total += right
        print(f"{group:14}{count:8}" + "".join(f"{n:11}" for n in fine) + f"{right:11}")
    # What is computed here must be right; not to have a kernel is no failure.
    bad = [(k, f["here"]) for k, f in failed.items() if f.get("here", "").startswith("`")]
    for (group, name), said in bad:
        print(f"{group}/{name}: pir-run: {said}")
    print(f"{len(cases)} programs, {total} right, in {time.monotonic() - start:.0f} s")
    return 1 if bad or total < sample.floor(args.floor) else 0


if __name__ == "__main__":
    sys.exit(main())
