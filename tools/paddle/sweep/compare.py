"""When two tensors are the same."""

import numpy as np

from case import EPS, FLOATS, MAX, TINY


def different(got, want, dtype, ulp, scale, signed=False, floor=1.0):
    """Which elements differ: a mask, or nothing when none does. Both have one shape."""
    if dtype not in FLOATS:
        bad = got != want
        return bad if bad.any() else None
    with np.errstate(all="ignore"):
        g, w = got.astype(np.float64), want.astype(np.float64)
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        finite = np.isfinite(g) & np.isfinite(w)
        allowed = ulp * EPS[dtype] * np.abs(w) + 2 * TINY[dtype]
        if scale:
            largest = np.abs(w[np.isfinite(w)]).max(initial=0.0)
            # Where some number is huge, it says nothing of the others.
            allowed = allowed + ulp * EPS[dtype] * scale * (max(largest, floor) if largest < 1e4 else floor)
        same |= finite & (np.abs(g - w) <= allowed)
        # The largest number and infinity are neighbours.
        limit = MAX[dtype] * (1 - ulp * EPS[dtype])
        same |= (np.abs(g) >= limit) & (np.abs(w) >= limit) & (np.sign(g) == np.sign(w))
        if signed:
            same &= ~((g == 0) & (w == 0) & (np.signbit(g) != np.signbit(w)))
    bad = ~same
    return bad if bad.any() else None


def told(got, want, bad, case):
    """The first difference, for a reader."""
    place = tuple(int(i[0]) for i in np.nonzero(bad)) if bad.ndim else ()
    text = f"at {list(place)}: {got[place]!r}, PaddlePaddle has {want[place]!r}; {int(bad.sum())} of {bad.size} differ"
    inputs = []
    for i, tensor in enumerate(case.tensors):
        a = tensor.array
        if a.shape == got.shape:
            inputs.append(f"x{i}={a[place]!r}")
        elif a.size == 1:
            inputs.append(f"x{i}={a.ravel()[0]!r}")
        elif a.size <= 24:
            inputs.append(f"x{i}={a.tolist()}")
    return text + (f" ({', '.join(inputs)})" if inputs else "")
