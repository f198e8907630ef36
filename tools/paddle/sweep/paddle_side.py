"""What PaddlePaddle's eager engine says of cases. A case that brings it down is told as such."""

import os
import pickle
import signal
import warnings

import numpy as np

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("GLOG_minloglevel", "3")
warnings.simplefilter("ignore")

import paddle  # noqa: E402
from paddle import _C_ops  # noqa: E402

from case import FLOATS, NAMES, PADDLE, Tensor  # noqa: E402

paddle.set_device("cpu")


class Refused:
    def __init__(self, message):
        self.message = message


def tensor(given):
    made = paddle.to_tensor(given.array)
    if given.dtype == "bf16":
        made = made.cast("bfloat16").detach()
    if given.array.ndim == 0 and made.shape != []:
        made = made.reshape([])
    made.stop_gradient = not given.grad
    return made


def back(value):
    """A tensor as numbers and the name of its type."""
    dtype = NAMES[str(value.dtype).removeprefix("paddle.")]
    array = value.detach()
    array = (array.cast("float32") if dtype == "bf16" else array).numpy()
    return Tensor(array, dtype)


def brief(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if "kernel_iter" in str(error):
        return "there is no kernel"
    chosen = [line for line in lines if "Error" in line and "Traceback" not in line] or lines or [""]
    return f"{type(error).__name__}: {chosen[-1][:200]}"


def evaluate(case, seed):
    """The results, the cotangents that were drawn for them, and the gradients (or why there are none)."""
    inputs = [tensor(t) for t in case.tensors]
    try:
        call = case.call or getattr(_C_ops, case.op)
        outs = call(*inputs)
        outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
        outs = outs[: case.outs]
        results = [back(o) for o in outs]
    except (Exception, SystemError) as error:  # noqa: BLE001
        return Refused(brief(error)), None, None
    wanted = [t for t, given in zip(inputs, case.tensors) if given.grad]
    if not case.differentiate or not wanted or not any(r.dtype in FLOATS for r in results):
        return results, None, None
    random = np.random.default_rng(seed)
    cotangents = [Tensor(np.round(random.normal(size=r.array.shape) * 4) / 4 + 0.125, r.dtype) if r.dtype in FLOATS else None
                  for r in results]
    if case.seeds is not None:
        cotangents = [c if i in case.seeds else None for i, c in enumerate(cotangents)]
    try:
        if case.oracle:
            outs = case.oracle(*inputs)
            outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
        pairs = [(o, tensor(c)) for o, c in zip(outs, cotangents) if c is not None and not o.stop_gradient]
        if pairs:
            grads = paddle.grad([o for o, _ in pairs], wanted, [c for _, c in pairs], allow_unused=True)
        else:
            grads = [None] * len(wanted)
        grads = [back(g) if g is not None else Tensor(np.zeros(t.shape), back(t).dtype) for g, t in zip(grads, wanted)]
    except (Exception, SystemError) as error:  # noqa: BLE001
        grads = Refused(brief(error))
    return results, cotangents, grads


def evaluate_all(cases, seed):
    """In a process of its own, as some arguments end it. One answer for each case."""
    answers, crashes = [], 0
    while len(answers) < len(cases):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            # What PaddlePaddle says when it fails is told by its exceptions.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            # PaddlePaddle's own handlers may wait for locks of the process that this is a copy of.
            for name in ("SIGABRT", "SIGSEGV", "SIGFPE", "SIGBUS", "SIGILL", "SIGTERM"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            with os.fdopen(writer, "wb") as stream:
                for i in range(len(answers), len(cases)):
                    # Some arguments never come back.
                    signal.alarm(20)
                    pickle.dump(evaluate(cases[i], seed + i), stream)
                    stream.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            try:
                while len(answers) < len(cases):
                    answers.append(pickle.load(stream))
            except (EOFError, pickle.UnpicklingError):
                crashes += 1
                answers.append((Refused("crash"), None, None))
        os.waitpid(child, 0)
        if crashes > 40:
            raise RuntimeError(f"PaddlePaddle crashes, at last at {cases[len(answers) - 1]}")
    return answers
