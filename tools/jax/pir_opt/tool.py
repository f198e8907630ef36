"""The program `pir-opt`: where it is, and how it is run."""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig

BUILD = "`pip install .` in pir-opt's repository installs it; or put it on PATH, or name it in the variable PIR_OPT"


class PirOptError(Exception):
    """pir-opt refused a program. `diagnostics` has its messages as it prints them with `--diagnostics=json`."""

    def __init__(self, message, diagnostics=()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)


def executable():
    """The program to run: $PIR_OPT, or the one installed with this Python, or the one on PATH, or the one that was built in the repository."""
    named = os.environ.get("PIR_OPT")
    if named:
        found = shutil.which(named)
        if not found:
            raise PirOptError(f"PIR_OPT is `{named}`, which is not a program; {BUILD}")
        return found
    # That of the wheel is beside this Python, which need not be on PATH.
    beside = shutil.which("pir-opt", path=sysconfig.get_path("scripts"))
    found = beside or shutil.which("pir-opt")
    if found:
        return found
    for start in (pathlib.Path(__file__).resolve(), pathlib.Path.cwd() / "_"):
        for folder in start.parents:
            for profile in ("release", "debug"):
                built = folder / "target" / profile / "pir-opt"
                if (folder / "Cargo.toml").exists() and os.access(built, os.X_OK):
                    return str(built)
    raise PirOptError(f"the program pir-opt is not found; {BUILD}")


def run(text, pipeline, locate=None):
    """What pir-opt makes of a program: StableHLO in MLIR's generic form, in and out.

    `locate` tells where a line of the program comes from, for error messages. MLIR verifies the result when it parses it: verifying after
    each pass would take a fifth of the time.
    """
    return call("--no-verify-each", f"--pass={pipeline}", "--emit=stablehlo", "-", text=text, locate=locate)


def call(*arguments, text=None, locate=None):
    """What pir-opt prints, with these arguments."""
    command = [executable(), "--diagnostics=json", *map(str, arguments)]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        raise PirOptError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode == 0:
        return done.stdout
    diagnostics, rest = _parse(done.stderr)
    errors = [d for d in diagnostics if d.get("severity") == "error"]
    if not errors:
        last = "\n".join(rest[-5:]) or f"it ended with status {done.returncode}"
        raise PirOptError(f"`{' '.join(command[:2])}` failed: {last}", diagnostics)
    raise PirOptError("\n".join(_message(d, locate) for d in errors), diagnostics)


def _parse(stderr):
    diagnostics, rest = [], []
    for line in stderr.splitlines():
        try:
            found = json.loads(line)
            diagnostics.append(found)
        except ValueError:
            rest.append(line)
    return diagnostics, rest


def _message(diagnostic, locate):
    lines = [diagnostic["message"]]
    for span in diagnostic.get("spans", []):
        label = span.get("label")
        if label:
            lines[0] += f": {label}"
        place = locate and locate(span["start"]["line"])
        if place:
            lines.append(f"  at {place}")
    return "\n".join(lines)
