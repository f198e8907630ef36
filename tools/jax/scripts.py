"""What the scripts of this folder take from each other: they are programs, whose names do not end in `.py`."""

import importlib.machinery
import importlib.util
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def load(name):
    """The script of this name as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
