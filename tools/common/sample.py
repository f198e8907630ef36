"""Which cases a comparison runs: all of them, or with `PIR_SAMPLE=K/N` each N-th, beginning with number K.

`.ci/run` takes a third, another one for each commit, so that a change can be checked on two cores in less than an hour.
It is in a folder of its own: beside it, `import jax` would find the folder of that name.
"""

import os


def given():
    """Where to begin, and of how many cases one is taken."""
    first, every = os.environ.get("PIR_SAMPLE", "0/1").split("/")
    return int(first) % int(every), int(every)


def of(cases):
    """The cases to run."""
    first, every = given()
    return [case for at, case in enumerate(cases) if at % every == first]


def floor(least):
    """How many comparisons there must be in a sample, if in all there are `least`. Cases are not of one size, hence the four fifths."""
    every = given()[1]
    return least if every == 1 else int(0.8 * least / every)
