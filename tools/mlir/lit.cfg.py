"""Lets LLVM's lit run our test files: `lit tools/mlir`, with LLVM's FileCheck."""

import os
import pathlib

import lit.formats

here = pathlib.Path(__file__).resolve().parent
repository = next(folder for folder in [here, *here.parents] if (folder / "Cargo.toml").exists() and (folder / "test-files").exists())

config.name = "pir-opt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".pir", ".mlir"]
config.test_source_root = str(repository / "test-files")
config.test_exec_root = str(repository / "target" / "lit")
tools = [repository / "target" / profile for profile in ("release", "debug")]
config.environment["PATH"] = os.pathsep.join([*map(str, tools), "/usr/lib/llvm-19/bin", os.environ.get("PATH", "")])
