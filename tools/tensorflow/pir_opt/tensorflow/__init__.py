"""Gradients of TensorFlow's functions and SavedModels, made by the program pir-opt.

    from pir_opt.tensorflow import gradients

    slopes = gradients("model/", input_shape=4)          # or of a function: gradients(f, tf.TensorSpec([4, 3]))
    values, grads = slopes(x=x)

`values` are the outputs by name, `grads` the gradients of one of them, by the names of inputs and variables.
"""

import os
import pathlib
import tempfile

import tensorflow as tf

from pir_opt.tool import PirOptError, call

__all__ = ["Gradients", "PirOptError", "gradients"]

# The variables of a function, in what is saved of it.
HELD = "held"
SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


def gradients(source, *specs, of=None, input_shape=None, signature=None, passes="", derive_custom_gradients=False):
    """Returns a function that computes the outputs of `source` and the gradients of its output `of`.

    `source` is the folder of a SavedModel, a function (`specs` are its arguments, or their shapes and types, as for
    `get_concrete_function`) or a concrete function. The outputs of a function that returns no dictionary are named `output_0`,
    `output_1`, …; `of` may be omitted if there is only one output. `input_shape` is the extent of all dynamic dimensions of inputs,
    or a dictionary of shapes by name. `passes` run before differentiation.
    """
    with tempfile.TemporaryDirectory() as scratch:
        if isinstance(source, (str, os.PathLike)):
            folder, order, held = pathlib.Path(source), [], None
        else:
            folder = pathlib.Path(scratch) / "function"
            order, held = _save(source, specs, folder)
        target = pathlib.Path(scratch) / "gradients.pb"
        wanted = f"backward{{of=\"{of}\"}}" if of else "backward"
        options = [f"--pass={','.join(filter(None, [passes, wanted, 'lower-to-dataflow']))}", "--emit=graphdef", "--parameters=inputs"]
        shapes = input_shape.items() if isinstance(input_shape, dict) else []
        options += [f"--input-shape={name}={'x'.join(map(str, shape))}" for name, shape in shapes]
        options += [f"--input-shape={input_shape}"] if isinstance(input_shape, int) else []
        options += [f"--signature={signature}"] if signature else []
        options += ["--derive-custom-gradients"] if derive_custom_gradients else []
        call(*options, folder, "-o", target)
        graph = tf.compat.v1.GraphDef.FromString(target.read_bytes())
        return Gradients(graph, _read(folder, graph) if held is None else held, order)


def _save(function, specs, folder):
    """Saves a function as a SavedModel, and gives its inputs in order, and its variables by the names that they have there."""
    concrete = function
    if not hasattr(function, "structured_input_signature"):
        traced = function if hasattr(function, "get_concrete_function") else tf.function(function)
        concrete = traced.get_concrete_function(*specs)
    captured = {id(inner) for _, inner in concrete.graph.captures}
    inputs = [tensor for tensor in concrete.inputs if id(tensor) not in captured]
    flat = [tf.TensorSpec(tensor.shape, tensor.dtype, tensor.op.name) for tensor in inputs]

    @tf.function(input_signature=flat)
    def serve(*given):
        args, kwargs = tf.nest.pack_sequence_as(concrete.structured_input_signature, given)
        made = concrete(*args, **kwargs)
        if isinstance(made, dict):
            return made
        return {f"output_{at}": value for at, value in enumerate(tf.nest.flatten(made))}

    module = tf.Module()
    module.held = list(concrete.graph.variables)
    module.serve = serve
    tf.saved_model.save(module, str(folder), signatures={"serving_default": serve})
    return [spec.name for spec in flat], {f"{HELD}/{at}": variable for at, variable in enumerate(module.held)}


def _read(folder, graph):
    """Variables with the values in a checkpoint, for the parameters of a graph."""
    names = [node.attr["_input"].s.decode() for node in graph.node if "_parameter" in node.attr]
    if not names:
        return {}
    reader = tf.train.load_checkpoint(str(folder / "variables" / "variables"))
    return {name: tf.Variable(reader.get_tensor(name + SUFFIX), name=name) for name in names}


class Gradients:
    """Outputs and gradients, as a function of the inputs. It can be called in a `tf.function` too."""

    def __init__(self, graph, variables, order):
        def build():
            tf.graph_util.import_graph_def(graph, name="")

        wrapped = tf.compat.v1.wrap_function(build, [])
        place = wrapped.graph.get_tensor_by_name
        given = [(n.attr["_input"].s.decode() or n.name, "_parameter" in n.attr, f"{n.name}:0") for n in graph.node if n.op == "Placeholder"]
        fetched = {n.attr["_output"].s.decode(): f"{n.name}:0" for n in graph.node if "_output" in n.attr}
        # The inputs by name, in the order of the function, or of the program.
        read = [name for name, parameter, _ in given if not parameter]
        self.inputs = order or read
        # What depends on nothing is not in the graph.
        self._read = [name for name in self.inputs if name in read]
        parameters = [name for name, parameter, _ in given if parameter]
        ordered = [*self._read, *parameters]
        tensors = {name: tensor for name, _, tensor in given}
        self._function = wrapped.prune([place(tensors[name]) for name in ordered], {n: place(t) for n, t in fetched.items()})
        self._dtypes = [place(tensors[name]).dtype for name in self._read]
        self._parameters = [variables[name] for name in parameters]
        names = dict(zip(parameters, _names(parameters, self._parameters)))
        # The variables by the names that their gradients have.
        self.variables = {names[name]: variables[name] for name in parameters}
        self._slopes = {f"{name}_grad": names.get(name, name) for name in ordered}

    def __call__(self, *args, **inputs):
        """The outputs and the gradients, two dictionaries. Inputs are given in order or by name."""
        given = {**dict(zip(self.inputs, args)), **inputs}
        missing = [name for name in self.inputs if name not in given]
        surplus = [name for name in given if name not in self.inputs]
        if missing or surplus or len(args) > len(self.inputs):
            raise TypeError(f"the inputs are {', '.join(self.inputs)}, and what is given are {len(args)} in order and {', '.join(inputs) or 'none'} by name")
        tensors = [tf.convert_to_tensor(given[name], dtype) for name, dtype in zip(self._read, self._dtypes)]
        found = self._function(*tensors, *[tf.convert_to_tensor(variable) for variable in self._parameters])
        values = {name: value for name, value in found.items() if name not in self._slopes}
        return values, {self._slopes[name]: value for name, value in found.items() if name in self._slopes}


def _names(parameters, variables):
    """Names for variables, each once: their own, or those in the SavedModel."""
    names = []
    for parameter, variable in zip(parameters, variables):
        own = parameter if not parameter.startswith(f"{HELD}/") else variable.name.split(":")[0]
        name, number = own, 0
        while name in names:
            number += 1
            name = f"{own}_{number}"
        names.append(name)
    return names
