"""Runs programs in a library: serve.py LIBRARY.

Each line of the standard input is a request in JSON: a program, where its inputs are, the number of iterations, whether its
gradient is asked for, and for how many seconds it shall run. The answer is a line with what one run takes, or why there is none.
"""
import importlib
import json
import os
import sys
import time
import warnings

# What the library prints goes elsewhere.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import programs  # noqa: E402

# On one thread the time of the processor counts, which other work on the machine lengthens less.
clock = time.process_time if os.environ["PEER_THREADS"] == "1" else time.perf_counter


def measure(call, seconds):
    """Seconds of one call: of the least of five parts of the time given."""
    best, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < seconds or best == float("inf"):
        calls, begin, part = 0, clock(), time.perf_counter()
        while not calls or time.perf_counter() - part < seconds / 5:
            call()
            calls += 1
        best = min(best, (clock() - begin) / calls)
    return best


def main():
    library = importlib.import_module(f"of_{sys.argv[1]}")
    print(json.dumps({"name": library.NAME}), file=answers, flush=True)
    prepared = {}
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            key = asked["program"], asked["inputs"], asked["gradient"]
            if key not in prepared:
                # One program at a time is kept, and its first run, which compiles it, does not count.
                prepared.clear()
                function = (programs.LOOPS | programs.MODELS)[asked["program"]][0]
                arrays = dict(np.load(asked["inputs"]))
                prepared[key] = library.prepare(function, arrays, asked["n"], asked["gradient"])
                prepared[key]()
            loss = prepared[key]()
            answer = {"seconds": measure(prepared[key], asked["seconds"]), "loss": loss}
        except Exception as error:  # Whatever a library raises is told, and it is asked for the next program.
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


main()
