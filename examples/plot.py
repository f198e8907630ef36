#!/usr/bin/env python3
"""Draws numbers against steps, and passes its input on.

    COMMAND | examples/plot.py PICTURE.svg TITLE

Each line of the input that begins with a word and a whole number, as `step 12`, and ends with a number, is a point.
"""

import math
import pathlib
import re
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 300, 70, 30, 620, 250


def nice(low, high):
    """The least round number that is a step between at most eight intervals."""
    least = (high - low) / 8
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)


def picture(points, title):
    xs, ys = zip(*points)
    step = nice(min(ys), max(ys))
    low, high = step * (min(ys) // step), step * -(-max(ys) // step)
    across = lambda x: LEFT + (RIGHT - LEFT) * (x - xs[0]) / max(xs[-1] - xs[0], 1)  # noqa: E731
    down = lambda y: BOTTOM - (BOTTOM - TOP) * (y - low) / (high - low)  # noqa: E731
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="Helvetica,Arial,sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="18">{title}</text>',
    ]
    for at in range(round((high - low) / step) + 1):
        y = low + step * at
        lines.append(f'<line x1="{LEFT}" y1="{down(y):.1f}" x2="{RIGHT}" y2="{down(y):.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{down(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    every = -(-len(xs) // 10)
    lines += [f'<text x="{across(x):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{x}</text>' for x in xs[::every]]
    path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in points)
    lines.append(f'<polyline points="{path}" fill="none" stroke="#1a6faf" stroke-width="2"/>')
    lines += [f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="3" fill="#1a6faf"/>' for x, y in points]
    return "\n".join([*lines, "</svg>\n"])


def main():
    target, title = pathlib.Path(sys.argv[1]), sys.argv[2]
    points = []
    for line in sys.stdin:
        print(line, end="", flush=True)
        if found := re.match(r"\w+ +(\d+)\b.*?(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*$", line):
            points.append((int(found[1]), float(found[2])))
    if len(points) < 2:
        sys.exit("plot: there are fewer than two points")
    target.write_text(picture(points, title))


if __name__ == "__main__":
    main()
