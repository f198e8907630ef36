"""Which cases a comparison runs: all of them, or with `PIR_SAMPLE=K/N` each N-th, beginning with number K.

`.ci/run` takes a third, another one for each commit, so that a change can be checked on two cores in less than an hour.
It is in a folder of its own: beside it, `import jax` would find the folder of that name.
"""

import os
import re


def given():
    """Where to begin, and of how many cases one is taken."""
    first, every = os.environ.get("PIR_SAMPLE", "0/1").split("/")
    return int(first) % int(every), int(every)


def of(cases):
    """The cases to run."""
    first, every = given()
    return [case for at, case in enumerate(cases) if at % every == first]


def chosen(cases, names, names_of):
    """The cases one of whose names is among those that are asked for, or if none are, the cases to run."""
    return [case for case in cases if {*names_of(case)} & {*names}] if names else of(cases)


def matching(cases, patterns):
    """The same of cases that are tuples, whose first element is matched with patterns."""
    return [case for case in cases if any(re.search(pattern, case[0]) for pattern in patterns)] if patterns else of(cases)


def floor(least):
    """How many comparisons there must be in a sample, if in all there are `least`. Cases are not of one size, hence the four fifths."""
    every = given()[1]
    return least if every == 1 else int(0.8 * least / every)
