"""Python's side of pir-opt: `pir_opt.jax` differentiates JAX functions whose loops have no known length, `pir_opt.paddle`
programs and layers of PaddlePaddle, `pir_opt.tensorflow` functions and SavedModels of TensorFlow.

The wheel `pir-opt` holds all, with the tools; `pir-opt-jax`, `pir-opt-paddle` and `pir-opt-tensorflow` hold a part each, and this file
with `tool.py`.
What `pir_opt.paddle` defines is also found here.
"""

import importlib
import pkgutil

# All parts are found where they are in different folders, as in the repository.
__path__ = pkgutil.extend_path(__path__, __name__)


def __getattr__(name):
    if name.startswith("_") or name in ("jax", "paddle", "tensorflow"):
        raise AttributeError(f"module `pir_opt` has no attribute `{name}`")
    try:
        return getattr(importlib.import_module("pir_opt.paddle"), name)
    except ImportError as error:
        raise AttributeError(f"module `pir_opt` has no attribute `{name}`: {error}") from error
